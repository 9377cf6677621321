//! Finds the blocks, decisions and action instances of a program (Salaün and Ye 2015, definitions 1, 2 and 8).
//!
//! Their fragment of LNT has `if`, `case`, `while`, `par`, `select` and `stop` as control instructions. The rest of
//! the language follows from that: `only if` and `for` are conditional like `if` and `while`; `loop`, `disrupt` and
//! `trap` steer control as `while true`, `select` and `par` do; `var` and `hide` only declare, so that blocks extend
//! across them. Processes count, functions do not: nothing happens in a function.

use model::{ActionInstance, Block, CoverageMap, Decision, DecisionKind, Dependency, ProcessEntry};
use source::Span;

use super::conditions::{conditions_of, operands_of};
use crate::typed::{
    CaseBranch, ConditionalBranch, Expression, GateRef, LoopId, Process, Program, Statement, StatementKind,
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
    let ends = process_ends(program);
    let entries = entries(program);
    let mut map = CoverageMap::default();
    for (index, process) in program.processes.iter().enumerate() {
        if program.root.is_some_and(|root| root.index() == index) {
            continue;
        }
        map.processes.push(ProcessEntry {
            name: process.name.clone(),
            module: program[process.module].name.clone(),
            span: process.extent,
        });
        let mut walk =
            Walk { process, ends: &ends, entries: &entries, map: &mut map, open: None, left: Vec::new() };
        walk.inner(&process.body, &mut Way::default());
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

/// For each process, whether it can end, as far as its text tells.
pub(super) fn process_ends(program: &Program) -> Vec<bool> {
    let entries = entries(program);
    let mut ends = vec![false; program.processes.len()];
    loop {
        let mut changed = false;
        for (index, process) in program.processes.iter().enumerate() {
            if !ends[index] {
                let mut scratch = CoverageMap::default();
                scratch.processes.push(ProcessEntry {
                    name: String::new(),
                    module: String::new(),
                    span: process.span,
                });
                let map = &mut scratch;
                let mut walk =
                    Walk { process, ends: &ends, entries: &entries, map, open: None, left: Vec::new() };
                let mut way = Way::default();
                walk.statement(&process.body, &mut way);
                if way.behind.is_none() {
                    ends[index] = true;
                    changed = true;
                }
            }
        }
        if !changed {
            return ends;
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
}

struct Walk<'a> {
    process: &'a Process,
    ends: &'a [bool],
    entries: &'a [Option<usize>],
    map: &'a mut CoverageMap,
    open: Option<Block>,
    /// Loops that a reachable `break` leaves.
    left: Vec<LoopId>,
}

impl Walk<'_> {
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
            behind: way.behind,
            after: way.after.clone(),
            calls: Vec::new(),
        });
        open.span = open.span.to(statement.span);
        open.last = statement.span;
        open.ends_before_last = need_not_return(statement);
        let ends = match &statement.kind {
            StatementKind::Action(action) => {
                open.actions.push(self.map.actions.len());
                let gate = match action.gate {
                    GateRef::Local(gate) => self.process.scope[gate].name.clone(),
                    GateRef::Internal => "i".to_owned(),
                    GateRef::Unexpected => "unexpected".to_owned(),
                };
                self.map.actions.push(ActionInstance { span: statement.span, process, gate, block: number });
                true
            }
            StatementKind::Instantiate { process, .. } => {
                open.calls.extend(self.entries[process.index()]);
                self.ends[process.index()]
            }
            StatementKind::Break(id) => {
                if way.behind.is_none() {
                    self.left.push(*id);
                }
                false
            }
            StatementKind::Raise { .. } => false,
            _ => true,
        };
        if !ends {
            way.behind.get_or_insert(statement.span);
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
                if !self.left.contains(id) {
                    way.behind.get_or_insert(span);
                }
            }
            StatementKind::While { id, condition, body } => self.repeat(*id, condition, &[body], way),
            StatementKind::For { id, initial, condition, step, body } => {
                self.inner(initial, way);
                self.repeat(*id, condition, &[body, step], way);
            }
            StatementKind::Select(branches) => {
                let ways = branches.iter().map(|branch| self.branch(branch, way, Vec::new())).collect();
                one_of(ways, span, way);
            }
            StatementKind::Par { branches, .. } => {
                let before = way.clone();
                for branch in branches {
                    let inner = self.branch(&branch.body, &before, Vec::new());
                    way.after.extend(inner.after.get(before.after.len()..).unwrap_or_default());
                    way.depends.extend(inner.depends.get(before.depends.len()..).unwrap_or_default());
                    if inner.behind.is_some() {
                        way.behind.get_or_insert(span);
                    }
                }
                way.depends = without_repetitions(&way.depends);
            }
            StatementKind::Disrupt { body, interruption } => {
                let ways = [body, interruption].map(|part| self.branch(part, way, Vec::new()));
                alternatives(ways.into(), span, way);
            }
            StatementKind::Trap { handlers, body } => {
                let mut ways = vec![self.branch(body, way, Vec::new())];
                ways.extend(handlers.iter().map(|handler| self.branch(&handler.body, way, Vec::new())));
                alternatives(ways, span, way);
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
            let decision = self.decision(&branch.condition, DecisionKind::If);
            let mut conditions = passed.clone();
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
        one_of(ways, span, way);
    }

    fn case(
        &mut self,
        subjects: &[Expression],
        branches: &[CaseBranch],
        exhaustive: bool,
        span: Span,
        way: &mut Way,
    ) {
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
            conditions.push(Dependency { decision, outcome: true });
            ways.push(self.branch(&branch.body, way, conditions));
            passed.push(Dependency { decision, outcome: false });
        }
        one_of(ways, span, way);
    }

    fn repeat(&mut self, id: LoopId, condition: &Expression, parts: &[&Statement], way: &mut Way) {
        let decision = self.decision(condition, DecisionKind::While);
        let mut inner = way.clone();
        inner.depends.push(Dependency { decision, outcome: true });
        for part in parts {
            self.inner(part, &mut inner);
        }
        // What follows needs the condition to become false, unless a `break` leads there too.
        if !self.left.contains(&id) {
            way.depends.push(Dependency { decision, outcome: false });
        }
    }
}

/// Goes on behind alternatives, of which exactly one is taken: where only one can end, what follows depends on it.
fn one_of(ways: Vec<Way>, span: Span, way: &mut Way) {
    if way.behind.is_some() {
        return;
    }
    let several = ways.len() > 1;
    let mut ending = ways.into_iter().filter(|way| way.behind.is_none());
    match (ending.next(), ending.next()) {
        (Some(only), None) if several => *way = only,
        (Some(_), _) => {}
        (None, _) => way.behind = Some(span),
    }
}

/// Goes on behind parts any of which may lead there.
fn alternatives(ways: Vec<Way>, span: Span, way: &mut Way) {
    if ways.iter().all(|inner| inner.behind.is_some()) {
        way.behind.get_or_insert(span);
    }
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
            | StatementKind::Assert { .. }
            | StatementKind::Action(_)
    )
}

/// Whether control does not, or need not, come back from an instruction of a block.
pub(crate) fn need_not_return(statement: &Statement) -> bool {
    matches!(
        statement.kind,
        StatementKind::Instantiate { .. } | StatementKind::Break(_) | StatementKind::Raise { .. }
    )
}
