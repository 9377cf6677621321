//! What a language counts besides blocks, decisions and actions: lists of items by the name of their criterion.

use source::Span;

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

/// Something that executions exercise or not. A step exercises it where its origin has the item's mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedItem {
    /// What it is, for people.
    pub name: String,
    /// Where it is written.
    pub span: Span,
    /// The mark of the steps that exercise it.
    pub mark: crate::MarkId,
}

/// A condition on states that has a name: an abstract state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposition {
    /// Its name.
    pub name: String,
    /// Where it is written.
    pub span: Span,
}
