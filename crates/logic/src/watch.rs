//! Checking a property that single runs decide while a model is explored: breadth first, on all threads, without
//! keeping steps. It costs what the exploration of the product with the property's monitor costs, and where the property
//! has nothing to remember, the product is as large as the model.

use explore::{Exploration, Limits, Outcome, explore};
use lts::{Progress, StateId};
use model::{Model, Slot};

use crate::equations::Equations;
use crate::monitor::{ACCEPTED, Monitor};
use crate::product::{End, LastStep, Product};
use crate::shape::Class;
use crate::solve::Options;
use crate::system::Stop;
use crate::verdict::{CheckError, Explanation, Method, Searched, Step, Verdict};

/// How many bits a position has where it is not known how many there are, at first and if that is not enough.
const BITS: [u32; 2] = [16, 31];

/// What a search found, and what it saw.
struct Found {
    run: Option<Vec<Step>>,
    states: usize,
    labels: Option<Vec<String>>,
}

/// Searches for a run that equations accept. None where the formula has more instances than allowed: which come first
/// depends on threads, so that is left to a search that has none.
pub(crate) fn watch(
    model: &dyn Model,
    equations: &Equations,
    class: &[Class],
    negated: bool,
    options: &Options,
    progress: &Progress,
) -> Result<Option<Verdict>, CheckError> {
    model.initial().map_err(|error| Stop::Model { error, state: None })?;
    let monitor = match Monitor::new(equations, class, options.max_instances) {
        Err(CheckError::Unbounded(limit)) if limit == options.max_instances => return Ok(None),
        monitor => monitor?,
    };
    let found = match monitor.root() {
        None => Found { run: None, states: 1, labels: None },
        Some(ACCEPTED) => Found { run: Some(Vec::new()), states: 1, labels: None },
        Some(_) => match search(model, &monitor, negated, options, progress) {
            Err(CheckError::Unbounded(limit)) if limit == options.max_instances => return Ok(None),
            found => found?,
        },
    };
    Ok(Some(Verdict {
        holds: found.run.is_some() != negated,
        explanation: found.run.filter(|_| options.explain).map(Explanation::Trace),
        states_visited: found.states,
        method: Method::Automaton,
        labels: found.labels,
    }))
}

fn search(
    model: &dyn Model,
    monitor: &Monitor,
    negated: bool,
    options: &Options,
    progress: &Progress,
) -> Result<Found, CheckError> {
    let limits = Limits {
        // One more, because the step to the state that is too many was looked at as well.
        states: options.max_states.saturating_add(1),
        threads: options.threads,
        transitions: false,
        ..Limits::default()
    };
    let enough = monitor.count().map(|count| usize::BITS - (count - 1).leading_zeros());
    let widths = enough.map_or(BITS.to_vec(), |bits| vec![bits]);
    for bits in widths {
        let product = Product::new(model, monitor, bits);
        let found = explore(&product, &limits, progress);
        let states = found.states();
        let stopped = |stop: Stop, trace: Vec<Step>| {
            let steps = looked_at(&found, monitor);
            let searched = steps.map(|steps| Box::new(Searched { steps, violations: negated }));
            CheckError::Stopped { stop, trace: trace.into(), states_visited: states, searched }
        };
        match &found.outcome {
            Outcome::Complete => {
                let labels = (!monitor.has_left_out()).then(|| found.label_texts());
                return Ok(Found { run: None, states, labels });
            }
            // Without transitions, memory ends where numbers do.
            Outcome::StateLimit | Outcome::MemoryLimit | Outcome::DiskFailed(_) => {
                return Err(stopped(Stop::States(options.max_states.min(states)), Vec::new()));
            }
            Outcome::TimeLimit | Outcome::Cancelled => return Err(stopped(Stop::Cancelled, Vec::new())),
            Outcome::Error { error, state: None } => {
                return Err(stopped(Stop::Model { error: error.clone(), state: None }, Vec::new()));
            }
            Outcome::Error { state: Some(state), .. } => {
                let slots = found.state(&product, *state);
                let run = |last: Option<LastStep>| run_to(&found, &product, *state, last);
                match product.conclude(&slots) {
                    End::Accepted(last) => {
                        return Ok(Found { run: Some(run(last)), states, labels: None });
                    }
                    End::Model(error) => {
                        return Err(stopped(Stop::Model { error, state: Some(*state) }, run(None)));
                    }
                    End::Formula(error) => return Err(error),
                    End::Full => {}
                }
            }
        }
    }
    // More positions than any number of bits could tell apart.
    Err(CheckError::Unbounded(options.max_instances))
}

/// Up to which length all runs were looked at.
fn looked_at(found: &Exploration, monitor: &Monitor) -> Option<usize> {
    let next = found.statistics.expanded;
    let distance = if next < found.states() { found.distance(StateId::new(next)) } else { 0 };
    // What a state itself decides is known once its steps were computed.
    match monitor.at_steps() {
        true => Some(distance),
        false => distance.checked_sub(1),
    }
}

/// The run to a state of the product, with one step more if there is one. A state of the model has one number, that of
/// the first state of the run that it is part of.
fn run_to(found: &Exploration, product: &Product<'_>, state: StateId, last: Option<LastStep>) -> Vec<Step> {
    let width = product.width();
    let mut known: Vec<(StateId, Box<[Slot]>)> = Vec::new();
    let mut number = |slots: &[Slot], state: StateId| match known.iter().find(|(_, known)| **known == *slots)
    {
        Some((known, _)) => *known,
        None => {
            known.push((state, slots.into()));
            state
        }
    };
    let slots_of = |state: StateId| found.state(product, state)[..width].to_vec();
    let mut at = number(&slots_of(StateId::new(0)), StateId::new(0));
    let mut run = Vec::new();
    let mut go = |label, origin, slots: Vec<Slot>, target| {
        let target = number(&slots, target);
        let label = model::Model::label(product, label);
        run.push(Step { source: at, label, target, slots: Some(slots.into()), origin: Some(origin) });
        at = target;
    };
    // Whoever explored a state computes its steps again; an error now would be a different model.
    for step in found.trace_to(product, state).unwrap_or_default() {
        go(step.label, step.origin, slots_of(step.target), step.target);
    }
    if let Some(last) = last {
        go(last.label, last.origin, last.target, StateId::new(found.states()));
    }
    run
}

#[cfg(test)]
mod tests;
