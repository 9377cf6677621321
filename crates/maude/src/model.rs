//! A module with an initial term as a model: states are normal forms, steps are rules.
//!
//! A state is one number: that of a row in a table that all threads share, which holds an operator and the numbers of its
//! arguments; if it is a bag, it has one for each element ([`crate::soup`]). Every thread computes with terms of its own ([`Engine`]) and translates at the border; what it knows of
//! both sides it forgets when its engine collects garbage.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use ::model::{
    Gate, Layout, LocalRows, Mark, MarkKind, Model, ModelError, OfferType, PackedWorker, Proposition,
    Provenance, SharedRows, Slot, StateReader, StateView, Step, Worker,
};
use lts::{LabelId, OriginId};
use rustc_hash::FxHashMap;
use source::Span;

use crate::engine::code::{Code, Compiled, ListPart, Pattern, Test};
use crate::engine::{Engine, Limits, Stop};
use crate::modules::Database;
use crate::names::Name;
use crate::print;
use crate::reader::Reader;
use crate::signature::{SortId, SymbolId, Theory};
use crate::soup::{SEVERAL, Shape, Soup};
use crate::terms::{TermId, Terms, Top};

const VARIABLE: u32 = 1 << 31;

/// A module with an initial term.
pub struct MaudeModel {
    pub(crate) code: std::sync::Arc<Code>,
    pub(crate) database: Database,
    initial: Vec<Slot>,
    layout: Layout,
    /// Of states that are bags.
    shape: Option<Shape>,
    provenance: Provenance,
    /// The terms of states: an operator and its row, arguments being numbers of rows.
    rows: SharedRows,
    /// The texts of labels, from 1 on; for labels with values see `valued`.
    labels: Vec<String>,
    pub(crate) label_of: Vec<u32>,
    pub(crate) origin_of: Vec<OriginId>,
    /// The marks of each rule.
    rule_marks: Vec<RuleMarks>,
    /// Labels with values: the rule and the values.
    valued: Option<SharedRows>,
    /// The slots of the values that labels show, for each rule.
    shown: Vec<Vec<u32>>,
    propositions: Vec<Proposition>,
    /// `_|=_`, and the constant on its right.
    atoms: Vec<(SymbolId, SymbolId)>,
    /// Which equations were used by any worker.
    used: Vec<AtomicBool>,
    /// Those that the initial term needs, which every run begins with.
    used_at_start: Vec<bool>,
    watch: bool,
    pub(crate) limits: Limits,
    printer: Mutex<Terms>,
}

/// The marks of a rule: that it is applied, and for each fragment of its condition that decides something that it holds;
/// behind this is that it does not.
pub(crate) struct RuleMarks {
    applied: u32,
    holds: Vec<Option<u32>>,
}

/// What coverage counts, and the marks of each rule among it.
pub(crate) fn marks_of(code: &Code) -> (Vec<Mark>, Vec<RuleMarks>) {
    let mut marks = Vec::new();
    let mut rules = Vec::new();
    for rule in &code.rules {
        let statement = &code.module.statements[rule.statement];
        let process = statement.module.text().to_owned();
        let applied = marks.len() as u32;
        marks.push(Mark { kind: MarkKind::Action, span: statement.span, process: process.clone() });
        let mut holds = Vec::new();
        for (&span, condition) in statement.condition_spans.iter().zip(&statement.conditions) {
            if condition.only_names(&code.signature, &code.terms) {
                holds.push(None);
                continue;
            }
            holds.push(Some(marks.len() as u32));
            for outcome in [true, false] {
                marks.push(Mark { kind: MarkKind::Decision(outcome), span, process: process.clone() });
            }
        }
        rules.push(RuleMarks { applied, holds });
    }
    (marks, rules)
}

/// What a rule is called in labels.
pub(crate) fn rule_name(label: Option<Name>, line: usize) -> String {
    label.map_or_else(|| format!("rule_{line}"), |label| label.text().to_owned())
}

impl MaudeModel {
    /// A model; the error is why the initial term has no normal form.
    pub(crate) fn new(
        code: std::sync::Arc<Code>,
        database: Database,
        initial: TermId,
        names: Vec<String>,
        values: bool,
        watch: bool,
    ) -> Result<Self, Stop> {
        let (marks, rule_marks) = marks_of(&code);
        let provenance = Provenance::new(marks);
        let origins = provenance.origins().local();
        let origin_of = rule_marks
            .iter()
            .map(|rule| {
                let marks: Vec<u32> =
                    std::iter::once(rule.applied).chain(rule.holds.iter().flatten().copied()).collect();
                OriginId::from_raw(origins.intern(&marks))
            })
            .collect();
        let mut labels: Vec<String> = Vec::new();
        let label_of = names
            .iter()
            .map(|name| match labels.iter().position(|known| known == name) {
                Some(at) => at as u32 + 1,
                None => {
                    labels.push(name.clone());
                    labels.len() as u32
                }
            })
            .collect();
        let shown = code.rules.iter().map(shown_slots).collect();
        let (propositions, atoms) = atoms(&code);
        let used = code.equations.iter().map(|_| AtomicBool::new(false)).collect();
        let printer = Mutex::new(code.terms.clone());
        let mut model = Self {
            code,
            database,
            initial: Vec::new(),
            layout: Layout::default(),
            shape: None,
            provenance,
            rows: SharedRows::new(),
            labels,
            label_of,
            origin_of,
            rule_marks,
            valued: values.then(SharedRows::new),
            shown,
            propositions,
            atoms,
            used,
            used_at_start: Vec::new(),
            watch,
            limits: Limits { rewrites: 10_000_000, bytes: 4 << 30, depth: 400_000, ..Limits::default() },
            printer,
        };
        let (slots, shape, used) = {
            let mut worker = model.maude_worker();
            let term = worker.engine.reduce(initial)?;
            let shape = Shape::of(&model.code, &worker.engine.terms, term);
            let MaudeWorker { engine, border, soup, .. } = &mut worker;
            (soup.slots(shape.as_ref(), border, engine, term).to_vec(), shape, engine.used.take())
        };
        model.layout = Layout::new(&vec![32; slots.len()]);
        (model.initial, model.shape) = (slots, shape);
        model.used_at_start = used.unwrap_or_default();
        model.forget_fired();
        Ok(model)
    }

    pub(crate) fn maude_worker(&self) -> MaudeWorker<'_> {
        let mut engine = Engine::new(self.code.clone());
        engine.limits = self.limits;
        // States are asked for again and again: forgetting them costs more than their memory.
        engine.set_least_garbage(1 << 24);
        engine.meta = Some(Box::new(crate::meta::Meta::new(self.database.clone())));
        if self.valued.is_none() {
            engine.note_effects();
        }
        if self.watch {
            engine.used = Some(vec![false; self.code.equations.len()]);
        }
        let border = Border {
            code: &self.code,
            rows: self.rows.local(),
            valued: self.valued.as_ref().map(SharedRows::local),
            shared: Vec::new(),
            own: Vec::new(),
            epoch: 1,
            seen: 0,
            row: Vec::new(),
        };
        let origins = self.provenance.origins().local();
        MaudeWorker { model: self, engine, border, soup: Soup::default(), origins }
    }

    /// A term, in a table for printing.
    fn printed<R>(&self, number: u32, show: impl FnOnce(&Code, &mut Terms, TermId) -> R) -> R {
        let mut terms = self.printer.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let term = self.copy(number, &mut terms, &mut FxHashMap::default());
        show(&self.code, &mut terms, term)
    }

    /// The same for a state.
    pub(crate) fn printed_state<R>(
        &self,
        state: &[Slot],
        show: impl FnOnce(&Code, &mut Terms, TermId) -> R,
    ) -> R {
        let whole = match &self.shape {
            None => Some(state[0]),
            Some(_) => state[0].checked_sub(1),
        };
        if let Some(whole) = whole {
            return self.printed(whole, show);
        }
        let mut terms = self.printer.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let mut known = FxHashMap::default();
        let mut parts = Vec::new();
        for number in state[1..].iter().map_while(|slot| slot.checked_sub(1)) {
            let (number, times) = match self.rows.row(number)[..] {
                [SEVERAL, element, times] => (element, times),
                _ => (number, 1),
            };
            parts.push((self.copy(number, &mut terms, &mut known), times));
        }
        let shape = self.shape.as_ref().expect("it has slots");
        let bag = shape.bag_of(&self.code, &mut terms, &parts);
        let term = shape.wrap(&self.code, &mut terms, bag);
        show(&self.code, &mut terms, term)
    }

    fn copy(&self, number: u32, terms: &mut Terms, known: &mut FxHashMap<u32, TermId>) -> TermId {
        if let Some(&term) = known.get(&number) {
            return term;
        }
        stacker::maybe_grow(64 << 10, 1 << 20, || {
            let mut row = self.rows.row(number);
            let symbol = row.remove(0);
            if symbol & VARIABLE != 0 {
                return terms.variable(Name::from_number(row[0]), SortId(symbol & !VARIABLE));
            }
            let symbol = SymbolId(symbol);
            let signature = &self.code.signature;
            let step = distance(signature.symbol(symbol).theory);
            let mut at = 0;
            while step > 0 && at < row.len() {
                row[at] = self.copy(row[at], terms, known).0;
                at = at.saturating_add(step);
            }
            let term = terms.made_again(signature, symbol, &row);
            known.insert(number, term);
            term
        })
    }

    /// A state as text.
    pub fn state_text(&self, state: &[Slot]) -> String {
        self.printed_state(state, |code, terms, term| print::one_line(&code.signature, terms, term))
    }
}

/// The slots of variables that say what a rule was applied to, and what its condition has chosen: not those that take the
/// rest of a soup.
fn shown_slots(rule: &Compiled) -> Vec<u32> {
    /// Whether a pattern may match one term in several ways.
    fn chooses(pattern: &Pattern) -> bool {
        match pattern {
            Pattern::Variable { .. } | Pattern::Ground(_) => false,
            Pattern::Free { arguments, .. } => arguments.iter().any(chooses),
            Pattern::Iter { inner, .. } => chooses(inner),
            Pattern::Pair { .. } | Pattern::Tower { .. } | Pattern::List(_) | Pattern::Bag(_) => true,
        }
    }
    fn collect(pattern: &Pattern, slots: &mut Vec<u32>) {
        match pattern {
            Pattern::Variable { slot, .. } => slots.push(*slot),
            Pattern::Ground(_) => {}
            Pattern::Free { arguments, .. } => arguments.iter().for_each(|argument| collect(argument, slots)),
            Pattern::Pair { one, two, .. } => {
                collect(one, slots);
                collect(two, slots);
            }
            Pattern::Iter { inner, .. } => collect(inner, slots),
            Pattern::Tower { part, .. } => collect(part, slots),
            Pattern::List(list) => {
                for part in &list.parts {
                    match part {
                        ListPart::Element(element) => collect(element, slots),
                        ListPart::Variable(taker) if taker.single => slots.push(taker.slot),
                        ListPart::Variable(_) => {}
                    }
                }
            }
            Pattern::Bag(bag) => {
                bag.elements.iter().for_each(|(element, _)| collect(element, slots));
                slots.extend(bag.takers.iter().filter(|taker| taker.single).map(|taker| taker.slot));
            }
        }
    }
    let mut slots = Vec::new();
    collect(&rule.pattern, &mut slots);
    for test in &rule.tests {
        if let Test::Assign(_, pattern) = test
            && chooses(pattern)
        {
            collect(pattern, &mut slots);
        }
    }
    slots.sort_unstable();
    slots.dedup();
    slots
}

/// The constants that `_|=_` takes on the right: conditions on states that have names.
fn atoms(code: &Code) -> (Vec<Proposition>, Vec<(SymbolId, SymbolId)>) {
    let signature = &code.signature;
    let mut propositions = Vec::new();
    let mut atoms = Vec::new();
    for &satisfies in signature.named(Name::new("_|=_")) {
        let Some(&kind) = signature.symbol(satisfies).domain.get(1) else { continue };
        for id in signature.symbol_ids() {
            let symbol = signature.symbol(id);
            let is_atom = symbol.arity() == 0
                && symbol.range == kind
                && !matches!(symbol.name.text(), "True" | "False");
            if is_atom && symbol.theory != Theory::Data {
                propositions.push(Proposition { name: symbol.name.text().to_owned(), span: symbol.span });
                atoms.push((satisfies, id));
            }
        }
    }
    (propositions, atoms)
}

/// A computation that ended early, as an error of the model.
pub(crate) fn model_error(stop: Stop) -> ModelError {
    let mut message = stop.message.clone();
    if let Some(term) = stop.term.as_ref().filter(|term| !term.is_empty()) {
        message = format!("{message}, with {term}");
    }
    let help = stop.limit.then(|| "do its equations come to an end?".to_owned());
    ModelError { message, span: stop.span, help, during: None }
}

impl Model for MaudeModel {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn initial(&self) -> Result<Vec<Slot>, ModelError> {
        Ok(self.initial.clone())
    }

    fn worker(&self) -> Box<dyn Worker + '_> {
        Box::new(self.maude_worker())
    }

    fn packed_worker(&self) -> Box<dyn PackedWorker + '_> {
        // Every slot is a word of its own.
        Box::new(self.maude_worker())
    }

    fn label(&self, label: LabelId) -> String {
        if label == LabelId::new(0) {
            return "i".to_owned();
        }
        let number = label.raw() - 1;
        let Some(valued) = &self.valued else { return self.labels[number as usize].clone() };
        let row = valued.row(number);
        let mut text = self.labels[self.label_of[row[0] as usize] as usize - 1].clone();
        for &value in &row[1..] {
            text.push_str(" !");
            text.push_str(
                &self.printed(value, |code, terms, term| print::one_line(&code.signature, terms, term)),
            );
        }
        text
    }

    fn describe(&self, state: &[Slot]) -> StateView {
        self.printed_state(state, |code, terms, term| StateView { values: components(code, terms, term) })
    }

    fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    fn bytes(&self) -> usize {
        self.rows.bytes() + self.valued.as_ref().map_or(0, SharedRows::bytes) + self.provenance.bytes()
    }

    fn reader(&self) -> Option<Box<dyn StateReader + '_>> {
        Some(Box::new(Reader::new(self)))
    }

    fn visible_gates(&self) -> Option<Vec<Gate>> {
        let mut gates: Vec<Gate> = Vec::new();
        for (rule, &label) in self.label_of.iter().enumerate() {
            let name = self.labels[label as usize - 1].clone();
            let offers = if self.valued.is_some() { self.shown[rule].len() } else { 0 };
            let profile = vec![OfferType::Other; offers];
            match gates.iter_mut().find(|gate| gate.name == name) {
                Some(gate) => gate.profiles.push(profile),
                None => gates.push(Gate { name, profiles: vec![profile] }),
            }
        }
        Some(gates)
    }

    fn propositions(&self) -> &[Proposition] {
        &self.propositions
    }

    fn holds(&self, proposition: usize, state: &[Slot]) -> Result<bool, ModelError> {
        let mut worker = self.maude_worker();
        let term = worker.term(state);
        let (satisfies, atom) = self.atoms[proposition];
        let atom = worker.engine.terms.make(&self.code.signature, atom, &[]);
        let whole = worker.engine.terms.make(&self.code.signature, satisfies, &[term, atom]);
        let value = worker.engine.reduce(whole).map_err(model_error)?;
        Ok(self.code.booleans.is_some_and(|(yes, _)| yes == value))
    }

    fn fired_in_functions(&self) -> Vec<(MarkKind, Span)> {
        let used =
            self.used.iter().zip(&self.code.equations).filter(|(used, _)| used.load(Ordering::Relaxed));
        used.map(|(_, equation)| (MarkKind::Block, equation.span)).collect()
    }

    fn forget_fired(&self) {
        for (at, used) in self.used.iter().enumerate() {
            used.store(self.used_at_start.get(at).is_some_and(|&start| start), Ordering::Relaxed);
        }
    }
}

/// The named parts of a state: the components of a soup such as `{(lock: false) (pc[p1]: rs)}`, or the whole.
fn components(code: &Code, terms: &mut Terms, term: TermId) -> Vec<(String, String)> {
    let signature = &code.signature;
    let show = |terms: &Terms, term: TermId| print::one_line(signature, terms, term);
    let mut soup = term;
    // One operator around a soup, as braces are.
    while let Some(symbol) = terms.symbol(soup) {
        let data = signature.symbol(symbol);
        match data.theory {
            Theory::Free if data.arity() == 1 => soup = TermId(terms.row(soup)[0]),
            _ => break,
        }
    }
    let is_soup = terms.symbol(soup).is_some_and(|symbol| signature.symbol(symbol).theory == Theory::Bag);
    if !is_soup {
        return vec![("state".to_owned(), show(terms, term))];
    }
    let mut values = Vec::new();
    for element in terms.arguments(soup) {
        let text = show(terms, element);
        let Top::Symbol(symbol) = terms.top(element) else {
            values.push((String::new(), text));
            continue;
        };
        let data = signature.symbol(symbol);
        let named = data.mixfix.len() > 1
            && data.mixfix[0].is_some()
            && data.mixfix.last() == Some(&None)
            && data.theory == Theory::Free;
        if named {
            let last = TermId(*terms.row(element).last().expect("it has arguments"));
            let value = show(terms, last);
            let name = text.strip_suffix(&format!("({value})")).or_else(|| text.strip_suffix(&value));
            if let Some(name) = name {
                let name = name.trim_end().trim_end_matches([':', '=']).trim_end();
                values.push((name.to_owned(), value));
                continue;
            }
        }
        match data.mixfix.is_empty() && data.arity() > 0 {
            true => {
                let inner = text.strip_prefix(data.name.text()).unwrap_or(&text).to_owned();
                values.push((data.name.text().to_owned(), inner));
            }
            false => values.push((text, String::new())),
        }
    }
    values
}

/// Computes steps on one thread.
pub(crate) struct MaudeWorker<'a> {
    model: &'a MaudeModel,
    pub(crate) engine: Engine,
    border: Border<'a>,
    soup: Soup,
    origins: LocalRows<'a>,
}

/// Translates between the terms of a thread and shared rows.
pub(crate) struct Border<'a> {
    pub(crate) code: &'a Code,
    rows: LocalRows<'a>,
    /// Labels with values.
    valued: Option<LocalRows<'a>>,
    /// Numbers of shared rows by own terms, and the other way round, each with the epoch in which it was noted.
    shared: Vec<(u32, u32)>,
    own: Vec<(u32, u32)>,
    epoch: u32,
    /// How many collections of garbage the notes have survived.
    seen: u64,
    row: Vec<u32>,
}

/// At which distance terms stand in a row: 0 for none.
fn distance(theory: Theory) -> usize {
    match theory {
        Theory::Free | Theory::Pair | Theory::List => 1,
        Theory::Bag => 2,
        Theory::Iter => usize::MAX,
        Theory::Data => 0,
    }
}

impl Border<'_> {
    /// Forgets notes about terms that may be gone.
    fn refresh(&mut self, engine: &Engine) {
        if engine.collections != self.seen {
            self.seen = engine.collections;
            self.epoch += 1;
        }
    }

    /// The shared number of a term.
    pub(crate) fn shared_number(&mut self, engine: &Engine, term: TermId) -> u32 {
        self.refresh(engine);
        if let Some(&(epoch, number)) = self.shared.get(term.0 as usize)
            && epoch == self.epoch
        {
            return number;
        }
        let number = stacker::maybe_grow(64 << 10, 1 << 20, || self.share(engine, term));
        let at = term.0 as usize;
        if self.shared.len() <= at {
            self.shared.resize(at + 1, (0, 0));
        }
        self.shared[at] = (self.epoch, number);
        self.note_own(number, term);
        number
    }

    fn share(&mut self, engine: &Engine, term: TermId) -> u32 {
        let (top, step) = match engine.terms.top(term) {
            Top::Variable(sort) => (sort.0 | VARIABLE, 0),
            Top::Symbol(symbol) => (symbol.0, distance(self.code.signature.symbol(symbol).theory)),
        };
        let start = self.row.len();
        self.row.push(top);
        for (at, &item) in engine.terms.row(term).iter().enumerate() {
            let is_term = step != 0 && at % step == 0;
            let item = if is_term { self.shared_number(engine, TermId(item)) } else { item };
            self.row.push(item);
        }
        let number = self.rows.intern(&self.row[start..]);
        self.row.truncate(start);
        number
    }

    /// The own term of a shared number.
    pub(crate) fn own_term(&mut self, engine: &mut Engine, number: u32) -> TermId {
        self.refresh(engine);
        if let Some(&(epoch, term)) = self.own.get(number as usize)
            && epoch == self.epoch
        {
            return TermId(term);
        }
        let term = stacker::maybe_grow(64 << 10, 1 << 20, || self.take_over(engine, number));
        self.note_own(number, term);
        term
    }

    /// The shared number of an element that is there so many times.
    pub(crate) fn part_number(&mut self, engine: &Engine, term: TermId, times: u32) -> u32 {
        let number = self.shared_number(engine, term);
        if times == 1 { number } else { self.rows.intern(&[SEVERAL, number, times]) }
    }

    /// The element with a shared number, and how many times it is there.
    pub(crate) fn own_part(&mut self, engine: &mut Engine, number: u32) -> (TermId, u32) {
        self.refresh(engine);
        if let Some(&(epoch, term)) = self.own.get(number as usize)
            && epoch == self.epoch
        {
            return (TermId(term), 1);
        }
        match *self.rows.row(number) {
            [SEVERAL, element, times] => (self.own_term(engine, element), times),
            _ => (self.own_term(engine, number), 1),
        }
    }

    fn note_own(&mut self, number: u32, term: TermId) {
        let at = number as usize;
        if self.own.len() <= at {
            self.own.resize(at + 1, (0, 0));
        }
        self.own[at] = (self.epoch, term.0);
    }

    fn take_over(&mut self, engine: &mut Engine, number: u32) -> TermId {
        let start = self.row.len();
        let row = self.rows.row(number);
        let top = row[0];
        self.row.extend_from_slice(&row[1..]);
        if top & VARIABLE != 0 {
            let name = Name::from_number(self.row[start]);
            self.row.truncate(start);
            return engine.terms.variable(name, SortId(top & !VARIABLE));
        }
        let symbol = SymbolId(top);
        let theory = self.code.signature.symbol(symbol).theory;
        let step = distance(theory);
        let mut at = start;
        while step > 0 && at < self.row.len() {
            self.row[at] = self.own_term(engine, self.row[at]).0;
            at = at.saturating_add(step);
        }
        let term = engine.terms.made_again(&self.code.signature, symbol, &self.row[start..]);
        self.row.truncate(start);
        // States are normal forms; their sorts may need memberships.
        engine.sort_of(self.code, term, true);
        term
    }
}

impl PackedWorker for MaudeWorker<'_> {
    fn successors(&mut self, packed: &[u32], emit: &mut dyn FnMut(Step<'_>)) -> Result<(), ModelError> {
        Worker::successors(self, packed, emit)
    }
}

impl MaudeWorker<'_> {
    /// The term of a state.
    pub(crate) fn term(&mut self, state: &[Slot]) -> TermId {
        let Self { model, engine, border, soup, .. } = self;
        soup.term(model.shape.as_ref(), border, engine, state)
    }

    /// The state of a term in normal form.
    pub(crate) fn state(&mut self, term: TermId) -> Vec<Slot> {
        let Self { model, engine, border, soup, .. } = self;
        soup.slots(model.shape.as_ref(), border, engine, term).to_vec()
    }

    /// The fragments of conditions that do not hold somewhere in a state: rules with positions in their conditions.
    pub(crate) fn refusals(&mut self, state: &[Slot]) -> Result<Vec<(usize, usize)>, ModelError> {
        let term = self.term(state);
        self.engine.begin();
        self.engine.watched = Some(Vec::new());
        let result = self.engine.steps(&self.model.code, term, &mut |_, _| Ok(false));
        let watched = self.engine.watched.take().unwrap_or_default();
        result.map_err(model_error)?;
        let mut refused: Vec<(usize, usize)> =
            watched.into_iter().filter(|&(.., held)| !held).map(|(rule, at, _)| (rule, at)).collect();
        refused.sort_unstable();
        refused.dedup();
        Ok(refused)
    }

    /// Notes which equations were used.
    fn note_used(&mut self) {
        if let Some(used) = &mut self.engine.used {
            for (used, shared) in used.iter_mut().zip(&self.model.used) {
                if std::mem::take(used) {
                    shared.store(true, Ordering::Relaxed);
                }
            }
        }
    }
}

impl Worker for MaudeWorker<'_> {
    fn successors(&mut self, state: &[Slot], emit: &mut dyn FnMut(Step<'_>)) -> Result<(), ModelError> {
        let Self { model, engine, border, soup, .. } = self;
        let shape = model.shape.as_ref();
        if let Some(shape) = shape
            && engine.notes_effects()
            && soup.steps(model, shape, border, engine, state, emit).map_err(model_error)?
        {
            return Ok(());
        }
        let term = soup.term(shape, border, engine, state);
        engine.begin();
        let result = engine.steps(&model.code, term, &mut |engine, step| {
            let target = soup.slots(shape, border, engine, step.result);
            let label = match border.valued.is_some() {
                false => model.label_of[step.rule],
                true => {
                    let mut row = vec![step.rule as u32];
                    for &slot in &model.shown[step.rule] {
                        let value = engine.stack[step.base + slot as usize];
                        row.push(border.shared_number(engine, value));
                    }
                    border.valued.as_mut().expect("it is there").intern(&row) + 1
                }
            };
            emit(Step { label: LabelId::from_raw(label), target, origin: model.origin_of[step.rule] });
            Ok(false)
        });
        self.note_used();
        result.map(|_| ()).map_err(model_error)
    }

    fn executed(&mut self, state: &[Slot], emit: &mut dyn FnMut(OriginId)) -> Result<(), ModelError> {
        let term = self.term(state);
        self.engine.begin();
        self.engine.watched = Some(Vec::new());
        let result = self.engine.steps(&self.model.code, term, &mut |_, _| Ok(false));
        let watched = self.engine.watched.take().unwrap_or_default();
        for (rule, fragment, outcome) in watched {
            if let Some(holds) = self.model.rule_marks[rule].holds[fragment] {
                emit(OriginId::from_raw(self.origins.intern(&[holds + u32::from(!outcome)])));
            }
        }
        self.note_used();
        result.map(|_| ()).map_err(model_error)
    }
}
