//! The engine: packed against unpacked, concurrent steps against all subsets, proven bounds against exploration.

mod random;

use explore::{Exploration, Limits, Outcome, explore};
use lts::{Chance, LabelId, Progress, StateId};
use model::{Model, ModelError, Slot};
use net::{Arc, ArcKind, Flat, FlatModel};
use random::Shape;

fn arcs(take: &[(usize, u32)], put: &[(usize, u32)]) -> Vec<Arc> {
    let take = take.iter().map(|&(place, count)| Arc { place, kind: ArcKind::Take(count) });
    let put = put.iter().map(|&(place, count)| Arc { place, kind: ArcKind::Put(count) });
    take.chain(put).collect()
}

fn explored(model: &FlatModel, most: usize) -> Exploration {
    let limits = Limits { states: most, threads: 1, ..Limits::default() };
    explore(model, &limits, &Progress::new())
}

/// `N` philosophers, each of whom takes one fork after the other, as in the contest.
fn philosophers(number: usize) -> Flat {
    let mut initial = vec![0; 5 * number];
    let mut transitions = Vec::new();
    let (think, fork, left, right, eat) = (0, number, 2 * number, 3 * number, 4 * number);
    for i in 0..number {
        let next = (i + 1) % number;
        (initial[think + i], initial[fork + i]) = (1, 1);
        transitions.push((format!("LEFT !{i}"), arcs(&[(think + i, 1), (fork + i, 1)], &[(left + i, 1)])));
        transitions
            .push((format!("RIGHT !{i}"), arcs(&[(think + i, 1), (fork + next, 1)], &[(right + i, 1)])));
        transitions.push((format!("EAT_L !{i}"), arcs(&[(left + i, 1), (fork + next, 1)], &[(eat + i, 1)])));
        transitions.push((format!("EAT_R !{i}"), arcs(&[(right + i, 1), (fork + i, 1)], &[(eat + i, 1)])));
        let all = [(think + i, 1), (fork + i, 1), (fork + next, 1)];
        transitions.push((format!("END !{i}"), arcs(&[(eat + i, 1)], &all)));
    }
    let transitions: Vec<(&str, Vec<Arc>)> =
        transitions.iter().map(|(label, arcs)| (&**label, arcs.clone())).collect();
    Flat::plain("philosophers", &initial, &transitions)
}

#[test]
fn philosophers_have_as_many_markings_as_the_contest_says() {
    for (number, markings) in [(2, 9), (5, 243), (10, 59_049)] {
        let model = FlatModel::new(philosophers(number));
        let found = explored(&model, usize::MAX);
        assert_eq!(found.outcome, Outcome::Complete);
        assert_eq!(found.states(), markings, "{number}");
        assert!(model.bounds().iter().all(|&bound| bound == Some(1)));
        // One bit for each place.
        assert_eq!(model.layout().words(), (5 * number).div_ceil(32));
    }
}

/// The steps out of a state: label, target, origin.
fn steps(
    model: &FlatModel,
    state: &[Slot],
    packed: bool,
) -> Result<Vec<(LabelId, Vec<Slot>, u32)>, ModelError> {
    let mut found = Vec::new();
    let layout = model.layout();
    if packed {
        let mut words = vec![0; layout.words()];
        layout.pack(state, &mut words)?;
        model.packed_worker().successors(&words, &mut |step| {
            let mut target = vec![0; layout.width()];
            layout.unpack(step.target, &mut target);
            found.push((step.label, target, step.origin.raw()));
        })?;
    } else {
        model.worker().successors(state, &mut |step| {
            found.push((step.label, step.target.to_vec(), step.origin.raw()));
        })?;
    }
    Ok(found)
}

#[test]
fn packed_steps_are_the_steps() {
    let mut chance = Chance::new(1);
    let mut compared = 0;
    for round in 0..3000 {
        // Some nets are so large that transitions are looked up by places.
        let large = round % 40 == 0;
        let shape = Shape {
            places: if large { 60 } else { 7 },
            transitions: if large { 150 } else { 10 },
            weight: 1 + round % 4,
            special: round % 2 == 0,
            conservative: round % 3 != 0,
        };
        let model = FlatModel::new(random::net(&mut chance, shape));
        let found = explored(&model, 60);
        for state in 0..found.states().min(60) {
            let state = found.state(&model, StateId::new(state));
            assert_eq!(
                steps(&model, &state, true),
                steps(&model, &state, false),
                "round {round}: {:?}",
                model.flat()
            );
            let (bounds, enabled) = (model.bounds(), model.enabled(&state));
            assert_eq!(enabled.len(), steps(&model, &state, false).unwrap().len());
            for (&tokens, bound) in state.iter().zip(bounds) {
                assert!(bound.is_none_or(|bound| u64::from(tokens) <= bound), "round {round}");
            }
            compared += 1;
        }
    }
    assert!(compared > 20_000, "{compared}");
}

#[test]
fn large_weights_and_counts_neither_wrap_nor_panic() {
    let most = u32::MAX;
    let grow = arcs(&[], &[(0, most)]);
    let shrink = arcs(&[(0, most), (0, most)], &[(1, most), (1, most)]);
    let model = FlatModel::new(Flat::plain("large", &[0, 0], &[("GROW", grow), ("SHRINK", shrink)]));
    let found = explored(&model, 100);
    let Outcome::Error { error, .. } = &found.outcome else { panic!("{:?}", found.outcome) };
    assert!(error.message.contains("the place p0 would hold more than 4294967295 tokens"), "{error}");
    assert_eq!(error.help.as_deref(), Some("the net seems to be unbounded"));
    assert_eq!(error.during.map(|label| model.label(label)).as_deref(), Some("GROW"));
    assert_eq!(steps(&model, &[most, 0], true), steps(&model, &[most, 0], false));
}

/// All sets of at most `degree` transitions that can fire together, by the definition.
fn naive_sets(model: &FlatModel, state: &[Slot], degree: usize) -> Vec<(String, Vec<Slot>)> {
    let flat = model.flat();
    let count = flat.transitions.len();
    let mut found = Vec::new();
    for set in 1u32..1 << count {
        let members: Vec<usize> = (0..count).filter(|member| set >> member & 1 == 1).collect();
        if members.len() > degree {
            continue;
        }
        if let Some(target) = fire_together(flat, state, &members) {
            let labels: Vec<&str> = members.iter().map(|&member| &*flat.transitions[member].label).collect();
            found.push((members.clone(), labels.join(" | "), target));
        }
    }
    found.sort();
    found.into_iter().map(|(_, label, target)| (label, target)).collect()
}

fn fire_together(flat: &Flat, state: &[Slot], members: &[usize]) -> Option<Vec<Slot>> {
    let total = |member: usize, place: usize, kind: fn(ArcKind) -> Option<u32>| -> u64 {
        let arcs = flat.transitions[member].arcs.iter().filter(|arc| arc.place == place);
        arcs.filter_map(|arc| kind(arc.kind)).map(u64::from).sum()
    };
    let take = |kind| if let ArcKind::Take(count) = kind { Some(count) } else { None };
    let read = |kind| if let ArcKind::Read(count) = kind { Some(count) } else { None };
    let put = |kind| if let ArcKind::Put(count) = kind { Some(count) } else { None };
    let reset = |kind| (kind == ArcKind::Reset).then_some(1);
    let mut target = state.to_vec();
    for (place, &tokens) in state.iter().enumerate() {
        let sum = |kind| members.iter().map(|&member| total(member, place, kind)).sum::<u64>();
        let tokens = u64::from(tokens);
        for &member in members {
            if sum(take) + total(member, place, read) > tokens {
                return None;
            }
            for arc in flat.transitions[member].arcs.iter().filter(|arc| arc.place == place) {
                if let ArcKind::Inhibit(count) = arc.kind
                    && tokens >= u64::from(count)
                {
                    return None;
                }
            }
            // Nobody may use what another one empties.
            let used = total(member, place, take) + total(member, place, read);
            if used > 0 && members.iter().any(|&other| other != member && total(other, place, reset) > 0) {
                return None;
            }
        }
        let kept = if sum(reset) > 0 { 0 } else { tokens - sum(take) };
        let after = kept + sum(put);
        target[place] = if flat.places[place].is_set { after.min(1) } else { after } as u32;
    }
    Some(target)
}

#[test]
fn concurrent_steps_are_the_sets_that_can_fire_together() {
    let mut chance = Chance::new(2);
    let mut joint = 0;
    for round in 0..2000 {
        let shape = Shape {
            places: 5,
            transitions: 6,
            weight: 2,
            special: round % 2 == 0,
            conservative: round % 3 != 0,
        };
        let degree = 2 + round % 3;
        let model = FlatModel::concurrent(random::net(&mut chance, shape), degree);
        let found = explored(&model, 30);
        for state in 0..found.states().min(30) {
            let state = found.state(&model, StateId::new(state));
            let ours: Vec<(String, Vec<Slot>)> = steps(&model, &state, true)
                .unwrap()
                .into_iter()
                .map(|(label, target, _)| (model.label(label), target))
                .collect();
            joint += ours.iter().filter(|(label, _)| label.contains('|')).count();
            assert_eq!(ours, naive_sets(&model, &state, degree), "round {round}: {:?}", model.flat());
        }
    }
    assert!(joint > 1000, "{joint}");
}

#[test]
fn readers_fire_together_and_nobody_takes_what_is_read() {
    let read = |place| Arc { place, kind: ArcKind::Read(1) };
    let flat = Flat::plain(
        "readers",
        &[1, 0],
        &[("A", vec![read(0)]), ("B", vec![read(0)]), ("TAKE", arcs(&[(0, 1)], &[(1, 1)]))],
    );
    let model = FlatModel::concurrent(flat, 3);
    let labels: Vec<String> =
        steps(&model, &[1, 0], true).unwrap().into_iter().map(|(label, ..)| model.label(label)).collect();
    assert_eq!(labels, ["A", "A | B", "B", "TAKE"]);
}

#[test]
fn states_are_described_by_places() {
    let mut flat =
        Flat::plain("shown", &[3, 1, 2, 0], &[("T", vec![Arc { place: 0, kind: ArcKind::Take(1) }])]);
    // The last three places are one place whose tokens have values.
    flat.source_places.truncate(2);
    flat.source_places[1].is_plain = false;
    for (place, token) in [(1, "1"), (2, "2"), (3, "3")] {
        flat.places[place].of = 1;
        flat.places[place].token = token.to_owned();
    }
    let model = FlatModel::new(flat);
    let view = |state: &[Slot]| model.describe(state).values;
    let both = |a: &str, b: &str| vec![("p0".to_owned(), a.to_owned()), ("p1".to_owned(), b.to_owned())];
    assert_eq!(view(&[3, 1, 2, 0]), both("3", "{1, 2 * 2}"));
    assert_eq!(view(&[0, 0, 0, 0]), both("0", "{}"));
    assert_eq!(view(&[0, 12, 0, 1]), both("0", "{12 * 1, 3}"));
}

#[test]
fn systems_do_not_depend_on_the_number_of_threads() {
    let system = |degree: usize, threads: usize| {
        let model = FlatModel::concurrent(philosophers(6), degree);
        let found = explore(&model, &Limits { threads, ..Limits::default() }, &Progress::new());
        assert_eq!(found.states(), 729);
        let mut text = Vec::new();
        lts::write_aut(&found.lts, &mut text).unwrap();
        text
    };
    for degree in [1, 3] {
        let alone = system(degree, 1);
        for _ in 0..3 {
            assert_eq!(system(degree, 2), alone);
            assert_eq!(system(degree, 5), alone);
        }
    }
}
