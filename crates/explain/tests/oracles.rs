//! The answers of the tool of the thesis, where they lie beside the checkout.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use explain::{Kind, Options, Property, Tag, Tagged};
use lts::{Lts, Progress};

fn oracle(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/oracles/clear").join(name);
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: {name} is not there");
    None
}

fn read(path: &Path) -> Lts {
    lts::read_aut(path, &Default::default(), &Progress::new()).unwrap()
}

fn property(path: &Path) -> Property {
    let mut sources = source::Sources::new();
    let loaded = logic::load_properties(path, &mut sources).unwrap();
    Property::of(&loaded.properties[0].formula).unwrap()
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
        let tagged = property(&formula).tag(&lts, &Options::default(), &Progress::new()).unwrap().unwrap();
        assert_eq!([lts.state_count(), lts.transition_count()], row.full, "{}", row.system);
        let size = [tagged.state_count(), tagged.inner_transition_count()];
        assert_eq!(size, row.counterexample, "{}", row.system);
        assert_eq!(tagged.tag_counts(), row.tags, "{}", row.system);
        let counts = tagged.neighbourhood_counts();
        assert_eq!(Kind::ALL.map(|kind| counts.of(kind)), row.neighbourhoods, "{}", row.system);
    }
}
