//! The simple communication protocol as a program: a sender, a receiver, and a thread that drops what is in the two cells. Its
//! model is `models/simple_communication`.

use serde::{Deserialize, Serialize};
use std::process::ExitCode;
use watershed_observe::sync::{Arc, Mutex};
use watershed_observe::{Program, arguments, observe_all, thread};

/// How many data the sender has to deliver.
const LIMIT: usize = 4;

#[derive(Clone, Serialize, Deserialize)]
struct Packet {
    data: usize,
    bit: bool,
}

/// What is observed. A cell is a list of at most one value.
#[derive(Serialize, Deserialize)]
struct State {
    sb: bool,
    data: usize,
    rb: bool,
    buf: Vec<usize>,
    dc: Vec<Packet>,
    ac: Vec<bool>,
    /// Which of its two actions each thread does next.
    turns: [bool; 3],
}

impl State {
    fn new() -> State {
        State {
            sb: true,
            data: 0,
            rb: true,
            buf: Vec::new(),
            dc: Vec::new(),
            ac: Vec::new(),
            turns: [false; 3],
        }
    }

    fn act(&mut self, thread: usize, turn: bool, flawed: bool) {
        match (thread, turn) {
            (0, false) if self.data < LIMIT => self.dc = vec![Packet { data: self.data, bit: self.sb }],
            (0, true) => {
                if let [bit] = self.ac[..]
                    && (bit == self.sb || self.data < LIMIT)
                {
                    self.ac.clear();
                    // The planted flaw: every acknowledgement is taken for that of the datum which was sent last.
                    if (bit != self.sb || flawed) && self.data < LIMIT {
                        self.data += 1;
                        self.sb = !self.sb;
                    }
                }
            }
            (1, false) => self.ac = vec![self.rb],
            (1, true) => {
                if let Some(packet) = self.dc.pop()
                    && packet.bit == self.rb
                {
                    self.buf.push(packet.data);
                    self.rb = !self.rb;
                }
            }
            (2, false) => self.dc.clear(),
            (2, true) => self.ac.clear(),
            _ => {}
        }
    }
}

/// A thread does its two actions in turn, for ever.
fn alternate(shared: &Mutex<State>, number: usize, flawed: bool) {
    loop {
        let mut state = shared.lock().unwrap();
        let turn = state.turns[number];
        state.act(number, turn, flawed);
        state.turns[number] = !turn;
        observe_all!(&*state);
    }
}

fn run(start: State, flawed: bool) {
    observe_all!(&start);
    let shared = Arc::new(Mutex::new(start));
    let threads = [0, 1, 2].map(|number| {
        let shared = shared.clone();
        thread::spawn(move || alternate(&shared, number, flawed))
    });
    for thread in threads {
        thread.join().unwrap();
    }
}

fn main() -> ExitCode {
    let flawed = arguments().iter().any(|argument| argument == "--flawed");
    Program::from_states("simple_communication", move |start| run(start.unwrap_or_else(State::new), flawed))
        .complete()
        .about(
            "Arguments of the program: --flawed (the sender does not look at the bit of an acknowledgement)",
        )
        .main()
}
