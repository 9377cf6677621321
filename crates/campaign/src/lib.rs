//! Campaigns: a program under test explored in layers, by many workers, with every sequence checked and counted once.
//!
//! The state space of a program is divided into layers of a given depth, as in chapter 4 of Canh Minh Do's "An Environment
//! for Testing Concurrent Programs Based on Rewrite-theory Specifications" (2019): a job explores everything within that
//! depth after a start, and the places where the depth has cut a path are the starts of the next layer. Sequences of observed states are checked as they come, by a
//! [`Checker`] that the caller brings; this crate knows nothing of models.
//!
//! A campaign is kept in a folder, for one process, or in a Redis server, for many (see [`Place`]). Either way:
//!
//! - What a job finds is stored at once, together with the mark that it is done: a job that was interrupted is done again,
//!   and nothing is counted twice.
//! - The [`Outcome`] is the same whatever the number of workers, their order and their crashes, provided that the program
//!   and the checker are deterministic and that no limit of sequences or failures is reached.
//! - Jobs that keep failing are set aside, and the outcome says so.
//!
//! See [`Campaign`] for an example.

mod broker;
mod campaign;
mod check;
mod error;
mod folder;
mod job;
mod key;
mod once;
mod program;
mod protocol;
mod settings;
mod status;
mod store;
mod worker;

pub use broker::Broker;
pub use campaign::{Campaign, Place, Work};
pub use check::{CheckError, Checker, MakeChecker, Rejection, Verdict};
pub use error::CampaignError;
pub use once::{Execution, Explored, explore};
pub use protocol::{End, Strategy};
pub use settings::{Limits, Patience, Reduction, Sameness, Settings, Start, StartMode};
pub use status::{Failure, FailureKind, Layer, Outcome, Poison, State, Status, Worker};
