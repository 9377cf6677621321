//! The web page of Watershed: a state space in 3D, walked step by step, with the explanation beside the source.
//!
//! ```no_run
//! let settings = studio::Settings { port: 0, most_states: 1_000_000 };
//! let runtime = tokio::runtime::Runtime::new()?;
//! runtime.block_on(async {
//!     let studio = studio::Studio::bind(&settings).await?;
//!     println!("{}", studio.address());
//!     studio.serve(async { tokio::signal::ctrl_c().await.unwrap_or_default() }).await;
//!     Ok::<(), studio::CantServe>(())
//! })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The way of a model: texts → checked, explored and tagged (`opening`) → an owned copy to look at (`picture`) →
//! regions drawn as one (`regions`, `pieces`) → what is drawn (`scene`) → where (`layout`). A `project` does this in the
//! background; the `server` lets one page on this machine, and nobody else (`guard`, `connections`), ask about it
//! (`answers`).
//! A Petri net also has a drawing to play the token game on (`board`), and traces of a program are walked beside the model
//! (`conformance`). Any walk is told step by step (`trace`), equivalent states are drawn as one (`reduction`), two models are
//! compared (`comparison`), and states are coloured by a `condition`.

mod answers;
mod board;
mod comparison;
mod condition;
mod conformance;
mod connections;
mod coverage;
mod embedded;
mod export;
mod gallery;
mod guard;
mod layout;
mod opening;
mod picture;
mod pieces;
mod project;
mod reduction;
mod regions;
mod scene;
mod server;
mod trace;

pub use conformance::Traces;
pub use connections::Patience;
pub use server::{Beside, CantServe, Settings, Studio};
