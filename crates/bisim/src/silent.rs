//! Cycles of internal steps collapsed to single states, in an order in which internal steps go downwards.
//!
//! States on one internal cycle are branching bisimilar, and without such cycles signatures can be computed
//! inductively. `O(n + m)`, 4 bytes a state. Where no cycle has several states, which is common, nothing is
//! copied; otherwise only the edges of states on cycles are.

use lts::{Edge, LabelId, Lts, StateId};

use rustc_hash::FxHashMap;

use crate::graph::{Graph, StateSet};

/// A transition system without internal cycles other than loops; a loop marks a state that can go on
/// internally for ever.
///
/// The states are those of the original. One state of each internal cycle stands for all and has the edges of
/// all; the others have one internal edge, to that state, which makes them bisimilar to it.
pub(crate) struct Acyclic<'a> {
    lts: &'a Lts,
    ranks: Vec<u32>,
    /// The states on internal cycles of several states and their rows here.
    on_cycles: StateSet,
    rows: FxHashMap<u32, Vec<Edge>>,
}

impl<'a> Acyclic<'a> {
    /// Collapses the internal cycles of `lts`.
    pub(crate) fn of(lts: &'a Lts) -> Self {
        let components = lts.components(|_, edge| edge.label.is_tau());
        let mut ranks: Vec<u32> = lts.states().map(|state| components.of(state) as u32).collect();
        let components = components.count;
        let mut on_cycles = StateSet::new(lts.state_count());
        let mut rows = FxHashMap::default();
        if components < lts.state_count() {
            rows = collapse(lts, &mut ranks, components);
            rows.keys().for_each(|&state| {
                on_cycles.insert(state);
            });
        }
        Self { lts, ranks, on_cycles, rows }
    }

    /// A number that is lower at the end of every internal edge than at its start, loops aside.
    #[inline]
    pub(crate) fn rank(&self, state: u32) -> u32 {
        self.ranks[state as usize]
    }

    /// All states by rank.
    pub(crate) fn by_rank(&self) -> Vec<u32> {
        let mut order = vec![0; self.ranks.len()];
        for (state, &rank) in self.ranks.iter().enumerate() {
            order[rank as usize] = state as u32;
        }
        order
    }
}

impl Graph for Acyclic<'_> {
    fn state_count(&self) -> usize {
        self.lts.state_count()
    }

    fn edge_count(&self) -> usize {
        self.lts.transition_count()
    }

    #[inline]
    fn row(&self, state: u32) -> &[Edge] {
        if !self.rows.is_empty() && self.on_cycles.contains(state) {
            return &self.rows[&state];
        }
        self.lts.outgoing(StateId::from_raw(state))
    }
}

/// The rows of the states on cycles; turns the component numbers in `ranks` into ranks.
fn collapse(lts: &Lts, ranks: &mut [u32], components: usize) -> FxHashMap<u32, Vec<Edge>> {
    let mut starts = vec![0u32; components + 1];
    for &component in &*ranks {
        starts[component as usize + 1] += 1;
    }
    for index in 1..starts.len() {
        starts[index] += starts[index - 1];
    }
    let mut members: Vec<u32> = (0..ranks.len() as u32).collect();
    members.sort_by_key(|&state| ranks[state as usize]);
    let mut rows = FxHashMap::default();
    for range in starts.windows(2).filter(|range| range[1] - range[0] > 1) {
        let cycle = &members[range[0] as usize..range[1] as usize];
        let mut row = Vec::new();
        for &member in cycle {
            row.extend(lts.outgoing(StateId::from_raw(member)).iter().map(|&edge| {
                let target = ranks[edge.target.index()];
                let first = members[starts[target as usize] as usize];
                Edge { label: edge.label, target: StateId::from_raw(first) }
            }));
        }
        row.sort_unstable();
        row.dedup();
        row.shrink_to_fit();
        rows.insert(cycle[0], row);
        let to_first = Edge { label: LabelId::TAU, target: StateId::from_raw(cycle[0]) };
        rows.extend(cycle[1..].iter().map(|&member| (member, vec![to_first])));
    }
    for (rank, &state) in members.iter().enumerate() {
        ranks[state as usize] = rank as u32;
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::has_silent_edge;
    use lts::LtsBuilder;

    fn silent_graph(edges: &[(usize, usize)], states: usize) -> Lts {
        let mut builder = LtsBuilder::new();
        builder.reserve_states(states);
        for &(source, target) in edges {
            builder.add(StateId::new(source), LabelId::TAU, StateId::new(target));
        }
        builder.finish().unwrap()
    }

    #[test]
    fn cycles_become_one_state_with_a_loop() {
        let lts = silent_graph(&[(0, 1), (1, 2), (2, 1), (2, 3), (4, 0), (3, 3)], 5);
        let acyclic = Acyclic::of(&lts);
        let has_edge = |source, target| has_silent_edge(acyclic.row(source), target);
        assert!(has_edge(1, 1) && has_edge(1, 3) && !has_edge(1, 2));
        assert_eq!(acyclic.row(2).len(), 1);
        assert!(has_edge(2, 1) && has_edge(3, 3) && !has_edge(0, 0));
        assert_eq!([3, 1, 2, 0, 4].map(|state| acyclic.rank(state)), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn a_million_silent_steps_need_no_deep_stack() {
        let edges: Vec<_> = (0..1_000_000).map(|state| (state, state + 1)).collect();
        let lts = silent_graph(&edges, 1_000_001);
        let acyclic = Acyclic::of(&lts);
        assert_eq!((acyclic.state_count(), acyclic.rank(1_000_000)), (1_000_001, 0));
    }
}
