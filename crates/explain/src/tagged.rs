//! Tags: which transitions are correct, incorrect or neutral, and where that is decided.
//!
//! By default tags are statements about all maximal runs. Chapter 5 of G. Barbon, "Debugging of Behavioural Models using
//! Counterexample Analysis" (2018), looks at finite ways only: there, what can't reach safety is incorrect, even where a
//! run can stay for ever without the violation. Both are linear in the product of system and property.

use lts::{Components, Lts, StateId};

use crate::graph::{Graph, Mark, Node, Reverse, SINK};
use crate::neighbourhood::{Counts, Kind, Neighbourhood};

/// What a transition says about the behaviour that follows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Tag {
    /// Every run that goes on from here satisfies the property.
    Correct,
    /// Every run that goes on from here violates it; with [`Method::Counterexample`], there is no way back to where the
    /// property is safe for good.
    Incorrect,
    /// Both are still possible.
    Neutral,
}

impl Tag {
    /// All tags, in the order in which they are listed.
    pub const ALL: [Tag; 3] = [Tag::Correct, Tag::Incorrect, Tag::Neutral];

    /// The word for it.
    pub fn word(self) -> &'static str {
        ["correct", "incorrect", "neutral"][self as usize]
    }
}

/// How tags are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Safety: as CLEAR does it, by what can be reached in the counterexample LTS.
    Counterexample,
    /// The product with the property, tags as exact statements about all maximal runs.
    Exact,
    /// Progress: prefixes and suffixes of the awaited labels, state by state.
    PrefixSuffix,
}

impl Method {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Method::Counterexample => "counterexample-lts",
            Method::Exact => "exact",
            Method::PrefixSuffix => "prefix-suffix",
        }
    }
}

/// A transition of the tagged system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Step {
    /// The state it leaves.
    pub source: Node,
    /// Its position among all transitions.
    pub at: usize,
}

/// A system whose transitions are tagged: the part that can still violate the property, with the transitions that
/// leave it for good leading to a sink.
pub struct Tagged<'l> {
    pub(crate) graph: Graph<'l>,
    /// The same the other way round.
    pub(crate) reverse: Reverse,
    tags: Vec<Tag>,
    method: Method,
    neighbourhoods: Vec<Neighbourhood>,
    /// Nodes in which a violation is complete: where it is seen, or where a run can stay for ever.
    goals: Vec<bool>,
    endless_regions: usize,
}

impl<'l> Tagged<'l> {
    /// Tags the product of a system and a property; nothing where no run violates the property.
    pub(crate) fn new(mut graph: Graph<'l>, method: Method) -> Option<Self> {
        let reverse = graph.reverse();
        let mut keep = goals(&graph);
        reverse.close(&mut keep);
        if !keep[0] {
            return None;
        }
        let reverse = match keep.iter().all(|&keep| keep) {
            true => reverse,
            false => {
                drop(reverse);
                graph.retain(&keep);
                graph.reverse()
            }
        };
        // From where a run can come to satisfy the property: first, by getting where it is safe for good.
        let mut open: Vec<bool> =
            (0..graph.len() as u32).map(|node| graph.targets[graph.row(node)].contains(&SINK)).collect();
        reverse.close(&mut open);
        let fine = |node: usize| graph.marks[node] == Mark::Fine;
        let endless_regions = match graph.has_owed() {
            true => 0,
            false => endless(&graph, |node| !open[node] && fine(node)).regions,
        };
        if method != Method::Counterexample {
            // Second, by going round for ever where, again and again, nothing is owed.
            let rounds = endless(&graph, |node| graph.marks[node] != Mark::Lost);
            rounds.mark_those_with(&mut open, fine);
            reverse.close(&mut open);
        }
        let tags = graph
            .targets
            .iter()
            .map(|&target| match target {
                SINK => Tag::Correct,
                target if open[target as usize] => Tag::Neutral,
                _ => Tag::Incorrect,
            })
            .collect();
        let goals = goals(&graph);
        Some(Self { goals, endless_regions, ..Self::from_tags(graph, reverse, tags, method) })
    }

    /// Puts the parts together and finds the neighbourhoods.
    pub(crate) fn from_tags(graph: Graph<'l>, reverse: Reverse, tags: Vec<Tag>, method: Method) -> Self {
        let neighbourhoods = find_neighbourhoods(&graph, &tags);
        let goals = vec![false; graph.len()];
        Self { graph, reverse, tags, method, neighbourhoods, goals, endless_regions: 0 }
    }

    /// The system that was tagged.
    pub fn system(&self) -> &'l Lts {
        self.graph.lts
    }

    /// How its tags were computed.
    pub fn method(&self) -> Method {
        self.method
    }

    /// How many states it has, the sink not counted. The initial one is 0.
    pub fn state_count(&self) -> usize {
        self.graph.len()
    }

    /// Whether some transition leads to the sink.
    pub fn has_sink(&self) -> bool {
        self.graph.targets.contains(&SINK)
    }

    /// The state of the system behind a node.
    pub fn state(&self, node: Node) -> StateId {
        self.graph.state(node)
    }

    /// The transitions out of a node.
    pub fn outgoing(&self, node: Node) -> impl Iterator<Item = Step> + use<> {
        self.graph.row(node).map(move |at| Step { source: node, at })
    }

    /// All transitions, by source.
    pub fn steps(&self) -> impl Iterator<Item = Step> {
        (0..self.state_count() as u32).flat_map(|node| self.outgoing(node))
    }

    /// The text of a transition's label.
    pub fn label(&self, step: Step) -> &'l str {
        self.graph.lts.label(self.graph.label(step.source, step.at))
    }

    /// A transition's tag.
    pub fn tag(&self, step: Step) -> Tag {
        self.tags[step.at]
    }

    pub(crate) fn tag_at(&self, at: usize) -> Tag {
        self.tags[at]
    }

    /// Where a transition leads; nothing for the sink.
    pub fn target(&self, step: Step) -> Option<Node> {
        Some(self.graph.targets[step.at]).filter(|&target| target != SINK)
    }

    /// The position of the system's transition behind one of this system, as in [`Lts::edges`].
    pub fn system_edge(&self, step: Step) -> usize {
        self.graph.system_edge(step.source, step.at)
    }

    /// Whether a violation is complete in a node: where it is seen, or where a run can stay for ever.
    pub fn is_goal(&self, node: Node) -> bool {
        self.goals[node as usize]
    }

    /// Whether a run in this node owes something: it violates the property if it does so for ever.
    pub fn owes(&self, node: Node) -> bool {
        self.graph.marks[node as usize] == Mark::Owed
    }

    pub(crate) fn goals(&self) -> &[bool] {
        &self.goals
    }

    /// The states in which it is decided, by number.
    pub fn neighbourhoods(&self) -> &[Neighbourhood] {
        &self.neighbourhoods
    }

    /// The neighbourhood of a node, where it has one.
    pub fn neighbourhood(&self, node: Node) -> Option<&Neighbourhood> {
        let found = self.neighbourhoods.binary_search_by_key(&node, |one| one.node);
        found.ok().map(|at| &self.neighbourhoods[at])
    }

    /// How many neighbourhoods there are of each kind.
    pub fn neighbourhood_counts(&self) -> Counts {
        let mut counts = Counts::default();
        for one in &self.neighbourhoods {
            counts.add(one.kind);
        }
        counts
    }

    /// How many transitions have each tag: correct, incorrect, neutral. Correct ones with the same source and label
    /// are one transition to the sink.
    pub fn tag_counts(&self) -> [u64; 3] {
        let mut counts = [0; 3];
        for node in 0..self.state_count() as u32 {
            let mut last = None;
            for step in self.outgoing(node) {
                let tag = self.tag(step);
                if tag == Tag::Correct && self.target(step).is_none() {
                    // Rows are sorted by label, so equal labels lie side by side.
                    let label = self.graph.label(node, step.at);
                    if last.replace(label) == Some(label) {
                        continue;
                    }
                }
                counts[tag as usize] += 1;
            }
        }
        counts
    }

    /// The labels of transitions that don't lead to the sink: those that counterexamples are made of.
    pub fn involved_labels(&self) -> Vec<bool> {
        let mut involved = vec![false; self.graph.lts.labels().len()];
        for (_, _, label, target) in self.graph.transitions() {
            involved[label.index()] |= target != SINK;
        }
        involved
    }

    /// How many transitions don't lead to the sink.
    pub fn inner_transition_count(&self) -> usize {
        self.graph.targets.iter().filter(|&&target| target != SINK).count()
    }

    /// In how many parts of the system a run avoids the violation only by going round for ever: they have cycles without
    /// the violation, and no way to where the property is safe for good. For safety properties only.
    pub fn endless_regions(&self) -> usize {
        self.endless_regions
    }
}

/// Where a violation is complete: where it is seen, and where a run can owe something for ever.
fn goals(graph: &Graph<'_>) -> Vec<bool> {
    let mut goals: Vec<bool> = graph.marks.iter().map(|&mark| mark == Mark::Lost).collect();
    let owed = endless(graph, |node| graph.marks[node] == Mark::Owed);
    owed.nodes.iter().for_each(|&node| goals[node as usize] = true);
    goals
}

/// Where a run can stay for ever among some nodes.
struct Endless {
    components: Components,
    /// The nodes on cycles.
    nodes: Vec<Node>,
    /// How many components they make up.
    regions: usize,
}

fn endless(graph: &Graph<'_>, among: impl Fn(usize) -> bool) -> Endless {
    let inside = |node: usize, at: usize| {
        let target = graph.targets[at];
        (target != SINK && among(node) && among(target as usize)).then_some(target as usize)
    };
    let components = Components::of_graph(graph.len(), |node| graph.row(node as u32), inside);
    let of = |node: usize| components.of(StateId::new(node));
    let mut cyclic = vec![false; components.count];
    for node in 0..graph.len() {
        for at in graph.row(node as u32) {
            if inside(node, at).is_some_and(|target| of(target) == of(node)) {
                cyclic[of(node)] = true;
                break;
            }
        }
    }
    Endless {
        nodes: (0..graph.len()).filter(|&node| cyclic[of(node)]).map(|node| node as u32).collect(),
        regions: cyclic.iter().filter(|&&cyclic| cyclic).count(),
        components,
    }
}

impl Endless {
    /// Marks the cycles that can go through one of some nodes.
    fn mark_those_with(&self, marked: &mut [bool], wanted: impl Fn(usize) -> bool) {
        let of = |node: u32| self.components.of(StateId::from_raw(node));
        let mut good = vec![false; self.components.count];
        self.nodes.iter().filter(|&&node| wanted(node as usize)).for_each(|&node| good[of(node)] = true);
        self.nodes.iter().filter(|&&node| good[of(node)]).for_each(|&node| marked[node as usize] = true);
    }
}

/// Definition 13 of the thesis and its taxonomy: a state that a neutral transition leads to, or the initial one, with
/// an exit that is not neutral.
fn find_neighbourhoods(graph: &Graph<'_>, tags: &[Tag]) -> Vec<Neighbourhood> {
    let mut reached = vec![false; graph.len()];
    reached[0] = true;
    for (&target, &tag) in graph.targets.iter().zip(tags) {
        if tag == Tag::Neutral && target != SINK {
            reached[target as usize] = true;
        }
    }
    let mut found = Vec::new();
    for node in (0..graph.len() as u32).filter(|&node| reached[node as usize]) {
        let mut exits = [false; 3];
        tags[graph.row(node)].iter().for_each(|&tag| exits[tag as usize] = true);
        if let Some(kind) = Kind::of_exits(exits) {
            found.push(Neighbourhood { node, kind });
        }
    }
    found
}
