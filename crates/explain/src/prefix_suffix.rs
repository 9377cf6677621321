//! Tags for progress from prefixes and suffixes of the awaited labels: chapter 6 of the thesis, to the letter.
//!
//! Every state of the system gets four numbers: how many of the awaited labels, from the first, the ways to it have
//! seen at most and at least, and how many, to the last, the ways from it will see at most and at least. A
//! transition is tagged by adding up those of its ends. `O(k (n + m))` for `k` labels, 16 bytes a state.
//!
//! The sums forget which way was taken, so more transitions are neutral than need be; [`Method::Exact`] remembers.

use lts::{Components, Edge, Lts, Progress, StateId, Stopped};

use crate::graph::Graph;
use crate::monitor::Monitor;
use crate::tagged::{Method, Tag, Tagged};

/// What is known of a state: lengths of prefixes and suffixes of the awaited labels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Affixes {
    /// The longest prefix that some way to the state has seen.
    pub max_prefix: u32,
    /// The longest prefix that all ways to the state have seen.
    pub common_prefix: u32,
    /// The longest suffix that some way from the state sees.
    pub max_suffix: u32,
    /// The longest suffix that all ways from the state see.
    pub common_suffix: u32,
}

/// The affixes of all states that can be reached; those of the others are meaningless. `masks[n]` says which labels
/// count as the `n`-th awaited one.
///
/// ```
/// let lts = lts::parse_aut("des (0, 2, 3)\n(0, A, 1)\n(1, B, 2)\n", &Default::default())?;
/// let mask = |text| lts.labels().iter().map(|(_, label)| label == text).collect();
/// let affixes = explain::affixes(&lts, &[mask("A"), mask("B")]);
/// assert_eq!((affixes[1].common_prefix, affixes[1].common_suffix), (1, 1));
/// # Ok::<(), lts::AutError>(())
/// ```
pub fn affixes(lts: &Lts, masks: &[Vec<bool>]) -> Vec<Affixes> {
    let reached: Vec<bool> = lts.distances().iter().map(Option::is_some).collect();
    let components = lts.components(|source, _| reached[source.index()]);
    let awaited = Awaited { lts, masks, reached, components };
    let prefixes = (awaited.max_prefixes(), awaited.common_prefixes());
    let suffixes = (awaited.max_suffixes(), awaited.common_suffixes());
    (0..lts.state_count())
        .map(|state| Affixes {
            max_prefix: prefixes.0[state],
            common_prefix: prefixes.1[state],
            max_suffix: suffixes.0[state],
            common_suffix: suffixes.1[state],
        })
        .collect()
}

/// The whole system with these tags; nothing where every run is satisfied.
pub(crate) fn tag<'l>(
    lts: &'l Lts,
    masks: &[Vec<bool>],
    most_states: usize,
    progress: &Progress,
) -> Result<Option<Tagged<'l>>, Stopped> {
    // Whether the property holds is not for these sums to say.
    let monitor = Monitor::progress(masks, lts.labels());
    if Tagged::new(Graph::product(lts, &monitor, most_states, progress)?, Method::Exact).is_none() {
        return Ok(None);
    }
    let affixes = affixes(lts, masks);
    let graph = Graph::product(lts, &Monitor::everything(lts.labels()), most_states, progress)?;
    let length = masks.len() as u32;
    let mut tags = Vec::with_capacity(graph.targets.len());
    for (_, node, label, target) in graph.transitions() {
        let before = affixes[graph.state(node).index()];
        let after = affixes[graph.state(target).index()];
        let seen = |prefix: u32| prefix + u32::from(prefix < length && masks[prefix as usize][label.index()]);
        tags.push(if seen(before.common_prefix) + after.common_suffix >= length {
            Tag::Correct
        } else if seen(before.max_prefix) + after.max_suffix < length {
            Tag::Incorrect
        } else {
            Tag::Neutral
        });
    }
    let reverse = graph.reverse();
    Ok(Some(Tagged::from_tags(graph, reverse, tags, Method::PrefixSuffix)))
}

impl Monitor {
    /// Watches for nothing: one state that every label keeps.
    fn everything(labels: &lts::Labels) -> Self {
        let never = vec![false; labels.len()];
        Self::progress(&[never], labels)
    }
}

struct Awaited<'a> {
    lts: &'a Lts,
    masks: &'a [Vec<bool>],
    reached: Vec<bool>,
    components: Components,
}

impl Awaited<'_> {
    fn length(&self) -> u32 {
        self.masks.len() as u32
    }

    /// A prefix after one more label.
    fn append(&self, prefix: u32, edge: Edge) -> u32 {
        prefix + u32::from(prefix < self.length() && self.masks[prefix as usize][edge.label.index()])
    }

    /// A suffix with one more label before it.
    fn prepend(&self, edge: Edge, suffix: u32) -> u32 {
        let grows =
            suffix < self.length() && self.masks[(self.length() - 1 - suffix) as usize][edge.label.index()];
        suffix + u32::from(grows)
    }

    /// The transitions of the part that can be reached.
    fn transitions(&self) -> impl Iterator<Item = (StateId, Edge)> + '_ {
        let states = self.lts.states().filter(|state| self.reached[state.index()]);
        states.flat_map(|state| self.lts.outgoing(state).iter().map(move |&edge| (state, edge)))
    }

    fn is_inner(&self, state: StateId, edge: Edge) -> bool {
        self.components.of(state) == self.components.of(edge.target)
    }

    /// Which of the awaited labels each component has inside.
    fn inside(&self) -> Vec<Vec<bool>> {
        let mut inside = vec![vec![false; self.masks.len()]; self.components.count];
        for (state, edge) in self.transitions().filter(|&(state, edge)| self.is_inner(state, edge)) {
            for (at, mask) in self.masks.iter().enumerate() {
                inside[self.components.of(state)][at] |= mask[edge.label.index()];
            }
        }
        inside
    }

    /// The states by component; components come after those they lead to.
    fn states_by_component(&self) -> Vec<StateId> {
        let mut states: Vec<StateId> =
            self.lts.states().filter(|state| self.reached[state.index()]).collect();
        states.sort_by_key(|&state| self.components.of(state));
        states
    }

    /// §6.2.1: the longest that comes in, and what can be added by going round inside.
    fn max_prefixes(&self) -> Vec<u32> {
        let inside = self.inside();
        let mut best = vec![0u32; self.components.count];
        for states in self.states_by_component().chunk_by(|&a, &b| self.same(a, b)).rev() {
            let component = self.components.of(states[0]);
            while best[component] < self.length() && inside[component][best[component] as usize] {
                best[component] += 1;
            }
            let here = best[component];
            for &state in states {
                for &edge in self.lts.outgoing(state).iter().filter(|&&edge| !self.is_inner(state, edge)) {
                    let after = &mut best[self.components.of(edge.target)];
                    *after = self.append(here, edge).max(*after);
                }
            }
        }
        self.lts.states().map(|state| best[self.components.of(state)]).collect()
    }

    fn same(&self, a: StateId, b: StateId) -> bool {
        self.components.of(a) == self.components.of(b)
    }

    /// §6.2.2: the same from the other end.
    fn max_suffixes(&self) -> Vec<u32> {
        let inside = self.inside();
        let mut best = vec![0u32; self.components.count];
        for states in self.states_by_component().chunk_by(|&a, &b| self.same(a, b)) {
            let component = self.components.of(states[0]);
            for &state in states {
                for &edge in self.lts.outgoing(state).iter().filter(|&&edge| !self.is_inner(state, edge)) {
                    best[component] =
                        best[component].max(self.prepend(edge, best[self.components.of(edge.target)]));
                }
            }
            while best[component] < self.length()
                && inside[component][(self.length() - 1 - best[component]) as usize]
            {
                best[component] += 1;
            }
        }
        self.lts.states().map(|state| best[self.components.of(state)]).collect()
    }

    /// §6.2.3: the shortest that any way brings, found from the shortest on, as Dijkstra finds ways. There are only as
    /// many lengths as awaited labels, so a stack for each does for a heap.
    fn common_prefixes(&self) -> Vec<u32> {
        let mut shortest = vec![self.length(); self.lts.state_count()];
        shortest[self.lts.initial().index()] = 0;
        self.relax(shortest, |state, relax| {
            for &edge in self.lts.outgoing(state) {
                relax(edge.target, &|prefix| self.append(prefix, edge));
            }
        })
    }

    /// §6.2.4: nothing where the system stops, what the poorest loop sees where it can go round for ever, and the
    /// shortest of what follows.
    fn common_suffixes(&self) -> Vec<u32> {
        let incoming = self.lts.incoming();
        let mut shortest = self.poorest_loops();
        for state in self.lts.deadlocks() {
            shortest[state.index()] = 0;
        }
        self.relax(shortest, |state, relax| {
            for &before in incoming.of(state).iter().filter(|before| self.reached[before.target.index()]) {
                relax(before.target, &|suffix| self.prepend(before, suffix));
            }
        })
    }

    /// For each state the shortest suffix that a loop through it sees: a loop without the last awaited label sees
    /// none, one without the last but one at most one, and so on.
    fn poorest_loops(&self) -> Vec<u32> {
        let mut shortest = vec![self.length(); self.lts.state_count()];
        for suffix in 0..self.length() {
            let missing = &self.masks[(self.length() - 1 - suffix) as usize];
            let keep =
                |state: StateId, edge: Edge| self.reached[state.index()] && !missing[edge.label.index()];
            let components = self.lts.components(keep);
            let mut cyclic = vec![false; components.count];
            for (state, edge) in self.transitions() {
                if keep(state, edge) && components.of(state) == components.of(edge.target) {
                    cyclic[components.of(state)] = true;
                }
            }
            for state in self.lts.states().filter(|&state| cyclic[components.of(state)]) {
                let known = &mut shortest[state.index()];
                *known = suffix.min(*known);
            }
        }
        shortest
    }

    /// Lowers lengths along transitions until none can be lowered, shortest first.
    fn relax(
        &self,
        mut shortest: Vec<u32>,
        neighbours: impl Fn(StateId, &mut dyn FnMut(StateId, &dyn Fn(u32) -> u32)),
    ) -> Vec<u32> {
        let mut waiting: Vec<Vec<StateId>> = vec![Vec::new(); self.masks.len() + 1];
        for state in self.lts.states().filter(|state| self.reached[state.index()]) {
            waiting[shortest[state.index()] as usize].push(state);
        }
        for length in 0..=self.length() {
            while let Some(state) = waiting[length as usize].pop() {
                if shortest[state.index()] != length {
                    continue;
                }
                neighbours(state, &mut |other, extend| {
                    let known = &mut shortest[other.index()];
                    let through = extend(length);
                    if through < *known {
                        *known = through;
                        waiting[through as usize].push(other);
                    }
                });
            }
        }
        shortest
    }
}
