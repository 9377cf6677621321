//! Steps in which several transitions fire at once.
//!
//! Transitions can fire together if they can fire in any order, and the marking that they lead to does not depend on
//! the order. Then there are tokens for all of them: those that they take, added up, beside those that any of them
//! reads. None removes by `reset` what another one moves, none puts tokens that inhibit another one, and none puts a
//! token into a set from which another one takes an equal one.

use lnt::data::Evaluator;

use super::fire::Effect;
use super::net::HighNet;
use super::search::{Mode, Present, concerned};
use crate::text::ArcWord;

/// A mode with what it changes.
pub(crate) struct Member {
    pub mode: Mode,
    pub effect: Effect,
}

/// Whether a set of modes, which can fire together, can fire together with another one.
pub(crate) fn can_join(
    net: &HighNet,
    evaluator: &mut Evaluator<'_>,
    present: &Present,
    members: &[&Member],
    other: &Member,
) -> bool {
    let is_same = |member: &&Member| {
        let (a, b) = (&member.mode, &other.mode);
        (a.transition, &a.binding, &a.takes) == (b.transition, &b.binding, &b.takes)
    };
    if members.iter().any(is_same) {
        return false;
    }
    let all: Vec<&Member> = members.iter().copied().chain([other]).collect();
    if !all.iter().all(|member| has_enough(&all, present, member)) {
        return false;
    }
    members
        .iter()
        .all(|member| !disturbs(net, evaluator, member, other) && !disturbs(net, evaluator, other, member))
        && all.iter().all(|member| !is_inhibited(net, evaluator, present, &all, member))
}

/// Whether there is enough of what a member needs when all others have taken theirs.
fn has_enough(all: &[&Member], present: &Present, member: &Member) -> bool {
    let needs = member.mode.takes.iter().chain(&member.mode.reads);
    needs.into_iter().all(|&(place, token, _)| {
        let count = |tokens: &[(usize, u32, u32)]| {
            let found = tokens.iter().find(|entry| (entry.0, entry.1) == (place, token));
            found.map_or(0, |entry| u64::from(entry.2))
        };
        let taken: u64 = all.iter().map(|one| count(&one.mode.takes)).sum();
        let read = all.iter().map(|one| count(&one.mode.reads)).max().unwrap_or(0);
        let there = present.tokens[place].iter().find(|entry| entry.0 == token);
        taken + read <= there.map_or(0, |entry| u64::from(entry.1))
    })
}

/// Whether one removes or collapses what another one moves.
fn disturbs(net: &HighNet, evaluator: &mut Evaluator<'_>, one: &Member, other: &Member) -> bool {
    for arc in net.transitions[one.mode.transition].arcs.iter().filter(|arc| arc.word == ArcWord::Reset) {
        let moved = other.mode.takes.iter().chain(&other.mode.reads).chain(&other.effect.puts);
        let moved: Vec<(u32, u32)> =
            moved.filter(|entry| entry.0 == arc.place).map(|entry| (entry.1, entry.2)).collect();
        let removed = concerned(evaluator, arc, &one.mode.binding, &moved);
        if removed.is_ok_and(|tokens| !tokens.is_empty()) {
            return true;
        }
    }
    one.effect.puts.iter().any(|put| {
        net.places[put.0].is_set && other.mode.takes.iter().any(|take| (take.0, take.1) == (put.0, put.1))
    })
}

/// Whether what the others put inhibits a member.
fn is_inhibited(
    net: &HighNet,
    evaluator: &mut Evaluator<'_>,
    present: &Present,
    all: &[&Member],
    member: &Member,
) -> bool {
    net.transitions[member.mode.transition].arcs.iter().filter(|arc| arc.word == ArcWord::Inhibit).any(
        |arc| {
            let mut tokens = present.tokens[arc.place].clone();
            let others = all.iter().filter(|one| one.mode != member.mode);
            for &(place, token, count) in others.flat_map(|one| &one.effect.puts) {
                let is_new = !tokens.iter().any(|entry| entry.0 == token);
                let is_set = net.places[place].is_set;
                if place == arc.place && (is_new || !is_set) {
                    tokens.push((token, if is_set { 1 } else { count }));
                }
            }
            let concerned = concerned(evaluator, arc, &member.mode.binding, &tokens).unwrap_or_default();
            concerned.iter().map(|&(_, count)| u64::from(count)).sum::<u64>() >= u64::from(arc.count)
        },
    )
}
