//! `watershed conform` as a whole: verdicts, reasons, formats, and what is wrong with inputs.

mod command;

use command::{code, err, folder, out, watershed};
use serde_json::Value;

const TEST_AND_SET: &str = include_str!("../../../models/test_and_set/test_and_set.maude");

/// A lock that counts how often it was taken, modulo 3.
const LOCK: &str = "module lock is
process MAIN [TAKE, GIVE : none] is
   var n : nat, taken : bool in
      n := 0; taken := false;
      loop
         select
            only if not (taken) then TAKE; taken := true; n := (n + 1) mod 3 end if
         [] only if taken then GIVE; taken := false end if
         end select
      end loop
   end var
end process
end module
";

/// A token that goes from one place to the other and back.
const NET: &str = r#"<?xml version="1.0"?><pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml">
<net id="ring" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="p">
<place id="a"><name><text>a</text></name><initialMarking><text>1</text></initialMarking></place>
<place id="b"><name><text>b</text></name></place>
<transition id="go"/><transition id="back"/>
<arc id="1" source="a" target="go"/><arc id="2" source="go" target="b"/>
<arc id="3" source="b" target="back"/><arc id="4" source="back" target="a"/>
</page></net></pnml>"#;

fn json(output: &std::process::Output) -> Value {
    serde_json::from_str(&out(output)).unwrap_or_else(|_| panic!("{}{}", out(output), err(output)))
}

const SEQUENCES: &str = "({(pc[p1]: rs) (pc[p2]: rs) (lock: false)} | {(pc[p1]: cs) (pc[p2]: rs) (lock: true)} | nil) ,
({(pc[p1]: cs) (pc[p2]: rs) (lock: true)} | {(pc[p1]: rs) (pc[p2]: cs) (lock: true)} | nil) ,
({(pc[p1]: cs) (pc[p2]: rs) (lock: true)} | {(pc[p1]: cs) (pc[p2]: rs) (lock: true)} | {(pc[p1]: cs) (pc[p2]: cs) (lock: true)} | nil)
";

#[test]
fn sequences_of_terms_are_judged_by_bounds() {
    let folder = folder(&[("t.maude", TEST_AND_SET), ("s.txt", SEQUENCES)]);
    let run = |more: &[&str]| {
        let mut arguments = vec!["conform", "t.maude", "s.txt", "--module", "TEST-AND-SET", "--json"];
        arguments.extend(more);
        watershed(folder.path(), &arguments)
    };
    let one = run(&[]);
    assert_eq!(code(&one), 1);
    let one = json(&one);
    assert_eq!((&one["sequences"], &one["accepted"], &one["bound"]), (&3.into(), &1.into(), &1.into()));
    let places: Vec<(u64, u64)> = one["failures"]
        .as_array()
        .unwrap()
        .iter()
        .map(|failure| (failure["seq"].as_u64().unwrap(), failure["index"].as_u64().unwrap()))
        .collect();
    // Equal neighbours are one, but keep their places.
    assert_eq!(places, [(1, 0), (2, 1)]);
    assert_eq!(one["failures"][0]["needed"], 2);
    let last = &one["failures"][1];
    assert_eq!(last["differs"][0]["component"], "pc[p2]");
    assert_eq!((&last["differs"][0]["model"], &last["differs"][0]["program"]), (&"rs".into(), &"cs".into()));
    // With two steps between neighbours, only two processes inside are too many.
    let two = json(&run(&["--bound", "2"]));
    assert_eq!((&two["accepted"], &two["failures"][0]["seq"]), (&2.into(), &2.into()));
    let auto = json(&run(&["--bound", "auto"]));
    assert_eq!(auto["needed"][1]["pairs"], 1);
    for file in ["r.html", "r.xml", "r.sarif"] {
        let option = match file {
            "r.html" => "--html",
            "r.xml" => "--junit",
            _ => "--sarif",
        };
        run(&["--bound", "2", option, file]);
        let text = std::fs::read_to_string(folder.path().join(file)).unwrap();
        assert!(text.contains("pc[p2]"), "{text}");
    }
}

#[test]
fn a_guard_that_says_no_is_named() {
    let model = "mod COUNTER is protecting NAT . sort State . op {_} : Nat -> State . var N : Nat .
  crl [up] : {N} => {N + 1} if N < 3 .
  op init : -> State . eq init = {0} .
endm\n";
    let folder = folder(&[("c.maude", model), ("s.txt", "({2} | {3} | {4} | nil)\n({7} | {8} | nil)\n")]);
    let found = json(&watershed(folder.path(), &["conform", "c.maude", "s.txt", "--json"]));
    let failure = &found["failures"][0];
    assert_eq!((failure["seq"].as_u64(), failure["index"].as_u64()), (Some(0), Some(1)));
    assert_eq!(failure["blocked"][0]["source"], "N < 3");
    assert_eq!(
        (failure["blocked"][0]["line"].as_u64(), failure["blocked"][0]["column"].as_u64()),
        (Some(2), Some(32))
    );
    assert_eq!(found["rejected"], 2);
}

#[test]
fn events_are_weak_traces() {
    let events = "{\"event\": \"TAKE\"}\n{\"event\": \"GIVE\"}\n{\"event\": \"GIVE\"}\n";
    let folder = folder(&[("lock.lnt", LOCK), ("e.jsonl", events), ("l.txt", "TAKE\nGIVE\n[]\nGIVE\n")]);
    let found = json(&watershed(folder.path(), &["conform", "lock.lnt", "e.jsonl", "--json"]));
    assert_eq!(
        (found["failures"][0]["index"].as_u64(), found["failures"][0]["line"].as_u64()),
        (Some(2), Some(3))
    );
    assert_eq!(found["failures"][0]["blocked"][0]["source"], "taken");
    let labels = json(&watershed(folder.path(), &["conform", "lock.lnt", "l.txt", "--json"]));
    assert_eq!((&labels["sequences"], &labels["accepted"]), (&2.into(), &1.into()));
    let anywhere = watershed(folder.path(), &["conform", "lock.lnt", "l.txt", "--from-anywhere"]);
    assert_eq!(code(&anywhere), 0, "{}", out(&anywhere));
}

#[test]
fn what_is_not_observed_is_filled_in() {
    // Only the number is seen: 1 then 2 needs GIVE and TAKE; 2 then 1 needs two rounds.
    let states = "{\"count\": 1}\n{\"count\": 2}\n{\"count\": 0}\n";
    let relation = "[state]\nvalues = { \"MAIN.n\" = \"${count}\" }\nunobserved = [\"MAIN.taken\"]\n";
    let folder = folder(&[("lock.lnt", LOCK), ("s.jsonl", states), ("r.toml", relation)]);
    let run = |bound: &str| {
        watershed(
            folder.path(),
            &["conform", "lock.lnt", "s.jsonl", "--map", "r.toml", "--bound", bound, "--json"],
        )
    };
    // After 1 the lock may be free: one step leads to 2, but then it is taken.
    let one = json(&run("1"));
    assert_eq!((one["failures"][0]["index"].as_u64(), &one["failures"][0]["needed"]), (Some(1), &2.into()));
    assert_eq!(code(&run("2")), 0);
    let auto = json(&run("auto"));
    assert_eq!(auto["accepted"], 1);
}

#[test]
fn nets_and_systems_are_models() {
    let states =
        "[{\"a\": 0, \"b\": 1}, {\"a\": 1, \"b\": 0}]\n[{\"a\": 2, \"b\": 0}, {\"a\": 0, \"b\": 2}]\n";
    let aut = "des (0, 3, 3)\n(0, A, 1)\n(1, i, 2)\n(2, B, 0)\n";
    let folder = folder(&[("n.pnml", NET), ("s.jsonl", states), ("x.aut", aut), ("l.txt", "A\nB\nA\n")]);
    let net = watershed(folder.path(), &["conform", "n.pnml", "s.jsonl", "--json"]);
    // Two tokens are not reachable from one: a marking to begin with all the same.
    let found = json(&net);
    assert_eq!((&found["accepted"], &found["failures"][0]["needed"]), (&1.into(), &2.into()), "{found}");
    assert_eq!(code(&watershed(folder.path(), &["conform", "x.aut", "l.txt"])), 0);
}

#[test]
fn inputs_and_outputs() {
    let aut = "des (0, 3, 3)\n(0, \"ASK\", 1)\n(1, \"YES\", 0)\n(0, \"STOP\", 2)\n";
    let relation = "[events]\ninputs = ['ASK', 'STOP']\noutputs = ['YES', 'NO']\n";
    let traces = "ASK\nYES\nDELTA\n[]\nASK\nASK\nNO\n[]\nASK\nNO\n[]\nASK\nDELTA\n";
    let folder = folder(&[("x.aut", aut), ("r.toml", relation), ("t.txt", traces)]);
    let found = json(&watershed(
        folder.path(),
        &["conform", "x.aut", "t.txt", "--map", "r.toml", "--ioco", "--json"],
    ));
    // The second asks twice, which the model does not know; the third says what it may not, the fourth nothing.
    assert_eq!(
        (&found["accepted"], &found["unspecified"], &found["rejected"]),
        (&2.into(), &1.into(), &2.into())
    );
    let wrong = watershed(folder.path(), &["conform", "x.aut", "t.txt", "--ioco"]);
    assert_eq!(code(&wrong), 2);
}

#[test]
fn coverage_says_what_the_program_never_did() {
    let folder = folder(&[("lock.lnt", LOCK), ("l.txt", "TAKE\n")]);
    let found = json(&watershed(folder.path(), &["conform", "lock.lnt", "l.txt", "--cover", "--json"]));
    assert_eq!(
        (&found["coverage"]["actions"]["total"], &found["coverage"]["actions"]["covered"]),
        (&2.into(), &1.into())
    );
    assert_eq!(found["coverage"]["never"][0]["what"], "GIVE");
}

#[test]
fn the_answer_does_not_depend_on_threads() {
    let sequences = SEQUENCES.repeat(200);
    let folder = folder(&[("t.maude", TEST_AND_SET), ("s.txt", &sequences)]);
    let run = |threads: &str| {
        let arguments =
            ["conform", "t.maude", "s.txt", "--module", "TEST-AND-SET", "--json", "--threads", threads];
        let mut found = json(&watershed(folder.path(), &arguments));
        found["seconds"] = 0.into();
        found
    };
    assert_eq!(run("1"), run("4"));
}

#[test]
fn wrong_inputs_are_told() {
    let folder = folder(&[
        ("t.maude", TEST_AND_SET),
        ("lock.lnt", LOCK),
        ("broken.jsonl", "{\"n\": 1}\n{\"n\": \n"),
        ("unknown.txt", "({(pc[p9]: rs)} | nil)\n"),
        ("other.jsonl", "{\"colour\": 1}\n"),
        ("empty.txt", "\n"),
        ("bad.toml", "[state]\nterm = '{'\nvalues = {}\n"),
        ("misfit.toml", "[state]\nvalues = { \"MAIN.m\" = \"${colour}\" }\n"),
        ("s.txt", SEQUENCES),
    ]);
    let told = |arguments: &[&str], message: &str| {
        let mut all = vec!["conform"];
        all.extend(arguments);
        let output = watershed(folder.path(), &all);
        assert_eq!(code(&output), 2, "{arguments:?}: {}{}", out(&output), err(&output));
        assert!(err(&output).contains(message), "{arguments:?}: {}", err(&output));
    };
    told(&["lock.lnt", "broken.jsonl"], "broken.jsonl:2");
    told(&["lock.lnt", "other.jsonl"], "the model has no `colour`");
    told(
        &["lock.lnt", "other.jsonl", "--map", "misfit.toml"],
        "the model has no `MAIN.m`; did you mean `MAIN.n`?",
    );
    told(&["t.maude", "unknown.txt", "--module", "TEST-AND-SET"], "pc[p9]");
    told(&["t.maude", "s.txt", "--module", "NOWHERE"], "there is no module `NOWHERE`");
    told(&["lock.lnt", "s.txt"], "can't be written as one text");
    told(&["t.maude", "empty.txt"], "no sequence");
    told(&["t.maude", "s.txt", "--map", "bad.toml"], "keep one of them");
    told(&["t.maude", "s.txt", "--map", "missing.toml"], "missing.toml");
    told(&["t.maude", "missing.txt"], "missing.txt");
    told(&["missing.maude", "s.txt"], "missing.maude");
    told(&["t.maude", "s.txt", "--bound", "few"], "a number of steps, or `auto`");
}

#[test]
fn the_studio_needs_a_model_and_files() {
    let folder = folder(&[
        ("lock.lnt", LOCK),
        ("bad.toml", "[state]\nterm = '{'\nvalues = {}\n"),
        ("l.txt", "TAKE\n"),
    ]);
    let told = |arguments: &[&str], message: &str| {
        let mut all = vec!["studio", "--no-open"];
        all.extend(arguments);
        let output = watershed(folder.path(), &all);
        assert_eq!(code(&output), 2, "{arguments:?}: {}{}", out(&output), err(&output));
        assert!(err(&output).contains(message), "{arguments:?}: {}", err(&output));
    };
    told(&["--traces", "l.txt"], "needs a model");
    told(&["lock.lnt", "--traces", "-"], "standard input");
    told(&["lock.lnt", "--traces", "l.txt", "--map", "bad.toml"], "keep one of them");
    told(&["lock.lnt", "--traces", "l.txt", "--ioco"], "inputs and outputs");
    told(&["lock.lnt", "--format", "labels"], "--traces");
}
