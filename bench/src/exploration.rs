//! Exploring models, against Spin, and against Stateright on three of them.
//!
//! A model is a file in LNT and one in Promela with the same states and the same transitions; the benchmark stops where a
//! number differs. Spin adds stored states and states met again, and the initial state is stored without a transition:
//! its number of transitions is ours and one more, always.

use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use wait4::Wait4 as _;

use crate::{Cost, RESULTS, WATERSHED, megabytes, number_after, spin};

const STATERIGHT: &str = "bench/target/release/rust_models";

/// The models that the engine was tuned to before there were others.
const EARLIER: [&str; 3] = ["philosophers", "cells", "counters"];

/// The models that were written from the description of the language, without regard to the engine.
const OTHERS: [&str; 15] = [
    "filter_lock",
    "ring_election",
    "window",
    "puzzle",
    "sandpile",
    "readers_writers",
    "paxos",
    "raft",
    "register",
    "coherence",
    "two_phase",
    "allocator",
    "token_buffer",
    "hanoi",
    "snapshot",
];

/// The models that a newcomer to LNT wrote, with numbers of the predefined types, nested records, recursive functions, and
/// values that are chosen or received in whatever way came to mind.
const NEWCOMERS: [&str; 7] =
    ["szymanski", "chang_roberts", "pegs", "quorum_register", "mesi", "three_phase", "heap"];

/// The models that somebody else wrote afterwards from the description of the language, to see what the engine does with models that
/// it was not made for.
const STRANGERS: [&str; 7] = [
    "eisenberg",
    "workshop",
    "selective_repeat",
    "rush_hour",
    "directory_msi",
    "ricart_agrawala",
    "file_system",
];

/// The models of a second stranger, who came after these.
const SECOND_STRANGERS: [&str; 8] = [
    "fast_mutex",
    "dolev_klawe_rodeh",
    "go_back_n",
    "sliding_tiles",
    "gossip",
    "paxos_learner",
    "german_sets",
    "resource_sets",
];

/// The models of a third stranger, who came last.
const THIRD_STRANGERS: [&str; 7] =
    ["bakery", "elections", "window_records", "pancakes", "commit_rounds", "scheduler", "first_fit"];

/// The models that `bin/rust_models.rs` has as well: a soup of messages, a puzzle, a lock.
const IN_RUST: [&str; 3] = ["paxos", "puzzle", "filter_lock"];

/// Programs run in turns, at least so often and so long, because a noisy machine disturbs all of them alike; but no turn
/// begins after the limit, so that a slow model does not hold up the others.
pub const TURNS: usize = 3;
pub const TIME: Duration = Duration::from_secs(6);
pub const LIMIT: Duration = Duration::from_secs(20);

pub fn section() {
    if spin::is_installed() {
        against_spin();
    } else {
        println!("exploration: Spin is skipped, because it is not installed (apt-get install spin)\n");
    }
    against_stateright();
}

fn against_spin() {
    println!("## Exploration, against Spin\n");
    println!(
        "One thread each, in turns; Spin's verifier compiled with -O2 -DSAFETY -DNOREDUCE, with about four slots of its"
    );
    println!(
        "hash table per state and room for the depth it reaches. Time is of the search alone for Spin and of the whole"
    );
    println!(
        "process for us, with the search alone beside it; ratios are of Spin's search to our whole process. Our memory is the"
    );
    println!(
        "peak of the process; Spin's is all it takes, with hash table and stack, and that for states alone. Two runs side by"
    );
    println!(
        "side, each on one thread, have nothing to do with each other: what they gain is what the machine gives two threads"
    );
    println!("at most.\n");
    println!(
        "| model | states | transitions | ours | search alone | Spin | transitions/s, ours over Spin's | our memory | Spin's, all | Spin's, states alone | bytes per state, ours / Spin's states | two threads | two runs side by side |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
    let earlier = EARLIER.map(|model| (model, spin_row(model)));
    let others = OTHERS.map(|model| (model, spin_row(model)));
    let newcomers = NEWCOMERS.map(|model| (model, spin_row(model)));
    let strangers = STRANGERS.map(|model| (model, spin_row(model)));
    let second = SECOND_STRANGERS.map(|model| (model, spin_row(model)));
    let third = THIRD_STRANGERS.map(|model| (model, spin_row(model)));
    println!();
    println!("| models | geometric mean of ratios | worst ratio | more memory than Spin in all |");
    println!("|---|---:|---:|---|");
    summary("those tuned to earlier", &earlier);
    summary("the others", &others);
    summary("these and those tuned to", &[&earlier[..], &others[..]].concat());
    summary("a newcomer's", &newcomers);
    summary("a stranger's", &strangers);
    summary("a second stranger's", &second);
    summary("a third stranger's", &third);
    let all = [&earlier[..], &others[..], &newcomers[..], &strangers[..], &second[..], &third[..]];
    summary("all", &all.concat());
    println!();
}

/// How we compare with a peer.
#[derive(Clone, Copy)]
struct Comparison {
    /// Our transitions per second over the peer's.
    speed: f64,
    /// Our memory over the peer's.
    memory: f64,
}

fn spin_row(model: &str) -> Comparison {
    let folder = format!("{RESULTS}/{model}");
    spin::compile(Path::new(&format!("bench/models/{model}.pml")), &folder, &["-O2"]);
    let file = format!("bench/models/{model}.lnt");
    let start = Instant::now();
    let mut one = Explored::new(&file, 1);
    let table = format!("-w{}", (4.0 * one.states).log2().ceil());
    // No run without a cycle is longer than there are states. Spin gives up if it reaches the bound itself.
    let bound = |depth: f64| format!("-m{}", depth + 100.0);
    let depth = bound(spin::search(&folder, &[&table, &bound(one.states)]).depth);
    let (mut two, mut beside) = (f64::INFINITY, f64::INFINITY);
    let mut peer: Option<spin::Search> = None;
    let mut turns = 0;
    while turns == 0 || (start.elapsed() < LIMIT && (turns < TURNS || start.elapsed() < TIME)) {
        turns += 1;
        let search = spin::search(&folder, &[&table, &depth]);
        assert_eq!(one.states, search.states, "{model}: Spin finds another number of states");
        assert_eq!(
            one.transitions + 1.0,
            search.transitions,
            "{model}: Spin finds another number of transitions"
        );
        if peer.is_none_or(|best| search.seconds < best.seconds) {
            peer = Some(search);
        }
        let on_two = Explored::new(&file, 2);
        assert_eq!(
            (one.states, one.transitions),
            (on_two.states, on_two.transitions),
            "{model}: two threads find something else"
        );
        two = two.min(on_two.process.seconds);
        beside = beside.min(seconds_side_by_side(&file));
        // The first turn has had its run on one thread.
        if turns > 1 {
            one = one.better(Explored::new(&file, 1));
        }
    }
    let peer = peer.expect("at least one turn");
    // Spin's hundredths may be zero on a model that is too small; both make the same transitions, so times are compared.
    let comparison = Comparison {
        speed: peer.seconds.max(0.01) / one.process.seconds,
        memory: one.process.bytes as f64 / peer.total_bytes,
    };
    println!(
        "| {model} | {} | {} | {:.2} s | {:.2} s | {:.2} s | {:.2} | {} | {} | {} | {:.0} / {:.0} | {:.2}x | {:.2}x |",
        one.states,
        one.transitions,
        one.process.seconds,
        one.search,
        peer.seconds,
        comparison.speed,
        megabytes(one.process.bytes),
        megabytes(peer.total_bytes as u64),
        megabytes(peer.bytes as u64),
        one.process.bytes as f64 / one.states,
        peer.bytes / one.states,
        one.process.seconds / two,
        2.0 * one.process.seconds / beside
    );
    comparison
}

fn summary(name: &str, rows: &[(&str, Comparison)]) {
    let logarithms: f64 = rows.iter().map(|(_, row)| row.speed.ln()).sum();
    let worst = rows.iter().min_by(|a, b| a.1.speed.total_cmp(&b.1.speed)).expect("some models");
    let larger: Vec<&str> =
        rows.iter().filter(|(_, row)| row.memory > 1.0).map(|(model, _)| *model).collect();
    println!(
        "| {name} | {:.2} | {:.2} ({}) | {} |",
        (logarithms / rows.len() as f64).exp(),
        worst.1.speed,
        worst.0,
        if larger.is_empty() { "none".to_owned() } else { larger.join(", ") }
    );
}

fn against_stateright() {
    println!("## Exploration, against Stateright\n");
    println!(
        "The same models in Rust, breadth first on one thread; whole processes, in turns. Stateright keeps a 64-bit hash of"
    );
    println!("each state, and the states that are still to be looked at with the path to each.\n");
    println!(
        "| model | states | transitions | ours | Stateright | transitions/s, ours over Stateright's | our memory | Stateright's |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|");
    for model in IN_RUST {
        let file = format!("bench/models/{model}.lnt");
        let start = Instant::now();
        let (mut ours, mut peer) = (Explored::new(&file, 1), Explored::by_stateright(model));
        let mut turns = 1;
        while start.elapsed() < LIMIT && (turns < TURNS || start.elapsed() < TIME) {
            turns += 1;
            ours = ours.better(Explored::new(&file, 1));
            peer = peer.better(Explored::by_stateright(model));
        }
        assert_eq!(
            (ours.states, ours.transitions),
            (peer.states, peer.transitions),
            "{model}: Stateright finds something else"
        );
        println!(
            "| {model} | {} | {} | {:.2} s | {:.2} s | {:.2} | {} | {} |",
            ours.states,
            ours.transitions,
            ours.process.seconds,
            peer.process.seconds,
            peer.process.seconds / ours.process.seconds,
            megabytes(ours.process.bytes),
            megabytes(peer.process.bytes)
        );
    }
    println!();
}

/// What an exploration says about itself, and what its process took.
pub struct Explored {
    pub states: f64,
    pub transitions: f64,
    /// The seconds of the search alone.
    search: f64,
    pub process: Cost,
}

impl Explored {
    pub fn new(file: &str, threads: usize) -> Self {
        let threads = threads.to_string();
        Self::of(Command::new(WATERSHED).args(["explore", file, "--threads", &threads, "--json"]))
    }

    fn by_stateright(model: &str) -> Self {
        Self::of(Command::new(STATERIGHT).arg(model))
    }

    fn of(command: &mut Command) -> Self {
        let start = Instant::now();
        let mut child = command.stdout(Stdio::piped()).spawn().expect("a program");
        let mut json = String::new();
        child.stdout.take().expect("a pipe").read_to_string(&mut json).expect("readable text");
        let ended = child.wait4().expect("it ends");
        assert!(ended.status.success(), "{command:?} failed: {json}");
        let key = |name: &str| number_after(&json, &format!("\"{name}\":"));
        Self {
            states: key("states"),
            transitions: key("transitions"),
            search: key("seconds"),
            process: Cost { seconds: start.elapsed().as_secs_f64(), bytes: ended.rusage.maxrss },
        }
    }

    pub fn better(self, other: Self) -> Self {
        if other.process.seconds < self.process.seconds { other } else { self }
    }
}

/// How long two explorations on one thread take that begin together.
fn seconds_side_by_side(file: &str) -> f64 {
    let start = Instant::now();
    let runs = [(); 2].map(|()| {
        let mut command = Command::new(WATERSHED);
        command
            .args(["explore", file, "--threads", "1", "-q"])
            .stdout(Stdio::null())
            .spawn()
            .expect("a program")
    });
    for mut run in runs {
        assert!(run.wait().expect("it ends").success(), "exploring {file} failed");
    }
    start.elapsed().as_secs_f64()
}
