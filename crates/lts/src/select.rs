//! Choosing labels: by gate, by exact text, or by regular expression.

use std::fmt;

use regex::{Regex, RegexBuilder};

use crate::label::gate;

/// A way to name labels.
#[derive(Clone, Debug)]
pub enum Selector {
    /// Every label with this gate, whatever its offers.
    Gate(String),
    /// The one label with this text.
    Exact(String),
    /// Every label that the expression matches from its first to its last character.
    Pattern(Regex),
}

/// A selector that could not be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SelectorError {
    /// The regular expression is wrong or too large.
    #[error("invalid regular expression `{pattern}`: {reason}")]
    Regex {
        /// The expression.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
    /// There is nothing between the separators.
    #[error("expected a gate, a \"label\" or a 'regular expression', but the text is empty")]
    Empty,
}

impl Selector {
    /// Says so if none of some labels is selected, for the option or operator that it belongs to.
    pub fn unmatched(&self, option: &str, labels: &[&str]) -> Option<source::Diagnostic> {
        if labels.iter().any(|label| self.matches(label)) {
            return None;
        }
        let (what, near) = match self {
            Selector::Gate(name) => {
                let gates = labels.iter().map(|label| crate::label::gate(label));
                let near = source::closest(name, gates).map(|gate| format!("did you mean `{gate}`?"));
                ("no label has this gate", near)
            }
            Selector::Exact(text) => {
                let near = source::closest(text, labels.iter().copied());
                ("there is no such label", near.map(|label| format!("did you mean \"{label}\"?")))
            }
            Selector::Pattern(_) => ("this pattern matches no label", None),
        };
        Some(source::Diagnostic::warning(format!("{option} {self}: {what}")).maybe_help(near))
    }

    /// Reads a selector: `GATE`, `"exact label"`, `'regular expression'`. Text that is none of these, such as
    /// `SEND.*`, is taken as a regular expression: on a command line the shell has eaten the quotes.
    ///
    /// ```
    /// use lts::Selector;
    /// assert!(Selector::parse("SEND")?.matches("SEND !1"));
    /// assert!(Selector::parse("\"SEND !1\"")?.matches("SEND !1"));
    /// assert!(!Selector::parse("\"SEND\"")?.matches("SEND !1"));
    /// assert!(Selector::parse("'S.* ![0-9]+'")?.matches("SEND !12"));
    /// assert!(Selector::parse("SEND.*")?.matches("SEND !1"));
    /// # Ok::<(), lts::SelectorError>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, SelectorError> {
        let text = text.trim();
        let quoted = |quote: char| {
            text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)).filter(|_| text.len() > 1)
        };
        if text.is_empty() {
            Err(SelectorError::Empty)
        } else if let Some(label) = quoted('"') {
            Ok(Self::Exact(label.to_owned()))
        } else if let Some(pattern) = quoted('\'') {
            Self::pattern(pattern)
        } else if text.chars().all(|c| c.is_alphanumeric() || c == '_') {
            Ok(Self::Gate(text.to_owned()))
        } else {
            Self::pattern(text)
        }
    }

    /// A regular expression, matched on whole labels.
    pub fn pattern(pattern: &str) -> Result<Self, SelectorError> {
        whole_label_regex(pattern).map(Self::Pattern)
    }

    /// Whether a label is chosen.
    pub fn matches(&self, label: &str) -> bool {
        match self {
            Self::Gate(name) => gate(label) == name,
            Self::Exact(text) => label == text,
            Self::Pattern(regex) => regex.is_match(label),
        }
    }

    /// The label that `label` becomes when this selector is renamed to `to`, if it is chosen at all.
    pub fn rename(&self, label: &str, to: &str) -> Option<String> {
        match self {
            _ if !self.matches(label) => None,
            Self::Gate(name) => Some(format!("{to}{}", &label[name.len()..])),
            Self::Exact(_) => Some(to.to_owned()),
            Self::Pattern(regex) => Some(regex.replace(label, to).into_owned()),
        }
    }
}

/// As it is written, without the anchors that were added.
impl fmt::Display for Selector {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gate(name) => out.write_str(name),
            Self::Exact(text) => write!(out, "\"{text}\""),
            Self::Pattern(regex) => {
                let text = regex.as_str();
                out.write_str(
                    text.strip_prefix(OPENING).and_then(|text| text.strip_suffix(CLOSING)).unwrap_or(text),
                )
            }
        }
    }
}

/// What is put around an expression so that it matches whole labels.
const OPENING: &str = "^(?:";
const CLOSING: &str = ")$";

/// Compiles an expression so that it must match a label from its first to its last character. Size and nesting
/// are bounded, and matching takes time linear in the label, so no expression can hang or exhaust memory.
///
/// ```
/// let expression = lts::whole_label_regex("GAME .* !1")?;
/// assert!(expression.is_match("GAME !2 !1"));
/// assert!(!expression.is_match("GAME !2 !1 !ROCK"));
/// # Ok::<(), lts::SelectorError>(())
/// ```
pub fn whole_label_regex(pattern: &str) -> Result<Regex, SelectorError> {
    let wrong = |error: regex::Error| SelectorError::Regex {
        pattern: pattern.to_owned(),
        reason: match error {
            regex::Error::Syntax(text) => last_line(&text),
            other => other.to_string(),
        },
    };
    let build = |text: &str| RegexBuilder::new(text).size_limit(1 << 22).nest_limit(100).build();
    // Compiled alone first: an error is then told of the user's own text, and `a)(b` can't escape the group.
    build(pattern).map_err(wrong)?;
    build(&format!("{OPENING}{pattern}{CLOSING}")).map_err(wrong)
}

/// The regex crate explains itself over several lines, the last of which says what is wrong.
fn last_line(text: &str) -> String {
    let line = text.lines().last().unwrap_or(text);
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renaming_keeps_the_offers_of_a_gate_and_the_groups_of_a_pattern() {
        let rename =
            |selector: &str, label: &str, to: &str| Selector::parse(selector).unwrap().rename(label, to);
        assert_eq!(rename("A", "A !1 !2", "B").as_deref(), Some("B !1 !2"));
        assert_eq!(rename("\"A !1\"", "A !1", "B").as_deref(), Some("B"));
        assert_eq!(rename("'A !(.) !(.)'", "A !1 !2", "B !$2").as_deref(), Some("B !2"));
        assert_eq!(rename("A", "AB !1", "B"), None);
    }

    #[test]
    fn wrong_selectors_say_why() {
        assert_eq!(Selector::parse("  ").unwrap_err(), SelectorError::Empty);
        let error = Selector::parse("'a(b'").unwrap_err().to_string();
        assert_eq!(error, "invalid regular expression `a(b`: unclosed group");
        assert!(Selector::parse("a)(b").is_err());
        assert!(Selector::parse("'((((a{99}){99}){99}){99})'").is_err());
        assert!(Selector::parse(&"(".repeat(100_000)).is_err());
    }
}
