//! What a reduction achieved.

use std::fmt;

use serde::Serialize;

use crate::number::seconds;
use crate::system::Size;

/// A system before and after its reduction.
#[derive(Clone, Debug, Serialize)]
pub struct Reduction {
    /// What came in.
    pub before: Size,
    /// What came out.
    pub after: Size,
    /// The equivalence that was kept.
    pub relation: String,
    /// How long it took, reading and writing aside.
    pub seconds: f64,
}

impl fmt::Display for Reduction {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { before, after, relation, seconds: time } = self;
        write!(out, "before  {before}\nafter   {after}  ({relation}, {})", seconds(*time))
    }
}
