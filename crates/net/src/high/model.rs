//! A predicate/transition net as a [`Model`]: one slot for each place.
//!
//! A slot holds the number of an interned multiset of tokens; where tokens have no value, how many there are.

use lts::LabelId;
use model::{
    Gate, Layout, Mark, MarkKind, Model, ModelError, OfferType, Proposition, Provenance, SharedRows, Slot,
    StateView, Worker,
};
use source::Span;

use super::fire::{add, too_many};
use super::inspect::Inspector;
use super::net::{HighNet, Place};
use super::worker::HighWorker;

/// A net, ready to be explored.
///
/// ```
/// use explore::{Limits, explore};
///
/// let text = "net COUNT is
///    type DIGIT is range 0 .. 2 of nat with \"==\", \"<\" end type
///    place At : DIGIT
///    transition Up (n, m : DIGIT)
///       take At (n) where (n < 2) and (m == DIGIT (nat (n) + 1)) put At (m)
///    end transition
///    marking ZERO is At (0) end marking
/// end net";
/// let mut sources = source::Sources::new();
/// let net = net::load_net("count.net", text, None, &[], &mut sources).unwrap();
/// let model = net::HighModel::new(net);
/// let found = explore(&model, &Limits::default(), &lts::Progress::new());
/// assert_eq!((found.states(), found.lts.transition_count()), (3, 2));
/// ```
pub struct HighModel {
    pub(super) net: HighNet,
    /// How many transitions fire together at most.
    pub(super) degree: usize,
    layout: Layout,
    pub(super) multisets: SharedRows,
    /// Labels as rows: for each member the transition and the values of its variables.
    pub(super) labels: SharedRows,
    pub(super) provenance: Provenance,
    /// For each transition the mark of its firing, before the marks of its guards' outcomes.
    pub(super) action_marks: Vec<u32>,
    initial: Result<Vec<Slot>, ModelError>,
    propositions: Vec<Proposition>,
}

impl HighModel {
    /// A model in which one transition fires at a time.
    pub fn new(net: HighNet) -> Self {
        let mut marks = Vec::new();
        let mut action_marks = Vec::new();
        for transition in &net.transitions {
            action_marks.push(marks.len() as u32);
            let process = net.components.get(transition.component).map_or("", |component| &component.name);
            let mut add = |kind, span: Span| marks.push(Mark { kind, span, process: process.to_owned() });
            add(MarkKind::Action, transition.span);
            for guard in &transition.guards {
                add(MarkKind::Decision(true), guard.span);
                add(MarkKind::Decision(false), guard.span);
            }
        }
        let multisets = SharedRows::new();
        multisets.intern(&[]);
        let mut model = Self {
            degree: 1,
            layout: Layout::new(&vec![32; net.places.len()]),
            multisets,
            labels: SharedRows::new(),
            provenance: Provenance::new(marks),
            action_marks,
            initial: Ok(Vec::new()),
            propositions: net.propositions(),
            net,
        };
        model.initial = model.initial_state();
        model
    }

    /// The same with steps in which up to `degree` transitions fire together.
    pub fn concurrent(mut self, degree: usize) -> Self {
        self.degree = degree.max(1);
        self
    }

    /// The net.
    pub fn net(&self) -> &HighNet {
        &self.net
    }

    /// How many tokens each place has.
    pub fn token_counts(&self, state: &[Slot]) -> Vec<u32> {
        let count = |(place, &slot): (&Place, &Slot)| match place.is_plain() {
            true => slot,
            false => {
                let row = self.multisets.row(slot);
                row.chunks_exact(2).fold(0u32, |sum, pair| sum.saturating_add(pair[1]))
            }
        };
        self.net.places.iter().zip(state).map(count).collect()
    }

    /// Looks into markings, on one thread.
    pub fn inspector(&self) -> Inspector<'_> {
        Inspector::new(self)
    }

    fn initial_state(&self) -> Result<Vec<Slot>, ModelError> {
        let mut tokens: Vec<Vec<(u32, u32)>> = vec![Vec::new(); self.net.places.len()];
        for &(place, token, count) in self.net.initial.iter().filter(|(_, _, count)| *count > 0) {
            add(&mut tokens[place], token, count).ok_or_else(|| too_many(&self.net, place))?;
        }
        let mut worker = HighWorker::new(self);
        let mut state = Vec::new();
        for (place, mut tokens) in tokens.into_iter().enumerate() {
            if self.net.places[place].is_set {
                tokens.iter_mut().for_each(|entry| entry.1 = 1);
            }
            state.push(worker.slot(place, &tokens));
        }
        Ok(state)
    }
}

impl Model for HighModel {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn initial(&self) -> Result<Vec<Slot>, ModelError> {
        self.initial.clone()
    }

    fn worker(&self) -> Box<dyn Worker + '_> {
        Box::new(HighWorker::new(self))
    }

    fn label(&self, label: LabelId) -> String {
        let Some(number) = label.raw().checked_sub(1) else { return lts::TAU_TEXT.to_owned() };
        let print = self.net.data.printer();
        let row = self.labels.row(number);
        let mut rest = row.as_slice();
        let mut members = Vec::new();
        while let Some((&transition, behind)) = rest.split_first() {
            let transition = &self.net.transitions[transition as usize];
            let mut text = transition.name.to_uppercase();
            let (values, next) = behind.split_at(transition.variables.len().min(behind.len()));
            for (variable, &value) in transition.variables.iter().zip(values) {
                text.push_str(" !");
                text.push_str(&print(variable.ty, value));
            }
            members.push(text);
            rest = next;
        }
        members.join(" | ")
    }

    fn describe(&self, state: &[Slot]) -> StateView {
        let mut inspector = self.inspector();
        let values = self.net.places.iter().zip(inspector.tokens(state));
        StateView { values: values.map(|(place, text)| (place.name.clone(), text)).collect() }
    }

    fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    fn bytes(&self) -> usize {
        self.multisets.bytes() + self.labels.bytes() + self.provenance.bytes()
    }

    fn observables(&self) -> Option<Vec<String>> {
        Some(self.net.places.iter().map(|place| place.name.clone()).collect())
    }

    fn visible_gates(&self) -> Option<Vec<Gate>> {
        // Steps of several transitions have no gates of their own.
        if self.degree > 1 {
            return None;
        }
        let mut gates: Vec<Gate> = Vec::new();
        for transition in &self.net.transitions {
            let name = transition.name.to_uppercase();
            let offers = transition.variables.iter().map(|variable| self.net.data.offer_type(variable.ty));
            let profile: Vec<OfferType> = offers.collect();
            match gates.iter_mut().find(|gate| gate.name == name) {
                Some(gate) if gate.profiles.contains(&profile) => {}
                Some(gate) => gate.profiles.push(profile),
                None => gates.push(Gate { name, profiles: vec![profile] }),
            }
        }
        Some(gates)
    }

    fn types(&self) -> Option<Vec<String>> {
        let variables = self.net.transitions.iter().flat_map(|transition| &transition.variables);
        let mut names: Vec<String> =
            variables.map(|variable| self.net.data.type_name(variable.ty).to_owned()).collect();
        names.sort();
        names.dedup();
        Some(names)
    }

    fn propositions(&self) -> &[Proposition] {
        &self.propositions
    }

    /// For many questions, ask an [`Inspector`].
    fn holds(&self, proposition: usize, state: &[Slot]) -> Result<bool, ModelError> {
        self.inspector().holds(proposition, state)
    }
}

impl Place {
    /// Whether its tokens have no values.
    pub fn is_plain(&self) -> bool {
        self.sorts.is_empty()
    }
}
