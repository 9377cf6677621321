//! Conditions, MC/DC, pairs of gates, suggestions and baselines, on examples worked out by hand.

use cover::{Example, FindingKind, Method, Outcome, Settings, Stopped, Subject, Suggestions};
use lts::Progress;

struct Case {
    _folder: tempfile::TempDir,
    subject: Subject,
}

impl Case {
    fn new(text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.lnt");
        std::fs::write(&path, format!("module m is\n{text}\nend module\n")).unwrap();
        Self { subject: Subject::new(&path).unwrap(), _folder: folder }
    }

    fn run(&self, roots: &[&str]) -> Outcome {
        let examples: Vec<Example> = roots.iter().map(|root| Example::of_root(root)).collect();
        self.run_examples(&examples, &Settings::default())
    }

    fn run_examples(&self, examples: &[Example], settings: &Settings) -> Outcome {
        let outcome = cover::run(&self.subject, examples, settings, &Progress::new());
        outcome.unwrap_or_else(|_| panic!("the examples type-check"))
    }

    fn suggest(&self, examples: &[Example], settings: &Settings) -> (Outcome, Suggestions) {
        let mut outcome = self.run_examples(examples, settings);
        let found = cover::suggest(&self.subject, &mut outcome, settings, 20, &Progress::new());
        (outcome, found)
    }

    /// Covered and all conditions, and the same for MC/DC.
    fn conditions(&self, roots: &[&str]) -> [(usize, usize); 2] {
        let outcome = self.run(roots);
        let criteria =
            cover::condition_criteria(&self.subject, &outcome, &Settings::default(), &Progress::new());
        criteria.map(|criterion| (criterion.covered, criterion.total))
    }
}

/// `x and y`, y evaluated only where x is true. By hand:
/// - (true, true): x true, y true. Nothing was false: 0 of 2, and nothing decides alone.
/// - and (false, true): x false, y not evaluated. x has both values: 1 of 2. These two differ in x and in the outcome,
///   and y, which was not evaluated, matches: x decides alone, 1 of 2.
/// - and (true, false): y false. Both have both values, both decide alone: 2 of 2 and 2 of 2.
#[test]
fn conditions_and_their_independent_effect() {
    let case =
        Case::new("process MAIN [A, B : none] (x, y : bool) is if x and y then A else B end if end process");
    assert_eq!(case.conditions(&["MAIN (true, true)"]), [(0, 2), (0, 2)]);
    assert_eq!(case.conditions(&["MAIN (true, true)", "MAIN (false, true)"]), [(1, 2), (1, 2)]);
    let all = ["MAIN (true, true)", "MAIN (false, true)", "MAIN (true, false)"];
    assert_eq!(case.conditions(&all), [(2, 2), (2, 2)]);
}

/// `(x and y) or z` with (t, t, f), (f, t, f), (t, f, f): x and y decide alone. z was only evaluated to false.
/// With (t, f, t) as well, z is true where it decides: against (t, f, f).
#[test]
fn masked_conditions() {
    let case = Case::new(
        "process MAIN [A, B : none] (x, y, z : bool) is
            if (x and y) or z then A else B end if
         end process",
    );
    let some = ["MAIN (true, true, false)", "MAIN (false, true, false)", "MAIN (true, false, false)"];
    assert_eq!(case.conditions(&some), [(2, 3), (2, 3)]);
    assert_eq!(case.conditions(&[some[0], some[1], some[2], "MAIN (true, false, true)"]), [(3, 3), (3, 3)]);
}

/// A guard that refuses has been evaluated: `only if` in a choice.
#[test]
fn conditions_of_refusals() {
    let case = Case::new(
        "process MAIN [A, B : none] (x : bool) is select only if x then A end if [] B end select end process",
    );
    assert_eq!(case.conditions(&["MAIN (true)", "MAIN (false)"]), [(1, 1), (1, 1)]);
}

/// Behind a limit nothing counts: of a hundred states in reach of the first one fifty may be seen, so that none of its
/// steps belongs to the result, and no condition was evaluated.
#[test]
fn conditions_end_at_limits() {
    let case = Case::new(
        "process MAIN [A : any, B : none] is var x : nat in
            A (?x) where x < 100; if (x > 10) and (x < 90) then B end if; A (x)
         end var end process",
    );
    assert_eq!(case.conditions(&["MAIN"]), [(2, 2), (2, 2)]);
    let limits = explore::Limits { states: 50, ..explore::Limits::default() };
    let settings = Settings { limits, ..Settings::default() };
    let outcome = case.run_examples(&[Example::of_root("MAIN")], &settings);
    let criteria = cover::condition_criteria(&case.subject, &outcome, &settings, &Progress::new());
    assert_eq!(criteria.map(|criterion| (criterion.covered, criterion.total)), [(0, 2), (0, 2)]);
}

/// A, B, A, B …: of the four pairs, A B and B A happen.
#[test]
fn pairs_of_gates() {
    let case = Case::new("process MAIN [A, B : none] is loop A; B end loop end process");
    let outcome = case.run(&["MAIN"]);
    let pairs = cover::gate_pairs(&case.subject, &outcome, &Settings::default(), &Progress::new());
    assert_eq!((pairs.covered, pairs.total), (2, 4));
    assert_eq!(pairs.missing, ["A is never followed by A", "B is never followed by B"]);
    // Nothing follows the end, which is no gate.
    let case = Case::new("process MAIN [A, B : none] is A; B end process");
    let outcome = case.run(&["MAIN"]);
    let pairs = cover::gate_pairs(&case.subject, &outcome, &Settings::default(), &Progress::new());
    assert_eq!((pairs.covered, pairs.total), (1, 4));
}

const COLOURS: &str = "type colour is red, green, blue with \"==\" end type
    process MAIN [A, B, C : none] (c : colour, on : bool) is
       if c == green then A end if;
       if on and (c == blue) then B end if;
       if on and not (on) then C end if
    end process";

/// Six examples are all there are. From (red, false): `c == green` needs (green, …), `on and (c == blue)` needs
/// (blue, true). What needs `on and not (on)` stays open, for ever.
#[test]
fn suggestions_close_what_can_be_closed() {
    let case = Case::new(COLOURS);
    let mut outcome = case.run(&["MAIN (red, false)"]);
    assert_eq!(outcome.findings.len(), 3);
    let found = cover::suggest(&case.subject, &mut outcome, &Settings::default(), 100, &Progress::new());
    assert!(found.roots[0].all && !found.exhaustive);
    assert_eq!((found.tried, found.roots[0].combinations), (5, 6));
    let names: Vec<&str> = found.examples.iter().map(|(example, _)| example.name.as_str()).collect();
    assert_eq!(names, ["MAIN (green, false)", "MAIN (blue, true)"]);
    // The true outcome, the block and the action.
    assert_eq!(found.open.len(), 3);
    let kinds: Vec<FindingKind> = outcome.findings.iter().map(|finding| finding.kind).collect();
    use FindingKind::{IllFormedDecision, MissingExample};
    assert_eq!(kinds, [MissingExample, MissingExample, IllFormedDecision]);
    let advice = outcome.findings[2].advice.as_deref().unwrap_or_default();
    assert_eq!(advice, "no arguments of MAIN close this: all were tried");
    assert_eq!(found.not_tried, ["other gates"]);
    // With a bound below the six, nothing is said about what no example can do.
    let mut outcome = case.run(&["MAIN (red, false)"]);
    let found = cover::suggest(&case.subject, &mut outcome, &Settings::default(), 3, &Progress::new());
    assert!(!found.roots[0].all);
    assert_eq!(outcome.findings[2].advice, None);
}

/// A process that nothing starts is tried as a root. By hand: MAIN (false) closes 3 holes (an outcome, a block and an
/// action); OTHER has 6 (two outcomes, two blocks and two actions), of which either argument closes 3.
#[test]
fn processes_that_nothing_starts_are_tried_as_roots() {
    let case = Case::new(
        "process MAIN [A, B : none] (b : bool) is if b then A else B end if end process
         process OTHER [C, D : none] (c : bool) is if c then C else D end if end process",
    );
    let (outcome, found) = case.suggest(&[Example::of_root("MAIN (true)")], &Settings::default());
    assert!(found.roots.iter().all(|root| root.all));
    let names: Vec<&str> = found.examples.iter().map(|(example, _)| example.name.as_str()).collect();
    assert_eq!(names, ["MAIN (false)", "OTHER (false)", "OTHER (true)"]);
    assert_eq!((found.open.len(), found.elsewhere.len()), (0, 0));
    let kinds: Vec<FindingKind> = outcome.findings.iter().map(|finding| finding.kind).collect();
    assert_eq!(kinds, [FindingKind::MissingExample; 2]);
    // Where its arguments can't be listed, and the suite has none of the type, it is not tried, and that is told.
    let case = Case::new(
        "process MAIN [A : none] is A end process
         process OTHER [C : any] (s : string) is C (s) end process",
    );
    let (_, found) = case.suggest(&[Example::of_root("MAIN")], &Settings::default());
    assert_eq!((found.open.len(), found.elsewhere.len()), (0, 2));
    assert_eq!(found.roots[1].problem.as_deref(), Some("no value of its parameter s is known"));
    assert_eq!(found.not_tried, ["OTHER as the process to start"]);
}

/// What no argument closes may be closed by something that was not tried, and each of these is: another root, other gates, a
/// constant that the suite leaves alone, another module. So nothing is said to be impossible; what was not tried is told.
#[test]
fn nothing_is_impossible_that_was_not_tried() {
    // The hole, one example that closes it, and what the search says that it did not try.
    let holes: [(&str, &str, Example, &str); 3] = [
        (
            "process P [A, B : none] (n : nat) is if n > 3 then A else B end if end process
             process MAIN [A, B : none] (b : bool) is use b; P [...] (1) end process",
            "MAIN (true)",
            Example::of_root("P (4)"),
            "P as the process to start",
        ),
        (
            "process MAIN [A, B : none] (b : bool) is use b; par A in A || B end par end process",
            "MAIN (true)",
            Example::of_root("MAIN [A, A] (true)"),
            "other gates",
        ),
        (
            "function SIZE : nat is return 1 end function
             process MAIN [A : none] (b : bool) is use b; A; if SIZE > 2 then A end if end process",
            "MAIN (true)",
            Example {
                constants: vec![("SIZE".to_owned(), "3".to_owned())],
                ..Example::of_root("MAIN (true)")
            },
            "other values of SIZE",
        ),
    ];
    for (text, root, closing, untried) in holes {
        let case = Case::new(text);
        let (outcome, found) = case.suggest(&[Example::of_root(root)], &Settings::default());
        assert!(!found.open.is_empty() && found.examples.is_empty(), "{text}");
        assert!(found.not_tried.iter().any(|line| line == untried), "{text}: {:?}", found.not_tried);
        for finding in &outcome.findings {
            assert!(!finding.advice.as_deref().unwrap_or("").contains("no example"), "{text}: {finding:?}");
        }
        let refuted = case.run_examples(&[Example::of_root(root), closing], &Settings::default());
        assert!(refuted.holes().len() < outcome.holes().len(), "{text}");
    }
    // With one gate, one process, no constants and no imports, the arguments are all that there is.
    let case =
        Case::new("process MAIN [A : none] (b : bool) is A; if b and not (b) then A end if end process");
    let (outcome, found) = case.suggest(&[Example::of_root("MAIN (true)")], &Settings::default());
    assert!(found.exhaustive && !found.open.is_empty());
    assert_eq!(
        outcome.findings[0].advice.as_deref(),
        Some("no example can close this: every possible example was tried")
    );
}

/// Another module in place of an imported one closes a hole: that is told as well.
#[test]
fn other_modules_were_not_tried() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.lnt");
    let text =
        "module m (input) is process MAIN [A : none] (b : bool) is use b; A; if ON then A end if end process
        end module";
    std::fs::write(&path, text).unwrap();
    let input = "module input is function ON : bool is return false end function end module";
    std::fs::write(folder.path().join("input.lnt"), input).unwrap();
    let case = Case { subject: Subject::new(&path).unwrap(), _folder: folder };
    let (_, found) = case.suggest(&[Example::of_root("MAIN (true)")], &Settings::default());
    assert_eq!(found.not_tried, ["other values of ON", "other modules in place of input"]);
}

/// All arguments vary, not only the last one: `a` and `b` have to be 3 at once, far from the start of a list that would
/// have all of b first. Records are listed too, and a string is taken from the suite. By hand: with 20 combinations, those of sum
/// 0 to 4 (1 + 2 + 3 + 4 + 5 = 15) and five of sum 5 are tried: (2, 2) is among them, as the one of sum 4 in the middle.
#[test]
fn arguments_are_tried_diagonally() {
    let case = Case::new(
        "process MAIN [A, B : none] (a, b : nat) is if (a == 2) and (b == 2) then A else B end if end process",
    );
    let (_, found) = case.suggest(&[Example::of_root("MAIN (0, 0)")], &Settings::default());
    let names: Vec<&str> = found.examples.iter().map(|(example, _)| example.name.as_str()).collect();
    assert_eq!(names, ["MAIN (2, 2)"]);
    let case = Case::new(
        "type point is point (x, y : nat) with \"get\" end type
         process MAIN [A, B : none] (p : point, s : string) is
            if (p.x == 1) and (p.y == 2) and (s == \"on\") then A else B end if
         end process",
    );
    let (_, found) = case.suggest(&[Example::of_root("MAIN (point (7, 7), \"on\")")], &Settings::default());
    let roots: Vec<&str> = found.examples.iter().map(|(example, _)| example.start()).collect();
    assert_eq!(roots, ["MAIN (point (1, 2), \"on\")"]);
    assert!(!found.exhaustive);
}

/// Constants may have other values than those of the suite, and are part of what is suggested.
#[test]
fn suggestions_keep_constants() {
    let case = Case::new(
        "function SIZE : nat is return 1 end function
         process MAIN [A, B : none] (x : bool) is if x and (SIZE > 2) then A else B end if end process",
    );
    let sized = |size: u32| Example {
        constants: vec![("SIZE".to_owned(), size.to_string())],
        ..Example::of_root("MAIN (false)")
    };
    let (_, found) = case.suggest(&[sized(1), sized(2)], &Settings::default());
    assert!(!found.exhaustive && found.examples.is_empty());
    assert_eq!(found.not_tried[1], "other values of SIZE");
    let (_, found) = case.suggest(&[sized(1), sized(3)], &Settings::default());
    let names: Vec<&str> = found.examples.iter().map(|(example, _)| example.name.as_str()).collect();
    assert_eq!(names, ["MAIN (true) with SIZE = 3"]);
}

/// An index in the arguments is no gate list, and not all 4,294,967,296 integers have to be listed to try a few.
#[test]
fn candidates_of_all_kinds() {
    let case = Case::new(
        "type pair is array [0..1] of bool with \"get\" end type
         process MAIN [A, B : none] (b, c : bool) is use c; if b then A else B end if end process",
    );
    let example = Example::of_root("MAIN (true, pair (true, false)[0])");
    let (_, found) = case.suggest(&[example], &Settings::default());
    assert_eq!((found.tried, found.examples.len(), found.open.len()), (4, 1, 0));

    let case = Case::new(
        "!int_bits 32
         process MAIN [A, B : none] (n : int) is if n < -3 then A else B end if end process",
    );
    let (_, found) = case.suggest(&[Example::of_root("MAIN (1)")], &Settings::default());
    let names: Vec<&str> = found.examples.iter().map(|(example, _)| example.name.as_str()).collect();
    // 0, 1, -1, 2, -2, …, the one of the suite aside.
    assert_eq!((found.tried, names), (19, vec!["MAIN (-4)"]));
}

/// A hole that probes leave is not closed by an example for which only direct measuring would see it.
#[test]
fn suggestions_are_measured_like_the_suite() {
    let case = Case::new(
        "process MAIN [A, B : none] (x, y : bool) is
            use y; select only if x then A; stop end if [] B end select
         end process",
    );
    let settings = Settings { method: Method::Probes, ..Settings::default() };
    let examples = ["MAIN (true, false)", "MAIN (false, false)"].map(Example::of_root);
    let (outcome, found) = case.suggest(&examples, &settings);
    assert!(!outcome.holes().is_empty() && found.examples.is_empty());
}

/// Whatever measures it, an endless loop is one; with the place where the language knows it.
#[test]
fn endless_loops_are_errors() {
    let case = Case::new("process MAIN [A : none] is A; loop null end loop end process");
    for method in [Method::Direct, Method::Probes] {
        let settings = Settings { method, ..Settings::default() };
        let outcome = case.run_examples(&[Example::of_root("MAIN")], &settings);
        let Some(Stopped::Error(diagnostic)) = &outcome.examples[0].stopped else { panic!("{method:?}") };
        assert!(diagnostic.message.contains("without an action"), "{diagnostic:?}");
        assert!(!diagnostic.notes[0].contains("PROBE"), "{diagnostic:?}");
        let places = diagnostic.labels.iter().map(|label| outcome.specification.position(label.span).line);
        assert_eq!(places.collect::<Vec<_>>(), if method == Method::Direct { vec![2] } else { vec![] });
    }
}

/// A module that an example brings along is input, wherever the model's own lies and whatever the text calls itself.
#[test]
fn modules_of_examples_are_input() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.lnt");
    let text = "module m (input) is process MAIN [A : none] is if ON then A end if end process end module";
    std::fs::write(&path, text).unwrap();
    let input = |name: &str| {
        format!(
            "module {name} is function ON : bool is return true end function
             process UNUSED [A, B : none] is A; B end process end module"
        )
    };
    std::fs::write(folder.path().join("input.lnt"), input("input")).unwrap();
    let example = Example { modules: vec![("INPUT".to_owned(), input("today"))], ..Example::of_root("MAIN") };
    for method in [Method::Direct, Method::Probes] {
        let settings = Settings { method, ..Settings::default() };
        let outcome = cover::run(
            &Subject::new(&path).unwrap(),
            std::slice::from_ref(&example),
            &settings,
            &Progress::new(),
        );
        let outcome = outcome.unwrap_or_else(|_| panic!("the example type-checks"));
        let one = &outcome.examples[0];
        assert_eq!((outcome.coverage.actions.as_slice(), &one.stopped), ([true].as_slice(), &None));
        assert!(one.unused_modules.is_empty());
    }
}

/// What was covered and is not any more is lost, wherever it has moved to.
#[test]
fn baselines_outlive_editing() {
    let before = Case::new(COLOURS).run(&["MAIN (green, false)", "MAIN (blue, true)"]);
    let covered: Vec<String> = cover::named_items(&before)
        .into_iter()
        .filter(|(_, covered)| *covered)
        .map(|(name, _)| name)
        .collect();
    let after = Case::new(&format!("-- moved\n\n{COLOURS}")).run(&["MAIN (green, false)"]);
    let change = cover::compare_with_baseline(&after, &covered);
    assert_eq!(change.gained, Vec::<String>::new());
    assert_eq!(
        change.lost,
        [
            "block of MAIN: B",
            "false outcome of MAIN: c == green",
            "true outcome of MAIN: on and (c == blue)",
            "action of MAIN: B"
        ]
    );
}
