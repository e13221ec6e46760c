//! Cells of CSV files that hold text from outside: labels, names, messages.
//!
//! A spreadsheet runs a cell that begins with `=`, `+`, `-`, `@`, a tab or a carriage return as a formula (OWASP, CSV
//! injection), and a control character can break the line. The first gets an apostrophe in front, the second are escaped.

use crate::format::hidden;
use std::borrow::Cow;

/// Text from outside as a cell, not yet quoted.
pub fn text(cell: &str) -> Cow<'_, str> {
    let formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
    if !formula && !cell.chars().any(hidden) {
        return Cow::Borrowed(cell);
    }
    let mut safe = String::with_capacity(cell.len() + 8);
    if formula {
        safe.push('\'');
    }
    for c in cell.chars() {
        match c {
            '\n' => safe.push_str("\\n"),
            '\r' => safe.push_str("\\r"),
            '\t' => safe.push_str("\\t"),
            c if hidden(c) => safe.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
            c => safe.push(c),
        }
    }
    Cow::Owned(safe)
}

/// Text from outside as a cell, quoted where RFC 4180 wants it.
pub fn quoted(cell: &str) -> Cow<'_, str> {
    let cell = text(cell);
    match cell.contains(['"', ',']) {
        true => Cow::Owned(format!("\"{}\"", cell.replace('"', "\"\""))),
        false => cell,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_is_a_formula_or_breaks_a_line() {
        for (from, cell) in [
            ("GET /a b", "GET /a b"),
            ("a,\"b\"", "\"a,\"\"b\"\"\""),
            ("=HYPERLINK(\"http://x\",1)", "\"'=HYPERLINK(\"\"http://x\"\",1)\""),
            ("-1+1", "'-1+1"),
            ("+49", "'+49"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "'\\t=1"),
            ("\r=1", "'\\r=1"),
            ("a=1", "a=1"),
            ("a\nb\u{1b}[2J", "a\\nb\\u{1b}[2J"),
            ("\u{202e}gpj", "\\u{202e}gpj"),
            ("", ""),
        ] {
            assert_eq!(quoted(from), cell, "{from:?}");
        }
    }
}
