//! From elements to places, transitions and arcs: pages, references, and the habits of several tools.

use roxmltree::Node;
use rustc_hash::{FxHashMap, FxHashSet};
use source::{Diagnostic, Span};

use super::read_terms::TermReader;
use super::sorts::{DOT, SortId, Sorts, structure};
use super::terms::{Bag, Condition, Term};
use super::xml::{Outcome, Text, element, elements, text_of};

/// A net as written.
pub(super) struct Written {
    pub(super) name: String,
    pub(super) span: Span,
    pub(super) sorts: Sorts,
    pub(super) places: Vec<Place>,
    pub(super) transitions: Vec<Transition>,
    /// Whether tokens may have values: then only transitions that could fire are unfolded.
    pub(super) is_coloured: bool,
}

pub(super) struct Place {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) span: Span,
    pub(super) sort: SortId,
    pub(super) initial: Bag,
    /// The most tokens it may hold.
    capacity: Option<u32>,
}

pub(super) struct Transition {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) span: Span,
    /// The conditions that must all hold.
    pub(super) guard: Vec<Condition>,
    pub(super) arcs: Vec<WrittenArc>,
}

pub(super) struct WrittenArc {
    pub(super) place: usize,
    pub(super) kind: Direction,
    pub(super) bag: Bag,
    pub(super) span: Span,
}

/// What an arc does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Take,
    Read,
    Inhibit,
    Reset,
    Put,
}

/// What an id stands for.
#[derive(Clone, Copy)]
enum Target<'a, 'i> {
    Place(usize),
    Transition(usize),
    Reference(Node<'a, 'i>),
}

struct Reader<'a, 'i, 't> {
    text: Text<'t>,
    net: Written,
    ids: FxHashMap<&'a str, Target<'a, 'i>>,
    errors: Vec<Diagnostic>,
}

/// Reads the only net of a document.
pub(super) fn read<'a, 'i>(text: Text<'_>, root: Node<'a, 'i>) -> Result<Written, Vec<Diagnostic>> {
    let is_net = |node: &Node<'_, '_>| node.tag_name().name() == "net";
    let nets: Vec<Node<'a, 'i>> =
        if is_net(&root) { vec![root] } else { elements(root).filter(is_net).collect() };
    let [net] = nets[..] else {
        let error = match nets.get(1) {
            None if root.tag_name().name() != "pnml" => {
                text.error(root, "this is not a PNML file", "`pnml` was expected")
            }
            None => text.error(root, "there is no net in this file", "no `net` is in here"),
            Some(&second) => {
                let message = format!("there are {} nets in this file, but only one is read", nets.len());
                text.error(second, message, "the second net")
            }
        };
        return Err(vec![*error]);
    };
    let name = element(net, "name").map(text_of).filter(|name| !name.is_empty());
    let kind = net.attribute("type").unwrap_or_default();
    let named = |name: &str| net.descendants().any(|node| node.tag_name().name() == name);
    let is_coloured = kind.ends_with("symmetricnet")
        || kind.ends_with("highlevelnet")
        || kind.ends_with("hlpng")
        || named("hlinscription")
        || named("hlinitialMarking");
    let written = Written {
        name: name.unwrap_or_else(|| net.attribute("id").unwrap_or("net").to_owned()),
        span: text.span(net),
        sorts: Sorts::new(),
        places: Vec::new(),
        transitions: Vec::new(),
        is_coloured,
    };
    let mut reader = Reader { text, net: written, ids: FxHashMap::default(), errors: Vec::new() };
    reader.read(net);
    if reader.errors.is_empty() { Ok(reader.net) } else { Err(reader.errors) }
}

/// More errors than this are not told.
const MOST_ERRORS: usize = 20;

impl<'a, 'i> Reader<'a, 'i, '_> {
    fn read(&mut self, net: Node<'a, 'i>) {
        // Pages in the order of the text.
        let (mut nodes, mut stack) = (Vec::new(), vec![net]);
        while let Some(page) = stack.pop() {
            let inside: Vec<Node<'a, 'i>> = elements(page).collect();
            nodes.extend(inside.iter().copied().filter(|node| node.tag_name().name() != "page"));
            stack.extend(inside.into_iter().rev().filter(|node| node.tag_name().name() == "page"));
        }
        let of = |name: &str| {
            nodes.iter().copied().filter(|node| node.tag_name().name() == name).collect::<Vec<_>>()
        };
        let mut declarations = Vec::new();
        for declaration in of("declaration") {
            match structure(self.text, declaration) {
                Ok(inner) => declarations.extend(inner),
                Err(error) => self.errors.push(*error),
            }
        }
        if let Err(error) = self.net.sorts.declare(self.text, &declarations) {
            // Everything else would be unknown.
            return self.errors.push(*error);
        }
        self.each(of("place"), Self::place);
        self.each(of("transition"), Self::transition);
        for name in ["referencePlace", "referenceTransition"] {
            self.each(of(name), |reader, node| reader.identify(node, Target::Reference(node)));
        }
        self.check_precedence(&of("transition"));
        if self.errors.is_empty() {
            self.each(of("arc"), Self::arc);
            self.respect_capacities();
            self.distinguish_names();
        }
    }

    fn each(
        &mut self,
        nodes: Vec<Node<'a, 'i>>,
        mut read: impl FnMut(&mut Self, Node<'a, 'i>) -> Outcome<()>,
    ) {
        for node in nodes {
            if self.errors.len() < MOST_ERRORS
                && let Err(error) = read(self, node)
            {
                self.errors.push(*error);
            }
        }
    }

    fn identify(&mut self, node: Node<'a, 'i>, target: Target<'a, 'i>) -> Outcome<()> {
        let id = self.text.attribute(node, "id")?;
        match self.ids.insert(id, target) {
            None => Ok(()),
            Some(_) => Err(self.text.error(node, format!("the id `{id}` is given twice"), "again here")),
        }
    }

    fn name(&self, node: Node<'a, 'i>) -> String {
        let name = element(node, "name").map(text_of).filter(|name| !name.is_empty());
        name.unwrap_or_else(|| node.attribute("id").unwrap_or_default().to_owned())
    }

    fn place(&mut self, node: Node<'a, 'i>) -> Outcome<()> {
        self.identify(node, Target::Place(self.net.places.len()))?;
        let sort = match element(node, "type").map(|kind| structure(self.text, kind)).transpose()?.flatten() {
            Some(sort) => self.net.sorts.sort(self.text, sort, 0)?,
            None => DOT,
        };
        let initial = match (element(node, "hlinitialMarking"), element(node, "initialMarking")) {
            (Some(marking), _) => self.bag(marking, sort, 0)?,
            (None, Some(marking)) => self.plain(marking, sort, 0)?,
            (None, None) => Bag::default(),
        };
        let capacity = match element(node, "capacity") {
            Some(capacity) => Some(self.number(capacity, 0)?).filter(|&capacity| capacity > 0),
            None => None,
        };
        let id = self.text.attribute(node, "id")?.to_owned();
        let (name, span) = (self.name(node), self.text.span(node));
        self.net.places.push(Place { id, name, span, sort, initial, capacity });
        Ok(())
    }

    fn transition(&mut self, node: Node<'a, 'i>) -> Outcome<()> {
        self.identify(node, Target::Transition(self.net.transitions.len()))?;
        if let Some(delay) = element(node, "delay") {
            return Err(self.text.error(delay, "time intervals are not supported", "this delay"));
        }
        let mut guard = Vec::new();
        let condition =
            element(node, "condition").map(|condition| structure(self.text, condition)).transpose()?;
        if let Some(condition) = condition.flatten() {
            let mut reader = TermReader { sorts: &mut self.net.sorts, text: self.text };
            reader.condition(condition, 0)?.conjuncts(&mut guard);
        }
        let id = self.text.attribute(node, "id")?.to_owned();
        let (name, span) = (self.name(node), self.text.span(node));
        self.net.transitions.push(Transition { id, name, span, guard, arcs: Vec::new() });
        Ok(())
    }

    /// Refuses nets in which some transitions go before others.
    fn check_precedence(&mut self, transitions: &[Node<'a, 'i>]) {
        for what in ["priority", "timed"] {
            let value = |node: &Node<'a, 'i>| element(*node, what).map(text_of).unwrap_or_default();
            let first = transitions.first().map(value).unwrap_or_default();
            if let Some(&other) = transitions.iter().find(|node| value(node) != first) {
                let message = "transitions that go before others are not supported";
                let label = format!("its `{what}` is not that of the first transition");
                self.errors.push(*self.text.error(other, message, label));
            }
        }
    }

    /// What an id stands for, through references.
    fn resolve(&self, node: Node<'a, 'i>, attribute: &str) -> Outcome<Target<'a, 'i>> {
        let mut id = self.text.attribute(node, attribute)?;
        let mut seen = FxHashSet::default();
        let mut at = node;
        loop {
            match self.ids.get(id) {
                None => {
                    let label = "no place or transition of this id is in the net";
                    return Err(self.text.error(at, format!("unknown id `{id}`"), label));
                }
                Some(Target::Reference(reference)) => {
                    if !seen.insert(id) {
                        let message = format!("the reference `{id}` refers to itself");
                        return Err(self.text.error(*reference, message, "round from here"));
                    }
                    at = *reference;
                    id = self.text.attribute(*reference, "ref")?;
                }
                Some(&target) => return Ok(target),
            }
        }
    }

    fn arc(&mut self, node: Node<'a, 'i>) -> Outcome<()> {
        use Target::{Place, Transition};
        let kind = kind_of(node);
        let (place, transition, is_input) =
            match (self.resolve(node, "source")?, self.resolve(node, "target")?) {
                (Place(place), Transition(transition)) => (place, transition, true),
                (Transition(transition), Place(place)) => (place, transition, false),
                _ => {
                    let message = "an arc must connect a place and a transition";
                    return Err(self.text.error(node, message, "this one connects two of a kind"));
                }
            };
        let direction = match (&*kind, is_input) {
            ("" | "normal" | "arc" | "regular", true) => Direction::Take,
            ("" | "normal" | "arc" | "regular", false) => Direction::Put,
            ("read" | "test" | "readarc" | "testarc" | "read arc" | "test arc", _) => Direction::Read,
            ("inhibitor" | "inhibitorarc" | "inhibit" | "inhibitor arc", true) => Direction::Inhibit,
            ("reset" | "resetarc" | "reset arc", _) => Direction::Reset,
            ("inhibitor" | "inhibitorarc" | "inhibit" | "inhibitor arc", false) => {
                return Err(self.text.error(
                    node,
                    "an inhibitor arc must go from a place to a transition",
                    "here",
                ));
            }
            (other, _) => {
                return Err(self.text.error(
                    node,
                    format!("arcs of type `{other}` are not supported"),
                    "this arc",
                ));
            }
        };
        let sort = self.net.places[place].sort;
        let bag = match (direction, element(node, "hlinscription"), element(node, "inscription")) {
            (Direction::Reset, ..) => Bag::default(),
            (_, Some(inscription), _) => self.bag(inscription, sort, 1)?,
            (_, None, Some(inscription)) => self.plain(inscription, sort, 1)?,
            (_, None, None) if sort == DOT => Bag { terms: vec![(1, Term::Value(0))] },
            (_, None, None) => {
                let message = "this arc has no inscription";
                return Err(self.text.error(node, message, "the tokens of its place have values"));
            }
        };
        if direction == Direction::Inhibit && bag.terms.is_empty() {
            let message = "an inhibitor arc of weight 0 would disable its transition for ever";
            return Err(self.text.error(node, message, "the weight must be at least 1"));
        }
        let span = self.text.span(node);
        self.net.transitions[transition].arcs.push(WrittenArc { place, kind: direction, bag, span });
        Ok(())
    }

    /// A multiset with a structure; so many tokens where there is none and tokens have no values.
    fn bag(&mut self, node: Node<'a, 'i>, sort: SortId, default: u32) -> Outcome<Bag> {
        if sort == DOT && element(node, "structure").is_none() && text_of(node).parse::<u32>().is_ok() {
            return self.plain(node, sort, default);
        }
        let Some(inner) = structure(self.text, node)? else {
            if sort == DOT || default == 0 {
                return Ok(Bag { terms: vec![(i64::from(default), Term::Value(0))] }.without_nothing());
            }
            let message = format!("`{}` is empty", node.tag_name().name());
            return Err(self.text.error(node, message, "the tokens of this place have values"));
        };
        TermReader { sorts: &mut self.net.sorts, text: self.text }.bag(inner, sort)
    }

    /// So many tokens without values.
    fn plain(&mut self, node: Node<'a, 'i>, sort: SortId, default: u32) -> Outcome<Bag> {
        let count = self.number(node, default)?;
        if sort != DOT && count > 0 {
            return Err(self.text.error(
                node,
                "the tokens of this place have values",
                "a number says too little",
            ));
        }
        Ok(Bag { terms: vec![(i64::from(count), Term::Value(0))] }.without_nothing())
    }

    /// A number of tokens: `3`, or `Default,3` as PIPE writes it.
    fn number(&self, node: Node<'a, 'i>, default: u32) -> Outcome<u32> {
        let text = text_of(node);
        if text.is_empty() {
            return Ok(default);
        }
        let wrong = || {
            let message = format!("`{text}` is not a number of tokens");
            self.text.error(node, message, "a number from 0 to 4294967295 was expected")
        };
        if !text.contains(',') {
            return text.parse().map_err(|_| wrong());
        }
        let parts: Vec<&str> = text.split(',').map(str::trim).collect();
        let mut total: u32 = 0;
        let (pairs, rest) = parts.as_chunks::<2>();
        if !rest.is_empty() {
            return Err(wrong());
        }
        for [class, count] in pairs {
            let count: u32 = count.parse().map_err(|_| wrong())?;
            if *class != "Default" && count > 0 {
                let message = format!("tokens of the class `{class}` are not supported");
                return Err(self.text.error(node, message, "only those of the class `Default` are"));
            }
            total = total.checked_add(count).ok_or_else(wrong)?;
        }
        Ok(total)
    }

    /// A transition that would put too many tokens into a place is not enabled: an inhibitor says so.
    fn respect_capacities(&mut self) {
        for number in 0..self.net.places.len() {
            let place = &self.net.places[number];
            let Some(capacity) = place.capacity else { continue };
            if place.sort != DOT {
                let error =
                    Diagnostic::error("capacities of places whose tokens have values are not supported");
                self.errors.push(error.label(place.span, "this place"));
                continue;
            }
            for transition in &mut self.net.transitions {
                let total = |direction| -> i64 {
                    let arcs =
                        transition.arcs.iter().filter(|arc| arc.place == number && arc.kind == direction);
                    arcs.flat_map(|arc| &arc.bag.terms).map(|(count, _)| count).sum()
                };
                let (take, put) = (total(Direction::Take), total(Direction::Put));
                let resets =
                    transition.arcs.iter().any(|arc| arc.place == number && arc.kind == Direction::Reset);
                let below = match resets {
                    true if put > i64::from(capacity) => 0,
                    false if put > take => (i64::from(capacity) + take - put + 1).max(0),
                    _ => continue,
                };
                let bag = Bag { terms: vec![(below.min(i64::from(u32::MAX)), Term::Value(0))] };
                let span = place.span;
                transition.arcs.push(WrittenArc { place: number, kind: Direction::Inhibit, bag, span });
            }
        }
    }

    /// Places, and transitions, that would have the same name get their ids instead.
    fn distinguish_names(&mut self) {
        let mut places: Vec<(&str, &mut String)> =
            self.net.places.iter_mut().map(|place| (&*place.id, &mut place.name)).collect();
        distinguish(&mut places, str::to_owned);
        let mut transitions: Vec<(&str, &mut String)> = self
            .net
            .transitions
            .iter_mut()
            .map(|transition| (&*transition.id, &mut transition.name))
            .collect();
        distinguish(&mut transitions, crate::flat::gate_name);
    }
}

impl Bag {
    fn without_nothing(mut self) -> Bag {
        self.terms.retain(|&(count, _)| count != 0);
        self
    }
}

/// What kind of arc a tool says this is, in lower case.
fn kind_of(node: Node<'_, '_>) -> String {
    let inside = element(node, "type").or_else(|| element(node, "arctype"));
    let inside = inside.map(|kind| kind.attribute("value").map_or_else(|| text_of(kind), str::to_owned));
    let kind = inside.filter(|kind| !kind.is_empty()).or_else(|| node.attribute("type").map(str::to_owned));
    kind.unwrap_or_default().trim().to_lowercase()
}

/// Gives those whose names look the same their ids, and numbers where even that is not enough.
fn distinguish(all: &mut [(&str, &mut String)], look: impl Fn(&str) -> String) {
    let mut count: FxHashMap<String, usize> = FxHashMap::default();
    for (_, name) in &*all {
        *count.entry(look(name)).or_default() += 1;
    }
    let mut used: FxHashSet<String> =
        count.iter().filter(|&(_, &times)| times == 1).map(|(name, _)| name.clone()).collect();
    for (id, name) in all {
        if count[&look(name)] == 1 {
            continue;
        }
        let mut unique = (*id).to_owned();
        let mut number = 1;
        while !used.insert(look(&unique)) {
            number += 1;
            unique = format!("{id}_{number}");
        }
        **name = unique;
    }
}
