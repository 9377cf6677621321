//! Interned rows of numbers, shared by several threads: structured values, labels with their offers, sets of marks.
//!
//! A row is stored once and known by its number. Every thread works on its own copy of a prefix of the shared
//! table, so that reading and finding known rows takes no lock; only a row that is new to the thread does.

use std::sync::RwLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use lts::RowSet;

/// The table behind the threads' copies.
#[derive(Debug, Default)]
pub struct SharedRows {
    table: RwLock<RowSet>,
    /// The length of the table, to be looked at without a lock.
    length: AtomicUsize,
    /// What the copies take.
    in_copies: AtomicUsize,
}

impl SharedRows {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// A thread's own view.
    pub fn local(&self) -> LocalRows<'_> {
        let mut local = LocalRows { shared: self, table: self.read().clone(), counted: 0 };
        local.count();
        local
    }

    /// The number of a row, added if it is new.
    pub fn intern(&self, row: &[u32]) -> u32 {
        if let Some(known) = self.read().find(row) {
            return known as u32;
        }
        let mut table = self.table.write().unwrap_or_else(|poisoned| poisoned.into_inner());
        let number = table.insert(row).0 as u32;
        self.length.store(table.len(), Ordering::Release);
        number
    }

    /// A copy of a row.
    pub fn row(&self, number: u32) -> Vec<u32> {
        self.read().row(number as usize).to_vec()
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.read().len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The memory of the table and of all threads' copies of it, in bytes.
    ///
    /// ```
    /// let rows = model::SharedRows::new();
    /// rows.intern(&[1, 2, 3]);
    /// let alone = rows.bytes();
    /// let local = rows.local();
    /// assert!(rows.bytes() > alone);
    /// drop(local);
    /// assert_eq!(rows.bytes(), alone);
    /// ```
    pub fn bytes(&self) -> usize {
        self.read().bytes() + self.in_copies.load(Ordering::Relaxed)
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, RowSet> {
        self.table.read().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
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
pub struct LocalRows<'a> {
    shared: &'a SharedRows,
    table: RowSet,
    /// What the others know this copy to take.
    counted: usize,
}

impl Drop for LocalRows<'_> {
    fn drop(&mut self) {
        self.shared.in_copies.fetch_sub(self.counted, Ordering::Relaxed);
    }
}

impl LocalRows<'_> {
    /// The number of a row, added if it is new to everybody.
    #[inline]
    pub fn intern(&mut self, row: &[u32]) -> u32 {
        match self.table.find(row) {
            Some(known) => known as u32,
            None => self.intern_new(row),
        }
    }

    /// The row with a number that some thread got from [`intern`](Self::intern).
    #[inline]
    pub fn row(&mut self, number: u32) -> &[u32] {
        if number as usize >= self.table.len() {
            self.catch_up();
        }
        self.table.row(number as usize)
    }

    /// Learns of the rows that other threads have added: then [`get`](Self::get) knows every number that was handed
    /// out before.
    #[inline]
    pub fn refresh(&mut self) {
        if self.shared.length.load(Ordering::Acquire) > self.table.len() {
            self.catch_up();
        }
    }

    /// The row with a number that this thread knows of.
    #[inline]
    pub fn get(&self, number: u32) -> &[u32] {
        self.table.row(number as usize)
    }

    #[cold]
    fn intern_new(&mut self, row: &[u32]) -> u32 {
        let number = self.shared.intern(row);
        self.catch_up();
        number
    }

    /// Tells the others how much memory this copy takes, if that has changed.
    fn count(&mut self) {
        let bytes = self.table.bytes();
        if bytes != self.counted {
            // It only grows: what is added wraps around like what is taken away at the end.
            self.shared.in_copies.fetch_add(bytes.wrapping_sub(self.counted), Ordering::Relaxed);
            self.counted = bytes;
        }
    }

    /// Copies the rows that others have added.
    #[cold]
    fn catch_up(&mut self) {
        let shared = self.shared.read();
        for number in self.table.len()..shared.len() {
            self.table.insert(shared.row(number));
        }
        drop(shared);
        self.count();
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
                    for n in 0..5000u32 {
                        let row = [n * 7 % 997, n % 3 + seed % 2];
                        let number = local.intern(&row);
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
}
