//! Synchronisation under a controlled scheduler, to be used in place of [`std::sync`].
//!
//! [`Mutex`], [`Condvar`], channels and the atomic types tell the explorer which object they use, which makes the reduction effective.
//! Everything else is shuttle's, and depends on everything. Objects belong to one execution: make them in the program's
//! closure, not in a `static`.

pub mod atomic;
pub mod mpsc;

use crate::footprint::{Object, Operation};
use crate::recorder;
use std::fmt;
use std::ops::{Deref, DerefMut};

pub use shuttle::sync::{
    Arc, Barrier, BarrierWaitResult, LockResult, Once, OnceState, PoisonError, RwLock, RwLockReadGuard,
    RwLockWriteGuard, TryLockError, TryLockResult, Weak,
};

/// A mutex, as [`std::sync::Mutex`].
///
/// ```
/// use watershed_observe::{Job, Program, observe, sync, thread};
///
/// let program = Program::new("adders", || {
///     let sum = sync::Arc::new(sync::Mutex::new(0));
///     observe!("sum", &0);
///     let adders: Vec<_> = (1..=2)
///         .map(|amount| {
///             let sum = sum.clone();
///             thread::spawn(move || {
///                 let mut sum = sum.lock().unwrap();
///                 *sum += amount;
///                 observe!("sum", &*sum);
///             })
///         })
///         .collect();
///     for adder in adders {
///         adder.join().unwrap();
///     }
/// });
/// let found = program.explore(&Job::systematic());
/// let texts: Vec<String> = found.sequences.iter().map(|sequence| sequence.states.join(" ")).collect();
/// assert_eq!(texts, [r#"{"sum":0} {"sum":1} {"sum":3}"#, r#"{"sum":0} {"sum":2} {"sum":3}"#]);
/// ```
pub struct Mutex<T: ?Sized> {
    object: Object,
    inner: shuttle::sync::Mutex<T>,
}

/// Access to what a [`Mutex`] protects, until it is dropped.
pub struct MutexGuard<'a, T: ?Sized> {
    /// Empty only after the guard was handed to a condition variable.
    inner: Option<shuttle::sync::MutexGuard<'a, T>>,
    mutex: &'a Mutex<T>,
}

impl<T> Mutex<T> {
    /// A mutex that nobody has.
    #[track_caller]
    pub fn new(value: T) -> Mutex<T> {
        Mutex { object: recorder::new_object(), inner: shuttle::sync::Mutex::new(value) }
    }

    /// The value, when nobody else can have the mutex any more.
    ///
    /// # Errors
    ///
    /// If somebody panicked while having it.
    pub fn into_inner(self) -> LockResult<T> {
        self.inner.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    fn guard<'a>(&'a self, inner: shuttle::sync::MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        recorder::hold(self.object);
        MutexGuard { inner: Some(inner), mutex: self }
    }

    /// Waits until the mutex is free, and takes it.
    ///
    /// # Errors
    ///
    /// If somebody panicked while having it.
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        recorder::announce(Operation::Lock(self.object));
        let result = self.inner.lock();
        recorder::over();
        match result {
            Ok(guard) => Ok(self.guard(guard)),
            Err(poisoned) => Err(PoisonError::new(self.guard(poisoned.into_inner()))),
        }
    }

    /// Takes the mutex if it is free.
    ///
    /// # Errors
    ///
    /// If it is not, or somebody panicked while having it.
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        recorder::announce(Operation::TryLock(self.object));
        let result = self.inner.try_lock();
        recorder::over();
        match result {
            Ok(guard) => Ok(self.guard(guard)),
            Err(TryLockError::WouldBlock) => Err(TryLockError::WouldBlock),
            Err(TryLockError::Poisoned(poisoned)) => {
                Err(TryLockError::Poisoned(PoisonError::new(self.guard(poisoned.into_inner()))))
            }
        }
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Self {
        Mutex::new(T::default())
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.inner.as_ref().expect("a guard in use has its mutex")
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.inner.as_mut().expect("a guard in use has its mutex")
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        if let Some(inner) = self.inner.take() {
            recorder::announce(Operation::Release(self.mutex.object));
            drop(inner);
            recorder::let_go(self.mutex.object);
            recorder::over();
        }
    }
}

/// A condition variable, as [`std::sync::Condvar`]. A notification may wake any of those that wait.
#[derive(Debug)]
pub struct Condvar {
    object: Object,
    inner: shuttle::sync::Condvar,
}

impl Condvar {
    /// A condition variable that nobody waits for.
    pub fn new() -> Condvar {
        Condvar { object: recorder::new_object(), inner: shuttle::sync::Condvar::new() }
    }

    /// Gives the mutex back, waits for a notification, and takes the mutex again.
    ///
    /// # Errors
    ///
    /// If somebody panicked while having the mutex.
    pub fn wait<'a, T>(&self, mut guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        let mutex = guard.mutex;
        let inner = guard.inner.take().expect("a guard in use has its mutex");
        recorder::announce(Operation::Wait(self.object, mutex.object));
        recorder::let_go(mutex.object);
        let result = self.inner.wait(inner);
        recorder::over();
        match result {
            Ok(inner) => Ok(mutex.guard(inner)),
            Err(poisoned) => Err(PoisonError::new(mutex.guard(poisoned.into_inner()))),
        }
    }

    /// Waits until the condition is false.
    ///
    /// # Errors
    ///
    /// If somebody panicked while having the mutex.
    pub fn wait_while<'a, T, F>(
        &self,
        mut guard: MutexGuard<'a, T>,
        mut condition: F,
    ) -> LockResult<MutexGuard<'a, T>>
    where
        F: FnMut(&mut T) -> bool,
    {
        while condition(&mut *guard) {
            guard = self.wait(guard)?;
        }
        Ok(guard)
    }

    /// Wakes one of those that wait.
    pub fn notify_one(&self) {
        recorder::announce(Operation::Write(self.object));
        self.inner.notify_one();
        recorder::over();
    }

    /// Wakes all that wait.
    pub fn notify_all(&self) {
        recorder::announce(Operation::Write(self.object));
        self.inner.notify_all();
        recorder::over();
    }
}

impl Default for Condvar {
    fn default() -> Self {
        Condvar::new()
    }
}
