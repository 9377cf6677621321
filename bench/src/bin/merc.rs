//! The peer: reads an AUT file with MERC, reduces it and writes the result: `merc strong|branching IN.aut OUT.aut`.

use std::fs::File;
use std::io::{BufWriter, Write};

use merc_reduction::Equivalence;
use merc_utilities::Timing;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [relation, input, output] = &arguments[..] else {
        panic!("usage: merc strong|branching IN.aut OUT.aut")
    };
    let equivalence = match relation.as_str() {
        "strong" => Equivalence::StrongBisim,
        "branching" => Equivalence::BranchingBisim,
        other => panic!("unknown relation {other}"),
    };
    let lts = merc_lts::read_aut(File::open(input).expect("a file")).expect("a readable file");
    let reduced = merc_reduction::reduce_lts(lts, equivalence, true, &Timing::new());
    let mut out = BufWriter::new(File::create(output).expect("a writable file"));
    merc_lts::write_aut(&mut out, &reduced).expect("written");
    out.flush().expect("written");
}
