//! Which slots are still read: a backward analysis over the code of all regions.
//!
//! A slot that nobody will read before writing it again is reset when its region comes to rest. The reset value can't
//! be observed, so states that differ only there are strongly bisimilar, and one of them is enough.

use rustc_hash::FxHashMap;

use super::code::{ActionCode, Code, FunctionCode, Landing, OfferCode, Op};
use super::types::Representation;
use crate::typed::TypeId;

/// A set of slots.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SlotSet {
    words: Vec<u64>,
}

impl SlotSet {
    pub fn new(slots: usize) -> Self {
        Self { words: vec![0; slots.div_ceil(64)] }
    }

    pub fn insert(&mut self, slot: u32) {
        self.words[slot as usize / 64] |= 1 << (slot % 64);
    }

    pub fn remove(&mut self, slot: u32) {
        self.words[slot as usize / 64] &= !(1 << (slot % 64));
    }

    pub fn contains(&self, slot: u32) -> bool {
        self.words[slot as usize / 64] >> (slot % 64) & 1 == 1
    }

    pub fn add_all(&mut self, other: &SlotSet) {
        for (word, more) in self.words.iter_mut().zip(&other.words) {
            *word |= more;
        }
    }
}

/// For each instruction, the slots that may be read from it on before they are written. `continuations` says where
/// control goes on behind the end of a region.
pub(super) fn live_slots(
    code: &Code,
    types: &[Representation],
    slots: usize,
    continuations: &[Option<u32>],
) -> Vec<SlotSet> {
    let mut live = vec![SlotSet::new(slots); code.ops.len() + 1];
    // Loops make a second round necessary, and deeper ones more; the rounds end because sets only grow.
    loop {
        let mut changed = false;
        for at in (0..code.ops.len()).rev() {
            let before = live_before(code, types, at, &live, slots, continuations);
            if before != live[at] {
                live[at] = before;
                changed = true;
            }
        }
        if !changed {
            return live;
        }
    }
}

/// Where a function stores into a word of its variables that is not read before it is written again.
pub(super) fn unread_stores(code: &Code, types: &[Representation], function: &FunctionCode) -> Vec<u32> {
    let mut reached = vec![function.address];
    let mut live: FxHashMap<u32, SlotSet> = FxHashMap::default();
    live.insert(function.address, SlotSet::new(function.variables as usize));
    let mut next = 0;
    while let Some(&at) = reached.get(next) {
        next += 1;
        for follower in followers(code, at) {
            live.entry(follower).or_insert_with(|| {
                reached.push(follower);
                SlotSet::new(function.variables as usize)
            });
        }
    }
    reached.sort_unstable();
    let behind = |live: &FxHashMap<u32, SlotSet>, at: u32| {
        let mut all = SlotSet::new(function.variables as usize);
        followers(code, at).iter().for_each(|follower| all.add_all(&live[follower]));
        all
    };
    // As in `live_slots`, sets only grow.
    loop {
        let mut changed = false;
        for &at in reached.iter().rev() {
            let mut set = behind(&live, at);
            match code.ops[at as usize] {
                Op::StoreLocal(word) => set.remove(word),
                Op::StoreLocals(first, words) => (first..first + words).for_each(|word| set.remove(word)),
                Op::LoadLocal(word) => set.insert(word),
                Op::LoadLocals(first, words) => (first..first + words).for_each(|word| set.insert(word)),
                // A variable is read as a whole, and changing a part of it needs the others.
                Op::LoadLocalsAt(part) => {
                    let (first, words) = code.local_parts[part as usize].whole;
                    (first..first + words).for_each(|word| set.insert(word));
                }
                Op::StoreLocalElement(first, ty) => {
                    (first..first + types[ty.index()].words()).for_each(|word| set.insert(word));
                }
                _ => {}
            }
            if live[&at] != set {
                live.insert(at, set);
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    let is_unread = |&at: &u32| match code.ops[at as usize] {
        Op::StoreLocal(word) => !behind(&live, at).contains(word),
        _ => false,
    };
    reached.into_iter().filter(is_unread).collect()
}

/// Where control may go on in a function behind an instruction.
fn followers(code: &Code, at: u32) -> Vec<u32> {
    match code.ops[at as usize] {
        Op::Jump(target) => vec![target],
        Op::JumpIfFalse(target) | Op::JumpIfTrue(target) => vec![at + 1, target],
        Op::Return(_) | Op::Raise(_) | Op::Fail(_) | Op::Done | Op::Stop => Vec::new(),
        Op::Landings(number) => {
            let caught = code.landings[number as usize].iter().filter_map(Landing::address);
            [at + 1].into_iter().chain(caught).collect()
        }
        _ => vec![at + 1],
    }
}

fn live_before(
    code: &Code,
    types: &[Representation],
    at: usize,
    live: &[SlotSet],
    slots: usize,
    continuations: &[Option<u32>],
) -> SlotSet {
    let next = || live[at + 1].clone();
    let to = |target: u32| live[target as usize].clone();
    let joined = |targets: &mut dyn Iterator<Item = u32>| {
        let mut all = SlotSet::new(slots);
        targets.for_each(|target| all.add_all(&live[target as usize]));
        all
    };
    match code.ops[at] {
        Op::LoadSlot(slot) => {
            let mut set = next();
            set.insert(slot);
            set
        }
        Op::LoadSlots(slot, words) => {
            let mut set = next();
            (slot..slot + words).for_each(|slot| set.insert(slot));
            set
        }
        // A variable is read as a whole, and changing a part of it needs the others.
        Op::LoadPart(part) | Op::StoreElement(part) => {
            let mut set = next();
            let (slot, words) = code.parts[part as usize].whole;
            (slot..slot + words).for_each(|slot| set.insert(slot));
            set
        }
        Op::StoreSlot(slot) => {
            let mut set = next();
            set.remove(slot);
            set
        }
        Op::StoreSlots(slot, words) => {
            let mut set = next();
            (slot..slot + words).for_each(|slot| set.remove(slot));
            set
        }
        Op::AnyValue(slot, ty) => {
            let mut set = next();
            (slot..slot + types[ty.index()].words()).for_each(|slot| set.remove(slot));
            set
        }
        Op::Jump(target) => to(target),
        Op::JumpIfFalse(target) | Op::JumpIfTrue(target) => {
            let mut set = next();
            set.add_all(&live[target as usize]);
            set
        }
        // A call may go on behind itself or where one of its exceptions is caught.
        Op::Landings(number) => {
            let mut set = next();
            let caught = code.landings[number as usize].iter().filter_map(Landing::address);
            caught.for_each(|address| set.add_all(&live[address as usize]));
            set
        }
        Op::Choice(choice) => joined(&mut code.choices[choice as usize].iter().copied()),
        Op::Fork(fork) => {
            let mut set = joined(&mut code.forks[fork as usize].entries.iter().copied());
            set.add_all(&live[at + 1]);
            set
        }
        Op::Act(action) => live_before_action(code, types, &code.actions[action as usize], live, next()),
        Op::Throw(throw) => to(code.throws[throw as usize].1),
        // The end of a branch goes on behind its fork, where the values it leaves may be read.
        Op::End => continuations[at].map_or_else(|| SlotSet::new(slots), to),
        Op::Stop | Op::Fail(_) | Op::Return(_) | Op::Raise(_) | Op::Done => SlotSet::new(slots),
        _ => next(),
    }
}

/// Received values are written before the guard reads them; what is sent is read first of all.
fn live_before_action(
    code: &Code,
    types: &[Representation],
    action: &ActionCode,
    live: &[SlotSet],
    after: SlotSet,
) -> SlotSet {
    let mut set = after;
    let slots = |slot: u32, ty: &TypeId| slot..slot + types[ty.index()].words();
    if let Some(guard) = action.guard {
        set.add_all(&live[guard as usize]);
    }
    for (offer, ty) in &action.offers {
        match *offer {
            OfferCode::Variable(slot) => slots(slot, ty).for_each(|slot| set.remove(slot)),
            OfferCode::Pattern { address, .. } => bound_slots(code, address, |slot| set.remove(slot)),
            _ => {}
        }
    }
    for (offer, ty) in &action.offers {
        match *offer {
            OfferCode::Slot(slot) => slots(slot, ty).for_each(|slot| set.insert(slot)),
            OfferCode::Computed(address) => set.add_all(&live[address as usize]),
            _ => {}
        }
    }
    set
}

/// The slots that the code of a pattern writes.
fn bound_slots(code: &Code, address: u32, mut each: impl FnMut(u32)) {
    for op in &code.ops[address as usize..] {
        match *op {
            Op::StoreSlot(slot) => each(slot),
            Op::StoreSlots(slot, words) => (slot..slot + words).for_each(&mut each),
            Op::Done => break,
            _ => {}
        }
    }
}
