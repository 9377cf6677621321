//! What rules do to elements of a bag, found once for each element.
//!
//! States of concurrent systems are bags of many elements, of which a rule touches one or two. What it makes of them does
//! not depend on the others: so it is noted with the element, and the next state with the same one only has to look
//! whether the partners are there ([`crate::soup`]).

use rustc_hash::FxHashSet;

use super::code::{BagPattern, Code, Compiled, Pattern};
use super::matching::Goal;
use super::{Engine, Stop};
use crate::signature::SymbolId;
use crate::terms::TermId;

/// What one rule does to an element and its partners.
#[derive(Clone, Debug)]
pub(crate) struct Effect {
    /// The rule.
    pub(crate) rule: u32,
    /// What has to be there besides, as often as it is here.
    pub(crate) partners: Vec<TermId>,
    /// The elements that come instead, for every solution of the condition. It is looked for when the partners are there for
    /// the first time: it might not even come to an end where nobody asks for it.
    pub(crate) solutions: Option<Vec<Vec<TermId>>>,
}

/// The effects on elements of bags.
#[derive(Debug, Default)]
pub(super) struct Effects {
    /// The collection of garbage since which it is valid.
    since: u64,
    /// By the number of an element: the place of its effects plus one.
    places: Vec<u32>,
    lists: Vec<List>,
}

/// The effects on an element of a bag.
#[derive(Debug)]
pub(crate) struct List {
    bag: SymbolId,
    /// The effects of rules that are local.
    pub(crate) effects: Vec<Effect>,
    /// Whether there are no others: all rules for the element are local, and none applies to a part of it.
    pub(crate) complete: bool,
}

/// Whether a pattern matches a term in one way, and only operators without laws are above its variables.
pub(super) fn is_simple(pattern: &Pattern) -> bool {
    match pattern {
        Pattern::Variable { .. } | Pattern::Ground(_) => true,
        Pattern::Free { arguments, .. } => arguments.iter().all(is_simple),
        _ => false,
    }
}

fn slots_of(pattern: &Pattern, slots: &mut Vec<u32>) {
    match pattern {
        Pattern::Variable { slot, .. } => slots.push(*slot),
        Pattern::Free { arguments, .. } => arguments.iter().for_each(|argument| slots_of(argument, slots)),
        _ => {}
    }
}

/// Whether a pattern has all the variables of another one.
pub(super) fn covers(pattern: &Pattern, other: &Pattern) -> bool {
    let (mut own, mut others) = (Vec::new(), Vec::new());
    slots_of(pattern, &mut own);
    slots_of(other, &mut others);
    others.iter().all(|slot| own.contains(slot))
}

/// Whether the first element of a bag says what the others are, and everything else is left over.
pub(super) fn is_local_bag(bag: &BagPattern) -> bool {
    let Some(((first, _), others)) = bag.elements.split_first() else { return false };
    bag.takers.iter().all(|taker| taker.extension)
        && bag.takers.len() == 1
        && bag.elements.iter().all(|(element, times)| {
            *times == 1 && is_simple(element) && matches!(element, Pattern::Free { .. })
        })
        && others.iter().all(|(other, _)| covers(first, other))
        && bag.elements.len() + bag.ground.len() > 1
}

/// Whether a left side is one element of whatever is around it.
pub(super) fn is_local_element(pattern: &Pattern) -> bool {
    matches!(pattern, Pattern::Free { .. }) && is_simple(pattern)
}

impl Engine {
    /// The place of the effects on an element. No garbage is collected.
    pub(crate) fn effects_of(&mut self, code: &Code, symbol: SymbolId, element: TermId) -> usize {
        let collections = self.collections;
        let effects = self.effects.as_deref_mut().expect("they are noted");
        if effects.since != collections {
            *effects = Effects { since: collections, ..Effects::default() };
        }
        let at = element.0 as usize;
        if effects.places.len() <= at {
            effects.places.resize(at + 1, 0);
        }
        if let Some(list) = effects.places[at].checked_sub(1)
            && effects.lists[list as usize].bag == symbol
        {
            return list as usize;
        }
        let complete = self.is_alone(code, element);
        let found = self.find_effects(code, symbol, element);
        let effects = self.effects.as_deref_mut().expect("they are noted");
        effects.lists.push(List { bag: symbol, effects: found, complete });
        effects.places[at] = effects.lists.len() as u32;
        effects.lists.len() - 1
    }

    /// Finds what comes instead of an element and its partners by a rule. Garbage may be collected; the element has to be in
    /// use.
    pub(crate) fn solve_effect(
        &mut self,
        code: &Code,
        symbol: SymbolId,
        element: TermId,
        number: u32,
    ) -> Result<(), Stop> {
        let rule = &code.rules[number as usize];
        let pattern = match &rule.pattern {
            Pattern::Bag(bag) => &bag.elements[0].0,
            pattern => pattern,
        };
        let (kept, base) = (self.kept.len(), self.stack.len());
        self.stack.resize(base + rule.slots as usize, TermId::NONE);
        let mark = self.trail.len();
        let mut goals: Vec<Goal<'_>> = Vec::new();
        let solutions = match self.match_simple(code, pattern, element, base, &mut goals) {
            true => self.solutions(code, rule, base, symbol),
            false => Ok(Vec::new()),
        };
        self.undo(mark);
        self.stack.truncate(base);
        // What was found is in use up to here.
        self.kept.truncate(kept);
        let solutions = solutions?;
        let list = self.effects_of(code, symbol, element);
        let effects = self.effects.as_deref_mut().expect("they are noted");
        let mut list = effects.lists[list].effects.iter_mut();
        if let Some(effect) = list.find(|effect| effect.rule == number) {
            effect.solutions = Some(solutions);
        }
        Ok(())
    }

    /// The effects at a place that [`effects_of`](Self::effects_of) gave since the last collection of garbage.
    pub(crate) fn effects(&self, place: usize) -> &List {
        &self.effects.as_deref().expect("they are noted").lists[place]
    }

    /// Whether rules for an element are local, and none applies to a part of it.
    fn is_alone(&self, code: &Code, element: TermId) -> bool {
        let steps = |term: TermId| self.terms.symbol(term).is_some_and(|top| code.steps(top));
        let mut todo = Vec::new();
        self.terms.for_arguments(element, |argument| todo.push(argument));
        let mut seen = FxHashSet::default();
        while let Some(term) = todo.pop() {
            if steps(term) {
                return false;
            }
            if seen.insert(term) {
                self.terms.for_arguments(term, |argument| todo.push(argument));
            }
        }
        let local = |&rule: &u32| code.rules[rule as usize].local;
        self.terms.symbol(element).is_none_or(|top| code.rules_of[top.0 as usize].iter().all(local))
    }

    /// Finds the effects on an element of a bag.
    fn find_effects(&mut self, code: &Code, symbol: SymbolId, element: TermId) -> Vec<Effect> {
        let mut effects = Vec::new();
        let top = self.terms.symbol(element);
        let own = top.map_or(&[][..], |top| &code.rules_of[top.0 as usize]);
        for &number in code.rules_of[symbol.0 as usize].iter().chain(own) {
            let rule = &code.rules[number as usize];
            if !rule.local {
                continue;
            }
            let (pattern, bag) = match &rule.pattern {
                Pattern::Bag(bag) if bag.symbol == symbol => (&bag.elements[0].0, Some(bag)),
                Pattern::Bag(_) => continue,
                pattern => (pattern, None),
            };
            let base = self.stack.len();
            self.stack.resize(base + rule.slots as usize, TermId::NONE);
            let mark = self.trail.len();
            let mut goals: Vec<Goal<'_>> = Vec::new();
            if self.match_simple(code, pattern, element, base, &mut goals) {
                let mut partners = Vec::new();
                if let Some(bag) = bag {
                    for &(term, times) in &bag.ground {
                        partners.extend(std::iter::repeat_n(term, times as usize));
                    }
                    for (other, _) in &bag.elements[1..] {
                        partners.push(self.instantiate(code, other, base));
                    }
                }
                effects.push(Effect { rule: number, partners, solutions: None });
            }
            self.undo(mark);
            self.stack.truncate(base);
        }
        effects
    }

    /// What comes instead of the elements, for every solution of a rule's condition.
    fn solutions(
        &mut self,
        code: &Code,
        rule: &Compiled,
        base: usize,
        symbol: SymbolId,
    ) -> Result<Vec<Vec<TermId>>, Stop> {
        let mut solutions = Vec::new();
        self.conditions(code, rule, 0, base, &mut |engine| {
            let top = engine.stack.len();
            engine
                .push_elements(code, rule, base, symbol)
                .map_err(|stop| engine.at_equation(code, stop, rule, base))?;
            let elements = engine.stack[top..].to_vec();
            engine.stack.truncate(top);
            engine.kept.extend(&elements);
            solutions.push(elements);
            Ok(false)
        })?;
        Ok(solutions)
    }

    /// The term of a simple pattern whose variables have values.
    fn instantiate(&mut self, code: &Code, pattern: &Pattern, base: usize) -> TermId {
        match pattern {
            Pattern::Variable { slot, .. } => self.stack[base + *slot as usize],
            Pattern::Ground(term) => *term,
            Pattern::Free { symbol, arguments } => {
                let arguments: Vec<TermId> =
                    arguments.iter().map(|argument| self.instantiate(code, argument, base)).collect();
                self.terms.make(&code.signature, *symbol, &arguments)
            }
            _ => unreachable!("it is simple"),
        }
    }
}
