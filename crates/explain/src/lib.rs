//! Where correct and incorrect behaviour part: the choices that decide whether a run violates a property.
//!
//! ```
//! use explain::{Kind, Property, Tag};
//!
//! // After COIN the machine gives TEA, or keeps the money and is BROKEN.
//! let aut = "des (0, 3, 4)\n(0, COIN, 1)\n(1, TEA, 2)\n(1, BROKEN, 3)\n";
//! let system = lts::parse_aut(aut, &Default::default())?;
//! let mut sources = source::Sources::new();
//! let never = logic::never("BROKEN", &mut sources).unwrap();
//! let property = Property::of(&never.formula).unwrap();
//! let tagged = property.tag(&system, &Default::default(), &lts::Progress::new()).unwrap().expect("violated");
//!
//! // It is decided in one state: TEA is correct, BROKEN is not.
//! let [choice] = tagged.neighbourhoods() else { panic!() };
//! assert_eq!(choice.kind, Kind::Ci);
//! let exits: Vec<(&str, Tag)> =
//!     tagged.outgoing(choice.node).map(|step| (tagged.label(step), tagged.tag(step))).collect();
//! assert_eq!(exits, [("TEA", Tag::Correct), ("BROKEN", Tag::Incorrect)]);
//! # Ok::<(), lts::AutError>(())
//! ```
//!
//! The way of a property: formula → what it asks for ([`Property`]) → an automaton that watches a run (`monitor`) →
//! its product with the system (`graph`) → tags and neighbourhoods ([`Tagged`]) → groups, relations, runs and the
//! typical bug they make up.

mod clues;
mod graph;
mod groups;
mod monitor;
mod neighbourhood;
mod prefix_suffix;
mod property;
mod relations;
mod rounds;
mod runs;
mod selection;
mod separation;
mod shape;
mod suspects;
mod tagged;

pub use clues::{Actor, Clues, Scene, clues};
pub use graph::Node;
pub use groups::{Exit, Group};
pub use neighbourhood::{Counts, Kind, Neighbourhood};
pub use prefix_suffix::{Affixes, affixes};
pub use property::{Options, Property, Unexplained};
pub use relations::Relation;
pub use rounds::Round;
pub use runs::{NotACounterexample, Pattern, Run};
pub use selection::{Prospect, Selection};
pub use separation::{Comparison, MOST_COMPARISONS, comparisons, separation};
pub use shape::Shape;
pub use suspects::{Suspect, Through, suspects};
pub use tagged::{Method, Step, Tag, Tagged};
