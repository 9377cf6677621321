//! Threads under a controlled scheduler, to be used in place of [`std::thread`].
//!
//! [`spawn`] and [`JoinHandle`] tell the explorer what they do, which makes the reduction effective, and a panic of a thread
//! ends the sequence. Everything else is shuttle's.

use crate::footprint::Operation;
use crate::recorder;
use std::panic::{AssertUnwindSafe, catch_unwind};

pub use shuttle::thread::{Scope, ScopedJoinHandle, Thread, ThreadId, current, park, scope, sleep};

/// A thread that can be waited for.
pub struct JoinHandle<T> {
    inner: shuttle::thread::JoinHandle<Option<T>>,
}

impl<T> JoinHandle<T> {
    /// Waits until the thread is over.
    ///
    /// # Errors
    ///
    /// As [`std::thread::JoinHandle::join`]. In an exploration a panic ends the whole execution, so that this does not happen.
    pub fn join(self) -> std::thread::Result<T> {
        recorder::announce(Operation::Join(usize::from(self.inner.thread().id())));
        let result = self.inner.join();
        recorder::over();
        result.and_then(|value| {
            value.ok_or_else(|| Box::new("the thread panicked") as Box<dyn std::any::Any + Send>)
        })
    }

    /// The thread itself.
    pub fn thread(&self) -> &Thread {
        self.inner.thread()
    }
}

/// Starts a thread.
#[track_caller]
pub fn spawn<F, T>(body: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    recorder::announce(Operation::Local);
    let inner = shuttle::thread::spawn(move || guarded(body));
    recorder::over();
    recorder::born(usize::from(inner.thread().id()));
    JoinHandle { inner }
}

/// Gives up the turn; for loops that wait.
pub fn yield_now() {
    recorder::announce(Operation::Local);
    shuttle::thread::yield_now();
    recorder::over();
}

/// Runs the body of a task. A panic is noted and ends the execution at the next scheduling point, instead of ending the
/// exploration.
pub(crate) fn guarded<T>(body: impl FnOnce() -> T) -> Option<T> {
    if !recorder::is_active() {
        return Some(body());
    }
    if recorder::is_leaving() {
        return None;
    }
    recorder::over();
    let result = catch_unwind(AssertUnwindSafe(body));
    recorder::announce(Operation::Finished);
    match result {
        Ok(value) => Some(value),
        Err(payload) => {
            recorder::fail(recorder::panic_message(&*payload));
            None
        }
    }
}
