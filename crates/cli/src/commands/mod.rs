//! The commands: each takes its arguments, calls the libraries and shows the result.

mod campaign;
mod check;
mod compare;
mod completions;
mod compose;
pub mod conform;
mod convert;
mod cover;
mod demo;
mod explain;
mod explore;
mod info;
mod man;
mod maude;
mod mutate;
mod net;
mod random;
mod reduce;
mod simulate;
mod studio;

use clap::Subcommand;

use crate::failure::{Answer, Failure};
use crate::terminal::Terminal;

/// One command of the program.
#[derive(Subcommand)]
pub enum Command {
    Explore(explore::Explore),
    Info(info::Info),
    Convert(convert::Convert),
    Reduce(reduce::Reduce),
    Check(check::Check),
    Explain(Box<explain::Explain>),
    Cover(Box<cover::Cover>),
    Mutate(Box<mutate::Mutate>),
    Conform(Box<conform::Conform>),
    Campaign(campaign::Campaign),
    Simulate(simulate::Simulate),
    Net(net::Net),
    Maude(maude::Maude),
    Compare(compare::Compare),
    Compose(compose::Compose),
    Random(random::Random),
    Studio(studio::Studio),
    Demo(demo::Demo),
    Completions(completions::Completions),
    Man(man::Man),
}

/// Runs a command.
pub fn run(command: Command, terminal: &Terminal) -> Result<Answer, Failure> {
    match command {
        Command::Explore(command) => command.run(terminal),
        Command::Info(command) => command.run(terminal),
        Command::Convert(command) => command.run(terminal),
        Command::Reduce(command) => command.run(terminal),
        Command::Check(command) => command.run(terminal),
        Command::Explain(command) => command.run(terminal),
        Command::Cover(command) => command.run(terminal),
        Command::Mutate(command) => command.run(terminal),
        Command::Conform(command) => command.run(terminal),
        Command::Campaign(command) => command.run(terminal),
        Command::Simulate(command) => command.run(terminal),
        Command::Net(command) => command.run(terminal),
        Command::Maude(command) => command.run(terminal),
        Command::Compare(command) => command.run(terminal),
        Command::Compose(command) => command.run(terminal),
        Command::Random(command) => command.run(terminal),
        Command::Studio(command) => command.run(terminal),
        Command::Demo(command) => command.run(terminal),
        Command::Completions(command) => command.run(),
        Command::Man(command) => command.run(),
    }
}
