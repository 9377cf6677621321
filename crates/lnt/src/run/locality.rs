//! Which regions depend on few slots only, so that what they do can be remembered by the values of those.
//!
//! A region is *local* if it starts no other regions, leaves for no handler and interrupts nobody, and if no region
//! that runs beside it writes a slot that it touches. What a local region offers, and what an action makes of it, then
//! depend on the slots it touches alone, and nobody else notices its changes.

use std::ops::Range;

use model::Layout;

use crate::compile::code::{ActionCode, Code, Landing, OfferCode, Op};
use crate::compile::types::Representation;

/// Local states of more bits than this are not worth remembering.
pub const MOST_BITS: u32 = 128;

/// Neighbouring bits of a packed state that belong to a local state.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    word: u32,
    /// The bits, shifted down to bit 0.
    mask: u32,
    /// Where they lie in the word, and where in the key.
    shift: u32,
    offset: u32,
}

/// The part of a state that a local region depends on.
#[derive(Clone, Debug)]
pub struct Locality {
    /// The slots it touches.
    pub slots: Vec<u32>,
    pieces: Vec<Piece>,
    /// How many bits a key has.
    pub bits: u32,
}

impl Locality {
    fn new(slots: Vec<u32>, layout: &Layout) -> Self {
        let mut pieces: Vec<Piece> = Vec::new();
        let mut bits = 0;
        for &slot in &slots {
            let (word, shift, mask) = layout.place(slot as usize);
            let width = mask.count_ones();
            if width == 0 {
                continue;
            }
            match pieces.last_mut() {
                Some(last) if last.word == word && last.shift + last.mask.count_ones() == shift => {
                    last.mask |= mask << last.mask.count_ones();
                }
                _ => pieces.push(Piece { word, mask, shift, offset: bits }),
            }
            bits += width;
        }
        Self { slots, pieces, bits }
    }

    /// The local state, of at most 32 bits, of a packed state.
    #[inline]
    pub fn short_key(&self, packed: &[u32]) -> u32 {
        self.pieces.iter().fold(0, |key, piece| {
            key | ((packed[piece.word as usize] >> piece.shift) & piece.mask) << piece.offset
        })
    }

    /// The local state of a packed state.
    #[inline]
    pub fn key(&self, packed: &[u32]) -> u128 {
        self.pieces.iter().fold(0, |key, piece| {
            key | u128::from((packed[piece.word as usize] >> piece.shift) & piece.mask) << piece.offset
        })
    }
}

/// The slots that a region's code names.
struct Touched {
    read: Vec<bool>,
    written: Vec<bool>,
    /// Whether it forks or throws.
    leaves: bool,
}

/// The locality of every region that has one. `interrupted` gives the slots of what each region interrupts.
pub fn localities(
    code: &Code,
    types: &[Representation],
    layout: &Layout,
    interrupted: &[Vec<Range<u32>>],
) -> Vec<Option<Locality>> {
    let touched: Vec<Touched> = (0..code.regions.len()).map(|region| touched(code, types, region)).collect();
    let local = |region: usize| {
        let own = &touched[region];
        if own.leaves || !interrupted[region].is_empty() {
            return None;
        }
        let slots: Vec<u32> = (0..code.slot_bits.len() as u32)
            .filter(|&slot| own.read[slot as usize] || own.written[slot as usize])
            .collect();
        let disturbed = (0..code.regions.len()).any(|other| {
            slots.iter().any(|&slot| touched[other].written[slot as usize]) && parallel(code, region, other)
        });
        (!disturbed).then(|| Locality::new(slots, layout))
    };
    (0..code.regions.len()).map(local).collect()
}

/// Whether two regions can be active at the same time, neither being above the other.
fn parallel(code: &Code, a: usize, b: usize) -> bool {
    let above = |mut region: usize| {
        let mut forks = Vec::new();
        while let Some((fork, child)) = code.regions[region].parent {
            forks.push((fork, child));
            region = code.forks[fork as usize].region as usize;
        }
        forks
    };
    let others = above(b);
    above(a).iter().any(|(fork, child)| others.iter().any(|other| other.0 == *fork && other.1 != *child))
}

/// Walks all code that a region can reach from where it rests.
fn touched(code: &Code, types: &[Representation], region: usize) -> Touched {
    let region = &code.regions[region];
    let mut touched = Touched::nothing(code);
    touched.written[region.counter as usize] = true;
    for location in &region.locations {
        location.dead.iter().for_each(|&slot| touched.written[slot as usize] = true);
    }
    touched.walk(code, types, region.locations.iter().map(|location| location.address).collect());
    touched
}

/// What decides whether an action accepts values.
#[derive(Clone, Debug)]
pub struct Condition {
    /// The slots that its patterns and guard read and that it does not write itself.
    pub reads: Vec<u32>,
    /// The slots that keep what it receives.
    pub receives: Vec<u32>,
}

/// The condition of each action.
pub fn conditions(code: &Code, types: &[Representation]) -> Vec<Condition> {
    let condition = |action: &ActionCode| {
        let mut touched = Touched::nothing(code);
        let patterns = action.offers.iter().filter_map(|(offer, _)| match *offer {
            OfferCode::Pattern { address, .. } => Some(address),
            _ => None,
        });
        touched.walk(code, types, patterns.chain(action.guard).collect());
        for &(offer, ty) in &action.offers {
            if let OfferCode::Variable(slot) = offer {
                touched.written[slot as usize..(slot + types[ty.index()].words()) as usize].fill(true);
            }
        }
        let slots = 0..code.slot_bits.len() as u32;
        let (read, written) = (&touched.read, &touched.written);
        let reads = slots.clone().filter(|&slot| read[slot as usize] && !written[slot as usize]);
        Condition { reads: reads.collect(), receives: slots.filter(|&slot| written[slot as usize]).collect() }
    };
    code.actions.iter().map(condition).collect()
}

/// The slots that decide what an action offers, and which values it accepts.
pub fn decisive(
    code: &Code,
    types: &[Representation],
    action: &ActionCode,
    condition: &Condition,
) -> Vec<u32> {
    let mut touched = Touched::nothing(code);
    for &(offer, ty) in &action.offers {
        match offer {
            OfferCode::Slot(slot) => {
                touched.read[slot as usize..(slot + types[ty.index()].words()) as usize].fill(true);
            }
            OfferCode::Computed(address) => touched.walk(code, types, vec![address]),
            _ => {}
        }
    }
    let slots = 0..code.slot_bits.len() as u32;
    slots.filter(|&slot| touched.read[slot as usize] || condition.reads.contains(&slot)).collect()
}

impl Touched {
    fn nothing(code: &Code) -> Self {
        let slots = code.slot_bits.len();
        Self { read: vec![false; slots], written: vec![false; slots], leaves: false }
    }

    /// Adds what code touches that can be reached from these addresses.
    fn walk(&mut self, code: &Code, types: &[Representation], mut todo: Vec<u32>) {
        let range = |slot: u32, words: u32| slot as usize..(slot + words) as usize;
        let mut seen = vec![false; code.ops.len()];
        while let Some(at) = todo.pop() {
            if std::mem::replace(&mut seen[at as usize], true) {
                continue;
            }
            match code.ops[at as usize] {
                Op::LoadSlot(slot) => self.read[slot as usize] = true,
                Op::StoreSlot(slot) => self.written[slot as usize] = true,
                Op::LoadSlots(slot, words) => self.read[range(slot, words)].fill(true),
                Op::StoreSlots(slot, words) => self.written[range(slot, words)].fill(true),
                Op::LoadPart(part) => {
                    let (slot, words) = code.parts[part as usize].whole;
                    self.read[range(slot, words)].fill(true);
                }
                Op::StoreElement(part) => {
                    let (slot, words) = code.parts[part as usize].whole;
                    self.written[range(slot, words)].fill(true);
                }
                Op::AnyValue(slot, ty) => {
                    self.written[range(slot, types[ty.index()].words())].fill(true);
                }
                Op::Jump(target) => {
                    todo.push(target);
                    continue;
                }
                Op::JumpIfFalse(target) | Op::JumpIfTrue(target) => todo.push(target),
                Op::Landings(number) => {
                    todo.extend(code.landings[number as usize].iter().filter_map(Landing::address));
                }
                Op::Choice(choice) => {
                    todo.extend(&code.choices[choice as usize]);
                    continue;
                }
                Op::Act(action) => {
                    let action = &code.actions[action as usize];
                    todo.extend(action.guard);
                    for &(offer, ty) in &action.offers {
                        let words = types[ty.index()].words();
                        match offer {
                            OfferCode::Slot(slot) => self.read[range(slot, words)].fill(true),
                            OfferCode::Variable(slot) => self.written[range(slot, words)].fill(true),
                            OfferCode::Computed(address) | OfferCode::Pattern { address, .. } => {
                                todo.push(address)
                            }
                            OfferCode::Constant(_) | OfferCode::Wildcard => {}
                        }
                    }
                }
                Op::Fork(_) | Op::Throw(_) => {
                    self.leaves = true;
                    continue;
                }
                Op::End | Op::Stop | Op::Fail(_) | Op::Return(_) | Op::Raise(_) | Op::Done => continue,
                _ => {}
            }
            todo.push(at + 1);
        }
    }
}
