//! Running compiled programs: values, the machine, and the steps out of a state.

mod builtins;
mod machine;
mod print;
mod shortcuts;
mod successors;
mod values;

pub use machine::FIRST_OBSERVATION;
pub use print::print_value;
pub use shortcuts::Shortcuts;
pub use successors::{LntWorker, initial_state};
pub use values::Values;
