//! A walk as a table: who takes part in each step and which values it changes, as `explain` tells it.

use explain::Kind;
use lts::{LabelId, StateId};
use report::{ExplainedStep, Explanation, InstanceValues, Lanes, Waiting};
use serde::{Deserialize, Serialize};
use views::Inside;

use crate::answers::{NoAnswer, tag_word};
use crate::opening::Opened;
use crate::picture::NONE;

/// The most steps of a table; a page asks for a part of a longer walk.
const MOST_STEPS: usize = 1_000;

/// A part of a walk: where it starts, and its transitions.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Walked {
    /// The node.
    pub start: u32,
    /// The transitions, one after the other.
    pub edges: Vec<u32>,
}

/// What there is to say of a walk.
#[derive(Serialize)]
pub struct Trace {
    /// Step by step; of a very long walk the first ones.
    steps: Vec<ExplainedStep>,
    lanes: Lanes,
    /// The variables by instance, at the start and after each step, with what it changed.
    states: Vec<Vec<InstanceValues>>,
    /// Where processes stand at the end, where nothing can happen any more.
    waiting: Vec<Waiting>,
    waiting_cycle: Option<Vec<String>>,
}

/// The table of a walk.
pub fn trace(opened: &Opened, walked: &Walked) -> Result<Trace, NoAnswer> {
    let (picture, system) = (&opened.picture, opened.subject.lts());
    let edges: Vec<usize> = walked.edges.iter().take(MOST_STEPS).map(|&edge| edge as usize).collect();
    let &first = picture.states.get(walked.start as usize).ok_or(NoAnswer::NotAWalk)?;
    let mut here = walked.start;
    for &at in &edges {
        if picture.sources.get(at) != Some(&here) {
            return Err(NoAnswer::NotAWalk);
        }
        here = picture.targets[at];
    }
    let origin = opened.subject.origin();
    let label = |at: usize| system.label(LabelId::from_raw(picture.labels[at]));
    let step = |&at: &usize| ExplainedStep {
        label: label(at).to_owned(),
        tag: tag_word(picture.tags[at]),
        matters: picture.matters(at),
        leaves: picture.kinds[picture.sources[at] as usize]
            .checked_sub(1)
            .map(|kind| Kind::ALL[usize::from(kind)].key()),
        changes: Vec::new(),
        values: Vec::new(),
        actions: origin
            .map(|origin| origin.actions_of(system.origin(picture.system_edges[at] as usize)))
            .unwrap_or_default(),
    };
    let mut told = Explanation { steps: edges.iter().map(step).collect(), ..Explanation::default() };
    let mut states = Vec::new();
    // The sink stands for many states, and nothing leaves it.
    if let Some(origin) = origin.filter(|_| first != NONE) {
        let after = edges.iter().map(|&at| system.edges()[picture.system_edges[at] as usize].target);
        let numbers: Vec<StateId> = std::iter::once(StateId::from_raw(first)).chain(after).collect();
        let labels: Vec<&str> = edges.iter().map(|&at| label(at)).collect();
        let inside = Inside::along(system, &numbers, &labels, true, origin);
        inside.add_to(&mut told, origin, false);
        states = inside.instances();
    }
    Ok(Trace {
        lanes: Lanes::of(&told.steps),
        steps: told.steps,
        states,
        waiting: told.waiting,
        waiting_cycle: told.waiting_cycle,
    })
}
