//! The program as a partner of Watershed: jobs as lines on the standard input, results as lines on the standard output.
//!
//! Each message is one line of JSON. Messages of the program begin with the byte 0x1e (RFC 7464), so that they can be told
//! from what the program itself prints.

use crate::program::{Event, Job, Program, Reduction, Sequence, Start, Strategy, Summary};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::io::{self, BufRead, Write};

#[derive(Deserialize)]
struct Message {
    job: Request,
}

#[derive(Deserialize)]
struct Request {
    id: Value,
    #[serde(default)]
    start: Option<RequestedStart>,
    #[serde(default)]
    depth: Option<usize>,
    strategy: RequestedStrategy,
    #[serde(default)]
    executions: Option<usize>,
    #[serde(default)]
    whole: bool,
    /// The hashes of states that need not be expanded again, 16 digits each.
    #[serde(default)]
    known: String,
    /// Whether those that this job expands should be sent.
    #[serde(default)]
    expanded: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum RequestedStart {
    State(Value),
    Schedule(String),
}

#[derive(Deserialize)]
#[serde(tag = "name", rename_all = "lowercase")]
enum RequestedStrategy {
    Systematic {
        #[serde(default)]
        reduction: RequestedReduction,
    },
    Pct {
        bugs: usize,
        #[serde(default)]
        seed: u64,
    },
    Random {
        #[serde(default)]
        seed: u64,
    },
    Replay,
    /// The schedule that the job starts with, with fewer context switches, as long as one state follows the other.
    Minimise {
        from: Value,
        to: Value,
    },
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "lowercase")]
enum RequestedReduction {
    #[default]
    None,
    Dependence,
}

impl Request {
    fn job(self) -> Result<Job, String> {
        let start = match self.start {
            None => Start::Beginning,
            Some(RequestedStart::State(state)) => Start::State(state),
            Some(RequestedStart::Schedule(text)) => {
                Start::Schedule(text.parse().map_err(|error| format!("the start: {error}"))?)
            }
        };
        let strategy = match self.strategy {
            RequestedStrategy::Systematic { reduction: RequestedReduction::None } => {
                Strategy::Systematic(Reduction::None)
            }
            RequestedStrategy::Systematic { reduction: RequestedReduction::Dependence } => {
                Strategy::Systematic(Reduction::Dependence)
            }
            RequestedStrategy::Pct { bugs, seed } => Strategy::Pct { bugs, seed },
            RequestedStrategy::Random { seed } => Strategy::Random { seed },
            RequestedStrategy::Replay | RequestedStrategy::Minimise { .. } => Strategy::Replay,
        };
        let known = read_hashes(&self.known).ok_or("`known` is no list of hashes of 16 digits")?;
        Ok(Job { start, depth: self.depth, strategy, executions: self.executions, whole: self.whole, known })
    }
}

#[derive(Serialize)]
struct SequenceMessage<'a> {
    job: &'a Value,
    states: Vec<&'a RawValue>,
    schedule: String,
    end: String,
    message: &'a Option<String>,
}

#[derive(Serialize)]
struct FrontierMessage<'a> {
    job: &'a Value,
    state: &'a RawValue,
    schedule: String,
    hash: String,
}

/// How many hashes a message has at most.
const HASHES: usize = 1 << 16;

#[derive(Serialize)]
struct ExpandedMessage<'a> {
    job: &'a Value,
    hashes: String,
}

fn read_hashes(text: &str) -> Option<Vec<u64>> {
    let chunks = text.as_bytes().chunks(16);
    let digits = |chunk: &[u8]| chunk.len() == 16 && chunk.iter().all(u8::is_ascii_hexdigit);
    chunks
        .map(|chunk| u64::from_str_radix(std::str::from_utf8(chunk).ok().filter(|_| digits(chunk))?, 16).ok())
        .collect()
}

/// A state is stored as the text that it is sent as.
fn raw(text: &str) -> &RawValue {
    serde_json::from_str(text).expect("an observed state is JSON")
}

/// Answers jobs until the input ends.
pub(crate) fn serve(program: &Program, input: impl BufRead, mut output: impl Write) -> io::Result<()> {
    let mut starts = vec!["schedule"];
    if program.starts_from_states() {
        starts.push("state");
    }
    let hello = json!({"hello": {"protocol": 1, "program": program.name(), "starts": starts, "hash": program.is_complete()}});
    say(&mut output, &hello)?;
    output.flush()?;
    for line in input.lines() {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let mut expanded = false;
        let (id, pair, job) = match serde_json::from_str::<Message>(line.trim_start_matches('\u{1e}')) {
            Ok(Message { job: request }) => {
                let pair = match &request.strategy {
                    RequestedStrategy::Minimise { from, to } => Some((from.clone(), to.clone())),
                    _ => None,
                };
                expanded = request.expanded;
                (request.id.clone(), pair, request.job())
            }
            Err(error) => (Value::Null, None, Err(format!("this is no job: {error}"))),
        };
        let result = job.and_then(|job| match pair {
            Some((from, to)) => minimise(program, &id, &job, &from, &to, &mut output),
            None => answer(program, &id, &job, expanded, &mut output),
        });
        match result {
            Ok(done) => {
                let Summary { executions, steps, states, sequences, complete } = done;
                say(
                    &mut output,
                    &json!({"done": {"job": id, "executions": executions, "steps": steps, "states": states,
                        "sequences": sequences, "complete": complete}}),
                )?;
            }
            Err(message) => say(&mut output, &json!({"error": {"job": id, "message": message}}))?,
        }
        output.flush()?;
    }
    Ok(())
}

fn answer(
    program: &Program,
    id: &Value,
    job: &Job,
    expanded: bool,
    output: &mut impl Write,
) -> Result<Summary, String> {
    let mut failure = None;
    let summary = program.run(job, |event| {
        let written = match &event {
            Event::Sequence(sequence) => {
                let states = sequence.states.iter().map(|state| raw(state)).collect();
                let (schedule, end) = (sequence.schedule.to_string(), sequence.end.to_string());
                let message = SequenceMessage { job: id, states, schedule, end, message: &sequence.message };
                #[derive(Serialize)]
                struct Line<'a> {
                    sequence: SequenceMessage<'a>,
                }
                say(output, &Line { sequence: message })
            }
            Event::Frontier(frontier) => {
                let schedule = frontier.schedule.to_string();
                let hash = format!("{:016x}", frontier.hash.unwrap_or_default());
                let message = FrontierMessage { job: id, state: raw(&frontier.state), schedule, hash };
                #[derive(Serialize)]
                struct Line<'a> {
                    frontier: FrontierMessage<'a>,
                }
                say(output, &Line { frontier: message })
            }
            Event::Expanded(hashes) if expanded => hashes.chunks(HASHES).try_for_each(|hashes| {
                let hashes = hashes.iter().map(|hash| format!("{hash:016x}")).collect();
                #[derive(Serialize)]
                struct Line<'a> {
                    expanded: ExpandedMessage<'a>,
                }
                say(output, &Line { expanded: ExpandedMessage { job: id, hashes } })
            }),
            Event::Expanded(_) => Ok(()),
        };
        if let Err(error) = written {
            failure.get_or_insert(error);
        }
    })?;
    match failure {
        Some(error) => Err(format!("the results cannot be written: {error}")),
        None => Ok(summary),
    }
}

/// Answers with a schedule of few context switches in which one state still follows the other.
fn minimise(
    program: &Program,
    id: &Value,
    job: &Job,
    from: &Value,
    to: &Value,
    output: &mut impl Write,
) -> Result<Summary, String> {
    let failing = program.single(job)?;
    let read = |state: &str| serde_json::from_str::<Value>(state).unwrap_or_default();
    let pair = failing.states.windows(2).find(|pair| read(&pair[0]) == *from && read(&pair[1]) == *to);
    let Some(pair) = pair.map(|pair| (pair[0].clone(), pair[1].clone())) else {
        return Err("the schedule does not show these states one after the other".to_owned());
    };
    let shows =
        |sequence: &Sequence| sequence.states.windows(2).any(|both| both[0] == pair.0 && both[1] == pair.1);
    let smallest = program.minimise(&failing, shows)?;
    let states = smallest.states.iter().map(|state| raw(state)).collect();
    let (schedule, end) = (smallest.schedule.to_string(), smallest.end.to_string());
    #[derive(Serialize)]
    struct Line<'a> {
        sequence: SequenceMessage<'a>,
    }
    let message = SequenceMessage { job: id, states, schedule, end, message: &smallest.message };
    say(output, &Line { sequence: message })
        .map_err(|error| format!("the results cannot be written: {error}"))?;
    Ok(Summary { executions: 1, sequences: 1, complete: true, ..Summary::default() })
}

fn say(output: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let mut line = vec![0x1e];
    serde_json::to_writer(&mut line, message)?;
    line.push(b'\n');
    output.write_all(&line)
}
