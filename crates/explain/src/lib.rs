//! Where correct and incorrect behaviour part: the choices that decide whether a run violates a property.

mod graph;
mod monitor;
mod neighbourhood;
mod prefix_suffix;
mod property;
mod relations;
mod runs;
mod tagged;

pub use graph::Node;
pub use neighbourhood::{Counts, Kind, Neighbourhood};
pub use prefix_suffix::{Affixes, affixes};
pub use property::{Options, Property, Unexplained};
pub use relations::Relation;
pub use runs::{NotACounterexample, Pattern, Run};
pub use tagged::{Method, Step, Tag, Tagged};
