//! Siphons and traps: sets of places that stay empty, and sets that stay marked.
//!
//! The search grows a set from its first place: as long as a transition breaks the set, one of the places that would mend
//! it is added, each in turn, with those tried before left out. Every minimal set is met once; the number of sets
//! looked at is limited, because there may be exponentially many.

use crate::engine::rule::{Effect, Rule};
use crate::flat::Flat;

/// The most sets looked at.
const MOST_SETS: usize = 100_000;

/// Sets of places.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlaceSets {
    /// Minimal sets, as ascending positions in [`Flat::places`], in ascending order.
    pub sets: Vec<Vec<usize>>,
    /// Whether these are all minimal ones: there may be too many to compute.
    pub complete: bool,
}

/// The minimal siphons: sets of places that get no token as long as they have none. Every transition that puts tokens into
/// one needs a token from it.
///
/// ```
/// use net::{Arc, ArcKind, Flat, siphons, traps};
///
/// let step = vec![Arc { place: 0, kind: ArcKind::Take(1) }, Arc { place: 1, kind: ArcKind::Put(1) }];
/// let flat = Flat::plain("one way", &[1, 0], &[("GO", step)]);
/// assert_eq!(siphons(&flat).sets, [[0]]);
/// assert_eq!(traps(&flat).sets, [[1]]);
/// ```
pub fn siphons(flat: &Flat) -> PlaceSets {
    minimal_sets(flat, |effect| effect.put > 0, |effect| effect.need() > 0)
}

/// The minimal traps: sets of places that keep a token once they have one. Every transition that takes tokens from one, or
/// empties one of its places, puts a token into it.
pub fn traps(flat: &Flat) -> PlaceSets {
    minimal_sets(flat, |effect| effect.take > 0 || effect.reset, |effect| effect.put > 0)
}

/// A transition: places that make it break a set, and those that mend it.
struct Demand {
    breaks: Vec<usize>,
    mends: Vec<usize>,
}

fn minimal_sets(flat: &Flat, breaks: impl Fn(&Effect) -> bool, mends: impl Fn(&Effect) -> bool) -> PlaceSets {
    let demands: Vec<Demand> = Rule::all(flat)
        .iter()
        .map(|rule| {
            let places = |wanted: &dyn Fn(&Effect) -> bool| {
                rule.effects.iter().filter(|effect| wanted(effect)).map(|effect| effect.place).collect()
            };
            Demand { breaks: places(&breaks), mends: places(&mends) }
        })
        .collect();
    let mut by_place = vec![Vec::new(); flat.places.len()];
    for (number, demand) in demands.iter().enumerate() {
        demand.breaks.iter().for_each(|&place| by_place[place].push(number));
    }
    let mut found = PlaceSets { sets: Vec::new(), complete: true };
    let mut looked_at = 0;
    for first in 0..flat.places.len() {
        // Sets with smaller places were found from those.
        let mut stack: Vec<(Vec<usize>, Vec<usize>)> = vec![(vec![first], (0..first).collect())];
        while let Some((set, out)) = stack.pop() {
            looked_at += 1;
            if looked_at > MOST_SETS {
                found.complete = false;
                break;
            }
            if found.sets.iter().any(|known| known.iter().all(|place| set.contains(place))) {
                continue;
            }
            let broken = set.iter().flat_map(|&place| &by_place[place]).map(|&number| &demands[number]);
            let Some(demand) =
                broken.into_iter().find(|demand| !demand.mends.iter().any(|place| set.contains(place)))
            else {
                add_least(&demands, set, &mut found.sets);
                continue;
            };
            let mut out = out;
            let mut next = Vec::new();
            for &place in &demand.mends {
                if out.binary_search(&place).is_err() {
                    let larger = set.iter().copied().chain([place]).collect();
                    next.push((larger, out.clone()));
                    let at = out.partition_point(|&other| other < place);
                    out.insert(at, place);
                }
            }
            stack.extend(next.into_iter().rev());
        }
    }
    found.sets.sort();
    found
}

/// Adds a minimal set inside one that nothing breaks.
fn add_least(demands: &[Demand], set: Vec<usize>, sets: &mut Vec<Vec<usize>>) {
    let mut least = set;
    least.sort_unstable();
    let mut at = 0;
    while at < least.len() {
        let mut smaller = least.clone();
        smaller.remove(at);
        let inside = greatest(demands, smaller);
        if inside.is_empty() {
            at += 1;
        } else {
            (least, at) = (inside, 0);
        }
    }
    if !sets.contains(&least) {
        sets.push(least);
    }
}

/// The greatest set inside one that nothing breaks.
fn greatest(demands: &[Demand], set: Vec<usize>) -> Vec<usize> {
    let mut set = set;
    loop {
        let broken = demands.iter().filter(|demand| !demand.mends.iter().any(|place| set.contains(place)));
        let gone: Vec<usize> = broken.flat_map(|demand| demand.breaks.iter().copied()).collect();
        let before = set.len();
        set.retain(|place| !gone.contains(place));
        if set.len() == before {
            return set;
        }
    }
}
