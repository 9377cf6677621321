//! Measuring as Salaün and Ye do (2015, section 3.4): the program with probes in it is explored, and the labels of its
//! transitions tell what was exercised. Two steps keep the number of probes down: blocks and decisions first, then the
//! actions of blocks that are only partially covered. Probes add states; those of their interleavings are spared.

use explore::{Exploration, Limits};
use languages::CantOpen;
use lts::{Edge, Progress};
use model::{Instrumented, Model, ModelError, Probes};
use source::Diagnostic;
use std::time::Instant;

use crate::coverage::Coverage;
use crate::measure::{Measurement, Stopped, error_after, stopped};
use crate::probes_first::ProbesFirst;
use crate::run::Outcome;
use crate::subject::Opened;
use crate::suite::Example;

/// The probes of the two steps of section 3.4, for an example of a suite: blocks and decisions first, then the actions of
/// those blocks that the suite covers only partially (definition 10). All other actions are known by then: those of a
/// covered block have happened, and those of a block that is not executable have not.
pub struct TwoSteps {
    /// Blocks and decisions.
    pub first: Probes,
    /// Actions of partially covered blocks; none where the first step is sufficient.
    pub second: Probes,
    /// How many probes there would be if everything were measured at once.
    pub at_once: usize,
}

impl TwoSteps {
    /// The steps for an opened example of a suite that was run.
    pub fn new(opened: &Opened, outcome: &Outcome) -> Self {
        let map = opened.map();
        let specification = &outcome.specification;
        let places = specification.find(map, &opened.sources);
        let partial = |place: &Option<usize>| {
            place.is_some_and(|block| outcome.coverage.is_partially_covered(&specification.map, block))
        };
        let blocks = map.blocks.iter().zip(&places.blocks).filter(|(_, place)| partial(place));
        let actions = blocks.flat_map(|(block, _)| block.actions.iter().copied()).collect();
        // What comes with the example does not count.
        let counted = |places: &[Option<usize>]| -> Vec<usize> {
            (0..places.len()).filter(|&number| places[number].is_some()).collect()
        };
        let (blocks, decisions) = (counted(&places.blocks), counted(&places.decisions));
        let at_once = blocks.len() + decisions.len() + counted(&places.actions).len();
        let first = Probes { blocks, decisions, actions: Vec::new() };
        Self { first, second: Probes { actions, ..Probes::default() }, at_once }
    }

    /// How many probes the two steps need.
    pub fn probes(&self) -> usize {
        self.first.blocks.len() + self.first.decisions.len() + self.second.actions.len()
    }
}

/// When probes are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Like any other action, in every order: what other tools do.
    Any,
    /// Before anything else: see [`ProbesFirst`].
    ProbesFirst,
}

/// Measures an example with probes, in two steps. States and transitions are those of the first.
pub fn measure_with_probes(
    example: &Example,
    opened: &Opened,
    order: Order,
    limits: &Limits,
    progress: &Progress,
) -> Measurement {
    let map = opened.map();
    let start = Instant::now();
    let (mut measurement, _) =
        seen_by_probes(example, opened, &Probes::first_step(map), order, limits, progress);
    let coverage = &mut measurement.coverage;
    // All actions of a covered block have happened, and none of a block that can't be entered.
    for (block, entry) in map.blocks.iter().enumerate() {
        if coverage.blocks[block] {
            entry.actions.iter().for_each(|&action| coverage.actions[action] = true);
        }
    }
    let partial = (0..map.blocks.len()).filter(|&block| coverage.is_partially_covered(map, block));
    let actions: Vec<usize> = partial.flat_map(|block| map.blocks[block].actions.iter().copied()).collect();
    if !actions.is_empty() {
        let second = Probes { actions, ..Probes::default() };
        // The time is that of the example, not of a step.
        let time = limits.time.map(|time| time.saturating_sub(start.elapsed()));
        let limits = Limits { time, ..limits.clone() };
        let (more, _) = seen_by_probes(example, opened, &second, order, &limits, progress);
        measurement.coverage.add(&more.coverage);
        measurement.stopped = measurement.stopped.or(more.stopped);
    }
    measurement
}

/// What some probes show of an example; the rest counts as not exercised. Its language has to have probes.
pub fn seen_by_probes(
    example: &Example,
    opened: &Opened,
    probes: &Probes,
    order: Order,
    limits: &Limits,
    progress: &Progress,
) -> (Measurement, Instrumented) {
    let instrumented = opened.instrumented(probes).unwrap_or_default();
    let program = match opened.open_instrumented(example, &instrumented) {
        Ok(program) => program,
        Err(error) => return (refused(opened, &error), instrumented),
    };
    let model = program.model();
    let limits = Limits { transitions: true, origins: false, ..limits.clone() };
    let first = ProbesFirst::new(model, &instrumented.gate);
    let explored: &dyn Model = match order {
        Order::Any => model,
        Order::ProbesFirst => &first,
    };
    let found = explore::explore(explored, &limits, progress);
    let mut coverage = Coverage::none(opened.map());
    for (_, label) in found.lts.labels().iter() {
        note(label, &instrumented.gate, &mut coverage);
    }
    let is_probe = |label: &str| is_probe(label, &instrumented.gate);
    let mut stopped = stopped(explored, &found, &is_probe).or_else(|| endless(explored, &found, &is_probe));
    if let Some(Stopped::Error(diagnostic)) = &mut stopped {
        // It speaks of the program with probes, which nobody has seen.
        diagnostic.labels.clear();
    }
    let (states, transitions) = (found.states() as u64, found.statistics.transitions);
    (Measurement { coverage, states, transitions, functions: None, stopped }, instrumented)
}

/// The original was accepted, and probes keep to the language: this should not happen.
fn refused(opened: &Opened, error: &CantOpen) -> Measurement {
    let reason = error.diagnostics.first().map_or("", |diagnostic| diagnostic.message.as_str());
    let diagnostic = Diagnostic::error(format!("the model with probes is invalid: {reason}"))
        .note("the fault lies in the probes, not in the model")
        .help("measure without them: `--method direct`");
    let stopped = Some(Stopped::Error(Box::new(diagnostic)));
    let coverage = Coverage::none(opened.map());
    Measurement { coverage, states: 0, transitions: 0, functions: None, stopped }
}

/// A cycle of nothing but probes: without them, it is an endless loop without an action.
fn endless(model: &dyn Model, found: &Exploration, is_probe: &dyn Fn(&str) -> bool) -> Option<Stopped> {
    let lts = &found.lts;
    let probes: Vec<bool> = lts.labels().iter().map(|(_, label)| is_probe(label)).collect();
    let components = lts.components(|_, edge| probes[edge.label.index()]);
    let state = lts.states().find(|&state| {
        let inside = |edge: &Edge| components.of(edge.target) == components.of(state);
        lts.outgoing(state).iter().any(|edge| probes[edge.label.index()] && inside(edge))
    })?;
    let error = ModelError {
        message: "this keeps running without an action: is it an endless loop?".to_owned(),
        span: None,
        help: None,
        during: None,
    };
    Some(error_after(model, found, &error, Some(state), is_probe))
}

/// Whether a label is that of a probe on a gate.
pub(crate) fn is_probe(label: &str, gate: &str) -> bool {
    label.split(' ').next() == Some(gate)
}

/// Adds what a label shows: `PROBE !"B3"`, `PROBE !"B3" !1`, `PROBE !"D2" !TRUE`, `PROBE !"D2" !0`, `PROBE !"A5"`.
fn note(label: &str, gate: &str, coverage: &mut Coverage) {
    let mut words = label.split(" !");
    if words.next() != Some(gate) {
        return;
    }
    let Some(name) = words.next().map(|name| name.trim_matches('"')) else { return };
    let value = words.next();
    let (kind, number) = name.split_at(name.len().min(1));
    let Ok(number) = number.parse::<usize>() else { return };
    match (kind, value) {
        ("B", None | Some("1")) => coverage.blocks[number] = true,
        ("D", Some("TRUE" | "1")) => coverage.decisions[number].yes = true,
        ("D", Some("FALSE" | "0")) => coverage.decisions[number].no = true,
        ("A", _) => coverage.actions[number] = true,
        _ => {}
    }
}
