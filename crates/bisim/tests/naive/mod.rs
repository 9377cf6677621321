//! The relations and the logic by their definitions, as slowly as it takes: the twins of the algorithms.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use bisim::{Formula, Part, Preorder, Relation, Step};
use lts::{LabelId, Lts, StateId};

type Matrix = Vec<Vec<bool>>;

/// Whether each two states are related.
pub fn relation(lts: &Lts, relation: Relation) -> Matrix {
    let system = System::of(lts);
    match relation {
        Relation::Strong => system.bisimulation(&system.steps),
        Relation::Weak => system.bisimulation(&system.weak_steps()),
        Relation::TauStarA => system.bisimulation(&system.tau_star_steps()),
        Relation::Branching => system.branching(&full(system.size)),
        Relation::DivergencePreservingBranching => system.divergence_preserving(),
        Relation::Trace => system.same_traces(&system.steps),
        Relation::WeakTrace => system.same_traces(&system.tau_star_steps()),
    }
}

/// Whether state `s` does only what state `t` allows, by the definition of the preorder.
pub fn included(lts: &Lts, preorder: Preorder, s: usize, t: usize) -> bool {
    let system = System::of(lts);
    match preorder {
        Preorder::Simulation => system.simulation(&system.steps)[s][t],
        Preorder::WeakSimulation => system.simulation(&system.weak_steps())[s][t],
        Preorder::TraceInclusion => system.follows(&system.steps, s, t, false),
        Preorder::WeakTraceInclusion => system.follows(&system.tau_star_steps(), s, t, false),
        Preorder::Failures => system.follows(&system.tau_star_steps(), s, t, true),
    }
}

fn full(size: usize) -> Matrix {
    vec![vec![true; size]; size]
}

struct System {
    size: usize,
    steps: Vec<Vec<(LabelId, usize)>>,
    /// What internal steps reach, the state itself included.
    silent: Vec<BTreeSet<usize>>,
}

impl System {
    fn of(lts: &Lts) -> Self {
        let size = lts.state_count();
        let steps: Vec<Vec<(LabelId, usize)>> = lts
            .states()
            .map(|state| lts.outgoing(state).iter().map(|edge| (edge.label, edge.target.index())).collect())
            .collect();
        let silent = (0..size)
            .map(|start| {
                let mut reached = BTreeSet::from([start]);
                let mut queue = VecDeque::from([start]);
                while let Some(state) = queue.pop_front() {
                    for &(label, target) in &steps[state] {
                        if label.is_tau() && reached.insert(target) {
                            queue.push_back(target);
                        }
                    }
                }
                reached
            })
            .collect();
        Self { size, steps, silent }
    }

    fn tau_star_steps(&self) -> Vec<Vec<(LabelId, usize)>> {
        let of = |state: usize| {
            let steps = self.silent[state].iter().flat_map(|&middle| self.steps[middle].iter().copied());
            steps.filter(|(label, _)| !label.is_tau()).collect::<BTreeSet<_>>().into_iter().collect()
        };
        (0..self.size).map(of).collect()
    }

    fn weak_steps(&self) -> Vec<Vec<(LabelId, usize)>> {
        let visible = self.tau_star_steps();
        let of = |state: usize| {
            let mut steps: BTreeSet<(LabelId, usize)> =
                self.silent[state].iter().map(|&target| (LabelId::TAU, target)).collect();
            for &(label, middle) in &visible[state] {
                steps.extend(self.silent[middle].iter().map(|&target| (label, target)));
            }
            steps.into_iter().collect()
        };
        (0..self.size).map(of).collect()
    }

    /// The greatest fixed point of a condition on pairs, symmetric by removing both halves.
    fn greatest(&self, start: &Matrix, keeps: impl Fn(&Matrix, usize, usize) -> bool) -> Matrix {
        let mut related = start.clone();
        loop {
            let mut changed = false;
            for s in 0..self.size {
                for t in 0..self.size {
                    if related[s][t] && !keeps(&related, s, t) {
                        related[s][t] = false;
                        related[t][s] = false;
                        changed = true;
                    }
                }
            }
            if !changed {
                return related;
            }
        }
    }

    /// The greatest relation in which every step is answered by one of `answers`.
    fn simulation(&self, answers: &[Vec<(LabelId, usize)>]) -> Matrix {
        let mut related = full(self.size);
        loop {
            let before = related.clone();
            for (s, row) in related.iter_mut().enumerate() {
                for (t, related) in row.iter_mut().enumerate() {
                    *related &= self.steps[s].iter().all(|&(label, target)| {
                        answers[t].iter().any(|&(answer, to)| answer == label && before[target][to])
                    });
                }
            }
            if related == before {
                return related;
            }
        }
    }

    /// Whether all traces of `s` are traces of `t` and, where asked for, all refusals at rest are: both sides are
    /// followed through the sets of states that each trace leads to.
    fn follows(&self, steps: &[Vec<(LabelId, usize)>], s: usize, t: usize, refusals: bool) -> bool {
        type Set = BTreeSet<usize>;
        let after = |set: &Set, label: LabelId| -> Set {
            let steps = set.iter().flat_map(|&state| steps[state].iter());
            steps.filter(|(own, _)| *own == label).map(|&(_, target)| target).collect()
        };
        let offers = |state: usize| -> BTreeSet<LabelId> {
            self.steps[state].iter().map(|&(label, _)| label).collect()
        };
        let at_rest = |set: &Set| -> Vec<usize> {
            let silent: Set = set.iter().flat_map(|&state| self.silent[state].iter().copied()).collect();
            let rests = |state: &usize| self.steps[*state].iter().all(|(label, _)| !label.is_tau());
            silent.into_iter().filter(rests).collect()
        };
        let mut seen: BTreeSet<(Set, Set)> = BTreeSet::new();
        let mut todo = vec![(Set::from([s]), Set::from([t]))];
        while let Some((mine, theirs)) = todo.pop() {
            if !seen.insert((mine.clone(), theirs.clone())) {
                continue;
            }
            let allowed = |state: &usize| {
                at_rest(&theirs).into_iter().any(|other| offers(other).is_subset(&offers(*state)))
            };
            if refusals && !at_rest(&mine).iter().all(allowed) {
                return false;
            }
            let labels: BTreeSet<LabelId> =
                mine.iter().flat_map(|&state| steps[state].iter().map(|(label, _)| *label)).collect();
            for label in labels {
                let (mine, theirs) = (after(&mine, label), after(&theirs, label));
                if theirs.is_empty() {
                    return false;
                }
                todo.push((mine, theirs));
            }
        }
        true
    }

    fn bisimulation(&self, steps: &[Vec<(LabelId, usize)>]) -> Matrix {
        self.greatest(&full(self.size), |related, s, t| {
            steps[s].iter().all(|&(a, s1)| steps[t].iter().any(|&(b, t1)| a == b && related[s1][t1]))
        })
    }

    fn branching(&self, start: &Matrix) -> Matrix {
        self.greatest(start, |related, s, t| {
            self.steps[s].iter().all(|&(a, s1)| {
                (a.is_tau() && related[s1][t])
                    || self.silent[t].iter().any(|&t1| {
                        related[s][t1] && self.steps[t1].iter().any(|&(b, t2)| a == b && related[s1][t2])
                    })
            })
        })
    }

    /// Branching, and equivalent states either all have or all lack an endless internal path that stays among
    /// states equivalent to them.
    fn divergence_preserving(&self) -> Matrix {
        let mut start = full(self.size);
        loop {
            let related = self.branching(&start);
            let diverges: Vec<bool> = (0..self.size).map(|s| self.diverges_within(s, &related[s])).collect();
            let mut changed = false;
            for s in 0..self.size {
                for t in 0..self.size {
                    changed |= related[s][t] && diverges[s] != diverges[t];
                    start[s][t] = related[s][t] && diverges[s] == diverges[t];
                }
            }
            if !changed {
                return related;
            }
        }
    }

    fn diverges_within(&self, start: usize, class: &[bool]) -> bool {
        // As many internal steps as there are states mean that some state came twice.
        let mut reached = BTreeSet::from([start]);
        for _ in 0..self.size {
            let steps = reached.iter().flat_map(|&state| &self.steps[state]);
            reached = steps.filter(|&&(a, t)| a.is_tau() && class[t]).map(|&(_, t)| t).collect();
        }
        !reached.is_empty()
    }

    fn same_traces(&self, steps: &[Vec<(LabelId, usize)>]) -> Matrix {
        let row = |s: usize| (0..self.size).map(|t| same_traces(steps, s, t)).collect();
        (0..self.size).map(row).collect()
    }
}

fn same_traces(steps: &[Vec<(LabelId, usize)>], s: usize, t: usize) -> bool {
    let after = |subset: &BTreeSet<usize>| {
        let mut after: BTreeMap<LabelId, BTreeSet<usize>> = BTreeMap::new();
        for &(label, target) in subset.iter().flat_map(|&state| &steps[state]) {
            after.entry(label).or_default().insert(target);
        }
        after
    };
    let start = (BTreeSet::from([s]), BTreeSet::from([t]));
    let mut seen = BTreeSet::from([start.clone()]);
    let mut queue = VecDeque::from([start]);
    while let Some((left, right)) = queue.pop_front() {
        let (left, right) = (after(&left), after(&right));
        if !left.keys().eq(right.keys()) {
            return false;
        }
        for pair in left.into_values().zip(right.into_values()) {
            if seen.insert(pair.clone()) {
                queue.push_back(pair);
            }
        }
    }
    true
}

/// Whether a sequence of labels can be performed from the initial state, internal steps being skipped or not.
pub fn performs(lts: &Lts, labels: &[String], skip_internal: bool) -> bool {
    let system = System::of(lts);
    let steps = if skip_internal { system.tau_star_steps() } else { system.steps.clone() };
    let mut reached = BTreeSet::from([lts.initial().index()]);
    for text in labels {
        let next = reached.iter().flat_map(|&state| &steps[state]);
        reached = next.filter(|(label, _)| lts.label(*label) == text).map(|&(_, target)| target).collect();
    }
    !reached.is_empty()
}

/// Whether a system can be at rest after these visible labels and refuse all of some others.
pub fn refuses(lts: &Lts, labels: &[String], refused: &[String]) -> bool {
    let system = System::of(lts);
    let mut states: BTreeSet<usize> = system.silent[lts.initial().index()].clone();
    for label in labels {
        let steps = states.iter().flat_map(|&state| &system.steps[state]);
        let targets: Vec<usize> =
            steps.filter(|(own, _)| lts.label(*own) == label).map(|&(_, target)| target).collect();
        states = targets.into_iter().flat_map(|target| system.silent[target].iter().copied()).collect();
    }
    states.into_iter().any(|state| {
        let offers = |text: &str| system.steps[state].iter().any(|(label, _)| lts.label(*label) == text);
        !offers("i") && !refused.iter().any(|label| offers(label))
    })
}

/// Whether a formula holds in the initial state, by the semantics of MCL.
pub fn holds(lts: &Lts, formula: &Formula) -> bool {
    let system = System::of(lts);
    let mut truth: Vec<Vec<bool>> = Vec::new();
    for part in formula.parts() {
        let value = evaluate(lts, &system, part, &truth);
        truth.push(value);
    }
    truth.last().is_none_or(|whole| whole[lts.initial().index()])
}

fn evaluate(lts: &Lts, system: &System, part: &Part, truth: &[Vec<bool>]) -> Vec<bool> {
    let at = |id: &bisim::PartId, state: usize| truth[id.index()][state];
    let successors = |state: usize, step: &Step| -> Vec<usize> {
        let one = |states: BTreeSet<usize>, label: &Option<String>| -> BTreeSet<usize> {
            let text = label.as_deref().unwrap_or("i");
            let steps = states.iter().flat_map(|&state| &system.steps[state]);
            steps.filter(|(label, _)| lts.label(*label) == text).map(|&(_, target)| target).collect()
        };
        let silently = |states: BTreeSet<usize>| -> BTreeSet<usize> {
            states.iter().flat_map(|&state| system.silent[state].iter().copied()).collect()
        };
        let here = BTreeSet::from([state]);
        let reached = match step {
            Step::One(label) => one(here, label),
            Step::Weak(None) => silently(here),
            Step::Weak(label) => silently(one(silently(here), label)),
            Step::AfterSilence(label) => one(silently(here), &Some(label.clone())),
        };
        reached.into_iter().collect()
    };
    let tau = Step::One(None);
    let every = |value: &dyn Fn(usize) -> bool| (0..system.size).map(value).collect::<Vec<bool>>();
    // Least fixed points start from false, greatest from true.
    let fixed_point = |start: bool, step: &dyn Fn(&[bool], usize) -> bool| {
        let mut values = vec![start; system.size];
        loop {
            let next: Vec<bool> = (0..system.size).map(|state| step(&values, state)).collect();
            if next == values {
                return values;
            }
            values = next;
        }
    };
    let tau_leads = |values: &[bool], state: usize| successors(state, &tau).iter().any(|&t| values[t]);
    match part {
        Part::True => every(&|_| true),
        Part::Not(of) => every(&|state| !at(of, state)),
        Part::And(all) => every(&|state| all.iter().all(|of| at(of, state))),
        Part::Or(all) => every(&|state| all.iter().any(|of| at(of, state))),
        Part::Some(step, then) => every(&|state| successors(state, step).iter().any(|&t| at(then, t))),
        Part::All(step, then) => every(&|state| successors(state, step).iter().all(|&t| at(then, t))),
        Part::Until { hold, label, then } => fixed_point(false, &|values, state| {
            let step = Step::One(Some(label.clone()));
            at(hold, state)
                && (successors(state, &step).iter().any(|&t| at(then, t)) || tau_leads(values, state))
        }),
        Part::Reach { hold, then } => fixed_point(false, &|values, state| {
            at(then, state) || (at(hold, state) && tau_leads(values, state))
        }),
        Part::Forever(hold) => {
            fixed_point(true, &|values, state| at(hold, state) && tau_leads(values, state))
        }
    }
}

/// The reachable part, states in breadth-first order.
pub fn reachable(lts: &Lts) -> Lts {
    let mut order = vec![lts.initial()];
    let mut number: BTreeMap<StateId, usize> = BTreeMap::from([(lts.initial(), 0)]);
    let mut builder = lts::LtsBuilder::with_labels(lts.labels().clone());
    let mut at = 0;
    while at < order.len() {
        for edge in lts.outgoing(order[at]) {
            let next = order.len();
            let target = *number.entry(edge.target).or_insert_with(|| {
                order.push(edge.target);
                next
            });
            builder.add(StateId::new(at), edge.label, StateId::new(target));
        }
        at += 1;
    }
    builder.finish().unwrap()
}
