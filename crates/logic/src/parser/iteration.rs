//! The programming constructs of regular formulas: conditions, cases, declarations and loops.

use source::Span;

use super::Parser;
use crate::tree::{Expression, Regular, RegularKind};

impl Parser<'_> {
    /// `if`, `case`, `let`, `for`, `while`, `repeat`, `loop`, `continue`, `exit`; the word is not yet read.
    pub(super) fn iteration(&mut self, start: Span) -> Regular {
        let word = self.tokens[self.at].text.clone();
        let kind = match word.as_str() {
            "if" => self.regular_if(start),
            "case" => self
                .case(start, &mut |parser| parser.sequence_in_case())
                .map(|(of, branches)| RegularKind::Case(Box::new(of), branches)),
            "let" => self.regular_let(start),
            "for" => self.regular_for(start),
            "while" => self.regular_while(start),
            "repeat" => self.regular_repeat(start),
            "loop" => self.regular_loop(start),
            _ => {
                self.bump();
                let values = if self.at("(") { self.arguments() } else { Vec::new() };
                Some(match word.as_str() {
                    "continue" => RegularKind::Continue(values),
                    _ => RegularKind::Exit(values),
                })
            }
        };
        // After an error nothing more is said of what is inside.
        Regular { kind: kind.unwrap_or(RegularKind::Nil), span: self.since(start) }
    }

    fn regular_if(&mut self, start: Span) -> Option<RegularKind> {
        let mut arms = Vec::new();
        loop {
            self.bump();
            let condition = self.expression();
            if !self.expect("then") {
                return None;
            }
            arms.push((condition, self.regular()));
            if !self.at("elsif") {
                break;
            }
            self.limit(arms.len(), "branches");
        }
        let otherwise = self.eat("else").then(|| Box::new(self.regular()));
        self.closing("if", start);
        Some(RegularKind::If(arms, otherwise))
    }

    fn regular_let(&mut self, start: Span) -> Option<RegularKind> {
        self.bump();
        let bindings = self.bindings();
        if !self.expect("in") {
            return None;
        }
        let body = Box::new(self.regular());
        self.closing("let", start);
        Some(RegularKind::Let(bindings, body))
    }

    fn regular_for(&mut self, start: Span) -> Option<RegularKind> {
        self.bump();
        let name = self.name("the name of a variable")?;
        let type_of = self.type_of();
        if self.at("among") {
            let diagnostic = self
                .expected_diagnostic("`from`")
                .help(format!("write `for {}:nat from 1 to 3 do … end for`", name.text));
            self.error(diagnostic);
            return None;
        }
        if !self.expect("from") {
            return None;
        }
        let from = self.boxed_expression();
        if !self.expect("to") {
            return None;
        }
        let to = self.boxed_expression();
        let step = self.eat("step").then(|| self.boxed_expression());
        if !self.expect("do") {
            return None;
        }
        let body = Box::new(self.regular());
        self.closing("for", start);
        Some(RegularKind::For { name, type_of, from, to, step, body })
    }

    fn regular_while(&mut self, start: Span) -> Option<RegularKind> {
        self.bump();
        let condition = self.boxed_expression();
        if !self.expect("do") {
            return None;
        }
        let body = Box::new(self.regular());
        self.closing("while", start);
        Some(RegularKind::While(condition, body))
    }

    fn regular_repeat(&mut self, start: Span) -> Option<RegularKind> {
        self.bump();
        let body = Box::new(self.regular());
        if !self.expect("until") {
            return None;
        }
        let condition = self.boxed_expression();
        self.closing("repeat", start);
        Some(RegularKind::Until(body, condition))
    }

    /// `loop (x:T := E) : (y:U, z:U) in R end loop`; without parameters `in` may be left out.
    fn regular_loop(&mut self, start: Span) -> Option<RegularKind> {
        self.bump();
        let opener = self.span();
        // A bracket without `x:` or `x,` behind it begins the body.
        let declares = self.at("(")
            && self.tokens[self.ahead(1)].kind == crate::lexer::TokenKind::Word
            && (self.tokens[self.ahead(2)].is(":") || self.tokens[self.ahead(2)].is(","));
        let mut parameters = Vec::new();
        if declares {
            self.bump();
            parameters = self.bindings();
            self.close(")", opener);
        }
        let mut results = Vec::new();
        if self.eat(":") {
            let opener = self.span();
            if !self.expect("(") {
                return None;
            }
            loop {
                let names = self.names();
                let type_of = self.type_of();
                results.extend(names.into_iter().map(|name| (name, type_of.clone())));
                if !self.eat(",") {
                    break;
                }
            }
            self.close(")", opener);
        }
        let declares = !parameters.is_empty() || !results.is_empty();
        if !self.eat("in") && declares {
            self.expected("`in`");
            return None;
        }
        let body = Box::new(self.regular());
        self.closing("loop", start);
        Some(RegularKind::Loop { parameters, results, body })
    }

    fn boxed_expression(&mut self) -> Box<Expression> {
        Box::new(self.expression())
    }

    /// A branch of a `case` ends at `|`, which begins the next: a choice stands in brackets.
    fn sequence_in_case(&mut self) -> Regular {
        let start = self.span();
        let wrong = Regular { kind: RegularKind::Nil, span: start };
        self.nested(wrong, |parser| parser.sequence())
    }
}
