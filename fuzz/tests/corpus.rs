//! A bounded run on stable Rust: every file of the corpus as it is, then with random damage. The seed is fixed, so a
//! failure comes back; it names the file and the round.

use std::path::Path;
use std::time::{Duration, Instant};

/// Rounds of damage a target, and the longest that any one input may take: far more than any needs, so that only a
/// hang reaches it.
const ROUNDS: u64 = 20_000;
const LONGEST: Duration = Duration::from_secs(20);

fn survive(corpus: &str, run: impl Fn(&[u8]) + std::panic::RefUnwindSafe) {
    survive_rounds(corpus, ROUNDS, run);
}

fn survive_rounds(corpus: &str, rounds: u64, run: impl Fn(&[u8]) + std::panic::RefUnwindSafe) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(corpus);
    let mut files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty(), "{corpus} is empty");
    let inputs: Vec<Vec<u8>> = files.iter().map(|file| std::fs::read(file).unwrap()).collect();
    for input in &inputs {
        run(input);
    }
    let mut chance = Chance(0x5EED);
    for round in 0..rounds {
        let at = chance.below(inputs.len());
        let mut input = inputs[at].clone();
        for _ in 0..=chance.below(8) {
            damage(&mut input, &inputs, &mut chance);
        }
        input.truncate(1 << 16);
        let start = Instant::now();
        let result = std::panic::catch_unwind(|| run(&input));
        let name = files[at].display();
        assert!(result.is_ok(), "{name}, round {round}: {:?}", String::from_utf8_lossy(&input));
        assert!(start.elapsed() < LONGEST, "{name}, round {round} took {:?}", start.elapsed());
    }
}

/// Changes, drops, repeats or moves a few bytes, or takes some from another input.
fn damage(input: &mut Vec<u8>, others: &[Vec<u8>], chance: &mut Chance) {
    const FRAGMENTS: [&[u8]; 12] = [
        b"(",
        b")",
        b"\"",
        b"'",
        b",",
        b"\n",
        b"99999999999999999999",
        b"end",
        b"||",
        b"->",
        b"#",
        b"\xC3\xA9",
    ];
    let start = chance.below(input.len() + 1);
    let length = chance.below(12).min(input.len() - start);
    match chance.below(5) {
        0 if start < input.len() => input[start] = chance.below(256) as u8,
        1 => drop(input.drain(start..start + length)),
        2 => {
            let piece = input[start..start + length].to_vec();
            input.splice(start..start, piece);
        }
        3 => {
            let other = &others[chance.below(others.len())];
            let from = chance.below(other.len() + 1);
            let piece = other[from..(from + 40).min(other.len())].to_vec();
            input.splice(start..start, piece);
        }
        _ => drop(input.splice(start..start, FRAGMENTS[chance.below(FRAGMENTS.len())].iter().copied())),
    }
}

struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % bound.max(1)
    }
}

#[test]
fn aut() {
    survive("corpus/aut", fuzz::aut);
}

#[test]
fn selector() {
    survive("corpus/selector", fuzz::selector);
}

#[test]
fn models() {
    for extension in languages::registry().extensions() {
        let corpus = match extension {
            "lnt" => "../crates/lnt/tests/right".to_owned(),
            extension => format!("corpus/{extension}"),
        };
        // A model in Maude imports a prelude, which takes some milliseconds.
        let rounds = if extension == "maude" { ROUNDS / 40 } else { ROUNDS };
        survive_rounds(&corpus, rounds, |data: &[u8]| fuzz::model(extension, data));
    }
}

#[test]
fn mcl() {
    survive("corpus/mcl", fuzz::mcl);
}
