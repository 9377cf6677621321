//! What results look like: text for people, JSON with stable keys for programs.
//!
//! Every result is a plain structure that derives its JSON from its fields and writes its text itself. Nothing is
//! computed here.
//!
//! ```
//! let size = report::Size { states: 1200, transitions: 3400 };
//! assert_eq!(size.to_string(), "1,200 states, 3,400 transitions");
//! assert_eq!(report::json(&size), r#"{"states":1200,"transitions":3400}"#);
//! ```

mod check;
mod comparison;
mod conformance;
mod coverage;
mod explanation;
mod exploration;
mod markup;
mod mutation;
mod net;
mod number;
mod reduction;
mod repair;
mod simulation;
mod system;

pub use check::{ActionPlace, Check, PropertyResult, TraceStep};
pub use comparison::{Comparison, Reason, RunStep};
pub use conformance::{
    BlockedStep, Cause, Conformance, Differing, Exercised, ExploredProgram, NeededSteps, NonConformance,
    Unexercised, WrongEnd,
};
pub use coverage::{
    BaselineChange, Counts, Coverage, CoverageExample, CoverageFinding, CoveredFile, CoveredProcess,
    Criterion, CriterionExample, DecisionCounts, Executability, FunctionCoverage, Hole, RelatedPlace, Site,
    SiteKind, Suggestion, Suggestions, TriedRoot,
};
pub use explanation::{
    ActionSpan, Choice, ChoiceExit, Construct, EndlessPart, ExplainedStep, Explanation, Extent,
    InstanceValue, InstanceValues, KindCounts, Lanes, NamedShape, PropertyRow, SourceFile, SuspectPlace,
    SystemPart, TagCounts, TaggedSize, ValueChange, Waiting, write_autx, write_csv_states,
    write_csv_transitions, write_cypher, write_dot,
};
pub use exploration::{Exploration, RunTimeError};
pub use mutation::{MatrixRow, Mutation, OperatorCount, Survivor, Worth};
pub use net::{Net, NetBehaviour, Structure, UnboundedPlace, Unfolded};
pub use number::{bytes, count, grouped, seconds};
pub use reduction::Reduction;
pub use repair::{Repair, Repairs};
pub use simulation::{SimulatedStep, Simulation, WatchedCriterion};
pub use system::{LabelUse, Size, System};

/// A result as one JSON object on one line.
pub fn json(result: &impl serde::Serialize) -> String {
    serde_json::to_string(result).expect("results have string keys and finite numbers")
}
