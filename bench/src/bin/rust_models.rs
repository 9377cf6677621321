//! The peer: three models of `bench/models` in Rust, explored by Stateright, breadth first on one thread:
//! `rust_models paxos|puzzle|filter_lock`. Prints what it found as JSON.

use std::collections::BTreeSet;
use std::hash::Hash;
use std::time::Instant;

use stateright::{Checker as _, Model, Property};

fn main() {
    let model = std::env::args().nth(1).unwrap_or_default();
    match model.as_str() {
        "paxos" => explore(Paxos),
        "puzzle" => explore(Puzzle),
        "filter_lock" => explore(FilterLock),
        _ => panic!("usage: rust_models paxos|puzzle|filter_lock"),
    }
}

fn explore<M>(model: M)
where
    M: Model + Send + Sync + 'static,
    M::State: Clone + Hash + PartialEq + Send + Sync,
    M::Action: Clone + PartialEq,
{
    let start = Instant::now();
    let checker = model.checker().threads(1).spawn_bfs().join();
    // Stateright counts every state that it generates, the initial one as well.
    println!(
        "{{\"states\":{},\"transitions\":{},\"seconds\":{}}}",
        checker.unique_state_count(),
        checker.state_count() - 1,
        start.elapsed().as_secs_f64()
    );
}

/// Stateright stops as soon as every property is decided: this one never is before the end.
fn everything<M: Model>() -> Vec<Property<M>> {
    vec![Property::always("everything is explored", |_, _| true)]
}

/// Paxos for a single decision: three proposers with a ballot each, three acceptors, and all messages ever sent.
struct Paxos;

type Ballot = u8;
type Acceptor = u8;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Colour {
    Red,
    Blue,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Vote {
    number: Ballot,
    choice: Colour,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Message {
    Prepare { number: Ballot },
    Promise { from: Acceptor, number: Ballot, last: Option<Vote> },
    Propose { number: Ballot, choice: Colour },
    Accepted { from: Acceptor, number: Ballot, choice: Colour },
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum ProposerState {
    Beginning,
    Collecting { promised: BTreeSet<Acceptor>, highest: Option<Vote> },
    Proposing(Colour),
    Ended,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct AcceptorState {
    promised: Ballot,
    last: Option<Vote>,
    /// What it sends next.
    answer: Option<Message>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct PaxosState {
    proposers: Vec<ProposerState>,
    acceptors: Vec<AcceptorState>,
    soup: BTreeSet<Message>,
}

#[derive(Clone, PartialEq)]
enum PaxosAction {
    ProposerSends(usize, Message),
    ProposerReceives(usize, Message),
    AcceptorSends(usize, Message),
    AcceptorReceives(usize, Message),
}

/// The ballot of the proposer with this index.
fn ballot(proposer: usize) -> Ballot {
    proposer as Ballot + 1
}

impl Model for Paxos {
    type State = PaxosState;
    type Action = PaxosAction;

    fn init_states(&self) -> Vec<PaxosState> {
        vec![PaxosState {
            proposers: vec![ProposerState::Beginning; 3],
            acceptors: vec![AcceptorState { promised: 0, last: None, answer: None }; 3],
            soup: BTreeSet::new(),
        }]
    }

    fn actions(&self, state: &PaxosState, actions: &mut Vec<PaxosAction>) {
        for (index, proposer) in state.proposers.iter().enumerate() {
            let me = ballot(index);
            match proposer {
                ProposerState::Beginning => {
                    actions.push(PaxosAction::ProposerSends(index, Message::Prepare { number: me }));
                }
                ProposerState::Collecting { promised, .. } => {
                    let news = state.soup.iter().filter(|message| {
                        matches!(message, Message::Promise { from, number, .. }
                            if *number == me && !promised.contains(from))
                    });
                    actions.extend(news.map(|message| PaxosAction::ProposerReceives(index, *message)));
                }
                ProposerState::Proposing(choice) => {
                    let message = Message::Propose { number: me, choice: *choice };
                    actions.push(PaxosAction::ProposerSends(index, message));
                }
                ProposerState::Ended => {}
            }
        }
        for (index, acceptor) in state.acceptors.iter().enumerate() {
            if let Some(answer) = acceptor.answer {
                actions.push(PaxosAction::AcceptorSends(index, answer));
                continue;
            }
            let news = state.soup.iter().filter(|message| match message {
                Message::Prepare { number } => *number > acceptor.promised,
                Message::Propose { number, .. } => *number >= acceptor.promised,
                _ => false,
            });
            actions.extend(news.map(|message| PaxosAction::AcceptorReceives(index, *message)));
        }
    }

    fn next_state(&self, state: &PaxosState, action: PaxosAction) -> Option<PaxosState> {
        let mut next = state.clone();
        match action {
            PaxosAction::ProposerSends(index, message) => {
                next.soup.insert(message);
                next.proposers[index] = match message {
                    Message::Prepare { .. } => {
                        ProposerState::Collecting { promised: BTreeSet::new(), highest: None }
                    }
                    _ => ProposerState::Ended,
                };
            }
            PaxosAction::ProposerReceives(index, message) => {
                let Message::Promise { from, last, .. } = message else { return None };
                let proposer = &mut next.proposers[index];
                let ProposerState::Collecting { promised, highest } = proposer else { return None };
                promised.insert(from);
                if last.map(|vote| vote.number) > highest.map(|vote| vote.number) {
                    *highest = last;
                }
                if promised.len() == 2 {
                    let wish = if ballot(index) == 2 { Colour::Blue } else { Colour::Red };
                    *proposer = ProposerState::Proposing(highest.map_or(wish, |vote| vote.choice));
                }
            }
            PaxosAction::AcceptorSends(index, message) => {
                next.soup.insert(message);
                next.acceptors[index].answer = None;
            }
            PaxosAction::AcceptorReceives(index, message) => {
                let from = index as Acceptor + 1;
                let acceptor = &mut next.acceptors[index];
                match message {
                    Message::Prepare { number } => {
                        acceptor.promised = number;
                        acceptor.answer = Some(Message::Promise { from, number, last: acceptor.last });
                    }
                    Message::Propose { number, choice } => {
                        acceptor.promised = number;
                        acceptor.last = Some(Vote { number, choice });
                        acceptor.answer = Some(Message::Accepted { from, number, choice });
                    }
                    _ => return None,
                }
            }
        }
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        everything()
    }
}

/// The sliding puzzle with eight tiles on a board of three by three; 0 is the gap.
struct Puzzle;

#[derive(Clone, Copy, PartialEq)]
enum Direction {
    Up,
    Down,
    Left,
    Right,
}

impl Model for Puzzle {
    type State = [u8; 9];
    type Action = Direction;

    fn init_states(&self) -> Vec<[u8; 9]> {
        vec![[1, 2, 3, 4, 5, 6, 7, 8, 0]]
    }

    fn actions(&self, _: &[u8; 9], actions: &mut Vec<Direction>) {
        actions.extend([Direction::Up, Direction::Down, Direction::Left, Direction::Right]);
    }

    fn next_state(&self, board: &[u8; 9], direction: Direction) -> Option<[u8; 9]> {
        let gap = board.iter().position(|&tile| tile == 0)?;
        let other = match direction {
            Direction::Up if gap / 3 > 0 => gap - 3,
            Direction::Down if gap / 3 < 2 => gap + 3,
            Direction::Left if gap % 3 > 0 => gap - 1,
            Direction::Right if gap % 3 < 2 => gap + 1,
            _ => return None,
        };
        let mut next = *board;
        next.swap(gap, other);
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        everything()
    }
}

/// Peterson's mutual exclusion for five processes, which pass through four levels.
struct FilterLock;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Place {
    SetsLevel(usize),
    SetsLast(usize),
    Waits(usize),
    Enters,
    Inside,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct LockState {
    places: [Place; 5],
    level: [usize; 5],
    /// By level, from 1 on.
    last_to_enter: [usize; 5],
}

impl Model for FilterLock {
    type State = LockState;
    /// The process that makes a step.
    type Action = usize;

    fn init_states(&self) -> Vec<LockState> {
        vec![LockState { places: [Place::SetsLevel(1); 5], level: [0; 5], last_to_enter: [0; 5] }]
    }

    fn actions(&self, _: &LockState, actions: &mut Vec<usize>) {
        actions.extend(0..5);
    }

    fn next_state(&self, state: &LockState, me: usize) -> Option<LockState> {
        let mut next = state.clone();
        next.places[me] = match state.places[me] {
            Place::SetsLevel(level) => {
                next.level[me] = level;
                Place::SetsLast(level)
            }
            Place::SetsLast(level) => {
                next.last_to_enter[level] = me;
                Place::Waits(level)
            }
            Place::Waits(level) => {
                let alone = (0..5).all(|other| other == me || state.level[other] < level);
                if state.last_to_enter[level] == me && !alone {
                    return None;
                }
                if level < 4 { Place::SetsLevel(level + 1) } else { Place::Enters }
            }
            Place::Enters => Place::Inside,
            Place::Inside => {
                next.level[me] = 0;
                Place::SetsLevel(1)
            }
        };
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        everything()
    }
}
