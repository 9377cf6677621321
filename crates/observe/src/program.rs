//! A program under test, the jobs it can be given, and what they find.

use crate::driver;
use crate::schedule::Schedule;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

/// What is run: from the beginning, or from a state.
pub(crate) type Body = Arc<dyn Fn(Option<Value>) + Send + Sync>;

/// A program under test: a closure that makes its threads, observes its state and ends.
///
/// ```
/// use watershed_observe::sync::atomic::{AtomicU32, Ordering::SeqCst};
/// use watershed_observe::{Job, Program, observe, sync::Arc, thread};
///
/// let program = Program::new("lost_update", || {
///     let counter = Arc::new(AtomicU32::new(0));
///     observe!("counter", &0);
///     let threads: Vec<_> = (0..2)
///         .map(|_| {
///             let counter = counter.clone();
///             thread::spawn(move || {
///                 let value = counter.load(SeqCst);
///                 counter.store(value + 1, SeqCst);
///                 observe!("counter", &(value + 1));
///             })
///         })
///         .collect();
///     for thread in threads {
///         thread.join().unwrap();
///     }
/// });
/// let found = program.explore(&Job::systematic());
/// assert!(found.summary.complete);
/// // One of the two updates can be lost.
/// let last: Vec<_> = found.sequences.iter().map(|sequence| sequence.states.last().unwrap().to_string()).collect();
/// assert!(last.contains(&r#"{"counter":1}"#.to_owned()) && last.contains(&r#"{"counter":2}"#.to_owned()));
/// ```
#[derive(Clone)]
pub struct Program {
    name: String,
    body: Body,
    from_states: bool,
    complete: bool,
    about: String,
}

impl Program {
    /// A program that always starts at its beginning.
    pub fn new(name: impl Into<String>, body: impl Fn() + Send + Sync + 'static) -> Program {
        let body = Arc::new(move |_: Option<Value>| body());
        Program { name: name.into(), body, from_states: false, complete: false, about: String::new() }
    }

    /// A program that can also start from a state, as it was observed.
    ///
    /// ```
    /// use watershed_observe::{Job, Program, Start, observe};
    ///
    /// #[derive(serde::Deserialize)]
    /// struct State {
    ///     count: u32,
    /// }
    /// let program = Program::from_states("counter", |start: Option<State>| {
    ///     let count = start.map_or(0, |state| state.count);
    ///     observe!("count", &count);
    /// });
    /// let job = Job { start: Start::State(serde_json::json!({"count": 7})), ..Job::systematic() };
    /// assert_eq!(&*program.explore(&job).sequences[0].states[0], r#"{"count":7}"#);
    /// ```
    pub fn from_states<S: DeserializeOwned>(
        name: impl Into<String>,
        body: impl Fn(Option<S>) + Send + Sync + 'static,
    ) -> Program {
        let body = Arc::new(move |start: Option<Value>| {
            let start = start.map(|value| match serde_json::from_value(value) {
                Ok(state) => state,
                Err(error) => panic!("the program cannot start from this state: {error}"),
            });
            body(start);
        });
        Program { name: name.into(), body, from_states: true, complete: false, about: String::new() }
    }

    /// Promises that the observed components, the places of the threads ([`place!`](crate::place!)) and what the primitives
    /// of this crate announce determine what the program can still do. States are then recognised, and explored once.
    #[must_use]
    pub fn complete(mut self) -> Program {
        self.complete = true;
        self
    }

    /// What the help of the command line says of the program and its own arguments.
    #[must_use]
    pub fn about(mut self, text: impl Into<String>) -> Program {
        self.about = text.into();
        self
    }

    /// The program's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn about_text(&self) -> &str {
        &self.about
    }

    pub(crate) fn starts_from_states(&self) -> bool {
        self.from_states
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.complete
    }

    /// Does a job and hands out what it finds, as it is found.
    ///
    /// # Errors
    ///
    /// If the job cannot be done: its schedule cannot be followed, it starts from a state and the program does not, or the
    /// program is not deterministic under a schedule.
    pub fn run(&self, job: &Job, sink: impl FnMut(Event)) -> Result<Summary, String> {
        if matches!(job.start, Start::State(_)) && !self.from_states {
            return Err("the program does not start from states".to_owned());
        }
        driver::run(&self.body, self.complete, job, sink)
    }

    /// Does a job and keeps all it finds.
    ///
    /// # Panics
    ///
    /// If the job cannot be done; see [`Program::run`].
    pub fn explore(&self, job: &Job) -> Exploration {
        let mut found = Exploration::default();
        let result = self.run(job, |event| match event {
            Event::Sequence(sequence) => found.sequences.push(sequence),
            Event::Frontier(frontier) => found.frontier.push(frontier),
            Event::Expanded(hashes) => found.expanded = hashes,
        });
        match result {
            Ok(summary) => found.summary = summary,
            Err(message) => panic!("{}: {message}", self.name),
        }
        found
    }

    /// Follows a schedule once.
    ///
    /// # Errors
    ///
    /// As [`Program::run`].
    pub fn replay(&self, schedule: &Schedule) -> Result<Sequence, String> {
        let job =
            Job { start: Start::Schedule(schedule.clone()), strategy: Strategy::Replay, ..Job::systematic() };
        self.single(&job)
    }

    pub(crate) fn single(&self, job: &Job) -> Result<Sequence, String> {
        let mut found = None;
        self.run(job, |event| {
            if let Event::Sequence(sequence) = event {
                found = Some(sequence);
            }
        })?;
        found.ok_or_else(|| "the execution gave no sequence".to_owned())
    }
}

/// Where a job starts.
#[derive(Clone, PartialEq, Debug)]
pub enum Start {
    /// At the beginning of the program.
    Beginning,
    /// From an observed state.
    State(Value),
    /// After a schedule.
    Schedule(Schedule),
}

/// How schedules are chosen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Strategy {
    /// All of them, up to the depth.
    Systematic(Reduction),
    /// Each task with the same probability.
    Random {
        /// The same seed gives the same schedules.
        seed: u64,
    },
    /// Probabilistic concurrency testing.
    Pct {
        /// How many orders of steps a bug needs; 2 or 3 find most.
        bugs: usize,
        /// The same seed gives the same schedules.
        seed: u64,
    },
    /// The schedule at which the job starts, and nothing else.
    Replay,
    /// Blocks of steps, as far as they can be followed, and then to the end with few switches.
    #[doc(hidden)]
    Plan(Vec<(usize, usize)>),
}

/// Which schedules need not be explored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reduction {
    /// All are explored.
    None,
    /// One of each class of schedules that differ only in the order of independent steps.
    Dependence,
}

/// What a program is to do.
#[derive(Clone, PartialEq, Debug)]
pub struct Job {
    /// Where it starts.
    pub start: Start,
    /// How many scheduling points are explored after the start; none is no bound.
    pub depth: Option<usize>,
    /// How schedules are chosen.
    pub strategy: Strategy,
    /// How many executions at most; without a number, all of a systematic search, and 1,000 of others.
    pub executions: Option<usize>,
    /// Whether sequences begin at the start; otherwise those of a systematic search begin where they differ from the last one.
    pub whole: bool,
    /// Hashes of states that earlier jobs have expanded: a systematic search without reduction ends there.
    pub known: Vec<u64>,
}

impl Job {
    /// All schedules from the beginning, reduced, without a bound, as whole sequences.
    pub fn systematic() -> Job {
        let strategy = Strategy::Systematic(Reduction::Dependence);
        Job {
            start: Start::Beginning,
            depth: None,
            strategy,
            executions: None,
            whole: true,
            known: Vec::new(),
        }
    }
}

/// How a sequence ends.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum End {
    /// All tasks are over.
    Finished,
    /// The bound.
    Depth,
    /// A state that was explored already.
    Seen,
    /// Tasks wait for ever.
    Deadlock,
    /// The program panicked.
    Panic,
    /// The schedule asks for a task that cannot run.
    Blocked,
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            End::Finished => "finished",
            End::Depth => "depth",
            End::Seen => "seen",
            End::Deadlock => "deadlock",
            End::Panic => "panic",
            End::Blocked => "blocked",
        })
    }
}

/// The observed states of an execution, without repetitions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sequence {
    /// Each a JSON object: the observed components by name.
    pub states: Vec<Rc<str>>,
    /// How the program was scheduled, from its beginning.
    pub schedule: Schedule,
    /// How it ends.
    pub end: End,
    /// What a panic said, or who waits for what in a deadlock.
    pub message: Option<String>,
}

/// A state at which the bound cut a path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Frontier {
    /// The observed state.
    pub state: Rc<str>,
    /// How the program got there.
    pub schedule: Schedule,
    /// A hash of all that determines the future, if the program promises one.
    pub hash: Option<u64>,
}

/// Something that a job found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// A sequence.
    Sequence(Sequence),
    /// Where to go on.
    Frontier(Frontier),
    /// The last event of a complete systematic search without reduction, for programs that promise a hash: the hashes of the
    /// states all of whose successors were explored or handed out as frontier.
    Expanded(Vec<u64>),
}

/// What a job did.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Summary {
    /// How often the program was run.
    pub executions: usize,
    /// How many scheduling decisions were made.
    pub steps: usize,
    /// How many different states were observed.
    pub states: usize,
    /// How many sequences were handed out.
    pub sequences: usize,
    /// Whether all that the job asks for was explored: a systematic search within its bound. The reduction can lose
    /// schedules at a bound if the program does not promise that its states are complete; then this is false, too.
    pub complete: bool,
}

/// Everything that a job found.
#[derive(Clone, Default, Debug)]
pub struct Exploration {
    /// The sequences in the order in which they were found.
    pub sequences: Vec<Sequence>,
    /// Where the bound cut.
    pub frontier: Vec<Frontier>,
    /// Hashes of the states that were expanded: see [`Event::Expanded`].
    pub expanded: Vec<u64>,
    /// The figures.
    pub summary: Summary,
}
