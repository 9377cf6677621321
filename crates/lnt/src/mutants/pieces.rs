//! The pieces that a body is written with: what is forgotten in one place often stands in another.

use rustc_hash::FxHashSet;
use source::Span;

use super::flow::{Variables, reads_of, touched};
use super::{Writer, inside};
use crate::typed::*;

/// The most pieces of each sort, and with what could be meant besides.
const MOST: usize = 24;
const MOST_MEANT: usize = 60;
/// The most indices of arrays.
const MOST_INDICES: usize = 6;
/// The most branches.
const MOST_BRANCHES: usize = 40;
/// The most characters of a branch.
const LONGEST_BRANCH: usize = 300;

/// A piece of text, and the variables that it reads and writes.
#[derive(Clone)]
pub(super) struct Piece {
    pub(super) text: String,
    pub(super) reads: Variables,
    pub(super) writes: Variables,
}

impl Piece {
    /// One piece and then another.
    fn then(&self, next: &Self) -> Self {
        let mut both = Self { text: format!("{}; {}", self.text, next.text), ..self.clone() };
        both.touch(&next.reads, &next.writes);
        both
    }

    /// It goes on with something that reads and writes variables.
    fn touch(&mut self, reads: &Variables, writes: &Variables) {
        self.reads.extend(reads.difference(&self.writes));
        self.writes.extend(writes);
    }
}

/// What a body is written with, each text once, in the order of the text.
#[derive(Default)]
pub(super) struct Pieces {
    /// Actions, those on gates that the body has and does not use included.
    pub(super) actions: Vec<Piece>,
    pub(super) assignments: Vec<Piece>,
    pub(super) conditions: Vec<Piece>,
    /// Calls of processes, and ways to leave a loop.
    pub(super) endings: Vec<Piece>,
    /// What is done in branches of several statements, and what could be done in one on gates that are not used.
    pub(super) branches: Vec<Piece>,
    /// Constants that are written, with their types.
    pub(super) literals: Vec<(TypeId, String)>,
    /// Indices of arrays, with what they read.
    indices: Vec<(String, Variables)>,
}

impl Writer<'_> {
    /// What a body is written with.
    pub(super) fn pieces_of(&self, body: &Statement) -> Pieces {
        let mut pieces = Pieces::default();
        let mut meant = Vec::new();
        let mut arrays: Vec<(VariableId, TypeId)> = Vec::new();
        let mut used = FxHashSet::default();
        let mut todo = vec![body];
        while let Some(statement) = todo.pop() {
            let touched = touched(statement);
            let piece = || {
                let (reads, writes) = touched.clone().unwrap_or_default();
                Piece { text: self.text(statement.span).to_owned(), reads, writes }
            };
            match &statement.kind {
                StatementKind::Action(action) => {
                    used.insert(action.gate);
                    add(&mut pieces.actions, piece());
                    self.with_other_constants(statement, action, &piece(), &mut pieces);
                    action.guard.iter().for_each(|guard| self.condition(guard, &mut pieces));
                    for offer in &action.offers {
                        if let OfferKind::Send(value) = &offer.kind {
                            self.literals(value, &mut pieces);
                        }
                    }
                }
                StatementKind::Assign { variable, value } => {
                    // A first value may stand in a declaration, without what makes it a statement.
                    let mut piece = piece();
                    piece.text = format!("{} := {}", self.scope[*variable].name, self.text(value.span));
                    add(&mut pieces.assignments, piece);
                    self.literals(value, &mut pieces);
                    self.other_assignments(*variable, value.ty, &mut meant);
                }
                StatementKind::AssignElement { array, index, value } => {
                    add(&mut pieces.assignments, piece());
                    self.literals(index, &mut pieces);
                    self.literals(value, &mut pieces);
                    self.index(index, &mut pieces);
                    if !arrays.contains(&(*array, value.ty)) {
                        arrays.push((*array, value.ty));
                    }
                }
                StatementKind::Call { .. } => add(&mut pieces.assignments, piece()),
                StatementKind::Instantiate { gates, .. } => {
                    used.extend(gates);
                    add(&mut pieces.endings, piece());
                    self.neighbouring_calls(statement, &piece(), &mut pieces);
                }
                StatementKind::Break(_) => add(&mut pieces.endings, piece()),
                StatementKind::If { branches, .. } | StatementKind::OnlyIf { branches, .. } => {
                    branches.iter().for_each(|branch| self.condition(&branch.condition, &mut pieces));
                }
                StatementKind::While { condition, .. } => self.condition(condition, &mut pieces),
                StatementKind::Select(branches) => {
                    branches.iter().for_each(|branch| self.branch(branch, &mut pieces));
                }
                _ => {}
            }
            todo.extend(inside(statement).into_iter().rev());
        }
        for (array, ty) in arrays {
            self.other_elements(array, ty, &pieces, &mut meant);
        }
        meant.into_iter().for_each(|piece| add_up_to(MOST_MEANT, &mut pieces.assignments, piece));
        let known = pieces.actions.len();
        for &gate in &self.gates {
            if !used.contains(&GateRef::Local(gate)) {
                self.actions_of(gate, &mut pieces);
            }
        }
        let unused = pieces.actions[known..].to_vec();
        let next: Vec<Piece> = unused.iter().chain(&pieces.assignments).cloned().collect();
        for first in &unused {
            for second in next.iter().filter(|second| second.text != first.text) {
                add_up_to(MOST_BRANCHES, &mut pieces.branches, first.then(second));
            }
        }
        pieces
    }

    /// A branch of several statements.
    fn branch(&self, branch: &Statement, pieces: &mut Pieces) {
        let StatementKind::Sequence(all) = &branch.kind else { return };
        let text = self.text(branch.span);
        if text.len() > LONGEST_BRANCH || text.contains("--") {
            return;
        }
        let mut whole =
            Piece { text: text.to_owned(), reads: Variables::default(), writes: Variables::default() };
        for (reads, writes) in all.iter().filter_map(touched) {
            whole.touch(&reads, &writes);
        }
        add_up_to(MOST_BRANCHES, &mut pieces.branches, whole);
    }

    /// The variables of a type, by the names that they are declared with.
    fn all_of_type(&self, ty: TypeId) -> impl Iterator<Item = (VariableId, &str)> {
        let all = self.scope.variables.iter().enumerate().filter(move |(_, one)| one.ty == ty);
        all.map(|(at, one)| (VariableId(at as u32), one.name.as_str()))
    }

    /// Each value of a small type; of a number, the next ones; of a list or set, with an element more or less.
    fn other_assignments(&self, variable: VariableId, ty: TypeId, meant: &mut Vec<Piece>) {
        let name = &self.scope[variable].name;
        let only = Variables::from_iter([variable]);
        for other in self.constants_of(ty) {
            let (text, reads) = (format!("{name} := {other}"), Variables::default());
            meant.push(Piece { text, reads, writes: only.clone() });
        }
        if matches!(self.program[ty].kind, TypeKind::Nat { .. } | TypeKind::Int { .. }) {
            for sign in ["+", "-"] {
                let text = format!("{name} := {name} {sign} 1");
                meant.push(Piece { text, reads: only.clone(), writes: only.clone() });
            }
        }
        self.given_values(variable, ty, meant);
        let (element, operations) = match self.program[ty].kind {
            TypeKind::Set { element, .. } => (element, ["insert", "remove"]),
            TypeKind::List { element, .. } => (element, ["append", "cons"]),
            _ => return,
        };
        for (at, other) in self.scope.variables.iter().enumerate().filter(|(_, other)| other.ty == element) {
            for operation in operations {
                let text = format!("{name} := {operation} ({}, {name})", other.name);
                let reads = Variables::from_iter([variable, VariableId(at as u32)]);
                meant.push(Piece { text, reads, writes: only.clone() });
            }
        }
    }

    /// What other variables hold, and what functions of the model make of it.
    fn given_values(&self, variable: VariableId, ty: TypeId, meant: &mut Vec<Piece>) {
        const MOST_WAYS: usize = 4;
        let name = &self.scope[variable].name;
        let writes = Variables::from_iter([variable]);
        for (other, text) in self.all_of_type(ty).filter(|(other, _)| *other != variable).take(MOST_WAYS) {
            let reads = Variables::from_iter([other]);
            meant.push(Piece { text: format!("{name} := {text}"), reads, writes: writes.clone() });
        }
        for function in &self.program.functions {
            let plain = function.gates.is_empty()
                && !function.parameters.is_empty()
                && function.parameters.iter().all(|parameter| parameter.mode == Mode::In)
                && function.name.starts_with(|letter: char| letter.is_alphabetic())
                && !self.sources.is_given(function.extent.file);
            if !plain || function.result != Some(ty) {
                continue;
            }
            let mut ways = vec![(String::new(), Variables::default())];
            for parameter in &function.parameters {
                let wanted = function.scope[parameter.variable].ty;
                let mut longer = Vec::new();
                for (text, reads) in &ways {
                    let comma = if text.is_empty() { "" } else { ", " };
                    for (one, name) in self.all_of_type(wanted) {
                        let mut more = reads.clone();
                        more.insert(one);
                        longer.push((format!("{text}{comma}{name}"), more));
                    }
                }
                longer.truncate(MOST_WAYS);
                ways = longer;
            }
            for (arguments, reads) in ways {
                let text = format!("{name} := {} ({arguments})", function.name);
                meant.push(Piece { text, reads, writes: writes.clone() });
            }
        }
    }

    /// Each value of a small type for the elements of an array, wherever elements are asked for or changed.
    fn other_elements(&self, array: VariableId, ty: TypeId, pieces: &Pieces, meant: &mut Vec<Piece>) {
        const MOST_VALUES: usize = 3;
        let variables = self.all_of_type(ty).take(MOST_VALUES);
        let variables = variables.map(|(variable, name)| (name.to_owned(), Some(variable)));
        let constants = self.constants_of(ty).into_iter().map(|one| (one, None));
        let values: Vec<(String, Option<VariableId>)> = constants.chain(variables).collect();
        for (index, reads) in &pieces.indices {
            for (other, variable) in &values {
                let text = format!("{}[{index}] := {other}", self.scope[array].name);
                let mut reads = reads.clone();
                reads.insert(array);
                reads.extend(variable);
                meant.push(Piece { text, reads, writes: Variables::from_iter([array]) });
            }
        }
    }

    /// An index of an array.
    fn index(&self, index: &Expression, pieces: &mut Pieces) {
        let mut reads = Variables::default();
        reads_of(index, &mut reads);
        let text = self.text(index.span).to_owned();
        if pieces.indices.len() < MOST_INDICES && pieces.indices.iter().all(|one| one.0 != text) {
            pieces.indices.push((text, reads));
        }
    }

    /// Calls with the next number in the place of one that is written: instances are often numbered.
    fn neighbouring_calls(&self, statement: &Statement, piece: &Piece, pieces: &mut Pieces) {
        let StatementKind::Instantiate { arguments, .. } = &statement.kind else { return };
        for argument in arguments {
            let Argument::In(value) = argument else { continue };
            let Ok(number) = self.text(value.span).parse::<u64>() else { continue };
            let before = self.text(Span { end: value.span.start, ..statement.span });
            let behind = self.text(Span { start: value.span.end, ..statement.span });
            for other in [number.checked_add(1), number.checked_sub(1)].into_iter().flatten() {
                let text = format!("{before}{other}{behind}");
                add_up_to(MOST_MEANT, &mut pieces.endings, Piece { text, ..piece.clone() });
            }
        }
    }

    /// An action with another constant in the place of one of its own.
    fn with_other_constants(
        &self,
        statement: &Statement,
        action: &Action,
        piece: &Piece,
        pieces: &mut Pieces,
    ) {
        for offer in &action.offers {
            let OfferKind::Send(value) = &offer.kind else { continue };
            let constants = self.constants_of(value.ty);
            if !constants.iter().any(|one| one.eq_ignore_ascii_case(self.text(value.span))) {
                continue;
            }
            let before = self.text(Span { end: value.span.start, ..statement.span });
            let behind = self.text(Span { start: value.span.end, ..statement.span });
            for other in constants {
                add(&mut pieces.actions, Piece { text: format!("{before}{other}{behind}"), ..piece.clone() });
            }
        }
    }

    /// Actions on a gate: any values, or variables of its types that are sent or take what comes.
    fn actions_of(&self, gate: GateId, pieces: &mut Pieces) {
        const MOST_WAYS: usize = 12;
        let gate = &self.scope[gate];
        for profile in &self.program[gate.channel].profiles {
            let mut ways = vec![(String::new(), Variables::default(), Variables::default())];
            for &ty in profile {
                let variables = self.scope.variables.iter().enumerate();
                let fitting: Vec<(VariableId, &str)> = variables
                    .filter(|(_, variable)| variable.ty == ty)
                    .map(|(at, variable)| (VariableId(at as u32), variable.name.as_str()))
                    .take(3)
                    .collect();
                let mut longer = Vec::new();
                for (text, reads, writes) in &ways {
                    let comma = if text.is_empty() { "" } else { ", " };
                    for &(variable, name) in &fitting {
                        let mut more = reads.clone();
                        more.insert(variable);
                        longer.push((format!("{text}{comma}{name}"), more, writes.clone()));
                        let mut more = writes.clone();
                        more.insert(variable);
                        longer.push((format!("{text}{comma}?{name}"), reads.clone(), more));
                    }
                    let any = format!("{text}{comma}?any {}", self.program[ty].name);
                    longer.push((any, reads.clone(), writes.clone()));
                }
                longer.truncate(MOST_WAYS);
                ways = longer;
            }
            for (offers, reads, writes) in ways {
                let text = match offers.as_str() {
                    "" => gate.name.clone(),
                    offers => format!("{} ({offers})", gate.name),
                };
                add(&mut pieces.actions, Piece { text, reads, writes });
            }
        }
    }

    fn condition(&self, condition: &Expression, pieces: &mut Pieces) {
        let mut reads = Variables::default();
        reads_of(condition, &mut reads);
        let text = self.text(condition.span).to_owned();
        if !reads.is_empty() {
            add(&mut pieces.conditions, Piece { text, reads, writes: Variables::default() });
        }
        self.literals(condition, pieces);
    }

    fn literals(&self, expression: &Expression, pieces: &mut Pieces) {
        if matches!(expression.kind, ExpressionKind::Literal(Literal::Integer(_))) {
            let literal = (expression.ty, self.text(expression.span).to_owned());
            if literal.1.chars().all(|letter| letter.is_ascii_digit()) && !pieces.literals.contains(&literal)
            {
                pieces.literals.push(literal);
            }
        }
        if let ExpressionKind::Element { index, .. } = &expression.kind {
            self.index(index, pieces);
        }
        expression.parts().into_iter().for_each(|part| self.literals(part, pieces));
    }

    /// All values of a type, where they are few and have no parts.
    pub(super) fn constants_of(&self, ty: TypeId) -> Vec<String> {
        const FEW: usize = 6;
        match &self.program[ty].kind {
            TypeKind::Bool => vec!["false".into(), "true".into()],
            TypeKind::Constructed(all) if all.len() <= FEW => {
                let constants = all.iter().map(|&one| &self.program[one]);
                constants.filter(|one| one.fields.is_empty()).map(|one| one.name.clone()).collect()
            }
            _ => Vec::new(),
        }
    }
}

fn add(pieces: &mut Vec<Piece>, piece: Piece) {
    add_up_to(MOST, pieces, piece);
}

fn add_up_to(most: usize, pieces: &mut Vec<Piece>, piece: Piece) {
    if pieces.len() < most && pieces.iter().all(|one| one.text != piece.text) {
        pieces.push(piece);
    }
}
