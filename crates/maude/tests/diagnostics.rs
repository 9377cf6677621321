//! Wrong files and what is said about them: each `tests/errors/NAME.maude` has its diagnostics beside it in `NAME.txt`.
//! Run with `UPDATE=1` to write them anew, then read what has changed.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use maude::session::{Event, Session};

/// Files that `meta.rs` is to speak about: the meta level is a stub so far.
const NOT_YET: [&str; 3] = ["meta_ill_formed_module", "meta_ill_formed_term", "meta_unknown_module"];

/// Files that are right here: commands take module expressions, as later versions of Maude do.
const TAKEN: [&str; 1] = ["module_expression_in_command"];

fn files(folder: &str) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(Path::new("tests").join(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "maude"))
        .collect();
    found.sort();
    found
}

/// Everything that is said about a file.
fn diagnostics(path: &Path) -> String {
    let text = model::read_text(path).unwrap();
    let mut session = Session::new();
    session.limits.rewrites = 100_000;
    session.limits.deadline = Some(Instant::now() + Duration::from_secs(2));
    session.limits.bytes = 256 << 20;
    session.limits.depth = 100_000;
    let mut rendered = Vec::new();
    session.take(&text, &model::Folders::beside(&[]), &mut |sources, event| {
        if let Event::Diagnostic(diagnostic) = event {
            rendered.push(sources.render(&diagnostic, false) + "\n");
        }
    });
    rendered.join("")
}

#[test]
fn wrong_files_get_the_messages_beside_them() {
    let update = std::env::var_os("UPDATE").is_some();
    let mut different = Vec::new();
    let files = files("errors");
    assert!(files.len() >= 60);
    for path in files {
        if NOT_YET.iter().any(|name| path.file_stem().is_some_and(|stem| stem == *name)) {
            continue;
        }
        let rendered = diagnostics(&path);
        if TAKEN.iter().any(|name| path.file_stem().is_some_and(|stem| stem == *name)) {
            assert_eq!(rendered, "", "{}", path.display());
            continue;
        }
        assert!(update || !rendered.is_empty(), "{} is accepted without a word", path.display());
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
