//! Matching modulo the laws of operators.
//!
//! What can be matched in one way only is matched at once. The rest is put aside as goals, which are solved one after the
//! other with backtracking; for every solution a continuation is called, which decides whether to go on.

use num_bigint::BigUint;

use super::code::{BagPattern, Code, ListPart, ListPattern, Pattern, Taker};
use super::{Engine, Stop};
use crate::signature::{SortId, SymbolId};
use crate::terms::{TermId, Top};

/// What is still to be matched.
pub type Goal<'c> = (&'c Pattern, TermId);

/// Says whether the search is over.
pub type Found<'k> = &'k mut dyn FnMut(&mut Engine) -> Result<bool, Stop>;

impl Engine {
    #[inline]
    fn slot(&self, base: usize, slot: u32) -> TermId {
        self.stack[base + slot as usize]
    }

    #[inline]
    pub(super) fn bind(&mut self, base: usize, slot: u32, term: TermId) {
        self.stack[base + slot as usize] = term;
        self.trail.push((base + slot as usize) as u32);
    }

    #[inline]
    pub(super) fn undo(&mut self, mark: usize) {
        while self.trail.len() > mark {
            let at = self.trail.pop().expect("it is longer");
            self.stack[at as usize] = TermId::NONE;
        }
    }

    /// The same as [`match_simple`](Self::match_simple), with the simplest patterns at once.
    #[inline(always)]
    pub(super) fn match_part<'c>(
        &mut self,
        code: &'c Code,
        pattern: &'c Pattern,
        subject: TermId,
        base: usize,
        goals: &mut Vec<Goal<'c>>,
    ) -> bool {
        match pattern {
            Pattern::Ground(term) => *term == subject,
            Pattern::Variable { slot, sort } => self.match_variable(code, *slot, *sort, subject, base),
            _ => self.match_simple(code, pattern, subject, base, goals),
        }
    }

    #[inline(always)]
    fn match_variable(&mut self, code: &Code, slot: u32, sort: SortId, subject: TermId, base: usize) -> bool {
        let bound = self.slot(base, slot);
        if bound != TermId::NONE {
            return bound == subject;
        }
        let fits = code.signature.leq(self.terms.sort(subject), sort);
        if fits {
            self.bind(base, slot, subject);
        }
        fits
    }

    /// Matches what can be matched in one way; goals are what is left. False where there is no match.
    pub(super) fn match_simple<'c>(
        &mut self,
        code: &'c Code,
        pattern: &'c Pattern,
        subject: TermId,
        base: usize,
        goals: &mut Vec<Goal<'c>>,
    ) -> bool {
        match pattern {
            Pattern::Variable { slot, sort } => self.match_variable(code, *slot, *sort, subject, base),
            Pattern::Ground(term) => *term == subject,
            Pattern::Free { symbol, arguments } => {
                if !self.terms.has_top(subject, *symbol) {
                    return false;
                }
                for (at, argument) in arguments.iter().enumerate() {
                    let inner = TermId(self.terms.row(subject)[at]);
                    if !self.match_part(code, argument, inner, base, goals) {
                        return false;
                    }
                }
                true
            }
            Pattern::Iter { symbol, count, inner } => {
                if !self.terms.has_top(subject, *symbol) {
                    return false;
                }
                let row = self.terms.row(subject);
                let rest = if let ([below, have], [want]) = (row, &count.to_u32_digits()[..]) {
                    let below = TermId(*below);
                    match have.cmp(want) {
                        std::cmp::Ordering::Less => return false,
                        std::cmp::Ordering::Equal => below,
                        std::cmp::Ordering::Greater => {
                            let row = [below.0, have - want];
                            self.terms.made(&code.signature, *symbol, &row)
                        }
                    }
                } else {
                    let (have, below) = self.terms.iterations(subject);
                    if have < *count {
                        return false;
                    }
                    let rest = have - count;
                    match rest == BigUint::ZERO {
                        true => below,
                        false => self.terms.make_iter(&code.signature, *symbol, &rest, below),
                    }
                };
                // A part of a normal form is one; memberships may give it a sort.
                let reduced = self.terms.is_reduced(subject);
                self.sort_of(code, rest, reduced);
                self.match_simple(code, inner, rest, base, goals)
            }
            Pattern::Tower { symbol, .. } => {
                let fits = self.terms.has_top(subject, *symbol);
                if fits {
                    goals.push((pattern, subject));
                }
                fits
            }
            Pattern::Pair { symbol, .. } => {
                let data = code.signature.symbol(*symbol);
                if !self.terms.has_top(subject, *symbol) && data.identity().is_none() && !data.idem {
                    return false;
                }
                goals.push((pattern, subject));
                true
            }
            Pattern::List(list) => {
                if let Some(loose) = list.straight {
                    return self.match_straight(code, list, loose, subject, base, goals);
                }
                let fits = self.terms.has_top(subject, list.symbol)
                    || code.signature.symbol(list.symbol).identity().is_some();
                if fits {
                    goals.push((pattern, subject));
                }
                fits
            }
            Pattern::Bag(bag) => {
                if self.terms.has_top(subject, bag.symbol) {
                    if !self.bag_may_match(code, bag, subject) {
                        return false;
                    }
                } else if code.signature.symbol(bag.symbol).identity().is_none() {
                    return false;
                }
                goals.push((pattern, subject));
                true
            }
        }
    }

    /// Matches a list that fits in one way at most; `loose` is the part that may take any number of elements.
    fn match_straight<'c>(
        &mut self,
        code: &'c Code,
        list: &'c ListPattern,
        loose: usize,
        subject: TermId,
        base: usize,
        goals: &mut Vec<Goal<'c>>,
    ) -> bool {
        let symbol = list.symbol;
        if !self.terms.has_top(subject, symbol) && code.signature.symbol(symbol).identity().is_none() {
            return false;
        }
        let count = self.terms.count(&code.signature, symbol, subject);
        let parts = list.parts.len();
        if loose == parts && count != parts || count + 1 < parts {
            return false;
        }
        for (at, part) in list.parts.iter().enumerate() {
            // Parts behind the loose one are counted from the end.
            let place = if at > loose { count + at - parts } else { at };
            let fits = match part {
                ListPart::Element(pattern) => {
                    let element = self.terms.element(symbol, subject, place);
                    self.match_simple(code, pattern, element, base, goals)
                }
                ListPart::Variable(taker) => {
                    let end = if loose == at { count + at + 1 - parts } else { place + 1 };
                    self.take_part(code, symbol, taker, subject, place..end, base)
                }
            };
            if !fits {
                return false;
            }
        }
        true
    }

    /// Gives some elements of a list to a variable.
    fn take_part(
        &mut self,
        code: &Code,
        symbol: SymbolId,
        taker: &Taker,
        subject: TermId,
        range: std::ops::Range<usize>,
        base: usize,
    ) -> bool {
        if range.is_empty() && !taker.empty || taker.single && range.len() > 1 {
            return false;
        }
        let term = self.terms.part(&code.signature, symbol, subject, range.start, range.end);
        let bound = self.slot(base, taker.slot);
        if bound != TermId::NONE {
            return bound == term;
        }
        let reduced = self.terms.is_reduced(subject);
        if !code.signature.leq(self.sort_of(code, term, reduced), taker.sort) {
            return false;
        }
        self.bind(base, taker.slot, term);
        true
    }

    /// Whether everything that a bag pattern names is there, as far as operators tell.
    fn bag_may_match(&self, code: &Code, bag: &BagPattern, subject: TermId) -> bool {
        let pairs = self.terms.row(subject).as_chunks::<2>().0;
        for &(term, times) in &bag.ground {
            let at = pairs.partition_point(|pair| self.terms.compare(TermId(pair[0]), term).is_lt());
            if pairs.get(at).is_none_or(|pair| pair[0] != term.0 || pair[1] < times) {
                return false;
            }
        }
        for (pattern, _) in &bag.elements {
            let top = match pattern {
                Pattern::Free { symbol, .. } | Pattern::Iter { symbol, .. } => *symbol,
                _ => continue,
            };
            let range = self.range_of(code, pairs, top);
            if range.is_empty() {
                return false;
            }
        }
        true
    }

    /// Where the elements with an operator at the top are.
    fn range_of(&self, code: &Code, pairs: &[[u32; 2]], top: SymbolId) -> std::ops::Range<usize> {
        let rank = |symbol: SymbolId| {
            let data = code.signature.symbol(symbol);
            (data.arity(), symbol.0)
        };
        let wanted = rank(top);
        let of = |pair: &[u32; 2]| match self.terms.top(TermId(pair[0])) {
            Top::Symbol(symbol) => rank(symbol),
            Top::Variable(sort) => (0, 1 << 31 | sort.0),
        };
        let start = pairs.partition_point(|pair| of(pair) < wanted);
        let length = pairs[start..].partition_point(|pair| of(pair) == wanted);
        start..start + length
    }

    /// Solves goals. The list is as it was before, unless the search is over.
    pub(super) fn solve<'c>(
        &mut self,
        code: &'c Code,
        goals: &mut Vec<Goal<'c>>,
        base: usize,
        found: Found<'_>,
    ) -> Result<bool, Stop> {
        let Some((pattern, subject)) = goals.pop() else { return found(self) };
        let over = stacker::maybe_grow(64 << 10, 64 << 20, || match pattern {
            Pattern::Pair { symbol, one, two } => {
                self.solve_pair(code, *symbol, one, two, subject, goals, base, found)
            }
            Pattern::Tower { symbol, part, over } => {
                self.solve_tower(code, *symbol, part, *over, subject, goals, base, found)
            }
            Pattern::List(list) => self.solve_list(code, list, subject, goals, base, found),
            Pattern::Bag(bag) => self.solve_bag(code, bag, subject, goals, base, found),
            _ => unreachable!("matched at once"),
        })?;
        if !over {
            goals.push((pattern, subject));
        }
        Ok(over)
    }

    #[allow(clippy::too_many_arguments)]
    fn solve_pair<'c>(
        &mut self,
        code: &'c Code,
        symbol: SymbolId,
        one: &'c Pattern,
        two: &'c Pattern,
        subject: TermId,
        goals: &mut Vec<Goal<'c>>,
        base: usize,
        found: Found<'_>,
    ) -> Result<bool, Stop> {
        let data = code.signature.symbol(symbol);
        let mut ways: Vec<(TermId, TermId)> = Vec::new();
        if self.terms.has_top(subject, symbol) {
            let row = self.terms.row(subject);
            let (a, b) = (TermId(row[0]), TermId(row[1]));
            ways.push((a, b));
            if data.comm && a != b {
                ways.push((b, a));
            }
        }
        if let Some(identity) = data.left_identity {
            ways.push((identity, subject));
        }
        if let Some(identity) = data.right_identity {
            ways.push((subject, identity));
        }
        if data.idem {
            ways.push((subject, subject));
        }
        for at in 0..ways.len() {
            let (a, b) = ways[at];
            if ways[..at].contains(&(a, b)) {
                continue;
            }
            let (mark, before) = (self.trail.len(), goals.len());
            if self.match_simple(code, one, a, base, goals)
                && self.match_simple(code, two, b, base, goals)
                && self.solve(code, goals, base, found)?
            {
                return Ok(true);
            }
            goals.truncate(before);
            self.undo(mark);
        }
        Ok(false)
    }

    /// Leaves more and more of the outer repetitions over, until too few are left.
    #[allow(clippy::too_many_arguments)]
    fn solve_tower<'c>(
        &mut self,
        code: &'c Code,
        symbol: SymbolId,
        part: &'c Pattern,
        over: u32,
        subject: TermId,
        goals: &mut Vec<Goal<'c>>,
        base: usize,
        found: Found<'_>,
    ) -> Result<bool, Stop> {
        let Pattern::Iter { count, .. } = part else { unreachable!("a tower is of repetitions") };
        let reduced = self.terms.is_reduced(subject);
        let (mut left, below) = self.terms.iterations(subject);
        let mut outer = BigUint::ZERO;
        while left >= *count {
            let (mark, before) = (self.trail.len(), goals.len());
            if outer > BigUint::ZERO {
                let term = self.terms.make_iter(&code.signature, symbol, &outer, below);
                self.bind(base, over, term);
            }
            let inner = self.terms.make_iter(&code.signature, symbol, &left, below);
            self.sort_of(code, inner, reduced);
            if self.match_simple(code, part, inner, base, goals) && self.solve(code, goals, base, found)? {
                return Ok(true);
            }
            goals.truncate(before);
            self.undo(mark);
            outer += 1u32;
            left -= 1u32;
            self.check()?;
        }
        Ok(false)
    }

    fn solve_list<'c>(
        &mut self,
        code: &'c Code,
        list: &'c ListPattern,
        subject: TermId,
        goals: &mut Vec<Goal<'c>>,
        base: usize,
        found: Found<'_>,
    ) -> Result<bool, Stop> {
        let count = self.terms.count(&code.signature, list.symbol, subject);
        let reduced = self.terms.is_reduced(subject);
        let search = ListSearch { code, list, subject, count, base, reduced };
        // Of a list without variables the first place is taken, as Maude does.
        let ground = list.parts.iter().all(|part| matches!(part, ListPart::Element(Pattern::Ground(_))));
        let Some((left, _)) = list.extension else {
            return search.part(self, 0, 0, goals, found, 0);
        };
        // What is matched is the whole, or at least two of more elements.
        for start in 0..count.max(1) {
            if search.cannot_begin(self, start) {
                continue;
            }
            let mark = self.trail.len();
            if start > 0 {
                let term = self.terms.part(&code.signature, list.symbol, subject, 0, start);
                self.sort_of(code, term, reduced);
                self.bind(base, left, term);
            }
            let mut reached = false;
            let mut note = |engine: &mut Engine| {
                reached = true;
                found(engine)
            };
            if search.part(self, 0, start, goals, &mut note, start)? {
                return Ok(true);
            }
            self.undo(mark);
            if ground && reached {
                break;
            }
        }
        Ok(false)
    }

    fn solve_bag<'c>(
        &mut self,
        code: &'c Code,
        bag: &'c BagPattern,
        subject: TermId,
        goals: &mut Vec<Goal<'c>>,
        base: usize,
        found: Found<'_>,
    ) -> Result<bool, Stop> {
        let mut left = self.pairs.pop().unwrap_or_default();
        left.clear();
        if self.terms.has_top(subject, bag.symbol) {
            left.extend_from_slice(self.terms.row(subject).as_chunks::<2>().0);
        } else if code.signature.symbol(bag.symbol).identity() != Some(subject) {
            left.push([subject.0, 1]);
        }
        let reduced = self.terms.is_reduced(subject);
        let result = self.bag_ground(code, bag, &mut left, reduced, goals, base, found);
        self.pairs.push(left);
        result
    }

    /// Takes away what is known; then looks for elements, then for variables.
    #[allow(clippy::too_many_arguments)]
    fn bag_ground<'c>(
        &mut self,
        code: &'c Code,
        bag: &'c BagPattern,
        left: &mut Vec<[u32; 2]>,
        reduced: bool,
        goals: &mut Vec<Goal<'c>>,
        base: usize,
        found: Found<'_>,
    ) -> Result<bool, Stop> {
        for &(term, times) in &bag.ground {
            if !take(left, term, times) {
                return Ok(false);
            }
        }
        for taker in &bag.takers {
            let bound = self.slot(base, taker.slot);
            if bound != TermId::NONE && !self.take_bound(code, bag.symbol, left, bound, taker.times) {
                return Ok(false);
            }
        }
        let mut free: [usize; 16] = [usize::MAX; 16];
        let mut count = 0;
        for (at, taker) in bag.takers.iter().enumerate() {
            if self.slot(base, taker.slot) == TermId::NONE {
                if count == free.len() {
                    return Err(Stop::limit("a pattern has too many variables in one bag"));
                }
                free[count] = at;
                count += 1;
            }
        }
        BagSearch { code, bag, base, free: &free[..count], reduced }.element(self, 0, left, goals, found)
    }

    fn take_bound(
        &mut self,
        code: &Code,
        symbol: SymbolId,
        left: &mut [[u32; 2]],
        bound: TermId,
        times: u32,
    ) -> bool {
        if code.signature.symbol(symbol).identity() == Some(bound) {
            return true;
        }
        if !self.terms.has_top(bound, symbol) {
            return take(left, bound, times);
        }
        let pairs = self.terms.row(bound).as_chunks::<2>().0;
        pairs.iter().all(|pair| take(left, TermId(pair[0]), pair[1] * times))
    }
}

/// The term that a pattern stands for once its variables have values.
enum Instance {
    /// Some have none, or it is not a simple pattern.
    Unknown,
    /// There is no such term.
    Missing,
    /// This one.
    Term(TermId),
}

impl Engine {
    fn instance(&self, pattern: &Pattern, base: usize) -> Instance {
        let Pattern::Free { symbol, arguments } = pattern else { return Instance::Unknown };
        let mut row = [0; 4];
        if arguments.len() > row.len() {
            return Instance::Unknown;
        }
        for (place, argument) in row.iter_mut().zip(arguments) {
            let term = match argument {
                Pattern::Variable { slot, .. } => self.slot(base, *slot),
                Pattern::Ground(term) => *term,
                _ => TermId::NONE,
            };
            if term == TermId::NONE {
                return Instance::Unknown;
            }
            *place = term.0;
        }
        match self.terms.known(*symbol, &row[..arguments.len()]) {
            Some(term) => Instance::Term(term),
            None => Instance::Missing,
        }
    }
}

fn take(left: &mut [[u32; 2]], term: TermId, times: u32) -> bool {
    match left.iter_mut().find(|pair| pair[0] == term.0) {
        Some(pair) if pair[1] >= times => {
            pair[1] -= times;
            true
        }
        _ => false,
    }
}

struct BagSearch<'c, 'f> {
    code: &'c Code,
    bag: &'c BagPattern,
    base: usize,
    /// The variables that have no value yet.
    free: &'f [usize],
    /// Whether the bag is a normal form, so that its parts are.
    reduced: bool,
}

impl<'c> BagSearch<'c, '_> {
    /// Finds elements for the patterns from one on.
    fn element(
        &self,
        engine: &mut Engine,
        at: usize,
        left: &mut Vec<[u32; 2]>,
        goals: &mut Vec<Goal<'c>>,
        found: Found<'_>,
    ) -> Result<bool, Stop> {
        let Some((pattern, times)) = self.bag.elements.get(at) else {
            return self.variables(engine, left, goals, found);
        };
        let range = match pattern {
            Pattern::Free { symbol, .. } | Pattern::Iter { symbol, .. } => {
                engine.range_of(self.code, left, *symbol)
            }
            _ => 0..left.len(),
        };
        // What is known from other elements is not matched again.
        let known = match engine.instance(pattern, self.base) {
            Instance::Unknown => None,
            Instance::Missing => return Ok(false),
            Instance::Term(term) => Some(term.0),
        };
        for chosen in range {
            if left[chosen][1] < *times || known.is_some_and(|known| left[chosen][0] != known) {
                continue;
            }
            let (mark, before) = (engine.trail.len(), goals.len());
            let subject = TermId(left[chosen][0]);
            if engine.match_simple(self.code, pattern, subject, self.base, goals) {
                left[chosen][1] -= times;
                if self.element(engine, at + 1, left, goals, found)? {
                    return Ok(true);
                }
                left[chosen][1] += times;
            }
            goals.truncate(before);
            engine.undo(mark);
        }
        Ok(false)
    }

    /// Variables that an element has given a value have to be there; the others share what is left.
    fn variables(
        &self,
        engine: &mut Engine,
        left: &mut Vec<[u32; 2]>,
        goals: &mut Vec<Goal<'c>>,
        found: Found<'_>,
    ) -> Result<bool, Stop> {
        let is_bound =
            |engine: &Engine, at: usize| engine.slot(self.base, self.bag.takers[at].slot) != TermId::NONE;
        if self.free.iter().any(|&at| is_bound(engine, at)) {
            let mut rest = left.clone();
            let mut open = Vec::new();
            for &at in self.free {
                let taker = &self.bag.takers[at];
                let bound = engine.slot(self.base, taker.slot);
                if bound == TermId::NONE {
                    open.push(at);
                } else if !engine.take_bound(self.code, self.bag.symbol, &mut rest, bound, taker.times) {
                    return Ok(false);
                }
            }
            return self.share(engine, &open, &mut rest, goals, found);
        }
        self.share(engine, self.free, left, goals, found)
    }

    fn share(
        &self,
        engine: &mut Engine,
        open: &[usize],
        left: &mut Vec<[u32; 2]>,
        goals: &mut Vec<Goal<'c>>,
        found: Found<'_>,
    ) -> Result<bool, Stop> {
        let Some((&first, rest)) = open.split_first() else {
            return match left.iter().all(|pair| pair[1] == 0) {
                true => engine.solve(self.code, goals, self.base, found),
                false => Ok(false),
            };
        };
        let taker = self.bag.takers[first];
        // With an extension, the pattern itself takes two elements or all.
        if taker.extension {
            return self.leave(engine, taker, left, goals, found);
        }
        if rest.is_empty() {
            return self.take_all(engine, taker, left, goals, found);
        }
        // A variable that takes everything before what is left over: enough for most rules, and first for all.
        if taker.single {
            for at in 0..left.len() {
                if left[at][1] < taker.times {
                    continue;
                }
                let term = TermId(left[at][0]);
                if !self.code.signature.leq(engine.terms.sort(term), taker.sort) {
                    continue;
                }
                let mark = engine.trail.len();
                engine.bind(self.base, taker.slot, term);
                left[at][1] -= taker.times;
                if self.share(engine, rest, left, goals, found)? {
                    return Ok(true);
                }
                left[at][1] += taker.times;
                engine.undo(mark);
            }
            if taker.empty {
                return self.take_some(engine, taker, &[], rest, left, goals, found);
            }
            return Ok(false);
        }
        // All ways to take some: larger shares first where only what is left over follows, else smaller ones.
        let most: Vec<u32> = left.iter().map(|pair| pair[1] / taker.times).collect();
        let down = matches!(rest, [last] if self.bag.takers[*last].extension);
        let mut share = if down { most.clone() } else { vec![0; most.len()] };
        loop {
            if self.take_some(engine, taker, &share, rest, left, goals, found)? {
                return Ok(true);
            }
            let end = |at: usize| if down { share[at] == 0 } else { share[at] == most[at] };
            let Some(at) = (0..share.len()).find(|&at| !end(at)) else { return Ok(false) };
            share[at] = if down { share[at] - 1 } else { share[at] + 1 };
            for before in 0..at {
                share[before] = if down { most[before] } else { 0 };
            }
            engine.check()?;
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn take_some(
        &self,
        engine: &mut Engine,
        taker: Taker,
        share: &[u32],
        rest: &[usize],
        left: &mut Vec<[u32; 2]>,
        goals: &mut Vec<Goal<'c>>,
        found: Found<'_>,
    ) -> Result<bool, Stop> {
        let Some(term) = self.term_of(engine, taker, left, share) else { return Ok(false) };
        let mark = engine.trail.len();
        engine.bind(self.base, taker.slot, term);
        for (pair, taken) in left.iter_mut().zip(share) {
            pair[1] -= taken * taker.times;
        }
        let over = self.share(engine, rest, left, goals, found)?;
        for (pair, taken) in left.iter_mut().zip(share) {
            pair[1] += taken * taker.times;
        }
        if !over {
            engine.undo(mark);
        }
        Ok(over)
    }

    /// The term of a share, if its sort fits.
    fn term_of(&self, engine: &mut Engine, taker: Taker, left: &[[u32; 2]], share: &[u32]) -> Option<TermId> {
        let mut parts = std::mem::take(&mut engine.parts);
        parts.clear();
        parts.extend(
            left.iter()
                .zip(share)
                .filter(|(_, taken)| **taken > 0)
                .map(|(pair, &taken)| (TermId(pair[0]), taken)),
        );
        let term = match parts[..] {
            [] if !taker.empty => None,
            _ => Some(engine.terms.made_bag(&self.code.signature, self.bag.symbol, &parts)),
        };
        engine.parts = parts;
        let term = term?;
        if !self.code.signature.leq(engine.sort_of(self.code, term, self.reduced), taker.sort) {
            return None;
        }
        Some(term)
    }

    /// The last variable takes what is left.
    fn take_all(
        &self,
        engine: &mut Engine,
        taker: Taker,
        left: &[[u32; 2]],
        goals: &mut Vec<Goal<'c>>,
        found: Found<'_>,
    ) -> Result<bool, Stop> {
        if left.iter().any(|pair| pair[1] % taker.times != 0) {
            return Ok(false);
        }
        if taker.single && left.iter().map(|pair| pair[1] / taker.times).sum::<u32>() > 1 {
            return Ok(false);
        }
        let mut parts = std::mem::take(&mut engine.parts);
        parts.clear();
        parts.extend(
            left.iter().filter(|pair| pair[1] > 0).map(|pair| (TermId(pair[0]), pair[1] / taker.times)),
        );
        let term = match parts[..] {
            [] if !taker.empty => None,
            _ => Some(engine.terms.made_bag(&self.code.signature, self.bag.symbol, &parts)),
        };
        engine.parts = parts;
        let Some(term) = term else { return Ok(false) };
        if !self.code.signature.leq(engine.sort_of(self.code, term, self.reduced), taker.sort) {
            return Ok(false);
        }
        let mark = engine.trail.len();
        engine.bind(self.base, taker.slot, term);
        let over = engine.solve(self.code, goals, self.base, found)?;
        if !over {
            engine.undo(mark);
        }
        Ok(over)
    }

    /// What no pattern and no variable has taken stays as it is.
    fn leave(
        &self,
        engine: &mut Engine,
        taker: Taker,
        left: &mut [[u32; 2]],
        goals: &mut Vec<Goal<'c>>,
        found: Found<'_>,
    ) -> Result<bool, Stop> {
        let mark = engine.trail.len();
        let some = left.iter().any(|pair| pair[1] > 0);
        if some {
            if self.taken(engine) < 2 {
                return Ok(false);
            }
            // Whoever uses the match puts them into another bag; a term of their own is made only where it is asked for.
            engine.rests.push(engine.rest.len());
            let pairs = left.iter().filter(|pair| pair[1] > 0);
            engine.rest.extend(pairs.map(|pair| (TermId(pair[0]), pair[1])));
            engine.bind(self.base, taker.slot, TermId::LATER);
        }
        let rests = engine.rests.len();
        let over = engine.solve(self.code, goals, self.base, found)?;
        if !over {
            engine.undo(mark);
            engine.drop_rests(rests - usize::from(some));
        }
        Ok(over)
    }

    /// How many elements the pattern has taken, two for many.
    fn taken(&self, engine: &Engine) -> u32 {
        let mut taken: u32 = self.bag.ground.iter().map(|&(_, times)| times).sum();
        taken += self.bag.elements.iter().map(|(_, times)| times).sum::<u32>();
        let identity = self.code.signature.symbol(self.bag.symbol).identity();
        for taker in self.bag.takers.iter().filter(|taker| !taker.extension) {
            let term = engine.slot(self.base, taker.slot);
            if Some(term) != identity {
                taken += if engine.terms.has_top(term, self.bag.symbol) { 2 } else { taker.times };
            }
        }
        taken
    }
}

struct ListSearch<'c> {
    code: &'c Code,
    list: &'c ListPattern,
    /// The list, and how many elements it has.
    subject: TermId,
    count: usize,
    base: usize,
    /// Whether the list is a normal form, so that its parts are.
    reduced: bool,
}

impl<'c> ListSearch<'c> {
    /// Whether the first part tells at once that the pattern does not begin at an element.
    fn cannot_begin(&self, engine: &Engine, at: usize) -> bool {
        if at >= self.count {
            return false;
        }
        let element = engine.terms.element(self.list.symbol, self.subject, at);
        match self.list.parts.first() {
            Some(ListPart::Element(Pattern::Ground(term))) => *term != element,
            Some(ListPart::Element(Pattern::Free { symbol, .. })) => !engine.terms.has_top(element, *symbol),
            _ => false,
        }
    }

    /// Matches the parts from one on with the elements from one on; `start` is where the first part began.
    fn part(
        &self,
        engine: &mut Engine,
        part: usize,
        at: usize,
        goals: &mut Vec<Goal<'c>>,
        found: Found<'_>,
        start: usize,
    ) -> Result<bool, Stop> {
        let (code, symbol, base) = (self.code, self.list.symbol, self.base);
        let (subject, count) = (self.subject, self.count);
        let Some(next) = self.list.parts.get(part) else {
            if at == count {
                if start > 0 && at - start < 2 {
                    return Ok(false);
                }
                return engine.solve(code, goals, base, found);
            }
            let Some((_, right)) = self.list.extension else { return Ok(false) };
            if at - start < 2 {
                return Ok(false);
            }
            let mark = engine.trail.len();
            let term = engine.terms.part(&code.signature, symbol, subject, at, count);
            engine.sort_of(code, term, self.reduced);
            engine.bind(base, right, term);
            let over = engine.solve(code, goals, base, found)?;
            if !over {
                engine.undo(mark);
            }
            return Ok(over);
        };
        match next {
            ListPart::Element(pattern) => {
                if at >= count {
                    return Ok(false);
                }
                let element = engine.terms.element(symbol, subject, at);
                let (mark, before) = (engine.trail.len(), goals.len());
                if engine.match_simple(code, pattern, element, base, goals)
                    && self.part(engine, part + 1, at + 1, goals, found, start)?
                {
                    return Ok(true);
                }
                goals.truncate(before);
                engine.undo(mark);
                Ok(false)
            }
            ListPart::Variable(taker) => {
                let bound = engine.slot(base, taker.slot);
                if bound != TermId::NONE {
                    let end = at + engine.terms.count(&code.signature, symbol, bound);
                    let fits = (at..end).all(|place| {
                        place < count
                            && engine.terms.element(symbol, subject, place)
                                == engine.terms.element(symbol, bound, place - at)
                    });
                    return match fits {
                        true => self.part(engine, part + 1, end, goals, found, start),
                        false => Ok(false),
                    };
                }
                let least = usize::from(!taker.empty);
                let most = if taker.single { 1 } else { count - at };
                let last = part + 1 == self.list.parts.len() && self.list.extension.is_none();
                // What the parts behind need at least.
                let needed: usize = self.list.parts[part + 1..]
                    .iter()
                    .map(|part| usize::from(!matches!(part, ListPart::Variable(taker) if taker.empty)))
                    .sum();
                let most = most.min((count - at).saturating_sub(needed));
                let least = if last { least.max(count - at) } else { least };
                for length in least..=most {
                    let term = engine.terms.part(&code.signature, symbol, subject, at, at + length);
                    if !code.signature.leq(engine.sort_of(code, term, self.reduced), taker.sort) {
                        continue;
                    }
                    let mark = engine.trail.len();
                    engine.bind(base, taker.slot, term);
                    if self.part(engine, part + 1, at + length, goals, found, start)? {
                        return Ok(true);
                    }
                    engine.undo(mark);
                    engine.check()?;
                }
                Ok(false)
            }
        }
    }
}
