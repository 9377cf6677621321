//! Checks one model and prints its diagnostics: `cargo run -p lnt --example check -- MODEL.lnt [DIRECTORY…]`.

use std::path::{Path, PathBuf};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let Some(path) = arguments.next() else { return eprintln!("usage: check MODEL.lnt [DIRECTORY…]") };
    let include: Vec<PathBuf> = arguments.map(PathBuf::from).collect();
    let mut sources = source::Sources::new();
    let (diagnostics, verdict) = match lnt::load(Path::new(&path), &include, &mut sources) {
        Ok(checked) => (checked.warnings, "fine"),
        Err(diagnostics) => (diagnostics, "wrong"),
    };
    println!("{}\n{path}: {verdict}", sources.render_all(&diagnostics, false));
}
