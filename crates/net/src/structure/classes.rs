//! Structural classes of nets (Murata 1989).

use std::ops::Range;

use lts::{Components, StateId};

use super::invariants::{place_invariants, transition_invariants};
use crate::engine::rule::Rule;
use crate::flat::Flat;

/// Which classes a net belongs to. Those from [`is_ordinary`](Self::is_ordinary) to
/// [`is_asymmetric_choice`](Self::is_asymmetric_choice) are for nets that take and put tokens only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Classes {
    /// Whether it takes and puts tokens only: no read, inhibitor or reset arcs, no sets.
    pub is_plain: bool,
    /// Whether all arcs have weight 1.
    pub is_ordinary: bool,
    /// Whether it is ordinary, and each transition has one input and one output.
    pub is_state_machine: bool,
    /// Whether it is ordinary, and each place has one input and one output.
    pub is_marked_graph: bool,
    /// Whether it is ordinary, and of each arc from a place to a transition, either the place has no other output or the
    /// transition no other input.
    pub is_free_choice: bool,
    /// Whether it is ordinary, and places that share an output share all of them.
    pub is_extended_free_choice: bool,
    /// Whether it is ordinary, and of places that share an output, one has all outputs of the other.
    pub is_asymmetric_choice: bool,
    /// Whether no transition both uses a place and puts tokens into it.
    pub is_pure: bool,
    /// Whether it is in one piece.
    pub is_connected: bool,
    /// Whether there is a way along arcs from everywhere to everywhere.
    pub is_strongly_connected: bool,
    /// Whether every place is in an invariant; not known where those are too many.
    pub is_conservative: Option<bool>,
    /// Whether every transition is in an invariant; not known where those are too many.
    pub is_consistent: Option<bool>,
}

/// The classes of a net.
///
/// ```
/// use net::{Arc, ArcKind, Flat, classes};
///
/// let step = vec![Arc { place: 0, kind: ArcKind::Take(1) }, Arc { place: 1, kind: ArcKind::Put(1) }];
/// let classes = classes(&Flat::plain("one way", &[1, 0], &[("GO", step)]));
/// assert!(classes.is_state_machine && classes.is_free_choice && !classes.is_strongly_connected);
/// assert_eq!((classes.is_conservative, classes.is_consistent), (Some(true), Some(false)));
/// ```
pub fn classes(flat: &Flat) -> Classes {
    let rules = Rule::all(flat);
    let effects = || rules.iter().flat_map(|rule| &rule.effects);
    let is_plain = !flat.places.iter().any(|place| place.is_set)
        && effects().all(|effect| effect.read == 0 && effect.below.is_none() && !effect.reset);
    let is_ordinary = is_plain && effects().all(|effect| effect.take <= 1 && effect.put <= 1);
    let (mut inputs, mut outputs) =
        (vec![Vec::new(); flat.places.len()], vec![Vec::new(); flat.places.len()]);
    for (number, rule) in rules.iter().enumerate() {
        for effect in &rule.effects {
            if effect.put > 0 {
                inputs[effect.place].push(number);
            }
            if effect.take > 0 {
                outputs[effect.place].push(number);
            }
        }
    }
    let taken = |rule: &Rule| rule.effects.iter().filter(|effect| effect.take > 0).count();
    let put = |rule: &Rule| rule.effects.iter().filter(|effect| effect.put > 0).count();
    let alone = |place: usize| outputs[place].iter().all(|&number| taken(&rules[number]) == 1);
    // Places that share an output take part in one transition: no need to compare all pairs.
    let pairs = |holds: &dyn Fn(&[usize], &[usize]) -> bool| {
        rules.iter().all(|rule| {
            let places = || rule.effects.iter().filter(|effect| effect.take > 0).map(|effect| effect.place);
            places().all(|one| places().all(|other| holds(&outputs[one], &outputs[other])))
        })
    };
    let inside =
        |one: &[usize], other: &[usize]| one.iter().all(|number| other.binary_search(number).is_ok());
    let (is_connected, is_strongly_connected) = connections(flat, &rules);
    Classes {
        is_plain,
        is_ordinary,
        is_state_machine: is_ordinary && rules.iter().all(|rule| taken(rule) == 1 && put(rule) == 1),
        is_marked_graph: is_ordinary
            && inputs.iter().zip(&outputs).all(|(inputs, outputs)| inputs.len() == 1 && outputs.len() == 1),
        is_free_choice: is_ordinary
            && (0..flat.places.len()).all(|place| outputs[place].len() <= 1 || alone(place)),
        is_extended_free_choice: is_ordinary && pairs(&|one, other| one == other),
        is_asymmetric_choice: is_ordinary && pairs(&|one, other| inside(one, other) || inside(other, one)),
        is_pure: effects().all(|effect| effect.read == 0 && (effect.need() == 0 || effect.put == 0)),
        is_connected,
        is_strongly_connected,
        is_conservative: place_invariants(flat).cover(flat.places.len()),
        is_consistent: transition_invariants(flat).cover(flat.transitions.len()),
    }
}

/// Whether a net is in one piece, and whether it is strongly so: places come first, then transitions.
fn connections(flat: &Flat, rules: &[Rule]) -> (bool, bool) {
    let places = flat.places.len();
    let nodes = places + rules.len();
    let mut along = vec![Vec::new(); nodes];
    for (number, rule) in rules.iter().enumerate() {
        for effect in &rule.effects {
            if effect.need() > 0 || effect.below.is_some() || effect.reset {
                along[effect.place].push(places + number);
            }
            if effect.put > 0 || effect.read > 0 {
                along[places + number].push(effect.place);
            }
        }
    }
    let mut both = along.clone();
    for (from, targets) in along.iter().enumerate() {
        targets.iter().for_each(|&to| both[to].push(from));
    }
    (components(&both) <= 1, components(&along) <= 1)
}

fn components(targets: &[Vec<usize>]) -> usize {
    let mut rows: Vec<Range<usize>> = Vec::with_capacity(targets.len());
    let mut edges = Vec::new();
    for of_node in targets {
        let start = edges.len();
        edges.extend(of_node.iter().map(|&target| StateId::new(target)));
        rows.push(start..edges.len());
    }
    Components::of_graph(targets.len(), |node| rows[node].clone(), |_, edge| Some(edges[edge].index())).count
}
