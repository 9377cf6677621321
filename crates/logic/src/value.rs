//! Data values: how they are read from labels, and how expressions over them are computed.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use crate::function::Function;
use crate::tree::{BinaryOperator, Type, UnaryOperator};

/// A data value.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Value {
    /// A truth value.
    Bool(bool),
    /// A number, of type nat or int.
    Number(i64),
    /// A real number.
    Real(Real),
    /// A character.
    Char(char),
    /// A string.
    Text(String),
    /// A value of the model's own types, as labels print it, without spaces.
    Term(String),
}

/// A real number that can be compared, ordered and hashed.
#[derive(Clone, Copy, Debug)]
pub struct Real(pub f64);

impl PartialEq for Real {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Real {}

impl PartialOrd for Real {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Real {
    fn cmp(&self, other: &Self) -> Ordering {
        // Adding zero makes one of both zeros.
        (self.0 + 0.0).total_cmp(&(other.0 + 0.0))
    }
}

impl Hash for Real {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.0 + 0.0).to_bits().hash(state);
    }
}

impl fmt::Display for Value {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Bool(value) => write!(out, "{}", if *value { "TRUE" } else { "FALSE" }),
            Value::Number(value) => write!(out, "{value}"),
            Value::Real(Real(value)) => write!(out, "{value:?}"),
            Value::Char(letter) => write!(out, "'{letter}'"),
            Value::Text(text) => write!(out, "\"{text}\""),
            Value::Term(text) => out.write_str(text),
        }
    }
}

impl Value {
    /// Reads an offer as a value of a type, if it is one.
    pub fn of_offer(offer: &str, type_of: &Type) -> Option<Value> {
        match type_of {
            Type::Bool if offer.eq_ignore_ascii_case("true") => Some(Value::Bool(true)),
            Type::Bool if offer.eq_ignore_ascii_case("false") => Some(Value::Bool(false)),
            Type::Bool => None,
            Type::Nat => number(offer).filter(|&value| value >= 0).map(Value::Number),
            Type::Int => number(offer).map(Value::Number),
            Type::Real => {
                let digits = offer.bytes().any(|one| one.is_ascii_digit());
                offer
                    .parse()
                    .ok()
                    .filter(|value: &f64| digits && value.is_finite())
                    .map(|value| Value::Real(Real(value)))
            }
            Type::Char => {
                let mut letters = offer.strip_prefix('\'')?.strip_suffix('\'')?.chars();
                letters.next().filter(|_| letters.next().is_none()).map(Value::Char)
            }
            Type::String => {
                if let Some(inner) = offer.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
                    return Some(Value::Text(inner.to_owned()));
                }
                // Of a type of the model, a value is the text that labels show.
                let others = [Type::Bool, Type::Int, Type::Real, Type::Char];
                let other = others.iter().any(|other| Value::of_offer(offer, other).is_some());
                (!other).then(|| Value::Text(offer.to_owned()))
            }
            Type::Term(_) => Some(Value::Term(compact(offer))),
        }
    }

    /// Whether an offer shows this value.
    pub fn is_offer(&self, offer: &str) -> bool {
        match self {
            Value::Bool(_) => Value::of_offer(offer, &Type::Bool).as_ref() == Some(self),
            Value::Number(value) => number(offer) == Some(*value),
            Value::Real(_) => Value::of_offer(offer, &Type::Real).as_ref() == Some(self),
            Value::Char(_) => Value::of_offer(offer, &Type::Char).as_ref() == Some(self),
            Value::Text(text) => {
                Value::of_offer(offer, &Type::String).as_ref() == Some(self) || offer == text
            }
            Value::Term(text) => compact(offer) == *text,
        }
    }
}

/// `12`, `-3`, and `+1` as CADP prints it.
pub(crate) fn number(offer: &str) -> Option<i64> {
    let digits = offer.strip_prefix('+').filter(|rest| !rest.starts_with(['+', '-'])).unwrap_or(offer);
    digits.parse().ok()
}

/// Spaces outside quotes say nothing.
pub(crate) fn compact(text: &str) -> String {
    let mut quoted = false;
    text.chars()
        .filter(|&letter| {
            quoted ^= letter == '"';
            quoted || !letter.is_whitespace()
        })
        .collect()
}

/// A variable's place among the values in force.
pub(crate) type Slot = u32;

/// An expression with its variables resolved.
#[derive(Clone, Debug)]
pub(crate) enum Code {
    Constant(Value),
    Slot(Slot),
    Unary(UnaryOperator, Box<Code>),
    Binary(BinaryOperator, Box<Code>, Box<Code>),
    Function(Function, Vec<Code>),
    /// A constructor of the model applied to values, or `{}` for a list.
    Term(String, Vec<Code>),
}

/// What can go wrong with data while a formula is evaluated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DataError {
    /// A result does not fit.
    #[error("a number in the formula grows past 64 bits")]
    Overflow,
    /// The divisor is 0.
    #[error("the formula divides by zero")]
    DivisionByZero,
    /// A nat below 0.
    #[error("the variable `{0}` of type nat gets the value {1}")]
    Negative(String, i64),
    /// A part of a string that is not there.
    #[error("the formula reads a position that a string does not have")]
    Position,
    /// A value that is none of the wanted type.
    #[error("the formula can't convert {0} to a number")]
    Conversion(String),
    /// A quantifier ranges over more values than can be tried.
    #[error("a quantifier of the formula ranges over {0} values, more than 100,000")]
    TooManyValues(i128),
    /// Operands of types that do not fit; the checker lets none pass.
    #[error("an operator of the formula is applied to values of the wrong types")]
    Types,
}

impl Code {
    /// The value, given those of the variables.
    pub fn evaluate(&self, values: &dyn Fn(Slot) -> Option<Value>) -> Result<Value, DataError> {
        Ok(match self {
            Code::Constant(value) => value.clone(),
            Code::Slot(slot) => values(*slot).ok_or(DataError::Types)?,
            Code::Unary(operator, of) => match (operator, of.evaluate(values)?) {
                (UnaryOperator::Not, Value::Bool(value)) => Value::Bool(!value),
                (UnaryOperator::Minus, Value::Number(value)) => {
                    Value::Number(value.checked_neg().ok_or(DataError::Overflow)?)
                }
                (UnaryOperator::Minus, Value::Real(Real(value))) => Value::Real(Real(-value)),
                _ => return Err(DataError::Types),
            },
            Code::Binary(operator, left, right) => {
                let left = left.evaluate(values)?;
                // The right side may be undefined where the left decides: `n <> 0 and 1 / n > 2`.
                match (operator, &left) {
                    (BinaryOperator::And, Value::Bool(false)) => return Ok(left),
                    (BinaryOperator::Or, Value::Bool(true)) => return Ok(left),
                    (BinaryOperator::Implies, Value::Bool(false)) => return Ok(Value::Bool(true)),
                    _ => {}
                }
                binary(*operator, left, right.evaluate(values)?)?
            }
            Code::Function(function, arguments) => {
                let arguments: Vec<Value> =
                    arguments.iter().map(|one| one.evaluate(values)).collect::<Result<_, _>>()?;
                function.apply(&arguments)?
            }
            Code::Term(name, arguments) => {
                let arguments: Vec<String> = arguments
                    .iter()
                    .map(|one| Ok(one.evaluate(values)?.to_string()))
                    .collect::<Result<_, DataError>>()?;
                let list = arguments.join(",");
                Value::Term(match name.as_str() {
                    "{}" => format!("{{{list}}}"),
                    _ if arguments.is_empty() => name.clone(),
                    _ => format!("{name}({list})"),
                })
            }
        })
    }

    /// The value as a truth value.
    pub fn holds(&self, values: &dyn Fn(Slot) -> Option<Value>) -> Result<bool, DataError> {
        match self.evaluate(values)? {
            Value::Bool(value) => Ok(value),
            _ => Err(DataError::Types),
        }
    }

    /// Calls `visit` for every variable.
    pub fn for_each_slot(&self, visit: &mut dyn FnMut(Slot)) {
        match self {
            Code::Constant(_) => {}
            Code::Slot(slot) => visit(*slot),
            Code::Unary(_, of) => of.for_each_slot(visit),
            Code::Binary(_, left, right) => {
                left.for_each_slot(visit);
                right.for_each_slot(visit);
            }
            Code::Function(_, all) | Code::Term(_, all) => {
                all.iter().for_each(|one| one.for_each_slot(visit))
            }
        }
    }
}

fn binary(operator: BinaryOperator, left: Value, right: Value) -> Result<Value, DataError> {
    use BinaryOperator as Op;
    let compared = match operator {
        Op::Equal => Some(left == right),
        Op::Different => Some(left != right),
        Op::Less => Some(left < right),
        Op::LessEqual => Some(left <= right),
        Op::Greater => Some(left > right),
        Op::GreaterEqual => Some(left >= right),
        _ => None,
    };
    if let Some(result) = compared {
        return Ok(Value::Bool(result));
    }
    match (left, right) {
        (Value::Bool(a), Value::Bool(b)) => Ok(Value::Bool(match operator {
            Op::And => a && b,
            Op::Or => a || b,
            Op::Implies => !a || b,
            Op::Equ => a == b,
            Op::Xor => a != b,
            _ => return Err(DataError::Types),
        })),
        (Value::Number(a), Value::Number(b)) => {
            let result = match operator {
                Op::Plus => a.checked_add(b),
                Op::Minus => a.checked_sub(b),
                Op::Times => a.checked_mul(b),
                Op::Divide | Op::Modulo if b == 0 => return Err(DataError::DivisionByZero),
                Op::Divide => a.checked_div(b),
                Op::Modulo => a.checked_rem_euclid(b),
                _ => return Err(DataError::Types),
            };
            result.map(Value::Number).ok_or(DataError::Overflow)
        }
        (Value::Real(Real(a)), Value::Real(Real(b))) => {
            let result = match operator {
                Op::Plus => a + b,
                Op::Minus => a - b,
                Op::Times => a * b,
                Op::Divide if b == 0.0 => return Err(DataError::DivisionByZero),
                Op::Divide => a / b,
                _ => return Err(DataError::Types),
            };
            if result.is_finite() { Ok(Value::Real(Real(result))) } else { Err(DataError::Overflow) }
        }
        (Value::Text(a), Value::Text(b)) if operator == Op::Plus => Ok(Value::Text(a + &b)),
        _ => Err(DataError::Types),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offers_are_read_as_labels_print_them() {
        assert_eq!(Value::of_offer("+1", &Type::Int), Some(Value::Number(1)));
        assert_eq!(Value::of_offer("-1", &Type::Nat), None);
        assert_eq!(Value::of_offer("+-1", &Type::Int), None);
        assert_eq!(Value::of_offer("TRUE", &Type::Bool), Some(Value::Bool(true)));
        assert_eq!(Value::of_offer("ROCK", &Type::String), Some(Value::Text("ROCK".into())));
        assert_eq!(Value::of_offer("\"a b\"", &Type::String), Some(Value::Text("a b".into())));
        assert_eq!(Value::of_offer("12", &Type::String), None);
        assert_eq!(Value::of_offer("TRUE", &Type::String), None);
        assert!(Value::Text("ROCK".into()).is_offer("ROCK"));
        assert_eq!(Value::of_offer("1.50", &Type::Real), Value::of_offer("1.5", &Type::Real));
        assert_eq!(Value::of_offer("'x'", &Type::Char), Some(Value::Char('x')));
        assert!(Value::Number(1).is_offer("+1"));
        assert!(Value::Term("PAIR(A,B)".into()).is_offer("PAIR (A, B)"));
        assert!(Value::Text("a b".into()).is_offer("\"a b\""));
    }
}
