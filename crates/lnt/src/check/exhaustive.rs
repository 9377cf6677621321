//! Whether a `case` covers all values, and whether each of its branches can be reached.
//!
//! The algorithm of L. Maranget, "Warnings for pattern matching" (JFP 2007), on matrices of patterns. It is
//! exponential in the worst case, so it has a budget, after which it says nothing rather than something wrong.

use source::{Diagnostic, Span};

use super::{ERROR, Globals};
use crate::typed::{CaseBranch, ConstructorId, Expression, Literal, Pattern, PatternKind, TypeId, TypeKind};

const BUDGET: usize = 200_000;
const COLUMN_LIMIT: usize = 300;
const DEPTH_LIMIT: usize = 1000;

/// Reports what is missing and what is useless; yields whether every value is covered for sure.
pub(super) fn check(
    globals: &Globals,
    subjects: &[Expression],
    branches: &[CaseBranch],
    span: Span,
    diagnostics: &mut Vec<Diagnostic>,
) -> bool {
    let types: Vec<TypeId> = subjects.iter().map(|subject| subject.ty).collect();
    let mut matrix = Matrix { globals, budget: BUDGET, depth: 0 };
    let alternatives = branches.iter().flat_map(|branch| &branch.alternatives);
    let shapes: Vec<Vec<Shape>> =
        alternatives.clone().map(|alternative| alternative.patterns.iter().map(shape).collect()).collect();
    let mut rows: Vec<Row> = Vec::new();
    for (alternative, shapes) in alternatives.clone().zip(&shapes) {
        let row: Row = shapes.iter().collect();
        if matrix.useful(&rows, &row, &types) == Some(false) {
            diagnostics.push(
                Diagnostic::warning("this branch is never taken")
                    .several("branches of `case` are never taken")
                    .label(alternative.span, "earlier branches cover everything that it matches"),
            );
        }
        if alternative.guard.is_none() {
            rows.push(row);
        }
    }
    matrix.budget = BUDGET;
    match matrix.missing(&rows, &types) {
        None => false,
        Some(None) => true,
        Some(Some(example)) => {
            let keyword = Span { end: span.start + 4, ..span };
            let guarded = alternatives.clone().any(|one| one.guard.is_some());
            let mut diagnostic =
                Diagnostic::warning(format!("this `case` does not cover `{}`", example.join(", ")))
                    .several("`case` statements do not cover all values")
                    .label(keyword, "a value that no branch matches is a run-time error")
                    .help(format!("add a branch `| {} -> …`", example.join(", ")));
            if guarded {
                diagnostic =
                    diagnostic.note("branches with `where` do not count, as their condition may be false");
            }
            diagnostics.push(diagnostic);
            false
        }
    }
}

/// What a pattern looks at.
#[derive(Clone, Debug, PartialEq)]
enum Head {
    Constructor(ConstructorId),
    Nil,
    Cons,
    Literal(Literal),
    Array,
    Computed(Span),
}

/// A pattern without variables.
#[derive(Clone, Debug)]
enum Shape {
    Any,
    Of(Head, Vec<Shape>),
}

static ANY: Shape = Shape::Any;

/// One shape for each value that is looked at.
type Row<'s> = Vec<&'s Shape>;

fn shape(pattern: &Pattern) -> Shape {
    match &pattern.kind {
        PatternKind::Variable(_) | PatternKind::Wildcard => Shape::Any,
        PatternKind::As(_, inner) => shape(inner),
        PatternKind::Literal(literal) => Shape::Of(Head::Literal(literal.clone()), Vec::new()),
        PatternKind::Constructor(id, fields) => {
            Shape::Of(Head::Constructor(*id), fields.iter().map(shape).collect())
        }
        PatternKind::Nil => Shape::Of(Head::Nil, Vec::new()),
        PatternKind::Array(elements) => Shape::Of(Head::Array, elements.iter().map(shape).collect()),
        // What it equals is not known here: it covers nothing, and nothing covers it but a pattern for all values.
        PatternKind::Equal(value) => Shape::Of(Head::Computed(value.span), Vec::new()),
        PatternKind::Cons(head, tail) => Shape::Of(Head::Cons, vec![shape(head), shape(tail)]),
    }
}

struct Matrix<'a> {
    globals: &'a Globals,
    budget: usize,
    /// Every column is one level of recursion.
    depth: usize,
}

impl Matrix<'_> {
    fn spend(&mut self, rows: &[Row], columns: usize) -> Option<()> {
        self.budget = self.budget.checked_sub(rows.len() * columns / 8 + 1)?;
        (columns <= COLUMN_LIMIT && self.depth < DEPTH_LIMIT).then_some(())
    }

    /// All heads of a type, where there are finitely many.
    fn heads(&self, ty: TypeId) -> Option<Vec<Head>> {
        if ty == ERROR {
            return None;
        }
        match &self.globals.program[ty].kind {
            TypeKind::Bool => {
                Some(vec![Head::Literal(Literal::Bool(false)), Head::Literal(Literal::Bool(true))])
            }
            TypeKind::Constructed(ids) => Some(ids.iter().map(|&id| Head::Constructor(id)).collect()),
            TypeKind::List { .. } | TypeKind::Set { .. } => Some(vec![Head::Nil, Head::Cons]),
            TypeKind::Range { lower, upper, .. }
            | TypeKind::Nat { lower, upper }
            | TypeKind::Int { lower, upper }
                if upper.saturating_sub(*lower) < 256 =>
            {
                let char = self.globals.base(ty) == TypeId::CHAR;
                let values = (*lower..=*upper).map(|value| match char {
                    true => Literal::Char(u32::try_from(value).ok().and_then(char::from_u32).unwrap_or('?')),
                    false => Literal::Integer(value),
                });
                Some(values.map(Head::Literal).collect())
            }
            TypeKind::Array { lower, upper, .. } if upper.saturating_sub(*lower) < COLUMN_LIMIT as i64 => {
                Some(vec![Head::Array])
            }
            TypeKind::Predicate { base, .. } => self.heads(*base),
            _ => None,
        }
    }

    fn fields(&self, head: &Head, ty: TypeId) -> Vec<TypeId> {
        match head {
            Head::Constructor(id) => self.globals.program[*id].fields.iter().map(|field| field.ty).collect(),
            Head::Cons => match self.globals.program[ty].kind {
                TypeKind::List { element, .. } | TypeKind::Set { element, .. } => vec![element, ty],
                _ => vec![ERROR, ty],
            },
            Head::Array => match self.globals.program[ty].kind {
                TypeKind::Array { lower, upper, element } => {
                    vec![element; upper.saturating_sub(lower).saturating_add(1).max(0) as usize]
                }
                _ => Vec::new(),
            },
            Head::Nil | Head::Literal(_) | Head::Computed(_) => Vec::new(),
        }
    }

    /// The rows that match a value with this head, with its fields in place of the first column.
    fn specialise<'s>(rows: &[Row<'s>], head: &Head, fields: usize) -> Vec<Row<'s>> {
        let mut result = Vec::new();
        for row in rows {
            let mut specialised: Row = match row[0] {
                Shape::Any => vec![&ANY; fields],
                Shape::Of(found, inner) if found == head => inner.iter().collect(),
                Shape::Of(..) => continue,
            };
            specialised.extend(&row[1..]);
            result.push(specialised);
        }
        result
    }

    /// The rows that match a value whatever the head of its first column.
    fn default<'s>(rows: &[Row<'s>]) -> Vec<Row<'s>> {
        rows.iter().filter(|row| matches!(row[0], Shape::Any)).map(|row| row[1..].to_vec()).collect()
    }

    fn used<'s>(rows: &[Row<'s>]) -> Vec<&'s Head> {
        let mut heads: Vec<&Head> = Vec::new();
        for row in rows {
            if let Shape::Of(head, _) = row[0]
                && !heads.contains(&head)
            {
                heads.push(head);
            }
        }
        heads
    }

    /// Whether a row matches something that the rows before it don't. `None` when the budget is spent.
    fn useful<'s>(&mut self, rows: &[Row<'s>], row: &[&'s Shape], types: &[TypeId]) -> Option<bool> {
        self.spend(rows, row.len())?;
        self.depth += 1;
        let result = self.useful_column(rows, row, types);
        self.depth -= 1;
        result
    }

    fn useful_column<'s>(&mut self, rows: &[Row<'s>], row: &[&'s Shape], types: &[TypeId]) -> Option<bool> {
        let Some((first, rest)) = row.split_first() else { return Some(rows.is_empty()) };
        let specialised = |matrix: &mut Self, head: &Head, mut row: Row<'s>| {
            let fields = matrix.fields(head, types[0]);
            let rows = Self::specialise(rows, head, fields.len());
            row.extend(rest);
            let types: Vec<TypeId> = fields.into_iter().chain(types[1..].iter().copied()).collect();
            matrix.useful(&rows, &row, &types)
        };
        match first {
            Shape::Of(head, inner) => specialised(self, head, inner.iter().collect()),
            Shape::Any => {
                let used = Self::used(rows);
                let all = self.heads(types[0]).filter(|all| all.iter().all(|head| used.contains(&head)));
                let Some(all) = all else { return self.useful(&Self::default(rows), rest, &types[1..]) };
                for head in &all {
                    let fields = self.fields(head, types[0]).len();
                    if specialised(self, head, vec![&ANY; fields])? {
                        return Some(true);
                    }
                }
                Some(false)
            }
        }
    }

    /// A value that no row matches, as patterns. The outer `None` when the budget is spent.
    fn missing(&mut self, rows: &[Row], types: &[TypeId]) -> Option<Option<Vec<String>>> {
        self.spend(rows, types.len())?;
        self.depth += 1;
        let result = self.missing_column(rows, types);
        self.depth -= 1;
        result
    }

    fn missing_column(&mut self, rows: &[Row], types: &[TypeId]) -> Option<Option<Vec<String>>> {
        let Some((&ty, rest)) = types.split_first() else {
            return Some(if rows.is_empty() { Some(Vec::new()) } else { None });
        };
        let used = Self::used(rows);
        let all = self.heads(ty);
        let absent = match &all {
            Some(all) => all.iter().find(|head| !used.contains(head)).cloned(),
            None => self.fresh(ty, &used),
        };
        if all.is_none() || absent.is_some() {
            let Some(found) = self.missing(&Self::default(rows), rest)? else { return Some(None) };
            let first = match absent {
                Some(head) if !used.is_empty() || all.as_ref().is_some_and(|all| all.len() == 1) => {
                    let fields = self.fields(&head, ty).len();
                    self.written(&head, &vec!["any".to_owned(); fields])
                }
                _ => "any".to_owned(),
            };
            return Some(Some(std::iter::once(first).chain(found).collect()));
        }
        for head in all.unwrap_or_default() {
            let fields = self.fields(&head, ty);
            let count = fields.len();
            let rows = Self::specialise(rows, &head, count);
            let types: Vec<TypeId> = fields.into_iter().chain(rest.iter().copied()).collect();
            if let Some(found) = self.missing(&rows, &types)? {
                let first = self.written(&head, &found[..count]);
                return Some(Some(std::iter::once(first).chain(found[count..].iter().cloned()).collect()));
            }
        }
        Some(None)
    }

    /// A number that none of the rows mentions.
    fn fresh(&self, ty: TypeId, used: &[&Head]) -> Option<Head> {
        match self.globals.base(ty) {
            TypeId::NAT | TypeId::INT => {
                (0..).map(|value| Head::Literal(Literal::Integer(value))).find(|head| !used.contains(&head))
            }
            _ => None,
        }
    }

    fn written(&self, head: &Head, fields: &[String]) -> String {
        let name = match head {
            Head::Constructor(id) => self.globals.program[*id].name.clone(),
            Head::Array => return format!("{{{}}}", fields.join(", ")),
            Head::Computed(_) => "any".to_owned(),
            Head::Nil => "{}".to_owned(),
            Head::Cons => "cons".to_owned(),
            Head::Literal(Literal::Bool(value)) => value.to_string(),
            Head::Literal(Literal::Integer(value)) => value.to_string(),
            Head::Literal(Literal::Real(value)) => value.to_string(),
            Head::Literal(Literal::Char(value)) => format!("'{}'", value.escape_default()),
            Head::Literal(Literal::String(value)) => format!("\"{}\"", value.escape_default()),
        };
        if fields.is_empty() { name } else { format!("{name} ({})", fields.join(", ")) }
    }
}
