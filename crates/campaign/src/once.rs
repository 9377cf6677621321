//! One job without a store: a program is explored, and everything it shows is handed on at once.

use std::sync::atomic::AtomicBool;

use serde_json::Value;

use crate::CampaignError;
use crate::program::{Program, Run};
use crate::protocol::{End, Message, Request, Strategy};
use crate::settings::Settings;

/// What the program did in one execution.
///
/// ```
/// let states = vec![serde_json::json!({ "n": 0 }), serde_json::json!({ "n": 1 })];
/// let execution =
///     campaign::Execution { states, schedule: "0,1".into(), end: campaign::End::Finished, message: None };
/// assert_eq!(execution.states.len(), 2);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Execution {
    /// The observed states, equal neighbours collapsed.
    pub states: Vec<Value>,
    /// Which task ran at each scheduling point.
    pub schedule: String,
    /// How it ended.
    pub end: End,
    /// What the program says of the end.
    pub message: Option<String>,
}

/// What an exploration came to.
///
/// ```
/// let explored = campaign::Explored::default();
/// assert!(!explored.complete);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Explored {
    /// How many executions there were.
    pub executions: u64,
    /// How many steps they had.
    pub steps: u64,
    /// Whether that is everything that there is up to the depth.
    pub complete: bool,
    /// How many paths the depth has cut.
    pub cut: u64,
}

/// Explores a program once, from where its settings say. `each` may say that it has seen enough.
///
/// ```no_run
/// use campaign::{Reduction, Settings, Strategy};
///
/// let settings = Settings::new("./target/debug/alternating_bit");
/// let strategy = Strategy::Systematic { reduction: Reduction::None };
/// campaign::explore(&settings, &strategy, &Default::default(), |execution| {
///     println!("{}", execution.schedule);
///     true
/// })?;
/// # Ok::<(), campaign::CampaignError>(())
/// ```
pub fn explore(
    settings: &Settings,
    strategy: &Strategy,
    stop: &AtomicBool,
    mut each: impl FnMut(Execution) -> bool,
) -> Result<Explored, CampaignError> {
    settings.verify()?;
    let mut program = Program::start(settings)?;
    let request = Request {
        id: "0",
        start: &settings.start,
        depth: settings.depth,
        strategy,
        executions: settings.executions,
        whole: settings.whole,
        known: "",
        expanded: false,
    };
    let mut explored = Explored::default();
    let enough = AtomicBool::new(false);
    let run = program.run::<CampaignError>(&request, stop, |message| {
        match message {
            Message::Sequence(sequence) => {
                let execution = Execution {
                    states: sequence.states,
                    schedule: sequence.schedule,
                    end: sequence.end,
                    message: sequence.message,
                };
                if !enough.load(std::sync::atomic::Ordering::Relaxed) && !each(execution) {
                    enough.store(true, std::sync::atomic::Ordering::Relaxed);
                    stop.store(true, std::sync::atomic::Ordering::Relaxed);
                }
            }
            Message::Frontier(_) => explored.cut += 1,
            _ => {}
        }
        Ok(Ok(()))
    })?;
    if let Run::Done(done) = run {
        explored.executions = done.executions;
        explored.steps = done.steps;
        explored.complete = done.complete;
    }
    Ok(explored)
}
