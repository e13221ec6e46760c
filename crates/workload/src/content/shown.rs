//! How what came is shown in a reason: one line, cut, nothing that could upset a terminal.

use crate::redact::{Place, REDACTED, Redactor};
use std::fmt::Write as _;

/// Characters of a value that are shown.
const MOST: usize = 80;

/// Bytes of secrets that are replaced within them, at most; more and the rest is not shown.
const MOST_REPLACED: usize = 8 << 10;

/// A value in quotes: one line, secrets replaced, control characters escaped, cut.
pub(super) fn shown(bytes: &[u8], redactor: &Redactor) -> String {
    // So much that no secret that begins in what is shown is cut before it was replaced; characters have four bytes at most,
    // and what is replaced is longer than what it is replaced by.
    let enough = MOST_REPLACED + 4 * (MOST + 1) + redactor.longest();
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(enough)]);
    let head = redactor.hide_foreign(&head);
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
pub(super) fn shown_header(name: &str, value: &[u8], redactor: &Redactor) -> String {
    if redactor.hides(Place::Header, name) { REDACTED.to_owned() } else { shown(value, redactor) }
}

/// A body, or that there was none.
pub(super) fn shown_body(body: &[u8], redactor: &Redactor) -> String {
    if body.is_empty() { "an empty body".to_owned() } else { shown(body, redactor) }
}

/// A number of things.
pub(super) fn counted(n: u64, thing: &str) -> String {
    if n == 1 { format!("1 {thing}") } else { format!("{n} {thing}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_cut_and_harmless() {
        let shown = |bytes: &[u8]| super::shown(bytes, &Redactor::default());
        assert_eq!(shown(b"a \"b\"\r\n\x1b[31m\xff"), "\"a \\\"b\\\"\\r\\n\\u{1b}[31m\u{fffd}\"");
        let long = "é".repeat(100);
        let cut = shown(long.as_bytes());
        assert_eq!(cut, format!("\"{}\"... (200 bytes)", "é".repeat(80)));
        assert_eq!(shown(&[b'x'; 80]), format!("\"{}\"", "x".repeat(80)));
        assert_eq!(shown(&[b'x'; 81]), format!("\"{}\"... (81 bytes)", "x".repeat(80)));
        assert_eq!(shown_body(b"", &Redactor::default()), "an empty body");
    }

    #[test]
    fn secrets_do_not_show_even_where_they_are_cut() {
        let mut secrets = Redactor::default();
        assert_eq!(shown_header("Set-Cookie", b"a=b", &secrets), "<redacted>");
        assert_eq!(shown_header("ETag", b"b", &secrets), "\"b\"");
        let long = format!("{}k", "k\n".repeat(500));
        secrets.know(&long);
        secrets.know("hunter2");
        let text = format!("{}{long}{}", "x".repeat(70), "y".repeat(1000));
        assert_eq!(
            shown(text.as_bytes(), &secrets),
            format!("\"{}<redacted>\"... (2071 bytes)", "x".repeat(70))
        );
        let text = format!("{} hunter2", "x".repeat(77));
        assert_eq!(shown(text.as_bytes(), &secrets), format!("\"{} <r\"... (85 bytes)", "x".repeat(77)));
    }

    #[test]
    fn things_are_counted() {
        assert_eq!([0, 1, 2].map(|n| counted(n, "row")), ["0 rows", "1 row", "2 rows"]);
    }
}
