//! What the command line takes. Help, completions and manual pages all come from here.

use clap::{Args, Parser, ValueEnum};
use lts::{AutOptions, Lts, Selector};
use source::Diagnostic;

use crate::commands::Command;
use crate::terminal::Terminal;

/// Find where correct and incorrect behaviour part ways: a workbench for modelling, debugging and testing
/// concurrent systems.
#[derive(Parser)]
#[command(name = "watershed", version, max_term_width = 100, propagate_version = true)]
#[command(
    after_help = "Exit codes: 0 success, 1 the answer is no, 2 invalid input, 3 a limit was reached.\n\
    Files: `-` means standard input or output; names ending in .gz or .zst are read and written compressed."
)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    pub common: Common,
}

/// Options of every command.
#[derive(Args)]
pub struct Common {
    /// Print the result as one JSON object
    #[arg(long, global = true, help_heading = "Common options")]
    pub json: bool,
    /// Print only errors (and JSON, with --json); the exit code gives the answer
    #[arg(long, short, global = true, help_heading = "Common options")]
    pub quiet: bool,
    /// Which warnings to show
    #[arg(
        long,
        global = true,
        value_name = "WHICH",
        default_value = "grouped",
        help_heading = "Common options"
    )]
    pub warnings: Warnings,
    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", help_heading = "Common options")]
    pub color: Colour,
    /// The number of threads; 0 means one per core
    #[arg(long, global = true, value_name = "N", default_value_t = 0, help_heading = "Common options")]
    pub threads: usize,
}

/// Which warnings are shown.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Warnings {
    /// No warnings
    None,
    /// Warnings of one kind together, where there are many
    Grouped,
    /// Every warning
    All,
}

/// When messages are coloured.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Colour {
    /// Only on a terminal
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// How transition systems are read.
#[derive(Args)]
pub struct Reading {
    /// Another name for the internal action besides `i`, such as mCRL2's `tau`
    #[arg(long, value_name = "NAME")]
    pub tau: Option<String>,
    /// Accept any state numbers, as in counterexamples cut out of a larger system, and renumber the states
    #[arg(long)]
    pub sparse: bool,
}

impl Reading {
    pub fn options(&self) -> AutOptions {
        AutOptions { tau: self.tau.clone(), sparse: self.sparse }
    }

    /// The command line that means the same.
    pub fn arguments(&self) -> Vec<String> {
        let tau = self.tau.iter().flat_map(|name| ["--tau".to_owned(), name.clone()]);
        tau.chain(self.sparse.then(|| "--sparse".to_owned())).collect()
    }
}

/// What happens to a transition system before the command looks at it.
#[derive(Args)]
pub struct Transform {
    /// Make these labels internal: GATE, '"exact label"', or an extended regular expression that matches whole
    /// labels, such as 'SEND !(1|2)'
    #[arg(long, value_name = "LABELS", value_parser = parse_selector, help_heading = "Labels")]
    pub hide: Vec<Selector>,
    /// Make all labels internal except these
    #[arg(long, value_name = "LABELS", value_parser = parse_selector, help_heading = "Labels")]
    pub keep: Vec<Selector>,
    /// Remove the transitions with these labels, and everything that can't be reached without them
    #[arg(long, value_name = "LABELS", value_parser = parse_selector, help_heading = "Labels")]
    pub cut: Vec<Selector>,
    /// Rename labels: 'GATE -> NEW' or, with an extended regular expression, 'SEND (.*) -> PUT $1'
    #[arg(long, value_name = "RULE", value_parser = parse_rename, help_heading = "Labels")]
    pub rename: Vec<(Selector, String)>,
}

impl Transform {
    /// Applies what was asked for to a system, and warns of what chose no label.
    pub fn apply(&self, lts: Lts, terminal: &Terminal) -> Lts {
        let ([lts], warnings) = self.apply_to([lts]);
        terminal.warn(&source::Sources::new(), &warnings);
        lts
    }

    /// Applies what was asked for to systems that belong together: cut, rename, hide, keep. The warnings tell what
    /// chose no label of any of them at its turn.
    pub fn apply_to<const N: usize>(&self, systems: [Lts; N]) -> ([Lts; N], Vec<Diagnostic>) {
        let (systems, mut warnings) = self.cut_only(systems);
        let (systems, more) = self.relabel_only(systems);
        warnings.extend(more);
        (systems, warnings)
    }

    /// The first part of [`Transform::apply_to`]: what is cut.
    pub fn cut_only<const N: usize>(&self, mut systems: [Lts; N]) -> ([Lts; N], Vec<Diagnostic>) {
        let mut warnings = Vec::new();
        if !self.cut.is_empty() {
            warnings.extend(unmatched("--cut", &self.cut, &systems));
            systems = systems.map(|lts| lts.cut(&self.cut));
        }
        (systems, warnings)
    }

    /// The second part: labels change, states stay as they are.
    pub fn relabel_only<const N: usize>(&self, mut systems: [Lts; N]) -> ([Lts; N], Vec<Diagnostic>) {
        let mut warnings = Vec::new();
        if !self.rename.is_empty() {
            let selectors: Vec<Selector> = self.rename.iter().map(|(selector, _)| selector.clone()).collect();
            warnings.extend(unmatched("--rename", &selectors, &systems));
            systems = systems.map(|lts| lts.rename(&self.rename));
        }
        if !self.hide.is_empty() {
            warnings.extend(unmatched("--hide", &self.hide, &systems));
            systems = systems.map(|lts| lts.hide(&self.hide));
        }
        if !self.keep.is_empty() {
            warnings.extend(unmatched("--keep", &self.keep, &systems));
            systems = systems.map(|lts| lts.keep(&self.keep));
        }
        (systems, warnings)
    }
}

fn unmatched(option: &str, selectors: &[Selector], systems: &[Lts]) -> Vec<Diagnostic> {
    let mut labels: Vec<&str> = systems.iter().flat_map(used_labels).collect();
    labels.sort_unstable();
    labels.dedup();
    let warnings = selectors.iter().filter_map(|one| logic::unmatched_selector(option, one, &labels));
    warnings.collect()
}

/// The labels of a system that some transition has.
pub fn used_labels(lts: &Lts) -> Vec<&str> {
    let used = lts.used_labels();
    lts.labels().iter().filter(|(label, _)| used[label.index()]).map(|(_, text)| text).collect()
}

fn parse_selector(text: &str) -> Result<Selector, String> {
    Selector::parse(text).map_err(|error| error.to_string())
}

fn parse_rename(text: &str) -> Result<(Selector, String), String> {
    let (from, to) = text.split_once("->").ok_or("expected `LABELS -> NEW`")?;
    let unquoted = to.trim().trim_matches(['"', '\'']);
    Ok((parse_selector(from)?, unquoted.to_owned()))
}
