//! The public face: start a campaign, work on it, look at it.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::broker::{self, Broker, BrokerStore};
use crate::check::MakeChecker;
use crate::folder::{self, Folder};
use crate::key::Key;
use crate::program::Program;
use crate::settings::Settings;
use crate::status::{Status, Worker};
use crate::store::Store;
use crate::worker::{Crew, Hand, beat_until_done};
use crate::{CampaignError, CheckError};

/// Where a campaign is kept.
///
/// ```
/// use campaign::{Broker, Place};
/// assert_eq!(Place::folder("runs/first").to_string(), "runs/first");
/// let place = Place::broker(Broker::parse("redis://localhost")?, "first")?;
/// assert_eq!(place.to_string(), "redis://localhost:6379 (first)");
/// # Ok::<(), campaign::CampaignError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Place(Kept);

#[derive(Clone, Debug)]
enum Kept {
    Folder(PathBuf),
    Broker(Box<Broker>, String),
}

impl Place {
    /// In a folder, for one process at a time.
    ///
    /// ```
    /// let place = campaign::Place::folder("runs/first");
    /// ```
    pub fn folder(path: impl Into<PathBuf>) -> Self {
        Self(Kept::Folder(path.into()))
    }

    /// In a broker, under a name of letters, digits, dots, dashes and underscores.
    ///
    /// ```
    /// use campaign::{Broker, Place};
    /// assert!(Place::broker(Broker::parse("redis://localhost")?, "two words").is_err());
    /// # Ok::<(), campaign::CampaignError>(())
    /// ```
    pub fn broker(broker: Broker, name: &str) -> Result<Self, CampaignError> {
        let allowed = |character: char| character.is_ascii_alphanumeric() || "._-".contains(character);
        if name.is_empty() || !name.chars().all(allowed) {
            let reason =
                format!("the name {name:?} has other characters than letters, digits, `.`, `-` and `_`");
            return Err(CampaignError::Settings { reason });
        }
        Ok(Self(Kept::Broker(Box::new(broker), name.to_owned())))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kept::Folder(path) => write!(formatter, "{}", path.display()),
            Kept::Broker(broker, name) => formatter.write_str(&broker::place(broker, name)),
        }
    }
}

/// How a process works on a campaign.
///
/// ```
/// let work = campaign::Work { threads: 2, ..Default::default() };
/// work.stop.store(true, std::sync::atomic::Ordering::Relaxed);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Work {
    /// How many jobs are done at a time; 0 for one on each core.
    pub threads: usize,
    /// Set it to stop: jobs in hand are given back undone. An error sets it, too.
    pub stop: Arc<AtomicBool>,
}

/// A campaign that was started.
///
/// ```no_run
/// use campaign::{Campaign, CheckError, Checker, Place, Settings, Verdict, Work};
///
/// struct Everything;
/// impl Checker for Everything {
///     fn check(&mut self, _: &[serde_json::Value]) -> Result<Verdict, CheckError> { Ok(Verdict::Accepted) }
/// }
///
/// let place = Place::folder("runs/first");
/// Campaign::start(&place, &Settings::new("./target/debug/alternating_bit"))?;
/// // Here or elsewhere, now or after a power failure:
/// let campaign = Campaign::open(&place)?;
/// let status = campaign.work(&Work::default(), &|| Ok(Box::new(Everything)))?;
/// println!("{} sequences, {} failures", status.outcome.sequences, status.outcome.failure_count);
/// # Ok::<(), campaign::CampaignError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Campaign {
    place: Place,
    settings: Settings,
}

impl Campaign {
    /// Starts a campaign: the program is tried, and settings and the first job are stored. Nothing is explored yet.
    ///
    /// ```no_run
    /// use campaign::{Campaign, Place, Settings};
    /// Campaign::start(&Place::folder("runs/first"), &Settings::new("./program"))?;
    /// # Ok::<(), campaign::CampaignError>(())
    /// ```
    pub fn start(place: &Place, settings: &Settings) -> Result<Self, CampaignError> {
        settings.verify()?;
        drop(Program::start(settings)?);
        match &place.0 {
            Kept::Folder(path) => folder::create(path, settings)?,
            Kept::Broker(broker, name) => broker::create(broker, name, settings)?,
        }
        Ok(Self { place: place.clone(), settings: settings.clone() })
    }

    /// Opens a campaign that was started before, here or elsewhere.
    ///
    /// ```no_run
    /// let campaign = campaign::Campaign::open(&campaign::Place::folder("runs/first"))?;
    /// println!("{}", campaign.settings().model);
    /// # Ok::<(), campaign::CampaignError>(())
    /// ```
    pub fn open(place: &Place) -> Result<Self, CampaignError> {
        let settings = match &place.0 {
            Kept::Folder(path) => folder::settings(path)?,
            Kept::Broker(broker, name) => broker::settings(broker, name)?,
        };
        Ok(Self { place: place.clone(), settings })
    }

    /// The settings that the campaign was started with.
    ///
    /// ```no_run
    /// # let campaign = campaign::Campaign::open(&campaign::Place::folder("runs/first"))?;
    /// println!("layers of depth {}", campaign.settings().depth);
    /// # Ok::<(), campaign::CampaignError>(())
    /// ```
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// What may be lost where the campaign is kept, and why.
    ///
    /// ```no_run
    /// # let campaign = campaign::Campaign::open(&campaign::Place::folder("runs/first"))?;
    /// campaign.warnings()?.iter().for_each(|warning| eprintln!("warning: {warning}"));
    /// # Ok::<(), campaign::CampaignError>(())
    /// ```
    pub fn warnings(&self) -> Result<Vec<String>, CampaignError> {
        match &self.place.0 {
            Kept::Folder(_) => Ok(Vec::new()),
            Kept::Broker(broker, _) => broker::warnings(broker),
        }
    }

    /// What is known, with at most so many failures; live while others work.
    ///
    /// ```no_run
    /// # let campaign = campaign::Campaign::open(&campaign::Place::folder("runs/first"))?;
    /// println!("{}", serde_json::to_string_pretty(&campaign.status(5)?).unwrap());
    /// # Ok::<(), campaign::CampaignError>(())
    /// ```
    pub fn status(&self, failures: usize) -> Result<Status, CampaignError> {
        match &self.place.0 {
            Kept::Folder(path) => folder::status(path, &self.settings, failures),
            Kept::Broker(broker, name) => {
                BrokerStore::open(broker, name, &self.settings, Arc::default())?.status(failures)
            }
        }
    }

    /// Works until no job is waiting or running anywhere, or until it is stopped. Returns all that is known then.
    ///
    /// ```no_run
    /// # use campaign::{CheckError, Checker, Verdict};
    /// # struct Everything;
    /// # impl Checker for Everything {
    /// #     fn check(&mut self, _: &[serde_json::Value]) -> Result<Verdict, CheckError> { Ok(Verdict::Accepted) }
    /// # }
    /// # let campaign = campaign::Campaign::open(&campaign::Place::folder("runs/first"))?;
    /// let status = campaign.work(&campaign::Work::default(), &|| Ok(Box::new(Everything)))?;
    /// assert!(status.outcome.is_finished());
    /// # Ok::<(), campaign::CampaignError>(())
    /// ```
    pub fn work(&self, work: &Work, make_checker: &MakeChecker<'_>) -> Result<Status, CampaignError> {
        self.settings.verify_files()?;
        let threads = match work.threads {
            0 => thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        };
        let mut stores = self.stores(threads + 1, &work.stop)?;
        let mut own = stores.pop().expect("there is one more store than there are threads");
        let interval = match &self.place.0 {
            Kept::Folder(_) => folder::BEAT,
            Kept::Broker(..) => {
                (Duration::from_secs(self.settings.patience.lease_seconds) / 4).min(Duration::from_secs(2))
            }
        };
        let mut worker = Worker { name: name_of_worker(), threads: threads as u64, ..Worker::default() };
        let crew = Crew {
            settings: &self.settings,
            stop: &work.stop,
            paused: AtomicBool::new(false),
            held: Mutex::new(BTreeMap::new()),
            jobs: AtomicU64::new(0),
            sequences: AtomicU64::new(0),
            known: Mutex::new(None),
        };
        let consumers: Vec<String> = (0..threads).map(|number| format!("{}-{number}", worker.name)).collect();
        let done = AtomicBool::new(false);
        let result = thread::scope(|scope| {
            let heart = scope.spawn(|| {
                let result = beat_until_done(&crew, &mut *own, &mut worker, interval, &done);
                if result.is_err() {
                    work.stop.store(true, Ordering::Relaxed);
                }
                result
            });
            let hands: Vec<_> = stores
                .into_iter()
                .zip(&consumers)
                .map(|(store, consumer)| {
                    let crew = &crew;
                    scope.spawn(move || {
                        let _guard = StopOnPanic(crew.stop);
                        let result = make_checker()
                            .map_err(CampaignError::from)
                            .and_then(|checker| Hand::new(crew, consumer.clone(), store, checker).work());
                        if result.is_err() {
                            crew.stop.store(true, Ordering::Relaxed);
                        }
                        result
                    })
                })
                .collect();
            let panicked = || Err(CheckError::new("the checker has panicked").into());
            let results: Vec<_> =
                hands.into_iter().map(|hand| hand.join().unwrap_or_else(|_| panicked())).collect();
            done.store(true, Ordering::Release);
            heart.thread().unpark();
            let heart = heart.join().unwrap_or_else(|_| panicked());
            results.into_iter().chain([heart]).collect::<Result<Vec<()>, CampaignError>>()
        });
        // Whatever has happened, what was done is kept, and others need not wait for this worker.
        let left = own.leave(&worker, &consumers);
        result?;
        left?;
        own.status(usize::MAX)
    }

    fn stores(&self, count: usize, stop: &Arc<AtomicBool>) -> Result<Vec<Box<dyn Store>>, CampaignError> {
        match &self.place.0 {
            Kept::Folder(path) => {
                let folder = open_folder(path, &self.settings)?;
                Ok((0..count).map(|_| Box::new(folder.clone()) as Box<dyn Store>).collect())
            }
            Kept::Broker(broker, name) => (0..count)
                .map(|_| {
                    let store = BrokerStore::open(broker, name, &self.settings, stop.clone())?;
                    Ok(Box::new(store) as Box<dyn Store>)
                })
                .collect(),
        }
    }
}

/// Opens a folder, which somebody who looks at the status may have for a moment.
fn open_folder(path: &Path, settings: &Settings) -> Result<Folder, CampaignError> {
    let since = Instant::now();
    loop {
        match Folder::open(path, settings) {
            Err(CampaignError::Busy { .. }) if since.elapsed() < Duration::from_secs(1) => {
                thread::sleep(Duration::from_millis(20));
            }
            result => return result,
        }
    }
}

/// Without it, the others would wait for the job of a thread that has panicked.
struct StopOnPanic<'a>(&'a AtomicBool);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

/// Machine, process and moment: no two workers have the same name.
fn name_of_worker() -> String {
    let machine = std::fs::read_to_string("/proc/sys/kernel/hostname")
        .or_else(|_| std::env::var("HOSTNAME"))
        .unwrap_or_else(|_| "worker".into());
    let process = std::process::id();
    let moment = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos());
    let key = Key::of("worker", format!("{machine} {process} {moment}").as_bytes()).to_string();
    format!("{}-{process}-{}", machine.trim(), &key[..6])
}
