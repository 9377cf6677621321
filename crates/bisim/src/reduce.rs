//! Minimal systems and classes of states, for every relation.

use lts::{Lts, StateId, TooLarge};

use crate::branching::{Divergence, bottoms, branching_partition};
use crate::determinise::determinise;
use crate::quotient::{SilentLoops, first_members, quotient};
use crate::relation::Relation;
use crate::silent::Acyclic;
use crate::strong::strong_partition;
use crate::tau_star::tau_star_steps;
use crate::weak::{merge_blocks, weak_blocks};

/// The smallest system that is equivalent to `lts` modulo `relation`.
///
/// States and labels are numbered in the order in which a breadth-first search from the initial state, 0,
/// meets them; what it does not reach is left out. The result depends on the input alone, not on the number of
/// threads, and reducing it again changes nothing.
///
/// ```
/// use bisim::{Relation, reduce};
/// use lts::{LtsBuilder, LabelId, StateId};
///
/// // A coin may be swallowed at leisure before the tea comes.
/// let mut builder = LtsBuilder::new();
/// let (coin, tea) = (builder.label("COIN"), builder.label("TEA"));
/// builder.add(StateId::new(0), coin, StateId::new(1));
/// builder.add(StateId::new(1), LabelId::TAU, StateId::new(2));
/// builder.add(StateId::new(2), tea, StateId::new(0));
/// let machine = builder.finish()?;
/// assert_eq!(reduce(&machine, Relation::Strong)?.state_count(), 3);
/// assert_eq!(reduce(&machine, Relation::Branching)?.state_count(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn reduce(lts: &Lts, relation: Relation) -> Result<Lts, Error> {
    reduce_within(lts, relation, &Limits::default())
}

/// As [`reduce`], within chosen limits.
pub fn reduce_within(lts: &Lts, relation: Relation, limits: &Limits) -> Result<Lts, Error> {
    Ok(reduce_from(lts, &[lts.initial()], relation, limits)?.0)
}

/// For every state the number of its class: two states have equal numbers if and only if they are equivalent.
///
/// ```
/// use bisim::{Relation, classes};
/// use lts::{LtsBuilder, StateId};
///
/// let mut builder = LtsBuilder::new();
/// let a = builder.label("A");
/// builder.add(StateId::new(0), a, StateId::new(1));
/// builder.add(StateId::new(2), a, StateId::new(1));
/// let classes = classes(&builder.finish()?, Relation::Strong)?;
/// assert!(classes[0] == classes[2] && classes[0] != classes[1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn classes(lts: &Lts, relation: Relation) -> Result<Vec<StateId>, Error> {
    let all: Vec<StateId> = lts.states().collect();
    Ok(reduce_from(lts, &all, relation, &Limits::default())?.1)
}

/// Bounds on what may be built on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most states of a deterministic system, which trace relations need.
    pub states: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { states: 10_000_000 }
    }
}

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Determinisation found more states than the limit allows.
    #[error("more than {limit} sets of states were needed")]
    TooManyStates {
        /// The limit that was exceeded.
        limit: usize,
    },
    /// The result does not fit 32-bit indices.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
}

/// The minimal system of what the roots reach, the first of them being initial, and the roots in it.
pub(crate) fn reduce_from(
    lts: &Lts,
    roots: &[StateId],
    relation: Relation,
    limits: &Limits,
) -> Result<(Lts, Vec<StateId>), Error> {
    match relation {
        Relation::Strong => reduce_strong(lts, roots),
        Relation::Branching => reduce_branching(lts, roots, Divergence::Ignored, SilentLoops::Drop),
        Relation::DivergencePreservingBranching => {
            reduce_branching(lts, roots, Divergence::Preserved, SilentLoops::KeepDivergence)
        }
        Relation::Weak => {
            let (finer, roots) = reduce_from(lts, roots, Relation::Branching, limits)?;
            let (blocks, count) = weak_blocks(&finer);
            let merged = merge_blocks(&finer, &blocks, count)?;
            let roots: Vec<u32> = roots.iter().map(|root| blocks[root.index()]).collect();
            let each: Vec<u32> = (0..count as u32).collect();
            Ok(quotient(&merged, merged.labels(), &each, &each, &roots, SilentLoops::Drop)?)
        }
        Relation::TauStarA => {
            let (finer, roots) = reduce_from(lts, roots, Relation::Branching, limits)?;
            reduce_strong(&tau_star_steps(&finer)?, &roots)
        }
        Relation::Trace | Relation::WeakTrace => {
            // The finer relation makes the subsets smaller and, for weak traces, removes internal steps.
            let finer = if relation == Relation::Trace { Relation::Strong } else { Relation::TauStarA };
            let (finer, roots) = reduce_from(lts, roots, finer, limits)?;
            let (deterministic, roots) = determinise(&finer, &roots, limits.states)?;
            reduce_strong(&deterministic, &roots)
        }
    }
}

fn reduce_strong(lts: &Lts, roots: &[StateId]) -> Result<(Lts, Vec<StateId>), Error> {
    let partition = strong_partition(lts);
    let count = partition.block_count();
    let blocks = partition.into_blocks();
    let representatives = first_members(&blocks, count);
    let roots: Vec<u32> = roots.iter().map(|root| root.raw()).collect();
    Ok(quotient(lts, lts.labels(), &blocks, &representatives, &roots, SilentLoops::Keep)?)
}

fn reduce_branching(
    lts: &Lts,
    roots: &[StateId],
    divergence: Divergence,
    loops: SilentLoops,
) -> Result<(Lts, Vec<StateId>), Error> {
    let acyclic = Acyclic::of(lts);
    let partition = branching_partition(&acyclic, divergence);
    let count = partition.block_count();
    let blocks = partition.into_blocks();
    let representatives = bottoms(&acyclic, &blocks, count);
    let roots: Vec<u32> = roots.iter().map(|root| root.raw()).collect();
    Ok(quotient(&acyclic, lts.labels(), &blocks, &representatives, &roots, loops)?)
}
