//! Where the values come from that an action receives, or that are chosen silently: a set or list that a guard names.
//!
//! Guards such as `member (envelope (to, m), soup)` can only hold for elements of a set: these are the candidates, and
//! nothing else has to be tried. A guard is run symbolically, along all of its paths; what all paths that accept have in
//! common are conditions that must hold, and a membership among them is a *source*. The guard is evaluated for each
//! candidate all the same, and whatever else might fail is evaluated as before. Other ways to narrow what is received are found while a model runs
//! ([`super::successors`]).

use std::ops::Range;

use crate::compile::Compiled;
use crate::compile::code::{Code, OfferCode, Op};
use crate::compile::types::{Kind, Representation, Storage, mask_of};
use crate::run::rendezvous::{Participant, range_of};
use crate::run::successors::{code_never_fails, patterns_never_fail};
use crate::typed::{Builtin, TypeId};

/// More paths through a guard than this are not followed, nor longer ones.
const MOST_PATHS: usize = 64;
const MOST_OPS: usize = 2000;
/// No more values are chosen from a set.
const MOST_ELEMENTS: u32 = 2048;
/// Calls are followed this deep.
const DEEPEST: usize = 4;

/// The elements of a set as candidates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Which participant's guard names it.
    pub participant: usize,
    /// The slots that hold the set or list, or several of which one is asked, and the words of an element.
    pub slots: Range<u32>,
    pub words: u32,
    /// What an element has to look like.
    pub element: Vec<Piece>,
    /// The open places whose values are put together from parts.
    pub wholes: Vec<Whole>,
    /// Whether candidates come in ascending order, each once.
    pub ascending: bool,
    /// Whether the guard that names it asks for nothing else: it holds for all candidates.
    pub decides: bool,
}

/// A value that is put together from parts of an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whole {
    pub place: u32,
    /// For each of its words, bits that patterns fix, and what they are; all others come from parts, or are 0.
    pub fixed: Vec<(u32, u32)>,
    /// Whether offers know it by the number of a row.
    pub wide: bool,
}

/// Bits of what is received: the place, which word of it, the lowest bit, and the bits shifted down to bit 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    pub place: u32,
    pub word: u32,
    pub shift: u32,
    pub mask: u32,
}

/// What a word of an element has to be, or several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// The value of an open place.
    Open(u32),
    /// The words of the value of an open place: how many.
    OpenWide(u32, u32),
    /// A part of the value of an open place.
    OpenPart(Part),
    /// A part of a value of one word that somebody else fixes.
    Fixed(Part),
    /// The value of a slot before anything is received.
    Slot(u32),
    Constant(u32),
    /// A packed value: what lies outside of its fields, and each with its lowest bit and its bits shifted down.
    Packed {
        tag: u32,
        fields: Vec<(u32, u32, Piece)>,
    },
}

/// A word, symbolically.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Word {
    /// The value of a slot before anything is received.
    Slot(u32),
    Received(Part),
    /// What one of some slots has: the first one, and how many; and whether they are all elements of one array.
    OneOf(u32, u32, bool),
    /// Where an element of an array of this type lies in it.
    Index(TypeId),
    Constant(u32),
    Packed(u32, Vec<Word>),
    Member {
        element: Vec<Word>,
        set: Box<Word>,
        ty: usize,
    },
    /// Whether the first is less than the second, or less or equal, or both are equal.
    Less(Box<(Word, Word)>),
    LessEqual(Box<(Word, Word)>),
    Equal(Box<(Word, Word)>),
    /// The contrary of a condition.
    Not(Box<Word>),
    Other,
}

impl Word {
    /// The contrary of a condition.
    fn negated(self) -> Word {
        match self {
            Word::Constant(value) => Word::Constant(u32::from(value == 0)),
            Word::Not(condition) => *condition,
            Word::Less(words) => Word::LessEqual(Box::new((words.1, words.0))),
            Word::LessEqual(words) => Word::Less(Box::new((words.1, words.0))),
            condition => Word::Not(Box::new(condition)),
        }
    }
}

/// A path through patterns and a guard.
#[derive(Clone, Default)]
struct Path {
    at: u32,
    stack: Vec<Word>,
    /// Slots that have other values than before anything was received.
    slots: Vec<(u32, Word)>,
    /// Functions that are being run: where to go on, and their variables.
    calls: Vec<(u32, Vec<Word>)>,
    holding: Vec<Word>,
    /// Whether something might have failed on it.
    failed: bool,
}

impl Path {
    fn load(&self, slot: u32) -> Word {
        let changed = self.slots.iter().rev().find(|(changed, _)| *changed == slot);
        changed.map_or(Word::Slot(slot), |(_, word)| word.clone())
    }

    fn store(&mut self, slot: u32, words: Vec<Word>) {
        self.slots.extend((slot..).zip(words));
    }
}

/// Looks for a source of all values that a rendezvous leaves open.
pub fn source(compiled: &Compiled, participants: &[Participant], open: &[u32]) -> Option<Source> {
    if open.is_empty() || participants.iter().any(|one| !one.way.is_empty()) {
        return None;
    }
    let (code, types) = (&compiled.code, &compiled.types);
    let action = |one: &Participant| &code.actions[one.action as usize];
    if !participants.iter().all(|one| patterns_never_fail(code, action(one))) {
        return None;
    }
    asked_first(code, participants).into_iter().find_map(|(participant, one)| {
        let offers = &action(one).offers;
        let start = Path { at: action(one).guard?, ..having_received(code, types, offers)? };
        let only = only(code, types, start.clone()).map(|(condition, _)| condition);
        let conditions = necessary(code, types, start, offers)?;
        conditions.iter().find_map(|condition| {
            let Word::Member { element, set, ty } = condition else { return None };
            let slots = match **set {
                Word::Slot(slot) => slot..slot + 1,
                Word::OneOf(first, count, true) => first..first + count,
                // Somebody else tells the set.
                Word::Received(part) => {
                    let (place, word) = (part.place as usize, part.word as usize);
                    if whole(types, place, offers[place].1).nth(word) != Some(part) {
                        return None;
                    }
                    let told = participants.iter().find_map(|other| match action(other).offers[place].0 {
                        OfferCode::Slot(slot) => Some(slot + part.word),
                        _ => None,
                    });
                    told?..told? + 1
                }
                _ => return None,
            };
            let shape = &types[*ty];
            let (Kind::List { sorted, set, .. }, Storage::Row) = (&shape.kind, shape.storage) else {
                return None;
            };
            let words = shape.element.words;
            if words as usize != element.len() {
                return None;
            }
            let element = pieces(compiled, offers, open, element)?;
            let mut found = Vec::new();
            element.iter().for_each(|piece| open_places(piece, &mut found));
            found.dedup();
            let mut each = found.clone();
            each.sort_unstable();
            each.dedup();
            if each != open {
                return None;
            }
            let wholes = wholes(types, offers, &element, &conditions)?;
            let in_order = wholes.is_empty() || matches!(&element[..], [piece] if is_as_received(piece));
            let is_one = slots.len() == 1;
            let ascending = *sorted && *set && found == open && in_order && is_one;
            let decides = only.as_ref() == Some(condition) && is_one;
            Some(Source { participant, slots, words, element, wholes, ascending, decides })
        })
    })
}

/// A path on which an action has received all that it offers to; nothing if a pattern can be matched in several ways, or
/// can't be followed.
fn having_received(code: &Code, types: &[Representation], offers: &[(OfferCode, TypeId)]) -> Option<Path> {
    let mut path = Path::default();
    for (place, &(offer, ty)) in offers.iter().enumerate() {
        match offer {
            OfferCode::Variable(slot) => path.store(slot, received(types, place, ty).collect()),
            OfferCode::Pattern { address, .. } => {
                let stack = received(types, place, ty).collect();
                path = matching(code, types, Path { at: address, stack, ..path })?;
                path.stack.clear();
            }
            _ => {}
        }
    }
    Some(path)
}

/// Whether the patterns of participants keep them apart, whatever is received, and nothing that they offer can fail.
pub fn never_meet(code: &Code, types: &[Representation], participants: &[Participant]) -> bool {
    let action = |one: &Participant| &code.actions[one.action as usize];
    let is_computed = |offer: &(OfferCode, TypeId)| matches!(offer.0, OfferCode::Computed(_));
    let is_pattern = |offer: &(OfferCode, TypeId)| matches!(offer.0, OfferCode::Pattern { .. });
    let harmless = |one: &Participant| {
        one.way.is_empty()
            && !action(one).offers.iter().any(is_computed)
            && patterns_never_fail(code, action(one))
    };
    let has_pattern = |one: &Participant| action(one).offers.iter().any(is_pattern);
    if !participants.iter().any(has_pattern) || !participants.iter().all(harmless) {
        return false;
    }
    let mut known: Vec<(Part, u32)> = Vec::new();
    for one in participants {
        let offers = &action(one).offers;
        let constants = offers.iter().enumerate().filter_map(|(place, &(offer, ty))| match offer {
            OfferCode::Constant(value) if types[ty.index()].storage != Storage::Wide => {
                Some((whole(types, place, ty).next()?, value))
            }
            _ => None,
        });
        known.extend(constants);
        if let Some(path) = having_received(code, types, offers) {
            known.extend(path.holding.iter().filter_map(fixed_part));
        }
    }
    known.iter().enumerate().any(|(number, &(one, value))| {
        known[..number].iter().any(|&(other, other_value)| {
            let common = one.mask << one.shift & other.mask << other.shift;
            (one.place, one.word) == (other.place, other.word)
                && (value << one.shift ^ other_value << other.shift) & common != 0
        })
    })
}

/// A part that a condition fixes, and what it has to be.
fn fixed_part(condition: &Word) -> Option<(Part, u32)> {
    let Word::Equal(words) = condition else { return None };
    match **words {
        (Word::Received(part), Word::Constant(value)) | (Word::Constant(value), Word::Received(part)) => {
            (value & !part.mask == 0).then_some((part, value))
        }
        _ => None,
    }
}

/// The words of what is received at a place.
fn whole(types: &[Representation], place: usize, ty: TypeId) -> impl Iterator<Item = Part> {
    let words = types[ty.index()].leaves.iter().zip(0..);
    words.map(move |(&bits, word)| Part { place: place as u32, word, shift: 0, mask: mask_of(bits) })
}

/// The same, symbolically.
fn received(types: &[Representation], place: usize, ty: TypeId) -> impl Iterator<Item = Word> {
    whole(types, place, ty).map(Word::Received)
}

/// The only path through a pattern that matches.
fn matching(code: &Code, types: &[Representation], start: Path) -> Option<Path> {
    let mut todo = vec![start];
    let mut found = None;
    let mut ops = 0;
    while let Some(mut path) = todo.pop() {
        loop {
            ops += 1;
            if ops > MOST_OPS {
                return None;
            }
            match step(code, types, &mut path, &mut todo)? {
                Next::On => {}
                Next::Decided(Word::Constant(0)) => break,
                Next::Decided(Word::Constant(_)) if found.is_none() => {
                    found = Some(path);
                    break;
                }
                Next::Decided(_) => return None,
            }
        }
    }
    found
}

/// How the values are put together of which an element has only parts; nothing if some bits are in no part.
fn wholes(
    types: &[Representation],
    offers: &[(OfferCode, TypeId)],
    element: &[Piece],
    conditions: &[Word],
) -> Option<Vec<Whole>> {
    let mut parts = Vec::new();
    element.iter().for_each(|piece| open_parts(piece, &mut parts));
    let mut wholes: Vec<Whole> = Vec::new();
    for place in parts.iter().map(|part| part.place) {
        if wholes.iter().any(|whole| whole.place == place) {
            continue;
        }
        let shape = &types[offers[place as usize].1.index()];
        let mut fixed = vec![(0, 0); shape.words() as usize];
        for (part, value) in conditions.iter().filter_map(fixed_part).filter(|(part, _)| part.place == place)
        {
            let (mask, bits) = &mut fixed[part.word as usize];
            *mask |= part.mask << part.shift;
            *bits |= value << part.shift;
        }
        let mut known: Vec<u32> = fixed.iter().map(|&(mask, _)| mask).collect();
        for part in parts.iter().filter(|part| part.place == place) {
            known[part.word as usize] |= part.mask << part.shift;
        }
        if shape.conditional || !is_known(shape, &fixed, &known) {
            return None;
        }
        wholes.push(Whole { place, fixed, wide: shape.storage == Storage::Wide });
    }
    Some(wholes)
}

/// Whether all bits of a constructed value are known that are not always 0.
fn is_known(shape: &Representation, fixed: &[(u32, u32)], known: &[u32]) -> bool {
    let Kind::Constructed(constructors) = &shape.kind else { return false };
    let is_whole = |word: usize| known[word] == mask_of(shape.leaves[word]);
    let tag_mask = mask_of(shape.leaves[0]);
    let (tag_shift, tag_mask) = match shape.storage {
        Storage::Packed => (shape.tag_shift, tag_mask.checked_shr(shape.tag_shift).unwrap_or(0)),
        Storage::Wide => (0, tag_mask),
        Storage::Scalar | Storage::Row => return false,
    };
    let tag = match (constructors.len(), fixed[0]) {
        (1, _) => 0,
        (_, (mask, bits)) if mask >> tag_shift & tag_mask == tag_mask => bits >> tag_shift & tag_mask,
        _ => return false,
    };
    let Some(fields) = shape.fields.get(tag as usize) else { return false };
    fields.iter().all(|field| match shape.storage {
        Storage::Packed => known[0] >> field.at & field.mask == field.mask,
        _ => (field.at..field.at + field.words).all(|word| is_whole(word as usize)),
    })
}

/// Whether the fields of a packed element are those of an open value, where they lie in it.
fn is_as_received(piece: &Piece) -> bool {
    let Piece::Packed { fields, .. } = piece else { return false };
    fields.iter().all(|(shift, mask, field)| {
        matches!(field, Piece::OpenPart(part) if part.word == 0 && (part.shift, part.mask) == (*shift, *mask))
    })
}

/// The participants, with their numbers, whose guards are asked before any other one can fail. What a guard refuses may be
/// left out only if no error is missed.
fn asked_first<'p>(code: &Code, participants: &'p [Participant]) -> Vec<(usize, &'p Participant)> {
    let mut found = Vec::new();
    for (number, one) in participants.iter().enumerate() {
        found.push((number, one));
        let guard = code.actions[one.action as usize].guard;
        if guard.is_some_and(|guard| !code_never_fails(code, guard)) {
            break;
        }
    }
    found
}

/// A bound on a value: a word, or what a slot has, or what one of some slots has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    Word(u32),
    Slot(u32),
    OneOf(u32, u32),
}

impl Bound {
    /// The least and the greatest word that it may be.
    fn words(self, slot: impl Fn(u32) -> u32) -> (u32, u32) {
        match self {
            Bound::Word(word) => (word, word),
            Bound::Slot(number) => (slot(number), slot(number)),
            Bound::OneOf(first, count) => (first..first + count)
                .map(slot)
                .fold((u32::MAX, 0), |(least, most), word| (least.min(word), most.max(word))),
        }
    }
}

/// What guards say of an open value, word by word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// It is less than these, or at most these.
    pub below: Vec<Bound>,
    pub most: Vec<Bound>,
    /// It is greater than these, or at least these.
    pub above: Vec<Bound>,
    pub least: Vec<Bound>,
}

impl Bounds {
    /// The least and the greatest word that are left of a range; nothing if there is none.
    pub fn narrow(&self, (mut first, mut last): (u32, u32), slot: impl Fn(u32) -> u32) -> Option<(u32, u32)> {
        let (least, most) = (|bound: &Bound| bound.words(&slot).0, |bound: &Bound| bound.words(&slot).1);
        for bound in &self.below {
            last = last.min(most(bound).checked_sub(1)?);
        }
        for bound in &self.above {
            first = first.max(least(bound).checked_add(1)?);
        }
        last = self.most.iter().fold(last, |last, bound| last.min(most(bound)));
        first = self.least.iter().fold(first, |first, bound| first.max(least(bound)));
        (first <= last).then_some((first, last))
    }

    /// Whether they are the same in all states.
    pub fn are_fixed(&self) -> bool {
        let mut all = [&self.below, &self.most, &self.above, &self.least].into_iter().flatten();
        all.all(|bound| matches!(bound, Bound::Word(_)))
    }

    /// Adds what a condition on a word says. `fixed` tells whether a slot stays as it is.
    fn learn(&mut self, condition: &Word, own: &Word, fixed: impl Fn(u32) -> bool) {
        let bound = |word: &Word| match *word {
            Word::Constant(value) => Some(Bound::Word(value)),
            Word::Slot(slot) if fixed(slot) => Some(Bound::Slot(slot)),
            Word::OneOf(first, count, _) => {
                (first..first + count).all(&fixed).then_some(Bound::OneOf(first, count))
            }
            _ => None,
        };
        let (words, below, above) = match condition {
            Word::Less(words) => (words, &mut self.below, &mut self.above),
            Word::LessEqual(words) => (words, &mut self.most, &mut self.least),
            Word::Equal(words) => {
                let other = if words.0 == *own { bound(&words.1) } else { bound(&words.0) };
                if words.0 == *own || words.1 == *own {
                    self.most.extend(other);
                    self.least.extend(other);
                }
                return;
            }
            _ => return,
        };
        if words.0 == *own {
            below.extend(bound(&words.1));
        } else if words.1 == *own {
            above.extend(bound(&words.0));
        }
    }
}

/// What guards say of each open place, if anything.
pub fn bounds(compiled: &Compiled, participants: &[Participant], open: &[u32]) -> Vec<Bounds> {
    let (code, types) = (&compiled.code, &compiled.types);
    let mut found = vec![Bounds::default(); open.len()];
    let action = |one: &Participant| &code.actions[one.action as usize];
    if !participants.iter().all(|one| one.way.is_empty() && patterns_never_fail(code, action(one))) {
        return found;
    }
    for (_, one) in asked_first(code, participants) {
        let Some(guard) = action(one).guard else { continue };
        let offers = &action(one).offers;
        let Some(path) = having_received(code, types, offers) else { continue };
        let Some(conditions) = necessary(code, types, Path { at: guard, ..path }, offers) else { continue };
        let is_fixed = |slot: u32| {
            participants.iter().flat_map(|one| &action(one).offers).all(|&(offer, ty)| match offer {
                OfferCode::Variable(first) => !(first..first + types[ty.index()].words()).contains(&slot),
                OfferCode::Pattern { .. } => false,
                _ => true,
            })
        };
        for (bounds, &place) in found.iter_mut().zip(open) {
            let ty = offers[place as usize].1;
            if types[ty.index()].ordered && types[ty.index()].words() == 1 {
                for own in received(types, place as usize, ty) {
                    conditions.iter().for_each(|condition| bounds.learn(condition, &own, is_fixed));
                }
            }
        }
    }
    found
}

/// The open places that a piece names, in the order of the element's parts.
fn open_places(piece: &Piece, found: &mut Vec<u32>) {
    match piece {
        Piece::Open(place) | Piece::OpenWide(place, _) => found.push(*place),
        Piece::OpenPart(part) => found.push(part.place),
        Piece::Packed { fields, .. } => fields.iter().for_each(|(_, _, field)| open_places(field, found)),
        Piece::Fixed(_) | Piece::Slot(_) | Piece::Constant(_) => {}
    }
}

/// The parts of open values in a piece.
fn open_parts(piece: &Piece, found: &mut Vec<Part>) {
    match piece {
        Piece::OpenPart(part) => found.push(*part),
        Piece::Packed { fields, .. } => fields.iter().for_each(|(_, _, field)| open_parts(field, found)),
        _ => {}
    }
}

/// What the words of an element have to be.
fn pieces(
    compiled: &Compiled,
    offers: &[(OfferCode, TypeId)],
    open: &[u32],
    words: &[Word],
) -> Option<Vec<Piece>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        at += 1;
        found.push(match word {
            &Word::Received(part) => {
                let ty = offers[part.place as usize].1;
                let shape = &compiled.types[ty.index()];
                let whole: Vec<Word> = received(&compiled.types, part.place as usize, ty).collect();
                let is_whole = words[at - 1..].starts_with(&whole);
                match (open.contains(&part.place), shape.storage) {
                    (true, Storage::Wide) if is_whole => {
                        at += whole.len() - 1;
                        Piece::OpenWide(part.place, shape.words())
                    }
                    (true, _) if is_whole => Piece::Open(part.place),
                    (true, _) => Piece::OpenPart(part),
                    (false, Storage::Wide) => return None,
                    (false, _) => Piece::Fixed(part),
                }
            }
            &Word::Slot(slot) => Piece::Slot(slot),
            &Word::Constant(value) => Piece::Constant(value),
            Word::Packed(number, fields) => {
                let pack = &compiled.code.packs[*number as usize];
                // Fields of packed values have one word each.
                let fields = pack.fields.iter().zip(fields).map(|(&(shift, mask), field)| {
                    let piece = pieces(compiled, offers, open, std::slice::from_ref(field))?.pop()?;
                    Some((shift, mask, piece))
                });
                Piece::Packed { tag: pack.tag, fields: fields.collect::<Option<_>>()? }
            }
            _ => return None,
        });
    }
    Some(found)
}

/// How a value is chosen silently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choosing {
    /// It is one of so many words, from a first one on.
    Range(u32, u32),
    /// It is an element of the set in a slot, in ascending order, unless that has more than so many. Control may go on at an
    /// address, if there is one: what lies before it asks for nothing else.
    Elements(u32, u32, Option<u32>),
}

impl Choosing {
    /// How many values there are at most.
    pub fn most(self) -> u32 {
        match self {
            Choosing::Range(_, count) | Choosing::Elements(_, count, _) => count,
        }
    }
}

/// How the value is chosen at an instruction: from a set, if the condition right behind it holds for nothing else.
pub fn choosing(code: &Code, types: &[Representation], at: u32) -> Option<Choosing> {
    let Op::AnyValue(slot, ty) = code.ops[at as usize] else { return None };
    let chosen = [(OfferCode::Variable(slot), ty)];
    let start = Path { at: at + 1, ..having_received(code, types, &chosen)? };
    let own: Vec<Word> = received(types, 0, ty).collect();
    let shape = &types[ty.index()];
    let range = range_of(shape);
    let set = || {
        necessary(code, types, start.clone(), &chosen)?.into_iter().find_map(|condition| {
            let Word::Member { element, set, ty } = condition else { return None };
            let (Kind::List { sorted: true, set: true, .. }, Storage::Row) =
                (&types[ty].kind, types[ty].storage)
            else {
                return None;
            };
            match *set {
                Word::Slot(set) if element == own => Some(set),
                _ => None,
            }
        })
    };
    let narrows = shape.ordered && !shape.conditional && own.len() == 1;
    match narrows.then(set).flatten() {
        Some(set) => {
            let behind = only(code, types, start.clone()).and_then(|(condition, behind)| match condition {
                Word::Member { element, set: other, .. } => {
                    (element == own && *other == Word::Slot(set)).then_some(behind)
                }
                _ => None,
            });
            let all = match range {
                Some((_, count)) => count,
                None => 1_u32.checked_shl(shape.leaves[0]).unwrap_or(u32::MAX),
            };
            Some(Choosing::Elements(set, all.min(MOST_ELEMENTS), behind))
        }
        None => {
            let (first, count) = range?;
            let mut bounds = Bounds::default();
            if narrows && let ([own], Some(conditions)) = (&own[..], necessary(code, types, start, &chosen)) {
                conditions.iter().for_each(|condition| bounds.learn(condition, own, |_| false));
            }
            let last = first + count.checked_sub(1)?;
            // At least one value is left, though none will do.
            let (first, last) = bounds.narrow((first, last), |_| 0).unwrap_or((first, first));
            Some(Choosing::Range(first, last - first + 1))
        }
    }
}

/// The condition that a path comes to, if there is no other way, nothing is told and nothing changed, and the address behind it.
fn only(code: &Code, types: &[Representation], mut path: Path) -> Option<(Word, u32)> {
    let mut others = Vec::new();
    for _ in 0..MOST_OPS {
        let op = code.ops[path.at as usize];
        if matches!(op, Op::Mark(_) | Op::Decide(_) | Op::StoreSlot(_) | Op::StoreSlots(..)) {
            return None;
        }
        match step(code, types, &mut path, &mut others)? {
            Next::On if others.is_empty() => {}
            Next::Decided(condition) => return Some((condition, path.at)),
            Next::On => return None,
        }
    }
    None
}

/// Conditions that hold whenever the one does whose code a path has come to. Where one of them does not hold, nothing fails
/// either: it is asked before anything that might. `received` are the types of what was.
fn necessary(
    code: &Code,
    types: &[Representation],
    start: Path,
    received: &[(OfferCode, TypeId)],
) -> Option<Vec<Word>> {
    let mut todo = vec![start];
    let mut common: Option<Vec<Word>> = None;
    let (mut paths, mut ops) = (0, 0);
    while let Some(mut path) = todo.pop() {
        paths += 1;
        loop {
            ops += 1;
            if paths > MOST_PATHS || ops > MOST_OPS {
                return None;
            }
            if !path.failed && may_fail(code, types, &path, received) {
                path.failed = true;
                keep_common(&mut common, path.holding.clone());
            }
            match step(code, types, &mut path, &mut todo) {
                Some(Next::On) => {}
                Some(Next::Decided(Word::Constant(0))) => break,
                Some(Next::Decided(answer)) => {
                    path.holding.push(answer);
                    keep_common(&mut common, std::mem::take(&mut path.holding));
                    break;
                }
                // Whatever comes then, only what holds already is known.
                None => {
                    keep_common(&mut common, std::mem::take(&mut path.holding));
                    break;
                }
            }
        }
    }
    common
}

fn keep_common(common: &mut Option<Vec<Word>>, holding: Vec<Word>) {
    match common {
        Some(common) => common.retain(|condition| holding.contains(condition)),
        None => *common = Some(holding),
    }
}

/// Whether the next instruction of a path may end in a run-time error.
fn may_fail(code: &Code, types: &[Representation], path: &Path, received: &[(OfferCode, TypeId)]) -> bool {
    match code.ops[path.at as usize] {
        Op::IndexOffset(array) => !is_inside(types, array, path, received),
        // An index was inside if control comes here.
        Op::LoadPart(_) | Op::AddOffsets => false,
        Op::Jump(_)
        | Op::JumpIfFalse(_)
        | Op::JumpIfTrue(_)
        | Op::Call(_)
        | Op::Return(_)
        | Op::Landings(_)
        | Op::Done
        | Op::Require
        | Op::Stop => false,
        op => !code.never_fails(op),
    }
}

/// Whether the index on top of the stack lies inside of an array, as far as the path and its type show.
fn is_inside(types: &[Representation], array: TypeId, path: &Path, received: &[(OfferCode, TypeId)]) -> bool {
    let Kind::Array { lower, length, .. } = types[array.index()].kind else { return false };
    let range = match path.stack.last() {
        Some(&Word::Constant(index)) => Some((index, index)),
        Some(own @ (Word::Slot(_) | Word::Received(_))) => {
            let mut bounds = Bounds::default();
            path.holding.iter().for_each(|condition| bounds.learn(condition, own, |_| false));
            let whole = match own {
                Word::Received(part) => range_of_part(types, received, *part),
                _ => None,
            };
            bounds.narrow(whole.unwrap_or((0, u32::MAX)), |_| 0)
        }
        _ => None,
    };
    range.is_some_and(|(first, last)| {
        lower <= i64::from(first) && (i64::from(last) - lower) < i64::try_from(length).unwrap_or(i64::MAX)
    })
}

/// The least and the greatest word of a part of what is received, if its type shows them.
fn range_of_part(
    types: &[Representation],
    received: &[(OfferCode, TypeId)],
    part: Part,
) -> Option<(u32, u32)> {
    let (first, count) = range_of(&types[received[part.place as usize].1.index()])?;
    Some((first, first + count.checked_sub(1)?))
}

enum Next {
    On,
    /// The guard has been evaluated.
    Decided(Word),
}

/// Takes one instruction of a path; the other way of a branch is left to do.
fn step(code: &Code, types: &[Representation], path: &mut Path, todo: &mut Vec<Path>) -> Option<Next> {
    let at = path.at;
    path.at += 1;
    let Path { stack, calls, .. } = path;
    let keep = |stack: &mut Vec<Word>, words: usize| {
        let first = stack.len().checked_sub(words)?;
        Some(stack.split_off(first))
    };
    match code.ops[at as usize] {
        Op::Push(value) => stack.push(Word::Constant(value)),
        Op::LoadSlot(slot) => path.stack.push(path.load(slot)),
        Op::LoadSlots(slot, words) => {
            for slot in slot..slot + words {
                path.stack.push(path.load(slot));
            }
        }
        Op::StoreSlot(slot) => {
            let words = keep(stack, 1)?;
            path.store(slot, words);
        }
        Op::StoreSlots(slot, words) => {
            let words = keep(stack, words as usize)?;
            path.store(slot, words);
        }
        Op::LoadPart(number) => {
            let part = code.parts[number as usize];
            if part.indexed {
                let index = stack.pop()?;
                let (first, count) = part.whole;
                let alike = |array: TypeId| {
                    let element = types[array.index()].element;
                    (element.words, element.length) == (1, count)
                };
                let alike = matches!(index, Word::Index(array) if alike(array));
                let is_changed = path.slots.iter().any(|(slot, _)| (first..first + count).contains(slot));
                let one = match part.words == 1 && !is_changed {
                    true => Word::OneOf(first, count, alike),
                    false => Word::Other,
                };
                stack.resize(stack.len() + part.words as usize, one);
            } else {
                let first = part.whole.0 + part.from;
                for slot in first..first + part.words {
                    path.stack.push(path.load(slot));
                }
            }
        }
        Op::LoadLocal(local) => stack.push(calls.last()?.1.get(local as usize)?.clone()),
        Op::LoadLocals(local, words) => {
            let variables = &calls.last()?.1;
            stack.extend_from_slice(variables.get(local as usize..(local + words) as usize)?);
        }
        Op::StoreLocal(local) => {
            let value = stack.pop()?;
            *calls.last_mut()?.1.get_mut(local as usize)? = value;
        }
        Op::StoreLocals(local, words) => {
            let values = keep(stack, words as usize)?;
            let variables = &mut calls.last_mut()?.1;
            variables.get_mut(local as usize..(local + words) as usize)?.clone_from_slice(&values);
        }
        Op::Pick(depth) => stack.push(stack.get(stack.len().checked_sub(1 + depth as usize)?)?.clone()),
        Op::PickMany(depth, words) => {
            let first = stack.len().checked_sub(1 + depth as usize)?;
            let words = stack.get(first..first + words as usize)?.to_vec();
            stack.extend(words);
        }
        Op::Pop(words) => _ = keep(stack, words as usize)?,
        Op::Pad(words) => stack.resize(stack.len() + words as usize, Word::Constant(0)),
        Op::Pack(number) => {
            let fields = keep(stack, code.packs[number as usize].fields.len())?;
            stack.push(Word::Packed(number, fields));
        }
        Op::Slice(total, from, words) => {
            let value = keep(stack, total as usize)?;
            stack.extend_from_slice(value.get(from as usize..(from + words) as usize)?);
        }
        Op::Bits(shift, mask) => {
            let value = stack.pop()?;
            stack.push(match value {
                Word::Packed(number, fields) => {
                    let places = &code.packs[number as usize].fields;
                    let field = places.iter().position(|&place| place == (shift, mask));
                    field.and_then(|field| fields.get(field).cloned()).unwrap_or(Word::Other)
                }
                Word::Received(part) => Word::Received(Part {
                    shift: part.shift + shift,
                    mask: part.mask.checked_shr(shift).unwrap_or(0) & mask,
                    ..part
                }),
                _ => Word::Other,
            });
        }
        Op::Modulo | Op::Add(_) | Op::Subtract(_) => {
            keep(stack, 2)?;
            stack.push(Word::Other);
        }
        op @ (Op::Equal | Op::Less | Op::LessEqual) => {
            let (b, a) = (stack.pop()?, stack.pop()?);
            let words = Box::new((a, b));
            stack.push(match op {
                Op::Equal => Word::Equal(words),
                Op::Less => Word::Less(words),
                _ => Word::LessEqual(words),
            });
        }
        Op::EqualMany(words) => {
            keep(stack, 2 * words as usize)?;
            stack.push(Word::Other);
        }
        Op::Not => {
            let condition = stack.pop()?;
            stack.push(condition.negated());
        }
        Op::IndexOffset(array) => {
            stack.pop()?;
            stack.push(Word::Index(array));
        }
        Op::Offset(_) | Op::Component(_) | Op::IsEmpty(_) | Op::Tail(_) => {
            stack.pop()?;
            stack.push(Word::Other);
        }
        Op::Components(_, words) => {
            stack.pop()?;
            stack.resize(stack.len() + words as usize, Word::Other);
        }
        Op::Head(ty) => {
            stack.pop()?;
            let words = types[ty.index()].element.words as usize;
            stack.resize(stack.len() + words, Word::Other);
        }
        Op::AddOffsets => {
            keep(stack, 2)?;
            stack.push(Word::Other);
        }
        Op::Field(number) => {
            let (ty, places) = &code.accesses[number as usize];
            keep(stack, types[ty.index()].words() as usize)?;
            let words = places.iter().flatten().next().map_or(1, |place| place.words);
            stack.resize(stack.len() + words as usize, Word::Other);
        }
        Op::Element(ty) => {
            let shape = &types[ty.index()];
            keep(stack, shape.words() as usize + 1)?;
            stack.resize(stack.len() + shape.element.words as usize, Word::Other);
        }
        Op::Apply(number) => {
            let application = &code.applications[number as usize];
            let mut operands = keep(stack, application.words as usize)?;
            let results = types[application.result.index()].words() as usize;
            if application.operation == Builtin::Member && operands.len() > 1 {
                let set = Box::new(operands.pop()?);
                stack.push(Word::Member { element: operands, set, ty: application.second.index() });
            } else {
                stack.resize(stack.len() + results, Word::Other);
            }
        }
        Op::Jump(target) if target > at => path.at = target,
        Op::JumpIfFalse(target) | Op::JumpIfTrue(target) if target > at => {
            let condition = stack.pop()?;
            let if_true = matches!(code.ops[at as usize], Op::JumpIfTrue(_));
            let (true_at, false_at) = if if_true { (target, at + 1) } else { (at + 1, target) };
            match condition {
                Word::Constant(0) => path.at = false_at,
                Word::Constant(_) => path.at = true_at,
                condition => {
                    let mut other = Path { at: false_at, ..path.clone() };
                    other.holding.push(condition.clone().negated());
                    todo.push(other);
                    path.at = true_at;
                    path.holding.push(condition);
                }
            }
        }
        Op::Call(number) if calls.len() < DEEPEST => {
            let function = code.functions[number as usize];
            let mut variables = keep(stack, function.arguments as usize)?;
            variables.resize(function.variables as usize, Word::Constant(0));
            calls.push((at + 1, variables));
            path.at = function.address;
        }
        Op::Return(_) => path.at = calls.pop()?.0,
        Op::Mark(_) | Op::Decide(_) | Op::Landings(_) => {}
        Op::Done | Op::Require => return Some(Next::Decided(stack.pop()?)),
        // A path that fails or gets stuck accepts nothing.
        Op::Fail(_) | Op::Raise(_) | Op::Stop => return Some(Next::Decided(Word::Constant(0))),
        _ => return None,
    }
    Some(Next::On)
}
