//! From text to tokens. Words are separated by blanks; `( ) [ ] { } ,` stand for themselves unless a backquote precedes
//! them.

use source::{Diagnostic, FileId, Sources, Span};

use crate::names::Name;

/// A word of a text.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    /// The word.
    pub name: Name,
    /// Where it is.
    pub span: Span,
    /// Whether it is the last one on its line.
    pub ends_line: bool,
}

impl Token {
    /// Its text.
    pub fn text(&self) -> &'static str {
        self.name.text()
    }

    /// Whether it is this word.
    pub fn is(&self, text: &str) -> bool {
        self.text() == text
    }
}

/// Characters that are tokens of their own.
pub fn is_special(c: char) -> bool {
    matches!(c, '(' | ')' | '[' | ']' | '{' | '}' | ',')
}

/// The tokens of a file, and what is wrong with its comments and strings.
pub fn tokens(sources: &Sources, file: FileId) -> (Vec<Token>, Vec<Diagnostic>) {
    let text = sources.text(file);
    let bytes = text.as_bytes();
    let mut tokens: Vec<Token> = Vec::new();
    let mut diagnostics = Vec::new();
    let span = |start: usize, end: usize| Span { file, start: start as u32, end: end as u32 };
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        if byte == b'\n'
            && let Some(last) = tokens.last_mut()
        {
            last.ends_line = true;
        }
        if byte.is_ascii_whitespace() {
            at += 1;
            continue;
        }
        if text[at..].starts_with("***") || text[at..].starts_with("---") {
            let after = at + 3;
            let blank = bytes[after..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
            if bytes.get(after + blank) == Some(&b'(') {
                match end_of_block(bytes, after + blank) {
                    Some(end) => at = end,
                    None => {
                        let error = Diagnostic::error("the comment does not end")
                            .label(span(at, after + blank + 1), "it begins here")
                            .help("`***(` is closed by the parenthesis that matches it");
                        diagnostics.push(error);
                        at = bytes.len();
                    }
                }
            } else {
                at += bytes[at..].iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len() - at);
            }
            continue;
        }
        let start = at;
        if byte == b'"' {
            at = end_of_string(bytes, at).unwrap_or_else(|| {
                let error = Diagnostic::error("the string does not end")
                    .label(span(start, start + 1), "it begins here")
                    .help("close it with `\"`; a quotation mark inside is written `\\\"`");
                diagnostics.push(error);
                // What follows may be meant as it stands.
                start + 1
            });
        } else {
            at = end_of_word(bytes, at);
        }
        while !text.is_char_boundary(at) {
            at += 1;
        }
        tokens.push(Token { name: Name::new(&text[start..at]), span: span(start, at), ends_line: false });
    }
    if let Some(last) = tokens.last_mut() {
        last.ends_line = true;
    }
    (tokens, diagnostics)
}

/// The words of a text in which nothing is a comment.
pub fn words(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let mut words = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at].is_ascii_whitespace() {
            at += 1;
            continue;
        }
        let start = at;
        at = match bytes[at] {
            b'"' => end_of_string(bytes, at).unwrap_or(bytes.len()),
            _ => end_of_word(bytes, at),
        };
        while !text.is_char_boundary(at) {
            at += 1;
        }
        words.push(&text[start..at]);
    }
    words
}

/// The place behind the word that begins here, which is no string.
fn end_of_word(bytes: &[u8], start: usize) -> usize {
    if is_special(bytes[start] as char) {
        return start + 1;
    }
    let mut at = start;
    while let Some(&byte) = bytes.get(at) {
        if byte == b'`' && bytes.get(at + 1).is_some_and(|next| !next.is_ascii_whitespace()) {
            at += 2;
        } else if byte == b'"' && at > start && bytes[start..at].iter().all(|&byte| byte == b'\'') {
            // A quoted identifier that stands for a string.
            match end_of_string(bytes, at) {
                Some(end) => at = end,
                None => break,
            }
        } else if byte.is_ascii_whitespace() || is_special(byte as char) || byte == b'"' {
            break;
        } else {
            at += 1;
        }
    }
    at
}

/// The place behind the quotation mark that closes the one here.
fn end_of_string(bytes: &[u8], open: usize) -> Option<usize> {
    let mut at = open + 1;
    loop {
        match bytes.get(at)? {
            b'\n' => return None,
            b'\\' => at += 2,
            b'"' => return Some(at + 1),
            _ => at += 1,
        }
    }
}

/// The place behind the parenthesis that closes the one here.
fn end_of_block(bytes: &[u8], open: usize) -> Option<usize> {
    let mut depth = 0usize;
    let mut at = open;
    while at < bytes.len() {
        match bytes[at] {
            b'`' => at += 1,
            b'(' => depth += 1,
            b')' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}
