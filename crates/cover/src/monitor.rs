//! Watches a run while it grows, and knows when a criterion is met.

use std::collections::{BTreeSet, VecDeque};

use explore::{Limits, WalkStep};
use lts::Progress;
use model::{Model, ModelError, Slot};

use crate::behaviour::{
    Behaviour, CantMeasure, Names, View, abstract_states, check_states, is_about_steps, letter,
};

/// Watches a run for a criterion.
pub struct Monitor {
    criterion: Behaviour,
    names: Names,
    /// What is feasible, and not yet seen.
    open: BTreeSet<Vec<u32>>,
    total: usize,
    /// Whether everything was explored to find out what is feasible.
    complete: bool,
    /// The letters of the last steps or states.
    recent: VecDeque<Vec<u32>>,
    steps: usize,
    /// After how many steps it was met.
    met_after: Option<usize>,
}

impl Monitor {
    /// Explores the model to find out what is feasible; with a limit, only so much of it.
    pub fn new(
        criterion: &Behaviour,
        model: &dyn Model,
        limits: &Limits,
        progress: &Progress,
    ) -> Result<Self, CantMeasure> {
        check_states(criterion, model)?;
        if let Behaviour::Items(name) = criterion {
            return Err(CantMeasure::Nothing(format!(
                "`{name}` can't be watched while a run grows; there are transitions, traces:K:L, sequences:L, states, \
                 state-transitions and state-paths:K"
            )));
        }
        let limits = Limits { transitions: true, ..limits.clone() };
        let found = explore::explore(model, &limits, progress);
        let mut names = Names::default();
        let open = View::of_all(criterion, model, &found, &mut names)?.words(criterion)?;
        let (total, complete) = (open.len(), found.outcome.is_complete());
        let criterion = criterion.clone();
        Ok(Self {
            criterion,
            names,
            total,
            open,
            complete,
            recent: VecDeque::new(),
            steps: 0,
            met_after: None,
        })
    }

    /// Looks at the first state.
    pub fn start(&mut self, model: &dyn Model, state: &[Slot]) -> Result<(), ModelError> {
        if !is_about_steps(&self.criterion) {
            self.pass(model, state)?;
        }
        self.note();
        Ok(())
    }

    /// Looks at a step.
    pub fn step(&mut self, model: &dyn Model, step: &WalkStep) -> Result<(), ModelError> {
        self.steps += 1;
        if is_about_steps(&self.criterion) {
            let letter = letter(&model.label(step.label), &self.criterion);
            let number = self.names.number(letter);
            self.recent.push_back(vec![number]);
        } else {
            self.pass(model, &step.target)?;
        }
        self.note();
        Ok(())
    }

    fn pass(&mut self, model: &dyn Model, state: &[Slot]) -> Result<(), ModelError> {
        let letters = abstract_states(model, std::iter::once(state), &mut self.names);
        let letters = letters.map_err(|error| ModelError {
            message: error.to_string(),
            span: None,
            help: None,
            during: None,
        })?;
        self.recent.extend(letters);
        Ok(())
    }

    /// Strikes out what the run has just shown: words that end here.
    fn note(&mut self) {
        let longest = match self.criterion {
            Behaviour::Transitions | Behaviour::States | Behaviour::Items(_) => 1,
            Behaviour::StateTransitions => 2,
            Behaviour::Traces { length, .. }
            | Behaviour::Sequences { length }
            | Behaviour::StatePaths { length } => length,
        };
        while self.recent.len() > longest {
            self.recent.pop_front();
        }
        let mut words: Vec<Vec<u32>> = vec![Vec::new()];
        for letters in self.recent.iter().rev() {
            words = words
                .iter()
                .flat_map(|word| letters.iter().map(|&letter| [&[letter], &word[..]].concat()))
                .collect();
            words.iter().for_each(|word| {
                self.open.remove(word);
            });
        }
        if self.open.is_empty() && self.met_after.is_none() {
            self.met_after = Some(self.steps);
        }
    }

    /// Whether everything that is feasible was seen.
    pub fn is_met(&self) -> bool {
        self.met_after.is_some()
    }

    /// The criterion.
    pub fn criterion(&self) -> &Behaviour {
        &self.criterion
    }

    /// How many items are feasible, as far as that is known.
    pub fn total(&self) -> usize {
        self.total
    }

    /// How many of them were seen.
    pub fn covered(&self) -> usize {
        self.total - self.open.len()
    }

    /// After how many steps everything was seen.
    pub fn met_after(&self) -> Option<usize> {
        self.met_after
    }

    /// Whether what is feasible is known for certain.
    pub fn is_complete(&self) -> bool {
        self.complete
    }
}
