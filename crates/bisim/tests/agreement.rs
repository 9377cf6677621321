//! Every relation against its definition, against MERC, and against itself, on random systems.

mod naive;

use bisim::{
    Comparison, Excess, Limits, Part, Preorder, Reason, Relation, Side, classes, compare, excess, reduce,
};
use lts::{LabelId, Lts, LtsBuilder, StateId};
use merc_reduction::Equivalence;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// Runs a property on `cases` random inputs that are the same in every run.
fn check<S: Strategy>(cases: u32, strategy: S, property: impl Fn(S::Value) -> Result<(), TestCaseError>) {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let random = TestRng::from_seed(RngAlgorithm::XorShift, b"watershed bisim!");
    if let Err(error) = TestRunner::new_with_rng(config, random).run(&strategy, property) {
        panic!("{error}");
    }
}

/// Systems of up to `states` states over `i`, A and B, with many internal steps or few.
fn systems(states: usize) -> impl Strategy<Value = System> {
    (1..=states, 0..4usize).prop_flat_map(|(states, silence)| {
        let label = (0..3 + silence).prop_map(|label| if label > 2 { 0 } else { label });
        let steps = prop::collection::vec((0..states, label, 0..states), 0..=3 * states);
        steps.prop_map(move |steps| System { states, steps })
    })
}

#[derive(Clone, Debug)]
struct System {
    states: usize,
    steps: Vec<(usize, usize, usize)>,
}

impl System {
    fn build(&self) -> Lts {
        let mut builder = LtsBuilder::new();
        let labels = [LabelId::TAU, builder.label("A"), builder.label("B")];
        builder.reserve_states(self.states);
        for &(source, label, target) in &self.steps {
            builder.add(StateId::new(source), labels[label], StateId::new(target));
        }
        builder.finish().unwrap()
    }

    /// Both side by side, and the initial state of the second.
    fn beside(&self, other: &System) -> (Lts, usize) {
        let shifted = other.steps.iter().map(|&(s, a, t)| (s + self.states, a, t + self.states));
        let steps = self.steps.iter().copied().chain(shifted).collect();
        (System { states: self.states + other.states, steps }.build(), self.states)
    }
}

fn transitions(lts: &Lts) -> Vec<(usize, String, usize)> {
    lts.transitions().map(|t| (t.source.index(), lts.label(t.label).to_owned(), t.target.index())).collect()
}

#[test]
fn classes_agree_with_the_definitions() {
    check(3000, systems(10), |system| {
        let lts = system.build();
        for relation in Relation::ALL {
            let classes = classes(&lts, relation).unwrap();
            let twin = naive::relation(&lts, relation);
            for s in 0..lts.state_count() {
                for t in 0..lts.state_count() {
                    prop_assert_eq!(classes[s] == classes[t], twin[s][t], "{} {} {}", relation, s, t);
                }
            }
        }
        Ok(())
    });
}

#[test]
fn the_relations_include_each_other() {
    use Relation::*;
    let finer = [
        (Strong, DivergencePreservingBranching),
        (DivergencePreservingBranching, Branching),
        (Branching, Weak),
        (Branching, TauStarA),
        (Weak, WeakTrace),
        (TauStarA, WeakTrace),
        (Strong, Trace),
        (Trace, WeakTrace),
    ];
    check(1500, systems(12), |system| {
        let lts = system.build();
        for (finer, coarser) in finer {
            let (fine, coarse) = (classes(&lts, finer).unwrap(), classes(&lts, coarser).unwrap());
            for s in 0..fine.len() {
                for t in 0..fine.len() {
                    prop_assert!(fine[s] != fine[t] || coarse[s] == coarse[t], "{} {}", finer, coarser);
                }
            }
        }
        Ok(())
    });
}

#[test]
fn reductions_are_minimal_equivalent_and_final() {
    check(2000, systems(12), |system| {
        let lts = system.build();
        for relation in Relation::ALL {
            let reduced = reduce(&lts, relation).unwrap();
            let again = reduce(&reduced, relation).unwrap();
            prop_assert_eq!(transitions(&reduced), transitions(&again), "{}", relation);
            prop_assert_eq!(reduced.initial(), StateId::new(0));
            prop_assert!(compare(&lts, &reduced, relation).unwrap().is_equivalent(), "{}", relation);
            let classes = classes(&reduced, relation).unwrap();
            let distinct: std::collections::BTreeSet<_> = classes.iter().collect();
            prop_assert_eq!(distinct.len(), reduced.state_count(), "{}", relation);
            let texts: Vec<_> = reduced.labels().iter().map(|(_, text)| text.to_owned()).collect();
            let used = reduced.used_labels();
            prop_assert!(used[1..].iter().all(|&used| used), "{:?}", texts);
        }
        Ok(())
    });
}

#[test]
fn comparisons_agree_with_the_definitions_and_reasons_hold() {
    check(3000, (systems(6), systems(6)), |(left, right)| {
        let (both, second) = left.beside(&right);
        let (left, right) = (left.build(), right.build());
        for relation in Relation::ALL {
            let related = naive::relation(&both, relation)[0][second];
            match compare(&left, &right, relation).unwrap() {
                Comparison::Equivalent => prop_assert!(related, "{}", relation),
                Comparison::Different(Reason::Formula(formula)) => {
                    prop_assert!(!related, "{}", relation);
                    prop_assert!(naive::holds(&left, &formula), "{}: {} on the left", relation, formula);
                    prop_assert!(!naive::holds(&right, &formula), "{}: {} on the right", relation, formula);
                }
                Comparison::Different(Reason::Trace { labels, only }) => {
                    prop_assert!(!related, "{}", relation);
                    let weak = relation == Relation::WeakTrace;
                    let can = |lts| naive::performs(lts, &labels, weak);
                    prop_assert_eq!((can(&left), can(&right)), (only == Side::Left, only == Side::Right));
                    let (_, shorter) = labels.split_last().unwrap();
                    prop_assert!(
                        naive::performs(&left, shorter, weak) && naive::performs(&right, shorter, weak)
                    );
                }
                Comparison::Different(Reason::TooLarge) => prop_assert!(false, "gave up on a small system"),
            }
        }
        Ok(())
    });
}

/// The labels of a run, and whether it is one.
fn run_of(lts: &Lts, edges: &[usize]) -> Vec<(String, StateId)> {
    let mut state = lts.initial();
    let step = |&edge: &usize| {
        assert!(lts.edge_range(state).contains(&edge), "the run is broken");
        state = lts.edges()[edge].target;
        (lts.label(lts.edges()[edge].label).to_owned(), state)
    };
    edges.iter().map(step).collect()
}

#[test]
fn preorders_agree_with_the_definitions_and_reasons_hold() {
    let mut counts = [[0usize; 2]; 5];
    let counted = std::cell::RefCell::new(&mut counts);
    check(4000, (systems(6), systems(6)), |(left, right)| {
        let (both, second) = left.beside(&right);
        let (left, right) = (left.build(), right.build());
        for (place, preorder) in Preorder::ALL.into_iter().enumerate() {
            let included = naive::included(&both, preorder, 0, second);
            counted.borrow_mut()[place][usize::from(included)] += 1;
            let found = excess(&left, &right, preorder, &Limits::default()).unwrap();
            prop_assert_eq!(found.is_none(), included, "{}", preorder);
            let weak = preorder != Preorder::TraceInclusion;
            let labels = |edges: &[usize]| -> Vec<String> {
                let labels = run_of(&left, edges).into_iter().map(|(label, _)| label);
                labels.filter(|label| !weak || label != "i").collect()
            };
            match found {
                None => {}
                Some(Excess::Run { edges }) => {
                    let labels = labels(&edges);
                    prop_assert!(naive::performs(&left, &labels, weak));
                    prop_assert!(!naive::performs(&right, &labels, weak), "{}: {:?}", preorder, labels);
                    let (_, shorter) = labels.split_last().unwrap();
                    prop_assert!(naive::performs(&right, shorter, weak));
                }
                Some(Excess::Refusal { edges, refused, offered }) => {
                    let end = run_of(&left, &edges).last().map_or(left.initial(), |(_, state)| *state);
                    let offers: std::collections::BTreeSet<String> =
                        left.outgoing(end).iter().map(|edge| left.label(edge.label).to_owned()).collect();
                    prop_assert!(
                        !offers.contains("i") && refused.iter().all(|label| !offers.contains(label))
                    );
                    prop_assert_eq!(offers.into_iter().collect::<Vec<_>>(), offered);
                    prop_assert!(!naive::refuses(&right, &labels(&edges), &refused), "{:?}", refused);
                }
                Some(Excess::Formula(formula)) => {
                    prop_assert!(naive::holds(&left, &formula), "{}: {} on the left", preorder, formula);
                    prop_assert!(!naive::holds(&right, &formula), "{}: {} on the right", preorder, formula);
                    let positive = |part: &Part| matches!(part, Part::True | Part::And(_) | Part::Some(..));
                    prop_assert!(formula.parts().iter().all(positive), "{}", formula);
                }
                Some(Excess::TooLarge) => prop_assert!(false, "gave up on a small system"),
            }
        }
        Ok(())
    });
    // Both answers are met often enough to mean something.
    assert!(counts.iter().flatten().all(|&count| count > 300), "{counts:?}");
}

#[test]
fn merc_finds_systems_of_the_same_size() {
    let peers = [
        (Relation::Strong, Equivalence::StrongBisim),
        (Relation::Branching, Equivalence::BranchingBisim),
        (Relation::DivergencePreservingBranching, Equivalence::BranchingBisimDivergencePreserving),
        (Relation::Weak, Equivalence::WeakBisim),
    ];
    check(1500, systems(12), |system| {
        let lts = naive::reachable(&system.build());
        for (relation, equivalence) in peers {
            let ours = reduce(&lts, relation).unwrap();
            let theirs = merc_count(&lts, equivalence);
            prop_assert_eq!(ours.state_count(), theirs.0, "{}", relation);
            if relation != Relation::Weak {
                prop_assert_eq!(ours.transition_count(), theirs.1, "{}", relation);
            }
        }
        Ok(())
    });
}

/// The numbers of states and transitions after MERC's reduction.
fn merc_count(lts: &Lts, equivalence: Equivalence) -> (usize, usize) {
    use merc_lts::{LTS, read_aut};
    let mut text = format!("des (0, {}, {})\n", lts.transition_count(), lts.state_count());
    for (source, label, target) in transitions(lts) {
        text.push_str(&format!("({source}, \"{label}\", {target})\n"));
    }
    let merc = read_aut(text.as_bytes()).unwrap();
    let reduced = merc_reduction::reduce_lts(merc, equivalence, true, &merc_utilities::Timing::new());
    (reduced.num_of_states(), reduced.num_of_transitions())
}

/// Long systems in which refinement goes on for many rounds and some states have very many edges.
fn long_systems() -> impl Strategy<Value = System> {
    (40..300usize, 0..3usize, 0..4usize).prop_flat_map(|(states, silence, hubs)| {
        let label = (0..3 + silence).prop_map(|label| if label > 2 { 0 } else { label });
        let along = prop::collection::vec(prop_oneof![4 => Just(1), 1 => 0..3usize], states);
        let across = prop::collection::vec((0..states, label, 0..states), 0..=10);
        (along, across).prop_map(move |(along, across)| {
            let mut steps = across;
            steps.extend(along.iter().enumerate().map(|(s, &label)| (s, label, (s + 1).min(states - 1))));
            for hub in 0..hubs {
                steps.extend((0..states).map(|target| (hub * 7, (target + hub) % 3, target)));
            }
            System { states, steps }
        })
    })
}

#[test]
fn merc_agrees_on_long_systems() {
    let peers = [
        (Relation::Strong, Equivalence::StrongBisimNaive),
        (Relation::Branching, Equivalence::BranchingBisimNaive),
        (Relation::DivergencePreservingBranching, Equivalence::BranchingBisimDivergencePreservingNaive),
    ];
    check(150, long_systems(), |system| {
        let lts = naive::reachable(&system.build());
        for (relation, equivalence) in peers {
            let ours = reduce(&lts, relation).unwrap();
            let theirs = merc_count(&lts, equivalence);
            prop_assert_eq!((ours.state_count(), ours.transition_count()), theirs, "{}", relation);
        }
        Ok(())
    });
}

#[test]
fn weak_agrees_on_long_systems() {
    check(40, long_systems(), |system| {
        let lts = naive::reachable(&system.build());
        let ours = reduce(&lts, Relation::Weak).unwrap();
        prop_assert_eq!(ours.state_count(), merc_count(&lts, Equivalence::WeakBisim).0);
        Ok(())
    });
}
