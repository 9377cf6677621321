//! What is known of a program before it runs, laid out for the hot path.

use crate::compile::code::{Code, Op};

/// What a region that rests somewhere is waiting for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// Nothing, for ever; also a region that is not active.
    Nothing,
    /// An action, at an address.
    Action(u32, u32),
    /// One of several actions: where these start in [`Shortcuts::offers`], and how many there are.
    Offers(u32, u32),
    /// One of several silent ways, from an address.
    Ways(u32),
    /// Its children, at a fork.
    Children(u32, u32),
    /// It has ended.
    Ended,
}

/// Where a region rests next after an action, if nothing is computed on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The machine has to run from behind the action.
    Run,
    /// At this address; the marks on the way start here in [`Shortcuts::marks`], and there are so many.
    At(u32, u32, u32),
}

/// Tables made from the code.
#[derive(Debug, Default)]
pub struct Shortcuts {
    /// Where the resting places of each region start in `rests`.
    starts: Vec<u32>,
    rests: Vec<Rest>,
    /// Actions and their addresses.
    pub offers: Vec<(u32, u32)>,
    /// For each action.
    pub next: Vec<Next>,
    /// Marks that fire on direct ways.
    pub marks: Vec<u32>,
}

impl Shortcuts {
    pub fn new(code: &Code) -> Self {
        let mut shortcuts = Self { next: vec![Next::Run; code.actions.len()], ..Self::default() };
        for region in &code.regions {
            shortcuts.starts.push(shortcuts.rests.len() as u32);
            shortcuts.rests.push(Rest::Nothing);
            for location in &region.locations {
                let address = location.address;
                shortcuts.rests.push(match code.ops[address as usize] {
                    Op::Act(action) => Rest::Action(action, address),
                    Op::Choice(choice) => {
                        let ways = code.choices[choice as usize].iter();
                        let direct: Option<Vec<(u32, u32)>> =
                            ways.map(|&target| directly_at_action(code, target)).collect();
                        match direct {
                            Some(direct) => {
                                let first = shortcuts.offers.len() as u32;
                                shortcuts.offers.extend_from_slice(&direct);
                                Rest::Offers(first, direct.len() as u32)
                            }
                            None => Rest::Ways(address),
                        }
                    }
                    Op::AnyValue(..) => Rest::Ways(address),
                    Op::Fork(fork) => Rest::Children(fork, address),
                    Op::End => Rest::Ended,
                    _ => Rest::Nothing,
                });
            }
        }
        for (at, op) in code.ops.iter().enumerate() {
            if let Op::Act(action) = *op {
                shortcuts.next[action as usize] = shortcuts.direct(code, at as u32 + 1);
            }
        }
        shortcuts
    }

    /// What a region at a location, counted from 1, waits for; location 0 is that of inactive regions.
    #[inline]
    pub fn rest(&self, region: u32, location: u32) -> Rest {
        self.rests[(self.starts[region as usize] + location) as usize]
    }

    /// Follows code that only jumps and marks.
    fn direct(&mut self, code: &Code, mut address: u32) -> Next {
        let first = self.marks.len();
        for _ in 0..64 {
            match code.ops[address as usize] {
                Op::Jump(target) => address = target,
                Op::Mark(mark) => {
                    self.marks.push(mark.0);
                    address += 1;
                }
                Op::Act(_) | Op::Choice(_) | Op::AnyValue(..) | Op::Stop => {
                    return Next::At(address, first as u32, (self.marks.len() - first) as u32);
                }
                _ => break,
            }
        }
        self.marks.truncate(first);
        Next::Run
    }
}

/// The action at an address, if the code goes there without doing anything else.
pub fn directly_at_action(code: &Code, mut address: u32) -> Option<(u32, u32)> {
    loop {
        match code.ops[address as usize] {
            Op::Act(action) => return Some((action, address)),
            Op::Jump(target) if target > address => address = target,
            _ => return None,
        }
    }
}
