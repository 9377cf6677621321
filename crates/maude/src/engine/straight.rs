//! Left sides that are matched in one way: as a list of tests on the arguments of an operator, in place.
//!
//! The arguments are on the stack already; what lies inside of them is pushed behind them. Those places are the slots of
//! the equation's variables, so that nothing has to be bound.

use super::code::{Build, Compiled, ListPart, Pattern, Test};
use crate::signature::{Signature, SortId, SymbolId};
use crate::terms::{TermId, Terms};

/// A test of what is in a slot, or where the next slot comes from.
#[derive(Clone, Copy, Debug)]
pub enum Look {
    /// The operator at the top.
    Top(u32, SymbolId),
    /// The next slot is an argument of the term in a slot.
    Argument(u32, u32),
    /// The term itself.
    Ground(u32, TermId),
    /// The sort.
    Sort(u32, SortId),
    /// That it has a sort, not only a kind: then so have the arguments of an operator that is declared once.
    Proper(u32),
    /// The same as in another slot.
    Same(u32, u32),
}

/// A left side as tests, and where variables are.
struct Flat<'a> {
    /// Where sorts follow from declarations alone.
    signature: Option<&'a Signature>,
    looks: Vec<Look>,
    /// New slots by old ones.
    slots: Vec<Option<u32>>,
    count: u32,
}

impl Flat<'_> {
    fn visit(&mut self, pattern: &Pattern, here: u32) {
        match pattern {
            Pattern::Variable { slot, sort } => match self.slots[*slot as usize] {
                Some(known) => self.looks.push(Look::Same(here, known)),
                None => {
                    self.slots[*slot as usize] = Some(here);
                    self.looks.push(Look::Sort(here, *sort));
                }
            },
            Pattern::Ground(_) => {}
            Pattern::Free { symbol, arguments } => {
                let mut proper = false;
                for (at, argument) in arguments.iter().enumerate() {
                    self.looks.push(Look::Argument(here, at as u32));
                    self.count += 1;
                    let inner = self.count - 1;
                    if let Pattern::Variable { slot, sort } = argument
                        && self.slots[*slot as usize].is_none()
                        && self.follows(*symbol, at, *sort)
                    {
                        // What is inside need not be looked at.
                        self.slots[*slot as usize] = Some(inner);
                        if !std::mem::replace(&mut proper, true) {
                            self.looks.push(Look::Proper(here));
                        }
                        continue;
                    }
                    self.look(argument, inner);
                    self.visit(argument, inner);
                }
            }
            _ => unreachable!("it is simple"),
        }
    }

    /// Whether an argument of an operator has a sort if the whole has one.
    fn follows(&self, symbol: SymbolId, at: usize, sort: SortId) -> bool {
        self.signature.is_some_and(|signature| match &signature.symbol(symbol).profiles[..] {
            [profile] => signature.leq(profile.domain[at], sort),
            _ => false,
        })
    }

    /// The test that the top of a pattern is.
    fn look(&mut self, pattern: &Pattern, here: u32) {
        match pattern {
            Pattern::Ground(term) => self.looks.push(Look::Ground(here, *term)),
            Pattern::Free { symbol, .. } => self.looks.push(Look::Top(here, *symbol)),
            _ => {}
        }
    }
}

/// Makes the tests of an equation whose left side is an operator without laws above others of the kind. `eager` says that
/// variables of left sides have normal forms for values, `memberships` that there are some.
pub fn straighten(equation: &mut Compiled, signature: &Signature, eager: bool, memberships: bool) {
    let Pattern::Free { arguments, .. } = &equation.pattern else { return };
    if !arguments.iter().all(super::effects::is_simple) {
        return;
    }
    let mut flat = Flat {
        signature: (!memberships).then_some(signature),
        looks: Vec::new(),
        slots: vec![None; equation.slots as usize],
        count: arguments.len() as u32,
    };
    // Most equations are told from others by the operators of their arguments.
    for (at, argument) in arguments.iter().enumerate() {
        flat.look(argument, at as u32);
    }
    for (at, argument) in arguments.iter().enumerate() {
        flat.visit(argument, at as u32);
    }
    if eager {
        let bound: Vec<bool> = flat.slots.iter().map(Option::is_some).collect();
        take_values(&mut equation.build, &bound);
    }
    // What conditions choose and what is kept comes behind.
    for slot in &mut flat.slots {
        if slot.is_none() {
            *slot = Some(flat.count);
            flat.count += 1;
        }
    }
    let new: Vec<u32> = flat.slots.iter().map(|slot| slot.unwrap_or(0)).collect();
    renumber_build(&mut equation.build, &new);
    for element in equation.elements.iter_mut().flat_map(|(_, elements)| elements) {
        renumber_build(element, &new);
    }
    for test in &mut equation.tests {
        match test {
            Test::Equal(one, two) => {
                renumber_build(one, &new);
                renumber_build(two, &new);
            }
            Test::Holds(one) | Test::Sort(one, _) => renumber_build(one, &new),
            Test::Assign(one, pattern) | Test::Rewrite(one, pattern) => {
                renumber_build(one, &new);
                renumber(pattern, &new);
            }
        }
    }
    renumber(&mut equation.pattern, &new);
    equation.places = new[..equation.variables.len()].to_vec();
    equation.slots = flat.count;
    equation.looks = Some(flat.looks);
}

/// Slots that hold normal forms need not be evaluated.
fn take_values(build: &mut [Build], bound: &[bool]) {
    for one in build {
        if let Build::Slot(slot) = *one
            && bound[slot as usize]
        {
            *one = Build::RawSlot(slot);
        }
    }
}

fn renumber_build(build: &mut [Build], new: &[u32]) {
    for one in build {
        if let Build::Slot(slot) | Build::RawSlot(slot) | Build::Keep(slot) = one {
            *slot = new[*slot as usize];
        }
    }
}

fn renumber(pattern: &mut Pattern, new: &[u32]) {
    match pattern {
        Pattern::Variable { slot, .. } => *slot = new[*slot as usize],
        Pattern::Ground(_) => {}
        Pattern::Free { arguments, .. } => {
            arguments.iter_mut().for_each(|argument| renumber(argument, new));
        }
        Pattern::Pair { one, two, .. } => {
            renumber(one, new);
            renumber(two, new);
        }
        Pattern::Iter { inner, .. } => renumber(inner, new),
        Pattern::Tower { part, over, .. } => {
            renumber(part, new);
            *over = new[*over as usize];
        }
        Pattern::List(list) => {
            for part in &mut list.parts {
                match part {
                    ListPart::Element(element) => renumber(element, new),
                    ListPart::Variable(taker) => taker.slot = new[taker.slot as usize],
                }
            }
            if let Some((left, right)) = &mut list.extension {
                (*left, *right) = (new[*left as usize], new[*right as usize]);
            }
        }
        Pattern::Bag(bag) => {
            bag.elements.iter_mut().for_each(|(element, _)| renumber(element, new));
            bag.takers.iter_mut().for_each(|taker| taker.slot = new[taker.slot as usize]);
        }
    }
}

/// Whether the terms from a place of the stack on pass the tests; what is inside of them is pushed.
#[inline]
pub fn passes(
    signature: &Signature,
    terms: &Terms,
    stack: &mut Vec<TermId>,
    base: usize,
    looks: &[Look],
) -> bool {
    for look in looks {
        let passed = match *look {
            Look::Top(slot, symbol) => terms.has_top(stack[base + slot as usize], symbol),
            Look::Argument(slot, at) => {
                let argument = terms.row(stack[base + slot as usize])[at as usize];
                stack.push(TermId(argument));
                true
            }
            Look::Ground(slot, term) => stack[base + slot as usize] == term,
            Look::Sort(slot, sort) => signature.leq(terms.sort(stack[base + slot as usize]), sort),
            Look::Proper(slot) => !signature.is_kind(terms.sort(stack[base + slot as usize])),
            Look::Same(slot, other) => stack[base + slot as usize] == stack[base + other as usize],
        };
        if !passed {
            return false;
        }
    }
    true
}
