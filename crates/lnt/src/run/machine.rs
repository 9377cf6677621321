//! The stack machine that runs silent code: from where a region rests to where it rests next.

use std::sync::atomic::Ordering;

use model::{LocalRows, ModelError};
use source::Span;

use super::builtins::Wrong;
use super::native::Native;
use super::results::{Remembered, Results};
use super::values::Values;
use crate::compile::Compiled;
use crate::compile::code::{Code, FieldPlaces, Landing, Op};
use crate::compile::types::{ElementShape, Kind, Storage, mask_of};
use crate::typed::TypeId;

/// The most calls that wait for each other.
const DEEPEST_CALLS: usize = 100_000;

/// Why the machine stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halt {
    /// At an instruction where a region can rest, or which leaves it.
    At(u32),
    /// A condition that had to hold does not.
    Blocked,
    /// At the end of a piece of code: its value is on top of the stack.
    Done,
}

struct Call {
    back: u32,
    /// Where the function's variables start on the stack.
    frame: usize,
    /// Where they end.
    top: usize,
    /// What to remember the result under.
    remember: Option<Remembered>,
}

/// What a machine runs: enough to make another one.
#[derive(Clone, Copy)]
pub struct Runnable<'a> {
    compiled: &'a Compiled,
    program: &'a crate::typed::Program,
}

impl<'a> Runnable<'a> {
    pub fn machine(self) -> Machine<'a> {
        Machine::new(self.compiled, self.program)
    }
}

/// A machine with its stack.
pub struct Machine<'a> {
    runnable: Runnable<'a>,
    pub code: &'a Code,
    pub values: Values<'a>,
    pub(super) stack: Vec<u32>,
    calls: Vec<Call>,
    /// Calls that are nested as deep as this, or deeper, are not tried as machine code.
    by_hand: usize,
    /// The results of functions that machine code keeps in tables.
    pub(super) tables: Vec<u32>,
    /// Results of functions that are remembered.
    pub(super) results: Results,
    /// The marks of constructs that have fired.
    pub marks: Vec<u32>,
    observations: LocalRows<'a>,
    /// What was observed since the last record, behind the place of the decision and its outcome.
    observed: Vec<u32>,
    /// Machine code, once it pays.
    pub native: Option<&'a Native>,
    /// Words that go into machine code and come out of it, and the state before.
    pub(super) io: Vec<u32>,
    pub(super) saved: Vec<u32>,
}

/// Observations are marks as well: their numbers start here.
pub const FIRST_OBSERVATION: u32 = 1 << 30;

impl<'a> Machine<'a> {
    pub fn new(compiled: &'a Compiled, program: &'a crate::typed::Program) -> Self {
        Self {
            runnable: Runnable { compiled, program },
            code: &compiled.code,
            values: Values::new(&compiled.values, &compiled.types, program),
            stack: Vec::new(),
            calls: Vec::new(),
            by_hand: usize::MAX,
            results: Results::default(),
            tables: Vec::new(),
            marks: Vec::new(),
            observations: compiled.observations.local(),
            observed: vec![0, 0],
            native: None,
            io: Vec::new(),
            saved: Vec::new(),
        }
    }

    /// The values, and what another machine needs to run beside this one.
    pub fn split(&mut self) -> (Runnable<'a>, &mut Values<'a>) {
        (self.runnable, &mut self.values)
    }

    /// The word that a piece of code computes.
    pub fn value(&mut self, address: u32, state: &mut [u32]) -> Result<u32, ModelError> {
        self.run(address, state)?;
        Ok(self.stack.pop().unwrap_or(0))
    }

    /// The value of a type that a piece of code computes, as offers know it.
    pub fn frozen(&mut self, address: u32, ty: TypeId, state: &mut [u32]) -> Result<u32, ModelError> {
        self.run(address, state)?;
        let first = self.stack.len() - self.values.types[ty.index()].leaves.len();
        let value = self.values.freeze(ty, &self.stack[first..]);
        self.stack.truncate(first);
        Ok(value)
    }

    /// Whether a value, as offers know it, matches the pattern whose code starts here; its variables are bound.
    pub fn matches(
        &mut self,
        address: u32,
        ty: TypeId,
        value: u32,
        state: &mut [u32],
    ) -> Result<bool, ModelError> {
        self.stack.extend_from_slice(&self.values.thaw(ty, value));
        Ok(self.value(address, state)? != 0)
    }

    /// The result of a function, all of whose parameters are `in`.
    pub fn call(&mut self, function: u32, arguments: &[u32]) -> Result<u32, ModelError> {
        self.stack.clear();
        self.calls.clear();
        self.stack.extend_from_slice(arguments);
        let code = self.code.functions[function as usize];
        self.enter(code.arguments, code.variables, u32::MAX, None);
        self.run_on::<false>(code.address, &mut [])?;
        Ok(self.stack.pop().unwrap_or(0))
    }

    /// A construct of a function has fired. Most have before: the flag is not written again.
    #[inline]
    fn fire(&self, construct: u32) {
        let flag = &self.runnable.compiled.fired[construct as usize];
        if !flag.load(Ordering::Relaxed) {
            flag.store(true, Ordering::Relaxed);
        }
    }

    #[cold]
    fn record(&mut self, decision: u32, outcome: u32) {
        self.observed[..2].copy_from_slice(&[decision, outcome]);
        self.marks.push(FIRST_OBSERVATION + self.observations.intern(&self.observed));
        self.observed.truncate(2);
    }

    fn enter(&mut self, arguments: u32, variables: u32, back: u32, remember: Option<Remembered>) {
        let frame = self.stack.len() - arguments as usize;
        let top = frame + variables as usize;
        self.stack.resize(top, 0);
        self.calls.push(Call { back, frame, top, remember });
    }

    /// Runs from an address until something can happen.
    #[inline]
    pub fn run(&mut self, address: u32, state: &mut [u32]) -> Result<Halt, ModelError> {
        if let Some(native) = self.native
            && let Some(halt) = native.run(self, address, state)
        {
            return Ok(halt);
        }
        self.interpret(address, state)
    }

    /// The same without machine code.
    fn interpret(&mut self, address: u32, state: &mut [u32]) -> Result<Halt, ModelError> {
        let result = self.run_on::<false>(address, state);
        if result.is_err() {
            self.stack.clear();
            self.calls.clear();
        }
        result
    }

    /// Carries out one instruction that works on the stack alone. Gives whether that went well.
    pub(super) fn single(&mut self, at: u32) -> bool {
        self.run_on::<true>(at, &mut []).is_ok()
    }

    fn run_on<const SINGLE: bool>(&mut self, address: u32, state: &mut [u32]) -> Result<Halt, ModelError> {
        let code = self.code;
        let mut at = address as usize;
        let mut fuel = self.runnable.compiled.fuel;
        macro_rules! pop {
            () => {
                self.stack.pop().unwrap_or(0)
            };
        }
        // Every way back counts, whichever instruction takes it: there is none without an end.
        macro_rules! jump {
            ($target:expr) => {{
                if $target as usize <= at {
                    self.burn(&mut fuel, at)?;
                }
                at = $target as usize;
                continue;
            }};
        }
        loop {
            match code.ops[at] {
                Op::Push(value) => self.stack.push(value),
                Op::LoadSlot(slot) => self.stack.push(state[slot as usize]),
                Op::StoreSlot(slot) => state[slot as usize] = pop!(),
                Op::LoadLocal(local) => {
                    let frame = self.calls.last().map_or(0, |call| call.frame);
                    self.stack.push(self.stack[frame + local as usize]);
                }
                Op::StoreLocal(local) => {
                    let frame = self.calls.last().map_or(0, |call| call.frame);
                    let value = pop!();
                    self.stack[frame + local as usize] = value;
                }
                Op::LoadSlots(slot, words) => {
                    self.stack.extend_from_slice(&state[slot as usize..(slot + words) as usize]);
                }
                Op::StoreSlots(slot, words) => {
                    let first = self.stack.len() - words as usize;
                    state[slot as usize..(slot + words) as usize].copy_from_slice(&self.stack[first..]);
                    self.stack.truncate(first);
                }
                Op::LoadPart(number) => {
                    let part = code.parts[number as usize];
                    let offset = if part.indexed { pop!() } else { 0 };
                    let first = (part.whole.0 + part.from + offset) as usize;
                    match part.words {
                        1 => self.stack.push(state[first]),
                        words => self.stack.extend_from_slice(&state[first..first + words as usize]),
                    }
                }
                Op::StoreElement(number) => {
                    let part = code.parts[number as usize];
                    let value = self.stack.len() - part.words as usize;
                    let index = i64::from(self.stack[value - 1] as i32);
                    let position = self.values.position(part.array, index);
                    let first = position.map_err(|wrong| self.error(wrong, at))? * part.words as usize;
                    let first = part.whole.0 as usize + first;
                    state[first..first + part.words as usize].copy_from_slice(&self.stack[value..]);
                    self.stack.truncate(value - 1);
                }
                Op::LoadLocals(local, words) => {
                    let first = self.calls.last().map_or(0, |call| call.frame) + local as usize;
                    self.stack.extend_from_within(first..first + words as usize);
                }
                Op::StoreLocals(local, words) => {
                    let first = self.calls.last().map_or(0, |call| call.frame) + local as usize;
                    let value = self.stack.len() - words as usize;
                    self.stack.copy_within(value.., first);
                    self.stack.truncate(value);
                }
                Op::LoadLocalsAt(number) => {
                    let part = code.local_parts[number as usize];
                    let local = part.whole.0 + part.from + pop!();
                    let first = self.calls.last().map_or(0, |call| call.frame) + local as usize;
                    self.stack.extend_from_within(first..first + part.words as usize);
                }
                Op::StoreLocalElement(local, array) => {
                    let words = self.values.types[array.index()].element.words as usize;
                    let value = self.stack.len() - words;
                    let index = i64::from(self.stack[value - 1] as i32);
                    let position = self.values.position(array, index);
                    let offset = position.map_err(|wrong| self.error(wrong, at))? * words;
                    let first = self.calls.last().map_or(0, |call| call.frame) + local as usize + offset;
                    self.stack.copy_within(value.., first);
                    self.stack.truncate(value - 1);
                }
                Op::IndexOffset(array) => {
                    let index = i64::from(pop!() as i32);
                    let position = self.values.position(array, index);
                    let position = position.map_err(|wrong| self.error(wrong, at))?;
                    self.stack.push(position as u32 * self.values.types[array.index()].element.words);
                }
                Op::AddOffsets => {
                    let (b, a) = (pop!(), pop!());
                    self.stack.push(a.wrapping_add(b));
                }
                Op::PickMany(depth, words) => {
                    let first = self.stack.len() - 1 - depth as usize;
                    self.stack.extend_from_within(first..first + words as usize);
                }
                Op::Pick(depth) => self.stack.push(self.stack[self.stack.len() - 1 - depth as usize]),
                Op::Pop(count) => self.stack.truncate(self.stack.len() - count as usize),
                Op::Jump(target) => jump!(target),
                Op::JumpIfFalse(target) => {
                    if pop!() == 0 {
                        jump!(target);
                    }
                }
                Op::JumpIfTrue(target) => {
                    if pop!() != 0 {
                        jump!(target);
                    }
                }
                Op::Equal => {
                    let (b, a) = (pop!(), pop!());
                    self.stack.push(u32::from(a == b));
                }
                Op::EqualMany(words) => {
                    let second = self.stack.len() - words as usize;
                    let first = second - words as usize;
                    let equal = self.stack[first..second] == self.stack[second..];
                    self.stack.truncate(first);
                    self.stack.push(u32::from(equal));
                }
                Op::Less => {
                    let (b, a) = (pop!(), pop!());
                    self.stack.push(u32::from(a < b));
                }
                Op::LessEqual => {
                    let (b, a) = (pop!(), pop!());
                    self.stack.push(u32::from(a <= b));
                }
                Op::Not => {
                    let a = pop!();
                    self.stack.push(1 - a);
                }
                Op::Add(ty) => {
                    let (b, a) = (pop!(), pop!());
                    let value = self.sum(ty, a, b, 1).map_err(|wrong| self.error(wrong, at))?;
                    self.stack.push(value);
                }
                Op::Subtract(ty) => {
                    let (b, a) = (pop!(), pop!());
                    let value = self.sum(ty, a, b, -1).map_err(|wrong| self.error(wrong, at))?;
                    self.stack.push(value);
                }
                Op::Modulo => {
                    let (b, a) = (pop!(), pop!());
                    let Some(value) = a.checked_rem(b) else {
                        return Err(self.error("division by zero".into(), at));
                    };
                    self.stack.push(value);
                }
                Op::Offset(offset) => {
                    let a = pop!();
                    self.stack.push(a.wrapping_add(offset));
                }
                Op::Apply(number) => {
                    let application = &code.applications[number as usize];
                    let first = self.stack.len() - application.words as usize;
                    if application.narrow {
                        let result = self.values.apply(application, &self.stack[first..]);
                        self.stack.truncate(first);
                        let value = result.map_err(|wrong| self.error(wrong, at))?;
                        self.stack.push(value);
                    } else {
                        let mut words = Vec::new();
                        let result = self.values.apply_parts(application, &self.stack[first..], &mut words);
                        self.stack.truncate(first);
                        result.map_err(|wrong| self.error(wrong, at))?;
                        self.stack.extend_from_slice(&words);
                    }
                }
                Op::MakeRow(ordinal, words) => {
                    let first = self.stack.len() - words as usize;
                    let stack = &self.stack;
                    let value = self.values.build(|_, row| {
                        row.push(ordinal);
                        row.extend_from_slice(&stack[first..]);
                    });
                    self.stack.truncate(first);
                    self.stack.push(value);
                }
                Op::Pack(number) => {
                    let pack = &code.packs[number as usize];
                    let first = self.stack.len() - pack.fields.len();
                    let fields = self.stack[first..].iter().zip(&pack.fields);
                    let value = fields.fold(pack.tag, |word, (field, (shift, _))| word | field << shift);
                    self.stack.truncate(first);
                    self.stack.push(value);
                }
                Op::Pad(words) => self.stack.resize(self.stack.len() + words as usize, 0),
                Op::Bits(shift, mask) => {
                    let value = pop!();
                    self.stack.push((value >> shift) & mask);
                }
                Op::Component(position) => {
                    let value = pop!();
                    self.stack.push(self.values.row(value)[position as usize]);
                }
                Op::Components(position, words) => {
                    let value = pop!();
                    let row = self.values.row(value);
                    self.stack.extend_from_slice(&row[position as usize..(position + words) as usize]);
                }
                Op::Slice(total, from, words) => {
                    let first = self.stack.len() - total as usize;
                    let part = first + from as usize;
                    self.stack.copy_within(part..part + words as usize, first);
                    self.stack.truncate(first + words as usize);
                }
                Op::Field(number) => {
                    let (ty, places) = &code.accesses[number as usize];
                    let first = self.stack.len() - self.values.types[ty.index()].leaves.len();
                    let tag = self.values.tag(*ty, &self.stack[first..]);
                    let Some(place) = places[tag as usize] else {
                        return Err(self.error("this value has no such field".into(), at));
                    };
                    match self.values.types[ty.index()].storage {
                        Storage::Wide => {
                            let part = first + place.at as usize;
                            self.stack.copy_within(part..part + place.words as usize, first);
                            self.stack.truncate(first + place.words as usize);
                        }
                        _ => {
                            let value = [pop!()];
                            self.stack.extend_from_slice(&self.values.field(*ty, place, &value));
                        }
                    }
                }
                Op::Update(number) => self.update(number).map_err(|wrong| self.error(wrong, at))?,
                Op::Collection(ty, count) => {
                    let words = count as usize * self.values.types[ty.index()].element.words as usize;
                    // The elements of a wide array lie on the stack as they are.
                    if self.values.types[ty.index()].storage != Storage::Wide {
                        let first = self.stack.len() - words;
                        let mut elements = self.stack.split_off(first);
                        self.values.collect(ty, &mut elements, &mut self.stack);
                    }
                }
                Op::Fill(ty) => {
                    let shape = &self.values.types[ty.index()];
                    let first = self.stack.len() - shape.element.words as usize;
                    let mut elements = self.stack[first..].repeat(shape.element.length as usize);
                    self.stack.truncate(first);
                    self.values.collect(ty, &mut elements, &mut self.stack);
                }
                Op::Element(ty) => {
                    let index = pop!();
                    let position = self.values.position(ty, i64::from(index as i32));
                    let position = position.map_err(|wrong| self.error(wrong, at))?;
                    let shape = &self.values.types[ty.index()];
                    if shape.storage == Storage::Wide {
                        let words = shape.element.words as usize;
                        let first = self.stack.len() - shape.leaves.len();
                        let part = first + position * words;
                        self.stack.copy_within(part..part + words, first);
                        self.stack.truncate(first + words);
                    } else {
                        let array = [pop!()];
                        self.stack.extend_from_slice(&self.values.element_at(ty, &array, position));
                    }
                }
                Op::ChangeElement(ty) => self.change_element(ty).map_err(|wrong| self.error(wrong, at))?,
                Op::IsEmpty(ty) => {
                    let value = pop!();
                    self.stack.push(u32::from(self.values.is_empty(ty, value)));
                }
                Op::Head(ty) => {
                    let value = [pop!()];
                    if self.values.is_empty(ty, value[0]) {
                        return Err(self.error("an empty list has no head".into(), at));
                    }
                    self.stack.extend_from_slice(&self.values.element_at(ty, &value, 0));
                }
                Op::Tail(ty) => {
                    let value = pop!();
                    let tail = self.values.tail(ty, value);
                    self.stack.push(tail);
                }
                Op::Call(number) => {
                    self.burn(&mut fuel, at)?;
                    if self.calls.len() >= DEEPEST_CALLS {
                        return Err(self.too_deep());
                    }
                    let function = code.functions[number as usize];
                    let mut remember = None;
                    if function.remembered {
                        if !self.results.are_made() {
                            self.results.make(code.functions.len());
                        }
                        let first = self.stack.len() - function.arguments as usize;
                        let wanted = Remembered::of(number, &self.stack[first..]);
                        if let Some(known) = self.results.recall(wanted) {
                            self.stack.truncate(first);
                            self.stack.push(known);
                            at += 1;
                            continue;
                        }
                        remember = Some(wanted);
                    }
                    // What machine code has given up is done here, with all that it calls.
                    if let Some(native) = self.native.filter(|_| self.calls.len() < self.by_hand)
                        && native.call(self, number)
                    {
                        self.by_hand = usize::MAX;
                        if let (Some(remember), Some(&result)) = (remember, self.stack.last()) {
                            self.results.remember(remember, result);
                        }
                        at += 1;
                        continue;
                    }
                    if self.calls.len() < self.by_hand {
                        self.by_hand = self.calls.len() + 1;
                    }
                    self.enter(function.arguments, function.variables, at as u32 + 1, remember);
                    at = function.address as usize;
                    continue;
                }
                Op::Return(count) => {
                    let Some(call) = self.calls.pop() else { return Ok(Halt::Done) };
                    let results = self.stack.len() - count as usize;
                    self.stack.drain(call.frame..results);
                    if let (Some(remember), Some(&result)) = (call.remember, self.stack.last()) {
                        self.results.remember(remember, result);
                    }
                    if call.back == u32::MAX {
                        return Ok(Halt::Done);
                    }
                    at = call.back as usize;
                    continue;
                }
                Op::Landings(_) => {}
                Op::Raise(number) => {
                    at = self.unwind(number).map_err(|wrong| self.error(wrong, at))? as usize;
                    continue;
                }
                Op::Fail(message) => {
                    let message = code.failures[message as usize].clone();
                    return Err(self.error(message.into(), at));
                }
                Op::Mark(mark) => self.marks.push(mark.0),
                Op::Decide(mark) => {
                    let outcome = self.stack.last().copied().unwrap_or(0);
                    self.marks.push(mark.0 + u32::from(outcome == 0));
                }
                Op::Fire(construct) => self.fire(construct),
                Op::FireOutcome(construct) => {
                    let outcome = self.stack.last().copied().unwrap_or(0);
                    self.fire(construct + u32::from(outcome == 0));
                }
                Op::Observe(place) => {
                    let ty = code.observed[place as usize].1;
                    let first = self.stack.len() - self.values.types[ty.index()].leaves.len();
                    let value = self.values.freeze(ty, &self.stack[first..]);
                    self.observed.extend([place, value]);
                }
                Op::Record(decision, has_outcome) => {
                    let outcome = self.stack.last().copied().filter(|_| has_outcome).unwrap_or(2);
                    self.record(decision.0, outcome);
                }
                Op::Done => return Ok(Halt::Done),
                Op::Require => {
                    if pop!() == 0 {
                        return Ok(Halt::Blocked);
                    }
                }
                Op::Choice(_)
                | Op::AnyValue(..)
                | Op::Act(_)
                | Op::Fork(_)
                | Op::End
                | Op::Stop
                | Op::Throw(_) => {
                    return Ok(Halt::At(at as u32));
                }
            }
            if SINGLE {
                return Ok(Halt::Done);
            }
            at += 1;
        }
    }

    /// Changes fields of the value below the new ones.
    fn update(&mut self, number: u32) -> Result<(), Wrong> {
        let code = self.code;
        let (ty, updates) = &code.updates[number as usize];
        let shape = &self.values.types[ty.index()];
        // A field has the same words for each constructor that has it.
        let words =
            |places: &FieldPlaces| places.iter().flatten().next().map_or(1, |place| place.words as usize);
        let mut new = self.stack.len() - updates.iter().map(words).sum::<usize>();
        let first = new - shape.leaves.len();
        let tag = self.values.tag(*ty, &self.stack[first..new]) as usize;
        let row = match shape.storage {
            Storage::Row => Some(self.values.row(self.stack[first]).to_vec()),
            _ => None,
        };
        let mut row = row;
        for places in updates {
            let Some(place) = places[tag] else { return Err("this value has no such field".into()) };
            let (at, words) = (place.at as usize, place.words as usize);
            match (&mut row, shape.storage) {
                (Some(row), _) => row[at..at + words].copy_from_slice(&self.stack[new..new + words]),
                (None, Storage::Packed) => {
                    let field = self.stack[new];
                    let value = &mut self.stack[first];
                    *value = *value & !(place.mask << place.at) | field << place.at;
                }
                (None, _) => self.stack.copy_within(new..new + words, first + at),
            }
            new += words;
        }
        self.stack.truncate(first + shape.leaves.len());
        if let Some(row) = row {
            self.stack[first] = self.values.intern(&row);
        }
        Ok(())
    }

    /// Changes an element of the array below the index and the new value.
    fn change_element(&mut self, ty: TypeId) -> Result<(), Wrong> {
        let shape = &self.values.types[ty.index()];
        let words = shape.element.words as usize;
        let value = self.stack.len() - words;
        let first = value - 1 - shape.leaves.len();
        let at = self.values.position(ty, i64::from(self.stack[value - 1] as i32))?;
        match shape.storage {
            Storage::Packed => {
                let ElementShape { bits, length, .. } = shape.element;
                let shift = (length - 1 - at as u32) * bits;
                let array = self.stack[first] & !(mask_of(bits) << shift);
                self.stack[first] = array | self.stack[value] << shift;
            }
            Storage::Row => {
                let (array, stack) = (self.stack[first], &self.stack);
                let changed = self.values.build(|values, row| {
                    row.extend_from_slice(values.row(array));
                    row[at * words..(at + 1) * words].copy_from_slice(&stack[value..]);
                });
                self.stack[first] = changed;
            }
            Storage::Scalar | Storage::Wide => self.stack.copy_within(value.., first + at * words),
        }
        self.stack.truncate(value - 1);
        Ok(())
    }

    /// Leaves functions until one is called by code that catches the exception; gives the address of the handler.
    #[cold]
    fn unwind(&mut self, raise: u32) -> Result<u32, Wrong> {
        let code = self.code;
        let raise = &code.raises[raise as usize];
        let mut parameter = raise.parameter as usize;
        loop {
            let landings = self.calls.pop().and_then(|call| match code.ops.get(call.back as usize) {
                Some(Op::Landings(landings)) => Some(&code.landings[*landings as usize]),
                _ => None,
            });
            match landings.and_then(|landings| landings.get(parameter)) {
                Some(&Landing::PassedOn(outer)) => parameter = outer as usize,
                Some(&Landing::Caught { address, values }) if values == raise.values => {
                    // What the caller had begun to compute is given up.
                    let top = self.calls.last().map_or(0, |call| call.top);
                    let first = self.stack.len() - values.1 as usize;
                    self.stack.drain(top..first);
                    self.observed.truncate(2);
                    return Ok(address);
                }
                Some(Landing::Caught { values, .. }) if values.0 == raise.values.0 => {
                    let name = &raise.name;
                    return Err(format!(
                        "exception {name} is raised with values of other types than its handler takes"
                    )
                    .into());
                }
                Some(Landing::Caught { values: (values, _), .. }) => {
                    let found = match raise.values.0 {
                        1 => "1 value".to_owned(),
                        several => format!("{several} values"),
                    };
                    let message = format!(
                        "exception {} is raised with {found}, but its handler takes {values}",
                        raise.name
                    );
                    return Err(message.into());
                }
                Some(Landing::NotCaught) | None => {
                    return Err(format!("exception {} is raised and not caught", raise.name).into());
                }
            }
        }
    }

    /// `a + sign * b` in a type that is represented by its numbers.
    #[inline]
    fn sum(&self, ty: TypeId, a: u32, b: u32, sign: i64) -> Result<u32, Wrong> {
        if let Kind::Number { lower, upper, offset, .. } = *self.values.kind(ty) {
            let number = i64::from(a) + offset + sign * (i64::from(b) + offset);
            if (lower..=upper).contains(&number) {
                return Ok((number - offset) as u32);
            }
            return self.values.with_number(ty, number);
        }
        self.values.with_number(ty, self.values.number(ty, a) + sign * self.values.number(ty, b))
    }

    #[inline]
    fn burn(&self, fuel: &mut u64, at: usize) -> Result<(), ModelError> {
        *fuel -= 1;
        if *fuel == 0 {
            let message = "this keeps running without an action: is it an endless loop?";
            return Err(self.error(message.into(), at));
        }
        Ok(())
    }

    #[cold]
    pub fn error(&self, wrong: Wrong, at: usize) -> ModelError {
        model_error(wrong, Some(self.code.spans[at]))
    }

    /// Points at the call half-way down, which is one of those that never come back. The deepest one is often not, and which
    /// it is depends on what is remembered of calls that do.
    fn too_deep(&self) -> ModelError {
        let message = format!("calls are nested more than {DEEPEST_CALLS} deep");
        let call = self.calls[DEEPEST_CALLS / 2].back as usize - 1;
        self.error(message.into(), call)
    }
}

pub fn model_error(wrong: Wrong, span: Option<Span>) -> ModelError {
    ModelError { message: wrong.message, span, help: wrong.help, during: None }
}
