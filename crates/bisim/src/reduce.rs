//! Minimal systems.
use lts::{Lts, StateId, TooLarge};

use crate::branching::{Divergence, bottoms, branching_partition};
use crate::quotient::{SilentLoops, first_members, quotient};
use crate::relation::Relation;
use crate::silent::Acyclic;
use crate::strong::strong_partition;

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Determinisation found more states than the limit allows.
    #[error("the deterministic system has more than {limit} states")]
    TooManyStates {
        /// The limit that was exceeded.
        limit: usize,
    },
    /// The result does not fit 32-bit indices.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
}

/// Bounds on what may be built on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most states of a deterministic system.
    pub states: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { states: 10_000_000 }
    }
}

/// The minimal
pub fn reduce(lts: &Lts, relation: Relation) -> Result<Lts, Error> {
    reduce_within(lts, relation, &Limits::default())
}

/// as
pub fn reduce_within(lts: &Lts, relation: Relation, limits: &Limits) -> Result<Lts, Error> {
    Ok(reduce_from(lts, &[lts.initial()], relation, limits)?.0)
}

/// The minimal system of what the roots reach, and the roots in it.
pub(crate) fn reduce_from(
    lts: &Lts,
    roots: &[StateId],
    relation: Relation,
    _limits: &Limits,
) -> Result<(Lts, Vec<StateId>), Error> {
    match relation {
        Relation::Strong => {
            let partition = strong_partition(lts);
            let count = partition.block_count();
            let blocks = partition.into_blocks();
            let representatives = first_members(&blocks, count);
            let roots: Vec<u32> = roots.iter().map(|root| root.raw()).collect();
            Ok(quotient(lts, lts.labels(), &blocks, &representatives, &roots, SilentLoops::Keep)?)
        }
        Relation::Branching | Relation::DivergencePreservingBranching => {
            let (divergence, loops) = if relation == Relation::Branching {
                (Divergence::Ignored, SilentLoops::Drop)
            } else {
                (Divergence::Preserved, SilentLoops::KeepDivergence)
            };
            let acyclic = Acyclic::of(lts);
            let partition = branching_partition(&acyclic, divergence);
            let count = partition.block_count();
            let blocks = partition.into_blocks();
            let representatives = bottoms(&acyclic, &blocks, count);
            let roots: Vec<u32> = roots.iter().map(|root| root.raw()).collect();
            Ok(quotient(&acyclic, lts.labels(), &blocks, &representatives, &roots, loops)?)
        }
        _ => todo!(),
    }
}
