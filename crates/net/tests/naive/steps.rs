//! The steps of a net by definition.

use std::collections::BTreeMap;

use super::{Arc, Condition, Net, Term, Value, Word};

/// A marking: place and values, and how many.
pub type Tokens = BTreeMap<(usize, Vec<Value>), u32>;

/// A way to fire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fired {
    pub transition: usize,
    pub binding: Vec<Value>,
    pub takes: Tokens,
    pub reads: Tokens,
}

/// Something failed.
#[derive(Debug, PartialEq, Eq)]
pub struct Failure;

/// True, false, or an error where nothing is false.
type Verdict = Result<bool, Failure>;

fn both(one: Verdict, other: Verdict) -> Verdict {
    match (one, other) {
        (Ok(false), _) | (_, Ok(false)) => Ok(false),
        (Err(Failure), _) | (_, Err(Failure)) => Err(Failure),
        _ => Ok(true),
    }
}

fn value(term: &Term, binding: &[Value]) -> Result<Value, Failure> {
    let digit = |term| match value(term, binding)? {
        Value::D(digit) => Ok(digit),
        _ => Err(Failure),
    };
    Ok(match term {
        Term::Variable(variable) => binding[*variable],
        Term::Constant(value) => *value,
        Term::Next(inner) => Value::D((digit(inner)? + 1) % 3),
        Term::Lower(inner) => Value::D(digit(inner)?.checked_sub(1).ok_or(Failure)?),
        Term::P(inner) => Value::P(digit(inner)?),
        Term::Q(one, other) => match (digit(one)?, value(other, binding)?) {
            (d, Value::E(e)) => Value::Q(d, e),
            _ => return Err(Failure),
        },
        Term::Any | Term::All | Term::As(..) => return Err(Failure),
    })
}

fn matches(term: &Term, found: Value, binding: &[Value]) -> Verdict {
    match (term, found) {
        (Term::Any, _) => Ok(true),
        (Term::P(inner), found) => match found {
            Value::P(d) => matches(inner, Value::D(d), binding),
            _ => Ok(false),
        },
        (Term::Q(one, other), found) => match found {
            Value::Q(d, e) => both(matches(one, Value::D(d), binding), matches(other, Value::E(e), binding)),
            _ => Ok(false),
        },
        (Term::As(variable, inner), found) => {
            both(Ok(binding[*variable] == found), matches(inner, found, binding))
        }
        (term, found) => value(term, binding).map(|value| value == found),
    }
}

fn token_matches(arc: &Arc, values: &[Value], binding: &[Value]) -> Verdict {
    let Some(terms) = &arc.terms else { return Ok(true) };
    let mut all = Ok(true);
    for (term, &found) in terms.iter().zip(values) {
        all = both(all, matches(term, found, binding));
    }
    all
}

fn holds(condition: &Condition, binding: &[Value]) -> Verdict {
    let pair = |a: &Term, b: &Term| Ok((value(a, binding)?, value(b, binding)?));
    match condition {
        Condition::Equal(a, b) => pair(a, b).map(|(a, b)| a == b),
        Condition::Different(a, b) => pair(a, b).map(|(a, b)| a != b),
        Condition::Less(a, b) => pair(a, b).map(|(a, b)| a < b),
        Condition::Or(a, b) => {
            if holds(a, binding)? {
                Ok(true)
            } else {
                holds(b, binding)
            }
        }
    }
}

/// The tokens that an arc names: several with `all`.
fn computed(net: &Net, arc: &Arc, binding: &[Value]) -> Result<Vec<Vec<Value>>, Failure> {
    let mut rows = vec![Vec::new()];
    for (term, sort) in arc.terms.iter().flatten().zip(&net.places[arc.place].sorts) {
        let values = match term {
            Term::All => sort.values(),
            term => vec![value(term, binding)?],
        };
        let longer = |row: &Vec<Value>| {
            let row = row.clone();
            values.clone().into_iter().map(move |value| [row.as_slice(), &[value]].concat())
        };
        rows = rows.iter().flat_map(longer).collect();
    }
    Ok(rows)
}

/// The marking at the start.
pub fn initial(net: &Net) -> Tokens {
    let mut tokens = Tokens::new();
    for (place, values, count) in &net.initial {
        *tokens.entry((*place, values.clone())).or_default() += count;
    }
    clamp(net, &mut tokens);
    tokens
}

fn clamp(net: &Net, tokens: &mut Tokens) {
    tokens.retain(|_, count| *count > 0);
    for ((place, _), count) in tokens {
        if net.places[*place].is_set {
            *count = 1;
        }
    }
}

/// The ways in which a transition can fire, by its variables in their order; a failure where one of them fails.
pub fn modes(net: &Net, transition: usize, marking: &Tokens) -> Result<Vec<Fired>, Failure> {
    let of = &net.transitions[transition];
    let mut bindings: Vec<Vec<Value>> = vec![Vec::new()];
    for sort in &of.variables {
        let longer = |binding: &Vec<Value>| {
            let binding = binding.clone();
            sort.values().into_iter().map(move |value| [binding.as_slice(), &[value]].concat())
        };
        bindings = bindings.iter().flat_map(longer).collect();
    }
    let mut all = Vec::new();
    for binding in bindings {
        all.extend(modes_of(net, transition, &binding, marking)?);
    }
    Ok(all)
}

fn modes_of(
    net: &Net,
    transition: usize,
    binding: &[Value],
    marking: &Tokens,
) -> Result<Vec<Fired>, Failure> {
    let of = &net.transitions[transition];
    let mut verdict: Verdict = Ok(true);
    for condition in of.guards.iter().flatten() {
        verdict = both(verdict, holds(condition, binding));
    }
    for arc in of.arcs.iter().filter(|arc| arc.word == Word::Inhibit) {
        let here = marking.iter().filter(|((place, _), _)| *place == arc.place);
        let (mut sum, mut failed) = (0, false);
        for ((_, values), count) in here {
            match token_matches(arc, values, binding) {
                Ok(true) => sum += count,
                Ok(false) => {}
                Err(Failure) => failed = true,
            }
        }
        let free = if sum >= arc.count {
            Ok(false)
        } else if failed {
            Err(Failure)
        } else {
            Ok(true)
        };
        verdict = both(verdict, free);
    }
    // Each arc chooses tokens; the choices of all arcs are combined.
    let mut choices: Vec<(Verdict, Tokens, Tokens)> = vec![(verdict, Tokens::new(), Tokens::new())];
    for arc in of.arcs.iter().filter(|arc| matches!(arc.word, Word::Take | Word::Read)) {
        let is_all = arc.terms.iter().flatten().any(|term| matches!(term, Term::All));
        let here = marking.iter().filter(|((place, _), _)| *place == arc.place);
        let mut own: Vec<(Verdict, Vec<Vec<Value>>)> = Vec::new();
        if is_all {
            match computed(net, arc, binding) {
                Ok(tokens) => own.push((Ok(true), tokens)),
                Err(Failure) if here.count() > 0 => own.push((Err(Failure), Vec::new())),
                Err(Failure) => {}
            }
        } else {
            for ((_, values), count) in here {
                let verdict = token_matches(arc, values, binding);
                if *count >= arc.count && verdict != Ok(false) {
                    own.push((verdict, vec![values.clone()]));
                }
            }
        }
        let mut longer = Vec::new();
        for (verdict, takes, reads) in &choices {
            for (also, tokens) in &own {
                let (mut takes, mut reads) = (takes.clone(), reads.clone());
                let into = if arc.word == Word::Take { &mut takes } else { &mut reads };
                for values in tokens {
                    *into.entry((arc.place, values.clone())).or_default() += arc.count;
                }
                let copy =
                    |verdict: &Verdict| if let Ok(holds) = verdict { Ok(*holds) } else { Err(Failure) };
                longer.push((both(copy(verdict), copy(also)), takes, reads));
            }
        }
        choices = longer;
    }
    let mut all = Vec::new();
    for (verdict, takes, reads) in choices {
        let needed = |token: &(usize, Vec<Value>)| {
            takes.get(token).copied().unwrap_or(0) + reads.get(token).copied().unwrap_or(0)
        };
        let enough = takes.keys().chain(reads.keys());
        let enough =
            enough.into_iter().all(|token| needed(token) <= marking.get(token).copied().unwrap_or(0));
        if both(verdict, Ok(enough))? {
            let fired = Fired { transition, binding: binding.to_vec(), takes, reads };
            if !all.contains(&fired) {
                all.push(fired);
            }
        }
    }
    Ok(all)
}

impl Fired {
    /// What its step is called.
    pub fn label(&self) -> String {
        let values: String = self.binding.iter().map(|value| format!(" !{}", value.print())).collect();
        format!("T{}{values}", self.transition)
    }

    /// The marking after it.
    pub fn fire(&self, net: &Net, marking: &Tokens) -> Result<Tokens, Failure> {
        let mut after = marking.clone();
        for (token, count) in &self.takes {
            if let Some(there) = after.get_mut(token) {
                *there -= count;
            }
        }
        let arcs = &net.transitions[self.transition].arcs;
        let mut removed = Vec::new();
        for arc in arcs.iter().filter(|arc| arc.word == Word::Reset) {
            for (token, _) in marking.iter().filter(|((place, _), _)| *place == arc.place) {
                if token_matches(arc, &token.1, &self.binding)? {
                    removed.push(token);
                }
            }
        }
        removed.into_iter().for_each(|token| {
            after.remove(token);
        });
        for arc in arcs.iter().filter(|arc| arc.word == Word::Put) {
            for values in computed(net, arc, &self.binding)? {
                *after.entry((arc.place, values)).or_default() += arc.count;
            }
        }
        clamp(net, &mut after);
        Ok(after)
    }
}

/// The marking that some ways to fire lead to together, if there are tokens for all of them at once, and none removes
/// what another one takes or reads.
pub fn joint(net: &Net, marking: &Tokens, members: &[Fired]) -> Option<Tokens> {
    let mut after = marking.clone();
    let mut removed = Vec::new();
    for (token, there) in marking {
        let count = |tokens: &Tokens| tokens.get(token).copied().unwrap_or(0);
        let taken: u32 = members.iter().map(|one| count(&one.takes)).sum();
        let read = members.iter().map(|one| count(&one.reads)).max().unwrap_or(0);
        if taken + read > *there {
            return None;
        }
        after.insert(token.clone(), there - taken);
        for (number, member) in members.iter().enumerate() {
            let arcs = net.transitions[member.transition].arcs.iter();
            let mut resets = arcs.filter(|arc| arc.word == Word::Reset && arc.place == token.0);
            if !resets.any(|arc| token_matches(arc, &token.1, &member.binding) == Ok(true)) {
                continue;
            }
            let mut others = members.iter().enumerate().filter(|(other, _)| *other != number);
            if others.any(|(_, other)| count(&other.takes) + count(&other.reads) > 0) {
                return None;
            }
            removed.push(token);
        }
    }
    removed.into_iter().for_each(|token| {
        after.remove(token);
    });
    for member in members {
        let arcs = net.transitions[member.transition].arcs.iter();
        for arc in arcs.filter(|arc| arc.word == Word::Put) {
            for values in computed(net, arc, &member.binding).ok()? {
                *after.entry((arc.place, values)).or_default() += arc.count;
            }
        }
    }
    clamp(net, &mut after);
    Some(after)
}

/// A marking as people read it.
pub fn describe(net: &Net, marking: &Tokens) -> Vec<(String, String)> {
    let places = net.places.iter().enumerate();
    places
        .map(|(number, place)| {
            let here = marking.iter().filter(|((place, _), _)| *place == number);
            let text = if place.sorts.is_empty() {
                here.map(|(_, count)| count).sum::<u32>().to_string()
            } else {
                let print = |((_, values), count): (&(usize, Vec<Value>), &u32)| {
                    let printed: Vec<String> = values.iter().map(|value| value.print()).collect();
                    let token = if values.len() == 1 {
                        printed[0].clone()
                    } else {
                        format!("({})", printed.join(", "))
                    };
                    if *count == 1 { token } else { format!("{count} * {token}") }
                };
                format!("{{{}}}", here.map(print).collect::<Vec<String>>().join(", "))
            };
            (format!("P{number}"), text)
        })
        .collect()
}
