//! From what analyses have found to what reports show.
//!
//! An analysis knows nothing of reports, and a report computes nothing: what stands between them is here.

mod campaign;
mod conformance;
mod coverage;
mod explanation;
mod mutation;
mod net;
mod properties;
mod repair;
mod run;
mod suspects;
mod what_if;

pub use campaign::CampaignView;
pub use conformance::{conformance, non_conformance, trace_problem};
pub use coverage::{behaviour, criterion, diagnostic, suggestions, view as coverage};
pub use explanation::{Findings, Origin};
pub use mutation::mutation;
pub use net::net;
pub use properties::property_rows;
pub use repair::{needed_labels, repairs};
pub use run::{Inside, instances};
pub use suspects::Asking;
