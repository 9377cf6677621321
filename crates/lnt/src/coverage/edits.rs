//! Text that is written into a program: pieces to insert, and lists of gates and parameters that get longer.

use rustc_hash::FxHashSet;
use source::{FileId, Sources, Span};

use crate::lexer::{Token, TokenKind};

/// A piece of text in place of another; nothing is replaced where the span is empty.
pub(super) struct Edit {
    pub span: Span,
    /// At one place, lower ranks come first, and equal ones in the order in which they were made.
    pub rank: Rank,
    pub text: String,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    Declaration,
    Initial,
    Probe,
    End,
}

pub(super) fn apply(text: &str, file: FileId, edits: &[Edit]) -> String {
    let mut result = String::with_capacity(text.len() * 2);
    let mut at = 0;
    for edit in edits.iter().filter(|edit| edit.span.file == file) {
        result.push_str(&text[at..edit.span.start as usize]);
        result.push_str(&edit.text);
        at = edit.span.end as usize;
    }
    result.push_str(&text[at..]);
    result
}

pub(super) fn used_names(files: &[FileId], tokens: &[Vec<Token>], sources: &Sources) -> FxHashSet<String> {
    let mut names = FxHashSet::default();
    for (&file, tokens) in files.iter().zip(tokens) {
        for token in tokens.iter().filter(|token| token.kind == TokenKind::Identifier) {
            names.insert(sources.text(file)[token.span.range()].to_ascii_uppercase());
        }
    }
    names
}

pub(super) fn fresh(base: &str, names: &FxHashSet<String>) -> String {
    let taken = |name: &str| names.iter().any(|known| known.starts_with(name));
    let mut name = base.to_owned();
    let mut number = 0;
    while taken(&name) {
        number += 1;
        name = format!("{base}{number}");
    }
    name
}

/// The brackets of the gate list behind the name at a token, if there is one.
pub(super) fn gate_list(tokens: &[Token], name: usize) -> Option<(usize, usize)> {
    let open = name + 1;
    if tokens.get(open)?.kind != TokenKind::BracketOpen {
        return None;
    }
    let close = (open..tokens.len()).find(|&at| tokens[at].kind == TokenKind::BracketClose)?;
    Some((open, close))
}

/// What to insert before the closing bracket of actual gates.
pub(super) fn actual_gate(tokens: &[Token], open: usize, close: usize, gate: &str) -> String {
    let inside = &tokens[open + 1..close];
    let has = |kind: TokenKind| inside.iter().any(|token| token.kind == kind);
    match () {
        // `...` takes every gate that has the same name here.
        () if has(TokenKind::Ellipsis) => String::new(),
        () if has(TokenKind::Arrow) => format!(", {gate} -> {gate}"),
        () if inside.is_empty() => gate.to_owned(),
        () => format!(", {gate}"),
    }
}

/// The opening parenthesis of the list of parameters behind a name and its gates, if there is one.
pub(super) fn parameter_list(tokens: &[Token], name: usize) -> Option<usize> {
    let open = gate_list(tokens, name).map_or(name, |(_, close)| close) + 1;
    (tokens.get(open)?.kind == TokenKind::ParenOpen).then_some(open)
}

/// What to insert behind the opening parenthesis of actual parameters for those that come before all others, each with
/// its formal one.
pub(super) fn actual_parameters(tokens: &[Token], open: usize, pairs: &[(String, String)]) -> String {
    let kind = |at: usize| tokens.get(at).map(|token| token.kind);
    let named = kind(open + 1) == Some(TokenKind::Ellipsis)
        || matches!(kind(open + 2), Some(TokenKind::Arrow | TokenKind::FatArrow));
    let actual = |(formal, actual): &(String, String)| match named {
        true => format!("{formal} -> {actual}, "),
        false => format!("{actual}, "),
    };
    pairs.iter().map(actual).collect()
}
