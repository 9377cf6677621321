//! `watershed`: find where correct and incorrect behaviour part.
//!
//! Arguments come in, one command runs, its result is shown, and the exit code says what it was: 0 success, 1 the
//! answer is no, 2 invalid input, 3 a limit was reached.

mod arguments;
mod commands;
mod failure;
mod inputs;
mod memory;
mod progress;
mod properties;
mod terminal;

use std::process::ExitCode;

use clap::Parser;

use crate::arguments::Arguments;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(help) => return shown(&help),
    };
    let terminal = terminal::Terminal::new(&arguments.common);
    if let Err(error) = rayon::ThreadPoolBuilder::new().num_threads(arguments.common.threads).build_global() {
        return terminal.fail(&failure::Failure::wrong(format!("can't start the threads: {error}")));
    }
    let answer = commands::run(arguments.command, &terminal);
    match (answer, terminal.finish()) {
        (Err(failure), _) | (Ok(_), Err(failure)) => terminal.fail(&failure),
        (Ok(answer), Ok(())) => answer.into(),
    }
}

/// Shows help, the version or what is wrong with the arguments.
fn shown(help: &clap::Error) -> ExitCode {
    match help.print() {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            eprintln!("error: can't write to standard output: {error}");
            ExitCode::from(2)
        }
        _ => ExitCode::from(u8::try_from(help.exit_code()).unwrap_or(2)),
    }
}
