//! What a part of a formula can do next: everything that is reached without a step is skipped over, so that what is left
//! are the steps themselves and the conditions under which a run may end.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::program::{InstanceId, Program, Shape};
use crate::shape::Class;
use crate::verdict::CheckError;

/// How many parts one step may lead to before the formula counts as unbounded.
const CLOSURE_LIMIT: usize = 100_000;

/// Conditions on the current state that must hold together.
pub(crate) type Guard = Arc<[InstanceId]>;

/// What an instance can do next, all parts without a step skipped.
#[derive(Debug, Default)]
pub(crate) struct Closure {
    /// Conditions under which the search is over.
    pub accepts: Vec<Guard>,
    /// Steps with their conditions and the largest priority on the way to them.
    pub steps: Vec<(Guard, u32, InstanceId)>,
}

/// The closures of a formula's instances, each made once.
pub(crate) struct Closures {
    pub program: Program,
    pub class: Box<[Class]>,
    known: Vec<Option<Arc<Closure>>>,
}

impl Closures {
    pub fn new(program: Program, class: &[Class]) -> Self {
        Self { program, class: class.into(), known: Vec::new() }
    }

    /// What an instance can do next.
    pub fn closure(&mut self, instance: InstanceId) -> Result<Arc<Closure>, CheckError> {
        if let Some(Some(closure)) = self.known.get(instance as usize) {
            return Ok(closure.clone());
        }
        let closure = Arc::new(self.make_closure(instance)?);
        if self.known.len() <= instance as usize {
            self.known.resize(instance as usize + 1, None);
        }
        self.known[instance as usize] = Some(closure.clone());
        Ok(closure)
    }

    fn make_closure(&mut self, start: InstanceId) -> Result<Closure, CheckError> {
        enum Work {
            Enter(InstanceId, Vec<InstanceId>, u32),
            Leave,
        }
        let mut closure = Closure::default();
        let mut seen: FxHashSet<(InstanceId, u32, Vec<InstanceId>)> = FxHashSet::default();
        let mut path: Vec<(InstanceId, u32)> = Vec::new();
        let mut on_path: FxHashMap<InstanceId, usize> = FxHashMap::default();
        let mut work = vec![Work::Enter(start, Vec::new(), 0)];
        while let Some(next) = work.pop() {
            let Work::Enter(instance, mut guard, before) = next else {
                if let Some((left, _)) = path.pop() {
                    on_path.remove(&left);
                }
                continue;
            };
            if let Some(&from) = on_path.get(&instance) {
                // Round without a step: for ever true if the outermost fixpoint is a greatest one.
                let outermost = path[from..].iter().map(|&(_, priority)| priority).max().unwrap_or(1);
                if outermost % 2 == 0 {
                    closure.accepts.push(guard.into());
                }
                continue;
            }
            if seen.len() > CLOSURE_LIMIT {
                return Err(CheckError::Unbounded(CLOSURE_LIMIT));
            }
            if !seen.insert((instance, before, guard.clone())) {
                continue;
            }
            let is_leaf = |class: Class| matches!(class, Class::Leaf | Class::Solved);
            let shape = self.program.shape(instance)?;
            if is_leaf(self.class[self.program.node(instance)]) {
                match shape {
                    Shape::Constant(true) => {}
                    Shape::Constant(false) => continue,
                    _ => add_guard(&mut guard, instance),
                }
                closure.accepts.push(guard.into());
                continue;
            }
            match shape {
                Shape::Constant(_) => unreachable!("constants are leaves"),
                Shape::Step { .. } => closure.steps.push((guard.into(), before, instance)),
                Shape::Join { all: false, parts, priority } => {
                    on_path.insert(instance, path.len());
                    path.push((instance, priority));
                    work.push(Work::Leave);
                    let priority = before.max(priority);
                    // A condition that holds guards what stands behind it from errors in its data.
                    let mut needed = 0;
                    for &part in parts.iter() {
                        needed += 1;
                        if matches!(self.program.shape(part)?, Shape::Constant(true)) {
                            break;
                        }
                    }
                    let needed = parts[..needed].iter().rev();
                    work.extend(needed.map(|&part| Work::Enter(part, guard.clone(), priority)));
                }
                Shape::Join { all: true, parts, .. } => {
                    // One part goes on, the others are conditions on this state.
                    let class =
                        |closures: &Self, part: InstanceId| closures.class[closures.program.node(part)];
                    let rest = parts.iter().copied().find(|&part| class(self, part) == Class::Linear);
                    let rest = rest
                        .or_else(|| parts.iter().copied().find(|&part| class(self, part) == Class::Local));
                    let mut possible = true;
                    for &part in parts.iter().filter(|&&part| Some(part) != rest) {
                        match self.program.shape(part)? {
                            Shape::Constant(true) => {}
                            // A condition guards what stands behind it from errors in its data.
                            Shape::Constant(false) => {
                                possible = false;
                                break;
                            }
                            _ => add_guard(&mut guard, part),
                        }
                    }
                    if !possible {
                        continue;
                    }
                    match rest {
                        Some(part) => {
                            on_path.insert(instance, path.len());
                            path.push((instance, 0));
                            work.push(Work::Leave);
                            work.push(Work::Enter(part, guard, before));
                        }
                        None => closure.accepts.push(guard.into()),
                    }
                }
            }
        }
        // One without conditions makes the others superfluous.
        if let Some(always) = closure.accepts.iter().find(|guard| guard.is_empty()).cloned() {
            closure.accepts = vec![always];
        }
        Ok(closure)
    }
}

fn add_guard(guard: &mut Vec<InstanceId>, leaf: InstanceId) {
    if let Err(place) = guard.binary_search(&leaf) {
        guard.insert(place, leaf);
    }
}
