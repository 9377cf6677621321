//! The languages that models are written in, and opening files of any of them.
//!
//! This is the one place that knows which languages there are: a new one is a crate, a dependency of this crate, and a
//! line in the list `LANGUAGES`.
//!
//! ```
//! let text = model::Text::new("light.lnt", "module LIGHT is process MAIN [ON : none] is ON end process end module");
//! let opened = languages::registry().load(&model::Input::new(&text)).unwrap();
//! let found = explore::explore(opened.program.model(), &Default::default(), &lts::Progress::new());
//! assert_eq!(found.states(), 3);
//! ```

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use lts::{AutOptions, Lts, Progress};
use model::{Folders, Input, Language, Program, Starting, Telling, Text, read_text};
use source::{Diagnostic, Sources};

/// The languages of models.
static LANGUAGES: LazyLock<Registry> = LazyLock::new(|| {
    let languages: [&'static dyn Language; 5] =
        [&lnt::Lnt, &net::NetText, &net::Pnml, &maude::Maude, &network::Exp];
    Registry { languages: languages.to_vec() }
});

/// The languages that there are.
pub fn registry() -> &'static Registry {
    &LANGUAGES
}

/// Some languages.
#[derive(Clone, Default)]
pub struct Registry {
    languages: Vec<&'static dyn Language>,
}

/// What a file is, by its name.
#[derive(Clone, Copy)]
pub enum FileKind {
    /// A model in a language.
    Model(&'static dyn Language),
    /// A transition system.
    System,
}

/// A model with the texts that it came from.
pub struct Opened {
    /// The texts.
    pub sources: Sources,
    /// The model, and what its language knows of it.
    pub program: Box<dyn Program>,
}

/// Why a model could not be opened: what is wrong, with the texts that it speaks of.
#[derive(Debug)]
pub struct CantOpen {
    /// What is wrong.
    pub diagnostics: Vec<Diagnostic>,
    /// The texts.
    pub sources: Sources,
}

impl CantOpen {
    /// A sentence about no text in particular.
    pub fn new(diagnostic: Diagnostic) -> Self {
        Self { diagnostics: vec![diagnostic], sources: Sources::new() }
    }
}

/// How to open a model from a file.
#[derive(Clone, Copy)]
pub struct Opening<'a> {
    /// Where to start; where the language says, by default.
    pub root: Option<&'a str>,
    /// Constants that get other values.
    pub constants: &'a [(String, String)],
    /// Folders of other files that the model names.
    pub include: &'a [PathBuf],
    /// What the steps have to tell.
    pub telling: Telling<'a>,
    /// Whether labels show the values that a step was taken with, where the language can leave them out.
    pub values: bool,
    /// How the user says where to start.
    pub starting: Starting,
    /// How transition systems are read that the model names.
    pub reading: &'a AutOptions,
}

impl Default for Opening<'_> {
    fn default() -> Self {
        Self {
            root: None,
            constants: &[],
            include: &[],
            telling: Telling::Marks,
            values: false,
            starting: Starting::Root,
            reading: &AutOptions { tau: None, sparse: false },
        }
    }
}

impl Registry {
    /// The same languages and one more.
    pub fn with(mut self, language: &'static dyn Language) -> Self {
        self.languages.push(language);
        self
    }

    /// The languages.
    pub fn languages(&self) -> &[&'static dyn Language] {
        &self.languages
    }

    /// The extensions of models, those of each language in their order.
    pub fn extensions(&self) -> Vec<&'static str> {
        self.languages.iter().flat_map(|language| language.extensions().iter().copied()).collect()
    }

    /// What a file of this name is, packed or not; nothing where that can't be told.
    pub fn kind(&self, name: &Path) -> Option<FileKind> {
        let extension = lts::format_extension(name)?;
        let of = |language: &&&dyn Language| language.extensions().contains(&extension.as_str());
        match self.languages.iter().find(of) {
            Some(&language) => Some(FileKind::Model(language)),
            None => lts::SYSTEM_EXTENSIONS.contains(&extension.as_str()).then_some(FileKind::System),
        }
    }

    /// The language of a model of this name.
    pub fn language(&self, name: &Path) -> Option<&'static dyn Language> {
        match self.kind(name)? {
            FileKind::Model(language) => Some(language),
            FileKind::System => None,
        }
    }

    /// Whether a file of this name is a model.
    pub fn is_model(&self, name: &Path) -> bool {
        self.language(name).is_some()
    }

    /// The files that models are read from: `.lnt and .exp`.
    pub fn model_files(&self) -> String {
        listed(&self.extensions(), "and")
    }

    /// The language of a model, or what is wrong with the name of its file.
    pub fn expect_model(&self, name: &Path) -> Result<&'static dyn Language, Diagnostic> {
        let wrong = |what: &str| {
            Diagnostic::error(format!("{} is {what}, not a model", name.display()))
                .help(format!("models are read from {} files, optionally compressed", self.model_files()))
        };
        match self.kind(name) {
            Some(FileKind::Model(language)) => Ok(language),
            Some(FileKind::System) => Err(wrong("a transition system")),
            None => Err(match lts::format_extension(name) {
                Some(extension) => wrong(&format!("a file with the extension .{extension}")),
                None => wrong("a file without an extension"),
            }),
        }
    }

    /// Loads a model from texts.
    pub fn load(&self, input: &Input<'_>) -> Result<Opened, CantOpen> {
        let language = self.expect_model(Path::new(&input.main.name)).map_err(CantOpen::new)?;
        load(language, input)
    }

    /// Opens the model in a file. What it names lies beside it, or in the folders to include.
    pub fn open(&self, path: &Path, opening: &Opening<'_>) -> Result<Opened, CantOpen> {
        let language = self.expect_model(path).map_err(CantOpen::new)?;
        let main = read_model(path).map_err(CantOpen::new)?;
        let texts = Folders::beside(opening.include);
        let &Opening { root, constants, telling, values, starting, reading, .. } = opening;
        load(
            language,
            &Input {
                texts: &texts,
                root,
                constants,
                telling,
                values,
                starting,
                reading,
                ..Input::new(&main)
            },
        )
    }

    /// Says what is wrong with the name of a file that should be a transition system; nothing where it is one.
    pub fn refuse_system(&self, path: &Path) -> Option<Diagnostic> {
        match self.kind(path) {
            Some(FileKind::System) => None,
            None if lts::is_standard_stream(path) => None,
            Some(FileKind::Model(language)) => Some(
                Diagnostic::error(format!(
                    "{} is a model ({}), not a transition system",
                    path.display(),
                    language.name()
                ))
                .help(format!("explore it first: `watershed explore {} -o OUT.aut`", path.display())),
            ),
            None => {
                let known = lts::format_extension(path)
                    .map_or("no extension".into(), |extension| format!("the extension .{extension}"));
                Some(
                    Diagnostic::error(format!("{}: can't tell the format from {known}", path.display()))
                        .help(format!(
                            "transition systems are read from {} files, optionally compressed (.gz or .zst), \
                             and as AUT from `-`",
                            listed(&lts::SYSTEM_EXTENSIONS, "and")
                        )),
                )
            }
        }
    }
}

/// Loads a model in a language.
pub fn load(language: &dyn Language, input: &Input<'_>) -> Result<Opened, CantOpen> {
    let mut sources = Sources::new();
    match language.load(input, &mut sources) {
        Ok(program) => Ok(Opened { sources, program }),
        Err(diagnostics) => Err(CantOpen { diagnostics, sources }),
    }
}

/// Reads the text of a model.
pub fn read_model(path: &Path) -> Result<Text, Diagnostic> {
    read_text(path).map_err(|reason| Diagnostic::error(format!("can't read {}: {reason}", path.display())))
}

/// Reads a transition system from text.
pub fn parse_system(text: &Text, options: &AutOptions) -> Result<Lts, CantOpen> {
    lts::parse_system(&text.name, &text.text, options).map_err(|error| {
        let (sources, diagnostic) = error.diagnostic(&text.name);
        CantOpen { diagnostics: vec![diagnostic], sources }
    })
}

/// Reads a transition system from a file.
pub fn read_system(path: &Path, options: &AutOptions, progress: &Progress) -> Result<Lts, SystemError> {
    if let Some(wrong) = registry().refuse_system(path) {
        return Err(SystemError::Wrong(CantOpen::new(wrong)));
    }
    lts::read_system(path, options, progress).map_err(|error| match error {
        lts::ReadError::Syntax { name, error } => {
            let (sources, diagnostic) = error.diagnostic(&name);
            SystemError::Wrong(CantOpen { diagnostics: vec![diagnostic], sources })
        }
        lts::ReadError::Cancelled => SystemError::Cancelled,
        other => SystemError::Wrong(CantOpen::new(Diagnostic::error(other.to_string()))),
    })
}

/// Why a transition system could not be read.
pub enum SystemError {
    /// Something is wrong.
    Wrong(CantOpen),
    /// The reader was asked to stop.
    Cancelled,
}

/// `.aut, .dot and .json`
pub fn listed(extensions: &[&str], word: &str) -> String {
    let dotted: Vec<String> = extensions.iter().map(|extension| format!(".{extension}")).collect();
    match dotted.as_slice() {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} {word} {last}", first.join(", ")),
    }
}
