//! Jobs, what they find, and which of several equal findings is kept.
//!
//! Whatever several jobs may find (a place of the frontier, a failure) is kept with the smallest [`Rank`]: the result
//! then doesn't depend on which of them is finished first.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::key::{Key, write_canonically};
use crate::protocol::{End, Frontier, Sequence};
use crate::settings::{Sameness, Settings, Start, StartMode};
use crate::{Rejection, status::FailureKind};

/// A part of the exploration: everything within the depth of a layer after a start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) layer: u64,
    pub(crate) start: Start,
    /// For starts from states: the schedules of the layers before, one after the other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) trail: Vec<String>,
}

impl Job {
    /// The job that a campaign begins with.
    pub(crate) fn first(settings: &Settings) -> (Key, Ranked) {
        let job = Self { layer: 0, start: settings.start.clone(), trail: Vec::new() };
        let start = serde_json::to_value(&job.start).expect("a start is plain JSON");
        (Key::of_values("first", &[&start]), Ranked::new(0, 0, &job))
    }

    /// The job of the next layer that goes on where a path of this one was cut, or what the frontier lacks.
    pub(crate) fn next(
        &self,
        settings: &Settings,
        hashed: bool,
        frontier: Frontier,
    ) -> Result<(Key, Ranked), String> {
        let by_state = settings.mode == StartMode::State;
        if !frontier.state.is_object() && (by_state || settings.sameness == Sameness::Observed) {
            return Err("it has sent a place of the frontier without its state".into());
        }
        let key = if by_state || settings.sameness == Sameness::Observed {
            Key::of_values("state", &[&frontier.state])
        } else if hashed {
            let Some(hash) = frontier.hash else {
                return Err("it promises hashes and has sent a place of the frontier without one".into());
            };
            // The observed state makes it less likely that two hashes of 64 bits are the same by accident.
            Key::of_values("hash", &[&Value::String(hash), &frontier.state])
        } else {
            Key::of("schedule", frontier.schedule.as_bytes())
        };
        let mut trail = self.trail.clone();
        let start = if by_state {
            trail.push(frontier.schedule);
            Start::State(frontier.state)
        } else {
            Start::Schedule(frontier.schedule)
        };
        let length = match &start {
            Start::Schedule(schedule) => length_of(schedule),
            _ => trail.iter().map(|schedule| length_of(schedule)).sum(),
        };
        let job = Self { layer: self.layer + 1, start, trail };
        Ok((key, Ranked::new(job.layer, length, &job)))
    }

    /// The failure that a rejected sequence of this job shows, and its cause.
    pub(crate) fn rejected(&self, sequence: &Sequence, rejection: Rejection) -> (Key, Ranked) {
        let Rejection { index, from, to, details } = rejection;
        let cause = Key::of_values("rejected", &[&from, &to]);
        (cause, self.failure(sequence, FailureKind::Rejected, index, from, to, details))
    }

    /// The failure that the end of a sequence of this job is, and its cause.
    pub(crate) fn wrong_end(&self, sequence: &Sequence) -> (Key, Ranked) {
        let kind = match sequence.end {
            End::Panic => FailureKind::Panic,
            End::Deadlock => FailureKind::Deadlock,
            End::Blocked => FailureKind::Blocked,
            End::Finished | End::Depth | End::Seen => FailureKind::Ended,
        };
        let last = sequence.states.last().cloned().unwrap_or(Value::Null);
        let message = sequence.message.clone().map_or(Value::Null, Value::String);
        let cause = Key::of_values(&sequence.end.to_string(), &[&last, &message]);
        let index = sequence.states.len().saturating_sub(1);
        (cause, self.failure(sequence, kind, index, last, Value::Null, Value::Null))
    }

    fn failure(
        &self,
        sequence: &Sequence,
        kind: FailureKind,
        index: usize,
        from: Value,
        to: Value,
        details: Value,
    ) -> Ranked {
        let failure = crate::Failure {
            kind,
            from,
            to,
            index,
            message: sequence.message.clone(),
            details,
            layer: self.layer,
            start: self.start.clone(),
            trail: self.trail.clone(),
            schedule: sequence.schedule.clone(),
            states: sequence.states.clone(),
        };
        let length = self.trail.iter().chain([&sequence.schedule]).map(|schedule| length_of(schedule)).sum();
        Ranked::new(self.layer, length, &failure)
    }
}

/// How many scheduling points a schedule has.
fn length_of(schedule: &str) -> u64 {
    let times = |part: &str| part.split_once('*').and_then(|(_, times)| times.parse().ok()).unwrap_or(1);
    schedule.split('.').filter(|part| !part.is_empty()).fold(0, |sum, part| sum.saturating_add(times(part)))
}

/// JSON with its rank in front: earlier layers first, then shorter schedules, then by content.
///
/// Ranks have a fixed width and consist of digits, so that scripts of a broker can compare them as text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ranked(pub(crate) String);

/// How many bytes of a ranked text are its rank.
pub(crate) const RANK: usize = 6 + 8 + 32;

impl Ranked {
    fn new(layer: u64, length: u64, content: &impl Serialize) -> Self {
        let value = serde_json::to_value(content).expect("what is ranked is plain JSON");
        let mut text = Vec::new();
        write_canonically(&value, &mut text);
        let text = String::from_utf8(text).expect("JSON is text");
        let (layer, length) = (layer.min(999_999), length.min(99_999_999));
        Self(format!("{layer:06}{length:08}{}{text}", Key::of("rank", text.as_bytes())))
    }

    /// The text in front of which the rank stands.
    pub(crate) fn content<T: serde::de::DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.0.get(RANK..).unwrap_or_default())
    }

    fn is_before(&self, other: &Self) -> bool {
        self.0.get(..RANK) < other.0.get(..RANK)
    }
}

/// Keeps the first of what has the same key.
pub(crate) fn keep_first(kept: &mut BTreeMap<Key, Ranked>, (key, ranked): (Key, Ranked)) {
    match kept.entry(key) {
        std::collections::btree_map::Entry::Vacant(entry) => drop(entry.insert(ranked)),
        std::collections::btree_map::Entry::Occupied(mut entry) => {
            if ranked.is_before(entry.get()) {
                entry.insert(ranked);
            }
        }
    }
}

/// Everything that a finished job changes in the campaign, at once or not at all.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Effects {
    pub(crate) accepted: BTreeSet<Key>,
    pub(crate) rejected: BTreeSet<Key>,
    pub(crate) undecided: BTreeSet<Key>,
    pub(crate) states: BTreeSet<Key>,
    pub(crate) frontier: BTreeMap<Key, Ranked>,
    pub(crate) failures: BTreeMap<Key, Ranked>,
    /// Hashes of the states that jobs of later layers need not expand again.
    pub(crate) expanded: BTreeSet<u64>,
    /// Numbers to add.
    pub(crate) counts: BTreeMap<String, u64>,
}

impl Effects {
    pub(crate) fn count(&mut self, name: &str, number: u64) {
        match self.counts.get_mut(name) {
            Some(count) => *count += number,
            None => drop(self.counts.insert(name.to_owned(), number)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn frontier(state: Value, schedule: &str, hash: Option<&str>) -> Frontier {
        Frontier { job: String::new(), state, schedule: schedule.into(), hash: hash.map(Into::into) }
    }

    #[test]
    fn lengths_count_scheduling_points() {
        assert_eq!(length_of(""), 0);
        assert_eq!(length_of("0*3.1.2*5"), 9);
        assert_eq!(length_of("0*x"), 1);
    }

    #[test]
    fn the_shortest_way_to_a_place_is_kept() {
        let settings = Settings::new("program");
        let (_, first) = Job::first(&settings);
        let job: Job = first.content().unwrap();
        let mut kept = BTreeMap::new();
        for schedule in ["0*9.1", "1*2", "0*3"] {
            let found = frontier(json!({"x": 1}), schedule, Some("aa"));
            keep_first(&mut kept, job.next(&settings, true, found).unwrap());
        }
        assert_eq!(kept.len(), 1);
        let next: Job = kept.values().next().unwrap().content().unwrap();
        assert_eq!((next.layer, next.start), (1, Start::Schedule("1*2".into())));
    }

    #[test]
    fn what_tells_the_future_decides_what_is_the_same() {
        let mut settings = Settings::new("program");
        let job: Job = Job::first(&settings).1.content().unwrap();
        let key = |settings: &Settings, hashed: bool, schedule: &str, hash: Option<&str>| {
            job.next(settings, hashed, frontier(json!({"x": 1}), schedule, hash)).map(|(key, _)| key)
        };
        assert_eq!(key(&settings, true, "0", Some("a")), key(&settings, true, "1", Some("a")));
        assert_ne!(key(&settings, true, "0", Some("a")), key(&settings, true, "0", Some("b")));
        assert!(key(&settings, true, "0", None).is_err());
        assert_ne!(key(&settings, false, "0", None), key(&settings, false, "1", None));
        settings.sameness = Sameness::Observed;
        assert_eq!(key(&settings, false, "0", None), key(&settings, true, "1", Some("b")));
        settings.mode = StartMode::State;
        settings.sameness = Sameness::Promised;
        assert_eq!(key(&settings, true, "0", Some("a")), key(&settings, true, "1", Some("b")));
        assert!(job.next(&settings, true, frontier(Value::Null, "0", Some("a"))).is_err());
    }
}
