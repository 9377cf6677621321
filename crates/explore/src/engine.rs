//! The exploration itself, in rounds over batches of states.
//!
//! 1. Threads take a few states at a time, a piece, compute their successors and look them up in a table that all
//!    threads share; what is new is noted.
//! 2. Of the steps that lead to the same new state, the first one brings it in: each piece lists its own.
//! 3. Each piece's new states are numbered: how many the pieces before it have says where its numbers start.
//! 4. Where transitions are kept, the pieces' steps become transitions.
//!
//! Numbers follow the order of the sources and of each source's steps. Nothing depends on which thread did what, so
//! any number of threads gives the same result. One thread runs the same rounds.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Mutex;
use std::time::Instant;

use lts::{Edge, LabelId, Labels, Lts, OriginId, Progress, StateId};
use model::{Layout, Model, ModelError, PackedWorker, Steps};

use crate::store::{Found, LookUp, NO_NUMBER, StepKey, Store, hash, known_or};
use crate::team::{Team, lock};
use crate::{Exploration, Limits, MOST_STATES, Outcome, Statistics};

/// How many states a thread takes at a time, at least and at most: what it computes for them should stay in its cache,
/// and at the end of a phase nobody should wait long for the last piece.
const LEAST_PIECE: usize = 16;
const PIECE: usize = 128;
/// How many states a thread gets in a round, at most: few if it is alone, for the sake of memory and caches, more where
/// threads have to wait for each other between phases.
const BATCH_ALONE: usize = 2048;
const BATCH_OF_SEVERAL: usize = 4096;
/// How many pieces each thread should get, even if there are few states.
const FEW_PIECES: usize = 8;
/// What the steps of a round may take, as far as that can be foreseen.
const ROUND_BYTES: usize = 1 << 29;
/// For how many new states of each one in a batch there is room at first, and for how many pieces a thread takes notes
/// at a time: nearly always fewer of their steps lead to new states.
const NEW_PER_STATE: usize = 2;
const AHEAD: usize = 4;
/// For no more steps of a piece is there room at first.
const LONG: usize = 1 << 13;

/// What moves to disk beside what has to, as a part of the limit: the disk is waited for each time.
const MORE_TO_DISK: usize = 64;

/// More transitions than this are not kept: few enough for a round more to be named by 32 bits.
const MOST_TRANSITIONS: usize = (u32::MAX - (1 << 28)) as usize;

/// A few neighbouring states and what was found for them. Pieces that different threads work on share no cache line.
#[derive(Default)]
#[repr(align(128))]
struct Piece {
    /// The number of the first state, and that behind the last.
    first: usize,
    end: usize,
    /// Whether its steps were looked up. If not, there was no room for them.
    finished: bool,
    /// How many steps there are.
    steps: usize,
    /// What each state has, up to the one with the error, if there is one.
    rows: Vec<Row>,
    /// What went wrong in the last state.
    error: Option<ModelError>,
    /// The notes that are in use for it.
    noted: Range<u32>,
    /// The notes of the states that its steps bring in, in order.
    new: Vec<u32>,
    /// Labels that were new before this round, in the order in which they turned up.
    new_labels: Vec<LabelId>,
    /// Where transitions are kept: for each step its label, the number of its target or, marked as new, its note, and
    /// its origin if that is kept, too.
    labels: Vec<LabelId>,
    found: Vec<u32>,
    origins: Vec<OriginId>,
}

/// What one state has.
#[derive(Clone, Copy)]
struct Row {
    steps: u32,
    /// How many different transitions the steps make.
    different: u32,
}

/// Marks a find as new.
const NEW: u32 = 1 << 31;

impl Piece {
    fn begin(&mut self, first: usize, end: usize) {
        (self.first, self.end) = (first, end);
        self.finished = false;
    }

    fn bytes(&self) -> usize {
        let Self { rows, new, new_labels, labels, found, origins, .. } = self;
        size_of::<Self>()
            + grown(rows, 0)
            + grown(new, 0)
            + grown(found, 0)
            + grown(new_labels, 0)
            + grown(labels, 0)
            + grown(origins, 0)
    }

    fn clear(&mut self) {
        self.rows.clear();
        self.error = None;
        self.new.clear();
        self.new_labels.clear();
        self.labels.clear();
        self.found.clear();
        self.origins.clear();
    }
}

/// What a thread works with; no two lie on the same cache line. The successors of a piece are computed before the first
/// is looked up, because look-ups wait for memory: it is asked for ahead of time.
#[derive(Default)]
#[repr(align(128))]
struct Hand<'m> {
    /// Made by the thread itself.
    worker: Option<Box<dyn PackedWorker + 'm>>,
    /// The steps of the piece, and the hashes of their targets.
    steps: Steps,
    hashes: Vec<u64>,
    /// The transitions of one state.
    row: Vec<(LabelId, u32)>,
    /// The notes that it may use.
    notes: Range<u32>,
}

impl Hand<'_> {
    fn new(words: usize, origins: bool) -> Self {
        Self { steps: Steps::new(words, origins), ..Self::default() }
    }

    fn bytes(&self) -> usize {
        self.steps.bytes() + grown(&self.hashes, 0) + grown(&self.row, 0)
    }

    /// Makes sure that there are notes for so many steps, all of which may lead to new states. Gives whether there are.
    fn take_notes(&mut self, look_up: &LookUp<'_>, steps: usize) -> bool {
        if self.notes.len() < steps {
            let taken = look_up.take_notes(AHEAD * steps).or_else(|| look_up.take_notes(steps));
            self.notes = taken.unwrap_or_default();
        }
        self.notes.len() >= steps
    }
}

/// Where a round ends: before a row of a piece. Behind the last piece, where nothing ends it early.
struct Cut {
    piece: usize,
    row: usize,
    /// Whether the limit on states is the reason.
    limit: bool,
}

impl Cut {
    /// The rows of a piece that lie before the cut.
    fn rows<'a>(&self, number: usize, piece: &'a Piece) -> &'a [Row] {
        match number.cmp(&self.piece) {
            Ordering::Less => &piece.rows,
            Ordering::Equal => &piece.rows[..self.row],
            Ordering::Greater => &[],
        }
    }
}

/// The transitions so far, in the order of their sources, as [`Lts::from_loose_rows`] takes them.
struct Rows {
    offsets: Vec<u32>,
    edges: Vec<Edge>,
    origins: Vec<OriginId>,
}

pub(crate) fn run(model: &dyn Model, limits: &Limits, progress: &Progress) -> Exploration {
    let threads = if limits.threads == 0 { rayon::current_num_threads() } else { limits.threads };
    let layout = model.layout();
    Team::with(threads, |team| {
        let mut search = Search {
            model,
            layout,
            limits,
            team,
            hands: (0..team.threads())
                .map(|_| Mutex::new(Hand::new(layout.words(), limits.origins)))
                .collect(),
            store: Store::new(layout.words(), limits.disk.is_some()),
            longest: 0,
            widest: 1,
            rows: Rows { offsets: vec![0], edges: Vec::new(), origins: Vec::new() },
            labels: Labels::new(),
            label_numbers: Vec::new(),
            statistics: Statistics { state_bytes: layout.words() * 4, ..Statistics::default() },
        };
        let outcome = search.run(progress);
        search.finish(outcome)
    })
}

struct Search<'m> {
    model: &'m dyn Model,
    layout: &'m Layout,
    limits: &'m Limits,
    team: &'m Team<'m>,
    /// What each thread works with.
    hands: Vec<Mutex<Hand<'m>>>,
    store: Store,
    /// The most steps of a piece so far.
    longest: usize,
    /// The most steps of a state so far.
    widest: usize,
    rows: Rows,
    labels: Labels,
    /// The system's label for each of the model's, once it was seen.
    label_numbers: Vec<Option<LabelId>>,
    statistics: Statistics,
}

impl<'m> Search<'m> {
    fn run(&mut self, progress: &Progress) -> Outcome {
        let start = Instant::now();
        if let Err(error) = self.add_initial() {
            return Outcome::Error { error, state: None };
        }
        let threads = self.team.threads();
        let mut pieces: Vec<Piece> = Vec::new();
        let mut next = 0;
        let mut level_end = 1;
        let most = if threads == 1 { BATCH_ALONE } else { threads * BATCH_OF_SEVERAL };
        self.statistics.widest_level = 1;
        while next < self.store.len() {
            if progress.is_cancelled() {
                return Outcome::Cancelled;
            }
            if self.limits.time.is_some_and(|limit| start.elapsed() > limit) {
                return Outcome::TimeLimit;
            }
            // States with very many steps, or very large ones, are looked at a few at a time.
            let fits = ROUND_BYTES / (self.widest * self.layout.words().max(1) * 4);
            let batch = (self.store.len() - next).min(most).min(fits.max(1));
            let mut bytes = self.bytes(batch, &pieces);
            if bytes > self.limits.bytes
                && let Some(disk) = &self.limits.disk
            {
                let more = self.limits.bytes / MORE_TO_DISK;
                if let Err(error) = self.store.move_to(disk, bytes - self.limits.bytes, more) {
                    return Outcome::DiskFailed(error.to_string());
                }
                self.statistics.disk_bytes = self.store.disk_bytes();
                bytes = self.bytes(batch, &pieces);
            }
            if bytes > self.limits.bytes || self.rows.edges.len() > MOST_TRANSITIONS {
                return Outcome::MemoryLimit;
            }
            self.statistics.bytes = bytes;
            self.store.will_need(next..next + batch);
            let size = (batch / (threads * FEW_PIECES)).clamp(LEAST_PIECE, PIECE);
            let count = batch.div_ceil(size);
            pieces.resize_with(count.max(pieces.len()), Piece::default);
            let pieces = &mut pieces[..count];
            for (piece, first) in pieces.iter_mut().zip((next..).step_by(size)) {
                piece.begin(first, (first + size).min(next + batch));
            }
            let Some(in_order) = self.expand(pieces, batch) else { return Outcome::MemoryLimit };
            if !in_order {
                self.list_new(pieces);
            }
            let cut = self.number(pieces);
            self.keep(pieces, &cut);
            progress.advance(batch as u64);
            if let Some(outcome) = self.end(pieces, cut) {
                return outcome;
            }
            next += batch;
            while level_end <= next && level_end < self.store.len() {
                self.statistics.depth += 1;
                level_end = self.level_end_after(level_end);
            }
        }
        Outcome::Complete
    }

    /// Where the level that starts at `start` ends: behind the last state whose parent lies before `start`.
    fn level_end_after(&mut self, start: usize) -> usize {
        let (mut low, mut high) = (start, self.store.len());
        while low < high {
            let middle = (low + high) / 2;
            match self.store.parent(middle) < start {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        self.statistics.widest_level = self.statistics.widest_level.max(low - start);
        low
    }

    fn add_initial(&mut self) -> Result<(), ModelError> {
        let initial = self.model.initial()?;
        let mut packed = vec![0; self.layout.words()];
        self.layout.pack(&initial, &mut packed)?;
        self.store.add_initial(&packed);
        Ok(())
    }

    /// Phase 1: the successors of all pieces, known or new. Gives whether all steps were looked up in their order;
    /// nothing where there are more than can be numbered.
    fn expand(&mut self, pieces: &mut [Piece], batch: usize) -> Option<bool> {
        let mut in_order = self.team.threads() == 1;
        for hand in &self.hands {
            lock(hand).notes = 0..0;
        }
        let mut is_room = self.store.begin_round(self.room_for(batch), self.team);
        while is_room {
            self.expand_unfinished(pieces);
            self.longest = pieces.iter().map(|piece| piece.steps).fold(self.longest, usize::max);
            let rows = pieces.iter().flat_map(|piece| &piece.rows);
            self.widest = rows.map(|row| row.steps as usize).fold(self.widest, usize::max);
            let missing = pieces.iter().filter(|piece| !piece.finished).map(|piece| piece.steps).sum();
            if missing == 0 {
                return Some(in_order);
            }
            in_order = false;
            // There was no room for some pieces, but now it is known how much they need.
            let mut used: Vec<Range<u32>> =
                pieces.iter().filter(|piece| piece.finished).map(|piece| piece.noted.clone()).collect();
            is_room = self.store.make_room(missing, &mut used, self.team);
        }
        None
    }

    /// For how many new states there is room when a round of so many states begins.
    fn room_for(&self, batch: usize) -> usize {
        NEW_PER_STATE * batch + self.team.threads() * AHEAD * self.longest.min(LONG)
    }

    fn expand_unfinished(&self, pieces: &mut [Piece]) {
        let look_up = self.store.look_up();
        self.team.each(pieces, |thread, _, piece| {
            if piece.finished {
                return;
            }
            let hand = &mut *lock(&self.hands[thread]);
            piece.clear();
            self.compute(hand, piece);
            piece.steps = hand.hashes.len();
            piece.finished = hand.take_notes(&look_up, piece.steps);
            if piece.finished {
                match self.layout.words() {
                    1 => self.look_up::<1>(&look_up, hand, piece),
                    2 => self.look_up::<2>(&look_up, hand, piece),
                    3 => self.look_up::<3>(&look_up, hand, piece),
                    4 => self.look_up::<4>(&look_up, hand, piece),
                    _ => self.look_up::<0>(&look_up, hand, piece),
                }
            }
        });
    }

    fn compute(&self, hand: &mut Hand<'m>, piece: &mut Piece) {
        let Hand { worker, steps, hashes, .. } = hand;
        let worker = worker.get_or_insert_with(|| self.model.packed_worker());
        steps.clear();
        for number in piece.first..piece.end {
            let before = steps.len();
            let result = worker.add_steps(self.store.packed(number), steps);
            // The steps found before an error are as good as any.
            piece.rows.push(Row { steps: (steps.len() - before) as u32, different: 0 });
            if let Err(error) = result {
                piece.error = Some(error);
                break;
            }
        }
        for &label in steps.labels() {
            let known = self.label_numbers.get(label.index()).is_some_and(Option::is_some);
            if !known && !piece.new_labels.contains(&label) {
                piece.new_labels.push(label);
            }
        }
        piece.origins.extend_from_slice(steps.origins());
        hashes.clear();
        hashes.extend(steps.targets().chunks_exact(steps.words().max(1)).map(hash));
    }

    /// Looks the steps of a piece up. States have `WORDS` words; 0 stands for any number.
    fn look_up<const WORDS: usize>(&self, look_up: &LookUp<'_>, hand: &mut Hand<'_>, piece: &mut Piece) {
        let words = known_or::<WORDS>(self.layout.words());
        let Hand { steps, hashes, row: of_row, notes, .. } = hand;
        let (targets, labels) = (steps.targets(), steps.labels());
        let mut free = notes.start;
        let mut step = 0;
        for (row, source) in piece.rows.iter_mut().zip(piece.first..) {
            of_row.clear();
            for of_source in 0..row.steps {
                // Look-ups wait for memory most of the time: start those of the next steps now.
                if let Some(&soon) = hashes.get(step + 16) {
                    look_up.prefetch_place(soon);
                }
                if let Some(&soon) = hashes.get(step + 8) {
                    look_up.prefetch_state(soon);
                }
                let target = &targets[step * words..][..words];
                let key = StepKey::new(source, of_source);
                let found = match look_up.find_or_note::<WORDS>(hashes[step], target, key, free) {
                    Found::Known(number) => number,
                    Found::Noted { note, first } => {
                        free += u32::from(note == free);
                        if first {
                            piece.new.push(note);
                        }
                        note | NEW
                    }
                };
                of_row.push((labels[step], found));
                step += 1;
            }
            if self.limits.transitions {
                piece.labels.extend(of_row.iter().map(|&(label, _)| label));
                piece.found.extend(of_row.iter().map(|&(_, found)| found));
            }
            // Equal targets have equal finds, be they known or new.
            row.different = count_different(of_row);
        }
        piece.noted = notes.start..free;
        notes.start = free;
    }

    /// Phase 2: which steps really bring in a new state.
    fn list_new(&self, pieces: &mut [Piece]) {
        let notes = self.store.notes();
        self.team.each(pieces, |_, _, piece| {
            let sources = piece.first..piece.end;
            piece.new.retain(|&note| sources.contains(&notes.source(note)));
        });
    }

    /// Phase 3: numbers what is new, in the order in which it first turned up. Says how far that went.
    fn number(&mut self, pieces: &[Piece]) -> Cut {
        let words = self.layout.words();
        let most = self.limits.states.min(MOST_STATES);
        let mut cut = Cut { piece: pieces.len(), row: 0, limit: false };
        // How many states of each piece get numbers.
        let mut quotas = Vec::with_capacity(pieces.len());
        let mut room = most.saturating_sub(self.store.len());
        for (number, piece) in pieces.iter().enumerate() {
            let new = piece.new.len();
            quotas.push(new.min(room));
            if new > room {
                let row = self.store.notes().source(piece.new[room]) - piece.first;
                cut = Cut { piece: number, row, limit: true };
                break;
            }
            room -= new;
            if piece.error.is_some() {
                cut = Cut { piece: number, row: piece.rows.len(), limit: false };
                break;
            }
        }
        let (mut rooms, settle) = self.store.grow(&quotas);
        self.team.each(&mut rooms, |_, _, room| {
            let new = &pieces[room.piece].new[room.position..];
            for (position, packed) in room.packed.chunks_exact_mut(words).enumerate() {
                if let Some(&soon) = new.get(position + 16) {
                    settle.prefetch(soon);
                }
                let number = (room.first + position) as u32;
                room.parents[position] = settle.settle(new[position], number, packed);
            }
        });
        for piece in &pieces[..pieces.len().min(cut.piece + 1)] {
            for &label in &piece.new_labels {
                if self.label_numbers.get(label.index()).is_none_or(Option::is_none) {
                    self.add_label(label);
                }
            }
        }
        cut
    }

    /// Labels are numbered as they first turn up in the order of the states.
    fn add_label(&mut self, label: LabelId) {
        let number = self.labels.intern(&self.model.label(label));
        if self.label_numbers.len() <= label.index() {
            self.label_numbers.resize(label.index() + 1, None);
        }
        self.label_numbers[label.index()] = Some(number);
    }

    /// Phase 4: the steps before the cut become transitions.
    fn keep(&mut self, pieces: &[Piece], cut: &Cut) {
        if !self.limits.transitions {
            return;
        }
        let Rows { offsets, edges, origins } = &mut self.rows;
        let before = edges.len();
        let mut ends = Vec::with_capacity(pieces.len());
        let mut end = before;
        for (number, piece) in pieces.iter().enumerate() {
            for row in cut.rows(number, piece) {
                end += row.steps as usize;
                offsets.push(end as u32);
            }
            ends.push(end);
        }
        edges.resize(end, Edge { label: LabelId::TAU, target: StateId::new(0) });
        let (mut rest, mut start) = (&mut edges[before..], before);
        let mut places = Vec::with_capacity(pieces.len());
        for &end in &ends {
            let (own, others) = rest.split_at_mut(end - start);
            places.push(own);
            (rest, start) = (others, end);
        }
        let notes = self.store.notes();
        self.team.each(&mut places, |_, number, edges| {
            let piece = &pieces[number];
            for ((edge, label), &found) in edges.iter_mut().zip(&piece.labels).zip(&piece.found) {
                let target = match found & NEW {
                    0 => found,
                    _ => notes.number(found & !NEW),
                };
                debug_assert_ne!(target, NO_NUMBER, "all states before the cut have numbers");
                let label = self.label_numbers[label.index()].unwrap_or(LabelId::TAU);
                *edge = Edge { label, target: StateId::from_raw(target) };
            }
        });
        if self.limits.origins {
            let mut start = before;
            for (&end, piece) in ends.iter().zip(pieces) {
                origins.extend_from_slice(&piece.origins[..end - start]);
                start = end;
            }
        }
    }

    /// Counts what lies before the cut and says so if that was the end.
    fn end(&mut self, pieces: &[Piece], cut: Cut) -> Option<Outcome> {
        for (number, piece) in pieces.iter().enumerate() {
            let rows = cut.rows(number, piece);
            self.statistics.transitions += rows.iter().map(|row| u64::from(row.different)).sum::<u64>();
            self.statistics.deadlocks += rows.iter().filter(|row| row.steps == 0).count() as u64;
            // Pieces behind the cut have no rows.
            if !rows.is_empty() {
                self.statistics.expanded = piece.first + rows.len();
            }
        }
        if cut.limit {
            return Some(Outcome::StateLimit);
        }
        let piece = pieces.get(cut.piece)?;
        let error = piece.error.clone()?;
        // The state with the error has only some of its steps: that there are none says nothing.
        self.statistics.deadlocks -= u64::from(piece.rows[cut.row - 1].steps == 0);
        let state = piece.first + cut.row - 1;
        self.statistics.expanded = state;
        Some(Outcome::Error { error, state: Some(StateId::new(state)) })
    }

    /// The memory that a round of so many states begins with, in bytes: states, table and notes; transitions, with what
    /// they grow to if this round may need it; what threads and pieces work with; and what the model keeps itself.
    fn bytes(&self, batch: usize, pieces: &[Piece]) -> usize {
        let Rows { offsets, edges, origins } = &self.rows;
        let steps = if self.limits.transitions { batch * self.widest } else { 0 };
        let rows = grown(offsets, batch) + grown(edges, steps) + grown(origins, steps);
        let hands: usize = self.hands.iter().map(|hand| lock(hand).bytes()).sum();
        let pieces: usize = pieces.iter().map(Piece::bytes).sum();
        self.store.bytes(self.room_for(batch)) + rows + hands + pieces + self.model.bytes()
    }

    fn finish(mut self, outcome: Outcome) -> Exploration {
        self.store.forget_table();
        let Rows { mut offsets, edges, origins } = self.rows;
        let end = self.store.len().max(1) + 1;
        match edges.is_empty() {
            true => offsets = vec![0; end],
            // States that were not explored have no transitions.
            false => offsets.resize(end, edges.len() as u32),
        }
        let origins = (self.limits.transitions && self.limits.origins).then_some(origins);
        let provenance = self.model.provenance();
        let lts = Lts::from_loose_rows(offsets, edges, origins, self.labels, |a, b| provenance.union(a, b));
        let used_labels: Vec<LabelId> = self.label_numbers.into_iter().flatten().collect();
        let labels = used_labels.len();
        Exploration { lts, outcome, statistics: self.statistics, labels, used_labels, store: self.store }
    }
}

/// The memory of a vector, in bytes, once it has room for so many elements more.
fn grown<T>(elements: &Vec<T>, more: usize) -> usize {
    let fits = elements.capacity() - elements.len() >= more;
    let capacity =
        if fits { elements.capacity() } else { (2 * elements.capacity()).max(elements.len() + more) };
    capacity * size_of::<T>()
}

/// How many different edges a row has. Most rows are short, and looking at pairs is quicker than sorting.
fn count_different(row: &mut Vec<(LabelId, u32)>) -> u32 {
    if row.len() <= 24 {
        // Steps to the same state are rare: a bit for each that may be the same tells nearly always that there are none.
        let (mut seen, mut repeated) = (0u64, 0);
        for (at, step) in row.iter().enumerate() {
            let bit = 1 << (step.1.wrapping_mul(0x9E37_79B9) >> 26);
            if seen & bit != 0 && row[..at].contains(step) {
                repeated += 1;
            }
            seen |= bit;
        }
        return row.len() as u32 - repeated;
    }
    row.sort_unstable();
    row.dedup();
    row.len() as u32
}
