//! What coverage needs to know of a program: which blocks, decisions and actions it has, and, for people who measure
//! with probes, the same program with probes in it.

mod conditions;
mod constructs;
mod critical;
mod def_use;
mod domains;
mod edits;
mod map;
mod probes;

pub(crate) use conditions::{conditions_of, operands_of};
pub use constructs::constructs;
pub use def_use::def_use_pairs;
pub(crate) use def_use::{parts_of, pattern_variables, used_variables};
pub use domains::arguments;
pub(crate) use map::{case_decision_span, is_simple, need_not_return};
pub use map::{coverage_map, function_map};
pub use probes::instrument;
