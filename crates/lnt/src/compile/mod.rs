//! From the typed tree to code for the machine.
//!
//! Processes become *regions*: sequential pieces of code with a program counter of their own, one for the root and
//! one for every branch of a parallel composition. A process call is compiled in place, once for each continuation
//! and each choice of gates; a call in tail position with a continuation that is already there becomes a jump, so
//! recursion does not grow. Slots are laid out like stack frames: what can't be active at the same time shares them.

mod assigned;
mod body;
pub mod code;
mod expressions;
mod finish;
mod flows;
mod liveness;
mod membership;
mod patterns;
mod processes;
mod statements;
pub mod types;

use std::sync::atomic::AtomicBool;

use model::{Mark, MarkId, MarkKind, SharedRows, Telling, VariableSite};
use rustc_hash::{FxHashMap, FxHashSet};
use source::{Diagnostic, Span};

use crate::coverage::{coverage_map, function_map};
use crate::typed::{Function, FunctionId, Mode, ProcessId, Program, TypeId};
use body::{Binding, Body, Place};
use code::{Code, FlowEvent, FunctionCode, GlobalGate, MOST_TABLED, MOST_TABLED_BITS, Op, RowWords, Table};
use processes::{Instance, InstanceKey, Pending};
use types::{Kind, Representation, Shaping, Storage};

/// A run takes at most this many jumps and calls before it counts as endless; where few states are looked at, fewer.
const FUEL: u64 = 20_000_000;
pub(crate) const LITTLE_FUEL: u64 = 100_000;

/// What the machine runs.
pub struct Compiled {
    /// The code.
    pub code: Code,
    /// How many jumps and calls a run takes before it counts as endless.
    pub fuel: u64,
    /// How values are represented.
    pub types: Vec<Representation>,
    /// Structured constants, and all values that turn up later.
    pub values: SharedRows,
    /// The constructs that steps can fire.
    pub marks: Vec<Mark>,
    /// The processes and functions that the root reaches, as their extents in the source.
    pub reached: Vec<Span>,
    /// The blocks and outcomes of functions, where these are told, and whether each has fired.
    pub function_marks: Vec<(MarkKind, Span)>,
    /// See above. Results of functions are remembered, so that this can't be told step by step.
    pub fired: Vec<AtomicBool>,
    /// The functions that are called from somewhere.
    pub functions: Vec<FunctionId>,
    /// What was observed: the mark of a decision, its outcome or 2, and pairs of place and value.
    pub observations: SharedRows,
}

/// Which process runs; it has no value parameters.
pub struct Root {
    /// The process.
    pub process: ProcessId,
    /// The names of its gates as labels print them.
    pub gates: Vec<String>,
}

/// Compiles a program from its root.
pub fn compile(
    program: &Program,
    root: &Root,
    telling: Telling<'_>,
    shaping: Shaping,
) -> Result<Compiled, Vec<Diagnostic>> {
    let mut compiler = Compiler::new(program, telling, shaping);
    compiler.program(root);
    compiler.finish()
}

/// Compiles functions, and the conditions of all predicate types; gives the functions' numbers in the code, for
/// [`Machine::call`](crate::run::Machine::call). The root does nothing, and structured values are rows.
pub fn compile_functions(
    program: &Program,
    root: &Root,
    functions: &[FunctionId],
) -> Result<(Compiled, Vec<u32>), Vec<Diagnostic>> {
    let mut compiler = Compiler::new(program, Telling::Nothing, Shaping::Rows);
    let numbers = functions.iter().map(|&function| compiler.function_number(function)).collect();
    compiler.program(root);
    for ty in 0..program.types.len() as u32 {
        compiler.predicate_function(TypeId(ty));
    }
    compiler.remaining();
    Ok((compiler.finish()?, numbers))
}

/// For the last statement of every block, the whole block.
fn block_ends(program: &Program) -> FxHashMap<Span, Span> {
    let functions: Vec<FunctionId> = (0..program.functions.len() as u32).map(FunctionId).collect();
    let blocks = coverage_map(program).blocks.into_iter().chain(function_map(program, &functions).blocks);
    blocks.map(|block| (block.last, block.span)).collect()
}

/// A position in the code that may not be known yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Label(u32);

/// Functions of fewer instructions are as fast as a table of their results.
const FEW_OPS: usize = 10;
/// How many words the tables of all functions have at most.
const MOST_TABLED_WORDS: u32 = 1 << 17;

/// Functions of more arguments than this are not worth remembering.
pub const REMEMBERED_ARGUMENTS: usize = 4;

/// Not placed yet.
const UNPLACED: u32 = u32::MAX;

struct Compiler<'p> {
    program: &'p Program,
    shaping: Shaping,
    types: Vec<Representation>,
    values: SharedRows,
    code: Code,
    /// Addresses of labels. Until the end, jumps name labels instead of addresses.
    labels: Vec<u32>,
    /// The region whose code is being written; none for functions and for code of values.
    region: Option<u32>,
    op_regions: Vec<Option<u32>>,
    /// The region that each instruction works for: its own, or the one of the action whose pattern, guard or offer it is part of.
    op_workers: Vec<Option<u32>>,
    works_for: Option<u32>,
    /// The frame of the process or branch whose code is being written.
    frame: Option<usize>,
    op_frames: Vec<Option<usize>>,
    marks_wanted: bool,
    marks: Vec<Mark>,
    flows_wanted: bool,
    /// Positions in [`Code::flow_events`] and [`Code::flow_sites`].
    flow_events: FxHashMap<FlowEvent, u32>,
    flow_sites: FxHashMap<VariableSite, u32>,
    /// Decisions whose values are recorded.
    watched: FxHashSet<Span>,
    /// Expressions of the decision at hand, with their places in [`Code::observed`].
    watching: FxHashMap<Span, u32>,
    mark_ids: FxHashMap<(MarkKind, Span), MarkId>,
    /// Whether it is told what fires in functions, and what that is.
    functions_wanted: bool,
    function_marks: Vec<(MarkKind, Span)>,
    function_mark_ids: FxHashMap<(MarkKind, Span), u32>,
    /// The block that ends with a statement.
    block_ends: FxHashMap<Span, Span>,
    function_numbers: FxHashMap<FunctionId, u32>,
    /// The instructions of functions that loop or call themselves and may be nothing else than membership.
    seekers: Vec<(FunctionId, std::ops::Range<usize>)>,
    pending_functions: Vec<FunctionId>,
    /// The function numbers of predicate types' conditions.
    predicate_numbers: FxHashMap<u32, u32>,
    frames: Vec<Frame>,
    /// Until the end, instructions name slots by positions in this table: frame and place in it.
    virtual_slots: Vec<(usize, usize)>,
    /// For each region, the frames in it.
    region_frames: Vec<Vec<usize>>,
    /// For each fork, the frame behind which its children lie.
    fork_frames: Vec<usize>,
    instances: FxHashMap<InstanceKey, Instance>,
    pending: Vec<Pending<'p>>,
    /// For each process, which of its variables its text assigns.
    assigned: FxHashMap<ProcessId, Vec<bool>>,
    errors: Vec<Diagnostic>,
}

/// Slots that belong together: the variables of a process call, or those declared in a parallel branch.
struct Frame {
    placement: Placement,
    /// How many bits each slot needs.
    bits: Vec<u32>,
}

/// Where a frame lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Placement {
    /// At the start of a region, behind its program counter.
    Region(u32),
    /// Behind another frame.
    After(usize),
}

impl<'p> Compiler<'p> {
    fn new(program: &'p Program, telling: Telling<'_>, shaping: Shaping) -> Self {
        let (marks, watched) = match telling {
            Telling::Marks => (true, [].as_slice()),
            Telling::Coverage(watched) => (true, watched),
            Telling::Nothing | Telling::Flows => (false, [].as_slice()),
        };
        Self {
            program,
            shaping,
            types: types::representations(program, shaping),
            values: SharedRows::new(),
            code: Code::default(),
            labels: Vec::new(),
            region: None,
            op_regions: Vec::new(),
            op_workers: Vec::new(),
            works_for: None,
            frame: None,
            op_frames: Vec::new(),
            marks_wanted: marks,
            marks: Vec::new(),
            flows_wanted: matches!(telling, Telling::Flows),
            flow_events: FxHashMap::default(),
            flow_sites: FxHashMap::default(),
            functions_wanted: matches!(telling, Telling::Coverage(_)),
            function_marks: Vec::new(),
            function_mark_ids: FxHashMap::default(),
            block_ends: if marks { block_ends(program) } else { FxHashMap::default() },
            watched: watched.iter().copied().collect(),
            watching: FxHashMap::default(),
            mark_ids: FxHashMap::default(),
            function_numbers: FxHashMap::default(),
            seekers: Vec::new(),
            pending_functions: Vec::new(),
            predicate_numbers: FxHashMap::default(),
            frames: Vec::new(),
            virtual_slots: Vec::new(),
            region_frames: Vec::new(),
            fork_frames: Vec::new(),
            instances: FxHashMap::default(),
            pending: Vec::new(),
            assigned: FxHashMap::default(),
            errors: Vec::new(),
        }
    }

    fn new_label(&mut self) -> Label {
        self.labels.push(UNPLACED);
        Label(self.labels.len() as u32 - 1)
    }

    fn place(&mut self, label: Label) {
        debug_assert_eq!(self.labels[label.0 as usize], UNPLACED);
        self.labels[label.0 as usize] = self.code.ops.len() as u32;
    }

    fn emit(&mut self, op: Op, span: Span) {
        self.code.ops.push(op);
        self.code.spans.push(span);
        self.op_regions.push(self.region);
        self.op_workers.push(self.region.or(self.works_for));
        self.op_frames.push(self.frame);
    }

    fn jump(&mut self, label: Label, span: Span) {
        self.emit(Op::Jump(label.0), span);
    }

    fn fail(&mut self, message: impl Into<String>, span: Span) {
        self.code.failures.push(message.into());
        self.emit(Op::Fail(self.code.failures.len() as u32 - 1), span);
    }

    fn load(&mut self, place: Place, ty: TypeId, span: Span) {
        let op = match (place, self.words(ty)) {
            (Place::Slot(slot), 1) => Op::LoadSlot(slot),
            (Place::Slot(slot), words) => Op::LoadSlots(slot, words),
            (Place::Local(local), 1) => Op::LoadLocal(local),
            (Place::Local(local), words) => Op::LoadLocals(local, words),
            (Place::Constant(value), 1) => Op::Push(value),
            (Place::Constant(row), _) => {
                let words = self.values.row(row);
                return words.into_iter().for_each(|word| self.emit(Op::Push(word), span));
            }
        };
        self.emit(op, span);
    }

    fn store(&mut self, place: Place, ty: TypeId, span: Span) {
        let op = match (place, self.words(ty)) {
            (Place::Slot(slot), 1) => Op::StoreSlot(slot),
            (Place::Slot(slot), words) => Op::StoreSlots(slot, words),
            (Place::Local(local), 1) => Op::StoreLocal(local),
            (Place::Local(local), words) => Op::StoreLocals(local, words),
            // What is passed is the constant itself.
            (Place::Constant(_), words) => Op::Pop(words),
        };
        self.emit(op, span);
    }

    /// The mark of a construct; the same construct compiled several times has one mark.
    fn mark(&mut self, kind: MarkKind, span: Span, process: &str) -> MarkId {
        if let Some(&known) = self.mark_ids.get(&(kind, span)) {
            return known;
        }
        let mut add = |kind| {
            let id = MarkId(self.marks.len() as u32);
            self.marks.push(Mark { kind, span, process: process.to_owned() });
            self.mark_ids.insert((kind, span), id);
            id
        };
        match kind {
            // Both outcomes of a decision lie side by side, true first.
            MarkKind::Decision(outcome) => {
                let id = add(MarkKind::Decision(true));
                add(MarkKind::Decision(false));
                if outcome { id } else { MarkId(id.0 + 1) }
            }
            kind => add(kind),
        }
    }

    /// The number of a construct of a function.
    fn function_mark(&mut self, kind: MarkKind, span: Span) -> u32 {
        if let Some(&known) = self.function_mark_ids.get(&(kind, span)) {
            return known;
        }
        // Both outcomes of a decision lie side by side, true first.
        let kinds = match kind {
            MarkKind::Decision(_) => vec![MarkKind::Decision(true), MarkKind::Decision(false)],
            kind => vec![kind],
        };
        for kind in kinds {
            self.function_mark_ids.insert((kind, span), self.function_marks.len() as u32);
            self.function_marks.push((kind, span));
        }
        self.function_mark_ids[&(kind, span)]
    }

    /// The number of a function, which is compiled in time.
    fn function_number(&mut self, function: FunctionId) -> u32 {
        if let Some(&known) = self.function_numbers.get(&function) {
            return known;
        }
        let number = self.reserve_function();
        self.function_numbers.insert(function, number);
        self.pending_functions.push(function);
        number
    }

    fn reserve_function(&mut self) -> u32 {
        self.code.functions.push(FunctionCode::default());
        self.code.row_words.push(RowWords::default());
        self.code.functions.len() as u32 - 1
    }

    /// A gate of the whole program.
    fn new_gate(&mut self, name: &str, hidden: bool) -> Binding {
        self.code.gates.push(GlobalGate { name: name.to_uppercase(), hidden });
        Binding::Gate(self.code.gates.len() as u32 - 1)
    }

    /// Compiles a piece of code that is run for a value, between `start` and [`Op::Done`]; gives its label.
    fn detached(&mut self, span: Span, write: impl FnOnce(&mut Self)) -> Label {
        let around = self.new_label();
        self.jump(around, span);
        let start = self.new_label();
        self.place(start);
        let region = self.region.take();
        self.works_for = region;
        write(self);
        self.emit(Op::Done, span);
        self.works_for = None;
        self.region = region;
        self.place(around);
        start
    }

    fn program(&mut self, root: &Root) {
        self.root(root);
        self.remaining();
    }

    /// Compiles what was asked for and is not there yet.
    fn remaining(&mut self) {
        loop {
            if let Some(pending) = self.pending.pop() {
                self.compile_pending(pending);
            } else if let Some(function) = self.pending_functions.pop() {
                self.function(function);
            } else {
                break;
            }
        }
    }

    /// Compiles a function: arguments and other variables lie on the stack, results are left on it.
    fn function(&mut self, id: FunctionId) {
        let program = self.program;
        let function = &program[id];
        let mut body = Body::of_function(function, |ty| self.types[ty.index()].words());
        let number = self.function_numbers[&id];
        let start = self.code.ops.len();
        self.region = None;
        let end = self.new_label();
        self.statement(&mut body, &function.body, end);
        self.place(end);
        if function.result.is_some() {
            self.fail(format!("function {} ends without a result", function.name), function.span);
        } else {
            self.return_results(&body, None, function.span);
        }
        let pushed = function.parameters.iter().filter(|parameter| parameter.mode != Mode::Out);
        let arguments = pushed.map(|parameter| self.words(function.scope[parameter.variable].ty)).sum();
        let variables = function.scope.variables.iter().map(|variable| self.words(variable.ty)).sum();
        self.code.row_words[number as usize] = self.row_words(function, &body);
        let takes_long = self.code.ops[start..].iter().any(|op| matches!(op, Op::Call(_) | Op::Apply(_)));
        let is_told =
            |op: &Op| matches!(op, Op::Fire(_) | Op::FireOutcome(_) | Op::Observe(_) | Op::Record(..));
        let takes_values_only = function.parameters.iter().all(|parameter| parameter.mode == Mode::In);
        if self.shaping == Shaping::Fixed
            && function.result == Some(TypeId::BOOL)
            && takes_values_only
            && !self.code.ops[start..].iter().any(is_told)
        {
            self.seekers.push((id, start..self.code.ops.len()));
        }
        let one_result =
            self.code.ops[start..].iter().all(|op| !matches!(op, Op::Return(count) if *count != 1));
        self.code.functions[number as usize] = FunctionCode {
            address: start as u32,
            arguments,
            variables,
            remembered: takes_long && one_result && arguments as usize <= REMEMBERED_ARGUMENTS,
            table: if one_result { self.table(id, start) } else { None },
        };
    }

    /// Which words of a function are lists or sets that lie in rows.
    fn row_words(&self, function: &Function, body: &Body<'_>) -> RowWords {
        let of = |ty: TypeId| {
            let shape = &self.types[ty.index()];
            let is_row = shape.storage == Storage::Row && matches!(shape.kind, Kind::List { .. });
            std::iter::repeat_n(is_row, shape.words() as usize)
        };
        let mut rows = RowWords::default();
        for (variable, place) in function.scope.variables.iter().zip(&body.places) {
            let Some(Place::Local(first)) = *place else { continue };
            for (word, is_row) in (first as usize..).zip(of(variable.ty)) {
                rows.variables.resize(rows.variables.len().max(word + 1), false);
                rows.variables[word] = is_row;
            }
        }
        rows.results.extend(function.result.into_iter().flat_map(of));
        for parameter in function.parameters.iter().filter(|parameter| parameter.mode != Mode::In) {
            rows.results.extend(of(function.scope[parameter.variable].ty));
        }
        rows
    }

    /// A table for the results of a function whose code starts at an address, if there are few and computing them takes
    /// longer than looking them up.
    fn table(&mut self, id: FunctionId, start: usize) -> Option<Table> {
        let function = &self.program[id];
        let ops = &self.code.ops[start..];
        let tells = |op: &Op| matches!(op, Op::Mark(_) | Op::Decide(_) | Op::Fire(_) | Op::FireOutcome(_));
        if ops.len() < FEW_OPS || ops.iter().any(tells) {
            return None;
        }
        let pushed = function.parameters.iter().filter(|parameter| parameter.mode != Mode::Out);
        let words: Vec<u32> = pushed
            .flat_map(|parameter| &self.types[function.scope[parameter.variable].ty.index()].leaves)
            .copied()
            .collect();
        let all: u32 = words.iter().sum();
        if words.len() > MOST_TABLED || all > MOST_TABLED_BITS {
            return None;
        }
        let mut bits = [0; MOST_TABLED];
        bits[..words.len()].copy_from_slice(&words);
        let start = self.code.tabled;
        self.code.tabled = start.checked_add(1 << all).filter(|&tabled| tabled <= MOST_TABLED_WORDS)?;
        Some(Table { start, bits })
    }
}
