//! Mutual exclusion of three threads by test&set on an atomic variable. Its model is `models/test_and_set`.

use std::process::ExitCode;
use watershed_observe::sync::{Arc, atomic::AtomicBool, atomic::Ordering::SeqCst};
use watershed_observe::{Program, arguments, observe, place, thread};

/// A process enters and leaves the critical section, for ever.
fn process(lock: &AtomicBool, name: &'static str, flawed: bool) {
    loop {
        place!("outside");
        if flawed {
            // The planted flaw: the test and the set are two steps.
            while lock.load(SeqCst) {
                thread::yield_now();
            }
            lock.store(true, SeqCst);
        } else {
            while lock.swap(true, SeqCst) {
                thread::yield_now();
            }
        }
        place!("inside");
        observe!("lock", &true);
        observe!(name, "cs");
        lock.store(false, SeqCst);
        observe!("lock", &false);
        observe!(name, "rs");
    }
}

fn run(flawed: bool) {
    let lock = Arc::new(AtomicBool::new(false));
    observe!("lock", &false);
    for name in ["p1", "p2", "p3"] {
        observe!(name, "rs");
    }
    let threads = ["p1", "p2", "p3"].map(|name| {
        let lock = lock.clone();
        thread::spawn(move || process(&lock, name, flawed))
    });
    for thread in threads {
        thread.join().unwrap();
    }
}

fn main() -> ExitCode {
    let flawed = arguments().iter().any(|argument| argument == "--flawed");
    Program::new("test_and_set", move || run(flawed))
        .complete()
        .about("Arguments of the program: --flawed (the test and the set are two steps)")
        .main()
}
