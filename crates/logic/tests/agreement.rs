//! The solvers against the naive twin, on thousands of random systems and formulas, with every diagnostic confirmed.

#[path = "naive/draw.rs"]
mod draw_formulas;
mod naive;

use logic::{Explanation, Formula, Method, Options};
use lts::{Lts, Progress, StateId};
use naive::{Chance, LtsModel, run_alone, system};
use source::Sources;

fn load(text: &str) -> Formula {
    let mut sources = Sources::new();
    match logic::load_text("random.mcl", text, &mut sources) {
        Ok(mut loaded) => loaded.properties.remove(0).formula,
        Err(errors) => panic!("{text}\n{}", sources.render_all(&errors, false)),
    }
}

/// A run is one of the system's.
fn assert_run(lts: &Lts, steps: &[&logic::Step]) {
    let mut at = lts.initial();
    for step in steps {
        assert_eq!(step.source, at);
        let found = lts
            .outgoing(at)
            .iter()
            .any(|edge| edge.target == step.target && lts.label(edge.label) == step.label);
        assert!(found, "no step {step:?}");
        at = step.target;
    }
}

/// Checks in every way and compares; returns how it was decided.
fn compare(lts: &Lts, text: &str, formula: &Formula) -> (bool, Method) {
    let expected = naive::holds(lts, formula);
    let progress = Progress::new();
    let context = || format!("{text}\n{formula}\n{lts:?}");
    let explained = logic::check_lts(lts, formula, &Options::default(), &progress)
        .unwrap_or_else(|error| panic!("{error}: {}", context()));
    assert_eq!(explained.holds, expected, "with explanation: {}", context());
    let quick = Options { explain: false, ..Options::default() };
    let plain = logic::check_lts(lts, formula, &quick, &progress).unwrap();
    assert_eq!(plain.holds, expected, "without explanation: {}", context());
    let model = LtsModel::new(lts);
    let on_the_fly = logic::check_model(&model, formula, &Options::default(), &progress).unwrap();
    assert_eq!(on_the_fly.holds, expected, "on the fly: {}", context());
    // What would be saved has the verdict, whoever evaluates it.
    let saved = logic::evidence(lts, formula, &explained, &Options::default(), &progress).unwrap();
    assert_eq!(naive::holds(&saved, formula), expected, "saved:\n{saved:?}\n{}", context());
    let saved =
        logic::evidence_of_model(&model, formula, &on_the_fly, &Options::default(), &progress).unwrap();
    assert_eq!(naive::holds(&saved, formula), expected, "saved on the fly:\n{saved:?}\n{}", context());
    for (explanation, numbered) in [(&explained.explanation, true), (&on_the_fly.explanation, false)] {
        if let Some(explanation) = explanation {
            let part = explanation.as_system();
            assert_eq!(naive::holds(&part, formula), expected, "shown:\n{part:?}\n{}", context());
        }
        match explanation {
            Some(Explanation::SubSystem(part)) => {
                assert_eq!(naive::holds(part, formula), expected, "part:\n{part:?}\n{}", context());
                assert!(part.transition_count() <= lts.transition_count());
            }
            Some(Explanation::Trace(steps)) if numbered => assert_run(lts, &steps.iter().collect::<Vec<_>>()),
            Some(Explanation::Lasso { prefix, cycle }) if numbered => {
                assert_run(lts, &prefix.iter().chain(cycle).collect::<Vec<_>>());
                assert_eq!(cycle.last().unwrap().target, cycle[0].source);
            }
            _ => {}
        }
        // Where only runs count, the run alone must have the same verdict.
        let automaton =
            if expected { logic::regular_witness(formula) } else { logic::regular_violation(formula) };
        if let (Some(automaton), Some(Explanation::Trace(steps))) = (automaton, explanation) {
            assert!(automaton.accepts(steps.iter().map(|step| step.label.as_str())), "{}", context());
            assert_eq!(naive::holds(&run_alone(steps, &[]), formula), expected, "{}", context());
            if !expected {
                let labels: Vec<&str> = steps.iter().map(|step| step.label.as_str()).collect();
                logic::replay(&mut &*lts, &labels, Some(formula)).unwrap();
            }
        }
    }
    (expected, explained.method)
}

#[test]
fn solvers_agree_with_the_twin() {
    let (mut holds, mut fails) = (0, 0);
    let mut methods = std::collections::BTreeMap::new();
    for seed in 0..10_000u64 {
        let mut chance = Chance(seed * 7919);
        let depth = 2 + chance.below(4);
        let text = draw_formulas::formula(&mut chance, depth, &mut Default::default());
        let formula = load(&text);
        // Text printed with all brackets means the same.
        let again = load(&formula.to_string());
        assert_eq!(again.to_string(), formula.to_string());
        for _ in 0..3 {
            let lts = system(&mut chance);
            let (value, method) = compare(&lts, &format!("seed {seed}: {text}"), &formula);
            *methods.entry(format!("{method:?}")).or_insert(0) += 1;
            if value { holds += 1 } else { fails += 1 }
        }
    }
    println!("{holds} hold, {fails} fail, decided by {methods:?}");
    assert!(holds > 5000 && fails > 5000);
    assert!(methods.len() >= 2);
}

/// What is certain on a part of a system is so on the whole, whatever the states do that were not explored.
#[test]
fn what_a_part_shows_holds_for_the_whole() {
    let families = [
        r#"[ true* . "A" . true . "B" ] false"#,
        r#"< true* . 'C .*' > true"#,
        "DEADLOCK_FREE",
        r#"[ true* . "A" ] < true > true and [ true* . "B" . "B" ] false"#,
        r#"not < true* . "A" . "A" > [ "B" ] false"#,
        r#"[ true* . { C ?x:nat } . "A" ] < { C !x } > true"#,
        r#"RESPONSE ("A", "B")"#,
    ];
    let (mut certain, mut tried) = (0, 0);
    for seed in 0..12_000u64 {
        let mut chance = Chance(seed * 104_729);
        let text = match chance.below(2) {
            0 => families[chance.below(families.len())].to_owned(),
            _ => draw_formulas::formula(&mut chance, 3, &mut Default::default()),
        };
        let formula = load(&text);
        let whole = system(&mut chance);
        let unexplored: Vec<bool> = whole.states().map(|_| chance.below(3) == 0).collect();
        let known = |edge: &lts::Transition| !unexplored[edge.source.index()];
        let with = |more: &mut dyn FnMut(StateId, &mut lts::LtsBuilder)| {
            let mut builder = lts::LtsBuilder::with_labels(whole.labels().clone());
            builder.reserve_states(whole.state_count());
            whole.transitions().filter(known).for_each(|one| builder.add(one.source, one.label, one.target));
            whole
                .states()
                .filter(|state| unexplored[state.index()])
                .for_each(|state| more(state, &mut builder));
            builder.finish().unwrap()
        };
        let part = with(&mut |state, builder| {
            let mark = builder.label(lts::NOT_EXPLORED);
            builder.add(state, mark, state);
        });
        let verdict = logic::check_lts(&part, &formula, &Options::default(), &Progress::new()).unwrap();
        tried += usize::from(unexplored.contains(&true));
        if !logic::is_certain(&part, &formula, &verdict) {
            continue;
        }
        certain += usize::from(unexplored.contains(&true));
        assert_eq!(naive::holds(&whole, &formula), verdict.holds, "seed {seed}: {text}\n{part:?}\n{whole:?}");
        for _ in 0..3 {
            let other = with(&mut |state, builder| {
                for _ in 0..chance.below(4) {
                    let label = builder.label(chance.pick(&naive::LABELS));
                    builder.add(state, label, StateId::new(chance.below(whole.state_count())));
                }
            });
            assert_eq!(naive::holds(&other, &formula), verdict.holds, "seed {seed}: {text}\n{other:?}");
        }
    }
    println!("{certain} of {tried} verdicts on parts are certain");
    assert!(certain > 300, "{certain}");
}

/// Families whose explanations are runs that must show the verdict by themselves.
#[test]
fn runs_show_the_verdict_alone() {
    let families = [
        r#"INEVITABLE ("A")"#,
        r#"INEVITABLE ("A", "B")"#,
        r#"RESPONSE ("A", "B")"#,
        "DEADLOCK_FREE",
        "LIVELOCK_FREE",
        r#"[ (true* . "A") ] -|"#,
        r#"< true* . "B" > @"#,
        r#"[ true* . "A" . (not "B")* . 'C .*' ] false"#,
        r#"ALTERNATION ("A", "B")"#,
        r#"REACHABLE ({ C ?x:nat where x > 1 }) "#,
        r#"< {C ?x:nat} . true* . {C !x} > true"#,
    ];
    let mut kinds = [0; 2];
    for text in families {
        let formula = load(text);
        for seed in 0..500 {
            let mut chance = Chance(seed);
            let lts = system(&mut chance);
            compare(&lts, text, &formula);
            let verdict = logic::check_lts(&lts, &formula, &Options::default(), &Progress::new()).unwrap();
            assert_eq!(verdict.method, Method::Automaton, "{text}");
            let alone = match &verdict.explanation {
                Some(Explanation::Trace(steps)) => {
                    kinds[0] += 1;
                    run_alone(steps, &[])
                }
                Some(Explanation::Lasso { prefix, cycle }) => {
                    kinds[1] += 1;
                    run_alone(prefix, cycle)
                }
                None => continue,
                other => panic!("{text}: {other:?}"),
            };
            assert_eq!(naive::holds(&alone, &formula), verdict.holds, "{text}\n{lts:?}\n{alone:?}");
        }
    }
    assert!(kinds.iter().all(|&count| count > 200), "{kinds:?}");
}

/// The shortest run is as short as any: compared with all runs up to a length.
#[test]
fn traces_are_shortest() {
    let texts = [
        r#"[ true* . "A" . true* . "B" ] false"#,
        r#"[ (not "A")* . "B" ] false"#,
        r#"[ ("A" | "B" . "A")+ . tau ] false"#,
    ];
    for text in texts {
        let formula = load(text);
        let automaton = logic::regular_violation(&formula).unwrap();
        for seed in 0..400 {
            let lts = system(&mut Chance(seed));
            let verdict = logic::check_lts(&lts, &formula, &Options::default(), &Progress::new()).unwrap();
            let table = automaton.table(lts.labels());
            let mut layer = vec![(lts.initial(), 0usize)];
            let mut length = 0;
            let mut seen: Vec<(StateId, usize)> = layer.clone();
            let shortest = loop {
                if layer.iter().any(|&(_, state)| automaton.is_accepting(state)) {
                    break Some(length);
                }
                let mut next = Vec::new();
                for (state, position) in layer {
                    for edge in lts.outgoing(state) {
                        for &position in &table[position][edge.label.index()] {
                            if !seen.contains(&(edge.target, position)) {
                                seen.push((edge.target, position));
                                next.push((edge.target, position));
                            }
                        }
                    }
                }
                if next.is_empty() {
                    break None;
                }
                layer = next;
                length += 1;
            };
            let found = verdict.explanation.map(|one| one.labels().unwrap().len());
            assert_eq!(found, shortest, "{text}\n{lts:?}");
        }
    }
}
