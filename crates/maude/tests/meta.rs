//! The meta-level: what is computed in modules that are terms does not depend on when garbage is collected, ends where the
//! session's limits say, and what is not supported says so.

mod answers;

use answers::{answers, ours};
use maude::session::{Event, Session};
use model::{Folders, Text};

fn files() -> Vec<std::path::PathBuf> {
    let mut files: Vec<std::path::PathBuf> = std::fs::read_dir("tests/corpus")
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "maude"))
        .filter(|path| path.file_stem().unwrap().to_string_lossy().starts_with("meta_"))
        .collect();
    files.sort();
    files
}

#[test]
fn files_are_answered_as_maude_answers_them_wherever_garbage_is_collected() {
    let files = files();
    assert!(files.len() >= 9);
    for path in files {
        let expected = std::fs::read_to_string(path.with_extension("out")).unwrap();
        let expected = answers(&expected);
        for stress in [false, true] {
            let output = ours(&model::read_text(&path).unwrap(), |session| session.stress = stress);
            let found = answers(&output);
            assert_eq!(found.len(), expected.len(), "{}", path.display());
            for (one, two) in found.iter().zip(&expected) {
                assert_eq!(one.rest, two.rest, "{}, stress {stress}: {}", path.display(), two.command);
            }
        }
    }
}

/// What a session says to a text: output, and the messages of diagnostics.
fn said(text: &str, adjust: impl FnOnce(&mut Session)) -> (String, Vec<String>) {
    let (mut out, mut messages) = (String::new(), Vec::new());
    let mut session = Session::new();
    adjust(&mut session);
    session.take(&Text::new("test.maude", text), &Folders::beside(&[]), &mut |_, event| match event {
        Event::Output(text) => out.push_str(&text),
        Event::Diagnostic(diagnostic) => messages.push(diagnostic.message.clone()),
    });
    (out, messages)
}

#[test]
fn computations_in_modules_count_for_the_limits() {
    let text = "mod UP is protecting NAT . sort S . op c : Nat -> S . rl c(N:Nat) => c(s N:Nat) . endm
red in META-LEVEL : metaRewrite(['UP], 'c['0.Zero], unbounded) .
red in META-LEVEL : metaSearch(['UP], 'c['0.Zero], 'c['0.Zero], nil, '+, unbounded, 0) .\n";
    let (_, messages) = said(text, |session| session.limits.rewrites = 100_000);
    assert_eq!(messages.len(), 2, "{messages:?}");
    assert!(messages.iter().all(|message| message.contains("rewrites")), "{messages:?}");
}

#[test]
fn what_is_not_supported_says_so() {
    let text = "red in META-LEVEL : metaUnify(['NAT], 'X:Nat =? 'Y:Nat, '#, 0) .\n";
    let (_, messages) = said(text, |_| {});
    assert!(messages.iter().any(|message| message.contains("`metaUnify` is not supported")), "{messages:?}");
}

#[test]
fn the_meta_level_of_the_meta_level() {
    let text = "red in META-LEVEL : metaReduce(['META-LEVEL],
  'metaReduce[upTerm(upModule('NAT, false)), upTerm('_+_['s_['0.Zero], 's_['0.Zero]])]) .\n";
    let (out, messages) = said(text, |_| {});
    assert!(messages.is_empty(), "{messages:?}");
    assert!(out.contains("''s_^2.Sort,''0.Zero.Constant"), "{out}");
}

#[test]
fn solutions_one_by_one_are_those_of_one_search() {
    let text = "mod GRID is
  protecting NAT . sort S . op c : Nat Nat -> S . vars N M : Nat .
  crl c(N, M) => c(s N, M) if N < 20 .
  crl c(N, M) => c(N, s M) if M < 20 .
endm
fmod ALL is
  protecting META-LEVEL . op all : Nat -> Nat . var N : Nat .
  ceq all(N) = all(s N) if metaSearch(['GRID], 'c['0.Zero, '0.Zero], 'c['N:Nat, 'M:Nat], nil, '*, unbounded, N)
    :: ResultTriple .
  eq all(N) = N [owise] .
endfm
red all(0) .\n";
    // Every search anew would need hundreds of times as many rewrites.
    let (out, messages) = said(text, |session| session.limits.rewrites = 20_000);
    assert!(messages.is_empty(), "{messages:?}");
    assert!(out.contains("result NzNat: 441"), "{out}");
}
