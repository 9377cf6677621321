//! Values as labels print them.

use std::fmt::Write;

use super::values::{Values, Words};
use crate::compile::types::Kind;
use crate::typed::TypeId;

/// Values nested deeper than this are cut with an ellipsis.
const DEEPEST: usize = 200;

/// A value as CADP prints it: upper case, integers signed, lists and sets in braces.
pub fn print_value(values: &Values<'_>, ty: TypeId, value: &[u32]) -> String {
    let mut text = String::new();
    print(values, ty, value, 0, &mut text);
    text
}

/// The same for a value as offers and labels know it.
pub fn print_frozen(values: &Values<'_>, ty: TypeId, value: u32) -> String {
    print_value(values, ty, &values.thaw(ty, value))
}

fn print(values: &Values<'_>, ty: TypeId, words: &[u32], depth: usize, text: &mut String) {
    if depth > DEEPEST {
        text.push('…');
        return;
    }
    let value = words[0];
    match values.kind(ty) {
        Kind::Bool => text.push_str(if value == 0 { "FALSE" } else { "TRUE" }),
        Kind::Number { offset, signed, .. } => {
            let number = i64::from(value) + offset;
            let _ = if *signed { write!(text, "{number:+}") } else { write!(text, "{number}") };
        }
        Kind::Char { .. } => {
            text.push('\'');
            print_character(char::from_u32(value).unwrap_or('?'), '\'', text);
            text.push('\'');
        }
        Kind::Real => {
            let _ = write!(text, "{:?}", values.real(value));
        }
        Kind::String => {
            text.push('"');
            values.text(value).chars().for_each(|character| print_character(character, '"', text));
            text.push('"');
        }
        Kind::Enumeration(constructors) => {
            text.push_str(&values.program[constructors[value as usize]].name.to_uppercase());
        }
        Kind::Constructed(constructors) => {
            let tag = values.tag(ty, words);
            let constructor = &values.program[constructors[tag as usize]];
            text.push_str(&constructor.name.to_uppercase());
            if !constructor.fields.is_empty() {
                text.push_str(" (");
                let places = &values.types[ty.index()].fields[tag as usize];
                let fields = constructor.fields.iter().zip(places);
                let fields = fields.map(|(field, &place)| (field.ty, values.field(ty, place, words)));
                print_list(values, fields, depth, text);
                text.push(')');
            }
        }
        Kind::List { element, .. } => {
            text.push('{');
            let elements =
                (0..values.count(ty, words)).map(|at| (*element, values.element_at(ty, words, at)));
            print_list(values, elements, depth, text);
            text.push('}');
        }
        Kind::Array { element, .. } => {
            text.push_str(&values.types[ty.index()].name);
            text.push_str(" (");
            let elements =
                (0..values.count(ty, words)).map(|at| (*element, values.element_at(ty, words, at)));
            print_list(values, elements, depth, text);
            text.push(')');
        }
    }
}

fn print_list<'v>(
    values: &Values<'_>,
    parts: impl Iterator<Item = (TypeId, Words<'v>)>,
    depth: usize,
    text: &mut String,
) {
    for (index, (ty, value)) in parts.enumerate() {
        if index > 0 {
            text.push_str(", ");
        }
        print(values, ty, &value, depth + 1, text);
    }
}

/// A character between quotes as LNT writes it, so that different texts are different labels, each on one line.
fn print_character(character: char, quote: char, text: &mut String) {
    match character {
        '\n' => text.push_str("\\n"),
        '\r' => text.push_str("\\r"),
        '\t' => text.push_str("\\t"),
        '\\' => text.push_str("\\\\"),
        _ if character == quote => text.extend(['\\', quote]),
        control if control.is_control() => {
            let _ = write!(text, "\\x{:02x}", u32::from(control));
        }
        other => text.push(other),
    }
}
