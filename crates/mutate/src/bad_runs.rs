//! Runs that violate a property in whatever model has them: to look for them takes less than to explore a model.
//!
//! They come from models that were explored in vain, as in counterexample-guided synthesis (A. Solar-Lezama et al.,
//! "Combinatorial sketching for finite programs", 2006). They are kept as a tree, so that what they have in common is followed once.

use logic::{Explanation, Property, Verdict};
use lts::{Lts, StateId};
use model::{Model, Slot, Worker};
use rustc_hash::{FxHashMap, FxHashSet};

/// How many states a run is followed through at once, those that are most like its own: many steps look alike where labels are
/// hidden.
const MOST_ALIKE: usize = 8;
/// How often an endless run is followed round its cycle.
const MOST_ROUNDS: usize = 24;

type States = FxHashSet<Vec<Slot>>;

/// A run that violates a property wherever it is possible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BadRun {
    /// What happens, and the state after it in the model that the run comes from.
    steps: Vec<(String, Vec<Slot>)>,
    end: End,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum End {
    /// Its steps are enough.
    Anything,
    /// It violates the property where there is no next step.
    Stuck,
    /// These labels again and again.
    Cycle(Vec<String>),
}

impl BadRun {
    /// The run of a verdict that is not expected, where every model that has the run violates the property.
    pub(crate) fn of(
        property: &Property,
        verdict: &Verdict,
        system: &Lts,
        state: &dyn Fn(StateId) -> Vec<Slot>,
    ) -> Option<Self> {
        if !property.expected || verdict.holds || !logic::is_violated_by_runs(&property.formula) {
            return None;
        }
        let known = |steps: &[logic::Step]| {
            steps.iter().map(|step| (step.label.clone(), state(step.target))).collect()
        };
        match verdict.explanation.as_ref()? {
            Explanation::Trace(steps) => {
                let last = steps.last().map_or(system.initial(), |step| step.target);
                let end = if logic::is_violated_by_steps(&property.formula) {
                    End::Anything
                } else if system.outgoing(last).is_empty() {
                    End::Stuck
                } else {
                    return None;
                };
                Some(Self { steps: known(steps), end })
            }
            Explanation::Lasso { prefix, cycle } => {
                let awaits = logic::inevitability(&property.formula).is_some()
                    || logic::response(&property.formula).is_some();
                let cycle = cycle.iter().map(|step| step.label.clone()).collect();
                awaits.then(|| Self { steps: known(prefix), end: End::Cycle(cycle) })
            }
            Explanation::SubSystem(_) => None,
        }
    }
}

/// Bad runs, by what they begin with.
#[derive(Default)]
pub(crate) struct BadRuns {
    nodes: Vec<Node>,
}

#[derive(Default)]
struct Node {
    /// What the state was there.
    state: Vec<Slot>,
    next: Vec<(String, usize)>,
    ends: Vec<End>,
}

impl BadRuns {
    pub(crate) fn add(&mut self, run: BadRun) {
        if self.nodes.is_empty() {
            self.nodes.push(Node::default());
        }
        let mut at = 0;
        for (label, state) in run.steps {
            at = match self.nodes[at].next.iter().find(|(known, _)| *known == label) {
                Some(&(_, next)) => next,
                None => {
                    self.nodes.push(Node { state, ..Node::default() });
                    let next = self.nodes.len() - 1;
                    self.nodes[at].next.push((label, next));
                    next
                }
            };
        }
        if !self.nodes[at].ends.contains(&run.end) {
            self.nodes[at].ends.push(run.end);
        }
    }

    /// Whether a model has one of them, as far as that is seen in about `most` states, and how many were looked at.
    pub(crate) fn found_in(&self, model: &dyn Model, most: usize) -> (bool, usize) {
        let Ok(initial) = model.initial() else { return (false, 0) };
        if self.nodes.is_empty() {
            return (false, 0);
        }
        let mut follower = Follower { model, worker: model.worker(), names: FxHashMap::default(), looked: 0 };
        let mut todo: Vec<(usize, States)> = vec![(0, States::from_iter([initial]))];
        while let Some((at, states)) = todo.pop().filter(|_| follower.looked < most) {
            let node = &self.nodes[at];
            let Some((mut next, stuck)) = follower.steps(&states) else { continue };
            let ends = node.ends.iter().any(|end| match end {
                End::Anything => true,
                End::Stuck => stuck,
                End::Cycle(labels) => follower.goes_round(&states, labels),
            });
            if ends {
                return (true, follower.looked);
            }
            for (label, child) in &node.next {
                if let Some(states) = next.remove(label) {
                    todo.push((*child, nearest(states, &self.nodes[*child].state)));
                }
            }
        }
        (false, follower.looked)
    }
}

/// The states that have most values in common with one.
fn nearest(states: States, wanted: &[Slot]) -> States {
    if states.len() <= MOST_ALIKE {
        return states;
    }
    let distance = |state: &[Slot]| state.iter().zip(wanted).filter(|(own, wanted)| own != wanted).count();
    let mut states: Vec<(usize, Vec<Slot>)> =
        states.into_iter().map(|state| (distance(&state), state)).collect();
    states.sort_unstable();
    states.into_iter().take(MOST_ALIKE).map(|(_, state)| state).collect()
}

struct Follower<'m> {
    model: &'m dyn Model,
    worker: Box<dyn Worker + 'm>,
    names: FxHashMap<lts::LabelId, String>,
    looked: usize,
}

impl Follower<'_> {
    /// What comes next, by label, and whether one of the states has no next step; nothing after an error.
    fn steps(&mut self, states: &States) -> Option<(FxHashMap<String, States>, bool)> {
        let mut next: FxHashMap<String, States> = FxHashMap::default();
        let mut stuck = false;
        for state in states {
            let mut goes_on = false;
            self.looked += 1;
            let (model, names) = (self.model, &mut self.names);
            let looked = self.worker.successors(state, &mut |step| {
                goes_on = true;
                let name = names.entry(step.label).or_insert_with(|| model.label(step.label));
                match next.get_mut(name.as_str()) {
                    Some(known) => drop(known.insert(step.target.to_vec())),
                    None => drop(next.insert(name.clone(), States::from_iter([step.target.to_vec()]))),
                }
            });
            looked.ok()?;
            stuck |= !goes_on;
        }
        Some((next, stuck))
    }

    /// Whether labels can be repeated for ever: the states in which they end are those of an earlier round.
    fn goes_round(&mut self, states: &States, labels: &[String]) -> bool {
        let mut states = states.clone();
        let mut known: Vec<States> = Vec::new();
        while known.len() < MOST_ROUNDS && !known.contains(&states) {
            known.push(states.clone());
            for label in labels {
                let next = self.steps(&states).and_then(|(mut next, _)| next.remove(label));
                match next {
                    Some(next) => states = nearest(next, &[]),
                    None => return false,
                }
            }
        }
        known.contains(&states)
    }
}
