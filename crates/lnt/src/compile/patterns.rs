//! Patterns: tests first, then bindings, so that a pattern that fails half-way binds nothing.

use source::Span;

use super::body::Body;
use super::code::Op;
use super::types::Kind;
use super::{Compiler, Label};
use crate::typed::{Pattern, PatternKind};

/// A way from a value to a part of it.
#[derive(Clone, Copy)]
pub(super) enum Part {
    Field(u32),
    Element(u32),
    Head,
    Tail,
}

impl<'p> Compiler<'p> {
    /// Goes to `fail` unless the value `depth` below the top of the stack matches. The stack stays as it is.
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
                self.pick_part(depth, path, span);
                self.emit(Op::Push(value), span);
                self.emit(Op::Equal, span);
                self.emit(Op::JumpIfFalse(fail.0), span);
            }
            PatternKind::Constructor(constructor, fields) => {
                let ordinal = self.program[*constructor].ordinal;
                match &self.types[pattern.ty.index()].kind {
                    Kind::Enumeration(_) => {
                        self.pick_part(depth, path, span);
                        self.emit(Op::Push(ordinal), span);
                        self.emit(Op::Equal, span);
                        self.emit(Op::JumpIfFalse(fail.0), span);
                    }
                    Kind::Constructed(constructors) if constructors.len() > 1 => {
                        self.pick_part(depth, path, span);
                        self.emit(Op::IsConstructor(ordinal), span);
                        self.emit(Op::JumpIfFalse(fail.0), span);
                    }
                    _ => {}
                }
                for (index, field) in fields.iter().enumerate() {
                    path.push(Part::Field(index as u32));
                    self.test_pattern(body, field, depth, path, fail);
                    path.pop();
                }
            }
            PatternKind::Equal(value) => {
                self.pick_part(depth, path, span);
                self.expression(body, value);
                self.emit(Op::Equal, span);
                self.emit(Op::JumpIfFalse(fail.0), span);
            }
            PatternKind::Array(elements) => {
                for (index, element) in elements.iter().enumerate() {
                    path.push(Part::Element(index as u32));
                    self.test_pattern(body, element, depth, path, fail);
                    path.pop();
                }
            }
            PatternKind::Nil => {
                self.pick_part(depth, path, span);
                self.emit(Op::IsEmpty, span);
                self.emit(Op::JumpIfFalse(fail.0), span);
            }
            PatternKind::Cons(head, tail) => {
                self.pick_part(depth, path, span);
                self.emit(Op::IsEmpty, span);
                self.emit(Op::JumpIfTrue(fail.0), span);
                for (part, pattern) in [(Part::Head, head), (Part::Tail, tail)] {
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
                    path.push(Part::Element(index as u32));
                    self.bind_pattern(body, element, depth, path);
                    path.pop();
                }
            }
            PatternKind::Variable(variable) => {
                self.pick_part(depth, path, pattern.span);
                let place = self.place_of(body, *variable);
                self.store(place, pattern.span);
                self.flow_definition(body, *variable, pattern.span);
            }
            PatternKind::As(variable, inner) => {
                self.pick_part(depth, path, pattern.span);
                let place = self.place_of(body, *variable);
                self.store(place, pattern.span);
                self.flow_definition(body, *variable, pattern.span);
                self.bind_pattern(body, inner, depth, path);
            }
            PatternKind::Constructor(_, fields) => {
                for (index, field) in fields.iter().enumerate() {
                    path.push(Part::Field(index as u32));
                    self.bind_pattern(body, field, depth, path);
                    path.pop();
                }
            }
            PatternKind::Cons(head, tail) => {
                for (part, pattern) in [(Part::Head, head), (Part::Tail, tail)] {
                    path.push(part);
                    self.bind_pattern(body, pattern, depth, path);
                    path.pop();
                }
            }
        }
    }

    /// Pushes a part of the value `depth` below the top.
    fn pick_part(&mut self, depth: u32, path: &[Part], span: Span) {
        self.emit(Op::Pick(depth), span);
        for part in path {
            let op = match part {
                Part::Field(index) => Op::Component(index + 1),
                Part::Element(index) => Op::Component(*index),
                Part::Head => Op::Head,
                Part::Tail => Op::Tail,
            };
            self.emit(op, span);
        }
    }
}
