//! Other people's answers: the properties of CLEAR's examples, violated with counterexamples of known lengths; and
//! the formulas that `bisim` writes.

use std::path::Path;

use logic::{Explanation, Options};
use lts::{AutOptions, Progress, StateId};
use source::Sources;

const ORACLES: [(&str, &str, &str, usize); 5] = [
    ("interleaving_bug", "INTERLEAVING.aut", "prop.mcl", 1),
    ("iteration_bug", "ITERATION.aut", "prop.mcl", 3),
    ("causality_bug", "COMMPROC.aut", "prop.mcl", 15),
    ("shifumi_3", "game_3.aut", "prop_v3_game_3.mcl", 7),
    ("multiway_rendezvous_protocol", "implem.aut", "prop.mcl", 47),
];

#[test]
fn violated_as_other_tools_found() {
    let folder = Path::new("../../../shared/oracles/clear");
    let folder = if folder.is_dir() { folder } else { Path::new("../../../../shared/oracles/clear") };
    if !folder.is_dir() {
        println!("skipped: there is no ../shared/oracles beside the workspace");
        return;
    }
    for (example, system, property, length) in ORACLES {
        let lts = lts::read_aut(&folder.join(example).join(system), &AutOptions::default(), &Progress::new())
            .unwrap();
        let mut sources = Sources::new();
        let path = folder.join(example).join(property);
        let loaded = logic::load_properties(&path, &mut sources)
            .unwrap_or_else(|errors| panic!("{}", sources.render_all(&errors, false)));
        let formula = &loaded.properties[0].formula;
        let verdict = logic::check_lts(&lts, formula, &Options::default(), &Progress::new()).unwrap();
        assert!(!verdict.holds, "{example}");
        let Some(Explanation::Trace(steps)) = &verdict.explanation else { panic!("{example}") };
        assert_eq!(steps.len(), length, "{example}");
        let labels: Vec<&str> = steps.iter().map(|step| step.label.as_str()).collect();
        logic::replay(&mut &lts, &labels, Some(formula)).unwrap();
        assert!(logic::warnings(&lts, formula, &verdict, &Progress::new()).is_empty(), "{example}");
    }
}

/// A formula that tells two systems apart holds in the first and fails in the second.
#[test]
fn distinguishing_formulas_parse_and_distinguish() {
    let mut told = 0;
    for seed in 0..300 {
        let draw = |seed| {
            let shape = lts::Shape::Connected;
            lts::RandomSystem { states: 6, transitions: 10, labels: 2, internal: 0.4, shape, seed }
                .draw()
                .unwrap()
        };
        let (first, second) = (draw(seed), draw(seed + 1000));
        for relation in [bisim::Relation::Strong, bisim::Relation::Branching, bisim::Relation::Weak] {
            let comparison = bisim::compare(&first, &second, relation).unwrap();
            let bisim::Comparison::Different(bisim::Reason::Formula(formula)) = comparison else { continue };
            let mut sources = Sources::new();
            let loaded = logic::load_text("bisim.mcl", &formula.to_string(), &mut sources)
                .unwrap_or_else(|errors| panic!("{formula}\n{}", sources.render_all(&errors, false)));
            let parsed = &loaded.properties[0].formula;
            let holds =
                |lts| logic::check_lts(lts, parsed, &Options::default(), &Progress::new()).unwrap().holds;
            assert!(holds(&first) && !holds(&second), "{formula}\n{first:?}\n{second:?}");
            told += 1;
        }
    }
    assert!(told > 300, "{told}");
}

/// A chain whose numbers are shuffled: sweeps over the states do not end it.
#[test]
fn sets_on_a_shuffled_chain() {
    let n = 5000;
    let mut builder = lts::LtsBuilder::new();
    let (a, b) = (builder.label("A"), builder.label("B"));
    let place = |at: usize| StateId::new(at * 1871 % n);
    for at in 0..n - 1 {
        builder.add(place(at), a, place(at + 1));
    }
    builder.add(place(n - 1), b, place(n - 1));
    let lts = builder.finish().unwrap();
    let mut sources = Sources::new();
    let text = r#"[ true* ] ((< true* . "B" > true) and (nu X . (<true> true and [ true ] X)))"#;
    let loaded = logic::load_text("p.mcl", text, &mut sources).unwrap();
    for explain in [false, true] {
        let options = Options { explain, ..Options::default() };
        assert!(
            logic::check_lts(&lts, &loaded.properties[0].formula, &options, &Progress::new()).unwrap().holds
        );
    }
    let loaded = logic::load_text("p.mcl", r#"[ true* ] < (not "B")* . "C" > true"#, &mut sources).unwrap();
    let verdict =
        logic::check_lts(&lts, &loaded.properties[0].formula, &Options::default(), &Progress::new()).unwrap();
    assert!(!verdict.holds);
}
