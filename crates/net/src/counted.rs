//! What coverage counts in a net: transitions, guards with their conditions, arcs, and kinds of tokens on arcs.

use model::{ActionInstance, CoverageMap, Decision, DecisionKind, ItemList, NamedItem, ProcessEntry};
use source::Span;

use crate::flat::{Arc, ArcKind, Component, Flat, FlatTransition};
use crate::high::{HighArc, HighNet};
use crate::text::ArcWord;

/// The list of arcs.
pub(crate) const ARCS: usize = 0;
/// The list of kinds of tokens on arcs.
pub(crate) const TOKENS: usize = 1;

/// The map of a net as it is written: a transition is an action, a guard a decision. There are no blocks.
pub(crate) fn map_of_high(net: &HighNet) -> CoverageMap {
    let mut map = CoverageMap { processes: processes(&net.components), ..CoverageMap::default() };
    for transition in &net.transitions {
        map.decisions.extend(transition.guards.iter().map(|guard| Decision {
            span: guard.span,
            process: transition.component,
            kind: DecisionKind::If,
            always_true: false,
            conditions: guard.conditions.clone(),
            operands: Vec::new(),
        }));
        add_transition(&mut map, transition.span, &transition.name, transition.component);
    }
    map
}

/// The map of a net whose guards are decided.
pub(crate) fn map_of_flat(flat: &Flat) -> CoverageMap {
    let mut map = CoverageMap { processes: processes(&flat.components), ..CoverageMap::default() };
    for transition in &flat.source_transitions {
        add_transition(&mut map, transition.span, &transition.name, transition.component);
    }
    map
}

fn processes(components: &[Component]) -> Vec<ProcessEntry> {
    let entry = |component: &Component| ProcessEntry {
        name: component.name.clone(),
        module: component.name.clone(),
        span: component.span,
    };
    components.iter().map(entry).collect()
}

fn add_transition(map: &mut CoverageMap, span: Span, name: &str, process: usize) {
    map.actions.push(ActionInstance { span, process, gate: name.to_owned(), block: None });
}

fn lists(arcs: Vec<NamedItem>, tokens: Vec<NamedItem>) -> Vec<ItemList> {
    let list = |criterion: &str, noun: &str, items| ItemList {
        criterion: criterion.to_owned(),
        noun: noun.to_owned(),
        items,
    };
    vec![list("arcs", "arc", arcs), list("tokens", "kind of token on an arc", tokens)]
}

/// The arcs of a net as it is written, and the kinds of tokens that they can move.
pub(crate) fn items_of_high(net: &HighNet) -> Vec<ItemList> {
    let (mut arcs, mut tokens) = (Vec::new(), Vec::new());
    for transition in &net.transitions {
        for arc in &transition.arcs {
            let place = &net.places[arc.place];
            let name = format!("{} {} {}", transition.name, verb(arc.word), place.name);
            for &kind in moved_kinds(arc) {
                let kind = &place.kinds[kind];
                let name = if kind.is_empty() { name.clone() } else { format!("{name} {kind}") };
                tokens.push(NamedItem { name, span: arc.span });
            }
            arcs.push(NamedItem { name, span: arc.span });
        }
    }
    lists(arcs, tokens)
}

/// The kinds of tokens that an arc moves or reads; what inhibits is neither.
fn moved_kinds(arc: &HighArc) -> &[usize] {
    if arc.word == ArcWord::Inhibit { &[] } else { &arc.kinds }
}

fn verb(word: ArcWord) -> &'static str {
    match word {
        ArcWord::Take => "takes from",
        ArcWord::Read => "reads",
        ArcWord::Inhibit => "is inhibited by",
        ArcWord::Reset => "resets",
        ArcWord::Put => "puts into",
    }
}

/// Where the arcs, kinds of tokens and guards of a net as written stand in its lists.
pub(crate) struct Places {
    /// For each transition the number of its first arc.
    arcs: Vec<usize>,
    /// For each arc its kinds of tokens, and the number of the first.
    tokens: Vec<(Vec<usize>, usize)>,
    /// For each transition the number of its first guard.
    guards: Vec<usize>,
}

impl Places {
    pub(crate) fn of(net: &HighNet) -> Self {
        let (mut arcs, mut guards, mut tokens) = (Vec::new(), Vec::new(), Vec::new());
        let (mut guard, mut token) = (0, 0);
        for transition in &net.transitions {
            arcs.push(tokens.len());
            guards.push(guard);
            guard += transition.guards.len();
            for arc in &transition.arcs {
                tokens.push((moved_kinds(arc).to_vec(), token));
                token += moved_kinds(arc).len();
            }
        }
        Self { arcs, tokens, guards }
    }

    pub(crate) fn arc(&self, transition: usize, arc: usize) -> usize {
        self.arcs[transition] + arc
    }

    pub(crate) fn token(&self, transition: usize, arc: usize, kind: usize) -> Option<usize> {
        let (kinds, first) = &self.tokens[self.arc(transition, arc)];
        kinds.iter().position(|&known| known == kind).map(|at| first + at)
    }

    pub(crate) fn guard(&self, transition: usize, guard: usize) -> usize {
        self.guards[transition] + guard
    }
}

/// An arc of a flat net, by transition, place and what it does; with the value of its token in the second list.
pub(crate) type FlatItem = (usize, usize, u8, Option<String>);

/// What an arc counts as.
pub(crate) fn keys_of(flat: &Flat, transition: &FlatTransition, arc: &Arc) -> [FlatItem; 2] {
    let place = &flat.places[arc.place];
    let kind = match arc.kind {
        ArcKind::Take(_) => 0,
        ArcKind::Read(_) => 1,
        ArcKind::Inhibit(_) => 2,
        ArcKind::Reset => 3,
        ArcKind::Put(_) => 4,
    };
    [(transition.of, place.of, kind, None), (transition.of, place.of, kind, Some(place.token.clone()))]
}

/// All of them with their list and number, in order.
pub(crate) fn flat_items(flat: &Flat) -> Vec<(FlatItem, (usize, usize))> {
    let mut keys: Vec<FlatItem> = (flat.transitions.iter())
        .flat_map(|transition| transition.arcs.iter().flat_map(move |arc| keys_of(flat, transition, arc)))
        .collect();
    keys.sort_unstable();
    keys.dedup();
    let mut counts = [0, 0];
    keys.into_iter()
        .map(|key| {
            let list = if key.3.is_none() { ARCS } else { TOKENS };
            counts[list] += 1;
            (key, (list, counts[list] - 1))
        })
        .collect()
}

/// The arcs of a flat net that could ever be used, and the tokens on them.
pub(crate) fn items_of_flat(flat: &Flat) -> Vec<ItemList> {
    let mut items = [Vec::new(), Vec::new()];
    for ((transition, place, kind, token), (list, _)) in flat_items(flat) {
        let word = [ArcWord::Take, ArcWord::Read, ArcWord::Inhibit, ArcWord::Reset, ArcWord::Put];
        let (of, place) = (&flat.source_transitions[transition], &flat.source_places[place]);
        let mut name = format!("{} {} {}", of.name, verb(word[usize::from(kind)]), place.name);
        if let Some(token) = token.filter(|token| !token.is_empty()) {
            name = format!("{name} {token}");
        }
        items[list].push(NamedItem { name, span: of.span });
    }
    let [arcs, tokens] = items;
    lists(arcs, tokens)
}
