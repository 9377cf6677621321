//! Statements, made ready to run: patterns that are matched, and right sides that are built.

use std::sync::Arc;

use num_bigint::BigUint;
use rustc_hash::{FxHashMap, FxHashSet};
use source::Span;

use super::builtin::Builtin;
use super::{effects, recent, sharing, straight};
use crate::grammar::{Condition, Literals};
use crate::modules::{Module, Statement, variables_of};
use crate::names::Name;
use crate::signature::{KindId, Signature, SortId, SymbolId, Theory};
use crate::syntax::tree::StatementKind;
use crate::terms::{TermId, Terms, Top};

/// What a term has to look like. Variables are slots of a frame.
#[derive(Clone, Debug)]
pub enum Pattern {
    /// Anything of a sort, or what the slot holds already.
    Variable {
        /// The slot.
        slot: u32,
        /// The sort.
        sort: SortId,
    },
    /// This very term.
    Ground(TermId),
    /// An operator without laws.
    Free {
        /// The operator.
        symbol: SymbolId,
        /// What its arguments look like.
        arguments: Box<[Pattern]>,
    },
    /// An operator with laws but associativity.
    Pair {
        /// The operator.
        symbol: SymbolId,
        /// What its first argument looks like.
        one: Box<Pattern>,
        /// What its second argument looks like.
        two: Box<Pattern>,
    },
    /// A list.
    List(Box<ListPattern>),
    /// A bag.
    Bag(Box<BagPattern>),
    /// So many repetitions of an operator, at least.
    Iter {
        /// The operator.
        symbol: SymbolId,
        /// How often it stands there at least.
        count: BigUint,
        /// What is below.
        inner: Box<Pattern>,
    },
    /// Repetitions of which some of the outer ones may be left over.
    Tower {
        /// The operator.
        symbol: SymbolId,
        /// What the others look like.
        part: Box<Pattern>,
        /// The slot for those that are left over, on top of what is below all of them.
        over: u32,
    },
}

/// A list of parts, each of which takes some elements.
#[derive(Clone, Debug)]
pub struct ListPattern {
    /// The operator.
    pub symbol: SymbolId,
    /// The parts.
    pub parts: Vec<ListPart>,
    /// Slots for what is left before and after, where a part of a list may be matched.
    pub extension: Option<(u32, u32)>,
    /// If there is at most one way to match it, because all parts but one take one element each: where that one is, or how
    /// many parts there are if there is none.
    pub straight: Option<usize>,
}

/// A part of a list.
#[derive(Clone, Debug)]
pub enum ListPart {
    /// A variable that takes some elements.
    Variable(Taker),
    /// What one element looks like.
    Element(Pattern),
}

impl ListPart {
    /// Whether it takes exactly one element.
    pub fn is_fixed(&self) -> bool {
        match self {
            Self::Element(_) => true,
            Self::Variable(taker) => taker.single && !taker.empty,
        }
    }
}

/// A variable among the arguments of a list or bag.
#[derive(Clone, Copy, Debug)]
pub struct Taker {
    /// Its slot.
    pub slot: u32,
    /// Its sort.
    pub sort: SortId,
    /// How often it occurs.
    pub times: u32,
    /// Whether it can take one element at most.
    pub single: bool,
    /// Whether it can take nothing.
    pub empty: bool,
    /// Whether it is what the pattern leaves over.
    pub extension: bool,
}

/// Elements of a bag.
#[derive(Clone, Debug)]
pub struct BagPattern {
    /// The operator.
    pub symbol: SymbolId,
    /// Elements that are known.
    pub ground: Vec<(TermId, u32)>,
    /// What elements look like.
    pub elements: Vec<(Pattern, u32)>,
    /// Variables, those that take least first.
    pub takers: Vec<Taker>,
}

/// What builds a term, on a stack.
#[derive(Clone, Debug)]
pub enum Build {
    /// What a slot holds, evaluated.
    Slot(u32),
    /// What a slot holds.
    RawSlot(u32),
    /// A normal form.
    Constant(TermId),
    /// Applies an operator to so many terms, and evaluates it.
    Call(SymbolId, u32),
    /// The same, and nothing follows.
    Last(SymbolId, u32),
    /// Applies an operator without laws, for which the application of normal forms is one.
    Inert(SymbolId, u32),
    /// Applies an operator to so many terms.
    Raw(SymbolId, u32),
    /// Repeats an operator.
    Iterate(SymbolId, BigUint),
    /// The same without evaluation.
    RawIterate(SymbolId, BigUint),
    /// Goes on there unless the topmost term, which is taken off, is `true`; if it is neither `true` nor `false`, goes on
    /// at the second place, where the whole is built.
    Branch(u32, u32),
    /// Goes on there.
    Jump(u32),
    /// Keeps the topmost term in a slot: it is needed again.
    Keep(u32),
}

/// A fragment of a condition.
#[derive(Clone, Debug)]
pub enum Test {
    /// Two terms have the same normal form.
    Equal(Vec<Build>, Vec<Build>),
    /// A term is `true`.
    Holds(Vec<Build>),
    /// A term has a sort.
    Sort(Vec<Build>, SortId),
    /// A term matches a pattern.
    Assign(Vec<Build>, Pattern),
    /// A term can be rewritten into one that matches a pattern.
    Rewrite(Vec<Build>, Pattern),
}

/// A statement that can be run.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The left side.
    pub pattern: Pattern,
    /// How many slots a frame has.
    pub slots: u32,
    /// The condition.
    pub tests: Vec<Test>,
    /// The right side.
    pub build: Vec<Build>,
    /// The elements of a right side that is a bag for which there are no equations: they can be put into another one.
    pub elements: Option<(SymbolId, Vec<Vec<Build>>)>,
    /// The sort of a membership.
    pub sort: SortId,
    /// The variables, in the order of their slots: those of the left side first.
    pub variables: Vec<(Name, SortId)>,
    /// Position in the module's statements.
    pub statement: usize,
    /// The operator of the left side and the slots of what it leaves over.
    pub extension: Option<(SymbolId, u32, u32)>,
    /// Its label.
    pub label: Option<Name>,
    /// Where it is written.
    pub span: Span,
    /// For equations that are matched in one way: the tests, and the places of variables among the slots.
    pub looks: Option<Vec<straight::Look>>,
    /// The operator and how many arguments there are, if results of calls are kept for a while.
    pub kept_as: Option<(SymbolId, u32)>,
    /// See `looks`; empty where variables have the slots of their order.
    pub places: Vec<u32>,
    /// Whether a rule's effect on an element of a bag does not depend on the other ones but for partners that the element
    /// determines.
    pub local: bool,
    /// Arguments of a free operator at the top, and the operators that they have to have at their tops.
    pub needs: Vec<(u32, SymbolId)>,
}

/// How an operator is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nature {
    /// No laws and no equations: applications of normal forms are normal forms.
    Inert,
    /// Equations, no laws.
    Defined,
    /// Laws.
    WithLaws,
    /// Built-in operations, strategies, results that are kept.
    Other,
}

/// A module made ready to run.
#[derive(Debug)]
pub struct Code {
    /// The module.
    pub module: Arc<Module>,
    /// Its signature.
    pub signature: Arc<Signature>,
    /// The terms of its statements.
    pub terms: Terms,
    /// Equations.
    pub equations: Vec<Compiled>,
    /// Memberships.
    pub memberships: Vec<Compiled>,
    /// Rules.
    pub rules: Vec<Compiled>,
    /// The equations that an operator at the top may fit, `owise` last.
    pub equations_of: Vec<Vec<u32>>,
    /// The memberships.
    pub memberships_of: Vec<Vec<u32>>,
    /// The rules.
    pub rules_of: Vec<Vec<u32>>,
    /// Built-in operations.
    pub builtins: Vec<Option<Builtin>>,
    /// Whether applications are normal forms if their arguments are.
    pub inert: Vec<bool>,
    /// How operators are evaluated.
    pub natures: Vec<Nature>,
    /// Whether rules can apply to arguments of an operator or below.
    pub reaches_rules: Vec<bool>,
    /// `true` and `false`.
    pub booleans: Option<(TermId, TermId)>,
    /// Constants of built-in types.
    pub literals: Literals,
}

impl Code {
    /// Compiles a module.
    pub fn new(module: &Arc<Module>) -> Self {
        Self::with_terms(module, module.terms.clone())
    }

    /// The same for a table of terms that has more than the module's.
    pub fn with_terms(module: &Arc<Module>, mut terms: Terms) -> Self {
        let signature = module.signature.clone();
        let count = signature.symbols.len();
        let boolean = |terms: &mut Terms, text: &str| {
            let sort = signature.sort(Name::new("Bool"))?;
            let kind = signature.kind_of(sort);
            let symbol = signature.find(Name::new(text), &[], kind)?;
            Some(terms.make(&signature, symbol, &[]))
        };
        let booleans = boolean(&mut terms, "true").zip(boolean(&mut terms, "false"));
        let literals = Literals::new(&signature, &mut terms);
        let builtins: Vec<Option<Builtin>> =
            signature.symbol_ids().map(|id| Builtin::new(&signature, &mut terms, id)).collect();
        let mut code = Self {
            module: module.clone(),
            signature: signature.clone(),
            terms,
            equations: Vec::new(),
            memberships: Vec::new(),
            rules: Vec::new(),
            equations_of: vec![Vec::new(); count],
            memberships_of: vec![Vec::new(); count],
            rules_of: vec![Vec::new(); count],
            builtins,
            inert: vec![false; count],
            natures: vec![Nature::Other; count],
            reaches_rules: vec![false; count],
            booleans,
            literals,
        };
        // Which operators have equations decides how right sides are built.
        let executable = || module.statements.iter().enumerate().filter(|(_, statement)| !statement.nonexec);
        let mut defined = vec![false; count];
        for (_, statement) in executable() {
            if statement.kind == StatementKind::Rule {
                continue;
            }
            let mut compiler = Compiler::new(&code, &code.terms, statement);
            let pattern = compiler.pattern(statement.left, false);
            match code.tops(&pattern) {
                Some(tops) => tops.into_iter().for_each(|top| defined[top.0 as usize] = true),
                None => defined.iter_mut().for_each(|defined| *defined = true),
            }
        }
        for ((symbol, defined), (inert, builtin)) in
            signature.symbols.iter().zip(defined).zip(code.inert.iter_mut().zip(&code.builtins))
        {
            *inert = !defined && builtin.is_none() && symbol.strategy.is_none() && !symbol.memo;
        }
        for (at, symbol) in signature.symbols.iter().enumerate() {
            code.natures[at] = match symbol.theory {
                Theory::Free if code.inert[at] => Nature::Inert,
                Theory::Free if symbol.strategy.is_none() && !symbol.memo && code.builtins[at].is_none() => {
                    Nature::Defined
                }
                Theory::Free => Nature::Other,
                _ => Nature::WithLaws,
            };
        }
        let is_membership = |statement: &Statement| statement.kind == StatementKind::Membership;
        let memberships = module.statements.iter().any(is_membership);
        // Without strategies, whatever is inside of a normal form is one.
        let eager = signature.symbols.iter().all(|symbol| symbol.strategy.is_none());
        let mut otherwise: Vec<(u32, bool)> = Vec::new();
        for (at, statement) in executable() {
            let mut compiled = code.compile(at, statement);
            if statement.kind == StatementKind::Equation {
                straight::straighten(&mut compiled, &signature, eager, memberships);
                compiled.kept_as = code.kept_as(&compiled);
            }
            let tops = code.tops(&compiled.pattern);
            let everything: Vec<SymbolId> = match tops {
                Some(tops) => tops,
                None => {
                    let kind = signature.kind_of(code.terms.sort(statement.left));
                    signature.symbol_ids().filter(|&id| signature.symbol(id).range == kind).collect()
                }
            };
            let (list, table) = match statement.kind {
                StatementKind::Equation => (&mut code.equations, &mut code.equations_of),
                StatementKind::Membership => (&mut code.memberships, &mut code.memberships_of),
                StatementKind::Rule => (&mut code.rules, &mut code.rules_of),
            };
            let number = list.len() as u32;
            for top in everything {
                if !table[top.0 as usize].contains(&number) {
                    table[top.0 as usize].push(number);
                }
            }
            if statement.kind == StatementKind::Equation {
                otherwise.push((number, statement.otherwise));
            }
            list.push(compiled);
        }
        for list in &mut code.equations_of {
            list.sort_by_key(|&equation| (otherwise[equation as usize].1, equation));
        }
        // Smaller sorts are tried first: then larger ones say nothing new.
        let memberships = &code.memberships;
        for list in &mut code.memberships_of {
            list.sort_by_key(|&at| {
                let sort = memberships[at as usize].sort;
                std::cmp::Reverse(signature.sorts[sort.0 as usize].index)
            });
        }
        code.find_reach();
        code
    }

    /// How results of an equation's operator are kept, if they are.
    fn kept_as(&self, equation: &Compiled) -> Option<(SymbolId, u32)> {
        let Pattern::Free { symbol, arguments } = &equation.pattern else { return None };
        let defined = self.natures[symbol.0 as usize] == Nature::Defined;
        let kept = defined && equation.looks.is_some() && arguments.len() <= recent::MOST_ARGUMENTS;
        kept.then_some((*symbol, arguments.len() as u32))
    }

    /// Finds out below which operators rules can apply.
    fn find_reach(&mut self) {
        let signature = self.signature.clone();
        let mut kinds: Vec<bool> = vec![false; signature.kinds.len()];
        loop {
            let mut changed = false;
            for id in signature.symbol_ids() {
                let symbol = signature.symbol(id);
                let below = |kinds: &[bool]| {
                    symbol
                        .domain
                        .iter()
                        .zip(&symbol.frozen)
                        .any(|(kind, &frozen)| !frozen && kinds[kind.0 as usize])
                };
                let here = !self.rules_of[id.0 as usize].is_empty() || below(&kinds);
                if here && !std::mem::replace(&mut kinds[symbol.range.0 as usize], true) {
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        for id in signature.symbol_ids() {
            let symbol = signature.symbol(id);
            let mut arguments = symbol.domain.iter().zip(&symbol.frozen);
            self.reaches_rules[id.0 as usize] =
                arguments.any(|(kind, &frozen)| !frozen && kinds[kind.0 as usize]);
        }
    }

    /// Whether a term with an operator at the top may take a step there.
    pub fn steps(&self, symbol: SymbolId) -> bool {
        let at = symbol.0 as usize;
        !self.rules_of[at].is_empty() || matches!(self.builtins[at], Some(Builtin::Counter))
    }

    /// The operators that a term may have at its top if it matches; none if that can be any.
    pub fn tops(&self, pattern: &Pattern) -> Option<Vec<SymbolId>> {
        let mut tops = Vec::new();
        self.add_tops(pattern, &mut tops).then_some(tops)
    }

    fn add_tops(&self, pattern: &Pattern, tops: &mut Vec<SymbolId>) -> bool {
        let mut push = |symbol: SymbolId| {
            if !tops.contains(&symbol) {
                tops.push(symbol);
            }
        };
        match pattern {
            Pattern::Variable { .. } => return false,
            Pattern::Ground(term) => match self.terms.symbol(*term) {
                Some(symbol) => push(symbol),
                None => return false,
            },
            Pattern::Free { symbol, .. } | Pattern::Iter { symbol, .. } | Pattern::Tower { symbol, .. } => {
                push(*symbol)
            }
            Pattern::Pair { symbol, one, two } => {
                push(*symbol);
                let data = self.signature.symbol(*symbol);
                if data.idem && !self.add_tops(one, tops) {
                    return false;
                }
                let ways = [(data.left_identity, one, two), (data.right_identity, two, one)];
                for (identity, empty, rest) in ways {
                    if identity.is_some_and(|identity| self.may_be(empty, identity))
                        && !self.add_tops(rest, tops)
                    {
                        return false;
                    }
                }
            }
            Pattern::List(list) => {
                push(list.symbol);
                let Some(identity) = self.signature.symbol(list.symbol).identity() else { return true };
                let must = list
                    .parts
                    .iter()
                    .filter(|part| !matches!(part, ListPart::Variable(taker) if taker.empty))
                    .collect::<Vec<_>>();
                match must[..] {
                    [] => return false,
                    [ListPart::Variable(_)] => return false,
                    [ListPart::Element(element)] => return self.add_tops(element, tops),
                    _ => {}
                }
                let _ = identity;
            }
            Pattern::Bag(bag) => {
                push(bag.symbol);
                if self.signature.symbol(bag.symbol).identity().is_none() {
                    return true;
                }
                let takers: Vec<&Taker> =
                    bag.takers.iter().filter(|taker| !taker.empty && !taker.extension).collect();
                let ground: u32 = bag.ground.iter().map(|&(_, times)| times).sum();
                let elements: u32 = bag.elements.iter().map(|(_, times)| times).sum();
                let taken: u32 = takers.iter().map(|taker| taker.times).sum();
                match ground + elements + taken {
                    0 => return false,
                    1 if taken == 1 => return false,
                    1 if ground == 1 => return self.add_tops(&Pattern::Ground(bag.ground[0].0), tops),
                    1 => return self.add_tops(&bag.elements[0].0, tops),
                    _ => {}
                }
            }
        }
        true
    }

    /// Whether a pattern may match a term, as far as its top and sort tell.
    fn may_be(&self, pattern: &Pattern, term: TermId) -> bool {
        match pattern {
            Pattern::Variable { sort, .. } => self.signature.leq(self.terms.sort(term), *sort),
            Pattern::Ground(ground) => *ground == term,
            _ => self
                .tops(pattern)
                .is_none_or(|tops| self.terms.symbol(term).is_some_and(|top| tops.contains(&top))),
        }
    }

    fn compile(&mut self, at: usize, statement: &Statement) -> Compiled {
        let extension = statement.kind != StatementKind::Membership;
        let compiled = self.compiled(&self.terms, at, statement, extension);
        mark_constants(&mut self.terms, &compiled);
        compiled
    }

    /// Compiles a statement whose terms are in a table that begins with the code's; `extension` says whether a part of a
    /// list or bag is matched too.
    pub fn statement(&self, terms: &mut Terms, statement: &Statement, extension: bool) -> Compiled {
        let compiled = self.compiled(terms, usize::MAX, statement, extension);
        mark_constants(terms, &compiled);
        compiled
    }

    fn compiled(&self, terms: &Terms, at: usize, statement: &Statement, extension: bool) -> Compiled {
        let mut compiler = Compiler::new(self, terms, statement);
        // Equations are tried on all parts of repetitions anyway.
        compiler.towers = statement.kind == StatementKind::Rule;
        let pattern = compiler.pattern(statement.left, extension);
        let tests = statement.conditions.iter().map(|condition| compiler.test(condition)).collect();
        let mut build = Vec::new();
        // The elements are evaluated instead of the whole.
        let kept = compiler.kept.clone();
        if statement.right != TermId::NONE {
            compiler.build(statement.right, &mut build);
            sharing::keep_last_calls(&mut build);
            sharing::mark_last_calls(&mut build);
        }
        compiler.kept = kept;
        let elements = compiler.elements(statement.right);
        let needs = match &pattern {
            Pattern::Free { arguments, .. } => arguments
                .iter()
                .enumerate()
                .filter_map(|(at, argument)| match argument {
                    Pattern::Free { symbol, .. } | Pattern::Iter { symbol, .. } => Some((at as u32, *symbol)),
                    Pattern::Ground(term) => terms.symbol(*term).map(|symbol| (at as u32, symbol)),
                    _ => None,
                })
                .collect(),
            _ => Vec::new(),
        };
        let local = statement.kind == StatementKind::Rule
            && match &pattern {
                Pattern::Bag(bag) => effects::is_local_bag(bag),
                pattern => effects::is_local_element(pattern),
            };
        Compiled {
            looks: None,
            places: Vec::new(),
            kept_as: None,
            local,
            pattern,
            slots: compiler.count,
            tests,
            build,
            elements,
            sort: statement.sort.unwrap_or(SortId(0)),
            variables: compiler.variables,
            statement: at,
            extension: compiler.extension,
            label: statement.label,
            span: statement.span,
            needs,
        }
    }

    /// A pattern with a condition, for commands: variables keep the slots of their order.
    pub fn pattern(&mut self, pattern: TermId, conditions: &[Condition], extension: bool) -> Compiled {
        let mut terms = std::mem::take(&mut self.terms);
        let compiled = self.pattern_in(&mut terms, pattern, conditions, extension);
        self.terms = terms;
        compiled
    }

    /// The same for terms in a table that begins with the code's.
    pub fn pattern_in(
        &self,
        terms: &mut Terms,
        pattern: TermId,
        conditions: &[Condition],
        extension: bool,
    ) -> Compiled {
        let statement = Statement {
            kind: StatementKind::Rule,
            left: pattern,
            right: TermId::NONE,
            sort: None,
            conditions: conditions.to_vec(),
            label: None,
            otherwise: false,
            nonexec: false,
            span: self
                .module
                .statements
                .first()
                .map_or(self.signature.symbols[0].span, |statement| statement.span),
            condition_spans: Vec::new(),
            module: self.module.name,
            metadata: None,
        };
        self.statement(terms, &statement, extension)
    }

    /// Whether a term is a normal form because none of its operators does anything.
    fn is_inert(&self, terms: &Terms, term: TermId) -> bool {
        let mut todo = vec![term];
        let mut seen = FxHashSet::default();
        while let Some(term) = todo.pop() {
            if !seen.insert(term) {
                continue;
            }
            match terms.top(term) {
                Top::Variable(_) => return false,
                Top::Symbol(symbol) => {
                    let literal = self.signature.symbol(symbol).is_special("SuccSymbol");
                    if !self.inert[symbol.0 as usize] && !literal {
                        return false;
                    }
                    terms.for_arguments(term, |argument| todo.push(argument));
                }
            }
        }
        true
    }
}

struct Compiler<'a> {
    code: &'a Code,
    /// The terms of the statement, those of the code among them.
    terms: &'a Terms,
    slots: FxHashMap<TermId, u32>,
    variables: Vec<(Name, SortId)>,
    count: u32,
    extension: Option<(SymbolId, u32, u32)>,
    /// Whether the pattern may leave some of many repetitions over.
    towers: bool,
    /// Terms that are evaluated more than once.
    repeated: FxHashSet<TermId>,
    /// Those of them that have been evaluated already, and the slots that have their values.
    kept: FxHashMap<TermId, u32>,
}

impl<'a> Compiler<'a> {
    fn new(code: &'a Code, terms: &'a Terms, statement: &Statement) -> Self {
        let mut order = Vec::new();
        variables_of(terms, statement.left, &mut order);
        for condition in &statement.conditions {
            match *condition {
                Condition::Equal(one, two) => {
                    variables_of(terms, one, &mut order);
                    variables_of(terms, two, &mut order);
                }
                Condition::Assign(pattern, value) | Condition::Rewrite(value, pattern) => {
                    variables_of(terms, value, &mut order);
                    variables_of(terms, pattern, &mut order);
                }
                Condition::Sort(one, _) | Condition::Holds(one) => variables_of(terms, one, &mut order),
            }
        }
        if statement.right != TermId::NONE {
            variables_of(terms, statement.right, &mut order);
        }
        let sort_of = |term: TermId| terms.sort(term);
        let variables = order.iter().map(|&term| (terms.variable_name(term), sort_of(term))).collect();
        let count = order.len() as u32;
        let slots = order.into_iter().zip(0..).collect();
        let repeated = sharing::repeated(terms, statement);
        let kept = FxHashMap::default();
        Self { code, terms, slots, variables, count, extension: None, towers: false, repeated, kept }
    }

    fn fresh(&mut self) -> u32 {
        self.count += 1;
        self.count - 1
    }

    fn taker(&self, symbol: SymbolId, variable: TermId, times: u32) -> Taker {
        let signature = &self.code.signature;
        let sort = self.terms.sort(variable);
        let data = signature.symbol(symbol);
        let several =
            data.profiles.iter().any(|profile| signature.leq(profile.range, sort)) || signature.is_kind(sort);
        // A membership may give a list a sort that no declaration does.
        let membership = self.code.module.statements.iter().any(|statement| {
            statement.kind == StatementKind::Membership
                && statement.sort.is_some_and(|own| signature.leq(own, sort))
                && self.terms.symbol(statement.left) == Some(symbol)
        });
        let empty = data.identity().is_some_and(|identity| signature.leq(self.terms.sort(identity), sort));
        Taker {
            slot: self.slots[&variable],
            sort,
            times,
            single: !several && !membership,
            empty,
            extension: false,
        }
    }

    fn pattern(&mut self, term: TermId, top: bool) -> Pattern {
        let terms = self.terms;
        let symbol = match terms.top(term) {
            Top::Variable(sort) => return Pattern::Variable { slot: self.slots[&term], sort },
            Top::Symbol(symbol) => symbol,
        };
        let data = self.code.signature.symbol(symbol);
        let tower = self.towers && data.theory == Theory::Iter;
        let extends = top && (data.is_assoc() || tower);
        if !terms.is_open(term) && !extends {
            return Pattern::Ground(term);
        }
        match data.theory {
            Theory::Free | Theory::Data => {
                let arguments =
                    terms.arguments(term).into_iter().map(|argument| self.pattern(argument, false)).collect();
                Pattern::Free { symbol, arguments }
            }
            Theory::Pair => {
                let row = terms.row(term);
                let (one, two) = (TermId(row[0]), TermId(row[1]));
                let one = Box::new(self.pattern(one, false));
                Pattern::Pair { symbol, one, two: Box::new(self.pattern(two, false)) }
            }
            Theory::Iter => {
                let (count, inner) = terms.iterations(term);
                let part = Pattern::Iter { symbol, count, inner: Box::new(self.pattern(inner, false)) };
                if !extends {
                    return part;
                }
                let over = self.fresh();
                self.extension = Some((symbol, over, over));
                Pattern::Tower { symbol, part: Box::new(part), over }
            }
            Theory::List => {
                let mut parts = Vec::new();
                let arguments = terms.arguments(term);
                let last = arguments.len() - 1;
                for (at, argument) in arguments.into_iter().enumerate() {
                    parts.push(match terms.top(argument) {
                        Top::Variable(_) => {
                            let mut taker = self.taker(symbol, argument, 1);
                            // An identity on one side disappears only if something is on the other.
                            taker.empty &= (data.right_identity.is_some() || at < last)
                                && (data.left_identity.is_some() || at > 0);
                            ListPart::Variable(taker)
                        }
                        Top::Symbol(_) => ListPart::Element(self.pattern(argument, false)),
                    });
                }
                let extension = extends.then(|| (self.fresh(), self.fresh()));
                if let Some((left, right)) = extension {
                    self.extension = Some((symbol, left, right));
                }
                let mut loose = (0..parts.len()).filter(|&at| !parts[at].is_fixed());
                let first = loose.next().unwrap_or(parts.len());
                let straight = (extension.is_none() && loose.next().is_none()).then_some(first);
                Pattern::List(Box::new(ListPattern { symbol, parts, extension, straight }))
            }
            Theory::Bag => {
                let mut bag =
                    BagPattern { symbol, ground: Vec::new(), elements: Vec::new(), takers: Vec::new() };
                let pairs: Vec<[u32; 2]> = terms.row(term).as_chunks::<2>().0.to_vec();
                for [argument, times] in pairs {
                    let argument = TermId(argument);
                    match terms.top(argument) {
                        Top::Variable(_) => bag.takers.push(self.taker(symbol, argument, times)),
                        Top::Symbol(_) if !terms.is_open(argument) => bag.ground.push((argument, times)),
                        Top::Symbol(_) => bag.elements.push((self.pattern(argument, false), times)),
                    }
                }
                // What takes least is asked first; what can take anything gets what is left.
                let signature = &self.code.signature;
                bag.takers.sort_by_key(|taker| {
                    let index = signature.sorts[taker.sort.0 as usize].index;
                    (!taker.single, std::cmp::Reverse(taker.times), std::cmp::Reverse(index))
                });
                self.order_elements(&mut bag);
                if extends {
                    let slot = self.fresh();
                    let sort = signature.top(data.range);
                    bag.takers.push(Taker {
                        slot,
                        sort,
                        times: 1,
                        single: false,
                        empty: true,
                        extension: true,
                    });
                    self.extension = Some((symbol, slot, slot));
                }
                Pattern::Bag(Box::new(bag))
            }
        }
    }

    /// Elements that others depend on come first: constants in them make them rare.
    fn order_elements(&self, bag: &mut BagPattern) {
        fn constants(pattern: &Pattern) -> usize {
            match pattern {
                Pattern::Variable { .. } => 0,
                Pattern::Ground(_) => 2,
                Pattern::Free { arguments, .. } => 1 + arguments.iter().map(constants).sum::<usize>(),
                Pattern::Pair { one, two, .. } => 1 + constants(one) + constants(two),
                Pattern::List(_) | Pattern::Bag(_) => 1,
                Pattern::Iter { inner, .. } => 1 + constants(inner),
                Pattern::Tower { part, .. } => constants(part),
            }
        }
        let elements = std::mem::take(&mut bag.elements);
        let covers = |pattern: &Pattern| elements.iter().all(|(other, _)| effects::covers(pattern, other));
        let key = |(pattern, times): &(Pattern, u32)| (covers(pattern), *times, constants(pattern));
        let keys: Vec<_> = elements.iter().map(key).collect();
        let mut ordered: Vec<_> = keys.into_iter().zip(elements).collect();
        ordered.sort_by_key(|(key, _)| std::cmp::Reverse(*key));
        bag.elements = ordered.into_iter().map(|(_, element)| element).collect();
    }

    fn test(&mut self, condition: &Condition) -> Test {
        let build = |this: &mut Self, term| {
            let mut build = Vec::new();
            this.build(term, &mut build);
            build
        };
        match *condition {
            Condition::Equal(one, two) => Test::Equal(build(self, one), build(self, two)),
            Condition::Holds(one) => Test::Holds(build(self, one)),
            Condition::Sort(one, sort) => Test::Sort(build(self, one), sort),
            Condition::Assign(pattern, value) => {
                let value = build(self, value);
                Test::Assign(value, self.pattern(pattern, false))
            }
            Condition::Rewrite(value, pattern) => {
                let value = build(self, value);
                Test::Rewrite(value, self.pattern(pattern, false))
            }
        }
    }

    fn elements(&mut self, right: TermId) -> Option<(SymbolId, Vec<Vec<Build>>)> {
        if right == TermId::NONE {
            return None;
        }
        let symbol = self.terms.symbol(right)?;
        let is_bag = self.code.signature.symbol(symbol).theory == Theory::Bag;
        (is_bag && self.code.inert[symbol.0 as usize]).then(|| {
            let elements = self.terms.arguments(right).into_iter().map(|element| {
                let mut build = Vec::new();
                self.build(element, &mut build);
                build
            });
            (symbol, elements.collect())
        })
    }

    fn build(&mut self, term: TermId, into: &mut Vec<Build>) {
        if let Some(&slot) = self.kept.get(&term) {
            into.push(Build::Slot(slot));
            return;
        }
        stacker::maybe_grow(64 << 10, 1 << 20, || self.build_here(term, into));
        if self.repeated.contains(&term) && !matches!(into.last(), Some(Build::Constant(_))) {
            let slot = self.fresh();
            self.kept.insert(term, slot);
            into.push(Build::Keep(slot));
        }
    }

    fn build_here(&mut self, term: TermId, into: &mut Vec<Build>) {
        let terms = self.terms;
        let symbol = match terms.top(term) {
            Top::Variable(_) => {
                into.push(Build::Slot(self.slots[&term]));
                return;
            }
            Top::Symbol(symbol) => symbol,
        };
        if self.code.is_inert(self.terms, term) {
            into.push(Build::Constant(term));
            return;
        }
        let data = self.code.signature.symbol(symbol);
        if data.is_special("BranchSymbol") && self.code.booleans.is_some() {
            let row = terms.row(term);
            let (test, one, two) = (TermId(row[0]), TermId(row[1]), TermId(row[2]));
            self.build(test, into);
            let branch = into.len();
            into.push(Build::Branch(0, 0));
            // What one side evaluates, the other one and what follows don't have.
            let kept = self.kept.clone();
            self.build(one, into);
            let first_jump = into.len();
            into.push(Build::Jump(0));
            let otherwise = into.len() as u32;
            self.kept.clone_from(&kept);
            self.build(two, into);
            self.kept = kept;
            let second_jump = into.len();
            into.push(Build::Jump(0));
            // The condition is still on the stack here.
            let neither = into.len() as u32;
            self.raw(one, into);
            self.raw(two, into);
            into.push(Build::Call(symbol, 3));
            let end = into.len() as u32;
            into[branch] = Build::Branch(otherwise, neither);
            into[first_jump] = Build::Jump(end);
            into[second_jump] = Build::Jump(end);
            return;
        }
        if data.theory == Theory::Iter {
            let (count, inner) = terms.iterations(term);
            self.build(inner, into);
            into.push(Build::Iterate(symbol, count));
            return;
        }
        let arguments = terms.arguments(term);
        let lazy = data.strategy.is_some();
        for &argument in &arguments {
            match lazy {
                true => self.raw(argument, into),
                false => self.build(argument, into),
            }
        }
        let count = arguments.len() as u32;
        into.push(match self.code.inert[symbol.0 as usize] && data.theory == Theory::Free {
            true => Build::Inert(symbol, count),
            false => Build::Call(symbol, count),
        });
    }

    fn raw(&mut self, term: TermId, into: &mut Vec<Build>) {
        stacker::maybe_grow(64 << 10, 1 << 20, || {
            let terms = self.terms;
            let symbol = match terms.top(term) {
                Top::Variable(_) => {
                    into.push(Build::RawSlot(self.slots[&term]));
                    return;
                }
                Top::Symbol(symbol) => symbol,
            };
            if self.code.is_inert(self.terms, term) {
                into.push(Build::Constant(term));
                return;
            }
            let data = self.code.signature.symbol(symbol);
            if data.theory == Theory::Iter {
                let (count, inner) = terms.iterations(term);
                self.raw(inner, into);
                into.push(Build::RawIterate(symbol, count));
                return;
            }
            if data.theory == Theory::Data {
                into.push(Build::Constant(term));
                return;
            }
            let arguments = terms.arguments(term);
            for &argument in &arguments {
                self.raw(argument, into);
            }
            into.push(Build::Raw(symbol, arguments.len() as u32));
        });
    }
}

/// Constants of right sides are normal forms.
fn mark_constants(terms: &mut Terms, compiled: &Compiled) {
    let mut todo: Vec<TermId> = Vec::new();
    let mut add = |build: &[Build]| {
        todo.extend(build.iter().filter_map(|one| match one {
            Build::Constant(term) => Some(*term),
            _ => None,
        }));
    };
    add(&compiled.build);
    compiled.elements.iter().flat_map(|(_, elements)| elements).for_each(|element| add(element));
    for test in &compiled.tests {
        match test {
            Test::Equal(one, two) => {
                add(one);
                add(two);
            }
            Test::Holds(one) | Test::Sort(one, _) | Test::Assign(one, _) | Test::Rewrite(one, _) => add(one),
        }
    }
    while let Some(term) = todo.pop() {
        if !terms.is_reduced(term) {
            terms.set_reduced(term);
            terms.for_arguments(term, |argument| todo.push(argument));
        }
    }
}

/// The kind of a term.
pub fn kind_of(signature: &Signature, terms: &Terms, term: TermId) -> KindId {
    signature.kind_of(terms.sort(term))
}
