//! `watershed check`: properties of a model or transition system, and what shows their verdicts.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use explore::Limits;
use logic::{CheckError, Explanation, Options, Property, Step, Verdict};
use lts::{Lts, LtsBuilder, Progress, StateId};
use model::MarkKind;
use report::{ActionPlace, PropertyResult, TraceStep};
use source::Sources;

use crate::arguments::Reading;
use crate::failure::{Answer, Failure};
use crate::inputs::{ModelFile, ModelSource, read_lts, write_lts};
use crate::progress::with_progress;
use crate::properties::PropertySource;
use crate::terminal::Terminal;

/// Check properties; for each surprise, show the shortest trace that proves it
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    watershed check model.lnt properties.mcl\n  \
    watershed check model.aut --deadlock --never 'ERROR.*'\n  \
    watershed check model.lnt safety.mcl -o counterexample.aut\n  \
    watershed check model.lnt safety.mcl --replay counterexample.aut\n  \
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
    /// Save what shows the first surprising verdict: .aut, .dot or .json
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Follow a saved counterexample instead of checking
    #[arg(long, value_name = "FILE")]
    replay: Option<PathBuf>,
    /// Echo formulas fully parenthesised
    #[arg(long, short)]
    verbose: bool,
    /// Show traces as message sequences, one lane a process
    #[arg(long)]
    sequence: bool,
    /// Write the verdicts as a JUnit report
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Stop at this many states
    #[arg(long, value_name = "N", default_value_t = 100_000_000)]
    max_states: usize,
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

impl Check {
    pub fn run(self, terminal: &Terminal) -> Result<Answer, Failure> {
        let mut sources = Sources::new();
        let properties = self.properties.load(&mut sources, terminal)?;
        let subject = self.load_subject(properties.len(), terminal)?;
        if let Some(file) = &self.replay {
            return self.follow(file, &subject, &properties, terminal);
        }
        let mut results = Vec::new();
        let mut saved = false;
        for (property, file) in &properties {
            let start = Instant::now();
            let verdict = match self.check_one(&subject, property, terminal) {
                Ok(verdict) => verdict,
                Err(error) => return Err(self.no_verdict(error, subject, property)),
            };
            self.warn(&subject, property, &verdict, &sources, terminal);
            let mut result = describe(property, file, &verdict, start.elapsed().as_secs_f64());
            result.formula = self.verbose.then(|| property.formula.to_string());
            result.steps = places(&subject, verdict.explanation.as_ref());
            if let (false, false, Some(explanation), Some(output)) =
                (saved, result.as_expected(), &verdict.explanation, &self.output)
            {
                write_lts(&as_system(explanation), output)?;
                saved = true;
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
        if self.output.is_some() && !saved {
            terminal.remark("no verdict was a surprise, so nothing was saved");
        }
        Ok(if check.as_expected() { Answer::Yes } else { Answer::No })
    }

    /// Opens the model or transition system. Several properties share one exploration of a model; a single one is
    /// checked on the fly, which may need only a part.
    fn load_subject(&self, properties: usize, terminal: &Terminal) -> Result<Subject, Failure> {
        if lts::format_extension(&self.source.model).as_deref() != Some("lnt") {
            return Ok(Subject::System(read_lts(&self.source.model, &self.reading.options(), terminal)?));
        }
        let file = Box::new(self.source.load(terminal, true)?);
        if properties == 1 || self.replay.is_some() {
            return Ok(Subject::Model(file, None));
        }
        let limits = Limits { states: self.max_states, ..Limits::default() };
        let found = with_progress(terminal, "exploring", |progress| {
            explore::explore(file.model(), &limits, progress)
        });
        // What can't be explored as a whole may still be checked on the fly.
        let whole = found.outcome.is_complete().then_some(found.lts);
        Ok(Subject::Model(file, whole))
    }

    fn check_one(
        &self,
        subject: &Subject,
        property: &Property,
        terminal: &Terminal,
    ) -> Result<Verdict, CheckError> {
        let options = Options { max_states: self.max_states, ..Options::default() };
        with_progress(terminal, &format!("checking {}", property.name), |progress| match subject {
            Subject::System(lts) | Subject::Model(_, Some(lts)) => {
                logic::check_lts(lts, &property.formula, &options, progress)
            }
            Subject::Model(file, None) => {
                logic::check_model(file.model(), &property.formula, &options, progress)
            }
        })
    }

    /// Says what is suspicious about a verdict.
    fn warn(
        &self,
        subject: &Subject,
        property: &Property,
        verdict: &Verdict,
        sources: &Sources,
        terminal: &Terminal,
    ) {
        let warnings = match subject {
            Subject::System(lts) | Subject::Model(_, Some(lts)) => {
                logic::warnings(lts, &property.formula, verdict, &Progress::new())
            }
            // On the fly not all labels are seen, but gates are known beforehand.
            Subject::Model(file, None) => {
                logic::unknown_gates(&property.formula, &file.model.visible_gates())
            }
        };
        if !warnings.is_empty() {
            terminal.remark(sources.render_all(&warnings, terminal.colour));
        }
    }

    /// Why a property has no verdict: a limit, or an error of the model with the way to it.
    fn no_verdict(&self, error: CheckError, subject: Subject, property: &Property) -> Failure {
        let context = format!("property {} has no verdict: {error}", property.name);
        match (error, subject) {
            (
                CheckError::Stopped { stop: logic::Stop::Model { error, state }, trace, .. },
                Subject::Model(file, _),
            ) => {
                let labels: Vec<String> = trace.iter().map(|step| step.label.clone()).collect();
                let diagnostics =
                    vec![error.diagnostic(file.model(), state.is_some().then_some(labels.as_slice()))];
                Failure { code: 1, diagnostics, sources: file.sources }
            }
            (CheckError::Stopped { .. } | CheckError::Cancelled, _) => {
                Failure::limit(context).help("allow more with --max-states")
            }
            _ => Failure::wrong(context),
        }
    }

    /// Follows a saved counterexample on the model.
    fn follow(
        &self,
        file: &std::path::Path,
        subject: &Subject,
        properties: &[(Property, Option<String>)],
        terminal: &Terminal,
    ) -> Result<Answer, Failure> {
        let saved = read_lts(file, &lts::AutOptions { sparse: true, ..self.reading.options() }, terminal)?;
        let (labels, _) = saved
            .only_run()
            .ok_or_else(|| Failure::wrong(format!("{} is not a single run", file.display())))?;
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

fn describe(property: &Property, file: &Option<String>, verdict: &Verdict, seconds: f64) -> PropertyResult {
    let explanation = verdict.explanation.as_ref();
    let labels = explanation.and_then(Explanation::labels);
    PropertyResult {
        property: property.name.clone(),
        description: property.description.clone(),
        file: file.clone(),
        formula: None,
        verdict: verdict.holds,
        expected: property.expected,
        counterexample: labels.map(|labels| labels.into_iter().map(str::to_owned).collect()),
        lasso: match explanation {
            Some(Explanation::Lasso { prefix, .. }) => Some(prefix.len()),
            _ => None,
        },
        steps: Vec::new(),
        diagnostic: match explanation {
            Some(Explanation::SubSystem(lts)) => Some(report::Size {
                states: lts.state_count() as u64,
                transitions: lts.transition_count() as u64,
            }),
            _ => None,
        },
        states_visited: verdict.states_visited as u64,
        seconds,
    }
}

/// The steps of a run.
fn run_of(explanation: &Explanation) -> Vec<&Step> {
    match explanation {
        Explanation::Trace(steps) => steps.iter().collect(),
        Explanation::Lasso { prefix, cycle } => prefix.iter().chain(cycle).collect(),
        Explanation::SubSystem(_) => Vec::new(),
    }
}

/// The actions behind each step of a run, found by taking the run again on the model.
fn places(subject: &Subject, explanation: Option<&Explanation>) -> Vec<TraceStep> {
    let (Subject::Model(file, _), Some(explanation)) = (subject, explanation) else { return Vec::new() };
    let model = file.model();
    let Ok(mut state) = model.initial() else { return Vec::new() };
    let mut worker = model.worker();
    let mut steps = Vec::new();
    // States that the run may be in, each with the origin of the step that led there.
    let labels: Vec<&str> = run_of(explanation).iter().map(|step| step.label.as_str()).collect();
    let run = match logic::replay(&mut logic::ModelSystem::new(model, usize::MAX), &labels, None) {
        Ok(run) => run,
        Err(_) => return Vec::new(),
    };
    for step in run {
        let wanted = step.slots.unwrap_or_default();
        let mut origin = None;
        let _ = worker.successors(&state, &mut |next| {
            if origin.is_none() && next.target == &*wanted && model.label(next.label) == step.label {
                origin = Some(next.origin);
            }
        });
        let marks = origin.map(|origin| model.provenance().marks_of(origin)).unwrap_or_default();
        let actions = marks.into_iter().map(|mark| model.provenance().mark(mark));
        let mut actions: Vec<ActionPlace> = actions
            .filter(|mark| mark.kind == MarkKind::Action)
            .map(|mark| ActionPlace {
                process: mark.process.clone(),
                file: file.sources.name(mark.span.file).to_owned(),
                line: file.sources.position(mark.span).line,
            })
            .collect();
        actions.dedup();
        steps.push(TraceStep { label: step.label, actions });
        state = wanted.into_vec();
    }
    steps
}

/// A run as a transition system that can be saved; a lasso closes its cycle.
fn as_system(explanation: &Explanation) -> Lts {
    if let Explanation::SubSystem(lts) = explanation {
        return lts.clone();
    }
    let steps = run_of(explanation);
    let back = match explanation {
        Explanation::Lasso { prefix, .. } => Some(prefix.len()),
        _ => None,
    };
    let mut builder = LtsBuilder::new();
    for (index, step) in steps.iter().enumerate() {
        let last = index + 1 == steps.len();
        let target = back.filter(|_| last).unwrap_or(index + 1);
        let label = builder.label(&step.label);
        builder.add(StateId::new(index), label, StateId::new(target));
    }
    builder.finish().expect("a run is short")
}
