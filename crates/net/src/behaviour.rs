//! What the reachable markings of a net tell: bounds, deadlocks, liveness, reversibility, home states.

use lts::{Lts, StateId};

/// How often a transition can fire (Murata 1989). A transition that can fire any number of times (L2) can, as there are
/// finitely many markings, fire infinitely often in some run (L3): these are one level here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Liveness {
    /// L0: it never fires.
    Dead,
    /// L1: it can fire, but not again and again.
    Possible,
    /// L2 and L3: in some run it fires again and again.
    Repeatable,
    /// L4: whatever happened, it can fire some time later.
    Live,
}

/// The behaviour of a net all of whose markings were explored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Behaviour {
    /// The most tokens of each place in any marking.
    pub bounds: Vec<u32>,
    /// How often each transition can fire.
    pub liveness: Vec<Liveness>,
    /// The markings in which nothing can fire.
    pub deadlocks: Vec<StateId>,
    /// How many markings can be reached from every marking.
    pub home_states: usize,
    /// Whether the initial marking is one of them.
    pub is_reversible: bool,
}

impl Behaviour {
    /// Analyses the system of a net: `marking` gives the tokens of a state by place, `fired` the transitions that one edge
    /// stands for, by its position in [`Lts::edges`].
    pub fn of(
        lts: &Lts,
        (places, transitions): (usize, usize),
        marking: impl Fn(StateId) -> Vec<u32>,
        fired: impl Fn(usize) -> Vec<usize>,
    ) -> Self {
        let mut bounds = vec![0; places];
        for state in lts.states() {
            for (bound, tokens) in bounds.iter_mut().zip(marking(state)) {
                *bound = tokens.max(*bound);
            }
        }
        // A run stays in one component in the end, and can always reach one that has no way out.
        let components = lts.components(|_, _| true);
        let mut is_last = vec![true; components.count];
        for transition in lts.transitions() {
            if components.of(transition.source) != components.of(transition.target) {
                is_last[components.of(transition.source)] = false;
            }
        }
        let last_count = is_last.iter().filter(|&&is_last| is_last).count();
        let mut liveness = vec![Liveness::Dead; transitions];
        // The last component in which a transition was seen, and in how many.
        let mut seen: Vec<(usize, usize)> = vec![(usize::MAX, 0); transitions];
        let mut states: Vec<StateId> = lts.states().collect();
        states.sort_by_key(|&state| components.of(state));
        for state in states {
            let component = components.of(state);
            for edge in lts.edge_range(state) {
                let stays = components.of(lts.edges()[edge].target) == component;
                for transition in fired(edge) {
                    let level = if stays { Liveness::Repeatable } else { Liveness::Possible };
                    liveness[transition] = liveness[transition].max(level);
                    if is_last[component] && seen[transition].0 != component {
                        seen[transition] = (component, seen[transition].1 + 1);
                    }
                }
            }
        }
        for (level, (_, count)) in liveness.iter_mut().zip(seen) {
            if count == last_count {
                *level = Liveness::Live;
            }
        }
        let is_home = |state: &StateId| last_count == 1 && is_last[components.of(*state)];
        Self {
            bounds,
            liveness,
            deadlocks: lts.deadlocks().collect(),
            home_states: lts.states().filter(is_home).count(),
            is_reversible: is_home(&lts.initial()),
        }
    }

    /// Whether no place ever has more than one token.
    pub fn is_safe(&self) -> bool {
        self.bounds.iter().all(|&bound| bound <= 1)
    }

    /// The transitions that never fire.
    pub fn dead_transitions(&self) -> Vec<usize> {
        (0..self.liveness.len()).filter(|&number| self.liveness[number] == Liveness::Dead).collect()
    }

    /// Whether every transition is live.
    pub fn is_live(&self) -> bool {
        self.liveness.iter().all(|&level| level == Liveness::Live)
    }
}
