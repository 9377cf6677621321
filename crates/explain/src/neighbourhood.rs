//! Neighbourhoods: the states in which it is decided whether a run goes right or wrong.

use crate::graph::Node;
use crate::tagged::Tag;

/// The four kinds of the thesis' taxonomy (§4.2.1), by the exits of the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Correct exits, no incorrect ones: here it could be saved.
    Cn,
    /// Incorrect exits, no correct ones: here it can be lost.
    In,
    /// Correct and incorrect exits and no other: here it is decided.
    Ci,
    /// All three.
    Cin,
}

impl Kind {
    /// All kinds, in the order in which they are listed.
    pub const ALL: [Kind; 4] = [Kind::Cn, Kind::In, Kind::Ci, Kind::Cin];

    pub(crate) fn of_exits(exits: [bool; 3]) -> Option<Kind> {
        let [correct, incorrect, neutral] = exits;
        match (correct, incorrect, neutral) {
            (true, false, _) => Some(Kind::Cn),
            (false, true, _) => Some(Kind::In),
            (true, true, false) => Some(Kind::Ci),
            (true, true, true) => Some(Kind::Cin),
            (false, false, _) => None,
        }
    }

    /// Its key in results and options: `cn`, `in`, `ci` or `cin`.
    pub fn key(self) -> &'static str {
        ["cn", "in", "ci", "cin"][self as usize]
    }

    /// Whether a transition with this tag can leave such a state.
    pub fn has(self, tag: Tag) -> bool {
        match tag {
            Tag::Correct => self != Kind::In,
            Tag::Incorrect => self != Kind::Cn,
            Tag::Neutral => self != Kind::Ci,
        }
    }
}

/// A state in which it is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Neighbourhood {
    /// The state.
    pub node: Node,
    /// What its exits are.
    pub kind: Kind,
}

/// How many neighbourhoods there are of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts([u64; 4]);

impl Counts {
    pub(crate) fn add(&mut self, kind: Kind) {
        self.0[kind as usize] += 1;
    }

    /// Those of one kind.
    pub fn of(&self, kind: Kind) -> u64 {
        self.0[kind as usize]
    }

    /// All of them.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }
}
