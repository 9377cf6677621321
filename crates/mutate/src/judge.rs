//! One mutant: built, explored, compared with the model and asked everything that the model was asked.

use cover::{Example, Subject};
use explore::{Limits, Outcome};
use languages::CantOpen;
use lts::{Lts, Progress};
use model::Telling;
use serde::{Deserialize, Serialize};

use crate::baseline::Baseline;

/// What became of a mutant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// It is no model: the language refuses it, with this message.
    Refused(String),
    /// It is strongly bisimilar to the model.
    Equivalent,
    /// It behaves differently.
    Different,
    /// It makes a run-time error, which the model does not: exploring it is enough to notice.
    Error(String),
    /// It has more states than allowed; what is told of it is certain all the same.
    Limit,
}

/// What became of a mutant, and who noticed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judgement {
    /// What became of it.
    pub fate: Fate,
    /// For each property, whether its verdict is another one; nothing where a limit or an error left that open.
    pub properties: Vec<Option<bool>>,
    /// For each example, whether it behaves in another way; likewise.
    pub examples: Vec<Option<bool>>,
    /// How many states were seen.
    pub states: u64,
}

impl Judgement {
    /// Whether a property has another verdict.
    pub fn is_violating(&self) -> bool {
        self.properties.contains(&Some(true))
    }

    /// Whether anything notices it.
    pub fn is_killed(&self) -> bool {
        self.is_violating() || self.examples.contains(&Some(true)) || matches!(self.fate, Fate::Error(_))
    }

    /// Whether it is known that nothing notices it although it behaves differently.
    pub fn is_survivor(&self) -> bool {
        let known = !self.properties.contains(&None) && !self.examples.contains(&None);
        self.fate == Fate::Different && known && !self.is_killed()
    }
}

/// What an example does.
pub(crate) enum Behaved {
    /// Everything that it can do, up to strong bisimulation.
    System(Lts),
    /// Whether its runs are possible.
    Runs(bool),
    /// A limit or a run-time error left that open.
    Unknown,
}

/// What an example does on a model.
pub(crate) fn behaviour(
    subject: &Subject,
    example: &Example,
    most_states: usize,
    progress: &Progress,
) -> Result<Behaved, CantOpen> {
    let opened = subject.open_telling(example, Telling::Nothing)?;
    let states = example.max_states.unwrap_or(most_states);
    let limits = Limits { states, threads: 1, ..Limits::default() };
    if let Some(trace) = &example.trace {
        let possible = cover::is_possible(&opened, trace, &limits, progress);
        return Ok(possible.map_or(Behaved::Unknown, Behaved::Runs));
    }
    let found = explore::explore(opened.model(), &limits, progress);
    if !found.outcome.is_complete() {
        return Ok(Behaved::Unknown);
    }
    Ok(bisim::reduce(&found.lts, bisim::Relation::Strong).map_or(Behaved::Unknown, Behaved::System))
}

impl Baseline<'_> {
    /// Builds a mutant and asks everything; nothing if it was asked to stop. It uses one thread.
    pub fn judge(&self, at: usize, progress: &Progress) -> Option<Judgement> {
        let changed = self.changed(at);
        let unknown = |fate: Fate| Judgement {
            fate,
            properties: vec![None; self.verdicts.len()],
            examples: vec![None; self.examples.len()],
            states: 0,
        };
        let opened = match changed.open_telling(&self.question.start, Telling::Nothing) {
            Ok(opened) => opened,
            Err(error) => {
                let message = error.diagnostics.iter().find(|one| one.is_error());
                return Some(unknown(Fate::Refused(
                    message.map_or_else(String::new, |one| one.message.clone()),
                )));
            }
        };
        let limits = Limits { states: self.most_states, threads: 1, ..Limits::default() };
        let found = explore::explore(opened.model(), &limits, progress);
        let fate = match &found.outcome {
            Outcome::Cancelled => return None,
            Outcome::Complete => match self.is_equivalent(&found.lts) {
                Some(true) => Fate::Equivalent,
                Some(false) => Fate::Different,
                None => Fate::Limit,
            },
            Outcome::Error { error, .. } => Fate::Error(error.message.clone()),
            Outcome::StateLimit | Outcome::MemoryLimit | Outcome::DiskFailed(_) | Outcome::TimeLimit => {
                Fate::Limit
            }
        };
        let mut judgement = Judgement { states: found.states() as u64, ..unknown(fate) };
        if judgement.fate == Fate::Equivalent {
            judgement.properties.fill(Some(false));
        } else {
            let complete = found.outcome.is_complete();
            // A part of a system tells about the whole what no other part can change, if its gaps are marked.
            let marked = (!complete).then(|| marked(&found));
            let system = marked.as_ref().unwrap_or(&found.lts);
            let options = logic::Options { explain: !complete, ..logic::Options::default() };
            for (at, property) in self.question.properties.iter().enumerate() {
                let verdict = logic::check_lts(system, &property.formula, &options, progress);
                judgement.properties[at] = match verdict {
                    Ok(verdict) if logic::is_certain(system, &property.formula, &verdict) => {
                        Some(verdict.holds != self.verdicts[at])
                    }
                    _ => None,
                };
            }
        }
        for (at, example) in self.question.examples.iter().enumerate() {
            let now = behaviour(&changed, example, self.most_states, progress);
            judgement.examples[at] = match (&self.examples[at], now) {
                (Behaved::Runs(before), Ok(Behaved::Runs(now))) => Some(*before != now),
                (Behaved::System(before), Ok(Behaved::System(now))) => {
                    bisim::equivalent(before, &now, bisim::Relation::Strong).ok().map(|same| !same)
                }
                _ => None,
            };
        }
        // What is missing of a judgement that was stopped would look like a limit.
        (!progress.is_cancelled()).then_some(judgement)
    }

    fn is_equivalent(&self, system: &Lts) -> Option<bool> {
        bisim::equivalent(&self.system, system, bisim::Relation::Strong).ok()
    }
}

/// An exploration that was not completed, with the states marked whose steps are not known: those that were not looked at,
/// and the one in which the model made an error.
fn marked(found: &explore::Exploration) -> Lts {
    let rest = found.statistics.expanded..found.states();
    let failed = match &found.outcome {
        Outcome::Error { state, .. } => Some(state.unwrap_or(found.lts.initial())),
        _ => None,
    };
    found.lts.marking_unexplored(rest.map(lts::StateId::new).chain(failed))
}
