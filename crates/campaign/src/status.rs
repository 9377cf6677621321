//! What is known of a campaign: the outcome, which depends on the program and the settings alone, and live numbers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::settings::Start;

/// What a campaign has found so far. At the end it is the same whatever the number of workers and crashes, apart from what
/// programs that were set aside have written on their own ([`Poison::output`]).
///
/// ```
/// let outcome = campaign::Outcome::default();
/// assert!(!outcome.is_finished() && outcome.failures.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Whether it goes on.
    pub state: State,
    /// Why a finished campaign did not see everything; empty if it has.
    pub partial: Vec<String>,
    /// Jobs of each layer.
    pub layers: Vec<Layer>,
    /// Places of the frontier that wait for the next layer.
    pub frontier: u64,
    /// Distinct sequences.
    pub sequences: u64,
    /// Those that the checker has accepted.
    pub accepted: u64,
    /// Those that it has rejected.
    pub rejected: u64,
    /// Those that it could not decide.
    pub undecided: u64,
    /// Why it could not, with the number of times.
    pub undecided_reasons: BTreeMap<String, u64>,
    /// Sequences as the program has sent them, repetitions included.
    pub sent: u64,
    /// How they ended.
    pub ends: BTreeMap<String, u64>,
    /// Distinct observed states.
    pub states: u64,
    /// Executions of the program.
    pub executions: u64,
    /// Steps of these executions.
    pub steps: u64,
    /// Jobs that the program did not complete, because of their limit of executions.
    pub incomplete: u64,
    /// How many failures there are.
    pub failure_count: u64,
    /// Failures, sorted by content: all of them, or the first few.
    pub failures: Vec<Failure>,
    /// Jobs that were set aside.
    pub poison: Vec<Poison>,
}

impl Outcome {
    /// Whether there is nothing left to do.
    ///
    /// ```
    /// let outcome = campaign::Outcome { state: campaign::State::Complete, ..Default::default() };
    /// assert!(outcome.is_finished());
    /// ```
    pub fn is_finished(&self) -> bool {
        self.state != State::Running
    }

    /// The jobs of all layers.
    ///
    /// ```
    /// assert_eq!(campaign::Outcome::default().jobs(), campaign::Layer::default());
    /// ```
    pub fn jobs(&self) -> Layer {
        self.layers.iter().fold(Layer::default(), |sum, layer| Layer {
            layer: layer.layer,
            jobs: sum.jobs + layer.jobs,
            waiting: sum.waiting + layer.waiting,
            running: sum.running + layer.running,
            done: sum.done + layer.done,
            poison: sum.poison + layer.poison,
        })
    }
}

/// Whether a campaign goes on.
///
/// ```
/// assert_eq!(campaign::State::default(), campaign::State::Running);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// There are jobs to do.
    #[default]
    Running,
    /// Everything was done.
    Complete,
    /// A limit was reached.
    Limit,
}

/// The jobs of a layer.
///
/// ```
/// let layer = campaign::Layer { layer: 2, jobs: 5, done: 5, ..Default::default() };
/// assert_eq!(layer.waiting, 0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layer {
    /// Its number, from 0.
    pub layer: u64,
    /// All of them.
    pub jobs: u64,
    /// Nobody does them yet.
    pub waiting: u64,
    /// Somebody does them, or did when last heard of.
    pub running: u64,
    /// Done.
    pub done: u64,
    /// Set aside.
    pub poison: u64,
}

/// Something that the program does and should not, with a schedule that shows it.
///
/// ```
/// # let text = r#"{"kind": "rejected", "from": {"x": 1}, "to": {"x": 3}, "index": 0, "details": null,
/// #     "layer": 0, "start": "initial", "schedule": "0*2", "states": [{"x": 1}, {"x": 3}]}"#;
/// let failure: campaign::Failure = serde_json::from_str(text).unwrap();
/// assert_eq!(failure.kind, campaign::FailureKind::Rejected);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// What is wrong.
    pub kind: FailureKind,
    /// The state before.
    pub from: Value,
    /// The state that should not follow; null where the end is what is wrong.
    pub to: Value,
    /// The position of `from` in `states`.
    pub index: usize,
    /// What the program says of the end.
    #[serde(default)]
    pub message: Option<String>,
    /// What the checker says.
    pub details: Value,
    /// The layer of the job.
    pub layer: u64,
    /// Where the job started.
    pub start: Start,
    /// For starts from states: the schedules of the layers before, one after the other, from the initial state.
    #[serde(default)]
    pub trail: Vec<String>,
    /// The schedule: after the start if that is a state, otherwise from the initial state.
    pub schedule: String,
    /// The sequence that shows it.
    pub states: Vec<Value>,
}

/// What is wrong with a sequence.
///
/// ```
/// assert_eq!(serde_json::to_string(&campaign::FailureKind::Deadlock).unwrap(), r#""deadlock""#);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FailureKind {
    /// The checker rejects it.
    Rejected,
    /// It ends with a panic.
    Panic,
    /// It ends in a deadlock.
    Deadlock,
    /// It ends with a task that the scheduler can't wake.
    Blocked,
    /// It ends in another way that the settings call wrong.
    Ended,
}

/// A job that was set aside.
///
/// ```
/// # let text = r#"{"job": "00", "layer": 1, "start": {"schedule": "0"}, "reason": "it crashed", "output": []}"#;
/// let poison: campaign::Poison = serde_json::from_str(text).unwrap();
/// assert_eq!(poison.reason, "it crashed");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Poison {
    /// The job's name.
    pub job: String,
    /// Its layer.
    pub layer: u64,
    /// Where it starts.
    pub start: Start,
    /// Why it was set aside.
    pub reason: String,
    /// The last lines that the program has written on its own.
    pub output: Vec<String>,
}

/// The outcome so far, and what is known of those who work on it.
///
/// ```
/// let status = campaign::Status::default();
/// assert_eq!(status.workers.len(), 0);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// The name of the campaign.
    pub campaign: String,
    /// Where it is, without the password.
    pub place: String,
    /// What was found so far.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// Seconds since the campaign was started.
    pub seconds: f64,
    /// Jobs that all workers finish in a second, by their last heartbeats.
    pub jobs_per_second: f64,
    /// Sequences that all workers read in a second, by their last heartbeats.
    pub sequences_per_second: f64,
    /// Who works on it.
    pub workers: Vec<Worker>,
    /// What may be lost, and why.
    pub warnings: Vec<String>,
}

/// Somebody who works on a campaign: a process with some threads.
///
/// ```
/// let worker = campaign::Worker { name: "here-1".into(), threads: 2, ..Default::default() };
/// assert_eq!(worker.jobs, 0);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Worker {
    /// Machine, process and a random part.
    pub name: String,
    /// How many jobs it does at a time.
    pub threads: u64,
    /// How many it has finished.
    pub jobs: u64,
    /// How many sequences it has read.
    pub sequences: u64,
    /// Jobs in a second, lately.
    pub jobs_per_second: f64,
    /// Sequences in a second, lately.
    pub sequences_per_second: f64,
    /// What it waits for, if it does.
    pub note: Option<String>,
    /// Seconds since its last heartbeat.
    #[serde(default)]
    pub silent_seconds: f64,
}

/// Numbers and contents of a store, from which an outcome is made in one way.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) state: String,
    /// Fields `layer`, `executions`, `end.finished` …
    pub(crate) counts: BTreeMap<String, u64>,
    /// Fields `0.jobs`, `0.done`, `0.poison` …
    pub(crate) layers: BTreeMap<String, u64>,
    pub(crate) running: u64,
    pub(crate) frontier: u64,
    pub(crate) accepted: u64,
    pub(crate) rejected: u64,
    pub(crate) undecided: u64,
    pub(crate) states: u64,
    pub(crate) failure_count: u64,
    /// All of them, or those that were asked for.
    pub(crate) failures: Vec<Failure>,
    pub(crate) poison: Vec<Poison>,
}

impl Tally {
    /// The outcome.
    pub(crate) fn outcome(mut self) -> Outcome {
        let count = |name: &str| self.counts.get(name).copied().unwrap_or(0);
        let with_prefix = |prefix: &str| -> BTreeMap<String, u64> {
            let entry =
                |(name, count): (&String, &u64)| Some((name.strip_prefix(prefix)?.to_owned(), *count));
            self.counts.iter().filter_map(entry).collect()
        };
        let current = count("layer");
        let layers: Vec<Layer> = (0..=current)
            .map(|layer| {
                let field = |name: &str| self.layers.get(&format!("{layer}.{name}")).copied().unwrap_or(0);
                let (jobs, done, poison) = (field("jobs"), field("done"), field("poison"));
                let left = jobs.saturating_sub(done + poison);
                let running = if layer == current { self.running.min(left) } else { 0 };
                Layer { layer, jobs, waiting: left - running, running, done, poison }
            })
            .collect();
        let state = match self.state.as_str() {
            "running" => State::Running,
            "complete" => State::Complete,
            _ => State::Limit,
        };
        let mut partial = Vec::new();
        if state == State::Limit {
            partial.push(format!("the limit of {} was reached", self.state));
        }
        let sequences = self.accepted + self.rejected + self.undecided;
        for (number, what) in [
            (self.poison.len() as u64, "set aside: the program or its workers failed"),
            (count("incomplete"), "cut short by their limit of executions"),
        ] {
            if number > 0 {
                partial
                    .push(format!("{number} {} {what}", if number == 1 { "job was" } else { "jobs were" }));
            }
        }
        if self.undecided > 0 {
            partial.push(format!("{} of {sequences} sequences could not be decided", self.undecided));
        }
        let text = |value: &Value| {
            let mut text = Vec::new();
            crate::key::write_canonically(value, &mut text);
            text
        };
        self.failures.sort_by_cached_key(|failure| {
            (failure.kind, text(&failure.from), text(&failure.to), failure.message.clone())
        });
        self.poison.sort_by(|one, other| (one.layer, &one.job).cmp(&(other.layer, &other.job)));
        Outcome {
            state,
            partial,
            layers,
            frontier: self.frontier,
            sequences,
            accepted: self.accepted,
            rejected: self.rejected,
            undecided: self.undecided,
            undecided_reasons: with_prefix("undecided."),
            sent: count("sent"),
            ends: with_prefix("end."),
            states: self.states,
            executions: count("executions"),
            steps: count("steps"),
            incomplete: count("incomplete"),
            failure_count: self.failure_count,
            failures: std::mem::take(&mut self.failures),
            poison: std::mem::take(&mut self.poison),
        }
    }
}
