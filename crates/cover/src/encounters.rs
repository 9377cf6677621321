//! Why holes are there: what kept offered actions from happening, and which values decisions were evaluated on.
//!
//! This looks at states again, at all of them, and only where there is something to explain. What is kept does not depend
//! on the order in which it is seen.

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeSet;

use explore::Exploration;
use lts::{Progress, StateId};
use model::{Encounter, MarkKind, Observer, Obstacle};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use source::Span;

use crate::coverage::{Coverage, Outcomes};
use crate::measure::origins;
use crate::specification::{Marked, Places, Specification, marked};
use crate::subject::Opened;

/// What is known about holes, in terms of the specification.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    actions: FxHashMap<usize, ActionEvidence>,
    operands: FxHashMap<usize, Vec<String>>,
    choices: FxHashMap<Span, Outcomes>,
}

/// Why an offered action does not happen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ActionEvidence {
    /// What came nearest to it.
    pub obstacle: Option<Obstacle>,
    /// The reasons.
    pub why: Vec<String>,
    /// Where partners are, with a few words.
    pub related: Vec<(Span, String)>,
}

impl Evidence {
    /// What is known about an action that was offered and did not happen; nothing where it was not offered.
    pub fn action(&self, action: usize) -> Option<&ActionEvidence> {
        self.actions.get(&action)
    }

    /// The values that the operands of a decision took.
    pub fn operands(&self, decision: usize) -> &[String] {
        self.operands.get(&decision).map_or(&[], Vec::as_slice)
    }

    /// Whether values were tried for `x := any T where …`, known by its condition, and none satisfied it.
    pub fn is_unsatisfiable(&self, condition: Span) -> bool {
        self.choices.get(&condition) == Some(&Outcomes { yes: false, no: true })
    }
}

/// How many states one thread looks at before it takes others.
const STATES_AT_ONCE: usize = 4096;
/// How many different pairs of offers are shown, and places of partners.
const MOST_SHOWN: usize = 4;
/// How many different pairs of offers are counted.
const MOST_COUNTED: usize = 64;
/// How many different values of an operand are shown.
const MOST_VALUES: usize = 8;

/// What was seen of the encounters of one action.
#[derive(Default)]
struct Seen {
    nearest: Option<Obstacle>,
    /// Own offer and those of a partner, at the nearest obstacle: the first ones of all.
    pairs: BTreeSet<Pair>,
    /// Whether there are more pairs than are counted.
    more_pairs: bool,
    partners: BTreeSet<String>,
    places: BTreeSet<Span>,
}

/// An offer that does not meet another one. Those that nearly match come first: they tell most.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Pair {
    likeness: Reverse<usize>,
    own: String,
    partner: String,
    other: String,
}

/// Gathers the reasons for actions that were not exercised by any example.
#[derive(Default)]
pub struct Gathering {
    seen: FxHashMap<usize, Seen>,
    values: FxHashMap<usize, FxHashMap<Span, BTreeSet<String>>>,
    choices: FxHashMap<Span, Outcomes>,
}

impl Gathering {
    /// Nothing seen yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The actions worth looking for: those that were not exercised.
    pub fn wanted_actions(specification: &Specification, coverage: &Coverage) -> Vec<usize> {
        (0..specification.map.actions.len()).filter(|&action| !coverage.actions[action]).collect()
    }

    /// The decisions worth looking at: those with one outcome.
    pub fn wanted_decisions(specification: &Specification, coverage: &Coverage) -> Vec<usize> {
        let one = |&decision: &usize| {
            let outcomes = coverage.decisions[decision];
            outcomes.yes != outcomes.no && !coverage.decision(&specification.map, decision)
        };
        (0..specification.map.decisions.len()).filter(one).collect()
    }

    /// The conditions of choices (`any … where`) worth looking at: those in blocks that were not executed.
    pub fn wanted_choices(specification: &Specification, coverage: &Coverage) -> Vec<Span> {
        let blocks = specification.map.blocks.iter().zip(&coverage.blocks).filter(|(_, covered)| !**covered);
        blocks.flat_map(|(block, _)| block.choices.iter().map(|&(_, condition)| condition)).collect()
    }

    /// Looks at the states of an example for wanted actions.
    pub fn look_at(
        &mut self,
        opened: &Opened,
        places: &Places,
        found: &Exploration,
        wanted: &[usize],
        specification: &Specification,
        progress: &Progress,
    ) {
        let provenance = opened.model().provenance();
        let meaning = marked(opened.map(), provenance);
        let action_of = |mark: usize| match meaning.get(mark).copied().flatten() {
            Some(Marked::Action(action)) => places.actions[action],
            _ => None,
        };
        let wanted: Vec<bool> = (0..provenance.marks().len())
            .map(|mark| action_of(mark).is_some_and(|action| wanted.contains(&action)))
            .collect();
        if !wanted.contains(&true) {
            return;
        }
        let place = |mark: model::MarkId| {
            let action = action_of(mark.0 as usize)?;
            Some(specification.map.actions[action].span)
        };
        let look = |observer: &mut Option<Box<dyn Observer + '_>>, first: usize| {
            let mut seen: FxHashMap<usize, Seen> = FxHashMap::default();
            let Some(observer) = observer else { return seen };
            for state in first..found.states().min(first + STATES_AT_ONCE) {
                if progress.is_cancelled() {
                    break;
                }
                let state = found.state(opened.model(), StateId::new(state));
                let _ = observer.encounters(&state, &wanted, &mut |encounter| {
                    if let Some(action) = action_of(encounter.action.0 as usize) {
                        seen.entry(action).or_default().add(&encounter, &place);
                    }
                });
            }
            seen
        };
        let pieces = (0..found.states()).into_par_iter().step_by(STATES_AT_ONCE);
        let seen = pieces.map_init(|| opened.model().observer(), look).reduce(FxHashMap::default, merged);
        self.seen = merged(std::mem::take(&mut self.seen), seen);
    }

    /// Adds the values that decisions of an example were evaluated on; the model has to observe them.
    pub fn look_at_values(
        &mut self,
        opened: &Opened,
        places: &Places,
        found: &Exploration,
        specification: &Specification,
    ) {
        let provenance = opened.model().provenance();
        let decisions: FxHashMap<Span, usize> = (opened.map().decisions.iter().zip(&places.decisions))
            .filter_map(|(decision, place)| Some((decision.span, (*place)?)))
            .collect();
        let mut marks: Vec<model::MarkId> = origins(opened.model(), found)
            .into_iter()
            .flat_map(|origin| provenance.marks_of(origin))
            .collect();
        marks.sort_unstable();
        marks.dedup();
        // Observations lie beyond all marks.
        let observed = marks.partition_point(|mark| (mark.0 as usize) < provenance.marks().len());
        for mark in marks.drain(..observed) {
            let mark = provenance.mark(mark);
            let condition = specification.own_span(&opened.sources, mark.span);
            if let (MarkKind::Decision(outcome), Some(condition)) = (mark.kind, condition) {
                let outcomes = self.choices.entry(condition).or_default();
                outcomes.yes |= outcome;
                outcomes.no |= !outcome;
            }
        }
        for observation in marks.into_iter().filter_map(opened.model().observations()) {
            let Some(&decision) = decisions.get(&observation.decision) else { continue };
            let own = &specification.map.decisions[decision];
            let file = own.span.file;
            for (span, value) in observation.values {
                let values = self.values.entry(decision).or_default();
                values.entry(Span { file, ..span }).or_default().insert(value);
            }
        }
    }

    /// What was gathered, in words.
    pub fn evidence(&self, specification: &Specification) -> Evidence {
        let mut evidence = Evidence { choices: self.choices.clone(), ..Evidence::default() };
        for (&action, seen) in &self.seen {
            evidence.actions.insert(action, seen.evidence(&specification.map.actions[action].gate));
        }
        for (number, decision) in specification.map.decisions.iter().enumerate() {
            // The operands of a case are recorded with its first branch.
            let first = specification.map.decisions.iter().position(|other| {
                other.process == decision.process
                    && other.kind == decision.kind
                    && other.operands == decision.operands
            });
            let Some(values) = self.values.get(&first.unwrap_or(number)) else { continue };
            let mut lines: Vec<String> = Vec::new();
            for operand in &decision.operands {
                let (Some(seen), text) = (values.get(operand), specification.sources.slice(*operand)) else {
                    continue;
                };
                // All branches of a case are told the values that came to the case.
                let line = match first == Some(number) {
                    true => format!("{text} was {}", list(seen)),
                    false => format!("{text} was {} at this `case`", list(seen)),
                };
                if !lines.contains(&line) {
                    lines.push(line);
                }
            }
            evidence.operands.insert(number, lines);
        }
        evidence
    }
}

/// What was seen in some states and in others.
fn merged(mut one: FxHashMap<usize, Seen>, other: FxHashMap<usize, Seen>) -> FxHashMap<usize, Seen> {
    for (action, seen) in other {
        one.entry(action).or_default().merge(seen);
    }
    one
}

impl Seen {
    fn add(&mut self, encounter: &Encounter, place: &dyn Fn(model::MarkId) -> Option<Span>) {
        if self.nearest.is_some_and(|nearest| nearest > encounter.obstacle) {
            return;
        }
        if self.nearest != Some(encounter.obstacle) {
            *self = Seen { nearest: Some(encounter.obstacle), ..Seen::default() };
        }
        for partner in &encounter.partners {
            if !self.partners.contains(&partner.process) {
                self.partners.insert(partner.process.clone());
            }
            // What is offered is pointed at; where nothing is, all that could be.
            let offered: Vec<model::MarkId> = partner.offers.iter().filter_map(|(mark, _)| *mark).collect();
            let marks = if offered.is_empty() { &partner.actions } else { &offered };
            self.places.extend(marks.iter().filter_map(|&mark| place(mark)));
            let none = [(None, String::new())];
            let offers = if partner.offers.is_empty() { none.as_slice() } else { partner.offers.as_slice() };
            for (_, offer) in offers {
                self.pair(&encounter.offer, &partner.process, offer);
            }
        }
        if encounter.partners.is_empty() {
            self.pair(&encounter.offer, "", "");
        }
        self.shorten();
    }

    fn pair(&mut self, own: &str, partner: &str, other: &str) {
        let likeness = Reverse(likeness(own, other));
        let [own, partner, other] = [own, partner, other].map(str::to_owned);
        self.pairs.insert(Pair { likeness, own, partner, other });
    }

    fn merge(&mut self, mut other: Seen) {
        match self.nearest.cmp(&other.nearest) {
            Ordering::Less => *self = other,
            Ordering::Greater => {}
            Ordering::Equal => {
                self.pairs.append(&mut other.pairs);
                self.partners.append(&mut other.partners);
                self.places.append(&mut other.places);
                self.more_pairs |= other.more_pairs;
                self.shorten();
            }
        }
    }

    fn shorten(&mut self) {
        while self.pairs.len() > MOST_COUNTED {
            self.pairs.pop_last();
            self.more_pairs = true;
        }
        while self.places.len() > MOST_SHOWN {
            self.places.pop_last();
        }
    }

    fn evidence(&self, gate: &str) -> ActionEvidence {
        let partners: Vec<&str> = self.partners.iter().map(String::as_str).collect();
        let who = match partners.as_slice() {
            [] => String::new(),
            [one] => (*one).to_owned(),
            [others @ .., last] => format!("{} and {last}", others.join(", ")),
        };
        let mut why = Vec::new();
        let shown = |why: &mut Vec<String>, verb: &str| {
            for Pair { own, partner, other, .. } in self.pairs.iter().take(MOST_SHOWN) {
                if !other.is_empty() {
                    why.push(format!("here {own}, {verb} {partner} {other}"));
                }
            }
            if self.more_pairs {
                why.push(format!("and more than {} other pairs like these", MOST_COUNTED - MOST_SHOWN));
            } else if self.pairs.len() > MOST_SHOWN {
                why.push(format!("and {} other pairs like these", self.pairs.len() - MOST_SHOWN));
            }
        };
        let mut word = "could take part";
        match self.nearest {
            Some(Obstacle::PartnerNotReady) if self.places.is_empty() => {
                why.push(format!("it must synchronise with {who}, which has no action on {gate}"));
            }
            Some(Obstacle::PartnerNotReady) => {
                why.push(format!(
                    "it must synchronise with {who}, which is never ready for {gate} at the same time"
                ));
            }
            Some(Obstacle::DifferentProfile) => {
                why.push(format!("it must synchronise with {who}, which offers values of other types"));
                shown(&mut why, "there");
                word = "offers this";
            }
            Some(Obstacle::DifferentValues) => {
                why.push(format!("it must synchronise with {who}, but the values never match"));
                shown(&mut why, "there");
                word = "offers this";
            }
            Some(Obstacle::Refused) if who.is_empty() => {
                why.push("its guard never holds, or its pattern never matches".to_owned());
                let offers: BTreeSet<&str> = self.pairs.iter().map(|pair| pair.own.as_str()).collect();
                why.extend(offers.iter().take(MOST_SHOWN).map(|own| format!("it offers {own}")));
            }
            Some(Obstacle::Refused) => {
                why.push(format!(
                    "it could synchronise with {who}, but a guard never holds, or a pattern never matches"
                ));
                let offers: BTreeSet<&str> = self.pairs.iter().map(|pair| pair.own.as_str()).collect();
                why.extend(offers.iter().take(MOST_SHOWN).map(|own| format!("together they offer {own}")));
                word = "takes part";
            }
            None => {}
        }
        let related = self.places.iter().map(|&span| (span, word.to_owned())).collect();
        ActionEvidence { obstacle: self.nearest, why, related }
    }
}

/// In how many places two offers agree.
fn likeness(own: &str, other: &str) -> usize {
    own.split_whitespace().zip(other.split_whitespace()).filter(|(own, other)| own == other).count()
}

fn list(values: &BTreeSet<String>) -> String {
    let mut values: Vec<(Option<i128>, &str)> =
        values.iter().map(|value| (value.parse::<i128>().ok(), value.as_str())).collect();
    // Numbers in their order, not as text.
    values.sort_unstable();
    let numbers = values.iter().all(|(number, _)| number.is_some());
    let shown: Vec<&str> = values.iter().take(MOST_VALUES).map(|(_, value)| *value).collect();
    let shown = shown.join(", ");
    match (values.as_slice(), values.len().saturating_sub(MOST_VALUES)) {
        ([_], _) => format!("always {shown}"),
        (_, 0) => shown,
        ([.., (_, greatest)], more) if numbers => format!("{shown} and {more} more up to {greatest}"),
        (_, more) => format!("{shown} and {more} more"),
    }
}
