//! Reads an AUT file, by us or by MERC: `read ours|merc FILE.aut`.

use std::fs::File;
use std::path::Path;

use merc_lts::LTS;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [who, file] = &arguments[..] else { panic!("usage: read ours|merc FILE.aut") };
    let states = match who.as_str() {
        "ours" => lts::read_aut(Path::new(file), &Default::default(), &lts::Progress::new())
            .expect("a readable file")
            .state_count(),
        _ => merc_lts::read_aut(File::open(file).expect("a file")).expect("a readable file").num_of_states(),
    };
    println!("{states}");
}
