//! Whether one system does only what another allows: inclusion of traces, simulation, refinement of failures.
//!
//! The left system is the one that must not do more, an implementation; the right one says what is allowed, a
//! specification. Where it does more, the reason is a run of the left system that the right one can't follow, or a
//! formula without negation that only the left system satisfies.

use std::fmt;
use std::str::FromStr;

use lts::{LabelId, Lts};

use crate::formula::Formula;
use crate::inclusion::{Watch, inclusion};
use crate::reduce::{Error, Limits, reduce_within};
use crate::relation::Relation;
use crate::simulation::simulation;

/// What the left system must not do more of than the right one.
///
/// ```
/// use bisim::Preorder;
/// assert_eq!("failures".parse(), Ok(Preorder::Failures));
/// assert_eq!(Preorder::WeakSimulation.to_string(), "weak-simulation");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Preorder {
    /// Finite sequences of labels, the internal action being a label like others.
    TraceInclusion,
    /// Finite sequences of visible labels.
    WeakTraceInclusion,
    /// Steps: the right system can match each of them, and go on matching (Park 1981).
    Simulation,
    /// The same with any number of internal steps around (Milner 1989).
    WeakSimulation,
    /// Weak traces, and refusals after them: where the left system can come to rest and offer only some labels, the
    /// right one can come to rest and offer no others (stable failures of CSP; Roscoe 1997).
    Failures,
}

impl Preorder {
    /// All of them.
    pub const ALL: [Preorder; 5] = [
        Preorder::Simulation,
        Preorder::WeakSimulation,
        Preorder::TraceInclusion,
        Preorder::WeakTraceInclusion,
        Preorder::Failures,
    ];

    /// The name used on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Preorder::TraceInclusion => "trace-inclusion",
            Preorder::WeakTraceInclusion => "weak-trace-inclusion",
            Preorder::Simulation => "simulation",
            Preorder::WeakSimulation => "weak-simulation",
            Preorder::Failures => "failures",
        }
    }
}

impl fmt::Display for Preorder {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.name())
    }
}

/// A name that is none of the preorders.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown preorder `{0}`: expected simulation, weak-simulation, trace-inclusion, weak-trace-inclusion or failures"
)]
pub struct UnknownPreorder(pub String);

impl FromStr for Preorder {
    type Err = UnknownPreorder;

    fn from_str(name: &str) -> Result<Self, UnknownPreorder> {
        let known = Preorder::ALL.into_iter().find(|preorder| preorder.name() == name);
        known.ok_or_else(|| UnknownPreorder(name.to_owned()))
    }
}

/// What the left system does that the right one does not allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Excess {
    /// A shortest run whose last step the right system can't make after the same labels.
    Run {
        /// The run, as positions in [`Lts::edges`] of the left system.
        edges: Vec<usize>,
    },
    /// After a shortest run, the left system rests and refuses all of some labels; the right one never does.
    Refusal {
        /// The run, as positions in [`Lts::edges`] of the left system; it ends where that system rests.
        edges: Vec<usize>,
        /// Labels that are refused together, as few as were found; none where the right system never rests at all.
        refused: Vec<String>,
        /// The labels that are offered instead.
        offered: Vec<String>,
    },
    /// A formula without negation that holds in the initial state of the left system only.
    Formula(Formula),
    /// There is such a formula, but it is too large to be of use.
    TooLarge,
}

/// What the left system does beyond the right one; nothing where it is included.
///
/// ```
/// use bisim::{Excess, Limits, Preorder, excess};
/// let read = |text| lts::parse_aut(text, &Default::default()).unwrap();
/// let specification = read("des (0, 2, 2)\n(0, COIN, 1)\n(1, TEA, 0)\n");
/// let thief = read("des (0, 3, 2)\n(0, COIN, 1)\n(1, TEA, 0)\n(1, COIN, 1)\n");
/// let limits = Limits::default();
/// assert_eq!(excess(&specification, &thief, Preorder::TraceInclusion, &limits)?, None);
/// let Some(Excess::Run { edges }) = excess(&thief, &specification, Preorder::TraceInclusion, &limits)? else {
///     panic!("a coin too many")
/// };
/// let labels: Vec<&str> = edges.iter().map(|&edge| thief.label(thief.edges()[edge].label)).collect();
/// assert_eq!(labels, ["COIN", "COIN"]);
/// # Ok::<(), bisim::Error>(())
/// ```
pub fn excess(left: &Lts, right: &Lts, preorder: Preorder, limits: &Limits) -> Result<Option<Excess>, Error> {
    let finer = match preorder {
        // Internal cycles decide what is at rest, so nothing coarser will do.
        Preorder::TraceInclusion | Preorder::Simulation | Preorder::Failures => Relation::Strong,
        Preorder::WeakTraceInclusion | Preorder::WeakSimulation => Relation::Branching,
    };
    let right = reduce_within(right, finer, limits)?;
    match preorder {
        Preorder::TraceInclusion => inclusion(left, &right, Watch::Traces, limits),
        Preorder::WeakTraceInclusion => inclusion(left, &right, Watch::WeakTraces, limits),
        Preorder::Failures => inclusion(left, &right, Watch::Failures, limits),
        Preorder::Simulation | Preorder::WeakSimulation => {
            let left = reduce_within(left, finer, limits)?;
            simulation(&left, &right, preorder == Preorder::WeakSimulation, limits)
        }
    }
}

/// For each label of one system, the label of the same text in another.
pub(crate) fn labels_in(lts: &Lts, other: &Lts) -> Vec<Option<LabelId>> {
    lts.labels().iter().map(|(_, text)| other.labels().find(text)).collect()
}

/// A shortest run of a system with these labels, as positions in [`Lts::edges`]; of visible labels, with internal steps
/// between them, where `weak` says so. `relabel` gives the text that counts for each label, none for an internal one.
///
/// ```
/// let lts = lts::parse_aut("des (0, 3, 3)\n(0, i, 1)\n(1, A, 2)\n(2, B, 0)\n", &Default::default())?;
/// let run = bisim::run_with(&lts, &["A".into()], true, |label| {
///     (!label.is_tau()).then(|| lts.label(label).to_owned())
/// });
/// assert_eq!(run, Some(vec![0, 1]));
/// # Ok::<(), lts::AutError>(())
/// ```
pub fn run_with(
    lts: &Lts,
    labels: &[String],
    weak: bool,
    relabel: impl Fn(LabelId) -> Option<String>,
) -> Option<Vec<usize>> {
    let texts: Vec<Option<String>> = lts.labels().iter().map(|(label, _)| relabel(label)).collect();
    let width = labels.len() + 1;
    let start = lts.initial().index() * width;
    // For each pair of state and place in the trace, the step that led there first.
    let mut came_by: Vec<Option<(usize, usize)>> = vec![None; lts.state_count() * width];
    let mut queue = vec![start];
    let mut next = 0;
    while next < queue.len() {
        let node = queue[next];
        next += 1;
        let (state, place) = (lts::StateId::new(node / width), node % width);
        if place == labels.len() {
            let mut run = Vec::new();
            let mut at = node;
            while let Some((edge, before)) = came_by[at] {
                run.push(edge);
                at = before;
                if at == start {
                    break;
                }
            }
            run.reverse();
            return Some(run);
        }
        for position in lts.edge_range(state) {
            let edge = lts.edges()[position];
            let after = match &texts[edge.label.index()] {
                None if weak => place,
                None if labels[place] == lts::TAU_TEXT => place + 1,
                Some(text) if *text == labels[place] => place + 1,
                _ => continue,
            };
            let target = edge.target.index() * width + after;
            if target != start && came_by[target].is_none() {
                came_by[target] = Some((position, node));
                queue.push(target);
            }
        }
    }
    None
}
