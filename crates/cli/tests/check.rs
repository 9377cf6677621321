//! `watershed check` as a whole: what is saved, where steps come from, what limits leave, and what is warned of.

mod command;

use command::{code, err, folder, out, watershed};
use serde_json::Value;

const FORK: &str = "des (0, 4, 3)\n(0, A, 1)\n(0, B, 1)\n(0, C, 2)\n(2, A, 2)\n";

/// Two hundred states in a chain, an alarm at its end.
const COUNTER: &str = "module COUNTER is
process MAIN [TICK, ALARM : any] is
   var n : nat in
      n := 0;
      loop
         if n < 200 then TICK (n); n := n + 1 else ALARM; stop end if
      end loop
   end var
end process
end module
";

/// Two runs with the label A: the first goes on, the second is stuck.
const TWINS: &str = "module TWINS is
process MAIN [A, B : any] is
   loop
      select
         A; B
      []
         A; stop
      end select
   end loop
end process
end module
";

#[test]
fn what_is_saved_shows_the_verdict() {
    for (property, transitions) in [
        (r#"[ "A" ] false or [ "B" ] false"#, 2),
        (r#"NEVER ("A") or NEVER ("B")"#, 2),
        (r#"< "D" > true expected FALSE"#, 0),
        (r#"property P is < "A" . "A" > true expected FALSE end property"#, 1),
        (r#"property P is < "C" . "A" > true expected FALSE end property"#, 2),
        (r#"DEADLOCK_FREE"#, 1),
    ] {
        let folder = folder(&[("fork.aut", FORK), ("p.mcl", property), ("out.aut", "an older file")]);
        let checked = watershed(folder.path(), &["check", "fork.aut", "p.mcl", "-o", "out.aut", "--json"]);
        let verdict: Value = serde_json::from_slice(&checked.stdout).unwrap();
        let again = watershed(folder.path(), &["check", "out.aut", "p.mcl", "--json"]);
        let saved: Value = serde_json::from_slice(&again.stdout).unwrap();
        assert_eq!(saved["results"][0]["verdict"], verdict["results"][0]["verdict"], "{property}");
        let text = std::fs::read_to_string(folder.path().join("out.aut")).unwrap();
        assert_eq!(text.lines().count() - 1, transitions, "{property}: {text}");
        assert!(err(&checked).contains("saved a part of the system on which"), "{}", err(&checked));
    }
}

#[test]
fn nothing_saved_is_told_with_its_reason() {
    let folder = folder(&[("fork.aut", FORK), ("out.aut", "an older file")]);
    let checked = watershed(folder.path(), &["check", "fork.aut", "--reachable", "A", "-o", "out.aut"]);
    assert_eq!(code(&checked), 0);
    let told = err(&checked);
    assert!(
        told.contains(
            "out.aut was not written: the property holds, as expected; the existing file is unchanged"
        ),
        "{told}"
    );
    let checked = watershed(folder.path(), &["check", "fork.aut", "--reachable", "A", "-o", "new.aut"]);
    assert!(err(&checked).contains("new.aut was not written: the property holds, as expected\n"));
}

#[test]
fn lines_are_those_of_the_run_that_violates() {
    let folder = folder(&[("twins.lnt", TWINS)]);
    // On the fly, and on the state space that several properties share.
    for arguments in [
        vec!["check", "twins.lnt", "--deadlock"],
        vec!["check", "twins.lnt", "--deadlock", "--reachable", "B"],
    ] {
        let shown = out(&watershed(folder.path(), &arguments));
        assert!(shown.contains("1  A  MAIN twins.lnt:7"), "{arguments:?}: {shown}");
        assert!(!shown.contains("1  A  MAIN twins.lnt:5\n\n"), "{shown}");
    }
}

#[test]
fn a_limit_says_how_far_it_came() {
    let folder = folder(&[("counter.lnt", COUNTER)]);
    let shown =
        watershed(folder.path(), &["check", "counter.lnt", "--never", "ALARM", "--max-states", "100"]);
    assert_eq!(code(&shown), 3);
    let text = out(&shown);
    assert!(text.contains("unknown   never"), "{text}");
    assert!(text.contains("the limit of 100 states was reached (--max-states)"), "{text}");
    assert!(text.contains("no run of at most 100 steps violates it"), "{text}");
    // Where cycles count, nothing is claimed.
    let shown =
        watershed(folder.path(), &["check", "counter.lnt", "--inevitable", "ALARM", "--max-states", "100"]);
    assert_eq!(code(&shown), 3);
    assert!(!out(&shown).contains("no run of"), "{}", out(&shown));
    // The others keep their verdicts.
    let arguments =
        ["check", "counter.lnt", "--never", "TICK", "--never", "ALARM", "--max-states", "100", "--json"];
    let shown = watershed(folder.path(), &arguments);
    let results: Value = serde_json::from_slice(&shown.stdout).unwrap();
    assert_eq!(code(&shown), 1);
    assert_eq!(results["results"][0]["verdict"], Value::Bool(false));
    assert_eq!(results["results"][1]["verdict"], Value::Null);
    let shown =
        watershed(folder.path(), &["check", "counter.lnt", "--never", "ALARM", "--max-time", "0.000001"]);
    assert_eq!(code(&shown), 3);
    assert!(out(&shown).contains("the time limit of 0.000001 s was reached (--max-time)"), "{}", out(&shown));
}

#[test]
fn properties_are_chosen_by_name() {
    let text = "property ONE is NEVER (\"A\") end property property TWO is NEVER (\"Z\") end property";
    let folder = folder(&[("fork.aut", FORK), ("p.mcl", text)]);
    let shown = watershed(folder.path(), &["check", "fork.aut", "p.mcl", "--property", "TWO"]);
    assert_eq!(code(&shown), 0);
    assert!(out(&shown).contains("TWO") && !out(&shown).contains("ONE"), "{}", out(&shown));
    let shown = watershed(folder.path(), &["check", "fork.aut", "p.mcl", "--property", "TOW"]);
    assert_eq!(code(&shown), 2);
    assert!(err(&shown).contains("did you mean TWO?"), "{}", err(&shown));
}

#[test]
fn a_run_is_replayed_from_text_as_well() {
    let folder = folder(&[("fork.aut", FORK), ("run.txt", "C\n\nA\nA\n"), ("bad.txt", "A\nA\n")]);
    let shown = watershed(folder.path(), &["check", "fork.aut", "--never", "Z", "--replay", "run.txt"]);
    assert!(err(&shown).contains("does not violate the property"), "{}", err(&shown));
    let shown = watershed(folder.path(), &["check", "fork.aut", "--never", "A", "--replay", "run.txt"]);
    assert_eq!(code(&shown), 0, "{}", err(&shown));
    let shown = watershed(folder.path(), &["check", "fork.aut", "--never", "A", "--replay", "bad.txt"]);
    assert_eq!(code(&shown), 1);
    assert!(err(&shown).contains("step 2 of the trace, \"A\", is not possible"), "{}", err(&shown));
}

#[test]
fn what_matches_no_label_is_told_everywhere() {
    let folder = folder(&[
        ("twins.lnt", TWINS),
        ("fork.aut", FORK),
        ("counter.lnt", COUNTER),
        ("values.mcl", "[ true* . { A !1 } ] false"),
        ("tick.mcl", "[ true* . { TICK !250 } ] false"),
        ("beyond.mcl", "< { TICK !0 } > true or < true* . { TICK !256 } > true"),
        ("exact.mcl", "< { TICK !0 } > true or < true* . \"TICK !+1\" > true"),
        ("type.mcl", "< { TICK ?x:itme } . { TICK !x } > true"),
        ("early.mcl", "< { TICK !0 } > true or < true* . { TICK !250 } > true"),
        ("net.exp", "hide Z in \"fork.aut\" end hide"),
    ]);
    let said = |arguments: &[&str]| err(&watershed(folder.path(), arguments));
    // On the fly: gates before the exploration, labels and values once all of it was seen.
    assert!(said(&["check", "twins.lnt", "--never", "Z"]).contains("the model has no visible gate `Z`"));
    let told = said(&["check", "twins.lnt", "--never", "A.+"]);
    assert!(told.contains("the pattern 'A.+' matches no label"), "{told}");
    let told = said(&["check", "twins.lnt", "values.mcl"]);
    assert!(told.contains("the gate `A` never has 1 offer"), "{told}");
    let told = said(&["check", "counter.lnt", "tick.mcl"]);
    assert!(told.contains("no label of the system has the values of `{ TICK !250 }`"), "{told}");
    // What its type excludes is told before anything is explored.
    let told = said(&["check", "counter.lnt", "beyond.mcl"]);
    assert!(told.contains("the gate `TICK` never has the value 256 here"), "{told}");
    assert!(told.contains("the values are 0 to 255"), "{told}");
    let told = said(&["check", "counter.lnt", "exact.mcl"]);
    assert!(told.contains("the gate `TICK` never has the value +1 here"), "{told}");
    let told = said(&["check", "counter.lnt", "type.mcl"]);
    assert!(told.contains("the model has no type `itme`"), "{told}");
    // A search that ended early does not know.
    assert_eq!(said(&["check", "counter.lnt", "early.mcl"]), "");
    for arguments in [
        vec!["reduce", "fork.aut", "--hide", "Z"],
        vec!["convert", "fork.aut", "new.aut", "--rename", "Z -> Y"],
        vec!["info", "fork.aut", "--cut", "Z"],
        vec!["compare", "fork.aut", "fork.aut", "--hide", "Z"],
        vec!["compose", "net.exp"],
        vec!["explain", "fork.aut", "--never", "A", "--through", "Z"],
    ] {
        let told = said(&arguments);
        assert!(told.contains("Z: no label has this gate"), "{arguments:?}: {told}");
        let silent: Vec<&str> = arguments.iter().map(|&one| if one == "Z" { "A" } else { one }).collect();
        if !silent.contains(&"compose") && !silent.contains(&"Z -> Y") {
            assert!(!said(&silent).contains("no label"), "{silent:?}");
        }
    }
    // Nothing is left to compare.
    let compared = watershed(folder.path(), &["compare", "fork.aut", "fork.aut", "--keep", "Z"]);
    assert_eq!(code(&compared), 2);
    assert!(err(&compared).contains("--keep Z keeps no label of either system"), "{}", err(&compared));
    let compared =
        watershed(folder.path(), &["compare", "fork.aut", "fork.aut", "--keep", "Z", "--keep", "A"]);
    assert_eq!(code(&compared), 0);
    assert!(err(&compared).contains("--keep Z: no label has this gate"), "{}", err(&compared));
}
