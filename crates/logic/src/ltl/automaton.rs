//! From formulas to automata (Gastin and Oddoux 2001).
//!
//! A state of the automaton is a set of formulas that the rest of the path has to satisfy. A step reads one state of
//! the system: every formula of the set chooses one way to be satisfied, as literals that hold now and formulas that
//! hold from the next state on (the transitions of the very weak alternating automaton). A step is marked for an
//! until that it does not postpone; a run is accepting if it has infinitely many steps with each mark. A step that
//! another one permits whenever it is possible, with fewer obligations and no mark less, is superfluous.
//!
//! Small automata are built completely: states from which no accepting run exists are dropped, equivalent ones merged
//! by bisimulation. Where that would exceed [`TERMS`], [`STATES`] or [`STEPS`], the steps of a state are computed for
//! the propositions that hold in the states of the system that are met, which makes most choices disappear.

use rustc_hash::FxHashMap;

use super::normal::{FALSE, Form, Node, Normal, TRUE};
use super::sets::Set;
use crate::components::components;

/// How many ways to satisfy one formula a complete automaton may have.
const TERMS: usize = 256;
/// How many states a complete automaton may have before it is made smaller.
const STATES: usize = 1000;
/// How many steps a complete automaton may have before it is made smaller.
const STEPS: usize = 20_000;

/// One way to satisfy a formula: literals that hold now, as numbers in the set of literals, and obligations for the
/// rest of the path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Term {
    literals: Set,
    next: Set,
}

/// A step of the automaton: what must hold, the state after it, the marks by their number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Step {
    literals: Set,
    target: u32,
    marks: u32,
}

#[derive(Debug)]
pub(super) struct Automaton {
    translation: Translation,
    /// The sets of marks that occur.
    marks: Numbers,
    /// The number of the set of all marks.
    all: u32,
    initial: u32,
    steps: Steps,
}

#[derive(Debug)]
enum Steps {
    /// The steps of all states.
    Complete(Vec<Vec<Step>>),
    /// The states met so far, and their steps for the literals met so far.
    Partial { states: Numbers, known: FxHashMap<(u32, Set), Vec<(u32, u32)>> },
}

/// Sets and their numbers.
#[derive(Debug, Default)]
struct Numbers {
    sets: Vec<Set>,
    numbers: FxHashMap<Set, u32>,
}

impl Numbers {
    fn number(&mut self, set: Set) -> u32 {
        *self.numbers.entry(set).or_insert_with_key(|set| {
            self.sets.push(set.clone());
            self.sets.len() as u32 - 1
        })
    }
}

impl Automaton {
    /// The automaton of the paths that satisfy a formula.
    pub(super) fn new(normal: Normal, root: Node) -> Automaton {
        let translation = Translation::new(normal, root);
        let mut marks = Numbers::default();
        let all = marks.number(translation.all_marks());
        let complete = complete(&translation, &mut marks, all);
        let (steps, initial) = complete.unwrap_or_else(|| translation.partial());
        Automaton { translation, marks, all, initial, steps }
    }

    /// The same automaton, whatever its size, computed step by step.
    #[cfg(test)]
    pub(super) fn partial(normal: Normal, root: Node) -> Automaton {
        let translation = Translation::new(normal, root);
        let mut marks = Numbers::default();
        let all = marks.number(translation.all_marks());
        let (steps, initial) = translation.partial();
        Automaton { translation, marks, all, initial, steps }
    }

    pub(super) fn initial(&self) -> u32 {
        self.initial
    }

    /// The propositions, to which `holds` refers by their position.
    pub(super) fn propositions(&self) -> &[u32] {
        &self.translation.propositions
    }

    /// The number of the set of all marks.
    pub(super) fn all_marks(&self) -> u32 {
        self.all
    }

    pub(super) fn marks(&self, number: u32) -> &Set {
        &self.marks.sets[number as usize]
    }

    /// Appends states and marks after the steps that are possible where the given propositions hold.
    pub(super) fn steps<E>(
        &mut self,
        state: u32,
        mut holds: impl FnMut(usize) -> Result<bool, E>,
        into: &mut Vec<(u32, u32)>,
    ) -> Result<(), E> {
        match &mut self.steps {
            Steps::Complete(steps) => {
                'steps: for step in &steps[state as usize] {
                    for literal in step.literals.members() {
                        if holds(literal / 2)? != (literal % 2 == 0) {
                            continue 'steps;
                        }
                    }
                    into.push((step.target, step.marks));
                }
            }
            Steps::Partial { states, known } => {
                let obligations = states.sets[state as usize].clone();
                let mut literals = self.translation.no_literals();
                for proposition in self.translation.propositions_now(&obligations).members() {
                    literals.insert(2 * proposition + usize::from(!holds(proposition)?));
                }
                let key = (state, literals);
                if !known.contains_key(&key) {
                    let steps = self
                        .translation
                        .steps(&obligations, Some(&key.1), usize::MAX)
                        .expect("no limit")
                        .into_iter()
                        .map(|(term, marks)| (states.number(term.next), self.marks.number(marks)))
                        .collect();
                    known.insert(key.clone(), steps);
                }
                into.extend_from_slice(&known[&key]);
            }
        }
        Ok(())
    }

    #[cfg(test)]
    pub(super) fn is_complete(&self) -> bool {
        matches!(self.steps, Steps::Complete(_))
    }

    /// How many states the automaton has so far.
    #[cfg(test)]
    pub(super) fn states(&self) -> usize {
        match &self.steps {
            Steps::Complete(steps) => steps.len(),
            Steps::Partial { states, .. } => states.sets.len(),
        }
    }
}

/// What the alternating automaton consists of.
#[derive(Debug)]
struct Translation {
    normal: Normal,
    /// The nodes that matter, arguments first.
    nodes: Vec<Node>,
    /// The nodes that a path may still have to satisfy, and their numbers.
    obligations: Vec<Node>,
    obligation_of: FxHashMap<Node, usize>,
    propositions: Vec<u32>,
    proposition_of: FxHashMap<u32, usize>,
    /// The untils, one mark each, as obligations.
    untils: Vec<usize>,
    initial: Set,
    /// The propositions on which the first step of each obligation depends.
    now: Vec<Set>,
    /// The ways to satisfy each node, unless there are too many.
    terms: Option<FxHashMap<Node, Vec<Term>>>,
}

impl Translation {
    fn new(normal: Normal, root: Node) -> Translation {
        let mut needed = vec![false; normal.len()];
        needed[root as usize] = true;
        let mut translation = Translation {
            normal,
            nodes: Vec::new(),
            obligations: Vec::new(),
            obligation_of: FxHashMap::default(),
            propositions: Vec::new(),
            proposition_of: FxHashMap::default(),
            untils: Vec::new(),
            initial: Set::empty(0),
            now: Vec::new(),
            terms: None,
        };
        for node in (0..translation.normal.len() as Node).rev().filter(|&node| node > FALSE) {
            if !needed[node as usize] {
                continue;
            }
            translation.nodes.push(node);
            match translation.normal.form(node) {
                Form::True | Form::False => {}
                Form::Literal(proposition, _) => {
                    if !translation.proposition_of.contains_key(&proposition) {
                        translation.proposition_of.insert(proposition, translation.propositions.len());
                        translation.propositions.push(proposition);
                    }
                }
                Form::And(left, right) | Form::Or(left, right) => {
                    needed[left as usize] = true;
                    needed[right as usize] = true;
                }
                Form::Next(argument) => {
                    needed[argument as usize] = true;
                    translation.add_obligations(argument);
                }
                Form::Until(left, right) | Form::Release(left, right) => {
                    needed[left as usize] = true;
                    needed[right as usize] = true;
                    translation.add_obligations(node);
                }
            }
        }
        translation.nodes.reverse();
        translation.add_obligations(root);
        translation.untils = (0..translation.obligations.len())
            .filter(|&index| {
                matches!(translation.normal.form(translation.obligations[index]), Form::Until(..))
            })
            .collect();
        translation.initial = translation.obligation(root);
        translation.now = translation.propositions_of_first_steps();
        translation.terms = translation.expand(None, TERMS);
        translation
    }

    /// An automaton of which only the initial state is known.
    fn partial(&self) -> (Steps, u32) {
        let mut states = Numbers::default();
        let initial = states.number(self.initial.clone());
        (Steps::Partial { states, known: FxHashMap::default() }, initial)
    }

    /// The conjuncts of a node.
    fn conjuncts(&self, node: Node) -> Vec<Node> {
        let mut conjuncts = Vec::new();
        let mut open = vec![node];
        while let Some(node) = open.pop() {
            match self.normal.form(node) {
                Form::True => {}
                Form::And(left, right) => open.extend([left, right]),
                _ => conjuncts.push(node),
            }
        }
        conjuncts
    }

    fn add_obligations(&mut self, node: Node) {
        for node in self.conjuncts(node) {
            if !self.obligation_of.contains_key(&node) {
                self.obligation_of.insert(node, self.obligations.len());
                self.obligations.push(node);
            }
        }
    }

    /// The obligation to satisfy a node, by its conjuncts.
    fn obligation(&self, node: Node) -> Set {
        let mut set = Set::empty(self.obligations.len());
        for node in self.conjuncts(node) {
            set.insert(self.obligation_of[&node]);
        }
        set
    }

    fn no_literals(&self) -> Set {
        Set::empty(2 * self.propositions.len())
    }

    fn all_marks(&self) -> Set {
        let mut marks = Set::empty(self.untils.len());
        (0..self.untils.len()).for_each(|mark| marks.insert(mark));
        marks
    }

    fn propositions_of_first_steps(&self) -> Vec<Set> {
        let mut now: FxHashMap<Node, Set> = FxHashMap::default();
        for constant in [TRUE, FALSE] {
            now.insert(constant, Set::empty(self.propositions.len()));
        }
        for &node in &self.nodes {
            let mut set = Set::empty(self.propositions.len());
            match self.normal.form(node) {
                Form::True | Form::False | Form::Next(_) => {}
                Form::Literal(proposition, _) => set.insert(self.proposition_of[&proposition]),
                Form::And(left, right)
                | Form::Or(left, right)
                | Form::Until(left, right)
                | Form::Release(left, right) => {
                    set.unite(&now[&left]);
                    set.unite(&now[&right]);
                }
            }
            now.insert(node, set);
        }
        self.obligations.iter().map(|node| now[node].clone()).collect()
    }

    fn propositions_now(&self, obligations: &Set) -> Set {
        let mut set = Set::empty(self.propositions.len());
        for index in obligations.members() {
            set.unite(&self.now[index]);
        }
        set
    }

    /// The ways to satisfy all nodes, given the literals that hold, if they are known. `None` if there are more than
    /// the limit for one of them.
    fn expand(&self, given: Option<&Set>, limit: usize) -> Option<FxHashMap<Node, Vec<Term>>> {
        let nothing = Term { literals: self.no_literals(), next: Set::empty(self.obligations.len()) };
        let mut terms: FxHashMap<Node, Vec<Term>> = FxHashMap::default();
        terms.insert(TRUE, vec![nothing.clone()]);
        terms.insert(FALSE, Vec::new());
        for &node in &self.nodes {
            let later = |node| Term { next: self.obligation(node), ..nothing.clone() };
            let found = match self.normal.form(node) {
                Form::True | Form::False => continue,
                Form::Literal(proposition, sign) => {
                    let literal = 2 * self.proposition_of[&proposition] + usize::from(!sign);
                    match given {
                        Some(given) if given.contains(literal) => vec![nothing.clone()],
                        // Literals of states that are not asked for do not matter.
                        Some(_) => Vec::new(),
                        None => {
                            let mut term = nothing.clone();
                            term.literals.insert(literal);
                            vec![term]
                        }
                    }
                }
                Form::And(left, right) => both(&terms[&left], &terms[&right], limit)?,
                Form::Or(left, right) => either(&terms[&left], &terms[&right]),
                Form::Next(FALSE) => Vec::new(),
                Form::Next(argument) => vec![later(argument)],
                Form::Until(left, right) => {
                    let postponed = both(&terms[&left], &[later(node)], limit)?;
                    either(&terms[&right], &postponed)
                }
                Form::Release(left, right) => {
                    let released = either(&terms[&left], &[later(node)]);
                    both(&terms[&right], &released, limit)?
                }
            };
            if found.len() > limit {
                return None;
            }
            terms.insert(node, found);
        }
        Some(terms)
    }

    /// The steps of a state, as what must hold, the obligations after them, and marks.
    fn steps(&self, state: &Set, given: Option<&Set>, limit: usize) -> Option<Vec<(Term, Set)>> {
        let computed;
        let terms = match given {
            None => self.terms.as_ref()?,
            Some(_) => {
                computed = self.expand(given, limit)?;
                &computed
            }
        };
        // Which choices are superfluous depends on the marks, which depend on all of them.
        let mut all = terms[&TRUE].clone();
        for index in state.members() {
            let choices = &terms[&self.obligations[index]];
            all =
                all.iter().flat_map(|first| choices.iter().filter_map(|second| first.with(second))).collect();
            all.sort_unstable();
            all.dedup();
            if all.len() > limit {
                return None;
            }
        }
        let mut steps: Vec<(Term, Set)> = Vec::new();
        for term in all {
            let mut marks = Set::empty(self.untils.len());
            for (mark, &until) in self.untils.iter().enumerate() {
                let fulfilled = |way: &Term| {
                    !way.next.contains(until)
                        && way.next.is_subset(&term.next)
                        && way.literals.is_subset(&term.literals)
                };
                if !term.next.contains(until) || terms[&self.obligations[until]].iter().any(fulfilled) {
                    marks.insert(mark);
                }
            }
            let superfluous = |step: &(Term, Set), other: &(Term, Set)| {
                other.0.is_weaker(&step.0) && step.1.is_subset(&other.1)
            };
            let step = (term, marks);
            if !steps.iter().any(|other| superfluous(&step, other)) {
                steps.retain(|other| !superfluous(other, &step));
                steps.push(step);
            }
        }
        Some(steps)
    }
}

/// The union of two sets of ways, without superfluous ones.
fn either(left: &[Term], right: &[Term]) -> Vec<Term> {
    let mut terms = left.to_vec();
    right.iter().for_each(|term| add(&mut terms, term.clone()));
    terms
}

/// All ways to choose from both sets, without contradictory and superfluous ones.
fn both(left: &[Term], right: &[Term], limit: usize) -> Option<Vec<Term>> {
    let mut terms = Vec::new();
    for first in left {
        right.iter().filter_map(|second| first.with(second)).for_each(|term| add(&mut terms, term));
        if terms.len() > limit {
            return None;
        }
    }
    Some(terms)
}

/// Adds a way to satisfy one formula. To absorb stronger ways is sound here, where each obligation still makes its
/// choices on its own.
fn add(terms: &mut Vec<Term>, term: Term) {
    if !terms.iter().any(|known| known.is_weaker(&term)) {
        terms.retain(|known| !term.is_weaker(known));
        terms.push(term);
    }
}

impl Term {
    /// Both ways at once, unless they contradict each other.
    fn with(&self, other: &Term) -> Option<Term> {
        let mut term = self.clone();
        term.literals.unite(&other.literals);
        term.next.unite(&other.next);
        let contradictory = term.literals.members().any(|literal| term.literals.contains(literal ^ 1));
        (!contradictory).then_some(term)
    }

    /// Possible whenever the other one is, with the same obligations or fewer.
    fn is_weaker(&self, other: &Term) -> bool {
        self.literals.is_subset(&other.literals) && self.next.is_subset(&other.next)
    }
}

/// The whole automaton, if it is small, made smaller.
fn complete(translation: &Translation, marks: &mut Numbers, all: u32) -> Option<(Steps, u32)> {
    let mut states = Numbers::default();
    states.number(translation.initial.clone());
    let mut steps: Vec<Vec<Step>> = Vec::new();
    let mut count = 0;
    while steps.len() < states.sets.len() {
        let state = states.sets[steps.len()].clone();
        let found: Vec<Step> = translation
            .steps(&state, None, TERMS)?
            .into_iter()
            .map(|(term, set)| Step {
                literals: term.literals,
                target: states.number(term.next),
                marks: marks.number(set),
            })
            .collect();
        count += found.len();
        steps.push(found);
        if states.sets.len() > STATES || count > STEPS {
            return None;
        }
    }
    prune(&mut steps, marks, all);
    let (steps, initial) = merge(steps, marks);
    Some((Steps::Complete(steps), initial))
}

/// Drops the steps after which no accepting run exists, and forgets marks where they do not matter.
fn prune(steps: &mut [Vec<Step>], marks: &mut Numbers, all: u32) {
    let (component, count) =
        components(steps.len(), |state, at| steps[state].get(at).map(|step: &Step| step.target as usize));
    let none = {
        let mut empty = marks.sets[all as usize].clone();
        marks.sets[all as usize].members().for_each(|mark| empty.remove(mark));
        empty
    };
    let mut seen = vec![none.clone(); count];
    let mut cyclic = vec![false; count];
    for (state, steps) in steps.iter().enumerate() {
        for step in steps.iter().filter(|step| component[step.target as usize] == component[state]) {
            seen[component[state] as usize].unite(&marks.sets[step.marks as usize]);
            cyclic[component[state] as usize] = true;
        }
    }
    let accepting: Vec<bool> =
        (0..count).map(|index| cyclic[index] && seen[index] == marks.sets[all as usize]).collect();
    // Steps go to components with smaller numbers.
    let mut order: Vec<usize> = (0..steps.len()).collect();
    order.sort_by_key(|&state| component[state]);
    let mut useful = accepting.clone();
    for &state in &order {
        let reaches = steps[state].iter().any(|step| useful[component[step.target as usize] as usize]);
        useful[component[state] as usize] |= reaches;
    }
    let none = marks.number(none);
    for (state, steps) in steps.iter_mut().enumerate() {
        steps.retain(|step| useful[component[step.target as usize] as usize]);
        for step in steps.iter_mut() {
            if component[step.target as usize] != component[state] {
                step.marks = all;
            } else if !accepting[component[state] as usize] {
                step.marks = none;
            }
        }
    }
}

/// Merges bisimilar states and drops superfluous steps. The initial state is state 0.
fn merge(mut steps: Vec<Vec<Step>>, marks: &Numbers) -> (Vec<Vec<Step>>, u32) {
    let superfluous = |step: &Step, other: &Step| {
        step.target == other.target
            && other.literals.is_subset(&step.literals)
            && marks.sets[step.marks as usize].is_subset(&marks.sets[other.marks as usize])
    };
    let mut block = vec![0u32; steps.len()];
    let mut blocks = 1;
    loop {
        let mut signatures: FxHashMap<(u32, Vec<Step>), u32> = FxHashMap::default();
        let mut refined = Vec::with_capacity(steps.len());
        for (state, steps) in steps.iter().enumerate() {
            let mut signature: Vec<Step> = steps
                .iter()
                .map(|step| Step { target: block[step.target as usize], ..step.clone() })
                .collect();
            signature.sort();
            signature.dedup();
            let kept: Vec<Step> = signature
                .iter()
                .filter(|step| !signature.iter().any(|other| other != *step && superfluous(step, other)))
                .cloned()
                .collect();
            let number = signatures.len() as u32;
            refined.push(*signatures.entry((block[state], kept)).or_insert(number));
        }
        block = refined;
        if signatures.len() == blocks {
            // The blocks are stable: the numbers in the signatures are those of the last round.
            let renumbered: FxHashMap<u32, u32> =
                signatures.iter().map(|((old, _), &new)| (*old, new)).collect();
            let mut merged = vec![Vec::new(); blocks];
            for ((_, signature), number) in signatures {
                merged[number as usize] = signature
                    .into_iter()
                    .map(|step| Step { target: renumbered[&step.target], ..step })
                    .collect();
            }
            steps = merged;
            break;
        }
        blocks = signatures.len();
    }
    (steps, block[0])
}
