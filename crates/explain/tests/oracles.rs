//! The answers of the tool of the thesis, where they lie beside the checkout.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use explain::{Kind, Method, Options, Property, Tag, Tagged};
use lts::{Lts, Progress};

fn oracle(name: &str) -> Option<PathBuf> {
    // Beside a checkout, or beside a worktree of it.
    let places = ["../../../shared", "../../../../shared"];
    let found = places.iter().map(|place| Path::new(place).join("oracles/clear").join(name));
    let found = found.into_iter().find(|path| path.exists());
    if found.is_none() {
        println!("skipped: {name} is not there");
    }
    found
}

fn read(path: &Path) -> Lts {
    lts::read_aut(path, &Default::default(), &Progress::new()).unwrap()
}

fn property(path: &Path) -> Property {
    let mut sources = source::Sources::new();
    let loaded = logic::load_properties(path, &mut sources).unwrap();
    Property::of(&loaded.properties[0].formula).unwrap()
}

/// The method of the tool whose answers these are.
fn as_clear() -> Options {
    Options { method: Some(Method::Counterexample), ..Options::default() }
}

/// One row of the table: sizes, tags, neighbourhoods, shortest counterexample.
struct Row {
    system: &'static str,
    property: &'static str,
    full: [usize; 2],
    counterexample: [usize; 2],
    tags: [u64; 3],
    neighbourhoods: [u64; 4],
    shortest: usize,
    /// The length of the shortest counterexample after abstraction, where the thesis gives it.
    abstracted: Option<usize>,
}

const TABLE: [Row; 5] = [
    Row {
        system: "interleaving_bug/INTERLEAVING.aut",
        property: "interleaving_bug/prop.mcl",
        full: [13, 18],
        counterexample: [13, 17],
        tags: [1, 12, 5],
        neighbourhoods: [0, 5, 1, 0],
        shortest: 1,
        abstracted: None,
    },
    Row {
        system: "iteration_bug/ITERATION.aut",
        property: "iteration_bug/prop.mcl",
        full: [65, 105],
        counterexample: [78, 104],
        tags: [12, 13, 91],
        neighbourhoods: [0, 0, 1, 9],
        shortest: 3,
        abstracted: None,
    },
    Row {
        system: "causality_bug/COMMPROC.aut",
        property: "causality_bug/prop.mcl",
        full: [249, 646],
        counterexample: [177, 452],
        tags: [30, 78, 374],
        neighbourhoods: [25, 0, 0, 4],
        shortest: 15,
        abstracted: None,
    },
    Row {
        system: "shifumi_3/game_3.aut",
        property: "shifumi_3/prop_v3_game_3.mcl",
        full: [193, 690],
        counterexample: [499, 1814],
        tags: [90, 798, 1016],
        neighbourhoods: [30, 53, 10, 18],
        shortest: 7,
        abstracted: Some(2),
    },
    Row {
        system: "multiway_rendezvous_protocol/implem.aut",
        property: "multiway_rendezvous_protocol/prop.mcl",
        full: [1318, 3217],
        counterexample: [539, 1186],
        tags: [158, 469, 717],
        neighbourhoods: [143, 8, 4, 4],
        shortest: 47,
        abstracted: Some(22),
    },
];

#[test]
fn sizes_tags_and_neighbourhoods_are_those_of_the_table() {
    for row in TABLE {
        let (Some(system), Some(formula)) = (oracle(row.system), oracle(row.property)) else { continue };
        let lts = read(&system);
        let tagged = property(&formula).tag(&lts, &as_clear(), &Progress::new()).unwrap().unwrap();
        assert_eq!([lts.state_count(), lts.transition_count()], row.full, "{}", row.system);
        let size = [tagged.state_count(), tagged.inner_transition_count()];
        assert_eq!(size, row.counterexample, "{}", row.system);
        assert_eq!(tagged.tag_counts(), row.tags, "{}", row.system);
        let counts = tagged.neighbourhood_counts();
        assert_eq!(Kind::ALL.map(|kind| counts.of(kind)), row.neighbourhoods, "{}", row.system);
        let run = tagged.shortest_run().unwrap();
        assert_eq!(run.steps.len(), row.shortest, "{}", row.system);
        if let Some(abstracted) = row.abstracted {
            // Of the shortest runs ours is one with the shortest abstraction.
            assert!(tagged.abstraction(&run, None).len() <= abstracted, "{}", row.system);
        }
    }
}

/// The tagged system of a dump: transitions with a colour, states with the letters of their neighbourhood.
#[derive(Debug, Default)]
struct Dump {
    /// Source, label with its tag, target; the sink is a state like any other.
    transitions: BTreeSet<(usize, String, usize)>,
    /// What is said of each state.
    states: BTreeMap<usize, String>,
}

const SINK: usize = usize::MAX;

fn read_dump(path: &Path) -> Dump {
    let mut dump = Dump::default();
    for line in std::fs::read_to_string(path).unwrap().lines().skip(1).filter(|line| !line.trim().is_empty())
    {
        let line = line.trim().trim_start_matches('(').trim_end_matches(')');
        let (source, rest) = line.split_once(", \"").unwrap();
        let (label, rest) = rest.rsplit_once("\":").unwrap();
        let (colour, target) = rest.split_once(", ").unwrap();
        let (source, letters) = match source.split_once(":N:") {
            Some((source, letters)) => (source, letters),
            None => (source, ""),
        };
        let source = source.parse().unwrap();
        let target = if target == "-1" { SINK } else { target.parse().unwrap() };
        dump.transitions.insert((source, format!("{label} {colour}"), target));
        dump.states.insert(source, letters.to_owned());
        dump.states.entry(target).or_default();
    }
    dump
}

fn dump_of(tagged: &Tagged<'_>) -> Dump {
    let mut dump = Dump::default();
    for node in 0..tagged.state_count() as u32 {
        let letters = tagged.neighbourhood(node).map_or("", |one| match one.kind {
            Kind::Cn => "G",
            Kind::In => "R",
            Kind::Ci => "GR",
            Kind::Cin => "GRB",
        });
        dump.states.insert(node as usize, letters.to_owned());
    }
    for step in tagged.steps() {
        let colour = match tagged.tag(step) {
            Tag::Correct => "GREEN",
            Tag::Incorrect => "RED",
            Tag::Neutral => "BLACK",
        };
        let target = tagged.target(step).map_or(SINK, |node| node as usize);
        dump.states.entry(target).or_default();
        dump.transitions.insert((step.source as usize, format!("{} {colour}", tagged.label(step)), target));
    }
    dump
}

/// Colours states by what lies around them until that tells no more of them apart.
fn refine(dump: &Dump, colours: &mut BTreeMap<usize, u64>) {
    let hash = |value: &dyn Fn(&mut std::hash::DefaultHasher)| {
        let mut hasher = std::hash::DefaultHasher::new();
        value(&mut hasher);
        std::hash::Hasher::finish(&hasher)
    };
    let mut different = 0;
    loop {
        let mut around: BTreeMap<usize, Vec<(bool, &str, u64)>> = BTreeMap::new();
        for (source, label, target) in &dump.transitions {
            around.entry(*source).or_default().push((true, label, colours[target]));
            around.entry(*target).or_default().push((false, label, colours[source]));
        }
        let refined = dump.states.keys().map(|state| {
            let mut seen = around.remove(state).unwrap_or_default();
            seen.sort_unstable();
            (*state, hash(&|hasher| std::hash::Hash::hash(&(colours[state], &seen), hasher)))
        });
        *colours = refined.collect();
        let now = colours.values().collect::<BTreeSet<_>>().len();
        if now == different {
            return;
        }
        different = now;
    }
}

/// A renumbering that makes one system the other, found by colours; states of one colour are told apart one by one.
fn renumbering(one: &Dump, other: &Dump) -> Option<BTreeMap<usize, usize>> {
    let start = |dump: &Dump| -> BTreeMap<usize, u64> {
        let hash = |state: usize, letters: &str| {
            letters.bytes().map(u64::from).sum::<u64>() * 4
                + u64::from(state == 0) * 2
                + u64::from(state == SINK)
        };
        dump.states.iter().map(|(&state, letters)| (state, hash(state, letters))).collect()
    };
    let (mut a, mut b) = (start(one), start(other));
    for fresh in 1.. {
        refine(one, &mut a);
        refine(other, &mut b);
        let by_colour = |colours: &BTreeMap<usize, u64>| {
            let mut groups: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
            colours.iter().for_each(|(&state, &colour)| groups.entry(colour).or_default().push(state));
            groups
        };
        let (groups, others) = (by_colour(&a), by_colour(&b));
        let sizes = |groups: &BTreeMap<u64, Vec<usize>>| -> Vec<(u64, usize)> {
            groups.iter().map(|(&colour, states)| (colour, states.len())).collect()
        };
        if sizes(&groups) != sizes(&others) {
            return None;
        }
        match groups.iter().find(|(_, states)| states.len() > 1) {
            None => {
                return Some(groups.iter().map(|(colour, states)| (states[0], others[colour][0])).collect());
            }
            Some((colour, states)) => {
                a.insert(states[0], fresh);
                b.insert(others[colour][0], fresh);
            }
        }
    }
    unreachable!("every round tells one more state apart")
}

#[test]
fn tagged_systems_are_those_of_the_dumps() {
    let dumps = [
        ("interleaving_bug/INTERLEAVING.aut", "interleaving_bug/bad_prop_INTERLEAVING_res-dump.autx"),
        ("iteration_bug/ITERATION.aut", "iteration_bug/bad_prop_ITERATION_res-dump.autx"),
        ("causality_bug/COMMPROC.aut", "causality_bug/bad_prop_COMMPROC_res-dump.autx"),
    ];
    for (system, dump) in dumps {
        let (Some(system), Some(dump)) = (oracle(system), oracle(dump)) else { continue };
        let lts = read(&system);
        let formula = property(&system.with_file_name("prop.mcl"));
        let tagged = formula.tag(&lts, &as_clear(), &Progress::new()).unwrap().unwrap();
        let (ours, theirs) = (dump_of(&tagged), read_dump(&dump));
        let numbers = renumbering(&ours, &theirs).expect("the same up to numbers");
        let renumbered: BTreeSet<(usize, String, usize)> = ours
            .transitions
            .iter()
            .map(|(source, label, target)| (numbers[source], label.clone(), numbers[target]))
            .collect();
        assert_eq!(renumbered, theirs.transitions, "{}", system.display());
        assert!(ours.states.iter().all(|(state, letters)| theirs.states[&numbers[state]] == *letters));
    }
}
