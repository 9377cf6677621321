//! Explores models with coverage off, with coverage on, and with probes: `covered MODEL.lnt…`; a row of a table each.
//!
//! Coverage on is the whole direct measurement: an exploration with provenance and what is read from it. Both are run
//! nine to twenty-five times in turns, one thread each, and the best of each counts. Times are of the processor: on a
//! shared machine the clock on the wall tells more about the neighbours.

use std::path::Path;

use cover::{Example, Order, Subject};
use explore::Limits;
use languages::Opening;
use lts::Progress;
use model::{Probes, Telling};

/// Probes multiply states: a program with probes is not explored further than this.
const MOST_STATES: usize = 4_000_000;

fn main() {
    for path in std::env::args().skip(1) {
        row(Path::new(&path));
    }
}

/// Processor time of this thread so far, which all of the work runs on: the first field, in nanoseconds.
fn processor_seconds() -> f64 {
    let statistics = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let nanoseconds = statistics.split_whitespace().next().and_then(|field| field.parse::<f64>().ok());
    nanoseconds.expect("the system tells processor times") / 1e9
}

fn row(path: &Path) {
    let example = Example { name: "MAIN".to_owned(), ..Example::default() };
    let subject = Subject::new(path).unwrap();
    let open = || subject.open(&example).unwrap_or_else(|_| panic!("{} type-checks", path.display()));
    let limits = Limits { threads: 1, transitions: false, ..Limits::default() };
    let (mut off, mut on, mut states, mut covered_states) = (f64::INFINITY, f64::INFINITY, 0, 0);
    for turn in 0..25 {
        // Short runs are disturbed more easily.
        if turn >= 9 && off > 1.0 {
            break;
        }
        // Compiled anew each time, so that no run finds the values and labels of another.
        let opened = open();
        let opening = Opening { telling: Telling::Nothing, ..Opening::default() };
        let plain = languages::registry().open(path, &opening).expect("it compiles");
        let start = processor_seconds();
        states = explore::explore(plain.program.model(), &limits, &Progress::new()).states();
        off = off.min(processor_seconds() - start);
        let start = processor_seconds();
        let (measured, _) = cover::measure(opened.model(), opened.map(), &limits, &Progress::new());
        covered_states = measured.states as usize;
        on = on.min(processor_seconds() - start);
    }
    let opened = open();
    let limits = Limits { states: MOST_STATES, ..limits };
    let probes = Probes::first_step(opened.map());
    let start = processor_seconds();
    let (probed, _) =
        cover::seen_by_probes(&example, &opened, &probes, Order::Any, &limits, &Progress::new());
    let seconds = processor_seconds() - start;
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
