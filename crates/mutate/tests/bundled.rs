//! Mutants of the bundled models: nearly all are models themselves, spans are exact, and each is one change.

use std::path::{Path, PathBuf};

use model::{Operator, Telling};

/// Models of `models/` that start by themselves.
const MODELS: [&str; 13] = [
    "two_phase_commit",
    "interlocking",
    "alternating_bit",
    "sliding_window",
    "readers_writers",
    "cache_coherence",
    "peterson",
    "lift",
    "rock_paper_scissors",
    "leader_election",
    "philosophers",
    "vending_machine",
    "producer_consumer",
];

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../models/{name}/{name}.lnt"))
}

#[test]
fn nearly_all_mutants_are_models() {
    let (mut all, mut refused) = (0, Vec::new());
    let mut operators: Vec<Operator> = Vec::new();
    for name in MODELS {
        let subject = cover::Subject::new(&path(name)).ok().unwrap();
        let start = cover::Example::default();
        let Ok(opened) = subject.open_telling(&start, Telling::Nothing) else {
            panic!("{name} can't be opened")
        };
        for mutant in opened.program.mutants(&opened.sources) {
            all += 1;
            operators.push(mutant.operator);
            let file = mutant.span.file;
            let before = opened.sources.text(file);
            let text = mutant.apply(before);
            assert_ne!(text, before);
            for &neighbour in &mutant.neighbours {
                assert_eq!(&text[mutant.moved(neighbour)], opened.sources.slice(neighbour));
            }
            let changed = subject.changed(opened.sources.name(file), text);
            if let Err(error) = changed.open_telling(&start, Telling::Nothing) {
                let message = &error.diagnostics[0].message;
                refused.push(format!("{name}: {message}\n{}", mutant.diff(&opened.sources)));
            }
        }
    }
    if std::env::var_os("SHOW").is_some() {
        println!("{}", refused.join("\n"));
    }
    for &operator in Operator::ALL {
        assert!(operators.contains(&operator), "no mutant by {operator}");
    }
    assert!(all > 1000, "{all} mutants");
    let share = refused.len() * 100 / all;
    assert!(share < 1, "{} of {all} are refused; the first is\n{}", refused.len(), refused[0]);
}
