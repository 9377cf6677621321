//! Wrong programs and what is said about them: each `tests/errors/NAME.lnt` has its diagnostics beside it in
//! `NAME.txt`. Run with `UPDATE=1` to write them anew, then read what has changed.

use std::path::{Path, PathBuf};

use source::{Diagnostic, Sources};

fn programs(folder: &str) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(Path::new("tests").join(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "lnt"))
        .collect();
    found.sort();
    found
}

fn diagnostics(path: &Path, sources: &mut Sources) -> Vec<Diagnostic> {
    match lnt::load(path, &[PathBuf::from("tests/errors/modules")], sources) {
        Ok(checked) => checked.warnings,
        Err(diagnostics) => diagnostics,
    }
}

#[test]
fn wrong_programs_get_the_messages_beside_them() {
    let update = std::env::var_os("UPDATE").is_some();
    let mut different = Vec::new();
    let programs = programs("errors");
    assert!(programs.len() >= 60);
    for path in programs {
        let mut sources = Sources::new();
        let found = diagnostics(&path, &mut sources);
        assert!(!found.is_empty(), "{} is accepted without a word", path.display());
        let rendered = sources.render_all(&found, false) + "\n";
        let expected_path = path.with_extension("txt");
        let expected = std::fs::read_to_string(&expected_path).unwrap_or_default();
        if rendered == expected {
            continue;
        }
        if update {
            std::fs::write(&expected_path, &rendered).unwrap();
        } else {
            different.push(format!("{}:\n--- expected\n{expected}--- found\n{rendered}", path.display()));
        }
    }
    assert!(different.is_empty(), "UPDATE=1 accepts these:\n{}", different.join("\n"));
}

#[test]
fn right_programs_get_no_messages() {
    for path in programs("right") {
        let mut sources = Sources::new();
        let found = diagnostics(&path, &mut sources);
        assert!(found.is_empty(), "{}", sources.render_all(&found, false));
    }
}
