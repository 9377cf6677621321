//! The rounds of refinement in which states become different, kept for explanations.

use lts::Lts;
use rustc_hash::FxHashMap;

use crate::graph::Graph;
use crate::refinement::pair;
use crate::sets::Sets;
use crate::silent::Acyclic;

/// The block of each state, round by round, from one block for all until two given states differ; `None` when
/// that takes more than `limit` entries. Each round separates what one more step can tell apart.
pub(crate) fn strong_levels(lts: &Lts, left: u32, right: u32, limit: usize) -> Option<Vec<Vec<u32>>> {
    levels(lts.state_count(), left, right, limit, |blocks, sets, set_of| {
        let mut pairs = Vec::new();
        for state in 0..lts.state_count() as u32 {
            pairs.clear();
            pairs.extend(lts.row(state).iter().map(|e| pair(e.label.raw(), blocks[e.target.index()])));
            set_of[state as usize] = sets.union(&pairs, &[]);
        }
    })
}

/// As [`strong_levels`] for branching bisimulation, on a system whose only internal cycles are loops: these
/// count as divergence.
pub(crate) fn branching_levels(lts: &Lts, left: u32, right: u32, limit: usize) -> Option<Vec<Vec<u32>>> {
    let order = Acyclic::of(lts).by_rank();
    levels(lts.state_count(), left, right, limit, |blocks, sets, set_of| {
        let (mut own, mut inherited) = (Vec::new(), Vec::new());
        for &state in &order {
            own.clear();
            inherited.clear();
            let block = blocks[state as usize];
            for edge in lts.row(state) {
                let target_block = blocks[edge.target.index()];
                if edge.label.is_tau() && target_block == block && edge.target.raw() != state {
                    inherited.push(set_of[edge.target.index()]);
                } else {
                    own.push(pair(edge.label.raw(), target_block));
                }
            }
            set_of[state as usize] = sets.union(&own, &inherited);
        }
    })
}

fn levels(
    states: usize,
    left: u32,
    right: u32,
    limit: usize,
    mut sign: impl FnMut(&[u32], &mut Sets, &mut [u32]),
) -> Option<Vec<Vec<u32>>> {
    let mut levels = vec![vec![0u32; states]];
    let mut sets = Sets::default();
    let mut set_of = vec![0u32; states];
    loop {
        let blocks = &levels[levels.len() - 1];
        if blocks[left as usize] != blocks[right as usize] {
            return Some(levels);
        }
        if (levels.len() + 1) * states > limit {
            return None;
        }
        sets.clear();
        sign(blocks, &mut sets, &mut set_of);
        let mut numbers = FxHashMap::default();
        let refined = blocks.iter().zip(&set_of).map(|(&block, &set)| {
            let next = numbers.len() as u32;
            *numbers.entry((block, set)).or_insert(next)
        });
        let refined = refined.collect();
        levels.push(refined);
    }
}
