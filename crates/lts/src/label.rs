//! Labels: interned text, split into gate and offers on demand.

use std::hash::{BuildHasher, Hasher};

use rustc_hash::FxBuildHasher;

use crate::ids::LabelId;

/// How the internal action is written.
pub const TAU_TEXT: &str = "i";

/// A table of distinct labels. Label 0 is always the internal action `i`.
///
/// Texts lie end to end in one string, and the hash table holds 4-byte ids only, so a table of millions of
/// labels costs little more than their text.
///
/// ```
/// let mut labels = lts::Labels::new();
/// let game = labels.intern("GAME !1 !2 !ROCK");
/// assert_eq!(labels.intern("GAME !1 !2 !ROCK"), game);
/// assert_eq!(labels.text(game), "GAME !1 !2 !ROCK");
/// assert!(labels.intern("i").is_tau());
/// ```
#[derive(Clone)]
pub struct Labels {
    text: String,
    ends: Vec<usize>,
    /// Open addressing over ids + 1, 0 for a free place; the length is a power of two.
    table: Vec<u32>,
}

impl Default for Labels {
    fn default() -> Self {
        Self::new()
    }
}

impl Labels {
    /// A table that holds the internal action only.
    pub fn new() -> Self {
        let mut labels = Self { text: String::new(), ends: Vec::new(), table: vec![0; 16] };
        labels.intern(TAU_TEXT);
        labels
    }

    /// How many labels there are, the internal action included.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Never: the internal action is always there.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The text of a label.
    pub fn text(&self, label: LabelId) -> &str {
        let index = label.index();
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.text[start..self.ends[index]]
    }

    /// The label with this text, if there is one.
    pub fn find(&self, text: &str) -> Option<LabelId> {
        match self.table[self.place(text)] {
            0 => None,
            id => Some(LabelId::from_raw(id - 1)),
        }
    }

    /// The label with this text, added if it is new.
    pub fn intern(&mut self, text: &str) -> LabelId {
        let place = self.place(text);
        if let Some(id) = self.table[place].checked_sub(1) {
            return LabelId::from_raw(id);
        }
        let id = LabelId::new(self.ends.len());
        self.text.push_str(text);
        self.ends.push(self.text.len());
        self.table[place] = id.raw() + 1;
        if self.ends.len() * 2 > self.table.len() {
            self.grow();
        }
        id
    }

    /// All labels in order, the internal action first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (LabelId, &str)> {
        (0..self.len()).map(|index| (LabelId::new(index), self.text(LabelId::new(index))))
    }

    /// The place of `text` in the hash table, or the free place where it belongs.
    fn place(&self, text: &str) -> usize {
        let mask = self.table.len() - 1;
        let mut place = hash(text) & mask;
        loop {
            match self.table[place] {
                0 => return place,
                id if self.text(LabelId::from_raw(id - 1)) == text => return place,
                _ => place = (place + 1) & mask,
            }
        }
    }

    fn grow(&mut self) {
        let mask = self.table.len() * 2 - 1;
        let mut table = vec![0; mask + 1];
        for (id, text) in self.iter() {
            let mut place = hash(text) & mask;
            while table[place] != 0 {
                place = (place + 1) & mask;
            }
            table[place] = id.raw() + 1;
        }
        self.table = table;
    }
}

fn hash(text: &str) -> usize {
    let mut hasher = FxBuildHasher.build_hasher();
    hasher.write(text.as_bytes());
    hasher.finish() as usize
}

/// The gate of a label: its text up to the first offer.
///
/// ```
/// assert_eq!(lts::gate("GAME !1 !2"), "GAME");
/// assert_eq!(lts::gate("SEND (1, 2)"), "SEND");
/// assert_eq!(lts::gate("i"), "i");
/// ```
pub fn gate(label: &str) -> &str {
    let end = label.find([' ', '\t', '!', '(']).unwrap_or(label.len());
    &label[..end]
}

/// The offers of a label, in order: the parts behind each ` !` outside quotes and brackets.
///
/// ```
/// assert_eq!(lts::offers("GAME !1 !PAIR (A, \"b !c\") !{1, 2}"), ["1", "PAIR (A, \"b !c\")", "{1, 2}"]);
/// assert!(lts::offers("TICK").is_empty());
/// ```
pub fn offers(label: &str) -> Vec<&str> {
    let mut offers = Vec::new();
    let mut start = None;
    let (mut depth, mut quoted, mut escaped) = (0usize, false, false);
    for (at, byte) in label.bytes().enumerate() {
        if quoted {
            quoted = escaped || byte != b'"';
            escaped = byte == b'\\' && !escaped;
            continue;
        }
        match byte {
            b'"' => quoted = true,
            b'(' | b'{' | b'[' => depth += 1,
            b')' | b'}' | b']' => depth = depth.saturating_sub(1),
            b'!' if depth == 0 => {
                if let Some(start) = start {
                    offers.push(label[start..at].trim());
                }
                start = Some(at + 1);
            }
            _ => {}
        }
    }
    if let Some(start) = start {
        offers.push(label[start..].trim());
    }
    offers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interning_many_labels_keeps_ids_and_texts() {
        let mut labels = Labels::new();
        let ids: Vec<LabelId> = (0..10_000).map(|n| labels.intern(&format!("A !{n}"))).collect();
        for (n, &id) in ids.iter().enumerate() {
            assert_eq!(labels.text(id), format!("A !{n}"));
            assert_eq!(labels.find(&format!("A !{n}")), Some(id));
        }
        assert_eq!(labels.len(), 10_001);
        assert_eq!(labels.find("B"), None);
    }

    #[test]
    fn offers_of_odd_labels_do_not_panic() {
        assert_eq!(offers("A !\"unclosed"), ["\"unclosed"]);
        assert_eq!(offers("A !) !1"), [")", "1"]);
        assert_eq!(offers("!x"), ["x"]);
        assert_eq!(offers(""), Vec::<&str>::new());
    }
}
