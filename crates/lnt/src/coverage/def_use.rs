//! Which definitions of a variable reach which uses of it: reaching definitions, over the text of each process.
//!
//! A definition is an assignment, also of an array's element (which uses the array, too), `x := any T`, a `?x` of an
//! action or a call, a variable of a pattern, or a parameter of a process or of an exception's handler. A use is every
//! place at which a variable is read. Nothing is said about variables of functions: nothing happens in a function.

use std::collections::BTreeSet;

use model::{DefUse, VariableSite};
use rustc_hash::FxHashMap;
use source::Span;

use super::map::{entries, process_ends};
use crate::typed::{
    Action, Argument, CaseBranch, ConditionalBranch, Expression, ExpressionKind, GateId, GateRef, LoopId,
    Mode, Pattern, PatternKind, Process, Program, Statement, StatementKind, Touch, VariableId,
};

/// The pairs of definitions and uses of all processes that [`coverage_map`](crate::coverage_map) counts, in the order
/// of the source.
///
/// ```
/// let mut sources = source::Sources::new();
/// let text = "module M is process MAIN [A : any] (x : nat) is
///                if x > 0 then x := 7 end if; A (x)
///             end process end module";
/// let program = lnt::load_text("m.lnt", text, &mut sources).unwrap().program;
/// // The parameter reaches the condition and the action, the assignment only the action.
/// assert_eq!(lnt::def_use_pairs(&program).len(), 3);
/// ```
pub fn def_use_pairs(program: &Program) -> Vec<DefUse> {
    let ends = process_ends(program);
    let mut found = Vec::new();
    for (process, entry) in program.processes.iter().zip(entries(program)) {
        let Some(entry) = entry else { continue };
        let mut walk = Walk {
            process,
            ends: &ends,
            pairs: BTreeSet::new(),
            left: FxHashMap::default(),
            raised: FxHashMap::default(),
            passed: Vec::new(),
        };
        let mut start: State = Some(BTreeSet::new());
        for parameter in process.parameters.iter().filter(|parameter| parameter.mode != Mode::Out) {
            walk.define(parameter.variable, process.scope[parameter.variable].span, &mut start);
        }
        walk.statement(&process.body, &mut start);
        found.extend(walk.pairs.into_iter().map(|(variable, definition, used)| {
            let declared = &process.scope[variable];
            let site = |span: Span| VariableSite { variable: declared.span, span };
            let (definition, used) = (site(definition), site(used));
            DefUse { definition, used, variable: declared.name.clone(), process: entry }
        }));
    }
    found.sort();
    found
}

/// Calls back for every variable that an expression reads.
pub(crate) fn used_variables(expression: &Expression, each: &mut impl FnMut(VariableId, Span)) {
    if let ExpressionKind::Variable(variable) = &expression.kind {
        each(*variable, expression.span);
    }
    for part in parts_of(expression) {
        used_variables(part, each);
    }
}

/// Calls back for every variable that a pattern binds.
pub(crate) fn pattern_variables(pattern: &Pattern, each: &mut impl FnMut(VariableId, Span)) {
    match &pattern.kind {
        PatternKind::Variable(variable) => each(*variable, pattern.span),
        PatternKind::As(variable, inner) => {
            each(*variable, pattern.span);
            pattern_variables(inner, each);
        }
        PatternKind::Constructor(_, fields) => {
            fields.iter().for_each(|field| pattern_variables(field, each));
        }
        PatternKind::Cons(head, tail) => {
            pattern_variables(head, each);
            pattern_variables(tail, each);
        }
        PatternKind::Array(elements) => {
            elements.iter().for_each(|element| pattern_variables(element, each));
        }
        PatternKind::Wildcard | PatternKind::Literal(_) | PatternKind::Nil | PatternKind::Equal(_) => {}
    }
}

/// The definitions that may be the last ones at a place; nothing where control never comes there.
type State = Option<BTreeSet<(VariableId, Span)>>;

fn join(into: &mut State, other: &State) {
    match (into, other) {
        (Some(into), Some(other)) => into.extend(other),
        (into @ None, other) => into.clone_from(other),
        (Some(_), None) => {}
    }
}

struct Walk<'a> {
    process: &'a Process,
    ends: &'a [bool],
    /// Variable, definition, use.
    pairs: BTreeSet<(VariableId, Span, Span)>,
    /// How loops are left by `break`.
    left: FxHashMap<LoopId, State>,
    /// How exceptions are raised that are handled in the process.
    raised: FxHashMap<GateId, State>,
    /// For the body of each open `disrupt`, all states that it passes through.
    passed: Vec<State>,
}

impl Walk<'_> {
    fn define(&mut self, variable: VariableId, span: Span, state: &mut State) {
        if let Some(definitions) = state {
            definitions.retain(|(other, _)| *other != variable);
            definitions.insert((variable, span));
            self.pass(state);
        }
    }

    /// Wherever the body of a `disrupt` is, it may be interrupted.
    fn pass(&mut self, state: &State) {
        self.passed.iter_mut().for_each(|passed| join(passed, state));
    }

    fn read(&mut self, variable: VariableId, span: Span, state: &State) {
        let definitions = state.iter().flatten().filter(|(other, _)| *other == variable);
        self.pairs.extend(definitions.map(|&(variable, definition)| (variable, definition, span)));
    }

    fn expression(&mut self, expression: &Expression, state: &State) {
        match &expression.kind {
            ExpressionKind::Variable(variable) => self.read(*variable, expression.span, state),
            ExpressionKind::Call { gates, .. } => self.may_raise(gates, state),
            _ => {}
        }
        for part in parts_of(expression) {
            self.expression(part, state);
        }
    }

    fn pattern(&mut self, pattern: &Pattern, state: &mut State) {
        pattern_variables(pattern, &mut |variable, span| self.define(variable, span, state));
    }

    fn may_raise(&mut self, gates: &[GateRef], state: &State) {
        for gate in gates {
            if let GateRef::Local(gate) = gate {
                join(self.raised.entry(*gate).or_default(), state);
            }
        }
    }

    fn arguments(&mut self, arguments: &[Argument], state: &State) {
        for argument in arguments {
            match argument {
                Argument::In(value) => self.expression(value, state),
                Argument::InOut(variable, span) => self.read(*variable, *span, state),
                Argument::Out(..) => {}
            }
        }
    }

    fn results(&mut self, arguments: &[Argument], state: &mut State) {
        for argument in arguments {
            if let Argument::Out(variable, span) | Argument::InOut(variable, span) = argument {
                self.define(*variable, *span, state);
            }
        }
    }

    fn action(&mut self, action: &Action, state: &mut State) {
        for touch in action.touches() {
            match touch {
                Touch::Use(value) => self.expression(value, state),
                Touch::Define(pattern) => self.pattern(pattern, state),
            }
        }
    }

    fn statement(&mut self, statement: &Statement, state: &mut State) {
        let span = statement.span;
        match &statement.kind {
            StatementKind::Null => {}
            StatementKind::Stop => *state = None,
            StatementKind::Sequence(statements) => {
                statements.iter().for_each(|one| self.statement(one, state));
            }
            StatementKind::Assign { variable, value } => {
                self.expression(value, state);
                self.define(*variable, span, state);
            }
            StatementKind::AssignElement { array, index, value } => {
                self.read(*array, span, state);
                self.expression(index, state);
                self.expression(value, state);
                self.define(*array, span, state);
            }
            StatementKind::AssignAny { variable, condition } => {
                self.define(*variable, span, state);
                condition.iter().for_each(|condition| self.expression(condition, state));
            }
            StatementKind::Call { result, gates, arguments, .. } => {
                self.arguments(arguments, state);
                self.may_raise(gates, state);
                self.results(arguments, state);
                result.iter().for_each(|&variable| self.define(variable, span, state));
            }
            StatementKind::Instantiate { process, gates, arguments } => {
                self.arguments(arguments, state);
                self.may_raise(gates, state);
                match self.ends[process.index()] {
                    true => self.results(arguments, state),
                    false => *state = None,
                }
            }
            StatementKind::Var { body, .. } | StatementKind::Hide { body, .. } => self.statement(body, state),
            StatementKind::If { branches, otherwise } => {
                self.conditional(branches, otherwise.as_deref(), true, state);
            }
            StatementKind::OnlyIf { branches, otherwise } => {
                self.conditional(branches, otherwise.as_deref(), false, state);
            }
            StatementKind::Case { subjects, branches, .. } => self.case(subjects, branches, state),
            StatementKind::Loop { id, body } => {
                self.repeat(state, |walk, state| walk.statement(body, state));
                *state = self.left.remove(id).flatten();
            }
            StatementKind::While { id, condition, body } => {
                self.repeat(state, |walk, state| {
                    walk.expression(condition, state);
                    walk.statement(body, state);
                });
                join(state, &self.left.remove(id).flatten());
            }
            StatementKind::For { id, initial, condition, step, body } => {
                self.statement(initial, state);
                self.repeat(state, |walk, state| {
                    walk.expression(condition, state);
                    walk.statement(body, state);
                    walk.statement(step, state);
                });
                join(state, &self.left.remove(id).flatten());
            }
            StatementKind::Break(id) => {
                join(self.left.entry(*id).or_default(), state);
                *state = None;
            }
            StatementKind::Return(value) => {
                value.iter().for_each(|value| self.expression(value, state));
                *state = None;
            }
            StatementKind::Raise { gate, values } => {
                values.iter().for_each(|value| self.expression(value, state));
                self.may_raise(&[*gate], state);
                *state = None;
            }
            StatementKind::Assert { condition, gate } => {
                self.expression(condition, state);
                self.may_raise(&[*gate], state);
            }
            StatementKind::Action(action) => self.action(action, state),
            StatementKind::Select(branches) => {
                self.one_of(branches.iter(), state, |walk, branch, state| walk.statement(branch, state));
            }
            StatementKind::Par { branches, .. } => {
                let before = state.clone();
                let mut after: State = before.clone();
                for branch in branches {
                    let mut inner = before.clone();
                    self.statement(&branch.body, &mut inner);
                    after = both(&before, after, inner);
                }
                *state = after;
            }
            StatementKind::Disrupt { body, interruption } => {
                self.passed.push(state.clone());
                self.statement(body, state);
                let mut interrupted = self.passed.pop().flatten();
                self.statement(interruption, &mut interrupted);
                join(state, &interrupted);
            }
            StatementKind::Trap { handlers, body } => {
                self.statement(body, state);
                for handler in handlers {
                    let mut handled = self.raised.remove(&handler.gate).flatten();
                    for &parameter in &handler.parameters {
                        self.define(parameter, self.process.scope[parameter].span, &mut handled);
                    }
                    self.statement(&handler.body, &mut handled);
                    join(state, &handled);
                }
            }
        }
    }

    fn one_of<T>(
        &mut self,
        branches: impl Iterator<Item = T>,
        state: &mut State,
        walk: impl Fn(&mut Self, T, &mut State),
    ) {
        let before = state.take();
        for branch in branches {
            let mut inner = before.clone();
            walk(self, branch, &mut inner);
            join(state, &inner);
        }
    }

    fn conditional(
        &mut self,
        branches: &[ConditionalBranch],
        otherwise: Option<&Statement>,
        falls_through: bool,
        state: &mut State,
    ) {
        branches.iter().for_each(|branch| self.expression(&branch.condition, state));
        let bodies = branches.iter().map(|branch| Some(&branch.body));
        let last = (otherwise.is_some() || falls_through).then_some(otherwise);
        self.one_of(bodies.chain(last), state, |walk, body, state| {
            body.into_iter().for_each(|body| walk.statement(body, state));
        });
    }

    fn case(&mut self, subjects: &[Expression], branches: &[CaseBranch], state: &mut State) {
        subjects.iter().for_each(|subject| self.expression(subject, state));
        let mut tried = state.take();
        for branch in branches {
            let mut matched: State = None;
            for alternative in &branch.alternatives {
                let mut bound = tried.clone();
                alternative.patterns.iter().for_each(|pattern| self.pattern(pattern, &mut bound));
                join(&mut matched, &bound);
                if let Some(guard) = &alternative.guard {
                    self.expression(guard, &bound);
                    // Where the guard does not hold, variables were bound all the same.
                    join(&mut tried, &bound);
                }
            }
            self.statement(&branch.body, &mut matched);
            join(state, &matched);
        }
    }

    /// A loop's round, until what it brings back changes nothing; leaves the state at the start of rounds.
    fn repeat(&mut self, state: &mut State, mut round: impl FnMut(&mut Self, &mut State)) {
        loop {
            let mut again = state.clone();
            round(self, &mut again);
            let before = state.clone();
            join(state, &again);
            if *state == before {
                return;
            }
        }
    }
}

/// Behind branches that run side by side, only one of which may write a variable: what has changed.
fn both(before: &State, one: State, other: State) -> State {
    let (before, one, other) = (before.as_ref()?, one?, other?);
    let of = |set: &BTreeSet<(VariableId, Span)>, variable: VariableId| -> Vec<Span> {
        set.iter().filter(|(own, _)| *own == variable).map(|(_, span)| *span).collect()
    };
    let variables: BTreeSet<VariableId> = one.union(&other).map(|(variable, _)| *variable).collect();
    let mut after = BTreeSet::new();
    for variable in variables {
        let changed = of(&other, variable) != of(before, variable);
        let spans = of(if changed { &other } else { &one }, variable);
        after.extend(spans.into_iter().map(|span| (variable, span)));
    }
    Some(after)
}

/// The expressions that an expression consists of.
pub(crate) fn parts_of(expression: &Expression) -> Vec<&Expression> {
    match &expression.kind {
        ExpressionKind::Literal(_) | ExpressionKind::Variable(_) => Vec::new(),
        ExpressionKind::Construct(_, parts)
        | ExpressionKind::Collection(parts)
        | ExpressionKind::Builtin(_, parts)
        | ExpressionKind::Call { arguments: parts, .. } => parts.iter().collect(),
        ExpressionKind::FilledArray(part) | ExpressionKind::Field { value: part, .. } => vec![part],
        ExpressionKind::Update { value, fields } => {
            std::iter::once(&**value).chain(fields.iter().map(|field| &field.value)).collect()
        }
        ExpressionKind::Element { array, index } => vec![array, index],
    }
}
