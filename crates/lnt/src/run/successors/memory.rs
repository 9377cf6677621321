//! What local regions do, remembered by their local states.
//!
//! A system of a few components has millions of states but each component only a few local ones. What a
//! [local](crate::run::locality) region offers and what an action makes of it are computed once for each of those and
//! looked up from then on, straight from packed states. What can't be told from the local state alone is computed
//! every time, as if nothing were remembered: the last action of a branch, exceptions, run-time errors.

use lts::{LabelId, OriginId, RowSet};
use rustc_hash::FxHashMap;

use super::Offer;
use crate::run::locality::{Locality, MOST_BITS};

/// Local states of at most this many bits are looked up in an array.
const DIRECT_BITS: u32 = 10;
/// More remembered numbers than this, over everything, and it is time to start over: 32 MB.
const MOST_NUMBERS: usize = 1 << 23;
/// A region that misses this often, and more than once in so many states, is not worth it: looking its local states up
/// takes longer than computing what it does.
const MANY_MISSES: u64 = 1 << 11;
const STATES_A_MISS: u64 = 16;

/// No effect has been computed yet.
pub(super) const NO_EFFECT: u32 = u32::MAX;

/// How many origins of steps are remembered, as a power of two.
const ORIGIN_BITS: u32 = 9;

/// The origin of steps whose parts fire these marks; none are empty, so that this is no step at first.
#[derive(Clone, Copy, Default)]
struct KnownOrigin {
    fired: [Part32; 2],
    origin: OriginId,
}

/// A range of an array.
pub(super) type Part32 = (u32, u32);

/// What a region does in a local state.
#[derive(Clone, Copy)]
pub(super) struct Local {
    offers: Part32,
    /// Whether it has ended.
    pub ended: bool,
    /// Whether it has to be computed every time.
    pub computed: bool,
}

/// How a local state was found.
pub(super) enum Recalled {
    Known(Local),
    Missing,
    /// This region is not remembered.
    Never,
}

/// A region that takes part in an offer, in one of its local states.
#[derive(Clone, Copy)]
pub(super) struct KnownPart {
    /// The slots that change and the marks that fire silently before the action.
    pub changes: Part32,
    pub marks: Part32,
    /// Whether the effect depends on values that others choose.
    pub open: bool,
    pub effect: u32,
    /// The number of the shapes that it names where all of its values are open.
    pub naming: u32,
}

/// What becomes of a region by an action.
#[derive(Clone, Copy)]
pub(super) enum Effect {
    /// The whole step has to be computed.
    Computed,
    /// It has to be computed, but depends on the region alone.
    Live,
    /// The action can't happen with these values.
    Refused,
    /// Bits of the packed state flip, and marks fire.
    Flips { flips: Part32, marks: Part32 },
}

enum Table {
    Direct(Vec<u32>),
    Short(Numbers),
    Hashed(FxHashMap<u128, u32>),
}

/// Numbers other than 0 by keys of 64 bits: a look-up touches one line of the cache.
#[derive(Default)]
struct Numbers {
    /// A power of two, at most half full.
    entries: Vec<(u64, u32)>,
    count: usize,
}

impl Numbers {
    #[inline]
    fn place(&self, key: u64) -> usize {
        let mixed = (key ^ key >> 32).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (mixed >> 20) as usize & (self.entries.len() - 1)
    }

    /// The number of a key, or 0.
    #[inline]
    fn get(&self, key: u64) -> u32 {
        if self.entries.is_empty() {
            return 0;
        }
        let mut place = self.place(key);
        loop {
            let (known, number) = self.entries[place];
            if number == 0 || known == key {
                return number;
            }
            place = (place + 1) & (self.entries.len() - 1);
        }
    }

    /// Gives a key that has none yet a number.
    fn insert(&mut self, key: u64, number: u32) {
        if self.count * 2 >= self.entries.len() {
            let larger = vec![(0, 0); (self.entries.len() * 2).max(256)];
            let old = std::mem::replace(&mut self.entries, larger);
            old.into_iter().filter(|entry| entry.1 != 0).for_each(|(key, number)| self.put(key, number));
        }
        self.count += 1;
        self.put(key, number);
    }

    fn put(&mut self, key: u64, number: u32) {
        let mut place = self.place(key);
        while self.entries[place].1 != 0 {
            place = (place + 1) & (self.entries.len() - 1);
        }
        self.entries[place] = (key, number);
    }

    fn clear(&mut self) {
        self.entries.clear();
        self.count = 0;
    }
}

/// A step of two parts together: label, origin, and which words of the packed state flip which bits.
#[derive(Clone, Copy)]
pub(super) struct PairStep {
    pub label: LabelId,
    pub origin: OriginId,
    pub flips: Part32,
}

struct RegionMemory<'a> {
    /// What a local region depends on.
    locality: Option<&'a Locality>,
    /// Whether what it does is remembered.
    remembered: bool,
    /// The number of each known local state, counted from 1.
    table: Table,
    misses: u64,
}

pub(super) struct Memory<'a> {
    regions: Vec<RegionMemory<'a>>,
    locals: Vec<Local>,
    offers: Vec<Offer>,
    pub parts: Vec<KnownPart>,
    /// Slots and their new values.
    pub changes: Vec<(u32, u32)>,
    pub marks: Vec<u32>,
    pub effects: Vec<Effect>,
    /// Words of packed states and the bits of them that flip.
    pub flips: Vec<(u32, u32)>,
    /// The effects of parts that get values from others: by the part and the sketch of the values, or their number in
    /// `long_values` where they are too many for one.
    open_effects: FxHashMap<(u32, u64), u32>,
    long_values: RowSet,
    /// The steps that two parts take together, by both: numbers of [`Memory::pairs`], counted from 1.
    pair_numbers: Numbers,
    pairs: Vec<Part32>,
    pub pair_steps: Vec<PairStep>,
    pair_hits: u64,
    open_misses: u64,
    open_hits: u64,
    origins: Vec<KnownOrigin>,
    /// Regions whose local states in the state at hand are not known yet.
    pub missed: Vec<u32>,
    /// Whether something was learned, so that it may be time to start over.
    pub grown: bool,
    /// How many states were asked for.
    pub states: u64,
    /// The bytes of it that were counted.
    pub counted: usize,
}

impl<'a> Memory<'a> {
    /// Nothing is known yet, and nothing will be where it is not to be remembered.
    pub fn new(localities: &'a [Option<Locality>], remembers: bool) -> Self {
        let regions = localities.iter().map(|locality| RegionMemory {
            locality: locality.as_ref(),
            remembered: remembers && locality.as_ref().is_some_and(|locality| locality.bits <= MOST_BITS),
            table: match locality {
                Some(locality) if locality.bits <= DIRECT_BITS => Table::Direct(vec![0; 1 << locality.bits]),
                Some(locality) if locality.bits <= 64 => Table::Short(Numbers::default()),
                _ => Table::Hashed(FxHashMap::default()),
            },
            misses: 0,
        });
        Self {
            regions: regions.collect(),
            locals: Vec::new(),
            offers: Vec::new(),
            parts: Vec::new(),
            changes: Vec::new(),
            marks: Vec::new(),
            effects: Vec::new(),
            flips: Vec::new(),
            open_effects: FxHashMap::default(),
            long_values: RowSet::default(),
            pair_numbers: Numbers::default(),
            pairs: Vec::new(),
            pair_steps: Vec::new(),
            pair_hits: 0,
            open_misses: 0,
            open_hits: 0,
            origins: vec![KnownOrigin::default(); 1 << ORIGIN_BITS],
            missed: Vec::new(),
            grown: false,
            states: 0,
            counted: 0,
        }
    }

    /// The local state of a region in a packed state.
    #[inline]
    pub fn recall(&self, region: u32, packed: &[u32]) -> Recalled {
        let region = &self.regions[region as usize];
        let Some(locality) = region.locality.filter(|_| region.remembered) else { return Recalled::Never };
        let number = match &region.table {
            Table::Direct(table) => table[locality.short_key(packed) as usize],
            Table::Short(table) => table.get(locality.key(packed) as u64),
            Table::Hashed(table) => table.get(&locality.key(packed)).copied().unwrap_or(0),
        };
        match number {
            0 => Recalled::Missing,
            _ => Recalled::Known(self.locals[number as usize - 1]),
        }
    }

    pub fn offers_of(&self, local: Local) -> &[Offer] {
        &self.offers[local.offers.0 as usize..local.offers.1 as usize]
    }

    /// Remembers what a region offers; none if it has to be computed every time.
    pub fn learn(&mut self, region: u32, packed: &[u32], offers: Option<&[Offer]>, ended: bool) {
        let region = &mut self.regions[region as usize];
        let Some(locality) = region.locality.filter(|_| region.remembered) else { return };
        region.misses += 1;
        if region.misses > MANY_MISSES && region.misses * STATES_A_MISS > self.states {
            region.remembered = false;
            region.table = Table::Hashed(FxHashMap::default());
            return;
        }
        let first = self.offers.len() as u32;
        self.offers.extend_from_slice(offers.unwrap_or_default());
        self.locals.push(Local {
            offers: (first, self.offers.len() as u32),
            ended,
            computed: offers.is_none(),
        });
        let number = self.locals.len() as u32;
        match &mut region.table {
            Table::Direct(table) => table[locality.short_key(packed) as usize] = number,
            Table::Short(table) => table.insert(locality.key(packed) as u64, number),
            Table::Hashed(table) => _ = table.insert(locality.key(packed), number),
        }
    }

    /// Whether what a region does depends on its own slots alone.
    #[inline]
    pub fn is_local(&self, region: u32) -> bool {
        self.regions[region as usize].locality.is_some()
    }

    /// The slots that a region touches.
    pub fn slots(&self, region: u32) -> &'a [u32] {
        self.regions[region as usize].locality.map_or(&[], |locality| &locality.slots)
    }

    /// The number of values that are too many for a sketch.
    pub fn number_values(&mut self, values: &[u32]) -> u64 {
        let (number, is_new) = self.long_values.insert(values);
        self.grown |= is_new;
        number as u64
    }

    /// The effect of a part that gets values from others.
    #[inline]
    pub fn open_effect(&mut self, part: u32, values: u64) -> u32 {
        let known = self.open_effects.get(&(part, values)).copied().unwrap_or(NO_EFFECT);
        self.open_hits += u64::from(known != NO_EFFECT);
        known
    }

    /// Remembers an effect, and gives its number.
    pub fn learn_effect(&mut self, effect: Effect) -> u32 {
        self.grown = true;
        self.effects.push(effect);
        self.effects.len() as u32 - 1
    }

    pub fn learn_open_effect(&mut self, part: u32, values: u64, effect: u32) {
        self.open_misses += 1;
        self.open_effects.insert((part, values), effect);
    }

    /// The steps of two parts together, if they are known.
    #[inline]
    pub fn pair(&mut self, parts: [u32; 2]) -> Option<Part32> {
        let number = self.pair_numbers.get(u64::from(parts[0]) << 32 | u64::from(parts[1]));
        let found = self.pairs[number.checked_sub(1)? as usize];
        self.pair_hits += 1;
        Some(found)
    }

    /// Whether it pays to remember the steps of pairs.
    pub fn pairs_repeat(&self) -> bool {
        self.pairs.len() < MANY_MISSES as usize || self.pairs.len() as u64 <= self.pair_hits
    }

    /// Remembers the last steps, from a place on, as those of two parts together.
    pub fn learn_pair(&mut self, parts: [u32; 2], first: usize) {
        self.grown = true;
        self.pairs.push((first as u32, self.pair_steps.len() as u32));
        let key = u64::from(parts[0]) << 32 | u64::from(parts[1]);
        self.pair_numbers.insert(key, self.pairs.len() as u32);
    }

    /// Whether there are so many different values that looking them up does not pay.
    pub fn open_effects_vary(&self) -> bool {
        self.open_misses > MANY_MISSES && self.open_misses > self.open_hits
    }

    /// Whether too much is remembered.
    pub fn is_full(&self) -> bool {
        self.numbers() > MOST_NUMBERS
    }

    /// How many numbers are remembered.
    pub fn numbers(&self) -> usize {
        let offers = (self.locals.len() + self.offers.len() + self.parts.len()) * 16;
        let effects = self.changes.len() + self.marks.len() + self.flips.len() + self.effects.len() * 6;
        let pairs = self.pair_numbers.entries.len() * 4 + self.pairs.len() * 2 + self.pair_steps.len() * 4;
        offers + effects + pairs + (self.open_effects.len() + self.long_values.len()) * 8
    }

    /// Forgets everything but which regions are worth it.
    pub fn clear(&mut self) {
        for region in &mut self.regions {
            match &mut region.table {
                Table::Direct(table) => table.fill(0),
                Table::Short(table) => table.clear(),
                Table::Hashed(table) => table.clear(),
            }
        }
        self.pair_numbers.clear();
        self.pairs.clear();
        self.pair_steps.clear();
        self.locals.clear();
        self.offers.clear();
        self.parts.clear();
        self.changes.clear();
        self.marks.clear();
        self.effects.clear();
        self.flips.clear();
        self.open_effects.clear();
        self.long_values = RowSet::default();
        self.origins.fill(KnownOrigin::default());
    }

    /// The origin of a step whose parts fire these marks, if it is remembered.
    #[inline]
    pub fn origin(&self, fired: [Part32; 2]) -> Option<OriginId> {
        let known = self.origins[place_of(fired)];
        (known.fired == fired).then_some(known.origin)
    }

    /// Remembers an origin until another one needs its place.
    pub fn learn_origin(&mut self, fired: [Part32; 2], origin: OriginId) {
        self.origins[place_of(fired)] = KnownOrigin { fired, origin };
    }
}

/// Where the origin of a step is remembered.
#[inline]
fn place_of(fired: [Part32; 2]) -> usize {
    let mixed = u64::from(fired[0].0) | u64::from(fired[1].0) << 32;
    (mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - ORIGIN_BITS)) as usize
}
