//! Interned rows of numbers, shared by several threads: structured values, labels with their offers, sets of marks.
//!
//! A row is stored once, in one table for all threads, and known by its number, which says where it lies: reading a row takes one
//! look into memory, finding a known one takes two. Neither takes a lock; only a row that is new does. Memory is never moved: rows
//! and tables lie in chunks that double in size. A table that has become too small is left behind for threads that still look at
//! it; all those together are no larger than the last one.
//!
//! # Safety
//!
//! This module has `unsafe` code because rows are handed out as slices of chunks that others append to. A word is written once, by
//! the thread that holds the writer's lock, before `end` is moved behind it with release ordering, and nobody writes it again. Who
//! reads a row makes sure that it lies before an end that was read with acquire ordering. So no word is written while a slice
//! covers it, whatever number is asked for. Chunks live as long as the table, and so do the borrows of it; a chunk's address is
//! published before the end moves into it. Numbers whose bits are valid for plain words are valid for atomic ones and for cells.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::hash::Hasher;
use std::ops::Deref;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use rustc_hash::FxHasher;

use crate::prefetch::{prefetch, prefetch_at};

/// Rows begin at multiples of so many words: numbers count these units.
pub const UNIT: usize = 2;
/// The first chunk has 2 to this power of units, and the first table as many places.
pub const FIRST_BITS: u32 = 8;
/// How many chunks there would be with all numbers; there is never one in the last place.
const CHUNKS: usize = (NUMBER_BITS - FIRST_BITS) as usize + 1;
/// More tables than this would not fit into memory.
const TABLES: usize = 32;
/// What rows are without an element is remembered for those in so many chunks.
const CHUNKS_WITHOUT: usize = 13;
/// Bits of a row's number: who uses rows may mark others with the bit above.
const NUMBER_BITS: u32 = 31;

/// How near a row is that will be looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Approach {
    Entry,
    Words,
}

/// The table of all threads.
///
/// A row is its length and 1, then its words: a unit that begins with 0 and the units behind it are in no row.
pub struct SharedRows {
    chunks: Chunks,
    /// For words of rows, by their places, 1 more than the number of the row without the element that begins there, or 0.
    without: [OnceLock<Box<[AtomicU32]>>; CHUNKS_WITHOUT],
    /// Open addressing over row numbers + 1, 0 for a free place, below the upper half of the row's hash.
    tables: [OnceLock<Box<[AtomicU64]>>; TABLES],
    /// The table in use.
    current: AtomicUsize,
    grown: Grown,
}

/// What changes with each new row: away from what only changes now and then.
#[repr(align(128))]
#[derive(Default)]
struct Grown {
    /// All units before this one are written.
    end: AtomicU32,
    length: AtomicUsize,
    writer: Mutex<()>,
}

/// Where the chunks are. An address is that of the unit with the number 0, if there were only this chunk and it began there; null
/// for a chunk that is not there yet.
struct Chunks([AtomicPtr<u32>; CHUNKS]);

impl Default for SharedRows {
    fn default() -> Self {
        Self {
            chunks: Chunks([const { AtomicPtr::new(std::ptr::null_mut()) }; CHUNKS]),
            without: [const { OnceLock::new() }; CHUNKS_WITHOUT],
            tables: [const { OnceLock::new() }; TABLES],
            current: AtomicUsize::new(0),
            grown: Grown::default(),
        }
    }
}

impl std::fmt::Debug for SharedRows {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("SharedRows").field("rows", &self.len()).finish_non_exhaustive()
    }
}

impl Chunks {
    /// The address of a unit, which may be anything if its chunk is not there.
    #[inline]
    fn unit(&self, number: u32) -> *mut u32 {
        self.0[chunk_of(number)].load(Ordering::Relaxed).wrapping_add(number as usize * UNIT)
    }

    fn has(&self, chunk: usize) -> bool {
        !self.0[chunk].load(Ordering::Relaxed).is_null()
    }

    /// Makes a chunk, full of zeros that the system hands out when they are touched.
    fn make(&self, chunk: usize) {
        let words = Box::leak(vec![0u32; chunk_size(chunk) * UNIT].into_boxed_slice());
        let zero = words.as_mut_ptr().wrapping_sub(first_of(chunk) as usize * UNIT);
        self.0[chunk].store(zero, Ordering::Release);
    }
}

impl Drop for Chunks {
    fn drop(&mut self) {
        for chunk in (0..CHUNKS).filter(|&chunk| self.has(chunk)) {
            let words =
                std::ptr::slice_from_raw_parts_mut(self.unit(first_of(chunk)), chunk_size(chunk) * UNIT);
            // SAFETY: `make` has leaked a box of this address and length, and nobody borrows the table any more.
            drop(unsafe { Box::from_raw(words) });
        }
    }
}

impl SharedRows {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// A thread's own view.
    pub fn local(&self) -> LocalRows<'_> {
        LocalRows { shared: self, end: Cell::new(0) }
    }

    /// The number of a row, added if it is new. The first row has the number 0, and as long as no row has more than one word, each
    /// has the number behind that of the one before.
    #[inline]
    pub fn intern(&self, row: &[u32]) -> u32 {
        self.local().intern(row)
    }

    /// A copy of a row.
    pub fn row(&self, number: u32) -> Vec<u32> {
        self.local().row(number).to_vec()
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.grown.length.load(Ordering::Acquire)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The numbers of all rows, in the order in which they came.
    pub fn numbers(&self) -> impl Iterator<Item = u32> {
        let end = self.grown.end.load(Ordering::Acquire);
        let mut next = 0;
        std::iter::from_fn(move || {
            while next < end {
                let number = next;
                match self.words_of(number, end) {
                    Some(row) => {
                        next += units(row.len());
                        return Some(number);
                    }
                    // What comes next is in the next chunk.
                    None => next = first_of(chunk_of(number) + 1),
                }
            }
            None
        })
    }

    /// The memory that it takes.
    pub fn bytes(&self) -> usize {
        let words = self.grown.end.load(Ordering::Relaxed) as usize * UNIT * 4;
        let without = self.without.iter().filter_map(OnceLock::get).map(|chunk| chunk.len() * 4);
        let tables = self.tables.iter().filter_map(OnceLock::get).map(|table| table.len() * 8);
        words + without.sum::<usize>() + tables.sum::<usize>()
    }

    /// Where chunks are, for machine code: of each the address at which the unit 0 would lie, if it had such a one. The chunk of a
    /// number is that of its highest bit, once 2 to the power of [`FIRST_BITS`] is added, less that power.
    pub fn addresses(&self) -> &[AtomicPtr<u32>] {
        &self.chunks.0
    }

    /// The words of a row that ends before an end that was read; nothing where no row begins.
    #[inline]
    fn words_of(&self, number: u32, end: u32) -> Option<&[u32]> {
        if number >= end {
            return None;
        }
        // A row lies in one chunk, and what begins there ends there.
        let end = end.min(first_of(chunk_of(number) + 1));
        let unit = self.chunks.unit(number);
        // SAFETY: the unit lies before the end, see the head of this file.
        let length = unsafe { *unit }.checked_sub(1)? as usize;
        if u64::from(number) + length as u64 / UNIT as u64 >= u64::from(end) {
            return None;
        }
        // SAFETY: so do all of these words.
        Some(unsafe { std::slice::from_raw_parts(unit.wrapping_add(1), length) })
    }

    /// Where what is remembered of a word of a row lies: in which chunk, and where in there.
    #[inline]
    fn place(number: u32, word: usize) -> (usize, usize) {
        let chunk = chunk_of(number);
        (chunk, (number - first_of(chunk)) as usize * UNIT + 1 + word)
    }

    /// Writes a row behind all others. Only the holder of the lock may do that.
    fn write(&self, row: &[u32]) -> u32 {
        let mut number = self.grown.end.load(Ordering::Relaxed);
        // A row lies in one chunk. What is left of the chunks before is zero.
        loop {
            let chunk = chunk_of(number);
            assert!(chunk < CHUNKS - 1, "values of more than 2^32 words");
            if !self.chunks.has(chunk) {
                self.chunks.make(chunk);
            }
            if first_of(chunk + 1) - number >= units(row.len()) {
                break;
            }
            number = first_of(chunk + 1);
        }
        let unit = self.chunks.unit(number);
        // SAFETY: these words lie behind the end, in a chunk that is there, and only the holder of the lock writes.
        unsafe {
            *unit = row.len() as u32 + 1;
            std::ptr::copy_nonoverlapping(row.as_ptr(), unit.wrapping_add(1), row.len());
        }
        self.grown.end.store(number + units(row.len()), Ordering::Release);
        number
    }

    /// Sees to it that one more row fits into the table, at most three quarters full.
    fn make_room(&self, rows: usize) {
        let current = self.current.load(Ordering::Relaxed);
        let size = self.tables[current].get().map_or(0, |table| table.len());
        if (rows + 1) * 4 <= size * 3 {
            return;
        }
        let next = if size == 0 { 0 } else { current + 1 };
        let table = self.tables[next].get_or_init(|| zeros(chunk_size(next)));
        let end = self.grown.end.load(Ordering::Relaxed);
        for number in self.numbers() {
            put(table, hash(self.words_of(number, end).unwrap_or(&[])), number);
        }
        self.current.store(next, Ordering::Release);
    }
}

/// How many units a row of so many words takes, its length included.
#[inline]
fn units(words: usize) -> u32 {
    u32::try_from(words / UNIT + 1).unwrap_or(u32::MAX)
}

/// Whether two rows are equal: most are too short for a call of `memcmp` to pay.
#[inline]
fn same(a: &[u32], b: &[u32]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b)
}

fn put(table: &[AtomicU64], hash: u64, number: u32) {
    let mask = table.len() - 1;
    let mut place = hash as usize & mask;
    while table[place].load(Ordering::Relaxed) != 0 {
        place = (place + 1) & mask;
    }
    table[place].store(hash >> 32 << 32 | u64::from(number + 1), Ordering::Release);
}

/// How many units a chunk has, or places a table.
fn chunk_size(chunk: usize) -> usize {
    1 << (FIRST_BITS as usize + chunk)
}

/// The chunk of a unit.
#[inline]
fn chunk_of(number: u32) -> usize {
    ((number + (1 << FIRST_BITS)).ilog2() - FIRST_BITS) as usize
}

/// The first unit of a chunk.
#[inline]
fn first_of(chunk: usize) -> u32 {
    (1u32 << (FIRST_BITS as usize + chunk)) - (1 << FIRST_BITS)
}

/// So many zeros, which the system hands out when they are touched.
fn zeros(count: usize) -> Box<[AtomicU64]> {
    let plain = Box::into_raw(vec![0u64; count].into_boxed_slice());
    // SAFETY: an atomic number has the size, alignment and representation of a plain one, and nobody else has the box.
    unsafe { Box::from_raw(plain as *mut [AtomicU64]) }
}

#[inline]
fn hash(row: &[u32]) -> u64 {
    let mut hasher = FxHasher::default();
    let (pairs, rest) = row.as_chunks::<2>();
    for &[a, b] in pairs {
        hasher.write_u64(u64::from(a) | u64::from(b) << 32);
    }
    rest.iter().for_each(|&number| hasher.write_u32(number));
    hasher.write_usize(row.len());
    let hash = hasher.finish();
    // Both halves are used on their own.
    hash ^ hash >> 29
}

/// One thread's view of a [`SharedRows`].
///
/// ```
/// let shared = model::SharedRows::new();
/// let (one, two) = (shared.local(), shared.local());
/// let number = one.intern(&[1, 2, 3]);
/// assert_eq!(two.row(number), [1, 2, 3]);
/// assert_eq!(two.intern(&[1, 2, 3]), number);
/// ```
#[derive(Clone)]
pub struct LocalRows<'a> {
    shared: &'a SharedRows,
    /// An end of rows that this thread has read: asking the others each time would make them wait for each other.
    end: Cell<u32>,
}

impl<'a> LocalRows<'a> {
    /// The table of all threads.
    pub fn shared(&self) -> &'a SharedRows {
        self.shared
    }

    /// The number of a row, added if it is new to everybody.
    #[inline]
    pub fn intern(&self, row: &[u32]) -> u32 {
        self.intern_hashed(row, hash(row))
    }

    /// A number that no row has yet that this thread has seen.
    #[inline]
    pub fn end(&self) -> u32 {
        self.end.get()
    }

    /// Says that a row will be among those of [`intern_all`](Self::intern_all). Gives what it is known by there.
    #[inline]
    pub fn announce(&self, row: &[u32]) -> u64 {
        let hash = hash(row);
        self.approach(hash, Approach::Entry);
        hash
    }

    /// The numbers of several rows that were announced, added if they are new. Looking for them at once takes hardly longer than
    /// looking for one, because all of them wait for memory together.
    #[inline]
    pub fn intern_all<'r>(
        &self,
        rows: impl Iterator<Item = (&'r [u32], u64)> + Clone,
        mut found: impl FnMut(usize, u32),
    ) {
        rows.clone().for_each(|(_, hash)| self.approach(hash, Approach::Words));
        for (at, (row, hash)) in rows.enumerate() {
            found(at, self.intern_hashed(row, hash));
        }
    }

    /// The row with a number that some thread got from [`intern`](Self::intern).
    #[inline]
    pub fn row(&self, number: u32) -> &'a [u32] {
        match self.shared.words_of(number, self.end.get()) {
            Some(row) => row,
            None => self.newer_row(number),
        }
    }

    #[cold]
    fn newer_row(&self, number: u32) -> &'a [u32] {
        self.end.set(self.shared.grown.end.load(Ordering::Acquire));
        self.shared.words_of(number, self.end.get()).unwrap_or(&[])
    }

    /// The row without the element of so many words that begins with one of its words, if
    /// [`remember_without`](Self::remember_without) was told.
    #[inline]
    pub fn without(&self, number: u32, word: usize, words: usize) -> Option<u32> {
        let (chunk, place) = SharedRows::place(number, word);
        let known = self.shared.without.get(chunk)?.get()?.get(place)?.load(Ordering::Acquire);
        // Rows may stand for lists of other types, whose elements have more words.
        let rest = known.checked_sub(1)?;
        (self.row(rest).len() + words == self.row(number).len()).then_some(rest)
    }

    /// Remembers the number of the row that another one is without an element. That may be forgotten.
    #[inline]
    pub fn remember_without(&self, number: u32, word: usize, row: u32) {
        let (chunk, place) = SharedRows::place(number, word);
        let Some(rows) = self.shared.without.get(chunk) else { return };
        let make = || std::iter::repeat_with(AtomicU32::default).take(chunk_size(chunk) * UNIT).collect();
        if let Some(known) = rows.get_or_init(make).get(place) {
            // Who reads this number reads the row behind it.
            known.store(row + 1, Ordering::Release);
        }
    }

    #[inline]
    fn intern_hashed(&self, row: &[u32], hash: u64) -> u32 {
        match self.find(row, hash) {
            Some(known) => known,
            None => self.add(row, hash),
        }
    }

    /// Asks memory for what finding a row will take: first for its entry in the table, then for its words.
    #[inline]
    fn approach(&self, hash: u64, step: Approach) {
        let Some(table) = self.table() else { return };
        let at = hash as usize & (table.len() - 1);
        if step == Approach::Entry {
            return prefetch(table, at);
        }
        let entry = table[at].load(Ordering::Acquire);
        if entry != 0 && entry >> 32 == hash >> 32 {
            prefetch_at(self.shared.chunks.unit(entry as u32 - 1));
        }
    }

    #[inline]
    fn table(&self) -> Option<&'a [AtomicU64]> {
        self.shared.tables[self.shared.current.load(Ordering::Acquire)].get().map(Deref::deref)
    }

    /// The number of a row that is there. One that another thread is adding may be missed.
    #[inline]
    fn find(&self, row: &[u32], hash: u64) -> Option<u32> {
        let table = self.table()?;
        let mask = table.len() - 1;
        let mut place = hash as usize & mask;
        loop {
            let entry = table[place].load(Ordering::Acquire);
            if entry == 0 {
                return None;
            }
            let number = entry as u32 - 1;
            if entry >> 32 == hash >> 32 && same(self.row(number), row) {
                return Some(number);
            }
            place = (place + 1) & mask;
        }
    }

    #[cold]
    fn add(&self, row: &[u32], hash: u64) -> u32 {
        let shared = self.shared;
        let Grown { length, writer, .. } = &shared.grown;
        let _writing = writer.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(known) = self.find(row, hash) {
            return known;
        }
        let count = length.load(Ordering::Relaxed);
        shared.make_room(count);
        let number = shared.write(row);
        if let Some(table) = self.table() {
            put(table, hash, number);
        }
        length.store(count + 1, Ordering::Release);
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_agree_on_numbers() {
        let shared = SharedRows::new();
        std::thread::scope(|scope| {
            for seed in 0..4u32 {
                let shared = &shared;
                scope.spawn(move || {
                    let local = shared.local();
                    for n in 0..50_000u32 {
                        let row = [n * 7 % 9973, n % 3 + seed % 2];
                        let row = &row[..(n % 2 + 1) as usize];
                        let number = local.intern(row);
                        assert_eq!(local.row(number), row);
                    }
                });
            }
        });
        let mut rows: Vec<Vec<u32>> = shared.numbers().map(|number| shared.row(number)).collect();
        assert_eq!(rows.len(), shared.len());
        rows.sort();
        rows.dedup();
        assert_eq!(rows.len(), shared.len());
    }

    #[test]
    fn rows_of_all_lengths_are_kept() {
        let shared = SharedRows::new();
        let row = |length: u32| (0..length).map(|n| n ^ length).collect::<Vec<u32>>();
        let numbers: Vec<u32> = (0..2000).map(|length| shared.intern(&row(length))).collect();
        for (length, &number) in numbers.iter().enumerate() {
            assert_eq!(shared.row(number), row(length as u32));
            assert_eq!(shared.intern(&row(length as u32)), number);
        }
        assert_eq!(shared.numbers().collect::<Vec<u32>>(), numbers);
        assert_eq!(shared.len(), 2000);
        assert!(shared.bytes() > 2000 * 1000 * 4);
    }

    #[test]
    fn short_rows_have_consecutive_numbers() {
        let shared = SharedRows::new();
        assert_eq!(shared.intern(&[]), 0);
        for n in 0..5000 {
            assert_eq!(shared.intern(&[n]), n + 1);
        }
    }

    #[test]
    fn what_is_no_number_is_no_row() {
        let shared = SharedRows::new();
        let number = shared.intern(&[1, 2, 3, u32::MAX, 5, 6]);
        for wrong in (number + 1..number + 5000).chain([1 << 30, u32::MAX >> 1]) {
            let row = shared.row(wrong);
            assert!(row.len() < 6, "{row:?}");
        }
        // A word inside of a row that would be a length beyond the end of its chunk, although others follow.
        let shared = SharedRows::new();
        shared.intern(&[0, 600, 0]);
        (0..2000).for_each(|number| _ = shared.intern(&[number, number]));
        assert!(shared.row(1).is_empty());
    }

    #[test]
    fn elements_are_taken_away_by_their_length() {
        let shared = SharedRows::new();
        let local = shared.local();
        let [all, one, none] = [&[5, 7][..], &[7], &[]].map(|row| local.intern(row));
        local.remember_without(all, 0, one);
        assert_eq!((local.without(all, 0, 1), local.without(all, 0, 2)), (Some(one), None));
        local.remember_without(all, 0, none);
        assert_eq!((local.without(all, 0, 1), local.without(all, 0, 2)), (None, Some(none)));
    }
}
