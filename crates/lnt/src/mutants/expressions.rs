//! Mutants of expressions: conditions that ask for something else, other comparisons, other constants, other offers.

use model::Operator;

use super::Writer;
use super::flow::Variables;
use crate::lexer::TokenKind;
use crate::typed::*;

impl Writer<'_> {
    /// A condition that control depends on; `endless` where making it always true would only make a loop endless.
    pub(super) fn guard(&mut self, condition: &Expression, endless: bool) {
        let text = self.text(condition.span).to_owned();
        if matches!(condition.kind, ExpressionKind::Literal(_)) {
            self.other_conditions(condition);
            return;
        }
        self.replace(Operator::GuardNegated, condition.span, format!("not ({text})"), "is negated");
        if !endless {
            self.replace(Operator::GuardWeakened, condition.span, "true".into(), "becomes `true`");
        }
        if self.pieces.is_some() {
            self.replace(Operator::GuardStrengthened, condition.span, "false".into(), "becomes `false`");
            self.more_conditions(condition);
        }
        self.parts_of_guard(condition, true);
        // Negating a whole guard that is an equality has been done above.
        match &condition.kind {
            ExpressionKind::Builtin(Builtin::Equal | Builtin::NotEqual, operands) => {
                self.comparison(condition, true);
                operands.iter().for_each(|operand| self.expression(operand));
            }
            _ => self.expression(condition),
        }
    }

    /// Leaves out operands of `and` and `or`: where a part counts positively, less of an `and` is weaker.
    fn parts_of_guard(&mut self, condition: &Expression, positive: bool) {
        let ExpressionKind::Builtin(builtin, operands) = &condition.kind else { return };
        let weaker = match builtin {
            Builtin::And | Builtin::AndThen => positive,
            Builtin::Or | Builtin::OrElse => !positive,
            Builtin::Not => {
                operands.iter().for_each(|operand| self.parts_of_guard(operand, !positive));
                return;
            }
            _ => return,
        };
        let [left, right] = operands.as_slice() else { return };
        if self.operator_between(left, right).is_none() {
            return;
        }
        let operator = if weaker { Operator::GuardWeakened } else { Operator::GuardStrengthened };
        for (kept, dropped) in [(left, right), (right, left)] {
            let what = format!("loses `{}`", self.short(dropped.span));
            let text = self.text(kept.span).to_owned();
            self.replace(operator, condition.span, text, &what);
        }
        self.parts_of_guard(left, positive);
        self.parts_of_guard(right, positive);
    }

    /// Comparisons and constants, wherever they are in it.
    pub(super) fn expression(&mut self, expression: &Expression) {
        self.other_values(expression);
        match &expression.kind {
            ExpressionKind::Builtin(..) => self.comparison(expression, false),
            _ => self.constant(Operator::Constant, expression),
        }
        for part in expression.parts() {
            self.expression(part);
        }
    }

    /// Other comparisons of the same operands: those that no other ones stand for (Kaminski, Ammann and Offutt 2013), and
    /// the opposite of an equality, unless the whole guard has been negated already.
    fn comparison(&mut self, whole: &Expression, negated: bool) {
        let ExpressionKind::Builtin(builtin, operands) = &whole.kind else { return };
        let [left, right] = operands.as_slice() else { return };
        let (opposite, others) = match builtin {
            Builtin::Equal => (Some("!="), ["<=", ">="]),
            Builtin::NotEqual => (Some("=="), ["<", ">"]),
            Builtin::Less => (None, ["<=", "!="]),
            Builtin::LessEqual => (None, ["<", "=="]),
            Builtin::Greater => (None, [">=", "!="]),
            Builtin::GreaterEqual => (None, [">", "=="]),
            _ => return,
        };
        let Some(token) = self.operator_between(left, right) else { return };
        // Other types have the operators that their definitions ask for.
        let is_number = matches!(left.ty, TypeId::NAT | TypeId::INT | TypeId::REAL);
        match opposite {
            Some(opposite) if !negated && left.ty <= TypeId::STRING => {
                self.replace(
                    Operator::Comparison,
                    token.span,
                    opposite.into(),
                    &format!("becomes `{opposite}`"),
                );
            }
            Some(_) if !negated => {
                let text = format!("(not ({}))", self.text(whole.span));
                self.replace(Operator::Comparison, whole.span, text, "is negated");
            }
            _ => {}
        }
        let others = match (is_number, opposite) {
            (true, _) => &others[..],
            // Who has one order has both.
            (false, None) => &others[..1],
            (false, Some(_)) => &[],
        };
        for other in others {
            self.replace(Operator::Comparison, token.span, (*other).into(), &format!("becomes `{other}`"));
        }
    }

    /// Other values for a constant: the numbers beside it, or the next value of its type.
    pub(super) fn constant(&mut self, operator: Operator, expression: &Expression) {
        match &expression.kind {
            ExpressionKind::Literal(Literal::Integer(value)) => {
                // Not what the checker made of something else.
                if self
                    .text(expression.span)
                    .trim_start_matches(['+', '-', '(', ' '])
                    .starts_with(|letter: char| !letter.is_ascii_digit())
                {
                    return;
                }
                let (lower, upper) = self.bounds(expression.ty);
                for other in [value.saturating_add(1), value.saturating_sub(1)] {
                    if other != *value && (lower..=upper).contains(&other) {
                        let text = if other < 0 { format!("({other})") } else { other.to_string() };
                        self.replace(operator, expression.span, text, &format!("becomes `{other}`"));
                    }
                }
            }
            ExpressionKind::Literal(Literal::Bool(value)) => {
                let other = if *value { "false" } else { "true" };
                if self.text(expression.span).eq_ignore_ascii_case(if *value { "true" } else { "false" }) {
                    self.replace(operator, expression.span, other.into(), &format!("becomes `{other}`"));
                }
            }
            ExpressionKind::Construct(constructor, fields) if fields.is_empty() => {
                let program = self.program;
                let TypeKind::Constructed(all) = &program[expression.ty].kind else { return };
                let constants: Vec<ConstructorId> =
                    all.iter().copied().filter(|&one| program[one].fields.is_empty()).collect();
                let Some(at) = constants.iter().position(|one| one == constructor) else { return };
                let next = &program[constants[(at + 1) % constants.len()]];
                let written = self.text(expression.span);
                if constants.len() > 1 && written.eq_ignore_ascii_case(&program[*constructor].name) {
                    let text = next.name.clone();
                    let what = format!("becomes `{text}`");
                    self.replace(operator, expression.span, text, &what);
                }
            }
            _ => {}
        }
    }

    fn bounds(&self, ty: TypeId) -> (i64, i64) {
        match self.program[ty].kind {
            TypeKind::Nat { lower, upper }
            | TypeKind::Int { lower, upper }
            | TypeKind::Range { lower, upper, .. } => (lower, upper),
            TypeKind::Predicate { base, .. } => self.bounds(base),
            _ => (i64::MIN, i64::MAX),
        }
    }

    /// Other values for the offers of an action, where `assigned` are the variables that have a value.
    pub(super) fn offers(&mut self, action: &Action, assigned: &Variables) {
        for offer in &action.offers {
            match &offer.kind {
                OfferKind::Send(value) => {
                    self.other_values(value);
                    self.constant(Operator::Offer, value);
                    if let ExpressionKind::Variable(variable) = value.kind {
                        self.other_variable(variable, value, assigned);
                    }
                    for part in value.parts() {
                        self.expression(part);
                    }
                    self.comparison(value, false);
                }
                OfferKind::Receive(pattern) => {
                    if let PatternKind::Variable(variable) = pattern.kind
                        && assigned.contains(&variable)
                    {
                        let text = format!("any {}", self.program[pattern.ty].name);
                        self.replace(Operator::Offer, pattern.span, text, "is received and forgotten");
                    }
                }
            }
        }
        for pair in action.offers.windows(2) {
            let [Offer { kind: OfferKind::Send(left), .. }, Offer { kind: OfferKind::Send(right), .. }] =
                pair
            else {
                continue;
            };
            let (first, second) = (self.text(left.span), self.text(right.span));
            if left.ty == right.ty && first != second && left.span.end < right.span.start {
                let between = left.span.end as usize..right.span.start as usize;
                let between = &self.sources.text(left.span.file)[between];
                let text = format!("{second}{between}{first}");
                self.replace(Operator::Offer, left.span.to(right.span), text, "changes the order of values");
            }
        }
    }

    /// Another variable of the same type that has a value here: the next one that is declared.
    fn other_variable(&mut self, variable: VariableId, value: &Expression, assigned: &Variables) {
        let scope = self.scope;
        let mut others: Vec<VariableId> = assigned
            .iter()
            .copied()
            .filter(|&other| {
                other != variable && scope[other].ty == value.ty && self.visible.contains(&other)
            })
            .collect();
        others.sort();
        let next = others.iter().find(|&&other| other > variable).or(others.first());
        if let Some(&other) = next {
            let name = scope[other].name.clone();
            let what = format!("becomes `{name}`");
            self.replace(Operator::Offer, value.span, name, &what);
        }
    }

    /// The one token between two operands that are written on both sides of it.
    pub(super) fn operator_between(
        &self,
        left: &Expression,
        right: &Expression,
    ) -> Option<crate::lexer::Token> {
        if left.span.file != right.span.file || left.span.end > right.span.start {
            return None;
        }
        let between = self.tokens_between(left.span.file, left.span.end, right.span.start);
        let is_operator = |kind: TokenKind| matches!(kind, TokenKind::Operator | TokenKind::Identifier);
        between.first().copied().filter(|token| is_operator(token.kind))
    }
}
