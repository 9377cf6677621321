//! Patterns, in `case` branches and after `?`.

use super::Parser;
use crate::lexer::{Keyword, TokenKind, integer_value, unquote};
use crate::tree::*;

impl Parser<'_> {
    /// A pattern.
    pub(super) fn pattern(&mut self) -> Pattern {
        let wrong = Pattern { kind: PatternKind::Wrong, span: self.span() };
        self.nested(wrong, |parser| {
            let start = parser.span();
            let mut left = parser.pattern_operand();
            let mut chain = 0;
            // `P1 c P2` with a constructor between its two fields.
            while parser.peek() == TokenKind::Identifier && !parser.silent {
                chain += 1;
                if parser.depth + chain > super::DEPTH_LIMIT {
                    parser.too_deep();
                    break;
                }
                let Some(name) = parser.name("the name of a constructor") else { break };
                let right = parser.pattern_operand();
                let fields = vec![(None, left), (None, right)];
                left = Pattern {
                    kind: PatternKind::Constructor { name, fields, ellipsis: false },
                    span: parser.span_since(start),
                };
            }
            left
        })
    }

    fn pattern_operand(&mut self) -> Pattern {
        let start = self.span();
        let kind = match self.peek() {
            TokenKind::Keyword(Keyword::Any) => {
                self.bump();
                PatternKind::Any(if self.peek() == TokenKind::Identifier {
                    self.name("a type")
                } else {
                    None
                })
            }
            TokenKind::Identifier => self.named_pattern(),
            TokenKind::Integer => {
                let value = integer_value(self.text_at(0));
                if value.is_none() {
                    self.number_too_large();
                }
                self.bump();
                PatternKind::Integer(value.unwrap_or(0))
            }
            TokenKind::Operator if matches!(self.text_at(0), "-" | "+") => {
                let negative = self.text_at(0) == "-";
                self.bump();
                match self.peek() {
                    TokenKind::Integer | TokenKind::Real => match self.pattern_operand().kind {
                        PatternKind::Integer(value) if negative => PatternKind::Integer(-value),
                        PatternKind::Real(value) if negative => PatternKind::Real(-value),
                        same => same,
                    },
                    _ => {
                        self.expected("a number");
                        PatternKind::Wrong
                    }
                }
            }
            TokenKind::Real => {
                let value = self.text_at(0).replace('_', "").parse().unwrap_or(0.0);
                self.bump();
                PatternKind::Real(value)
            }
            TokenKind::Char => {
                let value = self.char_value();
                self.bump();
                PatternKind::Char(value)
            }
            TokenKind::String => {
                let value = unquote(self.text_at(0)).unwrap_or_default();
                self.bump();
                PatternKind::String(value)
            }
            TokenKind::BraceOpen => {
                self.bump();
                let mut elements = Vec::new();
                while self.peek() != TokenKind::BraceClose && !self.silent {
                    elements.push(self.pattern());
                    if !self.eat(TokenKind::Comma) {
                        break;
                    }
                }
                self.expect(TokenKind::BraceClose, "`}`");
                PatternKind::Collection(elements)
            }
            TokenKind::ParenOpen => {
                self.bump();
                let inner = self.pattern();
                self.expect(TokenKind::ParenClose, "`)`");
                inner.kind
            }
            _ => {
                self.expected("a pattern");
                PatternKind::Wrong
            }
        };
        let mut pattern = Pattern { kind, span: self.span_since(start) };
        if matches!(pattern.kind, PatternKind::Wrong) {
            pattern.span = start;
        }
        if self.eat_keyword(Keyword::Of)
            && let Some(ty) = self.name("the name of a type")
        {
            let span = self.span_since(start);
            pattern = Pattern { kind: PatternKind::Of { pattern: Box::new(pattern), ty }, span };
        }
        pattern
    }

    fn named_pattern(&mut self) -> PatternKind {
        let Some(name) = self.name("a pattern") else { return PatternKind::Wrong };
        if self.eat_word("as") {
            return PatternKind::As(name, Box::new(self.pattern()));
        }
        if !self.eat(TokenKind::ParenOpen) {
            return PatternKind::Name(name);
        }
        let mut fields = Vec::new();
        let mut ellipsis = false;
        while self.peek() != TokenKind::ParenClose && !self.silent {
            if self.eat(TokenKind::Ellipsis) {
                ellipsis = true;
                break;
            }
            let named = matches!(self.peek_at(1), TokenKind::FatArrow | TokenKind::Arrow)
                && self.peek() == TokenKind::Identifier;
            let field = if named { self.name("a field") } else { None };
            if named {
                self.bump();
            }
            fields.push((field, self.pattern()));
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.expect(TokenKind::ParenClose, "`)`");
        PatternKind::Constructor { name, fields, ellipsis }
    }
}
