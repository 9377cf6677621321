//! Which of several properties to explain: the first surprise.

use logic::CheckError;
use lts::{Lts, Progress, Stopped};

use crate::property::{Property, Unexplained};

/// What there is to say of a property before it is explained.
#[derive(Clone, Debug)]
pub enum Prospect {
    /// It holds: there is nothing to explain.
    Holds,
    /// It is violated and can be explained.
    Violated(Property),
    /// It is violated and can't be explained.
    Unexplained(Unexplained),
    /// There is no verdict.
    Unknown(String),
}

/// Properties with what there is to say of each, and the one to explain.
#[derive(Clone, Debug)]
pub struct Selection<'p> {
    /// All properties, in their order.
    pub prospects: Vec<(&'p logic::Property, Prospect)>,
    /// The position of the one to explain: the first violated property that is expected to hold or, where no verdict
    /// is a surprise, the first violated one.
    pub chosen: Option<usize>,
}

impl<'p> Selection<'p> {
    /// Looks at properties; the only error is that someone had enough.
    pub fn new(
        lts: &Lts,
        properties: impl IntoIterator<Item = &'p logic::Property>,
        most_states: usize,
        progress: &Progress,
    ) -> Result<Self, Stopped> {
        let partial = !lts.unexplored().is_empty();
        let options = logic::Options { max_states: most_states, explain: partial, ..Default::default() };
        let mut prospects = Vec::new();
        for property in properties {
            let prospect = match logic::check_lts(lts, &property.formula, &options, progress) {
                Err(CheckError::Cancelled) => return Err(Stopped::Cancelled),
                Err(error) => Prospect::Unknown(error.to_string()),
                Ok(verdict) if partial && !logic::is_certain(lts, &property.formula, &verdict) => {
                    Prospect::Unknown(
                        "only a part of the system is known, and the rest may change the answer".into(),
                    )
                }
                Ok(verdict) if verdict.holds => Prospect::Holds,
                Ok(_) => match Property::of(&property.formula) {
                    Ok(wanted) => Prospect::Violated(wanted),
                    Err(why) => Prospect::Unexplained(why),
                },
            };
            prospects.push((property, prospect));
        }
        Ok(Self::of(prospects))
    }

    /// Chooses among properties that were looked at before.
    pub fn of(prospects: Vec<(&'p logic::Property, Prospect)>) -> Self {
        let find = |wanted: &dyn Fn(&logic::Property, &Prospect) -> bool| {
            prospects.iter().position(|(property, prospect)| wanted(property, prospect))
        };
        let surprise = find(&|one, prospect| one.expected && matches!(prospect, Prospect::Violated(_)));
        // A surprise that can't be explained is not made good by explaining something else.
        let open = find(&|one, prospect| {
            one.expected && matches!(prospect, Prospect::Unexplained(_) | Prospect::Unknown(_))
        });
        let violated = find(&|_, prospect| matches!(prospect, Prospect::Violated(_)));
        let chosen = surprise.or(violated.filter(|_| open.is_none()));
        Self { prospects, chosen }
    }

    /// A sentence for each property that was passed over.
    pub fn passed_over(&self) -> Vec<String> {
        let all = self.prospects.iter().enumerate().filter(|(at, _)| Some(*at) != self.chosen);
        all.filter_map(|(at, (property, prospect))| {
            let name = &property.name;
            match prospect {
                Prospect::Holds if property.expected => None,
                Prospect::Holds => Some(format!(
                    "{name} holds, although FALSE is expected: there is no violation to explain"
                )),
                Prospect::Violated(_)
                    if property.expected || self.chosen.is_some_and(|chosen| chosen < at) =>
                {
                    None
                }
                Prospect::Violated(_) => Some(format!("{name} is violated, as expected")),
                Prospect::Unexplained(why) => {
                    Some(format!("{name} is violated but can't be explained: {why}"))
                }
                Prospect::Unknown(why) => Some(format!("{name} has no verdict: {why}")),
            }
        })
        .collect()
    }

    /// The names of the other properties that can be explained.
    pub fn alternatives(&self) -> Vec<&'p str> {
        let all = self.prospects.iter().enumerate().filter(|(at, _)| Some(*at) != self.chosen);
        all.filter(|(_, (_, prospect))| matches!(prospect, Prospect::Violated(_)))
            .map(|(_, (property, _))| property.name.as_str())
            .collect()
    }
}
