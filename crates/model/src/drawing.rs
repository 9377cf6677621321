//! A drawing of a model whose parts can be found again: those that hold values, and those that happen.

/// A drawing of a model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drawing {
    /// The picture. The element of a part has the part's id; what a place holds is the text of the element `ID-tokens`.
    pub svg: String,
    /// The same for Graphviz.
    pub dot: String,
    /// What is drawn.
    pub parts: Vec<DrawnPart>,
}

/// A part of a drawing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrawnPart {
    /// The id of its element.
    pub id: String,
    /// What it stands for.
    pub kind: PartKind,
    /// The name under which states have its value ([`Model::describe`](crate::Model::describe)), or the gate of its labels.
    pub name: String,
}

/// What a part of a drawing stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// It holds a value.
    Place,
    /// It happens.
    Transition,
}
