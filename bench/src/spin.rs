//! Spin, the peer of exploration: a verifier for a Promela program, and what it says about its search.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::{check, output};

/// What a search of Spin took and found.
#[derive(Clone, Copy)]
pub struct Search {
    /// The time of the search alone, which Spin gives in hundredths.
    pub seconds: f64,
    pub states: f64,
    pub transitions: f64,
    /// The processor time of the whole process.
    pub processor: f64,
    /// What the states themselves take, compressed; the hash table comes on top.
    pub bytes: f64,
    /// What Spin takes in all: states, hash table and stack.
    pub total_bytes: f64,
    /// How deep the search went.
    pub depth: f64,
}

pub fn is_installed() -> bool {
    Command::new("spin").arg("-V").stdout(Stdio::null()).status().is_ok()
}

/// Makes a verifier in a folder.
pub fn compile(promela: &Path, folder: &str, options: &[&str]) {
    fs::create_dir_all(folder).expect("a folder for the verifier");
    let promela = fs::canonicalize(promela).expect("the Promela model");
    check(Command::new("spin").arg("-a").arg(promela).current_dir(folder));
    let fixed = ["-DSAFETY", "-DNOREDUCE", "-w", "-o", "pan", "pan.c"];
    check(Command::new("gcc").args(options).args(fixed).current_dir(folder));
}

/// Runs the verifier of a folder with these options.
pub fn search(folder: &str, options: &[&str]) -> Search {
    let (text, processor) =
        output(Command::new("./pan").args(["-E", "-m10000000"]).args(options).current_dir(folder));
    let number = |needle: &str| -> f64 {
        let line = text.lines().find(|line| line.contains(needle)).unwrap_or_default();
        let words = line.split_whitespace().map(|word| word.parse::<f64>());
        words.flatten().next().unwrap_or(f64::NAN)
    };
    assert!(!text.contains("max search depth too small"), "{folder}: Spin's search was cut short");
    let memory = match number("actual memory usage for states") {
        actual if actual.is_nan() => number("equivalent memory usage for states"),
        actual => actual,
    };
    Search {
        seconds: number("elapsed time"),
        states: number("states, stored"),
        transitions: number("transitions (= stored"),
        processor,
        bytes: memory * 1_048_576.0,
        total_bytes: number("total actual memory usage") * 1_048_576.0,
        depth: depth_in(&text),
    }
}

/// The depth in a line such as `State-vector 20 byte, depth reached 243, errors: 0`.
fn depth_in(text: &str) -> f64 {
    let behind = text.split_once("depth reached ").map_or("", |(_, behind)| behind);
    let digits = behind.find(|c: char| !c.is_ascii_digit()).map_or(behind, |end| &behind[..end]);
    digits.parse().unwrap_or(f64::NAN)
}
