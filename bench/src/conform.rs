//! Checking sequences of states, against Maude with the checker of the thesis, on the same sequences.

use std::fmt::Write as _;
use std::fs;
use std::process::{Command, Stdio};

use crate::{RESULTS, WATERSHED, best, row};

const MODEL: &str = "models/alternating_bit_maude/alternating_bit_maude.maude";

/// Numbers of sequences, and how many elements a channel holds.
const WORK: [(usize, usize); 3] = [(500, 1), (1_000, 2), (2_000, 3)];

/// Steps of a walk.
const STEPS: usize = 60;

pub fn section() {
    if Command::new("maude").arg("--version").stdout(Stdio::null()).status().is_err() {
        println!("conform: skipped, because maude is not installed (apt-get install maude)\n");
        return;
    }
    println!("## Conformance, against the checker of the thesis in Maude 3.2\n");
    println!(
        "Random runs of the alternating bit protocol, every state of a run, bound 2; whole processes, the best of three"
    );
    println!("runs.\n");
    println!("| work | ours | Maude | times as fast | our memory | Maude's | share |");
    println!("|---|---:|---:|---:|---:|---:|---:|");
    for (count, size) in WORK {
        let sequences: Vec<Vec<String>> = (0..count).map(|seed| walk(seed as u64 + 1, size)).collect();
        let ours = format!("{RESULTS}/sequences.txt");
        let text: String =
            sequences.iter().map(|states| format!("({} | nil) ,\n", states.join(" | "))).collect();
        fs::write(&ours, text).expect("results can be written");
        let theirs = format!("{RESULTS}/sequences.maude");
        let mut text = fs::read_to_string(MODEL).expect("the model is there");
        text += &fs::read_to_string("bench/models/maude/tester.maude").expect("the checker is there");
        for some in sequences.chunks(100) {
            let list: Vec<String> =
                some.iter().map(|states| format!("({} => stop)", states.join(" => "))).collect();
            let _ = writeln!(text, "red in TESTER : tester('ALTERNATING-BIT, ({}), 2) .", list.join(", "));
        }
        fs::write(&theirs, text + "\nquit\n").expect("results can be written");
        let output = Command::new("maude").args(["-no-banner", "-no-advise", "-batch", &theirs]).output();
        let said = String::from_utf8_lossy(&output.expect("Maude runs").stdout).into_owned();
        assert_eq!(said.matches("result Verdict: success").count(), count.div_ceil(100), "{said}");
        let states: usize = sequences.iter().map(Vec::len).sum();
        let cost = best(WATERSHED, &["conform", MODEL, &ours, "--bound", "2", "--quiet"]);
        let what = format!("{count} sequences, {states} states, channels of {size}");
        row(&what, cost, best("maude", &["-no-banner", "-no-advise", "-batch", &theirs]));
    }
    println!();
}

/// A run of the protocol, written without the model: its states as terms.
fn walk(seed: u64, size: usize) -> Vec<String> {
    let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut below = |end: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random % end as u64) as usize
    };
    let (mut sent, mut sender, mut receiver) = (0, true, true);
    let mut got: Vec<usize> = Vec::new();
    let mut data: Vec<(usize, bool)> = Vec::new();
    let mut bits: Vec<bool> = Vec::new();
    let mut states = Vec::new();
    for _ in 0..STEPS {
        let list = |items: Vec<String>, empty: &str| {
            if items.is_empty() { empty.to_owned() } else { items.join(" | ") }
        };
        let state = format!(
            "{{(cap: {size}) (sb: {sender}) (data: d({sent})) (rb: {receiver}) (buf: ({})) (dc: ({})) (ac: ({}))}}",
            list(got.iter().map(|datum| format!("d({datum})")).collect(), "nil"),
            list(data.iter().map(|(datum, bit)| format!("< d({datum}), {bit} >")).collect(), "noPairs"),
            list(bits.iter().map(bool::to_string).collect(), "noBits"),
        );
        if states.last() != Some(&state) {
            states.push(state);
        }
        match below(8) {
            0 if sent < 4 && data.len() < size => data.push((sent, sender)),
            1 if bits.len() < size => bits.push(receiver),
            2 | 3 if !bits.is_empty() => {
                // Nothing is left to be delivered: only what says nothing new is taken.
                if bits[0] == sender || sent < 4 {
                    let bit = bits.remove(0);
                    if bit != sender {
                        sender = !sender;
                        sent += 1;
                    }
                }
            }
            4 | 5 if !data.is_empty() => {
                let (datum, bit) = data.remove(0);
                if bit == receiver {
                    receiver = !receiver;
                    got.push(datum);
                }
            }
            6 if !data.is_empty() => {
                let at = below(data.len());
                match below(2) {
                    0 => _ = data.remove(at),
                    _ if data.len() < size => data.insert(at, data[at]),
                    _ => {}
                }
            }
            7 if !bits.is_empty() => {
                let at = below(bits.len());
                match below(2) {
                    0 => _ = bits.remove(at),
                    _ if bits.len() < size => bits.insert(at, bits[at]),
                    _ => {}
                }
            }
            _ => {}
        }
    }
    states
}
