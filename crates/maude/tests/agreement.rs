//! Random modules and terms, answered by us and by Debian's Maude: the same normal forms, sorts, matchers, solutions and
//! numbers of states. `MAUDE_CASES=20000` takes more of them, `MAUDE_FIRST=20000` others.

mod answers;
#[path = "random/generator.rs"]
mod generator;

use answers::{answers, ours, theirs};
use model::Text;

/// How many modules Maude reads at once: starting it takes longer than most of them.
const AT_ONCE: u64 = 25;

#[test]
fn random_modules_are_answered_alike() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let cases = number("MAUDE_CASES").unwrap_or(1_000);
    let start = number("MAUDE_FIRST").unwrap_or(0);
    let folder = tempfile::tempdir().unwrap();
    let mut compared = 0;
    let mut differences = Vec::new();
    for first in (start..start + cases).step_by(AT_ONCE as usize) {
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
            if one.solutions != two.solutions || one.rest != two.rest {
                differences.push(format!(
                    "seeds {first} to {}: {}\nours   {:?} {}\ntheirs {:?} {}",
                    first + AT_ONCE,
                    two.command,
                    one.solutions,
                    one.rest,
                    two.solutions,
                    two.rest
                ));
            }
        }
        // A long run shows several before it ends.
        assert!(differences.len() < 10, "{}", differences.join("\n"));
        assert_eq!(found.len(), expected.len(), "seeds from {first}");
        compared += found.len();
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    println!("{compared} answers compared");
    assert!(compared as u64 > cases * 3);
}
