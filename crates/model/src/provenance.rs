//! Where steps come from in the source.

use lts::OriginId;
use source::Span;

use crate::rows::SharedRows;

/// A mark of [`Provenance::marks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MarkId(pub u32);

/// A source construct that a step can fire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// What it is.
    pub kind: MarkKind,
    /// Where it is written.
    pub span: Span,
    /// The process it belongs to.
    pub process: String,
}

/// Which kind of construct fired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MarkKind {
    /// An action took part in the step.
    Action,
    /// A decision was evaluated, with this outcome.
    Decision(bool),
    /// The last instruction of a block was executed.
    Block,
}

/// The constructs of a model, and the sets of them that steps have fired.
///
/// An origin is a set of marks, interned: two steps that fire the same constructs have the same origin.
#[derive(Debug)]
pub struct Provenance {
    marks: Vec<Mark>,
    /// The marks of each origin, ascending. The first origin is the empty set.
    origins: SharedRows,
}

impl Default for Provenance {
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

impl Provenance {
    /// The origin of steps that come from nowhere in particular.
    pub const NONE: OriginId = OriginId::ZERO;

    /// A table over these marks.
    pub fn new(marks: Vec<Mark>) -> Self {
        let origins = SharedRows::new();
        origins.intern(&[]);
        Self { marks, origins }
    }

    /// All constructs.
    pub fn marks(&self) -> &[Mark] {
        &self.marks
    }

    /// One construct.
    pub fn mark(&self, id: MarkId) -> &Mark {
        &self.marks[id.0 as usize]
    }

    /// The table of origins, for workers.
    pub fn origins(&self) -> &SharedRows {
        &self.origins
    }

    /// The memory of the table of origins and of its copies, in bytes.
    pub fn bytes(&self) -> usize {
        self.origins.bytes()
    }

    /// The constructs of an origin, in ascending order.
    pub fn marks_of(&self, origin: OriginId) -> Vec<MarkId> {
        self.origins.row(origin.raw()).into_iter().map(MarkId).collect()
    }

    /// The origin that fires what either of two does.
    pub fn union(&self, a: OriginId, b: OriginId) -> OriginId {
        if a == b {
            return a;
        }
        let mut marks = self.origins.row(a.raw());
        marks.extend(self.origins.row(b.raw()));
        marks.sort_unstable();
        marks.dedup();
        OriginId::from_raw(self.origins.intern(&marks))
    }
}
