//! Values that nobody fixes, but a guard compares with something that does not depend on them: they can be computed.
//!
//! Only what a guard asks on its way to holding counts (`a == x and b == y`), and only if nothing that depends on the value could
//! fail before: then values that are not equal are refused without an error.

use crate::compile::Compiled;
use crate::compile::code::{ActionCode, Code, OfferCode, Op};
use crate::compile::types::Representation;
use crate::run::rendezvous::Participant;
use crate::run::symbolic::{MOST_OPS, Path, Word, having_received, other, places_of, received, step};
use crate::typed::TypeId;

/// An open value that has to be equal to another one, which a guard computes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solved {
    pub place: u32,
    /// Whose guard it is, the instructions that lead to the comparison, and where that is.
    pub participant: usize,
    pub path: Vec<u32>,
    pub compared: u32,
    /// Whether the open value is the first one that is compared.
    pub is_first: bool,
}

/// Which of the open values guards compute. The others don't matter for these, nor what is asked before.
pub fn solved(compiled: &Compiled, participants: &[Participant], open: &[u32]) -> Vec<Solved> {
    let code = &compiled.code;
    let mut found: Vec<Solved> = Vec::new();
    // Guards fire constructs when they are evaluated, once for each value.
    if open.is_empty() || code.tells() {
        return found;
    }
    let action = |one: &Participant| &code.actions[one.action as usize];
    let is_pattern = |offer: &(OfferCode, TypeId)| matches!(offer.0, OfferCode::Pattern { .. });
    if participants.iter().any(|one| action(one).offers.iter().any(is_pattern)) {
        return found;
    }
    for (participant, one) in participants.iter().enumerate() {
        for solved in comparisons(compiled, participant, action(one), open) {
            if found.iter().all(|other| other.place != solved.place) {
                found.push(solved);
            }
        }
    }
    found
}

/// The comparisons with open values that a guard makes before it can come to anything else that depends on these.
fn comparisons(compiled: &Compiled, participant: usize, action: &ActionCode, open: &[u32]) -> Vec<Solved> {
    let (code, types) = (&compiled.code, &compiled.types);
    let all_open =
        open.iter().fold(0, |places, &place| places | 1_u32.checked_shl(place).unwrap_or(u32::MAX));
    let mut found = Vec::new();
    let received_by_guard =
        action.guard.and_then(|at| Some(Path { at, ..having_received(code, types, &action.offers)? }));
    let Some(mut path) = received_by_guard else { return found };
    let mut trail = Vec::new();
    for _ in 0..MOST_OPS {
        let at = path.at;
        let op = code.ops[at as usize];
        let compares = match op {
            Op::Equal => 1,
            Op::EqualMany(words) => words as usize,
            _ => 0,
        };
        if compares > 0 && path.stack.len() >= 2 * compares && must_hold(code, at + 1) {
            let (_, words) = path.stack.split_at(path.stack.len() - 2 * compares);
            let (first, second) = words.split_at(compares);
            for (own, others, is_first) in [(first, second, true), (second, first, false)] {
                let Word::Received(part) = own[0] else { continue };
                let ty = action.offers[part.place as usize].1;
                let is_whole = received(types, part.place as usize, ty).eq(own.iter().cloned());
                let is_free = others.iter().all(|word| places_of(word) & all_open == 0);
                if is_whole && is_free && open.contains(&part.place) {
                    let path = trail.clone();
                    found.push(Solved { place: part.place, participant, path, compared: at, is_first });
                    break;
                }
            }
        }
        if let Op::Jump(target) = op
            && target > at
        {
            path.at = target;
            continue;
        }
        trail.push(at);
        match op {
            // The way on is the one on which the guard may still hold.
            Op::JumpIfFalse(target) if target > at && is_refused(code, target) => {
                path.stack.pop();
                path.at += 1;
            }
            Op::Call(number) => {
                let function = code.functions[number as usize];
                let Some(first) = path.stack.len().checked_sub(function.arguments as usize) else { break };
                let result = other(&path.stack.split_off(first));
                // A function may fail.
                if places_of(&result) & all_open != 0 {
                    break;
                }
                path.stack.resize(first + code.row_words[number as usize].results.len(), result);
                path.at += 1;
            }
            Op::JumpIfFalse(_) | Op::JumpIfTrue(_) | Op::Jump(_) | Op::Return(_) | Op::Done => break,
            op => {
                let first = path.stack.len().saturating_sub(operands(code, types, op));
                let inputs = places_of(&other(&path.stack[first..]));
                if !code.never_fails(op) && inputs & all_open != 0 {
                    break;
                }
                if step(code, types, &mut path, &mut Vec::new()).is_none() {
                    break;
                }
            }
        }
    }
    found
}

/// How many words on top of the stack decide whether an instruction fails: as many as there may be, if that is not known.
fn operands(code: &Code, types: &[Representation], op: Op) -> usize {
    match op {
        Op::IndexOffset(_) | Op::LoadPart(_) => 1,
        Op::Modulo | Op::Add(_) | Op::Subtract(_) | Op::AddOffsets => 2,
        Op::Field(number) => types[code.accesses[number as usize].0.index()].words() as usize,
        Op::Element(ty) => types[ty.index()].words() as usize + 1,
        Op::Apply(number) => code.applications[number as usize].words as usize,
        _ => usize::MAX,
    }
}

/// Whether a guard holds only if the answer does that code at an address begins with.
fn must_hold(code: &Code, start: u32) -> bool {
    match code.ops[start as usize] {
        Op::Jump(target) => target > start && must_hold(code, target),
        Op::JumpIfFalse(target) => target > start && is_refused(code, target),
        Op::Done => true,
        _ => false,
    }
}

/// Whether code from an address on only says that a condition does not hold.
fn is_refused(code: &Code, start: u32) -> bool {
    let mut at = start;
    let mut answer = None;
    for _ in 0..MOST_OPS {
        let jumps = |target: u32, if_true: bool| {
            answer.map(|answer: u32| if (answer != 0) == if_true { target } else { at + 1 })
        };
        let next = match code.ops[at as usize] {
            Op::Push(value) if answer.is_none() => {
                answer = Some(value);
                at += 1;
                continue;
            }
            Op::Jump(target) if target > at => {
                at = target;
                continue;
            }
            Op::JumpIfFalse(target) if target > at => jumps(target, false),
            Op::JumpIfTrue(target) if target > at => jumps(target, true),
            Op::Done => return answer == Some(0),
            _ => None,
        };
        let Some(next) = next else { return false };
        (at, answer) = (next, None);
    }
    false
}
