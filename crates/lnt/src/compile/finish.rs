//! The last steps: labels become addresses, virtual slots become slots of the state, resting places get numbers, and
//! dead slots are found.

use std::ops::Range;
use std::sync::atomic::AtomicBool;

use model::SharedRows;
use rustc_hash::{FxHashMap, FxHashSet};
use source::{Diagnostic, Span};

use super::code::{Application, Code, Landing, Location, OfferCode, Op};
use super::liveness::{SlotSet, live_slots, unread_stores};
use super::membership::{Membership, Parameter, membership};
use super::types::{Representation, Shaping, bits_for};
use super::{Compiled, Compiler, FUEL, Placement, UNPLACED};
use crate::typed::{Builtin, FunctionId, TypeId, TypeKind};

impl Compiler<'_> {
    pub(super) fn finish(mut self) -> Result<Compiled, Vec<Diagnostic>> {
        if !self.errors.is_empty() {
            return Err(self.errors);
        }
        self.resolve_labels();
        self.recognise_membership();
        // Tests compare with code that was left as it is.
        if self.shaping == Shaping::Fixed {
            self.leave_out_unread_tails();
        }
        self.lay_out_slots();
        self.number_locations();
        self.find_dead_slots();
        self.code.flows = self.flows_wanted;
        self.tell_instances_apart();
        let processes = self.instances.keys().map(|instance| self.program[instance.process].extent);
        let functions = self.function_numbers.keys().map(|&function| self.program[function].extent);
        let mut reached: Vec<Span> = processes.chain(functions).collect();
        reached.sort_unstable();
        reached.dedup();
        Ok(Compiled {
            fuel: FUEL,
            reached,
            code: self.code,
            types: self.types,
            values: self.values,
            marks: self.marks,
            fired: self.function_marks.iter().map(|_| AtomicBool::new(false)).collect(),
            function_marks: self.function_marks,
            functions: {
                let mut functions: Vec<FunctionId> = self.function_numbers.into_keys().collect();
                functions.sort_unstable();
                functions
            },
            observations: SharedRows::new(),
        })
    }

    /// Numbers the regions that would have the same name otherwise.
    fn tell_instances_apart(&mut self) {
        let mut counts: FxHashMap<String, u32> = FxHashMap::default();
        for region in &self.code.regions {
            *counts.entry(region.instance.clone()).or_default() += 1;
        }
        let mut numbers: FxHashMap<String, u32> = FxHashMap::default();
        for region in &mut self.code.regions {
            if counts[&region.instance] > 1 {
                let number = numbers.entry(region.instance.clone()).or_default();
                *number += 1;
                region.instance = format!("{} #{number}", region.instance);
            }
        }
    }

    /// A pattern in front of a condition takes a list apart, and so does the next one, if the condition does not hold: where the rest is
    /// not read before that, it is not taken.
    fn leave_out_unread_tails(&mut self) {
        let targets: FxHashSet<u32> = self
            .code
            .ops
            .iter()
            .filter_map(|op| match *op {
                Op::Jump(target) | Op::JumpIfFalse(target) | Op::JumpIfTrue(target) => Some(target),
                _ => None,
            })
            .collect();
        for number in 0..self.code.functions.len() {
            let function = self.code.functions[number];
            for at in unread_stores(&self.code, &self.types, &function) {
                let first = at.saturating_sub(2);
                let ops = &mut self.code.ops[first as usize..at as usize];
                if let [picked @ Op::Pick(_), Op::Tail(_)] = ops
                    && !targets.contains(&(at - 1))
                    && !targets.contains(&at)
                {
                    *picked = Op::Jump(at + 1);
                }
            }
        }
    }

    /// Functions that only look for an element become the predefined operation.
    fn recognise_membership(&mut self) {
        let empty = self.values.intern(&[]);
        for (id, ops) in std::mem::take(&mut self.seekers) {
            let number = self.function_numbers[&id];
            let repeats = self.code.ops[ops.clone()].iter().zip(ops.clone()).any(|(op, at)| match op {
                Op::Jump(target) => *target as usize <= at,
                op => *op == Op::Call(number),
            });
            if !repeats {
                continue;
            }
            let function = &self.program[id];
            let mut next = 0;
            let parameters = function.parameters.iter().map(|parameter| {
                let ty = function.scope[parameter.variable].ty;
                let first = next;
                next += self.types[ty.index()].words();
                Parameter { first, ty }
            });
            let parameters: Vec<Parameter> = parameters.collect();
            let element_of = |ty: TypeId| match self.program[ty].kind {
                TypeKind::List { element, .. } | TypeKind::Set { element, .. } => Some(element),
                _ => None,
            };
            let found = membership(&self.code, &self.types, number, &parameters, element_of, empty);
            let Some(Membership { element, list, negated }) = found else { continue };
            let words = self.types[element.ty.index()].words();
            let application = self.code.applications.len() as u32;
            self.code.applications.push(Application {
                operation: Builtin::Member,
                words: words + 1,
                on_parts: true,
                narrow: true,
                operand: element.ty,
                second: list.ty,
                result: TypeId::BOOL,
            });
            let load = match words {
                1 => Op::LoadLocal(element.first),
                words => Op::LoadLocals(element.first, words),
            };
            let body = [load, Op::LoadLocal(list.first), Op::Apply(application)];
            let body = body.into_iter().chain(negated.then_some(Op::Not));
            // It was longer before: nobody comes to what is left.
            let body = body.chain(std::iter::repeat(Op::Return(1)));
            for (op, new) in self.code.ops[ops].iter_mut().zip(body) {
                *op = new;
            }
            let function = &mut self.code.functions[number as usize];
            (function.remembered, function.table) = (false, None);
        }
    }

    fn resolve_labels(&mut self) {
        let labels = std::mem::take(&mut self.labels);
        let resolve = |label: &mut u32| {
            debug_assert_ne!(labels[*label as usize], UNPLACED, "a label was never placed");
            *label = labels[*label as usize];
        };
        for op in &mut self.code.ops {
            if let Op::Jump(label) | Op::JumpIfFalse(label) | Op::JumpIfTrue(label) = op {
                resolve(label);
            }
        }
        self.code.choices.iter_mut().flatten().for_each(resolve);
        for landing in self.code.landings.iter_mut().flatten() {
            if let Landing::Caught { address, .. } = landing {
                resolve(address);
            }
        }
        self.code.forks.iter_mut().flat_map(|fork| &mut fork.entries).for_each(resolve);
        self.code.throws.iter_mut().for_each(|(_, label)| resolve(label));
        for action in &mut self.code.actions {
            action.guard.iter_mut().for_each(resolve);
            for (offer, _) in &mut action.offers {
                if let OfferCode::Computed(label) | OfferCode::Pattern { address: label, .. } = offer {
                    resolve(label);
                }
            }
        }
    }

    /// Lays regions and frames out like a stack: what can be active together side by side, the rest on one another.
    fn lay_out_slots(&mut self) {
        let mut layout = SlotLayout {
            frame_starts: vec![None; self.frames.len()],
            regions: vec![None; self.code.regions.len()],
            compiler: self,
        };
        let all = layout.place_region(0, 0);
        let (frame_starts, regions) = (layout.frame_starts, layout.regions);
        let mut bits = vec![0u32; all.end as usize];
        for (frame, start) in self.frames.iter().zip(&frame_starts) {
            for (offset, &slot_bits) in frame.bits.iter().enumerate() {
                let slot = start.unwrap_or(0) as usize + offset;
                bits[slot] = bits[slot].max(slot_bits);
            }
        }
        self.code.slot_bits = bits;
        for (region, slots) in self.code.regions.iter_mut().zip(regions) {
            region.slots = slots.unwrap_or(0..0);
            region.counter = region.slots.start;
        }
        let actual = |slot: &mut u32| {
            let (frame, offset) = self.virtual_slots[*slot as usize];
            *slot = frame_starts[frame].unwrap_or(0) + offset as u32;
        };
        for op in &mut self.code.ops {
            if let Op::LoadSlot(slot)
            | Op::StoreSlot(slot)
            | Op::LoadSlots(slot, _)
            | Op::StoreSlots(slot, _)
            | Op::AnyValue(slot, _) = op
            {
                actual(slot);
            }
        }
        self.code.parts.iter_mut().for_each(|part| actual(&mut part.whole.0));
        for (offer, _) in self.code.actions.iter_mut().flat_map(|action| &mut action.offers) {
            if let OfferCode::Slot(slot) | OfferCode::Variable(slot) = offer {
                actual(slot);
            }
        }
        self.code.names.iter_mut().for_each(|name| actual(&mut name.slot));
    }

    /// Numbers the instructions at which each region can rest, from 1; 0 means that the region is not active.
    fn number_locations(&mut self) {
        self.code.location_of = vec![0; self.code.ops.len()];
        for (at, op) in self.code.ops.iter().enumerate() {
            let rests = matches!(
                op,
                Op::Choice(_) | Op::AnyValue(..) | Op::Act(_) | Op::Fork(_) | Op::End | Op::Stop
            );
            if let (true, Some(region)) = (rests, self.op_regions[at]) {
                let locations = &mut self.code.regions[region as usize].locations;
                locations.push(Location { address: at as u32, dead: Vec::new(), names: Vec::new() });
                self.code.location_of[at] = locations.len() as u32;
            }
        }
        for region in &self.code.regions {
            // A slot that serves several regions, one after the other, has to suit all of them.
            let bits = &mut self.code.slot_bits[region.counter as usize];
            *bits = (*bits).max(bits_for(region.locations.len() as u64));
        }
    }

    fn find_dead_slots(&mut self) {
        let slots = self.code.slot_bits.len();
        let mut fork_addresses = vec![0; self.code.forks.len()];
        for (at, op) in self.code.ops.iter().enumerate() {
            if let Op::Fork(fork) = op {
                fork_addresses[*fork as usize] = at as u32;
            }
        }
        let continuation = |at: usize| {
            let region = self.op_regions[at]?;
            let (fork, _) = self.code.regions[region as usize].parent?;
            Some(fork_addresses[fork as usize] + 1)
        };
        let continuations: Vec<Option<u32>> = (0..self.code.ops.len()).map(continuation).collect();
        let live = live_slots(&self.code, &self.types, slots, &continuations);
        let mut dead_slots: Vec<Vec<Vec<u32>>> = Vec::with_capacity(self.code.regions.len());
        for (number, region) in self.code.regions.iter().enumerate() {
            let own = own_slots(&self.code, &self.types, number);
            let locations = region.locations.iter();
            dead_slots
                .push(locations.map(|location| self.dead_slots(location.address, &own, &live)).collect());
        }
        let kept = self.kept_slots(&dead_slots);
        for (number, dead_slots) in dead_slots.into_iter().enumerate() {
            for (at, dead) in dead_slots.into_iter().enumerate() {
                let address = self.code.regions[number].locations[at].address;
                let names = self.named_slots(number as u32, address, &dead);
                let location = &mut self.code.regions[number].locations[at];
                (location.dead, location.names) = (dead, names);
            }
        }
        for (bits, kept) in self.code.slot_bits.iter_mut().zip(kept) {
            *bits = if kept { *bits } else { 0 };
        }
    }

    /// The slots that may not be 0 in some state: those that are not dead wherever a region rests that has them, and those that
    /// others write, perhaps while it rests. All others take no bits of a state.
    fn kept_slots(&self, dead_slots: &[Vec<Vec<u32>>]) -> Vec<bool> {
        let code = &self.code;
        let words = |ty: TypeId| self.types[ty.index()].words();
        let mut kept = vec![false; code.slot_bits.len()];
        let mut owners: Vec<Vec<u32>> = vec![Vec::new(); code.slot_bits.len()];
        for (number, (region, dead_slots)) in code.regions.iter().zip(dead_slots).enumerate() {
            kept[region.counter as usize] = true;
            for slot in own_slots(code, &self.types, number) {
                owners[slot as usize].push(number as u32);
                kept[slot as usize] |= dead_slots.iter().any(|dead| dead.binary_search(&slot).is_err());
            }
        }
        let mut writes = |region: Option<u32>, slots: Range<u32>| {
            for slot in slots {
                kept[slot as usize] |= !region.is_some_and(|region| owners[slot as usize].contains(&region));
            }
        };
        for (at, op) in code.ops.iter().enumerate() {
            let slots = match *op {
                Op::StoreSlot(slot) => slot..slot + 1,
                Op::StoreSlots(slot, count) => slot..slot + count,
                Op::AnyValue(slot, ty) => slot..slot + words(ty),
                Op::StoreElement(part) => {
                    let (slot, count) = code.parts[part as usize].whole;
                    slot..slot + count
                }
                _ => continue,
            };
            writes(self.op_workers[at], slots);
        }
        for action in &code.actions {
            for &(offer, ty) in &action.offers {
                if let OfferCode::Variable(slot) = offer {
                    writes(Some(action.region), slot..slot + words(ty));
                }
            }
        }
        kept
    }

    /// The named slots of a region that have a value at an address: those of the call at hand and of its callers. The
    /// frames of other calls lie at the same places.
    fn named_slots(&self, region: u32, address: u32, dead: &[u32]) -> Vec<u32> {
        let mut frames = Vec::new();
        let mut next = self.op_frames[address as usize];
        while let Some(frame) = next {
            frames.push(frame as u32);
            next = match self.frames[frame].placement {
                Placement::Region(_) => None,
                Placement::After(other) => Some(other),
            };
        }
        let names = self.code.names.iter().enumerate().filter(|(_, name)| {
            name.region == region && frames.contains(&name.frame) && !dead.contains(&name.slot)
        });
        names.map(|(number, _)| number as u32).collect()
    }

    /// Those of a region's slots that nobody will read once it rests at an address.
    fn dead_slots(&self, address: u32, own: &[u32], live: &[SlotSet]) -> Vec<u32> {
        let mut wanted = live[address as usize].clone();
        let mut below: Vec<Range<u32>> = Vec::new();
        if let Op::Fork(fork) = self.code.ops[address as usize] {
            // Once the children have come to rest, only what they and the continuation may read matters.
            wanted = live[address as usize + 1].clone();
            for &child in &self.code.forks[fork as usize].children {
                add_subtree(&self.code, child, live, &mut wanted);
                below.push(self.code.regions[child as usize].slots.clone());
            }
        }
        let dead = own.iter().copied().filter(|slot| !wanted.contains(*slot));
        dead.filter(|slot| !below.iter().any(|range| range.contains(slot))).collect()
    }
}

/// Adds what a region and those below it may read at any of their resting places.
fn add_subtree(code: &Code, region: u32, live: &[SlotSet], wanted: &mut SlotSet) {
    let mut todo = vec![region];
    while let Some(region) = todo.pop() {
        for location in &code.regions[region as usize].locations {
            wanted.add_all(&live[location.address as usize]);
            if let Op::Fork(fork) = code.ops[location.address as usize] {
                todo.extend(&code.forks[fork as usize].children);
            }
        }
    }
}

/// The slots of a region's own frames; regions below it may use the same ones while they are active.
fn own_slots(code: &Code, types: &[Representation], region: usize) -> Vec<u32> {
    let names = code.names.iter().filter(|name| name.region as usize == region);
    let slots = names.flat_map(|name| name.slot..name.slot + types[name.ty.index()].words());
    slots.collect::<std::collections::BTreeSet<u32>>().into_iter().collect()
}

struct SlotLayout<'a, 'p> {
    compiler: &'a Compiler<'p>,
    frame_starts: Vec<Option<u32>>,
    regions: Vec<Option<Range<u32>>>,
}

impl SlotLayout<'_, '_> {
    /// Places a region at `start`: its program counter, its frames, and the regions below it.
    fn place_region(&mut self, region: u32, start: u32) -> Range<u32> {
        let mut end = start + 1;
        self.regions[region as usize] = Some(start..end);
        for index in 0..self.compiler.region_frames[region as usize].len() {
            let frame = self.compiler.region_frames[region as usize][index];
            let frame_start = self.place_frame(frame);
            end = end.max(frame_start + self.compiler.frames[frame].bits.len() as u32);
        }
        for fork in 0..self.compiler.code.forks.len() {
            if self.compiler.code.forks[fork].region != region {
                continue;
            }
            let frame = self.compiler.fork_frames[fork];
            let mut next = self.place_frame(frame) + self.compiler.frames[frame].bits.len() as u32;
            for index in 0..self.compiler.code.forks[fork].children.len() {
                let child = self.compiler.code.forks[fork].children[index];
                next = self.place_region(child, next).end;
            }
            end = end.max(next);
        }
        self.regions[region as usize] = Some(start..end);
        start..end
    }

    /// Where a frame starts. Its region is placed before its frames are looked at.
    fn place_frame(&mut self, frame: usize) -> u32 {
        if let Some(start) = self.frame_starts[frame] {
            return start;
        }
        let start = match self.compiler.frames[frame].placement {
            Placement::Region(region) => {
                self.regions[region as usize].as_ref().map_or(0, |slots| slots.start) + 1
            }
            Placement::After(other) => {
                self.place_frame(other) + self.compiler.frames[other].bits.len() as u32
            }
        };
        self.frame_starts[frame] = Some(start);
        start
    }
}
