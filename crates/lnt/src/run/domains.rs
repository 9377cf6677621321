//! All values of a type or of a pattern, for offers that nobody fixes.

use std::sync::Arc;

use model::ModelError;
use source::Span;

use super::machine::Machine;
use super::values::{TooMany, Values};
use crate::compile::types::Kind;
use crate::typed::{Literal, Pattern, PatternKind, TypeId};

/// Why values can't be listed.
#[derive(Debug)]
pub enum Unlisted {
    /// There are too many.
    TooMany(TooMany),
    /// The condition of a predicate type can't be evaluated.
    Error(ModelError),
}

/// All values of a type, or why they can't be offered.
pub(super) fn domain(machine: &mut Machine<'_>, ty: TypeId, span: Span) -> Result<Arc<[u32]>, ModelError> {
    all_values(machine, ty).map_err(|unlisted| offer_error(machine, unlisted, span))
}

/// All values of a type that one of them is chosen of, or why they can't be listed.
pub(super) fn chosen_domain(
    machine: &mut Machine<'_>,
    ty: TypeId,
    span: Span,
) -> Result<Arc<[u32]>, ModelError> {
    all_values(machine, ty).map_err(|unlisted| {
        let help =
            "say which ones with a list or set: `any … where member (x, l)`; or choose from a smaller type";
        unlisted_error(machine, unlisted, span, "chosen", help)
    })
}

/// All values of a type, in ascending order.
pub fn all_values(machine: &mut Machine<'_>, ty: TypeId) -> Result<Arc<[u32]>, Unlisted> {
    match machine.values.known_domain(ty) {
        Some(known) => Ok(known),
        None => with_predicates(machine, |values, accepts| values.domain(ty, accepts)),
    }
}

pub(super) fn pattern_domain(
    machine: &mut Machine<'_>,
    pattern: &Pattern,
    span: Span,
) -> Result<Arc<[u32]>, ModelError> {
    let listed = with_predicates(machine, |values, accepts| {
        values.pattern_domain(pattern, &mut literal_value, accepts)
    });
    listed.map_err(|unlisted| offer_error(machine, unlisted, span))
}

pub fn literal_value(values: &mut Values<'_>, pattern: &Pattern) -> u32 {
    let PatternKind::Literal(literal) = &pattern.kind else { return 0 };
    match (literal, values.kind(pattern.ty)) {
        (Literal::Bool(value), _) => u32::from(*value),
        (Literal::Integer(value), Kind::Number { offset, .. }) => (value - offset) as u32,
        (Literal::Integer(value), _) => *value as u32,
        (Literal::Char(value), _) => *value as u32,
        (Literal::Real(value), _) => values.intern_real(*value),
        (Literal::String(value), _) => values.intern_text(value),
    }
}

/// Enumerates values with a helper that evaluates the conditions of predicate types on a machine of its own.
fn with_predicates(
    machine: &mut Machine<'_>,
    enumerate: impl FnOnce(
        &mut Values<'_>,
        &mut dyn FnMut(&mut Values<'_>, TypeId, u32) -> bool,
    ) -> Result<Arc<[u32]>, TooMany>,
) -> Result<Arc<[u32]>, Unlisted> {
    let mut helper: Option<Machine<'_>> = None;
    let mut failure = None;
    let (model_machine, values) = machine.split();
    let mut accepts = |values: &mut Values<'_>, ty: TypeId, value: u32| {
        let Some(function) = values.types[ty.index()].predicate else { return true };
        let helper = helper.get_or_insert_with(|| model_machine.machine());
        let words = values.thaw(ty, value);
        helper.call(function, &words).unwrap_or_else(|error| {
            failure.get_or_insert(error);
            0
        }) != 0
    };
    let result = enumerate(values, &mut accepts);
    match failure {
        Some(error) => Err(Unlisted::Error(error)),
        None => result.map_err(Unlisted::TooMany),
    }
}

fn offer_error(machine: &Machine<'_>, unlisted: Unlisted, span: Span) -> ModelError {
    let help = "synchronise with a process that sends a value, or narrow the offer with a pattern";
    unlisted_error(machine, unlisted, span, "received", help)
}

fn unlisted_error(
    machine: &Machine<'_>,
    unlisted: Unlisted,
    span: Span,
    what_happens: &str,
    help: &str,
) -> ModelError {
    let (ty, reason) = match unlisted {
        Unlisted::Error(error) => return error,
        Unlisted::TooMany(too_many) => (too_many.ty(), too_many.reason()),
    };
    let name = &machine.values.program[ty].name;
    ModelError {
        message: format!("any value of type {name} may be {what_happens} here, but that type {reason}"),
        span: Some(span),
        help: Some(help.into()),
        during: None,
    }
}
