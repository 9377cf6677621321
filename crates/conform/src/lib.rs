//! Conformance: does a program do only what a model allows?
//!
//! Sequences of states or events that a program has shown ([`Traces`]) are put in terms of the model ([`Relation`]), and the
//! model has to accept them ([`Checker`]): the approach of Do, *An Environment for Testing Concurrent Programs Based on
//! Rewrite-theory Specifications* (2019), with unknowns, events, and reasons for every no.
//!
//! ```
//! use conform::{Bound, Checker, Observed, Position, Relation, Settings, Step};
//!
//! let text = model::Text::new("light.maude", "mod LIGHT is sort Light . ops init on : -> Light . rl [switch] : init => on . endm");
//! let opened = languages::registry().load(&model::Input::new(&text)).unwrap();
//! let relation = Relation::default();
//! let mut checker = Checker::new(opened.program.model(), &relation, Settings::default());
//! let mut position = Position::default();
//! let mut see = |state: &str| {
//!     let state = Some(Observed::Whole(state.to_owned()));
//!     checker.follow(&mut position, &conform::Moment { event: None, state, line: 1 }).unwrap()
//! };
//! assert_eq!(see("init"), Step::Accepted(None));
//! assert_eq!(see("on"), Step::Accepted(Some(1)));
//! assert_eq!(see("init"), Step::Rejected);
//! ```

mod checker;
mod diagnosis;
mod files;
mod relation;
mod run;
mod space;
mod traces;
mod walk;

pub use checker::{Bound, CheckError, Checker, Position, Settings, Step};
pub use diagnosis::{Blocked, Diagnosis, Difference};
pub use files::{Beginning, Files, open};
pub use relation::{Events, Observed, Otherwise, Relation, WrongRelation};
pub use run::{Failure, Outcome, Problem, Sequences, check};
pub use space::named_values;
pub use traces::{Format, Moment, ReadError, Said, TraceError, Traces, moments};
pub use walk::{Sequence, Taken, Walk, Walked, gather, walk};
