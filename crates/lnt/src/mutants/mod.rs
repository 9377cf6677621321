//! Mutants of a program: every place in the typed tree at which one of the operators can change the text.
//!
//! A mutant is a piece of text in the place of another, so that it can be shown and applied as a diff. What is written
//! is what the tree says: spans are exact, and texts between statements (comments, line breaks) stay where they are.

mod alternatives;
mod expressions;
mod flow;
mod pieces;

use model::{Mutant, Operator};
use rustc_hash::{FxHashMap, FxHashSet};
use source::{FileId, Sources, Span};

use crate::lexer::{self, Keyword, Token, TokenKind};
use crate::typed::*;
use flow::{Variables, heads, passes, tails, touched};
use pieces::Pieces;

/// How many changes are wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Mistakes, one of each kind a place.
    Mutants,
    /// Those, and whatever else could stand there.
    Alternatives,
}

/// Changes of these processes and functions, in the order of the text.
pub(crate) fn mutants(
    program: &Program,
    processes: &[ProcessId],
    functions: &[FunctionId],
    sources: &Sources,
    extent: Extent,
) -> Vec<Mutant> {
    let empty = Scope::default();
    let mut writer = Writer {
        program,
        sources,
        tokens: FxHashMap::default(),
        scope: &empty,
        within: "",
        is_function: false,
        visible: Variables::default(),
        known: Variables::default(),
        gates: Vec::new(),
        pieces: None,
        found: Vec::new(),
    };
    let processes = processes.iter().map(|&id| {
        let process = &program[id];
        let (scope, gates) = (&process.scope, &process.gates);
        (&process.name, process.extent, scope, gates, &process.parameters, &process.body, false)
    });
    let functions = functions.iter().map(|&id| {
        let function = &program[id];
        let (scope, gates) = (&function.scope, &function.gates);
        (&function.name, function.extent, scope, gates, &function.parameters, &function.body, true)
    });
    for (name, place, scope, gates, parameters, body, is_function) in processes.chain(functions) {
        if sources.is_given(place.file) || sources.is_given(body.span.file) {
            continue;
        }
        writer.read_tokens(place.file);
        (writer.scope, writer.within, writer.is_function) = (scope, name, is_function);
        let given = parameters.iter().filter(|parameter| parameter.mode != Mode::Out);
        let mut assigned: Variables = given.map(|parameter| parameter.variable).collect();
        writer.visible = parameters.iter().map(|parameter| parameter.variable).collect();
        writer.gates = if is_function { Vec::new() } else { gates.clone() };
        writer.pieces = (extent == Extent::Alternatives).then(|| writer.pieces_of(body));
        let around = Around { ends: !is_function, ..Around::default() };
        writer.insert_behind(body, &assigned, &around);
        writer.statement(body, &mut assigned, &around);
    }
    let mut found = writer.found;
    found.sort_by_key(|mutant| (mutant.span.file, mutant.span.start, mutant.span.end));
    let mut seen = FxHashSet::default();
    found.retain(|mutant| seen.insert((mutant.span, mutant.replacement.clone())));
    found
}

/// What surrounds a statement.
#[derive(Clone, Default)]
struct Around {
    /// What is done just before it.
    before: Vec<Span>,
    /// What is done just after it.
    after: Vec<Span>,
    /// Whether a process, a branch of `par` or a round of a loop ends with it.
    ends: bool,
}

struct Writer<'a> {
    program: &'a Program,
    sources: &'a Sources,
    tokens: FxHashMap<FileId, Vec<Token>>,
    scope: &'a Scope,
    within: &'a str,
    is_function: bool,
    /// The variables whose names mean them here.
    visible: Variables,
    /// The variables that have a value where an expression stands.
    known: Variables,
    /// The gates that can be used here.
    gates: Vec<GateId>,
    /// What alternatives are made of, where they are wanted.
    pieces: Option<Pieces>,
    found: Vec<Mutant>,
}

impl<'a> Writer<'a> {
    fn read_tokens(&mut self, file: FileId) {
        let sources = self.sources;
        self.tokens.entry(file).or_insert_with(|| lexer::tokens(file, sources.text(file), &mut Vec::new()));
    }

    fn text(&self, span: Span) -> &'a str {
        self.sources.slice(span)
    }

    /// A text on one line, for descriptions.
    fn short(&self, span: Span) -> String {
        const MOST: usize = 60;
        let text = self.text(span).split_whitespace().collect::<Vec<_>>().join(" ");
        match text.char_indices().nth(MOST) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text,
        }
    }

    fn tokens_between(&self, file: FileId, start: u32, end: u32) -> &[Token] {
        let Some(tokens) = self.tokens.get(&file) else { return &[] };
        let first = tokens.partition_point(|token| token.span.start < start);
        let last = tokens.partition_point(|token| token.span.start < end);
        &tokens[first..last.max(first)]
    }

    /// Whether one statement follows another with nothing but a semicolon between them.
    fn follows(&self, left: &Statement, right: &Statement) -> bool {
        left.span.file == right.span.file
            && left.span.end <= right.span.start
            && matches!(
                self.tokens_between(left.span.file, left.span.end, right.span.start),
                [Token { kind: TokenKind::Semicolon, .. }]
            )
    }

    /// A text in the place of a construct.
    fn replace(&mut self, operator: Operator, span: Span, replacement: String, what: &str) {
        let description = format!("`{}` {what}", self.short(span));
        self.push(operator, span, replacement, description, Vec::new());
    }

    fn push(
        &mut self,
        operator: Operator,
        span: Span,
        replacement: String,
        description: String,
        mut neighbours: Vec<Span>,
    ) {
        if self.text(span) == replacement || self.sources.is_given(span.file) {
            return;
        }
        neighbours.retain(|one| one.file == span.file && (one.end <= span.start || one.start >= span.end));
        neighbours.sort();
        neighbours.dedup();
        let within = self.within.to_owned();
        self.found.push(Mutant { operator, span, replacement, description, within, neighbours });
    }

    fn statement(&mut self, statement: &Statement, assigned: &mut Variables, around: &Around) {
        let before = assigned.clone();
        self.other_statements(statement, &before, around);
        match &statement.kind {
            StatementKind::Sequence(all) => {
                self.sequence(all, assigned, around);
                return;
            }
            StatementKind::Action(action) => self.action(statement, action, &before, around),
            StatementKind::Assign { variable, value } => {
                self.expression(value);
                if before.contains(variable) {
                    self.drop_statement(Operator::AssignmentRemoved, statement, around);
                }
            }
            StatementKind::AssignElement { index, value, .. } => {
                self.expression(index);
                self.expression(value);
                self.drop_statement(Operator::AssignmentRemoved, statement, around);
            }
            StatementKind::AssignAny { variable, condition } => {
                condition.iter().for_each(|condition| self.guard(condition, false));
                if before.contains(variable) {
                    self.drop_statement(Operator::AssignmentRemoved, statement, around);
                }
            }
            StatementKind::Call { arguments, .. } => self.arguments(arguments),
            StatementKind::Instantiate { arguments, .. } => {
                self.arguments(arguments);
                self.ending(statement, around);
            }
            StatementKind::Null => self.ending(statement, around),
            StatementKind::Return(Some(value)) => self.expression(value),
            StatementKind::Raise { values, .. } => values.iter().for_each(|value| self.expression(value)),
            StatementKind::Assert { condition, .. } => self.expression(condition),
            StatementKind::Var { variables, body } => {
                let outer = self.visible.clone();
                let hidden: Vec<VariableId> = self.hidden_by(variables);
                self.visible.retain(|one| !hidden.contains(one));
                self.visible.extend(variables.iter().copied());
                self.insert_behind(body, assigned, around);
                self.statement(body, assigned, around);
                self.visible = outer;
                return;
            }
            StatementKind::Hide { gates, body } => {
                let outer = self.gates.len();
                self.gates.extend(gates);
                self.statement(body, assigned, around);
                self.gates.truncate(outer);
                return;
            }
            StatementKind::If { branches, otherwise } => {
                self.conditional(statement, branches, otherwise.as_deref(), false, assigned, around);
            }
            StatementKind::OnlyIf { branches, otherwise } => {
                self.conditional(statement, branches, otherwise.as_deref(), true, assigned, around);
            }
            StatementKind::Case { subjects, branches, .. } => self.case(subjects, branches, assigned, around),
            StatementKind::Select(branches) => self.select(branches, assigned, around),
            StatementKind::Par { synchronised, branches } => {
                self.parallel(statement, synchronised, branches, assigned, around);
            }
            StatementKind::Loop { body, .. } => {
                let (mut first, mut last) = (Vec::new(), Vec::new());
                heads(body, &mut first);
                tails(body, &mut last);
                let inside =
                    Around { before: joined(&around.before, &last), after: first, ends: !self.is_function };
                self.statement(body, &mut assigned.clone(), &inside);
            }
            StatementKind::While { condition, body, .. } => {
                self.guard(condition, true);
                let inside =
                    Around { before: vec![condition.span], after: vec![condition.span], ends: false };
                self.statement(body, &mut assigned.clone(), &inside);
            }
            StatementKind::For { initial, condition, step, body, .. } => {
                let inside =
                    Around { before: vec![condition.span], after: vec![condition.span], ends: false };
                // Nothing can be put between the parts of a head.
                let pieces = self.pieces.take();
                self.statement(initial, assigned, &inside);
                self.statement(step, &mut assigned.clone(), &inside);
                self.pieces = pieces;
                self.known.clone_from(assigned);
                self.guard(condition, true);
                self.statement(body, &mut assigned.clone(), &inside);
            }
            StatementKind::Disrupt { body, interruption } => {
                self.statement(body, &mut assigned.clone(), around);
                self.statement(interruption, &mut assigned.clone(), around);
            }
            StatementKind::Trap { handlers, body } => {
                for handler in handlers {
                    self.statement(&handler.body, &mut assigned.clone(), around);
                }
                self.statement(body, &mut assigned.clone(), around);
            }
            StatementKind::Stop | StatementKind::Break(_) | StatementKind::Return(None) => {}
        }
        *assigned = before;
        passes(statement, assigned);
    }

    /// Visible variables that have the names of new ones.
    fn hidden_by(&self, variables: &[VariableId]) -> Vec<VariableId> {
        let named = |one: VariableId, other: VariableId| {
            self.scope[one].name.eq_ignore_ascii_case(&self.scope[other].name)
        };
        self.visible.iter().copied().filter(|&old| variables.iter().any(|&new| named(old, new))).collect()
    }

    fn arguments(&mut self, arguments: &[Argument]) {
        for argument in arguments {
            if let Argument::In(value) = argument {
                self.expression(value);
            }
        }
    }

    fn sequence(&mut self, all: &[Statement], assigned: &mut Variables, around: &Around) {
        for (at, statement) in all.iter().enumerate() {
            let mut inside = Around { ends: around.ends && at + 1 == all.len(), ..Around::default() };
            match at.checked_sub(1) {
                Some(previous) => tails(&all[previous], &mut inside.before),
                None => inside.before.clone_from(&around.before),
            }
            match all.get(at + 1) {
                Some(next) => heads(next, &mut inside.after),
                None => inside.after.clone_from(&around.after),
            }
            self.order(&all[at..], assigned);
            self.statement(statement, assigned, &inside);
        }
    }

    /// What can be done with the order of the first statements of a list.
    fn order(&mut self, all: &[Statement], assigned: &Variables) {
        let [first, second, ..] = all else { return };
        if !self.follows(first, second) {
            return;
        }
        let (Some((reads, writes)), Some((next_reads, next_writes))) = (touched(first), touched(second))
        else {
            return;
        };
        let is_action = |one: &Statement| matches!(one.kind, StatementKind::Action(_));
        let is_call = |one: &Statement| matches!(one.kind, StatementKind::Instantiate { .. });
        // Behind a call, which may not come back, nothing is sure to happen.
        let movable = |one: &Statement| !is_call(one);
        let known = |written: &Variables, read: &Variables| {
            written.intersection(read).all(|variable| assigned.contains(variable))
        };
        let text = |one: &Statement| self.text(one.span);
        let between = |left: &Statement, right: &Statement| {
            &self.sources.text(left.span.file)[left.span.end as usize..right.span.start as usize]
        };
        let short = |one: &Statement| self.short(one.span);
        let span = first.span.to(second.span);
        if (is_action(first) || is_action(second))
            && movable(first)
            && movable(second)
            && text(first) != text(second)
            && known(&writes, &next_reads)
        {
            let swapped = format!("{}{}{}", text(second), between(first, second), text(first));
            let what = format!("`{}` and `{}` change places", short(first), short(second));
            self.push(Operator::ActionSwapped, span, swapped, what, Vec::new());
        }
        let together = |one: &Statement| is_action(one) || is_call(one);
        let apart = writes.is_disjoint(&next_reads)
            && writes.is_disjoint(&next_writes)
            && reads.is_disjoint(&next_writes);
        if together(first) && together(second) && apart && !self.is_function {
            let text = format!("par {} || {} end par", self.text(first.span), self.text(second.span));
            let what =
                format!("`{}` and `{}` happen in parallel", self.short(first.span), self.short(second.span));
            self.push(Operator::Parallel, span, text, what, Vec::new());
        }
        let [_, _, third, ..] = all else { return };
        let Some((last_reads, _)) = touched(third) else { return };
        if is_action(first)
            && movable(second)
            && movable(third)
            && self.follows(second, third)
            && known(&writes, &next_reads)
            && known(&writes, &last_reads)
        {
            let between = |left: &Statement, right: &Statement| {
                &self.sources.text(left.span.file)[left.span.end as usize..right.span.start as usize]
            };
            let text = format!(
                "{}{}{}{}{}",
                self.text(second.span),
                between(first, second),
                self.text(third.span),
                between(second, third),
                self.text(first.span)
            );
            let what = format!("`{}` comes after `{}`", self.short(first.span), self.short(third.span));
            self.push(Operator::ActionMoved, first.span.to(third.span), text, what, Vec::new());
        }
    }

    fn action(&mut self, statement: &Statement, action: &Action, assigned: &Variables, around: &Around) {
        self.offers(action, assigned);
        action.guard.iter().for_each(|guard| self.guard(guard, false));
        let text = self.text(statement.span);
        let twice = format!("{text}; {text}");
        self.replace(Operator::ActionDuplicated, statement.span, twice, "happens twice");
        let binds =
            touched(statement).is_some_and(|(_, writes)| writes.iter().any(|one| !assigned.contains(one)));
        if !binds {
            self.drop_statement(Operator::ActionRemoved, statement, around);
        }
        if around.ends {
            let text = format!("{text}; stop");
            self.replace(Operator::Stop, statement.span, text, "is followed by `stop`");
        }
    }

    /// `null` in the place of a statement.
    fn drop_statement(&mut self, operator: Operator, statement: &Statement, around: &Around) {
        // Where a variable is declared, its first value is no statement.
        let before = self.tokens_between(statement.span.file, 0, statement.span.start).last();
        if matches!(before.map(|token| token.kind), Some(TokenKind::Comma | TokenKind::Keyword(Keyword::Var)))
        {
            return;
        }
        let what = format!("`{}` is left out", self.short(statement.span));
        self.push(operator, statement.span, "null".into(), what, joined(&around.before, &around.after));
    }

    /// `stop` in the place of what a process or a round of a loop ends with.
    fn ending(&mut self, statement: &Statement, around: &Around) {
        if around.ends && !self.is_function {
            let what = format!("`stop` in the place of `{}`", self.short(statement.span));
            let neighbours = joined(&around.before, &around.after);
            self.push(Operator::Stop, statement.span, "stop".into(), what, neighbours);
        }
    }

    fn conditional(
        &mut self,
        statement: &Statement,
        branches: &[ConditionalBranch],
        otherwise: Option<&Statement>,
        only: bool,
        assigned: &mut Variables,
        around: &Around,
    ) {
        for branch in branches {
            self.guard(&branch.condition, false);
            let inside = Around { before: vec![branch.condition.span], ..around.clone() };
            self.statement(&branch.body, &mut assigned.clone(), &inside);
        }
        if let Some(otherwise) = otherwise {
            let before = branches.iter().map(|branch| branch.condition.span).collect();
            self.statement(otherwise, &mut assigned.clone(), &Around { before, ..around.clone() });
        }
        let operator = Operator::BranchRemoved;
        let conditions: Vec<Span> = branches.iter().map(|branch| branch.condition.span).collect();
        let [first, others @ ..] = branches else { return };
        let what = |text: String| format!("the branch `{text}` is left out");
        for branch in others {
            let text = what(self.short(branch.span));
            self.push(operator, branch.span, String::new(), text, conditions.clone());
        }
        let described = what(self.short(first.span));
        match (others.first(), otherwise) {
            (Some(next), _) => {
                let span = Span { end: next.condition.span.start, ..first.condition.span };
                self.push(operator, span, String::new(), described, conditions.clone());
            }
            (None, Some(otherwise)) => {
                let text = self.text(otherwise.span).to_owned();
                self.push(operator, statement.span, text, described, Vec::new());
            }
            (None, None) if !only && !returns(&first.body) => {
                let neighbours = joined(&around.before, &around.after);
                self.push(operator, statement.span, "null".into(), described, neighbours);
            }
            (None, None) => {}
        }
        if let (Some(otherwise), Some(last)) = (otherwise, branches.last()) {
            // Control may now go on behind the conditional without what the branch did.
            let mut own = assigned.clone();
            let needed = !only && passes(otherwise, &mut own) && own != *assigned;
            if !needed && (only || !returns(otherwise)) {
                let span = Span { start: last.span.end, ..otherwise.span };
                let text = what(format!("else {}", self.short(otherwise.span)));
                self.push(operator, span, String::new(), text, conditions);
            }
        }
    }

    fn case(
        &mut self,
        subjects: &[Expression],
        branches: &[CaseBranch],
        assigned: &mut Variables,
        around: &Around,
    ) {
        subjects.iter().for_each(|subject| self.expression(subject));
        for branch in branches {
            let mut inside = Around { before: Vec::new(), ..around.clone() };
            for alternative in &branch.alternatives {
                alternative.guard.iter().for_each(|guard| self.guard(guard, false));
                inside.before.push(alternative.span);
            }
            self.statement(&branch.body, &mut assigned.clone(), &inside);
        }
        let patterns: Vec<Span> =
            branches.iter().flat_map(|branch| branch.alternatives.iter().map(|one| one.span)).collect();
        let spans: Vec<Span> = branches.iter().map(|branch| branch.span).collect();
        self.remove_branches(&spans, &patterns);
    }

    fn select(&mut self, branches: &[Statement], assigned: &mut Variables, around: &Around) {
        let mut first = Vec::new();
        branches.iter().for_each(|branch| heads(branch, &mut first));
        for branch in branches {
            self.statement(branch, &mut assigned.clone(), around);
        }
        let spans: Vec<Span> = branches.iter().map(|branch| branch.span).collect();
        self.remove_branches(&spans, &first);
    }

    /// Leaves out each of several branches with what separates it from its neighbour.
    fn remove_branches(&mut self, spans: &[Span], neighbours: &[Span]) {
        if spans.len() < 2 {
            return;
        }
        for (at, &span) in spans.iter().enumerate() {
            let whole = match spans.get(at + 1) {
                Some(next) => Span { end: next.start, ..span },
                None => Span { start: spans[at - 1].end, ..span },
            };
            let what = format!("the branch `{}` is left out", self.short(span));
            self.push(Operator::BranchRemoved, whole, String::new(), what, neighbours.to_vec());
        }
    }

    fn parallel(
        &mut self,
        statement: &Statement,
        synchronised: &[ParGate],
        branches: &[ParBranch],
        assigned: &mut Variables,
        around: &Around,
    ) {
        for branch in branches {
            let inside = Around { ends: true, ..around.clone() };
            self.statement(&branch.body, &mut assigned.clone(), &inside);
        }
        let mut first = Vec::new();
        branches.iter().for_each(|branch| heads(&branch.body, &mut first));
        self.synchronised_gates(statement, synchronised, branches);
        for branch in branches {
            self.branch_gates(branch);
        }
        if branches.len() > 1 {
            let bodies: Vec<&str> = branches.iter().map(|branch| self.text(branch.body.span)).collect();
            let what = format!("the branches of `{}` come one after the other", self.short(statement.span));
            let text = bodies.join(";\n");
            self.push(Operator::Parallel, statement.span, text, what, Vec::new());
        }
    }

    /// Takes gates out of `par G, H in`.
    fn synchronised_gates(&mut self, statement: &Statement, gates: &[ParGate], branches: &[ParBranch]) {
        let Some(branch) = branches.first() else { return };
        let head = self.tokens_between(statement.span.file, statement.span.start, branch.span.start);
        let (Some(par), Some(last)) = (head.first(), head.last()) else { return };
        let span = par.span.to(last.span);
        for gate in gates {
            let others: Vec<String> = gates
                .iter()
                .filter(|other| other.span != gate.span)
                .map(|other| {
                    let name = self.text(other.span).trim();
                    match other.count {
                        Some(count) if !name.contains('#') => format!("{name}#{count}"),
                        _ => name.to_owned(),
                    }
                })
                .collect();
            let text = match others.as_slice() {
                [] => "par".to_owned(),
                others => format!("par {} in", others.join(", ")),
            };
            let what = format!("`{}` is no longer synchronised", self.short(gate.span));
            self.push(Operator::Synchronisation, span, text, what, self.actions_on(gate.gate, branches));
        }
    }

    /// Takes gates out of `G, H -> B`.
    fn branch_gates(&mut self, branch: &ParBranch) {
        let head = self.tokens_between(branch.span.file, branch.span.start, branch.body.span.start);
        let names: Vec<Token> =
            head.iter().copied().filter(|token| token.kind == TokenKind::Identifier).collect();
        if names.len() != branch.gates.len() {
            return;
        }
        let span = Span { end: branch.body.span.start, ..branch.span };
        for (at, name) in names.iter().enumerate() {
            let others: Vec<&str> = names
                .iter()
                .enumerate()
                .filter(|&(other, _)| other != at)
                .map(|(_, one)| self.text(one.span))
                .collect();
            let text = match others.as_slice() {
                [] => String::new(),
                others => format!("{} -> ", others.join(", ")),
            };
            let what = format!("this branch no longer synchronises on `{}`", self.text(name.span));
            let neighbours = self.actions_on(branch.gates[at], std::slice::from_ref(branch));
            self.push(Operator::Synchronisation, span, text, what, neighbours);
        }
    }

    /// What these branches themselves do on a gate, calls with it included.
    fn actions_on(&self, gate: GateRef, branches: &[ParBranch]) -> Vec<Span> {
        let mut found = Vec::new();
        let mut todo: Vec<&Statement> = branches.iter().map(|branch| &branch.body).collect();
        while let Some(statement) = todo.pop() {
            match &statement.kind {
                StatementKind::Action(action) if action.gate == gate => found.push(statement.span),
                StatementKind::Instantiate { gates, .. } if gates.contains(&gate) => {
                    found.push(statement.span)
                }
                _ => todo.extend(inside(statement)),
            }
        }
        found
    }
}

fn joined(left: &[Span], right: &[Span]) -> Vec<Span> {
    left.iter().chain(right).copied().collect()
}

/// Whether a `return` is somewhere inside.
fn returns(statement: &Statement) -> bool {
    matches!(statement.kind, StatementKind::Return(_)) || inside(statement).into_iter().any(returns)
}

/// The statements directly inside one.
fn inside(statement: &Statement) -> Vec<&Statement> {
    match &statement.kind {
        StatementKind::Sequence(all) | StatementKind::Select(all) => all.iter().collect(),
        StatementKind::Var { body, .. }
        | StatementKind::Hide { body, .. }
        | StatementKind::Loop { body, .. }
        | StatementKind::While { body, .. } => vec![body],
        StatementKind::For { initial, step, body, .. } => vec![initial, step, body],
        StatementKind::If { branches, otherwise } | StatementKind::OnlyIf { branches, otherwise } => {
            branches.iter().map(|branch| &branch.body).chain(otherwise.as_deref()).collect()
        }
        StatementKind::Case { branches, .. } => branches.iter().map(|branch| &branch.body).collect(),
        StatementKind::Par { branches, .. } => branches.iter().map(|branch| &branch.body).collect(),
        StatementKind::Disrupt { body, interruption } => vec![body, interruption],
        StatementKind::Trap { handlers, body } => {
            handlers.iter().map(|handler| &handler.body).chain([&**body]).collect()
        }
        _ => Vec::new(),
    }
}
