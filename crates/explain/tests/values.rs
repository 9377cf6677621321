//! Tags of formulas with values, with conditions on states and with endless repetition, compared with runs.
//!
//! The twin knows nothing of automata: it lists the endless and the finished runs of a small random system up to a
//! length, and checks the formula on each of them alone. Where a formula speaks of states, it is
//! evaluated once on the whole system instead, and a run violates it that comes to a state where it fails.

#[path = "../../logic/tests/naive/mod.rs"]
mod naive;

use std::collections::{BTreeMap, BTreeSet};

use explain::{Method, Node, Options, Property, Tag};
use lts::{Edge, Lts, LtsBuilder, Progress, StateId};

const LABELS: [&str; 6] = ["PUT !1", "PUT !2", "GET !1", "GET !2", "A", "i"];

fn system(chance: &mut naive::Chance, labels: &[&str]) -> Lts {
    let states = 1 + chance.below(3);
    let mut builder = LtsBuilder::new();
    builder.reserve_states(states);
    for _ in 0..chance.below(6) {
        let label = builder.label(labels[chance.below(labels.len())]);
        builder.add(StateId::new(chance.below(states)), label, StateId::new(chance.below(states)));
    }
    builder.finish().unwrap()
}

/// How long runs are followed: long enough for what the formulas remember, and not too many.
fn patience(lts: &Lts) -> Option<usize> {
    match lts.states().map(|state| lts.outgoing(state).len()).max() {
        None | Some(0 | 1) => Some(8),
        Some(2) => Some(5),
        Some(3) => Some(4),
        _ => None,
    }
}

fn formula(text: &str) -> logic::Formula {
    let mut sources = source::Sources::new();
    let loaded = logic::load_text("p.mcl", text, &mut sources);
    let mut loaded = loaded.unwrap_or_else(|errors| panic!("{}", sources.render_all(&errors, false)));
    loaded.properties.remove(0).formula
}

/// Verdicts have a naive twin of their own; it would take too long for so many runs.
fn holds(lts: &Lts, formula: &logic::Formula) -> bool {
    let options = logic::Options { explain: false, ..Default::default() };
    logic::check_lts(lts, formula, &options, &Progress::new()).unwrap().holds
}

/// The steps of a run, and where its cycle starts.
type Way = (Vec<(StateId, Edge)>, Option<usize>);

/// All runs that go on from a way: until nothing is possible, or round to where they have been since.
fn runs(lts: &Lts, way: &mut Vec<(StateId, Edge)>, from: usize, most: usize, found: &mut Vec<Way>) {
    let here = way.last().map_or(lts.initial(), |(_, edge)| edge.target);
    if lts.outgoing(here).is_empty() {
        found.push((way.clone(), None));
    }
    for start in from..way.len() {
        if way[start].0 == here {
            found.push((way.clone(), Some(start)));
        }
    }
    if way.len() < most {
        for &edge in lts.outgoing(here) {
            way.push((here, edge));
            runs(lts, way, from, most, found);
            way.pop();
        }
    }
}

/// A run as a system of its own.
fn alone(lts: &Lts, (steps, lasso): &Way) -> Lts {
    let mut builder = LtsBuilder::new();
    builder.reserve_states(steps.len() + usize::from(lasso.is_none()));
    for (at, (_, edge)) in steps.iter().enumerate() {
        let label = builder.label(lts.label(edge.label));
        let last = at + 1 == steps.len();
        let target = if last { lasso.unwrap_or(at + 1) } else { at + 1 };
        builder.add(StateId::new(at), label, StateId::new(target));
    }
    builder.finish().unwrap()
}

/// Compares all tags with what the runs say; gives how many tags there were of each kind.
fn compare(lts: &Lts, text: &str, violates: &mut dyn FnMut(&Way) -> bool) -> [u64; 3] {
    let property = Property::of(&formula(text)).unwrap();
    assert!(matches!(property, Property::Runs(_)), "{text}");
    let tagged = property.tag(lts, &Options::default(), &Progress::new()).unwrap();
    assert_eq!(tagged.is_some(), !holds(lts, &formula(text)), "{text}\n{lts:?}");
    let mut counts = [0; 3];
    let Some(tagged) = tagged else { return counts };
    assert_eq!(tagged.method(), Method::Exact);
    let mut ways: BTreeMap<Node, Vec<(StateId, Edge)>> = BTreeMap::from([(0, Vec::new())]);
    let mut todo = vec![0];
    while let Some(node) = todo.pop() {
        for step in tagged.outgoing(node) {
            let mut way = ways[&node].clone();
            way.push((tagged.state(node), lts.edges()[tagged.system_edge(step)]));
            let mut found = Vec::new();
            let length = way.len();
            runs(lts, &mut way, length, length + patience(lts).unwrap(), &mut found);
            let verdicts: BTreeSet<bool> = found.iter().map(&mut *violates).collect();
            let expected = match (verdicts.contains(&true), verdicts.contains(&false)) {
                (true, true) => Tag::Neutral,
                (true, false) => Tag::Incorrect,
                _ => Tag::Correct,
            };
            assert_eq!(tagged.tag(step), expected, "{text}, node {node}, {}\n{lts:?}", tagged.label(step));
            counts[expected as usize] += 1;
            if let Some(target) = tagged.target(step) {
                ways.entry(target).or_insert_with(|| {
                    todo.push(target);
                    way
                });
            }
        }
    }
    // What is shown as a counterexample is one.
    for run in tagged.shortest_runs(3) {
        let steps: Vec<(StateId, Edge)> = run
            .steps
            .iter()
            .map(|&step| (tagged.state(step.source), lts.edges()[tagged.system_edge(step)]))
            .collect();
        let end = steps.last().map_or(lts.initial(), |(_, edge)| edge.target);
        let mut found = Vec::new();
        match run.lasso {
            Some(lasso) => {
                assert_eq!(steps[lasso].0, end, "{text}\n{lts:?}");
                found.push((steps, run.lasso));
            }
            None => {
                let length = steps.len();
                runs(lts, &mut steps.clone(), length, length + patience(lts).unwrap(), &mut found);
            }
        }
        assert!(found.iter().all(&mut *violates), "{text}\n{lts:?}");
    }
    counts
}

#[test]
fn tags_of_formulas_with_values_are_what_the_runs_say() {
    let formulas = [
        "[ true* . { PUT ?x:nat } . true* . { GET !x } ] false",
        "[ true* . { PUT ?x:nat } . (not { GET !x })* . { PUT !x } ] false",
        "[ true* . { PUT ?x:nat } . { GET ?y:nat where y <> x } ] false",
        "forall x : nat among { 1 ... 2 } . [ (not { PUT !x })* . { GET !x } ] false",
        "[ true* . { PUT ?x:nat where x > 1 } ] false",
        "nu X (n : nat := 0) . ([ { PUT ?any } ] (if n < 2 then X (n + 1) else false end if) and [ \"A\" ] X (0))",
        "[ true* . { PUT ?x:nat } ] mu X . (< true > true and [ not { GET !x } ] X)",
        "mu X . (< true > true and [ not { PUT ?x:nat where x > 1 } ] X)",
        "[ true* ] [ tau ] -|",
        "[ true* . \"A\" ] [ tau ] -|",
        "[ true* . { PUT ?x:nat } . (not { GET !x })* ] [ { GET !3 - x } ] -|",
        "[ (\"A\" | { PUT ?x:nat where x = 2 } . { GET !x })* . tau ] false",
    ];
    let mut seen = [0; 3];
    for text in formulas {
        let checked = formula(text);
        for seed in 0..80 {
            let lts = system(&mut naive::Chance(seed * 131 + text.len() as u64), &LABELS);
            if patience(&lts).is_none() {
                continue;
            }
            let mut known: BTreeMap<(Vec<String>, Option<usize>), bool> = BTreeMap::new();
            let counts = compare(&lts, text, &mut |way| {
                let labels = way.0.iter().map(|(_, edge)| lts.label(edge.label).to_owned()).collect();
                *known.entry((labels, way.1)).or_insert_with(|| !holds(&alone(&lts, way), &checked))
            });
            (0..3).for_each(|tag| seen[tag] += counts[tag]);
        }
    }
    assert!(seen.iter().all(|&count| count > 80), "{seen:?}");
}

#[test]
fn tags_of_formulas_about_states_are_what_the_runs_say() {
    let conditions = [
        "< true* . \"A\" > true",
        "(< \"A\" > true or < tau > true)",
        "(< \"A\" > < tau > true or [ true ] false)",
    ];
    let mut seen = [0; 3];
    for condition in conditions {
        let text = format!("[ true* ] {condition}");
        let checked = formula(condition);
        for seed in 0..400 {
            let labels = ["PUT !1", "GET !1", "A", "i"];
            let lts = system(&mut naive::Chance(seed * 57 + text.len() as u64), &labels);
            if patience(&lts).is_none() {
                continue;
            }
            let holds = naive::sets(&lts, &checked);
            let counts = match Property::of(&formula(&text)).unwrap() {
                Property::Runs(_) => compare(&lts, &text, &mut |(steps, _)| {
                    let states = steps.iter().map(|(state, _)| *state);
                    let last = steps.last().map_or(lts.initial(), |(_, edge)| edge.target);
                    states.chain([last]).any(|state| !holds[state.index()])
                }),
                _ => panic!("{text} has conditions on states"),
            };
            (0..3).for_each(|tag| seen[tag] += counts[tag]);
        }
    }
    assert!(seen[1] > 1000 && seen[2] > 40, "{seen:?}");
}
