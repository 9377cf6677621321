use super::*;
use crate::aut::write_aut;

fn read_text(text: &str) -> Result<Lts, AutError> {
    parse_aut(text, &AutOptions::default())
}

/// The transitions as `source label target` lines.
fn listing(lts: &Lts) -> Vec<String> {
    lts.transitions().map(|t| format!("{} {} {}", t.source, lts.label(t.label), t.target)).collect()
}

#[test]
fn labels_may_hold_anything_but_a_line_end() {
    let text = "des (0, 9, 2)\n\
        (0, A, 1)\n\
        (0, \"B\", 1)\n\
        (0, C !x, y (1), 1)\n\
        (0, \"D !\"quoted, text\"\", 1)\n\
        (0,E,1)\r\n\
        \t( 0 ,\t F  G , 1 ) \n\
        \n\
        (0, \"), (\", 1)\n\
        (0, i, 1)\n\
        (1, \"i\", 0)";
    let lts = read_text(text).unwrap();
    assert_eq!(
        listing(&lts),
        [
            "0 i 1",
            "0 A 1",
            "0 B 1",
            "0 C !x, y (1) 1",
            "0 D !\"quoted, text\" 1",
            "0 E 1",
            "0 F  G 1",
            "0 ), ( 1",
            "1 i 0"
        ]
    );
}

#[test]
fn an_empty_system_and_another_initial_state() {
    let lts = read_text("des(0,0,1)").unwrap();
    assert_eq!((lts.state_count(), lts.transition_count()), (1, 0));
    let lts = read_text("\n\n  des (2, 1, 3)\r\n(0, A, 1)\r\n\r\n").unwrap();
    assert_eq!(lts.initial().index(), 2);
}

#[test]
fn tau_is_internal_only_when_asked_for() {
    let text = "des (0, 2, 2)\n(0, tau, 1)\n(1, i, 0)\n";
    assert!(!read_text(text).unwrap().outgoing(StateId::new(0))[0].label.is_tau());
    let lts = parse_aut(text, &AutOptions { tau: Some("tau".into()), sparse: false }).unwrap();
    assert!(lts.edges().iter().all(|edge| edge.label.is_tau()));
    assert_eq!(lts.labels().len(), 1);
}

#[test]
fn repeated_transitions_are_read_once() {
    assert_eq!(read_text("des (0, 2, 1)\n(0, A, 0)\n(0, \"A\", 0)\n").unwrap().transition_count(), 1);
}

/// Every wrong text with the place and the message it gets.
#[test]
fn errors_name_line_and_column() {
    let cases = [
        ("", 1, 1, "the file is empty"),
        ("\n \n", 2, 1, "the file is empty"),
        ("dse (0, 0, 1)", 1, 1, "expected `des`, but found `d`"),
        ("des 0, 0, 1)", 1, 5, "expected `(`, but found `0`"),
        ("des (0, 0)", 1, 10, "expected `,`, but found `)`"),
        ("des (0, x, 1)", 1, 9, "expected a number, but found `x`"),
        ("des (0, 0, 1) x", 1, 15, "expected the end of the line, but found `x`"),
        ("des (0, 0, 0)", 1, 12, "a transition system has at least its initial state"),
        ("des (1, 0, 1)", 1, 6, "the initial state 1 is out of range"),
        ("des (0, 2, 1)\n(0, A, 0)\n", 1, 9, "the header announces 2 transitions, but the file has 1"),
        ("des (0, 0, 1)\n(0, A, 0)\n", 1, 9, "the header announces 0 transitions, but the file has 1"),
        ("des (0, 1, 1)\n(0, A, 1)\n", 2, 8, "state 1 is out of range"),
        ("des (0, 1, 1)\n\n(5, A, 0)\n", 3, 2, "state 5 is out of range"),
        ("des (0, 1, 2)\n(0, A, ", 2, 7, "expected `)`, but the line ends"),
        ("des (0, 1, 2)\n(0, A, 1", 2, 9, "expected `)`, but the line ends"),
        ("des (0, 1, 2)\n(0, A 1)", 2, 6, "expected `,`, but found `1`"),
        ("des (0, 1, 2)\n(0, A, x)", 2, 8, "expected a state number, but found `x`"),
        ("des (0, 1, 2)\n(0, , 1)", 2, 4, "expected a label, but found `,`"),
        ("des (0, 1, 2)\n(0, \"A, 1)", 2, 5, "the label's opening quote is not closed"),
        ("des (0, 1, 2)\nx", 2, 1, "expected `(`, but found `x`"),
        ("des (0, 1, 2)\n(", 2, 2, "expected a state number, but the line ends"),
        ("des (0, 1, 2)\n(0)", 2, 3, "expected `,`, but found `)`"),
        ("des (0, 1, 2)\n(0,)", 2, 4, "expected a state number, but found `)`"),
        ("des (0, 1, 2)\n(0,1)", 2, 4, "expected `,`, but found `1`"),
        ("des (0, 0, 99999999999)", 1, 12, "more than 4,294,967,295 states can't be represented"),
        (
            "des (0, 0, 4000000000)",
            1,
            12,
            "the header announces 4000000000 states, most of which never occur",
        ),
        (
            "des (0, 1, 4)\n(99999999999999999999999, A, 0)",
            2,
            2,
            "state 18446744073709551615 is out of range",
        ),
    ];
    for (text, line, column, message) in cases {
        let error = match read_text(text) {
            Err(error) => error,
            Ok(_) => panic!("accepted {text:?}"),
        };
        assert_eq!((error.line, error.column, error.message.as_str()), (line, column, message), "{text:?}");
    }
}

#[test]
fn errors_render_with_the_line_they_speak_of() {
    let error = read_text("des (0, 1, 2)\n(0, A, 7)\n").err().unwrap();
    let (sources, diagnostic) = error.diagnostic("x.aut");
    let expected = "\
error: state 7 is out of range
 --> x.aut:2:8
  |
2 | (0, A, 7)
  |        ^
  |
  = help: the header announces 2 states, numbered 0 to 1";
    assert_eq!(sources.render(&diagnostic, false), expected);
}

/// A system large enough for several blocks: in order, shuffled, from a mapped file and from every stream.
#[test]
fn blocks_are_merged_in_order() {
    let count = 150_000u32;
    let line = |n: u32| format!("({n}, \"L !{}\", {})\n", n % 1000, (n * 7 + 1) % count);
    let header = format!("des (0, {count}, {count})\n");
    let ordered: String = std::iter::once(header.clone()).chain((0..count).map(line)).collect();
    let shuffled: String =
        std::iter::once(header).chain((0..count).map(|n| line(n * 7919 % count))).collect();
    assert!(ordered.len() > 3 * BLOCK_BYTES);
    let lts = read_text(&ordered).unwrap();
    assert_eq!(lts.labels().text(LabelId::new(5)), "L !4");
    assert_eq!(listing(&lts)[123_456], format!("123456 L !456 {}", (123_456u64 * 7 + 1) % 150_000));
    let shuffled = read_text(&shuffled).unwrap();
    assert!(listing(&lts) == listing(&shuffled));

    let folder = tempfile::tempdir().unwrap();
    for name in ["a.aut", "a.aut.gz", "a.aut.zst"] {
        let path = folder.path().join(name);
        crate::file::write_file(&path, |out| write_aut(&lts, out)).unwrap();
        let again = read_aut(&path, &AutOptions::default(), &Progress::new()).unwrap();
        assert!(listing(&lts) == listing(&again), "{name}");
    }
    let late_error = ordered.replace("(140000, ", "(x140000, ");
    let path = folder.path().join("late.aut");
    std::fs::write(&path, &late_error).unwrap();
    for error in [
        read_text(&late_error).err().unwrap(),
        match read_aut(&path, &AutOptions::default(), &Progress::new()) {
            Err(ReadError::Syntax { error, .. }) => error,
            _ => panic!("accepted"),
        },
    ] {
        assert_eq!((error.line, error.column), (140_002, 2));
    }
}

#[test]
fn a_cancelled_read_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.aut");
    std::fs::write(&path, "des (0, 0, 1)\n").unwrap();
    let progress = Progress::new();
    progress.cancel();
    assert!(matches!(read_aut(&path, &AutOptions::default(), &progress), Err(ReadError::Cancelled)));
}

#[test]
fn sparse_numbers_are_numbered_anew_when_asked_for() {
    let text = "des (7, 2, 3)\n(7, A, 90)\n(90, B, 4000000000)\n";
    assert!(read_text(text).is_err());
    let sparse = AutOptions { sparse: true, ..AutOptions::default() };
    assert_eq!(listing(&parse_aut(text, &sparse).unwrap()), ["0 A 1", "1 B 2"]);
    let error = parse_aut("des (0, 1, 1)\n(0, A, 5)\n", &sparse).unwrap_err();
    assert_eq!(error.message, "the header announces 1 state, but the file names 2");
}
