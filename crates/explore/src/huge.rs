//! Large pages for large tables.
//!
//! Soundness: advice about pages is a hint. It changes no content, whatever the address; the addresses here are those of
//! live memory, down to the page in which it begins, and an error is ignored.
//!
//! What it buys: look-ups in a table of a hundred million states are all over memory. With pages of 4 KB the processor
//! looks for the page first, in tables that are in no cache either; with pages of 2 MB it knows them.

#![allow(unsafe_code)]

/// Asks for large pages, where the system has them. Memory should not be touched before.
pub(crate) fn prefer_large_pages<T>(elements: &[T]) {
    #[cfg(target_os = "linux")]
    {
        use rustix::mm::{Advice, madvise};
        let start = elements.as_ptr() as usize;
        let inside = start % rustix::param::page_size();
        let first = (start - inside) as *mut core::ffi::c_void;
        // SAFETY: see the module's header.
        let _ = unsafe { madvise(first, size_of_val(elements) + inside, Advice::LinuxHugepage) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = elements;
}
