//! The predefined operations.

use super::values::{Values, remove_repeats};
use crate::compile::code::Application;
use crate::compile::types::{Kind, Storage};
use crate::typed::{Builtin, TypeId};

/// What went wrong, in a sentence, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    pub message: String,
    pub help: Option<String>,
}

impl From<&str> for Wrong {
    fn from(message: &str) -> Self {
        Wrong { message: message.into(), help: None }
    }
}

impl From<String> for Wrong {
    fn from(message: String) -> Self {
        Wrong { message, help: None }
    }
}

impl Values<'_> {
    /// The number that a value of a numeric, character, Boolean or enumerated type stands for.
    pub fn number(&self, ty: TypeId, value: u32) -> i64 {
        match self.kind(ty) {
            Kind::Number { offset, .. } => i64::from(value) + offset,
            _ => i64::from(value),
        }
    }

    /// The value of a type that stands for a number.
    pub fn with_number(&self, ty: TypeId, number: i64) -> Result<u32, Wrong> {
        let (lower, upper, offset) = match *self.kind(ty) {
            Kind::Number { lower, upper, offset, .. } => (lower, upper, offset),
            Kind::Char { lower, upper } => (i64::from(lower), i64::from(upper), 0),
            Kind::Enumeration(ref constructors) => (0, constructors.len() as i64 - 1, 0),
            Kind::Bool => (0, 1, 0),
            _ => {
                return Err(format!(
                    "the values of type {} do not correspond to numbers",
                    self.program[ty].name
                )
                .into());
            }
        };
        if (lower..=upper).contains(&number) {
            return Ok((number - offset) as u32);
        }
        let name = &self.program[ty].name;
        let pragma = match ty {
            TypeId::NAT => Some("nat"),
            TypeId::INT => Some("int"),
            _ => None,
        };
        let bound = if number > upper { "sup" } else { "inf" };
        let help = pragma.filter(|_| number > 0 || ty == TypeId::INT);
        Err(Wrong {
            message: format!("{number} is outside the range {lower}..{upper} of type {name}"),
            help: help.map(|name| {
                format!("write `!{name}_{bound} {number}` in the main module to widen the range")
            }),
        })
    }

    /// Applies a predefined operation whose result has one word to the words of its operands.
    pub fn apply(&mut self, application: &Application, operands: &[u32]) -> Result<u32, Wrong> {
        let Application { operation, operand, second, result, .. } = *application;
        if application.on_parts {
            let mut words = std::mem::take(&mut self.result);
            words.clear();
            let applied = self.apply_parts(application, operands, &mut words);
            let value = words.first().copied().unwrap_or(0);
            self.result = words;
            return applied.map(|()| value);
        }
        let kind = self.kind(operand);
        if let Kind::Real = kind
            && let Some(value) = self.apply_real(operation, operands, result)?
        {
            return Ok(value);
        }
        if let Kind::String = kind
            && let Some(value) = self.apply_string(operation, operands, second, result)?
        {
            return Ok(value);
        }
        let a = operands.first().copied().unwrap_or(0);
        let b = operands.get(1).copied().unwrap_or(0);
        let (x, y) = (self.number(operand, a), self.number(second, b));
        let order = |values: &Self| values.compare(operand, &[a], &[b]);
        match operation {
            Builtin::Equal | Builtin::Iff => Ok(u32::from(a == b)),
            Builtin::NotEqual | Builtin::Xor => Ok(u32::from(a != b)),
            Builtin::Less => Ok(u32::from(order(self).is_lt())),
            Builtin::LessEqual => Ok(u32::from(order(self).is_le())),
            Builtin::Greater => Ok(u32::from(order(self).is_gt())),
            Builtin::GreaterEqual => Ok(u32::from(order(self).is_ge())),
            Builtin::Not => Ok(1 - a),
            Builtin::And | Builtin::AndThen => Ok(a & b),
            Builtin::Or | Builtin::OrElse => Ok(a | b),
            Builtin::Implies => Ok(u32::from(a <= b)),
            Builtin::Add => self.with_number(result, x + y),
            Builtin::Subtract => self.with_number(result, x - y),
            Builtin::Multiply => self.with_number(result, x.saturating_mul(y)),
            Builtin::Divide | Builtin::Modulo | Builtin::Remainder if y == 0 => {
                Err("division by zero".into())
            }
            Builtin::Divide => self.with_number(result, x / y),
            Builtin::Modulo => self.with_number(result, ((x % y) + y) % y),
            Builtin::Remainder => self.with_number(result, x % y),
            Builtin::Power if y < 0 => Err("a power with a negative exponent".into()),
            Builtin::Power => {
                let exponent = u32::try_from(y).unwrap_or(u32::MAX);
                self.with_number(result, x.saturating_pow(exponent))
            }
            Builtin::Negate => self.with_number(result, -x),
            Builtin::Absolute => self.with_number(result, x.abs()),
            Builtin::Sign => self.with_number(result, x.signum()),
            Builtin::Minimum => Ok(if order(self).is_le() { a } else { b }),
            Builtin::Maximum => Ok(if order(self).is_ge() { a } else { b }),
            Builtin::GreatestCommonDivisor => self.with_number(result, gcd(x, y)),
            Builtin::SmallestCommonMultiple => {
                let divisor = gcd(x, y);
                self.with_number(result, if divisor == 0 { 0 } else { (x / divisor).saturating_mul(y).abs() })
            }
            Builtin::Successor => self.with_number(result, x + 1),
            Builtin::Predecessor => self.with_number(result, x - 1),
            Builtin::Convert => self.convert(operand, result, a),
            Builtin::ToString => {
                let text = super::print_value(self, operand, &[a]);
                Ok(self.intern_text(&text))
            }
            Builtin::Ordinal => {
                let ordinal = match kind {
                    Kind::Number { lower, .. } => x - lower,
                    Kind::Char { lower, .. } => x - i64::from(*lower),
                    Kind::Constructed(_) => i64::from(self.tag(operand, &[a])),
                    _ => x,
                };
                self.with_number(result, ordinal)
            }
            Builtin::Value => {
                let lower = match self.kind(result) {
                    Kind::Number { lower, .. } => *lower,
                    Kind::Char { lower, .. } => i64::from(*lower),
                    _ => 0,
                };
                self.with_number(result, lower + x)
            }
            Builtin::First => self.bound(result, false),
            Builtin::Last => self.bound(result, true),
            Builtin::Cardinality(ty) => {
                let (lower, upper) = self.bounds(ty)?;
                self.with_number(result, upper - lower + 1)
            }
            _ => self.apply_character(operation, a),
        }
    }

    fn bounds(&self, ty: TypeId) -> Result<(i64, i64), Wrong> {
        match self.kind(ty) {
            Kind::Bool => Ok((0, 1)),
            Kind::Number { lower, upper, .. } => Ok((*lower, *upper)),
            Kind::Char { lower, upper } => Ok((i64::from(*lower), i64::from(*upper))),
            Kind::Enumeration(constructors) => Ok((0, constructors.len() as i64 - 1)),
            _ => Err(format!("type {} has no least and greatest values", self.program[ty].name).into()),
        }
    }

    fn bound(&self, ty: TypeId, last: bool) -> Result<u32, Wrong> {
        let (lower, upper) = self.bounds(ty)?;
        self.with_number(ty, if last { upper } else { lower })
    }

    fn convert(&mut self, from: TypeId, to: TypeId, value: u32) -> Result<u32, Wrong> {
        match (self.kind(from), self.kind(to)) {
            (Kind::Real, Kind::Real) => Ok(value),
            (Kind::Real, _) => self.with_number(to, self.real(value).trunc() as i64),
            (_, Kind::Real) => {
                let number = self.number(from, value) as f64;
                Ok(self.intern_real(number))
            }
            (
                Kind::Number { .. } | Kind::Char { .. } | Kind::Bool | Kind::Enumeration(_),
                Kind::Number { .. } | Kind::Char { .. } | Kind::Bool | Kind::Enumeration(_),
            ) => self.with_number(to, self.number(from, value)),
            _ => Ok(value),
        }
    }

    fn apply_real(
        &mut self,
        operation: Builtin,
        operands: &[u32],
        result: TypeId,
    ) -> Result<Option<u32>, Wrong> {
        let x = self.real(operands[0]);
        let y = operands.get(1).map_or(0.0, |&value| match self.kind(result) {
            Kind::Real => self.real(value),
            _ => 0.0,
        });
        let value = match operation {
            Builtin::Add => x + y,
            Builtin::Subtract => x - y,
            Builtin::Multiply => x * y,
            Builtin::Divide if y == 0.0 => return Err("division by zero".into()),
            Builtin::Divide => x / y,
            Builtin::Power => x.powf(y),
            Builtin::Negate => -x,
            Builtin::Absolute => x.abs(),
            Builtin::Sign => {
                let sign = if x == 0.0 { 0.0 } else { x.signum() };
                match self.kind(result) {
                    Kind::Real => sign,
                    _ => return self.with_number(result, sign as i64).map(Some),
                }
            }
            _ => return Ok(None),
        };
        if !value.is_finite() {
            return Err("the result is too large for type real".into());
        }
        Ok(Some(self.intern_real(value)))
    }

    fn apply_string(
        &mut self,
        operation: Builtin,
        operands: &[u32],
        second: TypeId,
        result: TypeId,
    ) -> Result<Option<u32>, Wrong> {
        let row = self.row(operands[0]).to_vec();
        let number = |values: &Self, at: usize, ty: TypeId| {
            operands.get(at).map_or(0, |&value| values.number(ty, value))
        };
        let value = match operation {
            Builtin::Substring => {
                let start = number(self, 1, second);
                let length = number(self, 2, second);
                self.substring(&row, start, length)?
            }
            Builtin::Prefix => {
                let length = number(self, 1, second);
                self.substring(&row, 1, length)?
            }
            Builtin::Suffix => {
                let start = number(self, 1, second);
                self.substring(&row, start, row.len() as i64 + 1 - start)?
            }
            Builtin::Index | Builtin::ReverseIndex => {
                let wanted = self.row(operands[1]).to_vec();
                let found = if wanted.is_empty() || wanted.len() > row.len() {
                    None
                } else if operation == Builtin::Index {
                    row.windows(wanted.len()).position(|window| window == wanted)
                } else {
                    row.windows(wanted.len()).rposition(|window| window == wanted)
                };
                self.with_number(result, found.map_or(0, |at| at as i64 + 1))?
            }
            Builtin::ToLower | Builtin::ToUpper => {
                let text = self.text(operands[0]);
                let text =
                    if operation == Builtin::ToLower { text.to_lowercase() } else { text.to_uppercase() };
                self.intern_text(&text)
            }
            Builtin::ToString => operands[0],
            _ => return Ok(None),
        };
        Ok(Some(value))
    }

    fn substring(&mut self, row: &[u32], start: i64, length: i64) -> Result<u32, Wrong> {
        let end = start - 1 + length;
        if start < 1 || length < 0 || end > row.len() as i64 {
            let message = format!("a string of length {} has no characters {start} to {end}", row.len());
            return Err(message.into());
        }
        Ok(self.intern(&row[start as usize - 1..end as usize]))
    }

    fn apply_character(&self, operation: Builtin, value: u32) -> Result<u32, Wrong> {
        let character = char::from_u32(value).unwrap_or('\0');
        let yes = |answer: bool| Ok(u32::from(answer));
        match operation {
            Builtin::IsLower => yes(character.is_lowercase()),
            Builtin::IsUpper => yes(character.is_uppercase()),
            Builtin::IsAlpha => yes(character.is_alphabetic()),
            Builtin::IsAlphanumeric => yes(character.is_alphanumeric()),
            Builtin::IsDigit => yes(character.is_ascii_digit()),
            Builtin::IsHexadecimalDigit => yes(character.is_ascii_hexdigit()),
            Builtin::ToLower => Ok(character.to_lowercase().next().unwrap_or(character) as u32),
            Builtin::ToUpper => Ok(character.to_uppercase().next().unwrap_or(character) as u32),
            other => Err(format!("operation {other:?} does not work on these values").into()),
        }
    }

    /// Applies a predefined operation on lists, sets and arrays, or on values of several words, and adds the words of
    /// its result.
    pub fn apply_parts(
        &mut self,
        application: &Application,
        operands: &[u32],
        result_words: &mut Vec<u32>,
    ) -> Result<(), Wrong> {
        let Application { operand, second, result, .. } = *application;
        let (a, others) = operands.split_at(self.types[operand.index()].leaves.len().min(operands.len()));
        let (b, third) = others.split_at(self.types[second.index()].leaves.len().min(others.len()));
        if let Some(value) = self.apply_mask(application, a, b) {
            result_words.push(value);
            return Ok(());
        }
        let mut elements = std::mem::take(&mut self.parts);
        elements.clear();
        let done = self.apply_elements(application, [a, b, third], &mut elements, result_words);
        self.parts = elements;
        match done? {
            Made::Elements => {
                let mut elements = std::mem::take(&mut self.parts);
                self.collect(result, &mut elements, result_words);
                self.parts = elements;
            }
            // Elements that are in the right order already are a row as they are.
            Made::Row => {
                let elements = std::mem::take(&mut self.parts);
                result_words.push(self.intern(&elements));
                self.parts = elements;
            }
            Made::Number(number) => {
                let value = self.with_number(result, number)?;
                result_words.push(value);
            }
            Made::Answer(answer) => result_words.push(u32::from(answer)),
            Made::Words => {}
        }
        Ok(())
    }

    /// Applies an operation on lists and sets that are rows, or drafts of rows, whose result is one too: a draft, if it may be one.
    /// Nothing where it fails.
    pub fn change_rows(
        &mut self,
        application: &Application,
        operands: &[u32],
        may_be_draft: bool,
    ) -> Option<u32> {
        let Application { operation, operand, second, result, .. } = *application;
        let (a, b) = operands.split_at(self.types[operand.index()].leaves.len());
        let &first = b.first()?;
        let stride = self.types[result.index()].element.words.max(1) as usize;
        match operation {
            Builtin::Cons | Builtin::Insert | Builtin::Append => {
                let Kind::List { element, sorted, set } = *self.kind(result) else { return None };
                let row = self.row(first);
                // A set that has the element already stays as it is, in its order.
                if set && row.chunks_exact(stride).any(|one| one == a) {
                    return Some(self.settle_unless(may_be_draft, first));
                }
                let at = match operation {
                    _ if sorted => {
                        let element_at = |at: usize| &row[at * stride..(at + 1) * stride];
                        let less = |at: usize| self.compare(element, element_at(at), a).is_lt();
                        partition_point(row.len() / stride, less) * stride
                    }
                    Builtin::Append => row.len(),
                    _ => 0,
                };
                Some(self.build_draft(may_be_draft, |values, scratch| {
                    let (before, behind) = values.row(first).split_at(at);
                    scratch.extend_from_slice(before);
                    scratch.extend_from_slice(a);
                    scratch.extend_from_slice(behind);
                }))
            }
            Builtin::Remove => Some(self.build_row(may_be_draft, |values, scratch| {
                let others = values.row(first).chunks_exact(stride).filter(|&one| one != a);
                others.for_each(|one| scratch.extend_from_slice(one));
            })),
            Builtin::Delete => {
                let position = usize::try_from(self.number(second, first) - 1).ok()?;
                (position < self.row(a[0]).len() / stride).then(|| {
                    self.build_row(may_be_draft, |values, scratch| {
                        let row = values.row(a[0]);
                        scratch.extend_from_slice(&row[..position * stride]);
                        scratch.extend_from_slice(&row[(position + 1) * stride..]);
                    })
                })
            }
            Builtin::Intersection | Builtin::Difference => {
                let keep = operation == Builtin::Intersection;
                Some(self.build_row(may_be_draft, |values, scratch| {
                    let others = values.row(first);
                    let own = values.row(a[0]).chunks_exact(stride);
                    let kept =
                        own.filter(|&one| others.chunks_exact(stride).any(|other| other == one) == keep);
                    kept.for_each(|one| scratch.extend_from_slice(one));
                }))
            }
            Builtin::Union if self.is_row_in_order(result) => {
                Some(self.build_row(may_be_draft, |values, scratch| {
                    merge(values.row(a[0]), values.row(first), stride, scratch);
                }))
            }
            Builtin::Union | Builtin::Concatenate => Some(self.build_row(may_be_draft, |values, scratch| {
                scratch.extend_from_slice(values.row(a[0]));
                scratch.extend_from_slice(values.row(first));
                if operation == Builtin::Union {
                    remove_repeats(scratch, stride);
                }
                values.normalise(result, scratch);
            })),
            _ => None,
        }
    }

    /// Operations on sorted sets that are masks, where they take an instruction or two.
    #[inline]
    fn apply_mask(&self, application: &Application, a: &[u32], b: &[u32]) -> Option<u32> {
        let Application { operation, operand, second, .. } = *application;
        let is_mask = |ty: TypeId| {
            let shape = &self.types[ty.index()];
            shape.storage == Storage::Packed && matches!(shape.kind, Kind::List { sorted: true, .. })
        };
        let (&[a], b) = (a, b.first().copied().unwrap_or(0)) else { return None };
        match operation {
            Builtin::Cons | Builtin::Insert | Builtin::Append if is_mask(second) => Some(b | 1 << a),
            Builtin::Remove if is_mask(second) => Some(b & !(1 << a)),
            Builtin::Member if is_mask(second) => Some(b >> a & 1),
            Builtin::Union | Builtin::Concatenate if is_mask(operand) => Some(a | b),
            Builtin::Intersection if is_mask(operand) => Some(a & b),
            Builtin::Difference if is_mask(operand) => Some(a & !b),
            Builtin::Subset if is_mask(operand) => Some(u32::from(a & !b == 0)),
            Builtin::IsEmpty if is_mask(operand) => Some(u32::from(a == 0)),
            Builtin::Head if is_mask(operand) && a != 0 => Some(a.trailing_zeros()),
            Builtin::LastElement if is_mask(operand) && a != 0 => Some(31 - a.leading_zeros()),
            Builtin::Tail if is_mask(operand) && a != 0 => Some(a & (a - 1)),
            _ => None,
        }
    }

    fn apply_elements(
        &mut self,
        application: &Application,
        [a, b, third]: [&[u32]; 3],
        elements: &mut Vec<u32>,
        result_words: &mut Vec<u32>,
    ) -> Result<Made, Wrong> {
        let Application { operation, operand, second, result, .. } = *application;
        let stride = |values: &Self, ty: TypeId| values.types[ty.index()].element.words.max(1) as usize;
        match operation {
            Builtin::Cons | Builtin::Insert | Builtin::Append => {
                let Kind::List { element, sorted, set } = *self.kind(result) else {
                    return Err("this is not a list".into());
                };
                self.elements(second, b, elements);
                let stride = a.len();
                // A set that has the element already stays as it is, in its order.
                if set && elements.chunks_exact(stride).any(|one| one == a) {
                    result_words.extend_from_slice(b);
                    return Ok(Made::Words);
                }
                let count = elements.len() / stride;
                let at = match operation {
                    _ if sorted => {
                        let less = |at: usize| {
                            self.compare(element, &elements[at * stride..(at + 1) * stride], a).is_lt()
                        };
                        partition_point(count, less)
                    }
                    Builtin::Append => count,
                    _ => 0,
                };
                elements.splice(at * stride..at * stride, a.iter().copied());
                // What it was put into is in order.
                Ok(match self.types[result.index()].storage {
                    Storage::Row => Made::Row,
                    _ => Made::Elements,
                })
            }
            Builtin::Union if self.is_row_in_order(operand) && operand == second => {
                let stride = stride(self, operand);
                merge(self.row(a[0]), self.row(b[0]), stride, elements);
                Ok(Made::Row)
            }
            Builtin::Concatenate | Builtin::Union => {
                self.elements(operand, a, elements);
                self.elements(second, b, elements);
                if operation == Builtin::Union {
                    remove_repeats(elements, stride(self, operand));
                }
                Ok(Made::Elements)
            }
            Builtin::Intersection | Builtin::Difference => {
                let mut others = Vec::new();
                self.elements(second, b, &mut others);
                let stride = stride(self, operand);
                let keep = operation == Builtin::Intersection;
                let mut own = Vec::new();
                self.elements(operand, a, &mut own);
                for element in own.chunks_exact(stride) {
                    if others.chunks_exact(stride).any(|other| other == element) == keep {
                        elements.extend_from_slice(element);
                    }
                }
                Ok(self.made_in_order(result))
            }
            Builtin::Length => Ok(Made::Number(self.count(operand, a) as i64)),
            Builtin::IsEmpty => Ok(Made::Answer(self.count(operand, a) == 0)),
            Builtin::Member => {
                let shape = &self.types[second.index()];
                if shape.storage == Storage::Row {
                    let row = self.row(b[0]);
                    let found = match *a {
                        [element] => row.contains(&element),
                        _ => row.chunks_exact(a.len()).any(|one| one == a),
                    };
                    return Ok(Made::Answer(found));
                }
                self.elements(second, b, elements);
                Ok(Made::Answer(elements.chunks_exact(a.len()).any(|one| one == a)))
            }
            Builtin::Subset => {
                let stride = stride(self, operand);
                let mut others = Vec::new();
                self.elements(second, b, &mut others);
                self.elements(operand, a, elements);
                let has = |element: &[u32]| others.chunks_exact(stride).any(|other| other == element);
                Ok(Made::Answer(elements.chunks_exact(stride).all(has)))
            }
            Builtin::Access => {
                let position = self.number(second, b[0]);
                let count = self.count(operand, a);
                match usize::try_from(position - 1).ok().filter(|&at| at < count) {
                    Some(at) => {
                        result_words.extend_from_slice(&self.element_at(operand, a, at));
                        Ok(Made::Words)
                    }
                    None => Err(format!("there is no element {position} in a collection of {count}").into()),
                }
            }
            Builtin::Head | Builtin::LastElement => {
                let count = self.count(operand, a);
                if count == 0 {
                    let what = if operation == Builtin::Head { "head" } else { "last element" };
                    return Err(format!("an empty list has no {what}").into());
                }
                let at = if operation == Builtin::Head { 0 } else { count - 1 };
                result_words.extend_from_slice(&self.element_at(operand, a, at));
                Ok(Made::Words)
            }
            Builtin::Tail => {
                self.elements(operand, a, elements);
                if elements.is_empty() {
                    return Err("an empty list has no tail".into());
                }
                elements.drain(..stride(self, operand));
                Ok(self.made_in_order(result))
            }
            Builtin::Reverse => {
                let mut own = Vec::new();
                self.elements(operand, a, &mut own);
                own.chunks_exact(stride(self, operand)).rev().for_each(|one| elements.extend_from_slice(one));
                Ok(Made::Elements)
            }
            Builtin::Delete => {
                let position = self.number(second, b[0]);
                let stride = stride(self, operand);
                self.elements(operand, a, elements);
                let count = elements.len() / stride;
                if position < 1 || position > count as i64 {
                    let message = format!("there is no element {position} in a collection of {count}");
                    return Err(message.into());
                }
                let at = position as usize - 1;
                elements.drain(at * stride..(at + 1) * stride);
                Ok(self.made_in_order(result))
            }
            Builtin::Remove => {
                let mut own = Vec::new();
                self.elements(second, b, &mut own);
                let others = own.chunks_exact(a.len()).filter(|&one| one != a);
                others.for_each(|one| elements.extend_from_slice(one));
                Ok(self.made_in_order(result))
            }
            Builtin::Store => {
                let index = self.number(second, b[0]);
                let at = self.position(operand, index)?;
                self.elements(operand, a, elements);
                elements[at * third.len()..(at + 1) * third.len()].copy_from_slice(third);
                Ok(Made::Elements)
            }
            Builtin::Less => Ok(Made::Answer(self.compare(operand, a, b).is_lt())),
            Builtin::LessEqual => Ok(Made::Answer(self.compare(operand, a, b).is_le())),
            Builtin::Greater => Ok(Made::Answer(self.compare(operand, a, b).is_gt())),
            Builtin::GreaterEqual => Ok(Made::Answer(self.compare(operand, a, b).is_ge())),
            Builtin::Minimum | Builtin::Maximum => {
                let order = self.compare(operand, a, b);
                let first = if operation == Builtin::Minimum { order.is_le() } else { order.is_ge() };
                result_words.extend_from_slice(if first { a } else { b });
                Ok(Made::Words)
            }
            Builtin::Convert => {
                result_words.extend_from_slice(a);
                Ok(Made::Words)
            }
            Builtin::ToString => {
                let text = super::print_value(self, operand, a);
                result_words.push(self.intern_text(&text));
                Ok(Made::Words)
            }
            Builtin::Ordinal => Ok(Made::Number(i64::from(self.tag(operand, a)))),
            other => Err(format!("operation {other:?} does not work on these values").into()),
        }
    }

    /// Whether values of a type are rows of elements in ascending order of their words, each once.
    pub fn is_row_in_order(&self, ty: TypeId) -> bool {
        let shape = &self.types[ty.index()];
        match shape.kind {
            Kind::List { element, sorted: true, set: true } => {
                shape.storage == Storage::Row && self.types[element.index()].lexical
            }
            _ => false,
        }
    }

    /// Elements that are in the order of their type, without repetitions where it has none.
    fn made_in_order(&self, ty: TypeId) -> Made {
        match self.types[ty.index()].storage {
            Storage::Row => Made::Row,
            _ => Made::Elements,
        }
    }

    /// Where an element of an array lies, counted from 0.
    #[inline]
    pub fn position(&self, ty: TypeId, index: i64) -> Result<usize, Wrong> {
        let Kind::Array { lower, length, .. } = *self.kind(ty) else {
            return Err("this is not an array".into());
        };
        match usize::try_from(index - lower) {
            Ok(at) if at < length => Ok(at),
            _ => Err(outside(index, lower, length)),
        }
    }
}

#[cold]
fn outside(index: i64, lower: i64, length: usize) -> Wrong {
    let upper = lower + length as i64 - 1;
    format!("index {index} is outside the bounds {lower}..{upper} of the array").into()
}

/// The elements of two rows that are in order, in order and each once.
fn merge(a: &[u32], b: &[u32], stride: usize, merged: &mut Vec<u32>) {
    let (mut left, mut right) = (a.chunks_exact(stride).peekable(), b.chunks_exact(stride).peekable());
    while let (Some(one), Some(other)) = (left.peek(), right.peek()) {
        let order = one.cmp(other);
        merged.extend_from_slice(if order.is_le() { one } else { other });
        if order.is_le() {
            left.next();
        }
        if order.is_ge() {
            right.next();
        }
    }
    left.chain(right).for_each(|rest| merged.extend_from_slice(rest));
}

/// Where an element of some words is in a row that is in order, or where it would be, counted in words.
pub fn find_in_order(row: &[u32], element: &[u32]) -> Result<usize, usize> {
    if let [word] = element {
        return row.binary_search(word);
    }
    let stride = element.len();
    let at =
        partition_point(row.len() / stride, |at| row[at * stride..(at + 1) * stride] < *element) * stride;
    match row.get(at..at + stride) == Some(element) {
        true => Ok(at),
        false => Err(at),
    }
}

/// The first of so many places that is not less.
fn partition_point(count: usize, less: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = (low + high) / 2;
        if less(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// What an operation on parts has made.
enum Made {
    /// The words of the result.
    Words,
    /// Elements of the result, in any order.
    Elements,
    /// The row of the result.
    Row,
    /// A number of the type of the result.
    Number(i64),
    Answer(bool),
}

fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.abs(), b.abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
