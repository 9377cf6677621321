//! Terms of inscriptions and guards: reading, evaluating, matching.
//!
//! Successors and predecessors go round on every enumeration and range, as the tools of the Model Checking Contest have it.

use std::cmp::Ordering;

use roxmltree::Node;

use super::sorts::{DOT, Kind, SortId, Sorts, integer, unsupported};
use super::xml::{MOST_DEPTH, Outcome, Text, operands};

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

/// What terms are read with.
pub(super) struct TermReader<'s, 't> {
    pub(super) sorts: &'s mut Sorts,
    pub(super) text: Text<'t>,
}

impl TermReader<'_, '_> {
    /// A multiset over a sort.
    pub(super) fn bag(&mut self, node: Node<'_, '_>, sort: SortId) -> Outcome<Bag> {
        let mut bag = Bag::default();
        self.add_to(&mut bag, node, sort, 1, 0)?;
        Ok(bag)
    }

    fn add_to(
        &mut self,
        bag: &mut Bag,
        node: Node<'_, '_>,
        sort: SortId,
        factor: i64,
        depth: usize,
    ) -> Outcome<()> {
        self.check_depth(node, depth)?;
        let parts = operands(node);
        match node.tag_name().name() {
            "add" => parts.into_iter().try_for_each(|part| self.add_to(bag, part, sort, factor, depth + 1)),
            "subtract" => {
                for (number, part) in parts.into_iter().enumerate() {
                    self.add_to(bag, part, sort, if number == 0 { factor } else { -factor }, depth + 1)?;
                }
                Ok(())
            }
            "numberof" | "scalarproduct" => match parts[..] {
                [count, of] => {
                    let count = self.count(count)?;
                    let factor = factor
                        .checked_mul(count)
                        .filter(|factor| factor.unsigned_abs() <= u64::from(u32::MAX));
                    let Some(factor) = factor else {
                        return Err(self.text.error(node, "too many tokens", "this is more than 4294967295"));
                    };
                    self.add_to(bag, of, sort, factor, depth + 1)
                }
                [of] => self.add_to(bag, of, sort, factor, depth + 1),
                _ => Err(self.wrong_count(node, 2, parts.len())),
            },
            "empty" => Ok(()),
            _ => {
                let (term, _) = self.term(node, Some(sort), depth)?;
                bag.terms.push((factor, term));
                Ok(())
            }
        }
    }

    fn count(&mut self, node: Node<'_, '_>) -> Outcome<i64> {
        if node.tag_name().name() != "numberconstant" {
            return Err(self.text.error(node, "a number was expected", "only constants can say how many"));
        }
        let count = integer(self.text, node, "value")?;
        if (0..=i64::from(u32::MAX)).contains(&count) {
            return Ok(count);
        }
        Err(self.text.error(
            node,
            format!("{count} is no number of tokens"),
            "it must be from 0 to 4294967295",
        ))
    }

    /// A term and its sort; of the expected sort where there is one.
    fn term(
        &mut self,
        node: Node<'_, '_>,
        expected: Option<SortId>,
        depth: usize,
    ) -> Outcome<(Term, SortId)> {
        self.check_depth(node, depth)?;
        let (term, sort) = self.any_term(node, expected, depth)?;
        let Some(expected) = expected.filter(|&expected| expected != sort) else { return Ok((term, sort)) };
        if let Term::Value(value) = term
            && let Some(value) = self.sorts.convert(sort, value, expected)
        {
            return Ok((Term::Value(value), expected));
        }
        let (found, wanted) = (&self.sorts.get(sort).name, &self.sorts.get(expected).name);
        let message = format!("a term of the sort {wanted} was expected, not one of the sort {found}");
        Err(self.text.error(node, message, "this term"))
    }

    fn any_term(
        &mut self,
        node: Node<'_, '_>,
        expected: Option<SortId>,
        depth: usize,
    ) -> Outcome<(Term, SortId)> {
        let parts = operands(node);
        match node.tag_name().name() {
            "dotconstant" => Ok((Term::Value(0), DOT)),
            "variable" => {
                let id = self.text.attribute(node, "refvariable")?;
                let Some(&number) = self.sorts.variable_ids.get(id) else {
                    return Err(self.unknown(node, "variable", id, self.sorts.variable_ids.keys()));
                };
                Ok((Term::Variable(number), self.sorts.variables[number]))
            }
            "useroperator" => {
                let id = self.text.attribute(node, "declaration")?;
                match self.sorts.constants.get(id) {
                    Some(&(sort, value)) => Ok((Term::Value(value), sort)),
                    None => Err(self.unknown(node, "constant", id, self.sorts.constants.keys())),
                }
            }
            "finiteintrangeconstant" | "numberconstant" => {
                let number = integer(self.text, node, "value")?;
                let range = parts.iter().find(|part| part.tag_name().name() == "finiteintrange");
                let sort = match range {
                    Some(&range) => self.sorts.sort(self.text, range, 0)?,
                    None => self.sorts.range(number, number).unwrap_or(DOT),
                };
                let single = self.sorts.range(number, number).unwrap_or(DOT);
                match self.sorts.convert(single, 0, sort) {
                    Some(value) => Ok((Term::Value(value), sort)),
                    None => {
                        let message = format!("{number} is not in the range {}", self.sorts.get(sort).name);
                        Err(self.text.error(node, message, "this constant"))
                    }
                }
            }
            "successor" | "predecessor" => {
                let [of] = parts[..] else { return Err(self.wrong_count(node, 1, parts.len())) };
                let (of, sort) = self.term(of, expected, depth + 1)?;
                if !matches!(self.sorts.get(sort).kind, Kind::Enumeration { .. } | Kind::Range { .. }) {
                    let message =
                        format!("the values of the sort {} have no order", self.sorts.get(sort).name);
                    return Err(self.text.error(node, message, "no value follows another one here"));
                }
                let size = self.sorts.get(sort).size;
                let by = if node.tag_name().name() == "successor" { 1 % size } else { size - 1 };
                Ok((Term::Shift { of: Box::new(of), by, size }, sort))
            }
            "tuple" => {
                let factors: Vec<Option<SortId>> = match expected {
                    Some(sort) if self.sorts.factors(sort).len() == parts.len() => {
                        self.sorts.factors(sort).iter().map(|&factor| Some(factor)).collect()
                    }
                    _ => vec![None; parts.len()],
                };
                let mut terms = Vec::with_capacity(parts.len());
                let mut sorts = Vec::with_capacity(parts.len());
                for (part, factor) in parts.into_iter().zip(factors) {
                    let (term, sort) = self.term(part, factor, depth + 1)?;
                    terms.push(term);
                    sorts.push(sort);
                }
                match self.sorts.product(sorts) {
                    Some(sort) if !terms.is_empty() => Ok((Term::Tuple(terms), sort)),
                    _ => Err(self.text.error(node, "this tuple has too many values, or none", "this tuple")),
                }
            }
            "all" => match parts[..] {
                [sort] => Ok((Term::All, self.sorts.sort(self.text, sort, 0)?)),
                _ => Err(self.wrong_count(node, 1, parts.len())),
            },
            "numberof" => {
                // A tool may write `1'x` where a single value belongs, as inside a tuple.
                let [count, of] = parts[..] else { return Err(self.wrong_count(node, 2, parts.len())) };
                if self.count(count)? == 1 {
                    return self.term(of, expected, depth + 1);
                }
                Err(self.text.error(node, "one value was expected", "these are not one"))
            }
            "partitionelementof" => {
                let id = self.text.attribute(node, "refpartition")?;
                let Some(partition) = self.sorts.partitions.get(id).cloned() else {
                    return Err(self.unknown(node, "partition", id, self.sorts.partitions.keys()));
                };
                let [of] = parts[..] else { return Err(self.wrong_count(node, 1, parts.len())) };
                let (inner, _) = self.term(of, Some(partition.of), depth + 1)?;
                if !inner.is_single() {
                    return Err(self.text.error(
                        of,
                        "one value was expected",
                        "`all` means every value of a sort",
                    ));
                }
                Ok((Term::Part { of: Box::new(inner), partition: id.to_owned() }, partition.parts))
            }
            _ => Err(unsupported(self.text, node)),
        }
    }

    /// A guard.
    pub(super) fn condition(&mut self, node: Node<'_, '_>, depth: usize) -> Outcome<Condition> {
        self.check_depth(node, depth)?;
        let parts = operands(node);
        let holds = match node.tag_name().name() {
            "equality" => Some([false, true, false]),
            "inequality" => Some([true, false, true]),
            "lessthan" | "lt" | "ltp" => Some([true, false, false]),
            "lessthanorequal" | "leq" => Some([true, true, false]),
            "greaterthan" | "gt" | "gtp" => Some([false, false, true]),
            "greaterthanorequal" | "geq" => Some([false, true, true]),
            _ => None,
        };
        if let Some(holds) = holds {
            let [left, right] = parts[..] else { return Err(self.wrong_count(node, 2, parts.len())) };
            return self.comparison(node, left, right, holds, depth);
        }
        let conditions = |reader: &mut Self| {
            let parts = parts.iter();
            parts.map(|&part| reader.condition(part, depth + 1)).collect::<Outcome<Vec<_>>>()
        };
        match node.tag_name().name() {
            "and" => Ok(Condition::And(conditions(self)?)),
            "or" => Ok(Condition::Or(conditions(self)?)),
            "not" => match <[Condition; 1]>::try_from(conditions(self)?) {
                Ok([of]) => Ok(Condition::Not(Box::new(of))),
                Err(all) => Err(self.wrong_count(node, 1, all.len())),
            },
            "imply" => match <[Condition; 2]>::try_from(conditions(self)?) {
                Ok([before, after]) => Ok(Condition::Or(vec![Condition::Not(Box::new(before)), after])),
                Err(all) => Err(self.wrong_count(node, 2, all.len())),
            },
            "booleanconstant" => match self.text.attribute(node, "value")?.trim() {
                "true" => Ok(Condition::Constant(true)),
                "false" => Ok(Condition::Constant(false)),
                other => {
                    Err(self.text.error(node, format!("`{other}` is neither `true` nor `false`"), "here"))
                }
            },
            _ => Err(unsupported(self.text, node)),
        }
    }

    fn comparison(
        &mut self,
        node: Node<'_, '_>,
        left: Node<'_, '_>,
        right: Node<'_, '_>,
        holds: [bool; 3],
        depth: usize,
    ) -> Outcome<Condition> {
        let (left_term, left_sort) = self.term(left, None, depth + 1)?;
        let (right_term, right_sort) = self.term(right, None, depth + 1)?;
        for (node, term) in [(left, &left_term), (right, &right_term)] {
            if !term.is_single() {
                return Err(self.text.error(
                    node,
                    "one value was expected",
                    "`all` means every value of a sort",
                ));
            }
        }
        let is_range = |sort: SortId| matches!(self.sorts.get(sort).kind, Kind::Range { .. });
        if left_sort != right_sort && !(is_range(left_sort) && is_range(right_sort)) {
            let (one, other) = (&self.sorts.get(left_sort).name, &self.sorts.get(right_sort).name);
            let message = format!("values of the sorts {one} and {other} cannot be compared");
            return Err(self.text.error(node, message, "here"));
        }
        let is_equality = holds[0] == holds[2];
        if !is_equality && matches!(self.sorts.get(left_sort).kind, Kind::Product(_)) {
            let message = format!("the values of the sort {} have no order", self.sorts.get(left_sort).name);
            return Err(self.text.error(node, message, "here"));
        }
        Ok(Condition::Compare { left: (left_term, left_sort), right: (right_term, right_sort), holds })
    }

    fn check_depth(&self, node: Node<'_, '_>, depth: usize) -> Outcome<()> {
        if depth <= MOST_DEPTH {
            return Ok(());
        }
        Err(self.text.error(
            node,
            "terms are nested too deeply",
            format!("more than {MOST_DEPTH} around this"),
        ))
    }

    fn wrong_count(&self, node: Node<'_, '_>, wanted: usize, found: usize) -> Box<source::Diagnostic> {
        let plural = if wanted == 1 { "" } else { "s" };
        let message = format!("`{}` takes {wanted} operand{plural}, not {found}", node.tag_name().name());
        self.text.error(node, message, "here")
    }

    fn unknown<'k>(
        &self,
        node: Node<'_, '_>,
        what: &str,
        id: &str,
        known: impl Iterator<Item = &'k String>,
    ) -> Box<source::Diagnostic> {
        let mut known: Vec<&str> = known.map(|key| &**key).collect();
        known.sort_unstable();
        let similar = source::closest(id, known).map(|similar| format!("did you mean `{similar}`?"));
        let error = source::Diagnostic::error(format!("unknown {what} `{id}`"));
        let label = format!("no {what} of this id is declared");
        Box::new(error.label(self.text.span(node), label).maybe_help(similar))
    }
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
