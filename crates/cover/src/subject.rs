//! What examples are run on, and an example that was opened: a program with its coverage map.

use std::path::{Path, PathBuf};

use explore::Exploration;
use languages::CantOpen;
use lts::StateId;
use model::{
    CoverageMap, Folders, Input, Instrumented, Language, Model, NoTexts, Overlay, Probes, Program, Starting,
    Telling, Text,
};
use source::{Diagnostic, FileId, Sources, Span};

use crate::behaviour::Behaviour;
use crate::coverage::Coverage;
use crate::measure::covered_by_marks;
use crate::specification::Places;
use crate::suite::Example;

/// The model that examples are run on.
#[derive(Clone)]
pub struct Subject {
    language: &'static dyn Language,
    main: Text,
    /// Texts that take the place of files.
    given: Vec<Text>,
    folders: Folders,
}

/// An example, ready to be explored.
pub struct Opened {
    /// What it runs.
    pub program: Box<dyn Program>,
    /// Its files.
    pub sources: Sources,
    language: &'static dyn Language,
    /// What it starts with.
    root: Option<String>,
    /// The names of the modules that the example brings along.
    inputs: Vec<String>,
    /// The file of the module that imports the model, where the example is one.
    own_file: Option<String>,
}

impl Subject {
    /// A model in a file.
    pub fn new(path: &Path) -> Result<Self, CantOpen> {
        Self::including(path, &[])
    }

    /// A model in a file; what it names lies beside it or in these folders.
    pub fn including(path: &Path, include: &[PathBuf]) -> Result<Self, CantOpen> {
        let language = languages::registry().expect_model(path).map_err(CantOpen::new)?;
        let main = languages::read_model(path).map_err(CantOpen::new)?;
        Ok(Self { language, main, given: Vec::new(), folders: Folders::beside(include) })
    }

    /// A model that is given as text, with texts that it names; other files that it names lie in these folders.
    pub fn of_texts(main: Text, given: Vec<Text>, include: &[PathBuf]) -> Result<Self, CantOpen> {
        let language = languages::registry().expect_model(Path::new(&main.name)).map_err(CantOpen::new)?;
        let folders = Folders { beside: false, include: include.to_vec() };
        Ok(Self { language, main, given, folders })
    }

    /// The same in a language that is none of the registry's.
    pub fn in_language(language: &'static dyn Language, main: Text) -> Self {
        Self { language, main, given: Vec::new(), folders: Folders::default() }
    }

    /// What the model can start with by itself, such as its named initial markings; nothing where it can't be opened.
    pub fn roots(&self) -> Vec<String> {
        let roots = self.open(&Example::default()).map(|opened| opened.program.roots());
        roots.map_or_else(|_| Vec::new(), |roots| roots.into_iter().map(|root| root.name).collect())
    }

    /// The criteria that people who use the language look at first.
    pub fn usual_behaviours(&self, example: &Example) -> Vec<Behaviour> {
        let Ok(opened) = self.open(example) else { return Vec::new() };
        let lists = opened.program.items();
        let mut usual = Vec::new();
        if !lists.is_empty() {
            usual.push(Behaviour::Transitions);
        }
        if !opened.model().propositions().is_empty() {
            usual.extend([Behaviour::States, Behaviour::StateTransitions]);
        }
        usual.extend(lists.iter().map(|list| Behaviour::Items(list.criterion.clone())));
        usual
    }

    /// Reads, checks and compiles the model for an example.
    pub fn open(&self, example: &Example) -> Result<Opened, CantOpen> {
        self.open_telling(example, Telling::Coverage(&[]))
    }

    /// The same, and the steps tell the values of these decisions, which are spans of an earlier opening.
    pub fn open_watching(&self, example: &Example, decisions: &[Span]) -> Result<Opened, CantOpen> {
        self.open_telling(example, Telling::Coverage(decisions))
    }

    /// The same, and the steps tell which variables were defined and used, instead of what was exercised.
    pub fn open_following(&self, example: &Example) -> Result<Opened, CantOpen> {
        self.open_telling(example, Telling::Flows)
    }

    /// The same with a text in the place of one of its files, known by the name that messages give it.
    pub fn changed(&self, file: &str, text: String) -> Self {
        let mut changed = self.clone();
        match file == self.main.name {
            true => changed.main.text = text,
            false => changed.given.push(Text::new(file, text)),
        }
        changed
    }

    /// The same, and the steps tell what is asked for.
    pub fn open_telling(&self, example: &Example, telling: Telling<'_>) -> Result<Opened, CantOpen> {
        self.open_for(example, telling, false)
    }

    /// The same, where few of its states will be looked at.
    pub fn open_briefly(&self, example: &Example, telling: Telling<'_>) -> Result<Opened, CantOpen> {
        self.open_for(example, telling, true)
    }

    fn open_for(
        &self,
        example: &Example,
        telling: Telling<'_>,
        few_states: bool,
    ) -> Result<Opened, CantOpen> {
        let extension = self.language.extensions()[0];
        let mut given = self.given.clone();
        given.extend(
            example.modules.iter().map(|(name, text)| Text::new(format!("{name}.{extension}"), text.clone())),
        );
        let mut folders = self.folders.clone();
        let main = match &example.file {
            None => &self.main,
            // A module that imports the model. The model is the one at hand, wherever the module lies.
            Some(file) => {
                given.push(self.main.clone());
                folders.beside = true;
                folders.include.extend(Path::new(&self.main.name).parent().map(Path::to_path_buf));
                &file.text
            }
        };
        let texts = Overlay::new(given, &folders);
        let input = Input {
            texts: &texts,
            root: example.root.as_deref(),
            constants: &example.constants,
            telling,
            few_states,
            starting: Starting::Example,
            ..Input::new(main)
        };
        let languages::Opened { sources, program } = languages::load(self.language, &input)?;
        if example.file.is_some() {
            let is_model = |(_, span): &(String, Span)| sources.name(span.file) == self.main.name;
            if !program.modules().iter().any(is_model) {
                let diagnostic = Diagnostic::error(format!("{} does not import the model", main.name))
                    .help(format!("begin it with `module EXAMPLE ({}) is`", self.main.stem()));
                return Err(CantOpen { diagnostics: vec![diagnostic], sources });
            }
        }
        Ok(Opened {
            program,
            sources,
            language: self.language,
            root: example.root.clone(),
            inputs: example.modules.iter().map(|(name, _)| name.clone()).collect(),
            own_file: example.file.as_ref().map(|file| file.text.name.clone()),
        })
    }

    /// The map of the specification itself, without any example; nothing where it needs an example's modules.
    pub fn map(&self) -> Option<(CoverageMap, Sources)> {
        let mut sources = Sources::new();
        let texts = Overlay::new(self.given.clone(), &self.folders);
        let input = Input { texts: &texts, ..Input::new(&self.main) };
        Some((self.language.map(&input, &mut sources)?, sources))
    }
}

impl Opened {
    /// What is counted in it.
    pub fn map(&self) -> &CoverageMap {
        self.program.map()
    }

    /// What was executed of functions so far.
    pub(crate) fn function_coverage(&self) -> Coverage {
        covered_by_marks(self.program.functions(), self.model().fired_in_functions())
    }

    /// Executes functions again, only in the states that belong to an exploration: threads run ahead of a limit.
    pub(crate) fn recount_functions(&self, found: &Exploration) {
        self.model().forget_fired();
        let mut worker = self.model().worker();
        for state in 0..found.statistics.expanded {
            let state = found.state(self.model(), StateId::new(state));
            let _ = worker.successors(&state, &mut |_| {});
        }
    }

    /// The modules that the model imports.
    pub(crate) fn imported_modules(&self) -> Vec<String> {
        let mut modules = self.program.modules();
        modules.pop();
        modules.into_iter().map(|(name, _)| name).collect()
    }

    /// The modules of an example that have no part in it, because nothing imports them.
    pub(crate) fn unused_modules(&self, example: &Example) -> Vec<String> {
        let modules = self.program.modules();
        let is_used = |name: &str| modules.iter().any(|(module, _)| module.eq_ignore_ascii_case(name));
        example.modules.iter().filter(|(name, _)| !is_used(name)).map(|(name, _)| name.clone()).collect()
    }

    /// The processes of the specification that the example starts: its root, or what is called from modules that come
    /// with it.
    pub(crate) fn starts(&self, places: &Places) -> Vec<usize> {
        let map = self.map();
        let roots = self.program.started();
        let reached = map.reachable(&roots);
        let own = map
            .blocks
            .iter()
            .filter(|block| reached[block.process] && places.processes[block.process].is_none());
        let called = own.flat_map(|block| block.calls.iter().copied());
        let mut starts: Vec<usize> =
            roots.iter().copied().chain(called).filter_map(|process| places.processes[process]).collect();
        starts.sort_unstable();
        starts.dedup();
        starts
    }

    /// The model.
    pub fn model(&self) -> &dyn Model {
        self.program.model()
    }

    /// Whether a text comes with the example, or takes the place of a file of the model.
    pub fn is_input(&self, file: FileId) -> bool {
        self.sources.is_given(file) || self.is_input_file(self.sources.name(file))
    }

    /// Whether a file of this name comes with the example.
    pub(crate) fn is_input_file(&self, file: &str) -> bool {
        let module = Path::new(file).file_name().and_then(|name| name.to_str()?.split('.').next());
        self.inputs.iter().any(|input| module.is_some_and(|module| input.eq_ignore_ascii_case(module)))
            || self.own_file.as_deref() == Some(file)
    }

    /// The program with probes, where its language has them.
    pub fn instrumented(&self, probes: &Probes) -> Option<Instrumented> {
        self.program.instrument(&self.sources, probes, self.root.as_deref())
    }

    /// Compiles the program with probes.
    pub fn open_instrumented(
        &self,
        example: &Example,
        instrumented: &Instrumented,
    ) -> Result<Box<dyn Program>, CantOpen> {
        let Some((main, imported)) = instrumented.modules.split_last() else {
            return Err(CantOpen::new(Diagnostic::error("there is nothing with probes")));
        };
        let texts = Overlay::new(imported.to_vec(), &NoTexts);
        let input = Input {
            texts: &texts,
            root: instrumented.root.as_deref(),
            constants: &example.constants,
            telling: Telling::Nothing,
            starting: Starting::Example,
            ..Input::new(main)
        };
        languages::load(self.language, &input).map(|opened| opened.program)
    }
}
