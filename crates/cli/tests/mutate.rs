//! `watershed mutate` and `watershed explain --try` as their users see them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

const LOCKS: &str = "module locks is
process USER [TAKE, GIVE, WORK : none] is
   loop TAKE; WORK; GIVE end loop
end process

process LOCK [TAKE, GIVE : none] (most : nat) is
   var free : nat in
      free := most;
      loop
         select
            only if free > 0 then TAKE; free := free - 1 end if
         []
            only if free < most then GIVE; free := free + 1 end if
         end select
      end loop
   end var
end process

process MAIN [TAKE, GIVE, WORK : none] is
   par TAKE, GIVE in
      par USER [...] || USER [...] end par
   ||
      LOCK [TAKE, GIVE] (1)
   end par
end process
end module
";

const ALONE: &str =
    "property ALONE is [ true* . \"WORK\" . (not \"GIVE\")* . \"WORK\" ] false end property\n";

fn watershed(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_watershed")).args(arguments).output().expect("watershed starts")
}

fn json(arguments: &[&str], code: i32) -> Value {
    let output = watershed(&[arguments, &["--json", "--warnings", "none"]].concat());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {errors}");
    serde_json::from_slice(&output.stdout).unwrap_or(Value::Null)
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new(model: &str) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        fs::write(folder.path("locks.lnt"), model).unwrap();
        fs::write(folder.path("locks.mcl"), ALONE).unwrap();
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    fn mutate(&self, more: &[&str], code: i32) -> Value {
        let (model, properties) = (self.text("locks.lnt"), self.text("locks.mcl"));
        json(&[&["mutate", &model, "--properties", &properties], more].concat(), code)
    }
}

fn number(value: &Value, key: &str) -> u64 {
    value[key].as_u64().unwrap_or_else(|| panic!("{key} of {value}"))
}

#[test]
fn every_mutant_is_accounted_for() {
    let folder = Folder::new(LOCKS);
    let found = folder.mutate(&["--deadlock"], 1);
    let survivors = found["survivors"].as_array().unwrap().len() as u64;
    let parts = ["killed", "equivalent", "undecided"].map(|key| number(&found, key)).iter().sum::<u64>();
    assert_eq!(number(&found, "mutants"), parts + survivors);
    assert_eq!(found["matrix"].as_array().unwrap().len() as u64, number(&found, "mutants"));
    assert_eq!(number(&found, "refused"), 0);
    assert!(number(&found, "violating") > 10 && number(&found, "violating") <= number(&found, "killed"));
    // Nobody but ALONE notices a lock that two may hold.
    let row = |part: &str, description: &str| {
        let line = LOCKS.lines().position(|line| line.contains(part)).unwrap() as u64 + 1;
        let rows = found["matrix"].as_array().unwrap();
        let row = rows.iter().find(|row| row["line"] == line && row["description"] == description);
        row.unwrap_or_else(|| panic!("{description}"))
    };
    assert_eq!(row("(1)", "`1` becomes `2`")["properties"], serde_json::json!([true, false]));
    // What an error leaves open is not told.
    let wrong = row("free > 0", "`free > 0` becomes `true`");
    assert_eq!(wrong["fate"], "error");
    assert_eq!(wrong["properties"], serde_json::json!([null, null]));
}

#[test]
fn threads_change_nothing() {
    let folder = Folder::new(LOCKS);
    let without_time = |mut value: Value| {
        value["seconds"] = Value::Null;
        value
    };
    let one = without_time(folder.mutate(&["--threads", "1"], 1));
    assert_eq!(one, without_time(folder.mutate(&["--threads", "4"], 1)));
}

#[test]
fn an_interrupted_study_goes_on() {
    let folder = Folder::new(LOCKS);
    let record = folder.text("record.jsonl");
    let whole = folder.mutate(&["--resume", &record], 1);
    let lines = fs::read_to_string(&record).unwrap();
    assert_eq!(lines.lines().count() as u64, 1 + number(&whole, "mutants"));
    // Half of it, with a line that was cut off, and one result that shows that it is used.
    let mut half: Vec<String> = lines.lines().take(lines.lines().count() / 2).map(str::to_owned).collect();
    half[1] = half[1].replace("\"states\":", "\"states\":7");
    fs::write(&record, half.join("\n") + "\n[3,{\"fa").unwrap();
    let again = folder.mutate(&["--resume", &record], 1);
    assert_eq!(again["matrix"], whole["matrix"]);
    assert!(fs::read_to_string(&record).unwrap().contains("\"states\":7"));
    // Other inputs: begun anew.
    fs::write(folder.path("locks.mcl"), ALONE.replace("\"WORK\" ] false", "\"TAKE\" ] false")).unwrap();
    let model = folder.text("locks.lnt");
    let output =
        watershed(&["mutate", &model, "--properties", &folder.text("locks.mcl"), "--resume", &record]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("begun anew"));
    // A file that is something else is left alone.
    let output = watershed(&["mutate", &model, "--deadlock", "--resume", &model]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(fs::read_to_string(&model).unwrap(), LOCKS);
}

#[test]
fn survivors_are_diffs_and_examples_kill() {
    let folder = Folder::new(LOCKS);
    fs::write(folder.path("run.seq"), "TAKE\nWORK\nGIVE\nTAKE\nWORK\n").unwrap();
    fs::write(
        folder.path("suite.toml"),
        "[[example]]\nname = \"run\"\nfile = \"run.seq\"\n\n[[example]]\nname = \"two\"\nroot = \"LOCK (2)\"\n",
    )
    .unwrap();
    let (suite, save) = (folder.text("suite.toml"), folder.text("saved"));
    let (csv, html) = (folder.text("matrix.csv"), folder.text("matrix.html"));
    let before = folder.mutate(&[], 1);
    let found = folder.mutate(&["--examples", &suite, "--save", &save, "--csv", &csv, "--html", &html], 1);
    assert!(number(&found, "killed") > number(&before, "killed"));
    assert!(found["examples"].as_array().unwrap().iter().all(|example| number(example, "kills") > 0));
    for survivor in found["survivors"].as_array().unwrap() {
        let saved =
            fs::read_to_string(Path::new(&save).join(format!("{}.diff", survivor["mutant"]))).unwrap();
        assert_eq!(saved, survivor["diff"].as_str().unwrap());
        assert!(saved.contains("\n@@ -"), "{saved}");
    }
    let csv = fs::read_to_string(csv).unwrap();
    assert_eq!(csv.lines().count() as u64, number(&found, "mutants") + 1);
    assert!(csv.lines().next().unwrap().ends_with(",ALONE,run,two"));
    assert!(fs::read_to_string(html).unwrap().contains("Who notices which mutant"));
}

#[test]
fn limits_and_wrong_inputs_are_said() {
    let folder = Folder::new(LOCKS);
    let model = folder.text("locks.lnt");
    let errors = |arguments: &[&str], code: i32| {
        let output = watershed(arguments);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{errors}");
        errors
    };
    assert!(errors(&["mutate", &model], 2).contains("no property is given"));
    assert!(errors(&["mutate", &model, "--deadlock", "--max-states", "2"], 3).contains("more than 2 states"));
    assert!(errors(&["mutate", &model, "--deadlock", "--operators", "gard"], 2).contains("guard-negated"));
}

#[test]
fn a_planted_bug_is_repaired() {
    // Two may hold the lock.
    let folder = Folder::new(&LOCKS.replace("(1)", "(2)"));
    let (model, properties) = (folder.text("locks.lnt"), folder.text("locks.mcl"));
    let found = json(&["explain", &model, &properties, "--deadlock", "--try"], 1);
    let repairs = found["repairs"]["repairs"].as_array().unwrap();
    let changes: Vec<&str> = repairs.iter().map(|one| one["description"].as_str().unwrap()).collect();
    assert!(changes.contains(&"`2` becomes `1`"), "{found}");
    for repair in repairs.iter().chain(found["repairs"]["losing"].as_array().unwrap()) {
        assert!(repair["diff"].as_str().unwrap().starts_with("--- "));
    }
    for losing in found["repairs"]["losing"].as_array().unwrap() {
        assert!(!losing["losses"].as_array().unwrap().is_empty());
    }
}
