//! The set of seen states: packed vectors in order of discovery, found through a hash table cut into shards.
//!
//! Beyond the packed vector a state costs its parent (4 bytes), a place (4 bytes) and a tag (1 byte) in a table
//! that is between three sevenths and three quarters full: 11 to 16 bytes. Tags lie by themselves, so that most probes
//! touch one cache line and compare no state.

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

/// The part of the hash table for one range of hashes: filled by one thread.
#[derive(Default)]
pub(crate) struct Shard {
    /// 0 for a free place, else seven bits of the hash and the lowest bit set.
    tags: Vec<u8>,
    /// State numbers, or positions in `pending` with the highest bit set.
    places: Vec<u32>,
    used: usize,
    /// States found new in this round.
    pub pending: Vec<Pending>,
}

/// A state found new in this round.
pub(crate) struct Pending {
    place: usize,
    /// Which buffer holds it, and where.
    pub buffer: u32,
    pub index: u32,
    /// Its number, once it has one.
    pub number: Option<u32>,
}

const PENDING: u32 = 1 << 31;

impl Store {
    /// An empty store for packed states of `words` words, its table cut for `threads` threads.
    pub fn new(words: usize, threads: usize) -> Self {
        let shards = threads.next_power_of_two();
        Self {
            words,
            packed: Vec::new(),
            parents: Vec::new(),
            shards: (0..shards).map(|_| Shard::with_capacity(1 << 10)).collect(),
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

    /// The vectors and the shards, to be used side by side.
    pub fn split(&mut self) -> (Vectors<'_>, &mut [Shard]) {
        (Vectors { words: self.words, packed: &self.packed }, &mut self.shards)
    }

    pub fn bytes(&self) -> usize {
        let tables: usize = self.shards.iter().map(|shard| shard.places.len() * 5).sum();
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
    fn with_capacity(places: usize) -> Self {
        Self { tags: vec![0; places], places: vec![0; places], used: 0, pending: Vec::new() }
    }

    /// Looks for a state and, if it is new, notes it as pending. `buffered` gives the states of this round.
    #[inline]
    pub fn find_or_note<'b>(
        &mut self,
        hash: u64,
        state: &[u32],
        vectors: Vectors<'_>,
        buffered: impl Fn(u32, u32) -> &'b [u32],
        buffer: u32,
        index: u32,
    ) -> Found {
        let tag = tag_of(hash);
        let mut place = place_of(hash, self.places.len());
        loop {
            match self.tags[place] {
                0 => break,
                found if found == tag => {
                    let number = self.places[place];
                    if number & PENDING == 0 {
                        if same(vectors.get(number), state) {
                            return Found::Known(number);
                        }
                    } else {
                        let pending = &self.pending[(number & !PENDING) as usize];
                        if same(buffered(pending.buffer, pending.index), state) {
                            return Found::Pending(number & !PENDING);
                        }
                    }
                }
                _ => {}
            }
            place += 1;
            if place == self.places.len() {
                place = 0;
            }
        }
        let position = self.pending.len() as u32;
        self.tags[place] = tag;
        self.places[place] = position | PENDING;
        self.used += 1;
        self.pending.push(Pending { place, buffer, index, number: None });
        Found::Pending(position)
    }

    /// Writes the numbers of the pending states into the table.
    pub fn settle(&mut self) {
        for pending in self.pending.drain(..) {
            match pending.number {
                Some(number) => self.places[pending.place] = number,
                // Past a limit: the exploration ends, and nobody looks any more.
                None => self.tags[pending.place] = 0,
            }
        }
    }

    /// Makes room for `more` states, so that at most three quarters of the places are used. `own` says which hashes
    /// belong here.
    pub fn reserve(&mut self, more: usize, vectors: Vectors<'_>, own: impl Fn(u64) -> bool) {
        let needed = (self.used + more) * 4 / 3 + 1;
        if needed <= self.places.len() {
            return;
        }
        let places = needed.max(self.places.len() * 7 / 4);
        let mut grown = Shard::with_capacity(places);
        // All numbered states are in the table; taken in their order, they are read one after the other.
        for (number, packed) in vectors.packed.chunks_exact(vectors.words).enumerate() {
            let hash = hash(packed);
            if !own(hash) {
                continue;
            }
            let mut place = place_of(hash, places);
            while grown.tags[place] != 0 {
                place += 1;
                if place == places {
                    place = 0;
                }
            }
            grown.tags[place] = tag_of(hash);
            grown.places[place] = number as u32;
        }
        grown.used = self.used;
        *self = grown;
    }

    /// Touches the place of a hash, so that it is in the cache when it is looked at. The result is of no interest.
    #[inline]
    pub fn touch_place(&self, hash: u64) -> u32 {
        let place = place_of(hash, self.places.len());
        u32::from(self.tags[place]) ^ self.places[place]
    }

    /// Touches the state that probably lies at the place of a hash.
    #[inline]
    pub fn touch_state(&self, hash: u64, vectors: Vectors<'_>) -> u32 {
        let number = self.places[place_of(hash, self.places.len())] as usize;
        vectors.packed.get(number * vectors.words).copied().unwrap_or(0)
    }
}

/// Whether two packed states are equal: they are too short for a call of `memcmp` to pay.
#[inline]
fn same(a: &[u32], b: &[u32]) -> bool {
    a.iter().zip(b).all(|(a, b)| a == b)
}

/// The tag of a hash: its bits 8 to 14, which neither the shard nor, mostly, the place depend on.
#[inline]
fn tag_of(hash: u64) -> u8 {
    (hash as u8) | 1
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
