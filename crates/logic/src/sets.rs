//! Solving blocks of equations as sets of states of a finished LTS.
//!
//! A block is a least or a greatest fixpoint over the blocks below it. Its sets, one bit a state and equation, are
//! brought to it by sweeping over the states, once forwards and once backwards in turn: on most systems a few
//! sweeps are enough, each reads the transitions in their order, and no reverse index is needed. Where
//! [`SWEEP_LIMIT`] sweeps do not end it, the rest is done by following changes backwards through a reverse index
//! (8 bytes a transition while it lasts), each change once: linear time for bounded out-degrees.

use lts::{Lts, Progress, StateId};

use crate::action::LabelText;
use crate::equations::{Equations, Node, NodeId, successor};
use crate::shape::Class;
use crate::value::DataError;

/// Sweeps after which changes are followed one by one.
const SWEEP_LIMIT: usize = 16;

/// One bit a state.
#[derive(Clone)]
pub(crate) struct Bits(Vec<u64>);

impl Bits {
    pub fn new(count: usize, value: bool) -> Self {
        Self(vec![if value { u64::MAX } else { 0 }; count.div_ceil(64)])
    }

    #[inline]
    pub fn get(&self, at: usize) -> bool {
        self.0[at >> 6] >> (at & 63) & 1 == 1
    }

    #[inline]
    pub fn set(&mut self, at: usize, value: bool) {
        let bit = 1 << (at & 63);
        if value {
            self.0[at >> 6] |= bit;
        } else {
            self.0[at >> 6] &= !bit;
        }
    }

    /// The 64 bits from `word` on.
    pub fn words(&mut self) -> &mut [u64] {
        &mut self.0
    }
}

/// Sets of states, for the nodes that were asked for and those they depend on.
pub(crate) struct Solved {
    sets: Vec<Option<Bits>>,
}

impl Solved {
    pub fn holds(&self, node: NodeId, state: StateId) -> bool {
        self.sets[node].as_ref().is_some_and(|set| set.get(state.index()))
    }

    /// Solves the nodes classified as [`Class::Solved`], and what is below them. The equations have no data.
    pub fn new(
        lts: &Lts,
        equations: &Equations,
        class: &[Class],
        progress: &Progress,
    ) -> Result<Option<Self>, DataError> {
        let mut needed: Vec<bool> = class.iter().map(|&class| class == Class::Solved).collect();
        let mut stack: Vec<NodeId> = (0..needed.len()).filter(|&node| needed[node]).collect();
        while let Some(node) = stack.pop() {
            for next in (0..).map_while(|at| successor(&equations.nodes[node], at)) {
                if !needed[next] {
                    needed[next] = true;
                    stack.push(next);
                }
            }
        }
        let masks = masks(lts, equations)?;
        let parities = equations.block_parities();
        let mut members: Vec<Vec<NodeId>> = vec![Vec::new(); equations.block_count];
        for node in (0..needed.len()).filter(|&node| needed[node]) {
            members[equations.block[node] as usize].push(node);
        }
        let mut solver =
            Solver { lts, equations, masks, sets: vec![None; equations.nodes.len()], current: u32::MAX };
        for (block, mut members) in members.into_iter().enumerate().filter(|(_, members)| !members.is_empty())
        {
            if progress.is_cancelled() {
                return Ok(None);
            }
            // Parts come before what they are part of, the heads of fixpoints last.
            members.sort_by_key(|&node| (matches!(equations.nodes[node], Node::Fix { .. }), node));
            solver.block(block as u32, &members, parities[block].unwrap_or(false));
        }
        Ok(Some(Self { sets: solver.sets }))
    }
}

/// By predicate and label: whether it holds.
fn masks(lts: &Lts, equations: &Equations) -> Result<Vec<Vec<bool>>, DataError> {
    let labels: Vec<LabelText> = lts.labels().iter().map(|(_, text)| LabelText::new(text)).collect();
    let mut masks = vec![Vec::new(); equations.actions.len()];
    for node in &equations.nodes {
        // A predicate that no equation uses may need variables that none gives a value: `R{0}`.
        if let Node::Step { action, .. } = *node
            && masks[action].is_empty()
        {
            let holds = |label| Ok(!equations.actions[action].matches(label, &|_| None)?.is_empty());
            masks[action] = labels.iter().map(holds).collect::<Result<_, DataError>>()?;
        }
    }
    Ok(masks)
}

struct Solver<'a> {
    lts: &'a Lts,
    equations: &'a Equations,
    masks: Vec<Vec<bool>>,
    sets: Vec<Option<Bits>>,
    current: u32,
}

impl Solver<'_> {
    fn block(&mut self, block: u32, members: &[NodeId], greatest: bool) {
        let states = self.lts.state_count();
        self.current = block;
        for &node in members {
            self.sets[node] = Some(Bits::new(states, greatest));
        }
        if let [node] = *members {
            let cyclic = (0..)
                .map_while(|at| successor(&self.equations.nodes[node], at))
                .any(|next| self.equations.block[next] == block);
            if !cyclic {
                for state in 0..states {
                    if self.value(node, state) != greatest {
                        self.flip(node, state, greatest);
                    }
                }
                return;
            }
        }
        let mut last_changes: Vec<(NodeId, u32)> = Vec::new();
        for sweep in 0..SWEEP_LIMIT {
            last_changes.clear();
            let remember = sweep + 1 == SWEEP_LIMIT;
            let mut changed = false;
            for at in 0..states {
                let state = if sweep % 2 == 0 { states - 1 - at } else { at };
                // Values change one way only, so this ends after as many rounds as there are members.
                loop {
                    let mut again = false;
                    for &node in members {
                        if self.get(node, state) == greatest && self.value(node, state) != greatest {
                            self.flip(node, state, greatest);
                            again = true;
                            if remember {
                                last_changes.push((node, state as u32));
                            }
                        }
                    }
                    changed |= again;
                    if !again || members.len() == 1 {
                        break;
                    }
                }
            }
            if !changed {
                return;
            }
        }
        self.follow(block, members, greatest, last_changes);
    }

    /// Follows changes to whatever depends on them.
    fn follow(&mut self, block: u32, members: &[NodeId], greatest: bool, mut changes: Vec<(NodeId, u32)>) {
        let incoming = self.lts.incoming();
        let mut parents: Vec<(NodeId, NodeId)> = Vec::new();
        for &node in members {
            let parts = (0..).map_while(|at| successor(&self.equations.nodes[node], at));
            parents
                .extend(parts.filter(|&next| self.equations.block[next] == block).map(|next| (next, node)));
        }
        parents.sort_unstable();
        while let Some((node, state)) = changes.pop() {
            let first = parents.partition_point(|&(part, _)| part < node);
            for &(_, parent) in parents[first..].iter().take_while(|&&(part, _)| part == node) {
                let mut look = |solver: &mut Self, state: usize| {
                    if solver.get(parent, state) == greatest && solver.value(parent, state) != greatest {
                        solver.flip(parent, state, greatest);
                        changes.push((parent, state as u32));
                    }
                };
                match self.equations.nodes[parent] {
                    Node::Step { action, .. } => {
                        for edge in incoming.of(StateId::from_raw(state)) {
                            if self.masks[action][edge.label.index()] {
                                look(self, edge.target.index());
                            }
                        }
                    }
                    _ => look(self, state as usize),
                }
            }
        }
    }

    #[inline]
    fn get(&self, node: NodeId, state: usize) -> bool {
        self.sets[node].as_ref().is_some_and(|set| set.get(state))
    }

    fn flip(&mut self, node: NodeId, state: usize, greatest: bool) {
        if let Some(set) = &mut self.sets[node] {
            set.set(state, !greatest);
        }
    }

    /// The right-hand side of an equation.
    #[inline]
    fn value(&self, node: NodeId, state: usize) -> bool {
        match &self.equations.nodes[node] {
            Node::Constant(value) => *value,
            Node::And(parts) => parts.iter().all(|&part| self.get(part, state)),
            Node::Or(parts) => parts.iter().any(|&part| self.get(part, state)),
            Node::Fix { body, .. } => self.get(*body, state),
            Node::Step { all, action, next } => {
                let mask = &self.masks[*action];
                let Some(set) = &self.sets[*next] else { return *all };
                let row = self.lts.outgoing(StateId::new(state));
                // One step decides: towards `true` where one is enough, towards `false` where all are needed.
                match row.iter().any(|edge| mask[edge.label.index()] && set.get(edge.target.index()) != *all)
                {
                    true => !all,
                    false => *all,
                }
            }
            Node::Data(_) | Node::Assign { .. } | Node::Each { .. } => {
                unreachable!("only equations without data are solved as sets")
            }
        }
    }
}
