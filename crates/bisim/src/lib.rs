//! Minimise, compare and distinguish labelled transition systems modulo behavioural equivalences.

mod branching;
mod counters;
mod graph;
mod partition;
mod quotient;
mod reduce;
mod refinement;
mod relation;
mod sets;
mod silent;
mod strong;

pub use reduce::{Error, Limits, reduce, reduce_within};
pub use relation::{Relation, UnknownRelation};
