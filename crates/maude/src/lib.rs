//! Maude: rewrite theories as models.

pub mod engine;
pub mod grammar;
mod language;
mod messages;
pub mod meta;
mod model;
pub mod modules;
pub mod names;
mod objects;
pub mod print;
mod reader;
mod sequences;
pub mod session;
mod show;
pub mod signature;
mod soup;
pub mod syntax;
pub mod terms;

pub use language::{Maude, MaudeProgram};
pub use model::MaudeModel;
