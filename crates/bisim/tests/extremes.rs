//! Systems on which a careless algorithm is quadratic, deep or exponential.

use bisim::{Comparison, Error, Limits, Reason, Relation, compare, reduce, reduce_within};
use lts::{LabelId, Lts, LtsBuilder, StateId};

fn build(add: impl FnOnce(&mut LtsBuilder)) -> Lts {
    let mut builder = LtsBuilder::new();
    add(&mut builder);
    builder.finish().unwrap()
}

/// `length` steps in a row, their labels taken in turns.
fn chain(length: usize, labels: &[&str]) -> Lts {
    build(|builder| {
        for at in 0..length {
            let label = builder.label(labels[at % labels.len()]);
            builder.add(StateId::new(at), label, StateId::new(at + 1));
        }
    })
}

#[test]
fn long_chains_take_many_small_rounds() {
    let plain = chain(100_000, &["A"]);
    for relation in [Relation::Strong, Relation::Branching, Relation::Trace] {
        assert_eq!(reduce(&plain, relation).unwrap().state_count(), 100_001, "{relation}");
    }
    let half_silent = chain(100_000, &["i", "A"]);
    for relation in [Relation::Branching, Relation::DivergencePreservingBranching] {
        assert_eq!(reduce(&half_silent, relation).unwrap().state_count(), 50_001, "{relation}");
    }
    let silent = chain(300_000, &["i"]);
    for relation in [Relation::Branching, Relation::Weak, Relation::TauStarA, Relation::WeakTrace] {
        assert_eq!(reduce(&silent, relation).unwrap().state_count(), 1, "{relation}");
    }
}

#[test]
fn hubs_over_long_chains() {
    let length = 30_000;
    let lts = build(|builder| {
        let (a, h) = (builder.label("A"), builder.label("H"));
        for at in 0..length {
            builder.add(StateId::new(at), a, StateId::new(at + 1));
        }
        for hub in 1..=4 {
            for at in 0..=length {
                builder.add(StateId::new(length + hub), h, StateId::new(at));
            }
        }
        builder.set_initial(StateId::new(length + 1));
    });
    for relation in [Relation::Strong, Relation::Branching] {
        assert_eq!(reduce(&lts, relation).unwrap().state_count(), length + 2, "{relation}");
    }
}

#[test]
fn determinisation_stops_at_its_limit() {
    // Was the label k steps before the end an A? A deterministic system must remember k labels.
    let lts = build(|builder| {
        let (a, b) = (builder.label("A"), builder.label("B"));
        builder.add(StateId::new(0), a, StateId::new(0));
        builder.add(StateId::new(0), b, StateId::new(0));
        builder.add(StateId::new(0), a, StateId::new(1));
        for at in 1..40 {
            builder.add(StateId::new(at), a, StateId::new(at + 1));
            builder.add(StateId::new(at), b, StateId::new(at + 1));
        }
        let end = builder.label("END");
        builder.add(StateId::new(40), end, StateId::new(40));
    });
    for relation in [Relation::Trace, Relation::WeakTrace] {
        let limited = reduce_within(&lts, relation, &Limits { states: 10_000 });
        assert_eq!(limited.err(), Some(Error::TooManyStates { limit: 10_000 }), "{relation}");
    }
}

#[test]
fn deep_differences_are_explained_or_given_up_in_time() {
    for (length, labels) in [(2_000, ["A", "B"]), (2_000, ["A", "i"])] {
        for relation in Relation::ALL {
            let (left, right) = (chain(length, &labels), chain(length + 1, &labels));
            let Comparison::Different(reason) = compare(&left, &right, relation).unwrap() else {
                assert!(labels[1] == "i" && length % 2 == 1, "{relation}");
                continue;
            };
            assert_ne!(reason, Reason::TooLarge, "{relation}");
        }
    }
    let (left, right) = (chain(100_000, &["A"]), chain(100_001, &["A"]));
    let Comparison::Different(reason) = compare(&left, &right, Relation::Strong).unwrap() else { panic!() };
    assert_eq!(reason, Reason::TooLarge);
}

#[test]
fn silent_cycles_of_many_states_collapse() {
    let size = 200_000;
    let lts = build(|builder| {
        let a = builder.label("A");
        for at in 0..size {
            builder.add(StateId::new(at), LabelId::TAU, StateId::new((at + 1) % size));
            if at % 1000 == 0 {
                builder.add(StateId::new(at), a, StateId::new((at * 7 + 3) % size));
            }
        }
    });
    let branching = reduce(&lts, Relation::Branching).unwrap();
    assert_eq!((branching.state_count(), branching.transition_count()), (1, 1));
    let preserving = reduce(&lts, Relation::DivergencePreservingBranching).unwrap();
    assert_eq!((preserving.state_count(), preserving.transition_count()), (1, 2));
}

#[test]
fn the_number_of_threads_does_not_show() {
    let lts = build(|builder| {
        let labels = [LabelId::TAU, builder.label("A"), builder.label("B"), builder.label("C")];
        let mut seed = 7u64;
        let mut random = |bound: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % bound
        };
        for _ in 0..150_000 {
            builder.add(StateId::new(random(50_000)), labels[random(4)], StateId::new(random(50_000)));
        }
    });
    for relation in [Relation::Strong, Relation::Branching, Relation::Weak, Relation::TauStarA] {
        let with_threads = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let reduced = pool.install(|| reduce(&lts, relation)).unwrap();
            let labels: Vec<String> = reduced.labels().iter().map(|(_, text)| text.to_owned()).collect();
            (labels, reduced.transitions().collect::<Vec<_>>())
        };
        assert!(with_threads(1) == with_threads(3), "{relation}");
    }
}
