//! Regular formulas as equations: with a continuation, as if the formula behind them were part of them.
//!
//! Two passes: the first makes predicates and expressions from left to right, where their variables are in scope; the
//! second builds nodes from right to left, since a node needs the one behind it. A loop is a fixpoint whose parameters
//! are assigned on the way back to its head.

use super::{BranchCode, LoopEnds, NodeId, Parameters, Translator, natural};
use crate::action::{ActionCode, OfferCode};
use crate::tree::*;
use crate::value::{Code, Slot, Value};

impl Translator {
    /// Makes the predicates of a regular formula, from left to right, and leaves in scope what they bind.
    pub(super) fn actions(&mut self, regular: &Regular) {
        match &regular.kind {
            RegularKind::Nil => {}
            RegularKind::Action(action) => {
                let code = self.action(action, true);
                let next = self.actions.len();
                if *self.known_actions.entry(std::ptr::from_ref(action)).or_insert(next) == next {
                    self.actions.push(code);
                }
            }
            RegularKind::Sequence(all) => all.iter().for_each(|one| self.actions(one)),
            RegularKind::Choice(all) => {
                for one in all {
                    let outer = self.variables.len();
                    self.actions(one);
                    self.variables.truncate(outer);
                }
            }
            RegularKind::Repeat { body, .. } => self.actions_alone(body),
            RegularKind::Counted { body, min, max } => {
                self.keep_code(min);
                max.iter().for_each(|max| self.keep_code(max));
                let fresh = self.slots.len() as Slot;
                self.slots.entry(std::ptr::from_ref(regular).cast()).or_insert(fresh);
                self.actions_alone(body);
            }
            RegularKind::If(arms, otherwise) => {
                for (condition, branch) in arms {
                    self.keep_code(condition);
                    self.actions_alone(branch);
                }
                otherwise.iter().for_each(|branch| self.actions_alone(branch));
            }
            RegularKind::Case(of, branches) => {
                self.keep_code(of);
                for branch in branches {
                    let outer = self.variables.len();
                    if let CasePattern::Values(values) = &branch.pattern {
                        values.iter().for_each(|value| self.keep_code(value));
                    } else if let CasePattern::Bind(name, _) = &branch.pattern {
                        self.declare(name);
                    }
                    branch.condition.iter().for_each(|condition| self.keep_code(condition));
                    self.actions(&branch.body);
                    self.variables.truncate(outer);
                }
            }
            RegularKind::Let(bindings, body) => {
                let outer = self.variables.len();
                for binding in bindings {
                    self.keep_code(&binding.value);
                    self.declare(&binding.name);
                }
                self.actions(body);
                // What the body binds stays, the declarations go.
                self.variables.drain(outer..outer + bindings.len());
            }
            RegularKind::For { name, from, to, step, body, .. } => {
                self.keep_code(from);
                self.keep_code(to);
                step.iter().for_each(|step| self.keep_code(step));
                let outer = self.variables.len();
                self.declare(name);
                self.actions(body);
                self.variables.truncate(outer);
            }
            RegularKind::While(condition, body) => {
                self.keep_code(condition);
                self.actions_alone(body);
            }
            RegularKind::Until(body, condition) => {
                let outer = self.variables.len();
                self.actions(body);
                self.keep_code(condition);
                self.variables.truncate(outer);
            }
            RegularKind::Loop { parameters, results, body } => {
                parameters.iter().for_each(|one| self.keep_code(&one.value));
                let outer = self.variables.len();
                parameters.iter().for_each(|one| {
                    self.declare(&one.name);
                });
                self.actions(body);
                self.variables.truncate(outer);
                results.iter().for_each(|(name, _)| {
                    self.declare(name);
                });
            }
            RegularKind::Continue(values) | RegularKind::Exit(values) => {
                values.iter().for_each(|value| self.keep_code(value));
            }
        }
    }

    /// Likewise, and nothing stays in scope.
    fn actions_alone(&mut self, regular: &Regular) {
        let outer = self.variables.len();
        self.actions(regular);
        self.variables.truncate(outer);
    }

    fn action(&mut self, action: &Action, exports: bool) -> ActionCode {
        let outer = self.variables.len();
        let code = match &action.kind {
            ActionKind::Constant(value) => ActionCode::Constant(*value),
            ActionKind::Tau => ActionCode::Exact(lts::TAU_TEXT.to_owned()),
            ActionKind::Exact(text) => ActionCode::Exact(text.clone()),
            ActionKind::Regex(pattern) => ActionCode::Regex(pattern.regex.clone()),
            ActionKind::Pattern(pattern) => self.pattern(pattern),
            ActionKind::Not(of) => ActionCode::Not(Box::new(self.action(of, false))),
            ActionKind::And(all) => {
                ActionCode::And(all.iter().map(|one| self.action(one, exports)).collect())
            }
            ActionKind::Or(all) => ActionCode::Or(all.iter().map(|one| self.action(one, false)).collect()),
            ActionKind::Binary(operator, left, right) => {
                let left = self.action(left, false);
                let right = self.action(right, false);
                match operator {
                    BinaryOperator::Implies => ActionCode::Or(vec![ActionCode::Not(Box::new(left)), right]),
                    BinaryOperator::Xor => {
                        ActionCode::Equ(Box::new(ActionCode::Not(Box::new(left))), Box::new(right))
                    }
                    _ => ActionCode::Equ(Box::new(left), Box::new(right)),
                }
            }
        };
        if !exports {
            self.variables.truncate(outer);
        }
        code
    }

    /// Leaves in scope what the pattern binds.
    pub(super) fn pattern(&mut self, pattern: &ActionPattern) -> ActionCode {
        let mut offers = Vec::new();
        for offer in &pattern.offers {
            offers.push(match offer {
                Offer::Value(value) => OfferCode::Value(self.code(value)),
                Offer::Bind(name, type_of) => OfferCode::Bind(self.declare(name), type_of.clone()),
                Offer::Any => OfferCode::Any,
                Offer::Rest => OfferCode::Rest,
            });
        }
        let condition = pattern.condition.as_ref().map(|one| self.code(one));
        let gate = pattern.gate.as_ref().map(|gate| gate.text.clone());
        ActionCode::Pattern { gate, offers, condition }
    }

    /// The states from which a sequence leads to `next`, or all sequences do.
    pub(super) fn regular(&mut self, regular: &Regular, next: NodeId, all: bool) -> NodeId {
        if self.too_large {
            return next;
        }
        match &regular.kind {
            RegularKind::Nil => next,
            RegularKind::Action(action) => {
                let action = self.known_actions[&std::ptr::from_ref(action)];
                self.step(all, action, next)
            }
            RegularKind::Sequence(parts) => {
                parts.iter().rev().fold(next, |next, part| self.regular(part, next, all))
            }
            RegularKind::Choice(parts) => {
                let parts = parts.iter().map(|part| self.regular(part, next, all)).collect();
                self.join(all, parts)
            }
            RegularKind::Repeat { body, min, max } => {
                let mut node = match max {
                    None if self.as_constant(next) == Some(all) => next,
                    None => self.fix(!all, |translator, head| {
                        let again = translator.regular(body, head, all);
                        translator.join(all, vec![next, again])
                    }),
                    Some(max) => (*min..*max).fold(next, |node, _| {
                        let again = self.regular(body, node, all);
                        self.join(all, vec![next, again])
                    }),
                };
                for _ in 0..*min {
                    node = self.regular(body, node, all);
                }
                node
            }
            RegularKind::Counted { body, min, max } => {
                let counter = self.slots[&std::ptr::from_ref(regular).cast()];
                let (min, max) = (self.kept(min), max.as_ref().map(|max| self.kept(max)));
                self.counted(body, counter, &min, max.as_ref(), next, all)
            }
            RegularKind::If(arms, otherwise) => {
                let mut result = match otherwise {
                    Some(otherwise) => self.regular(otherwise, next, all),
                    None => next,
                };
                for (condition, branch) in arms.iter().rev() {
                    let then = self.regular(branch, next, all);
                    let test = self.kept(condition);
                    result = self.choose(test, then, result);
                }
                result
            }
            RegularKind::Case(of, branches) => {
                let of = self.kept(of);
                let bodies = branches.iter().map(|branch| self.regular(&branch.body, next, all)).collect();
                let codes = branches
                    .iter()
                    .map(|branch| BranchCode {
                        values: match &branch.pattern {
                            CasePattern::Values(values) => values.iter().map(|one| self.kept(one)).collect(),
                            _ => Vec::new(),
                        },
                        condition: branch.condition.as_ref().map(|one| self.kept(one)),
                    })
                    .collect();
                self.branches(&of, branches, bodies, codes)
            }
            RegularKind::Let(bindings, body) => {
                let body = self.regular(body, next, all);
                bindings.iter().rev().fold(body, |next, binding| {
                    let slot = (self.declared(&binding.name), natural(&binding.name, &binding.type_of));
                    let value = self.kept(&binding.value);
                    self.assign(&[slot], vec![value], next)
                })
            }
            RegularKind::For { name, type_of, from, to, step, body } => {
                let slot = (self.declared(name), natural(name, type_of));
                let (from, to) = (self.kept(from), self.kept(to));
                let step = step.as_ref().map_or(whole(1), |step| self.kept(step));
                let variable = Code::Slot(slot.0);
                // Up or down, as the step says.
                let upwards = binary(BinaryOperator::GreaterEqual, &step, &whole(0));
                let below = binary(BinaryOperator::LessEqual, &variable, &to);
                let above = binary(BinaryOperator::GreaterEqual, &variable, &to);
                let downwards = Code::Unary(UnaryOperator::Not, Box::new(upwards.clone()));
                let test = binary(
                    BinaryOperator::Or,
                    &binary(BinaryOperator::And, &upwards, &below),
                    &binary(BinaryOperator::And, &downwards, &above),
                );
                // The variable may pass its last value by one step, below zero too.
                let unchecked = (slot.0, None);
                let head = self.fix(!all, |translator, head| {
                    let more = binary(BinaryOperator::Plus, &variable, &step);
                    let again = translator.assign(std::slice::from_ref(&unchecked), vec![more], head);
                    let round = translator.regular(body, again, all);
                    translator.choose(test, round, next)
                });
                self.assign(&[slot], vec![from], head)
            }
            RegularKind::While(condition, body) => {
                let test = self.kept(condition);
                self.fix(!all, |translator, head| {
                    let round = translator.regular(body, head, all);
                    translator.choose(test, round, next)
                })
            }
            RegularKind::Until(body, condition) => {
                let test = self.kept(condition);
                self.fix(!all, |translator, head| {
                    let after = translator.choose(test, next, head);
                    translator.regular(body, after, all)
                })
            }
            RegularKind::Loop { parameters, results, body } => {
                let slots: Parameters = parameters
                    .iter()
                    .map(|one| (self.declared(&one.name), natural(&one.name, &one.type_of)))
                    .collect();
                let ends: Parameters = results
                    .iter()
                    .map(|(name, type_of)| (self.declared(name), natural(name, type_of)))
                    .collect();
                let first = parameters.iter().map(|one| self.kept(&one.value)).collect();
                let head = self.fix(!all, |translator, head| {
                    let parameters = slots.clone();
                    translator.loops.push(LoopEnds { head, parameters, next, results: ends });
                    let round = translator.regular(body, next, all);
                    translator.loops.pop();
                    round
                });
                self.assign(&slots, first, head)
            }
            RegularKind::Continue(values) | RegularKind::Exit(values) => {
                // Outside a loop the checker has refused it.
                let Some(ends) = self.loops.last().cloned() else { return next };
                let codes = values.iter().map(|value| self.kept(value)).collect();
                match regular.kind {
                    RegularKind::Continue(_) => self.assign(&ends.parameters, codes, ends.head),
                    _ => self.assign(&ends.results, codes, ends.next),
                }
            }
        }
    }

    /// A repetition whose bounds are computed: counted by a variable of its own.
    fn counted(
        &mut self,
        body: &Regular,
        counter: Slot,
        min: &Code,
        max: Option<&Code>,
        next: NodeId,
        all: bool,
    ) -> NodeId {
        let count = Code::Slot(counter);
        let more = binary(BinaryOperator::Plus, &count, &whole(1));
        let slot = [(counter, None)];
        // Behind the rounds that must be come those that may be.
        let rest = self.fix(!all, |translator, head| {
            let counted = match max {
                Some(_) => translator.assign(&slot, vec![more.clone()], head),
                None => head,
            };
            let round = translator.regular(body, counted, all);
            let round = match max {
                Some(max) => {
                    let none = translator.constant(all);
                    translator.choose(binary(BinaryOperator::Less, &count, max), round, none)
                }
                None => round,
            };
            translator.join(all, vec![next, round])
        });
        let head = self.fix(!all, |translator, head| {
            let counted = translator.assign(&slot, vec![more.clone()], head);
            let round = translator.regular(body, counted, all);
            translator.choose(binary(BinaryOperator::Less, &count, min), round, rest)
        });
        let start = self.assign(&slot, vec![whole(0)], head);
        match max {
            // No number of times lies between bounds that are the wrong way round.
            Some(max) => {
                let none = self.constant(all);
                self.choose(binary(BinaryOperator::LessEqual, min, max), start, none)
            }
            None => start,
        }
    }
}

fn whole(number: i64) -> Code {
    Code::Constant(Value::Number(number))
}

fn binary(operator: BinaryOperator, left: &Code, right: &Code) -> Code {
    Code::Binary(operator, Box::new(left.clone()), Box::new(right.clone()))
}
