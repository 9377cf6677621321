//! Guards, patterns and conditions run symbolically, along all of their paths.
//!
//! What is received is unknown then, or known by its parts ([`Part`]): words are what instructions make of these ([`Word`]). A path
//! keeps the conditions that hold on it; what all paths that accept have in common must hold ([`necessary`]).

use crate::compile::code::{Application, Code, OfferCode, Op};
use crate::compile::types::{Kind, Representation, mask_of};
use crate::run::bounds::Bounds;
use crate::run::rendezvous::range_of;
use crate::typed::{Builtin, TypeId};

/// More paths through a guard than this are not followed, nor longer ones.
const MOST_PATHS: usize = 64;
pub const MOST_OPS: usize = 2000;
/// Calls are followed this deep.
const DEEPEST: usize = 4;

/// Bits of what is received: the place, which word of it, the lowest bit, and the bits shifted down to bit 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    pub place: u32,
    pub word: u32,
    pub shift: u32,
    pub mask: u32,
}

/// Where a guard itself asks something, if it does: the same question is the same condition anywhere.
#[derive(Clone, Copy, Debug, Eq)]
pub struct Asked(pub Option<u32>);

impl PartialEq for Asked {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// A word, symbolically.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    /// The value of a slot before anything is received.
    Slot(u32),
    Received(Part),
    /// What one of some slots has: the first one, and how many; whether they are all elements of one array; and, as bits, the
    /// places that which of them depends on.
    OneOf(u32, u32, bool, u32),
    /// Where an element of an array of this type lies in it; and, as bits, the places that this depends on.
    Index(TypeId, u32),
    Constant(u32),
    /// Bits of a slot, shifted down to bit 0.
    Bits(u32, u32, u32),
    /// How many elements the list or set in a slot has. Asking for it fails if there are more than the greatest number.
    Length {
        slot: u32,
        ty: TypeId,
        upper: u32,
    },
    Packed(u32, Vec<Word>),
    Member {
        element: Vec<Word>,
        set: Box<Word>,
        ty: usize,
        asked: Asked,
    },
    /// Whether the first is less than the second, or less or equal, or both are equal.
    Less(Box<(Word, Word)>),
    LessEqual(Box<(Word, Word)>),
    Equal(Box<(Word, Word)>),
    /// The contrary of a condition.
    Not(Box<Word>),
    /// Anything else that depends on what is received at these places, as bits.
    Other(u32),
}

impl Word {
    /// The contrary of a condition.
    pub fn negated(self) -> Word {
        match self {
            Word::Constant(value) => Word::Constant(u32::from(value == 0)),
            Word::Not(condition) => *condition,
            Word::Less(words) => Word::LessEqual(Box::new((words.1, words.0))),
            Word::LessEqual(words) => Word::Less(Box::new((words.1, words.0))),
            condition => Word::Not(Box::new(condition)),
        }
    }
}

/// Anything that depends on words.
pub fn other(words: &[Word]) -> Word {
    Word::Other(words.iter().fold(0, |places, word| places | places_of(word)))
}

/// The places that a word depends on, as bits; all if there are too many.
pub fn places_of(word: &Word) -> u32 {
    let both = |words: &(Word, Word)| places_of(&words.0) | places_of(&words.1);
    let all = |words: &[Word]| words.iter().fold(0, |places, word| places | places_of(word));
    match word {
        Word::Slot(_) | Word::Constant(_) | Word::Bits(..) | Word::Length { .. } => 0,
        Word::OneOf(_, _, _, places) | Word::Index(_, places) => *places,
        Word::Received(part) => 1_u32.checked_shl(part.place).unwrap_or(u32::MAX),
        Word::Packed(_, words) => all(words),
        Word::Member { element, set, .. } => all(element) | places_of(set),
        Word::Less(words) | Word::LessEqual(words) | Word::Equal(words) => both(words),
        Word::Not(condition) => places_of(condition),
        Word::Other(places) => *places,
    }
}

/// A path through patterns and a guard.
#[derive(Clone, Default)]
pub struct Path {
    pub at: u32,
    pub stack: Vec<Word>,
    /// Slots that have other values than before anything was received.
    pub slots: Vec<(u32, Word)>,
    /// Functions that are being run: where to go on, and their variables.
    pub calls: Vec<(u32, Vec<Word>)>,
    pub holding: Vec<Word>,
    /// Whether something might have failed on it.
    pub failed: bool,
    /// Whether that was asking for a length, and nothing has come since but what it is compared with.
    pub has_asked: bool,
}

impl Path {
    pub fn load(&self, slot: u32) -> Word {
        let changed = self.slots.iter().rev().find(|(changed, _)| *changed == slot);
        changed.map_or(Word::Slot(slot), |(_, word)| word.clone())
    }

    pub fn store(&mut self, slot: u32, words: Vec<Word>) {
        self.slots.extend((slot..).zip(words));
    }
}

/// A path on which an action has received all that it offers to; nothing if a pattern can be matched in several ways, or
/// can't be followed.
pub fn having_received(
    code: &Code,
    types: &[Representation],
    offers: &[(OfferCode, TypeId)],
) -> Option<Path> {
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

/// The words of what is received at a place.
pub fn whole(types: &[Representation], place: usize, ty: TypeId) -> impl Iterator<Item = Part> {
    let words = types[ty.index()].leaves.iter().zip(0..);
    words.map(move |(&bits, word)| Part { place: place as u32, word, shift: 0, mask: mask_of(bits) })
}

/// The same, symbolically.
pub fn received(types: &[Representation], place: usize, ty: TypeId) -> impl Iterator<Item = Word> {
    whole(types, place, ty).map(Word::Received)
}

/// The only path through a pattern that matches.
pub fn matching(code: &Code, types: &[Representation], start: Path) -> Option<Path> {
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

/// The condition that a path comes to, if there is no other way, nothing is told and nothing changed, and the address behind it.
pub fn only(code: &Code, types: &[Representation], mut path: Path) -> Option<(Word, u32)> {
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
pub fn necessary(
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
            // Of paths that are not followed any further, what holds on them already is known. Those through functions are left
            // first: what a guard asks itself is known soon.
            let is_calling = !path.calls.is_empty() || matches!(code.ops[path.at as usize], Op::Call(_));
            let patience = if is_calling { 1 } else { 2 };
            if paths > patience * MOST_PATHS || ops > patience * MOST_OPS {
                keep_common(&mut common, path.holding);
                break;
            }
            if path.has_asked && !compares(code, path.at) {
                path.has_asked = false;
                keep_common(&mut common, path.holding.clone());
            }
            if !path.failed && may_fail(code, types, &path, received) {
                path.failed = true;
                // A bound by a length says nothing where asking for it fails: so what it is compared with counts, too.
                path.has_asked = asks_for_length(code, types, &path);
                if !path.has_asked {
                    keep_common(&mut common, path.holding.clone());
                }
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

pub fn keep_common(common: &mut Option<Vec<Word>>, holding: Vec<Word>) {
    match common {
        Some(common) => common.retain(|condition| holding.contains(condition)),
        None => *common = Some(holding),
    }
}

/// The length of a list or set in a slot, if an application asks for it.
fn length_of(types: &[Representation], application: &Application, operands: &[Word]) -> Option<Word> {
    let (Builtin::Length, &[Word::Slot(slot)]) = (application.operation, operands) else { return None };
    let (ty, Kind::List { .. }) = (application.operand, &types[application.operand.index()].kind) else {
        return None;
    };
    match types[application.result.index()].kind {
        Kind::Number { offset: 0, upper, .. } => {
            Some(Word::Length { slot, ty, upper: upper.try_into().unwrap_or(u32::MAX) })
        }
        _ => None,
    }
}

/// Whether the next instruction of a path asks for the length of what is in a slot. That may fail, but for all values alike.
fn asks_for_length(code: &Code, types: &[Representation], path: &Path) -> bool {
    match (code.ops[path.at as usize], &path.stack[..]) {
        (Op::Apply(number), [.., operand]) => {
            let application = &code.applications[number as usize];
            length_of(types, application, std::slice::from_ref(operand)).is_some()
        }
        _ => false,
    }
}

/// Whether an instruction only compares what is on the stack, or decides by a comparison.
fn compares(code: &Code, at: u32) -> bool {
    let decides =
        |op: Op| matches!(op, Op::Jump(_) | Op::JumpIfFalse(_) | Op::JumpIfTrue(_) | Op::Require | Op::Done);
    match code.ops[at as usize] {
        Op::Less | Op::LessEqual | Op::Equal | Op::Not => true,
        Op::Push(_) => decides(code.ops[at as usize + 1]),
        op => decides(op),
    }
}

/// Whether the next instruction of a path may end in a run-time error.
pub fn may_fail(
    code: &Code,
    types: &[Representation],
    path: &Path,
    received: &[(OfferCode, TypeId)],
) -> bool {
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
pub fn is_inside(
    types: &[Representation],
    array: TypeId,
    path: &Path,
    received: &[(OfferCode, TypeId)],
) -> bool {
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
pub fn range_of_part(
    types: &[Representation],
    received: &[(OfferCode, TypeId)],
    part: Part,
) -> Option<(u32, u32)> {
    let (first, count) = range_of(&types[received[part.place as usize].1.index()])?;
    Some((first, first + count.checked_sub(1)?))
}

pub enum Next {
    On,
    /// The guard has been evaluated.
    Decided(Word),
}

/// Takes one instruction of a path; the other way of a branch is left to do.
pub fn step(code: &Code, types: &[Representation], path: &mut Path, todo: &mut Vec<Path>) -> Option<Next> {
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
                let places = places_of(&index);
                let alike = matches!(index, Word::Index(array, _) if alike(array));
                let is_changed = path.slots.iter().any(|(slot, _)| (first..first + count).contains(slot));
                let one = match (part.words == 1, is_changed) {
                    (true, false) => Word::OneOf(first, count, alike, places),
                    (false, false) => Word::Other(places),
                    (_, true) => Word::Other(u32::MAX),
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
                    field.and_then(|field| fields.get(field).cloned()).unwrap_or_else(|| other(&fields))
                }
                Word::Received(part) => Word::Received(Part {
                    shift: part.shift + shift,
                    mask: part.mask.checked_shr(shift).unwrap_or(0) & mask,
                    ..part
                }),
                Word::Slot(slot) => Word::Bits(slot, shift, mask),
                Word::Bits(slot, within, bits) => {
                    Word::Bits(slot, within + shift, bits.checked_shr(shift).unwrap_or(0) & mask)
                }
                value => other(&[value]),
            });
        }
        Op::Modulo | Op::Add(_) | Op::Subtract(_) | Op::AddOffsets => {
            let words = keep(stack, 2)?;
            stack.push(other(&words));
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
            let words = keep(stack, 2 * words as usize)?;
            stack.push(other(&words));
        }
        Op::Not => {
            let condition = stack.pop()?;
            stack.push(condition.negated());
        }
        Op::IndexOffset(array) => {
            let index = stack.pop()?;
            stack.push(Word::Index(array, places_of(&index)));
        }
        Op::Offset(_) | Op::Component(_) | Op::IsEmpty(_) | Op::Tail(_) => {
            let word = stack.pop()?;
            stack.push(other(&[word]));
        }
        Op::Components(_, words) => {
            let row = stack.pop()?;
            stack.resize(stack.len() + words as usize, other(&[row]));
        }
        Op::Head(ty) => {
            let row = stack.pop()?;
            let words = types[ty.index()].element.words as usize;
            stack.resize(stack.len() + words, other(&[row]));
        }
        Op::Field(number) => {
            let (ty, places) = &code.accesses[number as usize];
            let value = keep(stack, types[ty.index()].words() as usize)?;
            let words = places.iter().flatten().next().map_or(1, |place| place.words);
            stack.resize(stack.len() + words as usize, other(&value));
        }
        Op::Element(ty) => {
            let shape = &types[ty.index()];
            let words = keep(stack, shape.words() as usize + 1)?;
            stack.resize(stack.len() + shape.element.words as usize, other(&words));
        }
        Op::Apply(number) => {
            let application = &code.applications[number as usize];
            let mut operands = keep(stack, application.words as usize)?;
            let results = types[application.result.index()].words() as usize;
            if application.operation == Builtin::Member && operands.len() > 1 {
                let set = Box::new(operands.pop()?);
                let asked = Asked(calls.is_empty().then_some(at));
                stack.push(Word::Member { element: operands, set, ty: application.second.index(), asked });
            } else if let Some(length) = length_of(types, application, &operands) {
                stack.push(length);
            } else {
                stack.resize(stack.len() + results, other(&operands));
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
