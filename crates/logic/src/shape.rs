//! Which parts of a formula can be searched for along single runs.
//!
//! A node is *linear* where it holds if and only if one run shows it: disjunctions, possibilities, and
//! conjunctions with conditions on the current state alone. The negation of a safety property, of an
//! inevitability or of `[R] -|` is linear; so is `<R> true`.

use crate::equations::{Equations, Node, NodeId, successor};

/// What is needed to evaluate a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// The steps of one state.
    Leaf,
    /// The steps of one state too, but a step that shows it is worth telling: a condition or the end of a run.
    Local,
    /// One run.
    Linear,
    /// The whole system; where `solved` is allowed, found beforehand as a set of states and used like a leaf.
    Solved,
    /// Anything else.
    Other,
}

/// Classifies all nodes. With `solvable`, blocks of equations without alternation count as solved.
pub(crate) fn classify(equations: &Equations, solvable: bool) -> Vec<Class> {
    let mut members: Vec<Vec<NodeId>> = vec![Vec::new(); equations.block_count];
    for (node, &block) in equations.block.iter().enumerate() {
        members[block as usize].push(node);
    }
    let parities = equations.block_parities();
    let mut settable = vec![false; equations.block_count];
    let mut class = vec![Class::Other; equations.nodes.len()];
    for (block, members) in members.iter().enumerate() {
        let inside = |next: NodeId| equations.block[next] as usize == block;
        let cyclic = members.len() > 1 || {
            let node = &equations.nodes[members[0]];
            (0..).map_while(|at| successor(node, at)).any(inside)
        };
        let of = |next: NodeId| if inside(next) { Class::Linear } else { class[next] };
        let found: Vec<Class> =
            members.iter().map(|&node| classify_node(equations, &equations.nodes[node], &of)).collect();
        let result = if !cyclic {
            found[0]
        } else if found.contains(&Class::Other) {
            Class::Other
        } else {
            Class::Linear
        };
        // A set of states can be computed from sets of states.
        settable[block] = solvable
            && parities[block].is_some()
            && members.iter().all(|&node| {
                let mut below = (0..).map_while(|at| successor(&equations.nodes[node], at));
                below.all(|next| inside(next) || settable[equations.block[next] as usize])
            });
        let result = if result == Class::Other && settable[block] { Class::Solved } else { result };
        members.iter().for_each(|&node| class[node] = result);
    }
    class
}

fn classify_node(equations: &Equations, node: &Node, of: &dyn Fn(NodeId) -> Class) -> Class {
    let is_leaf = |class: Class| matches!(class, Class::Leaf | Class::Local | Class::Solved);
    match node {
        Node::Constant(_) | Node::Data(_) => Class::Leaf,
        Node::Step { all, next, .. } => match of(*next) {
            _ if matches!(equations.nodes[*next], Node::Constant(_)) && *all => Class::Leaf,
            _ if matches!(equations.nodes[*next], Node::Constant(_)) => Class::Local,
            Class::Other => Class::Other,
            _ if *all => Class::Other,
            _ => Class::Linear,
        },
        Node::And(parts) | Node::Or(parts) => {
            let others = parts.iter().filter(|&&part| !is_leaf(of(part))).count();
            if parts.iter().any(|&part| of(part) == Class::Other) {
                Class::Other
            } else if others == 0 {
                let told = parts.iter().any(|&part| of(part) == Class::Local);
                if told { Class::Local } else { Class::Leaf }
            } else if others == 1 || matches!(node, Node::Or(_)) {
                Class::Linear
            } else {
                Class::Other
            }
        }
        Node::Assign { next, .. } | Node::Fix { body: next, .. } => of(*next),
        Node::Each { all, next, .. } => match of(*next) {
            Class::Linear if *all => Class::Other,
            Class::Local if *all => Class::Leaf,
            other => other,
        },
    }
}
