//! A set of rows of numbers, each stored once and known by its index: state tuples and subsets of states.

use std::hash::Hasher;

use rustc_hash::FxHasher;

/// Interned rows of `u32`, of any lengths, laid end to end; 8 bytes a row beyond its numbers and the hash table.
#[derive(Default)]
pub(crate) struct RowSet {
    numbers: Vec<u32>,
    ends: Vec<usize>,
    /// Open addressing over indices + 1, 0 for a free place; the length is a power of two.
    table: Vec<u32>,
}

impl RowSet {
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn row(&self, index: usize) -> &[u32] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.numbers[start..self.ends[index]]
    }

    /// The index of a row, and whether it is new.
    pub fn insert(&mut self, row: &[u32]) -> (usize, bool) {
        if (self.len() + 1) * 2 > self.table.len() {
            self.grow();
        }
        let mask = self.table.len() - 1;
        let mut place = hash(row) & mask;
        loop {
            match self.table[place] {
                0 => break,
                known if self.row(known as usize - 1) == row => return (known as usize - 1, false),
                _ => place = (place + 1) & mask,
            }
        }
        self.numbers.extend_from_slice(row);
        self.ends.push(self.numbers.len());
        self.table[place] = self.len() as u32;
        (self.len() - 1, true)
    }

    fn grow(&mut self) {
        let mask = (self.table.len() * 2).max(64) - 1;
        let mut table = vec![0; mask + 1];
        for index in 0..self.len() {
            let mut place = hash(self.row(index)) & mask;
            while table[place] != 0 {
                place = (place + 1) & mask;
            }
            table[place] = index as u32 + 1;
        }
        self.table = table;
    }
}

fn hash(row: &[u32]) -> usize {
    let mut hasher = FxHasher::default();
    for &number in row {
        hasher.write_u32(number);
    }
    hasher.finish() as usize
}
