//! Statements that begin with a name: which kind of thing it names, instantiations of processes, calls of
//! functions. Actions are in [`offers`](super::offers).

use source::{Diagnostic, Span};

use super::ERROR;
use super::body::{Body, Expect, Kind};
use crate::predefined::{Signature, Target};
use crate::tree::{self, Actual, ActualKind, Actuals, GateActuals, Invoke, Name, PatternKind, key};
use crate::typed::{Argument, ChannelId, GateId, GateRef, Mode, ProcessId, Scope, StatementKind, TypeId};

impl Body<'_> {
    pub(super) fn invoke(&mut self, invoke: &Invoke, span: Span) -> Option<StatementKind> {
        let name = &invoke.name;
        let plain = invoke.result.is_none() && !invoke.eval && invoke.gates.is_none();
        if plain && let Some(gate) = self.gate(&name.text) {
            return self.action(GateRef::Local(gate), invoke);
        }
        if !invoke.eval
            && invoke.result.is_none()
            && let Some(&(module, process)) = self.globals.processes.get(&name.key())
        {
            if !self.globals.sees(self.module, Some(module)) {
                self.error(self.globals.not_imported("process", name, Some(module)));
            }
            return self.instantiate(process, invoke, span);
        }
        if plain && name.key() == "i" {
            return self.internal(invoke);
        }
        let functions: Vec<&Signature> =
            self.signatures(&name.text).filter(|one| matches!(one.target, Target::Function(_))).collect();
        if !functions.is_empty() {
            return self.call(invoke, &functions, span);
        }
        self.unknown_name(invoke, span);
        None
    }

    pub(super) fn unknown_name(&mut self, invoke: &Invoke, span: Span) {
        let name = &invoke.name;
        if self.variable(&name.text).is_some() {
            return self.error(
                Diagnostic::error(format!("`{}` is a variable, not a statement", name.text))
                    .label(span, "does nothing")
                    .help(format!("assign it with `{} := …`", name.text)),
            );
        }
        if self.signatures(&name.text).next().is_some() {
            return self.error(
                Diagnostic::error(format!("the result of `{}` is not used", name.text))
                    .label(name.span, "a value is not a statement")
                    .help(format!("keep it in a variable: `x := {} (…)`", name.text)),
            );
        }
        let globals = self.globals;
        let module = self.module;
        let processes = globals
            .processes
            .values()
            .filter(move |(owner, _)| globals.sees(module, Some(*owner)))
            .map(|(_, id)| globals.program[*id].name.as_str());
        let functions = globals
            .program
            .functions
            .iter()
            .filter(move |function| globals.sees(module, Some(function.module.index())))
            .map(|function| function.name.as_str());
        let (what, near) = match (self.kind, invoke.gates.is_some()) {
            (Kind::Process, true) => ("process", source::closest(&name.text, processes)),
            (Kind::Process, false) => {
                let keywords = ["stop", "null", "loop", "select", "break", "return"];
                let gates: Vec<&str> = self.gate_names().collect();
                let known = processes.chain(functions).chain(gates).chain(keywords);
                ("gate, process or function", source::closest(&name.text, known))
            }
            _ => ("function", source::closest(&name.text, functions.chain(["return", "null", "raise"]))),
        };
        let near = near.map(|near| format!("did you mean `{near}`?"));
        let mut diagnostic =
            Diagnostic::error(format!("unknown {what} `{}`", name.text)).label(name.span, "not defined");
        if near.is_none() && self.kind == Kind::Process && invoke.gates.is_none() {
            diagnostic = diagnostic
                .help(format!("declare a gate in the header of the process: `[{} : any]`", name.text));
        }
        self.error(diagnostic.maybe_help(near));
    }

    fn instantiate(&mut self, id: ProcessId, invoke: &Invoke, span: Span) -> Option<StatementKind> {
        let name = &invoke.name;
        if self.kind != Kind::Process {
            self.error(
                Diagnostic::error(format!("a function can't call the process `{}`", name.text))
                    .label(name.span, "only processes can")
                    .help("make this a process, or the other one a function"),
            );
            return None;
        }
        if let Some(guard) = &invoke.guard {
            self.error(
                Diagnostic::error("`where` is only allowed after an action")
                    .label(guard.span, format!("`{}` is a process", name.text))
                    .help("write `only if V then … end if` around it"),
            );
            return None;
        }
        let process = &self.globals.program[id];
        let gates = match &invoke.gates {
            Some(actuals) => {
                self.gate_actuals(&process.scope, &process.gates, name, process.span, "gate", actuals)
            }
            None if process.gates.is_empty() => Some(Vec::new()),
            None => {
                let actuals = GateActuals { gates: Vec::new(), ellipsis: false, span: name.span };
                self.gate_actuals(&process.scope, &process.gates, name, process.span, "gate", &actuals)
            }
        };
        let formals: Vec<(Mode, TypeId)> =
            process.parameters.iter().map(|one| (one.mode, process.scope[one.variable].ty)).collect();
        let names: Vec<String> =
            process.parameters.iter().map(|one| process.scope[one.variable].name.clone()).collect();
        let spans: Vec<Span> =
            process.parameters.iter().map(|one| process.scope[one.variable].span).collect();
        let empty = Actuals { values: Vec::new(), ellipsis: false, span };
        let arguments = self.call_arguments(
            name,
            process.span,
            &formals,
            &names,
            &spans,
            invoke.arguments.as_ref().unwrap_or(&empty),
        );
        Some(StatementKind::Instantiate { process: id, gates: gates?, arguments: arguments? })
    }

    /// Actual gates (or exceptions) in the order of the formal ones.
    pub(super) fn gate_actuals(
        &mut self,
        scope: &Scope,
        formals: &[GateId],
        name: &Name,
        defined: Span,
        what: &str,
        actuals: &GateActuals,
    ) -> Option<Vec<GateRef>> {
        let plural = |count: usize| if count == 1 { String::new() } else { "s".to_owned() };
        if !actuals.ellipsis && actuals.gates.len() != formals.len() {
            let listed: Vec<String> = formals.iter().map(|&id| scope[id].name.clone()).collect();
            let count = formals.len();
            let mut diagnostic = Diagnostic::error(format!(
                "`{}` takes {count} {what}{}, found {}",
                name.text,
                plural(count),
                actuals.gates.len()
            ))
            .label(actuals.span, format!("expected {count} {what}{}", plural(count)))
            .label(defined, "defined here");
            if !listed.is_empty() {
                diagnostic = diagnostic.note(format!("its {what}s are [{}]", listed.join(", ")));
            }
            self.error(diagnostic);
            return None;
        }
        let mut slots: Vec<Option<(GateRef, Span)>> = vec![None; formals.len()];
        let mut wrong = false;
        for (index, actual) in actuals.gates.iter().enumerate() {
            let at = match &actual.formal {
                None => Some(index),
                Some(formal) => formals.iter().position(|&id| key(&scope[id].name) == formal.key()),
            };
            let Some(slot) = at.filter(|&at| at < slots.len()) else {
                let formal = actual.formal.as_ref().unwrap_or(&actual.actual);
                let near = source::closest(&formal.text, formals.iter().map(|&id| scope[id].name.as_str()));
                let near = near.map(|near| format!("did you mean `{near}`?"));
                self.error(
                    Diagnostic::error(format!("`{}` has no {what} `{}`", name.text, formal.text))
                        .label(formal.span, "unknown")
                        .label(defined, "defined here")
                        .maybe_help(near),
                );
                wrong = true;
                continue;
            };
            if slots[slot].is_some() {
                self.error(
                    Diagnostic::error(format!("{what} `{}` is given twice", scope[formals[slot]].name))
                        .label(actual.actual.span, "again here"),
                );
                wrong = true;
                continue;
            }
            match self.find_gate(&actual.actual) {
                Some(gate) => slots[slot] = Some((gate, actual.actual.span)),
                None => wrong = true,
            }
        }
        if wrong {
            return None;
        }
        let mut gates = Vec::new();
        for (slot, &formal) in slots.into_iter().zip(formals) {
            let formal = &scope[formal];
            let (gate, span) = match slot {
                Some(slot) => slot,
                None => match self.gate(&formal.name) {
                    Some(id) => (GateRef::Local(id), actuals.span),
                    None => {
                        self.error(
                            Diagnostic::error(format!(
                                "{what} `{}` of `{}` is missing",
                                formal.name, name.text
                            ))
                            .label(actuals.span, format!("`...` finds no `{}` here", formal.name))
                            .label(formal.span, "declared here"),
                        );
                        return None;
                    }
                },
            };
            self.check_channel(gate, span, formal.channel, &formal.name, formal.span);
            gates.push(gate);
        }
        Some(gates)
    }

    fn check_channel(
        &mut self,
        gate: GateRef,
        span: Span,
        wanted: ChannelId,
        formal: &str,
        formal_span: Span,
    ) {
        let GateRef::Local(id) = gate else { return };
        if let Some(profile) = self.handler_profiles.get(&id) {
            let profile = profile.clone();
            return self.check_handler(id, &profile, span, wanted, formal, formal_span);
        }
        let found = self.scope[id].channel;
        let silent = [ChannelId::NONE, ChannelId::EXIT];
        if found == wanted
            || found == ChannelId::ANY
            || wanted == ChannelId::ANY
            || (silent.contains(&found) && silent.contains(&wanted))
        {
            return;
        }
        let (wanted, found) = (&self.globals.program[wanted].name, &self.globals.program[found].name);
        let declared = self.scope[id].span;
        let diagnostic =
            Diagnostic::error(format!("expected a gate of channel `{wanted}`, found channel `{found}`"))
                .label(span, format!("has channel `{found}`"))
                .label(formal_span, format!("`{formal}` has channel `{wanted}`"))
                .label(declared, "declared here");
        self.error(diagnostic);
    }

    /// Whether whatever can be raised by a parameter of this channel fits the handler that is passed for it.
    fn check_handler(
        &mut self,
        id: GateId,
        profile: &[TypeId],
        span: Span,
        wanted: ChannelId,
        formal: &str,
        formal_span: Span,
    ) {
        let channel = &self.globals.program[wanted];
        let fits = match wanted {
            ChannelId::NONE | ChannelId::EXIT | ChannelId::ANY => profile.is_empty(),
            _ => channel.profiles.iter().all(|values| values == profile),
        };
        if fits || profile.contains(&ERROR) {
            return;
        }
        let declared = self.scope[id].span;
        self.error(
            Diagnostic::error(format!(
                "the handler of `{}` does not take what is raised",
                self.scope[id].name
            ))
            .label(span, format!("raised with the values of channel `{}`", channel.name))
            .label(formal_span, format!("`{formal}` has channel `{}`", channel.name))
            .label(declared, "declared here"),
        );
    }

    /// Actual parameters of an instantiation or of a call that is a statement.
    fn call_arguments(
        &mut self,
        name: &Name,
        defined: Span,
        formals: &[(Mode, TypeId)],
        names: &[String],
        spans: &[Span],
        actuals: &Actuals,
    ) -> Option<Vec<Argument>> {
        let count = formals.len();
        if !actuals.ellipsis && actuals.values.len() != count {
            let plural = if count == 1 { "" } else { "s" };
            let mut diagnostic = Diagnostic::error(format!(
                "`{}` takes {count} parameter{plural}, found {}",
                name.text,
                actuals.values.len()
            ))
            .label(
                if actuals.values.is_empty() { name.span } else { actuals.span },
                format!("expected {count} parameter{plural}"),
            )
            .label(defined, "defined here");
            if count > 0 {
                let listed: Vec<String> = names
                    .iter()
                    .zip(formals)
                    .map(|(name, (_, ty))| format!("{name} : {}", self.type_name(*ty)))
                    .collect();
                diagnostic = diagnostic.note(format!("its parameters are ({})", listed.join(", ")));
            }
            self.error(diagnostic);
            return None;
        }
        let mut slots: Vec<Option<&Actual>> = vec![None; count];
        for (index, actual) in actuals.values.iter().enumerate() {
            let at = match &actual.formal {
                None => Some(index).filter(|&index| index < count),
                Some(formal) => names.iter().position(|name| key(name) == formal.key()),
            };
            match at {
                Some(at) if slots[at].is_none() => slots[at] = Some(actual),
                _ => {
                    let span = actual.formal.as_ref().map_or(actual.span, |formal| formal.span);
                    self.error(
                        Diagnostic::error(format!("`{}` has no parameter left for this", name.text))
                            .label(span, "does not fit")
                            .note(format!("its parameters are {}", names.join(", "))),
                    );
                    return None;
                }
            }
        }
        let mut arguments = Vec::new();
        let mut wrong = false;
        for (at, slot) in slots.into_iter().enumerate() {
            let (mode, ty) = formals[at];
            let because = Some((spans[at], format!("`{}` is `{}`", names[at], self.type_name(ty))));
            let argument = match slot {
                Some(actual) => self.argument(actual, mode, &Expect { ty, because }, &names[at]),
                None => self.same_name(&names[at], mode, ty, actuals.span),
            };
            match argument {
                Some(argument) => arguments.push(argument),
                None => wrong = true,
            }
        }
        (!wrong).then_some(arguments)
    }

    /// `...` passes the variable that is called like the parameter.
    fn same_name(&mut self, name: &str, mode: Mode, ty: TypeId, span: Span) -> Option<Argument> {
        let name = Name { text: name.to_owned(), span };
        let kind = match mode {
            Mode::In => {
                ActualKind::Value(tree::Expression { kind: tree::ExpressionKind::Name(name.clone()), span })
            }
            Mode::Out => ActualKind::Receive(tree::Pattern { kind: PatternKind::Name(name.clone()), span }),
            Mode::InOut => ActualKind::InOut(name.clone()),
        };
        self.argument(&Actual { formal: None, kind, span }, mode, &Expect::of(ty), &name.text)
    }

    fn argument(&mut self, actual: &Actual, mode: Mode, expect: &Expect, name: &str) -> Option<Argument> {
        let (written, variable) = match &actual.kind {
            ActualKind::Value(value) => {
                if mode == Mode::In {
                    return self.resolve(value, Some(expect)).map(Argument::In);
                }
                ("V", None)
            }
            ActualKind::Receive(pattern) => match &pattern.kind {
                PatternKind::Name(variable) => ("?x", Some(variable)),
                _ => ("?P", None),
            },
            ActualKind::InOut(variable) => ("!?x", Some(variable)),
        };
        match (mode, written, variable) {
            (Mode::Out, "?x", Some(variable)) | (Mode::InOut, "!?x", Some(variable)) => {
                let id = self.assigned(variable)?;
                let found = self.scope[id].ty;
                if found != expect.ty {
                    self.mismatch(variable.span, &[found], Some(expect));
                    return None;
                }
                Some(match mode {
                    Mode::Out => Argument::Out(id, actual.span),
                    _ => Argument::InOut(id, actual.span),
                })
            }
            _ => {
                let (mode, wanted) = match mode {
                    Mode::In => ("in", "V"),
                    Mode::Out => ("out", "?x"),
                    Mode::InOut => ("in out", "!?x"),
                };
                let mut diagnostic = Diagnostic::error(format!("`{name}` is an `{mode}` parameter"))
                    .label(actual.span, format!("expected the form `{wanted}`"));
                if let Some((span, _)) = &expect.because {
                    diagnostic = diagnostic.label(*span, "declared here");
                }
                let text = match &actual.kind {
                    ActualKind::Value(tree::Expression {
                        kind: tree::ExpressionKind::Name(name), ..
                    }) => Some(&name.text),
                    _ => variable.map(|variable| &variable.text),
                };
                let help = text.map(|text| format!("write `{}{text}`", wanted.trim_end_matches(['V', 'x'])));
                self.error(diagnostic.maybe_help(help));
                None
            }
        }
    }

    fn call(&mut self, invoke: &Invoke, functions: &[&Signature], span: Span) -> Option<StatementKind> {
        let name = &invoke.name;
        if let Some(guard) = &invoke.guard {
            self.error(
                Diagnostic::error("`where` is only allowed after an action")
                    .label(guard.span, format!("`{}` is a function", name.text)),
            );
            return None;
        }
        let empty = Actuals { values: Vec::new(), ellipsis: false, span };
        let actuals = invoke.arguments.as_ref().unwrap_or(&empty);
        let result = match &invoke.result {
            Some(result) => Some(self.assigned(result)?),
            None => None,
        };
        let result_type = result.map(|id| self.scope[id].ty);
        let signature = self.choose_procedure(functions, actuals, result_type);
        let Target::Function(id) = signature.target else { return None };
        self.needs_import(name, signature);
        let function = &self.globals.program[id];
        let names: Vec<String> =
            function.parameters.iter().map(|one| function.scope[one.variable].name.clone()).collect();
        let spans: Vec<Span> =
            function.parameters.iter().map(|one| function.scope[one.variable].span).collect();
        let arguments =
            self.call_arguments(name, function.span, &signature.parameters, &names, &spans, actuals)?;
        match (function.result, &invoke.result) {
            (Some(found), Some(result_name)) => {
                let expect = self.expect_variable(result?, result_name);
                if expect.ty != found && expect.ty != ERROR && found != ERROR {
                    self.mismatch(span, &[found], Some(&expect));
                    return None;
                }
            }
            (None, Some(result)) => {
                self.error(
                    Diagnostic::error(format!("`{}` has no result", name.text))
                        .label(name.span, format!("nothing to assign to `{}`", result.text))
                        .label(function.span, "defined here"),
                );
                return None;
            }
            (Some(_), None) if !invoke.eval => {
                self.error(
                    Diagnostic::error(format!("the result of `{}` is not used", name.text))
                        .label(name.span, "a value is not a statement")
                        .help(format!("keep it in a variable: `x := {} (…)`", name.text)),
                );
                return None;
            }
            _ => {}
        }
        let gates = self.function_gates(id, name, invoke.gates.as_ref())?;
        Some(StatementKind::Call { result, function: id, gates, arguments })
    }

    /// Among functions of one name, the one whose parameters fit best: by number, then by mode, then by type.
    fn choose_procedure<'s>(
        &self,
        functions: &[&'s Signature],
        actuals: &Actuals,
        result: Option<TypeId>,
    ) -> &'s Signature {
        let score = |signature: &Signature| {
            if signature.parameters.len() != actuals.values.len() {
                return 0;
            }
            let fitting = signature.parameters.iter().zip(&actuals.values).filter(|((mode, ty), actual)| {
                let mode_fits = match actual.kind {
                    ActualKind::Value(_) => *mode == Mode::In,
                    ActualKind::Receive(_) => *mode == Mode::Out,
                    ActualKind::InOut(_) => *mode == Mode::InOut,
                };
                let type_fits = match &actual.kind {
                    ActualKind::InOut(name) => {
                        self.variable(&name.text).is_none_or(|id| self.scope[id].ty == *ty)
                    }
                    _ => self.possible_offer(actual).contains(*ty),
                };
                mode_fits && type_fits
            });
            let result_fits = usize::from(signature.result == result);
            1 + 2 * fitting.count() + result_fits
        };
        let mut best = functions[0];
        for &candidate in functions {
            if score(candidate) > score(best) {
                best = candidate;
            }
        }
        best
    }
}
