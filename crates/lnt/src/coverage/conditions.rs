//! What decisions are composed of: the conditions between Boolean operators, and what those compare.

use crate::typed::{Builtin, Expression, ExpressionKind, TypeId};

/// The conditions of a decision, left to right: what remains when `and`, `or`, `not` and their like are taken away.
pub(crate) fn conditions_of(decision: &Expression) -> Vec<&Expression> {
    let mut found = Vec::new();
    let mut todo = vec![decision];
    while let Some(expression) = todo.pop() {
        match &expression.kind {
            ExpressionKind::Builtin(builtin, operands) if is_boolean_operator(*builtin, operands) => {
                todo.extend(operands.iter().rev());
            }
            _ => found.push(expression),
        }
    }
    found
}

fn is_boolean_operator(builtin: Builtin, operands: &[Expression]) -> bool {
    matches!(
        builtin,
        Builtin::And
            | Builtin::Or
            | Builtin::AndThen
            | Builtin::OrElse
            | Builtin::Not
            | Builtin::Implies
            | Builtin::Xor
            | Builtin::Iff
    ) && operands.iter().all(|operand| operand.ty == TypeId::BOOL)
}

/// What the conditions of a decision compare or are computed from: their arguments, constants left out.
pub(crate) fn operands_of(decision: &Expression) -> Vec<&Expression> {
    let mut found: Vec<&Expression> = Vec::new();
    for condition in conditions_of(decision) {
        match &condition.kind {
            ExpressionKind::Builtin(_, operands) => found.extend(operands),
            ExpressionKind::Call { arguments, .. } => found.extend(arguments),
            _ => found.push(condition),
        }
    }
    found.retain(|operand| !is_constant(operand));
    found
}

fn is_constant(expression: &Expression) -> bool {
    match &expression.kind {
        ExpressionKind::Literal(_) => true,
        ExpressionKind::Construct(_, fields) | ExpressionKind::Collection(fields) => {
            fields.iter().all(is_constant)
        }
        _ => false,
    }
}
