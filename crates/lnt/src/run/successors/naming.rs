//! Which values an offer can take that nobody fixes: those that a partner's pattern and guard can accept.
//!
//! Trying every value of a type in every state is what makes soups of messages slow. So the patterns and the guard of
//! an action are run once with the open values *unknown* (narrowing, as functional logic languages do it): a comparison
//! of an unknown part with a known value goes both ways and learns the part on one of them, `member` learns one element
//! after the other, and a test of a constructor learns that. What is left where the guard may hold is a list of
//! *shapes*: open values as far as they are known. However a condition is written, in a function or in place, with
//! `member` or a loop, it names its candidates by itself.
//!
//! A shape promises only that a value outside of all shapes is refused without an error: patterns and guards are
//! evaluated on each candidate as ever. Where something can't be followed, or may fail, the shape stays as it is. Tests
//! compare the outcome with trying every value.

use crate::compile::code::{ActionCode, Code, OfferCode, Op};
use crate::compile::types::{Kind, Representation, Storage, mask_of};
use crate::run::values::Values;
use crate::typed::{Builtin, TypeId};

/// More instructions than this are not followed for one action.
const MOST_STEPS: usize = 20_000;
/// More ways than this are not followed.
const MOST_WORLDS: usize = 4096;

/// What is known of an open word: bits under a mask.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Known {
    pub mask: u32,
    pub bits: u32,
}

impl Known {
    #[inline]
    pub fn admits(self, word: u32) -> bool {
        (word ^ self.bits) & self.mask == 0
    }
}

/// A word as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Term {
    /// This.
    Known(u32),
    /// Bits of an open word: which word, from which bit on, and the bits shifted down to bit 0.
    Part { word: u16, shift: u8, mask: u32 },
    /// A packed value of terms, of [`World::composites`].
    Composite(u32),
    /// Whether a part is this.
    Is { word: u16, shift: u8, mask: u32, value: u32 },
    /// Whether it is not.
    IsNot { word: u16, shift: u8, mask: u32, value: u32 },
    /// Anything.
    Unknown,
}

use Term::Known as Exactly;

/// The first bit, the mask and the term of a packed field.
type PackedField = (u32, u32, Term);

/// One way through the code.
#[derive(Clone, Debug)]
struct World {
    at: usize,
    /// Which of the pieces of code this is.
    stage: usize,
    stack: Vec<Term>,
    /// Where the calls at hand return to, and where their variables start on the stack.
    calls: Vec<(u32, usize)>,
    /// Slots that differ from the state.
    slots: Vec<(u32, Term)>,
    /// Above the fields, and each field: first bit, mask, term.
    composites: Vec<(u32, Vec<PackedField>)>,
    known: Vec<Known>,
}

/// What is asked.
pub(super) struct Question<'q> {
    pub action: &'q ActionCode,
    /// For each offer, its value as far as a partner has fixed it.
    pub fixed: &'q [Option<u32>],
    /// The state, up to the action.
    pub state: &'q [u32],
}

/// The open words of an action: for each open place, which place, its type and its first word.
pub(super) fn open_words(types: &[Representation], question: &Question<'_>) -> Vec<(usize, TypeId, usize)> {
    let mut next = 0;
    let mut open = Vec::new();
    for (place, (&(_, ty), fixed)) in question.action.offers.iter().zip(question.fixed).enumerate() {
        if fixed.is_none() {
            open.push((place, ty, next));
            next += types[ty.index()].leaves.len();
        }
    }
    open
}

/// Adds the shapes that the open words can have where the action's patterns and guard may accept them, `width` words
/// each. Tells whether that worked, and how many instructions it took.
pub(super) fn shapes(
    code: &Code,
    values: &mut Values<'_>,
    question: &Question<'_>,
    width: usize,
    shapes: &mut Vec<Known>,
) -> (bool, usize) {
    let first = shapes.len();
    let mut run = Run { code, values, question, shapes, first, width, steps: 0, todo: Vec::new() };
    let followed = run.all();
    let steps = run.steps;
    if !followed {
        shapes.truncate(first);
    }
    let nothing = |shape: &[Known]| shape.iter().all(|known| known.mask == 0);
    (followed && !shapes[first..].chunks_exact(width).any(nothing), steps)
}

/// Whether matching an action's patterns never fails, whatever the values: nothing in the code can, and it neither loops nor
/// calls itself.
pub(crate) fn patterns_never_fail(code: &Code, action: &ActionCode) -> bool {
    action.offers.iter().all(|(offer, _)| match offer {
        OfferCode::Pattern { address, .. } => code_never_fails(code, *address),
        _ => true,
    })
}

/// Whether code up to its end never fails.
fn code_never_fails(code: &Code, start: u32) -> bool {
    let mut todo = vec![start];
    let mut seen = vec![false; code.ops.len()];
    while let Some(at) = todo.pop() {
        if std::mem::replace(&mut seen[at as usize], true) {
            continue;
        }
        match code.ops[at as usize] {
            Op::Jump(target) if target > at => todo.push(target),
            Op::JumpIfFalse(target) | Op::JumpIfTrue(target) if target > at => todo.extend([target, at + 1]),
            Op::Done | Op::Return(_) | Op::Require => {}
            Op::Call(function) => {
                // A function that calls others might call itself.
                let address = code.functions[function as usize].address;
                if calls_others(code, address) {
                    return false;
                }
                todo.extend([address, at + 1]);
            }
            op if code.never_fails(op) => todo.push(at + 1),
            _ => return false,
        }
    }
    true
}

/// Whether a function has a call in its code.
fn calls_others(code: &Code, address: u32) -> bool {
    let ends: Vec<u32> = code.functions.iter().map(|function| function.address).collect();
    let end = ends.into_iter().filter(|&other| other > address).min().unwrap_or(code.ops.len() as u32);
    code.ops[address as usize..end as usize].iter().any(|op| matches!(op, Op::Call(_)))
}

struct Run<'r, 'v, 'q> {
    code: &'r Code,
    values: &'r mut Values<'v>,
    question: &'r Question<'q>,
    shapes: &'r mut Vec<Known>,
    /// Where its own shapes start.
    first: usize,
    width: usize,
    steps: usize,
    todo: Vec<World>,
}

/// What became of a world.
enum Next {
    /// It goes on.
    On,
    /// It is refused, or others go on in its place.
    Over,
    /// It may be accepted, or fail.
    Perhaps,
}

impl Run<'_, '_, '_> {
    /// Follows all ways. Gives false if they are too many.
    fn all(&mut self) -> bool {
        let mut world = World {
            at: 0,
            stage: 0,
            stack: Vec::new(),
            calls: Vec::new(),
            slots: Vec::new(),
            composites: Vec::new(),
            known: vec![Known::default(); self.width],
        };
        for (place, ty, first) in open_words(self.values.types, self.question) {
            if let OfferCode::Variable(slot) = self.question.action.offers[place].0 {
                for word in 0..self.values.types[ty.index()].leaves.len() {
                    world.slots.push((slot + word as u32, self.part(ty, first, word)));
                }
            }
        }
        for (&(offer, ty), fixed) in self.question.action.offers.iter().zip(self.question.fixed) {
            if let (OfferCode::Variable(slot), Some(value)) = (offer, fixed) {
                let words = self.values.thaw(ty, *value);
                world
                    .slots
                    .extend(words.iter().enumerate().map(|(at, &word)| (slot + at as u32, Exactly(word))));
            }
        }
        if self.enter(&mut world) {
            self.todo.push(world);
        }
        let mut worlds = 0;
        while let Some(mut world) = self.todo.pop() {
            worlds += 1;
            loop {
                self.steps += 1;
                if self.steps > MOST_STEPS || worlds > MOST_WORLDS {
                    return false;
                }
                match self.step(&mut world) {
                    Next::On => {}
                    Next::Over => break,
                    Next::Perhaps => {
                        self.accept(&world);
                        break;
                    }
                }
            }
        }
        true
    }

    fn part(&self, ty: TypeId, first: usize, word: usize) -> Term {
        let mask = mask_of(self.values.types[ty.index()].leaves[word]);
        Term::Part { word: (first + word) as u16, shift: 0, mask }
    }

    /// Goes to the code of the stage at hand or a later one; the last one is the guard. If there is none, the world is
    /// accepted.
    fn enter(&mut self, world: &mut World) -> bool {
        let offers = &self.question.action.offers;
        while let Some(&(offer, ty)) = offers.get(world.stage) {
            if let OfferCode::Pattern { address, .. } = offer {
                match self.question.fixed[world.stage] {
                    Some(value) => {
                        world.stack.extend(self.values.thaw(ty, value).iter().map(|&word| Exactly(word)));
                    }
                    None => {
                        let open = open_words(self.values.types, self.question);
                        let (_, _, first) =
                            open.iter().copied().find(|one| one.0 == world.stage).unwrap_or((0, ty, 0));
                        for word in 0..self.values.types[ty.index()].leaves.len() {
                            world.stack.push(self.part(ty, first, word));
                        }
                    }
                }
                world.at = address as usize;
                return true;
            }
            world.stage += 1;
        }
        match self.question.action.guard {
            Some(guard) if world.stage == offers.len() => {
                world.at = guard as usize;
                true
            }
            _ => {
                self.accept(world);
                false
            }
        }
    }

    fn accept(&mut self, world: &World) {
        let first = self.shapes.len();
        self.shapes.extend_from_slice(&world.known);
        let known = &self.shapes[self.first..first];
        if known.chunks_exact(self.width).any(|shape| *shape == world.known) {
            self.shapes.truncate(first);
        }
    }

    fn step(&mut self, world: &mut World) -> Next {
        let at = world.at;
        world.at += 1;
        match self.code.ops[at] {
            Op::Push(value) => world.stack.push(Exactly(value)),
            Op::LoadSlot(slot) => self.load(world, slot, 1),
            Op::LoadSlots(slot, words) => self.load(world, slot, words),
            Op::StoreSlot(slot) => self.store(world, slot, 1),
            Op::StoreSlots(slot, words) => self.store(world, slot, words),
            Op::LoadPart(number) => {
                let part = self.code.parts[number as usize];
                let offset = if part.indexed { self.take(world) } else { Exactly(0) };
                match offset {
                    Exactly(offset) => self.load(world, part.whole.0 + part.from + offset, part.words),
                    _ => unknown(world, part.words),
                }
            }
            Op::LoadLocal(local) => self.load_local(world, local, 1),
            Op::LoadLocals(local, words) => self.load_local(world, local, words),
            Op::LoadLocalsAt(number) => {
                let part = self.code.local_parts[number as usize];
                match self.take(world) {
                    Exactly(offset) => self.load_local(world, part.whole.0 + part.from + offset, part.words),
                    _ => unknown(world, part.words),
                }
            }
            Op::StoreLocal(local) => self.store_local(world, local, 1),
            Op::StoreLocals(local, words) => self.store_local(world, local, words),
            Op::StoreLocalElement(local, array) => {
                let words = self.values.types[array.index()].element.words;
                let index = world.stack.len() - words as usize - 1;
                let Exactly(number) = self.resolve(world, world.stack[index]) else { return Next::Perhaps };
                let Ok(position) = self.values.position(array, i64::from(number as i32)) else {
                    return Next::Perhaps;
                };
                self.store_local(world, local + position as u32 * words, words);
                world.stack.pop();
            }
            Op::IndexOffset(array) => {
                let Exactly(index) = self.take(world) else {
                    // It may be outside the bounds.
                    return Next::Perhaps;
                };
                match self.values.position(array, i64::from(index as i32)) {
                    Ok(at) => {
                        let words = self.values.types[array.index()].element.words;
                        world.stack.push(Exactly(at as u32 * words));
                    }
                    Err(_) => return Next::Perhaps,
                }
            }
            Op::AddOffsets => {
                let (b, a) = (self.take(world), self.take(world));
                world.stack.push(match (a, b) {
                    (Exactly(a), Exactly(b)) => Exactly(a.wrapping_add(b)),
                    _ => Term::Unknown,
                });
            }
            Op::Pick(depth) => {
                let term = world.stack[world.stack.len() - 1 - depth as usize];
                world.stack.push(term);
            }
            Op::PickMany(depth, words) => {
                let first = world.stack.len() - 1 - depth as usize;
                world.stack.extend_from_within(first..first + words as usize);
            }
            Op::Pop(words) => world.stack.truncate(world.stack.len() - words as usize),
            Op::Jump(target) => world.at = target as usize,
            Op::JumpIfFalse(target) => return self.branch(world, target, false),
            Op::JumpIfTrue(target) => return self.branch(world, target, true),
            Op::Equal => {
                let (b, a) = (self.take(world), self.take(world));
                return self.compare(world, &[(a, b)]);
            }
            Op::EqualMany(words) => {
                let second = world.stack.len() - words as usize;
                let first = second - words as usize;
                let pairs: Vec<(Term, Term)> = (0..words as usize)
                    .map(|at| (world.stack[first + at], world.stack[second + at]))
                    .collect();
                world.stack.truncate(first);
                return self.compare(world, &pairs);
            }
            Op::Less => self.order(world, |a, b| a < b),
            Op::LessEqual => self.order(world, |a, b| a <= b),
            Op::Not => {
                let term = match self.take(world) {
                    Exactly(value) => Exactly(1 - value.min(1)),
                    Term::Is { word, shift, mask, value } => Term::IsNot { word, shift, mask, value },
                    Term::IsNot { word, shift, mask, value } => Term::Is { word, shift, mask, value },
                    _ => Term::Unknown,
                };
                world.stack.push(term);
            }
            Op::Offset(offset) => {
                let term = match self.take(world) {
                    Exactly(value) => Exactly(value.wrapping_add(offset)),
                    _ => Term::Unknown,
                };
                world.stack.push(term);
            }
            Op::Bits(shift, mask) => {
                let term = self.take(world);
                let part = self.bits(world, term, shift, mask);
                world.stack.push(part);
            }
            Op::Pack(number) => {
                let pack = &self.code.packs[number as usize];
                let first = world.stack.len() - pack.fields.len();
                let fields: Vec<(u32, u32, Term)> = pack
                    .fields
                    .iter()
                    .zip(world.stack.split_off(first))
                    .map(|(&(shift, mask), term)| (shift, mask, self.resolve(world, term)))
                    .collect();
                let all: Option<u32> =
                    fields.iter().try_fold(pack.tag, |word, (shift, _, term)| match term {
                        Exactly(field) => Some(word | field << shift),
                        _ => None,
                    });
                match all {
                    Some(word) => world.stack.push(Exactly(word)),
                    None => {
                        world.composites.push((pack.tag, fields));
                        world.stack.push(Term::Composite(world.composites.len() as u32 - 1));
                    }
                }
            }
            Op::Pad(words) => world.stack.resize(world.stack.len() + words as usize, Exactly(0)),
            Op::Slice(total, from, words) => {
                let first = world.stack.len() - total as usize;
                let part = first + from as usize;
                world.stack.copy_within(part..part + words as usize, first);
                world.stack.truncate(first + words as usize);
            }
            Op::Component(position) => match self.take(world) {
                Exactly(row) => world.stack.push(Exactly(self.values.row(row)[position as usize])),
                _ => world.stack.push(Term::Unknown),
            },
            Op::Components(position, words) => match self.take(world) {
                Exactly(row) => {
                    let row = &self.values.row(row)[position as usize..(position + words) as usize];
                    world.stack.extend(row.iter().map(|&word| Exactly(word)));
                }
                _ => unknown(world, words),
            },
            Op::IsEmpty(ty) => match self.take(world) {
                Exactly(list) => world.stack.push(Exactly(u32::from(self.values.is_empty(ty, list)))),
                _ => world.stack.push(Term::Unknown),
            },
            Op::Head(ty) => match self.take(world) {
                Exactly(list) if !self.values.is_empty(ty, list) => {
                    let head = self
                        .values
                        .element_at(ty, &[list], 0)
                        .iter()
                        .map(|&word| Exactly(word))
                        .collect::<Vec<Term>>();
                    world.stack.extend(head);
                }
                _ => unknown(world, self.values.types[ty.index()].element.words),
            },
            Op::Tail(ty) => match self.take(world) {
                Exactly(list) => world.stack.push(Exactly(self.values.tail(ty, list))),
                _ => world.stack.push(Term::Unknown),
            },
            Op::Element(ty) => return self.element(world, ty),
            Op::Field(number) => return self.field(world, number),
            Op::Apply(number) => return self.apply(world, number),
            Op::Add(ty) => return self.sum(world, ty, 1),
            Op::Subtract(ty) => return self.sum(world, ty, -1),
            Op::Modulo => {
                let (b, a) = (pop_of(world), pop_of(world));
                match (self.resolve(world, a), self.resolve(world, b)) {
                    (Exactly(a), Exactly(b)) if b != 0 => world.stack.push(Exactly(a % b)),
                    (_, Exactly(b)) if b != 0 => world.stack.push(Term::Unknown),
                    _ => return Next::Perhaps,
                }
            }
            Op::MakeRow(ordinal, words) => {
                let first = world.stack.len() - words as usize;
                match self.exact(world, first) {
                    Some(fields) => {
                        let row = self.values.build(|_, row| {
                            row.push(ordinal);
                            row.extend_from_slice(&fields);
                        });
                        world.stack.truncate(first);
                        world.stack.push(Exactly(row));
                    }
                    None => {
                        world.stack.truncate(first);
                        world.stack.push(Term::Unknown);
                    }
                }
            }
            Op::Collection(ty, count) => {
                let shape = &self.values.types[ty.index()];
                if shape.storage != Storage::Wide {
                    let first = world.stack.len() - count as usize * shape.element.words as usize;
                    let made = self.exact(world, first).map(|mut elements| {
                        let mut words = Vec::new();
                        self.values.collect(ty, &mut elements, &mut words);
                        words[0]
                    });
                    world.stack.truncate(first);
                    world.stack.push(made.map_or(Term::Unknown, Exactly));
                }
            }
            Op::Call(number) => {
                let function = self.code.functions[number as usize];
                let frame = world.stack.len() - function.arguments as usize;
                world.stack.resize(frame + function.variables as usize, Term::Unknown);
                world.calls.push((world.at as u32, frame));
                world.at = function.address as usize;
            }
            Op::Return(words) => {
                let Some((back, frame)) = world.calls.pop() else { return Next::Perhaps };
                let results = world.stack.len() - words as usize;
                world.stack.drain(frame..results);
                world.at = back as usize;
            }
            Op::Landings(_)
            | Op::Mark(_)
            | Op::Decide(_)
            | Op::Fire(_)
            | Op::FireOutcome(_)
            | Op::Observe(_)
            | Op::Record(..) => {}
            Op::Done => {
                let outcome = pop_of(world);
                match self.resolve(world, outcome) {
                    Exactly(0) => return Next::Over,
                    Term::Is { word, shift, mask, value } => learn(world, word, shift, mask, value),
                    _ => {}
                }
                world.stage += 1;
                world.stack.clear();
                return if self.enter(world) { Next::On } else { Next::Over };
            }
            // What can't be followed may be accepted.
            _ => return Next::Perhaps,
        }
        Next::On
    }

    /// Pops a term, with what has been learned since it was pushed.
    fn take(&self, world: &mut World) -> Term {
        let term = pop_of(world);
        self.resolve(world, term)
    }

    fn load(&self, world: &mut World, slot: u32, words: u32) {
        for slot in slot..slot + words {
            let own = world.slots.iter().rev().find(|one| one.0 == slot).map(|one| one.1);
            world.stack.push(own.unwrap_or(Exactly(self.question.state[slot as usize])));
        }
    }

    fn store(&self, world: &mut World, slot: u32, words: u32) {
        let first = world.stack.len() - words as usize;
        let terms = world.stack.split_off(first);
        world.slots.extend((slot..).zip(terms));
    }

    fn load_local(&self, world: &mut World, local: u32, words: u32) {
        let first = world.calls.last().map_or(0, |call| call.1) + local as usize;
        world.stack.extend_from_within(first..first + words as usize);
    }

    fn store_local(&self, world: &mut World, local: u32, words: u32) {
        let first = world.calls.last().map_or(0, |call| call.1) + local as usize;
        let value = world.stack.len() - words as usize;
        world.stack.copy_within(value.., first);
        world.stack.truncate(value);
    }

    /// The words on top of the stack from a place on, if all of them are known.
    fn exact(&self, world: &World, first: usize) -> Option<Vec<u32>> {
        let words = world.stack[first..].iter().map(|&term| match self.resolve(world, term) {
            Exactly(word) => Some(word),
            _ => None,
        });
        words.collect()
    }

    /// A term with what has been learned since.
    fn resolve(&self, world: &World, term: Term) -> Term {
        match term {
            Term::Part { word, shift, mask } => match part_known(world, word, shift, mask) {
                Known { mask: known, bits } if known == mask => Exactly(bits),
                _ => term,
            },
            Term::Is { word, shift, mask, value } | Term::IsNot { word, shift, mask, value } => {
                let known = part_known(world, word, shift, mask);
                let is = matches!(term, Term::Is { .. });
                if (known.bits ^ value) & known.mask != 0 {
                    Exactly(u32::from(!is))
                } else if known.mask == mask {
                    Exactly(u32::from(is))
                } else {
                    term
                }
            }
            Term::Composite(number) => {
                let (tag, fields) = &world.composites[number as usize];
                let all = fields.iter().try_fold(*tag, |word, &(shift, _, field)| {
                    match self.resolve(world, field) {
                        Exactly(field) => Some(word | field << shift),
                        _ => None,
                    }
                });
                all.map_or(term, Exactly)
            }
            _ => term,
        }
    }

    fn bits(&self, world: &World, term: Term, shift: u32, mask: u32) -> Term {
        match self.resolve(world, term) {
            Exactly(word) => Exactly((word >> shift) & mask),
            Term::Part { word, shift: own, mask: own_mask } => {
                let mask = mask & (own_mask.checked_shr(shift).unwrap_or(0));
                Term::Part { word, shift: own + shift as u8, mask }
            }
            Term::Composite(number) => {
                let (tag, fields) = &world.composites[number as usize];
                let wanted = mask << shift;
                let field = fields.iter().find(|&&(at, own, _)| at == shift && own == mask);
                let apart = fields.iter().all(|&(at, own, _)| own << at & wanted == 0);
                match field {
                    Some(&(_, _, field)) => field,
                    None if apart => Exactly((tag >> shift) & mask),
                    None => Term::Unknown,
                }
            }
            _ => Term::Unknown,
        }
    }

    /// Goes on behind a comparison of words that all have to be equal.
    fn compare(&mut self, world: &mut World, pairs: &[(Term, Term)]) -> Next {
        let mut tests: Vec<(u16, u8, u32, u32)> = Vec::new();
        let mut unclear = false;
        for &(a, b) in pairs {
            match self.equality(world, a, b, &mut tests) {
                Some(false) => {
                    world.stack.push(Exactly(0));
                    return Next::On;
                }
                Some(true) => {}
                None => unclear = true,
            }
        }
        match (tests.as_slice(), unclear) {
            ([], false) => world.stack.push(Exactly(1)),
            (&[(word, shift, mask, value)], false) => {
                world.stack.push(Term::Is { word, shift, mask, value });
            }
            ([], true) => world.stack.push(Term::Unknown),
            (tests, unclear) => {
                let mut unequal = world.clone();
                unequal.stack.push(Exactly(0));
                self.todo.push(unequal);
                for &(word, shift, mask, value) in tests {
                    if !learn_fitting(world, word, shift, mask, value) {
                        return Next::Over;
                    }
                }
                world.stack.push(if unclear { Term::Unknown } else { Exactly(1) });
            }
        }
        Next::On
    }

    /// Whether two terms are equal; what would have to hold is added to `tests`, and then the answer is yes. Nothing if
    /// it can't be told.
    fn equality(
        &self,
        world: &World,
        a: Term,
        b: Term,
        tests: &mut Vec<(u16, u8, u32, u32)>,
    ) -> Option<bool> {
        let (a, b) = match (self.resolve(world, a), self.resolve(world, b)) {
            (Exactly(a), b) => (b, Exactly(a)),
            other => other,
        };
        let Exactly(value) = b else { return None };
        match a {
            Exactly(other) => Some(other == value),
            Term::Part { word, shift, mask } => {
                let known = part_known(world, word, shift, mask);
                if value & !mask != 0 || (known.bits ^ value) & known.mask != 0 {
                    return Some(false);
                }
                tests.push((word, shift, mask, value));
                Some(true)
            }
            Term::Composite(number) => {
                let (tag, fields) = &world.composites[number as usize];
                let covered = fields.iter().fold(0, |all, &(shift, mask, _)| all | mask << shift);
                if (value ^ tag) & !covered != 0 {
                    return Some(false);
                }
                let mut clear = true;
                for &(shift, mask, field) in fields {
                    match self.equality(world, field, Exactly((value >> shift) & mask), tests) {
                        Some(false) => return Some(false),
                        Some(true) => {}
                        None => clear = false,
                    }
                }
                if clear { Some(true) } else { None }
            }
            _ => None,
        }
    }

    fn branch(&mut self, world: &mut World, target: u32, jumps_if: bool) -> Next {
        let condition = pop_of(world);
        let (if_true, if_false) =
            if jumps_if { (target as usize, world.at) } else { (world.at, target as usize) };
        match self.resolve(world, condition) {
            Exactly(value) => world.at = if value != 0 { if_true } else { if_false },
            Term::Is { word, shift, mask, value } => {
                let mut unequal = world.clone();
                unequal.at = if_false;
                learn_not(&mut unequal, word, shift, mask, value);
                self.todo.push(unequal);
                learn(world, word, shift, mask, value);
                world.at = if_true;
            }
            Term::IsNot { word, shift, mask, value } => {
                let mut unequal = world.clone();
                unequal.at = if_true;
                learn_not(&mut unequal, word, shift, mask, value);
                self.todo.push(unequal);
                learn(world, word, shift, mask, value);
                world.at = if_false;
            }
            Term::Part { word, shift, mask } => {
                let mut not_zero = world.clone();
                not_zero.at = if_true;
                learn_not(&mut not_zero, word, shift, mask, 0);
                self.todo.push(not_zero);
                learn(world, word, shift, mask, 0);
                world.at = if_false;
            }
            _ => {
                let mut other = world.clone();
                other.at = if_true;
                self.todo.push(other);
                world.at = if_false;
            }
        }
        Next::On
    }

    fn order(&self, world: &mut World, holds: impl Fn(u32, u32) -> bool) {
        let (b, a) = (pop_of(world), pop_of(world));
        let term = match (self.resolve(world, a), self.resolve(world, b)) {
            (Exactly(a), Exactly(b)) => Exactly(u32::from(holds(a, b))),
            _ => Term::Unknown,
        };
        world.stack.push(term);
    }

    fn sum(&self, world: &mut World, ty: TypeId, sign: i64) -> Next {
        let (b, a) = (pop_of(world), pop_of(world));
        let (Exactly(a), Exactly(b)) = (self.resolve(world, a), self.resolve(world, b)) else {
            // It may be outside the range of its type.
            return Next::Perhaps;
        };
        let number = self.values.number(ty, a) + sign * self.values.number(ty, b);
        match self.values.with_number(ty, number) {
            Ok(value) => {
                world.stack.push(Exactly(value));
                Next::On
            }
            Err(_) => Next::Perhaps,
        }
    }

    fn element(&mut self, world: &mut World, ty: TypeId) -> Next {
        let index = pop_of(world);
        let Exactly(index) = self.resolve(world, index) else { return Next::Perhaps };
        let Ok(at) = self.values.position(ty, i64::from(index as i32)) else { return Next::Perhaps };
        let shape = &self.values.types[ty.index()];
        let words = shape.element.words as usize;
        if shape.storage == Storage::Wide {
            let first = world.stack.len() - shape.leaves.len();
            let part = first + at * words;
            world.stack.copy_within(part..part + words, first);
            world.stack.truncate(first + words);
            return Next::On;
        }
        match self.take(world) {
            Exactly(array) => {
                let element: Vec<Term> =
                    self.values.element_at(ty, &[array], at).iter().map(|&word| Exactly(word)).collect();
                world.stack.extend(element);
            }
            term if shape.storage == Storage::Packed => {
                let bits = shape.element.bits;
                let shift = (shape.element.length - 1 - at as u32) * bits;
                let part = self.bits(world, term, shift, mask_of(bits));
                world.stack.push(part);
            }
            _ => unknown(world, words as u32),
        }
        Next::On
    }

    /// A field that several constructors may have: one world for each of them.
    fn field(&mut self, world: &mut World, number: u32) -> Next {
        let code = self.code;
        let (ty, places) = &code.accesses[number as usize];
        let shape = &self.values.types[ty.index()];
        let first = world.stack.len() - shape.leaves.len();
        let tag = match shape.storage {
            Storage::Packed if shape.tag_shift == 32 => Exactly(0),
            Storage::Packed => {
                let mask = u32::MAX >> shape.tag_shift;
                self.bits(world, world.stack[first], shape.tag_shift, mask)
            }
            Storage::Wide if shape.fields.len() == 1 => Exactly(0),
            Storage::Wide => world.stack[first],
            _ => match self.resolve(world, world.stack[first]) {
                Exactly(row) => Exactly(self.values.row(row)[0]),
                _ => return Next::Perhaps,
            },
        };
        let tag = match self.resolve(world, tag) {
            Exactly(tag) => tag,
            Term::Part { word, shift, mask } => {
                // The access is tried again, knowing more.
                for ordinal in 0..places.len() as u32 {
                    let mut other = world.clone();
                    other.at -= 1;
                    if learn_fitting(&mut other, word, shift, mask, ordinal) {
                        self.todo.push(other);
                    }
                }
                return Next::Over;
            }
            _ => return Next::Perhaps,
        };
        let Some(Some(place)) = places.get(tag as usize).copied() else { return Next::Perhaps };
        match shape.storage {
            Storage::Packed => {
                let term = pop_of(world);
                let part = self.bits(world, term, place.at, place.mask);
                world.stack.push(part);
            }
            Storage::Wide => {
                let part = first + place.at as usize;
                world.stack.copy_within(part..part + place.words as usize, first);
                world.stack.truncate(first + place.words as usize);
            }
            _ => {
                let Exactly(row) = self.take(world) else { return Next::Perhaps };
                let words: Vec<Term> =
                    self.values.field(*ty, place, &[row]).iter().map(|&word| Exactly(word)).collect();
                world.stack.extend(words);
            }
        }
        Next::On
    }

    fn apply(&mut self, world: &mut World, number: u32) -> Next {
        let code = self.code;
        let application = &code.applications[number as usize];
        let first = world.stack.len() - application.words as usize;
        if let Some(operands) = self.exact(world, first) {
            let mut words = Vec::new();
            let done = match application.narrow {
                true => self.values.apply(application, &operands).map(|word| words.push(word)),
                false => self.values.apply_parts(application, &operands, &mut words),
            };
            if done.is_err() {
                return Next::Perhaps;
            }
            world.stack.truncate(first);
            world.stack.extend(words.into_iter().map(Exactly));
            return Next::On;
        }
        let kinds = |ty: TypeId| &self.values.types[ty.index()].kind;
        match application.operation {
            Builtin::Member => return self.member(world, number, first),
            // A range as a number of its base is the same word.
            Builtin::Convert => match (kinds(application.operand), kinds(application.result)) {
                (
                    Kind::Number { lower, upper, offset, .. },
                    Kind::Number { lower: least, upper: greatest, offset: other, .. },
                ) if offset == other && least <= lower && upper <= greatest => return Next::On,
                _ => return Next::Perhaps,
            },
            Builtin::Less | Builtin::LessEqual | Builtin::Greater | Builtin::GreaterEqual => {}
            Builtin::Union | Builtin::Intersection | Builtin::Difference | Builtin::Subset => {}
            Builtin::Insert | Builtin::Cons | Builtin::Append | Builtin::Remove | Builtin::IsEmpty => {}
            // Others may fail.
            _ => return Next::Perhaps,
        }
        world.stack.truncate(first);
        unknown(world, self.values.types[application.result.index()].words());
        Next::On
    }

    /// `member (x, s)`: x is one element after the other, or none.
    fn member(&mut self, world: &mut World, number: u32, first: usize) -> Next {
        let code = self.code;
        let application = &code.applications[number as usize];
        let list = world.stack.len() - self.values.types[application.second.index()].leaves.len();
        let Some(list_words) = self.exact(world, list) else {
            world.stack.truncate(first);
            world.stack.push(Term::Unknown);
            return Next::On;
        };
        let element: Vec<Term> = world.stack[first..list].to_vec();
        world.stack.truncate(first);
        let mut elements = Vec::new();
        self.values.elements(application.second, &list_words, &mut elements);
        let mut unclear = false;
        for one in elements.chunks_exact(element.len().max(1)) {
            let mut tests = Vec::new();
            let mut equal = Some(true);
            for (&term, &word) in element.iter().zip(one) {
                equal = match (equal, self.equality(world, term, Exactly(word), &mut tests)) {
                    (Some(false), _) | (_, Some(false)) => Some(false),
                    (Some(true), Some(true)) => Some(true),
                    _ => None,
                };
            }
            match equal {
                Some(false) => {}
                None => unclear = true,
                Some(true) => {
                    let mut found = world.clone();
                    let fits = tests.iter().all(|&(word, shift, mask, value)| {
                        learn_fitting(&mut found, word, shift, mask, value)
                    });
                    if fits {
                        found.stack.push(Exactly(1));
                        self.todo.push(found);
                    }
                    if tests.is_empty() {
                        // It is this element.
                        return Next::Over;
                    }
                }
            }
        }
        world.stack.push(if unclear { Term::Unknown } else { Exactly(0) });
        Next::On
    }
}

fn pop_of(world: &mut World) -> Term {
    world.stack.pop().unwrap_or(Term::Unknown)
}

fn unknown(world: &mut World, words: u32) {
    world.stack.resize(world.stack.len() + words as usize, Term::Unknown);
}

/// What is known of a part, shifted down to bit 0.
fn part_known(world: &World, word: u16, shift: u8, mask: u32) -> Known {
    let known = world.known[word as usize];
    let known_mask = known.mask.checked_shr(u32::from(shift)).unwrap_or(0) & mask;
    Known { mask: known_mask, bits: known.bits.checked_shr(u32::from(shift)).unwrap_or(0) & known_mask }
}

fn learn(world: &mut World, word: u16, shift: u8, mask: u32, value: u32) {
    let known = &mut world.known[word as usize];
    let shift = u32::from(shift);
    known.mask |= mask.checked_shl(shift).unwrap_or(0);
    known.bits |= value.checked_shl(shift).unwrap_or(0);
}

/// Learns a part unless that contradicts what is known. Gives whether it fits.
fn learn_fitting(world: &mut World, word: u16, shift: u8, mask: u32, value: u32) -> bool {
    let known = part_known(world, word, shift, mask);
    if (known.bits ^ value) & known.mask != 0 {
        return false;
    }
    learn(world, word, shift, mask, value);
    true
}

/// A part is not a value: if only one bit of it is open, it is the other one.
fn learn_not(world: &mut World, word: u16, shift: u8, mask: u32, value: u32) {
    let known = part_known(world, word, shift, mask);
    let open = mask & !known.mask;
    if open.count_ones() == 1 {
        learn(world, word, shift, open, !value & open);
    }
}
