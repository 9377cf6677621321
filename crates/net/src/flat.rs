//! A place/transition net: what a net is once its tokens have no colours.
//!
//! A net with colours becomes one by giving each place a copy for each value, and each transition a copy for each way
//! to bind its variables. Both know what they are copies of, so that people read the net that they have written.

use source::Span;

/// A place/transition net.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flat {
    /// Its name.
    pub name: String,
    /// The nets that it is composed of; one where it is not composed.
    pub components: Vec<Component>,
    /// The places as written.
    pub source_places: Vec<SourcePlace>,
    /// The transitions as written.
    pub source_transitions: Vec<SourceTransition>,
    /// The places, in the order of [`Flat::source_places`].
    pub places: Vec<FlatPlace>,
    /// The transitions, in the order of [`Flat::source_transitions`].
    pub transitions: Vec<FlatTransition>,
}

/// A net that is part of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Component {
    /// Its name.
    pub name: String,
    /// Where it is written.
    pub span: Span,
}

/// A place as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcePlace {
    /// Its name.
    pub name: String,
    /// Where it is written.
    pub span: Span,
    /// The component it belongs to; none where several share it.
    pub component: Option<usize>,
    /// Whether its tokens have no values.
    pub is_plain: bool,
}

/// A transition as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceTransition {
    /// Its name.
    pub name: String,
    /// Where it is written.
    pub span: Span,
    /// The component it belongs to.
    pub component: usize,
}

/// A place for tokens of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlatPlace {
    /// Position in [`Flat::source_places`].
    pub of: usize,
    /// The value of its tokens, as people read it; empty where they have none.
    pub token: String,
    /// How many there are at the start.
    pub initial: u32,
    /// Whether it holds at most one: another one changes nothing.
    pub is_set: bool,
}

/// A transition with its variables bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlatTransition {
    /// Position in [`Flat::source_transitions`].
    pub of: usize,
    /// What it is called when it fires: `PICKUP !1 !2`.
    pub label: String,
    /// What it needs and does, by place; several entries for one place add up.
    pub arcs: Vec<Arc>,
}

/// An arc between a transition and a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Arc {
    /// Position in [`Flat::places`].
    pub place: usize,
    /// What it does.
    pub kind: ArcKind,
}

/// What an arc does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ArcKind {
    /// Takes this many tokens.
    Take(u32),
    /// Needs this many tokens, and leaves them.
    Read(u32),
    /// Needs fewer tokens than this many.
    Inhibit(u32),
    /// Empties the place, however many tokens there are; before anything is put there.
    Reset,
    /// Puts this many tokens.
    Put(u32),
}

impl Flat {
    /// A net whose tokens have no values, one place for each number of tokens at the start, with the labels and arcs of
    /// its transitions. For examples and tests: nothing is written anywhere, so every span is that of an empty text.
    ///
    /// ```
    /// let flat = net::Flat::plain("empty", &[1, 0], &[]);
    /// assert_eq!(flat.source_places[1].name, "p1");
    /// ```
    pub fn plain(name: &str, initial: &[u32], transitions: &[(&str, Vec<Arc>)]) -> Flat {
        let mut sources = source::Sources::new();
        let file = sources.add(name, "");
        let span = sources.span(file);
        let place = |number: usize| SourcePlace {
            name: format!("p{number}"),
            span,
            component: Some(0),
            is_plain: true,
        };
        let flat_place = |(of, &initial)| FlatPlace { of, token: String::new(), initial, is_set: false };
        let source =
            |&(label, _): &(&str, Vec<Arc>)| SourceTransition { name: label.to_owned(), span, component: 0 };
        let flat_transition = |(of, (label, arcs)): (usize, &(&str, Vec<Arc>))| FlatTransition {
            of,
            label: (*label).to_owned(),
            arcs: arcs.clone(),
        };
        Flat {
            name: name.to_owned(),
            components: vec![Component { name: name.to_owned(), span }],
            source_places: (0..initial.len()).map(place).collect(),
            source_transitions: transitions.iter().map(source).collect(),
            places: initial.iter().enumerate().map(flat_place).collect(),
            transitions: transitions.iter().enumerate().map(flat_transition).collect(),
        }
    }
}

/// A name as the gate of a label: letters, digits and `_`, upper case, a letter first.
pub(crate) fn gate_name(name: &str) -> String {
    let fits = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    let gate: String = name.chars().map(fits).collect();
    if gate.starts_with(|c: char| c.is_ascii_alphabetic()) { gate } else { format!("T{gate}") }
}
