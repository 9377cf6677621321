//! Looks at rendezvous instead of taking them: why an offered action does not happen in a state.
//!
//! Offers are gathered as for steps. Before a fork replaces the offers on a gate by their combinations, each wanted
//! one is compared with what the other members offer there; what arrives at the root is tried.

use lts::LabelId;
use model::{Encounter, MarkId, Model, ModelError, Observer, Obstacle, Participant, Partner, Slot, Step};

use rustc_hash::FxHashSet;

use super::super::print::print_frozen;
use super::super::rendezvous::silent;
use super::{LntWorker, OPEN, Offer, PlainSink};
use crate::compile::code::{Code, OfferCode, Op};
use crate::compile::types::Representation;
use crate::typed::TypeId;

/// What is looked for, and what was found.
#[derive(Default)]
pub(super) struct Examination {
    wanted: Vec<bool>,
    found: Vec<Encounter>,
}

impl Observer for LntWorker<'_> {
    fn encounters(
        &mut self,
        state: &[Slot],
        wanted: &[bool],
        emit: &mut dyn FnMut(Encounter),
    ) -> Result<(), ModelError> {
        self.examination = Some(Box::new(Examination { wanted: wanted.to_vec(), found: Vec::new() }));
        let result = self.gather(state).and_then(|()| self.try_offers());
        let examination = self.examination.take().unwrap_or_default();
        examination.found.into_iter().for_each(emit);
        result
    }

    fn participants(
        &mut self,
        state: &[Slot],
        label: &str,
        target: &[Slot],
    ) -> Result<Vec<Participant>, ModelError> {
        self.gather(state)?;
        let mut found: Vec<Participant> = Vec::new();
        for index in 0..self.offers.len() {
            let offer = self.offers[index];
            let mut labels: Vec<LabelId> = Vec::new();
            let mut note = |step: Step<'_>| {
                if step.target == target {
                    labels.push(step.label);
                }
            };
            self.complete(offer, &mut PlainSink(&mut note))?;
            let happens = labels.into_iter().any(|one| self.model.label(one) == label);
            for part in (0..offer.parts.1).filter(|_| happens) {
                let action = self.action_of(&offer, part);
                let instance = self.instance_of(&offer, part);
                found.extend(action.map(|action| Participant { action, instance }));
            }
        }
        found.sort();
        found.dedup();
        Ok(found)
    }
}

impl LntWorker<'_> {
    /// Tries what has arrived at the root: all partners are there.
    fn try_offers(&mut self) -> Result<(), ModelError> {
        for index in 0..self.offers.len() {
            let offer = self.offers[index];
            let wanted = self.wanted_parts(&offer);
            if wanted.is_empty() {
                continue;
            }
            let mut happens = false;
            self.complete(offer, &mut PlainSink(&mut |_| happens = true))?;
            if happens {
                continue;
            }
            for (mark, part) in wanted {
                let others = (0..offer.parts.1).filter(|&other| other != part);
                let partners = others.map(|other| self.part_as_partner(&offer, other)).collect();
                let who = self.instance_of(&offer, part);
                self.note(mark, who, Obstacle::Refused, self.offer_text(&offer), partners);
            }
        }
        Ok(())
    }

    /// Compares the wanted offers of a fork's children with what the other members of their rules offer.
    pub(super) fn examine(&mut self, fork: u32, first: usize) {
        let code = self.machine.code;
        let children = self.bounds.len() - 1 - first;
        for child in 0..children {
            for index in self.range(first, child) {
                let offer = self.offers[index];
                let wanted = self.wanted_parts(&offer);
                let rule = self.model.rules[fork as usize][child][offer.gate as usize];
                if wanted.is_empty() || rule == 0 {
                    continue;
                }
                let rule = &code.forks[fork as usize].rules[rule as usize - 1];
                let others: Vec<usize> = rule
                    .members
                    .iter()
                    .map(|&member| member as usize)
                    .filter(|&member| member != child)
                    .collect();
                let obstacles: Vec<Option<Obstacle>> =
                    others.iter().map(|&member| self.obstacle(&offer, first, member)).collect();
                let fitting = obstacles.iter().filter(|obstacle| obstacle.is_none()).count();
                let Some(worst) = obstacles.iter().flatten().min().copied() else { continue };
                if fitting + 1 >= rule.count as usize {
                    continue;
                }
                let missing = others.iter().zip(&obstacles).filter(|(_, found)| **found == Some(worst));
                let partners: Vec<Partner> =
                    missing.map(|(&member, _)| self.partner(fork, first, member, &offer)).collect();
                for (mark, part) in wanted {
                    let who = self.instance_of(&offer, part);
                    self.note(mark, who, worst, self.offer_text(&offer), partners.clone());
                }
            }
        }
    }

    fn range(&self, first: usize, child: usize) -> std::ops::Range<usize> {
        self.bounds[first + child].0 as usize..self.bounds[first + child + 1].0 as usize
    }

    /// What keeps an offer from meeting those of a member; nothing where one fits.
    fn obstacle(&self, offer: &Offer, first: usize, member: usize) -> Option<Obstacle> {
        let mut nearest = Obstacle::PartnerNotReady;
        for index in self.range(first, member) {
            let other = &self.offers[index];
            if other.gate != offer.gate {
                continue;
            }
            if other.profile != offer.profile {
                nearest = nearest.max(Obstacle::DifferentProfile);
                continue;
            }
            let known = |offer: &Offer, place: u32| self.value(offer, place as usize);
            let fits = (0..offer.values.1).all(|place| {
                let (own, others) = (known(offer, place), known(other, place));
                own == others || own == OPEN || others == OPEN
            });
            if fits {
                return None;
            }
            nearest = nearest.max(Obstacle::DifferentValues);
        }
        Some(nearest)
    }

    /// The wanted actions that take part in an offer: mark and place among the parts.
    fn wanted_parts(&self, offer: &Offer) -> Vec<(MarkId, u32)> {
        let Some(examination) = &self.examination else { return Vec::new() };
        let mark = |part: u32| {
            let action = self.parts[(offer.parts.0 + part) as usize].action;
            let mark = self.machine.code.actions[action as usize].mark?;
            examination.wanted.get(mark.0 as usize).copied().unwrap_or(false).then_some((mark, part))
        };
        (0..offer.parts.1).filter_map(mark).collect()
    }

    fn note(
        &mut self,
        action: MarkId,
        instance: String,
        obstacle: Obstacle,
        offer: String,
        partners: Vec<Partner>,
    ) {
        if let Some(examination) = &mut self.examination {
            examination.found.push(Encounter { action, instance, obstacle, offer, partners });
        }
    }

    fn action_of(&self, offer: &Offer, part: u32) -> Option<MarkId> {
        let action = self.parts[(offer.parts.0 + part) as usize].action;
        self.machine.code.actions[action as usize].mark
    }

    /// Who a part of an offer is.
    fn instance_of(&self, offer: &Offer, part: u32) -> String {
        let code = self.machine.code;
        let action = self.parts[(offer.parts.0 + part) as usize].action;
        code.regions[code.actions[action as usize].region as usize].instance.clone()
    }

    /// A member of a fork, what it offers on the gate of an offer, and where it could still meet it.
    fn partner(&self, fork: u32, first: usize, member: usize, wanted: &Offer) -> Partner {
        let code = self.machine.code;
        let gate = wanted.gate;
        let region = code.forks[fork as usize].children[member];
        let offers =
            self.range(first, member).map(|index| self.offers[index]).filter(|offer| offer.gate == gate);
        let offers = offers.map(|offer| (self.first_mark(&offer), self.offer_text(&offer)));
        let actions = code.actions.iter().enumerate().filter(|(_, action)| action.gate == gate);
        let actions = actions.filter(|(_, action)| self.lies_below(action.region, region));
        let actions = actions.filter(|&(number, _)| self.can_still_meet(wanted, number as u32));
        let actions: Vec<_> = actions.map(|(_, action)| action).collect();
        let mut below: Vec<u32> = actions.iter().map(|action| action.region).collect();
        below.sort_unstable();
        below.dedup();
        if below.is_empty() {
            below.push(region);
        }
        let instances = below.iter().map(|&one| code.regions[one as usize].instance.clone()).collect();
        let mut actions: Vec<MarkId> = actions.iter().filter_map(|action| action.mark).collect();
        actions.sort_unstable();
        actions.dedup();
        let offers: Vec<(Option<MarkId>, String)> = offers.collect();
        // Who offers something now, else who ever could, else whose branch it is.
        let offering: Vec<MarkId> = offers.iter().filter_map(|(mark, _)| *mark).collect();
        let marks = if offering.is_empty() { &actions } else { &offering };
        let mut names: Vec<&str> =
            marks.iter().map(|&mark| self.model.provenance.mark(mark).process.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        let process = match names.is_empty() {
            true => code.regions[region as usize].name.clone(),
            false => names.join(" or "),
        };
        Partner { process, offers, actions, instances }
    }

    /// Whether an action may happen from here on with the values that are known of an offer. It can't where control never
    /// comes to it again, or where it will offer something else: a constant, or a variable that never changes again.
    fn can_still_meet(&self, offer: &Offer, number: u32) -> bool {
        let code = self.machine.code;
        let action = &code.actions[number as usize];
        let region = &code.regions[action.region as usize];
        let location = self.slot(0, region.counter).checked_sub(1);
        let Some(location) = location.and_then(|location| region.locations.get(location as usize)) else {
            return true;
        };
        let mut known = self.ahead.borrow_mut();
        let ahead = known.entry(location.address).or_insert_with(|| Ahead::of(code, location.address));
        if ahead.may_start_again || !self.model.interrupted[action.region as usize].is_empty() {
            return true;
        }
        if !ahead.instructions.iter().any(|&at| code.ops[at as usize] == Op::Act(number)) {
            return false;
        }
        if action.offers.len() != offer.values.1 as usize {
            return false;
        }
        action.offers.iter().enumerate().all(|(place, &(own, ty))| {
            let known = self.value(offer, place);
            let types = self.machine.values.types;
            let is_one_word = types[ty.index()].words() == 1;
            let fixed = match own {
                OfferCode::Constant(value) => Some(value),
                OfferCode::Slot(slot) if is_one_word && !changes(code, types, &ahead.instructions, slot) => {
                    Some(self.slot(0, slot))
                }
                _ => None,
            };
            known == OPEN || fixed.is_none_or(|fixed| u64::from(fixed) == known)
        })
    }

    /// One of the parts of an offer, as a partner of the others.
    fn part_as_partner(&self, offer: &Offer, part: u32) -> Partner {
        let code = self.machine.code;
        let action = &code.actions[self.parts[(offer.parts.0 + part) as usize].action as usize];
        let process = action.mark.map(|mark| self.model.provenance.mark(mark).process.clone());
        Partner {
            process: process.unwrap_or_else(|| code.regions[action.region as usize].name.clone()),
            offers: vec![(action.mark, self.offer_text(offer))],
            actions: action.mark.into_iter().collect(),
            instances: vec![code.regions[action.region as usize].instance.clone()],
        }
    }

    fn first_mark(&self, offer: &Offer) -> Option<MarkId> {
        let part = self.parts[offer.parts.0 as usize];
        self.machine.code.actions[part.action as usize].mark
    }

    /// Whether a region is another one or was forked below it.
    fn lies_below(&self, mut region: u32, above: u32) -> bool {
        let code = self.machine.code;
        loop {
            if region == above {
                return true;
            }
            match code.regions[region as usize].parent {
                Some((fork, _)) => region = code.forks[fork as usize].region,
                None => return false,
            }
        }
    }

    /// An offer for people: known values, and types of what is open.
    fn offer_text(&self, offer: &Offer) -> String {
        let code = self.machine.code;
        let mut text = code.gates[offer.gate as usize].name.clone();
        let action = &code.actions[self.parts[offer.parts.0 as usize].action as usize];
        for (place, &(_, ty)) in action.offers.iter().enumerate() {
            match self.value(offer, place) {
                OPEN => text.push_str(&format!(" ?{}", self.machine.values.program[ty].name)),
                value => {
                    text.push_str(&format!(" !{}", print_frozen(&self.machine.values, ty, value as u32)));
                }
            }
        }
        text
    }
}

/// What a region may still come to.
pub(super) struct Ahead {
    /// All instructions, with those that compute and receive what it offers.
    instructions: Vec<u32>,
    /// Whether it may end, or leave for where it was forked: others may start it again then.
    may_start_again: bool,
}

impl Ahead {
    fn of(code: &Code, from: u32) -> Self {
        let instructions = ahead(code, from);
        let ends = |&at: &u32| matches!(code.ops[at as usize], Op::End | Op::Throw(_));
        Self { may_start_again: instructions.iter().any(ends), instructions }
    }
}

fn ahead(code: &Code, from: u32) -> Vec<u32> {
    let mut found: Vec<u32> = Vec::new();
    let mut known = FxHashSet::default();
    let mut todo = vec![from];
    while let Some(start) = todo.pop() {
        for at in silent(code, start) {
            if !known.insert(at) {
                continue;
            }
            found.push(at);
            match code.ops[at as usize] {
                Op::Choice(number) => todo.extend_from_slice(&code.choices[number as usize]),
                Op::AnyValue(..) | Op::Fork(_) => todo.push(at + 1),
                Op::Act(number) => {
                    let action = &code.actions[number as usize];
                    todo.push(at + 1);
                    todo.extend(action.guard);
                    todo.extend(action.offers.iter().filter_map(|(offer, _)| match *offer {
                        OfferCode::Computed(address) | OfferCode::Pattern { address, .. } => Some(address),
                        _ => None,
                    }));
                }
                _ => {}
            }
        }
    }
    found
}

/// Whether any of these instructions changes a slot.
fn changes(code: &Code, types: &[Representation], instructions: &[u32], slot: u32) -> bool {
    let holds = |first: u32, words: u32| (first..first + words).contains(&slot);
    let words = |ty: TypeId| types[ty.index()].words();
    instructions.iter().any(|&at| match code.ops[at as usize] {
        Op::StoreSlot(first) => first == slot,
        Op::StoreSlots(first, words) => holds(first, words),
        Op::StoreElement(part) => {
            let (first, words) = code.parts[part as usize].whole;
            holds(first, words)
        }
        Op::AnyValue(first, ty) => holds(first, words(ty)),
        Op::Act(number) => {
            let offers = &code.actions[number as usize].offers;
            offers.iter().any(|&(offer, ty)| match offer {
                OfferCode::Variable(first) => holds(first, words(ty)),
                _ => false,
            })
        }
        _ => false,
    })
}
