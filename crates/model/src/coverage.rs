//! What coverage counts in a model, described without its language: blocks, decisions, action instances, and which
//! outcome of which decision a block depends on.
//!
//! Terms and definitions are those of Salaün and Ye, *Debugging Process Algebra Specifications* (2015). A front end
//! provides the map; a [`Mark`](crate::Mark) of a step belongs to the entry of the same kind at the same place.

use source::Span;

/// Everything that coverage counts, whether or not it can be reached, in the order of the source.
#[derive(Clone, Debug, Default)]
pub struct CoverageMap {
    /// The processes that the other entries belong to.
    pub processes: Vec<ProcessEntry>,
    /// Blocks (definition 2).
    pub blocks: Vec<Block>,
    /// Decisions.
    pub decisions: Vec<Decision>,
    /// Action instances.
    pub actions: Vec<ActionInstance>,
    /// Places at which ways meet.
    pub joins: Vec<Join>,
}

impl CoverageMap {
    /// Which processes are started where these are, by calls.
    pub fn reachable(&self, roots: &[usize]) -> Vec<bool> {
        let mut reached = vec![false; self.processes.len()];
        let mut todo = roots.to_vec();
        while let Some(process) = todo.pop() {
            if !std::mem::replace(&mut reached[process], true) {
                let own = self.blocks.iter().filter(|block| block.process == process);
                todo.extend(own.flat_map(|block| block.calls.iter().copied()));
            }
        }
        reached
    }
}

/// A process.
#[derive(Clone, Debug)]
pub struct ProcessEntry {
    /// Its name as written.
    pub name: String,
    /// The module it is defined in.
    pub module: String,
    /// The whole definition.
    pub span: Span,
}

/// A largest sequence of instructions without control instructions (definition 2).
#[derive(Clone, Debug)]
pub struct Block {
    /// From its first to its last instruction.
    pub span: Span,
    /// Its last instruction.
    pub last: Span,
    /// Whether it counts as executed when its last instruction is entered: a call, or a jump, from which control
    /// need not come back.
    pub ends_before_last: bool,
    /// Position in [`CoverageMap::processes`].
    pub process: usize,
    /// Its action instances, positions in [`CoverageMap::actions`]; none in a silent block.
    pub actions: Vec<usize>,
    /// The outcomes that its execution depends on (definition 8), the innermost last.
    pub depends: Vec<Dependency>,
    /// The instruction before its last one that never ends, where there is one: then that can't be reached.
    pub behind: Option<Span>,
    /// Blocks of the same process that are executed before it on every way to it.
    pub after: Vec<usize>,
    /// Places that control passes on every way to its last instruction, positions in [`CoverageMap::joins`].
    pub joins: Vec<usize>,
    /// The processes that it calls, positions in [`CoverageMap::processes`].
    pub calls: Vec<usize>,
    /// Its choices of a value under a condition, `x := any T where …`: the instruction and the condition.
    pub choices: Vec<(Span, Span)>,
    /// Calls of functions that have to raise an exception for control to come here: handlers of it.
    pub raised_by: Vec<Span>,
    /// Its own calls of functions that may raise an exception, so that control leaves it there.
    pub may_raise: Vec<Span>,
}

impl Block {
    /// Whether it has no action.
    pub fn is_silent(&self) -> bool {
        self.actions.is_empty()
    }
}

/// A place to which several ways lead, such as the end of a loop that can be left by a `break`: control gets there by
/// one of them. Without a way, nothing leads there.
#[derive(Clone, Debug, Default)]
pub struct Join {
    /// The ways.
    pub ways: Vec<Way>,
}

/// What control needs in order to take a way.
#[derive(Clone, Debug, Default)]
pub struct Way {
    /// The outcomes, the innermost last.
    pub depends: Vec<Dependency>,
    /// The blocks that are executed on it.
    pub after: Vec<usize>,
    /// The places it passes at which other ways meet, positions in [`CoverageMap::joins`].
    pub joins: Vec<usize>,
    /// Calls of functions that have to raise an exception.
    pub raised_by: Vec<Span>,
}

/// Execution needs an outcome of a decision (definition 8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dependency {
    /// Position in [`CoverageMap::decisions`].
    pub decision: usize,
    /// True for a positive dependency, false for a negative one.
    pub outcome: bool,
}

/// A Boolean expression that control depends on; each branch of a `case` is one.
#[derive(Clone, Debug)]
pub struct Decision {
    /// Where it is written; the patterns of a `case` branch.
    pub span: Span,
    /// Position in [`CoverageMap::processes`].
    pub process: usize,
    /// What it belongs to.
    pub kind: DecisionKind,
    /// Whether its false outcome does not exist: the last branch of a `case` that is known to be complete.
    pub always_true: bool,
    /// The conditions that it is composed of, in the order of evaluation; one where there are no Boolean operators.
    pub conditions: Vec<Span>,
    /// What its conditions compare: expressions whose values tell why it has the outcome that it has.
    pub operands: Vec<Span>,
}

/// What a decision belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DecisionKind {
    /// A condition of `if`, `elsif` or `only if`.
    If,
    /// A condition of a loop.
    While,
    /// A branch of a `case`.
    Case,
}

/// One place at which an action is written.
#[derive(Clone, Debug)]
pub struct ActionInstance {
    /// Where it is written.
    pub span: Span,
    /// Position in [`CoverageMap::processes`].
    pub process: usize,
    /// The gate as written.
    pub gate: String,
    /// The block it belongs to, where the language has blocks.
    pub block: Option<usize>,
}

/// A definition of a variable, and a use of it that the definition reaches along some path of the text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DefUse {
    /// Where the variable gets a value.
    pub definition: VariableSite,
    /// Where that is read.
    pub used: VariableSite,
    /// The variable's name.
    pub variable: String,
    /// Position in [`CoverageMap::processes`].
    pub process: usize,
}

/// A place at which a variable is defined or used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VariableSite {
    /// The variable, known by its declaration.
    pub variable: Span,
    /// The place.
    pub span: Span,
}

/// What a step does to variables. A variable is a *cell*: two instances of a process have different ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DataFlow {
    /// Uses of values from before the step: cell and place.
    pub used: Vec<(u32, VariableSite)>,
    /// Definitions with uses of them, all within the step.
    pub pairs: Vec<(VariableSite, VariableSite)>,
    /// The last definition of each cell that the step defines.
    pub defined: Vec<(u32, VariableSite)>,
}
