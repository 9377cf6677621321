//! How commands end: with an answer, or with a failure that the user can act on.

use std::process::ExitCode;

use source::{Diagnostic, Sources};

/// What a command that worked has to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Fine: exit code 0.
    Yes,
    /// The answer is no: exit code 1.
    No,
    /// A limit was hit; what was shown is partial: exit code 3.
    Partial,
}

impl From<Answer> for ExitCode {
    fn from(answer: Answer) -> Self {
        match answer {
            Answer::Yes => ExitCode::SUCCESS,
            Answer::No => ExitCode::from(1),
            Answer::Partial => ExitCode::from(3),
        }
    }
}

/// Why a command could not do its work.
pub struct Failure {
    /// 2 for wrong input, 3 for a limit.
    pub code: u8,
    /// What to show, with the sources it speaks of.
    pub diagnostics: Vec<Diagnostic>,
    /// The sources.
    pub sources: Sources,
}

impl Failure {
    /// Wrong input, told in a sentence.
    pub fn wrong(message: impl Into<String>) -> Self {
        Self { code: 2, diagnostics: vec![Diagnostic::error(message)], sources: Sources::new() }
    }

    /// A limit that leaves nothing to show.
    pub fn limit(message: impl Into<String>) -> Self {
        Self { code: 3, ..Self::wrong(message) }
    }

    /// Adds a hint to the last message.
    pub fn help(mut self, text: impl Into<String>) -> Self {
        if let Some(diagnostic) = self.diagnostics.last_mut() {
            diagnostic.helps.push(text.into());
        }
        self
    }

    /// Adds the hints of warnings to the last message.
    pub fn help_of(self, warnings: &[Diagnostic]) -> Self {
        warnings.iter().flat_map(|warning| &warning.helps).fold(self, |failure, help| failure.help(help))
    }
}

impl From<lts::FileError> for Failure {
    fn from(error: lts::FileError) -> Self {
        // Writing into a pipe whose reader has gone is no news to anybody.
        Self::wrong(error.to_string())
    }
}

impl From<languages::CantOpen> for Failure {
    fn from(error: languages::CantOpen) -> Self {
        Self { code: 2, diagnostics: error.diagnostics, sources: error.sources }
    }
}

impl From<Diagnostic> for Failure {
    fn from(diagnostic: Diagnostic) -> Self {
        Self { code: 2, diagnostics: vec![diagnostic], sources: Sources::new() }
    }
}

impl From<lts::Stopped> for Failure {
    fn from(stopped: lts::Stopped) -> Self {
        Self::limit(stopped.to_string())
    }
}

impl From<lts::TooLarge> for Failure {
    fn from(error: lts::TooLarge) -> Self {
        Self::limit(error.to_string())
    }
}

impl From<bisim::Error> for Failure {
    fn from(error: bisim::Error) -> Self {
        Self::limit(error.to_string()).help("raise the limit with --max-states")
    }
}
