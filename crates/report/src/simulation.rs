//! A run of a model, step by step.

use std::fmt;

use serde::Serialize;

use crate::number::count;

/// A run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Simulation {
    /// The seed of its choices; none where it was led by a trace.
    pub seed: Option<u64>,
    /// The values of the first state.
    pub initial: Vec<(String, String)>,
    /// The steps.
    pub steps: Vec<SimulatedStep>,
    /// Why it ended.
    pub ended: String,
    /// The criteria that were watched.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub criteria: Vec<WatchedCriterion>,
}

/// A step of a run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SimulatedStep {
    /// What happens.
    pub label: String,
    /// Names and values after it: those that it changes, or all.
    pub values: Vec<(String, String)>,
}

/// A criterion that was watched.
#[derive(Clone, Debug, Default, Serialize)]
pub struct WatchedCriterion {
    /// Its name.
    pub name: String,
    /// How many items are feasible.
    pub total: usize,
    /// How many of them the run covers.
    pub covered: usize,
    /// After how many steps all were covered.
    pub met_after: Option<usize>,
    /// Whether what is feasible is known for certain.
    pub certain: bool,
}

impl fmt::Display for Simulation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values = |values: &[(String, String)]| {
            let shown: Vec<String> = values.iter().map(|(name, value)| format!("{name} = {value}")).collect();
            shown.join(", ")
        };
        if !self.initial.is_empty() {
            writeln!(out, "    0  {}", values(&self.initial))?;
        }
        for (number, step) in self.steps.iter().enumerate() {
            writeln!(out, "{:>5}  {}", number + 1, step.label)?;
            if !step.values.is_empty() {
                writeln!(out, "          {}", values(&step.values))?;
            }
        }
        write!(out, "{}", count(self.steps.len() as u64, "step"))?;
        if let Some(seed) = self.seed {
            write!(out, " with seed {seed}")?;
        }
        write!(out, ": {}", self.ended)?;
        for one in &self.criteria {
            let more = if one.certain { "" } else { " (more may be feasible)" };
            write!(out, "\n{}: {} of {} covered{more}", one.name, one.covered, one.total)?;
            if let Some(after) = one.met_after {
                write!(out, ", all of them after {}", count(after as u64, "step"))?;
            }
        }
        Ok(())
    }
}
