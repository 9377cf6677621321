//! Weak bisimulation by signatures over weak steps, and the system of weak steps itself.
//!
//! Works on a system that is already minimal modulo branching bisimulation, which is finer (van Glabbeek and
//! Weijland 1996), so that there are no internal cycles and few states. The weak steps of a state (Milner
//! 1989) are those of its internal successors and its own ones prolonged. Where there are at most four times
//! as many of them as states and edges, the answer is the strong partition of the system of weak steps, in
//! `O(m log n)` of its edges. Otherwise they are not spelt out for every state: sets of pairs (label, block)
//! are interned and shared, each round is one pass of `O(m)` set operations, and there are at most `n` rounds.

use lts::{LabelId, Lts, LtsBuilder, StateId, TooLarge};
use rustc_hash::FxHashMap;

use crate::graph::{Graph, silent};
use crate::refinement::pair;
use crate::sets::Sets;
use crate::silent::Acyclic;
use crate::strong::strong_partition;

/// The coarsest weak bisimulation on a system without internal cycles: the block of each state and the
/// number of blocks.
pub(crate) fn weak_blocks(lts: &Lts) -> (Vec<u32>, usize) {
    if let Some(saturated) = saturated(lts, 4 * (lts.state_count() + lts.transition_count())) {
        let partition = strong_partition(&saturated);
        // Blocks in the order of their first members, so that the outcome depends on the input alone.
        let mut numbers = FxHashMap::default();
        let number = |&block: &u32| {
            let next = numbers.len() as u32;
            *numbers.entry(block).or_insert(next)
        };
        return (partition.blocks().iter().map(number).collect(), partition.block_count());
    }
    weak_blocks_in_rounds(lts)
}

/// Refines all blocks at once, round by round, without spelling out the weak steps.
fn weak_blocks_in_rounds(lts: &Lts) -> (Vec<u32>, usize) {
    let order = Acyclic::of(lts).by_rank();
    let mut blocks = vec![0u32; lts.state_count()];
    let mut count = 1;
    let mut steps = WeakSteps::default();
    loop {
        steps.compute(lts, &order, &blocks);
        let mut numbers = FxHashMap::default();
        let refined: Vec<u32> = (0..blocks.len())
            .map(|state| {
                let next = numbers.len() as u32;
                // The silent steps of a state reach its own block, so that new blocks refine old ones.
                let key = (blocks[state], steps.silent_of[state], steps.visible_of[state]);
                *numbers.entry(key).or_insert(next)
            })
            .collect();
        blocks = refined;
        if numbers.len() == count {
            return (blocks, count);
        }
        count = numbers.len();
    }
}

/// One state a block with the edges of all its members, except internal ones to itself.
pub(crate) fn merge_blocks(lts: &Lts, blocks: &[u32], count: usize) -> Result<Lts, TooLarge> {
    let mut builder = LtsBuilder::with_labels(lts.labels().clone());
    builder.reserve_states(count);
    for transition in lts.transitions() {
        let (source, target) = (blocks[transition.source.index()], blocks[transition.target.index()]);
        if !transition.label.is_tau() || source != target {
            builder.add(StateId::from_raw(source), transition.label, StateId::from_raw(target));
        }
    }
    builder.finish()
}

/// The system whose steps are the weak steps of `lts`, unless there are more than `limit` of them. Every state
/// has an internal step to itself.
pub(crate) fn saturated(lts: &Lts, limit: usize) -> Option<Lts> {
    let order = Acyclic::of(lts).by_rank();
    let states: Vec<u32> = (0..lts.state_count() as u32).collect();
    let mut steps = WeakSteps::default();
    steps.compute(lts, &order, &states);
    let rows = || (0..states.len()).map(|state| [steps.silent_of[state], steps.visible_of[state]]);
    let total: usize = rows().flatten().map(|set| steps.sets.get(set).len()).sum();
    if total > limit {
        return None;
    }
    let mut builder = LtsBuilder::with_labels(lts.labels().clone());
    builder.reserve_states(states.len());
    for (source, sets) in rows().enumerate() {
        for &step in sets.iter().flat_map(|&set| steps.sets.get(set)) {
            let (label, target) = ((step >> 32) as u32, step as u32);
            builder.add(StateId::new(source), LabelId::from_raw(label), StateId::from_raw(target));
        }
    }
    builder.finish().ok()
}

/// For each state the blocks that internal steps reach, as internal pairs, and the pairs of its weak visible
/// steps.
#[derive(Default)]
struct WeakSteps {
    sets: Sets,
    silent_of: Vec<u32>,
    visible_of: Vec<u32>,
}

impl WeakSteps {
    fn compute(&mut self, lts: &Lts, order: &[u32], blocks: &[u32]) {
        self.sets.clear();
        self.silent_of.clear();
        self.silent_of.resize(blocks.len(), 0);
        self.visible_of.clear();
        self.visible_of.resize(blocks.len(), 0);
        let (mut own, mut inherited) = (Vec::new(), Vec::new());
        for &state in order {
            inherited.clear();
            let targets = silent(lts.row(state)).iter().filter(|edge| edge.target.raw() != state);
            inherited.extend(targets.map(|edge| self.silent_of[edge.target.index()]));
            inherited.dedup();
            let own = [pair(LabelId::TAU.raw(), blocks[state as usize])];
            self.silent_of[state as usize] = self.sets.union(&own, &inherited);
        }
        for &state in order {
            own.clear();
            inherited.clear();
            for edge in lts.row(state) {
                if !edge.label.is_tau() {
                    let reached = self.sets.get(self.silent_of[edge.target.index()]);
                    own.extend(reached.iter().map(|&silent| pair(edge.label.raw(), silent as u32)));
                } else if edge.target.raw() != state {
                    inherited.push(self.visible_of[edge.target.index()]);
                }
            }
            inherited.dedup();
            self.visible_of[state as usize] = self.sets.union(&own, &inherited);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_find_the_same_blocks() {
        // Pseudo-random trees with internal steps towards the root.
        for salt in 1..50usize {
            let mut builder = LtsBuilder::new();
            let labels = [LabelId::TAU, builder.label("A"), builder.label("B"), LabelId::TAU];
            for state in 1..60 {
                for factor in [3, 5] {
                    let label = labels[state * factor * salt / 7 % 4];
                    builder.add(StateId::new(state), label, StateId::new(state * salt / factor % state));
                }
            }
            let lts = builder.finish().unwrap();
            let (spelt_out, count) = weak_blocks(&lts);
            let (in_rounds, same_count) = weak_blocks_in_rounds(&lts);
            assert_eq!(count, same_count);
            let pairs: std::collections::BTreeSet<_> = spelt_out.iter().zip(&in_rounds).collect();
            assert_eq!(pairs.len(), count);
        }
    }
}
