//! The protocol with a real child process: the example `alternating_bit`.

use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};

/// Examples are built next to the tests.
fn example(name: &str) -> PathBuf {
    let mut path = std::env::current_exe().unwrap();
    path.pop();
    path.pop();
    path.push("examples");
    path.push(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    assert!(path.exists(), "{} is built by `cargo test` without --test", path.display());
    path
}

struct Partner {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Partner {
    fn start(arguments: &[&str]) -> (Partner, Value) {
        Partner::start_example("alternating_bit", arguments)
    }

    fn start_example(name: &str, arguments: &[&str]) -> (Partner, Value) {
        let mut command = Command::new(example(name));
        command
            .args(arguments)
            .env("WATERSHED_OBSERVE", "serve")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut partner = Partner { child, input, output };
        let hello = partner.message();
        (partner, hello)
    }

    fn message(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(line.strip_prefix('\u{1e}').expect("messages are marked")).unwrap()
    }

    /// All messages of a job, the last is done or error.
    fn job(&mut self, job: &Value) -> Vec<Value> {
        writeln!(self.input, "{}", json!({ "job": job })).unwrap();
        let mut messages = vec![self.message()];
        while messages.last().unwrap().get("done").is_none()
            && messages.last().unwrap().get("error").is_none()
        {
            let message = self.message();
            messages.push(message);
        }
        messages
    }

    fn end(mut self) {
        drop(self.input);
        assert!(self.child.wait().unwrap().success());
    }
}

#[test]
fn jobs_are_answered() {
    let (mut partner, hello) = Partner::start(&["--size", "1", "--flawed"]);
    let expected =
        json!({"protocol": 1, "program": "alternating_bit", "starts": ["schedule", "state"], "hash": true});
    assert_eq!(hello["hello"], expected);

    // In layers: some of the states at the bound are where the next jobs start.
    let (mut known, mut pairs) = (BTreeSet::new(), BTreeSet::new());
    let mut starts = vec![Value::Null];
    let mut number = 0;
    while let Some(start) = starts.pop() {
        number += 1;
        let start = if start.is_null() { start } else { json!({ "state": start }) };
        let job = json!({"id": number.to_string(), "start": start, "depth": 60, "executions": null, "whole": false,
            "strategy": {"name": "systematic", "reduction": "dependence"}});
        for message in partner.job(&job) {
            if let Some(sequence) = message.get("sequence") {
                assert_eq!(sequence["job"], number.to_string());
                let states = sequence["states"].as_array().unwrap();
                pairs.extend(states.windows(2).map(|pair| (pair[0].to_string(), pair[1].to_string())));
            } else if let Some(frontier) = message.get("frontier") {
                assert_eq!(frontier["hash"].as_str().unwrap().len(), 16);
                if known.insert(frontier["state"].to_string()) && known.len() <= 8 {
                    starts.push(frontier["state"].clone());
                }
            } else {
                assert_eq!(message["done"]["complete"], true, "{message}");
            }
        }
    }
    // The planted flaw: d(3) in place of d(2).
    assert!(pairs.iter().any(|(_, after)| after.contains(r#""buf":[0,1,3]"#)));
    assert!(!pairs.iter().any(|(_, after)| after.contains(r#""buf":[0,1,2]"#)));

    // The same job gives the same lines.
    let random = json!({"id": "r", "start": null, "depth": 50, "executions": 20, "whole": true,
        "strategy": {"name": "random", "seed": 4}});
    let first = partner.job(&random);
    assert_eq!(first, partner.job(&random));
    // A schedule that was sent can be replayed.
    let schedule = first[0]["sequence"]["schedule"].clone();
    let replay =
        json!({"id": "s", "start": {"schedule": schedule}, "depth": 50, "strategy": {"name": "replay"}});
    let again = partner.job(&replay);
    assert_eq!(again[0]["sequence"]["states"], first[0]["sequence"]["states"]);

    let error = partner
        .job(&json!({"id": "e", "depth": 5, "strategy": {"name": "replay"}, "start": {"schedule": "x"}}));
    assert!(error[0]["error"]["message"].as_str().unwrap().contains("'x' is no part of a schedule"));
    assert_eq!(error[0]["error"]["job"], "e");
    assert!(partner.job(&json!({"nonsense": 1}))[0].get("error").is_some());
    partner.end();
}

fn run(name: &str, arguments: &[&str]) -> Output {
    Command::new(example(name)).args(arguments).output().unwrap()
}

#[test]
fn the_command_line_writes_sequences() {
    let output = run("test_and_set", &["--depth", "60"]);
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    for line in text.lines() {
        let states: Vec<Value> = serde_json::from_str(line).unwrap();
        assert_eq!(states[0], json!({"lock": false, "p1": "rs", "p2": "rs", "p3": "rs"}));
    }
    assert!(!text.contains(r#""p1":"cs","p2":"cs""#));
    let flawed = run("test_and_set", &["--depth", "60", "--", "--flawed"]);
    assert!(String::from_utf8(flawed.stdout).unwrap().contains(r#""p1":"cs","p2":"cs""#));

    let help = String::from_utf8(run("test_and_set", &["--help"]).stdout).unwrap();
    assert!(help.contains("rust-gdb --args test_and_set --schedule") && help.contains("--flawed"));
    assert_eq!(run("test_and_set", &["--flawed"]).status.code(), Some(2));
}

#[test]
fn the_lost_queue_is_found() {
    let contents = |flawed: &[&str]| {
        let output = run("lock_free_queue", flawed);
        assert_eq!(output.status.code(), Some(i32::from(!flawed.is_empty())));
        String::from_utf8(output.stdout).unwrap()
    };
    // The value 1 is taken twice.
    let twice = |text: &str| text.contains(r#""got1":[1],"got2":[1,2,3]"#);
    assert!(!twice(&contents(&[])) && twice(&contents(&["--", "--flawed"])));
    let folder = tempfile::tempdir().unwrap();
    // A small schedule that shows it, and the same again.
    let failing = folder.path().join("failing.txt");
    let output = run("lock_free_queue", &["--minimise", "-o", failing.to_str().unwrap(), "--", "--flawed"]);
    assert_eq!(output.status.code(), Some(1));
    let schedule = format!("@{}", failing.display());
    let output = run("lock_free_queue", &["--schedule", &schedule, "--", "--flawed"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(twice(&String::from_utf8(output.stdout).unwrap()));
    assert!(String::from_utf8(output.stderr).unwrap().contains("a value was taken twice"));
    let path = folder.path().join("sequences.jsonl");
    let state = r#"{"cap":1,"sb":true,"data":2,"rb":true,"buf":[0,1],"dc":[],"ac":[],"turns":[false,false,false,false]}"#;
    let output = run(
        "alternating_bit",
        &[
            "--state",
            state,
            "--depth",
            "30",
            "--strategy",
            "pct",
            "--executions",
            "50",
            "-o",
            path.to_str().unwrap(),
        ],
    );
    assert!(output.status.success() && output.stdout.is_empty());
    assert!(std::fs::read_to_string(path).unwrap().lines().count() > 10);
}

/// Every step between observed states, and how sequences end if not at a state that was seen.
#[derive(Default, PartialEq, Debug)]
struct Behaviour {
    states: BTreeSet<String>,
    pairs: BTreeSet<(String, String)>,
    ends: BTreeSet<String>,
}

/// Layers as a campaign has them, to the end; returns what was seen and the number of jobs and executions.
fn in_layers(partner: &mut Partner, depth: Value, shared: bool) -> (Behaviour, usize, u64) {
    let mut behaviour = Behaviour::default();
    let (mut jobs, mut executions) = (0, 0);
    let (mut known, mut places) = (BTreeSet::new(), BTreeSet::new());
    let mut layer = vec![Value::Null];
    while !layer.is_empty() {
        let (mut next, mut expanded) = (Vec::new(), BTreeSet::new());
        let hashes: String = known.iter().map(String::as_str).collect();
        for start in std::mem::take(&mut layer) {
            jobs += 1;
            let job = json!({"id": "7", "start": start, "depth": depth, "whole": false, "known": hashes,
                "expanded": shared, "strategy": {"name": "systematic", "reduction": "none"}});
            for message in partner.job(&job) {
                if let Some(sequence) = message.get("sequence") {
                    let states = sequence["states"].as_array().unwrap();
                    let states: Vec<String> = states.iter().map(Value::to_string).collect();
                    let pairs = states.windows(2).map(|pair| (pair[0].clone(), pair[1].clone()));
                    behaviour.pairs.extend(pairs);
                    behaviour.states.extend(states);
                    let end = sequence["end"].as_str().unwrap();
                    if end != "seen" && end != "depth" {
                        behaviour.ends.insert(format!("{end} {}", sequence["message"]));
                    }
                } else if let Some(frontier) = message.get("frontier") {
                    if places.insert(frontier["hash"].to_string()) {
                        next.push(json!({"schedule": frontier["schedule"]}));
                    }
                } else if let Some(message) = message.get("expanded") {
                    let text = message["hashes"].as_str().unwrap();
                    assert!(shared && text.len().is_multiple_of(16));
                    expanded.extend((0..text.len()).step_by(16).map(|at| text[at..at + 16].to_owned()));
                } else {
                    assert_eq!(message["done"]["complete"], true, "{message}");
                    executions += message["done"]["executions"].as_u64().unwrap();
                }
            }
        }
        known.extend(expanded);
        layer = next;
    }
    (behaviour, jobs, executions)
}

#[test]
fn layers_that_know_what_was_expanded_show_what_one_deep_job_shows() {
    for (name, depths, arguments) in [
        ("alternating_bit", &[150][..], &["--size", "1"][..]),
        ("test_and_set", &[7, 20], &[]),
        ("simple_communication", &[80], &[]),
    ] {
        let (mut partner, hello) = Partner::start_example(name, arguments);
        assert_eq!(hello["hello"]["hash"], true, "{name}");
        let (deep, jobs, at_once) = in_layers(&mut partner, Value::Null, false);
        assert_eq!(jobs, 1);
        for depth in depths {
            let (layered, jobs, executions) = in_layers(&mut partner, json!(depth), true);
            assert!(jobs > 1 && layered == deep, "{name}, layers of {depth}");
            assert!(executions < 5 * at_once, "{name}, layers of {depth}: {executions} executions");
        }
        partner.end();
    }
}

#[test]
fn what_is_known_is_not_expanded_again_and_only_sent_if_asked_for() {
    let (mut partner, _) = Partner::start(&["--size", "1"]);
    let mut job = json!({"id": "7", "start": null, "depth": 40, "whole": false,
        "strategy": {"name": "systematic", "reduction": "none"}});
    let quiet = partner.job(&job);
    assert!(quiet.iter().all(|message| message.get("expanded").is_none()));
    job["expanded"] = true.into();
    let told = partner.job(&job);
    let expanded = &told[told.len() - 2]["expanded"];
    assert_eq!((told.len(), &expanded["job"]), (quiet.len() + 1, &json!("7")));
    job["known"] = expanded["hashes"].clone();
    let again = partner.job(&job);
    assert!(
        again.iter().all(|message| message.get("expanded").is_none() && message.get("frontier").is_none())
    );
    assert!(again.last().unwrap()["done"]["executions"].as_u64().unwrap() < 10);
    // With reduction, and in a job that is cut short, nothing is said of that.
    job["known"] = "".into();
    job["executions"] = 3.into();
    assert!(partner.job(&job).iter().all(|message| message.get("expanded").is_none()));
    job["executions"] = Value::Null;
    job["strategy"]["reduction"] = "dependence".into();
    assert!(partner.job(&job).iter().all(|message| message.get("expanded").is_none()));
    job["known"] = "12".into();
    let error = partner.job(&job);
    assert!(error[0]["error"]["message"].as_str().unwrap().contains("16 digits"));
    partner.end();
}
