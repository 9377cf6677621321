//! Conditions, MC/DC, pairs of gates, suggestions and baselines, on examples worked out by hand.

use cover::{Example, FindingKind, Outcome, Settings, Subject};
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
        Self { subject: Subject::new(&path), _folder: folder }
    }

    fn run(&self, roots: &[&str]) -> Outcome {
        let examples: Vec<Example> = roots.iter().map(|root| Example::of_root(root)).collect();
        let outcome = cover::run(&self.subject, &examples, &Settings::default(), &Progress::new());
        outcome.unwrap_or_else(|_| panic!("the examples type-check"))
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

/// A, B, A, B …: of the four pairs, A B and B A happen.
#[test]
fn pairs_of_gates() {
    let case = Case::new("process MAIN [A, B : none] is loop A; B end loop end process");
    let outcome = case.run(&["MAIN"]);
    let pairs = cover::gate_pairs(&case.subject, &outcome, &Settings::default(), &Progress::new());
    assert_eq!((pairs.covered, pairs.total), (2, 4));
    assert_eq!(pairs.missing, ["A is never followed by A", "B is never followed by B"]);
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
    assert!(found.exhaustive);
    assert_eq!(found.tried, 5);
    let names: Vec<&str> = found.examples.iter().map(|(example, _)| example.name.as_str()).collect();
    assert_eq!(names, ["MAIN (green, false)", "MAIN (blue, true)"]);
    // The true outcome, the block and the action.
    assert_eq!(found.open.len(), 3);
    let kinds: Vec<FindingKind> = outcome.findings.iter().map(|finding| finding.kind).collect();
    use FindingKind::{IllFormedDecision, MissingExample};
    assert_eq!(kinds, [MissingExample, MissingExample, IllFormedDecision]);
    let advice = outcome.findings[2].advice.as_deref().unwrap_or_default();
    assert!(advice.contains("no example can close this"), "{advice}");
    // With a bound below the six, nothing is said about what no example can do.
    let mut outcome = case.run(&["MAIN (red, false)"]);
    let found = cover::suggest(&case.subject, &mut outcome, &Settings::default(), 3, &Progress::new());
    assert!(!found.exhaustive);
    assert_eq!(outcome.findings[2].advice, None);
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
