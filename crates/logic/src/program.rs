//! Equations with values for their variables, made as they are needed.
//!
//! An instance is a node together with the values of the variables it depends on. Everything about an instance
//! that does not depend on a state is computed once and kept: its parts, and where a label takes it.

use std::sync::Arc;

use lts::{LabelId, RowSet};
use rustc_hash::FxHashMap;

use crate::action::LabelText;
use crate::equations::{Equations, Node, NodeId, Values};
use crate::value::{Code, DataError, Slot, Value};

pub(crate) type InstanceId = u32;

/// What an instance is made of.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    Constant(bool),
    /// All of these or one of these, in the same state. Fixpoints have a priority.
    Join {
        all: bool,
        parts: Arc<[InstanceId]>,
        priority: u32,
    },
    /// After all steps or one step.
    Step {
        all: bool,
    },
}

/// The most values that a quantifier may try.
const VALUE_LIMIT: i128 = 100_000;

/// Equations being evaluated.
pub(crate) struct Program {
    pub equations: Equations,
    /// Each instance as a row: its node, then the numbers of the values of its free variables.
    rows: RowSet,
    values: Vec<Value>,
    numbers: FxHashMap<Value, u32>,
    shapes: Vec<Option<Shape>>,
    /// By instance and label: the instances behind the step.
    targets: Vec<Vec<Option<Arc<[InstanceId]>>>>,
    labels: Vec<Option<LabelText>>,
}

impl Program {
    pub fn new(equations: Equations) -> Self {
        Self {
            equations,
            rows: RowSet::default(),
            values: Vec::new(),
            numbers: FxHashMap::default(),
            shapes: Vec::new(),
            targets: Vec::new(),
            labels: Vec::new(),
        }
    }

    /// The instance that stands for the whole formula.
    pub fn root(&mut self) -> InstanceId {
        self.instance(self.equations.root, &[])
    }

    pub fn node(&self, instance: InstanceId) -> NodeId {
        self.rows.row(instance as usize)[0] as NodeId
    }

    /// What an instance stands for, whatever its number.
    pub fn key(&self, instance: InstanceId) -> (NodeId, Vec<&Value>) {
        let row = self.rows.row(instance as usize);
        (row[0] as NodeId, row[1..].iter().map(|&number| &self.values[number as usize]).collect())
    }

    /// The predicate of a step and what is behind it, where there is no data.
    pub fn behind(&mut self, instance: InstanceId) -> (usize, InstanceId) {
        let Node::Step { action, next, .. } = self.equations.nodes[self.node(instance)] else {
            unreachable!("only steps are asked for what is behind them");
        };
        (action, self.instance(next, &[]))
    }

    /// Whether an instance holds where there is no step at all, and only there.
    pub fn is_deadlock(&self, instance: InstanceId) -> bool {
        match self.equations.nodes[self.node(instance)] {
            Node::Step { all: true, action, next } => {
                self.equations.actions[action].constant() == Some(true)
                    && matches!(self.equations.nodes[next], Node::Constant(false))
            }
            _ => false,
        }
    }

    /// How many instances there are so far.
    pub fn instance_count(&self) -> usize {
        self.rows.len()
    }

    /// A node with its free variables as `values` gives them, the last entry of a variable counting.
    fn instance(&mut self, node: NodeId, values: &[(Slot, Value)]) -> InstanceId {
        let mut row = vec![node as u32];
        for &slot in &self.equations.free[node] {
            let value = values.iter().rev().find(|(of, _)| *of == slot).map(|(_, value)| value.clone());
            let value = value.unwrap_or(Value::Bool(false));
            let fresh = self.values.len() as u32;
            let number = *self.numbers.entry(value.clone()).or_insert(fresh);
            if number == fresh {
                self.values.push(value);
            }
            row.push(number);
        }
        let (number, new) = self.rows.insert(&row);
        if new {
            self.shapes.push(None);
            self.targets.push(Vec::new());
        }
        number as InstanceId
    }

    /// The values of an instance's variables.
    fn values_of(&self, instance: InstanceId) -> Vec<(Slot, Value)> {
        let row = self.rows.row(instance as usize);
        let slots = &self.equations.free[row[0] as usize];
        slots
            .iter()
            .zip(&row[1..])
            .map(|(&slot, &number)| (slot, self.values[number as usize].clone()))
            .collect()
    }

    /// What an instance is made of.
    pub fn shape(&mut self, instance: InstanceId) -> Result<Shape, DataError> {
        if let Some(shape) = &self.shapes[instance as usize] {
            return Ok(shape.clone());
        }
        let shape = self.make_shape(instance)?;
        self.shapes[instance as usize] = Some(shape.clone());
        Ok(shape)
    }

    fn make_shape(&mut self, instance: InstanceId) -> Result<Shape, DataError> {
        let node = self.node(instance);
        let values = self.values_of(instance);
        let look_up = |slot: Slot| find(&values, slot);
        // Taken out while the parts are made, since making them changes `self`.
        let made = std::mem::replace(&mut self.equations.nodes[node], Node::Constant(false));
        let shape = self.shape_of(&made, &values, &look_up);
        self.equations.nodes[node] = made;
        shape
    }

    fn shape_of(
        &mut self,
        node: &Node,
        values: &[(Slot, Value)],
        look_up: &dyn Fn(Slot) -> Option<Value>,
    ) -> Result<Shape, DataError> {
        Ok(match node {
            Node::Constant(value) => Shape::Constant(*value),
            Node::Data(code) => Shape::Constant(code.holds(look_up)?),
            Node::And(parts) | Node::Or(parts) => {
                let all = matches!(node, Node::And(_));
                let parts = parts.iter().map(|&part| self.instance(part, values)).collect();
                Shape::Join { all, parts, priority: 0 }
            }
            Node::Fix { priority, body } => Shape::Join {
                all: false,
                parts: Arc::new([self.instance(*body, values)]),
                priority: *priority,
            },
            Node::Assign { values: assigned, next } => {
                let mut extended = values.to_vec();
                for one in assigned {
                    let value = one.value.evaluate(look_up)?;
                    if let (Some(name), Value::Number(number @ ..0)) = (&one.natural, &value) {
                        return Err(DataError::Negative(name.clone(), *number));
                    }
                    extended.push((one.slot, value));
                }
                Shape::Join { all: false, parts: Arc::new([self.instance(*next, &extended)]), priority: 0 }
            }
            Node::Each { all, slot, values: domain, next } => {
                let mut extended = values.to_vec();
                extended.push((*slot, Value::Bool(false)));
                let mut parts = Vec::new();
                for value in domain_values(domain, look_up)? {
                    extended.last_mut().expect("it was just pushed").1 = value;
                    parts.push(self.instance(*next, &extended));
                }
                Shape::Join { all: *all, parts: parts.into(), priority: 0 }
            }
            Node::Step { all, .. } => Shape::Step { all: *all },
        })
    }

    /// Where a step with a label takes an instance that is a step: nowhere if its predicate does not hold.
    pub fn targets(
        &mut self,
        instance: InstanceId,
        label: LabelId,
        text: impl FnOnce() -> String,
    ) -> Result<Arc<[InstanceId]>, DataError> {
        if let Some(Some(known)) = self.targets[instance as usize].get(label.index()) {
            return Ok(known.clone());
        }
        if self.labels.len() <= label.index() {
            self.labels.resize(label.index() + 1, None);
        }
        self.labels[label.index()].get_or_insert_with(|| LabelText::new(&text()));
        let Node::Step { action, next, .. } = self.equations.nodes[self.node(instance)] else {
            unreachable!("only steps are asked for their targets");
        };
        let values = self.values_of(instance);
        let split = self.labels[label.index()].as_ref().expect("it was just made");
        let ways = self.equations.actions[action].matches(split, &|slot| find(&values, slot))?;
        let mut targets = Vec::new();
        for way in ways {
            let extended: Vec<(Slot, Value)> = values.iter().cloned().chain(way).collect();
            targets.push(self.instance(next, &extended));
        }
        targets.sort_unstable();
        targets.dedup();
        let targets: Arc<[InstanceId]> = targets.into();
        let row = &mut self.targets[instance as usize];
        if row.len() <= label.index() {
            row.resize(label.index() + 1, None);
        }
        row[label.index()] = Some(targets.clone());
        Ok(targets)
    }
}

fn find(values: &[(Slot, Value)], slot: Slot) -> Option<Value> {
    values.iter().rev().find(|(of, _)| *of == slot).map(|(_, value)| value.clone())
}

fn domain_values(domain: &Values, look_up: &dyn Fn(Slot) -> Option<Value>) -> Result<Vec<Value>, DataError> {
    let number = |code: &Code| match code.evaluate(look_up)? {
        Value::Number(value) => Ok(value),
        _ => Err(DataError::Types),
    };
    match domain {
        Values::List(all) => all.iter().map(|one| one.evaluate(look_up)).collect(),
        Values::Range(from, to) => {
            let (from, to) = (number(from)?, number(to)?);
            let count = i128::from(to) - i128::from(from) + 1;
            if count > VALUE_LIMIT {
                return Err(DataError::TooManyValues(count));
            }
            Ok((from..=to).map(Value::Number).collect())
        }
    }
}
