//! What every input must survive: no panic, no hang, memory bounded by the input's size.

use std::sync::Arc;

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

/// Reads a network whose leaves are all the same small system, and composes it a little.
pub fn network(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let mut sources = Sources::new();
    let file = sources.add("input.exp", text);
    let leaf = "des (0, 4, 3)\n(0, A, 1)\n(1, B !1, 2)\n(2, i, 0)\n(1, exit, 0)\n";
    let leaf = Arc::new(lts::parse_aut(leaf, &Default::default()).expect("a good system"));
    match lts::parse_network(file, &sources, &mut |_| Ok(Arc::clone(&leaf))) {
        Ok(network) => drop(network.compose(100, &lts::Progress::new())),
        Err(errors) => drop(sources.render_all(&errors, false)),
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

/// Loads an LNT module.
pub fn lnt(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let mut sources = Sources::new();
    match lnt::load_text("input.lnt", text, &mut sources) {
        Ok(checked) => drop(sources.render_all(&checked.warnings, false)),
        Err(errors) => drop(sources.render_all(&errors, false)),
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
