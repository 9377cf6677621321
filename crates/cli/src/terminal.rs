//! Where results, messages and progress go.

use std::cell::RefCell;
use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use source::{Diagnostic, Sources};

use crate::arguments::{Colour, Common, Warnings};
use crate::failure::Failure;

/// The user's side of a run: results on standard output, everything else on standard error.
pub struct Terminal {
    /// Results as JSON.
    pub json: bool,
    /// No results, no progress.
    pub quiet: bool,
    /// Coloured messages.
    pub colour: bool,
    /// Coloured results.
    results: bool,
    warnings: Warnings,
    /// The first error in writing results.
    lost: RefCell<Option<io::Error>>,
}

/// The most errors that are shown at once.
const MOST_ERRORS: usize = 20;

impl Terminal {
    pub fn new(common: &Common) -> Self {
        let coloured = |is_terminal: bool| match common.color {
            Colour::Always => true,
            Colour::Never => false,
            Colour::Auto => is_terminal && std::env::var_os("NO_COLOR").is_none(),
        };
        Self {
            json: common.json,
            quiet: common.quiet,
            colour: coloured(io::stderr().is_terminal()),
            results: coloured(io::stdout().is_terminal()),
            warnings: common.warnings,
            lost: RefCell::new(None),
        }
    }

    /// Shows a result. JSON that was asked for is shown in any case.
    pub fn show<T: Display + serde::Serialize>(&self, result: &T) {
        match self.json {
            true => self.print(report::json(result)),
            false if self.quiet => {}
            false => self.print(result),
        }
    }

    /// Writes to standard output; what goes wrong is told at the end ([`Terminal::finish`]).
    fn print(&self, text: impl Display) {
        if let Err(error) = writeln!(io::stdout().lock(), "{text}") {
            self.lost.borrow_mut().get_or_insert(error);
        }
    }

    /// Whether everything has been written. A reader that has gone away (`| head`) is not an error.
    pub fn finish(&self) -> Result<(), Failure> {
        let flushed = io::stdout().lock().flush();
        match self.lost.take().map_or(flushed, Err) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(Failure::wrong(format!("can't write to standard output: {error}")))
            }
            _ => Ok(()),
        }
    }

    /// Shows a picture of a result, which JSON has no place for.
    pub fn show_picture(&self, text: impl Display) {
        if !self.quiet && !self.json {
            self.print(text);
        }
    }

    /// Whether results, not only messages, are coloured.
    pub fn colour_results(&self) -> bool {
        self.results
    }

    /// Shows a remark that is not part of the result.
    pub fn remark(&self, text: impl Display) {
        if !self.quiet {
            let _ = writeln!(io::stderr().lock(), "{text}");
        }
    }

    /// Clears the screen, where there is one, before a result is shown again.
    pub fn clear(&self) {
        if !self.json && io::stdout().is_terminal() {
            self.print("\x1b[2J\x1b[H");
        }
    }

    /// Shows warnings, as many of them as the user wants to see.
    pub fn warn(&self, sources: &Sources, warnings: &[Diagnostic]) {
        if warnings.is_empty() || self.warnings == Warnings::None {
            return;
        }
        let grouped = match self.warnings {
            Warnings::Grouped => sources.grouped(warnings),
            _ => warnings.to_vec(),
        };
        let summed_up = grouped.len() < warnings.len();
        self.remark(sources.render_all(&grouped, self.colour));
        if summed_up {
            self.remark("\n`--warnings all` shows them all, `--warnings none` hides them");
        }
    }

    /// Shows what is wrong where the work goes on all the same.
    pub fn tell(&self, sources: &Sources, diagnostic: &Diagnostic) {
        let _ = writeln!(io::stderr().lock(), "{}", sources.render(diagnostic, self.colour));
    }

    /// Shows why a command failed and gives its exit code.
    pub fn fail(&self, failure: &Failure) -> ExitCode {
        let text = failure.sources.render_first(&failure.diagnostics, MOST_ERRORS, self.colour);
        let _ = writeln!(io::stderr().lock(), "{text}");
        ExitCode::from(failure.code)
    }
}
