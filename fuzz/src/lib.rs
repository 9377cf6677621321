//! What every input must survive: no panic, no hang, memory bounded by the input's size.

use std::path::Path;
use std::time::Duration;

use model::{Found, Input, Missing, Text, Texts};
use source::Sources;

/// Reads AUT text; what is accepted must come back the same after writing and reading again.
pub fn aut(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let options = lts::AutOptions { tau: Some("tau".into()), sparse: data.len() % 2 == 1 };
    match lts::parse_aut(text, &options) {
        Ok(lts) => {
            let mut written = Vec::new();
            lts::write_aut(&lts, &mut written).expect("memory can be written");
            let written = String::from_utf8(written).expect("labels are text");
            let again = lts::parse_aut(&written, &options).expect("what was written can be read");
            assert_eq!(format!("{lts:?}"), format!("{again:?}"));
        }
        Err(error) => {
            let (sources, diagnostic) = error.diagnostic("input.aut");
            sources.render(&diagnostic, false);
        }
    }
}

/// Reads a label selector and applies it.
pub fn selector(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(selector) = lts::Selector::parse(text) {
        for label in ["", "i", "A", "GAME !1 !2", text] {
            selector.matches(label);
            selector.rename(label, "B $1 $name ${2}");
        }
    }
}

/// Loads a model in whichever language the first byte chooses, and explores it a little.
pub fn any_model(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else { return };
    let extensions = languages::registry().extensions();
    model(extensions[*first as usize % extensions.len()], rest);
}

/// Loads a model with this extension, and explores it a little. Every file that it names is a small system.
pub fn model(extension: &str, data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let main = Text::new(format!("input.{extension}"), text);
    let input = Input { texts: &SmallSystem, ..Input::new(&main) };
    match languages::registry().load(&input) {
        Ok(opened) => {
            opened.sources.render_all(opened.program.warnings(), false);
            let limits = explore::Limits {
                states: 100,
                time: Some(Duration::from_secs(1)),
                threads: 1,
                ..Default::default()
            };
            explore::explore(opened.program.model(), &limits, &lts::Progress::new());
        }
        Err(error) => drop(error.sources.render_all(&error.diagnostics, false)),
    }
}

/// The same small system under every name of a system, and nothing else.
struct SmallSystem;

impl Texts for SmallSystem {
    fn find(&self, file: &str, _from: &str) -> Result<Found, Missing> {
        let text = "des (0, 4, 3)\n(0, A, 1)\n(1, B !1, 2)\n(2, i, 0)\n(1, exit, 0)\n";
        match languages::registry().is_model(Path::new(file)) {
            false => Ok(Found { text: Text::new("small.aut", text), stands_in: true }),
            true => Err(Missing::NotFound { searched: Vec::new(), there: Vec::new() }),
        }
    }
}

/// Loads MCL properties and checks them on a small system.
pub fn mcl(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let mut sources = Sources::new();
    match logic::load_text("input.mcl", text, &mut sources) {
        Ok(loaded) => {
            let system =
                "des (0, 5, 3)\n(0, A, 1)\n(1, B !1, 2)\n(2, i, 0)\n(1, exit, 1)\n(2, C !2 !TRUE, 1)\n";
            let lts = lts::parse_aut(system, &Default::default()).expect("a good system");
            for property in &loaded.properties {
                let echo = property.formula.to_string();
                assert!(!echo.is_empty());
                drop(logic::check_lts(&lts, &property.formula, &Default::default(), &lts::Progress::new()));
            }
        }
        Err(errors) => drop(sources.render_all(&errors, false)),
    }
}
