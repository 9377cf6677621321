//! What local regions do, remembered by their local states.
//!
//! A system of a few components has millions of states but each component only a few local ones. What a
//! [local](crate::run::locality) region offers and what an action makes of it are computed once for each of those and
//! looked up from then on, straight from packed states. What can't be told from the local state alone is computed
//! every time, as if nothing were remembered: the last action of a branch, exceptions, run-time errors.

use lts::{OriginId, RowSet};
use rustc_hash::FxHashMap;

use super::Offer;
use crate::run::locality::Locality;

/// Local states of at most this many bits are looked up in an array.
const DIRECT_BITS: u32 = 10;
/// More remembered numbers than this, over everything, and it is time to start over: 32 MB.
const MOST_NUMBERS: usize = 1 << 23;
/// A region that misses this often, and in more than a quarter of all states, is not worth it.
const MANY_MISSES: u64 = 1 << 11;

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
    /// It has to be computed every time.
    Computed,
    /// The action can't happen with these values.
    Refused,
    /// Bits of the packed state flip, and marks fire.
    Flips { flips: Part32, marks: Part32 },
}

enum Table {
    Direct(Vec<u32>),
    Hashed(FxHashMap<u128, u32>),
}

struct RegionMemory<'a> {
    /// None where nothing is remembered.
    locality: Option<&'a Locality>,
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
    open_misses: u64,
    open_hits: u64,
    origins: Vec<KnownOrigin>,
    /// Regions whose local states in the state at hand are not known yet.
    pub missed: Vec<u32>,
    /// Whether something was learned, so that it may be time to start over.
    pub grown: bool,
    /// How many states were asked for.
    pub states: u64,
}

impl<'a> Memory<'a> {
    pub fn new(localities: &'a [Option<Locality>]) -> Self {
        let regions = localities.iter().map(|locality| RegionMemory {
            locality: locality.as_ref(),
            table: match locality {
                Some(locality) if locality.bits <= DIRECT_BITS => Table::Direct(vec![0; 1 << locality.bits]),
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
            open_misses: 0,
            open_hits: 0,
            origins: vec![KnownOrigin::default(); 1 << ORIGIN_BITS],
            missed: Vec::new(),
            grown: false,
            states: 0,
        }
    }

    /// The local state of a region in a packed state.
    #[inline]
    pub fn recall(&self, region: u32, packed: &[u32]) -> Recalled {
        let region = &self.regions[region as usize];
        let Some(locality) = region.locality else { return Recalled::Never };
        let number = match &region.table {
            Table::Direct(table) => table[locality.short_key(packed) as usize],
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
        let Some(locality) = region.locality else { return };
        region.misses += 1;
        if region.misses > MANY_MISSES && region.misses * 4 > self.states {
            region.locality = None;
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
            Table::Hashed(table) => _ = table.insert(locality.key(packed), number),
        }
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

    /// Whether there are so many different values that looking them up does not pay.
    pub fn open_effects_vary(&self) -> bool {
        self.open_misses > MANY_MISSES && self.open_misses > self.open_hits
    }

    /// Whether too much is remembered.
    pub fn is_full(&self) -> bool {
        let offers = (self.locals.len() + self.offers.len() + self.parts.len()) * 16;
        let effects = self.changes.len() + self.marks.len() + self.flips.len() + self.effects.len() * 6;
        offers + effects + (self.open_effects.len() + self.long_values.len()) * 8 > MOST_NUMBERS
    }

    /// Forgets everything but which regions are worth it.
    pub fn clear(&mut self) {
        for region in &mut self.regions {
            match &mut region.table {
                Table::Direct(table) => table.fill(0),
                Table::Hashed(table) => table.clear(),
            }
        }
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
