//! What is known while one function, process or predicate is typed.

use rustc_hash::{FxHashMap, FxHashSet};
use source::{Diagnostic, Span};

use super::{Globals, flow};
use crate::load::Parsed;
use crate::tree::{self, Name, TypeBody, key};
use crate::typed::{
    ChannelId, Expression, FunctionId, Gate, GateId, GateRef, Loop, LoopId, ProcessId, Scope, TypeId,
    TypeKind, Variable, VariableId,
};

/// A type that is wanted, and the place that wants it.
#[derive(Clone, Debug)]
pub(super) struct Expect {
    pub ty: TypeId,
    pub because: Option<(Span, String)>,
}

impl Expect {
    pub fn of(ty: TypeId) -> Self {
        Self { ty, because: None }
    }

    pub fn because(ty: TypeId, span: Span, text: impl Into<String>) -> Self {
        Self { ty, because: Some((span, text.into())) }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Function { result: Option<TypeId> },
    Process,
    Predicate,
}

/// A loop, or a boundary that `break` can't cross.
pub(super) enum Frame {
    Loop(Option<String>, LoopId),
    Par(Span),
}

pub(super) struct Body<'a> {
    pub globals: &'a Globals,
    pub module: usize,
    pub kind: Kind,
    pub scope: Scope,
    /// Variables in scope, innermost last.
    variables: FxHashMap<String, Vec<VariableId>>,
    gates: FxHashMap<String, Vec<GateId>>,
    pub frames: Vec<Frame>,
    /// `in` parameters, which should not be assigned.
    pub read_only: FxHashSet<VariableId>,
    /// Variables and gates that `use` and `access` mention.
    pub used_variables: FxHashSet<VariableId>,
    pub used_gates: FxHashSet<GateId>,
    /// The values that the exceptions of `trap` carry.
    pub handler_profiles: FxHashMap<GateId, Vec<TypeId>>,
    /// Something could not be typed, so there is an error somewhere.
    pub failed: bool,
    /// Missing `with` clauses that were already reported.
    pub warned: &'a mut FxHashSet<(TypeId, &'static str)>,
    pub diagnostics: &'a mut Vec<Diagnostic>,
}

/// Types every body and puts it in its place.
pub(super) fn check_bodies(
    modules: &[Parsed],
    globals: &mut Globals,
    warned: &mut FxHashSet<(TypeId, &'static str)>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let mut functions = Vec::new();
    let mut processes = Vec::new();
    for (module, Parsed { module: tree, .. }) in modules.iter().enumerate() {
        for definition in &tree.types {
            predicate(globals, module, definition, warned, diagnostics);
        }
        for function in &tree.functions {
            let id = FunctionId(functions.len() as u32);
            functions.push(check_function(globals, module, id, function, warned, diagnostics));
        }
        for process in &tree.processes {
            let id = ProcessId(processes.len() as u32);
            processes.push(check_process(globals, module, id, process, warned, diagnostics));
        }
    }
    // What is unused or has no value can't be told where something is wrong.
    if diagnostics.iter().any(Diagnostic::is_error) {
        return;
    }
    for (function, used) in globals.program.functions.iter().zip(functions) {
        let unit = flow::Unit {
            scope: &function.scope,
            gates: &function.gates,
            parameters: &function.parameters,
            body: &function.body,
            name: &function.name,
            result: function.result.map(|_| function.span),
            process: false,
            used,
        };
        flow::check(unit, diagnostics);
    }
    for (process, used) in globals.program.processes.iter().zip(processes) {
        let unit = flow::Unit {
            scope: &process.scope,
            gates: &process.gates,
            parameters: &process.parameters,
            body: &process.body,
            name: &process.name,
            result: None,
            process: true,
            used,
        };
        flow::check(unit, diagnostics);
    }
}

fn predicate(
    globals: &mut Globals,
    module: usize,
    definition: &tree::TypeDefinition,
    warned: &mut FxHashSet<(TypeId, &'static str)>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let TypeBody::Predicate { condition, .. } = &definition.body else { return };
    let id = globals.types[&definition.name.key()].1;
    let TypeKind::Predicate { scope, .. } = &globals.program[id].kind else { return };
    let mut body = Body::new(globals, module, Kind::Predicate, scope.clone(), warned, diagnostics);
    let typed: Option<Expression> = body.resolve(condition, Some(&Expect::of(TypeId::BOOL)));
    if let (Some(typed), TypeKind::Predicate { condition, .. }) = (typed, &mut globals.program[id].kind) {
        **condition = typed;
    }
}

fn check_function(
    globals: &mut Globals,
    module: usize,
    id: FunctionId,
    tree: &tree::Callable,
    warned: &mut FxHashSet<(TypeId, &'static str)>,
    diagnostics: &mut Vec<Diagnostic>,
) -> flow::Used {
    let function = &globals.program[id];
    let kind = Kind::Function { result: function.result };
    let mut body = Body::new(globals, module, kind, function.scope.clone(), warned, diagnostics);
    body.read_only(tree);
    let statement = body.statement(&tree.body);
    body.account_for_failure(tree.name.span);
    let (scope, used) = (body.scope, flow::Used { variables: body.used_variables, gates: body.used_gates });
    let function = &mut globals.program[id];
    function.scope = scope;
    function.body = statement;
    used
}

fn check_process(
    globals: &mut Globals,
    module: usize,
    id: ProcessId,
    tree: &tree::Callable,
    warned: &mut FxHashSet<(TypeId, &'static str)>,
    diagnostics: &mut Vec<Diagnostic>,
) -> flow::Used {
    let scope = globals.program[id].scope.clone();
    let mut body = Body::new(globals, module, Kind::Process, scope, warned, diagnostics);
    body.read_only(tree);
    let statement = body.statement(&tree.body);
    body.account_for_failure(tree.name.span);
    let (scope, used) = (body.scope, flow::Used { variables: body.used_variables, gates: body.used_gates });
    let process = &mut globals.program[id];
    process.scope = scope;
    process.body = statement;
    used
}

impl<'a> Body<'a> {
    pub fn new(
        globals: &'a Globals,
        module: usize,
        kind: Kind,
        scope: Scope,
        warned: &'a mut FxHashSet<(TypeId, &'static str)>,
        diagnostics: &'a mut Vec<Diagnostic>,
    ) -> Self {
        let mut body = Self {
            globals,
            module,
            kind,
            scope: Scope::default(),
            variables: FxHashMap::default(),
            gates: FxHashMap::default(),
            frames: Vec::new(),
            read_only: FxHashSet::default(),
            used_variables: FxHashSet::default(),
            used_gates: FxHashSet::default(),
            handler_profiles: FxHashMap::default(),
            failed: false,
            warned,
            diagnostics,
        };
        for (index, variable) in scope.variables.iter().enumerate() {
            body.variables.entry(key(&variable.name)).or_default().push(VariableId(index as u32));
        }
        for (index, gate) in scope.gates.iter().enumerate() {
            body.gates.entry(key(&gate.name)).or_default().push(GateId(index as u32));
        }
        body.scope = scope;
        body
    }

    fn read_only(&mut self, tree: &tree::Callable) {
        for (index, parameter) in tree.parameters.iter().enumerate() {
            if parameter.mode == tree::Mode::In {
                self.read_only.insert(VariableId(index as u32));
            }
        }
    }

    pub fn error(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    pub fn find_type(&mut self, name: &Name) -> TypeId {
        self.globals.find_type(name, self.module, self.diagnostics)
    }

    pub fn type_name(&self, ty: TypeId) -> &'a str {
        self.globals.type_name(ty)
    }

    /// Brings variables into scope; [`Body::leave`] takes them out again.
    pub fn enter(&mut self, declarations: &[tree::Declaration]) -> Vec<VariableId> {
        let mut ids: Vec<VariableId> = Vec::new();
        for declaration in declarations {
            let name = &declaration.name;
            let ty = self.find_type(&declaration.ty);
            if let Some(&first) = ids.iter().find(|&&id| key(&self.scope[id].name) == name.key()) {
                let first = self.scope[first].span;
                self.error(
                    Diagnostic::error(format!("variable `{}` is declared twice", name.text))
                        .label(name.span, "again here")
                        .label(first, "first here"),
                );
            }
            let id = VariableId(self.scope.variables.len() as u32);
            self.scope.variables.push(Variable { name: name.text.clone(), span: name.span, ty });
            self.variables.entry(name.key()).or_default().push(id);
            ids.push(id);
        }
        ids
    }

    /// Brings variables back into scope that have been taken out of it.
    pub fn enter_again(&mut self, ids: &[VariableId]) {
        for &id in ids {
            self.variables.entry(key(&self.scope[id].name)).or_default().push(id);
        }
    }

    pub fn leave(&mut self, ids: &[VariableId]) {
        for &id in ids {
            let name = key(&self.scope[id].name);
            if let Some(stack) = self.variables.get_mut(&name) {
                stack.retain(|&other| other != id);
            }
        }
    }

    pub fn variable(&self, name: &str) -> Option<VariableId> {
        self.variables.get(&key(name)).and_then(|stack| stack.last()).copied()
    }

    pub fn variable_names(&self) -> impl Iterator<Item = &str> {
        self.variables.values().filter_map(|stack| stack.last()).map(|&id| self.scope[id].name.as_str())
    }

    pub fn enter_gate(&mut self, name: &Name, channel: ChannelId) -> GateId {
        let id = GateId(self.scope.gates.len() as u32);
        self.scope.gates.push(Gate { name: name.text.clone(), span: name.span, channel });
        self.gates.entry(name.key()).or_default().push(id);
        id
    }

    pub fn leave_gates(&mut self, ids: &[GateId]) {
        for &id in ids {
            let name = key(&self.scope[id].name);
            if let Some(stack) = self.gates.get_mut(&name) {
                stack.retain(|&other| other != id);
            }
        }
    }

    pub fn gate(&self, name: &str) -> Option<GateId> {
        self.gates.get(&key(name)).and_then(|stack| stack.last()).copied()
    }

    pub fn gate_names(&self) -> impl Iterator<Item = &str> {
        self.gates.values().filter_map(|stack| stack.last()).map(|&id| self.scope[id].name.as_str())
    }

    /// A gate that is named as an actual gate, an exception, or in `par`.
    pub fn find_gate(&mut self, name: &Name) -> Option<GateRef> {
        if let Some(id) = self.gate(&name.text) {
            return Some(GateRef::Local(id));
        }
        if name.key() == "unexpected" {
            return Some(GateRef::Unexpected);
        }
        let what = if self.kind == Kind::Process { "gate" } else { "exception" };
        let near =
            source::closest(&name.text, self.gate_names()).map(|near| format!("did you mean `{near}`?"));
        self.error(
            Diagnostic::error(format!("unknown {what} `{}`", name.text))
                .label(name.span, "not declared")
                .maybe_help(near),
        );
        None
    }

    pub fn new_loop(&mut self, name: Option<&Name>, span: Span) -> LoopId {
        let id = LoopId(self.scope.loops.len() as u32);
        self.scope.loops.push(Loop { name: name.map(|name| name.text.clone()), span });
        id
    }

    /// A variable that is assigned, received into, or passed as `out`.
    pub fn assigned(&mut self, name: &Name) -> Option<VariableId> {
        let Some(id) = self.variable(&name.text) else {
            self.unknown_variable(name);
            return None;
        };
        if self.read_only.remove(&id) {
            let declared = self.scope[id].span;
            self.error(
                Diagnostic::warning(format!("`{}` is an `in` parameter, and is changed here", name.text))
                    .several("`in` parameters are changed")
                    .label(name.span, "the caller does not see this change")
                    .label(declared, "declared here")
                    .help(format!(
                        "declare it as `in var {}`, or as `in out` to pass the change back",
                        name.text
                    )),
            );
        }
        Some(id)
    }

    pub fn unknown_variable(&mut self, name: &Name) {
        let near =
            source::closest(&name.text, self.variable_names()).map(|near| format!("did you mean `{near}`?"));
        let declare = format!("declare it: `var {} : T in … end var`", name.text);
        self.error(
            Diagnostic::error(format!("unknown variable `{}`", name.text))
                .label(name.span, "not declared")
                .help(near.unwrap_or(declare)),
        );
    }

    /// A tree with holes must never be handed out, even where the checker forgot to say why.
    fn account_for_failure(&mut self, span: Span) {
        if self.failed && !self.diagnostics.iter().any(Diagnostic::is_error) {
            debug_assert!(false, "an error without a diagnostic");
            self.error(
                Diagnostic::error("the types of this definition can't be determined")
                    .label(span, "something in here is wrong"),
            );
        }
    }
}
