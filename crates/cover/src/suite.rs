//! Suites: the examples that a model is tried on, from a `suite.toml` or the command line.
//!
//! ```toml
//! [[example]]
//! name = "two caches"
//! root = "SYSTEM (2, true)"            # default: MAIN
//! modules = { INPUT = "inputs/a.lnt" } # add or replace modules
//! constants = { SIZE = 3 }             # bind functions without parameters
//! max_states = 100000
//!
//! [[example]]
//! directory = "inputs"                 # one example for each .lnt file in it,
//! module = "INPUT"                     # which takes the place of this module
//!
//! [[example]]
//! file = "examples/a.lnt"              # a module that imports the model and starts it,
//!
//! [[example]]
//! file = "runs/a.seq"                  # or a trace: the labels of a run of the root
//! root = "SYSTEM (2, true)"
//!
//! [[example]]
//! directory = "runs"                   # without `module`: an example for each such file in it
//! ```

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use model::Text;
use serde::Deserialize;
use source::{Diagnostic, FileId, Sources, Span};
use toml::Spanned;

use crate::trace::{Trace, parse_trace};

/// One set of inputs to a model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Example {
    /// What reports call it.
    pub name: String,
    /// The process to start, with gates and arguments; none for `MAIN`.
    pub root: Option<String>,
    /// Modules to add or replace: name and text.
    pub modules: Vec<(String, String)>,
    /// Where these modules were read, as the suite writes it: name and path.
    pub module_files: Vec<(String, String)>,
    /// Constants to bind: name and expression.
    pub constants: Vec<(String, String)>,
    /// A module of its own that imports the model, and starts it.
    pub file: Option<ExampleModule>,
    /// The runs of the root that it consists of; none where it is all of them.
    pub trace: Option<Trace>,
    /// A limit on states of its own.
    pub max_states: Option<usize>,
    /// Where it is written, in the suite.
    pub place: Option<Span>,
}

/// A module that imports the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExampleModule {
    /// Where it was read, as the suite writes it.
    pub written: String,
    /// What it says.
    pub text: Text,
}

/// Files with these extensions are traces.
const TRACES: [&str; 3] = ["seq", "trace", "txt"];

impl Example {
    /// The example in a file, a module that imports the model or a trace, as its extension tells; nothing where it tells
    /// neither.
    ///
    /// ```
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("a.seq");
    /// std::fs::write(&path, "\"OPEN\"\n")?;
    /// let example = cover::Example::of_file(&path).unwrap().unwrap();
    /// assert_eq!(example.trace.unwrap().runs[0].labels, ["OPEN"]);
    /// assert!(cover::Example::of_file(std::path::Path::new("MAIN (1)")).is_none());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn of_file(path: &Path) -> Option<Result<Self, Diagnostic>> {
        let extension = lts::format_extension(path)?;
        let is_trace = TRACES.contains(&extension.as_str());
        (is_trace || languages::registry().is_model(path)).then(|| {
            let written = path.display().to_string();
            let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
            let example = Self { name: stem.unwrap_or_default(), ..Self::default() };
            example.with_file(path, &written, &OnDisk)
        })
    }

    /// The same from a file.
    fn with_file(self, path: &Path, written: &str, files: &dyn SuiteFiles) -> Result<Self, Diagnostic> {
        let text = files
            .read(path)
            .map_err(|reason| Diagnostic::error(format!("can't read {}: {reason}", path.display())))?;
        let written = written.to_owned();
        if languages::registry().is_model(path) {
            return Ok(Self { file: Some(ExampleModule { written, text }), ..self });
        }
        match parse_trace(&text.text) {
            Ok(runs) => Ok(Self { trace: Some(Trace { file: written, runs }), ..self }),
            Err((line, reason)) => Err(Diagnostic::error(format!("{}:{line}: {reason}", path.display()))
                .help("a trace has one label per line, or is in the simple SEQ format of CADP")),
        }
    }

    /// The example that starts a process: `MAIN (2, true)`.
    pub fn of_root(root: &str) -> Self {
        Self { name: root.trim().to_owned(), root: Some(root.trim().to_owned()), ..Self::default() }
    }

    /// The process that it starts, with gates and arguments.
    pub fn start(&self) -> &str {
        self.root.as_deref().unwrap_or("MAIN")
    }

    /// What it is, for want of a name: the process that it starts, with its constants and modules.
    pub fn described(&self) -> String {
        let constants = self.constants.iter().map(|(name, value)| format!("{name} = {value}"));
        let modules = self.modules.iter().map(|(name, _)| name.clone());
        let file = self.file.iter().map(|file| file.written.clone());
        let trace = self.trace.iter().map(|trace| trace.file.clone());
        let parts: Vec<String> = constants.chain(modules).chain(file).chain(trace).collect();
        match parts.is_empty() {
            true => self.start().to_owned(),
            false => format!("{} with {}", self.start(), parts.join(", ")),
        }
    }

    /// The example as it is written in a suite.
    ///
    /// ```
    /// let example = cover::Example {
    ///     constants: vec![("SIZE".to_owned(), "3".to_owned()), ("FIRST".to_owned(), "red".to_owned())],
    ///     ..cover::Example::of_root("MAIN (\"a\")")
    /// };
    /// assert_eq!(
    ///     example.to_toml(),
    ///     "[[example]]\nroot = \"MAIN (\\\"a\\\")\"\nconstants = { SIZE = 3, FIRST = \"red\" }\n"
    /// );
    /// ```
    pub fn to_toml(&self) -> String {
        // Strings of JSON are strings of TOML.
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        let key = |name: &str| {
            let is_bare = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
            if !name.is_empty() && name.chars().all(is_bare) { name.to_owned() } else { quoted(name) }
        };
        let table = |entries: Vec<String>| format!("{{ {} }}", entries.join(", "));
        let mut text = String::from("[[example]]\n");
        if let Some(root) = &self.root {
            text.push_str(&format!("root = {}\n", quoted(root)));
        }
        let file = self.file.as_ref().map(|file| &file.written);
        if let Some(file) = file.or(self.trace.as_ref().map(|trace| &trace.file)) {
            text.push_str(&format!("file = {}\n", quoted(file)));
        }
        if !self.module_files.is_empty() {
            let files =
                self.module_files.iter().map(|(name, file)| format!("{} = {}", key(name), quoted(file)));
            text.push_str(&format!("modules = {}\n", table(files.collect())));
        }
        if !self.constants.is_empty() {
            let value = |value: &str| match value.parse::<i64>() {
                Ok(number) => number.to_string(),
                Err(_) if matches!(value, "true" | "false") => value.to_owned(),
                Err(_) => quoted(value),
            };
            let constants =
                self.constants.iter().map(|(name, text)| format!("{} = {}", key(name), value(text)));
            text.push_str(&format!("constants = {}\n", table(constants.collect())));
        }
        if let Some(limit) = self.max_states {
            text.push_str(&format!("max_states = {limit}\n"));
        }
        text
    }
}

/// Reads a suite; modules and directories are named relative to its file.
pub fn load_suite(path: &Path, sources: &mut Sources) -> Result<Vec<Example>, Vec<Diagnostic>> {
    let text =
        lts::read_text(path).map_err(|error| vec![Diagnostic::error(format!("can't read {error}"))])?;
    let file = sources.add(path.display().to_string(), text.clone());
    parse_suite(file, &text, path.parent().unwrap_or(Path::new("")), &OnDisk)
}

/// Where the files are that a suite names.
pub trait SuiteFiles {
    /// The text of a file.
    fn read(&self, path: &Path) -> Result<Text, std::io::Error>;
    /// The files in a folder.
    fn list(&self, folder: &Path) -> Result<Vec<PathBuf>, std::io::Error>;
}

/// Files on disk.
#[derive(Clone, Copy, Debug, Default)]
pub struct OnDisk;

impl SuiteFiles for OnDisk {
    fn read(&self, path: &Path) -> Result<Text, std::io::Error> {
        model::read_text(path)
    }

    fn list(&self, folder: &Path) -> Result<Vec<PathBuf>, std::io::Error> {
        Ok(std::fs::read_dir(folder)?.flatten().map(|entry| entry.path()).collect())
    }
}

/// Parses the text of a suite whose file lies in a folder.
///
/// ```
/// use std::path::Path;
/// let mut sources = source::Sources::new();
/// let text = "[[example]]\nroot = 'MAIN (2, true)'\nconstants = { SIZE = 3 }\n";
/// let file = sources.add("suite.toml", text);
/// let examples = cover::parse_suite(file, text, Path::new(""), &cover::OnDisk).unwrap();
/// assert_eq!(examples[0].name, "MAIN (2, true) with SIZE = 3");
/// assert_eq!(examples[0].constants, [("SIZE".to_owned(), "3".to_owned())]);
///
/// let text = "[[example]]\nrot = 'MAIN'\n";
/// let file = sources.add("suite.toml", text);
/// let errors = cover::parse_suite(file, text, Path::new(""), &cover::OnDisk).unwrap_err();
/// assert!(sources.render_all(&errors, false).contains("did you mean `root`?"));
/// ```
pub fn parse_suite(
    file: FileId,
    text: &str,
    folder: &Path,
    files: &dyn SuiteFiles,
) -> Result<Vec<Example>, Vec<Diagnostic>> {
    let written: Written = toml::from_str(text).map_err(|error| vec![syntax(file, text, &error)])?;
    let mut reading = Reading { file, folder, files, diagnostics: Vec::new(), examples: Vec::new() };
    for example in &written.example {
        reading.example(example);
    }
    if reading.examples.is_empty() && reading.diagnostics.is_empty() {
        let whole = Span { file, start: 0, end: text.len() as u32 };
        let mut diagnostic = Diagnostic::error("this suite has no examples");
        if !text.trim().is_empty() {
            diagnostic = diagnostic.label(whole, "nothing to run");
        }
        reading.diagnostics.push(diagnostic.help("add one:\n[[example]]\nroot = \"MAIN\""));
    }
    reading.repeated_names();
    if reading.diagnostics.is_empty() { Ok(reading.examples) } else { Err(reading.diagnostics) }
}

const KEYS: [&str; 8] = ["name", "root", "file", "modules", "constants", "max_states", "directory", "module"];

/// The file as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default, alias = "examples")]
    example: Vec<Spanned<WrittenExample>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenExample {
    name: Option<Spanned<String>>,
    root: Option<Spanned<String>>,
    #[serde(default)]
    modules: BTreeMap<String, Spanned<String>>,
    #[serde(default)]
    constants: BTreeMap<String, Spanned<Constant>>,
    max_states: Option<Spanned<usize>>,
    file: Option<Spanned<String>>,
    directory: Option<Spanned<String>>,
    module: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "a constant is true, false, an integer, or an expression in quotes")]
enum Constant {
    Bool(bool),
    Integer(i64),
    Expression(String),
}

impl std::fmt::Display for Constant {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Constant::Bool(value) => write!(out, "{value}"),
            Constant::Integer(value) => write!(out, "{value}"),
            Constant::Expression(text) => out.write_str(text),
        }
    }
}

/// A syntax error of the file, or a key that does not exist.
fn syntax(file: FileId, text: &str, error: &toml::de::Error) -> Diagnostic {
    let message = error.message().lines().next().unwrap_or("invalid TOML").to_owned();
    let span = error.span().unwrap_or(0..0);
    let key = text.get(span.clone()).unwrap_or("").trim();
    let near = message.contains("unknown field").then(|| source::closest(key, KEYS)).flatten();
    let span = Span { file, start: span.start as u32, end: span.end as u32 };
    let help = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("an example is written `[[example]]`, with the keys {}", KEYS.join(", ")),
    };
    Diagnostic::error(format!("this suite can't be read: {message}")).label(span, "here").help(help)
}

struct Reading<'a> {
    file: FileId,
    folder: &'a Path,
    files: &'a dyn SuiteFiles,
    diagnostics: Vec<Diagnostic>,
    examples: Vec<Example>,
}

impl Reading<'_> {
    fn span<T>(&self, spanned: &Spanned<T>) -> Span {
        let range = spanned.span();
        Span { file: self.file, start: range.start as u32, end: range.end as u32 }
    }

    fn example(&mut self, written: &Spanned<WrittenExample>) {
        let place = self.span(written);
        let example = written.get_ref();
        let (mut modules, mut module_files) = (Vec::new(), Vec::new());
        for (name, path) in &example.modules {
            match self.files.read(&self.folder.join(path.get_ref())) {
                Ok(text) => {
                    modules.push((name.clone(), text.text));
                    module_files.push((name.clone(), path.get_ref().clone()));
                }
                Err(error) => self.unreadable(path, &error),
            }
        }
        let constants = example.constants.iter();
        let constants: Vec<(String, String)> =
            constants.map(|(name, value)| (name.clone(), value.get_ref().to_string())).collect();
        if let Some(root) = example.root.as_ref().filter(|root| root.get_ref().trim().is_empty()) {
            self.diagnostics.push(
                Diagnostic::error("the root of an example is empty")
                    .label(self.span(root), "no process")
                    .help("write `root = \"MAIN\"`, or leave it out"),
            );
        }
        let root = example.root.as_ref().map(|root| root.get_ref().trim().to_owned());
        let named = example.name.as_ref().map(|name| name.get_ref().clone());
        let base = Example {
            name: String::new(),
            root,
            modules,
            module_files,
            constants,
            file: None,
            trace: None,
            max_states: example.max_states.as_ref().map(|limit| *limit.get_ref()),
            place: Some(place),
        };
        if let (Some(file), Some(directory)) = (&example.file, &example.directory) {
            self.diagnostics.push(
                Diagnostic::error("an example is a file or a directory of files, not both")
                    .label(self.span(file), "a file")
                    .label(self.span(directory), "a directory"),
            );
            return;
        }
        match (&example.directory, &example.module) {
            (None, None) => {
                let example = match &example.file {
                    Some(file) => {
                        base.with_file(&self.folder.join(file.get_ref()), file.get_ref(), self.files)
                    }
                    None => Ok(base),
                };
                match example {
                    Ok(example) => {
                        let name = named.unwrap_or_else(|| example.described());
                        self.examples.push(Example { name, ..example });
                    }
                    Err(diagnostic) => self.wrong_file(written.get_ref().file.as_ref(), diagnostic),
                }
            }
            (Some(directory), module) => {
                self.directory(
                    directory,
                    module.as_ref().map(|module| module.get_ref().as_str()),
                    &base,
                    named,
                );
            }
            (None, Some(module)) => self.diagnostics.push(
                Diagnostic::error("`module` needs `directory`")
                    .label(self.span(module), "there is no `directory`")
                    .help("to replace one module, write `modules = { NAME = \"file.lnt\" }`"),
            ),
        }
    }

    /// One example for each file of a directory: modules that take the place of one, or examples of their own.
    fn directory(
        &mut self,
        written: &Spanned<String>,
        module: Option<&str>,
        base: &Example,
        named: Option<String>,
    ) {
        let directory = self.folder.join(written.get_ref());
        let entries = match self.files.list(&directory) {
            Ok(entries) => entries,
            Err(error) => return self.unreadable(written, &error),
        };
        let mut extensions = languages::registry().extensions();
        if module.is_none() {
            extensions.extend(TRACES);
        }
        let wanted = |path: &PathBuf| {
            let extension = lts::format_extension(path);
            extensions.iter().any(|wanted| extension.as_deref() == Some(*wanted))
        };
        let mut files: Vec<PathBuf> = entries.into_iter().filter(wanted).collect();
        files.sort();
        if files.is_empty() {
            let kinds = languages::listed(&extensions, "or");
            self.diagnostics.push(
                Diagnostic::error(format!("the directory {} has no {kinds} files", directory.display()))
                    .label(self.span(written), "no examples here"),
            );
        }
        for path in files {
            let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            let name = match &named {
                Some(name) => format!("{name} {stem}"),
                None => stem,
            };
            let file = path.file_name().unwrap_or_default();
            let as_written = Path::new(written.get_ref()).join(file).display().to_string();
            let mut example = Example { name, ..base.clone() };
            match module {
                None => match example.with_file(&path, &as_written, self.files) {
                    Ok(example) => self.examples.push(example),
                    Err(diagnostic) => self.wrong_file(Some(written), diagnostic),
                },
                Some(module) => match self.files.read(&path) {
                    Ok(text) => {
                        example.modules.push((module.to_owned(), text.text));
                        example.module_files.push((module.to_owned(), as_written));
                        self.examples.push(example);
                    }
                    Err(error) => self.unreadable(written, &error),
                },
            }
        }
    }

    /// A file that is no example.
    fn wrong_file(&mut self, written: Option<&Spanned<String>>, diagnostic: Diagnostic) {
        self.diagnostics.push(match written {
            Some(written) => diagnostic.label(self.span(written), "named here"),
            None => diagnostic,
        });
    }

    fn unreadable(&mut self, path: &Spanned<String>, error: &std::io::Error) {
        let shown = self.folder.join(path.get_ref());
        self.diagnostics.push(
            Diagnostic::error(format!("can't read {}: {error}", shown.display()))
                .label(self.span(path), "named here")
                .note("paths are relative to the suite"),
        );
    }

    /// Two examples of one name could not be told apart in a report.
    fn repeated_names(&mut self) {
        for (index, example) in self.examples.iter().enumerate() {
            let first = self.examples[..index].iter().find(|first| first.name == example.name);
            if let (Some(first), Some(place)) = (first.and_then(|first| first.place), example.place) {
                self.diagnostics.push(
                    Diagnostic::error(format!("two examples have the name `{}`", example.name))
                        .label(place, "second")
                        .label(first, "first")
                        .help("give one of them a different `name`"),
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> Result<Vec<Example>, Vec<Diagnostic>> {
        let mut sources = Sources::new();
        let file = sources.add("suite.toml", text);
        let parsed = parse_suite(file, text, Path::new("nowhere"), &OnDisk);
        if let Err(diagnostics) = &parsed {
            assert!(!sources.render_all(diagnostics, false).is_empty());
        }
        parsed
    }

    /// What is suggested can be pasted: it is read back as the same example.
    #[test]
    fn examples_are_written_as_they_are_read() {
        let root = "MAIN (\"a\\n\", '{', {1, 2})";
        let constants = [("N", "2"), ("ON", "true"), ("S", "a + \"b\"")];
        let example = Example {
            constants: constants.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
            max_states: Some(70),
            ..Example::of_root(root)
        };
        let read = parse(&example.to_toml()).unwrap().remove(0);
        assert_eq!(Example { name: example.name.clone(), place: None, ..read }, example);
    }

    #[test]
    fn examples_have_names_of_their_own() {
        let text = "[[example]]\n[[example]]\nconstants = { N = 2, ON = true, S = 'a + 1' }\n";
        let examples = parse(text).unwrap();
        let names: Vec<&str> = examples.iter().map(|example| example.name.as_str()).collect();
        assert_eq!(names, ["MAIN", "MAIN with N = 2, ON = true, S = a + 1"]);
        assert_eq!(examples[0].root, None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// Whatever is in a suite, it is read or told to be wrong.
        #[test]
        fn no_suite_panics(parts in prop::collection::vec(
            prop::sample::select(vec![
                "[[example]]", "[example]", "name", "root", "modules", "constants", "directory", "module", " = ",
                "'MAIN'", "\"é", "3", "-1", "true", "{ A = 1 }", "{", "}", "\n", "#", "[", "]", "max_states", "''",
            ]),
            0..24,
        )) {
            let _ = parse(&parts.concat());
        }
    }
}
