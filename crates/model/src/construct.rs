//! The source as a graph: constructs that can be wrong, what comes before each, and whose values each reads.
//!
//! Analyses that look for a fault walk this graph from what happened to what made it happen. A language that has no more
//! to tell than its coverage map leaves the relations empty.

use source::Span;

use crate::CoverageMap;

/// A construct of the source that a person could have got wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Construct {
    /// What it is.
    pub kind: ConstructKind,
    /// Where it is written.
    pub span: Span,
    /// The process or function that it belongs to.
    pub process: String,
    /// The constructs from which control comes to it, as positions; with the outcome, where that is a decision.
    pub before: Vec<(usize, Option<bool>)>,
    /// The constructs whose values it reads, as positions: assignments, actions that receive, calls that pass arguments,
    /// what functions return.
    pub reads: Vec<usize>,
    /// For a composition, the constructs that its members execute, as positions.
    pub members: Vec<usize>,
    /// For a composition, how many gates several members use that are not synchronised.
    pub loose: usize,
}

/// What a construct is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConstructKind {
    /// Something that happens.
    Action,
    /// A condition.
    Decision,
    /// A variable gets a value.
    Assignment,
    /// A process or function is called.
    Call,
    /// Which parts act together.
    Synchronisation,
    /// Control ends here, or leaves for elsewhere: `stop`, `break`, `raise`.
    Ending,
    /// What a function returns.
    Result,
}

impl ConstructKind {
    /// Its name in results.
    pub fn key(self) -> &'static str {
        match self {
            Self::Action => "action",
            Self::Decision => "decision",
            Self::Assignment => "assignment",
            Self::Call => "call",
            Self::Synchronisation => "synchronisation",
            Self::Ending => "ending",
            Self::Result => "result",
        }
    }
}

impl Construct {
    /// A construct that is related to no other.
    pub fn new(kind: ConstructKind, span: Span, process: &str) -> Self {
        Self {
            kind,
            span,
            process: process.to_owned(),
            before: Vec::new(),
            reads: Vec::new(),
            members: Vec::new(),
            loose: 0,
        }
    }

    /// What a coverage map knows: actions and decisions, each by itself.
    pub fn of_map(map: &CoverageMap) -> Vec<Construct> {
        let process = |at: usize| map.processes.get(at).map_or("", |process| &process.name);
        let actions = map.actions.iter();
        let actions = actions.map(|one| Self::new(ConstructKind::Action, one.span, process(one.process)));
        let decisions = map.decisions.iter();
        let decisions =
            decisions.map(|one| Self::new(ConstructKind::Decision, one.span, process(one.process)));
        let mut constructs: Vec<Construct> = actions.chain(decisions).collect();
        constructs.sort_by_key(|one| one.span);
        constructs
    }
}
