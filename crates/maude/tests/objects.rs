//! Object modules against the same modules written out by hand: searches have the same results. Maude 3.2, the oracle of the
//! other tests, has no object modules.

use std::path::Path;

use maude::session::{Event, Session};

/// What a file prints, without what the two ways of writing it may change: the order of rules' applications is the same.
fn printed(path: &Path) -> String {
    let text = model::read_text(path).unwrap();
    let mut session = Session::new();
    let mut out = String::new();
    session.take(&text, &model::Folders::beside(&[]), &mut |sources, event| match event {
        Event::Output(text) => out.push_str(&text),
        Event::Diagnostic(diagnostic) => {
            panic!("{}: {}", path.display(), sources.render(&diagnostic, false));
        }
    });
    // Times differ.
    let line = |line: &str| line.split(" in ").next().unwrap_or_default().to_owned();
    out.lines().filter(|line| !line.starts_with("search")).map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn object_modules_search_like_their_translations() {
    let mut compared = 0;
    for entry in std::fs::read_dir("tests/objects").unwrap() {
        let path = entry.unwrap().path();
        let name = path.to_string_lossy().into_owned();
        let Some(stem) = name.strip_suffix(".maude").filter(|stem| !stem.ends_with(".plain")) else {
            continue;
        };
        let (own, plain) = (printed(&path), printed(Path::new(&format!("{stem}.plain.maude"))));
        assert_eq!(own, plain, "{name}");
        assert!(own.contains("Solution 1"), "{name}: {own}");
        compared += 1;
    }
    assert!(compared >= 3);
}
