//! `watershed explore`: from a model to its transition system.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use explore::{Compressed, Disk, Exploration, Limits, Outcome, Statistics};
use lts::StateId;
use model::{ChosenFrom, Model, ModelError};
use source::Diagnostic;

use crate::failure::{Answer, Failure};
use crate::inputs::{ModelFile, ModelSource, write_lts, write_partial};
use crate::memory::{available_bytes, peak_bytes};
use crate::progress::with_progress;
use crate::terminal::Terminal;

/// Generate the transition system of a model
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    watershed explore model.lnt -o model.aut\n  \
    watershed explore model.lnt --root 'PHILOSOPHER [LEFT, RIGHT] (3, true)' --max-states 100000\n  \
    watershed explore philosophers.net --concurrent 2 -o steps.aut\n  \
    watershed explore model.lnt --json | jq .deadlocks")]
pub struct Explore {
    #[command(flatten)]
    source: ModelSource,
    /// Where to write the transition system: .aut, .dot or .json, also compressed
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Write what was explored even if a limit is reached: beside OUT, as NAME.partial.aut, with the states that were
    /// not explored marked
    #[arg(long, requires = "output")]
    partial: bool,
    /// Stop after this many states
    #[arg(long, value_name = "N", default_value_t = 100_000_000)]
    max_states: usize,
    /// Stop before states, their table, transitions and values take more memory than this, in megabytes
    #[arg(long, value_name = "MB")]
    max_memory: Option<usize>,
    /// Instead of stopping where --max-memory is reached, move states to a file in this folder, which is gone afterwards;
    /// without --max-memory, from three quarters of the free memory on
    #[arg(long, value_name = "DIR")]
    disk: Option<PathBuf>,
    /// Stop after this many seconds
    #[arg(long, value_name = "SECONDS")]
    max_time: Option<f64>,
    /// Store states as pairs of pairs, each pair once: less memory where states are large, more time
    #[arg(long)]
    compress: bool,
    /// Show how values were found for offers that nobody fixes: named by patterns and guards, or tried one by one
    #[arg(long)]
    plan: bool,
    /// In a Petri net, let up to this many transitions fire in one step
    #[arg(long, value_name = "K", default_value_t = 1)]
    concurrent: usize,
}

impl Explore {
    pub fn run(self, terminal: &Terminal) -> Result<Answer, Failure> {
        let start = Instant::now();
        let disk = self.disk.as_deref().map(open_disk).transpose()?;
        let file = self.source.load(terminal, false)?;
        let concurrent = file.concurrent(self.concurrent)?;
        let model = concurrent.as_deref().map_or(file.model(), |model| model);
        let compressed = if self.compress { Compressed::new(model) } else { None };
        let model = compressed.as_ref().map_or(model, |compressed| compressed);
        let limits = Limits {
            states: self.max_states,
            bytes: self.bytes()?,
            disk,
            time: self.max_time.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
            threads: 0,
            transitions: self.output.is_some(),
            origins: false,
        };
        let found =
            with_progress(terminal, "exploring", |progress| explore::explore(model, &limits, progress));
        if let Some(output) = &self.output {
            match &found.outcome {
                Outcome::Complete => write_lts(&found.lts, output)?,
                outcome => {
                    let failed = match outcome {
                        Outcome::Error { state, .. } => *state,
                        _ => None,
                    };
                    let rest = (found.statistics.expanded..found.states()).map(StateId::new);
                    let marked = found.lts.marking_unexplored(rest.chain(failed));
                    write_partial(&marked, output, self.partial, terminal)?;
                }
            }
        }
        let trace = trace_to_error(model, &found);
        if !self.output.as_deref().is_some_and(lts::is_standard_stream) {
            let mut shown = summary(&found, start);
            if let Outcome::Error { error, .. } = &found.outcome {
                shown.error = Some(error_view(&file, model, error, trace.clone()));
            }
            terminal.show(&shown);
        }
        self.tell_open_offers(&file, terminal);
        match &found.outcome {
            Outcome::Complete => Ok(Answer::Yes),
            Outcome::Error { error, .. } => {
                let diagnostics = vec![error.diagnostic(model, trace.as_deref())];
                Err(Failure { code: 1, diagnostics, sources: file.sources })
            }
            limit => {
                terminal.remark(format!("partial result: {}", describe(limit, &limits)));
                Ok(Answer::Partial)
            }
        }
    }

    /// How much memory the exploration may take.
    fn bytes(&self) -> Result<usize, Failure> {
        match (self.max_memory, &self.disk) {
            (Some(megabytes), _) => Ok(megabytes.saturating_mul(MEGABYTE)),
            (None, None) => Ok(usize::MAX),
            (None, Some(_)) => match available_bytes() {
                Some(free) => Ok(usize::try_from(free / 4 * 3).unwrap_or(usize::MAX)),
                None => Err(Failure::wrong("the system does not tell how much memory is free")
                    .help("say with `--max-memory MB` how much the states may take before they go to disk")),
            },
        }
    }
}

const MEGABYTE: usize = 1_000_000;

fn open_disk(folder: &Path) -> Result<Disk, Failure> {
    Disk::in_folder(folder).map_err(|error| {
        Failure::wrong(format!("can't create a file in {}: {error}", folder.display())).help(
            "`--disk` takes a folder that exists and can be written, on a disk with room for the states",
        )
    })
}

/// More values than this, tried in every state, are worth a warning.
const MANY_VALUES: usize = 1000;

impl Explore {
    /// Shows how open values were found, if that was asked for, and warns where there were many to try.
    fn tell_open_offers(&self, file: &ModelFile, terminal: &Terminal) {
        let offers = file.model().open_offers();
        let choices = if self.plan { file.model().silent_choices() } else { Vec::new() };
        if self.plan && offers.is_empty() && choices.is_empty() {
            terminal.remark("plan: no value is left open: some partner fixes every one that is received");
        }
        for offer in offers.iter().filter(|_| self.plan) {
            let place = file.sources.position(offer.span);
            let named = offer.named.map(|most| match most {
                0 => "patterns and guards named no value in any state".to_owned(),
                most => format!("patterns and guards named up to {most} in a state"),
            });
            let tried = offer.tried.map(|most| format!("up to {most} were tried one by one in a state"));
            let how: Vec<String> = named.into_iter().chain(tried).collect();
            terminal.remark(format!("plan: {} in line {}: {}", offer.text, place.line, how.join("; ")));
        }
        for choice in &choices {
            let place = file.sources.position(choice.span);
            let how = match choice.from {
                ChosenFrom::Elements => "a condition names a list or set that it comes from".to_owned(),
                ChosenFrom::Words { most, fewer } => {
                    let fewer = if fewer { ", and fewer where the state bounds them" } else { "" };
                    format!("conditions leave up to {most} values{fewer}")
                }
                ChosenFrom::Type => "conditions leave all values of the type".to_owned(),
            };
            terminal.remark(format!("plan: {} in line {}: {how}", choice.text, place.line));
        }
        let many =
            offers.iter().filter_map(|offer| Some((offer, offer.tried.filter(|&most| most > MANY_VALUES)?)));
        let warnings: Vec<Diagnostic> = many
            .map(|(offer, most)| {
                Diagnostic::warning(format!("in some state, {most} values are tried here, one by one"))
                    .label(offer.span, "nobody fixes what is received")
                    .help(
                        "let a partner send the value, give it a smaller type (`range 0 .. 9 of nat`), or say with a pattern or \
                         a condition which values can come: `where x < n`, `where member (x, s)`, `where x.f == e`",
                    )
            })
            .collect();
        terminal.warn(&file.sources, &warnings);
    }
}

fn describe(outcome: &Outcome, limits: &Limits) -> String {
    let text = match outcome {
        Outcome::StateLimit => "the state limit was reached (--max-states)",
        Outcome::MemoryLimit if limits.disk.is_some() => {
            let megabytes = limits.bytes / MEGABYTE;
            return format!(
                "the memory limit was reached (--max-memory, {megabytes} MB) by what stays in memory: the table of states, \
                 transitions, values of the model"
            );
        }
        Outcome::MemoryLimit => "the memory limit was reached (--max-memory)",
        Outcome::DiskFailed(reason) => {
            return format!("no more states could be moved from memory to disk (--disk): {reason}");
        }
        Outcome::TimeLimit => "the time limit was reached (--max-time)",
        Outcome::Cancelled => "cancelled",
        Outcome::Complete | Outcome::Error { .. } => "",
    };
    text.to_owned()
}

fn summary(found: &Exploration, start: Instant) -> report::Exploration {
    let Statistics { transitions, deadlocks, expanded, depth, widest_level, state_bytes, bytes, disk_bytes } =
        found.statistics;
    let seconds = start.elapsed().as_secs_f64();
    report::Exploration {
        states: found.states() as u64,
        transitions,
        labels: found.labels as u64,
        deadlocks,
        complete: found.outcome.is_complete(),
        explored: expanded as u64,
        depth: depth as u64,
        widest_level: widest_level as u64,
        state_bytes: state_bytes as u64,
        bytes: bytes as u64,
        disk_bytes: disk_bytes as u64,
        seconds,
        peak_bytes: peak_bytes(),
        error: None,
    }
}

/// The labels of the steps before a run-time error; none where it happens before the first.
fn trace_to_error(model: &dyn Model, found: &Exploration) -> Option<Vec<String>> {
    let Outcome::Error { state: Some(state), .. } = found.outcome else { return None };
    let trace = found.trace_to(model, state).ok()?;
    Some(trace.iter().map(|step| model.label(step.label)).collect())
}

fn error_view(
    file: &ModelFile,
    model: &dyn Model,
    error: &ModelError,
    trace: Option<Vec<String>>,
) -> report::RunTimeError {
    let position = error.span.map(|span| file.sources.position(span));
    report::RunTimeError {
        message: error.message.clone(),
        file: error.span.map(|span| file.sources.name(span.file).to_owned()),
        line: position.map(|position| position.line),
        column: position.map(|position| position.column),
        step: error.during.map(|label| model.label(label)),
        trace,
    }
}
