//! Walks are runs: each is replayed on the model, step by step, and goes with what was seen.

use std::collections::BTreeMap;
use std::path::Path;

use conform::{Bound, Moment, Observed, Problem, Relation, Said, Sequence, Settings, Walk};
use languages::Opened;
use model::{Model, Slot};

/// A lock that counts how often it was taken, modulo 3.
const LOCK: &str = "module lock is
process MAIN [TAKE, GIVE : none] is
   var n : nat, taken : bool in
      n := 0; taken := false;
      loop
         select
            only if not (taken) then TAKE; taken := true; n := (n + 1) mod 3 end if
         [] only if taken then GIVE; taken := false end if
         end select
      end loop
   end var
end process
end module
";

const COUNTER: &str = "mod COUNTER is protecting NAT . sort State . op {_} : Nat -> State . var N : Nat .
  crl [up] : {N} => {N + 1} if N < 3 .
  op init : -> State . eq init = {0} .
endm
";

/// Two processes and a lock; a bag of parts, each with a name.
const TEST_AND_SET: &str = include_str!("../../../models/test_and_set/test_and_set.maude");

fn opened(name: &str, text: &str, root: Option<&str>) -> Opened {
    let text = model::Text::new(name, text);
    languages::registry()
        .load(&model::Input { root, ..model::Input::new(&text) })
        .unwrap_or_else(|wrong| panic!("{}", wrong.sources.render_all(&wrong.diagnostics, false)))
}

fn whole(states: &[&str]) -> Vec<Moment> {
    let moment =
        |state: &&str| Moment { event: None, state: Some(Observed::Whole((*state).into())), line: 1 };
    states.iter().map(moment).collect()
}

fn events(labels: &[&str]) -> Vec<Moment> {
    labels.iter().map(|label| Moment { event: Some((*label).into()), state: None, line: 1 }).collect()
}

fn values(states: &[&[(&str, &str)]]) -> Vec<Moment> {
    let moment = |state: &&[(&str, &str)]| {
        let values = state.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Moment { event: None, state: Some(Observed::Values(values)), line: 1 }
    };
    states.iter().map(moment).collect()
}

fn bound(steps: u32) -> Settings {
    Settings { bound: Bound::Steps(steps), ..Settings::default() }
}

/// The labels of the steps of each moment.
fn labels(walk: &Walk) -> Vec<Vec<&str>> {
    let of = |walked: &conform::Walked| -> usize { walked.steps.len() };
    assert!(walk.moments.iter().all(|walked| walked.state.is_some() || of(walked) == 0));
    walk.moments.iter().map(|walked| walked.steps.iter().map(|step| step.label.as_str()).collect()).collect()
}

/// Takes the steps of a walk on the model.
fn replay(model: &dyn Model, walk: &Walk) {
    let mut before = walk.start.clone();
    for walked in &walk.moments {
        let Some(state) = &walked.state else { return };
        if let Some(before) = before {
            let mut reached: Vec<Vec<Slot>> = vec![before];
            for taken in &walked.steps {
                let mut next = Vec::new();
                for state in &reached {
                    let fits = |step: model::Step<'_>| {
                        if model.label(step.label) == taken.label && step.origin == taken.origin {
                            next.push(step.target.to_vec());
                        }
                    };
                    model.worker().successors(state, &mut { fits }).unwrap();
                }
                reached = next;
            }
            assert!(reached.contains(state), "the steps do not lead to the next state");
        }
        before = Some(state.clone());
    }
}

fn walked(opened: &Opened, settings: Settings, moments: Vec<Moment>) -> Walk {
    let relation = Relation::default();
    let sequence = Sequence::new(moments);
    let walk = || conform::walk(opened.program.model(), &relation, settings, &sequence).unwrap();
    let found = walk();
    replay(opened.program.model(), &found);
    assert_eq!(found, walk(), "the same sequence is walked in the same way");
    found
}

#[test]
fn terms_are_walked_up_to_the_guard() {
    let counter = opened("c.maude", COUNTER, None);
    let walk = walked(&counter, bound(1), whole(&["{1}", "{2}", "{2}", "{3}", "{4}", "{5}"]));
    // The moment that is rejected is the last.
    assert_eq!(labels(&walk), [vec![], vec!["up"], vec![], vec!["up"], vec![]]);
    assert!(walk.start.is_none() && walk.moments[4].state.is_none());
    let text =
        |at: usize| conform::named_values(counter.program.model(), walk.moments[at].state.as_ref().unwrap());
    assert!(text(3)[0].1.contains('3'), "{:?}", text(3));
    // As many steps as are needed, in one stride.
    let strides = walked(&counter, bound(3), whole(&["{0}", "{3}"]));
    assert_eq!(labels(&strides), [vec![], vec!["up"; 3]]);
}

#[test]
fn events_begin_with_the_initial_state() {
    let lock = opened("lock.lnt", LOCK, None);
    let walk = walked(&lock, bound(1), events(&["TAKE", "GIVE", "GIVE"]));
    assert_eq!(labels(&walk), [vec!["TAKE"], vec!["GIVE"], vec![]]);
    let model = lock.program.model();
    assert_eq!(walk.start, Some(model.initial().unwrap()));
    let places = model.provenance().marks_of(walk.moments[0].steps[0].origin);
    assert!(!places.is_empty(), "a step knows where it is written");
    // Anywhere: what comes later decides where the walk begins.
    let anywhere = Settings { from_anywhere: true, ..bound(1) };
    let walk = walked(&lock, anywhere, events(&["GIVE", "TAKE"]));
    assert_eq!(labels(&walk), [vec!["GIVE"], vec!["TAKE"]]);
}

#[test]
fn what_is_not_observed_is_chosen_so_that_the_rest_fits() {
    let lock = opened("lock.lnt", LOCK, None);
    // Only the number is seen; that the lock is free at 1 shows later.
    let seen: [&[(&str, &str)]; 4] =
        [&[("MAIN.n", "1")], &[("MAIN.n", "2")], &[("MAIN.n", "0")], &[("MAIN.n", "2")]];
    let walk = walked(&lock, bound(2), values(&seen));
    let taken = |at: usize| {
        let values = conform::named_values(lock.program.model(), walk.moments[at].state.as_ref().unwrap());
        values.into_iter().find(|(name, _)| name == "MAIN.taken").map(|(_, value)| value)
    };
    assert_eq!(walk.moments.len(), 4);
    assert!(walk.moments[3].state.is_none(), "two rounds are too many");
    let total: usize = walk.moments.iter().map(|walked| walked.steps.len()).sum();
    assert!((3..=4).contains(&total), "{walk:?}");
    assert!((0..3).all(|at| taken(at).is_some()) && walk.moments[0].states == 2);
    // A bag in Maude of which the lock alone is seen.
    let bag = opened("t.maude", TEST_AND_SET, Some("in TEST-AND-SET : init3"));
    let seen: [&[(&str, &str)]; 3] = [&[("lock", "false")], &[("lock", "true")], &[("lock", "false")]];
    let walk = walked(&bag, bound(1), values(&seen));
    assert_eq!(labels(&walk).iter().map(Vec::len).collect::<Vec<_>>(), [0, 1, 1]);
}

#[test]
fn random_walks_are_found_again() {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let paths =
        ["test_and_set/test_and_set.maude", "peterson/peterson.lnt", "replicated_log/replicated_log.lnt"];
    for path in paths {
        let opened = languages::registry()
            .open(&models.join(path), &Default::default())
            .unwrap_or_else(|_| panic!("{path}"));
        let model = opened.program.model();
        for seed in 0..40 {
            let mut random = explore::Walk::new(model, seed).unwrap();
            let mut moments = Vec::new();
            for number in 0..25 {
                // Every other value alone, and not every state.
                if number % 3 != 1 {
                    let values =
                        conform::named_values(model, random.state()).into_iter().skip(number % 2).step_by(2);
                    moments.push(Moment {
                        event: None,
                        state: Some(Observed::Values(values.collect())),
                        line: 1,
                    });
                }
                if random.step().unwrap().is_none() {
                    break;
                }
            }
            let Some(Observed::Values(first)) = moments[0].state.clone() else { unreachable!() };
            if first.is_empty() {
                continue;
            }
            moments.retain(|moment| moment.state != Some(Observed::Values(Vec::new())));
            let seen = moments.clone();
            let walk = walked(&opened, bound(3), moments);
            assert_eq!(walk.moments.len(), seen.len());
            for (walked, moment) in walk.moments.iter().zip(&seen) {
                let state = walked.state.as_ref().expect("a walk is accepted");
                let Some(Observed::Values(wanted)) = &moment.state else { unreachable!() };
                let values = conform::named_values(model, state);
                assert!(
                    wanted.iter().all(|value| values.contains(value)),
                    "{path}, {seed}: {values:?} {wanted:?}"
                );
            }
        }
    }
}

#[test]
fn of_a_long_sequence_the_end_is_kept() {
    let lock = opened("lock.lnt", LOCK, None);
    let (model, relation) = (lock.program.model(), Relation::default());
    let labels: Vec<&str> = ["TAKE", "GIVE"].into_iter().cycle().take(101).chain(["TAKE"]).collect();
    let said = |key: &str| -> Vec<Said> {
        events(&labels).into_iter().map(|moment| Said::Moment(Some(key.into()), moment)).collect()
    };
    // Two that are mixed, and one as a whole between them.
    let mut all: Vec<Said> = said("a").into_iter().zip(said("b")).flat_map(|(a, b)| [a, b]).collect();
    all.insert(1, Said::Sequence(events(&["GIVE"])));
    let gather = |wanted: &[(u64, u64)], most: usize| -> Result<BTreeMap<u64, Sequence>, Problem> {
        let mut batches = vec![(0, all.clone())];
        let wanted = wanted.iter().copied().collect();
        conform::gather(model, &relation, bound(1), &wanted, most, &mut || Ok(batches.pop()))
    };
    let found = gather(&[(1, 1), (2, 102)], 10).unwrap();
    assert_eq!((found[&1].skipped, found[&1].moments.len()), (0, 1));
    assert_eq!((found[&2].skipped, found[&2].moments.len()), (92, 10));
    let short = conform::walk(model, &relation, bound(1), &found[&2]).unwrap();
    let long = conform::walk(model, &relation, bound(1), &gather(&[(2, 102)], 1000).unwrap()[&2]).unwrap();
    assert_eq!(long.moments.len(), 102);
    assert_eq!(short.moments[..], long.moments[92..]);
    assert_eq!(short.start, long.moments[91].state);
    assert!(long.moments[100].state.is_some() && long.moments[101].state.is_none());
}
