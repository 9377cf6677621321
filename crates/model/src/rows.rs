//! Interned rows of numbers, shared by several threads: structured values, labels with their offers, sets of marks.
//!
//! A row is stored once, in one table for all threads, and known by its number. Reading a row and finding a known one
//! takes no lock; only a row that is new does. Memory is never moved: rows, their places and each table lie in chunks
//! that double in size. A table that has become too small is left behind for threads that still look at it; all
//! those together are no larger than the last one.
//!
//! # Safety
//!
//! This module has the crate's only `unsafe` code: rows are handed out as slices of chunks that others append to. Their
//! words lie in cells; a word is written once, by the thread that holds the writer's lock, before the row's place is
//! published with release ordering, and nobody writes it again. Who reads a row got its place with acquire ordering. So
//! no word is written while a slice covers it. Chunks live as long as the table, and so do the borrows of it.
#![allow(unsafe_code)]

use std::cell::UnsafeCell;
use std::hash::Hasher;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock};

use rustc_hash::FxHasher;

use crate::prefetch::prefetch;

/// The first chunk has 2 to this power of entries.
const FIRST_BITS: u32 = 8;
/// More chunks than this would not fit into memory.
const CHUNKS: usize = 32;
/// Bits of a place: length of the row, and where it starts in its chunk.
const LENGTH_BITS: u32 = 28;
const START_BITS: u32 = 31;
/// Bits of a row's number: who uses rows may mark others with the bit above.
const NUMBER_BITS: u32 = 31;

/// How near a row is that will be looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Approach {
    Entry,
    Place,
    Words,
}

/// Words of rows. Shared between threads, who see to it that none is written while it is read.
struct Words(Box<[UnsafeCell<u32>]>);

// SAFETY: see the head of this file.
unsafe impl Sync for Words {}

/// The table of all threads.
pub struct SharedRows {
    words: [OnceLock<Words>; CHUNKS],
    /// Where each row lies: chunk, start and length.
    places: [OnceLock<Box<[AtomicU64]>>; CHUNKS],
    /// Open addressing over row numbers + 1, 0 for a free place, below the upper half of the row's hash.
    tables: [OnceLock<Box<[AtomicU64]>>; CHUNKS],
    /// The table in use.
    current: AtomicUsize,
    length: AtomicUsize,
    writer: Mutex<Writer>,
}

/// Where the next row goes.
#[derive(Default)]
struct Writer {
    chunk: usize,
    start: usize,
}

impl Default for SharedRows {
    fn default() -> Self {
        Self {
            words: [const { OnceLock::new() }; CHUNKS],
            places: [const { OnceLock::new() }; CHUNKS],
            tables: [const { OnceLock::new() }; CHUNKS],
            current: AtomicUsize::new(0),
            length: AtomicUsize::new(0),
            writer: Mutex::new(Writer::default()),
        }
    }
}

impl std::fmt::Debug for SharedRows {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("SharedRows").field("rows", &self.len()).finish_non_exhaustive()
    }
}

impl SharedRows {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// A thread's own view.
    pub fn local(&self) -> LocalRows<'_> {
        LocalRows { shared: self }
    }

    /// The number of a row, added if it is new.
    #[inline]
    pub fn intern(&self, row: &[u32]) -> u32 {
        self.intern_hashed(row, hash(row))
    }

    #[inline]
    fn intern_hashed(&self, row: &[u32], hash: u64) -> u32 {
        match self.find(row, hash) {
            Some(known) => known,
            None => self.add(row, hash),
        }
    }

    /// Asks memory for what finding a row will take: first for its entry in the table, then for its place, then for its words.
    #[inline]
    fn approach(&self, hash: u64, step: Approach) {
        let Some(table) = self.tables[self.current.load(Ordering::Acquire)].get() else { return };
        let at = hash as usize & (table.len() - 1);
        if step == Approach::Entry {
            return prefetch(table, at);
        }
        let entry = table[at].load(Ordering::Acquire);
        if entry == 0 || entry >> 32 != hash >> 32 {
            return;
        }
        let (chunk, at) = position(entry as u32 - 1);
        let Some(places) = self.places[chunk].get() else { return };
        if step == Approach::Place {
            return prefetch(places, at);
        }
        let place = places[at].load(Ordering::Acquire);
        let start = (place >> LENGTH_BITS & ((1 << START_BITS) - 1)) as usize;
        if let Some(words) = self.words[(place >> (LENGTH_BITS + START_BITS)) as usize].get() {
            prefetch(&words.0, start);
        }
    }

    /// A copy of a row.
    pub fn row(&self, number: u32) -> Vec<u32> {
        self.get(number).to_vec()
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.length.load(Ordering::Acquire)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The memory that it takes.
    pub fn bytes(&self) -> usize {
        let words = self.words.iter().filter_map(OnceLock::get).map(|chunk| chunk.0.len() * 4);
        let indices = self.places.iter().chain(&self.tables).filter_map(OnceLock::get);
        words.sum::<usize>() + indices.map(|chunk| chunk.len() * 8).sum::<usize>()
    }

    /// The row with a number that was handed out.
    #[inline]
    fn get(&self, number: u32) -> &[u32] {
        let (chunk, at) = position(number);
        let Some(places) = self.places[chunk].get() else { return &[] };
        let place = places[at].load(Ordering::Acquire);
        let length = (place & ((1 << LENGTH_BITS) - 1)) as usize;
        let start = (place >> LENGTH_BITS & ((1 << START_BITS) - 1)) as usize;
        let Some(words) = self.words[(place >> (LENGTH_BITS + START_BITS)) as usize].get() else {
            return &[];
        };
        let row = &words.0[start..start + length];
        // SAFETY: the words of a row whose place is known are never written again; see the head of this file.
        unsafe { std::slice::from_raw_parts(row.as_ptr().cast::<u32>(), row.len()) }
    }

    /// The number of a row that is there. One that another thread is adding may be missed.
    #[inline]
    fn find(&self, row: &[u32], hash: u64) -> Option<u32> {
        let table = self.tables[self.current.load(Ordering::Acquire)].get()?;
        let mask = table.len() - 1;
        let mut place = hash as usize & mask;
        loop {
            let entry = table[place].load(Ordering::Acquire);
            if entry == 0 {
                return None;
            }
            let number = entry as u32 - 1;
            if entry >> 32 == hash >> 32 && same(self.get(number), row) {
                return Some(number);
            }
            place = (place + 1) & mask;
        }
    }

    #[cold]
    fn add(&self, row: &[u32], hash: u64) -> u32 {
        let mut writer = self.writer.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(known) = self.find(row, hash) {
            return known;
        }
        let number = self.length.load(Ordering::Relaxed);
        self.make_room(number);
        self.write(&mut writer, number as u32, row);
        if let Some(table) = self.tables[self.current.load(Ordering::Relaxed)].get() {
            put(table, hash, number as u32);
        }
        self.length.store(number + 1, Ordering::Release);
        number as u32
    }

    /// Writes a row and publishes its place.
    fn write(&self, writer: &mut MutexGuard<'_, Writer>, number: u32, row: &[u32]) {
        assert!(row.len() < 1 << LENGTH_BITS, "a value of more than 2^28 parts");
        assert!(number < 1 << NUMBER_BITS, "more than 2^31 values");
        while writer.start + row.len() > chunk_size(writer.chunk) {
            (writer.chunk, writer.start) = (writer.chunk + 1, 0);
        }
        let size = chunk_size(writer.chunk);
        let words =
            self.words[writer.chunk].get_or_init(|| Words((0..size).map(|_| UnsafeCell::new(0)).collect()));
        for (cell, &word) in words.0[writer.start..].iter().zip(row) {
            // SAFETY: these words belong to no row yet, and only the holder of the lock writes.
            unsafe { *cell.get() = word }
        }
        let (chunk, at) = position(number);
        let places = self.places[chunk].get_or_init(|| zeros(chunk_size(chunk)));
        let place = (writer.chunk as u64) << (LENGTH_BITS + START_BITS)
            | (writer.start as u64) << LENGTH_BITS
            | row.len() as u64;
        places[at].store(place, Ordering::Release);
        writer.start += row.len();
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
        for number in 0..rows as u32 {
            put(table, hash(self.get(number)), number);
        }
        self.current.store(next, Ordering::Release);
    }
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

fn chunk_size(chunk: usize) -> usize {
    1 << (FIRST_BITS as usize + chunk)
}

/// The chunk of an entry, and where it lies in there.
#[inline]
fn position(number: u32) -> (usize, usize) {
    let counted = u64::from(number) + (1 << FIRST_BITS);
    let bits = counted.ilog2();
    ((bits - FIRST_BITS) as usize, (counted - (1 << bits)) as usize)
}

fn zeros(size: usize) -> Box<[AtomicU64]> {
    (0..size).map(|_| AtomicU64::new(0)).collect()
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
/// let (mut one, mut two) = (shared.local(), shared.local());
/// let number = one.intern(&[1, 2, 3]);
/// assert_eq!(two.row(number), [1, 2, 3]);
/// assert_eq!(two.intern(&[1, 2, 3]), number);
/// ```
#[derive(Clone, Copy)]
pub struct LocalRows<'a> {
    shared: &'a SharedRows,
}

impl<'a> LocalRows<'a> {
    /// The number of a row, added if it is new to everybody.
    #[inline]
    pub fn intern(&mut self, row: &[u32]) -> u32 {
        self.shared.intern(row)
    }

    /// How many rows there are.
    #[inline]
    pub fn count(&self) -> usize {
        self.shared.len()
    }

    /// Says that a row will be among those of [`intern_all`](Self::intern_all). Gives what it is known by there.
    #[inline]
    pub fn announce(&self, row: &[u32]) -> u64 {
        let hash = hash(row);
        self.shared.approach(hash, Approach::Entry);
        hash
    }

    /// The numbers of several rows that were announced, added if they are new. Looking for them at once takes hardly longer than
    /// looking for one, because all of them wait for memory together.
    #[inline]
    pub fn intern_all<'r>(
        &mut self,
        rows: impl Iterator<Item = (&'r [u32], u64)> + Clone,
        mut found: impl FnMut(usize, u32),
    ) {
        for step in [Approach::Place, Approach::Words] {
            rows.clone().for_each(|(_, hash)| self.shared.approach(hash, step));
        }
        for (at, (row, hash)) in rows.enumerate() {
            found(at, self.shared.intern_hashed(row, hash));
        }
    }

    /// The row with a number that some thread got from [`intern`](Self::intern).
    #[inline]
    pub fn row(&self, number: u32) -> &'a [u32] {
        self.shared.get(number)
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
                    let mut local = shared.local();
                    for n in 0..50_000u32 {
                        let row = [n * 7 % 9973, n % 3 + seed % 2];
                        let row = &row[..(n % 2 + 1) as usize];
                        let number = local.intern(row);
                        assert_eq!(local.row(number), row);
                    }
                });
            }
        });
        let mut rows: Vec<Vec<u32>> = (0..shared.len() as u32).map(|number| shared.row(number)).collect();
        let count = rows.len();
        rows.sort();
        rows.dedup();
        assert_eq!(rows.len(), count);
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
        assert_eq!(shared.len(), 2000);
        assert!(shared.bytes() > 2000 * 1000 * 4);
    }
}
