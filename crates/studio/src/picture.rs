//! What there is to see of a system: nodes and transitions with tags, copied out of the analysis so that it can live as
//! long as the page.

use std::ops::Range;

use explain::{Tag, Tagged};
use lts::Lts;
use model::Provenance;

/// A tagged system. Nodes are those of the tagged system; the sink, where there is one, is the last.
pub struct Picture {
    /// The state of the system behind each node; the sink has none.
    pub states: Vec<u32>,
    /// The kind of each node's neighbourhood: 0 none, 1 cn, 2 in, 3 ci, 4 cin.
    pub kinds: Vec<u8>,
    /// The choice that each node belongs to, or [`NONE`].
    pub choices: Vec<u32>,
    /// Whether a violation is complete in a node.
    pub goals: Vec<bool>,
    /// Steps from the initial node.
    pub distances: Vec<u32>,
    /// When a breadth-first search from the initial node finds each: what can't be reached comes last.
    pub turns: Vec<u32>,
    /// The sink.
    pub sink: Option<u32>,
    offsets: Vec<u32>,
    /// Where each transition leads.
    pub targets: Vec<u32>,
    /// Where each transition starts.
    pub sources: Vec<u32>,
    /// The label of each transition, by its number in the system.
    pub labels: Vec<u32>,
    /// Its tag.
    pub tags: Vec<u8>,
    /// The transition of the system behind each.
    pub system_edges: Vec<u32>,
    incoming_offsets: Vec<u32>,
    incoming: Vec<u32>,
}

/// No choice, no node.
pub const NONE: u32 = u32::MAX;

impl Picture {
    /// The picture of a violation.
    pub fn of_tagged(tagged: &Tagged<'_>, provenance: Option<&Provenance>) -> Self {
        let count = tagged.state_count();
        let sink = tagged.has_sink().then_some(count as u32);
        let nodes = count + usize::from(sink.is_some());
        let mut picture = Self::empty(nodes);
        picture.sink = sink;
        for node in 0..count as u32 {
            picture.states.push(tagged.state(node).raw());
            picture.goals[node as usize] = tagged.is_goal(node);
            for step in tagged.outgoing(node) {
                let edge = tagged.system_edge(step);
                picture.sources.push(node);
                picture.targets.push(tagged.target(step).or(sink).expect("a way out leads to the sink"));
                picture.labels.push(tagged.system().edges()[edge].label.raw());
                picture.tags.push(tagged.tag(step) as u8);
                picture.system_edges.push(edge as u32);
            }
            picture.offsets.push(picture.targets.len() as u32);
        }
        for one in tagged.neighbourhoods() {
            picture.kinds[one.node as usize] = one.kind as u8 + 1;
        }
        for (number, group) in tagged.groups(provenance).iter().enumerate() {
            for &member in &group.members {
                picture.choices[tagged.neighbourhoods()[member].node as usize] = number as u32;
            }
        }
        picture.finish()
    }

    /// Numbers choices as an explanation lists them; each is known by its first nodes.
    pub fn number_choices<'a>(&mut self, listed: impl Iterator<Item = &'a [u64]>) {
        let mut number = rustc_hash::FxHashMap::default();
        for (at, nodes) in listed.enumerate() {
            let known = nodes.first().and_then(|&node| self.choices.get(node as usize));
            if let Some(&choice) = known.filter(|&&choice| choice != NONE) {
                number.insert(choice, at as u32);
            }
        }
        for choice in self.choices.iter_mut() {
            *choice = number.get(choice).copied().unwrap_or(NONE);
        }
    }

    /// Whether a transition belongs to a neighbourhood: it leaves one, or is neutral and leads to one.
    pub fn matters(&self, at: usize) -> bool {
        let kind = |node: u32| self.kinds[node as usize] > 0;
        kind(self.sources[at]) || (self.tags[at] == Tag::Neutral as u8 && kind(self.targets[at]))
    }

    /// A shortest way from the initial node, as transitions; nothing where there is none.
    pub fn way_to(&self, node: u32) -> Option<Vec<usize>> {
        let mut way = Vec::new();
        let mut here = node;
        while here != 0 {
            let nearer = self.distances[here as usize].checked_sub(1)?;
            let near = |&&at: &&u32| self.distances[self.sources[at as usize] as usize] == nearer;
            let &at = self.incoming(here).iter().find(near)?;
            way.push(at as usize);
            here = self.sources[at as usize];
        }
        way.reverse();
        Some(way)
    }

    /// The picture of a whole system whose transitions all say the same.
    pub fn of_system(lts: &Lts, tag: Tag) -> Self {
        let mut picture = Self::empty(lts.state_count());
        // The initial node is 0; the state that has that number takes the initial one's place.
        let initial = lts.initial().raw();
        let swap = |state: u32| match state {
            0 => initial,
            state if state == initial => 0,
            state => state,
        };
        for node in 0..lts.state_count() as u32 {
            let state = lts::StateId::from_raw(swap(node));
            picture.states.push(state.raw());
            for at in lts.edge_range(state) {
                let edge = &lts.edges()[at];
                picture.sources.push(node);
                picture.targets.push(swap(edge.target.raw()));
                picture.labels.push(edge.label.raw());
                picture.tags.push(tag as u8);
                picture.system_edges.push(at as u32);
            }
            picture.offsets.push(picture.targets.len() as u32);
        }
        picture.finish()
    }

    fn empty(nodes: usize) -> Self {
        Self {
            states: Vec::with_capacity(nodes),
            kinds: vec![0; nodes],
            choices: vec![NONE; nodes],
            goals: vec![false; nodes],
            distances: vec![NONE; nodes],
            turns: vec![NONE; nodes],
            sink: None,
            offsets: vec![0],
            targets: Vec::new(),
            sources: Vec::new(),
            labels: Vec::new(),
            tags: Vec::new(),
            system_edges: Vec::new(),
            incoming_offsets: Vec::new(),
            incoming: Vec::new(),
        }
    }

    /// Adds what follows from the transitions: the sink's row, distances, and the ways back.
    fn finish(mut self) -> Self {
        if self.sink.is_some() {
            self.states.push(NONE);
            self.offsets.push(self.targets.len() as u32);
        }
        let nodes = self.len();
        self.distances[0] = 0;
        let mut found = vec![0u32];
        let mut at = 0;
        while at < found.len() {
            let node = found[at];
            at += 1;
            for edge in self.outgoing(node) {
                let target = self.targets[edge];
                if self.distances[target as usize] == NONE {
                    self.distances[target as usize] = self.distances[node as usize] + 1;
                    found.push(target);
                }
            }
        }
        // States that can't be reached stand behind all others.
        let behind = found.last().map_or(0, |&last| self.distances[last as usize] + 1);
        for node in 0..nodes as u32 {
            if self.distances[node as usize] == NONE {
                self.distances[node as usize] = behind;
                found.push(node);
            }
        }
        found.iter().enumerate().for_each(|(turn, &node)| self.turns[node as usize] = turn as u32);
        let mut offsets = vec![0u32; nodes + 1];
        self.targets.iter().for_each(|&target| offsets[target as usize + 1] += 1);
        (0..nodes).for_each(|node| offsets[node + 1] += offsets[node]);
        let mut next = offsets.clone();
        self.incoming = vec![0; self.targets.len()];
        for (at, &target) in self.targets.iter().enumerate() {
            self.incoming[next[target as usize] as usize] = at as u32;
            next[target as usize] += 1;
        }
        self.incoming_offsets = offsets;
        self
    }

    /// How many nodes there are, the sink included.
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// The transitions out of a node.
    pub fn outgoing(&self, node: u32) -> Range<usize> {
        self.offsets[node as usize] as usize..self.offsets[node as usize + 1] as usize
    }

    /// The transitions into a node.
    pub fn incoming(&self, node: u32) -> &[u32] {
        let row = self.incoming_offsets[node as usize]..self.incoming_offsets[node as usize + 1];
        &self.incoming[row.start as usize..row.end as usize]
    }

    /// Whether a transition only follows a violation that was complete before it.
    pub fn is_after(&self, at: usize) -> bool {
        self.goals[self.sources[at] as usize]
    }

    /// What nodes that may be drawn as one have in common: the kind of their neighbourhood, or for other nodes
    /// whether what leads there is lost.
    pub fn class(&self, node: u32) -> u8 {
        if self.sink == Some(node) {
            return 7;
        }
        let kind = self.kinds[node as usize];
        if kind > 0 {
            return 2 + kind;
        }
        let lost = |at: usize| self.tags[at] == Tag::Incorrect as u8;
        u8::from(self.incoming(node).iter().any(|&at| lost(at as usize)))
    }
}

/// Systems in which something is violated, for tests.
#[cfg(test)]
pub(crate) mod samples {
    /// Calls `look` with the tagged part of each of these systems that violates a property, and its seed.
    pub fn each_tagged(count: u64, sample: &lts::RandomSystem, mut look: impl FnMut(&explain::Tagged, u64)) {
        let mut sources = source::Sources::new();
        let never = logic::never("a1", &mut sources).unwrap();
        let property = explain::Property::of(&never.formula).unwrap();
        for seed in 0..count {
            let system = lts::RandomSystem { seed, ..sample.clone() }.draw().unwrap();
            let tagged = property.tag(&system, &Default::default(), &lts::Progress::new());
            if let Ok(Some(tagged)) = tagged {
                look(&tagged, seed);
            }
        }
    }

    /// A system with layers, so that steps can decide.
    pub fn layered(states: usize, transitions: usize, labels: usize, internal: f64) -> lts::RandomSystem {
        lts::RandomSystem { states, transitions, labels, internal, shape: lts::Shape::Layered, seed: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::samples::{each_tagged, layered};
    use super::*;

    #[test]
    fn a_system_keeps_its_initial_state_as_node_0() {
        let lts = lts::parse_aut("des (1, 2, 3)\n(1, A, 0)\n(0, B, 2)\n", &Default::default()).unwrap();
        let picture = Picture::of_system(&lts, Tag::Neutral);
        assert_eq!(picture.states, [1, 0, 2]);
        assert_eq!(picture.distances, [0, 1, 2]);
        assert_eq!(picture.targets, [1, 2]);
        assert_eq!(picture.incoming(2), [1]);
    }

    #[test]
    fn steps_that_matter_are_those_of_neighbourhoods() {
        let mut seen = 0;
        each_tagged(40, &layered(30, 45, 6, 0.2), |tagged, seed| {
            let picture = Picture::of_tagged(tagged, None);
            for run in tagged.shortest_runs(5) {
                let kept = tagged.abstraction(&run, None);
                for (at, step) in run.steps.iter().enumerate() {
                    assert_eq!(picture.matters(step.at), kept.contains(&at), "seed {seed}, step {at}");
                    seen += 1;
                }
                let end = run.steps.last().map_or(0, |step| picture.targets[step.at]);
                let way = picture.way_to(end).unwrap();
                assert_eq!(way.len(), picture.distances[end as usize] as usize);
                assert!(
                    way.iter()
                        .scan(0, |node, &at| {
                            let follows = picture.sources[at] == *node;
                            *node = picture.targets[at];
                            Some(follows)
                        })
                        .all(|follows| follows)
                );
            }
        });
        assert!(seen > 50, "{seen}");
    }
}
