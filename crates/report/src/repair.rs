//! Which single changes of a model make its properties hold.

use std::fmt;

use serde::Serialize;

use crate::markup::escape;
use crate::number::count;

/// What came of changing suspects, one at a time.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Repairs {
    /// How many changes were tried.
    pub tried: u64,
    /// How many of them can't be judged: refused, run-time errors, too many states.
    pub unknown: u64,
    /// How many more could be tried.
    pub left_out: u64,
    /// Changes that make all properties hold and lose nothing, those at better suspects first.
    pub repairs: Vec<Repair>,
    /// Changes that make all properties hold at a price.
    pub losing: Vec<Repair>,
}

/// A change after which all properties hold.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Repair {
    /// The operator.
    pub operator: String,
    /// What is done to which construct.
    pub description: String,
    /// The file.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
    /// Where it ends.
    pub end_line: usize,
    /// The column behind it.
    pub end_column: usize,
    /// The suspect that it changes, from 1.
    pub suspect: usize,
    /// What is lost by it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub losses: Vec<String>,
    /// The change, for `patch`.
    pub diff: String,
}

/// Changes in text that show their diffs.
const MOST_DIFFS: usize = 3;
/// Changes in text that lose something.
const MOST_LOSING: usize = 5;

impl fmt::Display for Repairs {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tried = count(self.tried, "single change");
        match self.repairs.len() as u64 {
            0 => write!(out, "No repair: none of {tried} at the suspects makes all properties hold")?,
            some => write!(
                out,
                "{} of {tried} at the suspects {} all properties hold",
                some,
                if some == 1 { "makes" } else { "make" }
            )?,
        }
        match (self.repairs.len(), self.losing.len()) {
            (0, 0) => {}
            (0, _) => write!(out, " without taking behaviour away")?,
            (1, _) => write!(out, " and takes no behaviour away")?,
            _ => write!(out, " and take no behaviour away")?,
        }
        writeln!(out)?;
        for repair in self.repairs.iter().take(MOST_DIFFS) {
            writeln!(out, "\n{}", repair.headline())?;
            for line in repair.diff.lines().skip(2) {
                writeln!(out, "    {line}")?;
            }
        }
        for repair in self.repairs.iter().skip(MOST_DIFFS) {
            writeln!(out, "{}", repair.headline())?;
        }
        if !self.losing.is_empty() {
            writeln!(out, "\nThese make all properties hold, but at a price:")?;
            for repair in self.losing.iter().take(MOST_LOSING) {
                writeln!(out, "  {}\n    then {}", repair.headline(), repair.losses.join("; "))?;
            }
            if let more @ 1.. = self.losing.len().saturating_sub(MOST_LOSING) {
                writeln!(out, "  and {more} more, with --json")?;
            }
        }
        if self.unknown > 0 {
            writeln!(
                out,
                "{} could not be judged: refused, a run-time error, or too many states",
                count(self.unknown, "change")
            )?;
        }
        match self.left_out {
            0 => Ok(()),
            more => writeln!(out, "{} not tried", count(more, "more change")),
        }
    }
}

impl Repairs {
    /// A part of a page.
    pub(crate) fn html(&self) -> String {
        let mut page = format!(
            "<h2>Changes that were tried</h2>\n<p>{} at the suspects, of which {} {} all properties hold and {} no \
             behaviour away.</p>\n",
            count(self.tried, "single change"),
            self.repairs.len(),
            if self.repairs.len() == 1 { "makes" } else { "make" },
            if self.repairs.len() == 1 { "takes" } else { "take" },
        );
        for repair in &self.repairs {
            page += &format!("<p>{}</p>\n<pre>{}</pre>\n", escape(&repair.headline()), escape(&repair.diff));
        }
        if !self.losing.is_empty() {
            page += "<p>These make all properties hold, but at a price:</p>\n<ul>\n";
            for repair in &self.losing {
                let losses = repair.losses.join("; ");
                page += &format!("<li>{}: {}</li>\n", escape(&repair.headline()), escape(&losses));
            }
            page += "</ul>\n";
        }
        page
    }
}

impl Repair {
    fn headline(&self) -> String {
        format!(
            "{}:{}:{}: {} ({}, suspect {})",
            self.file, self.line, self.column, self.description, self.operator, self.suspect
        )
    }
}
