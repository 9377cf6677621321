//! Plans: for a configuration, machine code of its rendezvous, and which of them are possible where.
//!
//! Few rendezvous are translated at once, of many those that turn out to be wanted: most combinations of locations
//! never come about.

use std::sync::Arc;
use std::sync::atomic::{self, AtomicBool, AtomicU32};

use rustc_hash::FxHashMap;

use super::LntWorker;
use crate::model::LntModel;
use crate::run::decisive;
use crate::run::native::{Chosen, Native};
use crate::run::rendezvous::{Configuration, Leaf, Place, Rendezvous, configuration};
use crate::run::shortcuts::Rest;

/// So many rendezvous and probes are translated at once: more only as they are wanted.
const FEW_RENDEZVOUS: usize = 128;
/// After so many states that need more than is translated, it will be; then after more of them by this factor.
const FIRST_MISSES: u32 = 200;
const MORE: u32 = 8;
/// Labels of rendezvous whose values have at most this many bits are looked up in an array.
const LABEL_BITS: u32 = 12;

/// The bits of a packed state that hold a slot.
#[derive(Clone, Copy)]
pub(super) struct Field {
    word: u32,
    shift: u32,
    mask: u32,
}

impl Field {
    #[inline]
    pub(super) fn get(self, packed: &[u32]) -> u32 {
        (packed[self.word as usize] >> self.shift) & self.mask
    }
}

/// A region that offers something.
pub(super) struct LeafPlan {
    pub counter: Field,
    pub places: Vec<Place>,
    /// By location, the rendezvous and probes that it does not prevent, as bits.
    pub allows: Vec<u64>,
}

/// The most values of a label that is looked up in an array.
const FEW_VALUES: usize = 6;

/// What is needed of a rendezvous to tell its steps.
pub(super) struct Told {
    pub group: u32,
    /// Whether its gate is hidden.
    pub hidden: bool,
    /// How many bits the values of its label have, where these are few.
    pub radices: Option<[u8; FEW_VALUES]>,
}

/// Machine code for a configuration: at first for no rendezvous, then for those that were wanted.
pub(crate) struct Plan {
    pub(super) configuration: Arc<Configuration>,
    pub(super) native: Arc<Native>,
    /// Which rendezvous and probes were translated, or tried to be; also as bits.
    translated: Vec<bool>,
    translated_sets: Vec<u64>,
    /// Which were wanted and are not translated, and in how many states; after so many, they will be.
    wanted: Vec<AtomicBool>,
    missed: AtomicU32,
    limit: u32,
    /// Where the regions that fork rest.
    forking: Vec<(Field, u32)>,
    pub(super) leaves: Vec<LeafPlan>,
    /// By rendezvous.
    pub(super) told: Vec<Told>,
    /// For each rendezvous with values that come from a list, the slots that the list depends on.
    pub(super) decisive: Vec<Vec<u32>>,
    /// How many sets of 64 bits there are.
    pub(super) sets: usize,
}

impl Plan {
    fn new(
        model: &LntModel,
        configuration: Arc<Configuration>,
        translated: Vec<bool>,
        limit: u32,
        before: Option<&Self>,
    ) -> Option<Self> {
        let code = &model.compiled.code;
        let is_known = |number: usize| before.is_some_and(|before| before.translated[number]);
        let missing: Vec<bool> =
            translated.iter().enumerate().map(|(number, &one)| one && !is_known(number)).collect();
        let chosen = Chosen { configuration: &configuration, which: &missing };
        let native = Native::new(&model.compiled, &model.layout, Some(chosen), model.eager)?;
        let native = Arc::new(match before {
            Some(before) => native.extending(before.native.clone()),
            None => native,
        });
        let field = |slot: u32| {
            let (word, shift, mask) = model.layout.place(slot as usize);
            Field { word, shift, mask }
        };
        let counter = |region: u32| field(code.regions[region as usize].counter);
        let all = configuration.rendezvous.len() + configuration.probes.len();
        let sets = all.div_ceil(64);
        let participants = |number: usize| match number.checked_sub(configuration.rendezvous.len()) {
            None => &configuration.rendezvous[number].participants[..],
            Some(probe) => &configuration.probes[probe..=probe],
        };
        let leaf = |leaf: &Leaf| {
            let mut allows = vec![0u64; leaf.places.len() * sets];
            for number in 0..all {
                let own = participants(number).iter().find(|one| one.region == leaf.region);
                for location in 0..leaf.places.len() {
                    if own.is_none_or(|one| one.location as usize == location) {
                        allows[location * sets + number / 64] |= 1 << (number % 64);
                    }
                }
            }
            LeafPlan { counter: counter(leaf.region), places: leaf.places.clone(), allows }
        };
        let leaves = configuration.leaves.iter().map(leaf).collect();
        let forking =
            configuration.forking.iter().map(|&(region, location)| (counter(region), location)).collect();
        let told = |one: &Rendezvous| {
            let offers = &code.actions[one.participants[0].action as usize].offers;
            let bits: Option<Vec<u32>> = offers
                .iter()
                .map(|(_, ty)| match model.compiled.types[ty.index()].leaves[..] {
                    [bits] => Some(bits),
                    _ => None,
                })
                .collect();
            let few = |bits: &Vec<u32>| bits.len() <= FEW_VALUES && bits.iter().sum::<u32>() <= LABEL_BITS;
            let radices = bits.filter(few).map(|bits| {
                let mut radices = [0; FEW_VALUES];
                radices.iter_mut().zip(bits).for_each(|(radix, bits)| *radix = bits as u8);
                radices
            });
            Told { group: one.group, hidden: code.gates[one.gate as usize].hidden, radices }
        };
        let told = configuration.rendezvous.iter().map(told).collect();
        let decisive = |(number, one): (usize, &Rendezvous)| {
            let is_listed = native.meeting_of(number).is_some_and(|piece| piece.opening().ranges.is_none());
            let participants = one.participants.iter().filter(|_| is_listed);
            let mut slots: Vec<u32> = participants
                .flat_map(|one| {
                    let condition = &model.conditions[one.action as usize];
                    decisive(code, &model.compiled.types, &code.actions[one.action as usize], condition)
                })
                .collect();
            slots.sort_unstable();
            slots.dedup();
            slots
        };
        let decisive = configuration.rendezvous.iter().enumerate().map(decisive).collect();
        let wanted = translated.iter().map(|_| AtomicBool::new(false)).collect();
        let missed = AtomicU32::new(0);
        let mut translated_sets = vec![0; sets];
        for (number, _) in translated.iter().enumerate().filter(|one| *one.1) {
            translated_sets[number / 64] |= 1 << (number % 64);
        }
        Some(Self {
            translated_sets,
            forking,
            leaves,
            told,
            decisive,
            sets,
            native,
            translated,
            wanted,
            missed,
            limit,
            configuration,
        })
    }

    /// The same with machine code for what was wanted.
    pub(super) fn extended(&self, model: &LntModel) -> Option<Self> {
        let wanted = self.wanted.iter().map(|wanted| wanted.load(atomic::Ordering::Relaxed));
        let translated =
            self.translated.iter().zip(wanted).map(|(&before, wanted)| before || wanted).collect();
        let limit = if model.eager { 1 } else { self.limit.saturating_mul(MORE) };
        Self::new(model, self.configuration.clone(), translated, limit, Some(self))
    }

    /// Notes the rendezvous that are possible but not translated. Gives whether it is time to do that.
    #[cold]
    pub(super) fn miss(&self, possible: &[u64]) -> bool {
        for (number, wanted) in self.wanted.iter().enumerate() {
            if possible[number / 64] >> (number % 64) & 1 != 0 && !self.translated[number] {
                wanted.store(true, atomic::Ordering::Relaxed);
            }
        }
        self.missed.fetch_add(1, atomic::Ordering::Relaxed) + 1 >= self.limit
    }

    /// Whether all that is possible is translated, or was tried to be.
    #[inline]
    pub(super) fn has_all(&self, possible: &[u64]) -> bool {
        possible.iter().zip(&self.translated_sets).all(|(&possible, &translated)| possible & !translated == 0)
    }

    #[inline]
    pub(super) fn fits(&self, packed: &[u32]) -> bool {
        self.forking.iter().all(|&(counter, location)| counter.get(packed) == location)
    }

    /// Whether all regions below some fork have ended, or all there are.
    #[cold]
    pub(super) fn may_join(&self, model: &LntModel, packed: &[u32]) -> bool {
        let forking = &self.configuration.forking;
        forking.is_empty() || forking.iter().any(|&(region, _)| has_ended(model, packed, region))
    }
}

/// Whether a region has ended, or all regions below it.
fn has_ended(model: &LntModel, packed: &[u32], region: u32) -> bool {
    let code = &model.compiled.code;
    let location = model.layout.get(packed, code.regions[region as usize].counter as usize);
    match model.shortcuts.rest(region, location) {
        Rest::Ended => true,
        Rest::Children(fork, _) => {
            code.forks[fork as usize].children.iter().all(|&child| has_ended(model, packed, child))
        }
        _ => false,
    }
}

/// The plans of a model, by where its regions fork; none where there can't be one.
pub(crate) type Plans = FxHashMap<Vec<(u32, u32)>, Option<Arc<Plan>>>;

impl LntWorker<'_> {
    /// The regions that fork, and where they rest.
    pub(super) fn forking(&self, region: u32, found: &mut Vec<(u32, u32)>) {
        let location = self.location(region);
        if let Rest::Children(fork, _) = self.model.shortcuts.rest(region, location) {
            found.push((region, location));
            for &child in &self.machine.code.forks[fork as usize].children {
                self.forking(child, found);
            }
        }
    }

    fn location(&self, region: u32) -> u32 {
        let counter = self.machine.code.regions[region as usize].counter;
        self.model.layout.get(&self.packed, counter as usize)
    }

    pub(super) fn make_plan(&self) -> Option<Arc<Plan>> {
        let model = self.model;
        let location = |region: u32| self.location(region);
        let mut found = configuration(
            &model.compiled.code,
            &model.compiled.types,
            &model.shortcuts,
            &model.rules,
            &model.profiles,
            &location,
        )?;
        // What is executed on a silent way is told even if no action follows: offers see to that.
        if model.compiled.code.tells() {
            found.leave_ways_to_others();
        }
        // Silent ways run on the state as it was, one beside the other: nobody may write what another one touches.
        let is_own = |region: u32| model.localities[region as usize].is_some();
        let is_simple = |one: &Rendezvous| {
            one.participants.iter().all(|participant| {
                model.interrupted[participant.region as usize].is_empty()
                    && (participant.way.is_empty() || is_own(participant.region))
            })
        };
        if !found.rendezvous.iter().all(is_simple) {
            return None;
        }
        let all = found.rendezvous.len() + found.probes.len();
        let at_once = !model.eager && all <= FEW_RENDEZVOUS;
        let limit = if model.eager { 1 } else { FIRST_MISSES };
        Plan::new(model, Arc::new(found), vec![at_once; all], limit, None).map(Arc::new)
    }
}
