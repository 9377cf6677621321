//! PNML (ISO/IEC 15909-2): place/transition nets and symmetric nets, from XML to a flat net, and back.
//!
//! `xml` finds elements and their places in the text, `sorts` and `terms` read what symmetric nets are made of, `read`
//! puts places, transitions and arcs together, `unfold` finds the ways to bind variables. What is not understood is an
//! error that names it.

mod read;
mod read_terms;
mod sorts;
mod terms;
mod unfold;
mod write;
mod xml;

use source::{Diagnostic, Sources};

use crate::flat::{Arc, ArcKind, Component, Flat, FlatPlace, FlatTransition, SourcePlace, SourceTransition};
use read::{Direction, Written};
use sorts::DOT;
use unfold::{Limits, Search};
use xml::Text;

pub use write::write_pnml;

#[cfg(test)]
mod tests;

const LIMITS: Limits =
    Limits { transitions: 2_000_000, places: 4_000_000, arcs: 30_000_000, attempts: 300_000_000 };

/// Reads a net from the text of a PNML file, and unfolds it where its tokens have values.
///
/// ```
/// let text = r#"<pnml><net id="n"><page id="g">
///     <place id="p"><initialMarking><text>1</text></initialMarking></place>
///     <transition id="t"/>
///     <arc id="a" source="p" target="t"/>
/// </page></net></pnml>"#;
/// let flat = net::load_pnml("one.pnml", text, &mut source::Sources::new()).unwrap();
/// assert_eq!(flat.transitions[0].label, "T");
/// ```
pub fn load_pnml(name: &str, text: &str, sources: &mut Sources) -> Result<Flat, Vec<Diagnostic>> {
    load(name, text, sources, LIMITS)
}

/// The same with little work, for texts that nobody has written: no text makes it fail, or take long.
pub fn probe_pnml(text: &str) -> Result<Flat, Vec<Diagnostic>> {
    let limits = Limits { transitions: 2_000, places: 2_000, arcs: 20_000, attempts: 20_000 };
    load("probe.pnml", text, &mut Sources::new(), limits)
}

fn load(name: &str, text: &str, sources: &mut Sources, limits: Limits) -> Result<Flat, Vec<Diagnostic>> {
    let file = sources.add(name, text);
    // Positions have 32 bits.
    if u32::try_from(text.len()).is_err() {
        return Err(vec![Diagnostic::error(format!("{name} is larger than 4 GiB"))]);
    }
    let text = Text { file, text };
    let document = text.parse().map_err(|error| vec![*error])?;
    let written = read::read(text, document.root_element())?;
    flatten(&written, limits).map_err(|error| vec![*error])
}

fn flatten(written: &Written, limits: Limits) -> xml::Outcome<Flat> {
    let mut search = Search::new(written, limits);
    if written.is_coloured {
        search.run()?;
    }
    let mut flat = Flat {
        name: written.name.clone(),
        components: vec![Component { name: written.name.clone(), span: written.span }],
        ..Flat::default()
    };
    let nothing = vec![None; written.sorts.variables.len()];
    // The flat places of each place: the values of their tokens, ascending, and the number of the first.
    let mut values: Vec<(Vec<u64>, usize)> = Vec::with_capacity(written.places.len());
    for (of, place) in written.places.iter().enumerate() {
        let is_plain = place.sort == DOT;
        flat.source_places.push(SourcePlace {
            name: place.name.clone(),
            span: place.span,
            component: Some(0),
            is_plain,
        });
        let mut known = if is_plain { vec![0] } else { std::mem::take(&mut search.tokens[of].values) };
        known.sort_unstable();
        let marking = search.expand(&place.initial, place.sort, &nothing, place.span)?;
        let first = flat.places.len();
        for &value in &known {
            let initial =
                marking.binary_search_by_key(&value, |&(value, _)| value).map_or(0, |at| marking[at].1);
            let mut token = String::new();
            if !is_plain {
                written.sorts.show(place.sort, value, &mut token);
            }
            flat.places.push(FlatPlace { of, token, initial, is_set: false });
        }
        values.push((known, first));
    }
    for (of, plan) in search.plans.iter().enumerate() {
        let transition = plan.transition;
        let name = transition.name.clone();
        flat.source_transitions.push(SourceTransition { name, span: transition.span, component: 0 });
        let gate = crate::flat::gate_name(&transition.name);
        let mut binding = nothing.clone();
        let one: [&[u64]; 1] = [&[]];
        let bindings = plan.bindings();
        for way in if written.is_coloured { &bindings[..] } else { &one[..] } {
            let mut label = gate.clone();
            for (&variable, &value) in plan.variables.iter().zip(*way) {
                binding[variable] = Some(value);
                label.push_str(" !");
                written.sorts.show(written.sorts.variables[variable], value, &mut label);
            }
            let mut arcs = Vec::with_capacity(transition.arcs.len());
            for arc in &transition.arcs {
                let (known, first) = &values[arc.place];
                if arc.kind == Direction::Reset {
                    arcs.extend((0..known.len()).map(|at| Arc { place: first + at, kind: ArcKind::Reset }));
                    continue;
                }
                let sort = written.places[arc.place].sort;
                if arc.kind == Direction::Inhibit && arc.bag.terms.iter().any(|(count, _)| *count == 0) {
                    // Fewer than none: never. Only capacities and plain nets say that.
                    arcs.push(Arc { place: *first, kind: ArcKind::Inhibit(0) });
                    continue;
                }
                for (value, count) in search.expand(&arc.bag, sort, &binding, arc.span)? {
                    // A place without tokens of this value inhibits nothing.
                    let Ok(at) = known.binary_search(&value) else { continue };
                    let kind = match arc.kind {
                        Direction::Take => ArcKind::Take(count),
                        Direction::Read => ArcKind::Read(count),
                        Direction::Inhibit => ArcKind::Inhibit(count),
                        Direction::Put | Direction::Reset => ArcKind::Put(count),
                    };
                    arcs.push(Arc { place: first + at, kind });
                }
            }
            flat.transitions.push(FlatTransition { of, label, arcs });
        }
    }
    Ok(flat)
}
