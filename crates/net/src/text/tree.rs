//! A net as written, nothing resolved.

use lnt::data::{Expression, Inscription, Name, Written};
use source::Span;

/// A file.
pub(crate) struct NetText {
    pub name: Name,
    /// The net itself first, then those inside it, outer ones before inner ones.
    pub nets: Vec<NestedNet>,
    pub places: Vec<PlaceText>,
    pub transitions: Vec<TransitionText>,
    pub markings: Vec<MarkingText>,
    pub states: Vec<StateText>,
    /// Types and functions.
    pub written: Written,
}

/// `net N is … end net`
pub(crate) struct NestedNet {
    pub name: Name,
    pub span: Span,
    /// The net around it, by position.
    pub parent: Option<usize>,
}

/// `place P : set of T, U`
pub(crate) struct PlaceText {
    pub name: Name,
    pub net: usize,
    pub sorts: Vec<Name>,
    pub is_set: bool,
}

/// `transition T (x : U) … end transition`
pub(crate) struct TransitionText {
    pub name: Name,
    pub span: Span,
    pub net: usize,
    /// Variables, with their sorts where these are written.
    pub variables: Vec<(Name, Option<Name>)>,
    pub arcs: Vec<ArcText>,
    pub guards: Vec<Expression>,
}

/// `take`, `put` and so on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArcWord {
    /// Takes tokens.
    Take,
    /// Needs tokens, and leaves them.
    Read,
    /// Needs that there are fewer tokens.
    Inhibit,
    /// Removes tokens, however many there are.
    Reset,
    /// Puts tokens.
    Put,
}

impl ArcWord {
    pub(crate) const ALL: [(&'static str, ArcWord); 5] = [
        ("take", ArcWord::Take),
        ("read", ArcWord::Read),
        ("inhibit", ArcWord::Inhibit),
        ("reset", ArcWord::Reset),
        ("put", ArcWord::Put),
    ];

    /// The word.
    pub fn text(self) -> &'static str {
        Self::ALL.iter().find(|(_, word)| *word == self).map_or("", |(text, _)| text)
    }
}

/// `2 * N.P (x, y)`
pub(crate) struct ArcText {
    pub word: ArcWord,
    pub count: Count,
    /// The nets that the place is in, as far as they are written, and its own name.
    pub place: Vec<Name>,
    /// `None` without parentheses.
    pub inscription: Option<Vec<Inscription>>,
    pub span: Span,
}

/// How many tokens of each value.
pub(crate) enum Count {
    One,
    Number(i64, Span),
    Constant(Name),
}

/// `marking M is … end marking`
pub(crate) struct MarkingText {
    pub name: Name,
    pub net: usize,
    pub tokens: Vec<ArcText>,
}

/// `state S is V end state`
pub(crate) struct StateText {
    pub name: Name,
    pub net: usize,
    pub condition: Expression,
    pub span: Span,
}
