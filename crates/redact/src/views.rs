//! A text as it reads without its escapes, and where each part of it is written.

use std::ops::Range;

/// A text without escapes of one kind.
pub(super) struct View {
    text: String,
    /// Where each byte of the text is written, and the end.
    places: Vec<usize>,
}

impl View {
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Where a part of the text is written.
    pub(super) fn place(&self, range: Range<usize>) -> Range<usize> {
        self.places[range.start]..self.places[range.end]
    }
}

/// Without its percent escapes; none if there are none, or if it is no UTF-8 without them.
pub(super) fn of_percent(written: &str) -> Option<View> {
    let bytes = written.as_bytes();
    let (mut out, mut places) = (Vec::with_capacity(bytes.len()), Vec::with_capacity(bytes.len() + 1));
    let mut at = 0;
    while at < bytes.len() {
        let hex = bytes.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        let hex = hex.filter(|hex| hex.iter().all(u8::is_ascii_hexdigit));
        let byte = hex.and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        out.push(byte.unwrap_or(bytes[at]));
        places.push(at);
        at += if byte.is_some() { 3 } else { 1 };
    }
    places.push(at);
    let text = String::from_utf8(out).ok().filter(|text| text.len() < written.len())?;
    Some(View { text, places })
}

/// Without the escapes of letters and digits by which JSON (`\\u0077`) and HTML (`&#119;`, `&#x77;`) may write a name; none if there are
/// none. Other escapes stay: a quote would end a string.
pub(super) fn of_letters(written: &str) -> Option<View> {
    if !written.contains("\\u") && !written.contains("&#") {
        return None;
    }
    let (mut text, mut places) =
        (String::with_capacity(written.len()), Vec::with_capacity(written.len() + 1));
    let mut at = 0;
    while let Some(c) = written[at..].chars().next() {
        let (c, length) = escaped(&written[at..]).unwrap_or((c, c.len_utf8()));
        text.push(c);
        places.extend((0..c.len_utf8()).map(|i| at + if length == c.len_utf8() { i } else { 0 }));
        at += length;
    }
    places.push(at);
    (text.len() < written.len()).then_some(View { text, places })
}

/// The letter or digit whose escape a text begins with, and the bytes of the escape.
fn escaped(text: &str) -> Option<(char, usize)> {
    let (code, length) = if let Some(rest) = text.strip_prefix("\\u") {
        (
            u32::from_str_radix(rest.get(..4).filter(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit()))?, 16)
                .ok()?,
            6,
        )
    } else {
        let rest = text.strip_prefix("&#")?;
        let end = rest.find(';').filter(|end| (1..=7).contains(end))?;
        let code = match rest[..end].strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok()?,
            None => rest[..end].parse().ok()?,
        };
        (code, end + 3)
    };
    let c = char::from_u32(code).filter(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))?;
    Some((c, length))
}
