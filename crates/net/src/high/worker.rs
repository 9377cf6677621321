//! Computes the steps out of markings on one thread.

use lnt::data::Evaluator;
use lts::{LabelId, OriginId};
use model::{LocalRows, ModelError, Slot, Step, Worker};

use super::concurrent::{Member, can_join};
use super::fire::{Effect, effect, fire};
use super::model::HighModel;
use super::search::{Mode, Present, compare_modes, modes};

/// After this many bindings that the arcs allow, a guard that was never false is believed to be true in a marking.
const MOST_BINDINGS: usize = 1 << 20;

/// One thread's work.
pub(super) struct HighWorker<'a> {
    pub model: &'a HighModel,
    pub evaluator: Evaluator<'a>,
    multisets: LocalRows<'a>,
    labels: LocalRows<'a>,
    origins: LocalRows<'a>,
    pub present: Present,
    changed: Vec<(usize, Vec<(u32, u32)>)>,
    target: Vec<Slot>,
}

impl<'a> HighWorker<'a> {
    pub fn new(model: &'a HighModel) -> Self {
        Self {
            model,
            evaluator: model.net.data.evaluator(),
            multisets: model.multisets.local(),
            labels: model.labels.local(),
            origins: model.provenance.origins().local(),
            present: Present::default(),
            changed: Vec::new(),
            target: Vec::new(),
        }
    }

    /// Looks up the tokens of a marking.
    pub fn enter(&mut self, state: &[Slot]) {
        self.present.tokens.resize(state.len(), Vec::new());
        for ((place, &slot), tokens) in self.model.net.places.iter().zip(state).zip(&mut self.present.tokens)
        {
            tokens.clear();
            if place.sorts.is_empty() {
                tokens.extend((slot > 0).then_some((0, slot)));
            } else {
                let row = self.multisets.row(slot);
                tokens.extend(row.chunks_exact(2).map(|pair| (pair[0], pair[1])));
            }
        }
    }

    /// The slot of a place with these tokens.
    pub fn slot(&mut self, place: usize, tokens: &[(u32, u32)]) -> Slot {
        if self.model.net.places[place].sorts.is_empty() {
            return tokens.first().map_or(0, |&(_, count)| count);
        }
        let row: Vec<u32> = tokens.iter().flat_map(|&(token, count)| [token, count]).collect();
        self.multisets.intern(&row)
    }

    /// The modes of a transition in the marking at hand, in order, each once.
    pub fn modes(&mut self, transition: usize) -> Vec<Mode> {
        let net = &self.model.net;
        let mut all = Vec::new();
        modes(net, transition, true, &self.present, &mut self.evaluator, &mut |_, mode| {
            all.push(mode);
            true
        });
        all.sort_by(|a, b| compare_modes(net, &self.evaluator, a, b));
        all.dedup_by(|again, first| {
            again.error.is_none()
                && first.error.is_none()
                && (&again.binding, &again.takes, &again.reads)
                    == (&first.binding, &first.takes, &first.reads)
        });
        all
    }

    /// What a mode changes, or the error that it leads to.
    pub fn effect(&mut self, mode: &Mode) -> Result<Effect, ModelError> {
        if let Some(error) = &mode.error {
            return Err(error.clone());
        }
        effect(&self.model.net, &mut self.evaluator, mode, &self.present).map_err(|mut error| {
            error.during = Some(self.label(&[mode]));
            error
        })
    }

    /// The label of modes that fire together.
    pub fn label(&mut self, modes: &[&Mode]) -> LabelId {
        let mut row = Vec::new();
        for mode in modes {
            row.push(mode.transition as u32);
            row.extend_from_slice(&mode.binding);
        }
        LabelId::new(self.labels.intern(&row) as usize + 1)
    }

    fn origin(&mut self, modes: &[&Mode]) -> OriginId {
        let mut marks: Vec<u32> = Vec::new();
        for mode in modes {
            let action = self.model.action_marks[mode.transition];
            marks.push(action);
            // The outcomes of guards lie behind the transition, true ones first.
            let guards = self.model.net.transitions[mode.transition].guards.len() as u32;
            marks.extend((0..guards).map(|guard| action + 1 + 2 * guard));
        }
        marks.sort_unstable();
        marks.dedup();
        OriginId::from_raw(self.origins.intern(&marks))
    }

    /// The state that effects together lead to.
    pub fn target(&mut self, state: &[Slot], effects: &[&Effect]) -> Result<&[Slot], ModelError> {
        let mut changed = std::mem::take(&mut self.changed);
        let fired = fire(&self.model.net, effects, &self.present, &mut changed);
        self.target.clear();
        self.target.extend_from_slice(state);
        for (place, tokens) in &changed {
            self.target[*place] = self.slot(*place, tokens);
        }
        self.changed = changed;
        fired.map(|()| self.target.as_slice())
    }

    fn emit(
        &mut self,
        state: &[Slot],
        members: &[&Member],
        emit: &mut dyn FnMut(Step<'_>),
    ) -> Result<(), ModelError> {
        let modes: Vec<&Mode> = members.iter().map(|member| &member.mode).collect();
        let effects: Vec<&Effect> = members.iter().map(|member| &member.effect).collect();
        let (label, origin) = (self.label(&modes), self.origin(&modes));
        let target = self.target(state, &effects).map_err(|mut error| {
            error.during = Some(label);
            error
        })?;
        emit(Step { label, target, origin });
        Ok(())
    }

    /// Emits every set of modes that can fire together, the first ones first.
    fn sets(
        &mut self,
        state: &[Slot],
        all: &[Member],
        emit: &mut dyn FnMut(Step<'_>),
    ) -> Result<(), ModelError> {
        // The members of the set at hand, by position.
        let mut chosen: Vec<usize> = Vec::new();
        let mut next = 0;
        loop {
            if next < all.len() && chosen.len() < self.model.degree {
                let members: Vec<&Member> = chosen.iter().map(|&at| &all[at]).collect();
                if can_join(&self.present, &members, &all[next]) {
                    chosen.push(next);
                    let members: Vec<&Member> = chosen.iter().map(|&at| &all[at]).collect();
                    self.emit(state, &members, emit)?;
                }
                next += 1;
            } else {
                match chosen.pop() {
                    Some(last) => next = last + 1,
                    None => return Ok(()),
                }
            }
        }
    }
}

impl Worker for HighWorker<'_> {
    fn successors(&mut self, state: &[Slot], emit: &mut dyn FnMut(Step<'_>)) -> Result<(), ModelError> {
        self.enter(state);
        let mut all = Vec::new();
        for transition in 0..self.model.net.transitions.len() {
            for mode in self.modes(transition) {
                let effect = self.effect(&mode)?;
                let member = Member { mode, effect };
                if self.model.degree > 1 {
                    all.push(member);
                } else {
                    self.emit(state, &[&member], emit)?;
                }
            }
        }
        self.sets(state, &all, emit)
    }

    /// Guards are evaluated wherever the arcs of their transition allow it.
    fn executed(&mut self, state: &[Slot], emit: &mut dyn FnMut(OriginId)) -> Result<(), ModelError> {
        self.enter(state);
        for transition in 0..self.model.net.transitions.len() {
            let first = self.model.action_marks[transition] + 1;
            for (guard, is_false) in self.false_guards(transition).into_iter().enumerate() {
                if is_false {
                    let mark = first + 2 * guard as u32 + 1;
                    emit(OriginId::from_raw(self.origins.intern(&[mark])));
                }
            }
        }
        Ok(())
    }
}

impl HighWorker<'_> {
    /// Which guards of a transition are false for some binding that its arcs allow.
    fn false_guards(&mut self, transition: usize) -> Vec<bool> {
        let net = &self.model.net;
        let guards = &net.transitions[transition].guards;
        let mut is_false = vec![false; guards.len()];
        if guards.is_empty() {
            return is_false;
        }
        let mut left = MOST_BINDINGS;
        modes(net, transition, false, &self.present, &mut self.evaluator, &mut |evaluator, mode| {
            if mode.error.is_none() {
                for (guard, is_false) in guards.iter().zip(&mut is_false).filter(|(_, known)| !**known) {
                    let mut conjuncts = guard.conjuncts.iter();
                    *is_false = conjuncts.any(|function| evaluator.call(function, &mode.binding) == Ok(0));
                }
            }
            left -= 1;
            left > 0 && is_false.contains(&false)
        });
        is_false
    }
}
