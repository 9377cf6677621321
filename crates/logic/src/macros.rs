//! Macros and libraries: tokens in, tokens out.
//!
//! A macro may only use macros defined before it, and its body is expanded when it is defined: a call is one
//! substitution, nothing recurses, and the size of a result is known before it is made. Arguments and bodies of
//! more than one token are put in brackets, so that a call means what it looks like.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;
use source::{Diagnostic, FileId, Sources, Span, closest};

use crate::lexer::{KEYWORDS, Token, TokenKind, tokens};

/// The library that comes with CADP.
const STANDARD: &str = "standard.mcl";

/// How many tokens all calls of one file may make.
const EXPANSION_LIMIT: usize = 200_000;

/// A macro, its body already expanded.
#[derive(Clone, Debug)]
struct Macro {
    parameters: Vec<String>,
    body: Vec<Token>,
}

/// The macros known so far, by name and number of parameters.
#[derive(Clone, Debug, Default)]
pub(crate) struct Macros {
    known: FxHashMap<String, Vec<Macro>>,
    made: usize,
}

impl Macros {
    /// Reads a file: keeps the macros it defines, reads the libraries it names, and returns the other tokens with
    /// all calls expanded. A text without a path can't name libraries.
    pub fn read(
        &mut self,
        file: FileId,
        path: Option<&Path>,
        sources: &mut Sources,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Vec<Token> {
        let mut open = path.map(Path::to_path_buf).into_iter().collect();
        self.read_nested(file, path, sources, &mut open, diagnostics)
    }

    fn read_nested(
        &mut self,
        file: FileId,
        path: Option<&Path>,
        sources: &mut Sources,
        open: &mut Vec<PathBuf>,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Vec<Token> {
        let text = sources.text(file).to_owned();
        let tokens = tokens(file, &text, diagnostics);
        let mut rest = Vec::new();
        let mut at = 0;
        while at < tokens.len() {
            let token = &tokens[at];
            if token.is("macro") {
                at = self.define(&tokens, at, diagnostics);
            } else if token.is("library") {
                let end = (at..tokens.len() - 1).find(|&at| tokens[at].is("end_library"));
                at = end.map_or(tokens.len() - 1, |end| end + 1);
                let Some(end) = end else {
                    diagnostics.push(
                        Diagnostic::error("this library clause never ends")
                            .label(token.span, "begins here")
                            .help("write `library FILE.mcl end_library`"),
                    );
                    continue;
                };
                let Some(path) = path else {
                    diagnostics.push(
                        Diagnostic::error("text that is not in a file can't include a library")
                            .label(token.span, "included here")
                            .help("write its macros here, or load the property from a file"),
                    );
                    continue;
                };
                let inside =
                    Span { file, start: token.span.end, end: tokens[end].span.start.max(token.span.end) };
                self.libraries(inside, path, sources, open, diagnostics);
            } else {
                at = self.copy(&tokens, at, &mut rest, diagnostics);
            }
        }
        rest
    }

    /// `macro NAME (A, B) = BODY end_macro`; returns the position behind it.
    fn define(&mut self, tokens: &[Token], start: usize, diagnostics: &mut Vec<Diagnostic>) -> usize {
        let last = tokens.len() - 1;
        let Some(end) = (start..last).find(|&at| tokens[at].is("end_macro")) else {
            diagnostics.push(
                Diagnostic::error("this macro never ends")
                    .label(tokens[start].span, "begins here")
                    .help("close it with `end_macro`"),
            );
            return last;
        };
        let name = &tokens[start + 1];
        if name.kind != TokenKind::Word || KEYWORDS.contains(&name.text.as_str()) {
            diagnostics.push(
                Diagnostic::error("expected the name of the macro")
                    .label(name.span, "not a name")
                    .help("write `macro NAME (A, B) = FORMULA end_macro`"),
            );
            return end + 1;
        }
        let mut at = start + 2;
        let mut parameters = Vec::new();
        if tokens[at].is("(") {
            at += 1;
            while at < end && !tokens[at].is(")") {
                if tokens[at].kind == TokenKind::Word {
                    parameters.push(tokens[at].text.clone());
                } else if !tokens[at].is(",") {
                    diagnostics.push(
                        Diagnostic::error("expected the name of a parameter")
                            .label(tokens[at].span, "not a name")
                            .note("parameters are separated by commas and have no types"),
                    );
                    return end + 1;
                }
                at += 1;
            }
            at += 1;
        }
        if at >= end || !tokens[at].is("=") {
            diagnostics.push(
                Diagnostic::error("expected `=` between the macro's name and its body")
                    .label(tokens[at.min(end)].span, "expected `=`")
                    .help("write `macro NAME (A, B) = FORMULA end_macro`"),
            );
            return end + 1;
        }
        let mut body = Vec::new();
        at += 1;
        if at == end {
            diagnostics.push(
                Diagnostic::error("this macro has no body").label(tokens[end].span, "nothing before this"),
            );
            return end + 1;
        }
        // The slice ends where the body does: a call cut off by `end_macro` must not read past it.
        let inside: Vec<Token> = tokens[at..end].iter().chain([&tokens[last]]).cloned().collect();
        let mut at = 0;
        while at < inside.len() - 1 {
            at = self.copy(&inside, at, &mut body, diagnostics);
        }
        let of_name = self.known.entry(name.text.clone()).or_default();
        of_name.retain(|known| known.parameters.len() != parameters.len());
        of_name.push(Macro { parameters, body });
        end + 1
    }

    fn libraries(
        &mut self,
        inside: Span,
        path: &Path,
        sources: &mut Sources,
        open: &mut Vec<PathBuf>,
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        let list = sources.slice(inside).to_owned();
        for name in list.split([',', ' ', '\t', '\n', '\r']).map(|name| name.trim_matches(['"', '<', '>'])) {
            if name.is_empty() {
                continue;
            }
            let path = folder.join(name);
            if open.contains(&path) {
                diagnostics.push(
                    Diagnostic::error(format!("the library `{name}` includes itself"))
                        .label(inside, "included again here"),
                );
                continue;
            }
            let text = match lts::read_text(&path) {
                Ok(text) => text,
                // CADP's own library, which is not beside the file: its usual patterns are built in here.
                Err(error) if name == STANDARD && error.error.kind() == ErrorKind::NotFound => continue,
                Err(error) => {
                    diagnostics.push(
                        Diagnostic::error(format!("can't read the library `{name}`"))
                            .label(inside, "named here")
                            .note(error.to_string())
                            .note("the usual patterns (NEVER, RESPONSE, INEVITABLE …) are built in and need no library"),
                    );
                    continue;
                }
            };
            let file = sources.add(path.display().to_string(), text);
            open.push(path.clone());
            let rest = self.read_nested(file, Some(&path), sources, open, diagnostics);
            open.pop();
            if let Some(token) = rest.first().filter(|token| token.kind != TokenKind::End) {
                diagnostics.push(
                    Diagnostic::error("a library holds macros only")
                        .label(token.span, "not part of a macro")
                        .label(inside, "included from here"),
                );
            }
        }
    }

    /// Copies one token, or the expansion of the call that begins there; returns the position behind it.
    fn copy(
        &mut self,
        tokens: &[Token],
        at: usize,
        to: &mut Vec<Token>,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> usize {
        let token = &tokens[at];
        let candidates = match self.known.get(&token.text) {
            Some(candidates) if token.kind == TokenKind::Word => candidates,
            _ => {
                to.push(token.clone());
                return at + 1;
            }
        };
        let bracket = tokens.get(at + 1).is_some_and(|next| next.is("("));
        let wants = candidates.iter().any(|one| !one.parameters.is_empty());
        let (arguments, end) =
            if bracket && wants { split_arguments(tokens, at + 1) } else { (Vec::new(), at + 1) };
        let Some(chosen) = candidates.iter().find(|one| one.parameters.len() == arguments.len()).cloned()
        else {
            let counts: Vec<String> = candidates.iter().map(|one| one.parameters.len().to_string()).collect();
            let call = Span { end: tokens[end - 1].span.end.max(token.span.end), ..token.span };
            let example = &candidates[0].parameters;
            diagnostics.push(
                Diagnostic::error(format!(
                    "the macro `{}` takes {} argument{}, but gets {}",
                    token.text,
                    counts.join(" or "),
                    if counts == ["1"] { "" } else { "s" },
                    arguments.len()
                ))
                .label(call, "called here")
                .help(format!("write `{} ({})`", token.text, example.join(", "))),
            );
            to.push(Token { kind: TokenKind::Word, text: "true".into(), ..token.clone() });
            return end;
        };
        let mut expanded = Vec::new();
        for argument in &arguments {
            let mut inner = Vec::new();
            // A sentinel, so that looking ahead at the last token is safe.
            let mut padded: Vec<Token> = argument.to_vec();
            padded.push(Token { kind: TokenKind::End, text: String::new(), ..token.clone() });
            let mut at = 0;
            while at < argument.len() {
                at = self.copy(&padded, at, &mut inner, diagnostics);
            }
            expanded.push(bracketed(inner));
        }
        let call = Span { end: tokens[end - 1].span.end.max(token.span.end), ..token.span };
        let start = to.len();
        let whole = chosen.body.len() > 1;
        let mark =
            |text: &str| Token { kind: TokenKind::Symbol, text: text.into(), span: call, written: None };
        to.extend(whole.then(|| mark("(")));
        for part in &chosen.body {
            let parameter = (part.kind == TokenKind::Word)
                .then(|| chosen.parameters.iter().position(|name| *name == part.text))
                .flatten();
            match parameter {
                Some(index) => to.extend_from_slice(&expanded[index]),
                None => to.push(Token {
                    span: call,
                    written: Some(part.written.unwrap_or(part.span)),
                    ..part.clone()
                }),
            }
            if self.made + to.len() - start > EXPANSION_LIMIT {
                diagnostics.push(
                    Diagnostic::error("the macros in this file expand to too much text")
                        .label(call, format!("more than {EXPANSION_LIMIT} words from here on")),
                );
                self.made = 0;
                self.known.clear();
                to.truncate(start);
                return end;
            }
        }
        to.extend(whole.then(|| mark(")")));
        self.made += to.len() - start;
        end
    }

    /// The known macro nearest to an unknown name.
    pub fn nearest(&self, name: &str) -> Option<String> {
        let mut names: Vec<&str> = self.known.keys().map(String::as_str).collect();
        names.sort_unstable();
        closest(name, names).map(str::to_owned)
    }
}

/// The arguments of a call, whose opening bracket is at `open`, and the position behind its closing one.
fn split_arguments(tokens: &[Token], open: usize) -> (Vec<&[Token]>, usize) {
    let mut arguments = Vec::new();
    let mut depth = 0usize;
    let mut start = open + 1;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        if token.kind == TokenKind::End {
            return (arguments, at);
        }
        if token.kind != TokenKind::Symbol {
            continue;
        }
        match token.text.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    if at > start {
                        arguments.push(&tokens[start..at]);
                    }
                    return (arguments, at + 1);
                }
            }
            "," if depth == 1 => {
                arguments.push(&tokens[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    (arguments, tokens.len() - 1)
}

/// Several tokens in brackets; one alone, or several that are in brackets already, as they are.
fn bracketed(tokens: Vec<Token>) -> Vec<Token> {
    let (Some(first), Some(last)) = (tokens.first().cloned(), tokens.last().cloned()) else { return tokens };
    if tokens.len() == 1 {
        return tokens;
    }
    let mark = |text: &str, like: Token| Token { kind: TokenKind::Symbol, text: text.into(), ..like };
    let mut result = vec![mark("(", first)];
    result.extend(tokens);
    result.push(mark(")", last));
    result
}
