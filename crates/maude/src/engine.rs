//! Rewriting: equations give normal forms, rules give steps.
//!
//! Terms are evaluated from the inside, so that arguments are normal forms before an operator's equations are tried; only
//! normal forms and what laws need are stored. All terms in use lie on one stack, from which a collection of garbage
//! starts.

pub mod builtin;
pub mod code;
pub(crate) mod descent;
pub mod matching;
mod model_check;
pub mod rewrite;
pub mod sharing;

use std::sync::Arc;
use std::time::Instant;

use num_bigint::BigUint;
use rustc_hash::FxHashMap;
use source::Span;

use crate::signature::{SortId, SymbolId, Theory};
use crate::terms::{TermId, Terms, Top};
use code::{Build, Code, Compiled, Pattern, Test};
use matching::Goal;

/// Why a computation ended before its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// What happened.
    pub message: String,
    /// The statement that was being used.
    pub span: Option<Span>,
    /// The term that was being evaluated, as text.
    pub term: Option<String>,
    /// Whether it is a limit, not an error.
    pub limit: bool,
}

impl Stop {
    /// A limit was reached.
    pub fn limit(message: impl Into<String>) -> Self {
        Self { message: message.into(), span: None, term: None, limit: true }
    }

    /// Something can't be done.
    pub fn error(message: impl Into<String>) -> Self {
        Self { message: message.into(), span: None, term: None, limit: false }
    }
}

/// How far computations go.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most rewrites of one computation.
    pub rewrites: u64,
    /// When to stop.
    pub deadline: Option<Instant>,
    /// The most bytes for terms.
    pub bytes: usize,
    /// How deep evaluations may be nested.
    pub depth: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { rewrites: 2_000_000_000, deadline: None, bytes: 8 << 30, depth: 1_500_000 }
    }
}

/// Evaluates terms of a module.
#[derive(Debug)]
pub struct Engine {
    /// The module.
    pub code: Arc<Code>,
    /// The terms.
    pub terms: Terms,
    pub(crate) stack: Vec<TermId>,
    trail: Vec<u32>,
    /// How many rewrites there were.
    pub rewrites: u64,
    /// How far to go.
    pub limits: Limits,
    /// Terms that others hold.
    pub kept: Vec<TermId>,
    /// How often each equation was used, where that is asked for.
    pub used: Option<Vec<bool>>,
    /// The outcomes of conditions of rules, where they are asked for: rule, fragment, outcome.
    pub watched: Option<Vec<(usize, usize, bool)>>,
    /// How often garbage was collected: numbers of terms from before may mean others now.
    pub collections: u64,
    memo: FxHashMap<TermId, TermId>,
    counter: u32,
    base: usize,
    collect_at: usize,
    depth: u32,
    ticks: u32,
    rule_turns: Vec<u32>,
    pool: Vec<Vec<u32>>,
    pairs: Vec<Vec<[u32; 2]>>,
    parts: Vec<(TermId, u32)>,
    positions: Vec<rewrite::Position>,
    /// Collects garbage whenever it can: for tests.
    pub stress: bool,
    /// What descent functions of the meta-level need.
    pub meta: Option<Box<dyn builtin::Descent>>,
}

/// How the evaluation of a right side goes on.
enum Next {
    /// With a call whose arguments are on the stack.
    Call(SymbolId, usize),
    /// It is done: the result is on the stack.
    Done,
}

impl Engine {
    /// An engine for a module.
    pub fn new(code: Arc<Code>) -> Self {
        let terms = code.terms.clone();
        let base = terms.numbers();
        let symbols = code.signature.symbols.len();
        Self {
            code,
            terms,
            stack: Vec::new(),
            trail: Vec::new(),
            rewrites: 0,
            limits: Limits::default(),
            kept: Vec::new(),
            used: None,
            watched: None,
            collections: 0,
            memo: FxHashMap::default(),
            counter: 0,
            base,
            collect_at: 1 << 20,
            depth: 0,
            ticks: 0,
            rule_turns: vec![0; symbols],
            pool: Vec::new(),
            pairs: Vec::new(),
            parts: Vec::new(),
            positions: Vec::new(),
            stress: false,
            meta: None,
        }
    }

    /// Begins a new computation: counts start again.
    pub fn begin(&mut self) {
        self.rewrites = 0;
        self.stack.clear();
        self.trail.clear();
        self.depth = 0;
        self.counter = 0;
    }

    /// Ends computations that go on for too long.
    #[inline]
    pub(crate) fn check(&mut self) -> Result<(), Stop> {
        self.ticks = self.ticks.wrapping_add(1);
        if self.ticks & 0xFFF == 0 { self.check_limits() } else { Ok(()) }
    }

    /// Whether there is room for a list, a bag or a text of what is on the stack from there on. Those that double need it
    /// long before the next check is due.
    #[inline]
    pub(crate) fn check_room(&mut self, start: usize) -> Result<(), Stop> {
        let words: usize = self.stack[start..].iter().map(|&part| self.terms.row(part).len()).sum();
        if words < 1 << 20 { Ok(()) } else { self.make_room(4 * words) }
    }

    #[cold]
    fn make_room(&mut self, bytes: usize) -> Result<(), Stop> {
        self.check_limits()?;
        // Rows have numbers of 32 bits.
        let most = self.limits.bytes.min(12 << 30);
        if self.terms.bytes() + bytes > most {
            self.collect();
        }
        match self.terms.bytes() + bytes > most {
            true => Err(Stop::limit(format!("terms need more than {} MB", most >> 20))),
            false => Ok(()),
        }
    }

    #[cold]
    fn check_limits(&mut self) -> Result<(), Stop> {
        if self.rewrites > self.limits.rewrites {
            return Err(Stop::limit(format!("more than {} rewrites", self.limits.rewrites)));
        }
        if self.limits.deadline.is_some_and(|deadline| Instant::now() > deadline) {
            return Err(Stop::limit("the time is up"));
        }
        if self.terms.bytes() > self.limits.bytes {
            self.collect();
            if self.terms.bytes() > self.limits.bytes {
                return Err(Stop::limit(format!("terms need more than {} MB", self.limits.bytes >> 20)));
            }
        }
        Ok(())
    }

    /// Forgets terms that nobody holds.
    pub fn collect(&mut self) {
        let memo: Vec<TermId> = self.memo.iter().flat_map(|(&from, &to)| [from, to]).collect();
        let roots = self.stack.iter().chain(&self.kept).copied().chain(memo);
        self.terms.collect(self.base, roots);
        self.collections += 1;
        self.collect_at = (self.terms.len() * 2).max(1 << 20);
    }

    /// Terms made so far are kept for ever.
    pub fn keep_all(&mut self) {
        self.base = self.terms.numbers();
    }

    #[inline]
    fn maybe_collect(&mut self) {
        if self.terms.len() > self.collect_at || self.stress {
            self.collect();
        }
    }

    /// The normal form of a term.
    pub fn reduce(&mut self, term: TermId) -> Result<TermId, Stop> {
        if self.terms.is_reduced(term) {
            return Ok(term);
        }
        let code = self.code.clone();
        self.stack.push(term);
        let result = self.normal_form(&code, term);
        self.stack.pop();
        result
    }

    /// The normal form of a term that is on the stack.
    pub(crate) fn normal_form(&mut self, code: &Code, term: TermId) -> Result<TermId, Stop> {
        if self.terms.is_reduced(term) {
            return Ok(term);
        }
        self.depth += 1;
        if self.depth > self.limits.depth {
            return Err(Stop::limit(format!("evaluations are nested more than {} deep", self.limits.depth)));
        }
        let result = stacker::maybe_grow(64 << 10, 64 << 20, || self.normal_form_here(code, term));
        self.depth -= 1;
        result
    }

    fn normal_form_here(&mut self, code: &Code, term: TermId) -> Result<TermId, Stop> {
        let symbol = match self.terms.top(term) {
            Top::Variable(_) => {
                self.terms.set_reduced(term);
                return Ok(term);
            }
            Top::Symbol(symbol) => symbol,
        };
        let data = code.signature.symbol(symbol);
        match data.theory {
            Theory::Data => {
                self.terms.set_reduced(term);
                Ok(term)
            }
            Theory::Iter => {
                let (count, inner) = self.terms.iterations(term);
                let inner = self.normal_form(code, inner)?;
                self.stack.push(inner);
                self.iterate(code, symbol, &count)
            }
            Theory::Free | Theory::Pair | Theory::List | Theory::Bag => {
                let arguments = self.terms.arguments(term);
                let lazy = data.strategy.is_some() || data.is_special("BranchSymbol");
                for argument in &arguments {
                    let value = match lazy {
                        true => *argument,
                        false => self.normal_form(code, *argument)?,
                    };
                    self.stack.push(value);
                }
                self.apply(code, symbol, arguments.len())
            }
        }
    }

    /// Repeats an operator on the topmost term, which is a normal form and is taken off.
    fn iterate(&mut self, code: &Code, symbol: SymbolId, count: &BigUint) -> Result<TermId, Stop> {
        let at = self.stack.len() - 1;
        let plain = code.equations_of[symbol.0 as usize].is_empty()
            && code.memberships_of[symbol.0 as usize].is_empty();
        if plain {
            let term = self.stack.pop().expect("it is there");
            let made = self.terms.make_iter(&code.signature, symbol, count, term);
            let (sort, _) = self.terms.sort_of_row(&code.signature, symbol, self.terms.row(made));
            self.terms.set_sort(made, sort);
            self.terms.set_reduced(made);
            return Ok(made);
        }
        // With equations: on as many repetitions as an equation takes, outer ones first.
        let inner = self.stack[at];
        let mut tried = count.clone();
        while tried > BigUint::ZERO {
            let term = self.terms.make_iter(&code.signature, symbol, &tried, inner);
            self.stack.push(term);
            if !self.terms.is_reduced(term) {
                let next = self.rewrite_whole(code, symbol, at + 1)?;
                let changed = match next {
                    Some((next, arguments)) => Some(self.apply(code, next, arguments)?),
                    None => Some(self.stack[at + 1]).filter(|&result| result != term),
                };
                if let Some(result) = changed {
                    self.stack.truncate(at);
                    self.stack.push(result);
                    let rest = count - &tried;
                    if rest == BigUint::ZERO {
                        return Ok(self.stack.pop().expect("it is there"));
                    }
                    return self.iterate(code, symbol, &rest);
                }
            }
            self.stack.truncate(at + 1);
            tried -= 1u32;
            self.check()?;
        }
        let term = self.terms.make_iter(&code.signature, symbol, count, inner);
        self.stack.truncate(at);
        Ok(term)
    }

    /// Evaluates an operator on the topmost terms, which are taken off.
    pub(crate) fn apply(&mut self, code: &Code, symbol: SymbolId, count: usize) -> Result<TermId, Stop> {
        self.depth += 1;
        if self.depth > self.limits.depth {
            return Err(Stop::limit(format!("evaluations are nested more than {} deep", self.limits.depth)));
        }
        let result = stacker::maybe_grow(64 << 10, 64 << 20, || self.apply_here(code, symbol, count));
        self.depth -= 1;
        result
    }

    fn apply_here(&mut self, code: &Code, mut symbol: SymbolId, mut count: usize) -> Result<TermId, Stop> {
        let start = self.stack.len() - count;
        loop {
            self.maybe_collect();
            debug_assert_eq!(self.stack.len(), start + count);
            let data = code.signature.symbol(symbol);
            if code.inert[symbol.0 as usize] && data.theory == Theory::Free {
                return Ok(self.finish_inert(code, symbol, start));
            }
            // Laws first, so that equations see flat terms.
            if data.theory != Theory::Free {
                let term = match data.theory {
                    Theory::Iter => {
                        let argument = self.stack[start];
                        self.terms.make(&code.signature, symbol, &[argument])
                    }
                    _ => {
                        self.check_room(start)?;
                        let arguments = self.stack.split_off(start);
                        let term = self.terms.make(&code.signature, symbol, &arguments);
                        self.stack.extend(arguments);
                        term
                    }
                };
                self.stack.truncate(start);
                if self.terms.is_reduced(term) {
                    return Ok(term);
                }
                self.stack.push(term);
                // What has collapsed was a normal form before.
                if !self.terms.has_top(term, symbol) {
                    let result = self.normal_form(code, term)?;
                    self.stack.truncate(start);
                    return Ok(result);
                }
                match self.rewrite_whole(code, symbol, start)? {
                    Some((next, arguments)) => {
                        (symbol, count) = (next, arguments);
                        continue;
                    }
                    None => {
                        let term = self.stack.pop().expect("it is there");
                        return Ok(term);
                    }
                }
            }
            if let Some(strategy) = &data.strategy {
                match self.follow(code, symbol, start, strategy)? {
                    Some((next, arguments)) => {
                        (symbol, count) = (next, arguments);
                        continue;
                    }
                    None => return Ok(self.stack.pop().expect("it is there")),
                }
            }
            if data.memo {
                return self.remember(code, symbol, start);
            }
            if let Some(builtin) = &code.builtins[symbol.0 as usize]
                && let Some(result) = self.call_builtin(code, symbol, builtin, start)?
            {
                self.rewrites += 1;
                self.check()?;
                self.stack.truncate(start);
                self.stack.push(result);
                let result = self.normal_form(code, result)?;
                self.stack.truncate(start);
                return Ok(result);
            }
            match self.try_equations(code, symbol, start)? {
                Some((next, arguments)) => (symbol, count) = (next, arguments),
                None => return self.finish(code, symbol, start),
            }
            if symbol == DONE {
                return Ok(self.stack.pop().expect("it is there"));
            }
        }
    }

    /// Tries equations on a free operator whose arguments begin at a place of the stack. If one applies, what is to be
    /// applied next has its arguments there; `DONE` stands for a result.
    fn try_equations(
        &mut self,
        code: &Code,
        symbol: SymbolId,
        start: usize,
    ) -> Result<Option<(SymbolId, usize)>, Stop> {
        for &number in &code.equations_of[symbol.0 as usize] {
            let equation = &code.equations[number as usize];
            let lacks =
                |&(at, top): &(u32, SymbolId)| !self.terms.has_top(self.stack[start + at as usize], top);
            if equation.needs.iter().any(lacks) {
                continue;
            }
            let base = self.stack.len();
            let mut goals: Vec<Goal<'_>> = Vec::new();
            let mark = self.trail.len();
            let matched = match &equation.pattern {
                Pattern::Free { arguments, .. } => {
                    self.stack.resize(base + equation.slots as usize, TermId::NONE);
                    arguments.iter().enumerate().all(|(at, argument)| {
                        let subject = self.stack[start + at];
                        self.match_simple(code, argument, subject, base, &mut goals)
                    })
                }
                // A constant, or a pattern that can collapse.
                pattern => {
                    let arguments = self.stack[start..].to_vec();
                    let term = self.terms.make(&code.signature, symbol, &arguments);
                    self.stack.push(term);
                    let base = self.stack.len();
                    self.stack.resize(base + equation.slots as usize, TermId::NONE);
                    let matched = self.match_simple(code, pattern, term, base, &mut goals);
                    if matched
                        && let Some(next) = self.conclude(code, number, base, &mut goals, mark, start)?
                    {
                        return Ok(Some(next));
                    }
                    self.undo(mark);
                    self.stack.truncate(base - 1);
                    continue;
                }
            };
            if matched && let Some(next) = self.conclude(code, number, base, &mut goals, mark, start)? {
                return Ok(Some(next));
            }
            self.undo(mark);
            self.stack.truncate(base);
        }
        Ok(None)
    }

    /// Solves the goals and the condition of an equation; builds its right side at `start`.
    fn conclude<'c>(
        &mut self,
        code: &'c Code,
        number: u32,
        base: usize,
        goals: &mut Vec<Goal<'c>>,
        mark: usize,
        start: usize,
    ) -> Result<Option<(SymbolId, usize)>, Stop> {
        let equation = &code.equations[number as usize];
        let holds = if goals.is_empty() && equation.tests.is_empty() {
            true
        } else {
            let mut found = |engine: &mut Engine| engine.test_all(code, equation, 0, base);
            self.solve(code, goals, base, &mut found)
                .map_err(|stop| self.at_equation(code, stop, equation, base))?
        };
        if !holds {
            return Ok(None);
        }
        self.rewrites += 1;
        self.check().map_err(|stop| self.at_equation(code, stop, equation, base))?;
        if let Some(used) = &mut self.used {
            used[number as usize] = true;
        }
        self.trail.truncate(mark);
        // Conditions may have left values above the frame.
        self.stack.truncate(base + equation.slots as usize);
        let next = self
            .run(code, &equation.build, base)
            .map_err(|stop| self.at_equation(code, stop, equation, base))?;
        let (symbol, count) = match (next, self.extension(equation, base)) {
            (Next::Done, None) => (DONE, 1),
            (Next::Call(symbol, count), None) => (symbol, count),
            (next, Some((top, left, right))) => {
                // The rest of a list or bag is put around the result.
                let result = match next {
                    Next::Done => self.stack.pop().expect("it is there"),
                    Next::Call(symbol, count) => self.apply(code, symbol, count)?,
                };
                let mut count = 1;
                if left != TermId::NONE {
                    self.stack.push(left);
                    count += 1;
                }
                self.stack.push(result);
                if right != TermId::NONE {
                    self.stack.push(right);
                    count += 1;
                }
                (top, count)
            }
        };
        let from = self.stack.len() - count;
        self.stack.copy_within(from.., start);
        self.stack.truncate(start + count);
        Ok(Some((symbol, count)))
    }

    /// What an equation for a part of a list or bag has left over.
    fn extension(&self, statement: &Compiled, base: usize) -> Option<(SymbolId, TermId, TermId)> {
        let (symbol, left, right) = statement.extension?;
        let slot = |slot: u32| self.stack[base + slot as usize];
        let (left, right) =
            if left == right { (slot(left), TermId::NONE) } else { (slot(left), slot(right)) };
        (left != TermId::NONE || right != TermId::NONE).then_some((symbol, left, right))
    }

    #[cold]
    fn at_equation(&self, code: &Code, mut stop: Stop, equation: &Compiled, base: usize) -> Stop {
        stop.span.get_or_insert(equation.span);
        if stop.term.is_none() {
            let bindings: Vec<String> = equation
                .variables
                .iter()
                .enumerate()
                .filter_map(|(at, (name, _))| {
                    let term = *self.stack.get(base + at)?;
                    let text = || crate::print::beginning(&code.signature, &self.terms, term, 57);
                    (term != TermId::NONE).then(|| format!("{name} = {}", text()))
                })
                .collect();
            stop.term = Some(bindings.join(", "));
        }
        stop
    }

    /// Tries equations on the term of an operator with laws, which is on the stack at `start`.
    fn rewrite_whole(
        &mut self,
        code: &Code,
        symbol: SymbolId,
        start: usize,
    ) -> Result<Option<(SymbolId, usize)>, Stop> {
        let data = code.signature.symbol(symbol);
        if let Some(builtin) = &code.builtins[symbol.0 as usize] {
            let term = self.stack[start];
            if let Some(result) = self.call_flat(code, symbol, builtin, term)? {
                self.rewrites += 1;
                self.check()?;
                self.stack[start] = result;
                if !self.terms.has_top(result, symbol) {
                    let result = self.normal_form(code, result)?;
                    self.stack[start] = result;
                    return Ok(None);
                }
                if self.terms.is_reduced(result) {
                    return Ok(None);
                }
            }
        }
        let term = self.stack[start];
        if data.memo
            && let Some(&known) = self.memo.get(&term)
        {
            self.rewrites += 1;
            self.stack[start] = known;
            return Ok(None);
        }
        for &number in &code.equations_of[symbol.0 as usize] {
            let equation = &code.equations[number as usize];
            let base = self.stack.len();
            self.stack.resize(base + equation.slots as usize, TermId::NONE);
            let mut goals: Vec<Goal<'_>> = Vec::new();
            let mark = self.trail.len();
            if self.match_simple(code, &equation.pattern, term, base, &mut goals)
                && let Some((next, count)) = self.conclude(code, number, base, &mut goals, mark, start)?
            {
                if next == DONE {
                    let result = self.stack[start];
                    let result = self.normal_form(code, result)?;
                    self.stack[start] = result;
                    return Ok(None);
                }
                return Ok(Some((next, count)));
            }
            self.undo(mark);
            self.stack.truncate(base);
        }
        self.settle(code, term)?;
        Ok(None)
    }

    /// Evaluates arguments in the order of a strategy.
    fn follow(
        &mut self,
        code: &Code,
        symbol: SymbolId,
        start: usize,
        strategy: &[u32],
    ) -> Result<Option<(SymbolId, usize)>, Stop> {
        for &step in strategy {
            match step {
                0 => {
                    if let Some(builtin) = &code.builtins[symbol.0 as usize]
                        && let Some(result) = self.call_builtin(code, symbol, builtin, start)?
                    {
                        self.rewrites += 1;
                        self.stack.truncate(start);
                        self.stack.push(result);
                        let result = self.normal_form(code, result)?;
                        self.stack[start] = result;
                        return Ok(None);
                    }
                    if let Some((next, count)) = self.try_equations(code, symbol, start)? {
                        if next == DONE {
                            let result = self.stack[start];
                            let result = self.normal_form(code, result)?;
                            self.stack[start] = result;
                            return Ok(None);
                        }
                        return Ok(Some((next, count)));
                    }
                }
                argument => {
                    let at = start + argument as usize - 1;
                    let value = self.normal_form(code, self.stack[at])?;
                    self.stack[at] = value;
                }
            }
        }
        let term = self.finish(code, symbol, start)?;
        self.stack.push(term);
        Ok(None)
    }

    /// Evaluates an operator whose results are kept.
    fn remember(&mut self, code: &Code, symbol: SymbolId, start: usize) -> Result<TermId, Stop> {
        let arguments = self.stack[start..].to_vec();
        let term = self.terms.make(&code.signature, symbol, &arguments);
        if self.terms.is_reduced(term) {
            self.stack.truncate(start);
            return Ok(term);
        }
        if let Some(&known) = self.memo.get(&term) {
            self.rewrites += 1;
            self.stack.truncate(start);
            return Ok(known);
        }
        // The term stays on the stack below its arguments.
        self.stack.truncate(start);
        self.stack.push(term);
        self.stack.extend(arguments);
        let result = match self.try_equations(code, symbol, start + 1)? {
            None => self.finish(code, symbol, start + 1)?,
            Some((DONE, _)) => self.stack.pop().expect("it is there"),
            Some((next, count)) => self.apply(code, next, count)?,
        };
        self.stack.truncate(start);
        self.memo.insert(term, result);
        Ok(result)
    }

    /// A term of an operator that has no equations.
    #[inline]
    fn finish_inert(&mut self, code: &Code, symbol: SymbolId, start: usize) -> TermId {
        let arguments = &self.stack[start..];
        let mut row = [0; 8];
        let term = if arguments.len() <= row.len() {
            for (number, argument) in row.iter_mut().zip(arguments) {
                *number = argument.0;
            }
            self.terms.made(&code.signature, symbol, &row[..arguments.len()])
        } else {
            let row: Vec<u32> = arguments.iter().map(|argument| argument.0).collect();
            self.terms.made(&code.signature, symbol, &row)
        };
        self.stack.truncate(start);
        if !self.terms.is_reduced(term) {
            let (sort, _) = self.terms.sort_of_row(&code.signature, symbol, self.terms.row(term));
            self.terms.set_sort(term, sort);
            self.terms.set_reduced(term);
        }
        term
    }

    /// A term that no equation applies to.
    fn finish(&mut self, code: &Code, symbol: SymbolId, start: usize) -> Result<TermId, Stop> {
        let row: Vec<u32> = self.stack[start..].iter().map(|argument| argument.0).collect();
        let term = self.terms.made(&code.signature, symbol, &row);
        self.stack.truncate(start);
        if !self.terms.is_reduced(term) {
            self.stack.push(term);
            self.settle(code, term)?;
            self.stack.truncate(start);
        }
        Ok(term)
    }

    /// Notes that a term is a normal form, and finds its sort. It is on the stack.
    fn settle(&mut self, code: &Code, term: TermId) -> Result<(), Stop> {
        let Some(symbol) = self.terms.symbol(term) else {
            self.terms.set_reduced(term);
            return Ok(());
        };
        let (mut sort, _) = self.terms.sort_of_row(&code.signature, symbol, self.terms.row(term));
        self.terms.set_sort(term, sort);
        self.terms.set_reduced(term);
        let memberships = &code.memberships_of[symbol.0 as usize];
        let mut at = 0;
        while at < memberships.len() {
            let membership = &code.memberships[memberships[at] as usize];
            at += 1;
            if membership.sort == sort || !code.signature.leq(membership.sort, sort) {
                continue;
            }
            let base = self.stack.len();
            self.stack.resize(base + membership.slots as usize, TermId::NONE);
            let mark = self.trail.len();
            let mut goals = Vec::new();
            let mut fits = self.match_simple(code, &membership.pattern, term, base, &mut goals);
            if fits {
                let mut found = |engine: &mut Engine| engine.test_all(code, membership, 0, base);
                fits = self.solve(code, &mut goals, base, &mut found)?;
            }
            self.undo(mark);
            self.stack.truncate(base);
            if fits {
                self.rewrites += 1;
                sort = membership.sort;
                self.terms.set_sort(term, sort);
                at = 0;
            }
        }
        Ok(())
    }

    /// Finds the sorts that memberships give to a term and its parts, none of which need be normal forms.
    pub fn find_sorts(&mut self, term: TermId) -> Result<(), Stop> {
        let code = self.code.clone();
        if code.memberships.is_empty() {
            return Ok(());
        }
        // Parts first.
        let mut order = vec![term];
        let mut at = 0;
        while at < order.len() {
            let here = order[at];
            at += 1;
            self.terms.for_arguments(here, |argument| order.push(argument));
        }
        self.kept.push(term);
        for &part in order.iter().rev() {
            if !self.terms.is_reduced(part) {
                self.stack.push(part);
                self.settle(&code, part)?;
                self.stack.pop();
                self.terms.set_unreduced(part);
            }
        }
        self.kept.pop();
        Ok(())
    }

    /// The sort of a part of a list or bag whose elements are normal forms; if the whole is one, so is the part.
    pub(crate) fn sort_of(&mut self, code: &Code, term: TermId, reduced: bool) -> SortId {
        if self.terms.is_reduced(term) {
            return self.terms.sort(term);
        }
        let plain =
            self.terms.symbol(term).is_none_or(|symbol| code.memberships_of[symbol.0 as usize].is_empty());
        if plain {
            if reduced {
                self.terms.set_reduced(term);
            }
            return self.terms.sort(term);
        }
        self.stack.push(term);
        // A membership whose condition can't be evaluated says nothing.
        let _ = self.settle(code, term);
        self.stack.pop();
        if !reduced {
            self.terms.set_unreduced(term);
        }
        self.terms.sort(term)
    }

    /// Builds a right side on the stack.
    fn run(&mut self, code: &Code, build: &[Build], base: usize) -> Result<Next, Stop> {
        let mut at = 0;
        while let Some(one) = build.get(at) {
            at += 1;
            match one {
                Build::Slot(slot) => {
                    let term = self.stack[base + *slot as usize];
                    let value =
                        if self.terms.is_reduced(term) { term } else { self.normal_form(code, term)? };
                    self.stack.push(value);
                }
                Build::RawSlot(slot) => self.stack.push(self.stack[base + *slot as usize]),
                Build::Constant(term) => self.stack.push(*term),
                Build::Call(symbol, count) => {
                    if sharing::ends(build, at) {
                        return Ok(Next::Call(*symbol, *count as usize));
                    }
                    let value = self.apply(code, *symbol, *count as usize)?;
                    self.stack.push(value);
                }
                Build::Raw(symbol, count) => {
                    let from = self.stack.len() - *count as usize;
                    let arguments = self.stack.split_off(from);
                    let term = self.terms.make(&code.signature, *symbol, &arguments);
                    self.stack.push(term);
                }
                Build::Iterate(symbol, count) => {
                    let value = self.iterate(code, *symbol, count)?;
                    self.stack.push(value);
                }
                Build::RawIterate(symbol, count) => {
                    let inner = self.stack.pop().expect("it is there");
                    let term = self.terms.make_iter(&code.signature, *symbol, count, inner);
                    self.stack.push(term);
                }
                Build::Branch(otherwise, neither) => {
                    let (yes, no) = code.booleans.expect("there are Boolean values");
                    let value = *self.stack.last().expect("it is there");
                    if value == yes {
                        self.stack.pop();
                        self.rewrites += 1;
                    } else if value == no {
                        self.stack.pop();
                        self.rewrites += 1;
                        at = *otherwise as usize;
                    } else {
                        at = *neither as usize;
                    }
                }
                Build::Jump(to) => at = *to as usize,
                Build::Keep(slot) => {
                    self.stack[base + *slot as usize] = *self.stack.last().expect("it is there");
                }
            }
        }
        Ok(Next::Done)
    }

    /// The value of an expression in a frame.
    fn value(&mut self, code: &Code, build: &[Build], base: usize) -> Result<TermId, Stop> {
        match self.run(code, build, base)? {
            Next::Done => Ok(self.stack.pop().expect("it is there")),
            Next::Call(symbol, count) => self.apply(code, symbol, count),
        }
    }

    /// Whether a condition holds from a fragment on; bindings stay if it does.
    pub(crate) fn test_all(
        &mut self,
        code: &Code,
        statement: &Compiled,
        at: usize,
        base: usize,
    ) -> Result<bool, Stop> {
        self.conditions(code, statement, at, base, &mut |_| Ok(true))
    }

    /// Calls `found` for every solution of a condition from a fragment on.
    pub(crate) fn conditions(
        &mut self,
        code: &Code,
        statement: &Compiled,
        at: usize,
        base: usize,
        found: &mut dyn FnMut(&mut Engine) -> Result<bool, Stop>,
    ) -> Result<bool, Stop> {
        let Some(test) = statement.tests.get(at) else { return found(self) };
        if self.watched.is_some() {
            return self.watch_condition(code, statement, at, base, found);
        }
        self.condition(code, statement, test, at, base, found)
    }

    /// The same, and notes the outcome for rules.
    #[cold]
    fn watch_condition(
        &mut self,
        code: &Code,
        statement: &Compiled,
        at: usize,
        base: usize,
        found: &mut dyn FnMut(&mut Engine) -> Result<bool, Stop>,
    ) -> Result<bool, Stop> {
        let rule = code.rules.iter().position(|rule| std::ptr::eq(rule, statement));
        let before = self.watched.as_ref().map_or(0, Vec::len);
        let mut passed = false;
        let over = self.condition(code, statement, &statement.tests[at], at, base, &mut |engine| {
            passed = true;
            found(engine)
        })?;
        if let (Some(rule), Some(watched)) = (rule, &mut self.watched) {
            // Later fragments were evaluated only if this one holds.
            let held =
                passed || watched[before..].iter().any(|&(other, later, _)| other == rule && later == at + 1);
            watched.push((rule, at, held));
        }
        Ok(over)
    }

    fn condition(
        &mut self,
        code: &Code,
        statement: &Compiled,
        test: &Test,
        at: usize,
        base: usize,
        found: &mut dyn FnMut(&mut Engine) -> Result<bool, Stop>,
    ) -> Result<bool, Stop> {
        let top = self.stack.len();
        match test {
            Test::Equal(one, two) => {
                let value = self.value(code, one, base)?;
                self.stack.push(value);
                let other = self.value(code, two, base)?;
                self.stack.truncate(top);
                Ok(value == other && self.conditions(code, statement, at + 1, base, found)?)
            }
            Test::Holds(one) => {
                let value = self.value(code, one, base)?;
                self.stack.truncate(top);
                let holds = code.booleans.is_some_and(|(yes, _)| value == yes);
                Ok(holds && self.conditions(code, statement, at + 1, base, found)?)
            }
            Test::Sort(one, sort) => {
                let value = self.value(code, one, base)?;
                self.stack.truncate(top);
                let fits = code.signature.leq(self.terms.sort(value), *sort);
                Ok(fits && self.conditions(code, statement, at + 1, base, found)?)
            }
            Test::Assign(one, pattern) => {
                let value = self.value(code, one, base)?;
                self.stack.truncate(top);
                self.stack.push(value);
                let over = self.match_then(code, pattern, value, base, &mut |engine| {
                    engine.conditions(code, statement, at + 1, base, found)
                })?;
                self.stack.truncate(top);
                Ok(over)
            }
            Test::Rewrite(one, pattern) => {
                let value = self.value(code, one, base)?;
                self.stack.truncate(top);
                self.stack.push(value);
                let over = self
                    .reachable(code, value, pattern, base, &mut |engine| {
                        engine.conditions(code, statement, at + 1, base, found)
                    })
                    .map_err(|stop| self.at_equation(code, stop, statement, base))?;
                self.stack.truncate(top);
                Ok(over)
            }
        }
    }

    /// Calls `found` for every way in which a term matches a pattern.
    pub(crate) fn match_then(
        &mut self,
        code: &Code,
        pattern: &Pattern,
        term: TermId,
        base: usize,
        found: &mut dyn FnMut(&mut Engine) -> Result<bool, Stop>,
    ) -> Result<bool, Stop> {
        let mark = self.trail.len();
        let mut goals = Vec::new();
        let mut over = false;
        if self.match_simple(code, pattern, term, base, &mut goals) {
            over = self.solve(code, &mut goals, base, found)?;
        }
        if !over {
            self.undo(mark);
        }
        Ok(over)
    }
}

/// Stands for an operator where a result needs none.
const DONE: SymbolId = SymbolId(u32::MAX);
