//! States that are bags: what is noted with elements gives the same steps as matching whole states. Labels with values need
//! the matches themselves, so a model with such labels is the twin of one without. `SOUP_CASES=5000` takes more of them.

#[path = "random/numbers.rs"]
mod numbers;

use lts::Progress;
use model::{Input, Language, Text};
use numbers::Random;

#[test]
fn effects_are_those_of_matching() {
    let cases = std::env::var("SOUP_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(150);
    let (mut states, mut several) = (0, 0);
    for seed in 0..cases {
        let text = module(&mut Random::new(seed));
        let plain = system(seed, &text, false, 1);
        assert_eq!(plain, system(seed, &text, true, 1), "seed {seed}: by values\n{text}");
        assert_eq!(plain, system(seed, &text, false, 2), "seed {seed}: by two threads\n{text}");
        states += plain.0;
        several += usize::from(plain.0 > 1);
    }
    println!("{states} states of {cases} systems");
    assert!(several > cases as usize / 3);
}

/// How many states there are, and the steps: where from, the rule, where to, in their order.
fn system(seed: u64, text: &str, values: bool, threads: usize) -> (usize, Vec<String>) {
    let text = Text::new("soup.maude", text.to_owned());
    let mut sources = source::Sources::new();
    let input = Input { values, ..Input::new(&text) };
    let program = maude::Maude
        .load(&input, &mut sources)
        .unwrap_or_else(|problems| panic!("seed {seed}: {problems:?}\n{}", text.text));
    let model = program.model();
    let limits = explore::Limits { threads, states: 3_000, ..Default::default() };
    let explored = explore::explore(model, &limits, &Progress::new());
    let show = |state| format!("{:?}", model.describe(&explored.state(model, state)).values);
    let mut steps = Vec::new();
    // A system that is too large ends somewhere; what is common to both is known from its first states.
    for state in explored.lts.states().take(1_000) {
        for edge in explored.lts.outgoing(state) {
            let label = explored.lts.label(edge.label);
            let rule = label.split(' ').next().unwrap_or_default();
            steps.push(format!("{} {rule} {}", show(state), show(edge.target)));
        }
    }
    steps.sort();
    steps.dedup();
    let count = if explored.outcome.is_complete() { explored.lts.states().count() } else { 0 };
    if count == 0 { (0, Vec::new()) } else { (count, steps) }
}

/// A module whose states are bags, in braces or not, with rules that move, change, make and join elements.
fn module(random: &mut Random) -> String {
    let identity = if random.percent(70) { " id: none" } else { "" };
    let braces = random.percent(60);
    let mut lines: Vec<String> = [
        "protecting NAT .",
        "sorts Thing Soup State .",
        "subsort Thing < Soup .",
        "op none : -> Soup [ctor] .",
        "ops a b : Nat -> Thing [ctor] .",
        "op c : Nat Nat -> Thing [ctor] .",
        "op t : -> Thing [ctor] .",
        "op in : Thing -> Thing [ctor] .",
        "op {_} : Soup -> State [ctor] .",
        "vars X Y Z : Nat .",
        "var T : Thing .",
        "var S : Soup .",
        "op next : Nat -> Nat .",
        "eq next(X) = (X + 1) rem 3 .",
    ]
    .map(str::to_owned)
    .to_vec();
    lines.push(format!("op __ : Soup Soup -> Soup [ctor assoc comm{identity}] ."));
    let rules = [
        "rl [r0] : a(X) => b(X) .",
        "rl [r1] : a(X) b(X) => c(X, X) .",
        "rl [r2] : c(X, Y) => a(X) b(Y) .",
        "rl [r3] : c(X, Y) a(X) => c(Y, X) b(X) .",
        "rl [r4] : a(X) t => a(next(X)) t .",
        "rl [r5] : b(X) => b(next(X)) .",
        "crl [r6] : a(X) b(X) => t if X =/= 1 .",
        "crl [r7] : c(X, Y) => a(Z) t if Z := next(Y) .",
        "rl [r8] : a(X) b(Y) => a(Y) b(X) .",
        "rl [r9] : t t => t .",
        "rl [r10] : in(a(X)) => in(b(X)) .",
        "crl [r11] : c(X, Y) a(Y) b(X) => t t if X + Y < 3 .",
        "rl [r12] : a(X) a(X) => a(next(X)) .",
        "rl [r13] : in(T) t => T .",
        "crl [r14] : b(X) => a(Y) if Y ; Z := X ; next(X) .",
    ];
    lines.push("op _;_ : Nat Nat -> Nat [ctor comm] .".into());
    if braces && random.percent(30) {
        lines.push("rl [top] : {a(X) S} => {S b(X)} .".into());
    }
    if random.percent(15) {
        lines.push("eq a(0) b(2) = t .".into());
    }
    for _ in 0..1 + random.below(5) {
        lines.push(random.pick(&rules).to_owned());
    }
    lines.sort();
    lines.dedup();
    // Declarations come before what uses them.
    lines.sort_by_key(|line| line.starts_with("rl") || line.starts_with("crl") || line.starts_with("eq"));
    let element = |random: &mut Random| match random.below(6) {
        0 | 1 => format!("a({})", random.below(3)),
        2 => format!("b({})", random.below(3)),
        3 => format!("c({}, {})", random.below(3), random.below(3)),
        4 => format!("in(a({}))", random.below(3)),
        _ => "t".to_owned(),
    };
    let count = 1 + random.below(5);
    let soup: Vec<String> = (0..count).map(|_| element(random)).collect();
    let soup = soup.join(" ");
    let init = if braces { format!("{{{soup}}}") } else { soup };
    lines.push(format!("op init : -> {} .", if braces { "State" } else { "Soup" }));
    lines.push(format!("eq init = {init} ."));
    format!("mod SOUP is\n  {}\nendm\n", lines.join("\n  "))
}

/// What a rule would do to an element does not matter as long as its partner is not there, even if it never ends.
#[test]
fn what_does_not_happen_is_not_computed() {
    let text = "mod M is
        protecting NAT .
        sorts Thing Soup .
        subsort Thing < Soup .
        op __ : Soup Soup -> Soup [ctor assoc comm] .
        ops a b : Nat -> Thing [ctor] .
        op grow : Nat -> Nat .
        var X : Nat .
        eq grow(X) = grow(s X) .
        rl [never] : a(X) b(X) => a(grow(X)) b(X) .
        crl [turn] : a(X) => a(s X) if X < 3 .
        op init : -> Soup .
        eq init = a(0) b(7) .
    endm";
    let (states, steps) = system(0, text, false, 1);
    assert_eq!((states, steps.len()), (4, 3));
}
