use std::collections::BTreeSet;

use proptest::prelude::*;
use source::Sources;

use super::*;
use lts::{LtsBuilder, Progress, StateId, gate, parse_aut};
use model::Model;

fn aut(text: &str) -> Lts {
    parse_aut(text, &Default::default()).unwrap()
}

/// One-letter file names stand for these systems.
fn library(name: &str) -> Result<Arc<Lts>, String> {
    let text = match name {
        "a.aut" => "des (0, 2, 2)\n(0, A, 1)\n(1, B, 0)\n",
        "b.aut" => "des (0, 2, 2)\n(0, B, 1)\n(1, C, 0)\n",
        "c.aut" => "des (0, 2, 2)\n(0, A, 1)\n(1, C, 0)\n",
        "offers.aut" => "des (0, 2, 2)\n(0, A !1, 1)\n(0, A !2, 1)\n",
        "one.aut" => "des (0, 1, 2)\n(0, B !1, 1)\n",
        "exit.aut" => "des (0, 2, 3)\n(0, A, 1)\n(1, exit, 2)\n",
        _ => return Err(format!("{name}: no such file")),
    };
    Ok(Arc::new(aut(text)))
}

fn compose(text: &str) -> Result<Lts, String> {
    let mut sources = Sources::new();
    let file = sources.add("net.exp", text);
    let network =
        parse_network(file, &sources, &mut library).map_err(|errors| sources.render_all(&errors, false))?;
    Ok(explored(&network))
}

fn explored(network: &Network) -> Lts {
    let model = NetworkModel::new(network).unwrap();
    explore::explore(&model, &Default::default(), &Progress::new()).lts
}

/// States, transitions and visible labels.
fn shape(text: &str) -> (usize, usize, Vec<String>) {
    let lts = compose(text).unwrap_or_else(|error| panic!("{error}"));
    let used = lts.used_labels();
    let mut labels: Vec<String> = lts
        .labels()
        .iter()
        .filter(|(label, _)| used[label.index()])
        .map(|(_, text)| text.to_owned())
        .collect();
    labels.sort();
    (lts.state_count(), lts.transition_count(), labels)
}

#[test]
fn interleaving_and_synchronisation() {
    assert_eq!(shape("par a.aut || b.aut end par").0, 4);
    // A then (A B)*; B synchronised: a in {0,1} x b in {0,1}, all reachable; transitions A/2, B/1, C/2.
    assert_eq!(shape("par B in a.aut || b.aut end par"), (4, 5, vec!["A".into(), "B".into(), "C".into()]));
    assert_eq!(shape("a.aut |[B]| \"b.aut\""), shape("par B in a.aut || b.aut end par"));
    assert_eq!(shape("(a.aut ||| b.aut) ||| c.aut").0, 8);
    assert_eq!(shape("PAR a IN a.aut || b.aut END PAR").0, 4);
    // Nobody else knows A, so the left side waits forever.
    assert_eq!(shape("par A in a.aut || b.aut end par"), (2, 2, vec!["B".into(), "C".into()]));
}

#[test]
fn two_among_three() {
    // Any two of three that do A then stop: 3 ways, then one is left alone with A and can't do it.
    let three = "par A #2 in offers.aut || offers.aut || offers.aut end par";
    assert_eq!(shape(three), (4, 6, vec!["A !1".into(), "A !2".into()]));
    assert_eq!(shape(&three.replace("#2", "#3")), (2, 2, vec!["A !1".into(), "A !2".into()]));
    assert_eq!(shape(&three.replace("#2", "#1")), (8, 24, vec!["A !1".into(), "A !2".into()]));
}

#[test]
fn gates_of_branches_concern_those_branches_only() {
    let text = "par B -> a.aut || B -> b.aut || b.aut end par";
    assert_eq!(shape(text).0, 8);
    let counted = "par A #2 in A -> offers.aut || A -> offers.aut || offers.aut end par";
    assert_eq!(shape(counted), (4, 8, vec!["A !1".into(), "A !2".into()]));
}

#[test]
fn hide_rename_and_cut_nest() {
    assert_eq!(shape("hide A in par B in a.aut || b.aut end par end hide").2, ["B", "C", "i"]);
    assert_eq!(shape("hide all but C in par B in a.aut || b.aut end par end hide").2, ["C", "i"]);
    assert_eq!(shape("rename A -> X, \"B\" -> 'Y' in a.aut end rename").2, ["X", "Y"]);
    assert_eq!(shape("rename 'A !(.)' -> 'B !$1 !0' in offers.aut end rename").2, ["B !1 !0", "B !2 !0"]);
    assert_eq!(
        shape("cut C in par B in a.aut || b.aut end par end cut"),
        (4, 3, vec!["A".into(), "B".into()])
    );
    // A hidden label no longer synchronises, so the right side waits for A forever.
    assert_eq!(
        shape("par A in hide A in a.aut end hide || c.aut end par"),
        (2, 2, vec!["B".into(), "i".into()])
    );
}

#[test]
fn explicit_vectors_are_all_that_happens() {
    assert_eq!(
        shape("par using A * _ -> X, B * B -> i, _ * C -> C in a.aut || b.aut end par"),
        (4, 5, vec!["C".into(), "X".into(), "i".into()])
    );
    // Offers of gates must agree and are kept.
    assert_eq!(shape("par using A * B -> M in offers.aut || one.aut end par"), (2, 1, vec!["M !1".into()]));
    assert_eq!(shape("par using \"A !2\" * \"B !1\" -> \"M\" in offers.aut || one.aut end par").2, ["M"]);
    assert_eq!(shape("par using \"A !2\" * B -> M in offers.aut || one.aut end par").2, ["M !1"]);
}

#[test]
fn termination_is_joint() {
    assert_eq!(shape("par exit.aut || exit.aut end par"), (5, 5, vec!["A".into(), "exit".into()]));
}

#[test]
fn wrong_networks_get_a_place_and_a_reason() {
    let cases = [
        ("", "1:1", "expected a file or one of `par`, `hide`, `rename`, `cut`, `(`, but the file ends"),
        ("par A in a.aut || b.aut", "1:24", "expected `end`, but the file ends"),
        ("par A in a.aut || b.aut end hide", "1:29", "expected `par`, but found `hide`"),
        ("par A #3 in a.aut || b.aut end par", "1:8", "3 of 2 branches can't synchronise"),
        ("par A #x in a.aut || b.aut end par", "1:8", "expected a number, but found `x`"),
        ("a.aut || b.aut", "1:7", "expected the end of the file, but found `||`"),
        ("hide 'a(' in a.aut end hide", "1:6", "invalid regular expression `a(`: unclosed group"),
        ("par using A -> B in a.aut || b.aut end par", "1:11", "this vector has 1 part for 2 branches"),
        ("par using _ * _ -> B in a.aut || b.aut end par", "1:11", "no branch takes part in this vector"),
        ("missing.aut", "1:1", "missing.aut: no such file"),
        ("\"a.aut", "1:1", "this quote is not closed on its line"),
        ("(* a.aut", "1:1", "this comment is not closed"),
        ("a.aut ; b.aut", "1:7", "unexpected character `;`"),
    ];
    for (text, place, message) in cases {
        let error = compose(text).expect_err(text);
        assert!(error.contains(message) && error.contains(&format!("net.exp:{place}")), "{text}:\n{error}");
    }
    let deep = format!("{}a.aut{}", "(".repeat(100_000), ")".repeat(100_000));
    assert!(compose(&deep).expect_err("too deep").contains("nested more than 200 levels deep"));
    let long = format!("a.aut{}", " |[A, B]| a.aut".repeat(2_000));
    assert_eq!(shape(&long).0, 2);
}

#[test]
fn a_step_tells_which_systems_moved() {
    let mut sources = Sources::new();
    let file = sources.add("net.exp", "par B in a.aut || b.aut || a.aut end par");
    let network = parse_network(file, &sources, &mut library).ok().unwrap();
    let model = NetworkModel::new(&network).unwrap();
    let mut told = Vec::new();
    model
        .worker()
        .successors(&[1, 0, 0], &mut |step| {
            let provenance = model.provenance();
            let movers = provenance.marks_of(step.origin).into_iter().map(|mark| {
                let mark = provenance.mark(mark);
                format!("{}@{}", mark.process, sources.position(mark.span).column)
            });
            told.push(format!("{} {}", model.label(step.label), movers.collect::<Vec<_>>().join(" ")));
        })
        .unwrap();
    // B needs all three; the last one has not done A yet.
    assert_eq!(told, ["A a.aut#2@28"]);
    let view = model.describe(&[1, 0, 1]).values;
    assert_eq!(view[2], ("a.aut#2".to_owned(), "1".to_owned()));
}

fn small_systems() -> impl Strategy<Value = Lts> {
    (1usize..4).prop_flat_map(|states| {
        let labels = prop::sample::select(vec!["i", "A", "B", "A !1", "exit"]);
        prop::collection::vec((0..states, labels, 0..states), 0..6).prop_map(move |transitions| {
            let mut builder = LtsBuilder::new();
            builder.reserve_states(states);
            for (source, label, target) in transitions {
                let label = builder.label(label);
                builder.add(StateId::new(source), label, StateId::new(target));
            }
            builder.finish().unwrap()
        })
    })
}

/// Source tuple, label, target tuple.
type Step = (Vec<usize>, String, Vec<usize>);

/// The definition, taken literally: all tuples, all subsets of branches, all choices of equal labels.
fn naive(branches: &[Lts], sync_gate: &str, count: usize) -> (usize, BTreeSet<Step>) {
    let start: Vec<usize> = branches.iter().map(|lts| lts.initial().index()).collect();
    let mut seen = BTreeSet::from([start.clone()]);
    let mut todo = vec![start];
    let mut steps = BTreeSet::new();
    while let Some(state) = todo.pop() {
        for subset in 1u32..1 << branches.len() {
            let members: Vec<usize> = (0..branches.len()).filter(|at| subset >> at & 1 == 1).collect();
            let mut partial: Vec<(Option<String>, Vec<usize>)> = vec![(None, state.clone())];
            for &member in &members {
                let mut extended = Vec::new();
                for (label, target) in &partial {
                    for edge in branches[member].outgoing(StateId::new(state[member])) {
                        let text = branches[member].label(edge.label).to_owned();
                        if label.as_ref().is_none_or(|label| *label == text) {
                            let mut target = target.clone();
                            target[member] = edge.target.index();
                            extended.push((Some(text), target));
                        }
                    }
                }
                partial = extended;
            }
            for (label, target) in partial {
                let label = label.unwrap();
                let needed = match gate(&label) {
                    "i" => 1,
                    "exit" => branches.len(),
                    gate if gate == sync_gate => count,
                    _ => 1,
                };
                if members.len() == needed {
                    steps.insert((state.clone(), label, target.clone()));
                    if seen.insert(target.clone()) {
                        todo.push(target);
                    }
                }
            }
        }
    }
    (seen.len(), steps)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn composition_agrees_with_its_definition(
        branches in prop::collection::vec(small_systems(), 1..4),
        count in 1usize..4,
    ) {
        let count = count.min(branches.len());
        let (states, steps) = naive(&branches, "A", count);
        let rule = SyncRule { labels: Selector::Gate("A".into()), branches: (0..branches.len()).collect(), count };
        let network = Network::Par {
            synchronisation: Synchronisation::Rules(vec![rule]),
            branches: branches.into_iter().map(Network::from).collect(),
        };
        let composed = explored(&network);
        prop_assert_eq!((composed.state_count(), composed.transition_count()), (states, steps.len()));
        let mut expected: Vec<String> = steps.into_iter().map(|(_, label, _)| label).collect();
        let mut found: Vec<String> =
            composed.edges().iter().map(|edge| composed.label(edge.label).to_owned()).collect();
        expected.sort();
        found.sort();
        prop_assert_eq!(found, expected);
    }
}

#[test]
fn a_system_that_is_named_twice_is_read_once() {
    let mut sources = Sources::new();
    let file = sources.add("net.exp", "par A in a.aut || \"a.aut\" || c.aut end par");
    let mut read = Vec::new();
    let mut load = |name: &str| {
        read.push(name.to_owned());
        library(name)
    };
    assert!(parse_network(file, &sources, &mut load).is_ok());
    assert_eq!(read, ["a.aut", "c.aut"]);
}
