//! However values are represented, whichever worker computes with them, and whether open values are tried one by one or
//! named by those who take them: programs do the same, step by step.
//!
//! Random programs are compiled twice, naively and not. All ways to run them have to give the same steps in the same
//! order, the same texts of states, and the same error if there is one.

mod programs;

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use explore::{Exploration, Limits, Outcome, explore};
use lnt::{LntModel, Loader, Options};
use lts::{LabelId, Progress, StateId};
use model::{Layout, Model, ModelError, PackedWorker, Packing, Provenance, Slot, StateView, Worker};
use source::Sources;

/// The states of a program that are looked at.
const MOST_STATES: usize = 60;
/// One program of so many is explored on one and on two threads, too.
const EXPLORED: u64 = 4;
/// Once there were more steps than this, no further state is looked at.
const MOST_STEPS: usize = 400;

/// A model that is explored with its plain worker.
struct Plain<'m>(&'m LntModel);

impl Model for Plain<'_> {
    fn layout(&self) -> &Layout {
        self.0.layout()
    }

    fn initial(&self) -> Result<Vec<Slot>, ModelError> {
        self.0.initial()
    }

    fn worker(&self) -> Box<dyn Worker + '_> {
        self.0.worker()
    }

    fn label(&self, label: LabelId) -> String {
        self.0.label(label)
    }

    fn describe(&self, state: &[Slot]) -> StateView {
        self.0.describe(state)
    }

    fn provenance(&self) -> &Provenance {
        self.0.provenance()
    }
}

/// An error with the text of its label: labels are numbered as they turn up.
type Failure = (ModelError, Option<String>);

fn failure(model: &LntModel, mut error: ModelError) -> Failure {
    let during = error.during.take().map(|label| model.label(label));
    (error, during)
}

/// What a worker does in the first states.
#[derive(Debug, PartialEq, Eq)]
struct Steps {
    /// For each state that was looked at, the text of each step and the number of its target, each once.
    steps: Vec<Vec<(String, usize)>>,
    /// The values of each state that was seen.
    states: Vec<StateView>,
    failure: Option<Failure>,
}

/// Takes all steps breadth first, until there is an error or enough was seen.
fn walk(model: &LntModel, worker: &mut dyn PackedWorker) -> Steps {
    let mut found = Steps { steps: Vec::new(), states: Vec::new(), failure: None };
    let initial = match model.initial() {
        Ok(initial) => initial,
        Err(error) => {
            found.failure = Some(failure(model, error));
            return found;
        }
    };
    let layout = model.layout();
    let mut packed = vec![0; layout.words()];
    layout.pack(&initial, &mut packed).unwrap();
    let mut numbers = HashMap::from([(packed.clone(), 0)]);
    let mut todo = vec![packed];
    let (mut next, mut count) = (0, 0);
    while next < todo.len() && todo.len() < MOST_STATES && count < MOST_STEPS && found.failure.is_none() {
        let mut steps = Vec::new();
        let result =
            worker.successors(&todo[next], &mut |step| steps.push((step.label, step.target.to_vec())));
        let mut told = Vec::with_capacity(steps.len());
        let mut known = HashSet::with_capacity(steps.len());
        for (label, target) in steps {
            let number = *numbers.entry(target.clone()).or_insert(todo.len());
            if number == todo.len() {
                todo.push(target);
            }
            // Whether a choice that is met again is looked at again depends on whether marks tell its ways apart.
            let one = (model.label(label), number);
            if known.insert(one.clone()) {
                told.push(one);
            }
        }
        count += told.len();
        found.steps.push(told);
        found.failure = result.err().map(|error| failure(model, error));
        next += 1;
    }
    let mut values = vec![0; layout.width()];
    found.states.extend(todo.iter().map(|packed| {
        layout.unpack(packed, &mut values);
        model.describe(&values)
    }));
    found
}

/// The system that was explored as text, how that ended, and what its states are.
#[derive(Debug, PartialEq, Eq)]
struct Explored {
    system: String,
    outcome: String,
    failure: Option<(Failure, Option<StateId>)>,
    states: Vec<StateView>,
}

fn explored(model: &LntModel, found: &Exploration) -> Explored {
    let mut system = Vec::new();
    lts::write_aut(&found.lts, &mut system).unwrap();
    let (outcome, failure) = match &found.outcome {
        Outcome::Error { error, state } => {
            ("error".to_owned(), Some((failure(model, error.clone()), *state)))
        }
        other => (format!("{other:?}"), None),
    };
    let states = (0..found.states()).map(|state| model.describe(&found.state(model, StateId::new(state))));
    Explored { system: String::from_utf8(system).unwrap(), outcome, failure, states: states.collect() }
}

/// How many of the programs have something that the test is about.
#[derive(Default, Debug)]
struct Shares {
    programs: usize,
    left_out: usize,
    errors: usize,
    early_errors: usize,
    /// More than twenty states.
    many_states: usize,
    open: usize,
    patterns: usize,
    guards: usize,
    /// States have more slots than those of the naive twin: some values have several words.
    wide: usize,
    /// Packed states have fewer bits than those of the naive twin.
    packed: usize,
    /// A state with five steps or more.
    branching: usize,
    steps: usize,
}

/// Tells the seed where anything panics.
struct Tells(u64);

impl Drop for Tells {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("seed {}: run it with FIRST={} PROGRAMS=1", self.0, self.0);
        }
    }
}

/// Runs a program in all ways, and gives its model, the naive one, and what both do.
fn compare(text: &str, explores: bool) -> (LntModel, LntModel, Steps) {
    compare_patiently(text, explores, None).unwrap()
}

/// The same, unless the first way alone takes longer than that: of many programs, a few compute for most of the time.
fn compare_patiently(
    text: &str,
    explores: bool,
    patience: Option<Duration>,
) -> Option<(LntModel, LntModel, Steps)> {
    let mut sources = Sources::new();
    let checked = Loader::new()
        .load_text("drawn.lnt", text, &mut sources)
        .unwrap_or_else(|errors| panic!("{text}\n{}", sources.render_all(&errors, false)));
    let main = checked.program.main().unwrap();
    // Machine code does more where nobody asks which constructs fired; half of the programs ask.
    let asks = text.len().is_multiple_of(2);
    let compile = |naive: bool, eager: bool| {
        let options = Options { naive, eager, provenance: asks || !eager };
        LntModel::new(checked.program.clone(), main, &options)
            .unwrap_or_else(|errors| panic!("{text}\n{}", sources.render_all(&errors, false)))
    };
    let (naive, model) = (compile(true, false), compile(false, false));

    let since = Instant::now();
    let expected = walk(&naive, &mut Packing::new(naive.worker(), naive.layout()));
    if patience.is_some_and(|patience| since.elapsed() > patience) {
        return None;
    }
    let failed =
        expected.failure.as_ref().is_some_and(|(error, _)| error.message.starts_with("internal error"));
    assert!(!failed, "{:?}\n{text}", expected.failure);
    let same = |found: &Steps, how: &str| {
        if let Some(at) =
            (0..expected.steps.len().min(found.steps.len())).find(|&at| found.steps[at] != expected.steps[at])
        {
            panic!(
                "{how}, state {at} {:?}\nfound:\n{:#?}\nexpected:\n{:#?}\nerrors {:?} {:?}\n{text}",
                expected.states[at], found.steps[at], expected.steps[at], found.failure, expected.failure
            );
        }
        assert_eq!(found.failure, expected.failure, "{how}, failure (found, expected)\n{text}");
        if let Some((found, expected)) = found.states.iter().zip(&expected.states).find(|(a, b)| a != b) {
            panic!("{how}, state\nfound:\n{found:#?}\nexpected:\n{expected:#?}\n{text}");
        }
        assert!(*found == expected, "{how}\nfound:\n{found:#?}\nexpected:\n{expected:#?}\n{text}");
    };
    same(&walk(&model, &mut Packing::new(model.worker(), model.layout())), "plain worker");
    same(&walk(&model, model.packed_worker().as_mut()), "packed worker");
    // Making machine code takes long without optimisation.
    if explores || !cfg!(debug_assertions) {
        let eager = compile(false, true);
        same(&walk(&eager, eager.packed_worker().as_mut()), "machine code");
    }
    same(&walk(&naive, naive.packed_worker().as_mut()), "naive packed worker");
    // Less is looked at where nobody asks which constructs fired.
    let untold =
        LntModel::new(checked.program.clone(), main, &Options { provenance: false, ..Options::default() });
    let untold = untold.unwrap_or_else(|errors| panic!("{text}\n{}", sources.render_all(&errors, false)));
    same(&walk(&untold, untold.packed_worker().as_mut()), "packed worker that tells nothing");

    if explores {
        let limits = |threads| Limits { states: MOST_STATES, threads, ..Limits::default() };
        let expected_system = explored(&naive, &explore(&Plain(&naive), &limits(1), &Progress::new()));
        for threads in [1, 2] {
            let found = explored(&model, &explore(&model, &limits(threads), &Progress::new()));
            assert!(
                found == expected_system,
                "{threads} threads\nfound:\n{found:#?}\nexpected:\n{expected_system:#?}\n{text}"
            );
        }
    }
    Some((model, naive, expected))
}

/// Compares the program of a seed.
fn compare_drawn(seed: u64, patience: Option<Duration>, shares: &mut Shares) {
    let _tells = Tells(seed);
    let program = programs::draw(seed);
    // Starting an exploration takes longer than looking at a few states, so that not every program has one.
    let explores = seed.is_multiple_of(EXPLORED);
    let Some((model, naive, expected)) = compare_patiently(&program.text, explores, patience) else {
        shares.left_out += 1;
        return;
    };
    shares.programs += 1;
    shares.errors += usize::from(expected.failure.is_some());
    shares.early_errors += usize::from(expected.failure.is_some() && expected.states.len() < 3);
    shares.many_states += usize::from(expected.states.len() > 20);
    shares.open += usize::from(program.features.open > 1);
    shares.patterns += usize::from(program.features.patterns > 0);
    shares.guards += usize::from(program.features.guards > 0);
    shares.wide += usize::from(model.layout().width() > naive.layout().width());
    shares.packed += usize::from(model.layout().words() < naive.layout().words());
    shares.branching += usize::from(expected.steps.iter().any(|steps| steps.len() >= 5));
    shares.steps += expected.steps.iter().map(Vec::len).sum::<usize>();
}

#[test]
fn values_are_what_they_are_however_they_are_represented() {
    let number = |name: &str, default: u64| {
        std::env::var(name).ok().and_then(|count| count.parse().ok()).unwrap_or(default)
    };
    // More of them: `PROGRAMS=100000 cargo test --release -p lnt --test representation`; others with `FIRST=…`, and without
    // those that take the naive worker longer than some milliseconds with `PATIENCE=…`.
    let patience = std::env::var("PATIENCE").ok().and_then(|time| time.parse().ok());
    let patience = patience.map(Duration::from_millis);
    let (first, count) = (number("FIRST", 0), number("PROGRAMS", 500));
    let mut shares = Shares::default();
    // One of these has large functions that call each other deeply, which takes much of a thread's stack.
    for seed in (first..first + count).chain([71_001_201, 61_000_143]) {
        compare_drawn(seed, patience, &mut shares);
    }
    println!("{shares:?}");
    // Otherwise the test would say little, however many programs it draws.
    if count >= 500 {
        let share = |of: usize| 100 * of / shares.programs;
        assert!(share(shares.many_states) >= 20, "{shares:?}");
        assert!(share(shares.branching) >= 35, "{shares:?}");
        assert!(share(shares.open) >= 85, "{shares:?}");
        assert!(share(shares.patterns) >= 50, "{shares:?}");
        assert!(share(shares.guards) >= 80, "{shares:?}");
        assert!(share(shares.wide) >= 25, "{shares:?}");
        assert!(share(shares.packed) >= 70, "{shares:?}");
        assert!((5..30).contains(&share(shares.errors)), "{shares:?}");
    }
}

/// Lists that functions build step by step: more of them than are kept apart, wide elements, lists of lists, exceptions that
/// leave several functions, and a function that calls itself twice.
#[test]
fn lists_are_the_same_wherever_they_are_built() {
    let text = "module m is
        type item is item (key : nat, name : string) with get, ==, != end type
        type items is list of item with ==, !=, length, cons, append, reverse, concat, head, tail, empty end type
        type words is list of nat with ==, !=, <, length, cons, append, reverse, concat, head, tail, empty, member end type
        type table is list of words with ==, !=, length, cons, head, tail, empty end type
        channel c is (nat, words), (nat, items), (nat, table), (nat, nat) end channel
        channel failed is (words) end channel
        function count (in var n : nat) : words is
           var l : words in
              l := {};
              while n > 0 loop l := cons (n mod 3, l); n := n - 1 end loop;
              return l
           end var
        end function
        function keep (l : words, x : nat) : words is
           case l in var h : nat, rest : words in
              {} -> return {}
           |  cons (h, rest) -> if h == x then return keep (rest, x) else return cons (h, keep (rest, x)) end if
           end case
        end function
        function sums (l, m : words) : nat is
           case l in var h : nat, rest : words in
              {} -> return length (m)
           |  cons (h, rest) -> return (h + sums (rest, m) + sums (rest, cons (h, m))) mod 100
           end case
        end function
        function tails (l : words) : table is
           case l in var rest : words in
              {} -> return {}
           |  cons (any nat, rest) -> return cons (rest, tails (rest))
           end case
        end function
        function named (l : words) : items is
           case l in var h : nat, rest : words in
              {} -> return {}
           |  cons (h, rest) -> return cons (item (h, \"x\"), named (rest))
           end case
        end function
        function behind [E : failed] (l : words, x : nat) : words is
           case l in var h : nat, rest : words in
              {} -> raise E (cons (x, l))
           |  cons (h, rest) -> if h == x then return rest else return cons (h, behind [E] (rest, x)) end if
           end case
        end function
        function twice [E : failed] (l : words, x : nat) : words is
           return behind [E] (behind [E] (l, x), x)
        end function
        function safely (l : words, x : nat) : words is
           trap exception E (m : words) is return append (x, m) in return twice [E] (l, x) end trap
        end function
        function worn (l : words, in var n : nat) : nat is
           var m : words, s : nat in
              s := 0;
              while n > 0 loop
                 m := reverse (concat (l, {n mod 2}));
                 while not (empty (m)) loop s := (s + head (m)) mod 50; m := tail (m) end loop;
                 n := n - 1
              end loop;
              return s
           end var
        end function
        process MAIN [A : c] is
           var l : words, k : nat in
              l := {};
              loop
                 select
                    l := count ((length (l) + 1) mod 7); A (0, l)
                 [] l := keep (l, 1); A (1, tails (l))
                 [] only if safely (l, 2) != l then l := safely (l, 2); A (2, l) end if
                 [] A (3, ?k) where (k < 5) and then ((length (safely (l, k)) > 2) or (sums (l, {}) < 20)); l := safely (l, k)
                 [] A (4, named (reverse (l)))
                 [] A (5, worn (l, 250)); l := reverse (l)
                 end select;
                 if length (l) > 6 then l := {} end if
              end loop
           end var
        end process
    end module";
    let (_, _, steps) = compare(text, true);
    assert!(steps.steps.len() > 20, "{} states", steps.steps.len());
}

/// An index that lies in the slot of another variable, whose type is smaller, may still be outside of the array: what no
/// number can satisfy must not hide that.
#[test]
fn indices_are_as_large_as_their_own_types() {
    let text = "module m is !nat_sup 20
        type id is range 0 .. 6 of nat with == end type
        type heights is array [0 .. 6] of nat end type
        channel c is (id) end channel
        channel d is (nat, nat) end channel
        process FIRST [A : c, B : d] is var j : id in A (?j); use j; SECOND [A, B] end var end process
        process SECOND [A : c, B : d] is
           var i, n : nat, h : heights in
              h := heights (0);
              B (?i, ?n) where (n >= 1) and then (n <= h[i]);
              use i, n;
              FIRST [A, B]
           end var
        end process
        process MAIN [A : c, B : d] is FIRST [A, B] end process
    end module";
    let (_, _, steps) = compare(text, true);
    assert!(steps.failure.is_some(), "an index is outside of the array");
}

/// A loop at the end of another one's body leads back to that by its condition. Where nothing else happens, that is endless,
/// and said to be: in processes and functions, by machine code that gives up and by the interpreter.
#[test]
fn endless_loops_end_in_an_error() {
    let silent = "x := 0; while x > 3 loop A (x) end loop";
    let computed = "x := spin (x); A (x)";
    for body in [silent, computed] {
        let text = format!(
            "module m is
            channel c is (nat) end channel
            function spin (in var n : nat) : nat is
               loop L in if n == 7 then break L end if; n := 0; while n > 3 loop n := n - 1 end loop end loop;
               return n
            end function
            process MAIN [A : c] is var x : nat in x := 0; A (1); loop {body} end loop end var end process
            end module"
        );
        let checked = Loader::new().load_text("endless.lnt", &text, &mut Sources::new()).unwrap();
        let main = checked.program.main().unwrap();
        let options = Options { eager: true, ..Options::default() };
        let model = LntModel::new(checked.program, main, &options).unwrap();
        let steps = walk(&model, model.packed_worker().as_mut());
        assert!(steps.failure.is_some(), "{text}");
    }
}

/// The call that is named of an endless recursion is one that never comes back, not one that it makes on its way, and the
/// same whether results of calls are remembered or not.
#[test]
fn endless_recursions_are_told_by_a_call_that_never_returns() {
    let text = "module m is
        channel c is (bool) end channel
        function inner (n : nat) : bool is return n > 3 end function
        function outer (n : nat) : bool is return inner (n) or (n == 7) end function
        function endless (n : nat) : bool is return outer (n) or else endless ((n + 1) mod 3) or else outer (0) end function
        process MAIN [A : c] is A (true); A (endless (0)) end process
    end module";
    let (_, _, steps) = compare(text, true);
    let (error, _) = steps.failure.expect("a recursion without an end");
    let span = error.span.expect("a place");
    assert_eq!(&text[span.start as usize..span.end as usize], "endless ((n + 1) mod 3)");
}

/// Actions in a loop behind a choice: the loop brings control to the first action silently, and on to the others later.
/// Each process alone has 7 · 7, 7 · 6 and 7 · 5 states.
#[test]
fn loops_before_and_behind_an_action_are_not_mixed_up() {
    let text = "module m is
        channel c is (nat) end channel
        process ONE [A, B : c] (me : nat) is
           var k, r : nat in
              r := 0;
              loop select
                 k := me; r := (r + 1) mod 7;
                 while k < 6 loop A (k); k := k + 1 end loop;
                 B (r)
              []
                 B (me)
              end select end loop
           end var
        end process
        process MAIN [A, B : c] is par ONE [A, B] (0) || ONE [A, B] (1) || ONE [A, B] (2) end par end process
    end module";
    compare(text, true);
    let mut sources = Sources::new();
    let checked = Loader::new().load_text("loops.lnt", text, &mut sources).unwrap();
    let main = checked.program.main().unwrap();
    let options = Options { provenance: false, ..Options::default() };
    let model = LntModel::new(checked.program, main, &options).unwrap();
    let found = explore(&model, &Limits::default(), &Progress::new());
    assert_eq!(found.states(), 49 * 42 * 35);
}

/// A choice among elements of an array of which some go no further. Three cells, each empty or with one of two colours: 27
/// states; an empty cell can get either colour, a full one can lose its own.
#[test]
fn ways_that_stop_before_an_action_change_nothing() {
    let text = "module m is
        !nat_sup 5
        type colour is red, green with ==, != end type
        type cell is nothing, full (what : colour, since : nat) with ==, != end type
        type cells is array [0 .. 2] of cell end type
        channel c is (colour, nat) end channel
        function filled (in var h : cells, p : nat, x : colour) : cells is
           var k : nat in
              for k := 0 while k < 3 by k := k + 1 loop if k == p then h[k] := full (x, p) end if end loop;
              return h
           end var
        end function
        process SHELF [PUT, TAKE : c] is
           var h : cells, p, s : nat, x : colour in
              h := cells (nothing);
              loop select
                 p := any nat where p < 3;
                 case h[p] in
                    full (x, s) -> only if s == p then TAKE (x, p) end if; h[p] := nothing
                 |  any -> stop
                 end case
              []
                 p := any nat where p < 3;
                 case h[p] in
                    nothing -> PUT (?x, p); h := filled (h, p, x)
                 |  any -> stop
                 end case
              end select end loop
           end var
        end process
        process HAND [PUT, TAKE : c] is
           loop select PUT (?any colour, ?any nat) [] TAKE (?any colour, ?any nat) end select end loop
        end process
        process MAIN [PUT, TAKE : c] is
           par PUT, TAKE in SHELF [PUT, TAKE] || par HAND [PUT, TAKE] || HAND [PUT, TAKE] end par end par
        end process
    end module";
    let (.., found) = compare(text, true);
    assert_eq!(found.states.len(), 27);
    assert_eq!(found.steps.iter().map(Vec::len).sum::<usize>(), 27 * (2 + 2));
}

/// Processes that follow each other have their variables in the same slots.
#[test]
fn states_are_described_by_the_variables_of_the_process_at_hand() {
    let text = "module m is
        type colour is red, green, blue end type
        type flag is off, on end type
        channel c is (colour) end channel
        channel d is (flag) end channel
        process FIRST [A : c, B : d] is var x : colour := blue in A (x); A (x); SECOND [A, B] end var end process
        process SECOND [A : c, B : d] is var y : flag := on in B (y); B (y); FIRST [A, B] end var end process
        process MAIN [A : c, B : d] is FIRST [A, B] end process
    end module";
    let (.., found) = compare(text, true);
    let names = |state: &StateView| state.values.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    let names: Vec<Vec<String>> = found.states.iter().map(names).collect();
    assert_eq!(names, [["FIRST.x"], ["FIRST.x"], ["SECOND.y"], ["SECOND.y"]]);
}

/// The second partner takes only 0, at which the first one's guard does not fail. At 1 it does.
#[test]
fn what_a_partner_refuses_is_no_error_of_another_one() {
    let text = |partners: &str, second: &str| {
        format!(
            "module m is
                !nat_sup 3
                channel c is (nat) end channel
                process FIRST [A : c] is var x : nat in A (?x) where 3 + x <= 3; use x end var end process
                process SECOND [A : c] is var x : nat in A (?x) where {second}; use x end var end process
                process MAIN [A : c] is par A in {partners} end par end process
            end module"
        )
    };
    for partners in ["FIRST [A] || SECOND [A]", "SECOND [A] || FIRST [A]"] {
        let (.., found) = compare(&text(partners, "x == 0"), true);
        assert_eq!(found.failure, None);
        assert_eq!(found.steps[0].len(), 1);
        // What nobody refuses is an error, and so is what fails for all.
        for second in ["x < 2", "(x == 0) or (x - 2 == 0)"] {
            let (.., found) = compare(&text(partners, second), true);
            let (error, during) = found.failure.unwrap();
            assert!(error.message.ends_with("is outside the range 0..3 of type nat"), "{}", error.message);
            assert_eq!(during, None);
        }
    }
}

/// A set that a partner asks for membership names what is received, whoever comes first and whatever the other asks.
#[test]
fn sets_name_values_in_any_order_of_partners() {
    let text = |partners: &str| {
        format!(
            "module m is
                !nat_sup 255
                type message is b (t, c, d : nat), x (d : nat), e (x : nat) end type
                type messages is sorted set of message with \"insert\", \"member\" end type
                channel net is (message) end channel
                function useful (m : message) : bool is
                   case m in
                   var d : nat in
                      b (any nat, any nat, d) -> return d + 254 > 0
                   |  x (any nat) -> return false
                   |  e (any nat) -> return false
                   end case
                end function
                process SERVER [SEND, RECEIVE : net] is
                   var m : message in
                      loop select SEND (b (1, 1, 1)) [] SEND (x (7)) [] RECEIVE (?m) where useful (m) end select end loop
                   end var
                end process
                process NETWORK [SEND, RECEIVE : net] is
                   var soup : messages, m : message in
                      soup := {{}};
                      loop select SEND (?m); soup := insert (m, soup) [] RECEIVE (?m) where member (m, soup) end select
                      end loop
                   end var
                end process
                process MAIN [SEND, RECEIVE : net] is
                   par SEND, RECEIVE in {partners} end par
                end process
            end module"
        )
    };
    for partners in ["SERVER [...] || NETWORK [...]", "NETWORK [...] || SERVER [...]"] {
        let mut sources = Sources::new();
        let checked = Loader::new()
            .load_text("named.lnt", &text(partners), &mut sources)
            .unwrap_or_else(|errors| panic!("{}", sources.render_all(&errors, false)));
        let main = checked.program.main().unwrap();
        for eager in [false, true] {
            let options = Options { eager, ..Options::default() };
            let model = LntModel::new(checked.program.clone(), main, &options).unwrap();
            let found = explore(&model, &Limits::default(), &Progress::new());
            assert_eq!(found.outcome, Outcome::Complete, "{partners}");
            assert_eq!((found.states(), found.lts.transition_count()), (4, 10), "{partners}");
        }
    }
}

/// A constant argument of several words makes an instance of its own, as one of a single word does; a predicate type's
/// condition gets all words; and a field of no bits may come above 32 others.
#[test]
fn values_of_several_words_are_as_good_as_others() {
    let text = "module m is
        !nat_sup 4294967295
        type high is range 4294967290 .. 4294967291 of nat with \"==\", \"!=\" end type
        type wide is nothing, pair (one, two : high) with \"==\", \"!=\" end type
        type other is it : wide where it != nothing end type
        type single is this end type
        type whole is whole (first : single, number : nat) with \"get\", \"==\" end type
        channel c is (wide) end channel
        channel d is (other, whole) end channel
        process AGAIN [A : c, B : d] (w : wide) is
           var o : other := other (pair (4294967290, 4294967290)), h : whole := whole (this, 4294967295) in
              select A (w) [] B (?o, h) where o == other (pair (4294967290, 4294967291)) end select;
              AGAIN [A, B] (nothing)
           end var
        end process
        process MAIN [A : c, B : d] is AGAIN [A, B] (pair (4294967291, 4294967291)) end process
    end module";
    let (model, naive, found) = compare(text, true);
    assert!(model.layout().width() > naive.layout().width());
    assert_eq!(found.steps.len(), 2);
    assert_eq!(found.steps[0].len(), 2);
}

/// A type with infinitely many values can be received where a guard names them, in whatever way it is written.
#[test]
fn guards_name_values_of_types_without_end() {
    for guard in ["member (m, soup)", "has (soup, m)", "not (not (member (m, soup) and (length (m) > 0)))"] {
        let text = format!(
            "module m is
                type word is list of bool with \"==\", \"length\" end type
                type words is set of word with \"insert\", \"member\" end type
                channel c is (word) end channel
                function has (s : words, m : word) : bool is
                    case s in
                    var first : word, others : words in
                        nil -> return false
                    |   cons (first, others) -> if first == m then return true else return has (others, m) end if
                    end case
                end function
                process SOUP [SEND, RECEIVE : c] is
                    var soup : words, m : word in
                        soup := {{}};
                        loop select
                            SEND (?m); soup := insert (m, soup)
                        []  RECEIVE (?m) where {guard}
                        end select end loop
                    end var
                end process
                process ONE [SEND, RECEIVE : c] is
                    var m : word in
                        SEND ({{true}} of word); SEND ({{true, false}} of word);
                        RECEIVE (?m) where length (m) == 2; RECEIVE (?m); use m; stop
                    end var
                end process
                process MAIN [SEND, RECEIVE : c] is
                    par SEND, RECEIVE in ONE [SEND, RECEIVE] || SOUP [SEND, RECEIVE] end par
                end process
            end module"
        );
        let mut sources = Sources::new();
        let checked = Loader::new()
            .load_text("named.lnt", &text, &mut sources)
            .unwrap_or_else(|errors| panic!("{}", sources.render_all(&errors, false)));
        let main = checked.program.main().unwrap();
        let model = LntModel::new(checked.program, main, &Options::default()).unwrap();
        let found = explore(&model, &Limits::default(), &Progress::new());
        assert_eq!(found.outcome, Outcome::Complete, "{guard}");
        let mut system = Vec::new();
        lts::write_aut(&found.lts, &mut system).unwrap();
        let system = String::from_utf8(system).unwrap();
        // The second one takes any of both.
        assert_eq!(system.matches("RECEIVE !").count(), 3, "{guard}: {system}");
        let offer = &model.open_offers()[0];
        assert!(offer.named == Some(2) && offer.tried.is_none(), "{guard}: {offer:?}");
    }
}

/// What is received comes from a set that a guard names, in several styles: sets and lists with repetitions, envelopes,
/// functions around the membership, other conditions before and behind it.
#[test]
fn received_values_come_from_sets_that_guards_name() {
    let network = |container: &str, guard: &str| {
        format!(
            "module m is
            !nat_sup 4
            type address is range 1 .. 3 of nat with \"==\", \"!=\" end type
            type message is ask (n : nat), tell (n : nat, b : bool), bye with \"==\", \"<\" end type
            type envelope is envelope (to : address, what : message) with \"==\", \"get\" end type
            type bag is {container} of envelope with \"insert\", \"remove\", \"member\", \"length\", \"cons\" end type
            channel link is (address, message) end channel
            function holds (b : bag, to : address, m : message) : bool is
               return member (envelope (to, m), b)
            end function
            function is_there (b : bag, to : address, m : message) : bool is
               if not (member (envelope (to, m), b)) then return false end if;
               return to != 2
            end function
            process NODE [SEND, RECEIVE : link] (me, other : address) is
               var m : message, n : nat in
                  SEND (other, ask (1));
                  loop
                     RECEIVE (me, ?m);
                     case m in
                        ask (n) where n < 4 -> SEND (other, tell (n, n == 2))
                     |  tell (n, any bool) -> SEND (other, ask (n + 1))
                     |  any -> SEND (other, bye); stop
                     end case
                  end loop
               end var
            end process
            process NETWORK [SEND, RECEIVE : link] is
               var b : bag, to : address, m : message in
                  b := {{}};
                  loop select
                     SEND (?to, ?m) where length (b) < 3; b := insert (envelope (to, m), b)
                  []
                     RECEIVE (?to, ?m) where {guard}
                  end select end loop
               end var
            end process
            process MAIN [SEND, RECEIVE : link] is
               par SEND, RECEIVE in
                  par NODE [...] (1, 2) || NODE [...] (2, 3) || NODE [...] (3, 1) end par
               || NETWORK [...]
               end par
            end process
            end module"
        )
    };
    let guards = [
        "member (envelope (to, m), b)",
        "holds (b, to, m)",
        "not (not (holds (b, to, m)))",
        "is_there (b, to, m)",
        "(to != 3) and member (envelope (to, m), b)",
        "member (envelope (to, m), b) and then (envelope (to, m).to == to)",
        "member (envelope (to, bye), b) or member (envelope (to, m), b)",
    ];
    for container in ["sorted set", "set", "list"] {
        for guard in guards {
            let text = network(container, &guard.replace("to != 3", "not (to == 3)"));
            let (.., found) = compare(&text, true);
            assert!(found.steps.iter().any(|steps| steps.len() > 1), "{container}, {guard}");
        }
    }
}

/// Values that patterns take apart come from sets in which guards look for their parts, whoever else fixes some of them.
#[test]
fn patterns_take_their_parts_from_sets() {
    let network = |container: &str, number: &str, receive: &str| {
        format!(
            "module m is
            !nat_sup 5
            type number is range 0 .. {number} of nat with \"==\" end type
            type size is range 0 .. 99 of nat with \"==\" end type
            type name is range 0 .. 3 of nat with \"==\" end type
            type message is
               bye, ask (from : name, n : number), tell (n : number, from : name, b : bool)
               with \"==\", \"<\"
            end type
            type packet is packet (n : number, to : name), lost with \"==\", \"<\" end type
            type envelope is envelope (to : name, k : size), other (k : size, to : name) with \"==\", \"<\" end type
            type messages is {container} of message with \"insert\", \"member\", \"length\" end type
            type packets is {container} of packet with \"insert\", \"member\" end type
            type envelopes is {container} of envelope with \"insert\", \"member\" end type
            channel link is (message, size) end channel
            process NODE [SEND, RECEIVE : link] (me, other : name) is
               var m : message, n : number, to : name, k : size, b : bool in
                  SEND (ask (me, 1), 70);
                  loop select
                     RECEIVE (?ask (to, n), 1) where to == other; SEND (tell (n, me, n == 1), 1)
                  []
                     RECEIVE (?tell (n, any name, b), 1); SEND (ask (me, n), 2)
                  []
                     RECEIVE (ask (other, 1), ?k); SEND (bye, k)
                  []
                     RECEIVE (?m, 70); use m
                  end select end loop
               end var
            end process
            process NETWORK [SEND, RECEIVE : link] is
               var s : messages, e : envelopes, p : packets, m : message, n : number, k : size, to : name, b : bool in
                  s := {{}}; e := {{}}; p := {{}};
                  n := 0; k := 0; to := 0; b := false; m := bye; use m, n, k, to, b;
                  loop select
                     SEND (?m, ?k) where length (s) < 4;
                     s := insert (m, s);
                     e := insert (envelope (1, k), e);
                     e := insert (other (k, 2), e);
                     p := insert (packet (1, 2), p)
                  []
                     {receive}
                  end select end loop
               end var
            end process
            process MAIN [SEND, RECEIVE : link] is
               par SEND, RECEIVE in
                  par NODE [...] (1, 2) || NODE [...] (2, 1) end par
               || NETWORK [...]
               end par
            end process
            end module"
        )
    };
    let receipts = [
        "RECEIVE (?ask (to, n), 1) where member (ask (to, n), s)",
        "RECEIVE (?tell (n, to, b), 1) where member (tell (n, to, b), s) [] RECEIVE (?bye, 70) where member (bye, s)",
        // Parts in another order, parts that others fix, parts that are asked for nowhere.
        "RECEIVE (?ask (to, n), 1) where member (packet (n, to), p)",
        "RECEIVE (?ask (to, 1), ?k) where member (envelope (to, k), e)",
        "RECEIVE (?ask (to, n), ?k) where member (other (k, to), e) and (n == 1)",
        "RECEIVE (?ask (to, any number), ?k) where member (envelope (to, k), e)",
        "RECEIVE (?tell (n, to, true), 1) where member (ask (to, n), s)",
        "RECEIVE (?m as ask (to, n), ?k) where member (m, s) and member (envelope (1, k), e)",
        "RECEIVE (?ask (2, n), ?k) where member (tell (n, 2, b), s) or member (ask (2, n), s)",
        "RECEIVE (?ask (to, n), ?k) where member (envelope (1, k), e) and member (ask (to, n), s)",
        "m := any message; only if member (m, s) then RECEIVE (m, 70) end if",
        "m := any message; n := 1; only if member (m, s) and (n == 1) then RECEIVE (m, ?k) end if",
    ];
    for container in ["sorted set", "set", "list"] {
        for receive in receipts {
            let (.., found) = compare(&network(container, "3", receive), true);
            assert!(found.steps.iter().any(|steps| steps.len() > 1), "{container}, {receive}");
            // Messages of several words, which nobody could try one after the other, make the same steps.
            if !["?k", "any message"].iter().any(|open| receive.contains(open)) {
                let system = |number: &str| {
                    let text = network(container, number, receive);
                    let program =
                        Loader::new().load_text("drawn.lnt", &text, &mut Sources::new()).unwrap().program;
                    let main = program.main().unwrap();
                    let options = Options { eager: true, ..Options::default() };
                    let model = LntModel::new(program, main, &options).unwrap();
                    let found = explore(&model, &Limits::default(), &Progress::new());
                    assert_eq!(found.outcome, Outcome::Complete, "{container}, {receive}");
                    let mut system = Vec::new();
                    lts::write_aut(&found.lts, &mut system).unwrap();
                    String::from_utf8(system).unwrap()
                };
                assert_eq!(system("2000000000"), system("3"), "{container}, {receive}");
            }
        }
    }
}

/// One of several sets may be asked: that of a receiver, or one that depends on the value. A set may also have very many elements.
#[test]
fn values_come_from_one_of_several_sets() {
    let text = |boxes: &str, put: &str, guard: &str| {
        format!(
            "module m is
            type address is range 1 .. 3 of nat with \"==\" end type
            type letter is letter (from : address, n : number), card (n : number) with \"==\", \"<\" end type
            type number is range 0 .. 40 of nat with \"==\", \"<\" end type
            type letters is sorted set of letter with \"insert\", \"member\", \"length\" end type
            type slot is slot (flag : bool, n : nat, all : letters) with \"get\", \"set\" end type
            {boxes}
            channel post is (address, letter) end channel
            function kind (l : letter) : address is
               case l in var a : address in letter (a, any number) -> return a | card (any number) -> return 3 end case
            end function
            process CLERK [SEND, RECEIVE : post] is
               var b : boxes, to : address, l : letter in
                  b := boxes (empty_box);
                  loop select
                     SEND (?to, ?l); {put}
                  []
                     RECEIVE (?to, ?l) where {guard}
                  end select end loop
               end var
            end process
            process PERSON [SEND, RECEIVE : post] (me, other : address) is
               var l : letter, n : number in
                  SEND (other, letter (me, 7)); SEND (me, card (11));
                  loop select
                     RECEIVE (me, ?l); use l
                  []
                     RECEIVE (me, ?card (n)); SEND (other, letter (me, n))
                  end select end loop
               end var
            end process
            process MAIN [SEND, RECEIVE : post] is
               par SEND, RECEIVE in
                  par PERSON [...] (1, 2) || PERSON [...] (2, 3) || PERSON [...] (3, 1) end par
               || CLERK [...]
               end par
            end process
            end module"
        )
    };
    let plain = "type boxes is array [1 .. 3] of letters end type
        function empty_box : letters is return {} end function";
    let records = "type boxes is array [1 .. 3] of slot end type
        function empty_box : slot is return slot (true, 200, {}) end function";
    let put = "b[to] := insert (l, b[to])";
    let put_record = "b[to] := b[to].{all => insert (l, b[to].all)}";
    for (boxes, put, guard) in [
        (plain, put, "member (l, b[to])"),
        (plain, put, "member (l, b[kind (l)])"),
        (plain, put, "member (l, b[to]) and not (member (l, b[kind (l)]))"),
        (records, put_record, "member (l, b[to].all)"),
        (records, put_record, "b[to].flag and member (l, b[kind (l)].all)"),
    ] {
        let (.., found) = compare(&text(boxes, put, guard), true);
        assert!(found.steps.iter().any(|steps| steps.len() > 3), "{guard}");
    }
    let many = "module m is
        !nat_sup 5000
        type number is range 0 .. 4999 of nat with \"==\", \"<\" end type
        type numbers is sorted set of number with \"insert\", \"member\" end type
        channel c is (number) end channel
        function some (k : nat) : numbers is
           var n : nat, s : numbers in
              s := {};
              for n := 0 while n < 2400 by n := n + 1 loop s := insert (number (2 * n), s) end loop;
              return insert (number (k), s)
           end var
        end function
        process MAIN [A, B : c] is
           var s : numbers, n : number in
              s := some (4999);
              n := any number where member (n, s); A (n);
              n := any number where member (n, s); B (n); stop
           end var
        end process
    end module";
    let (.., found) = compare(many, true);
    assert_eq!(found.steps[0].len(), 2401);
}

/// The set that a guard names may be told by a partner, and another one may have it by the same name.
#[test]
fn sets_that_partners_tell_name_values() {
    let text = |tells: &str, guard: &str| {
        format!(
            "module m is
            type number is range 0 .. 99 of nat with \"==\", \"<\" end type
            type note is note (n : number, last : bool) with \"==\", \"<\" end type
            type notes is sorted set of note with \"insert\", \"remove\", \"member\" end type
            channel board is (notes, note) end channel
            channel news is (note) end channel
            process BOARD [WRITE : news, READ : board] is
               var s, t : notes, n : note in
                  s := {{}}; t := {{}};
                  loop select
                     WRITE (?n); s := insert (n, s); t := insert (n, t)
                  []
                     READ ({tells}, ?n); t := remove (n, t)
                  end select end loop
               end var
            end process
            process READER [WRITE : news, READ : board] (me : number) is
               var s : notes, n, k : note, m : number, b : bool in
                  WRITE (note (me, false)); WRITE (note (7, me == 50)); n := note (0, true); s := {{n}}; use s, n;
                  loop select
                     READ (?s, ?k) where {guard}; use s, k
                  []
                     READ (?s, ?note (m, b)) where member (note (m, b), s) and b; WRITE (note (m, false))
                  end select end loop
               end var
            end process
            process MAIN [WRITE : news, READ : board] is
               par WRITE, READ in
                  par READER [...] (3) || READER [...] (50) end par
               || BOARD [...]
               end par
            end process
            end module"
        )
    };
    for tells in ["s", "t", "insert (note (99, true), s)"] {
        for guard in ["member (k, s)", "member (k, s) and not (k == n)", "not (not (member (k, s)))"] {
            let (.., found) = compare(&text(tells, guard), true);
            assert!(found.steps.iter().any(|steps| steps.len() > 2), "{tells}, {guard}");
        }
    }
}

/// Steps that follow from a value chosen silently are told value by value, whoever the partners are.
#[test]
fn values_chosen_silently_keep_their_order() {
    let text = "module m is
        !nat_sup 3
        channel c is (nat, nat) end channel
        process CHOOSER [A : c] is
           var n, k : nat in
              k := 0;
              loop
                 n := any nat where n != k;
                 select A (n, ?k) [] only if n > 1 then A (k, n) end if end select
              end loop
           end var
        end process
        process PARTNER [A : c] (me : nat) is
           var n : nat in
              loop select A (?n, me) [] A (me, ?n) where n < 3 end select end loop
           end var
        end process
        process LATER [A : c] is
           var n : nat in
              loop n := any nat; A (n, n) end loop
           end var
        end process
        process MAIN [A : c] is
           par A in
              CHOOSER [A]
           || par PARTNER [A] (1) || PARTNER [A] (2) || LATER [A] end par
           end par
        end process
    end module";
    let (.., found) = compare(text, true);
    assert!(found.steps.iter().any(|steps| steps.len() > 4));
}

/// A value that is chosen silently from a set is one of its elements, in their order, and no error is missed.
#[test]
fn values_chosen_silently_come_from_sets() {
    let text = |set: &str, guard: &str| {
        format!(
            "module m is
            !nat_sup 6
            type message is ask (n : nat), tell (n : nat, b : bool), bye with \"==\", \"<\" end type
            type soup is {set} of message with \"insert\", \"remove\", \"member\", \"length\", \"element\" end type
            channel link is (message) end channel
            function is_in (m : message, s : soup) : bool is
               return not (not (member (m, s)))
            end function
            process NODE [SEND, RECEIVE : link] (me : nat) is
               var m : message, n : nat in
                  SEND (ask (me));
                  loop
                     RECEIVE (?m);
                     case m in
                        ask (n) where n < 3 -> SEND (tell (n + me, n == 2))
                     |  tell (n, any bool) where n < 4 -> SEND (ask (n))
                     |  any -> SEND (bye)
                     end case
                  end loop
               end var
            end process
            process SOUP [SEND, RECEIVE : link] is
               var s : soup, m : message in
                  s := {{}};
                  loop select
                     SEND (?m); s := insert (m, s)
                  []
                     m := any message where {guard};
                     select RECEIVE (m) [] RECEIVE (m); s := remove (m, s) end select
                  end select end loop
               end var
            end process
            process MAIN [SEND, RECEIVE : link] is
               par SEND, RECEIVE in
                  par NODE [...] (1) || NODE [...] (2) end par
               || SOUP [...]
               end par
            end process
            end module"
        )
    };
    let guards = [
        "member (m, s)",
        "is_in (m, s)",
        "member (m, s) and (m != bye)",
        // Fails for an empty soup, whatever the message.
        "(element (s, 1) == m) or member (m, s)",
    ];
    for set in ["sorted set", "set", "list"] {
        for guard in guards {
            let (.., found) = compare(&text(set, &guard.replace("m != bye", "not (m == bye)")), true);
            assert!(
                found.failure.is_some() || found.steps.iter().any(|steps| steps.len() > 3),
                "{set}, {guard}"
            );
        }
    }
}

/// Where several things may come of a value that is chosen silently, all that comes of one value is told before the next one.
#[test]
fn all_that_comes_of_a_chosen_value_is_told_at_once() {
    let text = "module m is
        !nat_sup 20
        channel one is (nat) end channel
        channel two is (nat, nat) end channel
        process CACHE [LOAD, SAVE : two, ASK, DROP : one] (me : nat) is
           var a, b, v : nat, busy : bool in
              v := 0;
              busy := false;
              loop
                 select
                    only if not (busy) then
                       a := any nat where a < 3;
                       select
                          LOAD (me, a)
                       []
                          only if a != v then SAVE (a, v); v := a end if
                       []
                          b := any nat where (b < 2) and (a + b < 4);
                          select ASK (a + b); busy := true [] DROP (b) end select
                       end select
                    end if
                 []
                    only if busy then DROP (v); busy := false end if
                 end select
              end loop
           end var
        end process
        process BUS [SAVE : two, ASK : one] is
           var n, k : nat in
              n := 0;
              loop
                 select
                    SAVE (?k, n)
                 []
                    k := any nat where k < 4;
                    select ASK (k); n := k [] SAVE (k, ?n) where n < 3 end select
                 end select
              end loop
           end var
        end process
        process MAIN [LOAD, SAVE : two, ASK, DROP : one] is
           par SAVE, ASK in
              BUS [SAVE, ASK]
           || par CACHE [LOAD, SAVE, ASK, DROP] (1) || CACHE [LOAD, SAVE, ASK, DROP] (2) end par
           end par
        end process
    end module";
    let (.., found) = compare(text, true);
    assert!(found.steps.iter().any(|steps| steps.len() > 12));
}

/// Values that a guard compares with others are these, and are not tried; other comparisons say nothing.
#[test]
fn values_that_guards_compute_are_received() {
    let text = |guard: &str| {
        format!(
            "module m is
            !nat_sup 1009
            type small is range 0 .. 4 of nat with \"==\", \"<\", \"!=\" end type
            type high is range 1008 .. 1009 of nat with \"==\" end type
            type kind is get, put with \"==\", \"!=\" end type
            type line is line (k : kind, n : small) with \"==\", \"!=\", \"get\" end type
            type wide is wide (a, b, c, d : high) with \"==\", \"get\", \"set\" end type
            type lines is array [0 .. 2] of line end type
            channel link is (small, line, wide) end channel
            function later (l : line) : line is
               if l.n == 4 then return line (get, 0) else return line (put, small (nat (l.n) + 1)) end if
            end function
            process ASKED [S : link] is
               var ls : lines, l : line, w, v : wide, j : small in
                  ls := lines (line (get, 1), line (put, 2), line (get, 3));
                  v := wide (1008, 1009, 1008, 1008);
                  loop
                     S (?j, ?l, ?w) where {guard};
                     if j < 3 then ls[nat (j)] := later (l) end if;
                     if j == 1 then v := w.{{a -> 1009}} end if
                  end loop
               end var
            end process
            process ASKER [S : link] is
               var j : small in
                  j := 0;
                  loop S (j, ?any line, ?any wide); j := small ((nat (j) + 1) mod 3) end loop
               end var
            end process
            process MAIN [S : link] is par S in ASKED [S] || ASKER [S] end par end process
            end module"
        )
    };
    let same = "(j < 3) and (l == ls[nat (j)]) and (w == v)";
    for guard in [
        same,
        "(w == v) and (j < 3) and (later (ls[nat (j)]) == l)",
        "(w == v.{b -> 1008}) and (l == line (get, j)) and (l != ls[0])",
        "(w == v) and (l == ls[nat (j)])",
        "(w == v) and (l == line (put, small (4 div nat (j))))",
        "(w == v) and ((l == ls[0]) or (l == ls[1]))",
        "(w == v) and not (l == ls[0])",
        "(w == v) and (l == line (l.k, j))",
        "(l == ls[0]) and (w.b == v.b) and (j < 3)",
        "(w.c == v.d) and (w.b == v.a) and (l == ls[1])",
    ] {
        compare(&text(guard), true);
    }
    let (.., found) = compare(&text(same), true);
    assert!(found.steps.len() > 10);
}

/// Functions that return what they return for other arguments are loops, wherever they are.
#[test]
fn functions_that_begin_again_return_the_same() {
    let text = "module m is
        !nat_sup 40
        type items is list of nat with \"append\", \"head\", \"tail\", \"length\", \"==\" end type
        type few is array [0 .. 2] of nat end type
        channel link is (nat, nat, nat) end channel
        function sum (l : items, so_far : nat) : nat is
           case l in var n : nat, rest : items in
              {} -> return so_far
           |  cons (n, rest) where n == 7 -> return sum (rest, so_far)
           |  cons (n, rest) -> return sum (rest, so_far + n)
           end case
        end function
        function turned (l, behind : items) : items is
           case l in var n : nat, rest : items in
              {} -> return behind
           |  cons (n, rest) -> return turned (rest, cons (n, behind))
           end case
        end function
        function exchanged (a, b, n : nat) : nat is
           if n == 0 then return a else return exchanged (b, a, n - 1) end if
        end function
        function least (f : few, at, found : nat) : nat is
           if at > 2 then return found
           elsif f[at] < found then return least (f, at + 1, f[at])
           else return least (f, at + 1, found) end if
        end function
        process MAIN [G : link] is
           var l : items, f : few, n : nat in
              l := {1, 2};
              f := few (3, 1, 2);
              loop
                 n := any nat where n < 4;
                 G (sum (l, n), exchanged (n, 9, length (l)), least (f, 0, 5));
                 if length (l) < 5 then l := cons (n, l) else l := tail (turned (l, {})) end if;
                 f[n mod 3] := head (turned (l, {n}))
              end loop
           end var
        end process
    end module";
    let (.., found) = compare(text, true);
    assert!(found.steps.len() > 10);
}

/// Sets whose elements have several words are changed in their order, and rows that are stored at once are the right ones.
#[test]
fn sets_of_wide_values_stay_in_order() {
    let text = "module m is
        !nat_sup 2003
        type id is range 2000 .. 2003 of nat with \"==\", \">\" end type
        type message is
           ask (a, b, c : id), tell (a, b, c, d : id), bye
           with \"==\", \"<\"
        end type
        type soup is sorted set of message with \"insert\", \"remove\", \"member\", \"union\", \"length\", \"empty\" end type
        channel link is (message) end channel
        channel links is (soup) end channel
        process NET [SEND, TAKE : link, CAST : links] is
           var s, more : soup, m : message in
              s := {};
              loop
                 select
                    only if length (s) < 5 then SEND (?m); s := insert (m, s) end if
                 []
                    only if length (s) < 3 then CAST (?more); s := union (s, more) end if
                 []
                    TAKE (?m) where member (m, s); s := remove (m, s)
                 end select
              end loop
           end var
        end process
        process NODE [SEND, TAKE : link, CAST : links] (me : id) is
           var b, c : id in
              CAST ({tell (me, 2001, 2003, 2002), ask (2003, me, 2000), bye, ask (me, 2002, 2003)});
              loop
                 select
                    TAKE (?ask (c, b, any id)) where c == me; SEND (tell (b, me, 2002, 2001))
                 []
                    TAKE (?tell (b, c, any id, any id)) where c > me; SEND (ask (c, b, 2001))
                 []
                    TAKE (bye)
                 end select
              end loop
           end var
        end process
        process MAIN [SEND, TAKE : link, CAST : links] is
           par SEND, TAKE, CAST in
              NET [SEND, TAKE, CAST]
           || par NODE [SEND, TAKE, CAST] (2000) || NODE [SEND, TAKE, CAST] (2002) end par
           end par
        end process
    end module";
    let (.., found) = compare(text, true);
    assert!(found.steps.len() > 10);
}

/// Values are chosen up to the greatest word that there is.
#[test]
fn the_greatest_values_are_chosen_too() {
    let text = "module m is
        !nat_sup 4294967295
        type high is range 4294967291 .. 4294967295 of nat with \"==\", \"<\", \">=\" end type
        channel c is (high) end channel
        process MAIN [A, B : c] is
           var v : high in
              loop
                 select
                    v := any high where not (nat (v) == 1); A (v)
                 []
                    v := any high where v >= (4294967293 of high); v := any high where v < (4294967293 of high); B (v)
                 end select
              end loop
           end var
        end process
    end module";
    let (.., found) = compare(text, true);
    assert_eq!(found.steps[0].len(), 7);
}

/// Arrays that functions get from each other are read and changed where they lie, if nobody else needs what lies there.
#[test]
fn arrays_are_changed_where_they_lie() {
    let text = "module m is
        !nat_sup 2000
        type row is array [0 .. 6] of nat end type
        type short is array [0 .. 3] of nat end type
        channel c is (nat, row) end channel
        function put (in var r : row, at, value : nat) : row is
           r[at] := value;
           return r
        end function
        function sum (r : row) : nat is
           var i, s : nat in
              s := 0;
              for i := 0 while i < 7 by i := i + 1 loop s := (s + r[i]) mod 100 end loop;
              return s
           end var
        end function
        -- Both are the same array: one of them changes.
        function differ (in var a : row, b : row, at : nat) : nat is
           a[at] := (a[at] + 1) mod 50;
           return (sum (a) * 7 + sum (b) + a[at] + b[at]) mod 100
        end function
        function both (in var a : row, in var b : row, at : nat) : row is
           a[at] := (b[at] + 3) mod 50;
           b[(at + 1) mod 7] := (a[at] + 1) mod 50;
           a[(at + 2) mod 7] := b[(at + 1) mod 7];
           return a
        end function
        -- What it changes is not what it gives back.
        function old (in var a : row, at : nat) : row is
           var before : row in
              before := a;
              a[at] := (a[at] + 9) mod 50;
              if sum (a) > 60 then return before end if;
              return put (before, (at + 1) mod 7, sum (a) mod 50)
           end var
        end function
        function put_short (in var r : short, at, value : nat) : short is
           r[at mod 4] := value;
           return r
        end function
        function both_short (in var a : short, in var b : short, at : nat) : nat is
           a[at mod 4] := (b[at mod 4] + 3) mod 50;
           b[at mod 4] := (a[at mod 4] * 2 + b[at mod 4]) mod 50;
           a[(at + 1) mod 4] := (a[at mod 4] + b[at mod 4]) mod 50;
           return (a[0] + 2 * a[1] + 3 * a[2] + 5 * a[3] + b[at mod 4]) mod 50
        end function
        -- A result that is given twice.
        function twice (at, value : nat) : nat is
           var q : short in
              q := put_short (short (7), at, value);
              return both_short (q, q, at)
           end var
        end function
        function several (in var p : row, at : nat) : row is
           var q, r : row, i, d : nat in
              q := put (p, at, 1);
              r := q;
              d := twice (at, sum (q));
              for i := 0 while i < 4 by i := i + 1 loop
                 -- What was given before is used again, each time.
                 r := put (q, i, (q[at] + r[i] + 5) mod 50);
                 d := (d + differ (r, q, i) + differ (q, q, i) + differ (p, p, at)) mod 100;
                 p := put (p, (at + i) mod 7, d mod 50);
                 p := both (p, p, i);
                 if d mod 2 == 0 then p := put (put (p, 0, d mod 50), 6, sum (p) mod 50) else p := old (p, i) end if;
                 q := both (q, put (q, i, d mod 50), i)
              end loop;
              return both (old (p, at), r, (at + d) mod 7)
           end var
        end function
        process MAIN [A : c] is
           var p, q : row, n : nat in
              p := row (0);
              n := 0;
              loop
                 select
                    A (0, p)
                 []
                    p := several (p, n mod 7);
                    q := put (p, n mod 7, 2);
                    p := both (q, p, n mod 7);
                    n := (n + 1) mod 9;
                    A (differ (p, q, n mod 7), p)
                 end select
              end loop
           end var
        end process
    end module";
    let (.., found) = compare(text, true);
    assert!(found.steps.len() > 50, "{:?}", found.failure);
}

/// Where a type has too many values, those are chosen that a condition asks a list or a set for.
#[test]
fn values_of_large_types_are_chosen_from_lists() {
    let text = "module m is
        type message is request (a, b, c, d : nat), answer (a, b : nat) with \"==\" end type
        type messages is list of message with \"member\" end type
        channel c is (message) end channel
        process MAIN [RECEIVE : c] is
           var m : message, soup : messages in
              soup := {request (1, 2, 3, 4), answer (1, 2), request (1, 2, 3, 4)};
              loop
                 m := any message;
                 only if member (m, soup) then RECEIVE (m) end if
              end loop
           end var
        end process
    end module";
    let (.., found) = compare(text, true);
    assert_eq!(found.steps[0].len(), 2);
    // The same with a set, and what is chosen is taken out of it, or given to one of two others.
    let text = "module m is
        type message is request (a, b, c, d : nat), answer (a, b : nat) with \"==\", \"<\" end type
        type messages is sorted set of message with \"member\", \"insert\", \"remove\" end type
        channel c is (message) end channel
        process NET [SEND, RECEIVE, LOSE : c] is
           var m : message, soup : messages in
              soup := {request (9, 1, 1, 1), answer (200, 2), request (1, 2, 3, 4)};
              loop
                 select
                    m := any message where member (m, soup);
                    select RECEIVE (m); soup := remove (m, soup) [] LOSE (m); soup := remove (m, soup) end select
                 []
                    SEND (?m); soup := insert (m, soup)
                 end select
              end loop
           end var
        end process
        process NODE [SEND, RECEIVE : c] (me : nat) is
           var a, b : nat in
              loop
                 RECEIVE (?request (a, b, any nat, any nat)) where a >= me;
                 SEND (answer (b, me))
              end loop
           end var
        end process
        process MAIN [SEND, RECEIVE, LOSE : c] is
           par SEND, RECEIVE in
              NET [SEND, RECEIVE, LOSE]
           || par NODE [SEND, RECEIVE] (1) || NODE [SEND, RECEIVE] (5) end par
           end par
        end process
    end module";
    let (.., found) = compare(text, true);
    assert!(found.steps.len() > 10 && found.steps[0].len() == 6);
}

/// What an action offers may fail although there is nothing to receive.
#[test]
fn offers_that_fail_do_so_without_values() {
    let text = "module m is
        !nat_sup 50
        type soup is sorted set of nat with \"insert\", \"member\" end type
        channel link is (nat, nat) end channel
        process MAIN [G, H : link] is
           var s : soup, n, k : nat in
              s := {};
              n := 30;
              loop
                 select
                    G (?k, 1 div n) where member (k, s)
                 []
                    only if 1 div n < 2 then G (?k, 3) where k < 0 end if
                 []
                    H (n, 0); n := n - 1
                 end select
              end loop
           end var
        end process
    end module";
    let (.., found) = compare(text, true);
    assert!(found.failure.is_some());
}

/// Sets that are changed several times before they are stored: to nothing and back, by what they have already, in functions
/// that give back several of them, and where somebody reads them in between.
#[test]
fn sets_are_the_same_however_often_they_are_changed() {
    let text = "module m is
        !nat_sup 1000
        type id is range 0 .. 40 of nat with \"==\" end type
        type pair is pair (a, b : id, c : nat) with \"==\", \"<\" end type
        type ids is sorted set of id with \"insert\", \"remove\", \"member\", \"length\", \"empty\", \"==\" end type
        type pairs is sorted set of pair with \"insert\", \"remove\", \"member\", \"length\", \"==\", \"head\" end type
        channel c is (id, ids, pairs, nat) end channel
        channel d is (pairs, bool) end channel
        function exchange (i : id, in out s : ids, in out p : pairs, out n : nat) is
           s := remove (i, s);
           s := insert (i, s);
           if empty (s) then s := insert (40, s) end if;
           p := insert (pair (i, 7, 1), remove (pair (7, i, 300), p));
           n := length (s);
           s := remove (40, remove (i, s));
           p := remove (pair (i, 7, 1), insert (pair (i, i, n + 299), insert (pair (i, i, n + 299), p)))
        end function
        function none_left (in var p : pairs) : pairs is
           while length (p) > 0 loop p := remove (head (p), p) end loop;
           return p
        end function
        process MAIN [A : c, B : d] is
           var s : ids, p : pairs, n : nat, i : id in
              s := {3, 5, 17, 40};
              p := {pair (7, 3, 300), pair (1, 1, 1)};
              n := 0;
              loop
                 select
                    i := any id where member (i, s);
                    exchange (i, !?s, !?p, ?n);
                    A (i, s, p, n)
                 []
                    B (none_left (p), none_left (p) == p);
                    p := insert (pair (2, 2, 2), none_left (p));
                    s := insert (9, insert (3, s))
                 []
                    only if length (s) < 5 then
                       s := insert (12, remove (12, insert (0, s)));
                       A (12, remove (12, remove (0, s)), p, n)
                    end if
                 end select
              end loop
           end var
        end process
    end module";
    let (.., found) = compare(text, true);
    assert!(found.steps.len() > 10, "{}", found.steps.len());
}

/// Machine code remembers results of functions: of several functions, with no arguments up to four, more of them than there is
/// room for, and of functions whose results nobody asks for twice.
#[test]
fn results_are_remembered_for_their_own_arguments() {
    let text = "module m is
        type list_of is list of nat with \"length\", \"==\", \"cons\", \"tail\", \"head\" end type
        channel c is (nat, nat, nat, nat) end channel
        function sum (l : list_of) : nat is
           case l in var h : nat, rest : list_of in
              {} -> return 0
           |  cons (h, rest) -> return (h + sum (rest)) mod 200
           end case
        end function
        function count (l : list_of, n : nat) : nat is
           case l in var h : nat, rest : list_of in
              {} -> return 0
           |  cons (h, rest) -> if h < n then return 1 + count (rest, n) else return count (rest, n) end if
           end case
        end function
        function between (l : list_of, low, high : nat) : nat is
           case l in var h : nat, rest : list_of in
              {} -> return 0
           |  cons (h, rest) ->
                 if (h >= low) and (h < high) then return 1 + between (rest, low, high)
                 else return between (rest, low, high) end if
           end case
        end function
        function mixed (l : list_of, a, b, n : nat) : nat is
           case l in var h : nat, rest : list_of in
              {} -> return a
           |  cons (h, rest) -> return (mixed (rest, b, (a + h) mod 50, n) + n) mod 97
           end case
        end function
        process MAIN [A : c] is
           var l : list_of, k : nat in
              l := {5, 1, 9};
              k := 0;
              loop
                 A (sum (l), count (l, k mod 11), between (l, k mod 5, 3 + k mod 7), mixed (l, k mod 13, 2, k mod 3));
                 A (sum (tail (l)), count (l, k mod 11), between (l, 3 + k mod 7, k mod 5), mixed (l, 2, k mod 13, k mod 3));
                 k := (k + 1) mod 100;
                 if length (l) > 5 then l := tail (tail (l)) end if;
                 l := cons ((k * 7) mod 23, l)
              end loop
           end var
        end process
    end module";
    let (.., found) = compare(text, true);
    assert!(found.steps.len() > 50, "{}", found.steps.len());
    // Many states, so that entries are taken by others and counters come round: the interpreter counts the same.
    let mut sources = Sources::new();
    let checked = Loader::new().load_text("results.lnt", text, &mut sources).unwrap();
    let main = checked.program.main().unwrap();
    let model = |naive, eager| {
        let options = Options { naive, eager, ..Options::default() };
        LntModel::new(checked.program.clone(), main, &options).unwrap()
    };
    let limits = Limits { states: 3000, threads: 1, ..Limits::default() };
    let (naive, eager) = (model(true, false), model(false, true));
    let expected = explored(&naive, &explore(&Plain(&naive), &limits, &Progress::new()));
    assert!(explored(&eager, &explore(&eager, &limits, &Progress::new())) == expected);
}

/// Bounds that are the same in all states count for small types as well as for large ones.
#[test]
fn values_beyond_fixed_bounds_are_never_tried() {
    for (most, guard, tried) in [
        (10, "n < 7", 7),
        (40, "n < 7", 7),
        (255, "(n < 7) and (n mod 2 == 0)", 7),
        (40, "(n >= 3) and (n < 7)", 4),
        (40, "(n > 9) and (n < 7)", 1),
    ] {
        let text = format!(
            "module m is
                !nat_sup {most}
                channel c is (nat) end channel
                process MAIN [A : c] is
                    var n, x, y, z : nat in
                        x := 0; y := 0; z := 0;
                        loop
                            A (?n) where {guard};
                            z := (z + y) mod 10; y := (y + x) mod 10; x := (x + n) mod 10
                        end loop
                    end var
                end process
            end module"
        );
        let (.., found) = compare(&text, true);
        let expected = (0..=most).filter(|&n| match guard {
            "n < 7" => n < 7,
            "(n < 7) and (n mod 2 == 0)" => n < 7 && n % 2 == 0,
            "(n >= 3) and (n < 7)" => (3..7).contains(&n),
            _ => false,
        });
        assert_eq!(found.steps[0].len(), expected.count(), "{most} {guard}");
        let mut sources = Sources::new();
        let checked = Loader::new().load_text("bounds.lnt", &text, &mut sources).unwrap();
        let main = checked.program.main().unwrap();
        let options = Options { provenance: false, ..Options::default() };
        let model = LntModel::new(checked.program, main, &options).unwrap();
        let found = explore(&model, &Limits::default(), &Progress::new());
        // Enough for machine code, unless there is no step at all.
        assert!(found.states() > 1 || tried == 1, "{most} {guard}: {} states", found.states());
        let offers = model.open_offers();
        assert!(offers.iter().all(|offer| offer.tried.unwrap_or(0) <= tried), "{most} {guard}: {offers:?}");
    }
}

/// Bounds that the state sets on a value (a variable, a field, an element, a length) change nothing but what is tried; and a
/// length that can't be told is an error where some value leads to it, and only there.
#[test]
fn bounds_that_the_state_sets_hide_nothing() {
    let text = |sup: u32, choice: bool, collection: &str, guard: &str, padding: &str| {
        let action = match choice {
            true => format!("n := any nat where {guard}; select A (n) [] A (k); k := n end select"),
            false => format!("A (?n) where {guard}; k := n"),
        };
        format!(
            "module m is{padding}
            !nat_sup {sup}
            type three is array [0 .. 2] of nat end type
            type pair is pair (a, b : nat) with \"get\", \"set\", \"==\" end type
            type store is {collection} of nat with \"insert\", \"length\", \"member\" end type
            channel c is (nat) end channel
            process MAIN [A, B : c] is
               var n, k, i : nat, s : store, t : three, p : pair in
                  k := 1; i := 0; s := {{}}; t := three (2); p := pair (1, 0);
                  loop
                     select
                        {action}
                     []
                        B (i);
                        s := insert (k, s);
                        t[i] := k;
                        p := pair (p.b, k);
                        i := (i + 1) mod 3
                     end select
                  end loop
               end var
            end process
            end module"
        )
    };
    let guards = [
        "(n >= 1) and (n <= length (s))",
        "n < length (s)",
        "(n >= length (s)) and (n != 3)",
        "not (n <= length (s)) and (n > 1)",
        "(n > k) and (n <= p.a)",
        "(n <= t[i]) and (n != k)",
        "(n == length (s)) or (n == k)",
        "n == length (s)",
        "(n > 3) and (n <= length (s)) and (n mod 2 == 0)",
        "(n > 4) and (length (s) > 1) and (n < 2)",
        "(n > length (s)) and (n < k)",
        "(n == 0) and (n > length (s))",
        "(n >= 4) and (n < length (s))",
    ];
    let (mut steps, mut failures) = (0, 0);
    for guard in guards {
        for (sup, collection) in [(4, "list"), (4, "sorted set"), (70, "list"), (6, "set")] {
            for choice in [true, false] {
                for padding in ["", " "] {
                    let (.., found) = compare(&text(sup, choice, collection, guard, padding), false);
                    steps += found.steps.iter().map(Vec::len).sum::<usize>();
                    failures += usize::from(found.failure.is_some());
                }
            }
        }
    }
    assert!(steps > 5_000 && failures > 10, "{steps} steps, {failures} failures");
    for choice in [true, false] {
        let text = text(255, choice, "list", "(n >= 1) and (n <= length (s))", "");
        compare(&text, true);
    }
}

/// A list that values come from, with repeats and in no order, is put in order once: until it changes.
#[test]
fn lists_that_stay_as_they_are_name_values_in_order() {
    for (element, values) in [("nat", ["3", "1", "2"]), ("item", ["item (2, 1)", "none", "item (1, 4)"])] {
        for (collection, guard) in [
            ("list", "member (x, l)"),
            ("set", "member (x, l) and (x != last)"),
            ("list", "member (x, l) and is_good (x)"),
        ] {
            let [a, b, c] = values;
            let text = format!(
                "module m is
                !nat_sup 20
                type item is none, item (a, b : nat) with \"==\" end type
                type some is {collection} of {element} with \"insert\", \"append\", \"reverse\", \"member\", \"remove\" end type
                channel one is ({element}) end channel
                channel two is (nat) end channel
                function is_good (x : {element}) : bool is return (x == {a}) or (x == {c}) end function
                process MAIN [A : one, B : two] is
                   var l : some, x, last : {element}, n, k : nat in
                      l := append ({a}, append ({b}, insert ({c}, {{{a}, {b}, {a}}})));
                      last := {a}; n := 0; k := 0;
                      loop
                         select
                            A (?x) where {guard};
                            last := x
                         []
                            only if k < 3 then B (n); n := (n + 1) mod 4; k := k + 1 end if
                         []
                            only if k == 3 then B (n); l := reverse (l); k := 0 end if
                         []
                            only if (k == 2) and (n == 1) then B (n + 10); l := remove (last, l) end if
                         end select
                      end loop
                   end var
                end process
                end module"
            );
            let (.., found) = compare(&text, element == "item");
            assert!(found.failure.is_none() && found.steps.iter().any(|steps| steps.len() > 2), "{text}");
        }
    }
}

/// A pattern takes the rest of a list only where somebody reads it: behind a condition, in a loop, where an exception is caught.
#[test]
fn rests_of_lists_are_what_they_are_wherever_they_are_read() {
    let text = "module m is
        !nat_sup 9
        type some is list of nat with \"==\", \"append\", \"length\" end type
        channel c is (nat) end channel
        channel l is (some) end channel
        function without (n : nat, xs : some) : some is
           case xs in var x : nat, rest : some in
              {} -> return {}
           |  cons (x, rest) where x == n -> return rest
           |  cons (x, rest) where (x > n) and (n > 5) -> return without (n - 1, rest)
           |  cons (x, any some) where x > 8 -> return {x}
           |  cons (x, rest) -> return cons (x, without (n, rest))
           end case
        end function
        function twice (n : nat, xs : some) : nat is
           var x, k : nat, rest, first : some in
              rest := xs; first := xs; k := 0;
              while length (rest) > 0 loop
                 case rest in
                    cons (x, first) where x == n -> k := k + 1
                 |  cons (x, rest) where k > 3 -> return x
                 |  cons (any nat, first) -> null
                 |  any -> null
                 end case;
                 rest := first;
                 if length (first) == 1 then k := (k + 2) mod 7 end if
              end loop;
              return k
           end var
        end function
        function fails [E : exit] (n : nat, xs : some) : nat is
           case xs in var x : nat, rest : some in
              cons (x, rest) where length (rest) == n -> raise E
           |  cons (x, rest) where x != n -> return fails [E] (n, rest)
           |  cons (x, any some) -> return x
           |  any -> return 0
           end case
        end function
        function safely (n : nat, xs : some) : nat is
           var rest : some, x : nat in
              case xs in cons (any nat, rest) -> null | any -> rest := {} end case;
              trap exception E : exit is case rest in cons (x, any some) -> return x | any -> return 7 end case in
                 x := fails [E] (n, xs);
                 case xs in cons (any nat, rest) where x > 1 -> return length (rest) | any -> return x end case
              end trap
           end var
        end function
        function caught (n : nat, xs : some) : nat is
           var rest : some, x : nat in
              rest := {};
              trap exception E : exit is return length (rest) in
                 case xs in
                    cons (x, rest) where x == n -> raise E
                 |  cons (x, rest) where x > n -> raise E
                 |  any -> return 9
                 end case
              end trap
           end var
        end function
        process MAIN [A, B, C : c, L : l] is
           var xs : some, n : nat in
              xs := {};
              loop
                 select
                    only if length (xs) < 4 then
                       n := any nat where (n == 2) or (n == 6) or (n == 9);
                       xs := append (n, xs)
                    end if
                 []
                    n := any nat where n >= 5;
                    xs := without (n, xs);
                    L (xs)
                 [] A (twice (2, xs))
                 [] B (twice (6, xs))
                 [] n := any nat where n < 4; C (safely (n, xs))
                 [] B (caught (6, xs))
                 end select
              end loop
           end var
        end process
    end module";
    let text = text.replace("xs := append (n, xs)", "xs := append (n, xs); L (xs)");
    for padding in ["", " "] {
        let (.., found) = compare(&format!("{text}{padding}"), true);
        assert!(
            found.failure.is_none() && found.steps.len() >= 15,
            "{:?}, {} states",
            found.failure,
            found.steps.len()
        );
    }
}

/// Of a value that lies in several words, a constructor may leave some unused: what a condition learned of these by way of another
/// constructor does not make it another value.
#[test]
fn words_that_a_constructor_does_not_use_are_zero() {
    let text = "module m is
        !int_inf -2000000000
        !int_sup 2000000000
        type number is range 1999999997 .. 2000000000 of int with \"==\" end type
        type value is
           first (n : number, b : bool), none, second (k : number), third (n : number)
           with \"==\", \"!=\", \"get\"
        end type
        channel c is (value) end channel
        function test (x : value) : bool is
           case x in var b : bool in
              third (2000000000) -> return x == x
           |  first (1999999999, b) -> return b
           |  any -> return false
           end case
        end function
        process MAIN [G, H : c] is
           var v, w : value in
              v := second (1999999997 of number);
              w := first (1999999998 of number, true);
              loop
                 G (?v) where (test (v) and (third (2000000000 of number) != v)) or (test (v) or (v == w));
                 H (v);
                 if v == w then w := first (1999999997 of number, false) end if
              end loop
           end var
        end process
    end module";
    let (model, _, found) = compare(text, true);
    assert!(model.layout().width() > 4, "the value has several words");
    let labels: Vec<&str> = found.steps[0].iter().map(|step| step.0.as_str()).collect();
    assert_eq!(
        labels,
        ["G !FIRST (+1999999998, TRUE)", "G !FIRST (+1999999999, TRUE)", "G !THIRD (+2000000000)"]
    );
}
