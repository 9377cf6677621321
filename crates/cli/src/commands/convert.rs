//! `watershed convert`: from one format to another, labels changed on the way.

use std::path::PathBuf;

use clap::Args;
use lts::Internal;

use crate::arguments::{Reading, Transform};
use crate::failure::{Answer, Failure};
use crate::inputs::{read_part, write_lts};
use crate::progress::with_progress;
use crate::terminal::Terminal;

/// Convert a transition system to another format, or change its labels
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    watershed convert model.aut model.dot\n  \
    watershed convert --tau tau mcrl2.aut cadp.aut.gz\n  \
    watershed convert --hide 'SEND.*' --rename 'RECV -> GET' --reachable model.aut out.aut")]
pub struct Convert {
    /// The transition system (.aut, .dot or .json, also compressed)
    input: PathBuf,
    /// Where to write it: .aut, .dot or .json, also compressed; `-` writes AUT to standard output
    output: PathBuf,
    #[command(flatten)]
    transform: Transform,
    /// Remove unreachable states and number the others breadth first
    #[arg(long)]
    reachable: bool,
    /// Make it deterministic, treating the internal action like any other label
    #[arg(long)]
    determinise: bool,
    /// The maximum number of states of the deterministic system
    #[arg(long, value_name = "N", default_value_t = 10_000_000)]
    max_states: usize,
    #[command(flatten)]
    reading: Reading,
}

impl Convert {
    pub fn run(self, terminal: &Terminal) -> Result<Answer, Failure> {
        let mut lts =
            self.transform.apply(read_part(&self.input, &self.reading.options(), terminal)?, terminal);
        if self.reachable {
            lts = lts.reachable();
        }
        if self.determinise {
            lts = with_progress(terminal, "determinising", |progress| {
                lts.determinise(Internal::Observed, self.max_states, progress)
            })?;
        }
        write_lts(&lts, &self.output)?;
        Ok(Answer::Yes)
    }
}
