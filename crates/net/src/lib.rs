//! Petri nets: from text to a model.
//!
//! Whatever a net was written in, it is explored as a [`Flat`] one where its tokens have finitely many kinds: one place
//! for each kind of token, one transition for each way to fire.

mod flat;

mod high;
mod text;
mod unfold;

pub use flat::{Arc, ArcKind, Component, Flat, FlatPlace, FlatTransition, SourcePlace, SourceTransition};

pub use high::{
    AbstractState, Evaluation, Firing, Flow, Guard, HighArc, HighModel, HighNet, Inspector, Marking, Place,
    Transition, Variable,
};
pub use text::{ArcWord, load_net};
pub use unfold::{UnfoldLimits, unfold};
