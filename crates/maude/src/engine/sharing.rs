//! What a statement evaluates more than once: terms that occur again in its condition or on its right side have one
//! value, which is kept. Without that, `step(E F) = step(E) F if step(E) =/= E` doubles its work with every level.

use rustc_hash::FxHashSet;

use super::code::Build;
use crate::grammar::Condition;
use crate::modules::Statement;
use crate::terms::{TermId, Terms, Top};

/// The terms, variables apart, that occur more than once among those that a statement evaluates.
pub fn repeated(terms: &Terms, statement: &Statement) -> FxHashSet<TermId> {
    let mut todo: Vec<TermId> = Vec::new();
    for condition in &statement.conditions {
        match *condition {
            Condition::Equal(one, two) => todo.extend([one, two]),
            Condition::Assign(_, value) | Condition::Rewrite(value, _) => todo.push(value),
            Condition::Sort(one, _) | Condition::Holds(one) => todo.push(one),
        }
    }
    if statement.right != TermId::NONE {
        todo.push(statement.right);
    }
    let mut seen = FxHashSet::default();
    let mut repeated = FxHashSet::default();
    while let Some(term) = todo.pop() {
        let Top::Symbol(_) = terms.top(term) else { continue };
        match seen.insert(term) {
            true => todo.extend(terms.arguments(term)),
            false => _ = repeated.insert(term),
        }
    }
    repeated
}

/// Nothing needs the value of a right side's last call; keeping it would take the place on the stack that such calls save.
pub fn keep_last_calls(build: &mut [Build]) {
    for at in (0..build.len()).rev() {
        if matches!(build[at], Build::Keep(_)) && ends(build, at + 1) {
            build[at] = Build::Jump(at as u32 + 1);
        }
    }
}

/// Marks the calls that nothing follows.
pub fn mark_last_calls(build: &mut [Build]) {
    for at in 0..build.len() {
        if let Build::Call(symbol, count) = build[at]
            && ends(build, at + 1)
        {
            build[at] = Build::Last(symbol, count);
        }
    }
}

/// Whether nothing but jumps follows.
fn ends(build: &[Build], mut at: usize) -> bool {
    while let Some(Build::Jump(to)) = build.get(at) {
        at = *to as usize;
    }
    at >= build.len()
}
