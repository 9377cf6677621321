//! A transition system at a glance.

use std::fmt;

use serde::Serialize;

use crate::number::{bytes, count, grouped, seconds};

/// How large a system is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Size {
    /// How many states.
    pub states: u64,
    /// How many transitions.
    pub transitions: u64,
}

impl fmt::Display for Size {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}, {}", count(self.states, "state"), count(self.transitions, "transition"))
    }
}

/// What there is to say about a system as a whole.
#[derive(Clone, Debug, Serialize)]
pub struct System {
    /// How many states.
    pub states: u64,
    /// How many transitions.
    pub transitions: u64,
    /// How many different labels occur on transitions, the internal action included.
    pub labels: u64,
    /// How many states have no outgoing transition.
    pub deadlocks: u64,
    /// Whether this is the whole system; if not, a limit was hit.
    pub complete: bool,
    /// How many states were not explored: their steps are not known.
    pub unexplored: u64,
    /// The initial state.
    pub initial: u64,
    /// How many transitions are internal.
    pub internal_transitions: u64,
    /// How many states lie on cycles of internal transitions.
    pub divergent_states: u64,
    /// How many states can't be reached from the initial one.
    pub unreachable_states: u64,
    /// How many strongly connected components there are.
    pub components: u64,
    /// The most transitions that leave one state.
    pub widest_state: u64,
    /// Whether no state has two transitions with the same label, nor an internal one.
    pub deterministic: bool,
    /// Every label and how many transitions carry it, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label_uses: Option<Vec<LabelUse>>,
    /// How long it took.
    pub seconds: f64,
    /// The most memory in use so far, where the system tells.
    pub peak_bytes: Option<u64>,
}

/// How often a label is used.
#[derive(Clone, Debug, Serialize)]
pub struct LabelUse {
    /// Its text.
    pub label: String,
    /// How many transitions carry it.
    pub transitions: u64,
}

/// `1 state was`, `2 states were`
fn was(states: u64) -> String {
    format!("{} {}", count(states, "state"), if states == 1 { "was" } else { "were" })
}

impl fmt::Display for System {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut row = |name: &str, value: String| writeln!(out, "{name:<22}{value}");
        row("states", grouped(self.states))?;
        row("transitions", grouped(self.transitions))?;
        row("  internal", grouped(self.internal_transitions))?;
        row("labels", grouped(self.labels))?;
        row("initial state", self.initial.to_string())?;
        row("deadlocks", grouped(self.deadlocks))?;
        row("divergent states", grouped(self.divergent_states))?;
        row("unreachable states", grouped(self.unreachable_states))?;
        row("components", grouped(self.components))?;
        row("widest state", count(self.widest_state, "transition"))?;
        row("deterministic", if self.deterministic { "yes" } else { "no" }.into())?;
        if !self.complete {
            row("complete", format!("no: {} not explored", was(self.unexplored)))?;
        }
        if let Some(uses) = &self.label_uses {
            writeln!(out, "\n{:>12}  label", "transitions")?;
            for use_ in uses {
                writeln!(out, "{:>12}  {}", grouped(use_.transitions), use_.label)?;
            }
        }
        let memory = self.peak_bytes.map(|peak| format!(", {} peak memory", bytes(peak))).unwrap_or_default();
        write!(out, "{:<22}{}{memory}", "took", seconds(self.seconds))
    }
}
