//! Signatures of states with very many edges, kept up to date edge by edge.
//!
//! Reading a row of `d` edges whenever one of them changes would cost `O(d²)`. With a counter for each (label,
//! block) a change costs `O(1)` expected. About 70 bytes an edge, which is why only long rows that were read
//! often get them; the test `hubs_over_long_chains` would be quadratic without.

use lts::{Edge, LabelId};
use rustc_hash::FxHashMap;

use crate::refinement::{mixed, pair};

/// The signature of one state as a multiset: how many edges lead with each label into each block.
pub(crate) struct Counters {
    sum: u64,
    counts: FxHashMap<u64, u32>,
    /// The edges as (target, label), sorted, and where each target begins.
    by_target: Vec<(u32, u32)>,
    starts: FxHashMap<u32, u32>,
}

impl Counters {
    /// The sum of the signature.
    pub(crate) fn sum(&self) -> u64 {
        self.sum
    }

    /// How many internal edges lead into `block`.
    pub(crate) fn silent_into(&self, block: u32) -> u32 {
        self.counts.get(&pair(LabelId::TAU.raw(), block)).copied().unwrap_or(0)
    }

    pub(crate) fn of(row: &[Edge], blocks: &[u32], seed: u64) -> Self {
        let mut by_target: Vec<_> = row.iter().map(|edge| (edge.target.raw(), edge.label.raw())).collect();
        by_target.sort_unstable();
        let mut starts = FxHashMap::default();
        for (at, &(target, _)) in by_target.iter().enumerate() {
            starts.entry(target).or_insert(at as u32);
        }
        let mut counters = Self { sum: 0, counts: FxHashMap::default(), by_target, starts };
        for edge in row {
            counters.enter(pair(edge.label.raw(), blocks[edge.target.index()]), seed);
        }
        counters
    }

    /// One of the targets has moved from block `before` to block `now`.
    pub(crate) fn target_moved(&mut self, target: u32, before: u32, now: u32, seed: u64) {
        let Some(&start) = self.starts.get(&target) else { return };
        let mut at = start as usize;
        while let Some(&(_, label)) = self.by_target.get(at).filter(|&&(to, _)| to == target) {
            self.leave(pair(label, before), seed);
            self.enter(pair(label, now), seed);
            at += 1;
        }
    }

    fn enter(&mut self, pair: u64, seed: u64) {
        let count = self.counts.entry(pair).or_insert(0);
        *count += 1;
        if *count == 1 {
            self.sum = self.sum.wrapping_add(mixed(pair, seed));
        }
    }

    fn leave(&mut self, pair: u64, seed: u64) {
        if let Some(count) = self.counts.get_mut(&pair) {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(&pair);
                self.sum = self.sum.wrapping_sub(mixed(pair, seed));
            }
        }
    }
}
