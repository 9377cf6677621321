//! Writing AUT: labels quoted, the internal action bare, as CADP writes them.

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
        .map(|(label, text)| if label.is_tau() { format!(", {text}, ") } else { format!(", \"{text}\", ") })
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
