//! A graph as a program under test: nodes are states, a scheduling point chooses an edge.

use std::collections::{BTreeSet, HashSet};

use serde_json::{Value, json};

/// A random graph, the same for the same numbers.
#[derive(Clone, Copy, Debug)]
pub struct Graph {
    pub seed: u64,
    pub nodes: u64,
    /// Whether the observed state is all there is; otherwise two nodes look the same.
    pub plain: bool,
}

/// What a job of a graph sends, apart from its end.
#[derive(Clone, Debug)]
pub enum Sent {
    Sequence { states: Vec<Value>, choices: Vec<u64>, end: &'static str },
    Frontier { node: u64, choices: Vec<u64> },
    Expanded { nodes: BTreeSet<u64> },
}

impl Graph {
    fn random(&self, node: u64, salt: u64) -> u64 {
        let mut bits =
            self.seed ^ node.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ salt.wrapping_mul(0xd1b5_4a32_d192_ed03);
        for _ in 0..3 {
            bits = (bits ^ (bits >> 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        }
        bits ^ (bits >> 29)
    }

    pub fn successors(&self, node: u64) -> Vec<u64> {
        let degree = [0, 1, 2, 2, 2, 3][(self.random(node, 0) % 6) as usize];
        let degree = if node == 0 { 3 } else { degree };
        (1..=degree).map(|edge| self.random(node, edge) % self.nodes).collect()
    }

    pub fn observe(&self, node: u64) -> Value {
        if self.plain { json!({"node": node}) } else { json!({"node": node / 2, "kind": "pair"}) }
    }

    /// The node that an observed state of a plain graph stands for.
    pub fn node_of(state: &Value) -> u64 {
        state["node"].as_u64().unwrap_or(0)
    }

    /// The node after some choices from the initial one.
    pub fn follow(&self, choices: &[u64]) -> u64 {
        choices.iter().fold(0, |node, choice| self.successors(node)[*choice as usize])
    }

    /// Everything within a depth after a node, where `choices` lead; a node is left only once, and not if it is known.
    pub fn explore(&self, node: u64, choices: &[u64], depth: usize, known: &BTreeSet<u64>) -> Vec<Sent> {
        let mut sent = Vec::new();
        let mut seen = HashSet::new();
        let mut stack = vec![(vec![node], choices.to_vec())];
        while let Some((path, choices)) = stack.pop() {
            let node = path[path.len() - 1];
            let successors = self.successors(node);
            let end = if successors.is_empty() {
                match node % 8 {
                    0 => "deadlock",
                    1 => "panic",
                    _ => "finished",
                }
            } else if path.len() > 1 && known.contains(&node) {
                "seen"
            } else if path.len() > depth {
                sent.push(Sent::Frontier { node, choices: choices.clone() });
                "depth"
            } else if seen.insert((node, path.len())) {
                for (choice, next) in successors.into_iter().enumerate().rev() {
                    let (mut path, mut choices) = (path.clone(), choices.clone());
                    path.push(next);
                    choices.push(choice as u64);
                    stack.push((path, choices));
                }
                continue;
            } else {
                "seen"
            };
            let mut states: Vec<Value> = path.iter().map(|node| self.observe(*node)).collect();
            states.dedup();
            sent.push(Sent::Sequence { states, choices, end });
        }
        sent.push(Sent::Expanded { nodes: seen.into_iter().map(|(node, _)| node).collect() });
        sent
    }
}

/// `0*3.1` for three choices of 0 and one of 1.
pub fn write_schedule(choices: &[u64]) -> String {
    let runs = choices.chunk_by(|one, other| one == other).map(|run| match run.len() {
        1 => run[0].to_string(),
        times => format!("{}*{times}", run[0]),
    });
    runs.collect::<Vec<_>>().join(".")
}

pub fn read_schedule(schedule: &str) -> Vec<u64> {
    let parts = schedule.split('.').filter(|part| !part.is_empty());
    let runs = parts.map(|part| {
        let (choice, times) = part.split_once('*').unwrap_or((part, "1"));
        std::iter::repeat_n(choice.parse().expect("a choice"), times.parse().expect("a number"))
    });
    runs.flatten().collect()
}

/// What the model says: which steps between observed states are wrong.
pub fn is_wrong(from: &Value, to: &Value) -> bool {
    (Graph::node_of(from) * 7 + Graph::node_of(to) * 13).is_multiple_of(29)
}
