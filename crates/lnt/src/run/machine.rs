//! The stack machine that runs silent code: from where a region rests to where it rests next.

use std::sync::atomic::Ordering;

use model::{LocalRows, ModelError};
use source::Span;

use super::builtins::Wrong;
use super::values::Values;
use crate::compile::code::{Code, Landing, Op};
use crate::compile::types::Kind;
use crate::compile::{Compiled, REMEMBERED_ARGUMENTS};
use crate::typed::TypeId;

/// A run takes at most this many jumps and calls before it counts as endless.
const FUEL: u64 = 20_000_000;
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

/// A result of a function. Functions have no effects, and equal values have equal numbers, so that results hold for
/// ever; those of list-processing functions are asked for again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Remembered {
    function: u32,
    arguments: [u32; REMEMBERED_ARGUMENTS],
    result: u32,
}

/// How many results are remembered, a power of two; a newer one takes an older one's place.
const MEMORY: usize = 1 << 14;
const NOTHING: Remembered =
    Remembered { function: u32::MAX, arguments: [0; REMEMBERED_ARGUMENTS], result: 0 };

impl Remembered {
    fn place(&self) -> usize {
        let mix = |hash: u64, number: u32| (hash ^ u64::from(number)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let hash = self
            .arguments
            .iter()
            .fold(mix(0, self.function), |hash, &argument| mix(hash.rotate_left(23), argument));
        (hash >> 40) as usize % MEMORY
    }
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
    stack: Vec<u32>,
    calls: Vec<Call>,
    memory: Vec<Remembered>,
    /// The marks of constructs that have fired.
    pub marks: Vec<u32>,
    observations: LocalRows<'a>,
    /// What was observed since the last record, behind the place of the decision and its outcome.
    observed: Vec<u32>,
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
            memory: vec![
                NOTHING;
                if compiled.code.functions.iter().any(|one| one.remembered) { MEMORY } else { 0 }
            ],
            marks: Vec::new(),
            observations: compiled.observations.local(),
            observed: vec![0, 0],
        }
    }

    /// The values, and what another machine needs to run beside this one.
    pub fn split(&mut self) -> (Runnable<'a>, &mut Values<'a>) {
        (self.runnable, &mut self.values)
    }

    /// The value that a piece of code computes.
    pub fn value(&mut self, address: u32, state: &mut [u32]) -> Result<u32, ModelError> {
        self.run(address, state)?;
        Ok(self.stack.pop().unwrap_or(0))
    }

    /// Whether a value matches the pattern whose code starts here; its variables are bound.
    pub fn matches(&mut self, address: u32, value: u32, state: &mut [u32]) -> Result<bool, ModelError> {
        self.stack.push(value);
        Ok(self.value(address, state)? != 0)
    }

    /// The result of a function, all of whose parameters are `in`.
    pub fn call(&mut self, function: u32, arguments: &[u32]) -> Result<u32, ModelError> {
        self.stack.clear();
        self.calls.clear();
        self.stack.extend_from_slice(arguments);
        let code = self.code.functions[function as usize];
        self.enter(code.arguments, code.variables, u32::MAX, None);
        self.run_on(code.address, &mut [])?;
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
    pub fn run(&mut self, address: u32, state: &mut [u32]) -> Result<Halt, ModelError> {
        let result = self.run_on(address, state);
        if result.is_err() {
            self.stack.clear();
            self.calls.clear();
        }
        result
    }

    fn run_on(&mut self, address: u32, state: &mut [u32]) -> Result<Halt, ModelError> {
        let code = self.code;
        let mut at = address as usize;
        let mut fuel = FUEL;
        macro_rules! pop {
            () => {
                self.stack.pop().unwrap_or(0)
            };
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
                Op::Pick(depth) => self.stack.push(self.stack[self.stack.len() - 1 - depth as usize]),
                Op::Pop(count) => self.stack.truncate(self.stack.len() - count as usize),
                Op::Jump(target) => {
                    if target as usize <= at {
                        self.burn(&mut fuel, at)?;
                    }
                    at = target as usize;
                    continue;
                }
                Op::JumpIfFalse(target) => {
                    if pop!() == 0 {
                        at = target as usize;
                        continue;
                    }
                }
                Op::JumpIfTrue(target) => {
                    if pop!() != 0 {
                        at = target as usize;
                        continue;
                    }
                }
                Op::Equal => {
                    let (b, a) = (pop!(), pop!());
                    self.stack.push(u32::from(a == b));
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
                    let first = self.stack.len() - application.arity as usize;
                    let result = self.values.apply(application, &self.stack[first..]);
                    self.stack.truncate(first);
                    let value = result.map_err(|wrong| self.error(wrong, at))?;
                    self.stack.push(value);
                }
                Op::Construct(constructor, fields) => {
                    let first = self.stack.len() - fields as usize;
                    let ordinal = self.values.program[constructor].ordinal;
                    let stack = &self.stack;
                    let value = self.values.build(|_, row| {
                        row.push(ordinal);
                        row.extend_from_slice(&stack[first..]);
                    });
                    self.stack.truncate(first);
                    self.stack.push(value);
                }
                Op::IsConstructor(ordinal) => {
                    let value = pop!();
                    self.stack.push(u32::from(self.values.row(value)[0] == ordinal));
                }
                Op::Component(position) => {
                    let value = pop!();
                    self.stack.push(self.values.row(value)[position as usize]);
                }
                Op::Field(number) => {
                    let value = pop!();
                    let row = self.values.row(value);
                    let ordinal = row[0];
                    let has = |position: &&crate::typed::FieldPosition| {
                        self.values.program[position.constructor].ordinal == ordinal
                    };
                    let Some(position) = code.accesses[number as usize].iter().find(has) else {
                        return Err(self.error("this value has no such field".into(), at));
                    };
                    self.stack.push(row[position.field as usize + 1]);
                }
                Op::Update(number) => {
                    let updates = &code.updates[number as usize];
                    let first = self.stack.len() - updates.len();
                    let value = self.stack[first - 1];
                    let mut row = self.values.row(value).to_vec();
                    for (positions, &new) in updates.iter().zip(&self.stack[first..]) {
                        let has = |position: &&crate::typed::FieldPosition| {
                            self.values.program[position.constructor].ordinal == row[0]
                        };
                        let Some(position) = positions.iter().find(has) else {
                            return Err(self.error("this value has no such field".into(), at));
                        };
                        row[position.field as usize + 1] = new;
                    }
                    self.stack.truncate(first - 1);
                    let value = self.values.intern(&row);
                    self.stack.push(value);
                }
                Op::Collection(ty, count) => {
                    let first = self.stack.len() - count as usize;
                    let mut elements = self.stack.split_off(first);
                    self.values.normalise(ty, &mut elements);
                    let value = self.values.intern(&elements);
                    self.stack.push(value);
                }
                Op::Fill(ty) => {
                    let element = pop!();
                    let length = match self.values.kind(ty) {
                        Kind::Array { length, .. } => *length,
                        _ => 0,
                    };
                    let value = self.values.build(|_, row| row.resize(length, element));
                    self.stack.push(value);
                }
                Op::Element(ty) => {
                    let (index, array) = (pop!(), pop!());
                    let element = self.values.element(ty, array, i64::from(index as i32));
                    let value = element.map_err(|wrong| self.error(wrong, at))?;
                    self.stack.push(value);
                }
                Op::ChangeElement(ty) => {
                    let (value, index, array) = (pop!(), pop!(), pop!());
                    let changed = self.values.change_element(ty, array, i64::from(index as i32), value);
                    let value = changed.map_err(|wrong| self.error(wrong, at))?;
                    self.stack.push(value);
                }
                Op::IsEmpty => {
                    let value = pop!();
                    self.stack.push(u32::from(self.values.row(value).is_empty()));
                }
                Op::Head => {
                    let value = pop!();
                    self.stack.push(self.values.row(value).first().copied().unwrap_or(0));
                }
                Op::Tail => {
                    let value = pop!();
                    let tail = self.values.build(|values, row| row.extend(values.row(value).iter().skip(1)));
                    self.stack.push(tail);
                }
                Op::Call(number) => {
                    self.burn(&mut fuel, at)?;
                    if self.calls.len() >= DEEPEST_CALLS {
                        let message = format!("calls are nested more than {DEEPEST_CALLS} deep");
                        return Err(self.error(message.into(), at));
                    }
                    let function = code.functions[number as usize];
                    let mut remember = None;
                    if function.remembered {
                        let first = self.stack.len() - function.arguments as usize;
                        let mut wanted = Remembered { function: number, ..NOTHING };
                        wanted.arguments[..function.arguments as usize].copy_from_slice(&self.stack[first..]);
                        let known = self.memory[wanted.place()];
                        if known.function == number && known.arguments == wanted.arguments {
                            self.stack.truncate(first);
                            self.stack.push(known.result);
                            at += 1;
                            continue;
                        }
                        remember = Some(wanted);
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
                        self.memory[remember.place()] = Remembered { result, ..remember };
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
                    let value = self.stack.last().copied().unwrap_or(0);
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
            at += 1;
        }
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
                    let first = self.stack.len() - values as usize;
                    self.stack.drain(top..first);
                    self.observed.truncate(2);
                    return Ok(address);
                }
                Some(Landing::Caught { values, .. }) => {
                    let found = match raise.values {
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
}

pub fn model_error(wrong: Wrong, span: Option<Span>) -> ModelError {
    ModelError { message: wrong.message, span, help: wrong.help, during: None }
}
