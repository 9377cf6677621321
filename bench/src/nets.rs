//! Petri nets with growing parameters, against Spin on the Promela programs that Watershed makes of them.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::{RESULTS, WATERSHED, number_after, output, spin};

/// A family of nets: its name, its parameters, the extension of its files, and their text.
type Family = (&'static str, &'static [usize], &'static str, fn(usize) -> String);

const FAMILIES: [Family; 5] = [
    ("philosophers", &[8, 9, 10, 11, 12, 13], "pnml", philosophers),
    ("kanban", &[2, 3, 4, 5], "pnml", kanban),
    ("manufacturing", &[2, 3, 4, 5], "pnml", manufacturing),
    ("letter ring", &[5, 6, 7], "pnml", letter_ring),
    ("sorting", &[7, 8, 9, 10], "net", sorting),
];

/// Runs of each side: at least this many, and as many as fit into the time.
const TURNS: usize = 3;
const TIME: Duration = Duration::from_secs(5);

/// Below this many seconds, Spin's hundredths say too little for a ratio.
const SHORT: f64 = 0.1;

pub fn section() {
    if !spin::is_installed() {
        println!("nets: skipped, because spin is not installed (apt-get install spin)\n");
        return;
    }
    println!("## Nets, against Spin\n");
    println!(
        "One thread each, in turns, the best of each; time is of the search alone for both. Spin's verifier is"
    );
    println!(
        "made of `watershed net FILE --promela P --d-step`, with -O2 -DSAFETY -DNOREDUCE and a hash table that fits. Bytes per marking: the peak of the"
    );
    println!(
        "process beyond that of the smallest net for us, the memory for states alone for Spin. No ratio is given where Spin"
    );
    println!(
        "takes less than {SHORT} s. Processor time is that of the whole process: it depends less on what else the machine does.\n"
    );
    println!(
        "| net | markings | transitions | ours | Spin | transitions/s, ours over Spin's | by processor time | bytes per marking, ours / Spin | µs per marking, ours / Spin |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|---:|");
    let folder = format!("{RESULTS}/nets");
    fs::create_dir_all(&folder).expect("a folder for nets");
    let smallest = format!("{folder}/smallest.pnml");
    fs::write(&smallest, philosophers(2)).expect("a writable file");
    let least = Explored::new(&smallest).bytes;
    for (name, parameters, extension, text) in FAMILIES {
        for &parameter in parameters {
            let stem = format!("{folder}/{}_{parameter}", name.replace(' ', "_"));
            let file = format!("{stem}.{extension}");
            fs::write(&file, text(parameter)).expect("a writable file");
            row(&format!("{name} {parameter}"), &stem, &file, least);
        }
    }
    println!();
}

fn row(name: &str, stem: &str, file: &str, least: f64) {
    let promela = format!("{stem}.pml");
    // The program does not depend on how much is explored, so little is; that a limit is reached is expected.
    let export = ["net", file, "--promela", &promela, "--d-step", "--max-states", "1000", "-q"];
    let status = Command::new(WATERSHED).args(export).status().expect("a program");
    assert!(matches!(status.code(), Some(0 | 3)), "{export:?} failed");
    spin::compile(Path::new(&promela), stem, &["-O2", "-DVECTORSZ=65536"]);
    let mut ours = Explored::new(file);
    // A hash table of four slots a marking is faster than Spin's usual one of 16M slots, and no run without a cycle is
    // longer than there are markings. -O3 is no faster than -O2.
    let table = format!("-w{}", (4.0 * ours.states).log2().ceil());
    let depth = format!("-m{}", ours.states);
    let options = [table.as_str(), depth.as_str()];
    let mut peer = spin::search(stem, &options);
    let start = Instant::now();
    let mut turns = 1;
    while turns < TURNS || start.elapsed() < TIME {
        turns += 1;
        let (again, search) = (Explored::new(file), spin::search(stem, &options));
        // Each is the best of all turns, the time of the search and that of the processor.
        ours.seconds = ours.seconds.min(again.seconds);
        ours.processor = ours.processor.min(again.processor);
        peer.seconds = peer.seconds.min(search.seconds);
        peer.processor = peer.processor.min(search.processor);
    }
    assert_eq!(ours.states, peer.states, "{name}: Spin finds another number of markings");
    // Both fire the same transitions (Spin counts its first step as one more), so times are compared.
    let ratio = |ours: f64, peer: f64| match peer < SHORT {
        true => "–".to_owned(),
        false => format!("{:.2}", peer / ours),
    };
    let micros = |seconds: f64| 1e6 * seconds / ours.states;
    println!(
        "| {name} | {} | {} | {:.3} s | {:.2} s | {} | {} | {:.0} / {:.0} | {:.2} / {:.2} |",
        ours.states,
        ours.transitions,
        ours.seconds,
        peer.seconds,
        ratio(ours.seconds, peer.seconds),
        ratio(ours.processor, peer.processor),
        (ours.bytes - least).max(0.0) / ours.states,
        peer.bytes / peer.states,
        micros(ours.seconds),
        micros(peer.seconds)
    );
}

/// What an exploration says about itself.
struct Explored {
    states: f64,
    transitions: f64,
    seconds: f64,
    processor: f64,
    bytes: f64,
}

impl Explored {
    fn new(file: &str) -> Self {
        let (json, processor) =
            output(Command::new(WATERSHED).args(["explore", file, "--threads", "1", "--json"]));
        let key = |name: &str| number_after(&json, &format!("\"{name}\":"));
        let found = Self {
            states: key("states"),
            transitions: key("transitions"),
            seconds: key("seconds"),
            processor,
            bytes: key("peak_bytes"),
        };
        assert!(found.states > 0.0, "{file}: {json}");
        found
    }
}

/// A place/transition net in PNML: places with their tokens, transitions with what they take and put, and how many.
#[derive(Default)]
struct Flat {
    nodes: String,
    arcs: String,
    count: usize,
}

impl Flat {
    fn place(&mut self, name: &str, tokens: usize) {
        write!(
            self.nodes,
            "<place id=\"{name}\"><name><text>{name}</text></name><initialMarking><text>{tokens}</text></initialMarking></place>\n"
        )
        .expect("strings can be written");
    }

    fn transition(&mut self, name: &str, takes: &[(&str, usize)], puts: &[(&str, usize)]) {
        writeln!(self.nodes, "<transition id=\"{name}\"><name><text>{name}</text></name></transition>")
            .expect("strings can be written");
        for (place, weight) in takes {
            self.arc(place, name, *weight);
        }
        for (place, weight) in puts {
            self.arc(name, place, *weight);
        }
    }

    fn arc(&mut self, source: &str, target: &str, weight: usize) {
        self.count += 1;
        writeln!(
            self.arcs,
            "<arc id=\"a{}\" source=\"{source}\" target=\"{target}\"><inscription><text>{weight}</text></inscription></arc>",
            self.count
        )
        .expect("strings can be written");
    }

    fn pnml(&self) -> String {
        document("ptnet", &format!("<page id=\"page\">\n{}{}</page>", self.nodes, self.arcs))
    }
}

fn document(kind: &str, inside: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?>\n<pnml xmlns=\"http://www.pnml.org/version-2009/grammar/pnml\">\n<net id=\"net\" \
         type=\"http://www.pnml.org/version-2009/grammar/{kind}\">\n{inside}\n</net>\n</pnml>\n"
    )
}

/// The philosophers of the Model Checking Contest, who take their forks in any order and put both back at once: 3^n.
fn philosophers(n: usize) -> String {
    let mut net = Flat::default();
    for i in 0..n {
        for (kind, tokens) in [("think", 1), ("fork", 1), ("left", 0), ("right", 0), ("eat", 0)] {
            net.place(&format!("{kind}{i}"), tokens);
        }
    }
    for i in 0..n {
        let name = |kind: &str| format!("{kind}{i}");
        let (think, left, right, eat) = (name("think"), name("left"), name("right"), name("eat"));
        let (own, next) = (name("fork"), format!("fork{}", (i + 1) % n));
        net.transition(&name("takeleft"), &[(&think, 1), (&own, 1)], &[(&left, 1)]);
        net.transition(&name("takeright"), &[(&think, 1), (&next, 1)], &[(&right, 1)]);
        net.transition(&name("thenright"), &[(&left, 1), (&next, 1)], &[(&eat, 1)]);
        net.transition(&name("thenleft"), &[(&right, 1), (&own, 1)], &[(&eat, 1)]);
        net.transition(&name("stop"), &[(&eat, 1)], &[(&think, 1), (&own, 1), (&next, 1)]);
    }
    net.pnml()
}

/// A production line of four cells with n tickets each (Ciardo and Tilgner, 1996); see `models/kanban`.
fn kanban(n: usize) -> String {
    let mut net = Flat::default();
    for i in 1..=4 {
        for (kind, tokens) in [("working", 0), ("rework", 0), ("done", 0), ("ticket", n)] {
            net.place(&format!("{kind}{i}"), tokens);
        }
    }
    net.transition("enter", &[("ticket1", 1)], &[("working1", 1)]);
    for i in 1..=4 {
        let name = |kind: &str| format!("{kind}{i}");
        let (working, rework, done) = (name("working"), name("rework"), name("done"));
        net.transition(&name("finish"), &[(&working, 1)], &[(&done, 1)]);
        net.transition(&name("fail"), &[(&working, 1)], &[(&rework, 1)]);
        net.transition(&name("repair"), &[(&rework, 1)], &[(&working, 1)]);
    }
    let once = |places: [&'static str; 3]| places.map(|place| (place, 1));
    net.transition(
        "split",
        &once(["done1", "ticket2", "ticket3"]),
        &once(["ticket1", "working2", "working3"]),
    );
    net.transition("join", &once(["done2", "done3", "ticket4"]), &once(["ticket2", "ticket3", "working4"]));
    net.transition("leave", &[("done4", 1)], &[("ticket4", 1)]);
    net.pnml()
}

/// A flexible manufacturing system with n parts of each of three kinds, which leave n at a time, in the manner of Ciardo
/// and Trivedi (1993).
fn manufacturing(n: usize) -> String {
    let mut net = Flat::default();
    let empty = ["P1wM1", "P1M1", "P1d", "P1s", "P1wP2", "P2wM2", "P2M2", "P2d", "P2s", "P2wP1"];
    for place in empty.into_iter().chain(["P12", "P12wM3", "P12M3", "P12s", "P3M2", "P3s"]) {
        net.place(place, 0);
    }
    for (place, tokens) in [("P1", n), ("P2", n), ("P3", n), ("M1", 3), ("M2", 1), ("M3", 2)] {
        net.place(place, tokens);
    }
    let steps: [(&str, &[&str], &[&str]); 17] = [
        ("tP1", &["P1"], &["P1wM1"]),
        ("tM1", &["P1wM1", "M1"], &["P1M1"]),
        ("tP1M1", &["P1M1"], &["P1d", "M1"]),
        ("tP1e", &["P1d"], &["P1s"]),
        ("tP1j", &["P1d"], &["P1wP2"]),
        ("tP2", &["P2"], &["P2wM2"]),
        ("tM2", &["P2wM2", "M2"], &["P2M2"]),
        ("tP2M2", &["P2M2"], &["P2d", "M2"]),
        ("tP2e", &["P2d"], &["P2s"]),
        ("tP2j", &["P2d"], &["P2wP1"]),
        ("tx", &["P1wP2", "P2wP1"], &["P12"]),
        ("tP12", &["P12"], &["P12wM3"]),
        ("tM3", &["P12wM3", "M3"], &["P12M3"]),
        ("tP12M3", &["P12M3"], &["P12s", "M3"]),
        ("tP12s", &["P12s"], &["P1", "P2"]),
        ("tP3", &["P3", "M2"], &["P3M2"]),
        ("tP3M2", &["P3M2"], &["P3s", "M2"]),
    ];
    for (name, takes, puts) in steps {
        let once = |places: &[&'static str]| places.iter().map(|place| (*place, 1)).collect::<Vec<_>>();
        net.transition(name, &once(takes), &once(puts));
    }
    for (name, takes, puts) in [("tP1s", "P1s", "P1"), ("tP2s", "P2s", "P2"), ("tP3s", "P3s", "P3")] {
        net.transition(name, &[(takes, n)], &[(puts, n)]);
    }
    net.pnml()
}

/// Letters on a ring of n stations with room for one each, a symmetric net: (n+1)^n - 1; see `models/letter_ring`.
fn letter_ring(n: usize) -> String {
    let text = fs::read_to_string("models/letter_ring/letter_ring.pnml").expect("the bundled model");
    let (before, rest) = text.split_once("<cyclicenumeration>").expect("its stations");
    let (_, after) = rest.split_once("</cyclicenumeration>").expect("their end");
    let stations: String = (0..n).map(|i| format!("<feconstant id=\"s{i}\" name=\"s{i}\"/>\n")).collect();
    format!("{before}<cyclicenumeration>\n{stations}</cyclicenumeration>{after}")
}

/// Numbers that are sorted by exchanging neighbours, the largest first in the beginning: n!.
fn sorting(n: usize) -> String {
    let row: Vec<String> = (1..=n).map(|i| format!("At ({i}, {})", n + 1 - i)).collect();
    format!(
        "net SORTING is
   type NUMBER is range 1 .. {n} of nat with \"==\", \"<\", \">\" end type
   place At : NUMBER, NUMBER
   transition Exchange (p, q, a, b)
      take At (p, a), At (q, b)
      where (nat (q) == nat (p) + 1) and (a > b)
      put At (p, b), At (q, a)
   end transition
   marking REVERSED is {} end marking
end net
",
        row.join(", ")
    )
}
