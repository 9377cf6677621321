//! How long formulas take on a large LTS, beside the time of reading it, and what they add to the peak of memory.
//!
//! ```sh
//! cargo run --release -p logic --example check_timing                       # the drawn system of 20M transitions
//! cargo run --release -p logic --example check_timing FILE.aut 'FORMULA'…    # a file and formulas
//! cargo run --release -p logic --example check_timing - 'FORMULA'…           # the drawn system and formulas
//! ```

use std::time::Instant;

use logic::Options;
use lts::{AutOptions, Lts, Progress, RandomSystem, Shape};

const FORMULAS: [&str; 10] = [
    r#"[ true* . "a1" . true* . "a2" ] false"#,
    r#"[ true* . "a1" . true* . "b" ] false"#,
    r#"[ true* . "a1" ] mu X . (< true > true and [ not "a2" ] X)"#,
    r#"[ true* . "a1" . (not "a2")* ] < true* . "a2" > true"#,
    r#"[ true* . "a1" . (not "a2")* ] ([ true ] false or < true* . "a2" > true)"#,
    r#"[ true* ] < true* . "a2" > true"#,
    r#"mu X . (< true > true and [ not "a2" ] X)"#,
    r#"< true* . "a1" > @"#,
    "DEADLOCK_FREE",
    "LIVELOCK_FREE",
];

/// A line of `/proc/self/status`, in bytes.
fn status(key: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with(key));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok()).unwrap_or(0) * 1024
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let started = Instant::now();
    let lts: Lts = match arguments.next().filter(|path| path != "-") {
        Some(path) => lts::read_aut(path.as_ref(), &AutOptions::default(), &Progress::new())
            .expect("a readable AUT file"),
        None => RandomSystem {
            states: 4_000_000,
            transitions: 20_000_000,
            labels: 10,
            internal: 0.0,
            shape: Shape::Uniform,
            seed: 1,
        }
        .draw()
        .expect("it fits"),
    };
    println!(
        "{} states, {} transitions, {:.2} s to get",
        lts.state_count(),
        lts.transition_count(),
        started.elapsed().as_secs_f64()
    );
    let mut formulas: Vec<String> = arguments.collect();
    if formulas.is_empty() {
        formulas = FORMULAS.iter().map(|&text| text.to_owned()).collect();
    }
    let mut sources = source::Sources::new();
    for text in formulas {
        let formula = match logic::load_text("formula", &text, &mut sources) {
            Ok(loaded) => loaded.properties[0].formula.clone(),
            Err(errors) => {
                println!("{}", sources.render_all(&errors, false));
                continue;
            }
        };
        for explain in [false, true] {
            // The peak starts again from what is in use now.
            let _ = std::fs::write("/proc/self/clear_refs", "5");
            let before = status("VmRSS");
            let started = Instant::now();
            let options = Options { explain, ..Options::default() };
            let verdict = logic::check_lts(&lts, &formula, &options, &Progress::new());
            let seconds = started.elapsed().as_secs_f64();
            let bytes = status("VmHWM").saturating_sub(before) as f64 / lts.state_count() as f64;
            let answer = match &verdict {
                Ok(verdict) => {
                    let length = verdict.explanation.as_ref().and_then(|one| Some(one.labels()?.len()));
                    format!("{:?} {} {length:?}", verdict.method, verdict.holds)
                }
                Err(error) => error.to_string(),
            };
            let mode = if explain { "explained" } else { "verdict  " };
            println!("{mode} {seconds:6.2} s {bytes:6.2} B/state  {answer:28} {text}");
        }
    }
}
