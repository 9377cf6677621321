//! Running compiled programs: values, the machine, and the steps out of a state.

mod bounds;
mod builtins;
mod domains;
mod drafts;
mod edits;
mod flows;
mod locality;
mod machine;
#[cfg(feature = "native")]
mod native;
#[cfg(not(feature = "native"))]
#[path = "not_native.rs"]
mod native;
mod print;
mod rendezvous;
mod rest;
mod results;
mod shortcuts;
mod solved;
mod sources;
mod successors;
mod symbolic;
mod values;

pub use bounds::Bounds;
pub use domains::{Unlisted, all_values, literal_value};
pub use flows::{read_summary, summary_mark};
pub use locality::{Condition, Locality, conditions, decisive, localities};
pub use machine::{FIRST_OBSERVATION, Machine};
pub use native::Native;
pub use print::{print_frozen, print_value};
pub use rendezvous::silent;
pub use shortcuts::Shortcuts;
pub use sources::{Choosing, choosing, chosen_from};
pub use successors::{LntWorker, PackedLntWorker, initial_state};
pub(crate) use successors::{Plan, Plans};
pub use values::Values;
