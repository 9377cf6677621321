//! A walk through two systems to where one of them can't follow the other: the game of strong bisimulation.
//!
//! In each round one side moves, and the other answers with the same label. States that are told apart by `n` rounds of
//! refinement (Kanellakis and Smolka 1983) are told apart by a game of `n` moves, whatever is answered: the side that moves takes
//! a step to which all answers are told apart by fewer rounds. `O(n m)` time, 4 bytes a state and round.

use std::collections::hash_map::Entry;

use lts::{LabelId, Lts, StateId};
use rustc_hash::FxHashMap;

use crate::compare::Side;
use crate::preorder::labels_in;

/// The most numbers of blocks that are remembered.
const MOST_REMEMBERED: usize = 50_000_000;

/// A game that the side that moves wins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Play {
    /// Who moves in each round.
    pub moves: Vec<Side>,
    /// The steps of the first system, as positions in [`Lts::edges`]: one a round, or one fewer where it can't answer the last.
    pub left: Vec<usize>,
    /// The same for the second.
    pub right: Vec<usize>,
}

/// A game that tells the initial states of two systems apart; nothing where they are bisimilar, or where that takes too much.
///
/// ```
/// use bisim::Side;
/// // The first decides after A, the second with it.
/// let late = lts::parse_aut("des (0, 3, 4)\n(0, A, 1)\n(1, B, 2)\n(1, C, 3)\n", &Default::default())?;
/// let early = lts::parse_aut("des (0, 4, 5)\n(0, A, 1)\n(0, A, 2)\n(1, B, 3)\n(2, C, 4)\n", &Default::default())?;
/// let play = bisim::play(&late, &early).unwrap();
/// assert_eq!((play.left.len(), play.right.len()), (2, 1));
/// assert_eq!(play.moves[1], Side::Left);
/// assert_eq!(bisim::play(&late, &late), None);
/// # Ok::<(), lts::AutError>(())
/// ```
pub fn play(left: &Lts, right: &Lts) -> Option<Play> {
    let game = Game { left, right, shared: labels_in(right, left) };
    let rounds = game.rounds()?;
    let (mut one, mut other) = (left.initial(), right.initial());
    let mut play = Play { moves: Vec::new(), left: Vec::new(), right: Vec::new() };
    loop {
        // The first round that tells them apart; the one before does not.
        let round = rounds.iter().position(|blocks| blocks.differ(one, other))?;
        let before = &rounds[round.checked_sub(1)?];
        let steps = game.steps(one, other);
        let unanswered = |side: Side, at: usize| {
            let answers = steps.answers(side, at);
            answers.clone().all(|answer| before.differ_after(&game, side, at, answer))
        };
        let (side, at) = steps.all().find(|&(side, at)| unanswered(side, at))?;
        play.moves.push(side);
        // The answer that holds out longest.
        let told = |&answer: &usize| {
            rounds
                .iter()
                .position(|blocks| blocks.differ_after(&game, side, at, answer))
                .unwrap_or(usize::MAX)
        };
        let answer = steps.answers(side, at).max_by_key(|answer| (told(answer), usize::MAX - answer));
        let (mine, theirs) = match side {
            Side::Left => (&mut play.left, &mut play.right),
            Side::Right => (&mut play.right, &mut play.left),
        };
        mine.push(at);
        let Some(answer) = answer else { return Some(play) };
        theirs.push(answer);
        let (first, second) = if side == Side::Left { (at, answer) } else { (answer, at) };
        (one, other) = (left.edges()[first].target, right.edges()[second].target);
    }
}

/// Two systems.
struct Game<'l> {
    left: &'l Lts,
    right: &'l Lts,
    /// For each label of the right system that of the left one.
    shared: Vec<Option<LabelId>>,
}

/// The block of each state after some rounds.
struct Blocks {
    left: Vec<u32>,
    right: Vec<u32>,
}

impl Blocks {
    fn differ(&self, one: StateId, other: StateId) -> bool {
        self.left[one.index()] != self.right[other.index()]
    }

    /// Whether the states after a move of one side and an answer of the other are told apart.
    fn differ_after(&self, game: &Game<'_>, side: Side, at: usize, answer: usize) -> bool {
        let (first, second) = if side == Side::Left { (at, answer) } else { (answer, at) };
        self.differ(game.left.edges()[first].target, game.right.edges()[second].target)
    }
}

/// The steps of two states with their labels.
struct Steps {
    left: Vec<(usize, u64)>,
    right: Vec<(usize, u64)>,
}

impl Steps {
    fn all(&self) -> impl Iterator<Item = (Side, usize)> {
        let left = self.left.iter().map(|&(at, _)| (Side::Left, at));
        left.chain(self.right.iter().map(|&(at, _)| (Side::Right, at)))
    }

    /// The steps of the other side that have the same label.
    fn answers(&self, side: Side, at: usize) -> impl Iterator<Item = usize> + Clone {
        let (mine, theirs) = match side {
            Side::Left => (&self.left, &self.right),
            Side::Right => (&self.right, &self.left),
        };
        let label = mine.iter().find(|&&(other, _)| other == at).map(|&(_, label)| label);
        theirs.iter().filter(move |&&(_, other)| Some(other) == label).map(|&(answer, _)| answer)
    }
}

impl Game<'_> {
    /// A number for the label of a step: labels that only the right system has come after those of the left.
    fn label(&self, side: Side, label: LabelId) -> u64 {
        match side {
            Side::Left => label.index() as u64,
            Side::Right => match self.shared[label.index()] {
                Some(label) => label.index() as u64,
                None => (self.left.labels().len() + label.index()) as u64,
            },
        }
    }

    fn steps(&self, one: StateId, other: StateId) -> Steps {
        let list = |lts: &Lts, side: Side, state: StateId| -> Vec<(usize, u64)> {
            let row = lts.edge_range(state);
            row.map(|at| (at, self.label(side, lts.edges()[at].label))).collect()
        };
        Steps { left: list(self.left, Side::Left, one), right: list(self.right, Side::Right, other) }
    }

    /// Blocks round by round, up to the one that tells the initial states apart.
    fn rounds(&self) -> Option<Vec<Blocks>> {
        let states = self.left.state_count() + self.right.state_count();
        let mut rounds =
            vec![Blocks { left: vec![0; self.left.state_count()], right: vec![0; self.right.state_count()] }];
        let mut count = 1;
        loop {
            let before = rounds.last()?;
            if before.differ(self.left.initial(), self.right.initial()) {
                return Some(rounds);
            }
            let mut numbers: FxHashMap<(u32, Vec<(u64, u32)>), u32> = FxHashMap::default();
            let mut refined = |lts: &Lts, side: Side, blocks: &[u32]| -> Vec<u32> {
                let block = |state: StateId| {
                    let row = lts.outgoing(state).iter();
                    let mut steps: Vec<(u64, u32)> =
                        row.map(|edge| (self.label(side, edge.label), blocks[edge.target.index()])).collect();
                    steps.sort_unstable();
                    steps.dedup();
                    let fresh = numbers.len() as u32;
                    match numbers.entry((blocks[state.index()], steps)) {
                        Entry::Occupied(known) => *known.get(),
                        Entry::Vacant(empty) => *empty.insert(fresh),
                    }
                };
                lts.states().map(block).collect()
            };
            let left = refined(self.left, Side::Left, &before.left);
            let right = refined(self.right, Side::Right, &before.right);
            let many = numbers.len();
            if many == count || (rounds.len() + 1) * states > MOST_REMEMBERED {
                return None;
            }
            count = many;
            rounds.push(Blocks { left, right });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Relation, equivalent};

    fn system(seed: u64) -> Lts {
        let spec = lts::RandomSystem {
            states: 8,
            transitions: 14,
            labels: 2,
            internal: 0.2,
            shape: lts::Shape::Connected,
            seed,
        };
        spec.draw().unwrap()
    }

    /// The same with one step that leads elsewhere.
    fn changed(lts: &Lts, seed: u64) -> Lts {
        let mut builder = lts::LtsBuilder::with_labels(lts.labels().clone());
        builder.set_initial(lts.initial());
        for (at, step) in lts.transitions().enumerate() {
            let elsewhere = at as u64 == seed % lts.transition_count() as u64;
            let target = (step.target.index() + usize::from(elsewhere)) % lts.state_count();
            builder.add(step.source, step.label, StateId::new(target));
        }
        builder.finish().unwrap()
    }

    #[test]
    fn a_game_is_won_exactly_where_systems_are_not_bisimilar() {
        let (mut longest, mut drawn) = (0, 0);
        for seed in 0..400 {
            let left = system(seed);
            let right = changed(&left, seed);
            let same = equivalent(&left, &right, Relation::Strong).unwrap();
            let Some(play) = play(&left, &right) else {
                assert!(same, "seed {seed}");
                drawn += 1;
                continue;
            };
            assert!(!same, "seed {seed}");
            longest = longest.max(play.moves.len());
            // Both follow their own steps, with the same labels.
            let walk = |lts: &Lts, steps: &[usize]| {
                let mut state = lts.initial();
                let mut labels = Vec::new();
                for &at in steps {
                    assert!(lts.edge_range(state).contains(&at), "seed {seed}");
                    labels.push(lts.label(lts.edges()[at].label).to_owned());
                    state = lts.edges()[at].target;
                }
                (state, labels)
            };
            let ((one, mine), (other, theirs)) = (walk(&left, &play.left), walk(&right, &play.right));
            let (last, common) = (play.moves.len() - 1, mine.len().min(theirs.len()));
            assert_eq!((&mine[..common], common), (&theirs[..common], last), "seed {seed}");
            // The one who has to answer last can't.
            let (loser, state, label) = match play.moves[last] {
                Side::Left => (&right, other, &mine[last]),
                Side::Right => (&left, one, &theirs[last]),
            };
            assert!(loser.outgoing(state).iter().all(|edge| loser.label(edge.label) != label), "seed {seed}");
        }
        assert!(longest > 3 && drawn > 3, "{longest} {drawn}");
    }
}
