//! Formulas that tell two states of a minimal system apart, of least depth.
//!
//! States are separated in rounds, all blocks being refined at once; what a round separates needs a formula
//! one level deeper than what the round before separates (Cleaveland 1990; Martens and Groote 2023 on least
//! depth). For branching bisimulation the modalities are those of Korver (1991): a path of internal steps on
//! which something holds, until a step. Conjuncts are chosen greedily and dropped where others do their work;
//! a formula of least size is NP-hard to find.
//!
//! Every part of a formula carries the set of states where it holds, one bit a state, so that each choice is
//! made by looking. Work is bounded by [`Budget`]; beyond, no formula is given rather than a wrong one.

use std::collections::VecDeque;

use lts::{Edge, LabelId, Lts, StateId};
use rustc_hash::FxHashMap;

use crate::formula::{Formula, Part, PartId, Step};
use crate::graph::{Graph, silent};
use crate::relation::Relation;

use crate::levels::{branching_levels, strong_levels};
use crate::silent::Acyclic;

/// How much may be spent on a formula.
#[derive(Clone, Copy)]
pub(crate) struct Budget {
    /// States times rounds.
    pub(crate) levels: usize,
    /// Edges times parts of the formula.
    pub(crate) work: usize,
    /// Parts of the text.
    pub(crate) size: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self { levels: 1 << 25, work: 1 << 30, size: 20_000 }
    }
}

/// A formula that holds in `left` and not in `right`, two different states of a system that is minimal modulo
/// the relation; none if the budget does not suffice.
pub(crate) fn distinguishing_formula(
    lts: &Lts,
    (left, right): (StateId, StateId),
    relation: Relation,
    budget: &Budget,
) -> Option<Formula> {
    let branching = matches!(relation, Relation::Branching | Relation::DivergencePreservingBranching);
    let levels = if branching {
        branching_levels(lts, left.raw(), right.raw(), budget.levels)?
    } else {
        strong_levels(lts, left.raw(), right.raw(), budget.levels)?
    };
    let mut writer = Writer {
        lts,
        relation,
        levels,
        order: Acyclic::of(lts).by_rank(),
        parts: Vec::new(),
        known: FxHashMap::default(),
        truth: Vec::new(),
        formulas: FxHashMap::default(),
        work: budget.work,
    };
    let whole = writer.write(left.raw(), right.raw())?;
    let formula = writer.extract(whole);
    (formula.size() <= budget.size).then_some(formula)
}

/// What looking at two states costs of the budget, apart from the parts it adds.
const COST_OF_AN_ATTEMPT: usize = 1024;

/// Why a formula cannot be written yet.
enum Wait {
    /// First these two states have to be told apart.
    For(u32, u32),
    /// Never: the budget is spent.
    Spent,
}

struct Writer<'a> {
    lts: &'a Lts,
    relation: Relation,
    /// The block of each state in each round; the first round has one block.
    levels: Vec<Vec<u32>>,
    /// The states such that internal steps lead backwards, loops aside.
    order: Vec<u32>,
    parts: Vec<Part>,
    known: FxHashMap<Part, PartId>,
    /// Where each part holds.
    truth: Vec<Vec<u64>>,
    /// The formulas that hold in the first state and not in the second.
    formulas: FxHashMap<(u32, u32), PartId>,
    work: usize,
}

impl Writer<'_> {
    /// The formula for two states, after those it needs: a stack instead of recursion.
    fn write(&mut self, left: u32, right: u32) -> Option<PartId> {
        let mut waiting = vec![(left, right)];
        while let Some(&(s, t)) = waiting.last() {
            self.work = self.work.checked_sub(COST_OF_AN_ATTEMPT)?;
            let attempt = match self.formulas.get(&(s, t)) {
                Some(_) => {
                    waiting.pop();
                    continue;
                }
                None if self.relation_is_branching() => self.tell_apart_branching(s, t),
                None => self.tell_apart(s, t),
            };
            match attempt {
                Ok(formula) => {
                    debug_assert!(self.holds(formula, s) && !self.holds(formula, t));
                    self.formulas.insert((s, t), formula);
                }
                Err(Wait::For(s, t)) => waiting.push((s, t)),
                Err(Wait::Spent) => return None,
            }
        }
        self.formulas.get(&(left, right)).copied()
    }

    fn relation_is_branching(&self) -> bool {
        matches!(self.relation, Relation::Branching | Relation::DivergencePreservingBranching)
    }

    /// The first round in which two states are in different blocks; there is one.
    fn separation(&self, s: u32, t: u32) -> usize {
        self.levels.partition_point(|level| level[s as usize] == level[t as usize])
    }

    fn known_formula(&self, s: u32, t: u32) -> Result<PartId, Wait> {
        self.formulas.get(&(s, t)).copied().ok_or(Wait::For(s, t))
    }

    /// A modality over a step that one of the two states has and the other cannot match.
    fn tell_apart(&mut self, s: u32, t: u32) -> Result<PartId, Wait> {
        let level = self.separation(s, t) - 1;
        let mine = self.unmatched(s, t, level);
        let theirs = self.unmatched(t, s, level);
        let opponents = |step: &Edge, of: u32| self.row_with(of, step.label).len();
        // The fewer answers there are to refute, the smaller the formula.
        let best_mine = mine.iter().min_by_key(|step| opponents(step, t));
        let best_theirs = theirs.iter().min_by_key(|step| opponents(step, s));
        let use_mine = match (best_mine, best_theirs) {
            (Some(a), Some(b)) => opponents(a, t) <= opponents(b, s),
            (a, _) => a.is_some(),
        };
        if use_mine {
            let Some(&step) = best_mine else { return Err(Wait::Spent) };
            let answers: Vec<u32> = self.targets(t, step.label);
            let conjuncts = self.refute(&answers, |of| (step.target.raw(), of), false)?;
            let then = self.all_of(conjuncts)?;
            let modality = Part::Some(self.step_with(step.label), then);
            self.part(modality)
        } else {
            let Some(&step) = best_theirs else { return Err(Wait::Spent) };
            let answers: Vec<u32> = self.targets(s, step.label);
            let disjuncts = self.refute(&answers, |of| (of, step.target.raw()), true)?;
            let then = self.one_of(disjuncts)?;
            let modality = Part::All(self.step_with(step.label), then);
            self.part(modality)
        }
    }

    /// The steps of `s` into blocks into which `t` has no step with that label, one a block.
    fn unmatched(&self, s: u32, t: u32, level: usize) -> Vec<Edge> {
        let blocks = &self.levels[level];
        let key = |edge: &Edge| (edge.label, blocks[edge.target.index()]);
        let answers: rustc_hash::FxHashSet<_> = self.lts.row(t).iter().map(key).collect();
        let mut steps: Vec<Edge> =
            self.lts.row(s).iter().filter(|edge| !answers.contains(&key(edge))).copied().collect();
        steps.sort_by_key(key);
        steps.dedup_by_key(|edge| key(edge));
        steps
    }

    fn row_with(&self, state: u32, label: LabelId) -> &[Edge] {
        let row = self.lts.row(state);
        let start = row.partition_point(|edge| edge.label < label);
        let end = row.partition_point(|edge| edge.label <= label);
        &row[start..end]
    }

    fn targets(&self, state: u32, label: LabelId) -> Vec<u32> {
        self.row_with(state, label).iter().map(|edge| edge.target.raw()).collect()
    }

    /// Formulas such that each of the states has value `wanted` in at least one of them, `pair` saying which
    /// two states the formula for a state tells apart. The hardest states come first, since what refutes
    /// them often refutes others; afterwards formulas that are not needed are dropped.
    fn refute(
        &self,
        states: &[u32],
        pair: impl Fn(u32) -> (u32, u32),
        wanted: bool,
    ) -> Result<Vec<PartId>, Wait> {
        let mut states = states.to_vec();
        states.sort_by_key(|&state| {
            let (s, t) = pair(state);
            std::cmp::Reverse(self.separation(s, t))
        });
        let mut formulas: Vec<PartId> = Vec::new();
        for &state in &states {
            if !formulas.iter().any(|&formula| self.holds(formula, state) == wanted) {
                let (s, t) = pair(state);
                formulas.push(self.known_formula(s, t)?);
            }
        }
        let mut at = 0;
        while at < formulas.len() {
            let others = |state: u32| {
                let mut rest = formulas.iter().enumerate().filter(|&(other, _)| other != at);
                rest.any(|(_, &formula)| self.holds(formula, state) == wanted)
            };
            if states.iter().all(|&state| others(state)) {
                formulas.remove(at);
            } else {
                at += 1;
            }
        }
        Ok(formulas)
    }

    fn step_with(&self, label: LabelId) -> Step {
        let text = (!label.is_tau()).then(|| self.lts.label(label).to_owned());
        match (self.relation, text) {
            (Relation::Weak, text) => Step::Weak(text),
            (Relation::TauStarA, Some(text)) => Step::AfterSilence(text),
            (_, text) => Step::One(text),
        }
    }

    /// A path formula for a pair of the signature that one of the two states has and the other lacks.
    fn tell_apart_branching(&mut self, s: u32, t: u32) -> Result<PartId, Wait> {
        let level = self.separation(s, t) - 1;
        let (mine, theirs) = (self.signature_steps(s, level), self.signature_steps(t, level));
        if let Some(goal) = mine.iter().find(|&(pair, _)| !theirs.contains_key(pair)).map(|(_, goal)| goal) {
            return self.path_formula(s, t, level, goal);
        }
        let formula = self.known_formula(t, s)?;
        self.part(Part::Not(formula))
    }

    /// For each pair of the signature of `s` in this round a shortest path of inert steps and the step at its
    /// end. Internal steps within the block are inert, loops stand for divergence.
    fn signature_steps(&self, s: u32, level: usize) -> std::collections::BTreeMap<(LabelId, u32), Goal> {
        let blocks = &self.levels[level];
        let block = blocks[s as usize];
        let mut parents: FxHashMap<u32, u32> = FxHashMap::from_iter([(s, s)]);
        let mut queue = VecDeque::from([s]);
        let mut found = std::collections::BTreeMap::new();
        while let Some(state) = queue.pop_front() {
            for &edge in self.lts.row(state) {
                let target = edge.target.raw();
                let target_block = blocks[target as usize];
                if edge.label.is_tau() && target_block == block && target != state {
                    parents.entry(target).or_insert_with(|| {
                        queue.push_back(target);
                        state
                    });
                } else {
                    found.entry((edge.label, target_block)).or_insert_with(|| Goal {
                        path: path_to(&parents, state),
                        step: edge,
                        block: target_block,
                    });
                }
            }
        }
        found
    }

    /// A formula for a path of `s` that `t` cannot follow: made stronger as long as `t` satisfies it.
    fn path_formula(&mut self, s: u32, t: u32, level: usize, goal: &Goal) -> Result<PartId, Wait> {
        let block = self.levels[level][s as usize];
        let diverges = goal.step.label.is_tau() && goal.block == block;
        let (mut hold, mut then): (Vec<PartId>, Vec<PartId>) = (Vec::new(), Vec::new());
        while let Some((path, end)) = self.follow(t, &hold, &then, goal.step.label, diverges) {
            let blocks = &self.levels[level];
            if let Some(end) = end.filter(|&end| blocks[end as usize] != goal.block) {
                then.push(self.known_formula(goal.step.target.raw(), end)?);
                continue;
            }
            // The end looks right, so the way there must have left the block.
            let Some(&outside) = path.iter().find(|&&state| blocks[state as usize] != block) else {
                return Err(Wait::Spent);
            };
            let disjuncts = self.refute(&goal.path, |state| (state, outside), true)?;
            hold.push(self.one_of(disjuncts)?);
        }
        let hold = self.all_of(hold)?;
        if diverges {
            return self.part(Part::Forever(hold));
        }
        let then = self.all_of(then)?;
        if goal.step.label.is_tau() {
            return self.part(Part::Reach { hold, then });
        }
        let label = self.lts.label(goal.step.label).to_owned();
        self.part(Part::Until { hold, label, then })
    }

    /// A way on which `t` satisfies the path formula made of the given parts: the states before the last step
    /// and, unless the path goes on for ever, the state after it.
    fn follow(
        &self,
        t: u32,
        hold: &[PartId],
        then: &[PartId],
        label: LabelId,
        diverges: bool,
    ) -> Option<(Vec<u32>, Option<u32>)> {
        let all_hold = |formulas: &[PartId], state: u32| formulas.iter().all(|&f| self.holds(f, state));
        if label.is_tau() && !diverges && all_hold(then, t) {
            return Some((Vec::new(), Some(t)));
        }
        let mut parents: FxHashMap<u32, u32> = FxHashMap::from_iter([(t, t)]);
        let mut queue = VecDeque::from([t]);
        while let Some(state) = queue.pop_front() {
            if !all_hold(hold, state) {
                continue;
            }
            for edge in self.lts.row(state) {
                let target = edge.target.raw();
                let is_loop = edge.label.is_tau() && target == state;
                if diverges && is_loop {
                    return Some((path_to(&parents, state), None));
                }
                if !diverges && edge.label == label && all_hold(then, target) {
                    return Some((path_to(&parents, state), Some(target)));
                }
                if edge.label.is_tau() {
                    parents.entry(target).or_insert_with(|| {
                        queue.push_back(target);
                        state
                    });
                }
            }
        }
        None
    }

    fn all_of(&mut self, mut parts: Vec<PartId>) -> Result<PartId, Wait> {
        parts.sort_unstable();
        parts.dedup();
        match parts[..] {
            [] => self.part(Part::True),
            [one] => Ok(one),
            _ => self.part(Part::And(parts)),
        }
    }

    fn one_of(&mut self, mut parts: Vec<PartId>) -> Result<PartId, Wait> {
        parts.sort_unstable();
        parts.dedup();
        match parts[..] {
            [one] => Ok(one),
            _ => self.part(Part::Or(parts)),
        }
    }

    /// Adds a part and computes where it holds.
    fn part(&mut self, part: Part) -> Result<PartId, Wait> {
        if let Some(&known) = self.known.get(&part) {
            return Ok(known);
        }
        let cost = self.lts.state_count() + self.lts.transition_count();
        self.work = self.work.checked_sub(cost).ok_or(Wait::Spent)?;
        let id = PartId(self.parts.len() as u32);
        self.truth.push(self.evaluate(&part));
        self.known.insert(part.clone(), id);
        self.parts.push(part);
        Ok(id)
    }

    fn holds(&self, part: PartId, state: u32) -> bool {
        self.truth[part.index()][(state >> 6) as usize] >> (state & 63) & 1 != 0
    }

    /// Where a part holds, given that this is known for what it is made of.
    fn evaluate(&self, part: &Part) -> Vec<u64> {
        let mut truth = vec![0u64; self.lts.state_count().div_ceil(64)];
        let find = |label: &str| self.lts.labels().find(label);
        let label_of = |step: &Step| match step {
            Step::One(None) | Step::Weak(None) => Some(LabelId::TAU),
            Step::One(Some(label)) | Step::Weak(Some(label)) | Step::AfterSilence(label) => find(label),
        };
        let leads = |state: u32, label: Option<LabelId>, value: bool, then: &PartId| {
            let row = label.map_or(&[][..], |label| self.row_with(state, label));
            row.iter().any(|edge| self.holds(*then, edge.target.raw()) == value)
        };
        for &state in &self.order {
            let later = |truth: &[u64], with_loop: bool| {
                silent(self.lts.row(state)).iter().any(|edge| {
                    let target = edge.target.raw();
                    if target == state {
                        with_loop
                    } else {
                        truth[(target >> 6) as usize] >> (target & 63) & 1 != 0
                    }
                })
            };
            let value = match part {
                Part::True => true,
                Part::Not(of) => !self.holds(*of, state),
                Part::And(all) => all.iter().all(|&of| self.holds(of, state)),
                Part::Or(all) => all.iter().any(|&of| self.holds(of, state)),
                Part::Some(step, then) => leads(state, label_of(step), true, then),
                Part::All(step, then) => !leads(state, label_of(step), false, then),
                Part::Until { hold, label, then } => {
                    self.holds(*hold, state)
                        && (leads(state, find(label), true, then) || later(&truth, false))
                }
                Part::Reach { hold, then } => {
                    self.holds(*then, state) || (self.holds(*hold, state) && later(&truth, false))
                }
                Part::Forever(hold) => self.holds(*hold, state) && later(&truth, true),
            };
            truth[(state >> 6) as usize] |= u64::from(value) << (state & 63);
        }
        truth
    }

    /// The formula with only the parts it needs.
    fn extract(self, whole: PartId) -> Formula {
        let mut needed = vec![false; self.parts.len()];
        needed[whole.index()] = true;
        for index in (0..self.parts.len()).rev().filter(|&index| index <= whole.index()) {
            if needed[index] {
                self.parts[index].clone().for_each_part(|of| needed[of.index()] = true);
            }
        }
        let mut numbers = vec![PartId(0); self.parts.len()];
        let mut parts = Vec::new();
        for (index, mut part) in self.parts.into_iter().enumerate().filter(|&(index, _)| needed[index]) {
            part.for_each_part(|of| *of = numbers[of.index()]);
            numbers[index] = PartId(parts.len() as u32);
            parts.push(part);
        }
        Formula { parts }
    }
}

/// An element of a signature and how it comes about.
struct Goal {
    /// From the state itself to the state with the step.
    path: Vec<u32>,
    step: Edge,
    /// The block that the step leads to.
    block: u32,
}

/// The states on the way to `end`, first one first.
fn path_to(parents: &FxHashMap<u32, u32>, end: u32) -> Vec<u32> {
    let mut path = vec![end];
    let mut state = end;
    while parents[&state] != state {
        state = parents[&state];
        path.push(state);
    }
    path.reverse();
    path
}
