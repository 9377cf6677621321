//! Expressions: each leaves its value on the stack.

use source::Span;

use super::body::{Body, Place};
use super::code::{Application, FieldPlaces, LocalPart, Op, PackCode, SlotPart};
use super::types::{FieldPlace, Kind, Storage};
use super::{Compiler, Label};
use crate::typed::{
    Builtin, ConstructorId, Expression, ExpressionKind, FieldPosition, Literal, TypeId, TypeKind, VariableId,
};

impl<'p> Compiler<'p> {
    pub(super) fn expression(&mut self, body: &Body<'p>, expression: &'p Expression) {
        self.value_of(body, expression);
        if let Some(&place) = self.watching.get(&expression.span) {
            self.emit(Op::Observe(place), expression.span);
        }
    }

    fn value_of(&mut self, body: &Body<'p>, expression: &'p Expression) {
        let span = expression.span;
        match &expression.kind {
            ExpressionKind::Literal(literal) => {
                let value = self.literal(literal, expression.ty);
                self.emit(Op::Push(value), span);
            }
            ExpressionKind::Variable(variable) => {
                self.load(self.variable(body, *variable), expression.ty, span);
                self.flow_use(body, *variable, span);
            }
            ExpressionKind::Construct(constructor, fields) => {
                self.construct(body, *constructor, fields, expression.ty, span);
            }
            ExpressionKind::Collection(elements)
                if elements.is_empty() && self.types[expression.ty.index()].storage == Storage::Row =>
            {
                let empty = self.values.intern(&[]);
                self.emit(Op::Push(empty), span);
            }
            ExpressionKind::Collection(elements) => {
                self.expressions(body, elements);
                self.emit(Op::Collection(expression.ty, elements.len() as u32), span);
            }
            ExpressionKind::FilledArray(element) => {
                self.expression(body, element);
                self.emit(Op::Fill(expression.ty), span);
            }
            ExpressionKind::Builtin(builtin, operands) => {
                self.builtin(body, *builtin, operands, expression.ty, span);
            }
            ExpressionKind::Call { function, gates, arguments } => {
                self.expressions(body, arguments);
                self.call_function(body, *function, gates, span);
            }
            ExpressionKind::Field { value, positions } => {
                if self.part_of_variable(body, expression) {
                    return;
                }
                self.expression(body, value);
                match positions.as_slice() {
                    [only] if self.types[value.ty.index()].fields.len() == 1 => {
                        self.take_field(value.ty, 0, only.field, span);
                    }
                    _ => {
                        let places = self.field_places(value.ty, positions);
                        self.code.accesses.push((value.ty, places));
                        self.emit(Op::Field(self.code.accesses.len() as u32 - 1), span);
                    }
                }
            }
            ExpressionKind::Update { value, fields } => {
                self.expression(body, value);
                for field in fields {
                    self.expression(body, &field.value);
                }
                let places = fields.iter().map(|field| self.field_places(value.ty, &field.positions));
                let places = places.collect();
                self.code.updates.push((value.ty, places));
                self.emit(Op::Update(self.code.updates.len() as u32 - 1), span);
            }
            ExpressionKind::Element { array, index } => {
                if self.part_of_variable(body, expression) {
                    return;
                }
                self.expression(body, array);
                self.expression(body, index);
                self.index_value(index.ty, span);
                self.emit(Op::Element(array.ty), span);
            }
        }
    }

    fn construct(
        &mut self,
        body: &Body<'p>,
        constructor: ConstructorId,
        fields: &'p [Expression],
        ty: TypeId,
        span: Span,
    ) {
        let ordinal = self.program[constructor].ordinal;
        let several = self.types[ty.index()].fields.len() > 1;
        match self.types[ty.index()].storage {
            Storage::Scalar => self.emit(Op::Push(ordinal), span),
            Storage::Packed => {
                self.expressions(body, fields);
                let shape = &self.types[ty.index()];
                let tag = if several { ordinal << shape.tag_shift } else { 0 };
                let fields = shape.fields[ordinal as usize].iter().map(|place| (place.at, place.mask));
                let fields: Vec<(u32, u32)> = fields.collect();
                if fields.is_empty() {
                    return self.emit(Op::Push(tag), span);
                }
                self.code.packs.push(PackCode { tag, fields });
                self.emit(Op::Pack(self.code.packs.len() as u32 - 1), span);
            }
            Storage::Wide => {
                if several {
                    self.emit(Op::Push(ordinal), span);
                }
                self.expressions(body, fields);
                let shape = &self.types[ty.index()];
                let used: u32 = shape.fields[ordinal as usize].iter().map(|place| place.words).sum();
                let left = shape.words() - used - u32::from(several);
                if left > 0 {
                    self.emit(Op::Pad(left), span);
                }
            }
            Storage::Row => {
                self.expressions(body, fields);
                let words: u32 = fields.iter().map(|field| self.words(field.ty)).sum();
                self.emit(Op::MakeRow(ordinal, words), span);
            }
        }
    }

    /// How many words a value of a type has.
    pub(super) fn words(&self, ty: TypeId) -> u32 {
        self.types[ty.index()].words()
    }

    /// Where a field is for each constructor of a type.
    fn field_places(&self, ty: TypeId, positions: &[FieldPosition]) -> FieldPlaces {
        let mut places = vec![None; self.types[ty.index()].fields.len()];
        for position in positions {
            let ordinal = self.program[position.constructor].ordinal as usize;
            places[ordinal] = Some(self.types[ty.index()].fields[ordinal][position.field as usize]);
        }
        places
    }

    /// Takes a field of a constructor out of the value on top of the stack.
    pub(super) fn take_field(&mut self, ty: TypeId, ordinal: u32, field: u32, span: Span) {
        let shape = &self.types[ty.index()];
        let FieldPlace { at, words, mask } = shape.fields[ordinal as usize][field as usize];
        let op = match shape.storage {
            Storage::Packed => Op::Bits(at, mask),
            Storage::Row if words == 1 => Op::Component(at),
            Storage::Row => Op::Components(at, words),
            Storage::Scalar | Storage::Wide => Op::Slice(shape.words(), at as u16, words as u16),
        };
        self.emit(op, span);
    }

    /// Reads a part of a wide variable where it lies, without copying the whole. Gives whether that was possible.
    fn part_of_variable(&mut self, body: &Body<'p>, expression: &'p Expression) -> bool {
        // From the outside to the variable.
        let mut steps: Vec<&'p Expression> = Vec::new();
        let mut inner = expression;
        let variable = loop {
            let value = match &inner.kind {
                ExpressionKind::Field { value, positions }
                    if positions.len() == 1 && self.types[value.ty.index()].fields.len() == 1 =>
                {
                    value
                }
                ExpressionKind::Element { array, .. } => array,
                ExpressionKind::Variable(variable) => break *variable,
                _ => return false,
            };
            if self.types[value.ty.index()].storage != Storage::Wide
                || self.watching.contains_key(&value.span)
            {
                return false;
            }
            steps.push(inner);
            inner = value;
        };
        let place = self.variable(body, variable);
        if matches!(place, Place::Constant(_)) {
            return false;
        }
        self.flow_use(body, variable, inner.span);
        let (mut from, mut indexed) = (0, false);
        for step in steps.into_iter().rev() {
            match &step.kind {
                ExpressionKind::Field { value, positions } => {
                    from += self.types[value.ty.index()].fields[0][positions[0].field as usize].at;
                }
                ExpressionKind::Element { array, index } => {
                    self.expression(body, index);
                    self.index_value(index.ty, step.span);
                    self.emit(Op::IndexOffset(array.ty), step.span);
                    if indexed {
                        self.emit(Op::AddOffsets, step.span);
                    }
                    indexed = true;
                }
                _ => {}
            }
        }
        let (words, span) = (self.words(expression.ty), expression.span);
        match place {
            Place::Slot(slot) => {
                let whole = (slot, self.words(inner.ty));
                self.code.parts.push(SlotPart { whole, from, words, indexed, array: inner.ty });
                self.emit(Op::LoadPart(self.code.parts.len() as u32 - 1), span);
            }
            Place::Local(local) if indexed => {
                let whole = (local, self.words(inner.ty));
                self.code.local_parts.push(LocalPart { whole, from, words });
                self.emit(Op::LoadLocalsAt(self.code.local_parts.len() as u32 - 1), span);
            }
            Place::Local(local) if words == 1 => self.emit(Op::LoadLocal(local + from), span),
            Place::Local(local) => self.emit(Op::LoadLocals(local + from, words), span),
            Place::Constant(_) => {}
        }
        true
    }

    fn expressions(&mut self, body: &Body<'p>, expressions: &'p [Expression]) {
        for expression in expressions {
            self.expression(body, expression);
        }
    }

    /// Turns an index on the stack into its value modulo 2³², whatever its type counts from.
    pub(super) fn index_value(&mut self, ty: TypeId, span: Span) {
        if let Kind::Number { offset, .. } = self.types[ty.index()].kind
            && offset != 0
        {
            self.emit(Op::Offset(offset as u32), span);
        }
    }

    pub(super) fn variable(&self, body: &Body<'p>, variable: VariableId) -> Place {
        // The checker has shown that every variable is assigned before it is read, so it has a place.
        body.places[variable.index()].unwrap_or(Place::Local(0))
    }

    fn builtin(
        &mut self,
        body: &Body<'p>,
        builtin: Builtin,
        operands: &'p [Expression],
        result: TypeId,
        span: Span,
    ) {
        // CADP's compilers stop at the operand that decides for every one of these, so errors of the other operand
        // are never seen.
        match builtin {
            Builtin::AndThen | Builtin::And => return self.short_circuit(body, 0, 0, operands, span),
            Builtin::OrElse | Builtin::Or => return self.short_circuit(body, 1, 1, operands, span),
            Builtin::Implies => return self.short_circuit(body, 0, 1, operands, span),
            _ => {}
        }
        let operand = operands.first().map_or(result, |operand| operand.ty);
        let second = operands.get(1).map_or(operand, |operand| operand.ty);
        let direct = self.types[operand.index()].ordered;
        let is_number = self.types[operand.index()].storage == Storage::Scalar;
        let same = operand == second;
        // `a > b` is `b < a`.
        let swapped = matches!(builtin, Builtin::Greater | Builtin::GreaterEqual) && direct;
        if swapped {
            self.expression(body, &operands[1]);
            self.expression(body, &operands[0]);
        } else {
            self.expressions(body, operands);
        }
        match builtin {
            Builtin::Equal | Builtin::Iff => self.equal(operand, span),
            Builtin::NotEqual | Builtin::Xor => {
                self.equal(operand, span);
                self.emit(Op::Not, span);
            }
            Builtin::Less | Builtin::Greater if direct => self.emit(Op::Less, span),
            Builtin::LessEqual | Builtin::GreaterEqual if direct => self.emit(Op::LessEqual, span),
            Builtin::Not => self.emit(Op::Not, span),
            Builtin::Add if direct && is_number && same && operand == result => {
                self.emit(Op::Add(result), span)
            }
            Builtin::Subtract if direct && is_number && same && operand == result => {
                self.emit(Op::Subtract(result), span)
            }
            Builtin::Modulo if direct && same && operand == result && self.counts_from_zero(operand) => {
                self.emit(Op::Modulo, span);
            }
            Builtin::IsEmpty => self.emit(Op::IsEmpty(operand), span),
            _ => {
                let words = operands.iter().map(|operand| self.words(operand.ty)).sum();
                let on_parts = builtin.is_on_parts() || self.words(operand) > 1;
                let narrow = self.words(result) == 1;
                let application =
                    Application { operation: builtin, words, on_parts, narrow, operand, second, result };
                let known = self.code.applications.iter().position(|known| *known == application);
                let number = known.unwrap_or_else(|| {
                    self.code.applications.push(application);
                    self.code.applications.len() - 1
                });
                self.emit(Op::Apply(number as u32), span);
            }
        }
        if builtin == Builtin::Convert {
            self.check_predicate(result, span);
        }
    }

    /// Pops two values of a type, pushes whether they are equal.
    pub(super) fn equal(&mut self, ty: TypeId, span: Span) {
        match self.words(ty) {
            1 => self.emit(Op::Equal, span),
            words => self.emit(Op::EqualMany(words), span),
        }
    }

    /// Whether the numbers of a type are represented by themselves.
    fn counts_from_zero(&self, ty: TypeId) -> bool {
        matches!(self.types[ty.index()].kind, Kind::Number { offset: 0, lower: 0, .. })
    }

    /// Checks the condition of a predicate type on the value on top of the stack, and of the types it is based on.
    fn check_predicate(&mut self, ty: TypeId, span: Span) {
        let Some(number) = self.predicate_function(ty) else { return };
        let good = self.new_label();
        match self.words(ty) {
            1 => self.emit(Op::Pick(0), span),
            words => self.emit(Op::PickMany(words - 1, words), span),
        }
        self.emit(Op::Call(number), span);
        self.emit(Op::JumpIfTrue(good.0), span);
        self.fail(
            format!("the value does not satisfy the condition of type {}", self.program[ty].name),
            span,
        );
        self.place(good);
    }

    /// The function that checks a predicate type's condition; the type's representation learns of it.
    pub(super) fn predicate_function(&mut self, ty: TypeId) -> Option<u32> {
        let TypeKind::Predicate { scope, condition, .. } = &self.program[ty].kind else { return None };
        if let Some(&known) = self.predicate_numbers.get(&ty.0) {
            return Some(known);
        }
        let number = self.reserve_function();
        self.predicate_numbers.insert(ty.0, number);
        self.types[ty.index()].predicate = Some(number);
        let around = self.new_label();
        let span = condition.span;
        self.jump(around, span);
        let region = self.region.take();
        let mut body = Body::new(scope, super::body::BodyKind::Function { parameters: &[] });
        body.places[0] = Some(Place::Local(0));
        self.code.functions[number as usize] = super::FunctionCode {
            address: self.code.ops.len() as u32,
            arguments: self.words(ty),
            variables: scope.variables.iter().map(|variable| self.words(variable.ty)).sum(),
            remembered: false,
            table: None,
        };
        self.expression(&body, condition);
        self.emit(Op::Return(1), span);
        self.region = region;
        self.place(around);
        Some(number)
    }

    /// If the first operand is `decides`, the result is `decided`; else it is the second operand.
    fn short_circuit(
        &mut self,
        body: &Body<'p>,
        decides: u32,
        decided: u32,
        operands: &'p [Expression],
        span: Span,
    ) {
        let (early, end): (Label, Label) = (self.new_label(), self.new_label());
        self.expression(body, &operands[0]);
        let jump = if decides == 0 { Op::JumpIfFalse(early.0) } else { Op::JumpIfTrue(early.0) };
        self.emit(jump, span);
        self.expression(body, &operands[1]);
        self.jump(end, span);
        self.place(early);
        self.emit(Op::Push(decided), span);
        self.place(end);
    }

    /// The number that a constant is represented by.
    pub(super) fn literal(&mut self, literal: &Literal, ty: TypeId) -> u32 {
        match (literal, &self.types[ty.index()].kind) {
            (Literal::Bool(value), _) => u32::from(*value),
            (Literal::Integer(value), Kind::Number { offset, .. }) => (value - offset) as u32,
            (Literal::Integer(value), _) => *value as u32,
            (Literal::Char(value), _) => *value as u32,
            (Literal::Real(value), _) => {
                let bits = value.to_bits();
                self.values.intern(&[bits as u32, (bits >> 32) as u32])
            }
            (Literal::String(value), _) => {
                let codes: Vec<u32> = value.chars().map(|character| character as u32).collect();
                self.values.intern(&codes)
            }
        }
    }
}
