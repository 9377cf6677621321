//! What a suite of examples covers of a model, and every format that people look at it in.

mod annotated;
mod cobertura;
mod html;
mod lcov;
mod lines;
mod sarif;

pub(crate) use sarif::location;

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use crate::number::{count, grouped, seconds};

/// The coverage of a model by a suite.
#[derive(Clone, Debug, Serialize)]
pub struct Coverage {
    /// The model's file.
    pub model: String,
    /// How it was measured: `direct` or `probes`.
    pub method: &'static str,
    /// Block coverage.
    pub blocks: Counts,
    /// Whether uncovered blocks could have been entered.
    pub executability: Executability,
    /// Decision coverage.
    pub decisions: DecisionCounts,
    /// Action coverage.
    pub actions: Counts,
    /// Coverage of the functions that examples can call; none where it was not measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub functions: Option<FunctionCoverage>,
    /// The examples in order.
    pub examples: Vec<CoverageExample>,
    /// The smallest subset of examples with the same coverage.
    pub subset: Vec<String>,
    /// Whether no smaller one exists.
    pub subset_is_smallest: bool,
    /// What is not covered.
    pub holes: Vec<Hole>,
    /// What is covered, by names that outlive editing: what a baseline is compared by.
    pub covered: Vec<String>,
    /// What is wrong.
    pub findings: Vec<CoverageFinding>,
    /// Further criteria, where they were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub criteria: Vec<Criterion>,
    /// What has changed against an earlier run, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<BaselineChange>,
    /// Examples that would close holes, where they were searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestions: Option<Suggestions>,
    /// Whether some example was not explored as a whole: then all of this is what is known so far.
    pub partial: bool,
    /// How long it took.
    pub seconds: f64,
    /// The source, with what was exercised where.
    #[serde(skip)]
    pub files: Vec<CoveredFile>,
}

/// How many there are and how many are covered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// All.
    pub total: usize,
    /// Covered ones.
    pub covered: usize,
}

/// The coverage of functions.
#[derive(Clone, Debug, Serialize)]
pub struct FunctionCoverage {
    /// Block coverage.
    pub blocks: Counts,
    /// Decision coverage.
    pub decisions: DecisionCounts,
    /// What is not covered.
    pub holes: Vec<Hole>,
}

/// The executability of uncovered blocks (Salaün and Ye 2015, definitions 9 and 10, figure 3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Executability {
    /// Blocks that are not covered.
    pub uncovered: usize,
    /// Those of them that are executable, because all outcomes that they depend on occurred: partially covered.
    pub executable: usize,
    /// Those that are not.
    pub not_executable: usize,
}

impl fmt::Display for Executability {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [(self.executable, "executable"), (self.not_executable, "not executable")];
        let parts = parts.iter().filter(|(number, _)| *number > 0);
        let parts: Vec<String> =
            parts.map(|(number, what)| format!("{} {what}", grouped(*number as u64))).collect();
        write!(out, "not covered: {}", parts.join(", "))
    }
}

/// How decisions were evaluated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DecisionCounts {
    /// All.
    pub total: usize,
    /// Those with both outcomes.
    pub covered: usize,
    /// Those that were only true, and could be false.
    pub only_true: usize,
    /// Those that were only false.
    pub only_false: usize,
    /// Those that were never evaluated.
    pub none: usize,
}

/// One example.
#[derive(Clone, Debug, Serialize)]
pub struct CoverageExample {
    /// Its name.
    pub name: String,
    /// How many states it has.
    pub states: u64,
    /// How many transitions it has.
    pub transitions: u64,
    /// Whether all of it was explored.
    pub complete: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// What it covers alone.
    pub blocks: Counts,
    /// What it covers alone.
    pub decisions: DecisionCounts,
    /// What it covers alone.
    pub actions: Counts,
    /// What no other example reaches.
    pub only: Vec<Hole>,
    /// Whether the result is from an earlier run.
    pub cached: bool,
    /// How long it took.
    pub seconds: f64,
}

/// A block, an outcome of a decision or an action, by place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hole {
    /// `block`, `decision` or `action`.
    pub kind: &'static str,
    /// Which outcome of a decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<bool>,
    /// Whether a block is executable: all outcomes that it depends on occurred.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub executable: Option<bool>,
    /// The process.
    pub process: String,
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// The source, in one line.
    pub text: String,
}

/// A hole with its diagnosis.
#[derive(Clone, Debug, Serialize)]
pub struct CoverageFinding {
    /// What it is: `ill-formed-decision`, `unnecessary-decision`, `non-synchronisable-action`, `dead-code` or
    /// `missing-example`.
    pub kind: &'static str,
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// One sentence.
    pub message: String,
    /// The process.
    pub process: String,
    /// The reasons.
    pub why: Vec<String>,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
    /// Other places.
    pub related: Vec<RelatedPlace>,
    /// The end of the place: line and column.
    #[serde(skip)]
    pub end: (usize, usize),
}

/// Another place that a finding concerns.
#[derive(Clone, Debug, Serialize)]
pub struct RelatedPlace {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// What is there.
    pub text: String,
}

/// A further criterion.
#[derive(Clone, Debug, Serialize)]
pub struct Criterion {
    /// Its name.
    pub name: String,
    /// All that are feasible.
    pub total: usize,
    /// Covered ones.
    pub covered: usize,
    /// How many are not feasible, as far as those can be listed.
    pub infeasible: usize,
    /// What is not covered, in words.
    pub missing: Vec<String>,
    /// What is not feasible.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub infeasible_items: Vec<String>,
    /// The same by length, from 1 on, where items have lengths.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by_length: Vec<Counts>,
    /// The smallest set of examples that covers as much, where there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub subset: Vec<String>,
    /// Why this is not everything.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<String>,
    /// What each of several examples adds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<CriterionExample>,
}

/// What an example adds to a criterion.
#[derive(Clone, Debug, Serialize)]
pub struct CriterionExample {
    /// The example.
    pub name: String,
    /// How many items it covers.
    pub covered: usize,
    /// How many of them no other example covers.
    pub only: usize,
}

impl Criterion {
    /// What stands behind the percentage.
    fn facts(&self) -> String {
        let mut facts = String::new();
        if self.by_length.len() > 1 {
            let each: Vec<String> =
                self.by_length.iter().map(|one| format!("{}/{}", one.covered, one.total)).collect();
            facts.push_str(&format!(" (by length {})", each.join(", ")));
        }
        if self.infeasible > 0 {
            facts.push_str(&format!(", {} not feasible", self.infeasible));
        }
        facts
    }
}

/// What has changed since a baseline.
#[derive(Clone, Debug, Serialize)]
pub struct BaselineChange {
    /// What was covered and is not any more.
    pub lost: Vec<String>,
    /// What is covered and was not.
    pub gained: Vec<String>,
}

/// Examples that would close holes.
#[derive(Clone, Debug, Serialize)]
pub struct Suggestions {
    /// How many examples were tried, those of the suite aside.
    pub tried: usize,
    /// The processes that were started.
    pub roots: Vec<TriedRoot>,
    /// Whether there is no other example.
    pub exhaustive: bool,
    /// What an example could have, and none has that was tried.
    pub not_tried: Vec<String>,
    /// What to add, with what it closes.
    pub examples: Vec<Suggestion>,
    /// Holes that stay open in processes that were started.
    pub open: Vec<Hole>,
    /// Holes that stay open in others.
    pub elsewhere: Vec<Hole>,
}

/// A process that was started with several arguments.
#[derive(Clone, Debug, Serialize)]
pub struct TriedRoot {
    /// The process.
    pub process: String,
    /// How many combinations of arguments were tried.
    pub combinations: usize,
    /// Whether these are all.
    pub all: bool,
    /// Why none could be tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// One example to add.
#[derive(Clone, Debug, Serialize)]
pub struct Suggestion {
    /// What to call it: the process with its arguments, and what else belongs to it.
    pub name: String,
    /// The process with its arguments.
    pub root: String,
    /// The constants that it binds.
    pub constants: BTreeMap<String, String>,
    /// The modules that it brings along.
    pub modules: Vec<String>,
    /// The example as a suite writes it.
    pub toml: String,
    /// What it reaches that no example does.
    pub closes: Vec<Hole>,
}

/// A file with what was exercised in it.
#[derive(Clone, Debug)]
pub struct CoveredFile {
    /// Its name.
    pub name: String,
    /// Its text.
    pub text: String,
    /// The processes in it.
    pub processes: Vec<CoveredProcess>,
    /// Blocks, decisions and actions, in the order of the source.
    pub sites: Vec<Site>,
}

/// A process with what was exercised in it.
#[derive(Clone, Debug)]
pub struct CoveredProcess {
    /// Its name.
    pub name: String,
    /// Its module.
    pub module: String,
    /// Its first and last line.
    pub lines: (usize, usize),
    /// How many examples have exercised anything of it.
    pub hits: usize,
    /// Its blocks.
    pub blocks: Counts,
    /// Its decisions.
    pub decisions: Counts,
    /// Its actions.
    pub actions: Counts,
}

/// One thing that can be exercised.
#[derive(Clone, Debug)]
pub struct Site {
    /// What it is.
    pub kind: SiteKind,
    /// The process, a position in [`CoveredFile::processes`].
    pub process: usize,
    /// Bytes of the text.
    pub range: std::ops::Range<usize>,
    /// First and last line.
    pub lines: (usize, usize),
    /// How many examples have exercised it; for decisions, evaluated it.
    pub hits: usize,
}

/// What a [`Site`] is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SiteKind {
    /// A block.
    Block,
    /// A decision, with how many examples have evaluated each outcome; none where there is no such outcome.
    Decision {
        /// The true outcome.
        yes: usize,
        /// The false outcome.
        no: Option<usize>,
    },
    /// An action.
    Action,
}

impl Counts {
    /// The percentage; 100 where there is nothing to cover.
    pub fn percent(self) -> f64 {
        if self.total == 0 { 100.0 } else { 100.0 * self.covered as f64 / self.total as f64 }
    }
}

impl DecisionCounts {
    /// Only how many, and how many covered.
    pub fn counts(self) -> Counts {
        Counts { total: self.total, covered: self.covered }
    }
}

impl DecisionCounts {
    /// What decisions lack, in brackets.
    fn parts(self) -> String {
        let DecisionCounts { only_true, only_false, none, .. } = self;
        let parts = [(only_true, "only true"), (only_false, "only false"), (none, "never evaluated")];
        let parts = parts.iter().filter(|(number, _)| *number > 0);
        let parts: Vec<String> = parts.map(|(number, what)| format!("{number} {what}")).collect();
        if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
    }
}

impl fmt::Display for Hole {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.outcome {
            Some(outcome) => format!("{outcome} outcome of `{}`", self.text),
            None => format!("{} `{}`", self.kind, self.text),
        };
        write!(out, "{}:{}:{}: {what}", self.file, self.line, self.column)
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = |out: &mut fmt::Formatter<'_>, name: &str, counts: Counts, more: &str| match counts.total {
            0 => writeln!(out, "{name:<11} none in this model"),
            total => writeln!(
                out,
                "{name:<12}{:>6.1} %  {} of {}{more}",
                counts.percent(),
                grouped(counts.covered as u64),
                grouped(total as u64)
            ),
        };
        let executability = match self.executability.uncovered {
            0 => String::new(),
            _ => format!(" ({})", self.executability),
        };
        if self.blocks.total > 0 || self.criteria.is_empty() {
            row(out, "blocks", self.blocks, &executability)?;
        }
        if self.decisions.total > 0 || self.criteria.is_empty() {
            row(out, "decisions", self.decisions.counts(), &self.decisions.parts())?;
        }
        row(out, "actions", self.actions, "")?;
        if let Some(functions) = self.functions.as_ref().filter(|functions| functions.blocks.total > 0) {
            row(out, "functions", functions.blocks, " blocks")?;
            if functions.decisions.total > 0 {
                let more = format!(" decisions{}", functions.decisions.parts());
                row(out, "", functions.decisions.counts(), &more)?;
            }
        }
        for criterion in &self.criteria {
            let counts = Counts { total: criterion.total, covered: criterion.covered };
            row(out, &criterion.name, counts, &criterion.facts())?;
        }
        self.write_examples(out)?;
        self.write_extras(out)?;
        let size = count(self.examples.iter().map(|example| example.states).sum(), "state");
        let partial = if self.partial { "; partial: some examples were not fully explored" } else { "" };
        write!(out, "\n{size} in {}{partial}", seconds(self.seconds))
    }
}

impl Coverage {
    fn write_examples(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "\n{}", count(self.examples.len() as u64, "example"))?;
        let width = self.examples.iter().map(|example| example.name.chars().count()).max().unwrap_or(0);
        for example in &self.examples {
            write!(out, "  {:<width$} ", example.name)?;
            let parts = [
                ("blocks", example.blocks),
                ("decisions", example.decisions.counts()),
                ("actions", example.actions),
            ];
            for (name, counts) in parts {
                if counts.total > 0 || self.blocks.total > 0 {
                    write!(out, " {:>5.1} % {name},", counts.percent())?;
                }
            }
            write!(out, " {}", count(example.states, "state"))?;
            if self.examples.len() > 1 && !example.only.is_empty() {
                write!(out, ", {} reached by no other example", count(example.only.len() as u64, "place"))?;
            }
            if let Some(stopped) = &example.stopped {
                write!(out, "\n  {:<width$}  partial: {stopped}", "")?;
            }
            writeln!(out)?;
        }
        if self.examples.len() > 1 {
            let size = if self.subset_is_smallest { "smallest" } else { "a small" };
            match self.subset.len() == self.examples.len() {
                true => writeln!(out, "  every example is needed for this coverage"),
                false => writeln!(
                    out,
                    "  {size} subset with the same coverage, {} of {}: {}",
                    self.subset.len(),
                    self.examples.len(),
                    self.subset.join(", ")
                ),
            }?;
        }
        Ok(())
    }

    fn write_extras(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for criterion in self.criteria.iter().filter(|criterion| !criterion.missing.is_empty()) {
            writeln!(out, "\nnot covered: {}", criterion.name)?;
            for line in criterion.missing.iter().take(20) {
                writeln!(out, "  {line}")?;
            }
            if criterion.missing.len() > 20 {
                writeln!(out, "  and {} more", criterion.missing.len() - 20)?;
            }
        }
        for criterion in &self.criteria {
            if !criterion.infeasible_items.is_empty() {
                writeln!(out, "\nnot feasible: {}", criterion.name)?;
                for line in criterion.infeasible_items.iter().take(10) {
                    writeln!(out, "  {line}")?;
                }
                if criterion.infeasible_items.len() > 10 {
                    writeln!(out, "  and {} more", criterion.infeasible_items.len() - 10)?;
                }
            }
            if !criterion.subset.is_empty() {
                let each = criterion.examples.iter().map(|one| match one.only {
                    0 => format!("{} covers {}", one.name, one.covered),
                    only => format!("{} covers {}, {only} of them alone", one.name, one.covered),
                });
                let each: Vec<String> = each.collect();
                writeln!(out, "\n{}: {}", criterion.name, each.join("; "))?;
                writeln!(out, "  enough for as much: {}", criterion.subset.join(", "))?;
            }
            for doubt in &criterion.doubts {
                writeln!(out, "\n{}: {doubt}", criterion.name)?;
            }
        }
        if let Some(change) = &self.baseline {
            writeln!(out, "\ncompared with the baseline")?;
            for line in &change.lost {
                writeln!(out, "  lost    {line}")?;
            }
            for line in &change.gained {
                writeln!(out, "  gained  {line}")?;
            }
            if change.lost.is_empty() && change.gained.is_empty() {
                writeln!(out, "  nothing has changed")?;
            }
        }
        match &self.suggestions {
            Some(suggestions) => suggestions.write(out),
            None => Ok(()),
        }
    }
}

impl Suggestions {
    fn write(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "\nsuggestions ({} tried)", count(self.tried as u64, "example"))?;
        for suggestion in &self.examples {
            let closes = count(suggestion.closes.len() as u64, "hole");
            writeln!(out, "  add {}: it closes {closes}", suggestion.name)?;
            for hole in suggestion.closes.iter().take(8) {
                writeln!(out, "      {hole}")?;
            }
            if suggestion.closes.len() > 8 {
                writeln!(out, "      … and {} more", suggestion.closes.len() - 8)?;
            }
        }
        let left = self.open.len() + self.elsewhere.len();
        if left == 0 && self.examples.is_empty() {
            return writeln!(out, "  nothing is left to cover");
        }
        if left > 0 {
            let other = if self.examples.is_empty() { "" } else { "other " };
            let holes = match left {
                1 if other.is_empty() => "the hole".to_owned(),
                1 => "the other hole".to_owned(),
                _ => format!("the {other}{} holes", grouped(left as u64)),
            };
            match self.exhaustive {
                true => writeln!(out, "  no example can close {holes}: every possible example was tried")?,
                false => writeln!(out, "  none of the examples tried closes {holes}")?,
            }
            self.write_tried(out)?;
        }
        if !self.examples.is_empty() {
            writeln!(out, "\nadd this to the suite:\n")?;
            let texts: Vec<&str> = self.examples.iter().map(|one| one.toml.as_str()).collect();
            write!(out, "{}", texts.join("\n"))?;
        }
        Ok(())
    }

    /// What was tried, and what was not.
    fn write_tried(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for root in &self.roots {
            let name = &root.process;
            match (&root.problem, root.all, root.combinations) {
                (Some(problem), _, 0) => writeln!(out, "      {name} was not tried: {problem}")?,
                (Some(problem), ..) => {
                    writeln!(out, "      {name} was tried only with the arguments in the suite: {problem}")?;
                }
                (None, true, 1) => writeln!(out, "      {name} was tried in the only possible way")?,
                (None, true, tried) => {
                    let all =
                        if tried == 2 { "both".to_owned() } else { format!("all {}", grouped(tried as u64)) };
                    writeln!(out, "      {name} was tried with {all} combinations of arguments")?;
                }
                (None, false, tried) => {
                    let tried = count(tried as u64, "combination");
                    writeln!(
                        out,
                        "      {name} was tried with {tried} of arguments, but not with all of them"
                    )?;
                }
            }
        }
        for line in &self.not_tried {
            writeln!(out, "      not tried: {line}")?;
        }
        Ok(())
    }
}
