//! A program under test that speaks the protocol by hand, and misbehaves on demand.
//!
//! campaign-graph SEED NODES plain|pairs [--TROUBLE VALUE]…

#[path = "../world/graph.rs"]
#[allow(dead_code, reason = "a program does not know what is wrong with it")]
mod graph;

use std::collections::{BTreeSet, HashMap};
use std::io::{BufRead, Write};
use std::path::Path;
use std::time::Duration;

use graph::{Graph, Sent, read_schedule, write_schedule};
use serde_json::{Value, json};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| arguments[at].parse().expect("a number");
    let graph = Graph { seed: number(0), nodes: number(1), plain: arguments[2] == "plain" };
    let troubles: HashMap<&str, &str> =
        arguments[3..].chunks(2).map(|pair| (pair[0].as_str(), pair[1].as_str())).collect();
    let trouble = |name: &str| troubles.get(name).copied();
    let at_node = |name: &str, node: u64| trouble(name) == Some(node.to_string().as_str());
    let say = |message: Value| {
        let mut line = Vec::new();
        if trouble("--garbage").is_some() {
            line.extend(b"own output\n{\"done\": \"this is output, too\"}\n\xff\xfe\nno end of line: ");
        }
        line.push(0x1e);
        line.extend(message.to_string().bytes());
        line.push(b'\n');
        if std::io::stdout().write_all(&line).and_then(|()| std::io::stdout().flush()).is_err() {
            std::process::exit(0);
        }
    };
    let starts = match trouble("--starts") {
        Some(start) => json!([start]),
        None => json!(["schedule", "state"]),
    };
    let protocol = trouble("--protocol").map_or(1, |version| version.parse().expect("a number"));
    if trouble("--mute").is_none() {
        let hash = trouble("--hashless").is_none();
        say(json!({"hello": {"protocol": protocol, "program": "graph", "starts": starts, "hash": hash}}));
    }
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { return };
        let request: Value = serde_json::from_str(&line).expect("requests are JSON");
        let job = &request["job"];
        let id = job["id"].as_str().expect("jobs have names");
        let (node, choices) = if let Some(schedule) = job["start"]["schedule"].as_str() {
            (graph.follow(&read_schedule(schedule)), read_schedule(schedule))
        } else if job["start"]["state"].is_object() {
            (Graph::node_of(&job["start"]["state"]), Vec::new())
        } else {
            (0, Vec::new())
        };
        if let Some(milliseconds) = trouble("--slow") {
            std::thread::sleep(Duration::from_millis(milliseconds.parse().expect("a number")));
        }
        if let Some(folder) = trouble("--flaky") {
            let mark = Path::new(folder).join(node.to_string());
            if node.is_multiple_of(5) && std::fs::create_dir(mark).is_ok() {
                eprintln!("this happens once");
                std::process::abort();
            }
        }
        let depth = job["depth"].as_u64().expect("jobs have a depth") as usize;
        let forgetful = trouble("--forgetful").is_some();
        let known = match job["known"].as_str() {
            Some(hashes) if !forgetful => read_hashes(hashes),
            _ => BTreeSet::new(),
        };
        let sent = graph.explore(node, &choices, depth, &known);
        let middle = sent.len() / 2;
        for (position, sent) in sent.iter().enumerate() {
            if position == middle {
                if at_node("--crash", node) {
                    eprintln!("node {node} is too much");
                    std::process::abort();
                }
                if at_node("--hang", node) {
                    // Nobody ends it if its worker is killed.
                    std::thread::sleep(Duration::from_secs(20));
                }
                if at_node("--complain", node) {
                    break;
                }
                if at_node("--wrong-job", node) {
                    say(json!({"done": {"job": "another", "complete": true}}));
                }
                if at_node("--no-json", node) {
                    println!("\u{1e}{{ this is no JSON");
                }
                if at_node("--hello-again", node) {
                    say(json!({"hello": {"protocol": 1, "program": "graph", "starts": [], "hash": true}}));
                }
                if at_node("--no-states", node) {
                    let sequence = json!({"job": id, "states": [1, 2], "schedule": "", "end": "finished"});
                    say(json!({"sequence": sequence}));
                }
            }
            match sent {
                Sent::Sequence { states, choices, end } => {
                    let message = (*end == "panic").then_some("assertion failed");
                    let schedule = write_schedule(choices);
                    let sequence = json!({"job": id, "states": states, "schedule": schedule, "end": end, "message": message});
                    say(json!({"sequence": sequence}));
                }
                Sent::Frontier { node, choices } => {
                    let (state, schedule) = (graph.observe(*node), write_schedule(choices));
                    let hash = format!("{node:016x}");
                    say(json!({"frontier": {"job": id, "state": state, "schedule": schedule, "hash": hash}}));
                }
                Sent::Expanded { nodes } if job["expanded"] == true && !forgetful => {
                    // In two messages, for there may be several.
                    let nodes: Vec<u64> = nodes.iter().copied().collect();
                    for nodes in nodes.chunks(nodes.len().div_ceil(2).max(1)) {
                        let hashes: String = nodes.iter().map(|node| format!("{node:016x}")).collect();
                        let hashes = if at_node("--no-hashes", node) { "none".into() } else { hashes };
                        say(json!({"expanded": {"job": id, "hashes": hashes}}));
                    }
                }
                Sent::Expanded { .. } => {}
            }
        }
        if at_node("--complain", node) {
            say(json!({"error": {"job": id, "message": "this state can't be restored"}}));
            continue;
        }
        let sequences = sent.iter().filter(|sent| matches!(sent, Sent::Sequence { .. })).count();
        let complete = !at_node("--incomplete", node);
        say(json!({"done": {"job": id, "executions": sequences, "steps": sent.len(), "states": 0,
                            "sequences": sequences, "complete": complete}}));
    }
}

fn read_hashes(text: &str) -> BTreeSet<u64> {
    assert!(
        !text.is_empty() && text.len().is_multiple_of(16),
        "what is known is left out or has 16 digits each"
    );
    let starts = (0..text.len()).step_by(16);
    starts.map(|at| u64::from_str_radix(&text[at..at + 16], 16).expect("a hash")).collect()
}
