//! Wrong formulas and what is said about them: each `tests/errors/NAME.mcl` has its diagnostics beside it in
//! `NAME.txt`. Run with `UPDATE=1` to write them anew, then read what has changed.

use std::path::{Path, PathBuf};

use source::Sources;

#[test]
fn wrong_formulas_get_the_messages_beside_them() {
    let update = std::env::var_os("UPDATE").is_some();
    let mut paths: Vec<PathBuf> = std::fs::read_dir(Path::new("tests/errors"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "mcl"))
        .collect();
    paths.sort();
    assert!(paths.len() >= 50);
    let mut different = Vec::new();
    for path in paths {
        let mut sources = Sources::new();
        let found = match logic::load_properties(&path, &mut sources) {
            Ok(loaded) => loaded.warnings,
            Err(diagnostics) => diagnostics,
        };
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
