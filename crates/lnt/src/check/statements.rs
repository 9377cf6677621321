//! Statements and behaviours, except what begins with a name (see [`calls`](super::calls)).

use source::{Diagnostic, Span};

use super::body::{Body, Expect, Frame, Kind};
use super::overload::Possible;
use super::{ERROR, exhaustive};
use crate::predefined::field_positions;
use crate::tree::{self, Name};
use crate::typed::{
    Builtin, CaseAlternative, CaseBranch, ChannelId, ConditionalBranch, Expression, ExpressionKind,
    FieldPosition, FieldUpdate, GateRef, Handler, ParBranch, ParGate, Pattern, Statement, StatementKind,
    TypeId, VariableId,
};

impl Body<'_> {
    /// Types a statement. Where that fails, the result is `null`, and an error has been reported.
    pub fn statement(&mut self, statement: &tree::Statement) -> Statement {
        let span = statement.span;
        let kind = match self.statement_kind(statement) {
            Some(kind) => kind,
            None => {
                self.failed = true;
                StatementKind::Null
            }
        };
        Statement { kind, span }
    }

    fn boxed(&mut self, statement: &tree::Statement) -> Box<Statement> {
        Box::new(self.statement(statement))
    }

    fn statement_kind(&mut self, statement: &tree::Statement) -> Option<StatementKind> {
        let span = statement.span;
        match &statement.kind {
            tree::StatementKind::Null => Some(StatementKind::Null),
            tree::StatementKind::Stop => {
                self.processes_only(span, "stop", "end the function with `return` or `raise`")?;
                Some(StatementKind::Stop)
            }
            tree::StatementKind::Sequence(parts) => {
                Some(StatementKind::Sequence(parts.iter().map(|part| self.statement(part)).collect()))
            }
            tree::StatementKind::Assign { variable, value } => self.assign(variable, value),
            tree::StatementKind::AssignPart { variable, path, value } => {
                self.assign_part(variable, path, value, span)
            }
            tree::StatementKind::AssignAny { variable, ty, condition } => {
                self.assign_any(variable, ty.as_ref(), condition.as_ref(), span)
            }
            tree::StatementKind::Invoke(invoke) => self.invoke(invoke, span),
            tree::StatementKind::Var { variables, body } => {
                let ids = self.enter(variables);
                let body = self.boxed(body);
                self.leave(&ids);
                Some(StatementKind::Var { variables: ids, body })
            }
            tree::StatementKind::If { only, branches, otherwise } => {
                self.conditional(*only, branches, otherwise.as_deref(), span)
            }
            tree::StatementKind::Case { subjects, variables, branches } => {
                self.case(subjects, variables, branches, span)
            }
            tree::StatementKind::Loop { name, body } => {
                let id = self.new_loop(name.as_ref(), span);
                let body = self.in_loop(name.as_ref(), id, body);
                Some(StatementKind::Loop { id, body })
            }
            tree::StatementKind::While { name, condition, body } => {
                let id = self.new_loop(name.as_ref(), span);
                let condition = self.condition(condition);
                let body = self.in_loop(name.as_ref(), id, body);
                Some(StatementKind::While { id, condition: condition?, body })
            }
            tree::StatementKind::For { name, initial, condition, step, body } => {
                let id = self.new_loop(name.as_ref(), span);
                let initial = self.boxed(initial);
                let condition = self.condition(condition);
                let step = self.boxed(step);
                let body = self.in_loop(name.as_ref(), id, body);
                Some(StatementKind::For { id, initial, condition: condition?, step, body })
            }
            tree::StatementKind::Break(name) => self.break_loop(name.as_ref(), span),
            tree::StatementKind::Return(value) => self.returning(value.as_ref(), span),
            tree::StatementKind::Raise { gate, values } => self.raise(gate, values),
            tree::StatementKind::Assert { condition, gate } => {
                let condition = self.condition(condition);
                let gate = match gate {
                    Some(gate) => self.find_gate(gate),
                    None => Some(GateRef::Unexpected),
                };
                Some(StatementKind::Assert { condition: condition?, gate: gate? })
            }
            tree::StatementKind::Use(names) => {
                for name in names {
                    match self.variable(&name.text) {
                        Some(id) => {
                            self.used_variables.insert(id);
                        }
                        None => self.unknown_variable(name),
                    }
                }
                Some(StatementKind::Null)
            }
            tree::StatementKind::Access(names) => {
                for name in names {
                    if let Some(GateRef::Local(id)) = self.find_gate(name) {
                        self.used_gates.insert(id);
                    }
                }
                Some(StatementKind::Null)
            }
            tree::StatementKind::Select(branches) => {
                self.processes_only(span, "select", "a function is deterministic: write `if` or `case`")?;
                Some(StatementKind::Select(branches.iter().map(|branch| self.statement(branch)).collect()))
            }
            tree::StatementKind::Par { synchronised, branches } => {
                self.parallel(synchronised, branches, span)
            }
            tree::StatementKind::Hide { gates, body } => self.hide(gates, body, span),
            tree::StatementKind::Disrupt { body, interruption } => {
                self.processes_only(span, "disrupt", "write it in a process")?;
                let body = self.boxed(body);
                Some(StatementKind::Disrupt { body, interruption: self.boxed(interruption) })
            }
            tree::StatementKind::Trap { handlers, body } => self.trap(handlers, body),
            tree::StatementKind::Wrong => None,
        }
    }

    fn processes_only(&mut self, span: Span, what: &str, help: &str) -> Option<()> {
        if self.kind == Kind::Process {
            return Some(());
        }
        let first = Span { end: span.start + what.len() as u32, ..span };
        self.error(
            Diagnostic::error(format!("`{what}` is not allowed in a function"))
                .label(first, "only in processes")
                .help(help.to_owned()),
        );
        None
    }

    fn assign(&mut self, variable: &Name, value: &tree::Expression) -> Option<StatementKind> {
        let id = self.assigned(variable);
        let expect = id.map(|id| self.expect_variable(id, variable));
        let fallback = Expect::of(ERROR);
        let value = self.resolve(value, Some(expect.as_ref().unwrap_or(&fallback)));
        Some(StatementKind::Assign { variable: id?, value: value? })
    }

    pub fn expect_variable(&self, id: VariableId, name: &Name) -> Expect {
        let ty = self.scope[id].ty;
        Expect::because(
            ty,
            self.scope[id].span,
            format!("`{}` is declared as `{}`", name.text, self.type_name(ty)),
        )
    }

    /// `x[i].f := V` is `x[i] := x[i].{f -> V}`, and so on for longer paths.
    fn assign_part(
        &mut self,
        variable: &Name,
        path: &[tree::Part],
        value: &tree::Expression,
        span: Span,
    ) -> Option<StatementKind> {
        let id = self.assigned(variable)?;
        let mut whole =
            Expression { kind: ExpressionKind::Variable(id), ty: self.scope[id].ty, span: variable.span };
        // Each part with what it is a part of.
        let mut steps: Vec<(Expression, Step)> = Vec::new();
        for part in path {
            let ty = whole.ty;
            if ty == ERROR {
                return None;
            }
            let (part_type, step, kind) = match part {
                tree::Part::Element(index) => {
                    let Some(element) = self.element_type(ty) else {
                        let declared = self.scope[id].span;
                        let name = self.type_name(ty);
                        self.error(
                            Diagnostic::error(format!("`{name}` is not an array"))
                                .label(whole.span, "has no elements to assign")
                                .label(declared, "declared here"),
                        );
                        return None;
                    };
                    let index = self.resolve_index(index)?;
                    let array = Box::new(whole.clone());
                    let kind = ExpressionKind::Element { array, index: Box::new(index.clone()) };
                    (element, Step::Element(index), kind)
                }
                tree::Part::Field(field) => {
                    let Some(field_type) = self.field_type(ty, &field.key()) else {
                        self.no_field(ty, field);
                        return None;
                    };
                    self.needs_with("set", ty, field.span, &format!(".{} := …", field.text));
                    let positions = field_positions(&self.globals.program, ty, &field.key());
                    let value = Box::new(whole.clone());
                    let kind = ExpressionKind::Field { value, positions: positions.clone() };
                    (field_type, Step::Field(positions), kind)
                }
            };
            let outer = std::mem::replace(&mut whole, Expression { kind, ty: part_type, span });
            steps.push((outer, step));
        }
        let mut value = self.resolve(value, Some(&Expect::of(whole.ty)))?;
        while let Some((whole, step)) = steps.pop() {
            let ty = whole.ty;
            let kind = match step {
                Step::Element(index) if steps.is_empty() => {
                    return Some(StatementKind::AssignElement { array: id, index, value });
                }
                Step::Element(index) => ExpressionKind::Builtin(Builtin::Store, vec![whole, index, value]),
                Step::Field(positions) => ExpressionKind::Update {
                    value: Box::new(whole),
                    fields: vec![FieldUpdate { positions, value }],
                },
            };
            value = Expression { kind, ty, span };
        }
        Some(StatementKind::Assign { variable: id, value })
    }

    fn assign_any(
        &mut self,
        variable: &Name,
        ty: Option<&Name>,
        condition: Option<&tree::Expression>,
        span: Span,
    ) -> Option<StatementKind> {
        let id = self.assigned(variable);
        if self.kind != Kind::Process {
            self.error(
                Diagnostic::error("`any` is not allowed in a function")
                    .label(span, "a function is deterministic")
                    .help("choose in a process, and pass the value as a parameter"),
            );
            return None;
        }
        if let (Some(name), Some(id)) = (ty, id) {
            let found = self.find_type(name);
            if found != self.scope[id].ty {
                let expect = self.expect_variable(id, variable);
                self.mismatch(name.span, &[found], Some(&expect));
                return None;
            }
        }
        let condition = match condition {
            Some(condition) => Some(self.condition(condition)?),
            None => None,
        };
        Some(StatementKind::AssignAny { variable: id?, condition })
    }

    fn conditional(
        &mut self,
        only: bool,
        branches: &[(tree::Expression, tree::Statement, Span)],
        otherwise: Option<&tree::Statement>,
        span: Span,
    ) -> Option<StatementKind> {
        if only {
            self.processes_only(span, "only if", "a function can't block: write `if`")?;
        }
        let mut typed = Vec::with_capacity(branches.len());
        let mut wrong = false;
        for (condition, body, span) in branches {
            let condition = self.condition(condition);
            let body = self.statement(body);
            match condition {
                Some(condition) => typed.push(ConditionalBranch { condition, body, span: *span }),
                None => wrong = true,
            }
        }
        let otherwise = otherwise.map(|statement| self.boxed(statement));
        if wrong {
            return None;
        }
        Some(match only {
            true => StatementKind::OnlyIf { branches: typed, otherwise },
            false => StatementKind::If { branches: typed, otherwise },
        })
    }

    fn case(
        &mut self,
        subjects: &[tree::Expression],
        variables: &[tree::Declaration],
        branches: &[tree::CaseBranch],
        span: Span,
    ) -> Option<StatementKind> {
        // The variables of the patterns are not yet there in the subjects, but a subject such as `{}` or
        // `f (x)` may need the patterns to know its type.
        let possible: Vec<Possible> = subjects.iter().map(|subject| self.possible(subject)).collect();
        let ids = self.enter(variables);
        let expected: Vec<Option<Expect>> =
            possible.iter().enumerate().map(|(at, known)| self.expect_subject(at, known, branches)).collect();
        self.leave(&ids);
        let mut typed_subjects = Vec::new();
        let mut wrong = false;
        for (subject, expected) in subjects.iter().zip(expected) {
            match self.resolve(subject, expected.as_ref()) {
                Some(subject) => typed_subjects.push(subject),
                None => wrong = true,
            }
        }
        self.enter_again(&ids);
        let mut typed = Vec::new();
        for branch in branches {
            let mut alternatives = Vec::new();
            for alternative in &branch.alternatives {
                match self.alternative(alternative, &typed_subjects, wrong, subjects.len()) {
                    Some(alternative) => alternatives.push(alternative),
                    None => self.failed = true,
                }
            }
            let body = self.statement(&branch.body);
            typed.push(CaseBranch { alternatives, body, span: branch.span });
        }
        self.leave(&ids);
        if wrong || self.failed {
            return if wrong { None } else { Some(StatementKind::Null) };
        }
        let exhaustive = exhaustive::check(self.globals, &typed_subjects, &typed, span, self.diagnostics);
        let case = StatementKind::Case { subjects: typed_subjects, branches: typed, exhaustive };
        if ids.is_empty() {
            return Some(case);
        }
        let body = Box::new(Statement { kind: case, span });
        Some(StatementKind::Var { variables: ids, body })
    }

    /// The one type of a subject, among several possible ones, that all patterns fit.
    fn expect_subject(&self, at: usize, known: &Possible, branches: &[tree::CaseBranch]) -> Option<Expect> {
        let Possible::Types(types) = known else { return None };
        if types.len() < 2 {
            return None;
        }
        let alternatives = branches.iter().flat_map(|branch| &branch.alternatives);
        let patterns: Vec<Possible> = alternatives
            .filter_map(|one| one.patterns.get(at))
            .map(|pattern| self.possible_pattern(pattern))
            .collect();
        let mut fitting = types.iter().filter(|&&ty| patterns.iter().all(|known| known.contains(ty)));
        match (fitting.next(), fitting.next()) {
            (Some(&one), None) => Some(Expect::of(one)),
            _ => None,
        }
    }

    fn alternative(
        &mut self,
        alternative: &tree::CaseAlternative,
        subjects: &[Expression],
        wrong: bool,
        count: usize,
    ) -> Option<CaseAlternative> {
        // `any` alone stands for everything, whatever the number of subjects.
        let sole_any = matches!(
            alternative.patterns.as_slice(),
            [tree::Pattern { kind: tree::PatternKind::Any(None), .. }]
        );
        if alternative.patterns.len() != count && !sole_any {
            let plural = if count == 1 { "" } else { "s" };
            self.error(
                Diagnostic::error(format!(
                    "expected {count} pattern{plural}, found {}",
                    alternative.patterns.len()
                ))
                .label(alternative.span, format!("this `case` looks at {count} value{plural}")),
            );
            return None;
        }
        if wrong {
            return None;
        }
        let mut bound = Vec::new();
        let mut patterns = Vec::new();
        let mut wrong = false;
        for (at, subject) in subjects.iter().enumerate() {
            if sole_any {
                let kind = crate::typed::PatternKind::Wildcard;
                patterns.push(Pattern { kind, ty: subject.ty, span: alternative.span });
                continue;
            }
            let because = Expect::because(
                subject.ty,
                subject.span,
                format!("this is `{}`", self.type_name(subject.ty)),
            );
            match self.resolve_pattern(&alternative.patterns[at], &because, &mut bound) {
                Some(pattern) => patterns.push(pattern),
                None => wrong = true,
            }
        }
        let guard = match &alternative.guard {
            Some(guard) if !wrong => Some(self.condition(guard)?),
            _ => None,
        };
        (!wrong).then_some(CaseAlternative { patterns, guard, span: alternative.span })
    }

    fn in_loop(
        &mut self,
        name: Option<&Name>,
        id: crate::typed::LoopId,
        body: &tree::Statement,
    ) -> Box<Statement> {
        self.frames.push(Frame::Loop(name.map(Name::key), id));
        let body = self.boxed(body);
        self.frames.pop();
        body
    }

    fn break_loop(&mut self, name: Option<&Name>, span: Span) -> Option<StatementKind> {
        let mut crossed: Option<Span> = None;
        let mut known = Vec::new();
        for frame in self.frames.iter().rev() {
            match frame {
                Frame::Par(span) => crossed = crossed.or(Some(*span)),
                Frame::Loop(label, id) => {
                    let matches = match name {
                        Some(name) => label.as_ref() == Some(&name.key()),
                        None => true,
                    };
                    if !matches {
                        known.extend(self.scope[*id].name.clone());
                        continue;
                    }
                    let id = *id;
                    if let Some(par) = crossed {
                        self.error(
                            Diagnostic::error("`break` can't leave a branch of `par`")
                                .label(span, "the other branches would go on")
                                .label(Span { end: par.start + 3, ..par }, "inside this `par`")
                                .help("set a variable in the branch, and break after `end par`"),
                        );
                        return None;
                    }
                    return Some(StatementKind::Break(id));
                }
            }
        }
        let diagnostic = match name {
            Some(name) => Diagnostic::error(format!("there is no enclosing loop `{}`", name.text))
                .label(name.span, "not the name of a loop around this")
                .maybe_help(
                    source::closest(&name.text, known.iter().map(String::as_str))
                        .map(|near| format!("did you mean `{near}`?")),
                ),
            None => Diagnostic::error("`break` outside of a loop").label(span, "no loop to leave"),
        };
        self.error(diagnostic);
        None
    }

    fn returning(&mut self, value: Option<&tree::Expression>, span: Span) -> Option<StatementKind> {
        let Kind::Function { result } = self.kind else {
            let first = Span { end: span.start + 6, ..span };
            self.error(
                Diagnostic::error("a process does not return a value")
                    .label(first, "not allowed in a process")
                    .help("pass a value back with an `out` parameter; the end of the body ends the process"),
            );
            return None;
        };
        match (result, value) {
            (Some(ty), Some(value)) => {
                let value = self.resolve(value, Some(&Expect::of(ty)))?;
                Some(StatementKind::Return(Some(value)))
            }
            (None, None) => Some(StatementKind::Return(None)),
            (Some(ty), None) => {
                let wanted = self.type_name(ty);
                self.error(
                    Diagnostic::error("`return` without a value")
                        .label(span, format!("expected a `{wanted}` after it")),
                );
                None
            }
            (None, Some(value)) => {
                self.error(
                    Diagnostic::error("this function has no result")
                        .label(value.span, "nothing can be returned")
                        .help("give it one: `function f (…) : T is`"),
                );
                None
            }
        }
    }

    fn raise(&mut self, gate: &Name, values: &[tree::Actual]) -> Option<StatementKind> {
        let found = self.find_gate(gate)?;
        let values = self.raised_values(found, gate, values)?;
        Some(StatementKind::Raise { gate: found, values })
    }

    fn parallel(
        &mut self,
        synchronised: &[(Name, Option<u32>)],
        branches: &[tree::ParBranch],
        span: Span,
    ) -> Option<StatementKind> {
        self.processes_only(span, "par", "write it in a process")?;
        let mut gates: Vec<ParGate> = Vec::new();
        let mut wrong = false;
        for (name, count) in synchronised {
            let Some(gate) = self.find_gate(name) else {
                wrong = true;
                continue;
            };
            if let Some(first) = gates.iter().find(|known| known.gate == gate) {
                let first = first.span;
                self.error(
                    Diagnostic::warning(format!("gate `{}` is listed twice", name.text))
                        .label(name.span, "again here")
                        .label(first, "first here"),
                );
                continue;
            }
            let listed = branches
                .iter()
                .filter(|branch| branch.gates.iter().any(|gate| gate.key() == name.key()))
                .count();
            let most = if listed == 0 { branches.len() } else { listed };
            if let Some(count) = count.filter(|&count| count < 1 || count as usize > most) {
                self.error(
                    Diagnostic::error(format!("`{}#{count}` can never happen", name.text))
                        .label(name.span, format!("only {most} branches can take part"))
                        .help(format!("write a number from 1 to {most}")),
                );
                wrong = true;
            }
            gates.push(ParGate { gate, count: *count, span: name.span });
        }
        let mut typed = Vec::new();
        for branch in branches {
            let mut listed = Vec::new();
            for name in &branch.gates {
                match self.find_gate(name) {
                    Some(gate) => listed.push(gate),
                    None => wrong = true,
                }
            }
            self.frames.push(Frame::Par(span));
            let body = self.statement(&branch.body);
            self.frames.pop();
            typed.push(ParBranch { gates: listed, body, span: branch.span });
        }
        (!wrong).then_some(StatementKind::Par { synchronised: gates, branches: typed })
    }

    fn hide(
        &mut self,
        gates: &[tree::GateDeclaration],
        body: &tree::Statement,
        span: Span,
    ) -> Option<StatementKind> {
        self.processes_only(span, "hide", "write it in a process")?;
        let mut ids: Vec<crate::typed::GateId> = Vec::new();
        for gate in gates {
            let channel = self.globals.find_channel(&gate.channel, self.module, self.diagnostics);
            let first = ids.iter().find(|&&id| crate::tree::key(&self.scope[id].name) == gate.name.key());
            if let Some(&first) = first {
                let first: Span = self.scope[first].span;
                self.error(
                    Diagnostic::error(format!("gate `{}` is declared twice", gate.name.text))
                        .label(gate.name.span, "again here")
                        .label(first, "first here"),
                );
            }
            ids.push(self.enter_gate(&gate.name, channel));
        }
        let body = self.boxed(body);
        self.leave_gates(&ids);
        Some(StatementKind::Hide { gates: ids, body })
    }

    fn trap(&mut self, handlers: &[tree::Handler], body: &tree::Statement) -> Option<StatementKind> {
        // Handlers run outside of the trap: they don't see its exceptions.
        let mut typed = Vec::new();
        let mut profiles = Vec::new();
        for handler in handlers {
            let parameters = self.enter(&handler.parameters);
            let statement = self.statement(&handler.body);
            self.leave(&parameters);
            profiles.push(parameters.iter().map(|&id| self.scope[id].ty).collect::<Vec<TypeId>>());
            typed.push((parameters, statement));
        }
        let mut gates = Vec::new();
        for (handler, profile) in handlers.iter().zip(profiles) {
            let channel = match &handler.channel {
                Some(name) => self.globals.find_channel(name, self.module, self.diagnostics),
                None if profile.is_empty() => ChannelId::NONE,
                None => ChannelId::ANY,
            };
            let id = self.enter_gate(&handler.gate, channel);
            self.handler_profiles.insert(id, profile);
            gates.push(id);
        }
        let body = self.boxed(body);
        self.leave_gates(&gates);
        let handlers = handlers
            .iter()
            .zip(typed)
            .zip(gates)
            .map(|((handler, (parameters, body)), gate)| Handler {
                gate,
                parameters,
                body,
                span: handler.span,
            })
            .collect();
        Some(StatementKind::Trap { handlers, body })
    }
}

/// A step from a value to a part of it.
enum Step {
    Element(Expression),
    Field(Vec<FieldPosition>),
}
