//! From a predicate/transition net to a place/transition net with the same steps.
//!
//! Each value that a token can ever have gets a place of its own, each way to bind the variables of a transition a
//! transition of its own. What can ever be marked is found by firing everything without end: a token that was put once
//! is there for good, as often as anybody wants. That takes in too much where transitions wait for tokens that are never
//! there at the same time, and nothing else; so a net with infinitely many values may still be unfolded.

use lnt::data::Evaluator;
use model::{ModelError, Slot};

use crate::flat::{Arc, ArcKind, Flat, FlatPlace, FlatTransition, SourcePlace, SourceTransition};
use crate::high::{
    HighNet, Mode, Present, Tokens, compare_modes, compare_token, concerned, effect, modes, print_token,
    state_holds,
};
use crate::text::ArcWord;

/// When unfolding is given up.
#[derive(Clone, Debug)]
pub struct UnfoldLimits {
    /// The most places.
    pub places: usize,
    /// The most transitions.
    pub transitions: usize,
    /// The most bindings that are looked at on the way.
    pub bindings: usize,
}

impl Default for UnfoldLimits {
    fn default() -> Self {
        Self { places: 100_000, transitions: 500_000, bindings: 5_000_000 }
    }
}

/// A net, unfolded.
#[derive(Clone, Debug)]
pub struct Unfolded {
    /// The place/transition net.
    pub flat: Flat,
    /// For each of its places the token that it counts.
    tokens: Vec<u32>,
}

impl Unfolded {
    /// Whether a marking of the place/transition net belongs to an abstract state of the net that was unfolded.
    pub fn holds(&self, net: &HighNet, proposition: usize, marking: &[Slot]) -> Result<bool, ModelError> {
        let mut present = Present { tokens: vec![Vec::new(); net.places.len()], unbounded: false };
        for ((place, &token), &count) in self.flat.places.iter().zip(&self.tokens).zip(marking) {
            if count > 0 {
                present.tokens[place.of].push((token, count));
            }
        }
        state_holds(net, &mut net.data.evaluator(), &present, proposition)
    }
}

/// Unfolds a net from the marking it starts from, or says why that can't be done.
///
/// ```
/// let text = "net TURN is
///    type SIDE is left, right end type
///    place On : SIDE
///    transition Turn (s) take On (s) put On (left) end transition
///    marking RIGHT is On (right) end marking
/// end net";
/// let mut sources = source::Sources::new();
/// let net = net::load_net("turn.net", text, None, &[], &mut sources).unwrap();
/// let flat = net::unfold(&net, &net::UnfoldLimits::default()).unwrap().flat;
/// assert_eq!((flat.places.len(), flat.transitions.len()), (2, 2));
/// assert_eq!(flat.transitions[1].label, "TURN !RIGHT");
/// ```
pub fn unfold(net: &HighNet, limits: &UnfoldLimits) -> Result<Unfolded, String> {
    let mut unfolding = Unfolding { net, limits, evaluator: net.data.evaluator(), bindings: 0 };
    let mut present = unfolding.possible()?;
    // From here on tokens are numbered by their order.
    for (place, tokens) in net.places.iter().zip(&mut present.tokens) {
        tokens.sort_by(|a, b| compare_token(place, &unfolding.evaluator, a.0, b.0));
    }
    let mut flat = Flat {
        name: net.name.clone(),
        components: net.components.clone(),
        source_places: net
            .places
            .iter()
            .map(|place| SourcePlace {
                name: place.name.clone(),
                span: place.span,
                component: place.component,
                is_plain: place.is_plain(),
            })
            .collect(),
        source_transitions: net
            .transitions
            .iter()
            .map(|transition| SourceTransition {
                name: transition.name.clone(),
                span: transition.span,
                component: transition.component,
            })
            .collect(),
        ..Flat::default()
    };
    let mut counted = Vec::new();
    let mut numbers: rustc_hash::FxHashMap<(usize, u32), usize> = Default::default();
    for (of, place) in net.places.iter().enumerate() {
        for &(token, _) in &present.tokens[of] {
            numbers.insert((of, token), flat.places.len());
            counted.push(token);
            let initial = net.initial.iter().filter(|entry| (entry.0, entry.1) == (of, token));
            let initial = initial.map(|entry| entry.2).try_fold(0u32, u32::checked_add);
            let initial = initial.ok_or_else(|| format!("place {} holds too many tokens", place.name))?;
            flat.places.push(FlatPlace {
                of,
                token: print_token(place, token, &unfolding.evaluator),
                initial: if place.is_set { initial.min(1) } else { initial },
                is_set: place.is_set,
            });
        }
    }
    present.tokens.iter_mut().for_each(|tokens| tokens.sort_unstable());
    for transition in 0..net.transitions.len() {
        for mode in unfolding.modes(transition, &present)? {
            let arcs = unfolding.arcs(&mode, &present, &numbers)?;
            let label = unfolding.label(&mode);
            flat.transitions.push(FlatTransition { of: transition, label, arcs });
            if flat.transitions.len() > limits.transitions {
                return Err(format!("it has more than {} transitions", limits.transitions));
            }
        }
    }
    Ok(Unfolded { flat, tokens: counted })
}

struct Unfolding<'a> {
    net: &'a HighNet,
    limits: &'a UnfoldLimits,
    evaluator: Evaluator<'a>,
    bindings: usize,
}

impl Unfolding<'_> {
    /// The tokens that can ever be there.
    fn possible(&mut self) -> Result<Present, String> {
        let net = self.net;
        let mut present = Present { tokens: vec![Vec::new(); net.places.len()], unbounded: true };
        let mut changed = vec![true; net.places.len()];
        for &(place, token, count) in &net.initial {
            if count > 0 {
                self.add(&mut present, place, token)?;
            }
        }
        let mut first = true;
        while first || changed.contains(&true) {
            let mut changes = vec![false; net.places.len()];
            for (number, transition) in net.transitions.iter().enumerate() {
                let waits = transition
                    .arcs
                    .iter()
                    .any(|arc| matches!(arc.word, ArcWord::Take | ArcWord::Read) && changed[arc.place]);
                if !first && !waits {
                    continue;
                }
                for mode in self.modes(number, &present)? {
                    let effect = effect(net, &mut self.evaluator, &mode, &present)
                        .map_err(|error| format!("it may fail: {}", error.message))?;
                    for &(place, token, count) in &effect.puts {
                        if count > 0 && self.add(&mut present, place, token)? {
                            changes[place] = true;
                        }
                    }
                }
            }
            (changed, first) = (changes, false);
        }
        Ok(present)
    }

    fn add(&self, present: &mut Present, place: usize, token: u32) -> Result<bool, String> {
        let tokens = &mut present.tokens[place];
        let Err(at) = tokens.binary_search_by_key(&token, |&(token, _)| token) else { return Ok(false) };
        tokens.insert(at, (token, u32::MAX));
        if present.tokens.iter().map(Vec::len).sum::<usize>() > self.limits.places {
            return Err(format!("it has more than {} places", self.limits.places));
        }
        Ok(true)
    }

    /// The ways in which a transition may ever fire, in order.
    fn modes(&mut self, transition: usize, present: &Present) -> Result<Vec<Mode>, String> {
        let net = self.net;
        let mut all: Vec<Mode> = Vec::new();
        let left = self.limits.bindings.saturating_sub(self.bindings).min(self.limits.transitions);
        let mut failure = None;
        modes(net, transition, true, present, &mut self.evaluator, &mut |_, mode| {
            if let Some(error) = &mode.error {
                failure = Some(format!("it may fail: {}", error.message));
                return false;
            }
            // A set has one token of a value at most.
            let is_possible = mode
                .takes
                .iter()
                .chain(&mode.reads)
                .all(|&(place, _, count)| !net.places[place].is_set || count <= 1);
            if is_possible {
                all.push(mode);
            }
            all.len() <= left
        });
        self.bindings += all.len();
        if let Some(failure) = failure {
            return Err(failure);
        }
        if all.len() > left {
            return Err(format!("it has more than {left} ways to fire"));
        }
        all.sort_by(|a, b| compare_modes(net, &self.evaluator, a, b));
        all.dedup_by(|again, first| {
            (&again.binding, &again.takes, &again.reads) == (&first.binding, &first.takes, &first.reads)
        });
        Ok(all)
    }

    /// The arcs of a transition with its variables bound, by place.
    fn arcs(
        &mut self,
        mode: &Mode,
        present: &Present,
        numbers: &rustc_hash::FxHashMap<(usize, u32), usize>,
    ) -> Result<Vec<Arc>, String> {
        let net = self.net;
        let fails = |error: ModelError| format!("it may fail: {}", error.message);
        let effect = effect(net, &mut self.evaluator, mode, present).map_err(fails)?;
        let mut resets: Vec<usize> = effect.resets.iter().map(|key| numbers[key]).collect();
        resets.sort_unstable();
        resets.dedup();
        let mut arcs: Vec<Arc> = Vec::new();
        for &(place, token, count) in &mode.takes {
            arcs.push(Arc { place: numbers[&(place, token)], kind: ArcKind::Take(count) });
        }
        for &(place, token, count) in &mode.reads {
            arcs.push(Arc { place: numbers[&(place, token)], kind: ArcKind::Read(count) });
        }
        arcs.extend(self.inhibitors(mode, present, numbers)?);
        arcs.extend(resets.into_iter().map(|place| Arc { place, kind: ArcKind::Reset }));
        for &(place, token, count) in effect.puts.iter().filter(|put| put.2 > 0) {
            arcs.push(Arc { place: numbers[&(place, token)], kind: ArcKind::Put(count) });
        }
        Ok(arcs)
    }

    fn inhibitors(
        &mut self,
        mode: &Mode,
        present: &Present,
        numbers: &rustc_hash::FxHashMap<(usize, u32), usize>,
    ) -> Result<Vec<Arc>, String> {
        let net = self.net;
        let mut least: std::collections::BTreeMap<usize, u32> = Default::default();
        for arc in net.transitions[mode.transition].arcs.iter().filter(|arc| arc.word == ArcWord::Inhibit) {
            let tokens = concerned(&mut self.evaluator, arc, &mode.binding, &present.tokens[arc.place])
                .map_err(|error| format!("it may fail: {}", error.message))?;
            if arc.count > 1 && tokens.len() > 1 && !matches!(arc.tokens, Tokens::Plain) {
                return Err("an inhibitor arc counts tokens of several values together".to_owned());
            }
            for (token, _) in tokens {
                let entry = least.entry(numbers[&(arc.place, token)]).or_insert(arc.count);
                *entry = arc.count.min(*entry);
            }
        }
        Ok(least.into_iter().map(|(place, count)| Arc { place, kind: ArcKind::Inhibit(count) }).collect())
    }

    fn label(&self, mode: &Mode) -> String {
        let transition = &self.net.transitions[mode.transition];
        let mut text = transition.name.to_uppercase();
        for (variable, &value) in transition.variables.iter().zip(&mode.binding) {
            text.push_str(" !");
            text.push_str(&self.evaluator.print(variable.ty, value));
        }
        text
    }
}
