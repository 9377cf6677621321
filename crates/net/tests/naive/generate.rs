//! Random nets over three small types.

use lts::Chance;

use super::{Arc, Condition, Net, Place, Sort, Term, Transition, Value, Word};

const SORTS: [Sort; 3] = [Sort::D, Sort::E, Sort::R];

/// A random net; `extended` ones have inhibitor and reset arcs and sets.
pub fn random_net(chance: &mut Chance, extended: bool) -> Net {
    let places: Vec<Place> = (0..2 + chance.below(3))
        .map(|_| {
            let sorts: Vec<Sort> = (0..[0, 1, 1, 1, 2][chance.below(5)]).map(|_| sort(chance)).collect();
            let is_set = extended && !sorts.is_empty() && chance.below(4) == 0;
            Place { sorts, is_set }
        })
        .collect();
    let transitions = (0..1 + chance.below(3)).map(|_| transition(chance, &places, extended)).collect();
    let initial = (0..1 + chance.below(5))
        .map(|_| {
            let place = chance.below(places.len());
            let values = places[place].sorts.iter().map(|&sort| value(chance, sort)).collect();
            (place, values, 1 + chance.below(2) as u32)
        })
        .collect();
    Net { places, transitions, initial }
}

fn sort(chance: &mut Chance) -> Sort {
    SORTS[chance.below(3)]
}

fn value(chance: &mut Chance, sort: Sort) -> Value {
    let values = sort.values();
    values[chance.below(values.len())]
}

fn transition(chance: &mut Chance, places: &[Place], extended: bool) -> Transition {
    let variables: Vec<Sort> = (0..chance.below(4)).map(|_| sort(chance)).collect();
    let words: &[Word] = if extended {
        &[Word::Take, Word::Take, Word::Read, Word::Put, Word::Put, Word::Inhibit, Word::Reset]
    } else {
        &[Word::Take, Word::Take, Word::Read, Word::Put]
    };
    let arcs = (0..1 + chance.below(4))
        .map(|_| {
            let word = words[chance.below(words.len())];
            let place = chance.below(places.len());
            let open = matches!(word, Word::Inhibit | Word::Reset) && chance.below(3) == 0;
            let all = matches!(word, Word::Take | Word::Read | Word::Put) && chance.below(25) == 0;
            let is_pattern = word != Word::Put && !all;
            let mut terms: Vec<Term> = places[place]
                .sorts
                .iter()
                .map(|&sort| term(chance, sort, &variables, is_pattern, 2))
                .collect();
            if all && !terms.is_empty() {
                let at = chance.below(terms.len());
                terms[at] = Term::All;
            }
            let count = if word != Word::Reset && chance.below(4) == 0 { 2 } else { 1 };
            Arc { word, count, place, terms: (!open || terms.is_empty()).then_some(terms) }
        })
        .collect();
    let guards = (0..chance.below(3))
        .map(|_| (0..1 + chance.below(2)).map(|_| condition(chance, &variables, 1)).collect())
        .collect();
    Transition { variables, arcs, guards }
}

fn condition(chance: &mut Chance, variables: &[Sort], depth: usize) -> Condition {
    if depth > 0 && chance.below(4) == 0 {
        let (one, other) = (condition(chance, variables, depth - 1), condition(chance, variables, depth - 1));
        return Condition::Or(Box::new(one), Box::new(other));
    }
    // A variable on the left makes the sort clear.
    let variable = if variables.is_empty() { None } else { Some(chance.below(variables.len())) };
    let (sort, left) = match variable {
        Some(variable) => (variables[variable], Term::Variable(variable)),
        None => (Sort::D, Term::Next(Box::new(Term::Constant(Value::D(1))))),
    };
    let right = term(chance, sort, variables, false, 2);
    match chance.below(4) {
        0 | 1 => Condition::Equal(left, right),
        2 => Condition::Different(left, right),
        _ => Condition::Less(left, right),
    }
}

fn term(chance: &mut Chance, sort: Sort, variables: &[Sort], is_pattern: bool, depth: usize) -> Term {
    let fitting: Vec<usize> = (0..variables.len()).filter(|&variable| variables[variable] == sort).collect();
    if !fitting.is_empty() && chance.below(3) > 0 {
        let variable = fitting[chance.below(fitting.len())];
        if is_pattern && depth > 0 && chance.below(12) == 0 {
            let inner = term(chance, sort, variables, true, depth - 1);
            if !matches!(inner, Term::Next(_) | Term::Lower(_)) {
                return Term::As(variable, Box::new(inner));
            }
        }
        return Term::Variable(variable);
    }
    if is_pattern && chance.below(5) == 0 {
        return Term::Any;
    }
    match sort {
        Sort::D if depth > 0 && chance.below(3) == 0 => {
            let inner = Box::new(term(chance, Sort::D, variables, false, depth - 1));
            if chance.below(2) == 0 { Term::Lower(inner) } else { Term::Next(inner) }
        }
        Sort::R if depth > 0 && chance.below(2) == 0 => {
            let first = Box::new(term(chance, Sort::D, variables, is_pattern, depth - 1));
            if chance.below(2) == 0 {
                return Term::P(first);
            }
            Term::Q(first, Box::new(term(chance, Sort::E, variables, is_pattern, depth - 1)))
        }
        _ => Term::Constant(value(chance, sort)),
    }
}
