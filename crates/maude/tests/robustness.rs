//! Files that are damaged, deep, long or not text at all: whatever comes in, there is no panic and no endless computation,
//! and every message can be shown. The damage is the same in each run.

use std::path::Path;
use std::time::{Duration, Instant};

use maude::session::{Event, Session};

/// How long damaged files are tried, at most.
const BUDGET: Duration = Duration::from_secs(12);

/// Takes a text; gives what it printed and said.
fn take(name: &str, text: &str) -> (String, String) {
    let mut session = Session::new();
    session.limits.rewrites = 100_000;
    session.limits.deadline = Some(Instant::now() + Duration::from_secs(2));
    session.limits.bytes = 256 << 20;
    session.limits.depth = 100_000;
    let (mut printed, mut said) = (String::new(), String::new());
    let text = model::Text { name: name.to_owned(), text: text.to_owned() };
    session.take(&text, &model::Folders::beside(&[]), &mut |sources, event| match event {
        Event::Output(text) => printed.push_str(&text),
        Event::Diagnostic(diagnostic) => said.push_str(&sources.render(&diagnostic, false)),
    });
    (printed, said)
}

/// A sequence of numbers that look random.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }
}

fn corpus() -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for folder in ["tests/corpus", "tests/errors", "tests/objects"] {
        for entry in std::fs::read_dir(Path::new(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "maude") {
                found.push((path.display().to_string(), std::fs::read(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

/// The words of a text, with the blanks behind each.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    for c in text.chars() {
        let special = matches!(c, '(' | ')' | '[' | ']' | '{' | '}' | ',');
        if !word.is_empty() && (special || word.ends_with(char::is_whitespace) && !c.is_whitespace()) {
            words.push(std::mem::take(&mut word));
        }
        word.push(c);
    }
    words.push(word);
    words
}

fn damaged(bytes: &[u8], numbers: &mut Numbers) -> String {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let mut words = words(&text);
    let kind = numbers.below(9);
    for _ in 0..1 + numbers.below(3) {
        let (at, other) = (numbers.below(words.len()), numbers.below(words.len()));
        match kind {
            0 if words.len() > 1 => drop(words.remove(at)),
            1 => words.insert(at, words[other].clone()),
            2 => words.swap(at, other),
            3 => {
                let some = [
                    "(",
                    ")",
                    "[",
                    "]",
                    "{",
                    "}",
                    ",",
                    ".",
                    ":",
                    "=",
                    "=>",
                    "if",
                    "is",
                    "endfm ",
                    "\"",
                    "***( ",
                    "`",
                    "_",
                    "op ",
                    "eq ",
                    "rl ",
                    "sort ",
                    "red ",
                    "in ",
                    "0",
                    "ditto ",
                    "99999999999 ",
                ];
                words[at].push_str(some[other % some.len()]);
            }
            4 => words.truncate(at.max(1)),
            5 => words[at] = words[at].replace(' ', ""),
            _ => {}
        }
    }
    let mut bytes = words.concat().into_bytes();
    for _ in 0..1 + numbers.below(4) {
        let at = numbers.below(bytes.len());
        match kind {
            6 if !bytes.is_empty() => drop(bytes.remove(at)),
            7 => bytes.insert(at, numbers.below(256) as u8),
            8 if !bytes.is_empty() => bytes[at] ^= 1 << numbers.below(8),
            _ => {}
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn damaged_files_are_taken_without_a_panic() {
    let corpus = corpus();
    let start = Instant::now();
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let (mut taken, mut failed) = (0, Vec::new());
    'rounds: for _ in 0..20 {
        for (name, bytes) in &corpus {
            if start.elapsed() > BUDGET {
                break 'rounds;
            }
            let text = damaged(bytes, &mut numbers);
            let outcome = std::panic::catch_unwind(|| take(name, &text));
            if outcome.is_err() {
                failed.push(format!("{name}, damaged:\n{text}"));
            }
            taken += 1;
        }
    }
    assert!(taken > 0);
    assert!(failed.is_empty(), "{} of {taken} failed, among them {}", failed.len(), failed[0]);
}

#[test]
fn bytes_that_are_no_text_are_taken() {
    let mut numbers = Numbers(42);
    for length in [0, 1, 10, 100, 1_000, 10_000] {
        let bytes: Vec<u8> = (0..length).map(|_| numbers.below(256) as u8).collect();
        take("random.maude", &String::from_utf8_lossy(&bytes));
        let printable: String = bytes.iter().map(|byte| char::from(32 + byte % 95)).collect();
        take("random.maude", &printable);
        take("random.maude", &format!("fmod M is {printable}"));
        take("random.maude", &format!("red in NAT : {printable} .\n"));
    }
}

#[test]
fn deep_terms_are_taken() {
    let depth = 100_000;
    let nested = |open: &str, inner: &str, close: &str| open.repeat(depth) + inner + &close.repeat(depth);
    let (printed, said) = take("deep.maude", &format!("red in NAT : {} .\n", nested("(", "1", ")")));
    assert!(printed.contains("result NzNat: 1"), "{said}");
    let (printed, said) = take("deep.maude", &format!("red in NAT : {} .\n", nested("s(", "1", ")")));
    assert!(printed.contains("result NzNat: 100001"), "{said}");
    take("deep.maude", &format!("red in NAT : {} .\n", "(".repeat(depth)));
    take("deep.maude", &format!("red in NAT : {} .\n", ")".repeat(depth)));
    take("deep.maude", &format!("red in NAT : {} .\n", nested("[", "1", "]")));
    let module = "fmod M is sort A . op a : -> A . op f : A -> A . endfm\n";
    take("deep.maude", &format!("{module}red {} .\n", nested("f(", "a", ")")));
    take("deep.maude", &format!("fmod M is protecting {} . endfm\n", nested("(", "NAT", ")")));
    take("deep.maude", &format!("fmod M is protecting LIST{} . endfm\n", nested("{A", "", "}")));
    take("deep.maude", &format!("fmod M is op {} : -> Bool . endfm\n", nested("(", "a", ")")));
    take("deep.maude", &format!("{} here it starts\n", "***(".repeat(depth)));
}

#[test]
fn long_texts_are_taken() {
    let list = |length: usize| (0..length).map(|at| format!("{} ", at % 7)).collect::<String>();
    let module = "fmod M is protecting LIST{Nat} . endfm\n";
    let (printed, said) = take("long.maude", &format!("{module}red size({}) .\n", list(2_000)));
    assert!(printed.contains("result NzNat: 2000"), "{said}");
    let (printed, said) = take("long.maude", &format!("{module}red head({}) .\n", list(100_000)));
    assert!(printed.contains("result Zero: 0"), "{said}");
    let sum: String = (0..20_000).map(|_| "1 + ").collect();
    let (printed, said) = take("long.maude", &format!("red in NAT : {sum}1 .\n"));
    assert!(printed.contains("result NzNat: 20001"), "{said}");
    let lines: String = (0..2_000).map(|at| format!("  op c{at} : -> A .\n  eq c{at} = z .\n")).collect();
    let text = format!("fmod L is\n  sort A .\n  op z : -> A .\n{lines}endfm\nred c1999 .\n");
    let (printed, said) = take("long.maude", &text);
    assert!(printed.contains("result A: z"), "{said}");
    let digits = "9".repeat(100_000);
    take("long.maude", &format!("red in NAT : {digits} + 1 .\nred in FLOAT : {digits}.0 .\n"));
    take("long.maude", &format!("red [{digits}] in NAT : 1 .\nrew [{digits}] in NAT : 1 .\n"));
    take("long.maude", &format!("fmod P is sort A . op f_ : A -> A [prec {digits}] . endfm\n"));
    take("long.maude", &format!("fmod P is sort A . op f : A -> A [strat ({digits} 0)] . endfm\n"));
    take("long.maude", &format!("red in NAT : s_^{digits}(0) .\nred in NAT : 2 ^ {digits} .\n"));
    take("long.maude", &format!("red in NAT : 1 << {digits} .\nred in RAT : 1/{digits} .\n"));
    take("long.maude", &format!("red in STRING : substr(\"abc\", {digits}, {digits}) .\n"));
    take("long.maude", &format!("red in NAT : {} .\n", "1 ".repeat(20_000)));
}

/// A list or a text that doubles needs all memory within a few steps, long before a check that is due now and then.
#[test]
fn what_doubles_is_ended_before_memory_is() {
    let list = "fmod L is pr LIST{Nat} . op f : List{Nat} -> List{Nat} . var L : List{Nat} . eq f(L) = f(L L) . endfm
        red f(1) .";
    let text = "fmod T is pr STRING . op f : String -> String . var S : String . eq f(S) = f(S + S) . endfm
        red f(\"a\") .";
    for program in [list, text] {
        let (_, said) = take("doubling.maude", program);
        assert!(
            ["terms need more than", "texts of more than", "the time is up"]
                .iter()
                .any(|end| said.contains(end)),
            "{said}"
        );
        assert!(said.contains("this was being used"), "{said}");
    }
}

/// A term of seventy levels that shares its parts has more of them than can be printed.
#[test]
fn results_are_printed_up_to_a_length() {
    let text =
        "fmod T is pr NAT . sort T . op a : -> T . op g : T T -> T [ctor] . op f : Nat T -> T . var X : T .
        eq f(0, X) = X . eq f(s N:Nat, X) = f(N:Nat, g(X, X)) . endfm
        red f(70, a) .";
    let (printed, said) = take("sharing.maude", text);
    assert!(printed.trim_end().ends_with("...") && said.is_empty(), "{said}");
}
