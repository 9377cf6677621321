//! Remembering what regions do changes nothing: steps out of packed states are those computed from scratch, in the same
//! order, with the same labels and origins.

use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;

use lnt::{LntModel, Loader, Options};
use lts::{LabelId, OriginId};
use model::{Model, ModelError, PackedWorker, Packing};
use proptest::prelude::*;
use source::Sources;

type Steps = (Vec<(LabelId, Vec<u32>, OriginId)>, Option<ModelError>);

fn steps(worker: &mut dyn PackedWorker, packed: &[u32]) -> Steps {
    let mut steps = Vec::new();
    let result = worker.successors(packed, &mut |step| {
        steps.push((step.label, step.target.to_vec(), step.origin));
    });
    (steps, result.err())
}

/// Walks through the first states of a model with both workers.
fn compare(name: &str, model: &LntModel, most: usize) {
    let Ok(initial) = model.initial() else { return };
    let layout = model.layout();
    let mut packed = vec![0; layout.words()];
    layout.pack(&initial, &mut packed).unwrap();
    let mut naive = Packing::new(model.worker(), layout);
    let mut remembering = model.packed_worker();
    let mut seen = HashSet::from([packed.clone()]);
    let mut todo = vec![packed];
    let mut next = 0;
    while next < todo.len().min(most) {
        let expected = steps(&mut naive, &todo[next]);
        let found = steps(remembering.as_mut(), &todo[next]);
        assert_eq!(found, expected, "{name}, state {next}");
        for (_, target, _) in expected.0 {
            if seen.insert(target.clone()) {
                todo.push(target);
            }
        }
        next += 1;
    }
}

fn check(name: &str, checked: Result<lnt::Checked, Vec<source::Diagnostic>>, sources: &Sources, most: usize) {
    let checked = checked.unwrap_or_else(|errors| panic!("{}", sources.render_all(&errors, false)));
    let Some(root) = checked.program.main() else { return };
    for provenance in [true, false] {
        let model =
            LntModel::new(checked.program.clone(), root, &Options { provenance, ..Options::default() })
                .unwrap_or_else(|errors| panic!("{}", sources.render_all(&errors, false)));
        compare(name, &model, most);
    }
}

#[test]
fn bundled_models_are_remembered_as_they_are() {
    let mut files: Vec<PathBuf> = Vec::new();
    let models = fs::read_dir("../../models").unwrap().map(|entry| entry.unwrap().path());
    for folder in models.filter(|path| path.is_dir()) {
        let name = folder.file_name().unwrap().to_owned();
        files.push(folder.join(name).with_extension("lnt"));
    }
    for folder in ["tests/semantics", "../../bench/models"] {
        files.extend(fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()));
    }
    files.retain(|path| path.extension().is_some_and(|extension| extension == "lnt") && path.exists());
    files.sort();
    assert!(files.len() >= 60, "{} models", files.len());
    for path in files {
        let mut sources = Sources::new();
        let checked = Loader::new().load(&path, &mut sources);
        check(&path.display().to_string(), checked, &sources, 3000);
    }
}

/// So many values that remembering is given up on the way: the step with which that happens keeps its origin,
/// whichever of its parts it is.
#[test]
fn steps_with_ever_new_values_keep_their_origins() {
    for early in 0..3 {
        let text = format!(
            "module m is
                !nat_sup 80
                channel c is (nat, nat, nat) end channel
                channel none is () end channel
                process LEFT [A : c, L : none] is var n : nat in n := 0;
                    loop select A (n, ?any nat, 0) [] L; n := (n + 1) mod 70 end select end loop
                end var end process
                process RIGHT [A : c, R : none] is var n : nat in n := 0;
                    loop select A (?any nat, n, 0) [] R; n := (n + 1) mod 70 end select end loop
                end var end process
                process EARLY [B : c] is var n : nat in
                    for n := 0 while n < {early} by n := n + 1 loop B (n, n, n) end loop; stop
                end var end process
                process WATCH [A, B : c] is var x : nat in loop
                    select A (?x, ?any nat, ?any nat) [] B (?x, ?any nat, ?any nat) end select;
                    if x mod 2 == 0 then null end if
                end loop end var end process
                process MAIN [A, B : c, L, R : none] is par
                    A -> LEFT [A, L] || A -> RIGHT [A, R] || B -> EARLY [B] || A, B -> WATCH [A, B]
                end par end process
            end module"
        );
        let mut sources = Sources::new();
        let checked = Loader::new().load_text("m.lnt", &text, &mut sources);
        check(&format!("{early} early"), checked, &sources, 6000);
    }
}

/// A statement of a component that has a variable `x`; nesting is bounded.
fn statement() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        (gate(), value()).prop_map(|(gate, value)| format!("{gate} ({value})")),
        gate().prop_map(|gate| format!("{gate} (?x)")),
        (gate(), 1..4u32).prop_map(|(gate, bound)| format!("{gate} (?x) where x < {bound}")),
        gate().prop_map(|gate| format!("{gate} (?any nat)")),
        (0..4u32).prop_map(|more| format!("x := (x + {more}) mod 4")),
        Just("x := any nat where x < 3".to_owned()),
        (1..4u32).prop_map(|bound| format!("only if x < {bound} then null end if")),
        Just("null".to_owned()),
        Just("stop".to_owned()),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 2..4).prop_map(|all| all.join("; ")),
            prop::collection::vec(inner.clone(), 2..4)
                .prop_map(|all| format!("select {} end select", all.join(" [] "))),
            (inner.clone(), inner.clone(), 1..4u32)
                .prop_map(|(yes, no, bound)| { format!("if x < {bound} then {yes} else {no} end if") }),
            (inner.clone(), inner.clone())
                .prop_map(|(body, by)| format!("disrupt {body} by A (x); {by} end disrupt")),
            // Branches read the variable outside, and have their own to write.
            (inner.clone(), inner).prop_map(|(left, right)| {
                let own = |text: String| format!("var x : nat in x := 1; {text} end var");
                format!("B (x); par A in C (x); {} || {} end par", own(left), own(right))
            }),
        ]
    })
}

fn gate() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just("A"), Just("B"), Just("C")]
}

fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        (0..4u32).prop_map(|value| value.to_string()),
        Just("x".to_owned()),
        Just("(x + 1) mod 4".to_owned()),
    ]
}

/// Components that loop, or not, composed in two ways.
fn system() -> impl Strategy<Value = String> {
    let component = (statement(), any::<bool>()).prop_map(|(text, loops)| match loops {
        true => format!("loop C (x); {text} end loop"),
        false => text,
    });
    (prop::collection::vec(component, 2..5), 0..4usize).prop_map(|(components, shape)| {
        let mut text = String::from("module random is\n!nat_sup 4\nchannel c is (nat) end channel\n");
        for (number, component) in components.iter().enumerate() {
            text += &format!(
                "process P{number} [A, B, C : c] is var x : nat in x := {}; {component} end var end process\n",
                number % 3
            );
        }
        let calls: Vec<String> = (0..components.len()).map(|number| format!("P{number} [A, B, C]")).collect();
        let calls = calls.join(" || ");
        let body = match shape {
            0 => format!("par {calls} end par"),
            1 => format!("par A in {calls} end par"),
            2 => format!("par A#2, B in {calls} end par"),
            _ => format!("hide C : c in par A, B in par A in {calls} end par || P0 [A, B, C] end par end hide"),
        };
        text + &format!("process MAIN [A, B, C : c] is {body} end process\nend module\n")
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn random_systems_are_remembered_as_they_are(text in system()) {
        let mut sources = Sources::new();
        let checked = Loader::new().load_text("random.lnt", &text, &mut sources);
        // The checker refuses some of them, such as code behind a `stop`.
        if checked.is_ok() {
            check(&text, checked, &sources, 300);
        }
    }
}
