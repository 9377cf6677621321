//! Coverage of a model by examples: what they never exercise, and whether that is a missing example or a defect.
//!
//! Block, decision and action coverage, and the findings that follow from them, are those of Salaün and Ye,
//! *Debugging Process Algebra Specifications* (VMCAI 2015), measured from the provenance of steps instead of probes.
//!
//! ```
//! use cover::{Example, Settings, Subject};
//!
//! let text = "module door is process MAIN [OPEN, RING : none] (locked : bool) is
//!    if locked then RING else OPEN end if
//! end process end module";
//! let subject = Subject::of_texts(model::Text::new("door.lnt", text), Vec::new(), &[]).unwrap();
//! let examples = [Example::of_root("MAIN (true)")];
//! let outcome = cover::run(&subject, &examples, &Settings::default(), &lts::Progress::new())
//!     .unwrap_or_else(|_| panic!("the example type-checks"));
//! assert_eq!(outcome.coverage.block_ratio().percent(), Some(50.0));
//! assert_eq!(outcome.findings[0].kind, cover::FindingKind::IllFormedDecision);
//! assert_eq!(outcome.findings[0].why, ["locked was always TRUE"]);
//! ```

mod baseline;
mod behaviour;
mod beyond;
mod cache;
mod coverage;
mod encounters;
mod finding;
mod flows;
mod measure;
mod monitor;
mod probes;
mod probes_first;
mod run;
mod specification;
mod subject;
mod subset;
mod suggest;
mod suite;
mod trace;

pub use baseline::{Change, compare_with_baseline, named_items};
pub use behaviour::{Behaviour, BehaviourCoverage, BehaviourItem, CantMeasure, behaviours};
pub use beyond::{Criterion, condition_criteria, gate_pairs};
pub use coverage::{Coverage, Item, Outcomes, Ratio};
pub use finding::{Finding, FindingKind, Subject as FindingSubject};
pub use flows::{Pair, def_use_pairs, exercised_pairs};
pub use measure::{Measurement, Stopped, covered, measure};
pub use monitor::Monitor;
pub use probes::{Order, TwoSteps, measure_with_probes, seen_by_probes};
pub use probes_first::ProbesFirst;
pub use run::{ExampleOutcome, FunctionOutcome, Method, Outcome, Settings, WrongExample, run};
pub use specification::Specification;
pub use subject::{Opened, Subject};
pub use subset::Subset;
pub use suggest::{Suggestions, TriedRoot, suggest};
pub use suite::{Example, ExampleModule, OnDisk, SuiteFiles, load_suite, parse_suite};
pub use trace::{Run, Trace, is_possible, parse_trace, random_runs};
