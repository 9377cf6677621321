//! State-space generation: breadth first, on one or many threads, the result always the same.
//!
//! ```
//! # use lts::LabelId;
//! # use model::{Layout, Model, ModelError, Provenance, Slot, StateView, Step, Worker};
//! # struct Counter { layout: Layout, provenance: Provenance }
//! # impl Model for Counter {
//! #     fn layout(&self) -> &Layout { &self.layout }
//! #     fn initial(&self) -> Result<Vec<Slot>, ModelError> { Ok(vec![0]) }
//! #     fn worker(&self) -> Box<dyn Worker + '_> { Box::new(Ticker) }
//! #     fn label(&self, _: LabelId) -> String { "TICK".into() }
//! #     fn describe(&self, _: &[Slot]) -> StateView { StateView::default() }
//! #     fn provenance(&self) -> &Provenance { &self.provenance }
//! # }
//! # struct Ticker;
//! # impl Worker for Ticker {
//! #     fn successors(&mut self, state: &[Slot], emit: &mut dyn FnMut(Step<'_>)) -> Result<(), ModelError> {
//! #         emit(Step { label: LabelId::new(1), target: &[(state[0] + 1) % 3], origin: Provenance::NONE });
//! #         Ok(())
//! #     }
//! # }
//! # let counter = Counter { layout: Layout::new(&[2]), provenance: Provenance::default() };
//! use explore::{Limits, Outcome, explore};
//!
//! // A counter modulo three, as in the example of crate `model`.
//! let found = explore(&counter, &Limits::default(), &lts::Progress::new());
//! assert_eq!(found.outcome, Outcome::Complete);
//! assert_eq!((found.states(), found.lts.transition_count()), (3, 3));
//! ```

mod compress;
mod disk;
mod engine;
mod huge;
mod pairs;
mod store;
mod team;
mod walk;
mod words;

use std::time::Duration;

use lts::{LabelId, Lts, Progress, StateId};
use model::{Model, ModelError, Slot};

pub use compress::Compressed;
pub use disk::Disk;
use store::Store;
pub use walk::{NotARun, Walk, WalkStep, guided};

/// When to stop before everything is explored, and what to keep.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The most states.
    pub states: usize,
    /// The most memory, in bytes: states, their table, transitions, what threads work with, and what the model keeps
    /// ([`Model::bytes`]), each with what it may grow to in the next round.
    pub bytes: usize,
    /// Where the states go that are more than [`bytes`](Limits::bytes). Their table, transitions and what the model keeps stay in
    /// memory. What is found does not depend on it.
    pub disk: Option<Disk>,
    /// The longest time.
    pub time: Option<Duration>,
    /// How many threads; 0 for as many as the thread pool has.
    pub threads: usize,
    /// Whether transitions are kept; without them only counts are known.
    pub transitions: bool,
    /// Whether the origins of transitions are kept.
    pub origins: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            states: MOST_STATES,
            bytes: usize::MAX,
            disk: None,
            time: None,
            threads: 0,
            transitions: true,
            origins: false,
        }
    }
}

/// More states than this are not numbered: numbers have 31 bits, and some are for the states found in a round.
pub const MOST_STATES: usize = (1 << 31) - (1 << 28);

/// How an exploration ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Everything reachable was explored.
    Complete,
    /// There are more states than allowed.
    StateLimit,
    /// There is more than the memory allowed, with a disk more than what stays in memory.
    MemoryLimit,
    /// There is more than the memory allowed, and states could not be moved to disk: why, as the system says it.
    DiskFailed(String),
    /// It would have taken longer than allowed.
    TimeLimit,
    /// It was asked to stop.
    Cancelled,
    /// The model made an error in some state.
    Error {
        /// What went wrong.
        error: ModelError,
        /// The state in which it did; none for the very start.
        state: Option<StateId>,
    },
}

impl Outcome {
    /// Whether all reachable states were explored.
    pub fn is_complete(&self) -> bool {
        *self == Outcome::Complete
    }
}

/// Counters of an exploration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Different transitions, those that the kept system has or would have.
    pub transitions: u64,
    /// States without any transition, among those explored.
    pub deadlocks: u64,
    /// How many states were explored; the others were only seen.
    pub expanded: usize,
    /// The greatest distance from the initial state.
    pub depth: usize,
    /// The most states at one distance.
    pub widest_level: usize,
    /// The memory that the last round began with, as [`Limits::bytes`] counts it.
    pub bytes: usize,
    /// How many bytes of states went to disk.
    pub disk_bytes: usize,
    /// Bytes of a packed state, without its place in the table.
    pub state_bytes: usize,
}

/// What an exploration has found.
pub struct Exploration {
    /// The system, where transitions were kept; without them its states only.
    pub lts: Lts,
    /// How it ended.
    pub outcome: Outcome,
    /// Counters.
    pub statistics: Statistics,
    /// How many different labels occur.
    pub labels: usize,
    used_labels: Vec<LabelId>,
    store: Store,
}

/// Explores a model breadth first from its initial state.
pub fn explore(model: &dyn Model, limits: &Limits, progress: &Progress) -> Exploration {
    engine::run(model, limits, progress)
}

/// One step of a [trace](Exploration::trace_to).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceStep {
    /// What happens, as the model numbers it.
    pub label: LabelId,
    /// Where it comes from.
    pub origin: lts::OriginId,
    /// The state after it.
    pub target: StateId,
}

impl Exploration {
    /// How many states were seen.
    pub fn states(&self) -> usize {
        self.store.len()
    }

    /// The values of a state.
    pub fn state(&self, model: &dyn Model, state: StateId) -> Vec<Slot> {
        let mut values = vec![0; model.layout().width()];
        model.layout().unpack(self.store.packed(state.index()), &mut values);
        values
    }

    /// How many steps a state is away from the initial one.
    pub fn distance(&self, state: StateId) -> usize {
        let mut at = state.index();
        let mut steps = 0;
        while at != 0 {
            at = self.store.parent(at);
            steps += 1;
        }
        steps
    }

    /// The texts of the labels that steps have, sorted.
    pub fn label_texts(&self) -> Vec<String> {
        let mut texts: Vec<String> =
            self.used_labels.iter().map(|&label| self.lts.label(label).to_owned()).collect();
        texts.sort();
        texts.dedup();
        texts
    }

    /// A shortest way from the initial state to a state, recomputed from the states on it.
    pub fn trace_to(&self, model: &dyn Model, state: StateId) -> Result<Vec<TraceStep>, ModelError> {
        let mut states = vec![state];
        let mut at = state.index();
        while at != 0 {
            at = self.store.parent(at);
            states.push(StateId::new(at));
        }
        states.reverse();
        let mut worker = model.worker();
        let mut trace = Vec::with_capacity(states.len() - 1);
        for pair in states.windows(2) {
            let wanted = self.state(model, pair[1]);
            let mut found = None;
            let result = worker.successors(&self.state(model, pair[0]), &mut |step| {
                if found.is_none() && step.target == wanted {
                    found = Some(TraceStep { label: step.label, origin: step.origin, target: pair[1] });
                }
            });
            match found {
                Some(step) => trace.push(step),
                None => {
                    result?;
                    unreachable!("a state was reached by a step that its predecessor does not have");
                }
            }
        }
        Ok(trace)
    }
}

#[cfg(test)]
mod tests;
