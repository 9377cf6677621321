//! Words of the language, interned once for the whole process.

use std::collections::HashMap;
use std::sync::{LazyLock, RwLock};

/// A word: a token, the name of an operator, a sort or a module.
///
/// Names are compared by number; nothing that is printed may depend on the order of the numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(u32);

#[derive(Default)]
struct Table {
    numbers: HashMap<&'static str, u32>,
    texts: Vec<&'static str>,
}

static TABLE: LazyLock<RwLock<Table>> = LazyLock::new(Default::default);

impl Name {
    /// The name with this text.
    pub fn new(text: &str) -> Self {
        if let Some(&known) = TABLE.read().unwrap_or_else(|poisoned| poisoned.into_inner()).numbers.get(text)
        {
            return Self(known);
        }
        let mut table = TABLE.write().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(&known) = table.numbers.get(text) {
            return Self(known);
        }
        let number = table.texts.len() as u32;
        // Words live as long as the process: there are few, and they are handed out everywhere.
        let kept: &'static str = Box::leak(text.to_owned().into_boxed_str());
        table.texts.push(kept);
        table.numbers.insert(kept, number);
        Self(number)
    }

    /// Its text.
    pub fn text(self) -> &'static str {
        TABLE.read().unwrap_or_else(|poisoned| poisoned.into_inner()).texts[self.0 as usize]
    }

    /// Its number, for nodes of terms.
    pub fn number(self) -> u32 {
        self.0
    }

    /// The name with a number that [`number`](Self::number) gave.
    pub fn from_number(number: u32) -> Self {
        Self(number)
    }
}

/// What a quoted identifier stands for at the meta-level, as far as its characters tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `Nat`, `` List`{Nat`} ``.
    Sort,
    /// `` `[Nat`] ``.
    Kind,
    /// `0.Zero`.
    Constant,
    /// `X:Nat`.
    Variable,
    /// Anything else.
    Other,
}

impl Form {
    /// The form of a name without its quote.
    pub fn of(text: &str) -> Self {
        if is_kind(text) {
            return Self::Kind;
        }
        if is_sort(text) {
            return Self::Sort;
        }
        match split(text) {
            Some((_, ':', _)) => Self::Variable,
            Some(_) => Self::Constant,
            None => Self::Other,
        }
    }
}

/// The name of a constant or variable, the character behind it, and its type.
pub fn split(text: &str) -> Option<(&str, char, &str)> {
    let at = text.rfind(['.', ':']).filter(|&at| at > 0)?;
    let (name, rest) = text.split_at(at);
    let (mark, sort) = rest.split_at(1);
    (is_sort(sort) || is_kind(sort)).then(|| (name, if mark == ":" { ':' } else { '.' }, sort))
}

fn is_kind(text: &str) -> bool {
    let Some(inner) = text.strip_prefix("`[").and_then(|rest| rest.strip_suffix("`]")) else { return false };
    inner.is_empty() || is_list(inner, true)
}

fn is_sort(text: &str) -> bool {
    is_list(text, false)
}

/// A name with arguments in backquoted braces, or several with backquoted commas between them.
fn is_list(text: &str, several: bool) -> bool {
    let mut depth = 0;
    // Whether something stands before the next brace or comma.
    let mut some = false;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '.' | ':' => return false,
            '`' => match chars.next() {
                Some('{') if some => (depth, some) = (depth + 1, false),
                Some('}') if some && depth > 0 => depth -= 1,
                Some(',') if some && (depth > 0 || several) => some = false,
                Some('{' | '}' | ',' | '[' | ']') | None => return false,
                Some(_) => some = true,
            },
            _ => some = true,
        }
    }
    some && depth == 0
}

/// A name of a sort or kind with backquotes before its special characters.
pub fn quoted_sort(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if crate::syntax::lexer::is_special(c) {
            out.push('`');
        }
        out.push(c);
    }
    out
}

impl std::fmt::Debug for Name {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "`{}`", self.text())
    }
}

impl std::fmt::Display for Name {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(self.text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_quoted_identifiers() {
        let all = [
            (Form::Sort, "a a`{b`} a`{b`,c`} a`b + `( a`{b`}`{c`} a`{b`}c a`{b`{c`}`} 1 _+_ f`(a 'a X$Elt"),
            (Form::Kind, "`[a`] `[a`,b`] `[a`{b`}`] `[`]"),
            (
                Form::Constant,
                "a.b a.b.c a:b.c x.`[a`] 'a.Qid \"a.b\".String x.a`{b`,c`} `{_`}.S 1.5.Float `[.S",
            ),
            (Form::Variable, "a:b a:b:c a.b:c x:`[a`] x:a`{b`} x:`[a`,b`] _:_ X:Y$Elt x:y`{z`}w"),
            (Form::Other, ".a a. :a a: `, a`{ `[a a.`[b a:b`{c a`{`} `{_`} : . :: a`{b.c`}"),
        ];
        for (form, texts) in all {
            for text in texts.split(' ') {
                assert_eq!(Form::of(text), form, "{text}");
            }
        }
    }
}
