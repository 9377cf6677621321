//! Collects the definitions of all modules into tables, before any body is looked at.

use rustc_hash::{FxHashMap, FxHashSet};
use source::{Diagnostic, Span};

use super::{ERROR, Globals};
use crate::load::Parsed;
use crate::predefined::{Predefined, Rank, Signature, Target, with_group, with_names};
use crate::tree::{self, Name, Pragma, TypeBody, key};
use crate::typed::{
    Channel, ChannelId, Constructor, ConstructorId, Expression, ExpressionKind, Field, Function, FunctionId,
    Gate, GateId, Literal, Mode, Module, ModuleId, Parameter, Process, ProcessId, Program, Scope, Statement,
    StatementKind, Type, TypeId, TypeKind, Variable, VariableId,
};

/// The tables of a program whose bodies are still empty.
pub(super) fn declare(modules: &[Parsed], diagnostics: &mut Vec<Diagnostic>) -> Globals {
    let mut declare = Declare {
        globals: Globals {
            program: Program::default(),
            types: FxHashMap::default(),
            channels: FxHashMap::default(),
            processes: FxHashMap::default(),
            offer_names: FxHashMap::default(),
            signatures: FxHashMap::default(),
            visible: visibility(modules),
            integers: Vec::new(),
            reals: Vec::new(),
            chars: Vec::new(),
            strings: Vec::new(),
            collections: Vec::new(),
        },
        declared: FxHashSet::default(),
        everywhere: Vec::new(),
        owners: Vec::new(),
        aliases: Vec::new(),
        diagnostics,
    };
    declare.run(modules);
    declare.globals
}

/// Imports are transitive: a module sees what the modules that it imports see.
fn visibility(modules: &[Parsed]) -> Vec<Vec<bool>> {
    let mut visible: Vec<Vec<bool>> = Vec::new();
    for (index, parsed) in modules.iter().enumerate() {
        let mut row = vec![false; modules.len()];
        row[index] = true;
        for &import in &parsed.imports {
            for (seen, &also) in row.iter_mut().zip(&visible[import]) {
                *seen |= also;
            }
        }
        visible.push(row);
    }
    visible
}

struct Declare<'a> {
    globals: Globals,
    /// Which `with` groups each type has asked for.
    declared: FxHashSet<(TypeId, &'static str)>,
    /// `with` groups that a module asks for on behalf of its types.
    everywhere: Vec<FxHashSet<&'static str>>,
    /// The module of each type.
    owners: Vec<Option<usize>>,
    /// `with "get" as "read"`
    aliases: Vec<(TypeId, &'static str, String)>,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl Declare<'_> {
    fn run(&mut self, modules: &[Parsed]) {
        self.predefined();
        for (index, Parsed { module, .. }) in modules.iter().enumerate() {
            let name = module.name.text.clone();
            self.globals.program.modules.push(Module { name, span: module.span });
            let groups = module.with.iter().filter_map(|with| self.with(&with.name)).collect();
            self.everywhere.push(groups);
            for pragma in &module.pragmas {
                self.module_pragma(pragma);
            }
            self.check_number_bounds(&module.pragmas);
            self.type_names(index, module);
            self.channel_names(index, module);
        }
        for (index, Parsed { module, .. }) in modules.iter().enumerate() {
            self.type_bodies(index, module);
            self.profiles(index, module);
        }
        self.check_types();
        self.literals();
        self.predefined_functions();
        for (index, Parsed { module, .. }) in modules.iter().enumerate() {
            for function in &module.functions {
                self.function(index, function);
            }
            for process in &module.processes {
                self.process(index, process);
            }
        }
        self.duplicate_functions();
    }

    fn predefined(&mut self) {
        let kinds = [
            ("bool", TypeKind::Bool),
            ("nat", TypeKind::Nat { lower: 0, upper: 255 }),
            ("int", TypeKind::Int { lower: -128, upper: 127 }),
            ("real", TypeKind::Real),
            ("char", TypeKind::Char),
            ("string", TypeKind::String),
        ];
        for (name, kind) in kinds {
            let id = TypeId(self.globals.program.types.len() as u32);
            self.globals.program.types.push(Type { name: name.to_owned(), span: None, kind });
            self.globals.types.insert(name.to_owned(), (None, id));
            self.owners.push(None);
        }
        for (name, profiles) in [("any", vec![]), ("none", vec![vec![]]), ("exit", vec![vec![]])] {
            let id = ChannelId(self.globals.program.channels.len() as u32);
            self.globals.program.channels.push(Channel { name: name.to_owned(), span: None, profiles });
            self.globals.channels.insert(name.to_owned(), (None, id));
            self.globals
                .offer_names
                .insert(id, if id == ChannelId::ANY { Vec::new() } else { vec![Vec::new()] });
        }
    }

    fn with(&mut self, name: &Name) -> Option<&'static str> {
        let group = with_group(&name.text);
        if group.is_none() {
            let near = source::closest(&name.text, with_names());
            self.diagnostics.push(
                Diagnostic::error(format!("there is no predefined function \"{}\"", name.text))
                    .label(name.span, "unknown")
                    .maybe_help(near.map(|near| format!("did you mean \"{near}\"?"))),
            );
        }
        group
    }

    fn module_pragma(&mut self, pragma: &Pragma) {
        let name = pragma.name.key();
        let (ty, what) = match name.split_once('_') {
            Some(("nat", what)) => (TypeId::NAT, what),
            Some(("int", what)) => (TypeId::INT, what),
            _ => (ERROR, ""),
        };
        if matches!(
            name.as_str(),
            "num_bits" | "num_card" | "string_card" | "update" | "version" | "list_bits"
        ) || what == "check"
        {
            return;
        }
        if !matches!(what, "inf" | "sup" | "bits") {
            return self.unknown_pragma(
                pragma,
                &["nat_inf", "nat_sup", "nat_bits", "int_inf", "int_sup", "int_bits"],
            );
        }
        let Some(number) = pragma.number else {
            self.diagnostics.push(
                Diagnostic::error(format!("`!{}` needs a number", pragma.name.text))
                    .label(pragma.span, "no number here")
                    .help(format!("write `!{} 8`", pragma.name.text)),
            );
            return;
        };
        if what == "bits" && !(1..=62).contains(&number) {
            self.diagnostics.push(
                Diagnostic::error(format!("`!{}` takes a number of bits from 1 to 62", pragma.name.text))
                    .label(pragma.span, "out of range"),
            );
            return;
        }
        if let TypeKind::Nat { lower, upper } | TypeKind::Int { lower, upper } =
            &mut self.globals.program[ty].kind
        {
            match what {
                "inf" => *lower = number,
                "sup" => *upper = number,
                _ if ty == TypeId::NAT => *upper = (1 << number) - 1,
                _ => (*lower, *upper) = (-(1 << (number - 1)), (1 << (number - 1)) - 1),
            }
        }
    }

    /// Bounds make sense together, not one by one: both may be set.
    fn check_number_bounds(&mut self, pragmas: &[Pragma]) {
        for (ty, prefix) in [(TypeId::NAT, "nat_"), (TypeId::INT, "int_")] {
            let Some(pragma) = pragmas.iter().rfind(|pragma| pragma.name.key().starts_with(prefix)) else {
                continue;
            };
            let (TypeKind::Nat { lower, upper } | TypeKind::Int { lower, upper }) =
                self.globals.program[ty].kind
            else {
                continue;
            };
            let name = self.globals.type_name(ty);
            if lower > upper {
                self.diagnostics.push(
                    Diagnostic::error(format!("these bounds leave no values for `{name}`"))
                        .label(pragma.span, format!("from {lower} to {upper}")),
                );
            } else if ty == TypeId::NAT && lower < 0 {
                self.diagnostics.push(
                    Diagnostic::error("`nat` has no negative values")
                        .label(pragma.span, format!("the least value is now {lower}"))
                        .help("set the bounds of `int` with `!int_inf`"),
                );
            }
        }
    }

    fn unknown_pragma(&mut self, pragma: &Pragma, known: &[&str]) {
        let near = source::closest(&pragma.name.text, known.iter().copied());
        self.diagnostics.push(
            Diagnostic::warning(format!("unknown pragma `!{}`", pragma.name.text))
                .label(pragma.span, "ignored")
                .several("pragmas are unknown and ignored")
                .maybe_help(near.map(|near| format!("did you mean `!{near}`?"))),
        );
    }

    /// A pragma of a type or function. They concern C code, which nothing here runs.
    fn item_pragma(&mut self, pragma: &Pragma, what: &str) {
        match pragma.name.key().as_str() {
            "external" => self.diagnostics.push(
                Diagnostic::error(format!("external {what} are not supported"))
                    .label(pragma.span, "its definition is in C, which is not compiled here")
                    .help(format!("define the {} in LNT", what.trim_end_matches('s'))),
            ),
            "implementedby" | "comparedby" | "printedby" | "iteratedby" | "representedby" | "list"
            | "bits" | "card" | "nat_bits" | "list_bits" | "atomic" | "pointer" | "nopointer" => {}
            _ => self.unknown_pragma(
                pragma,
                &["external", "implementedby", "comparedby", "printedby", "representedby"],
            ),
        }
    }

    fn defined_twice(&mut self, what: &str, name: &Name, first: Option<Span>) {
        self.diagnostics.push(match first {
            Some(first) => Diagnostic::error(format!("{what} `{}` is defined twice", name.text))
                .label(name.span, "again here")
                .label(first, "first here"),
            None => Diagnostic::error(format!("{what} `{}` is predefined", name.text))
                .label(name.span, "can't be defined again")
                .help("choose another name"),
        });
    }

    fn type_names(&mut self, index: usize, module: &tree::Module) {
        for definition in &module.types {
            let name = &definition.name;
            if let Some(&(_, first)) = self.globals.types.get(&name.key()) {
                let span = self.globals.program[first].span;
                self.defined_twice("type", name, span);
                continue;
            }
            let id = TypeId(self.globals.program.types.len() as u32);
            let kind = TypeKind::Constructed(Vec::new());
            self.globals.program.types.push(Type { name: name.text.clone(), span: Some(name.span), kind });
            self.globals.types.insert(name.key(), (Some(index), id));
            self.owners.push(Some(index));
        }
    }

    fn channel_names(&mut self, index: usize, module: &tree::Module) {
        for definition in &module.channels {
            let name = &definition.name;
            if let Some(&(_, first)) = self.globals.channels.get(&name.key()) {
                let span = self.globals.program[first].span;
                // Older models define `none` and `exit` themselves.
                if span.is_some() || first == ChannelId::ANY {
                    self.defined_twice("channel", name, span);
                    continue;
                }
            }
            let id = ChannelId(self.globals.program.channels.len() as u32);
            let channel = Channel { name: name.text.clone(), span: Some(name.span), profiles: Vec::new() };
            self.globals.program.channels.push(channel);
            self.globals.channels.insert(name.key(), (Some(index), id));
        }
    }

    fn type_bodies(&mut self, index: usize, module: &tree::Module) {
        for definition in &module.types {
            let id = self.globals.types[&definition.name.key()].1;
            if self.globals.program[id].span != Some(definition.name.span) {
                continue;
            }
            for pragma in &definition.pragmas {
                self.item_pragma(pragma, "types");
            }
            for with in &definition.with {
                if let Some(group) = self.with(&with.name) {
                    self.declared.insert((id, group));
                    match &with.alias {
                        Some(alias) if matches!(group, "get" | "set") => self.diagnostics.push(
                            Diagnostic::error(format!("\"{group}\" can't be renamed"))
                                .label(alias.span, "one name for several functions")
                                .help(format!(
                                    "write `with \"{group}\"`: a field `f` gets the function `{group}_f`"
                                )),
                        ),
                        Some(alias) => self.aliases.push((id, group, alias.key())),
                        None => {}
                    }
                }
            }
            let kind = match self.type_kind(index, id, &definition.body) {
                // Nothing can be said about a type whose base is unknown.
                TypeKind::Range { base: ERROR, .. } | TypeKind::Predicate { base: ERROR, .. } => {
                    TypeKind::Constructed(Vec::new())
                }
                kind => kind,
            };
            self.globals.program[id].kind = kind;
        }
    }

    fn find_type(&mut self, name: &Name, module: usize) -> TypeId {
        self.globals.find_type(name, module, self.diagnostics)
    }

    fn type_kind(&mut self, module: usize, id: TypeId, body: &TypeBody) -> TypeKind {
        match body {
            TypeBody::Constructors(constructors) => self.constructors(module, id, constructors),
            TypeBody::List { element, sorted } => {
                TypeKind::List { element: self.find_type(element, module), sorted: *sorted }
            }
            TypeBody::Set { element, sorted } => {
                TypeKind::Set { element: self.find_type(element, module), sorted: *sorted }
            }
            TypeBody::Array { lower, upper, element } => {
                self.bounds(lower, upper);
                TypeKind::Array {
                    lower: lower.value,
                    upper: upper.value,
                    element: self.find_type(element, module),
                }
            }
            TypeBody::Range { lower, upper, base } => {
                self.bounds(lower, upper);
                TypeKind::Range { lower: lower.value, upper: upper.value, base: self.find_type(base, module) }
            }
            TypeBody::Predicate { variable, base, condition } => {
                let base = self.find_type(base, module);
                let variables = vec![Variable { name: variable.text.clone(), span: variable.span, ty: base }];
                // The condition is typed together with the bodies.
                let condition = Box::new(Expression {
                    kind: ExpressionKind::Literal(Literal::Bool(true)),
                    ty: TypeId::BOOL,
                    span: condition.span,
                });
                TypeKind::Predicate { base, scope: Scope { variables, ..Scope::default() }, condition }
            }
            TypeBody::Wrong => TypeKind::Constructed(Vec::new()),
        }
    }

    fn bounds(&mut self, lower: &tree::Bound, upper: &tree::Bound) {
        if lower.value > upper.value {
            self.diagnostics.push(
                Diagnostic::error("a range without values")
                    .label(lower.span.to(upper.span), "the first bound is greater than the second"),
            );
        }
    }

    fn constructors(
        &mut self,
        module: usize,
        ty: TypeId,
        definitions: &[tree::ConstructorDefinition],
    ) -> TypeKind {
        let mut ids: Vec<ConstructorId> = Vec::new();
        let mut of_field: FxHashMap<String, (TypeId, Span)> = FxHashMap::default();
        for definition in definitions {
            let mut fields: Vec<Field> = Vec::new();
            for declaration in &definition.fields {
                let field_type = self.find_type(&declaration.ty, module);
                let name = &declaration.name;
                if let Some(first) = fields.iter().find(|field| key(&field.name) == name.key()) {
                    let span = first.span;
                    self.defined_twice("field", name, Some(span));
                    continue;
                }
                match of_field.get(&name.key()) {
                    Some(&(first, span)) if first != field_type && first != ERROR && field_type != ERROR => {
                        self.diagnostics.push(
                            Diagnostic::error(format!("field `{}` has two types", name.text))
                                .label(
                                    name.span,
                                    format!("of type `{}` here", self.globals.type_name(field_type)),
                                )
                                .label(span, format!("of type `{}` here", self.globals.type_name(first)))
                                .help("fields with the same name have the same type in all constructors of a type"),
                        );
                    }
                    _ => {
                        of_field.insert(name.key(), (field_type, name.span));
                    }
                }
                fields.push(Field { name: name.text.clone(), span: name.span, ty: field_type });
            }
            let types: Vec<TypeId> = fields.iter().map(|field| field.ty).collect();
            let first = ids.iter().map(|&id| &self.globals.program[id]).find(|first| {
                key(&first.name) == definition.name.key()
                    && first.fields.iter().map(|field| field.ty).eq(types.iter().copied())
            });
            if let Some(first) = first {
                let span = first.span;
                self.defined_twice("constructor", &definition.name, Some(span));
                continue;
            }
            let id = ConstructorId(self.globals.program.constructors.len() as u32);
            self.globals.signatures.entry(definition.name.key()).or_default().push(Signature {
                name: definition.name.text.clone(),
                target: Target::Constructor(id),
                names: fields.iter().map(|field| key(&field.name)).collect(),
                parameters: fields.iter().map(|field| (Mode::In, field.ty)).collect(),
                result: Some(ty),
                rank: Rank::Defined,
                with: None,
                module: Some(module),
            });
            let ordinal = ids.len() as u32;
            let name = definition.name.text.clone();
            let span = definition.name.span;
            self.globals.program.constructors.push(Constructor { name, span, ty, ordinal, fields });
            ids.push(id);
        }
        TypeKind::Constructed(ids)
    }

    fn profiles(&mut self, index: usize, module: &tree::Module) {
        for definition in &module.channels {
            let Some(&(_, id)) = self.globals.channels.get(&definition.name.key()) else { continue };
            if self.globals.program[id].span != Some(definition.name.span) {
                continue;
            }
            let mut profiles: Vec<Vec<TypeId>> = Vec::new();
            for profile in &definition.profiles {
                profiles.push(profile.iter().map(|(_, ty)| self.find_type(ty, index)).collect());
            }
            let name = |(name, _): &(Option<Name>, Name)| name.as_ref().map(Name::key).unwrap_or_default();
            let names =
                definition.profiles.iter().map(|profile| profile.iter().map(name).collect()).collect();
            self.globals.offer_names.insert(id, names);
            self.globals.program[id].profiles = profiles;
        }
    }

    /// Bases of ranges and predicates, and types that have no finite value.
    fn check_types(&mut self) {
        for index in 0..self.globals.program.types.len() {
            let id = TypeId(index as u32);
            let definition = &self.globals.program[id];
            let Some(span) = definition.span else { continue };
            let name = definition.name.clone();
            match definition.kind {
                TypeKind::Range { base, .. } if base != ERROR => {
                    let base = self.globals.base(base);
                    if !matches!(base, TypeId::NAT | TypeId::INT | TypeId::CHAR) {
                        let found = self.globals.type_name(base).to_owned();
                        self.diagnostics.push(
                            Diagnostic::error(format!(
                                "type `{name}` is a range of something that is not a number"
                            ))
                            .label(span, format!("`{found}` has no ranges"))
                            .help("take a range of `nat`, `int` or `char`"),
                        );
                        self.globals.program[id].kind = TypeKind::Constructed(Vec::new());
                    }
                }
                TypeKind::Predicate { base, .. } if base != ERROR => {
                    let base = self.globals.base(base);
                    if matches!(
                        self.globals.program[base].kind,
                        TypeKind::Predicate { .. } | TypeKind::Range { .. }
                    ) {
                        self.no_value(&name, span);
                        self.globals.program[id].kind = TypeKind::Constructed(Vec::new());
                    }
                }
                _ => {}
            }
        }
        let mut inhabited: Vec<bool> = vec![false; self.globals.program.types.len()];
        loop {
            let mut changed = false;
            for index in 0..inhabited.len() {
                let has = |ty: TypeId| inhabited.get(ty.index()).copied().unwrap_or(true);
                let now = match &self.globals.program.types[index].kind {
                    TypeKind::Constructed(constructors) => {
                        constructors.is_empty()
                            || constructors.iter().any(|&constructor| {
                                self.globals.program[constructor].fields.iter().all(|field| has(field.ty))
                            })
                    }
                    TypeKind::Array { element, .. } => has(*element),
                    TypeKind::Range { base, .. } | TypeKind::Predicate { base, .. } => has(*base),
                    _ => true,
                };
                if now && !inhabited[index] {
                    inhabited[index] = true;
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        for (index, inhabited) in inhabited.into_iter().enumerate() {
            let definition = &self.globals.program.types[index];
            if let (false, Some(span)) = (inhabited, definition.span) {
                let name = definition.name.clone();
                self.no_value(&name, span);
            }
        }
    }

    fn no_value(&mut self, name: &str, span: Span) {
        self.diagnostics.push(
            Diagnostic::error(format!("type `{name}` has no values"))
                .label(span, "every value would contain another, without end")
                .help("add a constructor that has no field of this type"),
        );
    }

    /// Which types literals may have.
    fn literals(&mut self) {
        for index in 0..self.globals.program.types.len() {
            let id = TypeId(index as u32);
            let globals = &mut self.globals;
            match globals.program[id].kind {
                TypeKind::List { element, .. }
                | TypeKind::Set { element, .. }
                | TypeKind::Array { element, .. } => {
                    globals.collections.push((id, element));
                }
                _ => {}
            }
            match globals.base(id) {
                TypeId::NAT | TypeId::INT => globals.integers.push(id),
                TypeId::REAL => globals.reals.push(id),
                TypeId::CHAR => globals.chars.push(id),
                TypeId::STRING => globals.strings.push(id),
                _ => {}
            }
        }
        self.globals.integers.push(TypeId::REAL);
    }

    fn predefined_functions(&mut self) {
        let declared = |ty: TypeId, group: &'static str| {
            self.declared.contains(&(ty, group))
                || self
                    .owners
                    .get(ty.index())
                    .copied()
                    .flatten()
                    .is_some_and(|owner| self.everywhere[owner].contains(group))
        };
        let predefined =
            Predefined { program: &self.globals.program, declared: &declared, signatures: Vec::new() }.all();
        for mut signature in predefined {
            if let Some((group, ty)) = signature.with {
                signature.module = self.owners[ty.index()];
                for (_, _, alias) in self
                    .aliases
                    .iter()
                    .filter(|(of, name, _)| *of == ty && *name == group && group == signature.name)
                    // Under its other spellings it is there already.
                    .filter(|(.., alias)| with_group(alias) != Some(group))
                {
                    let mut renamed = signature.clone();
                    renamed.name.clone_from(alias);
                    self.globals.signatures.entry(alias.clone()).or_default().push(renamed);
                }
            }
            self.globals.signatures.entry(key(&signature.name)).or_default().push(signature);
        }
    }

    /// The scope that holds the parameters of a function or process.
    fn parameters(
        &mut self,
        module: usize,
        callable: &tree::Callable,
    ) -> (Scope, Vec<GateId>, Vec<Parameter>) {
        let mut scope = Scope::default();
        let mut gates = Vec::new();
        let mut parameters = Vec::new();
        for gate in &callable.gates {
            let channel = self.globals.find_channel(&gate.channel, module, self.diagnostics);
            if let Some(first) = scope.gates.iter().find(|first: &&Gate| key(&first.name) == gate.name.key())
            {
                let span = first.span;
                self.defined_twice("gate", &gate.name, Some(span));
            }
            gates.push(GateId(scope.gates.len() as u32));
            scope.gates.push(Gate { name: gate.name.text.clone(), span: gate.name.span, channel });
        }
        for parameter in &callable.parameters {
            let ty = self.find_type(&parameter.ty, module);
            let name = &parameter.name;
            if let Some(first) =
                scope.variables.iter().find(|first: &&Variable| key(&first.name) == name.key())
            {
                let span = first.span;
                self.defined_twice("parameter", name, Some(span));
            }
            let mode = match parameter.mode {
                tree::Mode::In | tree::Mode::InVar => Mode::In,
                tree::Mode::Out => Mode::Out,
                tree::Mode::InOut => Mode::InOut,
            };
            parameters.push(Parameter { variable: VariableId(scope.variables.len() as u32), mode });
            scope.variables.push(Variable { name: name.text.clone(), span: name.span, ty });
        }
        (scope, gates, parameters)
    }

    fn function(&mut self, module: usize, callable: &tree::Callable) {
        for pragma in &callable.pragmas {
            self.item_pragma(pragma, "functions");
        }
        let (scope, gates, parameters) = self.parameters(module, callable);
        let result = callable.result.as_ref().map(|name| self.find_type(name, module));
        let id = FunctionId(self.globals.program.functions.len() as u32);
        self.globals.signatures.entry(callable.name.key()).or_default().push(Signature {
            name: callable.name.text.clone(),
            target: Target::Function(id),
            names: scope.variables.iter().map(|variable| key(&variable.name)).collect(),
            parameters: parameters
                .iter()
                .map(|parameter| (parameter.mode, scope[parameter.variable].ty))
                .collect(),
            result,
            rank: Rank::Defined,
            with: None,
            module: Some(module),
        });
        self.globals.program.functions.push(Function {
            name: callable.name.text.clone(),
            span: callable.name.span,
            extent: callable.span,
            module: ModuleId(module as u32),
            gates,
            parameters,
            result,
            scope,
            body: Statement { kind: StatementKind::Null, span: callable.body.span },
        });
    }

    fn process(&mut self, module: usize, callable: &tree::Callable) {
        for pragma in &callable.pragmas {
            self.item_pragma(pragma, "processes");
        }
        let (scope, gates, parameters) = self.parameters(module, callable);
        let id = ProcessId(self.globals.program.processes.len() as u32);
        if let Some(&(_, first)) = self.globals.processes.get(&callable.name.key()) {
            let span = self.globals.program[first].span;
            self.defined_twice("process", &callable.name, Some(span));
        } else {
            self.globals.processes.insert(callable.name.key(), (module, id));
        }
        self.globals.program.processes.push(Process {
            name: callable.name.text.clone(),
            span: callable.name.span,
            extent: callable.span,
            module: ModuleId(module as u32),
            gates,
            parameters,
            scope,
            body: Statement { kind: StatementKind::Null, span: callable.body.span },
        });
    }

    /// Two functions of one name need different profiles.
    fn duplicate_functions(&mut self) {
        let mut found: Vec<(Span, Span, String, Vec<TypeId>)> = Vec::new();
        for signatures in self.globals.signatures.values() {
            for (index, second) in signatures.iter().enumerate() {
                let Target::Function(id) = second.target else { continue };
                let first = signatures[..index].iter().find(|first| {
                    first.rank == Rank::Defined
                        && first.parameters == second.parameters
                        && first.result == second.result
                });
                let first_span = match first.map(|first| &first.target) {
                    Some(Target::Function(first)) => self.globals.program[*first].span,
                    Some(Target::Constructor(first)) => self.globals.program[*first].span,
                    _ => continue,
                };
                let types = second.parameters.iter().map(|&(_, ty)| ty).collect();
                found.push((self.globals.program[id].span, first_span, second.name.clone(), types));
            }
        }
        found.sort_by_key(|(span, ..)| *span);
        for (span, first, name, types) in found {
            let profile = self.globals.profile(&types);
            self.diagnostics.push(
                Diagnostic::error(format!("function `{name}` is defined twice"))
                    .label(span, "again here")
                    .label(first, "first here")
                    .note(format!("both take {profile} and yield the same type")),
            );
        }
    }
}
