//! Which values lie in memory already, so that nobody copies them there.
//!
//! Arrays that are indexed lie in stack slots. Passed to a function that is built in and back, they would be loaded and stored
//! word by word each time. But where a value was loaded, it still is as long as nothing was stored there since: whoever only reads
//! takes the slot as it is, and whoever changes it does so in place, if it belongs to nobody else or is about to be
//! replaced by the result.
//!
//! That nothing was stored since is known within a block, where instructions run as they are written: between two of them lie at
//! most functions that are built in, whole.

use cranelift_codegen::ir::{StackSlot, Value};
use rustc_hash::FxHashMap;

/// Where values lie.
#[derive(Default)]
pub(super) struct Copies {
    loaded: FxHashMap<Value, Loaded>,
    /// How often something was stored in each slot.
    stored: FxHashMap<StackSlot, u32>,
    /// The block that is built, and how many there were.
    block: u32,
    blocks: u32,
    /// The slots of variables of the functions that are being built in, outermost first.
    used: Vec<StackSlot>,
}

/// Where a value was loaded from, and when.
#[derive(Clone, Copy)]
struct Loaded {
    slot: StackSlot,
    word: u32,
    stored: u32,
    block: u32,
}

/// What to come back to behind a function that is built in.
pub(super) struct Outer {
    block: u32,
    used: usize,
}

impl Copies {
    /// Another block begins.
    pub fn begin_block(&mut self) {
        self.blocks += 1;
        self.block = self.blocks;
    }

    /// A function is about to be built in.
    pub fn enter(&self) -> Outer {
        Outer { block: self.block, used: self.used.len() }
    }

    /// The block goes on behind a function that was built in, whose variables are gone.
    pub fn leave(&mut self, outer: &Outer) {
        self.block = outer.block;
        self.used.truncate(outer.used);
    }

    /// A slot holds a variable of the function that is being built in.
    pub fn uses(&mut self, slot: StackSlot) {
        self.used.push(slot);
    }

    /// Whether no variable lies in a slot any more.
    pub fn is_free(&self, slot: StackSlot) -> bool {
        !self.used.contains(&slot)
    }

    /// Something was stored in a slot.
    pub fn store(&mut self, slot: StackSlot) {
        *self.stored.entry(slot).or_default() += 1;
    }

    /// A value is that of a word of a slot.
    pub fn load(&mut self, value: Value, slot: StackSlot, word: u32) {
        let stored = self.stored.get(&slot).copied().unwrap_or(0);
        self.loaded.insert(value, Loaded { slot, word, stored, block: self.block });
    }

    /// Where a value lies, if it does: the slot and the word in there.
    pub fn place(&self, value: Value) -> Option<(StackSlot, u32)> {
        let loaded = self.loaded.get(&value)?;
        let stored = self.stored.get(&loaded.slot).copied().unwrap_or(0);
        (loaded.block == self.block && loaded.stored == stored).then_some((loaded.slot, loaded.word))
    }

    /// The slot that begins with these values.
    pub fn slot_with(&self, values: &[Value]) -> Option<StackSlot> {
        let (slot, _) = self.place(*values.first()?)?;
        let lies = |(value, word): (&Value, u32)| self.place(*value) == Some((slot, word));
        values.iter().zip(0..).all(lies).then_some(slot)
    }
}
