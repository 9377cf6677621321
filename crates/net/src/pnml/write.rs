//! Flat nets as PNML.

use std::fmt::Write;

use crate::flat::{ArcKind, Flat};

/// A net as a PNML file: a place/transition net, in which the tokens of a place with values have a place each. Read, inhibitor
/// and reset arcs are written as TINA and PIPE do. A place that is a set is emptied before it gets its token, which is
/// the same.
pub fn write_pnml(flat: &Flat) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    out.push_str("<pnml xmlns=\"http://www.pnml.org/version-2009/grammar/pnml\">\n");
    let kind = "http://www.pnml.org/version-2009/grammar/ptnet";
    let _ = writeln!(out, "  <net id=\"net\" type=\"{kind}\">");
    let _ = writeln!(out, "    <name><text>{}</text></name>\n    <page id=\"page\">", escaped(&flat.name));
    for (number, place) in flat.places.iter().enumerate() {
        let source = &flat.source_places[place.of];
        let name = if place.token.is_empty() {
            source.name.clone()
        } else {
            format!("{} {}", source.name, place.token)
        };
        let initial = if place.is_set { place.initial.min(1) } else { place.initial };
        let _ = writeln!(out, "      <place id=\"p{number}\"><name><text>{}</text></name>", escaped(&name));
        let _ = writeln!(out, "        <initialMarking><text>{initial}</text></initialMarking></place>");
    }
    for (number, transition) in flat.transitions.iter().enumerate() {
        let source = &flat.source_transitions[transition.of];
        // The name as written, where nothing else is needed to tell transitions apart.
        let is_alone = !transition.label.contains(' ');
        let name = if is_alone { &source.name } else { &transition.label };
        let _ = writeln!(
            out,
            "      <transition id=\"t{number}\"><name><text>{}</text></name></transition>",
            escaped(name)
        );
    }
    let mut arcs = 0;
    for (number, transition) in flat.transitions.iter().enumerate() {
        for arc in &transition.arcs {
            let (place, is_set) = (arc.place, flat.places[arc.place].is_set);
            let input =
                |kind: &str, count: u32| (format!("p{place}"), format!("t{number}"), kind.to_owned(), count);
            let output = |count: u32| (format!("t{number}"), format!("p{place}"), String::new(), count);
            let written = match arc.kind {
                ArcKind::Take(count) => vec![input("", count)],
                ArcKind::Read(count) => vec![input("test", count)],
                // Never enabled: there would have to be a token and none.
                ArcKind::Inhibit(0) => vec![input("", 1), input("inhibitor", 1)],
                ArcKind::Inhibit(count) => vec![input("inhibitor", count)],
                ArcKind::Reset => vec![input("reset", 1)],
                ArcKind::Put(0) => Vec::new(),
                ArcKind::Put(_) if is_set => {
                    let is_first = transition.arcs.iter().find(|other| {
                        other.place == place && matches!(other.kind, ArcKind::Put(count) if count > 0)
                    });
                    // Another arc has put the token already.
                    if is_first.is_some_and(|first| std::ptr::eq(first, arc)) {
                        vec![input("reset", 1), output(1)]
                    } else {
                        Vec::new()
                    }
                }
                ArcKind::Put(count) => vec![output(count)],
            };
            for (from, to, kind, count) in written {
                let _ = write!(out, "      <arc id=\"a{arcs}\" source=\"{from}\" target=\"{to}\">");
                let _ = write!(out, "<inscription><text>{count}</text></inscription>");
                if !kind.is_empty() {
                    let _ = write!(out, "<type value=\"{kind}\"/>");
                }
                out.push_str("</arc>\n");
                arcs += 1;
            }
        }
    }
    out.push_str("    </page>\n  </net>\n</pnml>\n");
    out
}

/// A text inside an element; what XML does not allow at all is left out.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\t' | '\n' | '\r' => out.push(' '),
            c if c < ' ' || matches!(c, '\u{fffe}' | '\u{ffff}') => (),
            c => out.push(c),
        }
    }
    out
}
