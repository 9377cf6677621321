//! Panics, deadlocks, primitives, replay, determinism: what an exploration must do with real programs.

use watershed_observe::sync::atomic::{AtomicU32, Ordering::SeqCst};
use watershed_observe::sync::{Arc, Barrier, Condvar, Mutex, RwLock, mpsc};
use watershed_observe::{
    End, Event, Exploration, Job, Program, Reduction, Schedule, Sequence, Start, Strategy, future, observe,
    thread,
};

fn full() -> Job {
    Job { strategy: Strategy::Systematic(Reduction::None), ..Job::systematic() }
}

fn ends(found: &Exploration) -> Vec<End> {
    let mut ends: Vec<End> = found.sequences.iter().map(|sequence| sequence.end).collect();
    ends.sort();
    ends.dedup();
    ends
}

/// Two threads that take two mutexes in different orders, and a third that panics if it is late.
fn troubled() -> Program {
    Program::new("troubled", || {
        let mutexes = Arc::new([Mutex::new(0), Mutex::new(0)]);
        let turn = Arc::new(AtomicU32::new(0));
        observe!("turn", &0);
        let threads: Vec<_> = (0..2)
            .map(|index| {
                let (mutexes, turn) = (mutexes.clone(), turn.clone());
                thread::spawn(move || {
                    let mut first = mutexes[index].lock().unwrap();
                    let mut second = mutexes[1 - index].lock().unwrap();
                    *first += 1;
                    *second += 1;
                    let value = turn.fetch_add(1, SeqCst) + 1;
                    observe!("turn", &value);
                    assert!(index == 1 || value == 1, "too late");
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
    })
}

#[test]
fn panics_and_deadlocks_are_ends_of_sequences() {
    for job in [full(), Job::systematic()] {
        let found = troubled().explore(&job);
        assert_eq!(ends(&found), [End::Finished, End::Deadlock, End::Panic]);
        let panic = found.sequences.iter().find(|sequence| sequence.end == End::Panic).unwrap();
        assert_eq!(panic.message.as_deref(), Some("too late"));
        let deadlock = found.sequences.iter().find(|sequence| sequence.end == End::Deadlock).unwrap();
        let message = deadlock.message.as_deref().unwrap();
        assert_eq!(
            message,
            "task 0 waits for the end of task 1, task 1 waits for a mutex, task 2 waits for a mutex"
        );
    }
}

#[test]
fn a_panic_while_holding_a_mutex_ends_the_sequence_only() {
    let program = Program::new("poisoned", || {
        let mutex = Arc::new(Mutex::new(0));
        let other = mutex.clone();
        let thread = thread::spawn(move || {
            let _guard = other.lock().unwrap();
            panic!("while holding it");
        });
        let _ = mutex.lock();
        let _ = thread.join();
    });
    let found = program.explore(&full());
    assert_eq!(ends(&found), [End::Panic]);
    let scoped = Program::new("scoped", || {
        thread::scope(|scope| {
            scope.spawn(|| panic!("in a scope"));
        });
    });
    let found = scoped.explore(&Job { executions: Some(5), ..full() });
    assert_eq!(found.sequences[0].end, End::Panic);
}

#[test]
fn replay_gives_the_same_sequence() {
    for strategy in [
        Strategy::Systematic(Reduction::Dependence),
        Strategy::Random { seed: 3 },
        Strategy::Pct { bugs: 3, seed: 5 },
    ] {
        let found = troubled().explore(&Job { strategy, executions: Some(200), ..Job::systematic() });
        assert!(found.sequences.len() >= 3);
        for sequence in &found.sequences {
            let text = sequence.schedule.to_string();
            let again = troubled().replay(&text.parse().unwrap()).unwrap();
            assert_eq!(&again, sequence);
        }
    }
}

#[test]
fn a_schedule_that_cannot_be_followed_is_blocked() {
    let schedule: Schedule = "0*3.7".parse().unwrap();
    let sequence = troubled().replay(&schedule).unwrap();
    assert_eq!(sequence.end, End::Blocked);
    let job = Job { start: Start::Schedule(schedule), ..full() };
    assert!(troubled().run(&job, |_| {}).is_err_and(|message| message.contains("task 7 cannot run")));
}

#[test]
fn the_same_job_gives_the_same_results() {
    let strategies = [
        Strategy::Systematic(Reduction::None),
        Strategy::Systematic(Reduction::Dependence),
        Strategy::Random { seed: 7 },
        Strategy::Pct { bugs: 2, seed: 7 },
    ];
    for strategy in strategies {
        let job = Job { strategy, executions: Some(300), depth: Some(12), ..Job::systematic() };
        let run = || {
            let mut events = Vec::new();
            let summary = troubled().run(&job, |event| events.push(event)).unwrap();
            (events, summary)
        };
        assert_eq!(run(), run());
    }
    let random = |seed| {
        troubled().explore(&Job { strategy: Strategy::Random { seed }, executions: Some(20), ..full() })
    };
    assert_ne!(random(1).sequences, random(2).sequences);
}

#[test]
fn minimising_keeps_the_failure_and_adds_no_switch() {
    for seed in 0..20 {
        let job = Job { strategy: Strategy::Random { seed }, executions: Some(100), ..Job::systematic() };
        for failing in
            troubled().explore(&job).sequences.iter().filter(|sequence| sequence.end != End::Finished)
        {
            let smallest = troubled().minimise(failing, |_| false).unwrap();
            assert_eq!((smallest.end, &smallest.message.is_some()), (failing.end, &true));
            assert!(smallest.schedule.switches() <= failing.schedule.switches());
            assert_eq!(troubled().replay(&smallest.schedule).unwrap().end, failing.end);
            // Each thread needs a turn, and the first one that waits another.
            assert!(smallest.schedule.switches() <= 3, "{}", smallest.schedule);
        }
    }
}

#[test]
fn a_predicate_can_say_what_fails() {
    let found = troubled().explore(&Job { strategy: Strategy::Random { seed: 1 }, ..Job::systematic() });
    let fails = |sequence: &Sequence| sequence.end == End::Finished && sequence.states.len() == 3;
    let failing = found.sequences.iter().find(|sequence| fails(sequence)).unwrap();
    let smallest = troubled().minimise(failing, fails).unwrap();
    assert!(fails(&smallest) && smallest.schedule.switches() <= failing.schedule.switches());
}

#[test]
fn a_job_can_start_after_a_schedule() {
    let whole = troubled().explore(&full());
    let prefix: Schedule = whole.sequences[0].schedule.tasks()[..8].to_vec().into();
    let found = troubled().explore(&Job { start: Start::Schedule(prefix.clone()), ..full() });
    assert!(found.sequences.len() < whole.sequences.len() && found.summary.complete);
    for sequence in &found.sequences {
        assert_eq!(sequence.schedule.tasks()[..8], *prefix.tasks());
    }
}

#[test]
fn the_bound_gives_a_frontier_from_which_to_go_on() {
    let all = troubled().explore(&full());
    let cut = troubled().explore(&Job { depth: Some(9), ..full() });
    assert!(!cut.frontier.is_empty() && cut.sequences.iter().any(|sequence| sequence.end == End::Depth));
    let (mut found, mut expected): (Vec<_>, Vec<_>) = (Vec::new(), Vec::new());
    for frontier in &cut.frontier {
        let job = Job { start: Start::Schedule(frontier.schedule.clone()), ..full() };
        troubled()
            .run(&job, |event| {
                if let Event::Sequence(sequence) = event {
                    found.push((sequence.end, sequence.states.last().cloned()));
                }
            })
            .unwrap();
    }
    let uncut = cut.sequences.iter().filter(|sequence| sequence.end != End::Depth);
    found.extend(uncut.map(|sequence| (sequence.end, sequence.states.last().cloned())));
    for sequence in &all.sequences {
        expected.push((sequence.end, sequence.states.last().cloned()));
    }
    for list in [&mut found, &mut expected] {
        list.sort();
        list.dedup();
    }
    assert_eq!(found, expected);
}

#[test]
fn condition_variables_and_channels_and_barriers() {
    let program = Program::new("pipeline", || {
        let (sender, receiver) = mpsc::sync_channel(1);
        let gate = Arc::new((Mutex::new(false), Condvar::new()));
        let barrier = Arc::new(Barrier::new(2));
        let total = Arc::new(RwLock::new(0));
        observe!("total", &0);
        let (opened, met) = (gate.clone(), barrier.clone());
        let producer = thread::spawn(move || {
            let guard = opened.0.lock().unwrap();
            drop(opened.1.wait_while(guard, |open| !*open).unwrap());
            for value in 1..=2 {
                sender.send(value).unwrap();
            }
            met.wait();
        });
        let sum = total.clone();
        let consumer = thread::spawn(move || {
            for value in receiver.iter() {
                *sum.write().unwrap() += value;
                observe!("total", &*sum.read().unwrap());
            }
        });
        *gate.0.lock().unwrap() = true;
        gate.1.notify_one();
        barrier.wait();
        producer.join().unwrap();
        consumer.join().unwrap();
    });
    let found = program.explore(&Job { executions: Some(3000), ..Job::systematic() });
    assert_eq!(ends(&found), [End::Finished]);
    for sequence in &found.sequences {
        assert_eq!(sequence.states.join(" "), r#"{"total":0} {"total":1} {"total":3}"#);
    }
}

#[test]
fn a_lost_notification_is_a_deadlock() {
    let program = Program::new("lost", || {
        let gate = Arc::new((Mutex::new(()), Condvar::new()));
        let waiting = gate.clone();
        let waiter = thread::spawn(move || {
            let guard = waiting.0.lock().unwrap();
            drop(waiting.1.wait(guard).unwrap());
        });
        gate.1.notify_one();
        waiter.join().unwrap();
    });
    for job in [full(), Job::systematic()] {
        let found = program.explore(&job);
        assert_eq!(ends(&found), [End::Finished, End::Deadlock]);
    }
}

#[test]
fn asynchronous_tasks() {
    let program = Program::new("tasks", || {
        observe!("order", &Vec::<u32>::new());
        let order = Arc::new(Mutex::new(Vec::new()));
        let tasks: Vec<_> = (1..=2)
            .map(|number| {
                let order = order.clone();
                future::spawn(async move {
                    future::yield_now().await;
                    let mut order = order.lock().unwrap();
                    order.push(number);
                    observe!("order", &*order);
                })
            })
            .collect();
        future::block_on(async {
            for task in tasks {
                task.await.unwrap();
            }
        });
    });
    for job in [full(), Job::systematic()] {
        let found = program.explore(&job);
        let mut last: Vec<String> =
            found.sequences.iter().map(|sequence| sequence.states.last().unwrap().to_string()).collect();
        last.sort();
        last.dedup();
        assert_eq!(last, [r#"{"order":[1,2]}"#, r#"{"order":[2,1]}"#]);
        assert_eq!(ends(&found), [End::Finished]);
    }
    let panicking = Program::new("panicking", || {
        future::block_on(async {
            let _ = future::spawn(async { panic!("in a task") }).await;
        });
    });
    assert_eq!(ends(&panicking.explore(&full())), [End::Panic]);
}

#[test]
fn a_program_that_is_not_deterministic_is_refused() {
    static RUNS: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let program = Program::new("moody", || {
        let threads = 2 + RUNS.fetch_add(1, std::sync::atomic::Ordering::SeqCst) % 2;
        let threads: Vec<_> = (0..threads).map(|_| thread::spawn(thread::yield_now)).collect();
        for thread in threads {
            thread.join().unwrap();
        }
    });
    let result = program.run(&full(), |_| {});
    assert!(result.is_err_and(|message| message.contains("does not do the same")));
}

#[test]
fn outside_of_an_exploration_nothing_happens() {
    observe!("nobody", &1);
    watershed_observe::place!("nowhere");
    watershed_observe::observe_all!(&serde_json::json!({"nothing": 1}));
}
