//! Values as labels print them.

use std::fmt::Write;

use super::values::Values;
use crate::compile::types::Kind;
use crate::typed::TypeId;

/// Values nested deeper than this are cut with an ellipsis.
const DEEPEST: usize = 200;

/// A value as CADP prints it: upper case, integers signed, lists and sets in braces.
pub fn print_value(values: &Values<'_>, ty: TypeId, value: u32) -> String {
    let mut text = String::new();
    print(values, ty, value, 0, &mut text);
    text
}

fn print(values: &Values<'_>, ty: TypeId, value: u32, depth: usize, text: &mut String) {
    if depth > DEEPEST {
        text.push('…');
        return;
    }
    match values.kind(ty) {
        Kind::Bool => text.push_str(if value == 0 { "FALSE" } else { "TRUE" }),
        Kind::Number { offset, signed, .. } => {
            let number = i64::from(value) + offset;
            let _ = if *signed { write!(text, "{number:+}") } else { write!(text, "{number}") };
        }
        Kind::Char { .. } => {
            let _ = write!(text, "'{}'", char::from_u32(value).unwrap_or('?'));
        }
        Kind::Real => {
            let _ = write!(text, "{:?}", values.real(value));
        }
        Kind::String => {
            let _ = write!(text, "\"{}\"", values.text(value));
        }
        Kind::Enumeration(constructors) => {
            text.push_str(&values.program[constructors[value as usize]].name.to_uppercase());
        }
        Kind::Constructed(constructors) => {
            let row = values.row(value);
            let constructor = &values.program[constructors[row[0] as usize]];
            text.push_str(&constructor.name.to_uppercase());
            if !constructor.fields.is_empty() {
                text.push_str(" (");
                let fields = constructor.fields.iter().map(|field| field.ty).zip(row[1..].iter().copied());
                print_list(values, fields, depth, text);
                text.push(')');
            }
        }
        Kind::List { element, .. } => {
            text.push('{');
            let elements = values.row(value).iter().map(|&value| (*element, value));
            print_list(values, elements, depth, text);
            text.push('}');
        }
        Kind::Array { element, .. } => {
            text.push_str(&values.types[ty.index()].name);
            text.push_str(" (");
            let elements = values.row(value).iter().map(|&value| (*element, value));
            print_list(values, elements, depth, text);
            text.push(')');
        }
    }
}

fn print_list(
    values: &Values<'_>,
    parts: impl Iterator<Item = (TypeId, u32)>,
    depth: usize,
    text: &mut String,
) {
    for (index, (ty, value)) in parts.enumerate() {
        if index > 0 {
            text.push_str(", ");
        }
        print(values, ty, value, depth + 1, text);
    }
}
