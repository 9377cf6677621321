//! What the structure of a net tells, before anything is explored.

pub(crate) mod bounds;
mod classes;
mod growth;
mod invariants;
pub(crate) mod semiflows;
mod siphons;

pub use classes::{Classes, classes};
pub use invariants::{Invariants, place_invariants, transition_invariants};
pub use siphons::{PlaceSets, siphons, traps};
