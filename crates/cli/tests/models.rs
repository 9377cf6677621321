//! The bundled models: every folder of `models/` is explored, reduced and compared with its `expected.toml`, and its
//! properties are checked.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use lts::Progress;
use serde::Deserialize;
use source::Sources;

/// The sizes of one root process.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sizes {
    root: Option<String>,
    states: u64,
    transitions: u64,
    labels: u64,
    deadlocks: u64,
    #[serde(default)]
    reduced: Reduced,
}

/// States and transitions of the quotients.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Reduced {
    strong: Option<[u64; 2]>,
    branching: Option<[u64; 2]>,
}

/// What `expected.toml` says.
#[derive(Deserialize)]
struct Expected {
    model: String,
    #[serde(flatten)]
    main: Sizes,
    #[serde(default)]
    variants: Vec<Sizes>,
}

fn library() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models")
}

fn watershed(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_watershed")).args(arguments).output().expect("watershed starts")
}

fn json(arguments: &[&str]) -> serde_json::Value {
    let output = watershed(&[arguments, &["--json"]].concat());
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("one JSON object")
}

/// Explores to a file.
fn generate(model: &str, root: Option<&str>, threads: &str, output: &str) -> serde_json::Value {
    let mut arguments = vec!["explore", model, "-o", output, "--threads", threads];
    if let Some(root) = root {
        arguments.extend(["--root", root]);
    }
    json(&arguments)
}

/// One message for each number that is not as expected.
fn differences(model: &str, sizes: &Sizes, folder: &Path) -> Vec<String> {
    let root = sizes.root.as_deref();
    let name = format!("{model} {}", root.unwrap_or("MAIN"));
    let [first, second, reduced] =
        ["first.aut", "second.aut", "reduced.aut"].map(|file| folder.join(file).to_str().unwrap().to_owned());
    let found = generate(model, root, "1", &first);
    let mut wrong = Vec::new();
    let mut expect = |what: &str, found: &serde_json::Value, expected: u64| {
        if found.as_u64() != Some(expected) {
            wrong.push(format!("{name}: {found} {what}, expected {expected}"));
        }
    };
    expect("states", &found["states"], sizes.states);
    expect("transitions", &found["transitions"], sizes.transitions);
    expect("labels", &found["labels"], sizes.labels);
    expect("deadlocks", &found["deadlocks"], sizes.deadlocks);
    for (relation, size) in [("strong", sizes.reduced.strong), ("branching", sizes.reduced.branching)] {
        let Some([states, transitions]) = size else { continue };
        let found = json(&["reduce", &first, "--by", relation, "-o", &reduced]);
        expect(&format!("states modulo {relation}"), &found["after"]["states"], states);
        expect(&format!("transitions modulo {relation}"), &found["after"]["transitions"], transitions);
    }
    generate(model, root, "2", &second);
    if fs::read(&first).unwrap() != fs::read(&second).unwrap() {
        wrong.push(format!("{name}: two threads write another file than one"));
    }
    wrong
}

/// One message for each property that is not as its author expects.
fn surprises(properties: &Path, system: &Path) -> Vec<String> {
    let mut sources = Sources::new();
    let loaded = logic::load_properties(properties, &mut sources)
        .unwrap_or_else(|errors| panic!("{}", sources.render_all(&errors, false)));
    let system = lts::read_aut(system, &Default::default(), &Progress::new()).unwrap();
    let mut wrong = Vec::new();
    for property in &loaded.properties {
        let verdict = logic::check_lts(&system, &property.formula, &Default::default(), &Progress::new());
        match verdict {
            Ok(verdict) if verdict.holds == property.expected => {}
            Ok(verdict) => {
                wrong.push(format!("{}: {} is {}", properties.display(), property.name, verdict.holds))
            }
            Err(error) => wrong.push(format!("{}: {}: {error}", properties.display(), property.name)),
        }
    }
    wrong
}

#[test]
fn every_model_is_as_expected() {
    let scratch = tempfile::tempdir().unwrap();
    let mut folders: Vec<PathBuf> = fs::read_dir(library())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        // The galleries of `explain` and `cover` have tests of their own.
        .filter(|path| path.is_dir() && !path.ends_with("bugs") && !path.ends_with("coverage"))
        .collect();
    folders.sort();
    assert!(folders.len() >= 18, "the library has {} models", folders.len());
    let table = fs::read_to_string(library().join("README.md")).unwrap();
    let mut wrong = Vec::new();
    for folder in folders {
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        for file in ["README.md", "properties.mcl", "expected.toml"] {
            if !folder.join(file).is_file() {
                wrong.push(format!("{name}: {file} is missing"));
            }
        }
        if !table.contains(&format!("[{name}]({name}/README.md)")) {
            wrong.push(format!("{name}: not in the table of models/README.md"));
        }
        let Ok(text) = fs::read_to_string(folder.join("expected.toml")) else { continue };
        let expected: Expected = toml::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let model = folder.join(&expected.model).to_str().unwrap().to_owned();
        wrong.extend(differences(&model, &expected.main, scratch.path()));
        wrong.extend(surprises(&folder.join("properties.mcl"), &scratch.path().join("first.aut")));
        for variant in &expected.variants {
            wrong.extend(differences(&model, variant, scratch.path()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Each property has a name, a sentence, a formula and an expected verdict; deadlock, livelock and error are there.
#[test]
fn every_model_has_the_usual_properties() {
    for folder in fs::read_dir(library()).unwrap().map(|entry| entry.unwrap().path()) {
        let Ok(text) = fs::read_to_string(folder.join("properties.mcl")) else { continue };
        for name in ["no_deadlock", "no_livelock", "no_error"] {
            assert!(
                text.contains(&format!("property {name} \"")),
                "{}: no property {name}",
                folder.display()
            );
        }
        let count = |word: &str| text.matches(word).count();
        assert_eq!(
            count("end property"),
            count("expected TRUE") + count("expected FALSE"),
            "{}",
            folder.display()
        );
        assert!(count("end property") >= 4, "{}: too few properties", folder.display());
    }
}

/// What the READMEs say about pairs of processes.
#[test]
fn models_relate_as_their_readmes_say() {
    let scratch = tempfile::tempdir().unwrap();
    let file = |name: &str| scratch.path().join(name).to_str().unwrap().to_owned();
    let explore = |name: &str, root: &str| {
        let output = file(&format!("{name}_{root}.aut"));
        let model = library().join(name).join(format!("{name}.lnt"));
        generate(model.to_str().unwrap(), Some(root), "1", &output);
        output
    };
    let claims = [
        ("alternating_bit", "MAIN", "SERVICE", "branching", true),
        ("alternating_bit", "MAIN", "SERVICE", "divbranching", false),
        ("peterson", "MAIN", "BROKEN", "weak-trace", false),
        ("producer_consumer", "MAIN", "REPAIRED", "weak-trace", false),
        ("two_phase_commit", "MAIN", "IMPATIENT", "weak-trace", false),
        ("vending_machine", "MAIN", "REPAIRED", "weak-trace", false),
    ];
    for (name, left, right, relation, equivalent) in claims {
        let output =
            watershed(&["compare", &explore(name, left), &explore(name, right), "--by", relation, "--quiet"]);
        assert_eq!(output.status.code(), Some(if equivalent { 0 } else { 1 }), "{name}: {left}, {right}");
    }
}
