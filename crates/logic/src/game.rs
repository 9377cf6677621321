//! Evaluating any formula on any system as a game, made as far as is needed.
//!
//! A node is a part of the formula in a state. Nodes are made breadth first; values that constants decide are
//! passed on at once, and whenever the game has grown fourfold it is solved with all open ends counted as lost for
//! one side, then for the other: what is won even so is won. So the search ends as soon as the explored part
//! decides the root, whatever the fixpoints.

use lts::{LabelId, Lts, LtsBuilder, Progress, StateId};
use rustc_hash::FxHashMap;

use crate::linear::distinct;
use crate::parity::{Game, NONE, Solution, UNKNOWN};
use crate::program::{InstanceId, Program, Shape};
use crate::system::System;
use crate::verdict::CheckError;

/// The size at which an unfinished game is first solved.
const FIRST_TRIAL: usize = 1 << 12;

/// The most nodes that a game may have.
const NODE_LIMIT: usize = 1 << 31;

/// A game in the making.
pub(crate) struct Arena<'a, S: System> {
    program: Program,
    system: S,
    progress: &'a Progress,
    max_instances: usize,
    nodes: Vec<(InstanceId, StateId)>,
    known: FxHashMap<(InstanceId, StateId), u32>,
    all: Vec<bool>,
    priority: Vec<u32>,
    block: Vec<u32>,
    /// Rows of the nodes that were expanded, which are the first ones.
    ends: Vec<usize>,
    edges: Vec<u32>,
    /// Who depends on a node: the first of a chain in `chains`.
    parents: Vec<u32>,
    chains: Vec<(u32, u32)>,
    /// How many parts still have to agree before a node has the value of all of them.
    left: Vec<u32>,
    solution: Solution,
}

impl<'a, S: System> Arena<'a, S> {
    pub fn new(program: Program, system: S, max_instances: usize, progress: &'a Progress) -> Self {
        Self {
            program,
            system,
            progress,
            max_instances,
            nodes: Vec::new(),
            known: FxHashMap::default(),
            all: Vec::new(),
            priority: Vec::new(),
            block: Vec::new(),
            ends: Vec::new(),
            edges: Vec::new(),
            parents: Vec::new(),
            chains: Vec::new(),
            left: Vec::new(),
            solution: Solution { value: Vec::new(), choice: Vec::new() },
        }
    }

    /// How many states the game speaks of.
    pub fn visited(&self) -> usize {
        distinct(self.nodes.iter().map(|&(_, state)| state))
    }

    pub fn system(&self) -> &S {
        &self.system
    }

    pub fn system_mut(&mut self) -> &mut S {
        &mut self.system
    }

    /// Whether the formula holds in the initial state.
    pub fn run(&mut self) -> Result<bool, CheckError> {
        let initial = self.system.initial()?;
        let root = self.program.root();
        self.node(root, initial)?;
        let mut trial = FIRST_TRIAL;
        let mut at = 0;
        while at < self.nodes.len() && self.solution.value[0] == UNKNOWN {
            if at % 4096 == 0 {
                self.progress.advance(4096);
                if self.progress.is_cancelled() {
                    return Err(CheckError::Cancelled);
                }
            }
            self.expand(at as u32)?;
            at += 1;
            if at == trial {
                trial *= 4;
                self.try_to_end();
            }
            if self.nodes.len() > NODE_LIMIT {
                return Err(CheckError::Unbounded(NODE_LIMIT));
            }
            if self.program.instance_count() > self.max_instances {
                return Err(CheckError::Unbounded(self.max_instances));
            }
        }
        if self.solution.value[0] == UNKNOWN {
            let mut solution = self.solution.clone();
            self.solve(&mut solution, None);
            self.solution = solution;
        }
        Ok(self.solution.value[0] == 1)
    }

    fn node(&mut self, instance: InstanceId, state: StateId) -> Result<u32, CheckError> {
        let fresh = self.nodes.len() as u32;
        let number = *self.known.entry((instance, state)).or_insert(fresh);
        if number < fresh {
            return Ok(number);
        }
        let (all, priority, value) = match self.program.shape(instance)? {
            Shape::Constant(value) => (false, 0, u8::from(value)),
            Shape::Join { all, priority, .. } => (all, priority, UNKNOWN),
            Shape::Step { all } => (all, 0, UNKNOWN),
        };
        self.nodes.push((instance, state));
        self.all.push(all);
        self.priority.push(priority);
        self.block.push(self.program.equations.block[self.program.node(instance)]);
        self.parents.push(NONE);
        self.left.push(0);
        self.solution.value.push(value);
        self.solution.choice.push(NONE);
        Ok(number)
    }

    /// Makes the parts of a node.
    fn expand(&mut self, node: u32) -> Result<(), CheckError> {
        let at = node as usize;
        let (instance, state) = self.nodes[at];
        let start = self.edges.len();
        if self.solution.value[at] == UNKNOWN {
            match self.program.shape(instance)? {
                Shape::Constant(_) => {}
                Shape::Join { parts, .. } => {
                    for &part in parts.iter() {
                        let part = self.node(part, state)?;
                        self.edges.push(part);
                        // A part that decides spares the others: a condition may guard them from errors in their data.
                        let value = self.solution.value[part as usize];
                        if value != UNKNOWN && (value == 1) != self.all[at] {
                            break;
                        }
                    }
                }
                Shape::Step { .. } => {
                    let count = self.system.successors(state)?.len();
                    for edge in 0..count {
                        let edge = self.system.successors(state)?[edge];
                        let targets =
                            self.program.targets(instance, edge.label, || self.system.label(edge.label))?;
                        for &target in targets.iter() {
                            let part = self.node(target, edge.target)?;
                            self.edges.push(part);
                        }
                    }
                }
            }
            self.edges[start..].sort_unstable();
            let mut kept = start;
            for at in start..self.edges.len() {
                if kept == start || self.edges[kept - 1] != self.edges[at] {
                    self.edges[kept] = self.edges[at];
                    kept += 1;
                }
            }
            self.edges.truncate(kept);
        }
        self.ends.push(self.edges.len());
        if self.solution.value[at] != UNKNOWN {
            return Ok(());
        }
        self.left[at] = (self.edges.len() - start) as u32;
        for edge in start..self.edges.len() {
            let part = self.edges[edge];
            self.chains.push((node, self.parents[part as usize]));
            self.parents[part as usize] = self.chains.len() as u32 - 1;
        }
        for edge in start..self.edges.len() {
            let part = self.edges[edge];
            if self.solution.value[part as usize] != UNKNOWN {
                self.tell(node, part);
            }
        }
        if self.left[at] == 0 && self.solution.value[at] == UNKNOWN {
            self.decide(node, u8::from(self.all[at]), NONE);
        }
        Ok(())
    }

    /// A part's value is known: what does that mean for the node?
    fn tell(&mut self, node: u32, part: u32) {
        let at = node as usize;
        if self.solution.value[at] != UNKNOWN {
            return;
        }
        let value = self.solution.value[part as usize];
        if (value == 1) != self.all[at] {
            self.decide(node, value, part);
        } else {
            self.left[at] -= 1;
            if self.left[at] == 0 {
                self.decide(node, value, NONE);
            }
        }
    }

    /// Sets a value and passes it on.
    fn decide(&mut self, node: u32, value: u8, choice: u32) {
        self.solution.value[node as usize] = value;
        self.solution.choice[node as usize] = choice;
        let mut queue = vec![node];
        while let Some(part) = queue.pop() {
            let value = self.solution.value[part as usize];
            let mut chain = self.parents[part as usize];
            while chain != NONE {
                let (parent, next) = self.chains[chain as usize];
                chain = next;
                let at = parent as usize;
                if self.solution.value[at] != UNKNOWN {
                    continue;
                }
                let decided = if (value == 1) != self.all[at] {
                    self.solution.choice[at] = part;
                    true
                } else {
                    self.left[at] -= 1;
                    self.left[at] == 0
                };
                if decided {
                    self.solution.value[at] = value;
                    queue.push(parent);
                }
            }
        }
    }

    /// Solves what there is, open ends lost for one side, then for the other.
    fn try_to_end(&mut self) {
        for assumed in [false, true] {
            let mut solution = self.solution.clone();
            self.solve(&mut solution, Some(assumed));
            if (solution.value[0] == 1) != assumed {
                self.solution = solution;
                return;
            }
        }
    }

    fn solve(&self, solution: &mut Solution, open: Option<bool>) {
        let mut ends = self.ends.clone();
        ends.resize(self.nodes.len(), self.edges.len());
        if let Some(open) = open {
            for node in self.ends.len()..self.nodes.len() {
                if solution.value[node] == UNKNOWN {
                    solution.value[node] = u8::from(open);
                }
            }
        }
        let parities = self.program.equations.block_parities();
        let game = Game {
            all: &self.all,
            priority: &self.priority,
            block: &self.block,
            parities: &parities,
            ends: &ends,
            edges: &self.edges,
        };
        game.solve(solution);
    }

    /// The part of the system that decides the root: along the winner's choices, and all of the loser's.
    pub fn subsystem(&mut self) -> Result<Lts, CheckError> {
        let mut seen = vec![false; self.nodes.len()];
        seen[0] = true;
        let mut stack = vec![0u32];
        let mut transitions: Vec<(StateId, LabelId, StateId)> = Vec::new();
        while let Some(node) = stack.pop() {
            let at = node as usize;
            let value = self.solution.value[at];
            let chosen = if (value == 1) != self.all[at] { self.solution.choice[at] } else { NONE };
            let (instance, state) = self.nodes[at];
            if at >= self.ends.len() {
                continue;
            }
            let start = if at == 0 { 0 } else { self.ends[at - 1] };
            let row: Vec<u32> = self.edges[start..self.ends[at]].to_vec();
            for part in row.into_iter().filter(|&part| chosen == NONE || part == chosen) {
                if !seen[part as usize] {
                    seen[part as usize] = true;
                    stack.push(part);
                }
            }
            if !matches!(self.program.shape(instance)?, Shape::Step { .. }) {
                continue;
            }
            let count = self.system.successors(state)?.len();
            for edge in 0..count {
                let edge = self.system.successors(state)?[edge];
                let targets = self.program.targets(instance, edge.label, || self.system.label(edge.label))?;
                let taken = targets
                    .iter()
                    .any(|&target| chosen == NONE || self.known.get(&(target, edge.target)) == Some(&chosen));
                if taken {
                    transitions.push((state, edge.label, edge.target));
                    if chosen != NONE {
                        break;
                    }
                }
            }
        }
        let mut builder = LtsBuilder::new();
        let mut numbers: FxHashMap<StateId, StateId> = FxHashMap::default();
        numbers.insert(self.nodes[0].1, StateId::new(0));
        for (source, label, target) in transitions {
            let label = builder.label(&self.system.label(label));
            let mut number = |state: StateId| {
                let fresh = StateId::new(numbers.len());
                *numbers.entry(state).or_insert(fresh)
            };
            let (source, target) = (number(source), number(target));
            builder.add(source, label, target);
        }
        let lts = builder.finish().expect("a part of a game is smaller than a system may be");
        Ok(lts.reachable())
    }
}
