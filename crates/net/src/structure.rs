//! What the structure of a net tells, before anything is explored.

pub(crate) mod bounds;
pub(crate) mod semiflows;
