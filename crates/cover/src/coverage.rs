//! Which blocks, decision outcomes and actions were exercised (Salaün and Ye 2015, definitions 3, 4, 9 and 10).

use model::CoverageMap;
use serde::{Deserialize, Serialize};
use source::Span;

use crate::specification::Places;

/// What one example, or several together, have exercised of a specification.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coverage {
    /// For each block, whether it was executed.
    pub blocks: Vec<bool>,
    /// For each decision, which outcomes were evaluated.
    pub decisions: Vec<Outcomes>,
    /// For each action instance, whether it happened.
    pub actions: Vec<bool>,
}

/// The outcomes of a decision that were evaluated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcomes {
    /// The true outcome.
    pub yes: bool,
    /// The false outcome.
    pub no: bool,
}

impl Outcomes {
    /// Whether an outcome was evaluated.
    pub fn has(self, outcome: bool) -> bool {
        if outcome { self.yes } else { self.no }
    }
}

/// How many there are, and how many are covered (definition 4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Ratio {
    /// All.
    pub total: usize,
    /// Covered ones.
    pub covered: usize,
}

impl Ratio {
    /// The percentage; none where there is nothing to cover.
    pub fn percent(self) -> Option<f64> {
        (self.total > 0).then(|| 100.0 * self.covered as f64 / self.total as f64)
    }
}

impl Coverage {
    /// Nothing exercised.
    pub fn none(map: &CoverageMap) -> Self {
        Self {
            blocks: vec![false; map.blocks.len()],
            decisions: vec![Outcomes::default(); map.decisions.len()],
            actions: vec![false; map.actions.len()],
        }
    }

    /// Adds what another example has exercised.
    pub fn add(&mut self, other: &Coverage) {
        for (own, &other) in self.blocks.iter_mut().zip(&other.blocks) {
            *own |= other;
        }
        for (own, other) in self.decisions.iter_mut().zip(&other.decisions) {
            own.yes |= other.yes;
            own.no |= other.no;
        }
        for (own, &other) in self.actions.iter_mut().zip(&other.actions) {
            *own |= other;
        }
    }

    /// The coverage of an example in terms of the specification.
    pub(crate) fn placed(&self, places: &Places, map: &CoverageMap) -> Self {
        let mut placed = Self::none(map);
        for (&covered, place) in self.blocks.iter().zip(&places.blocks) {
            place.iter().for_each(|&place| placed.blocks[place] |= covered);
        }
        for (&outcomes, place) in self.decisions.iter().zip(&places.decisions) {
            place.iter().for_each(|&place| placed.decisions[place] = outcomes);
        }
        for (&covered, place) in self.actions.iter().zip(&places.actions) {
            place.iter().for_each(|&place| placed.actions[place] |= covered);
        }
        placed
    }

    /// Whether a decision is covered: both outcomes were evaluated (definition 3). The last branch of a complete
    /// `case` has no false outcome: being tried, it is taken.
    pub fn decision(&self, map: &CoverageMap, decision: usize) -> bool {
        let outcomes = self.decisions[decision];
        outcomes.yes && (outcomes.no || map.decisions[decision].always_true)
    }

    /// Block coverage.
    pub fn block_ratio(&self) -> Ratio {
        Ratio { total: self.blocks.len(), covered: self.blocks.iter().filter(|&&covered| covered).count() }
    }

    /// Decision coverage.
    pub fn decision_ratio(&self, map: &CoverageMap) -> Ratio {
        let covered = (0..self.decisions.len()).filter(|&decision| self.decision(map, decision)).count();
        Ratio { total: self.decisions.len(), covered }
    }

    /// Action coverage.
    pub fn action_ratio(&self) -> Ratio {
        Ratio { total: self.actions.len(), covered: self.actions.iter().filter(|&&covered| covered).count() }
    }

    /// Whether a block is executable: every outcome that it depends on was evaluated (definition 9).
    pub fn is_executable(&self, map: &CoverageMap, block: usize) -> bool {
        map.blocks[block].depends.iter().all(|one| self.decisions[one.decision].has(one.outcome))
    }

    /// Whether a block is partially covered: executable and not covered (definition 10).
    pub fn is_partially_covered(&self, map: &CoverageMap, block: usize) -> bool {
        !self.blocks[block] && self.is_executable(map, block)
    }

    /// Everything that is covered, numbered: blocks, true outcomes, false outcomes, actions.
    pub(crate) fn items(&self) -> Vec<bool> {
        let yes = self.decisions.iter().map(|outcomes| outcomes.yes);
        let no = self.decisions.iter().map(|outcomes| outcomes.no);
        self.blocks.iter().copied().chain(yes).chain(no).chain(self.actions.iter().copied()).collect()
    }
}

/// One thing that an example can exercise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Item {
    /// A block.
    Block(usize),
    /// An outcome of a decision.
    Outcome(usize, bool),
    /// An action instance.
    Action(usize),
}

impl Item {
    /// Where it stands, and in which process.
    pub fn place(self, map: &CoverageMap) -> (Span, usize) {
        match self {
            Item::Block(block) => (map.blocks[block].span, map.blocks[block].process),
            Item::Outcome(decision, _) => (map.decisions[decision].span, map.decisions[decision].process),
            Item::Action(action) => (map.actions[action].span, map.actions[action].process),
        }
    }
}

/// What a position of [`Coverage::items`] stands for.
pub(crate) fn item(map: &CoverageMap, position: usize) -> Item {
    let (blocks, decisions) = (map.blocks.len(), map.decisions.len());
    match position {
        _ if position < blocks => Item::Block(position),
        _ if position < blocks + decisions => Item::Outcome(position - blocks, true),
        _ if position < blocks + 2 * decisions => Item::Outcome(position - blocks - decisions, false),
        _ => Item::Action(position - blocks - 2 * decisions),
    }
}
