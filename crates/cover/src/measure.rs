//! Direct measurement: one exploration tells all three criteria at once, without probes and without a state more.
//!
//! Every step of a model says which constructs fired ([`Provenance`]). The origins that the steps of an exploration
//! had are what is covered.
//!
//! The one liberty against probes: an outcome, or a silent block, counts where it was evaluated or executed in a state
//! that was reached. Probes show what stands at the start of a branch of a `select` only once the `select` has ended
//! (table 3), so that they miss it where the branch blocks: by `stop`, by an `only if` that refuses, or by an action
//! that finds no partner. Calling such a decision "always false" would be wrong: the action is what is missing.

use explore::{Exploration, Limits, Outcome};
use lts::{OriginId, Progress, StateId};
use model::{CoverageMap, MarkKind, Model, ModelError, Provenance};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use source::{Diagnostic, Span};

use crate::coverage::Coverage;
use crate::specification::{Marked, marked};

/// What an exploration of one example has shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measurement {
    /// What was exercised, in terms of the example's own map.
    pub coverage: Coverage,
    /// How many states the example has.
    pub states: u64,
    /// How many transitions it has.
    pub transitions: u64,
    /// What was executed of functions; none where that is not measured.
    pub functions: Option<Coverage>,
    /// Why not everything was explored: then the coverage is partial.
    pub stopped: Option<Stopped>,
}

/// Why an exploration ended early.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stopped {
    /// There are more states than allowed.
    StateLimit,
    /// There is more than the memory allowed.
    MemoryLimit,
    /// It would have taken longer than allowed.
    TimeLimit,
    /// The user has asked for it.
    Cancelled,
    /// The model can't follow a trace: what is not possible.
    #[serde(skip)]
    Trace(String),
    /// The model made an error: what and where, in the example's own files until the suite is put together.
    #[serde(skip)]
    Error(Box<Diagnostic>),
}

impl std::fmt::Display for Stopped {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Stopped::StateLimit => out.write_str("the state limit was reached"),
            Stopped::MemoryLimit => out.write_str("the memory limit was reached"),
            Stopped::TimeLimit => out.write_str("the time limit was reached"),
            Stopped::Cancelled => out.write_str("it was cancelled"),
            Stopped::Trace(reason) => out.write_str(reason),
            Stopped::Error(diagnostic) => {
                write!(out, "run-time error: {}", diagnostic.message)?;
                diagnostic.notes.first().map_or(Ok(()), |place| write!(out, " ({place})"))
            }
        }
    }
}

/// Explores a model and tells what it exercised.
pub fn measure(
    model: &dyn Model,
    map: &CoverageMap,
    limits: &Limits,
    progress: &Progress,
) -> (Measurement, Exploration) {
    let limits = Limits { transitions: false, origins: false, ..limits.clone() };
    let found = explore::explore(model, &limits, progress);
    let coverage = covered(model, map, origins(model, &found));
    let measurement = Measurement {
        coverage,
        states: found.states() as u64,
        transitions: found.statistics.transitions,
        functions: None,
        stopped: stopped(model, &found, &|_| false),
    };
    (measurement, found)
}

/// What steps of these origins have exercised.
pub fn covered(
    model: &dyn Model,
    map: &CoverageMap,
    origins: impl IntoIterator<Item = OriginId>,
) -> Coverage {
    let mut coverage = Coverage::none(map);
    let provenance = model.provenance();
    let meaning = marked(map, provenance);
    for origin in origins {
        for mark in provenance.marks_of(origin) {
            match meaning.get(mark.0 as usize).copied().flatten() {
                Some(Marked::Block(block)) => coverage.blocks[block] = true,
                Some(Marked::Outcome(decision, true)) => coverage.decisions[decision].yes = true,
                Some(Marked::Outcome(decision, false)) => coverage.decisions[decision].no = true,
                Some(Marked::Action(action)) => coverage.actions[action] = true,
                None => {}
            }
        }
    }
    coverage
}

/// What constructs of these kinds and places are in a map.
pub(crate) fn covered_by_marks(
    map: &CoverageMap,
    marks: impl IntoIterator<Item = (MarkKind, Span)>,
) -> Coverage {
    let blocks: FxHashMap<Span, usize> =
        map.blocks.iter().enumerate().map(|(number, block)| (block.span, number)).collect();
    let decisions: FxHashMap<Span, usize> =
        map.decisions.iter().enumerate().map(|(number, decision)| (decision.span, number)).collect();
    let mut coverage = Coverage::none(map);
    for (kind, span) in marks {
        match kind {
            MarkKind::Block => blocks.get(&span).iter().for_each(|&&block| coverage.blocks[block] = true),
            MarkKind::Decision(outcome) => decisions.get(&span).iter().for_each(|&&decision| {
                coverage.decisions[decision].yes |= outcome;
                coverage.decisions[decision].no |= !outcome;
            }),
            MarkKind::Action => {}
        }
    }
    coverage
}

/// The origins of what fired in an exploration: those of its steps, and of what was executed silently in its states.
pub(crate) fn origins(model: &dyn Model, found: &Exploration) -> Vec<OriginId> {
    if let Outcome::Error { state: None, .. } = &found.outcome {
        return Vec::new();
    }
    if let (Outcome::Complete, Some(fired)) = (&found.outcome, model.fired()) {
        return fired;
    }
    // Threads run ahead of a limit by different amounts: take the steps again that belong to the result.
    const PIECE: usize = 1 << 12;
    let pieces = found.statistics.expanded.div_ceil(PIECE);
    let look = |piece: usize| {
        let mut worker = model.worker();
        let mut origins: FxHashSet<OriginId> = FxHashSet::default();
        for state in piece * PIECE..((piece + 1) * PIECE).min(found.statistics.expanded) {
            let state = found.state(model, StateId::new(state));
            let _ = worker.successors(&state, &mut |step| {
                origins.insert(step.origin);
            });
            let _ = worker.executed(&state, &mut |origin| {
                origins.insert(origin);
            });
        }
        origins
    };
    let all = (0..pieces).into_par_iter().map(look).reduce(FxHashSet::default, |mut all, more| {
        all.extend(more);
        all
    });
    let mut origins: Vec<OriginId> = all.into_iter().chain([model.initial_origin()]).collect();
    origins.sort_unstable();
    origins.dedup();
    origins.retain(|&origin| origin != Provenance::NONE);
    origins
}

/// Why an exploration ended early; steps with labels that are left out are not those of the user's model.
pub(crate) fn stopped(
    model: &dyn Model,
    found: &Exploration,
    left_out: &dyn Fn(&str) -> bool,
) -> Option<Stopped> {
    Some(match &found.outcome {
        Outcome::Complete => return None,
        Outcome::StateLimit => Stopped::StateLimit,
        Outcome::MemoryLimit | Outcome::DiskFailed(_) => Stopped::MemoryLimit,
        Outcome::TimeLimit => Stopped::TimeLimit,
        Outcome::Cancelled => Stopped::Cancelled,
        Outcome::Error { error, state } => error_after(model, found, error, *state, left_out),
    })
}

/// An error in a step out of a state, or before the first.
pub(crate) fn error_after(
    model: &dyn Model,
    found: &Exploration,
    error: &ModelError,
    state: Option<StateId>,
    left_out: &dyn Fn(&str) -> bool,
) -> Stopped {
    let trace = state.and_then(|state| found.trace_to(model, state).ok());
    let labels = trace.map(|trace| {
        let labels = trace.iter().map(|step| model.label(step.label));
        labels.filter(|label| !left_out(label)).collect::<Vec<String>>()
    });
    Stopped::Error(Box::new(error.diagnostic(model, labels.as_deref())))
}
