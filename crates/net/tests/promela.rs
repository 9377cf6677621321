//! Spin stores as many states of the exported program as the net has markings.

mod random;

use std::path::Path;
use std::process::Command;

use explore::{Limits, explore};
use lts::{Chance, Progress};
use net::{Arc, ArcKind, Flat, FlatModel, PromelaOptions, write_promela};
use random::Shape;

/// Runs a program in a folder; none where it is not installed.
fn run(folder: &Path, program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).current_dir(folder).output().ok()?;
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {arguments:?}: {text}");
    Some(text)
}

/// What Spin's verifier prints about a program; none where Spin or a C compiler is missing.
fn verified(program: &str) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("net.pml"), program).unwrap();
    run(folder.path(), "spin", &["-V"])?;
    run(folder.path(), "gcc", &["--version"])?;
    run(folder.path(), "spin", &["-a", "net.pml"])?;
    run(
        folder.path(),
        "gcc",
        &["-w", "-O0", "-DSAFETY", "-DNOREDUCE", "-DVECTORSZ=65536", "-o", "pan", "pan.c"],
    )?;
    run(folder.path(), "./pan", &["-m1000000", "-w18"])
}

fn stored(report: &str) -> usize {
    assert!(!report.contains("search depth too small"), "{report}");
    let line =
        report.lines().find(|line| line.contains("states, stored")).unwrap_or_else(|| panic!("{report}"));
    line.split_whitespace().next().unwrap().parse().unwrap_or_else(|_| panic!("{report}"))
}

/// The markings of a net, where there are at most `most`.
fn markings(model: &FlatModel, most: usize) -> Option<usize> {
    let limits = Limits { states: most, threads: 1, ..Limits::default() };
    let found = explore(model, &limits, &Progress::new());
    found.outcome.is_complete().then(|| found.states())
}

fn skipped() {
    eprintln!("skipped: spin or gcc is not installed");
}

/// A token goes round a ring of so many places, another one the other way, and a counter turns.
fn ring(places: usize) -> Flat {
    let mut initial = vec![0; places + 2];
    (initial[0], initial[places]) = (2, 300);
    let mut transitions = Vec::new();
    for place in 0..places {
        let step = |from: usize, to: usize| {
            vec![Arc { place: from, kind: ArcKind::Take(1) }, Arc { place: to, kind: ArcKind::Put(1) }]
        };
        transitions.push(("ON", step(place, (place + 1) % places)));
    }
    let count =
        vec![Arc { place: places, kind: ArcKind::Take(3) }, Arc { place: places + 1, kind: ArcKind::Put(2) }];
    transitions.push(("COUNT", count));
    Flat::plain("a */ ring", &initial, &transitions)
}

#[test]
fn spin_stores_as_many_states_as_there_are_markings() {
    let mut nets = vec![ring(3), ring(5), Flat::plain("nothing", &[3], &[])];
    // Two components that share a place.
    let mut two = ring(4);
    two.components.push(two.components[0].clone());
    let last = two.source_transitions.len() - 1;
    two.source_transitions[last].component = 1;
    nets.push(two);
    let mut chance = Chance::new(3);
    while nets.len() < 24 {
        let round = nets.len();
        let shape = Shape {
            places: 6,
            transitions: 8,
            weight: 1 + round % 3,
            special: round % 2 == 0,
            conservative: round % 3 != 0,
        };
        let flat = random::net(&mut chance, shape);
        // Nets that stand still tell little.
        if markings(&FlatModel::new(flat.clone()), 5000).is_some_and(|count| count > 4) {
            nets.push(flat);
        }
    }
    for (round, flat) in nets.into_iter().enumerate() {
        let model = FlatModel::new(flat);
        let options = PromelaOptions { deterministic: round % 2 == 1, monitor: false };
        let program = write_promela(&model, options).unwrap();
        let Some(report) = verified(&program) else { return skipped() };
        assert_eq!(Some(stored(&report)), markings(&model, 100_000), "{program}\n{report}");
    }
}

#[test]
fn the_monitor_fails_when_all_is_covered() {
    let covered = FlatModel::new(ring(3));
    let program =
        write_promela(&covered, PromelaOptions { monitor: true, ..PromelaOptions::default() }).unwrap();
    let Some(report) = verified(&program) else { return skipped() };
    assert!(report.contains("errors: 1") && report.contains("assertion violated"), "{report}");
    // A transition that never fires is never covered.
    let mut flat = ring(3);
    flat.transitions[0].arcs.push(Arc { place: 0, kind: ArcKind::Read(1000) });
    let program =
        write_promela(&FlatModel::new(flat), PromelaOptions { monitor: true, ..PromelaOptions::default() })
            .unwrap();
    let Some(report) = verified(&program) else { return skipped() };
    assert!(report.contains("errors: 0"), "{report}");
}

#[test]
fn numbers_beyond_those_of_promela_are_told() {
    let flat = Flat::plain("large", &[u32::MAX], &[("T", vec![Arc { place: 0, kind: ArcKind::Take(1) }])]);
    let error = write_promela(&FlatModel::new(flat), PromelaOptions::default()).unwrap_err();
    assert!(
        error.message.contains("the place p0 has numbers of tokens beyond 2147483647"),
        "{}",
        error.message
    );
}
