//! The bundled models, to look at without having one.

use serde::Serialize;
use source::Sources;

use crate::coverage::{self, Member};
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

/// All bundled models, typical bugs first.
pub fn entries() -> Vec<Entry> {
    let mut entries = Vec::new();
    for (path, text) in MODELS {
        let Some((folder, file)) = path.rsplit_once('/') else { continue };
        let Some(stem) = file.strip_suffix(".lnt").or_else(|| file.strip_suffix(".exp")) else { continue };
        let group = match folder.split_once('/') {
            None if folder == "bugs" => "bugs",
            None if folder == stem => "models",
            Some(("coverage", inside)) if !inside.contains('/') => "coverage",
            _ => continue,
        };
        let about = String::from_utf8_lossy(text)
            .lines()
            .take_while(|line| line.trim_start().starts_with("--") || line.trim().is_empty())
            .map(|line| line.trim_start().trim_start_matches('-').trim().to_owned())
            .filter(|line| !line.is_empty())
            .collect::<Vec<_>>()
            .join(" ");
        entries.push(Entry { name: format!("{folder}/{stem}"), group, about });
    }
    entries
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
    let main =
        [format!("{stem}.lnt"), format!("{stem}.exp")].into_iter().find(|name| text(name).is_some())?;
    let mut files = vec![Text { text: text(&main)?, name: main.clone() }];
    if entry.group == "models" {
        let is_part = |file: &str| file.ends_with(".lnt") || file.ends_with(".aut");
        let modules = beside.iter().filter(|(file, _)| is_part(file) && *file != main);
        files.extend(modules.map(|(file, text)| Text { name: file.to_string(), text: text.to_string() }));
    }
    let property = if entry.group == "bugs" { format!("{stem}.mcl") } else { "properties.mcl".into() };
    let property = Text { text: text(&property).unwrap_or_default(), name: property };
    let examples = if entry.group == "coverage" { suites(&beside).unwrap_or_default() } else { Vec::new() };
    // Models that are made for examples are shown as the first of them starts them.
    let first = examples.first().map(|member| &member.example);
    let root = first.and_then(|example| example.root.clone());
    let modules = first.map(|example| example.modules.clone()).unwrap_or_default();
    files.extend(modules.into_iter().map(|(name, text)| Text { name: format!("{name}.lnt"), text }));
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

/// The examples of all suites beside a model. Suites name files, so they are read where these files are.
fn suites(beside: &[(&str, &str)]) -> Result<Vec<Member>, std::io::Error> {
    let folder = tempfile::tempdir()?;
    for (file, text) in beside {
        let path = folder.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap_or(folder.path()))?;
        std::fs::write(path, text)?;
    }
    let suites = beside.iter().filter(|(file, _)| file.starts_with("suite") && file.ends_with(".toml"));
    let read = suites
        .filter_map(|(file, _)| coverage::read_suite(&folder.path().join(file), &mut Sources::new()).ok());
    Ok(read.flatten().collect())
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
