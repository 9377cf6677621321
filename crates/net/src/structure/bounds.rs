//! Bounds of places that are proven without exploring.
//!
//! Where weights of places never add up to more after a transition than before it, no place ever has more tokens than the
//! weighted sum at the start allows. Such weights are the semiflows of the net with a slack for each transition.

use super::semiflows::{Pairs, Weights, semiflows};
use crate::engine::rule::Rule;
use crate::flat::Flat;

/// How much work goes into a proof, in entries of rows: so much for any net, so much for each arc, but no more than that.
const BUDGET: (u64, u64, u64) = (500_000, 500, 200_000_000);

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
    let arcs: usize = rules.iter().map(|rule| rule.effects.len()).sum();
    let budget = (BUDGET.0 + BUDGET.1 * arcs as u64).min(BUDGET.2);
    let attempts = [(false, Pairs::All), (false, Pairs::Few), (true, Pairs::All), (true, Pairs::Few)];
    for (with_slack, pairs) in attempts {
        if with_slack && rows.len() == flat.places.len() {
            rows.extend((0..rules.len()).map(|number| vec![(number as u32, 1)]));
        }
        improve(&mut bounds, flat, &semiflows(&rows, rules.len(), pairs, budget).semiflows);
        if bounds.iter().all(Option::is_some) {
            break;
        }
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

fn improve(bounds: &mut [Option<u64>], flat: &Flat, semiflows: &[Weights]) {
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
