//! From a formula to a graph of equations: positive, without regular formulas, each part once.
//!
//! A regular modality is translated with its continuation (as in M. Mateescu, M. Sighireanu, *Efficient on-the-fly
//! model-checking for regular alternation-free mu-calculus*, 2003): `<R*> F` becomes `mu Y . F or <R> Y`. Since
//! continuations are shared, the graph is as large as the formula, counted repetitions unrolled. Negations are
//! pushed inwards by translating a part under the opposite sign.
//!
//! A fixpoint's priority is even for `nu`, odd for `mu`, and at least as large as those of the fixpoints inside
//! it: a cycle of the graph is won by what is outermost on it.

mod regular;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::action::ActionCode;
use crate::check::is_constant;
use crate::components::components;
use crate::function::Function;
use crate::tree::*;
use crate::value::{Code, Real, Slot, Value};

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
}

/// The expressions of a branch.
struct BranchCode {
    values: Vec<Code>,
    condition: Option<Code>,
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
