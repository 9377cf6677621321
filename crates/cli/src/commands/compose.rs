//! `watershed compose`: several transition systems put together.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use clap::Args;
use explore::Limits;
use lts::StateId;
use model::{Folders, Input, Language};
use network::{Exp, Leaf, Network, NetworkModel};

use super::info::describe;
use crate::arguments::Reading;
use crate::failure::{Answer, Failure};
use crate::inputs::{read_lts, write_lts, write_partial};
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
        let model = match self.inputs.as_slice() {
            [path] if is_network(path) || lts::is_standard_stream(path) => {
                let main = languages::read_model(path)?;
                let texts = Folders::beside(&[]);
                let input = Input { texts: &texts, reading: &reading, ..Input::new(&main) };
                Model::Network(languages::load(&Exp, &input)?)
            }
            paths => {
                let leaf = |path: &PathBuf| {
                    let lts = Arc::new(read_lts(path, &reading, terminal)?);
                    Ok(Network::Leaf(Leaf { lts, name: path.display().to_string(), span: None }))
                };
                let leaves: Result<Vec<Network>, Failure> = paths.iter().map(leaf).collect();
                let model = NetworkModel::new(&Network::product(leaves?));
                Model::Product(Box::new(model.map_err(|error| Failure::limit(error.to_string()))?))
            }
        };
        if let Model::Network(opened) = &model {
            terminal.warn(&opened.sources, opened.program.warnings());
        }
        let model: &dyn model::Model = match &model {
            Model::Network(opened) => opened.program.model(),
            Model::Product(model) => &**model,
        };
        let limits = Limits { states: self.max_states, ..Limits::default() };
        let found =
            with_progress(terminal, "composing", |progress| explore::explore(model, &limits, progress));
        let complete = found.outcome.is_complete();
        let lts = match complete {
            true => found.lts,
            false => {
                let rest = (found.statistics.expanded..found.states()).map(StateId::new);
                found.lts.marking_unexplored(rest)
            }
        };
        if let Some(output) = &self.output {
            match complete {
                true => write_lts(&lts, output)?,
                false => write_partial(&lts, output, self.partial, terminal)?,
            }
        }
        let shown_on_standard_output = self.output.as_deref().is_some_and(lts::is_standard_stream);
        if !shown_on_standard_output {
            terminal.show(&describe(&lts, false, start));
        }
        if complete {
            return Ok(Answer::Yes);
        }
        terminal.remark("partial result: the state limit was reached, or the work was cancelled");
        Ok(Answer::Partial)
    }
}

/// What is composed.
enum Model {
    Network(languages::Opened),
    Product(Box<NetworkModel>),
}

fn is_network(path: &Path) -> bool {
    lts::format_extension(path).is_some_and(|extension| Exp.extensions().contains(&extension.as_str()))
}
