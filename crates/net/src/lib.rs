//! Petri nets: from text to a model.
//!
//! Whatever a net was written in, it is explored as a [`Flat`] one where its tokens have finitely many kinds: one place
//! for each kind of token, one transition for each way to fire.

mod behaviour;
mod counted;
mod coverability;
mod drawing;
mod engine;
mod flat;
mod language;
mod pnml;
mod promela;
mod structure;

mod high;
mod text;
mod unfold;

pub use behaviour::{Behaviour, Liveness};
pub use coverability::{Coverability, Pump, coverability};
pub use drawing::{Diagram, DiagramArc, DiagramNode, DrawnArc, NodeKind, Sketch, SketchArc};
pub use engine::FlatModel;
pub use flat::{Arc, ArcKind, Component, Flat, FlatPlace, FlatTransition, SourcePlace, SourceTransition};
pub use high::{
    AbstractState, Evaluation, Firing, Flow, Guard, HighArc, HighModel, HighNet, Inspector, Marking, Place,
    Transition, Variable,
};
pub use language::{NetProgram, NetText, Pnml};
pub use pnml::{load_pnml, probe_pnml, write_pnml};
pub use promela::{PromelaOptions, write_promela};
pub use structure::{
    Classes, Invariants, PlaceSets, classes, place_invariants, siphons, transition_invariants, traps,
};
pub use text::{ArcWord, load_net};
pub use unfold::{UnfoldLimits, Unfolded, unfold};
