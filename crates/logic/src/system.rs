//! What formulas are evaluated on: a finished LTS, or a model explored as far as is needed.

use lts::{Edge, LabelId, Lts, OriginId, RowSet, StateId};
use model::{Model, ModelError, Slot, Worker};

/// Why a system gave no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    /// The model has a run-time error in a state.
    #[error("{error}")]
    Model {
        /// What is wrong.
        error: ModelError,
        /// The state in which it happens; unknown in the initial one.
        state: Option<StateId>,
    },
    /// More states than allowed.
    #[error("the limit of {0} states was reached")]
    States(usize),
    /// Whoever watches has asked to stop, or the time was up.
    #[error("the check was cancelled")]
    Cancelled,
}

/// A labelled transition system, seen from its states.
pub trait System {
    /// Where everything begins.
    fn initial(&mut self) -> Result<StateId, Stop>;
    /// The steps out of a state, no two equal.
    fn successors(&mut self, state: StateId) -> Result<&[Edge], Stop>;
    /// The text of a label.
    fn label(&self, label: LabelId) -> String;
    /// How many states have been seen.
    fn state_count(&self) -> usize;
    /// The values of a state, where it is one of a model.
    fn slots(&self, state: StateId) -> Option<Box<[Slot]>>;
    /// Where a step out of a state comes from, where that is known.
    fn origin(&mut self, source: StateId, edge: Edge) -> Option<OriginId>;
}

/// An LTS is a system of which everything is known.
impl System for &Lts {
    fn initial(&mut self) -> Result<StateId, Stop> {
        Ok(Lts::initial(self))
    }

    fn successors(&mut self, state: StateId) -> Result<&[Edge], Stop> {
        Ok(self.outgoing(state))
    }

    fn label(&self, label: LabelId) -> String {
        Lts::label(self, label).to_owned()
    }

    fn state_count(&self) -> usize {
        Lts::state_count(self)
    }

    fn slots(&self, _: StateId) -> Option<Box<[Slot]>> {
        None
    }

    fn origin(&mut self, source: StateId, edge: Edge) -> Option<OriginId> {
        let mut row = self.edge_range(source);
        row.find(|&at| self.edges()[at] == edge).and_then(|at| Lts::origin(self, at))
    }
}

/// A model explored on demand: states are numbered as they are seen, and the steps of each are computed once.
pub struct ModelSystem<'a> {
    model: &'a dyn Model,
    worker: Box<dyn Worker + 'a>,
    states: RowSet,
    /// The steps of each state as a range of `edges`; the first is past the second until they are known.
    rows: Vec<(u32, u32)>,
    edges: Vec<Edge>,
    max_states: usize,
}

const UNKNOWN: (u32, u32) = (1, 0);

impl<'a> ModelSystem<'a> {
    /// Nothing explored yet.
    pub fn new(model: &'a dyn Model, max_states: usize) -> Self {
        Self {
            model,
            worker: model.worker(),
            states: RowSet::default(),
            rows: Vec::new(),
            edges: Vec::new(),
            max_states: max_states.min(u32::MAX as usize - 1),
        }
    }

    /// The steps of a state, none if they have not been asked for.
    pub(crate) fn explored(&self, state: StateId) -> &[Edge] {
        match self.rows[state.index()] {
            UNKNOWN => &[],
            (start, end) => &self.edges[start as usize..end as usize],
        }
    }

    /// All labels of the model, sorted, if all of it was explored.
    pub(crate) fn all_labels(&self) -> Option<Vec<String>> {
        if self.rows.contains(&UNKNOWN) {
            return None;
        }
        let mut seen: Vec<bool> = Vec::new();
        for edge in &self.edges {
            let at = edge.label.index();
            if at >= seen.len() {
                seen.resize(at + 1, false);
            }
            seen[at] = true;
        }
        let labels = seen.iter().enumerate().filter(|(_, seen)| **seen);
        let mut texts: Vec<String> = labels.map(|(at, _)| self.model.label(LabelId::new(at))).collect();
        texts.sort();
        texts.dedup();
        Some(texts)
    }

    fn state(
        layout: &model::Layout,
        states: &mut RowSet,
        rows: &mut Vec<(u32, u32)>,
        packed: &mut [u32],
        state: &[Slot],
    ) -> Result<StateId, model::ModelError> {
        layout.pack(state, packed)?;
        let (number, new) = states.insert(packed);
        if new {
            rows.push(UNKNOWN);
        }
        Ok(StateId::new(number))
    }
}

impl System for ModelSystem<'_> {
    fn initial(&mut self) -> Result<StateId, Stop> {
        let state = self.model.initial().map_err(|error| Stop::Model { error, state: None })?;
        let layout = self.model.layout();
        let mut packed = vec![0; layout.words()];
        Self::state(layout, &mut self.states, &mut self.rows, &mut packed, &state)
            .map_err(|error| Stop::Model { error, state: None })
    }

    fn successors(&mut self, state: StateId) -> Result<&[Edge], Stop> {
        if self.rows[state.index()] == UNKNOWN {
            if self.states.len() > self.max_states {
                return Err(Stop::States(self.max_states));
            }
            let layout = self.model.layout();
            let mut slots = vec![0; layout.width()];
            layout.unpack(self.states.row(state.index()), &mut slots);
            let mut packed = vec![0; layout.words()];
            let start = self.edges.len();
            let (states, rows, edges) = (&mut self.states, &mut self.rows, &mut self.edges);
            let mut fits = Ok(());
            let result = self.worker.successors(&slots, &mut |step| match Self::state(
                layout,
                states,
                rows,
                &mut packed,
                step.target,
            ) {
                Ok(target) => edges.push(Edge { label: step.label, target }),
                Err(error) => fits = Err(error),
            });
            if let Err(error) = result.and(fits) {
                self.edges.truncate(start);
                return Err(Stop::Model { error, state: Some(state) });
            }
            // Equal steps are one; the order of the source stays, so that numbers do not depend on label ids.
            let row = self.edges.split_off(start);
            let mut seen = row.clone();
            seen.sort_unstable();
            seen.dedup();
            if seen.len() == row.len() {
                self.edges.extend(row);
            } else {
                for edge in row {
                    if let Ok(at) = seen.binary_search(&edge) {
                        seen.remove(at);
                        self.edges.push(edge);
                    }
                }
            }
            if self.edges.len() >= u32::MAX as usize {
                return Err(Stop::States(self.states.len()));
            }
            self.rows[state.index()] = (start as u32, self.edges.len() as u32);
        }
        let (start, end) = self.rows[state.index()];
        Ok(&self.edges[start as usize..end as usize])
    }

    fn label(&self, label: LabelId) -> String {
        self.model.label(label)
    }

    fn state_count(&self) -> usize {
        self.states.len()
    }

    fn slots(&self, state: StateId) -> Option<Box<[Slot]>> {
        let mut slots = vec![0; self.model.layout().width()];
        self.model.layout().unpack(self.states.row(state.index()), &mut slots);
        Some(slots.into())
    }

    /// Computed again from the state, since a run is short and origins of all steps would take room. Of equal steps
    /// with several origins it is the first.
    fn origin(&mut self, source: StateId, edge: Edge) -> Option<OriginId> {
        let layout = self.model.layout();
        let slots = self.slots(source)?;
        let mut packed = vec![0; layout.words()];
        let wanted = self.states.row(edge.target.index());
        let mut origin = None;
        let _ = self.worker.successors(&slots, &mut |step| {
            let fits = layout.pack(step.target, &mut packed).is_ok();
            if fits && origin.is_none() && step.label == edge.label && packed == wanted {
                origin = Some(step.origin);
            }
        });
        origin
    }
}
