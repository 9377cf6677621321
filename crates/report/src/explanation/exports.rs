//! The tagged system for other programs: AUTX, DOT, and CSV with Cypher for Neo4j.

use std::io::{self, Write};

use explain::{Kind, Tag, Tagged};

fn colour(tag: Tag) -> &'static str {
    ["GREEN", "RED", "BLACK"][tag as usize]
}

/// The letters of a neighbourhood in AUTX: which colours its exits have, neutral only where all three do.
fn letters(kind: Kind) -> &'static str {
    ["G", "R", "GR", "GRB"][kind as usize]
}

/// Writes AUTX: AUT with a colour on every transition and a mark on every neighbourhood; the sink is -1.
pub fn write_autx(tagged: &Tagged<'_>, out: &mut dyn Write) -> io::Result<()> {
    let transitions: u64 = tagged.tag_counts().iter().sum();
    let states = tagged.state_count() + usize::from(tagged.has_sink());
    writeln!(out, "des (0, {transitions}, {states})")?;
    for_each_step(tagged, |step| {
        let source = match tagged.neighbourhood(step.source) {
            Some(one) => format!("{}:N:{}", step.source, letters(one.kind)),
            None => step.source.to_string(),
        };
        let target = tagged.target(step).map_or(-1, i64::from);
        writeln!(out, "({source}, \"{}\":{}, {target})", tagged.label(step), colour(tagged.tag(step)))
    })
}

/// Writes DOT: transitions in their colours, neighbourhoods in shades of yellow by kind.
pub fn write_dot(tagged: &Tagged<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "digraph explanation {{\n  node [shape=circle, style=filled, fillcolor=white];")?;
    writeln!(out, "  start [shape=point];\n  start -> 0;")?;
    for one in tagged.neighbourhoods() {
        let shade = ["khaki", "orange", "gold", "yellow"][one.kind as usize];
        writeln!(out, "  {} [fillcolor={shade}, tooltip=\"{}\"];", one.node, one.kind.key())?;
    }
    if tagged.has_sink() {
        writeln!(out, "  sink [label=\"\", shape=doublecircle];")?;
    }
    for_each_step(tagged, |step| {
        let colour = ["forestgreen", "red", "black"][tagged.tag(step) as usize];
        let target = tagged.target(step).map_or("sink".to_owned(), |target| target.to_string());
        let label = tagged.label(step).replace('\\', "\\\\").replace('"', "\\\"");
        writeln!(
            out,
            "  {} -> {target} [label=\"{label}\", color={colour}, fontcolor={colour}];",
            step.source
        )
    })?;
    writeln!(out, "}}")
}

/// Each transition once: those of a state to the sink with the same label are one.
fn for_each_step(
    tagged: &Tagged<'_>,
    mut write: impl FnMut(explain::Step) -> io::Result<()>,
) -> io::Result<()> {
    for node in 0..tagged.state_count() as u32 {
        let mut last = None;
        for step in tagged.outgoing(node) {
            if tagged.target(step).is_none() && last.replace(tagged.label(step)) == Some(tagged.label(step)) {
                continue;
            }
            write(step)?;
        }
    }
    Ok(())
}

/// The tags of a state, as the thesis' database has them (§7.3).
fn node_tags(tagged: &Tagged<'_>, node: u32) -> Vec<&'static str> {
    let mut tags = vec!["STATE"];
    if node == 0 {
        tags.push("INITIALSTATE");
    }
    if tagged.is_goal(node) || tagged.outgoing(node).next().is_none() {
        tags.push("FINALSTATE");
    }
    if tagged.neighbourhood(node).is_some() {
        tags.push("NEIGHBOURHOOD");
    }
    tags
}

/// Writes the states as CSV with the headers of `neo4j-admin import`.
pub fn write_csv_states(tagged: &Tagged<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "id:ID,number:int,kind,:LABEL")?;
    for node in 0..tagged.state_count() as u32 {
        let kind = tagged.neighbourhood(node).map_or("", |one| one.kind.key());
        writeln!(out, "{node},{node},{kind},{}", node_tags(tagged, node).join(";"))?;
    }
    if tagged.has_sink() {
        writeln!(out, "sink,-1,,STATE;SINKSTATE")?;
    }
    Ok(())
}

/// Writes the transitions the same way.
pub fn write_csv_transitions(tagged: &Tagged<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, ":START_ID,action,type,:END_ID,:TYPE")?;
    for_each_step(tagged, |step| {
        let target = tagged.target(step).map_or("sink".to_owned(), |target| target.to_string());
        let label = tagged.label(step).replace('"', "\"\"");
        let tag = tagged.tag(step).word();
        writeln!(out, "{},\"{label}\",{tag},{target},TRANSITION", step.source)
    })
}

/// Writes the same as Cypher statements to be piped into `cypher-shell`; the thesis' queries run on the result.
pub fn write_cypher(tagged: &Tagged<'_>, out: &mut dyn Write) -> io::Result<()> {
    let quoted = |text: &str| text.replace('\\', "\\\\").replace('\'', "\\'");
    writeln!(out, "CREATE INDEX state_number IF NOT EXISTS FOR (s:STATE) ON (s.number);")?;
    for node in 0..tagged.state_count() as u32 {
        let kind = match tagged.neighbourhood(node) {
            Some(one) => format!(", kind: '{}'", one.kind.key()),
            None => String::new(),
        };
        writeln!(out, "CREATE (:{} {{number: {node}{kind}}});", node_tags(tagged, node).join(":"))?;
    }
    if tagged.has_sink() {
        writeln!(out, "CREATE (:STATE:SINKSTATE {{number: -1}});")?;
    }
    for_each_step(tagged, |step| {
        let target = tagged.target(step).map_or(-1, i64::from);
        writeln!(
            out,
            "MATCH (s:STATE {{number: {}}}), (t:STATE {{number: {target}}}) \
             CREATE (s)-[:TRANSITION {{action: '{}', type: '{}'}}]->(t);",
            step.source,
            quoted(tagged.label(step)),
            tagged.tag(step).word()
        )
    })
}
