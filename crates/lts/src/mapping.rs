//! Files mapped into memory: the only `unsafe` of this crate.
//!
//! Soundness: the map is private and read-only, so nothing here can write through it, and all uses treat the
//! bytes as untrusted input that is checked on every read. What remains is another process that changes or
//! truncates the file during the run: the bytes then differ from one read to the next (no decision here relies
//! on reading the same byte twice) or the system ends the process with a bus error, as it does for every
//! program that maps files. Giving parsed pages back ([`Mapping::release`]) only drops clean pages of a file,
//! which are read again from the file if touched.
//!
//! What it buys (`make bench`, row "read"): both cores parse without copying the file, and the resident memory
//! stays at a few blocks instead of the size of the file.

#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::ops::Range;

use memmap2::{Mmap, UncheckedAdvice};

/// A file's bytes, loaded by the system as they are touched.
pub(crate) struct Mapping {
    map: Mmap,
}

impl Mapping {
    /// Maps a whole file.
    pub fn new(file: &File) -> io::Result<Self> {
        // SAFETY: see the module's header.
        let map = unsafe { Mmap::map(file)? };
        Ok(Self { map })
    }

    /// All bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.map
    }

    /// Gives the pages wholly inside `range` back to the system.
    pub fn release(&self, range: Range<usize>) {
        const PAGE: usize = 4096;
        let start = range.start.next_multiple_of(PAGE);
        let end = range.end / PAGE * PAGE;
        if start < end {
            // SAFETY: see the module's header; failure only means that the pages stay.
            let _ = unsafe { self.map.unchecked_advise_range(UncheckedAdvice::DontNeed, start, end - start) };
        }
    }
}
