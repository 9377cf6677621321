//! MCL, the Model Checking Language of CADP: properties of labelled transition systems and models, checked and
//! explained.
//!
//! ```
//! let aut = "des (0, 3, 2)\n(0, REQUEST, 1)\n(1, GRANT, 0)\n(1, i, 1)\n";
//! let system = lts::parse_aut(aut, &Default::default())?;
//! let mut sources = source::Sources::new();
//! let text = r#"
//!     property ANSWERED "every request is granted" is
//!         RESPONSE ("REQUEST", "GRANT")
//!     end property
//! "#;
//! let loaded = logic::load_text("properties.mcl", text, &mut sources).unwrap();
//! let property = &loaded.properties[0];
//! let verdict =
//!     logic::check_lts(&system, &property.formula, &Default::default(), &lts::Progress::new()).unwrap();
//! assert!(!verdict.holds);
//! let Some(logic::Explanation::Lasso { prefix, cycle }) = verdict.explanation else { panic!() };
//! assert_eq!((prefix[0].label.as_str(), cycle[0].label.as_str()), ("REQUEST", "i"));
//! # Ok::<(), lts::AutError>(())
//! ```
//!
//! The way of a formula: text → tokens with macros expanded (`macros`) → tree (`parser`, [`tree`]) → checked
//! (`check`) → equations (`equations`) → solved, by a search for one run (`linear`, `reach`), as sets of states
//! (`sets`) or as a game (`game`, `parity`).
//!
//! Linear temporal logic over propositions of states, for languages that have it, is apart from that in [`ltl`].

mod action;
mod automaton;
mod basic;
mod check;
mod closure;
mod components;
mod display;
mod equations;
mod evidence;
mod function;
mod game;
mod honesty;
mod lexer;
mod linear;
pub mod ltl;
mod macros;
mod monitor;
mod parity;
mod parser;
mod partial;
mod product;
mod program;
mod property;
mod reach;
mod replay;
mod retell;
mod sets;
mod shape;
mod solve;
mod system;
pub mod tree;
mod unfold;
mod value;
mod verdict;
mod watch;

pub use automaton::{
    Automaton, inevitability, regular_violation, regular_witness, response, safety_violation,
};
pub use equations::FormulaTooLarge;
pub use evidence::{evidence, evidence_of_model};
pub use honesty::{unknown_gates, unknown_types, unmatched, unmatched_selector};
pub use partial::{is_certain, is_violated_by_steps};
pub use property::{
    PATTERNS, Properties, Property, deadlock, inevitable, livelock, load_properties, load_text, never,
    reachable,
};
pub use replay::{ReplayError, replay};
pub use retell::origins;
pub use solve::{Options, check_lts, check_model, warnings};
pub use system::{ModelSystem, Stop, System};
pub use tree::Formula;
pub use unfold::{Unfolded, Watched, is_violated_by_runs, unfold};
pub use value::{DataError, Value};
pub use verdict::{CheckError, Explanation, Method, Searched, Step, Verdict};
