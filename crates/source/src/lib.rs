//! Source files, spans and diagnostics, rendered once for every language.
//!
//! Every front end (LNT, MCL, EXP networks, AUT files …) describes what is wrong as a [`Diagnostic`]: a
//! message, labelled [`Span`]s into a [`Sources`] table, notes and hints. How that looks on a terminal is
//! decided here and nowhere else.
//!
//! ```
//! use source::{Diagnostic, Sources};
//!
//! let mut sources = Sources::new();
//! let file = sources.add("model.lnt", "process MAIN is\n   stopp\nend process\n");
//! let span = sources.span_of(file, "stopp").unwrap();
//! let error = Diagnostic::error("unknown instruction `stopp`")
//!     .label(span, "not an instruction")
//!     .help("did you mean `stop`?");
//! let text = sources.render(&error, false);
//! assert!(text.contains("model.lnt:2:4"));
//! assert!(text.contains("did you mean `stop`?"));
//! ```

mod diagnostic;
mod sources;
mod suggest;

pub use diagnostic::{Diagnostic, Severity, SpanLabel};
pub use sources::{FileId, LineColumn, Sources, Span};
pub use suggest::closest;
