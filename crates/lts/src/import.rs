//! Reading what [`write_dot`](crate::write_dot) and [`write_json`](crate::write_json) write: Graphviz graphs and JSON.
//!
//! Of Graphviz, directed graphs are read whose nodes are numbers: `1 -> 2 [label="A"];`, other attributes ignored. The
//! initial state is the node drawn with a double circle, or node 0.

use serde::Deserialize;

use crate::aut::AutError;
use crate::builder::LtsBuilder;
use crate::ids::{LabelId, StateId};
use crate::lts::Lts;

/// The most states that a text may name beyond its own size, so that memory follows the input and not its numbers.
const SPARE_STATES: usize = 1 << 20;

/// Reads a system from JSON as [`write_json`](crate::write_json) writes it.
///
/// ```
/// let text = r#"{"initial":0,"states":2,"labels":["i","A"],"transitions":[[0,1,1]]}"#;
/// assert_eq!(lts::parse_json(text)?.transition_count(), 1);
/// # Ok::<(), lts::AutError>(())
/// ```
pub fn parse_json(text: &str) -> Result<Lts, AutError> {
    #[derive(Deserialize)]
    struct System {
        initial: u32,
        states: u32,
        labels: Vec<String>,
        transitions: Vec<(u32, u32, u32)>,
    }
    let system: System = serde_json::from_str(text).map_err(|error| {
        let line = text.lines().nth(error.line().saturating_sub(1)).unwrap_or("");
        let message = error.to_string();
        let message = message.split(" at line").next().unwrap_or_default();
        wrong(error.line().max(1), error.column().max(1), line, message)
    })?;
    let whole = |message: &str| wrong(1, 1, text.lines().next().unwrap_or(""), message);
    if system.states as usize > text.len() + SPARE_STATES {
        return Err(whole(&format!("{} states are announced, most of which never occur", system.states)));
    }
    let mut builder = LtsBuilder::new();
    let labels: Vec<LabelId> = system.labels.iter().map(|label| builder.label(label)).collect();
    for &(source, label, target) in &system.transitions {
        let Some(&label) = labels.get(label as usize) else {
            return Err(whole(&format!("a transition has label {label}, but there are {}", labels.len())));
        };
        if let Some(state) = [source, target].into_iter().find(|&state| state >= system.states) {
            return Err(whole(&format!("state {state} is out of range: there are {}", system.states)));
        }
        builder.add(StateId::from_raw(source), label, StateId::from_raw(target));
    }
    if system.initial >= system.states {
        return Err(whole(&format!("the initial state {} is out of range", system.initial)));
    }
    builder.reserve_states(system.states as usize);
    builder.set_initial(StateId::from_raw(system.initial));
    builder.finish().map_err(|error| whole(&error.to_string()))
}

/// Reads a system from a Graphviz graph.
///
/// ```
/// let lts = lts::parse_dot("digraph { 0 -> 1 [label=\"SAY !\\\"hi\\\"\"]; 1 [shape=circle] }")?;
/// assert_eq!(lts.label(lts.edges()[0].label), "SAY !\"hi\"");
/// # Ok::<(), lts::AutError>(())
/// ```
pub fn parse_dot(text: &str) -> Result<Lts, AutError> {
    let mut reader = DotReader { text, at: 0 };
    let mut builder = LtsBuilder::new();
    let mut initial = 0;
    reader.word("strict");
    if !reader.word("digraph") {
        return Err(reader.expected("`digraph`"));
    }
    if !reader.eat('{') {
        reader.id().ok_or_else(|| reader.expected("a name or `{`"))?;
        if !reader.eat('{') {
            return Err(reader.expected("`{`"));
        }
    }
    loop {
        if reader.eat(';') {
            continue;
        }
        if reader.eat('}') {
            break;
        }
        let start = reader.at;
        let Some(first) = reader.id() else { return Err(reader.expected("a node, `;` or `}`")) };
        if reader.eat('=') {
            reader.id().ok_or_else(|| reader.expected("a value"))?;
            continue;
        }
        let mut nodes = vec![(first, start)];
        while reader.arrow() {
            reader.space();
            let start = reader.at;
            nodes.push((reader.id().ok_or_else(|| reader.expected("a node"))?, start));
        }
        let attributes = reader.attributes()?;
        if nodes.len() == 1 && matches!(nodes[0].0.as_str(), "node" | "edge" | "graph") {
            continue;
        }
        let mut states = Vec::new();
        for (node, at) in nodes {
            match node.parse::<u32>() {
                Ok(state) if (state as usize) < text.len() + SPARE_STATES => states.push(state),
                _ => {
                    let message = format!("node `{node}` is not the number of a state");
                    return Err(DotReader { text, at }.error(&message));
                }
            }
        }
        let attribute =
            |name: &str| attributes.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value);
        match states.as_slice() {
            [state] => {
                builder.reserve_states(*state as usize + 1);
                if attribute("shape").is_some_and(|shape| shape == "doublecircle") {
                    initial = *state;
                }
            }
            _ => {
                let label = builder.label(attribute("label").map_or("", String::as_str));
                for pair in states.windows(2) {
                    builder.add(StateId::from_raw(pair[0]), label, StateId::from_raw(pair[1]));
                }
            }
        }
    }
    builder.set_initial(StateId::from_raw(initial));
    builder.finish().map_err(|error| reader.error(&error.to_string()))
}

struct DotReader<'t> {
    text: &'t str,
    at: usize,
}

impl DotReader<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    /// Passes over white space and comments.
    fn space(&mut self) {
        loop {
            self.at += self.rest().len() - self.rest().trim_start().len();
            let rest = self.rest();
            let comment = if rest.starts_with("/*") {
                rest.find("*/").map_or(rest.len(), |end| end + 2)
            } else if rest.starts_with("//") || (rest.starts_with('#') && self.starts_line()) {
                rest.find('\n').unwrap_or(rest.len())
            } else {
                return;
            };
            self.at += comment;
        }
    }

    fn starts_line(&self) -> bool {
        self.text[..self.at].rsplit('\n').next().is_none_or(|before| before.trim().is_empty())
    }

    fn eat(&mut self, wanted: char) -> bool {
        self.space();
        let found = self.rest().starts_with(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }

    fn arrow(&mut self) -> bool {
        self.space();
        let found = self.rest().starts_with("->");
        if found {
            self.at += 2;
        }
        found
    }

    fn word(&mut self, wanted: &str) -> bool {
        self.space();
        let found = self.rest().starts_with(wanted)
            && !self.rest()[wanted.len()..].starts_with(|next: char| next.is_alphanumeric() || next == '_');
        if found {
            self.at += wanted.len();
        }
        found
    }

    /// A name, a number or a quoted string, without its quotes.
    fn id(&mut self) -> Option<String> {
        self.space();
        if !self.rest().starts_with('"') {
            let end = self.rest().find(|c: char| !c.is_alphanumeric() && c != '_' && c != '.');
            let word = &self.rest()[..end.unwrap_or(self.rest().len())];
            let word = (!word.is_empty()).then(|| word.to_owned())?;
            self.at += word.len();
            return Some(word);
        }
        let mut value = String::new();
        let mut characters = self.rest().char_indices().skip(1);
        while let Some((at, character)) = characters.next() {
            match character {
                '"' => {
                    self.at += at + 1;
                    return Some(value);
                }
                '\\' => match characters.next()?.1 {
                    'n' => value.push('\n'),
                    'r' => value.push('\r'),
                    '\n' => {}
                    other => value.push(other),
                },
                other => value.push(other),
            }
        }
        None
    }

    /// `[key=value, …]`, any number of times.
    fn attributes(&mut self) -> Result<Vec<(String, String)>, AutError> {
        let mut attributes = Vec::new();
        while self.eat('[') {
            while !self.eat(']') {
                let key = self.id().ok_or_else(|| self.expected("an attribute or `]`"))?;
                let value = match self.eat('=') {
                    true => self.id().ok_or_else(|| self.expected("a value"))?,
                    false => "true".to_owned(),
                };
                attributes.push((key, value));
                let _ = self.eat(',') || self.eat(';');
            }
        }
        Ok(attributes)
    }

    fn expected(&self, what: &str) -> AutError {
        let found = match self.rest().trim_start().chars().next() {
            Some(character) => format!("found `{character}`"),
            None => "the text ends".to_owned(),
        };
        self.error(&format!("expected {what}, but {found}"))
    }

    fn error(&self, message: &str) -> AutError {
        let before = &self.text[..self.at];
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = self.text[start..].lines().next().unwrap_or("");
        wrong(before.matches('\n').count() + 1, self.at - start + 1, line, message)
    }
}

fn wrong(line: usize, column: usize, text: &str, message: &str) -> AutError {
    let text: String = text.chars().take(2000).collect();
    AutError { line, column, width: 1, message: message.to_owned(), hint: None, text }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Labels, parse_aut, write_aut, write_dot, write_json};

    /// A system with one state after the other, each step with a label of its own.
    fn chain(labels: &[String]) -> Lts {
        let mut builder = LtsBuilder::new();
        for (at, label) in labels.iter().enumerate() {
            let label = builder.label(label);
            builder.add(StateId::new(at), label, StateId::new(at + 1));
        }
        builder.finish().unwrap()
    }

    fn texts(labels: &Labels) -> Vec<&str> {
        let mut texts: Vec<&str> = labels.iter().map(|(_, text)| text).collect();
        texts.sort_unstable();
        texts
    }

    fn steps(lts: &Lts) -> Vec<(usize, String, usize)> {
        let step = |t: crate::Transition| (t.source.index(), lts.label(t.label).to_owned(), t.target.index());
        lts.transitions().map(step).collect()
    }

    /// What is written is read back, in every format.
    fn check_round_trip(labels: &[String]) {
        let lts = chain(labels);
        type Format =
            (fn(&Lts, &mut dyn std::io::Write) -> std::io::Result<()>, fn(&str) -> Result<Lts, AutError>);
        let formats: [Format; 3] = [
            (write_aut, |text| parse_aut(text, &Default::default())),
            (write_dot, parse_dot),
            (write_json, parse_json),
        ];
        for (write, read) in formats {
            let mut text = Vec::new();
            write(&lts, &mut text).unwrap();
            let text = String::from_utf8(text).unwrap();
            let back = read(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
            assert_eq!(steps(&back), steps(&lts), "{text}");
            assert_eq!(texts(back.labels()), texts(lts.labels()), "{text}");
        }
    }

    #[test]
    fn odd_labels_survive_every_format() {
        let odd = [
            "",
            "i",
            " ",
            " A ",
            "A !\"a\nb\"",
            "\n",
            "\r\n",
            "\\n",
            "␊",
            "␛␊",
            "␛",
            "␍\r",
            "\"",
            "\"\"",
            "a\"",
            ")",
            "), (",
            ", 1)",
            "\0",
            "\t",
            "é",
            "des (0, 1, 2)",
            "\u{85}",
            "\u{2028}",
            "(not explored)",
            "\\",
            "\\\\n",
        ];
        check_round_trip(&odd.map(str::to_owned));
        odd.iter().for_each(|label| check_round_trip(&[(*label).to_owned()]));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]
        #[test]
        fn any_label_survives_every_format(labels in prop::collection::vec(any::<String>(), 1..6)) {
            check_round_trip(&labels);
        }

        #[test]
        fn labels_of_special_characters_survive(labels in prop::collection::vec("[\n\r\t\\\\\"␊␍␛(), n!i]{0,8}", 1..6)) {
            check_round_trip(&labels);
        }

        #[test]
        fn broken_text_is_an_error_and_no_panic(text in "[\\[\\]{}\"\\\\,;=>a-d0-9\n/#*-]{0,60}") {
            let _ = parse_dot(&format!("digraph {{ {text}"));
            let _ = parse_dot(&text);
            let _ = parse_json(&text);
        }
    }

    #[test]
    fn graphs_of_others_are_read() {
        let text = "/* a comment */ strict digraph \"a b\" {\n  rankdir=LR; node [shape=circle];\n  // more\n  \
            3 [shape=\"doublecircle\"]\n  3 -> 1 -> 0 [label=A, color=\"red\"];\n# end\n 2 }\n";
        let lts = parse_dot(text).unwrap();
        assert_eq!((lts.initial().index(), lts.state_count()), (3, 4));
        assert_eq!(steps(&lts), [(1, "A".into(), 0), (3, "A".into(), 1)]);
        let error = parse_dot("digraph {\n  a -> 1\n}").unwrap_err();
        assert_eq!((error.line, error.message.as_str()), (2, "node `a` is not the number of a state"));
        let error = parse_json("{\"initial\":0,\n\"states\":1}").unwrap_err();
        assert!(error.message.contains("missing field `labels`"), "{error}");
        assert!(parse_json(r#"{"initial":0,"states":4000000000,"labels":[],"transitions":[]}"#).is_err());
    }
}
