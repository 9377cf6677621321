//! Which properties and examples notice mutants of a model, and which mutants nothing notices.

mod html;

use std::fmt;

use serde::Serialize;

use crate::number::{count, grouped};

/// What became of the mutants of a model.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Mutation {
    /// How many were judged, those that the language refuses left out.
    pub mutants: u64,
    /// How many nothing can tell from the model.
    pub equivalent: u64,
    /// How many give a property another verdict.
    pub violating: u64,
    /// How many are noticed: by a property, an example or a run-time error.
    pub killed: u64,
    /// How many make a run-time error.
    pub errors: u64,
    /// How many have more states than allowed.
    pub limited: u64,
    /// How many of these, and of those with errors in examples, nothing is known to notice, or not to.
    pub undecided: u64,
    /// How many the language refuses; they count for nothing else.
    pub refused: u64,
    /// How many were not judged, because the work was stopped.
    pub not_judged: u64,
    /// How many states the model has.
    pub states: u64,
    /// The properties, with what they notice.
    pub properties: Vec<Worth>,
    /// The examples, with what they notice.
    pub examples: Vec<Worth>,
    /// The operators.
    pub operators: Vec<OperatorCount>,
    /// Mutants that behave differently and that nothing notices.
    pub survivors: Vec<Survivor>,
    /// All mutants that were judged: who notices them.
    pub matrix: Vec<MatrixRow>,
    /// How long it took.
    pub seconds: f64,
    /// Where survivors are listed in full.
    #[serde(skip)]
    pub model: String,
}

/// What a property or an example is worth.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Worth {
    /// Its name.
    pub name: String,
    /// Its verdict on the model; none for an example.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<bool>,
    /// How many mutants it notices.
    pub kills: u64,
    /// How many of these nothing else notices.
    pub alone: u64,
}

/// What became of the mutants of an operator.
#[derive(Clone, Debug, Default, Serialize)]
pub struct OperatorCount {
    /// Its name.
    pub operator: String,
    /// How many were judged.
    pub mutants: u64,
    /// How many nothing can tell from the model.
    pub equivalent: u64,
    /// How many are noticed.
    pub killed: u64,
    /// How many behave differently and are not noticed.
    pub survivors: u64,
}

/// One mutant in the matrix.
#[derive(Clone, Debug, Default, Serialize)]
pub struct MatrixRow {
    /// Its number, from 1, in the order of the text.
    pub mutant: u64,
    /// The operator that made it.
    pub operator: String,
    /// What was done to which construct.
    pub description: String,
    /// The process or function it is in.
    pub within: String,
    /// Where.
    pub file: String,
    /// First line of what was changed.
    pub line: usize,
    /// Column in it.
    pub column: usize,
    /// Last line.
    pub end_line: usize,
    /// Column behind it there.
    pub end_column: usize,
    /// `different`, `equivalent`, `error` or `limit`.
    pub fate: String,
    /// The run-time error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// For each property, whether it notices; null where that is not known.
    pub properties: Vec<Option<bool>>,
    /// Likewise for each example.
    pub examples: Vec<Option<bool>>,
}

/// A mutant that nothing notices.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Survivor {
    /// The mutant.
    #[serde(flatten)]
    pub row: MatrixRow,
    /// Its change, for `patch`.
    pub diff: String,
}

/// Survivors with their diffs in text; more of them are listed on a line each.
const MOST_DIFFS: usize = 3;
/// Survivors in text.
const MOST_LISTED: usize = 20;

impl Mutation {
    /// Whether everything that behaves differently is known to be noticed.
    pub fn all_killed(&self) -> bool {
        self.survivors.is_empty() && self.undecided == 0 && self.not_judged == 0
    }

    /// The matrix as CSV: a row for each mutant, 1 where a property or example notices it, nothing where that is open.
    ///
    /// ```
    /// let row = report::MatrixRow { mutant: 1, properties: vec![Some(true)], ..Default::default() };
    /// let worth = report::Worth { name: "SAFE, \"always\"".into(), ..Default::default() };
    /// let mutation = report::Mutation { properties: vec![worth], matrix: vec![row], ..Default::default() };
    /// let csv = mutation.csv();
    /// assert!(csv.starts_with("mutant,operator,file,line,column,end_line,end_column,within,description,fate,"));
    /// assert!(csv.lines().next().unwrap().ends_with("\"SAFE, \"\"always\"\"\""));
    /// ```
    pub fn csv(&self) -> String {
        let cell = |text: &str| match text.contains([',', '"', '\n', '\r']) {
            true => format!("\"{}\"", text.replace('"', "\"\"")),
            false => text.to_owned(),
        };
        let mut csv =
            String::from("mutant,operator,file,line,column,end_line,end_column,within,description,fate");
        for worth in self.properties.iter().chain(&self.examples) {
            csv += &format!(",{}", cell(&worth.name));
        }
        csv.push('\n');
        for row in &self.matrix {
            csv += &format!(
                "{},{},{},{},{},{},{},{},{},{}",
                row.mutant,
                cell(&row.operator),
                cell(&row.file),
                row.line,
                row.column,
                row.end_line,
                row.end_column,
                cell(&row.within),
                cell(&row.description),
                row.fate
            );
            for kills in row.properties.iter().chain(&row.examples) {
                csv += match kills {
                    Some(true) => ",1",
                    Some(false) => ",0",
                    None => ",",
                };
            }
            csv.push('\n');
        }
        csv
    }

    fn sentence(&self) -> String {
        let survivors = self.survivors.len() as u64;
        let mut parts = vec![format!("{} killed", grouped(self.killed))];
        parts.push(match survivors {
            1 => "1 survives".to_owned(),
            _ => format!("{} survive", grouped(survivors)),
        });
        parts.push(format!("{} equivalent", grouped(self.equivalent)));
        if self.undecided > 0 {
            parts.push(format!("{} undecided", grouped(self.undecided)));
        }
        format!("{}: {}", count(self.mutants, "mutant"), parts.join(", "))
    }

    /// What the counts leave open, in sentences.
    fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.errors > 0 {
            remarks.push(format!(
                "{} killed by a run-time error that the model does not make",
                count(self.errors, "mutant")
            ));
        }
        if self.limited > 0 {
            remarks.push(format!(
                "{} reached the limit of states (--max-states); what is told of them is certain all the same",
                count(self.limited, "mutant")
            ));
        }
        if self.refused > 0 {
            remarks
                .push(format!("{} refused by the language, and not counted", count(self.refused, "mutant")));
        }
        if self.not_judged > 0 {
            remarks.push(format!("partial: {} not judged", count(self.not_judged, "mutant")));
        }
        remarks
    }
}

impl fmt::Display for Mutation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "{}", self.sentence())?;
        for remark in self.remarks() {
            writeln!(out, "  {remark}")?;
        }
        let worths = self.properties.iter().chain(&self.examples);
        let width = worths.clone().map(|worth| worth.name.chars().count()).max().unwrap_or(0).clamp(8, 50);
        writeln!(out, "\n{:width$}  kills  alone", "")?;
        for (title, list) in [("property", &self.properties), ("example", &self.examples)] {
            for worth in list {
                let note = match (worth.verdict, worth.kills, worth.alone) {
                    (_, 0, _) => format!("   this {title} notices nothing"),
                    (Some(false), ..) => "   violated by the model itself".to_owned(),
                    _ => String::new(),
                };
                let name: String = worth.name.chars().take(width).collect();
                writeln!(out, "{name:width$}  {:>5}  {:>5}{note}", worth.kills, worth.alone)?;
            }
        }
        if self.survivors.is_empty() {
            return write!(out, "\nNo mutant that behaves differently is known to survive.");
        }
        writeln!(out, "\nMutants that nothing notices: is a property or an example missing?")?;
        for (at, survivor) in self.survivors.iter().take(MOST_LISTED).enumerate() {
            let row = &survivor.row;
            write!(
                out,
                "\n{}:{}:{}: {} ({})",
                row.file, row.line, row.column, row.description, row.operator
            )?;
            if at < MOST_DIFFS {
                let changed = survivor.diff.lines().filter(|line| {
                    (line.starts_with('-') && !line.starts_with("---"))
                        || (line.starts_with('+') && !line.starts_with("+++"))
                });
                for line in changed {
                    write!(out, "\n    {line}")?;
                }
            }
        }
        match self.survivors.len().saturating_sub(MOST_LISTED) {
            0 => write!(
                out,
                "\n\n`--html` and `--json` have their diffs, `--save` writes them as files for `patch`."
            ),
            more => write!(
                out,
                "\n\nand {more} more; `--html`, `--json` and `--save` have all of them with their diffs."
            ),
        }
    }
}
