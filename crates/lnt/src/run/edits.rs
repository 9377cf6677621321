//! What becomes of a list that gets an element or loses its first one, remembered: the same happens in many states. Finding that
//! here takes one look; making the new row and looking it up takes several. For sets it did not pay: they are changed in too many
//! ways.

use model::LocalRows;

/// A change of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// A word comes before all others.
    Cons,
    /// A word comes behind all others.
    Append,
    /// As many words as the number that goes with it are taken away in front.
    Tail,
    /// An element is taken away that begins with the word of that number. Rows themselves remember that.
    Without,
}

impl Change {
    /// All of them, in order.
    pub const ALL: [Change; 4] = [Change::Cons, Change::Append, Change::Tail, Change::Without];
}

/// Of rows up to this number, it is known by their numbers which rows are left without their first words.
pub const MOST_TAILS: usize = 1 << 20;

/// A change with its result.
#[derive(Clone, Copy)]
struct Edit {
    row: u32,
    word: u32,
    change: Option<Change>,
    result: u32,
}

const NOTHING: Edit = Edit { row: 0, word: 0, change: None, result: 0 };

/// How many are remembered, a power of two; a newer one takes an older one's place.
const MEMORY: usize = 1 << 15;
/// After so many questions with fewer answers than two in five, such changes are not asked for any more.
const ENOUGH_ASKED: u32 = 1 << 14;

/// Changes with their results.
#[derive(Default)]
pub struct Edits {
    /// Empty until something is remembered.
    known: Vec<Edit>,
    /// By kind of change.
    worth: [Worth; 4],
    /// What rows are without one word, by their numbers: 1 more than the numbers of those, or 0. Never moved once it is there.
    tails: Vec<u32>,
}

/// Whether it is worth while to ask.
#[derive(Clone, Copy, Default)]
struct Worth {
    asked: u32,
    answered: u32,
    useless: bool,
}

impl Edits {
    /// What a row becomes, if that is remembered.
    #[inline]
    pub fn find(&mut self, change: Change, row: u32, word: u32) -> Option<u32> {
        if let (Change::Tail, 1) = (change, word) {
            return self.tails.get(row as usize).and_then(|tail| tail.checked_sub(1));
        }
        let worth = &mut self.worth[change as usize];
        if worth.useless {
            return None;
        }
        let edit = self.known.get(place(change, row, word))?;
        let is_known = edit.row == row && edit.word == word && edit.change == Some(change);
        worth.asked += 1;
        worth.answered += u32::from(is_known);
        if worth.asked == ENOUGH_ASKED {
            *worth = Worth { useless: worth.answered < ENOUGH_ASKED / 5 * 2, ..Worth::default() };
        }
        is_known.then_some(edit.result)
    }

    /// Remembers what a row becomes.
    #[inline]
    pub fn remember(&mut self, change: Change, row: u32, word: u32, result: u32) {
        if let (Change::Tail, 1) = (change, word) {
            return self.remember_tail(row as usize, result);
        }
        if self.worth[change as usize].useless {
            return;
        }
        if self.known.is_empty() {
            self.known = vec![NOTHING; MEMORY];
        }
        self.known[place(change, row, word)] = Edit { row, word, change: Some(change), result };
    }

    /// Remembers how a row was made that is stored now.
    #[inline]
    pub fn remember_made(
        &mut self,
        rows: &LocalRows<'_>,
        (change, row, word): (Change, u32, u32),
        result: u32,
    ) {
        match change {
            Change::Without => rows.remember_without(row, word as usize, result),
            _ => self.remember(change, row, word, result),
        }
    }

    fn remember_tail(&mut self, row: usize, tail: u32) {
        self.tails();
        if let Some(place) = self.tails.get_mut(row) {
            *place = tail + 1;
        }
    }

    /// What rows are without one word.
    #[inline]
    pub fn tails(&mut self) -> &[u32] {
        if self.tails.is_empty() {
            self.tails = vec![0; MOST_TAILS];
        }
        &self.tails
    }
}

#[inline]
fn place(change: Change, row: u32, word: u32) -> usize {
    let key = (u64::from(row) << 32 | u64::from(word)).wrapping_add((change as u64) << 61);
    (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as usize % MEMORY
}
