//! XML elements with their places in the text.

use roxmltree::{Document, Node, ParsingOptions};
use source::{Diagnostic, FileId, Span};

/// Terms nested more deeply than this are refused: they are read and evaluated recursively.
pub(super) const MOST_DEPTH: usize = 200;

/// A result, or what is wrong.
pub(super) type Outcome<T> = Result<T, Box<Diagnostic>>;

/// The text of a file.
#[derive(Clone, Copy)]
pub(super) struct Text<'t> {
    pub(super) file: FileId,
    pub(super) text: &'t str,
}

impl<'t> Text<'t> {
    /// Parses the text. Document types are refused, so that there are no entities but the five of XML.
    pub(super) fn parse(self) -> Outcome<Document<'t>> {
        if let Some(at) = too_deep(self.text) {
            let span = Span { file: self.file, start: at as u32, end: (at + 1) as u32 };
            return Err(Box::new(
                Diagnostic::error("elements are nested too deeply")
                    .label(span, format!("more than {MOST_ELEMENTS} around this")),
            ));
        }
        let options = ParsingOptions { allow_dtd: false, ..ParsingOptions::default() };
        Document::parse_with_options(self.text, options).map_err(|error| {
            let position = error.pos();
            let start = self.offset(position.row as usize, position.col as usize);
            let end = self.text[start..].chars().next().map_or(start, |next| start + next.len_utf8());
            let span = Span { file: self.file, start: start as u32, end: end as u32 };
            let mut message = error.to_string();
            if let Some(at) =
                message.find(" at ").filter(|_| message.ends_with(|last: char| last.is_ascii_digit()))
            {
                message.truncate(at);
            }
            let diagnostic = match error {
                roxmltree::Error::DtdDetected => Diagnostic::error("document types are not supported")
                    .help("remove the `<!DOCTYPE …>` declaration"),
                _ => Diagnostic::error(format!("invalid XML: {message}")),
            };
            Box::new(diagnostic.label(span, "here"))
        })
    }

    /// The byte at a line and column, both from 1.
    fn offset(self, row: usize, column: usize) -> usize {
        let mut start = 0;
        for _ in 1..row {
            match self.text[start..].find('\n') {
                Some(at) => start += at + 1,
                None => return self.text.len(),
            }
        }
        let line = &self.text[start..];
        line.char_indices().nth(column.saturating_sub(1)).map_or(self.text.len(), |(at, _)| start + at)
    }

    /// Where the start tag of an element is; other nodes as a whole.
    pub(super) fn span(self, node: Node<'_, '_>) -> Span {
        let range = node.range();
        let mut end = range.end;
        if node.is_element() {
            let mut quote = None;
            for (at, byte) in self.text.as_bytes()[range.clone()].iter().enumerate() {
                match (quote, byte) {
                    (None, b'>') => {
                        end = range.start + at + 1;
                        break;
                    }
                    (None, b'"' | b'\'') => quote = Some(*byte),
                    (Some(open), byte) if open == *byte => quote = None,
                    _ => (),
                }
            }
        }
        Span { file: self.file, start: range.start as u32, end: end as u32 }
    }

    /// An error about an element.
    pub(super) fn error(
        self,
        node: Node<'_, '_>,
        message: impl Into<String>,
        label: impl Into<String>,
    ) -> Box<Diagnostic> {
        Box::new(Diagnostic::error(message).label(self.span(node), label))
    }

    /// The value of an attribute that must be there.
    pub(super) fn attribute<'a>(self, node: Node<'a, '_>, name: &str) -> Outcome<&'a str> {
        node.attribute(name).ok_or_else(|| {
            let tag = node.tag_name().name();
            self.error(node, format!("`{tag}` has no attribute `{name}`"), "it is needed here")
        })
    }
}

/// More elements than this around one are refused: the XML library reads them recursively.
const MOST_ELEMENTS: usize = 1000;

/// Where elements are nested too deeply. It need not be exact: what is no XML is refused afterwards.
fn too_deep(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut depth, mut at) = (0usize, 0);
    while let Some(open) = bytes[at..].iter().position(|&byte| byte == b'<').map(|open| at + open) {
        let rest = &text[open..];
        let skip = |marker: &str| rest.find(marker).map_or(rest.len(), |end| end + marker.len());
        if rest.starts_with("<!--") {
            at = open + skip("-->");
        } else if rest.starts_with("<![CDATA[") {
            at = open + skip("]]>");
        } else if rest.starts_with("<?") {
            at = open + skip("?>");
        } else {
            let end = tag_end(&bytes[open..]);
            at = open + end;
            if rest.starts_with("</") {
                depth = depth.saturating_sub(1);
            } else if !rest.starts_with("<!") && !rest[..end].ends_with("/>") {
                depth += 1;
            }
        }
        if depth > MOST_ELEMENTS {
            return Some(open);
        }
    }
    None
}

/// How long a tag is, whose quoted values may contain anything.
fn tag_end(bytes: &[u8]) -> usize {
    let mut quote = None;
    for (at, &byte) in bytes.iter().enumerate() {
        match quote {
            None if byte == b'>' => return at + 1,
            None if byte == b'"' || byte == b'\'' => quote = Some(byte),
            Some(open) if open == byte => quote = None,
            _ => (),
        }
    }
    bytes.len()
}

/// The elements inside an element.
pub(super) fn elements<'a, 'i>(node: Node<'a, 'i>) -> impl Iterator<Item = Node<'a, 'i>> {
    node.children().filter(Node::is_element)
}

/// The first element of this name inside an element.
pub(super) fn element<'a, 'i>(node: Node<'a, 'i>, name: &str) -> Option<Node<'a, 'i>> {
    elements(node).find(|child| child.tag_name().name() == name)
}

/// The text of an element: that of its `text` or `value`, or its own.
pub(super) fn text_of(node: Node<'_, '_>) -> String {
    let inner = element(node, "text").or_else(|| element(node, "value")).unwrap_or(node);
    let mut text = String::new();
    for child in inner.children().filter(Node::is_text) {
        text.push_str(child.text().unwrap_or_default());
    }
    text.trim().to_owned()
}

/// The operands of a term: what its `subterm` elements hold, or the elements themselves where a tool leaves those out.
pub(super) fn operands<'a, 'i>(node: Node<'a, 'i>) -> Vec<Node<'a, 'i>> {
    elements(node)
        .filter_map(
            |child| if child.tag_name().name() == "subterm" { elements(child).next() } else { Some(child) },
        )
        .collect()
}
