//! The two nets of the paper on testing high-level Petri nets, and what it says about them.

use explore::{Exploration, Limits, explore};
use model::{Model, Slot};
use net::{FlatModel, HighModel, UnfoldLimits, load_net, unfold};
use source::Sources;

const PHILOSOPHERS: &str = include_str!("../../../models/philosophers_net/philosophers_net.net");
const ALTERNATING_BIT: &str = include_str!("../../../models/alternating_bit_net/alternating_bit_net.net");

fn model(text: &str, root: Option<&str>, constants: &[(&str, &str)]) -> HighModel {
    let mut sources = Sources::new();
    let constants: Vec<(String, String)> =
        constants.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    match load_net("test.net", text, root, &constants, &mut sources) {
        Ok(net) => {
            assert!(net.warnings.is_empty(), "{}", sources.render_all(&net.warnings, false));
            HighModel::new(net)
        }
        Err(errors) => panic!("{}", sources.render_all(&errors, false)),
    }
}

/// All markings, breadth first.
fn markings(model: &HighModel) -> Vec<Vec<Slot>> {
    let mut worker = model.worker();
    let mut all = vec![model.initial().unwrap()];
    let mut next = 0;
    while next < all.len() {
        let state = all[next].clone();
        let mut found = Vec::new();
        worker.successors(&state, &mut |step| found.push(step.target.to_vec())).unwrap();
        for state in found {
            if !all.contains(&state) {
                all.push(state);
            }
        }
        next += 1;
    }
    all
}

fn explored(model: &HighModel) -> Exploration {
    explore(model, &Limits::default(), &lts::Progress::new())
}

#[test]
fn eleven_markings_of_five_philosophers() {
    let model = model(PHILOSOPHERS, None, &[]);
    assert_eq!(explored(&model).states(), 11);
    let names: Vec<&str> = model.propositions().iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["NOBODY_EATS", "ONE_EATS", "TWO_EAT"]);
    let mut counts = [0; 3];
    for state in markings(&model) {
        for (proposition, count) in counts.iter_mut().enumerate() {
            *count += usize::from(model.holds(proposition, &state).unwrap());
        }
    }
    assert_eq!(counts, [1, 5, 5]);
}

#[test]
fn the_run_of_table_1() {
    let model = model(PHILOSOPHERS, None, &[]);
    let table = [
        ("", "{1, 2, 3, 4, 5}", "{}", "{1, 2, 3, 4, 5}"),
        ("PICKUP !1 !1 !2", "{2, 3, 4, 5}", "{(1, 1, 2)}", "{3, 4, 5}"),
        ("PUTDOWN !1 !1 !2", "{1, 2, 3, 4, 5}", "{}", "{1, 2, 3, 4, 5}"),
        ("PICKUP !2 !2 !3", "{1, 3, 4, 5}", "{(2, 2, 3)}", "{1, 4, 5}"),
        ("PICKUP !4 !4 !5", "{1, 3, 5}", "{(2, 2, 3), (4, 4, 5)}", "{1}"),
    ];
    let mut worker = model.worker();
    let mut state = model.initial().unwrap();
    for (label, thinking, eating, chopstick) in table {
        if !label.is_empty() {
            let mut target = None;
            worker
                .successors(&state, &mut |step| {
                    if model.label(step.label) == label {
                        target = Some(step.target.to_vec());
                    }
                })
                .unwrap();
            state = target.unwrap_or_else(|| panic!("{label} can't fire"));
        }
        let values = model.describe(&state).values;
        let places = [("Thinking", thinking), ("Chopstick", chopstick), ("Eating", eating)];
        assert_eq!(values, places.map(|(place, tokens)| (place.to_owned(), tokens.to_owned())));
    }
}

#[test]
fn unfolded_the_paper_s_nets_have_the_same_markings() {
    for (text, root) in [(PHILOSOPHERS, None), (ALTERNATING_BIT, Some("ONE")), (ALTERNATING_BIT, None)] {
        let model = model(text, root, &[]);
        let unfolded = unfold(model.net(), &UnfoldLimits::default()).unwrap();
        let flat = FlatModel::new(unfolded.flat.clone());
        let (high, low) = (explored(&model), explore(&flat, &Limits::default(), &lts::Progress::new()));
        assert_eq!((high.states(), high.lts.transition_count()), (low.states(), low.lts.transition_count()));
        let compared = bisim::compare(&high.lts, &low.lts, bisim::Relation::Strong);
        assert!(matches!(compared, Ok(bisim::Comparison::Equivalent)));
        let initial = (model.initial().unwrap(), flat.initial().unwrap());
        for proposition in 0..3 {
            let wanted = model.holds(proposition, &initial.0).unwrap();
            assert_eq!(unfolded.holds(model.net(), proposition, &initial.1), Ok(wanted));
        }
    }
}

#[test]
fn two_philosophers_pick_up_at_once() {
    let model = model(PHILOSOPHERS, None, &[]).concurrent(2);
    let mut labels = Vec::new();
    let initial = model.initial().unwrap();
    model.worker().successors(&initial, &mut |step| labels.push(model.label(step.label))).unwrap();
    assert_eq!(labels.len(), 10);
    assert_eq!(labels[0], "PICKUP !1 !1 !2");
    assert_eq!(labels[1], "PICKUP !1 !1 !2 | PICKUP !3 !3 !4");
    assert!(!labels.iter().any(|label| label == "PICKUP !1 !1 !2 | PICKUP !2 !2 !3"));
    let found = explored(&model);
    assert_eq!(found.states(), 11);
}

/// The names of the transitions that fire.
fn feasible(model: &HighModel) -> Vec<String> {
    let found = explored(model);
    let mut names: Vec<String> = Vec::new();
    for (_, label) in found.lts.labels().iter() {
        let name = label.split(' ').next().unwrap_or_default().to_owned();
        if !names.contains(&name) && name != "i" {
            names.push(name);
        }
    }
    names.sort();
    names
}

const ALL_EIGHT: [&str; 8] = [
    "ACORRUPTED",
    "ATRANSMITTED",
    "CORRUPTED",
    "DELIVERDATA",
    "RESENDACK",
    "RESENDDATA",
    "SENDDATA",
    "TRANSMITTED",
];

#[test]
fn eight_messages_make_all_transitions_feasible() {
    let model = model(ALTERNATING_BIT, None, &[]);
    assert_eq!(model.net().transitions.len(), 8);
    let components: Vec<&str> = model.net().components.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(components, ["SENDER", "MCHANNEL", "ACHANNEL", "RECEIVER"]);
    assert_eq!(feasible(&model), ALL_EIGHT);
}

/// The paper found by simulation that one message does not cover `resendAck`. It is feasible all the same: the
/// acknowledgement of the only message may be corrupted.
#[test]
fn one_message_makes_all_transitions_feasible_too() {
    let model = model(ALTERNATING_BIT, Some("one"), &[]);
    assert_eq!(feasible(&model), ALL_EIGHT);
    let all = markings(&model);
    for proposition in 0..3 {
        assert!(all.iter().any(|state| model.holds(proposition, state).unwrap()));
    }
}

/// Each marking is in one abstract state, whatever the number of messages. With one message, by hand: nothing sent; the
/// message on its way, arrived or corrupted; its acknowledgement on its way, arrived or corrupted.
#[test]
fn abstract_states_do_not_depend_on_the_number_of_messages() {
    let counts = |root| {
        let model = model(ALTERNATING_BIT, Some(root), &[]);
        let mut counts = [0; 3];
        for state in markings(&model) {
            let holds = [0, 1, 2].map(|proposition| model.holds(proposition, &state).unwrap());
            assert_eq!(holds.iter().filter(|holds| **holds).count(), 1, "{}: {holds:?}", root);
            for (count, holds) in counts.iter_mut().zip(holds) {
                *count += usize::from(holds);
            }
        }
        counts
    };
    assert_eq!(counts("ONE"), [1, 3, 3]);
    // Each of eight may be the last one: its acknowledgement is on its way, arrived or corrupted.
    assert_eq!(counts("EIGHT"), [1, 6145 - 1 - 24, 24]);
}

/// Markings, steps, labels and dead ends. With one message there are seven markings by hand: nothing sent, the message on
/// its way, arrived or corrupted, its acknowledgement on its way, arrived or corrupted. With eight, the last one in the
/// buffer may be any of them in the end.
#[test]
fn sizes() {
    let size = |text, root| {
        let found = explored(&model(text, root, &[]));
        let labels = found.lts.labels().len() - 1;
        (found.states(), found.lts.transition_count(), labels, found.lts.deadlocks().count())
    };
    assert_eq!(size(PHILOSOPHERS, None), (11, 30, 10, 0));
    assert_eq!(size(ALTERNATING_BIT, Some("ONE")), (7, 8, 8, 1));
    assert_eq!(size(ALTERNATING_BIT, None), (6145, 10760, 86, 8));
    assert_eq!(size(ALTERNATING_BIT, Some("AS_PRINTED")), (24, 48, 11, 2));
}
