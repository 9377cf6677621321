//! Maude at the door for languages: a module with an initial term is a model.

use std::any::Any;
use std::sync::Arc;

use ::model::{
    ActionInstance, Block, CoverageMap, Decision, DecisionKind, Input, Language, Model, ProcessEntry,
    Program, Root, Starting, Telling,
};
use source::{Diagnostic, Sources, Span};

use crate::engine::code::Code;
use crate::grammar::{Condition, Goal};
use crate::messages::cannot_read;
use crate::model::{MaudeModel, rule_name};
use crate::modules::{Module, Statement};
use crate::names::Name;
use crate::session::{Event, Session, stopped};
use crate::syntax::lexer;
use crate::syntax::tree::StatementKind;
use crate::terms::TermId;

/// Constants that a model starts with where nothing else is said.
const USUAL_ROOTS: [&str; 4] = ["init", "initial", "start", "initialState"];

/// Rewrite theories in the language of Maude.
#[derive(Clone, Copy, Debug, Default)]
pub struct Maude;

impl Language for Maude {
    fn name(&self) -> &'static str {
        "Maude"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["maude"]
    }

    fn load(&self, input: &Input<'_>, sources: &mut Sources) -> Result<Box<dyn Program>, Vec<Diagnostic>> {
        let mut session = Session::with_sources(std::mem::take(sources));
        let loaded = load(input, &mut session);
        *sources = session.sources;
        loaded.map(|program| Box::new(program) as Box<dyn Program>)
    }

    fn root_of(&self, module: Option<&str>, state: &str) -> Option<String> {
        Some(match module {
            Some(module) => format!("in {module} : {state}"),
            None => state.to_owned(),
        })
    }

    fn sequences(
        &self,
        input: &Input<'_>,
        sources: &mut Sources,
    ) -> Option<Result<Vec<Vec<String>>, Vec<Diagnostic>>> {
        let mut session = Session::with_sources(std::mem::take(sources));
        let found = crate::sequences::sequences(input, &mut session);
        *sources = session.sources;
        Some(found)
    }

    fn map(&self, input: &Input<'_>, sources: &mut Sources) -> Option<CoverageMap> {
        let mut session = Session::with_sources(std::mem::take(sources));
        let module = read_modules(input, &mut session).ok().and_then(|_| {
            let name = session.current?;
            session.database.module(name, None, &session.sources).ok()
        });
        let map = module.map(|module| rules_map(&session, &module));
        *sources = session.sources;
        map
    }
}

/// Learns the modules of a text; the warnings.
pub(crate) fn read_modules(
    input: &Input<'_>,
    session: &mut Session,
) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
    session.silent = true;
    let mut diagnostics = Vec::new();
    session.take(input.main, input.texts, &mut |_, event| {
        if let Event::Diagnostic(diagnostic) = event {
            diagnostics.push(*diagnostic);
        }
    });
    match diagnostics.iter().any(Diagnostic::is_error) {
        true => Err(diagnostics),
        false => Ok(diagnostics),
    }
}

fn load(input: &Input<'_>, session: &mut Session) -> Result<MaudeProgram, Vec<Diagnostic>> {
    let mut warnings = read_modules(input, session)?;
    let (module, term, terms) = start(input, session)?;
    warnings.append(&mut session.database.diagnostics);
    let module = match input.constants {
        [] => module,
        constants => with_constants(session, &module, constants)?,
    };
    let code = Arc::new(Code::with_terms(&module, terms));
    let names: Vec<String> = code
        .rules
        .iter()
        .map(|rule| rule_name(rule.label, session.sources.position(rule.span).line))
        .collect();
    if code.rules.is_empty() {
        let warning = Diagnostic::warning(format!("module `{}` has no rules", module.name))
            .help("without rules there is one state: did you mean another module? `--root 'in MODULE : TERM'` names it");
        warnings.push(match module.span {
            Some(span) => warning.label(span, "this module"),
            None => warning,
        });
    }
    let watch = matches!(input.telling, Telling::Coverage(_));
    let database = session.database.clone();
    let model =
        MaudeModel::new(code.clone(), database, term, names, input.values, watch).map_err(|stop| {
            let place = module.span.unwrap_or_else(|| session.sources.span(session.main_file()));
            vec![stopped(stop, place).note("this happens in the initial state")]
        })?;
    Ok(MaudeProgram {
        map: rules_map(session, &module),
        functions: equations_map(session, &module),
        roots: roots(session, &module, term, &code),
        modules: modules(session, &module),
        model,
        warnings,
    })
}

/// The module and term that the model starts with.
pub(crate) fn start(
    input: &Input<'_>,
    session: &mut Session,
) -> Result<(Arc<Module>, TermId, crate::terms::Terms), Vec<Diagnostic>> {
    let Some(current) = session.current.filter(|_| session.database.last.is_some()) else {
        return Err(vec![
            Diagnostic::error(format!("{} has no module", input.main.name))
                .help("a model is written as `mod NAME is … endm`"),
        ]);
    };
    let given = input.root.map(str::to_owned);
    let told = |session: &mut Session| std::mem::take(&mut session.database.diagnostics);
    match given {
        Some(root) => {
            let file = session.sources.add_given("the initial term", root.clone());
            let (tokens, mut diagnostics) = lexer::tokens(&session.sources, file);
            if !diagnostics.is_empty() || tokens.is_empty() {
                diagnostics.push(Diagnostic::error("the initial term is empty"));
                return Err(diagnostics);
            }
            let (module, code, rest) =
                session.in_module(&tokens).map_err(|problem| problem.into_diagnostics(session))?;
            let mut terms = code.terms.clone();
            let read =
                module.grammar().read(&module.signature, &mut terms, &module.variables, Goal::Term, rest);
            match read {
                Ok(reading) => Ok((module, reading.terms[0], terms)),
                Err(no) => {
                    let error = cannot_read(&no, rest, &module, "the initial term");
                    Err(vec![error.note(format!("it was read in module `{}`", module.name))])
                }
            }
        }
        None => {
            // The last module that has a usual initial state.
            let mut candidates: Vec<Name> = vec![current];
            candidates.extend(session.written.iter().rev().filter(|&&name| name != current));
            for name in candidates {
                let Ok((module, code)) = session.module(name, None) else { return Err(told(session)) };
                if module.kind.theory || !module.parameters.is_empty() {
                    continue;
                }
                for root in USUAL_ROOTS {
                    let symbol = module
                        .signature
                        .named(Name::new(root))
                        .iter()
                        .copied()
                        .find(|&id| module.signature.symbol(id).arity() == 0);
                    if let Some(symbol) = symbol {
                        let mut terms = code.terms.clone();
                        let term = terms.make(&module.signature, symbol, &[]);
                        return Ok((module, term, terms));
                    }
                }
            }
            let error = Diagnostic::error("where does the model start?").note(format!(
                "module `{current}` has no constant called `init`, and no other module of the file has"
            ));
            Err(vec![error.help(input.starting.advice("TERM")).help(match input.starting {
                Starting::Root => "`in MODULE : TERM` names another module than the last",
                _ => "`in MODULE : TERM` names a module",
            })])
        }
    }
}

/// The module with other values for constants that an equation defines.
fn with_constants(
    session: &mut Session,
    module: &Arc<Module>,
    constants: &[(String, String)],
) -> Result<Arc<Module>, Vec<Diagnostic>> {
    let mut changed = (**module).clone();
    for (name, value) in constants {
        let is_it = |statement: &Statement| {
            let symbol = changed.terms.symbol(statement.left);
            statement.kind == StatementKind::Equation
                && symbol.is_some_and(|symbol| {
                    let symbol = changed.signature.symbol(symbol);
                    symbol.arity() == 0 && symbol.name.text() == name
                })
        };
        let Some(at) = changed.statements.iter().position(is_it) else {
            return Err(vec![Diagnostic::error(format!(
                "there is no constant `{name}` that an equation defines"
            ))]);
        };
        let file = session.sources.add_given(format!("the value of {name}"), value.clone());
        let (tokens, diagnostics) = lexer::tokens(&session.sources, file);
        if !diagnostics.is_empty() || tokens.is_empty() {
            return Err(vec![Diagnostic::error(format!("constant `{name}` needs a value"))]);
        }
        let kind = changed.signature.kind_of(changed.terms.sort(changed.statements[at].left));
        let grammar = changed.grammar().clone();
        let (signature, variables) = (changed.signature.clone(), changed.variables.clone());
        let read =
            grammar.read_kind(&signature, &mut changed.terms, &variables, Goal::Term, Some(kind), &tokens);
        match read {
            Ok(reading) => changed.statements[at].right = reading.terms[0],
            Err(no) => return Err(vec![cannot_read(&no, &tokens, module, "the value")]),
        }
    }
    Ok(Arc::new(changed))
}

/// Statements that the user has written.
fn own_statements<'m>(session: &Session, module: &'m Module, kind: StatementKind) -> Vec<&'m Statement> {
    let own = |statement: &&Statement| {
        statement.kind == kind && !statement.nonexec && !session.is_builtin(statement.span.file)
    };
    module.statements.iter().filter(own).collect()
}

fn processes(session: &Session, statements: &[&Statement]) -> Vec<ProcessEntry> {
    let mut names: Vec<Name> = Vec::new();
    for statement in statements {
        if !names.contains(&statement.module) {
            names.push(statement.module);
        }
    }
    let entry = |name: &Name| {
        let span = session.database.text(*name).map(|text| text.span);
        let own =
            statements.iter().filter(|statement| statement.module == *name).map(|statement| statement.span);
        ProcessEntry {
            name: name.text().to_owned(),
            module: name.text().to_owned(),
            span: span.or(own.into_iter().next()).expect("a statement is written somewhere"),
        }
    };
    names.iter().map(entry).collect()
}

/// What coverage counts: rules are actions, the fragments of their conditions decisions, unless they only name a value.
fn rules_map(session: &Session, module: &Module) -> CoverageMap {
    let rules = own_statements(session, module, StatementKind::Rule);
    let mut map = CoverageMap { processes: processes(session, &rules), ..CoverageMap::default() };
    for rule in rules {
        let process = map.processes.iter().position(|entry| entry.name == rule.module.text()).unwrap_or(0);
        let fragments = rule.condition_spans.iter().zip(&rule.conditions);
        let decides = |condition: &Condition| !condition.only_names(&module.signature, &module.terms);
        let decisions = fragments.filter(|(_, condition)| decides(condition));
        map.decisions.extend(decisions.map(|(&span, _)| Decision {
            span,
            process,
            kind: DecisionKind::If,
            always_true: false,
            conditions: vec![span],
            operands: Vec::new(),
        }));
        let gate = rule_name(rule.label, session.sources.position(rule.span).line);
        map.actions.push(ActionInstance { span: rule.span, process, gate, block: None });
    }
    map
}

/// Equations, which are counted apart.
fn equations_map(session: &Session, module: &Module) -> CoverageMap {
    let equations = own_statements(session, module, StatementKind::Equation);
    let mut map = CoverageMap { processes: processes(session, &equations), ..CoverageMap::default() };
    for equation in equations {
        let process =
            map.processes.iter().position(|entry| entry.name == equation.module.text()).unwrap_or(0);
        map.blocks.push(Block {
            span: equation.span,
            last: equation.span,
            ends_before_last: false,
            process,
            actions: Vec::new(),
            depends: Vec::new(),
            behind: None,
            after: Vec::new(),
            joins: Vec::new(),
            calls: Vec::new(),
            choices: Vec::new(),
            raised_by: Vec::new(),
            may_raise: Vec::new(),
        });
    }
    map
}

/// The other constants of the kind of the initial term.
fn roots(session: &Session, module: &Module, term: TermId, code: &Code) -> Vec<Root> {
    let signature = &module.signature;
    let kind = signature.kind_of(code.terms.sort(term));
    let defined = |name: Name| {
        module.statements.iter().any(|statement| {
            statement.kind == StatementKind::Equation
                && module
                    .terms
                    .symbol(statement.left)
                    .is_some_and(|symbol| signature.symbol(symbol).name == name)
        })
    };
    signature
        .symbols
        .iter()
        .filter(|symbol| symbol.arity() == 0 && symbol.range == kind && !session.is_builtin(symbol.span.file))
        .filter(|symbol| defined(symbol.name))
        .map(|symbol| Root { name: symbol.name.text().to_owned(), span: symbol.span })
        .collect()
}

fn modules(session: &Session, module: &Module) -> Vec<(String, Span)> {
    let closure = module.closure();
    let all = closure.iter().map(|module| &**module).chain(std::iter::once(module));
    all.filter_map(|module| Some((module.name.text().to_owned(), module.span?)))
        .filter(|(_, span)| !session.is_builtin(span.file))
        .collect()
}

/// A module with an initial term, and what is known of it.
pub struct MaudeProgram {
    model: MaudeModel,
    warnings: Vec<Diagnostic>,
    map: CoverageMap,
    functions: CoverageMap,
    roots: Vec<Root>,
    modules: Vec<(String, Span)>,
}

impl Program for MaudeProgram {
    fn model(&self) -> &dyn Model {
        &self.model
    }

    fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    fn map(&self) -> &CoverageMap {
        &self.map
    }

    fn functions(&self) -> &CoverageMap {
        &self.functions
    }

    fn started(&self) -> Vec<usize> {
        (0..self.map.processes.len()).collect()
    }

    fn roots(&self) -> Vec<Root> {
        self.roots.clone()
    }

    fn modules(&self) -> Vec<(String, Span)> {
        self.modules.clone()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
