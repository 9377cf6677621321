//! A recursive-descent parser that never fails: it returns a tree and the errors it found.
//!
//! After an error inside brackets it goes on behind the closing one, after an error in a property with the next
//! property, so that one run reports several errors. Nesting is limited ([`DEPTH_LIMIT`]), because every pass over
//! the tree recurses; chains of operators are vectors and have no limit.

mod data;
mod iteration;
mod regular;
mod state;

use source::{Diagnostic, Span, closest};

use crate::lexer::{KEYWORDS, Token, TokenKind};
use crate::tree::{Formula, Name, Syntax, Type};

/// How deep constructs may be nested. Far more than people write, and little enough for a small stack.
pub(crate) const DEPTH_LIMIT: usize = 200;

/// Errors of one file after which the others are not worth reading.
const ERROR_LIMIT: usize = 40;

/// A property as it is written.
#[derive(Debug)]
pub(crate) struct Parsed {
    pub name: Option<Name>,
    pub description: Option<String>,
    pub formula: Formula,
    pub expected: bool,
    /// Whether an error was found in it.
    pub wrong: bool,
}

/// Parses the tokens of one file: one formula, or properties.
pub(crate) fn parse(
    tokens: Vec<Token>,
    syntax: Syntax,
    silent: bool,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Parsed> {
    let mut parser = Parser {
        tokens,
        syntax,
        at: 0,
        depth: 0,
        errors: 0,
        silent,
        last_error: None,
        brackets: 0,
        diagnostics,
    };
    parser.file()
}

pub(crate) struct Parser<'a> {
    tokens: Vec<Token>,
    /// That of patterns on labels.
    syntax: Syntax,
    at: usize,
    depth: usize,
    errors: usize,
    /// Set once nothing more should be said: nested too deeply, or too many errors.
    silent: bool,
    /// The token of the last error: one error a token is enough.
    last_error: Option<usize>,
    /// How many closing brackets are owed.
    brackets: usize,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl Parser<'_> {
    fn file(&mut self) -> Vec<Parsed> {
        let mut found = Vec::new();
        if self.kind() == TokenKind::End {
            self.error(
                Diagnostic::error("there is no formula here")
                    .label(self.span(), "the file is empty")
                    .help("write a formula such as `[ true* . \"ERROR\" ] false`, or properties: `property NAME \"what it says\" is FORMULA end property`"),
            );
            return found;
        }
        if !self.at("property") {
            let formula = self.formula();
            let expected = self.expectation();
            if self.kind() != TokenKind::End {
                self.unexpected_rest();
            }
            let wrong = self.errors > 0 || self.silent;
            found.push(Parsed { name: None, description: None, formula, expected, wrong });
            return found;
        }
        while self.kind() != TokenKind::End {
            if self.at("property") {
                found.extend(self.property());
                self.eat(";");
            } else {
                self.expected("`property`");
                while self.kind() != TokenKind::End && !self.at("property") {
                    self.bump();
                }
            }
        }
        found
    }

    /// `property NAME "what it says" is F expected TRUE end property`
    fn property(&mut self) -> Option<Parsed> {
        let opener = self.span();
        let errors = self.errors;
        self.bump();
        let name = self.name("the name of the property");
        let mut description = None;
        while self.kind() == TokenKind::Text {
            let text = &self.tokens[self.at].text;
            description = Some(match description {
                None => text.clone(),
                Some(before) => format!("{before} {text}"),
            });
            self.bump();
        }
        let mut formula = None;
        if self.expect("is") {
            formula = Some(self.formula());
            self.eat(";");
        }
        let expected = self.expectation();
        let closed = (self.at("end") && self.tokens[self.ahead(1)].is("property")) || self.at("end_property");
        if !closed {
            let message = format!("expected `end property`, found {}", self.found());
            let span = self.span();
            self.error(
                Diagnostic::error(message)
                    .label(span, "expected `end property`")
                    .label(opener, "to close this"),
            );
            let closes = |parser: &Self| {
                parser.at("end_property")
                    || (parser.at("end") && parser.tokens[parser.ahead(1)].is("property"))
            };
            while self.kind() != TokenKind::End && !self.at("property") && !closes(self) {
                self.bump();
            }
        }
        if self.eat("end") {
            self.eat("property");
        } else {
            self.eat("end_property");
        }
        let wrong = self.errors > errors || self.silent;
        Some(Parsed { name, description, formula: formula?, expected, wrong })
    }

    fn expectation(&mut self) -> bool {
        if !self.eat("expected") {
            return true;
        }
        let text = self.tokens[self.at].text.to_lowercase();
        if self.kind() == TokenKind::Word && (text == "true" || text == "false") {
            self.bump();
            self.eat(";");
            return text == "true";
        }
        self.expected("`true` or `false`");
        true
    }

    fn unexpected_rest(&mut self) {
        let token = &self.tokens[self.at];
        let message = format!("the formula ends before {}", self.found());
        let mut diagnostic = Diagnostic::error(message).label(token.span, "not part of the formula");
        diagnostic = if matches!(token.text.as_str(), ")" | "]" | "}") && token.kind == TokenKind::Symbol {
            diagnostic.help("remove it: it closes nothing")
        } else if token.is("property") {
            diagnostic.help(
                "where there are several properties, each needs a name: `property NAME is … end property`",
            )
        } else {
            diagnostic
        };
        let mut diagnostic = self.operator_hint(diagnostic);
        if diagnostic.helps.is_empty() {
            diagnostic = diagnostic.help(
                "combine formulas with `and`, `or` or `implies`, or make each a property: `property NAME is … end property`",
            );
        }
        self.error(diagnostic);
    }

    /// Other languages' operators.
    fn operator_hint(&self, diagnostic: Diagnostic) -> Diagnostic {
        let text = self.tokens[self.at].text.as_str();
        let next = self.tokens[self.ahead(1)].text.as_str();
        let meant = match (text, next) {
            ("&", _) => "and",
            ("|", "|") | ("|", _) if self.brackets == 0 => "or",
            ("=>", _) | ("->", _) => "implies",
            ("~", _) | ("!", _) => "not",
            _ => return diagnostic,
        };
        diagnostic.help(format!("in MCL this is written `{meant}`"))
    }

    fn kind(&self) -> TokenKind {
        self.tokens[self.at].kind
    }

    fn ahead(&self, by: usize) -> usize {
        (self.at + by).min(self.tokens.len() - 1)
    }

    fn at(&self, text: &str) -> bool {
        self.tokens[self.at].is(text)
    }

    fn span(&self) -> Span {
        self.tokens[self.at].span
    }

    /// From the start of `from` to the end of the token just read.
    fn since(&self, from: Span) -> Span {
        let last = self.tokens[self.at.saturating_sub(1)].span;
        Span { end: last.end.max(from.end), ..from }
    }

    fn bump(&mut self) {
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.at(text);
        if found {
            self.bump();
        }
        found
    }

    fn error(&mut self, mut diagnostic: Diagnostic) {
        if self.silent || self.last_error == Some(self.at) {
            return;
        }
        self.last_error = Some(self.at);
        self.errors += 1;
        if let Some(written) = self.tokens[self.at].written {
            diagnostic = diagnostic.label(written, "written here, in a macro");
        }
        if self.errors > ERROR_LIMIT {
            self.silent = true;
            diagnostic = Diagnostic::error("too many errors in this file: the others are not shown")
                .label(self.span(), "stopped here");
        }
        self.diagnostics.push(diagnostic);
    }

    /// What stands here, for messages.
    fn found(&self) -> String {
        let token = &self.tokens[self.at];
        match token.kind {
            TokenKind::End => "the end of the file".to_owned(),
            TokenKind::Text => format!("the label \"{}\"", token.text),
            TokenKind::Pattern => format!("the pattern '{}'", token.text),
            TokenKind::Word if KEYWORDS.contains(&token.text.as_str()) => {
                format!("the keyword `{}`", token.text)
            }
            _ => format!("`{}`", token.text),
        }
    }

    fn expected(&mut self, what: &str) {
        let diagnostic = self.expected_diagnostic(what);
        self.error(diagnostic);
    }

    fn expected_diagnostic(&mut self, what: &str) -> Diagnostic {
        let message = format!("expected {what}, found {}", self.found());
        let diagnostic = Diagnostic::error(message).label(self.span(), format!("expected {what}"));
        self.operator_hint(diagnostic)
    }

    fn expect(&mut self, text: &str) -> bool {
        let found = self.eat(text);
        if !found {
            self.expected(&format!("`{text}`"));
        }
        found
    }

    /// Closes a bracket, or complains and goes on behind the closing one if there is one.
    fn close(&mut self, closer: &str, opener: Span) {
        if self.eat(closer) {
            return;
        }
        let message = format!("expected `{closer}`, found {}", self.found());
        let mut diagnostic = Diagnostic::error(message)
            .label(self.span(), format!("expected `{closer}`"))
            .label(opener, "to close this");
        if closer == "]" || closer == ">" {
            if self.kind() == TokenKind::Text || self.kind() == TokenKind::Pattern || self.at("{") {
                diagnostic =
                    diagnostic.help("steps are joined with `.` (one after the other) or `|` (a choice)");
            } else if self.at("&") || self.at("~") {
                diagnostic = self.operator_hint(diagnostic);
            } else if self.at(";") {
                diagnostic = diagnostic.help("in MCL a sequence is written with `.`");
            }
        } else {
            diagnostic = self.operator_hint(diagnostic);
        }
        self.error(diagnostic);
        let mut depth = 0usize;
        let mut at = self.at;
        while self.tokens[at].kind != TokenKind::End {
            let token = &self.tokens[at];
            if token.is("property")
                || (token.is("end") && self.tokens[(at + 1).min(self.tokens.len() - 1)].is("property"))
            {
                return;
            }
            if depth == 0 && token.is(closer) {
                self.at = at;
                self.bump();
                return;
            }
            if token.is("(") || token.is("[") || token.is("{") {
                depth += 1;
            } else if token.is(")") || token.is("]") || token.is("}") {
                if depth == 0 {
                    return;
                }
                depth -= 1;
            }
            at += 1;
        }
    }

    fn name(&mut self, what: &str) -> Option<Name> {
        let token = &self.tokens[self.at];
        if token.kind == TokenKind::Word && !KEYWORDS.contains(&token.text.as_str()) {
            let name = Name { text: token.text.clone(), span: token.span };
            self.bump();
            return Some(name);
        }
        let mut diagnostic = self.expected_diagnostic(what);
        if self.kind() == TokenKind::Word {
            diagnostic =
                diagnostic.help(format!("`{}` is a keyword: choose another name", self.tokens[self.at].text));
        }
        self.error(diagnostic);
        None
    }

    /// `: T`
    fn type_of(&mut self) -> Type {
        if !self.eat(":") {
            let diagnostic =
                self.expected_diagnostic("`:` and a type").help("every variable has a type: `x:nat`");
            self.error(diagnostic);
            return Type::Term(String::new());
        }
        self.type_name()
    }

    fn type_name(&mut self) -> Type {
        let span = self.span();
        let Some(name) = self.name("a type") else { return Type::Term(String::new()) };
        match name.text.to_lowercase().as_str() {
            "bool" | "boolean" => Type::Bool,
            "nat" | "natural" => Type::Nat,
            "int" | "integer" => Type::Int,
            "real" => Type::Real,
            "char" | "character" => Type::Char,
            "string" => Type::String,
            "natset" => {
                self.at -= 1;
                self.error(
                    Diagnostic::error("the type natset of MCL 4 is not supported")
                        .label(span, "not supported")
                        .help("keep one parameter of type bool for each number that the set may hold"),
                );
                self.bump();
                Type::Term(name.text)
            }
            other => {
                const TYPES: [&str; 8] =
                    ["bool", "boolean", "nat", "int", "integer", "real", "char", "string"];
                if let Some(meant) = closest(other, TYPES) {
                    self.at -= 1;
                    self.error(
                        Diagnostic::error(format!("unknown type `{}`", name.text))
                            .label(span, "not a type")
                            .help(format!("did you mean `{meant}`?"))
                            .note("the types are bool, nat, int, real, char, string, and those of the model"),
                    );
                    self.bump();
                }
                Type::Term(name.text)
            }
        }
    }

    /// Runs `inside` one level deeper, or gives up on the file where that is too deep.
    fn nested<T>(&mut self, wrong: T, inside: impl FnOnce(&mut Self) -> T) -> T {
        if self.depth >= DEPTH_LIMIT {
            self.last_error = None;
            self.error(
                Diagnostic::error(format!("nested more than {DEPTH_LIMIT} levels deep"))
                    .label(self.span(), "too deep from here on")
                    .help("split the formula into several properties"),
            );
            self.silent = true;
            self.at = self.tokens.len() - 1;
            return wrong;
        }
        self.depth += 1;
        let result = inside(self);
        self.depth -= 1;
        result
    }
}
