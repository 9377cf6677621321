//! The bundled models, to look at without having one.

use serde::Serialize;

use crate::embedded::MODELS;
use crate::opening::{Request, Text};

/// A bundled model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// Its name: the key to open it.
    pub name: String,
    /// The group it is shown in: `bugs` or `models`.
    pub group: &'static str,
    /// What it is about: the model's first comment.
    pub about: String,
}

/// All bundled models, typical bugs first.
pub fn entries() -> Vec<Entry> {
    let mut entries = Vec::new();
    for (path, text) in MODELS {
        let Some((folder, file)) = path.split_once('/') else { continue };
        let Some(stem) = file.strip_suffix(".lnt") else { continue };
        if folder != "bugs" && folder != stem {
            continue;
        }
        let group = if folder == "bugs" { "bugs" } else { "models" };
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
    entries().iter().find(|entry| entry.name == name)?;
    let (folder, stem) = name.split_once('/')?;
    let text = |path: &str| {
        let (_, bytes) = MODELS.iter().find(|(known, _)| *known == path)?;
        Some(String::from_utf8_lossy(bytes).into_owned())
    };
    let main = format!("{stem}.lnt");
    let mut files = vec![Text { text: text(&format!("{folder}/{main}"))?, name: main.clone() }];
    if folder != "bugs" {
        for (path, bytes) in MODELS {
            let module = path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/'));
            if let Some(module) = module.filter(|file| file.ends_with(".lnt") && *file != main) {
                files.push(Text { name: module.into(), text: String::from_utf8_lossy(bytes).into_owned() });
            }
        }
    }
    let property = if folder == "bugs" { format!("{stem}.mcl") } else { "properties.mcl".into() };
    let property = Text { text: text(&format!("{folder}/{property}")).unwrap_or_default(), name: property };
    Some(Request { files, property, most_states, ..Request::default() })
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
    }
}
