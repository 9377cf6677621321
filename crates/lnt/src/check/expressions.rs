//! Expressions: the type that is wanted goes in, the typed expression comes out, or a complaint.

use source::{Diagnostic, Span};

use super::ERROR;
use super::body::{Body, Expect};
use super::overload::{Choice, Possible, weight};
use crate::predefined::{Rank, Signature, Target, field_positions};
use crate::tree::{self, Actuals, GateActuals, Name};
use crate::typed::{
    Builtin, Expression, ExpressionKind, FieldUpdate, FunctionId, GateId, GateRef, Literal, TypeId, TypeKind,
};

impl<'a> Body<'a> {
    /// Types an expression. `None` after a complaint.
    pub fn resolve(
        &mut self,
        expression: &tree::Expression,
        expected: Option<&Expect>,
    ) -> Option<Expression> {
        self.resolve_kind(expression, expected).filter(|typed| typed.ty != ERROR)
    }

    fn resolve_kind(
        &mut self,
        expression: &tree::Expression,
        expected: Option<&Expect>,
    ) -> Option<Expression> {
        let span = expression.span;
        let wanted = expected.map(|expect| expect.ty).filter(|&ty| ty != ERROR);
        match &expression.kind {
            tree::ExpressionKind::Integer(value) => {
                let ty = self.literal_type(expression, expected)?;
                let literal = if self.globals.base(ty) == TypeId::REAL {
                    Literal::Real(*value as f64)
                } else {
                    self.check_bounds(*value, ty, span);
                    Literal::Integer(*value)
                };
                Some(Expression { kind: ExpressionKind::Literal(literal), ty, span })
            }
            tree::ExpressionKind::Real(value) => self.literal(expression, expected, Literal::Real(*value)),
            tree::ExpressionKind::Char(value) => {
                let typed = self.literal(expression, expected, Literal::Char(*value))?;
                self.check_bounds(i64::from(u32::from(*value)), typed.ty, span);
                Some(typed)
            }
            tree::ExpressionKind::String(value) => {
                self.literal(expression, expected, Literal::String(value.clone()))
            }
            tree::ExpressionKind::Name(name) => match self.variable(&name.text) {
                Some(id) => {
                    let ty = self.scope[id].ty;
                    if ty == ERROR {
                        return None;
                    }
                    if wanted.is_some_and(|wanted| wanted != ty) {
                        self.mismatch(span, &[ty], expected);
                        return None;
                    }
                    Some(Expression { kind: ExpressionKind::Variable(id), ty, span })
                }
                None => self.resolve_call(name, None, None, false, span, expected),
            },
            tree::ExpressionKind::Call { name, gates, arguments, infix } => {
                self.resolve_call(name, gates.as_ref(), Some(arguments), *infix, span, expected)
            }
            tree::ExpressionKind::Collection(elements) => self.collection(expression, elements, expected),
            tree::ExpressionKind::Field { value, field } => self.field(value, field, span, expected),
            tree::ExpressionKind::Update { value, fields } => self.update(value, fields, span, expected),
            tree::ExpressionKind::Element { array, index } => self.element(array, index, span, expected),
            tree::ExpressionKind::Of { value, ty } => {
                let id = self.find_type(ty);
                if id == ERROR {
                    return None;
                }
                if wanted.is_some_and(|wanted| wanted != id) {
                    self.mismatch(span, &[id], expected);
                    return None;
                }
                let because = Expect::because(id, ty.span, format!("`{}` is written here", ty.text));
                self.resolve(value, Some(&because))
            }
            tree::ExpressionKind::AndThen(left, right) => {
                self.lazy(Builtin::AndThen, left, right, span, expected)
            }
            tree::ExpressionKind::OrElse(left, right) => {
                self.lazy(Builtin::OrElse, left, right, span, expected)
            }
            tree::ExpressionKind::Wrong => None,
        }
    }

    /// A condition.
    pub fn condition(&mut self, expression: &tree::Expression) -> Option<Expression> {
        self.resolve(expression, Some(&Expect::of(TypeId::BOOL)))
    }

    fn literal(
        &mut self,
        expression: &tree::Expression,
        expected: Option<&Expect>,
        literal: Literal,
    ) -> Option<Expression> {
        let ty = self.literal_type(expression, expected)?;
        Some(Expression { kind: ExpressionKind::Literal(literal), ty, span: expression.span })
    }

    fn literal_type(&mut self, expression: &tree::Expression, expected: Option<&Expect>) -> Option<TypeId> {
        let Possible::Types(types) = self.possible(expression) else { return None };
        match expected.filter(|expect| expect.ty != ERROR) {
            Some(expect) if types.contains(&expect.ty) => Some(expect.ty),
            Some(expect) => {
                let best = types.iter().copied().min_by_key(|&ty| weight(ty))?;
                if let (tree::ExpressionKind::Integer(value), TypeId::NAT) =
                    (&expression.kind, self.globals.base(expect.ty))
                {
                    let wanted = self.type_name(expect.ty);
                    self.error(
                        Diagnostic::error(format!("`{wanted}` has no negative values"))
                            .label(expression.span, format!("{value} is negative")),
                    );
                    return None;
                }
                self.mismatch(expression.span, &[best], expected);
                None
            }
            None => types.iter().copied().min_by_key(|&ty| weight(ty)),
        }
    }

    /// Whether a constant is a value of its type.
    pub fn check_bounds(&mut self, value: i64, ty: TypeId, span: Span) {
        let (lower, upper) = match self.globals.program[ty].kind {
            TypeKind::Nat { lower, upper }
            | TypeKind::Int { lower, upper }
            | TypeKind::Range { lower, upper, .. } => (lower, upper),
            _ => return,
        };
        if value < lower || value > upper {
            let name = self.type_name(ty);
            let mut diagnostic = Diagnostic::error(format!("{value} is not a value of `{name}`"))
                .label(span, format!("the values of `{name}` go from {lower} to {upper}"));
            if matches!(ty, TypeId::NAT | TypeId::INT) {
                let end = if value < lower { "inf" } else { "sup" };
                diagnostic =
                    diagnostic.help(format!("widen it with `!{name}_{end} {value}` after the module's `is`"));
            }
            self.error(diagnostic);
        }
    }

    fn lazy(
        &mut self,
        builtin: Builtin,
        left: &tree::Expression,
        right: &tree::Expression,
        span: Span,
        expected: Option<&Expect>,
    ) -> Option<Expression> {
        let left = self.condition(left);
        let right = self.condition(right);
        let (left, right) = (left?, right?);
        let typed =
            Expression { kind: ExpressionKind::Builtin(builtin, vec![left, right]), ty: TypeId::BOOL, span };
        self.checked(typed, expected)
    }

    /// The expression, if it has the type that is wanted.
    fn checked(&mut self, typed: Expression, expected: Option<&Expect>) -> Option<Expression> {
        match expected {
            Some(expect) if expect.ty != typed.ty && expect.ty != ERROR => {
                self.mismatch(typed.span, &[typed.ty], expected);
                None
            }
            _ => Some(typed),
        }
    }

    fn collection(
        &mut self,
        expression: &tree::Expression,
        elements: &[tree::Expression],
        expected: Option<&Expect>,
    ) -> Option<Expression> {
        let span = expression.span;
        let wanted = expected.map(|expect| expect.ty).filter(|&ty| ty != ERROR);
        let ty = match wanted {
            Some(ty) => ty,
            None => match self.possible(expression) {
                Possible::Types(types) if types.len() == 1 => types[0],
                Possible::Types(types) if types.len() > 1 && expected.is_none() => {
                    let names: Vec<&str> = types.iter().map(|&ty| self.type_name(ty)).collect();
                    self.error(
                        Diagnostic::error("the type of this collection is not clear")
                            .label(span, "fits several types")
                            .note(format!("it could be `{}`", names.join("` or `")))
                            .help(format!("write `{{…}} of {}`", names[0])),
                    );
                    return None;
                }
                _ => {
                    let mut wrong = false;
                    let mut types = Vec::new();
                    for element in elements {
                        match self.resolve(element, None) {
                            Some(typed) => types.push(typed.ty),
                            None => wrong = true,
                        }
                    }
                    types.dedup();
                    if !wrong && expected.is_none() {
                        let of = types.first().map_or("…", |&ty| self.type_name(ty)).to_owned();
                        self.error(
                            Diagnostic::error("there is no type for this collection")
                                .label(span, "no list, set or array type has these elements")
                                .help(format!("define `type {of}_list is list of {of} end type`")),
                        );
                    }
                    return None;
                }
            },
        };
        let element_type = match self.globals.program[ty].kind {
            TypeKind::List { element, .. } | TypeKind::Set { element, .. } => element,
            TypeKind::Array { lower, upper, element } => {
                let size = upper.saturating_sub(lower).saturating_add(1);
                if elements.len() as i64 != size {
                    self.error(
                        Diagnostic::error(format!(
                            "`{}` has {size} elements, found {}",
                            self.type_name(ty),
                            elements.len()
                        ))
                        .label(span, format!("expected {size} elements"))
                        .help(format!("`{} (V)` has the value V everywhere", self.type_name(ty))),
                    );
                    return None;
                }
                element
            }
            _ => {
                let wanted = self.type_name(ty);
                let mut diagnostic = Diagnostic::error(format!("expected `{wanted}`, found a list or set"))
                    .label(span, "this is a list or set");
                if let Some((because, text)) = expected.and_then(|expect| expect.because.clone()) {
                    diagnostic = diagnostic.label(because, text);
                }
                self.error(diagnostic);
                return None;
            }
        };
        let expect = Expect::of(element_type);
        let mut typed = Vec::with_capacity(elements.len());
        let mut wrong = false;
        for element in elements {
            match self.resolve(element, Some(&expect)) {
                Some(element) => typed.push(element),
                None => wrong = true,
            }
        }
        (!wrong).then_some(Expression { kind: ExpressionKind::Collection(typed), ty, span })
    }

    /// Types something whose type must be known before anything can be done with it.
    fn resolve_subject(
        &mut self,
        value: &tree::Expression,
        accept: impl Fn(&Self, TypeId) -> bool,
    ) -> Option<Expression> {
        let chosen = match self.possible(value) {
            Possible::Types(types) => {
                let mut fitting = types.iter().copied().filter(|&ty| accept(self, ty));
                match (fitting.next(), fitting.next()) {
                    (Some(one), None) => Some(one),
                    _ => None,
                }
            }
            Possible::Any => None,
        };
        self.resolve(value, chosen.map(Expect::of).as_ref())
    }

    fn field(
        &mut self,
        value: &tree::Expression,
        field: &Name,
        span: Span,
        expected: Option<&Expect>,
    ) -> Option<Expression> {
        let value = self.resolve_subject(value, |body, ty| body.field_type(ty, &field.key()).is_some())?;
        let Some(ty) = self.field_type(value.ty, &field.key()) else {
            self.no_field(value.ty, field);
            return None;
        };
        if ty == ERROR {
            return None;
        }
        self.needs_with("get", value.ty, field.span, &format!(".{}", field.text));
        let positions = field_positions(&self.globals.program, value.ty, &field.key());
        let typed =
            Expression { kind: ExpressionKind::Field { value: Box::new(value), positions }, ty, span };
        self.checked(typed, expected)
    }

    fn update(
        &mut self,
        value: &tree::Expression,
        fields: &[(Name, tree::Expression)],
        span: Span,
        expected: Option<&Expect>,
    ) -> Option<Expression> {
        let value = match expected {
            Some(expect) if expect.ty != ERROR => self.resolve(value, expected)?,
            _ => self.resolve_subject(value, |body, ty| {
                fields.iter().all(|(field, _)| body.field_type(ty, &field.key()).is_some())
            })?,
        };
        let ty = value.ty;
        let mut updates = Vec::new();
        let mut wrong = false;
        for (field, new) in fields {
            let Some(field_type) = self.field_type(ty, &field.key()) else {
                self.no_field(ty, field);
                wrong = true;
                continue;
            };
            self.needs_with("set", ty, field.span, &format!(".{{{} => …}}", field.text));
            let positions = field_positions(&self.globals.program, ty, &field.key());
            let because = Expect::because(
                field_type,
                field.span,
                format!("`{}` is `{}`", field.text, self.type_name(field_type)),
            );
            match self.resolve(new, Some(&because)) {
                Some(value) => updates.push(FieldUpdate { positions, value }),
                None => wrong = true,
            }
        }
        let kind = ExpressionKind::Update { value: Box::new(value), fields: updates };
        (!wrong).then_some(Expression { kind, ty, span })
    }

    fn element(
        &mut self,
        array: &tree::Expression,
        index: &tree::Expression,
        span: Span,
        expected: Option<&Expect>,
    ) -> Option<Expression> {
        // `f [E]` of a function without parameters looks like an index.
        if let (tree::ExpressionKind::Name(function), tree::ExpressionKind::Name(gate)) =
            (&array.kind, &index.kind)
            && self.variable(&function.text).is_none()
            && (self.gate(&gate.text).is_some() || gate.key() == "unexpected")
        {
            let gate = tree::GateActual { formal: None, actual: gate.clone() };
            let gates = GateActuals { gates: vec![gate], ellipsis: false, span: index.span };
            return self.resolve_call(function, Some(&gates), None, false, span, expected);
        }
        let array = self.resolve_subject(array, |body, ty| body.element_type(ty).is_some());
        let index = self.resolve_index(index);
        let (array, index) = (array?, index?);
        let Some(ty) = self.element_type(array.ty) else {
            let name = self.type_name(array.ty);
            let mut diagnostic = Diagnostic::error(format!("`{name}` is not an array"))
                .label(array.span, "can't be indexed with `[…]`");
            if matches!(self.globals.program[array.ty].kind, TypeKind::List { .. } | TypeKind::Set { .. }) {
                diagnostic = diagnostic.help("write `element (list, n)`, which counts from 1");
            }
            self.error(diagnostic);
            return None;
        };
        let kind = ExpressionKind::Element { array: Box::new(array), index: Box::new(index) };
        self.checked(Expression { kind, ty, span }, expected)
    }

    /// The index of an array: any number.
    pub fn resolve_index(&mut self, index: &tree::Expression) -> Option<Expression> {
        let typed = self.resolve_subject(index, |body, ty| {
            matches!(body.globals.base(ty), TypeId::NAT | TypeId::INT) && weight(ty) == 0
        })?;
        if !matches!(self.globals.base(typed.ty), TypeId::NAT | TypeId::INT) {
            let found = self.type_name(typed.ty);
            self.error(
                Diagnostic::error(format!("an index is a number, found `{found}`"))
                    .label(typed.span, "expected `nat` or `int`"),
            );
            return None;
        }
        Some(typed)
    }

    /// Warns where a predefined function is used that no `with` clause has asked for.
    pub(super) fn needs_with(&mut self, group: &'static str, ty: TypeId, span: Span, written: &str) {
        let probe = match group {
            "get" | "set" => self.globals.program[ty].span.and_then(|_| {
                let TypeKind::Constructed(constructors) = &self.globals.program[ty].kind else { return None };
                let field = constructors.iter().find_map(|&id| self.globals.program[id].fields.first())?;
                let name = format!("{group}_{}", field.name);
                self.signatures(&name)
                    .find(|signature| signature.with == Some((group, ty)))
                    .map(|found| found.rank)
            }),
            _ => None,
        };
        if probe == Some(Rank::Undeclared) {
            self.undeclared(group, ty, span, written);
        }
    }

    /// Warns where a function or constructor is used that only a module that is not imported defines. Predefined
    /// functions come with their type.
    pub(super) fn needs_import(&mut self, name: &Name, signature: &Signature) {
        if matches!(signature.target, Target::Function(_) | Target::Constructor(_))
            && !self.globals.sees(self.module, signature.module)
        {
            self.error(self.globals.not_imported("function", name, signature.module));
        }
    }

    fn undeclared(&mut self, group: &'static str, ty: TypeId, span: Span, written: &str) {
        if !self.warned.insert((ty, group)) {
            return;
        }
        let name = self.type_name(ty);
        self.error(
            Diagnostic::warning(format!("type `{name}` does not declare \"{group}\""))
                .label(span, format!("`{written}` needs it"))
                .several("functions are used that no `with` clause declares")
                .help(format!("add `with \"{group}\"` to the definition of `{name}`")),
        );
    }

    fn resolve_call(
        &mut self,
        name: &Name,
        gates: Option<&GateActuals>,
        actuals: Option<&Actuals>,
        infix: bool,
        span: Span,
        expected: Option<&Expect>,
    ) -> Option<Expression> {
        let wanted = expected.map(|expect| expect.ty).filter(|&ty| ty != ERROR);
        match self.choose(&name.text, actuals, wanted) {
            Choice::One(signature) => {
                let arguments = self.arguments(signature, actuals)?;
                self.build(signature, name, gates, arguments, span)
            }
            Choice::Several(candidates) => {
                // Where a parameter is wrong, everything fits, and the parameter is what to speak of.
                let wrong = actuals.is_some_and(|actuals| {
                    actuals.values.iter().any(|actual| self.possible_offer(actual) == Possible::Any)
                });
                if wrong {
                    self.resolve_all(actuals);
                } else if expected.is_none_or(|expect| expect.ty != ERROR) {
                    self.ambiguous(name, actuals, &candidates);
                }
                None
            }
            Choice::None => {
                self.explain_call(name, actuals, infix, span, expected);
                None
            }
        }
    }

    fn arguments(&mut self, signature: &Signature, actuals: Option<&Actuals>) -> Option<Vec<Expression>> {
        let Some(actuals) = actuals else { return Some(Vec::new()) };
        let arranged = self.arrange(signature, actuals)?;
        let mut arguments = Vec::with_capacity(arranged.len());
        let mut wrong = false;
        for (value, &(_, ty)) in arranged.iter().zip(&signature.parameters) {
            match self.resolve(value, Some(&Expect::of(ty))) {
                Some(value) => arguments.push(value),
                None => wrong = true,
            }
        }
        (!wrong).then_some(arguments)
    }

    fn build(
        &mut self,
        signature: &Signature,
        name: &Name,
        gates: Option<&GateActuals>,
        mut arguments: Vec<Expression>,
        span: Span,
    ) -> Option<Expression> {
        if signature.rank == Rank::Undeclared
            && let Some((group, ty)) = signature.with
        {
            self.undeclared(group, ty, name.span, &name.text);
        }
        self.needs_import(name, signature);
        let ty = signature.result.filter(|&ty| ty != ERROR)?;
        if let (Some(gates), false) = (gates, matches!(signature.target, Target::Function(_))) {
            self.error(
                Diagnostic::error(format!("`{}` raises no exceptions", name.text))
                    .label(gates.span, "not needed"),
            );
            return None;
        }
        let kind = match &signature.target {
            Target::Constructor(id) => ExpressionKind::Construct(*id, arguments),
            Target::Function(id) => {
                let gates = self.function_gates(*id, name, gates)?;
                ExpressionKind::Call { function: *id, gates, arguments }
            }
            Target::Builtin(builtin) => ExpressionKind::Builtin(*builtin, arguments),
            Target::Bool(value) => ExpressionKind::Literal(Literal::Bool(*value)),
            Target::Empty => ExpressionKind::Collection(Vec::new()),
            Target::Identity => return arguments.pop(),
            Target::FilledArray => ExpressionKind::FilledArray(Box::new(arguments.pop()?)),
            Target::Collection => ExpressionKind::Collection(arguments),
            Target::Get(positions) => {
                ExpressionKind::Field { value: Box::new(arguments.pop()?), positions: positions.clone() }
            }
            Target::Set(positions) => {
                let value = arguments.pop()?;
                let fields = vec![FieldUpdate { positions: positions.clone(), value }];
                ExpressionKind::Update { value: Box::new(arguments.pop()?), fields }
            }
        };
        Some(Expression { kind, ty, span })
    }

    /// The exceptions of a call. Where none are given, they are `unexpected`.
    pub fn function_gates(
        &mut self,
        id: FunctionId,
        name: &Name,
        actuals: Option<&GateActuals>,
    ) -> Option<Vec<GateRef>> {
        let function = &self.globals.program[id];
        match actuals {
            Some(actuals) => {
                let formals: Vec<GateId> = function.gates.clone();
                self.gate_actuals(&function.scope, &formals, name, function.span, "exception", actuals)
            }
            None => Some(vec![GateRef::Unexpected; function.gates.len()]),
        }
    }
}
