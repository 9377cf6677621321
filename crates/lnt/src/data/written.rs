//! Definitions as they are written, before they are checked.

use source::{Diagnostic, Sources};

use super::Definitions;
use crate::load::Parsed;
use crate::parser;
use crate::tree::{
    Callable, ConstructorDefinition, Declaration, Module, Name, Statement, StatementKind, TypeBody,
    TypeDefinition, With, key,
};

/// What is declared for the types made here.
const TUPLE_FUNCTIONS: [&str; 7] = ["==", "!=", "<", "<=", ">", ">=", "get"];
const LIST_FUNCTIONS: [&str; 13] =
    ["==", "!=", "<", "<=", ">", ">=", "length", "empty", "member", "element", "head", "tail", "reverse"];

/// Types, channels and functions as written.
pub struct Written {
    module: Module,
}

impl Written {
    pub(crate) fn new(module: Module) -> Self {
        Self { module }
    }

    /// Gives a constant (a function without parameters) another value.
    pub fn bind(
        &mut self,
        name: &str,
        value: &str,
        sources: &mut Sources,
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        let text = format!("return {value}");
        let file = sources.add(format!("constant {name}"), text.clone());
        let Some(body) = parser::parse_statement(file, &text, diagnostics) else { return };
        let mut constants: Vec<&mut Callable> = self
            .module
            .functions
            .iter_mut()
            .filter(|function| function.parameters.is_empty() && function.result.is_some())
            .collect();
        match constants.iter_mut().find(|function| function.name.key() == key(name)) {
            Some(function) => function.body = body,
            None => {
                let names = constants.iter().map(|function| function.name.text.as_str());
                let near = source::closest(name, names).map(|near| format!("did you mean `{near}`?"));
                diagnostics.push(
                    Diagnostic::error(format!("the model has no constant `{name}`"))
                        .label(sources.span(file), "can't be bound")
                        .note("a constant is a function that has a result and no parameters")
                        .maybe_help(near),
                );
            }
        }
    }

    /// The name of a type of lists of a type: the first one that is defined, or a new one.
    pub fn list_of(&mut self, element: &Name) -> Name {
        let is_list = |definition: &&TypeDefinition| match &definition.body {
            TypeBody::List { element: of, .. } => of.key() == element.key(),
            _ => false,
        };
        if let Some(known) = self.module.types.iter().find(is_list) {
            return Name { text: known.name.text.clone(), span: element.span };
        }
        let name = Name { text: format!("list of {}", element.text), span: element.span };
        let body = TypeBody::List { element: element.clone(), sorted: false };
        self.define(name, body, &LIST_FUNCTIONS)
    }

    /// Adds a type of tuples, each with its values as the fields `x1`, `x2` …; the constructor has the name given,
    /// unless something else has it.
    pub fn tuple(&mut self, name: &Name, types: &[Name]) -> Name {
        let field = |(index, ty): (usize, &Name)| {
            let name = Name { text: format!("x{}", index + 1), span: ty.span };
            Declaration { name, ty: ty.clone() }
        };
        let number = self.module.types.len();
        let ty = Name { text: format!("token of {}, type {number}", name.text), span: name.span };
        let constructor = if self.is_taken(name) { ty.clone() } else { name.clone() };
        let fields = types.iter().enumerate().map(field).collect();
        let body = TypeBody::Constructors(vec![ConstructorDefinition { name: constructor, fields }]);
        self.define(ty, body, &TUPLE_FUNCTIONS)
    }

    /// Whether a function or constructor has a name.
    fn is_taken(&self, name: &Name) -> bool {
        let is_constructor = |definition: &TypeDefinition| match &definition.body {
            TypeBody::Constructors(constructors) => {
                constructors.iter().any(|constructor| constructor.name.key() == name.key())
            }
            _ => false,
        };
        self.module.functions.iter().any(|function| function.name.key() == name.key())
            || self.module.types.iter().any(is_constructor)
    }

    fn define(&mut self, name: Name, body: TypeBody, functions: &[&str]) -> Name {
        let with = functions.iter().map(|function| With {
            name: Name { text: (*function).to_owned(), span: name.span },
            alias: None,
        });
        let definition =
            TypeDefinition { name: name.clone(), pragmas: Vec::new(), body, with: with.collect() };
        self.module.types.push(definition);
        name
    }

    /// Checks everything.
    pub fn check(mut self, diagnostics: &mut Vec<Diagnostic>) -> Option<Definitions> {
        if diagnostics.iter().any(Diagnostic::is_error) {
            return None;
        }
        // Code begins with a process; this one does nothing.
        let name = self.module.name.clone();
        let body = Statement { kind: StatementKind::Null, span: name.span };
        self.module.processes.push(Callable {
            span: name.span,
            name,
            gates: Vec::new(),
            parameters: Vec::new(),
            result: None,
            pragmas: Vec::new(),
            body,
        });
        Definitions::new(Parsed { module: self.module, imports: Vec::new() }, diagnostics)
    }
}
