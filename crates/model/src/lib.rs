//! The one door between languages and everything else.
//!
//! A front end turns text into a [`Model`]; exploration, checking and coverage know models only. A state is a short
//! vector of [`Slot`]s. Structured values are interned ([`SharedRows`]), so comparing, hashing and storing states
//! never touches the language. Every step carries an origin: the set of source constructs that fired
//! ([`Provenance`]).
//!
//! ```
//! use lts::LabelId;
//! use model::{Layout, Model, ModelError, Provenance, Slot, StateView, Step, Worker};
//!
//! /// A counter modulo three.
//! struct Counter { layout: Layout, provenance: Provenance }
//!
//! impl Model for Counter {
//!     fn layout(&self) -> &Layout { &self.layout }
//!     fn initial(&self) -> Result<Vec<Slot>, ModelError> { Ok(vec![0]) }
//!     fn worker(&self) -> Box<dyn Worker + '_> { Box::new(Ticker) }
//!     fn label(&self, _: LabelId) -> String { "TICK".into() }
//!     fn describe(&self, state: &[Slot]) -> StateView { StateView { values: vec![("n".into(), state[0].to_string())] } }
//!     fn provenance(&self) -> &Provenance { &self.provenance }
//! }
//!
//! struct Ticker;
//! impl Worker for Ticker {
//!     fn successors(&mut self, state: &[Slot], emit: &mut dyn FnMut(Step<'_>)) -> Result<(), ModelError> {
//!         emit(Step { label: LabelId::new(1), target: &[(state[0] + 1) % 3], origin: Provenance::NONE });
//!         Ok(())
//!     }
//! }
//!
//! let counter = Counter { layout: Layout::new(&[2]), provenance: Provenance::default() };
//! let mut next = Vec::new();
//! counter.worker().successors(&[2], &mut |step| next.push(step.target.to_vec()))?;
//! assert_eq!(next, [[0]]);
//! # Ok::<(), ModelError>(())
//! ```

mod construct;
mod coverage;
mod criteria;
mod drawing;
mod encounter;
mod language;
mod layout;
mod mutant;
mod offer;
mod packing;
mod prefetch;
mod probes;
mod provenance;
mod reader;
pub mod rows;
mod steps;
mod system;
mod texts;

pub use construct::{Construct, ConstructKind};
pub use coverage::{
    ActionInstance, Block, CoverageMap, DataFlow, Decision, DecisionKind, DefUse, Dependency, Join,
    ProcessEntry, VariableSite, Way,
};
pub use criteria::{Evaluated, Inspector, ItemList, NamedItem, Proposition};
pub use drawing::{Drawing, DrawnPart, PartKind};
pub use encounter::{Encounter, Observation, Observer, Obstacle, Participant, Partner};
pub use language::{Arguments, Input, Language, Program, Root, Starting, Telling};
pub use layout::Layout;
pub use mutant::{Mutant, Operator};
pub use offer::{ChosenFrom, Gate, OfferType, OpenOffer, SilentChoice};
pub use packing::Packing;
pub use prefetch::prefetch;
pub use probes::{Instrumented, Probes};
pub use provenance::{Mark, MarkId, MarkKind, Provenance};
pub use reader::{Described, StateReader, Withheld};
pub use rows::{LocalRows, SharedRows};
pub use steps::Steps;
pub use system::SystemModel;
pub use texts::{Folders, Found, Missing, NoTexts, Overlay, Text, Texts, read_text};

use lts::{LabelId, OriginId};
use source::{Diagnostic, Span};

/// One number of a state vector.
pub type Slot = u32;

/// A system that can be explored, whatever language it was written in.
pub trait Model: Sync {
    /// How many slots a state has, and how many bits each needs.
    fn layout(&self) -> &Layout;
    /// The state in which everything begins.
    fn initial(&self) -> Result<Vec<Slot>, ModelError>;
    /// Scratch space and caches for one thread.
    fn worker(&self) -> Box<dyn Worker + '_>;
    /// The same for packed states. A model that can do better than unpacking every state overrides this; the steps and
    /// their order are those of [`worker`](Self::worker).
    fn packed_worker(&self) -> Box<dyn PackedWorker + '_> {
        Box::new(Packing::new(self.worker(), self.layout()))
    }
    /// The text of a label that a step carried. Labels are numbered as they turn up, 0 being the internal
    /// action; nothing may depend on the order.
    fn label(&self, label: LabelId) -> String;
    /// The named values of a state, for people.
    fn describe(&self, state: &[Slot]) -> StateView;
    /// The same by the instances of processes that a state has at the moment, where the language has such.
    fn parts(&self, state: &[Slot]) -> Vec<Part> {
        vec![Part { values: self.describe(state).values, ..Part::default() }]
    }
    /// Where steps come from.
    fn provenance(&self) -> &Provenance;

    /// The memory of what the model and its workers keep about states, in bytes: interned values, labels, what workers
    /// remember. Limits on memory count it; what does not grow with the states need not be in it.
    fn bytes(&self) -> usize {
        0
    }

    /// The actions that took values which nobody had fixed since the model was made, where the language has such, in the
    /// order of the text.
    fn open_offers(&self) -> Vec<OpenOffer> {
        Vec::new()
    }

    /// Where values are chosen silently, where the language has that, in the order of the text.
    fn silent_choices(&self) -> Vec<SilentChoice> {
        Vec::new()
    }

    /// The names that [`describe`](Self::describe) can give, where they are known beforehand.
    fn observables(&self) -> Option<Vec<String>> {
        None
    }
    /// Reads and writes states, where the language has a way to write them.
    fn reader(&self) -> Option<Box<dyn StateReader + '_>> {
        None
    }

    /// The constructs that fire before the first step.
    fn initial_origin(&self) -> OriginId {
        Provenance::NONE
    }
    /// What has fired since the model was made, by whichever worker and silently or not: the origins of steps that were
    /// emitted, and what [`Worker::executed`] would tell of the states that were looked at. A model that makes origins
    /// only as they fire has them at hand. Without an answer, who wants to know looks at every state again: an origin
    /// that merely exists in the table counts for nothing.
    fn fired(&self) -> Option<Vec<OriginId>> {
        None
    }
    /// The gates that labels can have, the internal action and termination aside; none where that is not known before
    /// everything is explored.
    fn visible_gates(&self) -> Option<Vec<Gate>> {
        None
    }
    /// The names of the types that offers of labels can have; none where the language has no types.
    fn types(&self) -> Option<Vec<String>> {
        None
    }
    /// Looks at the rendezvous of states, on one thread, where the language has them.
    fn observer(&self) -> Option<Box<dyn Observer + '_>> {
        None
    }
    /// What marks of steps tell about the values of decisions, where they are observations. The values known by now are
    /// looked up once.
    fn observations(&self) -> Box<dyn Fn(MarkId) -> Option<Observation> + '_> {
        Box::new(|_| None)
    }
    /// What a mark of a step tells about the variables that the step defines and uses. Where an origin has several
    /// such marks, there are as many ways to take the step.
    fn flow(&self, _mark: MarkId) -> Option<DataFlow> {
        None
    }
    /// The blocks and outcomes of functions that were executed so far, by whichever worker.
    fn fired_in_functions(&self) -> Vec<(MarkKind, Span)> {
        Vec::new()
    }
    /// Forgets what was executed in functions since the initial state.
    fn forget_fired(&self) {}
    /// The conditions on states that have names.
    fn propositions(&self) -> &[Proposition] {
        &[]
    }
    /// Whether a condition that has a name holds in a state; it is a position in [`propositions`](Self::propositions).
    fn holds(&self, _proposition: usize, _state: &[Slot]) -> Result<bool, ModelError> {
        Ok(false)
    }
}

/// Computes successors on one thread.
pub trait Worker: Send {
    /// Calls `emit` for every step out of a state, in the order of the source; the same step may come twice.
    fn successors(&mut self, state: &[Slot], emit: &mut dyn FnMut(Step<'_>)) -> Result<(), ModelError>;

    /// Calls `emit` with the origins of what is executed silently in a state, on the way to actions that may or may not
    /// happen; none for models in which nothing precedes a step.
    fn executed(&mut self, _state: &[Slot], _emit: &mut dyn FnMut(OriginId)) -> Result<(), ModelError> {
        Ok(())
    }
}

/// Computes the successors of packed states on one thread.
pub trait PackedWorker: Send {
    /// Calls `emit` for every step out of a packed state, as [`Worker::successors`] does; targets are packed.
    fn successors(&mut self, packed: &[u32], emit: &mut dyn FnMut(Step<'_>)) -> Result<(), ModelError>;

    /// Adds every step out of a packed state, in the same order; those before an error, too. Exploration asks this way:
    /// a worker that saves a call for each step by it does so.
    fn add_steps(&mut self, packed: &[u32], steps: &mut Steps) -> Result<(), ModelError> {
        self.successors(packed, &mut |step| steps.push(step))
    }
}

/// One step of a model.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// What happens.
    pub label: LabelId,
    /// The state after it, packed where the state before it was.
    pub target: &'a [Slot],
    /// The source constructs that fired.
    pub origin: OriginId,
}

/// A state for people.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StateView {
    /// Names and values, in the order of the source.
    pub values: Vec<(String, String)>,
}

/// An instance of a process in a state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// Which one it is, told apart from all others: `NODE (2)`; empty where there are no instances.
    pub name: String,
    /// Names and values of its variables, in the order of the source.
    pub values: Vec<(String, String)>,
    /// Where it stands.
    pub stands: Option<Span>,
    /// The call that it comes from.
    pub started: Option<Span>,
}

/// The most steps before an error that a message tells.
const MOST_STEPS: usize = 20;

/// A run-time error of the model: an overflow, an unmatched case, an access out of range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelError {
    /// What went wrong.
    pub message: String,
    /// Where in the model's source.
    pub span: Option<Span>,
    /// What to do about it.
    pub help: Option<String>,
    /// The action that it follows from, where it is not what comes before any: the step is then not one of the model.
    pub during: Option<LabelId>,
}

impl ModelError {
    /// Where it happens, for people, after steps with these labels: the last ones of many.
    pub fn place(&self, model: &dyn Model, labels: &[String]) -> String {
        let step = self.during.map(|label| model.label(label));
        let after = match labels.len().checked_sub(MOST_STEPS) {
            None | Some(0) => format!("after: {}", labels.join(", ")),
            Some(before) => {
                let last = labels[before..].join(", ");
                format!("after {} steps, the last of them: {last}", labels.len())
            }
        };
        match (labels, step) {
            ([], None) => "this happens in the first step".to_owned(),
            ([], Some(step)) => format!("this happens in the first step, {step}"),
            (_, None) => format!("this happens in the step {after}"),
            (_, Some(step)) => format!("this happens in the step {step}, {after}"),
        }
    }

    /// As a message, after steps with these labels; none where it happens before the first.
    pub fn diagnostic(&self, model: &dyn Model, labels: Option<&[String]>) -> Diagnostic {
        let mut diagnostic = Diagnostic::error(self.message.clone());
        if let Some(span) = self.span {
            diagnostic = diagnostic.label(span, "while running this");
        }
        let note = match labels {
            None => "this happens before the first step".to_owned(),
            Some(labels) => self.place(model, labels),
        };
        diagnostic.note(note).maybe_help(self.help.clone())
    }
}

impl std::fmt::Display for ModelError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.message)
    }
}

impl std::error::Error for ModelError {}
