//! Nets as pictures: layers from top to bottom, as Sugiyama, Tagawa and Toda (1981) draw them.
//!
//! A [`Sketch`] says what is drawn, `layout` where; [`Diagram`] is the result, which becomes SVG or DOT.

mod layout;
mod output;

use model::StateView;

use crate::flat::{ArcKind, Flat};
use crate::high::HighNet;
use crate::text::ArcWord;

/// What is drawn of a net: its places, transitions and arcs, with their inscriptions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sketch {
    /// The name of the net.
    pub name: String,
    /// The names of places, and their tokens.
    pub places: Vec<(String, String)>,
    /// The names of transitions, and their guards; empty where there are none.
    pub transitions: Vec<(String, String)>,
    /// The arcs.
    pub arcs: Vec<SketchArc>,
}

/// An arc of a sketch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SketchArc {
    /// Position in [`Sketch::places`].
    pub place: usize,
    /// Position in [`Sketch::transitions`].
    pub transition: usize,
    /// What it does.
    pub kind: DrawnArc,
    /// What is written on it.
    pub inscription: String,
}

/// What an arc does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DrawnArc {
    /// Takes tokens.
    Take,
    /// Puts tokens.
    Put,
    /// Needs tokens and leaves them.
    Read,
    /// Needs that there are few tokens.
    Inhibit,
    /// Empties the place.
    Reset,
}

impl Sketch {
    /// The places and transitions of a net as written. Weights are inscriptions, where all tokens are the same.
    ///
    /// ```
    /// use net::{Arc, ArcKind, Flat, Sketch};
    ///
    /// let flat = Flat::plain("n", &[3], &[("T", vec![Arc { place: 0, kind: ArcKind::Take(2) }])]);
    /// let sketch = Sketch::of(&flat);
    /// assert_eq!(sketch.places[0].1, "3");
    /// assert_eq!(sketch.arcs[0].inscription, "2");
    /// ```
    pub fn of(flat: &Flat) -> Self {
        let mut tokens = vec![0u64; flat.source_places.len()];
        flat.places.iter().for_each(|place| tokens[place.of] += u64::from(place.initial));
        let places = flat.source_places.iter().zip(tokens);
        let places = places.map(|(place, tokens)| (place.name.clone(), shown(tokens)));
        let mut arcs: Vec<(usize, usize, DrawnArc, u64)> = Vec::new();
        for transition in &flat.transitions {
            for arc in &transition.arcs {
                let (kind, weight) = match arc.kind {
                    ArcKind::Take(count) => (DrawnArc::Take, count),
                    ArcKind::Put(count) => (DrawnArc::Put, count),
                    ArcKind::Read(count) => (DrawnArc::Read, count),
                    ArcKind::Inhibit(count) => (DrawnArc::Inhibit, count),
                    ArcKind::Reset => (DrawnArc::Reset, 1),
                };
                let place = flat.places[arc.place].of;
                // Copies of a transition have different tokens, not different weights.
                let weight = if flat.source_places[place].is_plain { u64::from(weight) } else { 1 };
                arcs.push((transition.of, place, kind, weight));
            }
        }
        arcs.sort_unstable();
        arcs.dedup_by_key(|&mut (transition, place, kind, _)| (transition, place, kind));
        let arcs = arcs.into_iter().map(|(transition, place, kind, weight)| SketchArc {
            place,
            transition,
            kind,
            inscription: if weight == 1 { String::new() } else { weight.to_string() },
        });
        let transitions = flat.source_transitions.iter();
        Self {
            name: flat.name.clone(),
            places: places.collect(),
            transitions: transitions.map(|transition| (transition.name.clone(), String::new())).collect(),
            arcs: arcs.collect(),
        }
    }
}

/// The longest text that a circle or a line holds.
const LONGEST: usize = 28;

/// A text on one line, cut where it is long.
fn short(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<&str>>().join(" ");
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

impl Sketch {
    /// The places and transitions of a net as it is written, with the inscriptions of its text and the tokens of a
    /// marking.
    pub fn of_high(net: &HighNet, text: &str, tokens: &StateView) -> Self {
        let slice = |span: source::Span| text.get(span.range()).unwrap_or_default();
        let places = net.places.iter().zip(&tokens.values).map(|(place, (_, tokens))| {
            let tokens = if tokens == "{}" || tokens == "0" { "" } else { tokens };
            (place.name.clone(), short(tokens))
        });
        let transitions = net.transitions.iter().map(|transition| {
            let guards: Vec<&str> = transition.guards.iter().map(|guard| slice(guard.span)).collect();
            (transition.name.clone(), short(&guards.join(" and ")))
        });
        let mut arcs = Vec::new();
        for (number, transition) in net.transitions.iter().enumerate() {
            for arc in &transition.arcs {
                let written = slice(arc.span);
                let inside = written.find('(').map_or("", |open| &written[open..]);
                let count = if arc.count == 1 { String::new() } else { format!("{} ", arc.count) };
                arcs.push(SketchArc {
                    place: arc.place,
                    transition: number,
                    kind: match arc.word {
                        ArcWord::Take => DrawnArc::Take,
                        ArcWord::Read => DrawnArc::Read,
                        ArcWord::Inhibit => DrawnArc::Inhibit,
                        ArcWord::Reset => DrawnArc::Reset,
                        ArcWord::Put => DrawnArc::Put,
                    },
                    inscription: short(format!("{count}{inside}").trim()),
                });
            }
        }
        Self { name: net.name.clone(), places: places.collect(), transitions: transitions.collect(), arcs }
    }
}

fn shown(tokens: u64) -> String {
    if tokens == 0 { String::new() } else { tokens.to_string() }
}

/// A net with everything in its place; distances are pixels, from the top left.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagram {
    /// The name of the net.
    pub name: String,
    /// Places, then transitions.
    pub nodes: Vec<DiagramNode>,
    /// Arcs.
    pub arcs: Vec<DiagramArc>,
    /// How wide it is.
    pub width: f64,
    /// How high it is.
    pub height: f64,
}

/// Whether a node is a place or a transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NodeKind {
    /// A circle.
    Place,
    /// A box.
    Transition,
}

/// A place or transition of a diagram.
#[derive(Clone, Debug, PartialEq)]
pub struct DiagramNode {
    /// What it is.
    pub kind: NodeKind,
    /// What it is called.
    pub name: String,
    /// The tokens of a place at the start, or the guard of a transition.
    pub inscription: String,
    /// Position among the places or the transitions of the sketch; its id is `p3` or `t3`.
    pub number: usize,
    /// Its middle, from the left.
    pub x: f64,
    /// Its middle, from the top.
    pub y: f64,
    /// How wide it is.
    pub width: f64,
    /// How high it is.
    pub height: f64,
}

/// An arc of a diagram.
#[derive(Clone, Debug, PartialEq)]
pub struct DiagramArc {
    /// Where it begins, as a position in [`Diagram::nodes`].
    pub from: usize,
    /// Where it ends.
    pub to: usize,
    /// Its corners, from the edge of one node to that of the other.
    pub points: Vec<(f64, f64)>,
    /// What is written on it.
    pub label: String,
    /// What it does.
    pub kind: DrawnArc,
}

impl Diagram {
    /// Puts everything in its place; the same sketch always gives the same diagram.
    ///
    /// ```
    /// use net::{Diagram, Flat, Sketch};
    ///
    /// let diagram = Diagram::new(&Sketch::of(&Flat::plain("one place", &[1], &[])));
    /// assert!(diagram.to_svg().contains(r#"<g id="p0" class="place">"#));
    /// ```
    pub fn new(sketch: &Sketch) -> Self {
        layout::layout(sketch)
    }

    /// As an SVG picture: elements have the ids `p3`, `t5`, the tokens of a place `p3-tokens`.
    pub fn to_svg(&self) -> String {
        output::svg(self)
    }

    /// As a graph for Graphviz, which finds places of its own.
    pub fn to_dot(&self) -> String {
        output::dot(self)
    }
}
