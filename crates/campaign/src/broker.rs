//! The store of many processes: a Redis server.
//!
//! Jobs are messages of a stream with a consumer group; what was seen is in sets. Everything that belongs together is done
//! by one script, so that any prefix of the server's log is a campaign in good order: a server that forgets its last
//! second has work done again, and counts nothing twice. Scripts may be repeated when their answer was lost.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use redis::{
    Client, ClientTlsConfig, Connection, ConnectionAddr, ConnectionInfo, ErrorKind, FromRedisValue,
    IntoConnectionInfo, RedisError, RedisResult, Script, TlsCertificates,
};

use crate::CampaignError;
use crate::job::{Effects, Job, RANK, Ranked};
use crate::key::Key;
use crate::program::ProgramError;
use crate::settings::Settings;
use crate::status::{Status, Tally, Worker};
use crate::store::{Delivery, Expanded, Fetched, MOST_KNOWN, Reason, Store, vanished};

/// The address of a Redis server and how to get in. It is never shown with its password.
///
/// ```
/// let broker = campaign::Broker::parse("rediss://watershed@broker.example:6380/2")?.with_password("secret");
/// assert_eq!(broker.to_string(), "rediss://broker.example:6380/2");
/// assert!(!format!("{broker:?}").contains("secret"));
/// # Ok::<(), campaign::CampaignError>(())
/// ```
#[derive(Clone)]
pub struct Broker {
    connection: ConnectionInfo,
    roots: Option<PathBuf>,
    identity: Option<(PathBuf, PathBuf)>,
}

impl Broker {
    /// Reads `redis://` and `rediss://` (TLS) addresses: `redis://user:password@host:port/database`.
    ///
    /// ```
    /// assert!(campaign::Broker::parse("redis://localhost").is_ok());
    /// assert!(campaign::Broker::parse("http://localhost").is_err());
    /// ```
    pub fn parse(address: &str) -> Result<Self, CampaignError> {
        // The address itself may hold a password, so errors don't repeat it.
        match address.into_connection_info() {
            Ok(connection) => Ok(Self { connection, roots: None, identity: None }),
            Err(error) => Err(CampaignError::Address { reason: error.category().to_owned() }),
        }
    }

    /// With a password that is not part of the address, so that it is not in anybody's list of processes.
    ///
    /// ```
    /// let broker = campaign::Broker::parse("redis://localhost")?.with_password("secret");
    /// # Ok::<(), campaign::CampaignError>(())
    /// ```
    #[must_use]
    pub fn with_password(mut self, password: &str) -> Self {
        let settings = self.connection.redis_settings().clone().set_password(password);
        self.connection = self.connection.set_redis_settings(settings);
        self
    }

    /// With the password of the environment variable `WATERSHED_BROKER_PASSWORD`, if there is one.
    ///
    /// ```
    /// let broker = campaign::Broker::parse("redis://localhost")?.with_password_of_environment();
    /// # Ok::<(), campaign::CampaignError>(())
    /// ```
    #[must_use]
    pub fn with_password_of_environment(self) -> Self {
        match std::env::var("WATERSHED_BROKER_PASSWORD") {
            Ok(password) => self.with_password(&password),
            Err(_) => self,
        }
    }

    /// With a file of certificates (PEM) to trust in place of the system's.
    ///
    /// ```
    /// let broker = campaign::Broker::parse("rediss://localhost")?.with_roots("ca.pem");
    /// # Ok::<(), campaign::CampaignError>(())
    /// ```
    #[must_use]
    pub fn with_roots(mut self, roots: impl Into<PathBuf>) -> Self {
        self.roots = Some(roots.into());
        self
    }

    /// With a certificate of our own and its key (PEM), for servers that ask for one.
    ///
    /// ```
    /// let broker = campaign::Broker::parse("rediss://localhost")?.with_identity("worker.pem", "worker.key");
    /// # Ok::<(), campaign::CampaignError>(())
    /// ```
    #[must_use]
    pub fn with_identity(mut self, certificate: impl Into<PathBuf>, key: impl Into<PathBuf>) -> Self {
        self.identity = Some((certificate.into(), key.into()));
        self
    }

    fn client(&self) -> Result<Client, CampaignError> {
        let read = |path: &Path| {
            std::fs::read(path).map_err(|source| CampaignError::File { path: path.to_path_buf(), source })
        };
        if matches!(self.connection.addr(), ConnectionAddr::TcpTls { .. }) {
            // The first one to install a provider wins; any will do.
            let _ = rustls::crypto::ring::default_provider().install_default();
        }
        let client = if self.roots.is_some() || self.identity.is_some() {
            let client_tls = match &self.identity {
                Some((certificate, key)) => {
                    Some(ClientTlsConfig { client_cert: read(certificate)?, client_key: read(key)? })
                }
                None => None,
            };
            let root_cert = self.roots.as_deref().map(read).transpose()?;
            Client::build_with_tls(self.connection.clone(), TlsCertificates { client_tls, root_cert })
        } else {
            Client::open(self.connection.clone())
        };
        client.map_err(|error| self.refusal(&error))
    }

    fn refusal(&self, error: &RedisError) -> CampaignError {
        CampaignError::BrokerRefuses { address: self.to_string(), reason: error.to_string() }
    }
}

impl fmt::Display for Broker {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.connection.addr() {
            ConnectionAddr::Tcp(host, port) => write!(formatter, "redis://{host}:{port}")?,
            ConnectionAddr::TcpTls { host, port, .. } => write!(formatter, "rediss://{host}:{port}")?,
            ConnectionAddr::Unix(path) => write!(formatter, "unix://{}", path.display())?,
            _ => formatter.write_str("redis://?")?,
        }
        match self.connection.redis_settings().db() {
            0 => Ok(()),
            database => write!(formatter, "/{database}"),
        }
    }
}

impl fmt::Debug for Broker {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Broker({self})")
    }
}

/// Makes a campaign with its first job.
pub(crate) fn create(broker: &Broker, name: &str, settings: &Settings) -> Result<(), CampaignError> {
    let mut link = Link::connect(broker, name)?;
    let text = serde_json::to_string(settings).expect("settings are plain JSON");
    let (key, job) = Job::first(settings);
    let script = Script::new(include_str!("scripts/create.lua"));
    let prefix = link.prefix.clone();
    let made: u64 = link.call(|connection| {
        script.key(&prefix).arg(&text).arg(key.to_string()).arg(&job.0).invoke(connection)
    })?;
    if made == 0 {
        return Err(CampaignError::Exists { place: place(broker, name) });
    }
    Ok(())
}

/// The settings of a campaign.
pub(crate) fn settings(broker: &Broker, name: &str) -> Result<Settings, CampaignError> {
    let mut link = Link::connect(broker, name)?;
    let key = format!("{}settings", link.prefix);
    let text: Option<String> = link.call(|connection| redis::cmd("GET").arg(&key).query(connection))?;
    let text = text.ok_or_else(|| CampaignError::Missing { place: place(broker, name) })?;
    serde_json::from_str(&text).map_err(|error| CampaignError::Settings { reason: error.to_string() })
}

/// What may be lost with this broker, and why.
pub(crate) fn warnings(broker: &Broker) -> Result<Vec<String>, CampaignError> {
    Link::connect(broker, "")?.warnings()
}

/// Where a campaign is, without the password.
pub(crate) fn place(broker: &Broker, name: &str) -> String {
    format!("{broker} ({name})")
}

/// How long a connection may take, and an answer.
const CONNECT: Duration = Duration::from_secs(5);
const ANSWER: Duration = Duration::from_secs(60);
/// The pauses between attempts to reach a broker that has gone away grow from the first to the last.
const PAUSES: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(5));
/// How long a server that reads its data at its start is waited for.
const LOADING: Duration = Duration::from_secs(30);

/// A connection that comes back.
struct Link {
    broker: Broker,
    campaign: String,
    prefix: String,
    client: Client,
    connection: Option<Connection>,
    /// For how long a broker that has gone away is waited for.
    patience: Duration,
    stop: Arc<AtomicBool>,
}

impl Link {
    /// Reaches a broker that has to be there.
    fn connect(broker: &Broker, campaign: &str) -> Result<Self, CampaignError> {
        let client = broker.client()?;
        let mut link = Self {
            broker: broker.clone(),
            campaign: campaign.to_owned(),
            prefix: format!("watershed:{{{campaign}}}:"),
            client,
            connection: None,
            patience: LOADING,
            stop: Arc::default(),
        };
        match link.open() {
            Err(error) if !is_loading(&error) => return Err(link.describe(&error)),
            _ => {}
        }
        let server: String = link.call(|connection| redis::cmd("INFO").arg("server").query(connection))?;
        let version = field(&server, "redis_version").unwrap_or_default();
        let mut numbers = version.split('.').map(|part| part.parse().unwrap_or(0));
        let version_number: (u32, u32) = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        if version_number < (6, 2) {
            let reason = format!("it is Redis {version}, and a campaign needs 6.2 or newer");
            return Err(CampaignError::BrokerRefuses { address: broker.to_string(), reason });
        }
        Ok(link)
    }

    fn open(&mut self) -> RedisResult<&mut Connection> {
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => {
                let connection = self.client.get_connection_with_timeout(CONNECT)?;
                connection.set_read_timeout(Some(ANSWER))?;
                connection.set_write_timeout(Some(ANSWER))?;
                connection
            }
        };
        Ok(self.connection.insert(connection))
    }

    /// Asks the broker, again and again if it has gone away. What is asked must be the same when it is done twice.
    fn call<T>(&mut self, ask: impl Fn(&mut Connection) -> RedisResult<T>) -> Result<T, CampaignError> {
        let since = Instant::now();
        let mut pause = PAUSES.0;
        loop {
            let error = match self.open().and_then(&ask) {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            let again = is_away(&error) || is_loading(&error);
            if is_away(&error) {
                self.connection = None;
            }
            if !again || since.elapsed() + pause > self.patience || self.stop.load(Ordering::Relaxed) {
                return Err(self.describe(&error));
            }
            thread::sleep(pause);
            pause = (pause * 2).min(PAUSES.1);
        }
    }

    fn describe(&self, error: &RedisError) -> CampaignError {
        let address = self.broker.to_string();
        if error.code() == Some("GONE") {
            CampaignError::Lost { address, campaign: self.campaign.clone() }
        } else if is_away(error) || is_loading(error) {
            CampaignError::BrokerAway { address, reason: error.to_string() }
        } else {
            self.broker.refusal(error)
        }
    }

    fn warnings(&mut self) -> Result<Vec<String>, CampaignError> {
        let persistence: String =
            self.call(|connection| redis::cmd("INFO").arg("persistence").query(connection))?;
        let memory: String = self.call(|connection| redis::cmd("INFO").arg("memory").query(connection))?;
        // Servers of others may keep their configuration to themselves.
        let synchronised = self
            .call(|connection| redis::cmd("CONFIG").arg("GET").arg("appendfsync").query(connection))
            .unwrap_or_else(|_| BTreeMap::<String, String>::new());
        let mut warnings = Vec::new();
        if field(&persistence, "aof_enabled") != Some("1") {
            warnings.push(format!(
                "the broker {} does not log what it is told (appendonly no): the campaign, or everything since its last \
                 snapshot, is lost when it ends",
                self.broker
            ));
        } else if synchronised.get("appendfsync").is_some_and(|when| when == "no") {
            warnings.push(format!(
                "the broker {} leaves it to the system when its log is written (appendfsync no): the work of about half a \
                 minute is done again after a power failure",
                self.broker
            ));
        }
        match field(&memory, "maxmemory_policy") {
            None | Some("noeviction") => {}
            Some(policy) => warnings.push(format!(
                "the broker {} may forget what it was told when its memory is full (maxmemory-policy {policy}): set \
                 noeviction",
                self.broker
            )),
        }
        Ok(warnings)
    }
}

/// Whether the connection is lost, or was never made.
fn is_away(error: &RedisError) -> bool {
    error.is_io_error()
        || error.is_connection_dropped()
        || error.is_connection_refusal()
        || error.is_timeout()
}

/// Whether the server is there, and will answer later.
fn is_loading(error: &RedisError) -> bool {
    matches!(error.kind(), ErrorKind::Server(_) | ErrorKind::Extension)
        && matches!(
            error.code(),
            Some(
                "LOADING"
                    | "BUSY"
                    | "OOM"
                    | "MISCONF"
                    | "TRYAGAIN"
                    | "CLUSTERDOWN"
                    | "MASTERDOWN"
                    | "READONLY"
            )
        )
}

/// A line of Redis' `INFO`.
fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim)
}

/// How full the broker's memory may be until workers stop fetching jobs.
const FULL: f64 = 0.9;

/// A handle on a campaign in a broker.
pub(crate) struct BrokerStore {
    link: Link,
    settings: Settings,
    scripts: Arc<Scripts>,
}

struct Scripts {
    fetch: Script,
    expanded: Script,
    finish: Script,
    give_back: Script,
    beat: Script,
    leave: Script,
    status: Script,
}

impl BrokerStore {
    pub(crate) fn open(
        broker: &Broker,
        name: &str,
        settings: &Settings,
        stop: Arc<AtomicBool>,
    ) -> Result<Self, CampaignError> {
        let mut link = Link::connect(broker, name)?;
        link.patience = Duration::from_secs(settings.patience.broker_seconds);
        link.stop = stop;
        let script = |text: &str| Script::new(&format!("{}\n{text}", include_str!("scripts/prelude.lua")));
        let scripts = Scripts {
            fetch: script(include_str!("scripts/fetch.lua")),
            expanded: script(include_str!("scripts/expanded.lua")),
            finish: script(include_str!("scripts/finish.lua")),
            give_back: script(include_str!("scripts/give_back.lua")),
            beat: script(include_str!("scripts/beat.lua")),
            leave: script(include_str!("scripts/leave.lua")),
            status: script(include_str!("scripts/status.lua")),
        };
        Ok(Self { link, settings: settings.clone(), scripts: Arc::new(scripts) })
    }

    fn run<T: FromRedisValue>(
        &mut self,
        script: impl Fn(&Scripts) -> &Script,
        arguments: &[Vec<u8>],
    ) -> Result<T, CampaignError> {
        let (scripts, prefix) = (self.scripts.clone(), self.link.prefix.clone());
        self.link.call(|connection| {
            let mut invocation = script(&scripts).key(&prefix);
            for argument in arguments {
                invocation.arg(argument);
            }
            invocation.invoke(connection)
        })
    }

    fn give_back(
        &mut self,
        delivery: &Delivery,
        most: Option<u64>,
        reason: &str,
    ) -> Result<(), CampaignError> {
        let arguments =
            [delivery.key.to_string(), delivery.ticket.clone(), optional(most), reason.to_owned()]
                .map(String::into_bytes);
        self.run::<u64>(|scripts| &scripts.give_back, &arguments).map(drop)
    }

    fn unreadable(&self, reason: impl fmt::Display) -> CampaignError {
        CampaignError::Store {
            place: place(&self.link.broker, &self.link.campaign),
            reason: reason.to_string(),
        }
    }
}

fn optional(number: Option<u64>) -> String {
    number.map(|number| number.to_string()).unwrap_or_default()
}

impl Store for BrokerStore {
    fn fetch(&mut self, consumer: &str) -> Result<Fetched, CampaignError> {
        let limits = self.settings.limits.clone();
        let deliveries = self.settings.patience.deliveries;
        let reason = Reason::of(&ProgramError { reason: vanished(deliveries), output: Vec::new() });
        let arguments = [
            consumer.to_owned(),
            optional(limits.layers),
            optional(limits.jobs),
            optional(limits.sequences),
            optional(limits.failures),
            deliveries.to_string(),
            reason,
        ]
        .map(String::into_bytes);
        let answer: Vec<String> = self.run(|scripts| &scripts.fetch, &arguments)?;
        match answer.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["wait"] => Ok(Fetched::Wait),
            ["finished"] => Ok(Fetched::Finished),
            ["job", name, ticket, record] => {
                let key = Key::parse(name).ok_or_else(|| self.unreadable(format!("job {name}")))?;
                let job = Ranked(record.to_owned()).content().map_err(|error| self.unreadable(error))?;
                Ok(Fetched::Job(Box::new(Delivery { key, job, ticket: ticket.to_owned() })))
            }
            _ => Err(self.unreadable("an answer that no script gives")),
        }
    }

    fn accepted(&mut self, sequences: &[Key]) -> Result<Vec<bool>, CampaignError> {
        if sequences.is_empty() {
            return Ok(Vec::new());
        }
        let mut command = redis::cmd("SMISMEMBER");
        command.arg(format!("{}accepted", self.link.prefix));
        for key in sequences {
            command.arg(&key.0[..]);
        }
        self.link.call(|connection| command.query(connection))
    }

    fn expanded(&mut self, delivery: &Delivery) -> Result<Option<Expanded>, CampaignError> {
        let arguments = [delivery.key.to_string(), delivery.job.layer.to_string(), MOST_KNOWN.to_string()]
            .map(String::into_bytes);
        let mut answer: Vec<Vec<u8>> = self.run(|scripts| &scripts.expanded, &arguments)?;
        match answer.pop().as_deref() {
            Some(b"gone") => Ok(None),
            Some(b"too many") => Ok(Some(Expanded::TooMany)),
            Some(b"hashes") => {
                let hashes: Option<_> =
                    answer.iter().map(|hash| Some(u64::from_be_bytes(hash[..].try_into().ok()?))).collect();
                let hashes = hashes.ok_or_else(|| self.unreadable("a hash that is none"))?;
                Ok(Some(Expanded::Hashes(hashes)))
            }
            _ => Err(self.unreadable("an answer that no script gives")),
        }
    }

    fn finish(&mut self, delivery: &Delivery, effects: &Effects) -> Result<(), CampaignError> {
        let mut arguments: Vec<Vec<u8>> = [
            delivery.key.to_string(),
            delivery.ticket.clone(),
            delivery.job.layer.to_string(),
            RANK.to_string(),
        ]
        .map(String::into_bytes)
        .into();
        for set in [&effects.accepted, &effects.rejected, &effects.undecided, &effects.states] {
            arguments.push(set.iter().flat_map(|key| key.0).collect());
        }
        arguments.push(effects.expanded.iter().flat_map(|hash| hash.to_be_bytes()).collect());
        arguments.push(effects.counts.len().to_string().into_bytes());
        for (name, number) in &effects.counts {
            arguments.extend([name.clone().into_bytes(), number.to_string().into_bytes()]);
        }
        for found in [&effects.frontier, &effects.failures] {
            arguments.push(found.len().to_string().into_bytes());
            for (key, record) in found {
                arguments.extend([key.to_string().into_bytes(), record.0.clone().into_bytes()]);
            }
        }
        self.run::<u64>(|scripts| &scripts.finish, &arguments).map(drop)
    }

    fn fail(&mut self, delivery: &Delivery, error: &ProgramError) -> Result<(), CampaignError> {
        self.give_back(delivery, Some(self.settings.patience.crashes), &Reason::of(error))
    }

    fn release(&mut self, delivery: &Delivery) -> Result<(), CampaignError> {
        self.give_back(delivery, None, "")
    }

    fn beat(&mut self, worker: &Worker, held: &[(String, String)]) -> Result<Option<String>, CampaignError> {
        let text = serde_json::to_string(worker).expect("a worker is plain JSON");
        let lease = self.settings.patience.lease_seconds * 1000;
        let mut arguments: Vec<Vec<u8>> =
            [worker.name.clone(), text, lease.to_string()].map(String::into_bytes).into();
        for (consumer, ticket) in held {
            arguments.extend([consumer.clone().into_bytes(), ticket.clone().into_bytes()]);
        }
        self.run::<u64>(|scripts| &scripts.beat, &arguments)?;
        let memory: String =
            self.link.call(|connection| redis::cmd("INFO").arg("memory").query(connection))?;
        let number =
            |name: &str| field(&memory, name).and_then(|text| text.parse::<f64>().ok()).unwrap_or(0.0);
        let (used, most) = (number("used_memory"), number("maxmemory"));
        Ok((most > 0.0 && used > FULL * most).then(|| {
            format!("waits: the broker has used {used:.0} of {most:.0} bytes of its memory (maxmemory)")
        }))
    }

    fn leave(&mut self, worker: &Worker, consumers: &[String]) -> Result<(), CampaignError> {
        let names = [&worker.name].into_iter().chain(consumers);
        let arguments: Vec<Vec<u8>> = names.map(|name| name.clone().into_bytes()).collect();
        self.run::<u64>(|scripts| &scripts.leave, &arguments).map(drop)
    }

    fn status(&mut self, most: usize) -> Result<Status, CampaignError> {
        type Texts = BTreeMap<String, String>;
        type Numbers = BTreeMap<String, u64>;
        let parts: Vec<redis::Value> = self.run(|scripts| &scripts.status, &[])?;
        let mut parts = parts.into_iter();
        let mut part = || parts.next().unwrap_or(redis::Value::Nil);
        let mut read = || {
            let state: String = redis::from_redis_value(part())?;
            let (counts, layers): (Numbers, Numbers) =
                (redis::from_redis_value(part())?, redis::from_redis_value(part())?);
            let (poison, reasons): (Texts, Texts) =
                (redis::from_redis_value(part())?, redis::from_redis_value(part())?);
            let (workers, beats): (Texts, Numbers) =
                (redis::from_redis_value(part())?, redis::from_redis_value(part())?);
            let mut number = || redis::from_redis_value::<u64>(part());
            let tally = Tally {
                state,
                counts,
                layers,
                running: number()?,
                frontier: number()?,
                accepted: number()?,
                rejected: number()?,
                undecided: number()?,
                states: number()?,
                ..Tally::default()
            };
            let causes: Vec<String> = redis::from_redis_value(part())?;
            let time: (u64, u64) = redis::from_redis_value(part())?;
            Ok::<_, redis::ParsingError>((tally, poison, reasons, workers, beats, causes, time))
        };
        let (mut tally, poison, reasons, workers, beats, mut causes, time) =
            read().map_err(|error| self.unreadable(error))?;
        tally.failure_count = causes.len() as u64;
        causes.sort_unstable();
        causes.truncate(most);
        for causes in causes.chunks(1000) {
            let mut command = redis::cmd("HMGET");
            command.arg(format!("{}failures", self.link.prefix)).arg(causes);
            let found: Vec<Option<String>> = self.link.call(|connection| command.query(connection))?;
            tally.failures.extend(found.into_iter().flatten().filter_map(|text| Ranked(text).content().ok()));
        }
        let now = time.0 * 1000 + time.1 / 1000;
        let workers: Vec<Worker> = workers
            .iter()
            .filter_map(|(name, text)| {
                let beat = beats.get(name).copied().unwrap_or(now);
                let worker: Worker = serde_json::from_str(text).ok()?;
                Some(Worker { silent_seconds: now.saturating_sub(beat) as f64 / 1000.0, ..worker })
            })
            .collect();
        let alive = |worker: &&Worker| worker.silent_seconds < self.settings.patience.lease_seconds as f64;
        let started = tally.counts.get("started").copied().unwrap_or(now);
        let ended = tally.counts.get("ended").copied().unwrap_or(now);
        let poison = poison.into_iter().map(|(job, record)| {
            let reason = reasons.get(&job).map_or("", String::as_str);
            Reason::poison(job, &Ranked(record), reason)
        });
        tally.poison = poison.collect();
        Ok(Status {
            campaign: self.link.campaign.clone(),
            place: self.link.broker.to_string(),
            outcome: tally.outcome(),
            seconds: ended.saturating_sub(started) as f64 / 1000.0,
            jobs_per_second: workers.iter().filter(alive).map(|worker| worker.jobs_per_second).sum(),
            sequences_per_second: workers
                .iter()
                .filter(alive)
                .map(|worker| worker.sequences_per_second)
                .sum(),
            warnings: self.link.warnings()?,
            workers,
        })
    }
}
