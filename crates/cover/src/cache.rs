//! Measurements are kept by content: the text of all modules of an example, and its limits. What was measured once is
//! not measured again until something in it changes.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;

use explore::Limits;
use model::CoverageMap;
use source::Sources;

use crate::coverage::Coverage;
use crate::measure::{Measurement, Stopped};

/// Changes when measurements get another meaning.
const VERSION: u32 = 2;

/// A folder of measurements.
pub struct Cache {
    folder: PathBuf,
}

impl Cache {
    /// The cache in a folder, which is made when something is kept.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// What identifies an example: 128 bits of everything that its measurement depends on.
    pub fn key(&self, sources: &Sources, limits: &Limits) -> u128 {
        let half = |salt: u8| {
            let mut hasher = DefaultHasher::new();
            (salt, VERSION, env!("CARGO_PKG_VERSION"), limits.states, limits.bytes).hash(&mut hasher);
            for file in sources.files() {
                (sources.name(file), sources.text(file)).hash(&mut hasher);
            }
            u128::from(hasher.finish())
        };
        half(0) << 64 | half(1)
    }

    /// A measurement that was kept, if it fits the maps of processes and functions.
    pub fn get(&self, key: u128, map: &CoverageMap, functions: &CoverageMap) -> Option<Measurement> {
        let text = std::fs::read(self.path(key)).ok()?;
        let measurement: Measurement = serde_json::from_slice(&text).ok()?;
        let fits = |coverage: &Coverage, map: &CoverageMap| {
            coverage.blocks.len() == map.blocks.len()
                && coverage.decisions.len() == map.decisions.len()
                && coverage.actions.len() == map.actions.len()
        };
        let own = measurement.functions.as_ref().is_some_and(|own| fits(own, functions));
        (own && fits(&measurement.coverage, map)).then_some(measurement)
    }

    /// Keeps a measurement, unless another run could give another one, or it ended in an error, which the user is about to
    /// mend. A cache that can't be written is no error.
    pub fn put(&self, key: u128, measurement: &Measurement) {
        let lasting = matches!(measurement.stopped, None | Some(Stopped::StateLimit));
        if let (true, Ok(text)) = (lasting, serde_json::to_vec(measurement)) {
            let _ = std::fs::create_dir_all(&self.folder);
            let _ = lts::write_file(&self.path(key), |out| out.write_all(&text));
        }
    }

    fn path(&self, key: u128) -> PathBuf {
        self.folder.join(format!("{key:032x}.json"))
    }
}
