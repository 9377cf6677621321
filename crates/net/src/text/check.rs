//! The checker: names of nets, places, transitions, markings and states; markings and states themselves.

use lnt::data::{Data, Definitions, Function, Name, TypeId};
use source::{Diagnostic, Span};

use super::arcs::{PendingTokens, computed_tokens};
use super::transitions::PendingTransition;
use super::tree::{ArcText, MarkingText, NestedNet, NetText, PlaceText, StateText};
use crate::flat::Component;
use crate::high::{AbstractState, HighNet, Marking, Place};

/// What is known while a net is checked.
pub(super) struct Checker<'d> {
    pub definitions: Definitions,
    pub nets: Vec<NestedNet>,
    /// The component of each net that has one.
    pub component_of: Vec<Option<usize>>,
    pub texts: Vec<PlaceText>,
    pub places: Vec<Place>,
    pub diagnostics: &'d mut Vec<Diagnostic>,
}

/// A place with the types that its tokens have and are listed in, by name.
struct PlaceTypes {
    token: Option<Name>,
    list: Option<Name>,
}

impl<'d> Checker<'d> {
    /// Checks everything; gives a net unless there is an error.
    pub fn check(
        tree: NetText,
        root: Option<(&str, Span)>,
        diagnostics: &'d mut Vec<Diagnostic>,
    ) -> Option<HighNet> {
        let NetText { name, nets, places: texts, transitions, markings, states, mut written } = tree;
        let mentioned: Vec<String> = states
            .iter()
            .flat_map(|state| state.condition.names())
            .map(|name| name.text.to_ascii_lowercase())
            .collect();
        let types = texts.iter().map(|place| {
            let token = match place.sorts.as_slice() {
                [] => None,
                [one] => Some(one.clone()),
                several => Some(written.tuple(&place.name, several)),
            };
            // Further types would make lists between braces ambiguous: only those that are needed are made.
            let listed = token.as_ref().filter(|_| mentioned.contains(&place.name.text.to_ascii_lowercase()));
            let list = listed.map(|token| written.list_of(token));
            PlaceTypes { token, list }
        });
        let types: Vec<PlaceTypes> = types.collect();
        let definitions = written.check(diagnostics)?;
        let (components, component_of) =
            components(&nets, &transitions.iter().map(|one| one.net).collect::<Vec<_>>());
        let mut checker = Checker { definitions, nets, component_of, texts, places: Vec::new(), diagnostics };
        checker.unique_names(&markings, &states);
        checker.places(&types)?;
        let transitions: Vec<Option<PendingTransition>> =
            transitions.iter().map(|transition| checker.transition(transition)).collect();
        let states: Vec<Option<AbstractState>> =
            states.iter().map(|state| checker.state(state, &types)).collect();
        let tokens: Vec<Option<Vec<PendingTokens>>> =
            markings.iter().map(|marking| checker.marking(marking)).collect();
        let start = checker.start(&markings, root);
        let Checker { definitions, mut places, diagnostics, .. } = checker;
        // What the checker of LNT says about a part is the most useful of all.
        let data = definitions.finish(diagnostics)?;
        let transitions: Option<Vec<PendingTransition>> = transitions.into_iter().collect();
        let states: Option<Vec<AbstractState>> = states.into_iter().collect();
        let tokens: Option<Vec<Vec<PendingTokens>>> = tokens.into_iter().collect();
        let (transitions, states, tokens, start) = (transitions?, states?, tokens?, start?);
        for place in &mut places {
            place.kinds = kinds(&data, &place.sorts);
        }
        let transitions = transitions
            .into_iter()
            .map(|transition| transition.finish(&data, &places, diagnostics))
            .collect::<Vec<_>>()
            .into_iter()
            .collect::<Option<Vec<_>>>()?;
        let initial = initial(&data, &places, &tokens[start], diagnostics)?;
        let markings = markings
            .iter()
            .map(|marking| Marking { name: marking.name.text.clone(), span: marking.name.span });
        Some(HighNet {
            name: name.text,
            components,
            places,
            transitions,
            markings: markings.collect(),
            start,
            states,
            warnings: Vec::new(),
            initial,
            data,
        })
    }

    fn twice(&mut self, what: &str, first: Span, again: &Name) {
        self.diagnostics.push(
            Diagnostic::error(format!("{what} `{}` is declared twice", again.text))
                .label(again.span, "again here")
                .label(first, "first here"),
        );
    }

    fn unique_names(&mut self, markings: &[MarkingText], states: &[StateText]) {
        let nets: Vec<(Option<usize>, Name)> =
            self.nets.iter().map(|net| (net.parent, net.name.clone())).collect();
        self.unique("net", &nets);
        let places: Vec<(Option<usize>, Name)> =
            self.texts.iter().map(|place| (Some(place.net), place.name.clone())).collect();
        self.unique("place", &places);
        let markings: Vec<(Option<usize>, Name)> =
            markings.iter().map(|marking| (None, marking.name.clone())).collect();
        self.unique("marking", &markings);
        let states: Vec<(Option<usize>, Name)> =
            states.iter().map(|state| (None, state.name.clone())).collect();
        self.unique("state", &states);
    }

    /// Complains where a name is declared twice in the same net.
    pub fn unique(&mut self, what: &str, names: &[(Option<usize>, Name)]) {
        let mut seen: rustc_hash::FxHashMap<(Option<usize>, String), Span> = Default::default();
        for (net, name) in names {
            match seen.get(&(*net, name.text.to_ascii_lowercase())) {
                Some(&first) => self.twice(what, first, name),
                None => {
                    seen.insert((*net, name.text.to_ascii_lowercase()), name.span);
                }
            }
        }
    }

    fn places(&mut self, types: &[PlaceTypes]) -> Option<()> {
        for (number, types) in types.iter().enumerate() {
            let text = &self.texts[number];
            let alike = |other: &&PlaceText| other.name.text.eq_ignore_ascii_case(&text.name.text);
            let name = match self.texts.iter().filter(alike).count() {
                1 => text.name.text.clone(),
                _ => format!("{}.{}", self.nets[text.net].name.text, text.name.text),
            };
            let mut sorts = Vec::new();
            for sort in &text.sorts {
                sorts.push(self.definitions.find_type(sort, self.diagnostics)?);
            }
            let ty = match &types.token {
                Some(token) => Some(self.definitions.find_type(token, self.diagnostics)?),
                None => None,
            };
            let shared = self.nets.iter().any(|net| net.parent == Some(text.net));
            let component = self.component_of[text.net].filter(|_| !shared);
            self.places.push(Place {
                name,
                span: text.name.span,
                component,
                sorts,
                is_set: text.is_set,
                kinds: Vec::new(),
                ty,
            });
        }
        Some(())
    }

    /// The place that a name in a net means: one of the net, of a net around it, or else of any net inside it.
    pub fn place(&mut self, net: usize, path: &[Name]) -> Option<usize> {
        let name = path.last()?;
        let same = |place: &PlaceText| place.name.text.eq_ignore_ascii_case(&name.text);
        let inside = |checker: &Self, place: &PlaceText| {
            let mut at = Some(place.net);
            path[..path.len() - 1].iter().rev().all(|wanted| {
                let found =
                    at.is_some_and(|at| checker.nets[at].name.text.eq_ignore_ascii_case(&wanted.text));
                at = at.and_then(|at| checker.nets[at].parent);
                found
            })
        };
        if path.len() == 1 {
            let mut around = Some(net);
            while let Some(at) = around {
                if let Some(found) = self.texts.iter().position(|place| place.net == at && same(place)) {
                    return Some(found);
                }
                around = self.nets[at].parent;
            }
        }
        let found: Vec<usize> = (0..self.texts.len())
            .filter(|&at| same(&self.texts[at]) && inside(self, &self.texts[at]))
            .collect();
        match found.as_slice() {
            [one] if path.len() > 1 || self.is_inside(self.texts[*one].net, net) => return Some(*one),
            [first, second, ..] => {
                let (first, second) = (&self.texts[*first], &self.texts[*second]);
                let help = format!(
                    "write the name of the net before it: `{}.{}`",
                    self.nets[first.net].name.text, name.text
                );
                let diagnostic = Diagnostic::error(format!("several places are called `{}`", name.text))
                    .label(name.span, "which one is meant is not clear")
                    .label(first.name.span, "this one")
                    .label(second.name.span, "or this one")
                    .help(help);
                self.diagnostics.push(diagnostic);
                return None;
            }
            _ => {}
        }
        let mut diagnostic = Diagnostic::error(format!("unknown place `{}`", name.text));
        if let [hidden] = found.as_slice() {
            let owner = &self.nets[self.texts[*hidden].net].name.text;
            diagnostic = diagnostic.label(name.span, "not a place of this net").help(format!(
                "net `{owner}` has a place of this name; declare it in a net around both to share it"
            ));
        } else {
            let near = source::closest(&name.text, self.texts.iter().map(|place| place.name.text.as_str()));
            diagnostic = diagnostic
                .label(name.span, "not declared")
                .maybe_help(near.map(|near| format!("did you mean `{near}`?")));
        }
        self.diagnostics.push(diagnostic);
        None
    }

    fn is_inside(&self, inner: usize, outer: usize) -> bool {
        let mut at = Some(inner);
        while let Some(net) = at {
            if net == outer {
                return true;
            }
            at = self.nets[net].parent;
        }
        false
    }

    fn state(&mut self, text: &StateText, types: &[PlaceTypes]) -> Option<AbstractState> {
        let mut places: Vec<usize> = Vec::new();
        for name in text.condition.names() {
            // A name of no place may be one of LNT.
            let is_place = self.texts.iter().any(|place| place.name.text.eq_ignore_ascii_case(&name.text));
            if is_place {
                let place = self.place(text.net, std::slice::from_ref(name))?;
                if !places.contains(&place) {
                    places.push(place);
                }
            }
        }
        let mut variables: Vec<(Name, TypeId)> = Vec::new();
        for &place in &places {
            let ty = match &types[place].list {
                Some(list) => self.definitions.find_type(list, self.diagnostics)?,
                None => TypeId::NAT,
            };
            variables.push((self.texts[place].name.clone(), ty));
        }
        let unknown = text.condition.names().into_iter().find(|name| {
            let is_variable = variables.iter().any(|(known, _)| known.text.eq_ignore_ascii_case(&name.text));
            !is_variable && !self.definitions.knows(&name.text)
        });
        if let Some(unknown) = unknown {
            let unknown = unknown.clone();
            self.place(text.net, &[unknown]);
            return None;
        }
        let function: Function =
            self.definitions.function(&variables, TypeId::BOOL, &text.condition, self.diagnostics)?;
        Some(AbstractState { name: text.name.text.clone(), span: text.span, places, function })
    }

    fn marking(&mut self, text: &MarkingText) -> Option<Vec<PendingTokens>> {
        let tokens: Vec<Option<PendingTokens>> =
            text.tokens.iter().map(|arc| self.tokens(text.net, arc)).collect();
        tokens.into_iter().collect()
    }

    fn tokens(&mut self, net: usize, arc: &ArcText) -> Option<PendingTokens> {
        let place = self.place(net, &arc.place)?;
        self.put_tokens(place, arc, &[])
    }

    fn start(&mut self, markings: &[MarkingText], root: Option<(&str, Span)>) -> Option<usize> {
        let Some((root, span)) = root else {
            let main = markings.iter().position(|marking| marking.name.text.eq_ignore_ascii_case("main"));
            if markings.is_empty() {
                let name = &self.nets[0].name;
                self.diagnostics.push(
                    Diagnostic::error("the net has no marking to start from")
                        .label(name.span, "this net")
                        .help("add one: `marking MAIN is P (1), 2 * Q end marking`"),
                );
                return None;
            }
            return Some(main.unwrap_or(0));
        };
        let found = markings.iter().position(|marking| marking.name.text.eq_ignore_ascii_case(root));
        if found.is_none() {
            let names: Vec<&str> = markings.iter().map(|marking| marking.name.text.as_str()).collect();
            let help = match source::closest(root, names.iter().copied()) {
                Some(near) => Some(format!("did you mean `{near}`?")),
                None if names.is_empty() => None,
                None => Some(format!("the markings are {}", names.join(", "))),
            };
            self.diagnostics.push(
                Diagnostic::error(format!("the net has no marking `{root}`"))
                    .label(span, "not declared")
                    .maybe_help(help),
            );
        }
        found
    }
}

/// The nets that others consist of: those inside, and the net itself where it has transitions of its own or nothing
/// inside. For each net its component.
fn components(nets: &[NestedNet], with_transitions: &[usize]) -> (Vec<Component>, Vec<Option<usize>>) {
    let mut components = Vec::new();
    let mut component_of = Vec::new();
    for (number, net) in nets.iter().enumerate() {
        let around = nets.iter().any(|inner| inner.parent == Some(number));
        if around && !with_transitions.contains(&number) {
            component_of.push(None);
            continue;
        }
        component_of.push(Some(components.len()));
        components.push(Component { name: net.name.text.clone(), span: net.span });
    }
    (components, component_of)
}

/// More kinds of tokens than this are not told apart.
const MOST_KINDS: usize = 64;

/// The kinds of a place's tokens: each way to choose a constructor for each value that has some. The last value changes
/// fastest.
fn kinds(data: &Data, sorts: &[TypeId]) -> Vec<String> {
    let named: Vec<Vec<String>> = sorts.iter().filter_map(|&sort| data.constructors(sort)).collect();
    let count = named.iter().try_fold(1usize, |count, names| count.checked_mul(names.len()));
    if named.is_empty() || count.is_none_or(|count| count > MOST_KINDS || count == 0) {
        return vec![String::new()];
    }
    let mut kinds = vec![String::new()];
    for names in &named {
        let longer = |kind: &String| {
            let kind = kind.clone();
            names
                .iter()
                .map(move |name| if kind.is_empty() { name.clone() } else { format!("{kind}, {name}") })
        };
        kinds = kinds.iter().flat_map(longer).collect();
    }
    kinds
}

/// The tokens of a marking.
fn initial(
    data: &Data,
    places: &[Place],
    tokens: &[PendingTokens],
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Vec<(usize, u32, u32)>> {
    let mut evaluator = data.evaluator();
    let mut all = Vec::new();
    for pending in tokens {
        let (count, computed) = pending.finish(&mut evaluator, places, diagnostics)?;
        match computed_tokens(&mut evaluator, &places[pending.place], &computed, &[]) {
            Ok(values) => all.extend(values.into_iter().map(|value| (pending.place, value, count))),
            Err(error) => {
                let diagnostic = Diagnostic::error(error.message)
                    .label(error.span.unwrap_or(pending.span), "while computing this token")
                    .maybe_help(error.help);
                diagnostics.push(diagnostic);
                return None;
            }
        }
    }
    Some(all)
}
