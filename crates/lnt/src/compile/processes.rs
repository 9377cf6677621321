//! What only processes have: actions, choices, parallel composition, calls of processes.

use model::MarkKind;
use source::{Diagnostic, Span};

use super::assigned::assigned_variables;
use super::body::{Binding, Body, BodyKind, Place};
use super::code::{ActionCode, ForkCode, ForkKind, OfferCode, Op, Region, Rule, SlotName};
use super::types::Storage;
use super::{Compiler, Frame, Label, Placement, Root};
use crate::coverage::parts_of;
use crate::run::{Values, print_value};
use crate::typed::{
    Action, Argument, Expression, ExpressionKind, GateRef, Literal, Mode, OfferKind, ParBranch, ParGate,
    Parameter, PatternKind, ProcessId, Statement, StatementKind, TypeId, VariableId,
};

/// A process with its gates and its continuation: compiled once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct InstanceKey {
    region: u32,
    pub(super) process: ProcessId,
    gates: Vec<Binding>,
    /// The values of parameters that are never assigned and get a constant here.
    constants: Vec<Option<u32>>,
    after: Label,
}

/// Where a compiled process starts, and where its parameters lie.
#[derive(Clone, Debug)]
pub(super) struct Instance {
    entry: Label,
    parameters: Vec<Place>,
}

/// Code that is still to be written.
pub(super) struct Pending<'p> {
    entry: Label,
    region: u32,
    body: Body<'p>,
    /// Parameters that have a value at its start.
    parameters: Vec<VariableId>,
    statement: &'p Statement,
    after: Label,
}

/// A process instance for every way to call it, up to this many: gates that are passed on and hidden for ever would
/// otherwise never end.
const MOST_INSTANCES: usize = 20_000;

impl<'p> Compiler<'p> {
    /// The root region: the process runs, and its end is the end of everything.
    pub(super) fn root(&mut self, root: &Root) {
        let program = self.program;
        let process = &program[root.process];
        let region = self.new_region(None, &process.name);
        self.code.regions[region as usize].instance = process.name.clone();
        self.region = Some(region);
        let end = self.new_label();
        let gates = root.gates.iter().map(|name| self.new_gate(name, false)).collect();
        let placement = Placement::Region(region);
        let call = InstanceKey { region, process: root.process, gates, constants: Vec::new(), after: end };
        let Some(instance) = self.instance(call, placement, Vec::new(), process.span) else {
            return;
        };
        self.jump(instance.entry, process.span);
        self.place(end);
        self.emit(Op::End, process.span);
    }

    pub(super) fn compile_pending(&mut self, pending: Pending<'p>) {
        let Pending { entry, region, mut body, parameters, statement, after } = pending;
        self.region = Some(region);
        self.frame = match body.kind {
            BodyKind::Process { frame, .. } => Some(frame),
            BodyKind::Function { .. } => None,
        };
        self.place(entry);
        self.flow_parameters(&body, &parameters);
        self.statement(&mut body, statement, after);
        self.jump(after, statement.span);
        self.region = None;
        self.frame = None;
    }

    fn new_region(&mut self, parent: Option<(u32, u32)>, name: &str) -> u32 {
        self.code.regions.push(Region { parent, name: name.to_owned(), ..Region::default() });
        self.region_frames.push(Vec::new());
        self.code.regions.len() as u32 - 1
    }

    fn new_frame(&mut self, region: u32, placement: Placement) -> usize {
        self.frames.push(Frame { placement, bits: Vec::new() });
        self.region_frames[region as usize].push(self.frames.len() - 1);
        self.frames.len() - 1
    }

    /// A slot of a frame for each word of a type; the first one as a position in the table of virtual slots.
    pub(super) fn new_slot(&mut self, frame: usize, name: &str, process: &str, ty: TypeId) -> u32 {
        let slot = self.virtual_slots.len() as u32;
        for &bits in &self.types[ty.index()].leaves {
            self.virtual_slots.push((frame, self.frames[frame].bits.len()));
            self.frames[frame].bits.push(bits);
        }
        let region = self.region_frames.iter().position(|frames| frames.contains(&frame)).unwrap_or(0) as u32;
        self.code.names.push(SlotName {
            slot,
            region,
            frame: frame as u32,
            name: name.to_owned(),
            process: process.to_owned(),
            ty,
        });
        slot
    }

    /// The compiled form of a process, made now if it is new.
    fn instance(
        &mut self,
        key: InstanceKey,
        placement: Placement,
        waiting: Vec<ProcessId>,
        span: Span,
    ) -> Option<Instance> {
        if let Some(known) = self.instances.get(&key) {
            return Some(known.clone());
        }
        if self.instances.len() >= MOST_INSTANCES {
            if self.errors.is_empty() {
                self.errors.push(
                    Diagnostic::error("this model has too many process instances")
                        .label(span, format!("more than {MOST_INSTANCES} with this call"))
                        .note("a process is compiled once for each choice of gates and each continuation")
                        .help("does a recursive call pass on a gate that it hides?"),
                );
            }
            return None;
        }
        let program = self.program;
        let InstanceKey { region, process: id, after, .. } = key;
        let process = &program[id];
        let frame = self.new_frame(region, placement);
        let name = process.name.as_str();
        let kind = BodyKind::Process { id, name, frame, waiting, branch: false, after };
        let mut body = Body::new(&process.scope, kind);
        for (&gate, binding) in process.gates.iter().zip(&key.gates) {
            body.bind(gate, binding.clone());
        }
        for (parameter, constant) in process.parameters.iter().zip(&key.constants) {
            body.places[parameter.variable.index()] = constant.map(Place::Constant);
        }
        let parameters: Vec<Place> =
            process.parameters.iter().map(|parameter| self.place_of(&mut body, parameter.variable)).collect();
        let entry = self.new_label();
        let instance = Instance { entry, parameters };
        self.instances.insert(key, instance.clone());
        let given = process.parameters.iter().filter(|parameter| parameter.mode != Mode::Out);
        let parameters = given.map(|parameter| parameter.variable).collect();
        self.pending.push(Pending { entry, region, body, parameters, statement: &process.body, after });
        Some(instance)
    }

    pub(super) fn behaviour(
        &mut self,
        body: &mut Body<'p>,
        statement: &'p Statement,
        span: Span,
        after: Label,
    ) {
        match &statement.kind {
            StatementKind::Stop => self.emit(Op::Stop, span),
            StatementKind::AssignAny { variable, condition } => {
                let ty = body.scope[*variable].ty;
                self.predicate_function(ty);
                if let Place::Slot(slot) = self.place_of(body, *variable) {
                    self.emit(Op::AnyValue(slot, ty), span);
                    self.flow_definition(body, *variable, span);
                }
                if let Some(condition) = condition {
                    self.expression(body, condition);
                    if let (true, Some(name)) = (self.watched.contains(&condition.span), body.process_name())
                    {
                        let mark = self.mark(MarkKind::Decision(true), condition.span, name);
                        self.emit(Op::Decide(mark), condition.span);
                    }
                    self.emit(Op::Require, condition.span);
                }
            }
            StatementKind::Action(action) => self.action(body, action, span),
            StatementKind::Select(branches) => {
                let labels: Vec<Label> = branches.iter().map(|_| self.new_label()).collect();
                self.code.choices.push(labels.iter().map(|label| label.0).collect());
                self.emit(Op::Choice(self.code.choices.len() as u32 - 1), span);
                for (branch, label) in branches.iter().zip(labels) {
                    self.place(label);
                    self.statement(body, branch, after);
                    self.jump(after, branch.span);
                }
            }
            StatementKind::Hide { gates, body: inner } => {
                for &gate in gates {
                    let binding = self.new_gate(&body.scope[gate].name, true);
                    body.bind(gate, binding);
                }
                self.statement(body, inner, after);
            }
            StatementKind::Par { synchronised, branches } => self.par(body, synchronised, branches, span),
            StatementKind::Disrupt { body: inner, interruption } => {
                self.fork(body, ForkKind::Disrupt, &[inner, interruption], Vec::new(), span);
            }
            StatementKind::Instantiate { process, gates, arguments } => {
                self.instantiate(body, *process, gates, arguments, span, after);
            }
            other => unreachable!("{other:?} is compiled with the statements of functions"),
        }
    }

    fn action(&mut self, body: &mut Body<'p>, action: &'p Action, span: Span) {
        let gate = match body.binding(action.gate) {
            Binding::Gate(gate) => gate,
            Binding::Internal => self.internal_gate(),
            Binding::Handler { .. } | Binding::Uncaught(_) | Binding::Parameter(_) => {
                return self.fail("an exception can't be used as an action", action.gate_span);
            }
        };
        let offers: Vec<(OfferCode, TypeId)> =
            action.offers.iter().map(|offer| (self.offer(body, &offer.kind), offer.ty)).collect();
        let guard = action.guard.as_ref().map(|guard| {
            let inner = body.clone();
            self.detached(guard.span, |compiler| compiler.expression(&inner, guard)).0
        });
        let mark = match (self.marks_wanted, body.process_name()) {
            (true, Some(name)) => Some(self.mark(MarkKind::Action, span, name)),
            _ => None,
        };
        self.emit_action(ActionCode { region: self.region.unwrap_or(0), gate, offers, guard, mark, span });
        self.flow_action(body, action);
    }

    pub(super) fn emit_action(&mut self, action: ActionCode) {
        let span = action.span;
        self.code.actions.push(action);
        self.emit(Op::Act(self.code.actions.len() as u32 - 1), span);
    }

    fn internal_gate(&mut self) -> u32 {
        let known = self.code.gates.iter().position(|gate| gate.hidden && gate.name == "I");
        known.unwrap_or_else(|| match self.new_gate("i", true) {
            Binding::Gate(gate) => gate as usize,
            _ => 0,
        }) as u32
    }

    fn offer(&mut self, body: &mut Body<'p>, offer: &'p OfferKind) -> OfferCode {
        match offer {
            // Where control can leave the evaluation, the value is computed before the action is offered.
            OfferKind::Send(value) if can_raise(body, value) => {
                self.expression(body, value);
                let BodyKind::Process { frame, name, .. } = body.kind else { return OfferCode::Wildcard };
                let slot = self.new_slot(frame, "offer", name, value.ty);
                self.store(Place::Slot(slot), value.ty, value.span);
                OfferCode::Slot(slot)
            }
            OfferKind::Send(value) => {
                let start = self.code.ops.len();
                let label = self.detached(value.span, |compiler| compiler.expression(body, value));
                // The commonest offers need no code: a constant, or a variable as it is.
                match self.code.ops[start + 1..] {
                    [Op::Push(constant), Op::Done] => OfferCode::Constant(constant),
                    [Op::LoadSlot(slot) | Op::LoadSlots(slot, _), Op::Done] => OfferCode::Slot(slot),
                    _ => OfferCode::Computed(label.0),
                }
            }
            OfferKind::Receive(pattern) => {
                self.predicate_function(pattern.ty);
                match &pattern.kind {
                    PatternKind::Wildcard => OfferCode::Wildcard,
                    PatternKind::Literal(literal) => OfferCode::Constant(self.literal(literal, pattern.ty)),
                    PatternKind::Equal(value) => {
                        let value = self.detached(value.span, |compiler| compiler.expression(body, value));
                        OfferCode::Computed(value.0)
                    }
                    PatternKind::Variable(variable) => match self.place_of(body, *variable) {
                        Place::Slot(slot) | Place::Local(slot) | Place::Constant(slot) => {
                            OfferCode::Variable(slot)
                        }
                    },
                    _ => {
                        let span = pattern.span;
                        let label = self.detached(span, |compiler| {
                            let (fail, end) = (compiler.new_label(), compiler.new_label());
                            let words = compiler.words(pattern.ty);
                            compiler.test_pattern(body, pattern, words - 1, &mut Vec::new(), fail);
                            compiler.bind_pattern(body, pattern, words - 1, &mut Vec::new());
                            compiler.emit(Op::Pop(words), span);
                            compiler.emit(Op::Push(1), span);
                            compiler.jump(end, span);
                            compiler.place(fail);
                            compiler.emit(Op::Pop(words), span);
                            compiler.emit(Op::Push(0), span);
                            compiler.place(end);
                        });
                        self.code.patterns.push(pattern.clone());
                        OfferCode::Pattern { address: label.0, pattern: self.code.patterns.len() as u32 - 1 }
                    }
                }
            }
        }
    }

    /// An exception that leaves the root: an action on its gate, then nothing.
    pub(super) fn raise_at_the_top(
        &mut self,
        body: &mut Body<'p>,
        gate: u32,
        values: &'p [crate::typed::Expression],
        span: Span,
    ) {
        let offers = values
            .iter()
            .map(|value| {
                let label = self.detached(value.span, |compiler| compiler.expression(body, value));
                (OfferCode::Computed(label.0), value.ty)
            })
            .collect();
        let region = self.region.unwrap_or(0);
        self.emit_action(ActionCode { region, gate, offers, guard: None, mark: None, span });
        values.iter().for_each(|value| self.flow_uses(body, value));
        self.emit(Op::Stop, span);
    }

    fn par(&mut self, body: &mut Body<'p>, gates: &'p [ParGate], branches: &'p [ParBranch], span: Span) {
        let rules = self.rules(body, gates, branches);
        let bodies: Vec<&'p Statement> = branches.iter().map(|branch| &branch.body).collect();
        self.fork(body, ForkKind::Parallel, &bodies, rules, span);
    }

    /// On which gates the branches synchronise: those before `in` concern all branches, or those that list them
    /// too; those of branches concern all branches that list them.
    fn rules(&self, body: &Body<'p>, gates: &[ParGate], branches: &[ParBranch]) -> Vec<Rule> {
        let global_gate = |gate: GateRef| match body.binding(gate) {
            Binding::Gate(gate) => Some(gate),
            _ => None,
        };
        let listed = |gate: u32| -> Vec<u32> {
            let lists = |branch: &ParBranch| branch.gates.iter().any(|&own| global_gate(own) == Some(gate));
            let members = branches.iter().enumerate().filter(|(_, branch)| lists(branch));
            members.map(|(index, _)| index as u32).collect()
        };
        let mut rules: Vec<Rule> = Vec::new();
        for par_gate in gates {
            let Some(gate) = global_gate(par_gate.gate) else { continue };
            let listed = listed(gate);
            let members = if listed.is_empty() { (0..branches.len() as u32).collect() } else { listed };
            let count = par_gate.count.unwrap_or(members.len() as u32);
            if !rules.iter().any(|rule| rule.gate == gate) {
                rules.push(Rule { gate, members, count });
            }
        }
        for gate in branches.iter().flat_map(|branch| &branch.gates).filter_map(|&gate| global_gate(gate)) {
            if !rules.iter().any(|rule| rule.gate == gate) {
                let members = listed(gate);
                let count = members.len() as u32;
                rules.push(Rule { gate, members, count });
            }
        }
        rules
    }

    fn fork(
        &mut self,
        body: &mut Body<'p>,
        kind: ForkKind,
        branches: &[&'p Statement],
        rules: Vec<Rule>,
        span: Span,
    ) {
        let BodyKind::Process { frame, .. } = body.kind else { return };
        let fork = self.code.forks.len() as u32;
        let region = self.region.unwrap_or(0);
        let empty = ForkCode { kind, region, children: Vec::new(), rules, entries: Vec::new() };
        self.code.forks.push(empty);
        self.fork_frames.push(frame);
        // The ends of the branches stand here, where no code falls into them.
        let start = self.new_label();
        self.jump(start, span);
        for (index, &statement) in branches.iter().enumerate() {
            let child = self.new_region(Some((fork, index as u32)), &self.branch_name(statement, body));
            self.code.regions[child as usize].instance = self.instance_name(statement, body, region, index);
            self.code.regions[child as usize].started = call_span(statement);
            let frame = self.new_frame(child, Placement::Region(child));
            let (entry, end) = (self.new_label(), self.new_label());
            let mut inner = body.clone();
            if let BodyKind::Process { frame: own, branch, after, .. } = &mut inner.kind {
                *own = frame;
                *branch = true;
                *after = end;
            }
            inner.loops.fill(None);
            self.code.forks[fork as usize].children.push(child);
            self.code.forks[fork as usize].entries.push(entry.0);
            let parameters = Vec::new();
            self.pending.push(Pending {
                entry,
                region: child,
                body: inner,
                parameters,
                statement,
                after: end,
            });
            let parent = (self.region.replace(child), self.frame.replace(frame));
            self.place(end);
            self.emit(Op::End, span);
            (self.region, self.frame) = parent;
        }
        self.place(start);
        self.emit(Op::Fork(fork), span);
    }

    /// What to call a branch: the process that it calls, or the one it is written in.
    fn branch_name(&self, statement: &Statement, body: &Body<'p>) -> String {
        match &statement.kind {
            StatementKind::Instantiate { process, .. } => self.program[*process].name.clone(),
            StatementKind::Hide { body: inner, .. } | StatementKind::Var { body: inner, .. } => {
                self.branch_name(inner, body)
            }
            _ => body.process_name().unwrap_or_default().to_owned(),
        }
    }

    /// What to call the instance that a branch is: the process with the arguments that are known, or the number of the
    /// branch where it has no name of its own.
    fn instance_name(&self, statement: &Statement, body: &Body<'p>, parent: u32, index: usize) -> String {
        match &statement.kind {
            StatementKind::Instantiate { process, arguments, .. } => {
                let name = &self.program[*process].name;
                let given = arguments.iter().map(|argument| self.argument_text(argument, body));
                match given.collect::<Option<Vec<String>>>() {
                    Some(given) if !given.is_empty() => format!("{name} ({})", given.join(", ")),
                    _ => name.clone(),
                }
            }
            StatementKind::Hide { body: inner, .. } | StatementKind::Var { body: inner, .. } => {
                self.instance_name(inner, body, parent, index)
            }
            _ => format!("{} branch {}", self.code.regions[parent as usize].instance, index + 1),
        }
    }

    /// An argument for people; nothing where it is not known before the model runs, or long.
    fn argument_text(&self, argument: &Argument, body: &Body<'p>) -> Option<String> {
        let Argument::In(value) = argument else { return None };
        let text = self.value_text(value, body)?;
        (text.chars().count() <= 24).then_some(text)
    }

    fn value_text(&self, value: &Expression, body: &Body<'p>) -> Option<String> {
        match &value.kind {
            ExpressionKind::Literal(Literal::Bool(value)) => Some(value.to_string()),
            ExpressionKind::Literal(Literal::Integer(value)) => Some(value.to_string()),
            ExpressionKind::Literal(Literal::String(value)) => Some(format!("{value:?}")),
            ExpressionKind::Construct(constructor, parts) => {
                let name = &self.program[*constructor].name;
                let parts = parts.iter().map(|part| self.value_text(part, body));
                let parts = parts.collect::<Option<Vec<String>>>()?;
                Some(if parts.is_empty() { name.clone() } else { format!("{name} ({})", parts.join(", ")) })
            }
            ExpressionKind::Variable(variable) => match body.places[variable.index()] {
                Some(Place::Constant(constant)) if self.words(value.ty) == 1 => {
                    let values = Values::new(&self.values, &self.types, self.program);
                    Some(print_value(&values, value.ty, &[constant]))
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn instantiate(
        &mut self,
        body: &mut Body<'p>,
        process: ProcessId,
        gates: &[GateRef],
        arguments: &'p [Argument],
        span: Span,
        after: Label,
    ) {
        let BodyKind::Process { id, frame, ref waiting, branch, after: own_after, .. } = body.kind else {
            return;
        };
        let mut waiting = waiting.clone();
        let region = self.region.unwrap_or(0);
        let bindings: Vec<Binding> = gates.iter().map(|&gate| body.binding(gate)).collect();
        let same_results = self.passes_on_its_results(body, id, process, arguments);
        let has_results = arguments.iter().any(|argument| !matches!(argument, Argument::In(_)));
        // The slots of a process may be used again once nobody reads its variables any more.
        let returns = !branch && self.program[id].parameters.iter().any(|one| one.mode != Mode::In);
        let nothing_left = same_results || (!has_results && !returns);
        let tail = after == own_after && nothing_left && !self.passes_on_a_handler(body, id, gates);
        if !tail || branch {
            if waiting.contains(&id) {
                let how = match branch {
                    true => "runs in parallel with itself",
                    false => "calls itself and has more to do afterwards",
                };
                return self.refuse_recursion(id, span, how);
            }
            waiting.push(id);
        }
        let (continuation, placement) = match tail {
            true => (after, self.frames[frame].placement),
            false if has_results => (self.new_label(), Placement::After(frame)),
            false => (after, Placement::After(frame)),
        };
        let constants = self.constants(body, process, arguments);
        let call = InstanceKey { region, process, gates: bindings, constants, after: continuation };
        let Some(instance) = self.instance(call, placement, waiting, span) else { return };
        let called = &self.program[process];
        let parameters = called.parameters.iter().map(|one| (one.mode, called.scope[one.variable].ty));
        let parameters: Vec<(Mode, TypeId)> = parameters.collect();
        self.push_arguments(body, arguments);
        for (&(mode, ty), &place) in parameters.iter().zip(&instance.parameters).rev() {
            if mode != Mode::Out {
                self.store(place, ty, span);
            }
        }
        self.jump(instance.entry, span);
        if !tail && has_results {
            self.place(continuation);
            for (argument, &place) in arguments.iter().zip(&instance.parameters) {
                if let Argument::Out(variable, span) | Argument::InOut(variable, span) = argument {
                    let ty = body.scope[*variable].ty;
                    self.load(place, ty, *span);
                    let own = self.place_of(body, *variable);
                    self.store(own, ty, *span);
                    self.flow_definition(body, *variable, *span);
                }
            }
            self.jump(after, span);
        }
    }

    /// The constants among the arguments of a call, for parameters that the process never assigns.
    fn constants(
        &mut self,
        body: &Body<'p>,
        process: ProcessId,
        arguments: &'p [Argument],
    ) -> Vec<Option<u32>> {
        let program = self.program;
        let assigned =
            self.assigned.entry(process).or_insert_with(|| assigned_variables(&program[process])).clone();
        let parameters = program[process].parameters.iter();
        let constant = |(parameter, argument): (&Parameter, &'p Argument)| match argument {
            Argument::In(value) if !assigned[parameter.variable.index()] => self.constant(body, value),
            _ => None,
        };
        parameters.zip(arguments).map(constant).collect()
    }

    /// The value of an expression, if it is written down or known already.
    fn constant(&mut self, body: &Body<'p>, expression: &'p Expression) -> Option<u32> {
        match &expression.kind {
            ExpressionKind::Literal(literal) => Some(self.literal(literal, expression.ty)),
            ExpressionKind::Variable(variable) => match body.places[variable.index()] {
                Some(Place::Constant(value)) => Some(value),
                _ => None,
            },
            ExpressionKind::Construct(constructor, fields) if fields.is_empty() => {
                let ordinal = self.program[*constructor].ordinal;
                let shape = &self.types[expression.ty.index()];
                match shape.storage {
                    Storage::Scalar => Some(ordinal),
                    Storage::Packed if shape.fields.len() == 1 => Some(0),
                    Storage::Packed => Some(ordinal << shape.tag_shift),
                    Storage::Wide => {
                        let mut words = vec![0; shape.leaves.len()];
                        words[0] = ordinal;
                        Some(self.values.intern(&words))
                    }
                    Storage::Row => Some(self.values.intern(&[ordinal])),
                }
            }
            _ => None,
        }
    }

    /// Whether a process hands one of its own exceptions to a process that it calls, which may come back by it.
    fn passes_on_a_handler(&self, body: &Body<'p>, own: ProcessId, gates: &[GateRef]) -> bool {
        let given = &self.program[own].gates;
        gates.iter().any(|&gate| {
            let is_own = matches!(gate, GateRef::Local(gate) if !given.contains(&gate));
            is_own && matches!(body.binding(gate), Binding::Handler { .. })
        })
    }

    /// Whether a call of the process itself passes its own result parameters on in their places, so that nothing is
    /// left to do when it returns.
    fn passes_on_its_results(
        &self,
        body: &Body<'p>,
        own: ProcessId,
        called: ProcessId,
        arguments: &[Argument],
    ) -> bool {
        let parameters = &self.program[own].parameters;
        let same = |variable: VariableId, index: usize| parameters[index].variable == variable;
        own == called
            && body.process_name().is_some()
            && arguments.iter().enumerate().all(|(index, argument)| match argument {
                Argument::In(_) => true,
                Argument::Out(variable, _) | Argument::InOut(variable, _) => same(*variable, index),
            })
    }

    fn refuse_recursion(&mut self, process: ProcessId, span: Span, how: &str) {
        let name = &self.program[process].name;
        self.errors.push(
            Diagnostic::error(format!("process {name} {how}, so its state is unbounded"))
                .label(span, "this would need more and more variables")
                .note("recursion is supported only where the call is the last thing that a process does")
                .help("use a loop, or keep what remains to be done in a parameter"),
        );
        self.emit(Op::Stop, span);
    }
}

/// Whether evaluating an expression may raise an exception that somebody catches.
fn can_raise(body: &Body<'_>, expression: &Expression) -> bool {
    let passes = match &expression.kind {
        ExpressionKind::Call { gates, .. } => {
            gates.iter().any(|&gate| !matches!(body.binding(gate), Binding::Uncaught(_)))
        }
        _ => false,
    };
    passes || parts_of(expression).into_iter().any(|part| can_raise(body, part))
}

/// Where a branch calls a process, if that is all it does.
fn call_span(statement: &Statement) -> Option<Span> {
    match &statement.kind {
        StatementKind::Instantiate { .. } => Some(statement.span),
        StatementKind::Hide { body, .. } | StatementKind::Var { body, .. } => call_span(body),
        _ => None,
    }
}
