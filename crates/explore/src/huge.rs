//! Large tables: memory that is zero from the start, in large pages, or handed out before it is touched.
//!
//! Soundness: advice about pages is a hint. It changes no content, whatever the address; the addresses here are those of
//! live memory, down to the page in which it begins, and an error is ignored. An atomic number has the size, the alignment
//! and the representation of a plain one, so a box of plain ones that nobody else has can become one of atomic ones.
//!
//! What it buys: the system hands out zeros, which no thread has to write. Look-ups in a table of a hundred million states
//! are all over memory. With pages of 4 KB the processor looks for the page first, in tables that are in no cache either;
//! with pages of 2 MB it knows them. Even where all of it fits into the caches, that takes a twentieth of the time. Small pages that
//! are touched one by one interrupt the program each time; asked for together, they take a fraction of that.

#![allow(unsafe_code)]

use std::sync::atomic::AtomicU32;

/// So many zeros.
pub(crate) fn zeros(count: usize) -> Box<[AtomicU32]> {
    let plain = Box::into_raw(vec![0u32; count].into_boxed_slice());
    // SAFETY: see the module's header.
    unsafe { Box::from_raw(plain as *mut [AtomicU32]) }
}

/// Asks for large pages, where the system has them. Memory should not be touched before.
pub(crate) fn prefer_large_pages<T>(elements: &[T]) {
    #[cfg(target_os = "linux")]
    advise(elements, rustix::mm::Advice::LinuxHugepage);
    #[cfg(not(target_os = "linux"))]
    let _ = elements;
}

/// Has the system hand out memory that will be touched soon.
pub(crate) fn hand_out<T>(elements: &[T]) {
    #[cfg(target_os = "linux")]
    advise(elements, rustix::mm::Advice::LinuxPopulateWrite);
    #[cfg(not(target_os = "linux"))]
    let _ = elements;
}

#[cfg(target_os = "linux")]
fn advise<T>(elements: &[T], advice: rustix::mm::Advice) {
    let start = elements.as_ptr() as usize;
    let inside = start % rustix::param::page_size();
    let first = (start - inside) as *mut core::ffi::c_void;
    // SAFETY: see the module's header.
    let _ = unsafe { rustix::mm::madvise(first, size_of_val(elements) + inside, advice) };
}
