//! The set of seen states: packed vectors in order of discovery, found through a hash table that all threads share.
//!
//! Beyond the packed vector a state costs its parent (4 bytes) and an entry (4 bytes) in a table that is between
//! three sevenths and three quarters full: 9 to 14 bytes. An entry is a state number and, in the bits that numbers do
//! not need yet, a part of the hash: nearly all probes that look at a state find it.
//!
//! Threads look states up and note new ones at the same time, without locks: an entry is put into a free place by
//! compare-and-swap and never taken away. What a note says is written before its entry is put there. Of several steps
//! that lead to the same new state, the note keeps the first; so numbers do not depend on who was quicker.

use std::ops::Range;
use std::sync::atomic::{
    AtomicU32,
    Ordering::{Acquire, Relaxed, Release},
};

use crate::prefetch::prefetch;
use crate::team::Team;

/// How many states a growing table takes at a time.
const BLOCK: usize = 64;

/// The seen states.
pub(crate) struct Store {
    words: usize,
    packed: Vec<u32>,
    parents: Vec<u32>,
    table: Table,
}

/// Where states are found by their hashes.
pub(crate) struct Table {
    /// 0 for a free place, else a state number plus 1 in the lowest `bits` bits and a part of the hash above them. A
    /// number that no state has yet is that of a note, counted from the number of states.
    entries: Vec<AtomicU32>,
    bits: u32,
}

/// A state found new in this round.
#[derive(Default)]
pub(crate) struct Note {
    /// The first of the round's steps that leads to it.
    first: AtomicU32,
    /// Where its entry is.
    place: AtomicU32,
    /// Where its vector is.
    buffer: AtomicU32,
    step: AtomicU32,
    /// Its number, once it has one.
    number: AtomicU32,
}

/// A step of this round: in which buffer, which one there, and which one of all.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub buffer: u32,
    pub step: u32,
    pub of_all: u32,
}

/// What was found for a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// The state with this number.
    Known(u32),
    /// A state that is new in this round, by its note. `first` unless it is known that another step comes before.
    Noted { note: u32, first: bool },
}

/// The number of a state that has none.
pub(crate) const NO_NUMBER: u32 = u32::MAX;

/// The place for the new states of one buffer.
pub(crate) struct Room<'a> {
    /// The number of the first one.
    pub first: usize,
    pub packed: &'a mut [u32],
    pub parents: &'a mut [u32],
}

impl Store {
    /// An empty store for packed states of `words` words.
    pub fn new(words: usize) -> Self {
        let mut table = Table { entries: Vec::new(), bits: 12 };
        table.entries.resize_with(1 << 10, AtomicU32::default);
        Self { words, packed: Vec::new(), parents: Vec::new(), table }
    }

    pub fn len(&self) -> usize {
        self.parents.len()
    }

    pub fn packed(&self, number: usize) -> &[u32] {
        &self.packed[number * self.words..][..self.words]
    }

    pub fn parent(&self, number: usize) -> usize {
        self.parents[number] as usize
    }

    /// Adds the initial state.
    pub fn add_initial(&mut self, packed: &[u32]) {
        self.packed.extend_from_slice(packed);
        self.parents.push(0);
        self.table.put(hash(packed), 0);
    }

    /// Makes room in the table for so many states more, so that at most three quarters of the places are used.
    pub fn reserve(&mut self, more: usize, team: &Team<'_>) {
        let Self { words, packed, parents, table } = self;
        let greatest = parents.len() + more;
        let needed = greatest * 4 / 3 + 1;
        let wide_enough = greatest + 2 <= 1 << table.bits;
        if needed <= table.entries.len() && wide_enough {
            return;
        }
        let places = match needed <= table.entries.len() {
            true => table.entries.len(),
            false => needed.max(table.entries.len() * 7 / 4),
        };
        if !wide_enough {
            // Room for twice the numbers, so that this is not needed again soon.
            table.bits = (usize::BITS - (greatest + 2).leading_zeros() + 1).min(31);
        }
        // The new table grows over the old one, whose memory is at hand: all that it knows is in the vectors.
        table.entries.clear();
        table.entries.reserve_exact(places);
        table.entries.resize_with(places, AtomicU32::default);
        table.fill(Vectors { words: *words, packed }, team);
    }

    /// Makes room for so many states of each buffer; the numbers of each follow those of the one before.
    pub fn grow(&mut self, counts: &[usize]) -> (Vec<Room<'_>>, &Table) {
        let mut first = self.len();
        let total: usize = counts.iter().sum();
        self.packed.resize((first + total) * self.words, 0);
        self.parents.resize(first + total, 0);
        let (mut packed, mut parents) = (&mut self.packed[first * self.words..], &mut self.parents[first..]);
        let mut rooms = Vec::with_capacity(counts.len());
        for &count in counts {
            let (own_packed, own_parents);
            (own_packed, packed) = packed.split_at_mut(count * self.words);
            (own_parents, parents) = parents.split_at_mut(count);
            rooms.push(Room { first, packed: own_packed, parents: own_parents });
            first += count;
        }
        (rooms, &self.table)
    }

    /// For looking states up; `buffered` gives the vectors of this round's steps by buffer and step.
    pub fn look_up<'a, F: Fn(u32, u32) -> &'a [u32]>(
        &'a self,
        notes: &'a [Note],
        buffered: F,
    ) -> LookUp<'a, F> {
        let vectors = Vectors { words: self.words, packed: &self.packed };
        LookUp { table: &self.table, vectors, numbered: self.len() as u32, notes, buffered }
    }

    /// Gives the memory of the table back, once nobody looks for states any more.
    pub fn forget_table(&mut self) {
        self.table.entries = Vec::new();
    }

    pub fn bytes(&self) -> usize {
        self.packed.capacity() * 4 + self.parents.capacity() * 4 + self.table.entries.len() * 4
    }
}

/// The packed vectors of the numbered states.
#[derive(Clone, Copy)]
struct Vectors<'a> {
    words: usize,
    packed: &'a [u32],
}

impl Vectors<'_> {
    #[inline]
    fn get(&self, number: u32) -> &[u32] {
        &self.packed[number as usize * self.words..][..self.words]
    }
}

impl Table {
    /// The part of a hash that entries hold: its lowest bits, which the place does not depend on.
    #[inline]
    fn tag(&self, hash: u64) -> u32 {
        (hash as u32).checked_shl(self.bits).unwrap_or(0)
    }

    /// The bits of an entry that hold a number.
    #[inline]
    fn numbers(&self) -> u32 {
        (1 << self.bits) - 1
    }

    #[inline]
    fn next(&self, place: usize) -> usize {
        if place + 1 == self.entries.len() { 0 } else { place + 1 }
    }

    /// Puts all states into an empty table.
    fn fill(&self, vectors: Vectors<'_>, team: &Team<'_>) {
        let states = vectors.packed.len() / vectors.words;
        let parts = team.threads() * 4;
        let mut ranges: Vec<Range<usize>> =
            (0..parts).map(|part| states * part / parts..states * (part + 1) / parts).collect();
        team.each(&mut ranges, |_, _, range| {
            // The places of a few states are asked for together.
            let mut hashes = [0; BLOCK];
            for first in range.clone().step_by(BLOCK) {
                let block =
                    &vectors.packed[first * vectors.words..range.end.min(first + BLOCK) * vectors.words];
                for (hash_of, packed) in hashes.iter_mut().zip(block.chunks_exact(vectors.words)) {
                    *hash_of = hash(packed);
                    self.prefetch(*hash_of);
                }
                for (at, &hash) in hashes[..block.len() / vectors.words].iter().enumerate() {
                    self.put(hash, (first + at) as u32);
                }
            }
        });
    }

    /// Puts a state that is not there into the first free place for its hash.
    fn put(&self, hash: u64, number: u32) {
        let entry = self.tag(hash) | (number + 1);
        let mut place = place_of(hash, self.entries.len());
        while self.entries[place].load(Relaxed) != 0
            || self.entries[place].compare_exchange(0, entry, Relaxed, Relaxed).is_err()
        {
            place = self.next(place);
        }
    }

    /// Gives the state of a note its number.
    pub fn settle(&self, note: &Note, number: u32) {
        let place = &self.entries[note.place.load(Relaxed) as usize];
        place.store((place.load(Relaxed) & !self.numbers()) | (number + 1), Relaxed);
        note.number.store(number, Relaxed);
    }

    /// Asks for the place of a note's entry, so that it is in the cache when it is settled.
    #[inline]
    pub fn prefetch_note(&self, note: &Note) {
        prefetch(&self.entries, note.place.load(Relaxed) as usize);
    }

    /// Asks for the place of a hash.
    #[inline]
    fn prefetch(&self, hash: u64) {
        prefetch(&self.entries, place_of(hash, self.entries.len()));
    }
}

impl Note {
    /// Whether this step is the first that leads to the state. Only right once all steps were looked up.
    pub fn is_first(&self, of_all: u32) -> bool {
        self.first.load(Relaxed) == of_all
    }

    pub fn number(&self) -> u32 {
        self.number.load(Relaxed)
    }
}

/// What looking states up needs.
pub(crate) struct LookUp<'a, F> {
    table: &'a Table,
    vectors: Vectors<'a>,
    numbered: u32,
    notes: &'a [Note],
    buffered: F,
}

impl<'a, F: Fn(u32, u32) -> &'a [u32]> LookUp<'a, F> {
    /// Looks for the target of a step. If it is new, the note `free`, which nobody else may use, is taken for it.
    #[inline]
    pub fn find_or_note(&self, hash: u64, state: &[u32], step: Place, free: u32) -> Found {
        let table = self.table;
        let (tag, numbers) = (table.tag(hash), table.numbers());
        let mut place = place_of(hash, table.entries.len());
        loop {
            let entry = table.entries[place].load(Acquire);
            if entry == 0 {
                let note = &self.notes[free as usize];
                note.first.store(step.of_all, Relaxed);
                note.place.store(place as u32, Relaxed);
                note.buffer.store(step.buffer, Relaxed);
                note.step.store(step.step, Relaxed);
                note.number.store(NO_NUMBER, Relaxed);
                let noted = tag | (self.numbered + free + 1);
                if table.entries[place].compare_exchange(0, noted, Release, Relaxed).is_ok() {
                    return Found::Noted { note: free, first: true };
                }
                // Somebody was quicker: what is there now may be the same state.
                continue;
            }
            if entry & !numbers == tag {
                let number = (entry & numbers) - 1;
                if number < self.numbered {
                    if same(self.vectors.get(number), state) {
                        return Found::Known(number);
                    }
                } else {
                    let note = number - self.numbered;
                    let known = &self.notes[note as usize];
                    if same((self.buffered)(known.buffer.load(Relaxed), known.step.load(Relaxed)), state) {
                        // Most of the time another step of the same thread came first.
                        let first = step.of_all < known.first.load(Relaxed)
                            && step.of_all < known.first.fetch_min(step.of_all, Relaxed);
                        return Found::Noted { note, first };
                    }
                }
            }
            place = table.next(place);
        }
    }

    /// Asks for the place of a hash.
    #[inline]
    pub fn prefetch_place(&self, hash: u64) {
        self.table.prefetch(hash);
    }

    /// Asks for the state that probably lies at the place of a hash.
    #[inline]
    pub fn prefetch_state(&self, hash: u64) {
        let entry = self.table.entries[place_of(hash, self.table.entries.len())].load(Relaxed);
        let number = (entry & self.table.numbers()).wrapping_sub(1) as usize;
        prefetch(self.vectors.packed, number.wrapping_mul(self.vectors.words));
    }
}

/// Whether two packed states are equal: they are too short for a call of `memcmp` to pay.
#[inline]
fn same(a: &[u32], b: &[u32]) -> bool {
    a.iter().zip(b).all(|(a, b)| a == b)
}

/// A place from the higher bits of a hash.
#[inline]
fn place_of(hash: u64, places: usize) -> usize {
    ((u128::from(hash) * places as u128) >> 64) as usize
}

/// Hashes a packed state: a multiplication folded onto itself for every two words.
#[inline]
pub(crate) fn hash(packed: &[u32]) -> u64 {
    const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut hash: u64 = 0x2545_F491_4F6C_DD1D;
    let mut mix = |word: u64| {
        let product = u128::from(hash ^ word) * u128::from(MULTIPLIER);
        hash = (product as u64) ^ ((product >> 64) as u64);
    };
    let (pairs, rest) = packed.as_chunks::<2>();
    for pair in pairs {
        mix(u64::from(pair[0]) | u64::from(pair[1]) << 32);
    }
    if let [word] = rest {
        mix(u64::from(*word));
    }
    mix(MULTIPLIER);
    hash
}
