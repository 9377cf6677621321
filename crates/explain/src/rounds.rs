//! The part of a system in which a run goes round for ever: how it is entered, and how it could be left.

use std::collections::BTreeSet;

use crate::graph::Node;
use crate::runs::Run;
use crate::tagged::{Step, Tagged};

/// A part in which a run can violate the property for ever.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Round {
    /// Its states.
    pub states: Vec<Node>,
    /// The steps that lead into it.
    pub entries: Vec<Step>,
    /// The steps that lead out of it.
    pub exits: Vec<Step>,
}

impl Tagged<'_> {
    /// The part in which an endless run goes round: every state of it can be reached from every other one without
    /// anything that would end the violation.
    pub fn round(&self, run: &Run) -> Option<Round> {
        let start = self.end(run).filter(|&end| run.lasso.is_some() && self.owes(end))?;
        let mut inside = BTreeSet::from([start]);
        let mut todo = vec![start];
        while let Some(node) = todo.pop() {
            let next = self.outgoing(node).filter_map(|step| self.target(step));
            todo.extend(next.filter(|&next| self.owes(next) && inside.insert(next)));
        }
        // Of those that can be reached, the ones that lead back.
        let mut back = BTreeSet::from([start]);
        let mut todo = vec![start];
        while let Some(node) = todo.pop() {
            let before = self.reverse.of(node).iter().copied();
            todo.extend(before.filter(|before| inside.contains(before) && back.insert(*before)));
        }
        let is_inside = |step: &Step| self.target(*step).is_some_and(|target| back.contains(&target));
        Some(Round {
            entries: self.steps().filter(|step| !back.contains(&step.source) && is_inside(step)).collect(),
            exits: back
                .iter()
                .flat_map(|&node| self.outgoing(node).filter(|step| !is_inside(step)))
                .collect(),
            states: back.into_iter().collect(),
        })
    }
}
