//! Walks: single runs of a model, drawn at random or led by labels.

use lts::{Chance, LabelId, OriginId};
use model::{Model, ModelError, Slot, Worker};

/// A run that grows step by step.
///
/// Where it goes depends on its seed and on the order of the model's steps only.
pub struct Walk<'m> {
    worker: Box<dyn Worker + 'm>,
    chance: Chance,
    state: Vec<Slot>,
}

/// A step of a walk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalkStep {
    /// What happens, as the model numbers it.
    pub label: LabelId,
    /// Where it comes from.
    pub origin: OriginId,
    /// The state after it.
    pub target: Vec<Slot>,
}

impl<'m> Walk<'m> {
    /// Starts in the initial state.
    pub fn new(model: &'m dyn Model, seed: u64) -> Result<Self, ModelError> {
        Ok(Self { worker: model.worker(), chance: Chance::new(seed), state: model.initial()? })
    }

    /// Where it is.
    pub fn state(&self) -> &[Slot] {
        &self.state
    }

    /// Takes one of the steps that are possible, each as likely as any other; nothing in a deadlock.
    pub fn step(&mut self) -> Result<Option<WalkStep>, ModelError> {
        let mut steps = steps_of(&mut *self.worker, &self.state)?;
        if steps.is_empty() {
            return Ok(None);
        }
        let chosen = steps.swap_remove(self.chance.below(steps.len()));
        self.state.clone_from(&chosen.target);
        Ok(Some(chosen))
    }
}

/// The different steps of a state, in the order of the source.
fn steps_of(worker: &mut (dyn Worker + '_), state: &[Slot]) -> Result<Vec<WalkStep>, ModelError> {
    let mut steps: Vec<WalkStep> = Vec::new();
    worker.successors(state, &mut |step| {
        let known = |one: &WalkStep| one.label == step.label && one.target == step.target;
        if !steps.iter().any(known) {
            steps.push(WalkStep { label: step.label, origin: step.origin, target: step.target.to_vec() });
        }
    })?;
    Ok(steps)
}

/// Why labels are not those of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotARun {
    /// After so many of them, the next one is not possible; these are.
    Stuck {
        /// How many could be followed.
        followed: usize,
        /// The labels of the steps that are possible there, in order, without repetitions.
        possible: Vec<String>,
    },
    /// The model made an error.
    Error(ModelError),
}

/// The steps of a run that shows these labels, from the initial state. Where several do, the first in the order of the
/// model's steps that can be followed to the end. Every step counts, internal ones as well.
pub fn guided(model: &dyn Model, labels: &[String]) -> Result<Vec<WalkStep>, NotARun> {
    let mut worker = model.worker();
    // The states that the labels so far lead to, each with the step to it and the place of its predecessor.
    let mut levels: Vec<Vec<(Option<WalkStep>, usize)>> = Vec::with_capacity(labels.len() + 1);
    let initial = model.initial().map_err(NotARun::Error)?;
    levels.push(vec![(None, 0)]);
    for (followed, wanted) in labels.iter().enumerate() {
        let mut next: Vec<(Option<WalkStep>, usize)> = Vec::new();
        let mut possible: Vec<String> = Vec::new();
        for (place, (step, _)) in levels[followed].iter().enumerate() {
            let state = step.as_ref().map_or(&initial, |step| &step.target);
            for step in steps_of(&mut *worker, state).map_err(NotARun::Error)? {
                let text = model.label(step.label);
                let is_new = |known: &(Option<WalkStep>, usize)| {
                    known.0.as_ref().is_none_or(|known| known.target != step.target)
                };
                if text == *wanted && next.iter().all(is_new) {
                    next.push((Some(step), place));
                } else if text != *wanted && !possible.contains(&text) {
                    possible.push(text);
                }
            }
        }
        if next.is_empty() {
            return Err(NotARun::Stuck { followed, possible });
        }
        levels.push(next);
    }
    let mut run = Vec::with_capacity(labels.len());
    let mut place = 0;
    while let Some(mut level) = levels.pop() {
        let (step, before) = level.swap_remove(place);
        run.extend(step);
        place = before;
    }
    run.reverse();
    Ok(run)
}
