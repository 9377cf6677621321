//! The machine's instructions.
//!
//! Functions and processes are compiled to one array of instructions for a stack machine. Variables of processes lie
//! in the slots of the state vector, those of functions on the stack; each value takes as many words as its type has. A process runs silently until it reaches an
//! instruction at which something can happen to it: an action, a choice, a fork, its end.

use model::{MarkId, VariableSite};
use source::Span;

use super::types::FieldPlace;
use crate::typed::{Builtin, TypeId};

/// One instruction. Addresses are positions in [`Code::ops`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Pushes a constant.
    Push(u32),
    /// Pushes a slot of the state.
    LoadSlot(u32),
    /// Pops into a slot of the state.
    StoreSlot(u32),
    /// Pushes this many slots of the state.
    LoadSlots(u32, u32),
    /// Pops into this many slots of the state.
    StoreSlots(u32, u32),
    /// Pushes a part of a variable that lies in slots, of [`Code::parts`]; pops an offset, if it is indexed.
    LoadPart(u32),
    /// Pops a value and an index, and stores the value into an array that lies in slots, of [`Code::parts`].
    StoreElement(u32),
    /// Pushes a variable of the function.
    LoadLocal(u32),
    /// Pops into a variable of the function.
    StoreLocal(u32),
    /// Pushes this many words of the function's variables.
    LoadLocals(u32, u32),
    /// Pops into this many words of the function's variables.
    StoreLocals(u32, u32),
    /// Pops an offset, pushes a part of a function's variable from there on, of [`Code::local_parts`].
    LoadLocalsAt(u32),
    /// Pops a value and an index, and stores the value into an array variable of the function.
    StoreLocalElement(u32, TypeId),
    /// Pops an index, pushes how many words into an array its element lies.
    IndexOffset(TypeId),
    /// Pops two offsets, pushes their sum.
    AddOffsets,
    /// Pushes a copy of the word that lies this deep; 0 is the top.
    Pick(u32),
    /// Pushes copies of words, the first of which lies this deep.
    PickMany(u32, u32),
    /// Drops words.
    Pop(u32),
    /// Goes on elsewhere.
    Jump(u32),
    /// Pops; goes on elsewhere if it was false.
    JumpIfFalse(u32),
    /// Pops; goes on elsewhere if it was true.
    JumpIfTrue(u32),
    /// Pops two, pushes whether they are equal.
    Equal,
    /// Pops two values of this many words, pushes whether they are equal.
    EqualMany(u32),
    /// Pops two, pushes whether the first is less: for types that are ordered as their numbers are.
    Less,
    /// Likewise, less or equal.
    LessEqual,
    /// Negates the top.
    Not,
    /// Pops two numbers of a type, pushes their sum.
    Add(TypeId),
    /// Pops two numbers of a type, pushes their difference.
    Subtract(TypeId),
    /// Pops two numbers of a type that starts at 0, pushes the remainder of their division.
    Modulo,
    /// Adds a constant to the top, modulo 2³².
    Offset(u32),
    /// A predefined operation of [`Code::applications`].
    Apply(u32),
    /// Pops the words of a constructor's fields, pushes the row: position of the constructor and number of words.
    MakeRow(u32, u32),
    /// Pops the fields of a packed constructed value, of [`Code::packs`], pushes the value.
    Pack(u32),
    /// Pushes this many zeros.
    Pad(u32),
    /// Shifts the top down and masks it.
    Bits(u32, u32),
    /// Pops a row, pushes the word at a position of it.
    Component(u32),
    /// Pops a row, pushes words of it: from where, and how many.
    Components(u32, u32),
    /// Pops a value of this many words, pushes a part of it: from where, and how many.
    Slice(u32, u16, u16),
    /// Pops a value, pushes the field of [`Code::accesses`].
    Field(u32),
    /// Pops new values and a value, pushes the value with fields of [`Code::updates`] changed.
    Update(u32),
    /// Pops this many elements, pushes the list, set or array.
    Collection(TypeId, u32),
    /// Pops an element, pushes an array full of it.
    Fill(TypeId),
    /// Pops an index and an array, pushes the element.
    Element(TypeId),
    /// Pops a value, an index and an array, pushes the changed array.
    ChangeElement(TypeId),
    /// Pops a list or set, pushes whether it is empty.
    IsEmpty(TypeId),
    /// Pops a list or set that is not empty, pushes its first element.
    Head(TypeId),
    /// Pops a list or set that is not empty, pushes the others.
    Tail(TypeId),
    /// Calls the function of [`Code::functions`], whose arguments are on the stack.
    Call(u32),
    /// Follows a call that passes exceptions: where control goes on when the function raises one of them, in
    /// [`Code::landings`]. Does nothing where the function returns.
    Landings(u32),
    /// Leaves the function by one of its exception parameters, of [`Code::raises`].
    Raise(u32),
    /// Ends a function; this many words on top are its results.
    Return(u32),
    /// A run-time error of [`Code::failures`].
    Fail(u32),
    /// A construct has fired.
    Mark(MarkId),
    /// The decision on top of the stack has been evaluated: the mark for true, and the next one for false.
    Decide(MarkId),
    /// A construct of a function has fired, of [`Compiled::function_marks`](super::Compiled::function_marks).
    Fire(u32),
    /// The decision of a function on top of the stack has been evaluated: the construct for true, and the next one for
    /// false.
    FireOutcome(u32),
    /// The value on top of the stack, of the type there, is one of [`Code::observed`]; it stays there.
    Observe(u32),
    /// The values observed since the last record are those of this decision; its outcome is on top of the stack, unless
    /// it is a branch of a `case`.
    Record(MarkId, bool),
    /// The end of a piece of code that is run for the value on top of the stack.
    Done,
    /// Pops; the way is blocked unless it was true.
    Require,
    /// One of several ways, of [`Code::choices`].
    Choice(u32),
    /// A slot gets any value of a type.
    AnyValue(u32, TypeId),
    /// A rendezvous, of [`Code::actions`].
    Act(u32),
    /// Children start, of [`Code::forks`]; the instruction behind it is reached when they have ended.
    Fork(u32),
    /// The region has terminated.
    End,
    /// The region is blocked for ever.
    Stop,
    /// Control leaves this region for another one that has forked it: of [`Code::throws`].
    Throw(u32),
}

/// A predefined operation with the types it works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Application {
    /// Which operation.
    pub operation: Builtin,
    /// How many words its operands have.
    pub words: u32,
    /// Whether it works on parts of values, or on values of several words.
    pub on_parts: bool,
    /// Whether its result has one word.
    pub narrow: bool,
    /// The type of the first operand, or of the result where there is none.
    pub operand: TypeId,
    /// The type of the second operand, or the first one's.
    pub second: TypeId,
    /// The type of the result.
    pub result: TypeId,
}

impl Application {
    /// Whether it has a result for all operands.
    fn is_total(&self) -> bool {
        use Builtin::*;
        matches!(
            self.operation,
            Equal
                | NotEqual
                | Less
                | LessEqual
                | Greater
                | GreaterEqual
                | Not
                | And
                | Or
                | Xor
                | Implies
                | Iff
                | Minimum
                | Maximum
                | Cons
                | Insert
                | Append
                | IsEmpty
                | Member
                | Remove
                | Union
                | Intersection
                | Difference
                | Subset
        )
    }
}

/// A compiled function.
#[derive(Clone, Copy, Debug, Default)]
pub struct FunctionCode {
    /// Where it starts.
    pub address: u32,
    /// How many words of arguments are pushed for it.
    pub arguments: u32,
    /// How many words its variables have, its arguments included.
    pub variables: u32,
    /// Whether its results are worth remembering: it has one, few arguments, and loops or calls.
    pub remembered: bool,
    /// The table that its results can be kept in, if there are few.
    pub table: Option<Table>,
}

/// Which words of a function are lists or sets that lie in rows.
#[derive(Clone, Debug, Default)]
pub struct RowWords {
    /// Of its variables; its arguments come first.
    pub variables: Vec<bool>,
    /// Of its results.
    pub results: Vec<bool>,
}

/// A table of the results of a function that has one word for each of few arguments.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// Where it starts among those of all functions.
    pub start: u32,
    /// How many bits each word of the arguments has. The bits of all words, the first one's highest, are the place of the
    /// result.
    pub bits: [u32; MOST_TABLED],
}

/// The most words that the arguments of a function have whose results are kept in a table, and the most bits.
pub const MOST_TABLED: usize = 4;
pub const MOST_TABLED_BITS: u32 = 8;

/// What an action offers at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfferCode {
    /// This value.
    Constant(u32),
    /// The value of a slot.
    Slot(u32),
    /// The value that the code computes.
    Computed(u32),
    /// Any value, kept in a slot.
    Variable(u32),
    /// Any value, dropped.
    Wildcard,
    /// The values that match: the code takes one from the stack, binds variables and leaves whether it matches.
    Pattern {
        /// Where the code starts.
        address: u32,
        /// The pattern, of [`Code::patterns`], to enumerate values from.
        pattern: u32,
    },
}

/// A rendezvous.
#[derive(Clone, Debug)]
pub struct ActionCode {
    /// The region that does it.
    pub region: u32,
    /// The gate, of [`Code::gates`].
    pub gate: u32,
    /// What is offered, with types.
    pub offers: Vec<(OfferCode, TypeId)>,
    /// The code of the guard.
    pub guard: Option<u32>,
    /// The mark of this action instance.
    pub mark: Option<MarkId>,
    /// Where it is written.
    pub span: Span,
}

/// A gate of the whole program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GlobalGate {
    /// As labels print it.
    pub name: String,
    /// Whether it is internal to the outside.
    pub hidden: bool,
}

/// Which children take part in a rendezvous.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The gate.
    pub gate: u32,
    /// The children that synchronise on it.
    pub members: Vec<u32>,
    /// How many of them at a time.
    pub count: u32,
}

/// What a fork is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForkKind {
    /// All children run; it ends when all have ended.
    Parallel,
    /// The first child runs until the second one takes over; it ends when the running one ends.
    Disrupt,
}

/// A point at which children start.
#[derive(Clone, Debug)]
pub struct ForkCode {
    /// What it is for.
    pub kind: ForkKind,
    /// The region that forks.
    pub region: u32,
    /// The children.
    pub children: Vec<u32>,
    /// On which gates they synchronise.
    pub rules: Vec<Rule>,
    /// Where each child starts.
    pub entries: Vec<u32>,
}

/// A sequential part of the program with its own program counter.
#[derive(Clone, Debug, Default)]
pub struct Region {
    /// The slot of its program counter: 0 while it is not active, else a location, counted from 1.
    pub counter: u32,
    /// Its slots and those of the regions below it.
    pub slots: std::ops::Range<u32>,
    /// The fork that starts it and its place among the children; none for the root.
    pub parent: Option<(u32, u32)>,
    /// The process whose text it runs, for people.
    pub name: String,
    /// Which instance of it this is, for people: `NODE (2)`. No other region has the same name.
    pub instance: String,
    /// The call that it is, where it is one.
    pub started: Option<Span>,
    /// Where it can rest.
    pub locations: Vec<Location>,
}

/// Where control goes on when a function raises an exception that its caller has passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Landing {
    /// Nowhere: a run-time error.
    NotCaught,
    /// The caller leaves by an exception parameter of its own.
    PassedOn(u32),
    /// The code of the caller's handler.
    Caught {
        /// Where it starts; it takes the values from the stack.
        address: u32,
        /// How many values it takes, and how many words these have.
        values: (u32, u32),
    },
}

impl Landing {
    /// The address in the caller's code, if there is one.
    pub fn address(&self) -> Option<u32> {
        match self {
            Landing::Caught { address, .. } => Some(*address),
            _ => None,
        }
    }
}

/// How a function raises one of its exception parameters.
#[derive(Clone, Debug)]
pub struct RaiseCode {
    /// Which of the function's exception parameters.
    pub parameter: u32,
    /// How many values on top of the stack the handler gets, and how many words these have.
    pub values: (u32, u32),
    /// What it is called.
    pub name: String,
}

/// A point at which a region can rest.
#[derive(Clone, Debug)]
pub struct Location {
    /// The instruction there.
    pub address: u32,
    /// Slots whose values nobody will read any more: they are reset, so that states do not multiply.
    pub dead: Vec<u32>,
    /// The named slots that have a value to be read.
    pub names: Vec<u32>,
}

/// Where a field is for each constructor of a type, by position; none where a constructor lacks it.
pub type FieldPlaces = Vec<Option<FieldPlace>>;

/// How a packed constructed value is made.
#[derive(Clone, Debug)]
pub struct PackCode {
    /// The position of the constructor, where it lies in the value.
    pub tag: u32,
    /// The first bit of each field, and its bits shifted down to bit 0.
    pub fields: Vec<(u32, u32)>,
}

/// A part of a variable that lies in slots.
#[derive(Clone, Copy, Debug)]
pub struct SlotPart {
    /// The slots of the whole variable: whoever reads a part of it reads it.
    pub whole: (u32, u32),
    /// Where the part starts behind the variable's first slot, if it is not indexed.
    pub from: u32,
    /// How many words it has.
    pub words: u32,
    /// Whether an offset is added.
    pub indexed: bool,
    /// The type of the array whose element is stored.
    pub array: TypeId,
}

/// A part of a function's variable, at an offset.
#[derive(Clone, Copy, Debug)]
pub struct LocalPart {
    /// The words of the whole variable: its first one, and how many.
    pub whole: (u32, u32),
    /// Where the part starts behind the variable's first word, without the offset.
    pub from: u32,
    /// How many words it has.
    pub words: u32,
}

/// The compiled program.
#[derive(Clone, Debug, Default)]
pub struct Code {
    /// How many words the tables of functions have in all.
    pub tabled: u32,
    /// All instructions.
    pub ops: Vec<Op>,
    /// Where each comes from.
    pub spans: Vec<Span>,
    /// Predefined operations in use.
    pub applications: Vec<Application>,
    /// Field accesses: of which type, and where the field is for each constructor.
    pub accesses: Vec<(TypeId, FieldPlaces)>,
    /// Field updates: of which type, and the same for each field that changes.
    pub updates: Vec<(TypeId, Vec<FieldPlaces>)>,
    /// Packed constructed values.
    pub packs: Vec<PackCode>,
    /// Parts of variables that lie in slots.
    pub parts: Vec<SlotPart>,
    /// Parts of variables of functions.
    pub local_parts: Vec<LocalPart>,
    /// For each call that passes exceptions, where each of them is caught.
    pub landings: Vec<Vec<Landing>>,
    /// How functions raise their exception parameters.
    pub raises: Vec<RaiseCode>,
    /// Functions.
    pub functions: Vec<FunctionCode>,
    /// By function.
    pub row_words: Vec<RowWords>,
    /// Messages of run-time errors.
    pub failures: Vec<String>,
    /// Where the ways of each choice start.
    pub choices: Vec<Vec<u32>>,
    /// Patterns of offers.
    pub patterns: Vec<crate::typed::Pattern>,
    /// Rendezvous.
    pub actions: Vec<ActionCode>,
    /// Gates.
    pub gates: Vec<GlobalGate>,
    /// Forks.
    pub forks: Vec<ForkCode>,
    /// Throws: the region that control goes to, and where in it.
    pub throws: Vec<(u32, u32)>,
    /// Regions; the first one is the root.
    pub regions: Vec<Region>,
    /// For each instruction at which a region can rest, its location there, counted from 1; else 0.
    pub location_of: Vec<u32>,
    /// Named slots, for people: slot, variable name, type, region.
    pub names: Vec<SlotName>,
    /// How many bits each slot needs.
    pub slot_bits: Vec<u32>,
    /// Conditions and operands of decisions whose values are recorded, with their types.
    pub observed: Vec<(Span, TypeId)>,
    /// Where the flow of data is followed, marks are these.
    pub flow_events: Vec<FlowEvent>,
    /// Places at which variables are defined and used.
    pub flow_sites: Vec<VariableSite>,
    /// Whether the flow of data is followed.
    pub flows: bool,
}

impl Code {
    /// Whether steps tell which constructs fired.
    pub fn tells(&self) -> bool {
        self.actions.iter().any(|action| action.mark.is_some())
            || self.ops.iter().any(|op| matches!(op, Op::Mark(_) | Op::Decide(_)))
    }

    /// Whether an instruction that goes on to the next one always does so. Those that jump, call or halt are left to who asks.
    pub fn never_fails(&self, op: Op) -> bool {
        match op {
            Op::Apply(number) => self.applications[number as usize].is_total(),
            Op::LoadPart(number) => !self.parts[number as usize].indexed,
            op => matches!(
                op,
                Op::Push(_)
                    | Op::LoadSlot(_)
                    | Op::LoadSlots(..)
                    | Op::StoreSlot(_)
                    | Op::StoreSlots(..)
                    | Op::LoadLocal(_)
                    | Op::LoadLocals(..)
                    | Op::StoreLocal(_)
                    | Op::StoreLocals(..)
                    | Op::Pick(_)
                    | Op::PickMany(..)
                    | Op::Pop(_)
                    | Op::Equal
                    | Op::EqualMany(_)
                    | Op::Less
                    | Op::LessEqual
                    | Op::Not
                    | Op::Offset(_)
                    | Op::MakeRow(..)
                    | Op::Pack(_)
                    | Op::Pad(_)
                    | Op::Bits(..)
                    | Op::Component(_)
                    | Op::Components(..)
                    | Op::Slice(..)
                    | Op::Collection(..)
                    | Op::Fill(_)
                    | Op::IsEmpty(_)
                    | Op::Head(_)
                    | Op::Tail(_)
                    | Op::Mark(_)
                    | Op::Decide(_)
                    | Op::Fire(_)
                    | Op::FireOutcome(_)
                    | Op::Observe(_)
                    | Op::Record(..)
            ),
        }
    }
}

/// Something that happens to a variable, at places of [`Code::flow_sites`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FlowEvent {
    /// A cell is read: which one, and where.
    Use(u32, u32),
    /// A cell gets a value: which one, and where.
    Define(u32, u32),
    /// A parameter that is a constant is read: where it was defined, and where it is used.
    Pair(u32, u32),
}

/// The variable behind a slot.
#[derive(Clone, Debug)]
pub struct SlotName {
    /// The slot.
    pub slot: u32,
    /// The region whose frame it lies in.
    pub region: u32,
    /// The frame. Frames of calls that exclude each other lie at the same place.
    pub frame: u32,
    /// The variable's name.
    pub name: String,
    /// The process's name.
    pub process: String,
    /// Its type.
    pub ty: TypeId,
}
