//! Functions: their variables, calls of them, and small ones that are built into what calls them.
//!
//! A variable that is never changed is the value of its argument. Arrays that are indexed have to lie in memory: those
//! that are never changed are read where they lie already, in the state, among the arguments of the function that is
//! being built or in another variable, if they come from there as they are; others are changed in place where that is
//! possible ([`super::copies`]).

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, StackSlot, Value, types};
use cranelift_frontend::Variable;
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::{Asked, Context, DONE, MOST_WORDS, RAISED, Remembered, UNKNOWN};
use super::{Building, most_raised, offset, reached_in_function, slot, trusted};
use crate::compile::code::{Code, FunctionCode, Landing, Op, Table};
use crate::run::results::{FACTORS, MEMORY_BITS};

/// Functions of more instructions are called, and those with many copies of more than very few.
const FEW_OPS: usize = 80;
const VERY_FEW_OPS: usize = 16;
const MOST_COPIED: usize = 600;
/// So many instructions are built into a function in all, and as many functions into each other.
const MOST_INLINED: usize = 600;
const MOST_NESTED: usize = 4;

/// Variables of so many words lie in memory where functions get them.
const LONG: u32 = 5;

/// What values are loaded from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Memory {
    /// The slots of the state.
    State,
    /// The arguments of the function that is being built.
    Arguments,
}

/// A word of a function's variables.
#[derive(Clone, Copy)]
enum Local {
    /// One that is never changed.
    Fixed(Value),
    Changing(Variable),
    /// One that is indexed and changed.
    InMemory,
}

/// The variables of a function.
#[derive(Default)]
pub(super) struct Locals {
    words: Vec<Local>,
    /// Where variables lie that are indexed, and how many words they have, by their first words.
    indexed: FxHashMap<u32, (Place, u32)>,
    /// The function, if it is one.
    pub(super) function: Option<u32>,
    /// Whether it begins again, with other arguments, where it would return what it returns for these.
    repeats: bool,
}

/// Where words lie one behind the other.
#[derive(Clone, Copy)]
enum Place {
    There(Memory, u32),
    Here(StackSlot),
}

/// Where a function that is built into another one goes back to, and with what.
pub(super) struct Back {
    block: Block,
    results: Vec<Variable>,
    /// Where the results lie then, wherever it is left; nothing before it is left anywhere.
    places: Option<Vec<Option<(StackSlot, u32)>>>,
}

/// How the words of a function's variables are used.
struct Uses {
    changed: Vec<bool>,
    /// The first words and lengths of variables that are indexed.
    indexed: Vec<(u32, u32)>,
}

impl Building<'_> {
    /// Makes the variables of a function for these arguments. What it changes may be what lies in `replaced`: its result will be
    /// stored there.
    pub(super) fn locals_of(
        &mut self,
        number: u32,
        arguments: &[Value],
        mut replaced: Option<StackSlot>,
    ) -> Option<Locals> {
        let function = self.compiled.code.functions[number as usize];
        let mut uses = self.uses(number);
        let repeats = self.repeats(number) && uses.indexed.iter().all(|one| one.0 >= function.arguments);
        if repeats {
            uses.changed[..function.arguments as usize].fill(true);
        }
        let zero = self.constant(0);
        let first = |word: u32| arguments.get(word as usize).copied().unwrap_or(zero);
        let mut words: Vec<Local> = Vec::with_capacity(function.variables as usize);
        for word in 0..function.variables {
            let value = first(word);
            words.push(match uses.changed[word as usize] {
                false => Local::Fixed(value),
                true => {
                    let variable = self.builder.declare_var(types::I32);
                    self.builder.def_var(variable, value);
                    Local::Changing(variable)
                }
            });
        }
        let mut indexed = FxHashMap::default();
        if uses.indexed.windows(2).any(|two| two[0].0 + two[0].1 > two[1].0) {
            // Parts of one variable would have to change with each other.
            return None;
        }
        // Whoever changes a slot in place comes first: nobody else reads it then.
        let is_changed = |&(start, length): &(u32, u32)| {
            uses.changed[start as usize..(start + length) as usize].contains(&true)
        };
        uses.indexed.sort_by_key(|variable| !is_changed(variable));
        let mut taken = Vec::new();
        for &(start, length) in &uses.indexed {
            let values: Vec<Value> = (start..start + length).map(first).collect();
            let is_changed = is_changed(&(start, length));
            let known = if is_changed { None } else { self.lie_together(&values, &taken) };
            if let Some(place) = known {
                if let Place::Here(slot) = place {
                    self.copies.uses(slot);
                }
                indexed.insert(start, (place, length));
                continue;
            }
            let given = (self.copies.slot_with(&values))
                .filter(|&slot| self.copies.is_free(slot) || replaced == Some(slot));
            let memory = match given {
                Some(slot) => {
                    taken.push(slot);
                    if replaced == given {
                        replaced = None;
                    }
                    slot
                }
                None => {
                    let memory = slot(&mut self.builder, 4 * length.max(1));
                    for (word, &value) in (0..).zip(&values) {
                        self.builder.ins().stack_store(value, memory, offset(word));
                    }
                    memory
                }
            };
            if is_changed {
                words[start as usize..(start + length) as usize].fill(Local::InMemory);
            }
            self.copies.uses(memory);
            indexed.insert(start, (Place::Here(memory), length));
        }
        Some(Locals { words, indexed, function: Some(number), repeats })
    }

    /// Whether a function returns what it returns for other arguments, and nothing speaks for remembering that.
    fn repeats(&self, number: u32) -> bool {
        let code = &self.compiled.code;
        let mut reached = reached_in_function(code, code.functions[number as usize].address).into_iter();
        !self.outlines[number as usize].branches && reached.any(|at| is_last_call(code, at, number))
    }

    /// Begins the function at hand again, if an instruction is its last call and one of itself.
    pub(super) fn begins_again(&mut self, at: usize, number: u32) -> Option<bool> {
        let locals = &self.locals;
        if !locals.repeats
            || locals.function != Some(number)
            || !is_last_call(&self.compiled.code, at, number)
        {
            return Some(false);
        }
        let function = self.compiled.code.functions[number as usize];
        let arguments = self.pop_drafts(function.arguments)?;
        for (value, word) in arguments.into_iter().zip(0..) {
            self.store_local(word, value)?;
        }
        self.burn();
        self.stack.clear();
        self.go_to(function.address as usize)?;
        Some(true)
    }

    fn uses(&self, number: u32) -> Uses {
        let FunctionCode { address, variables, .. } = self.compiled.code.functions[number as usize];
        let code = &self.compiled.code;
        let mut changed = vec![false; variables as usize];
        let mut indexed: Vec<(u32, u32)> = Vec::new();
        let (mut long, mut given) = (Vec::new(), FxHashSet::default());
        // Arguments of a function that begins again are replaced word by word.
        let mut calls = false;
        let repeats = self.repeats(number);
        for at in reached_in_function(code, address) {
            let (start, length) = match code.ops[at] {
                Op::StoreLocal(local) => (local, 1),
                Op::StoreLocals(local, words) => {
                    if words >= LONG {
                        long.push((local, words));
                    }
                    (local, words)
                }
                Op::LoadLocals(local, words) => {
                    given.insert((local, words));
                    continue;
                }
                Op::Call(_) => {
                    calls = !repeats;
                    continue;
                }
                Op::StoreLocalElement(local, ty) => {
                    let whole = (local, self.compiled.types[ty.index()].words());
                    indexed.push(whole);
                    whole
                }
                Op::LoadLocalsAt(number) => {
                    indexed.push(code.local_parts[number as usize].whole);
                    continue;
                }
                _ => continue,
            };
            changed[start as usize..(start + length) as usize].fill(true);
        }
        // Long ones that functions get are not passed on word by word.
        long.sort_unstable();
        long.dedup();
        let overlap = |a: &(u32, u32), b: &(u32, u32)| a != b && a.0 < b.0 + b.1 && b.0 < a.0 + a.1;
        let alone = |one: &&(u32, u32)| !long.iter().chain(&indexed).any(|other| overlap(one, other));
        if calls {
            let passed: Vec<_> =
                long.iter().filter(|one| given.contains(one)).filter(alone).copied().collect();
            indexed.extend(passed);
        }
        indexed.sort_unstable();
        indexed.dedup();
        Uses { changed, indexed }
    }

    /// Where values lie one behind the other, if they do: in a slot that none of these functions changes.
    fn lie_together(&self, values: &[Value], taken: &[StackSlot]) -> Option<Place> {
        if let Some(slot) = self.copies.slot_with(values) {
            return Some(Place::Here(slot)).filter(|_| !taken.contains(&slot));
        }
        let (memory, first) = *self.origins.get(values.first()?)?;
        let follows = |(value, at): (&Value, u32)| self.origins.get(value) == Some(&(memory, at));
        values.iter().zip(first..).all(follows).then_some(Place::There(memory, first))
    }

    pub(super) fn load_local(&mut self, word: u32) -> Option<Value> {
        Some(match *self.locals.words.get(word as usize)? {
            Local::Fixed(value) => value,
            Local::Changing(variable) => {
                let value = self.builder.use_var(variable);
                if self.is_row_local(word) {
                    self.drafts.insert(value);
                }
                value
            }
            Local::InMemory => {
                let (memory, first) = self.memory_around(word)?;
                let value = self.builder.ins().stack_load(types::I32, memory, offset(word - first));
                self.copies.load(value, memory, word - first);
                value
            }
        })
    }

    /// Whether a word of the function's variables is a list or set that lies in a row, and so may be a draft.
    fn is_row_local(&self, word: u32) -> bool {
        let rows = self.locals.function.map(|function| &self.compiled.code.row_words[function as usize]);
        rows.is_some_and(|rows| rows.variables.get(word as usize) == Some(&true))
    }

    pub(super) fn store_local(&mut self, word: u32, value: Value) -> Option<()> {
        let stays = self.is_row_local(word)
            && matches!(self.locals.words.get(word as usize), Some(Local::Changing(_)));
        let value = if stays { value } else { self.settled(value) };
        match *self.locals.words.get(word as usize)? {
            Local::Fixed(_) => return None,
            Local::Changing(variable) => self.builder.def_var(variable, value),
            Local::InMemory => {
                let (memory, first) = self.memory_around(word)?;
                if self.copies.place(value) != Some((memory, word - first)) {
                    self.builder.ins().stack_store(value, memory, offset(word - first));
                    self.copies.store(memory);
                }
            }
        }
        Some(())
    }

    /// The memory of the variable that a word belongs to, and its first word.
    fn memory_around(&self, word: u32) -> Option<(StackSlot, u32)> {
        let known = self.locals.indexed.iter().filter(|(start, _)| **start <= word);
        match known.max_by_key(|(start, _)| **start)? {
            (&start, &(Place::Here(memory), _)) => Some((memory, start)),
            _ => None,
        }
    }

    /// Where a variable lies that is indexed: an address, and how many words behind it.
    pub(super) fn memory_of(&mut self, variable: u32) -> Option<(Value, u32)> {
        Some(match self.locals.indexed.get(&variable)?.0 {
            Place::There(Memory::State, first) => (self.state, first),
            Place::There(Memory::Arguments, first) => (self.io, first),
            Place::Here(memory) => (self.builder.ins().stack_addr(self.pointer, memory, 0), 0),
        })
    }

    /// An element of a variable is about to change where it lies.
    pub(super) fn changes_memory_of(&mut self, variable: u32) {
        if let Some(&(Place::Here(slot), _)) = self.locals.indexed.get(&variable) {
            self.copies.store(slot);
        }
    }

    /// Calls the function whose arguments are on the stack, or does here what it would do.
    pub(super) fn call(&mut self, at: usize, number: u32) -> Option<()> {
        let function = self.compiled.code.functions[number as usize];
        let outline = &self.outlines[number as usize];
        let remembered = function.remembered && outline.takes_long;
        // Variables lie on the stack of the thread, all of them in one frame.
        let copied = outline.size * outline.called;
        let fits = (outline.size <= VERY_FEW_OPS || outline.size <= FEW_OPS && copied <= MOST_COPIED)
            && self.inlined_ops + outline.size <= MOST_INLINED
            && self.inlined_words + function.variables as usize <= MOST_WORDS;
        let nests = self.inlined.len() < MOST_NESTED && !self.inlined.contains(&number);
        match function.table {
            Some(table) => self.look_up(at, number, table),
            None if !remembered && fits && nests && !outline.raises && outline.id.is_some() => {
                self.inline(at, number)
            }
            None => self.call_out(at, number, remembered),
        }
    }

    /// Pops the arguments of a function. Of these, only rows can be drafts, and only where it does not matter that what is
    /// computed for them is not remembered.
    fn pop_arguments(&mut self, number: u32) -> Option<Vec<Value>> {
        let mut values = self.pop_drafts(self.compiled.code.functions[number as usize].arguments)?;
        let rows = &self.compiled.code.row_words[number as usize].variables;
        for (word, value) in values.iter_mut().enumerate() {
            if rows.get(word) != Some(&true) || self.outlines[number as usize].branches {
                *value = self.settled(*value);
            }
        }
        Some(values)
    }

    /// Pops what is given back: to a function's caller, rows may be drafts.
    pub(super) fn pop_results(&mut self, words: u32) -> Option<Vec<Value>> {
        let mut values = self.pop_drafts(words)?;
        let function = self.locals.function;
        let rows = function.map(|number| &self.compiled.code.row_words[number as usize].results);
        for (word, value) in values.iter_mut().enumerate() {
            if rows.and_then(|rows| rows.get(word)) != Some(&true) {
                *value = self.settled(*value);
            }
        }
        Some(values)
    }

    /// Pushes the result of a function.
    fn push_result(&mut self, number: u32, word: u32, value: Value) {
        match self.compiled.code.row_words[number as usize].results.get(word as usize) {
            Some(true) => self.push_draft(value),
            _ => self.stack.push(value),
        }
    }

    /// Takes the result of a function from its table; one that is not there yet is computed.
    fn look_up(&mut self, call: usize, number: u32, table: Table) -> Option<()> {
        let arguments = self.pop_many(self.compiled.code.functions[number as usize].arguments)?;
        let result = self.builder.declare_var(types::I32);
        let (compute, behind) = (self.builder.create_block(), self.builder.create_block());
        let (mut place, mut beyond) = (self.constant(0), self.constant(0));
        for (&argument, &bits) in arguments.iter().zip(&table.bits) {
            let shifted = self.builder.ins().ishl_imm(place, i64::from(bits));
            place = self.builder.ins().bor(shifted, argument);
            let high = self.builder.ins().ushr_imm(argument, i64::from(bits));
            beyond = self.builder.ins().bor(beyond, high);
        }
        let at_tables = std::mem::offset_of!(Context, tables) as i32;
        let tables = self.builder.ins().load(self.pointer, trusted(), self.context, at_tables);
        // No value of a type has more bits than its type.
        let inside = self.builder.ins().icmp_imm(IntCC::Equal, beyond, 0);
        self.require(inside);
        let address = self.element_address(tables, place);
        let at = offset(table.start);
        let known = self.builder.ins().load(types::I32, trusted(), address, at);
        self.builder.def_var(result, known);
        let is_unknown = self.builder.ins().icmp_imm(IntCC::Equal, known, i64::from(UNKNOWN));
        self.builder.ins().brif(is_unknown, compute, &[], behind, &[]);
        self.builder.switch_to_block(compute);
        self.builder.set_cold_block(compute);
        self.stack.extend_from_slice(&arguments);
        self.call_out(call, number, false)?;
        let computed = self.pop()?;
        self.builder.ins().store(trusted(), computed, address, at);
        self.builder.def_var(result, computed);
        self.builder.ins().jump(behind, &[]);
        self.builder.switch_to_block(behind);
        let value = self.builder.use_var(result);
        self.stack.push(value);
        Some(())
    }

    /// Builds a function in: what it returns is then on the stack.
    fn inline(&mut self, at: usize, number: u32) -> Option<()> {
        let function = self.compiled.code.functions[number as usize];
        let arguments = self.pop_arguments(number)?;
        let count = results(&self.compiled.code, function.address);
        let outer_copies = self.copies.enter();
        let locals = self.locals_of(number, &arguments, self.replaced_by(at, count))?;
        let results: Vec<Variable> = (0..count).map(|_| self.builder.declare_var(types::I32)).collect();
        let block = self.builder.create_block();
        let back = Back { block, results: results.clone(), places: None };
        self.helped = self.helped.max(self.outlines[number as usize].helped);
        self.inlined_ops += self.outlines[number as usize].size;
        self.inlined_words += function.variables as usize;
        self.inlined.push(number);
        let outer = (
            std::mem::replace(&mut self.locals, locals),
            self.back.replace(back),
            std::mem::take(&mut self.stack),
            std::mem::take(&mut self.places),
            std::mem::take(&mut self.blocks),
            std::mem::take(&mut self.todo),
        );
        self.code_from(function.address as usize)?;
        let places = self.back.take().and_then(|back| back.places).unwrap_or_default();
        (self.locals, self.back, self.stack, self.places, self.blocks, self.todo) = outer;
        self.copies.leave(&outer_copies);
        self.inlined.pop();
        self.builder.switch_to_block(block);
        for (word, result) in (0..).zip(results) {
            let value = self.builder.use_var(result);
            if let Some(&Some((slot, at))) = places.get(word as usize) {
                self.copies.load(value, slot, at);
            }
            self.push_result(number, word, value);
        }
        Some(())
    }

    /// The slot of the variable that becomes the result of a call, which has so many words, as soon as it is there.
    fn replaced_by(&self, call: usize, results: u32) -> Option<StackSlot> {
        let (variable, words) = match *self.compiled.code.ops.get(call + 1)? {
            Op::StoreLocal(variable) => (variable, 1),
            Op::StoreLocals(variable, words) => (variable, words),
            _ => return None,
        };
        match (self.locals.indexed.get(&variable)?, self.locals.words.get(variable as usize)?) {
            (&(Place::Here(slot), length), Local::InMemory) if length == words && words == results => {
                Some(slot)
            }
            _ => None,
        }
    }

    /// Leaves a function that is built into another one.
    pub(super) fn go_back(&mut self, values: Vec<Value>) -> Option<()> {
        let places: Vec<_> = values.iter().map(|&value| self.copies.place(value)).collect();
        let back = self.back.as_mut()?;
        if back.results.len() != values.len() {
            return None;
        }
        // Wherever it is left, they have to lie in the same places.
        match &mut back.places {
            None => back.places = Some(places),
            Some(known) => {
                for (known, place) in known.iter_mut().zip(places) {
                    *known = known.filter(|known| place == Some(*known));
                }
            }
        }
        for (&result, value) in back.results.iter().zip(values) {
            self.builder.def_var(result, value);
        }
        self.builder.ins().jump(back.block, &[]);
        Some(())
    }

    fn call_out(&mut self, at: usize, number: u32, remembered: bool) -> Option<()> {
        self.burn();
        let function = self.compiled.code.functions[number as usize];
        let id = self.outlines[number as usize].id?;
        self.called.push(number);
        let results = results(&self.compiled.code, function.address);
        let arguments = self.pop_arguments(number)?;
        let drafts: Vec<Value> =
            arguments.iter().copied().filter(|value| self.drafts.contains(value)).collect();
        // What a function computes for a part of its own argument is hardly ever asked for again.
        let remembered = remembered && (drafts.is_empty() || self.locals.function != Some(number));
        let size = function.arguments.max(results).max(most_raised(&self.compiled.code)).max(1);
        if size as usize > MOST_WORDS {
            return None;
        }
        let words = slot(&mut self.builder, 4 * size);
        for (word, &value) in arguments.iter().enumerate() {
            self.builder.ins().stack_store(value, words, offset(word as u32));
        }
        let address = self.builder.ins().stack_addr(self.pointer, words, 0);
        let behind = self.builder.create_block();
        let (function_number, count) = (self.word(number), self.word(function.arguments));
        // Nothing is remembered of drafts, nor where that does not pay.
        let is_forgotten = self.builder.declare_var(types::I32);
        let yes = self.constant(1);
        self.builder.def_var(is_forgotten, yes);
        if remembered {
            let (ask, compute) = (self.builder.create_block(), self.builder.create_block());
            if let Some((&first, others)) = drafts.split_first() {
                let any = others.iter().fold(first, |any, &row| self.builder.ins().bor(any, row));
                let is_draft = self.is_draft(any);
                self.builder.ins().brif(is_draft, compute, &[], ask, &[]);
            } else {
                self.builder.ins().jump(ask, &[]);
            }
            self.builder.switch_to_block(ask);
            self.recall(number, &arguments, words, is_forgotten, [behind, compute]);
            self.builder.switch_to_block(compute);
        }
        let at_limit = std::mem::offset_of!(Context, stack_limit) as i32;
        let limit = self.builder.ins().load(self.pointer, trusted(), self.context, at_limit);
        let end = self.builder.ins().get_stack_pointer(self.pointer);
        let shallow = self.builder.ins().icmp(IntCC::UnsignedGreaterThan, end, limit);
        self.require(shallow);
        let callee = self.reference(id);
        let call = self.builder.ins().call(callee, &[self.context, self.state, address]);
        let status = self.builder.inst_results(call)[0];
        let done = self.builder.ins().icmp_imm(IntCC::Equal, status, i64::from(DONE));
        match self.compiled.code.ops.get(at + 1) {
            Some(&Op::Landings(number)) if self.locals.function.is_some() => {
                let (returned, left) = (self.builder.create_block(), self.builder.create_block());
                self.builder.ins().brif(done, returned, &[], left, &[]);
                self.builder.switch_to_block(left);
                self.builder.set_cold_block(left);
                self.land(number, status, words)?;
                self.builder.switch_to_block(returned);
            }
            _ => self.require(done),
        }
        if remembered {
            let keep = self.builder.create_block();
            let is_forgotten = self.builder.use_var(is_forgotten);
            self.builder.ins().brif(is_forgotten, behind, &[], keep, &[]);
            self.builder.switch_to_block(keep);
            // The arguments were overwritten.
            let copies = slot(&mut self.builder, 4 * function.arguments.max(1));
            for (word, &value) in arguments.iter().enumerate() {
                self.builder.ins().stack_store(value, copies, offset(word as u32));
            }
            let result = self.builder.ins().stack_load(types::I32, words, 0);
            self.push_result(number, 0, result);
            let result = self.pop()?;
            self.builder.ins().stack_store(result, words, 0);
            let copies = self.builder.ins().stack_addr(self.pointer, copies, 0);
            let remember = self.reference(self.helpers.remember);
            self.builder.ins().call(remember, &[self.context, function_number, copies, count, result]);
        }
        self.builder.ins().jump(behind, &[]);
        self.builder.switch_to_block(behind);
        for word in 0..results {
            let value = self.builder.ins().stack_load(types::I32, words, offset(word));
            self.push_result(number, word, value);
        }
        Some(())
    }

    /// Asks for the result of a function that may be remembered: if it is, it is stored as the first word.
    fn recall(
        &mut self,
        number: u32,
        arguments: &[Value],
        words: StackSlot,
        is_forgotten: Variable,
        [known, compute]: [Block; 2],
    ) {
        let (asks, found) = (self.builder.create_block(), self.builder.create_block());
        let at = |field: usize| field as i32;
        let asked = at(std::mem::offset_of!(Context, asked));
        let asked = self.builder.ins().load(self.pointer, trusted(), self.context, asked);
        let of_function = number as usize * size_of::<Asked>();
        let useless = at(of_function + std::mem::offset_of!(Asked, is_useless));
        let is_useless = self.builder.ins().load(types::I32, trusted(), asked, useless);
        self.builder.def_var(is_forgotten, is_useless);
        self.builder.ins().brif(is_useless, compute, &[], asks, &[]);

        // As `Remembered::hash` has it.
        self.builder.switch_to_block(asks);
        let hash_of_function = u64::from(number + 1).wrapping_mul(FACTORS[2]);
        let mut hash = self.builder.ins().iconst(types::I64, hash_of_function as i64);
        let mut pairs = Vec::new();
        for (pair, factor) in arguments.chunks(2).zip(FACTORS) {
            let mut both = self.builder.ins().uextend(types::I64, pair[0]);
            if let Some(&second) = pair.get(1) {
                let second = self.builder.ins().uextend(types::I64, second);
                let above = self.builder.ins().ishl_imm(second, 32);
                both = self.builder.ins().bor(both, above);
            }
            let product = self.builder.ins().imul_imm(both, factor as i64);
            hash = self.builder.ins().iadd(hash, product);
            pairs.push(both);
        }
        let place = self.builder.ins().ushr_imm(hash, i64::from(u64::BITS - MEMORY_BITS));
        let bytes = self.builder.ins().imul_imm(place, size_of::<Remembered>() as i64);
        let results = at(std::mem::offset_of!(Context, results));
        let results = self.builder.ins().load(self.pointer, trusted(), self.context, results);
        let entry = self.builder.ins().iadd(results, bytes);
        let function = at(std::mem::offset_of!(Remembered, function));
        let function = self.builder.ins().uload32(trusted(), entry, function);
        let mut differs = self.builder.ins().bxor_imm(function, i64::from(number + 1));
        for (pair, offset) in pairs.into_iter().zip((0..).step_by(8)) {
            let offset = offset + at(std::mem::offset_of!(Remembered, arguments));
            let remembered = self.builder.ins().load(types::I64, trusted(), entry, offset);
            let difference = self.builder.ins().bxor(remembered, pair);
            differs = self.builder.ins().bor(differs, difference);
        }
        self.builder.ins().brif(differs, compute, &[], found, &[]);

        self.builder.switch_to_block(found);
        let counted = at(of_function + std::mem::offset_of!(Asked, known));
        let count = self.builder.ins().load(types::I32, trusted(), asked, counted);
        let more = self.builder.ins().iadd_imm(count, 1);
        self.builder.ins().store(trusted(), more, asked, counted);
        let result = at(std::mem::offset_of!(Remembered, result));
        let result = self.builder.ins().load(types::I32, trusted(), entry, result);
        self.builder.ins().stack_store(result, words, 0);
        self.builder.ins().jump(known, &[]);
    }

    /// Leaves a function by an exception parameter.
    pub(super) fn raise(&mut self, number: u32) -> Option<()> {
        let raise = &self.compiled.code.raises[number as usize];
        if self.back.is_some() || raise.values.1 as usize > MOST_WORDS {
            return None;
        }
        for (word, value) in (0..).zip(self.pop_many(raise.values.1)?) {
            self.builder.ins().store(trusted(), value, self.io, offset(word));
        }
        let at = std::mem::offset_of!(Context, raised) as i32;
        for (values, at) in [(raise.values.0, at), (raise.values.1, at + 4)] {
            let values = self.word(values);
            self.builder.ins().store(trusted(), values, self.context, at);
        }
        self.halt(RAISED - i32::try_from(raise.parameter).ok()?);
        Some(())
    }

    /// Goes on where the exception is caught that a called function has left by; its values lie in memory.
    fn land(&mut self, landings: u32, status: Value, words: StackSlot) -> Option<()> {
        let code = &self.compiled.code;
        for (parameter, landing) in (0..).zip(&code.landings[landings as usize]) {
            let (lands, others) = (self.builder.create_block(), self.builder.create_block());
            let expected = i64::from(RAISED - parameter);
            let is_this = self.builder.ins().icmp_imm(IntCC::Equal, status, expected);
            self.builder.ins().brif(is_this, lands, &[], others, &[]);
            self.builder.switch_to_block(lands);
            match *landing {
                Landing::NotCaught => self.give_up(),
                Landing::PassedOn(outer) => {
                    if self.back.is_some() {
                        return None;
                    }
                    for word in 0..most_raised(code) {
                        let value = self.builder.ins().stack_load(types::I32, words, offset(word));
                        self.builder.ins().store(trusted(), value, self.io, offset(word));
                    }
                    self.halt(RAISED - i32::try_from(outer).ok()?);
                }
                Landing::Caught { address, values } => {
                    let at = std::mem::offset_of!(Context, raised) as i32;
                    for (expected, at) in [(values.0, at), (values.1, at + 4)] {
                        let raised = self.builder.ins().load(types::I32, trusted(), self.context, at);
                        let fits = self.builder.ins().icmp_imm(IntCC::Equal, raised, i64::from(expected));
                        self.require(fits);
                    }
                    // What the caller had begun to compute is given up.
                    let begun = std::mem::take(&mut self.stack);
                    for word in 0..values.1 {
                        let value = self.builder.ins().stack_load(types::I32, words, offset(word));
                        self.stack.push(value);
                    }
                    self.burn();
                    self.go_to(address as usize)?;
                    self.stack = begun;
                }
            }
            self.builder.switch_to_block(others);
        }
        self.give_up();
        Some(())
    }
}

/// Whether a function is called whose results are returned as they are.
fn is_last_call(code: &Code, at: usize, number: u32) -> bool {
    matches!(code.ops[at..], [Op::Call(called), Op::Return(_), ..] if called == number)
}

/// How many words a function returns. One that never returns leaves nothing to read.
fn results(code: &Code, address: u32) -> u32 {
    let returned = reached_in_function(code, address).into_iter().find_map(|at| match code.ops[at] {
        Op::Return(words) => Some(words),
        _ => None,
    });
    returned.unwrap_or(0)
}
