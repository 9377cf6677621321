//! Code without what is known before it runs: arithmetic on constants, branches that go one way only, and blocks that just follow
//! each other.
//!
//! Translation puts code together from pieces without asking what they are given; most of what it writes for an action with
//! fixed values is known. Cranelift finds that out, too, but carries branches and blocks through all of its passes: making
//! machine code takes time in proportion to what it starts with.

use cranelift_codegen::Context;
use cranelift_codegen::cursor::{Cursor, FuncCursor};
use cranelift_codegen::entity::SecondaryMap;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    Block, BlockArg, Function, Inst, InstBuilder, InstructionData, Opcode, Type, Value, ValueDef,
};
use cranelift_codegen::isa::TargetIsa;

/// Simplifies a function that is about to be compiled; nothing if Cranelift finds fault with it.
pub(super) fn simplify(context: &mut Context, isa: &dyn TargetIsa) -> Option<()> {
    // What comes together behind branches that are gone may be constant, and decide more of them.
    for _ in 0..2 {
        if !fold(&mut context.func) {
            break;
        }
        context.flowgraph();
        context.eliminate_unreachable_code(isa).ok()?;
        context.remove_constant_phis(isa).ok()?;
    }
    fold(&mut context.func);
    context.flowgraph();
    context.eliminate_unreachable_code(isa).ok()?;
    join_blocks(&mut context.func);
    Some(())
}

/// Replaces what is known by constants. Gives whether a branch goes one way only since.
fn fold(function: &mut Function) -> bool {
    let mut branches = false;
    let mut cursor = FuncCursor::new(function);
    while cursor.next_block().is_some() {
        while let Some(inst) = cursor.next_inst() {
            match outcome(cursor.func, inst) {
                Outcome::Open => {}
                Outcome::Constant(value) => {
                    let ty = result_type(cursor.func, inst);
                    cursor.func.dfg.replace(inst).iconst(ty, value as i64);
                }
                Outcome::Same(value) => {
                    let result = cursor.func.dfg.first_result(inst);
                    cursor.func.dfg.clear_results(inst);
                    cursor.func.dfg.change_to_alias(result, value);
                    cursor.remove_inst_and_step_back();
                }
                Outcome::Jump(way) => {
                    if let InstructionData::Brif { blocks, .. } = cursor.func.dfg.insts[inst] {
                        let destination = blocks[way];
                        cursor.func.dfg.insts[inst] =
                            InstructionData::Jump { opcode: Opcode::Jump, destination };
                        branches = true;
                    }
                }
            }
        }
    }
    branches
}

/// What is known of an instruction.
enum Outcome {
    Open,
    Constant(u64),
    Same(Value),
    /// It goes this one of two ways.
    Jump(usize),
}

fn outcome(function: &Function, inst: Inst) -> Outcome {
    let known = |value: Value| constant(function, value);
    let folded = match function.dfg.insts[inst] {
        InstructionData::BinaryImm64 { opcode, arg, imm } => {
            let ty = result_type(function, inst);
            let imm = imm.bits() as u64 & mask(ty);
            let same = match opcode {
                Opcode::IaddImm | Opcode::BorImm | Opcode::BxorImm => imm == 0,
                Opcode::IshlImm | Opcode::UshrImm | Opcode::SshrImm => imm == 0,
                Opcode::BandImm => imm == mask(ty),
                Opcode::ImulImm => imm == 1,
                _ => false,
            };
            if same {
                return Outcome::Same(arg);
            }
            known(arg).and_then(|arg| calculated(opcode, ty, arg, imm))
        }
        InstructionData::Binary { opcode, args: [a, b] } => {
            let ty = result_type(function, inst);
            match (opcode, known(a), known(b)) {
                (Opcode::Iadd | Opcode::Bor | Opcode::Bxor, Some(0), _) => return Outcome::Same(b),
                (
                    Opcode::Iadd | Opcode::Isub | Opcode::Bor | Opcode::Bxor | Opcode::Ishl | Opcode::Ushr,
                    _,
                    Some(0),
                ) => return Outcome::Same(a),
                (_, Some(a), Some(b)) => calculated(opcode, ty, a, b),
                _ => None,
            }
        }
        InstructionData::IntCompare { cond, args: [a, b], .. } => {
            let ty = function.dfg.value_type(a);
            known(a).zip(known(b)).map(|(a, b)| u64::from(compared(cond, ty, a, b)))
        }
        InstructionData::IntCompareImm { cond, arg, imm, .. } => {
            let ty = function.dfg.value_type(arg);
            known(arg).map(|arg| u64::from(compared(cond, ty, arg, imm.bits() as u64 & mask(ty))))
        }
        InstructionData::Unary { opcode: Opcode::Uextend | Opcode::Ireduce, arg } => {
            known(arg).map(|arg| arg & mask(result_type(function, inst)))
        }
        InstructionData::Ternary { opcode: Opcode::Select, args: [condition, yes, no] } => {
            match known(condition) {
                Some(condition) => return Outcome::Same(if condition != 0 { yes } else { no }),
                None => None,
            }
        }
        InstructionData::Brif { arg, .. } => match known(arg) {
            Some(condition) => return Outcome::Jump(usize::from(condition == 0)),
            None => None,
        },
        _ => None,
    };
    folded.map_or(Outcome::Open, Outcome::Constant)
}

/// The bits of a constant.
fn constant(function: &Function, value: Value) -> Option<u64> {
    let value = function.dfg.resolve_aliases(value);
    let ValueDef::Result(inst, 0) = function.dfg.value_def(value) else { return None };
    match function.dfg.insts[inst] {
        InstructionData::UnaryImm { opcode: Opcode::Iconst, imm } => {
            Some(imm.bits() as u64 & mask(function.dfg.value_type(value)))
        }
        _ => None,
    }
}

fn result_type(function: &Function, inst: Inst) -> Type {
    function.dfg.value_type(function.dfg.first_result(inst))
}

/// The bits that numbers of a type have.
fn mask(ty: Type) -> u64 {
    u64::MAX >> (u64::BITS - ty.bits().clamp(1, u64::BITS))
}

/// A number with its sign.
fn signed(ty: Type, bits: u64) -> i64 {
    let unused = u64::BITS - ty.bits().clamp(1, u64::BITS);
    (bits << unused) as i64 >> unused
}

/// What an operation gives, if it is one of those that code is full of.
fn calculated(opcode: Opcode, ty: Type, a: u64, b: u64) -> Option<u64> {
    // Shifts count modulo the width.
    let places = b & u64::from(ty.bits() - 1);
    let result = match opcode {
        Opcode::Iadd | Opcode::IaddImm => a.wrapping_add(b),
        Opcode::Isub => a.wrapping_sub(b),
        Opcode::Imul | Opcode::ImulImm => a.wrapping_mul(b),
        Opcode::Band | Opcode::BandImm => a & b,
        Opcode::BandNot => a & !b,
        Opcode::Bor | Opcode::BorImm => a | b,
        Opcode::Bxor | Opcode::BxorImm => a ^ b,
        Opcode::Ishl | Opcode::IshlImm => a << places,
        Opcode::Ushr | Opcode::UshrImm => a >> places,
        Opcode::Sshr | Opcode::SshrImm => (signed(ty, a) >> places) as u64,
        Opcode::Umin => a.min(b),
        Opcode::Umax => a.max(b),
        _ => return None,
    };
    Some(result & mask(ty))
}

fn compared(condition: IntCC, ty: Type, a: u64, b: u64) -> bool {
    let (signed_a, signed_b) = (signed(ty, a), signed(ty, b));
    match condition {
        IntCC::Equal => a == b,
        IntCC::NotEqual => a != b,
        IntCC::UnsignedLessThan => a < b,
        IntCC::UnsignedLessThanOrEqual => a <= b,
        IntCC::UnsignedGreaterThan => a > b,
        IntCC::UnsignedGreaterThanOrEqual => a >= b,
        IntCC::SignedLessThan => signed_a < signed_b,
        IntCC::SignedLessThanOrEqual => signed_a <= signed_b,
        IntCC::SignedGreaterThan => signed_a > signed_b,
        IntCC::SignedGreaterThanOrEqual => signed_a >= signed_b,
    }
}

/// Makes one block of two, where nothing else leads to the second.
fn join_blocks(function: &mut Function) {
    let mut incoming: SecondaryMap<Block, u32> = SecondaryMap::new();
    let blocks: Vec<Block> = function.layout.blocks().collect();
    for &block in &blocks {
        let Some(last) = function.layout.last_inst(block) else { continue };
        for call in function.dfg.insts[last]
            .branch_destination(&function.dfg.jump_tables, &function.dfg.exception_tables)
        {
            incoming[call.block(&function.dfg.value_lists)] += 1;
        }
    }
    let entry = function.layout.entry_block();
    for block in blocks {
        // Others may have been put behind this one before.
        while let Some((last, next, arguments)) = only_way(function, block)
            && incoming[next] == 1
            && next != block
            && Some(next) != entry
        {
            let parameters = function.dfg.detach_block_params(next);
            let parameters = parameters.as_slice(&function.dfg.value_lists).to_vec();
            for (parameter, argument) in parameters.into_iter().zip(arguments) {
                function.dfg.change_to_alias(parameter, argument);
            }
            function.layout.remove_inst(last);
            while let Some(inst) = function.layout.first_inst(next) {
                function.layout.remove_inst(inst);
                function.layout.append_inst(inst, block);
            }
            function.layout.remove_block(next);
        }
    }
}

/// The jump that a block ends with, where it leads, and what it gives; nothing for blocks that are gone.
fn only_way(function: &Function, block: Block) -> Option<(Inst, Block, Vec<Value>)> {
    if !function.layout.is_block_inserted(block) {
        return None;
    }
    let last = function.layout.last_inst(block)?;
    let InstructionData::Jump { destination, .. } = function.dfg.insts[last] else { return None };
    let lists = &function.dfg.value_lists;
    let arguments: Option<Vec<Value>> = destination
        .args(lists)
        .map(|argument| match argument {
            BlockArg::Value(value) => Some(value),
            _ => None,
        })
        .collect();
    Some((last, destination.block(lists), arguments?))
}
