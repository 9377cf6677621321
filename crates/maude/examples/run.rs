//! Runs a file, for tests by hand.
use maude::session::{Event, Session};

fn main() {
    let path = std::env::args().nth(1).expect("a file");
    let text = model::read_text(std::path::Path::new(&path)).expect("a text");
    let mut session = Session::new();
    session.take(&text, &model::Folders::beside(&[]), &mut |sources, event| match event {
        Event::Output(text) => print!("{text}"),
        Event::Diagnostic(diagnostic) => eprintln!("{}", sources.render(&diagnostic, false)),
    });
}
