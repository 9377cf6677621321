//! An offer that arrived at the root happens: values are fixed, and every region that took part runs on.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use lts::{LabelId, OriginId};
use model::{ModelError, Slot, Step};
use rustc_hash::FxHashMap;

use super::memory::Effect;
use super::{KnownLabel, KnownOrigin, LntWorker, NO_TRAIL, OPEN, ORIGIN_MARKS, Offer, Part, Sink};
use crate::compile::code::{OfferCode, Op};
use crate::run::bounds::constant_bounds;
use crate::run::domains::{domain, pattern_domain};
use crate::run::flows::summary_mark;
use crate::run::machine::Halt;
use crate::run::rest::{advance, rest};
use crate::run::shortcuts::Next;
use crate::run::values::Words;
use crate::typed::TypeId;

/// A place of an offer that nobody fixed: what it may be, and which of these it is now.
pub(super) struct OpenPlace {
    place: usize,
    domain: Arc<[u32]>,
    at: usize,
    /// The first of the domain that it may be, and the one behind the last.
    within: Range<usize>,
}

/// The least and the greatest word of each open place that guards leave, by the actions of an offer.
pub(super) type Narrowed = FxHashMap<Vec<u32>, Arc<[(u32, u32)]>>;

impl LntWorker<'_> {
    /// Lets an offer happen, once for every choice of the values that nobody fixed.
    #[inline]
    pub(super) fn complete(&mut self, offer: Offer, sink: &mut impl Sink) -> Result<(), ModelError> {
        if offer.parts.1 == 2 && self.memory.is_some() {
            return self.complete_pair(offer, sink);
        }
        self.complete_any(offer, sink)
    }

    pub(super) fn complete_any(&mut self, offer: Offer, sink: &mut impl Sink) -> Result<(), ModelError> {
        if !self.is_open(&offer) {
            return self.happen(offer, sink);
        }
        let mut open = std::mem::take(&mut self.open);
        open.clear();
        let result = self.complete_open(offer, &mut open, sink);
        self.open = open;
        result
    }

    fn complete_open(
        &mut self,
        offer: Offer,
        open: &mut Vec<OpenPlace>,
        sink: &mut impl Sink,
    ) -> Result<(), ModelError> {
        if self.model.narrowing {
            let mut candidates = std::mem::take(&mut self.candidates);
            let result = match self.candidates(offer, &mut candidates) {
                Ok(false) => None,
                Ok(true) => Some(self.complete_candidates(offer, &candidates, sink)),
                Err(error) => Some(Err(error)),
            };
            self.candidates = candidates;
            if let Some(result) = result {
                return result;
            }
        }
        let count = offer.values.1 as usize;
        for place in 0..count {
            if self.value(&offer, place) == OPEN {
                let domain = self.open_domain(offer, place)?;
                let within = 0..domain.len();
                open.push(OpenPlace { place, domain, at: 0, within });
            }
        }
        if self.model.narrowing {
            self.narrow(offer, open);
        }
        if open.iter().any(|one| one.within.is_empty()) {
            return Ok(());
        }
        let product = open.iter().fold(1usize, |product, one| product.saturating_mul(one.within.len()));
        self.note_most(&self.model.tried, offer, product);
        self.tried = self.tried.saturating_add(product);
        // Values that are not in the sketch are completed in place, at the end of the arena.
        let start = self.values.len();
        if !offer.is_short() {
            self.values.extend_from_within(offer.values.0 as usize..offer.values.0 as usize + count);
        }
        let alone = self.part_alone(offer);
        loop {
            let mut closed = Offer { values: (start as u32, offer.values.1), ..offer };
            for one in open.iter() {
                let value = u64::from(one.domain[one.at]);
                closed.note(one.place, value);
                if !closed.is_short() {
                    self.values[start + one.place] = value;
                }
            }
            self.happen_with(alone, closed, sink)?;
            let Some(last) = open.iter().rposition(|one| one.at + 1 < one.within.end) else {
                return Ok(());
            };
            open[last].at += 1;
            open[last + 1..].iter_mut().for_each(|one| one.at = one.within.start);
        }
    }

    /// Leaves out values that guards refuse whatever the state is.
    fn narrow(&mut self, offer: Offer, open: &mut [OpenPlace]) {
        let parts = offer.parts.0 as usize..(offer.parts.0 + offer.parts.1) as usize;
        let mut key: Vec<u32> = self.parts[parts].iter().map(|part| part.action).collect();
        let actions = key.len();
        key.extend(open.iter().map(|one| one.place as u32));
        let compiled = &self.model.compiled;
        let bounds = match self.narrowed.get(&key) {
            Some(known) => known.clone(),
            None => {
                let (actions, places) = key.split_at(actions);
                let found: Arc<[(u32, u32)]> = constant_bounds(compiled, actions, places).into();
                self.narrowed.insert(key, found.clone());
                found
            }
        };
        for (one, &(first, last)) in open.iter_mut().zip(bounds.iter()) {
            if (first, last) != (0, u32::MAX) {
                one.within = one.domain.partition_point(|&word| word < first)
                    ..one.domain.partition_point(|&word| word <= last);
                one.at = one.within.start;
            }
        }
    }

    /// The only part of an offer, if its effect depends on its own region and is not remembered.
    fn part_alone(&mut self, offer: Offer) -> Option<Part> {
        let part = self.parts[offer.parts.0 as usize];
        let alone = offer.parts.1 == 1 && self.memory.is_some() && part.known == 0;
        (alone && matches!(self.effect(part, offer), Effect::Live)).then_some(part)
    }

    /// Lets an offer happen whose only part may be known.
    #[inline]
    fn happen_with(
        &mut self,
        alone: Option<Part>,
        offer: Offer,
        sink: &mut impl Sink,
    ) -> Result<(), ModelError> {
        match alone {
            Some(part) => self.happen_of_one(part, offer, sink),
            None => self.happen(offer, sink),
        }
    }

    /// Notes how many values an offer can take.
    fn note_most(&self, most: &[AtomicU32], offer: Offer, count: usize) {
        note_most(most, self.parts[offer.parts.0 as usize].action, count);
    }

    /// Lets an offer happen once for each candidate: a value for each open place.
    fn complete_candidates(
        &mut self,
        offer: Offer,
        candidates: &[u32],
        sink: &mut impl Sink,
    ) -> Result<(), ModelError> {
        let count = offer.values.1 as usize;
        let places = (0..count).filter(|&place| self.value(&offer, place) == OPEN).count();
        let start = self.values.len();
        if !offer.is_short() {
            self.values.extend_from_within(offer.values.0 as usize..offer.values.0 as usize + count);
        }
        self.note_most(&self.model.named, offer, candidates.len() / places);
        let alone = self.part_alone(offer);
        for candidate in candidates.chunks_exact(places) {
            let mut closed = Offer { values: (start as u32, offer.values.1), ..offer };
            let mut values = candidate.iter();
            for place in 0..count {
                if self.value(&offer, place) != OPEN {
                    continue;
                }
                let Some(&value) = values.next() else { break };
                closed.note(place, u64::from(value));
                if !closed.is_short() {
                    self.values[start + place] = u64::from(value);
                }
            }
            self.happen_with(alone, closed, sink)?;
        }
        Ok(())
    }

    /// The values that an open place may take: those that match a partner's pattern, if one has more than a variable
    /// there, else all of the type.
    fn open_domain(&mut self, offer: Offer, index: usize) -> Result<Arc<[u32]>, ModelError> {
        let code = self.machine.code;
        let parts = offer.parts.0 as usize..(offer.parts.0 + offer.parts.1) as usize;
        for part in &self.parts[parts.clone()] {
            let action = &code.actions[part.action as usize];
            if let (OfferCode::Pattern { pattern, .. }, _) = action.offers[index] {
                return pattern_domain(&mut self.machine, &code.patterns[pattern as usize], action.span);
            }
        }
        let action = &code.actions[self.parts[parts.start].action as usize];
        domain(&mut self.machine, action.offers[index].1, action.span)
    }

    /// One step, all of its values known.
    #[inline]
    fn happen(&mut self, offer: Offer, sink: &mut impl Sink) -> Result<(), ModelError> {
        if self.memory.is_some() && self.recall_step(offer, sink) {
            return Ok(());
        }
        self.unpack();
        self.happen_now(offer, sink)
    }

    /// Applies to the target what a part does silently before its action.
    pub(super) fn start_part(&mut self, part: Part) {
        if let (Some(memory), Some(known)) = (&self.memory, part.known.checked_sub(1)) {
            let known = memory.parts[known as usize];
            for &(slot, value) in &memory.changes[known.changes.0 as usize..known.changes.1 as usize] {
                self.target[slot as usize] = value;
            }
            let marks = &memory.marks[known.marks.0 as usize..known.marks.1 as usize];
            self.machine.marks.extend_from_slice(marks);
        } else if part.snapshot != 0 {
            merge_changes(&mut self.target, &self.snapshots, part.snapshot, self.width);
            let mut trail = self.snapshot_trails[part.snapshot as usize];
            let first = self.machine.marks.len();
            while trail != NO_TRAIL {
                let (mark, before) = self.trails[trail as usize];
                self.machine.marks.push(mark);
                trail = before;
            }
            self.put_in_order(first);
        }
    }

    /// Where the order of marks matters, turns those that were taken from a trail.
    #[inline]
    pub(super) fn put_in_order(&mut self, first: usize) {
        if self.follows {
            self.machine.marks[first..].reverse();
        }
    }

    /// The marks on the way to several parts in the order of their making, what they share only once: branches that
    /// were forked on a silent way all have it behind them.
    #[cold]
    fn merge_trails(&mut self, parts: std::ops::Range<usize>) {
        let mut places: Vec<u32> = Vec::new();
        self.machine.marks.clear();
        for index in parts {
            let part = self.parts[index];
            if let (Some(memory), Some(known)) = (&self.memory, part.known.checked_sub(1)) {
                let known = memory.parts[known as usize];
                let marks = &memory.marks[known.marks.0 as usize..known.marks.1 as usize];
                self.machine.marks.extend_from_slice(marks);
                continue;
            }
            let mut trail = self.snapshot_trails[part.snapshot as usize];
            while trail != NO_TRAIL {
                places.push(trail);
                trail = self.trails[trail as usize].1;
            }
        }
        places.sort_unstable();
        places.dedup();
        self.machine.marks.extend(places.iter().map(|&place| self.trails[place as usize].0));
    }

    /// Whether a part's snapshot is a copy of one that is itself a copy: parts may then share a silent beginning.
    fn is_nested(&self, part: Part) -> bool {
        self.snapshot_parents[part.snapshot as usize] != 0
    }

    /// Applies to the target what several parts do silently before their actions, what they share first: parts that
    /// did not get as far must not undo what others did since.
    #[cold]
    fn merge_nested(&mut self, parts: std::ops::Range<usize>) {
        let mut snapshots: Vec<u32> = Vec::new();
        for index in parts {
            let mut snapshot = self.parts[index].snapshot;
            while snapshot != 0 {
                snapshots.push(snapshot);
                snapshot = self.snapshot_parents[snapshot as usize];
            }
        }
        // Copies have higher numbers than what they are copies of.
        snapshots.sort_unstable();
        snapshots.dedup();
        for snapshot in snapshots {
            let parent = self.snapshot_parents[snapshot as usize];
            for slot in 0..self.width {
                let new = self.snapshots[snapshot as usize * self.width + slot];
                if new != self.snapshots[parent as usize * self.width + slot] {
                    self.target[slot] = new;
                }
            }
        }
    }

    pub(super) fn happen_now(&mut self, offer: Offer, sink: &mut impl Sink) -> Result<(), ModelError> {
        let code = self.machine.code;
        self.target_is_clean = false;
        self.target.copy_from_slice(&self.snapshots[..self.width]);
        self.machine.marks.clear();
        let parts = offer.parts.0 as usize..(offer.parts.0 + offer.parts.1) as usize;
        for index in parts.clone() {
            self.start_part(self.parts[index]);
        }
        if parts.len() > 1 && parts.clone().any(|index| self.is_nested(self.parts[index])) {
            self.merge_nested(parts.clone());
        }
        if parts.len() > 1 && self.follows {
            self.merge_trails(parts.clone());
        }
        // Whoever refuses keeps the step from happening, whatever goes wrong with others: no order of partners matters.
        let mut failed: Vec<(usize, ModelError)> = Vec::new();
        for asks in [Self::matches, Self::holds] {
            for index in parts.clone() {
                if failed.iter().any(|one| one.0 == index) {
                    continue;
                }
                match asks(self, self.parts[index], offer) {
                    Ok(true) => {}
                    Ok(false) => return Ok(()),
                    Err(error) => failed.push((index, error)),
                }
            }
        }
        if let Some((_, error)) = failed.into_iter().next() {
            return Err(error);
        }
        for index in parts {
            let part = self.parts[index];
            let action = &code.actions[part.action as usize];
            self.machine.marks.extend(action.mark.map(|mark| mark.0));
            for body in &self.model.interrupted[action.region as usize] {
                self.target[body.start as usize..body.end as usize].fill(0);
            }
            match self.model.shortcuts.next[part.action as usize] {
                Next::At(address, first, count) => {
                    let marks = &self.model.shortcuts.marks[first as usize..(first + count) as usize];
                    self.machine.marks.extend_from_slice(marks);
                    rest(&self.machine, action.region, address, &mut self.target);
                }
                Next::Run => self.run_on(action.region, part.address + 1).map_err(|error| {
                    let during = Some(self.label(offer));
                    ModelError { during, ..error }
                })?,
            }
        }
        let label = self.label(offer);
        let origin = self.origin();
        sink.computed(Step { label, target: &self.target, origin }, &self.snapshots[..self.width]);
        Ok(())
    }

    /// Whether the values of an offer match a part's patterns: then its variables have them in the target state.
    pub(super) fn matches(&mut self, part: Part, offer: Offer) -> Result<bool, ModelError> {
        let action = &self.machine.code.actions[part.action as usize];
        for (place, &(code, ty)) in action.offers.iter().enumerate() {
            let value = self.value(&offer, place) as u32;
            match code {
                OfferCode::Variable(slot) => self.receive(slot, ty, value),
                OfferCode::Pattern { address, .. }
                    if !self.machine.matches(address, ty, value, &mut self.target)? =>
                {
                    return Ok(false);
                }
                _ => {}
            }
        }
        Ok(true)
    }

    /// Whether a part's guard holds, once its variables have their values.
    pub(super) fn holds(&mut self, part: Part, _: Offer) -> Result<bool, ModelError> {
        match self.machine.code.actions[part.action as usize].guard {
            Some(guard) => Ok(self.machine.value(guard, &mut self.target)? != 0),
            None => Ok(true),
        }
    }

    /// Keeps a value in a variable of the target state.
    #[inline]
    pub(super) fn receive(&mut self, slot: u32, ty: TypeId, value: u32) {
        match self.machine.values.thaw(ty, value) {
            Words::One([word]) => self.target[slot as usize] = word,
            Words::Many(words) => {
                self.target[slot as usize..slot as usize + words.len()].copy_from_slice(words);
            }
        }
    }

    /// Runs a region on in the target state. Mostly it comes to its next action; the rest is less common.
    #[inline]
    fn run_on(&mut self, region: u32, address: u32) -> Result<(), ModelError> {
        match self.machine.run(address, &mut self.target)? {
            Halt::At(at) if matches!(self.op(at), Op::Act(_) | Op::Choice(_)) => {
                rest(&self.machine, region, at, &mut self.target);
                Ok(())
            }
            Halt::At(at) => advance(&mut self.machine, region, at, &mut self.target, true),
            Halt::Blocked | Halt::Done => Ok(()),
        }
    }

    pub(super) fn label(&mut self, offer: Offer) -> LabelId {
        if self.machine.code.gates[offer.gate as usize].hidden {
            return LabelId::TAU;
        }
        if !offer.is_short() {
            return self.find_label(offer);
        }
        let mixed = (offer.sketch ^ u64::from(offer.gate) << 48 ^ u64::from(offer.profile) << 16)
            .wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let place = (mixed >> 54) as usize;
        let known = self.label_cache[place];
        if known.label != 0
            && (known.sketch, known.gate, known.profile) == (offer.sketch, offer.gate, offer.profile)
        {
            return LabelId::from_raw(known.label);
        }
        let label = self.find_label(offer);
        self.label_cache[place] =
            KnownLabel { sketch: offer.sketch, gate: offer.gate, profile: offer.profile, label: label.raw() };
        label
    }

    fn find_label(&mut self, offer: Offer) -> LabelId {
        self.label_row.clear();
        self.label_row.push(offer.gate);
        self.label_row.push(offer.profile);
        for place in 0..offer.values.1 as usize {
            self.label_row.push(self.value(&offer, place) as u32);
        }
        LabelId::from_raw(self.labels.intern(&self.label_row) + 1)
    }

    /// The origin of the marks at hand. Steps fire the same few marks in the same order again and again: these are
    /// remembered as they are, unsorted.
    #[inline]
    pub(super) fn origin(&mut self) -> OriginId {
        if self.follows {
            return self.flow_origin();
        }
        let marks = &mut self.machine.marks;
        if marks.is_empty() {
            return OriginId::ZERO;
        }
        let count = marks.len();
        if count > ORIGIN_MARKS {
            marks.sort_unstable();
            marks.dedup();
            return OriginId::from_raw(self.origins.intern(marks));
        }
        let mixed = marks.iter().fold(0u64, |mixed, &mark| (mixed << 9) ^ u64::from(mark));
        let place = (mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as usize;
        let known = &self.origin_cache[place];
        if known.count as usize == count && known.marks[..count] == marks[..] {
            return OriginId::from_raw(known.origin);
        }
        let mut key = [0; ORIGIN_MARKS];
        key[..count].copy_from_slice(marks);
        marks.sort_unstable();
        marks.dedup();
        let origin = self.origins.intern(marks);
        self.origin_cache[place] = KnownOrigin { marks: key, count: count as u32, origin };
        OriginId::from_raw(origin)
    }
}

impl LntWorker<'_> {
    /// The origin of a step whose marks tell the flow of data: one mark for all of it.
    #[cold]
    fn flow_origin(&mut self) -> OriginId {
        let mark = summary_mark(&self.model.compiled, &self.machine.marks);
        self.machine.marks.clear();
        OriginId::from_raw(self.origins.intern(&[mark]))
    }
}

/// Applies to `target` what a snapshot has changed since snapshot 0.
fn merge_changes(target: &mut [Slot], snapshots: &[Slot], snapshot: u32, width: usize) {
    let changed = &snapshots[snapshot as usize * width..][..width];
    for (slot, (&new, &old)) in target.iter_mut().zip(changed.iter().zip(&snapshots[..width])) {
        if new != old {
            *slot = new;
        }
    }
}

/// Notes how many values an action can take; most of the time there were as many before.
#[inline]
pub(super) fn note_most(most: &[AtomicU32], action: u32, count: usize) {
    let count = count.min(u32::MAX as usize - 1) as u32 + 1;
    let known = &most[action as usize];
    if known.load(Ordering::Relaxed) < count {
        known.fetch_max(count, Ordering::Relaxed);
    }
}
