//! Random systems with propositions, as Maude modules, and formulas that linear temporal logic and MCL can both say.
//!
//! MCL talks of labels alone. So a second module gives every state a step to itself for each proposition that holds in it:
//! there, `<"p"> true` says that p holds, and the steps of the system are those that are called otherwise.

#[path = "numbers.rs"]
mod numbers;

use numbers::Random;

/// A system: module `SYSTEM-n` with the propositions, `SHOWN-n` with their steps, and formulas.
pub struct System {
    /// The text of both modules.
    pub text: String,
    /// Terms of propositions and the labels that show them.
    pub propositions: Vec<(String, String)>,
    pub formulas: Vec<Formula>,
}

/// A formula in both logics.
pub struct Formula {
    pub linear: String,
    pub mcl: String,
}

/// The system of a seed with a number of formulas.
pub fn system(seed: u64, formulas: usize) -> System {
    let random = &mut Random::new(seed);
    let mut lines = vec!["including MODEL-CHECKER .".to_owned()];
    let mut propositions: Vec<(String, String)> =
        ["p", "q"].iter().map(|name| (name.to_string(), name.to_string())).collect();
    lines.push("ops p q : -> Prop [ctor] .".into());
    match random.below(4) {
        0 => graph(random, &mut lines),
        1 => {
            cells(random, &mut lines, "assoc comm id: none");
            lines.push("op has : Cell -> Prop [ctor] .".into());
            lines.push("eq {C S} |= has(C) = true .".into());
            propositions.push(("has(b)".into(), "hasB".into()));
        }
        2 => cells(random, &mut lines, "assoc id: none"),
        _ => counters(random, &mut lines),
    }
    for (name, _) in &propositions[..2] {
        // What has no value does not hold either.
        if random.percent(50) {
            lines.push(format!("eq X:State |= {name} = false [owise] ."));
        }
    }
    let mut text = format!("mod SYSTEM-{seed} is\n  {}\nendm\n", lines.join("\n  "));
    text += &format!("mod SHOWN-{seed} is\n  including SYSTEM-{seed} .\n");
    for (term, label) in &propositions {
        text += &format!("  crl [{label}] : X:State => X:State if X:State |= {term} = true .\n");
    }
    text += "endm\n";
    let formulas = (0..formulas).map(|_| formula(random, &propositions)).collect();
    System { text, propositions, formulas }
}

/// States are constants; steps, loops and deadlocks are wherever they fall.
fn graph(random: &mut Random, lines: &mut Vec<String>) {
    let count = 2 + random.below(5);
    let names: Vec<String> = (0..count).map(|at| format!("s{at}")).collect();
    lines.push(format!("ops {} init : -> State [ctor] .", names.join(" ")));
    lines.push("eq init = s0 .".into());
    for name in &names {
        for proposition in ["p", "q"] {
            if random.percent(45) {
                lines.push(format!("eq {name} |= {proposition} = true ."));
            }
        }
    }
    for at in 0..1 + random.below(2 * count) {
        let label = label(random, at);
        let (from, to) = (random.pick(&names), random.pick(&names));
        lines.push(format!("rl {label}{from} => {to} ."));
    }
}

/// Some rules have no label.
fn label(random: &mut Random, at: usize) -> String {
    if random.percent(70) { format!("[step{at}] : ") } else { String::new() }
}

/// States are cells in a frame; rules don't make more of them.
fn cells(random: &mut Random, lines: &mut Vec<String>, laws: &str) {
    lines.push("sorts Cell Cells .".into());
    lines.push("subsort Cell < Cells .".into());
    lines.push("ops a b c : -> Cell [ctor] .".into());
    lines.push("op none : -> Cells [ctor] .".into());
    lines.push(format!("op __ : Cells Cells -> Cells [ctor {laws}] ."));
    lines.push("op {_} : Cells -> State [ctor] .".into());
    lines.push("op init : -> State .".into());
    lines.push("var C : Cell .".into());
    lines.push("vars S T : Cells .".into());
    let size = 2 + random.below(3);
    let start = some(random, size);
    lines.push(format!("eq init = {{{start}}} ."));
    for proposition in ["p", "q"] {
        let pattern = match random.below(3) {
            0 => format!("S {} T", some(random, 1)),
            1 => format!("{} S", some(random, 1)),
            _ => "C S C".into(),
        };
        let condition = if random.percent(30) { " if S =/= none" } else { "" };
        let c = if condition.is_empty() { "" } else { "c" };
        lines.push(format!("{c}eq {{{pattern}}} |= {proposition} = true{condition} ."));
    }
    for at in 0..1 + random.below(4) {
        let label = label(random, at);
        let taken = 1 + random.below(2);
        let given = taken - usize::from(random.percent(15));
        let (left, right) = (some(random, taken), some(random, given));
        match random.below(3) {
            0 => lines.push(format!("rl {label}{left} => {right} .")),
            1 => lines.push(format!("rl {label}{{S {left} T}} => {{T {right} S}} .")),
            _ => {
                let other = some(random, 1);
                lines.push(format!("crl {label}{{{left} S}} => {{S {right}}} if S =/= {other} ."));
            }
        }
    }
}

fn some(random: &mut Random, count: usize) -> String {
    if count == 0 {
        return "none".into();
    }
    (0..count).map(|_| random.pick(&["a", "b", "c"])).collect::<Vec<_>>().join(" ")
}

/// States are two small numbers.
fn counters(random: &mut Random, lines: &mut Vec<String>) {
    lines.push("protecting NAT .".into());
    lines.push("op <_,_> : Nat Nat -> State [ctor] .".into());
    lines.push("op init : -> State .".into());
    lines.push("vars N M : Nat .".into());
    lines.push(format!("eq init = < {}, {} > .", random.below(3), random.below(3)));
    let numbers = [0, 1, 2, 3];
    lines.push(format!("eq < N, {} > |= p = true .", random.pick(&numbers)));
    lines.push(match random.below(3) {
        0 => "eq < N, N > |= q = true .".into(),
        1 => format!("ceq < N, M > |= q = true if N + M > {} .", random.pick(&numbers)),
        _ => "eq < s N, M > |= q = N < M .".into(),
    });
    for at in 0..1 + random.below(4) {
        let label = label(random, at);
        let bound = random.pick(&numbers);
        lines.push(match random.below(5) {
            0 => format!("crl {label}< N, M > => < s N, M > if N < {bound} ."),
            1 => format!("crl {label}< s N, M > => < N, s M > if M < 3 ."),
            2 => format!("rl {label}< N, s s M > => < N, M > ."),
            3 => format!("rl {label}< N, M > => < M, N > ."),
            _ => format!("crl {label}< N, M > => < {bound}, M rem 2 > if N =/= M ."),
        });
    }
}

/// What holds in a state.
fn condition(random: &mut Random, propositions: &[(String, String)], depth: usize) -> Formula {
    match random.below(if depth == 0 { 2 } else { 5 }) {
        2 => {
            let inner = condition(random, propositions, depth - 1);
            Formula { linear: format!("(~ {})", inner.linear), mcl: format!("(not {})", inner.mcl) }
        }
        kind @ (3 | 4) => {
            let one = condition(random, propositions, depth - 1);
            let two = condition(random, propositions, depth - 1);
            let (linear, mcl) = if kind == 3 { ("/\\", "and") } else { ("\\/", "or") };
            Formula {
                linear: format!("({} {linear} {})", one.linear, two.linear),
                mcl: format!("({} {mcl} {})", one.mcl, two.mcl),
            }
        }
        _ => {
            let (term, label) = random.pick(propositions);
            Formula { linear: term, mcl: format!("(< \"{label}\" > true)") }
        }
    }
}

/// A formula about all runs. A run that comes to a deadlock stays there for ever, in both logics: `every` and `some` say what
/// comes next with that in mind.
fn formula(random: &mut Random, propositions: &[(String, String)]) -> Formula {
    let labels: Vec<String> = propositions.iter().map(|(_, label)| format!("\"{label}\"")).collect();
    let step = format!("(not ({}))", labels.join(" or "));
    let every = |then: &str| format!("([ {step} ] {then} and (< {step} > true or {then}))");
    let some = |then: &str| format!("(< {step} > {then} or ([ {step} ] false and {then}))");
    let always = |then: &str| format!("[ {step}* ] ({then})");
    let eventually = |what: &str| format!("(mu X . ({what} or {}))", every("X"));
    let first = condition(random, propositions, 1);
    let second = condition(random, propositions, 1);
    let (f, g) = (first.linear, second.linear);
    let (one, two) = (first.mcl, second.mcl);
    let (linear, mcl) = match random.below(14) {
        0 => (format!("[] {f}"), always(&one)),
        1 => (format!("<> {f}"), eventually(&one)),
        2 => (format!("[] ({f} -> <> {g})"), always(&format!("{one} implies {}", eventually(&two)))),
        3 => (format!("[] <> {f}"), always(&eventually(&one))),
        4 => (format!("{f} U {g}"), format!("mu X . ({two} or ({one} and {}))", every("X"))),
        5 => (format!("{f} W {g}"), format!("nu X . ({two} or ({one} and {}))", every("X"))),
        6 => (format!("{f} R {g}"), format!("nu X . ({two} and ({one} or {}))", every("X"))),
        7 => (format!("O {f}"), every(&one)),
        8 => (format!("{f} |-> {g}"), always(&format!("{one} implies {}", eventually(&two)))),
        9 => (format!("[] ({f} -> O {g})"), always(&format!("{one} implies {}", every(&two)))),
        10 => (format!("<> [] {f}"), format!("mu X . nu Y . (({one} or {}) and {})", every("X"), every("Y"))),
        // The others say that there is no run that does otherwise.
        11 => {
            let again = format!("nu X . mu Y . (not {two} and (({one} and {}) or {}))", some("X"), some("Y"));
            (format!("([] <> {f}) -> ([] <> {g})"), format!("not (< {step}* > ({again}))"))
        }
        12 => {
            let never = format!("(nu X . (not {two} and {}))", some("X"));
            let run = format!("mu Y . (not {two} and (({one} and {never}) or {}))", some("Y"));
            (format!("(<> {f}) -> (<> {g})"), format!("not ({run})"))
        }
        _ => {
            let next = some(&format!("(not {two} and X)"));
            let run = format!("nu X . ((not {one} and {}) or {next})", some("X"));
            (format!("<> ({f} /\\ O {g})"), format!("not ({run})"))
        }
    };
    Formula { linear, mcl }
}
