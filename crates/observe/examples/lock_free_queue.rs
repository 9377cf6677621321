//! A queue without locks, after Michael and Scott (1996), over a pool of nodes that are used again. Its model is
//! `models/lock_free_queue`.
//!
//! The first node is a sentinel; `head` and `tail` are indices of nodes with a version that grows with every exchange. With
//! `--flawed` the version stays 0: a thread that was away for long takes a node that was freed and used again for the one that
//! it knew (the ABA problem), and exchanges `head` for a node that is not in the queue any more.

use serde::{Serialize, Serializer};
use std::collections::VecDeque;
use std::process::ExitCode;
use watershed_observe::sync::atomic::{AtomicU64, Ordering::SeqCst};
use watershed_observe::sync::{Arc, Mutex};
use watershed_observe::{Program, arguments, observe, thread};

const NODES: usize = 3;
const NONE: u64 = u32::MAX as u64;

/// An index and a version in one word.
fn pack(index: u64, version: u64) -> u64 {
    version << 32 | index
}

fn index(word: u64) -> u64 {
    word & NONE
}

fn version(word: u64) -> u64 {
    word >> 32
}

struct Queue {
    head: AtomicU64,
    tail: AtomicU64,
    next: [AtomicU64; NODES],
    value: [AtomicU64; NODES],
    /// Nodes that nobody uses; the one that was freed first is used first.
    free: Mutex<VecDeque<u64>>,
    flawed: bool,
    /// What the words above hold, for observation: looking at it is no step of the program.
    shadow: std::sync::Mutex<Shadow>,
}

struct Shadow {
    head: usize,
    next: [u64; NODES],
    value: [u64; NODES],
}

impl Shadow {
    /// The values from the sentinel on. A broken queue can be a ring.
    fn contents(&self) -> Vec<u64> {
        let mut contents = Vec::new();
        let mut node = self.next[self.head];
        while node != NONE && contents.len() < NODES {
            contents.push(self.value[node as usize]);
            node = self.next[node as usize];
        }
        contents
    }
}

impl Queue {
    /// A queue with two values.
    fn new(flawed: bool) -> Queue {
        let (next, value) = ([1, 2, NONE], [0, 1, 2]);
        Queue {
            head: AtomicU64::new(pack(0, 0)),
            tail: AtomicU64::new(pack(2, 0)),
            next: next.map(|node| AtomicU64::new(pack(node, 0))),
            value: value.map(AtomicU64::new),
            free: Mutex::new(VecDeque::new()),
            flawed,
            shadow: std::sync::Mutex::new(Shadow { head: 0, next, value }),
        }
    }

    /// The word for a node in place of an old one.
    fn newer(&self, node: u64, old: u64) -> u64 {
        pack(node, if self.flawed { 0 } else { version(old) + 1 })
    }

    fn exchange(&self, word: &AtomicU64, old: u64, node: u64) -> bool {
        word.compare_exchange(old, self.newer(node, old), SeqCst, SeqCst).is_ok()
    }

    fn shadow(&self, change: impl FnOnce(&mut Shadow)) {
        change(&mut self.shadow.lock().unwrap());
    }

    fn enqueue(&self, value: u64, client: &mut Client) {
        let node = self.free.lock().unwrap().pop_front().expect("a free node");
        self.value[node as usize].store(value, SeqCst);
        self.shadow(|shadow| shadow.value[node as usize] = value);
        let old = self.next[node as usize].load(SeqCst);
        self.next[node as usize].store(self.newer(NONE, old), SeqCst);
        self.shadow(|shadow| shadow.next[node as usize] = NONE);
        loop {
            let tail = self.tail.load(SeqCst);
            let next = self.next[index(tail) as usize].load(SeqCst);
            if index(next) != NONE {
                self.exchange(&self.tail, tail, index(next));
            } else if self.exchange(&self.next[index(tail) as usize], next, node) {
                self.shadow(|shadow| shadow.next[index(tail) as usize] = node);
                client.done(self, None);
                self.exchange(&self.tail, tail, node);
                return;
            }
        }
    }

    fn dequeue(&self, client: &mut Client) {
        loop {
            let head = self.head.load(SeqCst);
            let tail = self.tail.load(SeqCst);
            let next = self.next[index(head) as usize].load(SeqCst);
            if index(next) == NONE {
                // Nobody moves `head` away from a node without successor. If neither word has changed, not even to another
                // value and back, the queue is empty in the step that reads the second one.
                if self.head.load(SeqCst) == head && self.next[index(head) as usize].load(SeqCst) == next {
                    client.done(self, Some("none".into()));
                    return;
                }
            } else if index(head) == index(tail) {
                self.exchange(&self.tail, tail, index(next));
            } else {
                let value = self.value[index(next) as usize].load(SeqCst);
                if self.exchange(&self.head, head, index(next)) {
                    self.shadow(|shadow| shadow.head = index(next) as usize);
                    client.done(self, Some(value.into()));
                    self.free.lock().unwrap().push_back(index(head));
                    return;
                }
            }
        }
    }
}

#[derive(Clone)]
enum Operation {
    Enqueue(u64),
    Dequeue,
}

/// As the model writes it.
impl Serialize for Operation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Operation::Enqueue(value) => serializer.collect_str(&format_args!("enqueue({value})")),
            Operation::Dequeue => serializer.serialize_str("dequeue"),
        }
    }
}

/// What a thread has still to do and what it has got.
struct Client {
    todo_name: &'static str,
    got_name: &'static str,
    todo: VecDeque<Operation>,
    got: Vec<serde_json::Value>,
}

impl Client {
    fn new(todo_name: &'static str, got_name: &'static str, todo: &[Operation]) -> Client {
        let client = Client { todo_name, got_name, todo: todo.iter().cloned().collect(), got: Vec::new() };
        client.observe();
        client
    }

    fn observe(&self) {
        observe!(self.todo_name, &self.todo);
        observe!(self.got_name, &self.got);
    }

    /// The operation takes effect in this step.
    fn done(&mut self, queue: &Queue, result: Option<serde_json::Value>) {
        self.todo.pop_front();
        self.got.extend(result);
        self.observe();
        observe!("queue", &queue.shadow.lock().unwrap().contents());
    }

    fn run(mut self, queue: &Queue) -> Vec<serde_json::Value> {
        while let Some(operation) = self.todo.front().cloned() {
            match operation {
                Operation::Enqueue(value) => queue.enqueue(value, &mut self),
                Operation::Dequeue => queue.dequeue(&mut self),
            }
        }
        self.got
    }
}

fn run(flawed: bool) {
    use Operation::{Dequeue, Enqueue};
    let queue = Arc::new(Queue::new(flawed));
    observe!("queue", &[1, 2]);
    let clients = [
        Client::new("todo1", "got1", &[Dequeue]),
        Client::new("todo2", "got2", &[Dequeue, Dequeue, Enqueue(3), Dequeue]),
    ];
    let threads = clients.map(|client| {
        let queue = queue.clone();
        thread::spawn(move || client.run(&queue))
    });
    let mut got: Vec<_> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
    got.retain(serde_json::Value::is_number);
    got.sort_by_key(serde_json::Value::as_u64);
    assert!(got.windows(2).all(|pair| pair[0] != pair[1]), "a value was taken twice: {got:?}");
}

fn main() -> ExitCode {
    let flawed = arguments().iter().any(|argument| argument == "--flawed");
    Program::new("lock_free_queue", move || run(flawed))
        .about("Arguments of the program: --flawed (words have no versions: the ABA problem)")
        .main()
}
