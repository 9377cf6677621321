//! Statements that functions and processes share; what only processes have is in `processes`.
//!
//! The code of a statement falls through to its end or jumps to the label `after`, which its caller places there.

use model::MarkKind;
use source::Span;

use super::body::{Binding, Body, BodyKind, Place};
use super::code::{ActionCode, Landing, Op, RaiseCode, SlotPart};
use super::types::Storage;
use super::{Compiler, Label};
use crate::coverage::{case_decision_span, conditions_of, is_simple, need_not_return, operands_of};
use crate::typed::{
    Argument, CaseBranch, ConditionalBranch, Expression, FunctionId, GateRef, Mode, Statement, StatementKind,
    TypeId, VariableId,
};

impl<'p> Compiler<'p> {
    pub(super) fn statement(&mut self, body: &mut Body<'p>, statement: &'p Statement, after: Label) {
        match &statement.kind {
            StatementKind::Sequence(statements) => self.sequence(body, statements, after),
            _ => self.marked(body, statement, after),
        }
    }

    fn sequence(&mut self, body: &mut Body<'p>, statements: &'p [Statement], after: Label) {
        for (index, statement) in statements.iter().enumerate() {
            let last = index + 1 == statements.len();
            let next = if last { after } else { self.new_label() };
            self.marked(body, statement, next);
            if !last {
                self.place(next);
            }
        }
    }

    /// A statement, and the mark of the block that ends with it: when it is done, or just before if control need not
    /// come back from it.
    fn marked(&mut self, body: &mut Body<'p>, statement: &'p Statement, after: Label) {
        let block = self.block_ends.get(&statement.span).copied().filter(|_| is_simple(statement));
        let ending = block.and_then(|block| Some((self.marking(body, MarkKind::Block, block)?, block)));
        match ending {
            Some((mark, block)) if need_not_return(statement) => {
                self.emit(mark, block);
                self.single(body, statement, statement.span, after);
            }
            Some((mark, block)) => {
                self.single(body, statement, statement.span, after);
                self.emit(mark, block);
            }
            None => self.single(body, statement, statement.span, after),
        }
    }

    /// The instruction that tells that a construct has fired; none where that is not told.
    fn marking(&mut self, body: &Body<'p>, kind: MarkKind, span: Span) -> Option<Op> {
        match body.process_name() {
            Some(name) => self.marks_wanted.then(|| Op::Mark(self.mark(kind, span, name))),
            None => self.functions_wanted.then(|| Op::Fire(self.function_mark(kind, span))),
        }
    }

    fn single(&mut self, body: &mut Body<'p>, statement: &'p Statement, span: Span, after: Label) {
        match &statement.kind {
            StatementKind::Null => {}
            StatementKind::Sequence(statements) => self.sequence(body, statements, after),
            StatementKind::Assign { variable, value } => {
                self.expression(body, value);
                let place = self.place_of(body, *variable);
                self.store(place, value.ty, span);
                self.flow_definition(body, *variable, span);
            }
            StatementKind::AssignElement { array, index, value } => {
                let ty = body.scope[*array].ty;
                let place = self.place_of(body, *array);
                let in_place = self.types[ty.index()].storage == Storage::Wide;
                if !in_place {
                    self.load(place, ty, span);
                }
                self.flow_use(body, *array, span);
                self.expression(body, index);
                self.index_value(index.ty, span);
                self.expression(body, value);
                match place {
                    Place::Slot(slot) if in_place => {
                        let words = self.words(value.ty);
                        let whole = (slot, self.words(ty));
                        self.code.parts.push(SlotPart { whole, from: 0, words, indexed: true, array: ty });
                        self.emit(Op::StoreElement(self.code.parts.len() as u32 - 1), span);
                    }
                    Place::Local(local) if in_place => self.emit(Op::StoreLocalElement(local, ty), span),
                    _ => {
                        self.emit(Op::ChangeElement(ty), span);
                        self.store(place, ty, span);
                    }
                }
                self.flow_definition(body, *array, span);
            }
            StatementKind::Call { result, function, gates, arguments } => {
                self.push_arguments(body, arguments);
                self.call_function(body, *function, gates, span);
                self.keep_results(body, *result, *function, arguments, span);
            }
            StatementKind::Var { variables, body: inner } => {
                for &variable in variables {
                    // A declaration inside a parallel branch belongs to that branch's slots.
                    self.declare(body, variable);
                }
                self.statement(body, inner, after);
            }
            StatementKind::If { branches, otherwise } => {
                self.conditional(body, branches, otherwise.as_deref(), after, false, span);
            }
            StatementKind::OnlyIf { branches, otherwise } => {
                self.conditional(body, branches, otherwise.as_deref(), after, true, span);
            }
            StatementKind::Case { subjects, branches, .. } => {
                self.case(body, subjects, branches, after, span)
            }
            StatementKind::Loop { id, body: inner } => {
                let start = self.new_label();
                self.place(start);
                body.loops[id.index()] = Some(after);
                self.statement(body, inner, start);
                self.jump(start, span);
            }
            StatementKind::While { id, condition, body: inner } => {
                let start = self.new_label();
                self.place(start);
                body.loops[id.index()] = Some(after);
                self.decision(body, condition);
                self.emit(Op::JumpIfFalse(after.0), condition.span);
                self.statement(body, inner, start);
                self.jump(start, span);
            }
            StatementKind::For { id, initial, condition, step, body: inner } => {
                let (start, again) = (self.new_label(), self.new_label());
                self.statement(body, initial, start);
                self.place(start);
                body.loops[id.index()] = Some(after);
                self.decision(body, condition);
                self.emit(Op::JumpIfFalse(after.0), condition.span);
                self.statement(body, inner, again);
                self.place(again);
                self.statement(body, step, start);
                self.jump(start, span);
            }
            StatementKind::Break(id) => {
                let label = body.loops[id.index()].unwrap_or(after);
                self.jump(label, span);
            }
            StatementKind::Return(value) => {
                self.return_results(body, value.as_ref(), span);
            }
            StatementKind::Raise { gate, values } => self.raise(body, *gate, values, span),
            StatementKind::Assert { condition, gate } => {
                let good = self.new_label();
                self.expression(body, condition);
                self.emit(Op::JumpIfTrue(good.0), span);
                match gate {
                    GateRef::Unexpected => self.fail("the assertion does not hold", condition.span),
                    gate => self.raise(body, *gate, &[], span),
                }
                self.place(good);
            }
            StatementKind::Trap { handlers, body: inner } => {
                let labels: Vec<Label> = handlers.iter().map(|_| self.new_label()).collect();
                for (handler, &label) in handlers.iter().zip(&labels) {
                    let mut parameters = Vec::new();
                    for &variable in &handler.parameters {
                        let (Place::Slot(number) | Place::Local(number) | Place::Constant(number)) =
                            self.place_of(body, variable);
                        parameters.push((number, body.scope[variable].ty));
                    }
                    body.bind(handler.gate, Binding::Handler { label, region: self.region, parameters });
                }
                self.statement(body, inner, after);
                self.jump(after, span);
                for (handler, &label) in handlers.iter().zip(&labels) {
                    self.place(label);
                    self.flow_parameters(body, &handler.parameters);
                    self.statement(body, &handler.body, after);
                    self.jump(after, span);
                }
            }
            _ => self.behaviour(body, statement, span, after),
        }
    }

    /// Where a variable lies; it gets a slot of the frame at hand when it is first seen.
    pub(super) fn place_of(&mut self, body: &mut Body<'p>, variable: VariableId) -> Place {
        match body.places[variable.index()] {
            Some(place) => place,
            None => self.declare(body, variable),
        }
    }

    /// Gives a variable a slot of the frame at hand, unless it has one.
    fn declare(&mut self, body: &mut Body<'p>, variable: VariableId) -> Place {
        if let Some(place) = body.places[variable.index()] {
            return place;
        }
        let BodyKind::Process { frame, name, .. } = body.kind else {
            return Place::Local(variable.0);
        };
        let declared = &body.scope[variable];
        let place = Place::Slot(self.new_slot(frame, &declared.name, name, declared.ty));
        body.places[variable.index()] = Some(place);
        place
    }

    /// A condition whose outcome coverage counts; left on the stack.
    fn decision(&mut self, body: &Body<'p>, condition: &'p Expression) {
        let (true, Some(name)) = (self.marks_wanted, body.process_name()) else {
            self.expression(body, condition);
            if self.functions_wanted {
                let number = self.function_mark(MarkKind::Decision(true), condition.span);
                self.emit(Op::FireOutcome(number), condition.span);
            }
            return;
        };
        let mark = self.mark(MarkKind::Decision(true), condition.span, name);
        let watched = self.watched.contains(&condition.span);
        if watched {
            self.watch(conditions_of(condition));
            self.watch(operands_of(condition));
        }
        self.expression(body, condition);
        self.emit(Op::Decide(mark), condition.span);
        if watched {
            self.emit(Op::Record(mark, true), condition.span);
            self.watching.clear();
        }
    }

    /// Has the values of expressions recorded, until [`Compiler::watching`] is cleared.
    fn watch(&mut self, expressions: Vec<&'p Expression>) {
        for expression in expressions {
            if !self.watching.contains_key(&expression.span) {
                self.watching.insert(expression.span, self.code.observed.len() as u32);
                self.code.observed.push((expression.span, expression.ty));
            }
        }
    }

    fn conditional(
        &mut self,
        body: &mut Body<'p>,
        branches: &'p [ConditionalBranch],
        otherwise: Option<&'p Statement>,
        after: Label,
        only: bool,
        span: Span,
    ) {
        for branch in branches {
            let next = self.new_label();
            self.decision(body, &branch.condition);
            self.emit(Op::JumpIfFalse(next.0), branch.condition.span);
            self.statement(body, &branch.body, after);
            self.jump(after, branch.span);
            self.place(next);
        }
        match otherwise {
            Some(otherwise) => self.statement(body, otherwise, after),
            None if only => self.emit(Op::Stop, span),
            None => {}
        }
    }

    fn case(
        &mut self,
        body: &mut Body<'p>,
        subjects: &'p [Expression],
        branches: &'p [CaseBranch],
        after: Label,
        span: Span,
    ) {
        let first = branches.first().and_then(case_decision_span);
        let watched =
            first.is_some_and(|first| self.watched.contains(&first)) && body.process_name().is_some();
        if watched {
            self.watch(subjects.iter().collect());
        }
        for subject in subjects {
            self.expression(body, subject);
        }
        if let (true, Some(first), Some(name)) = (watched, first, body.process_name()) {
            let mark = self.mark(MarkKind::Decision(true), first, name);
            self.emit(Op::Record(mark, false), first);
            self.watching.clear();
        }
        let count: u32 = subjects.iter().map(|subject| self.words(subject.ty)).sum();
        let mut left = count;
        let mut depths = Vec::new();
        for subject in subjects {
            depths.push(left - 1);
            left -= self.words(subject.ty);
        }
        for (index, branch) in branches.iter().enumerate() {
            let (matched, next_branch) = (self.new_label(), self.new_label());
            for (number, alternative) in branch.alternatives.iter().enumerate() {
                let last = number + 1 == branch.alternatives.len();
                let next = if last { next_branch } else { self.new_label() };
                for (&depth, pattern) in depths.iter().zip(&alternative.patterns) {
                    self.test_pattern(body, pattern, depth, &mut Vec::new(), next);
                }
                for (&depth, pattern) in depths.iter().zip(&alternative.patterns) {
                    self.bind_pattern(body, pattern, depth, &mut Vec::new());
                }
                if let Some(guard) = &alternative.guard {
                    self.expression(body, guard);
                    self.emit(Op::JumpIfFalse(next.0), guard.span);
                }
                if !last {
                    self.jump(matched, alternative.span);
                    self.place(next);
                }
            }
            self.place(matched);
            self.emit(Op::Pop(count), branch.span);
            self.case_marks(body, branches, index);
            self.statement(body, &branch.body, after);
            self.jump(after, branch.span);
            self.place(next_branch);
        }
        self.fail("no branch of this case matches", span);
    }

    /// Each branch of a case is a decision: false for those passed over, true for the one taken.
    fn case_marks(&mut self, body: &Body<'p>, branches: &'p [CaseBranch], taken: usize) {
        for (index, branch) in branches[..=taken].iter().enumerate() {
            let Some(span) = case_decision_span(branch) else { continue };
            if let Some(mark) = self.marking(body, MarkKind::Decision(index == taken), span) {
                self.emit(mark, span);
            }
        }
    }

    /// Pushes the values that a call passes in.
    pub(super) fn push_arguments(&mut self, body: &Body<'p>, arguments: &'p [Argument]) {
        for argument in arguments {
            match argument {
                Argument::In(value) => self.expression(body, value),
                Argument::InOut(variable, span) => {
                    let place = self.variable(body, *variable);
                    self.load(place, body.scope[*variable].ty, *span);
                    self.flow_use(body, *variable, *span);
                }
                Argument::Out(..) => {}
            }
        }
    }

    /// Calls a function whose arguments are on the stack; where its exceptions are caught stands behind the call.
    pub(super) fn call_function(
        &mut self,
        body: &Body<'p>,
        function: FunctionId,
        gates: &[GateRef],
        span: Span,
    ) {
        let number = self.function_number(function);
        self.emit(Op::Call(number), span);
        if gates.iter().all(|&gate| matches!(body.binding(gate), Binding::Uncaught(_))) {
            return;
        }
        let places = self.code.landings.len();
        self.code.landings.push(Vec::new());
        self.emit(Op::Landings(places as u32), span);
        let behind = self.new_label();
        self.jump(behind, span);
        for &gate in gates {
            let landing = match body.binding(gate) {
                Binding::Uncaught(_) => Landing::NotCaught,
                Binding::Parameter(outer) => Landing::PassedOn(outer),
                binding => {
                    let label = self.new_label();
                    self.place(label);
                    let types: Vec<TypeId> = match &binding {
                        Binding::Handler { parameters, .. } => parameters.iter().map(|&(_, ty)| ty).collect(),
                        _ => Vec::new(),
                    };
                    let values = self.raised(&types);
                    self.raise_values(body, binding, &types, span);
                    Landing::Caught { address: label.0, values }
                }
            };
            self.code.landings[places].push(landing);
        }
        self.place(behind);
    }

    /// Stores the results of a function, which lie on the stack, the returned value first.
    fn keep_results(
        &mut self,
        body: &mut Body<'p>,
        result: Option<VariableId>,
        function: FunctionId,
        arguments: &'p [Argument],
        span: Span,
    ) {
        for argument in arguments.iter().rev() {
            if let Argument::Out(variable, span) | Argument::InOut(variable, span) = argument {
                let place = self.place_of(body, *variable);
                self.store(place, body.scope[*variable].ty, *span);
                self.flow_definition(body, *variable, *span);
            }
        }
        match (result, self.program[function].result) {
            (Some(variable), _) => {
                let place = self.place_of(body, variable);
                self.store(place, body.scope[variable].ty, span);
                self.flow_definition(body, variable, span);
            }
            (None, Some(ty)) => self.emit(Op::Pop(self.words(ty)), span),
            (None, None) => {}
        }
    }

    /// Leaves the results of a function on the stack and ends it.
    pub(super) fn return_results(&mut self, body: &Body<'p>, value: Option<&'p Expression>, span: Span) {
        let BodyKind::Function { parameters } = body.kind else { return };
        if let Some(value) = value {
            self.expression(body, value);
        }
        let mut count = value.map_or(0, |value| self.words(value.ty));
        for parameter in parameters.iter().filter(|parameter| parameter.mode != Mode::In) {
            let ty = body.scope[parameter.variable].ty;
            self.load(self.variable(body, parameter.variable), ty, span);
            count += self.words(ty);
        }
        self.emit(Op::Return(count), span);
    }

    fn raise(&mut self, body: &mut Body<'p>, gate: GateRef, values: &'p [Expression], span: Span) {
        match body.binding(gate) {
            Binding::Gate(gate) => self.raise_at_the_top(body, gate, values, span),
            binding => {
                for value in values {
                    self.expression(body, value);
                }
                let types: Vec<TypeId> = values.iter().map(|value| value.ty).collect();
                self.raise_values(body, binding, &types, span);
            }
        }
    }

    /// How many values there are of these types, and how many words they have.
    fn raised(&self, types: &[TypeId]) -> (u32, u32) {
        (types.len() as u32, types.iter().map(|&ty| self.words(ty)).sum())
    }

    /// Raises an exception whose values are on the stack.
    fn raise_values(&mut self, body: &Body<'p>, binding: Binding, types: &[TypeId], span: Span) {
        let values = self.raised(types);
        let in_process = body.process_name().is_some();
        match binding {
            // Offers and guards are evaluated to find out what can happen, so control can't go elsewhere from there.
            Binding::Handler { .. } | Binding::Gate(_) if in_process && self.region.is_none() => {
                self.fail("an exception is raised by an offer or a guard, where no trap can catch it", span);
            }
            Binding::Handler { parameters, .. } if parameters.len() != types.len() => {
                let takes = parameters.len();
                let raised =
                    if types.len() == 1 { "1 value".to_owned() } else { format!("{} values", types.len()) };
                self.fail(
                    format!("an exception is raised with {raised}, but its handler takes {takes}"),
                    span,
                );
            }
            Binding::Handler { parameters, .. }
                if parameters
                    .iter()
                    .zip(types)
                    .any(|(&(_, taken), &given)| self.words(taken) != self.words(given)) =>
            {
                self.fail("an exception is raised with values of other types than its handler takes", span);
            }
            Binding::Handler { label, region, parameters } => {
                for &(parameter, ty) in parameters.iter().rev() {
                    let place = if in_process { Place::Slot(parameter) } else { Place::Local(parameter) };
                    self.store(place, ty, span);
                }
                match region {
                    Some(handler) if self.region != Some(handler) => {
                        self.code.throws.push((handler, label.0));
                        self.emit(Op::Throw(self.code.throws.len() as u32 - 1), span);
                    }
                    _ => self.jump(label, span),
                }
            }
            Binding::Parameter(parameter) => {
                let name = body.scope.gates.iter().enumerate().find_map(|(index, gate)| {
                    (body.gates[index] == Some(Binding::Parameter(parameter))).then_some(&gate.name)
                });
                let name = name.cloned().unwrap_or_default();
                self.code.raises.push(RaiseCode { parameter, values, name });
                self.emit(Op::Raise(self.code.raises.len() as u32 - 1), span);
            }
            Binding::Uncaught(name) => self.fail(format!("exception {name} is raised and not caught"), span),
            Binding::Gate(gate) => {
                let region = self.region.unwrap_or(0);
                self.emit_action(ActionCode {
                    region,
                    gate,
                    offers: Vec::new(),
                    guard: None,
                    mark: None,
                    span,
                });
                self.emit(Op::Stop, span);
            }
            Binding::Internal => self.emit(Op::Stop, span),
        }
    }
}
