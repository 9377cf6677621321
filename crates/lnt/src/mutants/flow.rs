//! What simple statements read and write, and which variables surely have a value: so that few mutants are refused by
//! the checker, whose own analysis has the last word.

use rustc_hash::FxHashSet;

use crate::typed::*;

pub(super) type Variables = FxHashSet<VariableId>;

impl Expression {
    /// Its direct parts.
    pub(super) fn parts(&self) -> Vec<&Expression> {
        match &self.kind {
            ExpressionKind::Literal(_) | ExpressionKind::Variable(_) => Vec::new(),
            ExpressionKind::Construct(_, parts)
            | ExpressionKind::Collection(parts)
            | ExpressionKind::Builtin(_, parts)
            | ExpressionKind::Call { arguments: parts, .. } => parts.iter().collect(),
            ExpressionKind::FilledArray(value) | ExpressionKind::Field { value, .. } => vec![value],
            ExpressionKind::Update { value, fields } => {
                std::iter::once(&**value).chain(fields.iter().map(|field| &field.value)).collect()
            }
            ExpressionKind::Element { array, index } => vec![array, index],
        }
    }
}

pub(super) fn reads_of(expression: &Expression, reads: &mut Variables) {
    if let ExpressionKind::Variable(variable) = expression.kind {
        reads.insert(variable);
    }
    for part in expression.parts() {
        reads_of(part, reads);
    }
}

fn bound_by(pattern: &Pattern, writes: &mut Variables) {
    match &pattern.kind {
        PatternKind::Variable(variable) => drop(writes.insert(*variable)),
        PatternKind::As(variable, inner) => {
            writes.insert(*variable);
            bound_by(inner, writes);
        }
        PatternKind::Constructor(_, parts) | PatternKind::Array(parts) => {
            parts.iter().for_each(|part| bound_by(part, writes));
        }
        PatternKind::Cons(first, rest) => {
            bound_by(first, writes);
            bound_by(rest, writes);
        }
        PatternKind::Wildcard | PatternKind::Literal(_) | PatternKind::Nil | PatternKind::Equal(_) => {}
    }
}

/// What a statement without statements inside reads and writes; nothing for others.
pub(super) fn touched(statement: &Statement) -> Option<(Variables, Variables)> {
    let (mut reads, mut writes) = (Variables::default(), Variables::default());
    match &statement.kind {
        StatementKind::Assign { variable, value } => {
            reads_of(value, &mut reads);
            writes.insert(*variable);
        }
        StatementKind::AssignElement { array, index, value } => {
            reads.insert(*array);
            reads_of(index, &mut reads);
            reads_of(value, &mut reads);
            writes.insert(*array);
        }
        StatementKind::AssignAny { variable, condition } => {
            condition.iter().for_each(|condition| reads_of(condition, &mut reads));
            reads.remove(variable);
            writes.insert(*variable);
        }
        StatementKind::Action(action) => {
            for touch in action.touches() {
                match touch {
                    Touch::Use(value) => reads_of(value, &mut reads),
                    Touch::Define(pattern) => bound_by(pattern, &mut writes),
                }
            }
            reads.retain(|variable| !writes.contains(variable));
            for offer in &action.offers {
                if let OfferKind::Send(value) = &offer.kind {
                    reads_of(value, &mut reads);
                }
            }
        }
        StatementKind::Call { result, arguments, .. } => {
            writes.extend(result);
            passed(arguments, &mut reads, &mut writes);
        }
        StatementKind::Instantiate { arguments, .. } => passed(arguments, &mut reads, &mut writes),
        _ => return None,
    }
    Some((reads, writes))
}

fn passed(arguments: &[Argument], reads: &mut Variables, writes: &mut Variables) {
    for argument in arguments {
        match argument {
            Argument::In(value) => reads_of(value, reads),
            Argument::Out(variable, _) => drop(writes.insert(*variable)),
            Argument::InOut(variable, _) => {
                reads.insert(*variable);
                writes.insert(*variable);
            }
        }
    }
}

/// Adds the variables that have a value behind a statement, whichever way control took; tells whether it gets there.
pub(super) fn passes(statement: &Statement, assigned: &mut Variables) -> bool {
    if let Some((_, writes)) = touched(statement) {
        assigned.extend(writes);
        return true;
    }
    match &statement.kind {
        StatementKind::Sequence(all) => all.iter().all(|one| passes(one, assigned)),
        StatementKind::Stop
        | StatementKind::Break(_)
        | StatementKind::Return(_)
        | StatementKind::Raise { .. } => false,
        StatementKind::Var { body, .. } | StatementKind::Hide { body, .. } => passes(body, assigned),
        StatementKind::If { branches, otherwise } => {
            let ways = branches.iter().map(|branch| &branch.body).chain(otherwise.as_deref());
            any_way(ways, otherwise.is_none(), assigned)
        }
        StatementKind::OnlyIf { branches, otherwise } => {
            any_way(branches.iter().map(|branch| &branch.body).chain(otherwise.as_deref()), false, assigned)
        }
        StatementKind::Case { branches, .. } => {
            any_way(branches.iter().map(|branch| &branch.body), false, assigned)
        }
        StatementKind::Select(branches) => any_way(branches.iter(), false, assigned),
        StatementKind::Par { branches, .. } => branches.iter().all(|branch| passes(&branch.body, assigned)),
        // Whether a loop is left, and from where, is the checker's business.
        _ => true,
    }
}

fn any_way<'s>(ways: impl Iterator<Item = &'s Statement>, around: bool, assigned: &mut Variables) -> bool {
    let mut common: Option<Variables> = around.then(|| assigned.clone());
    for way in ways {
        let mut own = assigned.clone();
        if passes(way, &mut own) {
            common = Some(match common {
                Some(common) => common.intersection(&own).copied().collect(),
                None => own,
            });
        }
    }
    match common {
        Some(common) => {
            *assigned = common;
            true
        }
        None => false,
    }
}

/// The first things that a statement does: what a person would look at just behind a place.
pub(super) fn heads(statement: &Statement, into: &mut Vec<source::Span>) {
    match &statement.kind {
        StatementKind::Sequence(all) => all.first().into_iter().for_each(|one| heads(one, into)),
        StatementKind::Select(branches) => branches.iter().for_each(|one| heads(one, into)),
        StatementKind::Par { branches, .. } => branches.iter().for_each(|one| heads(&one.body, into)),
        StatementKind::If { branches, .. } | StatementKind::OnlyIf { branches, .. } => {
            into.extend(branches.first().map(|branch| branch.condition.span));
        }
        StatementKind::Case { branches, .. } => into.extend(
            branches.iter().flat_map(|branch| branch.alternatives.iter().map(|alternative| alternative.span)),
        ),
        StatementKind::While { condition, .. } => into.push(condition.span),
        StatementKind::Loop { body, .. }
        | StatementKind::Var { body, .. }
        | StatementKind::Hide { body, .. }
        | StatementKind::Disrupt { body, .. }
        | StatementKind::Trap { body, .. } => heads(body, into),
        StatementKind::For { initial, .. } => heads(initial, into),
        _ => into.push(statement.span),
    }
}

/// The last things that it does.
pub(super) fn tails(statement: &Statement, into: &mut Vec<source::Span>) {
    match &statement.kind {
        StatementKind::Sequence(all) => all.last().into_iter().for_each(|one| tails(one, into)),
        StatementKind::Select(branches) => branches.iter().for_each(|one| tails(one, into)),
        StatementKind::Par { branches, .. } => branches.iter().for_each(|one| tails(&one.body, into)),
        StatementKind::If { branches, otherwise } | StatementKind::OnlyIf { branches, otherwise } => {
            branches.iter().for_each(|branch| tails(&branch.body, into));
            otherwise.iter().for_each(|otherwise| tails(otherwise, into));
        }
        StatementKind::Case { branches, .. } => branches.iter().for_each(|branch| tails(&branch.body, into)),
        StatementKind::While { condition, .. } => into.push(condition.span),
        StatementKind::Loop { body, .. }
        | StatementKind::For { body, .. }
        | StatementKind::Var { body, .. }
        | StatementKind::Hide { body, .. }
        | StatementKind::Disrupt { body, .. }
        | StatementKind::Trap { body, .. } => tails(body, into),
        _ => into.push(statement.span),
    }
}
