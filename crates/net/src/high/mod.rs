//! Predicate/transition nets: tokens have values, and variables of transitions stand for them.

mod concurrent;
mod fire;
mod inspect;
mod model;
mod net;
mod plan;
mod search;
mod worker;

pub use inspect::{Evaluation, Firing, Flow, Inspector};
pub use model::HighModel;
pub use net::{AbstractState, Guard, HighArc, HighNet, Marking, Place, Transition, Variable};

pub(crate) use fire::effect;
pub(crate) use inspect::{print_token, state_holds};
pub(crate) use net::{Computed, Matching, Part, Tokens};
pub(crate) use plan::{Action, Definition, Plan, Planned};
pub(crate) use search::{Mode, Present, compare_modes, compare_token, concerned, modes};
