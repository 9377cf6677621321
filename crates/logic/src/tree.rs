//! What the parser builds: formulas with their places in the source.
//!
//! Chains of `and`, `or`, `.` and `|` are vectors, so that only real nesting is deep, and that is limited by the
//! parser: passes over the tree may recurse.

use regex::Regex;
use source::Span;

/// A name and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The name.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// The type of a data value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// `bool`
    Bool,
    /// `nat`: integers from 0.
    Nat,
    /// `int`
    Int,
    /// `real`
    Real,
    /// `char`
    Char,
    /// `string`
    String,
    /// A type of the model: its values are compared as they are printed in labels.
    Term(String),
}

/// A data expression.
#[derive(Clone, Debug)]
pub struct Expression {
    /// What it is.
    pub kind: ExpressionKind,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of data expressions.
#[derive(Clone, Debug)]
pub enum ExpressionKind {
    /// `true`, `false`
    Bool(bool),
    /// `12`
    Number(i64),
    /// `1.5`
    Real(f64),
    /// `'a'`
    Char(char),
    /// `"text"`
    Text(String),
    /// A variable, or a constant of a type of the model such as `ROCK`.
    Name(String),
    /// `min (a, b)`: a built-in function, or a constructor of the model applied to values.
    Call(String, Vec<Expression>),
    /// `-E`, `not E`
    Unary(UnaryOperator, Box<Expression>),
    /// `E + E` …
    Binary(BinaryOperator, Box<Expression>, Box<Expression>),
    /// `E of T`
    Of(Box<Expression>, Type),
    /// What could not be read; nothing more is said about it.
    Wrong,
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOperator {
    /// `-`
    Minus,
    /// `not`
    Not,
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum BinaryOperator {
    Implies,
    Equ,
    Xor,
    Or,
    And,
    Equal,
    Different,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Plus,
    Minus,
    Times,
    Divide,
    Modulo,
}

/// A predicate on labels.
#[derive(Clone, Debug)]
pub struct Action {
    /// What it is.
    pub kind: ActionKind,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of label predicates.
#[derive(Clone, Debug)]
pub enum ActionKind {
    /// Every label, or none.
    Constant(bool),
    /// The internal action.
    Tau,
    /// `"LABEL"`: the label with this text.
    Exact(String),
    /// `'REGEX'`: every label that the expression matches as a whole.
    Regex(LabelPattern),
    /// `{ GATE !1 ?x:nat ... where x < 3 }`
    Pattern(ActionPattern),
    /// `not A`
    Not(Box<Action>),
    /// `A and B …`
    And(Vec<Action>),
    /// `A or B …`
    Or(Vec<Action>),
    /// `A implies B`, `A equ B`, `A xor B`
    Binary(BinaryOperator, Box<Action>, Box<Action>),
}

/// A regular expression for whole labels.
#[derive(Clone, Debug)]
pub struct LabelPattern {
    /// As it is written.
    pub text: String,
    /// In which syntax that is.
    pub syntax: Syntax,
    /// Ready to be matched with whole labels.
    pub regex: Box<Regex>,
}

/// How regular expressions are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// The basic regular expressions of POSIX, as in MCL: `( ) { } + ? |` stand for themselves.
    Basic,
    /// Extended ones, as on the command line.
    Extended,
}

impl LabelPattern {
    /// Compiles an expression, or says what is wrong with it.
    ///
    /// ```
    /// use logic::tree::{LabelPattern, Syntax};
    /// let basic = LabelPattern::new("SEND !{.*}", Syntax::Basic)?;
    /// assert!(basic.regex.is_match("SEND !{1, 2}"));
    /// let extended = LabelPattern::new("SEND|RECEIVE", Syntax::Extended)?;
    /// assert!(extended.regex.is_match("RECEIVE"));
    /// # Ok::<(), String>(())
    /// ```
    pub fn new(text: &str, syntax: Syntax) -> Result<Self, String> {
        let regex = match syntax {
            Syntax::Basic => lts::whole_label_regex(&crate::basic::extended(text)?),
            Syntax::Extended => lts::whole_label_regex(text),
        };
        let regex = regex.map_err(|error| match error {
            lts::SelectorError::Regex { reason, .. } => reason,
            other => other.to_string(),
        })?;
        Ok(Self { text: text.to_owned(), syntax, regex: Box::new(regex) })
    }
}

/// A pattern on the gate and the offers of a label.
#[derive(Clone, Debug)]
pub struct ActionPattern {
    /// The gate; `None` for any, written `any`.
    pub gate: Option<Name>,
    /// What must be offered.
    pub offers: Vec<Offer>,
    /// What must hold of the values.
    pub condition: Option<Box<Expression>>,
}

/// One part of an action pattern.
#[derive(Clone, Debug)]
pub enum Offer {
    /// `!E`: an offer with this value.
    Value(Expression),
    /// `?x:T`: an offer of this type, whose value gets a name.
    Bind(Name, Type),
    /// `?any`: one offer, whatever it is.
    Any,
    /// `...`: any number of offers.
    Rest,
}

/// A regular formula: a set of sequences of labels.
#[derive(Clone, Debug)]
pub struct Regular {
    /// What it is.
    pub kind: RegularKind,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of regular formulas.
#[derive(Clone, Debug)]
pub enum RegularKind {
    /// The empty sequence.
    Nil,
    /// One label.
    Action(Action),
    /// One after the other.
    Sequence(Vec<Regular>),
    /// Any one of these.
    Choice(Vec<Regular>),
    /// From `min` to `max` times; without `max`, any number from `min`.
    Repeat {
        /// What is repeated.
        body: Box<Regular>,
        /// At least so often.
        min: u32,
        /// At most so often.
        max: Option<u32>,
    },
    /// Like a repetition, with bounds that are computed.
    Counted {
        /// What is repeated.
        body: Box<Regular>,
        /// At least so often.
        min: Box<Expression>,
        /// At most so often.
        max: Option<Box<Expression>>,
    },
    /// `if E then R elsif … else S end if`: conditions with their branches, and the last branch.
    If(Vec<(Expression, Regular)>, Option<Box<Regular>>),
    /// `case E is P -> R | … end case`
    Case(Box<Expression>, Vec<Branch<Regular>>),
    /// `let x:T := E in R end let`
    Let(Vec<Binding>, Box<Regular>),
    /// `for x:T from E to E step E do R end for`
    For {
        /// The variable.
        name: Name,
        /// Its type.
        type_of: Type,
        /// Its first value.
        from: Box<Expression>,
        /// Its last one.
        to: Box<Expression>,
        /// What it grows by; 1 if not said.
        step: Option<Box<Expression>>,
        /// What is done for each value.
        body: Box<Regular>,
    },
    /// `while E do R end while`
    While(Box<Expression>, Box<Regular>),
    /// `repeat R until E end repeat`: the condition knows what R binds.
    Until(Box<Regular>, Box<Expression>),
    /// `loop (x:T := E) : (y:U) in R end loop`
    Loop {
        /// Variables that each round has anew.
        parameters: Vec<Binding>,
        /// Variables that the end of the loop gives values to.
        results: Vec<(Name, Type)>,
        /// A round; all its ways end with `continue` or `exit`.
        body: Box<Regular>,
    },
    /// `continue (E)`: the next round of the innermost loop.
    Continue(Vec<Expression>),
    /// `exit (E)`: the end of the innermost loop.
    Exit(Vec<Expression>),
}

/// One branch of a `case`.
#[derive(Clone, Debug)]
pub struct Branch<T> {
    /// Which values it is for.
    pub pattern: CasePattern,
    /// What must hold besides.
    pub condition: Option<Expression>,
    /// What it says.
    pub body: T,
}

/// Which values a branch is for.
#[derive(Clone, Debug)]
pub enum CasePattern {
    /// `any`
    Any,
    /// `x:T`: every value, which gets a name.
    Bind(Name, Type),
    /// These values.
    Values(Vec<Expression>),
}

/// A state formula.
#[derive(Clone, Debug)]
pub struct Formula {
    /// What it is.
    pub kind: FormulaKind,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of state formulas.
#[derive(Clone, Debug)]
pub enum FormulaKind {
    /// A boolean expression over data; `true` and `false` among them.
    Data(Expression),
    /// A name with or without arguments: a fixpoint variable, or data where it is none.
    Name(Name, Vec<Expression>),
    /// `not F`
    Not(Box<Formula>),
    /// `F and G …`
    And(Vec<Formula>),
    /// `F or G …`
    Or(Vec<Formula>),
    /// `F implies G`, `F equ G`, `F xor G`
    Binary(BinaryOperator, Box<Formula>, Box<Formula>),
    /// `< R > F`: some sequence of R leads to a state where F holds.
    Possible(Regular, Box<Formula>),
    /// `[ R ] F`: all sequences of R lead to states where F holds.
    Necessary(Regular, Box<Formula>),
    /// `< R > @`: R can be repeated for ever.
    Forever(Regular),
    /// `[ R ] -|`: R can't be repeated for ever.
    Saturated(Regular),
    /// `mu X (x:T := E) . F` or `nu …`
    Fixpoint {
        /// `mu`?
        least: bool,
        /// The variable.
        name: Name,
        /// Its parameters.
        parameters: Vec<Binding>,
        /// The body.
        body: Box<Formula>,
    },
    /// `forall x:T among { … } . F` or `exists …`
    Quantified {
        /// `exists`?
        exists: bool,
        /// The variables.
        variables: Vec<Domain>,
        /// The body.
        body: Box<Formula>,
    },
    /// `if F then G elsif … else H end if`: conditions with their branches, and the last branch.
    If(Vec<(Formula, Formula)>, Box<Formula>),
    /// `let x:T := E in F end let`
    Let(Vec<Binding>, Box<Formula>),
    /// `case E is P -> F | … end case`
    Case(Box<Expression>, Vec<Branch<Formula>>),
}

/// A variable with its value.
#[derive(Clone, Debug)]
pub struct Binding {
    /// The variable.
    pub name: Name,
    /// Its type.
    pub type_of: Type,
    /// Its value.
    pub value: Expression,
}

/// A variable with the values it takes in turn.
#[derive(Clone, Debug)]
pub struct Domain {
    /// The variable.
    pub name: Name,
    /// Its type.
    pub type_of: Type,
    /// The values.
    pub values: DomainValues,
}

/// The values of a quantified variable.
#[derive(Clone, Debug)]
pub enum DomainValues {
    /// Both truth values.
    Bool,
    /// `{ a ... b }`
    Range(Expression, Expression),
    /// `{ a, b, c }`
    Set(Vec<Expression>),
}
