//! Regular formulas and the label predicates in them.
//!
//! `.` and `|` join sequences, `and` and `or` join predicates, and brackets may hold either: what is inside decides.

use source::{Diagnostic, Span};

use super::Parser;
use crate::basic;
use crate::lexer::{KEYWORDS, TokenKind};
use crate::tree::{
    Action, ActionKind, ActionPattern, BinaryOperator, Expression, ExpressionKind, LabelPattern, Name, Offer,
    Regular, RegularKind, Syntax,
};

/// The largest bound of a counted repetition.
const REPEAT_LIMIT: u32 = 10_000;

impl Parser<'_> {
    /// `R | R`
    pub(super) fn regular(&mut self) -> Regular {
        let start = self.span();
        let wrong = wrong(start);
        self.nested(wrong, |parser| {
            let mut choices = vec![parser.sequence()];
            while parser.eat("|") {
                choices.push(parser.sequence());
            }
            parser.joined(choices, start, RegularKind::Choice)
        })
    }

    /// `R . R`
    pub(super) fn sequence(&mut self) -> Regular {
        let start = self.span();
        let mut parts = vec![self.repeated()];
        while self.eat(".") {
            parts.push(self.repeated());
        }
        self.joined(parts, start, RegularKind::Sequence)
    }

    fn joined(&self, mut parts: Vec<Regular>, start: Span, join: fn(Vec<Regular>) -> RegularKind) -> Regular {
        match parts.len() {
            1 => parts.remove(0),
            _ => Regular { kind: join(parts), span: self.since(start) },
        }
    }

    /// `R*`, `R+`, `R?`, `R{2}`, `R{2,5}`, `R{2,}`, `R{2 ... 5}`
    fn repeated(&mut self) -> Regular {
        let start = self.span();
        let mut body = self.predicate(1);
        let mut count = 0;
        loop {
            let (min, max) = if self.eat("*") {
                (Bound::Number(0), None)
            } else if self.eat("+") {
                (Bound::Number(1), None)
            } else if self.eat("?") {
                (Bound::Number(0), Some(Bound::Number(1)))
            } else if self.at("{") {
                match self.counted() {
                    Some(bounds) => bounds,
                    None => return body,
                }
            } else {
                return body;
            };
            count += 1;
            if count > 50 {
                let diagnostic = Diagnostic::error("too many repetition operators in a row")
                    .label(self.since(start), "more than 50 of them");
                self.error(diagnostic);
                return body;
            }
            let inner = Box::new(body);
            let kind = match (min, max) {
                (Bound::Number(min), None) => RegularKind::Repeat { body: inner, min, max: None },
                (Bound::Number(min), Some(Bound::Number(max))) => {
                    RegularKind::Repeat { body: inner, min, max: Some(max) }
                }
                (min, max) => RegularKind::Counted {
                    body: inner,
                    min: Box::new(min.expression(start)),
                    max: max.map(|max| Box::new(max.expression(start))),
                },
            };
            body = Regular { kind, span: self.since(start) };
        }
    }

    fn counted(&mut self) -> Option<(Bound, Option<Bound>)> {
        let opener = self.span();
        self.bump();
        let bounds = self.bounds();
        self.close("}", opener);
        let (min, max) = bounds?;
        if let (Bound::Number(min), Some(Bound::Number(max))) = (&min, &max)
            && max < min
        {
            self.at -= 1;
            self.error(
                Diagnostic::error("the bounds of this repetition are the wrong way round")
                    .label(self.since(opener), format!("from {min} to {max} times"))
                    .help("write the smaller bound first"),
            );
            self.bump();
        }
        Some((min, max))
    }

    fn bounds(&mut self) -> Option<(Bound, Option<Bound>)> {
        let min = self.bound()?;
        let max = if self.eat(",") || self.eat("...") || self.eat("..") {
            if self.at("}") { None } else { Some(self.bound()?) }
        } else {
            Some(min.clone())
        };
        Some((min, max))
    }

    fn bound(&mut self) -> Option<Bound> {
        let next = &self.tokens[self.ahead(1)];
        let alone = ["}", ",", "...", ".."].iter().any(|end| next.is(end));
        if self.kind() == TokenKind::Number && alone {
            let bound = self.tokens[self.at].text.parse().ok().filter(|&bound| bound <= REPEAT_LIMIT);
            if bound.is_none() {
                let diagnostic = Diagnostic::error("this bound is too large")
                    .label(self.span(), format!("at most {REPEAT_LIMIT}"))
                    .help("without an upper bound, write `R*`");
                self.error(diagnostic);
            }
            self.bump();
            return bound.map(Bound::Number);
        }
        // What looks like a gate with offers was meant to be a step of its own.
        let word = self.kind() == TokenKind::Word;
        let is_pattern = self.kind() == TokenKind::Text
            || (word && (next.is("!") || next.is("?")))
            || (word && next.is("...") && crate::check::is_constant(&self.tokens[self.at].text));
        if is_pattern || !matches!(self.kind(), TokenKind::Word | TokenKind::Number | TokenKind::Symbol) {
            let diagnostic = self
                .expected_diagnostic("a number")
                .note("the bounds of a repetition are numbers: `R{2}`, `R{2,5}`, `R{n+1,}`")
                .help("to begin a value pattern here, join it with `.`: `R . { GATE !1 }`");
            self.error(diagnostic);
            return None;
        }
        Some(Bound::Computed(self.offer_value()))
    }

    /// Predicates joined by operators, loosest first: 1 `implies equ xor`, 2 `or`, 3 `and`, 4 one of them.
    fn predicate(&mut self, level: u8) -> Regular {
        let start = self.span();
        if level == 4 {
            return self.nested(wrong(start), |parser| parser.step());
        }
        let left = self.predicate(level + 1);
        match level {
            1 => {
                let operator = match self.tokens[self.at].text.as_str() {
                    _ if self.kind() != TokenKind::Word && self.kind() != TokenKind::Symbol => return left,
                    "implies" => BinaryOperator::Implies,
                    "equ" | "<=>" => BinaryOperator::Equ,
                    "xor" => BinaryOperator::Xor,
                    _ => return left,
                };
                self.bump();
                let left = self.as_action(left);
                let right = self.nested(wrong(start), |parser| parser.predicate(1));
                let right = self.as_action(right);
                self.action(ActionKind::Binary(operator, Box::new(left), Box::new(right)), start)
            }
            2 | 3 => {
                let word = if level == 2 { "or" } else { "and" };
                if !self.at(word) {
                    return left;
                }
                let mut all = vec![self.as_action(left)];
                while self.eat(word) {
                    let next = self.predicate(level + 1);
                    all.push(self.as_action(next));
                }
                let kind = if level == 2 { ActionKind::Or(all) } else { ActionKind::And(all) };
                self.action(kind, start)
            }
            _ => left,
        }
    }

    fn action(&self, kind: ActionKind, start: Span) -> Regular {
        let span = self.since(start);
        Regular { kind: RegularKind::Action(Action { kind, span }), span }
    }

    /// Operators between predicates do not join sequences.
    fn as_action(&mut self, regular: Regular) -> Action {
        let what = match regular.kind {
            RegularKind::Action(action) => return action,
            RegularKind::Nil => "`nil`",
            RegularKind::Sequence(_) => "a sequence",
            RegularKind::Choice(_) => "a choice",
            RegularKind::Repeat { .. } | RegularKind::Counted { .. } => "a repetition",
            _ => "a construct on sequences",
        };
        self.error(
            Diagnostic::error(format!("`and`, `or` and `not` join label predicates, but this is {what}"))
                .label(regular.span, "not a predicate on one label")
                .help("join sequences with `.` and `|`"),
        );
        Action { kind: ActionKind::Constant(true), span: regular.span }
    }

    fn step(&mut self) -> Regular {
        let start = self.span();
        let token = &self.tokens[self.at];
        match token.kind {
            TokenKind::Text | TokenKind::Pattern => return self.quoted(),
            TokenKind::Word | TokenKind::Symbol => {}
            TokenKind::Number | TokenKind::End => return self.no_step(start),
        }
        let constant = match token.text.as_str() {
            "true" | "any" => Some(ActionKind::Constant(true)),
            "false" => Some(ActionKind::Constant(false)),
            "tau" => Some(ActionKind::Tau),
            _ => None,
        };
        if let Some(kind) = constant {
            self.bump();
            return self.action(kind, start);
        }
        match token.text.as_str() {
            "nil" => {
                self.bump();
                Regular { kind: RegularKind::Nil, span: start }
            }
            "not" => {
                self.bump();
                let of = self.predicate(4);
                let of = self.as_action(of);
                self.action(ActionKind::Not(Box::new(of)), start)
            }
            "(" => {
                self.bump();
                self.brackets += 1;
                let inside = self.regular();
                self.brackets -= 1;
                self.close(")", start);
                Regular { span: self.since(start), ..inside }
            }
            "{" => self.pattern(),
            "if" | "case" | "let" | "for" | "while" | "repeat" | "loop" | "continue" | "exit" => {
                self.iteration(start)
            }
            _ => self.no_step(start),
        }
    }

    fn no_step(&mut self, start: Span) -> Regular {
        let token = &self.tokens[self.at];
        let mut diagnostic = Diagnostic::error(format!("expected a step, found {}", self.found()))
            .label(token.span, "expected a label, a pattern or `true`");
        if token.kind == TokenKind::Word && !KEYWORDS.contains(&token.text.as_str()) {
            diagnostic = diagnostic.help(match token.text.as_str() {
                "i" => "the internal action is written `tau`".to_owned(),
                name => format!(
                    "write \"{name}\" for the label, '{name}.*' for all labels that begin with it, or {{ {name} ... }} for the gate"
                ),
            });
            self.error(diagnostic);
            self.bump();
            return wrong(start);
        }
        if self.at("]") || self.at(">") {
            diagnostic = diagnostic.help("for no step at all write `nil`; for any step, `true`");
        } else if self.at("~") || self.at("!") {
            diagnostic = diagnostic.help("in MCL this is written `not`");
        } else if self.at("-") {
            diagnostic = diagnostic.help("for any step write `true`");
        }
        self.error(diagnostic);
        wrong(start)
    }

    /// `"A"`, `'A.*'`, and several of them joined by `#`.
    fn quoted(&mut self) -> Regular {
        let start = self.span();
        let mut parts: Vec<(TokenKind, String)> = Vec::new();
        loop {
            if !matches!(self.kind(), TokenKind::Text | TokenKind::Pattern | TokenKind::Number) {
                self.expected("a label or a pattern");
                break;
            }
            parts.push((self.kind(), self.tokens[self.at].text.clone()));
            self.bump();
            if !self.eat("#") {
                break;
            }
        }
        let is_pattern = parts.iter().any(|(kind, _)| *kind == TokenKind::Pattern);
        let text: String = parts
            .iter()
            .map(|(kind, text)| match kind {
                TokenKind::Pattern => text.clone(),
                _ if is_pattern && self.syntax == Syntax::Basic => basic::escape(text),
                _ if is_pattern => regex::escape(text),
                _ => text.clone(),
            })
            .collect();
        if !is_pattern {
            return self.action(ActionKind::Exact(text), start);
        }
        match LabelPattern::new(&text, self.syntax) {
            Ok(pattern) => self.action(ActionKind::Regex(pattern), start),
            Err(reason) => {
                self.at -= 1;
                let help = match self.syntax {
                    Syntax::Basic => {
                        "patterns in MCL are basic regular expressions: write \\ before . * [ \\ to mean the character itself, or use \"…\" for one label"
                    }
                    Syntax::Extended => {
                        "write \\ before ( ) [ ] { } . * + ? | to mean the character itself, or use \"…\" for one label"
                    }
                };
                self.error(Diagnostic::error("this pattern can't be used").label(start, reason).help(help));
                self.bump();
                wrong(start)
            }
        }
    }

    /// `{ GATE !1 ?x:nat ... where x < 3 }`
    fn pattern(&mut self) -> Regular {
        let start = self.span();
        self.bump();
        let gate = if self.eat("any") || self.at("...") || self.at("!") || self.at("?") {
            None
        } else {
            let token = &self.tokens[self.at];
            let gate = Name { text: token.text.clone(), span: token.span };
            if matches!(token.kind, TokenKind::Word | TokenKind::Text) {
                self.bump();
            } else {
                self.expected("a gate");
            }
            Some(gate)
        };
        let mut offers = Vec::new();
        loop {
            if self.eat("!") {
                offers.push(Offer::Value(self.offer_value()));
            } else if self.eat("...") {
                offers.push(Offer::Rest);
            } else if self.eat("?") {
                if self.eat("any") {
                    // `?any of T` says the type too.
                    if self.eat("of") {
                        self.type_name();
                    }
                    offers.push(Offer::Any);
                } else if let Some(name) = self.name("the name of a variable, or `any`") {
                    let type_of = self.type_of();
                    offers.push(Offer::Bind(name, type_of));
                }
            } else {
                break;
            }
        }
        let condition = self.eat("where").then(|| Box::new(self.expression()));
        if !self.at("}") && !self.at("where") && condition.is_none() && self.kind() != TokenKind::End {
            let diagnostic = Diagnostic::error(format!("expected an offer, found {}", self.found()))
                .label(self.span(), "expected `!VALUE`, `?x:TYPE`, `...`, `where` or `}`")
                .help("write `!` before each value: `{ GATE !1 !true }`");
            self.error(diagnostic);
        }
        self.close("}", start);
        self.action(ActionKind::Pattern(ActionPattern { gate, offers, condition }), start)
    }
}

/// A bound of a repetition.
#[derive(Clone)]
enum Bound {
    Number(u32),
    Computed(Expression),
}

impl Bound {
    fn expression(self, span: Span) -> Expression {
        match self {
            Bound::Number(number) => Expression { kind: ExpressionKind::Number(i64::from(number)), span },
            Bound::Computed(expression) => expression,
        }
    }
}

fn wrong(span: Span) -> Regular {
    Regular { kind: RegularKind::Action(Action { kind: ActionKind::Constant(true), span }), span }
}
