//! Reading and printing at the meta-level.

use rustc_hash::FxHashMap;

use super::level::Level;
use super::sketch::{Sketch, sort_of};
use crate::engine::code::Code;
use crate::grammar::Goal;
use crate::names::{Name, split};
use crate::print::{self, Style};
use crate::signature::{Signature, SortId};
use crate::syntax::lexer::{self, Token};
use crate::terms::TermId;

/// The variables of a set, by their names.
fn variables(level: &Level<'_>, signature: &Signature, term: TermId) -> Option<FxHashMap<Name, SortId>> {
    let mut all = FxHashMap::default();
    for variable in level.elements(term, "qidSetSymbol", "emptyQidSetSymbol") {
        let word = level.word(variable)?;
        let (name, ':', sort) = split(word.text())? else { return None };
        all.insert(Name::new(name), sort_of(signature, sort)?);
    }
    Some(all)
}

/// `metaParse`, without the module.
pub fn parse(level: &mut Level<'_>, code: &Code, arguments: &[TermId]) -> Option<TermId> {
    let signature = &code.signature;
    let variables = variables(level, signature, arguments[0])?;
    let span = signature.symbols[0].span;
    let mut tokens = Vec::new();
    for word in level.elements(arguments[1], "qidListSymbol", "nilQidListSymbol") {
        let text = level.word(word)?.text();
        let special =
            text.strip_prefix('`').filter(|rest| rest.len() == 1 && rest.starts_with(lexer::is_special));
        tokens.push(Token { name: Name::new(special.unwrap_or(text)), span, ends_line: false });
    }
    let kind = match level.is(arguments[2], "anyTypeSymbol") {
        true => None,
        false => Some(signature.kind_of(sort_of(signature, level.word(arguments[2])?.text())?)),
    };
    let mut terms = code.terms.clone();
    terms.as_written = true;
    let grammar = code.module.grammar();
    let read = grammar.read_kind(signature, &mut terms, &variables, Goal::Term, kind, &tokens);
    let reading = match read {
        Ok(reading) => reading,
        Err(no) => {
            let at = level.number(no.at as u64)?;
            return level.make("noParseSymbol", &[at]);
        }
    };
    let mut result = |term: TermId| {
        let sort = level.sort(signature, terms.sort(term))?;
        let term = Sketch::of_object(signature, &terms, term).write_last(level)?;
        level.make("resultPairSymbol", &[term, sort])
    };
    match reading.ambiguous {
        Some((0, end, one, two)) if end == tokens.len() => {
            let pairs = [result(one)?, result(two)?];
            level.make("ambiguitySymbol", &pairs)
        }
        _ => result(reading.terms[0]),
    }
}

/// `metaPrettyPrint`, without the module.
pub fn print(level: &mut Level<'_>, code: &Code, arguments: &[TermId]) -> Option<TermId> {
    let signature = &code.signature;
    let variables = variables(level, signature, arguments[0])?;
    let mut terms = code.terms.clone();
    terms.as_written = true;
    let term = Sketch::of_meta(level, arguments[1])?.build(signature, &mut terms, &code.literals)?;
    let options = level.elements(arguments[2], "printOptionSetSymbol", "emptyPrintOptionSetSymbol");
    let has = |purpose: &str| options.iter().any(|&option| level.is(option, purpose));
    let style = Style {
        format: has("formatPrintOptionSymbol"),
        mixfix: has("mixfixSymbol"),
        flat: has("flatSymbol"),
        parentheses: has("withParensSymbol"),
        number: has("numberSymbol"),
        rational: has("ratSymbol"),
        tokens: true,
        most: Style::default().most,
    };
    let text = print::with_variables(signature, &terms, term, style, &variables);
    let mut words = Vec::new();
    for word in lexer::words(&text) {
        words.push(level.quoted(&quoted_token(word))?);
    }
    level.join("qidListSymbol", "nilQidListSymbol", &words)
}

/// A token as the name of a quoted identifier.
fn quoted_token(word: &str) -> String {
    if word.len() == 1 && word.starts_with(lexer::is_special) { format!("`{word}") } else { word.to_owned() }
}
