//! The flow of control and data through one body: variables read before they have a value, branches of `par`
//! that disturb each other, code that is never reached, missing `return`, and what is declared for nothing.
//!
//! A state is the set of variables that have a value on every path to a point, or nothing where no path leads.

use rustc_hash::{FxHashMap, FxHashSet};
use source::{Diagnostic, Span};

use crate::typed::{
    Argument, Expression, ExpressionKind, Gate, GateId, GateRef, Literal, LoopId, Mode, Parameter, Pattern,
    PatternKind, Scope, Statement, StatementKind, Touch, VariableId,
};

/// What `use` and `access` mention.
pub(super) struct Used {
    pub variables: FxHashSet<VariableId>,
    pub gates: FxHashSet<GateId>,
}

/// One function or process.
pub(super) struct Unit<'a> {
    pub scope: &'a Scope,
    pub gates: &'a [GateId],
    pub parameters: &'a [Parameter],
    pub body: &'a Statement,
    pub name: &'a str,
    /// The name of the function, if it has a result.
    pub result: Option<Span>,
    pub process: bool,
    pub used: Used,
}

/// Examines one function or process.
pub(super) fn check(unit: Unit<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let count = unit.scope.variables.len();
    let mut flow = Flow {
        read: vec![false; count],
        written: vec![None; count],
        reported: vec![false; count],
        gate_used: vec![false; unit.scope.gates.len()],
        loops: FxHashMap::default(),
        effects: Vec::new(),
        diagnostics,
        unit,
    };
    flow.run();
}

/// The variables that have a value.
#[derive(Clone, Debug, PartialEq)]
struct Assigned(Vec<u64>);

impl Assigned {
    fn none(count: usize) -> Self {
        Self(vec![0; count.div_ceil(64)])
    }

    fn all(count: usize) -> Self {
        Self(vec![u64::MAX; count.div_ceil(64)])
    }

    fn insert(&mut self, id: VariableId) {
        self.0[id.index() / 64] |= 1 << (id.index() % 64);
    }

    fn contains(&self, id: VariableId) -> bool {
        self.0[id.index() / 64] >> (id.index() % 64) & 1 == 1
    }

    fn remove(&mut self, id: VariableId) {
        self.0[id.index() / 64] &= !(1 << (id.index() % 64));
    }
}

/// `None` where no path leads.
type State = Option<Assigned>;

/// Both paths: what has a value on each of them.
fn join(left: State, right: State) -> State {
    match (left, right) {
        (Some(mut left), Some(right)) => {
            left.0.iter_mut().zip(&right.0).for_each(|(left, right)| *left &= right);
            Some(left)
        }
        (one, None) | (None, one) => one,
    }
}

/// What a branch of `par` reads and writes.
#[derive(Default)]
struct Effects {
    reads: FxHashMap<VariableId, Span>,
    writes: FxHashMap<VariableId, Span>,
}

struct Flow<'a, 'd> {
    unit: Unit<'a>,
    read: Vec<bool>,
    /// Where each variable is first written.
    written: Vec<Option<Span>>,
    reported: Vec<bool>,
    gate_used: Vec<bool>,
    /// The states in which open loops are left by `break`.
    loops: FxHashMap<LoopId, State>,
    effects: Vec<Effects>,
    diagnostics: &'d mut Vec<Diagnostic>,
}

impl Flow<'_, '_> {
    fn run(&mut self) {
        let mut start = Assigned::none(self.unit.scope.variables.len());
        for parameter in self.unit.parameters {
            match parameter.mode {
                Mode::In => start.insert(parameter.variable),
                Mode::InOut => {
                    start.insert(parameter.variable);
                    self.read[parameter.variable.index()] = true;
                }
                Mode::Out => self.read[parameter.variable.index()] = true,
            }
        }
        let end = self.statement(self.unit.body, Some(start));
        if let (Some(_), Some(span)) = (&end, self.unit.result) {
            let name = self.unit.name;
            self.diagnostics.push(
                Diagnostic::error(format!("function `{name}` may end without a result"))
                    .label(span, "some path reaches the end without `return`")
                    .help("end every path with `return V` or `raise E`"),
            );
        }
        if let Some(end) = end {
            self.outputs(&end, None);
        }
        self.unused();
    }

    /// Whether all `out` parameters have a value where the body ends.
    fn outputs(&mut self, end: &Assigned, at: Option<Span>) {
        for parameter in self.unit.parameters {
            let id = parameter.variable;
            if parameter.mode != Mode::Out || end.contains(id) || self.reported[id.index()] {
                continue;
            }
            self.reported[id.index()] = true;
            let variable = &self.unit.scope[id];
            let mut diagnostic = Diagnostic::error(format!(
                "`out` parameter `{}` may have no value at the end",
                variable.name
            ))
            .label(at.unwrap_or(variable.span), "some path ends without a value for it");
            diagnostic = match (at, self.written[id.index()]) {
                (Some(_), _) => diagnostic.label(variable.span, "declared here"),
                (None, Some(written)) => diagnostic.label(written, "assigned here, but not on every path"),
                (None, None) => diagnostic,
            };
            self.diagnostics.push(diagnostic.help(format!("assign `{}` on every path", variable.name)));
        }
    }

    fn unused(&mut self) {
        for (index, variable) in self.unit.scope.variables.iter().enumerate() {
            let id = VariableId(index as u32);
            if self.read[index] || self.reported[index] || self.unit.used.variables.contains(&id) {
                continue;
            }
            let parameter = self.unit.parameters.iter().any(|parameter| parameter.variable == id);
            let what = if parameter { "parameter" } else { "variable" };
            let diagnostic = match self.written[index] {
                Some(written) => Diagnostic::warning(format!("{what} `{}` is never read", variable.name))
                    .label(variable.span, "its values are not used")
                    .label(written, "assigned here")
                    .several("variables are never read"),
                None => Diagnostic::warning(format!("{what} `{}` is never used", variable.name))
                    .label(variable.span, "not used")
                    .several("variables are never used"),
            };
            let received = self.written[index].is_some();
            let help = match received {
                true => format!("remove it, or write `use {}` if that is intended", variable.name),
                false => "remove it".to_owned(),
            };
            self.diagnostics.push(diagnostic.help(help));
        }
        for (index, gate) in self.unit.scope.gates.iter().enumerate() {
            let id = GateId(index as u32);
            if self.gate_used[index] || self.unit.used.gates.contains(&id) {
                continue;
            }
            // Interfaces are often declared in full, so that a process has the gates of its neighbours: a parameter
            // that is not used is no reason for a warning.
            if self.unit.gates.contains(&id) {
                continue;
            }
            let Gate { name, span, .. } = gate;
            let (what, several) = match self.unit.process {
                false => ("exception", "exceptions are never raised"),
                true => ("local gate", "local gates are never used"),
            };
            self.diagnostics.push(
                Diagnostic::warning(format!("{what} `{name}` is never used"))
                    .label(*span, "not used")
                    .several(several)
                    .help("remove it"),
            );
        }
    }

    fn gate(&mut self, gate: GateRef) {
        if let GateRef::Local(id) = gate {
            self.gate_used[id.index()] = true;
        }
    }

    fn gates(&mut self, gates: &[GateRef]) {
        for &gate in gates {
            self.gate(gate);
        }
    }

    fn write(&mut self, id: VariableId, span: Span, state: &mut State) {
        self.written[id.index()].get_or_insert(span);
        if let Some(effects) = self.effects.last_mut() {
            effects.writes.entry(id).or_insert(span);
        }
        if let Some(state) = state {
            state.insert(id);
        }
    }

    fn reads(&mut self, id: VariableId, span: Span, state: &State) {
        self.read[id.index()] = true;
        if let Some(effects) = self.effects.last_mut() {
            effects.reads.entry(id).or_insert(span);
        }
        let Some(state) = state else { return };
        if state.contains(id) || std::mem::replace(&mut self.reported[id.index()], true) {
            return;
        }
        let variable = &self.unit.scope[id];
        let diagnostic = match self.written[id.index()] {
            Some(written) => Diagnostic::error(format!("`{}` may have no value here", variable.name))
                .label(span, "read here")
                .label(written, "assigned here, but not on every path to where it is read")
                .help(format!("assign `{}` on every path before this", variable.name)),
            None => Diagnostic::error(format!("`{}` has no value here", variable.name))
                .label(span, "read here")
                .label(variable.span, "declared here, without a value")
                .help(format!("assign `{}` before this", variable.name)),
        };
        self.diagnostics.push(diagnostic);
    }

    fn expression(&mut self, expression: &Expression, state: &State) {
        match &expression.kind {
            ExpressionKind::Literal(_) => {}
            ExpressionKind::Variable(id) => self.reads(*id, expression.span, state),
            ExpressionKind::Construct(_, parts)
            | ExpressionKind::Collection(parts)
            | ExpressionKind::Builtin(_, parts) => {
                parts.iter().for_each(|part| self.expression(part, state));
            }
            ExpressionKind::Call { gates, arguments, .. } => {
                self.gates(gates);
                arguments.iter().for_each(|part| self.expression(part, state));
            }
            ExpressionKind::FilledArray(value) => self.expression(value, state),
            ExpressionKind::Field { value, .. } => self.expression(value, state),
            ExpressionKind::Update { value, fields } => {
                self.expression(value, state);
                fields.iter().for_each(|field| self.expression(&field.value, state));
            }
            ExpressionKind::Element { array, index } => {
                self.expression(array, state);
                self.expression(index, state);
            }
        }
    }

    fn pattern(&mut self, pattern: &Pattern, state: &mut State) {
        match &pattern.kind {
            PatternKind::Variable(id) => self.write(*id, pattern.span, state),
            PatternKind::As(id, inner) => {
                self.write(*id, pattern.span, state);
                self.pattern(inner, state);
            }
            PatternKind::Constructor(_, fields) => fields.iter().for_each(|field| self.pattern(field, state)),
            PatternKind::Cons(head, tail) => {
                self.pattern(head, state);
                self.pattern(tail, state);
            }
            PatternKind::Array(elements) => {
                elements.iter().for_each(|element| self.pattern(element, state));
            }
            PatternKind::Wildcard | PatternKind::Literal(_) | PatternKind::Nil | PatternKind::Equal(_) => {}
        }
    }

    fn arguments(&mut self, arguments: &[Argument], state: &mut State) {
        for argument in arguments {
            match argument {
                Argument::In(value) => self.expression(value, state),
                Argument::InOut(id, span) => self.reads(*id, *span, state),
                Argument::Out(..) => {}
            }
        }
        for argument in arguments {
            if let Argument::Out(id, span) | Argument::InOut(id, span) = argument {
                self.write(*id, *span, state);
            }
        }
    }

    fn statement(&mut self, statement: &Statement, mut state: State) -> State {
        let span = statement.span;
        match &statement.kind {
            StatementKind::Null => state,
            StatementKind::Stop => None,
            StatementKind::Sequence(parts) => self.sequence(parts, state),
            StatementKind::Assign { variable, value } => {
                self.expression(value, &state);
                self.write(*variable, span, &mut state);
                state
            }
            StatementKind::AssignElement { array, index, value } => {
                self.expression(index, &state);
                self.expression(value, &state);
                // The other elements stay: the array needs a value before. That alone is no use of it.
                let was_read = self.read[array.index()];
                self.reads(*array, span, &state);
                self.read[array.index()] = was_read;
                self.write(*array, span, &mut state);
                state
            }
            StatementKind::AssignAny { variable, condition } => {
                self.write(*variable, span, &mut state);
                let was_read = self.read[variable.index()];
                if let Some(condition) = condition {
                    self.expression(condition, &state);
                }
                self.read[variable.index()] = was_read;
                state
            }
            StatementKind::Call { result, gates, arguments, .. } => {
                self.gates(gates);
                self.arguments(arguments, &mut state);
                if let Some(result) = result {
                    self.write(*result, span, &mut state);
                }
                state
            }
            StatementKind::Instantiate { gates, arguments, .. } => {
                self.gates(gates);
                self.arguments(arguments, &mut state);
                state
            }
            StatementKind::Var { variables, body } => {
                if let Some(state) = &mut state {
                    variables.iter().for_each(|&id| state.remove(id));
                }
                self.statement(body, state)
            }
            StatementKind::If { branches, otherwise } | StatementKind::OnlyIf { branches, otherwise } => {
                let mut end = None;
                for branch in branches {
                    self.expression(&branch.condition, &state);
                    let after = self.statement(&branch.body, state.clone());
                    end = join(end, after);
                }
                match (otherwise, &statement.kind) {
                    (Some(otherwise), _) => join(end, self.statement(otherwise, state)),
                    (None, StatementKind::If { .. }) => join(end, state),
                    (None, _) => end,
                }
            }
            StatementKind::Case { subjects, branches, .. } => {
                subjects.iter().for_each(|subject| self.expression(subject, &state));
                let mut end = None;
                for branch in branches {
                    let mut entry = None;
                    for alternative in &branch.alternatives {
                        let mut matched = state.clone();
                        alternative.patterns.iter().for_each(|pattern| self.pattern(pattern, &mut matched));
                        if let Some(guard) = &alternative.guard {
                            self.expression(guard, &matched);
                        }
                        entry = join(entry, matched);
                    }
                    let after = self.statement(&branch.body, entry);
                    end = join(end, after);
                }
                end
            }
            StatementKind::Loop { id, body } => {
                self.loops.insert(*id, None);
                self.statement(body, state);
                self.loops.remove(id).flatten()
            }
            StatementKind::While { id, condition, body } => {
                self.loops.insert(*id, None);
                self.expression(condition, &state);
                self.statement(body, state.clone());
                let broken = self.loops.remove(id).flatten();
                if is_true(condition) { broken } else { join(broken, state) }
            }
            StatementKind::For { id, initial, condition, step, body } => {
                let state = self.statement(initial, state);
                self.loops.insert(*id, None);
                self.expression(condition, &state);
                let after = self.statement(body, state.clone());
                if after.is_some() {
                    self.statement(step, after);
                } else {
                    self.statement(step, Some(Assigned::all(self.unit.scope.variables.len())));
                }
                let broken = self.loops.remove(id).flatten();
                if is_true(condition) { broken } else { join(broken, state) }
            }
            StatementKind::Break(id) => {
                if let Some(known) = self.loops.get_mut(id) {
                    *known = join(known.take(), state);
                }
                None
            }
            StatementKind::Return(value) => {
                if let Some(value) = value {
                    self.expression(value, &state);
                }
                if let Some(state) = state {
                    self.outputs(&state, Some(span));
                }
                None
            }
            StatementKind::Raise { gate, values } => {
                self.gate(*gate);
                values.iter().for_each(|value| self.expression(value, &state));
                None
            }
            StatementKind::Assert { condition, gate } => {
                self.gate(*gate);
                self.expression(condition, &state);
                state
            }
            StatementKind::Action(action) => {
                self.gate(action.gate);
                for touch in action.touches() {
                    match touch {
                        Touch::Use(value) => self.expression(value, &state),
                        Touch::Define(pattern) => self.pattern(pattern, &mut state),
                    }
                }
                state
            }
            StatementKind::Select(branches) => {
                let mut end = None;
                for branch in branches {
                    let after = self.statement(branch, state.clone());
                    end = join(end, after);
                }
                end
            }
            StatementKind::Par { synchronised, branches } => {
                synchronised.iter().for_each(|one| self.gate(one.gate));
                branches.iter().for_each(|branch| self.gates(&branch.gates));
                let bodies: Vec<&Statement> = branches.iter().map(|branch| &branch.body).collect();
                self.parallel(&bodies, state)
            }
            StatementKind::Hide { body, .. } => self.statement(body, state),
            StatementKind::Disrupt { body, interruption } => {
                let normal = self.statement(body, state.clone());
                join(normal, self.statement(interruption, state))
            }
            StatementKind::Trap { handlers, body } => {
                let mut end = self.statement(body, state.clone());
                for handler in handlers {
                    let mut entry = state.clone();
                    for &parameter in &handler.parameters {
                        self.write(parameter, self.unit.scope[parameter].span, &mut entry);
                    }
                    let after = self.statement(&handler.body, entry);
                    end = join(end, after);
                }
                end
            }
        }
    }

    fn sequence(&mut self, parts: &[Statement], mut state: State) -> State {
        let reachable = state.is_some();
        for (index, part) in parts.iter().enumerate() {
            if state.is_none() && reachable {
                let before = &parts[index - 1];
                self.diagnostics.push(
                    Diagnostic::warning("this is never reached")
                        .several("statements are never reached")
                        .label(head(part), "no path leads here")
                        .label(head(last_of(before)), why_never(before)),
                );
                // Errors in there are errors all the same, but every variable counts as assigned.
                let everything = Some(Assigned::all(self.unit.scope.variables.len()));
                parts[index..].iter().fold(everything, |state, part| self.statement(part, state));
                return None;
            }
            state = self.statement(part, state);
        }
        state
    }

    fn parallel(&mut self, branches: &[&Statement], state: State) -> State {
        let mut all = Vec::new();
        let mut end: State = state.clone();
        for branch in branches {
            self.effects.push(Effects::default());
            let after = self.statement(branch, state.clone());
            all.push(self.effects.pop().unwrap_or_default());
            end = match (end, after) {
                (Some(mut end), Some(after)) => {
                    end.0.iter_mut().zip(&after.0).for_each(|(end, after)| *end |= after);
                    Some(end)
                }
                _ => None,
            };
        }
        self.conflicts(&all);
        if let Some(outer) = self.effects.last_mut() {
            for effects in all {
                effects.reads.into_iter().for_each(|(id, span)| {
                    outer.reads.entry(id).or_insert(span);
                });
                effects.writes.into_iter().for_each(|(id, span)| {
                    outer.writes.entry(id).or_insert(span);
                });
            }
        }
        end
    }

    fn conflicts(&mut self, branches: &[Effects]) {
        let mut found: FxHashMap<VariableId, (Span, Span, bool)> = FxHashMap::default();
        // For each variable, its first writer and the first other branch that touches it.
        let mut writers: FxHashMap<VariableId, (usize, Span)> = FxHashMap::default();
        for (index, effects) in branches.iter().enumerate() {
            for (&id, &span) in &effects.writes {
                match writers.get(&id) {
                    Some(&(writer, first)) if writer != index => {
                        found.entry(id).or_insert((first, span, true));
                    }
                    Some(_) => {}
                    None => {
                        writers.insert(id, (index, span));
                    }
                }
            }
        }
        for (index, effects) in branches.iter().enumerate() {
            for (&id, &span) in &effects.reads {
                if let Some(&(writer, first)) = writers.get(&id)
                    && writer != index
                {
                    found.entry(id).or_insert((first, span, false));
                }
            }
        }
        let mut found: Vec<_> = found.into_iter().collect();
        found.sort_by_key(|(id, _)| *id);
        for (id, (first, second, both)) in found {
            let name = &self.unit.scope[id].name;
            let verb = if both { "also written" } else { "read" };
            self.diagnostics.push(
                Diagnostic::error(format!("branches of `par` share the variable `{name}`"))
                    .label(first, "written in one branch")
                    .label(second, format!("{verb} in another one"))
                    .help("give each branch a variable of its own, and pass values through a gate"),
            );
        }
    }
}

fn is_true(condition: &Expression) -> bool {
    matches!(condition.kind, ExpressionKind::Literal(Literal::Bool(true)))
}

/// The statement that control does not leave.
fn last_of(statement: &Statement) -> &Statement {
    match &statement.kind {
        StatementKind::Sequence(parts) => parts.last().map_or(statement, last_of),
        _ => statement,
    }
}

/// The statement itself where it is short, its first keyword where it spans many lines.
fn head(statement: &Statement) -> Span {
    let length = match &statement.kind {
        StatementKind::Loop { .. }
        | StatementKind::Case { .. }
        | StatementKind::Hide { .. }
        | StatementKind::Trap { .. } => 4,
        StatementKind::While { .. } => 5,
        StatementKind::For { .. }
        | StatementKind::Par { .. }
        | StatementKind::Var { .. }
        | StatementKind::Select(_) => 3,
        StatementKind::If { .. } => 2,
        StatementKind::OnlyIf { .. } => 4,
        StatementKind::Disrupt { .. } => 7,
        StatementKind::Sequence(parts) => return parts.first().map_or(statement.span, head),
        _ => return statement.span,
    };
    Span { end: statement.span.start + length, ..statement.span }
}

fn why_never(statement: &Statement) -> &'static str {
    match last_of(statement).kind {
        StatementKind::Stop => "`stop` blocks for ever",
        StatementKind::Return(_) => "the function ends here",
        StatementKind::Raise { .. } => "an exception is raised here",
        StatementKind::Break(_) => "the loop is left here",
        StatementKind::Loop { .. } => "this loop has no `break`",
        StatementKind::Par { .. } => "some branch never ends",
        _ => "every path ends in here",
    }
}
