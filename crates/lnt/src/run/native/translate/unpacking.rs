//! Unpacking a state as one function without loops: how many bits each slot has, and where, is known.

use cranelift_codegen::ir::{Function, InstBuilder, Value, types};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use model::Layout;

use super::{offset, trusted};

/// More slots than this are unpacked in a loop.
pub(super) const MOST_SLOTS: usize = 512;

/// Builds the function: from a packed state to two copies of it, unpacked.
pub(super) fn build(
    layout: &Layout,
    function: &mut Function,
    building: &mut FunctionBuilderContext,
) -> Option<()> {
    let mut builder = FunctionBuilder::new(function, building);
    let entry = builder.create_block();
    builder.append_block_params_for_function_params(entry);
    builder.switch_to_block(entry);
    let parameters: Vec<Value> = builder.block_params(entry).to_vec();
    let [packed, state, copy] = parameters[..] else { return None };
    let mut loaded: Option<(u32, Value)> = None;
    for slot in 0..layout.width() {
        let (word, shift, mask) = layout.place(slot);
        let bits = match loaded {
            Some((of_word, bits)) if of_word == word => bits,
            _ => builder.ins().load(types::I32, trusted(), packed, offset(word)),
        };
        loaded = Some((word, bits));
        let shifted = builder.ins().ushr_imm(bits, i64::from(shift));
        let value = builder.ins().band_imm(shifted, i64::from(mask));
        for state in [state, copy] {
            builder.ins().store(trusted(), value, state, offset(slot as u32));
        }
    }
    let done = builder.ins().iconst(types::I32, 0);
    builder.ins().return_(&[done]);
    builder.seal_all_blocks();
    builder.finalize();
    Some(())
}
