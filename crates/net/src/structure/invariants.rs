//! Invariants of places and transitions.

use super::semiflows::{Found, semiflows};
use crate::engine::rule::Rule;
use crate::flat::Flat;

/// How much work goes into invariants, in entries of rows.
const BUDGET: u64 = 20_000_000;

/// Minimal semiflows of a net.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Invariants {
    /// Each as positions in the net with their weights, ascending.
    pub invariants: Vec<Vec<(usize, u64)>>,
    /// Whether these are all minimal ones: there may be too many to compute.
    pub complete: bool,
}

impl Invariants {
    /// Whether every one of so many positions is in some invariant; not known where some invariants may be missing.
    pub fn cover(&self, positions: usize) -> Option<bool> {
        let mut covered = vec![false; positions];
        self.invariants.iter().flatten().for_each(|&(position, _)| covered[position] = true);
        match covered.iter().all(|&covered| covered) {
            true => Some(true),
            false => self.complete.then_some(false),
        }
    }
}

/// Weights of places whose sum no transition ever changes. Places that arcs empty, and sets that get tokens, are in none.
///
/// ```
/// use net::{Arc, ArcKind, Flat, place_invariants};
///
/// let step = vec![Arc { place: 0, kind: ArcKind::Take(2) }, Arc { place: 1, kind: ArcKind::Put(1) }];
/// let found = place_invariants(&Flat::plain("halves", &[4, 0], &[("HALVE", step)]));
/// assert_eq!((found.invariants, found.complete), (vec![vec![(0, 1), (1, 2)]], true));
/// ```
pub fn place_invariants(flat: &Flat) -> Invariants {
    let rules = Rule::all(flat);
    let linear = linear_places(flat, &rules);
    let mut rows = vec![Vec::new(); flat.places.len()];
    for (number, rule) in rules.iter().enumerate() {
        for effect in rule.effects.iter().filter(|effect| effect.change() != 0) {
            rows[effect.place].push((number as u32, effect.change()));
        }
    }
    chosen(&linear, &rows, rules.len())
}

/// How often transitions fire in runs that change nothing. Transitions that change a place which arcs empty, or a set that
/// gets tokens, are in none.
pub fn transition_invariants(flat: &Flat) -> Invariants {
    let rules = Rule::all(flat);
    let linear = linear_places(flat, &rules);
    let is_linear = |rule: &Rule| {
        rule.effects.iter().all(|effect| linear[effect.place] || (effect.change() == 0 && !effect.reset))
    };
    let kept: Vec<bool> = rules.iter().map(is_linear).collect();
    let rows: Vec<Vec<(u32, i64)>> = rules
        .iter()
        .map(|rule| {
            let effects = rule.effects.iter().filter(|effect| effect.change() != 0);
            effects.map(|effect| (effect.place as u32, effect.change())).collect()
        })
        .collect();
    chosen(&kept, &rows, flat.places.len())
}

/// The places whose tokens change by the same number whenever a transition fires.
fn linear_places(flat: &Flat, rules: &[Rule]) -> Vec<bool> {
    let mut linear = vec![true; flat.places.len()];
    for effect in rules.iter().flat_map(|rule| &rule.effects) {
        if effect.reset || (effect.is_set && effect.put > 0) {
            linear[effect.place] = false;
        }
    }
    linear
}

/// The semiflows over some of the rows.
fn chosen(kept: &[bool], rows: &[Vec<(u32, i64)>], columns: usize) -> Invariants {
    let numbers: Vec<usize> = (0..rows.len()).filter(|&row| kept[row]).collect();
    let matrix: Vec<Vec<(u32, i64)>> = numbers.iter().map(|&row| rows[row].clone()).collect();
    let Found { semiflows, complete } = semiflows(&matrix, columns, BUDGET);
    let renumber = |weights: Vec<(u32, u64)>| {
        weights.into_iter().map(|(row, weight)| (numbers[row as usize], weight)).collect()
    };
    Invariants { invariants: semiflows.into_iter().map(renumber).collect(), complete }
}
