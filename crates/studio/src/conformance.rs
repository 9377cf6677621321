//! The conformance view: whether the model accepts the traces of a program, and the walk of a sequence beside the model.
//!
//! Traces are read when the model is opened, never because a page asks: what is walked later is kept.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

use conform::{Files, Format, Observed, Problem, Relation, Sequence, Walk};
use lts::Progress;
use model::{MarkKind, Model, Slot, SystemModel};
use report::{Cause, Conformance, NonConformance};
use rustc_hash::FxHashMap;
use serde::Serialize;
use source::{Diagnostic, Sources};

use crate::opening::{CantOpen, Message, Opened, Place, Request, Subject, messages};
use crate::picture::NONE;

/// The most failures and causes that are listed.
const MOST_LISTED: usize = 300;
/// The most moments of a sequence that are walked: the last ones.
const MOST_MOMENTS: usize = 2_000;
/// The most moments that are sent at once.
const MOST_SENT: usize = 200;
/// In a larger picture, the states of a walk are not looked for.
const MOST_FOUND: usize = 200_000;

/// The traces of a program, and when a model accepts them.
#[derive(Clone, Debug)]
pub struct Traces {
    /// The files.
    pub files: Vec<PathBuf>,
    /// What they are.
    pub format: Format,
    /// The term that denotes sequences, in a file of a language.
    pub term: Option<String>,
    /// Folders of what such a file names.
    pub include: Vec<PathBuf>,
    /// What the program's states and events are in the model.
    pub relation: Relation,
    /// When a sequence is accepted.
    pub settings: conform::Settings,
    /// The module that is the model.
    pub module: Option<String>,
}

impl Traces {
    fn read(&self) -> Files<'_> {
        Files::new(&self.files, self.format, &self.relation).with_term(self.term.as_deref(), &self.include)
    }

    /// The first state that is written as one text. What can't be read is told by the check.
    pub fn first_state(&self) -> Option<String> {
        self.read().first_state().ok().flatten()
    }
}

/// What traces are checked against.
#[derive(Clone)]
pub enum Judge {
    /// A model.
    Program(Arc<languages::Opened>),
    /// A transition system.
    System(Arc<SystemModel>),
}

impl Judge {
    fn model(&self) -> &dyn Model {
        match self {
            Self::Program(loaded) => loaded.program.model(),
            Self::System(model) => &**model,
        }
    }

    fn sources(&self) -> Option<&Sources> {
        match self {
            Self::Program(loaded) => Some(&loaded.sources),
            Self::System(_) => None,
        }
    }
}

/// What is known of the traces.
#[derive(Clone, Default)]
pub enum Check {
    /// There are none.
    #[default]
    None,
    /// They are being checked.
    Running,
    /// They can't be.
    Failed(Vec<Message>),
    /// They are.
    Done(Arc<Verdict>),
}

/// The verdict, and what is needed to walk the sequences that are rejected.
pub struct Verdict {
    request: Arc<Request>,
    traces: Arc<Traces>,
    judge: Judge,
    conformance: Conformance,
    /// The failures that are listed, with their sequences.
    listed: BTreeMap<usize, Sequence>,
    /// The last one that was walked.
    walked: Mutex<Option<(usize, Arc<Walk>)>>,
    /// The nodes of states.
    nodes: OnceLock<FxHashMap<Vec<Slot>, u32>>,
}

/// Checks the traces of a request.
pub fn check(request: Arc<Request>, judge: Judge, progress: &Progress) -> Result<Verdict, CantOpen> {
    let start = Instant::now();
    let traces = request.traces.clone().ok_or(CantOpen::Cancelled)?;
    let (model, none) = (judge.model(), Sources::new());
    let sources = judge.sources().unwrap_or(&none);
    let wrong = |problem: Problem| match &problem {
        Problem::Cancelled => CantOpen::Cancelled,
        Problem::Model(error) => CantOpen::Wrong(messages(&[error.diagnostic(model, None)], sources)),
        _ => {
            let (diagnostic, sources) = views::trace_problem(&problem, &traces.files);
            CantOpen::Wrong(messages(&[diagnostic], &sources))
        }
    };
    let (relation, settings) = (&traces.relation, traces.settings);
    let mut files = traces.read();
    let threads = rayon::current_num_threads();
    let outcome = conform::check(model, relation, settings, threads, &mut || files.next_batch(), progress)
        .map_err(wrong)?;
    if outcome.sequences == 0 {
        let diagnostic = Diagnostic::error("the traces have no sequence").help("an empty trace says nothing");
        return Err(CantOpen::Wrong(messages(&[diagnostic], sources)));
    }
    let seconds = start.elapsed().as_secs_f64();
    let conformance = views::conformance(&outcome, &settings, &traces.files, model, sources, None, seconds);
    let numbers = listed(&conformance);
    // The state before the one that is rejected counts from 0, and so does an event: two more are enough for both.
    let length = |failure: &NonConformance| (failure.seq, failure.index + 2);
    let wanted = numbers.iter().map(|&number| length(&conformance.failures[number])).collect();
    let mut files = traces.read();
    let mut again =
        || if progress.is_cancelled() || numbers.is_empty() { Ok(None) } else { files.next_batch() };
    let mut sequences =
        conform::gather(model, relation, settings, &wanted, MOST_MOMENTS, &mut again).map_err(wrong)?;
    if progress.is_cancelled() {
        return Err(CantOpen::Cancelled);
    }
    let listed = numbers
        .iter()
        .filter_map(|&number| Some((number, sequences.remove(&conformance.failures[number].seq)?)))
        .collect();
    Ok(Verdict {
        request,
        traces: Arc::clone(&traces),
        judge: judge.clone(),
        conformance,
        listed,
        walked: Mutex::default(),
        nodes: OnceLock::new(),
    })
}

/// The first failures, and the first one of each cause.
fn listed(conformance: &Conformance) -> BTreeSet<usize> {
    let firsts = conformance.causes.iter().take(MOST_LISTED).map(|cause| cause.first);
    let mut listed: BTreeSet<usize> = firsts.collect();
    for number in 0..conformance.failures.len() {
        if listed.len() >= MOST_LISTED {
            break;
        }
        listed.insert(number);
    }
    listed
}

/// The verdict for the page.
#[derive(Serialize)]
pub struct View<'v> {
    running: bool,
    /// Why there is no verdict.
    messages: &'v [Message],
    verdict: Option<VerdictView<'v>>,
}

#[derive(Serialize)]
struct VerdictView<'v> {
    sequences: u64,
    accepted: u64,
    rejected: u64,
    unknown: u64,
    unspecified: u64,
    bound: u32,
    causes: &'v [Cause],
    failures: Vec<FailureView<'v>>,
}

#[derive(Serialize)]
struct FailureView<'v> {
    /// What it is asked for by.
    number: usize,
    #[serde(flatten)]
    failure: &'v NonConformance,
}

impl Check {
    /// What a page shows of it.
    pub fn view(&self) -> View<'_> {
        let messages: &[Message] = if let Check::Failed(messages) = self { messages } else { &[] };
        let verdict = if let Check::Done(verdict) = self { Some(verdict.view()) } else { None };
        View { running: matches!(self, Check::Running), messages, verdict }
    }
}

/// Why there is no walk.
#[derive(Debug, thiserror::Error)]
pub enum NoWalk {
    /// Nothing was rejected, or not that.
    #[error("there is no such failure")]
    Missing,
    /// Something is wrong with the model.
    #[error("{0}")]
    Wrong(String),
}

/// A part of a walk.
#[derive(Serialize)]
pub struct Part {
    /// How many stations there are.
    total: usize,
    /// The position of the first one here.
    from: usize,
    /// How many moments of the sequence come before all of them.
    skipped: u64,
    stations: Vec<Station>,
}

/// The program and the model at a moment.
#[derive(Serialize)]
struct Station {
    /// The moment, from 0; nothing before the first.
    index: Option<u64>,
    /// The line of the trace.
    line: Option<u64>,
    event: Option<String>,
    /// What the program shows; a whole state has no name.
    program: Vec<(String, String)>,
    /// The values of the model.
    model: Vec<Value>,
    /// How many states of the model agree with the trace up to here.
    states: usize,
    /// The steps of the model from the station before.
    steps: Vec<StepView>,
    /// Where the model's state is in the picture, if it is.
    node: Option<u32>,
    /// Whether the model can't follow.
    rejected: bool,
}

#[derive(Serialize)]
struct Value {
    name: String,
    value: String,
    /// Whether it is another one than at the station before.
    changed: bool,
}

#[derive(Serialize)]
struct StepView {
    label: String,
    places: Vec<Place>,
}

impl Verdict {
    fn view(&self) -> VerdictView<'_> {
        let all = &self.conformance;
        let failure = |&number: &usize| FailureView { number, failure: &all.failures[number] };
        VerdictView {
            sequences: all.sequences,
            accepted: all.accepted,
            rejected: all.rejected,
            unknown: all.unknown,
            unspecified: all.unspecified,
            bound: all.bound,
            causes: &all.causes[..all.causes.len().min(MOST_LISTED)],
            failures: self.listed.keys().map(failure).collect(),
        }
    }

    /// The stations of a failure's sequence from some position on, as many as are sent at once.
    pub fn walk(&self, failure: usize, from: usize, opened: Option<&Opened>) -> Result<Part, NoWalk> {
        let sequence = self.listed.get(&failure).ok_or(NoWalk::Missing)?;
        let walk = self.walked(failure, sequence)?;
        let nodes = opened.filter(|opened| Arc::ptr_eq(&opened.request, &self.request));
        let nodes = nodes.map(|opened| self.nodes.get_or_init(|| nodes_of(opened)));
        let before = usize::from(walk.start.is_some());
        let total = before + walk.moments.len();
        let state = |at: usize| -> Option<&Vec<Slot>> {
            match at.checked_sub(before) {
                None => walk.start.as_ref(),
                Some(at) => walk.moments[at].state.as_ref(),
            }
        };
        let values = |at: usize| -> Vec<(String, String)> {
            state(at).map_or_else(Vec::new, |state| conform::named_values(self.judge.model(), state))
        };
        let station = |at: usize| -> Station {
            let old = at.checked_sub(1).map(values).unwrap_or_default();
            let value = |(name, value): (String, String)| {
                let same = |known: &(String, String)| known.0 == name && known.1 == value;
                let changed = at > 0 && !old.is_empty() && !old.iter().any(same);
                Value { name, value, changed }
            };
            let moment = at.checked_sub(before);
            let walked = moment.map(|moment| &walk.moments[moment]);
            let seen = moment.and_then(|moment| sequence.moments.get(moment));
            Station {
                index: moment.map(|moment| sequence.skipped + moment as u64),
                line: seen.map(|seen| seen.line),
                event: seen.and_then(|seen| seen.event.clone()),
                program: match seen.and_then(|seen| seen.state.as_ref()) {
                    None => Vec::new(),
                    Some(Observed::Whole(text)) => vec![(String::new(), text.clone())],
                    Some(Observed::Values(values)) => values.clone(),
                },
                model: values(at).into_iter().map(value).collect(),
                states: walked.map_or(1, |walked| walked.states),
                steps: walked.map_or_else(Vec::new, |walked| {
                    walked.steps.iter().map(|step| self.step(step)).collect()
                }),
                node: state(at).and_then(|state| nodes?.get(state).copied()),
                rejected: state(at).is_none(),
            }
        };
        let from = from.min(total);
        let stations = (from..total.min(from + MOST_SENT)).map(station).collect();
        Ok(Part { total, from, skipped: sequence.skipped, stations })
    }

    fn walked(&self, failure: usize, sequence: &Sequence) -> Result<Arc<Walk>, NoWalk> {
        let mut last = self.walked.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some((known, walk)) = &*last
            && *known == failure
        {
            return Ok(Arc::clone(walk));
        }
        let Traces { relation, settings, files, .. } = &*self.traces;
        let walk = conform::walk(self.judge.model(), relation, *settings, sequence).map_err(|error| {
            let failure = &self.conformance.failures[failure];
            let (diagnostic, _) = views::trace_problem(&error.at(0, failure.line, failure.seq), files);
            NoWalk::Wrong(diagnostic.message)
        })?;
        let walk = Arc::new(walk);
        *last = Some((failure, Arc::clone(&walk)));
        Ok(walk)
    }

    fn step(&self, step: &conform::Taken) -> StepView {
        let provenance = self.judge.model().provenance();
        let marks = provenance.marks_of(step.origin).into_iter().map(|mark| provenance.mark(mark));
        let mut spans: Vec<source::Span> =
            marks.filter(|mark| mark.kind == MarkKind::Action).map(|mark| mark.span).collect();
        spans.dedup();
        let places = self.judge.sources().map_or_else(Vec::new, |sources| {
            spans.into_iter().map(|span| Place::of(span, sources)).collect()
        });
        StepView { label: step.label.clone(), places }
    }
}

/// Where states are in the picture; of several nodes with the same state, the first.
fn nodes_of(opened: &Opened) -> FxHashMap<Vec<Slot>, u32> {
    let picture = &opened.picture;
    if picture.len() > MOST_FOUND {
        return FxHashMap::default();
    }
    let mut nodes = FxHashMap::default();
    for (node, &state) in picture.states.iter().enumerate().filter(|&(_, &state)| state != NONE) {
        let row = match &*opened.subject {
            Subject::Model(explored) => {
                explored.exploration.state(explored.loaded.program.model(), lts::StateId::from_raw(state))
            }
            Subject::System(_) => vec![state],
        };
        nodes.entry(row).or_insert(node as u32);
    }
    nodes
}
