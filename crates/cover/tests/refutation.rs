//! What is said about decisions is true: whoever says "always false" or "always true" must not be refuted by a free
//! action that is written directly behind the guard. It synchronises with nobody, so that it happens wherever the
//! outcome is evaluated in a state that was reached.

mod random_programs;

use cover::{Example, FindingKind, FindingSubject, Outcome, Settings, Subject};
use explore::Limits;
use lts::Progress;
use model::{CoverageMap, DecisionKind};
use rayon::prelude::*;

const MOST_STATES: usize = 2_000;

/// Covers a program from MAIN; nothing where it does not type-check, is too large or fails at run time.
fn covered(text: &str) -> Option<Outcome> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.lnt");
    std::fs::write(&path, text).unwrap();
    let limits = Limits { states: MOST_STATES, threads: 1, ..Limits::default() };
    let settings = Settings { limits, ..Settings::default() };
    let outcome =
        cover::run(&Subject::new(&path).unwrap(), &[Example::of_root("MAIN")], &settings, &Progress::new());
    outcome.ok().filter(|outcome| outcome.examples[0].stopped.is_none())
}

/// Whether an action on FREE happens; nothing where the program is wrong, or too large to tell.
fn free_happens(text: &str) -> Option<bool> {
    let mut sources = source::Sources::new();
    let program = lnt::load_text("m.lnt", text, &mut sources).ok()?.program;
    let root = program.main()?;
    let model =
        lnt::LntModel::new(program, root, &lnt::Options { provenance: false, ..lnt::Options::default() })
            .ok()?;
    let limits = Limits { states: 4 * MOST_STATES, threads: 1, ..Limits::default() };
    let found = explore::explore(&model, &limits, &Progress::new());
    let happens = found.lts.labels().iter().any(|(_, label)| label == "FREE");
    (happens || found.outcome.is_complete()).then_some(happens)
}

/// The same program in which all processes have a gate FREE.
fn with_free_gate(text: &str) -> String {
    text.replace("[A, B, C : any]", "[A, B, C, FREE : any]")
        .replace("[A, B, C]", "[A, B, C, FREE]")
        .replace("[C, A, B]", "[C, A, B, FREE]")
}

/// The same program beside a partner that hardly ever takes part, so that many actions never happen.
fn with_partner(text: &str, seed: u64) -> String {
    let (before, main) = text.split_once("process MAIN [A, B, C : any] is ").unwrap();
    let (body, after) = main.split_once(" end process").unwrap();
    let (gates, partner) =
        [("A", "stop"), ("A", "A; stop"), ("A, B", "A; B; stop"), ("C", "C (1 of nat); stop")]
            [seed as usize % 4];
    format!(
        "{before}process MAIN [A, B, C : any] is par {gates} in {body} || {partner} end par end process{after}"
    )
}

/// The program with a free action directly behind an outcome of a decision. What follows it does not matter.
fn with_free_action(text: &str, map: &CoverageMap, decision: usize, outcome: bool) -> Option<String> {
    let entry = &map.decisions[decision];
    let range = entry.span.range();
    let mut edits: Vec<(usize, String)> = Vec::new();
    let behind = |end: usize, word: &str| text[end..].find(word).map(|at| end + at + word.len());
    match (entry.kind, outcome) {
        (DecisionKind::If, true) => edits.push((behind(range.end, "then ")?, "FREE; ".to_owned())),
        (DecisionKind::If, false) => {
            let condition = &text[range.clone()];
            edits.push((range.start, format!("not ({condition}) then FREE; stop elsif ")));
        }
        (DecisionKind::Case, true) => edits.push((behind(range.end, "-> ")?, "FREE; ".to_owned())),
        (DecisionKind::Case, false) => {
            // Being false, it lets one of the later branches be tried, of which one is taken.
            let later = map.decisions[decision + 1..].iter();
            let same = later.filter(|other| {
                (other.process, other.kind) == (entry.process, entry.kind) && other.operands == entry.operands
            });
            for other in same {
                edits.push((behind(other.span.range().end, "-> ")?, "FREE; ".to_owned()));
            }
        }
        (DecisionKind::While, true) => edits.push((behind(range.end, "loop ")?, "FREE; ".to_owned())),
        (DecisionKind::While, false) => {
            let head = text[..range.start].rfind("while ")?;
            if text[head..range.start] != *"while " {
                return None;
            }
            // `while c loop b end loop` is `loop if c then b else FREE; stop end if end loop`; the step of a `for`
            // moves behind its body.
            let body = behind(range.end, "loop ")?;
            let by = text[range.end..body].trim().trim_end_matches("loop").trim();
            let step = by.strip_prefix("by ").map(|step| format!("; {}", step.trim())).unwrap_or_default();
            let initial = match text[..head].rfind("for ") {
                Some(start) if !step.is_empty() => Some(start),
                _ => None,
            };
            let end = matching_end(text, body)?;
            let mut changed = text[..initial.unwrap_or(head)].to_owned();
            if let Some(start) = initial {
                changed.push_str(&format!("{}; ", text[start + "for ".len()..head].trim()));
            }
            let condition = &text[range.clone()];
            changed.push_str(&format!(
                "loop if {condition} then {}{step} else FREE; stop end if end loop",
                &text[body..end]
            ));
            changed.push_str(&text[end + "end loop".len()..]);
            return Some(changed);
        }
    }
    let mut changed = text.to_owned();
    edits.sort();
    for (place, insertion) in edits.into_iter().rev() {
        changed.insert_str(place, &insertion);
    }
    Some(changed)
}

/// Where the `end loop` stands that belongs to a body.
fn matching_end(text: &str, body: usize) -> Option<usize> {
    let mut depth = 1;
    let mut at = body;
    loop {
        let next = at + text[at..].find("loop")?;
        match text[..next].ends_with("end ") {
            true => depth -= 1,
            false => depth += 1,
        }
        if depth == 0 {
            return Some(next - "end ".len());
        }
        at = next + "loop".len();
    }
}

/// What is tried, and what could not be.
#[derive(Default)]
struct Count {
    findings: usize,
    covered: usize,
    left_out: usize,
}

/// Each finding about a decision is tried to be refuted; none may be. And the other way around: behind each outcome that
/// counts, a free action happens.
#[test]
fn outcomes_count_exactly_where_a_free_action_happens() {
    let check = |seed: u64| -> Count {
        let mut count = Count::default();
        let text = with_free_gate(&with_partner(&random_programs::program(seed), seed));
        let Some(outcome) = covered(&text) else { return count };
        let map = &outcome.specification.map;
        let told = |decision: usize, missing: bool| {
            let subject = FindingSubject::Decision(decision, missing);
            outcome.findings.iter().find(|finding| finding.subject == subject)
        };
        for (decision, entry) in map.decisions.iter().enumerate() {
            for side in [true, false] {
                let counts = outcome.coverage.decisions[decision].has(side);
                if entry.always_true && !side || !counts && told(decision, side).is_none() {
                    continue;
                }
                let changed = with_free_action(&text, map, decision, side)
                    .unwrap_or_else(|| panic!("seed {seed}: {entry:?}\n{text}"));
                match free_happens(&changed) {
                    Some(happens) => {
                        let finding = told(decision, side);
                        assert_eq!(
                            happens, counts,
                            "seed {seed}: {side} {entry:?} {finding:?}\n{text}\n{changed}"
                        );
                        count.findings += usize::from(!counts);
                        count.covered += usize::from(counts);
                    }
                    None => count.left_out += 1,
                }
            }
        }
        count
    };
    let add = |a: Count, b: Count| Count {
        findings: a.findings + b.findings,
        covered: a.covered + b.covered,
        left_out: a.left_out + b.left_out,
    };
    let count = random_programs::seeds(600).into_par_iter().map(check).reduce(Count::default, add);
    let Count { findings, covered, left_out } = count;
    println!("{findings} findings stand, {covered} outcomes are confirmed, {left_out} could not be tried");
    assert!(findings > 500 && covered > 500 && left_out * 10 < findings, "{findings} {covered} {left_out}");
}

/// What is called dead code is not reached: a free action before it does not happen, nor one behind its last instruction
/// where only its end is called so. And no hole is left without any finding.
#[test]
fn dead_code_is_not_reached() {
    let check = |seed: u64| -> usize {
        let text = with_free_gate(&with_partner(&random_programs::program(seed), seed));
        let Some(outcome) = covered(&text) else { return 0 };
        let mut tried = 0;
        assert!(outcome.holes().is_empty() || !outcome.findings.is_empty(), "seed {seed}: no reason\n{text}");
        for finding in outcome.findings.iter().filter(|finding| finding.kind == FindingKind::DeadCode) {
            let FindingSubject::Block(block) = finding.subject else { continue };
            let mut changed = text.clone();
            match finding.message.as_str() {
                "dead code: this is never reached" => {
                    changed.insert_str(finding.span.range().start, "FREE; ")
                }
                "dead code: control never gets past this choice" => {
                    changed.insert_str(finding.span.range().end, "; FREE");
                }
                "dead code: control never gets past the end of this block" => {
                    let last = outcome.specification.map.blocks[block].last.range();
                    changed.insert_str(last.end, "; FREE");
                }
                _ => {
                    let last = outcome.specification.map.blocks[block].last.range();
                    changed.insert_str(last.start, "FREE; ");
                }
            }
            if let Some(happens) = free_happens(&changed) {
                assert!(!happens, "seed {seed}: {finding:?}\n{text}\n{changed}");
                tried += 1;
            }
        }
        tried
    };
    let tried: usize = random_programs::seeds(500).into_par_iter().map(check).sum();
    println!("{tried} findings of dead code stand");
    assert!(tried > 300, "{tried}");
}

/// A guard and a `case` that hold, but whose action finds no partner. By hand: n is 0, then 1. With 1 the guard holds in
/// a state that is reached, and so does the second branch: the actions B and C are what never happens.
#[test]
fn a_guard_that_holds_is_no_finding_where_its_action_finds_no_partner() {
    for branch in [
        "only if n == 1 then B end if",
        "if n == 1 then B else A end if",
        "case n in 1 -> B | any -> A end case",
        // The action is not the first thing behind the guard.
        "only if n == 1 then null; if n < 2 then B end if end if",
    ] {
        let text = format!(
            "module m is process MAIN [A, B : none] is par B in
                var n : nat in n := 0; loop select A; n := 1 [] {branch} end select end loop end var
             || stop end par end process end module"
        );
        let outcome = covered(&text).unwrap();
        let about = outcome.findings.iter().filter(|finding| {
            outcome.specification.sources.slice(finding.span) == "B"
                && finding.kind == FindingKind::NonSynchronisableAction
        });
        assert_eq!(about.count(), 1, "{branch}: {:?}", outcome.findings);
        let guards = outcome.findings.iter().filter(|finding| finding.message.contains("always false"));
        assert_eq!(guards.count(), 0, "{branch}: {:?}", outcome.findings);
    }
}

/// The same where a limit ends the exploration: what was executed in the states that were explored counts. By hand: A
/// leads from n = 0 to n = 1, where the guard holds; the first two states are enough.
#[test]
fn a_guard_that_holds_counts_within_limits() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.lnt");
    let text = "module m is process MAIN [A, B : none] is par B in
           var n : nat in n := 0; loop select A; n := n + 1 [] only if n == 1 then B end if end select end loop end var
        || stop end par end process end module";
    std::fs::write(&path, text).unwrap();
    let limits = Limits { states: 10, ..Limits::default() };
    let settings = Settings { limits, ..Settings::default() };
    let outcome =
        cover::run(&Subject::new(&path).unwrap(), &[Example::of_root("MAIN")], &settings, &Progress::new());
    let outcome = outcome.unwrap_or_else(|_| panic!("the example type-checks"));
    assert_eq!(outcome.examples[0].stopped, Some(cover::Stopped::StateLimit));
    assert_eq!(outcome.coverage.decisions, [cover::Outcomes { yes: true, no: true }]);
}

/// What is said to be offered is: by hand, with b true R offers RX (0) only, so its RX (1) is not pointed at.
#[test]
fn only_what_is_offered_is_pointed_at() {
    let text = "module m is
        channel c is (nat) end channel
        process S [RX : c] is select RX (0) [] RX (1) end select end process
        process R [RX : c] (b : bool) is if b then RX (0) else RX (1) end if end process
        process MAIN [RX : c] is par RX in S [RX] || R [RX] (true) end par end process
        end module";
    let outcome = covered(text).unwrap();
    let finding = outcome
        .findings
        .iter()
        .find(|finding| finding.kind == FindingKind::NonSynchronisableAction)
        .expect("RX (1) of S never happens");
    let sources = &outcome.specification.sources;
    let offered: Vec<&str> = finding.related.iter().map(|(span, _)| sources.slice(*span)).collect();
    assert_eq!(offered, ["RX (0)"], "{finding:?}");
}
