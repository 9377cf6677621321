//! Sorts of symmetric nets, and the declarations that make them.
//!
//! Every sort is finite: its values are numbered from 0, those of a product like the digits of a number.

use roxmltree::Node;
use rustc_hash::FxHashMap;

use super::xml::{Outcome, Text, element, elements};

/// A sort of [`Sorts`].
pub(super) type SortId = usize;

/// What a sort is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Dot,
    /// Constants by name; with the sort that is partitioned and the part of each of its values, the parts.
    Enumeration {
        number: usize,
    },
    Range {
        start: i64,
        end: i64,
    },
    Product(Vec<SortId>),
}

/// A sort.
#[derive(Clone, Debug)]
pub(super) struct Sort {
    pub(super) kind: Kind,
    /// How many values it has.
    pub(super) size: u64,
    /// What the values are called, where they have names of their own.
    names: Vec<String>,
    /// What people call it.
    pub(super) name: String,
}

/// A partition: the part of each value of a sort.
#[derive(Clone, Debug)]
pub(super) struct Partition {
    pub(super) of: SortId,
    /// The sort of its parts.
    pub(super) parts: SortId,
    pub(super) part_of: Vec<u64>,
}

/// All declarations of a net.
#[derive(Debug)]
pub(super) struct Sorts {
    sorts: Vec<Sort>,
    by_kind: FxHashMap<Kind, SortId>,
    named: FxHashMap<String, SortId>,
    pub(super) constants: FxHashMap<String, (SortId, u64)>,
    /// The sorts of the variables, in the order of declaration.
    pub(super) variables: Vec<SortId>,
    pub(super) variable_ids: FxHashMap<String, usize>,
    pub(super) partitions: FxHashMap<String, Partition>,
}

/// The sort of tokens without values.
pub(super) const DOT: SortId = 0;

impl Sorts {
    pub(super) fn new() -> Self {
        let mut sorts = Self {
            sorts: Vec::new(),
            by_kind: FxHashMap::default(),
            named: FxHashMap::default(),
            constants: FxHashMap::default(),
            variables: Vec::new(),
            variable_ids: FxHashMap::default(),
            partitions: FxHashMap::default(),
        };
        sorts.intern(Kind::Dot, 1, Vec::new(), "dot".to_owned());
        sorts
    }

    fn intern(&mut self, kind: Kind, size: u64, names: Vec<String>, name: String) -> SortId {
        if let Some(&known) = self.by_kind.get(&kind) {
            return known;
        }
        self.by_kind.insert(kind.clone(), self.sorts.len());
        self.sorts.push(Sort { kind, size, names, name });
        self.sorts.len() - 1
    }

    pub(super) fn get(&self, sort: SortId) -> &Sort {
        &self.sorts[sort]
    }

    /// The sort of a range of integers; none where there are no values, or too many.
    pub(super) fn range(&mut self, start: i64, end: i64) -> Option<SortId> {
        let size = u64::try_from(end.checked_sub(start)?.checked_add(1)?).ok().filter(|&size| size > 0)?;
        Some(self.intern(Kind::Range { start, end }, size, Vec::new(), format!("{start}..{end}")))
    }

    /// The product of sorts; none where there are too many values.
    pub(super) fn product(&mut self, factors: Vec<SortId>) -> Option<SortId> {
        let size =
            factors.iter().try_fold(1u64, |size, &factor| size.checked_mul(self.sorts[factor].size))?;
        i64::try_from(size).ok()?;
        let names: Vec<&str> = factors.iter().map(|&factor| &*self.sorts[factor].name).collect();
        let name = format!("({})", names.join(", "));
        // A product of products of … must not have a name of exponential length.
        let name = if name.len() > 200 { "a product".to_owned() } else { name };
        Some(self.intern(Kind::Product(factors), size, Vec::new(), name))
    }

    /// The factors of a product; none for other sorts.
    pub(super) fn factors(&self, sort: SortId) -> &[SortId] {
        match &self.sorts[sort].kind {
            Kind::Product(factors) => factors,
            _ => &[],
        }
    }

    /// The values that a value of a product consists of.
    pub(super) fn split(&self, sort: SortId, value: u64, parts: &mut Vec<u64>) {
        parts.clear();
        let mut rest = value;
        for &factor in self.factors(sort).iter().rev() {
            parts.push(rest % self.sorts[factor].size);
            rest /= self.sorts[factor].size;
        }
        parts.reverse();
    }

    /// The value of a product with a part appended to those that there are.
    pub(super) fn join(&self, value: u64, factor: SortId, part: u64) -> u64 {
        value * self.sorts[factor].size + part
    }

    /// What a value counts for in comparisons.
    pub(super) fn order(&self, sort: SortId, value: u64) -> i64 {
        match self.sorts[sort].kind {
            Kind::Range { start, .. } => start.saturating_add(value as i64),
            _ => value as i64,
        }
    }

    /// The value of a sort that means the same as one of another sort, where there is one.
    pub(super) fn convert(&self, from: SortId, value: u64, to: SortId) -> Option<u64> {
        if from == to {
            return Some(value);
        }
        match (&self.sorts[from].kind, &self.sorts[to].kind) {
            (Kind::Range { .. }, Kind::Range { start, end }) => {
                let number = self.order(from, value);
                (*start <= number && number <= *end).then(|| (number - start) as u64)
            }
            _ => None,
        }
    }

    /// A value for people.
    pub(super) fn show(&self, sort: SortId, value: u64, out: &mut String) {
        let known = &self.sorts[sort];
        match &known.kind {
            Kind::Dot => out.push_str("dot"),
            Kind::Enumeration { .. } => out.push_str(&known.names[value as usize]),
            Kind::Range { .. } => out.push_str(&self.order(sort, value).to_string()),
            Kind::Product(factors) => {
                let mut parts = Vec::new();
                self.split(sort, value, &mut parts);
                out.push('(');
                for (number, (&factor, part)) in factors.iter().zip(parts).enumerate() {
                    out.push_str(if number == 0 { "" } else { ", " });
                    self.show(factor, part, out);
                }
                out.push(')');
            }
        }
    }

    fn enumeration(&mut self, name: &str, names: Vec<String>) -> SortId {
        let kind = Kind::Enumeration { number: self.sorts.len() };
        self.intern(kind, names.len() as u64, names, name.to_owned())
    }

    /// Reads the declarations of a net: sorts first, as later ones may come first in the text.
    pub(super) fn declare(&mut self, text: Text<'_>, declarations: &[Node<'_, '_>]) -> Outcome<()> {
        let all = || declarations.iter().copied().flat_map(elements);
        let mut waiting: Vec<Node<'_, '_>> =
            all().filter(|node| node.tag_name().name() == "namedsort").collect();
        loop {
            let before = waiting.len();
            let mut failure = None;
            let mut later = Vec::new();
            for node in waiting {
                match self.named_sort(text, node) {
                    Ok(true) => (),
                    Ok(false) => later.push(node),
                    Err(error) => failure = failure.or(Some(error)),
                }
            }
            if let Some(error) = failure {
                return Err(error);
            }
            if later.is_empty() {
                break;
            }
            if later.len() == before {
                let sort = later[0].descendants().find(|node| {
                    let name = node.attribute("declaration").unwrap_or_default();
                    node.tag_name().name() == "usersort" && !self.named.contains_key(name)
                });
                return Err(self.unknown_sort(text, sort.unwrap_or(later[0])));
            }
            waiting = later;
        }
        for node in all().filter(|node| node.tag_name().name() == "partition") {
            self.partition(text, node)?;
        }
        for node in all() {
            match node.tag_name().name() {
                "namedsort" | "partition" | "toolspecific" | "graphics" | "name" => (),
                "variabledecl" => self.variable(text, node)?,
                "arbitrarysort" | "unparsed" | "namedoperator" | "arbitraryoperator" => {
                    return Err(unsupported(text, node));
                }
                other => {
                    let message = format!("unknown declaration `{other}`");
                    return Err(text.error(node, message, "not a declaration of a symmetric net"));
                }
            }
        }
        Ok(())
    }

    /// Declares a sort; not yet where it needs one that is not declared.
    fn named_sort(&mut self, text: Text<'_>, node: Node<'_, '_>) -> Outcome<bool> {
        let id = text.attribute(node, "id")?;
        let name = node.attribute("name").unwrap_or(id);
        let Some(definition) = elements(node).next() else {
            return Err(text.error(
                node,
                format!("the sort `{name}` has no definition"),
                "nothing is in here",
            ));
        };
        let sort = match definition.tag_name().name() {
            "cyclicenumeration" | "finiteenumeration" => {
                let constants: Vec<(String, String)> = elements(definition)
                    .filter(|child| child.tag_name().name() == "feconstant")
                    .map(|child| {
                        let id = text.attribute(child, "id")?;
                        Ok((id.to_owned(), child.attribute("name").unwrap_or(id).to_owned()))
                    })
                    .collect::<Outcome<_>>()?;
                if constants.is_empty() {
                    return Err(text.error(
                        definition,
                        format!("the sort `{name}` has no values"),
                        "no constant is in here",
                    ));
                }
                let sort = self.enumeration(name, readable(&constants));
                for (number, (id, _)) in constants.into_iter().enumerate() {
                    if self.constants.insert(id.clone(), (sort, number as u64)).is_some() {
                        return Err(text.error(
                            definition,
                            format!("the constant `{id}` is declared twice"),
                            "again here",
                        ));
                    }
                }
                sort
            }
            _ => {
                let waits = definition.descendants().any(|node| {
                    let wanted = node.attribute("declaration").unwrap_or_default();
                    node.tag_name().name() == "usersort"
                        && wanted != "dot"
                        && !self.named.contains_key(wanted)
                });
                if waits {
                    return Ok(false);
                }
                self.sort(text, definition, 0)?
            }
        };
        if self.named.insert(id.to_owned(), sort).is_some() {
            return Err(text.error(node, format!("the sort `{id}` is declared twice"), "again here"));
        }
        Ok(true)
    }

    /// The sort that an element means.
    pub(super) fn sort(&mut self, text: Text<'_>, node: Node<'_, '_>, depth: usize) -> Outcome<SortId> {
        if depth > super::xml::MOST_DEPTH {
            return Err(text.error(node, "sorts are nested too deeply", "here"));
        }
        match node.tag_name().name() {
            "dot" => Ok(DOT),
            "usersort" | "partitionsort" => {
                let name = text.attribute(node, "declaration")?;
                let known = self.named.get(name).copied();
                let dot = (name == "dot").then_some(DOT);
                let part = self.partitions.get(name).map(|partition| partition.parts);
                known.or(dot).or(part).ok_or_else(|| self.unknown_sort(text, node))
            }
            "finiteintrange" => {
                let (start, end) = (integer(text, node, "start")?, integer(text, node, "end")?);
                self.range(start, end).ok_or_else(|| {
                    text.error(node, format!("the range {start}..{end} has no values"), "this range")
                })
            }
            "productsort" => {
                let factors = elements(node)
                    .map(|child| self.sort(text, child, depth + 1))
                    .collect::<Outcome<Vec<_>>>()?;
                if factors.is_empty() {
                    return Err(text.error(node, "a product of no sorts", "nothing is in here"));
                }
                self.product(factors)
                    .ok_or_else(|| text.error(node, "this sort has too many values", "this product"))
            }
            "multisetsort" | "structure" => match elements(node).next() {
                Some(inner) => self.sort(text, inner, depth + 1),
                None => Err(text.error(node, "a sort is missing", "nothing is in here")),
            },
            "cyclicenumeration" | "finiteenumeration" => Err(text.error(
                node,
                "an enumeration must be declared as a named sort",
                "it has no name here",
            )),
            _ => Err(unsupported(text, node)),
        }
    }

    fn unknown_sort(&self, text: Text<'_>, node: Node<'_, '_>) -> Box<source::Diagnostic> {
        let name = node.attribute("declaration").unwrap_or_default();
        let error = source::Diagnostic::error(format!("unknown sort `{name}`"));
        let mut known: Vec<&str> = self.named.keys().map(|key| &**key).collect();
        known.sort_unstable();
        let similar = source::closest(name, known).map(|similar| format!("did you mean `{similar}`?"));
        Box::new(error.label(text.span(node), "no sort of this id is declared").maybe_help(similar))
    }

    fn variable(&mut self, text: Text<'_>, node: Node<'_, '_>) -> Outcome<()> {
        let id = text.attribute(node, "id")?;
        let name = node.attribute("name").unwrap_or(id);
        let Some(sort) = elements(node).next() else {
            return Err(text.error(node, format!("the variable `{name}` has no sort"), "nothing is in here"));
        };
        let sort = self.sort(text, sort, 0)?;
        if self.variable_ids.insert(id.to_owned(), self.variables.len()).is_some() {
            return Err(text.error(node, format!("the variable `{id}` is declared twice"), "again here"));
        }
        self.variables.push(sort);
        Ok(())
    }

    fn partition(&mut self, text: Text<'_>, node: Node<'_, '_>) -> Outcome<()> {
        let id = text.attribute(node, "id")?;
        let name = node.attribute("name").unwrap_or(id);
        let is_part = |child: &Node<'_, '_>| child.tag_name().name() == "partitionelement";
        let Some(of) = elements(node).find(|child| !is_part(child)) else {
            return Err(text.error(
                node,
                format!("the partition `{name}` has no sort"),
                "nothing is in here",
            ));
        };
        let of = self.sort(text, of, 0)?;
        let size = usize::try_from(self.sorts[of].size).ok().filter(|&size| size <= MOST_PARTITIONED);
        let Some(size) = size else {
            return Err(text.error(node, "this sort has too many values to be partitioned", "here"));
        };
        let elements_of: Vec<Node<'_, '_>> = elements(node).filter(is_part).collect();
        let mut names = Vec::new();
        let mut part_of = vec![u64::MAX; size];
        for (number, &part) in elements_of.iter().enumerate() {
            let id = text.attribute(part, "id")?;
            names.push((id.to_owned(), part.attribute("name").unwrap_or(id).to_owned()));
            for constant in super::xml::operands(part) {
                let value = match constant.tag_name().name() {
                    "useroperator" => self.constants.get(text.attribute(constant, "declaration")?).copied(),
                    "finiteintrangeconstant" => {
                        let number = integer(text, constant, "value")?;
                        self.range(number, number).map(|sort| (sort, 0))
                    }
                    _ => None,
                };
                let value = value.and_then(|(sort, value)| self.convert(sort, value, of));
                let Some(value) = value else {
                    let message = format!("this is no value of the sort of the partition `{name}`");
                    return Err(text.error(constant, message, "here"));
                };
                if part_of[value as usize] != u64::MAX {
                    return Err(text.error(constant, "this value is in two parts", "again here"));
                }
                part_of[value as usize] = number as u64;
            }
        }
        if part_of.contains(&u64::MAX) {
            return Err(text.error(node, format!("a value is in no part of the partition `{name}`"), "here"));
        }
        let parts = self.enumeration(name, readable(&names));
        for (number, (id, _)) in names.into_iter().enumerate() {
            self.constants.insert(id, (parts, number as u64));
        }
        self.partitions.insert(id.to_owned(), Partition { of, parts, part_of });
        Ok(())
    }
}

/// The largest sort that is partitioned.
const MOST_PARTITIONED: usize = 1 << 20;

/// The names of constants, fit for labels; those that would be the same get their id.
fn readable(constants: &[(String, String)]) -> Vec<String> {
    let plain = |text: &str| -> String {
        let fits =
            |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '+' | '*' | '/' | ':' | '#');
        text.trim().chars().map(|c| if fits(c) { c } else { '_' }).collect()
    };
    let mut count: FxHashMap<String, usize> = FxHashMap::default();
    for (_, name) in constants {
        *count.entry(plain(name)).or_default() += 1;
    }
    constants
        .iter()
        .map(|(id, name)| match plain(name) {
            name if count[&name] == 1 && !name.is_empty() => name,
            _ => plain(id),
        })
        .collect()
}

/// An attribute that is an integer.
pub(super) fn integer(text: Text<'_>, node: Node<'_, '_>, name: &str) -> Outcome<i64> {
    let value = text.attribute(node, name)?;
    // Room to compute with numbers of two ranges.
    let fits = value.trim().parse().ok().filter(|number: &i64| number.unsigned_abs() <= 1 << 60);
    fits.ok_or_else(|| {
        text.error(node, format!("`{value}` is not an integer"), format!("the value of `{name}`"))
    })
}

/// An error that names an element.
pub(super) fn unsupported(text: Text<'_>, node: Node<'_, '_>) -> Box<source::Diagnostic> {
    text.error(node, format!("`{}` is not supported", node.tag_name().name()), "this element")
}

/// The element with the meaning of a label of the net, not its text.
pub(super) fn structure<'a, 'i>(text: Text<'_>, node: Node<'a, 'i>) -> Outcome<Option<Node<'a, 'i>>> {
    match element(node, "structure") {
        Some(structure) => Ok(elements(structure).next()),
        None if super::xml::text_of(node).is_empty() => Ok(None),
        None => {
            let message = format!("`{}` has no `structure`", node.tag_name().name());
            let mut error = *text.error(node, message, "only a text is in here");
            error = error.note("the text is for people; what it means must be in the element `structure`");
            Err(Box::new(error))
        }
    }
}
