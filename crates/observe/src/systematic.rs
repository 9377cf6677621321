//! All schedules up to a depth, by running the program again and again.
//!
//! Without reduction every enabled task is tried at every scheduling point. With it, one schedule of each class of equivalent
//! ones is enough:
//!
//! - Dynamic partial-order reduction (Flanagan and Godefroid 2005): at first one task is tried; where two steps turn out to
//!   race, the other order is tried, too. A path of n steps costs O(n²) comparisons.
//! - Sleep sets (Godefroid 1996): a task that was tried before is not tried again until something happens on which its step
//!   depends.
//! - An attempt to take a mutex that somebody has is no step.
//!
//! Where states are recognised by their hash, dynamic reduction would be unsound (what happens after a state that was seen
//! is not seen again, so its races are not either). There, sleep sets are stored with the states (a state is tried again with
//! the tasks that slept then and do not sleep now), and giving a mutex back is done at once: nothing that others do before
//! depends on it, unless somebody tries a mutex without waiting, or the step shows something.
//!
//! `tests/twins.rs` compares all of that with trying everything.
//!
//! A search without reduction can be told which states others have expanded. It ends there, for what comes after is theirs to
//! explore. With reduction that would be unsound: others may have given a mutex back at once where a later job finds that
//! somebody tries it, and what they left out because of sleep sets is not known.

use crate::footprint::{Operation, Step};
use crate::recorder::{NOTHING, Record, StateId};
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value;

/// Tasks as bits; systematic exploration knows up to 64 of them.
pub(crate) type Tasks = u64;

/// A scheduling point on the path that is being explored.
#[derive(Default)]
struct Node {
    state: StateId,
    runnable: Tasks,
    enabled: Tasks,
    /// To be tried, and tried already.
    todo: Tasks,
    done: Tasks,
    chosen: usize,
    /// What the chosen task does here.
    operation: Operation,
    step: Step,
    /// Tasks that need not be tried here, with the step that was taken for them elsewhere.
    asleep: Vec<(usize, Step)>,
    tried: Vec<(usize, Step)>,
    /// For each task, one more than the last of its steps that must come before this one.
    clock: Vec<u32>,
    /// Only the task that gives its mutex back was tried.
    single: bool,
    /// The hash says all, in other jobs as well.
    settled: bool,
}

impl Node {
    fn sleeping(&self) -> Tasks {
        self.asleep.iter().fold(0, |tasks, (task, _)| tasks | 1 << task)
    }
}

/// Why a path ends, as far as the search decides it.
pub(crate) enum Verdict {
    Run(usize),
    /// A state that was seen.
    Seen,
    /// Only tasks that need not be tried: an equivalent path was explored.
    Redundant,
    /// The bound; the hash of the state.
    Depth(u64),
    /// The program does not do the same when it is run the same way.
    Unstable,
}

/// What a scheduling point looks like.
pub(crate) struct Point<'a> {
    pub record: &'a mut Record,
    pub runnable: Tasks,
    pub current: Option<usize>,
}

pub(crate) struct Systematic {
    reduce: bool,
    hashed: bool,
    depth: usize,
    path: Vec<Node>,
    /// How many scheduling points of this execution there were.
    position: usize,
    /// The first scheduling point of this execution at which something new was tried.
    fresh: usize,
    started: bool,
    /// For each hash the tasks that slept when the state was explored.
    seen: FxHashMap<u64, Tasks>,
    tried_mutex: bool,
    /// What others have expanded, and what is expanded here for others to know.
    known: FxHashSet<u64>,
    expanded: Vec<u64>,
    origin: Origin,
}

/// The state that the program was put into. Until it is observed, a hash doesn't tell it from others.
pub(crate) enum Origin {
    /// Always the same.
    Beginning,
    State(Value),
    /// The same, when it was observed once.
    Observed(StateId),
}

impl Systematic {
    pub fn new(reduce: bool, hashed: bool, depth: usize, known: &[u64], origin: Origin) -> Systematic {
        let shares = hashed && !reduce;
        Systematic {
            reduce,
            hashed,
            depth,
            path: Vec::new(),
            position: 0,
            fresh: 0,
            started: false,
            seen: FxHashMap::default(),
            tried_mutex: false,
            known: known.iter().copied().filter(|_| shares).collect(),
            expanded: Vec::new(),
            origin,
        }
    }

    /// Prepares the next execution; no if everything was tried.
    pub fn begin(&mut self) -> bool {
        self.position = 0;
        if !self.started {
            self.started = true;
            self.fresh = 0;
            return true;
        }
        while let Some(node) = self.path.last_mut() {
            node.tried.push((node.chosen, node.step));
            node.done |= 1 << node.chosen;
            let next = node.todo & !node.done & !node.sleeping();
            if next != 0 {
                node.chosen = next.trailing_zeros() as usize;
                self.fresh = self.path.len() - 1;
                return true;
            }
            self.path.pop();
        }
        false
    }

    /// Whether the beginning of this execution is known.
    pub fn repeats(&self) -> bool {
        !self.path.is_empty()
    }

    /// Whether a state was explored, not merely reached.
    pub fn has_seen(&self, hash: u64) -> bool {
        self.seen.contains_key(&hash)
    }

    /// The states that were expanded, if everything was tried.
    pub fn take_expanded(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.expanded)
    }

    /// The states of the path, from the first scheduling point or from where this execution is new.
    pub fn states(&self, whole: bool) -> impl Iterator<Item = StateId> + '_ {
        let from = if whole { 0 } else { self.fresh.min(self.path.len()) };
        self.path[from..].iter().map(|node| node.state)
    }

    pub fn reduces(&self) -> bool {
        self.reduce
    }

    /// Decides at a scheduling point.
    pub fn decide(&mut self, point: Point<'_>) -> Verdict {
        let Point { record, runnable, current } = point;
        let position = self.position;
        if position + 1 < self.path.len() {
            self.position += 1;
            let node = &self.path[position];
            return if runnable == node.runnable { Verdict::Run(node.chosen) } else { Verdict::Unstable };
        }
        if position + 1 == self.path.len() && position == self.fresh && !record.recording {
            // The last known point: another task goes on from here.
            record.resume(self.path[position].state);
            self.position += 1;
            let node = &mut self.path[position];
            node.operation = record.operation(node.chosen);
            return if runnable == node.runnable { Verdict::Run(node.chosen) } else { Verdict::Unstable };
        }
        let state = record.state();
        self.complete(record, state);
        if self.reduce && self.hashed && record.tried && !self.tried_mutex {
            self.forget_shortcuts();
        }
        let enabled = if self.reduce { able(record, runnable) } else { runnable };
        let hash = if self.hashed { fingerprint(record, state, enabled) } else { 0 };
        let settled = self.hashed && !self.reduce && self.is_settled(record, state);
        if settled && self.known.contains(&hash) {
            return Verdict::Seen;
        }
        if position >= self.depth {
            return Verdict::Depth(hash);
        }
        let asleep = self.asleep();
        let sleeping = asleep.iter().fold(0, |tasks: Tasks, (task, _)| tasks | 1 << task);
        let mut wanted = enabled & !sleeping;
        if self.hashed {
            match self.seen.get_mut(&hash) {
                Some(slept) => {
                    wanted &= *slept;
                    if wanted == 0 {
                        return Verdict::Seen;
                    }
                    *slept &= sleeping;
                }
                None => {
                    self.seen.insert(hash, if self.reduce { sleeping } else { 0 });
                    if settled {
                        self.expanded.push(hash);
                    }
                }
            }
        }
        if wanted == 0 {
            return Verdict::Redundant;
        }
        let chosen = match current {
            Some(current) if wanted >> current & 1 == 1 => current,
            _ => wanted.trailing_zeros() as usize,
        };
        let mut node =
            Node { state, runnable, enabled, chosen, asleep, todo: wanted, settled, ..Node::default() };
        node.operation = record.operation(chosen);
        if self.reduce && !self.hashed {
            node.todo = 1 << chosen;
        } else if self.reduce && !self.tried_mutex && matches!(node.operation, Operation::Release(_)) {
            node.single = true;
        }
        if node.single {
            node.todo = 1 << chosen;
        }
        self.path.push(node);
        self.position += 1;
        Verdict::Run(chosen)
    }

    /// Whether the state that the job starts from was observed: before that, the hash of a program that is still being put
    /// into it doesn't say what will be.
    fn is_settled(&mut self, record: &Record, state: StateId) -> bool {
        if state == NOTHING {
            return false;
        }
        if self.path.last().is_some_and(|node| node.settled) {
            return true;
        }
        match &self.origin {
            Origin::Beginning => true,
            Origin::Observed(origin) => *origin == state,
            Origin::State(origin) => {
                let settled = serde_json::from_str::<Value>(&record.states.text(state))
                    .is_ok_and(|observed| observed == *origin);
                if settled {
                    self.origin = Origin::Observed(state);
                }
                settled
            }
        }
    }

    /// The execution is over: what its last step did, and what others would have done next.
    pub fn end(&mut self, record: &mut Record, unfinished: Tasks, panicked: bool) {
        let state = record.state();
        if panicked && let Some(last) = self.path.last_mut() {
            // A panic ends everything, so that its order with any other step matters.
            last.operation = Operation::Unknown;
        }
        self.complete(record, state);
        if self.reduce && !self.hashed {
            let mut rest = unfinished;
            while rest != 0 {
                let task = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                let step = Step { operation: record.operation(task), observed: false };
                self.find_races(record, self.path.len(), task, step);
            }
        }
    }

    /// What the step before this scheduling point did, which is known only now.
    fn complete(&mut self, record: &Record, state: StateId) {
        let Some(index) = self.path.len().checked_sub(1).filter(|index| index + 1 == self.position) else {
            return;
        };
        let node = &mut self.path[index];
        let operation = match node.operation {
            // A task that ends can end everything.
            Operation::Finished => Operation::Unknown,
            _ if record.tainted => Operation::Unknown,
            other => other,
        };
        node.step = Step { operation, observed: state != node.state };
        if node.single && node.step.observed {
            node.single = false;
            node.todo = node.enabled;
        }
        if self.reduce && !self.hashed {
            let (task, step) = (node.chosen, node.step);
            let clock = self.find_races(record, index, task, step);
            self.path[index].clock = clock;
        }
    }

    /// Finds the steps before `index` that race with a step of a task, and has the other order tried. Returns what must come
    /// before the step.
    fn find_races(&mut self, record: &Record, index: usize, task: usize, step: Step) -> Vec<u32> {
        let mut before = match self.path[..index].iter().rposition(|node| node.chosen == task) {
            Some(previous) => self.path[previous].clock.clone(),
            None => match record.births.get(task) {
                // The first step of a thread comes after the one that made it.
                Some(&birth) if birth > 0 && birth <= index => self.path[birth - 1].clock.clone(),
                _ => Vec::new(),
            },
        };
        let known = |clock: &[u32], task: usize| clock.get(task).copied().unwrap_or_default() as usize;
        if let Operation::Join(other) = step.operation
            && let Some(last) = self.path[..index].iter().rposition(|node| node.chosen == other)
        {
            merge(&mut before, &self.path[last].clock);
        }
        let mut after = before.clone();
        for earlier in (0..index).rev() {
            let node = &self.path[earlier];
            let other = node.chosen;
            if other == task || !node.step.depends_on(step) {
                continue;
            }
            merge(&mut after, &node.clock);
            if known(&before, other) <= earlier && node.step.can_meet(step) {
                let node = &mut self.path[earlier];
                node.todo |= if node.enabled >> task & 1 == 1 { 1 << task } else { node.enabled };
            }
        }
        if after.len() <= task {
            after.resize(task + 1, 0);
        }
        after[task] = index as u32 + 1;
        after
    }

    /// The tasks that need not be tried at a new scheduling point.
    fn asleep(&self) -> Vec<(usize, Step)> {
        let Some(parent) = self.path.last().filter(|_| self.reduce) else {
            return Vec::new();
        };
        let candidates = parent.asleep.iter().chain(&parent.tried);
        candidates
            .filter(|(task, step)| *task != parent.chosen && !step.depends_on(parent.step))
            .copied()
            .collect()
    }

    /// Somebody tries a mutex: that it is taken can be seen, so giving it back is a step like any other.
    fn forget_shortcuts(&mut self) {
        self.tried_mutex = true;
        self.seen.clear();
        // States that were left already are tried again, too.
        for node in &mut self.path {
            node.todo = node.enabled;
            node.done = 0;
            node.tried.clear();
            node.asleep.clear();
            node.single = false;
        }
    }
}

fn merge(clock: &mut Vec<u32>, other: &[u32]) {
    if clock.len() < other.len() {
        clock.resize(other.len(), 0);
    }
    for (own, other) in clock.iter_mut().zip(other) {
        *own = (*own).max(*other);
    }
}

/// The tasks that would not merely wait for a mutex; all, if there are none.
pub(crate) fn able(record: &Record, runnable: Tasks) -> Tasks {
    let mut able = runnable;
    let mut rest = runnable;
    while rest != 0 {
        let task = rest.trailing_zeros() as usize;
        rest &= rest - 1;
        if let Operation::Lock(mutex) = record.operation(task)
            && record.held.contains(&mutex)
        {
            able &= !(1 << task);
        }
    }
    if able == 0 { runnable } else { able }
}

/// A hash of all that determines the future, if the observed components and the places do.
pub(crate) fn fingerprint(record: &Record, state: StateId, enabled: Tasks) -> u64 {
    let mut hash = record.states.hash(state) ^ mix(enabled);
    for (task, place) in record.places.iter().enumerate() {
        if *place != 0 {
            hash = mix(hash ^ mix(*place ^ task as u64));
        }
    }
    for (task, operation) in record.operations.iter().enumerate() {
        let (kind, first, second) = match *operation {
            Operation::Unknown => (1, 0, 0),
            Operation::Local => (2, 0, 0),
            Operation::Lock(object) => (3, object, 0),
            Operation::TryLock(object) => (4, object, 0),
            Operation::Release(object) => (5, object, 0),
            Operation::Read(object) => (6, object, 0),
            Operation::Write(object) => (7, object, 0),
            Operation::Wait(variable, mutex) => (8, variable, mutex),
            Operation::Join(other) => (9, other as u64, 0),
            Operation::Finished => (10, 0, 0),
        };
        hash = mix(hash ^ mix(((task as u64) << 8 | kind) ^ mix(first ^ mix(second))));
    }
    hash
}

/// The mixing function of SplitMix64 (Steele, Lea and Flood 2014).
pub(crate) fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}
