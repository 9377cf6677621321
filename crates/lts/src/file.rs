//! Files by name: `-` for the standard streams, `.gz` and `.zst` unpacked and packed on the way, outputs
//! written beside their place and renamed, so that a failure never leaves half a file.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

/// A file that could not be opened, read or written.
#[derive(Debug, thiserror::Error)]
#[error("{}: {error}", path.display())]
pub struct FileError {
    /// The file.
    pub path: PathBuf,
    /// What the system said.
    pub error: io::Error,
}

impl FileError {
    /// The function that turns an I/O error on `path` into this.
    pub fn at(path: &Path) -> impl Fn(io::Error) -> FileError + '_ {
        |error| FileError { path: path.to_owned(), error }
    }
}

/// How the bytes of a file are packed, told by its last extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Packing {
    Plain,
    Gzip,
    Zstd,
}

fn packing(path: &Path) -> Packing {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("gz") => Packing::Gzip,
        Some("zst") => Packing::Zstd,
        _ => Packing::Plain,
    }
}

/// Whether the name stands for standard input or output.
pub fn is_standard_stream(path: &Path) -> bool {
    path == Path::new("-")
}

/// The extension that tells the format, in lower case, looking through `.gz` and `.zst`.
///
/// ```
/// use std::path::Path;
/// assert_eq!(lts::format_extension(Path::new("big.aut.zst")).as_deref(), Some("aut"));
/// assert_eq!(lts::format_extension(Path::new("-")), None);
/// ```
pub fn format_extension(path: &Path) -> Option<String> {
    let stem = match packing(path) {
        Packing::Plain => path.to_owned(),
        _ => path.with_extension(""),
    };
    stem.extension().and_then(|extension| extension.to_str()).map(str::to_lowercase)
}

/// The bytes of an opened input.
pub(crate) enum Input {
    /// A plain file, mapped into memory.
    Mapped(crate::mapping::Mapping),
    /// Anything else, in order.
    Stream(Box<dyn Read + Send>),
}

/// Opens a file for reading. Plain regular files are mapped, everything else is a stream.
pub(crate) fn open(path: &Path) -> Result<Input, FileError> {
    if is_standard_stream(path) {
        return Ok(Input::Stream(Box::new(io::stdin())));
    }
    let file = File::open(path).map_err(FileError::at(path))?;
    let metadata = file.metadata().map_err(FileError::at(path))?;
    if metadata.is_dir() {
        return Err(FileError::at(path)(io::Error::new(io::ErrorKind::IsADirectory, "is a directory")));
    }
    Ok(match packing(path) {
        Packing::Plain if metadata.is_file() && metadata.len() > 0 => {
            Input::Mapped(crate::mapping::Mapping::new(&file).map_err(FileError::at(path))?)
        }
        Packing::Plain => Input::Stream(Box::new(file)),
        Packing::Gzip => Input::Stream(Box::new(flate2::read::MultiGzDecoder::new(file))),
        Packing::Zstd => {
            Input::Stream(Box::new(zstd::stream::read::Decoder::new(file).map_err(FileError::at(path))?))
        }
    })
}

/// The bytes of a file one after the other, unpacked where its name says that it is packed.
pub fn read_stream(path: &Path) -> Result<Box<dyn Read + Send>, FileError> {
    match (is_standard_stream(path), packing(path)) {
        (false, Packing::Plain) => {
            let file = File::open(path).map_err(FileError::at(path))?;
            match file.metadata().map_err(FileError::at(path))?.is_dir() {
                true => {
                    Err(FileError::at(path)(io::Error::new(io::ErrorKind::IsADirectory, "is a directory")))
                }
                false => Ok(Box::new(file)),
            }
        }
        _ => match open(path)? {
            Input::Stream(stream) => Ok(stream),
            Input::Mapped(mapping) => Ok(Box::new(io::Cursor::new(mapping.bytes().to_vec()))),
        },
    }
}

/// The whole text of a file, for the small ones that hold networks and properties.
pub fn read_text(path: &Path) -> Result<String, FileError> {
    let not_text = |_| FileError::at(path)(io::Error::new(io::ErrorKind::InvalidData, "not UTF-8 text"));
    String::from_utf8(read_bytes(path)?).map_err(not_text)
}

/// All bytes of a file, unpacked where its name says that it is packed.
pub fn read_bytes(path: &Path) -> Result<Vec<u8>, FileError> {
    match open(path)? {
        Input::Mapped(mapping) => Ok(mapping.bytes().to_vec()),
        Input::Stream(mut stream) => {
            let mut bytes = Vec::new();
            stream.read_to_end(&mut bytes).map_err(FileError::at(path))?;
            Ok(bytes)
        }
    }
}

/// Writes a file through `write`: to a temporary file first, renamed into place when all went well.
///
/// ```
/// use std::io::Write;
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("hello.txt.gz");
/// lts::write_file(&path, |out| out.write_all(b"hello"))?;
/// assert_eq!(lts::read_text(&path)?, "hello");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_file(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), FileError> {
    write_checked(path, write).map_err(FileError::at(path))
}

fn write_checked(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    if is_standard_stream(path) {
        let mut out = BufWriter::new(io::stdout().lock());
        write(&mut out)?;
        return out.flush();
    }
    // Devices and pipes can't be renamed over; they are written as they are.
    if path.exists() && !path.is_file() {
        let mut out = BufWriter::new(File::create(path)?);
        write(&mut out)?;
        return out.flush();
    }
    // A link keeps pointing to the file it names: the file behind it is the one replaced.
    let path = &path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let temporary = tempfile::NamedTempFile::new_in(folder)?;
    let file = BufWriter::with_capacity(1 << 16, temporary.as_file());
    match packing(path) {
        Packing::Plain => {
            let mut out = file;
            write(&mut out)?;
            out.flush()?;
        }
        Packing::Gzip => {
            let mut out = flate2::write::GzEncoder::new(file, flate2::Compression::default());
            write(&mut out)?;
            out.finish()?.flush()?;
        }
        Packing::Zstd => {
            let mut out = zstd::stream::write::Encoder::new(file, 0)?;
            write(&mut out)?;
            out.finish()?.flush()?;
        }
    }
    set_usual_permissions(temporary.as_file(), path)?;
    temporary.persist(path).map_err(|failure| failure.error)?;
    Ok(())
}

/// Temporary files are private to their owner; the result should be what an ordinary `create` gives, or keep
/// what the replaced file had.
#[cfg(unix)]
fn set_usual_permissions(file: &File, path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mode = match std::fs::metadata(path) {
        Ok(metadata) => metadata.permissions().mode(),
        Err(_) => 0o644,
    };
    file.set_permissions(std::fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn set_usual_permissions(_: &File, _: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_the_old_file_and_no_litter() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.aut");
        write_file(&path, |out| out.write_all(b"old")).unwrap();
        let failed = write_file(&path, |out| {
            out.write_all(b"new")?;
            Err(io::Error::other("no"))
        });
        assert!(failed.is_err());
        assert_eq!(read_text(&path).unwrap(), "old");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn every_packing_round_trips() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.txt", "a.txt.gz", "a.txt.zst"] {
            let path = folder.path().join(name);
            write_file(&path, |out| out.write_all(b"some text")).unwrap();
            assert_eq!(read_text(&path).unwrap(), "some text", "{name}");
        }
        assert!(std::fs::read(folder.path().join("a.txt.gz")).unwrap().starts_with(&[0x1f, 0x8b]));
    }

    #[test]
    fn a_broken_archive_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.gz", "a.zst"] {
            let path = folder.path().join(name);
            std::fs::write(&path, "not an archive").unwrap();
            assert!(read_text(&path).is_err(), "{name}");
        }
    }
}
