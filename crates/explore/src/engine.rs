//! The exploration itself, in rounds over batches of states.
//!
//! 1. All threads compute the successors of the batch, a few states at a time, into buffers.
//! 2. Each thread takes one shard of the hash table and looks the buffered targets of that shard up.
//! 3. Each buffer's new states are numbered, in the order in which they first turned up: how many the buffers before
//!    it have says where its numbers start.
//! 4. The buffers' steps become transitions.
//!
//! Numbers follow the order of the sources and of each source's steps. Nothing depends on which thread did what, so
//! any number of threads gives the same result. One thread runs the same rounds.

use std::cmp::Ordering;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

use lts::{LabelId, LtsBuilder, OriginId, Progress, StateId};
use model::{Layout, Model, ModelError, PackedWorker};
use rayon::prelude::*;

use crate::store::{Found, NO_NUMBER, Pending, Shard, Store, hash};
use crate::{Exploration, Limits, MOST_STATES, Outcome, Statistics};

/// How many states a thread takes at a time, at least and at most.
const LEAST_PIECE: usize = 16;
const PIECE: usize = 128;
/// How many pieces a thread gets in a round, at most; and how many it should get, if there are few states.
const PIECES_A_THREAD: usize = 32;
const FEW_PIECES: usize = 4;

/// The steps out of a few neighbouring states.
#[derive(Default)]
struct Buffer {
    /// The packed targets, end to end.
    targets: Vec<u32>,
    hashes: Vec<u64>,
    labels: Vec<LabelId>,
    origins: Vec<OriginId>,
    /// How many steps each state has.
    counts: Vec<u32>,
    /// The steps of each shard, where there are several.
    by_shard: Vec<Vec<u32>>,
    /// Labels that were new before this round, in the order in which they turned up.
    new_labels: Vec<LabelId>,
    /// What phase 2 found: a state number, or a pending one with the highest bit set; after phase 4 the number.
    found: Vec<AtomicU32>,
    /// How many different transitions and how many deadlocks there are.
    transitions: u64,
    deadlocks: u64,
    /// What went wrong in the state behind the last one counted.
    error: Option<ModelError>,
}

const NEW: u32 = 1 << 31;

impl Buffer {
    fn clear(&mut self) {
        self.targets.clear();
        self.hashes.clear();
        self.labels.clear();
        self.origins.clear();
        self.counts.clear();
        self.by_shard.iter_mut().for_each(Vec::clear);
        self.new_labels.clear();
        self.error = None;
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

/// A thread's own things.
struct Explorer<'m> {
    worker: Box<dyn PackedWorker + 'm>,
}

pub(crate) fn run(model: &dyn Model, limits: &Limits, progress: &Progress) -> Exploration {
    let threads = if limits.threads == 0 { rayon::current_num_threads() } else { limits.threads };
    let layout = model.layout();
    let mut search = Search {
        model,
        layout,
        limits,
        store: Store::new(layout.words(), threads),
        builder: LtsBuilder::new(),
        label_numbers: Vec::new(),
        piece: PIECE,
        statistics: Statistics { state_bytes: layout.words() * 4, ..Statistics::default() },
    };
    // One of the pool's threads leads the others: it is there when a phase begins, and nobody has to be woken for it.
    let outcome = rayon::scope(|_| search.run(threads, progress));
    search.finish(outcome)
}

struct Search<'m> {
    model: &'m dyn Model,
    layout: &'m Layout,
    limits: &'m Limits,
    store: Store,
    builder: LtsBuilder,
    /// The builder's label for each of the model's, once it was seen.
    label_numbers: Vec<Option<LabelId>>,
    /// How many states a buffer of this round is for.
    piece: usize,
    statistics: Statistics,
}

impl Search<'_> {
    fn run(&mut self, threads: usize, progress: &Progress) -> Outcome {
        let start = Instant::now();
        if let Err(error) = self.add_initial() {
            return Outcome::Error { error, state: None };
        }
        let mut explorers: Vec<Explorer> =
            (0..threads).map(|_| Explorer { worker: self.model.packed_worker() }).collect();
        let mut buffers: Vec<Buffer> = Vec::new();
        let mut next = 0;
        let mut level_end = 1;
        self.statistics.widest_level = 1;
        while next < self.store.len() {
            if progress.is_cancelled() {
                return Outcome::Cancelled;
            }
            if self.limits.time.is_some_and(|limit| start.elapsed() > limit) {
                return Outcome::TimeLimit;
            }
            if self.bytes() > self.limits.bytes {
                return Outcome::MemoryLimit;
            }
            let batch = (self.store.len() - next).min(threads * PIECES_A_THREAD * PIECE);
            self.piece = (batch / (threads * FEW_PIECES)).clamp(LEAST_PIECE, PIECE);
            let pieces = batch.div_ceil(self.piece);
            buffers.resize_with(pieces.max(buffers.len()), Buffer::default);
            self.compute(&mut explorers, &mut buffers[..pieces], next, next + batch);
            self.look_up(&buffers[..pieces]);
            let cut = self.number(&buffers[..pieces], next);
            self.resolve(&mut buffers[..pieces], &cut);
            let ended = self.keep(&buffers[..pieces], next, cut);
            progress.advance(batch as u64);
            if let Some(outcome) = ended {
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
        let hash = hash(&packed);
        let shard = self.store.shard_of(hash);
        let (vectors, shards) = self.store.split();
        shards[shard].find_or_note(hash, &packed, vectors, |_, _| unreachable!("the store is empty"), 0, 0);
        let number = self.store.push(&packed, 0);
        self.store.shards[shard].pending[0].number.store(number, Relaxed);
        Ok(())
    }

    /// Phase 1: the successors of the states from `first` to `end`.
    fn compute(&self, explorers: &mut [Explorer], buffers: &mut [Buffer], first: usize, end: usize) {
        // Pieces are handed out as threads become free; each buffer goes to exactly one of them.
        let queue: Vec<std::sync::Mutex<&mut Buffer>> =
            buffers.iter_mut().map(std::sync::Mutex::new).collect();
        let taken = AtomicUsize::new(0);
        explorers.par_iter_mut().for_each(|explorer| {
            loop {
                let piece = taken.fetch_add(1, Relaxed);
                let Some(buffer) = queue.get(piece) else { break };
                let mut buffer = buffer.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                let start = first + piece * self.piece;
                self.compute_piece(explorer, &mut buffer, start, (start + self.piece).min(end));
            }
        });
    }

    fn compute_piece(&self, explorer: &mut Explorer, buffer: &mut Buffer, first: usize, end: usize) {
        let several = self.store.shards.len() > 1;
        buffer.clear();
        buffer.by_shard.resize_with(self.store.shards.len(), Vec::new);
        for number in first..end {
            let source = self.store.packed(number);
            let before = buffer.labels.len();
            let result = explorer.worker.successors(source, &mut |step| {
                let hash = hash(step.target);
                if several {
                    buffer.by_shard[self.store.shard_of(hash)].push(buffer.hashes.len() as u32);
                }
                buffer.targets.extend_from_slice(step.target);
                buffer.hashes.push(hash);
                buffer.labels.push(step.label);
                let known = self.label_numbers.get(step.label.index()).is_some_and(Option::is_some);
                if !known && !buffer.new_labels.contains(&step.label) {
                    buffer.new_labels.push(step.label);
                }
                if self.limits.origins {
                    buffer.origins.push(step.origin);
                }
            });
            if let Err(error) = result {
                // The steps found before the error are as good as any.
                buffer.counts.push((buffer.labels.len() - before) as u32);
                buffer.error = Some(error);
                break;
            }
            buffer.counts.push((buffer.labels.len() - before) as u32);
        }
        let count = buffer.labels.len();
        buffer.found.resize_with(count.max(buffer.found.len()), AtomicU32::default);
    }

    /// Phase 2: which targets are known, and which are new.
    fn look_up(&mut self, buffers: &[Buffer]) {
        let words = self.layout.words();
        let steps: usize = buffers.iter().map(|buffer| buffer.labels.len()).sum();
        let several = self.store.shards.len() > 1;
        let shift = 64 - self.store.shards.len().trailing_zeros();
        let known = self.store.len();
        let (vectors, shards) = self.store.split();
        let buffered =
            |buffer: u32, index: u32| &buffers[buffer as usize].targets[index as usize * words..][..words];
        shards.par_iter_mut().enumerate().for_each(|(own, shard)| {
            let own_steps = match several {
                true => buffers.iter().map(|buffer| buffer.by_shard[own].len()).sum(),
                false => steps,
            };
            shard.settle();
            let is_own = |hash: u64| !several || (hash >> shift) as usize == own;
            shard.reserve(own_steps, known + steps, vectors, is_own);
            for (number, buffer) in buffers.iter().enumerate() {
                shard.starts.push(shard.pending.len());
                let count = if several { buffer.by_shard[own].len() } else { buffer.hashes.len() };
                let step = |at: usize| if several { buffer.by_shard[own][at] as usize } else { at };
                for at in 0..count {
                    // Look-ups wait for memory most of the time: start those of the next steps now.
                    if at + 16 < count {
                        shard.prefetch_place(buffer.hashes[step(at + 16)]);
                    }
                    if at + 8 < count {
                        shard.prefetch_state(buffer.hashes[step(at + 8)], vectors);
                    }
                    let index = step(at);
                    let state = &buffer.targets[index * words..][..words];
                    let hash = buffer.hashes[index];
                    let found =
                        shard.find_or_note(hash, state, vectors, buffered, number as u32, index as u32);
                    let found = match found {
                        Found::Known(number) => number,
                        Found::Pending(position) => position | NEW,
                    };
                    buffer.found[index].store(found, Relaxed);
                }
            }
            shard.starts.push(shard.pending.len());
        });
    }

    /// Phase 3: numbers what is new, in the order in which it first turned up. Says how far that went.
    fn number(&mut self, buffers: &[Buffer], first: usize) -> Cut {
        let words = self.layout.words();
        let before = self.store.len();
        let most = self.limits.states.min(MOST_STATES);
        let mut cut = Cut { buffer: buffers.len(), row: 0, limit: false };
        // How many states of each buffer get numbers.
        let mut quotas = Vec::with_capacity(buffers.len());
        let mut room = most.saturating_sub(before);
        for (number, buffer) in buffers.iter().enumerate() {
            let new: usize = self.store.shards.iter().map(|shard| shard.new_of(number).len()).sum();
            quotas.push(new.min(room));
            if new > room {
                cut = Cut {
                    buffer: number,
                    row: row_of_new(&self.store.shards, buffer, number, room),
                    limit: true,
                };
                break;
            }
            room -= new;
            if buffer.error.is_some() {
                cut = Cut { buffer: number, row: buffer.counts.len(), limit: false };
                break;
            }
        }
        let piece = self.piece;
        let (rooms, shards) = self.store.grow(&quotas);
        rooms.into_par_iter().zip(buffers).enumerate().for_each(|(number, (room, buffer))| {
            // Where in the buffer we are: a row, and where its steps end.
            let (mut row, mut row_end) = (0, 0);
            let new = new_in_order(shards, number).zip(room.packed.chunks_exact_mut(words)).zip(room.parents);
            for (position, ((pending, packed), parent)) in new.enumerate() {
                let index = pending.index as usize;
                while row_end <= index {
                    row_end += buffer.counts[row] as usize;
                    row += 1;
                }
                packed.copy_from_slice(&buffer.targets[index * words..][..words]);
                *parent = (first + number * piece + row - 1) as u32;
                pending.number.store((room.first + position) as u32, Relaxed);
            }
        });
        for buffer in &buffers[..buffers.len().min(cut.buffer + 1)] {
            for &label in &buffer.new_labels {
                self.label(label);
            }
        }
        cut
    }

    /// Phase 4: every step before the cut gets the number of its target.
    fn resolve(&mut self, buffers: &mut [Buffer], cut: &Cut) {
        let store = &self.store;
        buffers.par_iter_mut().enumerate().for_each(|(number, buffer)| {
            let rows = cut.rows(number, buffer);
            (buffer.transitions, buffer.deadlocks) = (0, 0);
            let mut row: Vec<(LabelId, u32)> = Vec::new();
            let mut step = 0;
            for &count in &buffer.counts[..rows] {
                row.clear();
                for index in step..step + count as usize {
                    let found = buffer.found[index].load(Relaxed);
                    let target = match found & NEW {
                        0 => found,
                        _ => {
                            let shard = store.shard_of(buffer.hashes[index]);
                            let pending = &store.shards[shard].pending[(found & !NEW) as usize];
                            let number = pending.number.load(Relaxed);
                            debug_assert_ne!(number, NO_NUMBER, "all states before the cut have numbers");
                            number
                        }
                    };
                    buffer.found[index].store(target, Relaxed);
                    row.push((buffer.labels[index], target));
                }
                step += count as usize;
                buffer.transitions += count_different(&mut row);
                buffer.deadlocks += u64::from(count == 0);
            }
        });
    }

    /// Keeps the transitions before the cut and says so if that was the end.
    fn keep(&mut self, buffers: &[Buffer], first: usize, cut: Cut) -> Option<Outcome> {
        for (number, buffer) in buffers.iter().enumerate() {
            let rows = cut.rows(number, buffer);
            let start = first + number * self.piece;
            self.statistics.transitions += buffer.transitions;
            self.statistics.deadlocks += buffer.deadlocks;
            self.statistics.expanded = self.statistics.expanded.max(start + rows);
            if !self.limits.transitions {
                continue;
            }
            let mut step = 0;
            for (row, &count) in buffer.counts[..rows].iter().enumerate() {
                let source = StateId::new(start + row);
                for index in step..step + count as usize {
                    let label = self.label(buffer.labels[index]);
                    let target = StateId::from_raw(buffer.found[index].load(Relaxed));
                    match self.limits.origins {
                        true => self.builder.add_with_origin(source, label, target, buffer.origins[index]),
                        false => self.builder.add(source, label, target),
                    }
                }
                step += count as usize;
            }
        }
        if cut.limit {
            return Some(Outcome::StateLimit);
        }
        let error = buffers.get(cut.buffer)?.error.clone()?;
        // The state with the error has only some of its steps.
        let state = first + cut.buffer * self.piece + cut.row - 1;
        self.statistics.expanded = state;
        Some(Outcome::Error { error, state: Some(StateId::new(state)) })
    }

    /// The builder's number of a label: labels are numbered as they first turn up in the order of the states.
    #[inline]
    fn label(&mut self, label: LabelId) -> LabelId {
        match self.label_numbers.get(label.index()) {
            Some(&Some(known)) => known,
            _ => self.new_label(label),
        }
    }

    #[cold]
    fn new_label(&mut self, label: LabelId) -> LabelId {
        let number = self.builder.label(&self.model.label(label));
        if self.label_numbers.len() <= label.index() {
            self.label_numbers.resize(label.index() + 1, None);
        }
        self.label_numbers[label.index()] = Some(number);
        number
    }

    fn bytes(&self) -> usize {
        let a_transition = if self.limits.origins { 16 } else { 12 };
        self.store.bytes() + self.builder.transition_count() * a_transition
    }

    fn finish(mut self, outcome: Outcome) -> Exploration {
        self.statistics.bytes = self.bytes();
        self.store.forget_table();
        self.builder.reserve_states(self.store.len());
        let provenance = self.model.provenance();
        let lts = self.builder.finish_with(|a, b| provenance.union(a, b));
        let lts = lts.expect("states are numbered with 31 bits, and transitions fit in memory");
        let labels = self.label_numbers.iter().flatten().count();
        Exploration { lts, outcome, statistics: self.statistics, labels, store: self.store }
    }
}

/// The new states of a buffer, in the order in which they turned up: every shard's are in that order.
fn new_in_order(shards: &[Shard], buffer: usize) -> impl Iterator<Item = &Pending> {
    let mut next: Vec<&[Pending]> = shards.iter().map(|shard| shard.new_of(buffer)).collect();
    std::iter::from_fn(move || {
        let shard = next.iter_mut().filter(|new| !new.is_empty()).min_by_key(|new| new[0].index)?;
        let (first, rest) = shard.split_first()?;
        *shard = rest;
        Some(first)
    })
}

/// The row, counted from 0, of a buffer's new state with this position.
fn row_of_new(shards: &[Shard], buffer: &Buffer, number: usize, position: usize) -> usize {
    let index = new_in_order(shards, number).nth(position).map_or(0, |pending| pending.index as usize);
    let mut row_end = 0;
    let row = buffer.counts.iter().position(|&count| {
        row_end += count as usize;
        index < row_end
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
