//! No input may panic, hang or overflow the stack: random tokens, mutated programs, deep nesting.

use proptest::prelude::*;
use source::Sources;

/// Loads a text; only the fact that it comes back counts, and that what is said can be rendered.
fn survive(text: &str) {
    let mut sources = Sources::new();
    let diagnostics = match lnt::load_text("soup.lnt", text, &mut sources) {
        Ok(checked) => checked.warnings,
        Err(diagnostics) => {
            assert!(diagnostics.iter().any(|one| one.is_error()), "refused without a reason: {text}");
            diagnostics
        }
    };
    sources.render_all(&diagnostics, false);
}

const TOKENS: &[&str] = &[
    "module",
    "m",
    "is",
    "end",
    "process",
    "P",
    "MAIN",
    "function",
    "f",
    "type",
    "t",
    "channel",
    "c",
    "[",
    "]",
    "(",
    ")",
    "{",
    "}",
    ",",
    ";",
    ":",
    ":=",
    "->",
    "=>",
    "|",
    "||",
    "[]",
    "!",
    "?",
    "#",
    ".",
    "..",
    "...",
    "if",
    "then",
    "elsif",
    "else",
    "case",
    "in",
    "of",
    "any",
    "var",
    "x",
    "y",
    "nat",
    "bool",
    "loop",
    "while",
    "for",
    "by",
    "break",
    "select",
    "alt",
    "par",
    "hide",
    "disrupt",
    "trap",
    "exception",
    "raise",
    "return",
    "null",
    "stop",
    "only",
    "where",
    "with",
    "\"==\"",
    "list",
    "set",
    "sorted",
    "array",
    "range",
    "1",
    "2",
    "-",
    "+",
    "*",
    "==",
    "and",
    "or",
    "not",
    "true",
    "'a'",
    "\"s\"",
    "1.5",
    "none",
    "in out",
    "out",
    "i",
    "eval",
    "assert",
    "use",
    "--\n",
    "(*",
    "*)",
    "§",
    "\n",
];

const PROGRAMS: &[&str] = &[
    include_str!("right/types.lnt"),
    include_str!("right/functions.lnt"),
    include_str!("right/processes.lnt"),
    include_str!("right/vending.lnt"),
];

/// The parts of a program that a mutation moves around: words, numbers, single other characters.
fn parts(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let length = if word(first) {
            rest.find(|letter| !word(letter)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        parts.push(&rest[..length]);
        rest = &rest[length..];
    }
    parts
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_text(text in ".{0,200}") {
        survive(&text);
    }

    #[test]
    fn random_tokens(tokens in prop::collection::vec(prop::sample::select(TOKENS), 0..120)) {
        survive(&tokens.join(" "));
        survive(&format!("module m is process P [A : any] (x : nat) is {} end process end module", tokens.join(" ")));
        survive(&format!("module m is function f (x : nat) : nat is {} end function end module", tokens.join(" ")));
        survive(&format!("module m is {} end module", tokens.join(" ")));
    }

    #[test]
    fn mutated_programs(
        program in 0..PROGRAMS.len(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0..4, any::<prop::sample::Index>()), 1..6),
    ) {
        let mut parts = parts(PROGRAMS[program]);
        for (at, edit, other) in edits {
            let at = at.index(parts.len());
            let other = other.index(parts.len());
            match edit {
                0 => { parts.remove(at); }
                1 => parts.insert(at, parts[other]),
                2 => parts.swap(at, other),
                _ => parts[at] = TOKENS[other % TOKENS.len()],
            }
        }
        survive(&parts.concat());
    }
}

#[test]
fn as_deep_as_allowed_fits_a_small_stack() {
    // Just below the limit, so that every pass sees the full depth; test threads have 2 MiB.
    let process = |inner: String| {
        let text = format!(
            "module m is process P [A : any] (x : nat, b : bool) is {inner}; A (x, b) end process end module"
        );
        let mut sources = Sources::new();
        let outcome = lnt::load_text("deep.lnt", &text, &mut sources);
        assert!(outcome.is_ok(), "{}", sources.render_all(&outcome.unwrap_err(), false));
    };
    let nested = |deep: usize, open: &str, inner: &str, close: &str| {
        format!("{}{inner}{}", open.repeat(deep), close.repeat(deep))
    };
    process(format!("A ({})", nested(190, "(", "x", ")")));
    process(format!("A ({})", nested(190, "max (1, ", "x", ")")));
    process(format!("A ({})", nested(95, "not (", "b", ")")));
    process(format!("A (x{})", " + x".repeat(190)));
    process(nested(190, "if b then ", "A (x)", " end if"));
    process(nested(190, "select ", "A (x)", " [] stop end select"));
    process(nested(190, "par A in ", "A (x)", " || A (x) end par"));
    process(nested(190, "case x in 0 -> ", "A (b)", " | any -> stop end case"));
    process(nested(190, "var y : nat in ", "A (x, b)", "; use y end var"));
    process(nested(190, "loop L in break L; ", "A (x, b)", " end loop"));
}

#[test]
fn large_programs_take_little_time() {
    let elements: Vec<String> = (0..20_000).map(|at| format!("p ({}, {})", at % 100, at % 7)).collect();
    let actions = "A (1, {p (1, 2)}); ".repeat(10_000);
    let text = format!(
        "module m is type p is p (x, y : nat) end type type l is list of p end type
         function f : l is return {{{}}} end function
         process MAIN [A : any] is {actions} A end process end module",
        elements.join(", ")
    );
    let started = std::time::Instant::now();
    survive(&text);
    assert!(started.elapsed().as_secs() < 20);
}

#[test]
fn wide_and_deep_patterns_fit_a_small_stack() {
    let fields: Vec<String> = (0..100).map(|at| format!("f{at} : l")).collect();
    let list = format!("{{{}}}", vec!["1"; 150].join(", "));
    let row = vec![list.as_str(); 100].join(", ");
    survive(&format!(
        "module m is type l is list of nat end type type r is r ({}) end type
         function f (x : r) : nat is case x in r ({row}) -> return 1 | any -> return 2 end case end function
         end module",
        fields.join(", ")
    ));
}
