//! Examples that are runs: the labels of a trace are followed on the model, and what the steps of such runs execute is
//! covered.
//!
//! A trace does not tell everything: several runs may show the same labels. What any run executes that shows the whole
//! trace counts. Internal steps may come in between, unless the trace has some itself: then it has all of them.

use std::collections::BTreeSet;
use std::time::Instant;

use explore::{Limits, Walk};
use languages::CantOpen;
use lts::{OriginId, Progress};
use model::{Model, ModelError, Slot};
use rustc_hash::FxHashMap;

use crate::measure::{Measurement, Stopped, covered};
use crate::subject::{Opened, Subject};
use crate::suite::Example;

/// A file of runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// Where it was read, as the suite writes it.
    pub file: String,
    /// The runs.
    pub runs: Vec<Run>,
}

/// A sequence of labels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// The labels.
    pub labels: Vec<String>,
    /// Whether it ends in a deadlock.
    pub deadlock: bool,
}

/// Reads runs: a label on each line, with or without quotes, or CADP's simple SEQ format, in which `[]` stands between
/// runs. The error is the number of a line, counted from 1, and what is wrong with it.
///
/// ```
/// let runs = cover::parse_trace("PUT !1\n\"GET !1\"\n[]\nPUT !2\n<deadlock>\n").unwrap();
/// assert_eq!(runs[0].labels, ["PUT !1", "GET !1"]);
/// assert!(!runs[0].deadlock && runs[1].deadlock);
/// assert_eq!(cover::parse_trace("\"A\"\n<until> \"B\"\n").unwrap_err().0, 2);
/// ```
pub fn parse_trace(text: &str) -> Result<Vec<Run>, (usize, String)> {
    let text = without_comments(text);
    let mut runs: Vec<Run> = vec![Run::default()];
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        let run = match runs.last_mut() {
            Some(run) => run,
            None => break,
        };
        let wrong = |reason: &str| Err((number + 1, reason.to_owned()));
        match line {
            "" | "<initial state>" | "<goal state>" => {}
            _ if line.starts_with("***") => {}
            "[]" => runs.push(Run::default()),
            _ if run.deadlock => return wrong("nothing can follow a deadlock"),
            "<deadlock>" => run.deadlock = true,
            _ if line.starts_with(['<', '[', '~', '(']) => {
                return wrong("only single labels are supported, as in the simple SEQ format");
            }
            _ => match line.strip_prefix('"') {
                None => run.labels.push(normal(line)),
                Some(rest) => match rest.strip_suffix('"') {
                    Some(label) if !["\" |", "\" &", "\" ^"].iter().any(|sign| label.contains(sign)) => {
                        run.labels.push(normal(label));
                    }
                    _ => return wrong("only single labels are supported, as in the simple SEQ format"),
                },
            },
        }
    }
    Ok(runs)
}

/// The same example with random runs in the place of everything that it can do, of at most so many steps each.
pub fn random_runs(
    subject: &Subject,
    example: &Example,
    runs: usize,
    steps: usize,
    seed: u64,
) -> Result<Example, CantOpen> {
    let opened = subject.open(example)?;
    let model = opened.model();
    let draw = |seed: u64| -> Result<Run, ModelError> {
        let mut walk = Walk::new(model, seed)?;
        let mut run = Run::default();
        while run.labels.len() < steps {
            match walk.step()? {
                Some(step) => run.labels.push(model.label(step.label)),
                None => break,
            }
        }
        Ok(run)
    };
    let drawn: Result<Vec<Run>, ModelError> =
        (0..runs as u64).map(|run| draw(seed.wrapping_add(run))).collect();
    let runs = match drawn {
        Ok(runs) => runs,
        Err(error) => {
            let diagnostics = vec![error.diagnostic(model, None)];
            return Err(CantOpen { diagnostics, sources: opened.sources });
        }
    };
    let file = format!("random runs from seed {seed}");
    Ok(Example { trace: Some(Trace { file, runs }), ..example.clone() })
}

/// Comments of the SEQ format stand between two control characters; lines are kept.
fn without_comments(text: &str) -> String {
    let mut inside = false;
    let keep = |letter: char| match letter {
        '\u{1}' => {
            inside = true;
            None
        }
        '\u{2}' => {
            inside = false;
            None
        }
        '\n' => Some('\n'),
        _ => (!inside).then_some(letter),
    };
    text.chars().filter_map(keep).collect()
}

/// The labels of single steps: one of several things at once, `A | B`, stands for one after the other.
pub(crate) fn flattened(labels: &[String]) -> Vec<String> {
    labels.iter().flat_map(|label| members(label)).map(str::to_owned).collect()
}

/// The parts of a label between ` | `, outside of quotes.
pub(crate) fn members(label: &str) -> Vec<&str> {
    let (mut parts, mut start, mut quoted, mut escaped) = (Vec::new(), 0, false, false);
    for (at, byte) in label.bytes().enumerate() {
        match byte {
            b'"' if !escaped => quoted = !quoted,
            b'|' if !quoted
                && at > start
                && label[..at].ends_with(' ')
                && label[at + 1..].starts_with(' ') =>
            {
                parts.push(&label[start..at - 1]);
                start = at + 2;
            }
            _ => {}
        }
        escaped = quoted && byte == b'\\' && !escaped;
    }
    parts.push(&label[start..]);
    parts
}

/// A label with single blanks.
fn normal(label: &str) -> String {
    label.split_whitespace().collect::<Vec<&str>>().join(" ")
}

/// What the runs of a trace exercise.
pub(crate) fn measure_trace(
    opened: &Opened,
    trace: &Trace,
    limits: &Limits,
    progress: &Progress,
) -> Measurement {
    opened.model().forget_fired();
    let mut following = Following {
        opened,
        limits,
        progress,
        start: Instant::now(),
        labels: FxHashMap::default(),
        origins: BTreeSet::from([opened.model().initial_origin()]),
        states: BTreeSet::new(),
        transitions: 0,
    };
    let mut stopped = None;
    for (number, run) in trace.runs.iter().enumerate() {
        let run = &Run { labels: flattened(&run.labels), deadlock: run.deadlock };
        if let Err(reason) = following.run(run) {
            let which = if trace.runs.len() > 1 { format!("run {}: ", number + 1) } else { String::new() };
            stopped = stopped.or(Some(match reason {
                Stopped::Trace(reason) => Stopped::Trace(format!("{which}{reason}")),
                other => other,
            }));
        }
    }
    let (states, transitions) = (following.states.len() as u64, following.transitions);
    let coverage = covered(opened.model(), opened.map(), following.origins);
    let functions = Some(opened.function_coverage());
    Measurement { coverage, states, transitions, functions, stopped }
}

/// Whether all runs of a trace are possible; nothing where a limit or a run-time error left that open.
pub fn is_possible(opened: &Opened, trace: &Trace, limits: &Limits, progress: &Progress) -> Option<bool> {
    match measure_trace(opened, trace, limits, progress).stopped {
        None => Some(true),
        Some(Stopped::Trace(_)) => Some(false),
        Some(_) => None,
    }
}

struct Following<'a> {
    opened: &'a Opened,
    limits: &'a Limits,
    progress: &'a Progress,
    start: Instant,
    labels: FxHashMap<u32, String>,
    origins: BTreeSet<OriginId>,
    states: BTreeSet<Vec<Slot>>,
    transitions: u64,
}

/// The states that runs are in behind so many labels of a trace, and the steps between them.
#[derive(Default)]
struct Nodes {
    states: Vec<Vec<Slot>>,
    known: FxHashMap<(usize, Vec<Slot>), usize>,
    steps: Vec<(usize, usize, OriginId)>,
}

impl Nodes {
    fn add(&mut self, position: usize, state: &[Slot]) -> (usize, bool) {
        let next = self.states.len();
        let number = *self.known.entry((position, state.to_vec())).or_insert(next);
        if number == next {
            self.states.push(state.to_vec());
        }
        (number, number == next)
    }
}

impl Following<'_> {
    /// Follows one run: forwards along all steps that show its labels, then backwards from where all were shown. What
    /// was possible of a run that is not counts as well.
    fn run(&mut self, run: &Run) -> Result<(), Stopped> {
        let model = self.opened.model();
        let weak = !run.labels.iter().any(|label| label == lts::TAU_TEXT);
        let mut nodes = Nodes::default();
        let initial = model.initial().map_err(|error| stopped(model, &error, &[]))?;
        let mut here = vec![nodes.add(0, &initial).0];
        let mut worker = model.worker();
        let mut outcome = Ok(());
        for (position, label) in run.labels.iter().enumerate() {
            let mut next: Vec<usize> = Vec::new();
            let mut possible: BTreeSet<String> = BTreeSet::new();
            let mut index = 0;
            while index < here.len() {
                self.within_limits(&nodes)?;
                let from = here[index];
                index += 1;
                let state = nodes.states[from].clone();
                let labels = &mut self.labels;
                let result = worker.successors(&state, &mut |step| {
                    let text =
                        labels.entry(step.label.raw()).or_insert_with(|| normal(&model.label(step.label)));
                    let hidden = weak && text == lts::TAU_TEXT;
                    if hidden || text == label {
                        let (to, is_new) = nodes.add(position + usize::from(!hidden), step.target);
                        nodes.steps.push((from, to, step.origin));
                        if is_new {
                            if hidden { here.push(to) } else { next.push(to) }
                        }
                    }
                    if !hidden {
                        possible.insert(text.clone());
                    }
                });
                result.map_err(|error| stopped(model, &error, &run.labels[..position]))?;
            }
            if next.is_empty() {
                let what = format!("step {} of the trace, {label}, is not possible", position + 1);
                outcome = Err(Stopped::Trace(format!("{what}: {}", instead(&possible))));
                break;
            }
            here = next;
        }
        if run.deadlock && outcome.is_ok() {
            let mut possible: BTreeSet<String> = BTreeSet::new();
            let mut dead = Vec::new();
            for &node in &here {
                let mut goes_on = false;
                let _ = worker.successors(&nodes.states[node], &mut |step| {
                    goes_on = true;
                    possible.insert(normal(&model.label(step.label)));
                });
                if !goes_on {
                    dead.push(node);
                }
            }
            if dead.is_empty() {
                let reason = format!("there is no deadlock at the end of the trace: {}", instead(&possible));
                outcome = Err(Stopped::Trace(reason));
            } else {
                here = dead;
            }
        }
        self.keep(&nodes, here);
        outcome
    }

    /// Keeps the steps that lead to one of these.
    fn keep(&mut self, nodes: &Nodes, ends: Vec<usize>) {
        let mut arriving: Vec<Vec<usize>> = vec![Vec::new(); nodes.states.len()];
        nodes.steps.iter().for_each(|&(from, to, _)| arriving[to].push(from));
        let mut leads = vec![false; nodes.states.len()];
        let mut todo = ends;
        while let Some(node) = todo.pop() {
            if !std::mem::replace(&mut leads[node], true) {
                todo.extend(&arriving[node]);
            }
        }
        for &(_, _, origin) in nodes.steps.iter().filter(|(_, to, _)| leads[*to]) {
            self.origins.insert(origin);
            self.transitions += 1;
        }
        let mut worker = self.opened.model().worker();
        for (state, _) in nodes.states.iter().zip(&leads).filter(|(_, leads)| **leads) {
            let origins = &mut self.origins;
            let _ = worker.executed(state, &mut |origin| _ = origins.insert(origin));
            self.states.insert(state.clone());
        }
    }

    fn within_limits(&self, nodes: &Nodes) -> Result<(), Stopped> {
        match () {
            () if self.progress.is_cancelled() => Err(Stopped::Cancelled),
            () if nodes.states.len() > self.limits.states => Err(Stopped::StateLimit),
            () if self.limits.time.is_some_and(|time| self.start.elapsed() > time) => Err(Stopped::TimeLimit),
            () => Ok(()),
        }
    }
}

fn stopped(model: &dyn Model, error: &ModelError, labels: &[String]) -> Stopped {
    Stopped::Error(Box::new(error.diagnostic(model, Some(labels))))
}

/// What can happen in place of a step.
fn instead(possible: &BTreeSet<String>) -> String {
    const MOST: usize = 8;
    let shown: Vec<&str> = possible.iter().take(MOST).map(String::as_str).collect();
    match possible.len().saturating_sub(MOST) {
        _ if possible.is_empty() => "nothing is possible there".to_owned(),
        0 => format!("the model can do {}", shown.join(", ")),
        more => format!("the model can do {} and {more} more", shown.join(", ")),
    }
}
