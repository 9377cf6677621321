//! Properties of random systems in both logics: `modelCheck` of Maude, our own, and MCL on the model and on its transition
//! system say the same. `TEMPORAL_CASES=20000` takes more of them, `TEMPORAL_FIRST=1000` others.

mod answers;
#[path = "random/systems.rs"]
mod systems;

use answers::{answers, ours, theirs};
use lts::Progress;
use model::{Input, Language, Model, Text};
use systems::System;

/// How many systems Maude reads at once: starting it takes longer than most of them.
const AT_ONCE: u64 = 25;
/// Formulas about one system.
const FORMULAS: usize = 5;

#[test]
fn both_logics_say_the_same() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let cases = number("TEMPORAL_CASES").unwrap_or(500);
    let start = number("TEMPORAL_FIRST").unwrap_or(0);
    let folder = tempfile::tempdir().unwrap();
    let (mut compared, mut hold, mut asked) = (0, 0, 0);
    for first in (start..start + cases.div_ceil(FORMULAS as u64)).step_by(AT_ONCE as usize) {
        let systems: Vec<(u64, System)> =
            (first..first + AT_ONCE).map(|seed| (seed, systems::system(seed, FORMULAS))).collect();
        let text = commands(&systems);
        let path = folder.path().join("random.maude");
        std::fs::write(&path, &text).unwrap();
        let expected = theirs(&path).map(|output| verdicts(&output));
        let found = verdicts(&ours(&Text::new("random.maude", text), |_| {}));
        assert_eq!(found.len(), systems.len() * FORMULAS, "seeds from {first}");
        let with_mcl = systems.iter().flat_map(|(seed, system)| by_mcl(*seed, system));
        for (at, in_mcl) in with_mcl.enumerate() {
            let (seed, system) = &systems[at / FORMULAS];
            let formula = &system.formulas[at % FORMULAS];
            let about = || format!("seed {seed}: {}\n{}\n{}", formula.linear, formula.mcl, system.text);
            if let Some(expected) = &expected {
                assert_eq!(found[at], expected[at], "ours, Maude's; {}", about());
                asked += 1;
            }
            assert_eq!(in_mcl, [found[at]; 2], "MCL on the model and on its system, ours; {}", about());
            hold += usize::from(found[at]);
            compared += 1;
        }
    }
    println!("{compared} formulas, {hold} of which hold, {asked} of them asked of Maude");
    assert!(hold > compared / 5 && hold < compared * 4 / 5);
}

fn commands(systems: &[(u64, System)]) -> String {
    let mut text = "load model-checker\n".to_owned();
    for (seed, system) in systems {
        text += &system.text;
        for formula in &system.formulas {
            text += &format!("red in SYSTEM-{seed} : modelCheck(init, {}) .\n", formula.linear);
        }
    }
    text
}

fn verdicts(output: &str) -> Vec<bool> {
    let verdict = |answer: answers::Answer| match answer.rest.as_str() {
        "resultBool:true" => true,
        other if other.starts_with("resultModelCheckResult:counterexample(") => false,
        other => panic!("{}: {other}", answer.command),
    };
    answers(output).into_iter().map(verdict).collect()
}

/// The verdicts of MCL for each formula, on the model and on its transition system.
fn by_mcl(seed: u64, system: &System) -> Vec<[bool; 2]> {
    let text = Text::new("random.maude", format!("load model-checker\n{}", system.text));
    let mut sources = source::Sources::new();
    let program = maude::Maude
        .load(&Input::new(&text), &mut sources)
        .unwrap_or_else(|problems| panic!("seed {seed}: {problems:?}\n{}", system.text));
    let model = program.model();
    let progress = Progress::new();
    let limits = explore::Limits { threads: 1, ..Default::default() };
    let explored = explore::explore(model, &limits, &progress);
    assert!(explored.outcome.is_complete(), "seed {seed}: {:?}", explored.outcome);
    propositions_are_shown(seed, system, model, &explored);
    let mut verdicts = Vec::new();
    for formula in &system.formulas {
        let loaded = logic::load_text("random.mcl", &formula.mcl, &mut sources)
            .unwrap_or_else(|problems| panic!("seed {seed}: {problems:?}\n{}", formula.mcl));
        let property = &loaded.properties[0].formula;
        let options = logic::Options::default();
        let of_model = logic::check_model(model, property, &options, &progress).unwrap();
        let of_system = logic::check_lts(&explored.lts, property, &options, &progress).unwrap();
        verdicts.push([of_model.holds, of_system.holds]);
    }
    verdicts
}

/// The model knows propositions without arguments, and they hold where a step shows them.
fn propositions_are_shown(seed: u64, system: &System, model: &dyn Model, explored: &explore::Exploration) {
    for (at, proposition) in model.propositions().iter().enumerate() {
        assert!(system.propositions.iter().any(|(term, _)| *term == proposition.name), "seed {seed}");
        for state in explored.lts.states() {
            let holds = model.holds(at, &explored.state(model, state)).unwrap();
            let mut steps = explored.lts.outgoing(state).iter();
            let shown = steps.any(|edge| explored.lts.label(edge.label) == proposition.name);
            assert_eq!(holds, shown, "seed {seed}, state {}: {}", state.index(), proposition.name);
        }
    }
    assert_eq!(model.propositions().len(), 2, "seed {seed}");
}
