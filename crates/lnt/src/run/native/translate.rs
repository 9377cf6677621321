//! From instructions to Cranelift's intermediate language.
//!
//! A piece of code is all that can be reached from its start up to where it ends. How deep the stack is at an
//! instruction is always the same, so that every place of the stack is a variable of the function being built, and so is
//! every word of its own variables; arrays that are indexed lie in memory.

mod arrays;
mod calls;
mod copies;
mod meeting;
mod rows;
mod simplify;
mod unpacking;

use std::sync::Mutex;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    AbiParam, Block, FuncRef, InstBuilder, MemFlags, Signature, StackSlot, StackSlotData, StackSlotKind,
    Type, UserFuncName, Value, types,
};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Variable};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module, default_libcall_names};
use rustc_hash::{FxHashMap, FxHashSet};

use calls::{Back, Locals, Memory};
use copies::Copies;
use meeting::Meeting;
pub use meeting::Opening;
use model::Layout;
use rows::is_row;
use simplify::simplify;

use super::{
    BLOCKED, Chosen, Context, DONE, GAVE_UP, MOST_STACK, MOST_WORDS, MeetingPiece, Native, Piece,
    unpacking_code,
};
use crate::compile::Compiled;
use crate::compile::code::{Application, Code, Landing, OfferCode, Op};
use crate::compile::types::{Kind, Representation, Storage, mask_of};
use crate::run::rendezvous::{Configuration, silent, silent_in_function};
use crate::typed::{Builtin, TypeId};

/// Programs of more instructions than this, counted for each piece, are translated only in part.
const MOST_OPS: usize = 60_000;

/// What is translated.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Start {
    /// A function, by number.
    Function(u32),
    /// Code that runs on a state from an address, with words on the stack.
    At(u32, u32),
    /// A rendezvous, by number.
    Meeting(u32),
    /// What is looked at before any rendezvous, by the number of the scout.
    Scout(u32),
}

/// Translates a program: its functions, and the rendezvous of a configuration if there is one, else all pieces of code.
/// Code that is run a few times only is better made quickly.
pub(super) fn translate(
    compiled: &Compiled,
    layout: &Layout,
    chosen: Option<Chosen<'_>>,
    quickly: bool,
) -> Option<Native> {
    let configuration = chosen.map(|chosen| chosen.configuration);
    let mut flags = settings::builder();
    for (name, value) in [
        ("opt_level", if quickly { "none" } else { "speed" }),
        ("regalloc_algorithm", if quickly { "single_pass" } else { "backtracking" }),
        ("enable_alias_analysis", "false"),
        ("is_pic", "false"),
        ("enable_probestack", "false"),
        ("use_colocated_libcalls", "false"),
        ("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }),
    ] {
        flags.set(name, value).ok()?;
    }
    let isa = cranelift_native::builder().ok()?.finish(settings::Flags::new(flags)).ok()?;
    let mut builder = JITBuilder::with_isa(isa, default_libcall_names());
    builder.symbol("help", super::help as *const u8);
    builder.symbol("component", super::component as *const u8);
    builder.symbol("row_length", super::row_length as *const u8);
    builder.symbol("row_tail", super::row_tail as *const u8);
    builder.symbol("row_cons", super::row_cons as *const u8);
    builder.symbol("row_cons_wide", super::row_cons_wide as *const u8);
    builder.symbol("row_concatenate", super::row_concatenate as *const u8);
    builder.symbol("row_reverse", super::row_reverse as *const u8);
    builder.symbol("row_ascending", super::row_ascending as *const u8);
    builder.symbol("settle", super::settle as *const u8);
    builder.symbol("defer", super::defer as *const u8);
    builder.symbol("row_append", super::row_append as *const u8);
    builder.symbol("row_member", super::row_member as *const u8);
    builder.symbol("row_member_anywhere", super::row_member_anywhere as *const u8);
    builder.symbol("change_rows", super::change_rows as *const u8);
    builder.symbol("collect_row", super::collect_row as *const u8);
    builder.symbol("row_member_wide", super::row_member_wide as *const u8);
    builder.symbol("row_insert", super::row_insert as *const u8);
    builder.symbol("row_remove", super::row_remove as *const u8);
    builder.symbol("apply", super::apply as *const u8);
    builder.symbol("mark", super::mark as *const u8);
    builder.symbol("remember", super::remember as *const u8);
    builder.symbol("thaw", super::thaw as *const u8);
    builder.symbol("freeze", super::freeze as *const u8);
    builder.symbol("repeat_marks", super::repeat_marks as *const u8);
    let mut module = JITModule::new(builder);
    let pointer = module.target_config().pointer_type();
    let word = types::I32;
    let mut import = |name: &str, parameters: &[Type], result: Option<Type>| {
        let mut signature = module.make_signature();
        signature.params.extend(parameters.iter().map(|&ty| AbiParam::new(ty)));
        signature.returns.extend(result.map(AbiParam::new));
        module.declare_function(name, Linkage::Import, &signature).ok()
    };
    let helpers = Helpers {
        help: import("help", &[pointer, word, pointer, word, word], Some(word))?,
        component: import("component", &[pointer, word, word], Some(word))?,
        row_length: import("row_length", &[pointer, word], Some(word))?,
        row_tail: import("row_tail", &[pointer, word, word, word], Some(word))?,
        row_cons: import("row_cons", &[pointer, word, word, word], Some(word))?,
        row_cons_wide: import("row_cons_wide", &[pointer, pointer, word, word, word], Some(word))?,
        row_append: import("row_append", &[pointer, word, word, word], Some(word))?,
        row_member: import("row_member", &[pointer, word, word], Some(word))?,
        row_member_anywhere: import("row_member_anywhere", &[pointer, pointer, word, word], Some(word))?,
        change_rows: import("change_rows", &[pointer, word, pointer, word, word], Some(word))?,
        collect_row: import("collect_row", &[pointer, word, pointer, word, word], Some(word))?,
        row_member_wide: import("row_member_wide", &[pointer, pointer, word, word], Some(word))?,
        row_insert: import("row_insert", &[pointer, pointer, word, word, word], Some(word))?,
        row_remove: import("row_remove", &[pointer, pointer, word, word, word], Some(word))?,
        row_concatenate: import("row_concatenate", &[pointer, word, word, word], Some(word))?,
        row_reverse: import("row_reverse", &[pointer, word, word, word], Some(word))?,
        row_ascending: import("row_ascending", &[pointer, word, word], Some(word))?,
        settle: import("settle", &[pointer, word], Some(word))?,
        defer: import("defer", &[pointer, word, word], Some(word))?,
        apply: import("apply", &[pointer, word, pointer, word], Some(word))?,
        mark: import("mark", &[pointer, word], None)?,
        remember: import("remember", &[pointer, word, pointer, word, word], None)?,
        thaw: import("thaw", &[pointer, word, word, pointer, word], None)?,
        freeze: import("freeze", &[pointer, pointer, word], Some(word))?,
        repeat_marks: import("repeat_marks", &[pointer, word, word], Some(word))?,
    };
    let signature_of = |parameters: &[Type]| {
        let mut signature = module.make_signature();
        signature.params.extend(parameters.iter().map(|&ty| AbiParam::new(ty)));
        signature.returns.push(AbiParam::new(word));
        signature
    };
    let signature = signature_of(&[pointer; 3]);
    let meeting_signature = signature_of(&[pointer, pointer, pointer, pointer, pointer, pointer, word]);

    let code = &compiled.code;
    let outlines = outlines(compiled, chosen);
    let mut translator = Translator {
        compiled,
        layout,
        configuration,
        quickly,
        module,
        helpers,
        pointer,
        signature,
        meeting_signature,
        outlines,
    };
    translator.declare()?;
    let mut context = translator.module.make_context();
    let mut building = FunctionBuilderContext::new();
    let (mut functions, mut pieces, mut meetings) = (Vec::new(), Vec::new(), Vec::new());
    // Of functions, only those are needed for rendezvous that are not built into what calls them.
    let first = if chosen.is_some() { code.functions.len() } else { 0 };
    let mut todo: Vec<usize> = (first..translator.outlines.len()).rev().collect();
    let mut is_called = vec![chosen.is_none(); code.functions.len()];
    while let Some(number) = todo.pop() {
        let outline = &translator.outlines[number];
        let Some(id) = outline.id else { continue };
        let start = outline.start;
        context.func.signature = translator.signature_of(start).clone();
        context.func.name = UserFuncName::user(0, number as u32);
        let built = translator.build(number, &mut context.func, &mut building);
        let frame: usize = context.func.sized_stack_slots.values().map(|slot| slot.size as usize).sum();
        let Some(built) = built.filter(|_| frame <= MOST_STACK) else {
            // States in which it is possible are left to offers.
            if matches!(start, Start::Meeting(_) | Start::Scout(_)) {
                translator.module.clear_context(&mut context);
                building = FunctionBuilderContext::new();
                continue;
            }
            return None;
        };
        for &called in &built.called {
            if !std::mem::replace(&mut is_called[called as usize], true) {
                todo.push(called as usize);
            }
        }
        simplify(&mut context, translator.module.isa())?;
        translator.module.define_function(id, &mut context).ok()?;
        translator.module.clear_context(&mut context);
        match start {
            Start::Function(function) => functions.push((function, id, built)),
            Start::At(address, _) => pieces.push((address, id, built)),
            Start::Meeting(_) | Start::Scout(_) => meetings.push((start, id, built.opening)),
        }
    }
    let unpack = match chosen {
        Some(_) if layout.width() <= unpacking::MOST_SLOTS => {
            let id =
                translator.module.declare_function("unpack", Linkage::Local, &translator.signature).ok()?;
            context.func.signature = translator.signature.clone();
            unpacking::build(layout, &mut context.func, &mut building)?;
            translator.module.define_function(id, &mut context).ok()?;
            translator.module.clear_context(&mut context);
            Some(id)
        }
        _ => None,
    };
    translator.module.finalize_definitions().ok()?;
    let module = translator.module;
    let piece = |id: FuncId, built: &Built| {
        let pointer = module.get_finalized_function(id);
        Piece::new(pointer, built.inputs, built.outputs, built.writes)
    };
    let mut native = Native {
        starts: vec![0; code.ops.len() + 1],
        pieces: Vec::new(),
        functions: vec![None; code.functions.len()],
        meetings: vec![None; configuration.map_or(0, |one| one.rendezvous.len())],
        scouts: vec![None; configuration.map_or(0, |one| one.scouts.len())],
        fixed: Vec::new(),
        unpack: unpack.map(|id| unpacking_code(module.get_finalized_function(id))),
        width: code.slot_bits.len(),
        words: layout.words(),
        module: Mutex::new(None),
        _before: None,
    };
    for (start, id, opening) in meetings {
        let code = module.get_finalized_function(id);
        match (start, configuration) {
            (Start::Meeting(number), Some(configuration)) => {
                let one = &configuration.rendezvous[number as usize];
                let marked = compiled.code.tells();
                let told = if marked { 2 } else { 0 } + one.chosen(&compiled.code);
                native.meetings[number as usize] =
                    Some(MeetingPiece::new(code, opening, layout.words() + told, marked));
            }
            (Start::Scout(number), _) => {
                native.scouts[number as usize] = Some(MeetingPiece::new(code, opening, 0, false));
            }
            _ => {}
        }
    }
    for (function, id, built) in &functions {
        native.functions[*function as usize] = Some(piece(*id, built));
    }
    for (address, id, built) in &pieces {
        native.pieces.push(piece(*id, built));
        native.starts[*address as usize] = native.pieces.len() as u32;
    }
    native.module = Mutex::new(Some(module));
    native.list_fixed();
    Some(native)
}

/// What is known of a piece before it is built.
struct Outline {
    start: Start,
    /// The functions that it calls.
    calls: Vec<u32>,
    /// The most words that the interpreter gets or gives.
    helped: u32,
    /// Whether it can be translated; then its name in the module.
    id: Option<FuncId>,
    translatable: bool,
    /// Whether a call of it takes long, so that results are worth remembering.
    takes_long: bool,
    /// How many instructions it has, and how many calls of it there are in all that is translated.
    size: usize,
    called: usize,
    /// Whether a function calls itself more than once on its way: then what it computes has to be remembered.
    branches: bool,
    /// Whether it may leave by an exception parameter.
    raises: bool,
}

/// All pieces, functions first and in order.
fn outlines(compiled: &Compiled, chosen: Option<Chosen<'_>>) -> Vec<Outline> {
    let code = &compiled.code;
    let configuration = chosen.map(|chosen| chosen.configuration);
    let mut starts: Vec<Start> = (0..code.functions.len() as u32).map(Start::Function).collect();
    match chosen {
        Some(Chosen { configuration, which }) => {
            let meetings = (0..configuration.rendezvous.len() as u32).map(Start::Meeting);
            let scouts = (0..configuration.scouts.len() as u32).map(Start::Scout);
            starts.extend(meetings.chain(scouts).zip(which).filter(|one| *one.1).map(|one| one.0));
        }
        None => starts.extend(pieces(compiled)),
    }
    let mut left = MOST_OPS;
    let outline = |start: Start| {
        let reached: Vec<usize> = match (start, configuration) {
            (Start::Function(number), _) => {
                reached_in_function(code, code.functions[number as usize].address)
            }
            (Start::At(address, _), _) => reached(code, address),
            (Start::Meeting(number), Some(configuration)) => {
                meeting::reached_by(code, &configuration.rendezvous[number as usize].participants, false)
            }
            (Start::Scout(number), Some(configuration)) => {
                let ways = &configuration.scouts[number as usize].ways;
                meeting::reached_by(code, ways, true)
            }
            (Start::Meeting(_) | Start::Scout(_), None) => Vec::new(),
        };
        let calls: Vec<u32> = reached
            .iter()
            .filter_map(|&at| match code.ops[at] {
                Op::Call(number) => Some(number),
                _ => None,
            })
            .collect();
        let helped = reached.iter().map(|&at| words(compiled, code.ops[at])).map(|(a, b)| a.max(b)).max();
        let helped = helped.unwrap_or(0);
        // Native code uses the stack of its thread.
        let frame = match start {
            Start::Function(number) => code.functions[number as usize].variables + helped,
            _ => helped,
        };
        // Code that rests at once has nothing to gain.
        let trivial = matches!(start, Start::At(..)) && reached.len() <= 1;
        let translatable = !trivial
            && frame <= MOST_WORDS as u32
            && reached.len() <= left
            && reached.iter().all(|&at| can_translate(compiled, at));
        if translatable {
            left -= reached.len();
        }
        let takes_long = reached.iter().any(|&at| match code.ops[at] {
            Op::Jump(target) => target as usize <= at,
            op => is_helped(compiled, op),
        });
        let size = reached.len();
        let branches = matches!(start, Start::Function(number) if calls_itself_again(code, number, &reached));
        let raises = reached.iter().any(|&at| match code.ops[at] {
            Op::Raise(_) => true,
            Op::Landings(number) => {
                code.landings[number as usize].iter().any(|one| matches!(one, Landing::PassedOn(_)))
            }
            _ => false,
        });
        Outline {
            start,
            calls,
            helped,
            id: None,
            translatable,
            takes_long,
            size,
            called: 0,
            branches,
            raises,
        }
    };
    let mut outlines: Vec<Outline> = starts.into_iter().map(outline).collect();
    note_long_calls(&mut outlines);
    if chosen.is_some() {
        leave_unused(&mut outlines, code.functions.len());
    }
    // What calls a function that stays with the interpreter stays there too.
    loop {
        let lost: Vec<usize> = (0..outlines.len())
            .filter(|&at| outlines[at].translatable)
            .filter(|&at| outlines[at].calls.iter().any(|&called| !outlines[called as usize].translatable))
            .collect();
        if lost.is_empty() {
            count_calls(&mut outlines);
            return outlines;
        }
        lost.into_iter().for_each(|at| outlines[at].translatable = false);
    }
}

/// Notes how often each function is called.
fn count_calls(outlines: &mut [Outline]) {
    let calls: Vec<u32> = outlines
        .iter()
        .filter(|outline| outline.translatable)
        .flat_map(|outline| outline.calls.iter().copied())
        .collect();
    calls.into_iter().for_each(|function| outlines[function as usize].called += 1);
}

/// Calls of functions that take long take long, and so does what may call itself.
fn note_long_calls(outlines: &mut [Outline]) {
    // In how many rounds it was found out that a function takes no time of its own: the others call each other.
    let mut is_short = vec![false; outlines.len()];
    loop {
        let found: Vec<usize> = (0..outlines.len())
            .filter(|&at| !is_short[at] && !outlines[at].takes_long)
            .filter(|&at| outlines[at].calls.iter().all(|&called| is_short[called as usize]))
            .collect();
        if found.is_empty() {
            break;
        }
        found.into_iter().for_each(|at| is_short[at] = true);
    }
    for (outline, is_short) in outlines.iter_mut().zip(is_short) {
        outline.takes_long = !is_short;
    }
}

/// Whether a function may call itself after it has called itself.
fn calls_itself_again(code: &Code, number: u32, reached_ops: &[usize]) -> bool {
    let calls = |at: &usize| code.ops[*at] == Op::Call(number);
    let mut after =
        reached_ops.iter().filter(|at| calls(at)).map(|&at| reached_in_function(code, at as u32 + 1));
    after.any(|after| after.iter().any(calls))
}

/// Leaves functions out that nothing calls which is translated.
fn leave_unused(outlines: &mut [Outline], functions: usize) {
    let mut used = vec![false; functions];
    let mut todo: Vec<u32> = outlines[functions..].iter().flat_map(|outline| outline.calls.clone()).collect();
    while let Some(function) = todo.pop() {
        if !std::mem::replace(&mut used[function as usize], true) {
            todo.extend_from_slice(&outlines[function as usize].calls);
        }
    }
    for (outline, used) in outlines.iter_mut().zip(used) {
        outline.translatable &= used;
    }
}

/// Where pieces of code start that run on a state.
fn pieces(compiled: &Compiled) -> Vec<Start> {
    let code = &compiled.code;
    let mut starts = Vec::new();
    for action in &code.actions {
        starts.extend(action.guard.map(|address| Start::At(address, 0)));
        for &(offer, ty) in &action.offers {
            match offer {
                OfferCode::Computed(address) => starts.push(Start::At(address, 0)),
                OfferCode::Pattern { address, .. } => {
                    starts.push(Start::At(address, compiled.types[ty.index()].words()));
                }
                _ => {}
            }
        }
    }
    for (at, op) in code.ops.iter().enumerate() {
        match *op {
            Op::Act(_) | Op::AnyValue(..) => starts.push(Start::At(at as u32 + 1, 0)),
            Op::Choice(choice) => {
                starts.extend(code.choices[choice as usize].iter().map(|&target| Start::At(target, 0)));
            }
            _ => {}
        }
    }
    let mut seen: FxHashMap<u32, ()> = FxHashMap::default();
    starts.retain(|start| match start {
        Start::At(address, _) => seen.insert(*address, ()).is_none(),
        _ => true,
    });
    starts
}

/// The addresses of the instructions that a piece consists of.
fn reached(code: &Code, start: u32) -> Vec<usize> {
    silent(code, start).into_iter().map(|at| at as usize).collect()
}

/// The same of a function, with the code that catches exceptions.
fn reached_in_function(code: &Code, start: u32) -> Vec<usize> {
    silent_in_function(code, start).into_iter().map(|at| at as usize).collect()
}

/// The most words that an exception is raised with.
fn most_raised(code: &Code) -> u32 {
    code.raises.iter().map(|raise| raise.values.1).max().unwrap_or(0)
}

fn can_translate(compiled: &Compiled, at: usize) -> bool {
    match compiled.code.ops[at] {
        Op::Fire(_) | Op::FireOutcome(_) | Op::Observe(_) | Op::Record(..) => false,
        Op::IndexOffset(ty) | Op::StoreLocalElement(_, ty) | Op::Element(ty) | Op::ChangeElement(ty) => {
            let (inputs, outputs) = words(compiled, compiled.code.ops[at]);
            inputs.max(outputs) as usize <= MOST_WORDS && has_small_bounds(&compiled.types[ty.index()])
        }
        Op::StoreElement(part) => {
            let array = compiled.code.parts[part as usize].array;
            has_small_bounds(&compiled.types[array.index()])
        }
        op => {
            let (inputs, outputs) = words(compiled, op);
            inputs.max(outputs) as usize <= MOST_WORDS
        }
    }
}

fn has_small_bounds(shape: &Representation) -> bool {
    let Kind::Array { lower, length, .. } = shape.kind else { return false };
    i32::try_from(lower).is_ok()
        && i64::try_from(length).is_ok_and(|length| lower + length <= i64::from(i32::MAX))
}

/// How many words an instruction takes from the stack and leaves there, for those that are carried out by the
/// interpreter.
fn words(compiled: &Compiled, op: Op) -> (u32, u32) {
    let of = |ty: TypeId| compiled.types[ty.index()].words();
    let element = |ty: TypeId| compiled.types[ty.index()].element.words;
    match op {
        Op::Apply(number) => {
            let application = &compiled.code.applications[number as usize];
            (application.words, of(application.result))
        }
        Op::MakeRow(_, words) => (words, 1),
        Op::Components(_, words) => (1, words),
        Op::Field(number) => {
            let (ty, places) = &compiled.code.accesses[number as usize];
            (of(*ty), places.iter().flatten().next().map_or(1, |place| place.words))
        }
        Op::Update(number) => {
            let (ty, fields) = &compiled.code.updates[number as usize];
            let new =
                fields.iter().map(|places| places.iter().flatten().next().map_or(1, |place| place.words));
            (of(*ty) + new.sum::<u32>(), of(*ty))
        }
        Op::Collection(ty, count) => (count * element(ty), of(ty)),
        Op::Fill(ty) => (element(ty), of(ty)),
        Op::Element(ty) => (of(ty) + 1, element(ty)),
        Op::ChangeElement(ty) => (of(ty) + 1 + element(ty), of(ty)),
        Op::IsEmpty(_) | Op::Tail(_) => (1, 1),
        Op::Head(ty) => (1, element(ty)),
        _ => (0, 0),
    }
}

/// Whether the interpreter carries out an instruction.
fn is_helped(compiled: &Compiled, op: Op) -> bool {
    match op {
        Op::Apply(number) => !is_simple(&compiled.types, &compiled.code.applications[number as usize]),
        Op::MakeRow(..) | Op::Components(..) | Op::Update(_) | Op::Tail(_) => true,
        Op::Field(number) => {
            let (ty, _) = &compiled.code.accesses[number as usize];
            compiled.types[ty.index()].storage == Storage::Row
        }
        Op::Collection(ty, _) => compiled.types[ty.index()].storage == Storage::Row,
        _ => false,
    }
}

fn number_of(shape: &Representation) -> Option<(i64, i64, i64)> {
    match shape.kind {
        Kind::Number { lower, upper, offset, .. } => Some((lower, upper, offset)),
        _ => None,
    }
}

/// The bounds of a type whose values stand for numbers, and what the word 0 stands for.
fn scalar_of(shape: &Representation) -> Option<(i64, i64, i64)> {
    match shape.kind {
        Kind::Bool => Some((0, 1, 0)),
        Kind::Char { lower, upper } => Some((i64::from(lower), i64::from(upper), 0)),
        Kind::Enumeration(ref constructors) => Some((0, constructors.len() as i64 - 1, 0)),
        _ => number_of(shape),
    }
}

fn is_mask(shape: &Representation) -> bool {
    shape.storage == Storage::Packed && matches!(shape.kind, Kind::List { sorted: true, .. })
}

/// Whether an operation takes a few machine instructions.
fn is_simple(types: &[Representation], application: &Application) -> bool {
    let shape = |ty: TypeId| &types[ty.index()];
    let (operand, second, result) =
        (shape(application.operand), shape(application.second), shape(application.result));
    let numbers = number_of(operand).is_some() && number_of(result).is_some();
    match application.operation {
        Builtin::Multiply | Builtin::Divide | Builtin::Modulo | Builtin::Remainder => {
            numbers && number_of(second).is_some()
        }
        Builtin::Add | Builtin::Subtract => numbers && number_of(second).is_some(),
        Builtin::Convert | Builtin::Successor | Builtin::Predecessor | Builtin::Ordinal | Builtin::Value => {
            scalar_of(operand).is_some() && scalar_of(result).is_some()
        }
        Builtin::Minimum | Builtin::Maximum => operand.ordered && application.operand == application.second,
        Builtin::Cons | Builtin::Insert | Builtin::Append | Builtin::Remove | Builtin::Member => {
            is_mask(second) && operand.words() == 1
        }
        Builtin::Union | Builtin::Intersection | Builtin::Difference | Builtin::Subset => {
            is_mask(operand) && is_mask(second)
        }
        Builtin::Length => is_mask(operand) && number_of(result).is_some(),
        _ => false,
    }
}

struct Helpers {
    help: FuncId,
    component: FuncId,
    row_length: FuncId,
    row_tail: FuncId,
    row_cons: FuncId,
    row_cons_wide: FuncId,
    row_concatenate: FuncId,
    row_reverse: FuncId,
    row_ascending: FuncId,
    settle: FuncId,
    defer: FuncId,
    row_append: FuncId,
    row_member: FuncId,
    row_member_anywhere: FuncId,
    change_rows: FuncId,
    collect_row: FuncId,
    row_member_wide: FuncId,
    row_insert: FuncId,
    row_remove: FuncId,
    apply: FuncId,
    mark: FuncId,
    remember: FuncId,
    thaw: FuncId,
    freeze: FuncId,
    repeat_marks: FuncId,
}

struct Translator<'c> {
    compiled: &'c Compiled,
    layout: &'c Layout,
    configuration: Option<&'c Configuration>,
    /// Whether code should be made soon rather than well.
    quickly: bool,
    module: JITModule,
    helpers: Helpers,
    pointer: Type,
    signature: Signature,
    meeting_signature: Signature,
    outlines: Vec<Outline>,
}

/// What is known of a piece once it is built.
struct Built {
    inputs: u32,
    outputs: u32,
    writes: bool,
    /// The functions that it calls.
    called: Vec<u32>,
    /// The values that a rendezvous leaves open.
    opening: Opening,
}

impl Translator<'_> {
    fn signature_of(&self, start: Start) -> &Signature {
        match start {
            Start::Meeting(_) | Start::Scout(_) => &self.meeting_signature,
            Start::Function(_) | Start::At(..) => &self.signature,
        }
    }

    fn declare(&mut self) -> Option<()> {
        for number in 0..self.outlines.len() {
            if self.outlines[number].translatable {
                let name = format!("piece{number}");
                let signature = self.signature_of(self.outlines[number].start).clone();
                let id = self.module.declare_function(&name, Linkage::Local, &signature).ok()?;
                self.outlines[number].id = Some(id);
            }
        }
        Some(())
    }

    fn build(
        &mut self,
        number: usize,
        function: &mut cranelift_codegen::ir::Function,
        building: &mut FunctionBuilderContext,
    ) -> Option<Built> {
        let start = self.outlines[number].start;
        let code = &self.compiled.code;
        let (address, inputs, variables) = match start {
            Start::Function(number) => {
                let function = code.functions[number as usize];
                (function.address, function.arguments, function.variables)
            }
            Start::At(address, inputs) => (address, inputs, 0),
            Start::Meeting(_) | Start::Scout(_) => return self.build_meeting(number, function, building),
        };
        if inputs as usize > MOST_WORDS || variables as usize > 4 * MOST_WORDS {
            return None;
        }
        let mut builder = FunctionBuilder::new(function, building);
        let entry = builder.create_block();
        builder.append_block_params_for_function_params(entry);
        builder.switch_to_block(entry);
        let parameters: Vec<Value> = builder.block_params(entry).to_vec();
        let [context, state, io] = parameters[..] else { return None };
        let gives_up = builder.create_block();
        let mut body = Building {
            compiled: self.compiled,
            module: &mut self.module,
            outlines: &self.outlines,
            helpers: &self.helpers,
            references: FxHashMap::default(),
            builder,
            pointer: self.pointer,
            context,
            state,
            io,
            gives_up,
            locals: Locals::default(),
            origins: FxHashMap::default(),
            copies: Copies::default(),
            drafts: FxHashSet::default(),
            called: Vec::new(),
            inlined: Vec::new(),
            inlined_ops: 0,
            inlined_words: 0,
            back: None,
            places: Vec::new(),
            stack: Vec::new(),
            spill: None,
            helped: self.outlines[number].helped,
            blocks: FxHashMap::default(),
            todo: Vec::new(),
            outputs: None,
            writes: false,
            meeting: None,
        };
        if let Start::Function(number) = start {
            let arguments: Vec<Value> = (0..inputs).map(|word| body.load_io(word)).collect();
            for (word, &argument) in (0..).zip(&arguments) {
                body.origins.insert(argument, (Memory::Arguments, word));
                if code.row_words[number as usize].variables.get(word as usize) == Some(&true) {
                    body.drafts.insert(argument);
                }
            }
            body.locals = body.locals_of(number, &arguments, None)?;
        }
        if let Start::At(..) = start {
            for word in 0..inputs {
                let value = body.load_io(word);
                body.stack.push(value);
            }
        }
        body.code_from(address as usize)?;
        body.builder.switch_to_block(gives_up);
        let status = body.constant(GAVE_UP);
        body.builder.ins().return_(&[status]);
        body.builder.seal_all_blocks();
        let (outputs, writes, called) = (body.outputs.unwrap_or(0), body.writes, body.called);
        body.builder.finalize();
        Some(Built { inputs, outputs, writes, called, opening: Opening::default() })
    }
}

fn slot(builder: &mut FunctionBuilder<'_>, bytes: u32) -> StackSlot {
    builder.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, 3))
}

/// A piece while it is built.
struct Building<'b> {
    compiled: &'b Compiled,
    module: &'b mut JITModule,
    outlines: &'b [Outline],
    helpers: &'b Helpers,
    references: FxHashMap<FuncId, FuncRef>,
    builder: FunctionBuilder<'b>,
    pointer: Type,
    context: Value,
    state: Value,
    io: Value,
    gives_up: Block,
    /// The variables of the function at hand.
    locals: Locals,
    /// Where values were loaded from that stays as it is as long as they are used.
    origins: FxHashMap<Value, (Memory, u32)>,
    /// Which values lie in stack slots.
    copies: Copies,
    /// The values that may be drafts of rows.
    drafts: FxHashSet<Value>,
    /// The functions that are called.
    called: Vec<u32>,
    /// The functions that the one at hand is built into, itself included; how many instructions were built in, and how many
    /// words of variables.
    inlined: Vec<u32>,
    inlined_ops: usize,
    inlined_words: usize,
    /// Where a function that is built into another one goes back to.
    back: Option<Back>,
    /// The places of the stack, between blocks and within one.
    places: Vec<Variable>,
    stack: Vec<Value>,
    /// Where words lie that helpers work on, and how many have room there.
    spill: Option<(StackSlot, u32)>,
    helped: u32,
    blocks: FxHashMap<usize, Entry>,
    todo: Vec<(usize, usize)>,
    outputs: Option<u32>,
    writes: bool,
    /// What is needed besides, if it is a rendezvous.
    meeting: Option<Meeting<'b>>,
}

/// A block, and what is known where it begins.
struct Entry {
    block: Block,
    /// For each place of the stack, whether it may be a draft.
    drafts: Vec<bool>,
    /// Whether it is built or being built: then it takes no more drafts.
    built: bool,
}

/// Every access stays inside of what it accesses.
fn trusted() -> MemFlags {
    MemFlags::trusted()
}

impl<'b> Building<'b> {
    /// All code that can be reached from an address.
    fn code_from(&mut self, address: usize) -> Option<()> {
        if self.back.is_none()
            && let Some(meeting) = &mut self.meeting
        {
            meeting.runs(&self.compiled.code, address as u32);
            // The same instructions may be run again for another purpose, and lead elsewhere then: a loop that brings control
            // to an action goes on behind it.
            self.blocks.clear();
        }
        self.go_to(address)?;
        while let Some((at, depth)) = self.todo.pop() {
            self.block(at, depth)?;
        }
        Some(())
    }

    fn constant(&mut self, value: i32) -> Value {
        self.builder.ins().iconst(types::I32, i64::from(value as u32))
    }

    fn word(&mut self, value: u32) -> Value {
        self.constant(value as i32)
    }

    fn load_io(&mut self, word: u32) -> Value {
        self.builder.ins().load(types::I32, trusted(), self.io, offset(word))
    }

    /// Pops a word that is no draft.
    fn pop(&mut self) -> Option<Value> {
        let value = self.stack.pop()?;
        Some(self.settled(value))
    }

    /// Pops words that are no drafts.
    fn pop_many(&mut self, words: u32) -> Option<Vec<Value>> {
        let mut values = self.pop_drafts(words)?;
        for value in &mut values {
            *value = self.settled(*value);
        }
        Some(values)
    }

    /// Pops a word that may be a draft.
    fn pop_draft(&mut self) -> Option<Value> {
        self.stack.pop()
    }

    /// Pops words that may be drafts.
    fn pop_drafts(&mut self, words: u32) -> Option<Vec<Value>> {
        let first = self.stack.len().checked_sub(words as usize)?;
        Some(self.stack.split_off(first))
    }

    /// The same row, among the others if it was a draft.
    fn settled(&mut self, value: Value) -> Value {
        if !self.drafts.contains(&value) {
            return value;
        }
        let row = self.builder.declare_var(types::I32);
        self.builder.def_var(row, value);
        let (settle, behind) = (self.builder.create_block(), self.builder.create_block());
        let is_draft = self.is_draft(value);
        self.builder.ins().brif(is_draft, settle, &[], behind, &[]);
        self.builder.switch_to_block(settle);
        let stored = self.call_helper(self.helpers.settle, &[value]);
        self.builder.def_var(row, stored);
        self.builder.ins().jump(behind, &[]);
        self.builder.switch_to_block(behind);
        self.builder.use_var(row)
    }

    /// Whether a row is a draft.
    fn is_draft(&mut self, row: Value) -> Value {
        self.builder.ins().icmp_imm(IntCC::SignedLessThan, row, 0)
    }

    /// Pushes a row that may be a draft.
    fn push_draft(&mut self, row: Value) {
        self.drafts.insert(row);
        self.stack.push(row);
    }

    /// The block at an address, where the stack is as deep as now.
    fn block_at(&mut self, at: usize) -> Option<Block> {
        let depth = self.stack.len();
        if let Some(entry) = self.blocks.get(&at) {
            debug_assert_eq!(entry.drafts.len(), depth, "the stack has different depths at {at}");
            return (entry.drafts.len() == depth).then_some(entry.block);
        }
        let block = self.builder.create_block();
        self.blocks.insert(at, Entry { block, drafts: vec![false; depth], built: false });
        self.todo.push((at, depth));
        Some(block)
    }

    /// Makes ready for going to an address: it learns of drafts on the stack, or else they are settled.
    fn bring_drafts(&mut self, at: usize) -> Option<()> {
        self.block_at(at)?;
        for place in 0..self.stack.len() {
            if !self.drafts.contains(&self.stack[place]) {
                continue;
            }
            let entry = self.blocks.get_mut(&at)?;
            entry.drafts[place] |= !entry.built;
            if !entry.drafts[place] {
                self.stack[place] = self.settled(self.stack[place]);
            }
        }
        Some(())
    }

    /// Keeps the stack for the blocks that follow.
    fn keep_stack(&mut self) {
        while self.places.len() < self.stack.len() {
            let place = self.builder.declare_var(types::I32);
            self.places.push(place);
        }
        for at in 0..self.stack.len() {
            self.builder.def_var(self.places[at], self.stack[at]);
        }
    }

    fn go_to(&mut self, at: usize) -> Option<()> {
        self.bring_drafts(at)?;
        self.keep_stack();
        let block = self.block_at(at)?;
        self.builder.ins().jump(block, &[]);
        Some(())
    }

    /// Gives up unless a condition holds.
    fn require(&mut self, condition: Value) {
        let good = self.builder.create_block();
        self.builder.ins().brif(condition, good, &[], self.gives_up, &[]);
        self.builder.switch_to_block(good);
    }

    fn give_up(&mut self) {
        self.builder.ins().jump(self.gives_up, &[]);
    }

    fn reference(&mut self, id: FuncId) -> FuncRef {
        if let Some(&known) = self.references.get(&id) {
            return known;
        }
        let reference = self.module.declare_func_in_func(id, self.builder.func);
        self.references.insert(id, reference);
        reference
    }

    fn burn(&mut self) {
        let at = std::mem::offset_of!(Context, fuel) as i32;
        let fuel = self.builder.ins().load(types::I32, trusted(), self.context, at);
        self.require(fuel);
        let less = self.builder.ins().iadd_imm(fuel, -1);
        self.builder.ins().store(trusted(), less, self.context, at);
    }

    /// One block: from an address to where control leaves.
    fn block(&mut self, start: usize, depth: usize) -> Option<()> {
        let entry = self.blocks.get_mut(&start)?;
        entry.built = true;
        self.copies.begin_block();
        let drafts = entry.drafts.clone();
        self.builder.switch_to_block(entry.block);
        self.stack.clear();
        for (at, is_draft) in (0..depth).zip(drafts) {
            let value = self.builder.use_var(self.places[at]);
            self.stack.push(value);
            if is_draft {
                self.drafts.insert(value);
            }
        }
        let mut at = start;
        loop {
            // Code that others come to as well is a block of its own.
            if at != start && self.blocks.contains_key(&at) {
                return self.go_to(at);
            }
            if self.op(at)? {
                return Some(());
            }
            at += 1;
        }
    }

    fn halt(&mut self, status: i32) {
        let status = self.constant(status);
        self.builder.ins().return_(&[status]);
    }

    /// Writes the words on top of the stack out and returns.
    fn finish(&mut self, words: u32) -> Option<()> {
        let values = self.pop_results(words)?;
        if self.back.is_some() {
            return self.go_back(values);
        }
        for (at, value) in values.into_iter().enumerate() {
            self.builder.ins().store(trusted(), value, self.io, offset(at as u32));
        }
        if self.outputs.is_some_and(|outputs| outputs != words) || words as usize > MOST_WORDS {
            return None;
        }
        self.outputs = Some(words);
        self.halt(DONE);
        Some(())
    }

    /// One instruction. Gives whether control leaves here.
    fn op(&mut self, at: usize) -> Option<bool> {
        let compiled = self.compiled;
        let code = &compiled.code;
        match code.ops[at] {
            Op::Push(value) => {
                let value = self.word(value);
                self.stack.push(value);
            }
            Op::LoadSlot(slot) => self.load_slots(slot, 1),
            Op::LoadSlots(slot, words) => self.load_slots(slot, words),
            Op::StoreSlot(slot) => self.store_slots(slot, 1)?,
            Op::StoreSlots(slot, words) => self.store_slots(slot, words)?,
            Op::LoadPart(number) => {
                let part = code.parts[number as usize];
                if !part.indexed {
                    self.load_slots(part.whole.0 + part.from, part.words);
                    return Some(false);
                }
                let offset_words = self.pop()?;
                let base = self.element_address(self.state, offset_words);
                for word in 0..part.words {
                    let at = offset(part.whole.0 + part.from + word);
                    let value = self.builder.ins().load(types::I32, trusted(), base, at);
                    self.stack.push(value);
                }
            }
            Op::StoreElement(number) => {
                let part = code.parts[number as usize];
                let values = self.pop_many(part.words)?;
                let index = self.pop()?;
                let position = self.position(part.array, index)?;
                let offset_words = self.builder.ins().imul_imm(position, i64::from(part.words));
                let base = self.element_address(self.state, offset_words);
                for (word, value) in values.into_iter().enumerate() {
                    let at = offset(part.whole.0 + word as u32);
                    self.builder.ins().store(trusted(), value, base, at);
                }
                self.writes = true;
            }
            Op::LoadLocal(local) => {
                let value = self.load_local(local)?;
                self.stack.push(value);
            }
            Op::LoadLocals(local, words) => {
                for word in local..local + words {
                    let value = self.load_local(word)?;
                    self.stack.push(value);
                }
            }
            Op::StoreLocal(local) => {
                let value = self.pop_draft()?;
                self.store_local(local, value)?;
            }
            Op::StoreLocals(local, words) => {
                for (value, word) in self.pop_drafts(words)?.into_iter().zip(local..) {
                    self.store_local(word, value)?;
                }
            }
            Op::LoadLocalsAt(number) => {
                let part = code.local_parts[number as usize];
                let offset_words = self.pop()?;
                let (memory, first) = self.memory_of(part.whole.0)?;
                let base = self.element_address(memory, offset_words);
                for word in 0..part.words {
                    let at = offset(first + part.from + word);
                    let value = self.builder.ins().load(types::I32, trusted(), base, at);
                    self.stack.push(value);
                }
            }
            Op::StoreLocalElement(local, array) => {
                let words = compiled.types[array.index()].element.words;
                let values = self.pop_many(words)?;
                let index = self.pop()?;
                let position = self.position(array, index)?;
                let offset_words = self.builder.ins().imul_imm(position, i64::from(words));
                let (memory, first) = self.memory_of(local)?;
                self.changes_memory_of(local);
                let base = self.element_address(memory, offset_words);
                for (word, value) in values.into_iter().enumerate() {
                    self.builder.ins().store(trusted(), value, base, offset(first + word as u32));
                }
            }
            Op::IndexOffset(array) => {
                let index = self.pop()?;
                let position = self.position(array, index)?;
                let words = compiled.types[array.index()].element.words;
                let offset_words = self.builder.ins().imul_imm(position, i64::from(words));
                self.stack.push(offset_words);
            }
            Op::AddOffsets => {
                let (b, a) = (self.pop()?, self.pop()?);
                let sum = self.builder.ins().iadd(a, b);
                self.stack.push(sum);
            }
            Op::Pick(depth) => {
                let value = *self.stack.get(self.stack.len().checked_sub(1 + depth as usize)?)?;
                self.stack.push(value);
            }
            Op::PickMany(depth, words) => {
                let first = self.stack.len().checked_sub(1 + depth as usize)?;
                self.stack.extend_from_within(first..first + words as usize);
            }
            Op::Pop(words) => _ = self.pop_drafts(words)?,
            Op::Jump(target) => {
                if target as usize <= at {
                    self.burn();
                }
                self.go_to(target as usize)?;
                return Some(true);
            }
            Op::JumpIfFalse(target) | Op::JumpIfTrue(target) => {
                // Where a decision ends a loop's body, one of its ways leads back at once.
                if target as usize <= at {
                    self.burn();
                }
                return match code.ops[at] {
                    Op::JumpIfFalse(_) => self.branch(at + 1, target as usize),
                    _ => self.branch(target as usize, at + 1),
                };
            }
            Op::Equal => {
                let (b, a) = (self.pop()?, self.pop()?);
                self.push_comparison(IntCC::Equal, a, b);
            }
            Op::EqualMany(words) => {
                let (b, a) = (self.pop_many(words)?, self.pop_many(words)?);
                let mut differs = self.constant(0);
                for (a, b) in a.into_iter().zip(b) {
                    let different = self.builder.ins().bxor(a, b);
                    differs = self.builder.ins().bor(differs, different);
                }
                let zero = self.constant(0);
                self.push_comparison(IntCC::Equal, differs, zero);
            }
            Op::Less => {
                let (b, a) = (self.pop()?, self.pop()?);
                self.push_comparison(IntCC::UnsignedLessThan, a, b);
            }
            Op::LessEqual => {
                let (b, a) = (self.pop()?, self.pop()?);
                self.push_comparison(IntCC::UnsignedLessThanOrEqual, a, b);
            }
            Op::Not => {
                let a = self.pop()?;
                let one = self.constant(1);
                let value = self.builder.ins().isub(one, a);
                self.stack.push(value);
            }
            Op::Add(ty) => {
                let (lower, upper, offset) = number_of(&compiled.types[ty.index()])?;
                let (b, a) = (self.pop()?, self.pop()?);
                let (x, y) = (self.number(a, offset), self.number(b, offset));
                let sum = self.builder.ins().iadd(x, y);
                self.push_number(sum, lower, upper, offset);
            }
            Op::Subtract(ty) => {
                let (lower, upper, offset) = number_of(&compiled.types[ty.index()])?;
                let (b, a) = (self.pop()?, self.pop()?);
                let (x, y) = (self.number(a, offset), self.number(b, offset));
                let difference = self.builder.ins().isub(x, y);
                self.push_number(difference, lower, upper, offset);
            }
            Op::Modulo => {
                let (b, a) = (self.pop()?, self.pop()?);
                self.require(b);
                let value = self.builder.ins().urem(a, b);
                self.stack.push(value);
            }
            Op::Offset(offset) => {
                let a = self.pop()?;
                let value = self.builder.ins().iadd_imm(a, i64::from(offset as i32));
                self.stack.push(value);
            }
            Op::Pack(number) => {
                let pack = &code.packs[number as usize];
                let fields = self.pop_many(pack.fields.len() as u32)?;
                let mut value = self.word(pack.tag);
                for (field, &(shift, _)) in fields.into_iter().zip(&pack.fields) {
                    let shifted = self.builder.ins().ishl_imm(field, i64::from(shift));
                    value = self.builder.ins().bor(value, shifted);
                }
                self.stack.push(value);
            }
            Op::Pad(words) => {
                let zero = self.constant(0);
                self.stack.resize(self.stack.len() + words as usize, zero);
            }
            Op::Bits(shift, mask) => {
                let value = self.pop()?;
                let part = self.bits(value, shift, mask);
                self.stack.push(part);
            }
            Op::Slice(total, from, words) => {
                let value = self.pop_drafts(total)?;
                self.stack.extend_from_slice(value.get(from as usize..(from + words) as usize)?);
            }
            Op::Component(position) => {
                let (row, position) = (self.pop()?, self.word(position));
                let word = self.row_word(row, position);
                self.stack.push(word);
            }
            Op::IsEmpty(ty) => {
                // No draft is empty.
                let value = self.pop_draft()?;
                let empty = match compiled.types[ty.index()].storage {
                    Storage::Packed => self.constant(0),
                    _ => self.word(compiled.values.intern(&[])),
                };
                self.push_comparison(IntCC::Equal, value, empty);
            }
            Op::Head(ty) if is_mask(&compiled.types[ty.index()]) => {
                let mask = self.pop()?;
                self.require(mask);
                let first = self.builder.ins().ctz(mask);
                self.stack.push(first);
            }
            Op::Tail(ty) if is_mask(&compiled.types[ty.index()]) => {
                let mask = self.pop()?;
                let less = self.builder.ins().iadd_imm(mask, -1);
                let others = self.builder.ins().band(mask, less);
                self.stack.push(others);
            }
            Op::Head(ty) if is_row(&compiled.types[ty.index()]) => {
                let row = self.pop_draft()?;
                self.require_elements(row);
                self.push_head(row, compiled.types[ty.index()].element.words);
            }
            Op::Tail(ty) if is_row(&compiled.types[ty.index()]) => {
                let row = self.pop_draft()?;
                self.push_tail(at, row, compiled.types[ty.index()].element.words);
            }
            Op::Collection(ty, count) if is_row(&compiled.types[ty.index()]) => {
                self.collect_row(at, ty, count)?;
            }
            Op::Collection(ty, count) if self.collects(ty, count)? => {}
            Op::Fill(ty) if compiled.types[ty.index()].storage == Storage::Wide => {
                let shape = &compiled.types[ty.index()];
                let element = self.pop_many(shape.element.words)?;
                for _ in 0..shape.element.length {
                    self.stack.extend_from_slice(&element);
                }
            }
            Op::Element(ty) if compiled.types[ty.index()].storage == Storage::Packed => {
                let (index, array) = (self.pop()?, self.pop()?);
                let position = self.position(ty, index)?;
                let (shift, bits) = self.packed_shift(ty, position);
                let shifted = self.builder.ins().ushr(array, shift);
                let value = self.builder.ins().band_imm(shifted, i64::from(mask_of(bits)));
                self.stack.push(value);
            }
            Op::Element(ty) if compiled.types[ty.index()].storage == Storage::Wide => {
                let index = self.pop()?;
                let array = self.pop_many(compiled.types[ty.index()].words())?;
                let position = self.position(ty, index)?;
                let element = self.element_of(ty, &array, position)?;
                self.stack.extend(element);
            }
            Op::ChangeElement(ty)
                if matches!(compiled.types[ty.index()].storage, Storage::Packed | Storage::Wide) =>
            {
                let shape = &compiled.types[ty.index()];
                let value = self.pop_many(shape.element.words.max(1))?;
                let index = self.pop()?;
                let array = self.pop_many(shape.words())?;
                let position = self.position(ty, index)?;
                let changed = self.with_element(ty, array, position, &value)?;
                self.stack.extend(changed);
            }
            Op::Field(number) if self.takes_field(number)? => {}
            Op::Update(number) if self.updates(number)? => {}
            Op::Apply(number) if self.applies(at, number)? => {}
            Op::Call(number) if self.begins_again(at, number)? => return Some(true),
            Op::Call(number) => self.call(at, number)?,
            Op::Return(words) => {
                self.finish(words)?;
                return Some(true);
            }
            Op::Done if self.meeting.is_some() => {
                self.done_in_meeting()?;
                return Some(true);
            }
            Op::Done => {
                let words = self.stack.len() as u32;
                self.finish(words)?;
                return Some(true);
            }
            Op::Landings(_) => {}
            Op::Raise(number) if self.locals.function.is_some() => {
                self.raise(number)?;
                return Some(true);
            }
            Op::Raise(_) | Op::Fail(_) => {
                self.give_up();
                return Some(true);
            }
            Op::Mark(mark) => {
                let mark = self.word(mark.0);
                let fired = self.reference(self.helpers.mark);
                self.builder.ins().call(fired, &[self.context, mark]);
            }
            Op::Decide(mark) => {
                let outcome = *self.stack.last()?;
                let (if_true, if_false) = (self.word(mark.0), self.word(mark.0 + 1));
                let mark = self.builder.ins().select(outcome, if_true, if_false);
                let fired = self.reference(self.helpers.mark);
                self.builder.ins().call(fired, &[self.context, mark]);
            }
            Op::Require => {
                let condition = self.pop()?;
                let (good, bad) = (self.builder.create_block(), self.builder.create_block());
                self.builder.ins().brif(condition, good, &[], bad, &[]);
                self.builder.switch_to_block(bad);
                match self.meeting.is_some() {
                    true => self.blocked_in_meeting()?,
                    false => self.halt(BLOCKED),
                }
                self.builder.switch_to_block(good);
            }
            Op::Choice(_)
            | Op::AnyValue(..)
            | Op::Act(_)
            | Op::Fork(_)
            | Op::End
            | Op::Stop
            | Op::Throw(_) => {
                match self.meeting.is_some() {
                    true => self.halt_in_meeting(at)?,
                    false => self.halt(i32::try_from(at).ok()?),
                }
                return Some(true);
            }
            Op::Fire(_) | Op::FireOutcome(_) | Op::Observe(_) | Op::Record(..) => return None,
            op => {
                let (inputs, outputs) = words(compiled, op);
                self.help(at, inputs, outputs)?;
            }
        }
        Some(false)
    }

    /// What a helper returns.
    fn call_helper(&mut self, helper: FuncId, arguments: &[Value]) -> Value {
        let reference = self.reference(helper);
        let mut all = vec![self.context];
        all.extend_from_slice(arguments);
        let call = self.builder.ins().call(reference, &all);
        self.builder.inst_results(call)[0]
    }

    /// Pushes what a helper returns.
    fn push_call(&mut self, helper: FuncId, arguments: &[Value]) {
        let value = self.call_helper(helper, arguments);
        self.stack.push(value);
    }

    fn branch(&mut self, if_true: usize, if_false: usize) -> Option<bool> {
        let condition = self.pop()?;
        self.bring_drafts(if_true)?;
        self.bring_drafts(if_false)?;
        self.keep_stack();
        let (if_true, if_false) = (self.block_at(if_true)?, self.block_at(if_false)?);
        self.builder.ins().brif(condition, if_true, &[], if_false, &[]);
        Some(true)
    }

    fn push_comparison(&mut self, condition: IntCC, a: Value, b: Value) {
        let answer = self.builder.ins().icmp(condition, a, b);
        let word = self.builder.ins().uextend(types::I32, answer);
        self.stack.push(word);
    }

    fn load_slots(&mut self, slot: u32, words: u32) {
        for slot in slot..slot + words {
            let value = self.load_slot(slot);
            self.stack.push(value);
        }
    }

    fn load_slot(&mut self, slot: u32) -> Value {
        if let Some(value) = self.meeting.as_ref().and_then(|meeting| meeting.unchanged(slot)) {
            return value;
        }
        self.settle_slot(slot);
        self.load_slot_as_it_is(slot)
    }

    /// What a slot has; nothing if that is a draft.
    fn load_slot_as_it_is(&mut self, slot: u32) -> Value {
        match self.meeting.as_ref().and_then(|meeting| meeting.variable(slot)) {
            Some(variable) => self.builder.use_var(variable),
            None => self.builder.ins().load(types::I32, trusted(), self.state, offset(slot)),
        }
    }

    fn store_slot(&mut self, slot: u32, value: Value) {
        if let Some(meeting) = &mut self.meeting {
            meeting.changes(slot);
        }
        match self.meeting.as_ref().and_then(|meeting| meeting.variable(slot)) {
            Some(variable) => self.builder.def_var(variable, value),
            None => _ = self.builder.ins().store(trusted(), value, self.state, offset(slot)),
        }
        self.keeps_no_draft(slot);
        self.writes = true;
    }

    fn store_slots(&mut self, slot: u32, words: u32) -> Option<()> {
        for (value, slot) in self.pop_drafts(words)?.into_iter().zip(slot..) {
            if self.drafts.contains(&value) && self.defers(slot) {
                self.store_draft(slot, value);
                continue;
            }
            let value = self.settled(value);
            self.store_slot(slot, value);
        }
        Some(())
    }

    /// The address of the word so many words behind another.
    fn element_address(&mut self, base: Value, words: Value) -> Value {
        let wide = match self.pointer {
            types::I32 => words,
            _ => self.builder.ins().uextend(self.pointer, words),
        };
        let bytes = self.builder.ins().ishl_imm(wide, 2);
        self.builder.ins().iadd(base, bytes)
    }

    /// Where an element lies, counted from 0; gives up outside of the bounds.
    fn position(&mut self, array: TypeId, index: Value) -> Option<Value> {
        let Kind::Array { lower, length, .. } = self.compiled.types[array.index()].kind else { return None };
        let position = self.builder.ins().iadd_imm(index, -lower);
        // An index that is far away must not come round: it would be one of 2^32.
        let length = i64::try_from(length).ok().filter(|&length| length <= i64::from(i32::MAX))?;
        let inside = self.builder.ins().icmp_imm(IntCC::UnsignedLessThan, position, length);
        self.require(inside);
        Some(position)
    }

    /// How far an element of a packed array is shifted, and how many bits it has.
    fn packed_shift(&mut self, array: TypeId, position: Value) -> (Value, u32) {
        let element = self.compiled.types[array.index()].element;
        let last = self.word(element.length - 1);
        let behind = self.builder.ins().isub(last, position);
        (self.builder.ins().imul_imm(behind, i64::from(element.bits)), element.bits)
    }

    fn bits(&mut self, value: Value, shift: u32, mask: u32) -> Value {
        let shifted = match shift {
            0 => value,
            shift => self.builder.ins().ushr_imm(value, i64::from(shift)),
        };
        self.builder.ins().band_imm(shifted, i64::from(mask))
    }

    /// The number that a word stands for, in 64 bits.
    fn number(&mut self, value: Value, offset: i64) -> Value {
        let wide = self.builder.ins().uextend(types::I64, value);
        self.builder.ins().iadd_imm(wide, offset)
    }

    /// Pushes the word of a number; gives up outside of the bounds.
    fn push_number(&mut self, number: Value, lower: i64, upper: i64, offset: i64) {
        let above = self.builder.ins().iadd_imm(number, lower.wrapping_neg());
        let fits =
            self.builder.ins().icmp_imm(IntCC::UnsignedLessThanOrEqual, above, upper.wrapping_sub(lower));
        self.require(fits);
        let word = self.builder.ins().iadd_imm(number, -offset);
        let word = self.builder.ins().ireduce(types::I32, word);
        self.stack.push(word);
    }

    /// Has the interpreter carry out an instruction.
    fn help(&mut self, at: usize, inputs: u32, outputs: u32) -> Option<()> {
        let words = self.spill_words(inputs)?;
        let (at, input_count, output_count) = (self.word(at as u32), self.word(inputs), self.word(outputs));
        let status = self.call_helper(self.helpers.help, &[at, words, input_count, output_count]);
        let good = self.builder.ins().icmp_imm(IntCC::Equal, status, 0);
        self.require(good);
        for word in 0..outputs {
            let value = self.builder.ins().load(types::I32, trusted(), words, offset(word));
            self.stack.push(value);
        }
        Some(())
    }

    /// A list, set or array of the words on top of the stack, where that takes no table.
    fn collects(&mut self, ty: TypeId, count: u32) -> Option<bool> {
        let shape = &self.compiled.types[ty.index()];
        let bits = shape.element.bits;
        match (shape.storage, &shape.kind) {
            (Storage::Wide, _) => {}
            (Storage::Packed, Kind::Array { .. }) => {
                let elements = self.pop_many(count)?;
                let mut value = self.constant(0);
                for element in elements {
                    let shifted = self.builder.ins().ishl_imm(value, i64::from(bits % 32));
                    value = self.builder.ins().bor(shifted, element);
                }
                self.stack.push(value);
            }
            (Storage::Packed, Kind::List { sorted: true, .. }) => {
                let elements = self.pop_many(count)?;
                let mut mask = self.constant(0);
                for element in elements {
                    let bit = self.bit(element);
                    mask = self.builder.ins().bor(mask, bit);
                }
                self.stack.push(mask);
            }
            _ => return Some(false),
        }
        Some(true)
    }

    fn bit(&mut self, element: Value) -> Value {
        let one = self.constant(1);
        self.builder.ins().ishl(one, element)
    }

    /// Takes a field out of a value that is no row: where it lies may depend on the constructor, which may have none.
    fn takes_field(&mut self, number: u32) -> Option<bool> {
        let (ty, places) = &self.compiled.code.accesses[number as usize];
        let shape = &self.compiled.types[ty.index()];
        let words = match shape.storage {
            Storage::Packed => 1,
            Storage::Wide => places.iter().flatten().next().map_or(0, |place| place.words),
            Storage::Scalar | Storage::Row => 0,
        };
        if words == 0 || places.iter().flatten().any(|place| place.words.max(1) != words) {
            return Some(false);
        }
        let value = self.pop_many(shape.words())?;
        let tag = match (places.len(), shape.storage, shape.tag_shift) {
            (1, ..) | (_, Storage::Packed, 32) => self.constant(0),
            (_, Storage::Packed, shift) => self.builder.ins().ushr_imm(value[0], i64::from(shift)),
            _ => value[0],
        };
        let mut field: Option<Vec<Value>> = None;
        let mut is_there: Option<Value> = None;
        for (constructor, place) in (0..).zip(places) {
            let Some(place) = place else { continue };
            let part = match shape.storage {
                Storage::Packed => vec![self.bits(value[0], place.at, place.mask)],
                _ => value[place.at as usize..][..words as usize].to_vec(),
            };
            let is_this = self.builder.ins().icmp_imm(IntCC::Equal, tag, constructor);
            field = Some(match field {
                Some(others) => {
                    let both = part.into_iter().zip(others);
                    both.map(|(part, other)| self.builder.ins().select(is_this, part, other)).collect()
                }
                None => part,
            });
            is_there = Some(match is_there {
                Some(others) => self.builder.ins().bor(others, is_this),
                None => is_this,
            });
        }
        if places.iter().any(Option::is_none) {
            self.require(is_there?);
        }
        self.stack.extend(field?);
        Some(true)
    }

    /// Changes fields of a value that has one constructor only.
    fn updates(&mut self, number: u32) -> Option<bool> {
        let (ty, fields) = &self.compiled.code.updates[number as usize];
        let shape = &self.compiled.types[ty.index()];
        if shape.fields.len() != 1 || shape.storage == Storage::Row {
            return Some(false);
        }
        let places: Vec<_> = fields.iter().map(|places| places[0]).collect::<Option<Vec<_>>>()?;
        let new = self.pop_many(places.iter().map(|place| place.words).sum())?;
        let mut value = self.pop_many(shape.words())?;
        let mut next = 0;
        for place in places {
            let words = &new[next..next + place.words as usize];
            next += words.len();
            if shape.storage == Storage::Packed {
                let others = self.builder.ins().band_imm(value[0], i64::from(!(place.mask << place.at)));
                let field = self.builder.ins().ishl_imm(words[0], i64::from(place.at));
                value[0] = self.builder.ins().bor(others, field);
            } else {
                value[place.at as usize..place.at as usize + words.len()].copy_from_slice(words);
            }
        }
        self.stack.extend(value);
        Some(true)
    }

    /// Puts the words on top of the stack where helpers take them; gives where that is.
    fn spill_words(&mut self, words: u32) -> Option<Value> {
        let values = self.pop_many(words)?;
        Some(self.spill_values(values))
    }

    /// Puts values where helpers take them; gives where that is.
    fn spill_values(&mut self, values: Vec<Value>) -> Value {
        let spill = self.spill();
        for (word, value) in values.into_iter().enumerate() {
            self.builder.ins().stack_store(value, spill, offset(word as u32));
        }
        self.builder.ins().stack_addr(self.pointer, spill, 0)
    }

    /// Where words lie that helpers work on.
    fn spill(&mut self) -> StackSlot {
        match self.spill {
            Some((spill, words)) if words >= self.helped => spill,
            _ => {
                let spill = slot(&mut self.builder, 4 * self.helped.max(1));
                self.spill = Some((spill, self.helped));
                spill
            }
        }
    }

    /// A predefined operation that takes a few machine instructions.
    fn applies(&mut self, at: usize, number: u32) -> Option<bool> {
        let application = &self.compiled.code.applications[number as usize];
        let types_of = &self.compiled.types;
        if application.operation == Builtin::Store && self.stores(application)? {
            return Some(true);
        }
        if !is_simple(types_of, application) {
            return self.applies_to_rows(at, number);
        }
        let shape = |ty: TypeId| &types_of[ty.index()];
        let operand = number_of(shape(application.operand));
        let second = number_of(shape(application.second));
        let result = number_of(shape(application.result));
        match application.operation {
            Builtin::Add
            | Builtin::Subtract
            | Builtin::Multiply
            | Builtin::Divide
            | Builtin::Modulo
            | Builtin::Remainder => {
                let (b, a) = (self.pop()?, self.pop()?);
                let (x, y) = (self.number(a, operand?.2), self.number(b, second?.2));
                let (lower, upper, offset) = result?;
                if matches!(application.operation, Builtin::Divide | Builtin::Modulo | Builtin::Remainder) {
                    self.require(y);
                }
                let number = match application.operation {
                    Builtin::Add => self.builder.ins().iadd(x, y),
                    Builtin::Subtract => self.builder.ins().isub(x, y),
                    // Both have at most 33 bits and a sign.
                    Builtin::Multiply => {
                        let large = self.builder.ins().imul(x, y);
                        let high = self.builder.ins().smulhi(x, y);
                        let sign = self.builder.ins().sshr_imm(large, 63);
                        let fits = self.builder.ins().icmp(IntCC::Equal, high, sign);
                        self.require(fits);
                        large
                    }
                    Builtin::Divide => self.builder.ins().sdiv(x, y),
                    Builtin::Remainder => self.builder.ins().srem(x, y),
                    _ => {
                        let remainder = self.builder.ins().srem(x, y);
                        let sum = self.builder.ins().iadd(remainder, y);
                        self.builder.ins().srem(sum, y)
                    }
                };
                self.push_number(number, lower, upper, offset);
            }
            Builtin::Convert
            | Builtin::Successor
            | Builtin::Predecessor
            | Builtin::Ordinal
            | Builtin::Value => {
                let a = self.pop()?;
                let (least, _, zero) = scalar_of(shape(application.operand))?;
                let x = self.number(a, zero);
                let (lower, upper, offset) = scalar_of(shape(application.result))?;
                let more = match application.operation {
                    Builtin::Successor => 1,
                    Builtin::Predecessor => -1,
                    Builtin::Ordinal => -least,
                    Builtin::Value => lower,
                    _ => 0,
                };
                let number = self.builder.ins().iadd_imm(x, more);
                self.push_number(number, lower, upper, offset);
            }
            Builtin::Minimum => {
                let (b, a) = (self.pop()?, self.pop()?);
                let value = self.builder.ins().umin(a, b);
                self.stack.push(value);
            }
            Builtin::Maximum => {
                let (b, a) = (self.pop()?, self.pop()?);
                let value = self.builder.ins().umax(a, b);
                self.stack.push(value);
            }
            Builtin::Cons | Builtin::Insert | Builtin::Append => {
                let (set, element) = (self.pop()?, self.pop()?);
                let bit = self.bit(element);
                let value = self.builder.ins().bor(set, bit);
                self.stack.push(value);
            }
            Builtin::Remove => {
                let (set, element) = (self.pop()?, self.pop()?);
                let bit = self.bit(element);
                let value = self.builder.ins().band_not(set, bit);
                self.stack.push(value);
            }
            Builtin::Member => {
                let (set, element) = (self.pop()?, self.pop()?);
                let shifted = self.builder.ins().ushr(set, element);
                let value = self.builder.ins().band_imm(shifted, 1);
                self.stack.push(value);
            }
            Builtin::Union | Builtin::Intersection | Builtin::Difference | Builtin::Subset => {
                let (b, a) = (self.pop()?, self.pop()?);
                let value = match application.operation {
                    Builtin::Union => self.builder.ins().bor(a, b),
                    Builtin::Intersection => self.builder.ins().band(a, b),
                    _ => self.builder.ins().band_not(a, b),
                };
                match application.operation {
                    Builtin::Subset => {
                        let zero = self.constant(0);
                        self.push_comparison(IntCC::Equal, value, zero);
                    }
                    _ => self.stack.push(value),
                }
            }
            Builtin::Length => {
                let set = self.pop()?;
                let count = self.builder.ins().popcnt(set);
                let number = self.builder.ins().uextend(types::I64, count);
                let (lower, upper, offset) = result?;
                self.push_number(number, lower, upper, offset);
            }
            _ => return Some(false),
        }
        Some(true)
    }
}

/// Where a word lies, in bytes.
fn offset(word: u32) -> i32 {
    (4 * word) as i32
}
