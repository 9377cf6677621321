//! Names and types: what the parser can't see. Speaks of everything it finds, once.

mod regular;

use source::{Diagnostic, Span, closest};

use crate::function::{Function, Kind};
use crate::tree::*;

/// Checks one formula; `macros` suggests a macro for an unknown name.
pub(crate) fn check(
    formula: &Formula,
    macros: &dyn Fn(&str) -> Option<String>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let mut checker = Checker {
        variables: Vec::new(),
        fixpoints: Vec::new(),
        loops: Vec::new(),
        negative: false,
        diagnostics,
        macros,
    };
    checker.formula(formula);
}

/// A data variable in scope.
struct Variable {
    name: Name,
    type_of: Type,
    used: bool,
}

/// A fixpoint variable in scope.
struct Fixpoint {
    name: Name,
    parameters: Vec<Type>,
    used: bool,
    /// Whether it was introduced under an odd number of negations.
    negative: bool,
    /// Set where it is seen from under an `equ`, `xor` or condition, which use both polarities.
    ambiguous: Option<Span>,
}

struct Checker<'a> {
    variables: Vec<Variable>,
    fixpoints: Vec<Fixpoint>,
    /// The loops around: the types of their parameters and of their results.
    loops: Vec<(Vec<Type>, Vec<Type>)>,
    negative: bool,
    diagnostics: &'a mut Vec<Diagnostic>,
    macros: &'a dyn Fn(&str) -> Option<String>,
}

/// The types that expressions mix: nat and int are one here, and a term may be a constant of any model type.
fn same(left: &Type, right: &Type) -> bool {
    matches!((left, right), (Type::Nat | Type::Int, Type::Nat | Type::Int) | (Type::Term(_), Type::Term(_)))
        || left == right
}

impl Checker<'_> {
    fn error(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn formula(&mut self, formula: &Formula) {
        match &formula.kind {
            FormulaKind::Data(expression) => self.want(expression, &Type::Bool, "this"),
            FormulaKind::Name(name, arguments) => self.name(name, arguments, formula.span),
            FormulaKind::Not(of) => {
                self.negative = !self.negative;
                self.formula(of);
                self.negative = !self.negative;
            }
            FormulaKind::And(all) | FormulaKind::Or(all) => all.iter().for_each(|one| self.formula(one)),
            FormulaKind::Binary(BinaryOperator::Implies, left, right) => {
                self.negative = !self.negative;
                self.formula(left);
                self.negative = !self.negative;
                self.formula(right);
            }
            FormulaKind::Binary(_, left, right) => self.both_ways(formula.span, |checker| {
                checker.formula(left);
                checker.formula(right);
            }),
            FormulaKind::Possible(regular, body) | FormulaKind::Necessary(regular, body) => {
                let outer = self.variables.len();
                self.regular(regular);
                self.formula(body);
                self.leave(outer);
            }
            FormulaKind::Forever(regular) | FormulaKind::Saturated(regular) => {
                let outer = self.variables.len();
                self.regular(regular);
                self.leave(outer);
                if nullable(regular) {
                    self.error(
                        Diagnostic::warning("this can be repeated for ever without a step")
                            .label(regular.span, "this also matches the empty sequence")
                            .help("make sure that at least one step is taken: write `R+` instead of `R*`"),
                    );
                }
            }
            FormulaKind::Fixpoint { name, parameters, body, .. } => {
                for parameter in parameters {
                    self.want(&parameter.value, &parameter.type_of, "the first value");
                }
                let outer = self.variables.len();
                for parameter in parameters {
                    self.declare(&parameter.name, &parameter.type_of);
                }
                self.fixpoints.push(Fixpoint {
                    name: name.clone(),
                    parameters: parameters.iter().map(|one| one.type_of.clone()).collect(),
                    used: false,
                    negative: self.negative,
                    ambiguous: None,
                });
                self.formula(body);
                let fixpoint = self.fixpoints.pop().expect("it was just pushed");
                if !fixpoint.used {
                    self.error(
                        Diagnostic::warning(format!("the fixpoint variable `{}` is never used", name.text))
                            .label(name.span, "the fixpoint has no effect")
                            .help(format!("use `{}` in the body, or remove the `mu` or `nu`", name.text)),
                    );
                }
                self.leave(outer);
            }
            FormulaKind::Quantified { variables, body, .. } => {
                let outer = self.variables.len();
                for domain in variables {
                    match &domain.values {
                        DomainValues::Bool => {}
                        DomainValues::Range(from, to) => {
                            if !matches!(domain.type_of, Type::Nat | Type::Int) {
                                self.error(
                                    Diagnostic::error(format!(
                                        "a range holds numbers, not values of type {}",
                                        domain.type_of
                                    ))
                                    .label(from.span.to(to.span), "a range")
                                    .label(domain.name.span, format!("has type {}", domain.type_of))
                                    .help("list the values: `{ A, B, C }`"),
                                );
                            } else {
                                self.want(from, &domain.type_of, "the bound");
                                self.want(to, &domain.type_of, "the bound");
                            }
                        }
                        DomainValues::Set(all) => {
                            all.iter().for_each(|one| self.want(one, &domain.type_of, "the value"));
                        }
                    }
                    self.declare(&domain.name, &domain.type_of);
                }
                self.formula(body);
                self.leave(outer);
            }
            FormulaKind::If(arms, otherwise) => {
                for (condition, branch) in arms {
                    self.both_ways(condition.span, |checker| checker.formula(condition));
                    self.formula(branch);
                }
                self.formula(otherwise);
            }
            FormulaKind::Let(bindings, body) => {
                let outer = self.variables.len();
                for binding in bindings {
                    self.want(&binding.value, &binding.type_of, "the value");
                    self.declare(&binding.name, &binding.type_of);
                }
                self.formula(body);
                self.leave(outer);
            }
            FormulaKind::Case(of, branches) => {
                self.case(of, branches, formula.span, &mut |checker, body| checker.formula(body));
            }
        }
    }

    /// A case: its patterns have the type of its value, and together cover it.
    fn case<T>(
        &mut self,
        of: &Expression,
        branches: &[Branch<T>],
        span: Span,
        body: &mut dyn FnMut(&mut Self, &T),
    ) {
        let found = self.type_of(of);
        let mut truths = [false; 2];
        let mut covered = false;
        for branch in branches {
            let outer = self.variables.len();
            let always = branch.condition.is_none();
            match &branch.pattern {
                CasePattern::Any => covered |= always,
                CasePattern::Bind(name, type_of) => {
                    if let Some(found) = found.as_ref().filter(|found| !same(found, type_of)) {
                        self.error(
                            Diagnostic::error(format!("expected a value of type {type_of}, found {found}"))
                                .label(of.span, format!("the value has type {found}"))
                                .label(name.span, format!("has type {type_of}")),
                        );
                    }
                    self.declare(name, type_of);
                    // A nat is no pattern for negative numbers.
                    covered |= always && !(*type_of == Type::Nat && found == Some(Type::Int));
                }
                CasePattern::Values(values) => {
                    for value in values {
                        match &found {
                            Some(found) => self.want(value, &found.clone(), "the pattern"),
                            None => drop(self.type_of(value)),
                        }
                        if let ExpressionKind::Bool(truth) = value.kind {
                            truths[usize::from(truth)] |= always;
                        }
                    }
                }
            }
            if let Some(condition) = &branch.condition {
                self.want(condition, &Type::Bool, "the condition");
            }
            body(self, &branch.body);
            self.leave(outer);
        }
        if !covered && truths != [true; 2] {
            self.error(
                Diagnostic::error("this `case` does not cover all values")
                    .label(span, "some values have no branch")
                    .help("add a last branch `| any -> …` for the others"),
            );
        }
    }

    /// Checks a part that is used both as it is and negated.
    fn both_ways(&mut self, span: Span, inside: impl FnOnce(&mut Self)) {
        let before: Vec<Option<Span>> = self.fixpoints.iter().map(|one| one.ambiguous).collect();
        self.fixpoints.iter_mut().for_each(|one| one.ambiguous = one.ambiguous.or(Some(span)));
        inside(self);
        self.fixpoints.iter_mut().zip(before).for_each(|(one, before)| one.ambiguous = before);
    }

    /// A name where a formula is expected: a fixpoint variable, or data of type bool.
    fn name(&mut self, name: &Name, arguments: &[Expression], span: Span) {
        let Some(at) = self.fixpoints.iter().rposition(|one| one.name.text == name.text) else {
            let variable = self.variables.iter().any(|one| one.name.text == name.text);
            if variable || Function::find(&name.text).is_some() {
                let kind = match arguments.is_empty() {
                    true => ExpressionKind::Name(name.text.clone()),
                    false => ExpressionKind::Call(name.text.clone(), arguments.to_vec()),
                };
                return self.want(&Expression { kind, span }, &Type::Bool, "this");
            }
            return self.unknown(name);
        };
        self.fixpoints[at].used = true;
        let Fixpoint { name: declared, negative, ambiguous, parameters, .. } = &self.fixpoints[at];
        let (declared, negative, ambiguous, wanted) =
            (declared.clone(), *negative, *ambiguous, parameters.clone());
        if let Some(place) = ambiguous {
            self.error(
                Diagnostic::error(format!("`{}` is used both as it is and negated", name.text))
                    .label(name.span, "used here")
                    .label(place, "this uses its operands both ways")
                    .note("a fixpoint exists only if its variable is under an even number of negations")
                    .help("replace `equ`, `xor` or the condition of the `if` by `and`, `or` and `implies`"),
            );
        } else if negative != self.negative {
            self.error(
                Diagnostic::error(format!("`{}` is used under an odd number of negations", name.text))
                    .label(name.span, "negated here")
                    .label(declared.span, "introduced here")
                    .note("a fixpoint exists only if its variable is under an even number of negations; the left side of `implies` counts as one"),
            );
        }
        if arguments.len() != wanted.len() {
            let list: Vec<String> = wanted.iter().map(Type::to_string).collect();
            let message =
                format!("`{}` takes {}, but gets {}", name.text, counted(wanted.len()), arguments.len());
            let diagnostic = Diagnostic::error(message).label(span, "called here").label(
                declared.span,
                if list.is_empty() {
                    "has no parameters".to_owned()
                } else {
                    format!("takes ({})", list.join(", "))
                },
            );
            self.error(diagnostic);
        }
        for (argument, wanted) in arguments.iter().zip(&wanted) {
            self.want(argument, wanted, "the argument");
        }
    }

    fn unknown(&mut self, name: &Name) {
        let known =
            self.fixpoints.iter().map(|one| &one.name).chain(self.variables.iter().map(|one| &one.name));
        let known: Vec<&str> = known.map(|name| name.text.as_str()).collect();
        let functions = Function::ALL.iter().map(|(function, ..)| *function);
        let nearest = closest(&name.text, known.into_iter().chain(functions)).map(str::to_owned);
        let nearest = nearest.or_else(|| (self.macros)(&name.text));
        let mut diagnostic = Diagnostic::error(format!("unknown name `{}`", name.text))
            .label(name.span, "not a fixpoint variable, a data variable or a macro");
        diagnostic = match nearest {
            Some(nearest) => diagnostic.help(format!("did you mean `{nearest}`?")),
            None if !self.fixpoints.is_empty() => {
                let names: Vec<String> =
                    self.fixpoints.iter().map(|one| format!("`{}`", one.name.text)).collect();
                diagnostic.note(format!("the fixpoint variables known here are {}", names.join(", ")))
            }
            None => diagnostic
                .help(format!("for the label, write `< \"{}\" > true` (the step is possible)", name.text)),
        };
        self.error(diagnostic);
    }

    fn declare(&mut self, name: &Name, type_of: &Type) {
        self.variables.push(Variable { name: name.clone(), type_of: type_of.clone(), used: false });
    }

    /// Ends the scope of the variables from `outer` on.
    fn leave(&mut self, outer: usize) {
        for variable in self.variables.split_off(outer) {
            if !variable.used && !variable.name.text.starts_with('_') {
                self.diagnostics.push(
                    Diagnostic::warning(format!("the variable `{}` is never used", variable.name.text))
                        .label(variable.name.span, "given a value here")
                        .help(format!(
                            "write `_{}` if that is intended, or `?any` in a value pattern",
                            variable.name.text
                        )),
                );
            }
        }
    }

    fn want(&mut self, expression: &Expression, wanted: &Type, what: &str) {
        let Some(found) = self.type_of(expression) else { return };
        if same(&found, wanted) {
            return;
        }
        let mut diagnostic = Diagnostic::error(format!("expected a value of type {wanted}, found {found}"))
            .label(expression.span, format!("{what} has type {found}"));
        if *wanted == Type::Bool {
            diagnostic = match &expression.kind {
                ExpressionKind::Text(text) => diagnostic.help(format!(
                    "a label alone says nothing about a state: write `< \"{text}\" > true` (the step is possible) or `[ \"{text}\" ] false` (it is not)"
                )),
                ExpressionKind::Number(_) => diagnostic.help("compare it with something: `x = 1`"),
                _ => diagnostic,
            };
        }
        self.error(diagnostic);
    }

    fn type_of(&mut self, expression: &Expression) -> Option<Type> {
        match &expression.kind {
            ExpressionKind::Bool(_) => Some(Type::Bool),
            ExpressionKind::Number(_) => Some(Type::Nat),
            ExpressionKind::Text(_) => Some(Type::String),
            ExpressionKind::Real(_) => Some(Type::Real),
            ExpressionKind::Char(_) => Some(Type::Char),
            ExpressionKind::Of(of, type_of) => {
                self.want(of, type_of, "this");
                Some(type_of.clone())
            }
            ExpressionKind::Wrong => None,
            ExpressionKind::Name(name) => {
                if let Some(variable) = self.variables.iter_mut().rev().find(|one| one.name.text == *name) {
                    variable.used = true;
                    return Some(variable.type_of.clone());
                }
                if is_constant(name) && !self.fixpoints.iter().any(|one| one.name.text == *name) {
                    return Some(Type::Term("a model type".to_owned()));
                }
                self.unknown_data(name, expression.span);
                None
            }
            ExpressionKind::Call(name, arguments) => {
                let types: Vec<Option<Type>> = arguments.iter().map(|one| self.type_of(one)).collect();
                if let Some(&(_, _, wanted, result)) = Function::find(name) {
                    if types.len() != wanted.len() {
                        self.error(
                            Diagnostic::error(format!(
                                "`{name}` takes {}, but gets {}",
                                counted(wanted.len()),
                                types.len()
                            ))
                            .label(expression.span, "called here"),
                        );
                    }
                    let first = types.first().cloned().flatten();
                    for (at, (argument, found)) in arguments.iter().zip(types).enumerate() {
                        let Some(found) = found else { continue };
                        let Some(wanted) = wanted.get(at) else { break };
                        // Numbers of one call have one type.
                        let mixed = *wanted == Kind::Number
                            && first.as_ref().is_some_and(|first| !same(first, &found));
                        if mixed || !wanted.accepts(&found) {
                            let name = match (mixed, &first) {
                                (true, Some(first)) => first.to_string(),
                                _ => wanted.name().to_owned(),
                            };
                            self.error(
                                Diagnostic::error(format!("expected a value of type {name}, found {found}"))
                                    .label(argument.span, format!("the argument has type {found}")),
                            );
                        }
                    }
                    return Some(result.result(first.as_ref()));
                }
                if is_constant(name) || name == "{}" {
                    return Some(Type::Term("a model type".to_owned()));
                }
                self.unknown_data(name, expression.span);
                None
            }
            ExpressionKind::Unary(UnaryOperator::Not, of) => {
                self.want(of, &Type::Bool, "the operand");
                Some(Type::Bool)
            }
            ExpressionKind::Unary(UnaryOperator::Minus, of) => {
                let found = self.type_of(of)?;
                if found == Type::Real {
                    return Some(found);
                }
                if !same(&found, &Type::Int) {
                    self.error(
                        Diagnostic::error(format!("expected a value of type int, found {found}"))
                            .label(of.span, format!("the operand has type {found}")),
                    );
                }
                Some(Type::Int)
            }
            ExpressionKind::Binary(operator, left, right) => {
                self.binary(*operator, left, right, expression.span)
            }
        }
    }

    fn binary(
        &mut self,
        operator: BinaryOperator,
        left: &Expression,
        right: &Expression,
        span: Span,
    ) -> Option<Type> {
        use BinaryOperator as Op;
        match operator {
            Op::Implies | Op::Equ | Op::Xor | Op::Or | Op::And => {
                self.want(left, &Type::Bool, "the operand");
                self.want(right, &Type::Bool, "the operand");
                Some(Type::Bool)
            }
            Op::Plus | Op::Minus | Op::Times | Op::Divide | Op::Modulo => {
                let found = self.type_of(left);
                if operator == Op::Plus && found == Some(Type::String) {
                    self.want(right, &Type::String, "the operand");
                    return Some(Type::String);
                }
                if found == Some(Type::Real) && operator != Op::Modulo {
                    self.want(right, &Type::Real, "the operand");
                    return Some(Type::Real);
                }
                if let Some(found) = found.filter(|found| !same(found, &Type::Int)) {
                    self.error(
                        Diagnostic::error(format!(
                            "`{operator}` is for numbers, not for values of type {found}"
                        ))
                        .label(left.span, format!("has type {found}")),
                    );
                }
                self.want(right, &Type::Int, "the operand");
                Some(Type::Int)
            }
            _ => {
                let (of_left, of_right) = (self.type_of(left)?, self.type_of(right)?);
                let ordered = !matches!(operator, Op::Equal | Op::Different);
                if !same(&of_left, &of_right) {
                    self.error(
                        Diagnostic::error(format!(
                            "values of types {of_left} and {of_right} can't be compared"
                        ))
                        .label(span, "compared here")
                        .label(left.span, format!("has type {of_left}"))
                        .label(right.span, format!("has type {of_right}")),
                    );
                } else if ordered && matches!(of_left, Type::Bool | Type::Term(_)) {
                    self.error(
                        Diagnostic::error(format!("`{operator}` needs an order, which {of_left} does not have"))
                            .label(span, "compared here")
                            .help("numbers and strings have an order; other values can be compared with `=` and `<>`"),
                    );
                }
                Some(Type::Bool)
            }
        }
    }

    fn unknown_data(&mut self, name: &str, span: Span) {
        let known: Vec<&str> = self.variables.iter().map(|one| one.name.text.as_str()).collect();
        let functions = Function::ALL.iter().map(|(function, ..)| *function);
        let nearest = closest(name, known.into_iter().chain(functions)).map(str::to_owned);
        let is_fixpoint = self.fixpoints.iter().any(|one| one.name.text == name);
        let mut diagnostic = if is_fixpoint {
            Diagnostic::error(format!("`{name}` is a fixpoint variable, not a data value"))
                .label(span, "expected data")
        } else {
            Diagnostic::error(format!("unknown variable `{name}`"))
                .label(span, "not bound here")
                .note("a variable is known to the right of the `?x:T`, `let`, quantifier or parameter that binds it, but not outside a repetition or choice; constants of the model are written in capitals, as in labels")
        };
        if let Some(nearest) = nearest {
            diagnostic = diagnostic.help(format!("did you mean `{nearest}`?"));
        }
        self.error(diagnostic);
    }
}

fn counted(arguments: usize) -> String {
    format!("{arguments} argument{}", if arguments == 1 { "" } else { "s" })
}

/// Constants of the model's types are printed in capitals.
pub(crate) fn is_constant(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_uppercase())
}

/// Whether the empty sequence is in a regular formula, whatever the values of its variables.
pub(crate) fn nullable(regular: &Regular) -> bool {
    match &regular.kind {
        RegularKind::Nil => true,
        RegularKind::Action(_) => false,
        RegularKind::Sequence(all) => all.iter().all(nullable),
        RegularKind::Choice(all) => all.iter().any(nullable),
        RegularKind::Repeat { body, min, .. } => *min == 0 || nullable(body),
        RegularKind::Counted { body, .. } | RegularKind::Let(_, body) => nullable(body),
        RegularKind::If(arms, otherwise) => {
            arms.iter().all(|(_, branch)| nullable(branch))
                && otherwise.as_ref().is_none_or(|one| nullable(one))
        }
        RegularKind::Case(_, branches) => branches.iter().all(|branch| nullable(&branch.body)),
        // How often these go round depends on values.
        RegularKind::For { .. }
        | RegularKind::While(..)
        | RegularKind::Until(..)
        | RegularKind::Loop { .. }
        | RegularKind::Continue(_)
        | RegularKind::Exit(_) => false,
    }
}
