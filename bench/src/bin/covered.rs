//! Explores models with coverage off, with coverage on, and with probes: `covered MODEL.lnt…`; a row of a table each.
//!
//! Coverage on is the whole direct measurement: an exploration with provenance and what is read from it. Both are run
//! five times in turns, one thread each, and the best of each counts.

use std::path::Path;
use std::time::Instant;

use cover::{Example, Probes, Subject};
use explore::Limits;
use lts::Progress;

/// Probes multiply states: a program with probes is not explored further than this.
const MOST_STATES: usize = 4_000_000;

fn main() {
    for path in std::env::args().skip(1) {
        row(Path::new(&path));
    }
}

fn row(path: &Path) {
    let example = Example { name: "MAIN".to_owned(), ..Example::default() };
    let subject = Subject::new(path);
    let open = || subject.open(&example).unwrap_or_else(|_| panic!("{} type-checks", path.display()));
    let limits = Limits { threads: 1, transitions: false, ..Limits::default() };
    let (mut off, mut on, mut states, mut covered_states) = (f64::INFINITY, f64::INFINITY, 0, 0);
    for _ in 0..5 {
        // Compiled anew each time, so that no run finds the values and labels of another.
        let opened = open();
        let program = opened.model.program().clone();
        let root = program.main().expect("a process to start with");
        let plain =
            lnt::LntModel::new(program, root, &lnt::Options { provenance: false }).expect("it compiles");
        let start = Instant::now();
        states = explore::explore(&plain, &limits, &Progress::new()).states();
        off = off.min(start.elapsed().as_secs_f64());
        let start = Instant::now();
        let (measured, _) =
            cover::measure(opened.model(), &opened.map, opened.initial(), &limits, &Progress::new());
        covered_states = measured.states as usize;
        on = on.min(start.elapsed().as_secs_f64());
    }
    let opened = open();
    let limits = Limits { states: MOST_STATES, ..limits };
    let probes = Probes::first_step(&opened.map);
    let start = Instant::now();
    let (probed, _) = cover::seen_by_probes(&example, &opened, &probes, &limits, &Progress::new());
    let seconds = start.elapsed().as_secs_f64();
    let more = if probed.stopped.is_some() { "more than " } else { "" };
    println!(
        "| {} | {states} | {off:.2} s | {on:.2} s | {:+.1} % | {} | {more}{} ({more}{:.0}x) | {seconds:.2} s |",
        path.file_stem().unwrap_or_default().to_string_lossy(),
        100.0 * (on / off - 1.0),
        covered_states as i64 - states as i64,
        probed.states,
        probed.states as f64 / states as f64,
    );
}
