//! The predefined functions on data: their signatures, and what they compute.

use crate::tree::Type;
use crate::value::{DataError, Real, Value, number};

/// The built-in functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    Min,
    Max,
    Abs,
    Succ,
    Pred,
    Length,
    Concat,
    Index,
    ReverseIndex,
    Nth,
    Substring,
    Prefix,
    Suffix,
    IsEmpty,
    ToNat,
    ToInt,
    ToReal,
    ToText,
}

/// What a function takes or gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Bool,
    /// A nat or an int.
    Whole,
    /// A number of any type; as a result, of that of the first argument.
    Number,
    Real,
    Char,
    Text,
    /// A number or a text.
    Convertible,
}

impl Kind {
    pub fn accepts(self, found: &Type) -> bool {
        match self {
            Kind::Bool => *found == Type::Bool,
            Kind::Whole => matches!(found, Type::Nat | Type::Int),
            Kind::Number => matches!(found, Type::Nat | Type::Int | Type::Real),
            Kind::Real => *found == Type::Real,
            Kind::Char => *found == Type::Char,
            Kind::Text => *found == Type::String,
            Kind::Convertible => !matches!(found, Type::Bool | Type::Term(_)),
        }
    }

    /// The type of a result, given that of the first argument.
    pub fn result(self, first: Option<&Type>) -> Type {
        match self {
            Kind::Bool => Type::Bool,
            Kind::Whole => Type::Int,
            Kind::Number | Kind::Convertible => first.cloned().unwrap_or(Type::Int),
            Kind::Real => Type::Real,
            Kind::Char => Type::Char,
            Kind::Text => Type::String,
        }
    }

    /// For messages.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Bool => "bool",
            Kind::Whole => "int",
            Kind::Number => "int or real",
            Kind::Real => "real",
            Kind::Char => "char",
            Kind::Text => "string",
            Kind::Convertible => "int, real, char or string",
        }
    }
}

/// A function with its name, what it takes and what it gives.
pub(crate) type Signature = (&'static str, Function, &'static [Kind], Kind);

impl Function {
    pub const ALL: [Signature; 18] = [
        ("min", Function::Min, &[Kind::Number, Kind::Number], Kind::Number),
        ("max", Function::Max, &[Kind::Number, Kind::Number], Kind::Number),
        ("abs", Function::Abs, &[Kind::Number], Kind::Number),
        ("succ", Function::Succ, &[Kind::Whole], Kind::Whole),
        ("pred", Function::Pred, &[Kind::Whole], Kind::Whole),
        ("length", Function::Length, &[Kind::Text], Kind::Whole),
        ("concat", Function::Concat, &[Kind::Text, Kind::Text], Kind::Text),
        ("index", Function::Index, &[Kind::Text, Kind::Text], Kind::Whole),
        ("rindex", Function::ReverseIndex, &[Kind::Text, Kind::Text], Kind::Whole),
        ("nth", Function::Nth, &[Kind::Text, Kind::Whole], Kind::Char),
        ("substr", Function::Substring, &[Kind::Text, Kind::Whole, Kind::Whole], Kind::Text),
        ("prefix", Function::Prefix, &[Kind::Text, Kind::Whole], Kind::Text),
        ("suffix", Function::Suffix, &[Kind::Text, Kind::Whole], Kind::Text),
        ("is_empty", Function::IsEmpty, &[Kind::Text], Kind::Bool),
        ("nat", Function::ToNat, &[Kind::Convertible], Kind::Whole),
        ("int", Function::ToInt, &[Kind::Convertible], Kind::Whole),
        ("real", Function::ToReal, &[Kind::Convertible], Kind::Real),
        ("string", Function::ToText, &[Kind::Convertible], Kind::Text),
    ];

    pub fn find(name: &str) -> Option<&'static Signature> {
        Self::ALL.iter().find(|(text, ..)| *text == name)
    }

    pub fn apply(self, arguments: &[Value]) -> Result<Value, DataError> {
        let whole = |value: Option<i64>| value.map(Value::Number).ok_or(DataError::Overflow);
        let position = |found: Option<usize>| Value::Number(found.map_or(0, |at| at as i64 + 1));
        Ok(match (self, arguments) {
            (Function::Min, [a, b]) => a.min(b).clone(),
            (Function::Max, [a, b]) => a.max(b).clone(),
            (Function::Abs, [Value::Number(a)]) => whole(a.checked_abs())?,
            (Function::Abs, [Value::Real(Real(a))]) => Value::Real(Real(a.abs())),
            (Function::Succ, [Value::Number(a)]) => whole(a.checked_add(1))?,
            (Function::Pred, [Value::Number(a)]) => whole(a.checked_sub(1))?,
            (Function::Length, [Value::Text(text)]) => Value::Number(text.chars().count() as i64),
            (Function::Concat, [Value::Text(a), Value::Text(b)]) => Value::Text(format!("{a}{b}")),
            (Function::Index | Function::ReverseIndex, [Value::Text(text), Value::Text(wanted)]) => {
                let (text, wanted): (Vec<char>, Vec<char>) =
                    (text.chars().collect(), wanted.chars().collect());
                if wanted.is_empty() {
                    return Ok(position(None));
                }
                let mut windows = text.windows(wanted.len());
                position(match self {
                    Function::Index => windows.position(|window| window == wanted),
                    _ => windows.rposition(|window| window == wanted),
                })
            }
            (Function::Nth, [Value::Text(text), Value::Number(at)]) => {
                Value::Char(part(text, *at, 1)?.chars().next().ok_or(DataError::Position)?)
            }
            (Function::Substring, [Value::Text(text), Value::Number(start), Value::Number(length)]) => {
                Value::Text(part(text, *start, *length)?)
            }
            (Function::Prefix, [Value::Text(text), Value::Number(length)]) => {
                Value::Text(part(text, 1, *length)?)
            }
            (Function::Suffix, [Value::Text(text), Value::Number(start)]) => {
                let length =
                    (text.chars().count() as i64 + 1).checked_sub(*start).ok_or(DataError::Position)?;
                Value::Text(part(text, *start, length)?)
            }
            (Function::IsEmpty, [Value::Text(text)]) => Value::Bool(text.is_empty()),
            (Function::ToNat | Function::ToInt, [value]) => {
                let number = match value {
                    Value::Number(number) => Some(*number),
                    Value::Real(Real(value)) if value.abs() < 9e18 => Some(value.trunc() as i64),
                    Value::Char(letter) => Some(i64::from(u32::from(*letter))),
                    Value::Text(text) => number(text),
                    _ => None,
                };
                let found = number.ok_or_else(|| DataError::Conversion(value.to_string()))?;
                if self == Function::ToNat && found < 0 {
                    return Err(DataError::Conversion(value.to_string()));
                }
                Value::Number(found)
            }
            (Function::ToReal, [value]) => {
                let found = match value {
                    Value::Number(number) => Some(*number as f64),
                    Value::Real(Real(value)) => Some(*value),
                    Value::Text(text) => text.parse().ok().filter(|value: &f64| value.is_finite()),
                    _ => None,
                };
                Value::Real(Real(found.ok_or_else(|| DataError::Conversion(value.to_string()))?))
            }
            (Function::ToText, [value]) => Value::Text(match value {
                Value::Text(text) => text.clone(),
                Value::Char(letter) => letter.to_string(),
                other => other.to_string(),
            }),
            _ => return Err(DataError::Types),
        })
    }
}

/// The part of a text that begins at a position, counted from 1, and has a length.
fn part(text: &str, start: i64, length: i64) -> Result<String, DataError> {
    let letters: Vec<char> = text.chars().collect();
    let start =
        usize::try_from(start).ok().and_then(|start| start.checked_sub(1)).ok_or(DataError::Position)?;
    let length = usize::try_from(length).map_err(|_| DataError::Position)?;
    let end = start.checked_add(length).ok_or(DataError::Position)?;
    letters.get(start..end).map(|part| part.iter().collect()).ok_or(DataError::Position)
}
