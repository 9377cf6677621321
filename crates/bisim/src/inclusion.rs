//! Inclusion of traces and of failures: a search through pairs of a state of the left system and the set of states in
//! which the right one can be after the same labels.
//!
//! Of two pairs with the same state, the one with the smaller set is harder for the right system, so that the other need
//! not be looked at (antichains; De Wulf, Doyen, Henzinger, Raskin 2006). The search is breadth first and a pair is passed
//! over only for one that was met before, so that the run found is a shortest one. The sets can be exponentially many.

use lts::{LabelId, Lts, StateId};
use rustc_hash::FxHashMap;

use crate::preorder::{Excess, labels_in};
use crate::reduce::{Error, Limits};

/// What is included.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Watch {
    Traces,
    WeakTraces,
    /// Weak traces and refusals.
    Failures,
}

struct Pair {
    state: StateId,
    set: u32,
    /// The pair it was met from, and by which edge.
    parent: u32,
    edge: u32,
}

pub(crate) fn inclusion(
    left: &Lts,
    right: &Lts,
    watch: Watch,
    limits: &Limits,
) -> Result<Option<Excess>, Error> {
    let mut sets = StateSets::new(right, watch != Watch::Traces);
    let right_labels = labels_in(left, right);
    let start = sets.start();
    let mut pairs = vec![Pair { state: left.initial(), set: start, parent: u32::MAX, edge: 0 }];
    // For each state of the left system, the smallest sets that it was met with.
    let mut met: Vec<Vec<u32>> = vec![Vec::new(); left.state_count()];
    met[left.initial().index()].push(start);
    let mut next = 0;
    while next < pairs.len() {
        if pairs.len().max(sets.len()) > limits.states {
            return Err(Error::TooManyStates { limit: limits.states });
        }
        let Pair { state, set, .. } = pairs[next];
        if watch == Watch::Failures
            && let Some((refused, offered)) = refusal(left, right, &sets, state, set)
        {
            return Ok(Some(Excess::Refusal { edges: run_to(&pairs, next), refused, offered }));
        }
        for position in left.edge_range(state) {
            let edge = left.edges()[position];
            let after =
                match (edge.label.is_tau() && watch != Watch::Traces, right_labels[edge.label.index()]) {
                    (true, _) => Some(set),
                    (false, Some(label)) => sets.after(right, set, label),
                    (false, None) => None,
                };
            let Some(after) = after else {
                let mut edges = run_to(&pairs, next);
                edges.push(position);
                return Ok(Some(Excess::Run { edges }));
            };
            let known = &mut met[edge.target.index()];
            if known.iter().any(|&known| sets.is_subset(known, after)) {
                continue;
            }
            known.retain(|&known| !sets.is_subset(after, known));
            known.push(after);
            pairs.push(Pair { state: edge.target, set: after, parent: next as u32, edge: position as u32 });
        }
        next += 1;
    }
    Ok(None)
}

fn run_to(pairs: &[Pair], mut at: usize) -> Vec<usize> {
    let mut edges = Vec::new();
    while pairs[at].parent != u32::MAX {
        edges.push(pairs[at].edge as usize);
        at = pairs[at].parent as usize;
    }
    edges.reverse();
    edges
}

/// What a state at rest refuses although no state of the set at rest does, and what it offers.
fn refusal(
    left: &Lts,
    right: &Lts,
    sets: &StateSets,
    state: StateId,
    set: u32,
) -> Option<(Vec<String>, Vec<String>)> {
    let mine = offers(left, state)?;
    let theirs: Vec<Vec<&str>> =
        sets.get(set).iter().filter_map(|&state| offers(right, StateId::from_raw(state))).collect();
    // For each of their states at rest, what it offers beyond mine.
    let mut beyond: Vec<Vec<&str>> = Vec::new();
    for offers in theirs {
        let more: Vec<&str> = offers.into_iter().filter(|label| mine.binary_search(label).is_err()).collect();
        if more.is_empty() {
            return None;
        }
        beyond.push(more);
    }
    // A few labels such that each of their states offers one: the commonest first.
    let mut refused: Vec<String> = Vec::new();
    while !beyond.is_empty() {
        let mut uses: FxHashMap<&str, usize> = FxHashMap::default();
        beyond.iter().flatten().for_each(|&label| *uses.entry(label).or_default() += 1);
        let most = uses.iter().max_by_key(|&(&label, &uses)| (uses, std::cmp::Reverse(label)));
        let label = most.map(|(&label, _)| label)?;
        beyond.retain(|offers| !offers.contains(&label));
        refused.push(label.to_owned());
    }
    refused.sort_unstable();
    Some((refused, mine.into_iter().map(str::to_owned).collect()))
}

/// The labels of a state at rest, sorted; none where internal steps go on.
fn offers(lts: &Lts, state: StateId) -> Option<Vec<&str>> {
    let row = lts.outgoing(state);
    if row.iter().any(|edge| edge.label.is_tau()) {
        return None;
    }
    let mut labels: Vec<&str> = row.iter().map(|edge| lts.label(edge.label)).collect();
    labels.sort_unstable();
    labels.dedup();
    Some(labels)
}

/// Sets of states of the right system, numbered, each sorted.
struct StateSets {
    weak: bool,
    sets: Vec<Vec<u32>>,
    numbers: FxHashMap<Vec<u32>, u32>,
    steps: FxHashMap<(u32, LabelId), Option<u32>>,
    seen: Vec<bool>,
    initial: u32,
}

impl StateSets {
    fn new(right: &Lts, weak: bool) -> Self {
        let mut sets = Self {
            weak,
            sets: Vec::new(),
            numbers: FxHashMap::default(),
            steps: FxHashMap::default(),
            seen: vec![false; right.state_count()],
            initial: 0,
        };
        sets.initial = sets.closed(right, vec![right.initial().raw()]);
        sets
    }

    fn start(&self) -> u32 {
        self.initial
    }

    fn len(&self) -> usize {
        self.sets.len()
    }

    fn get(&self, set: u32) -> &[u32] {
        &self.sets[set as usize]
    }

    fn is_subset(&self, small: u32, large: u32) -> bool {
        let (small, large) = (self.get(small), self.get(large));
        let mut rest = large.iter();
        small.len() <= large.len() && small.iter().all(|state| rest.any(|other| other == state))
    }

    /// The states after a label; none where there is no such step.
    fn after(&mut self, right: &Lts, set: u32, label: LabelId) -> Option<u32> {
        if let Some(&known) = self.steps.get(&(set, label)) {
            return known;
        }
        let mut targets: Vec<u32> = Vec::new();
        for &state in self.get(set) {
            let row = right.outgoing(StateId::from_raw(state)).iter();
            targets.extend(row.filter(|edge| edge.label == label).map(|edge| edge.target.raw()));
        }
        let after = (!targets.is_empty()).then(|| self.closed(right, targets));
        self.steps.insert((set, label), after);
        after
    }

    /// The number of a set, with what internal steps reach from it where they do not count.
    fn closed(&mut self, right: &Lts, mut states: Vec<u32>) -> u32 {
        states.sort_unstable();
        states.dedup();
        if self.weak {
            states.iter().for_each(|&state| self.seen[state as usize] = true);
            let mut next = 0;
            while next < states.len() {
                for edge in right.outgoing(StateId::from_raw(states[next])) {
                    if edge.label.is_tau() && !std::mem::replace(&mut self.seen[edge.target.index()], true) {
                        states.push(edge.target.raw());
                    }
                }
                next += 1;
            }
            states.iter().for_each(|&state| self.seen[state as usize] = false);
            states.sort_unstable();
        }
        let next = self.sets.len() as u32;
        *self.numbers.entry(states).or_insert_with_key(|states| {
            self.sets.push(states.clone());
            next
        })
    }
}
