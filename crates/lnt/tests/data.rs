//! LNT's data language used by another language: definitions, patterns and expressions in a text of its own.

use lnt::data::{Data, Definitions, Function, Leaf, Matcher, Name, Reader, TypeId};
use source::{Diagnostic, Sources};

const TYPES: &str = "
    type shade is dark, pale (grey : nat), mixed (one, other : nat) end type
    type even is n : nat where (n mod 2) == 0 end type
    type small is n : digit where (nat (n) mod 2) == 0 end type
    type digit is range 0 .. 9 of nat end type
    type digits is list of nat with \"==\" end type
    function limit : nat is return 2 end function
    function twice (n : nat) : nat is return n + n end function
";

struct Read {
    definitions: Definitions,
    matcher: Option<Matcher>,
    messages: Vec<Diagnostic>,
    sources: Sources,
}

/// Types, and an inscription for values of a type over variables x and y.
fn read(inscription: &str, ty: &str) -> Read {
    let text = format!("{TYPES} {inscription})");
    let mut sources = Sources::new();
    let file = sources.add("data", text.as_str());
    let mut messages = Vec::new();
    let mut reader = Reader::new(file, &text, &[], &mut messages);
    while reader.definition() {}
    let name = Name { text: "data".into(), span: reader.span() };
    let inscription = reader.inscription();
    let definitions = reader.finish(&name).check(&mut messages);
    let definitions = definitions.unwrap_or_else(|| panic!("{}", sources.render_all(&messages, false)));
    let ty = definitions.find_type(&Name { text: ty.into(), span: name.span }, &mut messages).unwrap();
    let because = (name.span, "wanted here".to_owned());
    let matcher = definitions.matcher(&inscription, ty, because, &["x", "y"], &mut messages);
    Read { definitions, matcher, messages, sources }
}

fn rendered(inscription: &str, ty: &str) -> String {
    let read = read(inscription, ty);
    assert!(read.matcher.is_none());
    read.sources.render_all(&read.messages, false)
}

#[test]
fn patterns_find_the_parts_of_values() {
    let Read { mut definitions, matcher, mut messages, .. } = read("mixed (x, twice (x))", "shade");
    let matcher = matcher.unwrap();
    let [(Leaf::Variable(0, _), nat), (Leaf::Equals(twice), TypeId::NAT)] = matcher.leaves.as_slice() else {
        panic!("{:?}", matcher.leaves)
    };
    assert_eq!(*nat, TypeId::NAT);
    let x = Name { text: "x".into(), span: twice.span() };
    let function: Function =
        definitions.function(&[(x, TypeId::NAT)], TypeId::NAT, twice, &mut messages).unwrap();
    let data: Data = definitions.finish(&mut messages).unwrap();
    let mut evaluator = data.evaluator();
    let (pale, mixed) = (evaluator.intern(&[1, 3]), evaluator.intern(&[2, 3, 6]));
    let mut parts = Vec::new();
    assert!(!evaluator.matches(&matcher, pale, &mut parts));
    parts.clear();
    assert!(evaluator.matches(&matcher, mixed, &mut parts));
    assert_eq!(parts, [3, 6]);
    assert_eq!(evaluator.call(&function, &[3]).unwrap(), 6);
}

#[test]
fn values_of_types_with_conditions_are_listed() {
    let Read { definitions, matcher, mut messages, .. } = read("any", "even");
    let span = matcher.unwrap().span;
    let small = definitions.find_type(&Name { text: "small".into(), span }, &mut messages).unwrap();
    let digits = definitions.find_type(&Name { text: "digits".into(), span }, &mut messages).unwrap();
    let data = definitions.finish(&mut messages).unwrap();
    let mut evaluator = data.evaluator();
    assert_eq!(evaluator.values(digits).unwrap_err(), "has infinitely many values");
    assert_eq!(*evaluator.values(small).unwrap(), [0, 2, 4, 6, 8]);
}

#[test]
fn what_is_wrong_is_told_where_it_stands() {
    let wrong = rendered("mixed (z, 1)", "shade");
    assert!(wrong.contains("unknown variable or constant `z`"), "{wrong}");
    let wrong = rendered("pael (x)", "shade");
    assert!(wrong.contains("did you mean `pale`?"), "{wrong}");
    let wrong = rendered("twice (any)", "nat");
    assert!(wrong.contains("a function can't be undone"), "{wrong}");
    let wrong = rendered("dark", "nat");
    assert!(wrong.contains("wanted here"), "{wrong}");
}

#[test]
fn constants_are_computed_and_compared() {
    let matcher = read("pale (limit)", "shade").matcher.unwrap();
    assert!(matches!(matcher.leaves.as_slice(), [(Leaf::Equals(_), TypeId::NAT)]));
}
