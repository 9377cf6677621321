//! What LNT means: small models of one construct each, with the transition system worked out by hand beside them.

use std::fs;

use bisim::Relation;
use explore::{Exploration, Limits, Outcome, explore};
use lnt::{LntModel, Loader, Options};
use lts::{Lts, Progress};
use model::Model;
use source::Sources;

/// Compiles the root process of what the loader loads.
fn compile(checked: Result<lnt::Checked, Vec<source::Diagnostic>>, sources: &Sources) -> LntModel {
    let checked = checked.unwrap_or_else(|errors| panic!("{}", sources.render_all(&errors, false)));
    let root = checked.program.main().expect("a process to start with");
    LntModel::new(checked.program, root, &Options::default())
        .unwrap_or_else(|errors| panic!("{}", sources.render_all(&errors, false)))
}

fn explored(model: &LntModel) -> Exploration {
    explore(model, &Limits::default(), &Progress::new())
}

fn show(lts: &Lts) -> String {
    let mut text = Vec::new();
    lts::write_aut(lts, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

#[test]
fn constructs_mean_what_was_worked_out_by_hand() {
    let mut files: Vec<_> =
        fs::read_dir("tests/semantics").unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "lnt"));
    files.sort();
    assert!(files.len() >= 40, "{} models", files.len());
    let mut wrong = Vec::new();
    for path in files {
        let mut sources = Sources::new();
        let model = compile(Loader::new().load(&path, &mut sources), &sources);
        let found = explored(&model);
        let expected = fs::read_to_string(path.with_extension("aut")).unwrap();
        let expected = lts::parse_aut(&expected, &Default::default()).unwrap();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if let Outcome::Error { error, .. } = &found.outcome {
            wrong.push(format!("{name}: {}", error.message));
        } else if !bisim::compare(&found.lts, &expected, Relation::Strong).unwrap().is_equivalent() {
            wrong.push(format!("{name}:\n{}", show(&found.lts)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The statements after `A`, what is said about them, and the labels that lead there.
#[test]
fn run_time_errors_come_with_the_trace_that_leads_to_them() {
    // Statements are computed with the action before them, offers with their own: the trace leads to the state in
    // which that action begins.
    let cases: [(&str, &str, &[&str]); 12] = [
        (
            "n := 250; loop n := n + 1; C (n) end loop",
            "256 is outside the range 0..255 of type nat",
            &["A", "C !251", "C !252", "C !253", "C !254"],
        ),
        ("n := 0; n := n - 1; C (n)", "-1 is outside the range 0..255 of type nat", &[]),
        ("z := 127; z := z + 1; B; D (z)", "128 is outside the range -128..127 of type int", &[]),
        ("B; n := 0; n := 1 div n; C (n)", "division by zero", &["A"]),
        ("n := 0; n := 1 mod n; C (n)", "division by zero", &[]),
        ("l := {}; C (head (l))", "an empty list has no head", &["A"]),
        ("l := {}; B; l := tail (l); C (length (l))", "an empty list has no tail", &["A"]),
        ("l := {1, 2}; C (element (l, 3))", "there is no element 3 in a collection of 2", &["A"]),
        ("r := row (0); n := 2; C (r[n])", "index 2 is outside the bounds 0..1", &["A"]),
        ("n := 4; case n in 0 -> B | 1 -> C (n) end case", "no branch of this case matches", &[]),
        ("n := 1; B; assert n == 2; C (n)", "the assertion does not hold", &["A"]),
        ("n := 11; d := digit (n); C (nat (d))", "11 is outside the range 0..9 of type digit", &[]),
    ];
    let mut wrong = Vec::new();
    for (body, message, trace) in cases {
        let text = format!(
            "module faulty is
             type numbers is list of nat with \"head\", \"tail\", \"element\", \"length\" end type
             type row is array [0 .. 1] of nat end type
             type digit is range 0 .. 9 of nat end type
             channel c is (nat) end channel
             channel e is (int) end channel
             process MAIN [A, B : none, C : c, D : e] is
                var n : nat, z : int, l : numbers, r : row, d : digit in
                   A; {body}
                end var
             end process
             end module"
        );
        let mut sources = Sources::new();
        let model = compile(Loader::new().load_text("faulty.lnt", &text, &mut sources), &sources);
        let found = explored(&model);
        let Outcome::Error { error, state } = &found.outcome else {
            wrong.push(format!("{body}: no error"));
            continue;
        };
        let steps = found.trace_to(&model, state.expect("not before the first step")).unwrap();
        let labels: Vec<String> = steps.iter().map(|step| model.label(step.label)).collect();
        if !error.message.contains(message) || error.span.is_none() || labels != trace {
            wrong.push(format!("{body}: {} after {labels:?}", error.message));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Values that are not read again are forgotten, and code runs ahead to the next action.
#[test]
fn dead_values_and_eager_code_multiply_no_states() {
    let text = "module small is
        channel c is (nat) end channel
        process MAIN [A : c, B : none] is
           var n, square : nat in
              loop
                 A (?n) where n < 10;
                 square := n * n;
                 if square > 50 then B else null end if
              end loop
           end var
        end process
        end module";
    let mut sources = Sources::new();
    let model = compile(Loader::new().load_text("small.lnt", text, &mut sources), &sources);
    let found = explored(&model);
    // One state before A, one before B: neither n nor its square is read again.
    assert_eq!((found.states(), found.statistics.transitions), (2, 11));
}
