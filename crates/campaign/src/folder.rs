//! The store of one process: a database in the folder of the campaign.
//!
//! A job is one transaction, so it is counted entirely or not at all. Transactions are made durable together, a few times a
//! second (`beat`), and a status is shown only after that: a crash costs the work of a moment, never what was reported.

use std::collections::{BTreeSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use redb::{
    Database, DatabaseError, Durability, ReadableDatabase, ReadableTable, ReadableTableMetadata,
    TableDefinition, WriteTransaction,
};

use crate::CampaignError;
use crate::job::{Effects, Job, RANK, Ranked};
use crate::key::Key;
use crate::program::ProgramError;
use crate::settings::Settings;
use crate::status::{Status, Tally, Worker};
use crate::store::{Delivery, Expanded, Fetched, MOST_KNOWN, Reason, Store, vanished};

type Name = &'static [u8; 16];
type Set = TableDefinition<'static, Name, ()>;
type Texts = TableDefinition<'static, Name, &'static str>;
type Numbers = TableDefinition<'static, &'static str, u64>;

/// One text, under the empty name: `running`, `complete`, or the limit that was reached.
const STATE: TableDefinition<'static, &'static str, &'static str> = TableDefinition::new("state");
const COUNTS: Numbers = Numbers::new("counts");
const LAYERS: Numbers = Numbers::new("layers");
/// Jobs of this layer that are not done, by name.
const RECORDS: Texts = Texts::new("records");
/// Jobs of the next layer.
const NEXT: Texts = Texts::new("next");
/// All jobs that there have been in this layer and before.
const STARTS: Set = Set::new("starts");
const ACCEPTED: Set = Set::new("accepted");
const REJECTED: Set = Set::new("rejected");
const UNDECIDED: Set = Set::new("undecided");
const STATES: Set = Set::new("states");
/// Hashes of the states that jobs have expanded, by layer.
const EXPANDED: TableDefinition<'static, (u64, u64), ()> = TableDefinition::new("expanded");
const FAILURES: Texts = Texts::new("failures");
const POISON: Texts = Texts::new("poison");
const REASONS: Texts = Texts::new("reasons");
const CRASHES: TableDefinition<'static, Name, u64> = TableDefinition::new("crashes");
/// How often a process has ended with the job in its hands.
const VANISHED: TableDefinition<'static, Name, u64> = TableDefinition::new("vanished");
/// Jobs that were in somebody's hands when the store was last made durable.
const RUNNING: Set = Set::new("running");

const DATABASE: &str = "campaign.redb";
const SETTINGS: &str = "settings.json";
const STATUS: &str = "status.json";

/// How often what was done is made durable.
pub(crate) const BEAT: Duration = Duration::from_millis(250);
/// How often the status is written for others to read.
const SHOW: Duration = Duration::from_secs(1);
/// How many failures that status has.
const SHOWN: usize = 20;

/// Makes the folder of a campaign with its first job.
pub(crate) fn create(folder: &Path, settings: &Settings) -> Result<(), CampaignError> {
    let file = |name: &str| folder.join(name);
    let failed = |path: PathBuf| move |source| CampaignError::File { path, source };
    if file(SETTINGS).exists() {
        return Err(CampaignError::Exists { place: folder.display().to_string() });
    }
    fs::create_dir_all(folder).map_err(failed(folder.to_path_buf()))?;
    // Without settings, what is there is left over from a start that was interrupted.
    if file(DATABASE).exists() {
        fs::remove_file(file(DATABASE)).map_err(failed(file(DATABASE)))?;
    }
    fill(&file(DATABASE), settings).map_err(|error| CampaignError::Store {
        place: folder.display().to_string(),
        reason: error.to_string(),
    })?;
    let text = serde_json::to_string_pretty(settings).expect("settings are plain JSON");
    write_whole(&file(SETTINGS), &text)
}

fn fill(path: &Path, settings: &Settings) -> Result<(), redb::Error> {
    let database = Database::create(path)?;
    let transaction = database.begin_write()?;
    {
        let (key, job) = Job::first(settings);
        transaction.open_table(RECORDS)?.insert(&key.0, job.0.as_str())?;
        transaction.open_table(STARTS)?.insert(&key.0, ())?;
        transaction.open_table(LAYERS)?.insert("0.jobs", 1)?;
        transaction.open_table(STATE)?.insert("", "running")?;
        let mut counts = transaction.open_table(COUNTS)?;
        counts.insert("layer", 0)?;
        counts.insert("started", milliseconds())?;
        // Readers need all tables to exist.
        for set in [ACCEPTED, REJECTED, UNDECIDED, STATES, RUNNING] {
            transaction.open_table(set)?;
        }
        for texts in [NEXT, FAILURES, POISON, REASONS] {
            transaction.open_table(texts)?;
        }
        transaction.open_table(CRASHES)?;
        transaction.open_table(VANISHED)?;
        transaction.open_table(EXPANDED)?;
    }
    Ok(transaction.commit()?)
}

/// The settings of the campaign in a folder.
pub(crate) fn settings(folder: &Path) -> Result<Settings, CampaignError> {
    let path = folder.join(SETTINGS);
    let text = fs::read_to_string(&path).map_err(|source| match source.kind() {
        std::io::ErrorKind::NotFound => CampaignError::Missing { place: folder.display().to_string() },
        _ => CampaignError::File { path: path.clone(), source },
    })?;
    serde_json::from_str(&text)
        .map_err(|error| CampaignError::Settings { reason: format!("{}: {error}", path.display()) })
}

/// What is known of the campaign in a folder, whether or not somebody works on it.
pub(crate) fn status(folder: &Path, settings: &Settings, most: usize) -> Result<Status, CampaignError> {
    match Folder::open(folder, settings) {
        Ok(mut store) => store.status(most),
        Err(CampaignError::Busy { place }) => {
            // Whoever works on it writes that file; in the first moment there is none yet.
            let Ok(text) = fs::read_to_string(folder.join(STATUS)) else {
                return Err(CampaignError::Busy { place });
            };
            let mut status: Status = serde_json::from_str(&text)
                .map_err(|error| CampaignError::Store { place, reason: error.to_string() })?;
            status.outcome.failures.truncate(most);
            Ok(status)
        }
        Err(error) => Err(error),
    }
}

/// A handle on the database, which all threads share.
#[derive(Clone)]
pub(crate) struct Folder {
    shared: Arc<Shared>,
}

struct Shared {
    path: PathBuf,
    settings: Settings,
    database: Database,
    hands: Mutex<Hands>,
}

/// Which jobs of this layer nobody and somebody has.
struct Hands {
    waiting: VecDeque<Key>,
    running: BTreeSet<Key>,
    finished: bool,
    worker: Option<Worker>,
    shown: Option<Instant>,
}

impl Folder {
    /// Opens the store. Jobs that were in the hands of a process that has ended wait again.
    pub(crate) fn open(folder: &Path, settings: &Settings) -> Result<Self, CampaignError> {
        let place = folder.display().to_string();
        let database = match Database::open(folder.join(DATABASE)) {
            Ok(database) => database,
            Err(DatabaseError::DatabaseAlreadyOpen) => return Err(CampaignError::Busy { place }),
            Err(error) => return Err(CampaignError::Store { place, reason: error.to_string() }),
        };
        let hands = Hands {
            waiting: VecDeque::new(),
            running: BTreeSet::new(),
            finished: false,
            worker: None,
            shown: None,
        };
        let store = Self {
            shared: Arc::new(Shared {
                path: folder.to_path_buf(),
                settings: settings.clone(),
                database,
                hands: Mutex::new(hands),
            }),
        };
        store.recover().map_err(|error| store.failed(error))?;
        Ok(store)
    }

    fn recover(&self) -> Result<(), redb::Error> {
        let mut hands = self.hands();
        let transaction = self.shared.database.begin_write()?;
        {
            let most = self.shared.settings.patience.deliveries;
            let lost: Vec<Key> = keys(&transaction.open_table(RUNNING)?)?;
            for key in &lost {
                transaction.open_table(RUNNING)?.remove(&key.0)?;
                let times = 1 + number(&transaction.open_table(VANISHED)?, &key.0)?;
                transaction.open_table(VANISHED)?.insert(&key.0, times)?;
                if times >= most {
                    let reason = ProgramError { reason: vanished(times), output: Vec::new() };
                    set_aside(&transaction, *key, &Reason::of(&reason))?;
                }
            }
            // A campaign of an earlier version has no such table.
            transaction.open_table(EXPANDED)?;
            hands.waiting = keys(&transaction.open_table(RECORDS)?)?.into();
            hands.finished = state(&transaction.open_table(STATE)?)? != "running";
        }
        Ok(transaction.commit()?)
    }

    fn hands(&self) -> MutexGuard<'_, Hands> {
        // A thread that panics leaves nothing half done: the database takes whole transactions only.
        self.shared.hands.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn failed(&self, error: impl Into<redb::Error>) -> CampaignError {
        CampaignError::Store { place: self.place(), reason: error.into().to_string() }
    }

    fn place(&self) -> String {
        self.shared.path.display().to_string()
    }

    /// Changes the database, durable with the next beat.
    fn change<T>(
        &self,
        change: impl FnOnce(&WriteTransaction) -> Result<T, redb::Error>,
    ) -> Result<T, CampaignError> {
        let attempt = || {
            let mut transaction = self.shared.database.begin_write()?;
            transaction.set_durability(Durability::None)?;
            let result = change(&transaction)?;
            transaction.commit()?;
            Ok::<T, redb::Error>(result)
        };
        attempt().map_err(|error| self.failed(error))
    }

    /// Begins the next layer, or finds that there is none.
    fn promote(&self, hands: &mut Hands) -> Result<(), CampaignError> {
        let limits = &self.shared.settings.limits;
        let waiting = self.change(|transaction| {
            let mut next = transaction.open_table(NEXT)?;
            let mut counts = transaction.open_table(COUNTS)?;
            let mut layers = transaction.open_table(LAYERS)?;
            let layer = 1 + number(&counts, "layer")?;
            let mut jobs = 0;
            for earlier in 0..layer {
                jobs += number(&layers, format!("{earlier}.jobs").as_str())?;
            }
            let budget = limits.jobs.map_or(u64::MAX, |most| most.saturating_sub(jobs));
            let end = if next.is_empty()? {
                Some("complete")
            } else if limits.layers.is_some_and(|most| layer >= most) {
                Some("layers")
            } else if budget == 0 {
                Some("jobs")
            } else {
                None
            };
            if let Some(end) = end {
                transaction.open_table(STATE)?.insert("", end)?;
                counts.insert("ended", milliseconds())?;
                return Ok(None);
            }
            let mut records = transaction.open_table(RECORDS)?;
            let mut starts = transaction.open_table(STARTS)?;
            let mut waiting = VecDeque::new();
            while (waiting.len() as u64) < budget
                && let Some((key, job)) = next.pop_first()?
            {
                records.insert(key.value(), job.value())?;
                starts.insert(key.value(), ())?;
                waiting.push_back(Key(*key.value()));
            }
            counts.insert("layer", layer)?;
            layers.insert(format!("{layer}.jobs").as_str(), waiting.len() as u64)?;
            Ok(Some(waiting))
        })?;
        match waiting {
            Some(waiting) => hands.waiting = waiting,
            None => hands.finished = true,
        }
        Ok(())
    }

    /// Whether a limit of what was found is reached, which then is the state of the campaign.
    fn reached_limit(&self) -> Result<bool, CampaignError> {
        let limits = &self.shared.settings.limits;
        if limits.sequences.is_none() && limits.failures.is_none() {
            return Ok(false);
        }
        let found = || {
            let reading = self.shared.database.begin_read()?;
            let mut sequences = 0;
            for set in [ACCEPTED, REJECTED, UNDECIDED] {
                sequences += reading.open_table(set)?.len()?;
            }
            Ok::<_, redb::Error>((sequences, reading.open_table(FAILURES)?.len()?))
        };
        let (sequences, failures) = found().map_err(|error| self.failed(error))?;
        let limit = if limits.sequences.is_some_and(|most| sequences >= most) {
            "sequences"
        } else if limits.failures.is_some_and(|most| failures >= most) {
            "failures"
        } else {
            return Ok(false);
        };
        self.change(|transaction| {
            transaction.open_table(STATE)?.insert("", limit)?;
            transaction.open_table(COUNTS)?.insert("ended", milliseconds())?;
            Ok(true)
        })
    }

    fn read_status(&self, most: usize, running: u64, worker: Option<Worker>) -> Result<Status, redb::Error> {
        let reading = self.shared.database.begin_read()?;
        let mut tally = Tally { state: state(&reading.open_table(STATE)?)?, running, ..Tally::default() };
        for (table, numbers) in [(COUNTS, &mut tally.counts), (LAYERS, &mut tally.layers)] {
            for entry in reading.open_table(table)?.iter()? {
                let (name, number) = entry?;
                numbers.insert(name.value().to_owned(), number.value());
            }
        }
        tally.frontier = reading.open_table(NEXT)?.len()?;
        tally.accepted = reading.open_table(ACCEPTED)?.len()?;
        tally.rejected = reading.open_table(REJECTED)?.len()?;
        tally.undecided = reading.open_table(UNDECIDED)?.len()?;
        tally.states = reading.open_table(STATES)?.len()?;
        let failures = reading.open_table(FAILURES)?;
        tally.failure_count = failures.len()?;
        for entry in failures.iter()?.take(most) {
            if let Ok(failure) = Ranked(entry?.1.value().to_owned()).content() {
                tally.failures.push(failure);
            }
        }
        let reasons = reading.open_table(REASONS)?;
        for entry in reading.open_table(POISON)?.iter()? {
            let (key, job) = entry?;
            let reason = reasons.get(key.value())?;
            let reason = reason.as_ref().map_or("", |reason| reason.value());
            let name = Key(*key.value()).to_string();
            tally.poison.push(Reason::poison(name, &Ranked(job.value().to_owned()), reason));
        }
        let started = tally.counts.get("started").copied().unwrap_or(0);
        let now = tally.counts.get("ended").copied().unwrap_or_else(milliseconds);
        let path = &self.shared.path;
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Ok(Status {
            campaign: name,
            place: self.place(),
            outcome: tally.outcome(),
            seconds: now.saturating_sub(started) as f64 / 1000.0,
            jobs_per_second: worker.as_ref().map_or(0.0, |worker| worker.jobs_per_second),
            sequences_per_second: worker.as_ref().map_or(0.0, |worker| worker.sequences_per_second),
            workers: worker.into_iter().collect(),
            warnings: Vec::new(),
        })
    }

    /// Makes everything durable that was done so far.
    fn settle(&self, running: &BTreeSet<Key>) -> Result<(), CampaignError> {
        let attempt = || {
            let transaction = self.shared.database.begin_write()?;
            {
                let mut table = transaction.open_table(RUNNING)?;
                table.retain(|_, ()| false)?;
                for key in running {
                    table.insert(&key.0, ())?;
                }
            }
            transaction.commit()?;
            Ok::<(), redb::Error>(())
        };
        attempt().map_err(|error| self.failed(error))
    }
}

impl Store for Folder {
    fn fetch(&mut self, _consumer: &str) -> Result<Fetched, CampaignError> {
        let mut hands = self.hands();
        if !hands.finished && self.reached_limit()? {
            hands.finished = true;
        }
        loop {
            if hands.finished {
                return Ok(Fetched::Finished);
            }
            if let Some(key) = hands.waiting.pop_front() {
                let record = || {
                    let reading = self.shared.database.begin_read()?;
                    let record = reading.open_table(RECORDS)?.get(&key.0)?;
                    Ok::<_, redb::Error>(record.map(|record| Ranked(record.value().to_owned())))
                };
                let Some(record) = record().map_err(|error| self.failed(error))? else { continue };
                let job = record.content().map_err(|error| CampaignError::Store {
                    place: self.place(),
                    reason: format!("job {key}: {error}"),
                })?;
                hands.running.insert(key);
                return Ok(Fetched::Job(Box::new(Delivery { key, job, ticket: String::new() })));
            }
            if !hands.running.is_empty() {
                return Ok(Fetched::Wait);
            }
            self.promote(&mut hands)?;
        }
    }

    fn accepted(&mut self, sequences: &[Key]) -> Result<Vec<bool>, CampaignError> {
        let attempt = || {
            let table = self.shared.database.begin_read()?.open_table(ACCEPTED)?;
            sequences.iter().map(|key| Ok(table.get(&key.0)?.is_some())).collect::<Result<_, redb::Error>>()
        };
        attempt().map_err(|error| self.failed(error))
    }

    fn expanded(&mut self, delivery: &Delivery) -> Result<Option<Expanded>, CampaignError> {
        let attempt = || {
            let table = self.shared.database.begin_read()?.open_table(EXPANDED)?;
            let mut hashes = BTreeSet::new();
            for (count, entry) in table.range(..(delivery.job.layer, 0))?.enumerate() {
                if count as u64 == MOST_KNOWN {
                    return Ok(Expanded::TooMany);
                }
                hashes.insert(entry?.0.value().1);
            }
            Ok::<_, redb::Error>(Expanded::Hashes(hashes))
        };
        attempt().map(Some).map_err(|error| self.failed(error))
    }

    fn finish(&mut self, delivery: &Delivery, effects: &Effects) -> Result<(), CampaignError> {
        let key = delivery.key;
        self.change(|transaction| {
            if transaction.open_table(RECORDS)?.remove(&key.0)?.is_none() {
                return Ok(());
            }
            for (set, found) in [
                (ACCEPTED, &effects.accepted),
                (REJECTED, &effects.rejected),
                (UNDECIDED, &effects.undecided),
                (STATES, &effects.states),
            ] {
                if found.is_empty() {
                    continue;
                }
                let mut table = transaction.open_table(set)?;
                for key in found {
                    // Most is known: to look costs less than to write the same again.
                    if table.get(&key.0)?.is_none() {
                        table.insert(&key.0, ())?;
                    }
                }
            }
            if !effects.frontier.is_empty() {
                let starts = transaction.open_table(STARTS)?;
                let mut next = transaction.open_table(NEXT)?;
                for (key, job) in &effects.frontier {
                    if starts.get(&key.0)?.is_none() {
                        keep_first(&mut next, key, job)?;
                    }
                }
            }
            if !effects.failures.is_empty() {
                let mut failures = transaction.open_table(FAILURES)?;
                for (key, failure) in &effects.failures {
                    keep_first(&mut failures, key, failure)?;
                }
            }
            if !effects.expanded.is_empty() {
                let mut expanded = transaction.open_table(EXPANDED)?;
                for hash in &effects.expanded {
                    let entry = (delivery.job.layer, *hash);
                    if expanded.get(entry)?.is_none() {
                        expanded.insert(entry, ())?;
                    }
                }
            }
            let mut counts = transaction.open_table(COUNTS)?;
            for (name, count) in &effects.counts {
                add(&mut counts, name, *count)?;
            }
            let mut layers = transaction.open_table(LAYERS)?;
            add(&mut layers, &format!("{}.done", delivery.job.layer), 1)?;
            transaction.open_table(CRASHES)?.remove(&key.0)?;
            transaction.open_table(VANISHED)?.remove(&key.0)?;
            Ok(())
        })?;
        self.hands().running.remove(&key);
        Ok(())
    }

    fn fail(&mut self, delivery: &Delivery, error: &ProgramError) -> Result<(), CampaignError> {
        let key = delivery.key;
        let most = self.shared.settings.patience.crashes;
        let again = self.change(|transaction| {
            let times = 1 + number(&transaction.open_table(CRASHES)?, &key.0)?;
            transaction.open_table(CRASHES)?.insert(&key.0, times)?;
            if times >= most {
                set_aside(transaction, key, &Reason::of(error))?;
            }
            Ok(times < most)
        })?;
        let mut hands = self.hands();
        hands.running.remove(&key);
        if again {
            hands.waiting.push_back(key);
        }
        Ok(())
    }

    fn release(&mut self, delivery: &Delivery) -> Result<(), CampaignError> {
        let mut hands = self.hands();
        hands.running.remove(&delivery.key);
        hands.waiting.push_front(delivery.key);
        Ok(())
    }

    fn beat(&mut self, worker: &Worker, _held: &[(String, String)]) -> Result<Option<String>, CampaignError> {
        let (running, show) = {
            let mut hands = self.hands();
            hands.worker = Some(worker.clone());
            let show = hands.shown.is_none_or(|shown| shown.elapsed() >= SHOW);
            if show {
                hands.shown = Some(Instant::now());
            }
            (hands.running.clone(), show)
        };
        if show {
            // What is shown is read before it is made durable, so nothing is shown that could be lost.
            let status = self.status(SHOWN)?;
            self.settle(&running)?;
            let text = serde_json::to_string(&status).expect("a status is plain JSON");
            write_whole(&self.shared.path.join(STATUS), &text)?;
        } else {
            self.settle(&running)?;
        }
        Ok(None)
    }

    fn leave(&mut self, _worker: &Worker, _consumers: &[String]) -> Result<(), CampaignError> {
        self.hands().worker = None;
        self.settle(&BTreeSet::new())
    }

    fn status(&mut self, most: usize) -> Result<Status, CampaignError> {
        let (running, worker) = {
            let hands = self.hands();
            (hands.running.len() as u64, hands.worker.clone())
        };
        self.read_status(most, running, worker).map_err(|error| self.failed(error))
    }
}

/// Moves a job from those of this layer to those that nobody tries any more.
fn set_aside(transaction: &WriteTransaction, key: Key, reason: &str) -> Result<(), redb::Error> {
    let mut records = transaction.open_table(RECORDS)?;
    let Some(job) = records.remove(&key.0)?.map(|job| job.value().to_owned()) else { return Ok(()) };
    transaction.open_table(POISON)?.insert(&key.0, job.as_str())?;
    transaction.open_table(REASONS)?.insert(&key.0, reason)?;
    let layer = number(&transaction.open_table(COUNTS)?, "layer")?;
    add(&mut transaction.open_table(LAYERS)?, &format!("{layer}.poison"), 1)
}

fn keep_first(
    table: &mut redb::Table<'_, Name, &'static str>,
    key: &Key,
    found: &Ranked,
) -> Result<(), redb::Error> {
    let kept = table.get(&key.0)?.is_some_and(|kept| kept.value().get(..RANK) <= found.0.get(..RANK));
    if !kept {
        table.insert(&key.0, found.0.as_str())?;
    }
    Ok(())
}

fn add(table: &mut redb::Table<'_, &'static str, u64>, name: &str, more: u64) -> Result<(), redb::Error> {
    let sum = more + number(table, name)?;
    table.insert(name, sum)?;
    Ok(())
}

fn number<'key, K: redb::Key + 'static>(
    table: &impl ReadableTable<K, u64>,
    key: impl std::borrow::Borrow<K::SelfType<'key>>,
) -> Result<u64, redb::Error> {
    Ok(table.get(key)?.map_or(0, |number| number.value()))
}

fn keys<V: redb::Value + 'static>(table: &impl ReadableTable<Name, V>) -> Result<Vec<Key>, redb::Error> {
    table.iter()?.map(|entry| Ok(Key(*entry?.0.value()))).collect()
}

fn state(table: &impl ReadableTable<&'static str, &'static str>) -> Result<String, redb::Error> {
    Ok(table.get("")?.map(|state| state.value().to_owned()).unwrap_or_default())
}

fn milliseconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis() as u64)
}

/// Writes a file under another name first, so that nobody reads half of it.
fn write_whole(path: &Path, text: &str) -> Result<(), CampaignError> {
    let draft = path.with_extension("draft");
    let failed = |source| CampaignError::File { path: path.to_path_buf(), source };
    let file = fs::File::create(&draft).map_err(failed)?;
    std::io::Write::write_all(&mut &file, text.as_bytes()).map_err(failed)?;
    file.sync_all().map_err(failed)?;
    drop(file);
    fs::rename(&draft, path).map_err(failed)
}
