//! Where results, messages and progress go.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use source::{Diagnostic, Sources};

use crate::arguments::{Colour, Common};
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
}

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
        }
    }

    /// Shows a result. A reader that has gone away is not an error.
    pub fn show<T: Display + serde::Serialize>(&self, result: &T) {
        if !self.quiet {
            let mut out = io::stdout().lock();
            let _ = match self.json {
                true => writeln!(out, "{}", report::json(result)),
                false => writeln!(out, "{result}"),
            };
        }
    }

    /// Shows a picture of a result, which JSON has no place for.
    pub fn show_picture(&self, text: impl Display) {
        if !self.quiet && !self.json {
            let _ = writeln!(io::stdout().lock(), "{text}");
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

    /// Shows warnings that speak of no source text.
    pub fn warn(&self, warnings: &[Diagnostic]) {
        if !warnings.is_empty() {
            self.remark(Sources::new().render_all(warnings, self.colour));
        }
    }

    /// Shows why a command failed and gives its exit code.
    pub fn fail(&self, failure: &Failure) -> ExitCode {
        let text = failure.sources.render_all(&failure.diagnostics, self.colour);
        let _ = writeln!(io::stderr().lock(), "{text}");
        ExitCode::from(failure.code)
    }
}

/// The most memory that this process has used so far, where the system tells.
pub fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}
