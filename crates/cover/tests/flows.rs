//! Def-use pairs: worked out by hand, against a naive twin, and text against runs.

mod random_programs;

use std::collections::{BTreeMap, BTreeSet};

use cover::{Example, Pair, Settings, Subject};
use explore::Limits;
use lts::{LabelId, Lts, LtsBuilder, OriginId, Progress, StateId};
use model::{DataFlow, VariableSite};
use proptest::prelude::*;
use rayon::prelude::*;
use source::{FileId, Sources, Span};

/// Covered and all pairs, and those that are not covered: variable, line of the definition, line of the use.
fn measure(text: &str, roots: &[&str]) -> (usize, usize, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.lnt");
    std::fs::write(&path, format!("module m is {text}\nend module\n")).unwrap();
    let subject = Subject::new(&path).unwrap();
    let examples: Vec<Example> = roots.iter().map(|root| Example::of_root(root)).collect();
    let (settings, progress) = (Settings::default(), Progress::new());
    let outcome = cover::run(&subject, &examples, &settings, &progress).unwrap_or_else(|wrong| {
        let error = &wrong[0].error;
        panic!("{}", error.sources.render_all(&error.diagnostics, false))
    });
    let found = cover::def_use_pairs(&subject, &outcome, &settings, &progress);
    let lines = found.missing.iter().map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        let line = |word: &str| word.split(':').next().unwrap().to_owned();
        format!("{} {} -> {}", words[1], line(words[6]), line(words[words.len() - 1]))
    });
    (found.covered, found.total, lines.collect())
}

/// By hand, by lines: x is defined on 1 (the parameter), 3 and 6 (received), and used on 2, 5, 6 (the guard) and 7.
/// - 1 reaches 2 and, past the conditional, 5. What is received on 6 takes its place before 7.
/// - 3 reaches 5. 6 reaches its own guard, and 7.
///
/// That is 1-2, 1-5, 3-5, 6-6, 6-7: five pairs. With x = 0, the condition does not hold, and 3 is not executed.
#[test]
fn straight_and_branching() {
    let text = "process MAIN [A, B : any] (in var x : nat) is
       if x > 0 then
          x := 1
       end if;
       B (x);
       A (?x) where x < 2;
       B (x)
    end process";
    let (covered, total, missing) = measure(text, &["MAIN (0)"]);
    assert_eq!((covered, total), (4, 5));
    assert_eq!(missing, ["x 3 -> 5"]);
    assert_eq!(measure(text, &["MAIN (0)", "MAIN (1)"]).0, 5);
}

/// x as of 2 and, from the second round on, as of 6 is used on 5 and on 6: four pairs. y as of 2 is used on 7.
#[test]
fn loops_carry_definitions_over() {
    let text = "process MAIN [A, C : any] is
       var x, y : bool in x := false; y := true;
       loop
          select
             A (x);
             x := not (x)
          [] C (y)
          end select
       end loop end var
    end process";
    assert_eq!(measure(text, &["MAIN"]), (5, 5, vec![]));
}

/// Two instances of P with cells of their own. In the first, `set` is true, in the second false. The pair of the
/// parameter x with B needs `set` to be false, that of the assignment needs it to be true: both are covered, each by
/// one instance. That `set` itself reaches the condition is the third pair, and MAIN has none.
#[test]
fn instances_do_not_mix() {
    let text = "process P [A, B : any] (in var x : nat, set : bool) is
       A;
       if set then
          x := 2
       end if;
       B (x)
    end process
    process MAIN [A, B : any] is
       par P [A, B] (0, true) || P [A, B] (1, false) end par
    end process";
    assert_eq!(measure(text, &["MAIN"]), (3, 3, vec![]));
    // Alone, the first instance always overwrites what it was given.
    let (covered, total, missing) = measure(text, &["P (0, true)"]);
    assert_eq!((covered, total, missing), (2, 3, vec!["x 1 -> 6".to_owned()]));
}

/// A definition that is overwritten before the use, in every run of this example: x is 0 on 2, and 3 is always taken
/// because y is true; the text does not know that. Pairs: 1-3 (y), 2-5, 4-5.
#[test]
fn overwritten_in_between() {
    let text = "process MAIN [A, B : any] (y : bool) is var x : nat in
       x := 0; A;
       if y then
          x := 1 end if;
       B (x) end var
    end process";
    assert_eq!(measure(text, &["MAIN (true)"]), (2, 3, vec!["x 2 -> 5".to_owned()]));
    assert_eq!(measure(text, &["MAIN (false)"]).2, ["x 4 -> 5"]);
}

/// What a process hands back is defined at the call: Q's y on 2 is never used in Q; in MAIN, x is defined on 6 and used
/// on 7, and `0` on 5 reaches the call, which takes it (`!?x`): 5-6, 6-7. In Q, y's parameter reaches 2.
#[test]
fn calls_define_their_results() {
    let text = "process Q [A : any] (in out y : nat) is A;
       y := y + 1
    end process
    process MAIN [A, B : any] is var x : nat in
       x := 0;
       Q [A] (!?x);
       B (x) end var
    end process";
    assert_eq!(measure(text, &["MAIN"]), (3, 3, vec![]));
}

/// The body of a disrupt is interrupted anywhere: x as of 2, 4 and 5 may reach 6. From 2 it is interrupted at once;
/// between 4 and 5 there is no action, so the definition on 4 can't be seen: the text does not know that.
#[test]
fn disruptions() {
    let text = "process MAIN [A, B, C : any] is var x : nat in
       x := 0;
       disrupt A;
          x := 1;
          x := 2; B
       by C (x) end disrupt end var
    end process";
    assert_eq!(measure(text, &["MAIN"]), (2, 3, vec!["x 4 -> 6".to_owned()]));
}

/// x as of 7 is used by the `raise` on 8 and by the handler on 4; x as of 2 is not, for 7 stands in between. The
/// handler's parameter z is defined on 4 and used on 5: three pairs.
#[test]
fn handlers() {
    let text = "process MAIN [A : any] is var x : nat in
       x := 0;
       trap
          exception E (z : nat) is A (x);
             A (z)
       in
          A; x := 1;
          raise E (x + 1)
       end trap end var
    end process";
    assert_eq!(measure(text, &["MAIN"]), (3, 3, vec![]));
}

/// Two branches are forked on a silent way and meet at once: the way lies behind both, but was taken once. x as of 1 (the
/// parameter) reaches 3, x as of 3 reaches 4 and, in the next round, 3; `again` reaches 5: four pairs. Where there is
/// no next round, x as of 3 is not used on 3.
#[test]
fn branches_share_the_way_to_them() {
    let text = "process MAIN [A, B : any] (in var x : nat, again : bool) is loop
       select
          x := (x + 1) mod 2;
          par B in B (x) || B (?any nat) end par;
          if not (again) then stop end if
       [] A end select end loop
    end process";
    assert_eq!(measure(text, &["MAIN (0, false)"]), (3, 4, vec!["x 3 -> 3".to_owned()]));
    assert_eq!(measure(text, &["MAIN (0, true)"]), (4, 4, vec![]));
}

/// A silent loop comes back to its choice in the same state: what happens on the way is seen all the same. x as of 1
/// (the parameter) reaches 1, 3, 4 and 5; as of 3 it reaches 3, 4 and 5. y as of 1 and of 4 reaches 5. Nine pairs.
#[test]
fn silent_ways() {
    let text = "process MAIN [A : any] (in var x : bool) is var y : bool in y := x;
       loop l in select
             x := x and false
          [] y := x
          [] A (x, y); break l
       end select end loop end var
    end process";
    assert_eq!(measure(text, &["MAIN (false)"]), (9, 9, vec![]));
}

/// Steps of a random system: for two cells, a use, a definition, or both in either order, and alternatives.
fn steps() -> impl Strategy<Value = (usize, Vec<(usize, usize, usize)>)> {
    (1usize..6).prop_flat_map(|states| {
        let edge = (0..states, 0..12usize, 0..states);
        (Just(states), proptest::collection::vec(edge, 0..12))
    })
}

fn site(kind: u32, cell: u32, number: u32) -> VariableSite {
    let file = Sources::new().add("f", "");
    let span = |start: u32| Span { file: FileId::clone(&file), start, end: start };
    VariableSite { variable: span(cell), span: span(100 * kind + number) }
}

/// What edges of a kind do; kind 11 has two ways.
fn flows(kind: usize) -> Vec<DataFlow> {
    let (cell, what) = ((kind % 2) as u32, kind / 2);
    let (used, defined) = (site(1, cell, kind as u32), site(2, cell, kind as u32));
    match what {
        0 => vec![DataFlow::default()],
        1 => vec![DataFlow { used: vec![(cell, used)], ..DataFlow::default() }],
        2 => vec![DataFlow { defined: vec![(cell, defined)], ..DataFlow::default() }],
        3 => {
            vec![DataFlow { used: vec![(cell, used)], defined: vec![(cell, defined)], ..DataFlow::default() }]
        }
        4 => vec![DataFlow {
            pairs: vec![(defined, used)],
            defined: vec![(cell, defined)],
            ..DataFlow::default()
        }],
        _ => vec![
            DataFlow::default(),
            DataFlow { defined: vec![(cell, defined)], used: vec![(1 - cell, used)], ..DataFlow::default() },
        ],
    }
}

/// The twin: follows every path, as long as it meets a state with other last definitions; nothing where these are too
/// many.
fn enumerated(
    lts: &Lts,
    initial: Vec<DataFlow>,
    flows: &dyn Fn(OriginId) -> Vec<DataFlow>,
) -> Option<BTreeSet<Pair>> {
    let mut pairs = BTreeSet::new();
    let mut take = |flow: &DataFlow, last: &BTreeMap<u32, VariableSite>| {
        pairs.extend(flow.pairs.iter().copied());
        pairs.extend(flow.used.iter().filter_map(|(cell, used)| Some((*last.get(cell)?, *used))));
        let mut last = last.clone();
        last.extend(flow.defined.iter().copied());
        last
    };
    let mut todo: Vec<(StateId, BTreeMap<u32, VariableSite>)> =
        initial.iter().map(|flow| (lts.initial(), take(flow, &BTreeMap::new()))).collect();
    let mut seen: BTreeSet<(StateId, BTreeMap<u32, VariableSite>)> = todo.iter().cloned().collect();
    while let Some((state, last)) = todo.pop() {
        if seen.len() > 2000 {
            return None;
        }
        let origins = &lts.origins().unwrap_or_default()[lts.edge_range(state)];
        for (edge, &origin) in lts.outgoing(state).iter().zip(origins) {
            for flow in flows(origin) {
                let next = (edge.target, take(&flow, &last));
                if seen.insert(next.clone()) {
                    todo.push(next);
                }
            }
        }
    }
    Some(pairs)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]
    #[test]
    fn the_fixed_point_agrees_with_all_paths((states, edges) in steps()) {
        let mut builder = LtsBuilder::new();
        builder.reserve_states(states);
        let label = LabelId::TAU;
        for (from, kind, to) in edges {
            builder.add_with_origin(StateId::new(from), label, StateId::new(to), OriginId::new(1 << kind));
        }
        // Origins are sets of kinds.
        let union = |a: OriginId, b: OriginId| OriginId::new(a.index() | b.index());
        let Ok(lts) = builder.finish_with(union) else { return Ok(()) };
        let ways = |origin: OriginId| -> Vec<DataFlow> {
            (0..12).filter(|kind| origin.index() >> kind & 1 == 1).flat_map(flows).collect()
        };
        let initial = OriginId::new(1 << 4);
        if lts.origins().is_some() {
            prop_assert_eq!(
                Some(cover::exercised_pairs(&lts, initial, ways)),
                enumerated(&lts, ways(initial), &ways)
            );
        }
    }
}

/// On random programs: what runs exercise is what the text allows, and following variables changes no state.
#[test]
fn runs_exercise_only_what_the_text_allows() {
    let check = |seed: u64| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.lnt");
        let text = random_programs::program(seed);
        std::fs::write(&path, &text).unwrap();
        let subject = Subject::new(&path).unwrap();
        let example = Example::of_root("MAIN");
        let (Ok(plain), Ok(opened)) = (subject.open(&example), subject.open_following(&example)) else {
            panic!("seed {seed}\n{text}")
        };
        let limits =
            Limits { states: 500, threads: 1, transitions: true, origins: true, ..Limits::default() };
        let explored = explore::explore(plain.model(), &limits, &Progress::new());
        let followed = explore::explore(opened.model(), &limits, &Progress::new());
        // Beyond the limit, how far an exploration has come depends on how often it meets a state.
        assert_eq!(explored.outcome.is_complete(), followed.outcome.is_complete(), "seed {seed}\n{text}");
        if explored.outcome.is_complete() {
            assert_eq!(explored.states(), followed.states(), "seed {seed}\n{text}");
            assert_eq!(
                explored.lts.transition_count(),
                followed.lts.transition_count(),
                "seed {seed}\n{text}"
            );
        }
        let allowed: BTreeSet<Pair> =
            opened.program.def_use_pairs().into_iter().map(|pair| (pair.definition, pair.used)).collect();
        let ways = |origin: OriginId| -> Vec<DataFlow> {
            let marks = opened.model().provenance().marks_of(origin).into_iter();
            marks.filter_map(|mark| opened.model().flow(mark)).collect()
        };
        let exercised = cover::exercised_pairs(&followed.lts, opened.model().initial_origin(), ways);
        for (definition, used) in exercised.difference(&allowed) {
            let place = |site: &VariableSite| opened.sources.position(site.span);
            // The root that the user asked for is no process of the program.
            if opened.sources.name(used.span.file) != "root process" {
                panic!("seed {seed}: {:?} to {:?}\n{text}", place(definition), place(used));
            }
        }
        let twin = enumerated(&followed.lts, ways(opened.model().initial_origin()), &ways);
        assert!(twin.as_ref().is_none_or(|twin| *twin == exercised), "seed {seed}\n{text}");
        (allowed.len(), exercised.len(), usize::from(twin.is_some()))
    };
    let seeds = random_programs::seeds(500);
    let count = (seeds.end - seeds.start) as usize;
    let counts: Vec<(usize, usize, usize)> = seeds.into_par_iter().map(check).collect();
    let sum = |part: fn(&(usize, usize, usize)) -> usize| counts.iter().map(part).sum::<usize>();
    let (allowed, exercised, compared) = (sum(|one| one.0), sum(|one| one.1), sum(|one| one.2));
    println!("{exercised} of {allowed} pairs are exercised, {compared} programs compared with the twin");
    assert!(exercised > 10 * count && compared > count * 4 / 5);
}
