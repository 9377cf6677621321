//! Random nets do what the definition says, alone, together and unfolded.

mod naive;

use std::collections::{BTreeMap, BTreeSet};

use lts::Chance;
use model::{Model, Slot};
use naive::{Fired, Net, Tokens, describe, initial, joint, modes, random_net};
use net::{Flat, FlatModel, HighModel, UnfoldLimits, load_net, unfold};
use source::Sources;

/// The label of a step, and the description of the state after it.
type Reached = (String, Vec<(String, String)>);

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
            let mut targets: BTreeMap<Reached, Vec<Slot>> = BTreeMap::new();
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
fn sets(net: &Net, marking: &Tokens, modes: &[Fired]) -> BTreeSet<Reached> {
    let mut all = BTreeSet::new();
    let mut todo: Vec<Vec<usize>> = vec![Vec::new()];
    while let Some(chosen) = todo.pop() {
        for next in chosen.last().map_or(0, |last| last + 1)..modes.len() {
            let longer = [chosen.as_slice(), &[next]].concat();
            let members: Vec<Fired> = longer.iter().map(|&at| modes[at].clone()).collect();
            let mut earlier = members[..members.len() - 1].iter();
            if earlier.any(|one| one.label() == modes[next].label()) {
                continue;
            }
            if let Some(after) = joint(net, marking, &members) {
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
fn random_nets_fire_together_as_defined() {
    let mut chance = Chance::new(23);
    let (mut compared, mut together) = (0, 0);
    for case in 0..2000 {
        let net = random_net(&mut chance, case % 2 == 1);
        let text = net.text();
        let model = load(&text).concurrent(3);
        let marking = initial(&net);
        let Some(modes) = all_modes(&net, &marking).filter(|modes| modes.len() <= 10) else { continue };
        let mut found = BTreeSet::new();
        let state = model.initial().unwrap();
        let result = model.worker().successors(&state, &mut |step| {
            found.insert((model.label(step.label), model.describe(step.target).values));
        });
        if result.is_err() {
            continue;
        }
        assert_eq!(found, sets(&net, &marking, &modes), "case {case}\n{text}");
        compared += 1;
        together += found.iter().filter(|(label, _)| label.contains('|')).count();
    }
    assert!(compared > 500 && together > 500, "{compared} nets, {together} steps of several transitions");
}

type Triples = BTreeSet<(Vec<String>, String, Vec<String>)>;

/// All steps of a model, unless it has too many states or one of them fails. Steps in which a binding fires twice are
/// left out: a place/transition net does not know that two of its transitions are one.
fn steps_of(model: &dyn Model, print: &dyn Fn(&[Slot]) -> Vec<String>) -> Option<Triples> {
    let mut worker = model.worker();
    let mut states = vec![model.initial().unwrap()];
    let mut triples = Triples::new();
    let mut next = 0;
    while next < states.len() {
        let state = states[next].clone();
        next += 1;
        let mut found = Vec::new();
        let result = worker.successors(&state, &mut |step| found.push((step.label, step.target.to_vec())));
        result.ok()?;
        let source = print(&state);
        for (label, target) in found {
            let label = model.label(label);
            let mut members: Vec<&str> = label.split(" | ").collect();
            let count = members.len();
            members.sort_unstable();
            members.dedup();
            if members.len() == count {
                triples.insert((source.clone(), label, print(&target)));
                if !states.contains(&target) {
                    states.push(target);
                }
            }
        }
        if states.len() > 60 || triples.len() > 2000 {
            return None;
        }
    }
    Some(triples)
}

/// A marking of a place/transition net as the net that was unfolded is described.
fn print_flat(flat: &Flat, marking: &[Slot]) -> Vec<String> {
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
}

/// Compares random nets with what they unfold to; gives the number of nets and of steps.
fn compare_unfolded(seed: u64, cases: usize, degree: usize) -> (usize, usize) {
    let mut chance = Chance::new(seed);
    let (mut compared, mut steps) = (0, 0);
    for case in 0..cases {
        let net = random_net(&mut chance, true);
        let text = net.text();
        let model = load(&text).concurrent(degree);
        // Larger ones take long and show no more.
        let transitions = if degree == 1 { 100 } else { 15 };
        let limits = UnfoldLimits { transitions, ..UnfoldLimits::default() };
        let Ok(unfolded) = unfold(model.net(), &limits) else { continue };
        let print = |state: &[Slot]| model.describe(state).values.into_iter().map(|(_, text)| text).collect();
        let Some(triples) = steps_of(&model, &print) else { continue };
        let flat_model = FlatModel::concurrent(unfolded.flat.clone(), degree);
        let flat_print = |state: &[Slot]| print_flat(&unfolded.flat, state);
        let flat_triples = steps_of(&flat_model, &flat_print);
        assert_eq!(flat_triples.as_ref(), Some(&triples), "case {case}\n{text}");
        compared += 1;
        steps += triples.len();
    }
    (compared, steps)
}

#[test]
fn unfolded_nets_have_the_same_steps() {
    let (compared, steps) = compare_unfolded(7, 2000, 1);
    assert!(compared > 500 && steps > 2000, "{compared} nets, {steps} steps");
}

#[test]
fn unfolded_nets_have_the_same_concurrent_steps() {
    let (compared, steps) = compare_unfolded(8, 1000, 3);
    assert!(compared > 200 && steps > 1000, "{compared} nets, {steps} steps");
}
