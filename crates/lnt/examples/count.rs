//! Counts the states of a model: `cargo run --release -p lnt --example count -- MODEL.lnt [THREADS]`.

use std::path::Path;
use std::time::Instant;

use explore::{Limits, explore};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let Some(path) = arguments.next() else { return eprintln!("usage: count MODEL.lnt [THREADS]") };
    let threads = arguments.next().and_then(|threads| threads.parse().ok()).unwrap_or(1);
    let mut sources = source::Sources::new();
    let checked = match lnt::load(Path::new(&path), &[], &mut sources) {
        Ok(checked) => checked,
        Err(diagnostics) => return eprintln!("{}", sources.render_all(&diagnostics, false)),
    };
    let Some(root) = checked.program.main() else { return eprintln!("no process MAIN") };
    let model = match lnt::LntModel::new(
        checked.program,
        root,
        &lnt::Options { provenance: false, ..lnt::Options::default() },
    ) {
        Ok(model) => model,
        Err(diagnostics) => return eprintln!("{}", sources.render_all(&diagnostics, false)),
    };
    let limits = Limits { threads, transitions: false, origins: false, ..Limits::default() };
    let start = Instant::now();
    let found = explore(&model, &limits, &lts::Progress::new());
    println!(
        "{path}: {} states, {} transitions, {:?}, {:.2} s",
        found.states(),
        found.statistics.transitions,
        found.outcome,
        start.elapsed().as_secs_f64()
    );
}
