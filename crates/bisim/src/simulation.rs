//! Simulation as a game: the left system makes a step, the right one answers with the same label, and so on; who can't
//! answer has lost.
//!
//! All pairs that the game can reach are listed, with how many answers are left to each step of the left system. Pairs
//! that are lost are taken back through the answers that led to them, nearest first, so that the formula that tells why is
//! of least depth. Time and memory grow with the number of pairs times their steps.

use lts::{Lts, StateId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::distinguish::Budget;
use crate::formula::{Formula, Part, PartId, Step};
use crate::preorder::{Excess, labels_in};
use crate::reduce::{Error, Limits};

/// A step of the left system in a pair, which needs an answer.
struct Challenge {
    pair: u32,
    /// The step, a position in the left system's edges.
    edge: u32,
    /// How many answers are not known to lose.
    answers: u32,
}

pub(crate) fn simulation(
    left: &Lts,
    right: &Lts,
    weak: bool,
    limits: &Limits,
) -> Result<Option<Excess>, Error> {
    let mut game = Game {
        left,
        answers: Answers::new(left, right, weak),
        numbers: FxHashMap::default(),
        pairs: Vec::new(),
        challenges: Vec::new(),
        waiting: Vec::new(),
        first_lost: Vec::new(),
    };
    game.pair(left.initial().raw(), right.initial().raw());
    let mut next = 0;
    while next < game.pairs.len() {
        if game.pairs.len() > limits.states {
            return Err(Error::TooManyStates { limit: limits.states });
        }
        game.expand(next as u32);
        next += 1;
    }
    let lost = game.solve();
    if lost[0].is_none() {
        return Ok(None);
    }
    Ok(Some(game.formula(&lost, weak).map_or(Excess::TooLarge, Excess::Formula)))
}

struct Game<'a> {
    left: &'a Lts,
    answers: Answers<'a>,
    numbers: FxHashMap<(u32, u32), u32>,
    pairs: Vec<(u32, u32)>,
    challenges: Vec<Challenge>,
    /// For each pair, the challenges that it answers.
    waiting: Vec<Vec<u32>>,
    /// Challenges without any answer.
    first_lost: Vec<u32>,
}

impl Game<'_> {
    fn pair(&mut self, left: u32, right: u32) -> u32 {
        let next = self.pairs.len() as u32;
        let number = *self.numbers.entry((left, right)).or_insert(next);
        if number == next {
            self.pairs.push((left, right));
            self.waiting.push(Vec::new());
        }
        number
    }

    fn expand(&mut self, pair: u32) {
        let (state, opponent) = self.pairs[pair as usize];
        for position in self.left.edge_range(StateId::from_raw(state)) {
            let edge = self.left.edges()[position];
            let targets = self.answers.to(opponent, edge.label);
            let challenge = self.challenges.len() as u32;
            let answers = targets.len() as u32;
            self.challenges.push(Challenge { pair, edge: position as u32, answers });
            if answers == 0 {
                self.first_lost.push(challenge);
            }
            for target in targets {
                let answer = self.pair(edge.target.raw(), target);
                self.waiting[answer as usize].push(challenge);
            }
        }
    }

    /// For each lost pair, the challenge without an answer and when it was found.
    fn solve(&mut self) -> Vec<Option<(u32, u32)>> {
        let mut lost: Vec<Option<(u32, u32)>> = vec![None; self.pairs.len()];
        let mut queue: Vec<u32> = Vec::new();
        for &challenge in &self.first_lost {
            let pair = self.challenges[challenge as usize].pair;
            if lost[pair as usize].is_none() {
                lost[pair as usize] = Some((challenge, queue.len() as u32));
                queue.push(pair);
            }
        }
        let mut next = 0;
        while next < queue.len() {
            for &challenge in &self.waiting[queue[next] as usize] {
                let Challenge { pair, answers, .. } = &mut self.challenges[challenge as usize];
                *answers -= 1;
                if *answers == 0 && lost[*pair as usize].is_none() {
                    lost[*pair as usize] = Some((challenge, queue.len() as u32));
                    queue.push(*pair);
                }
            }
            next += 1;
        }
        lost
    }

    /// What the left state of the first pair satisfies and the right one does not; none where that is too large.
    fn formula(&mut self, lost: &[Option<(u32, u32)>], weak: bool) -> Option<Formula> {
        let budget = Budget::default();
        // The pairs that the formula speaks of, each with the pairs that answer the step that it lost by.
        let mut answers: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        let mut todo = vec![0u32];
        while let Some(pair) = todo.pop() {
            if answers.contains_key(&pair) {
                continue;
            }
            let (challenge, _) = lost[pair as usize]?;
            let edge = self.left.edges()[self.challenges[challenge as usize].edge as usize];
            let opponent = self.pairs[pair as usize].1;
            let targets = self.answers.to(opponent, edge.label);
            let of_pair: Vec<u32> =
                targets.into_iter().map(|target| self.pair(edge.target.raw(), target)).collect();
            todo.extend(&of_pair);
            answers.insert(pair, of_pair);
            if answers.len() > budget.levels {
                return None;
            }
        }
        let mut order: Vec<u32> = answers.keys().copied().collect();
        order.sort_unstable_by_key(|&pair| lost[pair as usize].map(|(_, found)| found));
        let mut parts = vec![Part::True];
        let mut known: FxHashMap<Part, PartId> = FxHashMap::from_iter([(Part::True, PartId(0))]);
        let mut add = |part: Part| {
            let next = PartId(parts.len() as u32);
            *known.entry(part).or_insert_with_key(|part| {
                parts.push(part.clone());
                next
            })
        };
        let mut of_pair: FxHashMap<u32, PartId> = FxHashMap::default();
        for pair in order {
            let mut then: Vec<PartId> = answers[&pair].iter().map(|answer| of_pair[answer]).collect();
            then.sort_unstable();
            then.dedup();
            let then = match then.as_slice() {
                [] => PartId(0),
                [one] => *one,
                _ => add(Part::And(then)),
            };
            let (challenge, _) = lost[pair as usize]?;
            let label = self.left.edges()[self.challenges[challenge as usize].edge as usize].label;
            let text = (!label.is_tau()).then(|| self.left.label(label).to_owned());
            let step = if weak { Step::Weak(text) } else { Step::One(text) };
            of_pair.insert(pair, add(Part::Some(step, then)));
        }
        let formula = Formula { parts: up_to(parts, of_pair[&0]) };
        (formula.size() <= budget.size).then_some(formula)
    }
}

/// The parts up to one of them, which is then the last: later ones do not belong to it.
fn up_to(mut parts: Vec<Part>, last: PartId) -> Vec<Part> {
    parts.truncate(last.index() + 1);
    parts
}

/// How the right system can answer.
struct Answers<'a> {
    right: &'a Lts,
    labels: Vec<Option<lts::LabelId>>,
    weak: bool,
    /// What internal steps reach from a state, itself included; made when asked for.
    silent: FxHashMap<u32, Vec<u32>>,
    known: FxHashMap<(u32, lts::LabelId), Vec<u32>>,
}

impl<'a> Answers<'a> {
    fn new(left: &Lts, right: &'a Lts, weak: bool) -> Self {
        let labels = labels_in(left, right);
        Self { right, labels, weak, silent: FxHashMap::default(), known: FxHashMap::default() }
    }

    /// The states that a step with this label of the left system leads to from a state, sorted.
    fn to(&mut self, state: u32, label: lts::LabelId) -> Vec<u32> {
        let Some(own) = self.labels[label.index()] else { return Vec::new() };
        if !self.weak {
            let row = self.right.outgoing(StateId::from_raw(state)).iter();
            return row.filter(|edge| edge.label == own).map(|edge| edge.target.raw()).collect();
        }
        if label.is_tau() {
            return self.silent(state);
        }
        if let Some(known) = self.known.get(&(state, label)) {
            return known.clone();
        }
        let mut targets: Vec<u32> = Vec::new();
        for before in self.silent(state) {
            let row = self.right.outgoing(StateId::from_raw(before));
            let direct: Vec<u32> =
                row.iter().filter(|edge| edge.label == own).map(|edge| edge.target.raw()).collect();
            for target in direct {
                targets.extend(self.silent(target));
            }
        }
        targets.sort_unstable();
        targets.dedup();
        self.known.insert((state, label), targets.clone());
        targets
    }

    fn silent(&mut self, state: u32) -> Vec<u32> {
        if let Some(known) = self.silent.get(&state) {
            return known.clone();
        }
        let mut reached = vec![state];
        let mut seen = FxHashSet::from_iter([state]);
        let mut next = 0;
        while next < reached.len() {
            for edge in self.right.outgoing(StateId::from_raw(reached[next])) {
                if edge.label.is_tau() && seen.insert(edge.target.raw()) {
                    reached.push(edge.target.raw());
                }
            }
            next += 1;
        }
        reached.sort_unstable();
        self.silent.insert(state, reached.clone());
        reached
    }
}
