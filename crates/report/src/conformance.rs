//! Whether traces are accepted by a model, and why not.

mod html;
mod services;

use std::fmt;

use serde::Serialize;

use crate::coverage::Counts;
use crate::number::{count, grouped};

/// How many causes are shown in full on a terminal.
const MOST_CAUSES: usize = 5;

/// The verdict on some traces.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Conformance {
    /// How many sequences there are.
    pub sequences: u64,
    /// How many of them the model accepts.
    pub accepted: u64,
    /// How many it rejects.
    pub rejected: u64,
    /// How many were not decided before a limit was reached.
    pub unknown: u64,
    /// How many left what the model specifies: their rest was not checked.
    pub unspecified: u64,
    /// How many states and events were followed.
    pub moments: u64,
    /// The most steps between two neighbours.
    pub bound: u32,
    /// How many neighbours needed how many steps.
    pub needed: Vec<NeededSteps>,
    /// The sequences that are rejected, in order; the first ones of many.
    pub failures: Vec<NonConformance>,
    /// The failures by what they have in common, the most frequent first.
    pub causes: Vec<Cause>,
    /// How many failures are listed, and counted by their causes; further ones are only counted.
    pub explained: u64,
    /// What the traces exercised of the model, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage: Option<Exercised>,
    /// Executions of the program that ended as they should not, whatever the model says.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ends: Vec<WrongEnd>,
    /// What was explored of the program, where it was run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explored: Option<ExploredProgram>,
    /// Why not everything was checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// How long it took.
    pub seconds: f64,
}

/// How many neighbours needed so many steps.
#[derive(Clone, Debug, Serialize)]
pub struct NeededSteps {
    /// The number of steps.
    pub steps: u32,
    /// How many neighbours.
    pub pairs: u64,
    /// The first of them: the sequence, from 0.
    pub seq: u64,
    /// The position of its first state.
    pub index: u64,
}

/// A sequence that is rejected.
#[derive(Clone, Debug, Default, Serialize)]
pub struct NonConformance {
    /// The sequence, from 0.
    pub seq: u64,
    /// Its name, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The trace file and the line, from 1.
    pub file: String,
    /// The line.
    pub line: u64,
    /// The state before the one that is rejected, or the event, from 0.
    pub index: u64,
    /// The model's state before.
    pub from: String,
    /// What the program did.
    pub to: String,
    /// The most steps between the two.
    pub bound: u32,
    /// The closest that the model can do.
    pub closest: Option<String>,
    /// The labels that lead there.
    pub steps: Vec<String>,
    /// What differs.
    pub differs: Vec<Differing>,
    /// What almost happened.
    pub blocked: Vec<BlockedStep>,
    /// The shortest bound that would do.
    pub needed: Option<u32>,
    /// How that was searched for, in words.
    pub searched: String,
    /// What the model could do instead.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub possible: Vec<String>,
    /// Its cause, a position in the causes.
    pub cause: usize,
    /// The schedule of the program that shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule: Option<String>,
}

/// A value that differs.
#[derive(Clone, Debug, Serialize)]
pub struct Differing {
    /// Its name.
    pub component: String,
    /// What the model has.
    pub model: String,
    /// What the program has.
    pub program: String,
}

/// Something in the model that almost happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BlockedStep {
    /// The file.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
    /// What kept it from happening.
    pub why: String,
    /// What stands there.
    pub source: String,
}

/// A panic or a deadlock of the program.
#[derive(Clone, Debug, Serialize)]
pub struct WrongEnd {
    /// What it is.
    pub end: String,
    /// What the program says of it.
    pub message: Option<String>,
    /// How many executions ended like this.
    pub executions: u64,
    /// The schedule of the first.
    pub schedule: String,
}

/// What was explored of a program.
#[derive(Clone, Debug, Serialize)]
pub struct ExploredProgram {
    /// How often it was run.
    pub executions: u64,
    /// How many scheduling decisions that took.
    pub steps: u64,
    /// Whether that was everything up to the depth.
    pub complete: bool,
    /// How many paths the depth has cut.
    pub cut: u64,
}

/// What failures have in common.
#[derive(Clone, Debug, Serialize)]
pub struct Cause {
    /// In a few words.
    pub cause: String,
    /// How many failures.
    pub failures: u64,
    /// The first of them, a position in the failures.
    pub first: usize,
}

/// What traces exercised of a model.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Exercised {
    /// Actions: rules, transitions, communications.
    pub actions: Counts,
    /// Outcomes of decisions.
    pub outcomes: Counts,
    /// Blocks.
    pub blocks: Counts,
    /// What never happened.
    pub never: Vec<Unexercised>,
}

/// Something that never happened.
#[derive(Clone, Debug, Serialize)]
pub struct Unexercised {
    /// The file.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// What it is.
    pub what: String,
}

impl Conformance {
    /// Whether everything was accepted.
    pub fn holds(&self) -> bool {
        self.rejected == 0 && self.ends.is_empty()
    }
}

impl fmt::Display for Conformance {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = count(self.sequences, "sequence");
        let bound = count(u64::from(self.bound), "step");
        let between = if self.needed.is_empty() {
            String::new()
        } else {
            format!(" with at most {bound} between states")
        };
        match self.rejected {
            0 if self.unknown > 0 => write!(out, "UNKNOWN: {} of {all} not decided", grouped(self.unknown))?,
            0 => write!(out, "accepted: {all}, {}{between}", count(self.moments, "moment"))?,
            rejected => write!(
                out,
                "REJECTED: {} of {all}; {} accepted{between}",
                grouped(rejected),
                grouped(self.accepted)
            )?,
        }
        if self.rejected > self.explained {
            write!(out, "\ncauses of the first {} of them:", grouped(self.explained))?;
        }
        if self.rejected > 0 && self.unknown > 0 {
            write!(out, ", {} not decided", grouped(self.unknown))?;
        }
        if self.unspecified > 0 {
            write!(
                out,
                "\n{} by an input that the model says nothing about: the rest was not checked",
                match self.unspecified {
                    1 => "1 sequence leaves the specification".to_owned(),
                    many => format!("{} sequences leave the specification", grouped(many)),
                }
            )?;
        }
        for (number, cause) in self.causes.iter().take(MOST_CAUSES).enumerate() {
            write!(out, "\n\n{}. {}: {}", number + 1, cause.cause, count(cause.failures, "sequence"))?;
            if let Some(failure) = self.failures.get(cause.first) {
                write!(out, "\n{failure}")?;
            }
        }
        if self.causes.len() > MOST_CAUSES {
            write!(
                out,
                "\n\n{} further causes: --json and --html have all",
                self.causes.len() - MOST_CAUSES
            )?;
        }
        for end in &self.ends {
            write!(out, "\n\n{} in {}", end.end, count(end.executions, "execution"))?;
            if let Some(message) = &end.message {
                write!(out, ": {message}")?;
            }
            write!(out, "\n   schedule {}", end.schedule)?;
        }
        if let Some(explored) = &self.explored {
            write!(out, "\n\n{} of the program", count(explored.executions, "execution"))?;
            match (explored.complete, explored.cut) {
                (true, 0) => write!(out, ": all that there are")?,
                (true, cut) => write!(out, ": all up to the depth, which cut {}", count(cut, "path"))?,
                (false, _) => write!(out, ", not all that there are")?,
            }
        }
        if self.needed.iter().any(|needed| needed.steps > 1) {
            write!(out, "\n\nsteps between neighbours:")?;
            for needed in &self.needed {
                write!(
                    out,
                    "\n  {}: {}, first in sequence {} at index {}",
                    needed.steps,
                    count(needed.pairs, "pair"),
                    needed.seq,
                    needed.index
                )?;
            }
        }
        if let Some(coverage) = &self.coverage {
            write!(out, "\n\n{coverage}")?;
        }
        if let Some(stopped) = &self.stopped {
            write!(out, "\npartial: {stopped}")?;
        }
        Ok(())
    }
}

impl fmt::Display for NonConformance {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
        let place = match self.schedule {
            Some(_) => String::new(),
            None => format!("{}:{}: ", self.file, self.line),
        };
        write!(out, "   {place}sequence {}{name}, index {}", self.seq, self.index)?;
        if !self.from.is_empty() {
            write!(out, "\n   from     {}", self.from)?;
        }
        write!(out, "\n   to       {}", self.to)?;
        match (&self.closest, self.steps.as_slice()) {
            (None, []) => {}
            (None, steps) => write!(out, "\n   after    {}", steps.join(", "))?,
            (Some(closest), []) => write!(out, "\n   closest  {closest}")?,
            (Some(closest), steps) => write!(out, "\n   closest  {closest}, by {}", steps.join(", "))?,
        }
        for differing in &self.differs {
            write!(out, "\n   differs  {differing}")?;
        }
        if !self.possible.is_empty() {
            write!(out, "\n   possible {}", self.possible.join(", "))?;
        }
        for blocked in self.blocked.iter().take(3) {
            write!(out, "\n   {}:{}:{}: {}", blocked.file, blocked.line, blocked.column, blocked.why)?;
            write!(out, "\n     | {}", blocked.source)?;
        }
        if self.blocked.len() > 3 {
            write!(out, "\n   and {} more places: --json has all", self.blocked.len() - 3)?;
        }
        if !self.searched.is_empty() {
            write!(out, "\n   {}", self.searched)?;
        }
        if let Some(schedule) = &self.schedule {
            write!(out, "\n   schedule {schedule}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Differing {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.component.as_str() {
            "" | "state" => write!(out, "the model has {}, the program {}", self.model, self.program),
            name => write!(out, "{name}: the model has {}, the program {}", self.model, self.program),
        }
    }
}

impl fmt::Display for Exercised {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "what the traces exercised of the model:")?;
        let parts =
            [("actions", &self.actions), ("outcomes of decisions", &self.outcomes), ("blocks", &self.blocks)];
        for (what, counts) in parts.iter().filter(|(_, counts)| counts.total > 0) {
            write!(out, "\n  {} of {} {what}", counts.covered, counts.total)?;
        }
        for never in self.never.iter().take(20) {
            write!(out, "\n  never: {}:{}: {}", never.file, never.line, never.what)?;
        }
        if self.never.len() > 20 {
            write!(out, "\n  and {} more: --json has all", self.never.len() - 20)?;
        }
        Ok(())
    }
}
