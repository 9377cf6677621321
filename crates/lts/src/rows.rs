//! A set of rows of numbers, each stored once and known by its number: state tuples, subsets of states, structured
//! values.

use std::hash::Hasher;

use rustc_hash::FxHasher;

/// Interned rows of `u32`, of any lengths, laid end to end; 8 bytes a row beyond its numbers and the hash table.
///
/// ```
/// let mut rows = lts::RowSet::default();
/// assert_eq!(rows.insert(&[3, 1]), (0, true));
/// assert_eq!(rows.insert(&[]), (1, true));
/// assert_eq!(rows.insert(&[3, 1]), (0, false));
/// assert_eq!(rows.row(0), [3, 1]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct RowSet {
    numbers: Vec<u32>,
    ends: Vec<usize>,
    /// Open addressing over row numbers + 1, 0 for a free place; the length is a power of two.
    places: Vec<u32>,
}

impl RowSet {
    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The memory that was reserved for rows and table, in bytes.
    pub fn bytes(&self) -> usize {
        let Self { numbers, ends, places } = self;
        (numbers.capacity() + places.capacity()) * size_of::<u32>() + ends.capacity() * size_of::<usize>()
    }

    /// A row by its number.
    #[inline]
    pub fn row(&self, number: usize) -> &[u32] {
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.numbers[start..self.ends[number]]
    }

    /// The number of a row that is there.
    #[inline]
    pub fn find(&self, row: &[u32]) -> Option<usize> {
        match self.places.is_empty() {
            true => None,
            false => (self.places[self.place(row)] as usize).checked_sub(1),
        }
    }

    /// The number of a row, and whether it is new.
    pub fn insert(&mut self, row: &[u32]) -> (usize, bool) {
        if (self.len() + 1) * 2 > self.places.len() {
            self.grow();
        }
        let place = self.place(row);
        if let Some(known) = (self.places[place] as usize).checked_sub(1) {
            return (known, false);
        }
        self.numbers.extend_from_slice(row);
        self.ends.push(self.numbers.len());
        self.places[place] = self.len() as u32;
        (self.len() - 1, true)
    }

    /// The place of a row in the hash table, or the free place where it belongs.
    #[inline]
    fn place(&self, row: &[u32]) -> usize {
        let mask = self.places.len() - 1;
        let mut place = hash(row) & mask;
        loop {
            match self.places[place] {
                0 => return place,
                known if self.row(known as usize - 1) == row => return place,
                _ => place = (place + 1) & mask,
            }
        }
    }

    fn grow(&mut self) {
        let mask = (self.places.len() * 2).max(16) - 1;
        let mut places = vec![0; mask + 1];
        for number in 0..self.len() {
            let mut place = hash(self.row(number)) & mask;
            while places[place] != 0 {
                place = (place + 1) & mask;
            }
            places[place] = number as u32 + 1;
        }
        self.places = places;
    }
}

#[inline]
fn hash(row: &[u32]) -> usize {
    let mut hasher = FxHasher::default();
    for &number in row {
        hasher.write_u32(number);
    }
    hasher.finish() as usize
}
