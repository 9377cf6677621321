//! Export to Graphviz and to JSON.

use std::io::{self, Write};

use crate::lts::Lts;

/// Writes a system as a Graphviz graph: the initial state doubly circled, deadlocks filled.
///
/// ```
/// let lts = lts::parse_aut("des (0, 1, 2)\n(0, SAY !\"hi\", 1)\n", &Default::default())?;
/// let mut text = Vec::new();
/// lts::write_dot(&lts, &mut text)?;
/// assert!(String::from_utf8(text)?.contains("0 -> 1 [label=\"SAY !\\\"hi\\\"\"]"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_dot(lts: &Lts, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "digraph lts {{")?;
    writeln!(out, "  node [shape=circle, fontname=\"sans-serif\"];")?;
    writeln!(out, "  edge [fontname=\"sans-serif\"];")?;
    writeln!(out, "  {} [shape=doublecircle];", lts.initial())?;
    for state in lts.unexplored() {
        writeln!(out, "  {state} [style=dashed];")?;
    }
    for state in lts.deadlocks() {
        writeln!(out, "  {state} [style=filled, fillcolor=\"#dddddd\"];")?;
    }
    let labels: Vec<String> = lts.labels().iter().map(|(_, text)| escaped(text)).collect();
    for transition in lts.transitions() {
        let label = &labels[transition.label.index()];
        writeln!(out, "  {} -> {} [label=\"{label}\"];", transition.source, transition.target)?;
    }
    writeln!(out, "}}")
}

/// A text as Graphviz has it between quotes.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' => escaped.push_str("\\\\"),
            '"' => escaped.push_str("\\\""),
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            other => escaped.push(other),
        }
    }
    escaped
}

/// Writes a system as one JSON object: `initial`, `states`, `labels` (the internal action first) and
/// `transitions`, each `[source, index of its label, target]`.
///
/// ```
/// let lts = lts::parse_aut("des (0, 1, 2)\n(0, A, 1)\n", &Default::default())?;
/// let mut text = Vec::new();
/// lts::write_json(&lts, &mut text)?;
/// assert_eq!(text, b"{\"initial\":0,\"states\":2,\"labels\":[\"i\",\"A\"],\"transitions\":[[0,1,1]]}\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_json(lts: &Lts, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "{{\"initial\":{},\"states\":{},\"labels\":[", lts.initial(), lts.state_count())?;
    for (label, text) in lts.labels().iter() {
        let comma = if label.is_tau() { "" } else { "," };
        write!(out, "{comma}{}", serde_json::to_string(text)?)?;
    }
    write!(out, "],\"transitions\":[")?;
    for (index, transition) in lts.transitions().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        write!(out, "{comma}[{},{},{}]", transition.source, transition.label, transition.target)?;
    }
    writeln!(out, "]}}")
}
