//! Reading another language that has LNT's types, functions, expressions and patterns in it.

use source::{Diagnostic, FileId, Span};

use super::Parser;
use crate::data::{Expression, Inscribed, Inscription, Written};
use crate::lexer::{Keyword, TokenKind, integer_value};
use crate::tree::{Module, Name};

/// A text in a language of its own with parts in LNT. Words are compared in any case; after an error, reading goes on.
///
/// ```
/// let mut sources = source::Sources::new();
/// let text = "shade is type colour is red, green end type of green end shade";
/// let file = sources.add("shade", text);
/// let mut diagnostics = Vec::new();
/// let mut reader = lnt::data::Reader::new(file, text, &[], &mut diagnostics);
/// let start = reader.span();
/// assert!(reader.eat("SHADE") && reader.eat("is") && reader.definition() && reader.eat("of"));
/// let _green = reader.expression();
/// reader.end("shade", start);
/// assert!(reader.at_end());
/// reader.finish(&lnt::data::Name { text: "shade".into(), span: start });
/// assert!(diagnostics.is_empty());
/// ```
pub struct Reader<'a> {
    parser: Parser<'a>,
    module: Module,
}

impl<'a> Reader<'a> {
    /// Reads a file from its beginning. Behind an expression, a `reserved` name is no operator: it begins what follows.
    pub fn new(
        file: FileId,
        text: &'a str,
        reserved: &'static [&'static str],
        diagnostics: &'a mut Vec<Diagnostic>,
    ) -> Self {
        let mut parser = Parser::new(file, text, diagnostics);
        parser.reserved = reserved;
        let span = parser.span();
        let module = Module {
            name: Name { text: String::new(), span },
            imports: Vec::new(),
            with: Vec::new(),
            pragmas: Vec::new(),
            types: Vec::new(),
            channels: Vec::new(),
            functions: Vec::new(),
            processes: Vec::new(),
            span,
        };
        Self { parser, module }
    }

    /// The definitions that were read, once everything is.
    pub fn finish(mut self, name: &Name) -> Written {
        self.module.name = name.clone();
        Written::new(self.module)
    }

    /// Whether nothing is left, or nothing more is worth reading.
    pub fn at_end(&self) -> bool {
        self.parser.peek() == TokenKind::End || self.parser.silent
    }

    /// Whether this word or punctuation comes next.
    pub fn at(&self, word: &str) -> bool {
        self.at_ahead(0, word)
    }

    /// Whether this word or punctuation comes after some others.
    pub fn at_ahead(&self, ahead: usize, word: &str) -> bool {
        !matches!(self.parser.peek_at(ahead), TokenKind::String | TokenKind::Char | TokenKind::End)
            && self.parser.text_at(ahead).eq_ignore_ascii_case(word)
    }

    /// Whether a name comes after some words.
    pub fn name_ahead(&self, ahead: usize) -> bool {
        self.parser.peek_at(ahead) == TokenKind::Identifier
    }

    /// What comes next, as written.
    pub fn text(&self) -> &'a str {
        self.parser.text_at(0)
    }

    /// Takes a word or punctuation if it comes next.
    pub fn eat(&mut self, word: &str) -> bool {
        let found = self.at(word);
        if found {
            self.parser.bump();
        }
        found
    }

    /// Takes a word or punctuation, or complains.
    pub fn expect(&mut self, word: &str) -> bool {
        let found = self.eat(word);
        if !found {
            self.parser.expected(&format!("`{word}`"));
        }
        found
    }

    /// Leaves out what comes next.
    pub fn skip(&mut self) {
        self.parser.bump();
    }

    /// Complains that this was expected.
    pub fn expected(&mut self, what: &str) {
        self.parser.expected(what);
    }

    /// Complains.
    pub fn error(&mut self, diagnostic: Diagnostic) {
        self.parser.error(diagnostic);
    }

    /// What comes next, for messages.
    pub fn found(&self) -> String {
        self.parser.found()
    }

    /// Where the next word stands.
    pub fn span(&self) -> Span {
        self.parser.span()
    }

    /// From the start of `from` to the end of what was read last.
    pub fn span_since(&self, from: Span) -> Span {
        self.parser.span_since(from)
    }

    /// A name, or a complaint.
    pub fn name(&mut self, what: &str) -> Option<Name> {
        self.parser.name(what)
    }

    /// A name that stands where no keyword of LNT may, so that most of them are names too: `In`, `Out`, `Stop`.
    pub fn free_name(&mut self, what: &str) -> Option<Name> {
        use Keyword::{End, Is, Where};
        match self.parser.peek() {
            TokenKind::Keyword(End | Is | Where) => self.parser.name(what),
            TokenKind::Keyword(_) => {
                let name = Name { text: self.parser.text_at(0).to_owned(), span: self.span() };
                self.parser.bump();
                Some(name)
            }
            _ => self.parser.name(what),
        }
    }

    /// A whole number, if one comes next.
    pub fn integer(&mut self) -> Option<(i64, Span)> {
        if self.parser.peek() != TokenKind::Integer {
            return None;
        }
        let (value, span) = (integer_value(self.parser.text_at(0)), self.span());
        if value.is_none() {
            self.parser.number_too_large();
        }
        self.parser.bump();
        Some((value.unwrap_or(0), span))
    }

    /// `end net` and the like; `opener` is where it began.
    pub fn end(&mut self, word: &str, opener: Span) {
        if self.at("end") && self.at_ahead(1, word) {
            self.parser.bump();
            self.parser.bump();
            return;
        }
        let diagnostic = Diagnostic::error(format!("expected `end {word}`, found {}", self.found()))
            .label(self.span(), format!("expected `end {word}`"))
            .label(opener, "to close this");
        self.error(diagnostic);
    }

    /// Reads the definition of a type, a channel or a function, or pragmas, if one begins here.
    pub fn definition(&mut self) -> bool {
        match self.parser.peek() {
            TokenKind::Bang => self.parser.pragmas(&mut self.module.pragmas),
            TokenKind::Keyword(Keyword::Type) => self.module.types.extend(self.parser.type_definition()),
            TokenKind::Keyword(Keyword::Channel) => {
                self.module.channels.extend(self.parser.channel_definition());
            }
            TokenKind::Keyword(Keyword::Function) => {
                self.module.functions.extend(self.parser.callable(Keyword::Function));
            }
            _ => return false,
        }
        true
    }

    /// An expression.
    pub fn expression(&mut self) -> Expression {
        Expression(self.parser.expression())
    }

    /// What a value is compared with, up to `,` or `)`: a pattern where it can be read as one, else an expression.
    pub fn inscription(&mut self) -> Inscription {
        let (at, depth, last_error, errors) =
            (self.parser.at, self.parser.depth, self.parser.last_error, self.parser.errors);
        let (silent, said) = (self.parser.silent, self.parser.diagnostics.len());
        let pattern = self.parser.pattern();
        let goes_on = matches!(self.parser.peek(), TokenKind::Comma | TokenKind::ParenClose);
        if goes_on && self.parser.diagnostics.len() == said {
            return Inscription(Inscribed::Pattern(pattern));
        }
        // As an expression, it is either right or complained about in the words that fit most mistakes.
        self.parser.at = at;
        self.parser.depth = depth;
        self.parser.last_error = last_error;
        self.parser.errors = errors;
        self.parser.silent = silent;
        self.parser.diagnostics.truncate(said);
        Inscription(Inscribed::Expression(self.parser.expression()))
    }
}
