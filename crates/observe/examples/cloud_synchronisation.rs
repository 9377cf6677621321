//! Two computers that keep a value in step through a cloud, and their users. Its model is `models/cloud_synchronisation`.

use serde::Serialize;
use std::process::ExitCode;
use watershed_observe::sync::{Arc, Condvar, Mutex};
use watershed_observe::{Program, arguments, observe_all, place, thread};

#[derive(Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    Idle,
    Gotval,
    Updated,
}

#[derive(Serialize)]
struct Computer {
    status: Status,
    value: u32,
    seen: u32,
}

#[derive(Serialize)]
struct State {
    cloud: &'static str,
    value: u32,
    c1: Computer,
    c2: Computer,
}

impl State {
    fn computer(&mut self, number: usize) -> &mut Computer {
        if number == 0 { &mut self.c1 } else { &mut self.c2 }
    }
}

struct Shared {
    state: Mutex<State>,
    /// The cloud is free again.
    free: Condvar,
}

/// A computer asks, decides, and is done, for ever.
fn synchronise(shared: &Shared, number: usize, flawed: bool) {
    loop {
        let mut state = shared.state.lock().unwrap();
        // The planted flaw: the cloud answers although it is busy.
        while state.cloud == "busy" && !flawed {
            state = shared.free.wait(state).unwrap();
        }
        state.cloud = "busy";
        let value = state.value;
        state.computer(number).status = Status::Gotval;
        state.computer(number).seen = value;
        observe_all!(&*state);
        drop(state);

        let mut state = shared.state.lock().unwrap();
        let computer = state.computer(number);
        computer.status = Status::Updated;
        if computer.value > computer.seen {
            state.value = state.computer(number).value;
        } else {
            computer.value = computer.seen;
        }
        observe_all!(&*state);
        drop(state);

        let mut state = shared.state.lock().unwrap();
        state.cloud = "free";
        state.computer(number).status = Status::Idle;
        state.computer(number).seen = 0;
        observe_all!(&*state);
        drop(state);
        shared.free.notify_one();
    }
}

/// A user chooses 0, 1 and 2 in turn, whenever the computer is idle.
fn edit(shared: &Shared, number: usize) {
    let mut choice = 0;
    loop {
        place!(choice);
        let mut state = shared.state.lock().unwrap();
        if state.computer(number).status == Status::Idle {
            state.computer(number).value = choice;
            observe_all!(&*state);
            choice = (choice + 1) % 3;
        }
    }
}

fn run(flawed: bool) {
    let computer = |value| Computer { status: Status::Idle, value, seen: 0 };
    let state = State { cloud: "free", value: 0, c1: computer(1), c2: computer(2) };
    observe_all!(&state);
    let shared = Arc::new(Shared { state: Mutex::new(state), free: Condvar::new() });
    let threads: Vec<_> = (0..4)
        .map(|number| {
            let shared = shared.clone();
            thread::spawn(move || match number {
                0 | 1 => synchronise(&shared, number, flawed),
                _ => edit(&shared, number - 2),
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
}

fn main() -> ExitCode {
    let flawed = arguments().iter().any(|argument| argument == "--flawed");
    Program::new("cloud_synchronisation", move || run(flawed))
        .complete()
        .about("Arguments of the program: --flawed (the cloud answers although it is busy)")
        .main()
}
