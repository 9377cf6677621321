//! Programs under test, from the command line: explored, checked, in campaigns that are killed and go on.
//!
//! The programs are examples of `watershed-observe`, which a build of the whole workspace puts beside the tool; where they
//! are missing, the tests say so and are skipped.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn program(name: &str) -> Option<PathBuf> {
    let tool = Path::new(env!("CARGO_BIN_EXE_watershed"));
    let program = tool.parent()?.join("examples").join(name);
    if !program.exists() {
        eprintln!("skipped: {} is not built", program.display());
        return None;
    }
    Some(program)
}

fn models() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models")
}

fn watershed(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_watershed"));
    command.args(arguments).current_dir(models()).stdin(Stdio::null());
    command
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or(-1)
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn json(output: &Output) -> Value {
    serde_json::from_str(&out(output)).unwrap_or_else(|_| panic!("{}{}", out(output), err(output)))
}

#[test]
fn a_program_is_accepted_and_its_flaw_is_not() {
    let Some(program) = program("test_and_set") else { return };
    let program = program.to_str().unwrap();
    let fixed = [
        "conform",
        "test_and_set/test_and_set.maude",
        "--root",
        "in TEST-AND-SET : init3",
        "--map",
        "test_and_set/relation.toml",
        "--json",
        "--program",
        program,
        "--depth",
        "60",
    ];
    let right = watershed(&fixed).output().unwrap();
    assert_eq!(code(&right), 0, "{}{}", out(&right), err(&right));
    let mut arguments = fixed.to_vec();
    arguments.extend(["--", "--flawed"]);
    let wrong = watershed(&arguments).output().unwrap();
    assert_eq!(code(&wrong), 1, "{}{}", out(&wrong), err(&wrong));
    let schedule = json(&wrong)["failures"][0]["schedule"].as_str().unwrap().to_owned();
    // The schedule alone shows it again.
    let mut replay = fixed[..fixed.len() - 2].to_vec();
    replay.extend(["--strategy", "replay", "--schedule", &schedule, "--", "--flawed"]);
    let again = watershed(&replay).output().unwrap();
    assert_eq!(code(&again), 1, "{}{}", out(&again), err(&again));
}

#[test]
fn the_aba_error_is_found() {
    let Some(program) = program("lock_free_queue") else { return };
    let program = program.to_str().unwrap();
    let arguments = |more: &[&'static str]| {
        let mut all = vec![
            "conform",
            "lock_free_queue/lock_free_queue.maude",
            "--map",
            "lock_free_queue/relation.toml",
            "--program",
            program,
            "--depth",
            "200",
            "--reduce",
        ];
        all.extend(more);
        watershed(&all).output().unwrap()
    };
    let right = arguments(&[]);
    assert_eq!(code(&right), 0, "{}{}", out(&right), err(&right));
    let wrong = arguments(&["--", "--flawed"]);
    assert_eq!(code(&wrong), 1, "{}{}", out(&wrong), err(&wrong));
}

#[test]
fn a_campaign_that_is_killed_goes_on() {
    let Some(program) = program("alternating_bit") else { return };
    let program = program.to_str().unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let start = |folder: &str, more: &[&str]| {
        let mut all = vec![
            "campaign",
            "start",
            "alternating_bit_maude/alternating_bit_maude.maude",
            "--map",
            "alternating_bit_maude/relation.toml",
            "--bound",
            "2",
            "--program",
            program,
            "--reduce",
            "--parts",
            "--folder",
            folder,
        ];
        all.extend(more);
        all.extend(["--", "--size", "1", "--flawed"]);
        watershed(&all)
    };
    let (one, two) = (scratch.path().join("one"), scratch.path().join("two"));
    let (one, two) = (one.to_str().unwrap(), two.to_str().unwrap());
    let whole = start(one, &["--json"]).output().unwrap();
    assert_eq!(code(&whole), 1, "{}{}", out(&whole), err(&whole));
    let whole = json(&whole);
    assert!(whole["failure_count"].as_u64() > Some(0));
    // Started, killed at some moment, and finished by another process.
    let mut child = start(two, &[]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(600));
    let _ = child.kill();
    let _ = child.wait();
    let rest = watershed(&["campaign", "work", "--folder", two, "--json"]).output().unwrap();
    assert_eq!(code(&rest), 1, "{}{}", out(&rest), err(&rest));
    for key in ["failures", "sequences", "states", "executions", "layers"] {
        assert_eq!(json(&rest)[key], whole[key], "{key}");
    }
}

#[test]
fn what_is_wrong_is_told() {
    let Some(program) = program("test_and_set") else { return };
    let program = program.to_str().unwrap();
    let model = "test_and_set/test_and_set.maude";
    let told = |arguments: &[&str], message: &str| {
        let output = watershed(arguments).output().unwrap();
        assert_eq!(code(&output), 2, "{arguments:?}: {}{}", out(&output), err(&output));
        assert!(err(&output).contains(message), "{arguments:?}: {}", err(&output));
    };
    told(&["conform", model, "--program", "./no_such_program"], "can't be started");
    told(&["conform", model, "--program", "true"], "ended before its work was done");
    // Without its relation, the program's states are none of the model's.
    told(&["conform", model, "--program", program, "--depth", "20"], "the model has no");
    let broker = ["--broker", "redis://localhost:1", "--name", "x"];
    let status: Vec<&str> = ["campaign", "status"].into_iter().chain(broker).collect();
    told(&status, "can't be reached");
    told(&["campaign", "work", "--folder", "no_such_folder"], "there is no campaign");
    told(&["campaign", "status"], "--folder");
}
