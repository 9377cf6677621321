//! Rules: the steps of a term, rewriting to an end, and searching.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::builtin::Builtin;
use super::code::{Code, Compiled, Pattern};
use super::matching::Found;
use super::{Engine, Stop};
use crate::signature::{SymbolId, Theory};
use crate::syntax::tree::ObjectRole;
use crate::terms::{TermId, Top};

/// A step that was found: the rule, where its frame is, and the whole term after it, a normal form.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Position in the code's rules.
    pub rule: usize,
    /// Where the values of its variables are on the stack.
    pub base: usize,
    /// The term after it.
    pub result: TermId,
}

/// A place in a term.
#[derive(Clone, Copy, Debug)]
pub(super) struct Position {
    term: TermId,
    parent: u32,
    argument: u32,
}

impl Engine {
    /// Calls `found` for the steps of a term, a normal form, until it says that this is enough: outer places first, rules
    /// in the order of the source.
    pub fn steps(
        &mut self,
        code: &Code,
        term: TermId,
        found: &mut dyn FnMut(&mut Engine, Step) -> Result<bool, Stop>,
    ) -> Result<bool, Stop> {
        let top = self.stack.len();
        self.stack.push(term);
        let mut positions = std::mem::take(&mut self.positions);
        positions.clear();
        positions.push(Position { term, parent: u32::MAX, argument: 0 });
        let mut at = 0;
        let mut over = false;
        while at < positions.len() && !over {
            let here = positions[at];
            self.add_arguments(code, here.term, at, &mut positions);
            if let Top::Symbol(symbol) = self.terms.top(here.term) {
                for &number in &code.rules_of[symbol.0 as usize] {
                    over = self.apply_rule(code, number as usize, &positions, at, found)?;
                    if over {
                        break;
                    }
                }
            }
            at += 1;
        }
        self.positions = positions;
        self.stack.truncate(top);
        Ok(over)
    }

    /// Adds the arguments that rules may apply to.
    fn add_arguments(&self, code: &Code, term: TermId, at: usize, positions: &mut Vec<Position>) {
        let Some(symbol) = self.terms.symbol(term) else { return };
        if !code.reaches_rules[symbol.0 as usize] {
            return;
        }
        let data = code.signature.symbol(symbol);
        let row = self.terms.row(term);
        let mut add = |term: u32, argument: usize| {
            let Some(top) = self.terms.symbol(TermId(term)) else { return };
            if !code.steps(top) && !code.reaches_rules[top.0 as usize] {
                return;
            }
            positions.push(Position { term: TermId(term), parent: at as u32, argument: argument as u32 });
        };
        match data.theory {
            Theory::Free | Theory::Pair => {
                for (argument, &term) in row.iter().enumerate() {
                    let twice = argument == 1 && data.comm && row[0] == term;
                    if !data.frozen[argument] && !twice {
                        add(term, argument);
                    }
                }
            }
            Theory::List if !data.frozen[0] => {
                row.iter().enumerate().for_each(|(argument, &term)| add(term, argument))
            }
            Theory::Bag if !data.frozen[0] => {
                let pairs = row.as_chunks::<2>().0;
                pairs.iter().enumerate().for_each(|(argument, pair)| add(pair[0], argument));
            }
            Theory::Iter if !data.frozen[0] => add(row[0], 0),
            _ => {}
        }
    }

    fn apply_rule(
        &mut self,
        code: &Code,
        number: usize,
        positions: &[Position],
        at: usize,
        found: &mut dyn FnMut(&mut Engine, Step) -> Result<bool, Stop>,
    ) -> Result<bool, Stop> {
        let rule = &code.rules[number];
        if !rule.needs.is_empty() {
            let row = self.terms.row(positions[at].term);
            let lacks = |&(at, top): &(u32, SymbolId)| !self.terms.has_top(TermId(row[at as usize]), top);
            if rule.needs.iter().any(lacks) {
                return Ok(false);
            }
        }
        let base = self.stack.len();
        self.stack.resize(base + rule.slots as usize, TermId::NONE);
        let mark = self.trail.len();
        let rests = self.rests.len();
        let mut goals = Vec::new();
        let mut over = false;
        if self.match_simple(code, &rule.pattern, positions[at].term, base, &mut goals) {
            over = self.solve(code, &mut goals, base, &mut |engine| {
                engine.conditions(code, rule, 0, base, &mut |engine| {
                    let inner = engine.trail.len();
                    let top = engine.stack.len();
                    engine.rewrites += 1;
                    engine.check().map_err(|stop| engine.at_equation(code, stop, rule, base))?;
                    let result = engine.result_of(code, rule, base, positions, at)?;
                    engine.stack.push(result);
                    let over = found(engine, Step { rule: number, base, result })?;
                    engine.stack.truncate(top);
                    debug_assert_eq!(engine.trail.len(), inner);
                    Ok(over)
                })
            })?;
        }
        self.undo(mark);
        self.drop_rests(rests);
        self.stack.truncate(base);
        Ok(over)
    }

    /// The whole term after a rule was applied at a place.
    fn result_of(
        &mut self,
        code: &Code,
        rule: &Compiled,
        base: usize,
        positions: &[Position],
        at: usize,
    ) -> Result<TermId, Stop> {
        let top = self.stack.len();
        let mut here = positions[at];
        let around = self.extension(rule, base);
        // The bag that the right side becomes a part of.
        let bag = match around {
            Some((symbol, TermId::LATER, _)) => Some(symbol),
            None if here.parent != u32::MAX => {
                let symbol = self.terms.symbol(positions[here.parent as usize].term);
                symbol.filter(|&symbol| code.signature.symbol(symbol).theory == Theory::Bag)
            }
            _ => None,
        };
        let mut value = if let Some(symbol) = bag {
            self.push_elements(code, rule, base, symbol)?;
            let whole = if around.is_some() {
                self.with_rest(code, symbol, top)
            } else {
                let parent = positions[here.parent as usize];
                let argument = here.argument as usize;
                here = parent;
                self.exchanged(code, symbol, parent.term, argument, top)
            };
            self.stack.truncate(top);
            self.settled(code, symbol, whole)?
        } else {
            self.value(code, &rule.build, base)?
        };
        if let Some(around) = around.filter(|_| bag.is_none()) {
            value = self.put_back(code, around, value)?;
        }
        self.upwards(code, positions, here, value)
    }

    /// The whole term with another one at a place.
    fn upwards(
        &mut self,
        code: &Code,
        positions: &[Position],
        mut here: Position,
        mut value: TermId,
    ) -> Result<TermId, Stop> {
        while here.parent != u32::MAX {
            let parent = positions[here.parent as usize];
            value = self.replaced(code, parent.term, here.argument as usize, value)?;
            here = parent;
        }
        Ok(value)
    }

    /// Pushes the values of the elements that a right side is made of, or that of the whole.
    pub(super) fn push_elements(
        &mut self,
        code: &Code,
        rule: &Compiled,
        base: usize,
        symbol: SymbolId,
    ) -> Result<(), Stop> {
        match &rule.elements {
            Some((own, elements)) if *own == symbol => {
                for element in elements {
                    let value = self.value(code, element, base)?;
                    self.stack.push(value);
                }
            }
            _ => {
                let value = self.value(code, &rule.build, base)?;
                self.stack.push(value);
            }
        }
        Ok(())
    }

    /// A bag with the terms on the stack from `top` on instead of one of its elements.
    fn exchanged(
        &mut self,
        code: &Code,
        symbol: SymbolId,
        bag: TermId,
        argument: usize,
        top: usize,
    ) -> TermId {
        let mut parts = std::mem::take(&mut self.parts);
        parts.clear();
        for (at, pair) in self.terms.row(bag).as_chunks::<2>().0.iter().enumerate() {
            let times = pair[1] - u32::from(at == argument);
            if times > 0 {
                parts.push((TermId(pair[0]), times));
            }
        }
        let term = self.terms.made_bag_with(&code.signature, symbol, &mut parts, &self.stack[top..]);
        self.parts = parts;
        term
    }

    /// The normal form of a bag whose elements are normal forms.
    fn settled(&mut self, code: &Code, symbol: SymbolId, term: TermId) -> Result<TermId, Stop> {
        if self.terms.is_reduced(term) {
            return Ok(term);
        }
        if code.inert[symbol.0 as usize] && self.terms.has_top(term, symbol) {
            self.terms.renew_sort(&code.signature, term);
            self.terms.set_reduced(term);
            return Ok(term);
        }
        self.stack.push(term);
        self.apply(code, symbol, 1)
    }

    /// What a rule has made of a part, with what was left over around it.
    pub(super) fn put_back(
        &mut self,
        code: &Code,
        (symbol, left, right): (SymbolId, TermId, TermId),
        value: TermId,
    ) -> Result<TermId, Stop> {
        if code.signature.symbol(symbol).theory == Theory::Iter {
            let (count, _) = self.terms.iterations(left);
            self.stack.push(value);
            return self.iterate(code, symbol, &count);
        }
        let top = self.stack.len();
        self.stack.extend([left, value, right].into_iter().filter(|&part| part != TermId::NONE));
        self.apply(code, symbol, self.stack.len() - top)
    }

    /// A term with another argument at one place, evaluated.
    pub(super) fn replaced(
        &mut self,
        code: &Code,
        term: TermId,
        argument: usize,
        value: TermId,
    ) -> Result<TermId, Stop> {
        let symbol = self.terms.symbol(term).expect("it has arguments");
        let data = code.signature.symbol(symbol);
        match data.theory {
            Theory::Bag => {
                let top = self.stack.len();
                self.stack.push(value);
                let bag = self.exchanged(code, symbol, term, argument, top);
                self.stack.truncate(top);
                self.settled(code, symbol, bag)
            }
            Theory::Iter => {
                let (count, _) = self.terms.iterations(term);
                self.stack.push(value);
                self.iterate(code, symbol, &count)
            }
            _ => {
                let length = self.terms.row(term).len();
                for at in 0..length {
                    let own = TermId(self.terms.row(term)[at]);
                    self.stack.push(if at == argument { value } else { own });
                }
                self.apply(code, symbol, length)
            }
        }
    }

    /// Calls `found` for every way in which a term that can be reached by rules matches a pattern.
    pub(super) fn reachable(
        &mut self,
        code: &Code,
        start: TermId,
        pattern: &Pattern,
        base: usize,
        found: Found<'_>,
    ) -> Result<bool, Stop> {
        // A rule may ask in its condition for what it is itself needed for. Such a search takes more room than a call.
        const ROOM: u32 = 16;
        self.nested(ROOM, "conditions", |engine| engine.reachable_here(code, start, pattern, base, found))
    }

    fn reachable_here(
        &mut self,
        code: &Code,
        start: TermId,
        pattern: &Pattern,
        base: usize,
        found: Found<'_>,
    ) -> Result<bool, Stop> {
        // All states stay on the stack, so that they are not collected.
        let first = self.stack.len();
        self.stack.push(start);
        let mut known: FxHashMap<TermId, ()> = FxHashMap::default();
        known.insert(start, ());
        let mut states = vec![start];
        let mut at = 0;
        while at < states.len() {
            let state = states[at];
            at += 1;
            if self.match_then(code, pattern, state, base, found)? {
                return Ok(true);
            }
            let mut next = Vec::new();
            let outer = std::mem::take(&mut self.positions);
            let kept = self.kept.len();
            let result = self.steps(code, state, &mut |engine, step| {
                if known.insert(step.result, ()).is_none() {
                    next.push(step.result);
                    engine.kept.push(step.result);
                }
                Ok(false)
            });
            self.positions = outer;
            result?;
            self.kept.truncate(kept);
            self.stack.extend(&next);
            states.append(&mut next);
        }
        self.stack.truncate(first);
        Ok(false)
    }

    /// Rewrites a term with rules, outer places first, until none applies or so many were applied. The term after it, and
    /// how many rules were applied.
    pub fn rewrite(&mut self, term: TermId, most: Option<u64>) -> Result<(TermId, u64), Stop> {
        let code = self.code.clone();
        let mut current = self.reduce(term)?;
        self.stack.push(current);
        let place = self.stack.len() - 1;
        let mut done = 0;
        while most.is_none_or(|most| done < most) {
            let next = self.rewrite_once(&code, current)?;
            let Some(next) = next else { break };
            current = next;
            self.stack.truncate(place + 1);
            self.stack[place] = current;
            done += 1;
        }
        self.stack.truncate(place);
        Ok((current, done))
    }

    /// One step, with rules that take turns.
    fn rewrite_once(&mut self, code: &Code, term: TermId) -> Result<Option<TermId>, Stop> {
        let mut positions = vec![Position { term, parent: u32::MAX, argument: 0 }];
        let mut at = 0;
        while at < positions.len() {
            let here = positions[at];
            self.add_arguments(code, here.term, at, &mut positions);
            if let Some(next) = self.turn(code, &positions, at)? {
                return Ok(Some(next));
            }
            at += 1;
        }
        Ok(None)
    }

    /// Tries the rules for a place, beginning with the one whose turn it is.
    fn turn(&mut self, code: &Code, positions: &[Position], at: usize) -> Result<Option<TermId>, Stop> {
        let Some(symbol) = self.terms.symbol(positions[at].term) else { return Ok(None) };
        if let Some(Builtin::Counter) = code.builtins[symbol.0 as usize] {
            let number = num_bigint::BigInt::from(self.counter);
            self.counter += 1;
            self.rewrites += 1;
            let Some(value) = self.number(code, &number) else { return Ok(None) };
            return self.upwards(code, positions, positions[at], value).map(Some);
        }
        let rules = &code.rules_of[symbol.0 as usize];
        for _ in 0..rules.len() {
            let turn = self.rule_turns[symbol.0 as usize] as usize % rules.len();
            self.rule_turns[symbol.0 as usize] = (turn as u32 + 1) % rules.len() as u32;
            let mut result = None;
            self.apply_rule(code, rules[turn] as usize, positions, at, &mut |_, step| {
                result = Some(step.result);
                Ok(true)
            })?;
            if result.is_some() {
                return Ok(result);
            }
        }
        Ok(None)
    }

    /// Begins rewriting with every rule's first turn.
    pub fn reset_turns(&mut self) {
        self.rule_turns.fill(0);
    }

    /// Rewrites fairly: in every round each place gets its turn, up to so many times.
    pub fn fair_rewrite(
        &mut self,
        term: TermId,
        most: Option<u64>,
        each: u64,
    ) -> Result<(TermId, u64), Stop> {
        let code = self.code.clone();
        let mut current = self.reduce(term)?;
        let place = self.stack.len();
        self.stack.push(current);
        let mut done = 0;
        loop {
            let before = done;
            // Inner places first, each with its own share; a place is known by the way to it.
            let next = self.fair_round(&code, current, each, most, &mut done)?;
            self.stack.truncate(place);
            self.stack.push(next);
            current = next;
            if done == before || most.is_some_and(|most| done >= most) {
                self.stack.truncate(place);
                return Ok((current, done));
            }
        }
    }

    /// One round on a term: its arguments, then its top.
    fn fair_round(
        &mut self,
        code: &Code,
        term: TermId,
        each: u64,
        most: Option<u64>,
        done: &mut u64,
    ) -> Result<TermId, Stop> {
        let Some(symbol) = self.terms.symbol(term) else { return Ok(term) };
        let top = self.stack.len();
        self.stack.push(term);
        let mut current = term;
        if self.is_configuration(code, symbol) {
            current = self.fair_objects(code, symbol, current, done)?;
            self.stack.truncate(top);
            return Ok(current);
        }
        if code.reaches_rules[symbol.0 as usize] {
            let data = code.signature.symbol(symbol);
            let arguments = self.terms.arguments(term);
            let mut changed = false;
            let mut values = Vec::new();
            for (at, &argument) in arguments.iter().enumerate() {
                let frozen = data.frozen[at.min(data.frozen.len() - 1)];
                let value = match frozen || most.is_some_and(|most| *done >= most) {
                    true => argument,
                    false => self.fair_round(code, argument, each, most, done)?,
                };
                changed |= value != argument;
                self.stack.push(value);
                values.push(value);
            }
            if changed {
                let count = values.len();
                current = match data.theory {
                    Theory::Iter => {
                        let (count, _) = self.terms.iterations(term);
                        self.iterate(code, symbol, &count)?
                    }
                    _ => self.apply(code, symbol, count)?,
                };
                self.stack.truncate(top);
                self.stack.push(current);
            }
        }
        for _ in 0..each {
            if most.is_some_and(|most| *done >= most) {
                break;
            }
            let positions = [Position { term: current, parent: u32::MAX, argument: 0 }];
            let Some(next) = self.turn(code, &positions, 0)? else { break };
            current = next;
            *done += 1;
            self.stack.truncate(top);
            self.stack.push(current);
        }
        self.stack.truncate(top);
        Ok(current)
    }

    fn is_configuration(&self, code: &Code, symbol: SymbolId) -> bool {
        code.signature.symbol(symbol).object == Some(ObjectRole::Configuration)
    }

    /// One round on a configuration: every object has its turn, and every message is delivered if it can be. All of that
    /// counts as one step of the round.
    fn fair_objects(
        &mut self,
        code: &Code,
        symbol: SymbolId,
        term: TermId,
        done: &mut u64,
    ) -> Result<TermId, Stop> {
        let place = self.stack.len();
        let elements = self.terms.arguments(term);
        let mut changed = false;
        let mut inner = 0;
        for &element in &elements {
            let value = self.fair_round(code, element, 1, None, &mut inner)?;
            changed |= value != element;
            self.stack.push(value);
        }
        let mut current = term;
        if changed {
            current = self.apply(code, symbol, elements.len())?;
        }
        self.stack.truncate(place);
        self.stack.push(current);
        let is_object = |engine: &Engine, element: TermId| {
            let top = engine.terms.symbol(element);
            top.is_some_and(|top| code.signature.symbol(top).object == Some(ObjectRole::Object))
        };
        let messages = elements.iter().filter(|&&element| !is_object(self, element)).count();
        for _ in 0..messages.max(1) {
            if !self.terms.has_top(current, symbol) {
                break;
            }
            let positions = [Position { term: current, parent: u32::MAX, argument: 0 }];
            let Some(next) = self.turn(code, &positions, 0)? else { break };
            current = next;
            changed = true;
            self.stack.truncate(place);
            self.stack.push(current);
        }
        *done += u64::from(changed);
        self.stack.truncate(place);
        Ok(current)
    }
}

/// Takes the values of variables, and the part that was matched unless it is the whole; says whether that is enough.
pub type FoundMatch<'f> = &'f mut dyn FnMut(&mut Engine, &[TermId], Option<TermId>) -> bool;

impl Engine {
    /// Calls `found` with the values of variables, and with the part that is matched unless it is the whole, for every way
    /// in which a term matches; until it says that this is enough.
    pub fn matches(&mut self, term: TermId, pattern: &Compiled, found: FoundMatch<'_>) -> Result<bool, Stop> {
        let code = self.code.clone();
        let top = self.stack.len();
        self.stack.push(term);
        let base = self.stack.len();
        self.stack.resize(base + pattern.slots as usize, TermId::NONE);
        let rests = self.rests.len();
        let over = self.match_then(&code, &pattern.pattern, term, base, &mut |engine| {
            engine.conditions(&code, pattern, 0, base, &mut |engine| {
                let values = engine.stack[base..base + pattern.variables.len()].to_vec();
                let portion = engine
                    .left_over(&code, pattern, base)
                    .map(|(symbol, left, right)| engine.portion(&code, term, symbol, left, right));
                Ok(found(engine, &values, portion))
            })
        })?;
        self.drop_rests(rests);
        self.stack.truncate(top);
        Ok(over)
    }

    /// What is left of a list or bag without its ends.
    fn portion(
        &mut self,
        code: &Code,
        term: TermId,
        symbol: SymbolId,
        left: TermId,
        right: TermId,
    ) -> TermId {
        let data = code.signature.symbol(symbol);
        if data.theory == Theory::Bag {
            let mut taken = Vec::new();
            self.terms.spread(symbol, left, 1, &mut taken);
            let mut parts = Vec::new();
            self.terms.spread(symbol, term, 1, &mut parts);
            for (element, times) in taken {
                if let Some(part) = parts.iter_mut().find(|(own, _)| *own == element) {
                    part.1 -= times;
                }
            }
            parts.retain(|&(_, times)| times > 0);
            return self.terms.make_bag(&code.signature, symbol, &mut parts);
        }
        if data.theory == Theory::Iter {
            let ((all, below), (over, _)) = (self.terms.iterations(term), self.terms.iterations(left));
            return self.terms.make_iter(&code.signature, symbol, &(all - over), below);
        }
        let length = |engine: &Engine, term: TermId| match term {
            TermId::NONE => 0,
            term if engine.terms.has_top(term, symbol) => engine.terms.row(term).len(),
            _ => 1,
        };
        let row = self.terms.row(term);
        let mut middle = row[length(self, left)..row.len() - length(self, right)].to_vec();
        self.terms.make_list(&code.signature, symbol, &mut middle)
    }
}

/// Which states a search asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrow {
    /// `=>1`.
    One,
    /// `=>+`.
    Some,
    /// `=>*`.
    Any,
    /// `=>!`.
    Final,
}

/// A state of a search.
#[derive(Clone, Debug)]
pub struct State {
    /// Its term.
    pub term: TermId,
    /// The state that it was found from, and the rule.
    pub parent: Option<(usize, usize)>,
    /// How many steps it is away from the first.
    pub depth: usize,
    /// Its steps: states and rules, where they are known.
    pub arcs: Vec<(usize, Vec<usize>)>,
    /// Whether its steps are known.
    pub expanded: bool,
}

/// A search, which can be continued.
#[derive(Debug)]
pub struct Search {
    /// The states, in the order in which they were found.
    pub states: Vec<State>,
    numbers: FxHashMap<TermId, usize>,
    /// Solutions that were found, but not given yet: state and values of the variables.
    waiting: std::collections::VecDeque<(usize, Vec<TermId>, usize)>,
    next: usize,
    arrow: Arrow,
    most_steps: Option<usize>,
    pattern: Arc<Compiled>,
    begun: bool,
    first_seen_again: bool,
}

/// A solution of a search.
#[derive(Clone, Debug)]
pub struct Solution {
    /// The state.
    pub state: usize,
    /// The values of the pattern's variables.
    pub values: Vec<TermId>,
    /// How many states were known when it was found.
    pub states: usize,
}

impl Search {
    /// A search from a term, which is a normal form of an engine that keeps it.
    pub fn new(start: TermId, arrow: Arrow, most_steps: Option<usize>, pattern: Arc<Compiled>) -> Self {
        let first = State { term: start, parent: None, depth: 0, arcs: Vec::new(), expanded: false };
        Self {
            states: vec![first],
            numbers: std::iter::once((start, 0)).collect(),
            waiting: Default::default(),
            next: 0,
            arrow,
            most_steps,
            pattern,
            begun: false,
            first_seen_again: false,
        }
    }

    /// The variables of the pattern.
    pub fn pattern(&self) -> &Compiled {
        &self.pattern
    }

    /// The next solution; none if there is no more.
    pub fn next(&mut self, engine: &mut Engine) -> Result<Option<Solution>, Stop> {
        let code = engine.code.clone();
        if !self.begun {
            self.begun = true;
            engine.kept.push(self.states[0].term);
            if self.arrow == Arrow::Any {
                self.test(engine, &code, 0)?;
            }
        }
        loop {
            if let Some((state, values, states)) = self.waiting.pop_front() {
                return Ok(Some(Solution { state, values, states }));
            }
            if self.next >= self.states.len() {
                return Ok(None);
            }
            let at = self.next;
            let most = if self.arrow == Arrow::One { Some(1) } else { self.most_steps };
            // Final states are told from others by their steps, wherever they are.
            let beyond = most.is_some_and(|most| self.states[at].depth >= most);
            if beyond && self.arrow != Arrow::Final {
                self.next = self.states.len();
                continue;
            }
            if most.is_some_and(|most| self.states[at].depth > most) {
                self.next = self.states.len();
                continue;
            }
            self.next += 1;
            self.expand(engine, &code, at, beyond)?;
            if self.arrow == Arrow::Final && self.states[at].arcs.is_empty() && self.states[at].expanded {
                self.test(engine, &code, at)?;
            }
        }
    }

    fn expand(&mut self, engine: &mut Engine, code: &Code, at: usize, only_look: bool) -> Result<(), Stop> {
        let term = self.states[at].term;
        let mut fresh: Vec<usize> = Vec::new();
        let mut any = false;
        engine.steps(code, term, &mut |engine, step| {
            any = true;
            if only_look {
                // The state that shows it counts as one, as in Maude.
                if !self.numbers.contains_key(&step.result) {
                    let (number, depth) = (self.states.len(), self.states[at].depth + 1);
                    let parent = Some((at, step.rule));
                    self.states.push(State {
                        term: step.result,
                        parent,
                        depth,
                        arcs: Vec::new(),
                        expanded: false,
                    });
                    self.numbers.insert(step.result, number);
                    engine.kept.push(step.result);
                }
                return Ok(true);
            }
            let target = match self.numbers.get(&step.result) {
                Some(&known) => {
                    if known == 0 && !self.first_seen_again && matches!(self.arrow, Arrow::Some | Arrow::One)
                    {
                        self.first_seen_again = true;
                        fresh.push(0);
                    }
                    known
                }
                None => {
                    let number = self.states.len();
                    let depth = self.states[at].depth + 1;
                    let parent = Some((at, step.rule));
                    self.states.push(State {
                        term: step.result,
                        parent,
                        depth,
                        arcs: Vec::new(),
                        expanded: false,
                    });
                    self.numbers.insert(step.result, number);
                    engine.kept.push(step.result);
                    fresh.push(number);
                    if self.arrow != Arrow::Final {
                        self.test(engine, code, number)?;
                    }
                    number
                }
            };
            let arcs = &mut self.states[at].arcs;
            match arcs.iter_mut().find(|(state, _)| *state == target) {
                Some((_, rules)) => {
                    if !rules.contains(&step.rule) {
                        rules.push(step.rule);
                    }
                }
                None => arcs.push((target, vec![step.rule])),
            }
            if target == 0 && fresh.last() == Some(&0) {
                fresh.pop();
                self.test(engine, code, 0)?;
            }
            Ok(false)
        })?;
        self.states[at].arcs.sort_by_key(|(target, _)| *target);
        self.states[at].expanded = !only_look || !any;
        Ok(())
    }

    fn test(&mut self, engine: &mut Engine, code: &Code, at: usize) -> Result<(), Stop> {
        let term = self.states[at].term;
        let pattern = self.pattern.clone();
        let known = self.states.len();
        let base = engine.stack.len();
        engine.stack.push(term);
        let base = base + 1;
        engine.stack.resize(base + pattern.slots as usize, TermId::NONE);
        engine.match_then(code, &pattern.pattern, term, base, &mut |engine| {
            engine.conditions(code, &pattern, 0, base, &mut |engine| {
                let values = engine.stack[base..base + pattern.variables.len()].to_vec();
                engine.kept.extend(values.iter().filter(|&&value| value != TermId::NONE));
                self.waiting.push_back((at, values, known));
                Ok(false)
            })
        })?;
        engine.stack.truncate(base - 1);
        Ok(())
    }
}
