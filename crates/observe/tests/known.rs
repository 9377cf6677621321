//! Layers that know what the layers before have expanded, against one deep job.

use serde::Deserialize;
use std::collections::BTreeSet;
use watershed_observe::sync::{Arc, Mutex};
use watershed_observe::{Exploration, Job, Program, Reduction, Start, Strategy, observe, thread};

#[derive(Deserialize)]
struct State {
    fast: u32,
    slow: u32,
}

/// Two hands of a clock. Between the two observations at its start, the hash says nothing of the second.
fn clock() -> Program {
    let body = |start: Option<State>| {
        let State { fast, slow } = start.unwrap_or(State { fast: 0, slow: 0 });
        observe!("fast", &fast);
        thread::yield_now();
        observe!("slow", &slow);
        let hands = Arc::new(Mutex::new((fast, slow)));
        let others = hands.clone();
        let first = thread::spawn(move || {
            loop {
                let mut hands = others.lock().unwrap();
                hands.0 = (hands.0 + 1) % 3;
                observe!("fast", &hands.0);
            }
        });
        loop {
            let mut hands = hands.lock().unwrap();
            if hands.0 == 2 && hands.1 < 5 {
                hands.1 += 1;
                observe!("slow", &hands.1);
            }
            if hands.0 == 1 && hands.1 == 5 {
                break;
            }
        }
        first.join().unwrap();
    };
    Program::from_states("clock", body).complete()
}

fn job(start: Start, depth: Option<usize>, known: &BTreeSet<u64>) -> Job {
    let known = known.iter().copied().collect();
    Job { start, depth, strategy: Strategy::Systematic(Reduction::None), known, ..Job::systematic() }
}

/// The steps between states that were observed as a whole.
fn steps(found: &Exploration) -> BTreeSet<(String, String)> {
    let pairs = found.sequences.iter().flat_map(|sequence| sequence.states.windows(2));
    pairs
        .filter(|pair| pair[0].contains("slow"))
        .map(|pair| (pair[0].to_string(), pair[1].to_string()))
        .collect()
}

#[test]
fn layers_show_what_one_deep_job_shows() {
    let clock = clock();
    let deep = clock.explore(&job(Start::Beginning, None, &BTreeSet::new()));
    let expected = steps(&deep);
    assert!(expected.len() > 20 && !deep.expanded.is_empty());
    for depth in [8, 11, 20] {
        let (mut found, mut known, mut places) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        let mut layer = vec![Start::Beginning];
        let mut layers = 0;
        while !layer.is_empty() {
            let (mut next, mut expanded) = (Vec::new(), Vec::new());
            for start in std::mem::take(&mut layer) {
                let exploration = clock.explore(&job(start, Some(depth), &known));
                found.extend(steps(&exploration));
                expanded.extend(exploration.expanded);
                for frontier in exploration.frontier {
                    assert!(!known.contains(&frontier.hash.unwrap()));
                    if places.insert(frontier.hash) {
                        next.push(Start::Schedule(frontier.schedule));
                    }
                }
            }
            known.extend(expanded);
            layer = next;
            layers += 1;
        }
        assert!(layers > 1);
        assert_eq!(found, expected, "layers of {depth}");
    }
}

#[test]
fn a_start_is_not_taken_for_another_that_looks_like_it_at_first() {
    let start = |slow: u32| Start::State(serde_json::json!({"fast": 1, "slow": slow}));
    let first = clock().explore(&job(start(0), Some(10), &BTreeSet::new()));
    let known: BTreeSet<u64> = first.expanded.iter().copied().collect();
    let second = clock().explore(&job(start(3), Some(10), &known));
    assert!(!known.is_empty() && !steps(&second).is_empty());
    // The same start is recognised as soon as it was observed.
    assert!(steps(&clock().explore(&job(start(0), Some(10), &known))).is_empty());
}
