//! Memory that will be needed soon.
//!
//! Soundness: a prefetch is a hint. It reads nothing into the program, writes nothing and never faults, whatever the
//! address; the addresses here are those of live memory all the same.
//!
//! What it buys (`make bench SECTIONS=exploration`): look-ups in the state table wait for memory. A plain load ahead of
//! time helps less, because the processor can't retire it, and what follows, before the data has arrived.

#![allow(unsafe_code)]

/// Asks for the cache line of an element, if there is one.
#[inline(always)]
pub fn prefetch<T>(elements: &[T], index: usize) {
    if let Some(element) = elements.get(index) {
        prefetch_at(element);
    }
}

/// Asks for the cache line at an address.
#[inline(always)]
pub(crate) fn prefetch_at<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: see the module's header.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    std::hint::black_box(address);
}
