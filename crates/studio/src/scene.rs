//! The scene: what a page draws of a picture at some level of detail, and how it goes over the wire.
//!
//! Binary answers are little-endian arrays one after the other, each starting at a multiple of four bytes, so that the
//! page reads them in place.

use rustc_hash::FxHashMap;

use crate::layout::{Graph, Point};
use crate::picture::{NONE, Picture};
use crate::reduction::Reduction;
use crate::regions::{Detail, Regions};

/// Marks the numbers of super-nodes among those of nodes.
pub const REGION: u32 = 1 << 31;

/// What is drawn.
#[derive(Default)]
pub struct Scene {
    /// The node behind each drawn one, or the region with [`REGION`] added.
    pub nodes: Vec<u32>,
    /// How many nodes each stands for.
    sizes: Vec<u32>,
    /// Bits 0 to 2 the kind of neighbourhood, 3 initial, 4 goal, 5 sink, 6 super-node, 7 lost.
    flags: Vec<u8>,
    /// Drawn transitions: where they start and end, as positions in `nodes`.
    sources: Vec<u32>,
    targets: Vec<u32>,
    /// The label, or [`NONE`] for several.
    labels: Vec<u32>,
    /// A transition behind each.
    edges: Vec<u32>,
    /// How many transitions each stands for.
    counts: Vec<u32>,
    /// Bits 0 and 1 the tag, 2 after the violation.
    tags: Vec<u8>,
    /// Where each node of the picture is drawn.
    pub place: Vec<u32>,
    /// Where each transition is drawn, or [`NONE`] inside a super-node.
    pub drawn: Vec<u32>,
    distances: Vec<u32>,
}

impl Scene {
    /// Draws every node, or regions as super-nodes where they are closed; classes of a reduction keep their labels.
    pub fn new(picture: &Picture, regions: &Regions, detail: Detail, reduction: Option<&Reduction>) -> Self {
        let mut scene = Self { place: vec![NONE; picture.len()], ..Self::default() };
        let shown = if detail == Detail::All { Vec::new() } else { regions.shown() };
        let mut region_of = vec![NONE; picture.len()];
        for &region in &shown {
            let members = regions.get(region).map(|one| one.members.as_slice()).unwrap_or_default();
            members.iter().for_each(|&node| region_of[node as usize] = region);
        }
        let mut drawn_regions: FxHashMap<u32, u32> = FxHashMap::default();
        // In the order of nodes, so that the initial one comes first.
        for node in 0..picture.len() as u32 {
            let region = region_of[node as usize];
            if region == NONE {
                scene.place[node as usize] = scene.nodes.len() as u32;
                let mut flags = picture.kinds[node as usize];
                flags |= u8::from(node == 0) << 3;
                flags |= u8::from(picture.goals[node as usize]) << 4;
                flags |= u8::from(picture.sink == Some(node)) << 5;
                flags |= u8::from(picture.class(node) == 1) << 7;
                scene.add(node, 1, flags, picture.distances[node as usize]);
                continue;
            }
            let place = *drawn_regions.entry(region).or_insert_with(|| {
                let one = regions.get(region).expect("it is shown");
                let mut flags = 1 << 6 | u8::from(one.class == 1) << 7;
                if reduction.is_some() {
                    // All of them are what the first is.
                    let first = one.members[0];
                    flags |= u8::from(first == 0) << 3 | u8::from(picture.goals[first as usize]) << 4;
                }
                flags |= if (3..=6).contains(&one.class) { one.class - 2 } else { 0 };
                let sum: u64 =
                    one.members.iter().map(|&node| u64::from(picture.distances[node as usize])).sum();
                let distance = (sum / one.members.len() as u64) as u32;
                scene.add(REGION | region, one.members.len() as u32, flags, distance)
            });
            scene.place[node as usize] = place;
        }
        scene.draw_transitions(picture, reduction);
        scene
    }

    fn add(&mut self, node: u32, size: u32, flags: u8, distance: u32) -> u32 {
        self.nodes.push(node);
        self.sizes.push(size);
        self.flags.push(flags);
        self.distances.push(distance);
        (self.nodes.len() - 1) as u32
    }

    fn draw_transitions(&mut self, picture: &Picture, reduction: Option<&Reduction>) {
        let mut merged: FxHashMap<(u32, u32, u8, u32), u32> = FxHashMap::default();
        for at in 0..picture.targets.len() {
            let source = self.place[picture.sources[at] as usize];
            let target = self.place[picture.targets[at] as usize];
            let tag = picture.tags[at] | u8::from(picture.is_after(at)) << 2;
            let has_region =
                self.nodes[source as usize] & REGION != 0 || self.nodes[target as usize] & REGION != 0;
            let hidden = reduction.is_none_or(|reduction| reduction.is_inert(at));
            if has_region && source == target && hidden {
                self.drawn.push(NONE);
                continue;
            }
            let fresh = self.sources.len() as u32;
            if has_region {
                let label = reduction.map_or(NONE, |_| picture.labels[at]);
                let known = *merged.entry((source, target, tag, label)).or_insert(fresh);
                if known != fresh {
                    self.counts[known as usize] += 1;
                    if self.labels[known as usize] != picture.labels[at] {
                        self.labels[known as usize] = NONE;
                    }
                    self.drawn.push(known);
                    continue;
                }
            }
            self.sources.push(source);
            self.targets.push(target);
            self.labels.push(picture.labels[at]);
            self.edges.push(at as u32);
            self.counts.push(1);
            self.tags.push(tag);
            self.drawn.push(fresh);
        }
    }

    /// The drawn transitions: where they start, their labels, and where they end.
    #[cfg(test)]
    pub fn transitions(&self) -> impl Iterator<Item = (u32, u32, u32)> {
        (0..self.sources.len()).map(|at| (self.sources[at], self.labels[at], self.targets[at]))
    }

    /// How strongly super-nodes hold each other, next to what holds either of them most: in a large picture what many
    /// transitions join stays together. 1 between plain nodes.
    fn hold(&self) -> FxHashMap<(u32, u32), f32> {
        let mut joined: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        for at in 0..self.sources.len() {
            let (source, target) = (self.sources[at], self.targets[at]);
            if (self.flags[source as usize] | self.flags[target as usize]) & 1 << 6 != 0 {
                *joined.entry((source.min(target), source.max(target))).or_default() += self.counts[at];
            }
        }
        let mut most = vec![0; self.nodes.len()];
        for (&(from, to), &count) in &joined {
            most[from as usize] = count.max(most[from as usize]);
            most[to as usize] = count.max(most[to as usize]);
        }
        let share = |(from, to): (u32, u32), count: u32| {
            (count as f32 / most[from as usize].min(most[to as usize]) as f32).powi(2).clamp(0.002, 1.0)
        };
        joined.into_iter().map(|(pair, count)| (pair, share(pair, count))).collect()
    }

    /// What has to be laid out. Transitions that follow a violation only tie together what nothing else holds, and the
    /// sink is held by weak springs: both are there, but do not shape the picture.
    pub fn graph(&self) -> Graph {
        let is_after = |at: usize| self.tags[at] & 4 != 0;
        let mut held = vec![false; self.nodes.len()];
        for at in (0..self.sources.len()).filter(|&at| !is_after(at)) {
            held[self.sources[at] as usize] = true;
            held[self.targets[at] as usize] = true;
        }
        let hold = self.hold();
        // Where nearly everything leads to the sink, it must not draw everything to it.
        let is_sink = |node: u32| self.flags[node as usize] & 1 << 5 != 0;
        let into_sink = self.targets.iter().filter(|&&target| is_sink(target)).count().max(1);
        let sink_strength = 0.6 * (30.0 / into_sink as f32).min(1.0).powi(2);
        let mut springs: FxHashMap<(u32, u32), f32> = FxHashMap::default();
        for at in 0..self.sources.len() {
            let (source, target) = (self.sources[at], self.targets[at]);
            let strength: f32 = match is_after(at) && held[source as usize] && held[target as usize] {
                true => 0.08,
                false if is_sink(target) => sink_strength,
                false => 1.0,
            };
            let pair = (source.min(target), source.max(target));
            let known = springs.entry(pair).or_default();
            *known = known.max(strength * hold.get(&pair).copied().unwrap_or(1.0));
        }
        let mut springs: Vec<(u32, u32, f32)> =
            springs.into_iter().map(|((from, to), strength)| (from, to, strength)).collect();
        springs.sort_unstable_by_key(|&(from, to, _)| (from, to));
        let masses = self.sizes.iter().map(|&size| 1.0 + (size as f32).log2() * 0.5).collect();
        Graph { nodes: self.nodes.len(), springs, masses, distances: self.distances.clone() }
    }

    /// Where each drawn node was in the scene before this one.
    pub fn before(&self, before: &Scene, positions: &[Point], picture: &Picture) -> Vec<Point> {
        let mut found = vec![[0.0; 3]; self.nodes.len()];
        // A node that opens spreads from where its super-node was: what it stands for lies in one place.
        for node in (0..picture.len()).rev() {
            if let Some(place) = positions.get(before.place[node] as usize) {
                found[self.place[node] as usize] = *place;
            }
        }
        found
    }

    /// The scene over the wire: `WSG1`, version, nodes, transitions, then numbers, sizes, sources, targets, labels,
    /// transitions, counts, flags and tags.
    pub fn bytes(&self, version: u32) -> Vec<u8> {
        let mut out = b"WSG1".to_vec();
        out.extend(version.to_le_bytes());
        out.extend((self.nodes.len() as u32).to_le_bytes());
        out.extend((self.sources.len() as u32).to_le_bytes());
        let arrays =
            [&self.nodes, &self.sizes, &self.sources, &self.targets, &self.labels, &self.edges, &self.counts];
        for array in arrays {
            out.extend(array.iter().flat_map(|value| value.to_le_bytes()));
        }
        for array in [&self.flags, &self.tags] {
            out.extend(array.iter());
            out.resize(out.len().next_multiple_of(4), 0);
        }
        out
    }
}

/// Positions over the wire: `WSP1`, version of the scene, whether they are final, how many, then three numbers a node.
pub fn position_bytes(version: u32, settled: bool, positions: &[Point]) -> Vec<u8> {
    let mut out = b"WSP1".to_vec();
    out.extend(version.to_le_bytes());
    out.extend(u32::from(settled).to_le_bytes());
    out.extend((positions.len() as u32).to_le_bytes());
    out.extend(positions.iter().flatten().flat_map(|value| value.to_le_bytes()));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use explain::Tag;

    #[test]
    fn transitions_between_super_nodes_are_merged() {
        // Two states between the initial one and the end, both done by A and left by B.
        let aut = "des (0, 6, 4)\n(0, A, 1)\n(0, C, 2)\n(1, B, 2)\n(2, B, 1)\n(1, D, 3)\n(2, D, 3)\n";
        let lts = lts::parse_aut(aut, &Default::default()).unwrap();
        let picture = Picture::of_system(&lts, Tag::Neutral);
        let mut regions = Regions::new(&picture);
        let scene = Scene::new(&picture, &regions, Detail::Collapsed, None);
        assert_eq!(scene.nodes, [0, REGION]);
        assert_eq!(scene.sizes, [1, 3]);
        assert_eq!((scene.counts.as_slice(), scene.labels[0]), (&[2][..], NONE));
        assert_eq!(scene.place, [0, 1, 1, 1]);
        let all = Scene::new(&picture, &regions, Detail::All, None);
        assert_eq!((all.nodes.len(), all.sources.len()), (4, 6));
        regions.open(&picture, 0);
        let opened = Scene::new(&picture, &regions, Detail::Collapsed, None);
        assert_eq!((opened.nodes.len(), opened.sources.len()), (4, 6));
        assert_eq!(all.bytes(7).len(), 16 + 4 * 2 * 4 + 6 * 5 * 4 + 4 + 8);
    }

    #[test]
    fn every_transition_is_drawn_once_or_inside_a_super_node() {
        for shape in [lts::Shape::Layered, lts::Shape::Connected, lts::Shape::Tree] {
            let (states, transitions) = (12_000, 36_000);
            let spec = lts::RandomSystem { states, transitions, labels: 5, internal: 0.0, shape, seed: 2 };
            let picture = Picture::of_system(&spec.draw().unwrap(), Tag::Neutral);
            let mut regions = Regions::new(&picture);
            for round in 0..3 {
                let scene = Scene::new(&picture, &regions, Detail::Collapsed, None);
                let drawn: u32 = scene.counts.iter().sum();
                let inside = (0..picture.targets.len()).filter(|&at| {
                    let (source, target) = (picture.sources[at] as usize, picture.targets[at] as usize);
                    scene.place[source] == scene.place[target] && scene.drawn[at] == NONE
                });
                assert_eq!(drawn as usize + inside.count(), picture.targets.len(), "{shape} {round}");
                assert_eq!(scene.sizes.iter().sum::<u32>() as usize, picture.len(), "{shape} {round}");
                assert!(scene.nodes.len() > 100, "{shape} {round}: {}", scene.nodes.len());
                let largest =
                    regions.shown().into_iter().max_by_key(|&at| regions.get(at).unwrap().members.len());
                regions.open(&picture, largest.unwrap());
            }
        }
    }
}
