//! `watershed maude`: carries out the commands of Maude files, and of a person at the prompt.

use std::io::{BufRead, IsTerminal, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use maude::engine::Limits;
use maude::session::{Event, Session};
use model::{Folders, Text, read_text};
use serde::Serialize;

use crate::failure::{Answer, Failure};
use crate::terminal::Terminal;

/// Carry out the commands of Maude files, with output in Maude's form; without files, read standard input or prompt for
/// commands
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    watershed maude protocol.maude\n  \
    echo 'red in NAT : 2 ^ 100 .' | watershed maude\n  \
    watershed maude protocol.maude --prompt\n  \
    watershed explore protocol.maude --root 'in PROTOCOL : init'\n\n\
The other commands take Maude files as models: explore, check, explain, cover, simulate, compare, studio.")]
pub struct Maude {
    /// Files to carry out, one after the other
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Prompt for commands after the files
    #[arg(long)]
    prompt: bool,
    /// A folder to search for loaded files, in addition to that of the file itself; may be repeated
    #[arg(long, short = 'I', value_name = "FOLDER")]
    include: Vec<PathBuf>,
    /// End a command after this many rewrites
    #[arg(long, value_name = "N", default_value_t = Limits::default().rewrites)]
    max_rewrites: u64,
    /// End everything after this many seconds
    #[arg(long, value_name = "SECONDS")]
    max_time: Option<f64>,
    /// End a command whose terms need more than this many megabytes
    #[arg(long, value_name = "MB", default_value_t = Limits::default().bytes >> 20)]
    max_memory: usize,
}

/// What was printed, as JSON.
#[derive(Serialize)]
struct Printed {
    output: Vec<String>,
    errors: usize,
    warnings: usize,
    complete: bool,
}

impl std::fmt::Display for Printed {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        Ok(())
    }
}

/// Evaluations are nested as deeply as terms are: room for most without asking for more on the way.
const STACK: usize = 1 << 30;

impl Maude {
    pub fn run(self, terminal: &Terminal) -> Result<Answer, Failure> {
        stacker::grow(STACK, || self.carry_out(terminal))
    }

    fn carry_out(self, terminal: &Terminal) -> Result<Answer, Failure> {
        let time = self.max_time.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let mut session = Session::new();
        session.limits = Limits {
            rewrites: self.max_rewrites,
            deadline: time.and_then(|time| Instant::now().checked_add(time)),
            bytes: self.max_memory.saturating_mul(1 << 20),
            ..Limits::default()
        };
        let mut printed = Printed { output: Vec::new(), errors: 0, warnings: 0, complete: true };
        let folders = Folders::beside(&self.include);
        for path in &self.files {
            let text = read_text(path)
                .map_err(|error| Failure::wrong(format!("can't read {}: {error}", path.display())))?;
            take(&mut session, &text, &folders, terminal, &mut printed);
        }
        if self.files.is_empty() || self.prompt {
            match std::io::stdin().is_terminal() {
                true => prompt(&mut session, &folders, terminal, &mut printed),
                false => {
                    let mut bytes = Vec::new();
                    std::io::Read::read_to_end(&mut std::io::stdin().lock(), &mut bytes)
                        .map_err(|error| Failure::wrong(format!("can't read standard input: {error}")))?;
                    let text = Text::new("standard input", String::from_utf8_lossy(&bytes));
                    take(&mut session, &text, &folders, terminal, &mut printed);
                }
            }
        }
        printed.complete = !session.limited.get();
        if terminal.json {
            terminal.show(&printed);
        }
        match (printed.complete, printed.errors) {
            (false, _) => Ok(Answer::Partial),
            (true, 0) => Ok(Answer::Yes),
            // What is wrong was told where it happened.
            _ => Err(Failure { code: 2, diagnostics: Vec::new(), sources: source::Sources::new() }),
        }
    }
}

fn take(session: &mut Session, text: &Text, folders: &Folders, terminal: &Terminal, printed: &mut Printed) {
    session.take(text, folders, &mut |sources, event| match event {
        Event::Output(text) => {
            if terminal.json {
                printed.output.push(text);
            } else {
                terminal.show_picture(text.strip_suffix('\n').unwrap_or(&text));
            }
        }
        Event::Diagnostic(diagnostic) => {
            if diagnostic.is_error() {
                printed.errors += 1;
                terminal.tell(sources, &diagnostic);
            } else {
                printed.warnings += 1;
                terminal.warn(sources, &[*diagnostic]);
            }
        }
    });
}

/// Reads commands from a person until there are no more.
fn prompt(session: &mut Session, folders: &Folders, terminal: &Terminal, printed: &mut Printed) {
    let mut waiting = String::new();
    loop {
        print!("{}", if waiting.is_empty() { "Maude> " } else { "> " });
        let _ = std::io::stdout().flush();
        let mut line = String::new();
        match std::io::stdin().lock().read_line(&mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        if waiting.trim().is_empty()
            && matches!(line.trim().trim_end_matches('.').trim(), "q" | "quit" | "eof")
        {
            return;
        }
        waiting.push_str(&line);
        if is_complete(&waiting) {
            let text = Text::new("standard input", std::mem::take(&mut waiting));
            take(session, &text, folders, terminal, printed);
        }
    }
}

/// Whether what was typed is a whole command or module.
fn is_complete(text: &str) -> bool {
    let Some(first) = text.split_whitespace().next() else { return true };
    let last = text.split_whitespace().next_back().unwrap_or_default();
    match first {
        "fmod" | "mod" | "omod" | "fth" | "th" | "oth" | "view" => {
            matches!(last, "endfm" | "endm" | "endom" | "endfth" | "endth" | "endoth" | "endv")
        }
        "load" | "sload" | "in" | "cd" | "pwd" | "ls" => true,
        _ => last == ".",
    }
}
