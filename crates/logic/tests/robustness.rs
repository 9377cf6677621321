//! No input may panic, hang or overflow the stack: random tokens, mutated formulas, deep nesting. What is accepted is
//! also checked on a small system.

use logic::Options;
use lts::{Lts, Progress};
use proptest::prelude::*;
use source::Sources;

fn system() -> Lts {
    let text = "des (0, 4, 3)\n(0, \"SEND !1\", 1)\n(1, \"A\", 2)\n(2, i, 0)\n(1, \"B\", 1)\n";
    lts::parse_aut(text, &Default::default()).unwrap()
}

/// Loads and checks a text; only the fact that it comes back counts, and that what is said can be rendered.
fn survive(text: &str) {
    let mut sources = Sources::new();
    match logic::load_text("soup.mcl", text, &mut sources) {
        Ok(loaded) => {
            sources.render_all(&loaded.warnings, false);
            for property in &loaded.properties {
                let shown = property.formula.to_string();
                assert!(logic::load_text("again.mcl", &shown, &mut sources).is_ok(), "{text}\n{shown}");
                let options = Options { max_instances: 50_000, ..Options::default() };
                let verdict = logic::check_lts(&system(), &property.formula, &options, &Progress::new());
                if let Ok(verdict) = verdict {
                    let warnings = logic::warnings(&system(), &property.formula, &verdict, &Progress::new());
                    sources.render_all(&warnings, false);
                }
            }
        }
        Err(diagnostics) => {
            assert!(diagnostics.iter().any(|one| one.is_error()), "refused without a reason: {text}");
            sources.render_all(&diagnostics, false);
        }
    }
}

const TOKENS: &[&str] = &[
    "true",
    "false",
    "not",
    "and",
    "or",
    "implies",
    "equ",
    "xor",
    "tau",
    "any",
    "nil",
    "mu",
    "nu",
    "forall",
    "exists",
    "among",
    "if",
    "then",
    "elsif",
    "else",
    "end",
    "let",
    "in",
    "where",
    "macro",
    "end_macro",
    "library",
    "end_library",
    "property",
    "is",
    "expected",
    "X",
    "Y",
    "n",
    "x",
    ":",
    "nat",
    "bool",
    "string",
    ":=",
    "1",
    "0",
    "20",
    "<",
    ">",
    "[",
    "]",
    "(",
    ")",
    "{",
    "}",
    "*",
    "+",
    "?",
    "!",
    "...",
    "|",
    ".",
    ",",
    "@",
    "-|",
    "-",
    "=",
    "<=",
    "<>",
    "#",
    "\"A\"",
    "'B.*'",
    "SEND",
    "NEVER",
    "RESPONSE",
    "INEVITABLE",
    "DEADLOCK_FREE",
    "--\n",
    "(*",
    "*)",
    "\"",
    "'",
    "§",
    "X . (",
    "< true > X",
    "[ \"A\" ]",
    "min",
    "mod",
    "case",
    "->",
    "any",
    "of",
    "for",
    "from",
    "to",
    "step",
    "do",
    "while",
    "repeat",
    "until",
    "loop",
    "continue",
    "exit",
    "real",
    "char",
    "1.5",
    "'a'",
    "substr",
    "'\\(A\\)\\{2\\}[^]a-z]'",
];

const FORMULAS: &[&str] = &[
    "[ true* . 'SEND .*' . (not \"A\")* . \"B\" ] false and < true* > < tau > @",
    "mu X (n:nat := 0) . ((n = 2) or < { SEND ?x:nat ... where x < 3 and x > 0 } > X (n + x) or < true > X (n))",
    "forall x:nat among { 0 ... 3 } . [ { SEND !x } ] (if x > 1 then false elsif x = 1 then true else nu Y . < true > Y end if)",
    "macro F (A, B) = [ true* . A{2,3} | B+ ] -| end_macro property P \"says\" is F (\"A\", tau) expected TRUE end property",
    "let n:int := -1, s:string := \"a\" in (n < 0 equ s = \"a\") implies RESPONSE (\"A\", not \"B\" or '[AC]') end let",
    "ALTERNATION (\"A\", \"B\") and INEVITABLE (\"A\", \"B\") xor NEVER (\"SEND !\" # 1)",
    "< for i:nat from 0 to 2 step 1 do { SEND !i } end for . loop (n:nat := 0) : (r:nat) in \"A\" . if n < 2 then continue (n + 1) else exit (n) end if | \"B\" . exit (0) end loop . { SEND !r } > true",
    "[ { SEND ?x:nat } . repeat (\"A\" | nil) until x > 0 end repeat . \"B\"{x, x + 1} . while x < 1 do tau end while . let y, z:nat := x in { SEND !y + z } end let ] false",
    "case substr (concat (\"ab\", string ('c')), 2, 1) is \"a\", \"b\" -> true | s:string where length (s) = 1 -> false | any -> 1.5 < real (2) end case",
    "< case 1 of nat is 0 -> \"A\" | any of nat -> (\"B\" | 'A\\{1,2\\}[[:alpha:]]*') end case > @",
];

/// The parts of a formula that a mutation moves around: words, numbers, single other characters.
fn parts(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let length = match word(first) {
            true => rest.find(|letter| !word(letter)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        parts.push(&rest[..length]);
        rest = &rest[length..];
    }
    parts
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_text(text in ".{0,200}") {
        survive(&text);
    }

    #[test]
    fn random_tokens(tokens in prop::collection::vec(prop::sample::select(TOKENS), 0..60)) {
        let soup = tokens.join(" ");
        survive(&soup);
        survive(&format!("mu X . ( {soup} )"));
        survive(&format!("[ {soup} ] false"));
        survive(&format!("property P is {soup} end property property Q is true end property"));
        survive(&format!("macro F (A) = {soup} end_macro F (F (\"A\"))"));
    }

    #[test]
    fn mutated_formulas(
        formula in 0..FORMULAS.len(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0..4, any::<prop::sample::Index>()), 1..6),
    ) {
        let mut parts = parts(FORMULAS[formula]);
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
fn the_unmutated_formulas_are_right() {
    for text in FORMULAS {
        let mut sources = Sources::new();
        let loaded = logic::load_text("right.mcl", text, &mut sources);
        assert!(loaded.is_ok(), "{text}: {}", sources.render_all(&loaded.unwrap_err(), false));
    }
}

#[test]
fn deep_nesting_is_refused() {
    for (open, inner, close) in [
        ("(", "true", ")"),
        ("not ", "true", ""),
        ("[ true ] ", "false", ""),
        ("< ", "true", ""),
        ("mu X . ", "X", ""),
        ("-", "1", ""),
    ] {
        survive(&format!("{}{inner}{}", open.repeat(100_000), close.repeat(100_000)));
    }
    survive(&format!("[ {}true{} ] false", "(".repeat(100_000), ")".repeat(100_000)));
    survive(&format!("[ {} true ] false", "not ".repeat(100_000)));
    survive(&format!("[ true{} ] false", "*".repeat(100_000)));
    survive(&format!("1 {} = 1", "+ 1 ".repeat(100_000)));
    survive(&format!("true {}", "implies true ".repeat(100_000)));
    survive(&format!("true {}", "equ true ".repeat(100_000)));
}

/// Just below the limit, so that every pass sees the full depth; test threads have 2 MiB.
#[test]
fn as_deep_as_allowed_fits_a_small_stack() {
    let deep = 95;
    let nested =
        |open: &str, inner: &str, close: &str| format!("{}{inner}{}", open.repeat(deep), close.repeat(deep));
    survive(&nested("(", "true", ")"));
    survive(&nested("not (", "< \"A\" > true", ")"));
    survive(&nested("[ true* ] (", "< true > true", ")"));
    survive(&nested("nu X . (", "< true > X", ")"));
    survive(&nested("if true then ", "false", " else true end if"));
    survive(&nested("let x:nat := 1 in ", "x = 1", " end let"));
    survive(&format!("[ {} ] false", nested("(", "\"A\"", ")*")));
    survive(&format!("[ {} ] false", nested("not (", "\"A\"", ")")));
    survive(&nested("(< true > true equ ", "< true > true", ")"));
    survive(&format!("[ {} ] false", nested("if true then ", "\"A\"", " else tau end if")));
    survive(&format!("[ {} ] false", nested("while true do (", "\"A\"", ") end while")));
    survive(&format!("[ {} ] false", nested("for i:nat from 0 to 1 do ", "\"A\"", " end for")));
    survive(&format!("[ {} ] false", nested("repeat ", "\"A\"", " until true end repeat")));
    // Printed, a sequence has brackets of its own.
    survive(&format!("< {}\"A\"{} > true", "loop (".repeat(45), ") . exit end loop".repeat(45)));
    survive(&format!("< {} > true", nested("let x:nat := 1 in ", "\"A\"", " end let")));
    survive(&format!("< {} > true", nested("case 1 is 1 -> ", "\"A\"", " | any -> tau end case")));
    survive(&nested("case 1 is 1 -> ", "true", " | any -> false end case"));
    survive(&format!("< {{ C ?n:nat }} . {} > true", nested("(", "\"A\"", "){n + 1, n + 2}")));
}

#[test]
fn large_formulas_take_little_time() {
    let started = std::time::Instant::now();
    survive(&vec!["< \"A\" > true"; 20_000].join(" and "));
    survive(&format!("[ {} ] false", vec!["\"A\""; 20_000].join(" . ")));
    survive(&format!("[ {} ] false", vec!["\"A\""; 20_000].join(" | ")));
    survive("< (((true{99}){99}){99}){99} > true");
    survive("[ (((\"A\" | tau){9})*){99} . \"B\" ] false");
    let doubling: String =
        (0..40).map(|at| format!("macro M{} (A) = M{at} (A) and M{at} (A) end_macro ", at + 1)).collect();
    survive(&format!("macro M0 (A) = < A > true end_macro {doubling} M40 (\"A\")"));
    survive("< for i:nat from 0 to 1000000000 do nil end for > true");
    survive("< loop (n:nat := 0) in continue (n + 1) | \"A\" . exit end loop > true");
    survive("mu X (n:nat := 0) . X (n + 1)");
    survive("mu X (n:nat := 0) . < true > X (n + 1)");
    assert!(started.elapsed().as_secs() < 40, "{:?}", started.elapsed());
}

/// Long constructs nest what every pass has to walk down, so their length is limited too.
#[test]
fn long_constructs_are_refused_or_fit() {
    for count in [90, 100_000] {
        let branches: String = (0..count).map(|at| format!("{at} -> true | ")).collect();
        let values: String = (0..count).map(|at| format!("{at}, ")).collect();
        let arms: String = (0..count).map(|at| format!("elsif {at} = 1 then \"A\" ")).collect();
        let bindings: String = (0..count).map(|at| format!("_x{at}:nat := {at}, ")).collect();
        for text in [
            format!("case 7 is {branches} any -> true end case"),
            format!("case 7 is {values} 1 -> true | any -> true end case"),
            format!("[ if false then \"A\" {arms} else \"B\" end if ] false"),
            format!("let {bindings} _y:nat := 0 in true end let"),
            format!("[ let {bindings} _y:nat := 0 in \"C\" end let ] false"),
        ] {
            let mut sources = source::Sources::new();
            match logic::load_text("p.mcl", &text, &mut sources) {
                Err(errors) => {
                    let told = sources.render_all(&errors, false);
                    assert!(count > 90 && told.contains("in one construct"), "{told}");
                }
                Ok(loaded) => {
                    let lts = lts::parse_aut("des (0, 1, 1)\n(0, Z, 0)\n", &Default::default()).unwrap();
                    let formula = &loaded.properties[0].formula;
                    let verdict =
                        logic::check_lts(&lts, formula, &Default::default(), &lts::Progress::new()).unwrap();
                    assert!(count == 90 && verdict.holds);
                }
            }
        }
    }
}
