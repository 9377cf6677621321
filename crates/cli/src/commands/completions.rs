//! `watershed completions`: for the shell, from the same definitions as the help.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::arguments::Arguments;
use crate::failure::{Answer, Failure};

/// Write shell completions to standard output
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    watershed completions bash > ~/.local/share/bash-completion/completions/watershed\n  \
    watershed completions zsh > ~/.zfunc/_watershed")]
pub struct Completions {
    /// The shell to write completions for
    shell: Shell,
}

impl Completions {
    pub fn run(self) -> Result<Answer, Failure> {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut Arguments::command(), "watershed", &mut text);
        lts::write_file("-".as_ref(), |out| out.write_all(&text))?;
        Ok(Answer::Yes)
    }
}
