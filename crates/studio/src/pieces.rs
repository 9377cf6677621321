//! Cuts large parts of a picture into pieces that show how it branches.
//!
//! Two states at the same distance from the initial one belong together if they are connected through states that are
//! no nearer: the clusters of van Ham, van de Wetering and van Wijk ("Interactive visualization of state transition
//! systems", 2002). They form a tree, whose small branches are joined to what they hang on until all pieces are about
//! as large as wanted. A cluster that is too large itself is cut along the order in which a breadth-first search finds
//! its states: what is first reached along the same way stays together. Near-linear: two union-finds over the states.

use rustc_hash::FxHashMap;

use crate::picture::{NONE, Picture};

/// Cuts nodes into pieces of about `size`, each of one class and ascending, in the order of their first nodes.
pub fn split(picture: &Picture, members: &[u32], size: usize) -> Vec<Vec<u32>> {
    let mut order = members.to_vec();
    order.sort_unstable_by_key(|&node| picture.turns[node as usize]);
    let heads = branches(&order, &clusters(picture, &order), size);
    let mut groups: FxHashMap<(u32, u8), Vec<u32>> = FxHashMap::default();
    for (&node, &head) in order.iter().zip(&heads) {
        groups.entry((head, picture.class(node))).or_default().push(node);
    }
    let mut pieces = Vec::new();
    for group in groups.into_values() {
        let count = (group.len() / size.max(1)).max(1);
        pieces.extend(group.chunks(group.len().div_ceil(count)).map(<[u32]>::to_vec));
    }
    pieces.iter_mut().for_each(|piece| piece.sort_unstable());
    pieces.sort_unstable();
    pieces
}

/// The tree of clusters.
struct Clusters {
    /// For each place in the order the first place of its cluster.
    of: Vec<u32>,
    /// For the first place of a cluster that of the cluster it hangs on, or [`NONE`].
    parents: Vec<u32>,
}

/// Finds the clusters of nodes that are given in the order of a breadth-first search.
fn clusters(picture: &Picture, order: &[u32]) -> Clusters {
    let distance = |at: usize| picture.distances[order[at] as usize];
    let mut place = vec![NONE; picture.len()];
    order.iter().enumerate().for_each(|(at, &node)| place[node as usize] = at as u32);
    // Connected through what is no nearer, and within that the clusters of each distance.
    let (mut connected, mut same) = (Union::new(order.len()), Union::new(order.len()));
    let mut nearest: Vec<u32> = (0..order.len() as u32).collect();
    let mut parents = vec![NONE; order.len()];
    for at in (0..order.len()).rev() {
        let node = order[at];
        let after = picture.outgoing(node).map(|edge| picture.targets[edge]);
        let before = picture.incoming(node).iter().map(|&edge| picture.sources[edge as usize]);
        for next in after.chain(before) {
            let next = place[next as usize];
            // Those of the same distance that come earlier in the order look back themselves.
            if next == NONE || (next as usize) < at {
                continue;
            }
            let (own, other) = (connected.find(at as u32), connected.find(next));
            if own == other {
                continue;
            }
            let (mine, theirs) = (nearest[own as usize], nearest[other as usize]);
            if distance(mine as usize) == distance(theirs as usize) {
                same.join(mine, theirs);
            } else {
                let child = same.find(theirs);
                parents[child as usize] = mine;
            }
            let whole = connected.join(own, other);
            nearest[whole as usize] = mine;
        }
    }
    let of: Vec<u32> = (0..order.len() as u32).map(|at| same.find(at)).collect();
    for parent in parents.iter_mut().filter(|parent| **parent != NONE) {
        *parent = of[*parent as usize];
    }
    Clusters { of, parents }
}

/// Joins small branches to what they hang on: for each place in the order the piece that it is in.
fn branches(order: &[u32], clusters: &Clusters, size: usize) -> Vec<u32> {
    let mut weights = vec![0usize; order.len()];
    clusters.of.iter().for_each(|&cluster| weights[cluster as usize] += 1);
    // A cluster is called by its first place, and hangs on one that is nearer: backward is from the leaves.
    let is_cluster = |at: &usize| clusters.of[*at] as usize == *at;
    let mut heads: Vec<u32> = vec![NONE; order.len()];
    for at in (0..order.len()).rev().filter(is_cluster) {
        match clusters.parents[at] {
            parent if parent != NONE && weights[at] < size => weights[parent as usize] += weights[at],
            _ => heads[at] = at as u32,
        }
    }
    // Small parts that hang on nothing are taken together.
    let (mut rest, mut filled) = (NONE, 0);
    for at in (0..order.len()).filter(is_cluster) {
        if heads[at] == NONE {
            heads[at] = heads[clusters.parents[at] as usize];
        } else if clusters.parents[at] == NONE && weights[at] < size {
            if rest == NONE || filled >= size {
                (rest, filled) = (at as u32, 0);
            }
            filled += weights[at];
            heads[at] = rest;
        }
    }
    clusters.of.iter().map(|&cluster| heads[cluster as usize]).collect()
}

/// Disjoint sets, each called by its smallest member.
struct Union {
    parents: Vec<u32>,
}

impl Union {
    fn new(count: usize) -> Self {
        Self { parents: (0..count as u32).collect() }
    }

    fn find(&mut self, mut one: u32) -> u32 {
        while self.parents[one as usize] != one {
            let above = self.parents[self.parents[one as usize] as usize];
            self.parents[one as usize] = above;
            one = above;
        }
        one
    }

    fn join(&mut self, one: u32, other: u32) -> u32 {
        let (one, other) = (self.find(one), self.find(other));
        let (low, high) = (one.min(other), one.max(other));
        self.parents[high as usize] = low;
        low
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use explain::Tag;
    use lts::{RandomSystem, Shape};

    fn random(shape: Shape, states: usize, seed: u64) -> Picture {
        let spec = RandomSystem { states, transitions: 3 * states, labels: 4, internal: 0.0, shape, seed };
        Picture::of_system(&spec.draw().unwrap(), Tag::Neutral)
    }

    /// The definition: states of one distance that are connected through states that are no nearer.
    fn naive_clusters(picture: &Picture, members: &[u32]) -> Vec<Vec<u32>> {
        let mut found = Vec::new();
        for &start in members {
            let least = picture.distances[start as usize];
            let allowed = |node: &u32| {
                members.binary_search(node).is_ok() && picture.distances[*node as usize] >= least
            };
            let mut seen = vec![start];
            let mut at = 0;
            while at < seen.len() {
                let node = seen[at];
                at += 1;
                let after = picture.outgoing(node).map(|edge| picture.targets[edge]);
                let before = picture.incoming(node).iter().map(|&edge| picture.sources[edge as usize]);
                for next in after.chain(before).filter(allowed) {
                    if !seen.contains(&next) {
                        seen.push(next);
                    }
                }
            }
            seen.retain(|&node| picture.distances[node as usize] == least);
            seen.sort_unstable();
            found.push(seen);
        }
        found.sort();
        found.dedup();
        found
    }

    #[test]
    fn clusters_are_what_their_definition_says() {
        for seed in 0..60 {
            for (shape, states) in [(Shape::Tree, 60), (Shape::Layered, 50), (Shape::Connected, 40)] {
                let picture = random(shape, states, seed);
                // A part of the picture, as regions are.
                let members: Vec<u32> =
                    (0..picture.len() as u32).filter(|node| (u64::from(*node) + seed) % 5 > 0).collect();
                let mut order = members.clone();
                order.sort_unstable_by_key(|&node| picture.turns[node as usize]);
                let mut groups: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
                for (at, &cluster) in clusters(&picture, &order).of.iter().enumerate() {
                    groups.entry(cluster).or_default().push(order[at]);
                }
                let mut found: Vec<Vec<u32>> = groups.into_values().collect();
                found.iter_mut().for_each(|group| group.sort_unstable());
                found.sort();
                assert_eq!(found, naive_clusters(&picture, &members), "{shape} {states} {seed}");
            }
        }
    }

    #[test]
    fn pieces_partition_what_is_cut_and_are_as_large_as_wanted() {
        for seed in 0..20 {
            for shape in [Shape::Tree, Shape::Layered, Shape::Connected, Shape::Uniform] {
                let picture = random(shape, 3_000, seed);
                let members: Vec<u32> = (1..picture.len() as u32).collect();
                let pieces = split(&picture, &members, 30);
                assert_eq!(pieces, split(&picture, &members, 30));
                let mut all = pieces.concat();
                all.sort_unstable();
                assert_eq!(all, members, "{shape} {seed}");
                assert!(pieces.iter().all(|piece| piece.is_sorted() && piece.len() < 62), "{shape} {seed}");
                assert!((40..=160).contains(&pieces.len()), "{shape} {seed}: {}", pieces.len());
            }
        }
    }

    #[test]
    fn a_fork_is_cut_into_its_arms() {
        // A stem of ten states, and two arms of ten.
        let mut lines: Vec<String> = (0..19).map(|at| format!("({at}, ON, {})", at + 1)).collect();
        lines.push("(9, ON, 20)".into());
        lines.extend((20..29).map(|at| format!("({at}, ON, {})", at + 1)));
        let text = format!("des (0, {}, 30)\n{}\n", lines.len(), lines.join("\n"));
        let lts = lts::parse_aut(&text, &Default::default()).unwrap();
        let picture = Picture::of_system(&lts, Tag::Neutral);
        let all: Vec<u32> = (0..30).collect();
        let pieces: Vec<(u32, usize)> =
            split(&picture, &all, 10).iter().map(|piece| (piece[0], piece.len())).collect();
        assert_eq!(pieces, [(0, 10), (10, 10), (20, 10)]);
    }
}
