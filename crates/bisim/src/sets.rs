//! Interned sorted sets of 64-bit elements: equal sets have equal numbers, unions are shared.

use rustc_hash::FxHashMap;

use crate::refinement::{FIRST_SEED, sum_of};

/// A store of sets, numbered from 0 in the order of their first appearance.
pub(crate) struct Sets {
    elements: Vec<u64>,
    /// One past the last element of each set.
    ends: Vec<usize>,
    /// The mixed sum of each set, which is also its hash.
    sums: Vec<u64>,
    seed: u64,
    /// The newest set with each hash, and for each set an older one with the same hash.
    newest: FxHashMap<u64, u32>,
    older: Vec<u32>,
    scratch: Vec<u64>,
}

impl Default for Sets {
    fn default() -> Self {
        Self {
            elements: Vec::new(),
            ends: Vec::new(),
            sums: Vec::new(),
            seed: FIRST_SEED,
            newest: FxHashMap::default(),
            older: Vec::new(),
            scratch: Vec::new(),
        }
    }
}

const NONE: u32 = u32::MAX;

impl Sets {
    pub(crate) fn get(&self, set: u32) -> &[u64] {
        let index = set as usize;
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.elements[start..self.ends[index]]
    }

    /// Chooses how the sums are mixed; for an empty store.
    pub(crate) fn reseed(&mut self, seed: u64) {
        debug_assert!(self.ends.is_empty());
        self.seed = seed;
    }

    /// The mixed sum of the elements.
    pub(crate) fn sum(&self, set: u32) -> u64 {
        self.sums[set as usize]
    }

    /// How many sets there are.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Forgets all sets and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.elements.clear();
        self.ends.clear();
        self.sums.clear();
        self.newest.clear();
        self.older.clear();
    }

    /// The number of a sorted set without repetitions.
    pub(crate) fn intern(&mut self, set: &[u64]) -> u32 {
        let hash = sum_of(set, self.seed);
        let newest = self.newest.get(&hash).copied().unwrap_or(NONE);
        let mut candidate = newest;
        while candidate != NONE {
            if self.get(candidate) == set {
                return candidate;
            }
            candidate = self.older[candidate as usize];
        }
        let number = self.ends.len() as u32;
        self.elements.extend_from_slice(set);
        self.ends.push(self.elements.len());
        self.sums.push(hash);
        self.older.push(newest);
        self.newest.insert(hash, number);
        number
    }

    /// The union of `own` (in any order) and the given sets.
    pub(crate) fn union(&mut self, own: &[u64], sets: &[u32]) -> u32 {
        // Mostly one of the sets already is the union: nothing to sort, nothing to hash.
        if let Some(&largest) = sets.iter().max_by_key(|&&set| self.get(set).len()) {
            let all = self.get(largest);
            let covered = own.iter().all(|element| all.binary_search(element).is_ok())
                && sets.iter().all(|&set| set == largest || is_subset(self.get(set), all));
            if covered {
                return largest;
            }
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        scratch.extend_from_slice(own);
        for &set in sets {
            scratch.extend_from_slice(self.get(set));
        }
        scratch.sort_unstable();
        scratch.dedup();
        let number = self.intern(&scratch);
        self.scratch = scratch;
        number
    }
}

/// Whether the sorted `small` lies within the sorted `large`.
fn is_subset(small: &[u64], large: &[u64]) -> bool {
    let mut rest = large.iter();
    small.len() <= large.len() && small.iter().all(|element| rest.any(|other| other == element))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_sets_have_equal_numbers() {
        let mut sets = Sets::default();
        let (a, b) = (sets.intern(&[1, 5]), sets.intern(&[2]));
        let both = sets.union(&[], &[a, b]);
        assert_eq!(sets.get(both), [1, 2, 5]);
        assert_eq!(sets.union(&[5, 2, 1], &[]), both);
        assert_eq!(sets.union(&[2], &[both, a]), both);
        assert_eq!(sets.intern(&[]), sets.union(&[], &[]));
    }
}
