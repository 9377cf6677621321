//! `watershed random`: transition systems by chance, the same for the same seed.

use std::path::PathBuf;

use clap::Args;
use lts::{RandomSystem, Shape};

use crate::failure::{Answer, Failure};
use crate::inputs::write_lts;
use crate::terminal::Terminal;

/// Generate a random transition system; the same seed gives the same system
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    watershed random --states 1000 --transitions 5000 -o random.aut\n  \
    watershed random --shape layered --tau-share 0.5 --seed 7 -o - | watershed info -")]
pub struct Random {
    /// The number of states
    #[arg(long, value_name = "N", default_value_t = 100)]
    states: usize,
    /// The number of transitions to draw; duplicates are merged
    #[arg(long, value_name = "N", default_value_t = 300)]
    transitions: usize,
    /// The number of visible labels
    #[arg(long, value_name = "N", default_value_t = 5)]
    labels: usize,
    /// The share of internal transitions, from 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = parse_share)]
    tau_share: f64,
    /// The shape of the system: uniform, connected, layered or tree
    #[arg(long, default_value_t = Shape::Uniform)]
    shape: Shape,
    /// The seed of the random numbers
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Where to write it: .aut, .dot or .json, also compressed
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
}

impl Random {
    pub fn run(self, _terminal: &Terminal) -> Result<Answer, Failure> {
        let spec = RandomSystem {
            states: self.states,
            transitions: self.transitions,
            labels: self.labels,
            internal: self.tau_share,
            shape: self.shape,
            seed: self.seed,
        };
        write_lts(&spec.draw()?, &self.output)?;
        Ok(Answer::Yes)
    }
}

fn parse_share(text: &str) -> Result<f64, String> {
    let share: f64 = text.parse().map_err(|_| "expected a number".to_owned())?;
    match (0.0..=1.0).contains(&share) {
        true => Ok(share),
        false => Err("expected a number from 0 to 1".into()),
    }
}
