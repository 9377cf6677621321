//! What a file says, before any module is known: modules, views, commands. Terms are still sequences of tokens.

use source::Span;

use super::lexer::Token;
use crate::names::Name;

/// One thing in a file.
#[derive(Clone, Debug)]
pub enum Item {
    /// A module or theory.
    Module(ModuleText),
    /// A view.
    View(ViewText),
    /// `load` or `in` another file; `sload` only if that was not done before.
    Load(Token, bool),
    /// Anything that is carried out at once.
    Command(CommandText),
}

/// A command: its words up to the period.
#[derive(Clone, Debug)]
pub struct CommandText {
    /// The words, the first one says what to do.
    pub tokens: Vec<Token>,
    /// All of it.
    pub span: Span,
}

/// What a module may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModuleKind {
    /// Whether it has rules.
    pub system: bool,
    /// Whether it is a theory.
    pub theory: bool,
    /// Whether it has classes and messages.
    pub object: bool,
}

impl ModuleKind {
    /// The word that begins such a module.
    pub fn keyword(self) -> &'static str {
        match (self.object, self.system, self.theory) {
            (true, _, false) => "omod",
            (true, _, true) => "oth",
            (_, false, false) => "fmod",
            (_, true, false) => "mod",
            (_, false, true) => "fth",
            (_, true, true) => "th",
        }
    }

    /// The word that ends such a module.
    pub fn end(self) -> String {
        match self.keyword() {
            "mod" => "endm".into(),
            "fmod" => "endfm".into(),
            "omod" => "endom".into(),
            other => format!("end{other}"),
        }
    }
}

/// A module or theory.
#[derive(Clone, Debug)]
pub struct ModuleText {
    /// What it may hold.
    pub kind: ModuleKind,
    /// Its name.
    pub name: Name,
    /// Where the name is.
    pub name_span: Span,
    /// Whether some of it could not be read.
    pub broken: bool,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// What it declares, in order.
    pub declarations: Vec<Declaration>,
    /// All of it.
    pub span: Span,
}

/// A parameter of a module or view.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: Token,
    /// The theory that it has to satisfy.
    pub theory: ModuleExpression,
}

/// A module named by an expression.
#[derive(Clone, Debug)]
pub struct ModuleExpression {
    /// What it is.
    pub kind: ExpressionKind,
    /// Where it is.
    pub span: Span,
}

/// The forms of module expressions.
#[derive(Clone, Debug)]
pub enum ExpressionKind {
    /// A module by its name.
    Named(Name),
    /// `A + B`.
    Sum(Vec<ModuleExpression>),
    /// `A * (…)`.
    Renaming(Box<ModuleExpression>, Vec<RenamingItem>),
    /// `A{V, W}`.
    Instance(Box<ModuleExpression>, Vec<Argument>),
}

/// A view, or a parameter of the module around it.
#[derive(Clone, Debug)]
pub struct Argument {
    /// Its name.
    pub name: Token,
    /// What it is instantiated with.
    pub arguments: Vec<Argument>,
}

impl Argument {
    /// As it is written in names of sorts.
    pub fn text(&self) -> String {
        if self.arguments.is_empty() {
            return self.name.text().to_owned();
        }
        let inner: Vec<String> = self.arguments.iter().map(Argument::text).collect();
        format!("{}{{{}}}", self.name.text(), inner.join(","))
    }
}

/// A part of a renaming.
#[derive(Clone, Debug)]
pub enum RenamingItem {
    /// `sort A to B`.
    Sort(Name, Name, Span),
    /// `label a to b`.
    Label(Name, Name, Span),
    /// `op f : A B -> C to g [prec …]`; without a type it means all operators of the name.
    Operator {
        /// Its name.
        from: Name,
        /// Its type.
        profile: Option<(Vec<Type>, Type)>,
        /// Its new name.
        to: Name,
        /// What changes.
        attributes: Box<Attributes>,
        /// Where it is.
        span: Span,
    },
}

/// A sort, or the kind of some sorts.
#[derive(Clone, Debug)]
pub struct Type {
    /// The sorts.
    pub sorts: Vec<Name>,
    /// Whether the kind is meant.
    pub kind: bool,
    /// Where it is.
    pub span: Span,
}

/// What an import promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Nothing new, and nothing becomes equal.
    Protecting,
    /// Nothing becomes equal.
    Extending,
    /// Nothing.
    Including,
}

/// A declaration in a module.
#[derive(Clone, Debug)]
pub enum Declaration {
    /// `protecting M .`
    Import(Mode, ModuleExpression),
    /// `sorts A B .`
    Sorts(Vec<(Name, Span)>),
    /// `subsorts A B < C < D .`
    Subsorts(Vec<Vec<(Name, Span)>>),
    /// `op f : A -> B [attributes] .`
    Operators(OperatorText),
    /// `vars X Y : A .`
    Variables(Vec<Token>, Type),
    /// An equation, membership or rule.
    Statement(StatementText),
    /// `class C | a : S, b : T .`
    Class(Token, Vec<(Token, Type)>),
    /// `subclass A < B .`
    Subclasses(Vec<Vec<(Name, Span)>>),
    /// `msg f : A -> Msg .`
    Messages(OperatorText),
}

/// A declaration of operators.
#[derive(Clone, Debug)]
pub struct OperatorText {
    /// Their names.
    pub names: Vec<(Name, Span)>,
    /// The sorts of their arguments.
    pub domain: Vec<Type>,
    /// The sort of their results.
    pub range: Type,
    /// Whether `~>` was written.
    pub partial: bool,
    /// What is said of them.
    pub attributes: Attributes,
    /// All of it.
    pub span: Span,
}

/// The attributes of operators.
#[derive(Clone, Debug, Default)]
pub struct Attributes {
    /// `assoc`.
    pub assoc: Option<Span>,
    /// `comm`.
    pub comm: Option<Span>,
    /// `idem`.
    pub idem: Option<Span>,
    /// `iter`.
    pub iter: Option<Span>,
    /// `id: t`.
    pub id: Option<Vec<Token>>,
    /// `left id: t`.
    pub left_id: Option<Vec<Token>>,
    /// `right id: t`.
    pub right_id: Option<Vec<Token>>,
    /// `ctor`.
    pub ctor: bool,
    /// `ditto`.
    pub ditto: bool,
    /// `memo`.
    pub memo: bool,
    /// `config`, `object`, `msg`.
    pub object: Option<ObjectRole>,
    /// `prec n`.
    pub prec: Option<(u32, Span)>,
    /// `gather (e E &)`.
    pub gather: Option<(Vec<Token>, Span)>,
    /// `strat (1 2 0)`.
    pub strat: Option<(Vec<i64>, Span)>,
    /// `frozen (1 2)`; an empty list means all.
    pub frozen: Option<(Vec<i64>, Span)>,
    /// `poly (0 1)`.
    pub poly: Option<(Vec<i64>, Span)>,
    /// `format (…)`.
    pub format: Option<(Vec<Token>, Span)>,
    /// `special (…)`.
    pub special: Option<Special>,
    /// `metadata "…"`.
    pub metadata: Option<Token>,
    /// Words that mean nothing here.
    pub unknown: Vec<Token>,
}

/// What an operator is in configurations of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectRole {
    /// It joins objects and messages.
    Configuration,
    /// It is an object.
    Object,
    /// It is a message.
    Message,
}

/// The hooks of a built-in operator.
#[derive(Clone, Debug)]
pub struct Special {
    /// The name of the built-in operation.
    pub id: Name,
    /// What follows it in parentheses.
    pub details: Vec<Name>,
    /// Operators that it needs.
    pub operators: Vec<OperatorHook>,
    /// Constants that it needs: purpose and text.
    pub terms: Vec<(Name, Vec<Token>)>,
    /// Where it is.
    pub span: Span,
}

/// An operator that a built-in operator needs.
#[derive(Clone, Debug)]
pub struct OperatorHook {
    /// What for.
    pub purpose: Name,
    /// Its name.
    pub name: Name,
    /// The sorts of its arguments.
    pub domain: Vec<Type>,
    /// The sort of its results.
    pub range: Type,
}

/// What a statement is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StatementKind {
    /// `eq`, `ceq`.
    Equation,
    /// `mb`, `cmb`.
    Membership,
    /// `rl`, `crl`.
    Rule,
}

/// An equation, membership or rule.
#[derive(Clone, Debug)]
pub struct StatementText {
    /// What it is.
    pub kind: StatementKind,
    /// Whether a condition has to follow.
    pub conditional: bool,
    /// The words between the keyword (and label) and the attributes.
    pub tokens: Vec<Token>,
    /// Its label.
    pub label: Option<Token>,
    /// `owise`.
    pub otherwise: bool,
    /// `nonexec`.
    pub nonexec: bool,
    /// `metadata "…"`.
    pub metadata: Option<Token>,
    /// All of it.
    pub span: Span,
}

/// A view.
#[derive(Clone, Debug)]
pub struct ViewText {
    /// Its name.
    pub name: Name,
    /// Where the name is.
    pub name_span: Span,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// The theory that it starts from.
    pub from: ModuleExpression,
    /// What it leads to.
    pub to: ModuleExpression,
    /// `sort A to B`.
    pub sorts: Vec<(Name, Name, Span)>,
    /// Operators.
    pub operators: Vec<ViewOperator>,
    /// Variables for operators that become terms.
    pub variables: Vec<(Vec<Token>, Type)>,
    /// All of it.
    pub span: Span,
}

/// What becomes of an operator.
#[derive(Clone, Debug)]
pub enum ViewOperator {
    /// `op f to g`, `op f : A -> B to g`.
    Renamed {
        /// Its name.
        from: Name,
        /// Its type.
        profile: Option<(Vec<Type>, Type)>,
        /// Its new name.
        to: Name,
        /// Where it is.
        span: Span,
    },
    /// `op f(X, Y) to term t`.
    Term {
        /// The left side.
        from: Vec<Token>,
        /// The right side.
        to: Vec<Token>,
        /// Where it is.
        span: Span,
    },
}
