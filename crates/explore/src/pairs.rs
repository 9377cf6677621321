//! Pairs of numbers, each stored once and known by a number, shared by threads.
//!
//! A pair lies in one of many shards, which it is hashed to: each has a lock of its own, so that threads rarely wait for
//! each other. 8 bytes a pair and its place in a table that is at most three quarters full. What a thread has seen
//! lately it finds without a lock ([`RecentPairs`]): steps change little.

use std::sync::{PoisonError, RwLock};

/// How many shards there are, as a power of two, and how many pairs each can number.
const SHARD_BITS: u32 = 6;
const MOST_IN_SHARD: usize = 1 << (32 - SHARD_BITS);
/// How many pairs a thread remembers, either way.
const RECENT: usize = 1 << 12;

pub(crate) struct Pairs {
    shards: Vec<RwLock<Shard>>,
}

#[derive(Default)]
struct Shard {
    /// The pairs, the first number in the lower half.
    pairs: Vec<u64>,
    /// Open addressing over positions in `pairs` + 1, 0 for a free place; the length is a power of two.
    places: Vec<u32>,
}

impl Pairs {
    pub fn new() -> Self {
        Self { shards: (0..1 << SHARD_BITS).map(|_| RwLock::default()).collect() }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.sum(|shard| shard.pairs.len())
    }

    /// The memory that was reserved, in bytes.
    pub fn bytes(&self) -> usize {
        self.sum(|shard| shard.pairs.capacity() * 8 + shard.places.capacity() * 4)
    }

    fn sum(&self, of: impl Fn(&Shard) -> usize) -> usize {
        self.shards.iter().map(|shard| of(&shard.read().unwrap_or_else(PoisonError::into_inner))).sum()
    }

    /// The number of a pair, which is added if it is new; none where there are no more numbers.
    pub fn intern(&self, pair: u64) -> Option<u32> {
        let hash = hash(pair);
        let shard_number = (hash >> (64 - SHARD_BITS)) as u32;
        let shard = &self.shards[shard_number as usize];
        let known = shard.read().unwrap_or_else(PoisonError::into_inner).find(pair, hash);
        let position = match known {
            Some(position) => position,
            None => shard.write().unwrap_or_else(PoisonError::into_inner).insert(pair, hash)?,
        };
        Some((position as u32) << SHARD_BITS | shard_number)
    }

    /// The pair with a number.
    pub fn pair(&self, number: u32) -> u64 {
        let shard = &self.shards[(number % (1 << SHARD_BITS)) as usize];
        shard.read().unwrap_or_else(PoisonError::into_inner).pairs[(number >> SHARD_BITS) as usize]
    }
}

impl Shard {
    fn find(&self, pair: u64, hash: u64) -> Option<usize> {
        match self.places.is_empty() {
            true => None,
            false => (self.places[self.place(pair, hash)] as usize).checked_sub(1),
        }
    }

    /// The position of a pair, which another thread may have added meanwhile.
    fn insert(&mut self, pair: u64, hash: u64) -> Option<usize> {
        if let Some(known) = self.find(pair, hash) {
            return Some(known);
        }
        if self.pairs.len() == MOST_IN_SHARD {
            return None;
        }
        if (self.pairs.len() + 1) * 4 > self.places.len() * 3 {
            self.places = vec![0; (self.places.len() * 2).max(16)];
            for position in 0..self.pairs.len() {
                let known = self.pairs[position];
                let place = self.place(known, self::hash(known));
                self.places[place] = position as u32 + 1;
            }
        }
        if self.pairs.len() == self.pairs.capacity() {
            // Doubling would leave half of the memory unused.
            self.pairs.reserve_exact(self.pairs.len() / 4 + 16);
        }
        let place = self.place(pair, hash);
        self.pairs.push(pair);
        self.places[place] = self.pairs.len() as u32;
        Some(self.pairs.len() - 1)
    }

    /// The place of a pair in the table, or the free place where it belongs.
    fn place(&self, pair: u64, hash: u64) -> usize {
        let mask = self.places.len() - 1;
        let mut place = hash as usize & mask;
        loop {
            match self.places[place] {
                0 => return place,
                known if self.pairs[known as usize - 1] == pair => return place,
                _ => place = (place + 1) & mask,
            }
        }
    }
}

fn hash(pair: u64) -> u64 {
    let product = u128::from(pair ^ 0x2545_F491_4F6C_DD1D) * u128::from(0x9E37_79B9_7F4A_7C15u64);
    ((product as u64) ^ ((product >> 64) as u64)).wrapping_mul(0xD6E8_FEB8_6659_FD93)
}

/// One thread's view.
pub(crate) struct RecentPairs<'p> {
    pairs: &'p Pairs,
    /// Pairs and their numbers, by the hash of the pair and by the number; none at first.
    by_pair: Vec<Option<(u64, u32)>>,
    by_number: Vec<Option<(u64, u32)>>,
}

impl<'p> RecentPairs<'p> {
    pub fn new(pairs: &'p Pairs) -> Self {
        Self { pairs, by_pair: vec![None; RECENT], by_number: vec![None; RECENT] }
    }

    pub fn intern(&mut self, first: u32, second: u32) -> Option<u32> {
        let pair = u64::from(first) | u64::from(second) << 32;
        let recent = &mut self.by_pair[hash(pair) as usize % RECENT];
        match *recent {
            Some((known, number)) if known == pair => Some(number),
            _ => {
                let number = self.pairs.intern(pair)?;
                *recent = Some((pair, number));
                Some(number)
            }
        }
    }

    pub fn pair(&mut self, number: u32) -> (u32, u32) {
        let recent = &mut self.by_number[(number ^ number >> 12) as usize % RECENT];
        let pair = match *recent {
            Some((pair, known)) if known == number => pair,
            _ => {
                let pair = self.pairs.pair(number);
                *recent = Some((pair, number));
                pair
            }
        };
        (pair as u32, (pair >> 32) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_agree_on_numbers() {
        let pairs = Pairs::new();
        std::thread::scope(|scope| {
            for seed in 0..4u32 {
                let pairs = &pairs;
                scope.spawn(move || {
                    let mut recent = RecentPairs::new(pairs);
                    for n in 0..20_000u32 {
                        let pair = (n * 7 % 9973, n % 3 + seed % 2);
                        let number = recent.intern(pair.0, pair.1).unwrap();
                        assert_eq!(recent.pair(number), pair);
                    }
                });
            }
        });
        let mut recent = RecentPairs::new(&pairs);
        let mut numbers = std::collections::HashSet::new();
        let mut different = std::collections::HashSet::new();
        for seed in 0..2 {
            for n in 0..20_000u32 {
                let pair = (n * 7 % 9973, n % 3 + seed);
                different.insert(pair);
                numbers.insert(recent.intern(pair.0, pair.1).unwrap());
            }
        }
        assert_eq!((numbers.len(), pairs.len()), (different.len(), different.len()));
    }
}
