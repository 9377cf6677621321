//! The command line of a program under test.

use crate::driver;
use crate::program::{End, Event, Job, Program, Reduction, Sequence, Start, Strategy};
use crate::serve::serve;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

/// The environment variable that makes a program speak with Watershed instead.
const SERVE: &str = "WATERSHED_OBSERVE";

fn is_serving() -> bool {
    std::env::var(SERVE).is_ok_and(|value| value == "serve")
}

/// The program's own arguments: those after `--`. When Watershed runs the program, all are its own.
///
/// ```no_run
/// let flawed = watershed_observe::arguments().iter().any(|argument| argument == "--flawed");
/// # assert!(!flawed);
/// ```
pub fn arguments() -> Vec<String> {
    own_arguments(std::env::args().skip(1), is_serving())
}

fn own_arguments(all: impl Iterator<Item = String>, serving: bool) -> Vec<String> {
    let all: Vec<String> = all.collect();
    match all.iter().position(|argument| argument == "--") {
        Some(index) if serving => [&all[..index], &all[index + 1..]].concat(),
        Some(index) => all[index + 1..].to_vec(),
        None if serving => all,
        None => Vec::new(),
    }
}

impl Program {
    /// Makes the program an executable: a command line (`--help`), or a partner of Watershed if the environment variable
    /// `WATERSHED_OBSERVE` is `serve`.
    ///
    /// ```no_run
    /// fn main() -> std::process::ExitCode {
    ///     watershed_observe::Program::new("nothing", || {}).main()
    /// }
    /// ```
    pub fn main(self) -> ExitCode {
        if is_serving() {
            let output = BufWriter::with_capacity(1 << 16, io::stdout());
            return match serve(&self, io::stdin().lock(), output) {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => refuse(&format!("cannot speak with Watershed: {error}")),
            };
        }
        match Options::read(std::env::args().skip(1)) {
            Err(message) => refuse(&message),
            Ok(None) => {
                print!("{}", help(&self));
                ExitCode::SUCCESS
            }
            Ok(Some(options)) => match execute(&self, &options) {
                Ok(code) => code,
                Err(message) => refuse(&message),
            },
        }
    }
}

fn refuse(message: &str) -> ExitCode {
    eprintln!("error: {message}");
    ExitCode::from(2)
}

fn help(program: &Program) -> String {
    let name = program.name();
    let about = match program.about_text() {
        "" => String::new(),
        text => format!("\n{text}\n"),
    };
    format!(
        "\
{name}: a program under test. It is run under a controlled scheduler, and the sequences of its observed
states are written as JSON lines, one array of states for each sequence.
{about}
Usage: {name} [OPTIONS] [-- ARGUMENTS OF THE PROGRAM]

  --strategy NAME     systematic (the default), full (systematic without reduction), pct, random
  --depth N           at most N scheduling points (default 1000)
  --executions N      at most N executions (default: all of systematic, 1000 of pct and random)
  --seed N            for pct and random (default 0)
  --bugs N            for pct: how many orders of steps a bug needs (default 3)
  --schedule S        follow the schedule S, once, and say how it ends; a file with @FILE
  --state JSON        start from a state; a file with @FILE
  --minimise          find a failing schedule (panic or deadlock) and one with few context switches
  --parts             sequences of a systematic search begin where they differ from the one before: every pair
                      of neighbours is there, in a fraction of the space
  -o FILE             write to FILE
  --help              this text

Examples:
  {name} -o sequences.jsonl                    all sequences
  {name} --strategy pct --executions 10000     many executions, with few switches of tasks
  {name} --minimise -o failing.txt             a small failing schedule, as text
  {name} --schedule @failing.txt               the same again, for a debugger:
  rust-gdb --args {name} --schedule @failing.txt

Exit codes: 0 success, 1 the program failed (panic or deadlock), 2 invalid input.
"
    )
}

struct Options {
    strategy: Strategy,
    depth: usize,
    executions: Option<usize>,
    schedule: Option<String>,
    state: Option<String>,
    minimise: bool,
    whole: bool,
    output: Option<String>,
}

impl Options {
    /// None is a wish for help.
    fn read(mut arguments: impl Iterator<Item = String>) -> Result<Option<Options>, String> {
        let (mut strategy, mut seed, mut bugs) = ("systematic".to_owned(), 0, 3);
        let mut options = Options {
            strategy: Strategy::Replay,
            depth: 1000,
            executions: None,
            schedule: None,
            state: None,
            minimise: false,
            whole: true,
            output: None,
        };
        while let Some(argument) = arguments.next() {
            let mut value =
                || arguments.next().ok_or_else(|| format!("{argument} needs a value; try --help"));
            let number = |text: String| {
                text.parse::<usize>()
                    .map_err(|_| format!("{argument} needs a number, not '{text}'; try --help"))
            };
            match argument.as_str() {
                "--" => break,
                "--help" | "-h" => return Ok(None),
                "--strategy" => strategy = value()?,
                "--depth" => options.depth = number(value()?)?,
                "--executions" => options.executions = Some(number(value()?)?),
                "--seed" => seed = number(value()?)? as u64,
                "--bugs" => bugs = number(value()?)?,
                "--schedule" => options.schedule = Some(text(value()?)?),
                "--state" => options.state = Some(text(value()?)?),
                "--minimise" => options.minimise = true,
                "--parts" => options.whole = false,
                "-o" => options.output = Some(value()?),
                other => {
                    return Err(format!(
                        "'{other}' is no option; the program's own arguments come after --; try --help"
                    ));
                }
            }
        }
        options.strategy = match strategy.as_str() {
            "systematic" => Strategy::Systematic(Reduction::Dependence),
            "full" => Strategy::Systematic(Reduction::None),
            "pct" => Strategy::Pct { bugs, seed },
            "random" => Strategy::Random { seed },
            other => return Err(format!("'{other}' is no strategy: systematic, full, pct and random are")),
        };
        Ok(Some(options))
    }
}

/// A value, or the content of a file whose name comes after `@`.
fn text(value: String) -> Result<String, String> {
    match value.strip_prefix('@') {
        Some(path) => std::fs::read_to_string(path).map_err(|error| format!("cannot read {path}: {error}")),
        None => Ok(value),
    }
}

fn execute(program: &Program, options: &Options) -> Result<ExitCode, String> {
    let mut output: Box<dyn Write> = match &options.output {
        Some(path) => Box::new(BufWriter::new(
            File::create(path).map_err(|error| format!("cannot write {path}: {error}"))?,
        )),
        None => Box::new(BufWriter::new(io::stdout())),
    };
    let start = match &options.state {
        Some(text) => Start::State(serde_json::from_str(text).map_err(|error| format!("--state: {error}"))?),
        None => Start::Beginning,
    };
    let code = match &options.schedule {
        Some(text) => replay(program, text, &start, &mut output)?,
        None => {
            let (depth, strategy) = (Some(options.depth), options.strategy.clone());
            let (executions, whole) = (options.executions, options.whole);
            let job = Job { start, depth, strategy, executions, whole, known: Vec::new() };
            if options.minimise {
                minimise(program, &job, &mut output)?
            } else {
                explore(program, &job, &mut output)?
            }
        }
    };
    output.flush().map_err(unwritable)?;
    Ok(code)
}

fn unwritable(error: io::Error) -> String {
    format!("cannot write: {error}")
}

fn write_sequence(output: &mut dyn Write, sequence: &Sequence) -> io::Result<()> {
    writeln!(output, "[{}]", sequence.states.join(","))
}

fn replay(program: &Program, text: &str, start: &Start, output: &mut dyn Write) -> Result<ExitCode, String> {
    let schedule: crate::Schedule = text.parse().map_err(|error| format!("--schedule: {error}"))?;
    driver::set_verbose(true);
    let result = if *start == Start::Beginning {
        program.replay(&schedule)
    } else {
        // A job has one start: the schedule is a plan from the state instead.
        let (depth, strategy) = (Some(schedule.tasks().len()), Strategy::Plan(schedule.blocks()));
        program.single(&Job { start: start.clone(), depth, strategy, ..Job::systematic() })
    };
    driver::set_verbose(false);
    let sequence = result?;
    write_sequence(output, &sequence).map_err(unwritable)?;
    let message = sequence.message.as_deref().map(|message| format!(": {message}")).unwrap_or_default();
    eprintln!("{}{message}", sequence.end);
    Ok(code_of(sequence.end))
}

fn code_of(end: End) -> ExitCode {
    ExitCode::from(u8::from(matches!(end, End::Panic | End::Deadlock | End::Blocked)))
}

fn explore(program: &Program, job: &Job, output: &mut dyn Write) -> Result<ExitCode, String> {
    let begin = std::time::Instant::now();
    let (mut failing, mut failure, mut cut) = (None, None, 0usize);
    let summary = program.run(job, |event| match event {
        Event::Sequence(sequence) => {
            if let Err(error) = write_sequence(output, &sequence) {
                failure.get_or_insert(error);
            }
            if matches!(sequence.end, End::Panic | End::Deadlock) && failing.is_none() {
                failing = Some(sequence);
            }
        }
        Event::Frontier(_) => cut += 1,
        Event::Expanded(_) => {}
    })?;
    if let Some(error) = failure {
        return Err(unwritable(error));
    }
    let seconds = begin.elapsed().as_secs_f64();
    eprintln!(
        "{} executions ({:.0} each second), {} steps, {} states, {} sequences{}{}",
        summary.executions,
        summary.executions as f64 / seconds.max(1e-6),
        summary.steps,
        summary.states,
        summary.sequences,
        if summary.complete { ", complete" } else { "" },
        if cut > 0 { format!(", {cut} states at the bound") } else { String::new() },
    );
    match failing {
        Some(sequence) => {
            eprintln!("{}: {}", sequence.end, sequence.message.as_deref().unwrap_or_default());
            eprintln!("schedule: {}", sequence.schedule);
            Ok(code_of(sequence.end))
        }
        None => Ok(ExitCode::SUCCESS),
    }
}

fn minimise(program: &Program, job: &Job, output: &mut dyn Write) -> Result<ExitCode, String> {
    let mut failing: Option<Sequence> = None;
    program.run(job, |event| {
        if let Event::Sequence(sequence) = event
            && matches!(sequence.end, End::Panic | End::Deadlock)
        {
            failing.get_or_insert(sequence);
        }
    })?;
    let Some(failing) = failing else {
        eprintln!("no schedule failed");
        return Ok(ExitCode::SUCCESS);
    };
    let smallest = program.minimise_from(&failing, &job.start, |_| false)?;
    eprintln!(
        "{}: {}\n{} context switches, {} before",
        smallest.end,
        smallest.message.as_deref().unwrap_or_default(),
        smallest.schedule.switches(),
        failing.schedule.switches()
    );
    writeln!(output, "{}", smallest.schedule).map_err(unwritable)?;
    Ok(code_of(smallest.end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_after_two_dashes_are_the_programs_own() {
        let all = || ["--depth", "5", "--", "--flawed"].map(str::to_owned).into_iter();
        assert_eq!(own_arguments(all(), false), ["--flawed"]);
        assert_eq!(own_arguments(["--flawed", "2"].map(str::to_owned).into_iter(), true), ["--flawed", "2"]);
        assert!(own_arguments(["--depth", "5"].map(str::to_owned).into_iter(), false).is_empty());
    }

    #[test]
    fn options_say_what_is_wrong() {
        let read = |arguments: &[&str]| Options::read(arguments.iter().map(|text| (*text).to_owned()));
        assert!(read(&["--depth", "x"]).is_err_and(|message| message.contains("--depth needs a number")));
        assert!(read(&["--flawed"]).is_err_and(|message| message.contains("after --")));
        assert!(read(&["--strategy", "best"]).is_err_and(|message| message.contains("no strategy")));
        assert!(read(&["--help"]).is_ok_and(|options| options.is_none()));
    }
}
