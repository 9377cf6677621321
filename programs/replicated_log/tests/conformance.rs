//! The program against its model: accepted as it is, rejected with its flaw, by name of the condition.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use conform::{Format, Outcome, Relation, Settings, Traces};
use languages::{Opened, Opening};

fn models() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/replicated_log")
}

/// Runs the program and follows what it logs while it runs.
fn follow(opened: &Opened, arguments: &[&str]) -> Outcome {
    let text = std::fs::read_to_string(models().join("relation.toml")).expect("the relation is there");
    let relation = Relation::parse(&text).expect("it is a relation");
    let mut program = Command::new(env!("CARGO_BIN_EXE_replicated-log"))
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    let log = std::io::BufReader::new(program.stdout.take().expect("it has an output"));
    let mut traces =
        Traces::new(Path::new("log"), Box::new(log), Format::Json, &relation).expect("it can be read");
    let mut next = || Ok(traces.next_batch()?.map(|said| (0, said)));
    let model = opened.program.model();
    let outcome = conform::check(model, &relation, Settings::default(), 1, &mut next, &lts::Progress::new())
        .expect("events");
    assert!(program.wait().expect("it ends").success());
    outcome
}

#[test]
fn the_program_does_what_the_model_allows() {
    let path = models().join("replicated_log.lnt");
    let opened = languages::registry().open(&path, &Opening::default()).unwrap_or_else(|_| panic!("a model"));
    let outcome = follow(&opened, &["--entries", "3000"]);
    assert_eq!((outcome.sequences, outcome.accepted, outcome.moments), (1, 1, 18_000));
}

#[test]
fn its_flaw_is_found_and_explained() {
    let path = models().join("replicated_log.lnt");
    let opened = languages::registry().open(&path, &Opening::default()).unwrap_or_else(|_| panic!("a model"));
    // The flaw is a race: an acknowledgement has to be late.
    let outcome = follow(&opened, &["--entries", "20000", "--flawed"]);
    assert_eq!(outcome.rejected, 1);
    let diagnosis = outcome.failures[0].diagnosis.as_ref().expect("it is explained");
    assert!(diagnosis.to.starts_with("COMMIT"), "{diagnosis:?}");
    let places: Vec<&str> =
        diagnosis.blocked.iter().map(|blocked| opened.sources.slice(blocked.span)).collect();
    assert!(places.iter().any(|place| place.contains("stored_2 == appended")), "{places:?}");
}
