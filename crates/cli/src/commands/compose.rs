//! `watershed compose`: several transition systems put together.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use lts::Network;

use super::info::describe;
use crate::arguments::Reading;
use crate::failure::{Answer, Failure};
use crate::inputs::{read_lts, read_network, write_lts, write_partial};
use crate::progress::with_progress;
use crate::terminal::Terminal;

/// Compose transition systems: those of a network file, or several on their common labels
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    watershed compose protocol.exp -o protocol.aut\n  \
    watershed compose sender.aut receiver.aut -o both.aut     synchronised on their common labels\n\n\
A network file:\n  \
    hide SEND in\n    \
      par SEND, GAME #2 in\n      \
        \"a.aut\" || \"b.aut\" || rename RECV -> SEND in \"c.aut\" end rename\n    \
      end par\n  \
    end hide")]
pub struct Compose {
    /// One network (.exp), or several transition systems
    #[arg(required = true)]
    inputs: Vec<PathBuf>,
    /// Where to write the result: .aut, .dot or .json, also compressed
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Write what was composed even if a limit is reached: beside OUT, as NAME.partial.aut, with the states that were
    /// not explored marked
    #[arg(long, requires = "output")]
    partial: bool,
    /// Stop after this many states
    #[arg(long, value_name = "N", default_value_t = 100_000_000)]
    max_states: usize,
    #[command(flatten)]
    reading: Reading,
}

impl Compose {
    pub fn run(self, terminal: &Terminal) -> Result<Answer, Failure> {
        let start = Instant::now();
        let reading = self.reading.options();
        let network = match self.inputs.as_slice() {
            [path]
                if lts::format_extension(path).as_deref() == Some("exp") || lts::is_standard_stream(path) =>
            {
                read_network(path, &reading, terminal)?
            }
            paths => {
                let leaves: Result<Vec<Network>, Failure> =
                    paths.iter().map(|path| Ok(read_lts(path, &reading, terminal)?.into())).collect();
                Network::product(leaves?)
            }
        };
        let composition =
            with_progress(terminal, "composing", |progress| network.compose(self.max_states, progress));
        let composition = composition.map_err(|error| Failure::limit(error.to_string()))?;
        let unmatched = composition.unmatched.iter().filter_map(|one| {
            let labels: Vec<&str> = one.labels.iter().map(String::as_str).collect();
            logic::unmatched_selector(&format!("`{}`", one.operator), &one.selector, &labels)
        });
        terminal.warn(&source::Sources::new(), &unmatched.collect::<Vec<_>>());
        if let Some(output) = &self.output {
            match composition.complete {
                true => write_lts(&composition.lts, output)?,
                false => write_partial(&composition.lts, output, self.partial, terminal)?,
            }
        }
        let shown_on_standard_output = self.output.as_deref().is_some_and(lts::is_standard_stream);
        if !shown_on_standard_output {
            terminal.show(&describe(&composition.lts, false, start));
        }
        if composition.complete {
            return Ok(Answer::Yes);
        }
        terminal.remark("partial result: the state limit was reached, or the work was cancelled");
        Ok(Answer::Partial)
    }
}
