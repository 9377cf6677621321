//! Level of detail: parts of a picture drawn as one super-node, which opens on demand.
//!
//! A region is a connected part without neighbourhoods whose nodes say the same. Regions that are alike and hang on the
//! same neighbours, such as the petals of a loop, share a super-node. In a large picture, large regions are drawn as the
//! pieces they branch into (`pieces`), and a region that is too large to be shown at once opens into smaller ones. All of
//! it is near-linear in the picture.

use std::collections::BTreeSet;
use std::hash::BuildHasher;

use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use crate::picture::{NONE, Picture};
use crate::pieces::split;

/// How many nodes and super-nodes a page shows at once without being asked to show more.
pub const MOST_SHOWN: usize = 5_000;
/// A region of more nodes opens into smaller regions.
const MOST_OPENED: usize = 1_500;
/// How many pieces a large picture is cut into, and how many a region that opens into smaller ones; a few more or fewer.
const PIECES: usize = 1_000;
const PIECES_OPENED: usize = 300;
/// The same where neighbourhoods and other states lie side by side: each piece is drawn once for each of its classes.
const PIECES_MIXED: usize = 400;
/// Pieces are made larger until they are joined by no more than this: where everything is connected to everything, more
/// pieces only make more lines.
const MOST_JOINED: usize = 20_000;

/// Part of a picture.
pub struct Region {
    /// Its nodes, ascending.
    pub members: Vec<u32>,
    /// What they have in common.
    pub class: u8,
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
    /// Equivalent states as one.
    Reduced,
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
            // Too many different things side by side.
            let rest = all.iter().copied().filter(|&node| node != 0 && picture.sink != Some(node)).collect();
            parts = cut(picture, vec![rest], picture.len(), PIECES_MIXED);
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
        let mut large = Vec::new();
        for group in groups {
            let mut members: Vec<u32> = group.iter().flat_map(|&at| parts[at].iter().copied()).collect();
            members.sort_unstable();
            if picture.len() > MOST_SHOWN && group.len() == 1 && members.len() > MOST_OPENED {
                large.push(members);
                continue;
            }
            let number = made.add(picture, members);
            made.top.push(number);
        }
        for piece in cut(picture, large, picture.len(), PIECES).into_iter().filter(|piece| piece.len() > 1) {
            let number = made.add(picture, piece);
            made.top.push(number);
        }
        made
    }

    /// Parts whose nodes are drawn as one, each ascending; what is alone stays so.
    pub fn of_parts(picture: &Picture, parts: Vec<Vec<u32>>) -> Self {
        let mut made = Self { regions: Vec::new(), top: Vec::new(), open: BTreeSet::new() };
        for part in parts.into_iter().filter(|part| part.len() > 1) {
            // What leads to some of its nodes may be lost.
            let class = part.iter().map(|&node| picture.class(node)).max().unwrap_or(0);
            made.top.push(made.regions.len() as u32);
            made.regions.push(Region { members: part, class, inside: None });
        }
        made
    }

    fn add(&mut self, picture: &Picture, members: Vec<u32>) -> u32 {
        let class = picture.class(members[0]);
        self.regions.push(Region { members, class, inside: None });
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
                let total = members.len();
                let parts = cut(picture, vec![members], total, PIECES_OPENED);
                for part in parts.into_iter().filter(|part| part.len() > 1) {
                    inside.push(self.add(picture, part));
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

    /// The innermost open region that holds a node, to close it again.
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

/// Cuts parts of a picture into pieces of one size, `count` of them if the parts had `total` nodes, or fewer if these
/// are joined by too many transitions.
fn cut(picture: &Picture, parts: Vec<Vec<u32>>, total: usize, count: usize) -> Vec<Vec<u32>> {
    let mut size = total.div_ceil(count).max(2);
    loop {
        let pieces: Vec<Vec<u32>> = parts.iter().flat_map(|part| split(picture, part, size)).collect();
        if pieces.len() <= count / 16 || joined(picture, &pieces) <= MOST_JOINED {
            return pieces;
        }
        size *= 2;
    }
}

/// How many pairs of pieces have transitions from one to the other; counts no further than needed.
fn joined(picture: &Picture, pieces: &[Vec<u32>]) -> usize {
    let mut place = vec![NONE; picture.len()];
    for (at, piece) in pieces.iter().enumerate() {
        piece.iter().for_each(|&node| place[node as usize] = at as u32);
    }
    let mut pairs: FxHashSet<(u32, u32)> = FxHashSet::default();
    for (&source, &target) in picture.sources.iter().zip(&picture.targets) {
        let (from, to) = (place[source as usize], place[target as usize]);
        if from != to && from != NONE && to != NONE {
            pairs.insert((from, to));
            if pairs.len() > MOST_JOINED {
                break;
            }
        }
    }
    pairs.len()
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
        let sizes: Vec<usize> =
            regions.shown().iter().map(|&at| regions.get(at).unwrap().members.len()).collect();
        assert_eq!(sizes, [36, 10]);
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

    /// How many nodes are hidden in super-nodes, each at most once.
    fn hidden(regions: &Regions, picture: &Picture) -> Vec<bool> {
        let mut hidden = vec![false; picture.len()];
        for at in regions.shown() {
            for &node in &regions.get(at).unwrap().members {
                assert!(!std::mem::replace(&mut hidden[node as usize], true), "{node} is drawn twice");
            }
        }
        hidden
    }

    #[test]
    fn a_long_tail_is_drawn_as_a_chain_of_pieces_that_open() {
        let picture = flower(0, 20_000);
        let mut regions = Regions::new(&picture);
        let shown = regions.shown();
        assert!((900..=1_100).contains(&shown.len()), "{}", shown.len());
        assert!(hidden(&regions, &picture)[1..].iter().all(|&hidden| hidden));
        regions.reveal(&picture, 12_345);
        let after = hidden(&regions, &picture);
        assert!(!after[12_345] && after[1]);
        assert_eq!(regions.shown().len(), shown.len() - 1);
    }

    #[test]
    fn large_regions_open_one_level_at_a_time() {
        // Where everything is connected to everything, pieces are larger than what opens into plain states.
        let spec = lts::RandomSystem {
            states: 200_000,
            transitions: 600_000,
            labels: 4,
            internal: 0.0,
            shape: lts::Shape::Connected,
            seed: 3,
        };
        let picture = Picture::of_system(&spec.draw().unwrap(), Tag::Neutral);
        let mut regions = Regions::new(&picture);
        let top = regions.shown();
        assert!((50..1_500).contains(&top.len()), "{}", top.len());
        let size = |regions: &Regions, at: u32| regions.get(at).unwrap().members.len();
        let largest = top.iter().copied().max_by_key(|&at| size(&regions, at)).unwrap();
        let members = regions.get(largest).unwrap().members.clone();
        assert!(members.len() > MOST_OPENED, "{}", members.len());
        assert!(regions.open(&picture, largest));
        let inside: Vec<u32> = regions.shown().into_iter().filter(|at| !top.contains(at)).collect();
        assert!((100..1_000).contains(&inside.len()), "{}", inside.len());
        // What is not in a piece of its own is a piece of one state.
        let mut found: Vec<u32> =
            inside.iter().flat_map(|&at| regions.get(at).unwrap().members.clone()).collect();
        let hidden = hidden(&regions, &picture);
        found.extend(members.iter().copied().filter(|&node| !hidden[node as usize]));
        found.sort_unstable();
        assert_eq!(found, members);
        assert!(regions.close(largest));
        assert_eq!(regions.shown(), top);
    }
}
