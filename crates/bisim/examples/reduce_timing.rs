//! Times a reduction of a system, generated or read from a file, by us or by MERC, and shows the peak of memory.
//!
//! `cargo run --release -p bisim --example reduce_timing -- KIND|FILE.aut RELATION [STATES] [merc]`

use std::time::Instant;

use bisim::{Relation, reduce};
use lts::{LabelId, Lts, LtsBuilder, StateId};
use merc_lts::LTS;
use merc_reduction::Equivalence;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kind, relation, rest @ ..] = &arguments[..] else {
        eprintln!(
            "usage: reduce_timing random|cycles|chain|silent-chain|hub|FILE.aut RELATION [STATES] [merc]"
        );
        return;
    };
    let states = rest.first().map_or(1_000_000, |states| states.parse().expect("a number of states"));
    let relation: Relation = relation.parse().expect("a relation");
    let lts = match kind.ends_with(".aut") {
        true => {
            lts::read_aut(kind.as_ref(), &Default::default(), &lts::Progress::new()).expect("a readable file")
        }
        false => generate(kind, states),
    };
    println!("{} states, {} transitions, {}", lts.state_count(), lts.transition_count(), peak());
    if rest.get(1).is_some_and(|peer| peer == "merc") {
        return time_merc(&lts, relation);
    }
    let start = Instant::now();
    let reduced = reduce(&lts, relation).expect("small enough");
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{relation}: {} states, {} transitions, {seconds:.3} s, {}",
        reduced.state_count(),
        reduced.transition_count(),
        peak()
    );
}

fn time_merc(lts: &Lts, relation: Relation) {
    let equivalence = match relation {
        Relation::Strong => Equivalence::StrongBisim,
        Relation::Branching => Equivalence::BranchingBisim,
        Relation::DivergencePreservingBranching => Equivalence::BranchingBisimDivergencePreserving,
        Relation::Weak => Equivalence::WeakBisim,
        _ => panic!("MERC has no such relation"),
    };
    let mut text = format!("des (0, {}, {})\n", lts.transition_count(), lts.state_count());
    for step in lts.transitions() {
        text.push_str(&format!("({}, \"{}\", {})\n", step.source, lts.label(step.label), step.target));
    }
    let merc = merc_lts::read_aut(text.as_bytes()).expect("what we have written");
    drop(text);
    let start = Instant::now();
    let reduced = merc_reduction::reduce_lts(merc, equivalence, true, &merc_utilities::Timing::new());
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "MERC, {relation}: {} states, {} transitions, {seconds:.3} s",
        reduced.num_of_states(),
        reduced.num_of_transitions()
    );
}

/// The most memory this process has used so far, where the system tells.
fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
    line.replace("VmHWM:", "peak").split_whitespace().collect::<Vec<_>>().join(" ")
}

fn generate(kind: &str, states: usize) -> Lts {
    let mut builder = LtsBuilder::new();
    let state = StateId::new;
    let a = builder.label("A");
    let mut seed = 42u64;
    let mut random = move |bound: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed >> 11) as usize % bound
    };
    match kind {
        // Five transitions a state on average, ten labels, one of them internal.
        "random" => {
            let mut labels = vec![LabelId::TAU];
            labels.extend((1..10).map(|number| builder.label(&format!("A{number}"))));
            let mut degrees = vec![0u32; states];
            (0..5 * states).for_each(|_| degrees[random(states)] += 1);
            for (source, &degree) in degrees.iter().enumerate() {
                for _ in 0..degree {
                    builder.add(state(source), labels[random(10)], state(random(states)));
                }
            }
        }
        // Six interleaved cycles of ten steps, of which four are visible.
        "cycles" => {
            let labels: Vec<LabelId> = (0..60)
                .map(|place| match place % 10 % 3 {
                    0 => builder.label(&format!("C{place}")),
                    _ => LabelId::TAU,
                })
                .collect();
            for source in 0..1_000_000 {
                for cycle in 0..6 {
                    let power = 10usize.pow(cycle);
                    let digit = source / power % 10;
                    let target = source - digit * power + (digit + 1) % 10 * power;
                    builder.add(state(source), labels[cycle as usize * 10 + digit], state(target));
                }
            }
        }
        "chain" => (0..states).for_each(|at| builder.add(state(at), a, state(at + 1))),
        "silent-chain" => (0..states).for_each(|at| {
            builder.add(state(at), if at % 2 == 0 { LabelId::TAU } else { a }, state(at + 1));
        }),
        // A chain, and eight states that lead to each of its states.
        "hub" => {
            (0..states).for_each(|at| builder.add(state(at), a, state(at + 1)));
            let hub = builder.label("HUB");
            for source in states + 1..states + 9 {
                (0..=states).for_each(|at| builder.add(state(source), hub, state(at)));
            }
            builder.set_initial(state(states + 1));
        }
        _ => panic!("unknown kind of system: {kind}"),
    }
    builder.finish().expect("small enough")
}
