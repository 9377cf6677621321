//! Minimise, compare and distinguish labelled transition systems modulo behavioural equivalences.

mod branching;
mod compare;
mod counters;
mod determinise;
mod distinguish;
mod formula;
mod graph;
mod levels;
mod partition;
mod quotient;
mod reduce;
mod refinement;
mod relation;
mod sets;
mod silent;
mod strong;
mod tau_star;
mod weak;

pub use compare::{Comparison, Reason, Side, compare, compare_within};
pub use formula::{Formula, Part, PartId, Step};
pub use reduce::{Error, Limits, classes, reduce, reduce_within};
pub use relation::{Relation, UnknownRelation};
