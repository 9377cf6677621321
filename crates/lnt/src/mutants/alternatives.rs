//! Alternatives: what else could stand in a place, beside the mistakes of which mutants are made.
//!
//! They ask what would be if something were there that is missing: an action, an assignment, a condition, a branch, a gate of a
//! synchronisation. What is put in is what the same body does elsewhere, or what its gates and types allow.

use model::Operator;
use source::Span;

use super::flow::{Variables, heads, passes, tails, touched};
use super::pieces::{Piece, Pieces};
use super::{Around, Writer, inside, joined};
use crate::lexer::{Keyword, TokenKind};
use crate::typed::*;

/// The most variables that are tried in a place.
const MOST_VARIABLES: usize = 4;
/// The most conditions that are added to one.
const MOST_CONDITIONS: usize = 18;
/// The most comparisons of variables that are asked for in a place.
const MOST_COMPARISONS: usize = 24;

impl Writer<'_> {
    /// Alternatives to a statement as a whole; nothing where none are wanted.
    pub(super) fn other_statements(&mut self, statement: &Statement, assigned: &Variables, around: &Around) {
        self.known.clone_from(assigned);
        if self.pieces.is_none() {
            return;
        }
        if !matches!(
            statement.kind,
            StatementKind::Sequence(_)
                | StatementKind::Var { .. }
                | StatementKind::Hide { .. }
                | StatementKind::Null
        ) {
            self.insert_before(statement, assigned, around);
        }
        match &statement.kind {
            StatementKind::Sequence(all) => {
                self.orders(all, assigned);
                self.together(all);
            }
            StatementKind::Action(action) => {
                self.other_gates(action);
                self.other_patterns(action, assigned);
                self.guarded(statement);
                self.or_else(statement, assigned);
                // What is received is known where the condition stands.
                if let Some((_, writes)) = touched(statement) {
                    self.known.extend(writes);
                }
            }
            StatementKind::Assign { value, .. } => self.other_assigned(value),
            StatementKind::Return(Some(value)) => self.other_assigned(value),
            StatementKind::Call { arguments, .. } => self.other_order(arguments),
            StatementKind::Instantiate { process, gates, arguments } => {
                self.other_call_gates(statement, *process, gates);
                self.other_order(arguments);
                self.guarded(statement);
                let what = format!("`{}` is left out", self.short(statement.span));
                let beside = joined(&around.before, &around.after);
                self.push(Operator::Continued, statement.span, "null".into(), what, beside);
            }
            StatementKind::Stop | StatementKind::Break(_) => {
                self.replace(Operator::Continued, statement.span, "null".into(), "goes on");
                self.other_endings(statement, assigned);
            }
            StatementKind::Null => {
                self.other_endings(statement, assigned);
                let beside = joined(&around.before, &around.after);
                for piece in self.possible(assigned, true) {
                    let what = format!("`null` becomes `{}`", piece.text);
                    self.push(Operator::Inserted, statement.span, piece.text, what, beside.clone());
                }
            }
            StatementKind::If { branches, otherwise: None } => {
                let Some(last) = branches.last() else { return };
                let span = Span { start: last.span.end, end: last.span.end, ..last.span };
                let beside: Vec<Span> = branches.iter().map(|branch| branch.condition.span).collect();
                for piece in self.possible(assigned, true) {
                    let what = format!("`{}` happens where no condition holds", piece.text);
                    let text = format!(" else {} ", piece.text);
                    self.push(Operator::BranchAdded, span, text, what, beside.clone());
                }
            }
            StatementKind::Case { branches, .. } => {
                for alternative in branches.iter().flat_map(|branch| &branch.alternatives) {
                    alternative.patterns.iter().for_each(|pattern| self.other_pattern(pattern));
                }
            }
            StatementKind::Select(branches) => {
                let Some(last) = branches.last() else { return };
                let span = Span { start: last.span.end, end: last.span.end, ..last.span };
                let mut beside = Vec::new();
                branches.iter().for_each(|branch| heads(branch, &mut beside));
                let mut others = self.possible(assigned, false);
                others.extend(self.possible_branches(branches, assigned));
                for piece in others {
                    let shown = piece.text.split_whitespace().collect::<Vec<_>>().join(" ");
                    let what = format!("`{shown}` can be chosen, too");
                    let text = format!(" [] {} ", piece.text);
                    self.push(Operator::BranchAdded, span, text, what, beside.clone());
                }
            }
            StatementKind::Par { synchronised, branches } => {
                self.more_gates(statement, synchronised, branches)
            }
            _ => {}
        }
        // Behind the last statement of each body.
        match &statement.kind {
            StatementKind::Sequence(_) | StatementKind::Var { .. } | StatementKind::Hide { .. } => {}
            StatementKind::For { body, .. } => self.insert_behind(body, assigned, around),
            StatementKind::Trap { .. } => {}
            _ => inside(statement).into_iter().for_each(|body| self.insert_behind(body, assigned, around)),
        }
    }

    /// Actions and assignments that can stand where these variables have values.
    fn possible(&self, assigned: &Variables, assignments: bool) -> Vec<Piece> {
        let Some(pieces) = &self.pieces else { return Vec::new() };
        let fits = |piece: &&Piece| {
            let readable = |one: &VariableId| assigned.contains(one) && self.visible.contains(one);
            piece.reads.iter().all(readable) && piece.writes.iter().all(|one| self.visible.contains(one))
        };
        let assignments = pieces.assignments.iter().filter(|_| assignments);
        pieces.actions.iter().chain(assignments).filter(fits).cloned().collect()
    }

    /// Branches that a choice could have besides: those of other choices of the body, and its own with another constant or gate.
    fn possible_branches(&self, own: &[Statement], assigned: &Variables) -> Vec<Piece> {
        let Some(pieces) = &self.pieces else { return Vec::new() };
        let written: Vec<&str> = own.iter().map(|branch| self.text(branch.span)).collect();
        let readable = |one: &VariableId| assigned.contains(one) && self.visible.contains(one);
        let mut found: Vec<Piece> = Vec::new();
        for piece in pieces.branches.iter().filter(|piece| piece.reads.iter().all(readable)) {
            if !written.contains(&piece.text.as_str()) {
                found.push(piece.clone());
            }
        }
        for branch in own {
            for text in self.in_other_words(branch) {
                if !written.contains(&text.as_str()) && found.iter().all(|one| one.text != text) {
                    found.push(Piece { text, reads: Variables::default(), writes: Variables::default() });
                }
            }
        }
        found
    }

    /// A text with one of its constants or gates exchanged wherever it stands in it.
    fn in_other_words(&self, statement: &Statement) -> Vec<String> {
        const MOST_CHARACTERS: usize = 300;
        let span = statement.span;
        if span.range().len() > MOST_CHARACTERS || self.text(span).contains("--") {
            return Vec::new();
        }
        let tokens = self.tokens_between(span.file, span.start, span.end);
        let mut words: Vec<&str> = Vec::new();
        let mut found = Vec::new();
        for token in tokens {
            let word = self.text(token.span);
            if words.contains(&word) {
                continue;
            }
            words.push(word);
            let others = match token.kind {
                TokenKind::Identifier => self.other_words(word),
                TokenKind::Integer => {
                    let number = word.parse::<u64>().unwrap_or(u64::MAX);
                    let others = [number.checked_add(1), number.checked_sub(1)];
                    others.into_iter().flatten().map(|other| other.to_string()).collect()
                }
                _ => Vec::new(),
            };
            for other in others {
                let mut text = String::new();
                let mut at = span.start;
                for same in tokens.iter().filter(|same| self.text(same.span) == word) {
                    text += self.text(Span { start: at, end: same.span.start, ..span });
                    text += &other;
                    at = same.span.end;
                }
                found.push(text + self.text(Span { start: at, ..span }));
            }
        }
        found
    }

    /// The other gates of a gate's channel, the other constants of a constant's type.
    fn other_words(&self, word: &str) -> Vec<String> {
        let named = |name: &str| name.eq_ignore_ascii_case(word);
        if let Some(&gate) = self.gates.iter().find(|&&gate| named(&self.scope[gate].name)) {
            let channel = self.scope[gate].channel;
            let others = self.gates.iter().filter(|&&other| other != gate);
            let fitting = others.filter(|&&other| self.scope[other].channel == channel);
            return fitting.map(|&other| self.scope[other].name.clone()).collect();
        }
        if self.scope.variables.iter().any(|variable| named(&variable.name)) {
            return Vec::new();
        }
        let types = (0..self.program.types.len()).map(|at| self.constants_of(TypeId(at as u32)));
        let own = types.into_iter().find(|all| all.iter().any(|one| named(one)));
        own.unwrap_or_default().into_iter().filter(|one| !named(one)).collect()
    }

    fn insert_before(&mut self, statement: &Statement, assigned: &Variables, around: &Around) {
        let span = statement.span;
        // Where a variable is declared, its first value is no statement.
        let before = self.tokens_between(span.file, 0, span.start).last().map(|token| token.kind);
        if matches!(before, Some(TokenKind::Comma | TokenKind::Keyword(Keyword::Var))) {
            return;
        }
        let mut beside = around.before.clone();
        heads(statement, &mut beside);
        let place = Span { end: span.start, ..span };
        let next = self.first_line(span);
        for piece in self.possible(assigned, true) {
            let what = format!("`{}` comes before `{next}`", piece.text);
            self.push(Operator::Inserted, place, format!("{}; ", piece.text), what, beside.clone());
        }
    }

    /// The beginning of a text, without what is a comment.
    fn first_line(&self, span: Span) -> String {
        let text = self.text(span);
        let line = text.lines().next().unwrap_or_default();
        let code = line.split("--").next().unwrap_or_default().trim_end();
        if code.len() == text.len() { self.short(span) } else { format!("{code} …") }
    }

    /// Something more at the end of a body.
    pub(super) fn insert_behind(&mut self, body: &Statement, assigned: &Variables, around: &Around) {
        if self.pieces.is_none() {
            return;
        }
        let last = match &body.kind {
            StatementKind::Sequence(all) => all.last().unwrap_or(body),
            _ => body,
        };
        let mut assigned = assigned.clone();
        let open = matches!(
            last.kind,
            StatementKind::Loop { .. }
                | StatementKind::Var { .. }
                | StatementKind::Hide { .. }
                | StatementKind::Null
        );
        if open || !passes(body, &mut assigned) {
            return;
        }
        let mut beside = Vec::new();
        tails(last, &mut beside);
        beside.extend(&around.after);
        let span = Span { start: body.span.end, ..body.span };
        for piece in self.possible(&assigned, true) {
            let what = format!("`{}` comes after `{}`", piece.text, self.first_line(last.span));
            self.push(Operator::Inserted, span, format!("; {}", piece.text), what, beside.clone());
        }
    }

    /// Conditions that can be asked here: those that the body asks elsewhere, and variables that are conditions.
    fn conditions(&self) -> Vec<String> {
        let Some(pieces) = &self.pieces else { return Vec::new() };
        let readable = |one: &VariableId| self.known.contains(one) && self.visible.contains(one);
        let fitting = pieces.conditions.iter().filter(|piece| piece.reads.iter().all(readable));
        let mut conditions: Vec<String> = fitting.map(|piece| piece.text.clone()).collect();
        for variable in self.variables_of(TypeId::BOOL, None) {
            conditions.extend([variable.clone(), format!("not ({variable})")]);
        }
        for comparison in self.comparisons(pieces) {
            if !conditions.contains(&comparison) {
                conditions.push(comparison);
            }
        }
        conditions
    }

    /// Comparisons of variables with each other, with constants of a small type and with numbers of the body.
    fn comparisons(&self, pieces: &Pieces) -> Vec<String> {
        let mut known: Vec<VariableId> =
            self.known.iter().filter(|one| self.visible.contains(*one)).copied().collect();
        known.sort();
        let mut found = Vec::new();
        for (at, &left) in known.iter().enumerate() {
            let (name, ty) = (&self.scope[left].name, self.scope[left].ty);
            let is_number = matches!(
                self.program[ty].kind,
                TypeKind::Nat { .. } | TypeKind::Int { .. } | TypeKind::Range { .. }
            );
            let constants = if ty == TypeId::BOOL { Vec::new() } else { self.constants_of(ty) };
            if !is_number && constants.is_empty() {
                continue;
            }
            let others = known[at + 1..].iter().filter(|&&other| self.scope[other].ty == ty);
            let mut others: Vec<String> = others.map(|&other| self.scope[other].name.clone()).collect();
            others.extend(constants);
            let literals = pieces.literals.iter().filter(|literal| literal.0 == ty);
            others.extend(literals.map(|literal| literal.1.clone()).take(2));
            let signs: &[&str] = if is_number { &["==", "!=", "<", ">"] } else { &["==", "!="] };
            for other in others {
                found.extend(signs.iter().map(|sign| format!("{name} {sign} {other}")));
            }
        }
        found.truncate(MOST_COMPARISONS);
        found
    }

    /// A condition that asks for something more, or for something else instead.
    pub(super) fn more_conditions(&mut self, condition: &Expression) {
        let text = self.text(condition.span);
        for other in self.conditions().into_iter().filter(|other| other != text).take(MOST_CONDITIONS) {
            for word in ["and", "or"] {
                let longer = format!("({text}) {word} ({other})");
                let what = format!("asks for `{word} {other}`, too");
                self.replace(Operator::GuardAdded, condition.span, longer, &what);
            }
        }
    }

    /// Other conditions in the place of a constant one.
    pub(super) fn other_conditions(&mut self, condition: &Expression) {
        for other in self.conditions() {
            let what = format!("becomes `{other}`");
            self.replace(Operator::GuardAdded, condition.span, other, &what);
        }
    }

    /// A statement that happens only under a condition which its body asks elsewhere.
    fn guarded(&mut self, statement: &Statement) {
        for condition in self.conditions() {
            let text = format!("only if {condition} then {} end if", self.text(statement.span));
            let what = format!("happens only if `{condition}`");
            self.replace(Operator::GuardAdded, statement.span, text, &what);
        }
    }

    /// Another action in the place of one, as a choice.
    fn or_else(&mut self, statement: &Statement, assigned: &Variables) {
        let (_, writes) = touched(statement).unwrap_or_default();
        let own = self.text(statement.span).to_owned();
        if writes.iter().any(|one| !assigned.contains(one)) {
            return;
        }
        for piece in self.possible(assigned, false) {
            if piece.text != own {
                let text = format!("select {own} [] {} end select", piece.text);
                let what = format!(
                    "`{}` can be chosen in the place of `{}`",
                    piece.text,
                    self.short(statement.span)
                );
                self.push(Operator::BranchAdded, statement.span, text, what, Vec::new());
            }
        }
    }

    /// Other ways to end.
    fn other_endings(&mut self, statement: &Statement, assigned: &Variables) {
        let Some(pieces) = &self.pieces else { return };
        let readable = |one: &VariableId| assigned.contains(one) && self.visible.contains(one);
        let endings: Vec<String> = pieces
            .endings
            .iter()
            .filter(|piece| piece.reads.iter().all(readable))
            .map(|piece| piece.text.clone())
            .collect();
        for text in endings {
            let what = format!("becomes `{text}`");
            self.replace(Operator::Continued, statement.span, text, &what);
        }
    }

    /// Simple statements in another order, where mutants don't have it.
    fn orders(&mut self, all: &[Statement], assigned: &Variables) {
        let mut known = assigned.clone();
        for (at, first) in all.iter().enumerate() {
            let mut moved = String::new();
            for (distance, pair) in all[at..].windows(2).take(3).enumerate() {
                let [left, right] = pair else { continue };
                if touched(first).is_none() || touched(right).is_none() || !self.follows(left, right) {
                    break;
                }
                // The first one comes behind the others.
                let between = left.span.end as usize..right.span.start as usize;
                let between = &self.sources.text(left.span.file)[between];
                moved = match distance {
                    0 => format!("{}{between}", self.text(right.span)),
                    _ => format!("{moved}{}{between}", self.text(right.span)),
                };
                let whole = first.span.to(right.span);
                let text = format!("{moved}{}", self.text(first.span));
                let what = format!("`{}` comes after `{}`", self.short(first.span), self.short(right.span));
                self.push(Operator::Order, whole, text, what, Vec::new());
                // The last one comes before the others.
                if distance > 0 {
                    let rest = Span { end: left.span.end, ..first.span };
                    let text = format!("{}{between}{}", self.text(right.span), self.text(rest));
                    let what =
                        format!("`{}` comes before `{}`", self.short(right.span), self.short(first.span));
                    self.push(Operator::Order, whole, text, what, Vec::new());
                }
            }
            passes(first, &mut known);
        }
    }

    /// Calls and compositions that come one after the other, in parallel: apart, or synchronised on the gates that several have.
    fn together(&mut self, all: &[Statement]) {
        let starts = |one: &Statement| {
            matches!(one.kind, StatementKind::Instantiate { .. } | StatementKind::Par { .. })
        };
        let mut rest = all;
        while let Some(first) = rest.iter().position(starts) {
            rest = &rest[first..];
            let goes_on = |pair: &[Statement]| starts(&pair[1]) && self.follows(&pair[0], &pair[1]);
            let count = 1 + rest.windows(2).take_while(|pair| goes_on(pair)).count();
            let (run, others) = rest.split_at(count);
            rest = others;
            let [first, .., last] = run else { continue };
            let mut heads: Vec<Vec<&str>> = vec![Vec::new(); count];
            for &gate in &self.gates {
                let users: Vec<usize> =
                    (0..count).filter(|&at| uses(&run[at], GateRef::Local(gate))).collect();
                if users.len() > 1 {
                    users.iter().for_each(|&at| heads[at].push(&self.scope[gate].name));
                }
            }
            let composed = |heads: &[Vec<&str>]| {
                let branch = |(one, head): (&Statement, &Vec<&str>)| match head.is_empty() {
                    true => self.text(one.span).to_owned(),
                    false => format!("{} -> {}", head.join(", "), self.text(one.span)),
                };
                let branches: Vec<String> = run.iter().zip(heads).map(branch).collect();
                format!("par {} end par", branches.join(" || "))
            };
            let texts = [composed(&vec![Vec::new(); count]), composed(&heads)];
            let (span, short) = (first.span.to(last.span), (self.short(first.span), self.short(last.span)));
            for (text, how) in texts.into_iter().zip(["in parallel", "in parallel, synchronised"]) {
                let what = format!("`{}` … `{}` happen {how}", short.0, short.1);
                self.push(Operator::Parallel, span, text, what, Vec::new());
            }
        }
    }

    fn other_gates(&mut self, action: &Action) {
        let GateRef::Local(own) = action.gate else { return };
        for other in self.gates.clone() {
            if other != own && self.scope[other].channel == self.scope[own].channel {
                let name = self.scope[other].name.clone();
                let what = format!("becomes `{name}`");
                self.replace(Operator::Gate, action.gate_span, name, &what);
            }
        }
    }

    /// Other gates in a call; two gates that change places count as one change. Gates that are called the same inside and
    /// outside are hardly mixed up.
    fn other_call_gates(&mut self, statement: &Statement, process: ProcessId, gates: &[GateRef]) {
        let tokens = self.tokens_between(statement.span.file, statement.span.start, statement.span.end);
        let open = tokens.iter().position(|token| token.kind == TokenKind::BracketOpen);
        let close = tokens.iter().position(|token| token.kind == TokenKind::BracketClose);
        let (Some(open), Some(close)) = (open, close) else { return };
        if open > close {
            return;
        }
        let names: Vec<Span> = tokens[open..close]
            .iter()
            .filter(|token| token.kind == TokenKind::Identifier)
            .map(|token| token.span)
            .collect();
        if names.len() != gates.len() {
            return;
        }
        let channel = |gate: GateRef| match gate {
            GateRef::Local(gate) => Some(self.scope[gate].channel),
            _ => None,
        };
        let called = &self.program[process];
        let is_meant = |at: usize| {
            let formal = called.gates.get(at).map(|&gate| called.scope[gate].name.as_str());
            formal.is_some_and(|formal| formal.eq_ignore_ascii_case(self.text(names[at])))
        };
        let mut found = Vec::new();
        for (at, &gate) in gates.iter().enumerate().filter(|(at, _)| !is_meant(*at)) {
            for &other in &self.gates {
                if GateRef::Local(other) != gate && channel(gate) == channel(GateRef::Local(other)) {
                    let name = self.scope[other].name.clone();
                    found.push((names[at], name.clone(), format!("becomes `{name}`")));
                }
            }
            for (next, &other) in gates.iter().enumerate().skip(at + 1).filter(|(next, _)| !is_meant(*next)) {
                if gate != other && channel(gate).is_some() && channel(gate) == channel(other) {
                    let (first, second) = (names[at], names[next]);
                    let between = Span { start: first.end, end: second.start, ..first };
                    let text = format!("{}{}{}", self.text(second), self.text(between), self.text(first));
                    found.push((first.to(second), text, "changes the order of gates".into()));
                }
            }
        }
        for (span, text, what) in found {
            self.replace(Operator::Gate, span, text, &what);
        }
    }

    /// Arguments of the same type that change places.
    fn other_order(&mut self, arguments: &[Argument]) {
        for (at, left) in arguments.iter().enumerate() {
            for right in &arguments[at + 1..] {
                let (Argument::In(left), Argument::In(right)) = (left, right) else { continue };
                if left.ty != right.ty
                    || left.span.file != right.span.file
                    || left.span.end > right.span.start
                {
                    continue;
                }
                let between = Span { start: left.span.end, end: right.span.start, ..left.span };
                let text = format!("{}{}{}", self.text(right.span), self.text(between), self.text(left.span));
                let what = "changes the order of arguments";
                self.replace(Operator::Value, left.span.to(right.span), text, what);
            }
        }
    }

    /// Other things to receive: into another variable, or only a value that is known; and sent values that are not fixed.
    fn other_patterns(&mut self, action: &Action, assigned: &Variables) {
        for offer in &action.offers {
            match &offer.kind {
                OfferKind::Receive(pattern) => {
                    if matches!(pattern.kind, PatternKind::Wildcard) {
                        for variable in self.variables_among(&self.visible, pattern.ty, None) {
                            let text = format!("?{variable}");
                            let what = format!("becomes `{text}`");
                            self.replace(Operator::Value, offer.span, text, &what);
                        }
                    }
                    let PatternKind::Variable(variable) = pattern.kind else { continue };
                    let others = self.variables_of(pattern.ty, Some(variable));
                    for other in others {
                        let text = format!("?{other}");
                        let what = format!("becomes `{text}`");
                        self.replace(Operator::Value, offer.span, text, &what);
                        if assigned.contains(&variable) {
                            let what = format!("becomes `{other}`");
                            self.replace(Operator::Value, offer.span, other, &what);
                        }
                    }
                    if assigned.contains(&variable) {
                        let name = self.scope[variable].name.clone();
                        let what = format!("becomes `{name}`");
                        self.replace(Operator::Value, offer.span, name, &what);
                    }
                }
                OfferKind::Send(value) => {
                    let text = format!("?any {}", self.program[value.ty].name);
                    self.replace(Operator::Value, offer.span, text, "becomes any value");
                    for other in self.variables_of(value.ty, None) {
                        let text = format!("?{other}");
                        let what = format!("becomes `{text}`");
                        self.replace(Operator::Value, offer.span, text, &what);
                    }
                }
            }
        }
    }

    fn other_pattern(&mut self, pattern: &Pattern) {
        if let PatternKind::Constructor(_, parts) = &pattern.kind
            && parts.is_empty()
        {
            for other in self.constants_of(pattern.ty) {
                let what = format!("becomes `{other}`");
                self.replace(Operator::Value, pattern.span, other, &what);
            }
        }
    }

    /// Variables of a type that have a value and whose names mean them, nearest declarations first.
    fn variables_of(&self, ty: TypeId, but: Option<VariableId>) -> Vec<String> {
        self.variables_among(&self.known, ty, but)
    }

    /// The same of some variables, whether they have a value or not.
    fn variables_among(&self, among: &Variables, ty: TypeId, but: Option<VariableId>) -> Vec<String> {
        let fits = |one: &&VariableId| {
            self.scope[**one].ty == ty && Some(**one) != but && self.visible.contains(*one)
        };
        let mut found: Vec<VariableId> = among.iter().filter(fits).copied().collect();
        found.sort_by_key(|one| (one.0.abs_diff(but.map_or(0, |but| but.0)), one.0));
        found.into_iter().take(MOST_VARIABLES).map(|one| self.scope[one].name.clone()).collect()
    }

    /// The whole value of an assignment or of a function.
    fn other_assigned(&mut self, value: &Expression) {
        let mut others = self.constants_of(value.ty);
        if value.ty == TypeId::BOOL {
            others.push(format!("not ({})", self.text(value.span)));
        }
        if matches!(value.kind, ExpressionKind::Builtin(..) | ExpressionKind::Call { .. }) {
            others.extend(self.variables_of(value.ty, None));
        }
        for other in others {
            let what = format!("becomes `{other}`");
            self.replace(Operator::Value, value.span, other, &what);
        }
    }

    /// Other values of the same type in the place of an expression.
    pub(super) fn other_values(&mut self, expression: &Expression) {
        let Some(pieces) = &self.pieces else { return };
        let written = self.text(expression.span);
        let mut others: Vec<String> = Vec::new();
        match &expression.kind {
            ExpressionKind::Variable(variable) => {
                if !written.eq_ignore_ascii_case(&self.scope[*variable].name) {
                    return;
                }
                others.extend(self.variables_of(expression.ty, Some(*variable)));
                others.extend(self.constants_of(expression.ty));
                if matches!(self.program[expression.ty].kind, TypeKind::Nat { .. } | TypeKind::Int { .. }) {
                    others.extend([format!("({written} + 1)"), format!("({written} - 1)")]);
                }
            }
            ExpressionKind::Literal(Literal::Integer(_)) => {
                let literals = pieces.literals.iter().filter(|literal| literal.0 == expression.ty);
                others.extend(literals.map(|literal| literal.1.clone()).take(6));
                others.extend(self.variables_of(expression.ty, None));
            }
            ExpressionKind::Literal(Literal::Bool(_)) | ExpressionKind::Construct(..)
                if expression.parts().is_empty() =>
            {
                if !self.constants_of(expression.ty).iter().any(|one| written.eq_ignore_ascii_case(one)) {
                    return;
                }
                others.extend(self.constants_of(expression.ty));
                others.extend(self.variables_of(expression.ty, None));
            }
            ExpressionKind::Builtin(builtin, operands) => {
                self.other_operations(expression, *builtin, operands);
                return;
            }
            _ => return,
        }
        for other in others {
            if !other.eq_ignore_ascii_case(written) {
                let what = format!("becomes `{other}`");
                self.replace(Operator::Value, expression.span, other, &what);
            }
        }
    }

    fn other_operations(&mut self, whole: &Expression, builtin: Builtin, operands: &[Expression]) {
        if let (Builtin::Not, [operand]) = (builtin, operands) {
            let text = self.text(operand.span).to_owned();
            self.replace(Operator::Value, whole.span, text, "is not negated");
        }
        let [left, right] = operands else { return };
        let Some(token) = self.operator_between(left, right) else { return };
        let is_number = matches!(left.ty, TypeId::NAT | TypeId::INT | TypeId::REAL);
        let others: &[&str] = match builtin {
            Builtin::Add => &["-"],
            Builtin::Subtract => &["+"],
            Builtin::And | Builtin::AndThen => &["or"],
            Builtin::Or | Builtin::OrElse => &["and"],
            Builtin::Equal | Builtin::NotEqual => &["==", "!="],
            Builtin::Less | Builtin::LessEqual | Builtin::Greater | Builtin::GreaterEqual if is_number => {
                &["==", "!=", "<", "<=", ">", ">="]
            }
            _ => &[],
        };
        // `and then` is two words.
        if matches!(builtin, Builtin::AndThen | Builtin::OrElse)
            && self.tokens_between(token.span.file, token.span.start, right.span.start).len() > 1
        {
            return;
        }
        for other in others {
            self.replace(Operator::Value, token.span, (*other).into(), &format!("becomes `{other}`"));
        }
        if matches!(builtin, Builtin::Add | Builtin::Subtract | Builtin::Multiply) {
            for operand in [left, right].into_iter().filter(|operand| operand.ty == whole.ty) {
                let text = self.text(operand.span).to_owned();
                let what = format!("becomes `{text}`");
                self.replace(Operator::Value, whole.span, text, &what);
            }
        }
    }

    /// Puts gates into synchronisations, and changes how many take part.
    fn more_gates(&mut self, statement: &Statement, synchronised: &[ParGate], branches: &[ParBranch]) {
        let Some(first) = branches.first() else { return };
        let head = self.tokens_between(statement.span.file, statement.span.start, first.span.start);
        let (Some(par), Some(last)) = (head.first(), head.last()) else { return };
        let span = par.span.to(last.span);
        let listed: Vec<String> =
            synchronised.iter().map(|one| self.text(one.span).trim().to_owned()).collect();
        for gate in self.gates.clone() {
            let reference = GateRef::Local(gate);
            let name = self.scope[gate].name.clone();
            let users: Vec<usize> = (0..branches.len())
                .filter(|&at| !self.actions_on(reference, &branches[at..=at]).is_empty())
                .collect();
            if users.len() > 1 && synchronised.iter().all(|one| one.gate != reference) {
                let all: Vec<String> = listed.iter().cloned().chain([name.clone()]).collect();
                let what = format!("`{name}` is synchronised");
                let beside = self.actions_on(reference, branches);
                let text = format!("par {} in", all.join(", "));
                self.push(Operator::SynchronisationAdded, span, text, what, beside);
            }
            for at in users {
                let branch = &branches[at];
                if branch.gates.contains(&reference)
                    || branches.iter().all(|other| !other.gates.contains(&reference))
                {
                    continue;
                }
                let span = Span { end: branch.span.start, ..branch.span };
                let text = match branch.gates.is_empty() {
                    true => format!("{name} -> "),
                    false => format!("{name}, "),
                };
                let what = format!("this branch synchronises on `{name}`");
                let beside = self.actions_on(reference, std::slice::from_ref(branch));
                self.push(Operator::SynchronisationAdded, span, text, what, beside);
            }
        }
        for (at, gate) in synchronised.iter().enumerate() {
            let name = listed[at].split('#').next().unwrap_or_default().trim().to_owned();
            let other = match gate.count {
                Some(_) => name,
                None if branches.len() > 2 => format!("{name}#2"),
                None => continue,
            };
            let mut all = listed.clone();
            let what = format!("`{}` becomes `{other}`", listed[at]);
            all[at] = other;
            let text = format!("par {} in", all.join(", "));
            self.push(Operator::SynchronisationAdded, span, text, what, Vec::new());
        }
    }
}

/// Whether a statement has something on a gate inside.
fn uses(statement: &Statement, gate: GateRef) -> bool {
    match &statement.kind {
        StatementKind::Action(action) => action.gate == gate,
        StatementKind::Instantiate { gates, .. } => gates.contains(&gate),
        _ => inside(statement).into_iter().any(|one| uses(one, gate)),
    }
}
