//! Monitors against the search on one thread that keeps its steps, on thousands of random systems and formulas, with any
//! number of threads.

use lts::{Chance, LtsBuilder};
use model::SystemModel;

use super::*;
use crate::equations::translate;
use crate::linear::may_cycle;
use crate::shape::classify;
use crate::solve::by_search;
use crate::tree::Formula;

const LABELS: [&str; 6] = ["i", "A", "B", "C !1", "C !2", "D"];

fn load(text: &str) -> Formula {
    let mut sources = source::Sources::new();
    match crate::load_text("random.mcl", text, &mut sources) {
        Ok(mut loaded) => loaded.properties.remove(0).formula,
        Err(errors) => panic!("{text}\n{}", sources.render_all(&errors, false)),
    }
}

fn pick<'t>(chance: &mut Chance, of: &[&'t str]) -> &'t str {
    of[chance.below(of.len())]
}

fn action(chance: &mut Chance) -> &'static str {
    let actions = [
        r#""A""#,
        r#""B""#,
        "'C .*'",
        "true",
        r#"not "A""#,
        "tau",
        r#"("A" or "D")"#,
        r#"not ("B" or 'C.*')"#,
    ];
    pick(chance, &actions)
}

fn regular(chance: &mut Chance, depth: usize) -> String {
    if depth == 0 {
        return action(chance).to_owned();
    }
    let mut inner = || regular(chance, depth - 1);
    let (one, two) = (inner(), inner());
    match chance.below(7) {
        0 => format!("({one})*"),
        1 => format!("({one})+"),
        2 => format!("({one} | {two})"),
        3 => format!("({one}){{{}}}", 1 + chance.below(3)),
        4 => format!("(true* . {one})"),
        _ => format!("({one} . {two})"),
    }
}

fn formula(chance: &mut Chance) -> String {
    let depth = 1 + chance.below(3);
    let (one, two) = (regular(chance, depth), regular(chance, depth));
    let (first, second) = (action(chance), action(chance));
    match chance.below(14) {
        0 | 1 => format!("[ true* . {one} ] false"),
        2 => format!("[ {one} ] false"),
        3 => format!("< {one} > true"),
        4 => format!("[ {one} ] < {first} > true"),
        5 => format!("[ true* . {one} ] < {first} > true and [ true* . {two} . {two} ] false"),
        6 => "[ true* ] < true > true".to_owned(),
        7 => format!("not < true* . {one} > [ {first} ] false"),
        8 => format!("< {one} > (< {first} > true and < {two} . {second} > true)"),
        9 => format!("[ true* . {one} . (not {first})* . {second} ] false"),
        10 => format!("[ true* . {{ C ?x:nat }} . (not {{ C !x }})* . {first} . {second} ] false"),
        11 => "[ true* . { C ?x:nat where x > 1 } . (\"A\" | \"B\")* . { C !x } ] false".to_owned(),
        12 => format!("[ true* . {{ C ?x:nat }} . {first} . {one} ] < {{ C !x }} > true"),
        _ => format!(
            "< {{ ... ?x:nat }} . {one} . {{ C !x }} > true or < true* . \"D\" . \"D\" . {two} > true"
        ),
    }
}

/// Sometimes with few labels, so that properties hold, and mostly too large for one thread to take at once.
fn system(chance: &mut Chance) -> SystemModel {
    let states = [2, 8, 60, 400][chance.below(4)];
    let labels = 1 + chance.below(LABELS.len());
    let mut builder = LtsBuilder::new();
    builder.reserve_states(states);
    for state in 0..states {
        // A way to every state, and some more.
        let mut add = |source: usize, target: usize| {
            let label = builder.label(LABELS[(chance.below(labels) + chance.below(labels)) / 2]);
            builder.add(lts::StateId::new(source), label, lts::StateId::new(target));
        };
        if state > 0 {
            add((state - 1) / 3, state);
        }
        if state % 5 < 3 {
            add(state, (state * 7 + 1) % states);
        }
    }
    SystemModel::new(builder.finish().unwrap())
}

/// What decides a formula along runs, as the check of a model chooses it.
fn decide(
    model: &dyn Model,
    formula: &Formula,
    mut with: impl FnMut(&dyn Model, &Equations, &[Class], bool) -> Result<Option<Verdict>, CheckError>,
) -> Option<Result<Verdict, CheckError>> {
    for negated in [true, false] {
        let equations = translate(formula, negated).unwrap();
        let class = classify(&equations, false);
        let linear = matches!(class[equations.root], Class::Linear | Class::Local | Class::Leaf);
        if linear && !may_cycle(&equations, &class) {
            return Some(with(model, &equations, &class, negated).map(|verdict| verdict.unwrap()));
        }
    }
    None
}

#[test]
fn monitors_agree_with_the_search_on_one_thread() {
    let (mut holds, mut fails, mut one_position, mut sets, mut parts) = (0, 0, 0, 0, 0);
    for seed in 0..6000u64 {
        let chance = &mut Chance::new(seed);
        let text = formula(chance);
        let formula = load(&text);
        let model = system(chance);
        let progress = Progress::new();
        let watched = |threads: usize, max_states: usize| {
            decide(&model, &formula, |model, equations, class, negated| {
                let options = Options { threads, max_states, ..Options::default() };
                watch(model, equations, class, negated, &options, &progress)
            })
        };
        let Some(verdict) = watched(1, usize::MAX) else { continue };
        let verdict = verdict.unwrap();
        for threads in [2, 3] {
            let other = watched(threads, usize::MAX).unwrap().unwrap();
            assert_eq!(format!("{other:?}"), format!("{verdict:?}"), "seed {seed}: {text}");
        }
        let searched = decide(&model, &formula, |model, equations, class, negated| {
            by_search(model, equations, class, negated, &Options::default(), &progress).map(Some)
        });
        let searched = searched.unwrap().unwrap();
        assert_eq!(verdict.holds, searched.holds, "seed {seed}: {text}");
        let length = |verdict: &Verdict| verdict.explanation.as_ref().map(|run| run.steps().len());
        assert_eq!(length(&verdict), length(&searched), "seed {seed}: {text}");
        if let Some(labels) = &verdict.labels {
            assert_eq!(Some(labels), searched.labels.as_ref(), "seed {seed}: {text}");
        }
        decide(&model, &formula, |_, equations, class, _| {
            let monitor = Monitor::new(equations, class, usize::MAX).unwrap();
            match monitor.count() {
                Some(1) => one_position += 1,
                Some(_) => sets += 1,
                None => parts += 1,
            }
            // Nothing to remember: the product is as large as the model.
            if monitor.count() == Some(1) && verdict.labels.is_some() {
                assert_eq!(verdict.states_visited, searched.states_visited, "seed {seed}: {text}");
            }
            Ok(Some(verdict.clone()))
        });
        // A limit stops at the same place, whatever the number of threads, and says what is certain.
        let limited = watched(1, 30).unwrap();
        assert_eq!(format!("{:?}", watched(2, 30).unwrap()), format!("{limited:?}"), "seed {seed}: {text}");
        match limited {
            Ok(limited) => assert_eq!(limited.holds, verdict.holds),
            Err(CheckError::Stopped { searched: Some(searched), .. }) => {
                let decisive = length(&verdict).filter(|_| verdict.holds != searched.violations);
                assert!(decisive.is_none_or(|length| length > searched.steps), "seed {seed}: {text}");
            }
            Err(_) => {}
        }
        if verdict.holds { holds += 1 } else { fails += 1 }
    }
    println!("{holds} hold, {fails} fail; {one_position} with one position, {sets} sets, {parts} parts");
    assert!(holds > 1000 && fails > 1000 && one_position > 300 && sets > 1000 && parts > 500);
}

/// Positions are made while threads race; more of them than a slot has bits for are told apart all the same.
#[test]
fn positions_do_not_depend_on_who_was_first() {
    let mut builder = LtsBuilder::new();
    for state in 0..3000 {
        for (offset, gate) in [(1, "A"), (7, "B")] {
            let label = builder.label(&format!("{gate} !{}", state * offset % 150));
            builder.add(lts::StateId::new(state), label, lts::StateId::new((state * 3 + offset) % 3000));
        }
    }
    let model = SystemModel::new(builder.finish().unwrap());
    for text in [
        "[ true* . { A ?x:nat } . true* . { B ?y:nat where (y > 140) and (x < 3) } . { A !x } ] false",
        "[ true* . { A ?x:nat where x < 9 } . (not { B !x })* . { A ?y:nat where y = x + 1 } ] false",
        "[ true* . { A ?x:nat } . { B ?y:nat } ] (x <> y + 149)",
    ] {
        let formula = load(text);
        let outputs: Vec<String> = [1, 2, 4, 2]
            .iter()
            .map(|&threads| {
                let verdict = decide(&model, &formula, |model, equations, class, negated| {
                    let options = Options { threads, ..Options::default() };
                    watch(model, equations, class, negated, &options, &Progress::new())
                });
                format!("{:?}", verdict.unwrap().unwrap())
            })
            .collect();
        assert!(outputs.iter().all(|output| *output == outputs[0]), "{text}\n{outputs:#?}");
    }
}

#[test]
fn a_formula_without_bound_is_left_to_the_search() {
    let lts = lts::parse_aut("des (0, 1, 1)\n(0, A, 0)\n", &Default::default()).unwrap();
    let model = SystemModel::new(lts);
    let formula = load("mu X (n:nat := 0) . (< \"B\" > true or < \"A\" > X (n + 1))");
    let options = Options { max_instances: 500, ..Options::default() };
    let found = decide(&model, &formula, |model, equations, class, negated| {
        assert!(watch(model, equations, class, negated, &options, &Progress::new()).unwrap().is_none());
        by_search(model, equations, class, negated, &options, &Progress::new()).map(Some)
    });
    assert!(matches!(found, Some(Err(CheckError::Unbounded(500)))));
}
