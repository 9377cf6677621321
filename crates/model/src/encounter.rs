//! What can be observed beside steps: rendezvous that do not come about, and the values that decisions see.

use source::Span;

use crate::{MarkId, ModelError, Slot};

/// What keeps an offered action from happening in a state; the later ones come nearer to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Obstacle {
    /// A partner that has to take part offers nothing on the gate.
    PartnerNotReady,
    /// A partner offers another number or other types of values.
    DifferentProfile,
    /// The values that are known on both sides differ.
    DifferentValues,
    /// All partners are there; a guard does not hold, or a pattern does not match.
    Refused,
}

/// An action that is offered in a state and does not happen there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encounter {
    /// The action.
    pub action: MarkId,
    /// Who offers it, as [`Part::name`](crate::Part::name).
    pub instance: String,
    /// What keeps it from happening.
    pub obstacle: Obstacle,
    /// What it offers: `PUT !3 ?nat`.
    pub offer: String,
    /// Those whose part is missing or does not fit.
    pub partners: Vec<Partner>,
}

/// One who should have taken part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partner {
    /// The process.
    pub process: String,
    /// What it offers on the gate at the moment, with the place of the action.
    pub offers: Vec<(Option<MarkId>, String)>,
    /// Its actions on the gate that may still meet what is offered, wherever control may be now.
    pub actions: Vec<MarkId>,
    /// The instances that have these actions, as [`Part::name`](crate::Part::name); without any, whose part is missing.
    pub instances: Vec<String>,
}

/// One who takes part in a step.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Participant {
    /// What it does.
    pub action: MarkId,
    /// Who it is, as [`Part::name`](crate::Part::name).
    pub instance: String,
}

/// Looks at the rendezvous of states.
pub trait Observer: Send {
    /// Calls `emit` for every way in which an action whose mark is wanted is offered and does not happen.
    fn encounters(
        &mut self,
        state: &[Slot],
        wanted: &[bool],
        emit: &mut dyn FnMut(Encounter),
    ) -> Result<(), ModelError>;

    /// Who takes part in a step of a state, known by the text of its label and its target: all ways to take it together.
    fn participants(
        &mut self,
        state: &[Slot],
        label: &str,
        target: &[Slot],
    ) -> Result<Vec<Participant>, ModelError>;
}

/// The values that a decision was evaluated on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// The decision; the first branch of a `case`.
    pub decision: Span,
    /// Its outcome; none for a `case`.
    pub outcome: Option<bool>,
    /// Those of its conditions and operands that were evaluated, with their values.
    pub values: Vec<(Span, String)>,
}
