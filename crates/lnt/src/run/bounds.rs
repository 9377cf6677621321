//! Bounds that guards set on what is received: nothing outside of these has to be tried.

use crate::compile::Compiled;
use crate::compile::code::OfferCode;
use crate::run::rendezvous::{Leg, Participant};
use crate::run::successors::patterns_never_fail;
use crate::run::symbolic::{Path, Word, having_received, necessary, received};
use crate::typed::TypeId;

/// A bound on a value: a word, or what a slot has, or what one of some slots has, or some bits of a slot, or how many elements a
/// slot's collection has, unless these are too many to be told: then whoever asks fails, whatever the value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    Word(u32),
    Slot(u32),
    OneOf(u32, u32),
    Bits { slot: u32, shift: u32, mask: u32 },
    Length { slot: u32, ty: TypeId, upper: u32 },
}

impl Bound {
    /// The least and the greatest word that it may be, by what bounds on single slots are; nothing if that can't be told.
    fn words(self, word: impl Fn(Bound) -> u32) -> Option<(u32, u32)> {
        Some(match self {
            Bound::Word(word) => (word, word),
            Bound::OneOf(first, count) => (first..first + count)
                .map(|slot| word(Bound::Slot(slot)))
                .fold((u32::MAX, 0), |(least, most), word| (least.min(word), most.max(word))),
            Bound::Length { upper, .. } => match word(self) {
                length if length <= upper => (length, length),
                _ => return None,
            },
            bound => (word(bound), word(bound)),
        })
    }
}

/// What guards say of an open value, word by word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// It is less than these, or at most these.
    pub below: Vec<Bound>,
    pub most: Vec<Bound>,
    /// It is greater than these, or at least these.
    pub above: Vec<Bound>,
    pub least: Vec<Bound>,
}

impl Bounds {
    /// The least and the greatest word that are left of a range; nothing if there is none. Told is what bounds on slots are.
    pub fn narrow(
        &self,
        (mut first, mut last): (u32, u32),
        word: impl Fn(Bound) -> u32,
    ) -> Option<(u32, u32)> {
        let words = |bound: &Bound| bound.words(&word);
        for (_, most) in self.below.iter().filter_map(words) {
            last = last.min(most.checked_sub(1)?);
        }
        for (least, _) in self.above.iter().filter_map(words) {
            first = first.max(least.checked_add(1)?);
        }
        last = self.most.iter().filter_map(words).fold(last, |last, (_, most)| last.min(most));
        first = self.least.iter().filter_map(words).fold(first, |first, (least, _)| first.max(least));
        (first <= last).then_some((first, last))
    }

    /// Those that are the same in all states.
    pub fn fixed(&self) -> Self {
        self.those(|bound| matches!(bound, Bound::Word(_)))
    }

    /// Those that depend on the state.
    pub fn varying(&self) -> Self {
        self.those(|bound| !matches!(bound, Bound::Word(_)))
    }

    /// Those that are wanted.
    pub fn those(&self, wanted: impl Fn(&Bound) -> bool) -> Self {
        let those = |bounds: &[Bound]| bounds.iter().copied().filter(&wanted).collect();
        Bounds {
            below: those(&self.below),
            most: those(&self.most),
            above: those(&self.above),
            least: those(&self.least),
        }
    }

    /// Whether they are the same in all states.
    pub fn are_fixed(&self) -> bool {
        let mut all = [&self.below, &self.most, &self.above, &self.least].into_iter().flatten();
        all.all(|bound| matches!(bound, Bound::Word(_)))
    }

    /// Adds what a condition on a word says. `fixed` tells whether a slot stays as it is.
    pub fn learn(&mut self, condition: &Word, own: &Word, fixed: impl Fn(u32) -> bool) {
        let bound = |word: &Word| match *word {
            Word::Constant(value) => Some(Bound::Word(value)),
            Word::Slot(slot) if fixed(slot) => Some(Bound::Slot(slot)),
            Word::Bits(slot, shift, mask) if fixed(slot) => Some(Bound::Bits { slot, shift, mask }),
            Word::Length { slot, ty, upper } if fixed(slot) => Some(Bound::Length { slot, ty, upper }),
            Word::OneOf(first, count, ..) => {
                (first..first + count).all(&fixed).then_some(Bound::OneOf(first, count))
            }
            _ => None,
        };
        let (words, below, above) = match condition {
            Word::Less(words) => (words, &mut self.below, &mut self.above),
            Word::LessEqual(words) => (words, &mut self.most, &mut self.least),
            Word::Equal(words) => {
                let other = if words.0 == *own { bound(&words.1) } else { bound(&words.0) };
                if words.0 == *own || words.1 == *own {
                    self.most.extend(other);
                    self.least.extend(other);
                }
                return;
            }
            _ => return,
        };
        if words.0 == *own {
            below.extend(bound(&words.1));
        } else if words.1 == *own {
            above.extend(bound(&words.0));
        }
    }
}

/// What guards say of each open place, if anything.
pub fn bounds(compiled: &Compiled, participants: &[Participant], open: &[u32]) -> Vec<Bounds> {
    let (code, types) = (&compiled.code, &compiled.types);
    let mut found = vec![Bounds::default(); open.len()];
    let action = |one: &Participant| &code.actions[one.action as usize];
    // What silent ways do to slots is not known.
    let are_kept = participants.iter().all(|one| one.way.is_empty());
    // What a participant refuses is no error of another's.
    for one in participants.iter().filter(|one| patterns_never_fail(code, action(one))) {
        let Some(guard) = action(one).guard else { continue };
        let offers = &action(one).offers;
        let Some(path) = having_received(code, types, offers) else { continue };
        let Some(conditions) = necessary(code, types, Path { at: guard, ..path }, offers) else { continue };
        let is_fixed = |slot: u32| {
            are_kept
                && participants.iter().flat_map(|one| &action(one).offers).all(|&(offer, ty)| match offer {
                    OfferCode::Variable(first) => !(first..first + types[ty.index()].words()).contains(&slot),
                    OfferCode::Pattern { .. } => false,
                    _ => true,
                })
        };
        for (bounds, &place) in found.iter_mut().zip(open) {
            let ty = offers[place as usize].1;
            if types[ty.index()].ordered && types[ty.index()].words() == 1 {
                for own in received(types, place as usize, ty) {
                    conditions.iter().for_each(|condition| bounds.learn(condition, &own, is_fixed));
                }
            }
        }
    }
    found
}

/// The least and the greatest word of each open place that guards of actions leave, whatever the state is.
pub fn constant_bounds(compiled: &Compiled, actions: &[u32], open: &[u32]) -> Vec<(u32, u32)> {
    // As if something happened before them, so that no slot says anything.
    let way = vec![Leg { from: 0, to: 0 }];
    let participant = |&action: &u32| Participant {
        region: 0,
        location: 0,
        way: way.clone(),
        lost: Vec::new(),
        action,
        address: 0,
    };
    let participants: Vec<Participant> = actions.iter().map(participant).collect();
    let all = (0, u32::MAX);
    // Where nothing is left, no word does.
    let narrow = |bounds: &Bounds| bounds.narrow(all, |_| 0).unwrap_or((1, 0));
    bounds(compiled, &participants, open).iter().map(narrow).collect()
}
