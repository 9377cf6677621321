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
