//! Checked definitions, what is typed against them, and what is added to them.

use source::{Diagnostic, Span};

use super::expression::as_expression;
use super::{Data, Expression, Inscribed, Inscription};
use crate::check::{Globals, check, check_parts, conjuncts_of, type_expression, type_pattern};
use crate::coverage::conditions_of;
use crate::load::Parsed;
use crate::tree::{self, Callable, Mode, Name, Parameter, PatternKind, Statement, StatementKind, key};
use crate::typed::{Pattern, TypeId};

/// Types and functions without errors.
pub struct Definitions {
    parsed: Parsed,
    globals: Globals,
    /// How many functions were written; those behind them were added.
    written: usize,
}

/// A function that was added.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its position among those that were added.
    pub(super) number: usize,
    /// The variables that it reads, by position, in the order of its parameters.
    pub reads: Vec<usize>,
    /// Where it is written.
    pub span: Span,
}

/// A pattern for values of a type, and what is to be done with the parts of a value that it finds.
#[derive(Clone, Debug)]
pub struct Matcher {
    pub(super) pattern: Pattern,
    /// The position of the constructor that all values have that match, where there is one.
    pub constructor: Option<usize>,
    /// What each part is for, and its type.
    pub leaves: Vec<(Leaf, TypeId)>,
    /// Where it is written.
    pub span: Span,
}

/// What is to be done with a part of a value.
#[derive(Clone, Debug)]
pub enum Leaf {
    /// It is the value of a variable, by position.
    Variable(usize, Span),
    /// It has to equal what is computed.
    Equals(Expression),
}

impl Definitions {
    pub(super) fn new(parsed: Parsed, diagnostics: &mut Vec<Diagnostic>) -> Option<Self> {
        // The same warnings come again with what is added.
        let mut found = Vec::new();
        let globals = check_parts(std::slice::from_ref(&parsed), &mut found);
        if found.iter().any(Diagnostic::is_error) {
            diagnostics.append(&mut found);
            return None;
        }
        let written = parsed.module.functions.len();
        Some(Self { parsed, globals, written })
    }

    /// The type of this name, or a complaint.
    pub fn find_type(&self, name: &Name, diagnostics: &mut Vec<Diagnostic>) -> Option<TypeId> {
        let before = diagnostics.len();
        let ty = self.globals.find_type(name, 0, diagnostics);
        (diagnostics.len() == before).then_some(ty)
    }

    /// The name of a type, for messages.
    pub fn type_name(&self, ty: TypeId) -> &str {
        self.globals.type_name(ty)
    }

    /// Whether `==` may mean something else than being the same value.
    pub fn redefines_equality(&self) -> bool {
        let functions = &self.parsed.module.functions;
        functions.iter().any(|function| matches!(function.name.key().as_str(), "==" | "="))
    }

    /// Whether a function, constant or constructor has this name.
    pub fn knows(&self, name: &str) -> bool {
        self.globals.signatures.contains_key(&key(name))
    }

    /// The type of a constant of this name, a function without parameters that was written.
    pub fn constant(&self, name: &str) -> Option<TypeId> {
        let functions = self.globals.program.functions.iter();
        functions
            .filter(|function| function.parameters.is_empty() && key(&function.name) == key(name))
            .find_map(|function| function.result)
    }

    /// Types what is compared with values of a type. Names of variables come first, constructors and constants after
    /// them; functions are computed and compared. `because` says what wants that type.
    pub fn matcher(
        &self,
        inscription: &Inscription,
        ty: TypeId,
        because: (Span, String),
        variables: &[&str],
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<Matcher> {
        let before = diagnostics.len();
        let mut linear =
            Linear { definitions: self, variables, leaves: Vec::new(), names: Vec::new(), diagnostics };
        let pattern = match &inscription.0 {
            Inscribed::Pattern(pattern) => linear.pattern(pattern),
            Inscribed::Expression(expression) => {
                linear.leaf(Leaf::Equals(Expression(expression.clone())), expression.span)
            }
        };
        let (leaves, names) = (linear.leaves, linear.names);
        if diagnostics.len() > before {
            return None;
        }
        let (pattern, types) = type_pattern(&self.globals, &pattern, &names, ty, because, diagnostics)?;
        if let Some(span) = computed_part(&pattern) {
            diagnostics.push(
                Diagnostic::error("this is the name of a constant and of a constructor of another type")
                    .label(span, "which is meant is not clear")
                    .help("use a variable here, and compare it in `where`"),
            );
        }
        if diagnostics[before..].iter().any(Diagnostic::is_error) {
            return None;
        }
        let constructor = self.constructor(&pattern);
        let leaves = leaves.into_iter().zip(types).collect();
        Some(Matcher { pattern, constructor, leaves, span: inscription.span() })
    }

    fn constructor(&self, pattern: &Pattern) -> Option<usize> {
        use crate::typed::{Literal, PatternKind as Typed};
        match &pattern.kind {
            Typed::Constructor(id, _) => Some(self.globals.program[*id].ordinal as usize),
            Typed::Literal(Literal::Bool(value)) => Some(usize::from(*value)),
            Typed::As(_, inner) => self.constructor(inner),
            _ => None,
        }
    }

    /// Whether an expression over variables is one of a type.
    pub fn fits(&self, expression: &Expression, variables: &[(Name, TypeId)], ty: TypeId) -> bool {
        type_expression(&self.globals, &expression.0, variables.to_vec(), ty).is_some()
    }

    /// The operands of the outermost conjunctions of a condition, left to right; the condition itself where it is wrong.
    pub fn conjuncts(&self, condition: &Expression, variables: &[(Name, TypeId)]) -> Vec<Expression> {
        self.parts(condition, variables, conjuncts_of)
    }

    /// The conditions between the Boolean operators of a condition, left to right.
    pub fn conditions(&self, condition: &Expression, variables: &[(Name, TypeId)]) -> Vec<Expression> {
        self.parts(condition, variables, conditions_of)
    }

    fn parts(
        &self,
        condition: &Expression,
        variables: &[(Name, TypeId)],
        split: impl Fn(&crate::typed::Expression) -> Vec<&crate::typed::Expression>,
    ) -> Vec<Expression> {
        let typed = type_expression(&self.globals, &condition.0, variables.to_vec(), TypeId::BOOL);
        let parts: Option<Vec<Expression>> =
            typed.and_then(|typed| split(&typed).into_iter().map(|part| condition.part(part.span)).collect());
        parts.unwrap_or_else(|| vec![condition.clone()])
    }

    /// Adds an expression over variables as a function; its types are checked in the end. A name that nothing has is
    /// complained about here.
    pub fn function(
        &mut self,
        variables: &[(Name, TypeId)],
        result: TypeId,
        body: &Expression,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<Function> {
        let position = |name: &Name| variables.iter().position(|(known, _)| known.key() == name.key());
        let mut reads = Vec::new();
        let before = diagnostics.len();
        for name in body.names() {
            match position(name) {
                Some(variable) => reads.push(variable),
                None if self.knows(&name.text) => {}
                None => {
                    let known = variables.iter().map(|(name, _)| name.text.as_str());
                    diagnostics.push(self.unknown(name, known));
                }
            }
        }
        if diagnostics.len() > before {
            return None;
        }
        reads.sort_unstable();
        reads.dedup();
        let span = body.span();
        let type_name = |ty| Name { text: self.type_name(ty).to_owned(), span };
        let parameter = |&variable: &usize| {
            let (name, ty) = &variables[variable];
            Parameter { mode: Mode::In, name: name.clone(), ty: type_name(*ty) }
        };
        let function = Callable {
            name: Name { text: format!("expression {}", self.parsed.module.functions.len()), span },
            gates: Vec::new(),
            parameters: reads.iter().map(parameter).collect(),
            result: Some(type_name(result)),
            pragmas: Vec::new(),
            body: Statement { kind: StatementKind::Return(Some(body.0.clone())), span },
            span,
        };
        self.parsed.module.functions.push(function);
        Some(Function { number: self.parsed.module.functions.len() - 1 - self.written, reads, span })
    }

    fn unknown<'n>(&self, name: &Name, variables: impl Iterator<Item = &'n str>) -> Diagnostic {
        let known: Vec<&str> = variables.collect();
        let mut near = source::closest(&name.text, known.iter().copied());
        if near.is_none() {
            let program = &self.globals.program;
            let constructors = program.constructors.iter().map(|constructor| constructor.name.as_str());
            let functions = program.functions.iter().map(|function| function.name.as_str());
            near = source::closest(&name.text, constructors.chain(functions));
        }
        let help = match near {
            Some(near) => Some(format!("did you mean `{near}`?")),
            None if known.is_empty() => None,
            None => Some(format!("declare it beside `{}`", known.join("`, `"))),
        };
        Diagnostic::error(format!("unknown variable or constant `{}`", name.text))
            .label(name.span, "not declared")
            .maybe_help(help)
    }

    /// Checks and compiles everything.
    pub fn finish(self, diagnostics: &mut Vec<Diagnostic>) -> Option<Data> {
        let mut found = Vec::new();
        let program = check(std::slice::from_ref(&self.parsed), &mut found);
        for diagnostic in found {
            if !diagnostics.contains(&diagnostic) {
                diagnostics.push(diagnostic);
            }
        }
        if diagnostics.iter().any(Diagnostic::is_error) {
            return None;
        }
        Data::new(program, self.written, diagnostics)
    }
}

/// Where a pattern has a part that is computed.
fn computed_part(pattern: &Pattern) -> Option<Span> {
    use crate::typed::PatternKind as Typed;
    match &pattern.kind {
        Typed::Equal(_) => Some(pattern.span),
        Typed::As(_, inner) => computed_part(inner),
        Typed::Constructor(_, parts) | Typed::Array(parts) => parts.iter().find_map(computed_part),
        Typed::Cons(head, tail) => computed_part(head).or_else(|| computed_part(tail)),
        Typed::Variable(_) | Typed::Wildcard | Typed::Literal(_) | Typed::Nil => None,
    }
}

/// Turns a pattern into one in which every variable stands once, by naming all parts anew.
struct Linear<'a> {
    definitions: &'a Definitions,
    variables: &'a [&'a str],
    leaves: Vec<Leaf>,
    names: Vec<Name>,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl Linear<'_> {
    fn variable(&self, name: &Name) -> Option<usize> {
        self.variables.iter().position(|known| key(known) == name.key())
    }

    fn unknown(&self, name: &Name) -> Diagnostic {
        let unknown = self.definitions.unknown(name, self.variables.iter().copied());
        if unknown.helps.is_empty() { unknown.help("declare it as a variable") } else { unknown }
    }

    fn new_name(&mut self, leaf: Leaf, span: Span) -> Name {
        let name = Name { text: format!("part {}", self.leaves.len()), span };
        self.leaves.push(leaf);
        self.names.push(name.clone());
        name
    }

    fn leaf(&mut self, leaf: Leaf, span: Span) -> tree::Pattern {
        tree::Pattern { kind: PatternKind::Name(self.new_name(leaf, span)), span }
    }

    fn pattern(&mut self, pattern: &tree::Pattern) -> tree::Pattern {
        let span = pattern.span;
        let kind = match &pattern.kind {
            PatternKind::Name(name) => {
                if let Some(variable) = self.variable(name) {
                    return self.leaf(Leaf::Variable(variable, span), span);
                }
                if !self.definitions.knows(&name.text) {
                    let unknown = self.unknown(name);
                    self.diagnostics.push(unknown);
                }
                if !self.is_constructor(name) {
                    return self.computed(pattern);
                }
                pattern.kind.clone()
            }
            PatternKind::As(name, inner) => match self.variable(name) {
                Some(variable) => {
                    let name = self.new_name(Leaf::Variable(variable, name.span), name.span);
                    PatternKind::As(name, Box::new(self.pattern(inner)))
                }
                None => {
                    let unknown = self.unknown(name);
                    self.diagnostics.push(unknown);
                    PatternKind::Wrong
                }
            },
            PatternKind::Constructor { name, fields, ellipsis } => {
                let is_array = self.definitions.globals.types.contains_key(&name.key());
                if self.definitions.knows(&name.text) && !self.is_constructor(name) && !is_array {
                    return self.computed(pattern);
                }
                let fields = fields.iter().map(|(field, inner)| (field.clone(), self.pattern(inner)));
                PatternKind::Constructor { name: name.clone(), fields: fields.collect(), ellipsis: *ellipsis }
            }
            PatternKind::Collection(elements) => {
                PatternKind::Collection(elements.iter().map(|element| self.pattern(element)).collect())
            }
            PatternKind::Of { pattern: inner, ty } => {
                PatternKind::Of { pattern: Box::new(self.pattern(inner)), ty: ty.clone() }
            }
            other => other.clone(),
        };
        tree::Pattern { kind, span }
    }

    fn is_constructor(&self, name: &Name) -> bool {
        let signatures = self.definitions.globals.signatures.get(&name.key());
        signatures.is_some_and(|signatures| signatures.iter().any(|one| one.is_constructor()))
    }

    fn computed(&mut self, pattern: &tree::Pattern) -> tree::Pattern {
        match as_expression(pattern) {
            Ok(expression) => self.leaf(Leaf::Equals(Expression(expression)), pattern.span),
            Err(span) => {
                self.diagnostics.push(
                    Diagnostic::error("a function can't be undone")
                        .label(span, "this is a pattern")
                        .label(pattern.span, "in the argument of a function")
                        .help("give the value a variable"),
                );
                tree::Pattern { kind: PatternKind::Wrong, span: pattern.span }
            }
        }
    }
}
