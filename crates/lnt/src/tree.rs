//! The syntax tree: what is written, nothing resolved. Names keep their spelling and their place.

use source::Span;

/// A name as written.
#[derive(Clone, Debug)]
pub struct Name {
    /// Its spelling.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

impl Name {
    /// The form in which names are compared: LNT ignores case.
    pub fn key(&self) -> String {
        key(&self.text)
    }
}

/// The form in which names are compared. `_op_` is another spelling of the infix operator `op`.
pub(crate) fn key(text: &str) -> String {
    let infix =
        text.strip_prefix('_').and_then(|rest| rest.strip_suffix('_')).filter(|rest| !rest.is_empty());
    infix.unwrap_or(text).to_ascii_lowercase()
}

#[derive(Clone, Debug)]
pub(crate) struct Module {
    pub name: Name,
    pub imports: Vec<Name>,
    pub with: Vec<With>,
    pub pragmas: Vec<Pragma>,
    pub types: Vec<TypeDefinition>,
    pub channels: Vec<ChannelDefinition>,
    pub functions: Vec<Callable>,
    pub processes: Vec<Callable>,
    pub span: Span,
}

/// `"get"` or `"get" as "read"` of a `with` clause.
#[derive(Clone, Debug)]
pub(crate) struct With {
    pub name: Name,
    pub alias: Option<Name>,
}

/// `!name arguments`
#[derive(Clone, Debug)]
pub(crate) struct Pragma {
    pub name: Name,
    pub number: Option<i64>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub(crate) struct TypeDefinition {
    pub name: Name,
    pub pragmas: Vec<Pragma>,
    pub body: TypeBody,
    pub with: Vec<With>,
}

#[derive(Clone, Debug)]
pub(crate) enum TypeBody {
    Constructors(Vec<ConstructorDefinition>),
    List {
        element: Name,
        sorted: bool,
    },
    Set {
        element: Name,
        sorted: bool,
    },
    Array {
        lower: Bound,
        upper: Bound,
        element: Name,
    },
    Range {
        lower: Bound,
        upper: Bound,
        base: Name,
    },
    Predicate {
        variable: Name,
        base: Name,
        condition: Expression,
    },
    /// The parser has already complained.
    Wrong,
}

/// A constant bound of a range or array: number or character, by its code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bound {
    pub value: i64,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub(crate) struct ConstructorDefinition {
    pub name: Name,
    pub fields: Vec<Declaration>,
}

/// `x : T`, one for each name of `x, y : T`.
#[derive(Clone, Debug)]
pub(crate) struct Declaration {
    pub name: Name,
    pub ty: Name,
}

/// A step from a value to a part of it.
#[derive(Clone, Debug)]
pub(crate) enum Part {
    Element(Expression),
    Field(Name),
}

#[derive(Clone, Debug)]
pub(crate) struct ChannelDefinition {
    pub name: Name,
    /// Each value's type, and its name where it has one.
    pub profiles: Vec<Vec<(Option<Name>, Name)>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    In,
    InVar,
    Out,
    InOut,
}

#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    pub mode: Mode,
    pub name: Name,
    pub ty: Name,
}

/// `G : c`; the channel is `any`, `none`, or a name.
#[derive(Clone, Debug)]
pub(crate) struct GateDeclaration {
    pub name: Name,
    pub channel: Name,
}

/// A function or a process.
#[derive(Clone, Debug)]
pub(crate) struct Callable {
    pub name: Name,
    pub gates: Vec<GateDeclaration>,
    pub parameters: Vec<Parameter>,
    pub result: Option<Name>,
    pub pragmas: Vec<Pragma>,
    pub body: Statement,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub(crate) struct Statement {
    pub kind: StatementKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub(crate) enum StatementKind {
    Null,
    Stop,
    Sequence(Vec<Statement>),
    Assign {
        variable: Name,
        value: Expression,
    },
    /// `x[i].f := V`
    AssignPart {
        variable: Name,
        path: Vec<Part>,
        value: Expression,
    },
    AssignAny {
        variable: Name,
        ty: Option<Name>,
        condition: Option<Expression>,
    },
    /// `name [gates] (arguments) where V`: an action, an instantiation or a call, as the name says.
    Invoke(Box<Invoke>),
    Var {
        variables: Vec<Declaration>,
        body: Box<Statement>,
    },
    If {
        only: bool,
        branches: Vec<(Expression, Statement, Span)>,
        otherwise: Option<Box<Statement>>,
    },
    Case {
        subjects: Vec<Expression>,
        variables: Vec<Declaration>,
        branches: Vec<CaseBranch>,
    },
    Loop {
        name: Option<Name>,
        body: Box<Statement>,
    },
    While {
        name: Option<Name>,
        condition: Expression,
        body: Box<Statement>,
    },
    For {
        name: Option<Name>,
        initial: Box<Statement>,
        condition: Expression,
        step: Box<Statement>,
        body: Box<Statement>,
    },
    Break(Option<Name>),
    Return(Option<Expression>),
    Raise {
        gate: Name,
        values: Vec<Actual>,
    },
    Assert {
        condition: Expression,
        gate: Option<Name>,
    },
    Use(Vec<Name>),
    Access(Vec<Name>),
    Select(Vec<Statement>),
    Par {
        synchronised: Vec<(Name, Option<u32>)>,
        branches: Vec<ParBranch>,
    },
    Hide {
        gates: Vec<GateDeclaration>,
        body: Box<Statement>,
    },
    Disrupt {
        body: Box<Statement>,
        interruption: Box<Statement>,
    },
    Trap {
        handlers: Vec<Handler>,
        body: Box<Statement>,
    },
    /// The parser has already complained.
    Wrong,
}

#[derive(Clone, Debug)]
pub(crate) struct Invoke {
    /// `x := name (…)`, where the arguments show that this is a call and no expression.
    pub result: Option<Name>,
    /// `eval name (…)`
    pub eval: bool,
    pub name: Name,
    pub gates: Option<GateActuals>,
    /// `None` without parentheses.
    pub arguments: Option<Actuals>,
    pub guard: Option<Expression>,
}

/// `A, B` or `F -> A, …`
#[derive(Clone, Debug)]
pub(crate) struct GateActuals {
    pub gates: Vec<GateActual>,
    /// `...` stands for formal gates that have the same name here.
    pub ellipsis: bool,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub(crate) struct GateActual {
    pub formal: Option<Name>,
    pub actual: Name,
}

/// `V, ?P` or `x => V, …`
#[derive(Clone, Debug)]
pub(crate) struct Actuals {
    pub values: Vec<Actual>,
    pub ellipsis: bool,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub(crate) struct Actual {
    pub formal: Option<Name>,
    pub kind: ActualKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub(crate) enum ActualKind {
    /// `V` or `!V`
    Value(Expression),
    /// `?P`
    Receive(Pattern),
    /// `!?x`
    InOut(Name),
}

#[derive(Clone, Debug)]
pub(crate) struct CaseBranch {
    pub alternatives: Vec<CaseAlternative>,
    pub body: Statement,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub(crate) struct CaseAlternative {
    pub patterns: Vec<Pattern>,
    pub guard: Option<Expression>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub(crate) struct ParBranch {
    pub gates: Vec<Name>,
    pub body: Statement,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub(crate) struct Handler {
    pub gate: Name,
    pub channel: Option<Name>,
    pub parameters: Vec<Declaration>,
    pub body: Statement,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub(crate) struct Expression {
    pub kind: ExpressionKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub(crate) enum ExpressionKind {
    Integer(i64),
    Real(f64),
    Char(char),
    String(String),
    /// A variable, or a call without parentheses.
    Name(Name),
    /// `f [E] (V, …)`, also operators: `infix` says how it was written.
    Call {
        name: Name,
        gates: Option<GateActuals>,
        arguments: Actuals,
        infix: bool,
    },
    Collection(Vec<Expression>),
    Field {
        value: Box<Expression>,
        field: Name,
    },
    Update {
        value: Box<Expression>,
        fields: Vec<(Name, Expression)>,
    },
    Element {
        array: Box<Expression>,
        index: Box<Expression>,
    },
    Of {
        value: Box<Expression>,
        ty: Name,
    },
    /// `and then`, `or else`
    AndThen(Box<Expression>, Box<Expression>),
    OrElse(Box<Expression>, Box<Expression>),
    /// The parser has already complained.
    Wrong,
}

#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    pub kind: PatternKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub(crate) enum PatternKind {
    /// A variable or a constant.
    Name(Name),
    Any(Option<Name>),
    As(Name, Box<Pattern>),
    Integer(i64),
    Real(f64),
    Char(char),
    String(String),
    /// Named fields have a name: `c (x => P)`.
    Constructor {
        name: Name,
        fields: Vec<(Option<Name>, Pattern)>,
        ellipsis: bool,
    },
    Collection(Vec<Pattern>),
    Of {
        pattern: Box<Pattern>,
        ty: Name,
    },
    /// The parser has already complained.
    Wrong,
}
