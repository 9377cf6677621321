//! A rendezvous as one function: from a state to all of its steps.
//!
//! It runs what the participants do silently before their actions, compares what they offer, goes through the values
//! that nobody fixes, runs patterns and guards, then what each participant does until it rests, and appends a record for
//! each step: its values, its packed target and, if constructs are to be told, where the marks lie that have fired. In a
//! group, the values that were chosen silently come last.
//! Errors come up in the order in which `happen_now` would meet them, because all of it is done in the same order; the
//! function then gives up. Slots are variables of the function, but for arrays that are indexed: those lie in the
//! unpacked state, which is left as it was.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Variable};
use model::Layout;
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::GAVE_UP;
use super::calls::{Locals, Memory};
use super::copies::Copies;
use super::rows::is_row;
use super::{Building, Built, Start, Translator, offset, reached, slot, trusted};
use crate::compile::Compiled;
use crate::compile::code::{Code, OfferCode, Op};
use crate::compile::types::{Kind, Storage, mask_of};
use crate::run::bounds::{Bound, Bounds, bounds};
use crate::run::rendezvous::{Participant, Scout, range_of, silent};
use crate::run::solved::{Solved, solved};
use crate::run::sources::{Choosing, Piece, Source, Whole, choosing, source};
use crate::typed::TypeId;

/// As many values that nobody fixes are tried one after the other; more are to be named.
const FEW_VALUES: u64 = 64;
/// The same for code that is made quickly: tests have small types, and should have values that are named.
const FEW_VALUES_QUICKLY: u64 = 3;
/// The greatest and the least of so many slots are not looked for.
const MANY_SLOTS: u32 = 32;
/// More values than this, taken together, are not chosen silently before a rendezvous.
const MOST_CHOSEN: usize = 4096;

/// The places of a rendezvous that nobody fixes.
#[derive(Clone, Debug, Default)]
pub struct Opening {
    /// The open places.
    pub places: Vec<u32>,
    /// The first word of each and how many there are, where all values are tried: else they come as a list.
    pub ranges: Option<Vec<(u32, u32)>>,
    /// How many places there are, open or not.
    pub values: u32,
    /// How many combinations of values are tried where all are.
    pub tried: usize,
    /// How many values are chosen silently before the actions.
    pub chosen: usize,
    /// The set whose elements are the list, if a guard names one.
    pub source: Option<Source>,
    /// What guards say of each open place.
    pub bounds: Vec<Bounds>,
    /// Values that nobody fixes, but guards compute: their places are not among the open ones.
    pub solved: Vec<Solved>,
}

impl Opening {
    /// How many combinations of values are tried at most, with a list of so many.
    pub fn combinations(&self, listed: usize) -> usize {
        let tried = if self.ranges.is_some() { self.tried } else { listed };
        tried * self.chosen
    }
}

/// Which values a rendezvous leaves open.
fn opening(compiled: &Compiled, participants: &[Participant], quickly: bool) -> Opening {
    let code = &compiled.code;
    let offers =
        |place: usize| participants.iter().map(move |one| code.actions[one.action as usize].offers[place]);
    let values = code.actions[participants[0].action as usize].offers.len();
    let open: Vec<u32> =
        (0..values as u32).filter(|&place| offers(place as usize).all(|(offer, _)| !gives(offer))).collect();
    let most = if quickly { FEW_VALUES_QUICKLY } else { FEW_VALUES };
    let few = |ranges: &Vec<(u32, u32)>| {
        let product =
            ranges.iter().fold(1u64, |product, &(_, count)| product.saturating_mul(u64::from(count)));
        (1..=most).contains(&product)
    };
    let ranges_of = |places: &[u32]| {
        let of_guards = bounds(compiled, participants, places);
        let range = |(&place, bounds): (&u32, &Bounds)| {
            let (first, count) = range_of(&compiled.types[offers(place as usize).next()?.1.index()])?;
            let all = (first, first + count.checked_sub(1)?);
            // Where guards leave none, one is tried in vain.
            let fixed = bounds.fixed().narrow(all, |_| 0).unwrap_or((first, first));
            Some((fixed.0, fixed.1 - fixed.0 + 1))
        };
        let ranges = places.iter().zip(&of_guards).map(range);
        ranges.collect::<Option<Vec<(u32, u32)>>>().filter(few)
    };
    let solved = solved(compiled, participants, &open);
    let is_solved = |place: &u32| solved.iter().any(|one| one.place == *place);
    let others: Vec<u32> = open.iter().copied().filter(|place| !is_solved(place)).collect();
    // Who names values names those of all open places.
    let (places, ranges, solved) = match ranges_of(&others) {
        Some(ranges) => (others, Some(ranges), solved),
        None => (open.clone(), ranges_of(&open), Vec::new()),
    };
    let legs = participants.iter().flat_map(|one| &one.way);
    let chosen = legs.filter_map(|leg| match code.ops[leg.to as usize] {
        Op::AnyValue(..) => Some(choosing(code, &compiled.types, leg.to)?.most() as usize),
        _ => None,
    });
    Opening {
        tried: ranges.iter().flatten().map(|&(_, count)| count as usize).product(),
        chosen: chosen.product(),
        source: if ranges.is_none() { source(compiled, participants, &places) } else { None },
        bounds: bounds(compiled, participants, &places),
        ranges,
        places,
        values: values as u32,
        solved,
    }
}

/// Whether participants write slots that lie in memory on their silent ways, and a value is chosen, or tried, behind that.
fn loses(compiled: &Compiled, participants: &[Participant], in_memory: &[u32], tries: bool) -> bool {
    let is_written = |at: u32| match compiled.code.ops[at as usize] {
        Op::StoreElement(part) => {
            let (slot, words) = compiled.code.parts[part as usize].whole;
            (slot..slot + words).any(|slot| in_memory.binary_search(&slot).is_ok())
        }
        Op::StoreSlot(slot) => in_memory.binary_search(&slot).is_ok(),
        Op::StoreSlots(slot, words) => {
            (slot..slot + words).any(|slot| in_memory.binary_search(&slot).is_ok())
        }
        _ => false,
    };
    let mut written = false;
    for leg in participants.iter().flat_map(|one| &one.way) {
        written |= silent(&compiled.code, leg.from).into_iter().any(is_written);
        if let Op::AnyValue(slot, ty) = compiled.code.ops[leg.to as usize] {
            let words = compiled.types[ty.index()].words();
            if written || (slot..slot + words).any(|slot| in_memory.binary_search(&slot).is_ok()) {
                return true;
            }
        }
    }
    written && tries
}

/// Whether a participant does nothing silently but find out where to go.
fn only_decides(code: &Code, participant: &Participant) -> bool {
    let of_leg = participant.way.iter().flat_map(|leg| silent(code, leg.from).into_iter().chain([leg.to]));
    of_leg.into_iter().all(|at| {
        !matches!(
            code.ops[at as usize],
            Op::StoreSlot(_)
                | Op::StoreSlots(..)
                | Op::StoreElement(_)
                | Op::StoreLocal(_)
                | Op::StoreLocals(..)
                | Op::StoreLocalElement(..)
                | Op::AnyValue(..)
                | Op::Mark(_)
                | Op::Decide(_)
                | Op::Fire(_)
                | Op::FireOutcome(_)
                | Op::Observe(_)
                | Op::Record(..)
        )
    })
}

/// Whether an offer says what its value is.
fn gives(offer: OfferCode) -> bool {
    matches!(offer, OfferCode::Constant(_) | OfferCode::Slot(_) | OfferCode::Computed(_))
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
    /// On a silent way, it has to get to an instruction. At some others it is left to offers what follows.
    Way { to: usize, arrives: Block, lost: Vec<u32> },
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
    /// Those that are still as they were at first, and what they are. In memory, all of them stay like that.
    unchanged: FxHashMap<u32, Value>,
    /// The slots that the code may change, and those of them that lie in memory.
    written: Vec<u32>,
    written_in_memory: Vec<u32>,
    /// The unpacked state as it was.
    before: Value,
    halts: Halts,
    /// Where control goes on if there is no step with the values at hand.
    nothing: Block,
    /// Where the marks start that have fired so far, if they are told.
    first_mark: Option<Value>,
    /// The loops that are open.
    loops: Vec<Loop>,
    /// The values that were chosen silently so far.
    chosen: Vec<Value>,
    /// Where the guard at hand asks for a membership that is known to hold.
    known_member: Option<u32>,
    /// For slots that a row is stored in: the draft that is to be stored there, or 0. Such a row is stored after all steps of the
    /// state were found, together with the others: then finding them takes hardly longer than finding one.
    deferred: FxHashMap<u32, Variable>,
    zero: Value,
}

/// A value that is put together: its place, its words with the bits of each that are known already, and whether words are
/// known by the number of a row.
struct Gathered {
    place: u32,
    words: Vec<(u32, Value)>,
    wide: bool,
}

/// A value that a rendezvous has: its words, and the one by which offers know it, once that is needed.
#[derive(Clone)]
struct Given {
    words: Vec<Value>,
    frozen: Option<Value>,
}

impl Given {
    /// A value of one word.
    fn narrow(word: Value) -> Self {
        Self { words: vec![word], frozen: Some(word) }
    }
}

/// A loop over values.
struct Loop {
    header: Block,
    /// Where it goes on with the next values, and where it leads in the end.
    next: Block,
    finished: Block,
    /// Counters, and where they end; the last one counts fastest.
    counters: Vec<(Variable, Value)>,
}

impl Meeting<'_> {
    /// The variable that is a slot.
    pub fn variable(&self, slot: u32) -> Option<Variable> {
        self.variables.get(&slot).copied()
    }

    /// What a slot is, if that has not changed.
    pub fn unchanged(&self, slot: u32) -> Option<Value> {
        self.unchanged.get(&slot).copied()
    }

    /// A slot changes from here on. Loops of the function put it back for each round.
    pub fn changes(&mut self, slot: u32) {
        self.unchanged.remove(&slot);
    }

    /// Code follows that may have loops of its own, so that what it changes somewhere is changed everywhere in it.
    pub fn runs(&mut self, code: &Code, address: u32) {
        if matches!(self.halts, Halts::Rest { .. }) {
            // Where the region comes to rest, some slots are reset.
            return self.unchanged.clear();
        }
        for at in silent(code, address) {
            match code.ops[at as usize] {
                Op::StoreSlot(slot) => self.changes(slot),
                Op::StoreSlots(slot, words) => (slot..slot + words).for_each(|slot| self.changes(slot)),
                _ => {}
            }
        }
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
            Op::AnyValue(slot, ty) => written.extend(range((slot, compiled.types[ty.index()].words()))),
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
        // Wherever it may come to rest, some slots are reset: behind the action, not on a silent way before it.
        let region = &code.regions[action.region as usize];
        let rests = if before { Vec::new() } else { reached(code, participant.address + 1) };
        for at in rests {
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

/// The slots that get rows which functions or operations make, behind the actions.
fn rows_stored(compiled: &Compiled, participants: &[Participant]) -> Vec<u32> {
    let code = &compiled.code;
    // Which of the words that an instruction leaves on the stack are such rows, as far as it is one that makes them.
    let makes_rows = |at: usize| match code.ops[at] {
        Op::Call(number) => code.row_words[number as usize].results.clone(),
        Op::Apply(number) => vec![is_row(&compiled.types[code.applications[number as usize].result.index()])],
        Op::Tail(ty) | Op::Collection(ty, _) => vec![is_row(&compiled.types[ty.index()])],
        _ => Vec::new(),
    };
    let mut slots = Vec::new();
    for at in participants.iter().flat_map(|one| reached(code, one.address + 1)) {
        // Several words are stored one after the other, the last one first.
        let mut rows = makes_rows(at);
        let stores = code.ops[at + 1..].iter().map_while(|op| match *op {
            Op::StoreSlot(slot) => Some((slot, 1)),
            Op::StoreSlots(slot, words) => Some((slot, words)),
            _ => None,
        });
        for (slot, words) in stores {
            let Some(first) = rows.len().checked_sub(words as usize) else { break };
            let of_store = rows.split_off(first);
            slots.extend((slot..).zip(of_store).filter(|one| one.1).map(|one| one.0));
        }
    }
    slots.sort_unstable();
    slots.dedup();
    slots
}

impl Translator<'_> {
    /// Builds a rendezvous or a scout.
    pub(super) fn build_meeting(
        &mut self,
        number: usize,
        function: &mut cranelift_codegen::ir::Function,
        building: &mut FunctionBuilderContext,
    ) -> Option<Built> {
        let configuration = self.configuration?;
        let (participants, scout, is_grouped) = match self.outlines[number].start {
            Start::Meeting(number) => {
                let one = &configuration.rendezvous[number as usize];
                (&one.participants[..], None, one.group != 0)
            }
            Start::Scout(number) => {
                let scout = &configuration.scouts[number as usize];
                (&scout.ways[..], Some(scout), false)
            }
            Start::Function(_) | Start::At(..) => return None,
        };
        let before = scout.is_some();
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
        let opening = match before {
            true => Opening::default(),
            false => opening(self.compiled, participants, self.quickly),
        };
        // Memory is put back after each try: what silent ways write there before would be lost.
        let tries = !before && opening.combinations(2) != opening.chosen;
        let lost = match scout {
            Some(scout) => scout
                .ways
                .iter()
                .any(|one| loses(self.compiled, std::slice::from_ref(one), &in_memory, false)),
            None => loses(self.compiled, participants, &in_memory, tries),
        };
        if lost || opening.chosen > MOST_CHOSEN {
            return None;
        }
        let (mut variables, mut unchanged) = (FxHashMap::default(), FxHashMap::default());
        let mut origins = FxHashMap::default();
        for slot in all.into_iter().filter(|slot| !is_in_memory(slot)) {
            let variable = builder.declare_var(types::I32);
            let value = builder.ins().load(types::I32, trusted(), state, offset(slot));
            builder.def_var(variable, value);
            variables.insert(slot, variable);
            unchanged.insert(slot, value);
            origins.insert(value, (Memory::State, slot));
        }
        let zero = builder.ins().iconst(types::I32, 0);
        let mut deferred = FxHashMap::default();
        for slot in rows_stored(self.compiled, participants) {
            if variables.contains_key(&slot) && self.layout.place(slot as usize).2 == u32::MAX && !before {
                let draft = builder.declare_var(types::I32);
                builder.def_var(draft, zero);
                deferred.insert(slot, draft);
            }
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
            locals: Locals::default(),
            origins,
            copies: Copies::default(),
            drafts: FxHashSet::default(),
            called: Vec::new(),
            inlined: Vec::new(),
            inlined_ops: 0,
            inlined_words: 0,
            back: None,
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
                unchanged,
                written_in_memory: written.iter().copied().filter(is_in_memory).collect(),
                written,
                before: state_before,
                halts: Halts::Condition { holds: nothing },
                nothing,
                first_mark: None,
                loops: Vec::new(),
                chosen: Vec::new(),
                known_member: None,
                deferred,
                zero,
            }),
        };
        match scout {
            Some(scout) => body.scout(scout)?,
            None => {
                let scouts = &configuration.scouts;
                body.meeting(participants, scouts, &opening, is_grouped, [packed, out, list, count])?;
            }
        }
        body.builder.switch_to_block(gives_up);
        body.restore_memory();
        body.halt(GAVE_UP);
        body.builder.seal_all_blocks();
        let called = body.called;
        body.builder.finalize();
        Some(Built { inputs: 0, outputs: 0, writes: false, called, opening })
    }
}

/// How many steps there are, and where the next record goes.
#[derive(Clone, Copy)]
struct Records {
    first: Value,
    count: Variable,
    end: Variable,
}

impl Building<'_> {
    /// What participants do before their actions, and what they offer if that may fail. Gives a bit for each that gets to its action.
    fn scout(&mut self, scout: &Scout) -> Option<()> {
        let open = self.builder.declare_var(types::I32);
        let zero = self.constant(0);
        self.builder.def_var(open, zero);
        let meeting = self.meeting.as_ref()?;
        let written: Vec<Variable> =
            meeting.written.iter().filter_map(|&slot| meeting.variable(slot)).collect();
        let first: Vec<Value> = written.iter().map(|&variable| self.builder.use_var(variable)).collect();
        for (number, (participant, &fails)) in scout.ways.iter().zip(&scout.fails).enumerate() {
            // Each of them starts from the state at hand.
            for (&variable, &value) in written.iter().zip(&first) {
                self.builder.def_var(variable, value);
            }
            let nothing = self.builder.create_block();
            self.meeting.as_mut()?.nothing = nothing;
            self.follow(participant)?;
            let offers = &self.compiled.code.actions[participant.action as usize].offers;
            for &(offer, ty) in offers.iter().filter(|offer| fails && gives(offer.0)) {
                self.offered(offer, ty)?;
            }
            let before = self.builder.use_var(open);
            let more = self.builder.ins().bor_imm(before, 1 << number);
            self.builder.def_var(open, more);
            let nothing = self.meeting.as_ref()?.nothing;
            self.builder.ins().jump(nothing, &[]);
            let finished = self.end_loops()?;
            self.builder.switch_to_block(finished);
            self.restore_memory();
        }
        let open = self.builder.use_var(open);
        self.builder.ins().return_(&[open]);
        Some(())
    }

    /// The whole function.
    fn meeting(
        &mut self,
        participants: &[Participant],
        scouts: &[Scout],
        opening: &Opening,
        is_grouped: bool,
        [packed, out, list, listed]: [Value; 4],
    ) -> Option<()> {
        let code = &self.compiled.code;
        let marked = code.tells();
        let records = Records {
            first: out,
            count: self.builder.declare_var(types::I32),
            end: self.builder.declare_var(self.pointer),
        };
        let zero = self.constant(0);
        self.builder.def_var(records.count, zero);
        self.builder.def_var(records.end, out);
        if marked {
            let first = self.repeat_marks(zero, zero);
            self.meeting.as_mut()?.first_mark = Some(first);
        }
        for participant in participants {
            let is_scouted = scouts.iter().any(|scout| scout.ways.contains(participant));
            if !(is_scouted && only_decides(code, participant)) {
                self.follow(participant)?;
            }
        }
        // What is offered, by place; offers that say nothing leave it to others.
        let mut values: Vec<Option<Given>> = vec![None; opening.values as usize];
        for participant in participants {
            let offers = &code.actions[participant.action as usize].offers;
            for (place, &(offer, ty)) in offers.iter().enumerate() {
                if !gives(offer) {
                    continue;
                }
                let value = self.offered(offer, ty)?;
                self.agree(place as u32, value, &mut values)?;
            }
        }
        let types: Vec<TypeId> =
            code.actions[participants[0].action as usize].offers.iter().map(|one| one.1).collect();
        self.go_through(opening, &types, [list, listed], &mut values)?;
        for solved in &opening.solved {
            let value = self.solve(solved, participants, &values)?;
            values[solved.place as usize] = Some(value);
        }
        let values: Vec<Given> = values.into_iter().collect::<Option<_>>()?;
        self.receive(participants, &values)?;
        let decides = |number: usize| {
            opening.source.as_ref().is_some_and(|source| source.decides && source.participant == number)
        };
        for (number, participant) in participants.iter().enumerate() {
            let action = &code.actions[participant.action as usize];
            if let Some(guard) = action.guard.filter(|_| !decides(number)) {
                let source = opening.source.as_ref().filter(|source| source.participant == number);
                self.meeting.as_mut()?.known_member = source.and_then(|source| source.asked);
                self.condition(guard)?;
                self.meeting.as_mut()?.known_member = None;
            }
        }
        for participant in participants {
            self.run_on(participant)?;
        }
        self.record(packed, &values, is_grouped, records)?;
        let next = self.meeting.as_ref()?.nothing;
        self.builder.ins().jump(next, &[]);
        let finished = self.end_loops()?;
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

    /// Runs what a participant does silently before its action.
    fn follow(&mut self, participant: &Participant) -> Option<()> {
        let mut behind: Option<u32> = None;
        for leg in &participant.way {
            let from = behind.take().unwrap_or(leg.from);
            let arrives = self.builder.create_block();
            let lost =
                participant.lost.iter().filter(|lost| lost.from == leg.from).map(|lost| lost.to).collect();
            self.meeting.as_mut()?.halts = Halts::Way { to: leg.to as usize, arrives, lost };
            // A region that rests where a value is chosen is there already.
            match leg.from == leg.to {
                true => _ = self.builder.ins().jump(arrives, &[]),
                false => self.code_from(from as usize)?,
            }
            self.builder.switch_to_block(arrives);
            self.stack.clear();
            if let Op::AnyValue(slot, _) = self.compiled.code.ops[leg.to as usize] {
                let (words, turn);
                (words, turn, behind) = self.choose(leg.to)?;
                self.meeting.as_mut()?.chosen.push(turn);
                for (word, slot) in words.into_iter().zip(slot..) {
                    self.store_slot(slot, word);
                }
            }
        }
        Some(())
    }

    /// Goes through the values that can be chosen at an instruction, in ascending order; gives the words of one, a number that
    /// grows with it, and where control goes on, if not right behind the instruction.
    fn choose(&mut self, at: u32) -> Option<(Vec<Value>, Value, Option<u32>)> {
        match choosing(&self.compiled.code, &self.compiled.types, at)? {
            Choosing::Range(first, count, bounds) => {
                let (first, count) = self.narrowed((first, count), &bounds)?;
                let counted = self.begin_loop(&[count])?[0];
                let value = self.builder.ins().iadd(counted, first);
                Some((vec![value], value, None))
            }
            Choosing::Elements { slot, most, in_order, behind } => {
                let Op::AnyValue(_, ty) = self.compiled.code.ops[at as usize] else { return None };
                let words = self.compiled.types[ty.index()].words();
                let mut row = self.load_slot(slot);
                if !in_order {
                    row = self.in_ascending_order(row, words)?;
                }
                let length = self.row_length(row);
                let count = match words {
                    1 => length,
                    words => self.builder.ins().udiv_imm(length, i64::from(words)),
                };
                let nothing = self.meeting.as_ref()?.nothing;
                self.go_on_if(count, nothing);
                // There is room for the steps of no more of them.
                let fits =
                    self.builder.ins().icmp_imm(IntCC::UnsignedLessThanOrEqual, count, i64::from(most));
                self.go_on_if(fits, self.gives_up);
                let counted = self.begin_loop(&[count])?[0];
                let first = self.builder.ins().imul_imm(counted, i64::from(words));
                let element = (0..i64::from(words)).map(|word| {
                    let position = self.builder.ins().iadd_imm(first, word);
                    self.row_word(row, position)
                });
                Some((element.collect(), counted, behind))
            }
        }
    }

    /// The first word of a range and how many there are, within bounds on slots as they are now. Where there are none, there are no
    /// steps.
    fn narrowed(&mut self, (first, count): (u32, u32), bounds: &Bounds) -> Option<(Value, Value)> {
        let bounds = bounds.varying().those(|bound| !matches!(bound, Bound::OneOf(_, MANY_SLOTS..)));
        let (mut low, mut high) = (self.word(first), self.word(first + (count - 1)));
        if bounds == Bounds::default() {
            return Some((low, self.word(count)));
        }
        let nothing = self.meeting.as_ref()?.nothing;
        for &bound in &bounds.most {
            let most = self.bound(bound, true)?;
            high = self.builder.ins().umin(high, most);
        }
        for &bound in &bounds.least {
            let least = self.bound(bound, false)?;
            low = self.builder.ins().umax(low, least);
        }
        for &bound in &bounds.below {
            let below = self.bound(bound, true)?;
            self.go_on_if(below, nothing);
            let most = self.builder.ins().iadd_imm(below, -1);
            high = self.builder.ins().umin(high, most);
        }
        for &bound in &bounds.above {
            let above = self.bound(bound, false)?;
            let least = self.builder.ins().iadd_imm(above, 1);
            // Behind the last word comes 0.
            self.go_on_if(least, nothing);
            low = self.builder.ins().umax(low, least);
        }
        let some = self.builder.ins().icmp(IntCC::UnsignedLessThanOrEqual, low, high);
        self.go_on_if(some, nothing);
        let count = self.builder.ins().isub(high, low);
        Some((low, self.builder.ins().iadd_imm(count, 1)))
    }

    /// The most that a bound may be in the state at hand, or the least.
    fn bound(&mut self, bound: Bound, most: bool) -> Option<Value> {
        Some(match bound {
            Bound::Word(word) => self.word(word),
            Bound::Slot(slot) => self.load_slot(slot),
            Bound::OneOf(first, count) => {
                let mut found = self.load_slot(first);
                for slot in first + 1..first + count {
                    let other = self.load_slot(slot);
                    found = match most {
                        true => self.builder.ins().umax(found, other),
                        false => self.builder.ins().umin(found, other),
                    };
                }
                found
            }
            Bound::Bits { slot, shift, mask } => {
                let word = self.load_slot(slot);
                let bits = self.builder.ins().ushr_imm(word, i64::from(shift));
                let mask = self.word(mask);
                self.builder.ins().band(bits, mask)
            }
            Bound::Length { slot, ty, upper } => {
                let collection = self.load_slot(slot);
                let shape = &self.compiled.types[ty.index()];
                let length = match (shape.storage, &shape.kind) {
                    (Storage::Packed, Kind::List { sorted: true, .. }) => {
                        self.builder.ins().popcnt(collection)
                    }
                    (Storage::Packed, _) => {
                        let length = self.word(mask_of(shape.length_bits()));
                        self.builder.ins().band(collection, length)
                    }
                    _ => {
                        let words = self.row_length(collection);
                        self.builder.ins().udiv_imm(words, i64::from(shape.element.words.max(1)))
                    }
                };
                // Asking for it fails.
                let upper = self.word(upper);
                let is_told = self.builder.ins().icmp(IntCC::UnsignedLessThanOrEqual, length, upper);
                self.require(is_told);
                length
            }
        })
    }

    /// The value that an offer says.
    fn offered(&mut self, offer: OfferCode, ty: TypeId) -> Option<Given> {
        let words = self.compiled.types[ty.index()].words();
        let values = match offer {
            OfferCode::Constant(value) => {
                let frozen = self.word(value);
                return Some(match self.compiled.types[ty.index()].storage {
                    Storage::Wide => {
                        let words = self.compiled.values.row(value);
                        let words = words.into_iter().map(|word| self.word(word)).collect();
                        Given { words, frozen: Some(frozen) }
                    }
                    _ => Given::narrow(frozen),
                });
            }
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
        Some(self.given(ty, values))
    }

    /// A value by its words.
    fn given(&self, ty: TypeId, words: Vec<Value>) -> Given {
        match self.compiled.types[ty.index()].storage {
            Storage::Wide => Given { words, frozen: None },
            _ => Given::narrow(words[0]),
        }
    }

    /// The number of words as a row.
    fn freeze_words(&mut self, words: &[Value]) -> Value {
        let room = slot(&mut self.builder, 4 * words.len().max(1) as u32);
        for (word, &value) in words.iter().enumerate() {
            self.builder.ins().stack_store(value, room, offset(word as u32));
        }
        let count = self.word(words.len() as u32);
        let address = self.builder.ins().stack_addr(self.pointer, room, 0);
        self.push_call(self.helpers.freeze, &[address, count]);
        self.stack.pop().unwrap_or(count)
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

    /// Goes through the values that nobody fixes.
    fn go_through(
        &mut self,
        opening: &Opening,
        types: &[TypeId],
        [list, listed]: [Value; 2],
        values: &mut [Option<Given>],
    ) -> Option<()> {
        if opening.places.is_empty() {
            return Some(());
        }
        let Some(ranges) = &opening.ranges else {
            let nothing = self.meeting.as_ref()?.nothing;
            self.go_on_if(listed, nothing);
            let counted = self.begin_loop(&[listed])?[0];
            if let Some(source) = &opening.source {
                let words = self.builder.ins().imul_imm(counted, i64::from(source.words));
                let base = self.element_address(list, words);
                return self.take_apart(source, base, values);
            }
            let words = self.builder.ins().imul_imm(counted, opening.places.len() as i64);
            let base = self.element_address(list, words);
            for (at, &place) in opening.places.iter().enumerate() {
                let value = self.builder.ins().load(types::I32, trusted(), base, offset(at as u32));
                let words = self.thaw(types[place as usize], value);
                values[place as usize] = Some(Given { words, frozen: Some(value) });
            }
            return Some(());
        };
        let narrowed =
            ranges.iter().zip(&opening.bounds).map(|(&range, bounds)| self.narrowed(range, bounds));
        let (first, counts): (Vec<Value>, Vec<Value>) = narrowed.collect::<Option<_>>()?;
        let counted = self.begin_loop(&counts)?;
        for ((&place, first), counted) in opening.places.iter().zip(first).zip(counted) {
            let value = self.builder.ins().iadd(counted, first);
            values[place as usize] = Some(Given::narrow(value));
        }
        Some(())
    }

    /// The value that a guard compares an open one with.
    fn solve(
        &mut self,
        solved: &Solved,
        participants: &[Participant],
        values: &[Option<Given>],
    ) -> Option<Given> {
        let code = &self.compiled.code;
        let action = &code.actions[participants[solved.participant].action as usize];
        for (&(offer, _), value) in action.offers.iter().zip(values) {
            if let (OfferCode::Variable(slot), Some(value)) = (offer, value) {
                for (&word, slot) in value.words.iter().zip(slot..) {
                    self.store_slot(slot, word);
                }
            }
        }
        for &at in &solved.path {
            match code.ops[at as usize] {
                // Control goes on where the guard may hold.
                Op::JumpIfFalse(_) => _ = self.pop_drafts(1)?,
                _ => _ = self.op(at as usize)?,
            }
        }
        let ty = action.offers[solved.place as usize].1;
        let words = self.compiled.types[ty.index()].words();
        let (second, first) = (self.pop_many(words)?, self.pop_many(words)?);
        self.stack.clear();
        Some(self.given(ty, if solved.is_first { second } else { first }))
    }

    /// Takes the values that nobody fixes from an element of a set, if it looks as it has to.
    fn take_apart(&mut self, source: &Source, element: Value, values: &mut [Option<Given>]) -> Option<()> {
        let mut wholes: Vec<Gathered> = source.wholes.iter().map(|whole| self.gathered(whole)).collect();
        let mut word = 0;
        for piece in &source.element {
            if let &Piece::OpenWide(place, words) = piece {
                let loads = (word..word + words)
                    .map(|word| self.builder.ins().load(types::I32, trusted(), element, offset(word)));
                let given = Given { words: loads.collect(), frozen: None };
                self.agree(place, given, values)?;
                word += words;
                continue;
            }
            let value = self.builder.ins().load(types::I32, trusted(), element, offset(word));
            self.take_apart_word(piece, value, values, &mut wholes)?;
            word += 1;
        }
        for Gathered { place, words, wide } in wholes {
            let words: Vec<Value> = words.into_iter().map(|(_, word)| word).collect();
            let given = if wide { Given { words, frozen: None } } else { Given::narrow(words[0]) };
            self.agree(place, given, values)?;
        }
        Some(())
    }

    /// A value of which only what patterns fix is known yet.
    fn gathered(&mut self, whole: &Whole) -> Gathered {
        let words = whole.fixed.iter().map(|&(mask, bits)| (mask, self.word(bits))).collect();
        Gathered { place: whole.place, words, wide: whole.wide }
    }

    fn take_apart_word(
        &mut self,
        piece: &Piece,
        value: Value,
        values: &mut [Option<Given>],
        wholes: &mut [Gathered],
    ) -> Option<()> {
        let nothing = self.meeting.as_ref()?.nothing;
        let wanted = match piece {
            &Piece::Open(place) => return self.agree(place, Given::narrow(value), values),
            Piece::OpenWide(..) => return None,
            Piece::OpenPart(part) => {
                let whole = wholes.iter_mut().find(|whole| whole.place == part.place)?;
                let (known, word) = &mut whole.words[part.word as usize];
                let shifted = self.builder.ins().ishl_imm(value, i64::from(part.shift));
                let again = *known & part.mask << part.shift;
                if again != 0 {
                    let differ = self.builder.ins().bxor(*word, shifted);
                    let differ = self.builder.ins().band_imm(differ, i64::from(again));
                    let same = self.builder.ins().icmp_imm(IntCC::Equal, differ, 0);
                    self.go_on_if(same, nothing);
                }
                *known |= part.mask << part.shift;
                *word = self.builder.ins().bor(*word, shifted);
                return Some(());
            }
            &Piece::Constant(constant) => self.word(constant),
            Piece::Fixed(part) => {
                let whole = values[part.place as usize].as_ref()?.words[0];
                self.bits(whole, part.shift, part.mask)
            }
            &Piece::Slot(slot) => self.load_slot(slot),
            Piece::Packed { tag, fields } => {
                let used = fields.iter().fold(0, |used, &(shift, mask, _)| used | mask << shift);
                let others = self.builder.ins().band_imm(value, i64::from(!used));
                let is_tag = self.builder.ins().icmp_imm(IntCC::Equal, others, i64::from(*tag));
                self.go_on_if(is_tag, nothing);
                for (shift, mask, field) in fields {
                    let part = self.bits(value, *shift, *mask);
                    self.take_apart_word(field, part, values, wholes)?;
                }
                return Some(());
            }
        };
        let same = self.builder.ins().icmp(IntCC::Equal, value, wanted);
        self.go_on_if(same, nothing);
        Some(())
    }

    /// A value of a place; if it has one, they have to be the same.
    fn agree(&mut self, place: u32, value: Given, values: &mut [Option<Given>]) -> Option<()> {
        let Some(other) = &values[place as usize] else {
            values[place as usize] = Some(value);
            return Some(());
        };
        let mut same: Option<Value> = None;
        for (&a, &b) in value.words.iter().zip(&other.words) {
            let alike = self.builder.ins().icmp(IntCC::Equal, a, b);
            same = Some(match same {
                Some(same) => self.builder.ins().band(same, alike),
                None => alike,
            });
        }
        let nothing = self.meeting.as_ref()?.nothing;
        self.go_on_if(same?, nothing);
        // Whichever is known by a number already.
        if value.frozen.is_some() {
            values[place as usize] = Some(value);
        }
        Some(())
    }

    /// Begins a loop of counters, each of which goes from 0 to before its end, the last one fastest; gives what they have
    /// come to. Each round begins with the slots and marks as they are now.
    fn begin_loop(&mut self, ends: &[Value]) -> Option<Vec<Value>> {
        let (header, next) = (self.builder.create_block(), self.builder.create_block());
        let zero = self.constant(0);
        let counters: Vec<(Variable, Value)> =
            ends.iter().map(|&end| (self.builder.declare_var(types::I32), end)).collect();
        for &(counter, _) in &counters {
            self.builder.def_var(counter, zero);
        }
        let meeting = self.meeting.as_ref()?;
        let first_mark = meeting.first_mark;
        let written: Vec<Variable> =
            meeting.written.iter().filter_map(|&slot| meeting.variable(slot)).collect();
        let saved: Vec<Value> = written.iter().map(|&variable| self.builder.use_var(variable)).collect();
        let end_of_marks = first_mark.map(|_| self.repeat_marks(zero, zero));
        self.builder.ins().jump(header, &[]);
        self.builder.switch_to_block(header);
        for (&variable, &value) in written.iter().zip(&saved) {
            self.builder.def_var(variable, value);
        }
        let meeting = self.meeting.as_ref()?;
        for &draft in meeting.deferred.values() {
            self.builder.def_var(draft, meeting.zero);
        }
        let counted = counters.iter().map(|&(counter, _)| self.builder.use_var(counter)).collect();
        let first_mark = match (first_mark, end_of_marks) {
            (Some(first), Some(end)) => Some(self.repeat_marks(first, end)),
            _ => None,
        };
        let meeting = self.meeting.as_mut()?;
        meeting.first_mark = first_mark;
        let finished = std::mem::replace(&mut meeting.nothing, next);
        meeting.loops.push(Loop { header, next, finished, counters });
        Some(counted)
    }

    /// Ends all loops, the innermost first; gives where control comes when all are over.
    fn end_loops(&mut self) -> Option<Block> {
        while let Some(Loop { header, next, finished, counters }) = self.meeting.as_mut()?.loops.pop() {
            self.builder.switch_to_block(next);
            self.restore_memory();
            let zero = self.constant(0);
            for &(counter, end) in counters.iter().rev() {
                let counted = self.builder.use_var(counter);
                let more = self.builder.ins().iadd_imm(counted, 1);
                self.builder.def_var(counter, more);
                let again = self.builder.ins().icmp(IntCC::UnsignedLessThan, more, end);
                let carry = self.builder.create_block();
                self.builder.ins().brif(again, header, &[], carry, &[]);
                self.builder.switch_to_block(carry);
                self.builder.def_var(counter, zero);
            }
            self.builder.ins().jump(finished, &[]);
            self.meeting.as_mut()?.nothing = finished;
        }
        Some(self.meeting.as_ref()?.nothing)
    }

    /// Keeps what participants receive, and runs their patterns.
    fn receive(&mut self, participants: &[Participant], values: &[Given]) -> Option<()> {
        for participant in participants {
            let action = &self.compiled.code.actions[participant.action as usize];
            for (&(offer, _), value) in action.offers.iter().zip(values) {
                match offer {
                    OfferCode::Variable(slot) => {
                        for (&word, slot) in value.words.iter().zip(slot..) {
                            self.store_slot(slot, word);
                        }
                    }
                    OfferCode::Pattern { address, .. } => {
                        self.stack.clone_from(&value.words);
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

    /// Whether a row that goes into a slot may be stored later.
    pub(super) fn defers(&self, slot: u32) -> bool {
        self.back.is_none()
            && self.meeting.as_ref().is_some_and(|meeting| {
                matches!(meeting.halts, Halts::Rest { .. }) && meeting.deferred.contains_key(&slot)
            })
    }

    /// Stores a row that may be a draft in a slot.
    pub(super) fn store_draft(&mut self, slot: u32, row: Value) {
        let is_draft = self.is_draft(row);
        let Some(meeting) = &self.meeting else { return };
        let (zero, draft) = (meeting.zero, meeting.deferred[&slot]);
        let stored = self.builder.ins().select(is_draft, zero, row);
        self.store_slot(slot, stored);
        let deferred = self.builder.ins().select(is_draft, row, zero);
        self.builder.def_var(draft, deferred);
    }

    /// Something else than a draft is stored in a slot.
    pub(super) fn keeps_no_draft(&mut self, slot: u32) {
        if let Some(meeting) = &self.meeting
            && let Some(&draft) = meeting.deferred.get(&slot)
        {
            self.builder.def_var(draft, meeting.zero);
        }
    }

    /// Settles the draft that a slot has, if it may have one: it is read.
    pub(super) fn settle_slot(&mut self, slot: u32) {
        let Some(meeting) = self.meeting.as_ref().filter(|_| self.defers(slot)) else { return };
        let (draft, variable) = (meeting.deferred[&slot], meeting.variables[&slot]);
        let value = self.builder.use_var(draft);
        let (settle, behind) = (self.builder.create_block(), self.builder.create_block());
        self.builder.ins().brif(value, settle, &[], behind, &[]);
        self.builder.switch_to_block(settle);
        let stored = self.call_helper(self.helpers.settle, &[value]);
        self.builder.def_var(variable, stored);
        self.keeps_no_draft(slot);
        self.builder.ins().jump(behind, &[]);
        self.builder.switch_to_block(behind);
    }

    /// Has drafts stored that a record is about, which lies at an address, so many words behind the first one.
    fn defer_rows(&mut self, end: Value, record: Value, values: u32) -> Option<()> {
        let meeting = self.meeting.as_ref()?;
        let mut slots: Vec<u32> = meeting.deferred.keys().copied().collect();
        slots.sort_unstable();
        for slot in slots {
            let meeting = self.meeting.as_ref()?;
            let (word, _, _) = meeting.layout.place(slot as usize);
            let draft = self.builder.use_var(meeting.deferred[&slot]);
            let (defer, behind) = (self.builder.create_block(), self.builder.create_block());
            self.builder.ins().brif(draft, defer, &[], behind, &[]);
            self.builder.switch_to_block(defer);
            let at = self.builder.ins().iadd_imm(record, i64::from(values + word));
            let number = self.call_helper(self.helpers.defer, &[draft, at]);
            self.builder.ins().store(trusted(), number, end, offset(values + word));
            self.builder.ins().jump(behind, &[]);
            self.builder.switch_to_block(behind);
        }
        Some(())
    }

    /// Whether an instruction asks for a membership that is known to hold.
    pub(super) fn is_known_member(&self, at: usize) -> bool {
        self.back.is_none() && self.meeting.as_ref().is_some_and(|one| one.known_member == Some(at as u32))
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
            Halts::Way { to, arrives, .. } if to == at => arrives,
            Halts::Way { ref lost, .. } if lost.contains(&(at as u32)) => self.gives_up,
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
    fn record(&mut self, packed: Value, values: &[Given], is_grouped: bool, records: Records) -> Option<()> {
        let count = values.len() as u32;
        let values: Vec<Value> = values
            .iter()
            .map(|value| value.frozen.unwrap_or_else(|| self.freeze_words(&value.words)))
            .collect();
        let meeting = self.meeting.as_ref()?;
        let (layout, first_mark, chosen) = (meeting.layout, meeting.first_mark, meeting.chosen.clone());
        // For each word of the packed state, which bits are replaced, and by what.
        let mut words: Vec<(u32, Option<Value>)> = vec![(0, None); layout.words()];
        let mut beyond: Option<Value> = None;
        for slot in meeting.written.clone() {
            let value = self.load_slot_as_it_is(slot);
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
        for value in values {
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
        if is_grouped {
            chosen.into_iter().for_each(|value| append(self, value));
        }
        let bytes = self.builder.ins().isub(end, records.first);
        let words = self.builder.ins().ushr_imm(bytes, 2);
        let record = self.builder.ins().ireduce(types::I32, words);
        self.defer_rows(end, record, count)?;
        let further = self.builder.ins().iadd_imm(end, 4 * i64::from(at));
        self.builder.def_var(records.end, further);
        let count = self.builder.use_var(records.count);
        let more = self.builder.ins().iadd_imm(count, 1);
        self.builder.def_var(records.count, more);
        Some(())
    }
}
