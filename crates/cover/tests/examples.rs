//! Examples that are files: modules that import the model, and traces.

mod random_programs;

use std::path::PathBuf;

use cover::{Coverage, Example, FindingKind, Outcome, Outcomes, Run, Settings, Stopped, Subject, Trace};
use explore::Limits;
use lts::{OriginId, Progress};
use model::{Model, Slot, Worker};

struct Case {
    folder: tempfile::TempDir,
    subject: Subject,
}

impl Case {
    fn new(text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.lnt");
        std::fs::write(&path, format!("module m is\n{text}\nend module\n")).unwrap();
        Self { subject: Subject::new(&path).unwrap(), folder }
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    fn run(&self, examples: &[Example]) -> Result<Outcome, String> {
        cover::run(&self.subject, examples, &Settings::default(), &Progress::new()).map_err(|wrong| {
            let told = wrong.iter().map(|one| one.error.sources.render_all(&one.error.diagnostics, false));
            told.collect::<Vec<String>>().join("\n")
        })
    }

    /// The outcome of a trace of the root MAIN.
    fn follow(&self, text: &str) -> Outcome {
        let path = self.write("run.seq", text);
        let example = Example::of_file(&path).unwrap().unwrap();
        self.run(&[example]).unwrap_or_else(|told| panic!("{told}"))
    }
}

const DOOR: &str = "process DOOR [OPEN, RING : none] (locked : bool) is
       if locked then RING else OPEN end if
    end process";

/// Modules that import the model, as in the paper. By hand: of the two blocks of DOOR, each example covers one; the
/// processes of the examples don't count, and DOOR is started by both.
#[test]
fn a_module_that_imports_the_model_is_an_example() {
    let case = Case::new(DOOR);
    let module = |locked: bool| {
        format!(
            "module example (m) is process MAIN [OPEN, RING, OTHER : none] is
                DOOR [OPEN, RING] ({locked}); OTHER
             end process end module"
        )
    };
    let paths = [true, false].map(|locked| case.write(&format!("more/{locked}.lnt"), &module(locked)));
    let examples = paths.map(|path| Example::of_file(&path).unwrap().unwrap());
    let outcome = case.run(&examples[..1]).unwrap();
    assert_eq!((outcome.coverage.blocks.as_slice(), outcome.findings.len()), ([true, false].as_slice(), 1));
    assert_eq!(outcome.findings[0].why, ["locked was always TRUE"]);
    let outcome = case.run(&examples).unwrap();
    assert_eq!(outcome.coverage.blocks, [true, true]);
    assert_eq!(outcome.findings, []);
    // All of a directory, and another root of such a module.
    case.write(
        "all/first.lnt",
        "module first (m) is process START [OPEN, RING : none] is DOOR [...] (true) end process end module",
    );
    let text = "[[example]]\ndirectory = 'more'\n[[example]]\nfile = 'all/first.lnt'\nroot = 'START'\n";
    let mut sources = source::Sources::new();
    let file = sources.add("suite.toml", text);
    let suite = cover::parse_suite(file, text, case.folder.path(), &cover::OnDisk).unwrap();
    let names: Vec<&str> = suite.iter().map(|example| example.name.as_str()).collect();
    assert_eq!(names, ["false", "true", "START with all/first.lnt"]);
    let outcome = case.run(&suite[2..]).unwrap();
    assert_eq!(outcome.coverage.blocks, [true, false]);
    // A module that does not import the model shows nothing of it.
    let path = case.write("alone.lnt", "module alone is process MAIN [A : none] is A end process end module");
    let told = case.run(&[Example::of_file(&path).unwrap().unwrap()]).err().unwrap();
    assert!(told.contains("does not import the model") && told.contains("module EXAMPLE (m) is"), "{told}");
}

/// A trace exercises what its steps do. By hand: of `A; B`, C and D the trace has the first two; other runs have C, but
/// not D, which finds no partner: that is a defect, and C a missing example.
#[test]
fn a_trace_exercises_what_its_steps_do() {
    let case = Case::new(
        "process MAIN [A, B, C, D : none] is
            par D in loop select A; B [] C [] D end select end loop || stop end par
         end process",
    );
    let outcome = case.follow("\"A\"\n\"B\"\n\"A\"\n");
    assert_eq!(outcome.coverage.blocks, [true, false, false]);
    assert_eq!(outcome.coverage.actions, [true, true, false, false]);
    let found: Vec<(FindingKind, &str)> = (outcome.findings.iter())
        .map(|finding| (finding.kind, outcome.specification.sources.slice(finding.span)))
        .collect();
    assert_eq!(
        found,
        [(FindingKind::MissingExample, "C"), (FindingKind::NonSynchronisableAction, "D")],
        "{:?}",
        outcome.findings
    );
    // Several runs in one file, and blanks as other tools write them.
    let outcome = case.follow("<initial state>\n\n  A\n[]\nC\n");
    assert_eq!(outcome.coverage.actions, [true, false, true, false]);
}

/// Only runs count that show the whole trace. By hand: the first A leads to B, the second one to C.
#[test]
fn runs_count_that_show_the_whole_trace() {
    let case = Case::new("process MAIN [A, B, C : none] is select A; B [] A; C end select end process");
    assert_eq!(case.follow("A\nC\n").coverage.actions, [false, false, true, true]);
    // Either A may have happened.
    assert_eq!(case.follow("A\n").coverage.actions, [true, false, true, false]);
}

/// Internal steps come in between, unless the trace tells where they are.
#[test]
fn internal_steps_come_in_between() {
    let case = Case::new("process MAIN [A, B : none] is A; i; select B [] i; stop end select end process");
    let outcome = case.follow("A\nB\n");
    assert_eq!(outcome.coverage.actions, [true, true, true, false]);
    assert_eq!(outcome.examples[0].stopped, None);
    assert_eq!(case.follow("A\ni\ni\n<deadlock>\n").coverage.actions, [true, true, false, true]);
    let outcome = case.follow("i\nA\n");
    let Some(Stopped::Trace(reason)) = &outcome.examples[0].stopped else { panic!() };
    assert_eq!(reason, "step 1 of the trace, i, is not possible: the model can do A");
}

/// A trace that the model can't follow counts as far as it goes, and is told.
#[test]
fn a_trace_that_is_no_run_is_told() {
    let case = Case::new("process MAIN [A, B : any] (n : nat) is A (n); B; stop end process");
    let path = case.write("run.txt", "A !1\nA !1\n");
    let example = Example { root: Some("MAIN (1)".to_owned()), ..Example::of_file(&path).unwrap().unwrap() };
    let outcome = case.run(&[example]).unwrap();
    let reason = outcome.examples[0].stopped.as_ref().unwrap().to_string();
    assert_eq!(reason, "step 2 of the trace, A !1, is not possible: the model can do B");
    assert_eq!(outcome.coverage.actions, [true, false]);
    let error = Example::of_file(&case.write("wrong.seq", "\"A\"\n<any>\n")).unwrap().unwrap_err();
    assert!(
        error.message.ends_with("wrong.seq:2: only single labels are supported, as in the simple SEQ format")
    );
}

/// All runs that show a trace, one after the other: the origins of their steps and of what else they execute.
fn all_runs(
    model: &dyn Model,
    worker: &mut Box<dyn Worker + '_>,
    state: &[Slot],
    labels: &[String],
    run: &mut Vec<(OriginId, Vec<Slot>)>,
    origins: &mut Vec<OriginId>,
) {
    let Some((label, rest)) = labels.split_first() else {
        for (origin, state) in run.iter() {
            origins.push(*origin);
            let _ = worker.executed(state, &mut |origin| origins.push(origin));
        }
        return;
    };
    let mut steps = Vec::new();
    let _ = worker.successors(state, &mut |step| {
        if model.label(step.label) == *label {
            steps.push((step.origin, step.target.to_vec()));
        }
    });
    for (origin, target) in steps {
        run.push((origin, target.clone()));
        all_runs(model, worker, &target, rest, run, origins);
        run.pop();
    }
}

/// The naive twin enumerates runs.
#[test]
fn following_agrees_with_all_runs() {
    let mut compared = 0;
    for seed in random_programs::seeds(400) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.lnt");
        std::fs::write(&path, random_programs::program(seed)).unwrap();
        let subject = Subject::new(&path).unwrap();
        let opened = subject.open(&Example::of_root("MAIN")).unwrap_or_else(|_| panic!("seed {seed}"));
        let model = opened.model();
        let limits = Limits { states: 200, threads: 1, ..Limits::default() };
        let found = explore::explore(model, &limits, &Progress::new());
        if !found.outcome.is_complete() {
            continue;
        }
        let mut draw = random_programs::Draw::new(seed);
        let (mut state, mut labels) = (lts::StateId::new(0), Vec::new());
        for _ in 0..draw.below(6) {
            let edges = found.lts.outgoing(state);
            if edges.is_empty() {
                break;
            }
            let edge = edges[draw.below(edges.len() as u64) as usize];
            labels.push(found.lts.labels().text(edge.label).to_owned());
            state = edge.target;
        }
        // With an internal step in it, the trace has all of them; else there must be none at all.
        let has_internal = found.lts.transitions().any(|step| found.lts.labels().text(step.label) == "i");
        if has_internal && !labels.iter().any(|label| label == "i") {
            continue;
        }
        let initial = model.initial().unwrap();
        let (mut origins, mut worker) = (vec![opened.model().initial_origin()], model.worker());
        let mut run = vec![(model.initial_origin(), initial.clone())];
        all_runs(model, &mut worker, &initial, &labels, &mut run, &mut origins);
        let mut expected = Coverage::none(opened.map());
        for mark in origins.iter().flat_map(|&origin| model.provenance().marks_of(origin)) {
            let mark = model.provenance().mark(mark);
            let at = |spans: Vec<source::Span>| spans.iter().position(|&span| span == mark.span);
            match mark.kind {
                model::MarkKind::Action => {
                    let place = at(opened.map().actions.iter().map(|one| one.span).collect());
                    place.iter().for_each(|&place| expected.actions[place] = true);
                }
                model::MarkKind::Block => {
                    let place = at(opened.map().blocks.iter().map(|one| one.span).collect());
                    place.iter().for_each(|&place| expected.blocks[place] = true);
                }
                model::MarkKind::Decision(outcome) => {
                    let place = at(opened.map().decisions.iter().map(|one| one.span).collect());
                    place.iter().for_each(|&place| {
                        let Outcomes { yes, no } = expected.decisions[place];
                        expected.decisions[place] = Outcomes { yes: yes || outcome, no: no || !outcome };
                    });
                }
            }
        }
        let trace = Trace { file: String::new(), runs: vec![Run { labels, deadlock: false }] };
        let example = Example { trace: Some(trace), ..Example::of_root("MAIN") };
        let outcome = cover::run(&subject, &[example], &Settings::default(), &Progress::new());
        let outcome = outcome.unwrap_or_else(|_| panic!("seed {seed}"));
        assert_eq!(outcome.coverage, expected, "seed {seed}");
        compared += 1;
    }
    assert!(compared > 150, "{compared}");
}

/// Functions are counted apart. By hand: `size` is called with 0 and 3. Of its blocks, `return 0`, `r := 0`, the two of the
/// loop and `return r`, all but `return 9` are executed; `n > 9` is only false, `n == 0` and the condition of the loop have
/// both outcomes. `unused` is called by nothing. The numbers of processes stay as they were.
#[test]
fn functions_are_counted_apart() {
    let case = Case::new(
        "function size (n : nat) : nat is
            var i, r : nat in
               if n == 0 then return 0 end if;
               if n > 9 then return 9 end if;
               r := 0;
               for i := 0 while i < n by i := i + 1 loop r := r + 1 end loop;
               return r
            end var
         end function
         function unused (n : nat) : nat is if n == 0 then return 1 else return 2 end if end function
         process MAIN [A : any] (n : nat) is A (size (n)) end process",
    );
    for threads in [1, 2] {
        let limits = Limits { threads, ..Limits::default() };
        let settings = Settings { limits, ..Settings::default() };
        let examples = ["MAIN (0)", "MAIN (3)"].map(Example::of_root);
        let outcome = cover::run(&case.subject, &examples, &settings, &Progress::new());
        let outcome = outcome.unwrap_or_else(|_| panic!("the examples type-check"));
        assert_eq!((outcome.coverage.block_ratio().total, outcome.specification.map.decisions.len()), (1, 0));
        let functions = outcome.functions.unwrap();
        let map = &functions.specification.map;
        assert_eq!(map.processes.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["size"]);
        let text = |block: &model::Block| functions.specification.sources.slice(block.span).to_owned();
        let blocks: Vec<String> = map.blocks.iter().map(text).collect();
        assert_eq!(
            blocks,
            ["return 0", "return 9", "r := 0", "i := 0", "r := r + 1", "i := i + 1", "return r"]
        );
        assert_eq!(functions.coverage.blocks, [true, false, true, true, true, true, true]);
        let outcomes: Vec<(bool, bool)> =
            functions.coverage.decisions.iter().map(|one| (one.yes, one.no)).collect();
        assert_eq!(outcomes, [(true, true), (false, true), (true, true)]);
        assert_eq!(functions.examples[0].blocks, [true, false, false, false, false, false, false]);
    }
}

/// What functions do behind a limit does not count, whatever the threads do. By hand: n grows by one in each state; ten
/// states are expanded at most, so that `large` never sees a number above 100.
#[test]
fn functions_end_at_limits() {
    let case = Case::new(
        "function large (n : nat) : bool is if n > 100 then return true else return false end if end function
         process MAIN [A, B : none] is
            var n : nat in n := 0;
               loop A; n := n + 1; if large (n) then B; n := 0 end if end loop
            end var
         end process",
    );
    for threads in [1, 2, 4] {
        let limits = Limits { states: 10, threads, ..Limits::default() };
        let settings = Settings { limits, ..Settings::default() };
        let outcome = cover::run(&case.subject, &[Example::of_root("MAIN")], &settings, &Progress::new());
        let outcome = outcome.unwrap_or_else(|_| panic!("the example type-checks"));
        assert_eq!(outcome.functions.unwrap().coverage.blocks, [false, true]);
    }
}

/// Further criteria are about whole examples: a trace has no part in them. By hand: the trace has A and B, but all runs have
/// C as well, so that counting them would claim a pair that the trace does not show.
#[test]
fn further_criteria_leave_traces_out() {
    let case =
        Case::new("process MAIN [A, B, C : none] is loop select A; B [] C end select end loop end process");
    let outcome = case.follow("A\nB\n");
    let (settings, progress) = (Settings::default(), Progress::new());
    let pairs = cover::gate_pairs(&case.subject, &outcome, &settings, &progress);
    assert_eq!((pairs.covered, pairs.total), (0, 0));
    let whole = case.run(&[Example::of_root("MAIN")]).unwrap_or_else(|told| panic!("{told}"));
    let pairs = cover::gate_pairs(&case.subject, &whole, &settings, &progress);
    assert_eq!((pairs.covered, pairs.total), (5, 9));
}
