//! The meta-level: modules and terms as data (Clavel and others, All About Maude, chapter 14).
//!
//! A meta-term of a module is made a flat module and code once; its engine is used again for the next call. Numbers of
//! terms are only known until the next collection of garbage, so what lasts longer is known by its text.

mod down;
mod functions;
mod level;
mod sketch;
mod sorts;
mod text;
mod up;

use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;
use source::Sources;

use crate::engine::builtin::Descent;
use crate::engine::code::Code;
use crate::engine::rewrite::{Search, Solution};
use crate::engine::{Engine, Stop};
use crate::modules::Database;
use crate::names::Name;
use crate::signature::SymbolId;
use crate::syntax::tree::{StatementKind, ViewOperator};
use crate::terms::TermId;
use level::{Hooks, Level};
use up::{Part, Writer};

/// Evaluates the functions of `META-LEVEL` with the modules of a session.
#[derive(Debug)]
pub struct Meta {
    shared: Arc<Mutex<Shared>>,
    hooks: Option<Arc<Hooks>>,
    /// How often garbage was collected when the numbers of terms below were noted.
    collections: u64,
    modules: FxHashMap<TermId, Option<usize>>,
    parts: FxHashMap<(Name, Part, bool), TermId>,
    search: Option<LastSearch>,
}

/// What all levels of one computation have in common.
#[derive(Debug)]
struct Shared {
    database: Database,
    sources: Sources,
    /// Modules by the texts of their meta-terms.
    numbers: FxHashMap<String, Option<usize>>,
    codes: Vec<Arc<Code>>,
    /// Engines that nobody uses at the moment.
    engines: FxHashMap<usize, Engine>,
}

/// The last search, which the next solution is often asked of.
#[derive(Debug)]
struct LastSearch {
    /// All arguments but the number of the solution.
    arguments: Vec<TermId>,
    module: usize,
    engine: Engine,
    search: Search,
    solutions: Vec<Solution>,
    over: bool,
}

impl Meta {
    /// With these modules.
    pub fn new(database: Database) -> Self {
        Self::with(Arc::new(Mutex::new(Shared {
            database,
            sources: Sources::new(),
            numbers: FxHashMap::default(),
            codes: Vec::new(),
            engines: FxHashMap::default(),
        })))
    }

    fn with(shared: Arc<Mutex<Shared>>) -> Self {
        Self {
            shared,
            hooks: None,
            collections: 0,
            modules: FxHashMap::default(),
            parts: FxHashMap::default(),
            search: None,
        }
    }

    fn shared<T>(&self, use_it: impl FnOnce(&mut Shared) -> T) -> T {
        use_it(&mut self.shared.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The number of the module that a meta-term stands for; none if it is not well-formed.
    fn module(&mut self, level: &Level<'_>, term: TermId) -> Option<usize> {
        if let Some(&known) = self.modules.get(&term) {
            return known;
        }
        let text = crate::print::one_line(&level.code.signature, &level.engine.terms, term);
        let known = self.shared(|shared| shared.numbers.get(&text).copied());
        let number = known.unwrap_or_else(|| {
            self.shared(|shared| {
                let made = down::module(level, &mut shared.database, &shared.sources, term);
                let number = made.map(|module| {
                    shared.codes.push(Arc::new(Code::new(&module)));
                    shared.codes.len() - 1
                });
                shared.numbers.insert(text, number);
                number
            })
        });
        self.modules.insert(term, number);
        number
    }

    fn code(&self, module: usize) -> Arc<Code> {
        self.shared(|shared| shared.codes[module].clone())
    }

    /// An engine for a module, with what is left of the limits of the engine above.
    fn engine(&self, above: &Engine, module: usize) -> Engine {
        let known = self.shared(|shared| shared.engines.remove(&module));
        let mut engine = known.unwrap_or_else(|| Engine::new(self.code(module)));
        engine.limits = above.limits;
        engine.limits.rewrites = above.limits.rewrites.saturating_sub(above.rewrites);
        engine.stress = above.stress;
        engine.meta = Some(Box::new(Meta::with(self.shared.clone())));
        engine.reset_turns();
        engine
    }

    /// Takes an engine back for the next call.
    fn give_back(&self, module: usize, mut engine: Engine) {
        engine.begin();
        engine.kept.clear();
        engine.meta = None;
        self.shared(|shared| shared.engines.insert(module, engine));
    }

    /// `upModule` and its relatives.
    fn up(&mut self, level: &mut Level<'_>, name: TermId, part: Part, flat: bool) -> Option<TermId> {
        let name = Name::new(&sketch::unquoted_sort(level.word(name)?.text()));
        if let Some(&known) = self.parts.get(&(name, part, flat)) {
            return Some(known);
        }
        let (module, text, automatic) = self.shared(|shared| {
            let known = shared.database.text(name).cloned()?;
            let module = shared.database.module(name, None, &shared.sources).ok();
            shared.database.diagnostics.clear();
            Some((module?, known, shared.database.automatic_imports(name).to_vec()))
        })?;
        let made = Writer { level, module, text: Some(text), automatic, flat }.part(part)?;
        self.parts.insert((name, part, flat), made);
        Some(made)
    }

    fn up_view(&mut self, level: &mut Level<'_>, name: TermId) -> Result<Option<TermId>, Stop> {
        let Some(name) = level.word(name) else { return Ok(None) };
        let Some(text) = self.shared(|shared| shared.database.view_text(name).cloned()) else {
            return Ok(None);
        };
        if text.operators.iter().any(|operator| matches!(operator, ViewOperator::Term { .. })) {
            return Err(Stop::error("`upView` of a view that maps operators to terms is not supported"));
        }
        Ok(up::write_view(level, &text))
    }
}

impl Descent for Meta {
    fn call(
        &mut self,
        engine: &mut Engine,
        code: &Code,
        _symbol: SymbolId,
        name: &str,
        arguments: &[TermId],
    ) -> Result<Option<TermId>, Stop> {
        if self.collections != engine.collections {
            self.collections = engine.collections;
            self.modules.clear();
            self.parts.clear();
            self.search = None;
        }
        let hooks = self.hooks.get_or_insert_with(|| Arc::new(Hooks::new(&code.signature))).clone();
        let level = &mut Level { engine, code, hooks: &hooks };
        let up = |part| (part, true);
        let (part, has_flag) = match name {
            "metaUpModule" => up(Part::Module),
            "metaUpSorts" => up(Part::Sorts),
            "metaUpSubsortDecls" => up(Part::Subsorts),
            "metaUpOpDecls" => up(Part::Operators),
            "metaUpMbs" => up(Part::Statements(StatementKind::Membership)),
            "metaUpEqs" => up(Part::Statements(StatementKind::Equation)),
            "metaUpRls" => up(Part::Statements(StatementKind::Rule)),
            "metaUpImports" => (Part::Imports, false),
            "metaUpView" => return self.up_view(level, arguments[0]),
            _ => return self.descend(level, name, arguments),
        };
        let flat = if has_flag { level.truth(arguments[1]) } else { Some(false) };
        Ok(flat.and_then(|flat| self.up(level, arguments[0], part, flat)))
    }
}
