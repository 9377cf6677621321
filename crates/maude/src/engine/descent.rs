//! Statements at chosen places of a term: what the meta-level's `metaXapply` and `metaXmatch` ask for.

use super::code::{Code, Compiled};
use super::{Engine, Stop};
use crate::signature::{SymbolId, Theory};
use crate::terms::TermId;

/// A place in a term.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// What is there.
    pub term: TermId,
    /// The place around it, as a position in the list of places; its own for the whole term.
    pub parent: usize,
    /// Which argument of that it is; in bags, which different one.
    pub argument: usize,
    depth: u64,
}

/// What is left of a list or bag around the part that a statement matches.
#[derive(Clone, Copy, Debug)]
pub struct Around {
    /// The operator.
    pub symbol: SymbolId,
    /// What comes before; for bags all that is left.
    pub left: TermId,
    /// What comes after.
    pub right: TermId,
}

/// Takes a frame on the stack and what a match has left over; says whether the search is over.
type FoundFrame<'f> = &'f mut dyn FnMut(&mut Engine, usize, Option<Around>) -> Result<bool, Stop>;

impl Engine {
    /// The places of a term that are not deeper than `most`, outer ones first, and those at a depth of `least` at least.
    /// Frozen arguments are left out if rules are to be applied there.
    pub(crate) fn places(
        &self,
        code: &Code,
        term: TermId,
        least: u64,
        most: Option<u64>,
        frozen: bool,
    ) -> (Vec<Place>, Vec<usize>) {
        let mut places = vec![Place { term, parent: 0, argument: 0, depth: 0 }];
        let mut at = 0;
        while at < places.len() {
            let here = places[at];
            if most.is_none_or(|most| here.depth < most)
                && let Some(symbol) = self.terms.symbol(here.term)
            {
                let data = code.signature.symbol(symbol);
                let open = |argument: usize| {
                    frozen || !data.frozen.get(argument.min(data.frozen.len() - 1)).is_some_and(|&own| own)
                };
                let mut parts: Vec<TermId> = Vec::new();
                self.terms.for_arguments(here.term, |part| parts.push(part));
                let same = data.theory == Theory::Pair && data.comm && parts.first() == parts.last();
                for (argument, &part) in parts.iter().enumerate() {
                    if open(argument) && !(same && argument == 1) {
                        places.push(Place { term: part, parent: at, argument, depth: here.depth + 1 });
                    }
                }
            }
            at += 1;
        }
        let chosen = (0..places.len()).filter(|&at| places[at].depth >= least).collect();
        (places, chosen)
    }

    /// Calls `found` for every way in which a statement matches a term, which has to stay on the stack or among the kept
    /// ones, until it says that this is enough. `bound` are values that variables have already. `found` gets the place of
    /// the frame on the stack and what is left over.
    pub(crate) fn match_statement(
        &mut self,
        code: &Code,
        statement: &Compiled,
        bound: &[(usize, TermId)],
        term: TermId,
        found: FoundFrame<'_>,
    ) -> Result<bool, Stop> {
        let base = self.stack.len();
        self.stack.resize(base + statement.slots as usize, TermId::NONE);
        for &(slot, value) in bound {
            self.stack[base + slot] = value;
        }
        let rests = self.rests.len();
        let over = self.match_then(code, &statement.pattern, term, base, &mut |engine| {
            engine.conditions(code, statement, 0, base, &mut |engine| {
                let around = engine.left_over(code, statement, base);
                let around = around.map(|(symbol, left, right)| Around { symbol, left, right });
                found(engine, base, around)
            })
        })?;
        self.drop_rests(rests);
        self.stack.truncate(base);
        Ok(over)
    }

    /// The whole term after a rule was applied at a place; the rule's frame is at `base`.
    pub(crate) fn applied(
        &mut self,
        code: &Code,
        rule: &Compiled,
        base: usize,
        around: Option<Around>,
        places: &[Place],
        at: usize,
    ) -> Result<TermId, Stop> {
        self.rewrites += 1;
        self.check()?;
        let top = self.stack.len();
        let mut value = self.value(code, &rule.build, base)?;
        if let Some(Around { symbol, left, right }) = around {
            value = self.put_back(code, (symbol, left, right), value)?;
        }
        let mut at = at;
        while at != 0 {
            let Place { parent, argument, .. } = places[at];
            value = self.replaced(code, places[parent].term, argument, value)?;
            at = parent;
        }
        self.stack.truncate(top);
        Ok(value)
    }

    /// The least sort of a term that need not be a normal form, memberships included. The engine is of no use afterwards.
    pub(crate) fn true_sort(&mut self, code: &Code, term: TermId) -> crate::signature::SortId {
        if self.terms.is_reduced(term) || code.memberships.is_empty() {
            return self.terms.sort(term);
        }
        stacker::maybe_grow(64 << 10, 1 << 20, || {
            for argument in self.terms.arguments(term) {
                self.true_sort(code, argument);
            }
        });
        self.stack.push(term);
        let rests = self.rests.len();
        // A membership whose condition can't be evaluated says nothing.
        if self.settle(code, term).is_err() {
            self.drop_rests(rests);
        }
        self.stack.pop();
        self.terms.sort(term)
    }
}
