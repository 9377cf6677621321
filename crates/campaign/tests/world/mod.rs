//! What the tests of both stores share: the naive twin, workers to kill, and comparisons.

#![allow(dead_code, reason = "no test needs all of it")]

#[path = "checker.rs"]
pub mod checker;
#[path = "graph.rs"]
pub mod graph;
#[path = "server.rs"]
pub mod server;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use campaign::{
    Campaign, CampaignError, Failure, FailureKind, Outcome, Place, Settings, Start, StartMode, State, Status,
    Work,
};
use checker::EdgeChecker;
use graph::{Graph, Sent, is_wrong, read_schedule};
use serde_json::Value;

/// Settings for a graph as the program under test.
pub fn settings(graph: Graph, depth: u64, mode: StartMode) -> Settings {
    let mut settings = Settings::new(env!("CARGO_BIN_EXE_campaign-graph"));
    let looks = if graph.plain { "plain" } else { "pairs" };
    settings.arguments = vec![graph.seed.to_string(), graph.nodes.to_string(), looks.into()];
    settings.depth = depth;
    settings.mode = mode;
    settings.patience.lease_seconds = 1;
    settings.patience.deliveries = 1000;
    settings
}

/// The same with a program that misbehaves.
pub fn with_trouble(mut settings: Settings, name: &str, value: impl ToString) -> Settings {
    settings.arguments.extend([name.to_owned(), value.to_string()]);
    settings
}

pub fn work_here(campaign: &Campaign, threads: usize) -> Result<Status, CampaignError> {
    campaign.work(&Work { threads, ..Work::default() }, &|| Ok(Box::new(EdgeChecker)))
}

/// Starts a campaign and works on it to the end.
pub fn run(place: &Place, settings: &Settings, threads: usize) -> Outcome {
    let campaign = Campaign::start(place, settings).expect("the campaign can be started");
    work_here(&campaign, threads).expect("the campaign can be worked on").outcome
}

/// What a campaign should find, by exploring the graph in one loop.
#[derive(Default, Debug)]
pub struct Twin {
    pub jobs: Vec<u64>,
    pub sequences: BTreeSet<String>,
    pub rejected: BTreeSet<String>,
    pub states: BTreeSet<String>,
    pub sent: u64,
    pub ends: BTreeMap<String, u64>,
    /// Kind, from and to, with the first layer where it is found.
    pub failures: BTreeMap<(FailureKind, String, String), u64>,
}

impl Twin {
    pub fn explore(graph: Graph, depth: u64) -> Self {
        // Plain graphs are started from states.
        Self::explore_with(graph, depth, !graph.plain)
    }

    /// The same; `sharing` jobs know what the layers before have expanded.
    pub fn explore_with(graph: Graph, depth: u64, sharing: bool) -> Self {
        let mut twin = Self::default();
        let mut expanded = BTreeSet::new();
        let mut layer: BTreeSet<(bool, u64)> = BTreeSet::from([(true, 0)]);
        let mut known = layer.clone();
        while !layer.is_empty() {
            twin.jobs.push(layer.len() as u64);
            let number = twin.jobs.len() as u64 - 1;
            let mut next = BTreeSet::new();
            let mut new = BTreeSet::new();
            for (_, node) in &layer {
                let all = graph.explore(*node, &[], depth as usize, &expanded);
                let wrong = |sent: &Sent| match sent {
                    Sent::Sequence { states, .. } => {
                        states.windows(2).any(|pair| is_wrong(&pair[0], &pair[1]))
                    }
                    _ => false,
                };
                let accepted = !all.iter().any(wrong);
                for sent in all {
                    match sent {
                        Sent::Expanded { nodes } if sharing && accepted => new.extend(nodes),
                        Sent::Expanded { .. } => {}
                        // The first job has no hash: its node may come again as a place of the frontier.
                        Sent::Frontier { node, .. } => drop(next.insert((false, node))),
                        Sent::Sequence { states, end, .. } => twin.note(&states, end, number),
                    }
                }
            }
            layer = next.difference(&known).copied().collect();
            known.extend(&layer);
            expanded.extend(new);
        }
        twin
    }

    fn note(&mut self, states: &[Value], end: &str, layer: u64) {
        let text = Value::from(states.to_vec()).to_string();
        self.sent += 1;
        *self.ends.entry(end.to_owned()).or_default() += 1;
        self.states.extend(states.iter().map(Value::to_string));
        self.sequences.insert(text.clone());
        let wrong = states.windows(2).find(|pair| is_wrong(&pair[0], &pair[1]));
        let mut fail = |kind, from: &Value, to: &Value| {
            self.failures.entry((kind, from.to_string(), to.to_string())).or_insert(layer);
        };
        if let Some(pair) = wrong {
            self.rejected.insert(text);
            fail(FailureKind::Rejected, &pair[0], &pair[1]);
        }
        match end {
            "deadlock" => fail(FailureKind::Deadlock, &states[states.len() - 1], &Value::Null),
            "panic" => fail(FailureKind::Panic, &states[states.len() - 1], &Value::Null),
            _ => {}
        }
    }

    /// Fails unless a campaign has found the same.
    pub fn compare(&self, graph: Graph, outcome: &Outcome) {
        assert_eq!((outcome.state, &outcome.partial[..]), (State::Complete, &[][..]));
        assert_eq!(outcome.layers.iter().map(|layer| layer.jobs).collect::<Vec<_>>(), self.jobs);
        assert!(outcome.layers.iter().all(|layer| layer.done == layer.jobs));
        assert_eq!(outcome.sequences, self.sequences.len() as u64);
        assert_eq!(outcome.rejected, self.rejected.len() as u64);
        assert_eq!(outcome.states, self.states.len() as u64);
        assert_eq!((outcome.sent, outcome.executions), (self.sent, self.sent));
        assert_eq!(outcome.ends, self.ends);
        assert_eq!(
            (outcome.failure_count, outcome.failures.len()),
            (self.failures.len() as u64, self.failures.len())
        );
        for failure in &outcome.failures {
            let cause = (failure.kind, failure.from.to_string(), failure.to.to_string());
            assert_eq!(self.failures.get(&cause), Some(&failure.layer), "{failure:?}");
            replay(graph, failure);
        }
    }
}

/// Fails unless the saved schedule of a failure shows it.
pub fn replay(graph: Graph, failure: &Failure) {
    let mut schedule: Vec<u64> = failure.trail.iter().flat_map(|schedule| read_schedule(schedule)).collect();
    if let Start::State(state) = &failure.start {
        assert_eq!(&graph.observe(graph.follow(&schedule)), state);
    }
    schedule.extend(read_schedule(&failure.schedule));
    let states: Vec<Value> =
        (0..=schedule.len()).map(|length| graph.observe(graph.follow(&schedule[..length]))).collect();
    assert!(states.contains(&failure.from));
    if failure.kind == FailureKind::Rejected {
        assert!(states.windows(2).any(|pair| pair == [failure.from.clone(), failure.to.clone()]));
    } else {
        assert_eq!(states.last(), Some(&failure.from));
    }
}

/// A worker process, which is killed when it is dropped.
pub struct WorkerProcess(pub Child);

impl WorkerProcess {
    pub fn start(threads: usize, place: &str, name: &str) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_campaign-worker"));
        command.args([&threads.to_string(), place, name]).stdin(Stdio::null());
        command.stdout(Stdio::null()).stderr(Stdio::inherit());
        Self(command.spawn().expect("a worker can be started"))
    }

    pub fn in_folder(threads: usize, folder: &Path) -> Self {
        Self::start(threads, "folder", folder.to_str().expect("the folder has a plain name"))
    }

    /// As `kill -9` does it.
    pub fn kill(&mut self) {
        self.0.kill().expect("a worker can be killed");
        self.0.wait().expect("a worker that was killed ends");
    }

    pub fn has_ended(&mut self) -> bool {
        self.0.try_wait().expect("a worker can be waited for").is_some()
    }

    /// Whether it has ended well, within some time.
    pub fn end(&mut self, within: Duration) -> bool {
        let since = Instant::now();
        while since.elapsed() < within {
            if let Some(status) = self.0.try_wait().expect("a worker can be waited for") {
                return status.success();
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        false
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Numbers for choices that tests make, the same in each run.
pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % most
    }
}
