//! The tutorial of the book does what it says: its commands are run, and their output compared.

use std::fs;
use std::path::Path;
use std::process::Command;

/// Output without what changes from run to run: times and memory.
fn steady(text: &str) -> Vec<String> {
    let without_time = |line: &str| {
        let line = line.trim_end();
        let open = line.strip_suffix(')').unwrap_or(line);
        match open.strip_suffix(" ms").or_else(|| open.strip_suffix(" s")).and_then(|rest| rest.rfind(' ')) {
            Some(at) => open[..at].to_owned(),
            None => line.to_owned(),
        }
    };
    let lines = text.lines().filter(|line| !line.starts_with("took "));
    let mut lines: Vec<String> = lines.map(without_time).collect();
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

/// Words of a command line; single quotes keep a word together.
fn words(line: &str) -> Vec<String> {
    let pieces = line.split('\'').enumerate();
    pieces
        .flat_map(|(number, piece)| match number % 2 {
            0 => piece.split_whitespace().map(str::to_owned).collect(),
            _ => vec![piece.to_owned()],
        })
        .collect()
}

#[test]
fn the_tutorial_shows_what_happens() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let page = fs::read_to_string(top.join("docs/src/tutorial.md")).unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let mut commands = 0;
    for part in page.split("```").collect::<Vec<_>>().windows(2) {
        let (before, block) = (part[0], part[1]);
        // A file of the reader's own.
        if let Some((_, name)) = before.trim_end().rsplit_once("<!-- file: ")
            && let Some(name) = name.strip_suffix(" -->")
        {
            let (_, text) = block.split_once('\n').unwrap();
            fs::write(scratch.path().join(name), text).unwrap();
        }
        let Some(block) = block.strip_prefix("console\n") else { continue };
        for part in block.split("$ watershed ").skip(1) {
            let (line, expected) = part.split_once('\n').unwrap();
            let arguments = words(line).into_iter().map(|word| match word.strip_prefix("models/") {
                Some(rest) => top.join("models").join(rest).to_str().unwrap().to_owned(),
                None => word,
            });
            let output = Command::new(env!("CARGO_BIN_EXE_watershed"))
                .args(arguments)
                .current_dir(scratch.path())
                .output()
                .unwrap();
            assert_ne!(output.status.code(), Some(2), "{line}: {}", String::from_utf8_lossy(&output.stderr));
            assert_eq!(steady(&String::from_utf8_lossy(&output.stdout)), steady(expected), "{line}");
            commands += 1;
        }
    }
    assert!(commands >= 17, "{commands} commands");
}
