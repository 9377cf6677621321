//! Level of detail: parts of a picture drawn as one super-node, which opens on demand.
//!
//! A region is a connected part without neighbourhoods whose nodes say the same. Regions that are alike and hang on the
//! same neighbours, such as the petals of a loop, share a super-node. A region that is too large to be shown at once
//! opens into smaller ones, cut by distance from the initial state. All of it is linear in the picture.

use std::collections::BTreeSet;
use std::hash::BuildHasher;

use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use crate::picture::{NONE, Picture};

/// How many nodes and super-nodes a page shows at once without being asked to show more.
pub const MOST_SHOWN: usize = 5_000;
/// A region of more nodes opens into smaller regions.
const MOST_OPENED: usize = 1_500;

/// Part of a picture.
pub struct Region {
    /// Its nodes, ascending.
    pub members: Vec<u32>,
    /// What they have in common.
    pub class: u8,
    /// How many equal parts it is made of.
    pub parts: u32,
    /// What it opens into, once that was asked for: regions, or nothing for plain nodes.
    inside: Option<Vec<u32>>,
}

/// The regions of a picture, and which of them are open.
pub struct Regions {
    regions: Vec<Region>,
    /// The outermost ones.
    top: Vec<u32>,
    open: BTreeSet<u32>,
}

/// How much to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Detail {
    /// Every state.
    All,
    /// Regions as super-nodes.
    Collapsed,
}

impl Regions {
    /// Everything collapsed.
    pub fn new(picture: &Picture) -> Self {
        let mut made = Self { regions: Vec::new(), top: Vec::new(), open: BTreeSet::new() };
        let all: Vec<u32> = (0..picture.len() as u32).collect();
        // Neighbourhoods stand alone if that leaves few enough.
        let alone = |node: u32| picture.kinds[node as usize] > 0 || node == 0 || picture.sink == Some(node);
        let mut parts = components(picture, &all, &alone);
        let single = (0..picture.len() as u32).filter(|&node| alone(node)).count();
        if single + parts.len() > MOST_SHOWN {
            let root = |node: u32| node == 0 || picture.sink == Some(node);
            parts = components(picture, &all, &root);
        }
        if parts.len() > MOST_SHOWN {
            parts = bands(picture, &all, 300);
        }
        // A region of one node is that node.
        parts.retain(|part| part.len() > 1);
        let mut alike: FxHashMap<u64, Vec<usize>> = FxHashMap::default();
        let mut place = vec![NONE; picture.len()];
        for (at, part) in parts.iter().enumerate() {
            part.iter().for_each(|&node| place[node as usize] = at as u32);
        }
        for (at, part) in parts.iter().enumerate() {
            alike.entry(signature(picture, part, &place)).or_default().push(at);
        }
        let mut groups: Vec<Vec<usize>> = alike.into_values().collect();
        groups.sort();
        for group in groups {
            let count = group.len() as u32;
            let mut members: Vec<u32> = group.iter().flat_map(|&at| parts[at].iter().copied()).collect();
            members.sort_unstable();
            let number = made.add(picture, members, count);
            made.top.push(number);
        }
        made
    }

    fn add(&mut self, picture: &Picture, members: Vec<u32>, parts: u32) -> u32 {
        let class = picture.class(members[0]);
        self.regions.push(Region { members, class, parts, inside: None });
        (self.regions.len() - 1) as u32
    }

    /// A region.
    pub fn get(&self, region: u32) -> Option<&Region> {
        self.regions.get(region as usize)
    }

    /// Opens a region; whether there is such a region.
    pub fn open(&mut self, picture: &Picture, region: u32) -> bool {
        let Some(found) = self.regions.get(region as usize) else { return false };
        if found.inside.is_none() {
            let members = found.members.clone();
            let mut inside = Vec::new();
            if members.len() > MOST_OPENED {
                // Cut into slices by distance, until there are several.
                let mut parts = Vec::new();
                for count in [8, 64, 512, 4096] {
                    parts = bands(picture, &members, count);
                    if parts.len() > 1 {
                        break;
                    }
                }
                if parts.len() <= 1 {
                    parts = members.chunks(MOST_OPENED).map(<[u32]>::to_vec).collect();
                }
                for part in parts.into_iter().filter(|part| part.len() > 1) {
                    inside.push(self.add(picture, part, 1));
                }
            }
            self.regions[region as usize].inside = Some(inside);
        }
        self.open.insert(region);
        true
    }

    /// Closes a region and what is open in it; whether there is such a region.
    pub fn close(&mut self, region: u32) -> bool {
        let Some(found) = self.regions.get(region as usize) else { return false };
        let inside = found.inside.clone().unwrap_or_default();
        self.open.remove(&region);
        inside.into_iter().for_each(|one| {
            self.close(one);
        });
        true
    }

    /// Closes all.
    pub fn close_all(&mut self) {
        self.open.clear();
    }

    /// Opens all regions that hide a node, if any.
    pub fn reveal(&mut self, picture: &Picture, node: u32) {
        let mut level = self.top.clone();
        while let Some(&region) =
            level.iter().find(|&&region| self.regions[region as usize].members.binary_search(&node).is_ok())
        {
            self.open(picture, region);
            level = self.regions[region as usize].inside.clone().unwrap_or_default();
        }
    }

    /// The super-nodes that are to be drawn.
    pub fn shown(&self) -> Vec<u32> {
        let mut shown = Vec::new();
        let mut todo: Vec<u32> = self.top.iter().rev().copied().collect();
        while let Some(region) = todo.pop() {
            match self.open.contains(&region) {
                true => {
                    todo.extend(self.regions[region as usize].inside.iter().flatten().rev().copied());
                }
                false => shown.push(region),
            }
        }
        shown
    }

    /// The outermost open region that holds a node, to close it again.
    pub fn open_around(&self, node: u32) -> Option<u32> {
        let mut found = None;
        for &region in &self.open {
            let one = &self.regions[region as usize];
            if one.members.binary_search(&node).is_ok() {
                let inner = found
                    .is_none_or(|other: u32| self.regions[other as usize].members.len() > one.members.len());
                if inner {
                    found = Some(region);
                }
            }
        }
        found
    }
}

/// Connected parts whose nodes have the same class; nodes that stand alone are left out.
fn components(picture: &Picture, nodes: &[u32], alone: &dyn Fn(u32) -> bool) -> Vec<Vec<u32>> {
    let classes: Vec<u8> = (0..picture.len() as u32).map(|node| picture.class(node)).collect();
    parts_by(picture, nodes, &|node| (!alone(node)).then(|| u32::from(classes[node as usize])))
}

/// Connected parts of slices by distance; of each slice the small parts together.
fn bands(picture: &Picture, nodes: &[u32], count: u32) -> Vec<Vec<u32>> {
    let distances = nodes.iter().map(|&node| picture.distances[node as usize]);
    let (low, high) = (distances.clone().min().unwrap_or(0), distances.max().unwrap_or(0));
    let inside: FxHashSet<u32> = nodes.iter().copied().collect();
    let width = (high - low) / count + 1;
    let band = |node: u32| (picture.distances[node as usize] - low) / width;
    let parts = parts_by(picture, nodes, &|node| {
        inside.contains(&node).then(|| band(node) * 8 + u32::from(picture.class(node)))
    });
    let most = MOST_SHOWN / 4;
    if parts.len() <= most {
        return parts;
    }
    let mut merged: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    for part in parts {
        let key = band(part[0]) * 8 + u32::from(picture.class(part[0]));
        merged.entry(key).or_default().extend(part);
    }
    let mut parts: Vec<Vec<u32>> = merged.into_values().collect();
    parts.iter_mut().for_each(|part| part.sort_unstable());
    parts.sort();
    parts
}

/// Connected parts of nodes with the same key; each ascending, in the order of their first nodes.
fn parts_by(picture: &Picture, nodes: &[u32], key: &dyn Fn(u32) -> Option<u32>) -> Vec<Vec<u32>> {
    let mut seen = vec![false; picture.len()];
    let mut parts = Vec::new();
    for &start in nodes {
        let Some(wanted) = key(start) else { continue };
        if std::mem::replace(&mut seen[start as usize], true) {
            continue;
        }
        let mut part = vec![start];
        let mut at = 0;
        while at < part.len() {
            let node = part[at];
            at += 1;
            let after = picture.outgoing(node).map(|at| picture.targets[at]);
            let before = picture.incoming(node).iter().map(|&at| picture.sources[at as usize]);
            for next in after.chain(before) {
                if !seen[next as usize] && key(next) == Some(wanted) {
                    seen[next as usize] = true;
                    part.push(next);
                }
            }
        }
        part.sort_unstable();
        parts.push(part);
    }
    parts
}

/// Equal for parts of the same size and class with the same labels inside and the same labels from and to the same
/// nodes outside. Only regions whose neighbours stand alone can be alike: two of them share no neighbour otherwise.
fn signature(picture: &Picture, part: &[u32], place: &[u32]) -> u64 {
    let own = place[part[0] as usize];
    let (mut inside, mut outside) = (Vec::new(), Vec::new());
    for &node in part {
        for at in picture.outgoing(node) {
            let target = picture.targets[at];
            match place[target as usize] == own {
                true => inside.push((picture.labels[at], picture.tags[at])),
                false => outside.push((0, target, picture.labels[at])),
            }
        }
        for &at in picture.incoming(node) {
            let source = picture.sources[at as usize];
            if place[source as usize] != own {
                outside.push((1, source, picture.labels[at as usize]));
            }
        }
    }
    inside.sort_unstable();
    outside.sort_unstable();
    FxBuildHasher.hash_one((picture.class(part[0]), part.len(), inside, outside))
}

#[cfg(test)]
mod tests {
    use super::*;
    use explain::Tag;

    /// A hub with petals of three states each, and a long tail.
    fn flower(petals: u32, tail: u32) -> Picture {
        let mut lines = Vec::new();
        for petal in 0..petals {
            let first = 1 + 3 * petal;
            lines.push(format!("(0, OUT, {first})"));
            lines.push(format!("({first}, ON, {})", first + 1));
            lines.push(format!("({}, ON, {})", first + 1, first + 2));
            lines.push(format!("({}, BACK, 0)", first + 2));
        }
        let first = 1 + 3 * petals;
        lines.push(format!("(0, TAIL, {first})"));
        lines.extend((first..first + tail).map(|at| format!("({at}, ON, {})", at + 1)));
        let text = format!("des (0, {}, {})\n{}\n", lines.len(), first + tail + 1, lines.join("\n"));
        Picture::of_system(&lts::parse_aut(&text, &Default::default()).unwrap(), Tag::Neutral)
    }

    #[test]
    fn equal_petals_share_a_super_node() {
        let picture = flower(12, 9);
        let regions = Regions::new(&picture);
        let shown = regions.shown();
        let sizes: Vec<(usize, u32)> = shown
            .iter()
            .map(|&at| (regions.get(at).unwrap().members.len(), regions.get(at).unwrap().parts))
            .collect();
        assert_eq!(sizes, [(36, 12), (10, 1)]);
    }

    #[test]
    fn opening_shows_nodes_and_closing_hides_them() {
        let picture = flower(2, 9);
        let mut regions = Regions::new(&picture);
        let [petals, tail] = regions.shown()[..] else { panic!() };
        assert!(regions.open(&picture, petals));
        assert_eq!(regions.shown(), [tail]);
        assert_eq!(regions.open_around(2), Some(petals));
        assert!(regions.close(petals));
        assert_eq!(regions.shown(), [petals, tail]);
        assert!(!regions.open(&picture, 99));
    }

    #[test]
    fn large_regions_open_into_smaller_ones() {
        let picture = flower(0, 20_000);
        let mut regions = Regions::new(&picture);
        let [whole] = regions.shown()[..] else { panic!() };
        regions.open(&picture, whole);
        let inside = regions.shown();
        assert_eq!(inside.len(), 8);
        let members: usize = inside.iter().map(|&at| regions.get(at).unwrap().members.len()).sum();
        assert_eq!(members, 20_001);
        regions.reveal(&picture, 12_345);
        let hidden = |regions: &Regions, node: u32| {
            regions.shown().iter().any(|&at| regions.get(at).unwrap().members.contains(&node))
        };
        assert!(!hidden(&regions, 12_345));
        assert!(hidden(&regions, 1));
        regions.close(whole);
        assert_eq!(regions.shown(), [whole]);
    }
}
