//! Verdicts of properties, with what shows them.

use std::fmt;

use serde::Serialize;

use crate::markup::escape;
use crate::number::{count, seconds};

/// The verdicts of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Check {
    /// One a property, in the order given.
    pub results: Vec<PropertyResult>,
}

/// One property and its verdict.
#[derive(Clone, Debug, Serialize)]
pub struct PropertyResult {
    /// Its name.
    pub property: String,
    /// What it says in plain words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The file it comes from; nothing for properties made by options.
    pub file: Option<String>,
    /// The formula, fully parenthesised, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub formula: Option<String>,
    /// Whether it holds; nothing where a limit was reached before that was known.
    pub verdict: Option<bool>,
    /// Why there is no verdict, and how far the check came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_verdict: Option<String>,
    /// Whether its author expects it to hold.
    pub expected: bool,
    /// The labels of a run that shows the verdict, where one run does.
    pub counterexample: Option<Vec<String>>,
    /// Where in that run the part starts that is repeated for ever.
    pub lasso: Option<usize>,
    /// The same run with the sources of its steps.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<TraceStep>,
    /// How large the part of the system is that shows the verdict, where it takes more than a run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diagnostic: Option<crate::Size>,
    /// How many states were looked at.
    pub states_visited: u64,
    /// How long it took.
    pub seconds: f64,
}

/// One step of a run.
#[derive(Clone, Debug, Serialize)]
pub struct TraceStep {
    /// What happens.
    pub label: String,
    /// The actions that take part: their processes and places.
    pub actions: Vec<ActionPlace>,
}

/// An action in the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ActionPlace {
    /// The process it is written in.
    pub process: String,
    /// The file.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
}

impl PropertyResult {
    /// Whether the verdict is the expected one.
    pub fn as_expected(&self) -> bool {
        self.verdict == Some(self.expected)
    }

    /// Whether the verdict is the other one.
    pub fn is_surprise(&self) -> bool {
        self.verdict == Some(!self.expected)
    }
}

impl Check {
    /// Whether all verdicts are the expected ones.
    pub fn as_expected(&self) -> bool {
        self.results.iter().all(PropertyResult::as_expected)
    }

    /// The verdicts as a JUnit report, for CI services.
    ///
    /// ```
    /// let check = report::Check { results: Vec::new() };
    /// assert!(check.junit("model.lnt").contains("<testsuite name=\"model.lnt\" tests=\"0\""));
    /// ```
    pub fn junit(&self, model: &str) -> String {
        let failures = self.results.iter().filter(|result| result.is_surprise()).count();
        let errors = self.results.iter().filter(|result| result.verdict.is_none()).count();
        let time: f64 = self.results.iter().map(|result| result.seconds).sum();
        let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        text += &format!(
            "<testsuites>\n<testsuite name=\"{}\" tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\" time=\"{time:.3}\">\n",
            escape(model),
            self.results.len()
        );
        for result in &self.results {
            let class = escape(result.file.as_deref().unwrap_or("options"));
            let (name, time) = (escape(&result.property), result.seconds);
            text += &format!("  <testcase classname=\"{class}\" name=\"{name}\" time=\"{time:.3}\"");
            if result.as_expected() {
                text += "/>\n";
                continue;
            }
            if let Some(reason) = &result.no_verdict {
                text += &format!(">\n    <error message=\"{}\"/>\n  </testcase>\n", escape(reason));
                continue;
            }
            let message = format!("{}, expected {}", word(result.verdict), word(Some(result.expected)));
            let trace = result.counterexample.as_ref().map(|labels| labels.join("\n")).unwrap_or_default();
            text += &format!(
                ">\n    <failure message=\"{}\">{}</failure>\n  </testcase>\n",
                escape(&message),
                escape(&trace)
            );
        }
        text + "</testsuite>\n</testsuites>\n"
    }
}

fn word(verdict: Option<bool>) -> &'static str {
    match verdict {
        Some(true) => "holds",
        Some(false) => "violated",
        None => "unknown",
    }
}

impl fmt::Display for Check {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, result) in self.results.iter().enumerate() {
            if index > 0 {
                writeln!(out)?;
            }
            write!(out, "{result}")?;
        }
        if self.results.len() > 1 {
            let expected = self.results.iter().filter(|result| result.as_expected()).count();
            let surprises = self.results.iter().filter(|result| result.is_surprise()).count();
            let unknown = self.results.len() - expected - surprises;
            let all = self.results.len();
            write!(out, "\n\n{all} properties: {expected} as expected, {surprises} unexpected")?;
            if unknown > 0 {
                write!(out, ", {unknown} unknown")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for PropertyResult {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let surprise = if self.is_surprise() { "  (unexpected)" } else { "" };
        write!(out, "{:<9} {}{surprise}", word(self.verdict), self.property)?;
        if let Some(description) = &self.description {
            write!(out, ": {description}")?;
        }
        if let Some(reason) = &self.no_verdict {
            write!(out, "\n          no verdict: {reason}")?;
        }
        let states = count(self.states_visited, "state");
        write!(out, "\n          {states} visited, {}", seconds(self.seconds))?;
        if let Some(formula) = &self.formula {
            write!(out, "\n          {formula}")?;
        }
        // A trace is news where the verdict is; one that was expected can be asked for.
        if let Some(labels) = &self.counterexample {
            self.write_trace(out, labels)?;
        } else if let Some(size) = &self.diagnostic {
            write!(out, "\n          shown by a part of the system with {size} (save it with -o)")?;
        }
        Ok(())
    }
}

impl PropertyResult {
    fn write_trace(&self, out: &mut fmt::Formatter<'_>, labels: &[String]) -> fmt::Result {
        if labels.is_empty() {
            return write!(out, "\n          already in the initial state");
        }
        let widest = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0).min(48);
        for (index, label) in labels.iter().enumerate() {
            let place = self.steps.get(index).map(|step| places(&step.actions)).unwrap_or_default();
            let row = format!("{:>8}  {label:<widest$}  {place}", index + 1);
            if self.lasso == Some(index) {
                write!(out, "\n          repeated for ever from here on:")?;
            }
            write!(out, "\n{}", row.trim_end())?;
        }
        Ok(())
    }

    /// The run as a message sequence: one lane a process, a mark for each that takes part in a step.
    pub fn sequence(&self) -> String {
        let mut lanes: Vec<&str> = Vec::new();
        for action in self.steps.iter().flat_map(|step| &step.actions) {
            if !lanes.contains(&action.process.as_str()) {
                lanes.push(&action.process);
            }
        }
        let widths: Vec<usize> = lanes.iter().map(|lane| lane.chars().count().max(3)).collect();
        let mut text = String::new();
        for (lane, width) in lanes.iter().zip(&widths) {
            text += &format!("{lane:^width$}  ");
        }
        text = text.trim_end().to_owned() + "\n";
        for step in &self.steps {
            let takes = |lane: &str| step.actions.iter().any(|action| action.process == lane);
            let first = lanes.iter().position(|lane| takes(lane));
            let last = lanes.iter().rposition(|lane| takes(lane));
            for (index, (lane, width)) in lanes.iter().zip(&widths).enumerate() {
                let between = first < Some(index) && Some(index) < last;
                let (mark, fill) = match (takes(lane), between) {
                    (true, _) => ('●', ' '),
                    (false, true) => ('─', '─'),
                    (false, false) => ('│', ' '),
                };
                let left = (width - 1) / 2;
                let joined_left = first < Some(index) && Some(index) <= last;
                let joined_right = first <= Some(index) && Some(index) < last;
                let side = |joined: bool| if joined { '─' } else { fill };
                text.extend(std::iter::repeat_n(side(joined_left), left));
                text.push(mark);
                text.extend(std::iter::repeat_n(side(joined_right), width - 1 - left + 2));
            }
            text += &format!("{}\n", step.label);
        }
        text
    }
}

fn places(actions: &[ActionPlace]) -> String {
    // The folder is the model's own nearly always, and long.
    let short = |file: &str| file.rsplit(['/', '\\']).next().unwrap_or(file).to_owned();
    let places =
        actions.iter().map(|action| format!("{} {}:{}", action.process, short(&action.file), action.line));
    places.collect::<Vec<_>>().join(", ")
}
