//! What is different between two values, as short as it can be said: of a long set the element that came, of an array the place
//! that changed. Values are texts with brackets, commas and quotes, whatever language they come from.

/// Values that are shorter together are shown whole.
const SHORT: usize = 24;

/// How a value changed: `0 → 1`, `+ PROMISE (2)` where a set got an element, `BOARD (…, 0 → 3, …)` where a part changed.
pub(super) fn difference(before: &str, after: &str) -> String {
    let whole = || format!("{before} → {after}");
    if before.chars().count() + after.chars().count() <= SHORT {
        return whole();
    }
    let (Some(old), Some(new)) = (Parts::of(before), Parts::of(after)) else { return whole() };
    if old.head != new.head {
        return whole();
    }
    let short = match old.head {
        "{" => old.exchanged(&new),
        _ if old.parts.len() == new.parts.len() => Some(old.changed(&new)),
        _ => None,
    };
    // Where nearly everything is different, the values themselves are clearer.
    short.filter(|short| short.chars().count() < whole().chars().count()).unwrap_or_else(whole)
}

/// A value with brackets.
struct Parts<'a> {
    /// Everything up to the first bracket, with it.
    head: &'a str,
    /// What stands between commas.
    parts: Vec<&'a str>,
    /// The last bracket.
    tail: &'a str,
}

impl<'a> Parts<'a> {
    fn of(text: &'a str) -> Option<Self> {
        let start = text.find(['(', '{', '['])? + 1;
        let end = text.len().checked_sub(1).filter(|&end| end >= start)?;
        let tail = text.get(end..).filter(|tail| matches!(*tail, ")" | "}" | "]"))?;
        let inside = &text[start..end];
        let (mut parts, mut first, mut depth) = (Vec::new(), 0, 0usize);
        let mut quote = None;
        let mut escaped = false;
        for (at, character) in inside.char_indices() {
            match (quote, character) {
                _ if escaped => escaped = false,
                (Some(_), '\\') => escaped = true,
                (Some(open), _) => quote = quote.filter(|_| open != character),
                (None, '"' | '\'') => quote = Some(character),
                (None, '(' | '{' | '[') => depth += 1,
                (None, ')' | '}' | ']') => depth = depth.checked_sub(1)?,
                (None, ',') if depth == 0 => {
                    parts.push(inside[first..at].trim());
                    first = at + 1;
                }
                _ => {}
            }
        }
        if depth > 0 || quote.is_some() {
            return None;
        }
        if !inside.trim().is_empty() {
            parts.push(inside[first..].trim());
        }
        Some(Self { head: &text[..start], parts, tail })
    }

    /// What a list or set lost and got, between what it has kept at both ends.
    fn exchanged(&self, new: &Self) -> Option<String> {
        let (old, new) = (&self.parts, &new.parts);
        let before = old.iter().zip(new).take_while(|(old, new)| old == new).count();
        let rest = old.len().min(new.len()) - before;
        let behind =
            old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(old, new)| old == new).count();
        let lost = old[before..old.len() - behind].iter().map(|part| format!("− {part}"));
        let got = new[before..new.len() - behind].iter().map(|part| format!("+ {part}"));
        let all: Vec<String> = lost.chain(got).collect();
        (!all.is_empty()).then(|| all.join(" "))
    }

    /// The parts that are different, each in its place.
    fn changed(&self, new: &Self) -> String {
        let mut shown: Vec<String> = Vec::new();
        for (old, new) in self.parts.iter().zip(&new.parts) {
            match old == new {
                false => shown.push(difference(old, new)),
                true if shown.last().is_some_and(|last| last == "…") => {}
                true => shown.push("…".into()),
            }
        }
        format!("{}{}{}", self.head, shown.join(", "), self.tail)
    }
}

#[cfg(test)]
mod tests {
    use super::difference;

    #[test]
    fn long_values_are_told_by_what_changed() {
        for (before, after, expected) in [
            ("0", "1", "0 → 1"),
            ("{}", "{RED}", "{} → {RED}"),
            ("{ACK (1), PUT (1, 2)}", "{ACK (1), GET (3), PUT (1, 2)}", "+ GET (3)"),
            ("{ACK (1), PUT (1, 2), X}", "{PUT (1, 2), X}", "− ACK (1)"),
            // As long as the values themselves.
            ("{A (1), B (1, 2)}", "{B (1, 2), B (1, 3)}", "{A (1), B (1, 2)} → {B (1, 2), B (1, 3)}"),
            ("board (0, 0, 0, 0, 0)", "board (0, 0, 3, 0, 0)", "board (…, 0 → 3, …)"),
            (
                "pegs ({1, 2, 3, 4, 5, 6, 7}, {8}, {})",
                "pegs ({2, 3, 4, 5, 6, 7}, {8}, {1})",
                "pegs (− 1, …, {} → {1})",
            ),
            ("NODE (\"a, b\", 'c', 10)", "NODE (\"a, b\", 'c', 11)", "NODE (…, 10 → 11)"),
            ("LEADER (1, TRUE, FALSE)", "FOLLOWER (1, TRUE)", "LEADER (1, TRUE, FALSE) → FOLLOWER (1, TRUE)"),
            (
                "(not closed, 1, 2, 3, 4",
                "(not closed, 1, 2, 3, 5",
                "(not closed, 1, 2, 3, 4 → (not closed, 1, 2, 3, 5",
            ),
        ] {
            assert_eq!(difference(before, after), expected);
        }
    }
}
