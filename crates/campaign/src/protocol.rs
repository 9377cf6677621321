//! Protocol 1: what Watershed and a program under test say to each other, one line of JSON at a time.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::settings::{Reduction, Start};

/// The version of the protocol.
pub(crate) const PROTOCOL: u64 = 1;
/// The byte in front of a message, as in RFC 7464; lines without it are the program's own output.
pub(crate) const MARK: u8 = 0x1e;

/// What a program says.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Message {
    Hello(Hello),
    Sequence(Sequence),
    Frontier(Frontier),
    Expanded(Expanded),
    Done(Done),
    Error(Complaint),
}

/// The first message: what the program is and can do.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct Hello {
    pub(crate) protocol: u64,
    #[serde(default)]
    pub(crate) program: String,
    #[serde(default)]
    pub(crate) starts: Vec<String>,
    #[serde(default)]
    pub(crate) hash: bool,
}

/// A sequence of observed states.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct Sequence {
    pub(crate) job: String,
    pub(crate) states: Vec<Value>,
    #[serde(default)]
    pub(crate) schedule: String,
    pub(crate) end: End,
    #[serde(default)]
    pub(crate) message: Option<String>,
}

/// How a sequence of a program under test ends.
///
/// ```
/// assert_eq!(campaign::End::Deadlock.to_string(), "deadlock");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum End {
    /// All tasks have finished.
    Finished,
    /// The depth of the layer was reached.
    Depth,
    /// What follows was seen before in the same job.
    Seen,
    /// Tasks wait for each other.
    Deadlock,
    /// A task has panicked.
    Panic,
    /// A task waits for something that the scheduler doesn't control.
    Blocked,
}

impl std::fmt::Display for End {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Finished => "finished",
            Self::Depth => "depth",
            Self::Seen => "seen",
            Self::Deadlock => "deadlock",
            Self::Panic => "panic",
            Self::Blocked => "blocked",
        })
    }
}

/// Where the depth bound has cut a path.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct Frontier {
    pub(crate) job: String,
    #[serde(default)]
    pub(crate) state: Value,
    #[serde(default)]
    pub(crate) schedule: String,
    #[serde(default)]
    pub(crate) hash: Option<String>,
}

/// States all of whose successors the job has explored or sent as frontier.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct Expanded {
    pub(crate) job: String,
    /// 16 digits each.
    pub(crate) hashes: String,
}

impl Expanded {
    /// The hashes, or nothing if they are none.
    pub(crate) fn hashes(&self) -> Option<Vec<u64>> {
        let number = |digits: &[u8]| {
            let digits = std::str::from_utf8(digits).ok()?;
            let plain = digits.len() == 16 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
            u64::from_str_radix(digits, 16).ok().filter(|_| plain)
        };
        self.hashes.as_bytes().chunks(16).map(number).collect()
    }
}

/// The end of a job.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct Done {
    pub(crate) job: String,
    #[serde(default)]
    pub(crate) executions: u64,
    #[serde(default)]
    pub(crate) steps: u64,
    pub(crate) complete: bool,
}

/// Why the program could not do a job.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct Complaint {
    #[serde(default)]
    pub(crate) job: Option<String>,
    pub(crate) message: String,
}

/// Reads a line of a program: a message, its own output, or neither.
///
/// Output without an end of line may stand in front of a message; a message itself has no raw control characters.
pub(crate) fn read(line: &[u8]) -> Result<Option<Message>, String> {
    let Some(mark) = line.iter().rposition(|&byte| byte == MARK) else { return Ok(None) };
    serde_json::from_slice(&line[mark + 1..]).map(Some).map_err(|error| {
        let shown: String = String::from_utf8_lossy(&line[mark + 1..]).chars().take(80).collect();
        format!("it has sent a line that is no message of the protocol ({error}): {shown}")
    })
}

/// A job as it is sent to the program.
#[derive(Serialize)]
pub(crate) struct Request<'a> {
    pub(crate) id: &'a str,
    #[serde(serialize_with = "start_of_request")]
    pub(crate) start: &'a Start,
    pub(crate) depth: u64,
    pub(crate) strategy: &'a Strategy,
    pub(crate) executions: Option<u64>,
    pub(crate) whole: bool,
    /// The hashes of states that need not be expanded again, 16 digits each.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(crate) known: &'a str,
    /// Whether the program should send those that it expands; one that doesn't know of that ignores it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) expanded: bool,
}

/// How a job is explored.
///
/// ```
/// let strategy = campaign::Strategy::Pct { bugs: 3, seed: 1 };
/// assert_eq!(serde_json::to_string(&strategy).unwrap(), r#"{"name":"pct","bugs":3,"seed":1}"#);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "name", rename_all = "lowercase")]
pub enum Strategy {
    /// All schedules, up to the depth.
    Systematic {
        /// Which are left out as equivalent to others.
        reduction: Reduction,
    },
    /// Random priorities with a few random changes: probabilistic concurrency testing.
    Pct {
        /// How many ordering constraints a bug needs.
        bugs: u64,
        /// The seed.
        seed: u64,
    },
    /// Random choices.
    Random {
        /// The seed.
        seed: u64,
    },
    /// The schedule that the job starts with, and nothing else.
    Replay,
    /// The same with fewer context switches, as long as one state follows another.
    Minimise {
        /// The state before.
        from: Value,
        /// The state that follows it.
        to: Value,
    },
}

impl Request<'_> {
    /// The line for the program's standard input.
    pub(crate) fn line(&self) -> Vec<u8> {
        let mut line = serde_json::to_vec(&BTreeMap::from([("job", self)])).expect("a request is plain JSON");
        line.push(b'\n');
        line
    }
}

fn start_of_request<S: serde::Serializer>(start: &&Start, serializer: S) -> Result<S::Ok, S::Error> {
    match start {
        Start::Initial => serializer.serialize_none(),
        start => start.serialize(serializer),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lines_are_messages_output_or_neither() {
        assert_eq!(read(b"just output"), Ok(None));
        let done = b"output without an end of line\x1e{\"done\":{\"job\":\"7\",\"complete\":true}}";
        let Ok(Some(Message::Done(done))) = read(done) else { panic!() };
        assert_eq!((done.job.as_str(), done.complete, done.executions), ("7", true, 0));
        assert!(read(b"\x1e{\"dance\":{}}").unwrap_err().contains("no message of the protocol"));
        assert!(read(b"\x1e\xff\xfe").is_err());
    }

    #[test]
    fn hashes_have_16_digits() {
        let hashes = |text: &str| Expanded { job: String::new(), hashes: text.into() }.hashes();
        assert_eq!(hashes(""), Some(vec![]));
        assert_eq!(hashes("000000000000000affffffffffffffff"), Some(vec![10, u64::MAX]));
        for wrong in ["a", "000000000000000g", "+00000000000000a", "000000000000000a0", "00000000000000é"] {
            assert_eq!(hashes(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn no_line_makes_the_reader_panic() {
        let message = r#"{"sequence":{"job":"7","states":[{"a":1}],"schedule":"0*3","end":"depth"}}"#;
        let line = [&[MARK], message.as_bytes()].concat();
        assert!(matches!(read(&line), Ok(Some(Message::Sequence(_)))));
        for position in 0..line.len() {
            for byte in [0, MARK, b'"', b'{', b']', b'9', 0xff] {
                let mut changed = line.clone();
                changed[position] = byte;
                let _ = read(&changed);
                let _ = read(&changed[..position]);
            }
        }
    }

    #[test]
    fn a_request_is_what_the_protocol_says() {
        let request = |start: &Start| -> Value {
            let strategy = &Strategy::Systematic { reduction: Reduction::Dependence };
            let (known, expanded) = ("", false);
            let request = Request {
                id: "7",
                start,
                depth: 100,
                strategy,
                executions: None,
                whole: true,
                known,
                expanded,
            };
            serde_json::from_slice(&request.line()).unwrap()
        };
        let expected = |start: Value| {
            json!({"job": {"id": "7", "start": start, "depth": 100, "executions": null, "whole": true,
                           "strategy": {"name": "systematic", "reduction": "dependence"}}})
        };
        assert_eq!(request(&Start::Initial), expected(Value::Null));
        assert_eq!(request(&Start::Schedule("0*3".into())), expected(json!({"schedule": "0*3"})));
        assert_eq!(request(&Start::State(json!({"x": 1}))), expected(json!({"state": {"x": 1}})));
    }
}
