//! What is wrong, where, why, and what to do about it.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

use crate::sources::{FileId, Sources, Span};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The input can't be used.
    Error,
    /// The input can be used, but something in it is suspicious.
    Warning,
}

/// A span with a few words beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpanLabel {
    /// Where.
    pub span: Span,
    /// What to say there; may be empty.
    pub text: String,
}

/// One message to the user. The first label is the primary one: its position is the diagnostic's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// One sentence, lower case, no full stop.
    pub message: String,
    /// Where, the primary place first.
    pub labels: Vec<SpanLabel>,
    /// Facts that help to understand the message.
    pub notes: Vec<String>,
    /// What to do.
    pub helps: Vec<String>,
    /// What several messages of this kind say together, after their number: "variables are never read".
    pub several: Option<&'static str>,
}

impl Diagnostic {
    /// A new error.
    pub fn error(message: impl Into<String>) -> Self {
        Self::new(Severity::Error, message)
    }

    /// A new warning.
    pub fn warning(message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, message)
    }

    fn new(severity: Severity, message: impl Into<String>) -> Self {
        Self {
            severity,
            message: message.into(),
            labels: Vec::new(),
            notes: Vec::new(),
            helps: Vec::new(),
            several: None,
        }
    }

    /// Adds a place; the first one added is the primary one.
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(SpanLabel { span, text: text.into() });
        self
    }

    /// Adds a fact.
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// Adds a hint.
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.helps.push(text.into());
        self
    }

    /// Adds a hint where there is one.
    pub fn maybe_help(self, text: Option<impl Into<String>>) -> Self {
        match text {
            Some(text) => self.help(text),
            None => self,
        }
    }

    /// Says what many messages of this kind can be summed up with, after their number.
    pub fn several(mut self, text: &'static str) -> Self {
        self.several = Some(text);
        self
    }

    /// Whether this stops the run.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// The primary place.
    pub fn span(&self) -> Option<Span> {
        self.labels.first().map(|label| label.span)
    }
}

impl Sources {
    /// A diagnostic as text for people, with the source lines it speaks of; `colour` adds ANSI styles.
    pub fn render(&self, diagnostic: &Diagnostic, colour: bool) -> String {
        let level = match diagnostic.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let mut files: Vec<FileId> = Vec::new();
        for label in &diagnostic.labels {
            if !files.contains(&label.span.file) {
                files.push(label.span.file);
            }
        }
        let mut group =
            level.primary_title(diagnostic.message.as_str()).elements(files.iter().map(|&file| {
                let of_file =
                    diagnostic.labels.iter().enumerate().filter(|(_, label)| label.span.file == file);
                Snippet::source(self.text(file))
                    .path(self.name(file))
                    .line_start(self.first_line(file))
                    .annotations(of_file.map(|(index, label)| {
                        let kind = if index == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
                        let text = (!label.text.is_empty()).then_some(label.text.as_str());
                        kind.span(self.clamp(label.span)).label(text)
                    }))
            }));
        for note in &diagnostic.notes {
            group = group.element(Level::NOTE.message(note.as_str()));
        }
        for help in &diagnostic.helps {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
        renderer.render(&[group])
    }

    /// Renders several diagnostics, a blank line between two, in the order of their positions.
    pub fn render_all(&self, diagnostics: &[Diagnostic], colour: bool) -> String {
        self.render_first(diagnostics, usize::MAX, colour)
    }

    /// Renders as many diagnostics as asked for, errors first where not all are shown, and says how many there are more.
    pub fn render_first(&self, diagnostics: &[Diagnostic], most: usize, colour: bool) -> String {
        let mut sorted: Vec<&Diagnostic> = diagnostics.iter().collect();
        sorted.sort_by_key(|diagnostic| {
            (diagnostics.len() > most && !diagnostic.is_error(), diagnostic.span())
        });
        let hidden = sorted.split_off(most.min(sorted.len()));
        let mut rendered: Vec<String> = sorted.into_iter().map(|one| self.render(one, colour)).collect();
        for (severity, word) in [(Severity::Error, "error"), (Severity::Warning, "warning")] {
            let count = hidden.iter().filter(|one| one.severity == severity).count();
            if count > 0 {
                let plural = if count == 1 { "" } else { "s" };
                rendered.push(format!("{count} more {word}{plural}"));
            }
        }
        rendered.join("\n\n")
    }

    /// Diagnostics with those of one kind summed up, where there are more than two of it: the first one's place is
    /// shown, the next ones are named.
    pub fn grouped(&self, diagnostics: &[Diagnostic]) -> Vec<Diagnostic> {
        const FEW: usize = 2;
        const NAMED: usize = 3;
        let mut sorted: Vec<&Diagnostic> = diagnostics.iter().collect();
        sorted.sort_by_key(|diagnostic| diagnostic.span());
        let mut groups: Vec<Vec<&Diagnostic>> = Vec::new();
        for diagnostic in sorted {
            let kind = diagnostic.several;
            match groups.iter_mut().find(|group| kind.is_some() && group[0].several == kind) {
                Some(group) => group.push(diagnostic),
                None => groups.push(vec![diagnostic]),
            }
        }
        let mut shown = Vec::new();
        for group in groups {
            let (first, Some(several)) = (group[0], group[0].several.filter(|_| group.len() > FEW)) else {
                shown.extend(group.into_iter().cloned());
                continue;
            };
            let place = |span: Span| format!("{}:{}", self.name(span.file), self.position(span).line);
            let mut places: Vec<String> = group.iter().filter_map(|one| one.span()).map(place).collect();
            places.dedup();
            let others = places.split_off(1.min(places.len()));
            let mut note = match others.is_empty() {
                true => "all on the same line".to_owned(),
                false => format!("also at {}", others[..others.len().min(NAMED)].join(", ")),
            };
            if others.len() > NAMED {
                let more = others.len() - NAMED;
                note += &format!(" and {more} more {}", if more == 1 { "place" } else { "places" });
            }
            let mut summary = Diagnostic::new(first.severity, format!("{} {several}", group.len()));
            summary.labels.extend(
                first.labels.first().map(|label| SpanLabel {
                    span: label.span,
                    text: format!("the first: {}", first.message),
                }),
            );
            shown.push(summary.note(note));
        }
        shown
    }

    /// A byte range that the renderer can slice the text with, whatever the span says.
    fn clamp(&self, span: Span) -> std::ops::Range<usize> {
        let text = self.text(span.file);
        let floor = |offset: u32| {
            let mut offset = (offset as usize).min(text.len());
            while !text.is_char_boundary(offset) {
                offset -= 1;
            }
            offset
        };
        let start = floor(span.start);
        start..floor(span.end).max(start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renders_position_cause_and_hint() {
        let mut sources = Sources::new();
        let file = sources.add("m.lnt", "x := y;\n");
        let y = sources.span_of(file, "y").unwrap();
        let x = sources.span_of(file, "x").unwrap();
        let error = Diagnostic::error("type mismatch")
            .label(y, "expected nat, found bool")
            .label(x, "because of this")
            .note("nat and bool are different types")
            .help("write a number");
        let expected = "\
error: type mismatch
 --> m.lnt:1:6
  |
1 | x := y;
  | -    ^ expected nat, found bool
  | |
  | because of this
  |
  = note: nat and bool are different types
  = help: write a number";
        assert_eq!(sources.render(&error, false), expected);
    }

    #[test]
    fn many_of_one_kind_are_summed_up_and_many_errors_counted() {
        let mut sources = Sources::new();
        let file = sources.add("m.lnt", "a\nb\nc\nd\ne\nf\n");
        let at = |line: u32| Span { file, start: 2 * line, end: 2 * line + 1 };
        let unread = |line| {
            Diagnostic::warning(format!("variable {line} is never read"))
                .label(at(line), "not read")
                .several("variables are never read")
        };
        let mut all: Vec<Diagnostic> = (0..5).rev().map(unread).collect();
        all.push(Diagnostic::warning("something else").label(at(5), "here"));
        let grouped = sources.grouped(&all);
        let messages: Vec<&str> = grouped.iter().map(|one| one.message.as_str()).collect();
        assert_eq!(messages, ["5 variables are never read", "something else"]);
        assert_eq!(grouped[0].notes, ["also at m.lnt:2, m.lnt:3, m.lnt:4 and 1 more place"]);
        assert_eq!(grouped[0].span(), Some(at(0)));
        // Two are still told one by one.
        assert_eq!(sources.grouped(&all[3..]).len(), 3);
        let errors: Vec<Diagnostic> =
            (0..5).map(|line| Diagnostic::error("wrong").label(at(line), "")).chain(all).collect();
        let rendered = sources.render_first(&errors, 3, false);
        assert_eq!(rendered.matches("error: wrong").count(), 3);
        assert!(rendered.ends_with("2 more errors\n\n6 more warnings"), "{rendered}");
    }

    #[test]
    fn a_span_past_the_end_is_rendered_at_the_end() {
        let mut sources = Sources::new();
        let file = sources.add("m.lnt", "é");
        let error = Diagnostic::error("end of file").label(Span { file, start: 1, end: 90 }, "here");
        assert!(sources.render(&error, false).contains("m.lnt:1"));
    }
}
