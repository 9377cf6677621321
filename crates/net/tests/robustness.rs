//! No text may panic, hang or overflow the stack.

use lts::Chance;
use model::{Model, Slot};
use net::{HighModel, UnfoldLimits, load_net, unfold};
use source::Sources;

const NETS: [&str; 3] = [
    include_str!("../../../models/philosophers_net/philosophers_net.net"),
    include_str!("../../../models/alternating_bit_net/alternating_bit_net.net"),
    "net MIXED is
       type T is a, b (n : nat), c (t, u : S) with \"==\" end type
       type S is range 0 .. 3 of nat with \"==\", \"<\" end type
       type L is list of S with \"==\", \"length\" end type
       function k : nat is return 2 end function
       place P : T  place Q : set of S, T  place R : L  place Clock
       transition t (x, y : S, v, w)
          take 2 * P (c (x, y)), Q (x, v as b (any)), k * Clock
          read R ({x, y}) inhibit 3 * P (any), Q (y, a) reset R, P (v)
          where (x < y) and ((w == v) or not (x == y))
          put P (w), R (cons (x, {y})), Q (all, v)
       end transition
       net INNER is place P : S transition u (s) take P (s) put MIXED.P (b (nat (s))) end transition end net
       marking m is P (c (1, 2)), INNER.P (all), R ({0, 1}), 3 * Clock end marking
       state quiet is (Clock == 0) and empty (R) end state
     end net",
];

/// Words, numbers and single other characters.
fn parts(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let length = if word(first) {
            rest.find(|letter| !word(letter)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        parts.push(&rest[..length]);
        rest = &rest[length..];
    }
    parts
}

/// Whether a text is a net; a message is rendered, a net described.
fn is_right(text: &str) -> bool {
    let mut sources = Sources::new();
    match load_net("mutant.net", text, None, &[], &mut sources) {
        Ok(net) => {
            sources.render_all(&net.warnings, false);
            let model = HighModel::new(net);
            look_around(&model);
            model.initial().is_ok_and(|state| model.describe(&state).values.len() > 1)
        }
        Err(errors) => {
            assert!(errors.iter().any(source::Diagnostic::is_error), "no error:\n{text}");
            sources.render_all(&errors, false);
            false
        }
    }
}

/// Asks everything about a few markings; the answers don't matter.
fn look_around(model: &HighModel) {
    let mut states: Vec<Vec<Slot>> = model.initial().into_iter().collect();
    let (mut worker, mut inspector) = (model.worker(), model.inspector());
    for at in 0..4 {
        let Some(state) = states.get(at).cloned() else { break };
        let mut found = Vec::new();
        let _ = worker.successors(&state, &mut |step| found.push(step.target.to_vec()));
        let _ = worker.executed(&state, &mut |_| {});
        let _ = inspector.firings(&state);
        inspector.evaluations(&state);
        for proposition in 0..model.propositions().len() {
            let _ = inspector.holds(proposition, &state);
        }
        states.extend(found.into_iter().take(3));
    }
    let _ = unfold(model.net(), &UnfoldLimits { bindings: 10_000, ..UnfoldLimits::default() });
}

#[test]
fn mutated_nets() {
    let mut chance = Chance::new(3);
    let all: Vec<&str> = NETS.iter().flat_map(|text| parts(text)).collect();
    let mut right = 0;
    for case in 0..3000 {
        let mut parts = parts(NETS[case % NETS.len()]);
        for _ in 0..1 + chance.below(3) {
            let at = chance.below(parts.len());
            match chance.below(5) {
                0 => drop(parts.remove(at)),
                1 => parts.insert(at, all[chance.below(all.len())]),
                2 => parts[at] = all[chance.below(all.len())],
                3 => {
                    let other = chance.below(parts.len());
                    parts.swap(at, other);
                }
                _ => parts.truncate(at.max(parts.len() / 2)),
            }
        }
        right += usize::from(is_right(&parts.concat()));
    }
    assert!(right > 200, "{right} mutants are nets");
}

#[test]
fn deep_and_long_texts() {
    let around =
        |inner: &str| format!("net N is place A : nat {inner} marking M is A (1) end marking end net");
    let deep = [
        "net M is ".repeat(100_000),
        format!(
            "transition t (x) take A (x) where {}x == 1{} end transition",
            "(".repeat(9999),
            ")".repeat(9999)
        ),
        format!("transition t (x) take A ({}x{}) end transition", "f (".repeat(9999), ")".repeat(9999)),
        format!("transition t take {} end transition", vec!["A (any)"; 501].join(", ")),
        format!("state s is {}true end state", "not ".repeat(9999)),
    ];
    for inner in &deep {
        assert!(!is_right(&around(inner)));
    }
    assert!(is_right(NETS[2]));
    let many = format!("transition t take {} end transition", vec!["A (any)"; 490].join(", "));
    let model = HighModel::new(load_net("n.net", &around(&many), None, &[], &mut Sources::new()).unwrap());
    let initial = model.initial().unwrap();
    model.worker().successors(&initial, &mut |_| panic!("there is one token")).unwrap();
    for text in
        ["", "net", "net N", "net N is", "net N is end", "end net", "net N is end net net", "\u{feff}net"]
    {
        assert!(!is_right(text));
    }
}
