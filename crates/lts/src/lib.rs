//! Labelled transition systems: compact storage, formats, operations and composition.
//!
//! ```
//! use lts::LtsBuilder;
//!
//! let mut builder = LtsBuilder::new();
//! let (coin, tea) = (builder.label("COIN"), builder.label("TEA"));
//! let (idle, paid) = (lts::StateId::new(0), lts::StateId::new(1));
//! builder.add(idle, coin, paid);
//! builder.add(paid, tea, idle);
//! let lts = builder.finish()?;
//! assert_eq!((lts.state_count(), lts.transition_count()), (2, 2));
//! assert_eq!(lts.label(lts.outgoing(paid)[0].label), "TEA");
//! # Ok::<(), lts::TooLarge>(())
//! ```

mod aut;
mod builder;
mod determinise;
mod export;
mod file;
mod graph;
mod ids;
mod import;
mod label;
mod lts;
mod mapping;
mod partial;
mod progress;
mod random;
mod relabel;
mod rows;
mod select;
mod system;

pub use aut::{AutError, AutOptions, ReadError, parse_aut, read_aut, write_aut};
pub use builder::{LtsBuilder, TooLarge};
pub use determinise::{Internal, Stopped};
pub use export::{write_dot, write_json};
pub use file::{
    FileError, format_extension, is_standard_stream, read_bytes, read_stream, read_text, write_file,
};
pub use graph::Components;
pub use ids::{LabelId, OriginId, StateId};
pub use import::{parse_dot, parse_json};
pub use label::{Labels, TAU_TEXT, gate, offers};
pub use lts::{Edge, Incoming, Lts, Transition};
pub use partial::NOT_EXPLORED;
pub use progress::Progress;
pub use random::{Chance, RandomSystem, Shape};
pub use rows::RowSet;
pub use select::{Selector, SelectorError, whole_label_regex};
pub use system::{SYSTEM_EXTENSIONS, parse_system, read_system};
