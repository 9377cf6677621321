//! Interventions: single changes at suspects, to see which of them make all properties hold without leaving nothing to
//! hold about.
//!
//! A change that makes every property hold may do so by taking behaviour away: the model then stops where it went on,
//! labels never happen again, or nothing happens at all. Such changes are told apart, with the reason.

use std::ops::Range;

use explore::Limits;
use lts::{Lts, Progress};
use model::{Operator, Telling};
use rayon::prelude::*;
use rustc_hash::FxHashSet;

use crate::baseline::Baseline;

/// The operators that a person would try; the others take things away or add what is not meant.
pub const INTERVENTIONS: [Operator; 9] = [
    Operator::GuardNegated,
    Operator::GuardStrengthened,
    Operator::GuardWeakened,
    Operator::Comparison,
    Operator::Constant,
    Operator::Offer,
    Operator::BranchRemoved,
    Operator::ActionSwapped,
    Operator::ActionMoved,
];

/// A construct that may be wrong, in a text of the baseline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub file: String,
    /// Where in it, as offsets.
    pub range: Range<usize>,
}

/// What a change does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// All properties are as expected, and nothing is lost.
    Repairs,
    /// All properties are as expected, but at a price: in sentences.
    Loses(Vec<String>),
    /// Some property still is not as expected.
    Fails,
    /// It can't be told: the change is refused, makes a run-time error, or has too many states.
    Unknown,
}

/// A change that was tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// The change: a position among the baseline's mutants.
    pub mutant: usize,
    /// The suspect it was made at, from 0.
    pub suspect: usize,
    /// What it does.
    pub effect: Effect,
}

/// Tries changes of a model at places, the best first, at most so many. `needed` are labels that must stay possible.
///
/// Attempts come in the order of the places. Nothing is known of those that were left out when it was asked to stop.
pub fn interventions(
    baseline: &Baseline<'_>,
    places: &[Place],
    needed: &[String],
    most: usize,
    progress: &Progress,
) -> Vec<Attempt> {
    let mut chosen = candidates(baseline, places);
    chosen.truncate(most);
    progress.expect(chosen.len() as u64);
    let deadlocks = has_deadlock(&baseline.system);
    let attempt = |&(suspect, mutant): &(usize, usize)| {
        if progress.is_cancelled() {
            return None;
        }
        let effect = baseline.effect(mutant, needed, deadlocks, &progress.part());
        progress.advance(1);
        Some(Attempt { mutant, suspect, effect })
    };
    let tried: Vec<Option<Attempt>> = chosen.par_iter().with_max_len(1).map(attempt).collect();
    tried.into_iter().flatten().collect()
}

/// The changes that could be tried at places: the place and the mutant, as positions.
pub fn candidates(baseline: &Baseline<'_>, places: &[Place]) -> Vec<(usize, usize)> {
    let mut chosen: Vec<(usize, usize)> = Vec::new();
    let mut seen = FxHashSet::default();
    for (suspect, place) in places.iter().enumerate() {
        for (at, mutant) in baseline.mutants.iter().enumerate() {
            let span = mutant.span.range();
            let near = span.start < place.range.end && place.range.start < span.end;
            let here = near && baseline.sources.name(mutant.span.file) == place.file;
            if here && INTERVENTIONS.contains(&mutant.operator) && seen.insert(at) {
                chosen.push((suspect, at));
            }
        }
    }
    chosen
}

impl Baseline<'_> {
    fn effect(&self, at: usize, needed: &[String], deadlocks: bool, progress: &Progress) -> Effect {
        let Ok(opened) = self.changed(at).open_telling(&self.question.start, Telling::Nothing) else {
            return Effect::Unknown;
        };
        let limits = Limits { states: self.most_states, threads: 1, ..Limits::default() };
        let found = explore::explore(opened.model(), &limits, progress);
        if !found.outcome.is_complete() {
            return Effect::Unknown;
        }
        for property in self.question.properties {
            let options = logic::Options { explain: false, ..logic::Options::default() };
            match logic::check_lts(&found.lts, &property.formula, &options, progress) {
                Ok(verdict) if verdict.holds == property.expected => {}
                Ok(_) => return Effect::Fails,
                Err(_) => return Effect::Unknown,
            }
        }
        let mut losses = Vec::new();
        if found.lts.transition_count() == 0 {
            losses.push("nothing can happen any more".to_owned());
        } else {
            let texts: FxHashSet<String> = found.label_texts().into_iter().collect();
            let lost: Vec<&str> =
                needed.iter().filter(|text| !texts.contains(*text)).map(String::as_str).collect();
            if !lost.is_empty() {
                losses.push(format!("{} can't happen any more", listed(&lost)));
            }
            if !deadlocks && has_deadlock(&found.lts) {
                losses.push("it can get stuck, which it could not before".to_owned());
            }
        }
        if losses.is_empty() { Effect::Repairs } else { Effect::Loses(losses) }
    }
}

pub(crate) fn has_deadlock(lts: &Lts) -> bool {
    lts.states().any(|state| lts.outgoing(state).is_empty())
}

/// Some labels, and how many more there are.
fn listed(labels: &[&str]) -> String {
    const MOST: usize = 4;
    let shown = labels.iter().take(MOST).copied().collect::<Vec<_>>().join(", ");
    match labels.len().saturating_sub(MOST) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
