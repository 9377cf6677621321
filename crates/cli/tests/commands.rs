//! Whole commands: what they print, and how they end.

mod command;

use std::path::Path;
use std::process::{Command, Output};

use command::{code, err, folder, out, watershed};
use serde_json::Value;

fn json(output: &Output) -> Value {
    assert_eq!(out(output).lines().count(), 1, "one object on one line: {}", out(output));
    serde_json::from_slice(&output.stdout).unwrap()
}

const TEA: &str = "des (0, 4, 4)\n(0, COIN, 1)\n(1, TEA, 2)\n(1, i, 3)\n(3, COFFEE, 0)\n";
const TEA_TWICE: &str = "des (0, 4, 5)\n(0, COIN, 1)\n(0, COIN, 2)\n(1, TEA, 3)\n(2, COFFEE, 4)\n";
const TEA_ONCE: &str = "des (0, 3, 4)\n(0, COIN, 1)\n(1, TEA, 2)\n(1, COFFEE, 3)\n";

#[test]
fn info_has_the_stable_keys() {
    let folder = folder(&[("tea.aut", TEA)]);
    let shown = json(&watershed(folder.path(), &["info", "--json", "tea.aut"]));
    for (key, value) in [("states", 4), ("transitions", 4), ("labels", 4), ("deadlocks", 1)] {
        assert_eq!(shown[key], value, "{key}");
    }
    assert_eq!(shown["complete"], true);
    assert!(shown["seconds"].is_f64() && shown.get("peak_bytes").is_some());
    let text = out(&watershed(folder.path(), &["info", "--labels", "tea.aut"]));
    assert!(text.contains("deadlocks             1\n") && text.contains("           1  COFFEE\n"), "{text}");
    assert_eq!(out(&watershed(folder.path(), &["info", "--quiet", "tea.aut"])), "");
}

#[test]
fn convert_goes_between_formats_and_changes_labels() {
    let folder = folder(&[("tea.aut", TEA)]);
    let here = folder.path();
    for name in ["x.aut.gz", "x.aut.zst", "y.aut"] {
        assert_eq!(code(&watershed(here, &["convert", "tea.aut", name])), 0, "{name}");
    }
    let direct = watershed(here, &["convert", "y.aut", "-"]);
    let through = watershed(here, &["convert", "x.aut.zst", "-"]);
    assert_eq!(out(&direct), out(&through));
    assert!(out(&direct).starts_with("des (0, 4, 4)\n(0, \"COIN\", 1)\n"));
    assert_eq!(code(&watershed(here, &["convert", "tea.aut", "tea.dot"])), 0);
    assert!(std::fs::read_to_string(here.join("tea.dot")).unwrap().contains("0 -> 1 [label=\"COIN\"]"));
    let renamed =
        watershed(here, &["convert", "--hide", "COIN", "--rename", "'T(.*)' -> HOT_$1", "tea.aut", "-"]);
    assert!(out(&renamed).contains("(0, i, 1)") && out(&renamed).contains("\"HOT_EA\""), "{}", out(&renamed));
    let cut = json(&watershed(here, &["info", "--cut", "TEA", "--json", "tea.aut"]));
    assert_eq!((cut["states"].as_u64(), cut["deadlocks"].as_u64()), (Some(3), Some(0)));
}

#[test]
fn reduce_tells_before_and_after() {
    let folder = folder(&[("tea.aut", TEA), ("once.aut", TEA_ONCE)]);
    let shown =
        json(&watershed(folder.path(), &["reduce", "once.aut", "--by", "trace", "-o", "r.aut", "--json"]));
    assert_eq!(shown["before"]["states"], 4);
    assert_eq!(shown["after"]["states"], 3);
    assert_eq!(shown["relation"], "trace");
    let reduced = std::fs::read_to_string(folder.path().join("r.aut")).unwrap();
    assert_eq!(reduced.lines().next(), Some("des (0, 3, 3)"));
    let piped = watershed(folder.path(), &["reduce", "once.aut", "-o", "-"]);
    assert!(out(&piped).starts_with("des (0, 3, 3)\n"), "{}", out(&piped));
}

#[test]
fn compare_answers_with_a_reason() {
    let folder = folder(&[("once.aut", TEA_ONCE), ("twice.aut", TEA_TWICE), ("tea.aut", TEA)]);
    let here = folder.path();
    let same = watershed(here, &["compare", "once.aut", "twice.aut", "--by", "trace"]);
    assert_eq!((code(&same), out(&same).as_str()), (0, "equivalent (trace)\n"));
    let different = watershed(here, &["compare", "once.aut", "twice.aut", "--by", "strong", "--json"]);
    assert_eq!(code(&different), 1);
    let shown = json(&different);
    assert_eq!(shown["equivalent"], false);
    assert!(shown["reason"]["formula"].as_str().unwrap().contains("COIN"), "{shown}");
    let traces = watershed(here, &["compare", "once.aut", "tea.aut", "--by", "weak-trace", "--json"]);
    let shown = json(&traces);
    assert_eq!(shown["reason"]["trace"], serde_json::json!(["COIN", "COFFEE", "COIN"]));
    assert_eq!(shown["reason"]["holds_on"], "right");
}

#[test]
fn compose_reads_networks_and_products() {
    let folder = folder(&[
        ("a.aut", "des (0, 2, 2)\n(0, PUT, 1)\n(1, SEND, 0)\n"),
        ("b.aut", "des (0, 2, 2)\n(0, SEND, 1)\n(1, GET, 0)\n"),
        ("net.exp", "hide SEND in par SEND in a.aut || b.aut end par end hide"),
        ("wrong.exp", "par SEND in a.aut || missing.aut end par"),
        ("bad.aut", "des (0, 1, 2)\n(0, A, 7)\n"),
        ("leaf.exp", "par bad.aut || a.aut end par"),
    ]);
    let here = folder.path();
    let shown = json(&watershed(here, &["compose", "net.exp", "-o", "net.aut", "--json"]));
    assert_eq!((shown["states"].as_u64(), shown["internal_transitions"].as_u64()), (Some(4), Some(1)));
    let product = json(&watershed(here, &["compose", "a.aut", "b.aut", "--json"]));
    assert_eq!((product["states"].as_u64(), product["internal_transitions"].as_u64()), (Some(4), Some(0)));
    let missing = watershed(here, &["compose", "wrong.exp"]);
    assert_eq!(code(&missing), 2);
    assert!(err(&missing).contains("wrong.exp:1:22"), "{}", err(&missing));
    let leaf = watershed(here, &["compose", "leaf.exp"]);
    assert!(err(&leaf).contains("bad.aut:2:8: state 7 is out of range"), "{}", err(&leaf));
    let partial = watershed(here, &["compose", "net.exp", "--max-states", "2", "--json"]);
    assert_eq!(code(&partial), 3);
    assert_eq!(json(&partial)["complete"], false);
}

#[test]
fn random_is_the_same_for_the_same_seed() {
    let folder = folder(&[]);
    let draw = |seed: &str| out(&watershed(folder.path(), &["random", "--seed", seed, "-o", "-"]));
    assert_eq!(draw("3"), draw("3"));
    assert_ne!(draw("3"), draw("4"));
    let wrong = watershed(folder.path(), &["random", "--tau-share", "2", "-o", "-"]);
    assert_eq!(code(&wrong), 2);
}

#[test]
fn wrong_inputs_end_with_2_and_a_hint() {
    let folder = folder(&[("bad.aut", "des (0, 1, 2)\n(0, A, 7)\n"), ("x.txt", ""), ("m.lnt", "module")]);
    let here = folder.path();
    let cases: [(&[&str], &str); 7] = [
        (&["info", "bad.aut"], "bad.aut:2:8"),
        (&["info", "none.aut"], "none.aut: No such file"),
        (&["info", "x.txt"], "can't tell the format from the extension .txt"),
        (&["info", "."], "."),
        (&["reduce", "bad.aut", "--by", "stronk"], "expected strong, branching"),
        (&["convert", "--hide", "a(", "bad.aut", "-"], "unclosed group"),
        (&["explore", "m.lnt"], "m.lnt:1"),
    ];
    for (arguments, message) in cases {
        let output = watershed(here, arguments);
        assert_eq!(code(&output), 2, "{arguments:?}: {}", err(&output));
        assert!(err(&output).contains(message), "{arguments:?}: {}", err(&output));
        assert_eq!(out(&output), "", "{arguments:?}");
    }
    // A failed command leaves nothing behind.
    assert_eq!(code(&watershed(here, &["convert", "bad.aut", "out.aut"])), 2);
    assert!(!here.join("out.aut").exists());
}

#[test]
fn explore_reports_sizes_limits_and_errors() {
    let model = "module m is
        channel c is (nat) end channel
        process MAIN [A : c] is
           var n : nat in
              n := 250;
              loop A (n); n := n + 1 end loop
           end var
        end process
     end module";
    let folder = folder(&[("m.lnt", model)]);
    let here = folder.path();
    let overflow = watershed(here, &["explore", "m.lnt"]);
    assert_eq!(code(&overflow), 1, "a run-time error is a finding");
    let text = err(&overflow);
    assert!(text.contains("256 is outside the range 0..255 of type nat"), "{text}");
    assert!(text.contains("m.lnt:6:") && text.contains("!nat_sup"), "{text}");
    assert!(text.contains("this happens in the step A !255, after: A !250, A !251"), "{text}");
    let found = json(&watershed(here, &["explore", "m.lnt", "--json"]));
    assert_eq!(found["deadlocks"], 0, "the state in which it fails is not explored");
    let error = &found["error"];
    assert_eq!((error["line"].as_u64(), error["step"].as_str()), (Some(6), Some("A !255")));
    assert_eq!(error["trace"].as_array().map(Vec::len), Some(5));
    // Of many steps, messages tell the last ones.
    std::fs::write(here.join("long.lnt"), model.replace("250", "0")).unwrap();
    let text = err(&watershed(here, &["explore", "long.lnt"]));
    assert!(text.contains("after 255 steps, the last of them: A !235, A !236"), "{text}");
    // Before the first step, there is nothing to count.
    std::fs::write(here.join("early.lnt"), model.replace("n := 250", "n := 250; n := n * 2")).unwrap();
    let early = watershed(here, &["explore", "early.lnt"]);
    assert_eq!((code(&early), out(&early).as_str()), (1, "no state was reached\n"));
    assert!(err(&early).contains("this happens before the first step"), "{}", err(&early));
    let partial = watershed(here, &["explore", "m.lnt", "--max-states", "3", "--json"]);
    assert_eq!(code(&partial), 3);
    assert_eq!(
        (json(&partial)["states"].as_u64(), json(&partial)["complete"].as_bool()),
        (Some(3), Some(false))
    );
}

#[test]
fn compressed_states_give_the_same_system() {
    let model = "module m is
        channel c is (nat, nat) end channel
        process WHEEL [A : c] (me : nat) is
           var n : nat in
              n := 200;
              loop
                 A (me, n);
                 if n == 203 then n := 200 else n := n + 1 end if
              end loop
           end var
        end process
        process MAIN [A : c] is
           par WHEEL [A] (1) || WHEEL [A] (2) || WHEEL [A] (3) || WHEEL [A] (4)
            || WHEEL [A] (5) || WHEEL [A] (6) || WHEEL [A] (7) || WHEEL [A] (8) end par
        end process
     end module";
    let folder = folder(&[("m.lnt", model)]);
    let here = folder.path();
    let limit = ["--max-states", "3000", "--partial", "--json"];
    let plain = watershed(here, &[&["explore", "m.lnt", "-o", "a.aut"], &limit[..]].concat());
    let pairs = watershed(here, &[&["explore", "m.lnt", "-o", "b.aut", "--compress"], &limit[..]].concat());
    assert_eq!((code(&plain), code(&pairs)), (3, 3), "{}", err(&pairs));
    let read = |name: &str| std::fs::read_to_string(here.join(name)).unwrap();
    assert_eq!(read("a.partial.aut"), read("b.partial.aut"));
    let (plain, pairs) = (json(&plain), json(&pairs));
    assert!(plain["state_bytes"].as_u64() > Some(8) && pairs["state_bytes"] == 8, "{plain}");
    assert!(plain["bytes"].as_u64() > Some(3000 * 12) && pairs["bytes"].as_u64() > Some(3000 * 12));
}

#[test]
fn states_on_disk_give_the_same_system() {
    let model = "module m is
        !nat_sup 1000
        process WHEEL [A : none] is
           var n : nat in
              n := 0;
              loop A; n := (n + 1) mod 900 end loop
           end var
        end process
        process MAIN [A, B : none] is
           par WHEEL [A] || WHEEL [B] end par
        end process
     end module";
    let folder = folder(&[("m.lnt", model)]);
    let here = folder.path();
    let explored = |output: &str, options: &[&str]| {
        let found = watershed(here, &[&["explore", "m.lnt", "--json", "-o", output], options].concat());
        assert_eq!(code(&found), 0, "{}", err(&found));
        json(&found)
    };
    let plain = explored("a.aut", &[]);
    assert_eq!((plain["states"].as_u64(), plain["disk_bytes"].as_u64()), (Some(810_000), Some(0)));
    // Three segments of states are full in the end: 2 to 3 of their 6 megabytes have to go.
    let megabytes = (plain["bytes"].as_u64().unwrap() / 1_000_000 - 2).to_string();
    let moved = explored("b.aut", &["--max-memory", &megabytes, "--disk", "."]);
    assert!(moved["disk_bytes"].as_u64() > Some(2_000_000), "{moved}");
    assert!(moved["bytes"].as_u64() < plain["bytes"].as_u64());
    let read = |name: &str| std::fs::read(here.join(name)).unwrap();
    assert!(read("a.aut") == read("b.aut"));
    let names = std::fs::read_dir(here).unwrap().count();
    assert_eq!(names, 3, "the model and two systems: nothing is left of the disk");
    // All that the machine has is enough here.
    assert_eq!(explored("b.aut", &["--disk", "."])["disk_bytes"], 0);
}

#[test]
fn the_plan_tells_where_values_come_from() {
    let text = "module m is
        type some is list of nat with \"length\", \"member\", \"append\" end type
        channel c is (nat) end channel
        process MAIN [A, B, C, D : c] is
           var n : nat, s : some in
              s := {3, 1, 3};
              loop
                 select
                    n := any nat where (n >= 1) and (n <= length (s)); A (n)
                 [] n := any nat where member (n, s); B (n)
                 [] n := any nat where n < 5; C (n)
                 [] D (?n) where n < 2
                 end select
              end loop
           end var
        end process
        process CLOSED [A : c] is A (1 of nat) end process
        end module";
    let folder = folder(&[("m.lnt", text)]);
    let plan = |root: &[&str]| {
        err(&watershed(folder.path(), &[&["explore", "--plan", "m.lnt"], root].concat()))
            .lines()
            .filter(|line| line.contains("plan: "))
            .map(|line| line.trim().to_owned())
            .collect::<Vec<_>>()
    };
    let found = plan(&[]);
    for wanted in [
        "plan: D ?nat in line 12: ",
        "plan: any nat in line 9: conditions leave up to 255 values, and fewer where the state bounds them",
        "plan: any nat in line 10: a condition names a list or set that it comes from",
        "plan: any nat in line 11: conditions leave up to 5 values",
    ] {
        assert!(found.iter().any(|line| line.contains(wanted)), "{wanted}: {found:#?}");
    }
    assert_eq!(found.len(), 4, "{found:#?}");
    let closed = plan(&["--root", "CLOSED"]);
    assert_eq!(closed.len(), 1);
    assert!(closed[0].contains("no value is left open"), "{closed:?}");
}

#[test]
fn a_disk_that_is_not_there_is_told_before_the_work() {
    let folder =
        folder(&[("m.lnt", "module m is process MAIN [A : none] is loop A end loop end process end module")]);
    let refused = watershed(folder.path(), &["explore", "m.lnt", "--disk", "nowhere"]);
    assert_eq!((code(&refused), out(&refused).as_str()), (2, ""));
    let text = err(&refused);
    assert!(
        text.contains("can't create a file in nowhere") && text.contains("a folder that exists"),
        "{text}"
    );
    // Too little memory for the table alone.
    let partial = watershed(folder.path(), &["explore", "m.lnt", "--disk", ".", "--max-memory", "0"]);
    assert_eq!(code(&partial), 3);
    assert!(err(&partial).contains("(--max-memory, 0 MB) by what stays in memory"), "{}", err(&partial));
}

#[test]
fn sequences_are_part_of_the_answer() {
    let folder = folder(&[(
        "greet.lnt",
        "module greet is process MAIN [HELLO, BYE : none] is HELLO; BYE; stop end process end module",
    )]);
    let shown = watershed(folder.path(), &["check", "greet.lnt", "--never", "BYE", "--sequence"]);
    assert_eq!(code(&shown), 1);
    assert!(out(&shown).contains("●    HELLO\n") && err(&shown).is_empty(), "{}{}", out(&shown), err(&shown));
    json(&watershed(folder.path(), &["check", "greet.lnt", "--never", "BYE", "--sequence", "--json"]));
}

#[test]
fn the_tour_runs_to_its_end() {
    let folder = folder(&[]);
    let tour = watershed(folder.path(), &["demo"]);
    assert_eq!((code(&tour), err(&tour).as_str()), (0, ""));
    assert!(
        out(&tour).contains("$ watershed cover") && out(&tour).contains("$ watershed studio"),
        "{}",
        out(&tour)
    );
}

/// A model with many variables that nobody reads, some of them in a process that never runs, and a gate that is there
/// for the sake of the interface.
const UNREAD: &str = "module unread is
   channel c is (nat) end channel
   process IDLE [A : c] is var z : nat in A (?z) end var end process
   process MAIN [A : c, NEVER : none] is
      var p, q, r, s, t : nat in A (?p); A (?q); A (?r); A (?s); A (?t) end var
   end process
end module
";

#[test]
fn warnings_are_grouped_about_what_runs_and_can_be_switched_off() {
    let folder = folder(&[("unread.lnt", UNREAD)]);
    let grouped = err(&watershed(folder.path(), &["explore", "unread.lnt"]));
    assert_eq!(grouped.matches("warning").count() - grouped.matches("--warnings").count(), 1, "{grouped}");
    assert!(grouped.contains("warning: 5 variables are never read"), "{grouped}");
    assert!(grouped.contains("all on the same line"), "{grouped}");
    assert!(!grouped.contains("NEVER") && !grouped.contains("`z`"), "{grouped}");
    let all = err(&watershed(folder.path(), &["explore", "unread.lnt", "--warnings", "all"]));
    assert_eq!(all.matches("is never read").count(), 5, "{all}");
    assert_eq!(err(&watershed(folder.path(), &["explore", "unread.lnt", "--warnings", "none"])), "");
    let other = err(&watershed(folder.path(), &["explore", "unread.lnt", "--root", "IDLE"]));
    assert!(other.contains("`z` is never read") && !other.contains("`p`"), "{other}");
}

#[test]
fn many_errors_are_cut_and_counted() {
    let body: String = (0..30).map(|n| format!("A (unknown_{n});\n")).collect();
    let text = format!("module m is process MAIN [A : any] is {body} stop end process end module");
    let folder = folder(&[("m.lnt", &text)]);
    let output = watershed(folder.path(), &["explore", "m.lnt"]);
    assert_eq!((code(&output), err(&output).matches("error: unknown").count()), (2, 20));
    assert!(err(&output).ends_with("10 more errors\n"), "{}", err(&output));
}

/// A counter that goes on for 200 states.
const COUNTER: &str = "module counter is
   channel c is (nat) end channel
   process MAIN [A : c] is
      var n : nat in n := 0; loop L in A (n); if n == 200 then break L end if; n := n + 1 end loop end var
   end process
end module
";

#[test]
fn a_partial_result_never_takes_the_place_of_a_complete_one() {
    let folder = folder(&[("counter.lnt", COUNTER), ("loops.exp", "par \"a.aut\" || \"b.aut\" end par")]);
    let here = folder.path();
    assert_eq!(code(&watershed(here, &["explore", "counter.lnt", "-o", "c.aut"])), 0);
    let complete = std::fs::read_to_string(here.join("c.aut")).unwrap();
    let stopped = watershed(here, &["explore", "counter.lnt", "--max-states", "50", "-o", "c.aut"]);
    assert_eq!(code(&stopped), 3);
    assert!(err(&stopped).contains("c.aut was not written"), "{}", err(&stopped));
    assert_eq!(std::fs::read_to_string(here.join("c.aut")).unwrap(), complete);
    for (name, part) in [("c.aut", "c.partial.aut"), ("d.json.gz", "d.partial.json.gz")] {
        let arguments = ["explore", "counter.lnt", "--max-states", "50", "--partial", "-o", name];
        assert_eq!(code(&watershed(here, &arguments)), 3);
        let info = json(&watershed(here, &["info", "--json", part]));
        assert_eq!(
            (info["complete"].as_bool(), info["deadlocks"].as_u64()),
            (Some(false), Some(0)),
            "{info}"
        );
        assert!(info["unexplored"].as_u64().unwrap() >= 1);
    }
    assert_eq!(std::fs::read_to_string(here.join("c.aut")).unwrap(), complete);
    for arguments in [&["reduce", "c.partial.aut"][..], &["compare", "c.aut", "c.partial.aut"]] {
        let refused = watershed(here, arguments);
        assert_eq!(code(&refused), 3, "{arguments:?}");
        assert!(err(&refused).contains("is only part of a system"), "{}", err(&refused));
    }
    assert_eq!(code(&watershed(here, &["convert", "c.partial.aut", "copy.aut"])), 0);
    let copy = json(&watershed(here, &["info", "--json", "copy.aut"]));
    assert_eq!(copy["complete"], false);
    // What is found in the part is real, and what is missing is not guessed.
    let check = |option: &[&str]| watershed(here, &[&["check", "c.partial.aut", "--json"], option].concat());
    let deadlock = check(&["--deadlock"]);
    assert_eq!((code(&deadlock), json(&deadlock)["results"][0]["verdict"].is_null()), (3, true));
    let found = check(&["--never", "A !3"]);
    assert_eq!((code(&found), json(&found)["results"][0]["verdict"].as_bool()), (1, Some(false)));
    let beyond = check(&["--never", "A !190"]);
    assert_eq!((code(&beyond), json(&beyond)["results"][0]["verdict"].is_null()), (3, true));
    // Networks likewise.
    for name in ["a.aut", "b.aut"] {
        let shape = ["random", "--shape", "connected", "--seed", "3", "-o", name];
        assert_eq!(code(&watershed(here, &shape)), 0);
    }
    let composed = ["compose", "loops.exp", "--max-states", "100", "-o", "n.aut"];
    assert_eq!(code(&watershed(here, &composed)), 3);
    assert!(!here.join("n.aut").exists() && !here.join("n.partial.aut").exists());
    assert_eq!(code(&watershed(here, &[&composed[..], &["--partial"]].concat())), 3);
    let part = json(&watershed(here, &["info", "--json", "n.partial.aut"]));
    assert_eq!((part["complete"].as_bool(), part["deadlocks"].as_u64()), (Some(false), Some(0)), "{part}");
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_can_not_be_written_is_an_error() {
    let folder = folder(&[("tea.aut", TEA), ("counter.lnt", COUNTER)]);
    let full = |arguments: &[&str]| {
        let out = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_watershed"));
        let output = command.args(arguments).current_dir(folder.path()).stdout(out).output().unwrap();
        assert_eq!(code(&output), 2, "{arguments:?}");
        assert!(err(&output).contains("No space left"), "{arguments:?}: {}", err(&output));
    };
    for arguments in [
        &["info", "tea.aut"][..],
        &["info", "tea.aut", "--json"],
        &["convert", "tea.aut", "-"],
        &["explore", "counter.lnt"],
        &["check", "tea.aut", "--deadlock"],
        &["--help"],
        &["--version"],
        &["explore", "--help"],
        &["completions", "bash"],
    ] {
        full(arguments);
    }
    let to_device = watershed(folder.path(), &["convert", "tea.aut", "/dev/full"]);
    assert_eq!(code(&to_device), 2, "{}", err(&to_device));
}

#[test]
fn json_is_printed_when_it_is_asked_for() {
    let folder = folder(&[("tea.aut", TEA), ("once.aut", TEA_ONCE)]);
    for arguments in [
        &["info", "tea.aut"][..],
        &["reduce", "tea.aut"],
        &["compare", "tea.aut", "once.aut"],
        &["check", "tea.aut", "--deadlock"],
    ] {
        let shown = watershed(folder.path(), &[arguments, &["--json", "--quiet"]].concat());
        assert!(json(&shown).is_object(), "{arguments:?}");
        assert_eq!(err(&shown), "");
    }
}

#[test]
fn packed_models_networks_and_systems_are_read() {
    let folder = folder(&[("counter.lnt", COUNTER), ("tea.aut", TEA), ("n.exp", "\"tea.aut.gz\"")]);
    let here = folder.path();
    let pack = |name: &str| {
        let file = std::fs::read(here.join(name)).unwrap();
        lts::write_file(&here.join(format!("{name}.gz")), |out| out.write_all(&file)).unwrap();
    };
    ["counter.lnt", "tea.aut", "n.exp"].into_iter().for_each(pack);
    let explored = json(&watershed(here, &["explore", "counter.lnt.gz", "--json"]));
    assert_eq!(explored["deadlocks"], 1);
    assert_eq!(code(&watershed(here, &["compose", "n.exp.gz"])), 0);
    // A module that is packed is found by those who import it.
    std::fs::write(here.join("user.lnt"), "module user (counter) is end module").unwrap();
    std::fs::remove_file(here.join("counter.lnt")).unwrap();
    let imported = watershed(here, &["explore", "user.lnt", "--root", "MAIN"]);
    assert_eq!(code(&imported), 0, "{}", err(&imported));
    for name in ["x.dot", "x.json", "x.json.zst"] {
        assert_eq!(code(&watershed(here, &["convert", "tea.aut", name])), 0);
        assert_eq!(code(&watershed(here, &["compare", "tea.aut", name])), 0, "{name}");
    }
}

/// A machine that may swallow a coin, and one that may not.
const MACHINES: &str = "module machines is
   channel amount is (nat) end channel
   process GOOD [COIN, TEA : none, CHECK : amount] is
      loop
         COIN;
         CHECK (2);
         TEA
      end loop
   end process
   process GREEDY [COIN, TEA : none, CHECK : amount] is
      loop
         COIN;
         select CHECK (2); TEA
         []     CHECK (3); i
         end select
      end loop
   end process
end module
";

#[test]
fn models_are_compared_with_the_run_and_its_lines() {
    let folder = folder(&[("machines.lnt", MACHINES)]);
    let compare = |by: &str, left: &str, right: &str| {
        let roots = ["--left-root", left, "--right-root", right];
        let arguments = ["compare", "machines.lnt", "machines.lnt", "--by", by, "--hide", "CHECK"];
        watershed(folder.path(), &[&arguments[..], &roots].concat())
    };
    for by in ["trace-inclusion", "weak-trace-inclusion", "simulation", "weak-simulation", "failures"] {
        assert_eq!(code(&compare(by, "GOOD", "GOOD")), 0, "{by}");
        assert_eq!(out(&compare(by, "GOOD", "GREEDY")), format!("included ({by})\n"), "{by}");
        assert_eq!(code(&compare(by, "GREEDY", "GOOD")), 1, "{by}");
    }
    assert_eq!(
        out(&compare("weak-trace-inclusion", "GREEDY", "GOOD")),
        "not included (weak-trace-inclusion)\n\n\
         this trace is possible in machines.lnt (GREEDY) only:\n\n   \
         COIN          GREEDY machines.lnt:12\n   \
         i (CHECK !3)  GREEDY machines.lnt:14\n   \
         i             GREEDY machines.lnt:14\n   \
         COIN          GREEDY machines.lnt:12\n"
    );
    let equivalence = out(&compare("weak-trace", "GOOD", "GREEDY"));
    assert!(equivalence.contains("i (CHECK !3)  GREEDY machines.lnt:14\n"), "{equivalence}");
    let arguments = ["--by", "simulation", "--left-root", "GREEDY", "--right-root", "GOOD", "--json"];
    let shown = json(&watershed(
        folder.path(),
        &[&["compare", "machines.lnt", "machines.lnt"], &arguments[..]].concat(),
    ));
    assert_eq!((shown["included"].as_bool(), shown.get("equivalent")), (Some(false), None));
    assert_eq!(shown["reason"]["formula"], "< \"COIN\" > < \"CHECK !3\" > true");
}

#[test]
fn refusals_are_told() {
    let folder = folder(&[
        ("choice.aut", "des (0, 2, 2)\n(0, TEA, 1)\n(0, COFFEE, 1)\n"),
        ("decided.aut", "des (0, 4, 4)\n(0, i, 1)\n(0, i, 2)\n(1, TEA, 3)\n(2, COFFEE, 3)\n"),
        ("restless.aut", "des (0, 3, 2)\n(0, TEA, 1)\n(0, COFFEE, 1)\n(0, i, 0)\n"),
    ]);
    let compare =
        |left: &str, right: &str| watershed(folder.path(), &["compare", left, right, "--by", "failures"]);
    let shown = compare("decided.aut", "choice.aut");
    assert_eq!(
        (code(&shown), out(&shown).as_str()),
        (
            1,
            "not included (failures)\n\nafter this trace:\n\n   i\n\n\
             decided.aut can come to rest and offer only TEA;\nchoice.aut never refuses COFFEE there\n"
        )
    );
    assert_eq!(code(&compare("choice.aut", "decided.aut")), 0);
    assert!(out(&compare("choice.aut", "restless.aut")).contains("restless.aut never comes to rest there"));
    let unknown = watershed(folder.path(), &["compare", "choice.aut", "choice.aut", "--by", "failure"]);
    assert!(err(&unknown).contains("failures") && code(&unknown) == 2);
}

#[test]
fn help_completions_and_manual_pages_exist() {
    let folder = folder(&[]);
    let help = out(&watershed(folder.path(), &["--help"]));
    for command in ["explore", "info", "convert", "reduce", "compare", "compose", "random"] {
        assert!(help.contains(command), "{command}");
        let own = out(&watershed(folder.path(), &[command, "--help"]));
        assert!(own.contains("Example"), "{command} --help has no example");
    }
    for shell in ["bash", "zsh", "fish"] {
        assert!(out(&watershed(folder.path(), &["completions", shell])).contains("watershed"), "{shell}");
    }
    assert_eq!(code(&watershed(folder.path(), &["man", "pages"])), 0);
    assert!(folder.path().join("pages/watershed-reduce.1").exists());
}

/// Every AUT file of the oracles survives reading and writing. Counterexamples there keep the state numbers of the
/// system they were cut out of.
#[test]
fn oracle_files_round_trip() {
    let oracles = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/oracles/clear");
    if !oracles.exists() {
        println!("skipped: there are no oracles beside the project");
        return;
    }
    let folder = folder(&[]);
    let mut count = 0;
    let examples =
        std::fs::read_dir(oracles).unwrap().flat_map(|e| std::fs::read_dir(e.unwrap().path()).unwrap());
    for path in examples.map(|file| file.unwrap().path()) {
        if path.extension().is_none_or(|extension| extension != "aut") {
            continue;
        }
        let name = path.to_str().unwrap();
        let sparse = name.ends_with("cexp_dump.aut");
        let option = if sparse { "--sparse" } else { "--color=never" };
        let output = watershed(folder.path(), &["convert", option, name, "copy.aut"]);
        assert_eq!(code(&output), 0, "{name}: {}", err(&output));
        let copy = std::fs::read_to_string(folder.path().join("copy.aut")).unwrap();
        let original = std::fs::read_to_string(&path).unwrap();
        assert_eq!(lines(&copy, sparse), lines(&original, sparse), "{name}");
        let again = watershed(folder.path(), &["convert", "copy.aut", "-"]);
        assert_eq!(out(&again), copy, "{name}");
        count += 1;
    }
    assert!(count >= 15);
}

/// The lines of an AUT file without white space and quotes, sorted; without state numbers where those may differ.
fn lines(text: &str, only_labels: bool) -> Vec<String> {
    let line = |line: &str| {
        let line: String = line.chars().filter(|c| !c.is_whitespace() && *c != '"').collect();
        match only_labels && line.starts_with('(') {
            true => line.split_once(',').unwrap().1.rsplit_once(',').unwrap().0.to_owned(),
            false => line,
        }
    };
    let mut lines: Vec<String> = text.lines().map(line).filter(|line| !line.is_empty()).collect();
    lines.sort();
    lines
}
