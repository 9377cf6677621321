//! Finds the blocks, decisions and action instances of a program (Salaün and Ye 2015, definitions 1, 2 and 8).
//!
//! Their fragment of LNT has `if`, `case`, `while`, `par`, `select` and `stop` as control instructions. The rest of
//! the language follows from that: `only if` and `for` are conditional like `if` and `while`; `loop`, `disrupt` and
//! `trap` steer control as `while true`, `select` and `par` do; `var` and `hide` only declare, so that blocks extend
//! across them. Nothing happens in a function: their blocks and decisions are counted apart.

use model::{ActionInstance, Block, CoverageMap, Decision, DecisionKind, Dependency, Join, ProcessEntry};
use source::Span;

use super::conditions::{conditions_of, operands_of};
use super::def_use::parts_of;
use crate::typed::{
    Argument, CaseBranch, ConditionalBranch, Expression, ExpressionKind, FunctionId, GateId, GateRef,
    Handler, LoopId, Process, Program, Scope, Statement, StatementKind, Touch,
};

/// The coverage map of a program: all processes, reachable or not, but the one made for the user's root.
///
/// ```
/// let mut sources = source::Sources::new();
/// let text = "module M is process MAIN [A, B : none] (x : bool) is
///                A; if x then B end if
///             end process end module";
/// let program = lnt::load_text("m.lnt", text, &mut sources).unwrap().program;
/// let map = lnt::coverage_map(&program);
/// assert_eq!((map.blocks.len(), map.decisions.len(), map.actions.len()), (2, 1, 2));
/// assert_eq!(map.blocks[1].depends, [model::Dependency { decision: 0, outcome: true }]);
/// ```
pub fn coverage_map(program: &Program) -> CoverageMap {
    let function_raises = function_raises(program);
    let leaves = process_leaves(program, &function_raises);
    let entries = entries(program);
    let exits = exits(program, &entries);
    let known =
        Known { leaves: &leaves, function_raises: &function_raises, entries: &entries, exits: &exits };
    let mut map = CoverageMap::default();
    map.joins.resize_with(exits.last().copied().unwrap_or(0), Join::default);
    for (index, process) in program.processes.iter().enumerate() {
        if entries[index].is_none() {
            continue;
        }
        map.processes.push(ProcessEntry {
            name: process.name.clone(),
            module: program[process.module].name.clone(),
            span: process.extent,
        });
        let mut walk = Walk::new(&process.scope, known, &mut map);
        let mut way = Way::default();
        walk.inner(&process.body, &mut way);
        let raised = std::mem::take(&mut walk.raised);
        if way.behind.is_none() {
            map.joins[exits[index]].ways.push(way.into());
        }
        for (position, gate) in process.gates.iter().enumerate() {
            let ways = raised.iter().filter(|(raised, _)| raised == gate).map(|(_, way)| way.clone().into());
            map.joins[exits[index] + 1 + position].ways.extend(ways);
        }
    }
    map
}

/// The map of some functions of a program, in the place of processes: blocks and decisions; nothing happens in a function.
///
/// ```
/// let mut sources = source::Sources::new();
/// let text = "module M is function least (a, b : nat) : nat is
///                if a < b then return a else return b end if
///             end function end module";
/// let program = lnt::load_text("m.lnt", text, &mut sources).unwrap().program;
/// let map = lnt::function_map(&program, &[lnt::typed::FunctionId(0)]);
/// assert_eq!((map.blocks.len(), map.decisions.len(), map.actions.len()), (2, 1, 0));
/// ```
pub fn function_map(program: &Program, functions: &[FunctionId]) -> CoverageMap {
    let function_raises = function_raises(program);
    let mut map = CoverageMap::default();
    for &function in functions {
        let function = &program[function];
        map.processes.push(ProcessEntry {
            name: function.name.clone(),
            module: program[function.module].name.clone(),
            span: function.extent,
        });
        let known = Known { leaves: &[], function_raises: &function_raises, entries: &[], exits: &[] };
        Walk::new(&function.scope, known, &mut map).inner(&function.body, &mut Way::default());
    }
    map
}

/// For each process, its position in the map.
pub(super) fn entries(program: &Program) -> Vec<Option<usize>> {
    let mut next = 0;
    let entry = |index: usize| {
        let counted = program.root.is_none_or(|root| root.index() != index);
        next += usize::from(counted);
        counted.then(|| next - 1)
    };
    (0..program.processes.len()).map(entry).collect()
}

/// For each process, the first of the joins by which it is left: the one of its end, then those of the exceptions
/// among its gates. One more tells where the joins inside of processes begin.
fn exits(program: &Program, entries: &[Option<usize>]) -> Vec<usize> {
    let mut next = 0;
    let mut exits = Vec::new();
    for (process, entry) in program.processes.iter().zip(entries) {
        exits.push(next);
        next += if entry.is_some() { 1 + process.gates.len() } else { 0 };
    }
    exits.push(next);
    exits
}

/// How a process can be left, as far as its text tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Leaves {
    ends: bool,
    /// For each gate, whether it raises it as an exception.
    raises: Vec<bool>,
}

/// For each process, whether it can end, as far as its text tells.
pub(super) fn process_ends(program: &Program) -> Vec<bool> {
    let leaves = process_leaves(program, &function_raises(program));
    leaves.into_iter().map(|leaves| leaves.ends).collect()
}

/// For each function and each of its exceptions, whether its text raises it.
fn function_raises(program: &Program) -> Vec<Vec<bool>> {
    let mut raises: Vec<Vec<bool>> =
        program.functions.iter().map(|function| vec![false; function.gates.len()]).collect();
    loop {
        let mut changed = false;
        for (index, function) in program.functions.iter().enumerate() {
            if function.gates.is_empty() {
                continue;
            }
            let mut scratch = scratch_map(function.span);
            let known = Known { leaves: &[], function_raises: &raises, entries: &[], exits: &[] };
            let mut walk = Walk::new(&function.scope, known, &mut scratch);
            walk.inner(&function.body, &mut Way::default());
            let raised = |gate: &GateId| walk.raised.iter().any(|(raised, _)| raised == gate);
            let found: Vec<bool> = function.gates.iter().map(raised).collect();
            if found != raises[index] {
                raises[index] = found;
                changed = true;
            }
        }
        if !changed {
            return raises;
        }
    }
}

/// A map to walk through one body.
fn scratch_map(span: Span) -> CoverageMap {
    let mut map = CoverageMap::default();
    map.processes.push(ProcessEntry { name: String::new(), module: String::new(), span });
    map
}

fn process_leaves(program: &Program, function_raises: &[Vec<bool>]) -> Vec<Leaves> {
    let entries = entries(program);
    let exits = exits(program, &entries);
    let raises = |process: &Process| vec![false; process.gates.len()];
    let mut leaves: Vec<Leaves> =
        program.processes.iter().map(|process| Leaves { ends: false, raises: raises(process) }).collect();
    loop {
        let mut changed = false;
        for (index, process) in program.processes.iter().enumerate() {
            let mut scratch = scratch_map(process.span);
            let known = Known { leaves: &leaves, function_raises, entries: &entries, exits: &exits };
            let mut walk = Walk::new(&process.scope, known, &mut scratch);
            let mut way = Way::default();
            walk.inner(&process.body, &mut way);
            let raised = |gate: &GateId| walk.raised.iter().any(|(raised, _)| raised == gate);
            let found =
                Leaves { ends: way.behind.is_none(), raises: process.gates.iter().map(raised).collect() };
            if found != leaves[index] {
                leaves[index] = found;
                changed = true;
            }
        }
        if !changed {
            return leaves;
        }
    }
}

/// How control came to a place.
#[derive(Clone, Debug, Default)]
struct Way {
    /// The outcomes it needed.
    depends: Vec<Dependency>,
    /// The instruction that it can't get past.
    behind: Option<Span>,
    /// The blocks that were executed on it.
    after: Vec<usize>,
    /// The places on it at which several ways meet.
    joins: Vec<usize>,
    /// Calls of functions that have to raise an exception.
    raised_by: Vec<Span>,
}

impl From<Way> for model::Way {
    fn from(Way { depends, behind: _, after, joins, raised_by }: Way) -> Self {
        Self { depends, after, joins, raised_by }
    }
}

/// What is known of the processes and functions that a body calls.
#[derive(Clone, Copy)]
struct Known<'a> {
    leaves: &'a [Leaves],
    function_raises: &'a [Vec<bool>],
    entries: &'a [Option<usize>],
    exits: &'a [usize],
}

struct Walk<'a> {
    scope: &'a Scope,
    known: Known<'a>,
    map: &'a mut CoverageMap,
    open: Option<Block>,
    /// Loops that a reachable `break` leaves, and how control comes to it.
    left: Vec<(LoopId, Way)>,
    /// Exceptions that may be raised, and how control comes there.
    raised: Vec<(GateId, Way)>,
}

impl<'a> Walk<'a> {
    fn new(scope: &'a Scope, known: Known<'a>, map: &'a mut CoverageMap) -> Self {
        let (left, raised) = (Vec::new(), Vec::new());
        Self { scope, known, map, open: None, left, raised }
    }

    fn statement(&mut self, statement: &Statement, way: &mut Way) {
        match &statement.kind {
            StatementKind::Sequence(statements) => {
                for statement in statements {
                    self.statement(statement, way);
                }
            }
            StatementKind::Var { body, .. } | StatementKind::Hide { body, .. } => self.statement(body, way),
            _ if is_simple(statement) => self.simple(statement, way),
            _ => {
                self.close(way);
                self.control(statement, way);
                self.close(way);
            }
        }
    }

    /// An instruction of a block.
    fn simple(&mut self, statement: &Statement, way: &mut Way) {
        let process = self.map.processes.len() - 1;
        let number = self.map.blocks.len();
        let open = self.open.get_or_insert_with(|| Block {
            span: statement.span,
            last: statement.span,
            ends_before_last: false,
            process,
            actions: Vec::new(),
            depends: way.depends.clone(),
            behind: None,
            after: way.after.clone(),
            joins: Vec::new(),
            calls: Vec::new(),
            choices: Vec::new(),
            raised_by: way.raised_by.clone(),
            may_raise: Vec::new(),
        });
        open.span = open.span.to(statement.span);
        open.last = statement.span;
        open.ends_before_last = need_not_return(statement);
        // Calls before it in the block have to come back.
        open.behind = way.behind;
        open.joins.clone_from(&way.joins);
        // Jumps are executed when they are entered; else, what stands before it in the block counts where it acts.
        let jumps =
            need_not_return(statement) && !matches!(statement.kind, StatementKind::Instantiate { .. });
        let mut here = way.clone();
        if jumps || !open.actions.is_empty() {
            here.after.push(number);
        }
        let ends = match &statement.kind {
            StatementKind::Action(action) => {
                open.actions.push(self.map.actions.len());
                let gate = match action.gate {
                    GateRef::Local(gate) => self.scope[gate].name.clone(),
                    GateRef::Internal => "i".to_owned(),
                    GateRef::Unexpected => "unexpected".to_owned(),
                };
                self.map.actions.push(ActionInstance {
                    span: statement.span,
                    process,
                    gate,
                    block: Some(number),
                });
                true
            }
            StatementKind::Instantiate { process, .. } => {
                open.calls.extend(self.known.entries[process.index()]);
                let ends = self.known.leaves[process.index()].ends;
                if ends && self.known.entries[process.index()].is_some() {
                    way.joins.push(self.known.exits[process.index()]);
                }
                ends
            }
            StatementKind::Break(id) => {
                if way.behind.is_none() {
                    self.left.push((*id, here.clone()));
                }
                false
            }
            StatementKind::AssignAny { condition: Some(condition), .. } => {
                open.choices.push((statement.span, condition.span));
                true
            }
            StatementKind::Raise { .. } | StatementKind::Return(_) => false,
            _ => true,
        };
        self.exceptions(statement, &here);
        if !ends {
            way.behind.get_or_insert(statement.span);
        }
    }

    /// Notes the exceptions that an instruction of a block may raise.
    fn exceptions(&mut self, statement: &Statement, here: &Way) {
        match &statement.kind {
            StatementKind::Assign { value, .. } => self.evaluated(value, here),
            StatementKind::AssignElement { index, value, .. } => {
                self.evaluated(index, here);
                self.evaluated(value, here);
            }
            StatementKind::AssignAny { condition, .. } => {
                condition.iter().for_each(|condition| self.evaluated(condition, here));
            }
            StatementKind::Call { function, gates, arguments, .. } => {
                self.arguments(arguments, here);
                self.function_may_raise(*function, gates, statement.span, here);
            }
            StatementKind::Return(value) => value.iter().for_each(|value| self.evaluated(value, here)),
            StatementKind::Instantiate { process, gates, arguments } => {
                self.arguments(arguments, here);
                for (position, gate) in gates.iter().enumerate() {
                    if self.known.leaves[process.index()].raises[position] {
                        let mut here = here.clone();
                        here.joins.push(self.known.exits[process.index()] + 1 + position);
                        self.may_raise(&[*gate], &here);
                    }
                }
            }
            StatementKind::Raise { gate, values } => {
                values.iter().for_each(|value| self.evaluated(value, here));
                self.may_raise(&[*gate], here);
            }
            StatementKind::Assert { condition, gate } => {
                self.evaluated(condition, here);
                self.may_raise(&[*gate], here);
            }
            StatementKind::Action(action) => {
                for touch in action.touches() {
                    if let Touch::Use(value) = touch {
                        self.evaluated(value, here);
                    }
                }
            }
            _ => {}
        }
    }

    fn arguments(&mut self, arguments: &[Argument], here: &Way) {
        for argument in arguments {
            if let Argument::In(value) = argument {
                self.evaluated(value, here);
            }
        }
    }

    /// Notes the exceptions that an expression may raise.
    fn evaluated(&mut self, expression: &Expression, here: &Way) {
        if let ExpressionKind::Call { function, gates, .. } = &expression.kind {
            self.function_may_raise(*function, gates, expression.span, here);
        }
        parts_of(expression).into_iter().for_each(|part| self.evaluated(part, here));
    }

    /// The exceptions that the text of a function raises may be raised by a call of it.
    fn function_may_raise(&mut self, function: FunctionId, gates: &[GateRef], call: Span, here: &Way) {
        let raises = &self.known.function_raises[function.index()];
        let raised: Vec<GateRef> =
            gates.iter().zip(raises).filter(|(_, raised)| **raised).map(|(gate, _)| *gate).collect();
        if !raised.is_empty() {
            if let Some(open) = &mut self.open {
                open.may_raise.push(call);
            }
            let mut here = here.clone();
            here.raised_by.push(call);
            self.may_raise(&raised, &here);
        }
    }

    fn may_raise(&mut self, gates: &[GateRef], here: &Way) {
        for gate in gates {
            if let (GateRef::Local(gate), None) = (gate, here.behind) {
                self.raised.push((*gate, here.clone()));
            }
        }
    }

    /// Ends the block at hand: what follows comes after it.
    fn close(&mut self, way: &mut Way) {
        if let Some(block) = self.open.take() {
            way.after.push(self.map.blocks.len());
            self.map.blocks.push(block);
        }
    }

    /// A control instruction.
    fn control(&mut self, statement: &Statement, way: &mut Way) {
        let span = statement.span;
        match &statement.kind {
            StatementKind::Stop => {
                way.behind.get_or_insert(span);
            }
            StatementKind::If { branches, otherwise } => {
                self.conditional(branches, otherwise.as_deref(), true, span, way);
            }
            StatementKind::OnlyIf { branches, otherwise } => {
                self.conditional(branches, otherwise.as_deref(), false, span, way);
            }
            StatementKind::Case { subjects, branches, exhaustive } => {
                self.case(subjects, branches, *exhaustive, span, way);
            }
            StatementKind::Loop { id, body } => {
                self.inner(body, &mut way.clone());
                let ways = self.breaks(*id);
                self.one_of(ways, span, way);
            }
            StatementKind::While { id, condition, body } => self.repeat(*id, condition, &[body], span, way),
            StatementKind::For { id, initial, condition, step, body } => {
                self.inner(initial, way);
                self.repeat(*id, condition, &[body, step], span, way);
            }
            StatementKind::Select(branches) => {
                let ways = branches.iter().map(|branch| self.branch(branch, way, Vec::new())).collect();
                self.one_of(ways, span, way);
            }
            StatementKind::Par { branches, .. } => {
                let before = way.clone();
                for branch in branches {
                    let inner = self.branch(&branch.body, &before, Vec::new());
                    way.after.extend(inner.after.get(before.after.len()..).unwrap_or_default());
                    way.depends.extend(inner.depends.get(before.depends.len()..).unwrap_or_default());
                    way.joins.extend(inner.joins.get(before.joins.len()..).unwrap_or_default());
                    if inner.behind.is_some() {
                        way.behind.get_or_insert(span);
                    }
                }
                way.depends = without_repetitions(&way.depends);
            }
            StatementKind::Disrupt { body, interruption } => {
                let ways = [body, interruption].map(|part| self.branch(part, way, Vec::new()));
                self.one_of(ways.into(), span, way);
            }
            StatementKind::Trap { handlers, body } => {
                let mut ways = vec![self.branch(body, way, Vec::new())];
                for handler in handlers {
                    let mut handled = way.clone();
                    self.handled(handler, &mut handled);
                    self.inner(&handler.body, &mut handled);
                    ways.push(handled);
                }
                self.one_of(ways, span, way);
            }
            _ => {}
        }
    }

    /// A part of a control instruction: its blocks end with it.
    fn inner(&mut self, statement: &Statement, way: &mut Way) {
        self.statement(statement, way);
        self.close(way);
    }

    /// A part that is entered under further conditions; gives how control leaves it.
    fn branch(&mut self, statement: &Statement, before: &Way, conditions: Vec<Dependency>) -> Way {
        let mut way = before.clone();
        way.depends.extend(conditions);
        self.inner(statement, &mut way);
        way
    }

    fn decision(&mut self, condition: &Expression, kind: DecisionKind) -> usize {
        self.map.decisions.push(Decision {
            span: condition.span,
            process: self.map.processes.len() - 1,
            kind,
            always_true: false,
            conditions: conditions_of(condition).iter().map(|one| one.span).collect(),
            operands: operands_of(condition).iter().map(|one| one.span).collect(),
        });
        self.map.decisions.len() - 1
    }

    fn conditional(
        &mut self,
        branches: &[ConditionalBranch],
        otherwise: Option<&Statement>,
        falls_through: bool,
        span: Span,
        way: &mut Way,
    ) {
        let mut ways = Vec::new();
        let mut passed: Vec<Dependency> = Vec::new();
        for branch in branches {
            let mut conditions = passed.clone();
            let mut tried = way.clone();
            tried.depends.extend(conditions.iter().copied());
            self.evaluated(&branch.condition, &tried);
            let decision = self.decision(&branch.condition, DecisionKind::If);
            conditions.push(Dependency { decision, outcome: true });
            ways.push(self.branch(&branch.body, way, conditions));
            passed.push(Dependency { decision, outcome: false });
        }
        let mut last = way.clone();
        last.depends.extend(passed);
        match otherwise {
            Some(otherwise) => self.inner(otherwise, &mut last),
            None if falls_through => {}
            None => last.behind = last.behind.or(Some(span)),
        }
        ways.push(last);
        self.one_of(ways, span, way);
    }

    fn case(
        &mut self,
        subjects: &[Expression],
        branches: &[CaseBranch],
        exhaustive: bool,
        span: Span,
        way: &mut Way,
    ) {
        subjects.iter().for_each(|subject| self.evaluated(subject, way));
        let mut ways = Vec::new();
        let mut passed: Vec<Dependency> = Vec::new();
        for (index, branch) in branches.iter().enumerate() {
            let Some(place) = case_decision_span(branch) else { continue };
            self.map.decisions.push(Decision {
                span: place,
                process: self.map.processes.len() - 1,
                kind: DecisionKind::Case,
                always_true: exhaustive && index + 1 == branches.len(),
                conditions: vec![place],
                operands: subjects.iter().map(|subject| subject.span).collect(),
            });
            let decision = self.map.decisions.len() - 1;
            let mut conditions = passed.clone();
            let mut tried = way.clone();
            tried.depends.extend(conditions.iter().copied());
            for guard in branch.alternatives.iter().filter_map(|alternative| alternative.guard.as_ref()) {
                self.evaluated(guard, &tried);
            }
            conditions.push(Dependency { decision, outcome: true });
            ways.push(self.branch(&branch.body, way, conditions));
            passed.push(Dependency { decision, outcome: false });
        }
        self.one_of(ways, span, way);
    }

    fn repeat(
        &mut self,
        id: LoopId,
        condition: &Expression,
        parts: &[&Statement],
        span: Span,
        way: &mut Way,
    ) {
        self.evaluated(condition, way);
        let decision = self.decision(condition, DecisionKind::While);
        let mut inner = way.clone();
        inner.depends.push(Dependency { decision, outcome: true });
        for part in parts {
            self.inner(part, &mut inner);
        }
        // What follows needs the condition to become false, unless a `break` leads there too.
        let mut ended = way.clone();
        ended.depends.push(Dependency { decision, outcome: false });
        let mut ways = vec![ended];
        ways.extend(self.breaks(id));
        self.one_of(ways, span, way);
    }

    /// How control leaves a loop by `break`.
    fn breaks(&mut self, id: LoopId) -> Vec<Way> {
        self.left.extract_if(.., |(left, _)| *left == id).map(|(_, way)| way).collect()
    }

    /// How control comes to the handler of an exception.
    fn handled(&mut self, handler: &Handler, way: &mut Way) {
        let gate = handler.gate;
        let ways: Vec<Way> =
            self.raised.extract_if(.., |(raised, _)| *raised == gate).map(|(_, way)| way).collect();
        match ways.is_empty() && way.behind.is_none() {
            true => self.join(Vec::new(), way),
            false => self.one_of(ways, handler.span, way),
        }
    }

    /// Goes on behind alternatives, of which one is taken: what follows depends on what those have in common that can
    /// end. Where several can, they meet there.
    fn one_of(&mut self, ways: Vec<Way>, span: Span, way: &mut Way) {
        if way.behind.is_some() {
            return;
        }
        let mut ending: Vec<Way> = ways.into_iter().filter(|way| way.behind.is_none()).collect();
        match ending.len() {
            0 => way.behind = Some(span),
            1 => *way = ending.remove(0),
            _ => {
                *way = Way {
                    depends: common(&ending, |way| &way.depends),
                    after: common(&ending, |way| &way.after),
                    joins: common(&ending, |way| &way.joins),
                    raised_by: common(&ending, |way| &way.raised_by),
                    behind: None,
                };
                for one in &mut ending {
                    one.depends.retain(|own| !way.depends.contains(own));
                    one.after.retain(|own| !way.after.contains(own));
                    one.joins.retain(|own| !way.joins.contains(own));
                    one.raised_by.retain(|own| !way.raised_by.contains(own));
                }
                self.join(ending, way);
            }
        }
    }

    /// A place at which ways meet.
    fn join(&mut self, ways: Vec<Way>, way: &mut Way) {
        way.joins.push(self.map.joins.len());
        self.map.joins.push(Join { ways: ways.into_iter().map(model::Way::from).collect() });
    }
}

/// What all ways have of something.
fn common<T: Copy + PartialEq>(ways: &[Way], part: fn(&Way) -> &[T]) -> Vec<T> {
    let Some((first, others)) = ways.split_first() else { return Vec::new() };
    let everywhere = |one: &&T| others.iter().all(|other| part(other).contains(one));
    part(first).iter().filter(everywhere).copied().collect()
}

fn without_repetitions(depends: &[Dependency]) -> Vec<Dependency> {
    let mut seen = Vec::new();
    for dependency in depends {
        if !seen.contains(dependency) {
            seen.push(*dependency);
        }
    }
    seen
}

/// The patterns of a branch: its decision.
pub(crate) fn case_decision_span(branch: &CaseBranch) -> Option<Span> {
    let first = branch.alternatives.first()?;
    let last = branch.alternatives.last().unwrap_or(first);
    Some(first.span.to(last.span))
}

/// Instructions that blocks consist of: no control instructions (definition 1), and none inside.
pub(crate) fn is_simple(statement: &Statement) -> bool {
    matches!(
        statement.kind,
        StatementKind::Null
            | StatementKind::Assign { .. }
            | StatementKind::AssignElement { .. }
            | StatementKind::AssignAny { .. }
            | StatementKind::Call { .. }
            | StatementKind::Instantiate { .. }
            | StatementKind::Break(_)
            | StatementKind::Raise { .. }
            | StatementKind::Return(_)
            | StatementKind::Assert { .. }
            | StatementKind::Action(_)
    )
}

/// Whether control does not, or need not, come back from an instruction of a block.
pub(crate) fn need_not_return(statement: &Statement) -> bool {
    matches!(
        statement.kind,
        StatementKind::Instantiate { .. }
            | StatementKind::Break(_)
            | StatementKind::Raise { .. }
            | StatementKind::Return(_)
    )
}
