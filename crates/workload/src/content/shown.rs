//! How what came is shown in a reason: one line, cut, nothing that could upset a terminal.

use crate::request::{REDACTED, is_secret};
use std::fmt::Write as _;

/// Characters of a value that are shown.
const MOST: usize = 80;

/// A value in quotes: one line, control characters escaped, cut.
pub(super) fn shown(bytes: &[u8]) -> String {
    // Enough bytes for that many characters of four bytes.
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * MOST + 4)]);
    let mut out = String::from("\"");
    for c in head.chars().take(MOST) {
        match c {
            '"' => out.push_str("\\\""),
            c if c.is_control() => out.extend(c.escape_default()),
            c => out.push(c),
        }
    }
    out.push('"');
    if head.chars().nth(MOST).is_some() {
        let _ = write!(out, "... ({} bytes)", bytes.len());
    }
    out
}

/// The value of a header, unless it is a secret.
pub(super) fn shown_header(name: &str, value: &[u8]) -> String {
    if is_secret(name) { REDACTED.to_owned() } else { shown(value) }
}

/// A body, or that there was none.
pub(super) fn shown_body(body: &[u8]) -> String {
    if body.is_empty() { "an empty body".to_owned() } else { shown(body) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_cut_and_harmless() {
        assert_eq!(shown(b"a \"b\"\r\n\x1b[31m\xff"), "\"a \\\"b\\\"\\r\\n\\u{1b}[31m\u{fffd}\"");
        let long = "é".repeat(100);
        let cut = shown(long.as_bytes());
        assert_eq!(cut, format!("\"{}\"... (200 bytes)", "é".repeat(80)));
        assert_eq!(shown(&[b'x'; 80]), format!("\"{}\"", "x".repeat(80)));
        assert_eq!(shown_body(b""), "an empty body");
        assert_eq!(shown_header("Set-Cookie", b"a=b"), "<redacted>");
        assert_eq!(shown_header("ETag", b"b"), "\"b\"");
    }
}
