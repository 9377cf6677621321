//! Weights that prove a bound for one place, without listing all of them.
//!
//! Starting from the place, wherever a transition would make the weighted sum grow, a place that it takes from gets more
//! weight, until no transition does. Which place is a guess: it may fail, but whatever is found is a proof. Some guesses
//! also give weight to what transitions put, where the sum would fall: they look for sums that never change.

use std::collections::BTreeMap;

use super::bounds::improve;
use super::semiflows::Weights;
use crate::engine::rule::Rule;
use crate::flat::Flat;

/// Weights above this are given up.
const MOST_WEIGHT: i64 = 1 << 12;

/// The ways to choose among the places that a transition takes from.
const GUESSES: usize = 4;

pub(super) struct Growth<'n> {
    flat: &'n Flat,
    /// How places change, by transition.
    by_transition: Vec<Vec<(usize, i64)>>,
    /// How transitions change a place, by place.
    by_place: &'n [Vec<(u32, i64)>],
    /// How many transitions put tokens into each place.
    raised: Vec<usize>,
    /// What may still be done, in changes looked at.
    budget: usize,
    /// How much of it one guess may take.
    for_one: usize,
}

impl<'n> Growth<'n> {
    pub(super) fn new(flat: &'n Flat, rules: &[Rule], by_place: &'n [Vec<(u32, i64)>]) -> Self {
        let changes = |rule: &Rule| {
            let effects = rule.effects.iter().map(|effect| (effect.place, effect.change()));
            effects.filter(|&(_, change)| change != 0).collect::<Vec<_>>()
        };
        let by_transition: Vec<Vec<(usize, i64)>> = rules.iter().map(changes).collect();
        let raised =
            by_place.iter().map(|row| row.iter().filter(|&&(_, change)| change > 0).count()).collect();
        let entries: usize = by_transition.iter().map(Vec::len).sum();
        Self {
            flat,
            by_transition,
            by_place,
            raised,
            budget: 2_000_000 + 100 * entries,
            for_one: 20_000 + 4 * entries,
        }
    }

    /// Proves bounds of places that have none; each proof may serve many places.
    pub(super) fn cover(mut self, bounds: &mut [Option<u64>]) {
        for place in 0..bounds.len() {
            for guess in 0..GUESSES {
                if bounds[place].is_some() || self.budget == 0 {
                    break;
                }
                if let Some(weights) = self.grow(place, guess) {
                    improve(bounds, self.flat, &[weights]);
                }
            }
        }
    }

    fn grow(&mut self, place: usize, guess: usize) -> Option<Weights> {
        let mut weights: BTreeMap<usize, i64> = BTreeMap::new();
        // By how much a transition makes the sum grow.
        let mut growth: BTreeMap<usize, i64> = BTreeMap::new();
        let (mut rising, mut falling) = (Vec::new(), Vec::new());
        let keeps_sum = guess < 2;
        let mut more = (place, 1);
        let least = self.budget.saturating_sub(self.for_one);
        loop {
            let (place, weight) = more;
            let total = weights.entry(place).or_default();
            *total += weight;
            if *total > MOST_WEIGHT {
                return None;
            }
            self.budget = self.budget.saturating_sub(1 + self.by_place[place].len());
            for &(transition, change) in &self.by_place[place] {
                let grows = growth.entry(transition as usize).or_default();
                *grows = grows.checked_add(change.checked_mul(weight)?)?;
                match *grows {
                    1.. => rising.push(transition as usize),
                    ..=-1 if keeps_sum => falling.push(transition as usize),
                    _ => (),
                }
            }
            if self.budget <= least {
                return None;
            }
            // What was added since may have settled a transition. A sum may fall where nothing is put.
            let puts = |&transition: &usize| {
                growth[&transition] < 0
                    && self.by_transition[transition].iter().any(|&(_, change)| change > 0)
            };
            let next =
                pop(&mut falling, puts).or_else(|| pop(&mut rising, |transition| growth[transition] > 0));
            let Some(transition) = next else { break };
            let missing = growth[&transition];
            let useful =
                self.by_transition[transition].iter().filter(|&&(_, change)| (change < 0) == (missing > 0));
            let &(place, change) =
                useful.min_by_key(|&&(place, _)| self.preference(place, guess, &weights))?;
            let (missing, change) = (missing.checked_abs()?, change.checked_abs()?);
            more = (place, missing.checked_add(change - 1)? / change);
            rising.push(transition);
        }
        debug_assert!(growth.values().all(|&grows| grows <= 0));
        weights.into_iter().map(|(place, weight)| Some((place as u32, u64::try_from(weight).ok()?))).collect()
    }

    /// What is tried first: places that have weight, or few ways to get tokens, or no tokens at the start.
    fn preference(
        &self,
        place: usize,
        guess: usize,
        weights: &BTreeMap<usize, i64>,
    ) -> (usize, usize, usize) {
        let known = usize::from(!weights.contains_key(&place));
        let initial = self.flat.places[place].initial as usize;
        match guess {
            0 | 2 => (initial.saturating_sub(1), self.raised[place], place),
            1 => (known, self.raised[place], place),
            _ => (initial, self.raised[place], usize::MAX - place),
        }
    }
}

/// The last transition that still needs something.
fn pop(waiting: &mut Vec<usize>, needs: impl Fn(&usize) -> bool) -> Option<usize> {
    while let Some(transition) = waiting.pop() {
        if needs(&transition) {
            return Some(transition);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use explore::{Limits, explore};
    use lts::{Chance, Progress, StateId};

    use super::*;
    use crate::engine::FlatModel;
    use crate::flat::{Arc, ArcKind};

    /// Bounds that growing alone proves, against all markings.
    #[test]
    fn no_marking_exceeds_what_is_proven() {
        let mut chance = Chance::new(21);
        let (mut proven, mut exact) = (0, 0);
        for round in 0..2000 {
            let places = 2 + chance.below(5);
            let initial: Vec<u32> = (0..places).map(|_| chance.below(3) as u32).collect();
            let mut transitions = Vec::new();
            for _ in 0..1 + chance.below(5) {
                let mut arcs = Vec::new();
                for _ in 0..1 + chance.below(2) {
                    let count = 1 + chance.below(2) as u32;
                    arcs.push(Arc { place: chance.below(places), kind: ArcKind::Take(count) });
                    arcs.push(Arc {
                        place: chance.below(places),
                        kind: ArcKind::Put(1 + chance.below(2) as u32),
                    });
                }
                if chance.below(4) == 0 {
                    arcs.push(Arc { place: chance.below(places), kind: ArcKind::Reset });
                }
                transitions.push(("T", arcs));
            }
            let flat = Flat::plain("random", &initial, &transitions);
            let rules = Rule::all(&flat);
            let mut by_place = vec![Vec::new(); places];
            for (number, rule) in rules.iter().enumerate() {
                for effect in rule.effects.iter().filter(|effect| effect.change() != 0) {
                    by_place[effect.place].push((number as u32, effect.change()));
                }
            }
            let mut bounds = vec![None; places];
            Growth::new(&flat, &rules, &by_place).cover(&mut bounds);
            let model = FlatModel::new(flat.clone());
            let limits = Limits { states: 500, threads: 1, ..Limits::default() };
            let found = explore(&model, &limits, &Progress::new());
            for (place, bound) in bounds.iter().enumerate() {
                let Some(bound) = *bound else { continue };
                let tokens = |state| u64::from(found.state(&model, StateId::new(state))[place]);
                let most = (0..found.states()).map(tokens).max().unwrap_or(0);
                assert!(most <= bound, "round {round}: place {place} of {flat:?}");
                proven += 1;
                exact += usize::from(most == bound);
            }
        }
        assert!(proven > 2000 && exact > 1000, "{proven} proven, {exact} exact");
    }
}
