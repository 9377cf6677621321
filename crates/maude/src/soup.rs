//! States that are bags, perhaps inside of operators such as braces: their elements are the slots of the state.
//!
//! Rules then touch what they name. Where the elements tell by themselves what rules do to them, a step takes some slots
//! out and puts others in; no term of the whole state is made.

use lts::LabelId;
use model::{Slot, Step};

use crate::engine::code::{Code, Pattern};
use crate::engine::{Engine, Stop};
use crate::model::{Border, MaudeModel};
use crate::signature::{SymbolId, Theory};
use crate::terms::{TermId, Terms};

/// What a row begins with that is an element and how often it is there. No operator has this number.
pub(crate) const SEVERAL: u32 = u32::MAX;

/// The largest number of different elements that have slots.
const MOST: usize = 96;

/// The operators around a bag, outer ones first, and the bag's.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    around: Vec<SymbolId>,
    bag: SymbolId,
    /// How many different elements have slots.
    most: usize,
    /// Whether rules are about elements alone.
    local: bool,
}

impl Shape {
    /// The shape of an initial term, if it is a bag.
    pub(crate) fn of(code: &Code, terms: &Terms, term: TermId) -> Option<Self> {
        let mut around = Vec::new();
        let mut here = term;
        loop {
            let symbol = terms.symbol(here)?;
            let data = code.signature.symbol(symbol);
            match data.theory {
                Theory::Free if data.arity() == 1 => {
                    around.push(symbol);
                    here = TermId(terms.row(here)[0]);
                }
                Theory::Bag => {
                    let count = terms.row(here).len() / 2;
                    let most = (count + count / 2 + 8).min(MOST);
                    let plain = |symbol: &SymbolId| code.inert[symbol.0 as usize];
                    let open = |symbol: &SymbolId| {
                        let frozen = code.signature.symbol(*symbol).frozen[0];
                        !frozen && code.rules_of[symbol.0 as usize].is_empty()
                    };
                    let rules = &code.rules_of[symbol.0 as usize];
                    let local = around.iter().chain([&symbol]).all(plain)
                        && around.iter().all(open)
                        && !data.frozen[0]
                        && rules.iter().all(|&rule| code.rules[rule as usize].local);
                    return (count <= most).then_some(Self { around, bag: symbol, most, local });
                }
                _ => return None,
            }
        }
    }

    /// How many slots a state has.
    pub(crate) fn width(&self) -> usize {
        self.most + 1
    }

    /// The bag in a term of this shape with not too many elements.
    fn bag_in(&self, terms: &Terms, term: TermId) -> Option<TermId> {
        let mut here = term;
        for &symbol in &self.around {
            if !terms.has_top(here, symbol) {
                return None;
            }
            here = TermId(terms.row(here)[0]);
        }
        (terms.has_top(here, self.bag) && terms.row(here).len() <= 2 * self.most).then_some(here)
    }

    /// The term around a bag.
    pub(crate) fn wrap(&self, code: &Code, terms: &mut Terms, bag: TermId) -> TermId {
        self.around.iter().rev().fold(bag, |term, &symbol| terms.make(&code.signature, symbol, &[term]))
    }

    /// The bag of elements that are sorted.
    pub(crate) fn bag_of(&self, code: &Code, terms: &mut Terms, parts: &[(TermId, u32)]) -> TermId {
        terms.made_bag(&code.signature, self.bag, parts)
    }
}

/// An element of the state that is being looked at.
#[derive(Clone, Copy, Debug)]
struct Part {
    term: TermId,
    times: u32,
    /// The number of the slot; zero where it has to be found.
    slot: u32,
}

/// The elements of a state and of its successors, used again and again.
#[derive(Default)]
pub(crate) struct Soup {
    parts: Vec<Part>,
    lists: Vec<usize>,
    next: Vec<Part>,
    target: Vec<Slot>,
}

impl Soup {
    /// The slots of a state.
    pub(crate) fn slots(
        &mut self,
        shape: Option<&Shape>,
        border: &mut Border<'_>,
        engine: &Engine,
        term: TermId,
    ) -> &[Slot] {
        self.target.clear();
        let Some(shape) = shape else {
            self.target.push(border.shared_number(engine, term));
            return &self.target;
        };
        match shape.bag_in(&engine.terms, term) {
            Some(bag) => {
                self.target.push(0);
                for pair in engine.terms.row(bag).as_chunks::<2>().0 {
                    self.target.push(border.part_number(engine, TermId(pair[0]), pair[1]) + 1);
                }
            }
            None => self.target.push(border.shared_number(engine, term) + 1),
        }
        self.target.resize(shape.width(), 0);
        &self.target
    }

    /// The term of a state.
    pub(crate) fn term(
        &mut self,
        shape: Option<&Shape>,
        border: &mut Border<'_>,
        engine: &mut Engine,
        state: &[Slot],
    ) -> TermId {
        let Some(shape) = shape else { return border.own_term(engine, state[0]) };
        if let Some(whole) = state[0].checked_sub(1) {
            return border.own_term(engine, whole);
        }
        let parts: Vec<(TermId, u32)> = state[1..]
            .iter()
            .map_while(|slot| slot.checked_sub(1))
            .map(|number| border.own_part(engine, number))
            .collect();
        let code = border.code;
        let bag = shape.bag_of(code, &mut engine.terms, &parts);
        engine.sort_of(code, bag, true);
        let mut term = bag;
        for &symbol in shape.around.iter().rev() {
            term = engine.terms.make(&code.signature, symbol, &[term]);
            engine.sort_of(code, term, true);
        }
        term
    }

    /// The steps of a state whose elements tell all. False if they do not, and nothing was emitted.
    pub(crate) fn steps(
        &mut self,
        model: &MaudeModel,
        shape: &Shape,
        border: &mut Border<'_>,
        engine: &mut Engine,
        state: &[Slot],
        emit: &mut dyn FnMut(Step<'_>),
    ) -> Result<bool, Stop> {
        if !shape.local || state[0] != 0 {
            return Ok(false);
        }
        let code = border.code;
        self.parts.clear();
        engine.begin();
        for slot in state[1..].iter().copied().take_while(|&slot| slot != 0) {
            let (term, times) = border.own_part(engine, slot - 1);
            self.parts.push(Part { term, times, slot });
        }
        // In use while effects are looked for.
        for part in &self.parts {
            engine.stack.push(part.term);
        }
        if !self.find_effects(code, shape, engine)? {
            return Ok(false);
        }
        for &rule in &code.rules_of[shape.bag.0 as usize] {
            for place in 0..self.parts.len() {
                self.apply(model, shape, border, engine, place, Some(rule), emit)?;
            }
        }
        for place in 0..self.parts.len() {
            self.apply(model, shape, border, engine, place, None, emit)?;
        }
        Ok(true)
    }

    /// Finds what rules do to the elements, as far as it happens here. False if they do not tell all.
    fn find_effects(&mut self, code: &Code, shape: &Shape, engine: &mut Engine) -> Result<bool, Stop> {
        // Garbage that is collected on the way takes what was found before with it.
        for _ in 0..3 {
            let collections = engine.collections;
            self.lists.clear();
            for part in &self.parts {
                let list = engine.effects_of(code, shape.bag, part.term);
                if !engine.effects(list).complete {
                    return Ok(false);
                }
                self.lists.push(list);
            }
            for place in 0..self.parts.len() {
                for at in 0..engine.effects(self.lists[place]).effects.len() {
                    let effect = &engine.effects(self.lists[place]).effects[at];
                    if effect.solutions.is_none() && self.has_partners(place, &effect.partners) {
                        let (element, rule) = (self.parts[place].term, effect.rule);
                        engine.solve_effect(code, shape.bag, element, rule)?;
                    }
                    if engine.collections != collections {
                        break;
                    }
                }
                if engine.collections != collections {
                    break;
                }
            }
            if engine.collections == collections {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The steps of a rule for bags that an element is the first to take part in, or those of rules for the element.
    #[allow(clippy::too_many_arguments)]
    fn apply(
        &mut self,
        model: &MaudeModel,
        shape: &Shape,
        border: &mut Border<'_>,
        engine: &mut Engine,
        place: usize,
        rule: Option<u32>,
        emit: &mut dyn FnMut(Step<'_>),
    ) -> Result<(), Stop> {
        let code = border.code;
        for at in 0..engine.effects(self.lists[place]).effects.len() {
            let effect = &engine.effects(self.lists[place]).effects[at];
            let wanted = match rule {
                Some(rule) => effect.rule == rule,
                None => !matches!(code.rules[effect.rule as usize].pattern, Pattern::Bag(_)),
            };
            if !wanted || !self.has_partners(place, &effect.partners) {
                continue;
            }
            let number = effect.rule as usize;
            for solution in 0..effect.solutions.as_ref().map_or(0, Vec::len) {
                engine.rewrites += 1;
                engine.check()?;
                let effect = &engine.effects(self.lists[place]).effects[at];
                let hint = self.take(place, &effect.partners);
                for &added in effect.solutions.iter().flat_map(|solutions| &solutions[solution]) {
                    self.put(code, shape, engine, added, hint);
                }
                self.finish(code, shape, border, engine);
                let label = LabelId::from_raw(model.label_of[number]);
                emit(Step { label, target: &self.target, origin: model.origin_of[number] });
            }
        }
        Ok(())
    }

    /// Whether the partners of an element are there, as often as they are needed.
    fn has_partners(&self, place: usize, partners: &[TermId]) -> bool {
        partners.iter().enumerate().all(|(at, &partner)| {
            let before = partners[..at].iter().filter(|&&other| other == partner).count();
            let needed = 1 + before as u32 + u32::from(self.parts[place].term == partner);
            self.parts.iter().any(|part| part.term == partner && part.times >= needed)
        })
    }

    /// The elements without one and its partners; where that one was.
    fn take(&mut self, place: usize, partners: &[TermId]) -> usize {
        self.next.clear();
        let mut hint = 0;
        for (at, part) in self.parts.iter().enumerate() {
            let mut taken = u32::from(at == place);
            for &partner in partners {
                taken += u32::from(partner == part.term);
            }
            if at == place {
                hint = self.next.len();
            }
            if taken == 0 {
                self.next.push(*part);
            } else if part.times > taken {
                self.next.push(Part { times: part.times - taken, slot: 0, ..*part });
            }
        }
        hint
    }

    /// Adds the elements of a term; most of them belong where one was taken away.
    fn put(&mut self, code: &Code, shape: &Shape, engine: &Engine, added: TermId, hint: usize) {
        let terms = &engine.terms;
        if !terms.has_top(added, shape.bag) {
            if code.signature.symbol(shape.bag).identity() != Some(added) {
                self.put_one(terms, added, 1, hint);
            }
            return;
        }
        for pair in terms.row(added).as_chunks::<2>().0 {
            self.put_one(terms, TermId(pair[0]), pair[1], hint);
        }
    }

    fn put_one(&mut self, terms: &Terms, term: TermId, times: u32, hint: usize) {
        let less = |part: &Part| terms.compare(part.term, term).is_lt();
        let next = &mut self.next;
        let fits = hint <= next.len()
            && (hint == 0 || less(&next[hint - 1]))
            && next.get(hint).is_none_or(|part| !less(part));
        let at = if fits { hint } else { next.partition_point(less) };
        match next.get_mut(at) {
            Some(part) if part.term == term => (part.times, part.slot) = (part.times + times, 0),
            _ => next.insert(at, Part { term, times, slot: 0 }),
        }
    }

    /// The slots of the next state.
    fn finish(&mut self, code: &Code, shape: &Shape, border: &mut Border<'_>, engine: &mut Engine) {
        self.target.clear();
        let has_slots = match self.next[..] {
            [] => false,
            [part] => part.times > 1,
            _ => self.next.len() <= shape.most,
        };
        if has_slots {
            self.target.push(0);
            for part in &self.next {
                self.target.push(match part.slot {
                    0 => border.part_number(engine, part.term, part.times) + 1,
                    slot => slot,
                });
            }
        } else {
            let parts: Vec<(TermId, u32)> = self.next.iter().map(|part| (part.term, part.times)).collect();
            let bag = shape.bag_of(code, &mut engine.terms, &parts);
            let term = shape.wrap(code, &mut engine.terms, bag);
            self.target.push(border.shared_number(engine, term) + 1);
        }
        self.target.resize(shape.width(), 0);
    }
}
