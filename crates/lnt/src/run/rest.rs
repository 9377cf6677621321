//! Regions run on until they rest: forks start children, ends join them, exceptions leave them.

use model::{ModelError, Slot};

use super::machine::{Halt, Machine};
use crate::compile::code::{ForkKind, Op};

/// Control leaves for a handler: in which region, and where.
struct Thrown {
    region: u32,
    address: u32,
}

/// Runs a region from an address until it rests, and its parents where it ends them. `joins` is false while the
/// region's siblings are still being started.
pub(super) fn advance(
    machine: &mut Machine<'_>,
    region: u32,
    address: u32,
    state: &mut [Slot],
    joins: bool,
) -> Result<(), ModelError> {
    let mut thrown = run_to_rest(machine, region, address, state, joins)?;
    let mut rounds = 0;
    while let Some(Thrown { region, address }) = thrown {
        rounds += 1;
        if rounds > 1000 {
            return Err(endless(machine, address));
        }
        stop_children(machine, region, state);
        thrown = run_to_rest(machine, region, address, state, joins)?;
    }
    Ok(())
}

fn run_to_rest(
    machine: &mut Machine<'_>,
    mut region: u32,
    mut address: u32,
    state: &mut [Slot],
    joins: bool,
) -> Result<Option<Thrown>, ModelError> {
    let code = machine.code;
    let first = region;
    for _ in 0..100_000 {
        let Halt::At(at) = machine.run(address, state)? else { return Ok(None) };
        match code.ops[at as usize] {
            Op::Throw(throw) => {
                let (region, address) = code.throws[throw as usize];
                return Ok(Some(Thrown { region, address }));
            }
            Op::Fork(fork) => {
                let description = &code.forks[fork as usize];
                let counter = code.regions[region as usize].counter as usize;
                state[counter] = code.location_of[at as usize];
                for (&child, &entry) in description.children.iter().zip(&description.entries) {
                    match run_to_rest(machine, child, entry, state, false)? {
                        Some(Thrown { region: to, address: handler }) if to == region => {
                            stop_children(machine, region, state);
                            address = handler;
                        }
                        Some(thrown) => return Ok(Some(thrown)),
                        None => continue,
                    }
                    break;
                }
                if state[counter] == code.location_of[at as usize] {
                    if has_ended(machine, fork, state) {
                        stop_children(machine, region, state);
                        address = at + 1;
                        continue;
                    }
                    rest(machine, region, at, state);
                    return Ok(None);
                }
            }
            Op::End => {
                rest(machine, region, at, state);
                let Some((fork, _)) = code.regions[region as usize].parent else { return Ok(None) };
                if !(joins || region != first) || !has_ended(machine, fork, state) {
                    return Ok(None);
                }
                region = code.forks[fork as usize].region;
                address = stop_children(machine, region, state) + 1;
            }
            _ => {
                rest(machine, region, at, state);
                return Ok(None);
            }
        }
    }
    Err(endless(machine, address))
}

fn endless(machine: &Machine<'_>, address: u32) -> ModelError {
    machine.error("this keeps running without an action: is it an endless loop?".into(), address as usize)
}

/// Lets a region rest at an instruction: what nobody will read any more is forgotten.
#[inline]
pub(super) fn rest(machine: &Machine<'_>, region: u32, address: u32, state: &mut [Slot]) {
    let region = &machine.code.regions[region as usize];
    let location = machine.code.location_of[address as usize];
    state[region.counter as usize] = location;
    for &slot in &region.locations[location as usize - 1].dead {
        state[slot as usize] = 0;
    }
}

/// Whether a fork is over: all children of a composition have ended, or the interruption of a disruption that has
/// taken over. A body that has ended can still be interrupted, so that is left open.
fn has_ended(machine: &Machine<'_>, fork: u32, state: &[Slot]) -> bool {
    let code = machine.code;
    let description = &code.forks[fork as usize];
    let ended = |child: u32| {
        let region = &code.regions[child as usize];
        let location = state[region.counter as usize];
        location != 0 && code.ops[region.locations[location as usize - 1].address as usize] == Op::End
    };
    match description.kind {
        ForkKind::Parallel => description.children.iter().all(|&child| ended(child)),
        ForkKind::Disrupt => {
            let body = &code.regions[description.children[0] as usize];
            state[body.counter as usize] == 0 && ended(description.children[1])
        }
    }
}

/// Ends the children of a region that rests at a fork; gives the address of that fork.
fn stop_children(machine: &Machine<'_>, region: u32, state: &mut [Slot]) -> u32 {
    let code = machine.code;
    let region = &code.regions[region as usize];
    let location = state[region.counter as usize];
    let address = region.locations[(location as usize).max(1) - 1].address;
    if let Op::Fork(fork) = code.ops[address as usize] {
        for &child in &code.forks[fork as usize].children {
            let slots = code.regions[child as usize].slots.clone();
            state[slots.start as usize..slots.end as usize].fill(0);
        }
    }
    address
}
