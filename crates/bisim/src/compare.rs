//! Comparing two systems, with the reason where they differ.

use std::fmt;

use lts::{LabelId, Labels, Lts, LtsBuilder, StateId, TooLarge};
use rustc_hash::FxHashMap;

use crate::distinguish::{Budget, distinguishing_formula};
use crate::formula::Formula;
use crate::graph::Graph;
use crate::reduce::{Error, Limits, reduce_from};
use crate::relation::Relation;
use crate::weak::saturated;

/// Whether two systems are equivalent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// They are.
    Equivalent,
    /// They are not, and why.
    Different(Reason),
}

/// Why two systems are not equivalent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A shortest sequence of labels that only one of the systems can perform.
    Trace {
        /// The labels; visible ones only for weak traces.
        labels: Vec<String>,
        /// Who can perform it.
        only: Side,
    },
    /// A formula that holds in the initial state of the left system and not in that of the right.
    Formula(Formula),
    /// They differ, but a formula that says how would be too deep or too large to compute or to read.
    TooLarge,
}

/// One of the two systems that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The first.
    Left,
    /// The second.
    Right,
}

impl fmt::Display for Reason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Trace { labels, only } => {
                let side = if *only == Side::Left { "left" } else { "right" };
                write!(out, "only the {side} system can perform: {}", labels.join("; "))
            }
            Reason::Formula(formula) => write!(out, "{formula}"),
            Reason::TooLarge => write!(out, "the formula that tells them apart is too large to compute"),
        }
    }
}

impl Comparison {
    /// Whether the systems are equivalent.
    pub fn is_equivalent(&self) -> bool {
        *self == Comparison::Equivalent
    }
}

/// Compares the initial states of two systems. Labels are matched by their text.
///
/// ```
/// use bisim::{Comparison, Reason, Relation, Side, compare};
/// use lts::{LtsBuilder, StateId};
///
/// let mut builder = LtsBuilder::new();
/// let a = builder.label("A");
/// builder.add(StateId::new(0), a, StateId::new(1));
/// let once = builder.finish()?;
/// let mut builder = LtsBuilder::new();
/// let a = builder.label("A");
/// builder.add(StateId::new(0), a, StateId::new(0));
/// let forever = builder.finish()?;
/// assert!(compare(&once, &once, Relation::Strong)?.is_equivalent());
/// assert_eq!(
///     compare(&once, &forever, Relation::Trace)?,
///     Comparison::Different(Reason::Trace { labels: vec!["A".into(), "A".into()], only: Side::Right })
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn compare(left: &Lts, right: &Lts, relation: Relation) -> Result<Comparison, Error> {
    compare_within(left, right, relation, &Limits::default())
}

/// As [`compare`], within chosen limits.
pub fn compare_within(
    left: &Lts,
    right: &Lts,
    relation: Relation,
    limits: &Limits,
) -> Result<Comparison, Error> {
    let (both, roots) = disjoint_union(left, right)?;
    let (minimal, roots) = reduce_from(&both, &roots, relation, limits)?;
    drop(both);
    let (left, right) = (roots[0], roots[1]);
    if left == right {
        return Ok(Comparison::Equivalent);
    }
    if matches!(relation, Relation::Trace | Relation::WeakTrace) {
        return Ok(Comparison::Different(shortest_trace(&minimal, left, right, limits)));
    }
    let budget = Budget::default();
    let formula = match relation {
        Relation::Weak => saturated(&minimal, budget.levels)
            .and_then(|weak| distinguishing_formula(&weak, (left, right), relation, &budget)),
        _ => distinguishing_formula(&minimal, (left, right), relation, &budget),
    };
    Ok(Comparison::Different(formula.map_or(Reason::TooLarge, Reason::Formula)))
}

/// Whether the initial states of two systems are equivalent, without the reason.
///
/// ```
/// let once = lts::parse_aut("des (0, 1, 2)\n(0, A, 1)\n", &Default::default())?;
/// let twice = lts::parse_aut("des (0, 2, 3)\n(0, A, 1)\n(0, A, 2)\n", &Default::default())?;
/// assert!(bisim::equivalent(&once, &twice, bisim::Relation::Strong)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn equivalent(left: &Lts, right: &Lts, relation: Relation) -> Result<bool, Error> {
    let (both, roots) = disjoint_union(left, right)?;
    let (_, roots) = reduce_from(&both, &roots, relation, &Limits::default())?;
    Ok(roots[0] == roots[1])
}

/// Both systems side by side and their initial states.
fn disjoint_union(left: &Lts, right: &Lts) -> Result<(Lts, [StateId; 2]), TooLarge> {
    let mut labels: Labels = left.labels().clone();
    let map: Vec<LabelId> = right.labels().iter().map(|(_, text)| labels.intern(text)).collect();
    let shift = left.state_count();
    if shift + right.state_count() > u32::MAX as usize {
        return Err(TooLarge("states"));
    }
    let shifted = |state: StateId| StateId::new(state.index() + shift);
    let mut builder = LtsBuilder::with_labels(labels);
    builder.reserve_states(shift + right.state_count());
    builder.set_initial(left.initial());
    for step in left.transitions() {
        builder.add(step.source, step.label, step.target);
    }
    for step in right.transitions() {
        builder.add(shifted(step.source), map[step.label.index()], shifted(step.target));
    }
    Ok((builder.finish()?, [left.initial(), shifted(right.initial())]))
}

/// A shortest trace of one of two different states of a minimal deterministic system that the other lacks.
fn shortest_trace(lts: &Lts, left: StateId, right: StateId, limits: &Limits) -> Reason {
    let mut parents: FxHashMap<(u32, u32), usize> = FxHashMap::default();
    // The pairs of states in the order in which they are met, with the place and label they come from.
    let mut found = vec![(left.raw(), right.raw(), usize::MAX, LabelId::TAU)];
    parents.insert((left.raw(), right.raw()), 0);
    let mut at = 0;
    while at < found.len() && found.len() <= limits.states.saturating_mul(4) {
        let (s, t, ..) = found[at];
        let (mine, theirs) = (lts.row(s), lts.row(t));
        let (mut i, mut j) = (0, 0);
        while i < mine.len() || j < theirs.len() {
            let (a, b) = (mine.get(i), theirs.get(j));
            let only = match (a, b) {
                (Some(a), Some(b)) if a.label == b.label => {
                    (i, j) = (i + 1, j + 1);
                    let next = (a.target.raw(), b.target.raw());
                    if next.0 != next.1 && !parents.contains_key(&next) {
                        parents.insert(next, found.len());
                        found.push((next.0, next.1, at, a.label));
                    }
                    continue;
                }
                (Some(a), Some(b)) if a.label < b.label => (a.label, Side::Left),
                (_, Some(b)) => (b.label, Side::Right),
                (Some(a), None) => (a.label, Side::Left),
                (None, None) => break,
            };
            let mut labels = vec![lts.label(only.0).to_owned()];
            let mut place = at;
            while found[place].2 != usize::MAX {
                labels.push(lts.label(found[place].3).to_owned());
                place = found[place].2;
            }
            labels.reverse();
            return Reason::Trace { labels, only: only.1 };
        }
        at += 1;
    }
    Reason::TooLarge
}
