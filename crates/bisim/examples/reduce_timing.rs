//! Times the reductions on generated systems: `reduce_timing random|cycles|chain|... RELATION [STATES]`.
use bisim::{Relation, reduce};
use lts::{LabelId, Lts, LtsBuilder, StateId};
use std::time::Instant;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let size: usize = arguments.get(2).map_or(1_000_000, |size| size.parse().unwrap());
    let lts = build(&arguments[0], size);
    let relation: Relation = arguments[1].parse().unwrap();
    println!("{} states {} transitions, peak {} MB", lts.state_count(), lts.transition_count(), peak());
    let start = Instant::now();
    let reduced = reduce(&lts, relation).unwrap();
    println!(
        "{relation}: {} states {} transitions in {:.3} s, peak {} MB",
        reduced.state_count(),
        reduced.transition_count(),
        start.elapsed().as_secs_f64(),
        peak()
    );
}

fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
}

fn build(kind: &str, size: usize) -> Lts {
    let mut b = LtsBuilder::new();
    let mut seed = 42u64;
    let mut random = move |bound: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        ((seed >> 11) as usize) % bound
    };
    let s = StateId::new;
    match kind {
        "random" => {
            let labels: Vec<LabelId> =
                (0..10).map(|n| if n == 0 { LabelId::TAU } else { b.label(&format!("A{n}")) }).collect();
            // counts per source first, so that sources come sorted
            let mut counts = vec![0u32; size];
            for _ in 0..5 * size {
                counts[random(size)] += 1;
            }
            for (source, &count) in counts.iter().enumerate() {
                for _ in 0..count {
                    b.add(s(source), labels[random(10)], s(random(size)));
                }
            }
        }
        "cycles" => {
            let label = |b: &mut LtsBuilder, c: usize, p: usize| {
                if p % 3 == 0 {
                    b.label(&format!("C{c}_{p}"))
                } else if p == 9 {
                    LabelId::TAU
                } else {
                    LabelId::TAU
                }
            };
            for source in 0..1_000_000usize {
                let mut power = 1;
                for c in 0..6 {
                    let digit = source / power % 10;
                    let target = source - digit * power + (digit + 1) % 10 * power;
                    let l = label(&mut b, c, digit);
                    b.add(s(source), l, s(target));
                    power *= 10;
                }
            }
        }
        "chain" => {
            let a = b.label("A");
            for n in 0..size {
                b.add(s(n), a, s(n + 1));
            }
        }
        "tau-chain" => {
            let a = b.label("A");
            for n in 0..size {
                b.add(s(n), if n % 2 == 0 { LabelId::TAU } else { a }, s(n + 1));
            }
        }
        "hub" => {
            // every state of a chain, and one hub that leads to all of them; twice, so that the hubs stay together
            let a = b.label("A");
            let h = b.label("H");
            for n in 0..size {
                b.add(s(n), a, s(n + 1));
            }
            for hub in 0..8 {
                for n in 0..=size {
                    b.add(s(size + 1 + hub), h, s(n));
                }
            }
            b.set_initial(s(size + 1));
        }
        "random20" => {
            let labels: Vec<LabelId> = (0..50).map(|n| b.label(&format!("A{n}"))).collect();
            for source in 0..size {
                for _ in 0..5 {
                    b.add(s(source), labels[random(50)], s(random(size)));
                }
            }
        }
        _ => panic!("unknown kind"),
    }
    b.finish().unwrap()
}
