//! Data expressions. They share the operators of state formulas, so they are read as formulas and then seen as data.

use source::{Diagnostic, Span};

use super::Parser;
use crate::tree::{BinaryOperator, Expression, ExpressionKind, Formula, FormulaKind, UnaryOperator};

impl Parser<'_> {
    /// A data expression.
    pub(super) fn expression(&mut self) -> Expression {
        let formula = self.formula();
        self.as_expression(formula)
    }

    /// The value behind `!`: without comparisons, unless in brackets.
    pub(super) fn offer_value(&mut self) -> Expression {
        let formula = self.operators(super::state::SUM);
        self.as_expression(formula)
    }

    /// `(E, E)`, the opening bracket not yet read.
    pub(super) fn arguments(&mut self) -> Vec<Expression> {
        let opener = self.span();
        self.bump();
        let list = self.list(")");
        self.close(")", opener);
        list
    }

    /// `E, E` up to a closing bracket, which is not read.
    pub(super) fn list(&mut self, closer: &str) -> Vec<Expression> {
        let mut all = Vec::new();
        if self.at(closer) {
            return all;
        }
        loop {
            all.push(self.expression());
            if !self.eat(",") {
                return all;
            }
        }
    }

    /// A formula as data, or a complaint.
    pub(super) fn as_expression(&mut self, formula: Formula) -> Expression {
        let span = formula.span;
        let kind = match formula.kind {
            FormulaKind::Data(expression) => return expression,
            FormulaKind::Name(name, arguments) if arguments.is_empty() => ExpressionKind::Name(name.text),
            FormulaKind::Name(name, arguments) => ExpressionKind::Call(name.text, arguments),
            FormulaKind::Not(of) => {
                ExpressionKind::Unary(UnaryOperator::Not, Box::new(self.as_expression(*of)))
            }
            FormulaKind::And(all) => return self.chain(BinaryOperator::And, all, span),
            FormulaKind::Or(all) => return self.chain(BinaryOperator::Or, all, span),
            FormulaKind::Binary(operator, left, right) => {
                let left = self.as_expression(*left);
                let right = self.as_expression(*right);
                ExpressionKind::Binary(operator, Box::new(left), Box::new(right))
            }
            _ => {
                self.error(
                    Diagnostic::error("expected a data value, found a formula about states")
                        .label(span, "has no value of its own")
                        .note(
                            "arithmetic, comparisons, arguments and `where` conditions are about data only",
                        ),
                );
                ExpressionKind::Wrong
            }
        };
        Expression { kind, span }
    }

    /// A chain of operators as a balanced tree, so that long ones are not deep.
    fn chain(&mut self, operator: BinaryOperator, all: Vec<Formula>, span: Span) -> Expression {
        let mut parts: Vec<Expression> = all.into_iter().map(|one| self.as_expression(one)).collect();
        while parts.len() > 1 {
            let mut halved = Vec::with_capacity(parts.len().div_ceil(2));
            let mut parts_left = parts.into_iter();
            while let Some(left) = parts_left.next() {
                halved.push(match parts_left.next() {
                    None => left,
                    Some(right) => Expression {
                        kind: ExpressionKind::Binary(operator, Box::new(left), Box::new(right)),
                        span,
                    },
                });
            }
            parts = halved;
        }
        parts.pop().unwrap_or(Expression { kind: ExpressionKind::Wrong, span })
    }
}
