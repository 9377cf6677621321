//! The table of source files and the positions inside them.

use std::ops::Range;

/// A file of a [`Sources`] table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(u32);

/// A range of bytes in one file. Byte offsets are enough for every language here: files are far below 4 GiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The file the range lies in.
    pub file: FileId,
    /// Offset of the first byte.
    pub start: u32,
    /// Offset just past the last byte.
    pub end: u32,
}

impl Span {
    /// The smallest span that covers `self` and `other`, which lie in the same file.
    pub fn to(self, other: Span) -> Span {
        debug_assert_eq!(self.file, other.file);
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The byte range inside the file's text.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A position for people: both count from 1, columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineColumn {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

#[derive(Debug)]
struct SourceFile {
    name: String,
    text: String,
    /// Number of the first line of `text`: not 1 where only an excerpt of a huge file is kept.
    first_line: usize,
    /// Whether it is no file: the user gave it on the way.
    given: bool,
    /// Offset of the start of every line of `text`.
    line_starts: Vec<u32>,
}

/// All files of one run, by [`FileId`].
#[derive(Debug, Default)]
pub struct Sources {
    files: Vec<SourceFile>,
}

impl Sources {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file under the name that diagnostics show.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> FileId {
        self.add_excerpt(name, text, 1)
    }

    /// Adds a part of a file that is too large to keep: `text` starts at line `first_line` of it.
    pub fn add_excerpt(
        &mut self,
        name: impl Into<String>,
        text: impl Into<String>,
        first_line: usize,
    ) -> FileId {
        let text = text.into();
        let line_starts = std::iter::once(0)
            .chain(text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n').map(|(at, _)| at as u32 + 1))
            .collect();
        let id = FileId(self.files.len() as u32);
        self.files.push(SourceFile { name: name.into(), text, first_line, given: false, line_starts });
        id
    }

    /// Adds a text that is no file of the model, such as a process to start with, under a name that says what it is.
    pub fn add_given(&mut self, name: impl Into<String>, text: impl Into<String>) -> FileId {
        let id = self.add(name, text);
        self.files[id.0 as usize].given = true;
        id
    }

    /// Whether a text is no file of the model: [`add_given`](Self::add_given).
    pub fn is_given(&self, file: FileId) -> bool {
        self.files[file.0 as usize].given
    }

    /// The name a file was added under.
    pub fn name(&self, file: FileId) -> &str {
        &self.files[file.0 as usize].name
    }

    /// The text of a file.
    pub fn text(&self, file: FileId) -> &str {
        &self.files[file.0 as usize].text
    }

    /// All files, in the order they were added.
    pub fn files(&self) -> impl Iterator<Item = FileId> + use<> {
        (0..self.files.len() as u32).map(FileId)
    }

    /// The text under a span.
    pub fn slice(&self, span: Span) -> &str {
        self.text(span.file).get(span.range()).unwrap_or("")
    }

    /// The span of a whole file.
    pub fn span(&self, file: FileId) -> Span {
        Span { file, start: 0, end: self.text(file).len() as u32 }
    }

    /// The span of the first occurrence of `needle`: for tests and examples.
    pub fn span_of(&self, file: FileId, needle: &str) -> Option<Span> {
        let start = self.text(file).find(needle)? as u32;
        Some(Span { file, start, end: start + needle.len() as u32 })
    }

    /// Line and column of the start of a span.
    pub fn position(&self, span: Span) -> LineColumn {
        self.position_at(span.file, span.start)
    }

    /// Line and column of the end of a span.
    pub fn end_position(&self, span: Span) -> LineColumn {
        self.position_at(span.file, span.end)
    }

    fn position_at(&self, file: FileId, offset: u32) -> LineColumn {
        let file = &self.files[file.0 as usize];
        let line = file.line_starts.partition_point(|&start| start <= offset) - 1;
        let before = &file.text.as_bytes()[file.line_starts[line] as usize..][..];
        let width = (offset - file.line_starts[line]) as usize;
        let column = before.iter().take(width).filter(|&&byte| byte & 0xC0 != 0x80).count();
        LineColumn { line: file.first_line + line, column: column + 1 }
    }

    /// The number that the first line of a file's text has.
    pub fn first_line(&self, file: FileId) -> usize {
        self.files[file.0 as usize].first_line
    }

    /// How many lines a file's text has.
    pub fn line_count(&self, file: FileId) -> usize {
        self.files[file.0 as usize].line_starts.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters() {
        let mut sources = Sources::new();
        let file = sources.add("a", "é x\n\ny");
        assert_eq!(sources.position(sources.span_of(file, "x").unwrap()), LineColumn { line: 1, column: 3 });
        assert_eq!(sources.position(sources.span_of(file, "y").unwrap()), LineColumn { line: 3, column: 1 });
        let end = Span { file, start: 7, end: 7 };
        assert_eq!(sources.position(end), LineColumn { line: 3, column: 2 });
    }

    #[test]
    fn excerpts_keep_the_line_numbers_of_the_file() {
        let mut sources = Sources::new();
        let file = sources.add_excerpt("big.aut", "(0, A, 1)", 1_000_000);
        let span = sources.span_of(file, "A").unwrap();
        assert_eq!(sources.position(span), LineColumn { line: 1_000_000, column: 5 });
    }
}
