//! Building the smallest system from a partition: one state a block, numbered breadth first.
//!
//! The numbering depends on the input alone, not on block numbers. States are numbered in the order in which
//! a breadth-first search from the roots finds them, labels in the order of first use; within a row the
//! search follows label and then the order of the input. Reducing a reduced system therefore gives the same
//! system again, number by number. `O(m)` over the rows of one representative a block.

use lts::{Edge, LabelId, Labels, Lts, LtsBuilder, StateId, TooLarge};

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
    let mut row: Vec<Edge> = Vec::new();
    let mut source = 0;
    while let Some(&block) = numbering.order.get(source) {
        let representative = representatives[block as usize];
        row.clear();
        for edge in graph.row(representative) {
            let target = blocks[edge.target.index()];
            if edge.label.is_tau() && target == block {
                let diverges = edge.target.raw() == representative;
                if loops == SilentLoops::Drop || (loops == SilentLoops::KeepDivergence && !diverges) {
                    continue;
                }
            }
            row.push(Edge { label: numbering.label(edge.label), target: StateId::from_raw(target) });
        }
        // Stable: within a label the order of the input decides.
        if !row.is_sorted_by_key(|edge| edge.label) {
            row.sort_by_key(|edge| edge.label);
        }
        for edge in &mut row {
            edge.target = numbering.state(edge.target.raw());
        }
        row.sort_unstable();
        row.dedup();
        for edge in &row {
            numbering.builder.add(StateId::new(source), edge.label, edge.target);
        }
        source += 1;
    }
    Ok((numbering.finish(labels)?, numbered_roots))
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
    builder: LtsBuilder,
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
            builder: LtsBuilder::new(),
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
    fn label(&mut self, label: LabelId) -> LabelId {
        let number = &mut self.label_numbers[label.index()];
        if *number == u32::MAX {
            *number = self.label_order.len() as u32;
            self.label_order.push(label);
        }
        LabelId::from_raw(*number)
    }

    fn finish(mut self, labels: &Labels) -> Result<Lts, TooLarge> {
        for &label in &self.label_order {
            self.builder.label(labels.text(label));
        }
        self.builder.reserve_states(self.order.len());
        self.builder.set_initial(StateId::new(0));
        self.builder.finish()
    }
}
