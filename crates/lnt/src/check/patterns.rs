//! Patterns.

use source::Diagnostic;

use super::body::{Body, Expect};
use super::overload::Possible;
use super::{ERROR, FROM_PATTERN};
use crate::predefined::{Signature, Target};
use crate::tree::{self, Name};
use crate::typed::{Builtin, ExpressionKind, Literal, Pattern, PatternKind, TypeId, TypeKind, VariableId};

impl Body<'_> {
    /// Types a pattern that looks at values of a known type, and collects the variables it binds.
    pub fn resolve_pattern(
        &mut self,
        pattern: &tree::Pattern,
        expected: &Expect,
        bound: &mut Vec<VariableId>,
    ) -> Option<Pattern> {
        let span = pattern.span;
        let ty = expected.ty;
        if ty == ERROR {
            return None;
        }
        let kind = match &pattern.kind {
            tree::PatternKind::Name(name) => match self.variable(&name.text) {
                Some(_) => PatternKind::Variable(self.bind(name, expected, bound)?),
                None => return self.constructor_pattern(name, &[], false, pattern, expected, bound),
            },
            tree::PatternKind::Any(None) => PatternKind::Wildcard,
            tree::PatternKind::Any(Some(name)) => {
                let found = self.find_type(name);
                if found != ty {
                    self.mismatch(span, &[found], Some(expected));
                    return None;
                }
                PatternKind::Wildcard
            }
            tree::PatternKind::As(name, inner) => {
                let id = self.bind(name, expected, bound);
                let inner = self.resolve_pattern(inner, expected, bound)?;
                PatternKind::As(id?, Box::new(inner))
            }
            tree::PatternKind::Integer(value) => {
                self.pattern_fits(pattern, expected)?;
                if self.globals.base(ty) == TypeId::REAL {
                    PatternKind::Literal(Literal::Real(*value as f64))
                } else {
                    self.check_bounds(*value, ty, span);
                    PatternKind::Literal(Literal::Integer(*value))
                }
            }
            tree::PatternKind::Real(value) => {
                self.pattern_fits(pattern, expected)?;
                PatternKind::Literal(Literal::Real(*value))
            }
            tree::PatternKind::Char(value) => {
                self.pattern_fits(pattern, expected)?;
                PatternKind::Literal(Literal::Char(*value))
            }
            tree::PatternKind::String(value) => {
                self.pattern_fits(pattern, expected)?;
                PatternKind::Literal(Literal::String(value.clone()))
            }
            tree::PatternKind::Constructor { name, fields, ellipsis } => {
                return self.constructor_pattern(name, fields, *ellipsis, pattern, expected, bound);
            }
            tree::PatternKind::Collection(elements) => {
                return self.collection_pattern(elements, pattern, expected, bound);
            }
            tree::PatternKind::Of { pattern, ty: name } => {
                let found = self.find_type(name);
                if found != ty {
                    self.mismatch(span, &[found], Some(expected));
                    return None;
                }
                return self.resolve_pattern(pattern, expected, bound);
            }
            tree::PatternKind::Wrong => return None,
        };
        Some(Pattern { kind, ty, span })
    }

    fn bind(&mut self, name: &Name, expected: &Expect, bound: &mut Vec<VariableId>) -> Option<VariableId> {
        let id = self.assigned(name)?;
        if self.scope[id].ty == FROM_PATTERN {
            self.scope.variables[id.index()].ty = expected.ty;
        }
        let found = self.scope[id].ty;
        if found == ERROR {
            return None;
        }
        if found != expected.ty {
            let wanted = self.type_name(expected.ty);
            let declared = self.scope[id].span;
            let mut diagnostic =
                Diagnostic::error(format!("expected `{wanted}`, found `{}`", self.type_name(found)))
                    .label(name.span, format!("takes a `{wanted}`"))
                    .label(declared, format!("`{}` is declared as `{}`", name.text, self.type_name(found)));
            if let Some((span, text)) = &expected.because {
                diagnostic = diagnostic.label(*span, text.clone());
            }
            self.error(diagnostic);
            return None;
        }
        if bound.contains(&id) {
            self.error(
                Diagnostic::error(format!("`{}` occurs twice in one pattern", name.text))
                    .label(name.span, "again here")
                    .help("use another variable, and compare the two with `where`"),
            );
            return None;
        }
        bound.push(id);
        Some(id)
    }

    fn pattern_fits(&mut self, pattern: &tree::Pattern, expected: &Expect) -> Option<()> {
        match self.possible_pattern(pattern) {
            Possible::Types(types) if !types.contains(&expected.ty) => {
                let best = types.iter().copied().min_by_key(|&ty| super::overload::weight(ty));
                let found: Vec<TypeId> = best.into_iter().collect();
                self.mismatch(pattern.span, &found, Some(expected));
                None
            }
            _ => Some(()),
        }
    }

    fn constructor_pattern(
        &mut self,
        name: &Name,
        fields: &[(Option<Name>, tree::Pattern)],
        ellipsis: bool,
        pattern: &tree::Pattern,
        expected: &Expect,
        bound: &mut Vec<VariableId>,
    ) -> Option<Pattern> {
        let ty = expected.ty;
        let all: Vec<&Signature> =
            self.signatures(&name.text).filter(|signature| signature.is_constructor()).collect();
        let of_type: Vec<&Signature> = all.iter().copied().filter(|one| one.result == Some(ty)).collect();
        let fits = |one: &&Signature| {
            if ellipsis { one.parameters.len() >= fields.len() } else { one.parameters.len() == fields.len() }
        };
        let mut fitting: Vec<&Signature> = of_type.iter().copied().filter(fits).collect();
        if fitting.len() > 1 {
            let by_fields = |one: &&Signature| {
                fields
                    .iter()
                    .zip(&one.parameters)
                    .all(|((_, field), (_, ty))| self.possible_pattern(field).contains(*ty))
            };
            let exact: Vec<&Signature> = fitting.iter().copied().filter(by_fields).collect();
            if !exact.is_empty() {
                fitting = exact;
            }
        }
        let Some(&signature) = fitting.first() else {
            if fields.is_empty() && !ellipsis && of_type.is_empty() && self.is_constant(name, ty) {
                return self.constant_pattern(name, pattern, expected);
            }
            if let Some(elements) = self.array_pattern(name, fields, ty) {
                return self.element_patterns(&elements, pattern, expected, bound);
            }
            self.explain_constructor(name, &all, &of_type, fields.len(), pattern, expected);
            return None;
        };
        let mut slots: Vec<Option<&tree::Pattern>> = vec![None; signature.parameters.len()];
        for (index, (field, inner)) in fields.iter().enumerate() {
            let at = match field {
                None => Some(index),
                Some(field) => signature.names.iter().position(|known| *known == field.key()),
            };
            match at.and_then(|at| slots.get_mut(at)) {
                Some(slot) if slot.is_none() => *slot = Some(inner),
                _ => {
                    let span = field.as_ref().map_or(inner.span, |field| field.span);
                    self.error(
                        Diagnostic::error(format!("`{}` has no field left for this", name.text))
                            .label(span, "does not fit")
                            .note(format!("its fields are {}", signature.names.join(", "))),
                    );
                    return None;
                }
            }
        }
        let mut typed = Vec::new();
        let mut wrong = false;
        for (slot, &(_, field_type)) in slots.into_iter().zip(&signature.parameters) {
            let inner = match slot {
                Some(inner) => self.resolve_pattern(inner, &Expect::of(field_type), bound),
                None => Some(Pattern { kind: PatternKind::Wildcard, ty: field_type, span: pattern.span }),
            };
            match inner {
                Some(inner) => typed.push(inner),
                None => wrong = true,
            }
        }
        if wrong {
            return None;
        }
        let kind = match signature.target {
            Target::Constructor(id) => PatternKind::Constructor(id, typed),
            Target::Bool(value) => PatternKind::Literal(Literal::Bool(value)),
            Target::Empty => PatternKind::Nil,
            Target::Builtin(Builtin::Cons) => {
                let tail = Box::new(typed.pop()?);
                PatternKind::Cons(Box::new(typed.pop()?), tail)
            }
            _ => return None,
        };
        Some(Pattern { kind, ty, span: pattern.span })
    }

    /// Whether a function without parameters of this name gives values of a type.
    fn is_constant(&self, name: &Name, ty: TypeId) -> bool {
        self.signatures(&name.text).any(|one| one.parameters.is_empty() && one.result == Some(ty))
    }

    /// A constant as a pattern: where it is known what it is, the pattern is that; else values are compared.
    fn constant_pattern(
        &mut self,
        name: &Name,
        pattern: &tree::Pattern,
        expected: &Expect,
    ) -> Option<Pattern> {
        let (ty, span) = (expected.ty, pattern.span);
        let written = tree::Expression { kind: tree::ExpressionKind::Name(name.clone()), span };
        let value = self.resolve(&written, Some(expected))?;
        let kind = match &value.kind {
            ExpressionKind::Literal(literal) => PatternKind::Literal(literal.clone()),
            ExpressionKind::Builtin(builtin @ (Builtin::First | Builtin::Last), operands)
                if operands.is_empty() =>
            {
                let last = *builtin == Builtin::Last;
                match &self.globals.program[ty].kind {
                    TypeKind::Constructed(ids) => {
                        let id = if last { ids.last() } else { ids.first() };
                        PatternKind::Constructor(*id?, Vec::new())
                    }
                    TypeKind::Bool => PatternKind::Literal(Literal::Bool(last)),
                    _ => PatternKind::Equal(Box::new(value)),
                }
            }
            _ => PatternKind::Equal(Box::new(value)),
        };
        Some(Pattern { kind, ty, span })
    }

    /// The patterns of an array's elements, where the pattern is written with the name of the array's type.
    fn array_pattern<'t>(
        &self,
        name: &Name,
        fields: &'t [(Option<Name>, tree::Pattern)],
        ty: TypeId,
    ) -> Option<Vec<&'t tree::Pattern>> {
        let named = &self.globals.program[ty];
        let fits = matches!(named.kind, TypeKind::Array { .. })
            && tree::key(&named.name) == name.key()
            && fields.iter().all(|(field, _)| field.is_none());
        fits.then(|| fields.iter().map(|(_, pattern)| pattern).collect())
    }

    /// One pattern for each element of an array.
    fn element_patterns(
        &mut self,
        elements: &[&tree::Pattern],
        pattern: &tree::Pattern,
        expected: &Expect,
        bound: &mut Vec<VariableId>,
    ) -> Option<Pattern> {
        let (ty, span) = (expected.ty, pattern.span);
        let TypeKind::Array { lower, upper, element } = self.globals.program[ty].kind else { return None };
        let size = upper.saturating_sub(lower).saturating_add(1);
        if elements.len() as i64 != size {
            let name = self.type_name(ty);
            self.error(
                Diagnostic::error(format!("`{name}` has {size} elements, found {}", elements.len()))
                    .label(span, format!("expected {size} patterns, one for each element")),
            );
            return None;
        }
        let expect = Expect::of(element);
        let typed: Vec<Option<Pattern>> =
            elements.iter().map(|element| self.resolve_pattern(element, &expect, bound)).collect();
        let typed = typed.into_iter().collect::<Option<Vec<Pattern>>>()?;
        Some(Pattern { kind: PatternKind::Array(typed), ty, span })
    }

    fn explain_constructor(
        &mut self,
        name: &Name,
        all: &[&Signature],
        of_type: &[&Signature],
        found: usize,
        pattern: &tree::Pattern,
        expected: &Expect,
    ) {
        if let Some(constructor) = of_type.first() {
            let wanted = constructor.parameters.len();
            let fields = if wanted == 1 { "field" } else { "fields" };
            return self.error(
                Diagnostic::error(format!("`{}` has {wanted} {fields}, found {found}", name.text))
                    .label(pattern.span, format!("expected {wanted} {fields}"))
                    .help(format!("`any` matches a field whatever its value: `{} (any, …)`", name.text)),
            );
        }
        if !all.is_empty() {
            let types: Vec<TypeId> = all.iter().filter_map(|one| one.result).collect();
            return self.mismatch(pattern.span, &types, Some(expected));
        }
        if self.signatures(&name.text).next().is_some() {
            return self.error(
                Diagnostic::error(format!("`{}` is a function, which is not a pattern", name.text))
                    .label(name.span, "neither a constructor nor a constant of this type")
                    .help(format!("bind a variable and compare it: `x where x == {} (…)`", name.text)),
            );
        }
        let globals = self.globals;
        let wanted = self.type_name(expected.ty);
        let constructors: Vec<&str> = match &globals.program[expected.ty].kind {
            TypeKind::Constructed(ids) => ids.iter().map(|&id| globals.program[id].name.as_str()).collect(),
            TypeKind::Bool => vec!["true", "false"],
            TypeKind::List { .. } | TypeKind::Set { .. } => vec!["cons", "nil"],
            _ => Vec::new(),
        };
        let near = if found == 0 {
            let known: Vec<&str> = constructors.iter().copied().chain(self.variable_names()).collect();
            source::closest(&name.text, known).map(str::to_owned)
        } else {
            source::closest(&name.text, constructors.iter().copied()).map(str::to_owned)
        };
        let what = if found == 0 { "unknown variable or constructor" } else { "unknown constructor" };
        let mut diagnostic = Diagnostic::error(format!("{what} `{}`", name.text))
            .label(name.span, format!("no constructor of `{wanted}`, and no variable"));
        diagnostic = match near {
            Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
            None if found == 0 => diagnostic.help(format!(
                "declare it as a variable: `case … in var {} : {wanted} in …`, or write `any {wanted}`",
                name.text
            )),
            None => diagnostic,
        };
        self.error(diagnostic);
    }

    fn collection_pattern(
        &mut self,
        elements: &[tree::Pattern],
        pattern: &tree::Pattern,
        expected: &Expect,
        bound: &mut Vec<VariableId>,
    ) -> Option<Pattern> {
        let (ty, span) = (expected.ty, pattern.span);
        let element_type = match self.globals.program[ty].kind {
            TypeKind::List { element, .. } | TypeKind::Set { element, .. } => element,
            TypeKind::Array { .. } => {
                let elements: Vec<&tree::Pattern> = elements.iter().collect();
                return self.element_patterns(&elements, pattern, expected, bound);
            }
            _ => {
                let wanted = self.type_name(ty);
                self.error(
                    Diagnostic::error(format!(
                        "expected a pattern for `{wanted}`, found one for a list or set"
                    ))
                    .label(span, "matches lists and sets only"),
                );
                return None;
            }
        };
        let mut typed = Vec::new();
        let mut wrong = false;
        for element in elements {
            match self.resolve_pattern(element, &Expect::of(element_type), bound) {
                Some(element) => typed.push(element),
                None => wrong = true,
            }
        }
        // Every element is one level of nesting for all that follows.
        if typed.len() > crate::parser::DEPTH_LIMIT {
            self.error(
                Diagnostic::error(format!(
                    "a pattern with more than {} elements",
                    crate::parser::DEPTH_LIMIT
                ))
                .label(span, "too long")
                .help("compare the whole list with `==` instead"),
            );
            return None;
        }
        let mut list = Pattern { kind: PatternKind::Nil, ty, span };
        for element in typed.into_iter().rev() {
            list = Pattern { kind: PatternKind::Cons(Box::new(element), Box::new(list)), ty, span };
        }
        (!wrong).then_some(list)
    }
}
