//! Patterns: tests first, then bindings, so that a pattern that fails half-way binds nothing.

use source::Span;

use super::body::Body;
use super::code::Op;
use super::types::{ElementShape, Kind, Storage, mask_of};
use super::{Compiler, Label};
use crate::typed::{Pattern, PatternKind, TypeId};

/// A way from a value of a type to a part of it.
#[derive(Clone, Copy)]
pub(super) enum Part {
    /// A field of a constructor, both by position.
    Field(TypeId, u32, u32),
    Element(TypeId, u32),
    Head(TypeId),
    Tail(TypeId),
}

impl<'p> Compiler<'p> {
    /// Goes to `fail` unless the value matches whose first word lies `depth` words below the top of the stack. The stack
    /// stays as it is.
    pub(super) fn test_pattern(
        &mut self,
        body: &Body<'p>,
        pattern: &'p Pattern,
        depth: u32,
        path: &mut Vec<Part>,
        fail: Label,
    ) {
        let span = pattern.span;
        match &pattern.kind {
            PatternKind::Variable(_) | PatternKind::Wildcard => {}
            PatternKind::As(_, inner) => self.test_pattern(body, inner, depth, path, fail),
            PatternKind::Literal(literal) => {
                let value = self.literal(literal, pattern.ty);
                self.pick_part(depth, path, pattern.ty, span);
                self.emit(Op::Push(value), span);
                self.emit(Op::Equal, span);
                self.emit(Op::JumpIfFalse(fail.0), span);
            }
            PatternKind::Constructor(constructor, fields) => {
                let ordinal = self.program[*constructor].ordinal;
                let shape = &self.types[pattern.ty.index()];
                let tag = match (&shape.kind, shape.storage) {
                    (Kind::Enumeration(_), _) => Some((None, ordinal)),
                    (Kind::Constructed(constructors), _) if constructors.len() == 1 => None,
                    (_, Storage::Packed) => {
                        let tag = Op::Bits(shape.tag_shift, u32::MAX >> shape.tag_shift);
                        Some((Some(tag), ordinal))
                    }
                    (_, Storage::Row) => Some((Some(Op::Component(0)), ordinal)),
                    (_, _) => Some((Some(Op::Slice(shape.words(), 0, 1)), ordinal)),
                };
                if let Some((tag, ordinal)) = tag {
                    self.pick_part(depth, path, pattern.ty, span);
                    tag.into_iter().for_each(|tag| self.emit(tag, span));
                    self.emit(Op::Push(ordinal), span);
                    self.emit(Op::Equal, span);
                    self.emit(Op::JumpIfFalse(fail.0), span);
                }
                for (index, field) in fields.iter().enumerate() {
                    path.push(Part::Field(pattern.ty, ordinal, index as u32));
                    self.test_pattern(body, field, depth, path, fail);
                    path.pop();
                }
            }
            PatternKind::Equal(value) => {
                self.pick_part(depth, path, pattern.ty, span);
                self.expression(body, value);
                self.equal(pattern.ty, span);
                self.emit(Op::JumpIfFalse(fail.0), span);
            }
            PatternKind::Array(elements) => {
                for (index, element) in elements.iter().enumerate() {
                    path.push(Part::Element(pattern.ty, index as u32));
                    self.test_pattern(body, element, depth, path, fail);
                    path.pop();
                }
            }
            PatternKind::Nil => {
                self.pick_part(depth, path, pattern.ty, span);
                self.emit(Op::IsEmpty(pattern.ty), span);
                self.emit(Op::JumpIfFalse(fail.0), span);
            }
            PatternKind::Cons(head, tail) => {
                self.pick_part(depth, path, pattern.ty, span);
                self.emit(Op::IsEmpty(pattern.ty), span);
                self.emit(Op::JumpIfTrue(fail.0), span);
                for (part, pattern) in [(Part::Head(pattern.ty), head), (Part::Tail(pattern.ty), tail)] {
                    path.push(part);
                    self.test_pattern(body, pattern, depth, path, fail);
                    path.pop();
                }
            }
        }
    }

    /// Stores the parts of a value that matches into the pattern's variables. The stack stays as it is.
    pub(super) fn bind_pattern(
        &mut self,
        body: &mut Body<'p>,
        pattern: &Pattern,
        depth: u32,
        path: &mut Vec<Part>,
    ) {
        match &pattern.kind {
            PatternKind::Wildcard | PatternKind::Literal(_) | PatternKind::Nil | PatternKind::Equal(_) => {}
            PatternKind::Array(elements) => {
                for (index, element) in elements.iter().enumerate() {
                    path.push(Part::Element(pattern.ty, index as u32));
                    self.bind_pattern(body, element, depth, path);
                    path.pop();
                }
            }
            PatternKind::Variable(variable) => {
                self.pick_part(depth, path, pattern.ty, pattern.span);
                let place = self.place_of(body, *variable);
                self.store(place, pattern.ty, pattern.span);
                self.flow_definition(body, *variable, pattern.span);
            }
            PatternKind::As(variable, inner) => {
                self.pick_part(depth, path, pattern.ty, pattern.span);
                let place = self.place_of(body, *variable);
                self.store(place, pattern.ty, pattern.span);
                self.flow_definition(body, *variable, pattern.span);
                self.bind_pattern(body, inner, depth, path);
            }
            PatternKind::Constructor(constructor, fields) => {
                let ordinal = self.program[*constructor].ordinal;
                for (index, field) in fields.iter().enumerate() {
                    path.push(Part::Field(pattern.ty, ordinal, index as u32));
                    self.bind_pattern(body, field, depth, path);
                    path.pop();
                }
            }
            PatternKind::Cons(head, tail) => {
                for (part, pattern) in [(Part::Head(pattern.ty), head), (Part::Tail(pattern.ty), tail)] {
                    path.push(part);
                    self.bind_pattern(body, pattern, depth, path);
                    path.pop();
                }
            }
        }
    }

    /// Pushes a part, of a type, of the value whose first word lies `depth` words below the top.
    fn pick_part(&mut self, depth: u32, path: &[Part], ty: TypeId, span: Span) {
        // Parts of wide values lie on the stack already.
        let mut from = 0;
        let mut inside = path.iter().take_while(|part| {
            let (Part::Field(whole, ..) | Part::Element(whole, _) | Part::Head(whole) | Part::Tail(whole)) =
                part;
            self.types[whole.index()].storage == Storage::Wide
        });
        let mut taken = 0;
        for part in inside.by_ref() {
            from += match *part {
                Part::Field(whole, ordinal, field) => {
                    self.types[whole.index()].fields[ordinal as usize][field as usize].at
                }
                Part::Element(whole, index) => index * self.types[whole.index()].element.words,
                Part::Head(_) | Part::Tail(_) => 0,
            };
            taken += 1;
        }
        let words = match path.get(taken) {
            // What is not wide has one word.
            Some(_) => 1,
            None => self.words(ty),
        };
        match words {
            1 => self.emit(Op::Pick(depth - from), span),
            words => self.emit(Op::PickMany(depth - from, words), span),
        }
        for part in &path[taken..] {
            match *part {
                Part::Field(whole, ordinal, field) => self.take_field(whole, ordinal, field, span),
                Part::Element(whole, index) => self.take_element(whole, index, span),
                Part::Head(list) => self.emit(Op::Head(list), span),
                Part::Tail(list) => self.emit(Op::Tail(list), span),
            }
        }
    }

    /// Takes an element, counted from 0, out of the array on top of the stack.
    fn take_element(&mut self, array: TypeId, index: u32, span: Span) {
        let shape = &self.types[array.index()];
        let ElementShape { words, bits, length, .. } = shape.element;
        let op = match shape.storage {
            Storage::Packed => Op::Bits((length - 1 - index) * bits, mask_of(bits)),
            Storage::Row if words == 1 => Op::Component(index),
            Storage::Row => Op::Components(index * words, words),
            Storage::Scalar | Storage::Wide => Op::Slice(shape.words(), (index * words) as u16, words as u16),
        };
        self.emit(op, span);
    }
}
