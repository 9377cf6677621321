//! Where a campaign is kept. Two stores do the same: `folder` for one process, `broker` for many.
//!
//! Jobs are done in strict layers: the next layer begins when no job of this one is waiting or running. So the layer of a
//! place doesn't depend on who was faster, limits of layers and jobs cut at the same places every time, and the shortest
//! schedule of a layer is known when it is needed.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::job::{Effects, Job, Ranked};
use crate::key::Key;
use crate::program::ProgramError;
use crate::status::{Poison, Status, Worker};
use crate::{CampaignError, settings::Start};

/// A job in the hands of a worker.
#[derive(Clone, Debug)]
pub(crate) struct Delivery {
    pub(crate) key: Key,
    pub(crate) job: Job,
    /// What the store needs to find the delivery again.
    pub(crate) ticket: String,
}

/// What a worker gets when it asks for a job.
pub(crate) enum Fetched {
    Job(Box<Delivery>),
    /// Nothing now, but others are at work.
    Wait,
    /// Nothing will come.
    Finished,
}

/// A handle on the store. Each thread has its own.
pub(crate) trait Store: Send {
    /// A job for a worker.
    fn fetch(&mut self, consumer: &str) -> Result<Fetched, CampaignError>;

    /// For each sequence whether it was accepted before. Rejected ones are checked again, for their schedules.
    fn accepted(&mut self, sequences: &[Key]) -> Result<Vec<bool>, CampaignError>;

    /// What the layers before that of a job have expanded; nothing if the job is not there any more, because the store has
    /// gone back to an earlier moment.
    fn expanded(&mut self, delivery: &Delivery) -> Result<Option<Expanded>, CampaignError>;

    /// Applies what a job has found, unless that was done before.
    fn finish(&mut self, delivery: &Delivery, effects: &Effects) -> Result<(), CampaignError>;

    /// Notes that the program has failed in a job, which is then tried again or set aside.
    fn fail(&mut self, delivery: &Delivery, error: &ProgramError) -> Result<(), CampaignError>;

    /// Gives a job back undone.
    fn release(&mut self, delivery: &Delivery) -> Result<(), CampaignError>;

    /// Tells others that a worker and its jobs (consumer and ticket) are alive, and makes durable what was done. Says why
    /// no jobs should be fetched now, if they should not.
    fn beat(&mut self, worker: &Worker, held: &[(String, String)]) -> Result<Option<String>, CampaignError>;

    /// Tells others that a worker has gone.
    fn leave(&mut self, worker: &Worker, consumers: &[String]) -> Result<(), CampaignError>;

    /// What is known, with at most so many failures.
    fn status(&mut self, most: usize) -> Result<Status, CampaignError>;
}

/// How many states may be known until all of them are left out of requests: more would be megabytes for each job.
pub(crate) const MOST_KNOWN: u64 = 200_000;

/// The states that finished layers have expanded.
pub(crate) enum Expanded {
    Hashes(BTreeSet<u64>),
    /// More than [`MOST_KNOWN`], a state counted once for each layer.
    TooMany,
}

/// Why a job was set aside, as it is stored.
#[derive(Serialize, Deserialize)]
pub(crate) struct Reason {
    pub(crate) reason: String,
    #[serde(default)]
    pub(crate) output: Vec<String>,
}

impl Reason {
    /// The text to store.
    pub(crate) fn of(error: &ProgramError) -> String {
        let ProgramError { reason, output } = error.clone();
        serde_json::to_string(&Self { reason, output }).expect("a reason is plain JSON")
    }

    /// What is shown of a job that was set aside.
    pub(crate) fn poison(job: String, ranked: &Ranked, reason: &str) -> Poison {
        let (layer, start) = match ranked.content::<Job>() {
            Ok(job) => (job.layer, job.start),
            Err(_) => (0, Start::Initial),
        };
        let Self { reason, output } =
            serde_json::from_str(reason).unwrap_or(Self { reason: reason.to_owned(), output: Vec::new() });
        Poison { job, layer, start, reason, output }
    }
}

/// Why a job is set aside whose workers vanish.
pub(crate) fn vanished(deliveries: u64) -> String {
    format!("the job was given to {deliveries} workers, none of which has finished it")
}
