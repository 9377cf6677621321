//! From a formula to a graph of equations: positive, without regular formulas, each part once.
//!
//! A regular modality is translated with its continuation (as in M. Mateescu, M. Sighireanu, *Efficient on-the-fly
//! model-checking for regular alternation-free mu-calculus*, 2003): `<R*> F` becomes `mu Y . F or <R> Y`. Since
//! continuations are shared, the graph is as large as the formula, counted repetitions unrolled. Negations are
//! pushed inwards by translating a part under the opposite sign.
//!
//! A fixpoint's priority is even for `nu`, odd for `mu`, and at least as large as those of the fixpoints inside
//! it: a cycle of the graph is won by what is outermost on it.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::action::{ActionCode, OfferCode};
use crate::check::is_constant;
use crate::components::components;
use crate::tree::*;
use crate::value::{Code, Function, Real, Slot, Value};

pub(crate) type NodeId = usize;

/// One equation.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    Constant(bool),
    /// A truth value computed from data.
    Data(Code),
    And(Vec<NodeId>),
    Or(Vec<NodeId>),
    /// After one step, or after all of them, that satisfy a predicate.
    Step {
        all: bool,
        action: usize,
        next: NodeId,
    },
    /// Variables get values, all at once.
    Assign {
        values: Vec<Assigned>,
        next: NodeId,
    },
    /// For one value of a variable, or for all of them.
    Each {
        all: bool,
        slot: Slot,
        values: Values,
        next: NodeId,
    },
    /// The head of a fixpoint: even priorities are greatest ones.
    Fix {
        priority: u32,
        body: NodeId,
    },
}

/// A variable and its new value; a nat must not become negative.
#[derive(Clone, Debug)]
pub(crate) struct Assigned {
    pub slot: Slot,
    pub value: Code,
    pub natural: Option<String>,
}

/// The values of a quantifier.
#[derive(Clone, Debug)]
pub(crate) enum Values {
    List(Vec<Code>),
    Range(Code, Code),
}

/// A formula as equations.
#[derive(Clone, Debug)]
pub(crate) struct Equations {
    pub nodes: Vec<Node>,
    pub root: NodeId,
    pub actions: Vec<ActionCode>,
    /// The variables whose values a node depends on, ascending.
    pub free: Vec<Vec<Slot>>,
    /// Blocks of mutually dependent nodes; a block depends on lower ones only.
    pub block: Vec<u32>,
    pub block_count: usize,
}

/// More equations than anyone can want.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the formula has more than {NODE_LIMIT} parts once its repetitions are unrolled")]
pub struct FormulaTooLarge;

const NODE_LIMIT: usize = 1_000_000;

/// Translates a formula, or its negation.
pub(crate) fn translate(formula: &Formula, negated: bool) -> Result<Equations, FormulaTooLarge> {
    let mut translator = Translator::default();
    let root = translator.formula(formula, negated);
    if translator.too_large {
        return Err(FormulaTooLarge);
    }
    let Translator { nodes, actions, .. } = translator;
    let free = free_slots(&nodes, &actions);
    let (block, block_count) = components(nodes.len(), |node, at| successor(&nodes[node], at));
    Ok(Equations { nodes, root, actions, free, block, block_count })
}

/// A value pattern that stands alone: what it does not bind itself is a constant.
pub(crate) fn pattern_code(pattern: &ActionPattern) -> ActionCode {
    Translator::default().pattern(pattern)
}

/// The successors of a node, by position.
pub(crate) fn successor(node: &Node, at: usize) -> Option<NodeId> {
    match node {
        Node::Constant(_) | Node::Data(_) => None,
        Node::And(parts) | Node::Or(parts) => parts.get(at).copied(),
        Node::Step { next, .. } | Node::Assign { next, .. } | Node::Each { next, .. } => {
            (at == 0).then_some(*next)
        }
        Node::Fix { body, .. } => (at == 0).then_some(*body),
    }
}

impl Equations {
    /// Whether no data is involved: every node then stands for one truth value a state.
    pub fn is_propositional(&self) -> bool {
        self.nodes.iter().all(|node| match node {
            Node::Data(_) | Node::Assign { .. } | Node::Each { .. } => false,
            Node::Step { action, .. } => {
                let mut any = false;
                self.actions[*action].for_each_slot(&mut |_| any = true, &mut |_| {});
                !any
            }
            _ => true,
        })
    }

    /// The parity that the fixpoints of each block share: `None` where a block has both, an alternation.
    pub fn block_parities(&self) -> Vec<Option<bool>> {
        let mut even = vec![false; self.block_count];
        let mut odd = vec![false; self.block_count];
        for (node, block) in self.nodes.iter().zip(&self.block) {
            if let Node::Fix { priority, .. } = node {
                if priority % 2 == 0 {
                    even[*block as usize] = true;
                } else {
                    odd[*block as usize] = true;
                }
            }
        }
        even.into_iter().zip(odd).map(|(even, odd)| (!(even && odd)).then_some(even)).collect()
    }
}

/// The slots of a fixpoint's parameters; a nat with its name.
type Parameters = Vec<(Slot, Option<String>)>;

#[derive(Clone)]
struct LoopEnds {
    head: NodeId,
    parameters: Parameters,
    next: NodeId,
    results: Parameters,
}

#[derive(Default)]
struct Translator {
    nodes: Vec<Node>,
    /// The largest priority of a fixpoint in or below each node.
    top: Vec<u32>,
    actions: Vec<ActionCode>,
    variables: Vec<(String, Slot)>,
    fixpoints: Vec<(String, NodeId, Parameters)>,
    /// A binder has one slot however often it is translated, by its address in the tree; counters of repetitions have
    /// one too.
    slots: FxHashMap<*const (), Slot>,
    /// The expressions of regular formulas, made where their variables are in scope.
    codes: FxHashMap<*const Expression, Code>,
    /// The loops around: where a round begins and its variables, where the loop ends and its results.
    loops: Vec<LoopEnds>,
    known: FxHashMap<(*const Formula, bool), NodeId>,
    known_actions: FxHashMap<*const Action, usize>,
    too_large: bool,
}

impl Translator {
    fn add(&mut self, node: Node) -> NodeId {
        let mut top = match node {
            Node::Fix { priority, .. } => priority,
            _ => 0,
        };
        let mut at = 0;
        while let Some(next) = successor(&node, at) {
            top = top.max(self.top[next]);
            at += 1;
        }
        self.too_large |= self.nodes.len() >= NODE_LIMIT;
        self.nodes.push(node);
        self.top.push(top);
        self.nodes.len() - 1
    }

    fn constant(&mut self, value: bool) -> NodeId {
        // Both constants come first, so that they are one node each.
        if self.nodes.is_empty() {
            self.add(Node::Constant(false));
            self.add(Node::Constant(true));
        }
        usize::from(value)
    }

    fn as_constant(&self, node: NodeId) -> Option<bool> {
        match self.nodes[node] {
            Node::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// All of these, or one of these.
    fn join(&mut self, all: bool, parts: Vec<NodeId>) -> NodeId {
        let mut kept: Vec<NodeId> = Vec::new();
        for part in parts {
            match self.as_constant(part) {
                Some(value) if value == all => {}
                Some(value) => return self.constant(value),
                None if kept.contains(&part) && kept.len() < 64 => {}
                None => kept.push(part),
            }
        }
        match kept.len() {
            0 => self.constant(all),
            1 => kept[0],
            _ if all => self.add(Node::And(kept)),
            _ => self.add(Node::Or(kept)),
        }
    }

    fn step(&mut self, all: bool, action: usize, next: NodeId) -> NodeId {
        if self.as_constant(next) == Some(all) || matches!(self.actions[action], ActionCode::Constant(false))
        {
            return self.constant(all);
        }
        self.add(Node::Step { all, action, next })
    }

    /// A fixpoint whose body is made once its own node is known.
    fn fix(&mut self, least: bool, body: impl FnOnce(&mut Self, NodeId) -> NodeId) -> NodeId {
        self.constant(true);
        let head = self.add(Node::Fix { priority: 0, body: 0 });
        let body = body(self, head);
        let top = self.top[body];
        let priority = if (top % 2 == 1) == least { top } else { top + 1 };
        self.nodes[head] = Node::Fix { priority, body };
        self.top[head] = priority;
        head
    }

    fn formula(&mut self, formula: &Formula, negated: bool) -> NodeId {
        if self.too_large {
            return self.constant(true);
        }
        let key = (std::ptr::from_ref(formula), negated);
        if let Some(&node) = self.known.get(&key) {
            return node;
        }
        let node = self.translate(formula, negated);
        self.known.insert(key, node);
        node
    }

    fn translate(&mut self, formula: &Formula, negated: bool) -> NodeId {
        match &formula.kind {
            FormulaKind::Data(expression) => self.data(expression, negated),
            FormulaKind::Name(name, arguments) => self.name(name, arguments, negated),
            FormulaKind::Not(of) => self.formula(of, !negated),
            FormulaKind::And(all) | FormulaKind::Or(all) => {
                let and = matches!(formula.kind, FormulaKind::And(_)) != negated;
                let parts = all.iter().map(|one| self.formula(one, negated)).collect();
                self.join(and, parts)
            }
            FormulaKind::Binary(BinaryOperator::Implies, left, right) => {
                let parts = vec![self.formula(left, !negated), self.formula(right, negated)];
                self.join(negated, parts)
            }
            FormulaKind::Binary(operator, left, right) => {
                let equal = (*operator == BinaryOperator::Equ) != negated;
                let both = vec![self.formula(left, false), self.formula(right, !equal)];
                let neither = vec![self.formula(left, true), self.formula(right, equal)];
                let parts = vec![self.join(true, both), self.join(true, neither)];
                self.join(false, parts)
            }
            FormulaKind::Possible(regular, body) | FormulaKind::Necessary(regular, body) => {
                let all = matches!(formula.kind, FormulaKind::Necessary(..)) != negated;
                let outer = self.variables.len();
                self.actions(regular);
                let next = self.formula(body, negated);
                self.variables.truncate(outer);
                self.regular(regular, next, all)
            }
            FormulaKind::Forever(regular) | FormulaKind::Saturated(regular) => {
                let all = matches!(formula.kind, FormulaKind::Saturated(_)) != negated;
                let outer = self.variables.len();
                self.actions(regular);
                self.variables.truncate(outer);
                self.fix(all, |translator, head| translator.regular(regular, head, all))
            }
            FormulaKind::Fixpoint { least, name, parameters, body } => {
                let outer = self.variables.len();
                let first: Vec<Code> = parameters.iter().map(|one| self.code(&one.value)).collect();
                let slots: Parameters = parameters
                    .iter()
                    .map(|one| (self.declare(&one.name), natural(&one.name, &one.type_of)))
                    .collect();
                let head = self.fix(*least != negated, |translator, head| {
                    translator.fixpoints.push((name.text.clone(), head, slots.clone()));
                    let body = translator.formula(body, negated);
                    translator.fixpoints.pop();
                    body
                });
                self.variables.truncate(outer);
                self.assign(&slots, first, head)
            }
            FormulaKind::Quantified { exists, variables, body } => {
                let outer = self.variables.len();
                let mut made = Vec::new();
                for domain in variables {
                    let values = match &domain.values {
                        DomainValues::Bool => Values::List(
                            [false, true].map(|value| Code::Constant(Value::Bool(value))).to_vec(),
                        ),
                        DomainValues::Range(from, to) => Values::Range(self.code(from), self.code(to)),
                        DomainValues::Set(all) => {
                            Values::List(all.iter().map(|one| self.code(one)).collect())
                        }
                    };
                    made.push((self.declare(&domain.name), values));
                }
                let body = self.formula(body, negated);
                self.variables.truncate(outer);
                made.into_iter().rev().fold(body, |next, (slot, values)| {
                    self.add(Node::Each { all: *exists == negated, slot, values, next })
                })
            }
            FormulaKind::If(arms, otherwise) => {
                let mut result = self.formula(otherwise, negated);
                for (condition, branch) in arms.iter().rev() {
                    let then = vec![self.formula(condition, false), self.formula(branch, negated)];
                    let other = vec![self.formula(condition, true), result];
                    let parts = vec![self.join(true, then), self.join(true, other)];
                    result = self.join(false, parts);
                }
                result
            }
            FormulaKind::Let(bindings, body) => {
                let outer = self.variables.len();
                let mut made = Vec::new();
                for binding in bindings {
                    let value = self.code(&binding.value);
                    let slot = self.declare(&binding.name);
                    made.push(((slot, natural(&binding.name, &binding.type_of)), value));
                }
                let body = self.formula(body, negated);
                self.variables.truncate(outer);
                made.into_iter()
                    .rev()
                    .fold(body, |next, (slot, value)| self.assign(&[slot], vec![value], next))
            }
            FormulaKind::Case(of, branches) => {
                let of = self.code(of);
                let (mut bodies, mut codes) = (Vec::new(), Vec::new());
                for branch in branches {
                    let outer = self.variables.len();
                    codes.push(self.branch_code(branch));
                    bodies.push(self.formula(&branch.body, negated));
                    self.variables.truncate(outer);
                }
                self.branches(&of, branches, bodies, codes)
            }
        }
    }

    fn declare(&mut self, name: &Name) -> Slot {
        let fresh = self.slots.len() as Slot;
        let slot = *self.slots.entry(std::ptr::from_ref(name).cast()).or_insert(fresh);
        self.variables.push((name.text.clone(), slot));
        slot
    }

    fn declared(&self, name: &Name) -> Slot {
        self.slots[&std::ptr::from_ref(name).cast()]
    }

    /// One node or another, as data tells.
    fn choose(&mut self, test: Code, then: NodeId, otherwise: NodeId) -> NodeId {
        let test_fails = Code::Unary(UnaryOperator::Not, Box::new(test.clone()));
        let holds = self.test(test);
        let fails = self.test(test_fails);
        let parts = vec![self.join(true, vec![holds, then]), self.join(true, vec![fails, otherwise])];
        self.join(false, parts)
    }

    /// The branches of a case, each with its body already translated; the last one matches whatever is left.
    fn branches<T>(
        &mut self,
        of: &Code,
        branches: &[Branch<T>],
        bodies: Vec<NodeId>,
        codes: Vec<BranchCode>,
    ) -> NodeId {
        let mut result = self.constant(false);
        let last = branches.len() - 1;
        for (at, ((branch, body), code)) in branches.iter().zip(bodies).zip(codes).enumerate().rev() {
            let mut inner = match code.condition {
                Some(condition) => self.choose(condition, body, result),
                None => body,
            };
            match &branch.pattern {
                CasePattern::Any => {}
                CasePattern::Bind(name, type_of) => {
                    let slot = (self.declared(name), natural(name, type_of));
                    inner = self.assign(&[slot], vec![of.clone()], inner);
                }
                // What is left for the last branch is its own: the checker has seen to that.
                CasePattern::Values(_) if at == last && branch.condition.is_none() => {}
                CasePattern::Values(_) => {
                    let equal = |value: Code| {
                        Code::Binary(BinaryOperator::Equal, Box::new(of.clone()), Box::new(value))
                    };
                    let tests = code.values.into_iter().map(equal);
                    let test = tests.reduce(|left, right| {
                        Code::Binary(BinaryOperator::Or, Box::new(left), Box::new(right))
                    });
                    if let Some(test) = test {
                        inner = self.choose(test, inner, result);
                    }
                }
            }
            result = inner;
        }
        result
    }

    /// Makes the expressions of a branch and leaves in scope what its pattern binds.
    fn branch_code<T>(&mut self, branch: &Branch<T>) -> BranchCode {
        let values = match &branch.pattern {
            CasePattern::Values(values) => values.iter().map(|one| self.code(one)).collect(),
            CasePattern::Any => Vec::new(),
            CasePattern::Bind(name, _) => {
                self.declare(name);
                Vec::new()
            }
        };
        BranchCode { values, condition: branch.condition.as_ref().map(|one| self.code(one)) }
    }

    /// Keeps the code of an expression for when the regular formula around it is translated.
    fn keep_code(&mut self, expression: &Expression) {
        let code = self.code(expression);
        self.codes.insert(std::ptr::from_ref(expression), code);
    }

    fn kept(&self, expression: &Expression) -> Code {
        self.codes[&std::ptr::from_ref(expression)].clone()
    }

    fn assign(&mut self, slots: &[(Slot, Option<String>)], values: Vec<Code>, next: NodeId) -> NodeId {
        if slots.is_empty() {
            return next;
        }
        let values = slots
            .iter()
            .zip(values)
            .map(|((slot, natural), value)| Assigned { slot: *slot, value, natural: natural.clone() })
            .collect();
        self.add(Node::Assign { values, next })
    }

    fn name(&mut self, name: &Name, arguments: &[Expression], negated: bool) -> NodeId {
        if let Some((_, head, slots)) =
            self.fixpoints.iter().rev().find(|(text, ..)| *text == name.text).cloned()
        {
            let values = arguments.iter().map(|one| self.code(one)).collect();
            return self.assign(&slots, values, head);
        }
        let kind = match arguments.is_empty() {
            true => ExpressionKind::Name(name.text.clone()),
            false => ExpressionKind::Call(name.text.clone(), arguments.to_vec()),
        };
        self.data(&Expression { kind, span: name.span }, negated)
    }

    fn data(&mut self, expression: &Expression, negated: bool) -> NodeId {
        let code = self.code(expression);
        let code = if negated { Code::Unary(UnaryOperator::Not, Box::new(code)) } else { code };
        self.test(code)
    }

    fn test(&mut self, code: Code) -> NodeId {
        // What depends on no variable is decided now.
        let mut closed = true;
        code.for_each_slot(&mut |_| closed = false);
        if let (true, Ok(value)) = (closed, code.holds(&|_| None)) {
            return self.constant(value);
        }
        self.constant(true);
        self.add(Node::Data(code))
    }

    fn code(&mut self, expression: &Expression) -> Code {
        match &expression.kind {
            ExpressionKind::Bool(value) => Code::Constant(Value::Bool(*value)),
            ExpressionKind::Number(value) => Code::Constant(Value::Number(*value)),
            ExpressionKind::Text(text) => Code::Constant(Value::Text(text.clone())),
            ExpressionKind::Real(value) => Code::Constant(Value::Real(Real(*value))),
            ExpressionKind::Char(letter) => Code::Constant(Value::Char(*letter)),
            ExpressionKind::Of(of, _) => self.code(of),
            ExpressionKind::Wrong => Code::Constant(Value::Bool(true)),
            ExpressionKind::Name(name) => match self.variables.iter().rev().find(|(text, _)| text == name) {
                Some(&(_, slot)) => Code::Slot(slot),
                None => {
                    debug_assert!(is_constant(name));
                    Code::Constant(Value::Term(name.clone()))
                }
            },
            ExpressionKind::Call(name, arguments) => {
                let arguments = arguments.iter().map(|one| self.code(one)).collect();
                match Function::find(name) {
                    Some(&(_, function, ..)) => Code::Function(function, arguments),
                    None => Code::Term(name.clone(), arguments),
                }
            }
            ExpressionKind::Unary(operator, of) => Code::Unary(*operator, Box::new(self.code(of))),
            ExpressionKind::Binary(operator, left, right) => {
                Code::Binary(*operator, Box::new(self.code(left)), Box::new(self.code(right)))
            }
        }
    }

    /// Makes the predicates of a regular formula, from left to right, and leaves in scope what they bind.
    fn actions(&mut self, regular: &Regular) {
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
    fn pattern(&mut self, pattern: &ActionPattern) -> ActionCode {
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
    fn regular(&mut self, regular: &Regular, next: NodeId, all: bool) -> NodeId {
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

/// The expressions of a branch.
struct BranchCode {
    values: Vec<Code>,
    condition: Option<Code>,
}

fn whole(number: i64) -> Code {
    Code::Constant(Value::Number(number))
}

fn binary(operator: BinaryOperator, left: &Code, right: &Code) -> Code {
    Code::Binary(operator, Box::new(left.clone()), Box::new(right.clone()))
}

fn natural(name: &Name, type_of: &Type) -> Option<String> {
    (*type_of == Type::Nat).then(|| name.text.clone())
}

/// What each node depends on: read now, or below and not bound in between. Repeated until nothing changes.
fn free_slots(nodes: &[Node], actions: &[ActionCode]) -> Vec<Vec<Slot>> {
    let mut free: Vec<FxHashSet<Slot>> = vec![FxHashSet::default(); nodes.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for (id, node) in nodes.iter().enumerate() {
            let mut found: FxHashSet<Slot> = FxHashSet::default();
            let mut at = 0;
            while let Some(next) = successor(node, at) {
                found.extend(&free[next]);
                at += 1;
            }
            let read = |code: &Code, found: &mut FxHashSet<Slot>| {
                code.for_each_slot(&mut |slot| {
                    found.insert(slot);
                });
            };
            match node {
                Node::Data(code) => read(code, &mut found),
                Node::Assign { values, .. } => {
                    values.iter().for_each(|one| {
                        found.remove(&one.slot);
                    });
                    values.iter().for_each(|one| read(&one.value, &mut found));
                }
                Node::Each { slot, values, .. } => {
                    found.remove(slot);
                    match values {
                        Values::List(all) => all.iter().for_each(|one| read(one, &mut found)),
                        Values::Range(from, to) => {
                            read(from, &mut found);
                            read(to, &mut found);
                        }
                    }
                }
                Node::Step { action, .. } => {
                    let (mut used, mut bound) = (Vec::new(), Vec::new());
                    actions[*action].for_each_slot(&mut |slot| used.push(slot), &mut |slot| bound.push(slot));
                    bound.iter().for_each(|slot| {
                        found.remove(slot);
                    });
                    found.extend(used.into_iter().filter(|slot| !bound.contains(slot)));
                }
                _ => {}
            }
            if found.len() > free[id].len() {
                free[id] = found;
                changed = true;
            }
        }
    }
    free.into_iter()
        .map(|set| {
            let mut slots: Vec<Slot> = set.into_iter().collect();
            slots.sort_unstable();
            slots
        })
        .collect()
}
