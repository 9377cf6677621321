//! Bounds of places that are proven without exploring.
//!
//! Where weights of places never add up to more after a transition than before it, no place ever has more tokens than the
//! weighted sum at the start allows. Such weights are the semiflows of the net with a slack for each transition.

use super::growth::Growth;
use super::semiflows::{Weights, semiflows};
use crate::engine::rule::Rule;
use crate::flat::Flat;

/// How much work goes into semiflows, in entries of rows.
const BUDGET: u64 = 1_000_000;

/// The most tokens that each place can ever have, where that is proven. With concurrent steps, inhibitors hold before a
/// step only, so they prove nothing.
pub(crate) fn bounds(flat: &Flat, rules: &[Rule], is_concurrent: bool) -> Vec<Option<u64>> {
    let mut bounds = local_bounds(flat, rules, is_concurrent);
    let mut rows = vec![Vec::new(); flat.places.len()];
    for (number, rule) in rules.iter().enumerate() {
        for effect in &rule.effects {
            if effect.change() != 0 {
                rows[effect.place].push((number as u32, effect.change()));
            }
        }
    }
    improve(&mut bounds, flat, &semiflows(&rows, rules.len(), BUDGET).semiflows);
    // One semiflow for each place is enough, where there are too many to list.
    Growth::new(flat, rules, &rows).cover(&mut bounds);
    if bounds.iter().any(Option::is_none) {
        rows.extend((0..rules.len()).map(|number| vec![(number as u32, 1)]));
        improve(&mut bounds, flat, &semiflows(&rows, rules.len(), BUDGET).semiflows);
    }
    bounds
}

/// What the arcs of a place alone prove.
fn local_bounds(flat: &Flat, rules: &[Rule], is_concurrent: bool) -> Vec<Option<u64>> {
    let mut bounds: Vec<Option<u64>> =
        flat.places.iter().map(|place| Some(u64::from(place.initial).min(most(place.is_set)))).collect();
    for effect in rules.iter().flat_map(|rule| &rule.effects) {
        if effect.is_set {
            bounds[effect.place] = bounds[effect.place].map(|bound| bound.max(effect.put.min(1)));
        } else if effect.change() > 0 {
            let reached = match effect.below {
                Some(below) if !is_concurrent => {
                    below.checked_sub(1).and_then(|most| most.checked_add(effect.put))
                }
                _ => None,
            };
            bounds[effect.place] =
                bounds[effect.place].zip(reached).map(|(bound, reached)| bound.max(reached));
        }
    }
    bounds
}

fn most(is_set: bool) -> u64 {
    if is_set { 1 } else { u64::MAX }
}

/// Lowers bounds to what weights prove that never add up to more than at the start.
pub(super) fn improve(bounds: &mut [Option<u64>], flat: &Flat, semiflows: &[Weights]) {
    for weights in semiflows {
        let places = || {
            let weights = weights.iter().map(|&(place, weight)| (place as usize, weight));
            weights.filter(|&(place, _)| place < flat.places.len())
        };
        let total: u128 = places()
            .map(|(place, weight)| u128::from(flat.places[place].initial) * u128::from(weight))
            .fold(0, u128::saturating_add);
        for (place, weight) in places() {
            let bound = u64::try_from(total / u128::from(weight)).unwrap_or(u64::MAX);
            bounds[place] = Some(bounds[place].map_or(bound, |known| known.min(bound)));
        }
    }
}
