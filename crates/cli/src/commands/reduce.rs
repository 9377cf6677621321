//! `watershed reduce`: the smallest equivalent transition system.

use std::path::PathBuf;
use std::time::Instant;

use bisim::{Limits, Relation};
use clap::Args;
use report::{Reduction, Size};

use crate::arguments::{Reading, Transform};
use crate::failure::{Answer, Failure};
use crate::inputs::{read_lts, write_lts};
use crate::progress::with_progress;
use crate::terminal::Terminal;

/// Reduce a transition system to the smallest equivalent one
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    watershed reduce model.aut --by branching -o small.aut\n  \
    watershed reduce --hide 'SEND.*' --by weak model.aut -o small.aut")]
pub struct Reduce {
    /// The transition system (.aut, .dot or .json, also compressed)
    lts: PathBuf,
    /// The equivalence to preserve: strong, branching, divbranching, weak, tau-star-a, trace or weak-trace
    #[arg(long, value_name = "RELATION", default_value_t = Relation::Strong)]
    by: Relation,
    /// Where to write the result: .aut, .dot or .json, also compressed
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// The maximum number of states along the way, for trace relations
    #[arg(long, value_name = "N", default_value_t = Limits::default().states)]
    max_states: usize,
    #[command(flatten)]
    transform: Transform,
    #[command(flatten)]
    reading: Reading,
}

impl Reduce {
    pub fn run(self, terminal: &Terminal) -> Result<Answer, Failure> {
        let lts = self.transform.apply(read_lts(&self.lts, &self.reading.options(), terminal)?, terminal);
        let start = Instant::now();
        let limits = Limits { states: self.max_states };
        let reduced = with_progress(terminal, "reducing", |_| bisim::reduce_within(&lts, self.by, &limits))?;
        let seconds = start.elapsed().as_secs_f64();
        if let Some(output) = &self.output {
            write_lts(&reduced, output)?;
        }
        if !self.output.as_deref().is_some_and(lts::is_standard_stream) {
            let relation = self.by.to_string();
            terminal.show(&Reduction { before: size(&lts), after: size(&reduced), relation, seconds });
        }
        Ok(Answer::Yes)
    }
}

fn size(lts: &lts::Lts) -> Size {
    Size { states: lts.state_count() as u64, transitions: lts.transition_count() as u64 }
}
