//! Maude: rewrite theories as models.

pub mod engine;
pub mod grammar;
pub mod modules;
pub mod names;
mod objects;
pub mod print;
pub mod signature;
pub mod syntax;
pub mod terms;
