//! The pieces that a body is written with: what is forgotten in one place often stands in another.

use rustc_hash::FxHashSet;
use source::Span;

use super::flow::{Variables, reads_of, touched};
use super::{Writer, inside};
use crate::typed::*;

/// The most pieces of each sort.
const MOST: usize = 24;

/// A piece of text, and the variables that it reads and writes.
#[derive(Clone)]
pub(super) struct Piece {
    pub(super) text: String,
    pub(super) reads: Variables,
    pub(super) writes: Variables,
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
    /// Constants that are written, with their types.
    pub(super) literals: Vec<(TypeId, String)>,
}

impl Writer<'_> {
    /// What a body is written with.
    pub(super) fn pieces_of(&self, body: &Statement) -> Pieces {
        let mut pieces = Pieces::default();
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
                    self.other_assignments(*variable, value.ty, &mut pieces);
                }
                StatementKind::AssignElement { index, value, .. } => {
                    add(&mut pieces.assignments, piece());
                    self.literals(index, &mut pieces);
                    self.literals(value, &mut pieces);
                }
                StatementKind::Call { .. } => add(&mut pieces.assignments, piece()),
                StatementKind::Instantiate { gates, .. } => {
                    used.extend(gates);
                    add(&mut pieces.endings, piece());
                }
                StatementKind::Break(_) => add(&mut pieces.endings, piece()),
                StatementKind::If { branches, .. } | StatementKind::OnlyIf { branches, .. } => {
                    branches.iter().for_each(|branch| self.condition(&branch.condition, &mut pieces));
                }
                StatementKind::While { condition, .. } => self.condition(condition, &mut pieces),
                _ => {}
            }
            todo.extend(inside(statement).into_iter().rev());
        }
        for &gate in &self.gates {
            if !used.contains(&GateRef::Local(gate)) {
                self.actions_of(gate, &mut pieces);
            }
        }
        pieces
    }

    /// Each value of a small type; of a number, the next ones.
    fn other_assignments(&self, variable: VariableId, ty: TypeId, pieces: &mut Pieces) {
        let name = &self.scope[variable].name;
        let only = Variables::from_iter([variable]);
        for other in self.constants_of(ty) {
            let (text, reads) = (format!("{name} := {other}"), Variables::default());
            add(&mut pieces.assignments, Piece { text, reads, writes: only.clone() });
        }
        if matches!(self.program[ty].kind, TypeKind::Nat { .. } | TypeKind::Int { .. }) {
            for sign in ["+", "-"] {
                let text = format!("{name} := {name} {sign} 1");
                add(&mut pieces.assignments, Piece { text, reads: only.clone(), writes: only.clone() });
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
    if pieces.len() < MOST && pieces.iter().all(|one| one.text != piece.text) {
        pieces.push(piece);
    }
}
