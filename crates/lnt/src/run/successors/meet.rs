//! States whose steps machine code finds: all rendezvous that are possible in them, one after the other.
//!
//! Which rendezvous are possible follows from where the regions rest ([`crate::run::rendezvous`]): a set of bits for each
//! region and location, and their intersection. If the code of one gives up, or a region rests where rendezvous can't be
//! listed, the whole state is left to offers: nothing has been told by then.

use std::cmp::Ordering;
use std::sync::Arc;

use lts::{LabelId, OriginId};
use model::{Step, Steps};
use rustc_hash::FxHashMap;

use super::candidates::compare_frozen;
use super::happen::note_most;
use super::plan::{Answer, ENDED, OPEN_PLACE, Plan};
use super::{LntWorker, OPEN, Offer, Part};
use crate::compile::code::OfferCode;
use crate::model::EXIT_GATE;
use crate::run::bounds::{Bound, Bounds};
use crate::run::domains::all_values;
use crate::run::native::{Meeting, MeetingPiece, Met, Native};
use crate::run::rendezvous::{MOST_TURNS, Rendezvous, Turn, range_of};
use crate::run::sources::Needed;

/// A configuration besides the first one that was met this often is worth machine code.
const OFTEN: u32 = 500;
/// More configurations than this are not looked at.
const MOST_CONFIGURATIONS: usize = 8;
/// How many other labels are remembered, a power of two, and of how many values.
const LABELS: usize = 1 << 14;
const LABEL_VALUES: usize = 4;

/// A remembered label.
#[derive(Clone, Copy, Default)]
struct KnownLabel {
    values: [u32; LABEL_VALUES],
    /// The number of the rendezvous, counted from 1, or 0.
    rendezvous: u32,
    label: u32,
}

/// The most slots that lists of values are remembered by.
const KEY: usize = 8;
/// How many lists are remembered, a power of two, and how many values in all.
const LISTS: usize = 1 << 15;
const MOST_LISTED: usize = 1 << 21;

/// As many combinations of open values are tried by machine code rather than named; up to more of them where they can't be.
const FEW_COMBINATIONS: usize = 512;
const MOST_COMBINATIONS: usize = 4096;
/// Values of types with more bits are not listed.
const MOST_LISTED_BITS: u32 = 16;
/// Where values could not be named so often, that is not tried again.
const MOST_FAILURES: u32 = 4;

/// The values of an open place, ascending.
enum Domain {
    /// From the first word to the last one.
    Range(u32, u32),
    Listed(Arc<[u32]>),
}

/// The values that a rendezvous leaves open.
#[derive(Default)]
struct Domains {
    /// By place; nothing where they can't be listed. Empty until somebody asks.
    all: Option<Option<Vec<Domain>>>,
    /// All combinations, where no slot bounds them, once they were listed.
    fixed: Option<Vec<u32>>,
    /// How often values could not be named.
    failures: u32,
    /// The bounds of each place in the state at hand, and where the list has come to.
    narrowed: Vec<(u32, u32)>,
    at: Vec<u32>,
}

impl Domains {
    /// Lists all combinations of values within bounds, the last place's fastest; false if there are more than so many.
    fn list(
        &mut self,
        bounds: &[Bounds],
        word: impl Fn(Bound) -> u32 + Copy,
        most: usize,
        list: &mut Vec<u32>,
    ) -> bool {
        let Some(Some(domains)) = &self.all else { return false };
        if let Some(fixed) = self.fixed.as_ref().filter(|fixed| fixed.len() <= most * domains.len()) {
            list.extend_from_slice(fixed);
            return true;
        }
        let Self { narrowed, at, .. } = self;
        narrowed.clear();
        for (domain, bounds) in domains.iter().zip(bounds) {
            let range = match domain {
                &Domain::Range(first, last) => bounds.narrow((first, last), word),
                Domain::Listed(values) => (values.len() as u32).checked_sub(1).map(|last| (0, last)),
            };
            let Some(range) = range else { return true };
            narrowed.push(range);
        }
        let sizes = narrowed.iter().map(|&(first, last)| (last - first) as usize + 1);
        let count = sizes.fold(1usize, usize::saturating_mul);
        if count > most {
            return false;
        }
        at.clear();
        at.extend(narrowed.iter().map(|range| range.0));
        for _ in 0..count {
            list.extend(at.iter().zip(domains).map(|(&at, domain)| match domain {
                Domain::Range(..) => at,
                Domain::Listed(values) => values[at as usize],
            }));
            for (at, &(first, last)) in at.iter_mut().zip(&*narrowed).rev() {
                if *at < last {
                    *at += 1;
                    break;
                }
                *at = first;
            }
        }
        if bounds.iter().all(Bounds::are_fixed) {
            self.fixed = Some(list.clone());
        }
        true
    }
}

/// A remembered list of values.
#[derive(Clone, Copy, Default)]
struct KnownList {
    key: [u32; KEY],
    /// The number of the rendezvous, counted from 1, or 0.
    rendezvous: u32,
    first: u32,
    count: u32,
}

/// The values that rendezvous can take, by the slots that decide it.
#[derive(Default)]
struct Lists {
    known: Vec<KnownList>,
    values: Vec<u32>,
}

impl Lists {
    /// Where a list is remembered.
    #[inline]
    fn place(wanted: &KnownList) -> usize {
        // The fewer multiplications wait for each other, the better.
        let [a, b, c, d, e, f, g, h] = wanted.key.map(u64::from);
        let pair = |one: u64, two: u64, odd: u64| (one ^ two << 32).wrapping_mul(odd);
        let (ab, cd) = (pair(a, b, 0x9E37_79B9_7F4A_7C15), pair(c, d, 0xC2B2_AE3D_27D4_EB4F));
        let (ef, gh) = (pair(e, f, 0x1656_67B1_9E37_79F9), pair(g, h, 0x85EB_CA77_C2B2_AE63));
        let all = ab ^ cd.rotate_left(17) ^ ef.rotate_left(31) ^ gh.rotate_left(47);
        let all = (all ^ all >> 32).wrapping_add(u64::from(wanted.rendezvous));
        (all.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as usize % LISTS
    }

    fn clear(&mut self) {
        self.known.fill(KnownList::default());
        self.values.clear();
    }

    fn remember(&mut self, wanted: KnownList, values: &[u32]) {
        if self.values.len() + values.len() > MOST_LISTED {
            self.clear();
        }
        if values.len() > MOST_LISTED {
            return;
        }
        self.known.resize(LISTS, KnownList::default());
        let first = self.values.len() as u32;
        self.values.extend_from_slice(values);
        self.known[Self::place(&wanted)] = KnownList { first, count: values.len() as u32, ..wanted };
    }
}

/// How often a configuration was met, and its plan.
type Known = (u32, Option<Arc<Plan>>);

/// The elements of a list that values come from, in ascending order, each once. Lists that change from state to state are not worth
/// sorting: this is done when one is met for the second time in a row.
#[derive(Default)]
struct Ascending {
    row: Option<u32>,
    elements: Option<Vec<u32>>,
}

impl Ascending {
    /// The elements of a row, if they are known in ascending order.
    fn of(&mut self, row: u32, sort: impl FnOnce() -> Vec<u32>) -> Option<&[u32]> {
        if self.row != Some(row) {
            *self = Self { row: Some(row), elements: None };
            return None;
        }
        Some(self.elements.get_or_insert_with(sort))
    }
}

/// What a worker has to find steps by plans.
#[derive(Default)]
pub(super) struct Meetings {
    plan: Option<Arc<Plan>>,
    /// How often configurations were met, and the plans that came of it.
    known: FxHashMap<Vec<(u32, u32)>, Known>,
    possible: Vec<u64>,
    records: Vec<u32>,
    /// Those of the plan at hand that have not been possible yet, as bits.
    unnoted: Vec<u64>,
    /// The rendezvous that have steps.
    met: Vec<Met>,
    /// The answers to questions about sets, once they were asked in the state at hand.
    answers: Vec<Option<Answer>>,
    /// For each rendezvous of the plan at hand, labels by its values, one behind the other; 0 where it is not known yet.
    labels: Vec<u32>,
    other_labels: Vec<KnownLabel>,
    lists: Lists,
    /// By rendezvous.
    domains: Vec<Domains>,
    ascending: Vec<Ascending>,
}

impl LntWorker<'_> {
    /// Gives all steps out of a packed state, if machine code finds them; false if that is left to offers.
    pub(super) fn meet_all(&mut self, meetings: &mut Meetings, found: &mut Steps) -> bool {
        if !meetings.plan.as_ref().is_some_and(|plan| plan.fits(&self.packed)) {
            self.change_plan(meetings);
        }
        let mut plan = meetings.plan.take();
        let is_met = self.meet_by(&mut plan, meetings, found);
        meetings.plan = plan;
        is_met
    }

    /// The same by a plan, which may be replaced.
    fn meet_by(&mut self, held: &mut Option<Arc<Plan>>, meetings: &mut Meetings, found: &mut Steps) -> bool {
        let Some(plan) = held else { return false };
        if !self.find_possible(plan, meetings) {
            return false;
        }
        if !plan.has_all(&meetings.possible) {
            self.extend_plan(meetings, held);
        }
        let Some(plan) = held.as_ref().filter(|plan| plan.has_all(&meetings.possible)) else { return false };
        self.forget_state();
        let (state, copy) = (&mut self.snapshots[..self.width], &mut self.target[..]);
        match plan.native.unpack(&self.packed, state, copy) {
            true => (self.is_unpacked, self.target_is_clean) = (true, true),
            false => self.unpack(),
        }
        self.machine.marks.clear();
        self.machine.values.forget_deferred();
        meetings.met.clear();
        meetings.answers.clear();
        meetings.answers.resize(plan.questions.len(), None);
        if !self.scout(plan, meetings) {
            return false;
        }
        let mut end = 0;
        for set in 0..plan.sets {
            let mut possible = meetings.possible[set];
            if possible & meetings.unnoted[set] != 0 {
                self.note_values(plan, 64 * set, possible & meetings.unnoted[set]);
                meetings.unnoted[set] &= !possible;
            }
            while possible != 0 {
                match self.meet_fixed(&plan.native, 64 * set, &mut possible, end, meetings) {
                    Some(fixed) => end = fixed,
                    None => return false,
                }
                if possible == 0 {
                    break;
                }
                let number = 64 * set + possible.trailing_zeros() as usize;
                possible &= possible - 1;
                match self.meet_one(plan, number, end, meetings) {
                    Some(0) => {}
                    Some(steps) => {
                        meetings.met.push(Met {
                            number: number as u32,
                            first: end as u32,
                            steps: steps as u32,
                        });
                        let piece = plan.native.meeting_of(number);
                        end += steps * piece.map_or(0, |piece| plan.native.record_length(piece));
                    }
                    None => return false,
                }
            }
        }
        self.machine.values.store_deferred(&mut meetings.records);
        self.tell(plan, meetings, found);
        true
    }

    /// Finds the rendezvous that are possible where the regions rest; false where they can't be told.
    #[inline]
    fn find_possible(&self, plan: &Plan, meetings: &mut Meetings) -> bool {
        let possible = &mut meetings.possible;
        possible.clear();
        possible.extend_from_slice(&plan.all);
        let known = plan.leaves.restrict(&self.packed, possible);
        if known & OPEN_PLACE != 0 {
            return false;
        }
        !(known & ENDED != 0 && plan.may_join(self.model, &self.packed))
    }

    /// Looks at silent ways, and leaves only rendezvous possible whose ways lead to their actions; false if that has to be found out
    /// otherwise.
    #[inline]
    fn scout(&mut self, plan: &Plan, meetings: &mut Meetings) -> bool {
        let Meetings { possible, records, .. } = meetings;
        let count = plan.configuration.rendezvous.len();
        for set in count / 64..plan.sets {
            // Scouts have the bits behind those of rendezvous.
            let rendezvous = if set == count / 64 { (1 << (count % 64)) - 1 } else { 0 };
            let mut scouts = possible[set] & !rendezvous;
            possible[set] &= rendezvous;
            while scouts != 0 {
                let number = 64 * set + scouts.trailing_zeros() as usize - count;
                scouts &= scouts - 1;
                let Some(piece) = plan.native.scout_of(number) else { return false };
                let Some(open) = self.run_meeting(&plan.native, piece, &[], 0, records) else { return false };
                plan.refuse(number, open as u64, possible);
            }
        }
        true
    }

    /// Notes how many values are tried or computed where machine code does that itself.
    #[cold]
    fn note_values(&self, plan: &Plan, offset: usize, mut set: u64) {
        while set != 0 {
            let number = offset + set.trailing_zeros() as usize;
            set &= set - 1;
            let Some(one) = plan.configuration.rendezvous.get(number) else { return };
            let Some(piece) = plan.native.meeting_of(number) else { continue };
            let (opening, action) = (piece.opening(), one.participants[0].action);
            if !opening.solved.is_empty() {
                note_most(&self.model.named, action, 1);
            }
            if opening.ranges.is_some() && !opening.places.is_empty() {
                note_most(&self.model.tried, action, opening.tried);
            }
        }
    }

    /// Writes records of the steps of one rendezvous whose values come as a list; gives how many there are.
    #[inline]
    fn meet_one(&mut self, plan: &Plan, number: usize, end: usize, meetings: &mut Meetings) -> Option<usize> {
        let piece = plan.native.meeting_of(number)?;
        let opening = piece.opening();
        let Meetings { records, lists, domains, answers, ascending, .. } = meetings;
        // Only elements that have what somebody needs of them are looked at.
        let (mut first, mut last) = (0, u32::MAX);
        for &(question, needed) in &plan.needs[number] {
            let asked = &plan.questions[question as usize];
            let answer = answers[question as usize].get_or_insert_with(|| {
                asked.answer(|slot| self.machine.values.kept_row(self.snapshots[slot as usize]))
            });
            let value = match needed {
                Needed::Constant(value) => value,
                Needed::Slot(slot) => self.snapshots[slot as usize],
            };
            if value & !asked.mask != 0 {
                return Some(0);
            }
            let (start, end) = answer.elements(value, last);
            (first, last) = (first.max(start), last.min(end));
            if first >= last {
                return Some(0);
            }
        }
        let action = plan.configuration.rendezvous[number].participants[0].action;
        if let Some(source) = &opening.source {
            let kept = |slot: usize| self.machine.values.kept_row(self.snapshots[slot]);
            if let (Some(place), 1, (0, u32::MAX)) = (source.whole_place(), source.slots.len(), (first, last))
                && !source.ascending
            {
                let slot = source.slots.start as usize;
                let sort = || {
                    let ty = self.machine.code.actions[action as usize].offers[place as usize].1;
                    let mut elements: Vec<&[u32]> = kept(slot).chunks_exact(source.words as usize).collect();
                    elements.sort_by(|a, b| self.machine.values.compare(ty, a, b));
                    elements.dedup();
                    elements.concat()
                };
                if let Some(elements) = ascending[number].of(self.snapshots[slot], sort) {
                    note_most(&self.model.named, action, elements.len() / source.words as usize);
                    return match elements.is_empty() {
                        true => Some(0),
                        false => self.run_meeting(&plan.native, piece, elements, end, records),
                    };
                }
            }
            let mut gathered = std::mem::take(&mut self.candidates);
            let elements = match source.slots.len() {
                1 => kept(source.slots.start as usize),
                _ => {
                    gathered.clear();
                    source.slots.clone().for_each(|slot| gathered.extend_from_slice(kept(slot as usize)));
                    &gathered[..]
                }
            };
            let words = source.words.max(1) as usize;
            let end_of_needed = (last as usize).saturating_mul(words).min(elements.len());
            let elements = elements.get(first as usize * words..end_of_needed).unwrap_or(&[]);
            note_most(&self.model.named, action, elements.len() / words);
            let steps = match elements.is_empty() {
                true => Some(0),
                false => self.run_meeting(&plan.native, piece, elements, end, records),
            };
            self.candidates = gathered;
            let steps = steps?;
            if !source.ascending {
                // Records are about to move.
                self.machine.values.store_deferred(records);
            }
            return Some(match source.ascending || steps < 2 {
                true => steps,
                false => self.put_in_order_of_values(plan, number, &mut records[end..], steps),
            });
        }
        let slots = &plan.decisive[number];
        let mut wanted = KnownList { rendezvous: number as u32 + 1, ..KnownList::default() };
        if slots.len() <= KEY {
            for (word, &slot) in wanted.key.iter_mut().zip(slots) {
                *word = self.snapshots[slot as usize];
            }
            if let Some(known) = lists.known.get(Lists::place(&wanted))
                && known.rendezvous == wanted.rendezvous
                && known.key == wanted.key
            {
                let list = &lists.values[known.first as usize..(known.first + known.count) as usize];
                return match list.is_empty() {
                    true => Some(0),
                    false => self.run_meeting(&plan.native, piece, list, end, records),
                };
            }
        }
        let domains = &mut domains[number];
        if domains.all.is_none() {
            domains.all = Some(self.domains(plan, number, &opening.places));
        }
        let most = if domains.failures >= MOST_FAILURES { MOST_COMBINATIONS } else { FEW_COMBINATIONS };
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.clear();
        let mut tried = domains.list(&opening.bounds, |bound| self.bound(bound), most, &mut candidates);
        let mut found = tried;
        if !found {
            // What guards fire while they name values is not told.
            let marks = std::mem::take(&mut self.machine.marks);
            found = self.list_candidates(&plan.configuration.rendezvous[number], &mut candidates).is_some();
            self.machine.marks = marks;
        }
        if !found {
            domains.failures = domains.failures.saturating_add(1);
            candidates.clear();
            let word = |bound| self.bound(bound);
            tried = domains.list(&opening.bounds, word, MOST_COMBINATIONS, &mut candidates);
            found = tried;
        }
        let count = candidates.len() / opening.places.len();
        let steps = match (found, candidates.is_empty()) {
            (true, true) => Some(0),
            (true, false) => self.run_meeting(&plan.native, piece, &candidates, end, records),
            (false, _) => None,
        };
        if let Some(steps) = steps {
            note_most(if tried { &self.model.tried } else { &self.model.named }, action, count);
            let participants = &plan.configuration.rendezvous[number].participants;
            if slots.len() <= KEY && participants.iter().all(|one| one.way.is_empty()) {
                if tried {
                    // Those that all partners have taken.
                    let length = plan.native.record_length(piece);
                    candidates.clear();
                    for record in records[end..][..steps * length].chunks_exact(length) {
                        candidates.extend(opening.places.iter().map(|&place| record[place as usize]));
                    }
                }
                lists.remember(wanted, &candidates);
            }
        }
        self.candidates = candidates;
        steps
    }

    /// What a bound is in the state at hand.
    fn bound(&self, bound: Bound) -> u32 {
        let slot = |slot: u32| self.snapshots[slot as usize];
        match bound {
            Bound::Word(word) => word,
            Bound::Slot(number) | Bound::OneOf(number, _) => slot(number),
            Bound::Bits { slot: number, shift, mask } => slot(number) >> shift & mask,
            Bound::Length { slot: number, ty, .. } => {
                self.machine.values.count(ty, &[slot(number)]).try_into().unwrap_or(u32::MAX)
            }
        }
    }

    /// The values of open places, if they can be listed.
    #[cold]
    fn domains(&mut self, plan: &Plan, number: usize, places: &[u32]) -> Option<Vec<Domain>> {
        let action = plan.configuration.rendezvous[number].participants[0].action;
        let offers = &self.machine.code.actions[action as usize].offers;
        let domain = |&place: &u32| {
            let ty = offers[place as usize].1;
            let shape = &self.model.compiled.types[ty.index()];
            if let Some((first, count)) = range_of(shape) {
                return Some(Domain::Range(first, first + count.checked_sub(1)?));
            }
            // Listing the values of a wide type would make rows of all of them.
            let bits: u32 = shape.leaves.iter().sum();
            if shape.endless || shape.conditional || shape.words() > 1 || bits > MOST_LISTED_BITS {
                return None;
            }
            Some(Domain::Listed(all_values(&mut self.machine, ty).ok()?))
        };
        places.iter().map(domain).collect()
    }

    /// Sorts records by the values that nobody fixed, and leaves each once; gives how many remain.
    fn put_in_order_of_values(&self, plan: &Plan, number: usize, records: &mut [u32], steps: usize) -> usize {
        let Some(piece) = plan.native.meeting_of(number) else { return steps };
        let one = &plan.configuration.rendezvous[number];
        let offers = &self.machine.code.actions[one.participants[0].action as usize].offers;
        let length = plan.native.record_length(piece);
        let compare = |a: &[u32], b: &[u32]| {
            piece.opening().places.iter().fold(Ordering::Equal, |order, &place| {
                let (ty, place) = (offers[place as usize].1, place as usize);
                order.then_with(|| compare_frozen(&self.machine.values, ty, a[place], b[place]))
            })
        };
        let all = records[..steps * length].chunks_exact(length);
        if all.clone().zip(all.skip(1)).all(|(a, b)| compare(a, b).is_lt()) {
            return steps;
        }
        let mut sorted: Vec<&[u32]> = records[..steps * length].chunks_exact(length).collect();
        sorted.sort_by(|a, b| compare(a, b));
        let values = piece.opening().values as usize;
        sorted.dedup_by_key(|record| &record[..values]);
        let remaining = sorted.len();
        let sorted = sorted.concat();
        records[..sorted.len()].copy_from_slice(&sorted);
        remaining
    }

    /// Rendezvous without values to be looked for, up to the first one that has some.
    #[inline]
    fn meet_fixed(
        &mut self,
        native: &Native,
        offset: usize,
        set: &mut u64,
        first: usize,
        meetings: &mut Meetings,
    ) -> Option<usize> {
        self.clean_target();
        let Meetings { records, met, .. } = meetings;
        let before = &self.snapshots[..self.width];
        let meeting =
            Meeting { state: &mut self.target, before, packed: &self.packed, list: &[], records, first };
        let end = native.meet_fixed(&mut self.machine, meeting, offset, set, met);
        debug_assert!(self.target == self.snapshots[..self.width], "a rendezvous has changed the state");
        end
    }

    /// Sees to it that the target is the state at hand.
    #[inline]
    fn clean_target(&mut self) {
        if !self.target_is_clean {
            self.target.copy_from_slice(&self.snapshots[..self.width]);
            self.target_is_clean = true;
        }
    }

    #[inline]
    fn run_meeting(
        &mut self,
        native: &Native,
        piece: &MeetingPiece,
        list: &[u32],
        first: usize,
        records: &mut Vec<u32>,
    ) -> Option<usize> {
        self.clean_target();
        let before = &self.snapshots[..self.width];
        let meeting = Meeting { state: &mut self.target, before, packed: &self.packed, list, records, first };
        let steps = native.meet(piece, &mut self.machine, meeting);
        debug_assert!(self.target == self.snapshots[..self.width], "a rendezvous has changed the state");
        steps
    }

    /// Lists candidates for the values that nobody fixes. Gives false if the fixed ones don't agree, nothing where they
    /// have to be found otherwise.
    fn list_candidates(&mut self, one: &Rendezvous, candidates: &mut Vec<u32>) -> Option<bool> {
        let code = self.machine.code;
        let (first_part, first_value) = (self.parts.len() as u32, self.values.len());
        let places = code.actions[one.participants[0].action as usize].offers.len();
        let mut offer = Offer {
            gate: one.gate,
            profile: one.profile,
            parts: (first_part, one.participants.len() as u32),
            values: (first_value as u32, places as u32),
            sketch: 0,
            known: 0,
        };
        let mut values = [OPEN; 8];
        let values = values.get_mut(..places)?;
        for participant in &one.participants {
            if !participant.way.is_empty() {
                return None;
            }
            let action = &code.actions[participant.action as usize];
            for (&(code, ty), value) in action.offers.iter().zip(values.iter_mut()) {
                let given = match code {
                    OfferCode::Constant(value) => u64::from(value),
                    OfferCode::Slot(slot) => {
                        let words = self.model.compiled.types[ty.index()].leaves.len();
                        let range = slot as usize..slot as usize + words;
                        u64::from(self.machine.values.freeze(ty, &self.snapshots[range]))
                    }
                    OfferCode::Computed(address) => {
                        let state = &mut self.snapshots[..self.width];
                        u64::from(self.machine.frozen(address, ty, state).ok()?)
                    }
                    OfferCode::Variable(_) | OfferCode::Wildcard | OfferCode::Pattern { .. } => continue,
                };
                if *value != OPEN && *value != given {
                    return Some(false);
                }
                *value = given;
            }
            let (action, address) = (participant.action, participant.address);
            self.parts.push(Part { action, address, snapshot: 0, known: 0 });
        }
        for (place, &value) in values.iter().enumerate() {
            offer.note(place, value);
            if !offer.is_short() {
                self.values.push(value);
            }
        }
        let found = self.candidates(offer, candidates);
        self.parts.truncate(first_part as usize);
        self.values.truncate(first_value);
        matches!(found, Ok(true)).then_some(true)
    }

    /// Tells all steps that were found.
    fn tell(&mut self, plan: &Plan, meetings: &mut Meetings, found: &mut Steps) {
        let mut at = 0;
        while let Some(&Met { number, first, steps }) = meetings.met.get(at) {
            let told = &plan.told[number as usize];
            if told.group == 0 {
                for step in 0..steps {
                    self.tell_one(plan, meetings, number, (first + step * told.record) as usize, found);
                }
                at += 1;
                continue;
            }
            // Of a group, all steps with one value come before those with the next one.
            let group = told.group;
            let mut order: Vec<([u32; MOST_TURNS], u32, u32)> = Vec::new();
            while let Some(&Met { number, first, steps }) = meetings.met.get(at) {
                let told = &plan.told[number as usize];
                if told.group != group {
                    break;
                }
                let one = &plan.configuration.rendezvous[number as usize];
                let length = told.record as usize;
                let chosen = one.chosen(self.machine.code);
                order.extend((0..steps as usize).map(|step| {
                    let start = first as usize + step * length;
                    let mut chosen = meetings.records[start..start + length][length - chosen..].iter();
                    let mut turns = [0; MOST_TURNS];
                    for (place, turn) in turns.iter_mut().zip(&one.turns) {
                        *place = match *turn {
                            Turn::Fixed(number) => number,
                            Turn::Chosen => chosen.next().copied().unwrap_or(0),
                        };
                    }
                    (turns, number, start as u32)
                }));
                at += 1;
            }
            // Records of one rendezvous lie in their order.
            order.sort_unstable();
            for (_, number, start) in order {
                self.tell_one(plan, meetings, number, start as usize, found);
            }
        }
    }

    #[inline(always)]
    fn tell_one(
        &mut self,
        plan: &Plan,
        meetings: &mut Meetings,
        number: u32,
        start: usize,
        found: &mut Steps,
    ) {
        let told = &plan.told[number as usize];
        let (values, words) = (told.values as usize, self.packed.len());
        let label = self.label_of(plan, meetings, number, start);
        let record = &meetings.records[start..][..told.record as usize];
        let origin = match record[values + words..] {
            [first, end, ..] if told.marked && first < end => {
                self.origin_of_marks(first as usize, end as usize)
            }
            _ => OriginId::ZERO,
        };
        found.push(Step { label, target: &record[values..][..words], origin });
    }

    fn origin_of_marks(&mut self, first: usize, end: usize) -> OriginId {
        // Those of one step are put in the place of all of them, and back.
        let all = std::mem::take(&mut self.machine.marks);
        self.machine.marks.extend_from_slice(&all[first..end]);
        let origin = self.origin();
        self.machine.marks = all;
        origin
    }

    /// The label of a step whose record starts at a place.
    #[inline(always)]
    fn label_of(&mut self, plan: &Plan, meetings: &mut Meetings, number: u32, start: usize) -> LabelId {
        let told = &plan.told[number as usize];
        if told.hidden {
            return LabelId::TAU;
        }
        let Some(radices) = &told.radices else {
            return self.remembered_label(plan, meetings, number, start);
        };
        let values = &meetings.records[start..][..told.values as usize];
        let place = values.iter().zip(radices).fold(0, |place, (&value, &bits)| place << bits | value);
        match meetings.labels.get((told.labels + place) as usize) {
            Some(&label @ 1..) => LabelId::from_raw(label),
            _ => self.first_label(plan, meetings, number, start, told.labels + place),
        }
    }

    /// A label that turns up for the first time, at a place among those that are looked up in an array.
    #[cold]
    fn first_label(
        &mut self,
        plan: &Plan,
        meetings: &mut Meetings,
        number: u32,
        start: usize,
        place: u32,
    ) -> LabelId {
        let values = &meetings.records[start..][..plan.told[number as usize].values as usize];
        let label = self.new_label(&plan.configuration.rendezvous[number as usize], values);
        if let Some(known) = meetings.labels.get_mut(place as usize) {
            *known = label.raw();
        }
        label
    }

    /// A label with many values, or large ones.
    fn remembered_label(
        &mut self,
        plan: &Plan,
        meetings: &mut Meetings,
        number: u32,
        start: usize,
    ) -> LabelId {
        let one = &plan.configuration.rendezvous[number as usize];
        let values = &meetings.records[start..][..plan.told[number as usize].values as usize];
        if values.len() > LABEL_VALUES {
            return self.new_label(one, values);
        }
        let mut wanted = KnownLabel { rendezvous: number + 1, ..KnownLabel::default() };
        wanted.values[..values.len()].copy_from_slice(values);
        let mix = |hash: u64, &value: &u32| {
            (hash.rotate_left(23) ^ u64::from(value)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
        };
        let place = (values.iter().fold(u64::from(number), mix) >> 40) as usize % LABELS;
        meetings.other_labels.resize(LABELS, KnownLabel::default());
        let known = meetings.other_labels[place];
        if known.rendezvous == wanted.rendezvous && known.values == wanted.values {
            return LabelId::from_raw(known.label);
        }
        let label = self.new_label(one, values);
        meetings.other_labels[place] = KnownLabel { label: label.raw(), ..wanted };
        label
    }

    fn new_label(&mut self, one: &Rendezvous, values: &[u32]) -> LabelId {
        debug_assert_ne!(one.gate, EXIT_GATE);
        self.label_row.clear();
        self.label_row.extend([one.gate, one.profile]);
        self.label_row.extend_from_slice(values);
        LabelId::from_raw(self.labels.intern(&self.label_row) + 1)
    }

    /// Looks for the plan of the state at hand.
    #[cold]
    fn change_plan(&mut self, meetings: &mut Meetings) {
        meetings.plan = None;
        let mut key = Vec::new();
        self.forking(0, &mut key);
        if meetings.known.len() >= MOST_CONFIGURATIONS && !meetings.known.contains_key(&key) {
            return;
        }
        let is_first = meetings.known.is_empty();
        let (count, plan) = meetings.known.entry(key.clone()).or_default();
        *count = count.saturating_add(1);
        // Many states were computed before the first one: no need to wait for more of them.
        if *count == if self.model.eager || is_first { 1 } else { OFTEN } {
            *plan = self.model.plan(&key, || self.make_plan());
        }
        if let Some(plan) = plan.clone() {
            meetings.labels = vec![0; plan.labels as usize];
            meetings.unnoted.clear();
            meetings.unnoted.resize(plan.sets, u64::MAX);
            meetings.other_labels.fill(KnownLabel::default());
            meetings.lists.clear();
            meetings.domains.clear();
            meetings.domains.resize_with(plan.configuration.rendezvous.len(), Domains::default);
            meetings.ascending.clear();
            meetings.ascending.resize_with(plan.configuration.rendezvous.len(), Ascending::default);
            meetings.plan = Some(plan);
        }
    }

    /// Replaces a plan by one that has all that is possible, made by whoever asks first, once enough states have missed something.
    #[cold]
    fn extend_plan(&self, meetings: &mut Meetings, held: &mut Option<Arc<Plan>>) {
        let Some(plan) = held.take_if(|plan| plan.miss(&meetings.possible)) else { return };
        let key = &plan.configuration.forking;
        let extended = self.model.newer_plan(key, &plan, || plan.extended(self.model).map(Arc::new));
        if let Some((_, known)) = meetings.known.get_mut(key) {
            known.clone_from(&extended);
        }
        meetings.unnoted.fill(u64::MAX);
        *held = extended;
    }
}
