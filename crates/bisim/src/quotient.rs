//! Building the smallest system from a partition: one state a block, numbered breadth first.
//!
//! The numbering depends on the input alone, not on block numbers. States are numbered in the order in which
//! a breadth-first search from the roots finds them, labels in the order of first use; within a row the
//! search follows label and then the order of the input. Reducing a reduced system therefore gives the same
//! system again, number by number. `O(m)` over the rows of one representative a block.

use lts::{Edge, LabelId, Labels, Lts, StateId, TooLarge};
use rayon::prelude::*;

use crate::graph::Graph;

/// What becomes of an internal edge from a block to itself.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum SilentLoops {
    /// It is an edge like others.
    Keep,
    /// It means nothing and is dropped.
    Drop,
    /// It says that the block diverges: kept where the representative itself has an internal loop.
    KeepDivergence,
}

/// The quotient of `graph` and the states of `roots` in it; the first root becomes state 0 and is initial.
///
/// `representatives` holds for each block a state that has, up to blocks, all edges of the block.
///
/// The search advances by batches of blocks. What waits for memory, reading rows and sorting them, is done for a
/// whole batch on all cores; only handing out numbers is sequential.
pub(crate) fn quotient(
    graph: &impl Graph,
    labels: &Labels,
    blocks: &[u32],
    representatives: &[u32],
    roots: &[u32],
    loops: SilentLoops,
) -> Result<(Lts, Vec<StateId>), TooLarge> {
    let mut numbering = Numbering::new(labels, representatives.len());
    let numbered_roots = roots.iter().map(|&root| numbering.state(blocks[root as usize])).collect();
    let mut offsets: Vec<u32> = vec![0];
    let mut edges: Vec<Edge> = Vec::new();
    while offsets.len() <= numbering.order.len() {
        let start = offsets.len() - 1;
        let batch = &numbering.order[start..numbering.order.len().min(start + BATCH)];
        let mut chunks: Vec<Chunk> = batch
            .par_chunks(CHUNK)
            .map(|chunk| Chunk::read(chunk, graph, blocks, representatives, loops))
            .collect();
        chunks.iter().for_each(|chunk| chunk.edges.iter().for_each(|edge| numbering.see_label(edge.label)));
        chunks.par_iter_mut().for_each(|chunk| chunk.number_labels(&numbering.label_numbers));
        chunks.iter().for_each(|chunk| {
            chunk.edges.iter().for_each(|edge| {
                numbering.state(edge.target.raw());
            });
        });
        chunks.par_iter_mut().for_each(|chunk| chunk.number_targets(&numbering.numbers));
        for chunk in &chunks {
            let shift = edges.len();
            edges.extend_from_slice(&chunk.edges);
            if edges.len() >= u32::MAX as usize {
                return Err(TooLarge("transitions"));
            }
            offsets.extend(chunk.ends.iter().map(|&end| (shift + end) as u32));
        }
    }
    Ok((Lts::from_rows(StateId::new(0), offsets, edges, numbering.labels(labels)), numbered_roots))
}

/// How many blocks are numbered between two synchronisations, and how many one task takes.
const BATCH: usize = 1 << 15;
const CHUNK: usize = 1 << 10;

/// Some rows of the quotient under construction.
struct Chunk {
    edges: Vec<Edge>,
    /// One past the last edge of each row.
    ends: Vec<usize>,
}

impl Chunk {
    /// The rows of the given blocks; labels are those of the input, targets are blocks.
    fn read(
        chunk: &[u32],
        graph: &impl Graph,
        blocks: &[u32],
        representatives: &[u32],
        loops: SilentLoops,
    ) -> Self {
        let (mut edges, mut ends) = (Vec::new(), Vec::with_capacity(chunk.len()));
        for &block in chunk {
            let representative = representatives[block as usize];
            for edge in graph.row(representative) {
                let target = blocks[edge.target.index()];
                if edge.label.is_tau() && target == block {
                    let diverges = edge.target.raw() == representative;
                    if loops == SilentLoops::Drop || (loops == SilentLoops::KeepDivergence && !diverges) {
                        continue;
                    }
                }
                edges.push(Edge { label: edge.label, target: StateId::from_raw(target) });
            }
            ends.push(edges.len());
        }
        Self { edges, ends }
    }

    /// Brings every row into the order of the new labels; within a label the order of the input decides.
    fn number_labels(&mut self, numbers: &[u32]) {
        let mut start = 0;
        for &end in &self.ends {
            let row = &mut self.edges[start..end];
            row.iter_mut().for_each(|edge| edge.label = LabelId::from_raw(numbers[edge.label.index()]));
            if !row.is_sorted_by_key(|edge| edge.label) {
                row.sort_by_key(|edge| edge.label);
            }
            start = end;
        }
    }

    /// Puts numbers for blocks and removes repeated edges.
    fn number_targets(&mut self, numbers: &[u32]) {
        self.edges.iter_mut().for_each(|edge| {
            edge.target = StateId::from_raw(numbers[edge.target.index()]);
        });
        let (mut start, mut kept) = (0, 0);
        for end in &mut self.ends {
            self.edges[start..*end].sort_unstable();
            let row_start = kept;
            for at in start..*end {
                if kept == row_start || self.edges[kept - 1] != self.edges[at] {
                    self.edges[kept] = self.edges[at];
                    kept += 1;
                }
            }
            start = *end;
            *end = kept;
        }
        self.edges.truncate(kept);
    }
}

/// The first member of every block, as a representative where any member will do.
pub(crate) fn first_members(blocks: &[u32], block_count: usize) -> Vec<u32> {
    let mut representatives = vec![u32::MAX; block_count];
    for (state, &block) in blocks.iter().enumerate().rev() {
        representatives[block as usize] = state as u32;
    }
    representatives
}

/// New numbers in order of first use.
struct Numbering {
    /// The number of each block, `u32::MAX` while it has none.
    numbers: Vec<u32>,
    /// The blocks by number.
    order: Vec<u32>,
    label_numbers: Vec<u32>,
    label_order: Vec<LabelId>,
}

impl Numbering {
    fn new(labels: &Labels, blocks: usize) -> Self {
        let mut label_numbers = vec![u32::MAX; labels.len()];
        label_numbers[LabelId::TAU.index()] = 0;
        Self {
            numbers: vec![u32::MAX; blocks],
            order: Vec::new(),
            label_numbers,
            label_order: vec![LabelId::TAU],
        }
    }

    #[inline]
    fn state(&mut self, block: u32) -> StateId {
        let number = &mut self.numbers[block as usize];
        if *number == u32::MAX {
            *number = self.order.len() as u32;
            self.order.push(block);
        }
        StateId::from_raw(*number)
    }

    #[inline]
    fn see_label(&mut self, label: LabelId) {
        let number = &mut self.label_numbers[label.index()];
        if *number == u32::MAX {
            *number = self.label_order.len() as u32;
            self.label_order.push(label);
        }
    }

    /// The table of the labels seen.
    fn labels(&self, labels: &Labels) -> Labels {
        let mut seen = Labels::new();
        for &label in &self.label_order {
            seen.intern(labels.text(label));
        }
        seen
    }
}
