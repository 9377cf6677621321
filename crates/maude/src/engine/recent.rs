//! Results of calls that took some work, kept for a while: terms are stored once, so a call is known by a few numbers.
//!
//! A call that is found counts as many rewrites as it took at first.

use crate::signature::SymbolId;
use crate::terms::TermId;

/// The largest number of arguments of calls that are kept.
pub const MOST_ARGUMENTS: usize = 3;

/// How many pairs of places there are: they should stay in the cache of a processor.
const PAIRS: usize = 2048;

/// How often results are looked for in vain until it is given up.
const PATIENCE: u16 = 2000;

/// Calls that take fewer rewrites are not kept.
pub const LEAST_COST: u32 = 16;

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    /// The operator plus one and the arguments.
    key: [u32; 1 + MOST_ARGUMENTS],
    result: u32,
    cost: u32,
    /// What it is worth: its cost, and less the longer nobody asks for it.
    weight: u32,
}

/// The calls that are kept, in pairs of places: the first one of each is for what is worth more.
#[derive(Debug)]
pub struct Recent {
    entries: Vec<Entry>,
    /// How often the results of each operator may still be looked for in vain.
    patience: Vec<u16>,
}

fn key_of(symbol: SymbolId, arguments: &[TermId]) -> [u32; 1 + MOST_ARGUMENTS] {
    let mut key = [0; 1 + MOST_ARGUMENTS];
    key[0] = symbol.0 + 1;
    for (place, argument) in key[1..].iter_mut().zip(arguments) {
        *place = argument.0;
    }
    key
}

fn pair_of(key: &[u32; 1 + MOST_ARGUMENTS]) -> usize {
    let one = u64::from(key[0]) | u64::from(key[1]) << 32;
    let two = u64::from(key[2]) | u64::from(key[3]) << 32;
    let product =
        (one ^ two.rotate_left(23).wrapping_mul(0xD6E8_FEB8_6659_FD93)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (product >> 40) as usize % PAIRS * 2
}

impl Recent {
    /// For so many operators.
    pub fn new(symbols: usize) -> Self {
        Self { entries: Vec::new(), patience: vec![PATIENCE; symbols] }
    }

    /// Whether results of an operator are worth looking for.
    #[inline]
    pub fn is_useful(&self, symbol: SymbolId) -> bool {
        self.patience[symbol.0 as usize] > 0
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// The result of a call and how many rewrites it took.
    #[inline]
    pub fn find(&mut self, symbol: SymbolId, arguments: &[TermId]) -> Option<(TermId, u32)> {
        let unknown = self.entries.is_empty() || !self.is_useful(symbol);
        if unknown || arguments.len() > MOST_ARGUMENTS {
            return None;
        }
        let key = key_of(symbol, arguments);
        let pair = pair_of(&key);
        let patience = &mut self.patience[symbol.0 as usize];
        let Some(found) = self.entries[pair..pair + 2].iter().find(|entry| entry.key == key) else {
            *patience -= 1;
            return None;
        };
        *patience = PATIENCE;
        Some((TermId(found.result), found.cost))
    }

    /// Keeps the result of a call.
    #[inline]
    pub fn keep(&mut self, symbol: SymbolId, arguments: &[TermId], result: TermId, cost: u32) {
        if cost >= LEAST_COST {
            self.put(key_of(symbol, arguments), result, cost);
        }
    }

    fn put(&mut self, key: [u32; 1 + MOST_ARGUMENTS], result: TermId, cost: u32) {
        if self.entries.is_empty() {
            self.entries.resize(2 * PAIRS, Entry::default());
        }
        let pair = pair_of(&key);
        let entry = Entry { key, result: result.0, cost, weight: cost };
        let first = &mut self.entries[pair];
        if cost >= first.weight || first.key == key {
            let before = std::mem::replace(first, entry);
            self.entries[pair + 1] = before;
        } else {
            first.weight -= first.weight / 16;
            self.entries[pair + 1] = entry;
        }
    }
}
