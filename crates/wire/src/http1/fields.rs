//! The header lines that decide where a message ends and whether the connection goes on, read in one pass over a
//! parsed head (RFC 9112, 6 and 9). What they mean for an answer or a request is for the client and the server to say.

use std::mem::MaybeUninit;

use memchr::memchr;

use crate::limits::Limits;
use crate::syntax::{has_token, items, trim};

/// Content-Length, over all lines of that name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum ContentLength {
    #[default]
    Absent,
    Bytes(u64),
    /// Not a number below 2^64, or several that differ.
    Invalid,
}

/// What the header lines say of framing and of the connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Fields {
    pub(super) content_length: ContentLength,
    /// Whether there is a Transfer-Encoding at all.
    pub(super) transfer_encoding: bool,
    /// How many codings it names, over all its lines, without `identity`, which changes nothing (RFC 2616, 3.6).
    pub(super) codings: u32,
    /// Whether it names `identity`.
    pub(super) identity: bool,
    /// How many of these are chunked.
    pub(super) chunked: u32,
    /// Whether the last of them is.
    pub(super) chunked_last: bool,
    /// Connection names close.
    pub(super) close: bool,
    /// Connection names keep-alive.
    pub(super) keep_alive: bool,
    /// Number of Host lines.
    pub(super) hosts: u32,
    /// Expect names 100-continue.
    pub(super) expect_continue: bool,
}

impl Fields {
    pub(super) fn of(headers: &[httparse::Header<'_>]) -> Fields {
        let mut fields = Fields::default();
        for header in headers {
            // The length of the name excludes most others before a byte is compared.
            let is = |name: &str| header.name.eq_ignore_ascii_case(name);
            match header.name.len() {
                4 if is("host") => fields.hosts += 1,
                6 if is("expect") => fields.expect_continue |= has_token(header.value, b"100-continue"),
                10 if is("connection") => {
                    fields.close |= has_token(header.value, b"close");
                    fields.keep_alive |= has_token(header.value, b"keep-alive");
                }
                14 if is("content-length") => fields.add_length(header.value),
                17 if is("transfer-encoding") => fields.add_codings(header.value),
                _ => {}
            }
        }
        fields
    }

    /// Whether the connection may go on after this message, as far as its version and Connection say.
    pub(super) fn persistent(&self, version: u8) -> bool {
        !self.close && (version >= 1 || self.keep_alive)
    }

    fn add_length(&mut self, value: &[u8]) {
        // "5, 5" is what proxies make of two equal lines: one value (RFC 9110, 8.6).
        for item in value.split(|&byte| byte == b',') {
            self.content_length = match (self.content_length, decimal(trim(item))) {
                (ContentLength::Absent, Some(bytes)) => ContentLength::Bytes(bytes),
                (ContentLength::Bytes(before), Some(bytes)) if before == bytes => ContentLength::Bytes(bytes),
                _ => ContentLength::Invalid,
            };
        }
    }

    fn add_codings(&mut self, value: &[u8]) {
        self.transfer_encoding = true;
        for coding in items(value) {
            if coding.eq_ignore_ascii_case(b"identity") {
                self.identity = true;
                continue;
            }
            self.codings += 1;
            self.chunked_last = coding.eq_ignore_ascii_case(b"chunked");
            self.chunked += u32::from(self.chunked_last);
        }
    }
}

/// Digits only: `str::parse` would take a plus sign.
fn decimal(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0u64, |sum, &digit| match digit {
        b'0'..=b'9' => sum.checked_mul(10)?.checked_add(u64::from(digit - b'0')),
        _ => None,
    })
}

/// A parsed first line and the fields of the lines after it, as offsets into the head.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Parsed<First> {
    /// What is special of an answer or a request.
    pub(super) first: First,
    /// Minor version: 0 or 1.
    pub(super) version: u8,
    pub(super) fields: Fields,
    /// Where the header lines begin.
    pub(super) lines: usize,
    /// Bytes of the head, with its empty line.
    pub(super) len: usize,
}

/// First line of an answer: its status code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Status(pub(super) u16);

/// First line of a request: bytes of its method, and of the target one space after it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Line {
    pub(super) method: usize,
    pub(super) target: usize,
    pub(super) is_head: bool,
}

/// Parses an answer's head at the beginning of `bytes`; none if its end is not in there.
pub(super) fn parse_answer(bytes: &[u8], headers: usize) -> Result<Option<Parsed<Status>>, httparse::Error> {
    let mut space = [const { MaybeUninit::uninit() }; Limits::MAX_HEADERS];
    let mut answer = httparse::Response::new(&mut []);
    let parsed = httparse::ParserConfig::default().parse_response_with_uninit_headers(
        &mut answer,
        bytes,
        &mut space[..headers.min(Limits::MAX_HEADERS)],
    )?;
    let httparse::Status::Complete(len) = parsed else { return Ok(None) };
    Ok(Some(Parsed {
        first: Status(answer.code.unwrap_or(0)),
        version: answer.version.unwrap_or(0),
        fields: Fields::of(answer.headers),
        lines: first_line(bytes),
        len,
    }))
}

/// Parses a request's head at the beginning of `bytes`; none if its end is not in there.
pub(super) fn parse_request(bytes: &[u8], headers: usize) -> Result<Option<Parsed<Line>>, httparse::Error> {
    let mut space = [const { MaybeUninit::uninit() }; Limits::MAX_HEADERS];
    let mut request = httparse::Request::new(&mut []);
    let space = &mut space[..headers.min(Limits::MAX_HEADERS)];
    let httparse::Status::Complete(len) = request.parse_with_uninit_headers(bytes, space)? else {
        return Ok(None);
    };
    let method = request.method.unwrap_or_default();
    Ok(Some(Parsed {
        first: Line {
            method: method.len(),
            target: request.path.unwrap_or_default().len(),
            is_head: method == "HEAD",
        },
        version: request.version.unwrap_or(0),
        fields: Fields::of(request.headers),
        lines: first_line(bytes),
        len,
    }))
}

/// Length of the first line, its end included.
fn first_line(bytes: &[u8]) -> usize {
    memchr(b'\n', bytes).map_or(bytes.len(), |at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(lines: &str) -> Fields {
        let answer = format!("HTTP/1.1 200 OK\r\n{}\r\n\r\n", lines.replace('|', "\r\n"));
        parse_answer(answer.as_bytes(), 16).unwrap().unwrap().fields
    }

    #[test]
    fn content_length_is_one_number_however_often_it_is_said() {
        use ContentLength::{Absent, Bytes, Invalid};
        for (lines, expected) in [
            ("A: b", Absent),
            ("Content-Length: 0", Bytes(0)),
            ("content-length: 007", Bytes(7)),
            ("Content-Length: 5|Content-Length: 5", Bytes(5)),
            ("Content-Length: 5 , 5", Bytes(5)),
            ("Content-Length: 18446744073709551615", Bytes(u64::MAX)),
            ("Content-Length: 18446744073709551616", Invalid),
            ("Content-Length: 5|Content-Length: 6", Invalid),
            ("Content-Length: 5|Content-Length: x|Content-Length: 5", Invalid),
            ("Content-Length: 5, 6", Invalid),
            ("Content-Length: 5,", Invalid),
            ("Content-Length:", Invalid),
            ("Content-Length: +5", Invalid),
            ("Content-Length: -5", Invalid),
            ("Content-Length: 5 5", Invalid),
            ("Content-Length: 0x5", Invalid),
        ] {
            assert_eq!(fields(lines).content_length, expected, "{lines}");
        }
    }

    #[test]
    fn codings_are_counted_over_lists_and_lines() {
        for (lines, codings, chunked, last) in [
            ("Transfer-Encoding: chunked", 1, 1, true),
            ("transfer-encoding: gzip , Chunked", 2, 1, true),
            ("Transfer-Encoding: chunked|Transfer-Encoding: gzip", 2, 1, false),
            ("Transfer-Encoding: chunked, chunked", 2, 2, true),
            ("Transfer-Encoding: chunked;q=1", 1, 0, false),
            ("Transfer-Encoding: xchunked", 1, 0, false),
            ("Transfer-Encoding: ,", 0, 0, false),
            ("Transfer-Encoding: identity", 0, 0, false),
            ("Transfer-Encoding: chunked, Identity", 1, 1, true),
        ] {
            let got = fields(lines);
            assert!(got.transfer_encoding);
            assert_eq!((got.codings, got.chunked, got.chunked_last), (codings, chunked, last), "{lines}");
        }
    }

    #[test]
    fn the_connection_goes_on_by_version_and_token() {
        for (lines, http10, http11) in [
            ("A: b", false, true),
            ("Connection: close", false, false),
            ("Connection: keep-alive", true, true),
            ("connection: Upgrade, CLOSE", false, false),
            ("Connection: foo|Connection: Keep-Alive", true, true),
            ("Connection: keep-alive, close", false, false),
            ("Connection: closed", false, true),
            ("X-Connection: close", false, true),
        ] {
            let got = fields(lines);
            assert_eq!((got.persistent(0), got.persistent(1)), (http10, http11), "{lines}");
        }
    }
}
