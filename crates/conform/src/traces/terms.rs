//! Sequences of terms as they are fed into Maude: `(s1 | s2 | nil) ,` on each line.

use super::{Moment, Said};
use crate::relation::Observed;

/// How deep lists may be put into parentheses.
const MOST_NESTED: usize = 16;

/// A line: a sequence, several of them with commas in between, or nothing.
pub(super) fn said(line: &str, number: u64) -> Result<Vec<Said>, String> {
    let line = line.trim_matches(|letter: char| letter == ',' || letter.is_whitespace());
    if line.is_empty() || line.starts_with("***") || line.starts_with("---") {
        return Ok(Vec::new());
    }
    let mut sequences = Vec::new();
    add(line, number, 0, &mut sequences)?;
    Ok(sequences)
}

/// The states of a line, as far as that can be told.
pub(super) fn split_states(line: &str) -> Vec<&str> {
    let line = line.trim_matches(|letter: char| letter == ',' || letter.is_whitespace());
    match unwrapped(line).or_else(|| signs(line).map(|signs| (line, signs))) {
        Some((inner, signs)) => parts(inner, &signs.bars),
        None => Vec::new(),
    }
}

fn add(text: &str, number: u64, depth: usize, sequences: &mut Vec<Said>) -> Result<(), String> {
    let Some((inner, signs)) = unwrapped(text).or_else(|| signs(text).map(|signs| (text, signs))) else {
        return Err("a bracket has no partner".to_owned());
    };
    if !signs.commas.is_empty() && depth < MOST_NESTED {
        for part in parts(inner, &signs.commas) {
            add(part, number, depth + 1, sequences)?;
        }
        return Ok(());
    }
    let mut states = parts(inner, &signs.bars);
    if states.last() == Some(&"nil") {
        states.pop();
    }
    if let Some(position) = states.iter().position(|state| state.is_empty()) {
        return Err(format!("there is no state at position {position}"));
    }
    let moment = |state: &str| Moment {
        event: None,
        state: Some(Observed::Whole(unwrapped(state).map_or(state, |(inner, _)| inner).to_owned())),
        line: number,
    };
    sequences.push(Said::Sequence(states.into_iter().map(moment).collect()));
    Ok(())
}

/// Where a text can be taken apart, outside of all brackets.
struct Signs {
    commas: Vec<usize>,
    bars: Vec<usize>,
}

/// What is inside of the parentheses around a text, if they belong together.
fn unwrapped(text: &str) -> Option<(&str, Signs)> {
    let inner = text.strip_prefix('(')?.strip_suffix(')')?.trim();
    signs(inner).map(|signs| (inner, signs))
}

fn parts<'t>(text: &'t str, signs: &[usize]) -> Vec<&'t str> {
    let mut parts = Vec::with_capacity(signs.len() + 1);
    let mut start = 0;
    for &sign in signs {
        parts.push(text[start..sign].trim());
        start = sign + 1;
    }
    parts.push(text[start..].trim());
    parts
}

/// What a byte means here.
const MEANING: [u8; 256] = {
    let mut meaning = [0; 256];
    let signs = b"([{)]},|\"`";
    let mut at = 0;
    while at < signs.len() {
        meaning[signs[at] as usize] = at as u8 + 1;
        at += 1;
    }
    meaning
};

/// The commas, and the bars that stand alone; none where brackets have no partners. A backquote takes the meaning from what
/// follows it, and nothing has one in a string.
fn signs(text: &str) -> Option<Signs> {
    let bytes = text.as_bytes();
    let ends =
        |byte: Option<&u8>| byte.is_none_or(|byte| byte.is_ascii_whitespace() || b"()[]{},".contains(byte));
    let mut signs = Signs { commas: Vec::new(), bars: Vec::new() };
    let (mut depth, mut at) = (0i32, 0);
    while at < bytes.len() {
        match MEANING[usize::from(bytes[at])] {
            0 => {}
            1..=3 => depth += 1,
            4..=6 => {
                depth -= 1;
                if depth < 0 {
                    return None;
                }
            }
            7 if depth == 0 => signs.commas.push(at),
            8 if depth == 0
                && ends(at.checked_sub(1).and_then(|before| bytes.get(before)))
                && ends(bytes.get(at + 1)) =>
            {
                signs.bars.push(at);
            }
            9 => {
                at += 1;
                while at < bytes.len() && bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
            }
            10 => at += 1,
            _ => {}
        }
        at += 1;
    }
    (depth == 0).then_some(signs)
}
