//! What a campaign is: the program, how it is explored, and when to stop. Settings are stored in the campaign, so that
//! workers elsewhere need nothing but its place.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::CampaignError;
use crate::protocol::End;

/// What a campaign is.
///
/// ```
/// let mut settings = campaign::Settings::new("./target/debug/alternating_bit");
/// settings.depth = 50;
/// settings.limits.layers = Some(4);
/// let text = serde_json::to_string(&settings).unwrap();
/// assert_eq!(serde_json::from_str::<campaign::Settings>(&text).unwrap(), settings);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The program under test: a name to be found in PATH, or a path from where the worker runs.
    pub program: PathBuf,
    /// Its arguments.
    #[serde(default)]
    pub arguments: Vec<String>,
    /// Where it is run; without one, where the worker runs.
    #[serde(default)]
    pub directory: Option<PathBuf>,
    /// How many scheduling points a layer has.
    #[serde(default = "default_depth")]
    pub depth: u64,
    /// How jobs of the layers after the first are started.
    #[serde(default)]
    pub mode: StartMode,
    /// Where the first job starts.
    #[serde(default)]
    pub start: Start,
    /// When two places of the frontier are the same.
    #[serde(default)]
    pub sameness: Sameness,
    /// Which executions are left out as equivalent to others.
    #[serde(default)]
    pub reduction: Reduction,
    /// The most executions of a job; one that needs more is incomplete.
    #[serde(default)]
    pub executions: Option<u64>,
    /// Whether sequences begin where their job starts, or where they differ from those before.
    #[serde(default = "yes")]
    pub whole: bool,
    /// Which ends of a sequence are failures of their own, whatever the checker says.
    #[serde(default = "default_wrong_ends")]
    pub wrong_ends: Vec<End>,
    /// When to stop early.
    #[serde(default)]
    pub limits: Limits,
    /// What is done about programs and workers that fall silent or crash.
    #[serde(default)]
    pub patience: Patience,
    /// What a worker needs to load the model: the checker's business.
    #[serde(default)]
    pub model: Value,
    /// Files that workers must have, with their contents' hashes: see [`Settings::fingerprint`].
    #[serde(default)]
    pub files: BTreeMap<PathBuf, String>,
}

fn default_depth() -> u64 {
    100
}

fn yes() -> bool {
    true
}

fn default_wrong_ends() -> Vec<End> {
    vec![End::Panic, End::Deadlock, End::Blocked]
}

impl Settings {
    /// Settings for a program, everything else by default.
    ///
    /// ```
    /// assert_eq!(campaign::Settings::new("./program").depth, 100);
    /// ```
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            arguments: Vec::new(),
            directory: None,
            depth: default_depth(),
            mode: StartMode::default(),
            start: Start::default(),
            sameness: Sameness::default(),
            reduction: Reduction::default(),
            executions: None,
            whole: true,
            wrong_ends: default_wrong_ends(),
            limits: Limits::default(),
            patience: Patience::default(),
            model: Value::Null,
            files: BTreeMap::new(),
        }
    }

    /// Notes the contents of files: workers that have others under the same paths refuse to work.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let model = folder.path().join("model.maude");
    /// std::fs::write(&model, "mod M is endm")?;
    /// let mut settings = campaign::Settings::new("./program");
    /// settings.fingerprint([&model])?;
    /// assert!(settings.verify_files().is_ok());
    /// std::fs::write(&model, "mod CHANGED is endm")?;
    /// assert!(settings.verify_files().is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn fingerprint<P: AsRef<Path>>(
        &mut self,
        paths: impl IntoIterator<Item = P>,
    ) -> Result<(), CampaignError> {
        for path in paths {
            let path = path.as_ref();
            self.files.insert(path.to_path_buf(), hash_of_file(path)?);
        }
        Ok(())
    }

    /// Fails if a file isn't what it was when the campaign was started.
    ///
    /// ```
    /// assert!(campaign::Settings::new("./program").verify_files().is_ok());
    /// ```
    pub fn verify_files(&self) -> Result<(), CampaignError> {
        for (path, hash) in &self.files {
            if hash_of_file(path)? != *hash {
                return Err(CampaignError::FileDiffers { path: path.clone() });
            }
        }
        Ok(())
    }

    /// Fails if the settings make no sense.
    pub(crate) fn verify(&self) -> Result<(), CampaignError> {
        let reason = if self.depth == 0 {
            "a layer has a depth of at least 1"
        } else if self.patience.crashes == 0 || self.patience.deliveries == 0 {
            "a job is tried at least once"
        } else if self.patience.lease_seconds == 0 || self.patience.silence_seconds == 0 {
            "a lease and a silence take at least a second"
        } else {
            return self.verify_files();
        };
        Err(CampaignError::Settings { reason: reason.into() })
    }
}

fn hash_of_file(path: &Path) -> Result<String, CampaignError> {
    let failed = |source| CampaignError::File { path: path.to_path_buf(), source };
    let mut hasher = blake3::Hasher::new();
    std::io::copy(&mut std::fs::File::open(path).map_err(failed)?, &mut hasher).map_err(failed)?;
    Ok(hasher.finalize().to_hex().to_string())
}

/// How jobs of later layers are started.
///
/// ```
/// assert_eq!(campaign::StartMode::default(), campaign::StartMode::Schedule);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StartMode {
    /// The program is put into the state.
    State,
    /// The program repeats a schedule from its initial state.
    #[default]
    Schedule,
}

/// Where a job starts.
///
/// ```
/// let start = campaign::Start::Schedule("0*3.1".into());
/// assert_eq!(serde_json::to_string(&start).unwrap(), r#"{"schedule":"0*3.1"}"#);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Start {
    /// The program's initial state.
    #[default]
    Initial,
    /// A state that the program can be put into.
    State(Value),
    /// What follows a schedule from the initial state.
    Schedule(String),
}

/// When two places of the frontier are the same, so that one job does for both.
///
/// ```
/// assert_eq!(campaign::Sameness::default(), campaign::Sameness::Promised);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sameness {
    /// When the same things can follow: the same state for starts from states, otherwise the same hash if the program
    /// promises that hashes tell the future, and the same schedule if it does not.
    #[default]
    Promised,
    /// When the observed states are the same: fewer jobs, but what hidden state makes possible may be missed.
    Observed,
}

/// Which executions are left out as equivalent to others.
///
/// ```
/// assert_eq!(campaign::Reduction::default(), campaign::Reduction::None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reduction {
    /// None.
    #[default]
    None,
    /// Those that differ in the order of independent steps only.
    Dependence,
}

/// When a campaign stops early, with a partial result that says so.
///
/// ```
/// assert_eq!(campaign::Limits::default().jobs, None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// The most layers.
    pub layers: Option<u64>,
    /// The most jobs. Which ones are done doesn't depend on the number of workers.
    pub jobs: Option<u64>,
    /// The most distinct sequences; jobs that have begun by then are finished.
    pub sequences: Option<u64>,
    /// The most failures; jobs that have begun by then are finished.
    pub failures: Option<u64>,
}

/// What is done about programs and workers that fall silent or crash.
///
/// ```
/// assert_eq!(campaign::Patience::default().crashes, 3);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Patience {
    /// After how many seconds without a message the program counts as hanging.
    pub silence_seconds: u64,
    /// How often a program may crash, hang or break the protocol in the same job until that is set aside.
    pub crashes: u64,
    /// How often a job may be given to workers that then vanish until it is set aside.
    pub deliveries: u64,
    /// After how many seconds without a heartbeat a worker's jobs are given to others.
    pub lease_seconds: u64,
    /// For how many seconds a worker tries to reach a broker that has gone away.
    pub broker_seconds: u64,
}

impl Default for Patience {
    fn default() -> Self {
        Self { silence_seconds: 300, crashes: 3, deliveries: 10, lease_seconds: 30, broker_seconds: 600 }
    }
}
