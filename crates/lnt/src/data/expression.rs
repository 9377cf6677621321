//! Expressions and patterns as they are written.

use source::Span;

use crate::tree::{self, ActualKind, ExpressionKind, Name, PatternKind, key};

/// An expression as written.
#[derive(Clone, Debug)]
pub struct Expression(pub(crate) tree::Expression);

/// What a value is compared with, as written.
#[derive(Clone, Debug)]
pub struct Inscription(pub(crate) Inscribed);

#[derive(Clone, Debug)]
pub(crate) enum Inscribed {
    /// A pattern, or an expression that looks like one.
    Pattern(tree::Pattern),
    /// An expression.
    Expression(tree::Expression),
}

impl Expression {
    /// A name as an expression.
    pub fn of_name(name: &Name) -> Self {
        Self(tree::Expression { kind: ExpressionKind::Name(name.clone()), span: name.span })
    }

    /// Where it is written.
    pub fn span(&self) -> Span {
        self.0.span
    }

    /// The name that it consists of, if it is one.
    pub fn name(&self) -> Option<&Name> {
        match &self.0.kind {
            ExpressionKind::Name(name) => Some(name),
            _ => None,
        }
    }

    /// The two sides of `a == b`.
    pub fn equation(&self) -> Option<(Expression, Expression)> {
        let ExpressionKind::Call { name, arguments, infix: true, .. } = &self.0.kind else { return None };
        let sides: Vec<&tree::Expression> = arguments
            .values
            .iter()
            .filter_map(|actual| match &actual.kind {
                ActualKind::Value(value) => Some(value),
                _ => None,
            })
            .collect();
        match (name.text.as_str(), sides.as_slice()) {
            ("==" | "=", [left, right]) => Some((Self((*left).clone()), Self((*right).clone()))),
            _ => None,
        }
    }

    /// The names in it that stand for values: variables, and functions without parameters.
    pub fn names(&self) -> Vec<&Name> {
        let mut names = Vec::new();
        self.walk(&mut |expression| {
            if let ExpressionKind::Name(name) = &expression.kind {
                names.push(name);
            }
        });
        names
    }

    /// The outermost part that is written at a span.
    pub(super) fn part(&self, span: Span) -> Option<Expression> {
        let mut found = None;
        self.walk(&mut |expression| {
            if expression.span == span && found.is_none() {
                found = Some(expression.clone());
            }
        });
        found.map(Expression)
    }

    /// Visits all parts, outer ones first, left to right.
    fn walk<'e>(&'e self, visit: &mut dyn FnMut(&'e tree::Expression)) {
        let mut todo = vec![&self.0];
        while let Some(expression) = todo.pop() {
            visit(expression);
            let first = todo.len();
            match &expression.kind {
                ExpressionKind::Call { arguments, .. } => {
                    todo.extend(arguments.values.iter().filter_map(|actual| match &actual.kind {
                        ActualKind::Value(value) => Some(value),
                        _ => None,
                    }));
                }
                ExpressionKind::Collection(elements) => todo.extend(elements),
                ExpressionKind::Field { value, .. } | ExpressionKind::Of { value, .. } => todo.push(value),
                ExpressionKind::Update { value, fields } => {
                    todo.push(value);
                    todo.extend(fields.iter().map(|(_, value)| value));
                }
                ExpressionKind::Element { array, index } => todo.extend([&**array, &**index]),
                ExpressionKind::AndThen(left, right) | ExpressionKind::OrElse(left, right) => {
                    todo.extend([&**left, &**right]);
                }
                _ => {}
            }
            todo[first..].reverse();
        }
    }
}

impl Inscription {
    /// Where it is written.
    pub fn span(&self) -> Span {
        match &self.0 {
            Inscribed::Pattern(pattern) => pattern.span,
            Inscribed::Expression(expression) => expression.span,
        }
    }

    /// Whether it is this word and nothing else.
    pub fn is_word(&self, word: &str) -> bool {
        self.name().is_some_and(|name| name.key() == key(word))
    }

    /// The name that it consists of, if it is one.
    pub fn name(&self) -> Option<&Name> {
        match &self.0 {
            Inscribed::Pattern(tree::Pattern { kind: PatternKind::Name(name), .. })
            | Inscribed::Expression(tree::Expression { kind: ExpressionKind::Name(name), .. }) => Some(name),
            _ => None,
        }
    }

    /// The names in it that stand for values.
    pub fn names(&self) -> Vec<Name> {
        let mut names = Vec::new();
        let mut todo = match &self.0 {
            Inscribed::Pattern(pattern) => vec![pattern],
            Inscribed::Expression(expression) => {
                return Expression(expression.clone()).names().into_iter().cloned().collect();
            }
        };
        while let Some(pattern) = todo.pop() {
            match &pattern.kind {
                PatternKind::Name(name) => names.push(name.clone()),
                PatternKind::As(name, inner) => {
                    names.push(name.clone());
                    todo.push(inner);
                }
                PatternKind::Constructor { fields, .. } => todo.extend(fields.iter().map(|(_, field)| field)),
                PatternKind::Collection(elements) => todo.extend(elements),
                PatternKind::Of { pattern, .. } => todo.push(pattern),
                _ => {}
            }
        }
        names
    }

    /// As an expression; else the part that only a pattern can have.
    pub fn expression(&self) -> Result<Expression, Span> {
        match &self.0 {
            Inscribed::Pattern(pattern) => as_expression(pattern).map(Expression),
            Inscribed::Expression(expression) => Ok(Expression(expression.clone())),
        }
    }
}

/// A pattern that is meant as an expression; else the part that can't be.
pub(super) fn as_expression(pattern: &tree::Pattern) -> Result<tree::Expression, Span> {
    let span = pattern.span;
    let kind = match &pattern.kind {
        PatternKind::Name(name) => ExpressionKind::Name(name.clone()),
        PatternKind::Integer(value) => ExpressionKind::Integer(*value),
        PatternKind::Real(value) => ExpressionKind::Real(*value),
        PatternKind::Char(value) => ExpressionKind::Char(*value),
        PatternKind::String(value) => ExpressionKind::String(value.clone()),
        PatternKind::Constructor { name, fields, ellipsis: false } => {
            let mut values = Vec::new();
            for (formal, field) in fields {
                let kind = ActualKind::Value(as_expression(field)?);
                values.push(tree::Actual { formal: formal.clone(), kind, span: field.span });
            }
            let arguments = tree::Actuals { values, ellipsis: false, span };
            ExpressionKind::Call { name: name.clone(), gates: None, arguments, infix: false }
        }
        PatternKind::Collection(elements) => {
            let elements: Result<Vec<tree::Expression>, Span> = elements.iter().map(as_expression).collect();
            ExpressionKind::Collection(elements?)
        }
        PatternKind::Of { pattern, ty } => {
            ExpressionKind::Of { value: Box::new(as_expression(pattern)?), ty: ty.clone() }
        }
        PatternKind::Wrong => ExpressionKind::Wrong,
        PatternKind::Any(_) | PatternKind::As(..) | PatternKind::Constructor { ellipsis: true, .. } => {
            return Err(span);
        }
    };
    Ok(tree::Expression { kind, span })
}
