//! Minimise, compare and distinguish labelled transition systems modulo behavioural equivalences.
//!
//! ```
//! use bisim::{Comparison, Relation, compare, reduce};
//! use lts::{LabelId, LtsBuilder, StateId};
//!
//! // A choice made silently and at once is not a choice left open.
//! let system = |steps: &[(usize, &str, usize)]| {
//!     let mut builder = LtsBuilder::new();
//!     for &(source, label, target) in steps {
//!         let label = builder.label(label);
//!         builder.add(StateId::new(source), label, StateId::new(target));
//!     }
//!     builder.finish().unwrap()
//! };
//! let decided = system(&[(0, "i", 1), (0, "i", 2), (1, "TEA", 3), (2, "COFFEE", 3)]);
//! let open = system(&[(0, "TEA", 1), (0, "COFFEE", 1)]);
//! assert!(compare(&decided, &open, Relation::WeakTrace)?.is_equivalent());
//! assert_eq!(reduce(&decided, Relation::WeakTrace)?.state_count(), 2);
//! let Comparison::Different(reason) = compare(&open, &decided, Relation::Branching)? else { panic!() };
//! let both_offered = r#"(mu X . (< tau* . "COFFEE" > true and (< "TEA" > true or < tau > X)))"#;
//! assert_eq!(reason.to_string(), both_offered);
//! # Ok::<(), bisim::Error>(())
//! ```
//!
//! A partition of the states is refined until it is stable ([`strong`](Relation::Strong) and
//! [`branching`](Relation::Branching)), the other relations are those on a transformed system; one state a
//! block makes the minimal system. Invariant: results depend on the input alone, not on threads or hashes, and
//! nothing recurses, so that systems may be as deep as they like.

mod branching;
mod compare;
mod counters;
mod determinise;
mod distinguish;
mod formula;
mod graph;
mod inclusion;
mod levels;
mod partition;
mod play;
mod preorder;
mod quotient;
mod reduce;
mod refinement;
mod relation;
mod sets;
mod silent;
mod simulation;
mod strong;
mod tau_star;
mod weak;

pub use compare::{Comparison, Reason, Side, compare, compare_within, equivalent};
pub use formula::{Formula, Part, PartId, Step};
pub use play::{Play, play};
pub use preorder::{Excess, Preorder, UnknownPreorder, excess, run_with};
pub use reduce::{Error, Limits, classes, reduce, reduce_within};
pub use relation::{Relation, UnknownRelation};
