//! The steps out of a state.
//!
//! Every active region offers the actions that it can reach silently. Going up the tree of forks, offers on gates that
//! a fork synchronises are combined: values that are known on both sides must be equal, what only one side knows is
//! known from then on. What arrives at the root happens: values that nobody fixed are enumerated, patterns and guards
//! are checked, and every region that took part runs on until it rests.
//!
//! Silent ways that lead through a choice are tried on copies of the state (*snapshots*), because the choice is made
//! only by the action. Snapshot 0 is the state itself; most regions rest right before their actions and need no other.

mod encounters;

use std::sync::Arc;

use lts::{LabelId, OriginId};
use model::{LocalRows, ModelError, Slot, Step, Worker};
use source::Span;

use super::machine::{Halt, Machine, model_error};
use super::shortcuts::{Next, Rest};
use super::values::{TooMany, Values};
use crate::compile::code::{ForkKind, OfferCode, Op};
use crate::compile::types::Kind;
use crate::model::LntModel;
use crate::typed::{Literal, Pattern, PatternKind, TypeId};

/// A value that no partner has fixed yet.
const OPEN: u64 = u64::MAX;
/// The end of a trail.
const NO_TRAIL: u32 = u32::MAX;
/// A search through more silent ways than this counts as endless.
const MOST_WAYS: usize = 1_000_000;

/// A region that takes part in an offer.
#[derive(Clone, Copy)]
struct Part {
    action: u32,
    address: u32,
    snapshot: u32,
}

/// Something that may happen if partners and values are found.
#[derive(Clone, Copy)]
struct Offer {
    gate: u32,
    /// Which types the values have.
    profile: u32,
    /// Where its parts and values start in their arenas, and how many there are.
    parts: (u32, u32),
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

/// An offer that a rule of a fork concerns.
#[derive(Clone, Copy)]
struct Concerned {
    child: u32,
    offer: Offer,
}

/// Control leaves for a handler: in which region, and where.
struct Thrown {
    region: u32,
    address: u32,
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
    trails: Vec<(u32, u32)>,
    offers: Vec<Offer>,
    parts: Vec<Part>,
    values: Vec<u64>,
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
    /// Set while rendezvous are looked at, not taken.
    examination: Option<Box<encounters::Examination>>,
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
        let width = model.compiled.code.slot_bits.len();
        let mut worker = Self {
            model,
            machine: Machine::new(&model.compiled, &model.program),
            labels: model.labels.local(),
            origins: model.provenance.origins().local(),
            width,
            snapshots: Vec::new(),
            snapshot_trails: Vec::new(),
            trails: Vec::new(),
            offers: Vec::new(),
            parts: Vec::new(),
            values: Vec::new(),
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
            examination: None,
        };
        worker.fix_offers();
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
        self.machine.values.refresh();
        self.snapshots.clear();
        self.snapshots.extend_from_slice(state);
        self.snapshot_trails.clear();
        self.snapshot_trails.push(NO_TRAIL);
        self.trails.clear();
        self.offers.clear();
        self.parts.truncate(self.fixed_parts);
        self.values.truncate(self.fixed_values);
        self.ends.clear();
        self.bounds.clear();
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
    fn copy(&mut self, snapshot: u32) -> u32 {
        let start = snapshot as usize * self.width;
        self.snapshots.extend_from_within(start..start + self.width);
        self.snapshot_trails.push(self.snapshot_trails[snapshot as usize]);
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

    fn keep_marks(&mut self, snapshot: u32) {
        for index in 0..self.machine.marks.len() {
            self.trails.push((self.machine.marks[index], self.snapshot_trails[snapshot as usize]));
            self.snapshot_trails[snapshot as usize] = self.trails.len() as u32 - 1;
        }
        self.machine.marks.clear();
    }

    /// Gathers what a region offers in a snapshot, and the snapshots in which it has terminated.
    fn collect(&mut self, region: u32, snapshot: u32) -> Result<(), ModelError> {
        let counter = self.model.compiled.code.regions[region as usize].counter;
        match self.model.shortcuts.rest(region, self.slot(snapshot, counter)) {
            Rest::Nothing => Ok(()),
            Rest::Action(action, address) => self.push_offer(action, address, snapshot),
            Rest::Ended => {
                self.ends.push(snapshot);
                Ok(())
            }
            Rest::Ways(address) => self.search(region, vec![(address, snapshot)]),
            Rest::Children(fork, address) => self.collect_fork(fork, region, address, snapshot),
        }
    }

    /// Follows all silent ways from choices on. Each way is an instruction at which to branch, and its snapshot.
    fn search(&mut self, region: u32, mut todo: Vec<(u32, u32)>) -> Result<(), ModelError> {
        let mut seen: Vec<(u32, u32)> = Vec::new();
        let mut ways = 0;
        let mut branches: Vec<(u32, u32)> = Vec::new();
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
                                let copy = self.copy(snapshot);
                                branches.push((target, copy));
                            }
                        }
                    }
                }
                Op::AnyValue(slot, ty) => {
                    let span = self.machine.code.spans[address as usize];
                    for &value in domain(&mut self.machine, ty, span)?.iter() {
                        let copy = self.copy(snapshot);
                        self.snapshot_mut(copy)[slot as usize] = value;
                        branches.push((address + 1, copy));
                    }
                }
                _ => branches.push((address, snapshot)),
            }
            let mut further: Vec<(u32, u32)> = Vec::new();
            for &(start, snapshot) in &branches {
                ways += 1;
                if ways > MOST_WAYS {
                    let span = self.machine.code.spans[address as usize];
                    return Err(model_error("too many silent ways lead away from here".into(), Some(span)));
                }
                self.follow(region, start, snapshot, &mut seen, &mut further)?;
            }
            // The last one pushed is looked at first: keep the order of the source.
            todo.extend(further.into_iter().rev());
        }
        Ok(())
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
            Op::Act(action) => self.push_offer(action, address, snapshot),
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
                let message = "an exception that leaves a parallel branch must be raised after an action";
                Err(model_error(message.into(), Some(span)))
            }
            Op::Stop => {
                self.refuse(snapshot);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// A way ends without an action: no step will tell of the decisions that have led there (`only if`, or `if` and
    /// `stop`), but refusing is their effect. They become an origin of their own.
    fn refuse(&mut self, snapshot: u32) {
        let mut trail = self.snapshot_trails[snapshot as usize];
        self.machine.marks.clear();
        while trail != NO_TRAIL {
            let (mark, before) = self.trails[trail as usize];
            // Observations lie beyond all marks.
            if self.model.provenance.marks().get(mark as usize).is_none_or(|mark| mark.is_decision()) {
                self.machine.marks.push(mark);
            }
            trail = before;
        }
        self.origin();
        self.machine.marks.clear();
    }

    /// Whether all constructs on the way to a snapshot have fired on the way to one of others.
    fn have_fired(&self, known: &[u32], snapshot: u32) -> bool {
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
        let values = self.values.len() as u32;
        let act = &code.actions[action as usize];
        let (mut sketch, mut known) = (0, 0);
        for (place, &(offer, _)) in act.offers.iter().enumerate() {
            let value = match offer {
                OfferCode::Constant(value) => u64::from(value),
                OfferCode::Slot(slot) => u64::from(self.slot(snapshot, slot)),
                OfferCode::Computed(address) => {
                    let start = snapshot as usize * self.width;
                    let state = &mut self.snapshots[start..start + self.width];
                    u64::from(self.machine.value(address, state)?)
                }
                OfferCode::Variable(_) | OfferCode::Wildcard | OfferCode::Pattern { .. } => OPEN,
            };
            self.values.push(value);
            if place < 2 && value != OPEN {
                sketch |= value << (32 * place);
                known |= u64::from(u32::MAX) << (32 * place);
            }
        }
        let part = self.parts.len() as u32;
        self.parts.push(Part { action, address, snapshot });
        self.offers.push(Offer {
            gate: act.gate,
            profile: self.model.profiles[action as usize],
            parts: (part, 1),
            values: (values, act.offers.len() as u32),
            sketch,
            known,
        });
        Ok(())
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
        let ways = match description.kind {
            ForkKind::Parallel => self.joint_ends(first, snapshot),
            ForkKind::Disrupt => {
                let active = self.slot(snapshot, code.regions[description.children[0] as usize].counter) != 0;
                // The interruption may end only once it has taken over.
                let child = usize::from(!active);
                let range = self.bounds[first + child].1 as usize..self.bounds[first + child + 1].1 as usize;
                let ends: Vec<u32> = self.ends[range].to_vec();
                ends.into_iter().map(|end| self.copy(end)).collect()
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
        self.search(region, ways.into_iter().rev().map(|way| (address + 1, way)).collect())
    }

    /// A snapshot for every combination of the children's ends.
    fn joint_ends(&mut self, first: usize, snapshot: u32) -> Vec<u32> {
        let mut ways = vec![self.copy(snapshot)];
        for child in first..self.bounds.len() - 1 {
            let ends: Vec<u32> =
                self.ends[self.bounds[child].1 as usize..self.bounds[child + 1].1 as usize].to_vec();
            let mut combined = Vec::new();
            for &way in &ways {
                for &end in &ends {
                    let copy = self.copy(way);
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
        while trail != stop && trail != NO_TRAIL {
            let (mark, before) = self.trails[trail as usize];
            self.trails.push((mark, self.snapshot_trails[into as usize]));
            self.snapshot_trails[into as usize] = self.trails.len() as u32 - 1;
            trail = before;
        }
    }

    /// Replaces the children's offers on synchronised gates by their combinations.
    fn synchronise(&mut self, fork: u32, first: usize) {
        let rules = &self.machine.code.forks[fork as usize].rules;
        let rule_numbers = &self.model.rules[fork as usize];
        let mut concerned = std::mem::take(&mut self.concerned);
        concerned.resize_with(rules.len().max(concerned.len()), Vec::new);
        let start = self.bounds[first].0 as usize;
        let mut kept = start;
        for child in first..self.bounds.len() - 1 {
            for index in self.bounds[child].0 as usize..self.bounds[child + 1].0 as usize {
                let offer = self.offers[index];
                match rule_numbers[offer.gate as usize] {
                    0 => {
                        self.offers[kept] = offer;
                        kept += 1;
                    }
                    rule => {
                        concerned[rule as usize - 1].push(Concerned { child: (child - first) as u32, offer });
                    }
                }
            }
        }
        self.offers.truncate(kept);
        for (rule, group) in rules.iter().zip(&mut concerned) {
            if group.is_empty() {
                continue;
            }
            if rule.members.len() == 2 && rule.count == 2 {
                let end = group.partition_point(|candidate| candidate.child == rule.members[0]);
                self.join(&group[..end], &group[end..]);
            } else {
                self.combine(group, &rule.members, rule.count as usize, None);
            }
            group.clear();
        }
        self.concerned = concerned;
    }

    /// Adds the combinations of two members' offers. Where many offers meet many, those of the right side are found by
    /// a value that all of them know.
    fn join(&mut self, left: &[Concerned], right: &[Concerned]) {
        let known = right.iter().fold(u64::MAX, |known, candidate| known & candidate.offer.known);
        let shift = if known as u32 != 0 { 0 } else { 32 };
        if known == 0 || left.len() < 4 || right.len() < 4 || right.len() > 64 {
            for a in left {
                for b in right {
                    self.join_two(&a.offer, &b.offer);
                }
            }
            return;
        }
        // For each value modulo 64, which of the right side have it.
        let mut having = [0u64; 64];
        for (index, candidate) in right.iter().enumerate() {
            having[(candidate.offer.sketch >> shift) as usize % 64] |= 1 << index;
        }
        for a in left {
            let known = (a.offer.known >> shift) as u32 != 0;
            let mut candidates = if known {
                having[(a.offer.sketch >> shift) as usize % 64]
            } else {
                u64::MAX >> (64 - right.len())
            };
            while candidates != 0 {
                self.join_two(&a.offer, &right[candidates.trailing_zeros() as usize].offer);
                candidates &= candidates - 1;
            }
        }
    }

    #[inline]
    fn join_two(&mut self, a: &Offer, b: &Offer) {
        if a.may_fit(b)
            && let Some(merged) = self.merge(*a, *b)
        {
            self.offers.push(merged);
        }
    }

    /// Adds the combinations of `partial` with offers of `count` of the given members. Offers and members are sorted
    /// by child.
    fn combine(&mut self, group: &[Concerned], members: &[u32], count: usize, partial: Option<Offer>) {
        let Some((&member, others)) = members.split_first() else { return };
        let start = group.iter().position(|candidate| candidate.child >= member).unwrap_or(group.len());
        let group = &group[start..];
        let end = group.iter().position(|candidate| candidate.child > member).unwrap_or(group.len());
        let (own, rest) = group.split_at(end);
        for candidate in own {
            let merged = match &partial {
                None => Some(candidate.offer),
                Some(partial) if partial.may_fit(&candidate.offer) => self.merge(*partial, candidate.offer),
                Some(_) => None,
            };
            match merged {
                Some(merged) if count == 1 => self.offers.push(merged),
                Some(merged) => self.combine(rest, others, count - 1, Some(merged)),
                None => {}
            }
        }
        if others.len() >= count {
            self.combine(rest, others, count, partial);
        }
    }

    /// Two offers as one, if their values agree.
    fn merge(&mut self, a: Offer, b: Offer) -> Option<Offer> {
        let start = self.values.len();
        for index in 0..a.values.1 {
            let left = self.values[(a.values.0 + index) as usize];
            let right = self.values[(b.values.0 + index) as usize];
            if left != right && left != OPEN && right != OPEN {
                self.values.truncate(start);
                return None;
            }
            // OPEN is the greatest number.
            self.values.push(left.min(right));
        }
        let part = self.parts.len() as u32;
        for offer in [a, b] {
            let range = offer.parts.0 as usize..(offer.parts.0 + offer.parts.1) as usize;
            self.parts.extend_from_within(range);
        }
        Some(Offer {
            parts: (part, a.parts.1 + b.parts.1),
            values: (start as u32, a.values.1),
            sketch: a.sketch | b.sketch,
            known: a.known | b.known,
            ..a
        })
    }

    /// Lets an offer happen, once for every choice of the values that nobody fixed.
    fn complete(&mut self, offer: Offer, emit: &mut dyn FnMut(Step<'_>)) -> Result<(), ModelError> {
        let range = offer.values.0 as usize..(offer.values.0 + offer.values.1) as usize;
        if self.values[range.clone()].iter().all(|&value| value != OPEN) {
            return self.happen(offer, emit);
        }
        // The values are completed in place, at the end of the arena.
        let start = self.values.len();
        self.values.extend_from_within(range.clone());
        let open: Vec<usize> = (0..range.len()).filter(|&index| self.values[start + index] == OPEN).collect();
        let mut domains: Vec<Arc<[u32]>> = Vec::with_capacity(open.len());
        for &index in &open {
            domains.push(self.open_domain(offer, index)?);
        }
        if domains.iter().any(|domain| domain.is_empty()) {
            return Ok(());
        }
        let mut at = vec![0usize; open.len()];
        loop {
            let mut closed = Offer { values: (start as u32, offer.values.1), ..offer };
            for (place, &index) in open.iter().enumerate() {
                let value = u64::from(domains[place][at[place]]);
                self.values[start + index] = value;
                if index < 2 {
                    closed.sketch |= value << (32 * index);
                }
            }
            self.happen(closed, emit)?;
            let Some(last) = (0..at.len()).rev().find(|&place| at[place] + 1 < domains[place].len()) else {
                return Ok(());
            };
            at[last] += 1;
            at[last + 1..].fill(0);
        }
    }

    /// The values that an open place may take: those that match a partner's pattern, if one has more than a variable
    /// there, else all of the type.
    fn open_domain(&mut self, offer: Offer, index: usize) -> Result<Arc<[u32]>, ModelError> {
        let code = self.machine.code;
        let parts = offer.parts.0 as usize..(offer.parts.0 + offer.parts.1) as usize;
        for part in &self.parts[parts.clone()] {
            let action = &code.actions[part.action as usize];
            if let (OfferCode::Pattern { pattern, .. }, _) = action.offers[index] {
                return pattern_domain(&mut self.machine, &code.patterns[pattern as usize], action.span);
            }
        }
        let action = &code.actions[self.parts[parts.start].action as usize];
        domain(&mut self.machine, action.offers[index].1, action.span)
    }

    /// One step, all of its values known.
    fn happen(&mut self, offer: Offer, emit: &mut dyn FnMut(Step<'_>)) -> Result<(), ModelError> {
        let code = self.machine.code;
        let width = self.width;
        self.target.copy_from_slice(&self.snapshots[..width]);
        self.machine.marks.clear();
        let parts = offer.parts.0 as usize..(offer.parts.0 + offer.parts.1) as usize;
        for index in parts.clone() {
            let part = self.parts[index];
            if part.snapshot != 0 {
                merge_changes(&mut self.target, &self.snapshots, part.snapshot, width);
                let mut trail = self.snapshot_trails[part.snapshot as usize];
                while trail != NO_TRAIL {
                    let (mark, before) = self.trails[trail as usize];
                    self.machine.marks.push(mark);
                    trail = before;
                }
            }
        }
        for index in parts.clone() {
            let action = &code.actions[self.parts[index].action as usize];
            for (place, &(code, _)) in action.offers.iter().enumerate() {
                let value = self.values[offer.values.0 as usize + place] as u32;
                match code {
                    OfferCode::Variable(slot) => self.target[slot as usize] = value,
                    OfferCode::Pattern { address, .. }
                        if !self.machine.matches(address, value, &mut self.target)? =>
                    {
                        return Ok(());
                    }
                    _ => {}
                }
            }
        }
        for index in parts.clone() {
            if let Some(guard) = code.actions[self.parts[index].action as usize].guard
                && self.machine.value(guard, &mut self.target)? == 0
            {
                return Ok(());
            }
        }
        for index in parts {
            let part = self.parts[index];
            let action = &code.actions[part.action as usize];
            self.machine.marks.extend(action.mark.map(|mark| mark.0));
            for body in &self.model.interrupted[action.region as usize] {
                self.target[body.start as usize..body.end as usize].fill(0);
            }
            match self.model.shortcuts.next[part.action as usize] {
                Next::At(address, first, count) => {
                    let marks = &self.model.shortcuts.marks[first as usize..(first + count) as usize];
                    self.machine.marks.extend_from_slice(marks);
                    rest(&self.machine, action.region, address, &mut self.target);
                }
                Next::Run => self.run_on(action.region, part.address + 1)?,
            }
        }
        let label = self.label(offer);
        let origin = self.origin();
        emit(Step { label, target: &self.target, origin });
        Ok(())
    }

    /// Runs a region on in the target state. Mostly it comes to its next action; the rest is less common.
    #[inline]
    fn run_on(&mut self, region: u32, address: u32) -> Result<(), ModelError> {
        match self.machine.run(address, &mut self.target)? {
            Halt::At(at) if matches!(self.op(at), Op::Act(_) | Op::Choice(_)) => {
                rest(&self.machine, region, at, &mut self.target);
                Ok(())
            }
            Halt::At(at) => advance(&mut self.machine, region, at, &mut self.target, true),
            Halt::Blocked | Halt::Done => Ok(()),
        }
    }

    fn label(&mut self, offer: Offer) -> LabelId {
        if self.machine.code.gates[offer.gate as usize].hidden {
            return LabelId::TAU;
        }
        if offer.values.1 > 2 {
            return self.find_label(offer);
        }
        // Up to two values are the whole sketch.
        let mixed = (offer.sketch ^ u64::from(offer.gate) << 48 ^ u64::from(offer.profile) << 16)
            .wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let place = (mixed >> 54) as usize;
        let known = self.label_cache[place];
        if known.label != 0
            && (known.sketch, known.gate, known.profile) == (offer.sketch, offer.gate, offer.profile)
        {
            return LabelId::from_raw(known.label);
        }
        let label = self.find_label(offer);
        self.label_cache[place] =
            KnownLabel { sketch: offer.sketch, gate: offer.gate, profile: offer.profile, label: label.raw() };
        label
    }

    fn find_label(&mut self, offer: Offer) -> LabelId {
        self.label_row.clear();
        self.label_row.push(offer.gate);
        self.label_row.push(offer.profile);
        let range = offer.values.0 as usize..(offer.values.0 + offer.values.1) as usize;
        self.label_row.extend(self.values[range].iter().map(|&value| value as u32));
        LabelId::from_raw(self.labels.intern(&self.label_row) + 1)
    }

    /// The origin of the marks at hand. Steps fire the same few marks in the same order again and again: these are
    /// remembered as they are, unsorted.
    #[inline]
    fn origin(&mut self) -> OriginId {
        let marks = &mut self.machine.marks;
        if marks.is_empty() {
            return OriginId::ZERO;
        }
        let count = marks.len();
        if count > ORIGIN_MARKS {
            marks.sort_unstable();
            marks.dedup();
            return OriginId::from_raw(self.origins.intern(marks));
        }
        let mixed = marks.iter().fold(0u64, |mixed, &mark| (mixed << 9) ^ u64::from(mark));
        let place = (mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as usize;
        let known = &self.origin_cache[place];
        if known.count as usize == count && known.marks[..count] == marks[..] {
            return OriginId::from_raw(known.origin);
        }
        let mut key = [0; ORIGIN_MARKS];
        key[..count].copy_from_slice(marks);
        marks.sort_unstable();
        marks.dedup();
        let origin = self.origins.intern(marks);
        self.origin_cache[place] = KnownOrigin { marks: key, count: count as u32, origin };
        OriginId::from_raw(origin)
    }
}

impl Worker for LntWorker<'_> {
    fn successors(&mut self, state: &[Slot], emit: &mut dyn FnMut(Step<'_>)) -> Result<(), ModelError> {
        self.gather(state)?;
        for index in 0..self.offers.len() {
            let offer = self.offers[index];
            self.complete(offer, emit)?;
        }
        for index in 0..self.ends.len() {
            self.machine.marks.clear();
            let mut trail = self.snapshot_trails[self.ends[index] as usize];
            while trail != NO_TRAIL {
                let (mark, before) = self.trails[trail as usize];
                self.machine.marks.push(mark);
                trail = before;
            }
            let origin = self.origin();
            // Nothing is active any more.
            self.target.fill(0);
            let label = LabelId::from_raw(self.labels.intern(&[crate::model::EXIT_GATE]) + 1);
            emit(Step { label, target: &self.target, origin });
        }
        Ok(())
    }
}

/// The action at an address, if the code goes there without doing anything else.
fn directly_at_action(code: &crate::compile::code::Code, mut address: u32) -> Option<(u32, u32)> {
    loop {
        match code.ops[address as usize] {
            Op::Act(action) => return Some((action, address)),
            Op::Jump(target) if target > address => address = target,
            _ => return None,
        }
    }
}

/// Applies to `target` what a snapshot has changed since snapshot 0.
fn merge_changes(target: &mut [Slot], snapshots: &[Slot], snapshot: u32, width: usize) {
    let changed = &snapshots[snapshot as usize * width..][..width];
    for (slot, (&new, &old)) in target.iter_mut().zip(changed.iter().zip(&snapshots[..width])) {
        if new != old {
            *slot = new;
        }
    }
}

/// Runs a region from an address until it rests, and its parents where it ends them. `joins` is false while the
/// region's siblings are still being started.
fn advance(
    machine: &mut Machine<'_>,
    region: u32,
    address: u32,
    state: &mut [Slot],
    joins: bool,
) -> Result<(), ModelError> {
    let mut thrown = run_to_rest(machine, region, address, state, joins)?;
    let mut rounds = 0;
    while let Some(Thrown { region, address }) = thrown {
        rounds += 1;
        if rounds > 1000 {
            return Err(endless(machine, address));
        }
        stop_children(machine, region, state);
        thrown = run_to_rest(machine, region, address, state, joins)?;
    }
    Ok(())
}

fn run_to_rest(
    machine: &mut Machine<'_>,
    mut region: u32,
    mut address: u32,
    state: &mut [Slot],
    joins: bool,
) -> Result<Option<Thrown>, ModelError> {
    let code = machine.code;
    let first = region;
    for _ in 0..100_000 {
        let Halt::At(at) = machine.run(address, state)? else { return Ok(None) };
        match code.ops[at as usize] {
            Op::Throw(throw) => {
                let (region, address) = code.throws[throw as usize];
                return Ok(Some(Thrown { region, address }));
            }
            Op::Fork(fork) => {
                let description = &code.forks[fork as usize];
                let counter = code.regions[region as usize].counter as usize;
                state[counter] = code.location_of[at as usize];
                for (&child, &entry) in description.children.iter().zip(&description.entries) {
                    match run_to_rest(machine, child, entry, state, false)? {
                        Some(Thrown { region: to, address: handler }) if to == region => {
                            stop_children(machine, region, state);
                            address = handler;
                        }
                        Some(thrown) => return Ok(Some(thrown)),
                        None => continue,
                    }
                    break;
                }
                if state[counter] == code.location_of[at as usize] {
                    if has_ended(machine, fork, state) {
                        stop_children(machine, region, state);
                        address = at + 1;
                        continue;
                    }
                    rest(machine, region, at, state);
                    return Ok(None);
                }
            }
            Op::End => {
                rest(machine, region, at, state);
                let Some((fork, _)) = code.regions[region as usize].parent else { return Ok(None) };
                if !(joins || region != first) || !has_ended(machine, fork, state) {
                    return Ok(None);
                }
                region = code.forks[fork as usize].region;
                address = stop_children(machine, region, state) + 1;
            }
            _ => {
                rest(machine, region, at, state);
                return Ok(None);
            }
        }
    }
    Err(endless(machine, address))
}

fn endless(machine: &Machine<'_>, address: u32) -> ModelError {
    machine.error("this runs on without an action: is it an endless loop?".into(), address as usize)
}

/// Lets a region rest at an instruction: what nobody will read any more is forgotten.
#[inline]
fn rest(machine: &Machine<'_>, region: u32, address: u32, state: &mut [Slot]) {
    let region = &machine.code.regions[region as usize];
    let location = machine.code.location_of[address as usize];
    state[region.counter as usize] = location;
    for &slot in &region.locations[location as usize - 1].dead {
        state[slot as usize] = 0;
    }
}

/// Whether a fork is over: all children of a composition have ended, or the interruption of a disruption that has
/// taken over. A body that has ended can still be interrupted, so that is left open.
fn has_ended(machine: &Machine<'_>, fork: u32, state: &[Slot]) -> bool {
    let code = machine.code;
    let description = &code.forks[fork as usize];
    let ended = |child: u32| {
        let region = &code.regions[child as usize];
        let location = state[region.counter as usize];
        location != 0 && code.ops[region.locations[location as usize - 1].address as usize] == Op::End
    };
    match description.kind {
        ForkKind::Parallel => description.children.iter().all(|&child| ended(child)),
        ForkKind::Disrupt => {
            let body = &code.regions[description.children[0] as usize];
            state[body.counter as usize] == 0 && ended(description.children[1])
        }
    }
}

/// Ends the children of a region that rests at a fork; gives the address of that fork.
fn stop_children(machine: &Machine<'_>, region: u32, state: &mut [Slot]) -> u32 {
    let code = machine.code;
    let region = &code.regions[region as usize];
    let location = state[region.counter as usize];
    let address = region.locations[(location as usize).max(1) - 1].address;
    if let Op::Fork(fork) = code.ops[address as usize] {
        for &child in &code.forks[fork as usize].children {
            let slots = code.regions[child as usize].slots.clone();
            state[slots.start as usize..slots.end as usize].fill(0);
        }
    }
    address
}

/// All values of a type, or why they can't be listed.
fn domain(machine: &mut Machine<'_>, ty: TypeId, span: Span) -> Result<Arc<[u32]>, ModelError> {
    match machine.values.known_domain(ty) {
        Some(known) => Ok(known),
        None => with_predicates(machine, span, |values, accepts| values.domain(ty, accepts)),
    }
}

fn pattern_domain(
    machine: &mut Machine<'_>,
    pattern: &Pattern,
    span: Span,
) -> Result<Arc<[u32]>, ModelError> {
    with_predicates(machine, span, |values, accepts| {
        values.pattern_domain(pattern, &mut literal_value, accepts)
    })
}

fn literal_value(values: &mut Values<'_>, pattern: &Pattern) -> u32 {
    let PatternKind::Literal(literal) = &pattern.kind else { return 0 };
    match (literal, values.kind(pattern.ty)) {
        (Literal::Bool(value), _) => u32::from(*value),
        (Literal::Integer(value), Kind::Number { offset, .. }) => (value - offset) as u32,
        (Literal::Integer(value), _) => *value as u32,
        (Literal::Char(value), _) => *value as u32,
        (Literal::Real(value), _) => values.intern_real(*value),
        (Literal::String(value), _) => values.intern_text(value),
    }
}

/// Enumerates values with a helper that evaluates the conditions of predicate types on a machine of its own.
fn with_predicates(
    machine: &mut Machine<'_>,
    span: Span,
    enumerate: impl FnOnce(
        &mut Values<'_>,
        &mut dyn FnMut(&mut Values<'_>, TypeId, u32) -> bool,
    ) -> Result<Arc<[u32]>, TooMany>,
) -> Result<Arc<[u32]>, ModelError> {
    let mut helper: Option<Machine<'_>> = None;
    let mut failure = None;
    let (model_machine, values) = machine.split();
    let mut accepts = |values: &mut Values<'_>, ty: TypeId, value: u32| {
        let Some(function) = values.types[ty.index()].predicate else { return true };
        let helper = helper.get_or_insert_with(|| model_machine.machine());
        helper.values.refresh();
        helper.call(function, value).unwrap_or_else(|error| {
            failure.get_or_insert(error);
            0
        }) != 0
    };
    let result = enumerate(values, &mut accepts);
    if let Some(error) = failure {
        return Err(error);
    }
    result.map_err(|too_many| {
        let (ty, reason) = match too_many {
            TooMany::Infinite(ty) => (ty, "has no end"),
            TooMany::Large(ty) => (ty, "is too large to try all values"),
        };
        let name = &machine.values.program[ty].name;
        ModelError {
            message: format!("any value of type {name} may be received here, and that type {reason}"),
            span: Some(span),
            help: Some(
                "synchronise with a process that sends a value, or narrow the offer with a pattern".into(),
            ),
        }
    })
}
