//! `watershed check`: properties of a model or transition system, and what shows their verdicts.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use explore::Limits;
use logic::{CheckError, Explanation, Options, Property, Stop, Verdict};
use lts::{Lts, Progress};
use report::{ActionPlace, PropertyResult, TraceStep};
use source::{Diagnostic, Sources};

use crate::arguments::Reading;
use crate::failure::{Answer, Failure};
use crate::inputs::{ModelFile, ModelSource, read_part, read_run, write_lts};
use crate::progress::with_progress;
use crate::properties::{PropertySource, select};
use crate::terminal::Terminal;

/// Check properties, and show the evidence for each verdict
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    watershed check model.lnt properties.mcl\n  \
    watershed check model.aut --deadlock --never 'ERROR.*'\n  \
    watershed check model.lnt safety.mcl -o counterexample.aut\n  \
    watershed check model.lnt safety.mcl --replay counterexample.aut\n  \
    watershed check model.lnt properties.mcl --property SAFE --max-time 60\n  \
    watershed check model.lnt properties.mcl --junit report.xml\n\n\
A property file holds one MCL formula, or blocks:\n  \
    property SAFE \"nothing is delivered twice\" is\n    \
      [ true* . \"GET\" . (not \"PUT\")* . \"GET\" ] false\n    \
      expected TRUE\n  \
    end property")]
pub struct Check {
    #[command(flatten)]
    source: ModelSource,
    #[command(flatten)]
    properties: PropertySource,
    /// Check only the property with this name; may be repeated
    #[arg(long, value_name = "NAME")]
    property: Vec<String>,
    /// Save the part of the system that shows the first unexpected verdict or, if there is none, the first violation:
    /// .aut, .dot or .json
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Replay a saved counterexample instead of checking: .aut, or text with one label per line. With one property, also
    /// say whether the run violates it, where a run can
    #[arg(long, value_name = "FILE")]
    replay: Option<PathBuf>,
    /// Print the formulas, fully parenthesised
    #[arg(long, short)]
    verbose: bool,
    /// Show traces as message sequences, with one lane per process
    #[arg(long)]
    sequence: bool,
    /// Write the verdicts as a JUnit report
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Stop after this many states
    #[arg(long, value_name = "N", default_value_t = 100_000_000)]
    max_states: usize,
    /// Stop after this many seconds
    #[arg(long, value_name = "SECONDS")]
    max_time: Option<f64>,
    #[command(flatten)]
    reading: Reading,
}

/// What properties are checked on.
enum Subject {
    /// A transition system from a file.
    System(Lts),
    /// A model, and its whole state space where several properties share it.
    Model(Box<ModelFile>, Option<Lts>),
}

impl Subject {
    /// Why a verdict on a part of a system says nothing about the whole; nothing where it does.
    fn uncertain(&self, property: &Property, verdict: &Verdict) -> Option<String> {
        let Subject::System(lts) = self else { return None };
        if logic::is_certain(lts, &property.formula, verdict) {
            return None;
        }
        let missing = report::count(lts.unexplored().len() as u64, "state");
        let part = if verdict.holds { "holds" } else { "is violated" };
        Some(format!(
            "only part of the system is known ({missing} not explored); \
             it {part} in that part, but what is missing may change the answer"
        ))
    }
}

impl Check {
    pub fn run(self, terminal: &Terminal) -> Result<Answer, Failure> {
        let time = self.max_time.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let deadline = time.and_then(|time| Instant::now().checked_add(time));
        let mut sources = Sources::new();
        let properties = match self.replay.is_some() && self.properties.is_empty() {
            true => Vec::new(),
            false => select(self.properties.load(&mut sources, terminal)?, &self.property)?,
        };
        let subject = self.load_subject(properties.len(), time, terminal)?;
        if let Some(file) = &self.replay {
            return self.follow(file, &subject, &properties, terminal);
        }
        let mut results: Vec<PropertyResult> = Vec::new();
        let mut saved: Option<(&Property, Verdict)> = None;
        for (at, (property, file)) in properties.iter().enumerate() {
            let start = Instant::now();
            // What is left of the time is shared by the properties that are left.
            let deadline = deadline.map(|deadline| {
                let left = deadline.saturating_duration_since(start);
                start + left / (properties.len() - at) as u32
            });
            let told = self.warn_before(&subject, property, &sources, terminal);
            let verdict = self.check_one(&subject, property, deadline, terminal);
            let seconds = start.elapsed().as_secs_f64();
            let mut result = match &verdict {
                Ok(verdict) => match subject.uncertain(property, verdict) {
                    Some(reason) => unknown(property, file, reason, verdict.states_visited, seconds),
                    None => describe(property, file, verdict, seconds),
                },
                Err(error) => match self.no_verdict(error, deadline) {
                    Some((reason, states)) => unknown(property, file, reason, states, seconds),
                    None => return Err(failed(verdict.err(), subject, property)),
                },
            };
            result.formula = self.verbose.then(|| property.formula.to_string());
            if let (Ok(verdict), None) = (verdict, &result.no_verdict) {
                self.warn(&subject, property, &verdict, &told, &sources, terminal);
                result.steps = self.places(&subject, verdict.explanation.as_ref())?;
                let before = saved.as_ref().map(|(property, verdict)| verdict.holds == property.expected);
                if (result.is_surprise() && before != Some(false)) || (!verdict.holds && before.is_none()) {
                    saved = Some((property, verdict));
                }
            }
            results.push(result);
        }
        let check = report::Check { results };
        if let Some(file) = &self.junit {
            let text = check.junit(&self.source.model.display().to_string());
            lts::write_file(file, |out| out.write_all(text.as_bytes()))?;
        }
        terminal.show(&check);
        if self.sequence {
            for result in check.results.iter().filter(|result| !result.steps.is_empty()) {
                terminal.show_picture(format!("\n{}\n\n{}", result.property, result.sequence()));
            }
        }
        if let Some(output) = &self.output {
            match &saved {
                Some((property, verdict)) => self.save(output, &subject, property, verdict, terminal)?,
                None => terminal.remark(nothing_saved(output, &check)),
            }
        }
        Ok(match &check.results {
            results if results.iter().any(PropertyResult::is_surprise) => Answer::No,
            results if results.iter().all(PropertyResult::as_expected) => Answer::Yes,
            _ => Answer::Partial,
        })
    }

    /// Opens the model or transition system. Several properties share one exploration of a model; a single one is
    /// checked on the fly, which may need only a part.
    fn load_subject(
        &self,
        properties: usize,
        time: Option<Duration>,
        terminal: &Terminal,
    ) -> Result<Subject, Failure> {
        if !self.source.is_model() {
            return Ok(Subject::System(read_part(&self.source.model, &self.reading.options(), terminal)?));
        }
        if properties == 1 || self.replay.is_some() {
            // Where steps come from is asked of a run that was found: a model that need not tell is searched faster.
            return Ok(Subject::Model(Box::new(self.source.load(terminal, false)?), None));
        }
        let file = Box::new(self.source.load(terminal, true)?);
        // What can't be explored as a whole may still be checked on the fly, in the other half of the time.
        let time = time.map(|time| time / 2);
        let limits = Limits { states: self.max_states, time, origins: true, ..Limits::default() };
        let found = with_progress(terminal, "exploring", |progress| {
            explore::explore(file.model(), &limits, progress)
        });
        let whole = found.outcome.is_complete().then_some(found.lts);
        Ok(Subject::Model(file, whole))
    }

    fn options(&self) -> Options {
        Options { max_states: self.max_states, ..Options::default() }
    }

    fn check_one(
        &self,
        subject: &Subject,
        property: &Property,
        deadline: Option<Instant>,
        terminal: &Terminal,
    ) -> Result<Verdict, CheckError> {
        with_progress(terminal, &format!("checking {}", property.name), |progress| {
            if let Some(deadline) = deadline {
                progress.stop_at(deadline);
            }
            match subject {
                Subject::System(lts) | Subject::Model(_, Some(lts)) => {
                    logic::check_lts(lts, &property.formula, &self.options(), progress)
                }
                Subject::Model(file, None) => {
                    logic::check_model(file.model(), &property.formula, &self.options(), progress)
                }
            }
        })
    }

    /// The actions behind each step of a run.
    fn places(
        &self,
        subject: &Subject,
        explanation: Option<&Explanation>,
    ) -> Result<Vec<TraceStep>, Failure> {
        let (Subject::Model(file, explored), Some(explanation)) = (subject, explanation) else {
            return Ok(Vec::new());
        };
        let run = explanation.steps();
        let place = |(step, actions): (&&logic::Step, Vec<ActionPlace>)| TraceStep {
            label: step.label.clone(),
            actions,
        };
        if explored.is_some() {
            let actions =
                run.iter().map(|step| step.origin.map(|origin| file.actions_of(origin)).unwrap_or_default());
            return Ok(run.iter().zip(actions).map(place).collect());
        }
        let telling = self.source.load_telling()?;
        let origins = logic::origins(&run, file.model(), telling.model()).ok().flatten();
        // Without an answer, the file is another one by now: then there is nothing to tell.
        let actions = (0..run.len())
            .map(|at| origins.as_ref().map(|origins| telling.actions_of(origins[at])).unwrap_or_default());
        Ok(run.iter().zip(actions).map(place).collect())
    }

    /// Saves a part of the system on which the formula has been seen to have its verdict.
    fn save(
        &self,
        output: &Path,
        subject: &Subject,
        property: &Property,
        verdict: &Verdict,
        terminal: &Terminal,
    ) -> Result<(), Failure> {
        let formula = &property.formula;
        let part = with_progress(terminal, "extracting the part to save", |progress| match subject {
            Subject::System(lts) | Subject::Model(_, Some(lts)) => {
                logic::evidence(lts, formula, verdict, &self.options(), progress)
            }
            Subject::Model(file, None) => {
                logic::evidence_of_model(file.model(), formula, verdict, &self.options(), progress)
            }
        });
        let part = part.map_err(|error| {
            let left = if output.exists() { "; the existing file is unchanged" } else { "" };
            Failure::limit(format!(
                "{} was not written; nothing could be saved for `{}`: {error}{left}",
                output.display(),
                property.name
            ))
        })?;
        write_lts(&part, output)?;
        let verdict = if verdict.holds { "holds" } else { "is violated" };
        terminal.remark(format!(
            "saved a part of the system on which `{}` {verdict}: {}, {}",
            property.name,
            report::count(part.state_count() as u64, "state"),
            report::count(part.transition_count() as u64, "transition"),
        ));
        Ok(())
    }

    /// Says before a model is explored what its gates already show.
    fn warn_before(
        &self,
        subject: &Subject,
        property: &Property,
        sources: &Sources,
        terminal: &Terminal,
    ) -> Vec<Diagnostic> {
        let Subject::Model(file, explored) = subject else { return Vec::new() };
        let mut warnings = Vec::new();
        if let Some(types) = file.model().types() {
            let types: Vec<&str> = types.iter().map(String::as_str).collect();
            warnings.extend(logic::unknown_types(&property.formula, &types));
        }
        if let (None, Some(gates)) = (explored, file.model().visible_gates()) {
            warnings.extend(logic::unknown_gates(&property.formula, &gates));
        }
        terminal.warn(sources, &warnings);
        warnings
    }

    /// Says what is suspicious about a verdict and was not told before.
    fn warn(
        &self,
        subject: &Subject,
        property: &Property,
        verdict: &Verdict,
        told: &[Diagnostic],
        sources: &Sources,
        terminal: &Terminal,
    ) {
        let mut warnings = match (subject, &verdict.labels) {
            (Subject::System(lts) | Subject::Model(_, Some(lts)), _) => {
                logic::warnings(lts, &property.formula, verdict, &Progress::new())
            }
            (Subject::Model(_, None), Some(labels)) => logic::unmatched(&property.formula, labels),
            // Not all labels are known.
            (Subject::Model(_, None), None) => Vec::new(),
        };
        warnings.retain(|warning| !told.iter().any(|before| before.span() == warning.span()));
        terminal.warn(sources, &warnings);
    }

    /// Why a limit left a property without a verdict, how far the check came, and how many states it saw; nothing
    /// where it was no limit.
    fn no_verdict(&self, error: &CheckError, deadline: Option<Instant>) -> Option<(String, usize)> {
        let time = || match self.max_time {
            Some(seconds) if deadline.is_some_and(|deadline| Instant::now() >= deadline) => {
                format!("the time limit of {seconds} s was reached (--max-time)")
            }
            _ => "the check was interrupted".to_owned(),
        };
        let (reason, states, searched) = match error {
            CheckError::Cancelled => (time(), 0, None),
            CheckError::Stopped { stop, states_visited, searched, .. } => match stop {
                Stop::Model { .. } => return None,
                Stop::Cancelled => (time(), *states_visited, searched.as_deref()),
                Stop::States(limit) => {
                    let states = report::count(*limit as u64, "state");
                    (
                        format!("the limit of {states} was reached (--max-states)"),
                        *states_visited,
                        searched.as_deref(),
                    )
                }
            },
            _ => return None,
        };
        let far = searched.filter(|searched| searched.steps > 0).map(|searched| {
            let steps = report::count(searched.steps as u64, "step");
            match searched.violations {
                true => format!("; no run of at most {steps} violates it"),
                false => format!("; no run of at most {steps} shows that it holds"),
            }
        });
        Some((reason + &far.unwrap_or_default(), states))
    }

    /// Follows a saved counterexample on the model.
    fn follow(
        &self,
        file: &Path,
        subject: &Subject,
        properties: &[(Property, Option<String>)],
        terminal: &Terminal,
    ) -> Result<Answer, Failure> {
        let (labels, _) = read_run(file, &self.reading, terminal)?;
        let formula = match properties {
            [(property, _)] => Some(&property.formula),
            _ => None,
        };
        let replayed = match subject {
            Subject::System(lts) | Subject::Model(_, Some(lts)) => {
                logic::replay(&mut &*lts, &labels, formula)
            }
            Subject::Model(file, None) => {
                let mut system = logic::ModelSystem::new(file.model(), self.max_states);
                logic::replay(&mut system, &labels, formula)
            }
        };
        match replayed {
            Ok(steps) => {
                terminal
                    .remark(format!("the run of {} is possible", report::count(steps.len() as u64, "step")));
                Ok(Answer::Yes)
            }
            Err(error) => {
                terminal.remark(error);
                Ok(Answer::No)
            }
        }
    }
}

/// Why a check failed: an error of the model with the way to it, or a formula that can't be evaluated.
fn failed(error: Option<CheckError>, subject: Subject, property: &Property) -> Failure {
    match (error, subject) {
        (
            Some(CheckError::Stopped { stop: Stop::Model { error, state }, trace, .. }),
            Subject::Model(file, _),
        ) => {
            let labels: Vec<String> = trace.iter().map(|step| step.label.clone()).collect();
            let diagnostics =
                vec![error.diagnostic(file.model(), state.is_some().then_some(labels.as_slice()))];
            Failure { code: 1, diagnostics, sources: file.sources }
        }
        (error, _) => {
            let reason = error.map(|error| error.to_string()).unwrap_or_default();
            Failure::wrong(format!("property {} has no verdict: {reason}", property.name))
        }
    }
}

/// Why there was nothing to save.
fn nothing_saved(output: &Path, check: &report::Check) -> String {
    let unknown = check.results.iter().filter(|result| result.verdict.is_none()).count();
    let why = match (unknown, check.results.len()) {
        (0, 1) => "the property holds, as expected".to_owned(),
        (0, _) => "all properties hold, as expected".to_owned(),
        (1, 1) => "the property could not be decided".to_owned(),
        (unknown, all) if unknown == all => "no property could be decided".to_owned(),
        (1, _) => "no violation was found, but 1 property could not be decided".to_owned(),
        (unknown, _) => format!("no violation was found, but {unknown} properties could not be decided"),
    };
    let left = if output.exists() { "; the existing file is unchanged" } else { "" };
    format!("{} was not written: {why}{left}", output.display())
}

fn describe(property: &Property, file: &Option<String>, verdict: &Verdict, seconds: f64) -> PropertyResult {
    let explanation = verdict.explanation.as_ref();
    let labels = explanation.and_then(Explanation::labels);
    PropertyResult {
        verdict: Some(verdict.holds),
        no_verdict: None,
        counterexample: labels.map(|labels| labels.into_iter().map(str::to_owned).collect()),
        lasso: match explanation {
            Some(Explanation::Lasso { prefix, .. }) => Some(prefix.len()),
            _ => None,
        },
        diagnostic: match explanation {
            Some(Explanation::SubSystem(lts)) => Some(report::Size {
                states: lts.state_count() as u64,
                transitions: lts.transition_count() as u64,
            }),
            _ => None,
        },
        ..unknown(property, file, String::new(), verdict.states_visited, seconds)
    }
}

/// A property without a verdict.
fn unknown(
    property: &Property,
    file: &Option<String>,
    reason: String,
    states: usize,
    seconds: f64,
) -> PropertyResult {
    PropertyResult {
        property: property.name.clone(),
        description: property.description.clone(),
        file: file.clone(),
        formula: None,
        verdict: None,
        no_verdict: Some(reason),
        expected: property.expected,
        counterexample: None,
        lasso: None,
        steps: Vec::new(),
        diagnostic: None,
        states_visited: states as u64,
        seconds,
    }
}
