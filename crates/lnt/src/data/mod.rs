//! LNT's data language for other languages: types, functions, expressions, patterns and values.
//!
//! A text in a language of its own is read with a [`Reader`], which knows LNT's lexical rules and reads the parts that
//! are LNT where they stand, so that messages point at them. What was read is [`Written`]; checked, it is a table of
//! [`Definitions`], against which patterns are typed and to which expressions are added as functions. [`Data`] is all
//! of that, compiled, and an [`Evaluator`] computes with it on one thread.
//!
//! ```
//! use lnt::data::{Reader, TypeId};
//!
//! let mut sources = source::Sources::new();
//! let text = "function double (n : nat) : nat is return n + n end function double (x) + 1";
//! let file = sources.add("sum", text);
//! let mut messages = Vec::new();
//! let mut reader = Reader::new(file, text, &[], &mut messages);
//! let name = lnt::data::Name { text: "sum".into(), span: reader.span() };
//! reader.definition();
//! let sum = reader.expression();
//! let mut definitions = reader.finish(&name).check(&mut messages).unwrap();
//! let x = lnt::data::Name { text: "x".into(), span: name.span };
//! let function = definitions.function(&[(x, TypeId::NAT)], TypeId::NAT, &sum, &mut messages).unwrap();
//! let data = definitions.finish(&mut messages).unwrap();
//! assert_eq!(data.evaluator().call(&function, &[20]).unwrap(), 41);
//! ```

mod definitions;
mod evaluator;
mod expression;
mod written;

pub use crate::parser::Reader;
pub use crate::tree::Name;
pub use crate::typed::TypeId;
pub use definitions::{Definitions, Function, Leaf, Matcher};
pub use evaluator::{Data, Evaluator};
pub(crate) use expression::Inscribed;
pub use expression::{Expression, Inscription};
pub use written::Written;
