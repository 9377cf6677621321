//! A recursive-descent parser that never fails: it returns a tree and the errors it found.
//!
//! After an error it goes on at the next `;`, `end`, `||`, `[]`, `|` or definition, so that one run reports
//! several errors. What it could not read becomes a `Wrong` node, about which the checker stays silent.
//! Nesting is limited ([`DEPTH_LIMIT`]), because every pass over the tree recurses; sequences, `elsif` chains
//! and lists are vectors and have no limit.

mod definitions;
mod expressions;
mod patterns;
mod reader;
mod statements;

use source::{Diagnostic, FileId, Span};

use crate::lexer::{Keyword, Token, TokenKind, tokens};
use crate::tree::{Module, Name, Statement};

pub use reader::Reader;

/// How deep constructs may be nested. Far more than people write, and little enough for a small stack.
pub(crate) const DEPTH_LIMIT: usize = 200;

/// Errors of one file after which the others are not worth reading.
const ERROR_LIMIT: usize = 40;

/// Parses one file.
pub(crate) fn parse(file: FileId, text: &str, diagnostics: &mut Vec<Diagnostic>) -> Option<Module> {
    Parser::new(file, text, diagnostics).module()
}

/// Parses a text that is one statement.
pub(crate) fn parse_statement(
    file: FileId,
    text: &str,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Statement> {
    let before = diagnostics.len();
    let mut parser = Parser::new(file, text, diagnostics);
    let statement = parser.statement();
    parser.expect(TokenKind::End, "nothing more");
    (diagnostics.len() == before).then_some(statement)
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
    errors: usize,
    /// Set once nothing more should be said: nested too deeply, or too many errors.
    silent: bool,
    /// How many `end if` are missing that have been reported already.
    forgiven: usize,
    /// The token of the last error: one error a token is enough.
    last_error: Option<usize>,
    /// The constructs that are open, innermost last.
    open: Vec<Keyword>,
    /// Names that begin what follows an expression, where another language goes on.
    reserved: &'static [&'static str],
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl<'a> Parser<'a> {
    fn new(file: FileId, text: &'a str, diagnostics: &'a mut Vec<Diagnostic>) -> Self {
        let before = diagnostics.len();
        let tokens = tokens(file, text, diagnostics);
        // A comment or string without end has swallowed what the parser would look for.
        let silent = diagnostics.len() > before;
        Self {
            text,
            tokens,
            at: 0,
            depth: 0,
            errors: 0,
            silent,
            forgiven: 0,
            last_error: None,
            open: Vec::new(),
            reserved: &[],
            diagnostics,
        }
    }

    fn peek(&self) -> TokenKind {
        self.tokens[self.at].kind
    }

    fn peek_at(&self, ahead: usize) -> TokenKind {
        self.tokens[(self.at + ahead).min(self.tokens.len() - 1)].kind
    }

    fn text_at(&self, ahead: usize) -> &'a str {
        let token = self.tokens[(self.at + ahead).min(self.tokens.len() - 1)];
        &self.text[token.span.range()]
    }

    fn span(&self) -> Span {
        self.tokens[self.at].span
    }

    /// The span of the token just read.
    fn last_span(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
    }

    /// From the start of `from` to the end of the token just read.
    fn span_since(&self, from: Span) -> Span {
        let last = self.last_span();
        Span { file: from.file, start: from.start, end: last.end.max(from.start) }
    }

    fn bump(&mut self) {
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
    }

    fn eat(&mut self, kind: TokenKind) -> bool {
        let found = self.peek() == kind;
        if found {
            self.bump();
        }
        found
    }

    fn at_keyword(&self, keyword: Keyword) -> bool {
        self.peek() == TokenKind::Keyword(keyword)
    }

    fn eat_keyword(&mut self, keyword: Keyword) -> bool {
        self.eat(TokenKind::Keyword(keyword))
    }

    /// Whether an identifier stands here that has a meaning in some places only.
    fn at_word(&self, word: &str) -> bool {
        self.peek() == TokenKind::Identifier && self.text_at(0).eq_ignore_ascii_case(word)
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.bump();
        }
        found
    }

    /// `[]`, the separator of choices.
    fn at_box(&self) -> bool {
        self.peek() == TokenKind::BracketOpen && self.peek_at(1) == TokenKind::BracketClose
    }

    fn error(&mut self, diagnostic: Diagnostic) {
        if self.silent || self.last_error == Some(self.at) {
            return;
        }
        self.last_error = Some(self.at);
        self.errors += 1;
        if self.errors > ERROR_LIMIT {
            self.silent = true;
            let message = "too many errors in this file: the others are not shown";
            self.diagnostics.push(Diagnostic::error(message).label(self.span(), "stopped here"));
            return;
        }
        self.diagnostics.push(diagnostic);
    }

    /// What stands here, for messages.
    fn found(&self) -> String {
        match self.peek() {
            TokenKind::End => "the end of the file".to_owned(),
            TokenKind::BracketOpen if self.at_box() => "`[]`".to_owned(),
            TokenKind::Keyword(keyword) => format!("the keyword `{}`", keyword.text()),
            _ => format!("`{}`", self.text_at(0)),
        }
    }

    fn expected(&mut self, what: &str) {
        let message = format!("expected {what}, found {}", self.found());
        let mut diagnostic = Diagnostic::error(message).label(self.span(), format!("expected {what}"));
        if let (TokenKind::Keyword(keyword), true) = (self.peek(), what.contains("name")) {
            diagnostic = diagnostic.help(format!(
                "`{}` is a keyword, in upper or lower case: choose another name",
                keyword.text()
            ));
        }
        self.error(diagnostic);
    }

    fn expect(&mut self, kind: TokenKind, what: &str) -> bool {
        let found = self.eat(kind);
        if !found {
            self.expected(what);
        }
        found
    }

    fn expect_keyword(&mut self, keyword: Keyword) -> bool {
        self.expect(TokenKind::Keyword(keyword), &format!("`{}`", keyword.text()))
    }

    /// A name, or an empty one after a complaint.
    fn name(&mut self, what: &str) -> Option<Name> {
        if self.peek() == TokenKind::Identifier {
            let name = Name { text: self.text_at(0).to_owned(), span: self.span() };
            self.bump();
            return Some(name);
        }
        self.expected(what);
        None
    }

    /// `a, b, c`
    fn names(&mut self, what: &str) -> Vec<Name> {
        let mut names = Vec::new();
        loop {
            match self.name(what) {
                Some(name) => names.push(name),
                None => return names,
            }
            if !self.eat(TokenKind::Comma) {
                return names;
            }
        }
    }

    /// Runs `inside` one level deeper, or gives up on the file where that is too deep.
    fn nested<T>(&mut self, wrong: T, inside: impl FnOnce(&mut Self) -> T) -> T {
        if self.depth >= DEPTH_LIMIT {
            self.too_deep();
            return wrong;
        }
        self.depth += 1;
        let result = inside(self);
        self.depth -= 1;
        result
    }

    fn too_deep(&mut self) {
        let diagnostic = Diagnostic::error(format!("nested more than {DEPTH_LIMIT} levels deep"))
            .label(self.span(), "too deep from here on")
            .help("move an inner part into a function, a process or a variable of its own");
        self.last_error = None;
        self.error(diagnostic);
        self.silent = true;
        self.at = self.tokens.len() - 1;
    }

    /// `end if` and the like; `opener` is where the construct began.
    fn expect_end(&mut self, keyword: Keyword, opener: Span) {
        let wanted = format!("`end {}`", keyword.text());
        let joined = format!("end{}", keyword.text());
        if self.at_keyword(Keyword::End) && self.peek_at(1) == TokenKind::Keyword(keyword) {
            self.bump();
            self.bump();
            return;
        }
        if keyword == Keyword::If && self.forgiven > 0 {
            self.forgiven -= 1;
            return;
        }
        let after = if self.at_keyword(Keyword::End) { self.peek_at(1) } else { TokenKind::End };
        let misspelt = self.at_keyword(Keyword::End)
            && after == TokenKind::Identifier
            && source::closest(self.text_at(1), [keyword.text()]).is_some();
        let found = match after {
            TokenKind::Keyword(other) if other.closes() => format!("`end {}`", other.text()),
            TokenKind::Identifier if misspelt => format!("`end {}`", self.text_at(1)),
            _ => self.found(),
        };
        let mut diagnostic = Diagnostic::error(format!("expected {wanted}, found {found}"))
            .label(self.span(), format!("expected {wanted}"))
            .label(opener, "to close this");
        if self.at_word(&joined) {
            diagnostic = diagnostic.help(format!("write {wanted}, with a space"));
        } else if self.peek() == TokenKind::BarBar {
            diagnostic = diagnostic.help("`||` separates the branches of `par … || … end par`");
        } else if self.at_box() {
            diagnostic = diagnostic.help("`[]` separates the branches of `select … [] … end select`");
        }
        self.error(diagnostic);
        if self.at_word(&joined) {
            self.bump();
            return;
        }
        if !self.at_keyword(Keyword::End) {
            return;
        }
        // What closes an outer construct is left to it; anything else is skipped.
        let closes_outer = match after {
            TokenKind::Keyword(other) => self.open.iter().rev().skip(1).any(|&open| open == other),
            _ => false,
        };
        if closes_outer {
            return;
        }
        self.bump();
        if misspelt || matches!(after, TokenKind::Keyword(other) if other.closes()) {
            self.bump();
        }
        if self.at_keyword(Keyword::End) && self.peek_at(1) == TokenKind::Keyword(keyword) {
            self.bump();
            self.bump();
        }
    }

    /// Skips to where a statement may go on: a separator or the end of a construct.
    fn skip_statement(&mut self) {
        let mut brackets = 0usize;
        loop {
            match self.peek() {
                TokenKind::End => return,
                TokenKind::BracketOpen if self.peek_at(1) == TokenKind::BracketClose => return,
                TokenKind::ParenOpen | TokenKind::BraceOpen | TokenKind::BracketOpen => brackets += 1,
                TokenKind::ParenClose | TokenKind::BraceClose | TokenKind::BracketClose => {
                    brackets = brackets.saturating_sub(1);
                }
                TokenKind::Semicolon | TokenKind::BarBar => return,
                TokenKind::Bar if brackets == 0 => return,
                TokenKind::Keyword(
                    Keyword::End
                    | Keyword::Else
                    | Keyword::Elsif
                    | Keyword::Type
                    | Keyword::Function
                    | Keyword::Channel
                    | Keyword::Process
                    | Keyword::If
                    | Keyword::Case
                    | Keyword::Loop
                    | Keyword::While
                    | Keyword::Select
                    | Keyword::Alt
                    | Keyword::Par
                    | Keyword::Var
                    | Keyword::Only
                    | Keyword::Hide
                    | Keyword::Disrupt
                    | Keyword::Return
                    | Keyword::By,
                ) => return,
                _ => {}
            }
            self.bump();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(text: &str) -> Vec<String> {
        let mut sources = source::Sources::new();
        let file = sources.add("m.lnt", text);
        let mut diagnostics = Vec::new();
        parse(file, text, &mut diagnostics);
        diagnostics.into_iter().map(|diagnostic| diagnostic.message).collect()
    }

    #[test]
    fn deep_nesting_is_an_error_not_a_crash() {
        let around =
            |inner: String| format!("module M is process P [A : any] is {inner} end process end module");
        let deep = [
            around(format!("A ({}1{})", "(".repeat(100_000), ")".repeat(100_000))),
            around("if true then ".repeat(100_000)),
            around(format!("A ({}1)", "not ".repeat(100_000))),
            around(format!("A ({}1)", "- ".repeat(100_000))),
            around(format!("A (1{})", " + 1".repeat(100_000))),
            around(format!("A (x{})", ".f".repeat(100_000))),
            around(format!("A (?{}x)", "c (".repeat(100_000))),
            around(format!("A ({}", "{".repeat(100_000))),
            around("par ".repeat(100_000)),
        ];
        for text in deep {
            assert_eq!(errors(&text), [format!("nested more than {DEPTH_LIMIT} levels deep")]);
        }
    }

    #[test]
    fn long_chains_are_no_nesting() {
        let chain = "elsif true then null ".repeat(100_000);
        let sequence = "; null".repeat(100_000);
        let text = format!(
            "module M is process P is if true then null {chain} end if {sequence} end process end module"
        );
        assert_eq!(errors(&text), [""; 0]);
    }
}
