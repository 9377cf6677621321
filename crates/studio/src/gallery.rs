//! The bundled models, to look at without having one.

use std::path::{Path, PathBuf};

use cover::SuiteFiles;
use serde::Serialize;
use source::Sources;

use crate::coverage::Member;
use crate::embedded::MODELS;
use crate::opening::{Request, Start, Text};

/// A bundled model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// Its name: the key to open it.
    pub name: String,
    /// The group it is shown in: `bugs`, `models` or `coverage`.
    pub group: &'static str,
    /// What it is about: the model's first comment.
    pub about: String,
}

/// The files that a page may send.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Files {
    /// The extensions of models, without dots.
    models: Vec<&'static str>,
    /// The extensions of transition systems, which models can name or which are opened themselves.
    systems: Vec<&'static str>,
    /// The extension of properties.
    property: &'static str,
    /// What to choose, in words.
    hint: String,
}

impl Files {
    /// What the languages say.
    pub fn known() -> Self {
        let registry = languages::registry();
        let models = registry.extensions();
        let mut systems = lts::SYSTEM_EXTENSIONS.to_vec();
        let named = registry.languages().iter().flat_map(|language| language.named_files());
        for &named in named {
            if !systems.contains(&named) && !models.contains(&named) {
                systems.push(named);
            }
        }
        let hint = format!(
            "A model ({}) or a transition system ({}), the files it refers to, and a property (.mcl)",
            languages::listed(&models, "or"),
            languages::listed(&lts::SYSTEM_EXTENSIONS, "or"),
        );
        Self { models, systems, property: "mcl", hint }
    }
}

/// All bundled models, typical bugs first.
pub fn entries() -> Vec<Entry> {
    let mut entries = Vec::new();
    for (path, text) in MODELS {
        let Some((folder, file)) = path.rsplit_once('/') else { continue };
        let Some(stem) = model_stem(file) else { continue };
        let group = match folder.split_once('/') {
            None if folder == "bugs" => "bugs",
            None if folder == stem => "models",
            Some(("coverage", inside)) if !inside.contains('/') => "coverage",
            _ => continue,
        };
        let about = first_comment(&String::from_utf8_lossy(text));
        entries.push(Entry { name: format!("{folder}/{stem}"), group, about });
    }
    entries
}

/// The comment at the start of a model: lines that begin with `--` or `***`, or the first one of an XML file.
fn first_comment(text: &str) -> String {
    let words = |lines: &mut dyn Iterator<Item = &str>| {
        let words = lines.map(|line| line.trim_start().trim_start_matches(['-', '*']).trim());
        words.filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
    };
    match text.trim_start().starts_with('<') {
        true => {
            let comment = text.split_once("<!--").and_then(|(_, rest)| rest.split_once("-->"));
            words(&mut comment.map_or("", |(comment, _)| comment).lines())
        }
        false => {
            let begins = |line: &str| line.starts_with("--") || line.starts_with("***");
            let is_comment = |line: &&str| begins(line.trim_start()) || line.trim().is_empty();
            words(&mut text.lines().take_while(is_comment))
        }
    }
}

/// The name of a file without its extension, if it is a model.
fn model_stem(file: &str) -> Option<&str> {
    languages::registry()
        .is_model(Path::new(file))
        .then(|| file.rsplit_once('.').map_or(file, |(stem, _)| stem))
}

/// What opening a bundled model means; nothing for unknown names.
pub fn request(name: &str, most_states: usize) -> Option<Request> {
    let entry = entries().into_iter().find(|entry| entry.name == name)?;
    let (folder, stem) = name.rsplit_once('/')?;
    let beside: Vec<(&str, &str)> = MODELS
        .iter()
        .filter_map(|(path, bytes)| {
            let file = path.strip_prefix(folder)?.strip_prefix('/')?;
            Some((file, std::str::from_utf8(bytes).ok()?))
        })
        .collect();
    let text =
        |wanted: &str| beside.iter().find(|(file, _)| *file == wanted).map(|(_, text)| text.to_string());
    let main = beside.iter().find(|(file, _)| model_stem(file) == Some(stem))?.0.to_owned();
    let language = languages::registry().language(Path::new(&main))?;
    let mut files = vec![Text { text: text(&main)?, name: main.clone() }];
    if entry.group == "models" {
        let is_part = |file: &str| {
            let extensions = language.extensions().iter().chain(language.named_files());
            Path::new(file).extension().is_some_and(|own| extensions.clone().any(|known| own == *known))
        };
        let modules = beside.iter().filter(|(file, _)| is_part(file) && *file != main);
        files.extend(modules.map(|(file, text)| Text { name: file.to_string(), text: text.to_string() }));
    }
    let property = if entry.group == "bugs" { format!("{stem}.mcl") } else { "properties.mcl".into() };
    let property = Text { text: text(&property).unwrap_or_default(), name: property };
    let examples = if entry.group == "coverage" { suites(&beside) } else { Vec::new() };
    // Models that are made for examples are shown as the first of them starts them.
    let first = examples.first().map(|member| &member.example);
    let root = first.and_then(|example| example.root.clone());
    let modules = first.map(|example| example.modules.clone()).unwrap_or_default();
    files.extend(
        modules
            .into_iter()
            .map(|(name, text)| Text { name: format!("{name}.{}", language.extensions()[0]), text }),
    );
    let starts = starts(&text("expected.toml").unwrap_or_default());
    Some(Request { files, property, root, examples, starts, most_states, ..Request::default() })
}

/// The processes that variants of a model start with, each with the comment above it.
fn starts(expected: &str) -> Vec<Start> {
    let mut found = Vec::new();
    let (mut about, mut inside) = (String::new(), false);
    for line in expected.lines().map(str::trim) {
        if let Some(comment) = line.strip_prefix('#') {
            about = comment.trim().to_owned();
        } else if line.starts_with('[') {
            inside = line == "[[variants]]";
        } else if let Some(root) = line.strip_prefix("root = \"").and_then(|rest| rest.strip_suffix('"'))
            && inside
        {
            found.push(Start { root: root.to_owned(), about: std::mem::take(&mut about) });
        }
    }
    found
}

/// The examples of all suites beside a model.
fn suites(beside: &[(&str, &str)]) -> Vec<Member> {
    let suites = beside.iter().filter(|(file, _)| file.starts_with("suite") && file.ends_with(".toml"));
    let read = suites.filter_map(|(file, text)| {
        let name = file.trim_end_matches(".toml");
        let file = Sources::new().add(*file, *text);
        let examples = cover::parse_suite(file, text, Path::new(""), &Bundled(beside)).ok()?;
        Some(examples.into_iter().map(move |example| Member { suite: name.to_owned(), example }))
    });
    read.flatten().collect()
}

/// Files that are built into the program.
struct Bundled<'a>(&'a [(&'a str, &'a str)]);

impl SuiteFiles for Bundled<'_> {
    fn read(&self, path: &Path) -> Result<model::Text, std::io::Error> {
        let found = self.0.iter().find(|(file, _)| Path::new(file) == path);
        found.map(|(file, text)| model::Text::new(*file, *text)).ok_or(std::io::ErrorKind::NotFound.into())
    }

    fn list(&self, folder: &Path) -> Result<Vec<PathBuf>, std::io::Error> {
        let files = self.0.iter().map(|(file, _)| PathBuf::from(file));
        Ok(files.filter(|file| file.parent() == Some(folder)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typical_bugs_and_models_are_there() {
        let entries = entries();
        let names: Vec<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
        for wanted in ["bugs/comb", "bugs/flower", "peterson/peterson", "interlocking/interlocking"] {
            assert!(names.contains(&wanted), "{wanted} in {names:?}");
        }
        assert!(entries.iter().all(|entry| !entry.about.is_empty()), "{entries:?}");
        let modules = request("interlocking/interlocking", 10).unwrap().files;
        assert!(modules.len() > 3 && modules[0].name == "interlocking.lnt");
        assert!(request("../Cargo", 10).is_none());
        let starts = request("philosophers/philosophers", 10).unwrap().starts;
        let roots: Vec<&str> = starts.iter().map(|start| start.root.as_str()).collect();
        assert_eq!(roots, ["THREE", "LEFT_HANDED"]);
        assert_eq!(starts[1].about, "one of five takes the right fork first: no dead end");
        let network = request("network/network", 10).unwrap().files;
        assert!(network[0].name == "network.exp" && network.len() == 4, "{network:?}");
        let covered = request("coverage/self_configuration/self_configuration", 10).unwrap();
        assert!(covered.examples.len() > 1 && covered.files.len() == 2, "{:?}", covered.examples);
    }
}
