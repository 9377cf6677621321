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
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

use lts::{LabelId, LtsBuilder, OriginId, Progress, StateId};
use model::{Layout, Model, ModelError, PackedWorker};
use rayon::prelude::*;

use crate::store::{Found, NO_NUMBER, Pending, Shard, Store, Target, hash};
use crate::{Exploration, Limits, MOST_STATES, Outcome, Statistics};

/// How many states a thread takes at a time, at least and at most.
const LEAST_PIECE: usize = 16;
const PIECE: usize = 128;
/// How many states a thread gets in a round, at most: few if it is alone, for the sake of memory and caches, more where
/// threads have to wait for each other between phases.
const BATCH_ALONE: usize = 2048;
const BATCH_OF_SEVERAL: usize = 8192;
/// How many pieces each thread should get, even if there are few states.
const FEW_PIECES: usize = 4;

/// The steps out of a few neighbouring states. Buffers that different threads fill share no cache line.
#[derive(Default)]
#[repr(align(128))]
struct Buffer {
    /// The targets, by the shard that they belong to.
    lots: Vec<Lot>,
    /// The shard of each step's target, where there are several.
    owners: Vec<u16>,
    labels: Vec<LabelId>,
    origins: Vec<OriginId>,
    /// How many steps each state has.
    counts: Vec<u32>,
    /// Labels that were new before this round, in the order in which they turned up.
    new_labels: Vec<LabelId>,
    /// After phase 4 the number of each step's target, where transitions are kept.
    resolved: Vec<u32>,
    /// How many different transitions and how many deadlocks there are.
    transitions: u64,
    deadlocks: u64,
    /// What went wrong in the state behind the last one counted.
    error: Option<ModelError>,
}

/// Targets of steps that belong to the same shard.
#[derive(Default)]
struct Lot {
    /// The packed targets, end to end.
    targets: Vec<u32>,
    hashes: Vec<u64>,
    /// Which step each is of; where there is one shard only, they simply follow each other.
    steps: Vec<u32>,
}

impl Lot {
    #[inline]
    fn target(&self, index: usize, words: usize) -> &[u32] {
        &self.targets[index * words..][..words]
    }

    #[inline]
    fn step(&self, index: usize) -> u32 {
        self.steps.get(index).copied().unwrap_or(index as u32)
    }
}

/// Marks what phase 2 found as new: the position among the new states of its shard.
const NEW: u32 = 1 << 31;

impl Buffer {
    fn clear(&mut self) {
        for lot in &mut self.lots {
            lot.targets.clear();
            lot.hashes.clear();
            lot.steps.clear();
        }
        self.owners.clear();
        self.resolved.clear();
        self.labels.clear();
        self.origins.clear();
        self.counts.clear();
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
        let most = if threads == 1 { BATCH_ALONE } else { threads * BATCH_OF_SEVERAL };
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
            let batch = (self.store.len() - next).min(most);
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
        let target = Target { buffer: 0, index: 0, step: 0 };
        shards[shard].find_or_note(hash, &packed, vectors, |_, _| unreachable!("the store is empty"), target);
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
        buffer.lots.resize_with(self.store.shards.len(), Lot::default);
        for number in first..end {
            let source = self.store.packed(number);
            let before = buffer.labels.len();
            let result = explorer.worker.successors(source, &mut |step| {
                let hash = hash(step.target);
                let owner = self.store.shard_of(hash);
                let lot = &mut buffer.lots[owner];
                if several {
                    lot.steps.push(buffer.labels.len() as u32);
                    buffer.owners.push(owner as u16);
                }
                lot.targets.extend_from_slice(step.target);
                lot.hashes.push(hash);
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
    }

    /// Phase 2: which targets are known, and which are new.
    fn look_up(&mut self, buffers: &[Buffer]) {
        let words = self.layout.words();
        let steps: usize = buffers.iter().map(|buffer| buffer.labels.len()).sum();
        let several = self.store.shards.len() > 1;
        let shift = 64 - self.store.shards.len().trailing_zeros();
        let known = self.store.len();
        let (vectors, shards) = self.store.split();
        shards.par_iter_mut().enumerate().for_each(|(own, shard)| {
            let own_steps = buffers.iter().map(|buffer| buffer.lots[own].hashes.len()).sum();
            let is_own = |hash: u64| !several || (hash >> shift) as usize == own;
            let buffered =
                |buffer: u32, index: u32| buffers[buffer as usize].lots[own].target(index as usize, words);
            shard.settle();
            shard.reserve(own_steps, known + steps, vectors, is_own);
            for (number, buffer) in buffers.iter().enumerate() {
                shard.start_buffer();
                let lot = &buffer.lots[own];
                for (index, &hash) in lot.hashes.iter().enumerate() {
                    // Look-ups wait for memory most of the time: start those of the next steps now.
                    if let Some(&soon) = lot.hashes.get(index + 16) {
                        shard.prefetch_place(soon);
                    }
                    if let Some(&soon) = lot.hashes.get(index + 8) {
                        shard.prefetch_state(soon, vectors);
                    }
                    let target = Target { buffer: number as u32, index: index as u32, step: lot.step(index) };
                    let found = shard.find_or_note(hash, lot.target(index, words), vectors, buffered, target);
                    shard.found.push(match found {
                        Found::Known(number) => number,
                        Found::Pending(position) => position | NEW,
                    });
                }
            }
            shard.start_buffer();
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
            for (position, (((lot, pending), packed), parent)) in new.enumerate() {
                let step = pending.target.step as usize;
                while row_end <= step {
                    row_end += buffer.counts[row] as usize;
                    row += 1;
                }
                packed.copy_from_slice(buffer.lots[lot].target(pending.target.index as usize, words));
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
        let shards = &self.store.shards;
        let several = shards.len() > 1;
        let keeps = self.limits.transitions;
        buffers.par_iter_mut().enumerate().for_each(|(number, buffer)| {
            let rows = cut.rows(number, buffer);
            (buffer.transitions, buffer.deadlocks) = (0, 0);
            let mut row: Vec<(LabelId, u32)> = Vec::new();
            let mut step = 0;
            let mut found: Vec<&[u32]> = shards.iter().map(|shard| shard.found_of(number)).collect();
            for &count in &buffer.counts[..rows] {
                row.clear();
                for index in step..step + count as usize {
                    let owner = if several { buffer.owners[index] as usize } else { 0 };
                    let Some((&first, rest)) = found[owner].split_first() else { break };
                    found[owner] = rest;
                    let target = match first & NEW {
                        0 => first,
                        _ => shards[owner].pending[(first & !NEW) as usize].number.load(Relaxed),
                    };
                    debug_assert_ne!(target, NO_NUMBER, "all states before the cut have numbers");
                    row.push((buffer.labels[index], target));
                }
                if keeps {
                    buffer.resolved.extend(row.iter().map(|edge| edge.1));
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
                    let target = StateId::from_raw(buffer.resolved[index]);
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

/// The new states of a buffer with their shards, in the order in which they turned up: every shard's are in that order.
fn new_in_order(shards: &[Shard], buffer: usize) -> impl Iterator<Item = (usize, &Pending)> {
    let mut next: Vec<&[Pending]> = shards.iter().map(|shard| shard.new_of(buffer)).collect();
    std::iter::from_fn(move || {
        let waiting = next.iter_mut().enumerate().filter(|(_, new)| !new.is_empty());
        let (shard, new) = waiting.min_by_key(|(_, new)| new[0].target.step)?;
        let (first, rest) = new.split_first()?;
        *new = rest;
        Some((shard, first))
    })
}

/// The row, counted from 0, of a buffer's new state with this position.
fn row_of_new(shards: &[Shard], buffer: &Buffer, number: usize, position: usize) -> usize {
    let index = new_in_order(shards, number).nth(position).map_or(0, |(_, new)| new.target.step as usize);
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
