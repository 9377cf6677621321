//! Enumerating the reachable tuples of leaf states, breadth first.
//!
//! A tuple is packed into as few 32-bit words as the sizes of the leaves allow. A vector is looked at only in
//! states where its first leaf offers its first label.

use super::Composition;
use super::vectors::{Flat, Vector};
use crate::builder::LtsBuilder;
use crate::ids::{LabelId, StateId};
use crate::lts::{Edge, Lts};
use crate::partial::NOT_EXPLORED;
use crate::progress::Progress;
use crate::rows::RowSet;

pub(super) fn explore(flat: &Flat, max_states: usize, progress: &Progress) -> Composition {
    let packing = Packing::of(&flat.leaves);
    let index = VectorIndex::new(flat);
    let mut builder = LtsBuilder::with_labels(flat.labels.clone());
    let mut tuples = RowSet::default();
    let mut state: Vec<StateId> = flat.leaves.iter().map(|leaf| leaf.initial()).collect();
    let mut row = vec![0; packing.words];
    packing.pack(&state, &mut row);
    tuples.insert(&row);
    let mut successor = state.clone();
    let mut choice: Vec<(usize, usize, usize)> = Vec::new();
    let mut complete = true;
    let mut next = 0;
    'states: while next < tuples.len() {
        if progress.is_cancelled() {
            complete = false;
            break;
        }
        packing.unpack(tuples.row(next), &mut state);
        let source = StateId::new(next);
        next += 1;
        progress.advance(1);
        for vector in index.enabled(flat, &state) {
            if !possible_choices(flat, vector, &state, &mut choice) {
                continue;
            }
            loop {
                successor.copy_from_slice(&state);
                for (&(leaf, _), &(_, at, _)) in vector.parts.iter().zip(&choice) {
                    successor[leaf] = flat.leaves[leaf].edges()[at].target;
                }
                packing.pack(&successor, &mut row);
                let (target, new) = tuples.insert(&row);
                if new && tuples.len() > max_states {
                    // The state past the limit is dropped with the transition to it.
                    complete = false;
                    break 'states;
                }
                builder.add(source, vector.label, StateId::new(target));
                if !next_choice(&mut choice) {
                    break;
                }
            }
        }
    }
    let states = tuples.len().min(max_states.max(1));
    builder.reserve_states(states);
    if !complete {
        // The last state looked at may have more steps, and those behind it were not looked at.
        let mark = builder.label(NOT_EXPLORED);
        for state in (next.saturating_sub(1)..states).map(StateId::new) {
            builder.add(state, mark, state);
        }
    }
    let lts = builder.finish().expect("tuples are numbered with 32 bits").reachable();
    Composition { lts, complete, unmatched: flat.unmatched.clone() }
}

/// For each part of a vector, the range of edges that can do it: `(first, current, end)`.
fn possible_choices(
    flat: &Flat,
    vector: &Vector,
    state: &[StateId],
    choice: &mut Vec<(usize, usize, usize)>,
) -> bool {
    choice.clear();
    for &(leaf, label) in &vector.parts {
        let (start, end) = edges_with(&flat.leaves[leaf], state[leaf], label);
        if start == end {
            return false;
        }
        choice.push((start, start, end));
    }
    true
}

/// Steps to the next combination of edges, the last part fastest.
fn next_choice(choice: &mut [(usize, usize, usize)]) -> bool {
    for (first, current, end) in choice.iter_mut().rev() {
        *current += 1;
        if *current < *end {
            return true;
        }
        *current = *first;
    }
    false
}

/// The edges of a state with a label: they lie side by side.
fn edges_with(lts: &Lts, state: StateId, label: LabelId) -> (usize, usize) {
    let range = lts.edge_range(state);
    let row = &lts.edges()[range.clone()];
    let start = row.partition_point(|edge| edge.label < label);
    let end = start + row[start..].partition_point(|edge| edge.label == label);
    (range.start + start, range.start + end)
}

/// The vectors by their first part.
struct VectorIndex {
    /// For each leaf and label, where its vectors start in `order`.
    starts: Vec<Vec<u32>>,
    order: Vec<u32>,
}

impl VectorIndex {
    fn new(flat: &Flat) -> Self {
        let mut order: Vec<u32> = (0..flat.vectors.len() as u32).collect();
        let first = |index: u32| flat.vectors[index as usize].parts[0];
        order.sort_by_key(|&index| first(index));
        let starts = flat
            .leaves
            .iter()
            .enumerate()
            .map(|(leaf, lts)| {
                (0..=lts.labels().len())
                    .map(|label| {
                        order.partition_point(|&index| first(index) < (leaf, LabelId::new(label))) as u32
                    })
                    .collect()
            })
            .collect();
        Self { starts, order }
    }

    /// The vectors whose first part can happen in a state.
    fn enabled<'a>(&'a self, flat: &'a Flat, state: &'a [StateId]) -> impl Iterator<Item = &'a Vector> {
        flat.leaves.iter().enumerate().flat_map(move |(leaf, lts)| {
            let row = lts.outgoing(state[leaf]);
            let labels = row.chunk_by(|a: &Edge, b: &Edge| a.label == b.label).map(|group| group[0].label);
            labels.flat_map(move |label| {
                let starts = &self.starts[leaf];
                let range = starts[label.index()] as usize..starts[label.index() + 1] as usize;
                self.order[range].iter().map(|&index| &flat.vectors[index as usize])
            })
        })
    }
}

/// Where each leaf's state lies in a packed tuple.
struct Packing {
    fields: Vec<Field>,
    words: usize,
}

struct Field {
    word: usize,
    shift: u32,
    mask: u32,
}

impl Packing {
    fn of(leaves: &[std::sync::Arc<Lts>]) -> Self {
        let (mut word, mut used) = (0, 0);
        let fields = leaves
            .iter()
            .map(|leaf| {
                let bits = u32::BITS - (leaf.state_count() as u32 - 1).leading_zeros();
                if used + bits > u32::BITS {
                    (word, used) = (word + 1, 0);
                }
                let field = Field { word, shift: used.min(31), mask: (1u64 << bits).wrapping_sub(1) as u32 };
                used += bits;
                field
            })
            .collect();
        Self { fields, words: word + 1 }
    }

    fn pack(&self, state: &[StateId], row: &mut [u32]) {
        row.fill(0);
        for (field, state) in self.fields.iter().zip(state) {
            row[field.word] |= state.raw() << field.shift;
        }
    }

    fn unpack(&self, row: &[u32], state: &mut [StateId]) {
        for (field, state) in self.fields.iter().zip(state) {
            *state = StateId::from_raw((row[field.word] >> field.shift) & field.mask);
        }
    }
}
