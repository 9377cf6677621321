//! The text language for predicate/transition nets, with LNT's types, functions, expressions and patterns.

mod arcs;
mod check;
mod load;
mod parser;
mod transitions;
mod tree;

pub(crate) use arcs::computed_tokens;
pub use load::load_net;
pub use tree::ArcWord;
