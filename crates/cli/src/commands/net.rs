//! `watershed net`: what there is to know about a Petri net, and its text in other languages.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use explore::Outcome;
use model::Program;
use net::{FlatModel, NetProgram, PromelaOptions};

use crate::failure::{Answer, Failure};
use crate::inputs::ModelSource;
use crate::progress::with_progress;
use crate::terminal::Terminal;

/// Analyse a Petri net: bounds, deadlocks, liveness, invariants, siphons, traps; draw it; write it as Promela or PNML
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    watershed net philosophers.net\n  \
    watershed net model.pnml --svg model.svg\n  \
    watershed net protocol.net --root ONE_MESSAGE --promela protocol.pml --monitor\n  \
    watershed net protocol.net --pnml protocol.pnml\n\n\
Liveness: L0 never fires, L1 can fire, L3 can fire again and again in some run (with finitely many markings this is the\n\
same as L2), L4 can always fire some time later. A net with all transitions at L4 is live.")]
pub struct Net {
    #[command(flatten)]
    source: ModelSource,
    /// Draw the net as SVG
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Draw the net for Graphviz
    #[arg(long, value_name = "FILE")]
    dot: Option<PathBuf>,
    /// Write the net as a Promela program for Spin
    #[arg(long, value_name = "FILE")]
    promela: Option<PathBuf>,
    /// With --promela: add a process that stops the simulation once every transition has fired
    #[arg(long, requires = "promela")]
    monitor: bool,
    /// With --promela: write d_step in place of atomic, which is faster in Spin
    #[arg(long, requires = "promela")]
    d_step: bool,
    /// Write the net as PNML, with a place for each value and a transition for each binding
    #[arg(long, value_name = "FILE")]
    pnml: Option<PathBuf>,
    /// Stop after this many markings
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    max_states: usize,
}

impl Net {
    pub fn run(self, terminal: &Terminal) -> Result<Answer, Failure> {
        let start = Instant::now();
        let file = self.source.load(terminal, true)?;
        let Some(program) = file.program.as_any().downcast_ref::<NetProgram>() else {
            return Err(Failure::wrong(format!("{} is not a Petri net", self.source.model.display()))
                .help("nets are read from .net and .pnml files"));
        };
        self.write_files(program)?;
        let (mut shown, found) =
            with_progress(terminal, "exploring", |progress| views::net(program, self.max_states, progress));
        shown.seconds = start.elapsed().as_secs_f64();
        let written = [&self.svg, &self.dot, &self.promela, &self.pnml];
        if !written.into_iter().flatten().any(|path| lts::is_standard_stream(path)) {
            terminal.show(&shown);
        }
        match &found.outcome {
            Outcome::Error { error, state } => {
                let labels =
                    state.and_then(|state| found.trace_to(program.model(), state).ok()).map(|trace| {
                        trace.iter().map(|step| program.model().label(step.label)).collect::<Vec<String>>()
                    });
                let diagnostics = vec![error.diagnostic(program.model(), labels.as_deref())];
                Err(Failure { code: 1, diagnostics, sources: file.sources })
            }
            // An answer about infinitely many markings is complete.
            _ if shown.complete || shown.bounded == Some(false) => Ok(Answer::Yes),
            _ => {
                terminal.remark("partial result: not all markings were explored (--max-states)");
                Ok(Answer::Partial)
            }
        }
    }

    fn write_files(&self, program: &NetProgram) -> Result<(), Failure> {
        let write = |path: &Path, text: String| -> Result<(), Failure> {
            Ok(lts::write_file(path, |out| out.write_all(text.as_bytes()))?)
        };
        if self.svg.is_some() || self.dot.is_some() {
            let drawing = program.drawing().ok_or_else(|| Failure::wrong("the net can't be drawn"))?;
            if let Some(path) = &self.svg {
                write(path, drawing.svg)?;
            }
            if let Some(path) = &self.dot {
                write(path, drawing.dot)?;
            }
        }
        let flat = || -> Result<&FlatModel, Failure> {
            program.flat().ok_or_else(|| {
                let reason = program.not_flat().unwrap_or_default();
                Failure::wrong(format!("the net can't be written without values: {reason}"))
            })
        };
        if let Some(path) = &self.promela {
            let options = PromelaOptions { deterministic: self.d_step, monitor: self.monitor };
            write(path, net::write_promela(flat()?, options).map_err(|error| *error)?)?;
        }
        if let Some(path) = &self.pnml {
            write(path, net::write_pnml(flat()?.flat()))?;
        }
        Ok(())
    }
}
