//! Building an [`Lts`]: transitions in any order, sorted and deduplicated in linear memory.
//!
//! Transitions are kept as 12-byte triples. Those that arrive in the order of their source states stay where they are;
//! others are spread by a counting sort.

use crate::ids::{LabelId, OriginId, StateId};
use crate::label::Labels;
use crate::lts::{Edge, Lts};

/// More states, transitions or labels than 32-bit indices can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the transition system has more than 4,294,967,294 {0}")]
pub struct TooLarge(pub &'static str);

/// Collects labels and transitions of a system under construction.
///
/// ```
/// use lts::{LtsBuilder, StateId};
/// let mut builder = LtsBuilder::new();
/// let a = builder.label("A");
/// builder.add(StateId::new(1), a, StateId::new(0));
/// builder.add(StateId::new(0), a, StateId::new(1));
/// builder.add(StateId::new(0), a, StateId::new(1));
/// assert_eq!(builder.finish()?.transition_count(), 2);
/// # Ok::<(), lts::TooLarge>(())
/// ```
pub struct LtsBuilder {
    labels: Labels,
    initial: StateId,
    /// One past the largest state named so far.
    states: usize,
    sources: Vec<StateId>,
    edges: Vec<Edge>,
    origins: Option<Vec<OriginId>>,
}

impl Default for LtsBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl LtsBuilder {
    /// A system with one state, 0, which is its initial state.
    pub fn new() -> Self {
        Self::with_labels(Labels::new())
    }

    /// As [`new`](Self::new), with a label table to start from.
    pub fn with_labels(labels: Labels) -> Self {
        Self {
            labels,
            initial: StateId::new(0),
            states: 1,
            sources: Vec::new(),
            edges: Vec::new(),
            origins: None,
        }
    }

    /// The label with this text, added if it is new.
    pub fn label(&mut self, text: &str) -> LabelId {
        self.labels.intern(text)
    }

    /// Chooses the initial state.
    pub fn set_initial(&mut self, state: StateId) {
        self.initial = state;
        self.reserve_states(state.index() + 1);
    }

    /// Makes sure that there are at least `count` states, even if no transition names them.
    pub fn reserve_states(&mut self, count: usize) {
        self.states = self.states.max(count);
    }

    /// Adds a transition.
    #[inline]
    pub fn add(&mut self, source: StateId, label: LabelId, target: StateId) {
        debug_assert!(self.origins.is_none(), "either every transition has an origin or none has");
        self.push(source, label, target);
    }

    /// Adds a transition with its origin. Either every transition has one or none has.
    #[inline]
    pub fn add_with_origin(&mut self, source: StateId, label: LabelId, target: StateId, origin: OriginId) {
        let origins = self.origins.get_or_insert_default();
        debug_assert_eq!(
            origins.len(),
            self.edges.len(),
            "either every transition has an origin or none has"
        );
        origins.push(origin);
        self.push(source, label, target);
    }

    #[inline]
    fn push(&mut self, source: StateId, label: LabelId, target: StateId) {
        self.states = self.states.max(source.index() + 1).max(target.index() + 1);
        self.sources.push(source);
        self.edges.push(Edge { label, target });
    }

    /// How many transitions were added.
    pub fn transition_count(&self) -> usize {
        self.edges.len()
    }

    /// The finished system. Of equal transitions the first keeps its origin.
    pub fn finish(self) -> Result<Lts, TooLarge> {
        self.finish_with(|first, _| first)
    }

    /// The finished system; the origins of equal transitions are merged by `union`.
    pub fn finish_with(self, mut union: impl FnMut(OriginId, OriginId) -> OriginId) -> Result<Lts, TooLarge> {
        if self.states > u32::MAX as usize {
            return Err(TooLarge("states"));
        }
        if self.edges.len() >= u32::MAX as usize {
            return Err(TooLarge("transitions"));
        }
        let Self { labels, initial, states, sources, edges, origins } = self;
        let mut offsets = count_sources(states, &sources);
        let (mut edges, mut origins) = spread(&offsets, sources, edges, origins);
        sort_all_rows(&mut offsets, &mut edges, origins.as_mut(), &mut union);
        Ok(Lts::from_parts(initial, offsets, edges, origins, labels))
    }
}

impl Lts {
    /// A system from rows that are not sorted yet and may name a transition twice: those of state `s` are
    /// `edges[offsets[s]..offsets[s + 1]]`. The initial state is 0; the origins of equal transitions are merged by
    /// `union`. For algorithms that produce rows in order, without the cost of a builder.
    ///
    /// ```
    /// use lts::{Edge, LabelId, Labels, Lts, StateId};
    /// let step = Edge { label: LabelId::TAU, target: StateId::new(1) };
    /// let lts = Lts::from_loose_rows(vec![0, 2, 2], vec![step, step], None, Labels::new(), |first, _| first);
    /// assert_eq!(lts.outgoing(StateId::new(0)), [step]);
    /// ```
    pub fn from_loose_rows(
        mut offsets: Vec<u32>,
        mut edges: Vec<Edge>,
        mut origins: Option<Vec<OriginId>>,
        labels: Labels,
        mut union: impl FnMut(OriginId, OriginId) -> OriginId,
    ) -> Self {
        sort_all_rows(&mut offsets, &mut edges, origins.as_mut(), &mut union);
        Lts::from_parts(StateId::new(0), offsets, edges, origins, labels)
    }
}

/// Sorts every row and merges equal transitions.
fn sort_all_rows(
    offsets: &mut [u32],
    edges: &mut Vec<Edge>,
    origins: Option<&mut Vec<OriginId>>,
    union: &mut impl FnMut(OriginId, OriginId) -> OriginId,
) {
    match origins {
        Some(origins) => sort_rows_with_origins(offsets, edges, origins, union),
        None => Lts::sort_rows(offsets, edges),
    }
}

/// The offsets of the rows: how many transitions leave the states before each.
fn count_sources(states: usize, sources: &[StateId]) -> Vec<u32> {
    let mut offsets = vec![0u32; states + 1];
    for source in sources {
        offsets[source.index() + 1] += 1;
    }
    for index in 1..offsets.len() {
        offsets[index] += offsets[index - 1];
    }
    offsets
}

/// Brings the edges into the order of their sources: nothing to do where they came so.
fn spread(
    offsets: &[u32],
    sources: Vec<StateId>,
    edges: Vec<Edge>,
    origins: Option<Vec<OriginId>>,
) -> (Vec<Edge>, Option<Vec<OriginId>>) {
    if sources.is_sorted() {
        return (edges, origins);
    }
    let mut next = offsets[..offsets.len() - 1].to_vec();
    let mut spread_edges = vec![Edge { label: LabelId::TAU, target: StateId::new(0) }; edges.len()];
    let mut spread_origins = origins.as_ref().map(|origins| vec![OriginId::default(); origins.len()]);
    for (at, source) in sources.into_iter().enumerate() {
        let place = next[source.index()] as usize;
        next[source.index()] += 1;
        spread_edges[place] = edges[at];
        if let (Some(to), Some(from)) = (&mut spread_origins, &origins) {
            to[place] = from[at];
        }
    }
    (spread_edges, spread_origins)
}

/// Sorts the rows with their origins and merges the origins of equal edges.
fn sort_rows_with_origins(
    offsets: &mut [u32],
    edges: &mut Vec<Edge>,
    origins: &mut Vec<OriginId>,
    union: &mut impl FnMut(OriginId, OriginId) -> OriginId,
) {
    let mut row: Vec<(Edge, OriginId)> = Vec::new();
    let (mut start, mut kept) = (0, 0);
    for state in 0..offsets.len() - 1 {
        let end = offsets[state + 1] as usize;
        row.clear();
        row.extend(edges[start..end].iter().copied().zip(origins[start..end].iter().copied()));
        // Stable, so that equal edges are merged in the order they came.
        row.sort_by_key(|&(edge, _)| edge);
        let row_start = kept;
        for &(edge, origin) in &row {
            if kept > row_start && edges[kept - 1] == edge {
                origins[kept - 1] = union(origins[kept - 1], origin);
            } else {
                edges[kept] = edge;
                origins[kept] = origin;
                kept += 1;
            }
        }
        start = end;
        offsets[state + 1] = kept as u32;
    }
    edges.truncate(kept);
    origins.truncate(kept);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(index: usize) -> StateId {
        StateId::new(index)
    }

    #[test]
    fn rows_are_sorted_and_unique_whatever_the_order_of_arrival() {
        let mut builder = LtsBuilder::new();
        let (a, b) = (builder.label("A"), builder.label("B"));
        for (source, label, target) in [(2, b, 0), (0, b, 1), (2, a, 1), (2, b, 0), (0, a, 2), (2, a, 0)] {
            builder.add(state(source), label, state(target));
        }
        let lts = builder.finish().unwrap();
        let all: Vec<_> = lts.transitions().map(|t| (t.source.index(), t.label, t.target.index())).collect();
        assert_eq!(all, [(0, a, 2), (0, b, 1), (2, a, 0), (2, a, 1), (2, b, 0)]);
        assert!(lts.outgoing(state(1)).is_empty());
    }

    #[test]
    fn origins_follow_their_transitions_and_are_merged() {
        let mut builder = LtsBuilder::new();
        let a = builder.label("A");
        let origin = OriginId::new;
        builder.add_with_origin(state(1), a, state(0), origin(7));
        builder.add_with_origin(state(0), a, state(1), origin(1));
        builder.add_with_origin(state(0), a, state(0), origin(2));
        builder.add_with_origin(state(0), a, state(1), origin(4));
        let lts = builder.finish_with(|a, b| origin(a.index() + b.index())).unwrap();
        assert_eq!(lts.origins().unwrap(), [origin(2), origin(5), origin(7)]);
    }

    #[test]
    fn states_without_transitions_are_kept() {
        let mut builder = LtsBuilder::new();
        builder.reserve_states(4);
        builder.set_initial(state(2));
        let lts = builder.finish().unwrap();
        assert_eq!((lts.state_count(), lts.initial()), (4, state(2)));
        assert_eq!(lts.deadlocks().count(), 4);
    }
}
