//! Rows that functions build step by step: hardly any of them is needed again, so they are not stored with the others.
//!
//! A draft is known by a number that no stored row has, until it is settled. Machine code takes words from the front of drafts
//! and puts words there itself, so what it has to know lies in one table of words: first how many drafts there are and where the
//! newest words begin, then [`STRIDE`] words for each draft. Drafts whose words belong together share them: those without their
//! first words, those with a word in front of the newest one, and those with a word behind the last one that got one.

use super::edits::Change;

/// Rows that machine code works on have numbers from here on, until they are settled: no other row has such a number.
pub const FIRST_DRAFT: u32 = 1 << 31;
/// So many drafts are kept, and words of them. What comes behind is settled at once.
pub const MOST_DRAFTS: usize = 1 << 15;
const MOST_DRAFTED: usize = 1 << 17;

/// How many words of the table a draft takes.
pub const STRIDE: usize = 4;
/// Where the table has how many drafts there are, and where the newest words begin, counted in words of drafts.
pub const COUNT: usize = 0;
pub const NEWEST: usize = 1;
/// Of a draft, where its words lie for machine code: see [`place`].
pub const PLACE: usize = 0;
/// Where they lie for everybody else: in the lower half the first word, in the upper half the end of words of its own, or the
/// number of a stored row and [`FIRST_DRAFT`]. Without its first word, a draft has one more here, whatever its upper half is.
pub const WORDS: usize = 1;
/// What it was made by: 0, or a [`Change`] and 1; and from which stored row in the lower half, with what in the upper.
pub const MADE: usize = 2;
pub const MADE_FROM: usize = 3;

/// Where words lie takes so many bits of a place; their number takes the others.
pub const ADDRESS_BITS: u32 = 48;

/// Where machine code finds words, and how many there are; 0 if they are too many, or none.
pub fn place(words: &[u32]) -> u64 {
    let address = words.as_ptr().expose_provenance() as u64;
    match address >> ADDRESS_BITS == 0 && words.len() as u64 >> (64 - ADDRESS_BITS) == 0 && !words.is_empty()
    {
        true => (words.len() as u64) << ADDRESS_BITS | address,
        false => 0,
    }
}

/// All drafts of a thread.
#[derive(Default)]
pub struct Drafts {
    /// Empty until somebody asks for it.
    table: Vec<u64>,
    /// The words of drafts. In the first half from the last ones to the first: a word in front of the newest draft goes in front of
    /// its words, wherever others still need those. In the second half those that got a word behind them, from the first ones
    /// on. Never moved once it is there.
    drafted: Vec<u32>,
    /// Where the words end that are used in the second half.
    appended: usize,
}

/// The words of a draft.
#[derive(Clone, Copy)]
pub enum Drafted<'d> {
    /// Those of a stored row, from one on.
    EndOf(u32, u32),
    Own(&'d [u32]),
}

impl Drafts {
    /// The table, for machine code.
    #[inline]
    pub fn table(&mut self) -> &mut [u64] {
        if self.table.is_empty() {
            self.make();
        }
        &mut self.table
    }

    #[cold]
    fn make(&mut self) {
        self.table = vec![0; STRIDE * (MOST_DRAFTS + 1)];
        self.drafted = vec![0; 2 * MOST_DRAFTED];
        self.forget();
    }

    /// Forgets all drafts.
    #[inline]
    pub fn forget(&mut self) {
        if let [count, newest, ..] = &mut self.table[..] {
            (*count, *newest) = (0, MOST_DRAFTED as u64);
            self.appended = MOST_DRAFTED;
        }
    }

    #[inline]
    fn count(&self) -> usize {
        self.table.first().map_or(0, |count| *count as usize)
    }

    #[inline]
    fn entry(&self, draft: u32) -> Option<&[u64; STRIDE]> {
        let index = draft.checked_sub(FIRST_DRAFT)? as usize;
        self.table.as_chunks::<STRIDE>().0.get(index + 1).filter(|_| index < self.count())
    }

    /// The words of a draft, if there is such a one.
    #[inline]
    pub fn words(&self, draft: u32) -> Option<Drafted<'_>> {
        let words = self.entry(draft)?[WORDS];
        let (first, end) = (words as u32, (words >> 32) as u32);
        Some(match end.checked_sub(FIRST_DRAFT) {
            Some(row) => Drafted::EndOf(row, first),
            None => Drafted::Own(self.drafted.get(first as usize..end as usize).unwrap_or(&[])),
        })
    }

    /// What a draft was made by, if from a stored row: how, from which, and with what.
    #[inline]
    pub fn made(&self, draft: u32) -> Option<(Change, u32, u32)> {
        let entry = self.entry(draft)?;
        let change = Change::ALL.into_iter().nth((entry[MADE] as usize).checked_sub(1)?)?;
        Some((change, entry[MADE_FROM] as u32, (entry[MADE_FROM] >> 32) as u32))
    }

    /// A draft of the end of a stored row, from a word on.
    pub fn add_end(
        &mut self,
        row: u32,
        first: u32,
        end: &[u32],
        made: Option<(Change, u32, u32)>,
    ) -> Option<u32> {
        let words = u64::from(FIRST_DRAFT | row) << 32 | u64::from(first);
        self.add(place(end), words, made)
    }

    /// A draft with words of its own.
    #[inline]
    pub fn add_own(&mut self, words: &[u32], made: Option<(Change, u32, u32)>) -> Option<u32> {
        let end = self.table()[NEWEST] as usize;
        let newest = end.checked_sub(words.len()).filter(|_| self.count() < MOST_DRAFTS)?;
        self.drafted[newest..end].copy_from_slice(words);
        self.table[NEWEST] = newest as u64;
        let place = place(&self.drafted[newest..end]);
        self.add(place, (end as u64) << 32 | newest as u64, made)
    }

    /// A draft without its first words: at least one is left.
    pub fn add_tail(&mut self, draft: u32, words: u32) -> Option<u32> {
        let place = match self.words(draft)? {
            Drafted::Own(all) => place(all.get(words as usize..)?),
            // As the draft itself, but for its first words.
            Drafted::EndOf(..) => match self.entry(draft)?[PLACE] {
                0 => 0,
                place => place + 4 * u64::from(words) - (u64::from(words) << ADDRESS_BITS),
            },
        };
        let words = self.entry(draft)?[WORDS] + u64::from(words);
        self.add(place, words, None)
    }

    /// A word in front of the newest draft.
    #[inline]
    pub fn add_cons(&mut self, draft: u32, word: u32) -> Option<u32> {
        let words = self.entry(draft)?[WORDS];
        let (first, end) = (words as u32, (words >> 32) as u32);
        let is_newest = end < FIRST_DRAFT && u64::from(first) == self.table[NEWEST];
        let newest = first.checked_sub(1).filter(|_| is_newest && self.count() < MOST_DRAFTS)?;
        self.drafted[newest as usize] = word;
        self.table[NEWEST] = u64::from(newest);
        let place = place(&self.drafted[newest as usize..end as usize]);
        self.add(place, words - 1, None)
    }

    /// A word behind a draft with words of its own.
    #[inline]
    pub fn add_append(&mut self, draft: u32, word: u32) -> Option<u32> {
        let words = self.entry(draft)?[WORDS];
        let (first, end) = (words as u32 as usize, (words >> 32) as usize);
        let is_room = |drafts: &Self, words: usize| {
            drafts.appended + words <= drafts.drafted.len() && drafts.count() < MOST_DRAFTS
        };
        if end >= FIRST_DRAFT as usize || first > end {
            return None;
        }
        let first = match end == self.appended {
            true if is_room(self, 1) => first,
            false if is_room(self, end - first + 1) => {
                self.drafted.copy_within(first..end, self.appended);
                self.appended += end - first;
                self.appended - (end - first)
            }
            _ => return None,
        };
        self.drafted[self.appended] = word;
        self.appended += 1;
        let place = place(&self.drafted[first..self.appended]);
        self.add(place, (self.appended as u64) << 32 | first as u64, None)
    }

    #[inline]
    fn add(&mut self, place: u64, words: u64, made: Option<(Change, u32, u32)>) -> Option<u32> {
        let count = self.table()[COUNT] as usize;
        let entry = self.table.as_chunks_mut::<STRIDE>().0.get_mut(count + 1)?;
        let (made, from) = made.map_or((0, 0), |(change, row, word)| {
            (change as u64 + 1, u64::from(word) << 32 | u64::from(row))
        });
        *entry = [place, words, made, from];
        self.table[COUNT] = count as u64 + 1;
        Some(FIRST_DRAFT + count as u32)
    }
}
