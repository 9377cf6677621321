//! The reduction against its naive twin: random small programs, explored with and without it, with and without recognising
//! states, must give the same sequences, deadlocks and panics.

use std::collections::BTreeSet;
use watershed_observe::sync::atomic::{AtomicU32, Ordering::SeqCst};
use watershed_observe::sync::{Arc, Condvar, Mutex, mpsc};
use watershed_observe::{End, Job, Program, Reduction, Strategy, observe, place, thread};

/// Numbers from a seed (xorshift, Marsaglia 2003).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound
    }
}

#[derive(Clone, Copy, Debug)]
enum Instruction {
    Lock(usize),
    TryLock(usize),
    Unlock(usize),
    Load(usize),
    Store(usize, u32),
    Add(usize),
    Exchange(usize, u32),
    Wait,
    NotifyOne,
    NotifyAll,
    Send(u32),
    Receive,
    Observe,
    ObserveShared,
    PanicIf(u32),
    Yield,
}

/// Instructions for each thread.
fn random_program(seed: u64) -> Vec<Vec<Instruction>> {
    use Instruction::*;
    let mut numbers = Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let kinds = [6, 9, 13, 16][numbers.below(4) as usize];
    let threads = 2 + numbers.below(2);
    let length = if threads == 2 { 5 } else { 3 };
    (0..threads)
        .map(|_| {
            (0..1 + numbers.below(length))
                .map(|_| match numbers.below(kinds) {
                    0 => Lock(numbers.below(2) as usize),
                    1 => Unlock(numbers.below(2) as usize),
                    2 => Load(numbers.below(2) as usize),
                    3 => Store(numbers.below(2) as usize, numbers.below(3) as u32),
                    4 => Observe,
                    5 => Lock(numbers.below(2) as usize),
                    6 => Add(numbers.below(2) as usize),
                    7 => Exchange(numbers.below(2) as usize, numbers.below(3) as u32),
                    8 => ObserveShared,
                    9 => Wait,
                    10 => NotifyOne,
                    11 => NotifyAll,
                    12 => PanicIf(numbers.below(4) as u32),
                    13 => TryLock(numbers.below(2) as usize),
                    14 => {
                        if numbers.below(2) == 0 {
                            Send(numbers.below(3) as u32)
                        } else {
                            Receive
                        }
                    }
                    _ => Yield,
                })
                .collect()
        })
        .collect()
}

const NAMES: [&str; 3] = ["first", "second", "third"];

fn run(code: &[Vec<Instruction>]) {
    let mutexes = Arc::new([Mutex::new(0u32), Mutex::new(0u32)]);
    let variables = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
    let condition = Arc::new(Condvar::new());
    let (sender, receiver) = mpsc::channel();
    let mut receiver = Some(receiver);
    for name in &NAMES[..code.len()] {
        observe!(name, &0);
    }
    let threads: Vec<_> = code
        .iter()
        .zip(NAMES)
        .map(|(code, name)| {
            let code = code.clone();
            let (mutexes, variables, condition) = (mutexes.clone(), variables.clone(), condition.clone());
            let (sender, receiver) = (sender.clone(), receiver.take());
            thread::spawn(move || {
                let mut register = 0;
                let mut guards = [None, None];
                for (line, instruction) in code.iter().enumerate() {
                    place!((line, register));
                    match *instruction {
                        Instruction::Lock(index) => {
                            if guards[index].is_none() {
                                let mut guard = mutexes[index].lock().unwrap();
                                *guard += 1;
                                register += *guard;
                                guards[index] = Some(guard);
                            }
                        }
                        Instruction::TryLock(index) => {
                            if guards[index].is_none() {
                                guards[index] = mutexes[index].try_lock().ok();
                                register += u32::from(guards[index].is_none());
                            }
                        }
                        Instruction::Unlock(index) => drop(guards[index].take()),
                        Instruction::Load(index) => register += variables[index].load(SeqCst),
                        Instruction::Store(index, value) => variables[index].store(register + value, SeqCst),
                        Instruction::Add(index) => register += variables[index].fetch_add(1, SeqCst),
                        Instruction::Exchange(index, value) => {
                            let result = variables[index].compare_exchange(value, register, SeqCst, SeqCst);
                            register += u32::from(result.is_ok());
                        }
                        Instruction::Wait => {
                            if let Some(guard) = guards[0].take() {
                                guards[0] = Some(condition.wait(guard).unwrap());
                            }
                        }
                        Instruction::NotifyOne => condition.notify_one(),
                        Instruction::NotifyAll => condition.notify_all(),
                        Instruction::Send(value) => register += u32::from(sender.send(value).is_err()),
                        Instruction::Receive => {
                            register +=
                                receiver.as_ref().map_or(7, |receiver| receiver.try_recv().unwrap_or(5));
                        }
                        Instruction::Observe => observe!(name, &register),
                        Instruction::ObserveShared => observe!("shared", &register),
                        Instruction::PanicIf(value) => assert_ne!(register, value, "{name}"),
                        Instruction::Yield => thread::yield_now(),
                    }
                }
                drop(guards);
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
}

type Outcome = (Vec<String>, End, Option<String>);

fn explore(program: &Program, reduction: Reduction, executions: usize) -> Option<(BTreeSet<Outcome>, usize)> {
    let strategy = Strategy::Systematic(reduction);
    let found = program.explore(&Job { strategy, executions: Some(executions), ..Job::systematic() });
    found.summary.complete.then(|| {
        let outcome = |sequence: &watershed_observe::Sequence| {
            let states = sequence.states.iter().map(|state| state.to_string()).collect();
            // Who waits for what is said of the one schedule; a panic is the same in all.
            let message = sequence.message.clone().filter(|_| sequence.end == End::Panic);
            (states, sequence.end, message)
        };
        (found.sequences.iter().map(outcome).collect(), found.summary.executions)
    })
}

#[test]
fn reduction_finds_what_trying_everything_finds() {
    let (mut compared, mut full, mut reduced, mut deadlocks, mut panics) = (0, 0, 0, 0, 0);
    for seed in 1..=300 {
        let code = random_program(seed);
        let shown = format!("seed {seed}: {code:?}");
        let program = Program::new("random", move || run(&code));
        let Some((everything, executions)) = explore(&program, Reduction::None, 6000) else {
            continue;
        };
        let (found, fewer) = explore(&program, Reduction::Dependence, usize::MAX).unwrap();
        assert_eq!(everything, found, "{shown}");
        assert!(fewer <= executions, "{shown}: {fewer} executions rather than {executions}");
        compared += 1;
        full += executions;
        reduced += fewer;
        deadlocks += usize::from(everything.iter().any(|(_, end, _)| *end == End::Deadlock));
        panics += usize::from(everything.iter().any(|(_, end, _)| *end == End::Panic));
    }
    println!(
        "{compared} programs, {full} executions, {reduced} reduced; {deadlocks} with deadlocks, {panics} with panics"
    );
    assert!(compared > 180 && deadlocks > 3 && panics > 3 && reduced * 2 < full);
}

type Pairs = BTreeSet<(String, String)>;

/// Pairs of neighbours, and how things end: what recognising states must preserve.
fn pairs(program: &Program, reduction: Reduction, whole: bool) -> (Pairs, BTreeSet<(String, End)>, usize) {
    let found =
        program.explore(&Job { strategy: Strategy::Systematic(reduction), whole, ..Job::systematic() });
    let (mut pairs, mut ends) = (BTreeSet::new(), BTreeSet::new());
    for sequence in &found.sequences {
        pairs.extend(sequence.states.windows(2).map(|pair| (pair[0].to_string(), pair[1].to_string())));
        if matches!(sequence.end, End::Deadlock | End::Panic) {
            ends.insert((sequence.states.last().unwrap().to_string(), sequence.end));
        }
    }
    (pairs, ends, found.summary.executions)
}

#[test]
fn recognising_states_loses_no_pair_of_neighbours() {
    let (mut plain, mut hashed) = (0, 0);
    for seed in 1001..=1120 {
        let code: Vec<Vec<Instruction>> = random_program(seed)
            .into_iter()
            // What is in mutexes, variables and channels is not observed here, so it must not matter.
            .map(|code| {
                let keep = |instruction: &Instruction| {
                    matches!(
                        instruction,
                        Instruction::Lock(_)
                            | Instruction::TryLock(_)
                            | Instruction::Unlock(_)
                            | Instruction::Yield
                    ) || matches!(instruction, Instruction::Observe | Instruction::ObserveShared)
                };
                code.into_iter().filter(keep).collect()
            })
            .collect();
        let shown = format!("seed {seed}: {code:?}");
        let body = {
            let code = code.clone();
            move || run_observed(&code)
        };
        let naive = Program::new("naive", body.clone());
        let clever = Program::new("clever", body).complete();
        if explore(&naive, Reduction::None, 4000).is_none() {
            continue;
        }
        let (expected, ends, executions) = pairs(&naive, Reduction::None, true);
        for (reduction, whole) in
            [(Reduction::None, false), (Reduction::Dependence, true), (Reduction::Dependence, false)]
        {
            let (found, found_ends, fewer) = pairs(&clever, reduction, whole);
            assert_eq!(expected, found, "{shown}");
            assert_eq!(ends, found_ends, "{shown}");
            hashed += fewer;
        }
        plain += executions;
    }
    println!("{plain} executions, {} where states are recognised", hashed / 3);
    assert!(hashed / 3 < plain);
}

/// Programs whose future depends on nothing but places, mutexes and what is observed.
fn run_observed(code: &[Vec<Instruction>]) {
    let mutexes = Arc::new([Mutex::new(()), Mutex::new(())]);
    for name in &NAMES[..code.len()] {
        observe!(name, &0);
    }
    let threads: Vec<_> = code
        .iter()
        .zip(NAMES)
        .map(|(code, name)| {
            let (code, mutexes) = (code.clone(), mutexes.clone());
            thread::spawn(move || {
                let mut failed = 0;
                let mut guards = [None, None];
                for (line, instruction) in code.iter().enumerate() {
                    place!((line, failed, guards[0].is_some(), guards[1].is_some()));
                    match *instruction {
                        Instruction::Lock(index) if guards[index].is_none() => {
                            guards[index] = Some(mutexes[index].lock().unwrap());
                        }
                        Instruction::TryLock(index) if guards[index].is_none() => {
                            guards[index] = mutexes[index].try_lock().ok();
                            failed += u32::from(guards[index].is_none());
                        }
                        Instruction::Unlock(index) => drop(guards[index].take()),
                        Instruction::Observe => observe!(name, &(line, failed)),
                        Instruction::ObserveShared => observe!("shared", &(name, line)),
                        _ => thread::yield_now(),
                    }
                }
                place!(("end", failed));
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
}
