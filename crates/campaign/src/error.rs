//! What can go wrong with a campaign as a whole.

use std::io;
use std::path::PathBuf;

use crate::CheckError;
use crate::program::ProgramError;

/// Why a campaign can't be started, worked on or looked at. No message has a password in it.
///
/// ```
/// let missing = campaign::Place::folder("no-such-campaign");
/// let error = campaign::Campaign::open(&missing).unwrap_err();
/// assert!(matches!(error, campaign::CampaignError::Missing { .. }));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CampaignError {
    /// The settings make no sense.
    #[error("the settings of the campaign: {reason}")]
    Settings {
        /// What is wrong.
        reason: String,
    },
    /// The address of a broker can't be read.
    #[error("the address of the broker is not of the form redis://host:port or rediss://host:port: {reason}")]
    Address {
        /// What is wrong.
        reason: String,
    },
    /// There is a campaign of that name already.
    #[error("there is a campaign at {place} already; work on it, or choose another name")]
    Exists {
        /// Where.
        place: String,
    },
    /// There is no campaign of that name.
    #[error("there is no campaign at {place}; start one first")]
    Missing {
        /// Where.
        place: String,
    },
    /// Somebody else works in the folder.
    #[error("another process works on the campaign at {place}; several processes need a broker")]
    Busy {
        /// Where.
        place: String,
    },
    /// A file of this machine isn't the one that the campaign was started with.
    #[error("{path} is not the file that the campaign was started with")]
    FileDiffers {
        /// Which file.
        path: PathBuf,
    },
    /// A file can't be read or written.
    #[error("{path}: {source}")]
    File {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The store in a folder can't be read or written.
    #[error("the campaign at {place} can't be read or written: {reason}")]
    Store {
        /// Where.
        place: String,
        /// Why.
        reason: String,
    },
    /// The broker can't be reached.
    #[error("the broker {address} can't be reached: {reason}")]
    BrokerAway {
        /// Where, without the password.
        address: String,
        /// Why.
        reason: String,
    },
    /// The broker does not let us in, or does not do what a campaign needs.
    #[error("the broker {address} refuses: {reason}")]
    BrokerRefuses {
        /// Where, without the password.
        address: String,
        /// Why.
        reason: String,
    },
    /// The campaign is not in the broker any more.
    #[error("the broker {address} has lost the campaign {campaign}; does it keep its data (appendonly yes)?")]
    Lost {
        /// Where, without the password.
        address: String,
        /// Its name.
        campaign: String,
    },
    /// The program under test can't be used at all.
    #[error("{reason}{}", last_lines(.output))]
    Program {
        /// Why.
        reason: String,
        /// The last lines that it has written on its own.
        output: Vec<String>,
    },
    /// Sequences can't be judged.
    #[error("sequences can't be checked: {0}")]
    Check(#[from] CheckError),
}

impl From<ProgramError> for CampaignError {
    fn from(ProgramError { reason, output }: ProgramError) -> Self {
        Self::Program { reason, output }
    }
}

fn last_lines(output: &[String]) -> String {
    output.iter().map(|line| format!("\n  {line}")).collect()
}
