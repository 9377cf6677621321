//! Offers with values that nobody fixes: which candidates there are, from the shapes that partners name.
//!
//! Shapes depend on the action, on values that partners have fixed, and on the slots that the action's patterns and
//! guard read: they are remembered by these. One partner's shapes become candidates, the others' are a filter.

use std::cmp::Ordering;

use lts::RowSet;
use model::ModelError;

use super::naming::{Known, Question, open_words, shapes};
use super::{LntWorker, OPEN, Offer, Part};
use crate::compile::code::{ActionCode, OfferCode};
use crate::compile::types::{FieldPlace, Kind, Representation, Storage, mask_of};
use crate::run::domains::domain;
use crate::run::values::Values;
use crate::typed::TypeId;

/// More remembered words than this, and it is time to start over.
const MOST_WORDS: usize = 1 << 22;
/// Naming values takes as long as trying one for each so many instructions.
const NAMED_AS_TRIED: usize = 8;
/// An action whose shapes have told nothing this often is not asked again.
const MOST_VAIN: u32 = 32;
/// More combinations than this are no better than trying everything.
const MOST_CANDIDATES: u32 = 1 << 20;

/// The shapes of an action's open words.
#[derive(Clone, Copy)]
struct Naming {
    /// Where they lie, and how many there are.
    first: u32,
    count: u32,
    /// How many words are open.
    width: u32,
    /// How many candidates that makes, at most; the greatest number where nothing is known.
    cost: u32,
    /// Where the candidates lie once they were listed, and how many words they have.
    list: Option<(u32, u32)>,
}

/// Nothing is known.
const EVERYTHING: u32 = u32::MAX;
/// A part whose naming was not looked for yet.
pub(super) const NOT_NAMED: u32 = u32::MAX;

/// What was learned about actions with open values.
#[derive(Default)]
pub(super) struct Namings {
    keys: RowSet,
    known: Vec<Naming>,
    shapes: Vec<Known>,
    /// Candidates: a value for each open place.
    lists: Vec<u32>,
    key: Vec<u32>,
    /// For each action, how often its shapes told nothing; the greatest number once they did.
    vain: Vec<u32>,
    /// Of the offer at hand: fixed values, and the namings of its parts.
    fixed: Vec<Option<u32>>,
    parts: Vec<u32>,
}

/// The open places of an offer: which, their types, and their first words among all open ones.
type Open = Vec<(usize, TypeId, usize)>;

impl LntWorker<'_> {
    /// Finds the candidates for an offer's open values, in ascending order, one value for each open place. Gives false
    /// where no partner names any.
    pub(super) fn candidates(&mut self, offer: Offer, found: &mut Vec<u32>) -> Result<bool, ModelError> {
        found.clear();
        let mut fixed = std::mem::take(&mut self.namings.fixed);
        let mut namings = std::mem::take(&mut self.namings.parts);
        let result = self.find_candidates(offer, &mut fixed, &mut namings, found);
        self.namings.fixed = fixed;
        self.namings.parts = namings;
        result
    }

    fn find_candidates(
        &mut self,
        offer: Offer,
        fixed: &mut Vec<Option<u32>>,
        namings: &mut Vec<u32>,
        found: &mut Vec<u32>,
    ) -> Result<bool, ModelError> {
        let code = self.machine.code;
        let action = &code.actions[self.parts[offer.parts.0 as usize].action as usize];
        fixed.clear();
        for (place, &(_, ty)) in action.offers.iter().enumerate() {
            match self.value(&offer, place) {
                OPEN if self.machine.values.types[ty.index()].conditional => return Ok(false),
                OPEN => fixed.push(None),
                value => fixed.push(Some(value as u32)),
            }
        }
        namings.clear();
        for index in offer.parts.0..offer.parts.0 + offer.parts.1 {
            namings.extend(self.naming(self.parts[index as usize], fixed));
        }
        let cost = |worker: &Self, naming: u32| worker.namings.known[naming as usize].cost;
        let Some(chosen) = (0..namings.len()).min_by_key(|&at| cost(self, namings[at])) else {
            return Ok(false);
        };
        let chosen = namings.swap_remove(chosen);
        if cost(self, chosen) > MOST_CANDIDATES {
            return Ok(false);
        }
        let (first, words) = match self.namings.known[chosen as usize].list {
            Some(list) => list,
            None => self.list(chosen, action, fixed)?,
        };
        let list = first as usize..(first + words) as usize;
        let values = &self.machine.values;
        let admits = |naming: u32, candidate: &[u32], open: &[(usize, TypeId, usize)]| {
            let Naming { first, count, width, .. } = self.namings.known[naming as usize];
            let shapes = &self.namings.shapes[first as usize..(first + count * width) as usize];
            match *candidate {
                [value] if width == 1 => shapes.iter().any(|known| known.admits(value)),
                _ => shapes.chunks_exact(width as usize).any(|shape| {
                    open.iter().zip(candidate).all(|(&(_, ty, word), &value)| {
                        let words = values.thaw(ty, value);
                        words.iter().zip(&shape[word..]).all(|(&word, known)| known.admits(word))
                    })
                }),
            }
        };
        let places = fixed.iter().filter(|fixed| fixed.is_none()).count();
        let narrow = places == 1 && self.namings.known[chosen as usize].width == 1;
        let open = match narrow || namings.is_empty() {
            true => Open::new(),
            false => open_words(values.types, &Question { action, fixed, state: &[] }),
        };
        for candidate in self.namings.lists[list].chunks_exact(places) {
            if namings.iter().all(|&other| admits(other, candidate, &open)) {
                found.extend_from_slice(candidate);
            }
        }
        Ok(true)
    }

    /// Lists the candidates of a naming: gives where they lie, and how many words they have.
    #[cold]
    fn list(
        &mut self,
        naming: u32,
        action: &ActionCode,
        fixed: &[Option<u32>],
    ) -> Result<(u32, u32), ModelError> {
        let Naming { first, count, width, .. } = self.namings.known[naming as usize];
        let open = open_words(self.machine.values.types, &Question { action, fixed, state: &[] });
        let mut found: Vec<u32> = Vec::new();
        for number in 0..count {
            let shape = (first + number * width) as usize..(first + (number + 1) * width) as usize;
            let shape: Vec<Known> = self.namings.shapes[shape].to_vec();
            let mut columns: Vec<Vec<u32>> = Vec::with_capacity(open.len());
            for &(_, ty, word) in &open {
                let leaves = &self.machine.values.types[ty.index()].leaves;
                let shape = &shape[word..word + leaves.len()];
                if shape.iter().zip(leaves).all(|(known, &bits)| known.mask == mask_of(bits)) {
                    let known: Vec<u32> = shape.iter().map(|known| known.bits).collect();
                    let values = &mut self.machine.values;
                    columns.push(match is_valid(values, ty, &known) {
                        true => vec![values.freeze(ty, &known)],
                        false => Vec::new(),
                    });
                } else {
                    let all = domain(&mut self.machine, ty, action.span)?;
                    let values = &self.machine.values;
                    let fits = |value: &&u32| {
                        values.thaw(ty, **value).iter().zip(shape).all(|(&word, known)| known.admits(word))
                    };
                    columns.push(all.iter().filter(fits).copied().collect());
                }
            }
            combine_columns(&columns, &mut found);
        }
        let values = &self.machine.values;
        let order = |a: &[u32], b: &[u32]| {
            let pairs = open.iter().zip(a.iter().zip(b));
            pairs.fold(Ordering::Equal, |order, (&(_, ty, _), (&a, &b))| {
                order.then_with(|| compare_frozen(values, ty, a, b))
            })
        };
        let mut tuples: Vec<&[u32]> = found.chunks_exact(open.len()).collect();
        tuples.sort_unstable_by(|a, b| order(a, b));
        tuples.dedup();
        let start = self.namings.lists.len() as u32;
        tuples.iter().for_each(|tuple| self.namings.lists.extend_from_slice(tuple));
        let list = (start, self.namings.lists.len() as u32 - start);
        self.namings.known[naming as usize].list = Some(list);
        Ok(list)
    }

    /// How many candidates shapes make, at most.
    fn cost(&self, open: &Open, shapes: &[Known], width: usize) -> u32 {
        let mut all = 0u64;
        for shape in shapes.chunks_exact(width) {
            let mut product = 1u64;
            for &(_, ty, word) in open {
                let leaves = &self.machine.values.types[ty.index()].leaves;
                let unknown: u32 = shape[word..]
                    .iter()
                    .zip(leaves)
                    .map(|(known, &bits)| (mask_of(bits) & !known.mask).count_ones())
                    .sum();
                if unknown > 0 {
                    let size = match self.machine.values.known_domain(ty) {
                        Some(known) => known.len() as u64,
                        None => 1u64 << unknown.min(40),
                    };
                    product = product.saturating_mul(size);
                }
            }
            all = all.saturating_add(product);
        }
        all.min(u64::from(EVERYTHING) - 1) as u32
    }

    /// The number of the shapes that a part names, if it names any.
    #[inline]
    fn naming(&mut self, part: Part, fixed: &[Option<u32>]) -> Option<u32> {
        let all_open = !fixed.iter().any(Option::is_some);
        let mut naming = None;
        if let (true, Some(memory), Some(known)) = (all_open, &self.memory, part.known.checked_sub(1)) {
            naming = Some(memory.parts[known as usize].naming).filter(|&naming| naming != NOT_NAMED);
        }
        if naming.is_none() {
            naming = self.look_up_naming(part, fixed);
            if let (Some(naming), true, Some(memory), Some(known)) =
                (naming, all_open, &mut self.memory, part.known.checked_sub(1))
            {
                memory.parts[known as usize].naming = naming;
            }
        }
        naming.filter(|&naming| self.namings.known[naming as usize].cost != EVERYTHING)
    }

    fn look_up_naming(&mut self, part: Part, fixed: &[Option<u32>]) -> Option<u32> {
        let code = self.machine.code;
        let action = &code.actions[part.action as usize];
        let narrows = action.guard.is_some()
            || action.offers.iter().any(|(offer, _)| matches!(offer, OfferCode::Pattern { .. }));
        if self.namings.vain.is_empty() {
            self.namings.vain = vec![0; code.actions.len()];
        }
        let vain = self.namings.vain[part.action as usize];
        if !narrows || (MOST_VAIN..u32::MAX).contains(&vain) {
            return None;
        }
        let reads = &self.model.conditions[part.action as usize].reads;
        let mut key = std::mem::take(&mut self.namings.key);
        key.clear();
        key.push(part.action);
        for value in fixed {
            key.extend([u32::from(value.is_some()), value.unwrap_or(0)]);
        }
        for &slot in reads {
            key.push(self.slot_before(part, slot));
        }
        let (number, is_new) = self.namings.keys.insert(&key);
        self.namings.key = key;
        if is_new {
            let naming = self.find_naming(part, fixed);
            self.namings.known.push(naming);
            let vain = &mut self.namings.vain[part.action as usize];
            match naming.cost {
                EVERYTHING if *vain < MOST_VAIN => *vain += 1,
                EVERYTHING => {}
                _ => *vain = u32::MAX,
            }
        }
        Some(number as u32)
    }

    /// A slot as it is right before a part's action.
    fn slot_before(&self, part: Part, slot: u32) -> u32 {
        if let (Some(memory), Some(known)) = (&self.memory, part.known.checked_sub(1)) {
            let known = memory.parts[known as usize];
            let changes = &memory.changes[known.changes.0 as usize..known.changes.1 as usize];
            if let Some(change) = changes.iter().find(|change| change.0 == slot) {
                return change.1;
            }
        }
        match part.snapshot {
            0 if !self.is_unpacked => self.model.layout.get(&self.packed, slot as usize),
            snapshot => self.slot(snapshot, slot),
        }
    }

    fn find_naming(&mut self, part: Part, fixed: &[Option<u32>]) -> Naming {
        self.unpack();
        self.target_is_clean = false;
        self.target.copy_from_slice(&self.snapshots[..self.width]);
        self.machine.marks.clear();
        self.start_part(part);
        self.machine.marks.clear();
        let code = self.machine.code;
        let question = Question { action: &code.actions[part.action as usize], fixed, state: &self.target };
        let open = open_words(self.machine.values.types, &question);
        let width: usize =
            open.iter().map(|&(_, ty, _)| self.machine.values.types[ty.index()].leaves.len()).sum();
        let first = self.namings.shapes.len();
        let (tells, steps) =
            shapes(code, &mut self.machine.values, &question, width, &mut self.namings.shapes);
        self.tried = self.tried.saturating_add(steps / NAMED_AS_TRIED);
        if !tells {
            self.namings.shapes.truncate(first);
        }
        for shape in self.namings.shapes[first..].chunks_exact_mut(width) {
            for &(_, ty, word) in &open {
                fill_padding(&self.machine.values, ty, &mut shape[word..]);
            }
        }
        let found = &self.namings.shapes[first..];
        let cost = if tells { self.cost(&open, found, width) } else { EVERYTHING };
        let count = (found.len() / width) as u32;
        Naming { first: first as u32, count, width: width as u32, cost, list: None }
    }

    /// Forgets shapes where there are too many; to be called between states.
    pub(super) fn bound_namings(&mut self) {
        let namings = &mut self.namings;
        let words = namings.shapes.len() * 2 + namings.lists.len() + namings.known.len() * 24;
        if words > MOST_WORDS {
            namings.keys = RowSet::default();
            namings.known.clear();
            namings.shapes.clear();
            namings.lists.clear();
            if let Some(memory) = &mut self.memory {
                memory.parts.iter_mut().for_each(|part| part.naming = NOT_NAMED);
            }
        }
    }
}

/// Adds the combinations of one value of each column.
fn combine_columns(columns: &[Vec<u32>], found: &mut Vec<u32>) {
    if columns.iter().any(Vec::is_empty) {
        return;
    }
    let mut at = vec![0usize; columns.len()];
    loop {
        found.extend(columns.iter().zip(&at).map(|(column, &at)| column[at]));
        let Some(last) = (0..at.len()).rev().find(|&place| at[place] + 1 < columns[place].len()) else {
            return;
        };
        at[last] += 1;
        at[last + 1..].fill(0);
    }
}

pub(super) fn compare_frozen(values: &Values<'_>, ty: TypeId, a: u32, b: u32) -> Ordering {
    if a == b {
        return Ordering::Equal;
    }
    match values.types[ty.index()].ordered {
        true => a.cmp(&b),
        false => values.compare(ty, &values.thaw(ty, a), &values.thaw(ty, b)),
    }
}

/// What no constructor uses is zero: known once the constructor is.
fn fill_padding(values: &Values<'_>, ty: TypeId, shape: &mut [Known]) {
    let representation = &values.types[ty.index()];
    if !matches!(representation.storage, Storage::Packed | Storage::Wide) || representation.fields.is_empty()
    {
        return;
    }
    let tag = match tag_mask(representation) {
        0 => 0,
        mask if shape[0].mask & mask != mask => return,
        mask => (shape[0].bits & mask) >> mask.trailing_zeros(),
    };
    let Some(fields) = representation.fields.get(tag as usize) else { return };
    for (word, (known, &bits)) in shape.iter_mut().zip(&representation.leaves).enumerate() {
        known.mask |= mask_of(bits) & !used(representation, fields, word);
    }
}

/// The bits of the first word that tell the constructor of a packed or wide value.
fn tag_mask(shape: &Representation) -> u32 {
    match (shape.storage, shape.fields.len()) {
        (_, 1) => 0,
        (Storage::Packed, _) => mask_of(shape.leaves[0]) >> shape.tag_shift << shape.tag_shift,
        _ => mask_of(shape.leaves[0]),
    }
}

/// The bits of a word of a packed or wide value that its constructor uses.
fn used(shape: &Representation, fields: &[FieldPlace], word: usize) -> u32 {
    let tag = if word == 0 { tag_mask(shape) } else { 0 };
    fields.iter().fold(tag, |used, place| match shape.storage {
        Storage::Packed => used | place.mask << place.at,
        _ if (place.at..place.at + place.words).contains(&(word as u32)) => u32::MAX,
        _ => used,
    })
}

/// Whether words are a value of a type at all: comparisons may have named one that is not. Rows come from values.
fn is_valid(values: &Values<'_>, ty: TypeId, words: &[u32]) -> bool {
    let shape = &values.types[ty.index()];
    match &shape.kind {
        Kind::Bool => words[0] < 2,
        Kind::Number { lower, upper, offset, .. } => {
            (*lower..=*upper).contains(&(i64::from(words[0]) + offset))
        }
        Kind::Char { lower, upper } => (*lower..=*upper).contains(&words[0]),
        Kind::Enumeration(constructors) => (words[0] as usize) < constructors.len(),
        _ if shape.storage == Storage::Row => true,
        Kind::Constructed(constructors) => {
            let tag = values.tag(ty, words);
            let Some(&constructor) = constructors.get(tag as usize) else { return false };
            let places = &shape.fields[tag as usize];
            let fields = values.program[constructor].fields.iter().zip(places);
            let mut valid =
                words.iter().enumerate().all(|(word, &bits)| bits & !used(shape, places, word) == 0);
            for (field, &place) in fields {
                valid &= is_valid(values, field.ty, &values.field(ty, place, words));
            }
            valid
        }
        Kind::Array { element, .. } => (0..values.count(ty, words))
            .all(|at| is_valid(values, *element, &values.element_at(ty, words, at))),
        Kind::List { .. } | Kind::Real | Kind::String => true,
    }
}
