//! LNT, the modelling language of CADP: from text to a typed program.
//!
//! [`load()`] reads a module and everything it imports, and yields a [`typed::Program`] in which every name is
//! resolved and every expression typed, or diagnostics that say what is wrong, where, and what to do.
//!
//! ```
//! let mut sources = source::Sources::new();
//! let checked = lnt::load_text(
//!     "light.lnt",
//!     "module LIGHT is
//!         type colour is red, green with \"==\" end type
//!         channel c is (colour) end channel
//!         process MAIN [SHOW : c] is
//!            loop SHOW (red); SHOW (green) end loop
//!         end process
//!      end module",
//!     &mut sources,
//! )
//! .unwrap();
//! assert!(checked.warnings.is_empty());
//! assert_eq!(checked.program.processes[0].name, "MAIN");
//! ```

mod check;
mod compile;
mod coverage;
pub mod data;
mod language;
mod lexer;
mod load;
mod model;
mod mutants;
mod parser;
mod predefined;
mod root;
mod run;
mod tree;
pub mod typed;

pub use coverage::{arguments, constructs, coverage_map, def_use_pairs, function_map, instrument};
pub use language::Lnt;
pub use load::{Checked, Loader, load, load_text};
pub use model::{LntModel, Options};
