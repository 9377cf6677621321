//! Reading terms: the words of a module's operators are the grammar.
//!
//! A chart parser (Earley 1970) over productions that carry precedences: linear for what is written without ambiguity,
//! cubic at worst. Chains of an associative operator are read from the left, whichever way they gather, so that long ones
//! cost no more than others. If a sequence has two readings, both are given.

use std::collections::hash_map::Entry;

use num_bigint::BigUint;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::names::Name;
use crate::signature::{KindId, Signature, SortId, SymbolId, Theory};
use crate::syntax::lexer::Token;
use crate::terms::{TermId, Terms, Top};

/// The largest precedence.
const ANY: u32 = 127;
/// The largest precedence of arguments in parentheses after a name.
const PREFIX: u32 = 95;

/// Longer texts without a reading are not read a second time for a better message.
const LONG: usize = 1_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Nonterminal(u32);

/// What a whole text is to be read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Goal {
    /// A term of any kind.
    Term,
    /// `l = r`.
    Equation,
    /// `l = r if c`.
    ConditionalEquation,
    /// `t : s`.
    Membership,
    /// `t : s if c`.
    ConditionalMembership,
    /// `l => r`.
    Rule,
    /// `l => r if c`.
    ConditionalRule,
    /// `t =>* p such that c`.
    Search,
    /// `p <=? t such that c`.
    Match,
}

const GOALS: [Goal; 9] = [
    Goal::Term,
    Goal::Equation,
    Goal::ConditionalEquation,
    Goal::Membership,
    Goal::ConditionalMembership,
    Goal::Rule,
    Goal::ConditionalRule,
    Goal::Search,
    Goal::Match,
];

#[derive(Clone, Copy, Debug)]
enum Part {
    Word(Name),
    /// A phrase, with the largest precedence it may have.
    Hole(Nonterminal, u32),
    /// A phrase of just this precedence whose top is another operator.
    Other(Nonterminal, u32, SymbolId),
    /// `.Sort` with a sort of this kind.
    Suffix(KindId),
    /// The name of a sort of this kind.
    Sort(KindId),
    /// `f^3`.
    Iterated(SymbolId),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    /// The operator on the phrases.
    Apply(SymbolId),
    /// The first two elements of a chain, or a chain and one more.
    Chain(SymbolId),
    /// `f^3(t)`.
    Iterate(SymbolId),
    /// The only phrase.
    Same,
    /// A fragment of a condition or a statement.
    Fragment(Fragment),
    /// `c /\ d`.
    Conjunction,
    /// Statements and commands.
    Whole,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fragment {
    Equal,
    Assign,
    Sort,
    Rewrite,
    Holds,
}

#[derive(Clone, Debug)]
struct Production {
    head: Nonterminal,
    prec: u32,
    parts: Vec<Part>,
    action: Action,
    /// The operator at the top of what it reads.
    top: Option<SymbolId>,
}

/// The grammar of a module.
#[derive(Clone, Debug, Default)]
pub struct Grammar {
    productions: Vec<Production>,
    /// Productions that begin with a word.
    by_word: FxHashMap<(u32, Name), Vec<u32>>,
    /// Productions that begin otherwise.
    by_head: Vec<Vec<u32>>,
    words: FxHashMap<Name, ()>,
    goals: FxHashMap<Goal, Nonterminal>,
    condition: u32,
    literals: Literals,
}

/// The built-in operators whose constants are written with tokens of their own.
#[derive(Clone, Copy, Debug, Default)]
pub struct Literals {
    /// `s_` and `0`.
    pub successor: Option<(SymbolId, TermId)>,
    /// `-_`.
    pub minus: Option<SymbolId>,
    /// `_/_`.
    pub division: Option<SymbolId>,
    /// Strings.
    pub string: Option<SymbolId>,
    /// Floating-point numbers.
    pub float: Option<SymbolId>,
    /// Quoted identifiers.
    pub quoted: Option<SymbolId>,
}

impl Literals {
    /// Those of a signature.
    pub fn new(signature: &Signature, terms: &mut Terms) -> Self {
        let successor = signature.special("SuccSymbol").and_then(|symbol| {
            let zero = signature.named(Name::new("0")).iter().copied().find(|&zero| {
                let zero = signature.symbol(zero);
                zero.arity() == 0 && zero.range == signature.symbol(symbol).range
            })?;
            Some((symbol, terms.make(signature, zero, &[])))
        });
        Self {
            successor,
            minus: signature.special("MinusSymbol"),
            division: signature.special("DivisionSymbol"),
            string: signature.special("StringSymbol"),
            float: signature.special("FloatSymbol"),
            quoted: signature.special("QuotedIdentifierSymbol"),
        }
    }
}

/// A condition, fragment by fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// `t = u`.
    Equal(TermId, TermId),
    /// `p := t`.
    Assign(TermId, TermId),
    /// `t : s`.
    Sort(TermId, SortId),
    /// `t => p`.
    Rewrite(TermId, TermId),
    /// `t`, a Boolean.
    Holds(TermId),
}

impl Condition {
    /// Whether it gives a value a name, as `K := s N` does, and decides nothing.
    pub fn only_names(&self, signature: &Signature, terms: &Terms) -> bool {
        match *self {
            Self::Assign(pattern, value) => {
                matches!(terms.top(pattern), Top::Variable(sort) if signature.leq(terms.sort(value), sort))
            }
            _ => false,
        }
    }

    /// Its terms.
    pub fn terms(&self) -> impl Iterator<Item = TermId> + use<> {
        let (one, two) = match *self {
            Self::Equal(one, two) | Self::Assign(one, two) | Self::Rewrite(one, two) => (one, Some(two)),
            Self::Sort(one, _) | Self::Holds(one) => (one, None),
        };
        std::iter::once(one).chain(two)
    }
}

/// What was read.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// The terms, in the order in which they are written.
    pub terms: Vec<TermId>,
    /// The sort of a membership.
    pub sort: Option<SortId>,
    /// The arrow of a search, or the like.
    pub word: Option<Name>,
    /// The condition.
    pub conditions: Vec<Condition>,
    /// Where the terms are, as positions of tokens: from and to.
    pub places: Vec<(usize, usize)>,
    /// Where the fragments of the condition are.
    pub condition_places: Vec<(usize, usize)>,
    /// The first phrase that has another reading: where it is, and both.
    pub ambiguous: Option<(usize, usize, TermId, TermId)>,
}

/// Why there is no reading.
#[derive(Clone, Debug)]
pub struct NoReading {
    /// The first token that does not fit; the number of tokens if something is missing at the end.
    pub at: usize,
    /// Words that would fit there, those of the innermost phrases first.
    pub expected: Vec<Name>,
    /// The kinds of terms that would fit there.
    pub kinds: Vec<KindId>,
    /// The sorts of what this token begins, if it could be a term elsewhere.
    pub sorts: Vec<SortId>,
    /// Whether nothing in the module is written with this token.
    pub unknown: bool,
}

/// What a token can be alone: how many tokens, of which kind, and what.
#[derive(Clone, Copy, Debug)]
struct Leaf {
    length: usize,
    kind: KindId,
    term: TermId,
    symbol: Option<SymbolId>,
}

#[derive(Clone, Copy, Debug)]
struct ChartItem {
    production: u32,
    dot: u32,
    origin: u32,
    /// The item before its last part, and what that is: an item, or a leaf with the highest bit.
    before: u32,
    child: u32,
    /// The other way to the same: position in the list of alternatives, plus one.
    other: u32,
    /// The position behind it.
    end: u32,
}

const LEAF: u32 = 1 << 31;
const NOTHING: u32 = u32::MAX;

impl Grammar {
    /// The grammar of a signature.
    pub fn new(signature: &Signature, terms: &mut Terms) -> Self {
        let kinds = signature.kinds.len() as u32;
        let mut grammar = Self { literals: Literals::new(signature, terms), ..Self::default() };
        let mut fresh = kinds;
        let mut nonterminal = || {
            fresh += 1;
            Nonterminal(fresh - 1)
        };
        let condition = nonterminal();
        let fragment = nonterminal();
        grammar.condition = condition.0;
        for goal in GOALS {
            grammar.goals.insert(goal, nonterminal());
        }
        let word = |text: &str| Part::Word(Name::new(text));
        for id in signature.symbol_ids() {
            let symbol = signature.symbol(id);
            let head = Nonterminal(symbol.range.0);
            if symbol.theory == Theory::Data || symbol.is_special("SortTestSymbol") {
                continue;
            }
            if symbol.arity() == 0 {
                if symbol.mixfix.len() > 1 {
                    let parts = symbol.mixfix.iter().flatten().map(|&name| Part::Word(name)).collect();
                    grammar.add(head, 0, parts, Action::Apply(id));
                } else {
                    // Single words are leaves.
                    grammar.words.insert(symbol.name, ());
                }
                continue;
            }
            // f(a, b)
            let mut parts = vec![Part::Word(symbol.name), word("(")];
            for (at, kind) in symbol.domain.iter().enumerate() {
                if at > 0 {
                    parts.push(word(","));
                }
                parts.push(Part::Hole(Nonterminal(kind.0), PREFIX));
            }
            parts.push(word(")"));
            grammar.add(head, 0, parts, Action::Apply(id));
            if symbol.is_assoc() {
                let list = nonterminal();
                let hole = Part::Hole(head, PREFIX);
                grammar.add(list, 0, vec![hole, word(","), hole, word(","), hole], Action::Chain(id));
                grammar.add(list, 0, vec![Part::Hole(list, ANY), word(","), hole], Action::Chain(id));
                let parts = vec![Part::Word(symbol.name), word("("), Part::Hole(list, ANY), word(")")];
                grammar.add(head, 0, parts, Action::Same);
            }
            if symbol.theory == Theory::Iter {
                let parts = vec![Part::Iterated(id), word("("), Part::Hole(head, PREFIX), word(")")];
                grammar.add(head, 0, parts, Action::Iterate(id));
            }
            if symbol.mixfix.is_empty() {
                continue;
            }
            let chained = symbol.is_assoc()
                && symbol.mixfix.first() == Some(&None)
                && symbol.mixfix.last() == Some(&None)
                && symbol.gather == [symbol.prec.saturating_sub(1), symbol.prec];
            let mut holes = symbol.domain.iter().zip(&symbol.gather);
            let parts: Vec<Part> = symbol
                .mixfix
                .iter()
                .map(|part| match part {
                    Some(name) => Part::Word(*name),
                    None => {
                        let (kind, &limit) = holes.next().expect("as many holes as arguments");
                        Part::Hole(Nonterminal(kind.0), limit)
                    }
                })
                .collect();
            if !chained {
                grammar.add(head, symbol.prec, parts, Action::Apply(id));
                continue;
            }
            let chain = nonterminal();
            let element = Part::Hole(head, symbol.gather[0]);
            let between = &parts[1..parts.len() - 1];
            let around = |first: Part, last: Part| [&[first], between, &[last]].concat();
            grammar.add(chain, 0, around(element, element), Action::Chain(id));
            grammar.add(chain, 0, around(Part::Hole(chain, ANY), element), Action::Chain(id));
            grammar.add(head, symbol.prec, vec![Part::Hole(chain, ANY)], Action::Same);
            grammar.productions.last_mut().expect("one was added").top = Some(id);
            let rivals = signature.symbol_ids().any(|other| {
                let rival = signature.symbol(other);
                other != id
                    && rival.range == symbol.range
                    && rival.prec == symbol.prec
                    && !rival.mixfix.is_empty()
            });
            if rivals {
                let last = Part::Other(head, symbol.prec, id);
                grammar.add(head, symbol.prec, around(element, last), Action::Chain(id));
                grammar.add(head, symbol.prec, around(Part::Hole(chain, ANY), last), Action::Chain(id));
            }
        }
        let boolean = signature.sort(Name::new("Bool")).map(|sort| signature.kind_of(sort));
        for kind in 0..kinds {
            let own = Nonterminal(kind);
            let any = Part::Hole(own, ANY);
            let sort = Part::Sort(KindId(kind));
            let fragments = [
                (vec![any, word("="), any], Fragment::Equal),
                (vec![any, word(":="), any], Fragment::Assign),
                (vec![any, word(":"), sort], Fragment::Sort),
                (vec![any, word("=>"), any], Fragment::Rewrite),
            ];
            grammar.add(own, 0, vec![word("("), any, word(")")], Action::Same);
            grammar.add(own, 0, vec![word("("), any, word(")"), Part::Suffix(KindId(kind))], Action::Same);
            for (parts, which) in fragments {
                grammar.add(fragment, 0, parts, Action::Fragment(which));
            }
            if boolean == Some(KindId(kind)) {
                grammar.add(fragment, 0, vec![any], Action::Fragment(Fragment::Holds));
            }
            let condition = Part::Hole(condition, ANY);
            let goals = [
                (Goal::Term, vec![any]),
                (Goal::Equation, vec![any, word("="), any]),
                (Goal::ConditionalEquation, vec![any, word("="), any, word("if"), condition]),
                (Goal::Membership, vec![any, word(":"), sort]),
                (Goal::ConditionalMembership, vec![any, word(":"), sort, word("if"), condition]),
                (Goal::Rule, vec![any, word("=>"), any]),
                (Goal::ConditionalRule, vec![any, word("=>"), any, word("if"), condition]),
                (Goal::Match, vec![any, word("<=?"), any]),
                (Goal::Match, vec![any, word("<=?"), any, word("such"), word("that"), condition]),
            ];
            for (goal, parts) in goals {
                grammar.add(grammar.goals[&goal], 0, parts, Action::Whole);
            }
            for arrow in ["=>1", "=>+", "=>*", "=>!"] {
                let search = grammar.goals[&Goal::Search];
                let parts = vec![any, word(arrow), any];
                let such = [&parts[..], &[word("such"), word("that"), condition]].concat();
                let short = [&parts[..], &[word("s.t."), condition]].concat();
                for parts in [parts, such, short] {
                    grammar.add(search, 0, parts, Action::Whole);
                }
            }
        }
        for id in signature.symbol_ids().filter(|&id| signature.symbol(id).is_special("SortTestSymbol")) {
            let symbol = signature.symbol(id);
            let name = symbol.special.as_ref().expect("it is special").details[0];
            let parts = vec![
                Part::Hole(Nonterminal(symbol.domain[0].0), symbol.gather[0]),
                word("::"),
                Part::Word(name),
            ];
            let known = grammar.words.contains_key(&name);
            grammar.add(Nonterminal(symbol.range.0), symbol.prec, parts, Action::Apply(id));
            if !known {
                // Sorts are no words of terms.
                grammar.words.remove(&name);
            }
        }
        grammar.add(condition, 0, vec![Part::Hole(fragment, ANY)], Action::Same);
        let parts = vec![Part::Hole(condition, ANY), word("/\\"), Part::Hole(fragment, ANY)];
        grammar.add(condition, 0, parts, Action::Conjunction);
        grammar
    }

    fn add(&mut self, head: Nonterminal, prec: u32, parts: Vec<Part>, action: Action) {
        let number = self.productions.len() as u32;
        for part in &parts {
            if let Part::Word(word) = part {
                self.words.insert(*word, ());
            }
        }
        match parts[0] {
            Part::Word(word) => self.by_word.entry((head.0, word)).or_default().push(number),
            _ => {
                if self.by_head.len() <= head.0 as usize {
                    self.by_head.resize(head.0 as usize + 1, Vec::new());
                }
                self.by_head[head.0 as usize].push(number);
            }
        }
        let top = match action {
            Action::Apply(symbol) | Action::Chain(symbol) | Action::Iterate(symbol) => Some(symbol),
            _ => None,
        };
        self.productions.push(Production { head, prec, parts, action, top });
    }

    /// The built-in constants.
    pub fn literals(&self) -> Literals {
        self.literals
    }

    /// Reads tokens.
    pub fn read(
        &self,
        signature: &Signature,
        terms: &mut Terms,
        variables: &FxHashMap<Name, SortId>,
        goal: Goal,
        tokens: &[Token],
    ) -> Result<Reading, Box<NoReading>> {
        self.read_kind(signature, terms, variables, goal, None, tokens)
    }

    /// The same for a term of a kind.
    pub fn read_kind(
        &self,
        signature: &Signature,
        terms: &mut Terms,
        variables: &FxHashMap<Name, SortId>,
        goal: Goal,
        kind: Option<KindId>,
        tokens: &[Token],
    ) -> Result<Reading, Box<NoReading>> {
        let mut chart = Chart {
            grammar: self,
            signature,
            terms,
            variables,
            tokens,
            items: Vec::new(),
            leaves: Vec::new(),
            alternatives: Vec::new(),
            sets: vec![Set::default(); tokens.len() + 1],
            possible: vec![None; self.productions.len()],
            words: tokens.iter().map(|token| token.name).collect(),
        };
        let (end, other) = match chart.run(self.goals[&goal], kind) {
            Ok(found) => found,
            Err(no) if no.unknown || tokens.len() > LONG => return Err(no),
            Err(_) => {
                // Again with everything that could have been meant, to say what is missing.
                chart.items.clear();
                chart.sets = vec![Set::default(); tokens.len() + 1];
                chart.possible.fill(Some(true));
                chart.run(self.goals[&goal], kind)?
            }
        };
        let mut reading = Reading::default();
        chart.whole(end, &mut reading);
        if let Some(other) = other.filter(|_| reading.ambiguous.is_none()) {
            let mut second = Reading::default();
            chart.whole(other, &mut second);
            if let (Some(&one), Some(&two)) = (reading.terms.first(), second.terms.first())
                && one != two
            {
                let end = reading.places[0].1;
                reading.ambiguous = Some((0, end, one, two));
            }
        }
        Ok(reading)
    }
}

#[derive(Clone, Debug, Default)]
struct Set {
    known: FxHashMap<(u32, u32, u32), u32>,
    agenda: Vec<u32>,
    waiting: FxHashMap<u32, Vec<u32>>,
    /// What was begun here: for a head, the precedence up to which; for one without an operator at the top, that operator.
    predicted: FxHashMap<(u32, Option<SymbolId>), u32>,
}

struct Chart<'a> {
    grammar: &'a Grammar,
    signature: &'a Signature,
    terms: &'a mut Terms,
    variables: &'a FxHashMap<Name, SortId>,
    tokens: &'a [Token],
    items: Vec<ChartItem>,
    leaves: Vec<(Leaf, u32)>,
    alternatives: Vec<(u32, u32)>,
    sets: Vec<Set>,
    /// Whether all words of a production occur, as far as it was asked.
    possible: Vec<Option<bool>>,
    words: FxHashSet<Name>,
}

impl Chart<'_> {
    /// Fills the chart; gives the item that covers everything, and another one if there is one.
    fn run(&mut self, goal: Nonterminal, kind: Option<KindId>) -> Result<(u32, Option<u32>), Box<NoReading>> {
        self.predict(goal, 0, ANY, None);
        let mut furthest = 0;
        for at in 0..=self.tokens.len() {
            if !self.sets[at].agenda.is_empty() {
                furthest = at;
            }
            let mut next = 0;
            while next < self.sets[at].agenda.len() {
                let item = self.sets[at].agenda[next];
                next += 1;
                self.step(item, at);
            }
            if at < self.tokens.len() {
                self.leaves_at(at);
            }
            // Sets that nothing waits in are not looked at again.
            self.sets[at].known = FxHashMap::default();
            if at != self.tokens.len() {
                self.sets[at].agenda = Vec::new();
            }
        }
        let mut whole = self.sets[self.tokens.len()].agenda.iter().copied().filter(|&item| {
            let item = self.items[item as usize];
            let production = &self.grammar.productions[item.production as usize];
            let fits = |kind: KindId| matches!(production.parts[0], Part::Hole(Nonterminal(own), _) if own == kind.0);
            item.origin == 0
                && production.head == goal
                && item.dot as usize == production.parts.len()
                && kind.is_none_or(fits)
        });
        let found = (whole.next(), whole.next());
        match found {
            (Some(one), other) => Ok((one, other)),
            (None, _) => Err(Box::new(self.no_reading(furthest))),
        }
    }

    fn no_reading(&mut self, furthest: usize) -> NoReading {
        // A token that means nothing is the better place to look, wherever it is.
        if let Some(at) = self.stranger() {
            return NoReading {
                at,
                expected: Vec::new(),
                kinds: Vec::new(),
                sorts: Vec::new(),
                unknown: true,
            };
        }
        let at = furthest;
        let mut expected: Vec<(u32, Name)> = Vec::new();
        for waiting in self.items.iter().filter(|item| item.end as usize == at && item.dot > 0) {
            let production = &self.grammar.productions[waiting.production as usize];
            if let Some(&Part::Word(word)) = production.parts.get(waiting.dot as usize) {
                match expected.iter_mut().find(|(_, known)| *known == word) {
                    Some((origin, _)) => *origin = (*origin).max(waiting.origin),
                    None => expected.push((waiting.origin, word)),
                }
            }
        }
        expected.sort_by_key(|&(origin, _)| std::cmp::Reverse(origin));
        let count = self.signature.kinds.len() as u32;
        let mut kinds: Vec<KindId> =
            self.sets[at].waiting.keys().filter(|&&head| head < count).map(|&head| KindId(head)).collect();
        kinds.sort_unstable();
        let mut sorts = Vec::new();
        if at < self.tokens.len() {
            let signature = self.signature;
            sorts.extend(self.leaves_of(at).iter().map(|leaf| self.terms.sort(leaf.term)));
            if sorts.is_empty() && self.tokens.get(at + 1).is_some_and(|next| next.is("(")) {
                let named = signature.named(self.tokens[at].name).iter().map(|&id| signature.symbol(id));
                sorts.extend(named.flat_map(|symbol| symbol.profiles.iter().map(|profile| profile.range)));
            }
            sorts.retain(|sort| (sort.0 as usize) < signature.sorts.len());
            sorts.dedup();
        }
        let expected = expected.into_iter().map(|(_, word)| word).collect();
        NoReading { at, expected, kinds, sorts, unknown: false }
    }

    /// The first token that nothing is written with.
    fn stranger(&mut self) -> Option<usize> {
        let mut depth = 0usize;
        for at in 0..self.tokens.len() {
            let token = self.tokens[at];
            let before = at.checked_sub(1).map(|before| self.tokens[before]);
            // `List{Nat}` is one sort; its braces follow without a blank.
            let glued = before.is_some_and(|before| before.span.end == token.span.start);
            match token.text() {
                "{" if depth > 0 || glued => depth += 1,
                "}" if depth > 0 => depth -= 1,
                _ => {}
            }
            if depth > 0 || self.grammar.words.contains_key(&token.name) {
                continue;
            }
            let is_sort = match before {
                Some(before) if matches!(before.text(), ":" | "::") => self.sort_at(at, 0).is_some(),
                Some(before) if before.is(")") => self.sort_at(at, 1).is_some(),
                _ => false,
            };
            let iterated = token.text().rsplit_once('^').is_some_and(|(name, _)| {
                let named = self.signature.named(Name::new(name));
                named.iter().any(|&id| self.signature.symbol(id).theory == Theory::Iter)
            });
            if !is_sort && !iterated && self.leaves_of(at).is_empty() {
                return Some(at);
            }
        }
        None
    }

    fn push(&mut self, production: u32, dot: u32, origin: u32, before: u32, child: u32, end: usize) {
        let fresh = self.items.len() as u32;
        match self.sets[end].known.entry((production, dot, origin)) {
            Entry::Occupied(known) => {
                let known = *known.get() as usize;
                if dot > 0
                    && (self.items[known].before, self.items[known].child) != (before, child)
                    && self.items[known].other == 0
                {
                    self.alternatives.push((before, child));
                    self.items[known].other = self.alternatives.len() as u32;
                }
            }
            Entry::Vacant(entry) => {
                entry.insert(fresh);
                self.items.push(ChartItem {
                    production,
                    dot,
                    origin,
                    before,
                    child,
                    other: 0,
                    end: end as u32,
                });
                self.sets[end].agenda.push(fresh);
            }
        }
    }

    /// Begins what can be a phrase here: of at most this precedence, or of just this one without an operator at the top.
    fn predict(&mut self, head: Nonterminal, at: usize, limit: u32, without: Option<SymbolId>) {
        let least = match self.sets[at].predicted.entry((head.0, without)) {
            Entry::Occupied(known) if limit < *known.get() => return,
            Entry::Occupied(mut known) => known.insert(limit + 1),
            Entry::Vacant(entry) => {
                entry.insert(limit + 1);
                if without.is_some() { limit } else { 0 }
            }
        };
        let grammar = self.grammar;
        let by_word = self.tokens.get(at).and_then(|token| grammar.by_word.get(&(head.0, token.name)));
        let by_head = grammar.by_head.get(head.0 as usize);
        for &number in by_word.into_iter().chain(by_head).flatten() {
            let production = &grammar.productions[number as usize];
            let fits = (least..=limit).contains(&production.prec)
                && (without.is_none() || production.top != without);
            if fits && self.is_possible(number) {
                self.push(number, 0, at as u32, NOTHING, NOTHING, at);
            }
        }
    }

    /// Whether all words of a production occur among the tokens. What lacks one is not begun: most operators of a module do
    /// not occur in a term, and those of one precedence would make long chains of another one quadratic.
    fn is_possible(&mut self, production: u32) -> bool {
        let known = &mut self.possible[production as usize];
        *known.get_or_insert_with(|| {
            let parts = &self.grammar.productions[production as usize].parts;
            parts.iter().all(|part| !matches!(part, Part::Word(word) if !self.words.contains(word)))
        })
    }

    fn step(&mut self, number: u32, at: usize) {
        let item = self.items[number as usize];
        let grammar = self.grammar;
        let production = &grammar.productions[item.production as usize];
        let Some(&part) = production.parts.get(item.dot as usize) else {
            let head = production.head;
            self.complete(head, production.prec, production.top, item.origin as usize, number, at);
            return;
        };
        match part {
            Part::Word(word) => {
                if self.tokens.get(at).is_some_and(|token| token.name == word) {
                    self.push(item.production, item.dot + 1, item.origin, number, NOTHING, at + 1);
                }
            }
            Part::Hole(head, limit) => {
                self.sets[at].waiting.entry(head.0).or_default().push(number);
                self.predict(head, at, limit, None);
            }
            Part::Other(head, exact, symbol) => {
                self.sets[at].waiting.entry(head.0).or_default().push(number);
                self.predict(head, at, exact, Some(symbol));
            }
            Part::Suffix(kind) => {
                let begins = self
                    .tokens
                    .get(at)
                    .is_some_and(|token| token.text().len() > 1 && token.text().starts_with('.'));
                if begins
                    && let Some((sort, length)) = self.sort_at(at, 1)
                    && self.signature.kind_of(sort) == kind
                {
                    self.push(item.production, item.dot + 1, item.origin, number, NOTHING, at + length);
                }
            }
            Part::Sort(kind) => {
                if let Some((sort, length)) = self.sort_at(at, 0)
                    && self.signature.kind_of(sort) == kind
                {
                    let leaf = self.leaf(Leaf { length, kind, term: TermId(sort.0), symbol: None }, at);
                    self.push(item.production, item.dot + 1, item.origin, number, leaf, at + length);
                }
            }
            Part::Iterated(symbol) => {
                let Some(token) = self.tokens.get(at) else { return };
                let name = self.signature.symbol(symbol).name.text();
                let count = token.text().strip_prefix(name).and_then(|rest| rest.strip_prefix('^'));
                if count.is_some_and(|count| count.parse::<BigUint>().is_ok()) {
                    self.push(item.production, item.dot + 1, item.origin, number, NOTHING, at + 1);
                }
            }
        }
    }

    fn leaf(&mut self, leaf: Leaf, at: usize) -> u32 {
        self.leaves.push((leaf, at as u32));
        (self.leaves.len() as u32 - 1) | LEAF
    }

    fn complete(
        &mut self,
        head: Nonterminal,
        prec: u32,
        top: Option<SymbolId>,
        origin: usize,
        child: u32,
        end: usize,
    ) {
        let Some(waiting) = self.sets[origin].waiting.remove(&head.0) else { return };
        for &number in &waiting {
            let item = self.items[number as usize];
            let fits = match self.grammar.productions[item.production as usize].parts[item.dot as usize] {
                Part::Hole(_, limit) => prec <= limit,
                Part::Other(_, exact, symbol) => prec == exact && top != Some(symbol),
                _ => false,
            };
            if fits {
                self.push(item.production, item.dot + 1, item.origin, number, child, end);
            }
        }
        self.sets[origin].waiting.insert(head.0, waiting);
    }

    fn leaves_at(&mut self, at: usize) {
        if self.sets[at].waiting.is_empty() {
            return;
        }
        for leaf in self.leaves_of(at) {
            let head = Nonterminal(leaf.kind.0);
            if self.sets[at].waiting.contains_key(&head.0) {
                let child = self.leaf(leaf, at);
                self.complete(head, 0, leaf.symbol, at, child, at + leaf.length);
            }
        }
    }

    /// The sort that is written here, behind so many bytes, and how many tokens it takes.
    fn sort_at(&self, at: usize, skip: usize) -> Option<(SortId, usize)> {
        let token = self.tokens.get(at)?;
        let mut text = token.text().get(skip..)?.to_owned();
        let mut length = 1;
        let mut found = None;
        if text == "[" {
            // A kind.
            let end = self.tokens[at..].iter().position(|token| token.is("]"))?;
            let inner: String = self.tokens[at + 1..at + end].iter().map(Token::text).collect();
            let first = split_sorts(&inner).next()?;
            let sort = self.signature.sort(Name::new(first))?;
            return Some((self.signature.top(self.signature.kind_of(sort)), end + 1));
        }
        loop {
            if let Some(sort) = self.signature.sort(Name::new(&text)) {
                found = Some((sort, length));
            }
            if !self.tokens.get(at + length).is_some_and(|token| token.is("{")) {
                return found;
            }
            let mut depth = 0;
            loop {
                let token = self.tokens.get(at + length)?;
                text.push_str(token.text());
                depth += match token.text() {
                    "{" => 1,
                    "}" => -1,
                    _ => 0,
                };
                length += 1;
                if depth == 0 {
                    break;
                }
            }
        }
    }

    /// What the tokens here are by themselves.
    fn leaves_of(&mut self, at: usize) -> Vec<Leaf> {
        let signature = self.signature;
        let token = self.tokens[at];
        let text = token.text();
        let mut leaves = Vec::new();
        let add = |leaves: &mut Vec<Leaf>, terms: &Terms, term: TermId, length: usize| {
            let kind = signature.kind_of(terms.sort(term));
            leaves.push(Leaf { length, kind, term, symbol: terms.symbol(term) });
        };
        for &id in signature.named(token.name) {
            if signature.symbol(id).arity() == 0 && signature.symbol(id).theory != Theory::Data {
                let term = self.terms.make(signature, id, &[]);
                add(&mut leaves, self.terms, term, 1);
            }
        }
        if let Some(&sort) = self.variables.get(&token.name) {
            let term = self.terms.variable(token.name, sort);
            add(&mut leaves, self.terms, term, 1);
        }
        // `'X:Nat` is quoted as a whole.
        if let Some(colon) = text.rfind(':').filter(|&colon| colon > 0 && !text.starts_with('\'')) {
            let name = Name::new(&text[..colon]);
            let sort = match colon + 1 == text.len() {
                // `X:[Nat]` is several tokens.
                true => self
                    .tokens
                    .get(at + 1)
                    .filter(|next| next.is("[") && next.span.start == token.span.end)
                    .and_then(|_| self.sort_at(at + 1, 0))
                    .map(|(sort, length)| (sort, length + 1)),
                false => self.sort_at(at, colon + 1),
            };
            if let Some((sort, length)) = sort {
                let term = self.terms.variable(name, sort);
                add(&mut leaves, self.terms, term, length);
            }
        }
        if let Some(term) = self.grammar.literals.read(signature, self.terms, text) {
            add(&mut leaves, self.terms, term, 1);
        }
        leaves
    }

    /// Everything that an item has as parts, first to last: children with the positions where they begin and end.
    fn children(&self, item: u32) -> Vec<(u32, usize, usize)> {
        let mut children = Vec::new();
        let mut at = item;
        while self.items[at as usize].dot > 0 {
            let ChartItem { before, child, end, .. } = self.items[at as usize];
            if child != NOTHING {
                children.push((child, self.items[before as usize].end as usize, end as usize));
            }
            at = before;
        }
        children.reverse();
        children
    }

    fn whole(&mut self, item: u32, reading: &mut Reading) {
        let production = &self.grammar.productions[self.items[item as usize].production as usize];
        for part in &production.parts {
            if let Part::Word(word) = part {
                reading.word = reading.word.or(Some(*word));
            }
        }
        self.note_other(item, reading);
        let conditions = self.grammar.condition;
        for (child, start, end) in self.children(item) {
            if child & LEAF != 0 {
                let (leaf, _) = self.leaves[(child & !LEAF) as usize];
                // Sorts are leaves that no hole waits for.
                let hole = production.parts.iter().any(|part| matches!(part, Part::Sort(_)));
                if hole && reading.terms.len() == 1 && reading.sort.is_none() {
                    reading.sort = Some(SortId(leaf.term.0));
                    continue;
                }
            } else {
                let inner = self.items[child as usize].production as usize;
                if self.grammar.productions[inner].head.0 == conditions {
                    self.condition(child, reading);
                    continue;
                }
            }
            let term = self.term(child, reading);
            reading.terms.push(term);
            reading.places.push((start, end));
        }
    }

    fn condition(&mut self, item: u32, reading: &mut Reading) {
        // Conjunctions lean to the left.
        let mut fragments = Vec::new();
        let mut at = item;
        loop {
            self.note_other(at, reading);
            let children = self.children(at);
            match children[..] {
                [(fragment, ..)] => {
                    fragments.push(fragment);
                    break;
                }
                [(rest, ..), (fragment, ..)] => {
                    fragments.push(fragment);
                    at = rest;
                }
                _ => unreachable!("a conjunction has two parts"),
            }
        }
        for &fragment in fragments.iter().rev() {
            self.note_other(fragment, reading);
            let place =
                (self.items[fragment as usize].origin as usize, self.items[fragment as usize].end as usize);
            let production = &self.grammar.productions[self.items[fragment as usize].production as usize];
            let Action::Fragment(kind) = production.action else { unreachable!("a fragment") };
            let children = self.children(fragment);
            let one = self.term(children[0].0, reading);
            let two = |this: &mut Self, reading: &mut Reading| this.term(children[1].0, reading);
            let condition = match kind {
                Fragment::Holds => Condition::Holds(one),
                Fragment::Equal => Condition::Equal(one, two(self, reading)),
                Fragment::Assign => Condition::Assign(one, two(self, reading)),
                Fragment::Rewrite => Condition::Rewrite(one, two(self, reading)),
                Fragment::Sort => {
                    let (leaf, _) = self.leaves[(children[1].0 & !LEAF) as usize];
                    Condition::Sort(one, SortId(leaf.term.0))
                }
            };
            reading.conditions.push(condition);
            reading.condition_places.push(place);
        }
    }

    /// Remembers the first other reading.
    fn note_other(&mut self, item: u32, reading: &mut Reading) {
        let mut at = item;
        while self.items[at as usize].dot > 0 {
            let this = self.items[at as usize];
            if this.other > 0 && reading.ambiguous.is_none() && this.child != NOTHING {
                let (before, child) = self.alternatives[this.other as usize - 1];
                // Both readings of the whole item, with its first part swapped for the other one.
                let mut silent =
                    Reading { ambiguous: Some((0, 0, TermId::NONE, TermId::NONE)), ..Reading::default() };
                let is_term = |child: u32| child != NOTHING;
                if is_term(child) {
                    let (one, two) = if before == this.before {
                        (self.term(this.child, &mut silent), self.term(child, &mut silent))
                    } else {
                        let first = self.item_term(item, &mut silent);
                        let saved = self.items[at as usize];
                        self.items[at as usize] = ChartItem { before, child, other: 0, ..saved };
                        let second = self.item_term(item, &mut silent);
                        self.items[at as usize] = saved;
                        (first.unwrap_or(TermId::NONE), second.unwrap_or(TermId::NONE))
                    };
                    if one != two && one != TermId::NONE && two != TermId::NONE {
                        reading.ambiguous = Some((this.origin as usize, this.end as usize, one, two));
                    }
                }
            }
            at = this.before;
        }
    }

    /// The term of an item, if it is one.
    fn item_term(&mut self, item: u32, reading: &mut Reading) -> Option<TermId> {
        let production = &self.grammar.productions[self.items[item as usize].production as usize];
        match production.action {
            Action::Apply(_) | Action::Chain(_) | Action::Iterate(_) | Action::Same => {
                Some(self.term(item, reading))
            }
            _ => None,
        }
    }

    /// The term of a phrase.
    fn term(&mut self, child: u32, reading: &mut Reading) -> TermId {
        stacker::maybe_grow(64 << 10, 1 << 20, || self.term_here(child, reading))
    }

    fn term_here(&mut self, child: u32, reading: &mut Reading) -> TermId {
        if child & LEAF != 0 {
            return self.leaves[(child & !LEAF) as usize].0.term;
        }
        self.note_other(child, reading);
        let production = &self.grammar.productions[self.items[child as usize].production as usize];
        match production.action {
            Action::Apply(symbol) => {
                let arguments: Vec<TermId> =
                    self.children(child).iter().map(|&(child, ..)| self.term(child, reading)).collect();
                self.terms.make(self.signature, symbol, &arguments)
            }
            Action::Chain(symbol) => {
                // Along the left side without recursion.
                let mut elements = Vec::new();
                let mut at = child;
                loop {
                    self.note_other(at, reading);
                    let children = self.children(at);
                    for &(child, ..) in children[1..].iter().rev() {
                        elements.push(self.term(child, reading));
                    }
                    let first = children[0].0;
                    let further = first & LEAF == 0 && {
                        let inner = &self.grammar.productions[self.items[first as usize].production as usize];
                        inner.action == Action::Chain(symbol)
                            && inner.prec == 0
                            && inner.head.0 >= self.signature.kinds.len() as u32
                    };
                    if !further {
                        elements.push(self.term(first, reading));
                        break;
                    }
                    at = first;
                }
                elements.reverse();
                if self.terms.as_written && !self.signature.symbol(symbol).mixfix.is_empty() {
                    // Chains are written without parentheses where they lean to the right.
                    let last = elements.pop().expect("a chain has elements");
                    let lean = |rest, &one: &TermId| self.terms.make(self.signature, symbol, &[one, rest]);
                    return elements.iter().rev().fold(last, lean);
                }
                self.terms.make(self.signature, symbol, &elements)
            }
            Action::Iterate(symbol) => {
                let at = self.items[child as usize].origin as usize;
                let count = self.tokens[at].text().rsplit('^').next().and_then(|count| count.parse().ok());
                let inner = self.children(child)[0].0;
                let inner = self.term(inner, reading);
                self.terms.make_iter(self.signature, symbol, &count.unwrap_or_default(), inner)
            }
            Action::Same => {
                let inner = self.children(child)[0].0;
                self.term(inner, reading)
            }
            Action::Fragment(_) | Action::Conjunction | Action::Whole => unreachable!("not a term"),
        }
    }
}

/// The sorts of a list such as `A,List{B,C}`.
pub fn split_sorts(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0;
    text.split(move |c| {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    })
}

impl Literals {
    /// The constant of a built-in type that a token stands for.
    pub fn read(&self, signature: &Signature, terms: &mut Terms, text: &str) -> Option<TermId> {
        let first = text.as_bytes()[0];
        match first {
            b'"' => {
                let symbol = self.string?;
                let inner = text.strip_prefix('"')?.strip_suffix('"')?;
                Some(terms.string(signature, symbol, &unescaped(inner)))
            }
            b'\'' => Some(terms.quoted(
                signature,
                self.quoted?,
                Name::new(text.strip_prefix('\'').filter(|rest| !rest.is_empty())?),
            )),
            b'0'..=b'9' | b'-' | b'+' | b'I' => {
                let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
                let (sign, rest) = match text.strip_prefix('-') {
                    Some(rest) => (true, rest),
                    None => (false, text),
                };
                if digits(rest) {
                    let number: BigUint = rest.parse().ok()?;
                    return self.integer(signature, terms, sign, &number);
                }
                if let Some((above, below)) =
                    rest.split_once('/').filter(|(above, below)| digits(above) && digits(below))
                {
                    let (above, below): (BigUint, BigUint) = (above.parse().ok()?, below.parse().ok()?);
                    let above = self.integer(signature, terms, sign, &above)?;
                    let below = self.integer(signature, terms, false, &below)?;
                    return Some(terms.make(signature, self.division?, &[above, below]));
                }
                let symbol = self.float?;
                let value = float_of(text)?;
                Some(terms.float(signature, symbol, value))
            }
            _ => None,
        }
    }

    /// An integer, where the module has it.
    pub fn integer(
        &self,
        signature: &Signature,
        terms: &mut Terms,
        negative: bool,
        number: &BigUint,
    ) -> Option<TermId> {
        let (successor, zero) = self.successor?;
        let magnitude = terms.make_iter(signature, successor, number, zero);
        match negative && magnitude != zero {
            true => Some(terms.make(signature, self.minus?, &[magnitude])),
            false => Some(magnitude),
        }
    }
}

/// The value of a floating-point number as it is written: it has a period or an exponent.
pub fn float_of(text: &str) -> Option<f64> {
    match text {
        "Infinity" => return Some(f64::INFINITY),
        "-Infinity" => return Some(f64::NEG_INFINITY),
        _ => {}
    }
    let plain = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-'));
    let marked = text.contains(['.', 'e', 'E']) && text.bytes().any(|byte| byte.is_ascii_digit());
    let begins = text
        .trim_start_matches(['-', '+'])
        .bytes()
        .next()
        .is_some_and(|byte| byte.is_ascii_digit() || byte == b'.');
    if plain && marked && begins && !text.ends_with('.') { text.parse().ok() } else { None }
}

/// A string without its escapes.
pub fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('a') => out.push('\x07'),
            Some('b') => out.push('\x08'),
            Some('f') => out.push('\x0c'),
            Some('v') => out.push('\x0b'),
            Some(digit @ '0'..='7') => {
                let mut value = digit.to_digit(8).unwrap_or(0);
                for _ in 0..2 {
                    match chars.peek().and_then(|c| c.to_digit(8)) {
                        Some(next) => {
                            value = value * 8 + next;
                            chars.next();
                        }
                        None => break,
                    }
                }
                out.push(char::from_u32(value).unwrap_or('?'));
            }
            Some('\n') => {}
            Some(other) => out.push(other),
            None => {}
        }
    }
    out
}
