//! Results of functions. Functions have no effects, and equal values have equal numbers, so that results hold for ever;
//! those of list-processing functions are asked for again and again.
//!
//! Machine code looks here itself: an entry lies where [`Remembered::hash`] says, and nobody else's can be taken for it.

use crate::compile::REMEMBERED_ARGUMENTS;

/// How many results are remembered, as a power of two; a newer one takes an older one's place.
pub const MEMORY_BITS: u32 = 14;
/// After so many questions that had no answer, a function is not asked again if there were fewer than a third as many answers.
const ENOUGH_MISSED: u32 = 6000;

/// What the numbers of a result are multiplied with: the arguments, two at a time, and the function.
pub const FACTORS: [u64; 3] = [0x9E37_79B9_7F4A_7C15, 0xC2B2_AE3D_27D4_EB4F, 0x1656_67B1_9E37_79F9];

/// A result of a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(32))]
pub struct Remembered {
    /// Two at a time, the first one below.
    pub arguments: [u64; REMEMBERED_ARGUMENTS / 2],
    /// The number of the function, counted from 1, or 0.
    pub function: u32,
    pub result: u32,
}

impl Remembered {
    pub fn of(function: u32, arguments: &[u32]) -> Self {
        let argument = |at: usize| arguments.get(at).map_or(0, |&argument| u64::from(argument));
        let two = |at: usize| argument(at) | argument(at + 1) << 32;
        Remembered { arguments: [two(0), two(2)], function: function + 1, result: 0 }
    }

    /// A number of [`MEMORY_BITS`] bits. The products don't wait for each other.
    fn hash(&self) -> usize {
        let [first, second] = self.arguments;
        let hash = first
            .wrapping_mul(FACTORS[0])
            .wrapping_add(second.wrapping_mul(FACTORS[1]))
            .wrapping_add(u64::from(self.function).wrapping_mul(FACTORS[2]));
        (hash >> (u64::BITS - MEMORY_BITS)) as usize
    }
}

/// How often results of a function were asked for.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Asked {
    /// With an answer, and without one, since that was last looked at.
    pub known: u32,
    pub missed: u32,
    /// Whether there were so few answers that nobody asks any more.
    pub is_useless: u32,
}

/// The results that a machine remembers.
#[derive(Default)]
pub struct Results {
    /// Empty until somebody asks: many machines never do.
    entries: Vec<Remembered>,
    /// By function.
    asked: Vec<Asked>,
}

impl Results {
    /// Makes room for what so many functions give.
    #[cold]
    pub fn make(&mut self, functions: usize) {
        self.entries = vec![Remembered::default(); 1 << MEMORY_BITS];
        self.asked = vec![Asked::default(); functions];
    }

    /// Whether there is room.
    #[inline]
    pub fn are_made(&self) -> bool {
        !self.entries.is_empty()
    }

    /// Where results are, and how often functions were asked for them: for machine code, once there is room.
    #[inline]
    pub fn tables(&mut self) -> (*const Remembered, *mut Asked) {
        (self.entries.as_ptr(), self.asked.as_mut_ptr())
    }

    /// The result of a function, if it is remembered.
    #[inline]
    pub fn recall(&mut self, wanted: Remembered) -> Option<u32> {
        let asked = self.asked.get_mut(wanted.function as usize - 1)?;
        if asked.is_useless != 0 {
            return None;
        }
        let found = self.entries[wanted.hash()];
        if found.function != wanted.function || found.arguments != wanted.arguments {
            return None;
        }
        asked.known = asked.known.saturating_add(1);
        Some(found.result)
    }

    /// Remembers a result that was asked for in vain.
    pub fn remember(&mut self, wanted: Remembered, result: u32) {
        let Some(asked) = self.asked.get_mut(wanted.function as usize - 1) else { return };
        if asked.is_useless != 0 {
            return;
        }
        self.entries[wanted.hash()] = Remembered { result, ..wanted };
        asked.missed += 1;
        if asked.missed == ENOUGH_MISSED {
            *asked = Asked { is_useless: u32::from(asked.known < ENOUGH_MISSED / 3), ..Asked::default() };
        }
    }
}
