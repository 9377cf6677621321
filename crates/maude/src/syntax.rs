//! Text → tokens → modules, views and commands whose terms are still tokens.

pub mod lexer;
pub mod parser;
pub mod tree;
