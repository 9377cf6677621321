//! Runs the program under shuttle, one execution after the other, and turns executions into sequences.
//!
//! Shuttle ends a test at a panic or a deadlock, and says so on the standard error stream. Here both are ends of a sequence:
//! bodies of tasks catch panics (`thread::guarded`), and a task that is never chosen, the sentinel, keeps shuttle from seeing
//! a deadlock before the scheduler does. Executions are run in batches, so that results can be handed out in between.
//!
//! Shuttle throws the stacks of unfinished tasks away. When a sequence is over, tasks are therefore run on until they come to
//! the end of their operation, where they unwind (`recorder::over`): their stacks are used again, and nothing leaks. That
//! nearly doubles the number of executions each second; tasks that do not leave in time are left to shuttle.

use crate::footprint::Operation;
use crate::program::{Body, End, Event, Frontier, Job, Reduction, Sequence, Start, Strategy, Summary};
use crate::recorder::{self, NOTHING, Record, StateId};
use crate::sampling::{Chance, Plan, Priorities};
use crate::schedule::Schedule;
use crate::systematic::{Origin, Point, Systematic, Tasks, Verdict};
use crate::thread::guarded;
use rustc_hash::FxHashSet;
use serde_json::Value;
use shuttle::scheduler::{Schedule as Beginning, Scheduler, Task, TaskId};
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::{Arc, Once};

/// Shuttle's number of the sentinel; the program's own tasks after the first come after it.
const SENTINEL: usize = 1;
const BATCH: usize = 256;
/// Scheduling points for tasks to leave or to unwind, before they are abandoned.
const PATIENCE: usize = 1000;
const STACK_SIZE: usize = 256 << 10;

fn outside(task: usize) -> usize {
    if task > SENTINEL { task - 1 } else { task }
}

fn inside(task: usize) -> usize {
    if task >= SENTINEL { task + 1 } else { task }
}

enum Choice {
    Systematic(Systematic),
    Random { seed: u64 },
    Priorities(Priorities),
    Replay,
    Plan(Plan),
}

/// How an execution fails: a panic with its text, or a deadlock.
type Failure = (End, Option<String>);

struct Driver {
    choice: Choice,
    hashed: bool,
    whole: bool,
    depth: usize,
    limit: usize,
    /// What is done before the job's own choices.
    prefix: Vec<usize>,
    /// Scheduling points of this execution, and the tasks chosen, for strategies that keep no path.
    position: usize,
    chosen: Vec<usize>,
    states: Vec<StateId>,
    runnable: Vec<usize>,
    chance: Chance,
    running: bool,
    /// How many scheduling points tasks have for leaving.
    patience: usize,
    batch: usize,
    end: Option<(End, Option<String>)>,
    redundant: bool,
    frontier_hash: u64,
    error: Option<String>,
    exhausted: bool,
    sent: FxHashSet<(Vec<StateId>, Option<Failure>)>,
    frontier: Vec<(Frontier, u64)>,
    known_frontier: FxHashSet<u64>,
    events: Vec<Event>,
    summary: Summary,
    cut: bool,
    /// A path was cut before anything was observed: nobody goes on from there.
    lost: bool,
}

impl Driver {
    fn new(job: &Job, hashed: bool) -> Result<Driver, String> {
        let depth = job.depth.unwrap_or(usize::MAX);
        let prefix = match &job.start {
            Start::Schedule(schedule) => schedule.tasks().iter().map(|task| inside(*task)).collect(),
            Start::Beginning | Start::State(_) => Vec::new(),
        };
        let (choice, limit) = match &job.strategy {
            Strategy::Systematic(reduction) => {
                let reduce = *reduction == Reduction::Dependence;
                let origin = match &job.start {
                    Start::State(state) => Origin::State(state.clone()),
                    Start::Beginning | Start::Schedule(_) => Origin::Beginning,
                };
                (Choice::Systematic(Systematic::new(reduce, hashed, depth, &job.known, origin)), usize::MAX)
            }
            Strategy::Random { seed } => (Choice::Random { seed: *seed }, 1000),
            Strategy::Pct { bugs, seed } => {
                (Choice::Priorities(Priorities::new((*bugs).max(1), *seed)), 1000)
            }
            Strategy::Replay => (Choice::Replay, 1),
            Strategy::Plan(blocks) => {
                let blocks = blocks.iter().map(|(task, times)| (inside(*task), *times)).collect();
                (Choice::Plan(Plan::new(blocks)), 1)
            }
        };
        let single = matches!(choice, Choice::Replay | Choice::Plan(_));
        let limit = if single { 1 } else { job.executions.unwrap_or(limit) };
        Ok(Driver {
            choice,
            hashed,
            whole: job.whole || single,
            depth,
            limit,
            prefix,
            position: 0,
            chosen: Vec::new(),
            states: Vec::new(),
            runnable: Vec::new(),
            chance: Chance::new(0, 0),
            running: false,
            patience: 0,
            batch: 0,
            end: None,
            redundant: false,
            frontier_hash: 0,
            error: None,
            exhausted: false,
            sent: FxHashSet::default(),
            frontier: Vec::new(),
            known_frontier: FxHashSet::default(),
            events: Vec::new(),
            summary: Summary::default(),
            cut: false,
            lost: false,
        })
    }

    /// Prepares another execution; no if there is none, or the batch is over.
    fn begin(&mut self) -> bool {
        if self.error.is_some() || self.exhausted || self.batch == 0 {
            return false;
        }
        if self.summary.executions == self.limit {
            self.exhausted = true;
            return false;
        }
        let execution = self.summary.executions;
        let mut recording = true;
        match &mut self.choice {
            Choice::Systematic(search) => {
                if !search.begin() {
                    self.exhausted = true;
                    self.summary.complete = !self.cut;
                    return false;
                }
                recording = !search.repeats();
            }
            Choice::Random { seed } => self.chance = Chance::new(*seed, execution as u64),
            Choice::Priorities(priorities) => priorities.begin(execution),
            Choice::Replay | Choice::Plan(_) => {}
        }
        self.batch -= 1;
        self.summary.executions += 1;
        self.position = 0;
        self.chosen.clear();
        self.states.clear();
        self.end = None;
        self.redundant = false;
        self.running = true;
        self.patience = PATIENCE;
        recorder::with(|record| record.begin(recording));
        true
    }

    fn stop(&mut self, end: End, message: Option<String>) -> Option<usize> {
        self.end = Some((end, message));
        None
    }

    /// Decides at a scheduling point.
    fn decide(
        &mut self,
        record: &mut Record,
        tasks: &[&Task],
        current: Option<usize>,
        yields: bool,
    ) -> Option<usize> {
        if let Some(message) = record.failure.take() {
            return self.stop(End::Panic, Some(message));
        }
        self.runnable.clear();
        self.runnable
            .extend(tasks.iter().map(|task| usize::from(task.id())).filter(|task| *task != SENTINEL));
        // A task that could only wake up without reason does not save a program from a deadlock.
        if !tasks.iter().any(|task| usize::from(task.id()) != SENTINEL && task.runnable()) {
            let waiting = deadlock(record);
            return self.stop(End::Deadlock, Some(waiting));
        }
        let chosen = match self.position.checked_sub(self.prefix.len()) {
            None => self.follow_prefix(record),
            Some(position) => self.choose(record, position, current, yields),
        }?;
        self.position += 1;
        self.summary.steps += 1;
        self.chosen.push(chosen);
        record.running = chosen;
        record.tainted = false;
        record.position = self.position.saturating_sub(self.prefix.len());
        if record.operations.len() <= chosen {
            record.operations.resize(chosen + 1, Operation::Unknown);
        }
        Some(chosen)
    }

    fn follow_prefix(&mut self, record: &mut Record) -> Option<usize> {
        if matches!(self.choice, Choice::Replay) {
            self.states.push(record.state());
        }
        let task = self.prefix[self.position];
        if self.runnable.contains(&task) {
            return Some(task);
        }
        let message = format!("at scheduling point {}, task {} cannot run", self.position, outside(task));
        self.stop(End::Blocked, Some(message))
    }

    fn choose(
        &mut self,
        record: &mut Record,
        position: usize,
        current: Option<usize>,
        yields: bool,
    ) -> Option<usize> {
        if let Choice::Systematic(search) = &mut self.choice {
            let mut runnable: Tasks = 0;
            for task in &self.runnable {
                if *task >= 64 {
                    self.error =
                        Some("systematic exploration knows 62 tasks; use another strategy for more".into());
                    return None;
                }
                runnable |= 1 << task;
            }
            return match search.decide(Point { record, runnable, current }) {
                Verdict::Run(task) => Some(task),
                Verdict::Seen => self.stop(End::Seen, None),
                Verdict::Depth(hash) => {
                    self.frontier_hash = hash;
                    self.stop(End::Depth, None)
                }
                Verdict::Redundant => {
                    self.redundant = true;
                    None
                }
                Verdict::Unstable => {
                    self.error = Some(UNSTABLE.to_owned());
                    None
                }
            };
        }
        let state = record.state();
        if self.states.last() != Some(&state) {
            self.states.push(state);
        }
        if position >= self.depth {
            return self.stop(End::Depth, None);
        }
        match &mut self.choice {
            Choice::Random { .. } => {
                let index = self.chance.below(self.runnable.len());
                Some(self.runnable[index])
            }
            Choice::Priorities(priorities) => Some(priorities.choose(&self.runnable, current, yields)),
            Choice::Plan(plan) => Some(plan.choose(&self.runnable, current)),
            Choice::Replay | Choice::Systematic(_) => self.stop(End::Depth, None),
        }
    }

    /// The execution is over, in whatever way.
    fn conclude(&mut self) {
        recorder::with(|record| self.conclude_with(record));
    }

    /// The task that runs next on its way out; nobody, if they do not leave.
    fn usher(&mut self, tasks: &[&Task], current: Option<usize>) -> Option<usize> {
        self.patience = self.patience.checked_sub(1)?;
        let runnable = || tasks.iter().map(|task| usize::from(task.id())).filter(|task| *task != SENTINEL);
        let task = current.filter(|task| runnable().any(|other| other == *task));
        task.or_else(|| runnable().next())
    }

    fn conclude_with(&mut self, record: &mut Record) {
        self.running = false;
        let (end, message) = match (self.end.take(), record.failure.take()) {
            (Some(end), _) => end,
            (None, Some(message)) => (End::Panic, Some(message)),
            (None, None) => (End::Finished, None),
        };
        if self.error.is_some() {
            return;
        }
        if end == End::Blocked && !matches!(self.choice, Choice::Replay) {
            self.error = Some(format!("the schedule cannot be followed: {}", message.unwrap_or_default()));
            return;
        }
        let last = record.state();
        let mut states: Vec<StateId> = match &mut self.choice {
            Choice::Systematic(search) => {
                let unfinished = if end == End::Finished { 0 } else { waiting(record) };
                search.end(record, unfinished, end == End::Panic);
                search.states(self.whole).collect()
            }
            _ => std::mem::take(&mut self.states),
        };
        if self.redundant {
            return;
        }
        states.push(last);
        states.retain(|state| *state != NOTHING);
        states.dedup();
        let failing = matches!(end, End::Panic | End::Deadlock);
        if end == End::Depth && !matches!(self.choice, Choice::Replay) {
            self.cut(record, last);
        }
        // A sequence that was sent already says nothing new, nor does one without a step, unless it fails.
        let says_something = failing || states.len() > 1 || self.whole;
        let failure = failing.then(|| (end, message.clone()));
        let texts = states.iter().map(|state| record.states.text(*state)).collect();
        if says_something && self.sent.insert((states, failure)) {
            self.summary.sequences += 1;
            let schedule = self.schedule();
            self.events.push(Event::Sequence(Sequence { states: texts, schedule, end, message }));
        }
        self.summary.states = record.states.len();
    }

    fn schedule(&self) -> Schedule {
        self.chosen.iter().map(|task| outside(*task)).collect::<Vec<_>>().into()
    }

    /// The bound cut the path at a state: others can go on from there.
    fn cut(&mut self, record: &Record, state: StateId) {
        let Choice::Systematic(search) = &self.choice else {
            return;
        };
        self.cut |= !self.hashed && search.reduces();
        self.lost |= state == NOTHING;
        if state == NOTHING || (self.hashed && !self.known_frontier.insert(self.frontier_hash)) {
            return;
        }
        let hash = self.frontier_hash;
        let frontier = Frontier {
            state: record.states.text(state),
            schedule: self.schedule(),
            hash: self.hashed.then_some(hash),
        };
        self.frontier.push((frontier, hash));
    }

    /// What was cut and never explored from elsewhere.
    fn finish(&mut self) {
        let explored = |hash: u64| match &self.choice {
            Choice::Systematic(search) => self.hashed && search.has_seen(hash),
            _ => false,
        };
        let frontier =
            self.frontier.drain(..).filter(|(_, hash)| !explored(*hash)).map(|(frontier, _)| frontier);
        self.events.extend(frontier.map(Event::Frontier));
        if let Choice::Systematic(search) = &mut self.choice
            && self.summary.complete
            && !self.lost
        {
            let expanded = search.take_expanded();
            if !expanded.is_empty() {
                self.events.push(Event::Expanded(expanded));
            }
        }
    }
}

const UNSTABLE: &str = "the program does not do the same when it is scheduled the same way: \
    all that it depends on must be made in its closure, without clocks, random numbers or statics";

/// Tasks that are not over.
fn waiting(record: &Record) -> Tasks {
    let tasks = record.operations.iter().enumerate().take(64);
    tasks
        .filter(|(task, operation)| *task != SENTINEL && **operation != Operation::Finished)
        .fold(0, |tasks, (task, _)| tasks | 1 << task)
}

fn deadlock(record: &Record) -> String {
    let mut parts = Vec::new();
    for (task, operation) in record.operations.iter().enumerate().filter(|(task, _)| *task != SENTINEL) {
        let what = match operation {
            Operation::Finished => continue,
            Operation::Lock(_) => "waits for a mutex".to_owned(),
            Operation::Wait(..) => "waits for a notification".to_owned(),
            Operation::Join(other) => format!("waits for the end of task {}", outside(*other)),
            _ => "waits".to_owned(),
        };
        parts.push(format!("task {} {what}", outside(task)));
    }
    parts.join(", ")
}

/// The driver as shuttle sees it.
struct Handle(Rc<RefCell<Driver>>);

impl Scheduler for Handle {
    fn new_execution(&mut self) -> Option<Beginning> {
        let mut driver = self.0.borrow_mut();
        if driver.running {
            driver.conclude();
        }
        driver.begin().then(|| Beginning::new(0))
    }

    fn next_task(&mut self, tasks: &[&Task], current: Option<TaskId>, yields: bool) -> Option<TaskId> {
        let current = current.map(usize::from);
        if std::thread::panicking() {
            // A task that panics gives back what it holds before the execution ends.
            return self.0.borrow_mut().usher(tasks, current).map(TaskId::from);
        }
        let mut driver = self.0.borrow_mut();
        let chosen = recorder::with(|record| {
            if driver.running {
                let chosen = driver.decide(record, tasks, current, yields);
                if chosen.is_some() {
                    return chosen;
                }
                driver.conclude_with(record);
                record.leaving = true;
                record.recording = false;
            }
            driver.usher(tasks, current)
        });
        chosen.map(TaskId::from)
    }

    fn next_u64(&mut self) -> u64 {
        self.0.borrow_mut().chance.next()
    }
}

/// Runs a job and hands out what it finds.
pub(crate) fn run(
    body: &Body,
    hashed: bool,
    job: &Job,
    mut sink: impl FnMut(Event),
) -> Result<Summary, String> {
    silence();
    let start: Option<Value> = match &job.start {
        Start::State(state) => Some(state.clone()),
        _ => None,
    };
    let driver = Rc::new(RefCell::new(Driver::new(job, hashed)?));
    recorder::with(|record| *record = Record::default());
    let start = Arc::new(start);
    while !driver.borrow().exhausted && driver.borrow().error.is_none() {
        driver.borrow_mut().batch = BATCH;
        let mut config = shuttle::Config::new();
        config.stack_size = STACK_SIZE;
        config.failure_persistence = shuttle::FailurePersistence::None;
        config.max_steps = shuttle::MaxSteps::None;
        config.silence_warnings = true;
        let runner = shuttle::Runner::new(Handle(driver.clone()), config);
        let (body, start) = (body.clone(), start.clone());
        recorder::set_active(true);
        let result = catch_unwind(AssertUnwindSafe(move || {
            runner.run(move || {
                // Never chosen, so it costs little more than its entry in shuttle's list.
                drop(shuttle::future::spawn(async {}));
                let start = (*start).clone();
                guarded(|| body(start));
            })
        }));
        recorder::set_active(false);
        let mut driver = driver.borrow_mut();
        if let Err(payload) = result {
            // A panic that no body caught: in a scoped thread, or in a destructor.
            recorder::fail(recorder::panic_message(&*payload));
            if driver.running {
                driver.conclude();
            }
        }
        if driver.exhausted {
            driver.finish();
        }
        for event in driver.events.drain(..) {
            sink(event);
        }
    }
    let driver = driver.borrow();
    match &driver.error {
        Some(error) => Err(error.clone()),
        None => Ok(driver.summary.clone()),
    }
}

/// Keeps panics of programs under test from being reported: they are results.
///
/// Shuttle installs a hook of its own in its first execution, which would print. So one execution is run before the hook is
/// replaced by one that is silent while an exploration runs.
fn silence() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let hook = std::panic::take_hook();
        let mut config = shuttle::Config::new();
        config.silence_warnings = true;
        config.failure_persistence = shuttle::FailurePersistence::None;
        shuttle::Runner::new(Trivial(true), config).run(|| {});
        std::panic::set_hook(Box::new(move |information| {
            if !recorder::is_active() || VERBOSE.with(std::cell::Cell::get) {
                hook(information);
            }
        }));
    });
}

thread_local! {
    /// A replay reports panics as any program does.
    static VERBOSE: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

pub(crate) fn set_verbose(verbose: bool) {
    VERBOSE.with(|flag| flag.set(verbose));
}

struct Trivial(bool);

impl Scheduler for Trivial {
    fn new_execution(&mut self) -> Option<Beginning> {
        std::mem::take(&mut self.0).then(|| Beginning::new(0))
    }

    fn next_task(&mut self, tasks: &[&Task], _: Option<TaskId>, _: bool) -> Option<TaskId> {
        tasks.first().map(|task| task.id())
    }

    fn next_u64(&mut self) -> u64 {
        0
    }
}
