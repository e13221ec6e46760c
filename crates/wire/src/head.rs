//! The header lines of a message, read on demand: nothing is copied, and a caller that wants no header pays nothing.

use std::fmt;

use http::HeaderMap;
use memchr::memchr;

/// The header lines of an answer or request, as received. They were checked: names are tokens, values have no controls.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Head<'a>(Fields<'a>);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fields<'a> {
    /// Checked lines of HTTP/1.1.
    Lines(&'a [u8]),
    /// What HTTP/2 has decompressed.
    Map(&'a HeaderMap),
}

impl<'a> Head<'a> {
    /// Of an answer that has no header lines.
    pub const EMPTY: Head<'static> = Head(Fields::Lines(&[]));

    /// Of checked lines: `name: value` each, ended by LF or CRLF, up to an empty line.
    pub(crate) const fn new(lines: &'a [u8]) -> Head<'a> {
        Head(Fields::Lines(lines))
    }

    /// Of fields that came one by one.
    pub(crate) const fn of(map: &'a HeaderMap) -> Head<'a> {
        Head(Fields::Map(map))
    }

    /// The value of the first header of that name, whatever the case; without white space around it. Walks the lines:
    /// O(bytes of the head), no allocation.
    pub fn header(&self, name: &str) -> Option<&'a [u8]> {
        self.all(name).next()
    }

    /// The values of all headers of that name, whatever the case, in order.
    pub fn all(&self, name: &str) -> impl Iterator<Item = &'a [u8]> {
        self.iter().filter(move |(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// Every header in order, in HTTP/2 those of one name together: its name as it was sent, and its value without white space
    /// around it.
    pub fn iter(&self) -> impl Iterator<Item = (&'a str, &'a [u8])> + use<'a> {
        let (lines, map) = match self.0 {
            Fields::Lines(lines) => (lines, None),
            Fields::Map(map) => (&b""[..], Some(map)),
        };
        // Names are tokens and thus ASCII; the default is never taken.
        let lines = Lines(lines).map(|(name, value)| (str::from_utf8(name).unwrap_or_default(), value));
        let fields = map.into_iter().flatten();
        lines.chain(fields.map(|(name, value)| (name.as_str(), value.as_bytes().trim_ascii())))
    }
}

impl fmt::Debug for Head<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map()
            .entries(self.iter().map(|(name, value)| (name, value.escape_ascii().to_string())))
            .finish()
    }
}

struct Lines<'a>(&'a [u8]);

impl<'a> Iterator for Lines<'a> {
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let end = memchr(b'\n', self.0)?;
        let (line, rest) = (&self.0[..end], &self.0[end + 1..]);
        self.0 = rest;
        let colon = memchr(b':', line)?; // none in the empty line at the end
        Some((&line[..colon], line[colon + 1..].trim_ascii()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: Head<'_> =
        Head::new(b"Content-Type: text/plain\r\nX-A:1\nx-a: \t 2 \t\r\nEmpty:\r\nTime: 10:30\r\n\r\n");

    #[test]
    fn headers_are_found_whatever_their_case_and_line_end() {
        for (name, value) in [
            ("content-type", Some("text/plain")),
            ("CONTENT-TYPE", Some("text/plain")),
            ("X-a", Some("1")),
            ("empty", Some("")),
            ("time", Some("10:30")),
            ("content", None),
            ("content-type2", None),
            ("", None),
        ] {
            assert_eq!(HEAD.header(name), value.map(str::as_bytes), "{name}");
        }
    }

    #[test]
    fn all_of_a_name_come_in_order_and_names_keep_their_case() {
        assert_eq!(HEAD.all("x-a").collect::<Vec<_>>(), [b"1", b"2"]);
        let names: Vec<_> = HEAD.iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["Content-Type", "X-A", "x-a", "Empty", "Time"]);
        assert_eq!(Head::new(b"\r\n").iter().count(), 0);
    }
}
