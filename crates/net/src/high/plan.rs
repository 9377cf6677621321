//! The order in which the variables of a transition get their values, decided once.
//!
//! What can be checked is checked as soon as its variables have values. Then come equations of guards that give a
//! variable its value, then the arc that leaves the fewest variables open, and in the end variables that range over
//! all values of their sort.

use lnt::data::Function;

use super::net::{Guard, HighArc, Part, Tokens};
use crate::text::ArcWord;

/// How to find the bindings of a transition.
#[derive(Default)]
pub(crate) struct Plan {
    pub steps: Vec<PlanStep>,
    /// How many slots there are: variables first, then parts of tokens.
    pub slots: usize,
}

pub(crate) struct PlanStep {
    pub action: Action,
    /// What can be checked after it.
    pub checks: Vec<Check>,
}

pub(crate) enum Action {
    /// Nothing: the first step.
    Begin,
    /// Tries the tokens of an arc's place. For each part in order whether it is new, so that its slot gets the value.
    Match { arc: usize, is_new: Vec<bool> },
    /// Gives a variable the value of an expression.
    Define { variable: usize, value: Function },
    /// Tries all values of a variable.
    Range { variable: usize },
}

/// What has to hold.
#[derive(Clone, Debug)]
pub(crate) enum Check {
    /// A function gives true.
    Holds(Function),
    /// A function gives what is in a slot.
    Equals(usize, Function),
}

impl Check {
    fn function(&self) -> &Function {
        match self {
            Check::Holds(function) | Check::Equals(_, function) => function,
        }
    }
}

/// An equation of a guard that can give a variable its value: the variable, its value.
pub(crate) type Definition = (usize, Function);

/// What a plan is made for.
pub(crate) struct Planned<'p> {
    pub arcs: &'p [HighArc],
    pub guards: &'p [Guard],
    pub definitions: &'p [Definition],
    /// For each variable whether it can get its values from nothing but a guard.
    pub needs_definition: &'p [bool],
    pub slots: usize,
}

impl Planned<'_> {
    /// The order to find what guards allow too, or what the arcs alone allow.
    pub fn plan(&self, guarded: bool) -> Plan {
        let mut checks: Vec<Check> = Vec::new();
        if guarded {
            let conjuncts = self.guards.iter().flat_map(|guard| &guard.conjuncts);
            checks.extend(conjuncts.cloned().map(Check::Holds));
        }
        let mut arcs: Vec<usize> = Vec::new();
        for (number, arc) in self.arcs.iter().enumerate() {
            let (ArcWord::Take | ArcWord::Read, Tokens::Matching(matching)) = (arc.word, &arc.tokens) else {
                continue;
            };
            arcs.push(number);
            for part in matching.iter().flat_map(|matching| &matching.parts) {
                if let Part::Equals(slot, function) = part {
                    checks.push(Check::Equals(*slot, function.clone()));
                }
            }
        }
        let mut known = vec![false; self.slots];
        let mut steps = Vec::new();
        let mut action = Action::Begin;
        loop {
            let (ready, waiting): (Vec<Check>, Vec<Check>) = checks.into_iter().partition(|check| {
                let has_part = match check {
                    Check::Equals(slot, _) => known[*slot],
                    Check::Holds(_) => true,
                };
                has_part && check.function().reads.iter().all(|&variable| known[variable])
            });
            checks = waiting;
            steps.push(PlanStep { action, checks: ready });
            match self.next(guarded, &mut known, &mut arcs) {
                Some(next) => action = next,
                None => return Plan { steps, slots: self.slots },
            }
        }
    }

    fn next(&self, guarded: bool, known: &mut [bool], arcs: &mut Vec<usize>) -> Option<Action> {
        let usable = |&&(variable, ref value): &&Definition| {
            !known[variable]
                && (guarded || self.needs_definition[variable])
                && value.reads.iter().all(|&read| known[read])
        };
        if let Some((variable, value)) = self.definitions.iter().find(usable) {
            known[*variable] = true;
            return Some(Action::Define { variable: *variable, value: value.clone() });
        }
        let open = |&(_, &arc): &(usize, &usize)| {
            let new = self.parts(arc).filter(|part| match part {
                Part::Variable(variable) => !known[*variable],
                Part::Equals(_, function) => function.reads.iter().any(|&read| !known[read]),
            });
            new.count()
        };
        if let Some((position, _)) = arcs.iter().enumerate().min_by_key(open) {
            let arc = arcs.remove(position);
            let mut is_new = Vec::new();
            for part in self.parts(arc) {
                let (Part::Variable(slot) | Part::Equals(slot, _)) = part;
                is_new.push(!known[*slot]);
                known[*slot] = true;
            }
            return Some(Action::Match { arc, is_new });
        }
        // Those whose values can be listed may be what a definition waits for.
        let mut open = (0..self.needs_definition.len()).filter(|&variable| !known[variable]);
        let first = open.clone().next()?;
        let variable = open.find(|&variable| !self.needs_definition[variable]).unwrap_or(first);
        known[variable] = true;
        Some(Action::Range { variable })
    }

    fn parts(&self, arc: usize) -> impl Iterator<Item = &Part> {
        let matching = match &self.arcs[arc].tokens {
            Tokens::Matching(matching) => matching.as_slice(),
            _ => &[],
        };
        matching.iter().flat_map(|matching| &matching.parts)
    }
}
