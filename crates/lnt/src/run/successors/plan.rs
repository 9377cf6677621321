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
use crate::run::native::{Chosen, MeetingPiece, Native};
use crate::run::rendezvous::{Configuration, Participant, Place, Rendezvous, configuration};
use crate::run::shortcuts::Rest;
use crate::run::sources::{Need, Needed};

/// So many rendezvous and scouts are translated at once: more only as they are wanted, because machine code takes long to make.
const FEW_RENDEZVOUS: usize = 16;
/// After so many states that need more than is translated, it will be; then after more of them by this factor.
const FIRST_MISSES: u32 = 100;
const MORE: u32 = 2;
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

/// What the regions that offer something do, wherever they rest.
pub(super) struct Leaves {
    /// For each, where it says its location, and where the first location's entry begins.
    counters: Vec<(Field, u32)>,
    /// For each location of each leaf, the rendezvous and scouts that it does not prevent, as sets of bits; and behind these what
    /// else is to be known of it.
    entries: Vec<u64>,
}

/// A leaf has ended there.
pub(super) const ENDED: u64 = 1;
/// What a leaf does there has to be found out otherwise.
pub(super) const OPEN_PLACE: u64 = 2;

impl Leaves {
    /// Leaves out of what is possible what their locations prevent. Gives what else is to be known of these, together.
    #[inline]
    pub(super) fn restrict(&self, packed: &[u32], possible: &mut [u64]) -> u64 {
        let mut known = 0;
        if let [possible] = possible {
            let entries = self.entries.as_chunks::<2>().0;
            for &(counter, first) in &self.counters {
                let [allowed, place] = entries[first as usize / 2 + counter.get(packed) as usize];
                *possible &= allowed;
                known |= place;
            }
            return known;
        }
        for &(counter, first) in &self.counters {
            let start = first as usize + counter.get(packed) as usize * (possible.len() + 1);
            let [allowed @ .., place] = &self.entries[start..=start + possible.len()] else {
                return OPEN_PLACE;
            };
            possible.iter_mut().zip(allowed).for_each(|(possible, &allowed)| *possible &= allowed);
            known |= place;
        }
        known
    }
}

/// Which values some bits of a word of the elements of a set have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Question {
    /// The slot of the set, and how many words an element has.
    slot: u32,
    words: u32,
    word: u32,
    shift: u32,
    pub(super) mask: u32,
}

/// For so many values it is known where the elements are that have them.
const MOST_PLACED: usize = 16;

/// An answer to a question.
#[derive(Clone, Copy)]
pub(super) struct Answer {
    /// The values that there are, as bits: of greater ones the lowest bits count.
    values: u64,
    /// Which elements have each of the first values, if those that have the same one lie side by side, in their order.
    places: [(u32, u32); MOST_PLACED],
    in_order: bool,
}

impl Question {
    #[inline]
    pub(super) fn answer<'r>(&self, row: impl FnOnce(u32) -> &'r [u32]) -> Answer {
        let mut answer =
            Answer { values: 0, places: [(0, 0); MOST_PLACED], in_order: (self.mask as usize) < MOST_PLACED };
        let mut before = 0;
        for (element, at) in row(self.slot).chunks_exact(self.words as usize).zip(0..) {
            let value = element[self.word as usize] >> self.shift & self.mask;
            let bit = 1 << (value % u64::BITS);
            answer.in_order &= before <= value;
            if let Some(place) = answer.places.get_mut(value as usize) {
                let first = if answer.values & bit == 0 { at } else { place.0 };
                *place = (first, at + 1);
            }
            answer.values |= bit;
            before = value;
        }
        answer
    }
}

impl Answer {
    /// Which of so many elements may have a value.
    #[inline]
    pub(super) fn elements(&self, value: u32, count: u32) -> (u32, u32) {
        match self.values >> (value % u64::BITS) & 1 {
            0 => (0, 0),
            _ if self.in_order => self.places[value as usize % MOST_PLACED],
            _ => (0, count),
        }
    }
}

/// The most values of a label that is looked up in an array.
const FEW_VALUES: usize = 6;

/// What is needed of a rendezvous to tell its steps.
pub(super) struct Told {
    pub group: u32,
    /// How many words a record has, and how many of these are the values of its label.
    pub record: u32,
    pub values: u32,
    /// Whether its gate is hidden, and whether records tell marks.
    pub hidden: bool,
    pub marked: bool,
    /// How many bits the values of its label have, where these are few; and then, where its labels are in an array.
    pub radices: Option<[u8; FEW_VALUES]>,
    pub labels: u32,
}

/// Machine code for a configuration: at first for no rendezvous, then for those that were wanted.
pub(crate) struct Plan {
    pub(super) configuration: Arc<Configuration>,
    pub(super) native: Arc<Native>,
    /// Which rendezvous and scouts were translated, or tried to be; also as bits.
    translated: Vec<bool>,
    translated_sets: Vec<u64>,
    /// Which were wanted and are not translated, and in how many states; after so many, they will be.
    wanted: Vec<AtomicBool>,
    missed: AtomicU32,
    limit: u32,
    /// Where the regions that fork rest.
    forking: Vec<(Field, u32)>,
    pub(super) leaves: Leaves,
    /// All rendezvous, and behind them all scouts, as sets of bits.
    pub(super) all: Vec<u64>,
    /// For each scout the sets of rendezvous, one behind the other, that take each of its ways.
    scouted: Vec<Vec<u64>>,
    /// By rendezvous.
    pub(super) told: Vec<Told>,
    /// How many labels are looked up in an array, of all rendezvous.
    pub(super) labels: u32,
    /// For each rendezvous with values that come from a list, the slots that the list depends on.
    pub(super) decisive: Vec<Vec<u32>>,
    /// What is asked of sets that values come from, and for each rendezvous, by the number of the question, what has to be there.
    pub(super) questions: Vec<Question>,
    pub(super) needs: Vec<Vec<(u32, Needed)>>,
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
        let (rendezvous, scouts) = (&configuration.rendezvous, &configuration.scouts);
        let all = rendezvous.len() + scouts.len();
        let sets = all.div_ceil(64);
        let of_rendezvous = |one: &Rendezvous| -> Vec<(u32, u32)> {
            one.participants.iter().map(|one| (one.region, one.location)).collect()
        };
        // Where regions have to be.
        let needed: Vec<Vec<(u32, u32)>> = rendezvous
            .iter()
            .map(of_rendezvous)
            .chain(scouts.iter().map(|scout| vec![(scout.region, scout.location)]))
            .collect();
        let mut leaves = Leaves { counters: Vec::new(), entries: Vec::new() };
        for leaf in &configuration.leaves {
            leaves.counters.push((counter(leaf.region), leaves.entries.len() as u32));
            for (location, place) in leaf.places.iter().enumerate() {
                let mut allowed = vec![0; sets];
                for (number, needed) in needed.iter().enumerate() {
                    let own = needed.iter().find(|one| one.0 == leaf.region);
                    if own.is_none_or(|one| one.1 as usize == location) {
                        allowed[number / 64] |= 1 << (number % 64);
                    }
                }
                leaves.entries.append(&mut allowed);
                leaves.entries.push(match place {
                    Place::Listed => 0,
                    Place::Ended => ENDED,
                    Place::Open => OPEN_PLACE,
                });
            }
        }
        let forking =
            configuration.forking.iter().map(|&(region, location)| (counter(region), location)).collect();
        let mut labels = 0;
        let told = |(number, one): (usize, &Rendezvous)| {
            let offers = &code.actions[one.participants[0].action as usize].offers;
            let bits: Option<Vec<u32>> = offers
                .iter()
                .map(|(_, ty)| match model.compiled.types[ty.index()].leaves[..] {
                    [bits] => Some(bits),
                    _ => None,
                })
                .collect();
            let few = |bits: &Vec<u32>| bits.len() <= FEW_VALUES && bits.iter().sum::<u32>() <= LABEL_BITS;
            let first = labels;
            let radices = bits.filter(few).map(|bits| {
                labels += 1 << bits.iter().sum::<u32>();
                let mut radices = [0; FEW_VALUES];
                radices.iter_mut().zip(bits).for_each(|(radix, bits)| *radix = bits as u8);
                radices
            });
            let piece = native.meeting_of(number);
            Told {
                group: one.group,
                record: piece.map_or(0, |piece| native.record_length(piece) as u32),
                values: piece.map_or(0, |piece| piece.values() as u32),
                hidden: code.gates[one.gate as usize].hidden,
                marked: piece.is_some_and(MeetingPiece::is_marked),
                radices,
                labels: first,
            }
        };
        let told = configuration.rendezvous.iter().enumerate().map(told).collect();
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
        let mut asked: Vec<Question> = Vec::new();
        let needs: Vec<Vec<(Question, Needed)>> = (0..rendezvous.len())
            .map(|number| {
                let source = native.meeting_of(number).and_then(|piece| piece.opening().source.as_ref());
                let questions =
                    source.into_iter().filter(|source| source.slots.len() == 1).flat_map(|source| {
                        source.needs.iter().map(|&Need { word, shift, mask, value }| {
                            let (slot, words) = (source.slots.start, source.words);
                            (Question { slot, words, word, shift, mask }, value)
                        })
                    });
                questions.inspect(|(question, _)| asked.push(*question)).collect()
            })
            .collect();
        // What only one rendezvous asks, it finds out itself.
        let mut questions: Vec<Question> = Vec::new();
        for question in &asked {
            if !questions.contains(question) && asked.iter().filter(|&other| other == question).count() > 1 {
                questions.push(*question);
            }
        }
        let number_of = |question| questions.iter().position(|other| *other == question);
        let needs = needs.into_iter().map(|needs| {
            let known =
                needs.into_iter().filter_map(|(question, value)| Some((number_of(question)? as u32, value)));
            known.collect()
        });
        let needs = needs.collect();
        let of_way = |way: &Participant| {
            let mut set = vec![0; sets];
            for (number, one) in rendezvous.iter().enumerate() {
                if one.participants.contains(way) {
                    set[number / 64] |= 1 << (number % 64);
                }
            }
            set
        };
        let scouted = scouts.iter().map(|scout| scout.ways.iter().flat_map(of_way).collect()).collect();
        let wanted = translated.iter().map(|_| AtomicBool::new(false)).collect();
        let missed = AtomicU32::new(0);
        let (mut translated_sets, mut all_sets) = (vec![0; sets], vec![0; sets]);
        for (number, &is_translated) in translated.iter().enumerate() {
            translated_sets[number / 64] |= u64::from(is_translated) << (number % 64);
            all_sets[number / 64] |= 1 << (number % 64);
        }
        Some(Self {
            translated_sets,
            forking,
            leaves,
            scouted,
            all: all_sets,
            told,
            labels,
            decisive,
            needs,
            questions,
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

    /// Takes the rendezvous out of what is possible whose ways a scout has not found open: it has bits for those that are.
    #[inline]
    pub(super) fn refuse(&self, scout: usize, open: u64, possible: &mut [u64]) {
        let ways = &self.scouted[scout];
        let mut closed = !open & ((1 << (ways.len() / self.sets)) - 1);
        while closed != 0 {
            let taking = &ways[closed.trailing_zeros() as usize * self.sets..][..self.sets];
            possible.iter_mut().zip(taking).for_each(|(possible, &taking)| *possible &= !taking);
            closed &= closed - 1;
        }
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
        let all = found.rendezvous.len() + found.scouts.len();
        let at_once = !model.eager && all <= FEW_RENDEZVOUS;
        let limit = if model.eager { 1 } else { FIRST_MISSES };
        Plan::new(model, Arc::new(found), vec![at_once; all], limit, None).map(Arc::new)
    }
}
