//! Invariants, siphons, traps, classes, behaviour and coverability against their definitions, on random nets.

mod random;

use std::collections::BTreeSet;

use explore::{Exploration, Limits, explore};
use lts::{Chance, Progress, StateId};
use model::Model;
use net::{
    Arc, ArcKind, Behaviour, Coverability, Flat, FlatModel, Liveness, classes, coverability,
    place_invariants, siphons, transition_invariants, traps,
};
use random::Shape;

const SMALL: Shape = Shape { places: 5, transitions: 5, weight: 2, special: false, conservative: false };

fn explored(model: &FlatModel, most: usize) -> Exploration {
    explore(model, &Limits { states: most, threads: 1, ..Limits::default() }, &Progress::new())
}

fn total(flat: &Flat, transition: usize, place: usize, kind: fn(ArcKind) -> u32) -> i64 {
    let arcs = flat.transitions[transition].arcs.iter().filter(|arc| arc.place == place);
    arcs.map(|arc| i64::from(kind(arc.kind))).sum()
}

fn take(kind: ArcKind) -> u32 {
    if let ArcKind::Take(count) = kind { count } else { 0 }
}

fn put(kind: ArcKind) -> u32 {
    if let ArcKind::Put(count) = kind { count } else { 0 }
}

fn need(kind: ArcKind) -> u32 {
    if let ArcKind::Take(count) | ArcKind::Read(count) = kind { count } else { 0 }
}

fn empties(kind: ArcKind) -> u32 {
    u32::from(kind == ArcKind::Reset)
}

fn change(flat: &Flat, transition: usize, place: usize) -> i64 {
    total(flat, transition, place, put) - total(flat, transition, place, take)
}

/// Compares semiflows of a matrix with all weights up to 3.
fn check_semiflows(
    found: &[Vec<(usize, u64)>],
    rows: usize,
    columns: usize,
    entry: &dyn Fn(usize, usize) -> i64,
) {
    let sums_to_nothing = |weights: &[u64]| {
        (0..columns)
            .all(|column| (0..rows).map(|row| weights[row] as i64 * entry(row, column)).sum::<i64>() == 0)
    };
    let support =
        |weights: &[u64]| -> BTreeSet<usize> { (0..rows).filter(|&row| weights[row] > 0).collect() };
    let ours: Vec<Vec<u64>> = found
        .iter()
        .map(|weights| {
            let mut all = vec![0; rows];
            weights.iter().for_each(|&(row, weight)| all[row] = weight);
            all
        })
        .collect();
    for (number, one) in ours.iter().enumerate() {
        assert!(sums_to_nothing(one) && one.iter().any(|&weight| weight > 0));
        for (other_number, other) in ours.iter().enumerate() {
            assert!(number == other_number || !support(one).is_subset(&support(other)));
        }
    }
    for code in 1..4usize.pow(rows as u32) {
        let weights: Vec<u64> = (0..rows).map(|row| (code / 4usize.pow(row as u32) % 4) as u64).collect();
        if sums_to_nothing(&weights) {
            assert!(
                ours.iter().any(|one| support(one).is_subset(&support(&weights))),
                "{weights:?} {ours:?}"
            );
        }
    }
}

#[test]
fn invariants_are_all_minimal_semiflows() {
    let mut chance = Chance::new(4);
    let mut found = 0;
    for _ in 0..1500 {
        let flat = random::net(&mut chance, SMALL);
        let (places, transitions) = (flat.places.len(), flat.transitions.len());
        let (of_places, of_transitions) = (place_invariants(&flat), transition_invariants(&flat));
        assert!(of_places.complete && of_transitions.complete);
        check_semiflows(&of_places.invariants, places, transitions, &|place, transition| {
            change(&flat, transition, place)
        });
        check_semiflows(&of_transitions.invariants, transitions, places, &|transition, place| {
            change(&flat, transition, place)
        });
        found += of_places.invariants.len() + of_transitions.invariants.len();
    }
    assert!(found > 500, "{found}");
}

#[test]
fn place_invariants_hold_in_every_marking() {
    let mut chance = Chance::new(5);
    for _ in 0..500 {
        let flat = random::net(&mut chance, Shape { special: true, ..SMALL });
        let invariants = place_invariants(&flat).invariants;
        let model = FlatModel::new(flat);
        let found = explored(&model, 50);
        let sum = |state: usize, weights: &[(usize, u64)]| -> u64 {
            let marking = found.state(&model, StateId::new(state));
            weights.iter().map(|&(place, weight)| weight * u64::from(marking[place])).sum()
        };
        for weights in &invariants {
            assert!(
                (0..found.states()).all(|state| sum(state, weights) == sum(0, weights)),
                "{:?}",
                model.flat()
            );
        }
    }
}

/// All minimal sets of places with a property.
fn minimal_sets(places: usize, holds: impl Fn(&[usize]) -> bool) -> Vec<Vec<usize>> {
    let all: Vec<BTreeSet<usize>> = (1u32..1 << places)
        .map(|set| (0..places).filter(|place| set >> place & 1 == 1).collect::<BTreeSet<usize>>())
        .filter(|set| holds(&set.iter().copied().collect::<Vec<_>>()))
        .collect();
    let minimal = all.iter().filter(|set| !all.iter().any(|other| other != *set && other.is_subset(set)));
    let mut minimal: Vec<Vec<usize>> = minimal.map(|set| set.iter().copied().collect()).collect();
    minimal.sort();
    minimal
}

#[test]
fn siphons_and_traps_are_all_minimal_ones() {
    let mut chance = Chance::new(6);
    let mut found = 0;
    for round in 0..1500 {
        let flat =
            random::net(&mut chance, Shape { places: 8, transitions: 8, special: round % 2 == 0, ..SMALL });
        let any = |transition: usize, set: &[usize], kind: fn(ArcKind) -> u32| {
            set.iter().any(|&place| total(&flat, transition, place, kind) > 0)
        };
        let transitions = || 0..flat.transitions.len();
        let places = flat.places.len();
        let siphon = |set: &[usize]| transitions().all(|t| !any(t, set, put) || any(t, set, need));
        // What is needed besides what is taken stays there, unless the place is emptied.
        let leaves = |transition: usize, set: &[usize]| {
            let of = |place: usize, kind: fn(ArcKind) -> u32| total(&flat, transition, place, kind);
            set.iter().any(|&place| of(place, need) > of(place, take) && of(place, empties) == 0)
        };
        let trap = |set: &[usize]| {
            transitions()
                .all(|t| !(any(t, set, take) || any(t, set, empties)) || any(t, set, put) || leaves(t, set))
        };
        let (of_siphons, of_traps) = (siphons(&flat), traps(&flat));
        assert!(of_siphons.complete && of_traps.complete);
        assert_eq!(of_siphons.sets, minimal_sets(places, siphon), "{flat:?}");
        assert_eq!(of_traps.sets, minimal_sets(places, trap), "{flat:?}");
        found += of_siphons.sets.len() + of_traps.sets.len();
    }
    assert!(found > 2000, "{found}");
}

#[test]
fn classes_follow_their_definitions() {
    let mut chance = Chance::new(7);
    let mut seen = [0; 6];
    for round in 0..3000 {
        let shape = Shape { weight: 1, transitions: 4, special: round % 10 == 0, ..SMALL };
        let flat = random::net(&mut chance, shape);
        let ours = classes(&flat);
        let (places, transitions) = (flat.places.len(), flat.transitions.len());
        let takes = |t: usize, p: usize| total(&flat, t, p, take) > 0;
        let puts = |t: usize, p: usize| total(&flat, t, p, put) > 0;
        let special = flat.places.iter().any(|place| place.is_set)
            || flat
                .transitions
                .iter()
                .flat_map(|t| &t.arcs)
                .any(|arc| matches!(arc.kind, ArcKind::Read(_) | ArcKind::Inhibit(_) | ArcKind::Reset));
        let each =
            |holds: &dyn Fn(usize, usize) -> bool| (0..transitions).all(|t| (0..places).all(|p| holds(t, p)));
        let ordinary =
            !special && each(&|t, p| total(&flat, t, p, take) <= 1 && total(&flat, t, p, put) <= 1);
        let outputs = |p: usize| (0..transitions).filter(|&t| takes(t, p)).collect::<BTreeSet<_>>();
        let inputs = |p: usize| (0..transitions).filter(|&t| puts(t, p)).collect::<BTreeSet<_>>();
        let of = |t: usize| (0..places).filter(|&p| takes(t, p)).count();
        let to = |t: usize| (0..places).filter(|&p| puts(t, p)).count();
        let pairs = |holds: &dyn Fn(&BTreeSet<usize>, &BTreeSet<usize>) -> bool| {
            (0..places).all(|p| {
                (0..places).all(|q| {
                    let (p, q) = (outputs(p), outputs(q));
                    p.is_disjoint(&q) || holds(&p, &q)
                })
            })
        };
        assert_eq!(ours.is_ordinary, ordinary);
        assert_eq!(ours.is_state_machine, ordinary && (0..transitions).all(|t| of(t) == 1 && to(t) == 1));
        assert_eq!(
            ours.is_marked_graph,
            ordinary && (0..places).all(|p| outputs(p).len() == 1 && inputs(p).len() == 1)
        );
        assert_eq!(
            ours.is_free_choice,
            ordinary && each(&|t, p| !takes(t, p) || outputs(p).len() == 1 || of(t) == 1)
        );
        assert_eq!(ours.is_extended_free_choice, ordinary && pairs(&|p, q| p == q));
        assert_eq!(ours.is_asymmetric_choice, ordinary && pairs(&|p, q| p.is_subset(q) || q.is_subset(p)));
        let flags = [
            ours.is_state_machine,
            ours.is_marked_graph,
            ours.is_free_choice,
            ours.is_extended_free_choice,
            ours.is_asymmetric_choice,
            ours.is_strongly_connected,
        ];
        seen.iter_mut().zip(flags).for_each(|(seen, flag)| *seen += usize::from(flag));
        assert_eq!((ours.is_connected, ours.is_strongly_connected), connected(&flat), "{flat:?}");
    }
    assert!(seen.iter().all(|&seen| seen > 10), "{seen:?}");
}

/// Whether everything reaches everything: ignoring directions, and along arcs.
fn connected(flat: &Flat) -> (bool, bool) {
    let places = flat.places.len();
    let nodes = places + flat.transitions.len();
    let mut reaches = vec![vec![false; nodes]; nodes];
    for (t, transition) in flat.transitions.iter().enumerate() {
        for arc in &transition.arcs {
            let (into, out) = match arc.kind {
                ArcKind::Take(_) | ArcKind::Inhibit(_) | ArcKind::Reset => (true, false),
                ArcKind::Read(_) => (true, true),
                ArcKind::Put(_) => (false, true),
            };
            reaches[arc.place][places + t] |= into;
            reaches[places + t][arc.place] |= out;
        }
    }
    let closed = |mut reaches: Vec<Vec<bool>>| {
        for middle in 0..nodes {
            for from in 0..nodes {
                for to in 0..nodes {
                    reaches[from][to] |= reaches[from][middle] && reaches[middle][to];
                }
            }
        }
        (0..nodes).all(|from| (0..nodes).all(|to| from == to || reaches[from][to]))
    };
    let mut both = reaches.clone();
    for (from, row) in reaches.iter().enumerate() {
        row.iter().enumerate().for_each(|(to, &is_arc)| both[to][from] |= is_arc);
    }
    (closed(both), closed(reaches))
}

fn behaviour(model: &FlatModel, found: &Exploration) -> Behaviour {
    let marking = |state: StateId| found.state(model, state);
    let size = (model.flat().places.len(), model.flat().transitions.len());
    let lts = &found.lts;
    Behaviour::of(lts, size, marking, |edge| {
        let source = lts.states().find(|&state| lts.edge_range(state).contains(&edge)).unwrap();
        model.leading(&marking(source), &marking(lts.edges()[edge].target))
    })
}

#[test]
fn behaviour_follows_its_definitions() {
    let mut chance = Chance::new(8);
    let mut levels = [0; 4];
    let (mut reversible, mut homes) = (0, 0);
    let mut compared = 0;
    while compared < 600 {
        let shape = Shape { special: compared % 3 == 0, conservative: compared % 2 == 0, ..SMALL };
        let model = FlatModel::new(random::net(&mut chance, shape));
        let found = explored(&model, 60);
        if !found.outcome.is_complete() {
            continue;
        }
        compared += 1;
        let count = found.states();
        let marking = |state: usize| found.state(&model, StateId::new(state));
        // What is reachable from each marking, itself included.
        let reach: Vec<BTreeSet<usize>> = (0..count)
            .map(|start| {
                let (mut seen, mut stack) = (BTreeSet::from([start]), vec![start]);
                while let Some(state) = stack.pop() {
                    for edge in found.lts.outgoing(StateId::new(state)) {
                        if seen.insert(edge.target.index()) {
                            stack.push(edge.target.index());
                        }
                    }
                }
                seen
            })
            .collect();
        let ours = behaviour(&model, &found);
        for place in 0..model.flat().places.len() {
            assert_eq!(ours.bounds[place], (0..count).map(|state| marking(state)[place]).max().unwrap());
        }
        let find = |wanted: &[u32]| (0..count).find(|&state| marking(state) == wanted).unwrap();
        for transition in 0..model.flat().transitions.len() {
            let enabled = |&state: &usize| model.enabled(&marking(state)).contains(&transition);
            let level = if reach.iter().all(|from| from.iter().any(enabled)) {
                Liveness::Live
            } else if (0..count)
                .filter(enabled)
                .any(|state| reach[find(&model.fire(transition, &marking(state)).unwrap())].contains(&state))
            {
                Liveness::Repeatable
            } else if (0..count).any(|state| enabled(&state)) {
                Liveness::Possible
            } else {
                Liveness::Dead
            };
            assert_eq!(ours.liveness[transition], level, "{transition} of {:?}", model.flat());
            levels[level as usize] += 1;
        }
        let home = (0..count).filter(|state| reach.iter().all(|from| from.contains(state)));
        assert_eq!(ours.home_states, home.clone().count());
        assert_eq!(ours.is_reversible, home.clone().any(|state| state == 0));
        let dead = (0..count).filter(|&state| model.enabled(&marking(state)).is_empty());
        assert_eq!(
            ours.deadlocks.iter().map(|state| state.index()).collect::<Vec<_>>(),
            dead.collect::<Vec<_>>()
        );
        reversible += usize::from(ours.is_reversible);
        homes += usize::from(ours.home_states > 0);
    }
    assert!(
        levels.iter().all(|&seen| seen > 20) && reversible > 20 && homes > reversible,
        "{levels:?} {reversible} {homes}"
    );
}

#[test]
fn coverability_agrees_with_exploration() {
    let mut chance = Chance::new(9);
    let (mut bounded, mut unbounded, mut pumped, mut growing) = (0, 0, 0, 0);
    for round in 0..3000 {
        let shape = Shape { weight: 1 + round % 2, conservative: round % 4 == 0, ..SMALL };
        let mut flat = random::net(&mut chance, shape);
        if round % 3 == 0 {
            let place = chance.below(flat.places.len());
            flat.transitions[0].arcs.push(Arc { place, kind: ArcKind::Read(1) });
        }
        let answer = coverability(&flat, 5000).unwrap();
        let model = FlatModel::new(flat);
        let found = explored(&model, 1000);
        let most = |place: usize| {
            (0..found.states())
                .map(|state| u64::from(found.state(&model, StateId::new(state))[place]))
                .max()
                .unwrap()
        };
        match answer {
            Coverability::Bounded { bounds } => {
                bounded += 1;
                for (place, &bound) in bounds.iter().enumerate() {
                    assert!(most(place) <= bound);
                    assert!(!found.outcome.is_complete() || most(place) == bound, "{:?}", model.flat());
                }
            }
            Coverability::Unbounded { bounds, pumps } => {
                assert!(!found.outcome.is_complete(), "{:?}", model.flat());
                unbounded += 1;
                for (place, bound) in bounds.iter().enumerate() {
                    assert!(bound.is_none_or(|bound| most(place) <= bound));
                    growing += usize::from(bound.is_none());
                }
                for pump in pumps {
                    pumped += 1;
                    let mut marking = model.initial().unwrap();
                    let fire = |marking: &mut Vec<u32>, steps: &[usize]| {
                        for &step in steps {
                            assert!(model.enabled(marking).contains(&step));
                            *marking = model.fire(step, marking).unwrap();
                        }
                    };
                    fire(&mut marking, &pump.prefix);
                    for _ in 0..3 {
                        let before = marking.clone();
                        fire(&mut marking, &pump.cycle);
                        assert!(before[pump.place] < marking[pump.place]);
                        assert!(before.iter().zip(&marking).all(|(before, after)| before <= after));
                    }
                }
            }
            Coverability::Unknown { .. } => (),
        }
    }
    println!("{bounded} bounded, {unbounded} unbounded, {pumped} runs for {growing} places");
    assert!(
        bounded > 100 && unbounded > 100 && pumped * 100 >= growing * 99,
        "{bounded} {unbounded} {pumped} {growing}"
    );
}

#[test]
fn coverability_is_refused_where_it_is_not_right() {
    let flat = Flat::plain("n", &[0], &[("T", vec![Arc { place: 0, kind: ArcKind::Inhibit(2) }])]);
    let error = coverability(&flat, 100).unwrap_err();
    assert_eq!(error.message, "coverability is not defined for nets with inhibitor arcs");
}

#[test]
fn a_place_that_grows_at_the_cost_of_another_is_pumped() {
    // A makes tokens on p0, B turns two of them into one on p1, C three of those into one on p2.
    let arcs = |take: Option<(usize, u32)>, put: usize| {
        let take = take.map(|(place, count)| Arc { place, kind: ArcKind::Take(count) });
        take.into_iter().chain([Arc { place: put, kind: ArcKind::Put(1) }]).collect::<Vec<_>>()
    };
    let flat = Flat::plain(
        "n",
        &[0, 0, 0],
        &[("A", arcs(None, 0)), ("B", arcs(Some((0, 2)), 1)), ("C", arcs(Some((1, 3)), 2))],
    );
    let Ok(Coverability::Unbounded { bounds, pumps }) = coverability(&flat, 1000) else {
        panic!("unbounded")
    };
    assert_eq!(bounds, [None, None, None]);
    assert_eq!(pumps.len(), 3);
    assert_eq!(pumps[2].cycle.iter().filter(|&&step| step == 2).count(), 1, "{pumps:?}");
}

#[test]
fn too_many_sets_are_told_and_those_given_are_right() {
    // One of two places for each of 25 transitions: 2^25 minimal siphons.
    let pairs = 25;
    let mut transitions = Vec::new();
    for pair in 0..pairs {
        let (one, other) = (1 + 2 * pair, 2 + 2 * pair);
        let take = |place| Arc { place, kind: ArcKind::Take(1) };
        let put = |place| Arc { place, kind: ArcKind::Put(1) };
        transitions.push(("JOIN", vec![take(one), take(other), put(0)]));
        transitions.push(("SPLIT", vec![take(0), put(one), put(other)]));
    }
    let flat = Flat::plain("pairs", &vec![1; 1 + 2 * pairs], &transitions);
    let found = siphons(&flat);
    assert!(!found.complete && found.sets.len() > 100);
    for set in &found.sets {
        // The hub, and one place of each pair.
        assert_eq!((set.len(), set[0]), (1 + pairs, 0));
        assert!((0..pairs).all(|pair| set.contains(&(1 + 2 * pair)) != set.contains(&(2 + 2 * pair))));
    }
    // As many invariants.
    let invariants = place_invariants(&flat);
    assert!(!invariants.complete);
    assert_ne!(invariants.cover(flat.places.len()), Some(false));
    // A bound for each place all the same.
    assert!(FlatModel::new(flat).bounds().iter().all(Option::is_some));
}
