//! `watershed cover` as its users see it: the models with planted holes, wrong suites, limits, and the report formats
//! read back by libraries that know nothing of us.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde::Deserialize;
use serde_json::Value;

fn library() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/coverage")
}

fn watershed(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_watershed")).args(arguments).output().expect("watershed starts")
}

/// Runs `cover` and gives its JSON; the exit code is checked.
fn cover(arguments: &[&str], code: i32) -> Value {
    let output = watershed(&[&["cover", "--json", "--no-cache"], arguments].concat());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {errors}");
    serde_json::from_slice(&output.stdout).unwrap_or(Value::Null)
}

fn errors(arguments: &[&str], code: i32) -> String {
    let output = watershed(&[&["cover", "--no-cache"], arguments].concat());
    assert_eq!(output.status.code(), Some(code), "{arguments:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    run: Vec<Run>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Run {
    model: String,
    suite: String,
    blocks: [u64; 2],
    decisions: [u64; 2],
    actions: [u64; 2],
    subset: Vec<String>,
    findings: Vec<(String, u64)>,
}

#[test]
fn planted_holes_are_found_no_more_and_no_less() {
    let mut folders: Vec<PathBuf> =
        fs::read_dir(library()).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.retain(|path| path.is_dir());
    folders.sort();
    assert_eq!(folders.len(), 6);
    for folder in folders {
        assert!(folder.join("README.md").is_file(), "{}", folder.display());
        let expected: Expected =
            toml::from_str(&fs::read_to_string(folder.join("expected.toml")).unwrap()).unwrap();
        for run in expected.run {
            let (model, suite) = (folder.join(&run.model), folder.join(&run.suite));
            let (model, suite) = (model.to_str().unwrap(), suite.to_str().unwrap());
            let found = cover(&[model, "--examples", suite], 0);
            let counts =
                |what: &str| [&found[what]["covered"], &found[what]["total"]].map(|n| n.as_u64().unwrap());
            let name = format!("{} {}", run.model, run.suite);
            assert_eq!(counts("blocks"), run.blocks, "{name}");
            assert_eq!(counts("decisions"), run.decisions, "{name}");
            assert_eq!(counts("actions"), run.actions, "{name}");
            let subset: Vec<&str> =
                found["subset"].as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
            assert_eq!(subset, run.subset, "{name}");
            let findings: Vec<(String, u64)> = found["findings"]
                .as_array()
                .unwrap()
                .iter()
                .map(|one| (one["kind"].as_str().unwrap().to_owned(), one["line"].as_u64().unwrap()))
                .collect();
            assert_eq!(findings, run.findings, "{name}");
        }
    }
}

/// The reasons for planted actions that never happen: profile, value and guard.
#[test]
fn reasons_are_told() {
    let why = |name: &str, line: u64| {
        let folder = library().join(name);
        let (model, suite) = (folder.join(format!("{name}.lnt")), folder.join("suite.toml"));
        let found = cover(&[model.to_str().unwrap(), "--examples", suite.to_str().unwrap()], 0);
        let finding = found["findings"].as_array().unwrap().iter().find(|one| one["line"] == line).cloned();
        finding.unwrap()["why"].to_string()
    };
    let profile = why("agent_reconfiguration", 40);
    assert!(profile.contains("here ORDER !2 !BIND !LEFT, there AGENT ORDER !2 !BIND"), "{profile}");
    let values = why("self_configuration", 34);
    assert!(values.contains("it must synchronise with BUFFER, but the values never match"), "{values}");
    assert!(values.contains("here RECEIVE !1 ?nat !IS_DOWN, there BUFFER RECEIVE !1 !2 !IS_UP"), "{values}");
    let guard = why("reconfiguration", 55);
    assert!(guard.contains("a guard never holds"), "{guard}");
    let operands = why("agent_reconfiguration", 49);
    assert!(operands.contains("tries was always 2"), "{operands}");
}

fn synchro(version: u32, suite: u32) -> [String; 2] {
    let folder = library().join("synchro");
    [format!("synchro{version}.lnt"), format!("suite{suite}.toml")]
        .map(|file| folder.join(file).to_str().unwrap().to_owned())
}

#[test]
fn sixty_two_percent_become_a_hundred() {
    let [model, suite] = synchro(1, 1);
    cover(&[&model, "--examples", &suite, "--min", "62"], 1);
    let first = cover(&[&model, "--examples", &suite], 0);
    assert_eq!(
        (first["blocks"]["covered"].as_u64(), first["blocks"]["total"].as_u64()),
        (Some(13), Some(21))
    );
    let [model, suite] = synchro(2, 2);
    let second = cover(&[&model, "--examples", &suite, "--min", "100"], 0);
    assert_eq!(second["findings"].as_array().map(Vec::len), Some(0));
    assert_eq!(second["holes"].as_array().map(Vec::len), Some(0));
}

#[test]
fn both_methods_agree_on_the_models_with_holes() {
    for name in ["directory_cache", "lazy_cache", "self_configuration", "reconfiguration"] {
        let folder = library().join(name);
        let (model, suite) = (folder.join(format!("{name}.lnt")), folder.join("suite.toml"));
        let (model, suite) = (model.to_str().unwrap(), suite.to_str().unwrap());
        let direct = cover(&[model, "--examples", suite], 0);
        let probes = cover(&[model, "--examples", suite, "--method", "probes"], 0);
        assert_eq!(direct["actions"], probes["actions"], "{name}");
        let states = |found: &Value| -> u64 {
            found["examples"].as_array().unwrap().iter().map(|one| one["states"].as_u64().unwrap()).sum()
        };
        assert!(states(&probes) > states(&direct), "{name}: probes add states");
    }
}

/// The two steps of the paper. The model with holes has 21 blocks, 5 decisions and 25 actions; with four examples its
/// decisions are all covered, so that each uncovered block is executable. The repaired model has 20 blocks, 5 decisions
/// and 26 actions, all of them covered: the first step is sufficient.
#[test]
fn probes_are_written_in_two_steps() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("probes");
    let emit = |model: &str, suite: &str| {
        let told =
            watershed(&["cover", model, "--examples", suite, "--emit-probes", folder.to_str().unwrap()]);
        assert_eq!(told.status.code(), Some(0));
        String::from_utf8_lossy(&told.stderr).into_owned()
    };
    let lines = |path: &Path| fs::read_to_string(path.join("probes.txt")).unwrap().lines().count();
    let [model, suite] = synchro(1, 2);
    let measured = cover(&[&model, "--examples", &suite], 0);
    let counts = &measured["executability"];
    let partial = counts["executable"].as_u64().unwrap() as usize;
    assert!(partial > 0 && counts["not_executable"] == 0, "{counts}");
    let holes = measured["holes"].as_array().unwrap();
    assert_eq!(holes.iter().filter(|hole| hole["executable"] == true).count(), partial);
    let told = emit(&model, &suite);
    let second = folder.join("second_step");
    assert_eq!(lines(&folder), 21 + 5);
    let actions = lines(&second);
    assert!(actions >= partial && actions < 25, "{actions}");
    let saved = format!("everything at once would need 51 probes: the two steps save {}", 25 - actions);
    assert!(told.contains(&saved), "{told}");
    // Each step can be explored; the second one has no probes but those of actions.
    for step in [&folder, &second] {
        let file = step.join("synchro1.lnt");
        let explored =
            watershed(&["explore", file.to_str().unwrap(), "--root", "SYSTEM (1, false, false)", "--quiet"]);
        assert_eq!(explored.status.code(), Some(0), "{}", String::from_utf8_lossy(&explored.stderr));
    }
    let text = fs::read_to_string(second.join("synchro1.lnt")).unwrap();
    assert!(text.contains("PROBE (\"A") && !text.contains("PROBE (\"B") && !text.contains("PROBE (\"D"));
    // What was written for another model goes away.
    let [model, suite] = synchro(2, 2);
    let told = emit(&model, &suite);
    assert!(told.contains("no second step is needed"), "{told}");
    assert!(told.contains("would need 51 probes: the two steps save 26"), "{told}");
    assert!(lines(&folder) == 20 + 5 && !second.exists());
}

/// A folder with a model and a suite.
struct Case {
    folder: tempfile::TempDir,
}

impl Case {
    fn new(model: &str, suite: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("m.lnt"), model).unwrap();
        fs::write(folder.path().join("suite.toml"), suite).unwrap();
        Self { folder }
    }

    fn path(&self, file: &str) -> String {
        self.folder.path().join(file).to_str().unwrap().to_owned()
    }

    fn errors(&self) -> String {
        errors(&[&self.path("m.lnt"), "--examples", &self.path("suite.toml")], 2)
    }
}

const DOOR: &str = "module m is
   function size : nat is return 2 end function
   process MAIN [OPEN, RING : none] (locked : bool) is
      if locked then RING else OPEN end if
   end process
end module";

#[test]
fn wrong_suites_are_told_with_place_cause_and_hint() {
    let empty = Case::new(DOOR, "").errors();
    assert!(empty.contains("this suite has no examples") && empty.contains("[[example]]"), "{empty}");
    let comment = Case::new(DOOR, "# later\n").errors();
    assert!(comment.contains("suite.toml:1:1"), "{comment}");
    let key = Case::new(DOOR, "[[example]]\nrot = 'MAIN (true)'\n").errors();
    assert!(key.contains("suite.toml:2:1") && key.contains("did you mean `root`?"), "{key}");
    let syntax = Case::new(DOOR, "[[example]\nroot = 'MAIN'\n").errors();
    assert!(syntax.contains("suite.toml:1:"), "{syntax}");
    let types =
        Case::new(DOOR, "[[example]]\nroot = 'MAIN (true)'\n\n[[example]]\nroot = 'MAIN (3)'\n").errors();
    assert!(types.contains("in example `MAIN (3)` of") && types.contains("suite.toml:4:1"), "{types}");
    let missing = Case::new(DOOR, "[[example]]\nmodules = { INPUT = 'input.lnt' }\n").errors();
    assert!(missing.contains("can't read") && missing.contains("suite.toml:2:21"), "{missing}");
    let twice =
        Case::new(DOOR, "[[example]]\nroot = 'MAIN (true)'\n[[example]]\nroot = 'MAIN (true)'\n").errors();
    assert!(twice.contains("two examples have the name"), "{twice}");
    let constant = Case::new(DOOR, "[[example]]\nroot = 'MAIN (true)'\nconstants = { sise = 3 }\n").errors();
    assert!(
        constant.contains("no constant `sise`") && constant.contains("did you mean `size`?"),
        "{constant}"
    );
    let alone = Case::new(DOOR, "[[example]]\nmodule = 'INPUT'\n").errors();
    assert!(alone.contains("`module` needs `directory`"), "{alone}");
    let unnamed = errors(&[&Case::new(DOOR, "").path("m.lnt")], 2);
    assert!(unnamed.contains("can't read") || unnamed.contains("needs arguments"), "{unnamed}");
}

#[test]
fn a_model_without_decisions_says_so() {
    let case = Case::new("module m is process MAIN [A : none] is A end process end module", "");
    let output = watershed(&["cover", &case.path("m.lnt"), "--no-cache", "--min", "100"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("decisions   none in this model"), "{text}");
}

#[test]
fn a_limit_makes_the_coverage_partial() {
    let model = "module m is process MAIN [A, B : any] is
        var n : nat in n := 0; while n < 200 loop A (n); n := n + 1 end loop; B (n) end var
        end process end module";
    let case =
        Case::new(model, "[[example]]\nmax_states = 20\n[[example]]\nname = 'other'\nmax_states = 30\n");
    let arguments = [&case.path("m.lnt"), "--examples", &case.path("suite.toml")];
    let found = cover(&arguments, 3);
    assert_eq!(found["partial"], true);
    assert_eq!(found["examples"][0]["complete"], false);
    assert!(found["examples"][0]["stopped"].as_str().unwrap().contains("the state limit"));
    assert!(errors(&arguments, 3).contains("partial result"));
    // A run-time error is an answer, with the way to it.
    let case = Case::new(&model.replace("n < 200", "n <= 255"), "[[example]]\nname = 'overflow'\n");
    let text = errors(&[&case.path("m.lnt"), "--examples", &case.path("suite.toml")], 1);
    assert!(text.contains("example `overflow` fails: 256 is outside the range"), "{text}");
}

#[test]
fn measurements_are_cached_by_content() {
    let case = Case::new(DOOR, "[[example]]\nroot = 'MAIN (true)'\n[[example]]\nroot = 'MAIN (false)'\n");
    let cached = || {
        let output = watershed(&[
            "cover",
            &case.path("m.lnt"),
            "--examples",
            &case.path("suite.toml"),
            "--cache",
            &case.path("cache"),
            "--json",
        ]);
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(found["blocks"]["covered"], 2);
        [0, 1].map(|example| found["examples"][example]["cached"].as_bool().unwrap())
    };
    assert_eq!(cached(), [false, false]);
    assert_eq!(cached(), [true, true]);
    let model = fs::read_to_string(case.path("m.lnt")).unwrap();
    fs::write(case.path("m.lnt"), format!("-- changed\n{model}")).unwrap();
    assert_eq!(cached(), [false, false]);
}

/// All reports of the first version of the protocol.
fn reports() -> (tempfile::TempDir, [PathBuf; 4], Value) {
    let scratch = tempfile::tempdir().unwrap();
    let paths =
        ["coverage.info", "coverage.xml", "findings.sarif", "report"].map(|name| scratch.path().join(name));
    let [model, suite] = synchro(1, 1);
    let [lcov, cobertura, sarif, html] = paths.each_ref().map(|path| path.to_str().unwrap());
    let found = cover(
        &[
            &model,
            "--examples",
            &suite,
            "--lcov",
            lcov,
            "--cobertura",
            cobertura,
            "--sarif",
            sarif,
            "--html",
            html,
        ],
        0,
    );
    (scratch, paths, found)
}

#[test]
fn lcov_is_read_back() {
    use lcov::Record;
    let (_scratch, [path, ..], _) = reports();
    let records: Vec<Record> = lcov::Reader::open_file(&path).unwrap().map(Result::unwrap).collect();
    let mut lines = std::collections::BTreeMap::new();
    let (mut branches, mut functions) = (0, Vec::new());
    for record in &records {
        match record {
            Record::LineData { line, count, .. } => assert!(lines.insert(*line, *count).is_none()),
            Record::BranchData { .. } => branches += 1,
            Record::FunctionData { name, count } => functions.push((name.as_str(), *count)),
            _ => {}
        }
    }
    // Five decisions with two outcomes each; three processes that one example has entered.
    assert_eq!(branches, 10);
    assert_eq!(functions, [("TASK", 1), ("GATE", 1), ("SYSTEM", 1)]);
    // Line 14 makes ready, line 27 is dead, line 1 is a comment.
    assert_eq!((lines.get(&14), lines.get(&27), lines.get(&1)), (Some(&1), Some(&0), None));
    assert!(records.contains(&Record::LinesFound { found: lines.len() as u32 }));
}

#[test]
fn genhtml_accepts_the_tracefile() {
    let Ok(version) = Command::new("genhtml").arg("--version").output() else {
        eprintln!("skipped: genhtml (Debian's lcov) is not installed");
        return;
    };
    let (scratch, [path, ..], _) = reports();
    let output = Command::new("genhtml")
        .arg(&path)
        .args(["--branch-coverage", "--output-directory"])
        .arg(scratch.path().join("genhtml"))
        .output()
        .unwrap();
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {text}", String::from_utf8_lossy(&version.stdout));
    assert!(scratch.path().join("genhtml/index.html").is_file());
    // Three processes that were entered: what is read is what was meant.
    assert!(text.contains("(3 of 3 functions)"), "{text}");
}

#[test]
fn cobertura_is_read_back() {
    let (_scratch, [_, path, ..], _) = reports();
    let text = fs::read_to_string(path).unwrap();
    let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
    let document = roxmltree::Document::parse_with_options(&text, options).unwrap();
    let coverage = document.root_element();
    assert_eq!(coverage.tag_name().name(), "coverage");
    assert_eq!(coverage.attribute("branches-valid"), Some("10"));
    let named =
        |name: &str| document.descendants().filter(|node| node.has_tag_name(name)).collect::<Vec<_>>();
    let classes: Vec<&str> = named("class").iter().filter_map(|class| class.attribute("name")).collect();
    assert_eq!(classes, ["TASK", "GATE", "SYSTEM"]);
    let lines = named("line");
    let covered = lines.iter().filter(|line| line.attribute("hits") != Some("0")).count();
    assert_eq!(coverage.attribute("lines-valid"), Some(lines.len().to_string().as_str()));
    assert_eq!(coverage.attribute("lines-covered"), Some(covered.to_string().as_str()));
    let rate: f64 = coverage.attribute("line-rate").unwrap().parse().unwrap();
    assert!((rate - covered as f64 / lines.len() as f64).abs() < 1e-3);
}

#[test]
fn sarif_is_read_back() {
    let (_scratch, [_, _, path, _], found) = reports();
    let log: serde_sarif::sarif::Sarif = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let results = log.runs[0].results.as_ref().unwrap();
    let findings = found["findings"].as_array().unwrap();
    assert_eq!(results.len(), findings.len());
    for (result, finding) in results.iter().zip(findings) {
        assert_eq!(result.rule_id.as_deref(), finding["kind"].as_str());
        let location = result.locations.as_ref().unwrap()[0].physical_location.as_ref().unwrap();
        let region = location.region.as_ref().unwrap();
        assert_eq!(region.start_line, finding["line"].as_i64());
        assert_eq!(region.start_column, finding["column"].as_i64());
        let uri = location.artifact_location.as_ref().unwrap().uri.as_ref().unwrap();
        assert!(uri.ends_with("synchro1.lnt"));
    }
}

#[test]
fn the_page_stands_alone() {
    let (_scratch, [.., folder], _) = reports();
    let page = fs::read_to_string(folder.join("index.html")).unwrap();
    assert!(page.contains("<span>synchro1</span>"), "a tree of modules");
    for process in ["TASK", "GATE", "SYSTEM"] {
        assert!(page.contains(&format!(">{process}</a>")), "{process} in the tree");
    }
    assert!(!page.contains("http://") && !page.contains("https://") && !page.contains("<script src"));
    assert!(page.contains("dead code: this is never reached"));
    let open = |tag: &str| page.matches(&format!("<{tag}")).count();
    let close = |tag: &str| page.matches(&format!("</{tag}>")).count();
    for tag in ["section", "details", "pre", "article", "ul", "table"] {
        assert_eq!(open(tag), close(tag), "{tag}");
    }
}

#[test]
fn suggestions_baselines_and_further_criteria() {
    let [model, suite] = synchro(2, 1);
    let found = cover(&[&model, "--examples", &suite, "--suggest", "16", "--conditions", "--pairs"], 0);
    let suggested = found["suggestions"]["examples"].as_array().unwrap();
    assert_eq!(suggested[0]["root"], "SYSTEM (2, false, true)");
    assert_eq!(found["suggestions"]["exhaustive"], false);
    let kinds: Vec<&str> =
        found["findings"].as_array().unwrap().iter().map(|one| one["kind"].as_str().unwrap()).collect();
    assert!(kinds.contains(&"missing-example"), "{kinds:?}");
    let names: Vec<&str> =
        found["criteria"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["conditions", "MC/DC", "gate pairs"]);

    let scratch = tempfile::tempdir().unwrap();
    let baseline = scratch.path().join("last_week.json");
    let full = synchro(2, 2)[1].clone();
    fs::write(&baseline, cover(&[&model, "--examples", &full], 0).to_string()).unwrap();
    let baseline = baseline.to_str().unwrap();
    let same = cover(&[&model, "--examples", &full, "--baseline", baseline], 0);
    assert_eq!(same["baseline"]["lost"].as_array().map(Vec::len), Some(0));
    let less = cover(&[&model, "--examples", &suite, "--baseline", baseline], 1);
    assert!(
        less["baseline"]["lost"]
            .as_array()
            .unwrap()
            .iter()
            .any(|name| name == "block of TASK: LEAVE (self); gone := true")
    );
    let wrong = errors(&[&model, "--examples", &suite, "--baseline", &model], 2);
    assert!(wrong.contains("not the output of an earlier run"), "{wrong}");
}

/// The folder of the model has a file of the same name: nothing is written there.
#[test]
fn probes_overwrite_no_model() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().to_str().unwrap();
    let path = scratch.path().join("m.lnt");
    let text = "module m is process MAIN [A : none] is A end process end module";
    fs::write(&path, text).unwrap();
    let model = path.to_str().unwrap();
    let told = errors(&[model, "--emit-probes", folder], 2);
    assert!(told.contains("contains other files"), "{told}");
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    let probes = scratch.path().join("probes");
    for _ in 0..2 {
        errors(&[model, "--emit-probes", probes.to_str().unwrap()], 0);
    }
    assert!(fs::read_to_string(probes.join("m.lnt")).unwrap().contains("PROBE"));
}

/// A run-time error is told as by `explore`, and what was not explored is said in every report.
#[test]
fn errors_and_limits_are_told_everywhere() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("m.lnt");
    let text = "module m is process MAIN [A : any] is var x : nat in x := 3;
        loop A (x); if x > 250 then A (0) end if; x := x + 100 end loop end var end process end module";
    fs::write(&path, text).unwrap();
    let (model, sarif) = (path.to_str().unwrap(), scratch.path().join("s.sarif"));
    let told = errors(&[model], 1);
    assert!(told.contains("m.lnt:2:") && told.contains("this happens in the step A !203"), "{told}");
    assert!(told.contains("help:"), "{told}");
    // A report of a part never takes the place of another one.
    fs::write(&sarif, "earlier").unwrap();
    let limited = [model, "--max-states", "1", "--sarif", sarif.to_str().unwrap()];
    let told = errors(&limited, 3);
    assert!(told.contains("s.sarif is not written: the coverage is partial"), "{told}");
    errors(&[&limited[..], &["--partial"]].concat(), 3);
    assert_eq!(fs::read_to_string(&sarif).unwrap(), "earlier");
    let partial = scratch.path().join("s.partial.sarif");
    let log: Value = serde_json::from_str(&fs::read_to_string(partial).unwrap()).unwrap();
    let run = &log["runs"][0];
    let notes = run["invocations"][0]["toolExecutionNotifications"].as_array().unwrap();
    assert!(notes[0]["message"]["text"].as_str().unwrap().contains("the state limit"), "{notes:?}");
    let finding = run["results"][0]["message"]["text"].as_str().unwrap();
    assert!(finding.contains("not everything was explored"), "{finding}");

    // Suites and models may be packed.
    let packed = ["ok.toml.gz", "m.lnt.zst"].map(|name| scratch.path().join(name));
    lts::write_file(&packed[0], |out| out.write_all(b"[[example]]\nroot = 'MAIN'\n")).unwrap();
    lts::write_file(&packed[1], |out| out.write_all(text.as_bytes())).unwrap();
    let [suite, model_packed] = packed.map(|path| path.to_str().unwrap().to_owned());
    let told = errors(&[&model_packed, "--examples", &suite], 1);
    assert!(told.contains("this happens in the step A !203"), "{told}");

    let suite = scratch.path().join("s.toml");
    fs::write(&suite, "[[example]]\nconstants = { N = 3.5 }\n").unwrap();
    let told = errors(&[model, "--examples", suite.to_str().unwrap()], 2);
    assert!(told.contains("a constant is true, false, an integer, or an expression in quotes"), "{told}");
}

/// A module that nothing imports, a percentage that can't be reached, and a search where nothing can be varied.
#[test]
fn requests_without_an_effect_are_told() {
    let scratch = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = scratch.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let model = write(
        "m.lnt",
        "module m is process P [A, B : none] (x : bool) is if x then A else B end if end process
         process MAIN [A, B : none] is P [...] (true) end process end module",
    );
    write("other.lnt", "module other is function f : nat is return 1 end function end module");
    let suite = write("suite.toml", "[[example]]\nmodules = { OTHER = \"other.lnt\" }\n");
    let told = errors(&[&model, "--examples", &suite], 0);
    assert!(told.contains("no module imports OTHER"), "{told}");
    for wrong in ["101", "-1", "nan", "most"] {
        assert!(errors(&[&model, &format!("--min={wrong}")], 2).contains("--min"), "{wrong}");
    }
    // MAIN has no parameters: that is no proof that no example can close the hole.
    let found = cover(&[&model, "--suggest"], 0);
    assert_eq!(found["suggestions"]["exhaustive"], false);
    assert!(found["findings"][0]["advice"].is_null(), "{found}");
    let found = cover(&[&model, "--example", "P (true)", "--suggest"], 0);
    assert_eq!(found["suggestions"]["examples"][0]["root"], "P (false)");
}

/// Functions have lines of their own in every report. By hand: `next` has three blocks, of which two are executed, and a
/// decision that has both outcomes, behind one that is only false.
#[test]
fn functions_are_reported_apart() {
    let case = Case::new(
        "module m is
         function next (n : nat) : nat is
            if n > 9 then return 9 end if;
            if n == 0 then return 1 else return 2 end if
         end function
         process MAIN [A : any] (n : nat) is A (next (n)) end process
         end module",
        "[[example]]\nroot = 'MAIN (0)'\n[[example]]\nroot = 'MAIN (1)'\n",
    );
    let (model, suite) = (case.path("m.lnt"), case.path("suite.toml"));
    let [lcov, html] = ["m.info", "m.html"].map(|name| case.path(name));
    let arguments = [&model, "--examples", &suite, "--lcov", &lcov, "--html", &html].map(|one| one as &str);
    let found = cover(&arguments, 0);
    assert_eq!((&found["blocks"]["total"], &found["decisions"]["total"]), (&Value::from(1), &Value::from(0)));
    let functions = &found["functions"];
    assert_eq!(functions["blocks"], serde_json::json!({ "total": 3, "covered": 2 }));
    assert_eq!(functions["decisions"]["covered"], 1);
    assert_eq!(functions["decisions"]["only_false"], 1);
    let holes: Vec<&str> =
        functions["holes"].as_array().unwrap().iter().map(|hole| hole["text"].as_str().unwrap()).collect();
    assert_eq!(holes, ["n > 9", "return 9"]);
    let lines = fs::read_to_string(&lcov).unwrap();
    for line in ["FN:2,next", "FNDA:2,next", "BRDA:3,0,0,0", "BRDA:3,0,1,2", "DA:3,0"] {
        assert!(lines.lines().any(|own| own == line), "{line}: {lines}");
    }
    let page = fs::read_to_string(&html).unwrap();
    assert!(page.contains("blocks of functions <small>2 of 3</small>") && page.contains("m (functions)"));
    // `--min` is about processes.
    cover(&[&model, "--examples", &suite, "--min", "100"], 0);
    let told = watershed(&["cover", &model, "--examples", &suite]);
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    assert!(told.contains("functions     66.7 %  2 of 3 blocks\n"), "{told}");
}

/// Suggestions can be pasted into the suite, and close what they say.
#[test]
fn suggestions_can_be_pasted() {
    let case = Case::new(
        "module m is process MAIN [A, B : none] (a, b : nat) is
            if (a == 2) and (b == 1) then A else B end if
         end process end module",
        "[[example]]\nroot = 'MAIN (0, 0)'\n",
    );
    let (model, suite) = (case.path("m.lnt"), case.path("suite.toml"));
    let told = watershed(&["cover", &model, "--examples", &suite, "--suggest"]);
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    let (_, pasted) = told.split_once("add this to the suite:\n\n").unwrap();
    let pasted = pasted.split("\n\n").next().unwrap();
    let text = fs::read_to_string(&suite).unwrap();
    fs::write(&suite, format!("{text}\n{pasted}\n")).unwrap();
    let found = cover(&[&model, "--examples", &suite, "--min", "100"], 0);
    assert_eq!(found["examples"].as_array().unwrap().len(), 2);
}
