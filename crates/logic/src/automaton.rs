//! Formulas whose violations are a regular set of runs, and those that ask for labels one after the other.

use rustc_hash::FxHashMap;

use crate::action::{ActionCode, LabelText};
use crate::check::is_constant;
use crate::equations::{Equations, Node, NodeId, translate};
use crate::tree::*;

/// A nondeterministic automaton over labels, without empty moves.
///
/// ```
/// let mut sources = source::Sources::new();
/// let text = r#"[ true* . "A" . (not "B")* . 'C.*' ] false"#;
/// let loaded = logic::load_text("p.mcl", text, &mut sources).unwrap();
/// let automaton = logic::regular_violation(&loaded.properties[0].formula).unwrap();
/// assert!(automaton.accepts(["X", "A", "C !1"]));
/// assert!(!automaton.accepts(["A", "B", "C !1"]));
/// assert!(!automaton.accepts(["A", "C !1", "X"]));
/// ```
#[derive(Clone, Debug)]
pub struct Automaton {
    /// Whether each state ends a run of the set; the initial state is 0.
    accepting: Vec<bool>,
    /// By state: predicates and where they lead.
    moves: Vec<Vec<(usize, usize)>>,
    /// By state: predicates of which a system must offer no label for a run to end there.
    refusals: Vec<Vec<usize>>,
    actions: Vec<ActionCode>,
}

impl Automaton {
    /// How many states there are; 0 is the initial one.
    pub fn state_count(&self) -> usize {
        self.accepting.len()
    }

    /// Whether a run may end here.
    pub fn is_accepting(&self, state: usize) -> bool {
        self.accepting[state]
    }

    /// Where a label leads from a state, ascending.
    pub fn successors(&self, state: usize, label: &str) -> Vec<usize> {
        let label = LabelText::new(label);
        let mut found: Vec<usize> = self.moves[state]
            .iter()
            .filter(|&&(action, _)| holds(&self.actions[action], &label))
            .map(|&(_, target)| target)
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The moves out of each state for every label of a table, predicates evaluated once: `[state][label]`.
    pub fn table(&self, labels: &lts::Labels) -> Vec<Vec<Vec<usize>>> {
        let split: Vec<LabelText> = labels.iter().map(|(_, text)| LabelText::new(text)).collect();
        let masks: Vec<Vec<bool>> = self
            .actions
            .iter()
            .map(|action| split.iter().map(|label| holds(action, label)).collect())
            .collect();
        let row = |state: usize, label: usize| {
            let moves = self.moves[state].iter().filter(|&&(action, _)| masks[action][label]);
            let mut found: Vec<usize> = moves.map(|&(_, target)| target).collect();
            found.sort_unstable();
            found.dedup();
            found
        };
        (0..self.state_count())
            .map(|state| (0..split.len()).map(|label| row(state, label)).collect())
            .collect()
    }

    /// What a system must not be able to do for a run to end in each state: `[state]` gives sets of labels, and a
    /// run may end where the system offers no label of one of them. `[ true* ] < true > true` has one such set, of
    /// all labels.
    pub fn refusals(&self, labels: &lts::Labels) -> Vec<Vec<Vec<bool>>> {
        let split: Vec<LabelText> = labels.iter().map(|(_, text)| LabelText::new(text)).collect();
        let mask = |&action: &usize| split.iter().map(|label| holds(&self.actions[action], label)).collect();
        self.refusals.iter().map(|actions| actions.iter().map(mask).collect()).collect()
    }

    /// Whether a sequence of labels is in the set, whatever the system offers at its end.
    pub fn accepts<'l>(&self, labels: impl IntoIterator<Item = &'l str>) -> bool {
        let mut current = vec![0];
        for label in labels {
            let mut next: Vec<usize> =
                current.iter().flat_map(|&state| self.successors(state, label)).collect();
            next.sort_unstable();
            next.dedup();
            current = next;
        }
        current.into_iter().any(|state| self.accepting[state])
    }
}

/// Without data nothing can go wrong.
fn holds(action: &ActionCode, label: &LabelText) -> bool {
    action.matches(label, &|_| None).is_ok_and(|ways| !ways.is_empty())
}

/// The runs that violate a formula, if they are a regular set: for `[R] false`, `[R] [S] false`, `not <R> true` and
/// conjunctions of these, without data. The formula fails if and only if the system has a run in the set.
pub fn regular_violation(formula: &Formula) -> Option<Automaton> {
    safety_violation(formula).filter(|automaton| automaton.refusals.iter().all(Vec::is_empty))
}

/// Like [`regular_violation`], and also for `[R] <A> true`, deadlocks among them: runs to a state that is accepting,
/// or where the system offers nothing of what [`refusals`](Automaton::refusals) says.
pub fn safety_violation(formula: &Formula) -> Option<Automaton> {
    regular(&translate(formula, true).ok()?)
}

/// The runs that show that a formula holds, if they are a regular set: for `<R> true` and disjunctions of it.
pub fn regular_witness(formula: &Formula) -> Option<Automaton> {
    let automaton = regular(&translate(formula, false).ok()?)?;
    automaton.refusals.iter().all(Vec::is_empty).then_some(automaton)
}

fn regular(equations: &Equations) -> Option<Automaton> {
    if !equations.is_propositional() {
        return None;
    }
    let mut numbers: FxHashMap<NodeId, usize> = FxHashMap::default();
    let mut states = vec![equations.root];
    numbers.insert(equations.root, 0);
    let mut automaton = Automaton {
        accepting: Vec::new(),
        moves: Vec::new(),
        refusals: Vec::new(),
        actions: equations.actions.clone(),
    };
    while automaton.accepting.len() < states.len() {
        let mut accepting = false;
        let (mut moves, mut refusals) = (Vec::new(), Vec::new());
        let mut seen = vec![states[automaton.accepting.len()]];
        let mut at = 0;
        while at < seen.len() {
            match &equations.nodes[seen[at]] {
                Node::Constant(value) => accepting |= value,
                Node::Or(parts) => {
                    for part in parts {
                        if !seen.contains(part) {
                            seen.push(*part);
                        }
                    }
                }
                Node::Fix { priority, body } if priority % 2 == 1 => {
                    if !seen.contains(body) {
                        seen.push(*body);
                    }
                }
                Node::Step { all: false, action, next } => {
                    let fresh = states.len();
                    let number = *numbers.entry(*next).or_insert(fresh);
                    if number == fresh {
                        states.push(*next);
                    }
                    moves.push((*action, number));
                }
                Node::Step { all: true, action, next }
                    if matches!(equations.nodes[*next], Node::Constant(false)) =>
                {
                    refusals.push(*action);
                }
                _ => return None,
            }
            at += 1;
        }
        automaton.accepting.push(accepting);
        automaton.moves.push(moves);
        automaton.refusals.push(refusals);
    }
    Some(automaton)
}

/// The label predicates that a formula asks for one after the other on every run, if that is what it asks for:
/// `mu X . (<true> true and [not A] X)`, or with `and [A] F` where F asks for the rest. The predicates read and bind no
/// variables.
pub fn inevitability(formula: &Formula) -> Option<Vec<Action>> {
    let mut found = Vec::new();
    let mut formula = formula;
    loop {
        let FormulaKind::Fixpoint { least: true, name, parameters, body } = &formula.kind else {
            return None;
        };
        let FormulaKind::And(parts) = &body.kind else { return None };
        if !parameters.is_empty() {
            return None;
        }
        let (mut progress, mut awaited, mut then) = (false, None, None);
        for part in parts {
            match &part.kind {
                FormulaKind::Possible(regular, body) if is_any(regular) && is_true(body) => progress = true,
                FormulaKind::Necessary(regular, body) => {
                    let RegularKind::Action(action) = &regular.kind else { return None };
                    match (&action.kind, &body.kind) {
                        (ActionKind::Not(of), FormulaKind::Name(variable, arguments))
                            if variable.text == name.text && arguments.is_empty() && awaited.is_none() =>
                        {
                            awaited = Some((**of).clone());
                        }
                        _ if then.is_none() => then = Some((action, body)),
                        _ => return None,
                    }
                }
                _ => return None,
            }
        }
        let awaited = awaited.filter(|awaited| progress && awaited.is_plain())?;
        let text = awaited.to_string();
        found.push(awaited);
        match then {
            None => return Some(found),
            Some((action, body)) if action.to_string() == text => formula = body,
            Some(_) => return None,
        }
    }
}

/// A formula `[R] F` where F asks for one label on every run ([`inevitability`]): the runs of R, and that label.
pub fn response(formula: &Formula) -> Option<(Automaton, Action)> {
    let FormulaKind::Necessary(regular, after) = &formula.kind else { return None };
    let [awaited] = <[Action; 1]>::try_from(inevitability(after)?).ok()?;
    let falsehood = Expression { kind: ExpressionKind::Bool(false), span: formula.span };
    let never = Formula { kind: FormulaKind::Data(falsehood), span: formula.span };
    let kind = FormulaKind::Necessary(regular.clone(), Box::new(never));
    let runs = regular_violation(&Formula { kind, span: formula.span })?;
    Some((runs, awaited))
}

impl Action {
    /// Whether this predicate reads and binds no variables.
    fn is_plain(&self) -> bool {
        match &self.kind {
            ActionKind::Pattern(pattern) => {
                pattern.condition.is_none()
                    && pattern.offers.iter().all(|offer| match offer {
                        Offer::Value(value) => is_closed(value),
                        Offer::Bind(..) => false,
                        Offer::Any | Offer::Rest => true,
                    })
            }
            ActionKind::Not(of) => of.is_plain(),
            ActionKind::And(all) | ActionKind::Or(all) => all.iter().all(Action::is_plain),
            ActionKind::Binary(_, left, right) => left.is_plain() && right.is_plain(),
            _ => true,
        }
    }

    /// Which labels of a table satisfy this predicate; those with data that needs values of variables don't.
    pub fn mask(&self, labels: &lts::Labels) -> Vec<bool> {
        let truth = Expression { kind: ExpressionKind::Bool(true), span: self.span };
        let regular = Regular { kind: RegularKind::Action(self.clone()), span: self.span };
        let after = Formula { kind: FormulaKind::Data(truth), span: self.span };
        let kind = FormulaKind::Possible(regular, Box::new(after));
        match regular_witness(&Formula { kind, span: self.span }) {
            Some(automaton) => {
                automaton.table(labels).swap_remove(0).iter().map(|row| !row.is_empty()).collect()
            }
            None => vec![false; labels.len()],
        }
    }
}

fn is_closed(expression: &Expression) -> bool {
    match &expression.kind {
        ExpressionKind::Name(name) => is_constant(name),
        ExpressionKind::Call(_, arguments) => arguments.iter().all(is_closed),
        ExpressionKind::Of(of, _) | ExpressionKind::Unary(_, of) => is_closed(of),
        ExpressionKind::Binary(_, left, right) => is_closed(left) && is_closed(right),
        _ => true,
    }
}

fn is_any(regular: &Regular) -> bool {
    matches!(&regular.kind, RegularKind::Action(Action { kind: ActionKind::Constant(true), .. }))
}

fn is_true(formula: &Formula) -> bool {
    matches!(&formula.kind, FormulaKind::Data(Expression { kind: ExpressionKind::Bool(true), .. }))
}
