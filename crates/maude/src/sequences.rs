//! Sequences of states that are written as a term: a list of lists, whatever their operators are called.
//!
//! What rules rewrite tells what a state is: a term of the kind of their left sides. The operator that has states as
//! arguments makes sequences of them, and whatever stands around that makes lists of sequences.

use ::model::{Input, Starting};
use rustc_hash::FxHashSet;
use source::Diagnostic;

use crate::engine::Engine;
use crate::engine::code::Code;
use crate::language::{read_modules, start};
use crate::names::Name;
use crate::print;
use crate::session::{Session, stopped};
use crate::signature::{KindId, SymbolId};
use crate::syntax::tree::StatementKind;
use crate::terms::{TermId, Terms};

/// What such a term is usually called.
const USUAL_NAMES: [&str; 6] = ["seqs", "sequences", "traces", "seq", "sequence", "trace"];

/// The sequences of a text.
pub(crate) fn sequences(
    input: &Input<'_>,
    session: &mut Session,
) -> Result<Vec<Vec<String>>, Vec<Diagnostic>> {
    read_modules(input, session)?;
    let usual = match input.root {
        Some(_) => None,
        None => usual_name(session),
    };
    let input = Input { root: input.root.or(usual.as_deref()), starting: Starting::Root, ..*input };
    if input.root.is_none() {
        return Err(vec![
            Diagnostic::error("which term are the sequences?")
                .help("`--term 'in MODULE : TERM'` says which; a constant called `seqs` is found by itself"),
        ]);
    }
    let (module, term, terms) = start(&input, session)?;
    let code = std::sync::Arc::new(Code::with_terms(&module, terms));
    let mut engine = Engine::new(code.clone());
    engine.meta = Some(Box::new(crate::meta::Meta::new(session.database.clone())));
    let place = module.span.unwrap_or_else(|| session.sources.span(session.main_file()));
    let value = engine.reduce(term).map_err(|stop| vec![stopped(stop, place)])?;
    let rules = module.statements.iter().filter(|statement| statement.kind == StatementKind::Rule);
    let mut kinds: Vec<KindId> =
        rules.map(|rule| module.signature.kind_of(module.terms.sort(rule.left))).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let states = Lists { code: &code, terms: &engine.terms, states: &kinds };
    let mut found = Vec::new();
    states.collect(value, &states.makers(value), &mut found);
    if found.is_empty() {
        let shown = print::one_line(&code.signature, &engine.terms, value);
        let shown: String = shown.chars().take(200).collect();
        return Err(vec![
            Diagnostic::error("this term has no states in it")
                .note(format!("it is {shown}"))
                .help("a state is a term of the kind that the rules of its module rewrite"),
        ]);
    }
    let shown = |states: &Vec<TermId>| {
        states.iter().map(|&state| print::one_line(&code.signature, &engine.terms, state)).collect()
    };
    Ok(found.iter().map(shown).collect())
}

/// A constant of the last module with a usual name.
fn usual_name(session: &mut Session) -> Option<String> {
    let (module, _) = session.module(session.current?, None).ok()?;
    let is_there = |name: &&&str| {
        let named = module.signature.named(Name::new(name));
        named.iter().any(|&id| module.signature.symbol(id).arity() == 0)
    };
    USUAL_NAMES.iter().find(is_there).map(|name| (*name).to_owned())
}

struct Lists<'t> {
    code: &'t Code,
    terms: &'t Terms,
    states: &'t [KindId],
}

impl Lists<'_> {
    fn is_state(&self, term: TermId) -> bool {
        self.states.contains(&self.code.signature.kind_of(self.terms.sort(term)))
    }

    /// The operators that have states as arguments and no other such operator below them.
    fn makers(&self, term: TermId) -> Vec<SymbolId> {
        let (mut makers, mut above): (Vec<SymbolId>, Vec<SymbolId>) = (Vec::new(), Vec::new());
        let mut seen: FxHashSet<TermId> = FxHashSet::default();
        let mut todo = vec![(term, None)];
        while let Some((term, parent)) = todo.pop() {
            let Some(symbol) = self.terms.symbol(term).filter(|_| !self.is_state(term) && seen.insert(term))
            else {
                continue;
            };
            let arguments = self.terms.arguments(term);
            if arguments.iter().any(|&argument| self.is_state(argument)) {
                if !makers.contains(&symbol) {
                    makers.push(symbol);
                }
                above.extend(parent.filter(|&parent| parent != symbol));
            }
            todo.extend(arguments.into_iter().map(|argument| (argument, Some(symbol))));
        }
        let innermost =
            makers.iter().copied().filter(|maker| !above.contains(maker)).collect::<Vec<SymbolId>>();
        if innermost.is_empty() { makers } else { innermost }
    }

    /// The states of every largest part that such operators make, from left to right. A state elsewhere is a sequence alone.
    fn collect(&self, term: TermId, makers: &[SymbolId], found: &mut Vec<Vec<TermId>>) {
        let is_made = |term: TermId| self.terms.symbol(term).is_some_and(|symbol| makers.contains(&symbol));
        let mut todo = vec![term];
        while let Some(term) = todo.pop() {
            if self.is_state(term) {
                found.push(vec![term]);
            } else if is_made(term) {
                let mut states = Vec::new();
                let mut inner = vec![term];
                while let Some(term) = inner.pop() {
                    match self.is_state(term) {
                        true => states.push(term),
                        false => inner.extend(self.terms.arguments(term).into_iter().rev()),
                    }
                }
                found.push(states);
            } else {
                todo.extend(self.terms.arguments(term).into_iter().rev());
            }
        }
    }
}
