//! Where nodes stand in space: a force-directed layout that settles step by step, free or in layers.
//!
//! Springs and repulsion after Fruchterman and Reingold (1991), the repulsion approximated with Barnes and Hut's
//! octree (1986): `O(n log n)` a step on all cores. The force on a node is summed by one thread in the order of the
//! tree, so the same seed gives the same picture whatever the number of threads.

mod frame;
mod octree;

use lts::Chance;
use rayon::prelude::*;

use frame::{align, centre};
use octree::Octree;

/// A place or a direction in space.
pub type Point = [f32; 3];

/// What is laid out.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// How many nodes there are.
    pub nodes: usize,
    /// Springs between them, with their strength.
    pub springs: Vec<(u32, u32, f32)>,
    /// How much each node repels others.
    pub masses: Vec<f32>,
    /// How far each is from the initial state, which is the first node.
    pub distances: Vec<u32>,
}

/// How nodes may move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// Anywhere.
    Force,
    /// On planes, by the distance from the initial state.
    Layers,
}

/// A layout on its way to rest.
pub struct Layout {
    shape: Shape,
    positions: Vec<Point>,
    /// For each node its springs: the other end and the strength.
    neighbours: Vec<(u32, f32)>,
    offsets: Vec<u32>,
    masses: Vec<f32>,
    step: u32,
    steps: u32,
    temperature: f32,
    theta: f32,
    /// How far nodes push each other.
    reach: f32,
    /// Nodes that stay where someone put them. What has such nodes is not turned any more.
    pinned: Vec<(usize, Point)>,
}

/// The distance between two planes of the layered layout; springs are one long at rest.
const GAP: f32 = 1.6;
/// Pictures of fewer nodes are pressed flat at the end, so that a reader sees their outline from the front.
const FLAT: usize = 400;
/// How far the nodes of such a picture keep off springs of others, and in how many of the last steps.
const CLEAR: f32 = 0.4;
const CLEARING: u32 = 60;

/// Pictures that are more than this many times as long as wide are rolled up: as a line, nothing of them could be seen.
const LONG: f32 = 12.0;

impl Layout {
    /// Places all nodes at random, those near the initial state to the left; those of a long picture along a spiral that
    /// starts with it.
    pub fn new(graph: &Graph, shape: Shape, seed: u64) -> Self {
        let spread = (graph.nodes as f32).cbrt().max(1.0);
        let longest = graph.distances.iter().copied().max().unwrap_or(0) as f32;
        let long = shape == Shape::Force && graph.nodes > FLAT && longest > LONG * spread;
        // How long the spiral is, and how far its turns are apart.
        let length = longest.min(1.2 * graph.nodes as f32);
        let apart = 4.0 * (graph.nodes as f32 / length.max(1.0)).sqrt().max(1.0);
        let mut chance = Chance::new(seed);
        let mut draw = || (chance.draw() >> 40) as f32 / (1u64 << 24) as f32 - 0.5;
        let place = |node: usize| {
            let along = graph.distances[node] as f32 * if shape == Shape::Layers { GAP } else { 0.5 };
            let noise = draw();
            if long {
                let way = graph.distances[node] as f32 / longest * length;
                let angle = (4.0 * std::f32::consts::PI * way / apart).sqrt();
                let radius = apart * angle / (2.0 * std::f32::consts::PI);
                return [radius * angle.cos() + noise, radius * angle.sin() + draw(), draw()];
            }
            let free = if shape == Shape::Layers { 0.0 } else { noise * spread };
            [along + free, draw() * spread, draw() * spread]
        };
        let positions: Vec<Point> = (0..graph.nodes).map(place).collect();
        let mut offsets = vec![0u32; graph.nodes + 1];
        let springs = || graph.springs.iter().filter(|(from, to, _)| from != to);
        for &(from, to, _) in springs() {
            offsets[from as usize + 1] += 1;
            offsets[to as usize + 1] += 1;
        }
        for node in 0..graph.nodes {
            offsets[node + 1] += offsets[node];
        }
        let mut next = offsets.clone();
        let mut neighbours = vec![(0, 0.0); offsets[graph.nodes] as usize];
        for &(from, to, strength) in springs() {
            for (one, other) in [(from, to), (to, from)] {
                neighbours[next[one as usize] as usize] = (other, strength);
                next[one as usize] += 1;
            }
        }
        let steps = match graph.nodes {
            0..=1 => 1,
            2..=2_000 => 500,
            2_001..=10_000 => 250,
            10_001..=50_000 => 120,
            _ => 60,
        };
        Self {
            shape,
            positions,
            neighbours,
            offsets,
            masses: graph.masses.clone(),
            step: 0,
            steps,
            temperature: if long { 1.0 } else { spread },
            // Where many nodes share the picture, nobody sees where one of them is exactly.
            theta: if graph.nodes > 20_000 { 1.2 } else { 0.9 },
            // A turn must not push others away.
            reach: if long { apart } else { f32::INFINITY },
            pinned: Vec::new(),
        }
    }

    /// Keeps nodes where they were put.
    pub fn pin(&mut self, pinned: Vec<(usize, Point)>) {
        self.pinned = pinned;
        self.hold();
    }

    fn hold(&mut self) {
        self.pinned.iter().for_each(|&(node, place)| self.positions[node] = place);
    }

    /// Starts from where nodes were, a little shaken, and moves them less; many of them also less often.
    pub fn resume(&mut self, positions: &[Point]) {
        for (place, before) in self.positions.iter_mut().zip(positions) {
            (0..3).for_each(|axis| place[axis] = before[axis] + place[axis] * 0.1);
        }
        self.temperature *= 0.3;
        if self.positions.len() > 10_000 {
            self.steps = self.steps * 2 / 3;
        }
    }

    /// Where the nodes are now, turned so that a reader sees most of them; layers stay upright, the first on the left.
    pub fn for_reader(&self) -> Vec<Point> {
        let mut positions = self.positions.clone();
        match self.shape {
            _ if !self.pinned.is_empty() => (),
            Shape::Force => align(&mut positions),
            Shape::Layers => centre(&mut positions),
        }
        positions
    }

    /// Whether nothing will move any more.
    pub fn is_settled(&self) -> bool {
        self.step >= self.steps
    }

    /// Moves all nodes once.
    pub fn advance(&mut self) {
        if self.is_settled() {
            return;
        }
        let done = self.step as f32 / self.steps as f32;
        let heat = self.temperature * (1.0 - done).powi(3) + 0.002;
        let moves = self.forces();
        let layers = self.shape == Shape::Layers;
        let flat = self.shape == Shape::Force && self.positions.len() <= FLAT && done > 0.5;
        self.positions.par_iter_mut().zip(&moves).for_each(|(place, push)| {
            let mut push = *push;
            if layers {
                push[0] = 0.0;
            }
            let length = length(push);
            let scale = if length > heat { heat / length } else { 1.0 };
            (0..3).for_each(|axis| place[axis] += push[axis] * scale * 0.5);
        });
        if flat {
            if self.step == self.steps / 2 + 1 && self.pinned.is_empty() {
                align(&mut self.positions);
            }
            self.positions.iter_mut().for_each(|place| place[2] *= 0.96);
            if self.step + CLEARING >= self.steps {
                self.clear_springs();
            }
        }
        self.hold();
        self.step += 1;
    }

    /// Moves nodes off the springs of others, where a reader would take them for an end of it.
    fn clear_springs(&mut self) {
        let before = self.positions.clone();
        for (node, place) in self.positions.iter_mut().enumerate() {
            for from in 0..before.len() {
                let row = self.offsets[from] as usize..self.offsets[from + 1] as usize;
                for to in self.neighbours[row].iter().map(|&(to, _)| to as usize) {
                    if to < from || from == node || to == node {
                        continue;
                    }
                    let (along, aside) = (minus(before[to], before[from]), minus(before[node], before[from]));
                    let square = (along[0] * along[0] + along[1] * along[1]).max(1e-6);
                    let part = (along[0] * aside[0] + along[1] * aside[1]) / square;
                    if !(0.05..=0.95).contains(&part) {
                        continue;
                    }
                    // Which side the node is on, and how far off.
                    let across = (along[0] * aside[1] - along[1] * aside[0]) / square.sqrt();
                    let missing = (CLEAR - across.abs()).max(0.0) * 0.3 * across.signum();
                    place[0] -= along[1] / square.sqrt() * missing;
                    place[1] += along[0] / square.sqrt() * missing;
                }
            }
        }
    }

    /// The force on each node.
    fn forces(&self) -> Vec<Point> {
        let tree = Octree::new(&self.positions, &self.masses);
        // In the order of the tree: neighbours in space walk through the same cells.
        let forces: Vec<Point> = tree
            .nodes()
            .par_iter()
            .with_min_len(256)
            .map_init(Vec::new, |todo, &node| {
                let node = node as usize;
                let place = self.positions[node];
                let mut force = tree.repulsion(node, self.theta, self.reach, todo);
                let row = self.offsets[node] as usize..self.offsets[node + 1] as usize;
                for &(other, strength) in &self.neighbours[row] {
                    let along = minus(self.positions[other as usize], place);
                    // Linear near rest and no stronger than linear far away: hubs must not explode.
                    let pull = strength * length(along).min(8.0);
                    (0..3).for_each(|axis| force[axis] += along[axis] * pull);
                }
                (0..3).for_each(|axis| force[axis] -= place[axis] * 0.003);
                force
            })
            .collect();
        let mut moves = vec![[0.0; 3]; forces.len()];
        tree.nodes().iter().zip(forces).for_each(|(&node, force)| moves[node as usize] = force);
        moves
    }
}

/// The force with which one node pushes another away.
fn push(from: Point, mass: f32, on: Point, own: f32) -> Point {
    let along = minus(on, from);
    let square = (along[0] * along[0] + along[1] * along[1] + along[2] * along[2]).max(1e-4);
    let scale = mass * own / square;
    [along[0] * scale, along[1] * scale, along[2] * scale]
}

fn minus(a: Point, b: Point) -> Point {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

fn length(a: Point) -> f32 {
    (a[0] * a[0] + a[1] * a[1] + a[2] * a[2]).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random_graph(nodes: usize, seed: u64) -> Graph {
        let mut chance = Chance::new(seed);
        let springs = (1..nodes as u32).map(|to| (chance.below(to as usize) as u32, to, 1.0)).collect();
        Graph { nodes, springs, masses: vec![1.0; nodes], distances: vec![0; nodes] }
    }

    /// All pairs: what the octree approximates.
    fn naive_repulsion(positions: &[Point], masses: &[f32], node: usize) -> Point {
        let mut force = [0.0; 3];
        for other in (0..positions.len()).filter(|&other| other != node) {
            let push = push(positions[other], masses[other], positions[node], masses[node]);
            (0..3).for_each(|axis| force[axis] += push[axis]);
        }
        force
    }

    #[test]
    fn the_octree_agrees_with_all_pairs() {
        for seed in 0..20 {
            let graph = random_graph(300 + 50 * seed as usize, seed);
            let layout = Layout::new(&graph, Shape::Force, seed);
            let masses: Vec<f32> = (0..graph.nodes).map(|node| 1.0 + (node % 3) as f32).collect();
            let tree = Octree::new(&layout.positions, &masses);
            let (mut total, mut missed) = (0.0, 0.0);
            for node in 0..graph.nodes {
                let exact = naive_repulsion(&layout.positions, &masses, node);
                let opened = tree.repulsion(node, 0.0, f32::INFINITY, &mut Vec::new());
                let near = length(minus(opened, exact));
                assert!(
                    near <= 1e-3 * (1.0 + length(exact)),
                    "seed {seed}, node {node}: {opened:?} {exact:?}"
                );
                total += length(exact);
                missed += length(minus(tree.repulsion(node, 0.8, f32::INFINITY, &mut Vec::new()), exact));
            }
            assert!(missed <= 0.05 * total, "seed {seed}: {missed} of {total}");
        }
    }

    #[test]
    fn nodes_in_one_place_do_not_trap_the_octree() {
        let (positions, masses) = (vec![[1.0, 1.0, 1.0]; 1000], vec![1.0; 1000]);
        let tree = Octree::new(&positions, &masses);
        assert_eq!(tree.repulsion(0, 0.8, f32::INFINITY, &mut Vec::new()), [0.0; 3]);
    }

    #[test]
    fn the_same_seed_gives_the_same_picture_on_any_number_of_threads() {
        let graph = random_graph(700, 5);
        let settle = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut layout = Layout::new(&graph, Shape::Force, 9);
                (0..40).for_each(|_| layout.advance());
                layout.positions
            })
        };
        let first = settle(1);
        assert_eq!(first, settle(3));
        assert!(first.iter().flatten().all(|value| value.is_finite()));
    }

    #[test]
    fn a_long_picture_is_rolled_up() {
        let nodes = 1_000;
        let springs = (1..nodes as u32).map(|to| (to - 1, to, 1.0)).collect();
        let graph =
            Graph { nodes, springs, masses: vec![1.0; nodes], distances: (0..nodes as u32).collect() };
        let mut layout = Layout::new(&graph, Shape::Force, 1);
        while !layout.is_settled() {
            layout.advance();
        }
        let far = |node: usize| length(minus(layout.positions[node], layout.positions[0]));
        let farthest = (0..nodes).map(far).fold(0.0, f32::max);
        assert!(farthest < 100.0, "{farthest}");
        // Still in order, from the inside to the outside.
        assert!(far(100) < far(400) && far(400) < far(999));
        let step = |at: usize| length(minus(layout.positions[at], layout.positions[at + 1]));
        assert!((0..nodes - 1).all(|at| step(at) < 3.0));
    }

    #[test]
    fn a_node_does_not_lie_on_the_spring_of_others() {
        // Two hubs with a spring between them, and a node that both hold weakly: its place would be on that spring.
        let mut springs = vec![(0, 1, 1.0), (0, 2, 0.3), (1, 2, 0.3)];
        springs.extend((3..9).map(|leaf| (leaf % 2, leaf, 1.0)));
        let graph = Graph { nodes: 9, springs: springs.clone(), masses: vec![1.0; 9], distances: vec![0; 9] };
        let mut layout = Layout::new(&graph, Shape::Force, 1);
        while !layout.is_settled() {
            layout.advance();
        }
        for &(from, to, _) in &springs {
            for node in (0..9).filter(|&node| node != from && node != to) {
                let at = |node: u32| layout.positions[node as usize];
                let (along, aside) = (minus(at(to), at(from)), minus(at(node), at(from)));
                let part = (along[0] * aside[0] + along[1] * aside[1]) / length(along).powi(2);
                let across = (along[0] * aside[1] - along[1] * aside[0]).abs() / length(along);
                assert!(!(0.1..=0.9).contains(&part) || across > 0.5 * CLEAR, "{node} on {from} to {to}");
            }
        }
    }

    #[test]
    fn springs_come_to_rest_near_their_length() {
        let graph = Graph {
            nodes: 4,
            springs: vec![(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0)],
            masses: vec![1.0; 4],
            distances: vec![0, 1, 2, 3],
        };
        let mut layout = Layout::new(&graph, Shape::Force, 1);
        while !layout.is_settled() {
            layout.advance();
        }
        for pair in layout.positions.windows(2) {
            let length = length(minus(pair[0], pair[1]));
            assert!((0.5..2.0).contains(&length), "{length}");
        }
    }

    #[test]
    fn pinned_nodes_stay_and_others_come_along() {
        let mut layout = Layout::new(&random_graph(60, 4), Shape::Force, 1);
        let far = [30.0, -2.0, 1.0];
        layout.pin(vec![(7, far)]);
        while !layout.is_settled() {
            layout.advance();
        }
        let positions = layout.for_reader();
        assert_eq!(positions[7], far);
        let row = layout.offsets[7] as usize..layout.offsets[8] as usize;
        let (neighbour, _) = layout.neighbours[row][0];
        assert!(length(minus(positions[neighbour as usize], far)) < 15.0);
    }

    #[test]
    fn layers_stay_on_their_planes() {
        let graph = Graph { distances: (0..50).map(|node| node / 10).collect(), ..random_graph(50, 3) };
        let mut layout = Layout::new(&graph, Shape::Layers, 1);
        while !layout.is_settled() {
            layout.advance();
        }
        for (node, place) in layout.positions.iter().enumerate() {
            assert_eq!(place[0], (node / 10) as f32 * GAP);
        }
    }
}
