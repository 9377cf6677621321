//! Patterns and expressions on their own, outside any body: for languages that share LNT's data.

use rustc_hash::FxHashSet;
use source::{Diagnostic, Span};

use super::body::{Body, Expect, Kind, check_bodies};
use super::{FROM_PATTERN, Globals, declare};
use crate::load::Parsed;
use crate::tree;
use crate::typed::{Builtin, Expression, ExpressionKind, Pattern, Scope, TypeId, Variable};

/// Checks modules as [`check`](super::check) does, and keeps what can be referred to.
pub(crate) fn check_parts(modules: &[Parsed], diagnostics: &mut Vec<Diagnostic>) -> Globals {
    let mut globals = declare::declare(modules, diagnostics);
    check_bodies(modules, &mut globals, &mut FxHashSet::default(), diagnostics);
    globals
}

/// Types a pattern for values of a type. Its variables are those given, each with the type of the place where it
/// stands; the types come with the pattern.
pub(crate) fn type_pattern(
    globals: &Globals,
    pattern: &tree::Pattern,
    variables: &[tree::Name],
    ty: TypeId,
    because: (Span, String),
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<(Pattern, Vec<TypeId>)> {
    let variables = variables.iter().map(|name| (name.clone(), FROM_PATTERN)).collect();
    let mut warned = FxHashSet::default();
    let mut body =
        Body::new(globals, 0, Kind::Function { result: None }, scope(variables), &mut warned, diagnostics);
    let expected = Expect::because(ty, because.0, because.1);
    let pattern = body.resolve_pattern(pattern, &expected, &mut Vec::new())?;
    Some((pattern, body.scope.variables.iter().map(|variable| variable.ty).collect()))
}

/// Types an expression over variables, or gives nothing where something is wrong with it.
pub(crate) fn type_expression(
    globals: &Globals,
    expression: &tree::Expression,
    variables: Vec<(tree::Name, TypeId)>,
    ty: TypeId,
) -> Option<Expression> {
    let (mut warned, mut diagnostics) = (FxHashSet::default(), Vec::new());
    let scope = scope(variables);
    let mut body =
        Body::new(globals, 0, Kind::Function { result: None }, scope, &mut warned, &mut diagnostics);
    let typed = body.resolve(expression, Some(&Expect::of(ty)));
    typed.filter(|_| !diagnostics.iter().any(Diagnostic::is_error))
}

/// What has to hold for a condition to hold, left to right: the operands of its outermost conjunctions.
pub(crate) fn conjuncts_of(condition: &Expression) -> Vec<&Expression> {
    let mut found = Vec::new();
    let mut todo = vec![condition];
    while let Some(expression) = todo.pop() {
        match &expression.kind {
            ExpressionKind::Builtin(Builtin::And | Builtin::AndThen, operands) => {
                todo.extend(operands.iter().rev());
            }
            _ => found.push(expression),
        }
    }
    found
}

fn scope(variables: Vec<(tree::Name, TypeId)>) -> Scope {
    let variables =
        variables.into_iter().map(|(name, ty)| Variable { name: name.text, span: name.span, ty }).collect();
    Scope { variables, ..Scope::default() }
}
