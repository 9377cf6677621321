//! The equivalences between transition systems that this crate knows, and their names.

use std::fmt;
use std::str::FromStr;

/// When two states count as the same.
///
/// ```
/// use bisim::Relation;
/// assert_eq!("divbranching".parse(), Ok(Relation::DivergencePreservingBranching));
/// assert_eq!(Relation::TauStarA.to_string(), "tau-star-a");
/// assert!("stronk".parse::<Relation>().unwrap_err().to_string().contains("weak-trace"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Relation {
    /// Strong bisimulation (Park 1981): every step is matched by an equal step.
    Strong,
    /// Branching bisimulation (van Glabbeek and Weijland 1996): internal steps that decide nothing are
    /// ignored, the moments of choice are kept. Endless internal activity is not seen.
    Branching,
    /// As branching, but a state that can go on internally for ever differs from one that cannot.
    DivergencePreservingBranching,
    /// Weak bisimulation, or observation equivalence (Milner 1989).
    Weak,
    /// Tau\*.a equivalence (Fernandez and Mounier 1991): strong bisimulation where a step is any number of
    /// internal steps and then a visible one.
    TauStarA,
    /// The same finite sequences of labels, the internal action being a label like others.
    Trace,
    /// The same finite sequences of visible labels.
    WeakTrace,
}

impl Relation {
    /// All relations, finer ones first where two are comparable.
    pub const ALL: [Relation; 7] = [
        Relation::Strong,
        Relation::DivergencePreservingBranching,
        Relation::Branching,
        Relation::Weak,
        Relation::TauStarA,
        Relation::Trace,
        Relation::WeakTrace,
    ];

    /// The name used on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Relation::Strong => "strong",
            Relation::Branching => "branching",
            Relation::DivergencePreservingBranching => "divbranching",
            Relation::Weak => "weak",
            Relation::TauStarA => "tau-star-a",
            Relation::Trace => "trace",
            Relation::WeakTrace => "weak-trace",
        }
    }
}

impl fmt::Display for Relation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.name())
    }
}

/// A name that is none of the relations.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown relation `{0}`: expected strong, branching, divbranching, weak, tau-star-a, trace or weak-trace"
)]
pub struct UnknownRelation(pub String);

impl FromStr for Relation {
    type Err = UnknownRelation;

    fn from_str(name: &str) -> Result<Self, UnknownRelation> {
        let known = Relation::ALL.into_iter().find(|relation| relation.name() == name);
        known.ok_or_else(|| UnknownRelation(name.to_owned()))
    }
}
