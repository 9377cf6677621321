//! Nets unlike those of the paper, with answers computed by hand.

use explore::{Limits, Outcome, explore};
use model::{MarkKind, Model, Slot};
use net::{HighModel, UnfoldLimits, load_net, unfold};
use source::Sources;

fn model(text: &str) -> HighModel {
    let mut sources = Sources::new();
    match load_net("test.net", text, None, &[], &mut sources) {
        Ok(net) => HighModel::new(net),
        Err(errors) => panic!("{}", sources.render_all(&errors, false)),
    }
}

fn labels(model: &HighModel, state: &[Slot]) -> Vec<String> {
    let mut labels = Vec::new();
    model.worker().successors(state, &mut |step| labels.push(model.label(step.label))).unwrap();
    labels
}

/// A queue as one token that is a list, of infinitely many values: two items of three kinds at most, so
/// 1 + 3 + 9 contents.
const QUEUE: &str = "net QUEUE is
   type ITEM is a, b, c with \"==\" end type
   type ITEMS is list of ITEM with \"==\", \"length\", \"append\" end type
   place Queue : ITEMS
   transition Send (x : ITEM, q)
      take Queue (q) where length (q) < 2 put Queue (append (x, q))
   end transition
   transition Receive (x, q)
      take Queue (cons (x, q)) put Queue (q)
   end transition
   marking EMPTY is Queue ({}) end marking
end net";

#[test]
fn a_list_as_a_token() {
    let model = model(QUEUE);
    let initial = model.initial().unwrap();
    assert_eq!(labels(&model, &initial), ["SEND !A !{}", "SEND !B !{}", "SEND !C !{}"]);
    let found = explore(&model, &Limits::default(), &lts::Progress::new());
    // Each of 4 contents with room takes 3 items; each of 12 that are not empty gives 1.
    assert_eq!((found.states(), found.lts.transition_count()), (13, 4 * 3 + 12));
    assert_eq!(unfold(model.net(), &UnfoldLimits::default()).unwrap().flat.places.len(), 13);
}

#[test]
fn any_number_of_threads_finds_the_same() {
    let aut = |threads| {
        let found = explore(&model(QUEUE), &Limits { threads, ..Limits::default() }, &lts::Progress::new());
        let mut text = Vec::new();
        for transition in found.lts.transitions() {
            text.push(format!("{transition:?} {}", found.lts.labels().text(transition.label)));
        }
        text
    };
    assert_eq!(aut(1), aut(2));
}

#[test]
fn an_unbounded_net_stops_at_a_limit() {
    let model = model("net N is place A transition t put A end transition marking M is end marking end net");
    let found = explore(&model, &Limits { states: 100, ..Limits::default() }, &lts::Progress::new());
    assert_ne!(found.outcome, Outcome::Complete);
    assert!(labels(&model, &model.initial().unwrap()) == ["T"]);
}

#[test]
fn a_guard_that_fails_is_told_where_it_stands() {
    let text = "net N is place A : nat
       transition t (x) take A (x) where (10 div x) > 2 end transition
       marking M is A (0) end marking end net";
    let model = model(text);
    let error = model.worker().successors(&model.initial().unwrap(), &mut |_| {}).unwrap_err();
    let span = error.span.unwrap();
    assert_eq!(&text[span.range()], "(10 div x)");
    assert_eq!(error.during, None);
    // A condition that is false decides, wherever it stands.
    let text = text.replace("> 2", "> 2 and (x != 0)");
    assert_eq!(labels(&self::model(&text), &[1]), [""; 0]);
}

#[test]
fn guards_are_decisions() {
    let text = "net N is place A : nat
       transition t (x) take A (x) where (x > 5) or (x == 1) end transition
       marking M is A (1), A (2) end marking end net";
    let model = model(text);
    let initial = model.initial().unwrap();
    let kinds = |origin| -> Vec<MarkKind> {
        let provenance = model.provenance();
        provenance.marks_of(origin).into_iter().map(|mark| provenance.mark(mark).kind).collect()
    };
    let (mut fired, mut silent) = (Vec::new(), Vec::new());
    let mut worker = model.worker();
    worker.successors(&initial, &mut |step| fired.push(kinds(step.origin))).unwrap();
    worker.executed(&initial, &mut |origin| silent.push(kinds(origin))).unwrap();
    assert_eq!(fired, [[MarkKind::Action, MarkKind::Decision(true)]]);
    assert_eq!(silent, [[MarkKind::Decision(false)]]);
    let guard = &model.net().transitions[0].guards[0];
    let written: Vec<&str> = guard.conditions.iter().map(|span| &text[span.range()]).collect();
    assert_eq!(written, ["(x > 5)", "(x == 1)"]);
    let outcomes: Vec<(bool, Vec<Option<bool>>)> = model
        .inspector()
        .evaluations(&initial)
        .into_iter()
        .map(|one| (one.outcome, one.conditions))
        .collect();
    assert_eq!(outcomes, [(false, vec![Some(false), Some(false)]), (true, vec![Some(false), Some(true)])]);
}

#[test]
fn arcs_move_kinds_of_tokens() {
    let text = "net N is type T is good (n : nat), bad end type
       place A : T  place Count
       transition t (x) take A (x) put Count end transition
       transition only take A (bad) end transition
       marking M is A (good (1)), A (bad) end marking end net";
    let model = model(text);
    let net = model.net();
    assert_eq!(net.places[0].kinds, ["GOOD", "BAD"]);
    assert_eq!(
        (&net.transitions[0].arcs[0].kinds, &net.transitions[1].arcs[0].kinds),
        (&vec![0, 1], &vec![1])
    );
    let firings = model.inspector().firings(&model.initial().unwrap()).unwrap();
    let kinds: Vec<(usize, usize)> = firings.iter().map(|one| (one.transition, one.flows[0].kind)).collect();
    assert_eq!(kinds, [(0, 0), (0, 1), (1, 1)]);
}

#[test]
fn keywords_are_names_of_places_and_constants_count() {
    let text = "net N is
       function size : nat is return 3 end function
       place In, Out
       transition Stop take In put Out end transition
       marking M is size * In end marking
       state done is (In == 0) and (Out == size) end state
     end net";
    // Inside LNT, they are keywords all the same.
    let mut sources = Sources::new();
    let errors = load_net("n.net", text, None, &[], &mut sources).err().unwrap();
    assert!(sources.render_all(&errors, false).contains("found the keyword `in`"));
    let text = text.replace("(In == 0) and (Out == size)", "true");
    let constants = [("size".to_owned(), "5".to_owned())];
    let model = HighModel::new(load_net("n.net", &text, None, &constants, &mut sources).unwrap());
    assert_eq!(explore(&model, &Limits::default(), &lts::Progress::new()).states(), 6);
}

#[test]
fn the_nets_of_the_book_are_right() {
    let book = include_str!("../../../docs/src/nets.md");
    let nets: Vec<&str> =
        book.split("```net\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    let models: Vec<HighModel> = nets.iter().map(|text| model(text)).collect();
    assert!(models.iter().all(|model| model.net().warnings.is_empty()));
    let count = |model: &HighModel| explore(model, &Limits::default(), &lts::Progress::new()).states();
    // Each number is with the sender, in the channel or in the sum.
    assert_eq!(models.iter().map(count).collect::<Vec<usize>>(), [11, 9]);
}

#[test]
fn places_of_one_name_and_constructors_like_places() {
    let text = "net N is
       type T is Pair (a, b : nat) with \"==\" end type
       place Pair : nat, nat
       net A is place Own : nat, bool transition t (x, y) take Own (x, y) put Pair (x, x) end transition end net
       net B is place Own : nat, bool transition u (x) take Own (x, true) where Pair (x, 1) == Pair (1, x) end transition
       end net
       marking M is A.Own (1, false), B.Own (1, true), B.Own (2, true) end marking
       state s is length (Pair) == 1 end state
     end net";
    let model = model(text);
    let initial = model.initial().unwrap();
    assert_eq!(labels(&model, &initial), ["T !1 !FALSE", "U !1"]);
    let names: Vec<String> = model.describe(&initial).values.into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["Pair", "A.Own", "B.Own"]);
}

/// Tokens that are tuples, in the conditions of states; a type with a condition; `all` of several types.
#[test]
fn tuples_in_states() {
    let text = "net GRID is
       type D is range 0 .. 3 of nat with \"==\", \"<\" end type
       type EVEN is d : D where (nat (d) mod 2) == 0 with \"==\" end type
       type SIDE is left, right with \"==\" end type
       place Free : EVEN, SIDE
       place Used : EVEN, SIDE
       transition Use (e, s) take Free (e, s) inhibit Used (e, any) put Used (e, s) end transition
       marking ALL is Free (all, all) end marking
       state both is member (Used (2, right), Used) and (length (Used) == 2) end state
       state low is (length (Used) == 1) and then (head (Used).x1 == 0) end state
     end net";
    let model = model(text);
    let initial = model.initial().unwrap();
    assert_eq!(model.describe(&initial).values[0].1, "{(0, LEFT), (0, RIGHT), (2, LEFT), (2, RIGHT)}");
    assert_eq!(labels(&model, &initial).len(), 4);
    let found = explore(&model, &Limits::default(), &lts::Progress::new());
    // Each of two numbers is free, or used on one of two sides.
    assert_eq!((found.states(), found.lts.transition_count()), (9, 12));
    let mut inspector = model.inspector();
    let after = |state: &[Slot], label: &str| {
        let firings = model.inspector().firings(state).unwrap();
        firings.into_iter().find(|one| model.label(one.label) == label).unwrap().target
    };
    let one = after(&initial, "USE !0 !RIGHT");
    let two = after(&one, "USE !2 !RIGHT");
    let holds: Vec<bool> = [&initial, &one, &two]
        .into_iter()
        .flat_map(|state| [0, 1].map(|proposition| inspector.holds(proposition, state).unwrap()))
        .collect();
    assert_eq!(holds, [false, false, false, true, true, false]);
}
