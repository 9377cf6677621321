//! Searching for one run: breadth first over pairs of a part of the formula and a state.
//!
//! Parts that are reached without a step are skipped over ([`Closure`]), so that a pair is entered by a step, and
//! the first accepted pair gives a shortest trace. Where none is accepted, a cycle whose outermost fixpoint is a
//! greatest one is accepted too: the run is then a lasso. Linear time and memory in the pairs that are seen.

use std::sync::Arc;

use lts::{Edge, LabelId, Progress, StateId};
use rustc_hash::FxHashMap;

use crate::closure::{Closure, Closures};
use crate::components::components;
use crate::equations::{Equations, Node};
use crate::program::{InstanceId, Program, Shape};
use crate::sets::Solved;
use crate::shape::Class;
use crate::system::System;
use crate::verdict::{CheckError, Explanation, Step};

/// After how many pairs a cycle is first looked for.
const FIRST_TRIAL: usize = 1 << 14;

/// A search for a run.
pub(crate) struct Search<'a, S: System> {
    pub parts: Closures,
    pub system: S,
    /// Sets of states for the parts that were solved beforehand.
    pub solved: Option<&'a Solved>,
    pub progress: &'a Progress,
    pub max_instances: usize,
    /// All runs of at most this many steps were looked at, and none is accepted; none before the first was.
    pub completed: Option<usize>,
    /// How many states the search came to.
    pub visited: usize,
}

/// A pair that was reached, and how.
struct Pair {
    instance: InstanceId,
    state: StateId,
    parent: u32,
    label: LabelId,
}

/// A step between pairs, for the search for cycles.
#[derive(Clone, Copy)]
struct Link {
    target: u32,
    priority: u32,
    label: LabelId,
}

impl<'a, S: System> Search<'a, S> {
    pub fn new(
        program: Program,
        class: &'a [Class],
        system: S,
        solved: Option<&'a Solved>,
        progress: &'a Progress,
    ) -> Self {
        Self {
            parts: Closures::new(program, class),
            system,
            solved,
            progress,
            max_instances: usize::MAX,
            completed: None,
            visited: 0,
        }
    }

    /// A run that the formula accepts, or none.
    pub fn run(&mut self) -> Result<Option<Explanation>, CheckError> {
        let mut pairs = Vec::new();
        let found = self.search(&mut pairs);
        self.visited = distinct(pairs.iter().map(|pair| pair.state));
        found
    }

    fn search(&mut self, pairs: &mut Vec<Pair>) -> Result<Option<Explanation>, CheckError> {
        let initial = self.system.initial()?;
        let root = self.parts.program.root();
        let cycles = may_cycle(&self.parts.program.equations, &self.parts.class);
        pairs.push(Pair { instance: root, state: initial, parent: 0, label: LabelId::TAU });
        let mut known: FxHashMap<(InstanceId, StateId), u32> = FxHashMap::default();
        known.insert((root, initial), 0);
        let mut links: Vec<Link> = Vec::new();
        let mut ends: Vec<usize> = Vec::new();
        if self.accepted(root, initial)? {
            return Ok(Some(Explanation::Trace(Vec::new())));
        }
        self.completed = Some(0);
        let mut level_end = pairs.len();
        let mut trial = FIRST_TRIAL;
        let mut at = 0;
        while at < pairs.len() {
            if at == level_end {
                level_end = pairs.len();
                self.completed = self.completed.map(|steps| steps + 1);
            }
            if at % 4096 == 0 {
                self.progress.advance(4096);
                if self.progress.is_cancelled() {
                    return Err(CheckError::Cancelled);
                }
            }
            let (instance, state) = (pairs[at].instance, pairs[at].state);
            let closure = self.closure(instance)?;
            for (guard, priority, step) in &closure.steps {
                if !self.all_hold(guard, state)? {
                    continue;
                }
                let count = self.system.successors(state)?.len();
                for edge in 0..count {
                    let edge = self.system.successors(state)?[edge];
                    let targets =
                        self.parts.program.targets(*step, edge.label, || self.system.label(edge.label))?;
                    for &target in targets.iter() {
                        let fresh = pairs.len() as u32;
                        let number = *known.entry((target, edge.target)).or_insert(fresh);
                        if number == fresh {
                            pairs.push(Pair {
                                instance: target,
                                state: edge.target,
                                parent: at as u32,
                                label: edge.label,
                            });
                            if self.accepted(target, edge.target)? {
                                return Ok(Some(Explanation::Trace(self.path(pairs, fresh))));
                            }
                        }
                        if cycles {
                            links.push(Link { target: number, priority: *priority, label: edge.label });
                        }
                    }
                }
            }
            ends.push(links.len());
            at += 1;
            // Long before everything is seen there may be a cycle already.
            if cycles && at == trial {
                trial *= 8;
                if let Some(lasso) = self.lasso(pairs, &links, &ends) {
                    return Ok(Some(lasso));
                }
            }
            if self.parts.program.instance_count() > self.max_instances {
                return Err(CheckError::Unbounded(self.max_instances));
            }
        }
        if !cycles {
            return Ok(None);
        }
        Ok(self.lasso(pairs, &links, &ends))
    }

    fn accepted(&mut self, instance: InstanceId, state: StateId) -> Result<bool, CheckError> {
        let closure = self.closure(instance)?;
        for guard in &closure.accepts {
            if self.all_hold(guard, state)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    pub fn all_hold(&mut self, guard: &[InstanceId], state: StateId) -> Result<bool, CheckError> {
        for &leaf in guard {
            if !self.leaf_holds(leaf, state)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Evaluates a part that depends on the steps of one state only, or was solved beforehand.
    pub fn leaf_holds(&mut self, leaf: InstanceId, state: StateId) -> Result<bool, CheckError> {
        let node = self.parts.program.node(leaf);
        if let (Class::Solved, Some(solved)) = (self.parts.class[node], self.solved) {
            return Ok(solved.holds(node, state));
        }
        match self.parts.program.shape(leaf)? {
            Shape::Constant(value) => Ok(value),
            Shape::Join { all, parts, .. } => {
                for &part in parts.iter() {
                    if self.leaf_holds(part, state)? != all {
                        return Ok(!all);
                    }
                }
                Ok(all)
            }
            Shape::Step { all } => {
                let count = self.system.successors(state)?.len();
                for edge in 0..count {
                    let edge = self.system.successors(state)?[edge];
                    let targets =
                        self.parts.program.targets(leaf, edge.label, || self.system.label(edge.label))?;
                    // Behind the step there is a constant, which is not `all`, or there would be no step.
                    if !targets.is_empty() {
                        return Ok(!all);
                    }
                }
                Ok(all)
            }
        }
    }

    /// What an instance can do next.
    pub fn closure(&mut self, instance: InstanceId) -> Result<Arc<Closure>, CheckError> {
        self.parts.closure(instance)
    }

    fn step(&mut self, source: StateId, label: LabelId, target: StateId) -> Step {
        let origin = self.system.origin(source, Edge { label, target });
        Step { source, label: self.system.label(label), target, slots: self.system.slots(target), origin }
    }

    /// The steps from the first pair to another.
    fn path(&mut self, pairs: &[Pair], to: u32) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut at = to;
        while at != 0 {
            let pair = &pairs[at as usize];
            steps.push(self.step(pairs[pair.parent as usize].state, pair.label, pair.state));
            at = pair.parent;
        }
        steps.reverse();
        steps
    }

    /// The nearest cycle whose largest priority is even.
    fn lasso(&mut self, pairs: &[Pair], links: &[Link], ends: &[usize]) -> Option<Explanation> {
        let row = |pair: usize| {
            let start = if pair == 0 { 0 } else { ends.get(pair - 1).copied().unwrap_or(links.len()) };
            &links[start..ends.get(pair).copied().unwrap_or(links.len())]
        };
        let mut priorities: Vec<u32> = links.iter().map(|link| link.priority).collect();
        priorities.sort_unstable();
        priorities.dedup();
        let mut best: Option<(usize, Link, u32, Vec<u32>)> = None;
        for &priority in priorities.iter().filter(|&&priority| priority % 2 == 0) {
            // A link that is too high leads nowhere: to its own source, which forms no component with others.
            let (component, _) = components(pairs.len(), |pair, at| {
                let link = row(pair).get(at)?;
                Some(if link.priority <= priority { link.target as usize } else { pair })
            });
            let found = (0..pairs.len()).find_map(|pair| {
                row(pair)
                    .iter()
                    .find(|link| {
                        link.priority == priority && component[pair] == component[link.target as usize]
                    })
                    .map(|link| (pair, *link))
            });
            if let Some((pair, link)) = found
                && best.as_ref().is_none_or(|(other, ..)| pair < *other)
            {
                best = Some((pair, link, priority, component));
            }
        }
        let (start, first, priority, component) = best?;
        let back = self.way_back(pairs, &row, first.target, start as u32, priority, &component);
        let prefix = self.path(pairs, start as u32);
        let mut cycle = vec![self.step(pairs[start].state, first.label, pairs[first.target as usize].state)];
        let mut at = first.target;
        for link in back {
            cycle.push(self.step(pairs[at as usize].state, link.label, pairs[link.target as usize].state));
            at = link.target;
        }
        Some(Explanation::Lasso { prefix, cycle })
    }

    /// A shortest way inside one component.
    fn way_back<'l>(
        &self,
        pairs: &[Pair],
        row: &dyn Fn(usize) -> &'l [Link],
        from: u32,
        to: u32,
        priority: u32,
        component: &[u32],
    ) -> Vec<Link> {
        let mut before: FxHashMap<u32, (u32, Link)> = FxHashMap::default();
        let mut queue = vec![from];
        let mut at = 0;
        while at < queue.len() && from != to {
            let pair = queue[at];
            at += 1;
            for link in row(pair as usize) {
                let inside = component[link.target as usize] == component[to as usize];
                if link.priority > priority
                    || !inside
                    || link.target == from
                    || before.contains_key(&link.target)
                {
                    continue;
                }
                before.insert(link.target, (pair, *link));
                if link.target == to {
                    at = queue.len();
                    break;
                }
                queue.push(link.target);
            }
        }
        debug_assert!(pairs.len() > to as usize);
        let mut way = Vec::new();
        let mut at = to;
        while at != from {
            let Some(&(parent, link)) = before.get(&at) else { break };
            way.push(link);
            at = parent;
        }
        way.reverse();
        way
    }
}

/// Whether some cycle of the formula can be accepted at all.
pub(crate) fn may_cycle(equations: &Equations, class: &[Class]) -> bool {
    equations.nodes.iter().zip(class).any(|(node, class)| {
        *class == Class::Linear && matches!(node, Node::Fix { priority, .. } if priority % 2 == 0)
    })
}

/// How many different states these are.
pub(crate) fn distinct(states: impl Iterator<Item = StateId>) -> usize {
    let mut seen: Vec<bool> = Vec::new();
    for state in states {
        if state.index() >= seen.len() {
            seen.resize((state.index() + 1).next_power_of_two(), false);
        }
        seen[state.index()] = true;
    }
    seen.iter().filter(|seen| **seen).count()
}
