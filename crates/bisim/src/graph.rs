//! What the refinement algorithms see of a transition system: rows of edges, and on demand who leads where.

use lts::{Edge, LabelId, Lts, StateId};

/// Rows of labelled edges, one row a state. States are dense numbers from 0.
pub(crate) trait Graph: Sync {
    /// How many states there are.
    fn state_count(&self) -> usize;
    /// How many edges there are.
    fn edge_count(&self) -> usize;
    /// The edges that leave a state, sorted by label and target.
    fn row(&self, state: u32) -> &[Edge];
}

impl Graph for Lts {
    fn state_count(&self) -> usize {
        Lts::state_count(self)
    }

    fn edge_count(&self) -> usize {
        self.transition_count()
    }

    #[inline]
    fn row(&self, state: u32) -> &[Edge] {
        self.outgoing(StateId::from_raw(state))
    }
}

/// The internal edges of a row: they come first, because the internal action is label 0.
#[inline]
pub(crate) fn silent(row: &[Edge]) -> &[Edge] {
    let end = row.iter().position(|edge| !edge.label.is_tau()).unwrap_or(row.len());
    &row[..end]
}

/// Whether a row has an internal edge to `target`.
#[inline]
pub(crate) fn has_silent_edge(row: &[Edge], target: u32) -> bool {
    let edge = Edge { label: LabelId::TAU, target: StateId::from_raw(target) };
    if row.len() < 16 { row.contains(&edge) } else { row.binary_search(&edge).is_ok() }
}

/// For every state the sources of the edges into it, without their labels: half the size of
/// [`Lts::incoming`], 4 bytes an edge and 4 a state.
pub(crate) struct Sources {
    offsets: Vec<u32>,
    sources: Vec<u32>,
}

impl Sources {
    /// Turns all edges of `graph` round.
    pub(crate) fn of(graph: &impl Graph) -> Self {
        let states = graph.state_count();
        let mut offsets = vec![0u32; states + 1];
        for state in 0..states as u32 {
            for edge in graph.row(state) {
                offsets[edge.target.index() + 1] += 1;
            }
        }
        for index in 1..offsets.len() {
            offsets[index] += offsets[index - 1];
        }
        // Filled from the last edge of each row to its first, `offsets` moves back to where rows begin, so
        // that no second array of positions is needed.
        offsets.rotate_left(1);
        let total = offsets[..states].last().copied().unwrap_or(0);
        let mut sources = vec![0u32; total as usize];
        for state in (0..states as u32).rev() {
            for edge in graph.row(state) {
                let place = &mut offsets[edge.target.index()];
                *place -= 1;
                sources[*place as usize] = state;
            }
        }
        offsets[states] = total;
        Self { offsets, sources }
    }

    /// The states with an edge to `target`, in increasing order, once for each edge.
    #[inline]
    pub(crate) fn leading_to(&self, target: u32) -> &[u32] {
        let at = target as usize;
        &self.sources[self.offsets[at] as usize..self.offsets[at + 1] as usize]
    }
}

/// A set of states, one bit each.
pub(crate) struct StateSet {
    words: Vec<u64>,
}

impl StateSet {
    /// The empty set over `states` states.
    pub(crate) fn new(states: usize) -> Self {
        Self { words: vec![0; states.div_ceil(64)] }
    }

    /// The set of the given states.
    pub(crate) fn from_states(states: usize, members: &[u32]) -> Self {
        let mut set = Self::new(states);
        members.iter().for_each(|&state| {
            set.insert(state);
        });
        set
    }

    #[inline]
    pub(crate) fn contains(&self, state: u32) -> bool {
        self.words[(state >> 6) as usize] >> (state & 63) & 1 != 0
    }

    /// Adds a state; says whether it is new.
    #[inline]
    pub(crate) fn insert(&mut self, state: u32) -> bool {
        let word = &mut self.words[(state >> 6) as usize];
        let bit = 1u64 << (state & 63);
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    #[inline]
    pub(crate) fn remove(&mut self, state: u32) {
        self.words[(state >> 6) as usize] &= !(1u64 << (state & 63));
    }
}
