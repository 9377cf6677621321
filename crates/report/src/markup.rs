//! Text inside XML and HTML.

/// Text inside XML; control characters that XML can't hold are dropped.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' => escaped.push(character),
            control if control.is_control() => {}
            other => escaped.push(other),
        }
    }
    escaped
}
