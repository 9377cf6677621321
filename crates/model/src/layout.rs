//! How state vectors are packed: each slot in as many bits as its values need.

use crate::{ModelError, Slot};

/// Among so many words one with room for a field is looked for.
const LOOKED_AT: usize = 16;

/// The slots of a state vector and where each lies in its packed form.
///
/// ```
/// let layout = model::Layout::new(&[2, 32, 1]);
/// let mut packed = vec![0; layout.words()];
/// layout.pack(&[3, 70_000, 1], &mut packed)?;
/// let mut state = vec![0; layout.width()];
/// layout.unpack(&packed, &mut state);
/// assert_eq!(state, [3, 70_000, 1]);
/// // A value that needs more bits than its slot has would change its neighbours.
/// assert!(layout.pack(&[4, 70_000, 1], &mut packed).is_err());
/// # Ok::<(), model::ModelError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Layout {
    fields: Vec<Field>,
    words: usize,
}

#[derive(Clone, Copy, Debug)]
struct Field {
    word: u32,
    shift: u32,
    mask: u32,
}

impl Layout {
    /// A layout for slots of these numbers of bits, 0 to 32 each; a field never crosses a word of 32 bits. It goes into the first
    /// word with room for it, of the last few.
    pub fn new(bits: &[u32]) -> Self {
        let mut used = vec![0];
        let mut fields = Vec::with_capacity(bits.len());
        for &bits in bits {
            debug_assert!(bits <= 32);
            let first = used.len().saturating_sub(LOOKED_AT);
            let room = used[first..].iter().position(|used| used + bits <= 32);
            let word = room.map_or(used.len(), |word| first + word);
            if word == used.len() {
                used.push(0);
            }
            let mask = ((1u64 << bits) - 1) as u32;
            fields.push(Field { word: word as u32, shift: used[word].min(31), mask });
            used[word] += bits;
        }
        Self { fields, words: used.len() }
    }

    /// How many slots a state has.
    pub fn width(&self) -> usize {
        self.fields.len()
    }

    /// How many 32-bit words a packed state has; at least one.
    pub fn words(&self) -> usize {
        self.words.max(1)
    }

    /// The value of one slot of a packed state.
    #[inline]
    pub fn get(&self, packed: &[u32], slot: usize) -> Slot {
        let field = self.fields[slot];
        (packed[field.word as usize] >> field.shift) & field.mask
    }

    /// Where a slot lies: its word, its lowest bit there, and its bits shifted down to bit 0.
    pub fn place(&self, slot: usize) -> (u32, u32, u32) {
        let field = self.fields[slot];
        (field.word, field.shift, field.mask)
    }

    /// Packs a state; an error if a value has more bits than its slot, whose neighbours would take them.
    #[inline]
    pub fn pack(&self, state: &[Slot], packed: &mut [u32]) -> Result<(), ModelError> {
        packed.fill(0);
        let mut beyond = 0;
        for (field, &value) in self.fields.iter().zip(state) {
            beyond |= value & !field.mask;
            packed[field.word as usize] |= value << field.shift;
        }
        if beyond == 0 { Ok(()) } else { Err(does_not_fit()) }
    }

    /// Packs a state that differs little from another one, whose packed form is known; errors as [`Layout::pack`].
    #[inline]
    pub fn repack(
        &self,
        before: &[Slot],
        packed_before: &[u32],
        state: &[Slot],
        packed: &mut [u32],
    ) -> Result<(), ModelError> {
        packed.copy_from_slice(packed_before);
        let mut beyond = 0;
        // Blocks of this size are compared at once.
        let ((new_blocks, new_rest), (old_blocks, old_rest)) =
            (state.as_chunks::<8>(), before.as_chunks::<8>());
        let mut first = 0;
        for (new, old) in new_blocks.iter().zip(old_blocks) {
            let differs = new.iter().zip(old).fold(0, |all, (new, old)| all | (new ^ old));
            if differs != 0 {
                beyond |= repack_fields(&self.fields[first..], new, old, packed);
            }
            first += 8;
        }
        beyond |= repack_fields(&self.fields[first..], new_rest, old_rest, packed);
        if beyond == 0 { Ok(()) } else { Err(does_not_fit()) }
    }

    /// Unpacks a state.
    #[inline]
    pub fn unpack(&self, packed: &[u32], state: &mut [Slot]) {
        for (field, value) in self.fields.iter().zip(state) {
            *value = (packed[field.word as usize] >> field.shift) & field.mask;
        }
    }
}

/// This can't happen unless a front end gives a slot too few bits: then no state would be right, so the run ends.
#[cold]
fn does_not_fit() -> ModelError {
    ModelError {
        message: "internal error: a value does not fit its slot of the state".into(),
        span: None,
        help: Some("nothing about this model can be trusted; please report it".into()),
        during: None,
    }
}

/// Gives the bits of values beyond those of their slots.
#[inline]
fn repack_fields(fields: &[Field], new: &[Slot], old: &[Slot], packed: &mut [u32]) -> u32 {
    let mut beyond = 0;
    for ((&new, &old), field) in new.iter().zip(old).zip(fields) {
        if new != old {
            beyond |= new & !field.mask;
            let word = &mut packed[field.word as usize];
            *word = (*word & !(field.mask << field.shift)) | (new & field.mask) << field.shift;
        }
    }
    beyond
}
