//! Files with commands, and what Debian's Maude 3.2 answers to them: each `tests/corpus/NAME.maude` has its output beside
//! it in `NAME.out`. Where Maude is installed, it is asked again.

mod answers;

use std::path::{Path, PathBuf};

use answers::{Answer, answers, ours, theirs};

/// Where answers differ, and why that is as it should be.
const DIFFERENT: [(&str, &str); 9] = [
    (
        "ac_nested_evaluation",
        "lists and bags are flat before equations are tried; the equations are not confluent",
    ),
    ("cmd_show", "modules are shown in a form of our own"),
    ("cmd_show_rules", "modules are shown in a form of our own"),
    ("fmod_nondeterministic_pick", "which of several matchers comes first is open"),
    ("fmod_statement_attributes", "the equations of BOOL are our own"),
    ("ltl_formulas", "satSolve is not supported"),
    ("ltl_mutex", "another counterexample, as short as Maude's"),
    ("match_left_right_identity", "identities are not added inside of the values of variables"),
    ("module_theories", "modules are shown in a form of our own"),
];

/// The same for files that show modules.
const SHOWN: [&str; 2] = ["module_imports", "module_include_bool_off"];

fn files() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir("tests/corpus")
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "maude"))
        .collect();
    files.sort();
    files
}

fn is_known(path: &Path) -> bool {
    let name = path.file_stem().unwrap().to_string_lossy();
    DIFFERENT.iter().any(|(known, _)| *known == name) || SHOWN.contains(&&*name)
}

fn difference(ours: &[Answer], theirs: &[Answer]) -> Option<String> {
    let same = |(one, two): (&Answer, &Answer)| one.solutions == two.solutions && one.rest == two.rest;
    if ours.len() == theirs.len() && ours.iter().zip(theirs).all(same) {
        return None;
    }
    let first = ours.iter().zip(theirs).find(|&(one, two)| !same((one, two)));
    Some(match first {
        Some((one, two)) => format!(
            "{}\n  ours   {:?} {}\n  theirs {:?} {}",
            two.command, one.solutions, one.rest, two.solutions, two.rest
        ),
        None => format!("{} answers, not {}", ours.len(), theirs.len()),
    })
}

#[test]
fn files_are_answered_as_maude_answers_them() {
    let files = files();
    assert!(files.len() >= 60);
    let mut different = Vec::new();
    for path in files.iter().filter(|path| !is_known(path)) {
        let expected = std::fs::read_to_string(path.with_extension("out")).unwrap();
        let output = ours(&model::read_text(path).unwrap(), |_| {});
        if let Some(difference) = difference(&answers(&output), &answers(&expected)) {
            different.push(format!("{}: {difference}", path.display()));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}

#[test]
fn maude_still_answers_as_written_down() {
    for path in files() {
        let Some(output) = theirs(&path) else {
            eprintln!("skipped: maude is not installed");
            return;
        };
        let expected = std::fs::read_to_string(path.with_extension("out")).unwrap();
        if let Some(difference) = difference(&answers(&output), &answers(&expected)) {
            panic!("{}: {difference}", path.display());
        }
    }
}

/// Collecting garbage whenever it can be done must not change an answer: nothing that is in use may be lost.
#[test]
fn garbage_is_what_nobody_uses() {
    for path in files().iter().filter(|path| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        ["eq_", "rl_", "match_", "search_", "fmod_", "ltl_"].iter().any(|prefix| name.starts_with(prefix))
    }) {
        let text = model::read_text(path).unwrap();
        let plain = answers(&ours(&text, |_| {}));
        let stressed = answers(&ours(&text, |session| session.stress = true));
        if let Some(difference) = difference(&stressed, &plain) {
            panic!("{}: {difference}", path.display());
        }
    }
}
