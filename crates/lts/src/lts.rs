//! The compact immutable transition system: 8 bytes a transition, 4 bytes a state.

use std::fmt;
use std::ops::Range;

use rayon::prelude::*;

use crate::ids::{LabelId, OriginId, StateId};
use crate::label::Labels;

/// The end of a transition: its label and where it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Edge {
    /// What happens.
    pub label: LabelId,
    /// The state after it.
    pub target: StateId,
}

/// A whole transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Transition {
    /// The state before it.
    pub source: StateId,
    /// What happens.
    pub label: LabelId,
    /// The state after it.
    pub target: StateId,
}

/// A labelled transition system with at least its initial state.
///
/// The transitions of a state lie side by side, sorted by label and target, no two of them equal. Built by
/// [`LtsBuilder`](crate::LtsBuilder), never changed afterwards.
#[derive(Clone)]
pub struct Lts {
    initial: StateId,
    /// Where the transitions of each state start in `edges`; one entry more than there are states.
    offsets: Vec<u32>,
    edges: Vec<Edge>,
    /// One origin a transition, or none at all.
    origins: Option<Vec<OriginId>>,
    labels: Labels,
}

impl Lts {
    /// Puts the parts together; the builder guarantees the order of the edges.
    pub(crate) fn from_parts(
        initial: StateId,
        offsets: Vec<u32>,
        edges: Vec<Edge>,
        origins: Option<Vec<OriginId>>,
        labels: Labels,
    ) -> Self {
        debug_assert!(initial.index() + 1 < offsets.len());
        debug_assert_eq!(offsets.last().map(|&end| end as usize), Some(edges.len()));
        debug_assert!(origins.as_ref().is_none_or(|origins| origins.len() == edges.len()));
        Self { initial, offsets, edges, origins, labels }
    }

    /// A system from finished rows: the transitions of state `s` are `edges[offsets[s]..offsets[s + 1]]`, sorted
    /// by label and target, no two of them equal. For algorithms that produce rows in order, without the cost of
    /// a builder.
    ///
    /// ```
    /// use lts::{Edge, LabelId, Labels, Lts, StateId};
    /// let step = Edge { label: LabelId::TAU, target: StateId::new(1) };
    /// let lts = Lts::from_rows(StateId::new(0), vec![0, 1, 1], vec![step], Labels::new());
    /// assert_eq!(lts.outgoing(StateId::new(0)), [step]);
    /// ```
    pub fn from_rows(initial: StateId, offsets: Vec<u32>, edges: Vec<Edge>, labels: Labels) -> Self {
        debug_assert!(
            offsets
                .windows(2)
                .all(|row| { edges[row[0] as usize..row[1] as usize].is_sorted_by(|one, next| one < next) })
        );
        Self::from_parts(initial, offsets, edges, None, labels)
    }

    /// The state in which everything begins.
    pub fn initial(&self) -> StateId {
        self.initial
    }

    /// How many states there are; at least one.
    pub fn state_count(&self) -> usize {
        self.offsets.len() - 1
    }

    /// How many transitions there are.
    pub fn transition_count(&self) -> usize {
        self.edges.len()
    }

    /// The label table; it may hold labels that no transition carries.
    pub fn labels(&self) -> &Labels {
        &self.labels
    }

    /// The text of a label.
    pub fn label(&self, label: LabelId) -> &str {
        self.labels.text(label)
    }

    /// All states, in order.
    pub fn states(&self) -> impl DoubleEndedIterator<Item = StateId> + ExactSizeIterator + use<> {
        (0..self.state_count()).map(StateId::new)
    }

    /// The transitions that leave a state, sorted by label and target.
    #[inline]
    pub fn outgoing(&self, state: StateId) -> &[Edge] {
        &self.edges[self.edge_range(state)]
    }

    /// Where [`outgoing`](Self::outgoing) lies in [`edges`](Self::edges).
    #[inline]
    pub fn edge_range(&self, state: StateId) -> Range<usize> {
        self.offsets[state.index()] as usize..self.offsets[state.index() + 1] as usize
    }

    /// All transitions by source state; their positions are the indices used by [`origin`](Self::origin).
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// Where a transition comes from, by its position in [`edges`](Self::edges).
    pub fn origin(&self, edge: usize) -> Option<OriginId> {
        self.origins.as_ref().map(|origins| origins[edge])
    }

    /// The origins of all transitions, where they were recorded.
    pub fn origins(&self) -> Option<&[OriginId]> {
        self.origins.as_deref()
    }

    /// All transitions with their sources, in order.
    pub fn transitions(&self) -> impl Iterator<Item = Transition> {
        self.states().flat_map(|source| {
            self.outgoing(source).iter().map(move |edge| Transition {
                source,
                label: edge.label,
                target: edge.target,
            })
        })
    }

    /// Which labels are carried by at least one transition.
    pub fn used_labels(&self) -> Vec<bool> {
        let mut used = vec![false; self.labels.len()];
        for edge in &self.edges {
            used[edge.label.index()] = true;
        }
        used
    }

    /// The states without outgoing transitions.
    pub fn deadlocks(&self) -> impl Iterator<Item = StateId> {
        self.states().filter(|&state| self.outgoing(state).is_empty())
    }

    /// The reverse index: who leads to a state. Costs 8 bytes a transition and 4 a state while it is kept.
    pub fn incoming(&self) -> Incoming {
        let mut offsets = vec![0u32; self.state_count() + 1];
        for edge in &self.edges {
            offsets[edge.target.index() + 1] += 1;
        }
        for index in 1..offsets.len() {
            offsets[index] += offsets[index - 1];
        }
        let mut next = offsets.clone();
        let blank = Edge { label: LabelId::TAU, target: StateId::new(0) };
        let mut edges = vec![blank; self.edges.len()];
        for transition in self.transitions() {
            let place = &mut next[transition.target.index()];
            edges[*place as usize] = Edge { label: transition.label, target: transition.source };
            *place += 1;
        }
        Incoming { offsets, edges }
    }

    /// The memory that the transitions take, in bytes.
    pub fn heap_bytes(&self) -> usize {
        self.offsets.capacity() * 4
            + self.edges.capacity() * 8
            + self.origins.as_ref().map_or(0, |origins| origins.capacity() * 4)
    }

    /// The same system with its labels mapped through `map`, for operations that only change labels.
    ///
    /// Transitions that become equal are merged; their origins become that of the first.
    pub(crate) fn relabelled(&self, labels: Labels, map: &[LabelId]) -> Lts {
        let mut offsets = Vec::with_capacity(self.offsets.len());
        let mut edges: Vec<Edge> = Vec::with_capacity(self.edges.len());
        let mut origins = self.origins.as_ref().map(|origins| Vec::with_capacity(origins.len()));
        let mut row: Vec<(Edge, usize)> = Vec::new();
        offsets.push(0);
        for state in self.states() {
            row.clear();
            row.extend(self.edge_range(state).map(|at| {
                let edge = self.edges[at];
                (Edge { label: map[edge.label.index()], target: edge.target }, at)
            }));
            row.sort_unstable();
            row.dedup_by_key(|&mut (edge, _)| edge);
            edges.extend(row.iter().map(|&(edge, _)| edge));
            if let (Some(to), Some(from)) = (&mut origins, &self.origins) {
                to.extend(row.iter().map(|&(_, at)| from[at]));
            }
            offsets.push(edges.len() as u32);
        }
        Lts::from_parts(self.initial, offsets, edges, origins, labels)
    }

    /// Sorts every row of a freshly filled edge array and removes repeated edges, in parallel.
    pub(crate) fn sort_rows(offsets: &mut [u32], edges: &mut Vec<Edge>) {
        if edges.is_empty() {
            return;
        }
        let mut rows: Vec<&mut [Edge]> = Vec::new();
        // Rows are handed out in blocks: one task a state would drown in scheduling.
        const BLOCK: usize = 1 << 14;
        let mut rest = edges.as_mut_slice();
        let mut consumed = 0;
        let states = offsets.len() - 1;
        for first in (0..states).step_by(BLOCK) {
            let end = offsets[(first + BLOCK).min(states)] as usize;
            let (block, tail) = rest.split_at_mut(end - consumed);
            rows.push(block);
            rest = tail;
            consumed = end;
        }
        let repeats: bool = rows
            .into_par_iter()
            .enumerate()
            .map(|(index, block)| {
                let first = index * BLOCK;
                let base = offsets[first] as usize;
                let mut repeats = false;
                for state in first..(first + BLOCK).min(states) {
                    let row = &mut block[offsets[state] as usize - base..offsets[state + 1] as usize - base];
                    if !row.is_sorted() {
                        row.sort_unstable();
                    }
                    repeats |= row.windows(2).any(|pair| pair[0] == pair[1]);
                }
                repeats
            })
            .reduce(|| false, |a, b| a | b);
        if repeats {
            dedup_rows(offsets, edges);
        }
    }
}

/// In AUT format, so that a failing test shows a system that can be tried by hand.
impl fmt::Debug for Lts {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Vec::new();
        crate::aut::write_aut(self, &mut text).map_err(|_| fmt::Error)?;
        out.write_str(&String::from_utf8_lossy(&text))
    }
}

/// Removes repeated edges of sorted rows, in place.
fn dedup_rows(offsets: &mut [u32], edges: &mut Vec<Edge>) {
    let mut kept = 0;
    let mut start = 0;
    for state in 0..offsets.len() - 1 {
        let end = offsets[state + 1] as usize;
        let row_start = kept;
        for at in start..end {
            if kept == row_start || edges[kept - 1] != edges[at] {
                edges[kept] = edges[at];
                kept += 1;
            }
        }
        start = end;
        offsets[state + 1] = kept as u32;
    }
    edges.truncate(kept);
}

/// The reverse index of an [`Lts`]: for every state, the transitions that lead to it.
pub struct Incoming {
    offsets: Vec<u32>,
    edges: Vec<Edge>,
}

impl Incoming {
    /// The transitions into `state`, in the order of their sources; here `target` names the source.
    #[inline]
    pub fn of(&self, state: StateId) -> &[Edge] {
        &self.edges[self.offsets[state.index()] as usize..self.offsets[state.index() + 1] as usize]
    }
}
