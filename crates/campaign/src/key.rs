//! Names for contents: 128 bits of BLAKE3 over canonical JSON.
//!
//! Two different contents among n get the same name with a probability of about n² / 2^129: for 10^12 sequences that is
//! less than 10^-14.

use std::fmt;

use serde_json::Value;

/// The name of a content.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Key(pub(crate) [u8; 16]);

impl Key {
    /// The key of bytes; `kind` keeps contents of different kinds apart.
    pub(crate) fn of(kind: &str, content: &[u8]) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(kind.as_bytes()).update(&[0]).update(content);
        let mut key = [0; 16];
        key.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
        Self(key)
    }

    /// The key of values, whatever the order of the members of their objects.
    pub(crate) fn of_values(kind: &str, values: &[&Value]) -> Self {
        let mut text = Vec::new();
        for value in values {
            write_canonically(value, &mut text);
            text.push(b'\n');
        }
        Self::of(kind, &text)
    }

    /// The key that `Display` has written.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let digit = |at: usize| (text.as_bytes()[at] as char).to_digit(16);
        let mut key = [0; 16];
        if text.len() != 32 {
            return None;
        }
        for (at, byte) in key.iter_mut().enumerate() {
            *byte = (digit(2 * at)? * 16 + digit(2 * at + 1)?) as u8;
        }
        Some(Self(key))
    }
}

impl fmt::Display for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{self}")
    }
}

/// Appends a value with the members of objects in the order of their names.
///
/// `serde_json` keeps that order only as long as nobody in the workspace asks it for another one.
pub(crate) fn write_canonically(value: &Value, text: &mut Vec<u8>) {
    // The depth of a value is bounded: `serde_json` refuses to read more than 128 levels.
    match value {
        Value::Array(items) => {
            text.push(b'[');
            for (position, item) in items.iter().enumerate() {
                if position > 0 {
                    text.push(b',');
                }
                write_canonically(item, text);
            }
            text.push(b']');
        }
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_unstable_by_key(|(name, _)| *name);
            text.push(b'{');
            for (position, (name, member)) in members.into_iter().enumerate() {
                if position > 0 {
                    text.push(b',');
                }
                write_string(name, text);
                text.push(b':');
                write_canonically(member, text);
            }
            text.push(b'}');
        }
        Value::String(string) => write_string(string, text),
        Value::Null => text.extend(b"null"),
        Value::Bool(truth) => text.extend(if *truth { &b"true"[..] } else { b"false" }),
        Value::Number(number) => text.extend(number.to_string().as_bytes()),
    }
}

fn write_string(string: &str, text: &mut Vec<u8>) {
    serde_json::to_writer(text, string).expect("a string can be written to memory");
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keys_follow_content_and_kind() {
        let one = json!({"b": [1, null, "x\n"], "a": {"d": 1.5, "c": true}});
        let same: Value =
            serde_json::from_str(r#"{"a": {"c": true, "d": 1.5}, "b": [1, null, "x\n"]}"#).unwrap();
        assert_eq!(Key::of_values("state", &[&one]), Key::of_values("state", &[&same]));
        assert_ne!(Key::of_values("state", &[&one]), Key::of_values("sequence", &[&one]));
        assert_ne!(Key::of_values("s", &[&json!(1), &json!(2)]), Key::of_values("s", &[&json!(12)]));
        let mut text = Vec::new();
        write_canonically(&one, &mut text);
        assert_eq!(String::from_utf8(text).unwrap(), r#"{"a":{"c":true,"d":1.5},"b":[1,null,"x\n"]}"#);
    }

    #[test]
    fn keys_are_read_back() {
        let key = Key::of("state", b"x");
        assert_eq!(Key::parse(&key.to_string()), Some(key));
        assert_eq!(Key::parse("12"), None);
        assert_eq!(Key::parse(&"g".repeat(32)), None);
        assert_eq!(Key::parse(&"é".repeat(16)), None);
    }
}
