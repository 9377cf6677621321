//! The predefined operations.

use super::values::Values;
use crate::compile::code::Application;
use crate::compile::types::Kind;
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

    /// Applies a predefined operation to its operands.
    pub fn apply(&mut self, application: &Application, operands: &[u32]) -> Result<u32, Wrong> {
        let Application { operation, operand, second, result, .. } = *application;
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
        let order = |values: &Self| values.compare(operand, a, b);
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
                let text = super::print_value(self, operand, a);
                Ok(self.intern_text(&text))
            }
            Builtin::Ordinal => {
                let ordinal = match kind {
                    Kind::Number { lower, .. } => x - lower,
                    Kind::Char { lower, .. } => x - i64::from(*lower),
                    Kind::Constructed(_) => i64::from(self.row(a)[0]),
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
            _ => self.apply_list(application, operands),
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

    /// Operations on lists, sets, arrays and characters.
    fn apply_list(&mut self, application: &Application, operands: &[u32]) -> Result<u32, Wrong> {
        let Application { operation, operand, second, result, .. } = *application;
        let a = operands.first().copied().unwrap_or(0);
        let b = operands.get(1).copied().unwrap_or(0);
        let character = char::from_u32(a).unwrap_or('\0');
        let yes = |answer: bool| Ok(u32::from(answer));
        match operation {
            // A set that has the element already stays as it is, in its order.
            Builtin::Cons | Builtin::Insert | Builtin::Append
                if matches!(self.kind(result), Kind::List { set: true, .. }) && self.row(b).contains(&a) =>
            {
                Ok(b)
            }
            Builtin::Cons | Builtin::Insert | Builtin::Append => {
                let mut elements = self.row(b).to_vec();
                match operation {
                    Builtin::Append => elements.push(a),
                    _ => elements.insert(0, a),
                }
                self.normalise(result, &mut elements);
                Ok(self.intern(&elements))
            }
            Builtin::Concatenate | Builtin::Union => {
                let mut elements = self.row(a).to_vec();
                elements.extend_from_slice(self.row(b));
                if operation == Builtin::Union {
                    remove_repeats(&mut elements);
                }
                self.normalise(result, &mut elements);
                Ok(self.intern(&elements))
            }
            Builtin::Intersection | Builtin::Difference => {
                let others = self.row(b).to_vec();
                let keep = operation == Builtin::Intersection;
                let elements: Vec<u32> =
                    self.row(a).iter().copied().filter(|element| others.contains(element) == keep).collect();
                Ok(self.intern(&elements))
            }
            Builtin::Length => {
                let length = self.row(a).len() as i64;
                self.with_number(result, length)
            }
            Builtin::IsEmpty => yes(self.row(a).is_empty()),
            Builtin::Member => yes(self.row(b).contains(&a)),
            Builtin::Subset => {
                let others = self.row(b);
                yes(self.row(a).iter().all(|element| others.contains(element)))
            }
            Builtin::Access => {
                let position = self.number(second, b);
                let row = self.row(a);
                usize::try_from(position - 1).ok().and_then(|at| row.get(at).copied()).ok_or_else(|| {
                    format!("there is no element {position} in a collection of {}", row.len()).into()
                })
            }
            Builtin::Head => self.row(a).first().copied().ok_or_else(|| "an empty list has no head".into()),
            Builtin::LastElement => {
                self.row(a).last().copied().ok_or_else(|| "an empty list has no last element".into())
            }
            Builtin::Tail => {
                let Some((_, tail)) = self.row(a).split_first() else {
                    return Err("an empty list has no tail".into());
                };
                let tail = tail.to_vec();
                Ok(self.intern(&tail))
            }
            Builtin::Reverse => {
                let mut elements = self.row(a).to_vec();
                elements.reverse();
                self.normalise(result, &mut elements);
                Ok(self.intern(&elements))
            }
            Builtin::Delete => {
                let position = self.number(second, b);
                let mut elements = self.row(a).to_vec();
                if position < 1 || position > elements.len() as i64 {
                    return Err(format!(
                        "there is no element {position} in a collection of {}",
                        elements.len()
                    )
                    .into());
                }
                elements.remove(position as usize - 1);
                Ok(self.intern(&elements))
            }
            Builtin::Remove => {
                let elements: Vec<u32> =
                    self.row(b).iter().copied().filter(|&element| element != a).collect();
                Ok(self.intern(&elements))
            }
            Builtin::Store => {
                let value = operands.get(2).copied().unwrap_or(0);
                let index = self.number(second, b);
                self.change_element(operand, a, index, value)
            }
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

    /// The element of an array at an index.
    pub fn element(&self, ty: TypeId, array: u32, index: i64) -> Result<u32, Wrong> {
        let at = self.position(ty, index)?;
        Ok(self.row(array)[at])
    }

    /// An array with one element changed.
    pub fn change_element(&mut self, ty: TypeId, array: u32, index: i64, value: u32) -> Result<u32, Wrong> {
        let at = self.position(ty, index)?;
        Ok(self.build(|values, row| {
            row.extend_from_slice(values.row(array));
            row[at] = value;
        }))
    }

    fn position(&self, ty: TypeId, index: i64) -> Result<usize, Wrong> {
        let Kind::Array { lower, length, .. } = *self.kind(ty) else {
            return Err("this is not an array".into());
        };
        usize::try_from(index - lower).ok().filter(|&at| at < length).ok_or_else(|| {
            let upper = lower + length as i64 - 1;
            format!("index {index} is outside the bounds {lower}..{upper} of the array").into()
        })
    }
}

fn remove_repeats(elements: &mut Vec<u32>) {
    let mut seen: Vec<u32> = Vec::with_capacity(elements.len());
    elements.retain(|element| {
        let new = !seen.contains(element);
        if new {
            seen.push(*element);
        }
        new
    });
}

fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.abs(), b.abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
