//! Every example of the book's page about LNT is a program without errors.

use source::Sources;

#[test]
fn examples_of_the_book_check() {
    let page = std::fs::read_to_string("../../docs/src/lnt.md").unwrap();
    let blocks: Vec<&str> =
        page.split("```lnt\n").skip(1).map(|rest| rest.split("```").next().unwrap_or_default()).collect();
    assert!(blocks.len() >= 5);
    for block in blocks {
        let text = if block.starts_with("module") {
            block.to_owned()
        } else {
            format!("module example is\n{block}\nend module\n")
        };
        let mut sources = Sources::new();
        match lnt::load_text("docs/src/lnt.md", &text, &mut sources) {
            Ok(checked) => {
                assert!(checked.warnings.is_empty(), "{}", sources.render_all(&checked.warnings, false))
            }
            Err(errors) => panic!("{}", sources.render_all(&errors, false)),
        }
    }
}
