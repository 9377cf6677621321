//! Packed states: what local regions do is recalled, and learned where it is not known yet.

use std::sync::atomic::Ordering;

use lts::{LabelId, OriginId};
use model::{ModelError, PackedWorker, Slot, Step, Steps};

use super::candidates::NOT_NAMED;
use super::meet::Meetings;
use super::memory::{Effect, KnownPart, Memory, NO_EFFECT, PairStep, Part32};
use super::{LntWorker, NO_TRAIL, Offer, Part, Sink};
use crate::compile::code::{OfferCode, Op};
use crate::model::LntModel;
use crate::run::machine::Halt;
use crate::run::rest::rest;
use crate::run::shortcuts::Next;

/// After so many states, machine code pays.
const MANY_STATES: u32 = 500;
/// As much work as a state is to try so many values.
const MANY_TRIED: usize = 16;
/// So many of them left to offers, and their pieces of code become machine code, too.
const MANY_LEFT: u32 = 2000;

/// Computes steps out of packed states on one thread.
pub struct PackedLntWorker<'a> {
    worker: LntWorker<'a>,
    target: Vec<u32>,
    /// How many states were computed, up to where machine code is used.
    states: u32,
    /// The same of those that were left to offers since.
    left: u32,
    meetings: Meetings,
    /// Steps that are told one by one.
    gathered: Steps,
}

impl<'a> PackedLntWorker<'a> {
    pub fn new(model: &'a LntModel) -> Self {
        let memory = Memory::new(&model.localities, !model.eager);
        let states = if model.eager { MANY_STATES } else { 0 };
        let worker = LntWorker::with_memory(model, Some(memory));
        let gathered = Steps::new(model.layout.words(), true);
        Self { worker, target: Vec::new(), states, left: 0, meetings: Meetings::default(), gathered }
    }
}

impl PackedWorker for PackedLntWorker<'_> {
    fn successors(&mut self, packed: &[u32], emit: &mut dyn FnMut(Step<'_>)) -> Result<(), ModelError> {
        let mut gathered = std::mem::take(&mut self.gathered);
        gathered.clear();
        let result = self.add_steps(packed, &mut gathered);
        gathered.iter().for_each(emit);
        self.gathered = gathered;
        result
    }

    fn add_steps(&mut self, packed: &[u32], steps: &mut Steps) -> Result<(), ModelError> {
        let worker = &mut self.worker;
        worker.packed.clear();
        worker.packed.extend_from_slice(packed);
        worker.is_unpacked = false;
        worker.target_is_clean = false;
        if self.states < MANY_STATES {
            let tried = std::mem::take(&mut worker.tried) / MANY_TRIED;
            let work = 1 + u32::try_from(tried).unwrap_or(MANY_STATES).min(MANY_STATES);
            self.states += if worker.model.plain { 0 } else { work };
        } else {
            if worker.model.plans_steps && worker.meet_all(&mut self.meetings, steps) {
                return Ok(());
            }
            self.left = self.left.saturating_add(1);
            if self.left == if worker.model.eager { 1 } else { MANY_LEFT } {
                worker.machine.native = worker.model.native();
            }
        }
        self.target.resize(packed.len(), 0);
        let layout = &worker.model.layout;
        let mut sink = PackedSink { layout, packed, target: &mut self.target, steps, fits: Ok(()) };
        worker.steps(&mut sink)?;
        sink.fits?;
        if worker.memory.as_ref().is_some_and(|memory| memory.grown || !memory.missed.is_empty()) {
            worker.learn()?;
        }
        Ok(())
    }
}

/// Hands steps on packed.
struct PackedSink<'s> {
    layout: &'s model::Layout,
    packed: &'s [u32],
    target: &'s mut Vec<u32>,
    steps: &'s mut Steps,
    fits: Result<(), ModelError>,
}

impl Sink for PackedSink<'_> {
    fn computed(&mut self, step: Step<'_>, before: &[Slot]) {
        match self.layout.repack(before, self.packed, step.target, self.target) {
            Ok(()) => self.steps.push(Step { target: self.target, ..step }),
            wrong => self.fits = wrong,
        }
    }

    #[inline]
    fn recalled(&mut self, step: Step<'_>) {
        self.steps.push(step);
    }
}

impl LntWorker<'_> {
    /// Makes snapshot 0 from the packed state, where that was not done yet.
    #[inline]
    pub(super) fn unpack(&mut self) {
        if !self.is_unpacked {
            self.model.layout.unpack(&self.packed, &mut self.snapshots[..self.width]);
            self.is_unpacked = true;
        }
    }

    /// Learns what the regions do whose local states were missed in the state at hand.
    #[cold]
    fn learn(&mut self) -> Result<(), ModelError> {
        self.unpack();
        let Some(memory) = &mut self.memory else { return Ok(()) };
        memory.grown = false;
        // Limits on memory count what all workers remember.
        let bytes = memory.numbers() * size_of::<u32>();
        self.model.remembered.fetch_add(bytes.saturating_sub(memory.counted), Ordering::Relaxed);
        memory.counted = memory.counted.max(bytes);
        if memory.is_full() {
            memory.clear();
            self.parts.clear();
            self.values.clear();
            (self.fixed_parts, self.fixed_values) = (0, 0);
        }
        for region in std::mem::take(&mut memory.missed) {
            self.forget_state();
            self.collect_now(region, 0)?;
            self.keep_local(region);
        }
        self.forget_state();
        Ok(())
    }

    /// Remembers the offers that were just collected for a region. Their parts and values stay in the arenas.
    fn keep_local(&mut self, region: u32) {
        let Some(memory) = &mut self.memory else { return };
        // Silent ways to the end are for the parents to follow, and so is what several children do together.
        let is_joint = self.offers.iter().any(|offer| offer.parts.1 != 1);
        if is_joint || self.ends.iter().any(|&snapshot| snapshot != 0) {
            memory.learn(region, &self.packed, None, false);
            return;
        }
        for offer in &self.offers {
            let part = &mut self.parts[offer.parts.0 as usize];
            let (changes, marks) = (memory.changes.len() as u32, memory.marks.len() as u32);
            if part.snapshot != 0 {
                let changed = &self.snapshots[part.snapshot as usize * self.width..][..self.width];
                for (slot, (&new, &old)) in changed.iter().zip(&self.snapshots).enumerate() {
                    if new != old {
                        memory.changes.push((slot as u32, new));
                    }
                }
                let mut trail = self.snapshot_trails[part.snapshot as usize];
                while trail != NO_TRAIL {
                    let (mark, before) = self.trails[trail as usize];
                    memory.marks.push(mark);
                    trail = before;
                }
                if self.follows {
                    memory.marks[marks as usize..].reverse();
                }
            }
            let codes = &self.machine.code.actions[part.action as usize].offers;
            memory.parts.push(KnownPart {
                changes: (changes, memory.changes.len() as u32),
                marks: (marks, memory.marks.len() as u32),
                open: codes.iter().any(|(code, _)| receives(*code)),
                effect: NO_EFFECT,
                naming: NOT_NAMED,
            });
            part.snapshot = 0;
            part.known = memory.parts.len() as u32;
        }
        memory.learn(region, &self.packed, Some(&self.offers), !self.ends.is_empty());
        self.fixed_parts = self.parts.len();
        self.fixed_values = self.values.len();
    }

    /// Lets an offer of two parts happen. If both are remembered, so are the steps that they take together.
    #[inline]
    pub(super) fn complete_pair(&mut self, offer: Offer, sink: &mut impl Sink) -> Result<(), ModelError> {
        let first = offer.parts.0 as usize;
        let parts = [self.parts[first].known, self.parts[first + 1].known];
        let Some(memory) = self.memory.as_mut().filter(|_| parts[0] != 0 && parts[1] != 0) else {
            return self.complete_any(offer, sink);
        };
        let Some(steps) = memory.pair(parts) else { return self.learn_pair(parts, offer, sink) };
        for index in steps.0..steps.1 {
            let Some(memory) = &self.memory else { break };
            let step = memory.pair_steps[index as usize];
            self.packed_target.clear();
            self.packed_target.extend_from_slice(&self.packed);
            for &(word, bits) in &memory.flips[step.flips.0 as usize..step.flips.1 as usize] {
                self.packed_target[word as usize] ^= bits;
            }
            sink.recalled(Step { label: step.label, target: &self.packed_target, origin: step.origin });
        }
        Ok(())
    }

    #[cold]
    fn learn_pair(&mut self, parts: [u32; 2], offer: Offer, sink: &mut impl Sink) -> Result<(), ModelError> {
        let Some(memory) = self.memory.as_ref().filter(|memory| memory.pairs_repeat()) else {
            return self.complete_any(offer, sink);
        };
        let first = memory.pair_steps.len();
        self.recording = Recording::On;
        let result = self.complete_any(offer, sink);
        let complete = std::mem::take(&mut self.recording) == Recording::On && result.is_ok();
        if let Some(memory) = &mut self.memory {
            match complete {
                true => memory.learn_pair(parts, first),
                false => memory.pair_steps.truncate(first),
            }
        }
        result
    }

    /// Lets an offer happen if all of its effects are known, or are soon. Gives whether that settled it.
    pub(super) fn recall_step(&mut self, offer: Offer, sink: &mut impl Sink) -> bool {
        let mut target = std::mem::take(&mut self.packed_target);
        target.clear();
        target.extend_from_slice(&self.packed);
        // What the first parts fire which fire any: most steps have no more than two.
        let (mut fired, mut firing) = ([(0, 0); 2], 0);
        self.fired_behind.clear();
        self.live_marks.clear();
        let (mut known, mut refused, mut is_live) = (true, false, false);
        for index in offer.parts.0 as usize..(offer.parts.0 + offer.parts.1) as usize {
            let part = self.parts[index];
            match self.effect(part, offer) {
                Effect::Computed => known = false,
                Effect::Refused => refused = true,
                Effect::Live => {
                    is_live = true;
                    match self.happen_live(part, offer, &mut target) {
                        Some(true) => {}
                        Some(false) => refused = true,
                        None => known = false,
                    }
                }
                Effect::Flips { flips, marks } => {
                    let Some(memory) = &self.memory else { break };
                    for &(word, bits) in &memory.flips[flips.0 as usize..flips.1 as usize] {
                        target[word as usize] ^= bits;
                    }
                    if marks.0 < marks.1 {
                        match fired.get_mut(firing) {
                            Some(free) => *free = marks,
                            None => self.fired_behind.push(marks),
                        }
                        firing += 1;
                    }
                }
            }
            // Whatever goes wrong with others.
            if refused {
                known = true;
                break;
            }
        }
        if known && !refused {
            let label = self.label(offer);
            let origin = match firing {
                _ if self.follows => self.new_origin(fired),
                _ if is_live => self.live_origin(fired),
                0 => OriginId::ZERO,
                1 | 2 => self.origin_of(fired),
                _ => self.new_origin(fired),
            };
            if self.recording == Recording::On {
                self.record(label, origin, &target);
            }
            sink.recalled(Step { label, target: &target, origin });
        }
        if !known {
            self.recording = Recording::Off;
        }
        self.packed_target = target;
        known
    }

    /// Notes a step of a pair.
    fn record(&mut self, label: LabelId, origin: OriginId, target: &[u32]) {
        let Some(memory) = &mut self.memory else { return };
        let first = memory.flips.len() as u32;
        let words = target.iter().zip(&self.packed).enumerate().filter(|(_, (new, old))| new != old);
        memory.flips.extend(words.map(|(word, (new, old))| (word as u32, new ^ old)));
        let flips = (first, memory.flips.len() as u32);
        memory.pair_steps.push(PairStep { label, origin, flips });
    }

    /// Lets an offer of one part happen, whose region depends on its own slots alone.
    pub(super) fn happen_of_one(
        &mut self,
        part: Part,
        offer: Offer,
        sink: &mut impl Sink,
    ) -> Result<(), ModelError> {
        let mut target = std::mem::take(&mut self.packed_target);
        target.clear();
        target.extend_from_slice(&self.packed);
        self.live_marks.clear();
        let happened = self.happen_live(part, offer, &mut target);
        if happened == Some(true) {
            let label = self.label(offer);
            let origin = match self.live_marks.is_empty() {
                true => OriginId::ZERO,
                false => {
                    self.machine.marks.clear();
                    self.machine.marks.extend_from_slice(&self.live_marks);
                    self.origin()
                }
            };
            sink.recalled(Step { label, target: &target, origin });
        }
        self.packed_target = target;
        match happened {
            Some(_) => Ok(()),
            None => {
                self.recording = Recording::Off;
                self.happen_now(offer, sink)
            }
        }
    }

    /// Lets one part of an offer happen whose region depends on its own slots alone, and changes these in a packed
    /// state. Gives false if it refuses, nothing if the whole step has to be computed.
    fn happen_live(&mut self, part: Part, offer: Offer, packed: &mut [u32]) -> Option<bool> {
        self.unpack();
        if !self.target_is_clean {
            self.target.copy_from_slice(&self.snapshots[..self.width]);
            self.target_is_clean = true;
        }
        self.machine.marks.clear();
        let alone = self.happen_in_target(part, offer);
        if let (Ok(Alone::Refused), 0, 0) = (&alone, part.snapshot, part.known) {
            for &slot in &self.model.conditions[part.action as usize].receives {
                self.target[slot as usize] = self.snapshots[slot as usize];
            }
            debug_assert!(self.target == self.snapshots[..self.width], "a refusal has changed the state");
            return Some(false);
        }
        let region = self.machine.code.actions[part.action as usize].region;
        let memory = self.memory.as_ref()?;
        let mut fits = true;
        let rests = matches!(alone, Ok(Alone::Rests));
        for &slot in memory.slots(region) {
            let (new, old) = (self.target[slot as usize], self.snapshots[slot as usize]);
            if new == old {
                continue;
            }
            self.target[slot as usize] = old;
            if rests {
                let (word, shift, mask) = self.model.layout.place(slot as usize);
                fits &= new & !mask == 0;
                packed[word as usize] ^= (new ^ old) << shift;
            }
        }
        debug_assert!(self.target == self.snapshots[..self.width], "a region has touched a slot of others");
        match alone {
            Ok(Alone::Rests) if fits => {
                self.live_marks.extend_from_slice(&self.machine.marks);
                Some(true)
            }
            Ok(Alone::Refused) => Some(false),
            _ => None,
        }
    }

    /// The origin of a step of which some parts are not remembered.
    fn live_origin(&mut self, fired: [Part32; 2]) -> OriginId {
        self.machine.marks.clear();
        self.machine.marks.extend_from_slice(&self.live_marks);
        if let Some(memory) = &self.memory {
            for &(first, end) in fired.iter().chain(&self.fired_behind) {
                self.machine.marks.extend_from_slice(&memory.marks[first as usize..end as usize]);
            }
        }
        self.origin()
    }

    /// The origin of a step whose parts fire no other remembered marks: the same ones fire again and again.
    #[inline]
    fn origin_of(&mut self, fired: [Part32; 2]) -> OriginId {
        if let Some(origin) = self.memory.as_ref().and_then(|memory| memory.origin(fired)) {
            return origin;
        }
        let origin = self.new_origin(fired);
        if let Some(memory) = &mut self.memory {
            memory.learn_origin(fired, origin);
        }
        origin
    }

    fn new_origin(&mut self, fired: [Part32; 2]) -> OriginId {
        self.machine.marks.clear();
        if let Some(memory) = &self.memory {
            for &(first, end) in fired.iter().chain(&self.fired_behind) {
                self.machine.marks.extend_from_slice(&memory.marks[first as usize..end as usize]);
            }
        }
        self.origin()
    }

    /// What becomes of a part by an offer.
    #[inline]
    pub(super) fn effect(&mut self, part: Part, offer: Offer) -> Effect {
        let Some(memory) = &self.memory else { return Effect::Computed };
        let Some(index) = part.known.checked_sub(1) else {
            let region = self.machine.code.actions[part.action as usize].region;
            // What it does silently beforehand must be its own as well.
            let own = part.snapshot == 0 || self.snapshot_owners[part.snapshot as usize] == region;
            return if own && memory.is_local(region) && !self.follows {
                Effect::Live
            } else {
                Effect::Computed
            };
        };
        let known = memory.parts[index as usize];
        if !known.open {
            return match known.effect {
                NO_EFFECT => self.learn_effect(part, offer),
                effect => memory.effects[effect as usize],
            };
        }
        let values = match offer.is_short() {
            true => offer.sketch,
            false if memory.open_effects_vary() => return self.unremembered(),
            false => self.number_values(offer),
        };
        let Some(memory) = &mut self.memory else { return Effect::Computed };
        match memory.open_effect(part.known, values) {
            NO_EFFECT => self.learn_open_effect(part, offer, values),
            effect => memory.effects[effect as usize],
        }
    }

    /// The effect of a part of a remembered region that is not remembered itself.
    fn unremembered(&self) -> Effect {
        if self.follows { Effect::Computed } else { Effect::Live }
    }

    /// A number for values that are too many for the sketch.
    fn number_values(&mut self, offer: Offer) -> u64 {
        let Some(memory) = &mut self.memory else { return 0 };
        let range = offer.values.0 as usize..(offer.values.0 + offer.values.1) as usize;
        self.label_row.clear();
        self.label_row.extend(self.values[range].iter().map(|&value| value as u32));
        memory.number_values(&self.label_row)
    }

    #[cold]
    fn learn_open_effect(&mut self, part: Part, offer: Offer, values: u64) -> Effect {
        if self.memory.as_ref().is_none_or(Memory::open_effects_vary) {
            return self.unremembered();
        }
        let effect = self.compute_effect(part, offer);
        if let Some(memory) = &mut self.memory {
            let number = memory.learn_effect(effect);
            memory.learn_open_effect(part.known, values, number);
        }
        effect
    }

    #[cold]
    fn learn_effect(&mut self, part: Part, offer: Offer) -> Effect {
        let effect = self.compute_effect(part, offer);
        if let Some(memory) = &mut self.memory {
            memory.parts[part.known as usize - 1].effect = memory.learn_effect(effect);
        }
        effect
    }

    /// Lets one part of an offer happen as if it were alone: nobody else touches its slots.
    fn compute_effect(&mut self, part: Part, offer: Offer) -> Effect {
        self.unpack();
        match self.happen_alone(part, offer) {
            // An error shows again, at the right time, when the whole step is computed.
            Err(_) | Ok(Alone::Elsewhere) => Effect::Computed,
            Ok(Alone::Refused) => Effect::Refused,
            Ok(Alone::Rests) => self.flips(self.machine.code.actions[part.action as usize].region),
        }
    }

    /// The difference between the target and snapshot 0, with the marks that fired.
    fn flips(&mut self, region: u32) -> Effect {
        let Some(memory) = &mut self.memory else { return Effect::Computed };
        let (first, first_mark) = (memory.flips.len(), memory.marks.len());
        let mut fits = true;
        for &slot in memory.slots(region) {
            let (word, shift, mask) = self.model.layout.place(slot as usize);
            fits &= self.target[slot as usize] & !mask == 0;
            let changed = self.target[slot as usize] ^ self.snapshots[slot as usize];
            self.target[slot as usize] = self.snapshots[slot as usize];
            if changed == 0 {
                continue;
            }
            match memory.flips[first..].iter_mut().find(|flip| flip.0 == word) {
                Some(flip) => flip.1 |= changed << shift,
                None => memory.flips.push((word, changed << shift)),
            }
        }
        debug_assert!(self.target == self.snapshots[..self.width], "a region has touched a slot of others");
        if !fits {
            // The error shows when the whole step is computed and packed.
            memory.flips.truncate(first);
            return Effect::Computed;
        }
        memory.marks.append(&mut self.machine.marks);
        Effect::Flips {
            flips: (first as u32, memory.flips.len() as u32),
            marks: (first_mark as u32, memory.marks.len() as u32),
        }
    }

    fn happen_alone(&mut self, part: Part, offer: Offer) -> Result<Alone, ModelError> {
        self.target_is_clean = false;
        self.target.copy_from_slice(&self.snapshots[..self.width]);
        self.machine.marks.clear();
        self.happen_in_target(part, offer)
    }

    /// The same in the target, which is the state at hand.
    fn happen_in_target(&mut self, part: Part, offer: Offer) -> Result<Alone, ModelError> {
        let code = self.machine.code;
        let action = &code.actions[part.action as usize];
        self.start_part(part);
        if !(self.matches(part, offer)? && self.holds(part, offer)?) {
            return Ok(Alone::Refused);
        }
        self.machine.marks.extend(action.mark.map(|mark| mark.0));
        let at = match self.model.shortcuts.next[part.action as usize] {
            Next::At(address, first, count) => {
                let marks = &self.model.shortcuts.marks[first as usize..(first + count) as usize];
                self.machine.marks.extend_from_slice(marks);
                address
            }
            Next::Run => match self.machine.run(part.address + 1, &mut self.target)? {
                Halt::At(at) => at,
                Halt::Blocked | Halt::Done => return Ok(Alone::Elsewhere),
            },
        };
        // Where a branch ends, its siblings decide what comes next.
        if !matches!(self.op(at), Op::Act(_) | Op::Choice(_) | Op::AnyValue(..) | Op::Stop) {
            return Ok(Alone::Elsewhere);
        }
        rest(&self.machine, action.region, at, &mut self.target);
        Ok(Alone::Rests)
    }
}

/// Whether the steps of a pair are noted, as long as all of them are told by the two parts alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Recording {
    #[default]
    Off,
    On,
}

/// Whether an offer takes a value that others may choose.
fn receives(code: OfferCode) -> bool {
    matches!(code, OfferCode::Variable(_) | OfferCode::Wildcard | OfferCode::Pattern { .. })
}

/// What becomes of a region that acts alone.
enum Alone {
    /// It rests again.
    Rests,
    /// Its pattern or guard refuses the values.
    Refused,
    /// It ends, forks or leaves.
    Elsewhere,
}
