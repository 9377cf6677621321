//! Counterexamples: the shortest, the next ones, one at random, one through given labels, one that the user brings.

use std::cmp::Reverse as Least;
use std::collections::{BinaryHeap, VecDeque};

use lts::{Chance, StateId};

use crate::graph::{Node, SINK};
use crate::neighbourhood::Kind;
use crate::tagged::{Step, Tag, Tagged};

/// A run of a tagged system from its initial state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// What happens.
    pub steps: Vec<Step>,
    /// Where the part starts that is repeated for ever.
    pub lasso: Option<usize>,
}

/// Why labels are no counterexample.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotACounterexample {
    /// The system can't do it.
    #[error("step {} can't happen: `{label}` is not possible there", at + 1)]
    NotPossible {
        /// Which label, from 0.
        at: usize,
        /// The label.
        label: String,
    },
    /// It leaves the part that can go wrong.
    #[error("after step {} the property can no longer be violated", at + 1)]
    Saved {
        /// Which label, from 0.
        at: usize,
    },
    /// It ends before the violation.
    #[error("the run ends before it violates the property")]
    Unfinished,
}

/// A condition on the labels of a run: it has labels of these sets one after the other, others between them. One mask
/// over the system's labels each.
pub type Pattern = [Vec<bool>];

impl Tagged<'_> {
    /// A shortest run that violates the property; of several, one whose [abstraction](Self::abstraction) is shortest.
    /// A run that goes round for ever takes the shortest way to where it can; one that ends is preferred where it is not
    /// longer.
    pub fn shortest_run(&self) -> Option<Run> {
        let nearest = self.shortest_to(self.goals())?;
        if nearest.lasso.is_none() {
            return Some(nearest);
        }
        let ends: Vec<bool> =
            self.goals().iter().zip(0..).map(|(&goal, node)| goal && !self.owes(node)).collect();
        let ending = self.shortest_to(&ends);
        let others = self.shortest_runs(1).into_iter();
        ending.into_iter().chain([nearest]).chain(others).min_by_key(|run| run.steps.len())
    }

    fn shortest_to(&self, goals: &[bool]) -> Option<Run> {
        let distances = self.reverse.distances(goals);
        if distances[0] == u32::MAX {
            return None;
        }
        // Level by level, how few steps that matter lead to each node of the shortest ways, and the last of them.
        let mut level: Vec<(Node, u32)> = vec![(0, 0)];
        let mut last: rustc_hash::FxHashMap<Node, (u32, Step)> = Default::default();
        for distance in (0..distances[0]).rev() {
            let mut next: Vec<Node> = Vec::new();
            for &(node, matters) in &level {
                for step in self.outgoing(node) {
                    let Some(target) = self.target(step) else { continue };
                    if distances[target as usize] != distance {
                        continue;
                    }
                    let matters = matters + u32::from(self.matters(step, None));
                    let known = last.entry(target).or_insert_with(|| {
                        next.push(target);
                        (u32::MAX, step)
                    });
                    if matters < known.0 {
                        *known = (matters, step);
                    }
                }
            }
            level = next.into_iter().map(|node| (node, last[&node].0)).collect();
        }
        let &(mut node, _) = level.iter().min_by_key(|&&(node, matters)| (matters, node))?;
        let mut steps = Vec::with_capacity(distances[0] as usize);
        while steps.len() < distances[0] as usize {
            let (_, step) = last[&node];
            steps.push(step);
            node = step.source;
        }
        steps.reverse();
        Some(self.completed(steps))
    }

    /// A shortest run that violates the property and has the labels of the pattern.
    pub fn run_through(&self, pattern: &Pattern) -> Option<Run> {
        let steps = self.shortest_way(pattern, |node| self.is_goal(node))?;
        Some(self.completed(steps))
    }

    /// A shortest way to a neighbourhood, of a kind where one is given, that has the labels of the pattern.
    pub fn way_to_neighbourhood(&self, pattern: &Pattern, kind: Option<Kind>) -> Option<Run> {
        let wanted =
            |node| self.neighbourhood(node).is_some_and(|one| kind.is_none_or(|kind| one.kind == kind));
        let steps = self.shortest_way(pattern, wanted)?;
        Some(Run { steps, lasso: None })
    }

    /// The `count` shortest runs that violate the property, shortest first. There may be fewer.
    ///
    /// Best-first search with the exact distance still to go; a state is left at most `count` times. Runs that go round for
    /// ever are found by the way to where they can: some more than asked for are looked at, and those that are then
    /// shortest are taken.
    pub fn shortest_runs(&self, count: usize) -> Vec<Run> {
        let endless = (0..self.state_count() as Node).any(|node| self.is_goal(node) && self.owes(node));
        let enough = if endless { count.max(8).saturating_mul(3) } else { count };
        let mut runs = self.first_runs(enough);
        runs.sort_by_key(|run| run.steps.len());
        runs.truncate(count);
        runs
    }

    fn first_runs(&self, count: usize) -> Vec<Run> {
        let distances = self.reverse.distances(self.goals());
        // Steps of unfinished runs, each with the one before it.
        let mut taken: Vec<(Step, usize)> = Vec::new();
        const START: usize = usize::MAX;
        let mut waiting = BinaryHeap::from([Least((distances[0], 0usize, 0u32, START))]);
        let mut left = vec![0usize; self.state_count()];
        let mut runs = Vec::new();
        let mut sequence = 0;
        while let Some(Least((total, _, node, last))) = waiting.pop() {
            if self.is_goal(node) {
                let mut steps = Vec::new();
                let mut at = last;
                while at != START {
                    steps.push(taken[at].0);
                    at = taken[at].1;
                }
                steps.reverse();
                let run = without_unrolling(self.completed(steps));
                if !runs.contains(&run) {
                    runs.push(run);
                }
                if runs.len() == count {
                    break;
                }
                // Where a run can go round it can also go on, and end in another way.
                if !self.owes(node) {
                    continue;
                }
            }
            left[node as usize] += 1;
            if left[node as usize] > count {
                continue;
            }
            let far = total - distances[node as usize];
            for step in self.outgoing(node) {
                let Some(target) = self.target(step) else { continue };
                if distances[target as usize] == u32::MAX {
                    continue;
                }
                sequence += 1;
                taken.push((step, last));
                waiting.push(Least((
                    far + 1 + distances[target as usize],
                    sequence,
                    target,
                    taken.len() - 1,
                )));
            }
        }
        runs
    }

    /// A run that violates the property, its choices drawn at random; the same seed draws the same run.
    ///
    /// After as many steps as the system has states, and ten times the shortest run, it takes the shortest way.
    pub fn random_run(&self, seed: u64) -> Option<Run> {
        self.random_run_along(&self.reverse.distances(self.goals()), seed)
    }

    /// The same, where it is known how far each node is from a complete violation.
    pub(crate) fn random_run_along(&self, distances: &[u32], seed: u64) -> Option<Run> {
        let patience = (distances[0] as usize).saturating_mul(10).max(20).min(self.state_count() + 20);
        let mut chance = Chance::new(seed);
        let mut steps = Vec::new();
        let mut node = 0;
        while !self.is_goal(node) {
            let mut ways: Vec<(Step, Node)> = self
                .outgoing(node)
                .filter_map(|step| Some((step, self.target(step)?)))
                .filter(|&(_, target)| distances[target as usize] != u32::MAX)
                .collect();
            if steps.len() >= patience {
                let nearest = ways.iter().map(|&(_, target)| distances[target as usize]).min()?;
                ways.retain(|&(_, target)| distances[target as usize] == nearest);
            }
            let drawn = (chance.draw() % ways.len().max(1) as u64) as usize;
            let &(step, target) = ways.get(drawn)?;
            steps.push(step);
            node = target;
        }
        Some(self.completed(steps))
    }

    /// The run of these labels, if the system has one that violates the property. `lasso` says where the part starts
    /// that is repeated for ever.
    pub fn run_of_labels<L: AsRef<str>>(
        &self,
        labels: &[L],
        lasso: Option<usize>,
    ) -> Result<Run, NotACounterexample> {
        /// A node where the run may be, with the step that led there and its position in the layer before.
        type Place = (Node, Option<(Step, usize)>);
        let mut layers: Vec<Vec<Place>> = vec![vec![(0, None)]];
        for (at, label) in labels.iter().enumerate() {
            let mut next: Vec<Place> = Vec::new();
            let mut saved = false;
            for (position, &(node, _)) in layers[at].iter().enumerate() {
                for step in self.outgoing(node).filter(|&step| self.label(step) == label.as_ref()) {
                    match self.target(step) {
                        None => saved = true,
                        Some(target) if next.iter().all(|&(known, _)| known != target) => {
                            next.push((target, Some((step, position))));
                        }
                        Some(_) => {}
                    }
                }
            }
            if next.is_empty() {
                return Err(match saved {
                    true => NotACounterexample::Saved { at },
                    false => NotACounterexample::NotPossible { at, label: label.as_ref().to_owned() },
                });
            }
            layers.push(next);
        }
        let ends = layers[labels.len()].iter().position(|&(node, _)| self.is_goal(node));
        let mut position = ends.ok_or(NotACounterexample::Unfinished)?;
        let mut steps = Vec::new();
        for layer in layers[1..].iter().rev() {
            let (step, before) = layer[position].1.expect("layers after the first know where they come from");
            steps.push(step);
            position = before;
        }
        steps.reverse();
        match lasso {
            Some(_) => Ok(Run { steps, lasso }),
            None => Ok(self.completed(steps)),
        }
    }

    /// The same run in another tagging of the same system; nothing where it leaves that one.
    pub fn translate(&self, run: &Run, from: &Tagged<'_>) -> Option<Run> {
        let mut node = 0;
        let mut steps = Vec::with_capacity(run.steps.len());
        for (index, &step) in run.steps.iter().enumerate() {
            let first = self.graph.lts.edge_range(self.state(node)).start;
            let at = self.graph.row(node).start + (from.system_edge(step) - first);
            let step = Step { source: node, at };
            steps.push(step);
            match self.target(step) {
                Some(target) => node = target,
                None if index + 1 == run.steps.len() => {}
                None => return None,
            }
        }
        Some(Run { steps, lasso: run.lasso })
    }

    /// Which steps of a run belong to neighbourhoods, of a kind where one is given: those that leave one, and neutral
    /// ones that lead to one. The rest is noise (§4.3.2). Steps of a lasso count once each, as if it were unrolled.
    pub fn abstraction(&self, run: &Run, kind: Option<Kind>) -> Vec<usize> {
        (0..run.steps.len()).filter(|&at| self.matters(run.steps[at], kind)).collect()
    }

    fn matters(&self, step: Step, kind: Option<Kind>) -> bool {
        let wanted =
            |node| self.neighbourhood(node).is_some_and(|one| kind.is_none_or(|kind| one.kind == kind));
        wanted(step.source) || (self.tag(step) == Tag::Neutral && self.target(step).is_some_and(wanted))
    }

    /// The node in which a run ends; nothing for the sink.
    pub fn end(&self, run: &Run) -> Option<Node> {
        run.steps.last().map_or(Some(0), |&step| self.target(step))
    }

    /// A run to a complete violation, with the cycle that repeats for ever where it is one.
    fn completed(&self, mut steps: Vec<Step>) -> Run {
        let end = steps.last().map_or(Some(0), |&step| self.target(step));
        let Some(end) = end.filter(|&end| self.owes(end)) else {
            return Run { steps, lasso: None };
        };
        let lasso = steps.len();
        let cycle = self.cycle(end).unwrap_or_default();
        steps.extend(cycle);
        Run { lasso: (steps.len() > lasso).then_some(lasso), steps }
    }

    /// A shortest cycle through a node on which something is owed all the time.
    fn cycle(&self, node: Node) -> Option<Vec<Step>> {
        let mut before: rustc_hash::FxHashMap<Node, Step> = Default::default();
        let mut queue = VecDeque::from([node]);
        while let Some(at) = queue.pop_front() {
            for step in self.outgoing(at) {
                let Some(target) = self.target(step).filter(|&target| self.owes(target)) else { continue };
                if target == node {
                    let mut cycle = vec![step];
                    while cycle[cycle.len() - 1].source != node {
                        cycle.push(before[&cycle[cycle.len() - 1].source]);
                    }
                    cycle.reverse();
                    return Some(cycle);
                }
                if let std::collections::hash_map::Entry::Vacant(place) = before.entry(target) {
                    place.insert(step);
                    queue.push_back(target);
                }
            }
        }
        None
    }

    /// Breadth-first search over nodes and how much of the pattern was seen.
    fn shortest_way(&self, pattern: &Pattern, goal: impl Fn(Node) -> bool) -> Option<Vec<Step>> {
        let width = pattern.len() + 1;
        let mut before: Vec<u32> = vec![u32::MAX; self.state_count() * width];
        let mut steps: Vec<(Step, u32)> = Vec::new();
        const START: u32 = u32::MAX - 1;
        before[0] = START;
        let mut queue = VecDeque::from([(0u32, 0usize)]);
        while let Some((node, seen)) = queue.pop_front() {
            let came = before[node as usize * width + seen];
            if seen == pattern.len() && goal(node) {
                let mut way = Vec::new();
                let mut at = came;
                while at != START {
                    way.push(steps[at as usize].0);
                    at = steps[at as usize].1;
                }
                way.reverse();
                return Some(way);
            }
            for step in self.outgoing(node) {
                let target = self.graph.targets[step.at];
                if target == SINK {
                    continue;
                }
                let label = self.graph.label(node, step.at);
                let matches = pattern.get(seen).is_some_and(|mask| mask[label.index()]);
                let seen = seen + usize::from(matches);
                let place = &mut before[target as usize * width + seen];
                if *place == u32::MAX {
                    *place = steps.len() as u32;
                    steps.push((step, came));
                    queue.push_back((target, seen));
                }
            }
        }
        None
    }

    /// The states of the system that a run passes, the initial one first; that of the sink is not known.
    pub fn states_of(&self, run: &Run) -> Vec<StateId> {
        let first = std::iter::once(self.state(0));
        let after = run.steps.iter().map(|&step| self.graph.lts.edges()[self.system_edge(step)].target);
        first.chain(after).collect()
    }
}

/// The same run with nothing of its round before the round.
fn without_unrolling(mut run: Run) -> Run {
    while let Some(start) = run.lasso.filter(|&start| start > 0)
        && run.steps.last() == run.steps.get(start - 1)
    {
        run.steps.pop();
        run.lasso = Some(start - 1);
    }
    run
}
