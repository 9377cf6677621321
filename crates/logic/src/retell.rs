//! Where the steps of a run come from, asked afterwards: a model that need not tell is searched faster.

use lts::{LabelId, OriginId};
use model::{Model, ModelError, Slot};
use rustc_hash::FxHashMap;

use crate::verdict::Step;

/// A state that a run may have reached: the state of the layer before that it was reached from, and by what.
struct Reached {
    state: Vec<Slot>,
    before: usize,
    origin: OriginId,
}

/// The origins of the steps of a run of `model`, told by `telling`, which is the same model made to know them. States of
/// the two may be numbered differently; they are the same where people would say so, and where several could be meant,
/// one is taken from which the rest of the run is possible. Nothing where the models are not the same.
pub fn origins(
    run: &[&Step],
    model: &dyn Model,
    telling: &dyn Model,
) -> Result<Option<Vec<OriginId>>, ModelError> {
    let mut worker = telling.worker();
    let mut labels: FxHashMap<LabelId, String> = FxHashMap::default();
    let first = Reached { state: telling.initial()?, before: 0, origin: telling.initial_origin() };
    let mut layers: Vec<Vec<Reached>> = vec![vec![first]];
    for step in run {
        let expected = step.slots.as_ref().map(|slots| model.parts(slots));
        let mut next: Vec<Reached> = Vec::new();
        for (before, reached) in layers[layers.len() - 1].iter().enumerate() {
            worker.successors(&reached.state, &mut |found| {
                let label = labels.entry(found.label).or_insert_with(|| telling.label(found.label));
                let is_new = || next.iter().all(|known| known.state != found.target);
                let is_meant =
                    || expected.as_ref().is_none_or(|expected| telling.parts(found.target) == *expected);
                if *label == step.label && is_new() && is_meant() {
                    next.push(Reached { state: found.target.to_vec(), before, origin: found.origin });
                }
            })?;
        }
        if next.is_empty() {
            return Ok(None);
        }
        layers.push(next);
    }
    let mut at = 0;
    let back = layers[1..].iter().rev().map(|layer| {
        let reached = &layer[at];
        at = reached.before;
        reached.origin
    });
    let mut origins: Vec<OriginId> = back.collect();
    origins.reverse();
    Ok(Some(origins))
}
