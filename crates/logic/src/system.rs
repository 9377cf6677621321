//! What formulas are evaluated on: a finished LTS, or a model explored as far as is needed.

use lts::{Edge, LabelId, Lts, OriginId, RowSet, StateId};
use model::{Model, ModelError, PackedWorker, Slot};

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

/// A model explored on demand: states are packed and numbered as they are seen, and the steps of each are computed once.
pub struct ModelSystem<'a> {
    model: &'a dyn Model,
    worker: Box<dyn PackedWorker + 'a>,
    states: RowSet,
    /// The steps of each state as a range of `edges`; the first is past the second until they are known.
    rows: Vec<(u32, u32)>,
    edges: Vec<Edge>,
    max_states: usize,
    /// The state whose steps are computed: its vector, and a copy of its steps to sort.
    state: Vec<u32>,
    sorted: Vec<Edge>,
}

const UNKNOWN: (u32, u32) = (1, 0);

impl<'a> ModelSystem<'a> {
    /// Nothing explored yet.
    pub fn new(model: &'a dyn Model, max_states: usize) -> Self {
        Self {
            model,
            worker: model.packed_worker(),
            states: RowSet::default(),
            rows: Vec::new(),
            edges: Vec::new(),
            max_states: max_states.min(u32::MAX as usize - 1),
            state: Vec::new(),
            sorted: Vec::new(),
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

    /// Computes the steps of a state. Equal ones are one; the order of the source stays, so that numbers do not depend on
    /// label ids.
    fn compute(&mut self, state: StateId) -> Result<(), Stop> {
        if self.states.len() > self.max_states {
            return Err(Stop::States(self.max_states));
        }
        let Self { worker, states, rows, edges, state: packed, sorted, .. } = self;
        packed.clear();
        packed.extend_from_slice(states.row(state.index()));
        let start = edges.len();
        let result = worker.successors(packed, &mut |step| {
            let (number, new) = states.insert(step.target);
            if new {
                rows.push(UNKNOWN);
            }
            edges.push(Edge { label: step.label, target: StateId::new(number) });
        });
        if let Err(error) = result {
            edges.truncate(start);
            return Err(Stop::Model { error, state: Some(state) });
        }
        sorted.clear();
        sorted.extend_from_slice(&edges[start..]);
        sorted.sort_unstable();
        sorted.dedup();
        if sorted.len() < edges.len() - start {
            // The first of equal steps takes their place away.
            let mut kept = start;
            for at in start..edges.len() {
                if let Ok(place) = sorted.binary_search(&edges[at]) {
                    sorted.remove(place);
                    edges[kept] = edges[at];
                    kept += 1;
                }
            }
            edges.truncate(kept);
        }
        if edges.len() >= u32::MAX as usize {
            return Err(Stop::States(states.len()));
        }
        rows[state.index()] = (start as u32, edges.len() as u32);
        Ok(())
    }
}

impl System for ModelSystem<'_> {
    fn initial(&mut self) -> Result<StateId, Stop> {
        let layout = self.model.layout();
        let mut packed = vec![0; layout.words()];
        let initial = self.model.initial().and_then(|state| layout.pack(&state, &mut packed));
        initial.map_err(|error| Stop::Model { error, state: None })?;
        let (number, new) = self.states.insert(&packed);
        if new {
            self.rows.push(UNKNOWN);
        }
        Ok(StateId::new(number))
    }

    fn successors(&mut self, state: StateId) -> Result<&[Edge], Stop> {
        if self.rows[state.index()] == UNKNOWN {
            self.compute(state)?;
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
        let Self { worker, states, .. } = self;
        let wanted = states.row(edge.target.index());
        let mut origin = None;
        let _ = worker.successors(states.row(source.index()), &mut |step| {
            if origin.is_none() && step.label == edge.label && step.target == wanted {
                origin = Some(step.origin);
            }
        });
        origin
    }
}
