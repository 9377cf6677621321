//! The program under test as a child process that speaks the protocol.
//!
//! A thread reads its messages into a short queue: when they are not checked as fast as they come, the queue is full and the
//! program waits. That is all the back pressure that results need.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::protocol::{self, Hello, Message, PROTOCOL, Request};
use crate::settings::{Settings, Start, StartMode};

/// The longest line; a state has to fit several times.
const LONGEST_LINE: usize = 64 << 20;
/// How many messages may wait to be checked.
const QUEUE: usize = 256;
/// How much of what the program writes on its own is kept.
const LAST_LINES: usize = 8;

/// Why a program did not do its job.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub(crate) struct ProgramError {
    pub(crate) reason: String,
    /// The last lines that the program has written on its own, for people.
    pub(crate) output: Vec<String>,
}

/// How a job has ended.
pub(crate) enum Run {
    /// The program has said all of it.
    Done(protocol::Done),
    /// Somebody wants to stop.
    Stopped,
}

/// A running program.
pub(crate) struct Program {
    child: Child,
    requests: Option<Sender<Vec<u8>>>,
    messages: Receiver<Result<Message, String>>,
    /// Reads what the program writes on its standard error.
    errors: JoinHandle<()>,
    output: Output,
    silence: Duration,
    hashed: bool,
}

type Output = Arc<Mutex<VecDeque<String>>>;

impl Program {
    /// Starts the program and hears what it can do.
    pub(crate) fn start(settings: &Settings) -> Result<Self, ProgramError> {
        // With a directory it would depend on the system where a relative path begins. A bare name is looked up in PATH.
        let program = match &settings.directory {
            Some(_) if settings.program.components().count() > 1 => {
                std::path::absolute(&settings.program).ok()
            }
            _ => None,
        };
        let mut command = Command::new(program.as_ref().unwrap_or(&settings.program));
        command.args(&settings.arguments).env("WATERSHED_OBSERVE", "serve");
        if let Some(directory) = &settings.directory {
            command.current_dir(directory);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| {
            let reason = format!("the program {} can't be started: {error}", settings.program.display());
            ProgramError { reason, output: Vec::new() }
        })?;
        let (mut stdin, stdout, stderr) = match (child.stdin.take(), child.stdout.take(), child.stderr.take())
        {
            (Some(stdin), Some(stdout), Some(stderr)) => (stdin, stdout, stderr),
            _ => unreachable!("the pipes were asked for"),
        };
        let output = Output::default();
        let (sender, messages) = mpsc::sync_channel(QUEUE);
        // Requests are written by a thread of their own: a program that does not read must not block the worker.
        let (requests, lines) = mpsc::channel::<Vec<u8>>();
        thread::spawn(move || {
            while let Ok(line) = lines.recv() {
                if stdin.write_all(&line).and_then(|()| stdin.flush()).is_err() {
                    break;
                }
            }
        });
        let own = output.clone();
        thread::spawn(move || read_messages(stdout, &sender, &own));
        let own = output.clone();
        let errors = thread::spawn(move || read_errors(stderr, &own));
        let silence = Duration::from_secs(settings.patience.silence_seconds);
        let mut program =
            Self { child, requests: Some(requests), messages, errors, output, silence, hashed: false };
        let hello = match program.receive(&AtomicBool::new(false))? {
            Some(Message::Hello(hello)) => hello,
            _ => return Err(program.trouble("its first message is not `hello`".into())),
        };
        program.hashed = hello.hash;
        match refusal(&hello, settings) {
            Some(reason) => Err(program.trouble(reason)),
            None => Ok(program),
        }
    }

    /// Whether the program promises that its hashes tell the future.
    pub(crate) fn hashed(&self) -> bool {
        self.hashed
    }

    /// Has a job done. `each` gets its sequences, frontier and expanded states, and says what is wrong with a message.
    pub(crate) fn run<E: From<ProgramError>>(
        &mut self,
        request: &Request<'_>,
        stop: &AtomicBool,
        mut each: impl FnMut(Message) -> Result<Result<(), String>, E>,
    ) -> Result<Run, E> {
        // A program that has ended is found out when nothing is received.
        let _ = self.requests.as_ref().expect("requests end with the program").send(request.line());
        loop {
            let Some(message) = self.receive(stop)? else { return Ok(Run::Stopped) };
            let job = match &message {
                Message::Sequence(sequence) => &sequence.job,
                Message::Frontier(frontier) => &frontier.job,
                Message::Expanded(expanded) => &expanded.job,
                Message::Done(done) => &done.job,
                Message::Error(complaint) => {
                    return Err(self.trouble(format!("it says: {}", complaint.message)).into());
                }
                Message::Hello(_) => return Err(self.trouble("it has sent `hello` twice".into()).into()),
            };
            if job != request.id {
                let reason = format!("it has answered job {job:?}, which it was not given");
                return Err(self.trouble(reason).into());
            }
            if let Message::Done(done) = message {
                return Ok(Run::Done(done));
            }
            if let Err(reason) = each(message)? {
                return Err(self.trouble(reason).into());
            }
        }
    }

    /// The next message, or nothing if somebody wants to stop.
    fn receive(&mut self, stop: &AtomicBool) -> Result<Option<Message>, ProgramError> {
        let since = Instant::now();
        loop {
            if stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            match self.messages.recv_timeout(Duration::from_millis(50)) {
                Ok(Ok(message)) => return Ok(Some(message)),
                Ok(Err(reason)) => return Err(self.trouble(reason)),
                Err(RecvTimeoutError::Timeout) if since.elapsed() < self.silence => {}
                Err(RecvTimeoutError::Timeout) => {
                    let seconds = self.silence.as_secs();
                    return Err(self.trouble(format!("it has said nothing for {seconds} s")));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    let reason = self.how_it_ended();
                    return Err(self.trouble(reason));
                }
            }
        }
    }

    fn how_it_ended(&mut self) -> String {
        // Its output has ended; a moment later it has, too, unless it goes on without.
        let since = Instant::now();
        while since.elapsed() < Duration::from_secs(1) {
            match self.child.try_wait() {
                // Its last words tell more than its status; something it has started may keep their pipe open.
                Ok(Some(status))
                    if self.errors.is_finished() || since.elapsed() > Duration::from_millis(500) =>
                {
                    return format!("it has ended before its work was done ({status})");
                }
                Ok(_) => thread::sleep(Duration::from_millis(1)),
                Err(_) => break,
            }
        }
        "it has closed its standard output before its work was done".into()
    }

    fn trouble(&self, reason: String) -> ProgramError {
        let output = self.output.lock().map(|lines| lines.iter().cloned().collect()).unwrap_or_default();
        ProgramError { reason: format!("the program under test can't go on: {reason}"), output }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // The end of its input tells a program to exit; one that doesn't within a moment is killed.
        self.requests = None;
        let since = Instant::now();
        while since.elapsed() < Duration::from_millis(100) {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(Duration::from_millis(2));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Why the program is not one for these settings.
fn refusal(hello: &Hello, settings: &Settings) -> Option<String> {
    if hello.protocol != PROTOCOL {
        return Some(format!("it speaks protocol {}, and Watershed {PROTOCOL}", hello.protocol));
    }
    let by_state = settings.mode == StartMode::State || matches!(settings.start, Start::State(_));
    let by_schedule = settings.mode == StartMode::Schedule || matches!(settings.start, Start::Schedule(_));
    for (needed, name) in [(by_state, "state"), (by_schedule, "schedule")] {
        if needed && !hello.starts.iter().any(|start| start == name) {
            return Some(format!("{:?} can't be started from a {name}", hello.program));
        }
    }
    None
}

fn read_messages(stdout: ChildStdout, sender: &SyncSender<Result<Message, String>>, own: &Output) {
    let mut reader = BufReader::with_capacity(1 << 16, stdout);
    let mut line = Vec::new();
    loop {
        line.clear();
        match (&mut reader).take(LONGEST_LINE as u64).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let message = if line.len() == LONGEST_LINE {
            Err(format!("it has sent a line of more than {LONGEST_LINE} bytes"))
        } else {
            match protocol::read(line.strip_suffix(b"\n").unwrap_or(&line)) {
                Ok(Some(message)) => Ok(message),
                Ok(None) => {
                    note(own, &line);
                    continue;
                }
                Err(reason) => Err(reason),
            }
        };
        let last = message.is_err();
        if sender.send(message).is_err() || last {
            return;
        }
    }
}

fn read_errors(stderr: ChildStderr, own: &Output) {
    let mut reader = BufReader::new(stderr);
    let mut line = Vec::new();
    while matches!((&mut reader).take(1 << 16).read_until(b'\n', &mut line), Ok(length) if length > 0) {
        note(own, &line);
        line.clear();
    }
}

fn note(own: &Output, line: &[u8]) {
    let line: String = String::from_utf8_lossy(line).trim_end().chars().take(400).collect();
    let Ok(mut lines) = own.lock() else { return };
    if lines.len() == LAST_LINES {
        lines.pop_front();
    }
    lines.push_back(line);
}
