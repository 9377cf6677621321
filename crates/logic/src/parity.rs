//! Solving finite games: blocks with one kind of fixpoint by propagation, alternating ones by Zielonka's algorithm.
//!
//! W. Zielonka, *Infinite games on finitely coloured graphs with applications to automata on infinite trees*, 1998.
//! The recursion goes over priorities only, so it is as deep as fixpoints alternate in the formula; the rest are
//! loops.

/// Whether a position's value is known.
pub(crate) const UNKNOWN: u8 = 2;
/// No choice, no node.
pub(crate) const NONE: u32 = u32::MAX;

/// A game: at each node one side chooses the next node. The side of `true` chooses where one part is enough.
pub(crate) struct Game<'a> {
    /// Whether all parts are needed: the side of `false` chooses.
    pub all: &'a [bool],
    pub priority: &'a [u32],
    /// The block of equations each node belongs to.
    pub block: &'a [u32],
    /// The parity of each block: greatest, least, or both.
    pub parities: &'a [Option<bool>],
    /// Row ends of `edges`.
    pub ends: &'a [usize],
    pub edges: &'a [u32],
}

/// The values of all nodes and the choices that win: for nodes where the winning side chooses.
#[derive(Clone)]
pub(crate) struct Solution {
    pub value: Vec<u8>,
    pub choice: Vec<u32>,
}

impl Game<'_> {
    fn row(&self, node: u32) -> &[u32] {
        let node = node as usize;
        let start = if node == 0 { 0 } else { self.ends[node - 1] };
        &self.edges[start..self.ends[node]]
    }

    /// Completes a partial solution. Nodes without edges must have their value already.
    pub fn solve(&self, solution: &mut Solution) {
        let nodes = self.all.len();
        let parents = Parents::new(self);
        let mut order: Vec<u32> =
            (0..nodes as u32).filter(|&node| solution.value[node as usize] == UNKNOWN).collect();
        order.sort_by_key(|&node| self.block[node as usize]);
        let mut left = vec![0u32; nodes];
        let mut start = 0;
        while start < order.len() {
            let block = self.block[order[start] as usize];
            let length =
                order[start..].iter().take_while(|&&node| self.block[node as usize] == block).count();
            let members = &order[start..start + length];
            self.propagate(block, members, &parents, &mut left, solution);
            let open: Vec<u32> =
                members.iter().copied().filter(|&node| solution.value[node as usize] == UNKNOWN).collect();
            match self.parities[block as usize] {
                Some(greatest) => {
                    for &node in &open {
                        solution.value[node as usize] = u8::from(greatest);
                    }
                    for &node in &open {
                        if self.all[node as usize] != greatest {
                            solution.choice[node as usize] =
                                self.part_with(node, u8::from(greatest), solution);
                        }
                    }
                }
                None => self.zielonka(open, &parents, solution),
            }
            start += length;
        }
    }

    /// A part with a value.
    fn part_with(&self, node: u32, value: u8, solution: &Solution) -> u32 {
        self.row(node).iter().copied().find(|&part| solution.value[part as usize] == value).unwrap_or(NONE)
    }

    /// Decides what the known values decide, inside one block.
    fn propagate(
        &self,
        block: u32,
        members: &[u32],
        parents: &Parents,
        left: &mut [u32],
        solution: &mut Solution,
    ) {
        // Decisions are noted first and taken together, so that no part is counted both here and below.
        let mut decided: Vec<(u32, u8, u32)> = Vec::new();
        for &node in members {
            let all = self.all[node as usize];
            left[node as usize] = self.row(node).len() as u32;
            let mut known = None;
            for &part in self.row(node) {
                match solution.value[part as usize] {
                    UNKNOWN => {}
                    value if (value == 1) == all => left[node as usize] -= 1,
                    value => known = known.or(Some((value, part))),
                }
            }
            match known {
                Some((value, part)) => decided.push((node, value, part)),
                None if left[node as usize] == 0 => decided.push((node, u8::from(all), NONE)),
                None => {}
            }
        }
        let mut queue = Vec::new();
        for (node, value, part) in decided {
            solution.value[node as usize] = value;
            solution.choice[node as usize] = part;
            queue.push(node);
        }
        while let Some(part) = queue.pop() {
            let value = solution.value[part as usize];
            for &node in parents.of(part) {
                let at = node as usize;
                if solution.value[at] != UNKNOWN || self.block[at] != block {
                    continue;
                }
                if (value == 1) != self.all[at] {
                    solution.value[at] = value;
                    solution.choice[at] = part;
                    queue.push(node);
                } else {
                    left[at] -= 1;
                    if left[at] == 0 {
                        solution.value[at] = value;
                        queue.push(node);
                    }
                }
            }
        }
    }

    /// Solves a game in which every node has a way on inside.
    fn zielonka(&self, nodes: Vec<u32>, parents: &Parents, solution: &mut Solution) {
        let count = self.all.len();
        let mut solver =
            Zielonka { game: self, parents, member: vec![0; count], left: vec![0; count], next: 1 };
        solver.solve(nodes, solution);
    }
}

/// The reverse edges of a game.
struct Parents {
    ends: Vec<usize>,
    nodes: Vec<u32>,
}

impl Parents {
    fn new(game: &Game<'_>) -> Self {
        let count = game.all.len();
        let mut ends = vec![0usize; count + 1];
        for &target in game.edges {
            ends[target as usize + 1] += 1;
        }
        for at in 1..=count {
            ends[at] += ends[at - 1];
        }
        let mut next = ends.clone();
        let mut nodes = vec![0; game.edges.len()];
        for node in 0..count as u32 {
            for &target in game.row(node) {
                nodes[next[target as usize]] = node;
                next[target as usize] += 1;
            }
        }
        Self { ends, nodes }
    }

    fn of(&self, node: u32) -> &[u32] {
        &self.nodes[self.ends[node as usize]..self.ends[node as usize + 1]]
    }
}

struct Zielonka<'a> {
    game: &'a Game<'a>,
    parents: &'a Parents,
    /// The game that each node is part of, by its number; 0 for none.
    member: Vec<u32>,
    left: Vec<u32>,
    next: u32,
}

impl Zielonka<'_> {
    /// Writes values and choices for all of `nodes`, which are closed: every node has a successor among them.
    fn solve(&mut self, mut nodes: Vec<u32>, solution: &mut Solution) {
        while !nodes.is_empty() {
            let id = self.enter(&nodes);
            let highest = nodes.iter().map(|&node| self.game.priority[node as usize]).max().unwrap_or(0);
            let winner = u8::from(highest % 2 == 0);
            let tops: Vec<u32> =
                nodes.iter().copied().filter(|&node| self.game.priority[node as usize] == highest).collect();
            for &node in &tops {
                // Any way on inside the game will do, if the whole of it is won.
                if self.chooses(node, winner) {
                    let way =
                        self.game.row(node).iter().copied().find(|&part| self.member[part as usize] == id);
                    solution.choice[node as usize] = way.unwrap_or(NONE);
                }
            }
            let attracted = self.attract(tops, winner, id, solution);
            let marker = self.enter(&attracted);
            let rest: Vec<u32> =
                nodes.iter().copied().filter(|&node| self.member[node as usize] != marker).collect();
            self.solve(rest.clone(), solution);
            let lost: Vec<u32> =
                rest.into_iter().filter(|&node| solution.value[node as usize] != winner).collect();
            if lost.is_empty() {
                for &node in &nodes {
                    solution.value[node as usize] = winner;
                }
                return;
            }
            // The other side wins those and whatever it can lead to them; the remainder is played again.
            let id = self.enter(&nodes);
            let taken = self.attract(lost, 1 - winner, id, solution);
            for &node in &taken {
                solution.value[node as usize] = 1 - winner;
            }
            let marker = self.enter(&taken);
            nodes.retain(|&node| self.member[node as usize] != marker);
        }
    }

    fn enter(&mut self, nodes: &[u32]) -> u32 {
        let id = self.next;
        self.next += 1;
        for &node in nodes {
            self.member[node as usize] = id;
        }
        id
    }

    /// Whether a side chooses at a node: `true` where one part is enough.
    fn chooses(&self, node: u32, side: u8) -> bool {
        self.game.all[node as usize] == (side == 0)
    }

    /// All nodes of game `id` from which `side` can force a way into `set`, which comes first in the result.
    fn attract(&mut self, set: Vec<u32>, side: u8, id: u32, solution: &mut Solution) -> Vec<u32> {
        let inside = self.enter(&set);
        let mut all = set;
        let mut counted: Vec<u32> = Vec::new();
        let mut at = 0;
        while at < all.len() {
            let part = all[at];
            at += 1;
            for &node in self.parents.of(part) {
                if self.member[node as usize] != id {
                    continue;
                }
                if self.chooses(node, side) {
                    solution.choice[node as usize] = part;
                } else {
                    if self.left[node as usize] == 0 {
                        let row = self.game.row(node);
                        let ways = row
                            .iter()
                            .filter(|&&part| matches!(self.member[part as usize], member if member == id || member == inside));
                        self.left[node as usize] = ways.count() as u32;
                        counted.push(node);
                    }
                    self.left[node as usize] -= 1;
                    if self.left[node as usize] > 0 {
                        continue;
                    }
                }
                self.member[node as usize] = inside;
                all.push(node);
            }
        }
        for node in counted {
            self.left[node as usize] = 0;
        }
        all
    }
}
