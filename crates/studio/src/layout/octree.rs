//! Barnes and Hut's octree: far nodes push as one.
//!
//! Built by splitting a list of nodes in place, 8 nodes a leaf; 20 bytes a node and some 48 a cell. Places and masses are
//! copied into the order of the list, so that what is near in space is near in memory.

use super::{Point, push};

const LEAF: usize = 8;
/// Nodes closer together than this many halvings share a leaf.
const DEEPEST: u32 = 24;

/// A cube of space with what is in it.
struct Cell {
    /// Where its mass is, on average.
    centre: Point,
    mass: f32,
    /// Its edge, squared.
    width: f32,
    /// Its children in the list of cells, or its nodes in the list of nodes where it is a leaf.
    first: u32,
    count: u32,
    leaf: bool,
}

pub struct Octree<'a> {
    positions: &'a [Point],
    masses: &'a [f32],
    cells: Vec<Cell>,
    /// Nodes, those of a cell side by side.
    nodes: Vec<u32>,
    /// Their places and masses.
    sorted: Vec<(Point, f32)>,
}

impl<'a> Octree<'a> {
    pub fn new(positions: &'a [Point], masses: &'a [f32]) -> Self {
        let mut low = [f32::MAX; 3];
        let mut high = [f32::MIN; 3];
        for place in positions {
            for axis in 0..3 {
                low[axis] = low[axis].min(place[axis]);
                high[axis] = high[axis].max(place[axis]);
            }
        }
        let width = (0..3).map(|axis| high[axis] - low[axis]).fold(1e-3, f32::max);
        let nodes = (0..positions.len() as u32).collect();
        let mut tree = Self { positions, masses, cells: Vec::new(), nodes, sorted: Vec::new() };
        if positions.is_empty() {
            return tree;
        }
        // Cells still to be split: which, where, how wide, how deep, and their nodes.
        tree.cells.push(tree.cell(0, positions.len(), width));
        let mut todo = vec![(0usize, low, width, 0u32, 0..positions.len())];
        while let Some((cell, corner, width, depth, range)) = todo.pop() {
            if range.len() <= LEAF || depth == DEEPEST {
                continue;
            }
            let half = width / 2.0;
            let octant = |node: u32| {
                let place = positions[node as usize];
                (0..3).fold(0, |sum, axis| sum | (usize::from(place[axis] >= corner[axis] + half) << axis))
            };
            tree.nodes[range.clone()].sort_by_key(|&node| octant(node));
            let first = tree.cells.len();
            let mut start = range.start;
            for wanted in 0..8 {
                let inside = tree.nodes[start..range.end].partition_point(|&node| octant(node) <= wanted);
                if inside == 0 {
                    continue;
                }
                let child = tree.cell(start, inside, half);
                let place = |axis: usize| corner[axis] + if wanted >> axis & 1 == 1 { half } else { 0.0 };
                todo.push((
                    tree.cells.len(),
                    [place(0), place(1), place(2)],
                    half,
                    depth + 1,
                    start..start + inside,
                ));
                tree.cells.push(child);
                start += inside;
            }
            let count = (tree.cells.len() - first) as u32;
            let cell = &mut tree.cells[cell];
            (cell.first, cell.count, cell.leaf) = (first as u32, count, false);
        }
        let sorted = tree.nodes.iter().map(|&node| (positions[node as usize], masses[node as usize]));
        tree.sorted = sorted.collect();
        tree
    }

    /// All nodes, those that are near each other side by side.
    pub fn nodes(&self) -> &[u32] {
        &self.nodes
    }

    /// A leaf of these nodes.
    fn cell(&self, first: usize, count: usize, width: f32) -> Cell {
        let mut centre = [0.0f64; 3];
        let mut mass = 0.0f64;
        for &node in &self.nodes[first..first + count] {
            let own = f64::from(self.masses[node as usize]);
            mass += own;
            (0..3).for_each(|axis| centre[axis] += own * f64::from(self.positions[node as usize][axis]));
        }
        let centre = centre.map(|sum| (sum / mass) as f32);
        Cell {
            centre,
            mass: mass as f32,
            width: width * width,
            first: first as u32,
            count: count as u32,
            leaf: true,
        }
    }

    /// How all others push a node; cells that look smaller than `theta` push as one, and those that are farther than
    /// `reach` not at all. `todo` is scratch space.
    pub fn repulsion(&self, node: usize, theta: f32, reach: f32, todo: &mut Vec<u32>) -> Point {
        let place = self.positions[node];
        let own = self.masses[node];
        let (theta, reach) = (theta * theta, reach * reach);
        let mut force = [0.0; 3];
        let mut add = |from: Point, mass: f32| {
            let push = push(from, mass, place, own);
            (0..3).for_each(|axis| force[axis] += push[axis]);
        };
        todo.clear();
        todo.push(0);
        while let Some(cell) = todo.pop() {
            let cell = &self.cells[cell as usize];
            let square: f32 = (0..3).map(|axis| (cell.centre[axis] - place[axis]).powi(2)).sum();
            if cell.width < theta * square {
                if square < reach {
                    add(cell.centre, cell.mass);
                }
            } else if cell.leaf {
                let range = cell.first as usize..(cell.first + cell.count) as usize;
                for (&other, &(from, mass)) in self.nodes[range.clone()].iter().zip(&self.sorted[range]) {
                    if other as usize != node {
                        add(from, mass);
                    }
                }
            } else {
                todo.extend(cell.first..cell.first + cell.count);
            }
        }
        force
    }
}
