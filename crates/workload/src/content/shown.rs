//! How what came is shown in a reason: one line, cut, nothing that could upset a terminal.

use crate::request::{REDACTED, is_secret};
use std::fmt::Write as _;

/// Characters of a value that are shown.
const MOST: usize = 80;

/// A value in quotes: one line, secrets replaced, control characters escaped, cut.
pub(super) fn shown(bytes: &[u8], secrets: &[String]) -> String {
    // So much that no secret that begins in what is shown is cut before it was replaced; characters have four bytes at most.
    let enough = 4 * (MOST + 1) + secrets.iter().map(String::len).max().unwrap_or(0);
    let head = redacted(&String::from_utf8_lossy(&bytes[..bytes.len().min(enough)]), secrets);
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
pub(super) fn shown_header(name: &str, value: &[u8], secrets: &[String]) -> String {
    if is_secret(name) { REDACTED.to_owned() } else { shown(value, secrets) }
}

/// A body, or that there was none.
pub(super) fn shown_body(body: &[u8], secrets: &[String]) -> String {
    if body.is_empty() { "an empty body".to_owned() } else { shown(body, secrets) }
}

/// A text with the secrets replaced; the longer of two that begin alike is to come first.
pub(super) fn redacted(text: &str, secrets: &[String]) -> String {
    secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret, REDACTED))
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
        let shown = |bytes: &[u8]| super::shown(bytes, &[]);
        assert_eq!(shown(b"a \"b\"\r\n\x1b[31m\xff"), "\"a \\\"b\\\"\\r\\n\\u{1b}[31m\u{fffd}\"");
        let long = "é".repeat(100);
        let cut = shown(long.as_bytes());
        assert_eq!(cut, format!("\"{}\"... (200 bytes)", "é".repeat(80)));
        assert_eq!(shown(&[b'x'; 80]), format!("\"{}\"", "x".repeat(80)));
        assert_eq!(shown(&[b'x'; 81]), format!("\"{}\"... (81 bytes)", "x".repeat(80)));
        assert_eq!(shown_body(b"", &[]), "an empty body");
    }

    #[test]
    fn secrets_do_not_show_even_where_they_are_cut() {
        assert_eq!(shown_header("Set-Cookie", b"a=b", &[]), "<redacted>");
        assert_eq!(shown_header("ETag", b"b", &[]), "\"b\"");
        let secrets = ["k\n".repeat(500), "hunter2".to_owned()];
        let text = format!("{}{}{}", "x".repeat(70), secrets[0], "y".repeat(1000));
        assert_eq!(
            shown(text.as_bytes(), &secrets),
            format!("\"{}<redacted>\"... (2070 bytes)", "x".repeat(70))
        );
        let text = format!("{}hunter2", "x".repeat(78));
        assert_eq!(shown(text.as_bytes(), &secrets), format!("\"{}<r\"... (85 bytes)", "x".repeat(78)));
    }

    #[test]
    fn things_are_counted() {
        assert_eq!([0, 1, 2].map(|n| counted(n, "row")), ["0 rows", "1 row", "2 rows"]);
    }
}
