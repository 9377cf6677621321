//! Random modules and terms, answered by us and by Debian's Maude: the same normal forms, sorts, matchers, solutions and
//! numbers of states. `MAUDE_CASES=20000` takes more of them.

mod answers;
#[path = "random/generator.rs"]
mod generator;

use answers::{answers, ours, theirs};
use model::Text;

/// How many modules Maude reads at once: starting it takes longer than most of them.
const AT_ONCE: u64 = 25;

#[test]
fn random_modules_are_answered_alike() {
    let cases: u64 = std::env::var("MAUDE_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(1_000);
    let folder = tempfile::tempdir().unwrap();
    let mut compared = 0;
    for first in (0..cases).step_by(AT_ONCE as usize) {
        let text: String = (first..first + AT_ONCE).map(|seed| generator::module(seed).text).collect();
        let path = folder.path().join("random.maude");
        std::fs::write(&path, &text).unwrap();
        let Some(output) = theirs(&path) else {
            eprintln!("skipped: maude is not installed");
            return;
        };
        let expected = answers(&output);
        let found = answers(&ours(&Text::new("random.maude", text.clone()), |_| {}));
        for (one, two) in found.iter().zip(&expected) {
            let same = one.solutions == two.solutions && one.rest == two.rest;
            assert!(
                same,
                "seeds {first} to {}: {}\nours   {:?} {}\ntheirs {:?} {}",
                first + AT_ONCE,
                two.command,
                one.solutions,
                one.rest,
                two.solutions,
                two.rest
            );
        }
        assert_eq!(found.len(), expected.len(), "seeds from {first}");
        compared += found.len();
    }
    println!("{compared} answers compared");
    assert!(compared as u64 > cases * 3);
}
