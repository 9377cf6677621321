//! `watershed info`: a transition system at a glance.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use lts::Lts;
use report::LabelUse;

use crate::arguments::{Reading, Transform};
use crate::failure::{Answer, Failure};
use crate::inputs::read_part;
use crate::memory::peak_bytes;
use crate::terminal::Terminal;

/// Show the size and shape of a transition system
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    watershed info model.aut\n  \
    watershed info --labels big.aut.zst\n  \
    watershed info --json model.aut | jq .deadlocks")]
pub struct Info {
    /// The transition system (.aut, .dot or .json, also compressed)
    lts: PathBuf,
    /// List the labels with the number of their transitions
    #[arg(long)]
    labels: bool,
    #[command(flatten)]
    transform: Transform,
    #[command(flatten)]
    reading: Reading,
}

impl Info {
    pub fn run(self, terminal: &Terminal) -> Result<Answer, Failure> {
        let start = Instant::now();
        let lts = self.transform.apply(read_part(&self.lts, &self.reading.options(), terminal)?, terminal);
        terminal.show(&describe(&lts, self.labels, start));
        Ok(Answer::Yes)
    }
}

/// Everything there is to say about a system.
pub fn describe(lts: &Lts, label_uses: bool, start: Instant) -> report::System {
    let mut uses = vec![0u64; lts.labels().len()];
    for edge in lts.edges() {
        uses[edge.label.index()] += 1;
    }
    // Marks of states that were not explored are no steps of the system.
    let unexplored = lts.unexplored().len() as u64;
    if let Some(mark) = lts.labels().find(lts::NOT_EXPLORED) {
        uses[mark.index()] -= unexplored;
    }
    let rows = || lts.states().map(|state| lts.outgoing(state));
    let deterministic = |row: &[lts::Edge]| {
        row.first().is_none_or(|edge| !edge.label.is_tau())
            && row.windows(2).all(|pair| pair[0].label != pair[1].label)
    };
    let listing = lts.labels().iter().zip(&uses).filter(|(_, uses)| **uses > 0);
    let listing =
        listing.map(|((_, text), &transitions)| LabelUse { label: text.to_owned(), transitions }).collect();
    report::System {
        states: lts.state_count() as u64,
        transitions: lts.transition_count() as u64 - unexplored,
        labels: uses.iter().filter(|&&uses| uses > 0).count() as u64,
        deadlocks: lts.deadlocks().count() as u64,
        complete: unexplored == 0,
        unexplored,
        initial: lts.initial().index() as u64,
        internal_transitions: uses[lts::LabelId::TAU.index()],
        divergent_states: lts.divergent_states().len() as u64,
        unreachable_states: lts.distances().iter().filter(|distance| distance.is_none()).count() as u64,
        components: lts.components(|_, _| true).count as u64,
        widest_state: rows().map(<[_]>::len).max().unwrap_or(0) as u64,
        deterministic: rows().all(deterministic),
        label_uses: label_uses.then_some(listing),
        seconds: start.elapsed().as_secs_f64(),
        peak_bytes: peak_bytes(),
    }
}
