//! Siphons and traps: sets of places that stay empty, and sets that stay marked.
//!
//! The search grows a set from its first place: as long as a transition breaks the set, one of the places that would mend
//! it is added, each in turn, with those tried before left out. Every minimal set is met once; the number of sets
//! looked at is limited, because there may be exponentially many. Whatever is found is made minimal.

use crate::engine::rule::{Effect, Rule};
use crate::flat::Flat;

/// How much is done in all, in places looked at.
const BUDGET: usize = 30_000_000;

/// How much may be done from each place, however many there are.
const LEAST_SHARE: usize = 10_000;

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
/// empties one of its places, puts a token into it or leaves one that it needs.
pub fn traps(flat: &Flat) -> PlaceSets {
    minimal_sets(
        flat,
        |effect| effect.take > 0 || effect.reset,
        |effect| effect.put > 0 || (effect.read > 0 && !effect.reset),
    )
}

/// A transition: places that make it break a set, and those that mend it.
struct Demand {
    breaks: Vec<usize>,
    mends: Vec<usize>,
}

fn minimal_sets(flat: &Flat, breaks: impl Fn(&Effect) -> bool, mends: impl Fn(&Effect) -> bool) -> PlaceSets {
    let places = flat.places.len();
    let demands: Vec<Demand> = Rule::all(flat)
        .iter()
        .map(|rule| {
            let places = |wanted: &dyn Fn(&Effect) -> bool| {
                rule.effects.iter().filter(|effect| wanted(effect)).map(|effect| effect.place).collect()
            };
            Demand { breaks: places(&breaks), mends: places(&mends) }
        })
        .collect();
    let mut by_place = vec![Vec::new(); places];
    for (number, demand) in demands.iter().enumerate() {
        demand.breaks.iter().for_each(|&place| by_place[place].push(number));
    }
    let mut search = Search {
        demands,
        by_place,
        inside: vec![false; places],
        found: vec![Vec::new(); places],
        budget: BUDGET,
    };
    let mut complete = true;
    let share = (BUDGET / places.max(1)).max(LEAST_SHARE);
    for first in 0..places {
        complete &= search.from(first, share);
    }
    let mut sets: Vec<Vec<usize>> = search.found.into_iter().flatten().collect();
    sets.sort();
    PlaceSets { sets, complete }
}

struct Search {
    demands: Vec<Demand>,
    /// The transitions that break a set with a place.
    by_place: Vec<Vec<usize>>,
    /// The places of the set that is looked at.
    inside: Vec<bool>,
    /// The minimal sets found so far, by their first place.
    found: Vec<Vec<Vec<usize>>>,
    budget: usize,
}

impl Search {
    /// Finds the minimal sets with this place and no smaller one; false where there was too much to do.
    fn from(&mut self, first: usize, share: usize) -> bool {
        let least = self.budget.saturating_sub(share);
        // A set, and the places beyond the first that must not be in it.
        let mut stack: Vec<(Vec<usize>, Vec<usize>)> = vec![(vec![first], Vec::new())];
        while let Some((set, mut out)) = stack.pop() {
            if self.budget <= least {
                return false;
            }
            set.iter().for_each(|&place| self.inside[place] = true);
            let broken = if self.holds_known(&set) { None } else { Some(self.broken(&set)) };
            set.iter().for_each(|&place| self.inside[place] = false);
            match broken {
                None => (),
                Some(None) => self.add_least(set),
                Some(Some(number)) => {
                    let mut next = Vec::new();
                    for &place in &self.demands[number].mends {
                        if place > first && !out.contains(&place) {
                            self.budget = self.budget.saturating_sub(set.len() + out.len());
                            next.push((set.iter().copied().chain([place]).collect(), out.clone()));
                            out.push(place);
                        }
                    }
                    stack.extend(next.into_iter().rev());
                }
            }
        }
        true
    }

    /// Whether a known set lies inside this one, whose places are marked.
    fn holds_known(&mut self, set: &[usize]) -> bool {
        let mut looked_at = 0;
        let holds = set.iter().flat_map(|&place| &self.found[place]).any(|known| {
            looked_at += 1;
            known.iter().all(|&place| self.inside[place])
        });
        self.budget = self.budget.saturating_sub(set.len() + looked_at);
        holds
    }

    /// A transition that breaks a set, whose places are marked.
    fn broken(&mut self, set: &[usize]) -> Option<usize> {
        let Self { demands, by_place, inside, budget, .. } = self;
        let mut candidates = set.iter().flat_map(|&place| &by_place[place]).copied();
        candidates.find(|&number| {
            *budget = budget.saturating_sub(1 + demands[number].mends.len());
            !demands[number].mends.iter().any(|&place| inside[place])
        })
    }

    /// Adds a minimal set inside one that nothing breaks.
    fn add_least(&mut self, set: Vec<usize>) {
        let mut least = set;
        least.sort_unstable();
        let mut at = 0;
        while at < least.len() {
            let mut smaller = least.clone();
            smaller.remove(at);
            let inner = self.greatest(smaller);
            if inner.is_empty() {
                at += 1;
            } else {
                (least, at) = (inner, 0);
            }
        }
        let known = &mut self.found[least[0]];
        if !known.contains(&least) {
            known.push(least);
        }
    }

    /// The greatest set inside one that nothing breaks.
    fn greatest(&mut self, set: Vec<usize>) -> Vec<usize> {
        let mut set = set;
        set.iter().for_each(|&place| self.inside[place] = true);
        while let Some(number) = self.broken(&set) {
            self.demands[number].breaks.iter().for_each(|&place| self.inside[place] = false);
            set.retain(|&place| self.inside[place]);
        }
        set.iter().for_each(|&place| self.inside[place] = false);
        set
    }
}
