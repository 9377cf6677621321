//! Rewriting: equations give normal forms, rules give steps.
//!
//! Terms are evaluated from the inside, so that arguments are normal forms before an operator's equations are tried; only
//! normal forms and what laws need are stored. All terms in use lie on one stack, from which a collection of garbage
//! starts.

pub mod builtin;
pub mod code;
pub(crate) mod descent;
mod effects;
pub mod matching;
mod model_check;
mod recent;
pub mod rewrite;
pub mod sharing;
pub mod straight;

use std::sync::Arc;
use std::time::Instant;

use num_bigint::BigUint;
use rustc_hash::FxHashMap;
use source::Span;

use crate::signature::{SortId, SymbolId, Theory};
use crate::terms::{TermId, Terms, Top};
use code::{Build, Code, Compiled, Nature, Pattern, Test};
use matching::{Found, Goal};

/// Why a computation ended before its result. It is small, because every result might be one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop(Box<Ending>);

/// What there is to say about the end of a computation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// What happened.
    pub message: String,
    /// The statement that was being used.
    pub span: Option<Span>,
    /// The term that was being evaluated, as text.
    pub term: Option<String>,
    /// Whether it is a limit, not an error.
    pub limit: bool,
}

impl std::ops::Deref for Stop {
    type Target = Ending;

    fn deref(&self) -> &Ending {
        &self.0
    }
}

impl std::ops::DerefMut for Stop {
    fn deref_mut(&mut self) -> &mut Ending {
        &mut self.0
    }
}

impl Stop {
    /// A limit was reached.
    pub fn limit(message: impl Into<String>) -> Self {
        Self(Box::new(Ending { message: message.into(), span: None, term: None, limit: true }))
    }

    /// Something can't be done.
    pub fn error(message: impl Into<String>) -> Self {
        Self(Box::new(Ending { message: message.into(), span: None, term: None, limit: false }))
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
    frames: Vec<Frame>,
    trail: Vec<u32>,
    /// What matches have left over of bags, one after the other, and where each of them begins.
    rest: Vec<(TermId, u32)>,
    rests: Vec<usize>,
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
    /// What rules do to elements of bags, where that is noted.
    effects: Option<Box<effects::Effects>>,
    /// How often garbage was collected: numbers of terms from before may mean others now.
    pub collections: u64,
    memo: FxHashMap<TermId, TermId>,
    recent: recent::Recent,
    counter: u32,
    base: usize,
    /// How much is added before garbage is collected.
    collect_after: usize,
    least_garbage: usize,
    depth: u32,
    ticks: u32,
    rule_turns: Vec<u32>,
    pairs: Vec<Vec<[u32; 2]>>,
    parts: Vec<(TermId, u32)>,
    positions: Vec<rewrite::Position>,
    /// Collects garbage whenever it can: for tests.
    pub stress: bool,
    /// What descent functions of the meta-level need.
    pub meta: Option<Box<dyn builtin::Descent>>,
}

/// What comes of applying an operator.
enum Outcome {
    /// A normal form, which is on the stack in the place of the arguments.
    Value,
    /// The right side of an equation has to be evaluated: its number, and where its frame is.
    Enter(u32, u32),
}

/// A right side that waits for a value.
#[derive(Clone, Copy, Debug)]
struct Frame {
    equation: u32,
    at: u32,
    base: u32,
    start: u32,
    before: u32,
    wraps: bool,
}

/// A right side that is being evaluated.
struct Here<'c> {
    /// The equation, or [`ENTRY`].
    equation: u32,
    build: &'c [Build],
    /// What comes next.
    at: usize,
    /// Where the values of its variables are.
    base: usize,
    /// Where the value belongs.
    start: usize,
    /// The last bits of the number of rewrites before the call.
    before: u32,
    /// Whether the equation has left something over, which is put around the value.
    wraps: bool,
}

impl<'c> Here<'c> {
    fn new(code: &'c Code, equation: u32, base: usize, start: usize, before: u64, wraps: bool) -> Self {
        let build = &code.equations[equation as usize].build;
        Self { equation, build, at: 0, base, start, before: before as u32, wraps }
    }
}

/// How deep calls are nested that wait only in order to keep their results.
const MOST_WAITING: usize = 10_000;

/// Few enough for the caches of processors.
const LEAST_GARBAGE: usize = 1 << 20;

/// Stands for an equation where an expression was given.
const ENTRY: u32 = u32::MAX;

/// Stands for the place of a frame that is not there any more.
const GONE: usize = u32::MAX as usize;

#[cold]
fn too_deep(what: &str, depth: usize) -> Stop {
    Stop::limit(format!("{what} are nested more than {depth} deep"))
}

/// How many frames there may be for each level of nesting that is allowed: they are smaller.
const FRAMES_PER_DEPTH: usize = 8;

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
            frames: Vec::new(),
            trail: Vec::new(),
            rest: Vec::new(),
            rests: Vec::new(),
            rewrites: 0,
            limits: Limits::default(),
            kept: Vec::new(),
            used: None,
            watched: None,
            effects: None,
            collections: 0,
            memo: FxHashMap::default(),
            recent: recent::Recent::new(symbols),
            counter: 0,
            base,
            collect_after: LEAST_GARBAGE,
            least_garbage: LEAST_GARBAGE,
            depth: 0,
            ticks: 0,
            rule_turns: vec![0; symbols],
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
        self.frames.clear();
        self.drop_rests(0);
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
        // A list may get as much room beside it.
        if words < 1 << 20 { Ok(()) } else { self.make_room(8 * words) }
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
        if self.bytes() > self.limits.bytes {
            self.collect();
            if self.bytes() > self.limits.bytes {
                return Err(Stop::limit(format!("terms need more than {} MB", self.limits.bytes >> 20)));
            }
        }
        Ok(())
    }

    fn bytes(&self) -> usize {
        self.terms.bytes()
            + self.stack.capacity() * size_of::<TermId>()
            + self.frames.capacity() * size_of::<Frame>()
    }

    /// Forgets terms that nobody holds.
    pub fn collect(&mut self) {
        let memo: Vec<TermId> = self.memo.iter().flat_map(|(&from, &to)| [from, to]).collect();
        let rest = self.rest.iter().map(|&(term, _)| term);
        let roots = self.stack.iter().chain(&self.kept).copied().chain(memo).chain(rest);
        self.terms.collect(self.base, roots);
        self.recent.clear();
        self.collections += 1;
        self.collect_after = self.terms.volume().max(self.least_garbage);
    }

    /// Lets so much be added to the volume of terms at least before garbage is collected.
    pub fn set_least_garbage(&mut self, volume: usize) {
        (self.least_garbage, self.collect_after) = (volume, volume);
    }

    /// Notes what rules do to elements of bags.
    pub fn note_effects(&mut self) {
        self.effects = Some(Box::default());
    }

    /// Whether effects are noted and may be used: nobody asks which equations and conditions they need.
    pub(crate) fn notes_effects(&self) -> bool {
        self.effects.is_some() && self.used.is_none() && self.watched.is_none()
    }

    /// Terms made so far are kept for ever.
    pub fn keep_all(&mut self) {
        self.base = self.terms.numbers();
    }

    #[inline]
    fn maybe_collect(&mut self) {
        if self.terms.added() > self.collect_after || self.stress {
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
        self.nested(1, "evaluations", |engine| engine.normal_form_here(code, term))
    }

    /// Does some work that may nest, and counts it as so many levels.
    #[inline]
    fn nested<R>(
        &mut self,
        levels: u32,
        what: &str,
        work: impl FnOnce(&mut Self) -> Result<R, Stop>,
    ) -> Result<R, Stop> {
        if self.depth + levels > self.limits.depth {
            return Err(too_deep(what, (self.limits.depth / levels) as usize));
        }
        self.depth += levels;
        let result = stacker::maybe_grow(128 << 10, 64 << 20, || work(self));
        self.depth -= levels;
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
            self.terms.renew_sort(&code.signature, made);
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
                let changed = match self.rewrite_whole(code, symbol, at + 1)? {
                    Outcome::Enter(equation, base) => {
                        Some(self.enter(code, equation, base as usize, at + 1, 0)?)
                    }
                    Outcome::Value => Some(self.stack[at + 1]).filter(|&result| result != term),
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
        let start = self.stack.len() - count;
        let before = self.rewrites;
        if code.natures[symbol.0 as usize] == Nature::Inert {
            self.maybe_collect();
            return Ok(self.finish_inert(code, symbol, start));
        }
        self.nested(1, "evaluations", |engine| match engine.invoke(code, symbol, start)? {
            Outcome::Value => Ok(engine.stack.pop().expect("it is there")),
            Outcome::Enter(equation, base) => engine.enter(code, equation, base as usize, start, before),
        })
    }

    /// The value of an equation's right side; its frame is at `base`, its arguments begin at `start`.
    fn enter(
        &mut self,
        code: &Code,
        equation: u32,
        base: usize,
        start: usize,
        before: u64,
    ) -> Result<TermId, Stop> {
        let wraps = self.wraps(code, equation, base);
        self.execute(code, Here::new(code, equation, base, start, before, wraps))
    }

    /// The value of an expression in a frame.
    fn value(&mut self, code: &Code, build: &[Build], base: usize) -> Result<TermId, Stop> {
        match build {
            [Build::Constant(term)] => return Ok(*term),
            [Build::Slot(slot)] if self.terms.is_reduced(self.stack[base + *slot as usize]) => {
                return Ok(self.stack[base + *slot as usize]);
            }
            _ => {}
        }
        let start = self.stack.len();
        let here = Here { equation: ENTRY, build, at: 0, base, start, before: 0, wraps: false };
        self.nested(1, "evaluations", |engine| engine.execute(code, here))
    }

    /// Runs a right side to its end: the value, which is not on the stack any more. Calls of operators do not nest here,
    /// but push frames.
    fn execute<'c>(&mut self, code: &'c Code, mut here: Here<'c>) -> Result<TermId, Stop> {
        let floor = self.frames.len();
        let result = self.execute_above(code, &mut here, floor);
        self.frames.truncate(floor);
        result.map_err(|stop| self.within(code, stop, &here))
    }

    fn execute_above<'c>(
        &mut self,
        code: &'c Code,
        here: &mut Here<'c>,
        floor: usize,
    ) -> Result<TermId, Stop> {
        let entry = here.build;
        loop {
            let Some(one) = here.build.get(here.at) else {
                let result = self.stack.pop().expect("a value");
                if here.wraps {
                    // What an equation has left over of a list or bag is put around the result.
                    let symbol = self.put_around(code, here, result);
                    (here.base, here.wraps) = (GONE, false);
                    self.call(code, symbol, here.start, here)?;
                    continue;
                }
                if here.equation != ENTRY {
                    self.keep_result(code, here, result);
                }
                self.stack.truncate(here.start);
                if self.frames.len() == floor {
                    return Ok(result);
                }
                self.stack.push(result);
                *here = self.back(code, entry);
                continue;
            };
            here.at += 1;
            match one {
                Build::Slot(slot) => {
                    let term = self.stack[here.base + *slot as usize];
                    let value =
                        if self.terms.is_reduced(term) { term } else { self.normal_form(code, term)? };
                    self.stack.push(value);
                }
                Build::RawSlot(slot) => self.stack.push(self.stack[here.base + *slot as usize]),
                Build::Constant(term) => self.stack.push(*term),
                Build::Inert(symbol, count) => {
                    self.maybe_collect();
                    let term = self.finish_inert(code, *symbol, self.stack.len() - *count as usize);
                    self.stack.push(term);
                }
                Build::Call(symbol, count) => {
                    let start = self.stack.len() - *count as usize;
                    self.call(code, *symbol, start, here)?;
                }
                Build::Last(symbol, count) => {
                    let mut start = self.stack.len() - *count as usize;
                    if !here.wraps && self.frames.len() > floor && !self.is_worth_keeping(code, here) {
                        // Nothing is left to be done here: the caller waits for what the call gives.
                        self.stack.copy_within(start.., here.start);
                        self.stack.truncate(here.start + *count as usize);
                        start = here.start;
                        *here = self.back(code, entry);
                    }
                    self.call(code, *symbol, start, here)?;
                }
                Build::Raw(symbol, count) => {
                    let from = self.stack.len() - *count as usize;
                    let term = self.terms.make(&code.signature, *symbol, &self.stack[from..]);
                    self.stack.truncate(from);
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
                        here.at = *otherwise as usize;
                    } else {
                        here.at = *neither as usize;
                    }
                }
                Build::Jump(to) => here.at = *to as usize,
                Build::Keep(slot) => {
                    self.stack[here.base + *slot as usize] = *self.stack.last().expect("it is there");
                }
            }
        }
    }

    /// Calls an operator: its value is on the stack, or what runs now is the right side of an equation.
    #[inline]
    fn call<'c>(
        &mut self,
        code: &'c Code,
        symbol: SymbolId,
        start: usize,
        here: &mut Here<'c>,
    ) -> Result<(), Stop> {
        let before = self.rewrites;
        if let Outcome::Enter(equation, base) = self.invoke(code, symbol, start)? {
            let base = base as usize;
            let most = self.limits.depth as usize * FRAMES_PER_DEPTH;
            if self.frames.len() >= most {
                let stop = too_deep("evaluations", most);
                return Err(self.at_equation(code, stop, &code.equations[equation as usize], base));
            }
            self.frames.push(Frame {
                equation: here.equation,
                at: here.at as u32,
                base: here.base as u32,
                start: here.start as u32,
                before: here.before,
                wraps: here.wraps,
            });
            *here = Here::new(code, equation, base, start, before, self.wraps(code, equation, base));
        }
        Ok(())
    }

    /// Says in which right side a computation has ended.
    #[cold]
    fn within(&self, code: &Code, stop: Stop, here: &Here<'_>) -> Stop {
        match here.equation {
            ENTRY => stop,
            equation => self.at_equation(code, stop, &code.equations[equation as usize], here.base),
        }
    }

    /// Whether a call stays on the stack until its last call is done, so that its result can be kept: it has worked for its
    /// arguments. Deep down there is no place for that, so that loops need none.
    #[inline]
    fn is_worth_keeping(&self, code: &Code, here: &Here<'_>) -> bool {
        (self.rewrites as u32).wrapping_sub(here.before) >= recent::LEAST_COST
            && self.frames.len() < MOST_WAITING
            && here.equation != ENTRY
            && code.equations[here.equation as usize]
                .kept_as
                .is_some_and(|(symbol, _)| self.recent.is_useful(symbol))
    }

    /// Keeps the result of a call for a while. Its arguments are the first slots.
    #[inline]
    fn keep_result(&mut self, code: &Code, here: &Here<'_>, result: TermId) {
        let equation = &code.equations[here.equation as usize];
        if let Some((symbol, count)) = equation.kept_as
            && self.recent.is_useful(symbol)
        {
            let cost = (self.rewrites as u32).wrapping_sub(here.before);
            let arguments = &self.stack[here.start..here.start + count as usize];
            self.recent.keep(symbol, arguments, result, cost);
        }
    }

    /// The right side that waits for a value.
    #[inline]
    fn back<'c>(&mut self, code: &'c Code, entry: &'c [Build]) -> Here<'c> {
        let Frame { equation, at, base, start, before, wraps } = self.frames.pop().expect("a caller");
        let build = match equation {
            ENTRY => entry,
            equation => &code.equations[equation as usize].build,
        };
        let (at, base, start) = (at as usize, base as usize, start as usize);
        Here { equation, build, at, base, start, before, wraps }
    }

    /// Whether an equation has left something over.
    #[inline]
    fn wraps(&self, code: &Code, equation: u32, base: usize) -> bool {
        let equation = &code.equations[equation as usize];
        equation.extension.is_some() && self.extension(equation, base).is_some()
    }

    /// Puts what an equation has left over around its result, in the place of the frame; gives the operator.
    fn put_around(&mut self, code: &Code, here: &Here<'_>, result: TermId) -> SymbolId {
        let equation = &code.equations[here.equation as usize];
        let (symbol, left, right) = self.extension(equation, here.base).expect("it is left over");
        self.stack.truncate(here.start);
        if left == TermId::LATER {
            self.stack.push(result);
            let term = self.with_rest(code, symbol, here.start);
            self.stack.truncate(here.start);
            self.drop_rests(self.rests.len() - 1);
            self.stack.push(term);
            return symbol;
        }
        let parts = [left, result, right].into_iter().filter(|&part| part != TermId::NONE);
        self.stack.extend(parts);
        symbol
    }

    /// Evaluates an operator on the terms from `start` on, which are normal forms unless it has a strategy.
    fn invoke(&mut self, code: &Code, symbol: SymbolId, start: usize) -> Result<Outcome, Stop> {
        self.maybe_collect();
        match code.natures[symbol.0 as usize] {
            Nature::Defined => return self.invoke_defined(code, symbol, start),
            Nature::Inert => {
                let term = self.finish_inert(code, symbol, start);
                self.stack.push(term);
                return Ok(Outcome::Value);
            }
            Nature::WithLaws => return self.invoke_with_laws(code, symbol, start),
            Nature::Other => {}
        }
        let data = code.signature.symbol(symbol);
        if let Some(strategy) = &data.strategy {
            return self.follow(code, symbol, start, strategy);
        }
        if data.memo {
            let result = self.remember(code, symbol, start)?;
            self.stack.push(result);
            return Ok(Outcome::Value);
        }
        if let Some(builtin) = &code.builtins[symbol.0 as usize]
            && let Some(result) = self.call_builtin(code, symbol, builtin, start)?
        {
            self.rewrites += 1;
            self.check()?;
            self.stack.truncate(start);
            return self.finish_with(code, result);
        }
        self.invoke_defined(code, symbol, start)
    }

    /// The same for an operator that has equations and nothing else.
    #[inline]
    fn invoke_defined(&mut self, code: &Code, symbol: SymbolId, start: usize) -> Result<Outcome, Stop> {
        let arguments = &self.stack[start..];
        if self.used.is_none()
            && let Some((result, cost)) = self.recent.find(symbol, arguments)
        {
            self.rewrites += u64::from(cost);
            self.stack.truncate(start);
            self.stack.push(result);
            return Ok(Outcome::Value);
        }
        match self.try_equations(code, symbol, start)? {
            Some((equation, base)) => Ok(Outcome::Enter(equation, base as u32)),
            None => {
                let term = self.finish(code, symbol, start)?;
                self.stack.push(term);
                Ok(Outcome::Value)
            }
        }
    }

    /// The same for an operator with laws: these come first, so that equations see flat terms.
    fn invoke_with_laws(&mut self, code: &Code, symbol: SymbolId, start: usize) -> Result<Outcome, Stop> {
        let term = match self.stack[start..] {
            // Made already.
            [term] if self.terms.has_top(term, symbol) && code.signature.symbol(symbol).is_assoc() => term,
            _ => {
                self.check_room(start)?;
                self.terms.make(&code.signature, symbol, &self.stack[start..])
            }
        };
        self.stack.truncate(start);
        // What has collapsed was a normal form before.
        if self.terms.is_reduced(term) || !self.terms.has_top(term, symbol) {
            return self.finish_with(code, term);
        }
        self.stack.push(term);
        self.rewrite_whole(code, symbol, start)
    }

    /// Pushes the normal form of a term.
    fn finish_with(&mut self, code: &Code, term: TermId) -> Result<Outcome, Stop> {
        self.stack.push(term);
        if !self.terms.is_reduced(term) {
            let result = self.normal_form(code, term)?;
            *self.stack.last_mut().expect("it is there") = result;
        }
        Ok(Outcome::Value)
    }

    /// Finds an equation for a free operator whose arguments begin at a place of the stack: its number, and the place of
    /// its frame.
    fn try_equations(
        &mut self,
        code: &Code,
        symbol: SymbolId,
        start: usize,
    ) -> Result<Option<(u32, usize)>, Stop> {
        let arguments_end = self.stack.len();
        for &number in &code.equations_of[symbol.0 as usize] {
            let equation = &code.equations[number as usize];
            if let Some(looks) = &equation.looks {
                let passes = straight::passes(&code.signature, &self.terms, &mut self.stack, start, looks);
                if passes && equation.tests.is_empty() && self.used.is_none() {
                    self.stack.resize(start + equation.slots as usize, TermId::NONE);
                    self.rewrites += 1;
                    self.check().map_err(|stop| self.at_equation(code, stop, equation, start))?;
                    return Ok(Some((number, start)));
                }
                if passes {
                    self.stack.resize(start + equation.slots as usize, TermId::NONE);
                    let mark = self.trail.len();
                    if self.conclude(code, number, start, &mut Vec::new(), mark)? {
                        return Ok(Some((number, start)));
                    }
                    self.undo(mark);
                }
                self.stack.truncate(arguments_end);
                continue;
            }
            let lacks =
                |&(at, top): &(u32, SymbolId)| !self.terms.has_top(self.stack[start + at as usize], top);
            if equation.needs.iter().any(lacks) {
                continue;
            }
            let mut base = self.stack.len();
            let mut goals: Vec<Goal<'_>> = Vec::new();
            let mark = self.trail.len();
            let matched = match &equation.pattern {
                Pattern::Free { arguments, .. } => {
                    self.stack.resize(base + equation.slots as usize, TermId::NONE);
                    arguments.iter().enumerate().all(|(at, argument)| {
                        let subject = self.stack[start + at];
                        self.match_part(code, argument, subject, base, &mut goals)
                    })
                }
                // A constant, or a pattern that can collapse.
                pattern => {
                    let term = self.terms.make(&code.signature, symbol, &self.stack[start..]);
                    self.stack.push(term);
                    base += 1;
                    self.stack.resize(base + equation.slots as usize, TermId::NONE);
                    self.match_simple(code, pattern, term, base, &mut goals)
                }
            };
            if matched && self.conclude(code, number, base, &mut goals, mark)? {
                return Ok(Some((number, base)));
            }
            self.undo(mark);
            self.stack.truncate(arguments_end);
        }
        Ok(None)
    }

    /// Solves the goals and the condition of an equation, and counts it if that is possible.
    fn conclude<'c>(
        &mut self,
        code: &'c Code,
        number: u32,
        base: usize,
        goals: &mut Vec<Goal<'c>>,
        mark: usize,
    ) -> Result<bool, Stop> {
        let equation = &code.equations[number as usize];
        if !goals.is_empty() || !equation.tests.is_empty() {
            let mut found = |engine: &mut Engine| engine.test_all(code, equation, 0, base);
            let solved = self.solve(code, goals, base, &mut found);
            if !solved.map_err(|stop| self.at_equation(code, stop, equation, base))? {
                return Ok(false);
            }
            // Conditions may have left values above the frame.
            self.stack.truncate(base + equation.slots as usize);
        }
        self.rewrites += 1;
        self.check().map_err(|stop| self.at_equation(code, stop, equation, base))?;
        if let Some(used) = &mut self.used {
            used[number as usize] = true;
        }
        self.trail.truncate(mark);
        Ok(true)
    }

    /// What an equation for a part of a list or bag has left over.
    fn extension(&self, statement: &Compiled, base: usize) -> Option<(SymbolId, TermId, TermId)> {
        let (symbol, left, right) = statement.extension?;
        let slot = |slot: u32| self.stack[base + slot as usize];
        let (left, right) =
            if left == right { (slot(left), TermId::NONE) } else { (slot(left), slot(right)) };
        (left != TermId::NONE || right != TermId::NONE).then_some((symbol, left, right))
    }

    /// The same, with the rest of a bag as a term.
    fn left_over(
        &mut self,
        code: &Code,
        statement: &Compiled,
        base: usize,
    ) -> Option<(SymbolId, TermId, TermId)> {
        let (symbol, left, right) = self.extension(statement, base)?;
        let left = if left == TermId::LATER { self.with_rest(code, symbol, self.stack.len()) } else { left };
        Some((symbol, left, right))
    }

    /// A bag of what the latest match has left over and of the elements of the terms on the stack from `top` on.
    fn with_rest(&mut self, code: &Code, symbol: SymbolId, top: usize) -> TermId {
        let mut parts = std::mem::take(&mut self.parts);
        parts.clear();
        let from = self.rests.last().copied().unwrap_or(0);
        parts.extend_from_slice(&self.rest[from..]);
        let term = self.terms.made_bag_with(&code.signature, symbol, &mut parts, &self.stack[top..]);
        self.parts = parts;
        term
    }

    /// Forgets what matches have left over, but for so many of the first ones.
    fn drop_rests(&mut self, count: usize) {
        if let Some(&from) = self.rests.get(count) {
            self.rest.truncate(from);
            self.rests.truncate(count);
        }
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
                    let place = equation.places.get(at).map_or(at, |&place| place as usize);
                    let term = *self.stack.get(base + place)?;
                    let text = || crate::print::beginning(&code.signature, &self.terms, term, 57);
                    (term != TermId::NONE).then(|| format!("{name} = {}", text()))
                })
                .collect();
            stop.term = Some(bindings.join(", "));
        }
        stop
    }

    /// Tries equations on the term of an operator with laws, which is on the stack at `start`.
    fn rewrite_whole(&mut self, code: &Code, symbol: SymbolId, start: usize) -> Result<Outcome, Stop> {
        let data = code.signature.symbol(symbol);
        if let Some(builtin) = &code.builtins[symbol.0 as usize] {
            let term = self.stack[start];
            if let Some(result) = self.call_flat(code, symbol, builtin, term)? {
                self.rewrites += 1;
                self.check()?;
                self.stack[start] = result;
                if !self.terms.has_top(result, symbol) || self.terms.is_reduced(result) {
                    self.stack.truncate(start);
                    return self.finish_with(code, result);
                }
            }
        }
        let term = self.stack[start];
        if data.memo
            && let Some(&known) = self.memo.get(&term)
        {
            self.rewrites += 1;
            self.stack[start] = known;
            return Ok(Outcome::Value);
        }
        for &number in &code.equations_of[symbol.0 as usize] {
            let equation = &code.equations[number as usize];
            let base = self.stack.len();
            self.stack.resize(base + equation.slots as usize, TermId::NONE);
            let mut goals: Vec<Goal<'_>> = Vec::new();
            let mark = self.trail.len();
            if self.match_simple(code, &equation.pattern, term, base, &mut goals)
                && self.conclude(code, number, base, &mut goals, mark)?
            {
                return Ok(Outcome::Enter(number, base as u32));
            }
            self.undo(mark);
            self.stack.truncate(base);
        }
        self.settle(code, term)?;
        Ok(Outcome::Value)
    }

    /// Evaluates arguments in the order of a strategy.
    fn follow(
        &mut self,
        code: &Code,
        symbol: SymbolId,
        start: usize,
        strategy: &[u32],
    ) -> Result<Outcome, Stop> {
        for &step in strategy {
            match step {
                0 => {
                    if let Some(builtin) = &code.builtins[symbol.0 as usize]
                        && let Some(result) = self.call_builtin(code, symbol, builtin, start)?
                    {
                        self.rewrites += 1;
                        self.stack.truncate(start);
                        return self.finish_with(code, result);
                    }
                    if let Some((equation, base)) = self.try_equations(code, symbol, start)? {
                        return Ok(Outcome::Enter(equation, base as u32));
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
        Ok(Outcome::Value)
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
            Some((equation, base)) => self.enter(code, equation, base, start + 1, 0)?,
        };
        self.stack.truncate(start);
        self.memo.insert(term, result);
        Ok(result)
    }

    /// A term of an operator that has no equations.
    #[inline]
    fn finish_inert(&mut self, code: &Code, symbol: SymbolId, start: usize) -> TermId {
        let term = match self.stack[start..] {
            [one] => self.terms.made_inert(&code.signature, symbol, &[one.0]),
            [one, two] => self.terms.made_inert(&code.signature, symbol, &[one.0, two.0]),
            [one, two, three] => self.terms.made_inert(&code.signature, symbol, &[one.0, two.0, three.0]),
            ref arguments => {
                let row: Vec<u32> = arguments.iter().map(|argument| argument.0).collect();
                self.terms.made_inert(&code.signature, symbol, &row)
            }
        };
        self.stack.truncate(start);
        // It may have been made before memberships gave its arguments their sorts.
        if !code.memberships.is_empty() {
            self.terms.renew_sort(&code.signature, term);
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
        let mut sort = self.terms.renew_sort(&code.signature, term);
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
            // The same term may have been made before memberships gave its elements their sorts.
            if !code.memberships.is_empty() && self.terms.symbol(term).is_some() {
                self.terms.renew_sort(&code.signature, term);
            }
            if reduced {
                self.terms.set_reduced(term);
            }
            return self.terms.sort(term);
        }
        self.stack.push(term);
        let rests = self.rests.len();
        // A membership whose condition can't be evaluated says nothing.
        if self.settle(code, term).is_err() {
            self.drop_rests(rests);
        }
        self.stack.pop();
        if !reduced {
            self.terms.set_unreduced(term);
        }
        self.terms.sort(term)
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
        found: Found<'_>,
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
        found: Found<'_>,
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
        found: Found<'_>,
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
        found: Found<'_>,
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
