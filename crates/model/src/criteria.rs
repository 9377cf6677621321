//! What a language counts besides blocks, decisions and actions: lists of items by the name of their criterion.

use lts::LabelId;
use source::Span;

use crate::{ModelError, Slot};

/// The items of a criterion, in the order of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemList {
    /// The name of the criterion, such as `arcs`.
    pub criterion: String,
    /// What one of its items is called, such as `arc`.
    pub noun: String,
    /// The items.
    pub items: Vec<NamedItem>,
}

/// Something that executions exercise or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedItem {
    /// What it is, for people.
    pub name: String,
    /// Where it is written.
    pub span: Span,
}

/// Tells what steps exercise in the lists of a language, on one thread.
pub trait Inspector {
    /// Calls `emit` with the list and the item, as positions, for what a step out of a state exercises, known by its label
    /// and target; or what any step does.
    fn look(
        &mut self,
        state: &[Slot],
        taken: Option<(LabelId, &[Slot])>,
        emit: &mut dyn FnMut(usize, usize),
    ) -> Result<(), ModelError>;

    /// Calls `emit` with the ways in which decisions are evaluated in a state.
    fn evaluations(&mut self, state: &[Slot], emit: &mut dyn FnMut(Evaluated)) -> Result<(), ModelError>;
}

/// How a decision was evaluated.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Evaluated {
    /// Position in [`CoverageMap::decisions`](crate::CoverageMap::decisions).
    pub decision: usize,
    /// The outcome of each of its conditions; none for those that were not evaluated.
    pub conditions: Vec<Option<bool>>,
    /// Its own outcome.
    pub outcome: bool,
}

/// A condition on states that has a name: an abstract state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposition {
    /// Its name.
    pub name: String,
    /// Where it is written.
    pub span: Span,
}
