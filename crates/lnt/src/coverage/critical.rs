//! Where a probe would change what a program does (Salaün and Ye 2015, definition 6).
//!
//! A probe is an internal step. Where silent instructions lead from a choice to it, it makes the choice, which only an
//! action should make: such a place is *critical*. Definition 6 speaks of silent blocks and decisions at the start of
//! a branch of a `select`. This is that, followed through everything that can lead silently from a choice to a place:
//! conditionals that are passed by, calls of processes, ends of branches, loops. Other choices of the language count as
//! well: `x := any T`, and the interruption of a `disrupt`, which may come until the body's end is left behind.

use rustc_hash::FxHashMap;
use source::Span;

use crate::typed::{LoopId, ProcessId, Program, Statement, StatementKind};

/// What is known of the places of a program.
#[derive(Debug, Default)]
pub(super) struct CriticalPlaces {
    before: FxHashMap<Span, bool>,
    /// Nothing for statements that never end.
    after: FxHashMap<Span, bool>,
    /// The places between the first part of a `for` and its condition.
    pub inside_for: FxHashMap<Span, bool>,
}

impl CriticalPlaces {
    /// Whether the place before a statement is critical.
    pub fn before(&self, statement: Span) -> bool {
        self.before.get(&statement).copied().unwrap_or(false)
    }

    /// Whether the place after a statement is critical; nothing where control never comes there.
    pub fn after(&self, statement: Span) -> Option<bool> {
        self.after.get(&statement).copied()
    }
}

/// Finds the critical places of a program.
pub(super) fn critical_places(program: &Program) -> CriticalPlaces {
    let count = program.processes.len();
    let mut walk = Walk {
        ends: vec![[None; 2]; count],
        called: vec![false; count],
        places: CriticalPlaces::default(),
        left: Vec::new(),
    };
    // How processes end, from both kinds of places; then which ones start at critical places.
    loop {
        let before = (walk.ends.clone(), walk.called.clone());
        for (index, process) in program.processes.iter().enumerate() {
            for critical in [false, true] {
                let called = walk.called.clone();
                walk.left.clear();
                walk.ends[index][usize::from(critical)] =
                    walk.statement(&process.body, Some(critical)).or(walk.ends[index][usize::from(critical)]);
                if critical && !called[index] {
                    walk.called = called;
                }
            }
        }
        if before == (walk.ends.clone(), walk.called.clone()) {
            break;
        }
    }
    walk.places = CriticalPlaces::default();
    for (index, process) in program.processes.iter().enumerate() {
        walk.left.clear();
        let critical = walk.called[index];
        walk.statement(&process.body, Some(critical));
    }
    walk.places
}

/// Whether a place is critical, or that control never comes there.
type Status = Option<bool>;

fn either(a: Status, b: Status) -> Status {
    match (a, b) {
        (Some(a), Some(b)) => Some(a || b),
        (one, other) => one.or(other),
    }
}

struct Walk {
    /// How each process ends, when it starts at a place that is not critical, and at one that is.
    ends: Vec<[Status; 2]>,
    /// Which processes are called at critical places.
    called: Vec<bool>,
    places: CriticalPlaces,
    /// Loops that were left, and from what kind of place.
    left: Vec<(LoopId, Status)>,
}

impl Walk {
    fn statement(&mut self, statement: &Statement, entry: Status) -> Status {
        if let StatementKind::Sequence(statements) = &statement.kind {
            return statements.iter().fold(entry, |entry, one| self.statement(one, entry));
        }
        if let Some(critical) = entry {
            *self.places.before.entry(statement.span).or_default() |= critical;
        }
        let exit = self.kind(statement, entry);
        if let Some(critical) = exit {
            *self.places.after.entry(statement.span).or_default() |= critical;
        }
        exit
    }

    fn kind(&mut self, statement: &Statement, entry: Status) -> Status {
        match &statement.kind {
            StatementKind::Action(_) => entry.map(|_| false),
            StatementKind::AssignAny { .. } => entry.map(|_| true),
            StatementKind::Instantiate { process, .. } => self.call(*process, entry),
            StatementKind::Stop | StatementKind::Raise { .. } => None,
            StatementKind::Break(id) => {
                self.left.push((*id, entry));
                None
            }
            StatementKind::Var { body, .. } | StatementKind::Hide { body, .. } => self.statement(body, entry),
            StatementKind::If { branches, otherwise } | StatementKind::OnlyIf { branches, otherwise } => {
                let falls_through = matches!(statement.kind, StatementKind::If { .. });
                let mut exit = None;
                for branch in branches {
                    exit = either(exit, self.statement(&branch.body, entry));
                }
                match otherwise {
                    Some(otherwise) => either(exit, self.statement(otherwise, entry)),
                    None if falls_through => either(exit, entry),
                    None => exit,
                }
            }
            StatementKind::Case { branches, .. } => {
                branches.iter().fold(None, |exit, branch| either(exit, self.statement(&branch.body, entry)))
            }
            StatementKind::Select(branches) => {
                let entry = entry.map(|_| true);
                branches.iter().fold(None, |exit, branch| either(exit, self.statement(branch, entry)))
            }
            StatementKind::Par { branches, .. } => {
                let exits: Vec<Status> =
                    branches.iter().map(|branch| self.statement(&branch.body, entry)).collect();
                let ends = exits.iter().all(Option::is_some);
                ends.then(|| exits.contains(&Some(true)))
            }
            StatementKind::Disrupt { body, interruption } => {
                let exit = self.statement(body, entry);
                let interrupted = self.statement(interruption, entry.map(|_| true));
                // The interruption is possible until the next action, even behind the end of the body.
                either(exit, interrupted).map(|_| true)
            }
            StatementKind::Trap { handlers, body } => {
                let exit = self.statement(body, entry);
                let handled = handlers.iter().fold(None, |exit, handler| {
                    either(exit, self.statement(&handler.body, entry.map(|_| true)))
                });
                either(exit, handled)
            }
            StatementKind::Loop { id, body } => {
                self.repeat(*id, entry, |walk, entry| walk.statement(body, entry));
                self.exits(*id)
            }
            StatementKind::While { id, body, .. } => {
                let again = self.repeat(*id, entry, |walk, entry| walk.statement(body, entry));
                either(again, self.exits(*id))
            }
            StatementKind::For { id, initial, step, body, .. } => {
                let start = self.statement(initial, entry);
                if let Some(critical) = start {
                    *self.places.inside_for.entry(statement.span).or_default() |= critical;
                }
                let again = self.repeat(*id, start, |walk, entry| {
                    let exit = walk.statement(body, entry);
                    walk.statement(step, exit)
                });
                either(again, self.exits(*id))
            }
            _ => entry,
        }
    }

    /// A loop's body, until what it brings back changes nothing; gives the status at its start.
    fn repeat(
        &mut self,
        id: LoopId,
        entry: Status,
        mut body: impl FnMut(&mut Self, Status) -> Status,
    ) -> Status {
        let mut start = entry;
        loop {
            self.left.retain(|(left, _)| *left != id);
            let again = either(start, body(self, start));
            if again == start {
                return start;
            }
            start = again;
        }
    }

    fn exits(&mut self, id: LoopId) -> Status {
        let exits = self.left.iter().filter(|(left, _)| *left == id);
        let exit = exits.fold(None, |exit, (_, status)| either(exit, *status));
        self.left.retain(|(left, _)| *left != id);
        exit
    }

    fn call(&mut self, process: ProcessId, entry: Status) -> Status {
        let critical = entry?;
        self.called[process.index()] |= critical;
        self.ends[process.index()][usize::from(critical)]
    }
}
