//! Asynchronous tasks under a controlled scheduler.
//!
//! Steps of asynchronous tasks announce nothing, so for the reduction they depend on everything.

use crate::recorder;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

pub use shuttle::future::{AbortHandle, JoinError, JoinHandle, block_on, yield_now};

/// Starts an asynchronous task.
#[track_caller]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    shuttle::future::spawn(Guarded { future: Box::pin(future) })
}

/// A future whose panic ends the execution instead of the exploration.
struct Guarded<F> {
    future: Pin<Box<F>>,
}

impl<F: Future> Future for Guarded<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        match catch_unwind(AssertUnwindSafe(|| self.future.as_mut().poll(context))) {
            Ok(result) => result,
            Err(payload) if recorder::is_active() => {
                recorder::fail(recorder::panic_message(&*payload));
                // The execution ends at the next scheduling point; until then this task has nothing to do.
                Poll::Pending
            }
            Err(payload) => std::panic::resume_unwind(payload),
        }
    }
}
