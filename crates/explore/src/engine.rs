//! The exploration itself, in rounds over batches of states.
//!
//! 1. All threads compute the successors of the batch, a few states at a time, into buffers.
//! 2. They look the buffered targets up, in a table that they share; what is new is noted.
//! 3. Of the steps that lead to the same new state, the first one brings it in: each buffer lists its own.
//! 4. Each buffer's new states are numbered: how many the buffers before it have says where its numbers start.
//! 5. Where transitions are kept, the buffers' steps become transitions.
//!
//! Numbers follow the order of the sources and of each source's steps. Nothing depends on which thread did what, so
//! any number of threads gives the same result. One thread runs the same rounds.

use std::cmp::Ordering;
use std::sync::Mutex;
use std::time::Instant;

use lts::{Edge, LabelId, Labels, Lts, OriginId, Progress, StateId};
use model::{Layout, Model, ModelError, PackedWorker};

use crate::store::{Found, NO_NUMBER, Note, Place, Store, hash};
use crate::team::{Team, lock};
use crate::{Exploration, Limits, MOST_STATES, Outcome, Statistics};

/// How many states a thread takes at a time, at least and at most. Each buffer grows for itself, and threads wait for
/// each other where the system hands out memory: better few large ones than many small ones.
const LEAST_PIECE: usize = 16;
const PIECE: usize = 1024;
/// How many states a thread gets in a round, at most: few if it is alone, for the sake of memory and caches, more where
/// threads have to wait for each other between phases.
const BATCH_ALONE: usize = 2048;
const BATCH_OF_SEVERAL: usize = 8192;
/// How many pieces each thread should get, even if there are few states.
const FEW_PIECES: usize = 4;

/// More transitions than this are not kept: few enough for a round more to be named by 32 bits.
const MOST_TRANSITIONS: usize = (u32::MAX - (1 << 28)) as usize;

/// The steps out of a few neighbouring states. Buffers that different threads fill share no cache line.
#[derive(Default)]
#[repr(align(128))]
struct Buffer {
    /// The packed targets, end to end, and their hashes.
    targets: Vec<u32>,
    hashes: Vec<u64>,
    labels: Vec<LabelId>,
    origins: Vec<OriginId>,
    /// How many steps each state has.
    counts: Vec<u32>,
    /// Labels that were new before this round, in the order in which they turned up.
    new_labels: Vec<LabelId>,
    /// What went wrong in the state behind the last one counted.
    error: Option<ModelError>,
}

impl Buffer {
    fn clear(&mut self) {
        self.targets.clear();
        self.hashes.clear();
        self.labels.clear();
        self.origins.clear();
        self.counts.clear();
        self.new_labels.clear();
        self.error = None;
    }

    #[inline]
    fn target(&self, step: usize, words: usize) -> &[u32] {
        &self.targets[step * words..][..words]
    }
}

/// What was found for the steps of a buffer.
#[derive(Default)]
#[repr(align(128))]
struct Finds {
    /// Which of the round's steps the buffer's first one is. Its notes start there, too.
    start: usize,
    /// For each step the number of its target or, marked as new, its note.
    found: Vec<u32>,
    /// The steps that bring in a new state, in order, with their notes.
    new: Vec<(u32, u32)>,
    /// How many different transitions and how many deadlocks there are.
    counts: Counts,
}

#[derive(Clone, Copy, Default)]
struct Counts {
    transitions: u64,
    deadlocks: u64,
}

/// Marks a find as new.
const NEW: u32 = 1 << 31;

impl Finds {
    /// Counts the first rows of the buffer. Equal targets have equal finds, be they known or new.
    fn count(&self, buffer: &Buffer, rows: usize) -> Counts {
        let mut counts = Counts::default();
        let mut row: Vec<(LabelId, u32)> = Vec::new();
        let mut step = 0;
        for &count in &buffer.counts[..rows] {
            let steps = step..step + count as usize;
            step = steps.end;
            row.clear();
            row.extend(buffer.labels[steps.clone()].iter().copied().zip(self.found[steps].iter().copied()));
            counts.transitions += count_different(&mut row);
            counts.deadlocks += u64::from(count == 0);
        }
        counts
    }
}

/// Where a round ends: before a row of a buffer. Behind the last buffer, where nothing ends it early.
struct Cut {
    buffer: usize,
    row: usize,
    /// Whether the limit on states is the reason.
    limit: bool,
}

impl Cut {
    /// How many rows of a buffer lie before the cut.
    fn rows(&self, number: usize, buffer: &Buffer) -> usize {
        match number.cmp(&self.buffer) {
            Ordering::Less => buffer.counts.len(),
            Ordering::Equal => self.row,
            Ordering::Greater => 0,
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
            workers: (0..team.threads()).map(|_| Mutex::new(None)).collect(),
            store: Store::new(layout.words()),
            notes: Vec::new(),
            rows: Rows { offsets: vec![0], edges: Vec::new(), origins: Vec::new() },
            labels: Labels::new(),
            label_numbers: Vec::new(),
            piece: PIECE,
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
    /// Each thread's worker, made by the thread itself.
    workers: Vec<Mutex<Option<Box<dyn PackedWorker + 'm>>>>,
    store: Store,
    /// Room for a note for each step of the round.
    notes: Vec<Note>,
    rows: Rows,
    labels: Labels,
    /// The system's label for each of the model's, once it was seen.
    label_numbers: Vec<Option<LabelId>>,
    /// How many states a buffer of this round is for.
    piece: usize,
    statistics: Statistics,
}

impl Search<'_> {
    fn run(&mut self, progress: &Progress) -> Outcome {
        let start = Instant::now();
        if let Err(error) = self.add_initial() {
            return Outcome::Error { error, state: None };
        }
        let threads = self.team.threads();
        let mut buffers: Vec<Buffer> = Vec::new();
        let mut finds: Vec<Finds> = Vec::new();
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
            if self.bytes() > self.limits.bytes || self.rows.edges.len() > MOST_TRANSITIONS {
                return Outcome::MemoryLimit;
            }
            let batch = (self.store.len() - next).min(most);
            self.piece = (batch / (threads * FEW_PIECES)).clamp(LEAST_PIECE, PIECE);
            let pieces = batch.div_ceil(self.piece);
            buffers.resize_with(pieces.max(buffers.len()), Buffer::default);
            finds.resize_with(pieces.max(finds.len()), Finds::default);
            let (buffers, finds) = (&mut buffers[..pieces], &mut finds[..pieces]);
            self.compute(buffers, next, next + batch);
            self.look_up(buffers, finds);
            self.list_new(finds);
            let cut = self.number(buffers, finds, next);
            self.keep(buffers, finds, &cut);
            progress.advance(batch as u64);
            if let Some(outcome) = self.end(buffers, finds, next, cut) {
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
        self.layout.pack(&initial, &mut packed);
        self.store.add_initial(&packed);
        Ok(())
    }

    /// Phase 1: the successors of the states from `first` to `end`.
    fn compute(&self, buffers: &mut [Buffer], first: usize, end: usize) {
        self.team.each(buffers, |thread, number, buffer| {
            let mut worker = lock(&self.workers[thread]);
            let worker = worker.get_or_insert_with(|| self.model.packed_worker());
            let start = first + number * self.piece;
            self.compute_piece(worker.as_mut(), buffer, start, (start + self.piece).min(end));
        });
    }

    fn compute_piece(&self, worker: &mut dyn PackedWorker, buffer: &mut Buffer, first: usize, end: usize) {
        buffer.clear();
        for number in first..end {
            let before = buffer.labels.len();
            let result = worker.successors(self.store.packed(number), &mut |step| {
                buffer.targets.extend_from_slice(step.target);
                buffer.hashes.push(hash(step.target));
                buffer.labels.push(step.label);
                let known = self.label_numbers.get(step.label.index()).is_some_and(Option::is_some);
                if !known && !buffer.new_labels.contains(&step.label) {
                    buffer.new_labels.push(step.label);
                }
                if self.limits.origins {
                    buffer.origins.push(step.origin);
                }
            });
            // The steps found before an error are as good as any.
            buffer.counts.push((buffer.labels.len() - before) as u32);
            if let Err(error) = result {
                buffer.error = Some(error);
                break;
            }
        }
    }

    /// Phase 2: which targets are known, and which are new.
    fn look_up(&mut self, buffers: &[Buffer], finds: &mut [Finds]) {
        let words = self.layout.words();
        let mut steps = 0;
        for (finds, buffer) in finds.iter_mut().zip(buffers) {
            finds.start = steps;
            steps += buffer.labels.len();
        }
        self.store.reserve(steps, self.team);
        if self.notes.len() < steps {
            self.notes.resize_with(steps, Note::default);
        }
        let look_up = self
            .store
            .look_up(&self.notes, |buffer, step| buffers[buffer as usize].target(step as usize, words));
        self.team.each(finds, |_, number, finds| {
            let buffer = &buffers[number];
            finds.found.clear();
            finds.new.clear();
            let mut free = finds.start as u32;
            for (step, &hash) in buffer.hashes.iter().enumerate() {
                // Look-ups wait for memory most of the time: start those of the next steps now.
                if let Some(&soon) = buffer.hashes.get(step + 16) {
                    look_up.prefetch_place(soon);
                }
                if let Some(&soon) = buffer.hashes.get(step + 8) {
                    look_up.prefetch_state(soon);
                }
                let of_all = (finds.start + step) as u32;
                let place = Place { buffer: number as u32, step: step as u32, of_all };
                let found = look_up.find_or_note(hash, buffer.target(step, words), place, free);
                finds.found.push(match found {
                    Found::Known(number) => number,
                    Found::Noted { note, first } => {
                        free += u32::from(note == free);
                        if first {
                            finds.new.push((step as u32, note));
                        }
                        note | NEW
                    }
                });
            }
            finds.counts = finds.count(buffer, buffer.counts.len());
        });
    }

    /// Phase 3: which steps really bring in a new state.
    fn list_new(&self, finds: &mut [Finds]) {
        if self.team.threads() == 1 {
            // What came first was looked up first.
            return;
        }
        self.team.each(finds, |_, _, finds| {
            let start = finds.start as u32;
            finds.new.retain(|&(step, note)| self.notes[note as usize].is_first(start + step));
        });
    }

    /// Phase 4: numbers what is new, in the order in which it first turned up. Says how far that went.
    fn number(&mut self, buffers: &[Buffer], finds: &[Finds], first: usize) -> Cut {
        let words = self.layout.words();
        let most = self.limits.states.min(MOST_STATES);
        let mut cut = Cut { buffer: buffers.len(), row: 0, limit: false };
        // How many states of each buffer get numbers.
        let mut quotas = Vec::with_capacity(buffers.len());
        let mut room = most.saturating_sub(self.store.len());
        for (number, (buffer, finds)) in buffers.iter().zip(finds).enumerate() {
            let new = finds.new.len();
            quotas.push(new.min(room));
            if new > room {
                cut = Cut { buffer: number, row: row_of(buffer, finds.new[room].0 as usize), limit: true };
                break;
            }
            room -= new;
            if buffer.error.is_some() {
                cut = Cut { buffer: number, row: buffer.counts.len(), limit: false };
                break;
            }
        }
        let (mut rooms, table) = self.store.grow(&quotas);
        self.team.each(&mut rooms, |_, number, room| {
            let (buffer, new) = (&buffers[number], &finds[number].new);
            // Where in the buffer we are: a row, and where its steps end.
            let (mut row, mut row_end) = (0, 0);
            for (position, packed) in room.packed.chunks_exact_mut(words).enumerate() {
                let (step, note) = new[position];
                if let Some(&(_, soon)) = new.get(position + 16) {
                    table.prefetch_note(&self.notes[soon as usize]);
                }
                while row_end <= step as usize {
                    row_end += buffer.counts[row] as usize;
                    row += 1;
                }
                packed.copy_from_slice(buffer.target(step as usize, words));
                room.parents[position] = (first + number * self.piece + row - 1) as u32;
                table.settle(&self.notes[note as usize], (room.first + position) as u32);
            }
        });
        for buffer in &buffers[..buffers.len().min(cut.buffer + 1)] {
            for &label in &buffer.new_labels {
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

    /// Phase 5: the steps before the cut become transitions.
    fn keep(&mut self, buffers: &[Buffer], finds: &[Finds], cut: &Cut) {
        if !self.limits.transitions {
            return;
        }
        let Rows { offsets, edges, origins } = &mut self.rows;
        let before = edges.len();
        let mut ends = Vec::with_capacity(buffers.len());
        let mut end = before;
        for (number, buffer) in buffers.iter().enumerate() {
            for &count in &buffer.counts[..cut.rows(number, buffer)] {
                end += count as usize;
                offsets.push(end as u32);
            }
            ends.push(end);
        }
        edges.resize(end, Edge { label: LabelId::TAU, target: StateId::new(0) });
        let (mut rest, mut start) = (&mut edges[before..], before);
        let mut places = Vec::with_capacity(buffers.len());
        for &end in &ends {
            let (own, others) = rest.split_at_mut(end - start);
            places.push(own);
            (rest, start) = (others, end);
        }
        self.team.each(&mut places, |_, number, edges| {
            let (buffer, finds) = (&buffers[number], &finds[number]);
            for ((edge, label), &found) in edges.iter_mut().zip(&buffer.labels).zip(&finds.found) {
                let target = match found & NEW {
                    0 => found,
                    _ => self.notes[(found & !NEW) as usize].number(),
                };
                debug_assert_ne!(target, NO_NUMBER, "all states before the cut have numbers");
                let label = self.label_numbers[label.index()].unwrap_or(LabelId::TAU);
                *edge = Edge { label, target: StateId::from_raw(target) };
            }
        });
        if self.limits.origins {
            let mut start = before;
            for (&end, buffer) in ends.iter().zip(buffers) {
                origins.extend_from_slice(&buffer.origins[..end - start]);
                start = end;
            }
        }
    }

    /// Counts what lies before the cut and says so if that was the end.
    fn end(&mut self, buffers: &[Buffer], finds: &[Finds], first: usize, cut: Cut) -> Option<Outcome> {
        for (number, (buffer, finds)) in buffers.iter().zip(finds).enumerate() {
            let rows = cut.rows(number, buffer);
            let counts = match rows == buffer.counts.len() {
                true => finds.counts,
                false => finds.count(buffer, rows),
            };
            self.statistics.transitions += counts.transitions;
            self.statistics.deadlocks += counts.deadlocks;
            // Buffers behind the cut have no rows.
            if rows > 0 {
                self.statistics.expanded = first + number * self.piece + rows;
            }
        }
        if cut.limit {
            return Some(Outcome::StateLimit);
        }
        let error = buffers.get(cut.buffer)?.error.clone()?;
        // The state with the error has only some of its steps: that there are none says nothing.
        let state = first + cut.buffer * self.piece + cut.row - 1;
        self.statistics.deadlocks -= u64::from(buffers[cut.buffer].counts[cut.row - 1] == 0);
        self.statistics.expanded = state;
        Some(Outcome::Error { error, state: Some(StateId::new(state)) })
    }

    fn bytes(&self) -> usize {
        let Rows { offsets, edges, origins } = &self.rows;
        self.store.bytes() + offsets.len() * 4 + edges.len() * size_of::<Edge>() + origins.len() * 4
    }

    fn finish(mut self, outcome: Outcome) -> Exploration {
        self.statistics.bytes = self.bytes();
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
        let labels = self.label_numbers.iter().flatten().count();
        Exploration { lts, outcome, statistics: self.statistics, labels, store: self.store }
    }
}

/// The row, counted from 0, of a buffer's step.
fn row_of(buffer: &Buffer, step: usize) -> usize {
    let mut row_end = 0;
    let row = buffer.counts.iter().position(|&count| {
        row_end += count as usize;
        step < row_end
    });
    row.unwrap_or(0)
}

/// How many different edges a row has. Most rows are short, and looking at all pairs is quicker than sorting.
fn count_different(row: &mut Vec<(LabelId, u32)>) -> u64 {
    if row.len() <= 24 {
        let repeated = (1..row.len()).filter(|&at| row[..at].contains(&row[at])).count();
        return (row.len() - repeated) as u64;
    }
    row.sort_unstable();
    row.dedup();
    row.len() as u64
}
