//! The theorem of Salaün and Ye (2015): with its probes hidden, an instrumented program is branching bisimilar to the
//! original. And measuring with probes agrees with measuring directly, the documented liberty aside.

mod random_programs;

use std::path::Path;

use cover::{Coverage, Example, Opened, Order, ProbesFirst, Subject};
use explore::Limits;
use lts::{Lts, LtsBuilder, Progress, Selector, StateId};
use model::Model;
use model::Probes;
use rayon::prelude::*;

fn explored(model: &dyn Model, states: usize) -> Option<Lts> {
    let found =
        explore::explore(model, &Limits { states, threads: 1, ..Limits::default() }, &Progress::new());
    found.outcome.is_complete().then_some(found.lts)
}

/// What a comparison has shown.
struct Compared {
    states: usize,
    probed_states: usize,
    /// The same where probes are taken first.
    first_states: usize,
    /// What each set of probes has seen.
    seen: Vec<Coverage>,
    critical: usize,
    /// Critical items that were seen directly, and whose probe was not reached.
    liberties: usize,
    /// Critical items that were seen directly, and have no probe because there is no place for one.
    unshown: usize,
}

/// Both claims for an example, with these sets of probes one after the other; nothing where it has too many states or
/// fails at run time.
fn compare_sets(
    example: &Example,
    opened: &Opened,
    sets: &[Probes],
    order: Order,
    limit: usize,
    text: &str,
) -> Option<Compared> {
    let original = explored(opened.model(), limit)?;
    let limits = Limits { states: limit * 40, threads: 1, ..Limits::default() };
    let (direct, _) = cover::measure(opened.model(), opened.map(), &limits, &Progress::new());
    let direct = direct.coverage;
    let states = original.state_count();
    let (probed_states, first_states, seen) = (0, 0, Vec::new());
    let mut compared =
        Compared { states, probed_states, first_states, seen, critical: 0, liberties: 0, unshown: 0 };
    for set in sets {
        let instrumented = opened.instrumented(set).unwrap();
        let written: Vec<&str> = instrumented.modules.iter().map(|module| module.text.as_str()).collect();
        let written = written.join("\n");
        let model = opened.open_instrumented(example, &instrumented).unwrap_or_else(|error| {
            panic!("{}\n{text}\n{written}", error.sources.render_all(&error.diagnostics, false))
        });
        let first = ProbesFirst::new(model.model(), &instrumented.gate);
        let probed = match order {
            Order::Any => explored(model.model(), limits.states)?,
            Order::ProbesFirst => explored(&first, limits.states)?,
        };
        let hidden = probed.hide(&[Selector::parse(&instrumented.gate).unwrap()]);
        let verdict = bisim::compare(&original, &hidden, bisim::Relation::Branching).unwrap();
        assert!(verdict.is_equivalent(), "{verdict:?}\n{text}\n{written}");

        let (seen, _) = cover::seen_by_probes(example, opened, set, order, &limits, &Progress::new());
        let seen = seen.coverage;
        let mut agree = |what: String, direct: bool, probed: bool, critical: bool, unshown: bool| {
            if direct != probed {
                assert!(
                    critical && direct,
                    "{what}: {direct} directly, {probed} with probes\n{text}\n{written}"
                );
                compared.liberties += usize::from(!unshown);
                compared.unshown += usize::from(unshown);
            }
            compared.critical += usize::from(critical);
        };
        for &block in &set.blocks {
            let (own, other) = (direct.blocks[block], seen.blocks[block]);
            let critical = instrumented.critical_blocks[block];
            agree(format!("block {block}"), own, other, critical, instrumented.unshown_blocks[block]);
        }
        for &decision in &set.decisions {
            let (own, other) = (direct.decisions[decision], seen.decisions[decision]);
            let critical = instrumented.critical_decisions[decision];
            let unshown = instrumented.unshown_decisions[decision];
            agree(format!("decision {decision} true"), own.yes, other.yes, critical, unshown);
            agree(format!("decision {decision} false"), own.no, other.no, critical, unshown);
        }
        for &action in &set.actions {
            agree(format!("action {action}"), direct.actions[action], seen.actions[action], false, false);
        }
        compared.probed_states += probed.state_count();
        compared.seen.push(seen);
    }
    Some(compared)
}

/// Both claims with all probes at once, in any order and with probes first, which see the same.
fn compare(example: &Example, opened: &Opened, limit: usize, text: &str) -> Option<Compared> {
    let all = [Probes::all(opened.map())];
    let any = compare_sets(example, opened, &all, Order::Any, limit, text)?;
    let first = compare_sets(example, opened, &all, Order::ProbesFirst, limit, text)?;
    assert_eq!(any.seen, first.seen, "{text}");
    Some(Compared { first_states: first.probed_states, ..any })
}

/// The probes of a model a few at a time: all at once multiply the states of large models.
fn small_sets(map: &model::CoverageMap, size: usize) -> Vec<Probes> {
    let list = |count: usize| (0..count).collect::<Vec<usize>>();
    let chunks = |count: usize| list(count).chunks(size).map(<[usize]>::to_vec).collect::<Vec<_>>();
    let blocks = chunks(map.blocks.len()).into_iter().map(|blocks| Probes { blocks, ..Probes::default() });
    let decisions =
        chunks(map.decisions.len()).into_iter().map(|decisions| Probes { decisions, ..Probes::default() });
    let actions =
        chunks(map.actions.len()).into_iter().map(|actions| Probes { actions, ..Probes::default() });
    blocks.chain(decisions).chain(actions).collect()
}

fn open(path: &Path, example: &Example) -> Opened {
    Subject::new(path).unwrap().open(example).unwrap_or_else(|error| {
        panic!("{}", error.sources.render_all(&error.diagnostics, false));
    })
}

#[test]
fn on_random_programs() {
    let seeds = random_programs::seeds(800);
    let count = seeds.end - seeds.start;
    let check = |seed: u64| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.lnt");
        let text = random_programs::program(seed);
        std::fs::write(&path, &text).unwrap();
        let example = Example::of_root("MAIN");
        let opened = Subject::new(&path).unwrap().open(&example).unwrap_or_else(|error| {
            panic!("seed {seed}: {}\n{text}", error.sources.render_all(&error.diagnostics, false))
        });
        compare(&example, &opened, 500, &format!("seed {seed}\n{text}"))
    };
    let compared: Vec<Compared> = seeds.into_par_iter().filter_map(check).collect();
    let sum = |part: fn(&Compared) -> usize| compared.iter().map(part).sum::<usize>();
    let critical = sum(|one| usize::from(one.critical > 0));
    let liberties = sum(|one| usize::from(one.liberties > 0));
    let unshown = sum(|one| usize::from(one.unshown > 0));
    println!(
        "{} of {count} programs, {critical} with critical items, {liberties} with liberties, {unshown} without a place",
        compared.len()
    );
    let (states, probed, first) =
        (sum(|one| one.states), sum(|one| one.probed_states), sum(|one| one.first_states));
    println!("{states} states, {probed} with probes, {first} where these are taken first");
    assert!(first < probed);
    assert!(compared.len() as u64 > count / 2, "too many programs were left out");
    assert!(critical as u64 > count / 10, "there is little for table 3 to do");
    assert!((unshown as u64) < count / 10, "probes are missing");
}

/// The minimal example of the liberty: the probe of a critical decision stands behind the select, which never ends.
#[test]
fn the_liberty_is_all_that_differs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.lnt");
    let text = "module m is process MAIN [A, B : none] (x : bool) is
        select only if x then A; stop end if [] B end select end process end module";
    std::fs::write(&path, text).unwrap();
    let example = Example::of_root("MAIN (true)");
    let opened = open(&path, &example);
    let compared = compare(&example, &opened, 1000, text).unwrap();
    assert_eq!((compared.critical, compared.liberties), (2, 1));
    let limits = Limits::default();
    let (direct, _) = cover::measure(opened.model(), opened.map(), &limits, &Progress::new());
    let probes = cover::measure_with_probes(&example, &opened, Order::ProbesFirst, &limits, &Progress::new());
    assert!(direct.coverage.decisions[0].yes && !probes.coverage.decisions[0].yes);
}

/// Definition 6, table 2 and table 3: probes as they are written out, critical ones behind the choice.
#[test]
fn probes_are_written_as_in_the_tables() {
    let written = |body: &str| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.lnt");
        let text =
            format!("module m is process MAIN [A, B, C : none] (x : nat) is {body} end process end module");
        std::fs::write(&path, text).unwrap();
        let opened = open(&path, &Example::of_root("MAIN (1)"));
        let decisions = (0..opened.map().decisions.len()).collect();
        let probes = Probes { decisions, ..Probes::default() };
        let text = opened.instrumented(&probes).unwrap().modules[0].text.clone();
        let (_, body) = text.split_once(" is ").and_then(|(_, rest)| rest.split_once(" is ")).unwrap();
        body.trim_end_matches(" end process end module").to_owned()
    };
    assert_eq!(written("if x > 0 then A end if"), "PROBE (\"D0\", (x > 0)); if x > 0 then A end if");
    assert_eq!(
        written("case x in 0 -> A | any -> B end case"),
        "case x in 0 -> PROBE (\"D0\", true); A | any -> PROBE (\"D0\", false); PROBE (\"D1\", true); B end case"
    );
    assert_eq!(
        written("while x > 5 loop A end loop; B"),
        "PROBE (\"D0\", (x > 5)); while x > 5 loop A end loop; PROBE (\"D0\", (x > 5)); B"
    );
    assert_eq!(
        written("select only if x > 0 then A end if [] B end select; C"),
        "var PROBED_0, PROBED_1 : bool in PROBED_0 := false; PROBED_1 := false; \
         select if x > 0 then PROBED_0 := true else PROBED_1 := true end if; \
         only if x > 0 then A end if [] B end select; \
         if PROBED_0 then PROBE (\"D0\", true); PROBED_0 := false end if; \
         if PROBED_1 then PROBE (\"D0\", false); PROBED_1 := false end if; C end var"
    );
    // The branch may end in silence: behind the select, the probe would still make the choice. It waits for C.
    assert_eq!(
        written("select if x > 0 then A end if [] B end select; C"),
        "var PROBED_0, PROBED_1 : bool in PROBED_0 := false; PROBED_1 := false; \
         select if x > 0 then PROBED_0 := true else PROBED_1 := true end if; \
         if x > 0 then A end if [] B end select; C; \
         if PROBED_0 then PROBE (\"D0\", true); PROBED_0 := false end if; \
         if PROBED_1 then PROBE (\"D0\", false); PROBED_1 := false end if end var"
    );
}

/// Opens a module and compares both ways of measuring it; gives what is seen directly and by probes.
fn both(text: &str, root: &str) -> (Coverage, Coverage, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.lnt");
    std::fs::write(&path, format!("module m is {text} end module")).unwrap();
    let example = Example::of_root(root);
    let opened = open(&path, &example);
    compare(&example, &opened, 1000, text).unwrap();
    let (limits, progress) = (Limits::default(), Progress::new());
    let (direct, _) = cover::measure(opened.model(), opened.map(), &limits, &progress);
    let probed = cover::measure_with_probes(&example, &opened, Order::ProbesFirst, &limits, &progress);
    let written = opened.instrumented(&Probes::all(opened.map())).unwrap().modules[0].text.clone();
    (direct.coverage, probed.coverage, written)
}

/// A model may say how large its numbers are: probes need none. By hand: b is always true, and A, B and C happen; the
/// probe of the decision waits for C.
#[test]
fn models_with_small_numbers_have_probes() {
    let (direct, probed, _) = both(
        "!nat_sup 1
         process MAIN [A, B, C : none] (b : bool) is
            loop select only if b then A end if [] B end select; C end loop
         end process",
        "MAIN (true)",
    );
    assert_eq!((&direct.blocks, direct.decisions[0].yes), (&vec![true; 3], true));
    assert_eq!(direct, probed);
}

/// A process without an action has no place for the probe of a critical block: its callers show it. By hand: all blocks
/// are executed, in each of these programs.
#[test]
fn callers_show_what_silent_processes_do() {
    let set = "process SET (out y : nat) is y := 1 end process ";
    let programs = [
        "process MAIN [A : any, B : none] is
            var y : nat in select SET (?y); A (y) [] B end select end var
         end process",
        // Through another process, by name, and by `...`.
        "process TWICE (out y : nat) is SET (?y); SET (y -> ?y) end process
         process MAIN [A : any, B : none] is
            var y : nat in select TWICE (...); A (y) [] B end select end var
         end process",
        // From two parallel branches.
        "process MAIN [A : any, B : none] is
            var y, z : nat in
               select par SET (?y); A (y) || SET (?z); A (z) end par [] B end select
            end var
         end process",
        // Where the place behind the choice is critical too: behind the next action.
        "process MAIN [A : any, B : none] is
            var y : nat in y := 0; select SET (?y) [] B end select; A (y) end var
         end process",
    ];
    for program in programs {
        let (direct, probed, written) = both(&format!("{set}{program}"), "MAIN");
        assert!(!direct.blocks.contains(&false), "{program}");
        assert_eq!(direct, probed, "{written}");
    }
    let (_, _, written) = both(&format!("{set}{}", programs[0]), "MAIN");
    assert!(
        written.contains("process SET [PROBE : any] (in out PROBED_0 : bool, out y : nat) is"),
        "{written}"
    );
    assert!(written.contains("SET [PROBE] (!?PROBED_0, ?y)"), "{written}");
}

/// Both claims on every bundled model, from its own root and from those of the suites.
#[test]
fn on_the_bundled_models() {
    let library = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let mut subjects: Vec<(std::path::PathBuf, Vec<Example>)> = Vec::new();
    for folder in folders(&library).into_iter().chain(folders(&library.join("coverage"))) {
        for path in files(&folder, "lnt") {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let suite =
                folder.join(format!("suite{}.toml", name.trim_start_matches(|c: char| !c.is_ascii_digit())));
            let examples = match suite.is_file() {
                true => cover::load_suite(&suite, &mut source::Sources::new()).unwrap(),
                false => vec![Example { name: "MAIN".to_owned(), ..Example::default() }],
            };
            subjects.push((path, examples));
        }
    }
    let (mut compared, mut left_out) = (0, Vec::new());
    for (path, examples) in subjects {
        for example in examples {
            // Modules without a process to start are tried with those that import them.
            let Ok(opened) = Subject::new(&path).unwrap().open(&example) else { continue };
            let text = format!("{} {}", path.display(), example.name);
            // All probes at once where that is feasible; else a few at a time, and all of them taken first.
            let done = compare(&example, &opened, 2_000, &text).map(|_| ()).or_else(|| {
                let (few, all) = (small_sets(opened.map(), 4), [Probes::all(opened.map())]);
                compare_sets(&example, &opened, &few, Order::Any, 40_000, &text)?;
                compare_sets(&example, &opened, &all, Order::ProbesFirst, 40_000, &text).map(|_| ())
            });
            match done {
                Some(()) => compared += 1,
                None => left_out.push(text),
            }
        }
    }
    println!("{compared} compared, too large: {left_out:?}");
    // The railway station: see below.
    assert!(left_out.len() <= 1 && left_out.iter().all(|text| text.contains("interlocking")), "{left_out:?}");
    assert!(compared >= 30, "{compared}");
}

/// A quiet day at the railway station has 1,331 states, and more than two million with all probes in any order: eight
/// signals and four points have theirs. Taken first, they show what is seen directly.
#[test]
fn on_a_quiet_day_at_the_station() {
    let (example, opened) = station("QUIET_DAY");
    let all = [Probes::all(opened.map())];
    let compared = compare_sets(&example, &opened, &all, Order::ProbesFirst, 2_000, "QUIET_DAY").unwrap();
    println!("{} states, {} with probes", compared.states, compared.probed_states);
    assert!(compared.states > 1_000);
}

/// The station as it is has 228,710 states, and 2,076,795 with the probes of the first step.
#[test]
fn on_the_whole_station() {
    let (example, opened) = station("MAIN");
    let (limits, progress) = (Limits::default(), Progress::new());
    let (direct, _) = cover::measure(opened.model(), opened.map(), &limits, &progress);
    let probed = cover::measure_with_probes(&example, &opened, Order::ProbesFirst, &limits, &progress);
    assert_eq!((&direct.stopped, &probed.stopped), (&None, &None));
    println!("{} states, {} with probes", direct.states, probed.states);
    let critical = opened.instrumented(&Probes::all(opened.map())).unwrap().critical_decisions;
    let (direct, probed) = (direct.coverage, probed.coverage);
    assert_eq!((&direct.blocks, &direct.actions), (&probed.blocks, &probed.actions));
    for (decision, critical) in critical.into_iter().enumerate() {
        let (own, other) = (direct.decisions[decision], probed.decisions[decision]);
        let seen_only_directly = critical && own.yes >= other.yes && own.no >= other.no;
        assert!(own == other || seen_only_directly, "decision {decision}: {own:?}, with probes {other:?}");
    }

    let instrumented = opened.instrumented(&Probes::all(opened.map())).unwrap();
    let model = opened.open_instrumented(&example, &instrumented).ok().unwrap();
    let model = ProbesFirst::new(model.model(), &instrumented.gate);
    let original = explore::explore(opened.model(), &limits, &progress).lts;
    let probed = explore::explore(&model, &limits, &progress).lts;
    let hidden = without_forced_steps(&probed.hide(&[Selector::parse(&instrumented.gate).unwrap()]));
    println!(
        "{} states with all probes, {} of them wait for more",
        probed.state_count(),
        hidden.state_count()
    );
    assert!(bisim::compare(&original, &hidden, bisim::Relation::Branching).unwrap().is_equivalent());
}

/// A state that has one step only, an internal one, is branching bisimilar to the state it leads to, which stands for
/// both here. Few states of a program whose probes are hidden and taken first are left: comparing them takes seconds.
fn without_forced_steps(lts: &Lts) -> Lts {
    let mut ends: Vec<StateId> = lts.states().collect();
    for state in lts.states() {
        let mut end = state;
        let mut steps = 0;
        while let [step] = lts.outgoing(end)
            && step.label.is_tau()
        {
            end = step.target;
            steps += 1;
            assert!(steps < 10_000, "a cycle of nothing but probes");
        }
        ends[state.index()] = end;
    }
    let mut builder = LtsBuilder::with_labels(lts.labels().clone());
    builder.set_initial(ends[lts.initial().index()]);
    builder.reserve_states(lts.state_count());
    for step in lts.transitions().filter(|step| ends[step.source.index()] == step.source) {
        builder.add(step.source, step.label, ends[step.target.index()]);
    }
    builder.finish().unwrap().reachable()
}

fn station(root: &str) -> (Example, Opened) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/interlocking/interlocking.lnt");
    let example = Example::of_root(root);
    let opened = open(&path, &example);
    (example, opened)
}

fn folders(parent: &Path) -> Vec<std::path::PathBuf> {
    let mut found: Vec<_> = std::fs::read_dir(parent).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.retain(|path| path.is_dir());
    found.sort();
    found
}

fn files(folder: &Path, extension: &str) -> Vec<std::path::PathBuf> {
    let mut found: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.retain(|path| path.extension().is_some_and(|own| own == extension));
    found.sort();
    found
}
