//! Traces of a program that is explored while they are checked.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::sync_channel;

use campaign::{End, Execution, Explored, Reduction, Start, Strategy};
use clap::{Args, ValueEnum};
use conform::{Outcome, Problem, ReadError, Relation, Said, Settings};
use lts::Progress;
use model::Model;

use crate::failure::Failure;

/// How many sequences are read before they are checked.
const AT_ONCE: usize = 256;

/// How many schedules are minimised.
const MOST_MINIMISED: usize = 5;

/// How a program is explored.
#[derive(Args, Clone, Debug)]
pub struct Exploring {
    /// A program made with watershed-observe: its executions are the traces
    #[arg(long, value_name = "PROGRAM")]
    pub program: Option<PathBuf>,
    /// With --program: how schedules are chosen
    #[arg(long, value_enum, default_value_t = Chosen::Systematic)]
    strategy: Chosen,
    /// With --program: how many scheduling points an execution has at most
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub depth: u64,
    /// With --program: how many executions there are at most; without a limit for the systematic strategy
    #[arg(long, value_name = "N")]
    executions: Option<u64>,
    /// With --program: the seed of random choices
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// With --program: how many ordering constraints a bug needs, for --strategy pct
    #[arg(long, value_name = "N", default_value_t = 3)]
    bugs: u64,
    /// With --program: leave out schedules that differ in the order of independent steps only
    #[arg(long)]
    pub reduce: bool,
    /// With --program: the schedule to follow, for --strategy replay
    #[arg(long, value_name = "SCHEDULE")]
    schedule: Option<String>,
    /// With --program: arguments of the program itself
    #[arg(last = true, value_name = "ARGUMENTS")]
    pub arguments: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Chosen {
    /// All of them, up to the depth
    Systematic,
    /// Probabilistic concurrency testing
    Pct,
    /// At random
    Random,
    /// The one that --schedule names
    Replay,
}

/// What became of traces, or of the executions of a program.
pub struct Judged {
    pub outcome: Outcome,
    pub explored: Option<Explored>,
    /// The schedules of sequences, by their numbers.
    pub schedules: Vec<String>,
    /// Executions that ended with a panic or a deadlock, each kind once.
    pub ends: Vec<(Execution, u64)>,
}

impl Judged {
    pub fn of_traces(outcome: Outcome) -> Self {
        Self { outcome, explored: None, schedules: Vec::new(), ends: Vec::new() }
    }
}

impl Exploring {
    fn settings(&self) -> Result<campaign::Settings, Failure> {
        let program = self.program.clone().unwrap_or_default();
        let mut settings = campaign::Settings::new(program);
        settings.arguments = self.arguments.clone();
        settings.depth = self.depth;
        settings.executions = match self.strategy {
            Chosen::Pct | Chosen::Random => Some(self.executions.unwrap_or(1000)),
            _ => self.executions,
        };
        settings.start = match (&self.schedule, self.strategy) {
            (Some(schedule), _) => Start::Schedule(schedule.clone()),
            (None, Chosen::Replay) => {
                return Err(Failure::wrong("--strategy replay needs a schedule")
                    .help("`--schedule` takes one as reports show them, such as '0*3.1'"));
            }
            (None, _) => Start::Initial,
        };
        Ok(settings)
    }

    fn strategy(&self) -> Strategy {
        match self.strategy {
            Chosen::Systematic => Strategy::Systematic {
                reduction: if self.reduce { Reduction::Dependence } else { Reduction::None },
            },
            Chosen::Pct => Strategy::Pct { bugs: self.bugs, seed: self.seed },
            Chosen::Random => Strategy::Random { seed: self.seed },
            Chosen::Replay => Strategy::Replay,
        }
    }

    /// Explores the program and checks what it shows, at the same time.
    pub fn check(
        &self,
        model: &dyn Model,
        relation: &Relation,
        settings: Settings,
        progress: &Progress,
    ) -> Result<Result<Judged, Problem>, Failure> {
        let program = self.settings()?;
        let stop = AtomicBool::new(false);
        let (send, receive) = sync_channel::<Vec<Said>>(4);
        let mut schedules = Vec::new();
        let mut ends: Vec<(Execution, u64)> = Vec::new();
        let (explored, checked) = std::thread::scope(|scope| {
            let (schedules, ends, stop, strategy) = (&mut schedules, &mut ends, &stop, self.strategy());
            let explorer = scope.spawn(move || {
                let mut batch: Vec<Said> = Vec::new();
                let explored = campaign::explore(&program, &strategy, stop, |execution| {
                    note_end(ends, &execution);
                    let moments = conform::moments(&execution.states, schedules.len() as u64 + 1, relation);
                    schedules.push(execution.schedule);
                    batch.push(match moments {
                        Ok(moments) => Said::Sequence(moments),
                        Err(why) => return send.send(vec![Said::Wrong(why)]).is_ok(),
                    });
                    batch.len() < AT_ONCE || send.send(std::mem::take(&mut batch)).is_ok()
                });
                let _ = send.send(batch);
                explored
            });
            let mut next = || -> Result<Option<(usize, Vec<Said>)>, ReadError> {
                Ok(receive.recv().ok().map(|said| (0, said)))
            };
            let threads = rayon::current_num_threads();
            let checked = conform::check(model, relation, settings, threads, &mut next, progress);
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
            // What is still on its way goes nowhere.
            while receive.recv().is_ok() {}
            (explorer.join(), checked)
        });
        let explored = match explored {
            Ok(explored) => explored.map_err(|error| Failure::wrong(error.to_string()))?,
            Err(_) => return Err(Failure::wrong("the exploration has failed")),
        };
        Ok(checked.map(|outcome| Judged { outcome, explored: Some(explored), schedules, ends }))
    }

    /// Adds what is known of the program's executions. The first failure of each cause gets a schedule with few context
    /// switches.
    pub fn add_schedules(&self, judged: &Judged, verdict: &mut report::Conformance) {
        let Some(explored) = judged.explored else { return };
        verdict.explored = Some(report::ExploredProgram {
            executions: explored.executions,
            steps: explored.steps,
            complete: explored.complete,
            cut: explored.cut,
        });
        verdict.ends.extend(judged.ends.iter().map(|(execution, executions)| report::WrongEnd {
            end: execution.end.to_string(),
            message: execution.message.clone(),
            executions: *executions,
            schedule: execution.schedule.clone(),
        }));
        for failure in &mut verdict.failures {
            failure.schedule = judged.schedules.get(failure.seq as usize).cloned();
        }
        for cause in verdict.causes.iter().take(MOST_MINIMISED) {
            let Some(failure) = verdict.failures.get_mut(cause.first) else { continue };
            let Some(schedule) = &failure.schedule else { continue };
            if let Some(smaller) = self.minimised(schedule, failure.index as usize) {
                failure.schedule = Some(smaller);
            }
        }
    }

    /// A schedule with few context switches that shows the same two states one after the other.
    fn minimised(&self, schedule: &str, index: usize) -> Option<String> {
        let mut settings = self.settings().ok()?;
        settings.start = Start::Schedule(schedule.to_owned());
        let single = |strategy: &Strategy| {
            let mut found = None;
            let explored = campaign::explore(&settings, strategy, &AtomicBool::new(false), |execution| {
                found = Some(execution);
                true
            });
            explored.ok().and(found)
        };
        let states = single(&Strategy::Replay)?.states;
        let (from, to) = (states.get(index)?.clone(), states.get(index + 1)?.clone());
        single(&Strategy::Minimise { from, to }).map(|execution| execution.schedule)
    }
}

/// Notes an execution that should not have ended as it did.
fn note_end(ends: &mut Vec<(Execution, u64)>, execution: &Execution) {
    if !matches!(execution.end, End::Panic | End::Deadlock | End::Blocked) {
        return;
    }
    let same = |known: &&mut (Execution, u64)| {
        known.0.end == execution.end && (execution.end != End::Panic || known.0.message == execution.message)
    };
    match ends.iter_mut().find(same) {
        Some((_, times)) => *times += 1,
        None => ends.push((execution.clone(), 1)),
    }
}
