//! Numbers that lie in memory or, once they never change again, in a file that is mapped. Who reads them sees no
//! difference: both are a place and a length.
//!
//! Where numbers may move to a file, their memory is a map of its own, so that the system has it back at once; an allocator
//! would keep what lies between other things. Where nothing moves, the allocator has the better place.
//!
//! Soundness: `start` and `len` describe the vector or the map in `place`, which is never changed, lives as long and moves
//! along; moving one doesn't move what it holds. Any four bytes are a number; that a file has all of them, and that they begin where numbers may begin, is
//! checked before. Only `&mut self` gives out something to write through, and only where it is memory that nobody else
//! has. A mapped file is read-only, and nobody else has it: [`Disk`](crate::Disk), the only one that maps files here, has one
//! without a name, adds to it at its end and shortens it to no less than what is mapped. The bytes were written by
//! ordinary writes and have arrived at the disk, so a full disk was an error then and can't be one now; a disk that breaks
//! afterwards ends the process with a bus error, as it does for every program that maps files. Plain numbers may be read by many
//! threads, and written by the one that has them for itself.
//!
//! What it buys: looking at a state is the innermost loop of an exploration, and would otherwise ask each time where the
//! state lies.

#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::ops::Deref;
use std::ptr::NonNull;

use memmap2::{Mmap, MmapMut, MmapOptions};

/// Numbers, wherever they lie.
pub(crate) struct Words {
    start: NonNull<u32>,
    len: usize,
    place: Place,
}

/// What `start` points into.
#[expect(dead_code, reason = "memory is only kept")]
enum Place {
    Memory(Vec<u32>),
    MappedMemory(MmapMut),
    Disk(Mmap),
}

// SAFETY: see the module's header.
unsafe impl Send for Words {}
// SAFETY: see the module's header.
unsafe impl Sync for Words {}

impl Words {
    /// So many zeros in memory. The system knows that new memory is zero, and hands it out when it is touched.
    pub fn zeros(len: usize) -> Self {
        let mut all = vec![0; len];
        let start = NonNull::from(&mut all[..]).cast();
        Self { start, len, place: Place::Memory(all) }
    }

    /// The same in memory of its own, for numbers that may move.
    pub fn zeros_that_move(len: usize) -> Self {
        let layout = std::alloc::Layout::array::<u32>(len).expect("numbers fit into memory");
        // Where there is no more, this ends as every allocation does.
        let mut map = MmapMut::map_anon(layout.size().max(1))
            .unwrap_or_else(|_| std::alloc::handle_alloc_error(layout));
        // Pages begin where numbers may begin.
        let start = NonNull::from(&mut map[..]).cast();
        Self { start, len, place: Place::MappedMemory(map) }
    }

    /// So many numbers of a file, from a position on.
    pub fn mapped(file: &File, position: u64, len: usize) -> io::Result<Self> {
        let bytes = len * size_of::<u32>();
        if file.metadata()?.len() < position + bytes as u64 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        // SAFETY: see the module's header.
        let map = unsafe { MmapOptions::new().offset(position).len(bytes).map(file)? };
        let start = NonNull::from(&map[..]).cast::<u32>();
        if !start.is_aligned() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        Ok(Self { start, len, place: Place::Disk(map) })
    }

    /// For writing them: none once they are mapped from a file.
    pub fn writable(&mut self) -> &mut [u32] {
        match &self.place {
            // SAFETY: see the module's header.
            Place::Memory(_) | Place::MappedMemory(_) => unsafe {
                std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len)
            },
            Place::Disk(_) => &mut [],
        }
    }

    /// What they are mapped from, if that is a file.
    pub fn on_disk(&self) -> Option<&Mmap> {
        match &self.place {
            Place::Memory(_) | Place::MappedMemory(_) => None,
            Place::Disk(map) => Some(map),
        }
    }
}

impl Deref for Words {
    type Target = [u32];

    #[inline(always)]
    fn deref(&self) -> &[u32] {
        // SAFETY: see the module's header.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_a_file_does_not_have_are_an_error() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(4096).unwrap();
        assert_eq!(Words::mapped(&file, 4088, 2).unwrap()[..], [0, 0]);
        assert!(Words::mapped(&file, 4088, 3).is_err());
        assert!(Words::mapped(&file, 4090, 1).is_err(), "numbers begin at multiples of four");
    }

    #[test]
    fn what_is_mapped_is_not_written() {
        for mut words in [Words::zeros(3), Words::zeros_that_move(3)] {
            words.writable()[1] = 7;
            assert_eq!(words[..], [0, 7, 0]);
        }
        assert!(Words::zeros(0).is_empty() && Words::zeros_that_move(0).writable().is_empty());
        let file = tempfile::tempfile().unwrap();
        file.set_len(8).unwrap();
        let mut words = Words::mapped(&file, 0, 2).unwrap();
        assert!(words.writable().is_empty() && words.len() == 2);
    }
}
