//! What a step of a task touches, and which steps depend on each other.
//!
//! Shuttle does not tell a scheduler what a task is about to do. The primitives of [`crate::sync`] and
//! [`crate::thread`] announce it: every operation of shuttle begins with a scheduling point, so what was announced before
//! that point is what the task does after it. A task that uses other primitives announces nothing, and its steps depend on
//! everything. What a step does to the observed state is known when it is over; changes of the observed state depend on
//! each other, so that equivalent schedules give the same sequence of observed states.

/// An object that tasks share: the task that made it, and how many it had made before.
pub(crate) type Object = u64;

/// What a task announced before a scheduling point.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) enum Operation {
    /// Nothing was announced: anything can happen.
    #[default]
    Unknown,
    /// Nothing that others can see: the first step of a thread, a yield, the making of a thread.
    Local,
    /// A mutex is taken, as soon as it is free.
    Lock(Object),
    /// A mutex is taken if it is free.
    TryLock(Object),
    /// A mutex is given back by the task that has it.
    Release(Object),
    /// An object is read.
    Read(Object),
    /// An object is changed.
    Write(Object),
    /// A condition variable and its mutex: wait.
    Wait(Object, Object),
    /// The end of another task is waited for.
    Join(usize),
    /// The task is over.
    Finished,
}

impl Operation {
    fn objects(self) -> (Option<Object>, Option<Object>) {
        match self {
            Operation::Lock(object)
            | Operation::TryLock(object)
            | Operation::Release(object)
            | Operation::Read(object)
            | Operation::Write(object) => (Some(object), None),
            Operation::Wait(variable, mutex) => (Some(variable), Some(mutex)),
            _ => (None, None),
        }
    }

    fn touches(self, object: Object) -> bool {
        let (first, second) = self.objects();
        first == Some(object) || second == Some(object)
    }
}

/// A step that was taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Step {
    pub operation: Operation,
    /// The observed state was changed.
    pub observed: bool,
}

impl Step {
    /// Whether the order of the two steps can matter. Steps of one task always depend on each other, which is left to the
    /// caller.
    pub fn depends_on(self, other: Step) -> bool {
        use Operation::{Read, Unknown};
        if self.operation == Unknown || other.operation == Unknown || (self.observed && other.observed) {
            return true;
        }
        if matches!((self.operation, other.operation), (Read(_), Read(_))) {
            return false;
        }
        let (first, second) = self.operation.objects();
        first.is_some_and(|object| other.operation.touches(object))
            || second.is_some_and(|object| other.operation.touches(object))
    }

    /// Whether both steps could ever be possible at the same time: who gives a mutex back has it, so nobody can take it.
    pub fn can_meet(self, other: Step) -> bool {
        use Operation::{Lock, Release};
        if self.observed && other.observed {
            return true;
        }
        !matches!((self.operation, other.operation), (Lock(a), Release(b)) | (Release(a), Lock(b)) | (Release(a), Release(b)) if a == b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(operation: Operation) -> Step {
        Step { operation, observed: false }
    }

    #[test]
    fn dependence_is_about_objects_and_observations() {
        assert!(step(Operation::Write(1)).depends_on(step(Operation::Read(1))));
        assert!(!step(Operation::Read(1)).depends_on(step(Operation::Read(1))));
        assert!(!step(Operation::Write(1)).depends_on(step(Operation::Write(2))));
        assert!(step(Operation::Unknown).depends_on(step(Operation::Local)));
        assert!(step(Operation::Wait(3, 4)).depends_on(step(Operation::Lock(4))));
        let observed = |operation| Step { operation, observed: true };
        assert!(observed(Operation::Write(1)).depends_on(observed(Operation::Write(2))));
        assert!(!step(Operation::Release(1)).can_meet(step(Operation::Lock(1))));
    }
}
