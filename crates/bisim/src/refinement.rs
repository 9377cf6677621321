//! What strong and branching refinement share: signed states, splitting, and knowing what to look at next.

use lts::Edge;
use rustc_hash::FxHashMap;

use crate::counters::Counters;
use crate::graph::{Graph, Sources, StateSet};
use crate::partition::Partition;

/// Rows at least this long may get counters.
pub(crate) const LONG_ROW: usize = 32;

/// How often a long row is read before it gets counters.
const PATIENCE: u32 = 8;

/// The mixture that refinement begins with.
pub(crate) const FIRST_SEED: u64 = 0x9E37_79B9_7F4A_7C15;

/// A partition under refinement.
pub(crate) struct Refinement<'a, G> {
    pub(crate) graph: &'a G,
    pub(crate) partition: Partition,
    /// Changes what signatures are mixed to.
    pub(crate) seed: u64,
    /// The states that share their block with others; shrinks with every scan.
    pub(crate) open: Vec<u32>,
    /// The sum of the signature that all members of a block have, as far as nothing changed for them.
    sums: Vec<u64>,
    /// How many more edges may be scanned before the index is built.
    scan_budget: usize,
    sources: Option<Sources>,
    has_long_rows: bool,
    /// How often each long row was read.
    readings: FxHashMap<u32, u32>,
    counters: FxHashMap<u32, Counters>,
    /// Empty between rounds.
    marked: StateSet,
}

/// A state with the sum of its signature, ordered so that sorting groups what stays together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Signed {
    pub(crate) block: u32,
    pub(crate) sum: u64,
    pub(crate) state: u32,
}

impl<'a, G: Graph> Refinement<'a, G> {
    /// All states in one block; `open` lists them in the order in which scans shall see them.
    pub(crate) fn new(graph: &'a G, open: Vec<u32>, seed: u64) -> Self {
        let states = graph.state_count();
        Self {
            graph,
            partition: Partition::new(states),
            seed,
            open,
            sums: vec![0],
            scan_budget: 16 * graph.edge_count(),
            sources: None,
            has_long_rows: (0..states as u32).any(|state| graph.row(state).len() >= LONG_ROW),
            readings: FxHashMap::default(),
            counters: FxHashMap::default(),
            marked: StateSet::new(states),
        }
    }

    /// Another mixture, after a collision. All states have to be signed again.
    pub(crate) fn reseed(&mut self) {
        self.seed = self.seed.wrapping_mul(0x2545_F491_4F6C_DD1D).wrapping_add(0x9E37_79B9_7F4A_7C14) | 1;
        self.counters.clear();
        self.readings.clear();
        self.open.retain(|&state| self.partition.has_company(state));
    }

    /// The counters of a state, if it has any.
    #[inline]
    pub(crate) fn counters(&self, state: u32, row: &[Edge]) -> Option<&Counters> {
        if row.len() >= LONG_ROW { self.counters.get(&state) } else { None }
    }

    /// Notes that the rows of `states` are about to be read; gives counters to those read too often.
    pub(crate) fn note_reading(&mut self, states: &[u32]) {
        if !self.has_long_rows {
            return;
        }
        for &state in states {
            let row = self.graph.row(state);
            if row.len() < LONG_ROW || self.counters.contains_key(&state) {
                continue;
            }
            let readings = self.readings.entry(state).or_insert(0);
            *readings += 1;
            if *readings > PATIENCE {
                // The counters follow every move from now on, which needs the index.
                self.sources.get_or_insert_with(|| Sources::of(self.graph));
                let counters = Counters::of(row, self.partition.blocks(), self.seed);
                self.counters.insert(state, counters);
            }
        }
    }

    /// Splits the blocks of the signed states, which come sorted; returns those with a new block number.
    pub(crate) fn split(&mut self, signed: &[Signed]) -> Vec<u32> {
        let mut moved = Vec::new();
        let (mut states, mut groups) = (Vec::new(), Vec::new());
        for in_block in signed.chunk_by(|a, b| a.block == b.block) {
            let block = in_block[0].block;
            let old_sum = self.sums[block as usize];
            let all_signed = in_block.len() == self.partition.size(block);
            let one_sum = in_block[0].sum == in_block[in_block.len() - 1].sum;
            if one_sum && (all_signed || in_block[0].sum == old_sum) {
                self.sums[block as usize] = in_block[0].sum;
                continue;
            }
            states.clear();
            groups.clear();
            for group in in_block.chunk_by(|a, b| a.sum == b.sum) {
                if all_signed || group[0].sum != old_sum {
                    let start = states.len();
                    states.extend(group.iter().map(|signed| signed.state));
                    groups.push((group[0].sum, start..states.len()));
                }
            }
            let first_moved = moved.len();
            let parts = groups.iter().map(|(_, range)| &states[range.clone()]);
            let numbers = self.partition.split(block, parts, &mut moved);
            self.sums.resize(self.partition.block_count(), 0);
            let sums = groups.iter().map(|&(sum, _)| sum).chain([old_sum]);
            for (number, sum) in numbers.into_iter().zip(sums) {
                if number != Partition::NO_BLOCK {
                    self.sums[number as usize] = sum;
                }
            }
            if !self.counters.is_empty() {
                self.recount(&moved[first_moved..], block);
            }
        }
        moved
    }

    /// Tells the counters that states of `block` have moved.
    fn recount(&mut self, moved: &[u32], block: u32) {
        let Some(sources) = &self.sources else { return };
        for &target in moved {
            let now = self.partition.block(target);
            for same_source in sources.leading_to(target).chunk_by(|a, b| a == b) {
                if let Some(counters) = self.counters.get_mut(&same_source[0]) {
                    counters.target_moved(target, block, now, self.seed);
                }
            }
        }
    }

    /// Whether the states affected by the moves are better found by scanning all open ones. If so, `open` is
    /// brought up to date.
    ///
    /// Rounds that move an eighth of all states are few, at most `8 log n`, and worth a scan at any time.
    pub(crate) fn prepare_scan(&mut self, moved: &[u32]) -> bool {
        let scan =
            moved.len() >= self.graph.state_count() / 8 || (self.sources.is_none() && self.scan_budget > 0);
        if scan {
            self.open.retain(|&state| self.partition.has_company(state));
            let edges: usize = self.open.iter().map(|&state| self.graph.row(state).len()).sum();
            self.scan_budget = self.scan_budget.saturating_sub(edges.max(1));
        }
        scan
    }

    /// The states with an edge to a moved state that can still be split, by the index; with `themselves`,
    /// also the moved states.
    pub(crate) fn affected(&mut self, moved: &[u32], themselves: bool) -> Vec<u32> {
        let sources = self.sources.get_or_insert_with(|| Sources::of(self.graph));
        let mut affected = Vec::new();
        for state in moved {
            let itself = themselves.then_some(state);
            for &source in sources.leading_to(*state).iter().chain(itself) {
                if self.partition.has_company(source) && self.marked.insert(source) {
                    affected.push(source);
                }
            }
        }
        affected.iter().for_each(|&state| self.marked.remove(state));
        affected
    }

    /// Adds to `states` those members of their blocks that lead to them by internal steps in the block.
    pub(crate) fn close_upwards(&mut self, states: &mut Vec<u32>) {
        let sources = self.sources.get_or_insert_with(|| Sources::of(self.graph));
        states.iter().for_each(|&state| {
            self.marked.insert(state);
        });
        let mut next = 0;
        while let Some(&state) = states.get(next) {
            next += 1;
            for &source in sources.leading_to(state) {
                if self.partition.block(source) == self.partition.block(state)
                    && !self.marked.contains(source)
                    && crate::graph::has_silent_edge(self.graph.row(source), state)
                {
                    self.marked.insert(source);
                    states.push(source);
                }
            }
        }
        states.iter().for_each(|&state| self.marked.remove(state));
    }
}

/// One element of a signature.
#[inline]
pub(crate) fn pair(label: u32, block: u32) -> u64 {
    u64::from(label) << 32 | u64::from(block)
}

/// Spreads a pair over 64 bits, so that sums of different sets differ, as long as the seed is odd.
#[inline]
pub(crate) fn mixed(pair: u64, seed: u64) -> u64 {
    let product = u128::from(pair ^ seed) * u128::from(seed);
    let folded = (product as u64) ^ (product >> 64) as u64;
    let again = (folded ^ folded >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    again ^ again >> 32
}

/// The sum of a set of pairs.
#[inline]
pub(crate) fn sum_of(pairs: &[u64], seed: u64) -> u64 {
    pairs.iter().fold(0, |sum, &pair| sum.wrapping_add(mixed(pair, seed)))
}
