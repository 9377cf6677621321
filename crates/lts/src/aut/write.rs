//! Writing AUT: labels quoted, the internal action bare, as CADP writes them.
//!
//! The format has no escapes, and a label ends with its line. Line ends inside a label are written as the pictures that
//! Unicode has for them, `␊` and `␍`; where a label has these characters itself, `␛` stands before them.

use std::borrow::Cow;
use std::io::{self, Write};

use crate::lts::Lts;

/// Writes a system in AUT format.
///
/// ```
/// let lts = lts::parse_aut("des (0, 1, 2)\n(0, HELLO !1, 1)", &Default::default())?;
/// let mut text = Vec::new();
/// lts::write_aut(&lts, &mut text)?;
/// assert_eq!(text, b"des (0, 1, 2)\n(0, \"HELLO !1\", 1)\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_aut(lts: &Lts, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "des ({}, {}, {})", lts.initial(), lts.transition_count(), lts.state_count())?;
    let middles: Vec<String> = lts
        .labels()
        .iter()
        .map(|(label, text)| match label.is_tau() {
            true => format!(", {text}, "),
            false => format!(", \"{}\", ", on_one_line(text)),
        })
        .collect();
    const BLOCK: usize = 1 << 16;
    let mut block: Vec<u8> = Vec::with_capacity(BLOCK + 256);
    for transition in lts.transitions() {
        block.push(b'(');
        push_number(&mut block, transition.source.raw());
        block.extend_from_slice(middles[transition.label.index()].as_bytes());
        push_number(&mut block, transition.target.raw());
        block.extend_from_slice(b")\n");
        if block.len() >= BLOCK {
            out.write_all(&block)?;
            block.clear();
        }
    }
    out.write_all(&block)
}

const PICTURES: [(char, char); 2] = [('\n', '␊'), ('\r', '␍')];
const ESCAPE: char = '␛';

/// A label without line ends.
fn on_one_line(label: &str) -> Cow<'_, str> {
    let is_special = |character: char| {
        character == ESCAPE || PICTURES.iter().any(|&(end, picture)| character == end || character == picture)
    };
    if !label.contains(is_special) {
        return Cow::Borrowed(label);
    }
    let mut text = String::with_capacity(label.len() + 8);
    for character in label.chars() {
        match PICTURES.iter().find(|(end, _)| *end == character) {
            Some((_, picture)) => text.push(*picture),
            None => {
                if is_special(character) {
                    text.push(ESCAPE);
                }
                text.push(character);
            }
        }
    }
    Cow::Owned(text)
}

/// The label that [`on_one_line`] wrote.
pub(super) fn from_one_line(text: &str) -> Cow<'_, str> {
    // All three begin with this byte, and hardly any label has it.
    if memchr::memchr(0xE2, text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let mut label = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match PICTURES.iter().find(|(_, picture)| *picture == character) {
            Some((end, _)) => label.push(*end),
            None if character == ESCAPE => label.push(characters.next().unwrap_or(ESCAPE)),
            None => label.push(character),
        }
    }
    Cow::Owned(label)
}

/// Appends a number in decimal: the formatting machinery of the standard library takes three times as long.
fn push_number(block: &mut Vec<u8>, mut number: u32) {
    let mut digits = [0u8; 10];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    block.extend_from_slice(&digits[at..]);
}
