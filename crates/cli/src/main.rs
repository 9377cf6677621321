//! `watershed`: find where correct and incorrect behaviour part.
//!
//! Arguments come in, one command runs, its result is shown, and the exit code says what it was: 0 fine, 1 the
//! answer is no, 2 the input is wrong, 3 a limit was hit.

mod arguments;
mod commands;
mod coverage_view;
mod failure;
mod inputs;
mod progress;
mod properties;
mod terminal;

use std::process::ExitCode;

use clap::Parser;

use crate::arguments::Arguments;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let terminal = terminal::Terminal::new(&arguments.common);
    if let Err(error) = rayon::ThreadPoolBuilder::new().num_threads(arguments.common.threads).build_global() {
        return terminal.fail(&failure::Failure::wrong(format!("can't start the threads: {error}")));
    }
    match commands::run(arguments.command, &terminal) {
        Ok(answer) => answer.into(),
        Err(failure) => terminal.fail(&failure),
    }
}
