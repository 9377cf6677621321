//! Steps in which several transitions fire at once.
//!
//! Transitions fire together if each of them can fire alone and there are tokens for all of them: those that they take,
//! added up, beside the most that any of them reads. None may remove by `reset` what another one takes or reads. No
//! binding fires twice in a step. A place/transition net that was unfolded has the same steps.

use super::fire::Effect;
use super::search::{Mode, Present};

/// A mode with what it changes.
pub(crate) struct Member {
    pub mode: Mode,
    pub effect: Effect,
}

/// Whether modes that can fire together can fire together with another one.
pub(crate) fn can_join(present: &Present, members: &[&Member], other: &Member) -> bool {
    let is_same = |member: &&Member| {
        (member.mode.transition, &member.mode.binding) == (other.mode.transition, &other.mode.binding)
    };
    if members.iter().any(is_same) {
        return false;
    }
    let spoils = |one: &Member, other: &Member| {
        let mut used = other.mode.takes.iter().chain(&other.mode.reads);
        used.any(|&(place, token, _)| one.effect.resets.contains(&(place, token)))
    };
    if members.iter().any(|member| spoils(member, other) || spoils(other, member)) {
        return false;
    }
    let all: Vec<&Member> = members.iter().copied().chain([other]).collect();
    all.iter().all(|member| has_enough(&all, present, member))
}

/// Whether there is enough of what a member needs when all others have taken theirs.
fn has_enough(all: &[&Member], present: &Present, member: &Member) -> bool {
    let mut needs = member.mode.takes.iter().chain(&member.mode.reads);
    needs.all(|&(place, token, _)| {
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
