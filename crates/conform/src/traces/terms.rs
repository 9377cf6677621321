//! Sequences of terms as they are fed into Maude: `(s1 | s2 | nil) ,` on each line.

use super::{Moment, Said};
use crate::relation::Observed;

/// A line: a sequence, or nothing.
pub(super) fn said(line: &str, number: u64) -> Result<Vec<Said>, String> {
    let line = line.trim_end_matches(|letter: char| letter == ',' || letter.is_whitespace());
    let line = line.trim_start_matches(|letter: char| letter == ',' || letter.is_whitespace());
    if line.is_empty() || line.starts_with("***") || line.starts_with("---") {
        return Ok(Vec::new());
    }
    let mut sequences = Vec::new();
    for sequence in split(line, b',').ok_or("a bracket has no partner")? {
        let inner = without_brackets(sequence.trim());
        let states = split(inner, b'|').ok_or("a bracket has no partner")?;
        let mut states: Vec<&str> = states.into_iter().map(str::trim).collect();
        if states.last() == Some(&"nil") {
            states.pop();
        }
        if let Some(position) = states.iter().position(|state| state.is_empty()) {
            return Err(format!("there is no state at position {position}"));
        }
        let moment = |state: &str| Moment {
            event: None,
            state: Some(Observed::Whole(without_brackets(state).to_owned())),
            line: number,
        };
        sequences.push(Said::Sequence(states.into_iter().map(moment).collect()));
    }
    Ok(sequences)
}

/// The states of a line, as far as that can be told.
pub(crate) fn split_states(line: &str) -> Vec<&str> {
    split(without_brackets(line), b'|').unwrap_or_default()
}

/// A text without the parentheses around it, if they belong together.
fn without_brackets(text: &str) -> &str {
    let mut text = text.trim();
    // More than that nobody writes, and looking takes time for each.
    for _ in 0..8 {
        let Some(inner) = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) else { break };
        let mut depth = 0i32;
        let belong = outside_of_strings(inner).all(|(_, byte)| {
            depth += i32::from(byte == b'(') - i32::from(byte == b')');
            depth >= 0
        });
        if !belong {
            break;
        }
        text = inner.trim();
    }
    text
}

/// The parts between a sign that stands alone, outside of all brackets; none where brackets have no partners.
fn split(text: &str, sign: u8) -> Option<Vec<&str>> {
    let bytes = text.as_bytes();
    let separates = |at: usize| {
        let ends = |byte: Option<&u8>| {
            byte.is_none_or(|byte| byte.is_ascii_whitespace() || b"()[]{},".contains(byte))
        };
        sign == b','
            || (ends(at.checked_sub(1).and_then(|before| bytes.get(before))) && ends(bytes.get(at + 1)))
    };
    let (mut parts, mut depth, mut start) = (Vec::new(), 0i32, 0);
    for (at, byte) in outside_of_strings(text) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            _ if byte == sign && depth == 0 && separates(at) => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
        if depth < 0 {
            return None;
        }
    }
    parts.push(&text[start..]);
    (depth == 0).then_some(parts)
}

/// The bytes that are not in strings, with their places. A backquote takes the meaning from what follows it.
fn outside_of_strings(text: &str) -> impl Iterator<Item = (usize, u8)> {
    let (mut quoted, mut escaped) = (false, false);
    text.bytes().enumerate().filter(move |&(_, byte)| {
        if std::mem::take(&mut escaped) {
            return false;
        }
        match byte {
            b'"' => {
                quoted = !quoted;
                false
            }
            b'\\' if quoted => {
                escaped = true;
                false
            }
            b'`' if !quoted => {
                escaped = true;
                false
            }
            _ => !quoted,
        }
    })
}
