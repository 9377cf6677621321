//! The set of seen states: packed vectors in order of discovery, found through a hash table cut into shards.
//!
//! Beyond the packed vector a state costs its parent (4 bytes) and an entry (4 bytes) in a table that is between
//! three sevenths and three quarters full: 9 to 14 bytes. An entry is a state number and, in the bits that numbers do
//! not need yet, a part of the hash: nearly all probes that look at a state find it.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::prefetch::prefetch;

/// How many states a growing table takes at a time.
const BLOCK: usize = 64;

/// Where a state was looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// A state with this number.
    Known(u32),
    /// A state that is new in this round, by its position among the new ones of its shard.
    Pending(u32),
}

/// The seen states.
pub(crate) struct Store {
    words: usize,
    packed: Vec<u32>,
    parents: Vec<u32>,
    pub shards: Vec<Shard>,
    shard_shift: u32,
}

/// The part of the hash table for one range of hashes: filled by one thread, and sharing no cache line with others.
#[derive(Default)]
#[repr(align(128))]
pub(crate) struct Shard {
    /// 0 for a free place, else a state number plus 1 in the lowest `bits` bits and a part of the hash above them.
    entries: Vec<u32>,
    bits: u32,
    used: usize,
    /// How many states are numbered: a number from here on is a position in `pending`.
    numbered: u32,
    /// States found new in this round.
    pub pending: Vec<Pending>,
    /// What was found for each target of this round, in order of the buffers.
    pub found: Vec<u32>,
    /// Where the new states and the findings of each buffer start, and where the last ones end.
    starts: Vec<(usize, usize)>,
}

/// A state found new in this round.
pub(crate) struct Pending {
    place: usize,
    pub target: Target,
    /// Its number, once it has one.
    pub number: AtomicU32,
}

/// Where a target is: in which buffer, where among those of its shard there, and which of the buffer's steps leads to
/// it.
#[derive(Clone, Copy)]
pub(crate) struct Target {
    pub buffer: u32,
    pub index: u32,
    pub step: u32,
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
    /// An empty store for packed states of `words` words, its table cut for `threads` threads.
    pub fn new(words: usize, threads: usize) -> Self {
        let shards = threads.next_power_of_two();
        Self {
            words,
            packed: Vec::new(),
            parents: Vec::new(),
            shards: (0..shards).map(|_| Shard::new(1 << 10, 12)).collect(),
            shard_shift: 64 - shards.trailing_zeros(),
        }
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

    /// The shard that a hash belongs to.
    #[inline]
    pub fn shard_of(&self, hash: u64) -> usize {
        // A shift by 64 is what one shard asks for.
        hash.checked_shr(self.shard_shift).unwrap_or(0) as usize
    }

    /// Adds a state that is not there and gives its number; the table learns of it later.
    pub fn push(&mut self, packed: &[u32], parent: u32) -> u32 {
        self.packed.extend_from_slice(packed);
        self.parents.push(parent);
        self.parents.len() as u32 - 1
    }

    /// Makes room for so many states of each buffer; the numbers of each follow those of the one before.
    pub fn grow(&mut self, counts: &[usize]) -> (Vec<Room<'_>>, &[Shard]) {
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
        (rooms, &self.shards)
    }

    /// The vectors and the shards, to be used side by side.
    pub fn split(&mut self) -> (Vectors<'_>, &mut [Shard]) {
        (Vectors { words: self.words, packed: &self.packed }, &mut self.shards)
    }

    /// Gives the memory of the table back, once nobody looks for states any more.
    pub fn forget_table(&mut self) {
        self.shards = Vec::new();
    }

    pub fn bytes(&self) -> usize {
        let tables: usize = self.shards.iter().map(|shard| shard.entries.len() * 4).sum();
        self.packed.capacity() * 4 + self.parents.capacity() * 4 + tables
    }
}

/// The packed vectors of the numbered states.
#[derive(Clone, Copy)]
pub(crate) struct Vectors<'a> {
    words: usize,
    packed: &'a [u32],
}

impl Vectors<'_> {
    #[inline]
    fn get(&self, number: u32) -> &[u32] {
        &self.packed[number as usize * self.words..][..self.words]
    }
}

impl Shard {
    fn new(places: usize, bits: u32) -> Self {
        Self { entries: vec![0; places], bits, ..Self::default() }
    }

    /// The part of a hash that entries hold: its lowest bits, which neither the shard nor the place depend on.
    #[inline]
    fn tag(&self, hash: u64) -> u32 {
        (hash as u32).checked_shl(self.bits).unwrap_or(0)
    }

    /// Looks for a state and, if it is new, notes it as pending. `buffered` gives the states of this round.
    #[inline]
    pub fn find_or_note<'b>(
        &mut self,
        hash: u64,
        state: &[u32],
        vectors: Vectors<'_>,
        buffered: impl Fn(u32, u32) -> &'b [u32],
        target: Target,
    ) -> Found {
        let tag = self.tag(hash);
        let numbers = (1u32 << self.bits) - 1;
        let mut place = place_of(hash, self.entries.len());
        loop {
            let entry = self.entries[place];
            if entry == 0 {
                break;
            }
            if entry & !numbers == tag {
                let number = (entry & numbers) - 1;
                if number < self.numbered {
                    if same(vectors.get(number), state) {
                        return Found::Known(number);
                    }
                } else {
                    let position = number - self.numbered;
                    let known = self.pending[position as usize].target;
                    if same(buffered(known.buffer, known.index), state) {
                        return Found::Pending(position);
                    }
                }
            }
            place += 1;
            if place == self.entries.len() {
                place = 0;
            }
        }
        let position = self.pending.len() as u32;
        self.entries[place] = tag | (self.numbered + position + 1);
        self.used += 1;
        self.pending.push(Pending { place, target, number: AtomicU32::new(NO_NUMBER) });
        Found::Pending(position)
    }

    /// The new states of a buffer of this round.
    pub fn new_of(&self, buffer: usize) -> &[Pending] {
        &self.pending[self.starts[buffer].0..self.starts[buffer + 1].0]
    }

    /// What was found for the targets of a buffer of this round.
    pub fn found_of(&self, buffer: usize) -> &[u32] {
        &self.found[self.starts[buffer].1..self.starts[buffer + 1].1]
    }

    /// The next targets are those of another buffer, or there are no more.
    pub fn start_buffer(&mut self) {
        self.starts.push((self.pending.len(), self.found.len()));
    }

    /// Ends the last round: writes the numbers of its pending states into the table. All of them have one, or the
    /// exploration would have ended.
    pub fn settle(&mut self) {
        let numbers = (1u32 << self.bits) - 1;
        for (at, pending) in self.pending.iter().enumerate() {
            if let Some(soon) = self.pending.get(at + 16) {
                prefetch(&self.entries, soon.place);
            }
            let entry = &mut self.entries[pending.place];
            *entry = (*entry & !numbers) | (pending.number.load(Relaxed) + 1);
        }
        self.pending.clear();
        self.found.clear();
        self.starts.clear();
    }

    /// Makes room for `more` states among the `own` hashes, and for numbers up to `greatest`, so that at most three
    /// quarters of the places are used. Nothing may be pending.
    pub fn reserve(&mut self, more: usize, greatest: usize, vectors: Vectors<'_>, own: impl Fn(u64) -> bool) {
        self.numbered = (vectors.packed.len() / vectors.words) as u32;
        let needed = (self.used + more) * 4 / 3 + 1;
        let wide_enough = greatest + 2 <= 1 << self.bits;
        if needed <= self.entries.len() && wide_enough {
            return;
        }
        let places = match needed <= self.entries.len() {
            true => self.entries.len(),
            false => needed.max(self.entries.len() * 7 / 4),
        };
        if !wide_enough {
            // Room for twice the numbers, so that this is not needed again soon.
            self.bits = (usize::BITS - (greatest + 2).leading_zeros() + 1).min(31);
        }
        // The old table goes before the new one comes: all that it knows is in the vectors.
        self.entries = Vec::new();
        self.entries = vec![0; places];
        // States are taken in their order and read one after the other. A block's own hashes are gathered first, so
        // that their places can be asked for together; without a branch, because nobody could predict it.
        let mut gathered = [(0, 0); BLOCK];
        let mut number_and_1 = 0;
        for states in vectors.packed.chunks(vectors.words * BLOCK) {
            let mut count = 0;
            for packed in states.chunks_exact(vectors.words) {
                let hash = hash(packed);
                number_and_1 += 1;
                gathered[count] = (hash, number_and_1);
                count += usize::from(own(hash));
            }
            for &(hash, _) in &gathered[..count] {
                self.prefetch_place(hash);
            }
            for &(hash, number_and_1) in &gathered[..count] {
                let place = self.free_place(hash);
                self.entries[place] = self.tag(hash) | number_and_1;
            }
        }
    }

    fn free_place(&self, hash: u64) -> usize {
        let mut place = place_of(hash, self.entries.len());
        while self.entries[place] != 0 {
            place += 1;
            if place == self.entries.len() {
                place = 0;
            }
        }
        place
    }

    /// Asks for the place of a hash, so that it is in the cache when it is looked at.
    #[inline]
    pub fn prefetch_place(&self, hash: u64) {
        prefetch(&self.entries, place_of(hash, self.entries.len()));
    }

    /// Asks for the state that probably lies at the place of a hash.
    #[inline]
    pub fn prefetch_state(&self, hash: u64, vectors: Vectors<'_>) {
        let entry = self.entries[place_of(hash, self.entries.len())];
        let number = (entry & ((1u32 << self.bits) - 1)).wrapping_sub(1) as usize;
        prefetch(vectors.packed, number.wrapping_mul(vectors.words));
    }
}

/// Whether two packed states are equal: they are too short for a call of `memcmp` to pay.
#[inline]
fn same(a: &[u32], b: &[u32]) -> bool {
    a.iter().zip(b).all(|(a, b)| a == b)
}

/// A place from the middle bits of a hash.
#[inline]
fn place_of(hash: u64, places: usize) -> usize {
    (((hash << 8) as u128 * places as u128) >> 64) as usize
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
