//! What text becomes where it goes, so that no value can end the field, line or string that it stands in.

use std::borrow::Cow;

/// Where in a request something stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Encoding {
    /// In a text of no form: as it is.
    Verbatim,
    /// In a path: fixed text keeps what separates (`/ ? & =`) and escapes that are there already, values keep nothing.
    Path,
    /// The whole path and query, which the value is: a link that an answer gave.
    Link,
    /// In a name or value of a query (RFC 3986, 2.3: all but unreserved characters are escaped).
    Component,
    /// In a name or value of a form (WHATWG URL, application/x-www-form-urlencoded).
    Form,
    /// In the value of a header: what is not allowed there is refused.
    Header,
    /// In a name within the head of a part (HTML standard, multipart/form-data encoding).
    PartName,
    /// Within a JSON string.
    JsonText,
    /// In the place of a JSON string that is this one value: with its own type.
    JsonValue,
}

/// What a value is in JSON.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Kind {
    /// A string; the text is what it says.
    #[default]
    Text,
    /// Anything else; the text is its JSON.
    Json,
}

/// Why a value cannot stand where it was to go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Unfit {
    /// It holds a line break or another control character.
    Control,
    /// It is to be a path and does not begin with a slash.
    NoPath,
}

/// Where encoded text goes.
pub(super) trait Out {
    fn push(&mut self, text: &str);
}

impl Out for String {
    #[inline]
    fn push(&mut self, text: &str) {
        self.push_str(text);
    }
}

impl Out for Vec<u8> {
    #[inline]
    fn push(&mut self, text: &str) {
        self.extend_from_slice(text.as_bytes());
    }
}

/// Bytes that stay as they are.
struct Kept([bool; 256]);

impl Kept {
    const fn new(also: &[u8]) -> Kept {
        let mut kept = [false; 256];
        let mut byte = 0;
        while byte < 128 {
            kept[byte] = (byte as u8).is_ascii_alphanumeric();
            byte += 1;
        }
        let mut i = 0;
        while i < also.len() {
            kept[also[i] as usize] = true;
            i += 1;
        }
        Kept(kept)
    }
}

const UNRESERVED: Kept = Kept::new(b"-._~");
const FORM: Kept = Kept::new(b"*-._");
/// What may stand in a path and query, and `%`: escapes that are there already stay.
const TARGET: Kept = Kept::new(b"-._~%!$&'()*+,;=:@/?[]|");
const HEX: &[u8; 16] = b"0123456789ABCDEF";

/// Without what would end a name in the head of a part.
fn part_name(text: &str) -> Cow<'_, str> {
    match text.contains(['"', '\r', '\n']) {
        true => Cow::Owned(text.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")),
        false => Cow::Borrowed(text),
    }
}

impl Encoding {
    /// Fixed text, as it goes out.
    pub(super) fn text(self, text: &str) -> Cow<'_, str> {
        let mut out = String::new();
        match self {
            Encoding::Verbatim | Encoding::Header => return Cow::Borrowed(text),
            Encoding::Path | Encoding::Link => percent(text, &TARGET, &mut out),
            Encoding::Component => percent(text, &UNRESERVED, &mut out),
            Encoding::Form => form(text, &mut out),
            Encoding::PartName => return part_name(text),
            Encoding::JsonText | Encoding::JsonValue => json_text(text, &mut out),
        }
        Cow::Owned(out)
    }

    /// Appends a value.
    #[inline]
    pub(super) fn value(self, text: &str, kind: Kind, out: &mut impl Out) -> Result<(), Unfit> {
        match self {
            Encoding::Verbatim => out.push(text),
            Encoding::Path | Encoding::Component => percent(text, &UNRESERVED, out),
            Encoding::Link => {
                // A fragment is the reader's affair and is not sent (RFC 9110, 7.1).
                let sent = text.split('#').next().unwrap_or_default();
                if !sent.starts_with('/') {
                    return Err(Unfit::NoPath);
                }
                percent(sent, &TARGET, out);
            }
            Encoding::Form => form(text, out),
            Encoding::PartName => out.push(&part_name(text)),
            Encoding::Header => {
                if !is_header_value(text) {
                    return Err(Unfit::Control);
                }
                out.push(text);
            }
            Encoding::JsonText => json_text(text, out),
            Encoding::JsonValue => match kind {
                Kind::Json => out.push(text),
                Kind::Text => {
                    out.push("\"");
                    json_text(text, out);
                    out.push("\"");
                }
            },
        }
        Ok(())
    }
}

/// Whether a text can stand in the value of a header: no control characters but tabs.
pub(super) fn is_header_value(text: &str) -> bool {
    !text.bytes().any(|byte| (byte < 0x20 && byte != b'\t') || byte == 0x7f)
}

/// Whether a text is a token (RFC 9110, 5.6.2): a method, the name of a header.
pub(super) fn is_token(text: &str) -> bool {
    let extra = b"!#$%&'*+-.^_`|~";
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || extra.contains(&byte))
}

/// Appends runs of what stays, and something else for each byte that does not.
#[inline]
fn in_runs<O: Out>(text: &str, stays: impl Fn(u8) -> bool, mut other: impl FnMut(u8, &mut O), out: &mut O) {
    let bytes = text.as_bytes();
    let mut rest = 0;
    for (i, &byte) in bytes.iter().enumerate() {
        if stays(byte) {
            continue;
        }
        // Only ASCII stays or a whole character goes, so that the cuts lie between characters, except inside one that
        // goes byte by byte: there is nothing to append then.
        if rest < i {
            out.push(&text[rest..i]);
        }
        other(byte, out);
        rest = i + 1;
    }
    if rest < text.len() {
        out.push(&text[rest..]);
    }
}

fn escaped(byte: u8, out: &mut impl Out) {
    let digits = [b'%', HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]];
    out.push(std::str::from_utf8(&digits).unwrap_or_default());
}

fn percent<O: Out>(text: &str, kept: &Kept, out: &mut O) {
    in_runs(text, |byte| kept.0[usize::from(byte)], escaped, out);
}

fn form<O: Out>(text: &str, out: &mut O) {
    let other = |byte, out: &mut O| if byte == b' ' { out.push("+") } else { escaped(byte, out) };
    in_runs(text, |byte| FORM.0[usize::from(byte)], other, out);
}

fn json_text<O: Out>(text: &str, out: &mut O) {
    let other = |byte, out: &mut O| match byte {
        b'"' => out.push("\\\""),
        b'\\' => out.push("\\\\"),
        b'\n' => out.push("\\n"),
        b'\r' => out.push("\\r"),
        b'\t' => out.push("\\t"),
        _ => {
            let digits = [HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]];
            out.push("\\u00");
            out.push(std::str::from_utf8(&digits).unwrap_or_default());
        }
    };
    in_runs(text, |byte| byte >= 0x20 && byte != b'"' && byte != b'\\', other, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(encoding: Encoding, text: &str) -> String {
        let mut out = String::new();
        encoding.value(text, Kind::Text, &mut out).unwrap();
        out
    }

    #[test]
    fn values_cannot_leave_their_place() {
        let nasty = "a b/c?d&e=f#g%41+\"\\\r\n\u{0}é~";
        assert_eq!(value(Encoding::Path, nasty), "a%20b%2Fc%3Fd%26e%3Df%23g%2541%2B%22%5C%0D%0A%00%C3%A9~");
        assert_eq!(value(Encoding::Component, nasty), value(Encoding::Path, nasty));
        assert_eq!(
            value(Encoding::Form, "a b&c=d*e~é"),
            "a+b%26c%3Dd*e%7E%C3%A9",
            "as the URL standard's serialiser"
        );
        assert_eq!(
            value(Encoding::JsonText, "say \"é\\\"\n\u{1f}\u{7f}"),
            "say \\\"é\\\\\\\"\\n\\u001F\u{7f}"
        );
        assert_eq!(value(Encoding::Verbatim, nasty), nasty);
    }

    #[test]
    fn fixed_parts_of_a_path_keep_what_separates() {
        let text = |text| Encoding::Path.text(text).into_owned();
        assert_eq!(text("/a b/é%20?x=1&y=[2]"), "/a%20b/%C3%A9%20?x=1&y=[2]");
        assert_eq!(text("/a\r\nHost: x\\<>"), "/a%0D%0AHost:%20x%5C%3C%3E");
    }

    #[test]
    fn a_link_is_a_path_without_its_fragment() {
        assert_eq!(value(Encoding::Link, "/items?page=2&q=a%20b#top"), "/items?page=2&q=a%20b");
        assert_eq!(value(Encoding::Link, "/a b\r\n"), "/a%20b%0D%0A");
        let refused = |text| Encoding::Link.value(text, Kind::Text, &mut String::new());
        assert_eq!(refused("http://elsewhere/"), Err(Unfit::NoPath));
        assert_eq!(refused(""), Err(Unfit::NoPath));
    }

    #[test]
    fn headers_refuse_control_characters() {
        for bad in ["a\r\nX: y", "a\nb", "\u{0}", "\u{7f}", "a\u{1b}"] {
            let refused = Encoding::Header.value(bad, Kind::Text, &mut String::new());
            assert_eq!(refused, Err(Unfit::Control), "{bad:?}");
        }
        assert_eq!(value(Encoding::Header, "tab\tand é"), "tab\tand é");
    }

    #[test]
    fn a_string_that_is_one_value_has_the_values_type() {
        let typed = |text, kind| {
            let mut out = Vec::new();
            Encoding::JsonValue.value(text, kind, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(typed("5", Kind::Json), "5");
        assert_eq!(typed("5", Kind::Text), "\"5\"");
        assert_eq!(typed("a\"b", Kind::Text), "\"a\\\"b\"");
    }

    #[test]
    fn tokens() {
        assert!(is_token("X-Id") && is_token("PURGE"));
        assert!(!is_token("") && !is_token("a b") && !is_token("a:") && !is_token("é"));
    }
}
