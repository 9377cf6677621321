//! Reading AUT, in parallel.
//!
//! The input is cut into blocks at line ends: slices of a mapped file, or buffers filled from a stream while
//! other blocks are parsed. Each block becomes triples with labels numbered inside the block; then the blocks
//! are merged in order, so labels are numbered by first appearance whatever the threads did. Memory: 12 bytes
//! a transition while merging, released block by block; never more than a multiple of the input's size,
//! whatever its header claims.

use std::io::Read;
use std::ops::Range;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use rayon::prelude::*;
use source::{Diagnostic, Sources};

use super::write::from_one_line;
use crate::builder::TooLarge;
use crate::file::{self, FileError, Input};
use crate::ids::{LabelId, StateId};
use crate::label::Labels;
use crate::lts::{Edge, Lts};
use crate::mapping::Mapping;
use crate::progress::Progress;

/// How to read an AUT file.
#[derive(Clone, Debug, Default)]
pub struct AutOptions {
    /// A second name of the internal action besides `i`; mCRL2 writes `tau`.
    pub tau: Option<String>,
    /// Whether states may have any numbers, as in counterexamples that keep those of a larger system. They are
    /// numbered anew in ascending order; the header's count must still be right.
    pub sparse: bool,
}

/// What is wrong with an AUT text, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct AutError {
    /// Line, from 1.
    pub line: usize,
    /// Column in bytes, from 1.
    pub column: usize,
    /// How many bytes of the line are concerned.
    pub width: usize,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// The line, shortened where it is very long.
    pub text: String,
}

impl AutError {
    /// The error as a diagnostic on the file `name`, with the sources to render it from.
    pub fn diagnostic(&self, name: &str) -> (Sources, Diagnostic) {
        let mut sources = Sources::new();
        let file = sources.add_excerpt(name, self.text.clone(), self.line);
        let start = (self.column - 1).min(self.text.len()) as u32;
        let span = source::Span { file, start, end: start + self.width as u32 };
        let diagnostic =
            Diagnostic::error(self.message.clone()).label(span, "").maybe_help(self.hint.clone());
        (sources, diagnostic)
    }
}

/// Why a file could not be read as a transition system.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file itself could not be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The text is not a transition system.
    #[error("{name}: {error}")]
    Syntax {
        /// The file's name.
        name: String,
        /// What is wrong in it.
        error: AutError,
    },
    /// The system has more parts than indices can name.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
    /// The reader was asked to stop.
    #[error("reading was cancelled")]
    Cancelled,
}

/// Reads a system from an AUT file: `-` is standard input, `.gz` and `.zst` are unpacked.
pub fn read_aut(path: &Path, options: &AutOptions, progress: &Progress) -> Result<Lts, ReadError> {
    let at_file = FileError::at(path);
    let failure = |failure| match failure {
        Failure::Syntax(error) => ReadError::Syntax { name: path.display().to_string(), error },
        Failure::Stream(error) => ReadError::File(at_file(error)),
        Failure::TooLarge(error) => ReadError::TooLarge(error),
        Failure::Cancelled => ReadError::Cancelled,
    };
    match file::open(path)? {
        Input::Mapped(mapping) => {
            progress.expect(mapping.bytes().len() as u64);
            read(BlockSource::Mapped { cursor: 0, mapping: &mapping }, options, progress).map_err(failure)
        }
        Input::Stream(stream) => {
            let source = BlockSource::Stream { stream, rest: Vec::new(), ended: false };
            read(source, options, progress).map_err(failure)
        }
    }
}

/// Reads a system from AUT text.
///
/// ```
/// let lts = lts::parse_aut("des (1, 2, 2)\n(1, A (x, y), 0)\n(0, i, 1)\n", &Default::default())?;
/// assert_eq!((lts.state_count(), lts.initial().index()), (2, 1));
/// # Ok::<(), lts::AutError>(())
/// ```
pub fn parse_aut(text: &str, options: &AutOptions) -> Result<Lts, AutError> {
    let source = BlockSource::Text { cursor: 0, text: text.as_bytes() };
    match read(source, options, &Progress::new()) {
        Ok(lts) => Ok(lts),
        Err(Failure::Syntax(error)) => Err(error),
        Err(Failure::Stream(_) | Failure::TooLarge(_) | Failure::Cancelled) => {
            unreachable!("a text in memory is read to its end and has fewer than 2^32 lines")
        }
    }
}

enum Failure {
    Syntax(AutError),
    Stream(std::io::Error),
    TooLarge(TooLarge),
    Cancelled,
}

/// Bytes of a block: borrowed from the file or owned.
enum Block<'a> {
    Slice { bytes: &'a [u8], mapped: Option<(&'a Mapping, Range<usize>)> },
    Owned(Vec<u8>),
}

impl Block<'_> {
    fn bytes(&self) -> &[u8] {
        match self {
            Block::Slice { bytes, .. } => bytes,
            Block::Owned(bytes) => bytes,
        }
    }
}

/// Where blocks come from.
enum BlockSource<'a> {
    Mapped { cursor: usize, mapping: &'a Mapping },
    Text { cursor: usize, text: &'a [u8] },
    Stream { stream: Box<dyn Read + Send>, rest: Vec<u8>, ended: bool },
}

const BLOCK_BYTES: usize = 1 << 20;

impl<'a> BlockSource<'a> {
    /// The next block of whole lines, or nothing at the end.
    fn next(&mut self) -> std::io::Result<Option<Block<'a>>> {
        match self {
            BlockSource::Mapped { cursor, mapping } => {
                let mapping = *mapping;
                let range = next_lines(mapping.bytes(), cursor);
                Ok(range.map(|range| Block::Slice {
                    bytes: &mapping.bytes()[range.clone()],
                    mapped: Some((mapping, range)),
                }))
            }
            BlockSource::Text { cursor, text } => {
                let text = *text;
                let range = next_lines(text, cursor);
                Ok(range.map(|range| Block::Slice { bytes: &text[range], mapped: None }))
            }
            BlockSource::Stream { stream, rest, ended } => fill_block(stream, rest, ended),
        }
    }
}

/// The range of about [`BLOCK_BYTES`] from `cursor` that ends at a line end.
fn next_lines(bytes: &[u8], cursor: &mut usize) -> Option<Range<usize>> {
    let start = *cursor;
    if start >= bytes.len() {
        return None;
    }
    let wanted = (start + BLOCK_BYTES).min(bytes.len());
    let end = memchr::memchr(b'\n', &bytes[wanted - 1..]).map_or(bytes.len(), |at| wanted + at);
    *cursor = end;
    Some(start..end)
}

/// Reads the next block of a stream; what follows its last line end waits in `rest`.
fn fill_block(
    stream: &mut dyn Read,
    rest: &mut Vec<u8>,
    ended: &mut bool,
) -> std::io::Result<Option<Block<'static>>> {
    let mut block = std::mem::take(rest);
    let mut wanted = BLOCK_BYTES;
    while !*ended {
        let missing = wanted.saturating_sub(block.len()).max(BLOCK_BYTES / 4);
        let read = stream.take(missing as u64).read_to_end(&mut block)?;
        *ended = read < missing;
        match memchr::memrchr(b'\n', &block) {
            Some(at) if !*ended => {
                *rest = block.split_off(at + 1);
                return Ok(Some(Block::Owned(block)));
            }
            // A line longer than the block: take more.
            _ => wanted = block.len() * 2,
        }
    }
    Ok((!block.is_empty()).then_some(Block::Owned(block)))
}

struct Header {
    initial: u64,
    transitions: u64,
    states: u64,
    line: Line,
    /// Columns and widths of the three numbers.
    places: [(usize, usize); 3],
}

/// A line kept for error messages.
#[derive(Clone)]
struct Line {
    number: usize,
    text: String,
}

/// What one block holds.
struct Parsed {
    sources: Vec<u32>,
    /// Labels are numbered inside the block.
    edges: Vec<Edge>,
    labels: Labels,
    lines: usize,
    sorted: bool,
}

/// Reads the header on this thread and the rest on all of them.
fn read(mut input: BlockSource<'_>, options: &AutOptions, progress: &Progress) -> Result<Lts, Failure> {
    let first = input.next().map_err(Failure::Stream)?;
    let first = first.unwrap_or(Block::Slice { bytes: &[], mapped: None });
    let mut total_bytes = first.bytes().len();
    let (header, body_start, lines_before) =
        parse_header(first.bytes(), options.sparse).map_err(Failure::Syntax)?;

    let first_error = AtomicUsize::new(usize::MAX);
    let parse = |index: usize, block: &[u8], released: Option<(&Mapping, Range<usize>)>| {
        if progress.is_cancelled() || first_error.load(Relaxed) < index {
            return (index, None);
        }
        let parsed = BlockParser { states: if options.sparse { u64::from(u32::MAX) } else { header.states } }
            .parse(block);
        if let Some((mapping, range)) = released {
            mapping.release(range);
        }
        progress.advance(block.len() as u64);
        if parsed.is_err() {
            first_error.fetch_min(index, Relaxed);
        }
        (index, Some(parsed))
    };
    let stream_error = Mutex::new(None);
    let mut index = 0;
    let rest = std::iter::from_fn(|| {
        let block = input.next().unwrap_or_else(|error| {
            *stream_error.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(error);
            None
        })?;
        index += 1;
        total_bytes += block.bytes().len();
        Some((index, block))
    });
    let mut blocks: Vec<(usize, Option<Result<Parsed, AutError>>)> = rest
        .par_bridge()
        .map(|(index, block)| match block {
            Block::Slice { bytes, mapped } => parse(index, bytes, mapped),
            Block::Owned(bytes) => parse(index, &bytes, None),
        })
        .collect();
    blocks.push(parse(0, &first.bytes()[body_start..], None));
    if progress.is_cancelled() {
        return Err(Failure::Cancelled);
    }
    if let Some(error) = stream_error.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()) {
        return Err(Failure::Stream(error));
    }
    blocks.sort_unstable_by_key(|&(index, _)| index);
    let mut parsed = Vec::with_capacity(blocks.len());
    let mut line = lines_before;
    for (_, block) in blocks {
        match block {
            Some(Ok(block)) => {
                line += block.lines;
                parsed.push(block);
            }
            Some(Err(error)) => return Err(Failure::Syntax(AutError { line: error.line + line, ..error })),
            None => unreachable!("only blocks behind a faulty one are skipped"),
        }
    }
    let mut header = header;
    if options.sparse {
        renumber(&mut header, &mut parsed).map_err(Failure::Syntax)?;
    }
    check_counts(&header, &parsed, total_bytes).map_err(Failure::Syntax)?;
    merge(&header, parsed, options.tau.as_deref()).map_err(Failure::TooLarge)
}

/// Finds and reads the `des` line. Gives where the body starts and how many lines end before it.
fn parse_header(bytes: &[u8], sparse: bool) -> Result<(Header, usize, usize), AutError> {
    let mut start = 0;
    let mut number = 0;
    while start < bytes.len() {
        let end = memchr::memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |at| start + at);
        number += 1;
        let row = &bytes[start..end];
        let next = (end + 1).min(bytes.len());
        if !row.trim_ascii().is_empty() {
            return header_line(row, number, sparse).map(|header| (header, next, number));
        }
        start = next.max(start + 1);
    }
    Err(AutError {
        line: number.max(1),
        column: 1,
        width: 0,
        message: "the file is empty".into(),
        hint: Some("an AUT file starts with `des (initial state, transitions, states)`".into()),
        text: String::new(),
    })
}

fn header_line(row: &[u8], number: usize, sparse: bool) -> Result<Header, AutError> {
    let mut cursor = Cursor { row, at: 0 };
    let line = Line { number, text: shortened(row) };
    let shape = "the first line of an AUT file is `des (initial state, transitions, states)`";
    let fail = |cursor: &Cursor, expected: &str| cursor.expected(expected, number).with_hint(shape);
    if !cursor.keyword(b"des") {
        return Err(fail(&cursor, "`des`"));
    }
    cursor.byte(b'(').map_err(|_| fail(&cursor, "`(`"))?;
    let mut values = [0u64; 3];
    let mut places = [(0, 0); 3];
    for index in 0..3 {
        cursor.skip_space();
        let start = cursor.at;
        values[index] = cursor.number().ok_or_else(|| fail(&cursor, "a number"))?;
        places[index] = (start, cursor.at - start);
        let (byte, name) = if index < 2 { (b',', "`,`") } else { (b')', "`)`") };
        cursor.byte(byte).map_err(|_| fail(&cursor, name))?;
    }
    cursor.skip_space();
    if cursor.at < row.len() {
        return Err(fail(&cursor, "the end of the line"));
    }
    let header = Header { initial: values[0], transitions: values[1], states: values[2], line, places };
    if header.states == 0 {
        return Err(header
            .error(2, "a transition system has at least its initial state")
            .with_hint("write `des (0, 0, 1)` for a system without transitions"));
    }
    if header.initial >= header.states && !sparse {
        let message = format!("the initial state {} is out of range", header.initial);
        return Err(header.error(0, &message).with_hint(&out_of_range_hint(header.states)));
    }
    if header.states > u64::from(u32::MAX) || header.initial >= u64::from(u32::MAX) {
        return Err(header.error(2, "more than 4,294,967,295 states can't be represented"));
    }
    Ok(header)
}

impl Header {
    /// An error at one of the header's numbers.
    fn error(&self, index: usize, message: &str) -> AutError {
        AutError {
            line: self.line.number,
            column: self.places[index].0 + 1,
            width: self.places[index].1,
            message: message.into(),
            hint: None,
            text: self.line.text.clone(),
        }
    }
}

impl AutError {
    fn with_hint(mut self, hint: &str) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

fn out_of_range_hint(states: u64) -> String {
    match states {
        1 => "the header announces 1 state, numbered 0".to_owned(),
        _ => format!("the header announces {states} states, numbered 0 to {}", states - 1),
    }
}

/// `1 state`, `2 states`
fn count(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Compares the header with what the body holds.
fn check_counts(header: &Header, blocks: &[Parsed], total_bytes: usize) -> Result<(), AutError> {
    let found: u64 = blocks.iter().map(|block| block.edges.len() as u64).sum();
    if found != header.transitions {
        let announced = count(header.transitions, "transition");
        let message = format!("the header announces {announced}, but the file has {found}");
        let hint = if found < header.transitions { "is the file cut short?" } else { "correct the header" };
        return Err(header.error(1, &message).with_hint(hint));
    }
    // A transition takes 7 bytes and names two states. Many more states than that are not named anywhere, and
    // memory must follow the size of the input, not the numbers in it.
    let plausible = (total_bytes as u64).max(1 << 20);
    if header.states > plausible {
        let message = format!("the header announces {} states, most of which never occur", header.states);
        return Err(header.error(2, &message).with_hint("number the states without gaps"));
    }
    Ok(())
}

/// The parts of a transition line.
struct Row<'a> {
    source: u32,
    label: &'a [u8],
    target: u32,
}

/// Parses the lines of one block.
struct BlockParser {
    /// State numbers are below this.
    states: u64,
}

impl BlockParser {
    fn parse(&self, block: &[u8]) -> Result<Parsed, AutError> {
        let guess = block.len() / 20;
        let mut parsed = Parsed {
            sources: Vec::with_capacity(guess),
            edges: Vec::with_capacity(guess),
            labels: Labels::new(),
            lines: 0,
            sorted: true,
        };
        let mut last_source = 0;
        let mut start = 0;
        while start < block.len() {
            let end = memchr::memchr(b'\n', &block[start..]).map_or(block.len(), |at| start + at);
            let row = &block[start..end];
            start = end + 1;
            parsed.lines += 1;
            let Some(Row { source, label, target }) = self.line(row, parsed.lines)? else { continue };
            let label = std::str::from_utf8(label).map_err(|_| {
                Cursor { row, at: 0 }.error("the label is not UTF-8 text", row.len(), parsed.lines)
            })?;
            let label = parsed.labels.intern(&from_one_line(label));
            parsed.sorted &= source >= last_source;
            last_source = source;
            parsed.sources.push(source);
            parsed.edges.push(Edge { label, target: StateId::from_raw(target) });
        }
        parsed.sources.shrink_to_fit();
        parsed.edges.shrink_to_fit();
        Ok(parsed)
    }

    /// The parts of a transition line, or nothing for a blank line.
    #[inline]
    fn line<'l>(&self, row: &'l [u8], number: usize) -> Result<Option<Row<'l>>, AutError> {
        let mut cursor = Cursor { row, at: 0 };
        cursor.skip_space();
        if cursor.at == row.len() {
            return Ok(None);
        }
        let shape = "a transition is written `(from, label, to)`";
        let fail = |cursor: &Cursor, expected: &str| cursor.expected(expected, number).with_hint(shape);
        cursor.byte(b'(').map_err(|_| fail(&cursor, "`(`"))?;
        let source = self.state(&mut cursor, number, &fail)?;
        cursor.byte(b',').map_err(|_| fail(&cursor, "`,`"))?;

        // The label may hold commas, quotes and brackets, so the rest is read from the end of the line.
        let mut end = row.trim_ascii_end().len();
        let closing = |at: usize| Cursor { row, at };
        if end <= cursor.at || row[end - 1] != b')' {
            return Err(fail(&closing(end), "`)`"));
        }
        end = row[..end - 1].trim_ascii_end().len();
        let digits = row[..end].iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let mut last = match digits {
            0 => closing(memchr::memrchr(b',', &row[..end]).map_or(end, |comma| comma + 1)),
            _ => closing(end - digits),
        };
        let target = self.state(&mut last, number, &fail)?;
        let before = row[..end - digits].trim_ascii_end();
        if before.len() <= cursor.at || before[before.len() - 1] != b',' {
            return Err(fail(&closing(before.len()), "`,`"));
        }
        let label = row[cursor.at..before.len() - 1].trim_ascii();
        let label = match label {
            [] => return Err(fail(&cursor, "a label")),
            [b'"', inner @ .., b'"'] => inner,
            [b'"', ..] => {
                let at = row.len() - row[cursor.at..].trim_ascii_start().len();
                let error = closing(at).error("the label's opening quote is not closed", label.len(), number);
                return Err(error.with_hint("a quoted label ends with a quote just before the last comma"));
            }
            bare => bare,
        };
        Ok(Some(Row { source, label, target }))
    }

    #[inline]
    fn state(
        &self,
        cursor: &mut Cursor,
        number: usize,
        fail: &impl Fn(&Cursor, &str) -> AutError,
    ) -> Result<u32, AutError> {
        cursor.skip_space();
        let start = cursor.at;
        let Some(value) = cursor.number() else { return Err(fail(cursor, "a state number")) };
        if value >= self.states {
            let width = cursor.at - start;
            let message = format!("state {value} is out of range");
            let error = Cursor { row: cursor.row, at: start }.error(&message, width, number);
            return Err(error.with_hint(&out_of_range_hint(self.states)));
        }
        Ok(value as u32)
    }
}

/// A place in a line.
struct Cursor<'a> {
    row: &'a [u8],
    at: usize,
}

impl Cursor<'_> {
    #[inline]
    fn skip_space(&mut self) {
        while self.row.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    #[inline]
    fn byte(&mut self, byte: u8) -> Result<(), ()> {
        self.skip_space();
        if self.row.get(self.at) == Some(&byte) {
            self.at += 1;
            Ok(())
        } else {
            Err(())
        }
    }

    fn keyword(&mut self, word: &[u8]) -> bool {
        self.skip_space();
        let found = self.row[self.at..].starts_with(word);
        if found {
            self.at += word.len();
        }
        found
    }

    /// A decimal number; one past 2⁶⁴ reads as the largest, which every range check refuses.
    #[inline]
    fn number(&mut self) -> Option<u64> {
        let start = self.at;
        let mut value: u64 = 0;
        while let Some(digit) = self.row.get(self.at).map(|byte| byte.wrapping_sub(b'0'))
            && digit < 10
        {
            value = value.saturating_mul(10).saturating_add(u64::from(digit));
            self.at += 1;
        }
        (self.at > start).then_some(value)
    }

    /// What was expected here, and what stands here instead.
    #[cold]
    fn expected(&self, expected: &str, line: usize) -> AutError {
        let rest = self.row.get(self.at..).unwrap_or(&[]);
        let rest = rest.trim_ascii_start();
        let found = match String::from_utf8_lossy(&rest[..rest.len().min(8)]).chars().next() {
            None => "the line ends".into(),
            Some(character) => format!("found `{character}`"),
        };
        self.error(&format!("expected {expected}, but {found}"), 1, line)
    }

    #[cold]
    fn error(&self, message: &str, width: usize, line: usize) -> AutError {
        AutError {
            line,
            column: self.at + 1,
            width,
            message: message.into(),
            hint: None,
            text: shortened(self.row),
        }
    }
}

/// A line for an error message, cut where nobody would read on.
fn shortened(row: &[u8]) -> String {
    const MOST: usize = 2000;
    String::from_utf8_lossy(&row[..row.len().min(MOST)]).trim_end().to_owned()
}

/// Numbers sparse states anew, in ascending order.
fn renumber(header: &mut Header, blocks: &mut [Parsed]) -> Result<(), AutError> {
    let mut used = vec![header.initial as u32];
    for block in blocks.iter() {
        used.extend_from_slice(&block.sources);
        used.extend(block.edges.iter().map(|edge| edge.target.raw()));
    }
    used.sort_unstable();
    used.dedup();
    if used.len() as u64 > header.states {
        let announced = count(header.states, "state");
        let message = format!("the header announces {announced}, but the file names {}", used.len());
        return Err(header.error(2, &message).with_hint("correct the header"));
    }
    let number = |state: u32| used.binary_search(&state).expect("every state was collected") as u32;
    header.initial = u64::from(number(header.initial as u32));
    for block in blocks {
        block.sources.iter_mut().for_each(|source| *source = number(*source));
        for edge in &mut block.edges {
            edge.target = StateId::from_raw(number(edge.target.raw()));
        }
    }
    Ok(())
}

/// Puts the blocks together: labels numbered by first appearance, rows sorted and unique.
fn merge(header: &Header, blocks: Vec<Parsed>, tau: Option<&str>) -> Result<Lts, TooLarge> {
    let count: usize = blocks.iter().map(|block| block.edges.len()).sum();
    if count >= u32::MAX as usize {
        return Err(TooLarge("transitions"));
    }
    let states = header.states as usize;
    let mut labels = Labels::new();
    let maps: Vec<Vec<LabelId>> =
        blocks.iter().map(|block| global_labels(&block.labels, tau, &mut labels)).collect();
    let mut offsets = vec![0u32; states + 1];
    let mut sorted = true;
    let mut last = 0;
    for block in &blocks {
        sorted &= block.sorted && block.sources.first().is_none_or(|&first| first >= last);
        last = block.sources.last().copied().unwrap_or(last);
        for &source in &block.sources {
            offsets[source as usize + 1] += 1;
        }
    }
    for index in 1..offsets.len() {
        offsets[index] += offsets[index - 1];
    }
    let global = |edge: Edge, map: &[LabelId]| Edge { label: map[edge.label.index()], target: edge.target };
    let mut edges: Vec<Edge>;
    if sorted {
        edges = Vec::with_capacity(count);
        for (block, map) in blocks.into_iter().zip(&maps) {
            edges.extend(block.edges.iter().map(|&edge| global(edge, map)));
        }
    } else {
        edges = vec![Edge { label: LabelId::TAU, target: StateId::new(0) }; count];
        let mut next = offsets[..states].to_vec();
        for (block, map) in blocks.into_iter().zip(&maps) {
            for (&source, &edge) in block.sources.iter().zip(&block.edges) {
                let place = &mut next[source as usize];
                edges[*place as usize] = global(edge, map);
                *place += 1;
            }
        }
    }
    Lts::sort_rows(&mut offsets, &mut edges);
    Ok(Lts::from_parts(StateId::from_raw(header.initial as u32), offsets, edges, None, labels))
}

/// The global numbers of a block's labels; the second name of the internal action becomes `i`.
fn global_labels(of_block: &Labels, tau: Option<&str>, labels: &mut Labels) -> Vec<LabelId> {
    let global = |text| if Some(text) == tau { LabelId::TAU } else { labels.intern(text) };
    of_block.iter().map(|(_, text)| text).map(global).collect()
}

#[cfg(test)]
mod tests;
