//! What is said beside a verdict, and what the built-in patterns mean on systems small enough to see.

use logic::Options;
use lts::{Lts, Progress};
use source::Sources;

fn system(transitions: &[(usize, &str, usize)]) -> Lts {
    let mut builder = lts::LtsBuilder::new();
    for &(source, label, target) in transitions {
        let label = builder.label(label);
        builder.add(lts::StateId::new(source), label, lts::StateId::new(target));
    }
    builder.finish().unwrap()
}

fn said(lts: &Lts, text: &str) -> (bool, String) {
    let mut sources = Sources::new();
    let loaded = logic::load_text("p.mcl", text, &mut sources)
        .unwrap_or_else(|errors| panic!("{}", sources.render_all(&errors, false)));
    let formula = &loaded.properties[0].formula;
    let verdict = logic::check_lts(lts, formula, &Options::default(), &Progress::new()).unwrap();
    let warnings = logic::warnings(lts, formula, &verdict, &Progress::new());
    (verdict.holds, sources.render_all(&warnings, false))
}

#[test]
fn text_alone_reads_no_files() {
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("secret.mcl");
    std::fs::write(&secret, "macro HIDDEN () = \"A\" end_macro").unwrap();
    let secret = secret.display();
    for text in [
        format!("library \"{secret}\" end_library [ true* . HIDDEN ] false"),
        format!("[ true* . \"COIN\"{{1library \"{secret}\" end_library}} . HIDDEN ] false"),
    ] {
        let mut sources = Sources::new();
        let errors = logic::load_text("p.mcl", &text, &mut sources).unwrap_err();
        let told = sources.render_all(&errors, false);
        assert!(told.contains("can't include a library"), "{told}");
        assert!(sources.files().all(|file| !sources.text(file).contains("macro HIDDEN")), "{told}");
    }
    // The word alone is harmless.
    let comment = "-- no library is needed\n[ true* . \"A\" ] false";
    assert!(logic::load_text("p.mcl", comment, &mut Sources::new()).is_ok());
}

#[test]
fn unmatched_labels_and_missing_occasions_are_told() {
    let lts = system(&[(0, "SEND !1", 1), (1, "RECEIVE !1", 0)]);
    let (holds, text) = said(&lts, r#"NEVER ("SEND")"#);
    assert!(holds);
    assert!(text.contains("the label \"SEND\" never occurs"), "{text}");
    assert!(text.contains("labels with the gate `SEND` are \"SEND !1\"; write { SEND ... }"), "{text}");
    let (_, text) = said(&lts, "[ true* . 'RECEIVE' ] false");
    assert!(text.contains("patterns match whole labels, such as \"RECEIVE !1\""), "{text}");
    let (_, text) = said(&lts, "[ true* . { RECIEVE ... } ] false");
    assert!(text.contains("did you mean `RECEIVE`?"), "{text}");
    let (holds, text) = said(&lts, r#"RESPONSE ({ SEND !2 }, { RECEIVE !2 })"#);
    assert!(holds && text.contains("only because what it describes never happens"), "{text}");
    let (holds, text) = said(&lts, r#"[ true* ] (< { SEND !3 } > true implies false)"#);
    assert!(holds && text.contains("only because its condition never does"), "{text}");
    let (holds, text) = said(&lts, r#"RESPONSE ({ SEND !1 }, { RECEIVE !1 })"#);
    assert!(holds && text.is_empty(), "{text}");
}

#[test]
fn patterns_are_basic_regular_expressions() {
    let lts = system(&[(0, "EX !0 !1 !{0}", 1), (1, "A", 0)]);
    assert!(!said(&lts, "[ true* . 'EX !0 .* !{0}' ] false").0);
    assert!(!said(&lts, "[ true* . 'EX !0 .* !{' # \"0}\" ] false").0);
    let (holds, text) = said(&lts, "[ true* . '(A|B)' ] false");
    assert!(holds && text.contains("as an extended regular expression it would match \"A\""), "{text}");
    // On the command line it is the other way round.
    let mut sources = Sources::new();
    let property = logic::never("EX !0 .* !{0}", &mut sources).unwrap();
    let warnings = logic::unmatched(&property.formula, &["EX !0 !1 !{0}"]);
    let text = sources.render_all(&warnings, false);
    assert!(text.contains("as a basic regular expression, as in MCL, it would match"), "{text}");
    assert_eq!(property.formula.to_string(), "([ (true* . 'EX !0 .* !{0}' (* extended *)) ] false)");
}

#[test]
fn values_that_never_occur_are_told() {
    let lts = system(&[(0, "SEND !1 !TRUE", 1), (1, "RECEIVE !\"a\"", 0)]);
    for text in [
        "[ true* . { SEND !2 ... } ] false",
        "[ true* . { SEND ?any } ] false",
        "[ true* . { SEND ?x:bool ... where x } ] false",
        "[ true* . { SEND ?x:nat ?any where x > 1 } ] false",
        "[ true* . { SEND ?x:nat !x } ] false",
        "[ true* . { any ?any ?any ?any } ] false",
        "[ true* . { RECEIVE !\"b\" } ] false",
    ] {
        let (_, told) = said(&lts, text);
        assert!(told.contains("has the values of"), "{text}: {told}");
    }
    // Nothing false is said of what depends on other values.
    for text in [
        "[ true* . { SEND ?x:nat ?any } . { SEND !x ?any where x = 5 } ] false",
        "forall y:nat among { 7 ... 9 } . [ true* . { SEND !y !TRUE } ] false",
        "[ true* . { SEND ?x:nat !TRUE where x < 2 } . true* . { RECEIVE ?y:string where y = \"a\" } ] false",
    ] {
        let (_, told) = said(&lts, text);
        assert!(!told.contains("has the values of"), "{text}: {told}");
    }
}

#[test]
fn patterns_mean_what_they_say() {
    // A; then B or a loop of internal steps; then C for ever.
    let lts = system(&[(0, "A", 1), (1, "B", 2), (1, "i", 1), (2, "C", 2)]);
    for (text, expected) in [
        ("DEADLOCK_FREE", true),
        ("LIVELOCK_FREE", false),
        (r#"NEVER ("D")"#, true),
        (r#"ABSENCE ("B")"#, false),
        (r#"ALWAYS ("A" or "B" or "C" or tau)"#, true),
        (r#"REACHABLE ("C")"#, true),
        (r#"ALWAYS_REACHABLE ("C")"#, true),
        (r#"ALWAYS_REACHABLE ("A")"#, false),
        (r#"INEVITABLE ("A")"#, true),
        (r#"INEVITABLE ("A", "B")"#, false),
        (r#"EXISTENCE ("B")"#, false),
        (r#"FAIR_INEVITABLE ("B")"#, true),
        (r#"PRECEDENCE ("A", "B")"#, true),
        (r#"PRECEDENCE ("B", "A")"#, false),
        (r#"RESPONSE ("A", "B")"#, false),
        (r#"RESPONSE ("B", "C")"#, true),
        (r#"FAIR_RESPONSE ("A", "B")"#, true),
        (r#"ABSENCE_AFTER ("A", "B")"#, true),
        (r#"ABSENCE_AFTER ("C", "B")"#, false),
        (r#"ABSENCE_BEFORE ("C", "B")"#, true),
        (r#"ABSENCE_BEFORE ("A", "B")"#, false),
        (r#"ABSENCE_BETWEEN (tau, "A", "B")"#, false),
        (r#"AT_MOST_ONCE ("A")"#, true),
        (r#"AT_MOST_ONCE ("C")"#, false),
        (r#"ALTERNATION ("A", "B")"#, true),
    ] {
        assert_eq!(said(&lts, text).0, expected, "{text}");
    }
}

#[test]
fn shortcuts_are_properties() {
    let mut sources = Sources::new();
    let lts = system(&[(0, "A !1", 1), (1, "B", 2), (2, "i", 2)]);
    let holds = |property: &logic::Property| {
        logic::check_lts(&lts, &property.formula, &Options::default(), &Progress::new()).unwrap().holds
    };
    assert!(holds(&logic::deadlock(&mut sources)));
    assert!(!holds(&logic::livelock(&mut sources)));
    assert!(!holds(&logic::never("A", &mut sources).unwrap()));
    assert!(holds(&logic::never("A !2", &mut sources).unwrap()));
    assert!(holds(&logic::reachable("'B|C'", &mut sources).unwrap()));
    assert!(holds(&logic::inevitable(&["A", "\"B\""], &mut sources).unwrap()));
    assert!(!holds(&logic::inevitable(&["B", "A"], &mut sources).unwrap()));
    assert!(logic::never("'('", &mut sources).is_err());
}

#[test]
fn libraries_are_found_beside_the_file() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("own.mcl"),
        "macro TWICE (A) = < true* . A . true* . A > true end_macro",
    )
    .unwrap();
    let path = folder.path().join("p.mcl");
    std::fs::write(
        &path,
        "library own.mcl end_library\nproperty P is TWICE (\"A\") expected false end property",
    )
    .unwrap();
    let mut sources = Sources::new();
    let loaded = logic::load_properties(&path, &mut sources).unwrap();
    assert_eq!(loaded.properties[0].formula.to_string(), r#"(< (true* . "A" . true* . "A") > true)"#);
    assert!(!loaded.properties[0].expected);
    std::fs::write(folder.path().join("own.mcl"), "library own.mcl end_library").unwrap();
    let errors = logic::load_properties(&path, &mut sources).unwrap_err();
    assert!(sources.render_all(&errors, false).contains("includes itself"));
    // CADP's library is there without being there; others are not.
    std::fs::write(&path, "library standard.mcl end_library INEVITABLE (\"A\")").unwrap();
    assert_eq!(logic::load_properties(&path, &mut sources).unwrap().properties.len(), 1);
    std::fs::write(&path, "library other.mcl end_library INEVITABLE (\"A\")").unwrap();
    assert!(logic::load_properties(&path, &mut sources).is_err());
}

#[test]
fn functions_compute_what_the_book_says() {
    let lts = system(&[(0, "A", 0)]);
    for text in [
        r#"length ("abc") = 3 and is_empty ("") and not is_empty ("a")"#,
        r#"concat ("ab", "c") = "abc" and "ab" + "c" = "abc""#,
        r#"index ("abcab", "ab") = 1 and rindex ("abcab", "ab") = 4 and index ("a", "b") = 0"#,
        r#"nth ("abc", 2) = 'b' and substr ("abcd", 2, 2) = "bc" and prefix ("abc", 2) = "ab""#,
        r#"suffix ("abc", 2) = "bc" and suffix ("abc", 4) = "" and substr ("abc", 1, 0) = """#,
        r#"min (2, 1) = 1 and max (1.5, 2.5) = 2.5 and abs (- 3) = 3 and abs (- 1.5) = 1.5"#,
        r#"succ (1) = 2 and pred (0) = - 1 and 7 div 2 = 3 and 7 mod 2 = 1 and 1.0 / 4.0 = 0.25"#,
        r#"nat ("12") = 12 and int (- 2.7) = - 2 and real (1) = 1.0 and string (12) = "12" and string ('a') = "a""#,
        r#"(1 of nat) = 1 and "a" < "b" and 'a' < 'b' and 0.5 < 1.5"#,
        r#"let x, y:nat := 2, z:nat := 3 in x + y < z + 2 end let"#,
        r#"forall x, y:nat among { 0 ... 2 } . x + y < 5"#,
        r#"case "b" is "a" -> false | "b", "c" -> true | any -> false end case"#,
        r#"case 1 < 2 is true -> true | false -> false end case"#,
    ] {
        assert!(said(&lts, text).0, "{text}");
    }
    for (text, reason) in [
        (r#"nth ("abc", 4) = 'b'"#, "position"),
        (r#"substr ("abc", 0, 1) = "a""#, "position"),
        (r#"nat ("x") = 1"#, "can't convert"),
        ("1 div 0 = 1", "divides by zero"),
    ] {
        let mut sources = Sources::new();
        let loaded = logic::load_text("p.mcl", text, &mut sources).unwrap();
        let formula = &loaded.properties[0].formula;
        let error = logic::check_lts(&lts, formula, &Options::default(), &Progress::new()).unwrap_err();
        assert!(error.to_string().contains(reason), "{text}: {error}");
    }
}

#[test]
fn programming_constructs_mean_what_the_book_says() {
    // Two coins, then their sum.
    let lts = system(&[
        (0, "PAY !1", 1),
        (1, "PAY !2", 2),
        (2, "DONE", 3),
        (3, "TOTAL !3", 4),
        (4, "NAME !\"tmp_x\"", 5),
        (5, "GRADE !'a' !1.50", 0),
    ]);
    let sum = "loop (sum:nat := 0) : (all:nat) in
        { PAY ?n:nat } . continue (sum + n) | { DONE } . exit (sum) end loop";
    for (text, expected) in [
        (format!("< {sum} . {{ TOTAL !all }} > true"), true),
        (format!("< {sum} . {{ TOTAL !all + 1 }} > true"), false),
        ("< for i:nat from 1 to 2 do { PAY !i } end for . { DONE } > true".into(), true),
        ("< for i:int from 2 to 1 step -1 do { PAY !i } end for > true".into(), false),
        ("< for i:nat from 3 to 1 do { PAY !i } end for . { PAY !1 } > true".into(), true),
        ("< repeat { PAY ?n:nat } until n = 2 end repeat . { DONE } > true".into(), true),
        ("[ { PAY ?n:nat } . true{n} . { DONE } ] false".into(), false),
        ("< { PAY ?n:nat } . true{n - 1 ... n + 3} . { TOTAL ... } > true".into(), true),
        ("< { PAY ?n:nat } . if n = 1 then { PAY ... } else { DONE } end if > true".into(), true),
        ("< { PAY ?n:nat } . case n is 2 -> { DONE } | any -> ({ PAY !n } | { PAY !n + 1 }) end case > true".into(), true),
        ("< while false do { DONE } end while . { PAY ... } > true".into(), true),
        ("< true* . { NAME ?s:string where length (s) > 3 and nth (s, 4) = '_' } > true".into(), true),
        ("< true* . { GRADE ?c:char ?r:real where c = 'a' and r = 1.5 } > true".into(), true),
        // A condition guards what stands behind it.
        ("nu X (left:nat := 2) . [ { PAY ... } ] (left > 0 and X (left - 1))".into(), true),
        ("nu X (left:nat := 1) . [ { PAY ... } ] (left > 0 and X (left - 1))".into(), false),
        ("< loop { PAY ... } . continue | { DONE } . exit end loop > @".into(), false),
    ] {
        assert_eq!(said(&lts, &text).0, expected, "{text}");
    }
    let macros = "macro PAYS (N, R) = for i:nat from 1 to N do { PAY !i } end for . R end_macro
        < PAYS (1 + 1, { DONE }) > true";
    assert!(said(&lts, macros).0);
}

#[test]
fn only_states_that_were_looked_at_count_as_visited() {
    let lts = system(&[(0, "A", 1), (1, "B", 2), (2, "C", 3), (3, "D", 4)]);
    let visited = |text: &str| {
        let mut sources = Sources::new();
        let loaded = logic::load_text("p.mcl", text, &mut sources).unwrap();
        let formula = &loaded.properties[0].formula;
        logic::check_lts(&lts, formula, &Options::default(), &Progress::new()).unwrap().states_visited
    };
    assert_eq!(visited(r#"NEVER ("A")"#), 2);
    assert_eq!(visited(r#"NEVER ("Z")"#), 5);
    assert_eq!(visited(r#"REACHABLE ("B") and < "A" > true"#), 3);
}
