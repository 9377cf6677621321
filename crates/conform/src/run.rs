//! All sequences of some traces, on all cores.
//!
//! Sequences that are known as a whole are dealt out to threads; those that come a moment at a time are followed as they
//! come, however many are under way. What is reported depends on neither.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};

use lts::{OriginId, Progress};
use model::{Model, ModelError, Slot};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::checker::{CheckError, Checker, Position, Settings, Step};
use crate::diagnosis::Diagnosis;
use crate::relation::Relation;
use crate::traces::{Moment, ReadError, Said};

/// How many sequences a thread takes at once.
const AT_ONCE: usize = 64;

/// How many failures are kept; further ones are counted.
const MOST_FAILURES: usize = 10_000;

/// How many different failures are explained.
const MOST_EXPLAINED: usize = 500;

/// What comes next: the number of a file, and what its next lines say.
pub type Sequences<'s> = dyn FnMut() -> Result<Option<(usize, Vec<Said>)>, ReadError> + 's;

/// What became of all sequences.
#[derive(Debug, Default)]
pub struct Outcome {
    /// How many sequences there are.
    pub sequences: u64,
    /// How many of them the model accepts.
    pub accepted: u64,
    /// How many were not decided before a limit was reached.
    pub unknown: u64,
    /// How many left what the model specifies, by an input that it says nothing about.
    pub unspecified: u64,
    /// How many the model rejects.
    pub rejected: u64,
    /// How many moments were followed.
    pub moments: u64,
    /// How many neighbours needed so many steps.
    pub bounds: BTreeMap<u32, u64>,
    /// The first neighbours that needed so many: sequence and index.
    pub first: BTreeMap<u32, (u64, u64)>,
    /// The first failures, in order.
    pub failures: Vec<Failure>,
    /// The origins of what was exercised.
    pub origins: Vec<OriginId>,
}

/// A sequence that the model rejects.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The sequence, from 0.
    pub seq: u64,
    /// Its name, where it has one.
    pub name: Option<String>,
    /// The file.
    pub file: usize,
    /// The line, from 1.
    pub line: u64,
    /// The state before the one that was rejected, or the event, from 0.
    pub index: u64,
    /// Why; the same failure is explained once.
    pub diagnosis: Option<Arc<Diagnosis>>,
}

/// What ends a check.
#[derive(Debug)]
pub enum Problem {
    /// The traces can't be read.
    Read(ReadError),
    /// A state is none of the model's.
    State {
        /// The file.
        file: usize,
        /// The line, from 1.
        line: u64,
        /// The sequence, from 0.
        seq: u64,
        /// The state.
        state: String,
        /// Why it is none.
        why: String,
    },
    /// The model makes an error.
    Model(ModelError),
    /// The user has asked for an end.
    Cancelled,
}

impl CheckError {
    /// What ends a check at some line of a file, in some sequence.
    pub fn at(self, file: usize, line: u64, seq: u64) -> Problem {
        match self {
            CheckError::State(state, why) => Problem::State { file, line, seq, state, why },
            CheckError::Model(error) => Problem::Model(error),
        }
    }
}

/// A sequence that is known as a whole.
struct Job {
    seq: u64,
    file: usize,
    moments: Vec<Moment>,
}

/// A rejection that is still to be explained.
struct Rejection {
    seq: u64,
    name: Option<String>,
    file: usize,
    index: u64,
    /// The states that the model may have been in.
    rows: Vec<Vec<Slot>>,
    has_begun: bool,
    moment: Moment,
}

/// Which sequence it is that something is said of; sequences are numbered as they begin.
#[derive(Default)]
pub(crate) struct Numbering {
    /// How many sequences have begun.
    pub count: u64,
    file: usize,
    /// The numbers of those that come a moment at a time, and where they are found.
    streamed: Vec<u64>,
    keys: FxHashMap<(usize, String), usize>,
    /// The one without a key that is under way.
    current: Option<usize>,
}

impl Numbering {
    /// What comes next is from this file.
    pub fn enter(&mut self, file: usize) {
        if file != self.file {
            self.file = file;
            self.current = None;
        }
    }

    /// The number of a sequence that is known as a whole.
    pub fn whole(&mut self) -> u64 {
        self.count += 1;
        self.count - 1
    }

    /// The sequence that a moment with this key belongs to: its place among those that come a moment at a time, and its
    /// number.
    pub fn streamed(&mut self, key: Option<&str>) -> (usize, u64) {
        let known = match key {
            Some(key) => self.keys.get(&(self.file, key.to_owned())).copied(),
            None => self.current,
        };
        let place = known.unwrap_or_else(|| {
            let place = self.streamed.len();
            let number = self.whole();
            self.streamed.push(number);
            match key {
                Some(key) => _ = self.keys.insert((self.file, key.to_owned()), place),
                None => self.current = Some(place),
            }
            place
        });
        (place, self.streamed[place])
    }

    /// The next moment without a key begins another sequence.
    pub fn end(&mut self) {
        self.current = None;
    }
}

/// What a thread has found.
#[derive(Default)]
struct Found {
    accepted: u64,
    unknown: u64,
    unspecified: u64,
    rejected: u64,
    moments: u64,
    bounds: BTreeMap<u32, u64>,
    first: BTreeMap<u32, (u64, u64)>,
    rejections: Vec<Rejection>,
    problem: Option<(u64, Problem)>,
    origins: FxHashSet<OriginId>,
}

/// Follows all sequences.
pub fn check(
    model: &dyn Model,
    relation: &Relation,
    settings: Settings,
    threads: usize,
    next: &mut Sequences<'_>,
    progress: &Progress,
) -> Result<Outcome, Problem> {
    let (send, receive) = sync_channel::<Vec<Job>>(2 * threads.max(1));
    let receive = Mutex::new(receive);
    let mut numbering = Numbering::default();
    let (read, found) = std::thread::scope(|scope| {
        let receive = &receive;
        let workers: Vec<_> = (0..threads.max(1))
            .map(|_| scope.spawn(move || work(model, relation, settings, receive)))
            .collect();
        let mut stream = Stream::new(Checker::new(model, relation, settings));
        let read = deal(&send, &mut stream, &mut numbering, next, progress);
        drop(send);
        let mut found: Vec<Found> =
            workers.into_iter().map(|worker| worker.join().unwrap_or_default()).collect();
        found.push(stream.end());
        (read, found)
    });
    let mut outcome = Outcome { sequences: numbering.count, ..Outcome::default() };
    let mut rejections = Vec::new();
    let mut problem: Option<(u64, Problem)> = None;
    let mut origins: FxHashSet<OriginId> = FxHashSet::default();
    for part in found {
        outcome.accepted += part.accepted;
        outcome.unknown += part.unknown;
        outcome.unspecified += part.unspecified;
        outcome.rejected += part.rejected;
        outcome.moments += part.moments;
        part.bounds.into_iter().for_each(|(bound, count)| *outcome.bounds.entry(bound).or_insert(0) += count);
        for (bound, place) in part.first {
            let first = outcome.first.entry(bound).or_insert(place);
            *first = place.min(*first);
        }
        origins.extend(part.origins);
        rejections.extend(part.rejections);
        if let Some(other) = part.problem
            && problem.as_ref().is_none_or(|known| other.0 < known.0)
        {
            problem = Some(other);
        }
    }
    if let Some((_, problem)) = problem {
        return Err(problem);
    }
    read?;
    if progress.is_cancelled() && !progress.is_overdue() {
        return Err(Problem::Cancelled);
    }
    outcome.origins = origins.into_iter().collect();
    outcome.origins.sort_unstable();
    rejections.sort_by_key(|rejection| rejection.seq);
    rejections.truncate(MOST_FAILURES);
    outcome.failures = explained(model, relation, settings, rejections)?;
    Ok(outcome)
}

/// Reads everything, deals out sequences and follows single moments.
fn deal(
    send: &SyncSender<Vec<Job>>,
    stream: &mut Stream<'_>,
    numbering: &mut Numbering,
    next: &mut Sequences<'_>,
    progress: &Progress,
) -> Result<(), Problem> {
    while let Some((file, said)) = next().map_err(Problem::Read)? {
        numbering.enter(file);
        let mut jobs: Vec<Job> = Vec::new();
        for said in said {
            match said {
                Said::Sequence(moments) => {
                    jobs.push(Job { seq: numbering.whole(), file, moments });
                    if jobs.len() == AT_ONCE {
                        // A thread that is gone has left a problem behind.
                        if send.send(std::mem::take(&mut jobs)).is_err() {
                            return Ok(());
                        }
                    }
                }
                Said::Moment(key, moment) => {
                    let (place, seq) = numbering.streamed(key.as_deref());
                    stream.take(place, seq, key, &moment, file);
                }
                Said::End => numbering.end(),
                Said::Wrong(why) => {
                    let problem = Problem::State {
                        file,
                        line: numbering.count + 1,
                        seq: numbering.count,
                        state: String::new(),
                        why,
                    };
                    stream.found.problem = Some((numbering.count, problem));
                    return Ok(());
                }
            }
        }
        if !jobs.is_empty() && send.send(jobs).is_err() {
            return Ok(());
        }
        if stream.found.problem.is_some() || progress.is_cancelled() {
            return Ok(());
        }
        progress.advance(1);
    }
    Ok(())
}

fn work(
    model: &dyn Model,
    relation: &Relation,
    settings: Settings,
    jobs: &Mutex<Receiver<Vec<Job>>>,
) -> Found {
    let mut checker = Checker::new(model, relation, settings);
    let mut found = Found::default();
    loop {
        let job = jobs.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).recv();
        let Ok(job) = job else { break };
        for job in job {
            if found.problem.as_ref().is_some_and(|(seq, _)| *seq < job.seq) {
                continue;
            }
            let mut position = Position::default();
            let mut ended = false;
            for moment in &job.moments {
                let at = Place { seq: job.seq, file: job.file, name: None };
                if !follow(&mut checker, &mut position, moment, &at, &mut found) {
                    ended = true;
                    break;
                }
            }
            if !ended {
                found.accepted += 1;
            }
            if checker.is_full() {
                checker.renew(std::iter::empty());
            }
        }
    }
    found.origins = checker.origins().collect();
    found
}

/// Which sequence a moment belongs to.
struct Place<'p> {
    seq: u64,
    file: usize,
    name: Option<&'p str>,
}

/// Follows a moment; whether the sequence goes on.
fn follow(
    checker: &mut Checker<'_>,
    position: &mut Position,
    moment: &Moment,
    place: &Place<'_>,
    found: &mut Found,
) -> bool {
    found.moments += 1;
    match checker.follow(position, moment) {
        Ok(Step::Accepted(needed)) => {
            if let Some(needed) = needed {
                *found.bounds.entry(needed).or_insert(0) += 1;
                let here = (place.seq, position.index.saturating_sub(2));
                let first = found.first.entry(needed).or_insert(here);
                *first = here.min(*first);
            }
            return true;
        }
        Ok(Step::Unspecified) => {
            found.unspecified += 1;
            found.accepted += 1;
        }
        Ok(Step::Unknown) => found.unknown += 1,
        Ok(Step::Rejected) => {
            found.rejected += 1;
            if found.rejections.len() < MOST_FAILURES {
                let rows =
                    checker.states(position).iter().map(|&state| checker.space.row(state).to_vec()).collect();
                let back = u64::from(moment.event.is_none());
                found.rejections.push(Rejection {
                    seq: place.seq,
                    name: place.name.map(str::to_owned),
                    file: place.file,
                    index: position.index.saturating_sub(back),
                    rows,
                    has_begun: checker.has_begun(position),
                    moment: moment.clone(),
                });
            }
        }
        Err(error) => {
            let problem = error.at(place.file, moment.line, place.seq);
            if found.problem.as_ref().is_none_or(|(seq, _)| place.seq < *seq) {
                found.problem = Some((place.seq, problem));
            }
        }
    }
    false
}

/// Sequences that come a moment at a time.
struct Stream<'m> {
    checker: Checker<'m>,
    found: Found,
    open: Vec<Open>,
}

struct Open {
    name: Option<String>,
    position: Position,
    ended: bool,
}

impl<'m> Stream<'m> {
    fn new(checker: Checker<'m>) -> Self {
        Self { checker, found: Found::default(), open: Vec::new() }
    }

    /// Follows a moment of the sequence at this place, which may be the next one.
    fn take(&mut self, place: usize, seq: u64, key: Option<String>, moment: &Moment, file: usize) {
        if place == self.open.len() {
            self.open.push(Open { name: key, position: Position::default(), ended: false });
        }
        let Open { name, position, ended } = &mut self.open[place];
        if *ended {
            return;
        }
        let place = Place { seq, file, name: name.as_deref() };
        if !follow(&mut self.checker, position, moment, &place, &mut self.found) {
            *ended = true;
        }
        if self.checker.is_full() {
            let open = self.open.iter_mut().filter(|open| !open.ended);
            self.checker.renew(open.map(|open| &mut open.position));
        }
    }

    fn end(mut self) -> Found {
        self.found.accepted += self.open.iter().filter(|open| !open.ended).count() as u64;
        self.found.origins = self.checker.origins().collect();
        self.found
    }
}

/// What failures have in common that have the same reason: the states before, the event and the state that was seen.
type Kind = (Vec<Vec<Slot>>, Option<String>, Option<String>);

/// The failures with their reasons, found one after the other so that they depend on nothing but themselves.
fn explained(
    model: &dyn Model,
    relation: &Relation,
    settings: Settings,
    rejections: Vec<Rejection>,
) -> Result<Vec<Failure>, Problem> {
    let settings = Settings { cover: false, ..settings };
    let mut checker = Checker::new(model, relation, settings);
    let mut known: FxHashMap<Kind, Arc<Diagnosis>> = FxHashMap::default();
    let mut failures = Vec::with_capacity(rejections.len());
    for rejection in rejections {
        let Rejection { seq, name, file, index, mut rows, has_begun, moment } = rejection;
        rows.sort_unstable();
        let key = (rows, moment.event.clone(), moment.state.as_ref().map(ToString::to_string));
        let mut diagnosis = known.get(&key).cloned();
        if diagnosis.is_none() && known.len() < MOST_EXPLAINED {
            let position = checker.position(&key.0, has_begun);
            let found =
                checker.diagnose(&position, &moment).map_err(|error| error.at(file, moment.line, seq))?;
            diagnosis = Some(known.entry(key).or_insert(Arc::new(found)).clone());
        }
        failures.push(Failure { seq, name, file, line: moment.line, index, diagnosis });
    }
    Ok(failures)
}
