//! The constructs of a program as a graph: from where control comes to each, and whose values each reads.
//!
//! Control is followed over the text, one walk a body; a loop's end leads back to its beginning. Values are followed by the
//! pairs of definitions and uses of processes, from the parameters of a process to its calls, and from a call of a function
//! to everything in it.

use std::ops::Range;

use model::{Construct, ConstructKind};
use rustc_hash::{FxHashMap, FxHashSet};
use source::Span;

use super::def_use::{def_use_pairs, parts_of};
use super::map::case_decision_span;
use crate::typed::{
    Argument, ConditionalBranch, Expression, ExpressionKind, FunctionId, GateRef, LoopId, OfferKind,
    ParBranch, ParGate, PatternKind, ProcessId, Program, Statement, StatementKind,
};

/// The constructs of all processes and functions, processes first, each in the order of the text.
///
/// ```
/// let mut sources = source::Sources::new();
/// let text = "module M is process MAIN [A, B : any] is
///                var x : nat in x := 1; loop if x < 2 then A (x); x := x + 1 else B; stop end if end loop end var
///             end process end module";
/// let program = lnt::load_text("m.lnt", text, &mut sources).unwrap().program;
/// let constructs = lnt::constructs(&program);
/// let keys: Vec<&str> = constructs.iter().map(|one| one.kind.key()).collect();
/// assert_eq!(keys, ["assignment", "decision", "action", "assignment", "action", "ending"]);
/// // The condition reads what both assignments give, and control comes to it from both.
/// assert_eq!(constructs[1].reads, [0, 3]);
/// assert_eq!(constructs[1].before, [(0, None), (3, None)]);
/// assert_eq!(constructs[4].before, [(1, Some(false))]);
/// ```
pub fn constructs(program: &Program) -> Vec<Construct> {
    let mut walk = Walk::default();
    let mut processes: Vec<Range<usize>> = Vec::new();
    for process in &program.processes {
        let first = walk.constructs.len();
        walk.process = process.name.clone();
        walk.body(&process.body);
        processes.push(first..walk.constructs.len());
    }
    let mut functions: Vec<Range<usize>> = Vec::new();
    for function in &program.functions {
        let first = walk.constructs.len();
        walk.process = function.name.clone();
        walk.body(&function.body);
        functions.push(first..walk.constructs.len());
    }
    let Walk { mut constructs, instantiated, called, .. } = walk;
    for (at, function) in called {
        constructs[at].reads.extend(functions[function.index()].clone());
    }
    // Values within processes, and from calls to parameters.
    let in_processes = processes.last().map_or(0, |range| range.end);
    let spans: Vec<Span> = constructs[..in_processes].iter().map(|one| one.span).collect();
    let places = Places::of(&spans);
    let parameters: FxHashMap<Span, usize> = program
        .processes
        .iter()
        .enumerate()
        .flat_map(|(at, one)| one.parameters.iter().map(move |given| (one.scope[given.variable].span, at)))
        .collect();
    for pair in def_use_pairs(program) {
        let Some(reader) = places.at(pair.used.span) else { continue };
        match (places.at(pair.definition.span), parameters.get(&pair.definition.span)) {
            (Some(giver), _) if giver != reader => constructs[reader].reads.push(giver),
            (None, Some(&process)) => {
                let calls = instantiated.iter().filter(|(_, called)| called.index() == process);
                constructs[reader].reads.extend(calls.map(|&(at, _)| at));
            }
            _ => {}
        }
    }
    // What the members of a composition execute, calls included.
    let compositions = constructs.iter_mut().filter(|one| one.kind == ConstructKind::Synchronisation);
    for composition in compositions {
        let members = &mut composition.members;
        let mut seen: FxHashSet<usize> = members.iter().copied().collect();
        let mut next = 0;
        while next < members.len() {
            let inside = instantiated.iter().filter(|(call, _)| *call == members[next]);
            let inside: Vec<usize> =
                inside.flat_map(|(_, process)| processes[process.index()].clone()).collect();
            members.extend(inside.into_iter().filter(|&one| seen.insert(one)));
            next += 1;
        }
        members.sort_unstable();
    }
    for construct in &mut constructs {
        construct.reads.sort_unstable();
        construct.reads.dedup();
        construct.before.sort_unstable();
        construct.before.dedup();
    }
    constructs
}

/// From where control comes.
type From = Vec<(usize, Option<bool>)>;

#[derive(Default)]
struct Walk {
    constructs: Vec<Construct>,
    /// The process or function that is looked at.
    process: String,
    /// From where control comes to what is next.
    from: From,
    /// From where loops are left.
    left: FxHashMap<LoopId, From>,
    /// Calls of processes, and of functions.
    instantiated: Vec<(usize, ProcessId)>,
    called: Vec<(usize, FunctionId)>,
}

impl Walk {
    fn body(&mut self, body: &Statement) {
        self.from.clear();
        self.left.clear();
        self.statement(body);
    }

    /// A construct to which control comes next; it goes on from there.
    fn add(&mut self, kind: ConstructKind, span: Span) -> usize {
        let mut construct = Construct::new(kind, span, &self.process);
        let at = self.constructs.len();
        construct.before = std::mem::replace(&mut self.from, vec![(at, None)]);
        self.constructs.push(construct);
        at
    }

    /// The functions that an expression calls belong to what it stands in.
    fn calls(&mut self, at: usize, expression: &Expression) {
        if let ExpressionKind::Call { function, .. } = &expression.kind {
            self.called.push((at, *function));
        }
        parts_of(expression).into_iter().for_each(|part| self.calls(at, part));
    }

    fn arguments(&mut self, at: usize, arguments: &[Argument]) {
        for argument in arguments {
            if let Argument::In(value) = argument {
                self.calls(at, value);
            }
        }
    }

    fn statement(&mut self, statement: &Statement) {
        let span = statement.span;
        match &statement.kind {
            StatementKind::Sequence(statements) => statements.iter().for_each(|one| self.statement(one)),
            StatementKind::Null => {}
            StatementKind::Stop => {
                self.add(ConstructKind::Ending, span);
                self.from.clear();
            }
            StatementKind::Break(id) => {
                self.add(ConstructKind::Ending, span);
                let from = std::mem::take(&mut self.from);
                self.left.entry(*id).or_default().extend(from);
            }
            StatementKind::Raise { values, .. } => {
                let at = self.add(ConstructKind::Ending, span);
                values.iter().for_each(|value| self.calls(at, value));
                self.from.clear();
            }
            StatementKind::Return(value) => {
                let at = self.add(ConstructKind::Result, span);
                value.iter().for_each(|value| self.calls(at, value));
                self.from.clear();
            }
            StatementKind::Assign { value, .. } => {
                let at = self.add(ConstructKind::Assignment, span);
                self.calls(at, value);
            }
            StatementKind::AssignElement { index, value, .. } => {
                let at = self.add(ConstructKind::Assignment, span);
                self.calls(at, index);
                self.calls(at, value);
            }
            StatementKind::AssignAny { condition, .. } => {
                let at = self.add(ConstructKind::Assignment, span);
                condition.iter().for_each(|value| self.calls(at, value));
            }
            StatementKind::Call { result, function, arguments, .. } => {
                let kind = if result.is_some() { ConstructKind::Assignment } else { ConstructKind::Call };
                let at = self.add(kind, span);
                self.called.push((at, *function));
                self.arguments(at, arguments);
            }
            StatementKind::Instantiate { process, arguments, .. } => {
                let at = self.add(ConstructKind::Call, span);
                self.instantiated.push((at, *process));
                self.arguments(at, arguments);
            }
            StatementKind::Action(action) => {
                let at = self.add(ConstructKind::Action, span);
                for offer in &action.offers {
                    if let OfferKind::Send(value) = &offer.kind {
                        self.calls(at, value);
                    }
                }
                action.guard.iter().for_each(|guard| self.calls(at, guard));
            }
            StatementKind::Assert { condition, .. } => {
                let at = self.add(ConstructKind::Decision, condition.span);
                self.calls(at, condition);
            }
            StatementKind::Var { body, .. } | StatementKind::Hide { body, .. } => self.statement(body),
            StatementKind::If { branches, otherwise } => {
                self.conditional(branches, otherwise.as_deref(), true);
            }
            StatementKind::OnlyIf { branches, otherwise } => {
                self.conditional(branches, otherwise.as_deref(), false);
            }
            StatementKind::Case { subjects, branches, .. } => {
                let mut after = From::new();
                for branch in branches {
                    let tried = case_decision_span(branch).map(|place| {
                        let at = self.add(ConstructKind::Decision, place);
                        subjects.iter().for_each(|subject| self.calls(at, subject));
                        for alternative in &branch.alternatives {
                            alternative.guard.iter().for_each(|guard| self.calls(at, guard));
                            for pattern in &alternative.patterns {
                                if let PatternKind::Equal(value) = &pattern.kind {
                                    self.calls(at, value);
                                }
                            }
                        }
                        self.from = vec![(at, Some(true))];
                        at
                    });
                    self.statement(&branch.body);
                    after.append(&mut self.from);
                    self.from = tried.map(|at| (at, Some(false))).into_iter().collect();
                }
                self.from = after;
            }
            StatementKind::Loop { id, body } => {
                let first = self.constructs.len();
                self.statement(body);
                let end = std::mem::take(&mut self.from);
                self.lead_back(first, end);
                self.from = self.left.remove(id).unwrap_or_default();
            }
            StatementKind::While { id, condition, body } => {
                let at = self.condition(condition);
                self.from = vec![(at, Some(true))];
                self.statement(body);
                let end = std::mem::take(&mut self.from);
                self.lead_back(at, end);
                self.from = self.left.remove(id).unwrap_or_default();
                self.from.push((at, Some(false)));
            }
            StatementKind::For { id, initial, condition, step, body } => {
                self.statement(initial);
                let at = self.condition(condition);
                self.from = vec![(at, Some(true))];
                self.statement(body);
                self.statement(step);
                let end = std::mem::take(&mut self.from);
                self.lead_back(at, end);
                self.from = self.left.remove(id).unwrap_or_default();
                self.from.push((at, Some(false)));
            }
            StatementKind::Select(branches) => self.alternatives(branches.iter()),
            StatementKind::Disrupt { body, interruption } => {
                self.alternatives([&**body, &**interruption].into_iter());
            }
            StatementKind::Trap { handlers, body } => {
                let bodies = handlers.iter().map(|handler| &handler.body);
                self.alternatives(std::iter::once(&**body).chain(bodies));
            }
            StatementKind::Par { synchronised, branches } => self.composition(span, synchronised, branches),
        }
    }

    /// Control comes back to the first construct of a loop from its end.
    fn lead_back(&mut self, first: usize, end: From) {
        let Some(entry) = self.constructs.get(first).map(|one| one.before.clone()) else { return };
        // Whatever control comes to first, as the branches of a `select` do, is come back to.
        for construct in &mut self.constructs[first..] {
            if construct.before == entry {
                construct.before.extend(end.iter().copied());
            }
        }
    }

    fn condition(&mut self, condition: &Expression) -> usize {
        let at = self.add(ConstructKind::Decision, condition.span);
        self.calls(at, condition);
        at
    }

    fn conditional(&mut self, branches: &[ConditionalBranch], otherwise: Option<&Statement>, passes: bool) {
        let mut after = From::new();
        for branch in branches {
            let at = self.condition(&branch.condition);
            self.from = vec![(at, Some(true))];
            self.statement(&branch.body);
            after.append(&mut self.from);
            self.from = vec![(at, Some(false))];
        }
        match otherwise {
            Some(otherwise) => self.statement(otherwise),
            None if passes => {}
            None => self.from.clear(),
        }
        self.from.extend(after);
    }

    fn alternatives<'s>(&mut self, branches: impl Iterator<Item = &'s Statement>) {
        let before = self.from.clone();
        let mut after = From::new();
        for branch in branches {
            self.from = before.clone();
            self.statement(branch);
            after.append(&mut self.from);
        }
        self.from = after;
    }

    fn composition(&mut self, span: Span, synchronised: &[ParGate], branches: &[ParBranch]) {
        let end = branches.first().map_or(span.end, |branch| branch.span.start);
        let at = self.add(ConstructKind::Synchronisation, Span { end, ..span });
        let first = self.constructs.len();
        self.alternatives(branches.iter().map(|branch| &branch.body));
        self.constructs[at].members = (first..self.constructs.len()).collect();
        let mut users: FxHashMap<GateRef, usize> = FxHashMap::default();
        for branch in branches {
            let mut used = FxHashSet::default();
            gates_of(&branch.body, &mut used);
            // A gate that the branch lists is synchronised with whoever lists it, too.
            branch.gates.iter().for_each(|gate| _ = used.remove(gate));
            used.into_iter().for_each(|gate| *users.entry(gate).or_default() += 1);
        }
        let is_loose = |gate: GateRef| synchronised.iter().all(|one| one.gate != gate);
        self.constructs[at].loose =
            users.iter().filter(|&(&gate, &users)| users > 1 && is_loose(gate)).count();
    }
}

/// The gates that a behaviour uses, in actions and calls.
fn gates_of(statement: &Statement, used: &mut FxHashSet<GateRef>) {
    let mut local = |gate: &GateRef| {
        if matches!(gate, GateRef::Local(_)) {
            used.insert(*gate);
        }
    };
    match &statement.kind {
        StatementKind::Action(action) => local(&action.gate),
        StatementKind::Instantiate { gates, .. } => gates.iter().for_each(local),
        StatementKind::Sequence(inside) | StatementKind::Select(inside) => {
            inside.iter().for_each(|one| gates_of(one, used));
        }
        StatementKind::Var { body, .. }
        | StatementKind::Hide { body, .. }
        | StatementKind::Loop { body, .. }
        | StatementKind::While { body, .. } => gates_of(body, used),
        StatementKind::For { initial, step, body, .. } => {
            [initial, step, body].into_iter().for_each(|one| gates_of(one, used));
        }
        StatementKind::If { branches, otherwise } | StatementKind::OnlyIf { branches, otherwise } => {
            branches.iter().for_each(|branch| gates_of(&branch.body, used));
            otherwise.iter().for_each(|one| gates_of(one, used));
        }
        StatementKind::Case { branches, .. } => {
            branches.iter().for_each(|branch| gates_of(&branch.body, used));
        }
        StatementKind::Par { branches, .. } => {
            branches.iter().for_each(|branch| gates_of(&branch.body, used));
        }
        StatementKind::Disrupt { body, interruption } => {
            gates_of(body, used);
            gates_of(interruption, used);
        }
        StatementKind::Trap { handlers, body } => {
            gates_of(body, used);
            handlers.iter().for_each(|handler| gates_of(&handler.body, used));
        }
        _ => {}
    }
}

/// Finds the innermost construct at a place.
struct Places<'s> {
    spans: &'s [Span],
    /// By where they start.
    order: Vec<usize>,
}

impl<'s> Places<'s> {
    fn of(spans: &'s [Span]) -> Self {
        let mut order: Vec<usize> = (0..spans.len()).collect();
        order.sort_by_key(|&at| (spans[at].file, spans[at].start));
        Self { spans, order }
    }

    fn at(&self, span: Span) -> Option<usize> {
        let after = self
            .order
            .partition_point(|&at| (self.spans[at].file, self.spans[at].start) <= (span.file, span.start));
        // No construct lies within another, so the nearest that starts before is the one.
        let inside = |&&at: &&usize| {
            let place = self.spans[at];
            place.file == span.file && place.start <= span.start && span.end <= place.end
        };
        self.order[..after].last().filter(inside).copied()
    }
}
