//! Petri nets and networks on the command line. Numbers are worked out by hand where a comment says how.

mod command;

use command::{code, err, folder, out, watershed};
use serde_json::Value;

const PHILOSOPHERS: &str = include_str!("../../../models/philosophers_net/philosophers_net.net");

/// Table 1 of the paper on testing nets with Spin.
const TABLE_1: &str = "PICKUP !1 !1 !2\nPUTDOWN !1 !1 !2\nPICKUP !2 !2 !3\nPICKUP !4 !4 !5\n";

fn json(output: &std::process::Output) -> Value {
    serde_json::from_str(&out(output)).unwrap_or_else(|_| panic!("{}{}", out(output), err(output)))
}

/// Name, total, covered and infeasible of each criterion.
fn criteria(value: &Value) -> Vec<(String, u64, u64, u64)> {
    let number = |one: &Value, key: &str| one[key].as_u64().unwrap();
    let list = value["criteria"].as_array().unwrap();
    list.iter()
        .map(|one| {
            let name = one["name"].as_str().unwrap().to_owned();
            (name, number(one, "total"), number(one, "covered"), number(one, "infeasible"))
        })
        .collect()
}

fn row(name: &str, total: u64, covered: u64, infeasible: u64) -> (String, u64, u64, u64) {
    (name.to_owned(), total, covered, infeasible)
}

/// All criteria of the philosophers. With `e` of them eating, a Pickup needs e < 2 and a Putdown e > 0.
const ALL: [&str; 10] = [
    "transitions",
    "sequences:2",
    "sequences:3",
    "traces:2:1",
    "traces:2:2",
    "states",
    "state-transitions",
    "state-paths:3",
    "arcs",
    "tokens",
];

fn cover(folder: &std::path::Path, more: &[&str]) -> Value {
    let mut arguments = vec!["cover", "philosophers.net", "--json", "--no-cache"];
    arguments.extend(more);
    ALL.iter().for_each(|one| arguments.extend(["--criterion", one]));
    json(&watershed(folder, &arguments))
}

#[test]
fn every_criterion_of_the_philosophers() {
    let folder = folder(&[("philosophers.net", PHILOSOPHERS)]);
    let found = criteria(&cover(folder.path(), &[]));
    let expected = [
        row("transitions", 2, 2, 0),
        // PP PD DP DD.
        row("sequences:2", 6, 6, 0),
        // All but PPP and DDD.
        row("sequences:3", 12, 12, 2),
        // {P} {D} {P,P} {P,D} {D,D}.
        row("traces:2:1", 5, 5, 0),
        // After {P} come P, D, PD, DD; after {P,P} D, DD; after {D} P, PP, D, PD; after {P,D} P, D, PD; after {D,D} P, PP.
        row("traces:2:2", 5 + 15, 5 + 15, 10),
        row("states", 3, 3, 0),
        // 0-1, 1-0, 1-2, 2-1 of nine.
        row("state-transitions", 4, 4, 5),
        // 3 states, 4 pairs, 010 012 101 121 210 212; of 3 + 9 + 27.
        row("state-paths:3", 3 + 4 + 6, 3 + 4 + 6, 5 + 21),
        row("arcs", 8, 8, 0),
        row("tokens", 8, 8, 0),
    ];
    assert_eq!(found, expected);
}

#[test]
fn the_run_of_the_paper_covers_a_part() {
    let folder = folder(&[("philosophers.net", PHILOSOPHERS), ("table1.txt", TABLE_1)]);
    let value = cover(folder.path(), &["--example", "table1.txt"]);
    let found = criteria(&value);
    let expected = [
        row("transitions", 2, 2, 0),
        // P, D; PD, DP, PP.
        row("sequences:2", 6, 5, 0),
        // And PDP, DPP.
        row("sequences:3", 12, 7, 2),
        // One transition at a time.
        row("traces:2:1", 5, 2, 0),
        row("traces:2:2", 20, 5, 10),
        row("states", 3, 3, 0),
        // 0-1, 1-0, 1-2.
        row("state-transitions", 4, 3, 5),
        // 3 states, these pairs, 010 101 012.
        row("state-paths:3", 13, 9, 26),
        row("arcs", 8, 8, 0),
        row("tokens", 8, 8, 0),
    ];
    assert_eq!(found, expected);
    let missing = value["criteria"][6]["missing"][0].as_str().unwrap();
    assert!(missing.starts_with("TWO_EAT → ONE_EATS: from"), "{missing}");
    // What is suggested is a run, and covers it.
    let labels = missing.split_once(", ").unwrap().1.replace("; ", "\n");
    std::fs::write(folder.path().join("more.txt"), labels).unwrap();
    let both = cover(folder.path(), &["--example", "table1.txt", "--example", "more.txt"]);
    assert_eq!(criteria(&both)[6], row("state-transitions", 4, 4, 5));
}

#[test]
fn the_run_of_the_paper_is_replayed() {
    let folder = folder(&[("philosophers.net", PHILOSOPHERS), ("table1.txt", TABLE_1)]);
    let replayed = watershed(folder.path(), &["simulate", "philosophers.net", "--guide", "table1.txt"]);
    assert_eq!(code(&replayed), 0);
    let text = out(&replayed);
    for marking in [
        "Thinking = {2, 3, 4, 5}, Chopstick = {3, 4, 5}, Eating = {(1, 1, 2)}",
        "Thinking = {1, 3, 4, 5}, Chopstick = {1, 4, 5}, Eating = {(2, 2, 3)}",
        "Thinking = {1, 3, 5}, Chopstick = {1}, Eating = {(2, 2, 3), (4, 4, 5)}",
    ] {
        assert!(text.contains(marking), "{text}");
    }
    std::fs::write(folder.path().join("wrong.txt"), "PICKUP !1 !1 !2\nPICKUP !2 !2 !3\n").unwrap();
    let wrong = watershed(folder.path(), &["simulate", "philosophers.net", "--guide", "wrong.txt"]);
    assert_eq!(code(&wrong), 1);
    assert!(err(&wrong).contains("after 1 step, `PICKUP !2 !2 !3` is not possible"), "{}", err(&wrong));
    assert!(err(&wrong).contains("PICKUP !3 !3 !4"));
}

#[test]
fn a_simulation_stops_when_criteria_are_met() {
    let folder = folder(&[("philosophers.net", PHILOSOPHERS)]);
    let until = ["--until", "transitions", "--until", "states", "--until", "sequences:2", "--steps", "10000"];
    let run = |seed: &str| {
        let mut arguments = vec!["simulate", "philosophers.net", "--json", "--seed", seed];
        arguments.extend(until);
        json(&watershed(folder.path(), &arguments))
    };
    let (one, again, other) = (run("1"), run("1"), run("2"));
    assert_eq!(one, again);
    assert_ne!(one["steps"], other["steps"]);
    for value in [&one, &other] {
        let steps = value["steps"].as_array().unwrap().len() as u64;
        assert_eq!(value["ended"], "all that is feasible was covered");
        let met: Vec<u64> = value["criteria"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["met_after"].as_u64().unwrap())
            .collect();
        // It stops with the last of them.
        assert_eq!(met.iter().max(), Some(&steps));
    }
    let together = ["simulate", "philosophers.net", "--concurrent", "2", "--steps", "200", "-o", "run.txt"];
    assert_eq!(code(&watershed(folder.path(), &together)), 0);
    let written = std::fs::read_to_string(folder.path().join("run.txt")).unwrap();
    assert!(written.lines().count() == 200 && written.contains(" | "), "{written}");
}

#[test]
fn guards_have_outcomes_and_conditions() {
    let folder = folder(&[("philosophers.net", PHILOSOPHERS)]);
    let arguments =
        ["cover", "philosophers.net", "--json", "--conditions", "--criterion", "transitions", "--no-cache"];
    let value = json(&watershed(folder.path(), &arguments));
    assert_eq!((&value["decisions"]["total"], &value["decisions"]["covered"]), (&1.into(), &1.into()));
    let names: Vec<(String, u64, u64, u64)> = criteria(&value);
    // (ph == ch1) and (ch2 == next (ph)): both are true and false, and each decides alone.
    assert_eq!(names[1..], [row("conditions", 2, 2, 0), row("MC/DC", 2, 2, 0)]);
}

#[test]
fn every_command_takes_nets() {
    let folder = folder(&[("philosophers.net", PHILOSOPHERS)]);
    let run = |arguments: &[&str]| watershed(folder.path(), arguments);
    let explored = json(&run(&["explore", "philosophers.net", "--json", "-o", "p.aut"]));
    assert_eq!((&explored["states"], &explored["transitions"]), (&11.into(), &30.into()));
    // 5 single steps and 5 pairs from the start; 5 × (1 Putdown, 2 Pickups, 2 of both); 5 × (2 Putdowns, both).
    let together = json(&run(&["explore", "philosophers.net", "--json", "--concurrent", "2"]));
    assert_eq!((&together["states"], &together["transitions"]), (&11.into(), &(10 + 25 + 15).into()));
    assert_eq!(code(&run(&["check", "philosophers.net", "--deadlock"])), 0);
    let explained = json(&run(&["explain", "philosophers.net", "--never", "PUTDOWN !2 !2 !3", "--json"]));
    assert_eq!(explained["counterexample"][0], "PICKUP !2 !2 !3");
    assert_eq!(explained["source"][0]["file"], "philosophers.net");
    assert_eq!(code(&run(&["compare", "philosophers.net", "p.aut", "--by", "strong"])), 0);
    // Written without values, it does the same.
    let exported =
        run(&["net", "philosophers.net", "--pnml", "p.pnml", "--promela", "p.pml", "--svg", "p.svg", "-q"]);
    assert_eq!(code(&exported), 0, "{}", err(&exported));
    let explored = json(&run(&["explore", "p.pnml", "--json"]));
    assert_eq!((&explored["states"], &explored["transitions"]), (&11.into(), &30.into()));
    assert!(std::fs::read_to_string(folder.path().join("p.pml")).unwrap().contains("active proctype"));
    let net = json(&run(&["net", "philosophers.net", "--json"]));
    assert_eq!(net["behaviour"]["home_states"], 11);
    assert_eq!(net["behaviour"]["live"], true);
    let root = run(&["explore", "philosophers.net", "--root", "NOBODY"]);
    assert!(code(&root) == 2 && err(&root).contains("ALL_THINK"), "{}", err(&root));
}

#[test]
fn an_unbounded_net_says_so() {
    let text = "net GROWS is
   place Clock
   place Heap
   transition Tick take Clock put Clock, Heap end transition
   marking START is Clock end marking
end net";
    let folder = folder(&[("grows.net", text)]);
    let told = watershed(folder.path(), &["net", "grows.net", "--max-states", "1000"]);
    assert_eq!(code(&told), 0, "{}", err(&told));
    assert!(out(&told).contains("Unbounded: infinitely many markings"), "{}", out(&told));
    assert!(out(&told).contains("Heap grows for ever: after TICK: repeat TICK"), "{}", out(&told));
    let explored = watershed(folder.path(), &["explore", "grows.net", "--max-states", "1000"]);
    assert_eq!(code(&explored), 3);
}

const NETWORK: &str = "par B in \"a.aut\" || \"b.aut\" end par";
const A: &str = "des (0, 2, 2)\n(0, A, 1)\n(1, B, 0)\n";
const B: &str = "des (0, 2, 2)\n(0, B, 1)\n(1, C, 0)\n";

#[test]
fn networks_are_checked_and_explained() {
    let folder = folder(&[("n.exp", NETWORK), ("a.aut", A), ("b.aut", B)]);
    let run = |arguments: &[&str]| watershed(folder.path(), arguments);
    let explored = json(&run(&["explore", "n.exp", "--json"]));
    assert_eq!((&explored["states"], &explored["transitions"]), (&4.into(), &5.into()));
    let checked = run(&["check", "n.exp", "--never", "C"]);
    assert_eq!(code(&checked), 1);
    // Which system moved: the first, both, the second.
    assert!(out(&checked).contains("1  A  a.aut n.exp:1"), "{}", out(&checked));
    assert!(out(&checked).contains("a.aut n.exp:1, b.aut n.exp:1"), "{}", out(&checked));
    let explained = json(&run(&["explain", "n.exp", "--never", "C", "--json"]));
    assert_eq!(explained["counterexample"], serde_json::json!(["A", "B", "C"]));
    let wrong = run(&["check", "n.exp", "--never", "C", "--root", "MAIN"]);
    assert!(code(&wrong) == 2 && err(&wrong).contains("has no processes to start"), "{}", err(&wrong));
    std::fs::write(folder.path().join("n.exp"), "par B in \"a.aut\" || \"c.aut\" end par").unwrap();
    let missing = run(&["explore", "n.exp"]);
    assert!(code(&missing) == 2 && err(&missing).contains("n.exp:1:21"), "{}", err(&missing));
}

#[test]
fn runs_of_concurrent_steps_are_measured() {
    let folder =
        folder(&[("philosophers.net", PHILOSOPHERS), ("both.txt", "PICKUP !1 !1 !2 | PICKUP !3 !3 !4\n")]);
    let arguments = ["cover", "philosophers.net", "--example", "both.txt", "--no-cache", "--json"];
    let value = json(&watershed(
        folder.path(),
        &[&arguments[..], &["--criterion", "traces:2:1", "--criterion", "sequences:2"]].concat(),
    ));
    // The set, and one after the other.
    assert_eq!(criteria(&value), [row("traces:2:1", 5, 1, 0), row("sequences:2", 6, 2, 0)]);
    assert_eq!(value["actions"]["covered"], 1);
    // What can be followed of a wrong run counts, and the answer is no.
    std::fs::write(folder.path().join("wrong.txt"), "PICKUP !1 !1 !2\nPICKUP !1 !1 !2\n").unwrap();
    let wrong = watershed(
        folder.path(),
        &["cover", "philosophers.net", "--example", "wrong.txt", "--no-cache", "--json"],
    );
    assert_eq!(code(&wrong), 1);
    assert_eq!(criteria(&json(&wrong))[0], row("transitions", 2, 1, 0));
}

#[test]
fn a_criterion_that_is_not_met_is_an_answer() {
    let folder = folder(&[("philosophers.net", PHILOSOPHERS)]);
    let run = |more: &[&str]| watershed(folder.path(), &[&["simulate", "philosophers.net"], more].concat());
    assert_eq!(code(&run(&["--until", "transitions", "--steps", "1"])), 1);
    let apart = run(&["--until", "traces:2:1"]);
    assert!(code(&apart) == 2 && err(&apart).contains("--concurrent 2"), "{}", err(&apart));
}

#[test]
fn what_is_left_out_and_what_is_called_the_same_is_told() {
    let text = "net SAME is
   place A
   place B
   net ONE is transition t take A put A end transition end net
   net TWO is transition t take 3 * B put A, B end transition end net
   marking START is A end marking
end net";
    let folder = folder(&[("same.net", text)]);
    let told = watershed(folder.path(), &["net", "same.net"]);
    assert!(out(&told).contains("left out: B, t."), "{}", out(&told));
    assert!(err(&told).contains("two transitions have the labels of `T`"), "{}", err(&told));
    let exported = watershed(folder.path(), &["net", "same.net", "--pnml", "-"]);
    assert!(out(&exported).trim_end().ends_with("</pnml>"), "{}", out(&exported));
}
