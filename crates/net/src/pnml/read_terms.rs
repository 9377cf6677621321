//! Terms of inscriptions and guards: from elements to terms of the right sort.
//!
//! Successors and predecessors go round on every enumeration and range, as the tools of the Model Checking Contest have it.

use roxmltree::Node;

use super::sorts::{DOT, Kind, SortId, Sorts, integer, unsupported};
use super::terms::{Bag, Condition, Term};
use super::xml::{MOST_DEPTH, Outcome, Text, operands};

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
