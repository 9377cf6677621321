//! Traces as programs and other tools write them, line by line.
//!
//! A line is read without looking at others, so that many are read at once; what belongs together is put together by
//! whoever follows the sequences.

mod document;
mod terms;

use std::cell::RefCell;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::relation::{Observed, Relation, at, kind, normal_label};
use terms::split_states;

/// How many lines are read at once.
const LINES: usize = 1 << 13;

/// How many bytes of lines, where lines are long.
const BYTES: usize = 16 << 20;

/// What a trace file is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// As its first line looks.
    #[default]
    Auto,
    /// JSON lines of states, events or sequences.
    Json,
    /// Apalache's and Quint's informal trace format.
    Itf,
    /// OpenTelemetry's spans as JSON.
    Spans,
    /// Sequences of terms: `(s1 | s2 | nil)`.
    Terms,
    /// A label on each line.
    Labels,
}

/// One moment of a sequence in terms of the model: something has happened, a state was seen, or both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// What has happened before the state was seen.
    pub event: Option<String>,
    /// What was seen.
    pub state: Option<Observed>,
    /// The line of the file, from 1.
    pub line: u64,
}

/// What a line says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// A sequence.
    Sequence(Vec<Moment>),
    /// A moment of the sequence with this key, or of the current one.
    Moment(Option<String>, Moment),
    /// The next moment without a key begins another sequence.
    End,
    /// What can't be put in terms of the model, and why.
    Wrong(String),
}

/// A trace that can't be read.
#[derive(Debug, thiserror::Error)]
#[error("{}:{line}: {message}", file.display())]
pub struct TraceError {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: u64,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
    /// The line itself, or its beginning.
    pub text: Option<String>,
}

/// Why reading ended.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file can't be read.
    #[error(transparent)]
    File(#[from] lts::FileError),
    /// Its text is no trace.
    #[error(transparent)]
    Trace(Box<TraceError>),
}

/// Reads a file, a batch of lines at a time.
pub struct Traces<'r> {
    path: PathBuf,
    format: Format,
    relation: &'r Relation,
    input: Box<dyn BufRead + Send>,
    /// Lines that are read already.
    line: u64,
    /// Formats in which the whole file is one text.
    document: bool,
    bytes: u64,
}

impl<'r> Traces<'r> {
    /// Opens a file, packed or not, or standard input.
    pub fn open(path: &Path, format: Format, relation: &'r Relation) -> Result<Self, ReadError> {
        let stream = lts::read_stream(path)?;
        Self::new(path, Box::new(BufReader::with_capacity(1 << 18, stream)), format, relation)
    }

    /// The same with a text that was read elsewhere.
    pub fn new(
        path: &Path,
        mut input: Box<dyn BufRead + Send>,
        format: Format,
        relation: &'r Relation,
    ) -> Result<Self, ReadError> {
        let start = input.fill_buf().map_err(lts::FileError::at(path))?;
        let (format, document) = match format {
            Format::Auto => guess(path, start),
            Format::Json => (Format::Json, is_document(start)),
            Format::Itf => (format, true),
            Format::Spans => (format, is_document(start)),
            other => (other, false),
        };
        Ok(Self { path: path.to_owned(), format, relation, input, line: 0, document, bytes: 0 })
    }

    /// What the file is.
    pub fn format(&self) -> Format {
        self.format
    }

    /// How many bytes were read so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// What the next lines say; nothing at the end.
    pub fn next_batch(&mut self) -> Result<Option<Vec<Said>>, ReadError> {
        if self.document {
            return self.whole();
        }
        let mut text: Vec<u8> = Vec::new();
        let mut lines: Vec<(u64, usize, usize)> = Vec::new();
        while lines.len() < LINES && text.len() < BYTES {
            let start = text.len();
            let read = self.input.read_until(b'\n', &mut text).map_err(lts::FileError::at(&self.path))?;
            if read == 0 {
                break;
            }
            self.bytes += read as u64;
            self.line += 1;
            lines.push((self.line, start, text.len()));
        }
        if lines.is_empty() {
            return Ok(None);
        }
        let Self { path, format, relation, .. } = self;
        let (path, format, relation): (&Path, Format, &Relation) = (path, *format, relation);
        let read = |&(number, start, end): &(u64, usize, usize)| -> Result<Vec<Said>, TraceError> {
            let wrong = |message: String, text: Option<String>| TraceError {
                file: path.to_owned(),
                line: number,
                message,
                help: None,
                text,
            };
            let line = std::str::from_utf8(&text[start..end])
                .map_err(|_| wrong("this line is not UTF-8 text".to_owned(), None))?
                .trim();
            said(line, number, format, relation).map_err(|message| wrong(message, Some(shortened(line))))
        };
        let said: Result<Vec<Vec<Said>>, TraceError> = match lines.len() {
            ..64 => lines.iter().map(read).collect(),
            _ => {
                let all: Vec<_> = lines.par_iter().map(read).collect();
                // The first error counts, whichever thread is faster.
                all.into_iter().collect()
            }
        };
        match said {
            Ok(said) => Ok(Some(said.into_iter().flatten().collect())),
            Err(error) => Err(ReadError::Trace(Box::new(error))),
        }
    }

    fn whole(&mut self) -> Result<Option<Vec<Said>>, ReadError> {
        let mut text = String::new();
        let read = self.input.read_to_string(&mut text).map_err(lts::FileError::at(&self.path))?;
        if read == 0 || text.trim().is_empty() {
            return Ok(None);
        }
        self.bytes += read as u64;
        let wrong = |line: u64, message: String| {
            ReadError::Trace(Box::new(TraceError {
                file: self.path.clone(),
                line,
                message,
                help: None,
                text: text.lines().nth(line.saturating_sub(1) as usize).map(shortened),
            }))
        };
        let value: Value = serde_json::from_str(&text)
            .map_err(|error| wrong(error.line() as u64, format!("this is not JSON: {}", reason(&error))))?;
        document::said(&value, self.relation).map(Some).map_err(|message| wrong(1, message))
    }
}

/// What a line says.
fn said(line: &str, number: u64, format: Format, relation: &Relation) -> Result<Vec<Said>, String> {
    match format {
        Format::Terms => terms::said(line, number),
        Format::Labels | Format::Auto => label(line, number),
        Format::Json | Format::Itf | Format::Spans => json(line, number, relation),
    }
}

/// What a file is, by its name and how it begins.
fn guess(path: &Path, start: &[u8]) -> (Format, bool) {
    let text = String::from_utf8_lossy(start);
    let first = text.lines().map(str::trim).find(|line| {
        !line.is_empty() && !line.starts_with("***") && !line.starts_with("---") && !line.starts_with("//")
    });
    let Some(first) = first else { return (Format::Labels, false) };
    let extension = lts::format_extension(path);
    let is_json = serde_json::from_str::<serde::de::IgnoredAny>(first).is_ok();
    match extension.as_deref() {
        Some("jsonl" | "ndjson" | "itf") => return (Format::Json, !is_json && is_document(start)),
        Some("json") => return (Format::Json, is_document(start)),
        _ => {}
    }
    match first.as_bytes()[0] {
        b'{' | b'[' if is_json => (Format::Json, false),
        b'[' if first != "[]" => (Format::Json, true),
        b'{' if first == "{" => (Format::Json, true),
        b'{' if first.starts_with("{\"") => (Format::Json, false),
        b'(' | b'{' => (Format::Terms, false),
        _ if split_states(first).len() > 1 => (Format::Terms, false),
        _ => (Format::Labels, false),
    }
}

/// Whether JSON is one text over several lines, not one a line: then its first line is none by itself.
fn is_document(start: &[u8]) -> bool {
    let text = String::from_utf8_lossy(start);
    let Some(first) = text.lines().map(str::trim).find(|line| !line.is_empty()) else { return false };
    match serde_json::from_str::<serde::de::IgnoredAny>(first) {
        Ok(_) => false,
        // A line that is longer than what was read of it ends early, and so does one of many lines.
        Err(error) => error.is_eof() && text.lines().count() > 1,
    }
}

/// What is wrong with JSON, without its place.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or(&text).to_owned()
}

fn shortened(line: &str) -> String {
    const MOST: usize = 160;
    match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

/// A line that is a label; `[]` stands between sequences, as in CADP's simple SEQ format.
fn label(line: &str, number: u64) -> Result<Vec<Said>, String> {
    let moment = |label: &str| {
        let event = Some(normal_label(label));
        vec![Said::Moment(None, Moment { event, state: None, line: number })]
    };
    Ok(match line {
        "" | "<initial state>" | "<goal state>" => Vec::new(),
        "[]" => vec![Said::End],
        _ if line.starts_with("***") => Vec::new(),
        _ if line.starts_with(['<', '~']) => {
            return Err("only single labels are supported, as in the simple SEQ format".to_owned());
        }
        _ => match line.strip_prefix('"') {
            None => moment(line),
            Some(rest) => match rest.strip_suffix('"') {
                Some(label) => moment(label),
                None => return Err("the quote that begins this label has no end".to_owned()),
            },
        },
    })
}

/// A line of JSON: a state, an event, both, or a whole sequence.
fn json(line: &str, number: u64, relation: &Relation) -> Result<Vec<Said>, String> {
    if line.is_empty() {
        return Ok(Vec::new());
    }
    if line.starts_with('[')
        && let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(line)
    {
        return Ok(vec![Said::Sequence(remembered(&items, number, relation)?)]);
    }
    let value: Value =
        serde_json::from_str(line).map_err(|error| format!("this is not JSON: {}", reason(&error)))?;
    match &value {
        Value::Array(items) => Ok(vec![Said::Sequence(moments(items, number, relation)?)]),
        Value::Object(fields) => {
            if fields.contains_key("resourceSpans")
                || (fields.contains_key("vars") && fields.contains_key("states"))
            {
                return document::said(&value, relation);
            }
            if let Some(Value::Array(items)) = fields.get("states") {
                return Ok(vec![Said::Sequence(moments(items, number, relation)?)]);
            }
            let key = match &relation.events.sequence {
                Some(path) => match at(&value, path) {
                    Some(key) => Some(key),
                    None => {
                        return Err(format!(
                            "the relation tells sequences apart by `{path}`, which is not here"
                        ));
                    }
                },
                None => ["trace", "sequence"].iter().find_map(|name| fields.get(*name)),
            };
            let key = key.map(|key| key.as_str().map_or_else(|| key.to_string(), str::to_owned));
            Ok(moment(&value, number, relation)?
                .map(|moment| Said::Moment(key, moment))
                .into_iter()
                .collect())
        }
        Value::String(_) => Ok(moment(&value, number, relation)?
            .map(|moment| Said::Moment(None, moment))
            .into_iter()
            .collect()),
        other => Err(format!("a line is a state, an event or an array of them, not {}", kind(other))),
    }
}

/// How many texts a thread remembers.
const MOST_REMEMBERED: usize = 1 << 16;

/// What texts meant that were seen before.
type Meanings = FxHashMap<Box<str>, Option<Moment>>;

thread_local! {
    /// What texts meant, and by which relation: programs come back to their states all the time.
    static REMEMBERED: RefCell<(u64, Meanings)> = RefCell::default();
}

/// The moments of an array whose elements are still text.
fn remembered(items: &[&RawValue], line: u64, relation: &Relation) -> Result<Vec<Moment>, String> {
    REMEMBERED.with_borrow_mut(|(of, known)| {
        if *of != relation.identity() || known.len() > MOST_REMEMBERED {
            *of = relation.identity();
            known.clear();
        }
        let mut moments = Vec::with_capacity(items.len());
        for (position, item) in items.iter().enumerate() {
            let text = item.get();
            if !known.contains_key(text) {
                let value: Value = serde_json::from_str(text).map_err(|error| reason(&error))?;
                let found =
                    moment(&value, 0, relation).map_err(|why| format!("element {position}: {why}"))?;
                known.insert(text.into(), found);
            }
            moments.extend(known[text].clone().map(|moment| Moment { line, ..moment }));
        }
        Ok(moments)
    })
}

/// The moments of a sequence of states or events, all from one line.
pub fn moments(items: &[Value], line: u64, relation: &Relation) -> Result<Vec<Moment>, String> {
    let mut moments = Vec::with_capacity(items.len());
    for (position, item) in items.iter().enumerate() {
        let moment = moment(item, line, relation).map_err(|why| format!("element {position}: {why}"))?;
        moments.extend(moment);
    }
    Ok(moments)
}

/// A state, an event or both; nothing for an event that the relation leaves out.
fn moment(value: &Value, line: u64, relation: &Relation) -> Result<Option<Moment>, String> {
    let (event, state) = match value {
        Value::Object(fields) => match (fields.get("event"), fields.get("state")) {
            _ if relation.tells_events() && !fields.contains_key("state") && !relation.tells_states() => {
                (Some(value), None)
            }
            (None, None) if !relation.tells_states() && fields.get("label").is_some_and(Value::is_string) => {
                (Some(value), None)
            }
            (event, Some(state)) if state.is_object() || state.is_string() => (event, Some(state)),
            (Some(event), None) if !relation.tells_states() => (Some(event), None),
            _ => (None, Some(value)),
        },
        Value::String(_) => (Some(value), None),
        other => {
            return Err(format!(
                "a state is an object, and an event a text or an object, not {}",
                kind(other)
            ));
        }
    };
    let event = match event {
        Some(event) => relation.event(event)?,
        None => None,
    };
    let state = state.map(|state| relation.state(state)).transpose()?;
    Ok((event.is_some() || state.is_some()).then_some(Moment { event, state, line }))
}
