//! Texts of answers as UTF-8: byte order marks, and the charsets of one byte that are still met.
//!
//! Deliberately absent: charsets of several bytes but UTF-16, which stay as they came.

/// How a body says that its bytes are to be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Charset {
    /// As UTF-8, or nothing that is known.
    #[default]
    Utf8,
    /// As windows-1252, which browsers take ISO 8859-1 for (Encoding standard, 4.2).
    Latin,
    /// As UTF-16, the low byte first.
    Utf16Little,
    /// As UTF-16, the high byte first.
    Utf16Big,
}

/// Characters of windows-1252 from 0x80 to 0x9f; what has none is the control character of its number.
const LATIN: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}',
    '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

impl Charset {
    /// By the value of Content-Type.
    pub fn of(content_type: &[u8]) -> Charset {
        let text = String::from_utf8_lossy(content_type).to_ascii_lowercase();
        let Some((_, rest)) = text.split_once("charset=") else { return Charset::Utf8 };
        match rest.split(';').next().unwrap_or_default().trim().trim_matches(['"', '\'']) {
            "iso-8859-1" | "iso8859-1" | "latin1" | "windows-1252" | "cp1252" => Charset::Latin,
            "utf-16le" | "utf-16" => Charset::Utf16Little,
            "utf-16be" => Charset::Utf16Big,
            _ => Charset::Utf8,
        }
    }

    /// The body as UTF-8. A byte order mark says more than the charset, and is no part of the text.
    pub fn read(self, mut body: Vec<u8>) -> Vec<u8> {
        let units = |body: &[u8], of: fn([u8; 2]) -> u16| {
            let units = body.chunks_exact(2).map(|pair| of([pair[0], pair[1]]));
            char::decode_utf16(units).map(|c| c.unwrap_or('\u{fffd}')).collect::<String>().into_bytes()
        };
        match (&body[..body.len().min(3)], self) {
            (b"\xef\xbb\xbf", _) => {
                body.drain(..3);
                body
            }
            ([0xff, 0xfe, ..], _) => units(&body[2..], u16::from_le_bytes),
            ([0xfe, 0xff, ..], _) => units(&body[2..], u16::from_be_bytes),
            (_, Charset::Utf16Little) => units(&body, u16::from_le_bytes),
            (_, Charset::Utf16Big) => units(&body, u16::from_be_bytes),
            (_, Charset::Latin) if !body.is_ascii() => {
                let read = |&byte: &u8| match byte {
                    0x80..=0x9f => LATIN[usize::from(byte - 0x80)],
                    byte => char::from(byte),
                };
                body.iter().map(read).collect::<String>().into_bytes()
            }
            _ => body,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_read_as_they_say() {
        let read = |kind: &str, body: &[u8]| {
            String::from_utf8(Charset::of(kind.as_bytes()).read(body.to_vec())).unwrap()
        };
        assert_eq!(read("application/json", b"\xef\xbb\xbf{}"), "{}");
        assert_eq!(read("text/html; charset=ISO-8859-1", b"caf\xe9 \x80"), "café €");
        assert_eq!(read("text/html; Charset=\"windows-1252\"; x=y", b"\x93a\x94"), "“a”");
        assert_eq!(read("text/plain", b"\xff\xfea\0\xac\x20"), "a€");
        assert_eq!(read("text/plain", b"\xfe\xff\0a"), "a");
        assert_eq!(read("text/plain; charset=utf-16be", b"\0a\0"), "a");
        assert_eq!(read("text/plain; charset=utf-8", "é".as_bytes()), "é");
    }
}
