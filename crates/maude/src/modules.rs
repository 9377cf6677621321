//! From texts of modules to flat modules: imports, renamings, instances and views resolved, statements read.
//!
//! A flat module has its own declarations, and a signature with everything that it imports. Statements are read once, in
//! the module that writes them; other modules get them term by term, through a [`Morphism`] where names change.

use std::sync::{Arc, OnceLock};

use rustc_hash::{FxHashMap, FxHashSet};
use source::{Diagnostic, Sources, Span};

use crate::grammar::{Condition, Goal, Grammar, Literals, NoReading, Reading, split_sorts};
use crate::messages::{cannot_read, span_of, two_readings, unknown_sort};
use crate::names::Name;
use crate::objects;
use crate::signature::{KindId, Profile, Signature, SortId, Symbol, SymbolId, Theory};
use crate::syntax::lexer::Token;
use crate::syntax::parser;
use crate::syntax::tree::*;
use crate::terms::{TermId, Terms, Top};

/// A module with all that it imports.
#[derive(Clone, Debug)]
pub struct Module {
    /// Its name, or the expression that made it.
    pub name: Name,
    /// What it may hold.
    pub kind: ModuleKind,
    /// Its parameters and their theories.
    pub parameters: Vec<(Name, Arc<Module>)>,
    /// What it imports directly.
    pub imports: Vec<Arc<Module>>,
    /// How it came to be.
    pub origin: Origin,
    /// The sorts that it declares.
    pub own_sorts: Vec<(Name, Span)>,
    /// The subsorts that it declares: smaller, larger.
    pub own_subsorts: Vec<(Name, Name, Span)>,
    /// The operators that it declares.
    pub own_operators: Vec<OperatorText>,
    /// Everything that it has sorts and operators of.
    pub signature: Arc<Signature>,
    /// The terms of its statements and identities.
    pub terms: Terms,
    /// The variables that it declares.
    pub variables: FxHashMap<Name, SortId>,
    /// All statements, those of imported modules first.
    pub statements: Vec<Statement>,
    /// Where its own statements begin.
    pub own_statements: usize,
    /// Where it is written.
    pub span: Option<Span>,
    grammar: OnceLock<Grammar>,
}

/// How a module came to be.
#[derive(Clone, Debug)]
pub enum Origin {
    /// It was written.
    Text,
    /// A parameter: its name and theory.
    Parameter(Name, Arc<Module>),
    /// A module with arguments for its parameters.
    Instance(Arc<Module>, Vec<Bound>),
    /// A renamed module.
    Renaming(Arc<Module>, Vec<RenamingItem>),
    /// A sum.
    Sum,
}

/// An argument of an instance.
#[derive(Clone, Debug)]
pub enum Bound {
    /// A parameter of the module around.
    Parameter(Name, Arc<Module>),
    /// A view.
    View(Arc<View>),
}

impl Bound {
    fn text(&self) -> String {
        match self {
            Bound::Parameter(name, _) => name.text().to_owned(),
            Bound::View(view) => view.name.clone(),
        }
    }
}

/// A view, its modules known.
#[derive(Debug)]
pub struct View {
    /// Its name, with arguments.
    pub name: String,
    /// The theory.
    pub from: Arc<Module>,
    /// What satisfies it.
    pub to: Arc<Module>,
    /// Sorts of the theory and what they are.
    sorts: FxHashMap<Name, Name>,
    text: Arc<ViewText>,
    /// The parameters of a parameterised view and what they are.
    environment: Vec<(Name, Bound)>,
}

/// An equation, membership or rule that was read.
#[derive(Clone, Debug)]
pub struct Statement {
    /// What it is.
    pub kind: StatementKind,
    /// The left side.
    pub left: TermId,
    /// The right side; none for memberships.
    pub right: TermId,
    /// The sort of a membership.
    pub sort: Option<SortId>,
    /// The condition.
    pub conditions: Vec<Condition>,
    /// Its label.
    pub label: Option<Name>,
    /// Whether it is used only where no other equation is.
    pub otherwise: bool,
    /// Whether it is never used.
    pub nonexec: bool,
    /// Where it is written.
    pub span: Span,
    /// Where the fragments of its condition are written.
    pub condition_spans: Vec<Span>,
    /// The module that writes it.
    pub module: Name,
    /// `metadata`.
    pub metadata: Option<Name>,
}

impl Module {
    /// Its grammar.
    pub fn grammar(&self) -> &Grammar {
        self.grammar.get_or_init(|| {
            let mut terms = self.terms.clone();
            Grammar::new(&self.signature, &mut terms)
        })
    }

    /// All modules that it imports, those first that others import.
    pub fn closure(&self) -> Vec<Arc<Module>> {
        let mut order = Vec::new();
        let mut seen = FxHashSet::default();
        for import in &self.imports {
            visit(import, &mut seen, &mut order);
        }
        order
    }

    /// Whether something in it depends on one of these parameters.
    fn depends(&self, names: &[Name]) -> bool {
        let own = match &self.origin {
            Origin::Parameter(name, _) => names.contains(name),
            Origin::Instance(base, arguments) => {
                base.depends(names)
                    || arguments.iter().any(|argument| match argument {
                        Bound::Parameter(name, _) => names.contains(name),
                        Bound::View(view) => view.depends(names),
                    })
            }
            Origin::Renaming(base, _) => base.depends(names),
            // The parameters of a module that is written are its own.
            Origin::Text => return false,
            Origin::Sum => false,
        };
        own || (matches!(self.origin, Origin::Sum) && self.imports.iter().any(|import| import.depends(names)))
    }
}

impl View {
    fn depends(&self, names: &[Name]) -> bool {
        self.environment.iter().any(|(_, bound)| match bound {
            Bound::Parameter(name, _) => names.contains(name),
            Bound::View(view) => view.depends(names),
        })
    }
}

fn visit(module: &Arc<Module>, seen: &mut FxHashSet<Name>, order: &mut Vec<Arc<Module>>) {
    if seen.insert(module.name) {
        for import in &module.imports {
            visit(import, seen, order);
        }
        order.push(module.clone());
    }
}

/// What becomes of names.
#[derive(Clone, Debug, Default)]
pub struct Morphism {
    sorts: FxHashMap<Name, Name>,
    /// Parameters and what stands for them in names of sorts.
    parameters: Vec<(Name, String)>,
    /// What is put behind names of sorts with parameters that stay open.
    open: String,
    operators: Vec<OperatorMap>,
    labels: FxHashMap<Name, Name>,
}

#[derive(Clone, Debug)]
struct OperatorMap {
    from: Name,
    /// The kinds in the module that it comes from; none for all.
    profile: Option<(Vec<KindId>, KindId)>,
    to: Target,
}

#[derive(Clone, Debug)]
enum Target {
    Name(Name, Box<Attributes>),
    /// A term of another module, over variables for the arguments.
    Term(Arc<Module>, Arc<Terms>, Vec<TermId>, TermId),
}

impl Morphism {
    fn sort(&self, name: Name) -> Name {
        if let Some(&to) = self.sorts.get(&name) {
            return to;
        }
        if self.parameters.is_empty() || !name.text().contains(['{', '$']) {
            return name;
        }
        Name::new(&self.sort_text(name.text()))
    }

    fn sort_text(&self, text: &str) -> String {
        if let Some(&to) = self.sorts.get(&Name::new(text)) {
            return to.text().to_owned();
        }
        if let Some((_, argument)) = self.parameters.iter().find(|(name, _)| name.text() == text) {
            return argument.clone();
        }
        let Some(open) = text.find('{') else { return text.to_owned() };
        // `Name{A,B}{C}`: every group of arguments.
        let mut out = text[..open].to_owned();
        let mut rest = &text[open..];
        let mut changed = false;
        while let Some(inner) = rest.strip_prefix('{') {
            let mut depth = 1;
            let Some(close) = inner.char_indices().find_map(|(at, c)| {
                depth += match c {
                    '{' => 1,
                    '}' => -1,
                    _ => 0,
                };
                (depth == 0).then_some(at)
            }) else {
                break;
            };
            let arguments: Vec<String> = split_sorts(&inner[..close])
                .map(|argument| {
                    let mapped = self.sort_text(argument);
                    changed |= mapped != argument;
                    mapped
                })
                .collect();
            out.push('{');
            out.push_str(&arguments.join(","));
            out.push('}');
            rest = &inner[close + 1..];
        }
        out.push_str(rest);
        if changed {
            out.push_str(&self.open);
        }
        out
    }

    fn types(&self, types: &[Type]) -> Vec<Type> {
        types.iter().map(|one| self.one_type(one)).collect()
    }

    fn one_type(&self, one: &Type) -> Type {
        Type { sorts: one.sorts.iter().map(|&sort| self.sort(sort)).collect(), ..one.clone() }
    }

    fn target(&self, from: &Signature, symbol: SymbolId) -> Option<&Target> {
        let data = from.symbol(symbol);
        let fits = |map: &&OperatorMap| {
            map.from == data.name
                && map
                    .profile
                    .as_ref()
                    .is_none_or(|(domain, range)| *domain == data.domain && *range == data.range)
        };
        self.operators.iter().find(fits).map(|map| &map.to)
    }
}

/// Copies terms of one module into another.
pub struct Translator<'a> {
    from: &'a Signature,
    from_terms: &'a Terms,
    to: &'a Signature,
    morphism: &'a Morphism,
    sorts: Vec<Option<SortId>>,
    symbols: FxHashMap<SymbolId, Option<SymbolId>>,
    known: FxHashMap<TermId, TermId>,
}

/// A name that has no counterpart.
pub struct Untranslatable(pub String);

impl<'a> Translator<'a> {
    /// A translator along a morphism.
    pub fn new(
        from: &'a Signature,
        from_terms: &'a Terms,
        to: &'a Signature,
        morphism: &'a Morphism,
    ) -> Self {
        let mut sorts: Vec<Option<SortId>> = vec![None; from.sorts.len()];
        for kind in &from.kinds {
            for &sort in &kind.sorts[1..] {
                let name = morphism.sort(from.sorts[sort.0 as usize].name);
                sorts[sort.0 as usize] = to.sort(name);
                if let Some(found) = sorts[sort.0 as usize] {
                    sorts[kind.sorts[0].0 as usize] = Some(to.top(to.kind_of(found)));
                }
            }
        }
        Self {
            from,
            from_terms,
            to,
            morphism,
            sorts,
            symbols: FxHashMap::default(),
            known: FxHashMap::default(),
        }
    }

    /// The sort in the other module.
    pub fn sort(&self, sort: SortId) -> Result<SortId, Untranslatable> {
        self.sorts[sort.0 as usize]
            .ok_or_else(|| Untranslatable(format!("sort `{}`", self.from.sort_name(sort))))
    }

    fn kind(&self, kind: KindId) -> Option<KindId> {
        self.sorts[self.from.top(kind).0 as usize].map(|sort| self.to.kind_of(sort))
    }

    /// The operator in the other module.
    pub fn symbol(&mut self, symbol: SymbolId) -> Result<SymbolId, Untranslatable> {
        let found = match self.symbols.get(&symbol) {
            Some(&known) => known,
            None => {
                let data = self.from.symbol(symbol);
                let name = match self.morphism.target(self.from, symbol) {
                    Some(Target::Name(name, _)) => *name,
                    _ => data.name,
                };
                let name = match data.is_special("SortTestSymbol") {
                    true => {
                        let sort = data.special.as_ref().expect("it is special").details[0];
                        Name::new(&format!("_::`{}", self.morphism.sort(sort)))
                    }
                    false => name,
                };
                let domain: Option<Vec<KindId>> = data.domain.iter().map(|&kind| self.kind(kind)).collect();
                let range = self.kind(data.range);
                let found = domain.zip(range).and_then(|(domain, range)| self.to.find(name, &domain, range));
                self.symbols.insert(symbol, found);
                found
            }
        };
        found.ok_or_else(|| Untranslatable(format!("operator `{}`", self.from.symbol(symbol).name)))
    }

    /// The term in the other module.
    pub fn term(&mut self, into: &mut Terms, term: TermId) -> Result<TermId, Untranslatable> {
        if let Some(&known) = self.known.get(&term) {
            return Ok(known);
        }
        let made = stacker::maybe_grow(64 << 10, 1 << 20, || self.translate(into, term))?;
        self.known.insert(term, made);
        Ok(made)
    }

    fn translate(&mut self, into: &mut Terms, term: TermId) -> Result<TermId, Untranslatable> {
        let symbol = match self.from_terms.top(term) {
            Top::Variable(sort) => {
                let sort = self.sort(sort)?;
                return Ok(into.variable(self.from_terms.variable_name(term), sort));
            }
            Top::Symbol(symbol) => symbol,
        };
        let data = self.from.symbol(symbol);
        if let Some(Target::Term(module, terms, variables, body)) = self.morphism.target(self.from, symbol) {
            let arguments = self.from_terms.arguments(term);
            let mut bindings = FxHashMap::default();
            for (&variable, argument) in variables.iter().zip(arguments) {
                bindings.insert(variable, self.term(into, argument)?);
            }
            let identity = Morphism::default();
            let mut inner = Translator::new(&module.signature, terms, self.to, &identity);
            inner.known = bindings;
            return inner.term(into, *body);
        }
        let target = self.symbol(symbol)?;
        match data.theory {
            Theory::Data => Ok(into.data_with_sort(self.to, target, self.from_terms, term)),
            Theory::Iter => {
                let (count, inner) = self.from_terms.iterations(term);
                let inner = self.term(into, inner)?;
                Ok(match self.to.symbol(target).theory {
                    Theory::Iter => into.make_iter(self.to, target, &count, inner),
                    _ => into.make(self.to, target, &[inner]),
                })
            }
            _ => {
                let mut arguments = Vec::new();
                for argument in self.from_terms.arguments(term) {
                    arguments.push(self.term(into, argument)?);
                }
                if arguments.len() > 2 && data.is_assoc() && !self.to.symbol(target).is_assoc() {
                    let mut all = arguments.into_iter().rev();
                    let last = all.next().expect("there are three");
                    return Ok(all.fold(last, |rest, one| into.make(self.to, target, &[one, rest])));
                }
                Ok(into.make(self.to, target, &arguments))
            }
        }
    }

    fn statement(&mut self, into: &mut Terms, statement: &Statement) -> Result<Statement, Untranslatable> {
        let mut conditions = Vec::with_capacity(statement.conditions.len());
        for condition in &statement.conditions {
            conditions.push(match *condition {
                Condition::Equal(one, two) => Condition::Equal(self.term(into, one)?, self.term(into, two)?),
                Condition::Assign(one, two) => {
                    Condition::Assign(self.term(into, one)?, self.term(into, two)?)
                }
                Condition::Rewrite(one, two) => {
                    Condition::Rewrite(self.term(into, one)?, self.term(into, two)?)
                }
                Condition::Sort(one, sort) => Condition::Sort(self.term(into, one)?, self.sort(sort)?),
                Condition::Holds(one) => Condition::Holds(self.term(into, one)?),
            });
        }
        Ok(Statement {
            left: self.term(into, statement.left)?,
            right: match statement.right {
                TermId::NONE => TermId::NONE,
                right => self.term(into, right)?,
            },
            sort: statement.sort.map(|sort| self.sort(sort)).transpose()?,
            conditions,
            label: statement.label.map(|label| self.morphism.labels.get(&label).copied().unwrap_or(label)),
            ..statement.clone()
        })
    }
}

/// All modules and views that were written so far.
#[derive(Clone, Debug, Default)]
pub struct Database {
    modules: FxHashMap<Name, Arc<ModuleText>>,
    /// What modules import without being asked, as it was when they were written.
    imported: FxHashMap<Name, Vec<Name>>,
    views: FxHashMap<Name, Arc<ViewText>>,
    flat: FxHashMap<Name, Result<Arc<Module>, ()>>,
    flat_views: FxHashMap<String, Arc<View>>,
    working: Vec<Name>,
    /// Modules with errors whose use by a command was told.
    complained: FxHashSet<Name>,
    /// Modules that functional and system modules import without being asked.
    pub automatic: Vec<Name>,
    /// The module that was written last.
    pub last: Option<Name>,
    /// What was found on the way.
    pub diagnostics: Vec<Diagnostic>,
}

/// What went wrong is in the diagnostics.
#[derive(Debug)]
pub struct Broken;

type Made<T> = Result<T, Broken>;

impl Database {
    /// Adds a module; it takes the place of one of the same name.
    pub fn add_module(&mut self, text: ModuleText) {
        self.last = Some(text.name);
        self.imported.insert(text.name, self.automatic.clone());
        if self.modules.insert(text.name, Arc::new(text)).is_some() {
            // Others may have used the one that is gone.
            self.complained.clear();
            self.flat.clear();
            self.flat_views.clear();
        }
    }

    /// Adds a view; it takes the place of one of the same name.
    pub fn add_view(&mut self, text: ViewText) {
        if self.views.insert(text.name, Arc::new(text)).is_some() {
            self.flat.clear();
            self.flat_views.clear();
        }
    }

    /// The names of modules.
    pub fn names(&self) -> impl Iterator<Item = Name> + '_ {
        self.modules.keys().copied()
    }

    /// The text of a module.
    pub fn text(&self, name: Name) -> Option<&Arc<ModuleText>> {
        self.modules.get(&name)
    }

    /// The text of a view.
    pub fn view_text(&self, name: Name) -> Option<&Arc<ViewText>> {
        self.views.get(&name)
    }

    fn fail<T>(&mut self, error: Diagnostic) -> Made<T> {
        self.diagnostics.push(error);
        Err(Broken)
    }

    /// A module by its name.
    pub fn module(&mut self, name: Name, span: Option<Span>, sources: &Sources) -> Made<Arc<Module>> {
        if let Some(known) = self.flat.get(&name).cloned() {
            if known.is_err() {
                self.complain(name, span);
            }
            return known.map_err(|()| Broken);
        }
        let Some(text) = self.modules.get(&name).cloned() else {
            let near = source::closest(name.text(), self.modules.keys().map(|name| name.text()));
            let mut error = Diagnostic::error(format!("there is no module `{name}`"))
                .maybe_help(near.map(|near| format!("did you mean `{near}`?")));
            if let Some(span) = span {
                error = error.label(span, "not known here");
            }
            return self.fail(error);
        };
        if self.working.contains(&name) {
            let error = Diagnostic::error(format!("module `{name}` imports itself"))
                .label(span.unwrap_or(text.name_span), "by way of this import");
            return self.fail(error);
        }
        if self.working.len() > 200 {
            return self.fail(
                Diagnostic::error("modules import each other too deeply").label(text.name_span, "here"),
            );
        }
        self.working.push(name);
        let before = self.diagnostics.len();
        let made = self.flatten(&text, sources);
        self.working.pop();
        if text.broken {
            // What follows from declarations that could not be read is no news.
            self.diagnostics.truncate(before);
        }
        let made = match made {
            Ok(module) if !text.broken && !self.diagnostics[before..].iter().any(Diagnostic::is_error) => {
                Ok(Arc::new(module))
            }
            _ => Err(()),
        };
        self.flat.insert(name, made.clone());
        made.map_err(|()| Broken)
    }

    /// A module with errors is used: its errors were told, so that once is enough, and once for each import.
    fn complain(&mut self, name: Name, span: Option<Span>) {
        let (Some(text), Some(span)) = (self.modules.get(&name), span) else { return };
        if self.working.is_empty() && !self.complained.insert(name) {
            return;
        }
        let error = Diagnostic::error(format!("module `{name}` has errors and can't be used"))
            .label(span, "used here")
            .label(text.name_span, "this module");
        self.diagnostics.push(error);
    }

    /// A module with the declarations of a text and all that it imports, but without statements of its own, and without
    /// imports that were not asked for: what a module is whose statements are terms already. None if something is wrong.
    pub fn declared(&mut self, text: &ModuleText, sources: &Sources) -> Option<Module> {
        let before = self.diagnostics.len();
        let made = self.declarations(text, &[], sources).ok();
        let sound = !self.diagnostics[before..].iter().any(Diagnostic::is_error);
        self.diagnostics.truncate(before);
        made.filter(|_| sound)
    }

    /// What a module imports without being asked.
    pub fn automatic_imports(&self, name: Name) -> &[Name] {
        self.imported.get(&name).map_or(&[], Vec::as_slice)
    }

    fn declarations(&mut self, text: &ModuleText, automatic: &[Name], sources: &Sources) -> Made<Module> {
        let mut environment: Vec<(Name, Bound)> = Vec::new();
        let mut imports = Vec::new();
        let mut parameters = Vec::new();
        let mut broken = false;
        for parameter in &text.parameters {
            let Ok(theory) = self.evaluate(&parameter.theory, &[], sources) else {
                broken = true;
                continue;
            };
            if !theory.kind.theory {
                let error = Diagnostic::error(format!("`{}` is not a theory", theory.name))
                    .label(parameter.theory.span, "a parameter has to satisfy a theory, `fth … endfth`");
                self.diagnostics.push(error);
                broken = true;
                continue;
            }
            let copy = self.parameter(parameter.name.name, &theory, sources)?;
            imports.push(copy);
            parameters.push((parameter.name.name, theory.clone()));
            environment.push((parameter.name.name, Bound::Parameter(parameter.name.name, theory)));
        }
        if !text.kind.theory {
            for &name in automatic {
                // What the automatic import needs itself does not import it.
                if !self.working.contains(&name)
                    && self.modules.contains_key(&name)
                    && let Ok(module) = self.module(name, None, sources)
                {
                    imports.push(module);
                }
            }
        }
        let declarations = objects::desugared(text);
        if text.kind.object
            && let Ok(module) = self.module(Name::new("CONFIGURATION"), Some(text.name_span), sources)
        {
            imports.push(module);
        }
        for declaration in declarations.iter() {
            if let Declaration::Import(_, expression) = declaration {
                match self.evaluate(expression, &environment, sources) {
                    Ok(module) => {
                        self.check_import(text, expression, &module);
                        imports.push(module);
                    }
                    Err(Broken) => broken = true,
                }
            }
        }
        if broken {
            return Err(Broken);
        }
        let mut draft = Draft::new(text.name, text.kind, imports);
        draft.parameters = parameters;
        draft.span = Some(text.name_span);
        for declaration in declarations.iter() {
            match declaration {
                Declaration::Sorts(sorts) => draft.sorts.extend(sorts.iter().copied()),
                Declaration::Subsorts(chain) => {
                    for pair in chain.windows(2) {
                        for &(small, span) in &pair[0] {
                            for &(large, end) in &pair[1] {
                                draft.subsorts.push((small, large, span.to(end)));
                            }
                        }
                    }
                }
                Declaration::Operators(operators) => draft.operators.push(operators.clone()),
                _ => {}
            }
        }
        self.assemble(draft, None, sources)
    }

    fn flatten(&mut self, text: &Arc<ModuleText>, sources: &Sources) -> Made<Module> {
        let automatic = self.automatic_imports(text.name).to_vec();
        let mut module = self.declarations(text, &automatic, sources)?;
        let declarations = objects::desugared(text);
        // Variables, then statements.
        let mut declared: FxHashMap<Name, Span> = FxHashMap::default();
        let mut lost: FxHashSet<Name> = FxHashSet::default();
        for declaration in declarations.iter() {
            if let Declaration::Variables(names, sort) = declaration {
                let Some(sort) = self.resolve_type(&module.signature, sort) else {
                    lost.extend(names.iter().map(|name| name.name));
                    continue;
                };
                for name in names {
                    // As in Maude, the first declaration counts.
                    match module.variables.get(&name.name) {
                        Some(&known) if declared.contains_key(&name.name) => {
                            if known != sort {
                                let sort = module.signature.sort_name(known);
                                let warning = Diagnostic::warning(format!(
                                    "variable `{}` is declared twice",
                                    name.text()
                                ))
                                .label(name.span, format!("ignored: it stays of sort `{sort}`"))
                                .label(declared[&name.name], "the first declaration");
                                self.diagnostics.push(warning);
                            }
                        }
                        _ => {
                            module.variables.insert(name.name, sort);
                            declared.insert(name.name, name.span);
                        }
                    }
                }
            }
        }
        let statements: Vec<&StatementText> = declarations
            .iter()
            .filter_map(|declaration| match declaration {
                Declaration::Statement(statement) => Some(statement),
                _ => None,
            })
            .collect();
        if !statements.is_empty() {
            let grammar = Grammar::new(&module.signature, &mut module.terms);
            for statement in statements {
                if statement.tokens.iter().any(|token| lost.contains(&token.name)) {
                    // It can't be read for want of a variable whose sort is unknown.
                    continue;
                }
                match read_statement(&mut module, &grammar, statement) {
                    Ok((statement, warnings)) => {
                        self.diagnostics.extend(warnings);
                        module.statements.push(statement);
                    }
                    Err(error) => self.diagnostics.push(*error),
                }
            }
            module.grammar = OnceLock::from(grammar);
        }
        if text.kind.object {
            objects::complete(&mut module);
        }
        Ok(module)
    }

    /// What may not be imported.
    fn check_import(&mut self, text: &ModuleText, expression: &ModuleExpression, module: &Module) {
        let open = open_module(expression).filter(|_| !module.parameters.is_empty() && !text.kind.theory);
        let error = if let Some(name) = open {
            let (parameter, theory) = &module.parameters[0];
            Diagnostic::error(format!("`{name}` has a parameter that is left open"))
                .label(expression.span, format!("what is its `{parameter}`?"))
                .help(format!("`{name}{{…}}` gives it a view from `{}`", theory.name))
        } else if module.kind.theory && !text.kind.theory {
            Diagnostic::error("a module does not import theories")
                .label(expression.span, format!("`{}` is a theory", module.name))
                .help(format!(
                    "a theory is for parameters: `{} {}{{X :: {}}} is`",
                    text.kind.keyword(),
                    text.name,
                    module.name
                ))
        } else if module.kind.system && !text.kind.system {
            let (keyword, end) = (text.kind.keyword(), text.kind.end());
            let (whole, own) = match text.kind.theory {
                true => ("th … endth", "a functional theory"),
                false => ("mod … endm", "a functional module"),
            };
            Diagnostic::error(format!("{own} does not import modules with rules"))
                .label(expression.span, format!("`{}` is a system module", module.name))
                .help(format!("`{whole}` in place of `{keyword} … {end}` may import it"))
        } else {
            return;
        };
        self.diagnostics.push(error);
    }

    /// The sort that a type means, or a diagnostic.
    fn resolve_type(&mut self, signature: &Signature, one: &Type) -> Option<SortId> {
        match resolve_type(signature, one) {
            Ok(sort) => Some(sort),
            Err(error) => {
                self.diagnostics.push(*error);
                None
            }
        }
    }

    /// What a module expression stands for.
    pub fn evaluate(
        &mut self,
        expression: &ModuleExpression,
        environment: &[(Name, Bound)],
        sources: &Sources,
    ) -> Made<Arc<Module>> {
        match &expression.kind {
            ExpressionKind::Named(name) => self.module(*name, Some(expression.span), sources),
            ExpressionKind::Sum(parts) => {
                let mut modules = Vec::new();
                for part in parts {
                    modules.push(self.evaluate(part, environment, sources)?);
                }
                self.sum(modules, sources)
            }
            ExpressionKind::Renaming(base, items) => {
                let base = self.evaluate(base, environment, sources)?;
                self.check_renaming(&base, items);
                self.rename(&base, items, sources)
            }
            ExpressionKind::Instance(base, arguments) => {
                let base = self.evaluate(base, environment, sources)?;
                if base.parameters.len() != arguments.len() {
                    let count =
                        |n: usize| if n == 1 { "1 parameter".to_owned() } else { format!("{n} parameters") };
                    let error = Diagnostic::error(format!(
                        "`{}` has {}, not {}",
                        base.name,
                        count(base.parameters.len()),
                        arguments.len()
                    ))
                    .label(expression.span, "in this instance");
                    return self.fail(error);
                }
                let mut bound = Vec::new();
                for (argument, (_, theory)) in arguments.iter().zip(base.parameters.clone()) {
                    bound.push(self.bind(argument, &theory, environment, sources)?);
                }
                self.instance(&base, bound, sources)
            }
        }
    }

    fn check_renaming(&mut self, base: &Arc<Module>, items: &[RenamingItem]) {
        for item in items {
            let missing = match item {
                RenamingItem::Sort(from, _, span) if base.signature.sort(*from).is_none() => {
                    ("sort", *from, *span)
                }
                RenamingItem::Operator { from, span, .. } if base.signature.named(*from).is_empty() => {
                    ("operator", *from, *span)
                }
                _ => continue,
            };
            let (what, name, span) = missing;
            let warning = Diagnostic::warning(format!("`{}` has no {what} `{name}`", base.name))
                .label(span, "this renaming changes nothing");
            self.diagnostics.push(warning);
        }
    }

    /// What an argument of an instance stands for.
    fn bind(
        &mut self,
        argument: &Argument,
        theory: &Arc<Module>,
        environment: &[(Name, Bound)],
        sources: &Sources,
    ) -> Made<Bound> {
        if argument.arguments.is_empty()
            && let Some((_, bound)) = environment.iter().find(|(name, _)| *name == argument.name.name)
        {
            if let Bound::Parameter(_, own) = bound
                && own.name != theory.name
            {
                let error = Diagnostic::error(format!(
                    "parameter `{}` satisfies `{}`, but `{}` is needed",
                    argument.name.text(),
                    own.name,
                    theory.name
                ))
                .label(argument.name.span, "this parameter does not fit")
                .help(format!("a view from `{}` to `{}` can stand between them", theory.name, own.name));
                return self.fail(error);
            }
            return Ok(bound.clone());
        }
        let view = self.view(argument, environment, sources)?;
        if view.from.name != theory.name {
            let error = Diagnostic::error(format!(
                "view `{}` is from `{}`, but `{}` is needed",
                view.name, view.from.name, theory.name
            ))
            .label(argument.name.span, "this view does not fit");
            return self.fail(error);
        }
        Ok(Bound::View(view))
    }

    fn view(
        &mut self,
        argument: &Argument,
        environment: &[(Name, Bound)],
        sources: &Sources,
    ) -> Made<Arc<View>> {
        let Some(text) = self.views.get(&argument.name.name).cloned() else {
            let near = source::closest(argument.name.text(), self.views.keys().map(|name| name.text()));
            let error = Diagnostic::error(format!("there is no view `{}`", argument.name.text()))
                .label(argument.name.span, "not known here")
                .maybe_help(near.map(|near| format!("did you mean `{near}`?")));
            return self.fail(error);
        };
        if text.parameters.len() != argument.arguments.len() {
            let error = Diagnostic::error(format!(
                "view `{}` takes {} arguments, not {}",
                argument.name.text(),
                text.parameters.len(),
                argument.arguments.len()
            ))
            .label(argument.name.span, "in this instance");
            return self.fail(error);
        }
        let mut inner = Vec::new();
        for (parameter, argument) in text.parameters.iter().zip(&argument.arguments) {
            let theory = self.evaluate(&parameter.theory, &[], sources)?;
            inner.push((parameter.name.name, self.bind(argument, &theory, environment, sources)?));
        }
        self.make_view(&text, inner, sources)
    }

    fn make_view(
        &mut self,
        text: &Arc<ViewText>,
        environment: Vec<(Name, Bound)>,
        sources: &Sources,
    ) -> Made<Arc<View>> {
        let mut name = text.name.text().to_owned();
        if !environment.is_empty() {
            let arguments: Vec<String> = environment.iter().map(|(_, bound)| bound.text()).collect();
            name = format!("{name}{{{}}}", arguments.join(","));
        }
        if let Some(known) = self.flat_views.get(&name) {
            return Ok(known.clone());
        }
        let from = self.evaluate(&text.from, &[], sources)?;
        let to = self.evaluate(&text.to, &environment, sources)?;
        let morphism = Morphism {
            parameters: environment.iter().map(|(name, bound)| (*name, bound.text())).collect(),
            ..Morphism::default()
        };
        let mut sorts = FxHashMap::default();
        for (from_sort, to_sort, span) in &text.sorts {
            let to_sort = self.through(&environment, &morphism, *to_sort);
            for (module, sort, what) in [(&from, *from_sort, "from"), (&to, to_sort, "to")] {
                if module.signature.sort(sort).is_none() {
                    let error = Diagnostic::error(format!("`{}` has no sort `{sort}`", module.name))
                        .label(*span, format!("the view is {what} `{}`", module.name));
                    return self.fail(error);
                }
            }
            sorts.insert(*from_sort, to_sort);
        }
        let closure = from.closure();
        let theories = closure.iter().chain(std::iter::once(&from)).filter(|module| module.kind.theory);
        let theory_sorts: Vec<Name> =
            theories.flat_map(|module| module.own_sorts.iter().map(|&(name, _)| name)).collect();
        for sort in theory_sorts {
            let mapped = sorts.get(&sort).copied().unwrap_or(sort);
            if to.signature.sort(mapped).is_none() {
                let error = Diagnostic::error(format!("view `{name}` does not say what sort `{sort}` is"))
                    .label(text.name_span, format!("`{}` has no sort `{sort}`", to.name))
                    .help(format!("add `sort {sort} to …`"));
                return self.fail(error);
            }
        }
        for module in closure.iter().chain(std::iter::once(&from)).filter(|module| module.kind.theory) {
            for operators in &module.own_operators {
                if let Some(error) = lacks_operator(text, &sorts, &from, &to, operators) {
                    return self.fail(error);
                }
            }
        }
        let view = Arc::new(View { name: name.clone(), from, to, sorts, text: text.clone(), environment });
        self.flat_views.insert(name, view.clone());
        Ok(view)
    }

    /// The name of a sort with parameters replaced, also in `X$Elt`.
    fn through(&self, environment: &[(Name, Bound)], morphism: &Morphism, sort: Name) -> Name {
        if let Some((parameter, inner)) = sort.text().split_once('$') {
            for (name, bound) in environment {
                if name.text() == parameter {
                    return match bound {
                        Bound::Parameter(other, _) => Name::new(&format!("{other}${inner}")),
                        Bound::View(view) => {
                            let inner = Name::new(inner);
                            view.sorts.get(&inner).copied().unwrap_or(inner)
                        }
                    };
                }
            }
        }
        morphism.sort(sort)
    }

    fn sum(&mut self, modules: Vec<Arc<Module>>, sources: &Sources) -> Made<Arc<Module>> {
        let names: Vec<&str> = modules.iter().map(|module| module.name.text()).collect();
        let name = Name::new(&names.join(" + "));
        if let Some(known) = self.flat.get(&name) {
            return known.clone().map_err(|()| Broken);
        }
        let kind = ModuleKind {
            system: modules.iter().any(|module| module.kind.system),
            theory: modules.iter().any(|module| module.kind.theory),
            object: false,
        };
        let mut draft = Draft::new(name, kind, modules);
        draft.origin = Origin::Sum;
        let module = Arc::new(self.assemble(draft, None, sources)?);
        self.flat.insert(name, Ok(module.clone()));
        Ok(module)
    }

    /// The copy of a theory that stands for a parameter.
    fn parameter(&mut self, name: Name, theory: &Arc<Module>, sources: &Sources) -> Made<Arc<Module>> {
        let own = Name::new(&format!("{name} :: {}", theory.name));
        if let Some(known) = self.flat.get(&own) {
            return known.clone().map_err(|()| Broken);
        }
        let mut morphism = Morphism::default();
        for module in
            theory.closure().iter().chain(std::iter::once(theory)).filter(|module| module.kind.theory)
        {
            for &(sort, _) in &module.own_sorts {
                morphism.sorts.insert(sort, Name::new(&format!("{name}${sort}")));
            }
        }
        // Theories that the theory imports are copied into it.
        let mut draft = Draft::new(own, theory.kind, Vec::new());
        let closure = theory.closure();
        draft.imports = closure.iter().filter(|module| !module.kind.theory).cloned().collect();
        draft.origin = Origin::Parameter(name, theory.clone());
        for module in closure.iter().filter(|module| module.kind.theory).chain(std::iter::once(theory)) {
            draft.map(module, &morphism);
        }
        let module = Arc::new(self.assemble(draft, Some((theory, &morphism, true)), sources)?);
        self.flat.insert(own, Ok(module.clone()));
        Ok(module)
    }

    fn instance(&mut self, base: &Arc<Module>, bound: Vec<Bound>, sources: &Sources) -> Made<Arc<Module>> {
        let arguments: Vec<String> = bound.iter().map(Bound::text).collect();
        let name = Name::new(&format!("{}{{{}}}", base.name, arguments.join(",")));
        if let Some(known) = self.flat.get(&name) {
            return known.clone().map_err(|()| Broken);
        }
        let environment: Vec<(Name, Bound)> =
            base.parameters.iter().map(|(name, _)| *name).zip(bound.iter().cloned()).collect();
        let mut morphism = sort_morphism(&environment);
        let mut parameters = Vec::new();
        for (parameter, argument) in &environment {
            if let Bound::View(view) = argument
                && view.to.kind.theory
            {
                parameters.push((*parameter, view.to.clone()));
            }
        }
        let mut imports = Vec::new();
        for import in &base.imports {
            let new = self.instantiate(import, &environment, sources)?;
            imports.push(new);
        }
        for (_, argument) in &environment {
            if let Bound::View(view) = argument
                && !view.to.kind.theory
            {
                imports.push(view.to.clone());
            }
        }
        for (parameter, argument) in &environment {
            if let Bound::View(view) = argument {
                self.view_operators(base, *parameter, view, &mut morphism, sources)?;
            }
        }
        let mut draft = Draft::new(name, base.kind, imports);
        draft.parameters = parameters;
        draft.origin = Origin::Instance(base.clone(), bound);
        draft.map(base, &morphism);
        let module = Arc::new(self.assemble(draft, Some((base, &morphism, false)), sources)?);
        self.flat.insert(name, Ok(module.clone()));
        Ok(module)
    }

    /// What a view says about the operators of a parameter's theory, as they are in a module.
    fn view_operators(
        &mut self,
        base: &Arc<Module>,
        parameter: Name,
        view: &Arc<View>,
        morphism: &mut Morphism,
        sources: &Sources,
    ) -> Made<()> {
        let copy_name = Name::new(&format!("{parameter} :: {}", view.from.name));
        let copy = base.imports.iter().find(|import| import.name == copy_name).cloned();
        let in_base = |sorts: &[Type], range: &Type| -> Option<(Vec<KindId>, KindId)> {
            let kind = |one: &Type| {
                let name = Name::new(&format!("{parameter}${}", one.sorts[0]));
                let sort = base.signature.sort(name).or_else(|| base.signature.sort(one.sorts[0]))?;
                Some(base.signature.kind_of(sort))
            };
            Some((sorts.iter().map(kind).collect::<Option<_>>()?, kind(range)?))
        };
        for operator in &view.text.operators {
            match operator {
                ViewOperator::Renamed { from, profile, to, span } => {
                    if view.from.signature.named(*from).is_empty() {
                        let error =
                            Diagnostic::error(format!("`{}` has no operator `{from}`", view.from.name))
                                .label(*span, "this mapping has nothing to map");
                        return self.fail(error);
                    }
                    if view.to.signature.named(*to).is_empty() {
                        let error = Diagnostic::error(format!("`{}` has no operator `{to}`", view.to.name))
                            .label(*span, "this mapping leads nowhere");
                        return self.fail(error);
                    }
                    let mut wanted: Vec<Option<(Vec<KindId>, KindId)>> = Vec::new();
                    match profile {
                        Some((domain, range)) => wanted.push(in_base(domain, range)),
                        None => {
                            for declared in copy.iter().flat_map(|copy| &copy.own_operators) {
                                if declared.names.iter().any(|(name, _)| name == from) {
                                    wanted.push(in_base(&declared.domain, &declared.range));
                                }
                            }
                            if wanted.is_empty() {
                                wanted.push(None);
                            }
                        }
                    }
                    for profile in wanted {
                        let to = Target::Name(*to, Box::default());
                        morphism.operators.push(OperatorMap { from: *from, profile, to });
                    }
                }
                ViewOperator::Term { from, to, span } => {
                    let (name, arguments) = self.view_left(view, from, *span)?;
                    let mut terms = view.to.terms.clone();
                    // Variables are those of the view, with their sorts mapped.
                    let mut variables = FxHashMap::default();
                    let mapping = Morphism { sorts: view.sorts.clone(), ..Morphism::default() };
                    for (names, sort) in &view.text.variables {
                        let sort = mapping.one_type(sort);
                        let Some(sort) = self.resolve_type(&view.to.signature, &sort) else {
                            return Err(Broken);
                        };
                        for name in names {
                            variables.insert(name.name, sort);
                        }
                    }
                    // `X:Elt` on the right has the sort of the theory.
                    let to: Vec<Token> = to
                        .iter()
                        .map(|token| match token.text().split_once(':') {
                            Some((name, sort))
                                if !name.is_empty() && view.sorts.contains_key(&Name::new(sort)) =>
                            {
                                let sort = view.sorts[&Name::new(sort)];
                                Token { name: Name::new(&format!("{name}:{sort}")), ..*token }
                            }
                            _ => *token,
                        })
                        .collect();
                    let grammar = view.to.grammar();
                    let read = grammar.read(&view.to.signature, &mut terms, &variables, Goal::Term, &to);
                    let body = match read {
                        Ok(reading) => reading.terms[0],
                        Err(no) => {
                            let error = cannot_read(&no, &to, &view.to, "the term");
                            return self.fail(error);
                        }
                    };
                    let mut parameters = Vec::new();
                    for (argument, sort) in arguments {
                        let name = mapping.sort(sort);
                        let Some(sort) = view.to.signature.sort(name) else { return Err(Broken) };
                        parameters.push(terms.variable(argument, sort));
                    }
                    let mut used = Vec::new();
                    variables_of(&terms, body, &mut used);
                    if let Some(&free) = used.iter().find(|variable| !parameters.contains(variable)) {
                        let name = crate::print::plain(&view.to.signature, &terms, free);
                        let error = Diagnostic::error(format!("variable `{name}` has no value in the term"))
                            .label(*span, "it is no argument on the left side");
                        return self.fail(error);
                    }
                    let arity = parameters.len();
                    let target = Target::Term(view.to.clone(), Arc::new(terms), parameters, body);
                    let profiles: Vec<_> = copy
                        .iter()
                        .flat_map(|copy| &copy.own_operators)
                        .filter(|declared| {
                            declared.domain.len() == arity
                                && declared.names.iter().any(|(own, _)| *own == name)
                        })
                        .map(|declared| in_base(&declared.domain, &declared.range))
                        .collect();
                    for profile in profiles {
                        morphism.operators.push(OperatorMap { from: name, profile, to: target.clone() });
                    }
                }
            }
        }
        let _ = sources;
        Ok(())
    }

    /// The left side of `op f(X, Y) to term …`: the operator, and its variables with their sorts in the theory.
    fn view_left(&mut self, view: &View, tokens: &[Token], span: Span) -> Made<(Name, Vec<(Name, Name)>)> {
        let mut terms = view.from.terms.clone();
        let mut variables = FxHashMap::default();
        for (names, sort) in &view.text.variables {
            let Some(sort) = self.resolve_type(&view.from.signature, sort) else { return Err(Broken) };
            for name in names {
                variables.insert(name.name, sort);
            }
        }
        let signature = &view.from.signature;
        let term = match view.from.grammar().read(signature, &mut terms, &variables, Goal::Term, tokens) {
            Ok(reading) => reading.terms[0],
            Err(no) => {
                let error = cannot_read(&no, tokens, &view.from, "the left side");
                return self.fail(error);
            }
        };
        let arguments = terms.arguments(term);
        let Some(symbol) = terms.symbol(term) else {
            return self.fail(Diagnostic::error("a view maps operators, not variables").label(span, "here"));
        };
        let mut result = Vec::new();
        for argument in arguments {
            match terms.top(argument) {
                Top::Variable(sort) => {
                    result.push((terms.variable_name(argument), signature.sorts[sort.0 as usize].name))
                }
                Top::Symbol(_) => {
                    let error = Diagnostic::error("the arguments on the left side have to be variables")
                        .label(span, "here");
                    return self.fail(error);
                }
            }
        }
        Ok((signature.symbol(symbol).name, result))
    }

    /// An import of a module whose parameters get arguments.
    fn instantiate(
        &mut self,
        module: &Arc<Module>,
        environment: &[(Name, Bound)],
        sources: &Sources,
    ) -> Made<Arc<Module>> {
        let names: Vec<Name> = environment.iter().map(|(name, _)| *name).collect();
        if !module.depends(&names) {
            return Ok(module.clone());
        }
        match &module.origin {
            Origin::Parameter(name, theory) => match environment.iter().find(|(own, _)| own == name) {
                Some((_, Bound::Parameter(other, _))) => self.parameter(*other, theory, sources),
                Some((_, Bound::View(view))) if view.to.kind.theory => {
                    self.parameter(*name, &view.to.clone(), sources)
                }
                Some((_, Bound::View(view))) => Ok(view.to.clone()),
                None => Ok(module.clone()),
            },
            Origin::Instance(base, arguments) => {
                let mut bound = Vec::new();
                for argument in arguments {
                    bound.push(self.substitute(argument, environment, sources)?);
                }
                let base = self.instantiate(base, environment, sources)?;
                // A view to a theory leaves the parameter open, to be bound to itself.
                let closed: Vec<Bound> = bound;
                let made = self.instance(&base, closed, sources)?;
                self.close_open(&made, environment, sources)
            }
            Origin::Renaming(base, items) => {
                let base = self.instantiate(base, environment, sources)?;
                let morphism = sort_morphism(environment);
                let items: Vec<RenamingItem> = items
                    .iter()
                    .map(|item| match item {
                        RenamingItem::Sort(from, to, span) => {
                            RenamingItem::Sort(morphism.sort(*from), morphism.sort(*to), *span)
                        }
                        RenamingItem::Operator {
                            from,
                            profile: Some((domain, range)),
                            to,
                            attributes,
                            span,
                        } => RenamingItem::Operator {
                            from: *from,
                            profile: Some((morphism.types(domain), morphism.one_type(range))),
                            to: *to,
                            attributes: attributes.clone(),
                            span: *span,
                        },
                        other => other.clone(),
                    })
                    .collect();
                self.rename(&base, &items, sources)
            }
            Origin::Sum => {
                let mut parts = Vec::new();
                for import in &module.imports {
                    parts.push(self.instantiate(import, environment, sources)?);
                }
                self.sum(parts, sources)
            }
            Origin::Text => Ok(module.clone()),
        }
    }

    /// Binds what views to theories have left open to parameters of the same names.
    fn close_open(
        &mut self,
        module: &Arc<Module>,
        environment: &[(Name, Bound)],
        sources: &Sources,
    ) -> Made<Arc<Module>> {
        let open = module.parameters.clone();
        if open.is_empty()
            || matches!(&module.origin, Origin::Instance(base, _) if !base.parameters.is_empty() && environment.is_empty())
        {
            return Ok(module.clone());
        }
        let bound: Vec<Bound> =
            open.iter().map(|(name, theory)| Bound::Parameter(*name, theory.clone())).collect();
        self.instance(module, bound, sources)
    }

    fn substitute(&mut self, bound: &Bound, environment: &[(Name, Bound)], sources: &Sources) -> Made<Bound> {
        match bound {
            Bound::Parameter(name, _) => Ok(environment
                .iter()
                .find(|(own, _)| own == name)
                .map_or_else(|| bound.clone(), |(_, new)| new.clone())),
            Bound::View(view) => {
                let mut inner = Vec::new();
                for (name, bound) in &view.environment {
                    inner.push((*name, self.substitute(bound, environment, sources)?));
                }
                Ok(Bound::View(self.make_view(&view.text.clone(), inner, sources)?))
            }
        }
    }

    fn rename(&mut self, base: &Arc<Module>, items: &[RenamingItem], sources: &Sources) -> Made<Arc<Module>> {
        let relevant: Vec<RenamingItem> =
            items.iter().filter(|item| is_relevant(base, item)).cloned().collect();
        if relevant.is_empty() || matches!(base.origin, Origin::Parameter(..)) {
            return Ok(base.clone());
        }
        let name = Name::new(&format!("{} * ({})", base.name, renaming_text(&relevant)));
        if let Some(known) = self.flat.get(&name) {
            return known.clone().map_err(|()| Broken);
        }
        let mut morphism = Morphism::default();
        for item in &relevant {
            match item {
                RenamingItem::Sort(from, to, _) => drop(morphism.sorts.insert(*from, *to)),
                RenamingItem::Label(from, to, _) => drop(morphism.labels.insert(*from, *to)),
                RenamingItem::Operator { from, profile, to, attributes, .. } => {
                    let kind = |one: &Type| {
                        base.signature.sort(one.sorts[0]).map(|sort| base.signature.kind_of(sort))
                    };
                    let profile = match profile {
                        None => None,
                        Some((domain, range)) => {
                            let domain: Option<Vec<KindId>> = domain.iter().map(kind).collect();
                            match domain.zip(kind(range)) {
                                Some(profile) => Some(profile),
                                None => continue,
                            }
                        }
                    };
                    let to = Target::Name(*to, attributes.clone());
                    morphism.operators.push(OperatorMap { from: *from, profile, to });
                }
            }
        }
        let mut imports = Vec::new();
        for import in &base.imports {
            let renamed = self.rename(import, &relevant, sources)?;
            imports.push(renamed);
        }
        let mut draft = Draft::new(name, base.kind, imports);
        draft.parameters = base.parameters.clone();
        draft.origin = Origin::Renaming(base.clone(), relevant);
        draft.map(base, &morphism);
        let module = Arc::new(self.assemble(draft, Some((base, &morphism, false)), sources)?);
        self.flat.insert(name, Ok(module.clone()));
        Ok(module)
    }

    /// Makes a module from its declarations and imports; its own statements are copied from another module, if any: that
    /// module, what becomes of names, and whether all its statements are meant.
    fn assemble(
        &mut self,
        draft: Draft,
        source: Option<(&Arc<Module>, &Morphism, bool)>,
        _sources: &Sources,
    ) -> Made<Module> {
        let mut seen = FxHashSet::default();
        let mut closure = Vec::new();
        for import in &draft.imports {
            visit(import, &mut seen, &mut closure);
        }
        // Sorts.
        let mut names: Vec<Name> = Vec::new();
        let mut known: FxHashSet<Name> = FxHashSet::default();
        let imported = closure.iter().flat_map(|module| &module.own_sorts);
        for &(name, _) in imported.chain(&draft.sorts) {
            if known.insert(name) {
                names.push(name);
            }
        }
        if source.is_none() {
            let mut own: FxHashMap<Name, Span> = FxHashMap::default();
            for &(name, span) in &draft.sorts {
                if let Some(first) = own.insert(name, span) {
                    let warning = Diagnostic::warning(format!("sort `{name}` is declared twice"))
                        .label(span, "this declares nothing new")
                        .label(first, "the first declaration");
                    self.diagnostics.push(warning);
                }
            }
        }
        let mut subsorts: Vec<(Name, Name, Span)> = Vec::new();
        for module in &closure {
            subsorts.extend(&module.own_subsorts);
        }
        for &(small, large, span) in &draft.subsorts {
            for name in [small, large] {
                if !known.contains(&name) {
                    let length = (name.text().len() as u32).min(span.end - span.start);
                    let place = match name == large {
                        true => Span { start: span.end - length, ..span },
                        false => Span { end: span.start + length, ..span },
                    };
                    let error = unknown_sort(name, place, names.iter().copied());
                    return self.fail(error);
                }
            }
            subsorts.push((small, large, span));
        }
        let mut signature = match Signature::new(&names, &subsorts) {
            Ok(signature) => signature,
            Err(error) => return self.fail(*error),
        };
        // Operators.
        let mut broken = false;
        let mut own_symbols: Vec<Vec<SymbolId>> = Vec::new();
        for module in &closure {
            for operators in &module.own_operators {
                let _ = declare(&mut signature, operators, module.name, &mut Vec::new());
            }
        }
        let mut found = Vec::new();
        for operators in &draft.operators {
            if source.is_none()
                && let Some(error) = other_laws(&signature, operators)
            {
                self.diagnostics.push(error);
                broken = true;
                continue;
            }
            match declare(&mut signature, operators, draft.name, &mut found) {
                Ok(symbols) => own_symbols.push(symbols),
                Err(error) => {
                    self.diagnostics.push(*error);
                    broken = true;
                }
            }
        }
        self.diagnostics.append(&mut found);
        if broken {
            return Err(Broken);
        }
        instantiate_polymorphs(&mut signature);
        add_sort_tests(&mut signature);
        let irregular = signature.close();
        for (symbol, one, two) in irregular {
            let data = signature.symbol(symbol);
            if data.module == draft.name {
                let warning =
                    Diagnostic::warning(format!("`{}` has no least sort for some arguments", data.name))
                        .label(
                            data.span,
                            format!(
                                "both `{}` and `{}` fit",
                                signature.sort_name(one),
                                signature.sort_name(two)
                            ),
                        );
                self.diagnostics.push(warning);
            }
        }
        let mut terms = Terms::new(&signature);
        // Identities, first those that other modules know.
        let identity = Morphism::default();
        for module in &closure {
            copy_identities(module, &identity, &mut signature, &mut terms);
        }
        if let Some((base, morphism, _)) = source {
            copy_identities(base, morphism, &mut signature, &mut terms);
        } else {
            let mut grammar: Option<Grammar> = None;
            for (operators, symbols) in draft.operators.iter().zip(&own_symbols) {
                let attributes = &operators.attributes;
                let lists = [
                    (&attributes.id, true, true),
                    (&attributes.left_id, true, false),
                    (&attributes.right_id, false, true),
                ];
                for (tokens, left, right) in lists {
                    let Some(tokens) = tokens else { continue };
                    let grammar = grammar.get_or_insert_with(|| Grammar::new(&signature, &mut terms));
                    for &symbol in symbols {
                        let range = signature.symbol(symbol).range;
                        let none = FxHashMap::default();
                        let read =
                            grammar.read_kind(&signature, &mut terms, &none, Goal::Term, Some(range), tokens);
                        match read {
                            Ok(reading) if signature.kind_of(terms.sort(reading.terms[0])) == range => {
                                let data = &mut signature.symbols[symbol.0 as usize];
                                if left {
                                    data.left_identity = Some(reading.terms[0]);
                                }
                                if right {
                                    data.right_identity = Some(reading.terms[0]);
                                }
                            }
                            _ => {
                                let whole = tokens[0].span.to(tokens[tokens.len() - 1].span);
                                let error = Diagnostic::error("the identity can't be read").label(
                                    whole,
                                    format!("expected a term of kind `{}`", signature.kind_name(range)),
                                );
                                self.diagnostics.push(error);
                                broken = true;
                            }
                        }
                    }
                }
            }
        }
        if broken {
            return Err(Broken);
        }
        // Built-in constants are there from the beginning, so that every copy of the table knows them.
        let _ = Literals::new(&signature, &mut terms);
        let signature = Arc::new(signature);
        // Statements.
        let mut statements = Vec::new();
        for module in &closure {
            let mut translator = Translator::new(&module.signature, &module.terms, &signature, &identity);
            for statement in &module.statements[module.own_statements..] {
                if let Ok(copied) = translator.statement(&mut terms, statement) {
                    statements.push(copied);
                }
            }
        }
        let own_statements = statements.len();
        let mut variables = FxHashMap::default();
        if let Some((base, morphism, all)) = source {
            let mut translator = Translator::new(&base.signature, &base.terms, &signature, morphism);
            let first = if all { 0 } else { base.own_statements };
            for statement in &base.statements[first..] {
                if all && closure.iter().any(|module| module.name == statement.module) {
                    continue;
                }
                match translator.statement(&mut terms, statement) {
                    Ok(copied) => statements.push(copied),
                    Err(Untranslatable(what)) => {
                        let error = Diagnostic::error(format!("`{}` lacks {what}", draft.name))
                            .label(statement.span, "which this statement needs")
                            .help("does the view say what becomes of it?");
                        return self.fail(error);
                    }
                }
            }
            for (&name, &sort) in &base.variables {
                if let Ok(sort) = translator.sort(sort) {
                    variables.insert(name, sort);
                }
            }
        }
        Ok(Module {
            name: draft.name,
            kind: draft.kind,
            parameters: draft.parameters,
            imports: draft.imports,
            origin: draft.origin,
            own_sorts: draft.sorts,
            own_subsorts: draft.subsorts,
            own_operators: draft.operators,
            signature,
            terms,
            variables,
            statements,
            own_statements,
            span: draft.span,
            grammar: OnceLock::new(),
        })
    }
}

/// What becomes of the names of sorts where parameters get arguments.
fn sort_morphism(environment: &[(Name, Bound)]) -> Morphism {
    fn theory_sorts(theory: &Arc<Module>) -> Vec<Name> {
        let closure = theory.closure();
        let theories = closure.iter().chain(std::iter::once(theory)).filter(|module| module.kind.theory);
        theories.flat_map(|module| module.own_sorts.iter().map(|&(name, _)| name)).collect()
    }
    let mut morphism = Morphism::default();
    let mut open = Vec::new();
    for (parameter, bound) in environment {
        morphism.parameters.push((*parameter, bound.text()));
        let (theory, stays) = match bound {
            Bound::Parameter(_, theory) => (theory, Vec::new()),
            Bound::View(view) if view.to.kind.theory => {
                open.push(parameter.text());
                (&view.from, theory_sorts(&view.to))
            }
            Bound::View(view) => (&view.from, Vec::new()),
        };
        for sort in theory_sorts(theory) {
            let to = match bound {
                Bound::Parameter(other, _) => Name::new(&format!("{other}${sort}")),
                Bound::View(view) => {
                    let to = view.sorts.get(&sort).copied().unwrap_or(sort);
                    if stays.contains(&to) { Name::new(&format!("{parameter}${to}")) } else { to }
                }
            };
            morphism.sorts.insert(Name::new(&format!("{parameter}${sort}")), to);
        }
    }
    if !open.is_empty() {
        morphism.open = format!("{{{}}}", open.join(","));
    }
    morphism
}

/// An operator of a theory for which a view has nothing to stand for it.
fn lacks_operator(
    view: &ViewText,
    sorts: &FxHashMap<Name, Name>,
    from: &Module,
    to: &Module,
    operators: &OperatorText,
) -> Option<Diagnostic> {
    if operators.attributes.poly.is_some() {
        return None;
    }
    let mapped = |one: &Type| {
        let sort = sorts.get(&one.sorts[0]).copied().unwrap_or(one.sorts[0]);
        to.signature.sort(sort).map(|sort| to.signature.kind_of(sort))
    };
    let domain = operators.domain.iter().map(mapped).collect::<Option<Vec<_>>>()?;
    let range = mapped(&operators.range)?;
    for &(name, _) in &operators.names {
        let by_term = view.operators.iter().any(|operator| match operator {
            ViewOperator::Term { from, .. } => {
                let whole = parser::joined(from);
                let holes = crate::signature::mixfix(name);
                let words: Vec<Name> = holes.into_iter().flatten().collect();
                whole == name
                    || from[0].name == name
                    || !words.is_empty()
                        && words.iter().all(|word| from.iter().any(|token| token.name == *word))
            }
            ViewOperator::Renamed { .. } => false,
        });
        if by_term {
            continue;
        }
        let fits = |profile: &Option<(Vec<Type>, Type)>| match profile {
            None => true,
            Some((domain, _)) => domain.len() == operators.domain.len(),
        };
        let targets: Vec<(Name, Span)> = view
            .operators
            .iter()
            .filter_map(|operator| match operator {
                ViewOperator::Renamed { from, profile, to, span } if *from == name && fits(profile) => {
                    Some((*to, *span))
                }
                _ => None,
            })
            .collect();
        let exists = |name: Name| to.signature.find(name, &domain, range).is_some();
        if targets.is_empty() && exists(name) || targets.iter().any(|&(name, _)| exists(name)) {
            continue;
        }
        let profile: Vec<String> = operators.domain.iter().map(type_text).collect();
        let profile = format!(
            "op {name} : {}-> {}",
            profile.iter().map(|sort| format!("{sort} ")).collect::<String>(),
            type_text(&operators.range)
        );
        return Some(match targets.first() {
            None => Diagnostic::error(format!("view `{}` does not say what becomes of `{name}`", view.name))
                .label(view.name_span, format!("`{}` has no such operator `{name}`", to.name))
                .note(format!("`{}` has `{profile}`", from.name))
                .help(format!("add `op {name} to …`")),
            Some(&(target, span)) => Diagnostic::error(format!("`{target}` can't stand for `{name}`"))
                .label(span, format!("`{}` has no `{target}` with these arguments", to.name))
                .note(format!("`{}` has `{profile}`", from.name)),
        });
    }
    None
}

/// The name in a module expression that stands without arguments.
fn open_module(expression: &ModuleExpression) -> Option<Name> {
    match &expression.kind {
        ExpressionKind::Named(name) => Some(*name),
        ExpressionKind::Renaming(base, _) => open_module(base),
        _ => None,
    }
}

/// A module that is not assembled yet.
struct Draft {
    name: Name,
    kind: ModuleKind,
    parameters: Vec<(Name, Arc<Module>)>,
    imports: Vec<Arc<Module>>,
    origin: Origin,
    sorts: Vec<(Name, Span)>,
    subsorts: Vec<(Name, Name, Span)>,
    operators: Vec<OperatorText>,
    span: Option<Span>,
}

impl Draft {
    fn new(name: Name, kind: ModuleKind, imports: Vec<Arc<Module>>) -> Self {
        Self {
            name,
            kind,
            parameters: Vec::new(),
            imports,
            origin: Origin::Text,
            sorts: Vec::new(),
            subsorts: Vec::new(),
            operators: Vec::new(),
            span: None,
        }
    }

    /// Takes over the declarations of a module.
    fn map(&mut self, base: &Module, morphism: &Morphism) {
        self.span = base.span;
        self.sorts.extend(base.own_sorts.iter().map(|&(name, span)| (morphism.sort(name), span)));
        let subsorts = base.own_subsorts.iter();
        self.subsorts
            .extend(subsorts.map(|&(small, large, span)| (morphism.sort(small), morphism.sort(large), span)));
        for operators in &base.own_operators {
            // Operators of one declaration may go different ways.
            for &(name, span) in &operators.names {
                let symbol = find_declared(&base.signature, name, operators);
                let target = symbol.and_then(|symbol| morphism.target(&base.signature, symbol));
                let mut attributes = operators.attributes.clone();
                let name = match target {
                    Some(Target::Name(to, changed)) => {
                        // How an operator is read and printed goes with its name, even if that stays the same.
                        attributes.prec = changed.prec;
                        attributes.gather = changed.gather.clone();
                        attributes.format = changed.format.clone();
                        *to
                    }
                    Some(Target::Term(..)) => continue,
                    None => name,
                };
                self.operators.push(OperatorText {
                    names: vec![(name, span)],
                    domain: morphism.types(&operators.domain),
                    range: morphism.one_type(&operators.range),
                    partial: operators.partial,
                    attributes,
                    span: operators.span,
                });
            }
        }
    }
}

/// The operator that a declaration of a module belongs to.
pub(crate) fn find_declared(signature: &Signature, name: Name, operators: &OperatorText) -> Option<SymbolId> {
    if operators.attributes.poly.is_some() {
        return signature.named(name).first().copied();
    }
    let kind = |one: &Type| signature.sort(one.sorts[0]).map(|sort| signature.kind_of(sort));
    let domain: Option<Vec<KindId>> = operators.domain.iter().map(kind).collect();
    signature.find(name, &domain?, kind(&operators.range)?)
}

fn is_relevant(base: &Module, item: &RenamingItem) -> bool {
    match item {
        RenamingItem::Sort(from, to, _) => from != to && base.signature.sort(*from).is_some(),
        RenamingItem::Label(from, _, _) => {
            base.statements.iter().any(|statement| statement.label == Some(*from))
        }
        RenamingItem::Operator { from, profile, .. } => match profile {
            None => !base.signature.named(*from).is_empty(),
            Some((domain, range)) => {
                let sorts = domain.iter().chain(std::iter::once(range));
                sorts.clone().all(|one| base.signature.sort(one.sorts[0]).is_some())
                    && !base.signature.named(*from).is_empty()
            }
        },
    }
}

fn renaming_text(items: &[RenamingItem]) -> String {
    let text: Vec<String> = items
        .iter()
        .map(|item| match item {
            RenamingItem::Sort(from, to, _) => format!("sort {from} to {to}"),
            RenamingItem::Label(from, to, _) => format!("label {from} to {to}"),
            RenamingItem::Operator { from, profile, to, attributes, .. } => {
                let profile = profile.as_ref().map_or(String::new(), |(domain, range)| {
                    let domain: Vec<String> = domain.iter().map(type_text).collect();
                    format!(" : {} -> {}", domain.join(" "), type_text(range))
                });
                let prec = attributes.prec.map_or(String::new(), |(prec, _)| format!(" [prec {prec}]"));
                format!("op {from}{profile} to {to}{prec}")
            }
        })
        .collect();
    text.join(", ")
}

/// A type as it is written.
pub fn type_text(one: &Type) -> String {
    let names: Vec<&str> = one.sorts.iter().map(|sort| sort.text()).collect();
    match one.kind {
        true => format!("[{}]", names.join(",")),
        false => names[0].to_owned(),
    }
}

/// The sort that a type means.
pub fn resolve_type(signature: &Signature, one: &Type) -> Result<SortId, Box<Diagnostic>> {
    let mut found = None;
    for &name in &one.sorts {
        let sort = signature
            .sort(name)
            .ok_or_else(|| Box::new(unknown_sort(name, one.span, signature.sort_names())))?;
        if let Some(other) = found
            && signature.kind_of(sort) != signature.kind_of(other)
        {
            let error = Diagnostic::error("sorts of a kind have to be connected by subsorts")
                .label(one.span, format!("`{name}` is of another kind"));
            return Err(Box::new(error));
        }
        found = Some(sort);
    }
    let sort = found.expect("a type has a sort");
    Ok(match one.kind {
        true => signature.top(signature.kind_of(sort)),
        false => sort,
    })
}

/// An operator that was declared with other laws before.
fn other_laws(signature: &Signature, operators: &OperatorText) -> Option<Diagnostic> {
    let attributes = &operators.attributes;
    if attributes.ditto || attributes.poly.is_some() {
        return None;
    }
    let kind = |one: &Type| resolve_type(signature, one).ok().map(|sort| signature.kind_of(sort));
    let domain = operators.domain.iter().map(kind).collect::<Option<Vec<_>>>()?;
    let range = kind(&operators.range)?;
    for &(name, span) in &operators.names {
        let Some(known) = signature.find(name, &domain, range) else { continue };
        let known = signature.symbol(known);
        if known.profiles.is_empty() || !known.poly.is_empty() {
            continue;
        }
        let laws = [
            ("assoc", known.is_assoc(), attributes.assoc),
            ("comm", known.comm, attributes.comm),
            ("idem", known.idem, attributes.idem),
            ("iter", known.theory == Theory::Iter, attributes.iter),
        ];
        for (law, before, now) in laws {
            if before == now.is_some() {
                continue;
            }
            let error = Diagnostic::error(format!("`{name}` is declared with other laws before"));
            let error = match now {
                Some(span) => error.label(span, format!("it was not `{law}`")),
                None => error.label(span, format!("it was `{law}`")),
            };
            return Some(
                error
                    .label(known.span, "the earlier declaration")
                    .help("all declarations of an operator have the same laws; `ditto` repeats them"),
            );
        }
    }
    None
}

/// Adds a declaration; gives the operators that it belongs to.
fn declare(
    signature: &mut Signature,
    operators: &OperatorText,
    module: Name,
    warnings: &mut Vec<Diagnostic>,
) -> Result<Vec<SymbolId>, Box<Diagnostic>> {
    let attributes = &operators.attributes;
    let wrong =
        |message: String, span: Span, label: &str| Box::new(Diagnostic::error(message).label(span, label));
    if let Some((poly, span)) = &attributes.poly {
        // Instances for each kind are made when all kinds are known; until then one stands for all.
        let universal = Name::new("Universal");
        let Some(any) = (0..signature.kinds.len() as u32).map(KindId).next() else {
            return Err(wrong("a polymorphic operator needs sorts".into(), *span, "here"));
        };
        let mut symbols = Vec::new();
        for &(name, name_span) in &operators.names {
            if signature.named(name).iter().any(|&id| !signature.symbol(id).poly.is_empty()) {
                symbols.push(signature.named(name)[0]);
                continue;
            }
            let kind = |one: &Type| -> Result<KindId, Box<Diagnostic>> {
                if one.sorts[0] == universal {
                    return Ok(any);
                }
                resolve_type(signature, one).map(|sort| signature.kind_of(sort))
            };
            let domain = operators.domain.iter().map(kind).collect::<Result<Vec<_>, _>>()?;
            let range = kind(&operators.range)?;
            let mut symbol = Symbol::new(name, domain, range, name_span, module);
            symbol.poly = poly.iter().map(|&at| at as u32).collect();
            if let Some(&wrong_place) = symbol.poly.iter().find(|&&at| at as usize > symbol.arity()) {
                return Err(wrong(format!("there is no argument {wrong_place}"), *span, "in this list"));
            }
            let concrete = |one: &Type| match one.sorts[0] == universal {
                true => Ok(SortId(u32::MAX)),
                false => resolve_type(signature, one),
            };
            let profile = Profile {
                domain: operators.domain.iter().map(concrete).collect::<Result<_, _>>()?,
                range: concrete(&operators.range)?,
                ctor: attributes.ctor,
            };
            symbol.profiles.push(profile);
            apply_attributes(&mut symbol, attributes, warnings)?;
            symbols.push(signature.add_symbol(symbol));
        }
        return Ok(symbols);
    }
    let mut domain = Vec::new();
    for one in &operators.domain {
        domain.push(resolve_type(signature, one)?);
    }
    let mut range = resolve_type(signature, &operators.range)?;
    if operators.partial {
        // `~>` is a declaration between kinds.
        range = signature.top(signature.kind_of(range));
        for sort in &mut domain {
            *sort = signature.top(signature.kind_of(*sort));
        }
    }
    let kinds: Vec<KindId> = domain.iter().map(|&sort| signature.kind_of(sort)).collect();
    let range_kind = signature.kind_of(range);
    let mut symbols = Vec::new();
    for &(name, span) in &operators.names {
        let holes = crate::signature::mixfix(name).iter().filter(|part| part.is_none()).count();
        if holes != 0 && holes != kinds.len() && name.text() != "_" {
            let plural = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
            return Err(Box::new(
                Diagnostic::error(format!(
                    "`{name}` has {}, but {}",
                    plural(holes, "underscore"),
                    plural(kinds.len(), "argument")
                ))
                .label(operators.span, "in this declaration")
                .help("an operator has one underscore for each argument, or none"),
            ));
        }
        let profile = Profile { domain: domain.clone(), range, ctor: attributes.ctor };
        let found = signature.find(name, &kinds, range_kind);
        let id = match found {
            Some(id) => id,
            None => signature.add_symbol(Symbol::new(name, kinds.clone(), range_kind, span, module)),
        };
        let symbol = &mut signature.symbols[id.0 as usize];
        if attributes.ditto {
            if symbol.profiles.is_empty() {
                return Err(Box::new(
                    Diagnostic::error(format!(
                        "there is no earlier declaration of `{name}` with these kinds"
                    ))
                    .label(operators.span, "`ditto` repeats the attributes of one"),
                ));
            }
        } else {
            apply_attributes(symbol, attributes, warnings)?;
        }
        let form = attributes.special.as_ref().and_then(|special| special.details.first());
        if let Some(&form) = form.filter(|_| symbol.theory == Theory::Data) {
            symbol.forms.push((form, range));
        }
        if !symbol.profiles.contains(&profile) {
            symbol.profiles.push(profile);
        }
        symbols.push(id);
    }
    Ok(symbols)
}

fn apply_attributes(
    symbol: &mut Symbol,
    attributes: &Attributes,
    warnings: &mut Vec<Diagnostic>,
) -> Result<(), Box<Diagnostic>> {
    let arity = symbol.arity();
    let binary = arity == 2 && (symbol.domain[0] == symbol.domain[1] || !symbol.poly.is_empty());
    let same = binary && (symbol.domain[0] == symbol.range || !symbol.poly.is_empty());
    let wrong = |span: Span, message: &str, label: &str| -> Result<(), Box<Diagnostic>> {
        Err(Box::new(Diagnostic::error(message.to_owned()).label(span, label)))
    };
    let identity_span = |tokens: &Vec<Token>| tokens[0].span.to(tokens[tokens.len() - 1].span);
    if let Some(span) = attributes.assoc
        && !same
    {
        return wrong(
            span,
            "an associative operator has two arguments of the kind of its result",
            "not of this one",
        );
    }
    if let Some(span) = attributes.comm {
        if !binary {
            return wrong(
                span,
                "a commutative operator has two arguments of the same kind",
                "not of this one",
            );
        }
        symbol.comm = true;
    }
    if let Some(span) = attributes.idem {
        if !same {
            return wrong(
                span,
                "an idempotent operator has two arguments of the kind of its result",
                "not of this one",
            );
        }
        if attributes.assoc.is_some() {
            return wrong(
                span,
                "an operator can't be associative and idempotent",
                "write an equation `eq X f X = X .` in place of this",
            );
        }
        symbol.idem = true;
    }
    for tokens in [&attributes.id, &attributes.left_id, &attributes.right_id].into_iter().flatten() {
        if !binary {
            return wrong(
                identity_span(tokens),
                "an operator with an identity has two arguments",
                "not of this one",
            );
        }
    }
    if let Some(span) = attributes.iter {
        if arity != 1 || symbol.domain[0] != symbol.range {
            return wrong(
                span,
                "an iterated operator has one argument of the kind of its result",
                "not of this one",
            );
        }
        symbol.theory = Theory::Iter;
    }
    let has_identity =
        attributes.id.is_some() || attributes.left_id.is_some() || attributes.right_id.is_some();
    symbol.theory = match (attributes.assoc.is_some(), symbol.comm) {
        (true, true) => Theory::Bag,
        (true, false) => Theory::List,
        (false, true) => Theory::Pair,
        (false, false) if has_identity || symbol.idem => Theory::Pair,
        _ => symbol.theory,
    };
    if let Some((prec, _)) = attributes.prec {
        symbol.prec = prec;
        symbol.own_prec = true;
    }
    if let Some((gather, span)) = &attributes.gather {
        if gather.len() != arity {
            return wrong(*span, "`gather` needs one letter for each argument", "in this list");
        }
        symbol.own_gather = true;
        symbol.gather = gather
            .iter()
            .map(|letter| match letter.text() {
                "e" => symbol.prec.saturating_sub(1),
                "E" => symbol.prec,
                _ => 127,
            })
            .collect();
    }
    symbol.default_syntax(attributes.assoc.is_some() || symbol.is_assoc());
    if let Some((strategy, span)) = &attributes.strat {
        if strategy.iter().any(|&at| at as usize > arity) || strategy.is_empty() {
            return wrong(*span, "the strategy names an argument that is not there", "in this list");
        }
        if strategy.last() != Some(&0) {
            let warning = Diagnostic::warning("the strategy does not end with 0")
                .label(*span, "0 stands for the whole term");
            warnings.push(warning);
        }
        let usual: Vec<i64> = (1..=arity as i64).chain(std::iter::once(0)).collect();
        symbol.strategy = (*strategy != usual).then(|| strategy.iter().map(|&at| at as u32).collect());
    }
    if let Some((frozen, span)) = &attributes.frozen {
        if frozen.iter().any(|&at| at as usize > arity) {
            return wrong(*span, "`frozen` names an argument that is not there", "in this list");
        }
        for at in 0..arity {
            symbol.frozen[at] |= frozen.is_empty() || frozen.contains(&(at as i64 + 1));
        }
    }
    if let Some((format, span)) = &attributes.format {
        let words = crate::signature::mixfix(symbol.name).len().max(1) + 1;
        if format.len() == words {
            symbol.format = Some(format.iter().map(|token| token.name).collect());
        } else {
            let warning = Diagnostic::warning(format!(
                "the format has {} words, but `{}` needs {words}",
                format.len(),
                symbol.name
            ))
            .label(*span, "ignored")
            .help("one word for each place before, between and after the parts of the name");
            warnings.push(warning);
        }
    }
    symbol.memo |= attributes.memo;
    symbol.object = symbol.object.or(attributes.object);
    if let Some(special) = &attributes.special {
        symbol.special = Some(special.clone());
        if matches!(special.id.text(), "StringSymbol" | "FloatSymbol" | "QuotedIdentifierSymbol") {
            symbol.theory = Theory::Data;
        }
    }
    if let Some(metadata) = attributes.metadata {
        symbol.metadata = Some(metadata.name);
    }
    for token in &attributes.unknown {
        let known = [
            "assoc",
            "comm",
            "idem",
            "iter",
            "id:",
            "left",
            "right",
            "ctor",
            "ditto",
            "memo",
            "config",
            "object",
            "msg",
            "prec",
            "gather",
            "strat",
            "frozen",
            "poly",
            "format",
            "metadata",
            "special",
            "associative",
            "commutative",
            "idempotent",
            "constructor",
            "strategy",
            "precedence",
        ];
        let near = source::closest(token.text(), known);
        let warning = Diagnostic::warning(format!("`{}` is not an attribute of operators", token.text()))
            .label(token.span, "ignored")
            .maybe_help(near.map(|near| format!("did you mean `{near}`?")));
        warnings.push(warning);
    }
    Ok(())
}

/// Makes an instance of every polymorphic operator for every kind.
fn instantiate_polymorphs(signature: &mut Signature) {
    let polymorphs: Vec<SymbolId> =
        signature.symbol_ids().filter(|&id| !signature.symbol(id).poly.is_empty()).collect();
    for id in polymorphs {
        let pattern = signature.symbol(id).clone();
        for kind in (0..signature.kinds.len() as u32).map(KindId) {
            let mut symbol = pattern.clone();
            let top = signature.top(kind);
            let mut domain = pattern.domain.clone();
            let mut profile = pattern.profiles[0].clone();
            for &at in &pattern.poly {
                match at {
                    0 => {
                        symbol.range = kind;
                        profile.range = top;
                    }
                    at => {
                        domain[at as usize - 1] = kind;
                        profile.domain[at as usize - 1] = top;
                    }
                }
            }
            symbol.domain = domain;
            symbol.profiles = vec![profile];
            // Results are as special as the arguments that they come from.
            if symbol.is_special("BranchSymbol") {
                let mut profiles = Vec::new();
                for &sort in &signature.kinds[kind.0 as usize].sorts {
                    let domain = vec![symbol.profiles[0].domain[0], sort, sort];
                    profiles.push(Profile { domain, range: sort, ctor: false });
                }
                symbol.profiles = profiles;
            }
            if kind.0 == 0 {
                signature.symbols[id.0 as usize] = symbol;
            } else {
                signature.add_symbol(symbol);
            }
        }
    }
}

/// `t :: S` for every sort.
fn add_sort_tests(signature: &mut Signature) {
    let Some(boolean) = signature.sort(Name::new("Bool")) else { return };
    if signature.special("EqualitySymbol").is_none() {
        return;
    }
    let range = signature.kind_of(boolean);
    for sort in (0..signature.sorts.len() as u32).map(SortId) {
        if signature.is_kind(sort) {
            continue;
        }
        let data = signature.sorts[sort.0 as usize].clone();
        let name = Name::new(&format!("_::`{}", data.name));
        let any = signature.symbols[0].span;
        let mut symbol = Symbol::new(name, vec![data.kind], range, any, Name::new("TRUTH"));
        symbol.profiles.push(Profile { domain: vec![signature.top(data.kind)], range: boolean, ctor: false });
        (symbol.prec, symbol.gather) = (51, vec![51]);
        symbol.special = Some(Special {
            id: Name::new("SortTestSymbol"),
            details: vec![data.name],
            operators: Vec::new(),
            terms: Vec::new(),
            span: any,
        });
        signature.add_symbol(symbol);
    }
}

fn copy_identities(module: &Module, morphism: &Morphism, signature: &mut Signature, terms: &mut Terms) {
    for id in module.signature.symbol_ids() {
        let symbol = module.signature.symbol(id);
        if symbol.left_identity.is_none() && symbol.right_identity.is_none() {
            continue;
        }
        let to = signature.clone();
        let mut translator = Translator::new(&module.signature, &module.terms, &to, morphism);
        let Ok(target) = translator.symbol(id) else { continue };
        let data = to.symbol(target);
        if data.left_identity.is_some() || data.right_identity.is_some() {
            continue;
        }
        let mut copy =
            |identity: Option<TermId>| identity.and_then(|identity| translator.term(terms, identity).ok());
        let (left, right) = (copy(symbol.left_identity), copy(symbol.right_identity));
        let data = &mut signature.symbols[target.0 as usize];
        (data.left_identity, data.right_identity) = (left, right);
    }
}

fn read_statement(
    module: &mut Module,
    grammar: &Grammar,
    text: &StatementText,
) -> Result<(Statement, Vec<Diagnostic>), Box<Diagnostic>> {
    let goal = match (text.kind, text.conditional) {
        (StatementKind::Equation, false) => Goal::Equation,
        (StatementKind::Equation, true) => Goal::ConditionalEquation,
        (StatementKind::Membership, false) => Goal::Membership,
        (StatementKind::Membership, true) => Goal::ConditionalMembership,
        (StatementKind::Rule, false) => Goal::Rule,
        (StatementKind::Rule, true) => Goal::ConditionalRule,
    };
    let what = match text.kind {
        StatementKind::Equation => "the equation",
        StatementKind::Membership => "the membership",
        StatementKind::Rule => "the rule",
    };
    let read = grammar.read(&module.signature, &mut module.terms, &module.variables, goal, &text.tokens);
    let reading: Reading = match read {
        Ok(reading) => reading,
        Err(no) => {
            return Err(Box::new(unreadable(&no, text, module, what)));
        }
    };
    let mut warnings = Vec::new();
    if let Some(ambiguous) = reading.ambiguous {
        warnings.push(two_readings(&module.signature, &module.terms, &text.tokens, ambiguous));
    }
    let condition_spans = reading
        .condition_places
        .iter()
        .map(|&(from, to)| text.tokens[from].span.to(text.tokens[to - 1].span))
        .collect();
    let statement = Statement {
        kind: text.kind,
        left: reading.terms[0],
        right: reading.terms.get(1).copied().unwrap_or(TermId::NONE),
        sort: reading.sort,
        conditions: reading.conditions,
        label: text.label.map(|token| token.name),
        otherwise: text.otherwise,
        nonexec: text.nonexec,
        span: text.span,
        condition_spans,
        module: module.name,
        metadata: text.metadata.map(|token| token.name),
    };
    if !statement.nonexec {
        let right = reading.places.get(1).map(|&(from, to)| span_of(&text.tokens[from..to]));
        check_variables(module, &statement, right.unwrap_or(text.span), &mut warnings)?;
    }
    check_membership(module, &statement, &mut warnings);
    Ok((statement, warnings))
}

/// What is wrong with a statement that has no reading.
fn unreadable(no: &NoReading, text: &StatementText, module: &Module, what: &str) -> Diagnostic {
    let tokens = &text.tokens;
    let bracket = no.unknown && tokens[no.at].is("[");
    if bracket && no.at == 0 && tokens.get(2).is_some_and(|token| token.is("]")) {
        return Diagnostic::error("a label is followed by `:`")
            .label(tokens[2].span, "expected ` :` after this")
            .help(format!("`{} [{}] : …`", keyword(text.kind), tokens[1].text()));
    }
    if bracket && no.at + 1 < tokens.len() && tokens[tokens.len() - 1].is("]") {
        return parser::no_statement_attribute(tokens[no.at + 1]);
    }
    let mut error = cannot_read(no, tokens, module, what);
    let has = |word: &str| tokens.iter().any(|token| token.is(word));
    let arrow = if text.kind == StatementKind::Rule { "=>" } else { "=" };
    if text.kind == StatementKind::Equation && !has("=") && has("=>") {
        error = error.help("an equation has `=`; a rule begins with `rl`");
    } else if text.kind == StatementKind::Rule && !has("=>") {
        error = error.help("a rule has `=>` between its sides");
    } else if !text.conditional && has("if") && has(arrow) && !has("then") {
        error =
            error.help(format!("a statement with a condition begins with `c`: `c{}`", keyword(text.kind)));
    } else if text.conditional && !has("if") {
        error = error.help("a conditional statement has `if` and a condition");
    } else if no.at == tokens.len() && no.expected.iter().any(|word| word.text() == ":=") {
        error = error.help("a condition without `=`, `:=`, `:` or `=>` is a term of sort `Bool`");
    }
    if no.unknown && parser::begins_something(tokens[no.at].text()) {
        return error;
    }
    error.label(text.span, "in this statement")
}

/// A membership that asks for what it says goes on for ever.
fn check_membership(module: &Module, statement: &Statement, warnings: &mut Vec<Diagnostic>) {
    let Some(sort) = statement.sort.filter(|_| !statement.nonexec) else { return };
    let (signature, terms) = (&module.signature, &module.terms);
    for (condition, &span) in statement.conditions.iter().zip(&statement.condition_spans) {
        let asks = match *condition {
            Condition::Sort(term, asked) => term == statement.left && signature.leq(asked, sort),
            Condition::Holds(test) => terms.symbol(test).is_some_and(|symbol| {
                let symbol = signature.symbol(symbol);
                let mut same = false;
                terms.for_arguments(test, |argument| same |= argument == statement.left);
                let asked = symbol.special.as_ref().and_then(|special| special.details.first());
                let asked = asked.and_then(|&name| signature.sort(name));
                symbol.is_special("SortTestSymbol") && same && asked.is_some_and(|asked| asked == sort)
            }),
            _ => false,
        };
        if asks {
            let warning = Diagnostic::warning("the condition asks for what the membership says")
                .label(span, format!("whether it is of sort `{}`", signature.sort_name(sort)))
                .help("this does not come to an end, or says nothing");
            warnings.push(warning);
        }
    }
}

fn keyword(kind: StatementKind) -> &'static str {
    match kind {
        StatementKind::Equation => "eq",
        StatementKind::Membership => "mb",
        StatementKind::Rule => "rl",
    }
}

/// Adds the variables of a term.
pub fn variables_of(terms: &Terms, term: TermId, into: &mut Vec<TermId>) {
    let mut todo = vec![term];
    let mut seen = FxHashSet::default();
    while let Some(term) = todo.pop() {
        if !terms.is_open(term) || !seen.insert(term) {
            continue;
        }
        match terms.top(term) {
            Top::Variable(_) => {
                if !into.contains(&term) {
                    into.push(term);
                }
            }
            Top::Symbol(_) => {
                let before = todo.len();
                terms.for_arguments(term, |argument| todo.push(argument));
                todo[before..].reverse();
            }
        }
    }
}

/// The variables of a condition and of a right side, if there is one, that have no value where they are used. `bound` are
/// those that have one before; it gets those that conditions give one.
pub fn without_values(
    terms: &Terms,
    bound: &mut Vec<TermId>,
    conditions: &[Condition],
    right: Option<TermId>,
) -> Vec<TermId> {
    let mut free = Vec::new();
    let mut check = |used: TermId, bound: &[TermId]| {
        let mut variables = Vec::new();
        variables_of(terms, used, &mut variables);
        free.extend(variables.into_iter().filter(|variable| !bound.contains(variable)));
    };
    for condition in conditions {
        if let Condition::Assign(pattern, value) | Condition::Rewrite(value, pattern) = *condition {
            check(value, bound);
            variables_of(terms, pattern, bound);
        } else {
            condition.terms().for_each(|term| check(term, bound));
        }
    }
    if let Some(right) = right {
        check(right, bound);
    }
    free
}

/// Whether every variable of a statement has a value where it is used.
pub fn is_executable(module: &Module, statement: &Statement) -> bool {
    check_variables(module, statement, statement.span, &mut Vec::new()).is_ok()
}

/// Every variable has to have a value where it is used.
fn check_variables(
    module: &Module,
    statement: &Statement,
    right: Span,
    warnings: &mut Vec<Diagnostic>,
) -> Result<(), Box<Diagnostic>> {
    let terms = &module.terms;
    let mut bound = Vec::new();
    variables_of(terms, statement.left, &mut bound);
    if matches!(terms.top(statement.left), Top::Variable(_)) && statement.kind == StatementKind::Equation {
        let error = Diagnostic::error("the left side of an equation is a variable")
            .label(statement.span, "it would apply to everything, for ever");
        return Err(Box::new(error));
    }
    let check = |used: TermId, bound: &[TermId], place: &str, span: Span| -> Result<(), Box<Diagnostic>> {
        let mut variables = Vec::new();
        variables_of(terms, used, &mut variables);
        match variables.into_iter().find(|variable| !bound.contains(variable)) {
            None => Ok(()),
            Some(free) => {
                let name = crate::print::plain(&module.signature, terms, free);
                Err(Box::new(
                    Diagnostic::error(format!("variable `{name}` has no value {place}"))
                        .label(span, "it does not occur on the left side, nor in a condition before")
                        .help("`[nonexec]` marks statements that are not to be executed"),
                ))
            }
        }
    };
    for (condition, &span) in statement.conditions.iter().zip(&statement.condition_spans) {
        match *condition {
            Condition::Equal(one, two) => {
                check(one, &bound, "in the condition", span)?;
                check(two, &bound, "in the condition", span)?;
            }
            Condition::Holds(one) | Condition::Sort(one, _) => check(one, &bound, "in the condition", span)?,
            Condition::Assign(pattern, value) => {
                check(value, &bound, "in the condition", span)?;
                let before = bound.len();
                variables_of(terms, pattern, &mut bound);
                if bound.len() == before && terms.is_open(pattern) {
                    let warning = Diagnostic::warning("the pattern before `:=` gives no variable a value")
                        .label(span, "all of its variables have values before")
                        .help("`=` compares two terms");
                    warnings.push(warning);
                }
            }
            Condition::Rewrite(value, pattern) => {
                if statement.kind != StatementKind::Rule {
                    let error = Diagnostic::error("only rules have conditions with rewrites")
                        .label(span, "in the condition of another statement");
                    return Err(Box::new(error));
                }
                check(value, &bound, "in the condition", span)?;
                variables_of(terms, pattern, &mut bound);
            }
        }
    }
    if statement.right != TermId::NONE {
        check(statement.right, &bound, "on the right side", right)?;
    }
    Ok(())
}
