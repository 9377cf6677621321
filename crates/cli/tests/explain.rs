//! `watershed explain` on whole files: the gallery of typical bugs, the sentences of edge cases, every output.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde::Deserialize;
use serde_json::Value;

fn watershed(arguments: &[&str]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    Command::new(env!("CARGO_BIN_EXE_watershed"))
        .current_dir(root)
        .args(arguments)
        .output()
        .expect("watershed starts")
}

fn text(output: &Output) -> (String, String, Option<i32>) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr), output.status.code())
}

fn json(arguments: &[&str]) -> Value {
    let output = watershed(&[&["explain", "--json"], arguments].concat());
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{arguments:?}: {}", String::from_utf8_lossy(&output.stderr)))
}

/// A file in a folder of its own.
fn file(folder: &tempfile::TempDir, name: &str, text: &str) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    path
}

#[derive(Deserialize)]
struct Gallery {
    bugs: Vec<Bug>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Bug {
    name: String,
    method: String,
    full: [u64; 2],
    counterexample_lts: [u64; 2],
    tags: [u64; 3],
    neighbourhoods: [u64; 4],
    choices: usize,
    counterexample: usize,
    abstracted: usize,
    shape: Option<String>,
}

#[test]
fn typical_bugs_are_recognised() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/bugs");
    let gallery: Gallery =
        toml::from_str(&std::fs::read_to_string(folder.join("explanations.toml")).unwrap()).unwrap();
    assert!(gallery.bugs.len() >= 11);
    for bug in gallery.bugs {
        let (model, property) =
            (format!("models/bugs/{}.lnt", bug.name), format!("models/bugs/{}.mcl", bug.name));
        let found = json(&[&model, &property, "--method", &bug.method]);
        let numbers = |key: &str, keys: &[&str]| -> Vec<u64> {
            keys.iter().map(|inner| found[key][inner].as_u64().unwrap()).collect()
        };
        let size = ["states", "transitions"];
        assert_eq!(numbers("full", &size), bug.full, "{bug:?}");
        assert_eq!(numbers("counterexample_lts", &size), bug.counterexample_lts, "{bug:?}");
        assert_eq!(numbers("tags", &["correct", "incorrect", "neutral"]), bug.tags, "{bug:?}");
        assert_eq!(numbers("neighbourhoods", &["cn", "in", "ci", "cin"]), bug.neighbourhoods, "{bug:?}");
        let length = |key: &str| found[key].as_array().unwrap().len();
        assert_eq!(length("choices"), bug.choices, "{bug:?}");
        assert_eq!(length("counterexample"), bug.counterexample, "{bug:?}");
        assert_eq!(length("abstracted"), bug.abstracted, "{bug:?}");
        assert_eq!(found["shape"]["name"].as_str(), bug.shape.as_deref(), "{bug:?}");
        assert_eq!(found["verdict"], false);
    }
}

#[test]
fn the_text_reads_from_top_to_bottom() {
    let (out, _, code) =
        text(&watershed(&["explain", "models/bugs/frontiers.lnt", "models/bugs/frontiers.mcl"]));
    assert_eq!(code, Some(1));
    // The time is different every time.
    let mut lines: Vec<&str> = out.lines().collect();
    let (size, _) = lines[1].split_once(';').unwrap();
    lines[1] = size;
    insta::assert_snapshot!(lines.join("\n"));
}

/// A scoreboard whose values are too long for a line.
const SCOREBOARD: &str = "module scoreboard is
type player is range 1 .. 2 of nat with == end type
type event is goal (who : player, minute : nat), foul (who : player, minute : nat) with ==, < end type
type events is sorted set of event with insert end type
type scores is array [1 .. 4] of nat end type
channel match is (player) end channel
process MAIN [GOAL, FOUL : match, OVERFLOW : none] is
   var p : player, minute : nat, all : events, score : scores in
      all := {};
      score := scores (10, 20, 30, 40);
      minute := 100;
      while minute <= 103 loop
         select
            GOAL (?p);
            all := insert (goal (p, minute), all);
            score[nat (p)] := score[nat (p)] + 1
         []
            FOUL (?p); all := insert (foul (p, minute), all)
         end select;
         minute := minute + 1
      end loop;
      use all, score;
      OVERFLOW;
      stop
   end var
end process
end module
";

/// Who reads the first screen only has seen the verdict, the counterexample and the suspects.
#[test]
fn the_first_screen_has_what_matters() {
    let folder = tempfile::tempdir().unwrap();
    let model = file(&folder, "scoreboard.lnt", SCOREBOARD);
    let path = |path: &Path| path.to_str().unwrap().to_owned();
    let mut cases = vec![vec![path(&model), "--never".into(), "OVERFLOW".into()]];
    let bugs = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/bugs")).unwrap();
    for model in bugs.map(|entry| entry.unwrap().path()) {
        if model.extension().is_some_and(|extension| extension == "lnt") {
            cases.push(vec![path(&model), path(&model.with_extension("mcl"))]);
        }
    }
    assert!(cases.len() >= 10);
    for case in cases {
        let arguments = std::iter::once("explain").chain(case.iter().map(String::as_str));
        let (out, errors, code) = text(&watershed(&arguments.collect::<Vec<_>>()));
        assert_eq!(code, Some(1), "{out}{errors}");
        let begins = |text: &str| out.lines().position(|line| line.starts_with(text));
        let (verdict, run, suspects) = (begins("violated"), begins("Counterexample"), begins("Suspects"));
        assert!(verdict == Some(0) && run < suspects && run.is_some(), "{case:?}\n{out}");
        let end = out
            .lines()
            .skip(suspects.unwrap())
            .position(str::is_empty)
            .map(|length| suspects.unwrap() + length);
        assert!(end.unwrap_or(out.lines().count()) <= 50, "{case:?}\n{out}");
        for line in out.lines().take(50) {
            assert!(line.chars().count() <= 80, "{case:?}\n{line}");
        }
    }
}

#[test]
fn edge_cases_are_told_in_sentences() {
    let folder = tempfile::tempdir().unwrap();
    let path = |path: &PathBuf| path.to_str().unwrap().to_owned();
    let fork = path(&file(&folder, "fork.aut", "des (0, 2, 3)\n(0, A, 1)\n(0, B, 2)\n"));
    let stuck = path(&file(&folder, "stuck.aut", "des (0, 0, 1)\n"));
    let ring = path(&file(&folder, "ring.aut", "des (0, 3, 2)\n(0, A, 1)\n(1, B, 0)\n(1, C, 1)\n"));
    let open = path(&file(&folder, "open.mcl", "[ true* ] < \"A\" > true\n"));
    let cases: [(&[&str], i32, &str); 9] = [
        // Holds.
        (&[&fork, "--never", "C"], 0, "It holds, so there is nothing"),
        // Always false.
        (&[&fork, "--inevitable", "C"], 1, "Every run violates"),
        // Decided at once.
        (&[&fork, "--never", "A"], 1, "A step from the initial state can already decide"),
        // Violated at once: there is nothing to choose.
        (&[&stuck, "--deadlock"], 1, "The initial state itself violates"),
        // It can always still be avoided.
        (&[&ring, &open], 1, "here it can be lost"),
        // A label that is not there.
        (&[&fork, "--never", "\"AA\""], 0, "never occurs in the system"),
        // Methods for something else.
        (&[&fork, "--never", "A", "--method", "prefix-suffix"], 2, "not for safety"),
        (&[&fork, "--inevitable", "A", "--method", "counterexample-lts"], 2, "may be endless"),
        // No set of runs.
        (&[&fork, "--reachable", "C"], 1, "No single run violates it"),
    ];
    for (arguments, expected, sentence) in cases {
        let (out, errors, code) = text(&watershed(&[&["explain"], arguments].concat()));
        assert_eq!(code, Some(expected), "{arguments:?}\n{out}{errors}");
        assert!(format!("{out}{errors}").contains(sentence), "{arguments:?}\n{out}{errors}");
    }
}

/// A run can stay safe for ever beside a deadlock, so not every run violates the property.
#[test]
fn what_can_stay_safe_for_ever_is_not_called_lost() {
    let folder = tempfile::tempdir().unwrap();
    let system = "des (0, 5, 4)\n(0, WORK, 1)\n(1, REST, 0)\n(0, CRASH, 2)\n(2, HALT, 3)\n(2, RETRY, 2)\n";
    let system = file(&folder, "server.aut", system);
    let arguments = [system.to_str().unwrap(), "--deadlock", "--all"];
    let (out, _, code) = text(&watershed(&[&["explain"], &arguments[..]].concat()));
    assert_eq!(code, Some(1), "{out}");
    assert!(!out.contains("Every run") && !out.contains("all wrong"), "{out}");
    assert!(out.contains("0 correct, 1 incorrect, 4 neutral"), "{out}");
    assert!(out.contains("2 parts of the system can be stayed in for ever without the violation"), "{out}");
    // As CLEAR tells it, with what that means.
    let clear = [&["explain"], &arguments[..], &["--method", "counterexample-lts"]].concat();
    let (out, _, _) = text(&watershed(&clear));
    assert!(out.contains("0 correct, 5 incorrect, 0 neutral"), "{out}");
    assert!(out.contains("No choice leads to where the property is safe for good."), "{out}");
    assert!(out.contains("`--method exact` is exact about this"), "{out}");
    assert!(!out.contains("wrong for good") && !out.contains("Every run"), "{out}");
}

#[test]
fn counterexamples_can_be_chosen() {
    let model = ["models/bugs/flower.lnt", "models/bugs/flower.mcl"];
    let run = |more: &[&str]| -> Vec<String> {
        let found = json(&[&model[..], more].concat());
        found["counterexample"]
            .as_array()
            .unwrap()
            .iter()
            .map(|label| label.as_str().unwrap().into())
            .collect()
    };
    assert_eq!(run(&[]), ["DEAL", "PEEK", "WIN"]);
    // One round is played first: in three orders.
    assert_eq!(run(&["--nth", "2"]).len(), 7);
    assert_eq!(run(&["--nth", "4"]).len(), 7);
    assert_eq!(run(&["--nth", "5"]).len(), 11);
    assert_eq!(run(&["--random", "3"]), run(&["--random", "3"]));
    assert_eq!(run(&["--through", "SCORE", "--through", "SHUFFLE"]).len(), 7);
    let folder = tempfile::tempdir().unwrap();
    let trace = file(&folder, "trace.txt", "DEAL\nSHUFFLE\nPLAY\nSCORE\nDEAL\nPEEK\nWIN\n");
    assert_eq!(run(&["--counterexample", trace.to_str().unwrap()]).len(), 7);
    let wrong = file(&folder, "wrong.txt", "DEAL\nQUIT\n");
    let (_, errors, code) = text(&watershed(
        &[&["explain"], &model[..], &["--counterexample", wrong.to_str().unwrap()]].concat(),
    ));
    assert_eq!(code, Some(2));
    assert!(errors.contains("after step 2 the property can no longer be violated"), "{errors}");
    // A lasso is read as it was saved.
    let lasso = file(&folder, "lasso.aut", "des (0, 3, 3)\n(0, TIMEOUT, 1)\n(1, RACK1, 2)\n(2, LOSS, 0)\n");
    let found = json(&[
        "models/bugs/silent_loop.lnt",
        "models/bugs/silent_loop.mcl",
        "--counterexample",
        lasso.to_str().unwrap(),
    ]);
    assert_eq!(found["lasso"], 0);
}

#[test]
fn kinds_and_patterns_narrow_the_view() {
    let model = ["models/bugs/frontiers.lnt", "models/bugs/frontiers.mcl"];
    let labels = |more: &[&str], key: &str| json(&[&model[..], more].concat())[key].as_array().unwrap().len();
    let all = labels(&[], "abstracted");
    let first = labels(&["--kind", "cn"], "abstracted");
    assert!(0 < first && first < all);
    assert!(labels(&["--kind", "cin"], "nearest") > labels(&["--kind", "cn"], "nearest"));
    assert!(labels(&["--through", "WARM"], "nearest") > labels(&[], "nearest"));
}

#[test]
fn every_output_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let [html, autx, dot, mermaid, svg, neo4j] =
        ["r.html", "r.autx", "r.dot", "r.mmd", "r.svg", "neo"].map(path);
    let (_, errors, code) = text(&watershed(&[
        "explain",
        "models/bugs/agency.lnt",
        "models/bugs/agency.mcl",
        "--html",
        &html,
        "--autx",
        &autx,
        "--dot",
        &dot,
        "--mermaid",
        &mermaid,
        "--svg",
        &svg,
        "--neo4j",
        &neo4j,
    ]));
    assert_eq!((code, errors.as_str()), (Some(1), ""));
    let read = |path: &str| std::fs::read_to_string(path).unwrap();
    let html = read(&html);
    assert!(
        html.contains("Wrong for good after")
            && html.contains("select <mark>TRANSPORT</mark> [] MEAL end select")
    );
    assert!(
        !html.contains("http://")
            || html.matches("http://").count() == html.matches("http://www.w3.org").count()
    );
    let autx = read(&autx);
    assert!(autx.starts_with("des (0, 12, 12)\n"), "{autx}");
    assert!(autx.contains(":N:GR, \"TRANSPORT\":GREEN, -1)"), "{autx}");
    assert!(read(&dot).contains("color=forestgreen"));
    let mermaid = read(&mermaid);
    assert!(
        mermaid.starts_with("sequenceDiagram\n  participant p0 as AGENCY\n  participant p1 as CITIZEN\n")
    );
    assert!(mermaid.contains("p0->>p1: 2. REFUSE (incorrect)"), "{mermaid}");
    assert!(read(&svg).contains("REFUSE</text>"));
    let states = read(&format!("{neo4j}/states.csv"));
    assert!(
        states.contains("0,0,,STATE;INITIALSTATE\n") && states.contains("sink,-1,,STATE;SINKSTATE"),
        "{states}"
    );
    assert!(read(&format!("{neo4j}/transitions.csv")).contains(",\"REFUSE\",incorrect,"));
    let cypher = read(&format!("{neo4j}/load.cypher"));
    assert!(
        cypher.contains("CREATE (:STATE:NEIGHBOURHOOD {number: ") && cypher.contains("{action: 'REFUSE', ")
    );
}

#[test]
fn several_properties_are_told_apart() {
    let model = ["models/producer_consumer/producer_consumer.lnt", "models/producer_consumer/properties.mcl"];
    let found = json(&[&model[..], &["--property", "no_error"]].concat());
    assert_eq!(found["property"], "no_error");
    assert!(found["source"].as_array().unwrap().iter().any(|one| one["tag"] == "incorrect"));
    let (_, errors, code) =
        text(&watershed(&[&["explain"], &model[..], &["--property", "no_eror"]].concat()));
    assert_eq!(code, Some(2));
    assert!(errors.contains("did you mean no_error?"), "{errors}");
}

const VENDING: &str = "des (0, 4, 3)\n(0, COIN, 1)\n(1, TEA, 0)\n(1, KEEP, 2)\n(2, i, 2)\n";

#[test]
fn the_first_surprise_is_explained() {
    let folder = tempfile::tempdir().unwrap();
    let system = file(&folder, "machine.aut", VENDING);
    let properties = "property KNOWN is NEVER (\"TEA\") expected FALSE end property\n\
                      property LATER is REACHABLE (\"MILK\") end property\n\
                      property WRONG is NEVER (\"COIN\") or NEVER (\"KEEP\") expected FALSE end property\n\
                      property ODD is REACHABLE (\"TEA\") expected FALSE end property\n\
                      property HONEST is NEVER (\"KEEP\") end property\n\
                      property CALM is LIVELOCK_FREE end property\n";
    let mcl = file(&folder, "all.mcl", properties);
    let both = [system.to_str().unwrap(), mcl.to_str().unwrap()];
    let (out, errors, code) = text(&watershed(&[&["explain"], &both[..]].concat()));
    assert_eq!(code, Some(1), "{out}{errors}");
    assert!(out.starts_with("violated  HONEST"), "{out}");
    for row in [
        "6 properties, 4 not as expected:",
        "  violated  KNOWN\n",
        "  violated  LATER  (expected to hold)\n",
        "  violated  WRONG\n",
        "  holds     ODD  (expected to be violated)\n",
        "  violated  HONEST  (expected to hold)  ← explained here\n",
        "  violated  CALM  (expected to hold)\n",
    ] {
        assert!(out.contains(row), "{row}\n{out}");
    }
    // Nothing else is explained in place of a surprise that no run shows: there is a part of the system that does.
    let some = file(&folder, "some.mcl", properties.split("property ODD").next().unwrap());
    let (out, errors, code) = text(&watershed(&["explain", both[0], some.to_str().unwrap()]));
    assert_eq!(code, Some(1), "{out}{errors}");
    assert!(out.starts_with("violated  LATER"), "{out}");
    assert!(out.contains("No single run violates it. This part of the system does: 3 states"), "{out}");
    assert!(out.contains("      start  COIN"), "{out}");
    // Where no verdict is a surprise, what is violated is explained.
    let known = file(&folder, "known.mcl", properties.split("property LATER").next().unwrap());
    let (out, _, code) = text(&watershed(&["explain", both[0], known.to_str().unwrap()]));
    assert!(code == Some(1) && out.starts_with("violated  KNOWN"), "{out}");
}

#[test]
fn values_are_followed() {
    let folder = tempfile::tempdir().unwrap();
    let labels = ["PUT !1", "PUT !2", "GET !1", "GET !2"];
    let steps = [(0, 0, 1), (0, 1, 2), (1, 2, 0), (2, 3, 0), (2, 2, 3)];
    let lines = steps.map(|(from, label, to)| format!("({from}, \"{}\", {to})\n", labels[label]));
    let system = file(&folder, "buffer.aut", &format!("des (0, 5, 4)\n{}", lines.concat()));
    let mcl = "[ true* . { PUT ?x:nat } . { GET ?y:nat where y <> x } ] false\n";
    let mcl = file(&folder, "same.mcl", mcl);
    let found = json(&[system.to_str().unwrap(), mcl.to_str().unwrap()]);
    assert_eq!(found["counterexample"], serde_json::json!(["PUT !2", "GET !1"]));
    assert_eq!(found["neighbourhoods"]["in"], 1);
    assert_eq!(found["choices"][0]["incorrect"][0]["labels"], serde_json::json!(["GET !1"]));
}

#[test]
fn a_livelock_is_explained() {
    let folder = tempfile::tempdir().unwrap();
    let system = file(&folder, "machine.aut", VENDING);
    let (out, errors, code) = text(&watershed(&["explain", system.to_str().unwrap(), "--livelock"]));
    assert_eq!(code, Some(1), "{out}{errors}");
    assert!(
        out.contains("wrong for good after:\n    KEEP") && out.contains("from here on, for ever:"),
        "{out}"
    );
    assert!(out.contains("The run goes round for ever among 1 state.\n  ways in:\n    KEEP"), "{out}");
    assert!(out.contains("There is no way out."), "{out}");
    // With a way out, nothing is decided for good.
    let ring = "des (0, 3, 2)\n(0, GO, 1)\n(1, i, 1)\n(1, STOP, 0)\n";
    let ring = file(&folder, "ring.aut", ring);
    let (out, _, _) = text(&watershed(&["explain", ring.to_str().unwrap(), "--livelock"]));
    assert!(out.contains("What is wrong is what it repeats for ever"), "{out}");
    assert!(out.contains("ways out:\n    STOP"), "{out}");
}

#[test]
fn a_kind_filters_choices_and_steps() {
    let model = ["models/bugs/frontiers.lnt", "models/bugs/frontiers.mcl"];
    for kind in ["cn", "in", "ci", "cin"] {
        let found = json(&[&model[..], &["--kind", kind]].concat());
        let choices = found["choices"].as_array().unwrap();
        assert!(choices.iter().all(|choice| choice["kinds"] == serde_json::json!([kind])), "{choices:?}");
        let shown: u64 = choices.iter().map(|choice| choice["neighbourhoods"].as_u64().unwrap()).sum();
        assert_eq!(found["neighbourhoods"][kind], shown);
        let steps = found["steps"].as_array().unwrap();
        assert!(steps.iter().all(|step| step["leaves"].is_null() || step["leaves"] == kind));
        assert_eq!(found["shape"]["name"], "frontiers");
    }
}

/// A run that ends is shorter than one that goes round, though that could begin at once.
#[test]
fn the_shortest_counterexample_may_end() {
    let folder = tempfile::tempdir().unwrap();
    let system = file(&folder, "m.aut", "des (0, 3, 3)\n(0, B, 1)\n(0, B, 2)\n(1, i, 0)\n");
    let system = system.to_str().unwrap();
    let labels = |more: &[&str]| {
        let found = json(&[&[system, "--inevitable", "A"], more].concat());
        (found["counterexample"].clone(), found["lasso"].clone())
    };
    assert_eq!(labels(&[]).0, serde_json::json!(["B"]));
    assert_eq!(labels(&["--nth", "1"]).0, serde_json::json!(["B"]));
    let (second, _) = labels(&["--nth", "2"]);
    assert_eq!(second, serde_json::json!(["B", "i"]));
    // Of a system without loops there are only so many.
    let line = file(&folder, "line.aut", "des (0, 1, 2)\n(0, B, 1)\n");
    let (_, errors, code) =
        text(&watershed(&["explain", line.to_str().unwrap(), "--never", "B", "--nth", "2"]));
    assert!(code == Some(2) && errors.contains("only 1 counterexample was found"), "{errors}");
}

/// Lowe's attack on the Needham-Schroeder protocol: the step that decides it, and the page of the book that shows it.
#[test]
fn an_attack_on_a_protocol_is_explained() {
    let folder = "models/needham_schroeder";
    let (model, property) =
        (format!("{folder}/needham_schroeder.maude"), format!("{folder}/authentication.mcl"));
    let root = "in NEEDHAM-SCHROEDER : init";
    let arguments: [&str; 8] =
        [&model, &property, "--property", "AUTHENTIC", "--root", root, "--labels", "values"];
    let found = json(&arguments);
    let attack =
        ["begin !a !i", "answer-fake !ni(a) !b !a", "finish !a !nr(b) !i", "accept-fake !b !a !ni(a)"];
    assert_eq!(found["counterexample"], serde_json::json!(attack));
    let choices = found["choices"].as_array().unwrap();
    let last = choices.iter().find(|one| one["to_violation"][0] == 2).unwrap();
    assert_eq!(last["incorrect"][0]["labels"], serde_json::json!(["finish !a !nr(b) !i"]));

    let (out, errors, code) = text(&watershed(&[&["explain"], &arguments[..]].concat()));
    assert_eq!(code, Some(1), "{errors}");
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/maude.md");
    let page = std::fs::read_to_string(book).unwrap();
    let shown = page.split("$ watershed explain ").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    for line in shown.lines().skip(1).filter(|line| *line != "…") {
        assert!(out.lines().any(|other| other == line), "the book shows {line}\n{out}");
    }
    // The repair.
    let repaired = "in NEEDHAM-SCHROEDER-LOWE : initBoth";
    let output = watershed(&["check", &model, &property, "--root", repaired, "--labels", "values"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

/// A buffer that accepts one message too many, and what should hold of it.
const BUFFER: &str = "module buffer is
!nat_sup 9
channel c is (nat) end channel
process BUFFER [PUT, GET : c, OVERFLOW : none] (capacity : nat) is
   var count, x : nat in
      count := 0; x := 0;
      loop
         select
            only if count <= capacity then PUT (?x); count := count + 1 end if
         [] only if count > 0 then GET (x); count := count - 1 end if
         end select;
         if count > capacity then OVERFLOW end if
      end loop
   end var
end process
process SOURCE [PUT : c] is
   var n : nat in
      n := 0;
      loop PUT (n); if n >= 3 then n := 0 else n := n + 1 end if end loop
   end var
end process
process MAIN [PUT, GET : c, OVERFLOW : none] is
   par PUT in SOURCE [PUT] || BUFFER [PUT, GET, OVERFLOW] (2) end par
end process
end module
";

#[test]
fn suspects_and_values_lead_to_the_planted_line() {
    let folder = tempfile::tempdir().unwrap();
    let model = file(&folder, "buffer.lnt", BUFFER);
    let model = model.to_str().unwrap();
    let found = json(&[model, "--never", "OVERFLOW"]);
    let suspects = found["suspects"].as_array().unwrap();
    let planted = suspects.iter().position(|one| one["line"] == 9 && one["kind"] == "decision").unwrap();
    assert!(planted < 3, "{suspects:?}");
    let planted = &suspects[planted];
    assert_eq!((&planted["column"], &planted["end_column"]), (&21.into(), &38.into()));
    assert_eq!(planted["construct"], "count <= capacity");
    assert!(
        suspects[0]["score"] == 1.0 && suspects.iter().all(|one| !one["reason"].as_str().unwrap().is_empty())
    );
    // Steps say who takes part and which values change.
    let changes = found["steps"][0]["changes"].as_array().unwrap();
    let count = changes.iter().find(|one| one["name"] == "BUFFER (2).count").unwrap();
    assert_eq!((&count["before"], &count["after"]), (&"0".into(), &"1".into()));
    assert!(
        found["steps"][0]["actions"].as_array().unwrap().iter().any(|one| one["instance"] == "BUFFER (2)")
    );
    // What separates the states in which a message is one too many.
    let separated = found["choices"][0]["separated"][0].as_str().unwrap();
    assert_eq!(separated, "PUT is wrong for good exactly where BUFFER (2).count = 2");
    // A part of the system is enough for the counterexample, and what it can't know it does not say.
    let (out, errors, code) =
        text(&watershed(&["explain", model, "--never", "OVERFLOW", "--max-states", "10"]));
    assert_eq!(code, Some(1), "{out}{errors}");
    assert!(out.contains("were explored. The counterexample is one of the whole system"), "{out}");
    assert!(!out.contains("it never happens in any run"), "{out}");
}

#[test]
fn a_deadlock_says_who_waits_for_whom() {
    let locks = "module locks is
channel c is (nat) end channel
process MUTEX [TAKE, GIVE : c] (id : nat) is loop TAKE (id); GIVE (id) end loop end process
process WORKER [TAKE, GIVE : c] (first, second : nat) is
   loop TAKE (first); TAKE (second); GIVE (second); GIVE (first) end loop
end process
process MAIN [TAKE, GIVE : c] is
   par TAKE, GIVE in
      par WORKER [TAKE, GIVE] (1, 2) || WORKER [TAKE, GIVE] (2, 1) end par
   || par MUTEX [TAKE, GIVE] (1) || MUTEX [TAKE, GIVE] (2) end par
   end par
end process
end module
";
    let folder = tempfile::tempdir().unwrap();
    let model = file(&folder, "locks.lnt", locks);
    let found = json(&[model.to_str().unwrap(), "--deadlock"]);
    let waiting = found["waiting"].as_array().unwrap();
    let who: Vec<&str> = waiting.iter().map(|one| one["action"]["instance"].as_str().unwrap()).collect();
    assert_eq!(who, ["WORKER (1, 2)", "WORKER (2, 1)", "MUTEX (1)", "MUTEX (2)"]);
    assert_eq!((&waiting[0]["offer"], &waiting[0]["action"]["column"]), (&"TAKE !2".into(), &23.into()));
    assert!(found["waiting_cycle"].as_array().is_some_and(|cycle| cycle.len() >= 2));
}

/// Everybody holds a fork and waits for the next one: who could help is known by the values that are offered.
#[test]
fn who_could_help_is_known_by_values() {
    let model = "models/philosophers/philosophers.lnt";
    let found = json(&[model, "models/philosophers/properties.mcl", "--property", "no_deadlock"]);
    let first = &found["waiting"][0];
    assert_eq!(
        (&first["offer"], &first["partners"]),
        (&"TAKE !0 !1".into(), &serde_json::json!(["FORK (1)"]))
    );
    assert_eq!(found["waiting_cycle"].as_array().map(Vec::len), Some(10));
}

/// A turnstile that forgets to lock itself again, and two tellers that take two locks in opposite orders.
const TURNSTILE: &str = "module TURNSTILE is
type mode is shut, open with \"==\" end type
process MAIN [COIN, PUSH, TURN : none] is
   var m : mode in
      m := shut;
      loop
         case m in
            shut -> COIN; m := open
         |  open ->
               PUSH;
               TURN
         end case
      end loop
   end var
end process
end module
";
const TELLERS: &str = "module TELLERS is
type account is a, b with \"==\" end type
channel lock is (who : nat, which : account) end channel
process LOCK [TAKE, GIVE : lock] (which : account) is
   var who : nat in loop TAKE (?who, which); GIVE (who, which) end loop end var
end process
process TELLER [TAKE, GIVE : lock, MOVE : none] (me : nat, from, to : account) is
   loop TAKE (me, from); TAKE (me, to); MOVE; GIVE (me, to); GIVE (me, from) end loop
end process
process MAIN [TAKE, GIVE : lock, MOVE : none] is
   par TAKE, GIVE in
      par
         TELLER [...] (1, a, b)
      || TELLER [...] (2, b, a)
      end par
   || par LOCK [...] (a) || LOCK [...] (b) end par
   end par
end process
end module
";

#[test]
fn what_ifs_find_where_something_was_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let model = file(&folder, "turnstile.lnt", TURNSTILE);
    let model = model.to_str().unwrap();
    let paid = "property PAID is [ true* . \"TURN\" . (not \"COIN\")* . \"TURN\" ] false end property
                property OPENS is < true* . \"TURN\" > true end property";
    let paid = file(&folder, "turnstile.mcl", paid);
    let arguments = [model, paid.to_str().unwrap()];
    let found = json(&arguments);
    let suspects = found["suspects"].as_array().unwrap();
    // The reset that is missing is named at the place where it is missing.
    let resets = |one: &Value| one["reason"].as_str().unwrap().contains("`m := shut` comes");
    let planted = suspects.iter().position(resets).unwrap();
    assert!(planted < 3, "{suspects:?}");
    assert!((9..=11).contains(&suspects[planted]["line"].as_u64().unwrap()), "{suspects:?}");
    assert!(suspects[0]["reason"].as_str().unwrap().ends_with("all properties hold"), "{suspects:?}");
    // The same input gives the same answer, and clues alone promise nothing.
    assert_eq!(json(&arguments)["suspects"], found["suspects"]);
    let clues = json(&[model, arguments[1], "--no-what-if"]);
    let promises = |one: &Value| one["reason"].as_str().unwrap().contains("hold");
    assert!(!clues["suspects"].as_array().unwrap().iter().any(promises));
    // Suspects fit on a screen.
    let (out, _, _) = text(&watershed(&["explain", arguments[0], arguments[1]]));
    let suspects = out.lines().skip_while(|line| !line.starts_with("Suspects"));
    for line in suspects.take_while(|line| !line.is_empty()).filter(|line| line.starts_with("     ")) {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

#[test]
fn what_ifs_find_locks_in_the_wrong_order() {
    let folder = tempfile::tempdir().unwrap();
    let model = file(&folder, "tellers.lnt", TELLERS);
    let model = model.to_str().unwrap();
    let found = json(&[model, "--deadlock"]);
    let suspects = found["suspects"].as_array().unwrap();
    let planted = suspects.iter().position(|one| [13, 14].contains(&one["line"].as_u64().unwrap())).unwrap();
    assert!(planted < 5, "{suspects:?}");
    assert!(suspects[planted]["reason"].as_str().unwrap().contains("changes the order of arguments"));
}
