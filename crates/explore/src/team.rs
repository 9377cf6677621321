//! Threads that work on the same things again and again.
//!
//! An exploration has hundreds of phases, many of them shorter than it takes to wake a thread that sleeps. So the
//! threads are the exploration's own, and wait awake for a while before they go to sleep.
//!
//! Soundness of the only `unsafe` here: a job borrows what its phase works on, but threads that outlive the phase run
//! it. [`Team::all`] lends them the job and comes back only when none of them has it any more: it waits even if the
//! leader's own part panics, and a thread gives a job back even if its part does.
//!
//! What it buys (`make bench SECTIONS=exploration`): a phase begins in a few microseconds, not in fifty or more.

#![allow(unsafe_code)]

use std::any::Any;
use std::hint::spin_loop;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{
    AtomicBool, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release, SeqCst},
};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{Builder, Thread, park, yield_now};

/// How often a thread looks whether there is something new before it lets others have the processor: for a tenth of a
/// millisecond or two.
const LOOKS: usize = 1 << 13;

/// A team of threads, led by the one that the exploration runs on.
pub(crate) struct Team<'t> {
    followers: &'t [Follower],
    /// Starts a follower.
    start: &'t (dyn Fn(usize) -> Option<Thread> + Sync),
}

/// What a job does on each thread, which it is told by number.
type Job<'j> = &'j (dyn Fn(usize) + Sync);

/// What a thread that follows the leader is told, and tells. No two lie on the same cache line.
#[derive(Default)]
#[repr(align(128))]
struct Follower {
    /// Started when it is needed first.
    thread: OnceLock<Thread>,
    task: Mutex<Task>,
    /// Whether it has something to do.
    called: AtomicBool,
    asleep: AtomicBool,
}

#[derive(Default)]
enum Task {
    #[default]
    Nothing,
    Job(Job<'static>),
    Panicked(Box<dyn Any + Send>),
    GoHome,
}

/// The items that a thread begins with. No two lie on the same cache line.
#[repr(align(128))]
struct Part {
    next: AtomicUsize,
    end: usize,
}

impl Team<'_> {
    /// Does some work with a team of so many threads.
    pub fn with<R>(threads: usize, work: impl FnOnce(&Team<'_>) -> R) -> R {
        let followers: Vec<Follower> = (1..threads).map(|_| Follower::default()).collect();
        let followers = followers.as_slice();
        std::thread::scope(|scope| {
            let start = |number: usize| {
                let follow = move || followers[number - 1].follow(number);
                let handle = Builder::new().spawn_scoped(scope, follow).ok()?;
                Some(handle.thread().clone())
            };
            // The scope ends when they have gone home.
            let _at_the_end = AtTheEnd(|| followers.iter().for_each(|follower| follower.call(Task::GoHome)));
            work(&Team { followers, start: &start })
        })
    }

    pub fn threads(&self) -> usize {
        self.followers.len() + 1
    }

    /// Does a job for each item; the job is told the thread's number, the item's and the item. A thread begins with
    /// its own part of the items, the same one every time, because its caches know it; then it helps the others.
    pub fn each<T: Send>(&self, items: &mut [T], job: impl Fn(usize, usize, &mut T) + Sync) {
        let threads = self.threads();
        if threads == 1 || items.len() <= 1 {
            return items.iter_mut().enumerate().for_each(|(at, item)| job(0, at, item));
        }
        let border = |thread: usize| items.len() * thread / threads;
        let parts: Vec<Part> = (0..threads)
            .map(|thread| Part { next: AtomicUsize::new(border(thread)), end: border(thread + 1) })
            .collect();
        let items: Vec<Mutex<&mut T>> = items.iter_mut().map(Mutex::new).collect();
        self.all(&|own| {
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

    /// Does a job on all threads: on those that can be had, at least on this one.
    fn all(&self, job: Job<'_>) {
        // SAFETY: nobody has the job any more when this function ends, see the module's header.
        let lent = unsafe { std::mem::transmute::<Job<'_>, Job<'static>>(job) };
        {
            let _at_the_end = AtTheEnd(|| self.followers.iter().for_each(Follower::wait_for));
            for (follower, number) in self.followers.iter().zip(1..) {
                if follower.thread.get().is_none() {
                    let Some(thread) = (self.start)(number) else { continue };
                    follower.thread.get_or_init(|| thread);
                }
                follower.call(Task::Job(lent));
            }
            job(0);
        }
        for follower in self.followers {
            let task = std::mem::take(&mut *lock(&follower.task));
            if let Task::Panicked(panic) = task {
                resume_unwind(panic);
            }
        }
    }
}

impl Follower {
    /// Calls the thread to a task, if there is a thread.
    fn call(&self, task: Task) {
        let Some(thread) = self.thread.get() else { return };
        *lock(&self.task) = task;
        self.called.store(true, SeqCst);
        if self.asleep.load(SeqCst) {
            thread.unpark();
        }
    }

    /// Waits until the thread has done what it was called to. What it has not begun with is taken back: whoever else
    /// came has done its part, too.
    fn wait_for(&self) {
        let mut task = lock(&self.task);
        if matches!(*task, Task::Job(_)) {
            *task = Task::Nothing;
            self.called.store(false, Relaxed);
        }
        drop(task);
        let mut looks = 0;
        while self.called.load(Acquire) {
            looks += 1;
            if looks < LOOKS { spin_loop() } else { yield_now() }
        }
    }

    /// What the thread does, all its life.
    fn follow(&self, number: usize) {
        loop {
            self.wait();
            let task = std::mem::take(&mut *lock(&self.task));
            match task {
                Task::Job(job) => {
                    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| job(number))) {
                        *lock(&self.task) = Task::Panicked(panic);
                    }
                    self.called.store(false, Release);
                }
                Task::GoHome => return,
                // It was taken back.
                Task::Nothing | Task::Panicked(_) => {}
            }
        }
    }

    /// Waits until the thread is called.
    fn wait(&self) {
        for _ in 0..LOOKS {
            if self.called.load(Acquire) {
                return;
            }
            spin_loop();
        }
        self.asleep.store(true, SeqCst);
        while !self.called.load(SeqCst) {
            park();
        }
        self.asleep.store(false, Relaxed);
    }
}

/// Does something at its end, be that a panic.
struct AtTheEnd<F: FnMut()>(F);

impl<F: FnMut()> Drop for AtTheEnd<F> {
    fn drop(&mut self) {
        (self.0)();
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

    #[test]
    fn threads_that_went_to_sleep_are_woken() {
        let mut items = [0; 8];
        Team::with(3, |team| {
            for _ in 0..20 {
                team.each(&mut items, |_, _, item| *item += 1);
                std::thread::sleep(std::time::Duration::from_millis(2));
            }
            for _ in 0..20_000 {
                team.each(&mut items, |_, _, item| *item += 1);
            }
        });
        assert_eq!(items, [20_020; 8]);
    }

    #[test]
    fn a_panic_of_any_thread_reaches_the_leader_when_all_are_done() {
        for threads in 1..4 {
            for bad in 0..6 {
                let mut items = [0; 6];
                let result = catch_unwind(AssertUnwindSafe(|| {
                    Team::with(threads, |team| {
                        team.each(&mut items, |_, at, item| {
                            std::thread::sleep(std::time::Duration::from_micros(300));
                            assert_ne!(at, bad, "a bad item");
                            *item = 1;
                        });
                    });
                }));
                assert!(result.is_err());
                assert_eq!(items[bad], 0);
            }
        }
    }
}
