//! Runs a suite: opens all examples, measures them side by side, puts the results together and explains the holes.

use std::path::PathBuf;
use std::time::Instant;

use explore::Limits;
use languages::CantOpen;
use lts::Progress;
use model::{CoverageMap, Probes};
use rayon::prelude::*;
use source::{Diagnostic, FileId, Span};

use crate::cache::Cache;
use crate::coverage::{Coverage, Item, item};
use crate::encounters::{Evidence, Gathering};
use crate::finding::{Finding, findings, missing_runs};
use crate::measure::{Measurement, Stopped, measure};
use crate::probes::{Order, measure_with_probes};
use crate::specification::{Places, Specification};
use crate::subject::{Opened, Subject};
use crate::subset::{Subset, only_reached_by, smallest_subset};
use crate::suite::Example;
use crate::trace::measure_trace;

/// How coverage is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// From the origins of steps: one exploration, no extra states.
    #[default]
    Direct,
    /// With probes, which are taken before anything else.
    Probes,
}

impl Method {
    /// Measures an example.
    pub(crate) fn measure(
        self,
        example: &Example,
        opened: &Opened,
        limits: &Limits,
        progress: &Progress,
    ) -> Measurement {
        if let Some(trace) = &example.trace {
            return measure_trace(opened, trace, limits, progress);
        }
        match self {
            Method::Direct => {
                let (mut measurement, found) = measure(opened.model(), opened.map(), limits, progress);
                if !found.outcome.is_complete() {
                    opened.recount_functions(&found);
                }
                measurement.functions = Some(opened.function_coverage());
                measurement
            }
            Method::Probes => measure_with_probes(example, opened, Order::ProbesFirst, limits, progress),
        }
    }
}

/// How to run a suite.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// How examples are measured.
    pub method: Method,
    /// When explorations stop.
    pub limits: Limits,
    /// Where direct measurements are kept, if anywhere.
    pub cache: Option<PathBuf>,
}

/// What a suite has shown.
pub struct Outcome {
    /// What was to be covered.
    pub specification: Specification,
    /// The examples, in the order of the suite.
    pub examples: Vec<ExampleOutcome>,
    /// The processes that they start, positions in the map.
    pub roots: Vec<usize>,
    /// What they cover together.
    pub coverage: Coverage,
    /// What they cover of functions; none where that was not measured.
    pub functions: Option<FunctionOutcome>,
    /// What is wrong where there are holes.
    pub findings: Vec<Finding>,
    /// The smallest subset with the same coverage.
    pub subset: Subset,
}

impl Outcome {
    /// What no example exercises, in the order of the source; outcomes that do not exist are no holes.
    pub fn holes(&self) -> Vec<Item> {
        holes(&self.specification.map, &self.coverage)
    }
}

/// What a coverage leaves open.
fn holes(map: &CoverageMap, coverage: &Coverage) -> Vec<Item> {
    let exists = |item: &Item| match *item {
        Item::Outcome(decision, outcome) => outcome || !map.decisions[decision].always_true,
        Item::Block(_) | Item::Action(_) => true,
    };
    let items = coverage.items();
    let open = (0..items.len()).filter(|&position| !items[position]).map(|position| item(map, position));
    let mut holes: Vec<Item> = open.filter(exists).collect();
    holes.sort_by_key(|hole| (hole.place(map).0, *hole));
    holes
}

/// What a suite has shown of the functions that its examples can call.
pub struct FunctionOutcome {
    /// The functions, in the place of processes.
    pub specification: Specification,
    /// What each example covers, in the order of the suite.
    pub examples: Vec<Coverage>,
    /// What they cover together.
    pub coverage: Coverage,
}

impl FunctionOutcome {
    /// Puts the measurements of examples together; nothing where one has none.
    fn new(ready: &[Ready<'_>], measured: &[(Measurement, bool, f64)]) -> Option<Self> {
        let mut specification = Specification::new();
        let add = |one: &Ready<'_>| {
            let opened = &one.opened;
            specification.add(opened.program.functions(), &opened.sources, &|file| opened.is_input(file))
        };
        let places: Vec<Places> = ready.iter().map(add).collect();
        let map = &specification.map;
        let examples: Option<Vec<Coverage>> = (measured.iter().zip(&places))
            .map(|((measurement, _, _), places)| Some(measurement.functions.as_ref()?.placed(places, map)))
            .collect();
        let examples = examples?;
        let mut coverage = Coverage::none(map);
        examples.iter().for_each(|one| coverage.add(one));
        Some(Self { examples, coverage, specification })
    }

    /// What no example executes, in the order of the source.
    pub fn holes(&self) -> Vec<Item> {
        holes(&self.specification.map, &self.coverage)
    }
}

/// What one example has shown.
pub struct ExampleOutcome {
    /// The example.
    pub example: Example,
    /// What it covers of the specification.
    pub coverage: Coverage,
    /// How many states it has.
    pub states: u64,
    /// How many transitions it has.
    pub transitions: u64,
    /// Why its coverage is partial.
    pub stopped: Option<Stopped>,
    /// Whether the measurement was known from an earlier run.
    pub cached: bool,
    /// Modules that it brings along and that nothing imports.
    pub unused_modules: Vec<String>,
    /// What no other example reaches.
    pub only: Vec<Item>,
    /// How long it took.
    pub seconds: f64,
}

/// An example that can't be run.
pub struct WrongExample {
    /// The example.
    pub example: Example,
    /// What is wrong with it.
    pub error: CantOpen,
}

/// An example with its place in the specification.
struct Ready<'a> {
    example: &'a Example,
    opened: Opened,
    places: Places,
}

/// Opens examples side by side and gathers the specification that they share.
fn open_all<'a>(
    subject: &Subject,
    examples: &'a [Example],
) -> Result<(Specification, Vec<Ready<'a>>), Vec<WrongExample>> {
    let opened: Vec<Result<Opened, CantOpen>> =
        examples.par_iter().map(|example| subject.open(example)).collect();
    let mut specification = Specification::new();
    // A model that imports what only examples provide has no map of its own.
    if let Some((map, sources)) = subject.map() {
        let provided =
            |file: FileId| opened.iter().flatten().any(|one| one.is_input_file(sources.name(file)));
        specification.add(&map, &sources, &provided);
    }
    let (mut ready, mut wrong) = (Vec::new(), Vec::new());
    for (example, opened) in examples.iter().zip(opened) {
        match opened {
            Ok(opened) => {
                let places = specification.add(opened.map(), &opened.sources, &|file| opened.is_input(file));
                ready.push(Ready { example, opened, places });
            }
            Err(error) => wrong.push(WrongExample { example: example.clone(), error }),
        }
    }
    if wrong.is_empty() { Ok((specification, ready)) } else { Err(wrong) }
}

/// The limits for one of several examples that run side by side.
pub(crate) fn limits_of(example: &Example, settings: &Settings, examples: usize) -> Limits {
    let mut limits = settings.limits.clone();
    limits.states = example.max_states.unwrap_or(limits.states).min(limits.states);
    if examples >= rayon::current_num_threads() {
        limits.threads = 1;
    }
    limits
}

/// Runs all examples of a suite on a model.
pub fn run(
    subject: &Subject,
    examples: &[Example],
    settings: &Settings,
    progress: &Progress,
) -> Result<Outcome, Vec<WrongExample>> {
    let (specification, ready) = open_all(subject, examples)?;
    if settings.method == Method::Probes {
        let without = ready.iter().filter(|one| one.opened.instrumented(&Probes::default()).is_none());
        let wrong: Vec<WrongExample> = without
            .map(|one| {
                let diagnostic = Diagnostic::error("models in this language can't be given probes")
                    .help("measure without them: `--method direct`");
                WrongExample { example: one.example.clone(), error: CantOpen::new(diagnostic) }
            })
            .collect();
        if !wrong.is_empty() {
            return Err(wrong);
        }
    }
    let cache = settings.cache.clone().filter(|_| settings.method == Method::Direct).map(Cache::new);
    let measured: Vec<(Measurement, bool, f64)> = ready
        .par_iter()
        .map(|ready| {
            let start = Instant::now();
            let limits = limits_of(ready.example, settings, examples.len());
            let cache = cache.as_ref().filter(|_| ready.example.trace.is_none());
            let key = cache.map(|cache| cache.key(&ready.opened.sources, &limits));
            let known = cache.zip(key).and_then(|(cache, key)| {
                cache.get(key, ready.opened.map(), ready.opened.program.functions())
            });
            let (measurement, cached) = match known {
                Some(known) => (known, true),
                None => (settings.method.measure(ready.example, &ready.opened, &limits, progress), false),
            };
            if let (Some(cache), Some(key), false) = (cache, key, cached) {
                cache.put(key, &measurement);
            }
            (measurement, cached, start.elapsed().as_secs_f64())
        })
        .collect();
    Ok(conclude(subject, specification, &ready, measured, settings, progress))
}

/// Puts measurements together and explains the holes.
fn conclude(
    subject: &Subject,
    specification: Specification,
    ready: &[Ready<'_>],
    measured: Vec<(Measurement, bool, f64)>,
    settings: &Settings,
    progress: &Progress,
) -> Outcome {
    let map = &specification.map;
    let coverages: Vec<Coverage> = (measured.iter().zip(ready))
        .map(|((measurement, _, _), ready)| measurement.coverage.placed(&ready.places, map))
        .collect();
    let mut coverage = Coverage::none(map);
    coverages.iter().for_each(|one| coverage.add(one));
    // A trace is one run of many: what is wrong with the model shows in all of them.
    let mut of_all_runs = coverage.clone();
    let mut partial = measured.iter().any(|(measurement, _, _)| measurement.stopped.is_some());
    for one in ready.iter().filter(|one| one.example.trace.is_some()) {
        let limits = limits_of(one.example, settings, 1);
        let (found, _) = measure(one.opened.model(), one.opened.map(), &limits, progress);
        partial |= found.stopped.is_some();
        of_all_runs.add(&found.coverage.placed(&one.places, map));
    }
    let evidence = gather_evidence(subject, &specification, ready, &of_all_runs, settings, progress);
    let mut roots: Vec<usize> = Vec::new();
    for start in ready.iter().flat_map(|ready| ready.opened.starts(&ready.places)) {
        if !roots.contains(&start) {
            roots.push(start);
        }
    }
    let mut findings = findings(map, &of_all_runs, &evidence, &roots);
    if partial {
        let doubt = "not everything was explored: what is missing may still happen";
        findings.iter_mut().for_each(|finding| finding.why.push(doubt.to_owned()));
    }
    findings.extend(missing_runs(map, &coverage, &of_all_runs));
    findings.sort_by_key(|finding| (finding.span, finding.kind));
    let functions = FunctionOutcome::new(ready, &measured);
    let subset = smallest_subset(&coverages);
    let only = only_reached_by(map, &coverages);
    let examples = (ready.iter().zip(measured).zip(coverages.into_iter().zip(only)))
        .map(|((ready, (measurement, cached, seconds)), (coverage, only))| ExampleOutcome {
            example: ready.example.clone(),
            coverage,
            states: measurement.states,
            transitions: measurement.transitions,
            stopped: measurement.stopped.map(|stopped| placed(stopped, &specification, &ready.opened)),
            cached,
            unused_modules: ready.opened.unused_modules(ready.example),
            only,
            seconds,
        })
        .collect();
    Outcome { examples, roots, coverage, functions, findings, subset, specification }
}

/// The same in terms of the specification's files; places in an example's own modules are told in words.
fn placed(stopped: Stopped, specification: &Specification, opened: &Opened) -> Stopped {
    let Stopped::Error(mut diagnostic) = stopped else { return stopped };
    for mut label in std::mem::take(&mut diagnostic.labels) {
        match specification.own_span(&opened.sources, label.span) {
            Some(span) => {
                label.span = span;
                diagnostic.labels.push(label);
            }
            None => {
                let (file, at) = (opened.sources.name(label.span.file), opened.sources.position(label.span));
                diagnostic.notes.push(format!("{} at {file}:{}:{}", label.text, at.line, at.column));
            }
        }
    }
    Stopped::Error(diagnostic)
}

/// Looks again at the examples that may tell why there are holes.
fn gather_evidence(
    subject: &Subject,
    specification: &Specification,
    ready: &[Ready<'_>],
    coverage: &Coverage,
    settings: &Settings,
    progress: &Progress,
) -> Evidence {
    let actions = Gathering::wanted_actions(specification, coverage);
    let decisions = Gathering::wanted_decisions(specification, coverage);
    let choices = Gathering::wanted_choices(specification, coverage);
    let mut gathering = Gathering::new();
    if actions.is_empty() && decisions.is_empty() && choices.is_empty() {
        return gathering.evidence(specification);
    }
    for one in ready {
        // Spans are the same whenever the example is opened; a case is observed at its first branch.
        let map = one.opened.map();
        let wanted = |place: &Option<usize>| place.is_some_and(|place| decisions.contains(&place));
        let chosen = map.decisions.iter().zip(&one.places.decisions).filter(|(_, place)| wanted(place));
        let watched: Vec<Span> = chosen
            .flat_map(|(decision, _)| {
                map.decisions.iter().filter(|other| {
                    other.span == decision.span
                        || (other.process == decision.process && other.operands == decision.operands)
                })
            })
            .map(|decision| decision.span)
            .chain(
                map.blocks
                    .iter()
                    .flat_map(|block| block.choices.iter().map(|&(_, condition)| condition))
                    .filter(|&condition| {
                        let own = specification.own_span(&one.opened.sources, condition);
                        own.is_some_and(|own| choices.contains(&own))
                    }),
            )
            .collect();
        let Ok(opened) = subject.open_watching(one.example, &watched) else { continue };
        let limits = limits_of(one.example, settings, 1);
        let (_, found) = measure(opened.model(), opened.map(), &limits, progress);
        gathering.look_at_values(&opened, &one.places, &found, specification);
        gathering.look_at(&opened, &one.places, &found, &actions, specification, progress);
    }
    gathering.evidence(specification)
}
