//! Every example of the book's page about MCL is right, and its table of patterns says what the patterns are.

use source::Sources;

#[test]
fn examples_of_the_book_are_right() {
    let page = std::fs::read_to_string("../../docs/src/mcl.md").unwrap();
    let blocks: Vec<&str> =
        page.split("```mcl\n").skip(1).map(|rest| rest.split("```").next().unwrap_or_default()).collect();
    assert!(blocks.len() >= 8);
    for block in blocks {
        let mut sources = Sources::new();
        match logic::load_text("docs/src/mcl.md", block, &mut sources) {
            Ok(loaded) => {
                assert!(loaded.warnings.is_empty(), "{}", sources.render_all(&loaded.warnings, false))
            }
            Err(errors) => panic!("{}", sources.render_all(&errors, false)),
        }
    }
}

#[test]
fn every_pattern_is_in_the_book() {
    let page = std::fs::read_to_string("../../docs/src/mcl.md").unwrap();
    for line in logic::PATTERNS.lines().filter_map(|line| line.strip_prefix("macro ")) {
        let name = line.split('=').next().unwrap().trim();
        assert!(page.contains(&format!("`{name}`")), "{name} is missing");
    }
}
