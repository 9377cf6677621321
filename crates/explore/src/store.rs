//! The set of seen states: packed vectors in order of discovery, found through a hash table that all threads share.
//!
//! Beyond the packed vector a state costs its parent (4 bytes) and an entry (4 bytes) in a table that is between
//! three sevenths and three quarters full, once it is large: 9 to 14 bytes. An entry is a state number and, in the bits
//! that numbers do not need yet, a part of the hash: nearly all probes that look at a state find it.
//!
//! Threads look states up and note new ones at the same time, without locks: an entry is put into a free place by
//! compare-and-swap and never taken away. What a note says, the vector included, is written before its entry is put
//! there. Of several steps that lead to the same new state, the note keeps the first; so numbers do not depend on who
//! was quicker. At the end of the round new states get their numbers and move to the others.
//!
//! States lie in segments. The system hands out memory when it is touched first, which takes longer than writing it:
//! segments and tables are new memory that the threads touch side by side.
//!
//! What segments that are full hold never changes, so it can move to disk. Parents go first, because hardly anybody asks
//! for them, then vectors, the oldest first: breadth first, steps lead to neighbouring levels, or to a few states such as
//! the first one, which the system then keeps in memory. Where an entry leaves it open whether a state is the right one, a probe would read
//! a random one from disk, as often as its part of the hash is short: a state whose vector lies there leaves another byte
//! of its hash behind, its *mark*.

use std::io;
use std::ops::Range;
use std::sync::atomic::{
    AtomicU32, AtomicU64, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};

use crate::disk::{Disk, will_need};
use crate::huge::{hand_out, prefer_large_pages, zeros};
use crate::team::Team;
use crate::words::Words;
use model::prefetch;

/// How many states a segment is for: few in tests, so that small systems have many.
const OF_SEGMENT: usize = if cfg!(test) { 1 << 6 } else { 1 << 18 };
/// From how many states on large pages are asked for: smaller systems would only take more time and memory.
const LARGE_PAGES_FROM: usize = if cfg!(test) { OF_SEGMENT / 2 } else { 1 << 13 };
/// How many bits of an entry a number may take, and how many numbers that is: a free place and none need one each.
const MOST_BITS: u32 = 31;
const MOST_NUMBERS: usize = (1 << MOST_BITS) - 2;
/// A table with fewer places becomes four times as large when it is full: what that takes hardly counts.
const SMALL: usize = 1 << 18;
/// How many places a new table has.
const FIRST_PLACES: usize = 1 << 10;
/// A table with at most so many places is handed out by the system at once; the threads touch a larger one side by side.
const AT_ONCE: usize = 1 << 20;
/// For so many states memory is handed out ahead of them, at least and at most: an eighth of those that there are.
const LEAST_AHEAD: usize = if cfg!(test) { 8 } else { 1 << 12 };
const MOST_AHEAD: usize = 1 << 15;
/// How many states a growing table takes at a time.
const BLOCK: usize = 64;

/// The seen states.
pub(crate) struct Store {
    states: States,
    table: Table,
    notes: Notes,
}

/// The numbered states.
struct States {
    words: usize,
    count: usize,
    segments: Vec<Segment>,
    /// For so many states there is memory that the system has handed out.
    handed_out: usize,
    /// The states before this one have their vectors on disk: those of whole segments.
    vectors_on_disk: usize,
    parents_on_disk: usize,
    /// Whether that may become more.
    may_move: bool,
}

struct Segment {
    /// The packed vectors, end to end.
    packed: Words,
    parents: Words,
    /// The marks of states whose vectors are on disk.
    marks: Vec<u8>,
}

/// Where states are found by their hashes.
pub(crate) struct Table {
    /// 0 for a free place, else a state number plus 1 in the lowest `bits` bits and a part of the hash above them. A
    /// number that no state has yet is that of a note, counted from the number of states.
    entries: Box<[AtomicU32]>,
    bits: u32,
}

/// The states found new in this round.
#[derive(Default)]
pub(crate) struct Notes {
    notes: Vec<Note>,
    /// Their vectors, end to end.
    vectors: Vec<AtomicU32>,
    /// How many there may be in this round, and how many of them are taken.
    room: usize,
    taken: AtomicUsize,
}

/// A state found new in this round.
#[derive(Default)]
struct Note {
    /// The first of the round's steps that leads to it.
    first: AtomicU64,
    /// Where its entry is.
    place: AtomicU32,
    /// Its number, once it has one.
    number: AtomicU32,
}

/// A step, in order: by its source and by how many steps of the source come before.
#[derive(Clone, Copy)]
pub(crate) struct StepKey(u64);

impl StepKey {
    pub fn new(source: usize, step: u32) -> Self {
        Self((source as u64) << 32 | u64::from(step))
    }

    fn source(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

/// What was found for a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// The state with this number.
    Known(u32),
    /// A state that is new in this round, by its note. `first` unless it is known that another step comes before.
    Noted { note: u32, first: bool },
}

/// The number of a state that has none.
pub(crate) const NO_NUMBER: u32 = u32::MAX;

/// The place for new states of one piece.
pub(crate) struct Room<'a> {
    pub piece: usize,
    /// Which of the piece's states the first one is, and its number.
    pub position: usize,
    pub first: usize,
    pub packed: &'a mut [u32],
    pub parents: &'a mut [u32],
}

impl Store {
    /// An empty store for packed states of `words` words, which may move to disk or not.
    pub fn new(words: usize, may_move: bool) -> Self {
        let table = Table { entries: zeros(FIRST_PLACES), bits: 12 };
        let states = States {
            words,
            count: 0,
            segments: Vec::new(),
            handed_out: 0,
            vectors_on_disk: 0,
            parents_on_disk: 0,
            may_move,
        };
        Self { states, table, notes: Notes::default() }
    }

    pub fn len(&self) -> usize {
        self.states.count
    }

    pub fn packed(&self, number: usize) -> &[u32] {
        self.states.packed(number)
    }

    pub fn parent(&self, number: usize) -> usize {
        let (segment, inside) = self.states.place(number);
        segment.parents[inside] as usize
    }

    /// Adds the initial state.
    pub fn add_initial(&mut self, packed: &[u32]) {
        let (mut rooms, _) = self.grow(&[1]);
        rooms[0].packed.copy_from_slice(packed);
        self.table.put(hash(packed), 0);
    }

    /// Begins a round, with room for at least so many notes. Gives whether there are numbers for as many.
    pub fn begin_round(&mut self, room: usize, team: &Team<'_>) -> bool {
        (self.notes.taken, self.notes.room) = (AtomicUsize::new(0), 0);
        // What was not enough once would not be again.
        self.make_room(room.max(self.notes.notes.len()), &mut [], team)
    }

    /// Makes room for so many notes more, beside those in `used`. Gives whether there are numbers for as many.
    pub fn make_room(&mut self, more: usize, used: &mut [Range<u32>], team: &Team<'_>) -> bool {
        let Self { states, table, notes } = self;
        if states.count + notes.room + more > MOST_NUMBERS {
            return false;
        }
        notes.room += more;
        if notes.notes.len() < notes.room {
            notes.notes.resize_with(notes.room, Note::default);
            notes.vectors.resize_with(notes.room * states.words, AtomicU32::default);
        }
        let greatest = states.count + notes.room;
        let wide_enough = greatest + 2 <= 1 << table.bits;
        let places = table.places_for(greatest);
        if places == table.entries.len() && wide_enough {
            return true;
        }
        if !wide_enough {
            // Room for twice the numbers, so that this is not needed again soon.
            table.bits = (usize::BITS - (greatest + 2).leading_zeros() + 1).min(MOST_BITS);
        }
        // The old table goes before there is a new one: all that it knows is in the vectors.
        table.entries = Box::default();
        table.entries = zeros(places);
        if states.count >= LARGE_PAGES_FROM {
            prefer_large_pages(&table.entries);
        }
        if places <= AT_ONCE {
            hand_out(&table.entries);
        }
        table.fill(states, team);
        team.each(used, |_, _, used| table.fill_noted(notes, states, used.clone()));
        true
    }

    /// Makes room for so many states of each piece; the numbers of each follow those of the one before.
    pub fn grow(&mut self, counts: &[usize]) -> (Vec<Room<'_>>, Settle<'_>) {
        let States { words, count: states, segments, handed_out, may_move, .. } = &mut self.states;
        let zeros = if *may_move { Words::zeros_that_move } else { Words::zeros };
        let new_segment = |large| Segment::new(*words, large, zeros);
        let all = *states + counts.iter().sum::<usize>();
        if let [first] = &mut segments[..]
            && *states < LARGE_PAGES_FROM
            && all >= LARGE_PAGES_FROM
        {
            let mut large = new_segment(true);
            large.packed.writable()[..*states * *words].copy_from_slice(&first.packed[..*states * *words]);
            large.parents.writable()[..*states].copy_from_slice(&first.parents[..*states]);
            *first = large;
            *handed_out = *states;
        }
        while segments.len() < all.div_ceil(OF_SEGMENT) {
            segments.push(new_segment(all >= LARGE_PAGES_FROM));
        }
        if all > *handed_out {
            let end = all + (all / 8).clamp(LEAST_AHEAD, MOST_AHEAD);
            for (segment, first) in
                segments.iter().zip((0..).step_by(OF_SEGMENT)).skip(*handed_out / OF_SEGMENT)
            {
                let inside = handed_out.saturating_sub(first)..(end - first).min(OF_SEGMENT);
                hand_out(&segment.packed[inside.start * *words..inside.end * *words]);
                hand_out(&segment.parents[inside]);
            }
            *handed_out = end.min(segments.len() * OF_SEGMENT);
        }
        let mut segments = segments[*states / OF_SEGMENT..].iter_mut();
        let mut inside = *states % OF_SEGMENT;
        let mut rooms = Vec::with_capacity(counts.len() + 1);
        let (mut packed, mut parents): (&mut [u32], &mut [u32]) = (&mut [], &mut []);
        for (piece, &count) in counts.iter().enumerate() {
            let mut position = 0;
            while position < count {
                if parents.is_empty() {
                    let Some(segment) = segments.next() else { break };
                    (packed, parents) = (
                        &mut segment.packed.writable()[inside * *words..],
                        &mut segment.parents.writable()[inside..],
                    );
                    inside = 0;
                }
                let here = parents.len().min(count - position);
                let (own_packed, own_parents);
                (own_packed, packed) = packed.split_at_mut(here * *words);
                (own_parents, parents) = parents.split_at_mut(here);
                rooms.push(Room {
                    piece,
                    position,
                    first: *states,
                    packed: own_packed,
                    parents: own_parents,
                });
                position += here;
                *states += here;
            }
        }
        (rooms, Settle { table: &self.table, notes: &self.notes })
    }

    /// For looking states up.
    pub fn look_up(&self) -> LookUp<'_> {
        LookUp { table: &self.table, states: &self.states, notes: &self.notes }
    }

    pub fn notes(&self) -> &Notes {
        &self.notes
    }

    /// Gives the memory of the table and the notes back, once nobody looks for states any more.
    pub fn forget_table(&mut self) {
        self.table.entries = Box::default();
        self.notes = Notes::default();
    }

    /// The memory that a round with room for so many notes begins with, in bytes: all states, the table and the notes,
    /// each as large as it then is. A table that grows takes the place of the one before, so there are never two.
    pub fn bytes(&self, room: usize) -> usize {
        let Self { states, table, notes } = self;
        let of_state = (states.words + 1) * 4;
        let of_note = size_of::<Note>() + states.words * 4;
        let room = room.max(notes.notes.capacity());
        let places = table.places_for((states.count + room).min(MOST_NUMBERS));
        let in_memory = (states.count + room).max(states.handed_out);
        in_memory * of_state - states.bytes_moved() + places * 4 + room * of_note
    }

    /// How many bytes of states lie on disk.
    pub fn disk_bytes(&self) -> usize {
        self.states.bytes_on_disk()
    }

    /// Moves states to disk, so that so many bytes of memory are free, and as many as `more` beside them if there are;
    /// none if it would not be enough.
    pub fn move_to(&mut self, disk: &Disk, bytes: usize, more: usize) -> io::Result<()> {
        self.states.move_to(disk, bytes, more)
    }

    /// Says that the vectors of these states will be read, and those of their neighbours soon.
    pub fn will_need(&self, numbers: Range<usize>) {
        let (first, last) = (numbers.start / OF_SEGMENT, numbers.end / OF_SEGMENT);
        if first != last {
            self.states.will_need(last + 1);
        }
    }
}

impl States {
    /// The segment of a state, and where it is in there.
    #[inline]
    fn place(&self, number: usize) -> (&Segment, usize) {
        (&self.segments[number / OF_SEGMENT], number % OF_SEGMENT)
    }

    #[inline]
    fn packed(&self, number: usize) -> &[u32] {
        self.packed_of::<0>(number)
    }

    /// The packed vector of a state, which has so many words; 0 where that is not known beforehand.
    #[inline(always)]
    fn packed_of<const WORDS: usize>(&self, number: usize) -> &[u32] {
        let words = known_or::<WORDS>(self.words);
        let (segment, inside) = self.place(number);
        &segment.packed[inside * words..][..words]
    }

    /// Whether a state may have this hash. Reads nothing from disk.
    #[inline]
    fn may_have(&self, number: usize, hash: u64) -> bool {
        number >= self.vectors_on_disk || {
            let (segment, inside) = self.place(number);
            segment.marks[inside] == mark(hash)
        }
    }

    /// What moving the parents and the vectors of a segment to disk frees.
    fn freed_by(&self) -> (usize, usize) {
        (4 * OF_SEGMENT, (self.words * 4).saturating_sub(1) * OF_SEGMENT)
    }

    fn bytes_on_disk(&self) -> usize {
        self.parents_on_disk * 4 + self.vectors_on_disk * self.words * 4
    }

    /// What is on disk, without the marks that are in memory instead.
    fn bytes_moved(&self) -> usize {
        self.bytes_on_disk() - self.vectors_on_disk
    }

    fn move_to(&mut self, disk: &Disk, bytes: usize, more: usize) -> io::Result<()> {
        // Nobody writes to these any more.
        let full = self.count / OF_SEGMENT;
        let (of_parents, of_vectors) = self.freed_by();
        let (parents, vectors) = (self.parents_on_disk / OF_SEGMENT, self.vectors_on_disk / OF_SEGMENT);
        if (full - parents) * of_parents + (full - vectors) * of_vectors < bytes {
            return Ok(());
        }
        let wanted = bytes + more;
        let parents = parents..full.min(parents + wanted.div_ceil(of_parents));
        let rest = wanted.saturating_sub(parents.len() * of_parents);
        let vectors = vectors..full.min(vectors + rest.div_ceil(of_vectors.max(1)));
        let parts: Vec<&[u32]> = (self.segments[parents.clone()].iter().map(|segment| &segment.parents[..]))
            .chain(self.segments[vectors.clone()].iter().map(|segment| &segment.packed[..]))
            .collect();
        let mut moved = disk.add(&parts)?.into_iter();
        for (segment, words) in self.segments[parents.clone()].iter_mut().zip(&mut moved) {
            segment.parents = words;
        }
        for (segment, words) in self.segments[vectors.clone()].iter_mut().zip(moved) {
            segment.marks = segment.packed.chunks_exact(self.words).map(|state| mark(hash(state))).collect();
            segment.packed = words;
        }
        (self.parents_on_disk, self.vectors_on_disk) = (parents.end * OF_SEGMENT, vectors.end * OF_SEGMENT);
        Ok(())
    }

    /// Says that the vectors of a segment will be read soon, if they are on disk.
    fn will_need(&self, segment: usize) {
        if segment < self.vectors_on_disk / OF_SEGMENT {
            will_need(&self.segments[segment].packed);
        }
    }
}

impl Segment {
    fn new(words: usize, large: bool, zeros: fn(usize) -> Words) -> Self {
        let (packed, parents) = (zeros(words * OF_SEGMENT), zeros(OF_SEGMENT));
        let segment = Self { packed, parents, marks: Vec::new() };
        if large {
            prefer_large_pages(&segment.packed);
        }
        segment
    }
}

impl Table {
    /// The part of a hash that entries hold: its lowest bits, which the place does not depend on.
    #[inline]
    fn tag(&self, hash: u64) -> u32 {
        (hash as u32).checked_shl(self.bits).unwrap_or(0)
    }

    /// The bits of an entry that hold a number.
    #[inline]
    fn numbers(&self) -> u32 {
        (1 << self.bits) - 1
    }

    #[inline]
    fn next(&self, place: usize) -> usize {
        if place + 1 == self.entries.len() { 0 } else { place + 1 }
    }

    /// The first place to look for a state: from the higher bits of its hash.
    #[inline]
    fn place_of(&self, hash: u64) -> usize {
        ((u128::from(hash) * self.entries.len() as u128) >> 64) as usize
    }

    /// How many places there should be for so many numbers; those that there are, if they are enough.
    fn places_for(&self, numbers: usize) -> usize {
        let needed = numbers * 4 / 3 + 1;
        match self.entries.len() {
            places if needed <= places => places,
            places if places < SMALL => needed.max(places * 4),
            places => needed.max(places * 7 / 4),
        }
    }

    /// Puts all states into an empty table.
    fn fill(&self, states: &States, team: &Team<'_>) {
        let blocks = states.count.div_ceil(BLOCK);
        let parts = team.threads() * 4;
        let border = |part: usize| (blocks * part / parts * BLOCK).min(states.count);
        let mut ranges: Vec<Range<usize>> = (0..parts).map(|part| border(part)..border(part + 1)).collect();
        team.each(&mut ranges, |_, _, range| {
            // The places of a few states are asked for together.
            let mut hashes = [0; BLOCK];
            states.will_need(range.start / OF_SEGMENT);
            let mut segment = usize::MAX;
            for first in range.clone().step_by(BLOCK) {
                if first / OF_SEGMENT != segment {
                    segment = first / OF_SEGMENT;
                    states.will_need(segment + 1);
                }
                let block = first..range.end.min(first + BLOCK);
                for (number, hash_of) in block.clone().zip(&mut hashes) {
                    *hash_of = hash(states.packed(number));
                    self.prefetch(*hash_of);
                }
                for (number, &hash) in block.zip(&hashes) {
                    self.put(hash, number as u32);
                }
            }
        });
    }

    /// Puts the states of some notes into a table that has all others.
    fn fill_noted(&self, notes: &Notes, states: &States, used: Range<u32>) {
        let mut state = vec![0; states.words];
        for note in used {
            notes.copy(note, &mut state);
            let place = self.put(hash(&state), states.count as u32 + note);
            notes.notes[note as usize].place.store(place as u32, Relaxed);
        }
    }

    /// Puts a state that is not there into the first free place for its hash.
    fn put(&self, hash: u64, number: u32) -> usize {
        let entry = self.tag(hash) | (number + 1);
        let mut place = self.place_of(hash);
        while self.entries[place].load(Relaxed) != 0
            || self.entries[place].compare_exchange(0, entry, Relaxed, Relaxed).is_err()
        {
            place = self.next(place);
        }
        place
    }

    /// Asks for the place of a hash.
    #[inline]
    fn prefetch(&self, hash: u64) {
        self.prefetch_at(self.place_of(hash));
    }

    #[inline]
    fn prefetch_at(&self, place: usize) {
        prefetch(&self.entries, place);
    }
}

impl Notes {
    /// The source of the first step that leads to the state of a note. Only right once all steps were looked up.
    pub fn source(&self, note: u32) -> usize {
        StepKey(self.notes[note as usize].first.load(Relaxed)).source() as usize
    }

    pub fn number(&self, note: u32) -> u32 {
        self.notes[note as usize].number.load(Relaxed)
    }

    #[inline]
    fn vector(&self, note: u32, words: usize) -> &[AtomicU32] {
        &self.vectors[note as usize * words..][..words]
    }

    fn copy(&self, note: u32, state: &mut [u32]) {
        let vector = self.vector(note, state.len());
        for (to, from) in state.iter_mut().zip(vector) {
            *to = from.load(Relaxed);
        }
    }
}

/// What giving numbers to new states needs.
pub(crate) struct Settle<'a> {
    table: &'a Table,
    notes: &'a Notes,
}

impl Settle<'_> {
    /// Gives the state of a note its number and copies its vector. Returns its parent.
    #[inline]
    pub fn settle(&self, note: u32, number: u32, state: &mut [u32]) -> u32 {
        self.notes.copy(note, state);
        let note = &self.notes.notes[note as usize];
        let place = &self.table.entries[note.place.load(Relaxed) as usize];
        place.store((place.load(Relaxed) & !self.table.numbers()) | (number + 1), Relaxed);
        note.number.store(number, Relaxed);
        StepKey(note.first.load(Relaxed)).source()
    }

    /// Asks for the place of a note's entry, so that it is in the cache when it is settled.
    #[inline]
    pub fn prefetch(&self, note: u32) {
        self.table.prefetch_at(self.notes.notes[note as usize].place.load(Relaxed) as usize);
    }
}

/// What looking states up needs.
pub(crate) struct LookUp<'a> {
    table: &'a Table,
    states: &'a States,
    notes: &'a Notes,
}

impl LookUp<'_> {
    /// Takes so many notes, if there are as many.
    pub fn take_notes(&self, count: usize) -> Option<Range<u32>> {
        let Notes { room, taken, .. } = self.notes;
        let more = |taken: usize| taken.checked_add(count).filter(|taken| taken <= room);
        let first = taken.fetch_update(Relaxed, Relaxed, more).ok()?;
        Some(first as u32..(first + count) as u32)
    }

    /// Looks for the target of a step. If it is new, the note `free`, which nobody else may use, is taken for it. States
    /// have `WORDS` words, which makes comparing and copying them quicker; 0 stands for any number.
    #[inline(always)]
    pub fn find_or_note<const WORDS: usize>(
        &self,
        hash: u64,
        state: &[u32],
        step: StepKey,
        free: u32,
    ) -> Found {
        let table = self.table;
        let words = known_or::<WORDS>(state.len());
        let state = &state[..words];
        let numbered = self.states.count as u32;
        let (tag, numbers) = (table.tag(hash), table.numbers());
        let mut place = table.place_of(hash);
        loop {
            let at = &table.entries[place];
            let entry = at.load(Acquire);
            if entry == 0 {
                let note = &self.notes.notes[free as usize];
                note.first.store(step.0, Relaxed);
                note.place.store(place as u32, Relaxed);
                note.number.store(NO_NUMBER, Relaxed);
                for (to, &from) in self.notes.vector(free, words).iter().zip(state) {
                    to.store(from, Relaxed);
                }
                let noted = tag | (numbered + free + 1);
                if at.compare_exchange(0, noted, Release, Relaxed).is_ok() {
                    return Found::Noted { note: free, first: true };
                }
                // Somebody was quicker: what is there now may be the same state.
                continue;
            }
            if entry & !numbers == tag {
                let number = (entry & numbers) - 1;
                if number < numbered {
                    if self.states.may_have(number as usize, hash)
                        && same(self.states.packed_of::<WORDS>(number as usize), state)
                    {
                        return Found::Known(number);
                    }
                } else {
                    let note = number - numbered;
                    let noted = self.notes.vector(note, words);
                    if noted.iter().zip(state).all(|(noted, word)| noted.load(Relaxed) == *word) {
                        // Most of the time another step of the same thread came first.
                        let known = &self.notes.notes[note as usize].first;
                        let first = step.0 < known.load(Relaxed) && step.0 < known.fetch_min(step.0, Relaxed);
                        return Found::Noted { note, first };
                    }
                }
            }
            place = table.next(place);
        }
    }

    /// Asks for the place of a hash.
    #[inline]
    pub fn prefetch_place(&self, hash: u64) {
        self.table.prefetch(hash);
    }

    /// Asks for the state that probably lies at the place of a hash.
    #[inline]
    pub fn prefetch_state(&self, hash: u64) {
        let entry = self.table.entries[self.table.place_of(hash)].load(Relaxed);
        let number = (entry & self.table.numbers()).wrapping_sub(1) as usize;
        let states = self.states;
        if let Some(segment) = states.segments.get(number / OF_SEGMENT) {
            let inside = number % OF_SEGMENT;
            if number < states.vectors_on_disk {
                prefetch(&segment.marks, inside);
            }
            prefetch(&segment.packed, inside * states.words);
        }
    }
}

/// A number of words that is known when the program is compiled, or else the given one.
#[inline(always)]
pub(crate) fn known_or<const WORDS: usize>(words: usize) -> usize {
    if WORDS == 0 { words } else { WORDS }
}

/// Whether two packed states are equal: they are too short for a call of `memcmp` to pay.
#[inline]
fn same(a: &[u32], b: &[u32]) -> bool {
    a.iter().zip(b).all(|(a, b)| a == b)
}

/// Hashes a packed state: a multiplication folded onto itself for every two words.
#[inline]
pub(crate) fn hash(packed: &[u32]) -> u64 {
    const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut hash: u64 = 0x2545_F491_4F6C_DD1D;
    let mut mix = |word: u64| {
        let product = u128::from(hash ^ word) * u128::from(MULTIPLIER);
        hash = (product as u64) ^ ((product >> 64) as u64);
    };
    let (pairs, rest) = packed.as_chunks::<2>();
    for pair in pairs {
        mix(u64::from(pair[0]) | u64::from(pair[1]) << 32);
    }
    if let [word] = rest {
        mix(u64::from(*word));
    }
    mix(MULTIPLIER);
    hash
}

/// The part of a hash that states on disk leave in memory: entries and places depend on other bits, unless the table is
/// very small.
#[inline]
fn mark(hash: u64) -> u8 {
    (hash >> 24) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_no_more_notes_than_numbers() {
        Team::with(1, |team| {
            let mut store = Store::new(1, false);
            store.add_initial(&[7]);
            assert!(store.begin_round(10, team));
            assert!(!store.make_room(MOST_NUMBERS - 10, &mut [], team));
            assert!(!store.begin_round(MOST_NUMBERS, team));
            assert!(store.begin_round(10, team));
        });
    }
}
