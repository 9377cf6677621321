//! From files to a checked program: finds imported modules, orders them, has them parsed and checked.

use std::path::{Path, PathBuf};

use model::{Folders, Input, Missing, Overlay, Text};
use rustc_hash::FxHashMap;
use source::{Diagnostic, FileId, Sources};

use crate::tree::{self, Name};
use crate::typed::Program;
use crate::{check, parser, root};

/// A program without errors.
#[derive(Debug)]
pub struct Checked {
    /// The program.
    pub program: Program,
    /// What is suspicious in it.
    pub warnings: Vec<Diagnostic>,
}

/// Loads and checks the module in a file and everything it imports. Imported modules are searched beside the
/// importing file, then in the include directories, ignoring case.
///
/// The error holds at least one error, and the warnings that came with it.
pub fn load(path: &Path, include: &[PathBuf], sources: &mut Sources) -> Result<Checked, Vec<Diagnostic>> {
    let mut loader = Loader::new();
    for directory in include {
        loader = loader.include(directory);
    }
    loader.load(path, sources)
}

/// Checks a module given as text, whose imports are searched nowhere.
///
/// ```
/// let mut sources = source::Sources::new();
/// let text = "module M is process MAIN [A : none] is A; stop end process end module";
/// let checked = lnt::load_text("m.lnt", text, &mut sources).unwrap();
/// assert_eq!(checked.program.main(), checked.program.process_named("main"));
///
/// let wrong = "module M is process MAIN [A : none] is A (1); stop end process end module";
/// let errors = lnt::load_text("m.lnt", wrong, &mut sources).unwrap_err();
/// assert!(sources.render_all(&errors, false).contains("no offers"));
/// ```
pub fn load_text(name: &str, text: &str, sources: &mut Sources) -> Result<Checked, Vec<Diagnostic>> {
    Loader::new().load_text(name, text, sources)
}

/// Loading with modules that exist only as text, in place of files or beside them.
///
/// ```
/// let mut sources = source::Sources::new();
/// let checked = lnt::Loader::new()
///     .module("data", "module data is type colour is red, green end type end module")
///     .load_text(
///         "main.lnt",
///         "module main_module (DATA) is
///          process MAIN [A : any] is A (green of colour) end process end module",
///         &mut sources,
///     )
///     .unwrap();
/// assert_eq!(checked.program.modules.len(), 2);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Loader {
    include: Vec<PathBuf>,
    texts: Vec<Text>,
    root: Option<String>,
    constants: Vec<(String, String)>,
}

impl Loader {
    /// Nothing included, nothing replaced.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a directory to search for imported modules.
    pub fn include(mut self, directory: impl Into<PathBuf>) -> Self {
        self.include.push(directory.into());
        self
    }

    /// Provides the module of this name as text: it is used instead of any file.
    pub fn module(mut self, name: &str, text: impl Into<String>) -> Self {
        self.texts.push(Text::new(format!("{name}.lnt"), text));
        self
    }

    /// Says where to start: an instantiation of a process, such as `P (1, true)` or `P [A, B] (1, true)`.
    ///
    /// ```
    /// let mut sources = source::Sources::new();
    /// let text = "module M is process P [A : any] (n : nat) is A (n) end process end module";
    /// let loader = lnt::Loader::new().root("P (3)");
    /// let program = loader.load_text("m.lnt", text, &mut sources).unwrap().program;
    /// let main = program.main().unwrap();
    /// assert!(program[main].parameters.is_empty());
    /// assert_eq!(program[main].scope.gates[0].name, "A");
    /// ```
    pub fn root(mut self, instantiation: impl Into<String>) -> Self {
        self.root = Some(instantiation.into());
        self
    }

    /// Gives a constant (a function without parameters) another value.
    ///
    /// ```
    /// let mut sources = source::Sources::new();
    /// let text = "module M is function size : nat is return 3 end function
    ///             process MAIN [A : any] is A (size) end process end module";
    /// let loader = lnt::Loader::new().constant("size", "2 + 2");
    /// assert!(loader.load_text("m.lnt", text, &mut sources).is_ok());
    /// let wrong = lnt::Loader::new().constant("sise", "4").load_text("m.lnt", text, &mut sources);
    /// assert!(sources.render_all(&wrong.unwrap_err(), false).contains("did you mean `size`?"));
    /// ```
    pub fn constant(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.constants.push((name.into(), value.into()));
        self
    }

    /// Loads the module in a file and everything it imports.
    pub fn load(&self, path: &Path, sources: &mut Sources) -> Result<Checked, Vec<Diagnostic>> {
        match model::read_text(path) {
            Ok(main) => self.run(&main, true, sources),
            Err(reason) => {
                let message = format!("can't read {}: {reason}", path.display());
                Err(vec![Diagnostic::error(message)])
            }
        }
    }

    /// Loads a root module given as text; its imports are texts of this loader or files of the include
    /// directories.
    pub fn load_text(
        &self,
        name: &str,
        text: &str,
        sources: &mut Sources,
    ) -> Result<Checked, Vec<Diagnostic>> {
        self.run(&Text::new(name, text), false, sources)
    }

    fn run(&self, main: &Text, beside: bool, sources: &mut Sources) -> Result<Checked, Vec<Diagnostic>> {
        let folders = Folders { beside, include: self.include.clone() };
        let texts = Overlay::new(self.texts.clone(), &folders);
        let input = Input {
            texts: &texts,
            root: self.root.as_deref(),
            constants: &self.constants,
            ..Input::new(main)
        };
        check_input(&input, sources)
    }
}

/// Loads and checks what is given.
pub(crate) fn check_input(input: &Input<'_>, sources: &mut Sources) -> Result<Checked, Vec<Diagnostic>> {
    let mut run =
        Run { input, sources, modules: Vec::new(), by_name: FxHashMap::default(), diagnostics: Vec::new() };
    run.main_module();
    run.constants();
    run.instantiation();
    let Run { modules, mut diagnostics, .. } = run;
    // Where a definition is missing or misread, every use of it would be reported as well.
    let complete = !diagnostics.iter().any(Diagnostic::is_error);
    let program = complete.then(|| check::check(&modules, &mut diagnostics));
    match program {
        Some(mut program) if !diagnostics.iter().any(Diagnostic::is_error) => {
            program.root = input.root.and_then(|_| program.process_named(root::NAME));
            Ok(Checked { program, warnings: diagnostics })
        }
        _ => Err(diagnostics),
    }
}

/// A parsed module with what it imports, by position in the list of all modules.
pub(crate) struct Parsed {
    pub module: tree::Module,
    pub imports: Vec<usize>,
}

enum Progress {
    /// On the way from the root to the module being loaded: importing it again is a cycle.
    Open,
    Done(Option<usize>),
}

struct Run<'a> {
    input: &'a Input<'a>,
    sources: &'a mut Sources,
    /// Imported modules before their importers.
    modules: Vec<Parsed>,
    by_name: FxHashMap<String, Progress>,
    diagnostics: Vec<Diagnostic>,
}

impl Run<'_> {
    fn main_module(&mut self) {
        let Some(module) = self.parse(self.input.main.clone()) else { return };
        let key = module.name.key();
        self.by_name.insert(key.clone(), Progress::Open);
        self.finish(module, self.input.main.name.clone(), key, 0);
    }

    /// The process that the user asks for belongs to the root module, which sees everything.
    fn instantiation(&mut self) {
        let Some(text) = self.input.root else { return };
        let file = self.sources.add_given("root process", text);
        let modules = self.modules.iter().map(|parsed| &parsed.module);
        let process = root::process(file, text, modules, &mut self.diagnostics);
        if let (Some(process), Some(last)) = (process, self.modules.last_mut()) {
            last.module.processes.push(process);
        }
    }

    /// Gives constants the values that the user asks for.
    fn constants(&mut self) {
        for (name, value) in self.input.constants {
            let text = format!("return {value}");
            let file = self.sources.add_given(format!("constant {name}"), text.clone());
            let Some(body) = parser::parse_statement(file, &text, &mut self.diagnostics) else { continue };
            let constants = self.modules.iter_mut().flat_map(|parsed| &mut parsed.module.functions);
            let mut constants: Vec<&mut tree::Callable> = constants
                .filter(|function| function.parameters.is_empty() && function.result.is_some())
                .collect();
            match constants.iter_mut().rev().find(|function| function.name.key() == tree::key(name)) {
                Some(function) => function.body = body,
                None => {
                    let names = constants.iter().map(|function| function.name.text.as_str());
                    let near = source::closest(name, names).map(|near| format!("did you mean `{near}`?"));
                    self.diagnostics.push(
                        Diagnostic::error(format!("the model has no constant `{name}`"))
                            .label(self.sources.span(file), "can't be bound")
                            .note("a constant is a function that has a result and no parameters")
                            .maybe_help(near),
                    );
                }
            }
        }
    }

    fn parse(&mut self, Text { name, text }: Text) -> Option<tree::Module> {
        if text.len() >= u32::MAX as usize {
            self.diagnostics.push(Diagnostic::error(format!("{name} is larger than 4 GiB")));
            return None;
        }
        let file: FileId = self.sources.add(name, text);
        parser::parse(file, self.sources.text(file), &mut self.diagnostics)
    }

    fn finish(&mut self, module: tree::Module, name: String, key: String, depth: usize) {
        let mut imports = Vec::new();
        let mut seen: Vec<&Name> = Vec::new();
        for import in &module.imports {
            if let Some(first) = seen.iter().find(|first| first.key() == import.key()) {
                self.diagnostics.push(
                    Diagnostic::warning(format!("module `{}` is imported twice", import.text))
                        .label(import.span, "again here")
                        .label(first.span, "first here"),
                );
                continue;
            }
            seen.push(import);
            imports.extend(self.import(import, &name, &module.name, depth));
        }
        let position = self.modules.len();
        self.modules.push(Parsed { module, imports });
        self.by_name.insert(key, Progress::Done(Some(position)));
    }

    fn import(&mut self, import: &Name, from: &str, importer: &Name, depth: usize) -> Option<usize> {
        let key = import.key();
        match self.by_name.get(&key) {
            Some(Progress::Done(position)) => return *position,
            Some(Progress::Open) => {
                self.diagnostics.push(
                    Diagnostic::error(format!(
                        "modules import each other: `{}` is part of a cycle",
                        import.text
                    ))
                    .label(import.span, format!("`{}` already needs `{}`", import.text, importer.text))
                    .help("move what both need into a third module"),
                );
                return None;
            }
            None => {}
        }
        if depth >= parser::DEPTH_LIMIT {
            self.diagnostics.push(
                Diagnostic::error("modules import each other through too many levels")
                    .label(import.span, "gave up here"),
            );
            return None;
        }
        self.by_name.insert(key.clone(), Progress::Open);
        match self.find(import, from) {
            Some((module, name)) => {
                self.finish(module, name, key.clone(), depth + 1);
                match self.by_name.get(&key) {
                    Some(Progress::Done(position)) => *position,
                    _ => None,
                }
            }
            None => {
                self.by_name.insert(key, Progress::Done(None));
                None
            }
        }
    }

    fn find(&mut self, import: &Name, from: &str) -> Option<(tree::Module, String)> {
        match self.input.texts.find(&format!("{}.lnt", import.text), from) {
            Ok(found) => {
                // Beside a text that stands in for a file lies what lies beside the one that names it.
                let place = if found.stands_in { from.to_owned() } else { found.text.name.clone() };
                let mut module = self.parse(found.text)?;
                match found.stands_in {
                    true => module.name.text.clone_from(&import.text),
                    false if module.name.key() != import.key() => self.wrong_name(import, &module.name),
                    false => {}
                }
                Some((module, place))
            }
            Err(Missing::Unreadable(reason)) => {
                let message = format!("can't read module `{}`: {reason}", import.text);
                self.diagnostics.push(Diagnostic::error(message).label(import.span, "imported here"));
                None
            }
            Err(Missing::NotFound { searched, there }) => {
                let known = there.iter().filter_map(|name| name.strip_suffix(".lnt"));
                let near = source::closest(&import.text, known);
                let mut diagnostic = Diagnostic::error(format!("can't find module `{}`", import.text))
                    .label(import.span, format!("there is no file `{}.lnt`", import.text));
                if !searched.is_empty() {
                    diagnostic = diagnostic.note(format!("searched in {}", searched.join(", ")));
                }
                let help = near.map(|near| format!("did you mean `{near}`?"));
                self.diagnostics.push(diagnostic.maybe_help(help));
                None
            }
        }
    }

    fn wrong_name(&mut self, import: &Name, found: &Name) {
        self.diagnostics.push(
            Diagnostic::error(format!("expected module `{}`, found module `{}`", import.text, found.text))
                .label(found.span, "does not have the name of its file")
                .label(import.span, "imported here"),
        );
    }
}
