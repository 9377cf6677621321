//! A property that single runs decide, as an automaton over labels that watches a model while it is explored.
//!
//! The automaton is made as it is needed and shared by all threads; each keeps what it has asked for ([`Watcher`]). A
//! position is what the formula can do next. Without data, and with conditions on states at the ends of runs only, a set
//! of parts of the formula is one position: the subset construction, done beforehand for whatever labels may come. A
//! state of the model then usually comes with one position, and a property that has nothing to remember has one in all.
//! Where there are too many sets, or data, each part is a position of its own and a step may lead to several.
//!
//! Which of the two it is depends on the formula alone, and positions come in an order that follows from the formula and
//! its values, not from the numbers that threads happened to hand out: so the product with a model is always the same.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lts::{LabelId, RowSet};
use model::Model;
use rustc_hash::FxHashMap;

use crate::closure::{Closures, Guard};
use crate::equations::{Equations, Node};
use crate::program::{InstanceId, Program, Shape};
use crate::shape::Class;
use crate::verdict::CheckError;

/// With more sets than this, or more predicates in one of them, parts are followed one by one.
const MOST_SETS: usize = 64;
const MOST_PREDICATES: usize = 8;

/// What the formula can do next.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Position {
    /// Conditions on the current state, each of which ends the search.
    pub accepts: Vec<Guard>,
    /// Where labels lead, with the conditions on the current state.
    pub rows: Vec<(Guard, u32)>,
    /// Whether what ends the search is a state without any step, and nothing else.
    pub at_deadlocks: bool,
}

impl Position {
    /// Whether a run is accepted here, whatever the state.
    pub fn is_accepting(&self) -> bool {
        self.accepts.iter().any(|guard| guard.is_empty())
    }

    /// Whether a condition on the current state decides where labels lead.
    pub fn has_conditions(&self) -> bool {
        self.rows.iter().any(|(guard, _)| !guard.is_empty())
    }
}

/// Where a label leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Move {
    Nowhere,
    /// The run is accepted with this step. Only where no other condition ends runs: those might be shorter.
    Accepted,
    To(Vec<u32>),
}

pub(crate) struct Monitor {
    shared: Mutex<Shared>,
    /// Where runs begin; nothing where no run can be accepted.
    root: Option<u32>,
    /// How many positions there can be; unknown where they are made as labels come.
    count: Option<usize>,
    /// Whether runs are accepted with a step, see [`Move::Accepted`].
    at_steps: bool,
    /// Whether some step was not followed, since no run that begins with it is accepted.
    left_out: AtomicBool,
}

struct Shared {
    parts: Closures,
    positions: Vec<Arc<Position>>,
    numbers: FxHashMap<Arc<Position>, u32>,
    /// Steps of the formula that are taken together.
    rows: RowSet,
    deterministic: bool,
    at_steps: bool,
    max_instances: usize,
}

impl Monitor {
    /// The monitor of equations that single runs decide, without cycles that count.
    pub fn new(equations: &Equations, class: &[Class], max_instances: usize) -> Result<Monitor, CheckError> {
        // A condition on a state is a leaf that has to be evaluated there, alone or beside something else.
        let conditional = equations.nodes.iter().zip(class).any(|(node, class)| match node {
            Node::Constant(_) | Node::Data(_) => false,
            Node::And(_) => true,
            _ => *class == Class::Leaf,
        });
        let mut shared = Shared {
            parts: Closures::new(Program::new(equations.clone()), class),
            positions: Vec::new(),
            numbers: FxHashMap::default(),
            rows: RowSet::default(),
            deterministic: true,
            at_steps: !conditional,
            max_instances,
        };
        let count = shared.all_sets()?;
        if count.is_none() {
            shared.deterministic = false;
            shared.positions.clear();
            shared.numbers.clear();
            shared.rows = RowSet::default();
        }
        let start = shared.parts.program.root();
        let root = shared.position(&[start])?;
        let at_steps = shared.at_steps;
        Ok(Monitor { shared: Mutex::new(shared), root, count, at_steps, left_out: AtomicBool::new(false) })
    }

    pub fn root(&self) -> Option<u32> {
        self.root
    }

    pub fn count(&self) -> Option<usize> {
        self.count
    }

    pub fn at_steps(&self) -> bool {
        self.at_steps
    }

    pub fn has_left_out(&self) -> bool {
        self.left_out.load(Relaxed)
    }

    pub fn leave_out(&self) {
        self.left_out.store(true, Relaxed);
    }

    /// A copy for one thread, which counts its references alone.
    pub fn position(&self, number: u32) -> Position {
        self.lock().positions[number as usize].as_ref().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    /// Makes all sets of parts that any labels could lead to, and counts them; nothing where they are not the way to go.
    fn all_sets(&mut self) -> Result<Option<usize>, CheckError> {
        if !self.parts.program.equations.is_propositional() {
            return Ok(None);
        }
        let start = self.parts.program.root();
        self.position(&[start])?;
        let mut at = 0;
        while at < self.positions.len() {
            let position = self.positions[at].clone();
            at += 1;
            if position.has_conditions() || self.positions.len() > MOST_SETS {
                return Ok(None);
            }
            let Some(&(_, row)) = position.rows.first() else { continue };
            let steps = self.rows.row(row as usize).to_vec();
            let mut predicates: Vec<usize> = Vec::new();
            let mut ways: Vec<(Option<usize>, InstanceId)> = Vec::new();
            for step in steps {
                let (action, next) = self.parts.program.behind(step);
                let constant = self.parts.program.equations.actions[action].constant();
                let predicate = match constant {
                    Some(true) => None,
                    Some(false) => continue,
                    None => Some(predicates.iter().position(|&one| one == action).unwrap_or_else(|| {
                        predicates.push(action);
                        predicates.len() - 1
                    })),
                };
                ways.push((predicate, next));
            }
            if predicates.len() > MOST_PREDICATES {
                return Ok(None);
            }
            for label in 0..1u32 << predicates.len() {
                let holds = |predicate: Option<usize>| predicate.is_none_or(|one| label >> one & 1 == 1);
                let next: Vec<InstanceId> =
                    ways.iter().filter(|(predicate, _)| holds(*predicate)).map(|&(_, next)| next).collect();
                self.position(&next)?;
                if self.positions.len() > MOST_SETS {
                    return Ok(None);
                }
            }
        }
        Ok(Some(self.positions.len()))
    }

    /// The number of the position that some parts of the formula make together; nothing where they lead nowhere. Where
    /// runs are accepted with a step, all positions that accept are the same.
    fn position(&mut self, parts: &[InstanceId]) -> Result<Option<u32>, CheckError> {
        let mut accepts: Vec<Guard> = Vec::new();
        let mut steps: Vec<(Guard, InstanceId)> = Vec::new();
        for &part in parts {
            let closure = self.parts.closure(part)?;
            accepts.extend(closure.accepts.iter().cloned());
            steps.extend(closure.steps.iter().map(|(guard, _, step)| (guard.clone(), *step)));
        }
        if accepts.iter().any(|guard| guard.is_empty()) {
            accepts = vec![Guard::default()];
            steps.clear();
        }
        // Numbers of instances depend on who was first, but not what they stand for.
        let program = &self.parts.program;
        let guard_key = |guard: &Guard| {
            let mut keys: Vec<_> = guard.iter().map(|&leaf| program.key(leaf)).collect();
            keys.sort();
            keys
        };
        accepts.sort_by_cached_key(guard_key);
        accepts.dedup();
        steps.sort_by_cached_key(|(guard, step)| (guard_key(guard), program.key(*step)));
        steps.dedup();
        if accepts.is_empty() && steps.is_empty() {
            return Ok(None);
        }
        let (always, sometimes): (Vec<_>, Vec<_>) =
            steps.into_iter().partition(|(guard, _)| guard.is_empty());
        let mut rows = Vec::new();
        if !always.is_empty() {
            let steps: Vec<InstanceId> = always.iter().map(|&(_, step)| step).collect();
            rows.push((Guard::default(), self.rows.insert(&steps).0 as u32));
        }
        rows.extend(sometimes.into_iter().map(|(guard, step)| (guard, self.rows.insert(&[step]).0 as u32)));
        let at_deadlocks = match accepts.as_slice() {
            [guard] => guard.len() == 1 && self.parts.program.is_deadlock(guard[0]),
            _ => false,
        };
        let position = Position { accepts, rows, at_deadlocks };
        if position.is_accepting() && self.at_steps {
            // Nothing is stored for it: it ends the search.
            return Ok(Some(ACCEPTED));
        }
        if let Some(&known) = self.numbers.get(&position) {
            return Ok(Some(known));
        }
        let number = self.positions.len() as u32;
        let position = Arc::new(position);
        self.positions.push(position.clone());
        self.numbers.insert(position, number);
        Ok(Some(number))
    }

    /// Where the steps of a row lead with a label.
    fn follow(
        &mut self,
        row: u32,
        label: LabelId,
        text: &mut dyn FnMut() -> String,
    ) -> Result<Move, CheckError> {
        let steps = self.rows.row(row as usize).to_vec();
        let mut parts: Vec<InstanceId> = Vec::new();
        for step in steps {
            let mut targets = self.parts.program.targets(step, label, &mut *text)?.to_vec();
            let program = &self.parts.program;
            targets.sort_by_cached_key(|&target| program.key(target));
            parts.extend(targets);
        }
        if self.parts.program.instance_count() > self.max_instances {
            return Err(CheckError::Unbounded(self.max_instances));
        }
        let mut found: Vec<u32> = Vec::new();
        if self.deterministic {
            found.extend(self.position(&parts)?);
        } else {
            for part in parts {
                if let Some(position) = self.position(&[part])?
                    && !found.contains(&position)
                {
                    found.push(position);
                }
            }
        }
        Ok(match found.as_slice() {
            [] => Move::Nowhere,
            found if found.contains(&ACCEPTED) => Move::Accepted,
            _ => Move::To(found),
        })
    }
}

/// The number of the position that accepts, where that is not stored.
pub(crate) const ACCEPTED: u32 = u32::MAX;

/// One thread's view of a monitor.
pub(crate) struct Watcher<'m> {
    monitor: &'m Monitor,
    model: &'m dyn Model,
    positions: Vec<Option<Arc<Position>>>,
    /// By row and label.
    moves: Vec<Vec<Code>>,
    /// Where moves lead that have several targets.
    lists: Vec<Vec<u32>>,
    shapes: Vec<Option<Shape>>,
    /// By leaf of a condition and label: whether the label is one that it asks for.
    asks_for: Vec<Vec<Option<bool>>>,
}

/// A move, as threads keep it: a number, since it is looked up for every step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Code(u32);

impl Code {
    /// Not asked for so far.
    const UNKNOWN: Self = Self(0);
    pub const NOWHERE: Self = Self(1);
    pub const ACCEPTED: Self = Self(2);
    /// The formula made an error.
    pub const FAILED: Self = Self(3);
    /// To the position whose number is added to this, or to the list with this mark.
    const ONE: u32 = 4;
    const SEVERAL: u32 = 1 << 31;

    /// Where it leads, if that is one position.
    #[inline]
    pub fn one(self) -> Option<u32> {
        if (Self::ONE..Self::SEVERAL).contains(&self.0) { Some(self.0 - Self::ONE) } else { None }
    }
}

impl Default for Code {
    fn default() -> Self {
        Self::UNKNOWN
    }
}

impl<'m> Watcher<'m> {
    pub fn new(monitor: &'m Monitor, model: &'m dyn Model) -> Self {
        Self {
            monitor,
            model,
            positions: Vec::new(),
            moves: Vec::new(),
            lists: Vec::new(),
            shapes: Vec::new(),
            asks_for: Vec::new(),
        }
    }

    #[inline]
    pub fn position(&mut self, number: u32) -> Arc<Position> {
        if let Some(Some(known)) = self.positions.get(number as usize) {
            return known.clone();
        }
        let position = Arc::new(self.monitor.position(number));
        *place(&mut self.positions, number as usize) = Some(position.clone());
        position
    }

    /// Where a label leads from a row.
    #[inline]
    pub fn follow(&mut self, row: u32, label: LabelId) -> Code {
        match self.moves.get(row as usize).and_then(|row| row.get(label.index())) {
            Some(&code) if code != Code::UNKNOWN => code,
            _ => self.ask(row, label).unwrap_or(Code::FAILED),
        }
    }

    /// The positions that a move leads to, if they are not one.
    pub fn several(&self, code: Code) -> &[u32] {
        match code.0 & Code::SEVERAL {
            0 => &[],
            _ => &self.lists[(code.0 & !Code::SEVERAL) as usize],
        }
    }

    /// Likewise, with the error if there is one.
    #[cold]
    pub fn ask(&mut self, row: u32, label: LabelId) -> Result<Code, CheckError> {
        let model = self.model;
        let found = self.monitor.lock().follow(row, label, &mut || model.label(label))?;
        let code = match found {
            Move::Nowhere => Code::NOWHERE,
            Move::Accepted => Code::ACCEPTED,
            Move::To(to) if to.len() == 1 && to[0] < Code::SEVERAL - Code::ONE => Code(to[0] + Code::ONE),
            Move::To(to) => {
                self.lists.push(to);
                Code((self.lists.len() - 1) as u32 | Code::SEVERAL)
            }
        };
        *place(place(&mut self.moves, row as usize), label.index()) = code;
        Ok(code)
    }

    /// Whether conditions hold together in a state whose steps have these labels.
    pub fn all_hold(&mut self, guard: &[InstanceId], labels: &[LabelId]) -> Result<bool, CheckError> {
        for &leaf in guard {
            if !self.holds(leaf, labels)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn holds(&mut self, leaf: InstanceId, labels: &[LabelId]) -> Result<bool, CheckError> {
        let shape = match self.shapes.get(leaf as usize) {
            Some(Some(shape)) => shape.clone(),
            _ => {
                let shape = self.monitor.lock().parts.program.shape(leaf)?;
                place(&mut self.shapes, leaf as usize).insert(shape).clone()
            }
        };
        match shape {
            Shape::Constant(value) => Ok(value),
            Shape::Join { all, parts, .. } => {
                for &part in parts.iter() {
                    if self.holds(part, labels)? != all {
                        return Ok(!all);
                    }
                }
                Ok(all)
            }
            Shape::Step { all } => {
                for &label in labels {
                    // Behind the step there is a constant, which is not `all`, or there would be no step.
                    if self.asks(leaf, label)? {
                        return Ok(!all);
                    }
                }
                Ok(all)
            }
        }
    }

    fn asks(&mut self, leaf: InstanceId, label: LabelId) -> Result<bool, CheckError> {
        if let Some(&Some(known)) = self.asks_for.get(leaf as usize).and_then(|row| row.get(label.index())) {
            return Ok(known);
        }
        let model = self.model;
        let targets = self.monitor.lock().parts.program.targets(leaf, label, || model.label(label))?;
        *place(place(&mut self.asks_for, leaf as usize), label.index()) = Some(!targets.is_empty());
        Ok(!targets.is_empty())
    }
}

/// The element at a place, which is made if it is not there.
fn place<T: Default + Clone>(elements: &mut Vec<T>, at: usize) -> &mut T {
    if elements.len() <= at {
        elements.resize(at + 1, T::default());
    }
    &mut elements[at]
}
