//! Regular formulas and label predicates: what they bind, and whether their loops end.

use source::Diagnostic;

use super::Checker;
use crate::tree::*;

impl Checker<'_> {
    /// Leaves in scope what the formula binds for everything to its right.
    pub(super) fn regular(&mut self, regular: &Regular) {
        match &regular.kind {
            RegularKind::Nil => {}
            RegularKind::Action(action) => self.action(action, true),
            RegularKind::Sequence(all) => all.iter().for_each(|one| self.regular(one)),
            RegularKind::Choice(all) => {
                for one in all {
                    let outer = self.variables.len();
                    self.regular(one);
                    self.leave(outer);
                }
            }
            RegularKind::Repeat { body, .. } => self.regular_alone(body),
            RegularKind::Counted { body, min, max } => {
                // `R{n}` has one bound for both, which is looked at once.
                let max = max.iter().filter(|max| max.span != min.span);
                for bound in std::iter::once(min).chain(max) {
                    self.want(bound, &Type::Nat, "the bound");
                }
                self.regular_alone(body);
            }
            RegularKind::If(arms, otherwise) => {
                for (condition, branch) in arms {
                    self.want(condition, &Type::Bool, "the condition");
                    self.regular_alone(branch);
                }
                otherwise.iter().for_each(|branch| self.regular_alone(branch));
            }
            RegularKind::Case(of, branches) => {
                self.case(of, branches, regular.span, &mut |checker, body| checker.regular(body));
            }
            RegularKind::Let(bindings, body) => {
                let outer = self.variables.len();
                for binding in bindings {
                    self.want(&binding.value, &binding.type_of, "the value");
                    self.declare(&binding.name, &binding.type_of);
                }
                self.regular(body);
                // What the body binds stays, the declarations go.
                let kept = self.variables.split_off(outer + bindings.len());
                self.leave(outer);
                self.variables.extend(kept);
            }
            RegularKind::For { name, type_of, from, to, step, body } => {
                if !matches!(type_of, Type::Nat | Type::Int) {
                    self.error(
                        Diagnostic::error(format!(
                            "`for` counts with numbers, not with values of type {type_of}"
                        ))
                        .label(name.span, format!("has type {type_of}")),
                    );
                }
                self.want(from, &Type::Int, "the first value");
                self.want(to, &Type::Int, "the last value");
                step.iter().for_each(|step| self.want(step, &Type::Int, "the step"));
                let outer = self.variables.len();
                self.declare(name, type_of);
                // To count is a use.
                self.variables[outer].used = true;
                self.regular(body);
                self.leave(outer);
            }
            RegularKind::While(condition, body) => {
                self.want(condition, &Type::Bool, "the condition");
                self.regular_alone(body);
            }
            RegularKind::Until(body, condition) => {
                let outer = self.variables.len();
                self.regular(body);
                self.want(condition, &Type::Bool, "the condition");
                self.leave(outer);
            }
            RegularKind::Loop { parameters, results, body } => {
                for parameter in parameters {
                    self.want(&parameter.value, &parameter.type_of, "the first value");
                }
                let outer = self.variables.len();
                for parameter in parameters {
                    self.declare(&parameter.name, &parameter.type_of);
                }
                self.loops.push((
                    parameters.iter().map(|one| one.type_of.clone()).collect(),
                    results.iter().map(|(_, type_of)| type_of.clone()).collect(),
                ));
                self.regular(body);
                self.loops.pop();
                self.leave(outer);
                if !jumps(body) {
                    self.error(
                        Diagnostic::error("a path through this loop ends with neither `continue` nor `exit`")
                            .label(body.span, "not every path ends with one of them")
                            .help("end each path with `. continue` for another round or `. exit` for none"),
                    );
                }
                results.iter().for_each(|(name, type_of)| self.declare(name, type_of));
            }
            RegularKind::Continue(values) | RegularKind::Exit(values) => {
                let continues = matches!(regular.kind, RegularKind::Continue(_));
                let word = if continues { "continue" } else { "exit" };
                let Some((parameters, results)) = self.loops.last().cloned() else {
                    values.iter().for_each(|value| drop(self.type_of(value)));
                    return self.error(
                        Diagnostic::error(format!("`{word}` is outside a loop"))
                            .label(regular.span, "there is no enclosing loop")
                            .help("write it inside `loop … end loop`"),
                    );
                };
                let wanted = if continues { parameters } else { results };
                if values.len() != wanted.len() {
                    let counted = |count: usize, noun: &str| {
                        format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
                    };
                    let of = counted(wanted.len(), if continues { "parameter" } else { "result" });
                    let given = counted(values.len(), "value");
                    self.error(
                        Diagnostic::error(format!("`{word}` gives {given}, but the loop has {of}"))
                            .label(regular.span, "here"),
                    );
                }
                for (value, wanted) in values.iter().zip(&wanted) {
                    self.want(value, wanted, "the value");
                }
            }
        }
    }

    /// Checks a regular formula none of whose variables are known outside it.
    fn regular_alone(&mut self, regular: &Regular) {
        let outer = self.variables.len();
        self.regular(regular);
        self.leave(outer);
    }

    /// `exports` says whether bindings stay in scope: only where the predicate must hold for them to exist.
    fn action(&mut self, action: &Action, exports: bool) {
        let outer = self.variables.len();
        match &action.kind {
            ActionKind::Constant(_) | ActionKind::Tau | ActionKind::Exact(_) | ActionKind::Regex(..) => {}
            ActionKind::Pattern(pattern) => {
                for offer in &pattern.offers {
                    match offer {
                        Offer::Value(value) => {
                            self.type_of(value);
                        }
                        Offer::Bind(name, type_of) => self.declare(name, type_of),
                        Offer::Any | Offer::Rest => {}
                    }
                }
                if let Some(condition) = &pattern.condition {
                    self.want(condition, &Type::Bool, "the condition");
                }
            }
            ActionKind::And(all) => all.iter().for_each(|one| self.action(one, exports)),
            ActionKind::Not(of) => self.action(of, false),
            ActionKind::Or(all) => all.iter().for_each(|one| self.action(one, false)),
            ActionKind::Binary(_, left, right) => {
                self.action(left, false);
                self.action(right, false);
            }
        }
        if !exports {
            self.leave(outer);
        }
    }
}

/// Whether every way through a regular formula ends with `continue` or `exit`.
fn jumps(regular: &Regular) -> bool {
    match &regular.kind {
        RegularKind::Continue(_) | RegularKind::Exit(_) => true,
        RegularKind::Sequence(all) => all.iter().any(jumps),
        RegularKind::Choice(all) => all.iter().all(jumps),
        RegularKind::If(arms, otherwise) => {
            arms.iter().all(|(_, branch)| jumps(branch)) && otherwise.as_ref().is_some_and(|one| jumps(one))
        }
        RegularKind::Case(_, branches) => branches.iter().all(|branch| jumps(&branch.body)),
        RegularKind::Let(_, body) => jumps(body),
        _ => false,
    }
}
