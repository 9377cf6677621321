//! Observing programs that use loom: the same macros record within [`loom::model`].
//!
//! Loom explores the schedules. It has no door for a scheduler, so a state is added to the sequence whenever something is
//! observed; what changes in one step should be observed by one `observe_all!`.

use crate::recorder::{self, NOTHING, Record, StateId};
use rustc_hash::FxHashSet;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

thread_local! {
    static STATES: RefCell<Option<Vec<StateId>>> = const { RefCell::new(None) };
    static SEQUENCES: RefCell<FxHashSet<Vec<StateId>>> = RefCell::new(FxHashSet::default());
}

/// The sequences of observed states of all executions that [`loom::model`] explores, each once, in order.
///
/// A panic of the model is loom's: it ends the exploration.
pub fn model(body: impl Fn() + Sync + Send + 'static) -> Vec<Vec<Rc<str>>> {
    recorder::with(|record| {
        *record = Record::default();
        record.begin(true);
    });
    SEQUENCES.with(|sequences| sequences.borrow_mut().clear());
    recorder::set_active(true);
    let body = Arc::new(body);
    loom::model(move || {
        recorder::with(|record| record.begin(true));
        conclude();
        STATES.with(|states| *states.borrow_mut() = Some(Vec::new()));
        body();
    });
    conclude();
    recorder::set_active(false);
    let mut texts: Vec<Vec<Rc<str>>> = SEQUENCES.with(|sequences| {
        let text = |states: &Vec<StateId>| {
            recorder::with(|record| states.iter().map(|state| record.states.text(*state)).collect())
        };
        sequences.borrow().iter().map(text).collect()
    });
    texts.sort();
    texts
}

fn conclude() {
    if let Some(states) = STATES.with(|states| states.borrow_mut().take()) {
        SEQUENCES.with(|sequences| sequences.borrow_mut().insert(states));
    }
}

/// Something was observed: a state of the sequence, if loom explores.
pub(crate) fn observed() {
    STATES.with(|states| {
        if let Some(states) = states.borrow_mut().as_mut() {
            let state = recorder::with(Record::state);
            if state != NOTHING && states.last() != Some(&state) {
                states.push(state);
            }
        }
    });
}
