//! Sequences of states that are written as a term: a list of lists, whatever their operators are called.
//!
//! What rules rewrite tells what a state is: a term of the kind of their left sides. Terms of other kinds are the lists
//! around states; the kind of the innermost of them is that of a sequence.

use ::model::{Input, Starting};
use source::Diagnostic;

use crate::engine::Engine;
use crate::engine::code::Code;
use crate::language::{read_modules, start};
use crate::names::Name;
use crate::print;
use crate::session::{Session, stopped};
use crate::signature::KindId;
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
    let Some(sequence) = states.kind_of_sequences(value) else {
        let shown = print::one_line(&code.signature, &engine.terms, value);
        let shown: String = shown.chars().take(200).collect();
        return Err(vec![
            Diagnostic::error("this term has no states in it")
                .note(format!("it is {shown}"))
                .help("a state is a term of the kind that the rules of its module rewrite"),
        ]);
    };
    let mut found = Vec::new();
    states.collect(value, sequence, &mut found);
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
    fn kind(&self, term: TermId) -> KindId {
        self.code.signature.kind_of(self.terms.sort(term))
    }

    fn is_state(&self, term: TermId) -> bool {
        self.states.contains(&self.kind(term))
    }

    /// The kind of a term that has states as arguments; that of states where a term is one.
    fn kind_of_sequences(&self, term: TermId) -> Option<KindId> {
        let mut todo = vec![term];
        while let Some(term) = todo.pop() {
            if self.is_state(term) {
                return Some(self.kind(term));
            }
            let arguments = self.terms.arguments(term);
            if arguments.iter().any(|&argument| self.is_state(argument)) {
                return Some(self.kind(term));
            }
            todo.extend(arguments.into_iter().rev());
        }
        None
    }

    /// The states of every part of a kind, from left to right.
    fn collect(&self, term: TermId, sequence: KindId, found: &mut Vec<Vec<TermId>>) {
        let mut todo = vec![term];
        while let Some(term) = todo.pop() {
            if self.kind(term) == sequence {
                let mut states = Vec::new();
                let mut inner = vec![term];
                while let Some(term) = inner.pop() {
                    match self.is_state(term) {
                        true => states.push(term),
                        false => inner.extend(self.terms.arguments(term).into_iter().rev()),
                    }
                }
                if !states.is_empty() {
                    found.push(states);
                }
                continue;
            }
            todo.extend(self.terms.arguments(term).into_iter().rev());
        }
    }
}
