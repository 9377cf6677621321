//! The commands: each takes its arguments, calls the libraries and shows the result.

mod completions;
mod compose;
mod convert;
mod info;
mod man;
mod random;

use clap::Subcommand;

use crate::failure::{Answer, Failure};
use crate::terminal::Terminal;

/// One command of the program.
#[derive(Subcommand)]
pub enum Command {
    Info(info::Info),
    Convert(convert::Convert),
    Compose(compose::Compose),
    Random(random::Random),
    Completions(completions::Completions),
    Man(man::Man),
}

/// Runs a command.
pub fn run(command: Command, terminal: &Terminal) -> Result<Answer, Failure> {
    match command {
        Command::Info(command) => command.run(terminal),
        Command::Convert(command) => command.run(terminal),
        Command::Compose(command) => command.run(terminal),
        Command::Random(command) => command.run(terminal),
        Command::Completions(command) => command.run(),
        Command::Man(command) => command.run(),
    }
}
