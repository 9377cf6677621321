//! Whether there is an accepted run at all, on a finished LTS: the same answer as [`Search::run`] without the run.
//!
//! Two bits a state and part of the formula, and a stack of fixed size. While few pairs wait they are on the stack.
//! When it is full, waiting pairs are marked instead and taken in the order of their states, sweep by sweep, so that
//! transitions are read as they lie in memory; a sweep that finds few goes back to the stack. A sweep costs a
//! sixty-fourth of a pair a state, and is only made after many pairs: the whole is linear.

use lts::{Lts, StateId};

use crate::linear::Search;
use crate::program::InstanceId;
use crate::sets::Bits;
use crate::shape::Class;
use crate::verdict::CheckError;

/// What is known without a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quick {
    /// There is an accepted run.
    Accepts,
    /// There is none.
    Empty,
    /// Only the full search can tell.
    Unknown,
}

const STACK: usize = 1 << 14;
const POSITION_LIMIT: usize = 64;
const MOVE_LIMIT: usize = 1 << 24;

/// A part of the formula that a step leads to.
struct Position {
    /// Conditions under which the search is over; a condition is a list of leaves.
    accepts: Vec<Vec<InstanceId>>,
    /// By label: where to go, under which conditions.
    moves: Vec<Vec<Move>>,
    visited: Bits,
    waiting: Bits,
}

#[derive(Clone)]
struct Move {
    guard: Vec<InstanceId>,
    target: u32,
    /// The block of equations that the step belongs to, if it is a greatest fixpoint: a cycle of such steps is
    /// accepted.
    endless: Option<u32>,
}

/// Looks for an accepted run.
pub(crate) fn quick(search: &mut Search<'_, &Lts>, lts: &Lts) -> Result<Quick, CheckError> {
    let Some(mut positions) = positions(search, lts)? else { return Ok(Quick::Unknown) };
    let found = sweep(search, lts, &mut positions);
    let visited = |state: &StateId| positions.iter().any(|position| position.visited.get(state.index()));
    search.visited = lts.states().filter(visited).count();
    found
}

fn sweep(search: &mut Search<'_, &Lts>, lts: &Lts, positions: &mut [Position]) -> Result<Quick, CheckError> {
    let words = lts.state_count().div_ceil(64);
    let mut stack: Vec<(u32, u32)> = vec![(0, lts.initial().raw())];
    positions[0].visited.set(lts.initial().index(), true);
    loop {
        if search.progress.is_cancelled() {
            return Err(CheckError::Cancelled);
        }
        while let Some((position, state)) = stack.pop() {
            if visit(search, lts, positions, position as usize, state, Some(&mut stack))? {
                return Ok(Quick::Accepts);
            }
            if stack.len() >= STACK {
                break;
            }
        }
        if stack.is_empty() {
            break;
        }
        for (position, state) in stack.drain(..) {
            positions[position as usize].waiting.set(state as usize, true);
        }
        loop {
            let mut found = 0;
            for word in 0..words {
                for position in 0..positions.len() {
                    // What is marked in this word while it is worked off is taken at once.
                    loop {
                        let waiting = &mut positions[position].waiting.words()[word];
                        if *waiting == 0 {
                            break;
                        }
                        let state = (word * 64) as u32 + waiting.trailing_zeros();
                        *waiting &= *waiting - 1;
                        found += 1;
                        if visit(search, lts, positions, position, state, None)? {
                            return Ok(Quick::Accepts);
                        }
                    }
                }
            }
            search.progress.advance(found as u64);
            if found < STACK {
                break;
            }
        }
        for (number, position) in positions.iter_mut().enumerate() {
            for (word, waiting) in position.waiting.words().iter_mut().enumerate() {
                while *waiting != 0 {
                    stack.push((number as u32, (word * 64) as u32 + waiting.trailing_zeros()));
                    *waiting &= *waiting - 1;
                }
            }
        }
        if stack.is_empty() {
            break;
        }
    }
    for block in endless_blocks(positions) {
        if has_cycle(search, lts, positions, block)? {
            return Ok(Quick::Accepts);
        }
    }
    Ok(if has_mixed_block(search) { Quick::Unknown } else { Quick::Empty })
}

/// Looks at one pair: true if it is accepted. What is new goes to the stack, or is marked.
fn visit(
    search: &mut Search<'_, &Lts>,
    lts: &Lts,
    positions: &mut [Position],
    position: usize,
    state: u32,
    mut stack: Option<&mut Vec<(u32, u32)>>,
) -> Result<bool, CheckError> {
    for guard in &positions[position].accepts {
        if guard.is_empty() || search.all_hold(guard, StateId::from_raw(state))? {
            return Ok(true);
        }
    }
    // The moves are lent out while the marks of other positions change.
    let moves = std::mem::take(&mut positions[position].moves);
    for edge in lts.outgoing(StateId::from_raw(state)) {
        for next in &moves[edge.label.index()] {
            let target = &mut positions[next.target as usize];
            if target.visited.get(edge.target.index())
                || (!next.guard.is_empty() && !search.all_hold(&next.guard, StateId::from_raw(state))?)
            {
                continue;
            }
            target.visited.set(edge.target.index(), true);
            match &mut stack {
                Some(stack) => stack.push((next.target, edge.target.raw())),
                None => target.waiting.set(edge.target.index(), true),
            }
        }
    }
    positions[position].moves = moves;
    Ok(false)
}

/// All parts of the formula that steps lead to, the whole formula first.
fn positions(search: &mut Search<'_, &Lts>, lts: &Lts) -> Result<Option<Vec<Position>>, CheckError> {
    let used = lts.used_labels();
    let parities = search.parts.program.equations.block_parities();
    let root = search.parts.program.root();
    let mut found = vec![root];
    let mut positions: Vec<Position> = Vec::new();
    while positions.len() < found.len() {
        if found.len() > POSITION_LIMIT || positions.len() * used.len() > MOVE_LIMIT {
            return Ok(None);
        }
        let instance = found[positions.len()];
        let closure = search.closure(instance)?;
        let mut moves: Vec<Vec<Move>> = vec![Vec::new(); used.len()];
        for (guard, _, step) in &closure.steps {
            let block = search.parts.program.equations.block[search.parts.program.node(*step)];
            let endless = (parities[block as usize] == Some(true)).then_some(block);
            for (label, _) in lts.labels().iter().filter(|(label, _)| used[label.index()]) {
                let targets = search.parts.program.targets(*step, label, || lts.label(label).to_owned())?;
                for target in targets.iter() {
                    let number = found.iter().position(|one| one == target).unwrap_or_else(|| {
                        found.push(*target);
                        found.len() - 1
                    });
                    let of_label = &mut moves[label.index()];
                    let same = |one: &Move| one.target == number as u32 && one.endless == endless;
                    if guard.is_empty() {
                        of_label.retain(|one| !same(one));
                    } else if of_label.iter().any(|one| same(one) && one.guard.is_empty()) {
                        continue;
                    }
                    of_label.push(Move { guard: guard.to_vec(), target: number as u32, endless });
                }
            }
        }
        let none = Bits::new(lts.state_count(), false);
        positions.push(Position {
            accepts: closure.accepts.iter().map(|guard| guard.to_vec()).collect(),
            moves,
            visited: none.clone(),
            waiting: none,
        });
    }
    Ok(Some(positions))
}

fn endless_blocks(positions: &[Position]) -> Vec<u32> {
    let moves = positions.iter().flat_map(|one| one.moves.iter().flatten());
    let mut blocks: Vec<u32> = moves.filter_map(|one| one.endless).collect();
    blocks.sort_unstable();
    blocks.dedup();
    blocks
}

/// Whether cycles of some block are accepted or not by more than the block they lie in.
fn has_mixed_block(search: &Search<'_, &Lts>) -> bool {
    let equations = &search.parts.program.equations;
    let parities = equations.block_parities();
    let linear =
        search.parts.class.iter().zip(&equations.block).filter(|(class, _)| **class == Class::Linear);
    linear.into_iter().any(|(_, &block)| parities[block as usize].is_none())
}

/// Whether the visited pairs of one block have a cycle: depth first, two bits a pair and the path.
fn has_cycle(
    search: &mut Search<'_, &Lts>,
    lts: &Lts,
    positions: &[Position],
    block: u32,
) -> Result<bool, CheckError> {
    let starts = |position: &Position| position.moves.iter().flatten().any(|one| one.endless == Some(block));
    let none = Bits::new(lts.state_count(), false);
    let mut on_path: Vec<Bits> = vec![none.clone(); positions.len()];
    let mut finished: Vec<Bits> = vec![none; positions.len()];
    let mut path: Vec<(u32, u32, u32)> = Vec::new();
    for root in (0..positions.len()).filter(|&position| starts(&positions[position])) {
        for start in lts.states().filter(|state| positions[root].visited.get(state.index())) {
            if finished[root].get(start.index()) {
                continue;
            }
            path.push((root as u32, start.raw(), 0));
            on_path[root].set(start.index(), true);
            while let Some(&mut (position, state, ref mut at)) = path.last_mut() {
                let row = lts.outgoing(StateId::from_raw(state));
                let moves = &positions[position as usize].moves;
                // `at` counts pairs of a transition and a move, transition by transition.
                let mut left = *at as usize;
                let next = row.iter().find_map(|edge| {
                    let of_label = &moves[edge.label.index()];
                    match of_label.get(left) {
                        Some(next) => Some((edge.target, next)),
                        None => {
                            left -= of_label.len();
                            None
                        }
                    }
                });
                *at += 1;
                let Some((target, next)) = next else {
                    path.pop();
                    on_path[position as usize].set(state as usize, false);
                    finished[position as usize].set(state as usize, true);
                    continue;
                };
                let to = next.target as usize;
                if next.endless != Some(block) || finished[to].get(target.index()) {
                    continue;
                }
                if !next.guard.is_empty() && !search.all_hold(&next.guard, StateId::from_raw(state))? {
                    continue;
                }
                if on_path[to].get(target.index()) {
                    return Ok(true);
                }
                on_path[to].set(target.index(), true);
                path.push((next.target, target.raw(), 0));
            }
        }
    }
    Ok(false)
}
