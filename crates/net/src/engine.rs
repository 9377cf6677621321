//! A place/transition net as a model: one slot for each place.
//!
//! Places get as many bits as their proven bounds need. The packed worker ([`packed`]) tests and fires transitions word
//! by word; [`FlatModel::worker`](Model::worker) does it place by place and is the naive twin.

mod concurrent;
mod packed;
pub(crate) mod rule;

use lts::{LabelId, OriginId};
use model::{
    Described, Gate, Layout, Mark, MarkKind, Model, ModelError, OfferType, PackedWorker, Provenance,
    SharedRows, Slot, StateReader, StateView, Step, Worker,
};
use rustc_hash::FxHashMap;

use crate::flat::{Flat, gate_name};
use crate::structure::bounds::bounds;
use packed::Words;
use rule::Rule;

/// A place/transition net that can be explored.
///
/// ```
/// use model::Model;
/// use net::{Arc, ArcKind, Flat, FlatModel};
///
/// // A token that goes from one place to another and back.
/// let flat = Flat::plain("swing", &[1, 0], &[
///     ("GO", vec![Arc { place: 0, kind: ArcKind::Take(1) }, Arc { place: 1, kind: ArcKind::Put(1) }]),
///     ("BACK", vec![Arc { place: 1, kind: ArcKind::Take(1) }, Arc { place: 0, kind: ArcKind::Put(1) }]),
/// ]);
/// let model = FlatModel::new(flat);
/// assert_eq!(model.enabled(&model.initial()?), [0]);
/// assert_eq!(model.bounds(), [Some(1), Some(1)]);
/// # Ok::<(), model::ModelError>(())
/// ```
pub struct FlatModel {
    flat: Flat,
    rules: Vec<Rule>,
    /// The most tokens of each place, where that is proven.
    bounds: Vec<Option<u64>>,
    layout: Layout,
    words: Words,
    /// The different labels of transitions.
    labels: Vec<String>,
    /// The label of each transition, as a position in `labels`.
    label_of: Vec<u32>,
    /// The origin of each transition.
    origin_of: Vec<OriginId>,
    provenance: Provenance,
    /// The most transitions that fire in one step.
    degree: usize,
    /// With concurrent steps: the labels of the transitions of a step, by the number of its label.
    sets: SharedRows,
}

impl FlatModel {
    /// The model of a net in which one transition fires at a time.
    pub fn new(flat: Flat) -> Self {
        Self::concurrent(flat, 1)
    }

    /// The model of a net in which up to `degree` different transitions fire in one step. They fire together where the
    /// tokens are enough for all of them, and none takes away what another one reads.
    pub fn concurrent(flat: Flat, degree: usize) -> Self {
        let rules = Rule::all(&flat);
        let bounds = bounds(&flat, &rules, degree > 1);
        let bits: Vec<u32> = bounds
            .iter()
            .map(|bound| bound.map_or(32, |bound| (u64::BITS - bound.leading_zeros()).min(32)))
            .collect();
        let layout = Layout::new(&bits);
        let mut words = Words::new(&rules, &layout);
        let (labels, label_of) = distinct(flat.transitions.iter().map(|transition| &*transition.label));
        let marks = flat.source_transitions.iter().map(|transition| Mark {
            kind: MarkKind::Action,
            span: transition.span,
            process: flat.components[transition.component].name.clone(),
        });
        let provenance = Provenance::new(marks.collect());
        let origins = provenance.origins();
        let mark_origins: Vec<OriginId> = (0..flat.source_transitions.len())
            .map(|mark| OriginId::from_raw(origins.intern(&[mark as u32])))
            .collect();
        let origin_of: Vec<OriginId> =
            flat.transitions.iter().map(|transition| mark_origins[transition.of]).collect();
        words.name(|transition| LabelId::from_raw(label_of[transition] + 1), &origin_of);
        // Short rows have consecutive numbers: a label's number is that of the set with this label alone, and 1.
        let sets = SharedRows::new();
        sets.intern(&[]);
        for label in 0..labels.len() as u32 {
            sets.intern(&[label]);
        }
        let degree = degree.max(1);
        Self { flat, rules, bounds, layout, words, labels, label_of, origin_of, provenance, degree, sets }
    }

    /// The net.
    pub fn flat(&self) -> &Flat {
        &self.flat
    }

    /// The most tokens that each place can have in any marking, where its structure proves it.
    pub fn bounds(&self) -> &[Option<u64>] {
        &self.bounds
    }

    /// The transitions that can fire in a state.
    pub fn enabled(&self, state: &[Slot]) -> Vec<usize> {
        (0..self.rules.len()).filter(|&transition| self.rules[transition].is_enabled(state)).collect()
    }

    /// The state after one transition fires, which must be enabled.
    pub fn fire(&self, transition: usize, state: &[Slot]) -> Result<Vec<Slot>, ModelError> {
        let mut after = state.to_vec();
        let fired = self.rules[transition].fire(state, &mut after);
        fired.map_err(|place| self.too_many(place, self.label_id(transition)))?;
        Ok(after)
    }

    /// The transitions that lead from one state to another when they fire alone.
    pub fn leading(&self, source: &[Slot], target: &[Slot]) -> Vec<usize> {
        let mut after = vec![0; source.len()];
        let mut leads = |rule: &Rule| rule.fire(source, &mut after).is_ok() && after == target;
        let enabled = self.enabled(source).into_iter();
        enabled.filter(|&transition| leads(&self.rules[transition])).collect()
    }

    pub(crate) fn rules(&self) -> &[Rule] {
        &self.rules
    }

    fn label_id(&self, transition: usize) -> LabelId {
        LabelId::from_raw(self.label_of[transition] + 1)
    }

    #[cold]
    fn too_many(&self, place: usize, during: LabelId) -> ModelError {
        let source = &self.flat.source_places[self.flat.places[place].of];
        ModelError {
            message: format!("the place {} would hold more than {} tokens", source.name, u32::MAX),
            span: Some(source.span),
            help: Some("the net seems to be unbounded".into()),
            during: Some(during),
        }
    }
}

/// The different texts in order of first use, and the number of each.
fn distinct<'a>(texts: impl Iterator<Item = &'a str>) -> (Vec<String>, Vec<u32>) {
    let mut numbers: FxHashMap<&str, u32> = FxHashMap::default();
    let mut all = Vec::new();
    let of = texts
        .map(|text| {
            *numbers.entry(text).or_insert_with(|| {
                all.push(text.to_owned());
                all.len() as u32 - 1
            })
        })
        .collect();
    (all, of)
}

impl Model for FlatModel {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn initial(&self) -> Result<Vec<Slot>, ModelError> {
        let tokens =
            |place: &crate::FlatPlace| if place.is_set { place.initial.min(1) } else { place.initial };
        Ok(self.flat.places.iter().map(tokens).collect())
    }

    fn worker(&self) -> Box<dyn Worker + '_> {
        if self.degree > 1 {
            return Box::new(concurrent::Sets::new(self));
        }
        Box::new(Single { model: self, target: vec![0; self.flat.places.len()] })
    }

    fn packed_worker(&self) -> Box<dyn PackedWorker + '_> {
        if self.degree > 1 {
            return Box::new(model::Packing::new(self.worker(), &self.layout));
        }
        Box::new(packed::Packed::new(self))
    }

    fn label(&self, label: LabelId) -> String {
        if label.is_tau() {
            return lts::TAU_TEXT.to_owned();
        }
        if self.degree == 1 {
            return self.labels[label.index() - 1].clone();
        }
        let members = self.sets.row(label.raw());
        let texts: Vec<&str> = members.iter().map(|&member| &*self.labels[member as usize]).collect();
        texts.join(" | ")
    }

    fn describe(&self, state: &[Slot]) -> StateView {
        let mut tokens: Vec<Vec<(usize, u32)>> = vec![Vec::new(); self.flat.source_places.len()];
        for (number, place) in self.flat.places.iter().enumerate() {
            tokens[place.of].push((number, state[number]));
        }
        let values = self.flat.source_places.iter().zip(tokens).map(|(place, tokens)| {
            let value = if place.is_plain {
                tokens.iter().map(|&(_, count)| u64::from(count)).sum::<u64>().to_string()
            } else {
                self.multiset(&tokens)
            };
            (place.name.clone(), value)
        });
        StateView { values: values.collect() }
    }

    fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    fn bytes(&self) -> usize {
        self.sets.bytes() + self.provenance.bytes()
    }

    fn observables(&self) -> Option<Vec<String>> {
        Some(self.flat.source_places.iter().map(|place| place.name.clone()).collect())
    }

    fn reader(&self) -> Option<Box<dyn StateReader + '_>> {
        Some(Box::new(Markings(self)))
    }

    /// Those of all transitions, also of such that can never fire.
    fn visible_gates(&self) -> Option<Vec<Gate>> {
        let mut gates: Vec<Gate> = (self.flat.source_transitions.iter())
            .map(|transition| Gate { name: gate_name(&transition.name), profiles: Vec::new() })
            .collect();
        for transition in &self.flat.transitions {
            let profile = vec![OfferType::Other; lts::offers(&transition.label).len()];
            let gate = &mut gates[transition.of];
            if !gate.profiles.contains(&profile) {
                gate.profiles.push(profile);
            }
        }
        Some(gates)
    }
}

impl FlatModel {
    fn multiset(&self, tokens: &[(usize, u32)]) -> String {
        let values = tokens.iter().filter(|&&(_, count)| count > 0).map(|&(place, count)| {
            let token = &self.flat.places[place].token;
            if count == 1 { token.clone() } else { format!("{count} * {token}") }
        });
        format!("{{{}}}", values.collect::<Vec<String>>().join(", "))
    }
}

/// Markings that are written down: the number of tokens of each place, or `{a, 2 * b}`.
struct Markings<'m>(&'m FlatModel);

impl StateReader for Markings<'_> {
    fn read(&mut self, text: &str) -> Result<Vec<Slot>, String> {
        Described(self.0).read(text)
    }

    fn assemble(&mut self, values: &[(String, String)]) -> Result<Option<Vec<Slot>>, String> {
        let flat = &self.0.flat;
        let mut state = vec![0; flat.places.len()];
        for (of, place) in flat.source_places.iter().enumerate() {
            let Some((_, text)) = values.iter().find(|(name, _)| *name == place.name) else {
                return Ok(None);
            };
            let mut copies = (0..flat.places.len()).filter(|&number| flat.places[number].of == of);
            if place.is_plain {
                let Some(only) = copies.next().filter(|_| copies.next().is_none()) else { return Ok(None) };
                let count = text.trim().parse();
                state[only] =
                    count.map_err(|_| format!("`{text}` is no number of tokens of `{}`", place.name))?;
                continue;
            }
            let copies: Vec<usize> = copies.collect();
            for (count, token) in tokens_of(text) {
                let Some(&number) = copies.iter().find(|&&number| flat.places[number].token == token) else {
                    // A token that no run puts there may be a value all the same.
                    return Ok(None);
                };
                state[number] += count;
            }
        }
        Ok(Some(state))
    }

    fn write(&mut self, state: &[Slot]) -> String {
        Described(self.0).write(state)
    }
}

/// The tokens of a multiset that is written as `{a, 2 * b}`, each with its number.
fn tokens_of(text: &str) -> Vec<(u32, String)> {
    let inner = text.trim().strip_prefix('{').and_then(|text| text.strip_suffix('}')).unwrap_or(text);
    let (mut tokens, mut depth, mut quoted, mut start) = (Vec::new(), 0i32, false, 0);
    let mut add = |token: &str| {
        let token = token.trim();
        let counted = token.split_once(" * ").and_then(|(count, rest)| Some((count.parse().ok()?, rest)));
        let (count, token) = counted.unwrap_or((1, token));
        if !token.is_empty() {
            tokens.push((count, token.to_owned()));
        }
    };
    for (at, letter) in inner.char_indices() {
        match letter {
            '"' => quoted = !quoted,
            '(' | '{' | '[' if !quoted => depth += 1,
            ')' | '}' | ']' if !quoted => depth -= 1,
            ',' if !quoted && depth == 0 => {
                add(&inner[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    add(&inner[start..]);
    tokens
}

/// One transition at a time, place by place.
struct Single<'m> {
    model: &'m FlatModel,
    target: Vec<Slot>,
}

impl Worker for Single<'_> {
    fn successors(&mut self, state: &[Slot], emit: &mut dyn FnMut(Step<'_>)) -> Result<(), ModelError> {
        let Self { model, target } = self;
        for (number, rule) in model.rules.iter().enumerate().filter(|(_, rule)| rule.is_enabled(state)) {
            let label = model.label_id(number);
            rule.fire(state, target).map_err(|place| model.too_many(place, label))?;
            emit(Step { label, target, origin: model.origin_of[number] });
        }
        Ok(())
    }
}
