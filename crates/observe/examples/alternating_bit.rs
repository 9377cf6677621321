//! The alternating bit protocol over channels that drop and duplicate, as a program with four threads. Its model is
//! `models/alternating_bit_maude`.
//!
//! ```text
//! cargo run --release -p watershed-observe --example alternating_bit -- --depth 100 -o sequences.jsonl -- --size 2 --flawed
//! ```

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
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

/// What is observed: everything, so that the program can start from any state.
#[derive(Serialize, Deserialize)]
struct State {
    cap: usize,
    sb: bool,
    data: usize,
    rb: bool,
    buf: Vec<usize>,
    dc: VecDeque<Packet>,
    ac: VecDeque<bool>,
    /// Which of its two actions each thread does next.
    turns: [bool; 4],
}

impl State {
    fn new(cap: usize) -> State {
        let (dc, ac) = (VecDeque::new(), VecDeque::new());
        State { cap, sb: true, data: 0, rb: true, buf: Vec::new(), dc, ac, turns: [false; 4] }
    }

    fn send_data(&mut self) {
        if self.data < LIMIT && self.dc.len() < self.cap {
            self.dc.push_back(Packet { data: self.data, bit: self.sb });
        }
    }

    fn receive_acknowledgement(&mut self) {
        // After the last datum an acknowledgement has nothing to say; it stays, as in the model.
        if let Some(&bit) = self.ac.front()
            && (bit == self.sb || self.data < LIMIT)
        {
            self.ac.pop_front();
            if bit != self.sb {
                self.data += 1;
                self.sb = !self.sb;
            }
        }
    }

    fn send_acknowledgement(&mut self) {
        if self.ac.len() < self.cap {
            self.ac.push_back(self.rb);
        }
    }

    fn receive_data(&mut self, flawed: bool) {
        if let Some(packet) = self.dc.pop_front()
            && packet.bit == self.rb
        {
            // The planted flaw: in place of the third datum the fourth is stored.
            self.buf.push(if flawed && packet.data == 2 { 3 } else { packet.data });
            self.rb = !self.rb;
        }
    }

    fn drop_data(&mut self) {
        self.dc.pop_front();
    }

    fn drop_acknowledgement(&mut self) {
        self.ac.pop_front();
    }

    fn duplicate_data(&mut self) {
        if self.dc.len() < self.cap
            && let Some(packet) = self.dc.front().cloned()
        {
            self.dc.push_front(packet);
        }
    }

    fn duplicate_acknowledgement(&mut self) {
        if self.ac.len() < self.cap
            && let Some(&bit) = self.ac.front()
        {
            self.ac.push_front(bit);
        }
    }
}

/// A thread that does two actions in turn, for ever.
fn alternate(
    shared: &Arc<Mutex<State>>,
    number: usize,
    actions: [impl Fn(&mut State) + Send + 'static; 2],
) -> thread::JoinHandle<()> {
    let shared = shared.clone();
    thread::spawn(move || {
        loop {
            let mut state = shared.lock().unwrap();
            let turn = state.turns[number];
            actions[usize::from(turn)](&mut state);
            state.turns[number] = !turn;
            observe_all!(&*state);
        }
    })
}

fn run(start: State, flawed: bool) {
    observe_all!(&start);
    let shared = Arc::new(Mutex::new(start));
    let receive_data = move |state: &mut State| state.receive_data(flawed);
    let threads = [
        alternate(&shared, 0, [State::send_data, State::receive_acknowledgement]),
        alternate(&shared, 1, [Box::new(State::send_acknowledgement) as Action, Box::new(receive_data)]),
        alternate(&shared, 2, [State::drop_data, State::drop_acknowledgement]),
        alternate(&shared, 3, [State::duplicate_data, State::duplicate_acknowledgement]),
    ];
    for thread in threads {
        thread.join().unwrap();
    }
}

type Action = Box<dyn Fn(&mut State) + Send>;

fn main() -> ExitCode {
    let arguments = arguments();
    let flawed = arguments.iter().any(|argument| argument == "--flawed");
    let size =
        arguments.iter().position(|argument| argument == "--size").and_then(|index| arguments.get(index + 1));
    let size = size.map_or(1, |text| text.parse().expect("--size needs a number"));
    Program::from_states("alternating_bit", move |start| run(start.unwrap_or_else(|| State::new(size)), flawed))
        .complete()
        .about("Arguments of the program: --size N (of the channels, 1), --flawed (the third datum is stored wrongly)")
        .main()
}
