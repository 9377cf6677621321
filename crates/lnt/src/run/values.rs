//! Structured values: interned rows, compared, taken apart and enumerated by type.

use std::cmp::Ordering;

use model::{LocalRows, SharedRows};

use crate::compile::types::{Kind, Representation};
use crate::typed::{Pattern, PatternKind, Program, TypeId};

/// More values than this are not enumerated for one offer.
const MOST_VALUES: usize = 1 << 20;

/// One thread's access to values.
pub struct Values<'a> {
    rows: LocalRows<'a>,
    pub(super) types: &'a [Representation],
    pub(super) program: &'a Program,
    scratch: Vec<u32>,
    /// The values of finite types, in ascending order, once somebody asked for them.
    domains: Vec<Option<std::sync::Arc<[u32]>>>,
}

/// A type whose values can't be listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TooMany {
    /// It has no end.
    Infinite(TypeId),
    /// There are too many.
    Large(TypeId),
}

impl TooMany {
    /// The type.
    pub fn ty(&self) -> TypeId {
        match *self {
            TooMany::Infinite(ty) | TooMany::Large(ty) => ty,
        }
    }

    /// What is said about the type.
    pub fn reason(&self) -> &'static str {
        match self {
            TooMany::Infinite(_) => "has infinitely many values",
            TooMany::Large(_) => "has too many values to try them all",
        }
    }
}

impl<'a> Values<'a> {
    pub fn new(shared: &'a SharedRows, types: &'a [Representation], program: &'a Program) -> Self {
        Self { rows: shared.local(), types, program, scratch: Vec::new(), domains: vec![None; types.len()] }
    }

    pub fn program(&self) -> &'a Program {
        self.program
    }

    /// Learns of the values that other threads have made since.
    #[inline]
    pub fn refresh(&mut self) {
        self.rows.refresh();
    }

    /// The row behind a value.
    #[inline]
    pub fn row(&self, value: u32) -> &[u32] {
        self.rows.get(value)
    }

    /// The value of a row.
    #[inline]
    pub fn intern(&mut self, row: &[u32]) -> u32 {
        self.rows.intern(row)
    }

    /// The value of a row that is made from others.
    pub fn build(&mut self, fill: impl FnOnce(&Self, &mut Vec<u32>)) -> u32 {
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        fill(self, &mut scratch);
        let value = self.rows.intern(&scratch);
        self.scratch = scratch;
        value
    }

    pub fn kind(&self, ty: TypeId) -> &'a Kind {
        &self.types[ty.index()].kind
    }

    pub fn real(&self, value: u32) -> f64 {
        match *self.row(value) {
            [low, high] => f64::from_bits(u64::from(low) | u64::from(high) << 32),
            _ => 0.0,
        }
    }

    pub fn intern_real(&mut self, value: f64) -> u32 {
        // The two zeros are equal, so they are one value.
        let bits = if value == 0.0 { 0 } else { value.to_bits() };
        self.intern(&[bits as u32, (bits >> 32) as u32])
    }

    pub fn text(&self, value: u32) -> String {
        self.row(value).iter().filter_map(|&code| char::from_u32(code)).collect()
    }

    pub fn intern_text(&mut self, text: &str) -> u32 {
        self.build(|_, row| row.extend(text.chars().map(|character| character as u32)))
    }

    /// The order of two values of a type, without recursion: values may nest deeply.
    pub fn compare(&self, ty: TypeId, a: u32, b: u32) -> Ordering {
        let mut todo = vec![(ty, a, b)];
        while let Some((ty, a, b)) = todo.pop() {
            if a == b {
                continue;
            }
            let order = match self.kind(ty) {
                Kind::Bool | Kind::Number { .. } | Kind::Char { .. } | Kind::Enumeration(_) => a.cmp(&b),
                Kind::Real => self.real(a).total_cmp(&self.real(b)),
                Kind::String => self.row(a).cmp(self.row(b)),
                Kind::Constructed(constructors) => {
                    let (left, right) = (self.row(a), self.row(b));
                    if left[0] == right[0] {
                        let fields = &self.program[constructors[left[0] as usize]].fields;
                        let parts = fields.iter().zip(left[1..].iter().zip(&right[1..]));
                        let first = todo.len();
                        todo.extend(parts.map(|(field, (&a, &b))| (field.ty, a, b)));
                        todo[first..].reverse();
                    }
                    left[0].cmp(&right[0])
                }
                Kind::List { element, .. } | Kind::Array { element, .. } => {
                    let (left, right) = (self.row(a), self.row(b));
                    // What one has more decides only if all they have in common is equal.
                    let different = left.iter().zip(right).position(|(a, b)| a != b);
                    match different {
                        Some(at) => {
                            todo.push((*element, left[at], right[at]));
                            Ordering::Equal
                        }
                        None => left.len().cmp(&right.len()),
                    }
                }
            };
            if order != Ordering::Equal {
                return order;
            }
        }
        Ordering::Equal
    }

    /// Brings elements into the form that a list or set type keeps them in.
    pub fn normalise(&self, ty: TypeId, elements: &mut Vec<u32>) {
        let Kind::List { element, sorted, set } = *self.kind(ty) else { return };
        if sorted {
            elements.sort_by(|&a, &b| self.compare(element, a, b));
        }
        if set {
            let mut kept: Vec<u32> = Vec::with_capacity(elements.len());
            elements.retain(|element| {
                let new = !kept.contains(element);
                if new {
                    kept.push(*element);
                }
                new
            });
        }
    }

    /// All values of a type, if they were listed before.
    pub fn known_domain(&self, ty: TypeId) -> Option<std::sync::Arc<[u32]>> {
        self.domains[ty.index()].clone()
    }

    /// All values of a type, in ascending order. `accepts` decides on values of predicate types.
    pub fn domain(
        &mut self,
        ty: TypeId,
        accepts: &mut dyn FnMut(&mut Self, TypeId, u32) -> bool,
    ) -> Result<std::sync::Arc<[u32]>, TooMany> {
        if let Some(known) = &self.domains[ty.index()] {
            return Ok(known.clone());
        }
        let mut values = self.enumerate(ty, accepts)?;
        if self.types[ty.index()].predicate.is_some() {
            let mut kept = Vec::with_capacity(values.len());
            for value in values {
                if accepts(self, ty, value) {
                    kept.push(value);
                }
            }
            values = kept;
        }
        let values: std::sync::Arc<[u32]> = values.into();
        self.domains[ty.index()] = Some(values.clone());
        Ok(values)
    }

    fn enumerate(
        &mut self,
        ty: TypeId,
        accepts: &mut dyn FnMut(&mut Self, TypeId, u32) -> bool,
    ) -> Result<Vec<u32>, TooMany> {
        match self.kind(ty) {
            Kind::Bool => Ok(vec![0, 1]),
            Kind::Number { lower, upper, offset, .. } => {
                if upper - lower >= MOST_VALUES as i64 {
                    return Err(TooMany::Large(ty));
                }
                Ok((*lower..=*upper).map(|value| (value - offset) as u32).collect())
            }
            Kind::Char { lower, upper } => Ok((*lower..=*upper).collect()),
            Kind::Enumeration(constructors) => Ok((0..constructors.len() as u32).collect()),
            Kind::Real | Kind::String | Kind::List { .. } => Err(TooMany::Infinite(ty)),
            Kind::Constructed(constructors) => {
                // A type that contains itself has no end; marking it in progress finds that out.
                if self.is_recursive(ty) {
                    return Err(TooMany::Infinite(ty));
                }
                let mut values = Vec::new();
                for (ordinal, &constructor) in constructors.iter().enumerate() {
                    let program = self.program;
                    let mut columns = Vec::new();
                    for field in &program[constructor].fields {
                        columns.push(self.domain(field.ty, accepts)?);
                    }
                    self.rows_of(&[ordinal as u32], &columns, ty, &mut values)?;
                }
                Ok(values)
            }
            Kind::Array { length, element, .. } => {
                let column = self.domain(*element, accepts)?;
                let mut values = Vec::new();
                let columns = vec![column; *length];
                self.rows_of(&[], &columns, ty, &mut values)?;
                Ok(values)
            }
        }
    }

    /// All rows with a prefix and one element of each column, the last column fastest.
    fn rows_of(
        &mut self,
        prefix: &[u32],
        columns: &[std::sync::Arc<[u32]>],
        ty: TypeId,
        values: &mut Vec<u32>,
    ) -> Result<(), TooMany> {
        let count = columns.iter().try_fold(1usize, |count, column| count.checked_mul(column.len()));
        if count.is_none_or(|count| values.len() + count > MOST_VALUES) {
            return Err(TooMany::Large(ty));
        }
        if columns.iter().any(|column| column.is_empty()) {
            return Ok(());
        }
        let mut at = vec![0usize; columns.len()];
        loop {
            let row: Vec<u32> = prefix
                .iter()
                .copied()
                .chain(at.iter().zip(columns).map(|(&index, column)| column[index]))
                .collect();
            values.push(self.intern(&row));
            let Some(last) = (0..at.len()).rev().find(|&place| at[place] + 1 < columns[place].len()) else {
                return Ok(());
            };
            at[last] += 1;
            at[last + 1..].fill(0);
        }
    }

    fn is_recursive(&self, ty: TypeId) -> bool {
        let mut todo = vec![ty];
        let mut seen: Vec<TypeId> = Vec::new();
        while let Some(next) = todo.pop() {
            let Kind::Constructed(constructors) = self.kind(next) else { continue };
            for field in constructors.iter().flat_map(|&constructor| &self.program[constructor].fields) {
                if field.ty == ty {
                    return true;
                }
                if !seen.contains(&field.ty) {
                    seen.push(field.ty);
                    todo.push(field.ty);
                }
            }
        }
        false
    }

    /// The values that match a pattern: a constructor's fields are enumerated, not the whole type.
    pub fn pattern_domain(
        &mut self,
        pattern: &Pattern,
        literal: &mut dyn FnMut(&mut Self, &Pattern) -> u32,
        accepts: &mut dyn FnMut(&mut Self, TypeId, u32) -> bool,
    ) -> Result<std::sync::Arc<[u32]>, TooMany> {
        match &pattern.kind {
            // What is computed is compared afterwards.
            PatternKind::Variable(_) | PatternKind::Wildcard | PatternKind::Equal(_) => {
                self.domain(pattern.ty, accepts)
            }
            PatternKind::Array(elements) => {
                let mut columns = Vec::new();
                for element in elements {
                    columns.push(self.pattern_domain(element, literal, accepts)?);
                }
                let mut values = Vec::new();
                self.rows_of(&[], &columns, pattern.ty, &mut values)?;
                Ok(values.into())
            }
            PatternKind::As(_, inner) => self.pattern_domain(inner, literal, accepts),
            PatternKind::Literal(_) => Ok([literal(self, pattern)].into()),
            PatternKind::Nil => Ok([self.intern(&[])].into()),
            PatternKind::Constructor(constructor, fields) => {
                let ordinal = self.program[*constructor].ordinal;
                if let Kind::Enumeration(_) = self.kind(pattern.ty) {
                    return Ok([ordinal].into());
                }
                let mut columns = Vec::new();
                for field in fields {
                    columns.push(self.pattern_domain(field, literal, accepts)?);
                }
                let mut values = Vec::new();
                self.rows_of(&[ordinal], &columns, pattern.ty, &mut values)?;
                Ok(values.into())
            }
            PatternKind::Cons(head, tail) => {
                let heads = self.pattern_domain(head, literal, accepts)?;
                let tails = self.pattern_domain(tail, literal, accepts)?;
                if heads.len().saturating_mul(tails.len()) > MOST_VALUES {
                    return Err(TooMany::Large(pattern.ty));
                }
                let mut values = Vec::new();
                for &head in heads.iter() {
                    for &tail in tails.iter() {
                        let value = self.build(|values, row| {
                            row.push(head);
                            row.extend_from_slice(values.row(tail));
                        });
                        values.push(value);
                    }
                }
                Ok(values.into())
            }
        }
    }
}
