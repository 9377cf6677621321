//! From text to tokens. Never fails: what it can't read is reported and skipped.

use source::{Diagnostic, FileId, Span};

/// What a token is; its text is the slice of the source under its span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    Identifier,
    Keyword(Keyword),
    Integer,
    Real,
    Char,
    String,
    /// `+`, `<=`, `**` … and everything else that can only be a function name.
    Operator,
    ParenOpen,
    ParenClose,
    BracketOpen,
    BracketClose,
    BraceOpen,
    BraceClose,
    Comma,
    Semicolon,
    Colon,
    Assign,
    Dot,
    DotDot,
    Ellipsis,
    Arrow,
    FatArrow,
    Bar,
    BarBar,
    Bang,
    Question,
    Hash,
    End,
}

/// One token.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub kind: TokenKind,
    pub span: Span,
}

macro_rules! keywords {
    ($($variant:ident $text:literal),* $(,)?) => {
        /// The reserved words, recognised in any case.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Keyword { $($variant),* }

        impl Keyword {
            const ALL: &'static [(&'static str, Keyword)] = &[$(($text, Keyword::$variant)),*];

            /// Whether `end` may stand before it.
            pub(crate) fn closes(self) -> bool {
                use Keyword::*;
                matches!(
                    self,
                    Alt | Case | Channel | Disrupt | Function | Hide | If | Loop | Module | Par | Process | Select
                        | Trap | Type | Var | While
                )
            }

            pub(crate) fn text(self) -> &'static str {
                match self { $(Keyword::$variant => $text),* }
            }
        }
    };
}

keywords! {
    Alt "alt", Any "any", Assert "assert", Break "break", By "by", Case "case", Channel "channel",
    Disrupt "disrupt", Else "else", Elsif "elsif", End "end", Ensure "ensure", Eval "eval", For "for",
    Function "function", Hide "hide", If "if", In "in", Inout "inout", Is "is", Loop "loop", Module "module",
    Null "null", Of "of", Only "only", Out "out", Par "par", Process "process", Raise "raise",
    Require "require", Return "return", Select "select", Stop "stop", Then "then", Trap "trap", Type "type",
    Var "var", Where "where", While "while", With "with",
}

/// Longest first, so that the first match is the longest one.
const OPERATORS: [&str; 25] = [
    "&&", "**", "<=", ">=", "==", "!=", "<>", "/=", "/\\", "\\/", "=/=", "+", "-", "*", "/", "<", ">", "=",
    "&", "^", "@", "%", "~", "$", "\\",
];

const PUNCTUATION: [(&str, TokenKind); 20] = [
    ("...", TokenKind::Ellipsis),
    ("..", TokenKind::DotDot),
    (":=", TokenKind::Assign),
    ("->", TokenKind::Arrow),
    ("=>", TokenKind::FatArrow),
    ("||", TokenKind::BarBar),
    ("(", TokenKind::ParenOpen),
    (")", TokenKind::ParenClose),
    ("[", TokenKind::BracketOpen),
    ("]", TokenKind::BracketClose),
    ("{", TokenKind::BraceOpen),
    ("}", TokenKind::BraceClose),
    (",", TokenKind::Comma),
    (";", TokenKind::Semicolon),
    (":", TokenKind::Colon),
    (".", TokenKind::Dot),
    ("|", TokenKind::Bar),
    ("?", TokenKind::Question),
    ("#", TokenKind::Hash),
    ("!", TokenKind::Bang),
];

/// The tokens of a file, the last one of kind [`TokenKind::End`].
pub(crate) fn tokens(file: FileId, text: &str, diagnostics: &mut Vec<Diagnostic>) -> Vec<Token> {
    let mut lexer = Lexer { file, text, at: 0, tokens: Vec::new(), diagnostics };
    while lexer.at < text.len() {
        lexer.token();
    }
    let end = text.len() as u32;
    lexer.tokens.push(Token { kind: TokenKind::End, span: Span { file, start: end, end } });
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

    fn push(&mut self, kind: TokenKind, length: usize) {
        let start = self.at;
        self.at += length;
        let span = self.span_from(start);
        self.tokens.push(Token { kind, span });
    }

    fn token(&mut self) {
        let rest = self.rest();
        let first = rest.chars().next().expect("there is text left");
        match first {
            _ if first.is_whitespace() => self.at += first.len_utf8(),
            _ if rest.starts_with("--") => self.at += rest.find('\n').unwrap_or(rest.len()),
            _ if rest.starts_with("(*") => self.block_comment(),
            'a'..='z' | 'A'..='Z' | '_' => self.word(),
            '0'..='9' => self.number(),
            '"' => self.quoted('"', TokenKind::String),
            '\'' => self.quoted('\'', TokenKind::Char),
            _ => self.symbol(first),
        }
    }

    fn block_comment(&mut self) {
        let start = self.at;
        match self.rest().find("*)") {
            // `(*)` is not a whole comment: the star belongs to one delimiter only.
            Some(1) => match self.rest()[2..].find("*)") {
                Some(end) => self.at += end + 4,
                None => self.open_comment(start),
            },
            Some(end) => self.at += end + 2,
            None => self.open_comment(start),
        }
    }

    fn open_comment(&mut self, start: usize) {
        self.at = start + 2;
        let span = self.span_from(start);
        self.at = self.text.len();
        self.diagnostics.push(
            Diagnostic::error("this comment never ends")
                .label(span, "begins here")
                .help("close it with `*)`; a comment up to the end of its line begins with `--`"),
        );
    }

    fn word(&mut self) {
        let rest = self.rest();
        let length =
            rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').unwrap_or(rest.len());
        let word = &rest[..length];
        let keyword = Keyword::ALL.iter().find(|(text, _)| text.eq_ignore_ascii_case(word));
        let kind = keyword.map_or(TokenKind::Identifier, |&(_, keyword)| TokenKind::Keyword(keyword));
        self.push(kind, length);
    }

    fn number(&mut self) {
        let bytes = self.rest().as_bytes();
        let digits = |from: usize| {
            bytes[from..].iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'_').count()
        };
        if bytes[0] == b'0' && bytes.len() > 1 && b"xXoObB".contains(&bytes[1]) {
            let length =
                2 + bytes[2..].iter().take_while(|byte| byte.is_ascii_hexdigit() || **byte == b'_').count();
            return self.push(TokenKind::Integer, length);
        }
        let mut length = digits(0);
        let mut kind = TokenKind::Integer;
        if bytes.get(length) == Some(&b'.') && bytes.get(length + 1).is_some_and(u8::is_ascii_digit) {
            kind = TokenKind::Real;
            length += 1 + digits(length + 1);
        }
        if matches!(bytes.get(length), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(length + 1), Some(b'+' | b'-')));
            if bytes.get(length + 1 + sign).is_some_and(u8::is_ascii_digit) {
                kind = TokenKind::Real;
                length += 1 + sign + digits(length + 1 + sign);
            }
        }
        self.push(kind, length);
    }

    fn quoted(&mut self, quote: char, kind: TokenKind) {
        let rest = self.rest();
        let mut escaped = false;
        for (offset, letter) in rest.char_indices().skip(1) {
            match letter {
                '\n' => break,
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                _ if letter == quote => return self.push(kind, offset + 1),
                _ => {}
            }
        }
        let start = self.at;
        let length = rest.find('\n').unwrap_or(rest.len());
        self.push(kind, length);
        let what = if quote == '"' { "string" } else { "character" };
        self.diagnostics.push(
            Diagnostic::error(format!("this {what} never ends"))
                .label(self.span_from(start), "no closing quote on this line")
                .help(format!("close it with `{quote}`; write a line break as `\\n`")),
        );
    }

    fn symbol(&mut self, first: char) {
        let rest = self.rest();
        let operator = OPERATORS.iter().find(|operator| rest.starts_with(**operator));
        let mark = PUNCTUATION.iter().find(|(text, _)| rest.starts_with(text));
        match (operator, mark) {
            (Some(operator), Some((text, _))) if operator.len() >= text.len() => {
                self.push(TokenKind::Operator, operator.len());
            }
            (_, Some(&(text, kind))) => self.push(kind, text.len()),
            (Some(operator), None) => self.push(TokenKind::Operator, operator.len()),
            (None, None) => {
                let start = self.at;
                self.at += first.len_utf8();
                // One message for a run of them: a binary file has thousands.
                let last_end = self.diagnostics.last().and_then(Diagnostic::span).map(|span| span.end);
                if last_end == Some(start as u32) {
                    if let Some(label) = self.diagnostics.last_mut().and_then(|last| last.labels.first_mut())
                    {
                        label.span.end = self.at as u32;
                    }
                    return;
                }
                self.diagnostics.push(
                    Diagnostic::error(format!(
                        "the character `{}` has no meaning here",
                        first.escape_debug()
                    ))
                    .label(self.span_from(start), "not part of the language")
                    .note("names are made of the letters a to z, digits and `_`"),
                );
            }
        }
    }
}

/// The value of an integer literal, if it fits.
pub(crate) fn integer_value(text: &str) -> Option<i64> {
    let digits: String = text.chars().filter(|&letter| letter != '_').collect();
    let radix = match digits.get(..2).map(str::to_ascii_lowercase).as_deref() {
        Some("0x") => 16,
        Some("0o") => 8,
        Some("0b") => 2,
        _ => return digits.parse().ok(),
    };
    i64::from_str_radix(&digits[2..], radix).ok()
}

/// What a quoted token stands for: quotes removed, escapes replaced. `None` at an escape that doesn't exist.
pub(crate) fn unquote(text: &str) -> Option<String> {
    let quote = text.chars().next()?;
    let inner = text.strip_prefix(quote)?;
    let inner = inner.strip_suffix(quote).unwrap_or(inner);
    let mut letters = inner.chars();
    let mut value = String::new();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            value.push(letter);
            continue;
        }
        value.push(match letters.next()? {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'a' => '\x07',
            'b' => '\x08',
            'f' => '\x0C',
            'v' => '\x0B',
            '0' => '\0',
            same @ ('\\' | '\'' | '"' | '?') => same,
            _ => return None,
        });
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<String> {
        let mut sources = source::Sources::new();
        let file = sources.add("m.lnt", text);
        let mut diagnostics = Vec::new();
        let tokens = tokens(file, text, &mut diagnostics);
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        tokens[..tokens.len() - 1].iter().map(|token| text[token.span.range()].to_owned()).collect()
    }

    #[test]
    fn ranges_are_not_reals() {
        assert_eq!(kinds("1..5 1.5 1e-3 0x_F 1_0"), ["1", "..", "5", "1.5", "1e-3", "0x_F", "1_0"]);
    }

    #[test]
    fn comments_end_where_they_should() {
        assert_eq!(kinds("a -- (* b\nc (* d -- *) e (**) f (***) g"), ["a", "c", "e", "f", "g"]);
    }

    #[test]
    fn the_longest_symbol_wins() {
        assert_eq!(
            kinds("a!=b !x->y<=z:=|| |... =>"),
            ["a", "!=", "b", "!", "x", "->", "y", "<=", "z", ":=", "||", "|", "...", "=>"]
        );
    }

    #[test]
    fn integers_have_values() {
        assert_eq!(integer_value("0xFF"), Some(255));
        assert_eq!(integer_value("1_000"), Some(1000));
        assert_eq!(integer_value("99999999999999999999"), None);
    }
}
