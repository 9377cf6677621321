//! The typed tree: an LNT program with every name resolved and every expression typed.
//!
//! This is what the checker hands to the compiler. Names are gone: a type, constructor, function, channel or
//! process is a dense index into a table of [`Program`]; a variable, gate or loop is a dense index into a
//! table of the function or process that it belongs to. Spellings are kept only for people (labels,
//! messages, coverage). Overloading is resolved, named parameters are positional, operators are calls.
//!
//! Functions and processes share one [`Statement`] tree; the checker guarantees that the statements marked
//! *processes only* never occur in a function, and `return` never in a process.
//!
//! Invariants that a consumer may rely on, because the checker has refused everything else:
//! - a variable is assigned on every path before it is read;
//! - branches of a `par` never write a variable that another branch uses;
//! - `break` always names an enclosing loop of the same function or process, and does not leave a `par` branch;
//! - the number, modes and types of arguments and offers fit what is called;
//! - the offers of an action fit one profile of the gate's channel.

mod builtin;

use std::ops::{Index, IndexMut};

use source::Span;

pub use builtin::Builtin;

macro_rules! dense_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The id as a position in its table.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

dense_id!(
    /// A type of [`Program::types`].
    TypeId
);
dense_id!(
    /// A constructor of [`Program::constructors`].
    ConstructorId
);
dense_id!(
    /// A function of [`Program::functions`].
    FunctionId
);
dense_id!(
    /// A channel of [`Program::channels`].
    ChannelId
);
dense_id!(
    /// A process of [`Program::processes`].
    ProcessId
);
dense_id!(
    /// A module of [`Program::modules`].
    ModuleId
);
dense_id!(
    /// A variable of one function's, process's or predicate type's [`Scope::variables`].
    VariableId
);
dense_id!(
    /// A gate (or exception) of one function's or process's [`Scope::gates`].
    GateId
);
dense_id!(
    /// A loop of one function's or process's [`Scope::loops`].
    LoopId
);

/// A whole program: the root module and everything it imports.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Modules; an imported module comes before its importers, the root module is the last one.
    pub modules: Vec<Module>,
    /// Types; the predefined ones come first, at the ids of [`TypeId::BOOL`] and so on.
    pub types: Vec<Type>,
    /// Constructors of all constructed types.
    pub constructors: Vec<Constructor>,
    /// Functions that have a body. Predefined operations are [`Builtin`]s instead.
    pub functions: Vec<Function>,
    /// Channels; the predefined ones come first, at [`ChannelId::ANY`] and so on.
    pub channels: Vec<Channel>,
    /// Processes.
    pub processes: Vec<Process>,
    /// Where execution starts, if the user has said so: a process without value parameters that instantiates
    /// what was asked for ([`Loader::root`](crate::Loader::root)).
    pub root: Option<ProcessId>,
}

impl Program {
    /// The process of this name (in any case) that the root module sees, the root module's own ones first.
    pub fn process_named(&self, name: &str) -> Option<ProcessId> {
        let found = self.processes.iter().rposition(|process| process.name.eq_ignore_ascii_case(name))?;
        Some(ProcessId(found as u32))
    }

    /// The process where execution starts: the one that the user asked for, or `MAIN`.
    pub fn main(&self) -> Option<ProcessId> {
        self.root.or_else(|| self.process_named("MAIN"))
    }
}

macro_rules! table {
    ($id:ident, $field:ident, $item:ident) => {
        impl Index<$id> for Program {
            type Output = $item;
            fn index(&self, id: $id) -> &$item {
                &self.$field[id.index()]
            }
        }

        impl IndexMut<$id> for Program {
            fn index_mut(&mut self, id: $id) -> &mut $item {
                &mut self.$field[id.index()]
            }
        }
    };
}

table!(ModuleId, modules, Module);
table!(TypeId, types, Type);
table!(ConstructorId, constructors, Constructor);
table!(FunctionId, functions, Function);
table!(ChannelId, channels, Channel);
table!(ProcessId, processes, Process);

/// A module.
#[derive(Clone, Debug)]
pub struct Module {
    /// Its name as written.
    pub name: String,
    /// The whole module.
    pub span: Span,
}

/// A type.
#[derive(Clone, Debug)]
pub struct Type {
    /// Its name as written.
    pub name: String,
    /// The name in its definition; none for predefined types.
    pub span: Option<Span>,
    /// What its values are.
    pub kind: TypeKind,
}

impl TypeId {
    /// `bool`
    pub const BOOL: TypeId = TypeId(0);
    /// `nat`
    pub const NAT: TypeId = TypeId(1);
    /// `int`
    pub const INT: TypeId = TypeId(2);
    /// `real`
    pub const REAL: TypeId = TypeId(3);
    /// `char`
    pub const CHAR: TypeId = TypeId(4);
    /// `string`
    pub const STRING: TypeId = TypeId(5);
}

/// What the values of a type are.
#[derive(Clone, Debug)]
pub enum TypeKind {
    /// `false`, `true`
    Bool,
    /// Natural numbers between two bounds, both included (`!nat_inf`, `!nat_sup`, `!nat_bits`; 0 to 255 by
    /// default as in CADP). A result outside is a run-time error.
    Nat {
        /// Least value.
        lower: i64,
        /// Greatest value.
        upper: i64,
    },
    /// Integers between two bounds, both included (`!int_inf`, `!int_sup`, `!int_bits`; -128 to 127 by default
    /// as in CADP).
    Int {
        /// Least value.
        lower: i64,
        /// Greatest value.
        upper: i64,
    },
    /// Floating-point numbers.
    Real,
    /// Characters.
    Char,
    /// Strings.
    String,
    /// Values built by constructors, ordered first by constructor in this order, then by fields.
    Constructed(Vec<ConstructorId>),
    /// `list of T`, and `sorted list of T` where elements stay in ascending order.
    List {
        /// The elements' type.
        element: TypeId,
        /// Kept in ascending order.
        sorted: bool,
    },
    /// `set of T` and `sorted set of T`: lists without duplicates. Elements of a sorted set are in ascending order,
    /// so that sets with the same elements are the same value. A set that is not sorted keeps the order in which
    /// elements came, the newest first, and the order is part of its value.
    Set {
        /// The elements' type.
        element: TypeId,
        /// Written `sorted set`.
        sorted: bool,
    },
    /// `array [lower..upper] of T`
    Array {
        /// Least index.
        lower: i64,
        /// Greatest index.
        upper: i64,
        /// The elements' type.
        element: TypeId,
    },
    /// `range lower..upper of T`, where `base` is `nat`, `int`, `char` or another range of these (characters
    /// count by their code).
    Range {
        /// Least value.
        lower: i64,
        /// Greatest value.
        upper: i64,
        /// The type whose values these are.
        base: TypeId,
    },
    /// `x : T where V`
    Predicate {
        /// The type whose values these are.
        base: TypeId,
        /// The one variable, [`VariableId`] 0 of this scope, stands for the value.
        scope: Scope,
        /// Which values belong to the type.
        condition: Box<Expression>,
    },
}

/// A constructor of a type.
#[derive(Clone, Debug)]
pub struct Constructor {
    /// Its name as written; print it in upper case.
    pub name: String,
    /// The name in its definition.
    pub span: Span,
    /// The type it builds.
    pub ty: TypeId,
    /// Its position among the type's constructors.
    pub ordinal: u32,
    /// Its fields in order.
    pub fields: Vec<Field>,
}

/// A field of a constructor.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name as written.
    pub name: String,
    /// The name in its definition.
    pub span: Span,
    /// Its type.
    pub ty: TypeId,
}

/// A channel: which offers a gate takes.
#[derive(Clone, Debug)]
pub struct Channel {
    /// Its name as written.
    pub name: String,
    /// The name in its definition; none for predefined channels.
    pub span: Option<Span>,
    /// The allowed lists of offer types; not meaningful for [`ChannelId::ANY`], which allows everything.
    pub profiles: Vec<Vec<TypeId>>,
}

impl ChannelId {
    /// `any`: all offers.
    pub const ANY: ChannelId = ChannelId(0);
    /// `none`: no offers.
    pub const NONE: ChannelId = ChannelId(1);
    /// `exit`: no offers, for exceptions.
    pub const EXIT: ChannelId = ChannelId(2);
}

/// What a function or process declares inside itself.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// All variables: parameters, `var` declarations, variables of patterns.
    pub variables: Vec<Variable>,
    /// All gates and exceptions: parameters, `hide` and `trap` declarations.
    pub gates: Vec<Gate>,
    /// All loops.
    pub loops: Vec<Loop>,
}

impl Index<VariableId> for Scope {
    type Output = Variable;
    fn index(&self, id: VariableId) -> &Variable {
        &self.variables[id.index()]
    }
}

impl Index<GateId> for Scope {
    type Output = Gate;
    fn index(&self, id: GateId) -> &Gate {
        &self.gates[id.index()]
    }
}

impl Index<LoopId> for Scope {
    type Output = Loop;
    fn index(&self, id: LoopId) -> &Loop {
        &self.loops[id.index()]
    }
}

/// A variable. Every declaration has its own id, so scopes never hide anything here.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name as written.
    pub name: String,
    /// The name in its declaration.
    pub span: Span,
    /// Its type.
    pub ty: TypeId,
}

/// A gate, or an exception of a function.
#[derive(Clone, Debug)]
pub struct Gate {
    /// Its name as written; print it in upper case.
    pub name: String,
    /// The name in its declaration.
    pub span: Span,
    /// Which offers it takes.
    pub channel: ChannelId,
}

/// A loop.
#[derive(Clone, Debug)]
pub struct Loop {
    /// Its name as written, where it has one.
    pub name: Option<String>,
    /// From `loop`, `while` or `for` to its end.
    pub span: Span,
}

/// How a value parameter is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// By value; `in var` may also be changed inside, which the caller never sees.
    In,
    /// Only the final value is passed, to the caller.
    Out,
    /// Passed in, and its final value passed back.
    InOut,
}

/// A value parameter.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// The variable that holds it.
    pub variable: VariableId,
    /// How it is passed.
    pub mode: Mode,
}

/// A function with a body.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name as written.
    pub name: String,
    /// The name in its definition.
    pub span: Span,
    /// The whole definition.
    pub extent: Span,
    /// Where it is defined.
    pub module: ModuleId,
    /// Exception parameters in order.
    pub gates: Vec<GateId>,
    /// Value parameters in order.
    pub parameters: Vec<Parameter>,
    /// What it returns, if anything.
    pub result: Option<TypeId>,
    /// Everything declared inside.
    pub scope: Scope,
    /// What it does.
    pub body: Statement,
}

/// A process.
#[derive(Clone, Debug)]
pub struct Process {
    /// Its name as written.
    pub name: String,
    /// The name in its definition.
    pub span: Span,
    /// The whole definition.
    pub extent: Span,
    /// Where it is defined.
    pub module: ModuleId,
    /// Gate parameters in order.
    pub gates: Vec<GateId>,
    /// Value parameters in order.
    pub parameters: Vec<Parameter>,
    /// Everything declared inside.
    pub scope: Scope,
    /// What it does.
    pub body: Statement,
}

/// A statement of a function, or a behaviour of a process.
#[derive(Clone, Debug)]
pub struct Statement {
    /// What it does.
    pub kind: StatementKind,
    /// Where it is written.
    pub span: Span,
}

/// What a statement does.
#[derive(Clone, Debug)]
pub enum StatementKind {
    /// Nothing; in a process, terminates successfully at once.
    Null,
    /// Processes only: blocks for ever.
    Stop,
    /// `B1; B2; …`, at least two.
    Sequence(Vec<Statement>),
    /// `x := V`
    Assign {
        /// The variable.
        variable: VariableId,
        /// Its new value.
        value: Expression,
    },
    /// `a[i] := V`
    AssignElement {
        /// The variable, whose type is an array.
        array: VariableId,
        /// Which element.
        index: Expression,
        /// Its new value.
        value: Expression,
    },
    /// Processes only: `x := any T where V`, one branch for each value of the variable's type that satisfies
    /// the condition (which may use the variable).
    AssignAny {
        /// The variable.
        variable: VariableId,
        /// Which values are allowed.
        condition: Option<Expression>,
    },
    /// `f (V, ?x, !?y)`, `x := f (V, ?y)`, `eval f (V)`: a call of a function as a statement.
    Call {
        /// The variable that takes the returned value.
        result: Option<VariableId>,
        /// What is called.
        function: FunctionId,
        /// Actual exceptions, one for each formal one.
        gates: Vec<GateRef>,
        /// Actual parameters, one for each formal one.
        arguments: Vec<Argument>,
    },
    /// Processes only: `P [G, H] (V, ?x, !?y)`.
    Instantiate {
        /// What is called.
        process: ProcessId,
        /// Actual gates, one for each formal one.
        gates: Vec<GateRef>,
        /// Actual parameters, one for each formal one.
        arguments: Vec<Argument>,
    },
    /// `var x : T in B end var`. The variables have no value at the start of the body.
    Var {
        /// What is declared.
        variables: Vec<VariableId>,
        /// Where it can be used.
        body: Box<Statement>,
    },
    /// `if … elsif … else … end if`; without `else`, nothing happens where no condition holds.
    If {
        /// `if` and every `elsif`, in order.
        branches: Vec<ConditionalBranch>,
        /// `else`
        otherwise: Option<Box<Statement>>,
    },
    /// Processes only: `only if … end if`; without `else`, it blocks where no condition holds.
    OnlyIf {
        /// `if` and every `elsif`, in order.
        branches: Vec<ConditionalBranch>,
        /// `else`
        otherwise: Option<Box<Statement>>,
    },
    /// `case V0, …, Vn in …`: the first branch that matches; a run-time error where none does.
    Case {
        /// What is looked at.
        subjects: Vec<Expression>,
        /// In order.
        branches: Vec<CaseBranch>,
        /// Whether the checker has shown that some branch always matches.
        exhaustive: bool,
    },
    /// `loop … end loop`
    Loop {
        /// Which loop.
        id: LoopId,
        /// Its body.
        body: Box<Statement>,
    },
    /// `while V loop … end loop`
    While {
        /// Which loop.
        id: LoopId,
        /// Checked before every round.
        condition: Expression,
        /// Its body.
        body: Box<Statement>,
    },
    /// `for B0 while V by B1 loop … end loop`
    For {
        /// Which loop.
        id: LoopId,
        /// Done once.
        initial: Box<Statement>,
        /// Checked before every round.
        condition: Expression,
        /// Done after every round.
        step: Box<Statement>,
        /// Its body.
        body: Box<Statement>,
    },
    /// Leaves an enclosing loop.
    Break(LoopId),
    /// Functions only: `return V`, or `return` where there is no result.
    Return(Option<Expression>),
    /// `raise E (V)`. Control goes to the handler of the enclosing `trap` that declares this gate or, where
    /// the gate is a parameter, out of the function or process; in a process at the top, an exception is an
    /// action on that gate followed by `stop`.
    Raise {
        /// The exception.
        gate: GateRef,
        /// Its values.
        values: Vec<Expression>,
    },
    /// `assert V [raise E]`, also `require` and `ensure`: raises where the condition does not hold.
    Assert {
        /// What has to hold.
        condition: Expression,
        /// What is raised otherwise; [`GateRef::Unexpected`] where none is named.
        gate: GateRef,
    },
    /// Processes only: a rendezvous.
    Action(Action),
    /// Processes only: `select`/`alt`, a choice.
    Select(Vec<Statement>),
    /// Processes only: parallel composition.
    Par {
        /// `par G, H#2 in`
        synchronised: Vec<ParGate>,
        /// In order.
        branches: Vec<ParBranch>,
    },
    /// Processes only: `hide G : c in B end hide`
    Hide {
        /// The hidden gates.
        gates: Vec<GateId>,
        /// Where they can be used.
        body: Box<Statement>,
    },
    /// Processes only: `disrupt B1 by B2 end disrupt`, where B2 may take over until B1 has terminated.
    Disrupt {
        /// What starts.
        body: Box<Statement>,
        /// What may take over.
        interruption: Box<Statement>,
    },
    /// `trap exception E is B1 … in B end trap`
    Trap {
        /// In order.
        handlers: Vec<Handler>,
        /// What may raise.
        body: Box<Statement>,
    },
}

/// `if V then B` or `elsif V then B`.
#[derive(Clone, Debug)]
pub struct ConditionalBranch {
    /// The decision; coverage counts it.
    pub condition: Expression,
    /// What happens where it holds.
    pub body: Statement,
    /// From `if` or `elsif` to the end of the body.
    pub span: Span,
}

/// `P1 | P2 where V -> B`
#[derive(Clone, Debug)]
pub struct CaseBranch {
    /// One of these has to match, tried in order. A variable that only some of them bind is not read in the
    /// body unless it had a value before.
    pub alternatives: Vec<CaseAlternative>,
    /// What happens then.
    pub body: Statement,
    /// The whole branch.
    pub span: Span,
}

/// `P0, …, Pn where V`
#[derive(Clone, Debug)]
pub struct CaseAlternative {
    /// One for each subject.
    pub patterns: Vec<Pattern>,
    /// Checked after the variables are bound.
    pub guard: Option<Expression>,
    /// Patterns and guard.
    pub span: Span,
}

/// A gate, or one of the events that need no declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GateRef {
    /// A gate of the scope.
    Local(GateId),
    /// `i`
    Internal,
    /// `unexpected`, the exception of run-time errors.
    Unexpected,
}

/// `G (!V, ?P) where V`
#[derive(Clone, Debug)]
pub struct Action {
    /// Where.
    pub gate: GateRef,
    /// The gate's name in the source.
    pub gate_span: Span,
    /// What is sent and received, in order.
    pub offers: Vec<Offer>,
    /// Which values are accepted; may use the received variables.
    pub guard: Option<Expression>,
}

/// What happens to variables.
pub enum Touch<'a> {
    /// They are read.
    Use(&'a Expression),
    /// They are assigned.
    Define(&'a Pattern),
}

impl Action {
    /// What it does with variables, in order: it sends, then it receives, then it decides whether to accept.
    pub fn touches(&self) -> impl Iterator<Item = Touch<'_>> {
        let sent = self.offers.iter().filter_map(|offer| match &offer.kind {
            OfferKind::Send(value) => Some(Touch::Use(value)),
            OfferKind::Receive(_) => None,
        });
        let received = self.offers.iter().filter_map(|offer| match &offer.kind {
            OfferKind::Send(_) => None,
            OfferKind::Receive(pattern) => Some(Touch::Define(pattern)),
        });
        sent.chain(received).chain(self.guard.iter().map(Touch::Use))
    }
}

/// One value of an action.
#[derive(Clone, Debug)]
pub struct Offer {
    /// Sent or received.
    pub kind: OfferKind,
    /// The type of the value.
    pub ty: TypeId,
    /// Where it is written.
    pub span: Span,
}

/// Which way a value goes.
#[derive(Clone, Debug)]
pub enum OfferKind {
    /// `!V` or `V`
    Send(Expression),
    /// `?P`: every value of the type that matches.
    Receive(Pattern),
}

/// A gate of `par G, H#2 in`.
#[derive(Clone, Copy, Debug)]
pub struct ParGate {
    /// The gate.
    pub gate: GateRef,
    /// How many branches take part at a time: all of them, or the number after `#`.
    pub count: Option<u32>,
    /// Where it is written.
    pub span: Span,
}

/// `G1, G2 -> B`
#[derive(Clone, Debug)]
pub struct ParBranch {
    /// Gates on which this branch synchronises with all other branches that list them as well.
    pub gates: Vec<GateRef>,
    /// What it does.
    pub body: Statement,
    /// The whole branch.
    pub span: Span,
}

/// `exception E (x : T) is B`
#[derive(Clone, Debug)]
pub struct Handler {
    /// The exception, declared here and visible in the trap's body.
    pub gate: GateId,
    /// Take the values of the `raise`.
    pub parameters: Vec<VariableId>,
    /// What happens then.
    pub body: Statement,
    /// The whole handler.
    pub span: Span,
}

/// An actual parameter.
#[derive(Clone, Debug)]
pub enum Argument {
    /// `V` for an `in` parameter.
    In(Expression),
    /// `?x` for an `out` parameter.
    Out(VariableId, Span),
    /// `!?x` for an `in out` parameter.
    InOut(VariableId, Span),
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expression {
    /// How its value comes about.
    pub kind: ExpressionKind,
    /// The type of its value.
    pub ty: TypeId,
    /// Where it is written.
    pub span: Span,
}

/// How a value comes about.
#[derive(Clone, Debug)]
pub enum ExpressionKind {
    /// A constant of a predefined type, or of a range or predicate type over one.
    Literal(Literal),
    /// The value of a variable.
    Variable(VariableId),
    /// A constructor with its fields.
    Construct(ConstructorId, Vec<Expression>),
    /// `{V1, …, Vn}` of a list, set or array type, in the order written (sorted types: sort; sets: remove
    /// duplicates).
    Collection(Vec<Expression>),
    /// `T (V)` of an array type: an array with every element equal to the value.
    FilledArray(Box<Expression>),
    /// A predefined operation.
    Builtin(Builtin, Vec<Expression>),
    /// A function of the program; all parameters are `in`.
    Call {
        /// What is called.
        function: FunctionId,
        /// Actual exceptions, one for each formal one.
        gates: Vec<GateRef>,
        /// Actual parameters, one for each formal one.
        arguments: Vec<Expression>,
    },
    /// `V.f`; a run-time error where the value's constructor has no such field.
    Field {
        /// The value.
        value: Box<Expression>,
        /// Where the field is, for each constructor that has it.
        positions: Vec<FieldPosition>,
    },
    /// `V.{f => V1, g => V2}`; a run-time error where the value's constructor lacks one of the fields.
    Update {
        /// The value.
        value: Box<Expression>,
        /// What changes.
        fields: Vec<FieldUpdate>,
    },
    /// `a[i]`; a run-time error where the index is outside the bounds.
    Element {
        /// The array.
        array: Box<Expression>,
        /// Which element.
        index: Box<Expression>,
    },
}

/// Where a field is among the fields of one constructor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldPosition {
    /// The constructor.
    pub constructor: ConstructorId,
    /// Position in [`Constructor::fields`].
    pub field: u32,
}

/// `f => V`
#[derive(Clone, Debug)]
pub struct FieldUpdate {
    /// Where the field is, for each constructor that has it.
    pub positions: Vec<FieldPosition>,
    /// Its new value.
    pub value: Expression,
}

/// A constant of a predefined type.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// `true`, `false`
    Bool(bool),
    /// A number of a type based on `nat` or `int`.
    Integer(i64),
    /// A number of type `real`.
    Real(f64),
    /// A character.
    Char(char),
    /// A string, without its quotes and escapes.
    String(String),
}

/// A pattern.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// What matches.
    pub kind: PatternKind,
    /// The type of the values looked at.
    pub ty: TypeId,
    /// Where it is written.
    pub span: Span,
}

/// What matches.
#[derive(Clone, Debug)]
pub enum PatternKind {
    /// Everything, kept in a variable.
    Variable(VariableId),
    /// Everything: `any T`.
    Wildcard,
    /// What the pattern matches, kept in a variable: `x as P`.
    As(VariableId, Box<Pattern>),
    /// One value.
    Literal(Literal),
    /// Values of one constructor whose fields match.
    Constructor(ConstructorId, Vec<Pattern>),
    /// The empty list or set.
    Nil,
    /// A list or set that is not empty: its first element and the others. `{P1, P2}` is written with these.
    Cons(Box<Pattern>, Box<Pattern>),
    /// An array whose elements match, one pattern for each.
    Array(Vec<Pattern>),
    /// What equals a constant that is computed: a function without parameters.
    Equal(Box<Expression>),
}
