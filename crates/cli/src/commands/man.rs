//! `watershed man`: manual pages, from the same definitions as the help.

use std::path::PathBuf;

use clap::{Args, CommandFactory};

use crate::arguments::Arguments;
use crate::failure::{Answer, Failure};

/// Write the manual pages into a folder
#[derive(Args)]
#[command(after_help = "Example:\n  watershed man ~/.local/share/man/man1 && man watershed-reduce")]
pub struct Man {
    /// The folder; it is created if missing
    folder: PathBuf,
}

impl Man {
    pub fn run(self) -> Result<Answer, Failure> {
        std::fs::create_dir_all(&self.folder).map_err(lts::FileError::at(&self.folder))?;
        clap_mangen::generate_to(Arguments::command(), &self.folder)
            .map_err(lts::FileError::at(&self.folder))?;
        Ok(Answer::Yes)
    }
}
