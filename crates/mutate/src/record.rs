//! Judgements in a file, written as they are made, so that interrupted work goes on where it stopped.
//!
//! The first line is a hash of everything that judgements depend on: texts, properties, examples, limits. Each other line
//! is the number of a mutant and its judgement. A line that was cut off counts for nothing.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crate::baseline::Baseline;
use crate::judge::Judgement;

/// A file of judgements.
pub struct Record {
    known: Vec<Option<Judgement>>,
    file: Mutex<File>,
    /// Whether the file held judgements of other inputs, which are gone.
    pub replaced: bool,
}

impl Record {
    /// Opens the record of a study, or begins one. A record of other inputs is begun anew.
    pub fn open(path: &Path, baseline: &Baseline<'_>) -> std::io::Result<Self> {
        let key = baseline.key();
        let mut known: Vec<Option<Judgement>> = vec![None; baseline.mutants.len()];
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error),
        };
        let mut lines = text.split_inclusive('\n');
        let belongs = lines.next().is_some_and(|line| line.trim_end() == key);
        let mut written = format!("{key}\n");
        if belongs {
            for line in lines.filter(|line| line.ends_with('\n')) {
                let Ok((at, judgement)) = serde_json::from_str::<(usize, Judgement)>(line) else { continue };
                if let Some(place) = known.get_mut(at) {
                    *place = Some(judgement);
                    written.push_str(line);
                }
            }
        }
        let is_record = text.is_empty() || text.starts_with("mutants ");
        if !is_record {
            let message = "it is not a record of mutants, and is left as it is";
            return Err(std::io::Error::new(std::io::ErrorKind::InvalidData, message));
        }
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).open(path)?;
        file.write_all(written.as_bytes())?;
        Ok(Self { known, file: Mutex::new(file), replaced: !belongs && !text.is_empty() })
    }

    /// What is known of a mutant.
    pub fn get(&self, at: usize) -> Option<&Judgement> {
        self.known.get(at)?.as_ref()
    }

    /// How many mutants are judged already.
    pub fn count(&self) -> usize {
        self.known.iter().flatten().count()
    }

    pub(crate) fn add(&self, at: usize, judgement: &Judgement) -> std::io::Result<()> {
        let line = serde_json::to_string(&(at, judgement))? + "\n";
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(line.as_bytes())
    }
}

impl Baseline<'_> {
    /// A line that is another one whenever judgements could be.
    fn key(&self) -> String {
        let mut hash = blake3::Hasher::new();
        let mut add = |text: &str| {
            hash.update(&(text.len() as u64).to_le_bytes());
            hash.update(text.as_bytes());
        };
        for file in self.sources.files() {
            add(self.sources.name(file));
            add(self.sources.text(file));
        }
        for property in self.question.properties {
            add(&property.name);
            add(&property.formula.to_string());
        }
        for example in self.question.examples {
            add(&format!("{example:?}"));
        }
        for mutant in &self.mutants {
            add(&format!("{mutant:?}"));
        }
        add(&format!("{:?} {}", self.question.start, self.most_states));
        format!("mutants {}", hash.finalize().to_hex())
    }
}
