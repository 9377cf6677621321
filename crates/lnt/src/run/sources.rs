//! Where the values come from that an action receives, or that are chosen silently: a set or list that a guard names.
//!
//! Guards such as `member (envelope (to, m), soup)` can only hold for elements of a set: these are the candidates, and
//! nothing else has to be tried. A guard is run symbolically, along all of its paths; what all paths that accept have in
//! common are conditions that must hold, and a membership among them is a *source*. The guard is evaluated for each
//! candidate all the same, and whatever else might fail is evaluated as before. Other ways to narrow what is received are found while a model runs
//! ([`super::successors`]).

use crate::compile::Compiled;
use crate::compile::code::{Code, OfferCode, Op};
use crate::compile::types::{Kind, Representation, Storage};
use crate::run::rendezvous::{Participant, range_of};
use crate::run::successors::{code_never_fails, patterns_never_fail};
use crate::typed::{Builtin, TypeId};

/// More paths through a guard than this are not followed, nor longer ones.
const MOST_PATHS: usize = 64;
const MOST_OPS: usize = 2000;
/// Values of more bits are not chosen from a set.
const MOST_CHOSEN_BITS: u32 = 12;
/// Calls are followed this deep.
const DEEPEST: usize = 4;

/// The elements of a set as candidates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Which participant's guard names it.
    pub participant: usize,
    /// The slot that holds the set or list, and the words of an element.
    pub slot: u32,
    pub words: u32,
    /// What an element has to look like.
    pub element: Vec<Piece>,
    /// Whether candidates come in ascending order, each once.
    pub ascending: bool,
    /// Whether the guard that names it asks for nothing else: it holds for all candidates.
    pub decides: bool,
}

/// What a word of an element has to be, or several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// The value of an open place.
    Open(u32),
    /// The words of the value of an open place: how many.
    OpenWide(u32, u32),
    /// The value of a slot.
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
    Slot(u32),
    /// What one of some slots has: the first one, and how many.
    OneOf(u32, u32),
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

/// A path through a guard.
#[derive(Clone)]
struct Path {
    at: u32,
    stack: Vec<Word>,
    /// Functions that are being run: where to go on, and their variables.
    calls: Vec<(u32, Vec<Word>)>,
    holding: Vec<Word>,
    /// Whether something might have failed on it.
    failed: bool,
}

/// Looks for a source of all values that a rendezvous leaves open.
pub fn source(compiled: &Compiled, participants: &[Participant], open: &[u32]) -> Option<Source> {
    if open.is_empty() || participants.iter().any(|one| !one.way.is_empty()) {
        return None;
    }
    let code = &compiled.code;
    let action = |one: &Participant| &code.actions[one.action as usize];
    if !participants.iter().all(|one| patterns_never_fail(code, action(one))) {
        return None;
    }
    asked_first(code, participants).into_iter().find_map(|(number, one)| {
        let guard = action(one).guard?;
        let only = only(code, &compiled.types, guard).map(|(condition, _)| condition);
        necessary(code, &compiled.types, guard, &action(one).offers)?.into_iter().find_map(|condition| {
            let decides = only.as_ref() == Some(&condition);
            let Word::Member { element, set, ty } = condition else { return None };
            let Word::Slot(slot) = *set else { return None };
            let shape = &compiled.types[ty];
            let (Kind::List { sorted, set, .. }, Storage::Row) = (&shape.kind, shape.storage) else {
                return None;
            };
            let words = shape.element.words;
            if words as usize != element.len() {
                return None;
            }
            let element = pieces(compiled, one, open, &element)?;
            let mut found = Vec::new();
            element.iter().for_each(|piece| open_places(piece, &mut found));
            let mut each = found.clone();
            each.sort_unstable();
            each.dedup();
            let ascending = *sorted && *set && found == open;
            let participant = number;
            (each == open).then_some(Source { participant, slot, words, element, ascending, decides })
        })
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

    /// Adds what a condition on the value of a slot says. `fixed` tells whether another slot stays as it is.
    fn learn(&mut self, condition: &Word, own: u32, fixed: impl Fn(u32) -> bool) {
        let bound = |word: &Word| match *word {
            Word::Constant(value) => Some(Bound::Word(value)),
            Word::Slot(slot) if slot != own && fixed(slot) => Some(Bound::Slot(slot)),
            Word::OneOf(first, count) => {
                let mut slots = first..first + count;
                slots.all(|slot| slot != own && fixed(slot)).then_some(Bound::OneOf(first, count))
            }
            _ => None,
        };
        let own = Word::Slot(own);
        let (words, below, above) = match condition {
            Word::Less(words) => (words, &mut self.below, &mut self.above),
            Word::LessEqual(words) => (words, &mut self.most, &mut self.least),
            Word::Equal(words) => {
                let other = if words.0 == own { bound(&words.1) } else { bound(&words.0) };
                if words.0 == own || words.1 == own {
                    self.most.extend(other);
                    self.least.extend(other);
                }
                return;
            }
            _ => return,
        };
        if words.0 == own {
            below.extend(bound(&words.1));
        } else if words.1 == own {
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
        let Some(conditions) = necessary(code, types, guard, &action(one).offers) else { continue };
        let is_fixed = |slot: u32| {
            participants.iter().flat_map(|one| &action(one).offers).all(|&(offer, ty)| match offer {
                OfferCode::Variable(first) => !(first..first + types[ty.index()].words()).contains(&slot),
                OfferCode::Pattern { .. } => false,
                _ => true,
            })
        };
        for (bounds, &place) in found.iter_mut().zip(open) {
            let (offer, ty) = action(one).offers[place as usize];
            let OfferCode::Variable(slot) = offer else { continue };
            if types[ty.index()].ordered && types[ty.index()].words() == 1 {
                conditions.iter().for_each(|condition| bounds.learn(condition, slot, is_fixed));
            }
        }
    }
    found
}

/// The open places that a piece names, in the order of the element's parts.
fn open_places(piece: &Piece, found: &mut Vec<u32>) {
    match piece {
        Piece::Open(place) | Piece::OpenWide(place, _) => found.push(*place),
        Piece::Packed { fields, .. } => fields.iter().for_each(|(_, _, field)| open_places(field, found)),
        Piece::Slot(_) | Piece::Constant(_) => {}
    }
}

/// What the words of an element have to be.
fn pieces(compiled: &Compiled, one: &Participant, open: &[u32], words: &[Word]) -> Option<Vec<Piece>> {
    let offers = &compiled.code.actions[one.action as usize].offers;
    // The place that keeps its value in a slot, from the first one on.
    let received = |slot: u32| {
        offers.iter().enumerate().find_map(|(place, &(offer, ty))| match offer {
            OfferCode::Variable(first) => {
                let shape = &compiled.types[ty.index()];
                (first..first + shape.words()).contains(&slot).then_some((place as u32, first, shape))
            }
            _ => None,
        })
    };
    let mut pieces = Vec::new();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        at += 1;
        pieces.push(match word {
            &Word::Slot(slot) => match received(slot) {
                None => Piece::Slot(slot),
                Some((place, first, shape)) if shape.storage == Storage::Wide => {
                    let whole = (first..first + shape.words()).map(Word::Slot);
                    if !whole.eq(words[at - 1..].iter().take(shape.words() as usize).cloned())
                        || !open.contains(&place)
                    {
                        return None;
                    }
                    at += shape.words() as usize - 1;
                    Piece::OpenWide(place, shape.words())
                }
                Some((place, ..)) if open.contains(&place) => Piece::Open(place),
                // It was received, but somebody fixes it: the slot has it by then.
                Some(_) => Piece::Slot(slot),
            },
            &Word::Constant(value) => Piece::Constant(value),
            Word::Packed(number, fields) => {
                let pack = &compiled.code.packs[*number as usize];
                let inner = pieces_of_fields(compiled, one, open, fields)?;
                let fields =
                    pack.fields.iter().zip(inner).map(|(&(shift, mask), piece)| (shift, mask, piece));
                Piece::Packed { tag: pack.tag, fields: fields.collect() }
            }
            _ => return None,
        });
    }
    Some(pieces)
}

/// Fields of packed values have one word each.
fn pieces_of_fields(
    compiled: &Compiled,
    one: &Participant,
    open: &[u32],
    fields: &[Word],
) -> Option<Vec<Piece>> {
    let mut found = Vec::with_capacity(fields.len());
    for field in fields {
        found.extend(pieces(compiled, one, open, std::slice::from_ref(field))?);
    }
    Some(found)
}

/// How a value is chosen silently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choosing {
    /// It is one of so many words, from a first one on.
    Range(u32, u32),
    /// It is an element of the set in a slot, which has at most so many, in ascending order. Control may go on at an
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
    let received = [(OfferCode::Variable(slot), ty)];
    let shape = &types[ty.index()];
    let range = range_of(shape);
    let most = match (range, &shape.leaves[..]) {
        (Some((_, count)), _) => Some(count),
        (None, [bits]) if *bits < MOST_CHOSEN_BITS => Some(1 << bits),
        _ => None,
    };
    let set = || {
        necessary(code, types, at + 1, &received)?.into_iter().find_map(|condition| {
            let Word::Member { element, set, ty } = condition else { return None };
            let (Kind::List { sorted: true, set: true, .. }, Storage::Row) =
                (&types[ty].kind, types[ty].storage)
            else {
                return None;
            };
            match *set {
                Word::Slot(set) if element == [Word::Slot(slot)] => Some(set),
                _ => None,
            }
        })
    };
    let narrows = shape.ordered && !shape.conditional;
    match most.filter(|_| narrows).and_then(|most| Some((set()?, most))) {
        Some((set, most)) => {
            let behind = only(code, types, at + 1).and_then(|(condition, behind)| match condition {
                Word::Member { element, set: other, .. } => {
                    (element == [Word::Slot(slot)] && *other == Word::Slot(set)).then_some(behind)
                }
                _ => None,
            });
            Some(Choosing::Elements(set, most, behind))
        }
        None => {
            let (first, count) = range?;
            let mut bounds = Bounds::default();
            if narrows && let Some(conditions) = necessary(code, types, at + 1, &received) {
                conditions.iter().for_each(|condition| bounds.learn(condition, slot, |_| false));
            }
            let last = first + count.checked_sub(1)?;
            // At least one value is left, though none will do.
            let (first, last) = bounds.narrow((first, last), |_| 0).unwrap_or((first, first));
            Some(Choosing::Range(first, last - first + 1))
        }
    }
}

/// The condition whose code starts at an address, if there is a single path through it that tells nothing, and the address
/// behind it.
fn only(code: &Code, types: &[Representation], start: u32) -> Option<(Word, u32)> {
    let mut path =
        Path { at: start, stack: Vec::new(), calls: Vec::new(), holding: Vec::new(), failed: false };
    let mut others = Vec::new();
    for _ in 0..MOST_OPS {
        if matches!(code.ops[path.at as usize], Op::Mark(_) | Op::Decide(_)) {
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

/// Conditions that hold whenever the one does whose code starts at an address. Where one of them does not hold, nothing
/// fails either: it is asked before anything that might. `received` are the slots whose values are open, with their types: a
/// slot alone may be that of several variables.
fn necessary(
    code: &Code,
    types: &[Representation],
    start: u32,
    received: &[(OfferCode, TypeId)],
) -> Option<Vec<Word>> {
    let start = Path { at: start, stack: Vec::new(), calls: Vec::new(), holding: Vec::new(), failed: false };
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
        | Op::Require => false,
        op => !code.never_fails(op),
    }
}

/// Whether the index on top of the stack lies inside of an array, as far as the path and its type show.
fn is_inside(types: &[Representation], array: TypeId, path: &Path, received: &[(OfferCode, TypeId)]) -> bool {
    let Kind::Array { lower, length, .. } = types[array.index()].kind else { return false };
    let range = match path.stack.last() {
        Some(&Word::Constant(index)) => Some((index, index)),
        Some(&Word::Slot(slot)) => {
            let mut bounds = Bounds::default();
            path.holding.iter().for_each(|condition| bounds.learn(condition, slot, |_| false));
            let own = received.iter().find(|(offer, _)| *offer == OfferCode::Variable(slot));
            let whole = own.and_then(|(_, ty)| {
                let (first, count) = range_of(&types[ty.index()])?;
                Some((first, first + count.checked_sub(1)?))
            });
            bounds.narrow(whole.unwrap_or((0, u32::MAX)), |_| 0)
        }
        _ => None,
    };
    range.is_some_and(|(first, last)| {
        lower <= i64::from(first) && (i64::from(last) - lower) < i64::try_from(length).unwrap_or(i64::MAX)
    })
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
        Op::LoadSlot(slot) => stack.push(Word::Slot(slot)),
        Op::LoadSlots(slot, words) => stack.extend((slot..slot + words).map(Word::Slot)),
        Op::LoadPart(number) => {
            let part = code.parts[number as usize];
            if part.indexed {
                stack.pop()?;
                let (first, count) = part.whole;
                let one = if part.words == 1 { Word::OneOf(first, count) } else { Word::Other };
                stack.resize(stack.len() + part.words as usize, one);
            } else {
                let first = part.whole.0 + part.from;
                stack.extend((first..first + part.words).map(Word::Slot));
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
        Op::Offset(_) | Op::Component(_) | Op::IsEmpty(_) | Op::Tail(_) | Op::IndexOffset(_) => {
            stack.pop()?;
            stack.push(Word::Other);
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
        // A path that fails accepts nothing.
        Op::Fail(_) | Op::Raise(_) => return Some(Next::Decided(Word::Constant(0))),
        _ => return None,
    }
    Some(Next::On)
}
