//! What an exploration found.

use std::fmt;

use serde::Serialize;

use crate::number::{bytes, count, grouped, seconds};

/// The size of an explored state space, and what it took.
#[derive(Clone, Debug, Serialize)]
pub struct Exploration {
    /// How many states were seen.
    pub states: u64,
    /// How many transitions the explored states have.
    pub transitions: u64,
    /// How many different labels occur; if not everything was explored, how many were seen so far.
    pub labels: u64,
    /// How many explored states have no transition.
    pub deadlocks: u64,
    /// Whether everything reachable was explored.
    pub complete: bool,
    /// How many states were explored; the others were only seen.
    pub explored: u64,
    /// The greatest distance from the initial state.
    pub depth: u64,
    /// The most states at one distance.
    pub widest_level: u64,
    /// Bytes of a packed state vector alone.
    pub state_bytes: u64,
    /// What limits on memory count: states, their table, transitions if they are kept, what threads work with and the
    /// values that the model keeps.
    pub bytes: u64,
    /// How many bytes of states went to disk, and are not among those.
    pub disk_bytes: u64,
    /// How long it took.
    pub seconds: f64,
    /// The most memory in use so far, where the system tells.
    pub peak_bytes: Option<u64>,
    /// The run-time error of the model that ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<RunTimeError>,
}

/// A run-time error of a model.
#[derive(Clone, Debug, Serialize)]
pub struct RunTimeError {
    /// What went wrong.
    pub message: String,
    /// The file that it happens in.
    pub file: Option<String>,
    /// The line there.
    pub line: Option<usize>,
    /// The column there.
    pub column: Option<usize>,
    /// The label of the step in which it happens, where that has one.
    pub step: Option<String>,
    /// The labels of the steps before; none where it happens before the first.
    pub trace: Option<Vec<String>>,
}

/// From so many states on, the memory of each is told.
const MANY: u64 = 100_000;

impl fmt::Display for Exploration {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.states == 0 {
            return write!(out, "no state was reached");
        }
        let mut row = |name: &str, value: String| writeln!(out, "{name:<22}{value}");
        row("states", grouped(self.states))?;
        if !self.complete {
            row("  explored", grouped(self.explored))?;
        }
        row("transitions", grouped(self.transitions))?;
        row(if self.complete { "labels" } else { "labels seen" }, grouped(self.labels))?;
        row("deadlocks", grouped(self.deadlocks))?;
        row("depth", grouped(self.depth))?;
        row("widest level", count(self.widest_level, "state"))?;
        let vector = self.state_bytes;
        row(
            "bytes per state",
            // Of few states, most memory is room for more.
            match self.states {
                MANY.. => {
                    let part = if self.disk_bytes == 0 { "in all" } else { "in memory" };
                    format!("{} packed, {} {part}", grouped(vector), grouped(self.bytes / self.states))
                }
                _ => format!("{} packed", grouped(vector)),
            },
        )?;
        if self.disk_bytes != 0 {
            row("on disk", bytes(self.disk_bytes))?;
        }
        if !self.complete {
            row("complete", "no".into())?;
        }
        let memory = self.peak_bytes.map(|peak| format!(", {} peak memory", bytes(peak))).unwrap_or_default();
        let speed = match self.seconds {
            time if time > 0.05 => format!(", {} states/s", grouped((self.explored as f64 / time) as u64)),
            _ => String::new(),
        };
        write!(out, "{:<22}{}{memory}{speed}", "took", seconds(self.seconds))
    }
}
