//! Where the values come from that an action receives, or that are chosen silently: a set or list that a guard names.
//!
//! Guards such as `member (envelope (to, m), soup)` can only hold for elements of a set: these are the candidates, and
//! nothing else has to be tried. A membership among the conditions that must hold ([`super::symbolic`]) is a *source*. The guard is
//! evaluated for each candidate all the same, and whatever else might fail is evaluated as before. Other ways to narrow what is
//! received are found while a model runs ([`super::successors`]).

use std::ops::Range;

use crate::compile::Compiled;
use crate::compile::code::{Code, OfferCode, Op};
use crate::compile::types::{Kind, Representation, Storage, mask_of};
use crate::run::bounds::Bounds;
use crate::run::rendezvous::{Participant, range_of};
use crate::run::successors::patterns_never_fail;
use crate::run::symbolic::{Part, Path, Word, having_received, necessary, only, received, whole};
use crate::typed::TypeId;

/// No more values are chosen from a set.
const MOST_ELEMENTS: u32 = 2048;

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
    /// Where the guard asks for the membership that names it, if itself: that holds for all candidates.
    pub asked: Option<u32>,
    /// What bits of an element have to be, or somebody refuses it.
    pub needs: Vec<Need>,
}

impl Source {
    /// The open place whose value an element is, if it is nothing else.
    pub fn whole_place(&self) -> Option<u32> {
        match self.element[..] {
            [Piece::Open(place) | Piece::OpenWide(place, _)] => Some(place),
            _ => None,
        }
    }
}

/// What bits of a word of all elements that are accepted have to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    pub word: u32,
    pub shift: u32,
    pub mask: u32,
    pub value: Needed,
}

/// A known value, or the one of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needed {
    Constant(u32),
    Slot(u32),
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

/// Looks for a source of all values that a rendezvous leaves open.
pub fn source(compiled: &Compiled, participants: &[Participant], open: &[u32]) -> Option<Source> {
    if open.is_empty() || participants.iter().any(|one| !one.way.is_empty()) {
        return None;
    }
    let (code, types) = (&compiled.code, &compiled.types);
    let action = |one: &Participant| &code.actions[one.action as usize];
    // What a participant refuses is no error of another's.
    let refusing = |(_, one): &(usize, &Participant)| patterns_never_fail(code, action(one));
    participants.iter().enumerate().filter(refusing).find_map(|(participant, one)| {
        let offers = &action(one).offers;
        let start = Path { at: action(one).guard?, ..having_received(code, types, offers)? };
        let only = only(code, types, start.clone()).map(|(condition, _)| condition);
        let conditions = necessary(code, types, start, offers)?;
        conditions.iter().find_map(|condition| {
            let Word::Member { element, set, ty, asked } = condition else { return None };
            let slots = match **set {
                Word::Slot(slot) => slot..slot + 1,
                Word::OneOf(first, count, true, _) => first..first + count,
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
            let asked = asked.0.filter(|_| is_one);
            let needs = needs(compiled, participants, &element);
            Some(Source { participant, slots, words, element, wholes, ascending, decides, asked, needs })
        })
    })
}

/// What patterns and guards of participants, and the values that these offer, need of an element.
fn needs(compiled: &Compiled, participants: &[Participant], element: &[Piece]) -> Vec<Need> {
    let (code, types) = (&compiled.code, &compiled.types);
    let mut found: Vec<Need> = Vec::new();
    let mut learn = |part: Part, value: Needed| {
        if let Some((word, shift)) = place_of(part, element) {
            let need = Need { word, shift, mask: part.mask, value };
            if !found.contains(&need) {
                found.push(need);
            }
        }
    };
    for one in participants {
        let action = &code.actions[one.action as usize];
        for (place, &(offer, ty)) in action.offers.iter().enumerate() {
            let mut own = whole(types, place, ty);
            match (own.next(), own.next(), offer) {
                (Some(part), None, OfferCode::Constant(value)) => learn(part, Needed::Constant(value)),
                (Some(part), None, OfferCode::Slot(slot)) => learn(part, Needed::Slot(slot)),
                _ => {}
            }
        }
        let Some(path) = having_received(code, types, &action.offers) else { continue };
        if !patterns_never_fail(code, action) {
            continue;
        }
        let asked = |at| necessary(code, types, Path { at, ..path.clone() }, &action.offers);
        let conditions = action.guard.and_then(asked).unwrap_or_default();
        for condition in path.holding.iter().chain(&conditions) {
            let Word::Equal(words) = condition else { continue };
            match **words {
                (Word::Received(part), Word::Constant(value))
                | (Word::Constant(value), Word::Received(part)) => {
                    learn(part, Needed::Constant(value));
                }
                (Word::Received(part), Word::Slot(slot)) | (Word::Slot(slot), Word::Received(part)) => {
                    learn(part, Needed::Slot(slot));
                }
                _ => {}
            }
        }
    }
    found
}

/// Where a part of what is received lies in an element: in which word, and its lowest bit there.
fn place_of(part: Part, element: &[Piece]) -> Option<(u32, u32)> {
    let mut word = 0;
    for piece in element {
        let found = match piece {
            Piece::OpenWide(place, _) if *place == part.place => Some((part.word, part.shift)),
            Piece::OpenWide(..) => None,
            piece => place_in(part, piece).map(|shift| (0, shift)),
        };
        if let Some((behind, shift)) = found {
            return Some((word + behind, shift));
        }
        word += match piece {
            Piece::OpenWide(_, words) => *words,
            _ => 1,
        };
    }
    None
}

/// Where a part of what is received lies in a word: its lowest bit.
fn place_in(part: Part, piece: &Piece) -> Option<u32> {
    match piece {
        Piece::Open(place) => (*place == part.place && part.word == 0).then_some(part.shift),
        Piece::OpenPart(own) | Piece::Fixed(own) => {
            let shift = part.shift.checked_sub(own.shift)?;
            let is_inside = part.mask.checked_shl(shift).is_some_and(|mask| mask & !own.mask == 0);
            ((own.place, own.word) == (part.place, part.word) && is_inside).then_some(shift)
        }
        Piece::Packed { fields, .. } => {
            fields.iter().find_map(|(shift, _, field)| Some(shift + place_in(part, field)?))
        }
        Piece::OpenWide(..) | Piece::Slot(_) | Piece::Constant(_) => None,
    }
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choosing {
    /// It is one of so many words, from a first one on, and within bounds that depend on the state in which it is chosen.
    Range(u32, u32, Bounds),
    /// It is an element of the list or set in a slot, in ascending order, unless that has more than so many.
    Elements {
        slot: u32,
        most: u32,
        /// Whether they are kept in ascending order, each once.
        in_order: bool,
        /// Control may go on at an address, if there is one: what lies before it asks for nothing else.
        behind: Option<u32>,
    },
}

impl Choosing {
    /// How many values there are at most.
    pub fn most(&self) -> u32 {
        match *self {
            Choosing::Range(_, most, _) | Choosing::Elements { most, .. } => most,
        }
    }
}

/// The slot with the list or set whose elements are all that may be chosen at an instruction, if what is asked behind it says so.
pub fn chosen_from(code: &Code, types: &[Representation], at: u32) -> Option<u32> {
    let Op::AnyValue(slot, ty) = code.ops[at as usize] else { return None };
    let chosen = [(OfferCode::Variable(slot), ty)];
    let start = Path { at: at + 1, ..having_received(code, types, &chosen)? };
    let own: Vec<Word> = received(types, 0, ty).collect();
    necessary(code, types, start, &chosen)?.into_iter().find_map(|condition| match condition {
        Word::Member { element, set, ty: collection, .. } if element == own => match *set {
            Word::Slot(set) => (types[collection].storage == Storage::Row).then_some(set),
            _ => None,
        },
        _ => None,
    })
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
            let Word::Member { element, set, ty, .. } = condition else { return None };
            let (Kind::List { sorted, set: is_set, .. }, Storage::Row) = (&types[ty].kind, types[ty].storage)
            else {
                return None;
            };
            match *set {
                Word::Slot(set) if element == own => Some((set, *sorted && *is_set)),
                _ => None,
            }
        })
    };
    let narrows = shape.ordered && !shape.conditional && own.len() == 1;
    let is_in_order = shape.lexical && !shape.conditional;
    match is_in_order.then(set).flatten() {
        Some((set, in_order)) => {
            let behind = only(code, types, start.clone()).and_then(|(condition, behind)| match condition {
                Word::Member { element, set: other, .. } => {
                    (element == own && *other == Word::Slot(set)).then_some(behind)
                }
                _ => None,
            });
            let all = match (range, &shape.leaves[..]) {
                (Some((_, count)), _) => count,
                (None, [bits]) => 1_u32.checked_shl(*bits).unwrap_or(u32::MAX),
                (None, _) => u32::MAX,
            };
            Some(Choosing::Elements { slot: set, most: all.min(MOST_ELEMENTS), in_order, behind })
        }
        None => {
            let (first, count) = range?;
            let mut bounds = Bounds::default();
            if narrows && let ([own], Some(conditions)) = (&own[..], necessary(code, types, start, &chosen)) {
                // Slots are meant as they are where the choice is made.
                conditions.iter().for_each(|condition| bounds.learn(condition, own, |_| true));
            }
            let last = first + count.checked_sub(1)?;
            // At least one value is left, though none will do.
            let (first, last) = bounds.fixed().narrow((first, last), |_| 0).unwrap_or((first, first));
            Some(Choosing::Range(first, last - first + 1, bounds.varying()))
        }
    }
}
