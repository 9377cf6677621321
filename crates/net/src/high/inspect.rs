//! Looks into markings: for people, abstract states, and coverage of arcs and guards.

use lnt::data::Evaluator;
use lts::LabelId;
use model::{ModelError, Slot};

use super::model::HighModel;
use super::net::{HighNet, Place};
use super::search::{Present, compare_token, modes};
use super::worker::HighWorker;
use crate::text::ArcWord;

/// More tokens than this are not listed.
const MOST_LISTED: u64 = 1 << 20;

/// Looks into markings, on one thread.
pub struct Inspector<'a> {
    worker: HighWorker<'a>,
}

/// A way to fire, with the tokens that it moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Firing {
    /// The transition.
    pub transition: usize,
    /// What its step is called.
    pub label: LabelId,
    /// The tokens that its arcs move or read.
    pub flows: Vec<Flow>,
    /// The marking that it leads to.
    pub target: Vec<Slot>,
}

/// A token on an arc.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Flow {
    /// The arc, by position in its transition.
    pub arc: usize,
    /// The kind of the token, by position in the place's kinds.
    pub kind: usize,
}

/// What a guard says about a binding that the arcs of its transition allow.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Evaluation {
    /// The transition.
    pub transition: usize,
    /// The guard, by position in its transition.
    pub guard: usize,
    /// The outcome.
    pub outcome: bool,
    /// The outcome of each condition on its own; none where it fails.
    pub conditions: Vec<Option<bool>>,
}

impl<'a> Inspector<'a> {
    pub(super) fn new(model: &'a HighModel) -> Self {
        Self { worker: HighWorker::new(model) }
    }

    /// Whether a marking belongs to an abstract state.
    pub fn holds(&mut self, proposition: usize, state: &[Slot]) -> Result<bool, ModelError> {
        self.worker.enter(state);
        state_holds(&self.worker.model.net, &mut self.worker.evaluator, &self.worker.present, proposition)
    }

    /// The tokens of each place: `{1, 2 * 3}`, or how many where they have no value.
    pub fn tokens(&mut self, state: &[Slot]) -> Vec<String> {
        self.worker.enter(state);
        let places = self.worker.model.net.places.iter().enumerate();
        places
            .map(|(number, place)| {
                let tokens = sorted(place, &self.worker.evaluator, &self.worker.present.tokens[number]);
                if place.is_plain() {
                    return tokens.first().map_or(0, |&(_, count)| count).to_string();
                }
                let print = |&(token, count): &(u32, u32)| match count {
                    1 => self.print(place, token),
                    several => format!("{several} * {}", self.print(place, token)),
                };
                format!("{{{}}}", tokens.iter().map(print).collect::<Vec<String>>().join(", "))
            })
            .collect()
    }

    fn print(&self, place: &Place, token: u32) -> String {
        print_token(place, token, &self.worker.evaluator)
    }

    /// The ways to fire in a marking, one transition at a time.
    pub fn firings(&mut self, state: &[Slot]) -> Result<Vec<Firing>, ModelError> {
        let net = &self.worker.model.net;
        self.worker.enter(state);
        let mut firings = Vec::new();
        for transition in 0..net.transitions.len() {
            for mode in self.worker.modes(transition) {
                let effect = self.worker.effect(&mode)?;
                let arcs = &net.transitions[transition].arcs;
                let mut flows: Vec<Flow> = mode
                    .moved
                    .iter()
                    .chain(&effect.put_by)
                    .map(|&(arc, token)| Flow { arc, kind: self.kind(&net.places[arcs[arc].place], token) })
                    .collect();
                for (number, arc) in arcs.iter().enumerate().filter(|(_, arc)| arc.word == ArcWord::Reset) {
                    let removed = effect.resets.iter().filter(|(place, _)| *place == arc.place);
                    let place = &net.places[arc.place];
                    flows.extend(
                        removed.map(|&(_, token)| Flow { arc: number, kind: self.kind(place, token) }),
                    );
                }
                flows.sort_unstable();
                flows.dedup();
                let label = self.worker.label(&[&mode]);
                let target = self.worker.target(state, &[&effect])?.to_vec();
                firings.push(Firing { transition, label, flows, target });
            }
        }
        Ok(firings)
    }

    /// The kind of a token: the positions of its values' constructors, the last value's changing fastest.
    fn kind(&self, place: &Place, token: u32) -> usize {
        if place.kinds.len() == 1 {
            return 0;
        }
        let evaluator = &self.worker.evaluator;
        let mut kind = 0;
        for (index, &sort) in place.sorts.iter().enumerate() {
            let value = if place.sorts.len() == 1 { token } else { evaluator.row(token)[index + 1] };
            if let (Some(position), Some(names)) =
                (evaluator.constructor(sort, value), evaluator.data().constructors(sort))
            {
                kind = kind * names.len() + position;
            }
        }
        kind
    }

    /// What guards say in a marking about the bindings that arcs allow, each combination once, in ascending order.
    pub fn evaluations(&mut self, state: &[Slot]) -> Vec<Evaluation> {
        let net = &self.worker.model.net;
        self.worker.enter(state);
        let worker = &mut self.worker;
        let mut all: Vec<Evaluation> = Vec::new();
        for (transition, of) in net.transitions.iter().enumerate().filter(|(_, of)| !of.guards.is_empty()) {
            modes(net, transition, false, &worker.present, &mut worker.evaluator, &mut |evaluator, mode| {
                if mode.error.is_some() {
                    return true;
                }
                for (guard, of) in of.guards.iter().enumerate() {
                    let mut is_true =
                        |function| evaluator.call(function, &mode.binding).ok().map(|value| value != 0);
                    let conjuncts: Vec<Option<bool>> = of.conjuncts.iter().map(&mut is_true).collect();
                    let outcome = match () {
                        () if conjuncts.contains(&Some(false)) => false,
                        () if conjuncts.contains(&None) => continue,
                        () => true,
                    };
                    let conditions = of.condition_functions.iter().map(&mut is_true).collect();
                    all.push(Evaluation { transition, guard, outcome, conditions });
                }
                if all.len() > 1 << 16 {
                    all.sort_unstable();
                    all.dedup();
                }
                true
            });
        }
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// Whether an abstract state holds where these tokens are.
pub(crate) fn state_holds(
    net: &HighNet,
    evaluator: &mut Evaluator<'_>,
    present: &Present,
    proposition: usize,
) -> Result<bool, ModelError> {
    let Some(state) = net.states.get(proposition) else { return Ok(false) };
    let mut arguments = Vec::new();
    for &place in &state.places {
        let value =
            list(&net.places[place], evaluator, &present.tokens[place]).ok_or_else(|| ModelError {
                message: format!("place {} holds too many tokens for this", net.places[place].name),
                span: Some(state.span),
                help: None,
                during: None,
            })?;
        arguments.push(value);
    }
    Ok(evaluator.call(&state.function, &arguments)? != 0)
}

/// The tokens of a place as LNT sees them: a list in ascending order, or a number.
fn list(place: &Place, evaluator: &mut Evaluator<'_>, tokens: &[(u32, u32)]) -> Option<u32> {
    let count: u64 = tokens.iter().map(|&(_, count)| u64::from(count)).sum();
    if place.is_plain() {
        return evaluator.value_of(lnt::data::TypeId::NAT, count as i64);
    }
    if count > MOST_LISTED {
        return None;
    }
    let tokens = sorted(place, evaluator, tokens);
    let row: Vec<u32> =
        tokens.iter().flat_map(|&(token, count)| std::iter::repeat_n(token, count as usize)).collect();
    Some(evaluator.intern(&row))
}

/// Tokens of a place in ascending order.
fn sorted(place: &Place, evaluator: &Evaluator<'_>, tokens: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let mut tokens = tokens.to_vec();
    tokens.sort_by(|a, b| compare_token(place, evaluator, a.0, b.0));
    tokens
}

/// A token as people read it: its value, or its values between parentheses.
pub(crate) fn print_token(place: &Place, token: u32, evaluator: &Evaluator<'_>) -> String {
    match place.sorts.as_slice() {
        [] => String::new(),
        [one] => evaluator.print(*one, token),
        several => {
            let row = evaluator.row(token);
            let values = several.iter().zip(&row[1..]).map(|(&ty, &value)| evaluator.print(ty, value));
            format!("({})", values.collect::<Vec<String>>().join(", "))
        }
    }
}
