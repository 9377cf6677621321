//! The one place where coverage meets a language: an example becomes a model with its coverage map.

use std::path::{Path, PathBuf};

use explore::Exploration;
pub(crate) use lnt::Arguments;
use lnt::LntModel;
use lnt::typed::{ProcessId, Program};
use lts::{OriginId, StateId};
use model::{CoverageMap, MarkId, Model, Observation, Observer};
use source::{Diagnostic, Sources, Span};

use crate::coverage::Coverage;
use crate::measure::covered_by_marks;
use crate::specification::Places;
use crate::suite::Example;

/// A compiled program, or what is wrong with it.
type Compiled = Result<LntModel, Vec<Diagnostic>>;

/// The model that examples are run on.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The file of the root module.
    pub path: PathBuf,
    /// Where imported modules are searched besides its own folder.
    pub include: Vec<PathBuf>,
}

/// An example, ready to be explored.
pub struct Opened {
    /// What it runs.
    pub model: LntModel,
    /// What is counted in it.
    pub map: CoverageMap,
    /// The same for the functions that it can call, which are counted apart.
    pub functions: CoverageMap,
    /// Its files.
    pub sources: Sources,
    /// What is suspicious in it.
    pub warnings: Vec<Diagnostic>,
    /// The process that it starts, a position in the map's processes.
    pub root: Option<usize>,
    /// The names of the modules that the example brings along.
    pub inputs: Vec<String>,
    /// The file of the module that imports the model, where the example is one.
    own_file: Option<String>,
}

/// Why an example can't be run: what is wrong, with the files it speaks of.
pub struct CantOpen {
    /// What is wrong.
    pub diagnostics: Vec<Diagnostic>,
    /// The files.
    pub sources: Sources,
}

impl Subject {
    /// A model in a file.
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_path_buf(), include: Vec::new() }
    }

    /// Reads, checks and compiles the model for an example.
    pub fn open(&self, example: &Example) -> Result<Opened, CantOpen> {
        self.open_watching(example, &[])
    }

    /// The same, and the steps tell the values of these decisions, which are spans of an earlier opening.
    pub fn open_watching(&self, example: &Example, decisions: &[Span]) -> Result<Opened, CantOpen> {
        self.open_as(example, |program, root| LntModel::observing(program, root, decisions))
    }

    /// The same, and the steps tell which variables were defined and used, instead of what was exercised.
    pub fn open_following(&self, example: &Example) -> Result<Opened, CantOpen> {
        self.open_as(example, LntModel::following)
    }

    fn open_as(
        &self,
        example: &Example,
        compile: impl FnOnce(Program, ProcessId) -> Compiled,
    ) -> Result<Opened, CantOpen> {
        let mut sources = Sources::new();
        match self.compile(example, compile, &mut sources) {
            Ok((model, map, warnings)) => {
                let inputs = example.modules.iter().map(|(name, _)| name.clone()).collect();
                let root = started(&model, &map);
                let own_file = example.file.as_ref().map(|file| file.path.display().to_string());
                let functions = lnt::function_map(model.program(), model.functions());
                Ok(Opened { model, map, functions, sources, warnings, root, inputs, own_file })
            }
            Err(diagnostics) => Err(CantOpen { diagnostics, sources }),
        }
    }

    fn loader(&self, example: &Example) -> lnt::Loader {
        let mut loader = lnt::Loader::new();
        for folder in &self.include {
            loader = loader.include(folder);
        }
        for (name, text) in &example.modules {
            loader = loader.module(name, text);
        }
        for (name, value) in &example.constants {
            loader = loader.constant(name, value);
        }
        match &example.root {
            Some(root) => loader.root(root),
            None => loader,
        }
    }

    fn compile(
        &self,
        example: &Example,
        compile: impl FnOnce(Program, ProcessId) -> Compiled,
        sources: &mut Sources,
    ) -> Result<(LntModel, CoverageMap, Vec<Diagnostic>), Vec<Diagnostic>> {
        let checked = match &example.file {
            Some(file) => self.load_importer(example, &file.path, sources)?,
            None => self.loader(example).load(&self.path, sources)?,
        };
        let map = lnt::coverage_map(&checked.program);
        let Some(root) = checked.program.main() else {
            let message = format!("{} has no process MAIN", self.path.display());
            let help = "name the process that examples start with: `--example 'PROCESS (…)'`, or `root` in the suite";
            return Err(vec![Diagnostic::error(message).help(help)]);
        };
        let process = &checked.program[root];
        if !process.parameters.is_empty() {
            let name = &process.name;
            return Err(vec![
                Diagnostic::error(format!("process {name} needs arguments to start"))
                    .label(process.span, "it has value parameters")
                    .help(format!(
                        "give them: `--example '{name} (…)'`, or `root = \"{name} (…)\"` in the suite"
                    )),
            ]);
        }
        let model = compile(checked.program, root)?;
        Ok((model, map, checked.warnings))
    }

    /// Loads a module that imports the model. The model is the one at hand, wherever the module lies.
    fn load_importer(
        &self,
        example: &Example,
        path: &Path,
        sources: &mut Sources,
    ) -> Result<lnt::Checked, Vec<Diagnostic>> {
        let name = self.path.display().to_string();
        let bytes = lts::read_bytes(&self.path)
            .map_err(|error| vec![Diagnostic::error(format!("can't read {error}"))])?;
        let text = String::from_utf8_lossy(&bytes);
        let folder = self.path.parent().unwrap_or(Path::new(""));
        let loader = self.loader(example).include(folder);
        let checked =
            loader.file(name.clone(), text.strip_prefix('\u{feff}').unwrap_or(&text)).load(path, sources)?;
        let model = self.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        match checked.program.modules.iter().any(|module| sources.name(module.span.file) == name) {
            true => Ok(checked),
            false => Err(vec![
                Diagnostic::error(format!("{} does not import the model", path.display()))
                    .help(format!("begin it with `module EXAMPLE ({model}) is`")),
            ]),
        }
    }

    /// The map of the specification itself, without any example; an error where it needs an example's modules.
    pub fn map(&self) -> Result<(CoverageMap, Sources), CantOpen> {
        let mut sources = Sources::new();
        match self.loader(&Example::default()).load(&self.path, &mut sources) {
            Ok(checked) => Ok((lnt::coverage_map(&checked.program), sources)),
            Err(diagnostics) => Err(CantOpen { diagnostics, sources }),
        }
    }
}

/// The process that an example starts: the one that the user's root calls, or `MAIN`.
fn started(model: &LntModel, map: &CoverageMap) -> Option<usize> {
    let program = model.program();
    let main = &program[program.main()?];
    let started = match &main.body.kind {
        lnt::typed::StatementKind::Instantiate { process, .. } if program.root.is_some() => {
            &program[*process]
        }
        _ => main,
    };
    map.processes.iter().position(|entry| entry.span == started.extent)
}

impl Opened {
    /// What was executed of functions so far.
    pub(crate) fn function_coverage(&self) -> Coverage {
        covered_by_marks(&self.functions, self.model.fired_in_functions())
    }

    /// Executes functions again, only in the states that belong to an exploration: threads run ahead of a limit.
    pub(crate) fn recount_functions(&self, found: &Exploration) {
        self.model.forget_fired();
        let mut worker = self.model.worker();
        for state in 0..found.statistics.expanded {
            let state = found.state(&self.model, StateId::new(state));
            let _ = worker.successors(&state, &mut |_| {});
        }
    }

    /// Arguments to try for a process of this name, or for the one that the example starts.
    pub(crate) fn arguments(
        &self,
        process: Option<&str>,
        known: &[(String, String)],
        most: usize,
    ) -> Result<Arguments, String> {
        let program = self.model.program();
        let found = match process {
            Some(name) => program.process_named(name),
            None => {
                let span = self.root.map(|root| self.map.processes[root].span);
                let position = program.processes.iter().position(|one| Some(one.extent) == span);
                position.map(|position| ProcessId(position as u32))
            }
        };
        let found = found.ok_or_else(|| "it is not part of the model".to_owned())?;
        lnt::arguments(program, found, known, most)
    }

    /// The arguments that the example gives to its root: type and text of each.
    pub(crate) fn given_arguments(&self) -> Vec<(String, String)> {
        let program = self.model.program();
        let Some(root) = program.root else { return Vec::new() };
        let lnt::typed::StatementKind::Instantiate { arguments, .. } = &program[root].body.kind else {
            return Vec::new();
        };
        let text = |argument: &lnt::typed::Argument| match argument {
            lnt::typed::Argument::In(value) => {
                Some((program[value.ty].name.clone(), self.sources.slice(value.span).to_owned()))
            }
            _ => None,
        };
        arguments.iter().filter_map(text).collect()
    }

    /// How many gates a process has.
    pub(crate) fn gates_of(&self, process: &str) -> usize {
        let program = self.model.program();
        program.process_named(process).map_or(0, |process| program[process].gates.len())
    }

    /// The constants of the model: functions with a result and without parameters.
    pub(crate) fn constants(&self) -> Vec<String> {
        let program = self.model.program();
        let written = program.functions.iter().filter(|function| {
            function.result.is_some() && function.parameters.is_empty() && function.gates.is_empty()
        });
        written.map(|function| function.name.clone()).collect()
    }

    /// The modules that the model imports.
    pub(crate) fn imported_modules(&self) -> Vec<String> {
        let modules = &self.model.program().modules;
        modules
            .split_last()
            .map_or(Vec::new(), |(_, imported)| imported.iter().map(|module| module.name.clone()).collect())
    }

    /// The modules of an example that have no part in it, because nothing imports them.
    pub(crate) fn unused_modules(&self, example: &Example) -> Vec<String> {
        let modules = &self.model.program().modules;
        let is_used = |name: &str| modules.iter().any(|module| module.name.eq_ignore_ascii_case(name));
        example.modules.iter().filter(|(name, _)| !is_used(name)).map(|(name, _)| name.clone()).collect()
    }

    /// The processes of the specification that the example starts: its root, or what is called from modules that come
    /// with it.
    pub(crate) fn starts(&self, places: &Places) -> Vec<usize> {
        let map = &self.map;
        let Some(root) = self.root else { return Vec::new() };
        let reached = map.reachable(&[root]);
        let own = map
            .blocks
            .iter()
            .filter(|block| reached[block.process] && places.processes[block.process].is_none());
        let called = own.flat_map(|block| block.calls.iter().copied());
        let mut starts: Vec<usize> =
            std::iter::once(root).chain(called).filter_map(|process| places.processes[process]).collect();
        starts.sort_unstable();
        starts.dedup();
        starts
    }

    /// The model.
    pub fn model(&self) -> &dyn Model {
        &self.model
    }

    /// The origin of what happens before the first step.
    pub fn initial(&self) -> OriginId {
        self.model.initial_origin()
    }

    /// Looks at rendezvous.
    pub fn observer(&self) -> Box<dyn Observer + '_> {
        self.model.observer()
    }

    /// What marks tell about the values of decisions.
    pub fn observations(&self) -> impl Fn(MarkId) -> Option<Observation> + '_ {
        self.model.observations()
    }

    /// Whether a file comes with the example, or is one that a module of the example takes the place of.
    pub fn is_input(&self, file: &str) -> bool {
        let module = Path::new(file).file_name().and_then(|name| name.to_str()?.split('.').next());
        self.inputs.iter().any(|input| module.is_some_and(|module| input.eq_ignore_ascii_case(module)))
            || self.own_file.as_deref() == Some(file)
            || file == "root process"
            || file.starts_with("constant ")
    }
}
