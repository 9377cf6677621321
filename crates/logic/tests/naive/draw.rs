//! Random formulas, as text, so that the parser is tried as well.

use super::Chance;

/// What is in scope while a formula is drawn.
#[derive(Clone, Default)]
pub struct Scope {
    /// Fixpoint variables, whether they take a number, and whether they were introduced under negation.
    fixpoints: Vec<(String, bool, bool)>,
    /// Data variables of type nat.
    data: Vec<String>,
    negative: bool,
    names: usize,
}

pub fn formula(chance: &mut Chance, depth: usize, scope: &mut Scope) -> String {
    let leaf = depth == 0 || chance.below(8) == 0;
    if leaf {
        let usable: Vec<(String, bool)> = scope
            .fixpoints
            .iter()
            .filter(|one| one.2 == scope.negative)
            .map(|one| (one.0.clone(), one.1))
            .collect();
        return match chance.below(5) {
            0 => "true".to_owned(),
            1 => "false".to_owned(),
            2 if !scope.data.is_empty() => {
                let name = scope.data[chance.below(scope.data.len())].clone();
                format!("{name} {} {}", chance.pick(&["=", "<>", "<", "<=", ">", ">="]), chance.below(4))
            }
            _ if !usable.is_empty() => {
                let (name, takes) = &usable[chance.below(usable.len())];
                let argument = match scope.data.is_empty() {
                    false => format!(
                        "({} + {}) mod 3",
                        scope.data[chance.below(scope.data.len())],
                        chance.below(3)
                    ),
                    true => chance.below(3).to_string(),
                };
                if *takes { format!("{name} ({argument})") } else { name.clone() }
            }
            _ => format!("< {} > true", action(chance, 1, scope)),
        };
    }
    match chance.below(17) {
        16 => {
            let name = format!("c{}", scope.names);
            scope.names += 1;
            let of = small(chance, scope);
            let first = formula(chance, depth - 1, scope);
            scope.data.push(name.clone());
            let second = formula(chance, depth - 1, scope);
            scope.data.pop();
            let third = formula(chance, depth - 1, scope);
            format!(
                "case {of} is 0, 5 -> {first} | {name}:nat where {name} < 2 -> {second} | any -> {third} end case"
            )
        }
        0 => {
            scope.negative = !scope.negative;
            let inner = formula(chance, depth - 1, scope);
            scope.negative = !scope.negative;
            format!("not ({inner})")
        }
        1 | 2 => {
            let word = chance.pick(&["and", "or"]);
            let (left, right) = (formula(chance, depth - 1, scope), formula(chance, depth - 1, scope));
            format!("({left}) {word} ({right})")
        }
        3 => {
            scope.negative = !scope.negative;
            let left = formula(chance, depth - 1, scope);
            scope.negative = !scope.negative;
            let right = formula(chance, depth - 1, scope);
            format!("({left}) implies ({right})")
        }
        4 => {
            // Both ways: nothing from outside may be used inside.
            let outside = std::mem::take(&mut scope.fixpoints);
            let left = formula(chance, depth - 1, scope);
            let right = formula(chance, depth - 1, scope);
            let word = chance.pick(&["equ", "xor", "<=>"]);
            scope.fixpoints = outside;
            format!("({left}) {word} ({right})")
        }
        5..8 => {
            let (open, close) = if chance.below(2) == 0 { ("<", ">") } else { ("[", "]") };
            let bound = scope.data.len();
            let regular = regular(chance, 2, scope, true);
            let body = formula(chance, depth - 1, scope);
            scope.data.truncate(bound);
            format!("{open} {regular} {close} ({body})")
        }
        8 => {
            let bound = scope.data.len();
            let regular = regular(chance, 2, scope, true);
            scope.data.truncate(bound);
            if chance.below(2) == 0 { format!("< {regular} > @") } else { format!("[ {regular} ] -|") }
        }
        9..13 => {
            let name = format!("X{}", scope.names);
            scope.names += 1;
            let word = chance.pick(&["mu", "nu"]);
            let takes = chance.below(4) == 0;
            let bound = scope.data.len();
            if takes {
                scope.data.push(format!("p{}", scope.names));
            }
            scope.fixpoints.push((name.clone(), takes, scope.negative));
            let body = formula(chance, depth - 1, scope);
            scope.fixpoints.pop();
            scope.data.truncate(bound);
            let parameter = if takes {
                format!(" (p{}:nat := {})", scope.names_of(&name), chance.below(3))
            } else {
                String::new()
            };
            format!("{word} {name}{parameter} . ({body})")
        }
        13 => {
            let name = format!("q{}", scope.names);
            scope.names += 1;
            scope.data.push(name.clone());
            let body = formula(chance, depth - 1, scope);
            scope.data.pop();
            let word = chance.pick(&["forall", "exists"]);
            let domain = chance.pick(&["{ 0 ... 2 }", "{ 1, 3 }", "{ 2 ... 1 }"]);
            format!("{word} {name}:nat among {domain} . ({body})")
        }
        14 => {
            let outside = std::mem::take(&mut scope.fixpoints);
            let condition = formula(chance, depth - 1, scope);
            scope.fixpoints = outside;
            let (then, other) = (formula(chance, depth - 1, scope), formula(chance, depth - 1, scope));
            format!("if {condition} then {then} else {other} end if")
        }
        _ => {
            let name = format!("l{}", scope.names);
            scope.names += 1;
            let value = match scope.data.last() {
                Some(before) => format!("{before} * 2 + 1"),
                None => chance.below(3).to_string(),
            };
            scope.data.push(name.clone());
            let body = formula(chance, depth - 1, scope);
            scope.data.pop();
            format!("let {name}:nat := {value} in {body} end let")
        }
    }
}

impl Scope {
    /// The number that the parameter of a fixpoint got: one more than the fixpoint's own.
    fn names_of(&self, fixpoint: &str) -> usize {
        fixpoint[1..].parse::<usize>().unwrap() + 1
    }
}

/// A number from 0 to 2, as an expression.
fn small(chance: &mut Chance, scope: &Scope) -> String {
    match scope.data.is_empty() || chance.below(3) == 0 {
        true => chance.below(3).to_string(),
        false => format!("({} + {}) mod 3", scope.data[chance.below(scope.data.len())], chance.below(2)),
    }
}

/// A construct of programming languages, whose bodies are regular formulas.
fn iteration(chance: &mut Chance, depth: usize, scope: &mut Scope) -> String {
    let name = format!("v{}", scope.names);
    scope.names += 1;
    let outer = scope.data.len();
    let first = small(chance, scope);
    let second = small(chance, scope);
    let body = |chance: &mut Chance, scope: &mut Scope| {
        let before = scope.data.len();
        let text = regular(chance, depth - 1, scope, true);
        scope.data.truncate(before);
        text
    };
    let text = match chance.below(8) {
        0 => {
            let (then, other) = (body(chance, scope), body(chance, scope));
            let otherwise = if chance.below(2) == 0 { format!("else {other} ") } else { String::new() };
            format!("if {first} < {second} then {then} {otherwise}end if")
        }
        1 => {
            let zero = body(chance, scope);
            scope.data.push(name.clone());
            let one = body(chance, scope);
            scope.data.pop();
            let rest = body(chance, scope);
            format!(
                "case {first} is 0 -> {zero} | {name}:nat where {name} = {second} -> {one} | any -> {rest} end case"
            )
        }
        2 => {
            scope.data.push(name.clone());
            let inside = body(chance, scope);
            format!("let {name}:nat := {first} in {inside} end let")
        }
        3 => {
            scope.data.push(name.clone());
            let inside = body(chance, scope);
            let step = chance.pick(&["", " step 2"]);
            format!("for {name}:nat from {first} to {second}{step} do {inside} end for")
        }
        4 => {
            let inside = body(chance, scope);
            format!("while {first} < {second} do {inside} end while")
        }
        5 => {
            let inside = body(chance, scope);
            format!("repeat ({inside} . {{ C ?{name}:nat }}) until {name} > {first} end repeat")
        }
        6 => {
            let result = format!("r{name}");
            scope.data.push(name.clone());
            let (again, end) = (body(chance, scope), body(chance, scope));
            scope.data.truncate(outer);
            let parts = format!(
                "({again}) . if {name} < {second} then continue ({name} + 1) else exit ({name}) end if"
            );
            let text = format!(
                "loop ({name}:nat := {first}) : ({result}:nat) in ({parts} | ({end}) . exit (0)) end loop"
            );
            // What the loop gives is known behind it.
            match chance.below(2) {
                0 => text,
                _ => format!("({text} . ({{ C !{result} }} | nil))"),
            }
        }
        _ => {
            let inside = body(chance, scope);
            let bounds = match chance.below(3) {
                0 => first,
                1 => format!("0 + {first}, 0 + {second}"),
                _ => format!("{first} ..."),
            };
            format!("({inside}){{{bounds}}}")
        }
    };
    scope.data.truncate(outer);
    text
}

/// `open` says whether what is bound stays in scope.
pub fn regular(chance: &mut Chance, depth: usize, scope: &mut Scope, open: bool) -> String {
    if depth == 0 {
        if open && chance.below(6) == 0 {
            let name = format!("b{}", scope.names);
            scope.names += 1;
            scope.data.push(name.clone());
            let condition = chance.pick(&["", " where B < 2", " where B <> 1"]).replace('B', &name);
            return format!(
                "{{ {} {}?{name}:nat{condition} }}",
                chance.pick(&["C", "any"]),
                chance.pick(&["", "... "])
            );
        }
        return match chance.below(12) {
            0 => "nil".to_owned(),
            _ => action(chance, 2, scope),
        };
    }
    match chance.below(12) {
        9.. => iteration(chance, depth, scope),
        0 | 1 => {
            let first = regular(chance, depth - 1, scope, open);
            format!("({first} . {})", regular(chance, depth - 1, scope, open))
        }
        2 => {
            let bound = scope.data.len();
            let first = regular(chance, depth - 1, scope, true);
            scope.data.truncate(bound);
            let second = regular(chance, depth - 1, scope, true);
            scope.data.truncate(bound);
            format!("({first} | {second})")
        }
        3..7 => {
            let bound = scope.data.len();
            let inner = regular(chance, depth - 1, scope, true);
            scope.data.truncate(bound);
            format!(
                "({inner}){}",
                chance.pick(&["*", "*", "+", "?", "{2}", "{0,2}", "{1,}", "{1 ... 3}", "{0}"])
            )
        }
        _ => regular(chance, 0, scope, open),
    }
}

fn action(chance: &mut Chance, depth: usize, scope: &Scope) -> String {
    if depth > 0 {
        match chance.below(8) {
            0 => return format!("(not {})", action(chance, depth - 1, scope)),
            1 => {
                let word = chance.pick(&["and", "or", "implies", "equ", "xor"]);
                return format!(
                    "({} {word} {})",
                    action(chance, depth - 1, scope),
                    action(chance, depth - 1, scope)
                );
            }
            _ => {}
        }
    }
    match chance.below(10) {
        0 => "tau".to_owned(),
        1 => "'C .*'".to_owned(),
        2 => "'[AB]'".to_owned(),
        3 if !scope.data.is_empty() => format!("{{ C !{} }}", scope.data[chance.below(scope.data.len())]),
        4 => "{ C ?any }".to_owned(),
        5 => "\"C !1\"".to_owned(),
        6 => "\"B\"".to_owned(),
        7 => "true".to_owned(),
        _ => "\"A\"".to_owned(),
    }
}
