//! A rendezvous as one function: from a state to all of its steps.
//!
//! It runs what the participants do silently before their actions, compares what they offer, goes through the values
//! that nobody fixes, runs patterns and guards, then what each participant does until it rests, and appends a record for
//! each step: its values, its packed target and, if constructs are to be told, where the marks lie that have fired.
//! Errors come up in the order in which `happen_now` would meet them, because all of it is done in the same order; the
//! function then gives up. Slots are variables of the function, but for arrays that are indexed: those lie in the
//! unpacked state, which is left as it was.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Variable};
use model::Layout;
use rustc_hash::FxHashMap;

use super::super::GAVE_UP;
use super::{Building, Built, Start, Translator, offset, reached, slot, trusted};
use crate::compile::Compiled;
use crate::compile::code::{Code, OfferCode, Op};
use crate::compile::types::{Kind, Storage};
use crate::run::rendezvous::Participant;
use crate::typed::TypeId;

/// As many values that nobody fixes are tried one after the other; more are to be named.
const FEW_VALUES: u64 = 64;

/// The places of a rendezvous that nobody fixes.
#[derive(Clone, Debug, Default)]
pub struct Opening {
    /// The open places.
    pub places: Vec<u32>,
    /// The first word of each and how many there are, where all values are tried: else they come as a list.
    pub ranges: Option<Vec<(u32, u32)>>,
    /// How many places there are, open or not.
    pub values: u32,
}

impl Opening {
    /// How many combinations of values are tried, if that does not depend on a list.
    pub fn combinations(&self) -> Option<usize> {
        let ranges = self.ranges.as_ref()?;
        Some(ranges.iter().map(|&(_, count)| count as usize).product())
    }
}

/// Which values a rendezvous leaves open.
pub(super) fn opening(compiled: &Compiled, participants: &[Participant]) -> Opening {
    let code = &compiled.code;
    let offers = |place: usize| {
        participants.iter().map(move |one| code.actions[one.action as usize].offers[place])
    };
    let values = code.actions[participants[0].action as usize].offers.len();
    let open: Vec<usize> =
        (0..values).filter(|&place| offers(place).all(|(offer, _)| !gives(offer))).collect();
    let range = |&place: &usize| {
        let (_, ty) = offers(place).next()?;
        let shape = &compiled.types[ty.index()];
        if shape.conditional {
            return None;
        }
        match shape.kind {
            Kind::Bool => Some((0, 2)),
            Kind::Number { lower, upper, offset, .. } => {
                let count = u64::try_from(upper.checked_sub(lower)?.checked_add(1)?).ok()?;
                Some((u32::try_from(lower - offset).ok()?, u32::try_from(count).ok()?))
            }
            Kind::Char { lower, upper } => Some((lower, upper - lower + 1)),
            Kind::Enumeration(ref constructors) => Some((0, constructors.len() as u32)),
            _ => None,
        }
    };
    let ranges: Option<Vec<(u32, u32)>> = open.iter().map(range).collect();
    let few = |ranges: &Vec<(u32, u32)>| {
        let product = ranges.iter().fold(1u64, |product, &(_, count)| product.saturating_mul(u64::from(count)));
        (1..=FEW_VALUES).contains(&product)
    };
    Opening {
        ranges: ranges.filter(few),
        places: open.into_iter().map(|place| place as u32).collect(),
        values: values as u32,
    }
}

/// Whether an offer says what its value is.
fn gives(offer: OfferCode) -> bool {
    matches!(offer, OfferCode::Constant(_) | OfferCode::Slot(_) | OfferCode::Computed(_))
}

/// Whether steps have to tell which constructs fired.
pub(super) fn is_marked(compiled: &Compiled) -> bool {
    let code = &compiled.code;
    code.actions.iter().any(|action| action.mark.is_some())
        || code.ops.iter().any(|op| matches!(op, Op::Mark(_) | Op::Decide(_)))
}

/// The instructions that a rendezvous consists of, or what comes before its actions only.
pub(super) fn reached_by(code: &Code, participants: &[Participant], before: bool) -> Vec<usize> {
    let mut starts = Vec::new();
    for participant in participants {
        let action = &code.actions[participant.action as usize];
        starts.extend(participant.way.iter().map(|leg| leg.from));
        starts.extend(action.offers.iter().filter_map(|(offer, _)| match *offer {
            OfferCode::Computed(address) => Some(address),
            OfferCode::Pattern { address, .. } if !before => Some(address),
            _ => None,
        }));
        if !before {
            starts.extend(action.guard);
            starts.push(participant.address + 1);
        }
    }
    starts.into_iter().flat_map(|start| reached(code, start)).collect()
}

/// What happens where code halts.
enum Halts {
    /// On a silent way, it has to get to an instruction.
    Way { to: usize, arrives: Block },
    /// An offer has been computed.
    Offer { words: Vec<Variable>, computed: Block },
    /// A condition has been decided.
    Condition { holds: Block },
    /// A participant rests.
    Rest { region: u32, location: Variable, rests: Block },
}

/// What building a rendezvous takes besides what building any code does.
pub(super) struct Meeting<'b> {
    layout: &'b Layout,
    /// The slots that are variables of the function.
    variables: FxHashMap<u32, Variable>,
    /// The slots that the code may change, and those of them that lie in memory.
    written: Vec<u32>,
    written_in_memory: Vec<u32>,
    /// The unpacked state as it was.
    before: Value,
    halts: Halts,
    /// Where control goes on if there is no step with the values at hand.
    nothing: Block,
}

impl Meeting<'_> {
    /// The variable that is a slot.
    pub fn variable(&self, slot: u32) -> Option<Variable> {
        self.variables.get(&slot).copied()
    }
}

/// The slots that code touches, each once, ascending.
struct Slots {
    all: Vec<u32>,
    written: Vec<u32>,
    in_memory: Vec<u32>,
}

fn slots(compiled: &Compiled, participants: &[Participant], before: bool) -> Slots {
    let code = &compiled.code;
    let (mut all, mut written, mut in_memory) = (Vec::new(), Vec::new(), Vec::new());
    let range = |(slot, words): (u32, u32)| slot..slot + words;
    let mut rests = Vec::new();
    for at in reached_by(code, participants, before) {
        match code.ops[at] {
            Op::LoadSlot(slot) => all.push(slot),
            Op::LoadSlots(slot, words) => all.extend(range((slot, words))),
            Op::StoreSlot(slot) => written.push(slot),
            Op::StoreSlots(slot, words) => written.extend(range((slot, words))),
            Op::LoadPart(part) => {
                let part = code.parts[part as usize];
                all.extend(range(part.whole));
                if part.indexed {
                    in_memory.extend(range(part.whole));
                }
            }
            Op::StoreElement(part) => {
                let part = code.parts[part as usize];
                written.extend(range(part.whole));
                in_memory.extend(range(part.whole));
            }
            Op::Act(_) | Op::Choice(_) | Op::AnyValue(..) | Op::Stop => rests.push(at),
            _ => {}
        }
    }
    for participant in participants {
        let action = &code.actions[participant.action as usize];
        for &(offer, ty) in &action.offers {
            let words = compiled.types[ty.index()].words();
            match offer {
                OfferCode::Variable(slot) => written.extend(range((slot, words))),
                OfferCode::Slot(slot) => all.extend(range((slot, words))),
                _ => {}
            }
        }
        // Wherever it may come to rest, some slots are reset.
        let region = &code.regions[action.region as usize];
        for &at in &rests {
            let location = region.locations.iter().find(|location| location.address as usize == at);
            written.extend(location.iter().flat_map(|location| &location.dead));
        }
        written.push(region.counter);
    }
    all.extend_from_slice(&written);
    for slots in [&mut all, &mut written, &mut in_memory] {
        slots.sort_unstable();
        slots.dedup();
    }
    Slots { all, written, in_memory }
}

impl Translator<'_> {
    /// Builds a rendezvous or a probe.
    pub(super) fn build_meeting(
        &mut self,
        number: usize,
        function: &mut cranelift_codegen::ir::Function,
        building: &mut FunctionBuilderContext,
    ) -> Option<Built> {
        let configuration = self.configuration?;
        let (participants, before) = match self.outlines[number].start {
            Start::Meeting(number) => (&configuration.rendezvous[number as usize].participants[..], false),
            Start::Probe(number) => (&configuration.probes[number as usize..=number as usize], true),
            Start::Function(_) | Start::At(..) => return None,
        };
        let mut builder = FunctionBuilder::new(function, building);
        let entry = builder.create_block();
        builder.append_block_params_for_function_params(entry);
        builder.switch_to_block(entry);
        let parameters: Vec<Value> = builder.block_params(entry).to_vec();
        let [context, state, state_before, packed, out, list, count] = parameters[..] else { return None };
        let gives_up = builder.create_block();
        let nothing = builder.create_block();
        let Slots { all, written, in_memory } = slots(self.compiled, participants, before);
        let is_in_memory = |slot: &u32| in_memory.binary_search(slot).is_ok();
        let mut variables = FxHashMap::default();
        for slot in all.into_iter().filter(|slot| !is_in_memory(slot)) {
            let variable = builder.declare_var(types::I32);
            let value = builder.ins().load(types::I32, trusted(), state, offset(slot));
            builder.def_var(variable, value);
            variables.insert(slot, variable);
        }
        let mut body = Building {
            compiled: self.compiled,
            module: &mut self.module,
            outlines: &self.outlines,
            helpers: &self.helpers,
            references: FxHashMap::default(),
            builder,
            pointer: self.pointer,
            context,
            state,
            io: list,
            gives_up,
            frame: None,
            in_memory: Vec::new(),
            locals: Vec::new(),
            places: Vec::new(),
            stack: Vec::new(),
            spill: None,
            helped: self.outlines[number].helped,
            blocks: FxHashMap::default(),
            todo: Vec::new(),
            outputs: None,
            writes: false,
            meeting: Some(Meeting {
                layout: self.layout,
                variables,
                written_in_memory: written.iter().copied().filter(is_in_memory).collect(),
                written,
                before: state_before,
                halts: Halts::Condition { holds: nothing },
                nothing,
            }),
            loops: Vec::new(),
        };
        match before {
            true => body.probe(&participants[0])?,
            false => body.meeting(participants, packed, out, list, count)?,
        }
        body.builder.switch_to_block(gives_up);
        body.restore_memory();
        body.halt(GAVE_UP);
        body.builder.seal_all_blocks();
        body.builder.finalize();
        Some(Built { inputs: 0, outputs: 0, writes: false })
    }
}

/// How many steps there are, and where the next record goes.
#[derive(Clone, Copy)]
struct Records {
    count: Variable,
    end: Variable,
}

impl Building<'_> {
    /// What a participant does before its action, for the errors that come up there.
    fn probe(&mut self, participant: &Participant) -> Option<()> {
        let action = &self.compiled.code.actions[participant.action as usize];
        self.follow(participant)?;
        for &(offer, ty) in &action.offers {
            if gives(offer) {
                self.offered(offer, ty)?;
            }
        }
        let nothing = self.meeting.as_ref()?.nothing;
        self.builder.ins().jump(nothing, &[]);
        self.builder.switch_to_block(nothing);
        self.restore_memory();
        self.halt(0);
        Some(())
    }

    /// The whole function.
    fn meeting(
        &mut self,
        participants: &[Participant],
        packed: Value,
        out: Value,
        list: Value,
        listed: Value,
    ) -> Option<()> {
        let code = &self.compiled.code;
        let marked = is_marked(self.compiled);
        let records = Records {
            count: self.builder.declare_var(types::I32),
            end: self.builder.declare_var(self.pointer),
        };
        let zero = self.constant(0);
        self.builder.def_var(records.count, zero);
        self.builder.def_var(records.end, out);
        let finished = self.meeting.as_ref()?.nothing;
        let first_mark = marked.then(|| self.repeat_marks(zero, zero));
        for participant in participants {
            self.follow(participant)?;
        }
        // What is offered, by place; offers that say nothing leave it to others.
        let opening = opening(self.compiled, participants);
        let mut values: Vec<Option<Value>> = vec![None; opening.values as usize];
        for participant in participants {
            let offers = &code.actions[participant.action as usize].offers;
            for (place, &(offer, ty)) in offers.iter().enumerate() {
                if !gives(offer) {
                    continue;
                }
                let value = self.offered(offer, ty)?;
                if let Some(other) = values[place].replace(value) {
                    let same = self.builder.ins().icmp(IntCC::Equal, value, other);
                    self.go_on_if(same, finished);
                }
            }
        }
        let end_of_way = marked.then(|| self.repeat_marks(zero, zero));
        let next = self.begin_loop(&opening, list, listed, &mut values, finished)?;
        self.meeting.as_mut()?.nothing = next;
        let step_marks = match (first_mark, end_of_way) {
            (Some(first), Some(end)) => Some(self.repeat_marks(first, end)),
            _ => None,
        };
        let values: Vec<Value> = values.into_iter().collect::<Option<_>>()?;
        self.receive(participants, &values)?;
        for participant in participants {
            let action = &code.actions[participant.action as usize];
            if let Some(guard) = action.guard {
                self.condition(guard)?;
            }
        }
        for participant in participants {
            self.run_on(participant)?;
        }
        self.record(packed, &values, step_marks, records)?;
        self.builder.ins().jump(next, &[]);
        if next != finished {
            self.end_loop(&opening, listed, next, finished)?;
        }
        self.builder.switch_to_block(finished);
        self.restore_memory();
        let count = self.builder.use_var(records.count);
        self.builder.ins().return_(&[count]);
        Some(())
    }

    /// Repeats marks, and gives where they start now.
    fn repeat_marks(&mut self, first: Value, end: Value) -> Value {
        let repeat = self.reference(self.helpers.repeat_marks);
        let call = self.builder.ins().call(repeat, &[self.context, first, end]);
        self.builder.inst_results(call)[0]
    }

    /// Goes elsewhere unless a condition holds.
    fn go_on_if(&mut self, condition: Value, elsewhere: Block) {
        let good = self.builder.create_block();
        self.builder.ins().brif(condition, good, &[], elsewhere, &[]);
        self.builder.switch_to_block(good);
    }

    /// Runs what a participant does silently before its action.
    fn follow(&mut self, participant: &Participant) -> Option<()> {
        for leg in &participant.way {
            let arrives = self.builder.create_block();
            self.meeting.as_mut()?.halts = Halts::Way { to: leg.to as usize, arrives };
            self.code_from(leg.from as usize)?;
            self.builder.switch_to_block(arrives);
            self.stack.clear();
        }
        Some(())
    }

    /// The value that an offer says, as one word.
    fn offered(&mut self, offer: OfferCode, ty: TypeId) -> Option<Value> {
        let words = self.compiled.types[ty.index()].words();
        let values = match offer {
            OfferCode::Constant(value) => return Some(self.word(value)),
            OfferCode::Slot(slot) => (slot..slot + words).map(|slot| self.load_slot(slot)).collect(),
            OfferCode::Computed(address) => {
                let variables: Vec<Variable> =
                    (0..words).map(|_| self.builder.declare_var(types::I32)).collect();
                let computed = self.builder.create_block();
                self.meeting.as_mut()?.halts = Halts::Offer { words: variables.clone(), computed };
                self.code_from(address as usize)?;
                self.builder.switch_to_block(computed);
                self.stack.clear();
                variables.into_iter().map(|variable| self.builder.use_var(variable)).collect()
            }
            OfferCode::Variable(_) | OfferCode::Wildcard | OfferCode::Pattern { .. } => return None,
        };
        Some(self.freeze(ty, values))
    }

    /// The word by which offers know a value.
    fn freeze(&mut self, ty: TypeId, words: Vec<Value>) -> Value {
        if self.compiled.types[ty.index()].storage != Storage::Wide {
            return words[0];
        }
        let room = slot(&mut self.builder, 4 * words.len() as u32);
        for (word, &value) in words.iter().enumerate() {
            self.builder.ins().stack_store(value, room, offset(word as u32));
        }
        let (number, count) = (self.word(ty.index() as u32), self.word(words.len() as u32));
        let address = self.builder.ins().stack_addr(self.pointer, room, 0);
        let freeze = self.reference(self.helpers.freeze);
        let call = self.builder.ins().call(freeze, &[self.context, number, address, count]);
        self.builder.inst_results(call)[0]
    }

    /// The words of a value that an action gets.
    fn thaw(&mut self, ty: TypeId, value: Value) -> Vec<Value> {
        let shape = &self.compiled.types[ty.index()];
        if shape.storage != Storage::Wide {
            return vec![value];
        }
        let words = shape.words();
        let room = slot(&mut self.builder, 4 * words.max(1));
        let (number, count) = (self.word(ty.index() as u32), self.word(words));
        let address = self.builder.ins().stack_addr(self.pointer, room, 0);
        let thaw = self.reference(self.helpers.thaw);
        self.builder.ins().call(thaw, &[self.context, number, value, address, count]);
        (0..words).map(|word| self.builder.ins().stack_load(types::I32, room, offset(word))).collect()
    }

    /// Begins a loop over the values that nobody fixes, which become known; gives where it goes on with the next ones.
    /// Without any, there is no loop.
    fn begin_loop(
        &mut self,
        opening: &Opening,
        list: Value,
        listed: Value,
        values: &mut [Option<Value>],
        finished: Block,
    ) -> Option<Block> {
        if opening.places.is_empty() {
            return Some(finished);
        }
        let next = self.builder.create_block();
        let header = self.builder.create_block();
        let zero = self.constant(0);
        let counters = if opening.ranges.is_some() { opening.places.len() } else { 1 };
        let counters: Vec<Variable> = (0..counters).map(|_| self.builder.declare_var(types::I32)).collect();
        for &counter in &counters {
            self.builder.def_var(counter, zero);
        }
        if opening.ranges.is_none() {
            self.go_on_if(listed, finished);
        }
        // Each round begins with the slots as they are now.
        let meeting = self.meeting.as_ref()?;
        let written: Vec<Variable> =
            meeting.written.iter().filter_map(|&slot| meeting.variable(slot)).collect();
        let saved: Vec<Value> = written.iter().map(|&variable| self.builder.use_var(variable)).collect();
        self.builder.ins().jump(header, &[]);
        self.builder.switch_to_block(header);
        for (&variable, &value) in written.iter().zip(&saved) {
            self.builder.def_var(variable, value);
        }
        match &opening.ranges {
            Some(ranges) => {
                for ((&place, &(first, _)), &counter) in opening.places.iter().zip(ranges).zip(&counters) {
                    let counted = self.builder.use_var(counter);
                    values[place as usize] = Some(self.builder.ins().iadd_imm(counted, i64::from(first)));
                }
            }
            None => {
                let counted = self.builder.use_var(counters[0]);
                let words = self.builder.ins().imul_imm(counted, opening.places.len() as i64);
                let base = self.element_address(list, words);
                for (at, &place) in opening.places.iter().enumerate() {
                    let value = self.builder.ins().load(types::I32, trusted(), base, offset(at as u32));
                    values[place as usize] = Some(value);
                }
            }
        }
        self.loops.push((header, counters));
        Some(next)
    }

    /// The other end of the loop.
    fn end_loop(&mut self, opening: &Opening, listed: Value, next: Block, finished: Block) -> Option<()> {
        let (header, counters) = self.loops.pop()?;
        self.builder.switch_to_block(next);
        self.restore_memory();
        let zero = self.constant(0);
        for (at, &counter) in counters.iter().enumerate().rev() {
            let counted = self.builder.use_var(counter);
            let more = self.builder.ins().iadd_imm(counted, 1);
            self.builder.def_var(counter, more);
            let end = match &opening.ranges {
                Some(ranges) => self.word(ranges[at].1),
                None => listed,
            };
            let again = self.builder.ins().icmp(IntCC::UnsignedLessThan, more, end);
            let carry = self.builder.create_block();
            self.builder.ins().brif(again, header, &[], carry, &[]);
            self.builder.switch_to_block(carry);
            self.builder.def_var(counter, zero);
        }
        self.builder.ins().jump(finished, &[]);
        Some(())
    }

    /// Keeps what participants receive, and runs their patterns.
    fn receive(&mut self, participants: &[Participant], values: &[Value]) -> Option<()> {
        for participant in participants {
            let action = &self.compiled.code.actions[participant.action as usize];
            for (&(offer, ty), &value) in action.offers.iter().zip(values) {
                match offer {
                    OfferCode::Variable(slot) => {
                        for (value, slot) in self.thaw(ty, value).into_iter().zip(slot..) {
                            self.store_slot(slot, value);
                        }
                    }
                    OfferCode::Pattern { address, .. } => {
                        self.stack = self.thaw(ty, value);
                        self.condition(address)?;
                    }
                    _ => {}
                }
            }
        }
        Some(())
    }

    /// Code that ends with whether a condition holds; what follows is built for where it does.
    fn condition(&mut self, address: u32) -> Option<()> {
        let holds = self.builder.create_block();
        self.meeting.as_mut()?.halts = Halts::Condition { holds };
        self.code_from(address as usize)?;
        self.builder.switch_to_block(holds);
        self.stack.clear();
        Some(())
    }

    /// What a participant does after its action until it rests.
    fn run_on(&mut self, participant: &Participant) -> Option<()> {
        let action = &self.compiled.code.actions[participant.action as usize];
        if let Some(mark) = action.mark {
            let mark = self.word(mark.0);
            let fired = self.reference(self.helpers.mark);
            self.builder.ins().call(fired, &[self.context, mark]);
        }
        let counter = self.compiled.code.regions[action.region as usize].counter;
        let rests = self.builder.create_block();
        let meeting = self.meeting.as_mut()?;
        let location = meeting.variable(counter)?;
        meeting.halts = Halts::Rest { region: action.region, location, rests };
        self.code_from(participant.address as usize + 1)?;
        self.builder.switch_to_block(rests);
        self.stack.clear();
        Some(())
    }

    /// The end of a piece of code that computes something.
    pub(super) fn done_in_meeting(&mut self) -> Option<()> {
        let meeting = self.meeting.as_ref()?;
        match &meeting.halts {
            Halts::Condition { holds } => {
                let (holds, nothing) = (*holds, meeting.nothing);
                let answer = self.pop()?;
                self.builder.ins().brif(answer, holds, &[], nothing, &[]);
            }
            Halts::Offer { words, computed } => {
                let (words, computed) = (words.clone(), *computed);
                let values = self.pop_many(words.len() as u32)?;
                for (variable, value) in words.into_iter().zip(values) {
                    self.builder.def_var(variable, value);
                }
                self.builder.ins().jump(computed, &[]);
            }
            Halts::Way { .. } | Halts::Rest { .. } => return None,
        }
        self.stack.is_empty().then_some(())
    }

    /// A condition that had to hold does not.
    pub(super) fn blocked_in_meeting(&mut self) -> Option<()> {
        let meeting = self.meeting.as_ref()?;
        let to = match meeting.halts {
            Halts::Way { .. } => meeting.nothing,
            _ => self.gives_up,
        };
        self.builder.ins().jump(to, &[]);
        Some(())
    }

    /// Control arrives where a region halts.
    pub(super) fn halt_in_meeting(&mut self, at: usize) -> Option<()> {
        let meeting = self.meeting.as_ref()?;
        let code = &self.compiled.code;
        let to = match meeting.halts {
            Halts::Way { to, arrives } if to == at => arrives,
            Halts::Way { .. } => meeting.nothing,
            Halts::Rest { region, location, rests }
                if matches!(code.ops[at], Op::Act(_) | Op::Choice(_) | Op::AnyValue(..) | Op::Stop) =>
            {
                let number = code.location_of[at];
                let region = &code.regions[region as usize];
                let dead = &region.locations.get((number as usize).checked_sub(1)?)?.dead;
                let (here, zero) = (self.word(number), self.constant(0));
                self.builder.def_var(location, here);
                for &slot in dead {
                    self.store_slot(slot, zero);
                }
                rests
            }
            // Where a branch ends, forks or throws, others decide what comes next.
            _ => self.gives_up,
        };
        self.builder.ins().jump(to, &[]);
        Some(())
    }

    /// Leaves the unpacked state as it was.
    fn restore_memory(&mut self) {
        let Some(meeting) = &self.meeting else { return };
        for &slot in &meeting.written_in_memory {
            let old = self.builder.ins().load(types::I32, trusted(), meeting.before, offset(slot));
            self.builder.ins().store(trusted(), old, self.state, offset(slot));
        }
    }

    /// Appends a record: values, packed target, and where the marks lie that have fired.
    fn record(
        &mut self,
        packed: Value,
        values: &[Value],
        first_mark: Option<Value>,
        records: Records,
    ) -> Option<()> {
        let meeting = self.meeting.as_ref()?;
        let layout = meeting.layout;
        // For each word of the packed state, which bits are replaced, and by what.
        let mut words: Vec<(u32, Option<Value>)> = vec![(0, None); layout.words()];
        let mut beyond: Option<Value> = None;
        for slot in meeting.written.clone() {
            let value = self.load_slot(slot);
            let (word, shift, mask) = layout.place(slot as usize);
            words[word as usize].0 |= mask << shift;
            if mask != u32::MAX {
                let more = self.builder.ins().band_imm(value, i64::from(!mask));
                beyond = Some(match beyond {
                    Some(beyond) => self.builder.ins().bor(beyond, more),
                    None => more,
                });
            }
            let shifted = self.builder.ins().ishl_imm(value, i64::from(shift));
            let bits = &mut words[word as usize].1;
            *bits = Some(match *bits {
                Some(bits) => self.builder.ins().bor(bits, shifted),
                None => shifted,
            });
        }
        if let Some(beyond) = beyond {
            let fits = self.builder.ins().icmp_imm(IntCC::Equal, beyond, 0);
            self.require(fits);
        }
        let end = self.builder.use_var(records.end);
        let mut at = 0;
        let mut append = |building: &mut Self, value: Value| {
            building.builder.ins().store(trusted(), value, end, offset(at));
            at += 1;
        };
        for &value in values {
            append(self, value);
        }
        for (word, (mask, bits)) in words.into_iter().enumerate() {
            let new = match (mask, bits) {
                (u32::MAX, Some(bits)) => bits,
                (mask, bits) => {
                    let old = self.builder.ins().load(types::I32, trusted(), packed, offset(word as u32));
                    match bits {
                        Some(bits) => {
                            let others = self.builder.ins().band_imm(old, i64::from(!mask));
                            self.builder.ins().bor(others, bits)
                        }
                        None => old,
                    }
                }
            };
            append(self, new);
        }
        if let Some(first) = first_mark {
            let zero = self.constant(0);
            let last = self.repeat_marks(zero, zero);
            append(self, first);
            append(self, last);
        }
        let further = self.builder.ins().iadd_imm(end, 4 * i64::from(at));
        self.builder.def_var(records.end, further);
        let count = self.builder.use_var(records.count);
        let more = self.builder.ins().iadd_imm(count, 1);
        self.builder.def_var(records.count, more);
        Some(())
    }
}
