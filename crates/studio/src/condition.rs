//! Conditions on states, as a person writes them: `NODE (2).term = 3 and not can VOTE`.
//!
//! A condition is a list of alternatives, joined by `or`; each is a list of tests, joined by `and`, any of them after
//! `not`. A test compares a variable with a value or another variable, or says which label a step out of the state can
//! have: `can SEND`, `can "SEND !1"`, `can 'S.*'`. What separates the states of a choice is written in the same way.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use lts::Selector;
use report::InstanceValues;

/// A condition.
#[derive(Debug)]
pub struct Condition {
    alternatives: Vec<Vec<Test>>,
}

#[derive(Debug)]
struct Test {
    negated: bool,
    what: What,
}

#[derive(Debug)]
enum What {
    /// A step with such a label is possible.
    Can(Selector),
    /// A variable compares with a value or another one.
    Compares(Comparison),
}

#[derive(Debug)]
struct Comparison {
    /// The variable, as it was written.
    name: String,
    operator: Operator,
    other: String,
    /// Whether some state has such a variable.
    found: AtomicBool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Is,
    IsNot,
    Less,
    AtMost,
    More,
    AtLeast,
}

/// How operators are written, longer ones before their beginnings.
const OPERATORS: [(&str, Operator); 11] = [
    ("<=", Operator::AtMost),
    (">=", Operator::AtLeast),
    ("!=", Operator::IsNot),
    ("<>", Operator::IsNot),
    ("==", Operator::Is),
    ("≠", Operator::IsNot),
    ("≤", Operator::AtMost),
    ("≥", Operator::AtLeast),
    ("=", Operator::Is),
    ("<", Operator::Less),
    (">", Operator::More),
];

/// Why a text is no condition.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoCondition {
    /// A part of it is no test.
    #[error("expected a comparison such as `term = 3`, or `can LABEL`, but found {}", quoted(.0))]
    Part(String),
    /// It compares with nothing.
    #[error("`{0}` is compared with nothing")]
    Nothing(String),
    /// Its labels are wrong.
    #[error(transparent)]
    Labels(#[from] lts::SelectorError),
}

fn quoted(text: &str) -> String {
    if text.is_empty() { "nothing".into() } else { format!("`{text}`") }
}

impl Condition {
    /// Reads a condition.
    pub fn parse(text: &str) -> Result<Self, NoCondition> {
        let alternative = |text: &str| split(text, "and").into_iter().map(test).collect();
        let alternatives = split(text, "or").into_iter().map(alternative).collect::<Result<_, _>>()?;
        Ok(Self { alternatives })
    }

    /// Whether it holds for the values of a state; `can` tells whether a step out of it has one of some labels.
    pub fn holds(&self, state: &[InstanceValues], can: &dyn Fn(&Selector) -> bool) -> bool {
        // All tests are looked at, so that every variable that some state has is found.
        let test = |test: &Test| {
            let holds = match &test.what {
                What::Can(labels) => can(labels),
                What::Compares(comparison) => comparison.holds(state),
            };
            holds != test.negated
        };
        let alternative = |tests: &&Vec<Test>| tests.iter().filter(|one| !test(one)).count() == 0;
        self.alternatives.iter().filter(alternative).count() > 0
    }

    /// The variables that no state had which it was asked about.
    pub fn unknown(&self) -> Vec<&str> {
        let compared = self.alternatives.iter().flatten().filter_map(|test| match &test.what {
            What::Compares(comparison) => Some(comparison),
            What::Can(_) => None,
        });
        compared.filter(|one| !one.found.load(Relaxed)).map(|one| one.name.as_str()).collect()
    }

    /// The labels that it names.
    pub fn selectors(&self) -> impl Iterator<Item = &Selector> {
        self.alternatives.iter().flatten().filter_map(|test| match &test.what {
            What::Can(labels) => Some(labels),
            What::Compares(_) => None,
        })
    }
}

impl Comparison {
    fn holds(&self, state: &[InstanceValues]) -> bool {
        let other = variables(state, |full, _| bare(full) == bare(&self.other)).next();
        let wanted = bare(&self.name).to_lowercase();
        // A name without its instance is that of any.
        let named = |full: &str, name: &str| {
            bare(full).to_lowercase() == wanted || bare(name).to_lowercase() == wanted
        };
        let mut any = false;
        for value in variables(state, named) {
            self.found.store(true, Relaxed);
            any |= self.operator.compares(value, other.unwrap_or(&self.other));
        }
        any
    }
}

impl Operator {
    fn compares(self, one: &str, other: &str) -> bool {
        let numbers = one.trim().parse::<i64>().ok().zip(other.trim().parse::<i64>().ok());
        match self {
            Self::Is | Self::IsNot => {
                let same = match numbers {
                    Some((one, other)) => one == other,
                    // Texts in quotation marks are what they are; names are written in any way.
                    None if one.contains('"') => one.trim() == other.trim(),
                    None => bare(one).to_lowercase() == bare(other).to_lowercase(),
                };
                same == (self == Self::Is)
            }
            Self::Less => numbers.is_some_and(|(one, other)| one < other),
            Self::AtMost => numbers.is_some_and(|(one, other)| one <= other),
            Self::More => numbers.is_some_and(|(one, other)| one > other),
            Self::AtLeast => numbers.is_some_and(|(one, other)| one >= other),
        }
    }
}

/// The values of the variables of a state that are wanted by their full name or their own.
fn variables(state: &[InstanceValues], wanted: impl Fn(&str, &str) -> bool) -> impl Iterator<Item = &str> {
    let all = state.iter().flat_map(|part| part.values.iter().map(move |value| (part, value)));
    all.filter(move |(part, value)| {
        let dot = if part.instance.is_empty() { "" } else { "." };
        wanted(&format!("{}{dot}{}", part.instance, value.name), &value.name)
    })
    .map(|(_, value)| value.value.as_str())
}

/// A text without white space: `NODE (2)` is `NODE(2)`.
fn bare(text: &str) -> String {
    text.split_whitespace().collect()
}

fn test(text: &str) -> Result<Test, NoCondition> {
    let text = text.trim();
    if let Some(rest) = after(text, "not") {
        let inner = test(rest)?;
        return Ok(Test { negated: !inner.negated, ..inner });
    }
    if let Some(rest) = after(text, "can") {
        return Ok(Test { negated: false, what: What::Can(Selector::parse(rest)?) });
    }
    let mut found = None;
    outside(text, &mut |at| {
        let written = OPERATORS.iter().find(|(written, _)| text[at..].starts_with(written));
        if found.is_none()
            && let Some(&(written, operator)) = written
        {
            found = Some((at, written, operator));
        }
    });
    let Some((at, written, operator)) = found else { return Err(NoCondition::Part(text.to_owned())) };
    let (name, other) = (text[..at].trim(), text[at + written.len()..].trim());
    if name.is_empty() {
        return Err(NoCondition::Part(text.to_owned()));
    }
    if other.is_empty() {
        return Err(NoCondition::Nothing(name.to_owned()));
    }
    let (name, other, found) = (name.to_owned(), other.to_owned(), AtomicBool::new(false));
    Ok(Test { negated: false, what: What::Compares(Comparison { name, operator, other, found }) })
}

/// What follows a word at the start of a text.
fn after<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let rest = text.strip_prefix(word)?;
    rest.starts_with(|next: char| next.is_whitespace() || next == '"' || next == '\'').then_some(rest)
}

/// The parts of a text between a word that stands alone, outside brackets and quotation marks.
fn split<'t>(text: &'t str, word: &str) -> Vec<&'t str> {
    let mut cuts = Vec::new();
    outside(text, &mut |at| {
        let alone = |next: Option<char>| next.is_none_or(char::is_whitespace);
        let (before, rest) = text.split_at(at);
        if rest.starts_with(word)
            && alone(before.chars().next_back())
            && alone(rest[word.len()..].chars().next())
        {
            cuts.push(at);
        }
    });
    let starts = std::iter::once(0).chain(cuts.iter().map(|&at| at + word.len()));
    let ends = cuts.iter().copied().chain([text.len()]);
    starts.zip(ends).map(|(start, end)| &text[start..end]).collect()
}

/// Calls back for each position outside brackets and quotation marks.
fn outside(text: &str, call: &mut dyn FnMut(usize)) {
    let (mut depth, mut quote) = (0usize, None);
    for (at, next) in text.char_indices() {
        match (quote, next) {
            (Some(open), next) if open == next => quote = None,
            (Some(_), _) => (),
            (None, '"' | '\'') => quote = Some(next),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth = depth.saturating_sub(1),
            (None, _) if depth == 0 => call(at),
            (None, _) => (),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use report::InstanceValue;

    fn state() -> Vec<InstanceValues> {
        let part = |instance: &str, values: &[(&str, &str)]| InstanceValues {
            instance: instance.into(),
            values: values
                .iter()
                .map(|(name, value)| InstanceValue {
                    name: (*name).into(),
                    value: (*value).into(),
                    before: None,
                    changed: false,
                })
                .collect(),
        };
        vec![
            part("NODE (1)", &[("term", "3"), ("voted", "ANA")]),
            part("NODE (2)", &[("term", "12"), ("seen", "{1, 2}"), ("word", "\"a and b\"")]),
        ]
    }

    fn holds(text: &str) -> bool {
        let condition = Condition::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        condition.holds(&state(), &|labels| labels.matches("SEND !1"))
    }

    #[test]
    fn conditions_mean_what_they_say() {
        for text in [
            "NODE (1).term = 3",
            "node(1).TERM == 3",
            "term = 12",
            "term ≥ 12 and voted = Ana",
            "term > 11",
            "NODE (1).term < NODE (2).term",
            "NODE (1).term ≠ NODE (2).term",
            "seen = {1,2}",
            "word = \"a and b\"",
            "can SEND",
            "can \"SEND !1\" and not can RECEIVE",
            "term = 4 or can 'S.*'",
            "not term = 4 and not voted = BOB",
            "not not term = 3",
        ] {
            assert!(holds(text), "{text}");
        }
        for text in
            ["term = 4", "NODE (1).term = 12", "word = \"A and b\"", "can \"SEND\"", "voted < 3", "other = 1"]
        {
            assert!(!holds(text), "{text}");
        }
    }

    #[test]
    fn what_is_no_condition_is_told() {
        let error = |text: &str| Condition::parse(text).unwrap_err().to_string();
        assert!(error("").contains("found nothing"), "{}", error(""));
        assert!(error("term = 3 and").contains("found nothing"));
        assert!(error("term").contains("found `term`"));
        assert!(error("term =").contains("compared with nothing"));
        assert!(error("= 3").contains("found `= 3`"));
        assert!(error("can '('").contains("regular expression"));
        assert!(error("(term = 3").contains("found"), "brackets are those of values");
    }

    #[test]
    fn variables_that_no_state_has_are_known_afterwards() {
        let condition = Condition::parse("term = 4 and trem = 3 or voted = ANA").unwrap();
        condition.holds(&state(), &|_| false);
        assert_eq!(condition.unknown(), ["trem"]);
    }
}
