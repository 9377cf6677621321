//! `watershed simulate`: one run of a model, drawn at random or led by a trace.

use std::path::PathBuf;

use clap::Args;
use cover::{Behaviour, Monitor};
use explore::{Limits, NotARun, Walk, WalkStep, guided};
use languages::Opening;
use model::{Model, ModelError, Telling};
use report::{SimulatedStep, Simulation, WatchedCriterion};

use crate::arguments::Reading;
use crate::failure::{Answer, Failure};
use crate::inputs::{ModelFile, ModelSource, read_run};
use crate::progress::with_progress;
use crate::terminal::Terminal;

/// Run a model once: at random, or along a trace; stop as soon as criteria are met
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    watershed simulate philosophers.net --seed 7 --steps 20\n  \
    watershed simulate protocol.net --until transitions --until states\n  \
    watershed simulate protocol.net --steps 500 --concurrent 2 -o run.txt\n  \
    watershed cover protocol.net --example run.txt          measures the run afterwards\n  \
    watershed simulate model.lnt --guide run.txt --values\n\n\
The same seed gives the same run. The exit code is 1 where a criterion of --until is not met. Criteria: transitions, states, state-transitions, sequences:L, state-paths:K.")]
pub struct Simulate {
    #[command(flatten)]
    source: ModelSource,
    /// The seed of the random choices
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Stop after this many steps
    #[arg(long, value_name = "N", default_value_t = 100)]
    steps: usize,
    /// Follow the labels of a trace: one on each line, or a transition system that is a single run
    #[arg(long, value_name = "TRACE", conflicts_with_all = ["seed", "until"])]
    guide: Option<PathBuf>,
    /// Stop as soon as this criterion is met; with several, as soon as all are
    #[arg(long, value_name = "CRITERION")]
    until: Vec<Behaviour>,
    /// In a Petri net, let up to this many transitions fire in one step
    #[arg(long, value_name = "K", default_value_t = 1)]
    concurrent: usize,
    /// Show the values of every state, not only what has changed
    #[arg(long)]
    values: bool,
    /// Write the labels of the run, one on each line
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// With --until: explore at most this many states to find out what is feasible
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    max_states: usize,
    #[command(flatten)]
    reading: Reading,
}

/// The steps, why there are no more, and what watched them.
type Simulated = (Vec<WalkStep>, String, Vec<Monitor>);

impl Simulate {
    pub fn run(self, terminal: &Terminal) -> Result<Answer, Failure> {
        // As for coverage, so that abstract states can be asked for.
        let opening = Opening {
            root: self.source.root.as_deref(),
            include: &self.source.include,
            telling: Telling::Coverage(&[]),
            values: self.source.values(),
            ..Opening::default()
        };
        let languages::Opened { sources, program } =
            languages::registry().open(&self.source.model, &opening)?;
        terminal.warn(&sources, program.warnings());
        let file = ModelFile { sources, program };
        let concurrent = file.concurrent(self.concurrent)?;
        let model: &dyn Model = concurrent.as_deref().map_or(file.model(), |model| model);
        let run = match &self.guide {
            Some(path) => self.follow(model, path, terminal),
            None => self.walk(model, terminal),
        };
        let (steps, ended, monitors) = match run {
            Ok(run) => run,
            // A run-time error speaks of the model's own files.
            Err(failure) if failure.sources.files().next().is_none() => {
                return Err(Failure { sources: file.sources, ..failure });
            }
            Err(failure) => return Err(failure),
        };
        let labels: Vec<String> = steps.iter().map(|step| model.label(step.label)).collect();
        if let Some(output) = &self.output {
            let text: String = labels.iter().map(|label| format!("{label}\n")).collect();
            lts::write_file(output, |out| out.write_all(text.as_bytes()))?;
        }
        if !self.output.as_deref().is_some_and(lts::is_standard_stream) {
            terminal.show(&self.view(model, labels, &steps, ended, &monitors));
        }
        Ok(if monitors.iter().all(Monitor::is_met) { Answer::Yes } else { Answer::No })
    }

    fn follow(
        &self,
        model: &dyn Model,
        path: &std::path::Path,
        terminal: &Terminal,
    ) -> Result<Simulated, Failure> {
        let (labels, _) = read_run(path, &self.reading, terminal)?;
        let steps = guided(model, &labels).map_err(|error| match error {
            NotARun::Error(error) => error.diagnostic(model, None).into(),
            NotARun::Stuck { followed, possible } => {
                let possible = match possible.is_empty() {
                    true => "nothing is possible there".to_owned(),
                    false => format!("possible there: {}", possible.join(", ")),
                };
                let mut failure = Failure::wrong(format!(
                    "{} is not a run of the model: after {}, `{}` is not possible",
                    path.display(),
                    report::count(followed as u64, "step"),
                    labels[followed]
                ))
                .help(possible);
                failure.code = 1;
                failure
            }
        })?;
        Ok((steps, "the end of the trace was reached".to_owned(), Vec::new()))
    }

    fn walk(&self, model: &dyn Model, terminal: &Terminal) -> Result<Simulated, Failure> {
        let wrong = |error: ModelError| Failure::from(error.diagnostic(model, None));
        let limits = Limits { states: self.max_states, ..Limits::default() };
        let mut monitors: Vec<Monitor> = Vec::new();
        for criterion in &self.until {
            if let Behaviour::Traces { degree, .. } = criterion
                && *degree > self.concurrent
            {
                return Err(Failure::wrong(format!(
                    "{criterion} needs steps of {degree} transitions at once"
                ))
                .help(format!("add `--concurrent {degree}`")));
            }
            let monitor = with_progress(terminal, "finding out what is feasible", |progress| {
                Monitor::new(criterion, model, &limits, progress)
            });
            monitors.push(monitor.map_err(|error| Failure::wrong(error.to_string()))?);
        }
        let mut walk = Walk::new(model, self.seed).map_err(wrong)?;
        for monitor in &mut monitors {
            monitor.start(model, walk.state()).map_err(wrong)?;
        }
        let mut steps: Vec<WalkStep> = Vec::new();
        let ended = loop {
            if !monitors.is_empty() && monitors.iter().all(Monitor::is_met) {
                break "all that is feasible was covered";
            }
            if steps.len() >= self.steps {
                break "no more steps were asked for";
            }
            let step = walk.step().map_err(|error| {
                let labels: Vec<String> = steps.iter().map(|step| model.label(step.label)).collect();
                Failure { code: 1, ..Failure::from(error.diagnostic(model, Some(&labels))) }
            })?;
            let Some(step) = step else { break "nothing more can happen" };
            for monitor in &mut monitors {
                monitor.step(model, &step).map_err(wrong)?;
            }
            steps.push(step);
        };
        Ok((steps, ended.to_owned(), monitors))
    }

    fn view(
        &self,
        model: &dyn Model,
        labels: Vec<String>,
        steps: &[WalkStep],
        ended: String,
        monitors: &[Monitor],
    ) -> Simulation {
        let initial = model.initial().map(|state| model.describe(&state).values).unwrap_or_default();
        let mut before = initial.clone();
        let mut shown = Vec::with_capacity(steps.len());
        for (label, step) in labels.into_iter().zip(steps) {
            let after = model.describe(&step.target).values;
            let is_shown = |value: &&(String, String)| self.values || !before.contains(value);
            let values = after.iter().filter(is_shown).cloned().collect();
            shown.push(SimulatedStep { label, values });
            before = after;
        }
        let watched = monitors.iter().map(|monitor| WatchedCriterion {
            name: monitor.criterion().to_string(),
            total: monitor.total(),
            covered: monitor.covered(),
            met_after: monitor.met_after(),
            certain: monitor.is_complete(),
        });
        Simulation {
            seed: self.guide.is_none().then_some(self.seed),
            initial,
            steps: shown,
            ended,
            criteria: watched.collect(),
        }
    }
}
