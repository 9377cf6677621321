//! Concurrent steps: several transitions fire at once.
//!
//! The sets are searched depth first in the order of transitions: a set that cannot fire has no larger one that can,
//! because takes only add up. `tests/engine.rs` enumerates all subsets instead.

use lts::OriginId;
use model::{LocalRows, ModelError, Slot, Step, Worker};

use super::FlatModel;

/// Steps of one to `degree` transitions.
pub(super) struct Sets<'m> {
    model: &'m FlatModel,
    enabled: Vec<usize>,
    /// The transitions of the step, as positions in `enabled`.
    members: Vec<usize>,
    labels: LocalRows<'m>,
    origins: LocalRows<'m>,
    row: Vec<u32>,
    target: Vec<Slot>,
    /// By place, over the members: tokens taken, the most that is read besides what the reader takes itself, tokens
    /// put, and how many members empty the place.
    sums: Vec<Sum>,
}

#[derive(Clone, Copy, Default)]
struct Sum {
    take: u64,
    read: u64,
    put: u64,
    resets: u32,
    /// How many members take or read.
    users: u32,
}

impl<'m> Sets<'m> {
    pub(super) fn new(model: &'m FlatModel) -> Self {
        Self {
            model,
            enabled: Vec::new(),
            members: Vec::new(),
            labels: model.sets.local(),
            origins: model.provenance.origins().local(),
            row: Vec::new(),
            target: vec![0; model.flat.places.len()],
            sums: vec![Sum::default(); model.flat.places.len()],
        }
    }

    /// Adds a transition to the step if they can all fire together.
    fn join(&mut self, state: &[Slot], position: usize) -> bool {
        let rule = &self.model.rules[self.enabled[position]];
        let fits = rule.effects.iter().all(|effect| {
            let sum = self.sums[effect.place];
            let uses = effect.need() > 0;
            let take = sum.take.saturating_add(effect.take);
            let need = take.saturating_add(sum.read.max(effect.read));
            // What one member empties is gone for the others.
            let spoils = (sum.resets > 0 && uses) || (effect.reset && sum.users > 0);
            need <= u64::from(state[effect.place]) && !spoils
        });
        if fits {
            self.members.push(position);
            self.sum_up();
        }
        fits
    }

    fn leave(&mut self) {
        let rule = &self.model.rules[self.enabled[self.members[self.members.len() - 1]]];
        rule.effects.iter().for_each(|effect| self.sums[effect.place] = Sum::default());
        self.members.pop();
        self.sum_up();
    }

    /// Computes the sums of the places of all members anew: there are few.
    fn sum_up(&mut self) {
        let rules = &self.model.rules;
        for &member in &self.members {
            rules[self.enabled[member]]
                .effects
                .iter()
                .for_each(|effect| self.sums[effect.place] = Sum::default());
        }
        for &member in &self.members {
            for effect in &rules[self.enabled[member]].effects {
                let sum = &mut self.sums[effect.place];
                sum.take = sum.take.saturating_add(effect.take);
                sum.read = sum.read.max(effect.read);
                sum.put = sum.put.saturating_add(effect.put);
                sum.resets += u32::from(effect.reset);
                sum.users += u32::from(effect.need() > 0);
            }
        }
    }

    fn emit(&mut self, state: &[Slot], emit: &mut dyn FnMut(Step<'_>)) -> Result<(), ModelError> {
        let Self { model, enabled, members, labels, origins, row, target, sums } = self;
        row.clear();
        row.extend(members.iter().map(|&member| model.label_of[enabled[member]]));
        let label = lts::LabelId::from_raw(labels.intern(row));
        row.clear();
        row.extend(members.iter().map(|&member| model.flat.transitions[enabled[member]].of as u32));
        row.sort_unstable();
        row.dedup();
        let origin = OriginId::from_raw(origins.intern(row));
        target.copy_from_slice(state);
        for &member in &*members {
            for effect in &model.rules[enabled[member]].effects {
                let sum = sums[effect.place];
                let kept = if sum.resets > 0 { 0 } else { u64::from(state[effect.place]) - sum.take };
                let tokens = kept.saturating_add(sum.put);
                let tokens = if effect.is_set { tokens.min(1) } else { tokens };
                target[effect.place] =
                    u32::try_from(tokens).map_err(|_| model.too_many(effect.place, label))?;
            }
        }
        emit(Step { label, target, origin });
        Ok(())
    }
}

impl Worker for Sets<'_> {
    fn successors(&mut self, state: &[Slot], emit: &mut dyn FnMut(Step<'_>)) -> Result<(), ModelError> {
        while !self.members.is_empty() {
            self.leave();
        }
        self.enabled = self.model.enabled(state);
        let mut next = 0;
        loop {
            if next < self.enabled.len() && self.members.len() < self.model.degree {
                if self.join(state, next) {
                    self.emit(state, emit)?;
                }
                next += 1;
                continue;
            }
            let Some(&last) = self.members.last() else { return Ok(()) };
            self.leave();
            next = last + 1;
        }
    }
}
