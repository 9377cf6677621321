//! Runs Watershed and its peers on the same work, one after the other, and prints what each took and the ratio.
//!
//! `make bench` builds everything and runs this from the root of the project. Inputs are generated once into
//! `bench/results`. Every figure is the best of at least three runs; memory is the peak resident set of the
//! whole process.

mod conform;
mod exploration;
mod maude;
mod mutation;
mod nets;
mod soups;
mod spin;

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use wait4::Wait4;

const RESULTS: &str = "bench/results";
const WATERSHED: &str = "target/release/watershed";
const READ: &str = "bench/target/release/read";
const MERC: &str = "bench/target/release/merc";
const COVERED: &str = "bench/target/release/covered";

/// What a program took.
#[derive(Clone, Copy)]
struct Cost {
    seconds: f64,
    bytes: u64,
}

fn main() {
    fs::create_dir_all(RESULTS).expect("bench/results can be made");
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let runs = |section: &str| wanted.is_empty() || wanted.iter().any(|name| name == section);
    if runs("systems") {
        transition_systems();
    }
    if runs("exploration") {
        exploration::section();
    }
    if runs("exploration") || runs("soups") {
        soups::section();
    }
    if runs("nets") {
        nets::section();
    }
    if runs("maude") {
        maude::section();
    }
    if runs("conform") {
        conform::section();
    }
    if runs("properties") {
        properties();
    }
    if runs("explanation") {
        explanation();
    }
    if runs("mutation") {
        mutation::section(&[]);
    }
    if runs("coverage") {
        coverage();
    }
}

/// Reading and reducing transition systems, against MERC.
fn transition_systems() {
    let a = random("a", 1_000_000, 5_000_000);
    let b = cycles();
    let c = random("c", 4_000_000, 20_000_000);
    println!("## Transition systems, against MERC 2.0\n");
    println!(
        "(a) random, 1M states, 5M transitions, 10 labels; (b) six interleaved ten-state cycles, 1M states,"
    );
    println!("6M transitions, two thirds of them `i`; (c) random, 4M states, 20M transitions, 10 labels.");
    println!("Both may use both cores. Reductions are end to end: read, reduce, write.\n");
    println!("| work | ours | MERC | times as fast | our peak | its peak | share |");
    println!("|---|---|---|---|---|---|---|");
    let out = |name: &str| format!("{RESULTS}/{name}.out.aut");
    for (name, file) in [("a", &a), ("b", &b)] {
        let ours = best(READ, &["ours", file]);
        let peer = best(READ, &["merc", file]);
        row(&format!("read ({name})"), ours, peer);
        for relation in ["strong", "branching"] {
            let ours = best(WATERSHED, &["reduce", file, "--by", relation, "-o", &out("ours"), "-q"]);
            let peer = best(MERC, &[relation, file, &out("merc")]);
            row(&format!("{relation} ({name})"), ours, peer);
        }
    }
    let ours = best(WATERSHED, &["reduce", &c, "--by", "branching", "-o", &out("ours"), "-q"]);
    println!("| branching (c) | {:.2} s | | | {} | | |", ours.seconds, megabytes(ours.bytes));
    println!();
}

/// What measuring coverage costs, and what probes would.
fn coverage() {
    println!("## Coverage, against probes\n");
    println!(
        "One thread, nine to twenty-five runs in turns with coverage off and on; then the model with probes for blocks and"
    );
    println!("decisions, once.\n");
    println!(
        "| model | states | off | on | more time | more states | states with probes | time with probes |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let models = [
        "bench/models/philosophers.lnt",
        "bench/models/cells.lnt",
        "bench/models/counters.lnt",
        "models/interlocking/interlocking.lnt",
    ];
    let status = Command::new(COVERED).args(models).status().expect("the program beside this one");
    assert!(status.success(), "{COVERED} failed");
    println!();
}

/// Checking properties, against the time it takes to read the file.
fn properties() {
    let c = random("c", 4_000_000, 20_000_000);
    println!("## Properties\n");
    println!("On (c), 4M states and 20M transitions, 176 MB as an LTS. Time is of the check alone.\n");
    println!("| property | verdict | time | reading the file | peak beyond the LTS, bytes per state |");
    println!("|---|---|---|---|---|");
    let read = best(READ, &["ours", &c]);
    let lts_bytes: f64 = 8.0 * 20e6 + 4.0 * 4e6;
    for name in ["precedence", "response", "fair_response"] {
        let file = format!("bench/models/{name}.mcl");
        let cost = best(WATERSHED, &["check", &c, &file, "-q"]);
        let json = json_of(&["check", &c, &file, "--json"]);
        let beyond = (cost.bytes.max(read.bytes) as f64 - lts_bytes.max(read.bytes as f64)).max(0.0) / 4e6;
        println!(
            "| {name} | {} | {:.2} s | {:.2} s | {beyond:.1} |",
            if json.contains("\"verdict\":true") { "holds" } else { "violated" },
            number_after(&json, "\"seconds\":"),
            read.seconds
        );
    }
    println!("\nOn the fly, on seven counters modulo ten (10M states, 70M transitions):\n");
    let json = json_of(&[
        "check",
        "bench/models/counters.lnt",
        "--root",
        "SEVEN",
        "--never",
        "\"TICK !7 !9\"",
        "--json",
    ]);
    println!(
        "`TICK !7 !9` never happens: violated after {} states, in {:.2} s.\n",
        number_after(&json, "\"states_visited\":"),
        number_after(&json, "\"seconds\":")
    );
}

/// Explaining violations: all of it, from reading to the choices. The peer's figure is from its author's thesis.
fn explanation() {
    println!("## Explanation\n");
    println!(
        "Random systems with 11 labels and the property `bench/models/tagging.mcl`: reading, product, tags,"
    );
    println!(
        "neighbourhoods, groups, dominators, shortest counterexample. CLEAR took 571 s for the size of the"
    );
    println!("first row on its author's machine (thesis, Table 8.1, row 36).\n");
    println!("| system | product transitions | neighbourhoods | time | peak |");
    println!("|---|---|---|---|---|");
    for (name, states, transitions) in [("tags-20M", 98_205, 9_020_000), ("tags-100M", 600_000, 42_000_000)] {
        let file = labelled(name, states, transitions);
        let arguments = ["explain", &file, "bench/models/tagging.mcl"];
        let json = json_of(&[&arguments[..], &["--json"]].concat());
        let part = json.find("\"counterexample_lts\"").map_or("", |at| &json[at..]);
        let all = json.find("\"neighbourhoods\":{").map_or("", |at| &json[at..]);
        let cost = best(WATERSHED, &[&arguments[..], &["-q"]].concat());
        println!(
            "| {} states, {} transitions | {} | {} | {:.2} s | {} |",
            states,
            number_after(json.find("\"full\"").map_or("", |at| &json[at..]), "\"transitions\":"),
            number_after(part, "\"transitions\":"),
            number_after(all, "\"total\":"),
            cost.seconds,
            megabytes(cost.bytes)
        );
    }
    println!();
}

/// A random system with long runs and eleven labels, drawn once.
fn labelled(name: &str, states: usize, transitions: usize) -> String {
    let file = format!("{RESULTS}/{name}.aut");
    if !Path::new(&file).exists() {
        let (states, transitions) = (states.to_string(), transitions.to_string());
        let size = ["--states", &states, "--transitions", &transitions, "--labels", "11", "--seed", "5"];
        check(Command::new(WATERSHED).arg("random").args(size).args(["--shape", "connected", "-o", &file]));
    }
    file
}

fn json_of(arguments: &[&str]) -> String {
    let output = Command::new(WATERSHED).args(arguments).output().expect("it runs");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The number behind a key.
fn number_after(json: &str, key: &str) -> f64 {
    let start = json.find(key).map_or(json.len(), |at| at + key.len());
    let end = json[start..].find([',', '}']).map_or(json.len(), |at| start + at);
    json[start..end].trim().parse().unwrap_or(f64::NAN)
}

/// A random system, drawn once.
fn random(name: &str, states: usize, transitions: usize) -> String {
    let file = format!("{RESULTS}/{name}.aut");
    if !Path::new(&file).exists() {
        let (states, transitions) = (states.to_string(), transitions.to_string());
        let size = ["--states", &states, "--transitions", &transitions, "--labels", "10", "--seed", "1"];
        check(Command::new(WATERSHED).arg("random").args(size).args(["-o", &file]));
    }
    file
}

/// Six ten-state cycles side by side; 40 of their 60 transitions are internal.
fn cycles() -> String {
    let file = format!("{RESULTS}/b.aut");
    if Path::new(&file).exists() {
        return file;
    }
    let mut leaves = Vec::new();
    for cycle in 0..6 {
        let visible = if cycle < 4 { 3 } else { 4 };
        let mut text = "des (0, 10, 10)\n".to_owned();
        for state in 0..10 {
            let label = if state < visible { format!("\"C{cycle} !{state}\"") } else { "i".to_owned() };
            text += &format!("({state}, {label}, {})\n", (state + 1) % 10);
        }
        let leaf = format!("cycle{cycle}.aut");
        fs::write(format!("{RESULTS}/{leaf}"), text).expect("a writable file");
        leaves.push(leaf);
    }
    let network = format!("{RESULTS}/cycles.exp");
    fs::write(&network, format!("par {} end par\n", leaves.join(" || "))).expect("a writable file");
    check(Command::new(WATERSHED).args(["compose", &network, "-o", &file, "-q"]));
    file
}

/// The best of three runs.
fn best(program: &str, arguments: &[&str]) -> Cost {
    (0..3)
        .map(|_| cost(program, arguments))
        .min_by(|a, b| a.seconds.total_cmp(&b.seconds))
        .expect("three runs")
}

fn cost(program: &str, arguments: &[&str]) -> Cost {
    let start = Instant::now();
    let child = Command::new(program).args(arguments).stdout(Stdio::null()).spawn().expect("a program");
    let ended = child.wait4().expect("it ends");
    // 1 says that a property is violated.
    assert!(matches!(ended.status.code(), Some(0 | 1)), "{program} {arguments:?} failed");
    Cost { seconds: start.elapsed().as_secs_f64(), bytes: ended.rusage.maxrss }
}

/// What a program prints, and its processor time.
fn output(command: &mut Command) -> (String, f64) {
    let mut child = command.stdout(Stdio::piped()).spawn().expect("a program");
    let mut bytes = Vec::new();
    child.stdout.take().expect("a pipe").read_to_end(&mut bytes).expect("a readable pipe");
    let usage = child.wait4().expect("it ends").rusage;
    (String::from_utf8_lossy(&bytes).into_owned(), (usage.utime + usage.stime).as_secs_f64())
}

fn check(command: &mut Command) {
    let status = command.stdout(Stdio::null()).status().expect("a program");
    assert!(status.success(), "{command:?} failed");
}

fn row(work: &str, ours: Cost, peer: Cost) {
    println!(
        "| {work} | {:.2} s | {:.2} s | {:.1} | {} | {} | {:.0}% |",
        ours.seconds,
        peer.seconds,
        peer.seconds / ours.seconds,
        megabytes(ours.bytes),
        megabytes(peer.bytes),
        100.0 * ours.bytes as f64 / peer.bytes as f64
    );
}

fn megabytes(bytes: u64) -> String {
    format!("{:.0} MB", bytes as f64 / 1e6)
}
