//! Random nets for the tests that compare an algorithm with its naive twin.
#![allow(dead_code, reason = "each test uses its part")]

use lts::Chance;
use net::{Arc, ArcKind, Flat};

/// What random nets have.
#[derive(Clone, Copy)]
pub struct Shape {
    pub places: usize,
    pub transitions: usize,
    /// The most tokens of an arc or a place at the start.
    pub weight: usize,
    /// Whether there are read, inhibitor and reset arcs, and sets.
    pub special: bool,
    /// Whether transitions put back no more than they take, so that the net is bounded.
    pub conservative: bool,
}

/// A net of at most this shape.
pub fn net(chance: &mut Chance, shape: Shape) -> Flat {
    let places = 1 + chance.below(shape.places);
    let initial: Vec<u32> = (0..places).map(|_| chance.below(shape.weight + 1) as u32).collect();
    let mut transitions = Vec::new();
    for number in 0..1 + chance.below(shape.transitions) {
        let mut arcs = Vec::new();
        let mut taken = 0;
        for _ in 0..1 + chance.below(2) {
            let count = 1 + chance.below(shape.weight) as u32;
            taken += count;
            arcs.push(Arc { place: chance.below(places), kind: ArcKind::Take(count) });
        }
        for _ in 0..chance.below(3) {
            let most = if shape.conservative { taken } else { shape.weight as u32 };
            let count = chance.below(most as usize + 1) as u32;
            taken = taken.saturating_sub(count);
            if count > 0 {
                arcs.push(Arc { place: chance.below(places), kind: ArcKind::Put(count) });
            }
        }
        if shape.special && chance.below(2) == 0 {
            let count = 1 + chance.below(shape.weight + 1) as u32;
            let kind = match chance.below(3) {
                0 => ArcKind::Read(count),
                1 => ArcKind::Inhibit(count),
                _ => ArcKind::Reset,
            };
            arcs.push(Arc { place: chance.below(places), kind });
        }
        // Some labels are the same.
        let label = if chance.below(5) == 0 { "SAME".to_owned() } else { format!("T{number}") };
        transitions.push((label, arcs));
    }
    let transitions: Vec<(&str, Vec<Arc>)> =
        transitions.iter().map(|(label, arcs)| (&**label, arcs.clone())).collect();
    let mut flat = Flat::plain("random", &initial, &transitions);
    if shape.special {
        for place in &mut flat.places {
            place.is_set = chance.below(6) == 0;
        }
    }
    flat
}
