//! A drawing of a model: boxes, circles and lines between them, with places on a plane.

/// A drawing, in units of about a pixel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Diagram {
    /// Its width.
    pub width: f64,
    /// Its height.
    pub height: f64,
    /// What is drawn.
    pub nodes: Vec<DiagramNode>,
    /// The lines.
    pub arcs: Vec<DiagramArc>,
}

/// A node of a drawing.
#[derive(Clone, Debug, PartialEq)]
pub struct DiagramNode {
    /// What it stands for.
    pub kind: NodeKind,
    /// Its name: that of the value that a state has for it ([`Model::describe`](crate::Model::describe)), or that of the
    /// gate or transition.
    pub name: String,
    /// The middle, from the left.
    pub x: f64,
    /// The middle, from the top.
    pub y: f64,
    /// How wide it is.
    pub width: f64,
    /// How high it is.
    pub height: f64,
    /// The place of it in the source.
    pub span: Option<source::Span>,
}

/// What a node stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// Something that holds values: a circle.
    Place,
    /// Something that happens: a box.
    Transition,
}

/// A line of a drawing.
#[derive(Clone, Debug, PartialEq)]
pub struct DiagramArc {
    /// Where it starts, a position in [`Diagram::nodes`].
    pub from: usize,
    /// Where it ends.
    pub to: usize,
    /// The points that it passes, ends included.
    pub points: Vec<(f64, f64)>,
    /// What is written at it.
    pub label: String,
    /// How it ends.
    pub head: ArcHead,
}

/// How a line ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArcHead {
    /// With an arrow.
    Arrow,
    /// With a small circle: it forbids.
    Circle,
    /// With two arrows: it empties.
    Double,
    /// Without anything: it only looks.
    None,
}
