//! From text to tokens. Never fails: what it can't read is reported and skipped.

use source::{Diagnostic, FileId, Span};

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// A name or keyword; keywords are told apart by their text.
    Word,
    /// Digits; with a dot and digits behind it, a real number.
    Number,
    /// `"…"`, unquoted.
    Text,
    /// `'…'`, unquoted.
    Pattern,
    /// `<=`, `(`, `-|` …
    Symbol,
    /// Behind the last token.
    End,
}

/// One token. Its text is kept, because tokens move from macros to where they are used.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub kind: TokenKind,
    pub text: String,
    /// Where it stands for the reader: inside a macro's expansion, the place of the call.
    pub span: Span,
    /// Where it is written, if that is in the body of a macro.
    pub written: Option<Span>,
}

impl Token {
    pub fn is(&self, text: &str) -> bool {
        matches!(self.kind, TokenKind::Word | TokenKind::Symbol) && self.text == text
    }
}

/// The words that can't be names.
pub(crate) const KEYWORDS: [&str; 43] = [
    "true",
    "false",
    "not",
    "and",
    "or",
    "implies",
    "equ",
    "xor",
    "tau",
    "any",
    "nil",
    "mu",
    "nu",
    "forall",
    "exists",
    "among",
    "if",
    "then",
    "elsif",
    "else",
    "end",
    "let",
    "in",
    "where",
    "macro",
    "end_macro",
    "library",
    "end_library",
    "property",
    "is",
    "expected",
    "div",
    "mod",
    "end_property",
    "end_if",
    "end_let",
    "case",
    "while",
    "for",
    "loop",
    "repeat",
    "until",
    "of",
];

/// Longest first, so that the first match is the longest one.
const SYMBOLS: [&str; 38] = [
    "<=>", "...", ":=", "<=", ">=", "<>", "!=", "==", "->", "-|", "=>", "..", "(", ")", "[", "]", "{", "}",
    "<", ">", "=", ",", ";", ":", ".", "|", "*", "+", "-", "/", "?", "!", "@", "#", "^", "%", "&", "~",
];

/// The tokens of a file, the last one of kind [`TokenKind::End`].
pub(crate) fn tokens(file: FileId, text: &str, diagnostics: &mut Vec<Diagnostic>) -> Vec<Token> {
    let mut lexer = Lexer { file, text, at: 0, tokens: Vec::new(), diagnostics };
    while lexer.at < text.len() {
        lexer.token();
    }
    lexer.push(TokenKind::End, String::new(), lexer.at);
    lexer.tokens
}

struct Lexer<'a> {
    file: FileId,
    text: &'a str,
    at: usize,
    tokens: Vec<Token>,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn span_from(&self, start: usize) -> Span {
        Span { file: self.file, start: start as u32, end: self.at as u32 }
    }

    fn push(&mut self, kind: TokenKind, text: String, start: usize) {
        let span = self.span_from(start);
        self.tokens.push(Token { kind, text, span, written: None });
    }

    fn token(&mut self) {
        let rest = self.rest();
        let start = self.at;
        let first = rest.chars().next().expect("there is text left");
        let run = |part: fn(char) -> bool| rest.find(|letter| !part(letter)).unwrap_or(rest.len());
        match first {
            _ if first.is_whitespace() => self.at += first.len_utf8(),
            _ if rest.starts_with("--") => self.at += rest.find('\n').unwrap_or(rest.len()),
            _ if rest.starts_with("(*") => self.comment(),
            'a'..='z' | 'A'..='Z' | '_' => {
                self.at += run(|letter| letter.is_ascii_alphanumeric() || letter == '_');
                self.push(TokenKind::Word, self.text[start..self.at].to_owned(), start);
            }
            '0'..='9' => {
                self.at += run(|letter| letter.is_ascii_digit());
                let mut behind = self.rest().chars();
                if (behind.next(), behind.next().is_some_and(|one| one.is_ascii_digit())) == (Some('.'), true)
                {
                    let digits = self.rest()[1..].find(|one: char| !one.is_ascii_digit());
                    self.at += 1 + digits.unwrap_or(self.rest().len() - 1);
                }
                self.push(TokenKind::Number, self.text[start..self.at].to_owned(), start);
            }
            '"' => self.quoted('"', TokenKind::Text),
            '\'' => self.quoted('\'', TokenKind::Pattern),
            _ => match SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
                Some(symbol) => {
                    self.at += symbol.len();
                    self.push(TokenKind::Symbol, (*symbol).to_owned(), start);
                }
                None => self.unknown(first),
            },
        }
    }

    /// Comments may hold comments.
    fn comment(&mut self) {
        let start = self.at;
        let mut depth = 0usize;
        let bytes = self.text.as_bytes();
        while self.at < bytes.len() {
            match &bytes[self.at..] {
                [b'(', b'*', ..] => {
                    depth += 1;
                    self.at += 2;
                }
                [b'*', b')', ..] => {
                    depth -= 1;
                    self.at += 2;
                    if depth == 0 {
                        return;
                    }
                }
                _ => self.at += 1,
            }
        }
        let span = Span { file: self.file, start: start as u32, end: start as u32 + 2 };
        self.diagnostics.push(
            Diagnostic::error("this comment never ends")
                .label(span, "begins here")
                .help("close it with `*)`; a comment up to the end of its line begins with `--`"),
        );
    }

    /// In a label a backslash protects a quote or a backslash; in a pattern only its own quote, since the
    /// backslash has a meaning there.
    fn quoted(&mut self, quote: char, kind: TokenKind) {
        let start = self.at;
        let mut value = String::new();
        let mut letters = self.rest().char_indices().skip(1).peekable();
        while let Some((offset, letter)) = letters.next() {
            match letter {
                '\n' => break,
                _ if letter == quote => {
                    self.at += offset + 1;
                    return self.push(kind, value, start);
                }
                '\\' => match letters.peek().map(|&(_, next)| next) {
                    Some(next) if next == quote || (next == '\\' && quote == '"') => {
                        value.push(next);
                        letters.next();
                    }
                    Some('\\') => {
                        value.push_str("\\\\");
                        letters.next();
                    }
                    _ => value.push('\\'),
                },
                _ => value.push(letter),
            }
        }
        self.at += self.rest().find('\n').unwrap_or(self.rest().len());
        self.push(kind, value, start);
        let what = if quote == '"' { "label" } else { "pattern" };
        self.diagnostics.push(
            Diagnostic::error(format!("this {what} never ends"))
                .label(self.span_from(start), "no closing quote on this line")
                .help(format!("close it with `{quote}`")),
        );
    }

    fn unknown(&mut self, first: char) {
        let start = self.at;
        self.at += first.len_utf8();
        // One message for a run of them: a binary file has thousands.
        if let Some(label) = self.diagnostics.last_mut().and_then(|last| last.labels.first_mut())
            && label.span.file == self.file
            && label.span.end == start as u32
        {
            label.span.end = self.at as u32;
            return;
        }
        self.diagnostics.push(
            Diagnostic::error(format!("the character `{}` has no meaning here", first.escape_debug()))
                .label(self.span_from(start), "not part of the language")
                .note("labels are written \"LABEL\", patterns 'REGEX', names with the letters a to z, digits and `_`"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        let mut sources = source::Sources::new();
        let file = sources.add("p.mcl", text);
        let mut diagnostics = Vec::new();
        let tokens = tokens(file, text, &mut diagnostics);
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        tokens[..tokens.len() - 1].iter().map(|token| token.text.clone()).collect()
    }

    #[test]
    fn longest_symbols_win_and_comments_nest() {
        assert_eq!(texts("a<=>b -- c\n -| (* x (* y *) *) ..."), ["a", "<=>", "b", "-|", "..."]);
    }

    #[test]
    fn backslashes_belong_to_patterns_and_escape_in_labels() {
        assert_eq!(texts(r#""a \"b\" \\c" 'x\.\\\'y'"#), [r#"a "b" \c"#, r"x\.\\'y"]);
    }
}
