//! The operators of the meta-level as a module has them: found by their purposes, whatever they are called.

use num_bigint::BigInt;
use num_traits::ToPrimitive;
use rustc_hash::FxHashMap;

use crate::engine::Engine;
use crate::engine::code::Code;
use crate::modules::resolve_type;
use crate::names::Name;
use crate::signature::{KindId, Signature, SortId, SymbolId};
use crate::syntax::tree::Type;
use crate::terms::TermId;

/// The operators of `META-LEVEL` in a module, by their purposes.
#[derive(Debug, Default)]
pub struct Hooks {
    symbols: FxHashMap<Name, SymbolId>,
}

impl Hooks {
    /// Those that the built-in operators of a signature need.
    pub fn new(signature: &Signature) -> Self {
        let kind = |one: &Type| resolve_type(signature, one).ok().map(|sort| signature.kind_of(sort));
        let mut symbols = FxHashMap::default();
        for symbol in &signature.symbols {
            let Some(special) = symbol.special.as_ref().filter(|_| symbol.is_special("MetaLevelOpSymbol"))
            else {
                continue;
            };
            // All but one share the list of that one.
            for hook in &special.operators {
                let domain: Option<Vec<KindId>> = hook.domain.iter().map(kind).collect();
                let found = domain.zip(kind(&hook.range));
                let found = found.and_then(|(domain, range)| signature.find(hook.name, &domain, range));
                if let Some(found) = found {
                    symbols.insert(hook.purpose, found);
                }
            }
        }
        Self { symbols }
    }
}

/// A module with `META-LEVEL`, in which meta-terms are read and made.
pub struct Level<'a> {
    /// What evaluates its terms.
    pub engine: &'a mut Engine,
    /// The module.
    pub code: &'a Code,
    /// Its operators.
    pub hooks: &'a Hooks,
}

impl Level<'_> {
    fn symbol(&self, purpose: &str) -> Option<SymbolId> {
        self.hooks.symbols.get(&Name::new(purpose)).copied()
    }

    /// Whether an operator stands at the top of a term.
    pub fn is(&self, term: TermId, purpose: &str) -> bool {
        self.symbol(purpose).is_some_and(|symbol| self.engine.terms.has_top(term, symbol))
    }

    /// The first of these purposes that the operator at the top of a term has.
    pub fn purpose(&self, term: TermId, purposes: &[&'static str]) -> Option<&'static str> {
        purposes.iter().copied().find(|purpose| self.is(term, purpose))
    }

    /// The arguments of a term.
    pub fn arguments(&self, term: TermId) -> Vec<TermId> {
        self.engine.terms.arguments(term)
    }

    /// The elements of a list or set.
    pub fn elements(&self, term: TermId, join: &str, empty: &str) -> Vec<TermId> {
        if self.is(term, join) {
            return self.engine.terms.arguments(term);
        }
        if self.is(term, empty) { Vec::new() } else { vec![term] }
    }

    /// The name of a quoted identifier.
    pub fn word(&self, term: TermId) -> Option<Name> {
        self.is(term, "qidSymbol").then(|| self.engine.terms.quoted_name(term))
    }

    /// A natural number.
    pub fn natural(&self, term: TermId) -> Option<u64> {
        self.engine.integer(self.code, term)?.to_u64()
    }

    /// A number, or none for `unbounded`; outer none if it is neither.
    pub fn bound(&self, term: TermId) -> Option<Option<u64>> {
        if self.is(term, "unboundedSymbol") { Some(None) } else { self.natural(term).map(Some) }
    }

    /// A truth value.
    pub fn truth(&self, term: TermId) -> Option<bool> {
        let (yes, no) = self.code.booleans?;
        if term == yes { Some(true) } else { (term == no).then_some(false) }
    }

    /// The text of a string.
    pub fn text(&self, term: TermId) -> Option<String> {
        self.is(term, "stringSymbol").then(|| self.engine.terms.string_text(term))
    }

    /// Applies an operator.
    pub fn make(&mut self, purpose: &str, arguments: &[TermId]) -> Option<TermId> {
        let symbol = self.symbol(purpose)?;
        Some(self.engine.terms.make(&self.code.signature, symbol, arguments))
    }

    /// A list or set of terms.
    pub fn join(&mut self, join: &str, empty: &str, elements: &[TermId]) -> Option<TermId> {
        match elements {
            [] => self.make(empty, &[]),
            [only] => Some(*only),
            _ => self.make(join, elements),
        }
    }

    /// A quoted identifier; the name is without the quote.
    pub fn quoted(&mut self, text: &str) -> Option<TermId> {
        let symbol = self.symbol("qidSymbol")?;
        Some(self.engine.terms.quoted(&self.code.signature, symbol, Name::new(text)))
    }

    /// A sort or kind of a signature.
    pub fn sort(&mut self, signature: &Signature, sort: SortId) -> Option<TermId> {
        self.quoted(&crate::names::quoted_sort(signature.sort_name(sort)))
    }

    /// A set of sorts.
    pub fn sorts(&mut self, signature: &Signature, sorts: &[SortId]) -> Option<TermId> {
        let mut words = Vec::new();
        for &sort in sorts {
            words.push(self.sort(signature, sort)?);
        }
        self.join("sortSetSymbol", "emptySortSetSymbol", &words)
    }

    /// A number.
    pub fn number(&mut self, number: u64) -> Option<TermId> {
        self.engine.number(self.code, &BigInt::from(number))
    }

    /// A string.
    pub fn string(&mut self, text: &str) -> Option<TermId> {
        let symbol = self.symbol("stringSymbol")?;
        Some(self.engine.terms.string(&self.code.signature, symbol, text))
    }
}
