//! Which variables the text of a process assigns. A parameter that it never assigns can be a constant.

use crate::typed::{
    Argument, Handler, OfferKind, Pattern, PatternKind, Process, Statement, StatementKind, VariableId,
};

/// For each variable of a process, whether some statement of it may change it.
pub(super) fn assigned_variables(process: &Process) -> Vec<bool> {
    let mut found = Assigned { variables: vec![false; process.scope.variables.len()] };
    let mut todo = vec![&process.body];
    while let Some(statement) = todo.pop() {
        found.visit(statement, &mut todo);
    }
    found.variables
}

struct Assigned {
    variables: Vec<bool>,
}

impl Assigned {
    fn add(&mut self, variable: VariableId) {
        self.variables[variable.index()] = true;
    }

    /// Notes what one statement assigns itself; the statements in it are left to do.
    fn visit<'s>(&mut self, statement: &'s Statement, todo: &mut Vec<&'s Statement>) {
        match &statement.kind {
            StatementKind::Assign { variable, .. }
            | StatementKind::AssignElement { array: variable, .. }
            | StatementKind::AssignAny { variable, .. } => self.add(*variable),
            StatementKind::Call { result, arguments, .. } => {
                result.iter().for_each(|&variable| self.add(variable));
                self.arguments(arguments);
            }
            StatementKind::Instantiate { arguments, .. } => self.arguments(arguments),
            StatementKind::Action(action) => {
                for offer in &action.offers {
                    if let OfferKind::Receive(pattern) = &offer.kind {
                        self.pattern(pattern);
                    }
                }
            }
            StatementKind::Sequence(statements) | StatementKind::Select(statements) => {
                todo.extend(statements)
            }
            StatementKind::Var { body, .. }
            | StatementKind::Hide { body, .. }
            | StatementKind::Loop { body, .. }
            | StatementKind::While { body, .. } => todo.push(body),
            StatementKind::For { initial, step, body, .. } => todo.extend([&**initial, &**step, &**body]),
            StatementKind::If { branches, otherwise } | StatementKind::OnlyIf { branches, otherwise } => {
                todo.extend(branches.iter().map(|branch| &branch.body));
                todo.extend(otherwise.as_deref());
            }
            StatementKind::Case { branches, .. } => {
                for branch in branches {
                    branch
                        .alternatives
                        .iter()
                        .flat_map(|a| &a.patterns)
                        .for_each(|pattern| self.pattern(pattern));
                    todo.push(&branch.body);
                }
            }
            StatementKind::Par { branches, .. } => todo.extend(branches.iter().map(|branch| &branch.body)),
            StatementKind::Disrupt { body, interruption } => todo.extend([&**body, &**interruption]),
            StatementKind::Trap { handlers, body } => {
                for Handler { parameters, body, .. } in handlers {
                    parameters.iter().for_each(|&variable| self.add(variable));
                    todo.push(body);
                }
                todo.push(body);
            }
            StatementKind::Null
            | StatementKind::Stop
            | StatementKind::Break(_)
            | StatementKind::Return(_)
            | StatementKind::Raise { .. }
            | StatementKind::Assert { .. } => {}
        }
    }

    fn arguments(&mut self, arguments: &[Argument]) {
        for argument in arguments {
            if let Argument::Out(variable, _) | Argument::InOut(variable, _) = argument {
                self.add(*variable);
            }
        }
    }

    fn pattern(&mut self, pattern: &Pattern) {
        match &pattern.kind {
            PatternKind::Variable(variable) => self.add(*variable),
            PatternKind::As(variable, inner) => {
                self.add(*variable);
                self.pattern(inner);
            }
            PatternKind::Constructor(_, fields) => fields.iter().for_each(|field| self.pattern(field)),
            PatternKind::Cons(head, tail) => {
                self.pattern(head);
                self.pattern(tail);
            }
            PatternKind::Array(elements) => {
                elements.iter().for_each(|element| self.pattern(element));
            }
            PatternKind::Wildcard | PatternKind::Literal(_) | PatternKind::Nil | PatternKind::Equal(_) => {}
        }
    }
}
