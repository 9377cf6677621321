//! Hot code as machine code, made by Cranelift when a model turns out to be large.
//!
//! Functions, guards, patterns, offers, and what a region does from one action to the next become native code
//! ([`translate`]) that works on the words of the state and keeps values in registers. What is rare or works on rows is
//! done by the interpreter, one instruction at a time (`help`). Where anything goes wrong (a run-time error, an endless
//! loop, deep recursion), native code gives up and the interpreter runs the same piece again from its start: it alone
//! decides what an error looks like, so the two can't differ in that. Tests compare both on random programs.
//!
//! # Safety
//!
//! This is the only module of the crate with `unsafe` code, and these are its grounds:
//!
//! - Native code is called through pointers that [`translate`] got for just that signature, from a module that
//!   [`Native`] owns and never changes or frees while it lives; machines borrow it.
//! - Native code reads and writes the slots of `state` that the compiler laid out, all below its length, which `run`
//!   checks; words of the machine's `io`, which is longer than any piece needs, as [`translate`] sees to, and which
//!   helpers leave alone; and stack slots of its own.
//!   Indices are compared with the bounds of their arrays before they are used.
//! - Native code reads words of rows where their numbers say that these lie, after a comparison with their lengths. All numbers
//!   that it gets are those of rows: the table of rows has handed them out, and the words before them. Rows are never moved or
//!   changed, and live as long as the program that the machine borrows.
//! - Of drafts it reads words where their table says that these lie, after a comparison with their lengths. It adds entries
//!   to that table as long as there is room, and writes a word in front of words of drafts only if the table says that it is
//!   the one before the newest. Both lie in memory of their own, which is neither moved nor freed while native code runs; drafts
//!   are forgotten before it runs, never meanwhile.
//! - Of remembered results it reads entries whose numbers have [`super::results::MEMORY_BITS`] bits, as many as there are, and it
//!   counts answers in the entry of a function. Both tables are made before it runs, and never moved.
//! - Code that unpacks states reads and writes the words and slots of the layout; `Native::unpack` sees to their lengths.
//! - A rendezvous gets more slices: a copy of the state, the packed state, a list of values, and room for as many records
//!   as it tries combinations of values; `Native::meet` sees to their lengths.
//! - Native code takes memory of its thread's stack: it calls no function once it has taken [`MOST_STACK`] bytes, and what a
//!   function keeps in memory takes no more than that either: `translate` leaves larger ones out.
//! - `context` holds a pointer to the machine that `run` borrows mutably. While native code runs nobody else uses
//!   that borrow, and each helper ends its own before it returns.
//! - Helpers don't unwind: what they call returns errors instead of panicking.
#![allow(unsafe_code)]

mod translate;

use std::ffi::c_void;
use std::num::NonZero;
use std::sync::atomic::AtomicPtr;
use std::sync::{Arc, Mutex};

use cranelift_jit::JITModule;

use model::Layout;

use super::builtins::find_in_order;
use super::edits::Change;
use super::machine::{Halt, Machine};
use super::rendezvous::Configuration;
use super::results::{Asked, Remembered};
use crate::compile::Compiled;
use crate::typed::TypeId;
pub use translate::Opening;

/// The words that go in and out of a piece of code, at most.
const MOST_WORDS: usize = 1024;
/// Calls that are nested so deep that they take more bytes of the thread's stack are left to the interpreter: a small part of what
/// threads have, so that there is room for one more frame, however large, and for helpers.
const MOST_STACK: usize = 1 << 18;
/// Jumps and calls, before the interpreter has a look.
const FUEL: u32 = 500_000;

/// What a piece of native code returns instead of an address.
const DONE: i32 = -1;
const BLOCKED: i32 = -2;
const GAVE_UP: i32 = -3;
/// What a function returns that leaves by an exception parameter: this, less the parameter's number.
const RAISED: i32 = -16;

type NativeCode = unsafe extern "C" fn(*mut Context, *mut u32, *mut u32) -> i32;
/// Takes an unpacked state, its copy, the packed state, where records go, and a list of values with its length.
type MeetingCode =
    unsafe extern "C" fn(*mut Context, *mut u32, *const u32, *const u32, *mut u32, *const u32, u32) -> i32;

/// Takes a packed state, and two places for it unpacked.
type UnpackingCode = unsafe extern "C" fn(*const u32, *mut u32, *mut u32) -> i32;

/// Code that was built with that signature.
fn unpacking_code(code: *const u8) -> UnpackingCode {
    // SAFETY: see the module's head; `translate` alone calls this.
    unsafe { std::mem::transmute::<*const u8, UnpackingCode>(code) }
}

/// What native code shares with its helpers.
#[repr(C)]
struct Context {
    machine: *mut c_void,
    /// The results of functions that are kept in tables, [`UNKNOWN`] where there is none yet.
    tables: *mut u32,
    /// Where chunks of rows are: see [`model::SharedRows::addresses`].
    chunks: *const AtomicPtr<u32>,
    /// The table of drafts: see [`super::drafts`].
    drafts: *mut u64,
    /// Results of functions, and for each function how often it was asked for them.
    results: *const Remembered,
    asked: *mut Asked,
    /// What rows with small numbers are without their first words, 1 more than their numbers; 0 where that is not known.
    tails: *const u32,
    /// No function is called with the stack's end below this address.
    stack_limit: usize,
    fuel: u32,
    /// Where records begin.
    first_record: u32,
    /// How many values the last exception was raised with, and how many words these have.
    raised: [u32; 2],
}

impl Context {
    #[inline(always)]
    fn new(machine: &mut Machine<'_>) -> Self {
        if !machine.has_tables() {
            machine.make_tables();
        }
        let (results, asked) = machine.results.tables();
        // The stack grows downwards from about here.
        let here = std::ptr::from_ref(&results).addr();
        Self {
            stack_limit: here.saturating_sub(MOST_STACK),
            results,
            asked,
            drafts: machine.values.forget_drafts().as_mut_ptr(),
            tables: machine.tables.as_mut_ptr(),
            chunks: machine.values.chunks().as_ptr(),
            tails: machine.values.tails().as_ptr(),
            machine: std::ptr::from_mut(machine).cast(),
            fuel: FUEL,
            first_record: 0,
            raised: [0; 2],
        }
    }

    /// Prepares for another call, whose records begin there.
    #[inline(always)]
    fn begin(&mut self, first_record: usize) {
        // SAFETY: see the module's head; no native code runs. The table begins with the number of drafts.
        if unsafe { *self.drafts } != 0 {
            // SAFETY: as above.
            self.drafts = unsafe { machine(self) }.values.forget_drafts().as_mut_ptr();
        }
        self.fuel = FUEL;
        self.first_record = first_record as u32;
    }
}

impl Machine<'_> {
    #[inline(always)]
    fn has_tables(&self) -> bool {
        self.results.are_made() && self.tables.len() == self.code.tabled as usize
    }

    #[cold]
    fn make_tables(&mut self) {
        self.tables = vec![UNKNOWN; self.code.tabled as usize];
        if !self.results.are_made() {
            self.results.make(self.code.functions.len());
        }
    }
}

/// What a table of results has where none is known; a result that looks like this is computed each time.
const UNKNOWN: u32 = u32::MAX;

/// A piece of native code.
#[derive(Clone, Copy)]
struct Piece {
    code: NativeCode,
    /// Words that it takes from the stack, and leaves there when it is done.
    inputs: u32,
    outputs: u32,
    /// Whether it changes slots.
    writes: bool,
}

impl Piece {
    /// Code that was built with the signature of [`NativeCode`].
    fn new(code: *const u8, inputs: u32, outputs: u32, writes: bool) -> Self {
        // SAFETY: see the module's head; `translate` alone calls this.
        let code = unsafe { std::mem::transmute::<*const u8, NativeCode>(code) };
        Self { code, inputs, outputs, writes }
    }
}

/// A rendezvous. What is needed each time fits into a cache line.
#[derive(Clone)]
pub struct MeetingPiece {
    code: MeetingCode,
    /// How many words a record has: values, packed target, where marks start and end and what was chosen, if told.
    record: u32,
    /// How many words a candidate has, and how many records there are at most for each, or in all without candidates.
    each: u32,
    most: u32,
    /// How many values there are.
    values: u32,
    /// Whether candidates come as a list that somebody has to make, and whether records tell marks.
    listed: bool,
    marked: bool,
    opening: Arc<Opening>,
}

impl MeetingPiece {
    /// Code that was built with the signature of [`MeetingCode`].
    fn new(code: *const u8, opening: Opening, words: usize, marked: bool) -> Self {
        // SAFETY: see the module's head; `translate` alone calls this.
        let code = unsafe { std::mem::transmute::<*const u8, MeetingCode>(code) };
        let each = match &opening.source {
            Some(source) => source.words,
            None => opening.places.len() as u32,
        };
        Self {
            code,
            record: opening.values + words as u32,
            each: each.max(1),
            most: opening.combinations(1) as u32,
            values: opening.values,
            listed: opening.ranges.is_none() && !opening.places.is_empty(),
            marked,
            opening: Arc::new(opening),
        }
    }

    /// How many values its steps have.
    #[inline]
    pub fn values(&self) -> usize {
        self.values as usize
    }

    /// Whether records tell where marks lie.
    #[inline]
    pub fn is_marked(&self) -> bool {
        self.marked
    }

    /// The values that nobody fixes.
    #[inline]
    pub fn opening(&self) -> &Opening {
        &self.opening
    }
}

/// A rendezvous without values to be looked for.
#[derive(Clone, Copy)]
struct Fixed {
    /// Nothing if it has such values, or was not translated.
    code: Option<MeetingCode>,
    /// How many words a record has, and all of them together at most.
    record: u32,
    room: usize,
}

/// What a rendezvous works on.
pub struct Meeting<'m> {
    /// The unpacked state; it is left as it is.
    pub state: &'m mut [u32],
    /// A copy of it.
    pub before: &'m [u32],
    /// The same state, packed.
    pub packed: &'m [u32],
    /// The values to be tried, where they are not fixed and not all are tried.
    pub list: &'m [u32],
    /// Where records go, and from which place on. It may become longer and never becomes shorter.
    pub records: &'m mut Vec<u32>,
    pub first: usize,
}

/// A rendezvous that has steps in a state: its number, where their records start, and how many there are.
#[derive(Clone, Copy)]
pub struct Met {
    pub number: u32,
    pub first: u32,
    pub steps: u32,
}

/// Rendezvous and scouts to be translated.
#[derive(Clone, Copy)]
pub struct Chosen<'c> {
    /// Those of a configuration.
    pub configuration: &'c Configuration,
    /// Which of the rendezvous, and behind them which of the scouts.
    pub which: &'c [bool],
}

/// The native code of a program.
pub struct Native {
    /// By address, the number of the piece that starts there, counted from 1.
    starts: Vec<u32>,
    pieces: Vec<Piece>,
    /// By function.
    functions: Vec<Option<Piece>>,
    /// By rendezvous and by scout of a configuration.
    meetings: Vec<Option<MeetingPiece>>,
    scouts: Vec<Option<MeetingPiece>>,
    /// What is needed of rendezvous one after the other.
    fixed: Vec<Fixed>,
    unpack: Option<UnpackingCode>,
    /// The slots of a state, and the words of a packed one.
    width: usize,
    words: usize,
    module: Mutex<Option<JITModule>>,
    /// What some of the rendezvous and scouts are part of.
    _before: Option<Arc<Native>>,
}

impl Native {
    /// Translates what can be: the rendezvous of a configuration, or else single pieces of code. Nothing on machines that
    /// Cranelift does not know.
    pub fn new(
        compiled: &Compiled,
        layout: &Layout,
        chosen: Option<Chosen<'_>>,
        quickly: bool,
    ) -> Option<Self> {
        translate::translate(compiled, layout, chosen, quickly)
    }

    /// This with the rendezvous and scouts that were translated before, for the same configuration.
    pub fn extending(mut self, before: Arc<Self>) -> Self {
        let fill = |own: &mut [Option<MeetingPiece>], others: &[Option<MeetingPiece>]| {
            for (own, other) in own.iter_mut().zip(others) {
                if own.is_none() {
                    own.clone_from(other);
                }
            }
        };
        fill(&mut self.meetings, &before.meetings);
        fill(&mut self.scouts, &before.scouts);
        self._before = Some(before);
        self.list_fixed();
        self
    }

    fn list_fixed(&mut self) {
        let fixed = |piece: &Option<MeetingPiece>| match piece {
            Some(piece) if !piece.listed => Fixed {
                code: Some(piece.code),
                record: piece.record,
                room: piece.most as usize * piece.record as usize,
            },
            _ => Fixed { code: None, record: 0, room: 0 },
        };
        self.fixed = self.meetings.iter().map(fixed).collect();
    }

    /// Unpacks a state to two places; false if there is no code for that.
    #[inline]
    pub fn unpack(&self, packed: &[u32], state: &mut [u32], copy: &mut [u32]) -> bool {
        let Some(unpack) = self.unpack else { return false };
        if packed.len() < self.words || state.len() < self.width || copy.len() < self.width {
            return false;
        }
        // SAFETY: see the module's head.
        unsafe { unpack(packed.as_ptr(), state.as_mut_ptr(), copy.as_mut_ptr()) };
        true
    }

    /// A rendezvous of the configuration, if it could be translated.
    #[inline]
    pub fn meeting_of(&self, number: usize) -> Option<&MeetingPiece> {
        self.meetings[number].as_ref()
    }

    /// A scout of the configuration: in the place of a number of steps it gives a bit for each of its ways that is open.
    #[inline]
    pub fn scout_of(&self, number: usize) -> Option<&MeetingPiece> {
        self.scouts[number].as_ref()
    }

    /// Writes records of all steps of a rendezvous. Gives how many there are; nothing if that has to be found out
    /// otherwise.
    #[inline]
    pub fn meet(
        &self,
        piece: &MeetingPiece,
        machine: &mut Machine<'_>,
        meeting: Meeting<'_>,
    ) -> Option<usize> {
        let Meeting { state, before, packed, list, records, first } = meeting;
        if state.len() < self.width || before.len() < self.width || packed.len() < self.words {
            return None;
        }
        let listed = match piece.listed {
            true => list.len() / piece.each as usize,
            false => 1,
        };
        let end = first + listed * piece.most as usize * piece.record as usize;
        if records.len() < end {
            records.resize(end, 0);
        }
        let mut context = Context::new(machine);
        context.first_record = first as u32;
        let (state, before, packed) = (state.as_mut_ptr(), before.as_ptr(), packed.as_ptr());
        let out = records[first..end].as_mut_ptr();
        // SAFETY: see the module's head.
        let count = unsafe {
            (piece.code)(&raw mut context, state, before, packed, out, list.as_ptr(), listed as u32)
        };
        usize::try_from(count).ok()
    }

    /// Writes records of all steps of several rendezvous of a configuration, one behind the other: of those in a set of bits that begins
    /// with the rendezvous `offset`, up to the first one whose values have to be looked for. Takes them out of the set, notes which had
    /// steps, and gives where records end; nothing if that has to be found out otherwise.
    pub fn meet_fixed(
        &self,
        machine: &mut Machine<'_>,
        meeting: Meeting<'_>,
        offset: usize,
        set: &mut u64,
        met: &mut Vec<Met>,
    ) -> Option<usize> {
        let Meeting { state, before, packed, list, records, first } = meeting;
        if state.len() < self.width || before.len() < self.width || packed.len() < self.words {
            return None;
        }
        let mut context = Context::new(machine);
        let (state, before, packed) = (state.as_mut_ptr(), before.as_ptr(), packed.as_ptr());
        let mut end = first;
        while let Some(left) = NonZero::new(*set) {
            let number = offset + left.trailing_zeros() as usize;
            let Some(&Fixed { code: Some(code), record, room }) = self.fixed.get(number) else { break };
            *set = left.get() & (left.get() - 1);
            let room = end + room;
            if records.len() < room {
                records.resize(room, 0);
            }
            context.begin(end);
            let out = records[end..room].as_mut_ptr();
            // SAFETY: see the module's head.
            let count = unsafe { code(&raw mut context, state, before, packed, out, list.as_ptr(), 1) };
            if count != 0 {
                let steps = u32::try_from(count).ok()?;
                met.push(Met { number: number as u32, first: end as u32, steps });
                end += steps as usize * record as usize;
            }
        }
        Some(end)
    }

    /// How many words a record of a rendezvous has.
    #[inline]
    pub fn record_length(&self, piece: &MeetingPiece) -> usize {
        piece.record as usize
    }

    /// Runs the piece that starts at an address; nothing if there is none or it gave up, and all is as before.
    #[inline]
    pub fn run(&self, machine: &mut Machine<'_>, address: u32, state: &mut [u32]) -> Option<Halt> {
        let piece = self.pieces[self.starts[address as usize].checked_sub(1)? as usize];
        if state.len() < self.width {
            return None;
        }
        let first = machine.give(piece.inputs);
        let marks = machine.marks.len();
        if piece.writes {
            machine.saved.clear();
            machine.saved.extend_from_slice(state);
        }
        let outcome = call(piece.code, machine, state);
        match outcome {
            GAVE_UP => {
                if piece.writes {
                    state.copy_from_slice(&machine.saved);
                }
                machine.marks.truncate(marks);
                None
            }
            DONE => {
                machine.take_back(first, piece.outputs);
                Some(Halt::Done)
            }
            BLOCKED => {
                machine.stack.truncate(first);
                Some(Halt::Blocked)
            }
            address => {
                machine.stack.truncate(first);
                Some(Halt::At(address as u32))
            }
        }
    }

    /// Calls a function whose arguments are on the stack and leaves its results there; false if there is none or it
    /// gave up.
    #[inline]
    pub fn call(&self, machine: &mut Machine<'_>, function: u32) -> bool {
        let Some(piece) = self.functions[function as usize] else { return false };
        let first = machine.give(piece.inputs);
        let done = call(piece.code, machine, &mut []) == DONE;
        if done {
            machine.take_back(first, piece.outputs);
            let rows = &machine.code.row_words[function as usize].results;
            for (word, _) in rows.iter().enumerate().filter(|(_, is_row)| **is_row) {
                machine.stack[first + word] = machine.values.settle(machine.stack[first + word]);
            }
        }
        done
    }
}

impl Machine<'_> {
    /// Copies words from the top of the stack to where native code takes them; gives where they start.
    #[inline]
    fn give(&mut self, words: u32) -> usize {
        let first = self.stack.len() - words as usize;
        if words > 0 {
            self.io.resize(MOST_WORDS, 0);
            self.io[..words as usize].copy_from_slice(&self.stack[first..]);
        }
        first
    }

    /// Replaces what lies on the stack from a place on by what native code has left.
    #[inline]
    fn take_back(&mut self, first: usize, words: u32) {
        self.stack.truncate(first);
        match words {
            1 => self.stack.push(self.io[0]),
            words => self.stack.extend_from_slice(&self.io[..words as usize]),
        }
    }
}

impl Drop for Native {
    fn drop(&mut self) {
        let module = self.module.get_mut().ok().and_then(Option::take);
        if let Some(module) = module {
            // SAFETY: nobody can call the code any more: whoever does borrows `self`.
            unsafe { module.free_memory() }
        }
    }
}

#[inline]
fn call(code: NativeCode, machine: &mut Machine<'_>, state: &mut [u32]) -> i32 {
    machine.io.resize(MOST_WORDS, 0);
    let io = machine.io.as_mut_ptr();
    let mut context = Context::new(machine);
    // SAFETY: see the module's head.
    unsafe { code(&raw mut context, state.as_mut_ptr(), io) }
}

/// The machine behind a context.
///
/// # Safety
/// The context is that of the call at hand, and no other reference to its machine is used meanwhile.
unsafe fn machine<'m>(context: *mut Context) -> &'m mut Machine<'static> {
    // SAFETY: as above; what the machine borrows outlives the call.
    unsafe { &mut *(*context).machine.cast::<Machine<'static>>() }
}

/// Carries out one instruction on words; 0 if that went well.
extern "C" fn help(context: *mut Context, at: u32, words: *mut u32, inputs: u32, outputs: u32) -> i32 {
    // SAFETY: see the module's head; the stack slot behind `words` is as long as both counts.
    let (machine, words) = unsafe {
        let words = std::slice::from_raw_parts_mut(words, inputs.max(outputs) as usize);
        (machine(context), words)
    };
    let first = machine.stack.len();
    machine.stack.extend_from_slice(&words[..inputs as usize]);
    let done = machine.single(at);
    let done = done && machine.stack.len() == first + outputs as usize;
    if done {
        words[..outputs as usize].copy_from_slice(&machine.stack[first..]);
    }
    machine.stack.truncate(first);
    i32::from(!done)
}

/// A word of a row.
extern "C" fn component(context: *mut Context, row: u32, position: u32) -> u32 {
    // SAFETY: see the module's head.
    let machine = unsafe { machine(context) };
    machine.values.row(row).get(position as usize).copied().unwrap_or(0)
}

/// How many words a row has.
extern "C" fn row_length(context: *mut Context, row: u32) -> u32 {
    // SAFETY: see the module's head.
    let machine = unsafe { machine(context) };
    machine.values.row(row).len() as u32
}

/// A row without its first words.
extern "C" fn row_tail(context: *mut Context, row: u32, words: u32, is_draft: u32) -> u32 {
    // SAFETY: see the module's head.
    let machine = unsafe { machine(context) };
    machine.values.change(Change::Tail, row, words, is_draft == 1)
}

/// A row with a word in front of it.
extern "C" fn row_cons(context: *mut Context, word: u32, row: u32, is_draft: u32) -> u32 {
    // SAFETY: see the module's head.
    let machine = unsafe { machine(context) };
    machine.values.change(Change::Cons, row, word, is_draft == 1)
}

/// A row with several words in front of it.
extern "C" fn row_cons_wide(
    context: *mut Context,
    words: *const u32,
    count: u32,
    row: u32,
    is_draft: u32,
) -> u32 {
    // SAFETY: see the module's head; the stack slot behind `words` has as many.
    let (machine, words) = unsafe { (machine(context), std::slice::from_raw_parts(words, count as usize)) };
    machine.values.build_draft(is_draft == 1, |values, scratch| {
        scratch.extend_from_slice(words);
        scratch.extend_from_slice(values.row(row));
    })
}

/// A row with a word behind it.
extern "C" fn row_append(context: *mut Context, word: u32, row: u32, is_draft: u32) -> u32 {
    // SAFETY: see the module's head.
    let machine = unsafe { machine(context) };
    machine.values.change(Change::Append, row, word, is_draft == 1)
}

/// One row behind another.
extern "C" fn row_concatenate(context: *mut Context, first: u32, second: u32, is_draft: u32) -> u32 {
    // SAFETY: see the module's head.
    let machine = unsafe { machine(context) };
    match (machine.values.row(first).is_empty(), machine.values.row(second).is_empty()) {
        (_, true) => return machine.values.settle_unless(is_draft == 1, first),
        (true, _) => return machine.values.settle_unless(is_draft == 1, second),
        _ => {}
    }
    machine.values.build_draft(is_draft == 1, |values, scratch| {
        scratch.extend_from_slice(values.row(first));
        scratch.extend_from_slice(values.row(second));
    })
}

/// A row whose elements of some words are turned round.
extern "C" fn row_reverse(context: *mut Context, row: u32, words: u32, is_draft: u32) -> u32 {
    // SAFETY: see the module's head.
    let machine = unsafe { machine(context) };
    let words = (words as usize).max(1);
    if machine.values.row(row).len() <= words {
        return machine.values.settle_unless(is_draft == 1, row);
    }
    machine.values.build_draft(is_draft == 1, |values, scratch| {
        values.row(row).rchunks_exact(words).for_each(|element| scratch.extend_from_slice(element));
    })
}

/// A row with the elements of another one in ascending order of their words, each once: perhaps a draft.
extern "C" fn row_ascending(context: *mut Context, row: u32, words: u32) -> u32 {
    // SAFETY: see the module's head.
    let machine = unsafe { machine(context) };
    let words = (words as usize).max(1);
    let elements = machine.values.row(row).chunks_exact(words);
    if elements.clone().zip(elements.skip(1)).all(|(one, next)| one < next) {
        return row;
    }
    machine.values.build_draft(true, |values, scratch| {
        let mut elements: Vec<&[u32]> = values.row(row).chunks_exact(words).collect();
        elements.sort_unstable();
        elements.dedup();
        elements.into_iter().for_each(|element| scratch.extend_from_slice(element));
    })
}

/// The number of a row that was a draft.
extern "C" fn settle(context: *mut Context, row: u32) -> u32 {
    // SAFETY: see the module's head.
    let machine = unsafe { machine(context) };
    machine.values.settle(row)
}

/// Has a draft stored together with others; its number will be written into a word of the records of the call at hand, which
/// is 0 till then. If it is stored at once, gives its number.
extern "C" fn defer(context: *mut Context, draft: u32, at: u32) -> u32 {
    // SAFETY: see the module's head.
    let (machine, first) = unsafe { (machine(context), (*context).first_record) };
    machine.values.defer(draft, first + at).unwrap_or(0)
}

/// The words of a value, by the number that offers know it by.
extern "C" fn thaw(context: *mut Context, ty: u32, value: u32, words: *mut u32, count: u32) {
    // SAFETY: see the module's head; the stack slot behind `words` has as many words as values of the type.
    let (machine, words) =
        unsafe { (machine(context), std::slice::from_raw_parts_mut(words, count as usize)) };
    words.copy_from_slice(&machine.values.thaw(TypeId(ty), value));
}

/// The number of a row of words, by which offers know values of several.
extern "C" fn freeze(context: *mut Context, words: *const u32, count: u32) -> u32 {
    // SAFETY: see the module's head; the stack slot behind `words` has as many.
    let (machine, words) = unsafe { (machine(context), std::slice::from_raw_parts(words, count as usize)) };
    machine.values.intern(words)
}

/// Repeats marks behind all others; gives where they start there.
extern "C" fn repeat_marks(context: *mut Context, first: u32, end: u32) -> u32 {
    // SAFETY: see the module's head.
    let machine = unsafe { machine(context) };
    let start = machine.marks.len();
    machine.marks.extend_from_within(first as usize..end as usize);
    start as u32
}

/// Whether a row has a word.
extern "C" fn row_member(context: *mut Context, word: u32, row: u32) -> u32 {
    // SAFETY: see the module's head.
    let machine = unsafe { machine(context) };
    u32::from(machine.values.row(row).contains(&word))
}

/// Whether a row has an element of some words, in whatever order it is.
extern "C" fn row_member_anywhere(context: *mut Context, words: *const u32, count: u32, row: u32) -> u32 {
    // SAFETY: see the module's head; the stack slot behind `words` has as many.
    let (machine, words) = unsafe { (machine(context), std::slice::from_raw_parts(words, count as usize)) };
    u32::from(machine.values.row(row).chunks_exact(words.len()).any(|one| one == words))
}

/// Whether a row in ascending order has an element of some words.
extern "C" fn row_member_wide(context: *mut Context, words: *const u32, count: u32, row: u32) -> u32 {
    // SAFETY: see the module's head; the stack slot behind `words` has as many.
    let (machine, words) = unsafe { (machine(context), std::slice::from_raw_parts(words, count as usize)) };
    u32::from(find_in_order(machine.values.row(row), words).is_ok())
}

/// A row in ascending order with an element of some words, once.
extern "C" fn row_insert(
    context: *mut Context,
    words: *const u32,
    count: u32,
    row: u32,
    is_draft: u32,
) -> u32 {
    // SAFETY: see the module's head; the stack slot behind `words` has as many.
    let (machine, words) = unsafe { (machine(context), std::slice::from_raw_parts(words, count as usize)) };
    let is_draft = machine.values.may_be_draft(is_draft);
    match find_in_order(machine.values.row(row), words) {
        Ok(_) => machine.values.settle_unless(is_draft, row),
        Err(at) => machine.values.build_draft(is_draft, |values, scratch| {
            let (before, behind) = values.row(row).split_at(at);
            scratch.extend_from_slice(before);
            scratch.extend_from_slice(words);
            scratch.extend_from_slice(behind);
        }),
    }
}

/// A row in ascending order without an element of some words.
extern "C" fn row_remove(
    context: *mut Context,
    words: *const u32,
    count: u32,
    row: u32,
    is_draft: u32,
) -> u32 {
    // SAFETY: see the module's head; the stack slot behind `words` has as many.
    let (machine, words) = unsafe { (machine(context), std::slice::from_raw_parts(words, count as usize)) };
    let is_draft = machine.values.may_be_draft(is_draft);
    match find_in_order(machine.values.row(row), words) {
        Err(_) => machine.values.settle_unless(is_draft, row),
        Ok(at) => machine.values.without(row, at, words.len(), is_draft),
    }
}

/// Applies a predefined operation whose result has one word; 0 if that went well, and then it is the first word.
extern "C" fn apply(context: *mut Context, number: u32, words: *mut u32, count: u32) -> i32 {
    // SAFETY: see the module's head; `words` are the operands.
    let (machine, words) =
        unsafe { (machine(context), std::slice::from_raw_parts_mut(words, count.max(1) as usize)) };
    let application = &machine.code.applications[number as usize];
    match machine.values.apply(application, &words[..count as usize]) {
        Ok(result) => {
            words[0] = result;
            0
        }
        Err(_) => 1,
    }
}

/// Applies a predefined operation to rows that may be drafts; 0 if that went well, and then the row is the first word.
extern "C" fn change_rows(
    context: *mut Context,
    number: u32,
    words: *mut u32,
    count: u32,
    is_draft: u32,
) -> i32 {
    // SAFETY: see the module's head; `words` are the operands.
    let (machine, words) =
        unsafe { (machine(context), std::slice::from_raw_parts_mut(words, count as usize)) };
    let application = &machine.code.applications[number as usize];
    let is_draft = machine.values.may_be_draft(is_draft);
    match machine.values.change_rows(application, words, is_draft) {
        Some(row) => {
            words[0] = row;
            0
        }
        None => 1,
    }
}

/// A row of elements, in the order that its type keeps.
extern "C" fn collect_row(
    context: *mut Context,
    ty: u32,
    words: *const u32,
    count: u32,
    is_draft: u32,
) -> u32 {
    // SAFETY: see the module's head; the stack slot behind `words` has as many.
    let (machine, words) = unsafe { (machine(context), std::slice::from_raw_parts(words, count as usize)) };
    let is_draft = machine.values.may_be_draft(is_draft);
    machine.values.build_row(is_draft, |values, row| {
        row.extend_from_slice(words);
        values.normalise(TypeId(ty), row);
    })
}

/// A construct has fired.
extern "C" fn mark(context: *mut Context, mark: u32) {
    // SAFETY: see the module's head.
    let machine = unsafe { machine(context) };
    machine.marks.push(mark);
}

/// Remembers the result of a function.
extern "C" fn remember(context: *mut Context, function: u32, words: *mut u32, count: u32, result: u32) {
    // SAFETY: see the module's head; `words` are the arguments.
    let (machine, words) = unsafe { (machine(context), std::slice::from_raw_parts(words, count as usize)) };
    machine.results.remember(Remembered::of(function, words), result);
}
