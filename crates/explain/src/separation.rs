//! What separates two sets of states: the smallest condition on values that holds in all of one and none of the other.
//!
//! A condition is a conjunction of comparisons. Those that hold in all states of the first set are candidates, each of
//! which rules out some of the second; the fewest that rule out all are a smallest set cover, found by iterative deepening
//! on the state that the fewest candidates rule out. The test `tests/separation.rs` tries all conjunctions instead.

use std::fmt;

/// A comparison of a variable, known by its position, with a value or another variable.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Comparison {
    /// It is this value.
    Is(usize, String),
    /// Both are the same.
    Same(usize, usize),
    /// It is another value.
    IsNot(usize, String),
    /// Both differ.
    Differs(usize, usize),
    /// It is this number or less.
    AtMost(usize, i64),
    /// It is this number or more.
    AtLeast(usize, i64),
    /// The first is less than the second.
    Less(usize, usize),
}

impl Comparison {
    /// Whether it holds for these values.
    pub fn holds(&self, values: &[String]) -> bool {
        let number = |at: &usize| values[*at].parse::<i64>().ok();
        match self {
            Self::Is(at, value) => values[*at] == *value,
            Self::IsNot(at, value) => values[*at] != *value,
            Self::Same(one, other) => values[*one] == values[*other],
            Self::Differs(one, other) => values[*one] != values[*other],
            Self::AtMost(at, most) => number(at).is_some_and(|number| number <= *most),
            Self::AtLeast(at, least) => number(at).is_some_and(|number| number >= *least),
            Self::Less(one, other) => number(one).zip(number(other)).is_some_and(|(one, other)| one < other),
        }
    }

    /// The same with the names of variables.
    pub fn named<'a>(&'a self, names: &'a [String]) -> impl fmt::Display + 'a {
        Named { comparison: self, names }
    }
}

struct Named<'a> {
    comparison: &'a Comparison,
    names: &'a [String],
}

impl fmt::Display for Named<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |at: &usize| &self.names[*at];
        match self.comparison {
            Comparison::Is(at, value) => write!(out, "{} = {value}", name(at)),
            Comparison::IsNot(at, value) => write!(out, "{} ≠ {value}", name(at)),
            Comparison::Same(one, other) => write!(out, "{} = {}", name(one), name(other)),
            Comparison::Differs(one, other) => write!(out, "{} ≠ {}", name(one), name(other)),
            Comparison::AtMost(at, most) => write!(out, "{} ≤ {most}", name(at)),
            Comparison::AtLeast(at, least) => write!(out, "{} ≥ {least}", name(at)),
            Comparison::Less(one, other) => write!(out, "{} < {}", name(one), name(other)),
        }
    }
}

/// The most comparisons of a condition.
pub const MOST_COMPARISONS: usize = 3;

/// The fewest comparisons, at most [`MOST_COMPARISONS`], that all hold in every state of the first list and not all in any of
/// the second; of several such conditions the first in the order of comparisons. Nothing where there is none.
///
/// ```
/// let states = |rows: &[[&str; 2]]| rows.iter().map(|row| row.map(str::to_owned).to_vec()).collect::<Vec<_>>();
/// let names = ["voted".to_owned(), "term".to_owned()];
/// let wrong = states(&[["2", "1"]]);
/// let right = states(&[["2", "0"], ["0", "1"]]);
/// let condition = explain::separation(&wrong, &right).unwrap();
/// let words: Vec<String> = condition.iter().map(|one| one.named(&names).to_string()).collect();
/// assert_eq!(words, ["voted = 2", "term = 1"]);
/// ```
pub fn separation(first: &[Vec<String>], second: &[Vec<String>]) -> Option<Vec<Comparison>> {
    let candidates: Vec<Comparison> = comparisons(first, second)
        .into_iter()
        .filter(|one| first.iter().all(|values| one.holds(values)))
        .collect();
    if first.is_empty() || second.is_empty() {
        return None;
    }
    // Which candidates rule out each state of the second list.
    let out: Vec<Vec<usize>> = second
        .iter()
        .map(|values| (0..candidates.len()).filter(|&at| !candidates[at].holds(values)).collect())
        .collect();
    for size in 1..=MOST_COMPARISONS {
        let mut best: Option<Vec<usize>> = None;
        cover(&out, size, &mut Vec::new(), &mut best);
        if let Some(best) = best {
            return Some(best.into_iter().map(|at| candidates[at].clone()).collect());
        }
    }
    None
}

/// Looks for a cover of a size, the first in order.
fn cover(out: &[Vec<usize>], size: usize, chosen: &mut Vec<usize>, best: &mut Option<Vec<usize>>) {
    let open = out.iter().filter(|ways| !ways.iter().any(|way| chosen.contains(way)));
    let Some(hardest) = open.min_by_key(|ways| ways.len()) else {
        let mut found = chosen.clone();
        found.sort_unstable();
        if best.as_ref().is_none_or(|known| found < *known) {
            *best = Some(found);
        }
        return;
    };
    if chosen.len() == size {
        return;
    }
    for &way in hardest {
        chosen.push(way);
        cover(out, size, chosen, best);
        chosen.pop();
    }
}

/// All comparisons with the values that occur, in order of preference.
pub fn comparisons(first: &[Vec<String>], second: &[Vec<String>]) -> Vec<Comparison> {
    let width = first.first().map_or(0, Vec::len);
    let mut found = Vec::new();
    for at in 0..width {
        let mut values: Vec<&String> = first.iter().chain(second).map(|row| &row[at]).collect();
        values.sort_unstable();
        values.dedup();
        let numbers: Option<Vec<i64>> = values.iter().map(|value| value.parse().ok()).collect();
        for value in &values {
            found.push(Comparison::Is(at, (*value).clone()));
            if values.len() > 2 {
                found.push(Comparison::IsNot(at, (*value).clone()));
            }
        }
        if let Some(numbers) = numbers.filter(|numbers| numbers.len() > 2) {
            for number in numbers {
                found.push(Comparison::AtMost(at, number));
                found.push(Comparison::AtLeast(at, number));
            }
        }
        for other in (0..width).filter(|&other| other != at) {
            if other > at {
                found.push(Comparison::Same(at, other));
                found.push(Comparison::Differs(at, other));
            }
            found.push(Comparison::Less(at, other));
        }
    }
    found.sort();
    found.dedup();
    found
}
