//! Progress and cancellation, shared between long work and whoever watches it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// A counter that long work advances and a progress bar reads, and a flag the other way round.
///
/// ```
/// let progress = lts::Progress::new();
/// progress.expect(10);
/// progress.advance(4);
/// assert_eq!((progress.done(), progress.total()), (4, 10));
/// progress.cancel();
/// assert!(progress.is_cancelled());
/// ```
#[derive(Debug, Default)]
pub struct Progress {
    done: AtomicU64,
    total: AtomicU64,
    cancelled: Arc<AtomicBool>,
    deadline: Arc<OnceLock<Instant>>,
}

impl Progress {
    /// Nothing done, total unknown.
    pub fn new() -> Self {
        Self::default()
    }

    /// A part of the work: it has a counter of its own, and stops when the whole does.
    ///
    /// ```
    /// let whole = lts::Progress::new();
    /// let part = whole.part();
    /// part.advance(1000);
    /// whole.cancel();
    /// assert!(whole.done() == 0 && part.is_cancelled());
    /// ```
    pub fn part(&self) -> Self {
        let (cancelled, deadline) = (Arc::clone(&self.cancelled), Arc::clone(&self.deadline));
        Self { cancelled, deadline, ..Self::default() }
    }

    /// Says how much there is to do; 0 where that is unknown.
    pub fn expect(&self, total: u64) {
        self.total.store(total, Relaxed);
    }

    /// Says that `amount` more is done.
    pub fn advance(&self, amount: u64) {
        self.done.fetch_add(amount, Relaxed);
    }

    /// How much is done.
    pub fn done(&self) -> u64 {
        self.done.load(Relaxed)
    }

    /// How much there is to do; 0 where that is unknown.
    pub fn total(&self) -> u64 {
        self.total.load(Relaxed)
    }

    /// Asks the work to stop soon with what it has.
    pub fn cancel(&self) {
        self.cancelled.store(true, Relaxed);
    }

    /// Asks the work to stop at some time; the first call counts.
    pub fn stop_at(&self, deadline: Instant) {
        let _ = self.deadline.set(deadline);
    }

    /// Whether that time has come.
    pub fn is_overdue(&self) -> bool {
        self.deadline.get().is_some_and(|deadline| Instant::now() >= *deadline)
    }

    /// Whether the work should stop.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Relaxed) || self.is_overdue()
    }
}
