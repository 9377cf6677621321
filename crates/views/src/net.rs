//! A Petri net: its structure, and its behaviour where that can be explored.

use explore::{Exploration, Limits, Outcome};
use lts::{Progress, StateId};
use model::{MarkKind, Program};
use net::{Behaviour, Coverability, Flat, Liveness, NetProgram};
use report::{Net, NetBehaviour, Structure, UnboundedPlace, Unfolded};
use rustc_hash::FxHashMap;
use source::Span;

/// The most nodes of a coverability graph.
const MOST_NODES: usize = 100_000;

/// Everything that there is to say about a net, and its markings, explored up to so many.
pub fn net(program: &NetProgram, most_states: usize, progress: &Progress) -> (Net, Exploration) {
    let model = program.model();
    let map = program.map();
    let limits = Limits { states: most_states, transitions: true, origins: true, ..Limits::default() };
    let found = explore::explore(model, &limits, progress);
    let marking = model.initial().map(|state| model.describe(&state).values).unwrap_or_default();
    let mut shown = Net {
        name: map.processes.first().map(|process| process.name.clone()).unwrap_or_default(),
        places: program.place_names().len() as u64,
        transitions: map.actions.len() as u64,
        marking,
        states: found.states() as u64,
        complete: found.outcome.is_complete(),
        no_structure: program.not_flat(),
        ..Net::default()
    };
    if let Some(flat) = program.flat() {
        let flat = flat.flat();
        shown.name.clone_from(&flat.name);
        shown.unfolded = Some(Unfolded {
            places: flat.places.len() as u64,
            transitions: flat.transitions.len() as u64,
            arcs: flat.transitions.iter().map(|transition| transition.arcs.len() as u64).sum(),
        });
        shown.structure = Some(structure(flat));
        shown.remarks.extend(left_out(flat));
        if flat.places.iter().any(|place| place.is_set) {
            let remark = "Places that are sets belong to no invariant: a second equal token disappears.";
            shown.remarks.push(remark.into());
        }
        let proven = program.flat().is_some_and(|model| model.bounds().iter().all(Option::is_some));
        shown.bounded = proven.then_some(true);
    }
    match &found.outcome {
        Outcome::Complete => {
            shown.behaviour = Some(behaviour(program, &found));
            shown.bounded = Some(true);
        }
        _ if shown.bounded.is_none() => decide_bounds(program, &mut shown),
        _ => {}
    }
    (shown, found)
}

fn behaviour(program: &NetProgram, found: &Exploration) -> NetBehaviour {
    let (model, map) = (program.model(), program.map());
    let transitions: FxHashMap<Span, usize> =
        map.actions.iter().enumerate().map(|(number, action)| (action.span, number)).collect();
    let provenance = model.provenance();
    let lts = &found.lts;
    // Origins are few: each is looked up once.
    let mut known: FxHashMap<lts::OriginId, Vec<usize>> = FxHashMap::default();
    for &origin in lts.origins().unwrap_or_default() {
        known.entry(origin).or_insert_with(|| {
            let marks = provenance.marks_of(origin).into_iter().map(|mark| provenance.mark(mark));
            let actions = marks.filter(|mark| mark.kind == MarkKind::Action);
            actions.filter_map(|mark| transitions.get(&mark.span).copied()).collect()
        });
    }
    let names = program.place_names();
    let counts = |state: StateId| program.token_counts(&found.state(model, state));
    let fired = |edge: usize| lts.origin(edge).map(|origin| known[&origin].clone()).unwrap_or_default();
    let found = Behaviour::of(lts, (names.len(), map.actions.len()), counts, fired);
    let level = |level: &Liveness| match level {
        Liveness::Dead => "L0",
        Liveness::Possible => "L1",
        Liveness::Repeatable => "L3",
        Liveness::Live => "L4",
    };
    NetBehaviour {
        bounds: names.into_iter().zip(found.bounds.iter().map(|&bound| u64::from(bound))).collect(),
        liveness: (map.actions.iter().zip(&found.liveness))
            .map(|(action, liveness)| (action.gate.clone(), level(liveness)))
            .collect(),
        deadlocks: found.deadlocks.len() as u64,
        home_states: found.home_states as u64,
        reversible: found.is_reversible,
        live: found.is_live(),
        safe: found.is_safe(),
    }
}

/// Looks for places that grow for ever, where there are too many markings to explore.
fn decide_bounds(program: &NetProgram, shown: &mut Net) {
    let Some(flat) = program.flat().map(|model| model.flat()) else { return };
    match net::coverability(flat, MOST_NODES) {
        Ok(Coverability::Bounded { .. }) => shown.bounded = Some(true),
        Ok(Coverability::Unbounded { bounds, pumps }) => {
            shown.bounded = Some(false);
            let labels = |fired: &[usize]| -> Vec<String> {
                fired.iter().map(|&transition| flat.transitions[transition].label.clone()).collect()
            };
            for (place, _) in bounds.iter().enumerate().filter(|(_, bound)| bound.is_none()) {
                let pump = pumps.iter().find(|pump| pump.place == place);
                shown.unbounded.push(UnboundedPlace {
                    place: place_name(flat, place),
                    prefix: pump.map(|pump| labels(&pump.prefix)).unwrap_or_default(),
                    cycle: pump.map(|pump| labels(&pump.cycle)).unwrap_or_default(),
                });
            }
        }
        Ok(Coverability::Unknown { nodes }) => shown.remarks.push(format!(
            "The coverability graph has more than {nodes} nodes, so it does not tell whether the net is bounded."
        )),
        Err(reason) => shown.remarks.push(format!("Whether it is bounded is not known: {}.", reason.message)),
    }
}

/// What can never be marked or fire is not part of the net without values.
fn left_out(flat: &Flat) -> Option<String> {
    let places = flat.source_places.iter().enumerate();
    let empty = places.filter(|(number, _)| !flat.places.iter().any(|place| place.of == *number));
    let transitions = flat.source_transitions.iter().enumerate();
    let dead = transitions.filter(|(number, _)| !flat.transitions.iter().any(|one| one.of == *number));
    let names: Vec<&str> =
        empty.map(|(_, place)| &*place.name).chain(dead.map(|(_, transition)| &*transition.name)).collect();
    (!names.is_empty()).then(|| {
        format!(
            "The structure, and what is written as PNML or Promela, is that of what can ever be marked or fire; left \
             out: {}.",
            names.join(", ")
        )
    })
}

fn place_name(flat: &Flat, place: usize) -> String {
    let of = &flat.places[place];
    let name = &flat.source_places[of.of].name;
    if of.token.is_empty() { name.clone() } else { format!("{name} ({})", of.token) }
}

fn structure(flat: &Flat) -> Structure {
    let classes = net::classes(flat);
    let words = [
        (classes.is_ordinary, "ordinary"),
        (classes.is_state_machine, "state machine"),
        (classes.is_marked_graph, "marked graph"),
        (classes.is_free_choice, "free choice"),
        (classes.is_extended_free_choice && !classes.is_free_choice, "extended free choice"),
        (classes.is_asymmetric_choice && !classes.is_extended_free_choice, "asymmetric choice"),
        (classes.is_pure, "pure"),
        (classes.is_connected, "connected"),
        (classes.is_strongly_connected, "strongly connected"),
        (classes.is_conservative == Some(true), "conservative"),
        (classes.is_consistent == Some(true), "consistent"),
    ];
    let fired = |&(at, times): &(usize, u64)| match times {
        1 => flat.transitions[at].label.clone(),
        times => format!("{times} {}", flat.transitions[at].label),
    };
    let mut sizes = vec![0usize; flat.source_places.len()];
    flat.places.iter().for_each(|place| sizes[place.of] += 1);
    // All values of a place, with the same weight, are the place as written.
    let of_places = |terms: &[(usize, u64)]| -> Vec<String> {
        let mut names = Vec::new();
        let mut at = 0;
        while let Some(&(place, weight)) = terms.get(at) {
            let of = flat.places[place].of;
            let alike = |term: &&(usize, u64)| flat.places[term.0].of == of && term.1 == weight;
            let run = terms[at..].iter().take_while(alike).count();
            let whole = run == sizes[of] && run > 1;
            let name = if whole { flat.source_places[of].name.clone() } else { place_name(flat, place) };
            names.push(if weight == 1 { name } else { format!("{weight} {name}") });
            at += if whole { run } else { 1 };
        }
        names
    };
    let places = net::place_invariants(flat);
    let transitions = net::transition_invariants(flat);
    let (siphons, traps) = (net::siphons(flat), net::traps(flat));
    let total = |terms: &[(usize, u64)]| -> u128 {
        terms.iter().map(|&(at, weight)| u128::from(flat.places[at].initial) * u128::from(weight)).sum()
    };
    let sets = |sets: &[Vec<usize>]| -> Vec<String> {
        let set = |set: &Vec<usize>| {
            let terms: Vec<(usize, u64)> = set.iter().map(|&place| (place, 1)).collect();
            let names = of_places(&terms);
            let marked = set.iter().any(|&place| flat.places[place].initial > 0);
            format!("{{{}}}{}", names.join(", "), if marked { ", marked" } else { "" })
        };
        sets.iter().map(set).collect()
    };
    let incomplete = [
        (places.complete, "place invariants"),
        (transitions.complete, "transition invariants"),
        (siphons.complete, "siphons"),
        (traps.complete, "traps"),
    ];
    Structure {
        classes: words.into_iter().filter(|(is, _)| *is).map(|(_, word)| word).collect(),
        place_invariants: (places.invariants.iter())
            .map(|terms| format!("{} = {}", of_places(terms).join(" + "), total(terms)))
            .collect(),
        transition_invariants: (transitions.invariants.iter())
            .map(|terms| terms.iter().map(fired).collect::<Vec<String>>().join(" + "))
            .collect(),
        siphons: sets(&siphons.sets),
        traps: sets(&traps.sets),
        incomplete: incomplete.into_iter().filter(|(complete, _)| !complete).map(|(_, word)| word).collect(),
    }
}
