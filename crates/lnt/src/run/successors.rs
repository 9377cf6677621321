//! The steps out of a state.
//!
//! Every active region offers the actions that it can reach silently. Going up the tree of forks, offers on gates that
//! a fork synchronises are combined: values that are known on both sides must be equal, what only one side knows is
//! known from then on. What arrives at the root happens: values that nobody fixed are enumerated, patterns and guards
//! are checked, and every region that took part runs on until it rests.
//!
//! Silent ways that lead through a choice are tried on copies of the state (*snapshots*), because the choice is made
//! only by the action. Snapshot 0 is the state itself; most regions rest right before their actions and need no other.

mod candidates;
mod encounters;
mod happen;
mod meet;
mod memory;
mod naming;
mod plan;
mod recall;
mod synchronise;

use std::cell::RefCell;
use std::sync::Arc;

use lts::{LabelId, OriginId};
use model::{LocalRows, ModelError, Slot, Step, Worker};
use rustc_hash::FxHashMap;

use super::domains::chosen_domain;
use super::flows::Summary;
use super::machine::{Halt, Machine, model_error};
use super::rest::advance;
use super::shortcuts::{Rest, directly_at_action};
use super::sources::{Choosing, choosing, chosen_from};
use crate::compile::code::{ForkKind, OfferCode, Op};
use crate::model::LntModel;
use crate::typed::TypeId;
use memory::{Memory, Recalled};
pub(crate) use naming::patterns_never_fail;
pub(crate) use plan::{Plan, Plans};
pub use recall::PackedLntWorker;

/// A value that no partner has fixed yet.
const OPEN: u64 = u64::MAX;
/// The end of a trail.
const NO_TRAIL: u32 = u32::MAX;
/// No region alone.
const NOBODY: u32 = u32::MAX;
/// So many values are chosen one after the other, whatever is asked behind.
const FEW_CHOSEN: usize = 4;
/// A search through more silent ways than this counts as endless.
const MOST_WAYS: usize = 1_000_000;

/// A region that takes part in an offer.
#[derive(Clone, Copy)]
struct Part {
    action: u32,
    address: u32,
    snapshot: u32,
    /// Its number in the memory, counted from 1; 0 where it is not remembered.
    known: u32,
}

/// Something that may happen if partners and values are found.
#[derive(Clone, Copy)]
struct Offer {
    gate: u32,
    /// Which types the values have.
    profile: u32,
    /// Where its parts start in their arena, and how many there are.
    parts: (u32, u32),
    /// Where its values start in their arena, and how many there are. One or two are all in the sketch, not there.
    values: (u32, u32),
    /// The first two values, and ones where they are known: most offers that don't fit differ there.
    sketch: u64,
    known: u64,
}

impl Offer {
    #[inline]
    fn may_fit(&self, other: &Offer) -> bool {
        self.profile == other.profile && (self.sketch ^ other.sketch) & self.known & other.known == 0
    }

    /// Whether the sketch holds all values.
    #[inline]
    fn is_short(&self) -> bool {
        self.values.1 <= 2
    }

    /// Notes a value in the sketch, if it has a place there.
    #[inline]
    fn note(&mut self, place: usize, value: u64) {
        if place < 2 && value != OPEN {
            self.sketch |= value << (32 * place);
            self.known |= u64::from(u32::MAX) << (32 * place);
        }
    }
}

/// An entry of the label cache; label 0 marks a free one.
#[derive(Clone, Copy, Default)]
struct KnownLabel {
    sketch: u64,
    gate: u32,
    profile: u32,
    label: u32,
}

/// The most marks of a remembered origin.
const ORIGIN_MARKS: usize = 6;

/// An entry of the cache of origins; a count of 0 marks a free one.
#[derive(Clone, Copy, Default)]
struct KnownOrigin {
    marks: [u32; ORIGIN_MARKS],
    count: u32,
    origin: u32,
}

/// Ways of a search: those to follow, those that were followed, and those at hand. Each is an instruction and a
/// snapshot.
#[derive(Default)]
struct SearchBuffers {
    todo: Vec<(u32, u32)>,
    seen: Vec<(u32, u32)>,
    branches: Vec<(u32, u32)>,
    further: Vec<(u32, u32)>,
}

impl SearchBuffers {
    fn clear(&mut self) {
        self.todo.clear();
        self.seen.clear();
        self.branches.clear();
        self.further.clear();
    }
}

/// An offer that a rule of a fork concerns.
#[derive(Clone, Copy)]
struct Concerned {
    child: u32,
    offer: Offer,
}

/// Where steps go.
trait Sink {
    /// A step whose target was computed, from this state.
    fn computed(&mut self, step: Step<'_>, before: &[Slot]);
    /// A step whose target is packed.
    fn recalled(&mut self, step: Step<'_>);
}

/// Hands steps on as they are.
struct PlainSink<'s>(&'s mut dyn FnMut(Step<'_>));

impl Sink for PlainSink<'_> {
    #[inline]
    fn computed(&mut self, step: Step<'_>, _: &[Slot]) {
        (self.0)(step);
    }

    fn recalled(&mut self, _: Step<'_>) {
        unreachable!("only workers on packed states have a memory");
    }
}

/// Computes steps on one thread.
pub struct LntWorker<'a> {
    model: &'a LntModel,
    machine: Machine<'a>,
    labels: LocalRows<'a>,
    origins: LocalRows<'a>,
    width: usize,
    snapshots: Vec<Slot>,
    /// The marks on the way to each snapshot: the last one, linked to those before it.
    snapshot_trails: Vec<u32>,
    /// The snapshot that each is a copy of, and the region whose silent way it is on; none where there are several.
    snapshot_parents: Vec<u32>,
    snapshot_owners: Vec<u32>,
    trails: Vec<(u32, u32)>,
    offers: Vec<Offer>,
    parts: Vec<Part>,
    values: Vec<u64>,
    search_buffers: Vec<SearchBuffers>,
    /// Snapshots in which the region at hand has silently terminated.
    ends: Vec<u32>,
    /// Where the offers and ends of each child start; a stack over nested forks.
    bounds: Vec<(u32, u32)>,
    /// For each rule of the fork at hand, the offers that it concerns, by ascending child.
    concerned: Vec<Vec<Concerned>>,
    target: Vec<Slot>,
    label_row: Vec<u32>,
    /// Labels of offers with few values, by a hash of them.
    label_cache: Vec<KnownLabel>,
    /// Origins of few marks, by a hash of them.
    origin_cache: Vec<KnownOrigin>,
    /// For each action whose offers are constants or open, the offer it makes in snapshot 0: its part and values lie
    /// at the start of the arenas for ever.
    fixed_offers: Vec<Option<Offer>>,
    fixed_parts: usize,
    fixed_values: usize,
    /// What local regions do, for packed states: then the arenas start with what it refers to.
    memory: Option<Memory<'a>>,
    /// The packed state, and whether snapshot 0 was made from it.
    packed: Vec<u32>,
    is_unpacked: bool,
    packed_target: Vec<u32>,
    /// Whether the target is the state at hand, to be changed by one part alone.
    target_is_clean: bool,
    /// Whether steps are noted as those of a pair of parts.
    recording: recall::Recording,
    /// What parts of the step at hand have fired that are not remembered.
    live_marks: Vec<u32>,
    /// How many values were tried so far, one after the other, or what takes as long.
    tried: usize,
    /// The remembered marks that the parts of the step at hand fire behind the first two which fire any.
    fired_behind: Vec<memory::Part32>,
    /// The open places of the offer at hand.
    open: Vec<happen::OpenPlace>,
    narrowed: happen::Narrowed,
    /// The collections that values are chosen from, by where that is.
    chosen_from: FxHashMap<u32, Option<u32>>,
    /// The values that are chosen at an instruction, where the same ones are in all states, although the type has more.
    choices: FxHashMap<u32, Option<Arc<[u32]>>>,
    /// Which values actions accept that nobody fixes.
    namings: candidates::Namings,
    /// Values for the open places of the offer at hand.
    candidates: Vec<u32>,
    /// Whether marks tell the flow of data, so that their order matters.
    follows: bool,
    /// The origins of what is executed on silent ways, while they are asked for.
    executed: Option<Vec<OriginId>>,
    /// Set while rendezvous are looked at, not taken.
    examination: Option<Box<encounters::Examination>>,
    /// What regions may still come to, by where they rest, as far as somebody asked.
    ahead: RefCell<FxHashMap<u32, encounters::Ahead>>,
}

/// The state in which everything begins, and the marks of what runs before it.
pub fn initial_state(model: &LntModel) -> Result<(Vec<Slot>, Vec<u32>), ModelError> {
    let mut worker = LntWorker::new(model);
    let mut state = vec![0; worker.width];
    worker.machine.marks.clear();
    advance(&mut worker.machine, 0, 0, &mut state, true)?;
    Ok((state, worker.machine.marks))
}

impl<'a> LntWorker<'a> {
    pub fn new(model: &'a LntModel) -> Self {
        Self::with_memory(model, None)
    }

    fn with_memory(model: &'a LntModel, memory: Option<Memory<'a>>) -> Self {
        let width = model.compiled.code.slot_bits.len();
        let mut worker = Self {
            model,
            machine: Machine::new(&model.compiled, &model.program),
            labels: model.labels.local(),
            origins: model.provenance.origins().local(),
            width,
            snapshots: Vec::new(),
            snapshot_trails: Vec::new(),
            snapshot_parents: Vec::new(),
            snapshot_owners: Vec::new(),
            trails: Vec::new(),
            offers: Vec::new(),
            parts: Vec::new(),
            values: Vec::new(),
            search_buffers: Vec::new(),
            ends: Vec::new(),
            bounds: Vec::new(),
            concerned: Vec::new(),
            target: vec![0; width],
            label_row: Vec::new(),
            label_cache: vec![KnownLabel::default(); 1024],
            origin_cache: vec![KnownOrigin::default(); 256],
            fixed_offers: vec![None; model.compiled.code.actions.len()],
            fixed_parts: 0,
            fixed_values: 0,
            memory,
            packed: Vec::new(),
            is_unpacked: true,
            packed_target: Vec::new(),
            target_is_clean: false,
            recording: recall::Recording::Off,
            live_marks: Vec::new(),
            tried: 0,
            fired_behind: Vec::new(),
            open: Vec::new(),
            narrowed: happen::Narrowed::default(),
            chosen_from: FxHashMap::default(),
            choices: FxHashMap::default(),
            namings: candidates::Namings::default(),
            candidates: Vec::new(),
            follows: model.compiled.code.flows,
            executed: None,
            examination: None,
            ahead: RefCell::default(),
        };
        if worker.memory.is_none() {
            worker.fix_offers();
        }
        worker
    }

    /// Makes the offers that are always the same once and for all.
    fn fix_offers(&mut self) {
        let code = self.machine.code;
        for (address, op) in code.ops.iter().enumerate() {
            let Op::Act(action) = *op else { continue };
            let fixed =
                |offer: &(OfferCode, TypeId)| !matches!(offer.0, OfferCode::Slot(_) | OfferCode::Computed(_));
            if code.actions[action as usize].offers.iter().all(fixed)
                && self.make_offer(action, address as u32, 0).is_ok()
            {
                self.fixed_offers[action as usize] = self.offers.pop();
            }
        }
        self.fixed_parts = self.parts.len();
        self.fixed_values = self.values.len();
    }

    /// Gathers what can happen in a state.
    fn gather(&mut self, state: &[Slot]) -> Result<(), ModelError> {
        self.snapshots.clear();
        self.snapshots.extend_from_slice(state);
        self.forget_state();
        self.collect(0, 0)
    }

    fn op(&self, address: u32) -> Op {
        self.machine.code.ops[address as usize]
    }

    fn slot(&self, snapshot: u32, slot: u32) -> Slot {
        self.snapshots[snapshot as usize * self.width + slot as usize]
    }

    fn snapshot_mut(&mut self, snapshot: u32) -> &mut [Slot] {
        let start = snapshot as usize * self.width;
        &mut self.snapshots[start..start + self.width]
    }

    /// A copy of a snapshot, with its marks.
    fn copy(&mut self, snapshot: u32, owner: u32) -> u32 {
        let start = snapshot as usize * self.width;
        self.snapshots.extend_from_within(start..start + self.width);
        self.snapshot_trails.push(self.snapshot_trails[snapshot as usize]);
        self.snapshot_parents.push(snapshot);
        let parent = self.snapshot_owners[snapshot as usize];
        self.snapshot_owners.push(if snapshot == 0 || parent == owner { owner } else { NOBODY });
        self.snapshot_trails.len() as u32 - 1
    }

    /// Runs silent code in a snapshot and keeps the marks it leaves.
    fn run_in(&mut self, address: u32, snapshot: u32) -> Result<Halt, ModelError> {
        self.machine.marks.clear();
        let start = snapshot as usize * self.width;
        let halt = self.machine.run(address, &mut self.snapshots[start..start + self.width])?;
        self.keep_marks(snapshot);
        Ok(halt)
    }

    /// Adds the marks at hand to the trail of a snapshot. They are an origin as well: the state was reached, and what
    /// they stand for was executed in it, whether or not the way leads to an action that happens.
    fn keep_marks(&mut self, snapshot: u32) {
        if self.machine.marks.is_empty() {
            return;
        }
        for index in 0..self.machine.marks.len() {
            self.trails.push((self.machine.marks[index], self.snapshot_trails[snapshot as usize]));
            self.snapshot_trails[snapshot as usize] = self.trails.len() as u32 - 1;
        }
        if !self.follows {
            let origin = self.origin();
            self.executed.iter_mut().for_each(|executed| executed.push(origin));
        }
        self.machine.marks.clear();
    }

    /// Gathers what a region offers in a snapshot, and the snapshots in which it has terminated.
    fn collect(&mut self, region: u32, snapshot: u32) -> Result<(), ModelError> {
        if snapshot == 0
            && let Some(memory) = &mut self.memory
        {
            match memory.recall(region, &self.packed) {
                Recalled::Known(local) if !local.computed => {
                    match memory.offers_of(local) {
                        // A call of `memmove` for the commonest case would take longer.
                        [offer] => self.offers.push(*offer),
                        offers => self.offers.extend_from_slice(offers),
                    }
                    if local.ended {
                        self.ends.push(0);
                    }
                    return Ok(());
                }
                Recalled::Missing => memory.missed.push(region),
                Recalled::Known(_) | Recalled::Never => {}
            }
        }
        self.collect_now(region, snapshot)
    }

    /// The same without recalling what the region itself offers.
    fn collect_now(&mut self, region: u32, snapshot: u32) -> Result<(), ModelError> {
        let counter = self.model.compiled.code.regions[region as usize].counter;
        let location = match snapshot == 0 && !self.is_unpacked {
            true => self.model.layout.get(&self.packed, counter as usize),
            false => self.slot(snapshot, counter),
        };
        let rest = self.model.shortcuts.rest(region, location);
        if matches!(rest, Rest::Action(..) | Rest::Ways(_)) {
            self.unpack();
        }
        match rest {
            Rest::Nothing => Ok(()),
            Rest::Action(action, address) => self.push_offer(action, address, snapshot),
            Rest::Ended => {
                self.ends.push(snapshot);
                Ok(())
            }
            Rest::Offers(first, count) => {
                self.unpack();
                for index in first..first + count {
                    let (action, address) = self.model.shortcuts.offers[index as usize];
                    self.push_offer(action, address, snapshot)?;
                }
                Ok(())
            }
            Rest::Ways(address) => self.search(region, &[(address, snapshot)]),
            Rest::Children(fork, address) => self.collect_fork(fork, region, address, snapshot),
        }
    }

    /// Follows all silent ways from choices on. Each way is an instruction at which to branch, and its snapshot.
    fn search(&mut self, region: u32, starts: &[(u32, u32)]) -> Result<(), ModelError> {
        let mut buffers = self.search_buffers.pop().unwrap_or_default();
        buffers.todo.extend_from_slice(starts);
        let result = self.search_with(region, &mut buffers);
        buffers.clear();
        self.search_buffers.push(buffers);
        result
    }

    fn search_with(&mut self, region: u32, buffers: &mut SearchBuffers) -> Result<(), ModelError> {
        let SearchBuffers { todo, seen, branches, further } = buffers;
        let mut ways = 0;
        while let Some((address, snapshot)) = todo.pop() {
            branches.clear();
            match self.op(address) {
                Op::Choice(choice) => {
                    let code = self.machine.code;
                    for &target in &code.choices[choice as usize] {
                        match directly_at_action(code, target) {
                            // The commonest branch starts with its action: nothing to try.
                            Some((action, address)) => self.push_offer(action, address, snapshot)?,
                            None => {
                                let copy = self.copy(snapshot, region);
                                branches.push((target, copy));
                            }
                        }
                    }
                }
                Op::AnyValue(slot, ty) => {
                    let values = self.values_to_choose(address, ty, snapshot)?;
                    for &value in values.iter() {
                        let copy = self.copy(snapshot, region);
                        let start = copy as usize * self.width + slot as usize;
                        let words = self.machine.values.thaw(ty, value);
                        self.snapshots[start..start + words.len()].copy_from_slice(&words);
                        branches.push((address + 1, copy));
                    }
                }
                _ => branches.push((address, snapshot)),
            }
            for &(start, snapshot) in branches.iter() {
                ways += 1;
                if ways > MOST_WAYS {
                    let span = self.machine.code.spans[address as usize];
                    return Err(model_error("too many silent paths lead from here".into(), Some(span)));
                }
                self.follow(region, start, snapshot, seen, further)?;
            }
            // The last one pushed is looked at first: keep the order of the source.
            todo.extend(further.drain(..).rev());
        }
        Ok(())
    }

    /// The values that may be chosen: all of the type but those that a condition refuses right behind, as far as that is known. Where
    /// it is told what is executed on silent ways, that is told of these, too; unless there are too many.
    fn values_to_choose(
        &mut self,
        address: u32,
        ty: TypeId,
        snapshot: u32,
    ) -> Result<Arc<[u32]>, ModelError> {
        if let Some(Some(known)) = self.choices.get(&address) {
            return Ok(known.clone());
        }
        let span = self.machine.code.spans[address as usize];
        let all = chosen_domain(&mut self.machine, ty, span);
        let narrows = self.model.narrowing
            && !self.machine.code.tells()
            && all.as_ref().is_ok_and(|all| all.len() > FEW_CHOSEN);
        if (narrows || all.is_err())
            && let Some(elements) = self.elements_to_choose(address, ty, snapshot)
        {
            return Ok(elements);
        }
        let mut all = all?;
        if narrows && !self.choices.contains_key(&address) {
            let (code, types) = (self.machine.code, &self.model.compiled.types);
            if let Some(Choosing::Range(first, count, _)) = choosing(code, types, address) {
                // The last one may be the last word that there is.
                let range = first..=first + (count - 1);
                all = all.iter().copied().filter(|value| range.contains(value)).collect();
                self.choices.insert(address, Some(all.clone()));
                return Ok(all);
            }
            self.choices.insert(address, None);
        }
        Ok(all)
    }

    /// The elements of a collection that a condition asks for, if it does.
    fn elements_to_choose(&mut self, address: u32, ty: TypeId, snapshot: u32) -> Option<Arc<[u32]>> {
        let (code, types) = (self.machine.code, &self.model.compiled.types);
        let from = self.chosen_from.entry(address).or_insert_with(|| chosen_from(code, types, address));
        let slot = (*from)?;
        let row = self.machine.values.kept_row(self.slot(snapshot, slot));
        let stride = self.model.compiled.types[ty.index()].words() as usize;
        let elements = row.chunks_exact(stride.max(1));
        let mut values: Vec<u32> = elements.map(|one| self.machine.values.freeze(ty, one)).collect();
        values.sort_by(|&a, &b| candidates::compare_frozen(&self.machine.values, ty, a, b));
        values.dedup();
        Some(values.into())
    }

    /// Runs one silent way to where it leads.
    fn follow(
        &mut self,
        region: u32,
        start: u32,
        snapshot: u32,
        seen: &mut Vec<(u32, u32)>,
        further: &mut Vec<(u32, u32)>,
    ) -> Result<(), ModelError> {
        let Halt::At(address) = self.run_in(start, snapshot)? else { return Ok(()) };
        match self.op(address) {
            Op::Act(action) => {
                let snapshot = self.without_needless_copy(snapshot);
                self.push_offer(action, address, snapshot)
            }
            Op::End => {
                self.ends.push(snapshot);
                Ok(())
            }
            Op::Choice(_) | Op::AnyValue(..) => {
                // A silent loop comes back to the same choice with the same values: once is enough.
                let width = self.width;
                let state = |snapshot: u32| &self.snapshots[snapshot as usize * width..][..width];
                let same = |&&(at, old): &&(u32, u32)| at == address && state(old) == state(snapshot);
                let known: Vec<u32> = seen.iter().filter(same).map(|&(_, old)| old).collect();
                // Unless other constructs have fired on this way: each has to be told by some step.
                if known.is_empty() || !self.have_fired(&known, snapshot) {
                    seen.push((address, snapshot));
                    further.push((address, snapshot));
                }
                Ok(())
            }
            Op::Fork(_) => {
                self.machine.marks.clear();
                let begin = snapshot as usize * self.width;
                let state = &mut self.snapshots[begin..begin + self.width];
                advance(&mut self.machine, region, address, state, false)?;
                self.keep_marks(snapshot);
                self.collect(region, snapshot)
            }
            Op::Throw(_) => {
                let span = self.machine.code.spans[address as usize];
                let message = "an exception that leaves a parallel branch or a disrupt must be raised right behind an action, not as a branch of its own";
                Err(model_error(message.into(), Some(span)))
            }
            _ => Ok(()),
        }
    }

    /// A way that has changed nothing leaves the state as it was.
    fn without_needless_copy(&self, mut snapshot: u32) -> u32 {
        let state = |snapshot: u32| &self.snapshots[snapshot as usize * self.width..][..self.width];
        while snapshot != 0 {
            let parent = self.snapshot_parents[snapshot as usize];
            let same_trail = self.snapshot_trails[snapshot as usize] == self.snapshot_trails[parent as usize];
            if !same_trail || state(snapshot) != state(parent) {
                break;
            }
            snapshot = parent;
        }
        snapshot
    }

    /// Whether all constructs on the way to a snapshot have fired on the way to one of others.
    fn have_fired(&self, known: &[u32], snapshot: u32) -> bool {
        if self.follows {
            let known: Vec<Summary> = known.iter().map(|&other| self.summary(other)).collect();
            return self.summary(snapshot).adds_nothing_to(&known);
        }
        let marks = |snapshot: u32| {
            let mut trail = self.snapshot_trails[snapshot as usize];
            std::iter::from_fn(move || {
                let (mark, before) = *self.trails.get(trail as usize)?;
                trail = before;
                Some(mark)
            })
        };
        marks(snapshot).all(|mark| known.iter().any(|&other| marks(other).any(|fired| fired == mark)))
    }

    /// What the way to a snapshot has done to variables.
    fn summary(&self, snapshot: u32) -> Summary {
        let mut marks = Vec::new();
        let mut trail = self.snapshot_trails[snapshot as usize];
        while trail != NO_TRAIL {
            let (mark, before) = self.trails[trail as usize];
            marks.push(mark);
            trail = before;
        }
        Summary::of(&self.machine.code.flow_events, marks.into_iter().rev())
    }

    #[inline]
    fn push_offer(&mut self, action: u32, address: u32, snapshot: u32) -> Result<(), ModelError> {
        match self.fixed_offers[action as usize] {
            Some(offer) if snapshot == 0 => {
                self.offers.push(offer);
                Ok(())
            }
            _ => self.make_offer(action, address, snapshot),
        }
    }

    fn make_offer(&mut self, action: u32, address: u32, snapshot: u32) -> Result<(), ModelError> {
        let code = self.machine.code;
        let act = &code.actions[action as usize];
        let mut made = Offer {
            gate: act.gate,
            profile: self.model.profiles[action as usize],
            parts: (self.parts.len() as u32, 1),
            values: (self.values.len() as u32, act.offers.len() as u32),
            sketch: 0,
            known: 0,
        };
        for (place, &(offer, ty)) in act.offers.iter().enumerate() {
            let value = match offer {
                OfferCode::Constant(value) => u64::from(value),
                OfferCode::Slot(slot) => {
                    let words = self.model.compiled.types[ty.index()].leaves.len();
                    let start = snapshot as usize * self.width + slot as usize;
                    u64::from(self.machine.values.freeze(ty, &self.snapshots[start..start + words]))
                }
                OfferCode::Computed(address) => {
                    let start = snapshot as usize * self.width;
                    let state = &mut self.snapshots[start..start + self.width];
                    u64::from(self.machine.frozen(address, ty, state)?)
                }
                OfferCode::Variable(_) | OfferCode::Wildcard | OfferCode::Pattern { .. } => OPEN,
            };
            made.note(place, value);
            if !made.is_short() {
                self.values.push(value);
            }
        }
        self.parts.push(Part { action, address, snapshot, known: 0 });
        self.offers.push(made);
        Ok(())
    }

    /// A value of an offer.
    #[inline]
    fn value(&self, offer: &Offer, place: usize) -> u64 {
        if !offer.is_short() {
            return self.values[offer.values.0 as usize + place];
        }
        match (offer.known >> (32 * place)) as u32 {
            0 => OPEN,
            _ => u64::from((offer.sketch >> (32 * place)) as u32),
        }
    }

    /// Whether values of an offer are not fixed yet.
    #[inline]
    fn is_open(&self, offer: &Offer) -> bool {
        match offer.values.1 {
            0 => false,
            1 => offer.known as u32 == 0,
            2 => offer.known != u64::MAX,
            _ => (0..offer.values.1 as usize).any(|place| self.value(offer, place) == OPEN),
        }
    }

    /// Gathers what a forked region offers: its children's offers, synchronised, and what comes behind their end.
    fn collect_fork(
        &mut self,
        fork: u32,
        region: u32,
        address: u32,
        snapshot: u32,
    ) -> Result<(), ModelError> {
        let code = self.machine.code;
        let description = &code.forks[fork as usize];
        let first = self.bounds.len();
        let first_end = self.ends.len();
        for &child in &description.children {
            self.bounds.push((self.offers.len() as u32, self.ends.len() as u32));
            self.collect(child, snapshot)?;
        }
        self.bounds.push((self.offers.len() as u32, self.ends.len() as u32));
        if !description.rules.is_empty() {
            if self.examination.is_some() {
                self.examine(fork, first);
            }
            self.synchronise(fork, first);
        }
        let joint = match description.kind {
            ForkKind::Parallel => self.bounds[first..].windows(2).all(|pair| pair[0].1 < pair[1].1),
            ForkKind::Disrupt => self.bounds[first].1 < self.bounds[first + 2].1,
        };
        if !joint {
            self.ends.truncate(first_end);
            self.bounds.truncate(first);
            return Ok(());
        }
        self.unpack();
        let ways = match description.kind {
            ForkKind::Parallel => self.joint_ends(first, snapshot),
            ForkKind::Disrupt => {
                let active = self.slot(snapshot, code.regions[description.children[0] as usize].counter) != 0;
                // The interruption may end only once it has taken over.
                let child = usize::from(!active);
                let range = self.bounds[first + child].1 as usize..self.bounds[first + child + 1].1 as usize;
                let ends: Vec<u32> = self.ends[range].to_vec();
                ends.into_iter().map(|end| self.copy(end, NOBODY)).collect()
            }
        };
        self.ends.truncate(first_end);
        self.bounds.truncate(first);
        for &way in &ways {
            for &child in &description.children {
                let slots = code.regions[child as usize].slots.clone();
                self.snapshot_mut(way)[slots.start as usize..slots.end as usize].fill(0);
            }
        }
        let starts: Vec<(u32, u32)> = ways.into_iter().rev().map(|way| (address + 1, way)).collect();
        self.search(region, &starts)
    }

    /// A snapshot for every combination of the children's ends.
    fn joint_ends(&mut self, first: usize, snapshot: u32) -> Vec<u32> {
        let mut ways = vec![self.copy(snapshot, NOBODY)];
        for child in first..self.bounds.len() - 1 {
            let ends: Vec<u32> =
                self.ends[self.bounds[child].1 as usize..self.bounds[child + 1].1 as usize].to_vec();
            let mut combined = Vec::new();
            for &way in &ways {
                for &end in &ends {
                    let copy = self.copy(way, NOBODY);
                    self.merge_into_snapshot(end, snapshot, copy);
                    combined.push(copy);
                }
            }
            ways = combined;
        }
        ways
    }

    /// Applies to a snapshot what `changed` has changed since `base`, marks included.
    fn merge_into_snapshot(&mut self, changed: u32, base: u32, into: u32) {
        if changed == base {
            return;
        }
        let width = self.width;
        for slot in 0..width {
            let new = self.snapshots[changed as usize * width + slot];
            if new != self.snapshots[base as usize * width + slot] {
                self.snapshots[into as usize * width + slot] = new;
            }
        }
        let mut trail = self.snapshot_trails[changed as usize];
        let stop = self.snapshot_trails[base as usize];
        let mut marks: Vec<u32> = Vec::new();
        while trail != stop && trail != NO_TRAIL {
            let (mark, before) = self.trails[trail as usize];
            marks.push(mark);
            trail = before;
        }
        for mark in marks.into_iter().rev() {
            self.trails.push((mark, self.snapshot_trails[into as usize]));
            self.snapshot_trails[into as usize] = self.trails.len() as u32 - 1;
        }
    }
}

impl LntWorker<'_> {
    /// Forgets what was gathered for a state, but for the state itself.
    fn forget_state(&mut self) {
        self.snapshots.resize(self.width, 0);
        self.snapshot_trails.clear();
        self.snapshot_trails.push(NO_TRAIL);
        self.snapshot_parents.clear();
        self.snapshot_parents.push(0);
        self.snapshot_owners.clear();
        self.snapshot_owners.push(NOBODY);
        self.trails.clear();
        self.offers.clear();
        self.parts.truncate(self.fixed_parts);
        self.values.truncate(self.fixed_values);
        self.ends.clear();
        self.bounds.clear();
    }

    /// Gives all steps out of the state at hand.
    fn steps(&mut self, sink: &mut impl Sink) -> Result<(), ModelError> {
        self.forget_state();
        if let Some(memory) = &mut self.memory {
            memory.states += 1;
        }
        self.bound_namings();
        self.collect(0, 0)?;
        for index in 0..self.offers.len() {
            let offer = self.offers[index];
            self.complete(offer, sink)?;
        }
        for index in 0..self.ends.len() {
            self.unpack();
            self.machine.marks.clear();
            let mut trail = self.snapshot_trails[self.ends[index] as usize];
            while trail != NO_TRAIL {
                let (mark, before) = self.trails[trail as usize];
                self.machine.marks.push(mark);
                trail = before;
            }
            self.put_in_order(0);
            let origin = self.origin();
            // Nothing is active any more.
            self.target.fill(0);
            let label = LabelId::from_raw(self.labels.intern(&[crate::model::EXIT_GATE]) + 1);
            sink.computed(Step { label, target: &self.target, origin }, &self.snapshots[..self.width]);
        }
        Ok(())
    }
}

impl Worker for LntWorker<'_> {
    fn successors(&mut self, state: &[Slot], emit: &mut dyn FnMut(Step<'_>)) -> Result<(), ModelError> {
        self.snapshots.clear();
        self.snapshots.extend_from_slice(state);
        self.steps(&mut PlainSink(emit))
    }

    fn executed(&mut self, state: &[Slot], emit: &mut dyn FnMut(OriginId)) -> Result<(), ModelError> {
        self.executed = Some(Vec::new());
        let result = self.gather(state);
        self.executed.take().unwrap_or_default().into_iter().for_each(emit);
        result
    }
}
