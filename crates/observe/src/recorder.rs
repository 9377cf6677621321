//! The observed state while a program runs: what `observe!` and `place!` write, and what tasks announce.
//!
//! All tasks of an exploration run on one thread of the operating system, so the record is local to that thread. Outside of an
//! exploration the macros look at one flag and are done.

use crate::footprint::{Object, Operation};
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::cell::{Cell, RefCell};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

thread_local! {
    static ACTIVE: Cell<bool> = const { Cell::new(false) };
    static RECORD: RefCell<Record> = RefCell::new(Record::default());
}

/// Number of a state in [`States`].
pub(crate) type StateId = u32;
/// Before anything was observed.
pub(crate) const NOTHING: StateId = StateId::MAX;

/// The observed states of an exploration, each stored once.
#[derive(Default)]
pub(crate) struct States {
    numbers: FxHashMap<Rc<str>, StateId>,
    states: Vec<Stored>,
}

struct Stored {
    text: Rc<str>,
    hash: u64,
    components: Vec<(Rc<str>, Rc<str>)>,
}

impl States {
    pub fn text(&self, state: StateId) -> Rc<str> {
        self.states[state as usize].text.clone()
    }

    pub fn hash(&self, state: StateId) -> u64 {
        if state == NOTHING { 0 } else { self.states[state as usize].hash }
    }

    pub fn len(&self) -> usize {
        self.states.len()
    }

    fn number(&mut self, components: &[(Rc<str>, Rc<str>)], buffer: &mut String) -> StateId {
        if components.is_empty() {
            return NOTHING;
        }
        buffer.clear();
        for (index, (name, value)) in components.iter().enumerate() {
            buffer.push(if index == 0 { '{' } else { ',' });
            // Names are written by hand, so quoting one is rarely more than two quotation marks.
            buffer.push_str(&serde_json::to_string(&**name).expect("a text can be written"));
            buffer.push(':');
            buffer.push_str(value);
        }
        buffer.push('}');
        if let Some(&number) = self.numbers.get(buffer.as_str()) {
            return number;
        }
        let number = StateId::try_from(self.states.len()).expect("fewer than four billion states");
        let text: Rc<str> = buffer.as_str().into();
        self.states.push(Stored {
            text: text.clone(),
            hash: hash_of(&*text),
            components: components.to_vec(),
        });
        self.numbers.insert(text, number);
        number
    }
}

/// A hash that is the same in every run and every process.
pub(crate) fn hash_of<T: Hash + ?Sized>(value: &T) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// What is known of the running execution.
#[derive(Default)]
pub(crate) struct Record {
    pub states: States,
    /// Sorted by name, so that the order of observations does not matter.
    components: Vec<(Rc<str>, Rc<str>)>,
    changed: bool,
    current: Option<StateId>,
    /// Not while a known beginning of a schedule is repeated: its states are known, too.
    pub recording: bool,
    /// The task that runs, by shuttle's number.
    pub running: usize,
    /// How many scheduling points there were.
    pub position: usize,
    pub places: Vec<u64>,
    pub operations: Vec<Operation>,
    pub held: Vec<Object>,
    made: Vec<u32>,
    /// At which scheduling point a task was made.
    pub births: Vec<usize>,
    /// A mutex was tried rather than taken, in any execution.
    pub tried: bool,
    /// The sequence is over: tasks leave at the end of their operation, so that their stacks can be used again.
    pub leaving: bool,
    /// The running step did something to others that was not announced.
    pub tainted: bool,
    /// The first panic: what it said.
    pub failure: Option<String>,
    buffer: String,
}

impl Record {
    /// Before an execution; what was learnt of states is kept.
    pub fn begin(&mut self, recording: bool) {
        self.components.clear();
        self.changed = false;
        self.current = None;
        self.recording = recording;
        self.running = 0;
        self.position = 0;
        self.places.clear();
        self.operations.clear();
        self.held.clear();
        self.made.clear();
        self.births.clear();
        self.tainted = false;
        self.leaving = false;
        self.failure = None;
    }

    /// The observed state at a scheduling point.
    pub fn state(&mut self) -> StateId {
        if self.changed || self.current.is_none() {
            let mut buffer = std::mem::take(&mut self.buffer);
            self.current = Some(self.states.number(&self.components, &mut buffer));
            self.buffer = buffer;
            self.changed = false;
        }
        self.current.unwrap_or(NOTHING)
    }

    /// Goes on from a state that was recorded before.
    pub fn resume(&mut self, state: StateId) {
        self.components.clear();
        if state != NOTHING {
            self.components.extend_from_slice(&self.states.states[state as usize].components);
        }
        self.current = Some(state);
        self.changed = false;
        self.recording = true;
    }

    pub fn operation(&self, task: usize) -> Operation {
        self.operations.get(task).copied().unwrap_or_default()
    }

    fn set<T: Default + Clone>(values: &mut Vec<T>, index: usize, value: T) {
        if values.len() <= index {
            values.resize(index + 1, T::default());
        }
        values[index] = value;
    }

    fn component(&mut self, name: &str, value: &str) {
        match self.components.binary_search_by(|(known, _)| (**known).cmp(name)) {
            Ok(index) => {
                if &*self.components[index].1 != value {
                    self.components[index].1 = value.into();
                    self.changed = true;
                }
            }
            Err(index) => {
                self.components.insert(index, (name.into(), value.into()));
                self.changed = true;
            }
        }
    }
}

/// Whether an exploration runs on this thread.
#[inline]
pub(crate) fn is_active() -> bool {
    ACTIVE.with(Cell::get)
}

pub(crate) fn set_active(active: bool) {
    ACTIVE.with(|flag| flag.set(active));
}

pub(crate) fn with<R>(action: impl FnOnce(&mut Record) -> R) -> R {
    RECORD.with(|record| action(&mut record.borrow_mut()))
}

fn is_recording() -> bool {
    is_active() && with(|record| record.recording)
}

/// The value of a component of the observed state from now on. [`observe!`](crate::observe!) is short for it.
///
/// The value is written at once; it becomes part of a state at the next scheduling point, together with everything else that
/// was observed until then.
pub fn observe<T: Serialize + ?Sized>(name: &'static str, value: &T) {
    if !is_recording() {
        return;
    }
    // Written before the record is borrowed: what a value does when it is written is the program's business.
    match serde_json::to_string(value) {
        Ok(text) => with(|record| record.component(name, &text)),
        Err(error) => panic!("the value of '{name}' cannot be observed: {error}"),
    }
    #[cfg(feature = "loom")]
    crate::under_loom::observed();
}

/// Each field of a structure becomes a component. [`observe_all!`](crate::observe_all!) is short for it.
pub fn observe_all<T: Serialize + ?Sized>(value: &T) {
    if !is_recording() {
        return;
    }
    match value.serialize(crate::fields::Fields::default()) {
        Ok(fields) => with(|record| {
            for (name, text) in &fields {
                record.component(name, text);
            }
        }),
        Err(error) => panic!("the state cannot be observed: {error}"),
    }
    #[cfg(feature = "loom")]
    crate::under_loom::observed();
}

/// Where the running task is, with all that it keeps to itself. [`place!`](crate::place!) is short for it.
pub fn place<T: Hash + ?Sized>(value: &T) {
    if is_active() {
        let hash = hash_of(value);
        with(|record| {
            let running = record.running;
            Record::set(&mut record.places, running, hash);
        });
    }
}

/// What the running task does after the next scheduling point.
pub(crate) fn announce(operation: Operation) {
    if is_active() {
        with(|record| {
            record.tried |= matches!(operation, Operation::TryLock(_));
            let running = record.running;
            Record::set(&mut record.operations, running, operation);
        });
    }
}

/// The announced operation is over; what comes next is not known.
pub(crate) fn over() {
    announce(Operation::Unknown);
    if is_leaving() && !std::thread::panicking() {
        std::panic::resume_unwind(Box::new(Leave));
    }
}

/// What a task unwinds with that leaves an execution whose sequence is over; no panic of the program.
pub(crate) struct Leave;

pub(crate) fn is_leaving() -> bool {
    is_active() && with(|record| record.leaving)
}

/// A number for a new object that does not depend on the schedule.
pub(crate) fn new_object() -> Object {
    if !is_active() {
        return 0;
    }
    with(|record| {
        let running = record.running;
        let number = record.made.get(running).copied().unwrap_or_default() + 1;
        Record::set(&mut record.made, running, number);
        ((running as u64) << 32) | u64::from(number)
    })
}

pub(crate) fn hold(mutex: Object) {
    if is_active() {
        with(|record| record.held.push(mutex));
    }
}

pub(crate) fn let_go(mutex: Object) {
    if is_active() {
        with(|record| record.held.retain(|held| *held != mutex));
    }
}

/// A thread was made through this crate: its first step is its own.
pub(crate) fn born(task: usize) {
    if is_active() {
        with(|record| {
            Record::set(&mut record.operations, task, Operation::Local);
            let position = record.position;
            Record::set(&mut record.births, task, position);
        });
    }
}

/// The running step does something to others without a scheduling point, such as leaving a channel: it depends on everything.
pub(crate) fn taint() {
    if is_active() {
        with(|record| record.tainted = true);
    }
}

/// A panic of the program; the first one counts.
pub(crate) fn fail(message: String) {
    with(|record| {
        // A task that leaves can leave others with less than they expect.
        if record.leaving {
            return;
        }
        record.failure.get_or_insert(message);
    });
}

/// The text of a panic.
pub(crate) fn panic_message(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a text".to_owned())
}
