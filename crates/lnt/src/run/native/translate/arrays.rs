//! Arrays on the stack: their elements are taken, or replaced by others, by an index that is known only when code runs.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};

use super::{Building, number_of, offset, slot, trusted};
use crate::compile::code::Application;
use crate::compile::types::{Kind, Storage, mask_of};
use crate::typed::TypeId;

/// Of no more elements one is picked by comparisons: more are put into memory.
const FEW_ELEMENTS: usize = 8;

impl Building<'_> {
    /// Replaces an element of an array, if that is an array of a fixed size.
    pub(super) fn stores(&mut self, application: &Application) -> Option<bool> {
        let shape = &self.compiled.types[application.operand.index()];
        let Kind::Array { lower, length, element } = shape.kind else { return Some(false) };
        let index_type = number_of(&self.compiled.types[application.second.index()]);
        let (Some((.., index_offset)), Storage::Packed | Storage::Wide) = (index_type, shape.storage) else {
            return Some(false);
        };
        let value = self.pop_many(self.compiled.types[element.index()].words())?;
        let index = self.pop()?;
        let array = self.pop_many(shape.words())?;
        let number = self.number(index, index_offset);
        let position = self.builder.ins().iadd_imm(number, -lower);
        let length = i64::try_from(length).ok()?;
        let inside = self.builder.ins().icmp_imm(IntCC::UnsignedLessThan, position, length);
        self.require(inside);
        let position = self.builder.ins().ireduce(types::I32, position);
        let changed = self.with_element(application.operand, array, position, &value)?;
        self.stack.extend(changed);
        Some(true)
    }

    /// The words of an array with another element at a position, counted from 0 and inside.
    pub(super) fn with_element(
        &mut self,
        ty: TypeId,
        array: Vec<Value>,
        position: Value,
        value: &[Value],
    ) -> Option<Vec<Value>> {
        let shape = &self.compiled.types[ty.index()];
        if shape.storage == Storage::Packed {
            let (shift, bits) = self.packed_shift(ty, position);
            let mask = self.word(mask_of(bits));
            let mask = self.builder.ins().ishl(mask, shift);
            let others = self.builder.ins().band_not(*array.first()?, mask);
            let element = self.builder.ins().ishl(*value.first()?, shift);
            return Some(vec![self.builder.ins().bor(others, element)]);
        }
        let words = value.len();
        if array.len() > FEW_ELEMENTS * words {
            let memory = slot(&mut self.builder, 4 * array.len() as u32);
            for (word, &old) in array.iter().enumerate() {
                self.builder.ins().stack_store(old, memory, offset(word as u32));
            }
            let start = self.builder.ins().stack_addr(self.pointer, memory, 0);
            let first = self.builder.ins().imul_imm(position, words as i64);
            let address = self.element_address(start, first);
            for (word, &new) in value.iter().enumerate() {
                self.builder.ins().store(trusted(), new, address, offset(word as u32));
            }
            let changed = (0..array.len() as u32)
                .map(|word| self.builder.ins().stack_load(types::I32, memory, offset(word)));
            return Some(changed.collect());
        }
        let mut changed = Vec::with_capacity(array.len());
        for (at, element) in array.chunks_exact(words).enumerate() {
            let is_meant = self.builder.ins().icmp_imm(IntCC::Equal, position, at as i64);
            for (&old, &new) in element.iter().zip(value) {
                changed.push(self.builder.ins().select(is_meant, new, old));
            }
        }
        Some(changed)
    }

    /// The element of a wide array at a position, counted from 0 and inside.
    pub(super) fn element_of(&mut self, ty: TypeId, array: &[Value], position: Value) -> Option<Vec<Value>> {
        let words = self.compiled.types[ty.index()].element.words as usize;
        if array.len() > FEW_ELEMENTS * words {
            let memory = slot(&mut self.builder, 4 * array.len() as u32);
            for (word, &value) in array.iter().enumerate() {
                self.builder.ins().stack_store(value, memory, offset(word as u32));
            }
            let start = self.builder.ins().stack_addr(self.pointer, memory, 0);
            let first = self.builder.ins().imul_imm(position, words as i64);
            let address = self.element_address(start, first);
            let element = (0..words as u32)
                .map(|word| self.builder.ins().load(types::I32, trusted(), address, offset(word)));
            return Some(element.collect());
        }
        let mut elements = array.chunks_exact(words).enumerate();
        let mut found = elements.next()?.1.to_vec();
        for (at, element) in elements {
            let is_meant = self.builder.ins().icmp_imm(IntCC::Equal, position, at as i64);
            for (found, &word) in found.iter_mut().zip(element) {
                *found = self.builder.ins().select(is_meant, word, *found);
            }
        }
        Some(found)
    }
}
