//! Functions that only tell whether a list has an element become the predefined operation; those that merely look like it
//! don't. Many functions of that shape, right and wrong, have to give what the naive twin gives, which leaves them alone.

use explore::{Limits, explore};
use lnt::{LntModel, Loader, Options};
use lts::Progress;
use source::Sources;

/// What a function answers for all elements and lists of up to three elements, as a system.
fn answers(function: &str, container: &str, naive: bool) -> String {
    let text = format!(
        "module m is
            type key is range 0 .. 2 of nat with \"==\", \"!=\", \"<\" end type
            type item is item (high, low : key) with \"==\", \"!=\", \"<\" end type
            type items is {container} of item
                with \"==\", \"!=\", \"empty\", \"head\", \"tail\", \"insert\", \"length\", \"member\"
            end type
            channel told is (item, items, bool) end channel
            {function}
            process MAIN [TELL : told] is
                var a, b : key, x, y, z : item, s : items, n : key in
                    a := any key; b := any key;
                    x := item (a, 1); y := item (1, b); z := item (a, b);
                    n := any key;
                    s := {{}};
                    if n != 0 then s := insert (y, s); s := insert (item (0, 0), s) end if;
                    if n == 2 then s := insert (z, s) end if;
                    TELL (x, s, f (x, s)); stop
                end var
            end process
        end module"
    );
    let mut sources = Sources::new();
    let checked = Loader::new()
        .load_text("drawn.lnt", &text, &mut sources)
        .unwrap_or_else(|errors| panic!("{text}\n{}", sources.render_all(&errors, false)));
    let main = checked.program.main().unwrap();
    let options = Options { naive, provenance: false, ..Options::default() };
    let model = LntModel::new(checked.program, main, &options).unwrap();
    let found = explore(&model, &Limits::default(), &Progress::new());
    let mut system = Vec::new();
    lts::write_aut(&found.lts, &mut system).unwrap();
    format!("{:?}\n{}", found.outcome, String::from_utf8(system).unwrap())
}

fn compare(function: &str) {
    for container in ["sorted set", "list"] {
        let (found, expected) = (answers(function, container, false), answers(function, container, true));
        assert_eq!(found, expected, "{container}\n{function}");
    }
}

#[test]
fn functions_that_call_themselves() {
    let conditions = ["x == m", "m != x", "not (x == m)", "x == x", "x == item (0, 1)", "m == item (0, 1)"];
    let others = [
        "f (m, rest)",
        "f (x, rest)",
        "not (f (m, rest))",
        "(x == m) or f (m, rest)",
        "(x != m) and f (m, rest)",
        "f (m, rest) and f (m, rest)",
        "false",
    ];
    for (empty, found) in [("false", "true"), ("true", "false"), ("false", "false")] {
        for condition in conditions {
            for other in others {
                compare(&format!(
                    "function f (m : item, s : items) : bool is
                        case s in
                        var x : item, rest : items in
                            {{}} -> return {empty}
                        |   cons (x, rest) -> if {condition} then return {found} else return {other} end if
                        end case
                    end function"
                ));
            }
        }
    }
}

#[test]
fn functions_with_a_loop() {
    let starts =
        ["rest := s", "if empty (s) then rest := s else rest := tail (s) end if", "rest := {m} of items"];
    let bodies = [
        "if head (rest) == m then found := true end if; rest := tail (rest)",
        "if head (rest) == m then found := true end if; rest := tail (rest);
         if not (empty (rest)) then rest := tail (rest) end if",
        "if head (rest) != m then found := false else found := true end if; rest := tail (rest)",
        "if head (rest) == m then return true end if; rest := tail (rest)",
        "if m == head (rest) then return not (found) end if; rest := tail (rest)",
        "if head (rest) == m then found := true; rest := {} else rest := tail (rest) end if",
        "x := head (rest); rest := tail (rest); if x == m then rest := {}; found := true end if",
        "x := head (rest); rest := tail (rest); if x == m then m2 := x; found := m2 == m end if",
    ];
    for start in starts {
        for body in bodies {
            for (condition, answer) in [("true", "found"), ("not (found)", "found"), ("true", "not (found)")]
            {
                compare(&format!(
                    "function f (m : item, s : items) : bool is
                        var rest : items, found : bool, x, m2 : item in
                            found := false; x := m; m2 := m; use x; use m2;
                            {start};
                            while not (empty (rest)) and {condition} loop {body} end loop;
                            return {answer}
                        end var
                    end function"
                ));
            }
        }
    }
}

/// A function that never ends is an error, whatever it would say if it did.
#[test]
fn functions_without_an_end_are_left_alone() {
    let found = answers(
        "function f (m : item, s : items) : bool is
            if empty (s) then return false end if;
            return (head (s) == m) or f (m, s)
        end function",
        "sorted set",
        false,
    );
    assert!(found.contains("nested more than"), "{found}");
}
