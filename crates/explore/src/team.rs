//! Threads that work on the same things again and again.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A team of threads, led by the one that the exploration runs on.
pub(crate) struct Team {
    threads: usize,
}

/// The items that a thread begins with. No two lie on the same cache line.
#[repr(align(128))]
struct Part {
    next: AtomicUsize,
    end: usize,
}

impl Team {
    /// Does some work with a team of so many threads.
    pub fn with<R: Send>(threads: usize, work: impl FnOnce(&Team) -> R + Send) -> R {
        if threads == 1 {
            return work(&Team { threads });
        }
        // The leader is one of the pool's threads: it is there when a phase begins and need not be woken for it.
        if threads == rayon::current_num_threads() {
            return rayon::scope(|_| work(&Team { threads }));
        }
        match rayon::ThreadPoolBuilder::new().num_threads(threads).build() {
            Ok(pool) => pool.install(|| work(&Team { threads })),
            // No more threads to be had: those of the pool will do.
            Err(_) => rayon::scope(|_| work(&Team { threads: rayon::current_num_threads() })),
        }
    }

    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Does a job for each item; the job is told the thread's number, the item's and the item. A thread begins with
    /// its own part of the items, the same one every time, because its caches know it; then it helps the others.
    pub fn each<T: Send>(&self, items: &mut [T], job: impl Fn(usize, usize, &mut T) + Sync) {
        if self.threads == 1 || items.len() == 1 {
            let own = if self.threads == 1 { 0 } else { rayon::current_thread_index().unwrap_or(0) };
            return items.iter_mut().enumerate().for_each(|(at, item)| job(own, at, item));
        }
        let border = |thread: usize| items.len() * thread / self.threads;
        let parts: Vec<Part> = (0..self.threads)
            .map(|thread| Part { next: AtomicUsize::new(border(thread)), end: border(thread + 1) })
            .collect();
        let items: Vec<Mutex<&mut T>> = items.iter_mut().map(Mutex::new).collect();
        rayon::broadcast(|context| {
            let own = context.index();
            for part in parts[own..].iter().chain(&parts[..own]) {
                loop {
                    let at = part.next.fetch_add(1, Relaxed);
                    if at >= part.end {
                        break;
                    }
                    job(own, at, &mut lock(&items[at]));
                }
            }
        });
    }
}

/// Takes a lock. One that a panic has left is as good: the panic ends the exploration anyway.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_worked_on_once() {
        for threads in 1..5 {
            for count in [0, 1, 2, 3, 100] {
                let mut items = vec![0; count];
                Team::with(threads, |team| {
                    assert_eq!(team.threads(), threads);
                    team.each(&mut items, |thread, at, item| {
                        assert!(thread < threads);
                        *item += at + 1;
                    });
                });
                assert_eq!(items, (1..=count).collect::<Vec<_>>());
            }
        }
    }
}
