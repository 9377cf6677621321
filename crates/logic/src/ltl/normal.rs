//! Negation normal form, simplified while it is built.
//!
//! Nodes come in pairs: a formula with an even number, its negation with the odd number after it. Negating is free,
//! shared subformulas stay shared, and every law is stated once, its dual following by negation. The laws are those
//! of Somenzi and Bloem, "Efficient Büchi automata from LTL formulae" (2000), with the purely eventual and universal
//! formulas of Etessami and Holzmann, "Optimizing Büchi automata" (2000).

use rustc_hash::FxHashMap;

use super::{Formula, FormulaId, Formulas};

/// A formula in negation normal form.
pub(super) type Node = u32;

pub(super) const TRUE: Node = 0;
pub(super) const FALSE: Node = 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Form {
    True,
    False,
    Literal(u32, bool),
    And(Node, Node),
    Or(Node, Node),
    Next(Node),
    Until(Node, Node),
    Release(Node, Node),
}

/// The negation of a node.
pub(super) fn negation(node: Node) -> Node {
    node ^ 1
}

/// How many comparisons one test of implication may take: enough for formulas that people write, and a bound for
/// those that programs generate.
const FUEL: u32 = 200;

/// How deep a law may go into nested operators before the rest stays as it is, which bounds the recursion.
const DEPTH: u32 = 100;

#[derive(Debug)]
pub(super) struct Normal {
    forms: Vec<Form>,
    /// Holds of a path if it holds of a suffix (first) or holds of all suffixes of a path of which it holds (second).
    pure: Vec<(bool, bool)>,
    known: FxHashMap<Form, Node>,
    depth: u32,
}

/// The formula in normal form.
pub(super) fn normal_form(formulas: &Formulas, formula: FormulaId) -> (Normal, Node) {
    let mut normal = Normal {
        forms: vec![Form::True, Form::False],
        pure: vec![(true, true); 2],
        known: FxHashMap::default(),
        depth: 0,
    };
    // Arguments have smaller numbers: one pass down finds what the formula needs, one pass up builds it.
    let end = formula.0 as usize + 1;
    let mut needed = vec![false; end];
    needed[end - 1] = true;
    for index in (0..end).rev() {
        if needed[index] {
            for argument in formulas.formulas[index].arguments().into_iter().flatten() {
                needed[argument.0 as usize] = true;
            }
        }
    }
    let mut nodes = vec![TRUE; end];
    for index in (0..end).filter(|&index| needed[index]) {
        let node = |argument: FormulaId| nodes[argument.0 as usize];
        nodes[index] = match formulas.formulas[index] {
            Formula::True => TRUE,
            Formula::False => FALSE,
            Formula::Prop(proposition) => normal.pair(Form::Literal(proposition, true)),
            Formula::Not(argument) => negation(node(argument)),
            Formula::And(left, right) => normal.and(node(left), node(right)),
            Formula::Or(left, right) => normal.or(node(left), node(right)),
            Formula::Implies(left, right) => normal.or(negation(node(left)), node(right)),
            Formula::Iff(left, right) => {
                let (left, right) = (node(left), node(right));
                let both = normal.and(left, right);
                let none = normal.and(negation(left), negation(right));
                normal.or(both, none)
            }
            Formula::Next(argument) => normal.next(node(argument)),
            Formula::Until(left, right) => normal.until(node(left), node(right)),
            Formula::Release(left, right) => normal.release(node(left), node(right)),
            Formula::Eventually(argument) => normal.until(TRUE, node(argument)),
            Formula::Always(argument) => normal.release(FALSE, node(argument)),
            // left W right = right R (left or right)
            Formula::WeakUntil(left, right) => {
                let either = normal.or(node(left), node(right));
                normal.release(node(right), either)
            }
        };
    }
    (normal, nodes[end - 1])
}

impl Normal {
    pub(super) fn form(&self, node: Node) -> Form {
        self.forms[node as usize]
    }

    /// One more than the greatest node. The arguments of a node are smaller than the node and its negation.
    pub(super) fn len(&self) -> usize {
        self.forms.len()
    }

    /// The number of a form, made together with its negation if it is new.
    fn pair(&mut self, form: Form) -> Node {
        if let Some(&node) = self.known.get(&form) {
            return node;
        }
        let dual = match form {
            Form::True => Form::False,
            Form::False => Form::True,
            Form::Literal(proposition, sign) => Form::Literal(proposition, !sign),
            Form::And(left, right) => Form::Or(negation(left), negation(right)),
            Form::Or(left, right) => Form::And(negation(left), negation(right)),
            Form::Next(argument) => Form::Next(negation(argument)),
            Form::Until(left, right) => Form::Release(negation(left), negation(right)),
            Form::Release(left, right) => Form::Until(negation(left), negation(right)),
        };
        let node = self.forms.len() as Node;
        for (form, node) in [(form, node), (dual, node + 1)] {
            let pure = |argument: Node| self.pure[argument as usize];
            let both = |left, right| (pure(left).0 && pure(right).0, pure(left).1 && pure(right).1);
            self.pure.push(match form {
                Form::True | Form::False => (true, true),
                Form::Literal(..) => (false, false),
                Form::Next(argument) => pure(argument),
                Form::And(left, right) | Form::Or(left, right) => both(left, right),
                Form::Until(left, right) => (left == TRUE || both(left, right).0, both(left, right).1),
                Form::Release(left, right) => (both(left, right).0, left == FALSE || both(left, right).1),
            });
            // The forms "eventually always" and "always eventually" are pure.
            let last = self.pure.len() - 1;
            match form {
                Form::Until(TRUE, right) if self.pure[right as usize].1 => self.pure[last] = (true, true),
                Form::Release(FALSE, right) if self.pure[right as usize].0 => self.pure[last] = (true, true),
                _ => {}
            }
            self.forms.push(form);
            self.known.insert(form, node);
        }
        node
    }

    fn or(&mut self, left: Node, right: Node) -> Node {
        negation(self.and(negation(left), negation(right)))
    }

    fn release(&mut self, left: Node, right: Node) -> Node {
        negation(self.until(negation(left), negation(right)))
    }

    fn next(&mut self, argument: Node) -> Node {
        if self.pure[argument as usize] == (true, true) { argument } else { self.pair(Form::Next(argument)) }
    }

    fn and(&mut self, left: Node, right: Node) -> Node {
        if self.implies(left, right) {
            return left;
        }
        if self.implies(right, left) {
            return right;
        }
        if self.implies(left, negation(right)) || self.implies(right, negation(left)) {
            return FALSE;
        }
        let law = if self.depth < DEPTH { self.deeper(|normal| normal.common(left, right)) } else { None };
        law.unwrap_or_else(|| self.pair(Form::And(left.min(right), left.max(right))))
    }

    fn deeper<T>(&mut self, work: impl FnOnce(&mut Normal) -> T) -> T {
        self.depth += 1;
        let result = work(self);
        self.depth -= 1;
        result
    }

    /// A conjunction of two formulas with the same operator as one such formula.
    fn common(&mut self, left: Node, right: Node) -> Option<Node> {
        match (self.form(left), self.form(right)) {
            (Form::Next(left), Form::Next(right)) => {
                let both = self.and(left, right);
                Some(self.next(both))
            }
            (Form::Release(first, left), Form::Release(second, right)) if first == second => {
                let both = self.and(left, right);
                Some(self.release(first, both))
            }
            (Form::Until(left, first), Form::Until(right, second)) if first == second => {
                let both = self.and(left, right);
                Some(self.until(both, first))
            }
            (Form::Until(TRUE, first), Form::Until(TRUE, second)) => {
                // Eventually always, twice.
                let (Form::Release(FALSE, left), Form::Release(FALSE, right)) =
                    (self.form(first), self.form(second))
                else {
                    return None;
                };
                let both = self.and(left, right);
                let always = self.release(FALSE, both);
                Some(self.until(TRUE, always))
            }
            _ => None,
        }
    }

    fn until(&mut self, left: Node, right: Node) -> Node {
        if self.pure[right as usize].0 || self.implies(left, right) {
            return right;
        }
        let left = if self.implies(negation(right), left) { TRUE } else { left };
        let law = if self.depth < DEPTH { self.deeper(|normal| normal.shorter(left, right)) } else { None };
        law.unwrap_or_else(|| self.pair(Form::Until(left, right)))
    }

    /// An until without one of its operators, or with the next operator outside.
    fn shorter(&mut self, left: Node, right: Node) -> Option<Node> {
        match (self.form(left), self.form(right)) {
            (_, Form::Until(middle, _)) if self.implies(left, middle) => Some(right),
            (Form::True, Form::Until(_, last)) => Some(self.until(TRUE, last)),
            (Form::Next(left), Form::Next(right)) => {
                let inner = self.until(left, right);
                Some(self.next(inner))
            }
            (Form::True, Form::Next(right)) => {
                let inner = self.until(TRUE, right);
                Some(self.next(inner))
            }
            _ => None,
        }
    }

    /// Does the form of the formulas show that the first one implies the second one?
    fn implies(&self, first: Node, second: Node) -> bool {
        self.implies_within(first, second, &mut { FUEL })
    }

    /// The depth of the recursion is at most the fuel.
    fn implies_within(&self, first: Node, second: Node, fuel: &mut u32) -> bool {
        if first == second || first == FALSE || second == TRUE {
            return true;
        }
        if *fuel == 0 {
            return false;
        }
        *fuel -= 1;
        let mut implies = |first, second| self.implies_within(first, second, fuel);
        (match self.form(second) {
            Form::And(left, right) => implies(first, left) && implies(first, right),
            Form::Or(left, right) => implies(first, left) || implies(first, right),
            Form::Until(_, right) if implies(first, right) => true,
            Form::Release(left, right) if implies(first, left) && implies(first, right) => true,
            _ => false,
        }) || (match self.form(first) {
            Form::And(left, right) => implies(left, second) || implies(right, second),
            Form::Or(left, right) => implies(left, second) && implies(right, second),
            Form::Release(_, right) if implies(right, second) => true,
            Form::Until(left, right) if implies(left, second) && implies(right, second) => true,
            _ => false,
        }) || match (self.form(first), self.form(second)) {
            (Form::Next(first), Form::Next(second)) => implies(first, second),
            (Form::Until(left, right), Form::Until(to_left, to_right))
            | (Form::Release(left, right), Form::Release(to_left, to_right)) => {
                implies(left, to_left) && implies(right, to_right)
            }
            _ => false,
        }
    }
}
