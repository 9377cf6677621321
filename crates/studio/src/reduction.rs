//! A picture with equivalent states drawn as one. Tags, neighbourhoods and violations are kept apart: only states that say
//! the same and go on in the same way are merged, so what is drawn is equivalent to the whole picture.

use bisim::Relation;
use explain::Tag;
use lts::{LabelId, LtsBuilder, StateId};

use crate::picture::Picture;
use crate::regions::Regions;

/// The relations that states can be merged by, finer ones first. Those on traces are for comparing whole systems.
pub const RELATIONS: [Relation; 5] = [
    Relation::Strong,
    Relation::DivergencePreservingBranching,
    Relation::Branching,
    Relation::Weak,
    Relation::TauStarA,
];

/// A reduced picture of at most so many nodes is shown in place of a large one.
const SMALL: usize = 1_000;

/// States that are drawn as one.
pub struct Reduction {
    /// The relation.
    pub relation: Relation,
    /// The classes of more than one state.
    pub regions: Regions,
    /// Transitions inside a class that are not drawn: internal steps that decide nothing.
    inert: Vec<bool>,
}

impl Reduction {
    /// Merges equivalent states; nothing where that takes too much.
    pub fn new(picture: &Picture, relation: Relation) -> Option<Self> {
        let parts = classes(picture, relation)?;
        Some(Self::of(picture, relation, parts))
    }

    /// The finest reduction of a large picture that is small, if there is one.
    pub fn small(picture: &Picture) -> Option<Self> {
        RELATIONS[..2].iter().find_map(|&relation| {
            let parts = classes(picture, relation)?;
            (parts.len() <= SMALL).then(|| Self::of(picture, relation, parts))
        })
    }

    fn of(picture: &Picture, relation: Relation, parts: Vec<Vec<u32>>) -> Self {
        let mut class = vec![0; picture.len()];
        for (number, part) in parts.iter().enumerate() {
            part.iter().for_each(|&node| class[node as usize] = number);
        }
        let silent = silent_steps(picture);
        let silent = |at: usize| {
            silent[at] && class[picture.sources[at] as usize] == class[picture.targets[at] as usize]
        };
        let mut inert: Vec<bool> =
            (0..picture.targets.len()).map(|at| relation != Relation::Strong && silent(at)).collect();
        if relation == Relation::DivergencePreservingBranching {
            let endless = on_internal_cycles(picture, &inert);
            inert.iter_mut().zip(&endless).for_each(|(inert, endless)| *inert &= !endless);
        }
        Self { relation, regions: Regions::of_parts(picture, parts), inert }
    }

    /// Whether a transition inside a class is not drawn.
    pub fn is_inert(&self, at: usize) -> bool {
        self.inert[at]
    }
}

/// What a node says.
fn mark(picture: &Picture, node: u32) -> (u8, bool, bool) {
    (picture.kinds[node as usize], picture.goals[node as usize], picture.sink == Some(node))
}

/// Whether all transitions say the same: then their tags tell nothing apart.
fn is_uniform(picture: &Picture) -> bool {
    picture.tags.windows(2).all(|pair| pair[0] == pair[1])
}

/// Which transitions are internal and change nothing that is shown: only these may go unseen.
fn silent_steps(picture: &Picture) -> Vec<bool> {
    let uniform = is_uniform(picture);
    let silent = |at: usize| {
        let open = uniform || picture.tags[at] == Tag::Neutral as u8;
        let same = mark(picture, picture.sources[at]) == mark(picture, picture.targets[at]);
        picture.labels[at] == LabelId::TAU.raw() && open && same
    };
    (0..picture.targets.len()).map(silent).collect()
}

/// The classes, each ascending, in the order of their first nodes.
fn classes(picture: &Picture, relation: Relation) -> Option<Vec<Vec<u32>>> {
    let mut builder = LtsBuilder::new();
    builder.reserve_states(picture.len());
    builder.set_initial(StateId::new(0));
    let uniform = is_uniform(picture);
    let silent = silent_steps(picture);
    let mut known = rustc_hash::FxHashMap::default();
    for (at, &silent) in silent.iter().enumerate() {
        let (number, tag) = (picture.labels[at], if uniform { Tag::Neutral as u8 } else { picture.tags[at] });
        let label = match silent {
            true => LabelId::TAU,
            false => *known.entry((number, tag)).or_insert_with(|| builder.label(&format!("{number} {tag}"))),
        };
        let (source, target) = (picture.sources[at] as usize, picture.targets[at] as usize);
        builder.add(StateId::new(source), label, StateId::new(target));
    }
    // What a node says is what it can always do.
    for node in 0..picture.len() {
        let mark = mark(picture, node as u32);
        if mark != (0, false, false) {
            let label = builder.label(&format!("{mark:?}"));
            builder.add(StateId::new(node), label, StateId::new(node));
        }
    }
    let numbers = bisim::classes(&builder.finish().ok()?, relation).ok()?;
    let mut parts: Vec<Vec<u32>> = Vec::new();
    let mut place = rustc_hash::FxHashMap::default();
    for (node, number) in numbers.iter().enumerate() {
        let at = *place.entry(number.raw()).or_insert_with(|| {
            parts.push(Vec::new());
            parts.len() - 1
        });
        parts[at].push(node as u32);
    }
    Some(parts)
}

/// Which of some transitions can be taken for ever among themselves: those left when nodes without any are taken away.
fn on_internal_cycles(picture: &Picture, among: &[bool]) -> Vec<bool> {
    let mut left: Vec<u32> = vec![0; picture.len()];
    (0..among.len()).filter(|&at| among[at]).for_each(|at| left[picture.sources[at] as usize] += 1);
    let mut done: Vec<u32> = (0..picture.len() as u32).filter(|&node| left[node as usize] == 0).collect();
    let mut gone = vec![false; picture.len()];
    while let Some(node) = done.pop() {
        gone[node as usize] = true;
        for &at in picture.incoming(node).iter().filter(|&&at| among[at as usize]) {
            let source = picture.sources[at as usize];
            left[source as usize] -= 1;
            if left[source as usize] == 0 {
                done.push(source);
            }
        }
    }
    let stays = |at: usize| among[at] && !gone[picture.targets[at] as usize];
    (0..among.len()).map(stays).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::samples::{each_tagged, layered};
    use crate::regions::Detail;
    use crate::scene::{REGION, Scene};

    /// The system that is drawn, as transitions between drawn nodes.
    fn drawn(picture: &Picture, reduction: &Reduction, lts: &lts::Lts) -> lts::Lts {
        let scene = Scene::new(picture, &reduction.regions, Detail::Reduced, Some(reduction));
        let mut builder = LtsBuilder::new();
        builder.reserve_states(scene.nodes.len());
        builder.set_initial(StateId::new(scene.place[0] as usize));
        for (source, label, target) in scene.transitions() {
            let label = builder.label(lts.label(LabelId::from_raw(label)));
            builder.add(StateId::new(source as usize), label, StateId::new(target as usize));
        }
        builder.finish().unwrap()
    }

    #[test]
    fn what_is_drawn_is_equivalent_and_as_small_as_a_reduced_system() {
        for seed in 0..60 {
            let spec = lts::RandomSystem {
                states: 25,
                transitions: 45,
                labels: 3,
                internal: 0.5,
                shape: lts::Shape::Connected,
                seed,
            };
            let system = spec.draw().unwrap();
            let picture = Picture::of_system(&system, Tag::Correct);
            for relation in RELATIONS {
                let reduction = Reduction::new(&picture, relation).unwrap();
                let shown = drawn(&picture, &reduction, &system);
                assert!(bisim::equivalent(&shown, &system, relation).unwrap(), "seed {seed}, {relation}");
                let smallest = bisim::reduce(&system, relation).unwrap();
                if relation != Relation::TauStarA {
                    assert_eq!(shown.state_count(), smallest.state_count(), "seed {seed}, {relation}");
                }
            }
        }
    }

    #[test]
    fn tags_are_kept_apart() {
        let mut merged = 0;
        each_tagged(60, &layered(40, 60, 4, 0.4), |tagged, seed| {
            let picture = Picture::of_tagged(tagged, None);
            for relation in RELATIONS {
                let reduction = Reduction::new(&picture, relation).unwrap();
                let scene = Scene::new(&picture, &reduction.regions, Detail::Reduced, Some(&reduction));
                for &node in scene.nodes.iter().filter(|&&node| node & REGION != 0) {
                    let members = &reduction.regions.get(node & !REGION).unwrap().members;
                    merged += members.len() - 1;
                    let says = |&node: &u32| (picture.kinds[node as usize], picture.goals[node as usize]);
                    assert!(members.iter().all(|node| says(node) == says(&members[0])), "seed {seed}");
                }
                // Only what is internal and open is left out.
                for at in (0..picture.targets.len()).filter(|&at| reduction.is_inert(at)) {
                    assert_eq!(picture.labels[at], 0);
                    assert!(is_uniform(&picture) || picture.tags[at] == Tag::Neutral as u8);
                }
            }
        });
        assert!(merged > 100, "{merged}");
    }
}
