//! Expressions by precedence climbing, and the lists of actual gates and parameters.
//!
//! From loose to tight: `implies iff`; `or xor`, `or else`; `and`, `and then`; comparisons; `+ - &` and
//! functions of the program used as infix operators; `* / div mod rem`; `**`; prefixes; `.f [i] of T`.
//! All but `**` group to the left.

use source::{Diagnostic, Span};

use super::{DEPTH_LIMIT, Parser};
use crate::lexer::{Keyword, TokenKind, integer_value, unquote};
use crate::tree::*;

const POWER: u8 = 7;

/// How tightly an infix operator binds.
fn precedence(operator: &str) -> u8 {
    match operator.to_ascii_lowercase().as_str() {
        "implies" | "iff" => 1,
        "or" | "xor" | "\\/" => 2,
        "and" | "/\\" | "&&" => 3,
        "==" | "=" | "!=" | "<>" | "/=" | "=/=" | "<" | "<=" | ">" | ">=" | "eq" | "ne" | "lt" | "le"
        | "gt" | "ge" => 4,
        "*" | "/" | "div" | "mod" | "rem" | "%" => 6,
        "**" => POWER,
        _ => 5,
    }
}

impl Parser<'_> {
    /// An expression.
    pub(super) fn expression(&mut self) -> Expression {
        self.binary(1)
    }

    fn binary(&mut self, least: u8) -> Expression {
        let wrong = Expression { kind: ExpressionKind::Wrong, span: self.span() };
        self.nested(wrong, |parser| {
            let start = parser.span();
            let mut left = parser.prefix();
            let mut chain = 0;
            while let Some(level) = parser.infix_level().filter(|&level| level >= least) {
                chain += 1;
                if parser.depth + chain > DEPTH_LIMIT {
                    parser.too_deep();
                    break;
                }
                let name = Name { text: parser.text_at(0).to_owned(), span: parser.span() };
                parser.bump();
                let lazy = match name.key().as_str() {
                    "and" => parser.eat_keyword(Keyword::Then),
                    "or" => parser.eat_keyword(Keyword::Else),
                    _ => false,
                };
                let right = parser.binary(if level == POWER { level } else { level + 1 });
                let span = parser.span_since(start);
                let kind = match (lazy, name.key().as_str()) {
                    (true, "and") => ExpressionKind::AndThen(Box::new(left), Box::new(right)),
                    (true, _) => ExpressionKind::OrElse(Box::new(left), Box::new(right)),
                    (false, _) => operator_call(name, vec![left, right], span),
                };
                left = Expression { kind, span };
            }
            left
        })
    }

    /// The precedence of the infix operator that stands here, if one does.
    fn infix_level(&self) -> Option<u8> {
        match self.peek() {
            TokenKind::Operator => Some(precedence(self.text_at(0))),
            // A name in infix position is a function, unless it begins the next statement after a lost `;`.
            TokenKind::Identifier
                if !matches!(self.peek_at(1), TokenKind::Assign)
                    && !self.at_word("exception")
                    && !self.at_word("do")
                    && !self.reserved.iter().any(|word| self.at_word(word)) =>
            {
                let starts_operand = matches!(
                    self.peek_at(1),
                    TokenKind::Identifier
                        | TokenKind::Integer
                        | TokenKind::Real
                        | TokenKind::Char
                        | TokenKind::String
                        | TokenKind::ParenOpen
                        | TokenKind::BraceOpen
                        | TokenKind::Operator
                );
                let lazy = (self.at_word("and") && self.peek_at(1) == TokenKind::Keyword(Keyword::Then))
                    || (self.at_word("or") && self.peek_at(1) == TokenKind::Keyword(Keyword::Else));
                let known = self.at_word("and") || self.at_word("or") || self.at_word("xor");
                (starts_operand || lazy || known).then(|| precedence(self.text_at(0)))
            }
            _ => None,
        }
    }

    fn prefix(&mut self) -> Expression {
        let start = self.span();
        let sign = self.peek() == TokenKind::Operator && matches!(self.text_at(0), "-" | "+" | "~");
        let not = self.at_word("not");
        if !sign && !not {
            return self.postfix();
        }
        let name = Name { text: self.text_at(0).to_owned(), span: start };
        self.bump();
        let wrong = Expression { kind: ExpressionKind::Wrong, span: self.span() };
        let operand = self.nested(wrong, Self::prefix);
        let span = self.span_since(start);
        let kind = match (name.text.as_str(), operand.kind) {
            ("-", ExpressionKind::Integer(value)) => ExpressionKind::Integer(-value),
            ("-", ExpressionKind::Real(value)) => ExpressionKind::Real(-value),
            ("+", kind @ (ExpressionKind::Integer(_) | ExpressionKind::Real(_))) => kind,
            (_, kind) => operator_call(name, vec![Expression { kind, span: operand.span }], span),
        };
        Expression { kind, span }
    }

    fn postfix(&mut self) -> Expression {
        let start = self.span();
        let mut value = self.primary();
        let mut chain = 0;
        loop {
            chain += 1;
            if self.depth + chain > DEPTH_LIMIT {
                self.too_deep();
                return value;
            }
            let kind = match self.peek() {
                TokenKind::Dot if self.peek_at(1) == TokenKind::BraceOpen => {
                    self.bump();
                    self.bump();
                    ExpressionKind::Update { value: Box::new(value), fields: self.field_updates() }
                }
                TokenKind::Dot => {
                    self.bump();
                    // `x.[E] f` names the exception of an access that fails; run-time errors are reported anyway.
                    if self.eat(TokenKind::BracketOpen) {
                        self.name("the name of an exception");
                        self.expect(TokenKind::BracketClose, "`]`");
                    }
                    match self.name("the name of a field") {
                        Some(field) => ExpressionKind::Field { value: Box::new(value), field },
                        None => return value,
                    }
                }
                TokenKind::BracketOpen if !self.at_box() => {
                    self.bump();
                    let index = Box::new(self.expression());
                    self.expect(TokenKind::BracketClose, "`]`");
                    ExpressionKind::Element { array: Box::new(value), index }
                }
                TokenKind::Keyword(Keyword::Of) => {
                    self.bump();
                    match self.name("the name of a type") {
                        Some(ty) => ExpressionKind::Of { value: Box::new(value), ty },
                        None => return value,
                    }
                }
                _ => return value,
            };
            value = Expression { kind, span: self.span_since(start) };
        }
    }

    /// `f => V, g => V }`
    fn field_updates(&mut self) -> Vec<(Name, Expression)> {
        let mut fields = Vec::new();
        while let Some(field) = self.name("the name of a field") {
            if !self.eat(TokenKind::Arrow) && !self.eat(TokenKind::Assign) {
                self.expect(TokenKind::FatArrow, "`=>` and a value");
            }
            fields.push((field, self.expression()));
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.expect(TokenKind::BraceClose, "`}`");
        fields
    }

    fn primary(&mut self) -> Expression {
        let start = self.span();
        let kind = match self.peek() {
            TokenKind::Integer => {
                let value = integer_value(self.text_at(0));
                if value.is_none() {
                    self.number_too_large();
                }
                self.bump();
                ExpressionKind::Integer(value.unwrap_or(0))
            }
            TokenKind::Real => {
                let value = self.text_at(0).replace('_', "").parse().unwrap_or(0.0);
                self.bump();
                ExpressionKind::Real(value)
            }
            TokenKind::Char => {
                let value = self.char_value();
                self.bump();
                ExpressionKind::Char(value)
            }
            TokenKind::String => {
                let value = unquote(self.text_at(0));
                if value.is_none() {
                    let diagnostic = Diagnostic::error("this string has an unknown escape")
                        .label(start, "in here")
                        .note("the escapes are \\n \\t \\r \\a \\b \\f \\v \\0 \\\\ \\' and \\\"");
                    self.error(diagnostic);
                }
                self.bump();
                ExpressionKind::String(value.unwrap_or_default())
            }
            TokenKind::Identifier => self.name_or_call(),
            TokenKind::BraceOpen => {
                self.bump();
                let mut elements = Vec::new();
                while self.peek() != TokenKind::BraceClose && !self.silent {
                    elements.push(self.expression());
                    if !self.eat(TokenKind::Comma) {
                        break;
                    }
                }
                self.expect(TokenKind::BraceClose, "`}`");
                ExpressionKind::Collection(elements)
            }
            TokenKind::ParenOpen => {
                self.bump();
                let inner = self.expression();
                self.expect(TokenKind::ParenClose, "`)`");
                return Expression { kind: inner.kind, span: self.span_since(start) };
            }
            _ => {
                self.expected("an expression");
                return Expression { kind: ExpressionKind::Wrong, span: start };
            }
        };
        Expression { kind, span: self.span_since(start) }
    }

    fn name_or_call(&mut self) -> ExpressionKind {
        let Some(name) = self.name("an expression") else { return ExpressionKind::Wrong };
        let gates = if self.at_exceptions() { Some(self.gate_actuals()) } else { None };
        if self.peek() != TokenKind::ParenOpen {
            return ExpressionKind::Name(name);
        }
        let arguments = self.actuals();
        ExpressionKind::Call { name, gates, arguments, infix: false }
    }

    /// Whether `[E, F -> G, ...] (` stands here: the exceptions of a call, and not an index.
    fn at_exceptions(&self) -> bool {
        if self.peek() != TokenKind::BracketOpen {
            return false;
        }
        let mut ahead = 1;
        loop {
            match self.peek_at(ahead) {
                TokenKind::BracketClose => {
                    return ahead > 1 && self.peek_at(ahead + 1) == TokenKind::ParenOpen;
                }
                TokenKind::Identifier
                | TokenKind::Comma
                | TokenKind::Arrow
                | TokenKind::FatArrow
                | TokenKind::Ellipsis => ahead += 1,
                _ => return false,
            }
        }
    }

    /// `[A, B]`, `[F -> A, ...]`
    pub(super) fn gate_actuals(&mut self) -> GateActuals {
        let start = self.span();
        self.bump();
        let mut gates = Vec::new();
        let mut ellipsis = false;
        while self.peek() != TokenKind::BracketClose {
            if self.eat(TokenKind::Ellipsis) {
                ellipsis = true;
                break;
            }
            let Some(name) = self.name("the name of a gate") else { break };
            if self.eat(TokenKind::Arrow) || self.eat(TokenKind::FatArrow) {
                let Some(actual) = self.name("the name of a gate") else { break };
                gates.push(GateActual { formal: Some(name), actual });
            } else {
                gates.push(GateActual { formal: None, actual: name });
            }
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.expect(TokenKind::BracketClose, "`]`");
        GateActuals { gates, ellipsis, span: self.span_since(start) }
    }

    /// `(V, !V, ?P, !?x, f => V, ...)`
    pub(super) fn actuals(&mut self) -> Actuals {
        let start = self.span();
        self.bump();
        let mut values = Vec::new();
        let mut ellipsis = false;
        while self.peek() != TokenKind::ParenClose && !self.silent {
            if self.eat(TokenKind::Ellipsis) {
                ellipsis = true;
                break;
            }
            values.push(self.actual());
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.expect(TokenKind::ParenClose, "`)` or `,`");
        Actuals { values, ellipsis, span: self.span_since(start) }
    }

    pub(super) fn actual(&mut self) -> Actual {
        let start = self.span();
        let named = self.peek() == TokenKind::Identifier
            && matches!(self.peek_at(1), TokenKind::FatArrow | TokenKind::Arrow);
        let formal = if named { self.name("a parameter") } else { None };
        if named {
            self.bump();
        }
        let kind = if self.eat(TokenKind::Question) {
            ActualKind::Receive(self.pattern())
        } else if self.peek() == TokenKind::Bang && self.peek_at(1) == TokenKind::Question {
            self.bump();
            self.bump();
            match self.name("the name of a variable") {
                Some(name) => ActualKind::InOut(name),
                None => ActualKind::Value(Expression { kind: ExpressionKind::Wrong, span: start }),
            }
        } else {
            self.eat(TokenKind::Bang);
            ActualKind::Value(self.expression())
        };
        Actual { formal, kind, span: self.span_since(start) }
    }
}

fn operator_call(name: Name, operands: Vec<Expression>, span: Span) -> ExpressionKind {
    let values = operands
        .into_iter()
        .map(|operand| Actual { formal: None, span: operand.span, kind: ActualKind::Value(operand) })
        .collect();
    ExpressionKind::Call {
        name,
        gates: None,
        arguments: Actuals { values, ellipsis: false, span },
        infix: true,
    }
}
