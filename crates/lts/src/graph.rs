//! The transition system as a graph: reachable part, components, divergence, shortest paths.

use std::collections::VecDeque;
use std::ops::Range;

use crate::ids::{LabelId, StateId};
use crate::label::Labels;
use crate::lts::{Edge, Lts, Transition};

/// No state, in arrays of raw state numbers.
const NONE: u32 = u32::MAX;

impl Lts {
    /// The part that can be reached from the initial state, states numbered breadth first from 0 and labels by
    /// first use: the normal form of everything that is written out.
    ///
    /// ```
    /// let lts = lts::parse_aut("des (2, 2, 3)\n(2, A, 0)\n(1, B, 0)\n", &Default::default())?;
    /// let part = lts.reachable();
    /// assert_eq!((part.state_count(), part.transition_count(), part.initial().index()), (2, 1, 0));
    /// # Ok::<(), lts::AutError>(())
    /// ```
    pub fn reachable(&self) -> Lts {
        self.reachable_through(|_, _| true)
    }

    /// As [`reachable`](Self::reachable), over the transitions that `keep` accepts, given source and edge.
    pub fn reachable_through(&self, keep: impl Fn(StateId, Edge) -> bool) -> Lts {
        let mut number = vec![NONE; self.state_count()];
        let mut order = vec![self.initial()];
        number[self.initial().index()] = 0;
        let mut labels = Labels::new();
        let mut label_number = vec![NONE; self.labels().len()];
        label_number[LabelId::TAU.index()] = LabelId::TAU.raw();
        let (mut offsets, mut edges) = (vec![0u32], Vec::new());
        let mut origins = self.origins().map(|_| Vec::new());
        let mut row: Vec<(Edge, usize)> = Vec::new();
        let mut next = 0;
        while next < order.len() {
            let state = order[next];
            next += 1;
            row.clear();
            for at in self.edge_range(state) {
                let edge = self.edges()[at];
                if keep(state, edge) {
                    let label = &mut label_number[edge.label.index()];
                    if *label == NONE {
                        *label = labels.intern(self.label(edge.label)).raw();
                    }
                    row.push((Edge { label: LabelId::from_raw(*label), target: edge.target }, at));
                }
            }
            // Targets are discovered in the order of the new labels, so that doing it again changes nothing.
            row.sort_unstable();
            for (edge, _) in &mut row {
                let target = &mut number[edge.target.index()];
                if *target == NONE {
                    *target = order.len() as u32;
                    order.push(edge.target);
                }
                edge.target = StateId::from_raw(*target);
            }
            row.sort_unstable();
            edges.extend(row.iter().map(|&(edge, _)| edge));
            if let (Some(to), Some(from)) = (&mut origins, self.origins()) {
                to.extend(row.iter().map(|&(_, at)| from[at]));
            }
            offsets.push(edges.len() as u32);
        }
        Lts::from_parts(StateId::new(0), offsets, edges, origins, labels)
    }

    /// The strongly connected components over the transitions that `keep` accepts.
    pub fn components(&self, keep: impl Fn(StateId, Edge) -> bool) -> Components {
        tarjan(
            self.state_count(),
            |state| self.edge_range(StateId::new(state)),
            |state, edge| {
                let edge = self.edges()[edge];
                keep(StateId::new(state), edge).then_some(edge.target.index())
            },
        )
    }

    /// The states from which the system can do internal steps forever without leaving their component: those on
    /// a cycle of internal actions.
    pub fn divergent_states(&self) -> Vec<StateId> {
        let components = self.components(|_, edge| edge.label.is_tau());
        let mut divergent = vec![false; components.count];
        for transition in self.transitions().filter(|transition| transition.label.is_tau()) {
            let component = components.of(transition.source);
            if component == components.of(transition.target) {
                divergent[component] = true;
            }
        }
        self.states().filter(|&state| divergent[components.of(state)]).collect()
    }

    /// A shortest sequence of transitions from `from` to a state that `goal` accepts.
    ///
    /// ```
    /// let lts = lts::parse_aut("des (0, 3, 3)\n(0, A, 1)\n(1, B, 2)\n(0, C, 0)\n", &Default::default())?;
    /// let path = lts.shortest_path(lts.initial(), |state| state.index() == 2).unwrap();
    /// assert_eq!(path.iter().map(|step| lts.label(step.label)).collect::<Vec<_>>(), ["A", "B"]);
    /// # Ok::<(), lts::AutError>(())
    /// ```
    pub fn shortest_path(&self, from: StateId, goal: impl Fn(StateId) -> bool) -> Option<Vec<Transition>> {
        let mut before = vec![NONE; self.state_count()];
        let mut queue = VecDeque::from([from]);
        before[from.index()] = from.raw();
        while let Some(state) = queue.pop_front() {
            if goal(state) {
                return Some(self.walk_back(from, state, &before));
            }
            for edge in self.outgoing(state) {
                let place = &mut before[edge.target.index()];
                if *place == NONE {
                    *place = state.raw();
                    queue.push_back(edge.target);
                }
            }
        }
        None
    }

    /// The path to `end` along the predecessors in `before`, taking the first edge between two states.
    fn walk_back(&self, start: StateId, end: StateId, before: &[u32]) -> Vec<Transition> {
        let mut path = Vec::new();
        let mut target = end;
        while target != start {
            let source = StateId::from_raw(before[target.index()]);
            let edge = self.outgoing(source).iter().find(|edge| edge.target == target);
            let label = edge.expect("the predecessor has an edge to its successor").label;
            path.push(Transition { source, label, target });
            target = source;
        }
        path.reverse();
        path
    }

    /// How many transitions each state is away from the initial one; `None` for those it can't reach.
    pub fn distances(&self) -> Vec<Option<u32>> {
        let mut distance = vec![None; self.state_count()];
        distance[self.initial().index()] = Some(0);
        let mut queue = VecDeque::from([(self.initial(), 0)]);
        while let Some((state, here)) = queue.pop_front() {
            for edge in self.outgoing(state) {
                if distance[edge.target.index()].is_none() {
                    distance[edge.target.index()] = Some(here + 1);
                    queue.push_back((edge.target, here + 1));
                }
            }
        }
        distance
    }

    /// The labels of a system that is a single run, gone through once, and where the part starts that it repeats.
    /// Nothing for a system that branches.
    ///
    /// ```
    /// let lasso = lts::parse_aut("des (0, 3, 3)\n(0, A, 1)\n(1, B, 2)\n(2, C, 1)\n", &Default::default())?;
    /// assert_eq!(lasso.only_run(), Some((vec!["A".into(), "B".into(), "C".into()], Some(1))));
    /// let fork = lts::parse_aut("des (0, 2, 3)\n(0, A, 1)\n(0, B, 2)\n", &Default::default())?;
    /// assert_eq!(fork.only_run(), None);
    /// # Ok::<(), lts::AutError>(())
    /// ```
    pub fn only_run(&self) -> Option<(Vec<String>, Option<usize>)> {
        let mut labels = Vec::new();
        let mut seen = vec![None; self.state_count()];
        let mut state = self.initial();
        while seen[state.index()].is_none() {
            seen[state.index()] = Some(labels.len());
            match self.outgoing(state) {
                [] => return Some((labels, None)),
                [edge] => {
                    labels.push(self.label(edge.label).to_owned());
                    state = edge.target;
                }
                _ => return None,
            }
        }
        Some((labels, seen[state.index()]))
    }
}

/// The strongly connected components of a graph, numbered so that every edge between two components goes from a
/// higher number to a lower one.
pub struct Components {
    of: Vec<u32>,
    /// How many components there are.
    pub count: usize,
}

impl Components {
    /// The component of a state.
    #[inline]
    pub fn of(&self, state: StateId) -> usize {
        self.of[state.index()] as usize
    }
}

impl Components {
    /// The components of any graph of `states` states: `row` gives the edges of a state, `target` where an edge
    /// leads, nowhere for those that don't count. For graphs that are not stored as an [`Lts`].
    ///
    /// ```
    /// // 0 ⇄ 1 → 2
    /// let (rows, targets) = ([0..1, 1..3, 3..3], [1, 0, 2]);
    /// let components = lts::Components::of_graph(3, |state| rows[state].clone(), |_, edge| Some(targets[edge]));
    /// assert_eq!(components.count, 2);
    /// ```
    pub fn of_graph(
        states: usize,
        row: impl Fn(usize) -> Range<usize>,
        target: impl Fn(usize, usize) -> Option<usize>,
    ) -> Components {
        tarjan(states, row, target)
    }
}

/// Tarjan's algorithm (1972) with an explicit stack: linear time, 16 bytes a state, no recursion.
fn tarjan(
    states: usize,
    row: impl Fn(usize) -> Range<usize>,
    target: impl Fn(usize, usize) -> Option<usize>,
) -> Components {
    let mut component = vec![NONE; states];
    let mut low = vec![NONE; states];
    // States of open components, and the states on the search path with their next edge.
    let mut open: Vec<u32> = Vec::new();
    let mut path: Vec<(u32, usize, u32)> = Vec::new();
    let mut visited = 0u32;
    let mut count = 0;
    for root in 0..states {
        if low[root] != NONE {
            continue;
        }
        low[root] = visited;
        path.push((root as u32, row(root).start, visited));
        open.push(root as u32);
        visited += 1;
        while let Some(&mut (state, ref mut at, index)) = path.last_mut() {
            let state = state as usize;
            if *at < row(state).end {
                let edge = *at;
                *at += 1;
                let Some(target) = target(state, edge) else { continue };
                if low[target] == NONE {
                    low[target] = visited;
                    path.push((target as u32, row(target).start, visited));
                    open.push(target as u32);
                    visited += 1;
                } else if component[target] == NONE {
                    low[state] = low[state].min(low[target]);
                }
                continue;
            }
            path.pop();
            if low[state] == index {
                while let Some(member) = open.pop() {
                    component[member as usize] = count;
                    if member as usize == state {
                        break;
                    }
                }
                count += 1;
            }
            if let Some(&(parent, _, _)) = path.last() {
                low[parent as usize] = low[parent as usize].min(low[state]);
            }
        }
    }
    Components { of: component, count: count as usize }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{LtsBuilder, parse_aut};

    fn system(states: usize, transitions: &[(usize, usize, usize)]) -> Lts {
        let mut builder = LtsBuilder::new();
        builder.reserve_states(states);
        for &(source, label, target) in transitions {
            let label = builder.label(["i", "A", "B"][label]);
            builder.add(StateId::new(source), label, StateId::new(target));
        }
        builder.finish().unwrap()
    }

    fn systems() -> impl Strategy<Value = Lts> {
        (1usize..9).prop_flat_map(|states| {
            prop::collection::vec((0..states, 0usize..3, 0..states), 0..20)
                .prop_map(move |transitions| system(states, &transitions))
        })
    }

    /// Who reaches whom, by repeating the obvious step until nothing changes.
    fn reaches(lts: &Lts, keep: impl Fn(Edge) -> bool) -> Vec<Vec<bool>> {
        let n = lts.state_count();
        let mut reach = vec![vec![false; n]; n];
        (0..n).for_each(|state| reach[state][state] = true);
        for _ in 0..n {
            for t in lts.transitions() {
                if keep(Edge { label: t.label, target: t.target }) {
                    for from in &mut reach {
                        from[t.target.index()] |= from[t.source.index()];
                    }
                }
            }
        }
        reach
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn components_are_mutual_reachability(lts in systems()) {
            let tau_only = |edge: Edge| edge.label.is_tau();
            for only_tau in [false, true] {
                let keep = |edge: Edge| !only_tau || tau_only(edge);
                let components = lts.components(|_, edge| keep(edge));
                let reach = reaches(&lts, keep);
                for a in lts.states() {
                    for b in lts.states() {
                        let mutual = reach[a.index()][b.index()] && reach[b.index()][a.index()];
                        prop_assert_eq!(components.of(a) == components.of(b), mutual);
                        if reach[a.index()][b.index()] {
                            prop_assert!(components.of(a) >= components.of(b));
                        }
                    }
                }
            }
        }

        #[test]
        fn the_reachable_part_is_what_can_be_reached(lts in systems()) {
            let reach = reaches(&lts, |_| true);
            let part = lts.reachable();
            let expected = reach[lts.initial().index()].iter().filter(|&&reached| reached).count();
            prop_assert_eq!(part.state_count(), expected);
            prop_assert_eq!(lts.distances().iter().flatten().count(), expected);
            let again = part.reachable();
            prop_assert!(part.transitions().eq(again.transitions()));
        }

        #[test]
        fn shortest_paths_are_paths_of_the_right_length(lts in systems()) {
            let distances = lts.distances();
            for goal in lts.states() {
                let path = lts.shortest_path(lts.initial(), |state| state == goal);
                prop_assert_eq!(path.as_ref().map(|path| path.len() as u32), distances[goal.index()]);
                let mut at = lts.initial();
                for step in path.iter().flatten() {
                    prop_assert_eq!(step.source, at);
                    let edge = Edge { label: step.label, target: step.target };
                    prop_assert!(lts.outgoing(at).contains(&edge));
                    at = step.target;
                }
            }
        }
    }

    #[test]
    fn divergence_is_a_cycle_of_internal_steps() {
        let text = "des (0, 5, 4)\n(0, i, 1)\n(1, i, 2)\n(2, i, 1)\n(3, i, 3)\n(2, A, 3)\n";
        let lts = parse_aut(text, &Default::default()).unwrap();
        let divergent: Vec<usize> = lts.divergent_states().into_iter().map(StateId::index).collect();
        assert_eq!(divergent, [1, 2, 3]);
    }

    #[test]
    fn a_long_chain_needs_no_recursion() {
        let n = 300_000;
        let chain: Vec<_> = (0..n).map(|state| (state, 0, (state + 1) % n)).collect();
        assert_eq!(system(n, &chain).components(|_, _| true).count, 1);
    }
}
