//! Branching bisimulation, blind to divergence or preserving it, by inductive signatures.
//!
//! On a system without internal cycles, the signature of a state is the set of (label, block of the target)
//! over the edges that it or a state reached from it by *inert* steps has, inert steps being internal ones
//! within the block (Blom and van de Pol 2009). It is the union of the state's own pairs and the signatures at
//! the ends of its inert steps, computed from low rank to high.
//!
//! A round looks only at *affected* states: those that moved to another block or have an edge to one that
//! did, and those that reach such a state by inert steps. All others still have the signature that their
//! block remembers. States without inert steps, the *bottom* states of Groote and Vaandrager (1990), are
//! signed on all cores and as in strong bisimulation; only the others need sets. As there, sums of signatures
//! are compared, and at the end all blocks are checked exactly: bottom states have equal pairs, and no other
//! state has a pair that they lack.
//!
//! As the largest part of a split block keeps its number, an edge is the cause of work at most `log n` times;
//! what is not bounded is how many inert steps lead up to it. So the cost is `O(m log n)` times the number of
//! states that reach a change inertly: in practice a small factor, at worst `O(m n)`. (Jansen, Groote, Keiren
//! and Wijs 2020 reach `O(m log n)` always, by searching both parts of a block in turns.)
//!
//! Memory: about 60 bytes a state, and the distinct signatures of one round where there are inert steps.

use lts::Edge;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::graph::{Graph, StateSet, has_silent_edge, silent};
use crate::partition::Partition;
use crate::refinement::{FIRST_SEED, Refinement, Signed, mixed, pair, sum_of};
use crate::sets::Sets;
use crate::silent::Acyclic;

/// Whether endless internal activity counts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Divergence {
    Ignored,
    Preserved,
}

/// The coarsest branching bisimulation on all states of `graph`.
pub(crate) fn branching_partition(graph: &Acyclic<'_>, divergence: Divergence) -> Partition {
    branching_partition_from(graph, divergence, FIRST_SEED)
}

fn branching_partition_from(graph: &Acyclic<'_>, divergence: Divergence, seed: u64) -> Partition {
    let mut refiner = Refiner {
        refinement: Refinement::new(graph, graph.by_rank(), seed),
        divergence,
        sets: Sets::default(),
        set_of: vec![UNSIGNED; graph.state_count()],
        noted: Vec::new(),
        unaffected: FxHashMap::default(),
        own: Vec::new(),
        inherited: Vec::new(),
        target_pairs: Vec::new(),
    };
    refiner.refine();
    refiner.refinement.partition
}

/// For each block a member without inert steps: it has all edges of the block itself.
pub(crate) fn bottoms(graph: &Acyclic<'_>, blocks: &[u32], block_count: usize) -> Vec<u32> {
    let mut bottoms = vec![u32::MAX; block_count];
    for (state, &block) in blocks.iter().enumerate() {
        let bottom = &mut bottoms[block as usize];
        if *bottom == u32::MAX || graph.rank(state as u32) < graph.rank(*bottom) {
            *bottom = state as u32;
        }
    }
    bottoms
}

const UNSIGNED: u32 = u32::MAX;

struct Refiner<'a, 'b> {
    refinement: Refinement<'a, Acyclic<'b>>,
    divergence: Divergence,
    /// The signatures of this round that others inherit, and the states for which they are noted.
    sets: Sets,
    set_of: Vec<u32>,
    noted: Vec<u32>,
    /// The signature of the unaffected members of a block, where it was asked for in this round.
    unaffected: FxHashMap<u32, u32>,
    own: Vec<u64>,
    inherited: Vec<u32>,
    target_pairs: Vec<u64>,
}

/// What an edge adds to the signature of its source.
enum Step {
    Pair(u64),
    Inert,
    Nothing,
}

#[inline]
fn step(blocks: &[u32], divergence: Divergence, state: u32, block: u32, edge: &Edge) -> Step {
    let target_block = blocks[edge.target.index()];
    if !edge.label.is_tau() || target_block != block {
        Step::Pair(pair(edge.label.raw(), target_block))
    } else if edge.target.raw() != state {
        Step::Inert
    } else if divergence == Divergence::Preserved {
        // An internal step to the block itself stands for divergence: no other step looks like it.
        Step::Pair(pair(edge.label.raw(), block))
    } else {
        Step::Nothing
    }
}

/// Collects the state's own pairs, sorted, each once; says whether it has inert steps as well.
fn own_pairs(
    graph: &Acyclic<'_>,
    blocks: &[u32],
    divergence: Divergence,
    state: u32,
    own: &mut Vec<u64>,
) -> bool {
    own.clear();
    let block = blocks[state as usize];
    let mut inert = false;
    for edge in graph.row(state) {
        match step(blocks, divergence, state, block, edge) {
            Step::Pair(pair) => own.push(pair),
            Step::Inert => inert = true,
            Step::Nothing => {}
        }
    }
    own.sort_unstable();
    own.dedup();
    inert
}

impl<'b> Refiner<'_, 'b> {
    fn refine(&mut self) {
        loop {
            let mut affected = self.refinement.open.clone();
            while !affected.is_empty() {
                let signed = self.sign(affected);
                let moved = self.refinement.split(&signed);
                drop(signed);
                affected = self.affected_by(&moved);
            }
            if self.is_stable() {
                return;
            }
            self.refinement.reseed();
        }
    }

    /// Signs the affected states, which come by rank, and sorts them into groups.
    fn sign(&mut self, affected: Vec<u32>) -> Vec<Signed> {
        self.refinement.note_reading(&affected);
        let (refinement, divergence) = (&self.refinement, self.divergence);
        // First, on all cores, the bottom states; they need no one else's signature.
        let sign_bottom =
            |own: &mut Vec<u64>, &state: &u32| match bottom_sum(refinement, divergence, state, own) {
                Some(sum) => Signed { block: refinement.partition.block(state), sum, state },
                None => Signed { block: UNSIGNED, sum: 0, state },
            };
        let mut signed: Vec<Signed> = if affected.len() < 1024 {
            let mut own = Vec::new();
            affected.iter().map(|state| sign_bottom(&mut own, state)).collect()
        } else {
            affected.par_iter().with_min_len(512).map_init(Vec::new, sign_bottom).collect()
        };
        drop(affected);
        // Then the others, from low rank to high.
        self.sets.reseed(self.refinement.seed);
        for signed in &mut signed {
            if signed.block == UNSIGNED {
                let set = self.sign_inductively(signed.state);
                self.note(signed.state, set);
                signed.block = self.refinement.partition.block(signed.state);
                signed.sum = self.sets.sum(set);
            }
        }
        for state in self.noted.drain(..) {
            self.set_of[state as usize] = UNSIGNED;
        }
        self.sets.clear();
        self.unaffected.clear();
        signed.par_sort_unstable();
        signed
    }

    /// The signature of a state whose inert steps lead to states that are signed or not affected.
    fn sign_inductively(&mut self, state: u32) -> u32 {
        let (mut own, mut inherited) = (std::mem::take(&mut self.own), std::mem::take(&mut self.inherited));
        own.clear();
        inherited.clear();
        let (graph, block) = (self.refinement.graph, self.refinement.partition.block(state));
        for edge in graph.row(state) {
            match step(self.refinement.partition.blocks(), self.divergence, state, block, edge) {
                Step::Pair(pair) => own.push(pair),
                Step::Nothing => {}
                Step::Inert => {
                    let set = self.set_at(edge.target.raw(), block);
                    if !inherited.contains(&set) {
                        inherited.push(set);
                    }
                }
            }
        }
        let set = self.sets.union(&own, &inherited);
        (self.own, self.inherited) = (own, inherited);
        set
    }

    /// The signature at the end of an inert step in `block`.
    fn set_at(&mut self, target: u32, block: u32) -> u32 {
        if self.set_of[target as usize] != UNSIGNED {
            return self.set_of[target as usize];
        }
        let mut own = std::mem::take(&mut self.target_pairs);
        let set = if !self.own_pairs(target, &mut own) {
            let set = self.sets.intern(&own);
            self.note(target, set);
            set
        } else {
            self.unaffected_set(target, block, &mut own)
        };
        self.target_pairs = own;
        set
    }

    /// The signature of the block, found from an unaffected member with inert steps.
    fn unaffected_set(&mut self, member: u32, block: u32, own: &mut Vec<u64>) -> u32 {
        // Affected states with inert steps are signed by now, so this one is not affected; nor is any state
        // that it reaches inertly, down to a bottom state, whose pairs are the signature of the block.
        if let Some(&set) = self.unaffected.get(&block) {
            return set;
        }
        let mut bottom = member;
        while let Some(edge) = silent(self.refinement.graph.row(bottom)).iter().find(|edge| {
            edge.target.raw() != bottom && self.refinement.partition.block(edge.target.raw()) == block
        }) {
            bottom = edge.target.raw();
        }
        self.own_pairs(bottom, own);
        let set = self.sets.intern(own);
        self.unaffected.insert(block, set);
        set
    }

    fn own_pairs(&self, state: u32, own: &mut Vec<u64>) -> bool {
        let blocks = self.refinement.partition.blocks();
        own_pairs(self.refinement.graph, blocks, self.divergence, state, own)
    }

    fn note(&mut self, state: u32, set: u32) {
        self.set_of[state as usize] = set;
        self.noted.push(state);
    }

    /// The states affected by the moves, as far as they can still be split, by rank.
    fn affected_by(&mut self, moved: &[u32]) -> Vec<u32> {
        if moved.is_empty() {
            return Vec::new();
        }
        let graph = self.refinement.graph;
        if !self.refinement.prepare_scan(moved) {
            let mut affected = self.refinement.affected(moved, true);
            self.refinement.close_upwards(&mut affected);
            affected.sort_unstable_by_key(|&state| graph.rank(state));
            return affected;
        }
        let moved = StateSet::from_states(graph.state_count(), moved);
        let mut above = StateSet::new(graph.state_count());
        let partition = &self.refinement.partition;
        let is_affected = |&state: &u32| {
            let block = partition.block(state);
            let affected = moved.contains(state)
                || graph.row(state).iter().any(|edge| {
                    let target = edge.target.raw();
                    moved.contains(target)
                        || (edge.label.is_tau() && above.contains(target) && partition.block(target) == block)
                });
            if affected {
                above.insert(state);
            }
            affected
        };
        self.refinement.open.iter().copied().filter(is_affected).collect()
    }

    /// Whether every block is stable, sums aside: its bottom states have equal pairs and no other member has
    /// a pair that they lack.
    fn is_stable(&self) -> bool {
        let (graph, partition, divergence) =
            (self.refinement.graph, &self.refinement.partition, self.divergence);
        (0..partition.block_count() as u32).into_par_iter().with_min_len(256).all(|block| {
            let members = partition.members(block);
            if members.len() == 1 {
                return true;
            }
            let Some(&bottom) = members.iter().min_by_key(|&&state| graph.rank(state)) else { return true };
            let mut all = Vec::new();
            own_pairs(graph, partition.blocks(), divergence, bottom, &mut all);
            members.par_chunks(4096).all(|chunk| {
                let mut own = Vec::new();
                chunk.iter().all(|&state| {
                    let inert = own_pairs(graph, partition.blocks(), divergence, state, &mut own);
                    if inert { own.iter().all(|pair| all.binary_search(pair).is_ok()) } else { own == all }
                })
            })
        })
    }
}

/// The sum of the signature of a state, unless it has inert steps.
fn bottom_sum(
    refinement: &Refinement<'_, Acyclic<'_>>,
    divergence: Divergence,
    state: u32,
    own: &mut Vec<u64>,
) -> Option<u64> {
    let (graph, blocks, seed) = (refinement.graph, refinement.partition.blocks(), refinement.seed);
    let row = graph.row(state);
    let block = blocks[state as usize];
    let Some(counters) = refinement.counters(state, row) else {
        // Internal edges come first, so that most states with inert steps are recognised at once.
        let is_inert = |edge: &Edge| blocks[edge.target.index()] == block && edge.target.raw() != state;
        if silent(row).iter().any(is_inert) {
            return None;
        }
        own_pairs(graph, blocks, divergence, state, own);
        return Some(sum_of(own, seed));
    };
    let (silent_steps, loops) = (counters.silent_into(block), u32::from(has_silent_edge(row, state)));
    if silent_steps > loops {
        return None;
    }
    let unseen = loops == 1 && divergence == Divergence::Ignored;
    let excess = if unseen { mixed(pair(lts::LabelId::TAU.raw(), block), seed) } else { 0 };
    Some(counters.sum().wrapping_sub(excess))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lts::{LtsBuilder, StateId};

    #[test]
    fn colliding_sums_do_not_change_the_answer() {
        let mut builder = LtsBuilder::new();
        let labels = [lts::LabelId::TAU, builder.label("A"), builder.label("B")];
        for state in 1..200 {
            builder.add(StateId::new(state), labels[state % 3], StateId::new(state / 2));
            builder.add(StateId::new(state), labels[state % 5 % 3], StateId::new(state / 3));
        }
        let lts = builder.finish().unwrap();
        let acyclic = Acyclic::of(&lts);
        for divergence in [Divergence::Ignored, Divergence::Preserved] {
            // With seed 0 all signatures have sum 0.
            let unlucky = branching_partition_from(&acyclic, divergence, 0);
            let lucky = branching_partition(&acyclic, divergence);
            assert!(lucky.block_count() > 10);
            assert_eq!(unlucky.block_count(), lucky.block_count());
        }
    }
}
