//! Terms of inscriptions and guards: evaluating, matching. `read_terms` makes them.

use std::cmp::Ordering;

use super::sorts::{SortId, Sorts};

/// The values of variables, by number; none where a variable is not bound yet.
pub(super) type Binding = [Option<u64>];

/// A value, or several where it contains `all`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Term {
    Value(u64),
    Variable(usize),
    /// A term so many values further on, round a sort of this size.
    Shift {
        of: Box<Term>,
        by: u64,
        size: u64,
    },
    Tuple(Vec<Term>),
    /// The part that a value is in.
    Part {
        of: Box<Term>,
        partition: String,
    },
    /// Every value of the sort.
    All,
}

/// A multiset: terms with how often each counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Bag {
    pub(super) terms: Vec<(i64, Term)>,
}

/// A guard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    Constant(bool),
    Not(Box<Condition>),
    And(Vec<Condition>),
    Or(Vec<Condition>),
    /// Two terms with their sorts, and which orders between them hold: less, equal, greater.
    Compare {
        left: (Term, SortId),
        right: (Term, SortId),
        holds: [bool; 3],
    },
}

impl Term {
    /// Whether it is one value, not several.
    pub(super) fn is_single(&self) -> bool {
        match self {
            Term::All => false,
            Term::Tuple(parts) => parts.iter().all(Term::is_single),
            Term::Shift { of, .. } | Term::Part { of, .. } => of.is_single(),
            Term::Value(_) | Term::Variable(_) => true,
        }
    }

    /// Whether its variables follow from its value.
    pub(super) fn is_pattern(&self) -> bool {
        match self {
            Term::All | Term::Part { .. } => false,
            Term::Tuple(parts) => parts.iter().all(Term::is_pattern),
            Term::Shift { of, .. } => of.is_pattern(),
            Term::Value(_) | Term::Variable(_) => true,
        }
    }

    /// Adds the variables in it.
    pub(super) fn variables(&self, found: &mut Vec<usize>) {
        match self {
            Term::Variable(number) => found.push(*number),
            Term::Tuple(parts) => parts.iter().for_each(|part| part.variables(found)),
            Term::Shift { of, .. } | Term::Part { of, .. } => of.variables(found),
            Term::Value(_) | Term::All => (),
        }
    }

    /// Its value, where its variables are bound and it is one value.
    pub(super) fn value(&self, sorts: &Sorts, sort: SortId, binding: &Binding) -> Option<u64> {
        match self {
            Term::Value(value) => Some(*value),
            Term::Variable(number) => binding[*number],
            Term::Shift { of, by, size } => {
                let value = of.value(sorts, sort, binding)?;
                Some(((u128::from(value) + u128::from(*by)) % u128::from(*size)) as u64)
            }
            Term::Tuple(parts) => {
                let mut value = 0;
                for (part, &factor) in parts.iter().zip(sorts.factors(sort)) {
                    value = sorts.join(value, factor, part.value(sorts, factor, binding)?);
                }
                Some(value)
            }
            Term::Part { of, partition } => {
                let partition = &sorts.partitions[partition];
                Some(partition.part_of[of.value(sorts, partition.of, binding)? as usize])
            }
            Term::All => None,
        }
    }

    /// Binds variables so that a pattern has a value; notes which it has bound. False where that is impossible.
    pub(super) fn bind(
        &self,
        sorts: &Sorts,
        sort: SortId,
        value: u64,
        binding: &mut Binding,
        bound: &mut Vec<usize>,
    ) -> bool {
        match self {
            Term::Value(constant) => *constant == value,
            Term::Variable(number) => match binding[*number] {
                Some(known) => known == value,
                None => {
                    binding[*number] = Some(value);
                    bound.push(*number);
                    true
                }
            },
            Term::Shift { of, by, size } => {
                let before = (u128::from(value) + u128::from(size - by)) % u128::from(*size);
                of.bind(sorts, sort, before as u64, binding, bound)
            }
            Term::Tuple(parts) => {
                let mut values = Vec::with_capacity(parts.len());
                sorts.split(sort, value, &mut values);
                let mut each = parts.iter().zip(sorts.factors(sort)).zip(values);
                each.all(|((part, &factor), value)| part.bind(sorts, factor, value, binding, bound))
            }
            Term::Part { .. } | Term::All => false,
        }
    }

    /// All its values under a binding of its variables; false where there are more than `most`.
    pub(super) fn values(
        &self,
        sorts: &Sorts,
        sort: SortId,
        binding: &Binding,
        most: usize,
        out: &mut Vec<u64>,
    ) -> bool {
        out.clear();
        match self {
            Term::All => {
                let size = sorts.get(sort).size;
                if size > most as u64 {
                    return false;
                }
                out.extend(0..size);
            }
            Term::Tuple(parts) if !self.is_single() => {
                out.push(0);
                let mut of_part = Vec::new();
                for (part, &factor) in parts.iter().zip(sorts.factors(sort)) {
                    if !part.values(sorts, factor, binding, most, &mut of_part)
                        || out.len().saturating_mul(of_part.len()) > most
                    {
                        return false;
                    }
                    let longer = out
                        .iter()
                        .flat_map(|&value| of_part.iter().map(move |&part| sorts.join(value, factor, part)));
                    *out = longer.collect();
                }
            }
            Term::Shift { of, .. } if !of.is_single() => return of.values(sorts, sort, binding, most, out),
            // Parts are of single values; every value of a sort is in some part.
            _ => out.extend(self.value(sorts, sort, binding)),
        }
        true
    }
}

impl Condition {
    /// Its conjuncts.
    pub(super) fn conjuncts(self, found: &mut Vec<Condition>) {
        match self {
            Condition::And(all) => all.into_iter().for_each(|condition| condition.conjuncts(found)),
            Condition::Constant(true) => (),
            other => found.push(other),
        }
    }

    /// Adds the variables in it.
    pub(super) fn variables(&self, found: &mut Vec<usize>) {
        match self {
            Condition::Constant(_) => (),
            Condition::Not(of) => of.variables(found),
            Condition::And(all) | Condition::Or(all) => all.iter().for_each(|of| of.variables(found)),
            Condition::Compare { left, right, .. } => {
                left.0.variables(found);
                right.0.variables(found);
            }
        }
    }

    /// Whether it holds, where that is known.
    pub(super) fn holds(&self, sorts: &Sorts, binding: &Binding) -> Option<bool> {
        match self {
            Condition::Constant(value) => Some(*value),
            Condition::Not(of) => of.holds(sorts, binding).map(|holds| !holds),
            Condition::And(all) => every(all, sorts, binding, true),
            Condition::Or(all) => every(all, sorts, binding, false),
            Condition::Compare { left, right, holds } => {
                let left = sorts.order(left.1, left.0.value(sorts, left.1, binding)?);
                let right = sorts.order(right.1, right.0.value(sorts, right.1, binding)?);
                Some(match left.cmp(&right) {
                    Ordering::Less => holds[0],
                    Ordering::Equal => holds[1],
                    Ordering::Greater => holds[2],
                })
            }
        }
    }
}

/// Whether all conditions have a value; the opposite as soon as one does not.
fn every(all: &[Condition], sorts: &Sorts, binding: &Binding, value: bool) -> Option<bool> {
    let mut known = Some(value);
    for condition in all {
        match condition.holds(sorts, binding) {
            Some(holds) if holds != value => return Some(!value),
            Some(_) => (),
            None => known = None,
        }
    }
    known
}
