//! Where states go when memory ends: a file without a name, so that nothing is left of it, however the program ends.
//!
//! What is added is written by ordinary writes, waited for, and then mapped to be read. So a full disk is an error of
//! writing and nothing worse, and the memory of what was moved is really free: the system keeps what it has room for.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};

use memmap2::{Advice, Mmap};

use crate::team::lock;
use crate::words::Words;

/// How many numbers are written at a time.
const AT_A_TIME: usize = 1 << 16;

/// A place on disk for states that memory has no room for: see [`Limits::disk`](crate::Limits::disk).
///
/// ```
/// let disk = explore::Disk::in_folder(&std::env::temp_dir()).expect("a folder for such files");
/// let limits = explore::Limits { bytes: 100_000_000, disk: Some(disk), ..Default::default() };
/// ```
#[derive(Clone, Debug)]
pub struct Disk {
    file: Arc<Mutex<Growing>>,
}

#[derive(Debug)]
struct Growing {
    file: File,
    /// Where the next numbers go: behind all that are mapped.
    end: u64,
}

impl Disk {
    /// A file in a folder, without a name from the start or as soon as it is there.
    pub fn in_folder(folder: &Path) -> io::Result<Self> {
        Ok(Self::new(tempfile::tempfile_in(folder)?))
    }

    /// An empty file that nobody else has.
    pub(crate) fn new(file: File) -> Self {
        Self { file: Arc::new(Mutex::new(Growing { file, end: 0 })) }
    }

    /// Writes some numbers, and gives them as they lie there. All or none.
    pub(crate) fn add(&self, parts: &[&[u32]]) -> io::Result<Vec<Words>> {
        let growing = &mut *lock(&self.file);
        let added = growing.write(parts);
        match &added {
            Ok(_) => growing.end += parts.iter().map(|part| size_of_val(*part) as u64).sum::<u64>(),
            // Others may need the room. If that fails, too, it is only wasted.
            Err(_) => drop(growing.file.set_len(growing.end)),
        }
        added
    }
}

impl Growing {
    fn write(&mut self, parts: &[&[u32]]) -> io::Result<Vec<Words>> {
        let Self { file, end } = self;
        file.seek(SeekFrom::Start(*end))?;
        let mut bytes = Vec::with_capacity(AT_A_TIME * size_of::<u32>());
        for some in parts.iter().flat_map(|part| part.chunks(AT_A_TIME)) {
            bytes.clear();
            bytes.extend(some.iter().flat_map(|word| word.to_ne_bytes()));
            file.write_all(&bytes)?;
        }
        // Some systems find out only now that there is no room.
        file.sync_data()?;
        let mut position = *end;
        let mut place = |part: &&[u32]| {
            let words = Words::mapped(file, position, part.len())?;
            position += size_of_val(*part) as u64;
            // Looking states up jumps about: what lies around one is not needed next.
            advise(words.on_disk(), Advice::Random);
            Ok(words)
        };
        parts.iter().map(&mut place).collect()
    }
}

/// Says that mapped numbers will be read soon, one after the other.
pub(crate) fn will_need(words: &Words) {
    advise(words.on_disk(), Advice::WillNeed);
}

/// Advice changes nothing but speed, so nobody needs to know if it is not taken.
fn advise(map: Option<&Mmap>, advice: Advice) {
    if let Some(map) = map {
        let _ = map.advise(advice);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_from_disk_are_those_written() {
        let disk = Disk::in_folder(&std::env::temp_dir()).unwrap();
        // Neither whole pages nor whole portions.
        let first: Vec<u32> = (0..3 * AT_A_TIME as u32 + 5).collect();
        let second = [u32::MAX; 7];
        let added = disk.add(&[&first, &second]).unwrap();
        let more = disk.add(&[&first[3..]]).unwrap();
        drop(disk);
        assert_eq!((&added[0][..], &added[1][..]), (&first[..], &second[..]));
        assert_eq!(more[0][..], first[3..]);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn what_does_not_arrive_leaves_the_rest_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("numbers");
        std::fs::write(&path, []).unwrap();
        // Can be read only: a disk that got stuck.
        let disk = Disk::new(File::open(&path).unwrap());
        assert!(disk.add(&[&[1, 2, 3]]).is_err());
        assert_eq!(lock(&disk.file).end, 0);
    }
}
