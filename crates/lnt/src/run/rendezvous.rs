//! Which actions of which regions can happen together, found before the program runs.
//!
//! While the same forks are active, the regions below them that do not fork themselves (the *leaves*) offer what their
//! locations say, and rules combine it the same way every time. All these combinations are listed once, in the order in
//! which offers are combined state by state ([`super::successors`]): those that are possible in a state are the ones whose
//! participants are all where they have to be, and get from there to their actions ([`Scout`]). Where a leaf's silent ways may fork or end, its location counts as open:
//! states in which it is there are left to that. Where a value is chosen silently, steps are told value by value, with all that
//! may come of each: rendezvous that share a choice form a group, and how its steps are ordered is written down ([`Turn`]).

use rustc_hash::{FxHashMap, FxHashSet};

use super::shortcuts::{Rest, Shortcuts, directly_at_action};
use super::sources::{choosing, never_meet};
use crate::compile::code::{Code, ForkKind, Landing, OfferCode, Op};
use crate::compile::types::{Kind, Representation};
use crate::typed::TypeId;

/// More rendezvous than this are not listed.
const MOST_RENDEZVOUS: usize = 2048;
/// Longer silent ways, counted in choices, are not followed.
const MOST_LEGS: usize = 8;
/// More values than this are not chosen silently.
const MOST_CHOSEN: u32 = 2048;
/// So many ways are looked at together: a word has a bit for each, and one for its sign.
const MOST_SCOUTED: usize = 31;
/// The steps of a group are ordered by at most so many turns.
pub const MOST_TURNS: usize = 32;

/// The first word of a type's values and how many there are, where all words between are values.
pub fn range_of(shape: &Representation) -> Option<(u32, u32)> {
    if shape.conditional {
        return None;
    }
    match shape.kind {
        Kind::Bool => Some((0, 2)),
        Kind::Number { lower, upper, offset, .. } => {
            let count = upper.checked_sub(lower)?.checked_add(1)?;
            Some((u32::try_from(lower.checked_sub(offset)?).ok()?, u32::try_from(count).ok()?))
        }
        Kind::Char { lower, upper } => Some((lower, upper.checked_sub(lower)?.checked_add(1)?)),
        Kind::Enumeration(ref constructors) => Some((0, constructors.len() as u32)),
        _ => None,
    }
}

/// A part of a silent way: code that runs from one instruction to another one, where it halts. If a value is chosen there,
/// the next one goes on behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Leg {
    pub from: u32,
    pub to: u32,
}

/// A region that takes part.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Participant {
    /// The region, and where it rests.
    pub region: u32,
    pub location: u32,
    /// What it does silently before the action; empty where it rests right before it.
    pub way: Vec<Leg>,
    /// Legs that may be taken in the place of its own and lead where nothing is listed.
    pub lost: Vec<Leg>,
    /// The action, and where it is.
    pub action: u32,
    pub address: u32,
}

/// Actions that can happen together.
#[derive(Clone, Debug)]
pub struct Rendezvous {
    pub gate: u32,
    pub profile: u32,
    pub participants: Vec<Participant>,
    /// Where its steps come among all of a state: these are told in the order of their turns, one after the other.
    pub turns: Vec<Turn>,
    /// Neighbours with the same number, unless it is 0, share a choice: turns up to there are left out in these.
    pub group: u32,
}

impl Rendezvous {
    /// How many values that were chosen silently its steps tell.
    pub fn chosen(&self, code: &Code) -> usize {
        let legs = self.participants.iter().flat_map(|one| &one.way);
        let chosen = legs.filter(|leg| matches!(code.ops[leg.to as usize], Op::AnyValue(..))).count();
        if self.group == 0 { 0 } else { chosen }
    }
}

/// What decides, at one point of the search for offers, which steps come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// The smaller number.
    Fixed(u32),
    /// The smaller one of the values that participants choose silently: the next of them, as they lie on their ways.
    Chosen,
}

/// What a leaf does at a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// It is told by the rendezvous.
    Listed,
    /// Nothing any more: it has ended.
    Ended,
    /// That has to be found out otherwise.
    Open,
}

/// A region that is below a fork, or the root, and does not fork itself.
#[derive(Clone, Debug)]
pub struct Leaf {
    pub region: u32,
    /// By location; location 0 is that of a region that is not active.
    pub places: Vec<Place>,
}

/// What can happen while certain forks are active.
#[derive(Clone, Debug)]
pub struct Configuration {
    /// The regions that fork, and where they rest then.
    pub forking: Vec<(u32, u32)>,
    pub leaves: Vec<Leaf>,
    pub rendezvous: Vec<Rendezvous>,
    pub scouts: Vec<Scout>,
}

/// Silent ways of a leaf from one of its locations that are looked at before any rendezvous: where one does not lead to its action,
/// none of its rendezvous is possible. Those of ways that may be shared by several are looked at once instead of each time; and those
/// that may fail, or lead where nothing is listed, have to be, although no partner may be there.
#[derive(Clone, Debug)]
pub struct Scout {
    pub region: u32,
    pub location: u32,
    pub ways: Vec<Participant>,
    /// For each, whether it or what is offered behind it may fail.
    pub fails: Vec<bool>,
}

impl Configuration {
    /// Leaves locations open at which something is done silently before an action.
    pub fn leave_ways_to_others(&mut self) {
        let ways = self.rendezvous.iter().flat_map(|one| &one.participants).filter(|one| !one.way.is_empty());
        let open: Vec<(u32, u32)> = ways.map(|one| (one.region, one.location)).collect();
        self.leave_open(&open);
    }

    /// Leaves locations of regions open.
    fn leave_open(&mut self, open: &[(u32, u32)]) {
        for leaf in &mut self.leaves {
            for (location, place) in leaf.places.iter_mut().enumerate() {
                if open.contains(&(leaf.region, location as u32)) {
                    *place = Place::Open;
                }
            }
        }
        let is_open = |one: &Participant| open.contains(&(one.region, one.location));
        self.rendezvous.retain(|one| !one.participants.iter().any(is_open));
        self.scouts.retain(|one| !open.contains(&(one.region, one.location)));
    }
}

/// Gives what can happen, if it can be listed, while regions rest where they do.
pub fn configuration(
    code: &Code,
    types: &[Representation],
    shortcuts: &Shortcuts,
    rules: &[Vec<Vec<u32>>],
    profiles: &[u32],
    location: &dyn Fn(u32) -> u32,
) -> Option<Configuration> {
    let found =
        Configuration { forking: Vec::new(), leaves: Vec::new(), rendezvous: Vec::new(), scouts: Vec::new() };
    let failing = Vec::new();
    let mut listing = Listing { code, types, shortcuts, rules, profiles, location, found, failing };
    let rendezvous = listing.of_region(0)?;
    let Listing { mut found, mut failing, .. } = listing;
    found.rendezvous = rendezvous;
    found.rendezvous.retain(|one| !never_meet(code, types, &one.participants));
    // Who needs no partner, and no value, finds out by itself.
    let is_given = |&(offer, _): &(OfferCode, TypeId)| {
        matches!(offer, OfferCode::Constant(_) | OfferCode::Slot(_) | OfferCode::Computed(_))
    };
    failing.retain(|failing| {
        let alone = found.rendezvous.iter().any(|one| one.participants[..] == *std::slice::from_ref(failing));
        !(alone && code.actions[failing.action as usize].offers.iter().all(is_given))
    });
    found.scouts = scouts(&found.rendezvous, failing);
    group_neighbours(&mut found);
    Some(found)
}

/// The ways to be looked at first.
fn scouts(rendezvous: &[Rendezvous], failing: Vec<Participant>) -> Vec<Scout> {
    let mut known: FxHashSet<Participant> = failing.iter().cloned().collect();
    let mut ways: Vec<(Participant, bool)> = failing.into_iter().map(|one| (one, true)).collect();
    for participant in rendezvous.iter().flat_map(|one| &one.participants) {
        if !participant.way.is_empty()
            && known.insert(participant.clone())
            && most_at_a_time(rendezvous, participant) > 1
        {
            ways.push((participant.clone(), false));
        }
    }
    let place = |(one, _): &(Participant, bool)| (one.region, one.location);
    ways.sort_by_key(place);
    let of_location = ways.chunk_by(|a, b| place(a) == place(b));
    let scout = |ways: &[(Participant, bool)]| {
        let (region, location) = place(&ways[0]);
        let (ways, fails) = ways.iter().cloned().unzip();
        Scout { region, location, ways, fails }
    };
    of_location.flat_map(|ways| ways.chunks(MOST_SCOUTED)).map(scout).collect()
}

/// How many rendezvous of a participant are possible at a time, at most: each partner is at one of its locations.
fn most_at_a_time(rendezvous: &[Rendezvous], participant: &Participant) -> usize {
    let mut by_partners: FxHashMap<Vec<u32>, FxHashMap<Vec<u32>, usize>> = FxHashMap::default();
    for one in rendezvous.iter().filter(|one| one.participants.contains(participant)) {
        let regions = one.participants.iter().map(|one| one.region).collect();
        let locations = one.participants.iter().map(|one| one.location).collect();
        *by_partners.entry(regions).or_default().entry(locations).or_default() += 1;
    }
    by_partners.values().filter_map(|counts| counts.values().max()).sum()
}

/// Gives neighbours a common number that have the same turns up to a choice. Where these are too many, locations are left open.
fn group_neighbours(found: &mut Configuration) {
    let choice = |one: &Rendezvous| one.turns.iter().position(|turn| *turn == Turn::Chosen);
    let mut open = Vec::new();
    let mut group = 0;
    let mut first = 0;
    while let Some(one) = found.rendezvous.get(first) {
        let shared = choice(one).map(|choice| one.turns[..=choice].to_vec());
        let alike = |other: &&Rendezvous| {
            shared.as_ref().is_some_and(|shared| choice(other).is_some() && other.turns.starts_with(shared))
        };
        let count = found.rendezvous[first..].iter().take_while(alike).count();
        if let (Some(shared), 2..) = (&shared, count) {
            group += 1;
            for one in &mut found.rendezvous[first..first + count] {
                one.group = group;
                one.turns.drain(..shared.len() - 1);
                if one.turns.len() > MOST_TURNS {
                    open.extend(one.participants.iter().map(|one| (one.region, one.location)));
                }
            }
        }
        first += count.max(1);
    }
    found.leave_open(&open);
}

struct Listing<'c> {
    code: &'c Code,
    types: &'c [Representation],
    shortcuts: &'c Shortcuts,
    rules: &'c [Vec<Vec<u32>>],
    profiles: &'c [u32],
    location: &'c dyn Fn(u32) -> u32,
    found: Configuration,
    /// Participants whose way or offers may fail, or lead where nothing is listed.
    failing: Vec<Participant>,
}

impl Listing<'_> {
    /// What a region offers, with the regions below it.
    fn of_region(&mut self, region: u32) -> Option<Vec<Rendezvous>> {
        let location = (self.location)(region);
        let Rest::Children(fork, _) = self.shortcuts.rest(region, location) else {
            return Some(self.of_leaf(region));
        };
        self.found.forking.push((region, location));
        let description = &self.code.forks[fork as usize];
        if description.kind != ForkKind::Parallel {
            return None;
        }
        let mut offered = Vec::new();
        let mut concerned: Vec<Vec<(u32, Rendezvous)>> = vec![Vec::new(); description.rules.len()];
        for (number, &child) in description.children.iter().enumerate() {
            for mut offer in self.of_region(child)? {
                match self.rules[fork as usize][number][offer.gate as usize] {
                    0 => {
                        offer.turns.splice(..0, [Turn::Fixed(0), Turn::Fixed(number as u32)]);
                        offered.push(offer);
                    }
                    rule => {
                        offer.turns.insert(0, Turn::Fixed(number as u32));
                        concerned[rule as usize - 1].push((number as u32, offer));
                    }
                }
            }
        }
        for (number, (rule, group)) in (1..).zip(description.rules.iter().zip(&concerned)) {
            let first = offered.len();
            self.combine(group, &rule.members, rule.count as usize, None, &mut offered)?;
            offered[first..].iter_mut().for_each(|one| one.turns.insert(0, Turn::Fixed(number)));
        }
        (offered.len() <= MOST_RENDEZVOUS).then_some(offered)
    }

    /// Adds the combinations of `partial` with offers of `count` of the given members, as offers are combined.
    fn combine(
        &self,
        group: &[(u32, Rendezvous)],
        members: &[u32],
        count: usize,
        partial: Option<&Rendezvous>,
        offered: &mut Vec<Rendezvous>,
    ) -> Option<()> {
        let Some((&member, others)) = members.split_first() else { return Some(()) };
        let start = group.iter().position(|one| one.0 >= member).unwrap_or(group.len());
        let group = &group[start..];
        let end = group.iter().position(|one| one.0 > member).unwrap_or(group.len());
        let (own, rest) = group.split_at(end);
        for (_, offer) in own {
            let merged = match partial {
                None => offer.clone(),
                Some(partial) if self.may_fit(partial, offer) => {
                    let mut merged = partial.clone();
                    merged.participants.extend_from_slice(&offer.participants);
                    merged.turns.extend_from_slice(&offer.turns);
                    merged
                }
                Some(_) => continue,
            };
            match count {
                1 => offered.push(merged),
                _ => self.combine(rest, others, count - 1, Some(&merged), offered)?,
            }
            if offered.len() > MOST_RENDEZVOUS {
                return None;
            }
        }
        if others.len() >= count {
            self.combine(rest, others, count, partial, offered)?;
        }
        Some(())
    }

    /// Whether nothing is known that keeps two offers apart.
    fn may_fit(&self, a: &Rendezvous, b: &Rendezvous) -> bool {
        let constant = |offer: &Rendezvous, place: usize| {
            offer.participants.iter().find_map(|one| {
                match self.code.actions[one.action as usize].offers[place].0 {
                    OfferCode::Constant(value) => Some(value),
                    _ => None,
                }
            })
        };
        let places = self.code.actions[a.participants[0].action as usize].offers.len();
        a.profile == b.profile
            && (0..places).all(|place| match (constant(a, place), constant(b, place)) {
                (Some(a), Some(b)) => a == b,
                _ => true,
            })
    }

    /// What a leaf offers at all of its locations: it is at one of them at a time.
    fn of_leaf(&mut self, region: u32) -> Vec<Rendezvous> {
        let code = self.code;
        let mut places = vec![Place::Listed];
        let mut offered = Vec::new();
        for location in 1..=code.regions[region as usize].locations.len() as u32 {
            let (mut ways, mut lost) = (Vec::new(), Vec::new());
            let place = match self.shortcuts.rest(region, location) {
                Rest::Nothing => Place::Listed,
                Rest::Ended => Place::Ended,
                Rest::Children(..) => Place::Open,
                Rest::Action(action, address) => {
                    ways.push(Way { action, address, ..Way::default() });
                    Place::Listed
                }
                Rest::Offers(first, count) => {
                    let offers = &self.shortcuts.offers[first as usize..(first + count) as usize];
                    ways.extend((0..).zip(offers).map(|(number, &(action, address))| Way {
                        action,
                        address,
                        turns: vec![Turn::Fixed(number)],
                        ..Way::default()
                    }));
                    Place::Listed
                }
                Rest::Ways(address) => match self.ways(address, &Way::default(), &mut ways, &mut lost) {
                    Some(()) => Place::Listed,
                    None => Place::Open,
                },
            };
            places.push(place);
            if place != Place::Listed {
                continue;
            }
            for Way { legs: way, mut turns, action, address } in ways {
                turns.insert(0, Turn::Fixed(location));
                let is_near = |leg: &&Leg| way.iter().any(|own: &Leg| own.from == leg.from);
                let lost = lost.iter().filter(is_near).copied().collect();
                let participant = Participant { region, location, way, lost, action, address };
                if may_fail_alone(code, &participant) || !participant.lost.is_empty() {
                    self.failing.push(participant.clone());
                }
                offered.push(Rendezvous {
                    gate: code.actions[action as usize].gate,
                    profile: self.profiles[action as usize],
                    participants: vec![participant],
                    turns,
                    group: 0,
                });
            }
        }
        self.found.leaves.push(Leaf { region, places });
        offered
    }

    /// The silent ways from a choice to actions, in the order in which a search meets them; nothing where they only lead
    /// elsewhere. Legs that do so beside others are lost: what follows then has to be found out otherwise.
    fn ways(&self, choice: u32, before: &Way, found: &mut Vec<Way>, lost: &mut Vec<Leg>) -> Option<()> {
        if before.legs.len() >= MOST_LEGS {
            return None;
        }
        let mut before = before.clone();
        let visited: Vec<u32> = match before.legs.is_empty() {
            true => vec![choice],
            false => before.legs.iter().map(|leg| leg.to).collect(),
        };
        let mut is_value = false;
        let mut next = 0;
        let branches = match self.code.ops[choice as usize] {
            Op::Choice(number) => {
                let mut branches = Vec::new();
                for &target in &self.code.choices[number as usize] {
                    match directly_at_action(self.code, target) {
                        Some((action, address)) => {
                            found.push(Way { action, address, ..before.turning([Turn::Fixed(next)]) });
                            next += 1;
                        }
                        None => branches.push(target),
                    }
                }
                branches
            }
            Op::AnyValue(..) => {
                let count = choosing(self.code, self.types, choice)?.most();
                if !(1..=MOST_CHOSEN).contains(&count) {
                    return None;
                }
                is_value = true;
                // A region that rests at it comes there at once.
                if before.legs.is_empty() {
                    before.legs.push(Leg { from: choice, to: choice });
                }
                vec![choice + 1]
            }
            _ => return None,
        };
        // What a search comes to at once is told for all values, before it goes on from any of them.
        let turning = |leg: Leg, further: bool, next: &mut u32| {
            let mut way = match is_value {
                true => before.turning([Turn::Fixed(u32::from(further)), Turn::Chosen, Turn::Fixed(*next)]),
                false => before.turning([Turn::Fixed(*next)]),
            };
            *next += 1;
            way.legs.push(leg);
            way
        };
        let mut further: Vec<Leg> = Vec::new();
        for from in branches {
            let halts = halts(self.code, from);
            let acts = halts.iter().any(|&to| matches!(self.code.ops[to as usize], Op::Act(_)));
            for to in halts {
                let leg = Leg { from, to };
                match self.code.ops[to as usize] {
                    Op::Act(action) => {
                        found.push(Way { action, address: to, ..turning(leg, false, &mut next) });
                    }
                    Op::Choice(_) | Op::AnyValue(..) if !visited.contains(&to) => further.push(leg),
                    Op::Stop => {}
                    // A choice that is met again, with the same values or not, is for a search to judge.
                    _ if acts => lost.push(leg),
                    _ => return None,
                }
            }
        }
        let mut met: Vec<u32> = further.iter().map(|leg| leg.to).collect();
        met.sort_unstable();
        if met.windows(2).any(|pair| pair[0] == pair[1]) {
            return None;
        }
        let mut further = further.into_iter();
        further.try_for_each(|leg| self.ways(leg.to, &turning(leg, true, &mut next), found, lost))
    }
}

/// A silent way to an action.
#[derive(Clone, Debug, Default)]
struct Way {
    legs: Vec<Leg>,
    turns: Vec<Turn>,
    action: u32,
    address: u32,
}

impl Way {
    /// The same, with more turns.
    fn turning<const N: usize>(&self, turns: [Turn; N]) -> Self {
        let mut way = self.clone();
        way.turns.extend(turns);
        way
    }
}

/// Where code halts that runs silently from an address.
fn halts(code: &Code, from: u32) -> Vec<u32> {
    let mut halts: Vec<u32> = silent(code, from)
        .into_iter()
        .filter(|&at| {
            matches!(
                code.ops[at as usize],
                Op::Choice(_)
                    | Op::AnyValue(..)
                    | Op::Act(_)
                    | Op::Fork(_)
                    | Op::End
                    | Op::Stop
                    | Op::Throw(_)
            )
        })
        .collect();
    halts.sort_unstable();
    halts
}

/// The instructions that can be reached silently from an address, those where it halts included.
pub fn silent(code: &Code, from: u32) -> Vec<u32> {
    reachable(code, from, false)
}

/// The same in a function, with the code that catches exceptions of functions which it calls.
pub fn silent_in_function(code: &Code, from: u32) -> Vec<u32> {
    reachable(code, from, true)
}

fn reachable(code: &Code, from: u32, catches: bool) -> Vec<u32> {
    let mut seen = vec![from];
    let mut known = FxHashSet::from_iter([from]);
    let mut next = 0;
    let mut followers = Vec::new();
    while let Some(&at) = seen.get(next) {
        next += 1;
        followers.clear();
        match code.ops[at as usize] {
            Op::Jump(target) => followers.push(target),
            Op::JumpIfFalse(target) | Op::JumpIfTrue(target) => followers.extend([at + 1, target]),
            Op::Return(_)
            | Op::Raise(_)
            | Op::Fail(_)
            | Op::Done
            | Op::Choice(_)
            | Op::AnyValue(..)
            | Op::Act(_)
            | Op::Fork(_)
            | Op::End
            | Op::Stop
            | Op::Throw(_) => {}
            Op::Landings(number) if catches => {
                followers.push(at + 1);
                followers.extend(code.landings[number as usize].iter().filter_map(Landing::address));
            }
            _ => followers.push(at + 1),
        }
        seen.extend(followers.iter().filter(|&&follower| known.insert(follower)));
    }
    seen
}

/// Whether what a participant does before its action, or what it offers, may end in a run-time error.
fn may_fail_alone(code: &Code, participant: &Participant) -> bool {
    let offers = &code.actions[participant.action as usize].offers;
    let computed = offers.iter().filter_map(|(offer, _)| match *offer {
        OfferCode::Computed(address) => Some(address),
        _ => None,
    });
    let ways = participant.way.iter().map(|leg| leg.from);
    let never_fails = |at: &u32| match code.ops[*at as usize] {
        // Loops may have no end.
        Op::Jump(target) | Op::JumpIfFalse(target) | Op::JumpIfTrue(target) => target > *at,
        Op::Require | Op::Done | Op::Choice(_) | Op::AnyValue(..) | Op::Act(_) | Op::Stop => true,
        op => code.never_fails(op),
    };
    ways.chain(computed).any(|start| !silent(code, start).iter().all(never_fails))
}
