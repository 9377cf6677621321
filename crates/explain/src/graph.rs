//! The tagged system: states of the system paired with what the property has seen, and the ways between them.
//!
//! A row of the graph has one place for every transition of the system's state, in the same order; labels and
//! origins are looked up there and not stored again. That makes 4 bytes a transition, 1 more with its tag, and 16 a
//! state.

use std::ops::Range;

use logic::{Unfolded, Watched};
use lts::{Edge, LabelId, Lts, Progress, StateId, Stopped};
use rustc_hash::FxHashMap;

use crate::monitor::{DEAD, Goal, Monitor};

/// Where correct transitions lead: out of the part that can still go wrong.
pub(crate) const SINK: u32 = u32::MAX;

/// A state of the graph.
pub type Node = u32;

/// The states and transitions, without tags.
pub(crate) struct Graph<'l> {
    pub lts: &'l Lts,
    /// The state of the system and that of the property for each node; the initial node is 0.
    pub pairs: Vec<(u32, u32)>,
    /// Where the transitions of each node start; one entry more than there are nodes.
    pub offsets: Vec<usize>,
    /// Where each transition leads, or [`SINK`].
    pub targets: Vec<Node>,
    /// What is known of a run that arrives in each node.
    pub marks: Vec<Mark>,
}

/// What is known of a run that arrives in a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Mark {
    /// Nothing.
    Fine,
    /// It violates the property if all nodes from here on are such nodes, for ever.
    Owed,
    /// It violates the property, whatever follows.
    Lost,
}

impl<'l> Graph<'l> {
    /// All pairs that can be reached, breadth first.
    pub fn product(
        lts: &'l Lts,
        monitor: &Monitor,
        most_states: usize,
        progress: &Progress,
    ) -> Result<Self, Stopped> {
        let mut graph = Self {
            lts,
            pairs: vec![(lts.initial().raw(), 0)],
            offsets: vec![0],
            targets: Vec::new(),
            marks: Vec::new(),
        };
        let mut numbers = PairNumbers::new(lts, monitor.state_count());
        numbers.number(lts.initial().raw(), 0, 0);
        let most_states = most_states.min(SINK as usize - 1);
        let mut node = 0;
        while node < graph.pairs.len() {
            if node % 4096 == 0 {
                if progress.is_cancelled() {
                    return Err(Stopped::Cancelled);
                }
                progress.advance(4096.min((graph.pairs.len() - node) as u64));
            }
            if graph.pairs.len() > most_states {
                return Err(Stopped::TooManyStates(most_states));
            }
            let (state, seen) = graph.pairs[node];
            let row = lts.outgoing(StateId::from_raw(state));
            let bad = monitor.is_bad(seen, row.iter().map(|edge| edge.label));
            graph.marks.push(match (bad, monitor.goal) {
                (false, _) => Mark::Fine,
                // What is owed at the end of a run stays so.
                (true, Goal::Owe) if !row.is_empty() => Mark::Owed,
                (true, _) => Mark::Lost,
            });
            let lost = monitor.lost().filter(|_| bad);
            let moves = monitor.row(seen);
            for edge in row {
                let next = lost.unwrap_or_else(|| moves[monitor.class(edge.label)]);
                if next == DEAD {
                    graph.targets.push(SINK);
                    continue;
                }
                let fresh = graph.pairs.len() as u32;
                let number = numbers.number(edge.target.raw(), next, fresh);
                if number == fresh {
                    graph.pairs.push((edge.target.raw(), next));
                }
                graph.targets.push(number);
            }
            graph.offsets.push(graph.targets.len());
            node += 1;
        }
        Ok(graph)
    }

    /// The pairs that a formula with data or conditions on states makes.
    pub fn unfolded(lts: &'l Lts, unfolded: Unfolded) -> Self {
        let mark = |watched: &Watched| match watched {
            Watched::Fine => Mark::Fine,
            Watched::Repeating => Mark::Owed,
            Watched::Violated => Mark::Lost,
        };
        let mut graph = Self {
            lts,
            // Nodes are told apart already: their own numbers do for what the property has seen.
            pairs: unfolded.states.iter().enumerate().map(|(at, state)| (state.raw(), at as u32)).collect(),
            offsets: vec![0],
            targets: Vec::new(),
            marks: unfolded.watched.iter().map(mark).collect(),
        };
        for row in unfolded.targets {
            graph.targets.extend(row.into_iter().map(|target| target.unwrap_or(SINK)));
            graph.offsets.push(graph.targets.len());
        }
        graph
    }

    /// Whether a violation may be something that is repeated for ever.
    pub fn has_owed(&self) -> bool {
        self.marks.contains(&Mark::Owed)
    }

    pub fn len(&self) -> usize {
        self.marks.len()
    }

    #[inline]
    pub fn row(&self, node: Node) -> Range<usize> {
        self.offsets[node as usize]..self.offsets[node as usize + 1]
    }

    /// The state of the system.
    pub fn state(&self, node: Node) -> StateId {
        StateId::from_raw(self.pairs[node as usize].0)
    }

    /// The system's transitions out of a node, in the order of its row.
    #[inline]
    pub fn edges(&self, node: Node) -> &'l [Edge] {
        self.lts.outgoing(self.state(node))
    }

    /// The position of a transition among the system's edges.
    pub fn system_edge(&self, node: Node, at: usize) -> usize {
        self.lts.edge_range(self.state(node)).start + (at - self.offsets[node as usize])
    }

    pub fn label(&self, node: Node, at: usize) -> LabelId {
        self.edges(node)[at - self.offsets[node as usize]].label
    }

    /// The transitions with their sources, labels and targets, in order.
    pub fn transitions(&self) -> impl Iterator<Item = (usize, Node, LabelId, Node)> {
        (0..self.len() as u32).flat_map(move |node| {
            let edges = self.edges(node).iter();
            self.row(node).zip(edges).map(move |(at, edge)| (at, node, edge.label, self.targets[at]))
        })
    }

    /// Who leads where, the other way round.
    pub fn reverse(&self) -> Reverse {
        let mut offsets = vec![0usize; self.len() + 1];
        for &target in &self.targets {
            if target != SINK {
                offsets[target as usize + 1] += 1;
            }
        }
        for index in 1..offsets.len() {
            offsets[index] += offsets[index - 1];
        }
        let mut sources = vec![0u32; offsets[self.len()]];
        // Filled from the back, so that the ends become the starts and sources come out in order.
        let mut next = offsets[1..].to_vec();
        for node in (0..self.len() as u32).rev() {
            for &target in self.targets[self.row(node)].iter().rev() {
                if target != SINK {
                    let place = &mut next[target as usize];
                    *place -= 1;
                    sources[*place] = node;
                }
            }
        }
        Reverse { offsets, sources }
    }

    /// Removes the nodes that are not kept; what led to them leads to the sink.
    pub fn retain(&mut self, keep: &[bool]) {
        let mut number = 0;
        let numbers: Vec<u32> = keep
            .iter()
            .map(|&keep| match keep {
                true => {
                    number += 1;
                    number - 1
                }
                false => SINK,
            })
            .collect();
        let (mut kept, mut end) = (0, 0);
        for node in (0..keep.len()).filter(|&node| keep[node]) {
            let row = self.offsets[node]..self.offsets[node + 1];
            self.pairs[kept] = self.pairs[node];
            self.marks[kept] = self.marks[node];
            self.offsets[kept] = end;
            for at in row {
                let target = self.targets[at];
                self.targets[end] = if target == SINK { SINK } else { numbers[target as usize] };
                end += 1;
            }
            kept += 1;
        }
        self.offsets[kept] = end;
        self.offsets.truncate(kept + 1);
        self.targets.truncate(end);
        self.pairs.truncate(kept);
        self.marks.truncate(kept);
        self.targets.shrink_to_fit();
    }
}

/// The reverse index of a graph.
pub(crate) struct Reverse {
    offsets: Vec<usize>,
    sources: Vec<Node>,
}

impl Reverse {
    /// The sources of the transitions into a node, ascending, once a transition.
    pub fn of(&self, node: Node) -> &[Node] {
        &self.sources[self.offsets[node as usize]..self.offsets[node as usize + 1]]
    }

    /// Marks everything from which something marked can be reached.
    pub fn close(&self, marked: &mut [bool]) {
        let mut stack: Vec<Node> = (0..marked.len() as u32).filter(|&node| marked[node as usize]).collect();
        while let Some(node) = stack.pop() {
            for &source in self.of(node) {
                if !std::mem::replace(&mut marked[source as usize], true) {
                    stack.push(source);
                }
            }
        }
    }

    /// How many steps each node is away from the nearest marked one; `u32::MAX` where there is no way.
    pub fn distances(&self, marked: &[bool]) -> Vec<u32> {
        let mut distances: Vec<u32> = marked.iter().map(|&goal| if goal { 0 } else { u32::MAX }).collect();
        let mut level: Vec<Node> = (0..marked.len() as u32).filter(|&node| marked[node as usize]).collect();
        let mut next = Vec::new();
        let mut distance = 0;
        while !level.is_empty() {
            distance += 1;
            for node in level.drain(..) {
                for &source in self.of(node) {
                    if distances[source as usize] == u32::MAX {
                        distances[source as usize] = distance;
                        next.push(source);
                    }
                }
            }
            std::mem::swap(&mut level, &mut next);
        }
        distances
    }
}

/// The numbers of pairs: an array where most pairs may turn up, a table where they are few among many.
enum PairNumbers {
    Dense { width: usize, numbers: Vec<u32> },
    Sparse(FxHashMap<u64, u32>),
}

impl PairNumbers {
    fn new(lts: &Lts, width: usize) -> Self {
        let pairs = lts.state_count().saturating_mul(width);
        let affordable = (lts.transition_count() + lts.state_count()).saturating_mul(4).max(1 << 24);
        match pairs <= affordable {
            true => Self::Dense { width, numbers: vec![SINK; pairs] },
            false => Self::Sparse(FxHashMap::default()),
        }
    }

    /// The number of a pair, `fresh` if it has none yet.
    #[inline]
    fn number(&mut self, state: u32, seen: u32, fresh: u32) -> u32 {
        let number = match self {
            Self::Dense { width, numbers } => &mut numbers[state as usize * *width + seen as usize],
            Self::Sparse(numbers) => numbers.entry(u64::from(state) << 32 | u64::from(seen)).or_insert(SINK),
        };
        if *number == SINK {
            *number = fresh;
        }
        *number
    }
}
