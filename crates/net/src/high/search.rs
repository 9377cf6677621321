//! Finds the bindings of a transition: values for its variables, and tokens for its arcs, such that it can fire.
//!
//! A binding can fire if its tokens are there and its guards hold. A condition that is false decides, whatever
//! another one would do: only where nothing is false is a run-time error of a guard or an inscription one of the net.
//! So the order in which conditions are looked at changes nothing but the time it takes.

use std::cmp::Ordering;

use lnt::data::Evaluator;
use model::ModelError;

use super::net::{HighArc, HighNet, Matching, Part, Place, Tokens, Transition};
use super::plan::{Action, Check, Plan, PlanStep};
use crate::text::{ArcWord, computed_tokens};

/// The tokens of all places.
#[derive(Clone, Debug, Default)]
pub(crate) struct Present {
    /// For each place the tokens and how many there are of each, by number.
    pub tokens: Vec<Vec<(u32, u32)>>,
    /// Whether there are as many as anybody wants, and nothing is ever too many.
    pub unbounded: bool,
}

/// A way to fire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mode {
    pub transition: usize,
    /// The values of variables; fewer where an error left one without.
    pub binding: Vec<u32>,
    /// What is taken and read: place, token, how many. Ascending, each token once.
    pub takes: Vec<(usize, u32, u32)>,
    pub reads: Vec<(usize, u32, u32)>,
    /// The tokens of arcs that take or read: the arc's position and a token.
    pub moved: Vec<(usize, u32)>,
    pub error: Option<ModelError>,
}

/// Calls `visit` for every mode of a transition, until it says that this is enough.
pub(crate) fn modes(
    net: &HighNet,
    transition: usize,
    guarded: bool,
    present: &Present,
    evaluator: &mut Evaluator<'_>,
    visit: &mut dyn FnMut(&mut Evaluator<'_>, Mode) -> bool,
) {
    let of = &net.transitions[transition];
    let plan = if guarded { &of.plan } else { &of.unguarded };
    let mut search = Search {
        net,
        number: transition,
        transition: of,
        plan,
        present,
        slots: vec![0; plan.slots],
        chosen: vec![0; of.arcs.len()],
        errors: Vec::new(),
        visit,
    };
    search.go(evaluator, 0);
}

/// The order of modes: by the values of variables as they are declared, then by what is taken.
pub(crate) fn compare_modes(net: &HighNet, evaluator: &Evaluator<'_>, a: &Mode, b: &Mode) -> Ordering {
    let variables = &net.transitions[a.transition].variables;
    let values = variables.iter().zip(a.binding.iter().zip(&b.binding));
    let by_values = values
        .map(|(variable, (&a, &b))| evaluator.compare(variable.ty, a, b))
        .find(|order| *order != Ordering::Equal)
        .unwrap_or_else(|| a.binding.len().cmp(&b.binding.len()));
    by_values
        .then_with(|| compare_tokens(net, evaluator, &a.takes, &b.takes))
        .then_with(|| compare_tokens(net, evaluator, &a.reads, &b.reads))
}

fn compare_tokens(
    net: &HighNet,
    evaluator: &Evaluator<'_>,
    a: &[(usize, u32, u32)],
    b: &[(usize, u32, u32)],
) -> Ordering {
    let sorted = |tokens: &[(usize, u32, u32)]| {
        let mut tokens = tokens.to_vec();
        tokens
            .sort_by(|a, b| a.0.cmp(&b.0).then_with(|| compare_token(&net.places[a.0], evaluator, a.1, b.1)));
        tokens
    };
    let (a, b) = (sorted(a), sorted(b));
    let pairs = a.iter().zip(&b).map(|(a, b)| {
        a.0.cmp(&b.0)
            .then_with(|| compare_token(&net.places[a.0], evaluator, a.1, b.1))
            .then_with(|| a.2.cmp(&b.2))
    });
    let mut pairs = pairs.filter(|order| *order != Ordering::Equal);
    pairs.next().unwrap_or_else(|| a.len().cmp(&b.len()))
}

/// The order of two tokens of a place.
pub(crate) fn compare_token(place: &Place, evaluator: &Evaluator<'_>, a: u32, b: u32) -> Ordering {
    place.ty.map_or(Ordering::Equal, |ty| evaluator.compare(ty, a, b))
}

struct Search<'s> {
    net: &'s HighNet,
    number: usize,
    transition: &'s Transition,
    plan: &'s Plan,
    present: &'s Present,
    /// Variables, then parts of tokens.
    slots: Vec<u32>,
    /// The token of each arc.
    chosen: Vec<u32>,
    /// Errors of conditions on the way.
    errors: Vec<ModelError>,
    visit: &'s mut dyn FnMut(&mut Evaluator<'_>, Mode) -> bool,
}

impl Search<'_> {
    /// Takes the steps from one on; false once it is enough. As deep as there are arcs and variables, whose number is
    /// limited.
    fn go(&mut self, evaluator: &mut Evaluator<'_>, at: usize) -> bool {
        let plan = self.plan;
        let Some(step) = plan.steps.get(at) else { return self.complete(evaluator) };
        match &step.action {
            Action::Begin => self.check(evaluator, step, at),
            Action::Match { arc, is_new } => {
                let (number, arc) = (*arc, &self.transition.arcs[*arc]);
                let present = self.present;
                let Tokens::Matching(matching) = &arc.tokens else { return true };
                for &(token, count) in &present.tokens[arc.place] {
                    if count < arc.count {
                        continue;
                    }
                    if !self.bind(evaluator, matching, token, is_new) {
                        continue;
                    }
                    self.chosen[number] = token;
                    if !self.check(evaluator, step, at) {
                        return false;
                    }
                }
                true
            }
            Action::Define { variable, value } => match evaluator.call(value, &self.slots) {
                Ok(value) => {
                    self.slots[*variable] = value;
                    self.check(evaluator, step, at)
                }
                Err(error) => {
                    self.errors.push(error);
                    let goes_on = match &self.transition.variables[*variable].values {
                        Some(_) => self.range(evaluator, *variable, step, at),
                        None => self.unbound(evaluator),
                    };
                    self.errors.pop();
                    goes_on
                }
            },
            Action::Range { variable } => self.range(evaluator, *variable, step, at),
        }
    }

    fn range(&mut self, evaluator: &mut Evaluator<'_>, variable: usize, step: &PlanStep, at: usize) -> bool {
        let Some(values) = self.transition.variables[variable].values.clone() else { return true };
        values.iter().all(|&value| {
            self.slots[variable] = value;
            self.check(evaluator, step, at)
        })
    }

    /// Fills slots with the parts of a token, or finds that it does not fit.
    fn bind(
        &mut self,
        evaluator: &mut Evaluator<'_>,
        matching: &[Matching],
        token: u32,
        is_new: &[bool],
    ) -> bool {
        let mut parts = Vec::new();
        if !token_matches(evaluator, matching, token, &mut parts) {
            return false;
        }
        let all = matching.iter().flat_map(|matching| &matching.parts);
        for ((part, &value), &is_new) in all.zip(&parts).zip(is_new) {
            let (Part::Variable(slot) | Part::Equals(slot, _)) = part;
            if is_new {
                self.slots[*slot] = value;
            } else if self.slots[*slot] != value {
                return false;
            }
        }
        true
    }

    /// Checks what can be, and goes on.
    fn check(&mut self, evaluator: &mut Evaluator<'_>, step: &PlanStep, at: usize) -> bool {
        let before = self.errors.len();
        for check in &step.checks {
            let (Check::Holds(function) | Check::Equals(_, function)) = check;
            let holds = evaluator.call(function, &self.slots).map(|value| match check {
                Check::Holds(_) => value != 0,
                Check::Equals(slot, _) => value == self.slots[*slot],
            });
            match holds {
                Ok(true) => {}
                Ok(false) => {
                    self.errors.truncate(before);
                    return true;
                }
                Err(error) => self.errors.push(error),
            }
        }
        let goes_on = self.go(evaluator, at + 1);
        self.errors.truncate(before);
        goes_on
    }

    /// Every variable has a value: looks at what concerns several arcs, or no pattern.
    fn complete(&mut self, evaluator: &mut Evaluator<'_>) -> bool {
        let before = self.errors.len();
        let goes_on = match self.moved(evaluator) {
            Some(moved) if !self.inhibited(evaluator) => self.found(evaluator, moved),
            _ => true,
        };
        self.errors.truncate(before);
        goes_on
    }

    /// The tokens that are taken and read, if there are enough.
    fn moved(&mut self, evaluator: &mut Evaluator<'_>) -> Option<Vec<(usize, u32)>> {
        let mut moved = Vec::new();
        for (number, arc) in self.transition.arcs.iter().enumerate() {
            if !matches!(arc.word, ArcWord::Take | ArcWord::Read) {
                continue;
            }
            match &arc.tokens {
                Tokens::Plain => moved.push((number, 0)),
                Tokens::Matching(_) => moved.push((number, self.chosen[number])),
                Tokens::Computed(values) => {
                    match computed_tokens(evaluator, &self.net.places[arc.place], values, &self.slots) {
                        Ok(tokens) => moved.extend(tokens.into_iter().map(|token| (number, token))),
                        Err(_) if self.present.tokens[arc.place].is_empty() => return None,
                        Err(error) => self.errors.push(error),
                    }
                }
                Tokens::Whatever => {}
            }
        }
        let needed = self.sum(&moved, |_| true);
        let enough = needed.iter().all(|&(place, token, count)| self.count(place, token) >= count);
        enough.then_some(moved)
    }

    /// How many tokens arcs move together.
    fn sum(&self, moved: &[(usize, u32)], counts: impl Fn(ArcWord) -> bool) -> Vec<(usize, u32, u32)> {
        let arcs = &self.transition.arcs;
        let moved = moved.iter().filter(|(arc, _)| counts(arcs[*arc].word));
        let mut all: Vec<(usize, u32, u32)> =
            moved.map(|&(arc, token)| (arcs[arc].place, token, arcs[arc].count)).collect();
        all.sort_unstable();
        all.dedup_by(|again, first| {
            let same = (again.0, again.1) == (first.0, first.1);
            if same {
                first.2 = first.2.saturating_add(again.2);
            }
            same
        });
        all
    }

    fn count(&self, place: usize, token: u32) -> u32 {
        let tokens = &self.present.tokens[place];
        let found = tokens.binary_search_by_key(&token, |&(token, _)| token);
        found.map_or(0, |at| if self.present.unbounded { u32::MAX } else { tokens[at].1 })
    }

    fn inhibited(&mut self, evaluator: &mut Evaluator<'_>) -> bool {
        if self.present.unbounded {
            return false;
        }
        let mut failed = Vec::new();
        let found = self.transition.arcs.iter().filter(|arc| arc.word == ArcWord::Inhibit).any(|arc| {
            let present = &self.present.tokens[arc.place];
            let (tokens, failure) = surely_concerned(evaluator, arc, &self.slots, present);
            failed.extend(failure);
            tokens.iter().map(|&(_, count)| u64::from(count)).sum::<u64>() >= u64::from(arc.count)
        });
        self.errors.append(&mut failed);
        found
    }

    fn found(&mut self, evaluator: &mut Evaluator<'_>, moved: Vec<(usize, u32)>) -> bool {
        let mode = Mode {
            transition: self.number,
            binding: self.slots[..self.transition.variables.len()].to_vec(),
            takes: self.sum(&moved, |word| word == ArcWord::Take),
            reads: self.sum(&moved, |word| word == ArcWord::Read),
            moved,
            error: self.errors.first().cloned(),
        };
        (self.visit)(evaluator, mode)
    }

    /// An error leaves a variable without a value, and there is none to try.
    fn unbound(&mut self, evaluator: &mut Evaluator<'_>) -> bool {
        let mode = Mode {
            transition: self.number,
            binding: Vec::new(),
            takes: Vec::new(),
            reads: Vec::new(),
            moved: Vec::new(),
            error: self.errors.first().cloned(),
        };
        (self.visit)(evaluator, mode)
    }
}

/// Whether a token matches patterns, one for each of its values; the parts that they find are added to `parts`.
fn token_matches(
    evaluator: &mut Evaluator<'_>,
    matching: &[Matching],
    token: u32,
    parts: &mut Vec<u32>,
) -> bool {
    if let [one] = matching {
        return evaluator.matches(&one.matcher, token, parts);
    }
    matching.iter().enumerate().all(|(index, one)| {
        // A tuple is a constructor with fields behind its position.
        let value = evaluator.row(token)[index + 1];
        evaluator.matches(&one.matcher, value, parts)
    })
}

/// The tokens that an arc is about once all variables have values: those that inhibit, or are removed.
pub(crate) fn concerned(
    evaluator: &mut Evaluator<'_>,
    arc: &HighArc,
    variables: &[u32],
    present: &[(u32, u32)],
) -> Result<Vec<(u32, u32)>, ModelError> {
    let (found, failure) = surely_concerned(evaluator, arc, variables, present);
    failure.map_or(Ok(found), Err)
}

/// The same, with the first error of tokens that nothing else rules out.
fn surely_concerned(
    evaluator: &mut Evaluator<'_>,
    arc: &HighArc,
    variables: &[u32],
    present: &[(u32, u32)],
) -> (Vec<(u32, u32)>, Option<ModelError>) {
    let Tokens::Matching(matching) = &arc.tokens else { return (present.to_vec(), None) };
    let mut found = Vec::new();
    let mut failure = None;
    for &(token, count) in present {
        let mut parts = Vec::new();
        if !token_matches(evaluator, matching, token, &mut parts) {
            continue;
        }
        let mut fits = true;
        let mut error = None;
        for (part, &value) in matching.iter().flat_map(|matching| &matching.parts).zip(&parts) {
            match part {
                Part::Variable(variable) => fits &= variables[*variable] == value,
                Part::Equals(_, function) => match evaluator.call(function, variables) {
                    Ok(wanted) => fits &= wanted == value,
                    Err(wrong) => error = error.or(Some(wrong)),
                },
            }
        }
        match error {
            _ if !fits => {}
            None => found.push((token, count)),
            Some(wrong) => failure = failure.or(Some(wrong)),
        }
    }
    (found, failure)
}
