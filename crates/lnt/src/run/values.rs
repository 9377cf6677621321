//! Structured values: made, compared, taken apart and enumerated by type.

use std::cmp::Ordering;
use std::sync::atomic::AtomicPtr;

use model::{LocalRows, SharedRows};

use super::drafts::{Drafted, Drafts, FIRST_DRAFT};
use super::edits::{Change, Edits};
use crate::compile::types::{ElementShape, FieldPlace, Kind, Representation, Storage, mask_of};
use crate::typed::{Field, Pattern, PatternKind, Program, TypeId};

/// More values than this are not enumerated for one offer.
const MOST_VALUES: usize = 1 << 20;

/// The words of a value, wherever they are.
#[derive(Clone, Copy, Debug)]
pub enum Words<'v> {
    One([u32; 1]),
    Many(&'v [u32]),
}

impl<'v> Words<'v> {
    fn of(words: &'v [u32]) -> Self {
        match *words {
            [word] => Words::One([word]),
            _ => Words::Many(words),
        }
    }
}

impl std::ops::Deref for Words<'_> {
    type Target = [u32];

    #[inline]
    fn deref(&self) -> &[u32] {
        match self {
            Words::One(word) => word,
            Words::Many(words) => words,
        }
    }
}

/// Keeps the first of equal elements; each has `stride` words.
pub fn remove_repeats(elements: &mut Vec<u32>, stride: usize) {
    let mut kept = 0;
    for at in 0..elements.len() / stride {
        let (before, element) = (kept * stride, at * stride..(at + 1) * stride);
        let known = elements[..before].chunks_exact(stride).any(|one| *one == elements[element.clone()]);
        if !known {
            elements.copy_within(element, before);
            kept += 1;
        }
    }
    elements.truncate(kept * stride);
}

/// From this number of a row on, several are stored together.
const MANY_ROWS: u32 = 1 << 18;

/// Rows that are to be stored, together with others.
#[derive(Default)]
struct Deferred {
    rows: Vec<DeferredRow>,
    words: Vec<u32>,
}

struct DeferredRow {
    /// What the table knows it by, and where its words end.
    hash: u64,
    end: u32,
    /// Where its number is to be written.
    at: u32,
    made: Option<(Change, u32, u32)>,
}

/// One thread's access to values.
pub struct Values<'a> {
    rows: LocalRows<'a>,
    drafts: Drafts,
    edits: Edits,
    deferred: Deferred,
    pub(super) types: &'a [Representation],
    pub(super) program: &'a Program,
    scratch: Vec<u32>,
    /// Elements and results of the operation at hand.
    pub(super) parts: Vec<u32>,
    pub(super) result: Vec<u32>,
    /// The values of finite types, in ascending order, once somebody asked for them.
    domains: Vec<Option<std::sync::Arc<[u32]>>>,
}

/// A type whose values can't be listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TooMany {
    /// It has no end.
    Infinite(TypeId),
    /// It consists of sets: there may be an end to these, but nobody lists them.
    Sets(TypeId),
    /// There are too many.
    Large(TypeId),
}

impl TooMany {
    /// The type.
    pub fn ty(&self) -> TypeId {
        match *self {
            TooMany::Infinite(ty) | TooMany::Sets(ty) | TooMany::Large(ty) => ty,
        }
    }

    /// What is said about the type.
    pub fn reason(&self) -> &'static str {
        match self {
            TooMany::Infinite(_) => "has infinitely many values",
            TooMany::Sets(_) => "has sets as its values, which are not tried one by one",
            TooMany::Large(_) => "has too many values to try them all",
        }
    }
}

impl<'a> Values<'a> {
    pub fn new(shared: &'a SharedRows, types: &'a [Representation], program: &'a Program) -> Self {
        Self {
            rows: shared.local(),
            drafts: Drafts::default(),
            edits: Edits::default(),
            deferred: Deferred::default(),
            types,
            program,
            scratch: Vec::new(),
            parts: Vec::new(),
            result: Vec::new(),
            domains: vec![None; types.len()],
        }
    }

    pub fn program(&self) -> &'a Program {
        self.program
    }

    /// The row behind a value.
    #[inline]
    pub fn row(&self, value: u32) -> &[u32] {
        match value < FIRST_DRAFT {
            true => self.rows.row(value),
            false => self.draft(value),
        }
    }

    #[inline]
    fn draft(&self, draft: u32) -> &[u32] {
        match self.drafts.words(draft) {
            Some(Drafted::EndOf(row, first)) => self.rows.row(row).get(first as usize..).unwrap_or(&[]),
            Some(Drafted::Own(words)) => words,
            None => &[],
        }
    }

    /// Forgets all drafts: nobody may have one any more. Gives what machine code has to know of those to come.
    #[inline]
    pub fn forget_drafts(&mut self) -> &mut [u64] {
        self.drafts.forget();
        self.drafts.table()
    }

    /// The value of a row that may be a draft.
    #[inline]
    pub fn settle(&mut self, value: u32) -> u32 {
        if value < FIRST_DRAFT {
            return value;
        }
        let settled = self.rows.intern(self.draft(value));
        if let Some(made) = self.drafts.made(value) {
            self.edits.remember_made(&self.rows, made, settled);
        }
        settled
    }

    /// Whether rows are so many that they lie in no cache near by: then it pays to store several together.
    #[inline]
    pub fn has_many_rows(&self) -> bool {
        self.rows.end() >= MANY_ROWS
    }

    /// Has a draft stored later, and its number written at a place, or now, where that pays more: then gives its number.
    #[inline]
    pub fn defer(&mut self, draft: u32, at: u32) -> Option<u32> {
        if !self.has_many_rows() {
            return Some(self.settle(draft));
        }
        let mut deferred = std::mem::take(&mut self.deferred);
        let words = self.row(draft);
        let hash = self.rows.announce(words);
        deferred.words.extend_from_slice(words);
        let (end, made) = (deferred.words.len() as u32, self.drafts.made(draft));
        deferred.rows.push(DeferredRow { hash, end, at, made });
        self.deferred = deferred;
        None
    }

    /// Forgets what was deferred.
    #[inline]
    pub fn forget_deferred(&mut self) {
        self.deferred.rows.clear();
        self.deferred.words.clear();
    }

    /// Stores what was deferred, and writes down the numbers.
    #[inline]
    pub fn store_deferred(&mut self, places: &mut [u32]) {
        let Self { rows, deferred: Deferred { rows: deferred, words }, edits, .. } = self;
        if deferred.is_empty() {
            return;
        }
        let starts = std::iter::once(0).chain(deferred.iter().map(|row| row.end));
        let all = deferred
            .iter()
            .zip(starts)
            .map(|(row, start)| (&words[start as usize..row.end as usize], row.hash));
        rows.intern_all(all, |number, settled| {
            let DeferredRow { at, made, .. } = &deferred[number];
            places[*at as usize] = settled;
            if let Some(made) = *made {
                edits.remember_made(rows, made, settled);
            }
        });
        self.forget_deferred();
    }

    /// Where rows lie, for machine code.
    #[inline]
    pub fn chunks(&self) -> &'a [AtomicPtr<u32>] {
        self.rows.shared().addresses()
    }

    /// What is known of rows without their first words, for machine code: it may learn more.
    #[inline]
    pub fn tails(&mut self) -> &[u32] {
        self.edits.tails()
    }

    /// Whether a row may be a draft, as machine code says it: 1 if it may, 2 if it goes into the state at once. That is not worth
    /// it while all rows are in the cache.
    #[inline]
    pub fn may_be_draft(&self, says: u32) -> bool {
        says == 1 || says == 2 && self.has_many_rows()
    }

    /// The same row, settled unless it may be a draft.
    pub fn settle_unless(&mut self, may_be_draft: bool, row: u32) -> u32 {
        if may_be_draft { row } else { self.settle(row) }
    }

    /// What a row becomes by a change: a draft, if it may be one and the result is not remembered.
    pub fn change(&mut self, change: Change, row: u32, word: u32, may_be_draft: bool) -> u32 {
        let is_stored = row < FIRST_DRAFT;
        if is_stored && let Some(known) = self.edits.find(change, row, word) {
            return known;
        }
        let made = is_stored.then_some((change, row, word));
        let result = match change {
            Change::Tail if may_be_draft => return self.draft_tail(row, word as usize),
            Change::Tail => self.tail_of_row(row, word as usize),
            Change::Cons => match may_be_draft.then(|| self.drafts.add_cons(row, word)).flatten() {
                Some(draft) => return draft,
                None => self.build_changed(may_be_draft, made, |values, scratch| {
                    scratch.push(word);
                    scratch.extend_from_slice(values.row(row));
                }),
            },
            Change::Append
                if may_be_draft
                    && !is_stored
                    && let Some(draft) = self.drafts.add_append(row, word) =>
            {
                return draft;
            }
            Change::Append => self.build_changed(may_be_draft, made, |values, scratch| {
                scratch.extend_from_slice(values.row(row));
                scratch.push(word);
            }),
            Change::Without => self.without(row, word as usize, 1, may_be_draft),
        };
        if is_stored && result < FIRST_DRAFT {
            self.edits.remember(change, row, word, result);
        }
        result
    }

    /// A row without an element of so many words that begins with one of its words: a draft, if it may be one and the result is not
    /// remembered.
    pub fn without(&mut self, row: u32, word: usize, words: usize, may_be_draft: bool) -> u32 {
        let is_stored = row < FIRST_DRAFT;
        if is_stored && let Some(known) = self.rows.without(row, word, words) {
            return known;
        }
        // No draft is empty.
        let may_be_draft = may_be_draft && self.row(row).len() > words;
        let made = is_stored.then_some((Change::Without, row, word as u32));
        let result = self.build_changed(may_be_draft, made, |values, scratch| {
            let known = values.row(row);
            scratch.extend_from_slice(&known[..word]);
            scratch.extend_from_slice(&known[word + words..]);
        });
        if is_stored && result < FIRST_DRAFT {
            self.rows.remember_without(row, word, result);
        }
        result
    }

    /// A row without its first words, as a draft. One without any words is never a draft.
    fn draft_tail(&mut self, row: u32, words: usize) -> u32 {
        let tail = match row < FIRST_DRAFT {
            true => {
                let end = self.rows.row(row).get(words..).filter(|end| !end.is_empty());
                let made = Some((Change::Tail, row, words as u32));
                end.and_then(|end| self.drafts.add_end(row, words as u32, end, made))
            }
            false if self.draft(row).len() > words => self.drafts.add_tail(row, words as u32),
            false => None,
        };
        tail.unwrap_or_else(|| self.tail_of_row(row, words))
    }

    /// A row that is made from others, with at least one word if it may be a draft.
    #[inline]
    pub fn build_draft(&mut self, may_be_draft: bool, fill: impl FnOnce(&Self, &mut Vec<u32>)) -> u32 {
        self.build_changed(may_be_draft, None, fill)
    }

    /// A row that is made from others, perhaps without any words.
    pub fn build_row(&mut self, may_be_draft: bool, fill: impl FnOnce(&Self, &mut Vec<u32>)) -> u32 {
        let mut words = std::mem::take(&mut self.parts);
        words.clear();
        fill(self, &mut words);
        // No draft is empty.
        let row = self.build_draft(may_be_draft && !words.is_empty(), |_, row| row.extend_from_slice(&words));
        self.parts = words;
        row
    }

    #[inline]
    fn build_changed(
        &mut self,
        may_be_draft: bool,
        made: Option<(Change, u32, u32)>,
        fill: impl FnOnce(&Self, &mut Vec<u32>),
    ) -> u32 {
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        fill(self, &mut scratch);
        let draft = if may_be_draft { self.drafts.add_own(&scratch, made) } else { None };
        let row = draft.unwrap_or_else(|| self.rows.intern(&scratch));
        self.scratch = scratch;
        row
    }

    /// The same for as long as rows are kept, of one that is no draft.
    #[inline]
    pub fn kept_row(&self, value: u32) -> &'a [u32] {
        self.rows.row(value)
    }

    /// The value of a row.
    #[inline]
    pub fn intern(&mut self, row: &[u32]) -> u32 {
        self.rows.intern(row)
    }

    /// The value of a row that is made from others.
    pub fn build(&mut self, fill: impl FnOnce(&Self, &mut Vec<u32>)) -> u32 {
        self.build_draft(false, fill)
    }

    pub fn kind(&self, ty: TypeId) -> &'a Kind {
        &self.types[ty.index()].kind
    }

    pub fn real(&self, value: u32) -> f64 {
        match *self.row(value) {
            [low, high] => f64::from_bits(u64::from(low) | u64::from(high) << 32),
            _ => 0.0,
        }
    }

    pub fn intern_real(&mut self, value: f64) -> u32 {
        // The two zeros are equal, so they are one value.
        let bits = if value == 0.0 { 0 } else { value.to_bits() };
        self.intern(&[bits as u32, (bits >> 32) as u32])
    }

    pub fn text(&self, value: u32) -> String {
        self.row(value).iter().filter_map(|&code| char::from_u32(code)).collect()
    }

    pub fn intern_text(&mut self, text: &str) -> u32 {
        self.build(|_, row| row.extend(text.chars().map(|character| character as u32)))
    }

    /// The words of a value by the number that offers and labels know it by: wide values are interned for these.
    #[inline]
    pub fn thaw(&self, ty: TypeId, frozen: u32) -> Words<'_> {
        match self.types[ty.index()].storage {
            Storage::Wide => Words::Many(self.row(frozen)),
            _ => Words::One([frozen]),
        }
    }

    /// The number that offers and labels know a value by. Equal values have equal numbers.
    #[inline]
    pub fn freeze(&mut self, ty: TypeId, words: &[u32]) -> u32 {
        match (self.types[ty.index()].storage, words) {
            (Storage::Wide, words) => self.intern(words),
            (_, words) => words[0],
        }
    }

    /// The position of a constructed value's constructor.
    #[inline]
    pub fn tag(&self, ty: TypeId, words: &[u32]) -> u32 {
        let shape = &self.types[ty.index()];
        match shape.storage {
            Storage::Scalar => words[0],
            Storage::Packed if shape.tag_shift == 32 => 0,
            Storage::Packed => words[0] >> shape.tag_shift,
            Storage::Wide if shape.fields.len() == 1 => 0,
            Storage::Wide => words[0],
            Storage::Row => self.row(words[0])[0],
        }
    }

    /// A field of a constructed value.
    #[inline]
    pub fn field<'v>(&'v self, ty: TypeId, place: FieldPlace, words: &'v [u32]) -> Words<'v> {
        let range = place.at as usize..(place.at + place.words) as usize;
        match self.types[ty.index()].storage {
            Storage::Packed => Words::One([(words[0] >> place.at) & place.mask]),
            Storage::Row => Words::Many(&self.row(words[0])[range]),
            Storage::Scalar | Storage::Wide => Words::Many(&words[range]),
        }
    }

    /// How many elements a list, set or array has.
    pub fn count(&self, ty: TypeId, words: &[u32]) -> usize {
        let shape = &self.types[ty.index()];
        match (shape.storage, &shape.kind) {
            (_, Kind::Array { length, .. }) => *length,
            (Storage::Packed, Kind::List { sorted: true, .. }) => words[0].count_ones() as usize,
            (Storage::Packed, _) => (words[0] & mask_of(shape.length_bits())) as usize,
            _ => self.row(words[0]).len() / shape.element.words.max(1) as usize,
        }
    }

    /// An element of a list, set or array, counted from 0.
    #[inline]
    pub fn element_at<'v>(&'v self, ty: TypeId, words: &'v [u32], at: usize) -> Words<'v> {
        let shape = &self.types[ty.index()];
        let ElementShape { words: stride, bits, length, .. } = shape.element;
        let range = at * stride as usize..(at + 1) * stride as usize;
        match shape.storage {
            Storage::Row => Words::Many(&self.row(words[0])[range]),
            Storage::Scalar | Storage::Wide => Words::Many(&words[range]),
            Storage::Packed => Words::One([match shape.kind {
                Kind::Array { .. } => (words[0] >> ((length - 1 - at as u32) * bits)) & mask_of(bits),
                Kind::List { sorted: true, .. } => {
                    let mut left = words[0];
                    (0..at).for_each(|_| left &= left.wrapping_sub(1));
                    left.trailing_zeros()
                }
                _ => (words[0] >> (shape.length_bits() + at as u32 * bits)) & mask_of(bits),
            }]),
        }
    }

    /// Whether a list or set has no elements.
    #[inline]
    pub fn is_empty(&self, ty: TypeId, value: u32) -> bool {
        match self.types[ty.index()].storage {
            // Masks and lengths.
            Storage::Packed => value == 0,
            _ => self.row(value).is_empty(),
        }
    }

    /// A list or set without its first element; an empty one stays as it is.
    pub fn tail(&mut self, ty: TypeId, value: u32) -> u32 {
        let shape = &self.types[ty.index()];
        match (shape.storage, &shape.kind) {
            (Storage::Packed, _) if value == 0 => 0,
            (Storage::Packed, Kind::List { sorted: true, .. }) => value & (value - 1),
            (Storage::Packed, _) => {
                let (length, bits) = (shape.length_bits(), shape.element.bits);
                let others = (u64::from(value) >> (length + bits)) << length;
                others as u32 | ((value & mask_of(length)) - 1)
            }
            _ => self.tail_of_row(value, shape.element.words.max(1) as usize),
        }
    }

    /// A row without its first words.
    pub fn tail_of_row(&mut self, row: u32, words: usize) -> u32 {
        self.rows.intern(self.row(row).get(words..).unwrap_or(&[]))
    }

    /// Adds the words of all elements of a list, set or array.
    pub fn elements(&self, ty: TypeId, words: &[u32], into: &mut Vec<u32>) {
        let shape = &self.types[ty.index()];
        match (shape.storage, &shape.kind) {
            (Storage::Row, _) => into.extend_from_slice(self.row(words[0])),
            (Storage::Wide, _) => into.extend_from_slice(words),
            (_, Kind::List { sorted: true, .. }) => {
                let mut left = words[0];
                while left != 0 {
                    into.push(left.trailing_zeros());
                    left &= left - 1;
                }
            }
            _ => {
                let elements = (0..self.count(ty, words)).map(|at| self.element_at(ty, words, at)[0]);
                into.extend(elements);
            }
        }
    }

    /// Adds the words of a constructed value with these fields, all of their words side by side.
    pub fn compose(&mut self, ty: TypeId, ordinal: u32, fields: &[u32], into: &mut Vec<u32>) {
        let shape = &self.types[ty.index()];
        match shape.storage {
            Storage::Scalar => into.push(ordinal),
            Storage::Packed => {
                let tag = if shape.tag_shift == 32 { 0 } else { ordinal << shape.tag_shift };
                let places = shape.fields[ordinal as usize].iter().zip(fields);
                into.push(places.fold(tag, |word, (place, &field)| word | field << place.at));
            }
            Storage::Wide => {
                let end = into.len() + shape.leaves.len();
                if shape.fields.len() > 1 {
                    into.push(ordinal);
                }
                into.extend_from_slice(fields);
                into.resize(end, 0);
            }
            Storage::Row => {
                let row = self.build(|_, row| {
                    row.push(ordinal);
                    row.extend_from_slice(fields);
                });
                into.push(row);
            }
        }
    }

    /// Adds the words of a list, set or array with these elements, which are brought into the order that it keeps.
    pub fn collect(&mut self, ty: TypeId, elements: &mut Vec<u32>, into: &mut Vec<u32>) {
        let shape = &self.types[ty.index()];
        let bits = shape.element.bits;
        match (shape.storage, &shape.kind) {
            (Storage::Wide, _) => into.extend_from_slice(elements),
            (Storage::Packed, Kind::Array { .. }) => {
                // Elements of no bits leave nothing to shift.
                into.push(elements.iter().fold(0, |word, element| word << (bits % 32) | element));
            }
            (Storage::Packed, Kind::List { sorted: true, .. }) => {
                into.push(elements.iter().fold(0, |mask, element| mask | 1 << element));
            }
            (Storage::Packed, _) => {
                remove_repeats(elements, 1);
                let mut word = elements.len() as u32;
                let mut at = shape.length_bits();
                for element in elements {
                    word |= *element << at;
                    at += bits;
                }
                into.push(word);
            }
            _ => {
                self.normalise(ty, elements);
                let row = self.intern(elements);
                into.push(row);
            }
        }
    }

    /// The order of two values of a type, without recursion: values may nest deeply.
    pub fn compare(&self, ty: TypeId, a: &[u32], b: &[u32]) -> Ordering {
        if self.types[ty.index()].lexical {
            return a.cmp(b);
        }
        // The first part that is different decides.
        let (mut ty, mut a, mut b) = (ty, Words::of(a), Words::of(b));
        while *a != *b {
            if self.types[ty.index()].lexical {
                return a.cmp(&b);
            }
            (ty, a, b) = match self.kind(ty) {
                Kind::Bool | Kind::Number { .. } | Kind::Char { .. } | Kind::Enumeration(_) => {
                    return a[0].cmp(&b[0]);
                }
                Kind::Real => return self.real(a[0]).total_cmp(&self.real(b[0])),
                Kind::String => return self.row(a[0]).cmp(self.row(b[0])),
                Kind::Constructed(constructors) => {
                    let (left, right) = (self.tag(ty, &a), self.tag(ty, &b));
                    if left != right {
                        return left.cmp(&right);
                    }
                    let fields = self.program[constructors[left as usize]].fields.iter().enumerate();
                    let parts = |(index, field): (usize, &Field)| {
                        (field.ty, self.field_of(ty, left, index, a), self.field_of(ty, left, index, b))
                    };
                    match fields.map(parts).find(|(_, a, b)| **a != **b) {
                        Some(different) => different,
                        None => return Ordering::Equal,
                    }
                }
                Kind::List { element, .. } | Kind::Array { element, .. } => {
                    let (left, right) = (self.count(ty, &a), self.count(ty, &b));
                    // What one has more decides only if all they have in common is equal.
                    let parts = |at: usize| (*element, self.part_of(ty, at, a), self.part_of(ty, at, b));
                    match (0..left.min(right)).map(parts).find(|(_, a, b)| **a != **b) {
                        Some(different) => different,
                        None => return left.cmp(&right),
                    }
                }
            };
        }
        Ordering::Equal
    }

    /// A field of a value that may be a part of another.
    fn field_of<'v>(&'v self, ty: TypeId, ordinal: u32, index: usize, words: Words<'v>) -> Words<'v> {
        let place = self.types[ty.index()].fields[ordinal as usize][index];
        match words {
            Words::Many(words) => self.field(ty, place, words),
            Words::One([word]) => match self.types[ty.index()].storage {
                Storage::Packed => Words::One([(word >> place.at) & place.mask]),
                _ => Words::Many(&self.row(word)[place.at as usize..(place.at + place.words) as usize]),
            },
        }
    }

    /// An element of a value that may be a part of another.
    fn part_of<'v>(&'v self, ty: TypeId, at: usize, words: Words<'v>) -> Words<'v> {
        match words {
            Words::Many(words) => self.element_at(ty, words, at),
            Words::One([word]) if self.types[ty.index()].storage == Storage::Row => {
                let stride = self.types[ty.index()].element.words as usize;
                Words::Many(&self.row(word)[at * stride..(at + 1) * stride])
            }
            Words::One(word) => Words::One([self.element_at(ty, &word, at)[0]]),
        }
    }

    /// Brings elements, all of their words side by side, into the form that a list or set type keeps them in.
    pub fn normalise(&self, ty: TypeId, elements: &mut Vec<u32>) {
        let Kind::List { element, sorted, set } = *self.kind(ty) else { return };
        let stride = self.types[ty.index()].element.words.max(1) as usize;
        if elements.len() <= stride {
            return;
        }
        if sorted && stride == 1 {
            elements.sort_by(|&a, &b| self.compare(element, &[a], &[b]));
        } else if sorted {
            let mut parts: Vec<&[u32]> = elements.chunks_exact(stride).collect();
            parts.sort_by(|a, b| self.compare(element, a, b));
            *elements = parts.concat();
        }
        if set {
            remove_repeats(elements, stride);
        }
    }

    /// All values of a type, if they were listed before.
    pub fn known_domain(&self, ty: TypeId) -> Option<std::sync::Arc<[u32]>> {
        self.domains[ty.index()].clone()
    }

    /// All values of a type, in ascending order. `accepts` decides on values of predicate types.
    pub fn domain(
        &mut self,
        ty: TypeId,
        accepts: &mut dyn FnMut(&mut Self, TypeId, u32) -> bool,
    ) -> Result<std::sync::Arc<[u32]>, TooMany> {
        if let Some(known) = &self.domains[ty.index()] {
            return Ok(known.clone());
        }
        let mut values = self.enumerate(ty, accepts)?;
        if self.types[ty.index()].predicate.is_some() {
            let mut kept = Vec::with_capacity(values.len());
            for value in values {
                if accepts(self, ty, value) {
                    kept.push(value);
                }
            }
            values = kept;
        }
        let values: std::sync::Arc<[u32]> = values.into();
        self.domains[ty.index()] = Some(values.clone());
        Ok(values)
    }

    fn enumerate(
        &mut self,
        ty: TypeId,
        accepts: &mut dyn FnMut(&mut Self, TypeId, u32) -> bool,
    ) -> Result<Vec<u32>, TooMany> {
        match self.kind(ty) {
            Kind::Bool => Ok(vec![0, 1]),
            Kind::Number { lower, upper, offset, .. } => {
                if upper - lower >= MOST_VALUES as i64 {
                    return Err(TooMany::Large(ty));
                }
                Ok((*lower..=*upper).map(|value| (value - offset) as u32).collect())
            }
            Kind::Char { lower, upper } => Ok((*lower..=*upper).collect()),
            Kind::Enumeration(constructors) => Ok((0..constructors.len() as u32).collect()),
            Kind::List { set: true, .. } => Err(TooMany::Sets(ty)),
            Kind::Real | Kind::String | Kind::List { .. } => Err(TooMany::Infinite(ty)),
            Kind::Constructed(constructors) => {
                // A type that contains itself has no end; marking it in progress finds that out.
                if self.is_recursive(ty) {
                    return Err(TooMany::Infinite(ty));
                }
                let mut values = Vec::new();
                for (ordinal, &constructor) in constructors.iter().enumerate() {
                    let program = self.program;
                    let mut columns = Vec::new();
                    for field in &program[constructor].fields {
                        columns.push((field.ty, self.domain(field.ty, accepts)?));
                    }
                    self.combinations(ty, Some(ordinal as u32), &columns, &mut values)?;
                }
                Ok(values)
            }
            Kind::Array { length, element, .. } => {
                if *length > MOST_VALUES {
                    return Err(TooMany::Large(ty));
                }
                let column = (*element, self.domain(*element, accepts)?);
                let mut values = Vec::new();
                let columns = vec![column; *length];
                self.combinations(ty, None, &columns, &mut values)?;
                Ok(values)
            }
        }
    }

    /// All values with one part of each column, the last column fastest: of a constructor, or arrays.
    fn combinations(
        &mut self,
        ty: TypeId,
        ordinal: Option<u32>,
        columns: &[(TypeId, std::sync::Arc<[u32]>)],
        values: &mut Vec<u32>,
    ) -> Result<(), TooMany> {
        let count = columns.iter().try_fold(1usize, |count, (_, column)| count.checked_mul(column.len()));
        if count.is_none_or(|count| values.len() + count > MOST_VALUES) {
            return Err(TooMany::Large(ty));
        }
        if columns.iter().any(|(_, column)| column.is_empty()) {
            return Ok(());
        }
        let mut at = vec![0usize; columns.len()];
        let (mut parts, mut words) = (Vec::new(), Vec::new());
        loop {
            parts.clear();
            words.clear();
            for (&index, (ty, column)) in at.iter().zip(columns) {
                parts.extend_from_slice(&self.thaw(*ty, column[index]));
            }
            match ordinal {
                Some(ordinal) => self.compose(ty, ordinal, &parts, &mut words),
                None => self.collect(ty, &mut parts, &mut words),
            }
            values.push(self.freeze(ty, &words));
            let Some(last) = (0..at.len()).rev().find(|&place| at[place] + 1 < columns[place].1.len()) else {
                return Ok(());
            };
            at[last] += 1;
            at[last + 1..].fill(0);
        }
    }

    fn is_recursive(&self, ty: TypeId) -> bool {
        let mut todo = vec![ty];
        let mut seen: Vec<TypeId> = Vec::new();
        while let Some(next) = todo.pop() {
            let Kind::Constructed(constructors) = self.kind(next) else { continue };
            for field in constructors.iter().flat_map(|&constructor| &self.program[constructor].fields) {
                if field.ty == ty {
                    return true;
                }
                if !seen.contains(&field.ty) {
                    seen.push(field.ty);
                    todo.push(field.ty);
                }
            }
        }
        false
    }

    /// The values that match a pattern: a constructor's fields are enumerated, not the whole type.
    pub fn pattern_domain(
        &mut self,
        pattern: &Pattern,
        literal: &mut dyn FnMut(&mut Self, &Pattern) -> u32,
        accepts: &mut dyn FnMut(&mut Self, TypeId, u32) -> bool,
    ) -> Result<std::sync::Arc<[u32]>, TooMany> {
        match &pattern.kind {
            // What is computed is compared afterwards.
            PatternKind::Variable(_) | PatternKind::Wildcard | PatternKind::Equal(_) => {
                self.domain(pattern.ty, accepts)
            }
            PatternKind::Array(elements) => {
                let mut columns = Vec::new();
                for element in elements {
                    columns.push((element.ty, self.pattern_domain(element, literal, accepts)?));
                }
                let mut values = Vec::new();
                self.combinations(pattern.ty, None, &columns, &mut values)?;
                Ok(values.into())
            }
            PatternKind::As(_, inner) => self.pattern_domain(inner, literal, accepts),
            PatternKind::Literal(_) => Ok([literal(self, pattern)].into()),
            PatternKind::Nil => {
                let mut words = Vec::new();
                self.collect(pattern.ty, &mut Vec::new(), &mut words);
                Ok([self.freeze(pattern.ty, &words)].into())
            }
            PatternKind::Constructor(constructor, fields) => {
                let ordinal = self.program[*constructor].ordinal;
                if let Kind::Enumeration(_) = self.kind(pattern.ty) {
                    return Ok([ordinal].into());
                }
                let mut columns = Vec::new();
                for field in fields {
                    columns.push((field.ty, self.pattern_domain(field, literal, accepts)?));
                }
                let mut values = Vec::new();
                self.combinations(pattern.ty, Some(ordinal), &columns, &mut values)?;
                Ok(values.into())
            }
            PatternKind::Cons(head, tail) => {
                let heads = self.pattern_domain(head, literal, accepts)?;
                let tails = self.pattern_domain(tail, literal, accepts)?;
                if heads.len().saturating_mul(tails.len()) > MOST_VALUES {
                    return Err(TooMany::Large(pattern.ty));
                }
                let mut values = Vec::new();
                let (mut elements, mut words) = (Vec::new(), Vec::new());
                for &one in heads.iter() {
                    for &others in tails.iter() {
                        elements.clear();
                        words.clear();
                        elements.extend_from_slice(&self.thaw(head.ty, one));
                        self.elements(pattern.ty, &[others], &mut elements);
                        self.collect(pattern.ty, &mut elements, &mut words);
                        values.push(words[0]);
                    }
                }
                Ok(values.into())
            }
        }
    }
}
