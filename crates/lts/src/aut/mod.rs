//! The Aldebaran format: `des (initial, transitions, states)`, then a line `(from, label, to)` a transition.

mod read;
mod write;

pub use read::{AutError, AutOptions, ReadError, parse_aut, read_aut};
pub use write::write_aut;
