//! Random nets do what the definition says, alone, together and unfolded.

mod naive;

use std::collections::{BTreeMap, BTreeSet};

use lts::Chance;
use model::{Model, Slot};
use naive::{Fired, Net, Tokens, describe, initial, joint_order, modes, random_net};
use net::{ArcKind, Flat, HighModel, UnfoldLimits, load_net, unfold};
use source::Sources;

/// States of one net that are compared.
const MOST_STATES: usize = 5;

fn load(text: &str) -> HighModel {
    let mut sources = Sources::new();
    match load_net("random.net", text, None, &[], &mut sources) {
        Ok(net) => HighModel::new(net),
        Err(errors) => panic!("{text}\n{}", sources.render_all(&errors, false)),
    }
}

/// All ways to fire in a marking, in order; none where one of them fails.
fn all_modes(net: &Net, marking: &Tokens) -> Option<Vec<Fired>> {
    let mut all = Vec::new();
    for transition in 0..net.transitions.len() {
        all.extend(modes(net, transition, marking).ok()?);
    }
    Some(all)
}

#[test]
fn random_nets_fire_as_defined() {
    let mut chance = Chance::new(15);
    let (mut steps, mut failures) = (0, 0);
    for case in 0..2000 {
        let net = random_net(&mut chance, true);
        let text = net.text();
        let model = load(&text);
        let mut worker = model.worker();
        let start = (model.initial().unwrap(), initial(&net));
        assert_eq!(model.describe(&start.0).values, describe(&net, &start.1), "{text}");
        let mut states: Vec<(Vec<Slot>, Tokens)> = vec![start];
        let mut next = 0;
        while next < states.len().min(MOST_STATES) {
            let (state, marking) = states[next].clone();
            next += 1;
            let mut found: Vec<(String, Vec<Slot>)> = Vec::new();
            let result = worker.successors(&state, &mut |step| {
                found.push((model.label(step.label), step.target.to_vec()));
            });
            let wanted = all_modes(&net, &marking).and_then(|modes| {
                let fire = |mode: &Fired| Some((mode.label(), mode.fire(&net, &marking).ok()?));
                modes.iter().map(fire).collect::<Option<Vec<(String, Tokens)>>>()
            });
            let place = || format!("case {case}, {:?}\n{text}", describe(&net, &marking));
            let Some(wanted) = wanted else {
                assert!(result.is_err(), "{}", place());
                failures += 1;
                continue;
            };
            assert_eq!(result, Ok(()), "{}", place());
            let labels =
                |steps: &mut dyn Iterator<Item = &String>| -> Vec<String> { steps.cloned().collect() };
            let found_labels = labels(&mut found.iter().map(|(label, _)| label));
            assert_eq!(found_labels, labels(&mut wanted.iter().map(|(label, _)| label)), "{}", place());
            let mut targets: BTreeMap<(String, Vec<(String, String)>), Vec<Slot>> = BTreeMap::new();
            for (label, target) in found {
                targets.insert((label, model.describe(&target).values), target);
            }
            steps += targets.len();
            let mut wanted_targets = BTreeSet::new();
            for (label, after) in wanted {
                let key = (label, describe(&net, &after));
                let target = targets.get(&key).unwrap_or_else(|| panic!("{key:?} {}", place()));
                if !states.iter().any(|(known, _)| known == target) {
                    states.push((target.clone(), after));
                }
                wanted_targets.insert(key);
            }
            assert_eq!(targets.len(), wanted_targets.len(), "{}", place());
        }
    }
    assert!(steps > 10_000 && failures > 50, "{steps} steps, {failures} failures");
}

/// The sets of at most three ways to fire that can fire together, by their labels, and where they lead.
fn sets(net: &Net, marking: &Tokens, modes: &[Fired]) -> BTreeSet<(String, Vec<(String, String)>)> {
    let mut all = BTreeSet::new();
    let mut todo: Vec<Vec<usize>> = vec![Vec::new()];
    while let Some(chosen) = todo.pop() {
        for next in chosen.last().map_or(0, |last| last + 1)..modes.len() {
            let longer = [chosen.as_slice(), &[next]].concat();
            let members: Vec<Fired> = longer.iter().map(|&at| modes[at].clone()).collect();
            let same = |one: &Fired, other: &Fired| {
                (one.transition, &one.binding, &one.takes) == (other.transition, &other.binding, &other.takes)
            };
            let twice = (1..members.len()).any(|at| members[..at].iter().any(|one| same(one, &members[at])));
            if twice {
                continue;
            }
            if let Some(after) = joint_order(net, marking, &members) {
                let label = members.iter().map(Fired::label).collect::<Vec<String>>().join(" | ");
                all.insert((label, describe(net, &after)));
            }
            if longer.len() < 3 {
                todo.push(longer);
            }
        }
    }
    all
}

#[test]
fn what_fires_together_can_fire_in_every_order() {
    let mut chance = Chance::new(23);
    let mut together = 0;
    for case in 0..600 {
        let extended = case % 2 == 1;
        let net = random_net(&mut chance, extended);
        let text = net.text();
        let model = load(&text).concurrent(3);
        let marking = initial(&net);
        let Some(modes) = all_modes(&net, &marking).filter(|modes| modes.len() <= 20) else { continue };
        let mut found = BTreeSet::new();
        let state = model.initial().unwrap();
        let result = model.worker().successors(&state, &mut |step| {
            found.insert((model.label(step.label), model.describe(step.target).values));
        });
        if result.is_err() {
            continue;
        }
        let wanted = sets(&net, &marking, &modes);
        together += found.iter().filter(|(label, _)| label.contains('|')).count();
        assert!(found.is_subset(&wanted), "case {case}\n{text}\n{:?}", found.difference(&wanted));
        if !extended {
            assert_eq!(found, wanted, "case {case}\n{text}");
        }
    }
    assert!(together > 300, "{together}");
}

type Triples = BTreeSet<(Vec<String>, String, Vec<String>)>;

/// All steps of a net, unless it has too many markings or one of them fails.
fn steps_of(model: &HighModel) -> Option<Triples> {
    let mut worker = model.worker();
    let print = |state: &[Slot]| model.describe(state).values.into_iter().map(|(_, text)| text).collect();
    let mut states = vec![model.initial().unwrap()];
    let mut triples = Triples::new();
    let mut next = 0;
    while next < states.len() {
        let state = states[next].clone();
        next += 1;
        let mut found = Vec::new();
        let result = worker.successors(&state, &mut |step| found.push((step.label, step.target.to_vec())));
        result.ok()?;
        for (label, target) in found {
            triples.insert((print(&state), model.label(label), print(&target)));
            if !states.contains(&target) {
                states.push(target);
            }
        }
        if states.len() > 60 {
            return None;
        }
    }
    Some(triples)
}

/// The same for a place/transition net.
fn flat_steps(flat: &Flat) -> Triples {
    let print = |marking: &[u32]| -> Vec<String> {
        let places = flat.source_places.iter().enumerate();
        let text = places.map(|(number, place)| {
            let own = flat.places.iter().zip(marking).filter(|(own, count)| own.of == number && **count > 0);
            if place.is_plain {
                return own.map(|(_, count)| count).sum::<u32>().to_string();
            }
            let token = own.map(|(own, count)| match count {
                1 => own.token.clone(),
                several => format!("{several} * {}", own.token),
            });
            format!("{{{}}}", token.collect::<Vec<String>>().join(", "))
        });
        text.collect()
    };
    let mut states: Vec<Vec<u32>> = vec![flat.places.iter().map(|place| place.initial).collect()];
    let mut triples = Triples::new();
    let mut next = 0;
    while next < states.len() {
        let state = states[next].clone();
        next += 1;
        for transition in &flat.transitions {
            let mut needed = vec![0; state.len()];
            let mut after = state.clone();
            let mut is_free = true;
            for arc in &transition.arcs {
                match arc.kind {
                    ArcKind::Take(count) | ArcKind::Read(count) => needed[arc.place] += count,
                    ArcKind::Inhibit(count) => is_free &= state[arc.place] < count,
                    ArcKind::Reset | ArcKind::Put(_) => {}
                }
            }
            if !is_free || needed.iter().zip(&state).any(|(needed, there)| needed > there) {
                continue;
            }
            for arc in &transition.arcs {
                if let ArcKind::Take(count) = arc.kind {
                    after[arc.place] -= count;
                }
            }
            for arc in transition.arcs.iter().filter(|arc| arc.kind == ArcKind::Reset) {
                after[arc.place] = 0;
            }
            for arc in &transition.arcs {
                if let ArcKind::Put(count) = arc.kind {
                    after[arc.place] += count;
                }
            }
            for (place, count) in flat.places.iter().zip(&mut after) {
                *count = if place.is_set { (*count).min(1) } else { *count };
            }
            triples.insert((print(&state), transition.label.clone(), print(&after)));
            if !states.contains(&after) {
                states.push(after);
            }
        }
    }
    triples
}

#[test]
fn unfolded_nets_have_the_same_steps() {
    let mut chance = Chance::new(7);
    let (mut compared, mut steps) = (0, 0);
    for case in 0..2000 {
        let net = random_net(&mut chance, true);
        let text = net.text();
        let model = load(&text);
        let Some(triples) = steps_of(&model) else { continue };
        // Larger ones take long and show no more.
        let limits = UnfoldLimits { transitions: 400, ..UnfoldLimits::default() };
        let Ok(flat) = unfold(model.net(), &limits) else { continue };
        assert_eq!(flat_steps(&flat), triples, "case {case}\n{text}");
        compared += 1;
        steps += triples.len();
    }
    assert!(compared > 500 && steps > 1000, "{compared} nets, {steps} steps");
}
