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

mod builder;
mod ids;
mod label;
mod lts;

pub use builder::{LtsBuilder, TooLarge};
pub use ids::{LabelId, OriginId, StateId};
pub use label::{Labels, TAU_TEXT, gate, offers};
pub use lts::{Edge, Incoming, Lts, Transition};
