//! What a thread of a worker does: fetch a job, have the program do it, check what it sends, hand in the result.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt::Write;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::check::{Checker, Rejection, Verdict};
use crate::job::{Effects, keep_first};
use crate::key::{Key, write_canonically};
use crate::program::{Program, ProgramError, Run};
use crate::protocol::{Message, Request, Sequence, Strategy};
use crate::settings::{Reduction, Sameness, Settings, StartMode};
use crate::status::Worker;
use crate::store::{Delivery, Expanded, Fetched, MOST_KNOWN, Store};
use crate::{CampaignError, CheckError};

/// How many sequences are looked up in the store at a time.
const BATCH: usize = 64;
/// How many verdicts a thread remembers.
const REMEMBERED: usize = 1 << 18;
/// The pauses while there is nothing to do but others are at work.
const PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(64));

/// What the threads of a worker share.
pub(crate) struct Crew<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) stop: &'a AtomicBool,
    /// Set while no jobs should be fetched.
    pub(crate) paused: AtomicBool,
    /// The ticket of the job that each consumer has.
    pub(crate) held: Mutex<BTreeMap<String, String>>,
    pub(crate) jobs: AtomicU64,
    pub(crate) sequences: AtomicU64,
    /// What jobs of the layer that was last worked on know.
    pub(crate) known: Mutex<Option<Arc<Known>>>,
}

/// What the jobs of a layer know of the layers before.
pub(crate) struct Known {
    layer: u64,
    /// The hashes of expanded states as the program reads them; nothing if there are too many.
    hashes: Option<String>,
}

impl Crew<'_> {
    /// The consumers that have a job, with its ticket.
    pub(crate) fn held(&self) -> Vec<(String, String)> {
        let held = self.held.lock().expect("nobody panics with the tickets in hand");
        held.iter().map(|(consumer, ticket)| (consumer.clone(), ticket.clone())).collect()
    }
}

/// Whether jobs of a campaign know what was expanded before. With reduction, a state that was expanded need not show all that
/// can follow. Places that have a job together because they look the same, and starts from states, which are such places, would
/// rely on each other: a place on the job of its state, and that job on a state that was expanded up to the place.
fn is_shared(settings: &Settings) -> bool {
    settings.reduction == Reduction::None
        && settings.sameness == Sameness::Promised
        && settings.mode == StartMode::Schedule
}

/// A thread of a worker.
pub(crate) struct Hand<'a> {
    pub(crate) crew: &'a Crew<'a>,
    pub(crate) consumer: String,
    store: Box<dyn Store>,
    checker: Box<dyn Checker + 'a>,
    program: Option<Program>,
    /// Sequences that were accepted, and those that were not. What is remembered here saves work and nothing else: it
    /// is handed in with every job, because a broker may have forgotten it.
    accepted: HashSet<Key>,
    rejected: HashMap<Key, Rejection>,
}

/// Why a job was not done.
enum Setback {
    /// Because of the program: others may have more luck, or it is set aside.
    Program(ProgramError),
    /// Because of something that ends this worker.
    Campaign(CampaignError),
}

impl From<ProgramError> for Setback {
    fn from(error: ProgramError) -> Self {
        Self::Program(error)
    }
}

impl From<CampaignError> for Setback {
    fn from(error: CampaignError) -> Self {
        Self::Campaign(error)
    }
}

impl From<CheckError> for Setback {
    fn from(error: CheckError) -> Self {
        Self::Campaign(error.into())
    }
}

impl<'a> Hand<'a> {
    pub(crate) fn new(
        crew: &'a Crew<'a>,
        consumer: String,
        store: Box<dyn Store>,
        checker: Box<dyn Checker + 'a>,
    ) -> Self {
        let (accepted, rejected) = (HashSet::new(), HashMap::new());
        Self { crew, consumer, store, checker, program: None, accepted, rejected }
    }

    /// Works until there is nothing left to do or somebody wants to stop.
    pub(crate) fn work(&mut self) -> Result<(), CampaignError> {
        let mut pause = PAUSES.0;
        while !self.crew.stop.load(Ordering::Relaxed) {
            let fetched = match self.crew.paused.load(Ordering::Relaxed) {
                true => Fetched::Wait,
                false => self.store.fetch(&self.consumer)?,
            };
            match fetched {
                Fetched::Finished => break,
                Fetched::Wait => {
                    thread::sleep(pause);
                    pause = (pause * 2).min(PAUSES.1);
                }
                Fetched::Job(delivery) => {
                    pause = PAUSES.0;
                    self.hold(Some(&delivery.ticket));
                    let result = self.deal_with(&delivery);
                    self.hold(None);
                    result?;
                }
            }
        }
        Ok(())
    }

    fn hold(&self, ticket: Option<&str>) {
        let mut held = self.crew.held.lock().expect("nobody panics with the tickets in hand");
        match ticket {
            Some(ticket) => held.insert(self.consumer.clone(), ticket.to_owned()),
            None => held.remove(&self.consumer),
        };
    }

    fn deal_with(&mut self, delivery: &Delivery) -> Result<(), CampaignError> {
        match self.explore(delivery) {
            Ok(Some(effects)) => {
                self.store.finish(delivery, &effects)?;
                self.crew.jobs.fetch_add(1, Ordering::Relaxed);
                Ok(())
            }
            Ok(None) => {
                self.program = None;
                self.store.release(delivery)
            }
            Err(Setback::Program(error)) => {
                self.program = None;
                self.store.fail(delivery, &error)
            }
            Err(Setback::Campaign(error)) => {
                self.program = None;
                // If that fails as well, the lease ends some time.
                let _ = self.store.release(delivery);
                Err(error)
            }
        }
    }

    /// What a job finds, or nothing if somebody wants to stop.
    fn explore(&mut self, delivery: &Delivery) -> Result<Option<Effects>, Setback> {
        let settings = self.crew.settings;
        let mut program = match self.program.take() {
            Some(program) => program,
            // A program that does not even start would set aside every job: that ends the worker.
            None => Program::start(settings).map_err(CampaignError::from)?,
        };
        let hashed = program.hashed();
        let known = match hashed && is_shared(settings) {
            true => match self.known(delivery)? {
                Some(known) => Some(known),
                // Others have the job by now, or will have it again.
                None => return Ok(None),
            },
            false => None,
        };
        let known = known.as_ref().and_then(|known| known.hashes.as_deref());
        let id = delivery.key.to_string();
        let request = Request {
            id: &id,
            start: &delivery.job.start,
            depth: settings.depth,
            strategy: &Strategy::Systematic { reduction: settings.reduction },
            executions: settings.executions,
            whole: settings.whole,
            known: known.unwrap_or_default(),
            expanded: known.is_some(),
        };
        let mut effects = Effects::default();
        let mut unread = Vec::new();
        let run = program.run::<Setback>(&request, self.crew.stop, |message| {
            match message {
                Message::Sequence(sequence) => {
                    if sequence.states.is_empty() || !sequence.states.iter().all(serde_json::Value::is_object)
                    {
                        return Ok(Err("it has sent a sequence that is no list of states".into()));
                    }
                    unread.push((note(settings, delivery, &sequence, &mut effects), sequence));
                    if unread.len() == BATCH {
                        self.judge(delivery, std::mem::take(&mut unread), &mut effects)?;
                    }
                }
                Message::Frontier(frontier) => match delivery.job.next(settings, hashed, frontier) {
                    Ok(next) => keep_first(&mut effects.frontier, next),
                    Err(reason) => return Ok(Err(reason)),
                },
                Message::Expanded(expanded) => match expanded.hashes() {
                    Some(hashes) if known.is_some() => keep_some(&mut effects.expanded, hashes),
                    Some(_) => {}
                    None => return Ok(Err("it has sent expanded states that are no hashes".into())),
                },
                _ => unreachable!("other messages end a run"),
            }
            Ok(Ok(()))
        })?;
        let Run::Done(done) = run else { return Ok(None) };
        self.program = Some(program);
        self.judge(delivery, unread, &mut effects)?;
        // Behind a step that was not accepted nothing was checked, so that others should.
        if !done.complete || !effects.rejected.is_empty() || !effects.undecided.is_empty() {
            effects.expanded.clear();
        }
        effects.count("executions", done.executions);
        effects.count("steps", done.steps);
        effects.count("incomplete", u64::from(!done.complete));
        Ok(Some(effects))
    }

    /// What a job knows, which is asked for once in a layer.
    fn known(&mut self, delivery: &Delivery) -> Result<Option<Arc<Known>>, CampaignError> {
        let layer = delivery.job.layer;
        let mut cached = self.crew.known.lock().unwrap_or_else(PoisonError::into_inner);
        // A store that has gone back to an earlier moment may be in an earlier layer.
        if let Some(known) = cached.as_ref().filter(|known| known.layer == layer) {
            return Ok(Some(known.clone()));
        }
        let hashes = match self.store.expanded(delivery)? {
            None => return Ok(None),
            Some(Expanded::TooMany) => None,
            Some(Expanded::Hashes(hashes)) => {
                let mut text = String::with_capacity(16 * hashes.len());
                for hash in hashes {
                    write!(text, "{hash:016x}").expect("a text can be written to");
                }
                Some(text)
            }
        };
        Ok(Some(cached.insert(Arc::new(Known { layer, hashes })).clone()))
    }

    /// Checks the sequences that are new.
    fn judge(
        &mut self,
        delivery: &Delivery,
        sequences: Vec<(Key, Sequence)>,
        effects: &mut Effects,
    ) -> Result<(), Setback> {
        self.crew.sequences.fetch_add(sequences.len() as u64, Ordering::Relaxed);
        if self.accepted.len() + self.rejected.len() > REMEMBERED {
            self.accepted.clear();
            self.rejected.clear();
        }
        let unknown: Vec<Key> = sequences
            .iter()
            .map(|(key, _)| *key)
            .filter(|key| !self.accepted.contains(key) && !self.rejected.contains_key(key))
            .collect();
        let known = self.store.accepted(&unknown)?;
        self.accepted.extend(unknown.into_iter().zip(known).filter(|(_, known)| *known).map(|(key, _)| key));
        for (key, sequence) in sequences {
            if !self.accepted.contains(&key) && !self.rejected.contains_key(&key) {
                match self.checker.check(&sequence.states)? {
                    Verdict::Accepted => drop(self.accepted.insert(key)),
                    Verdict::Rejected(rejection) => drop(self.rejected.insert(key, rejection)),
                    Verdict::Undecided(reason) => {
                        let reason: String = reason.chars().take(200).collect();
                        effects.count(&format!("undecided.{reason}"), 1);
                        effects.undecided.insert(key);
                        continue;
                    }
                }
            }
            match self.rejected.get(&key) {
                None => drop(effects.accepted.insert(key)),
                Some(rejection) => {
                    effects.rejected.insert(key);
                    keep_first(&mut effects.failures, delivery.job.rejected(&sequence, rejection.clone()));
                }
            }
        }
        Ok(())
    }
}

/// Adds hashes until there are more than can be of use to anybody.
fn keep_some(kept: &mut BTreeSet<u64>, hashes: Vec<u64>) {
    for hash in hashes {
        if kept.len() as u64 > MOST_KNOWN {
            break;
        }
        kept.insert(hash);
    }
}

/// Counts what a sequence shows before it is checked, and names it.
fn note(settings: &Settings, delivery: &Delivery, sequence: &Sequence, effects: &mut Effects) -> Key {
    effects.count("sent", 1);
    effects.count(&format!("end.{}", sequence.end), 1);
    if settings.wrong_ends.contains(&sequence.end) {
        keep_first(&mut effects.failures, delivery.job.wrong_end(sequence));
    }
    let mut names = Vec::with_capacity(16 * sequence.states.len());
    let mut text = Vec::new();
    for state in &sequence.states {
        text.clear();
        write_canonically(state, &mut text);
        let key = Key::of("state", &text);
        names.extend(key.0);
        effects.states.insert(key);
    }
    Key::of("sequence", &names)
}

/// Sends heartbeats until the threads are done, and says so if no jobs should be fetched.
pub(crate) fn beat_until_done(
    crew: &Crew<'_>,
    store: &mut dyn Store,
    worker: &mut Worker,
    interval: Duration,
    done: &AtomicBool,
) -> Result<(), CampaignError> {
    let mut since = Instant::now();
    let (mut jobs, mut sequences) = (0, 0);
    loop {
        let ending = done.load(Ordering::Acquire);
        worker.jobs = crew.jobs.load(Ordering::Relaxed);
        worker.sequences = crew.sequences.load(Ordering::Relaxed);
        let seconds = since.elapsed().as_secs_f64();
        if seconds >= 1.0 {
            worker.jobs_per_second = (worker.jobs - jobs) as f64 / seconds;
            worker.sequences_per_second = (worker.sequences - sequences) as f64 / seconds;
            (since, jobs, sequences) = (Instant::now(), worker.jobs, worker.sequences);
        }
        worker.note = store.beat(worker, &crew.held())?;
        crew.paused.store(worker.note.is_some(), Ordering::Relaxed);
        if ending {
            return Ok(());
        }
        let until = Instant::now() + interval;
        while Instant::now() < until && !done.load(Ordering::Acquire) {
            thread::park_timeout(until.saturating_duration_since(Instant::now()));
        }
    }
}
