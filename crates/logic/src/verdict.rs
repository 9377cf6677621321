//! What a check answers.

use lts::{Lts, OriginId, StateId};
use model::Slot;

use crate::equations::FormulaTooLarge;
use crate::system::Stop;
use crate::value::DataError;

/// The answer to a property.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// Whether the formula holds in the initial state.
    pub holds: bool,
    /// The part of the system that shows why, where one was asked for and there is one to show.
    pub explanation: Option<Explanation>,
    /// How many states were looked at. Where a model is watched while it is explored, a state counts once for each
    /// position of the property's monitor in it; a property that has nothing to remember has one.
    pub states_visited: usize,
    /// How it was found.
    pub method: Method,
    /// All labels of the model, sorted, where the check of a model saw all of it.
    pub labels: Option<Vec<String>>,
}

/// How a verdict was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// A breadth-first search of the product with the formula's automaton.
    Automaton,
    /// Sets of states, block of equations by block.
    Sets,
    /// A parity game, made as far as was needed.
    Game,
}

/// A part of a system that shows why a formula holds or not.
#[derive(Clone, Debug)]
pub enum Explanation {
    /// A shortest run that does what the formula forbids or asks for. Where the run ends in a deadlock, that may be
    /// the reason.
    Trace(Vec<Step>),
    /// A run that goes round for ever.
    Lasso {
        /// The way to the cycle.
        prefix: Vec<Step>,
        /// The cycle; at least one step.
        cycle: Vec<Step>,
    },
    /// A part of the system on which the formula has the same verdict for the same reason. States are numbered
    /// breadth first from the initial one.
    SubSystem(Lts),
}

/// One step of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The state before it.
    pub source: StateId,
    /// What happens.
    pub label: String,
    /// The state after it.
    pub target: StateId,
    /// The values of the state after it, where the system is a model.
    pub slots: Option<Box<[Slot]>>,
    /// Where it comes from, where the system knows.
    pub origin: Option<OriginId>,
}

/// What a search that had to stop has established: no run of at most `steps` steps decides the property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Searched {
    /// The length of the runs.
    pub steps: usize,
    /// Whether runs that violate the property were looked for, or else those that show that it holds.
    pub violations: bool,
}

/// Why there is no verdict.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CheckError {
    /// The model stopped the exploration; the steps lead to the state in which it did.
    #[error("{stop}")]
    Stopped {
        /// Why.
        stop: Stop,
        /// A shortest known run to the state of a run-time error.
        trace: Box<[Step]>,
        /// How many states had been seen.
        states_visited: usize,
        /// What was established nevertheless.
        searched: Option<Box<Searched>>,
    },
    /// The data in the formula.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The formula unrolls to too much.
    #[error(transparent)]
    TooLarge(#[from] FormulaTooLarge),
    /// A formula with data has too many instances.
    #[error("the formula has more than {0} instances: does a parameter grow without bound?")]
    Unbounded(usize),
    /// Whoever watches has asked to stop.
    #[error("the check was cancelled")]
    Cancelled,
    /// No part of the system that was tried has the verdict of the whole.
    #[error("no part of the system was found that shows the verdict")]
    NotShown,
}

impl From<Stop> for CheckError {
    fn from(stop: Stop) -> Self {
        CheckError::Stopped { stop, trace: Box::default(), states_visited: 0, searched: None }
    }
}

impl Explanation {
    /// The labels of the run, where the explanation is one.
    pub fn labels(&self) -> Option<Vec<&str>> {
        match self {
            Explanation::Trace(steps) => Some(steps.iter().map(|step| step.label.as_str()).collect()),
            Explanation::Lasso { prefix, cycle } => {
                Some(prefix.iter().chain(cycle).map(|step| step.label.as_str()).collect())
            }
            Explanation::SubSystem(_) => None,
        }
    }
}
