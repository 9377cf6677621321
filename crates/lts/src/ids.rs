//! Typed indices. Public signatures never pass bare integers for states and labels.

use std::fmt;

macro_rules! index_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        #[repr(transparent)]
        pub struct $name(u32);

        impl $name {
            /// The index as a typed id. Panics past 2³² − 1, which every builder checks for first.
            #[inline]
            pub fn new(index: usize) -> Self {
                debug_assert!(index <= u32::MAX as usize);
                Self(index as u32)
            }

            /// The id as an index into an array.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// The id as the number it is stored as.
            #[inline]
            pub fn raw(self) -> u32 {
                self.0
            }

            /// The id stored as `raw`.
            #[inline]
            pub fn from_raw(raw: u32) -> Self {
                Self(raw)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(out, "{}", self.0)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(out, "{}", self.0)
            }
        }
    };
}

index_type! {
    /// A state of an [`Lts`](crate::Lts).
    StateId
}
index_type! {
    /// A label of a [`Labels`](crate::Labels) table.
    LabelId
}
index_type! {
    /// Where a transition comes from in the model's source; opaque here, resolved by whoever built the LTS.
    OriginId
}

impl LabelId {
    /// The internal action `i`: the first label of every table.
    pub const TAU: LabelId = LabelId(0);

    /// Whether this is the internal action.
    #[inline]
    pub fn is_tau(self) -> bool {
        self == Self::TAU
    }
}

impl OriginId {
    /// The first origin.
    pub const ZERO: OriginId = OriginId(0);
}
