//! A format string compiled to what can be laid over a line: literals and fields in turn. How the servers spell their
//! fields is in the modules beside this one.

use super::moment::{Moment, Notation, digits};
use crate::numbers;
use memchr::memmem;

/// What a field holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Field {
    /// Nothing of interest.
    Skipped,
    /// `GET /path?query HTTP/1.1`.
    RequestLine,
    Method,
    /// With or without the query.
    Path,
    Status,
    /// Bytes of the whole answer.
    BytesOut,
    /// Bytes of its body; counts where [`Field::BytesOut`] is not.
    BodyBytesOut,
    /// Bytes of the request.
    BytesIn,
    /// Number of the connection.
    Connection,
    /// How many requests came over the connection, this one included.
    RequestsOnConnection,
    /// How many came over it before this one.
    RequestsBefore,
    /// Apache's `%X`: `X` if the client went before the answer was complete.
    ClosedHow,
    /// When the request came.
    Started(Notation),
    /// When it was logged, its answer sent.
    Ended(Notation),
    /// The time in between, in units of so many nanoseconds.
    Took {
        unit_ns: i64,
    },
    /// A whole number of no interest, below zero where it is not known.
    Timer,
    /// From its arrival to the answer's first byte.
    FirstByte {
        unit_ns: i64,
    },
}

impl Field {
    /// Whether the field's own form shows where it ends. All others reach to the literal that follows.
    pub(super) fn ends_itself(self) -> bool {
        !matches!(self, Field::Skipped | Field::RequestLine | Field::Method | Field::Path | Field::ClosedHow)
    }
}

/// A piece of a format.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Part {
    Literal(Vec<u8>),
    Field(Field),
}

/// What is wrong with a format string: at which byte, from 0, and what it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Wrong {
    pub(super) at: usize,
    pub(super) what: String,
}

/// Puts a format together, part by part.
#[derive(Default)]
pub(super) struct Builder {
    parts: Vec<Part>,
}

impl Builder {
    pub(super) fn literal(&mut self, bytes: &[u8]) {
        match self.parts.last_mut() {
            _ if bytes.is_empty() => {}
            Some(Part::Literal(literal)) => literal.extend_from_slice(bytes),
            _ => self.parts.push(Part::Literal(bytes.to_vec())),
        }
    }

    /// Adds a field that is spelled at byte `at` of the format.
    pub(super) fn field(&mut self, field: Field, at: usize) -> Result<(), Wrong> {
        if let Some(Part::Field(before)) = self.parts.last()
            && !before.ends_itself()
        {
            // Path and query, the query cut off anyway.
            if *before == Field::Path && field == Field::Skipped {
                return Ok(());
            }
            return Err(Wrong {
                at,
                what: "nothing tells where the field before it ends: a character is needed between them"
                    .into(),
            });
        }
        self.parts.push(Part::Field(field));
        Ok(())
    }

    pub(super) fn finish(mut self) -> Pattern {
        // The line's end is not part of the line.
        if let Some(Part::Literal(literal)) = self.parts.last_mut() {
            let kept = literal.trim_ascii_end().len();
            literal.truncate(kept);
            if kept == 0 {
                self.parts.pop();
            }
        }
        Pattern { parts: self.parts }
    }
}

/// A compiled format.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Pattern {
    parts: Vec<Part>,
}

/// What a line holds.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Values<'a> {
    pub(super) request_line: Option<&'a [u8]>,
    pub(super) method: Option<&'a [u8]>,
    pub(super) path: Option<&'a [u8]>,
    /// 0: none was sent.
    pub(super) status: Option<u16>,
    pub(super) bytes_out: Option<u64>,
    pub(super) body_bytes_out: Option<u64>,
    pub(super) bytes_in: Option<u64>,
    pub(super) connection: Option<u64>,
    pub(super) reused: bool,
    pub(super) aborted: bool,
    pub(super) started: Moment,
    pub(super) ended: Moment,
    /// Nanoseconds, and what the last digit is worth.
    pub(super) took: Option<(i64, i64)>,
    pub(super) first_byte: Option<(i64, i64)>,
}

/// How often per line a field of text is tried longer than up to the first literal like the one that follows it.
const RETRIES: u32 = 64;

impl Pattern {
    pub(super) fn fields(&self) -> impl Iterator<Item = Field> {
        self.parts.iter().filter_map(|part| match part {
            Part::Field(field) => Some(*field),
            Part::Literal(_) => None,
        })
    }

    /// Lays the format over a line; none if it does not fit. With `more` there may be more at the end of the line.
    pub(super) fn lay<'a>(&self, line: &'a [u8], more: bool) -> Option<Values<'a>> {
        let mut retries = RETRIES;
        lay(&self.parts, line, more, Values::default(), &mut retries)
    }
}

fn lay<'a>(
    parts: &[Part],
    text: &'a [u8],
    more: bool,
    mut values: Values<'a>,
    retries: &mut u32,
) -> Option<Values<'a>> {
    let mut rest = text;
    let mut parts = parts;
    while let [part, after @ ..] = parts {
        parts = after;
        match part {
            Part::Literal(literal) => rest = rest.strip_prefix(&literal[..])?,
            Part::Field(field) if field.ends_itself() => rest = &rest[values.take(*field, rest)?..],
            Part::Field(field) => {
                let [Part::Literal(literal), ..] = after else {
                    values.text(*field, rest);
                    return Some(values);
                };
                return lay_text(*field, literal, after, rest, more, values, retries);
            }
        }
    }
    (rest.is_empty() || more).then_some(values)
}

/// A field of text ends where its literal follows, but may hold it too (a quoted agent with `\"`, a decoded path with a
/// blank, a list of upstreams): then it goes on to the next.
fn lay_text<'a>(
    field: Field,
    literal: &[u8],
    after: &[Part],
    rest: &'a [u8],
    more: bool,
    values: Values<'a>,
    retries: &mut u32,
) -> Option<Values<'a>> {
    for end in memmem::find_iter(rest, literal) {
        let escaped =
            literal[0] == b'"' && rest[..end].iter().rev().take_while(|&&b| b == b'\\').count() % 2 == 1;
        if escaped {
            continue;
        }
        let mut tried = values;
        tried.text(field, &rest[..end]);
        if let Some(found) = lay(after, &rest[end..], more, tried, retries) {
            return Some(found);
        }
        *retries = retries.checked_sub(1)?;
    }
    None
}

impl<'a> Values<'a> {
    fn text(&mut self, field: Field, text: &'a [u8]) {
        match field {
            Field::RequestLine => self.request_line = Some(text),
            Field::Method => self.method = Some(text),
            Field::Path => self.path = Some(text),
            Field::ClosedHow => self.aborted = text == b"X",
            _ => {}
        }
    }

    /// Reads a field at the beginning of `text`; how many bytes it was.
    fn take(&mut self, field: Field, text: &[u8]) -> Option<usize> {
        match field {
            Field::Started(notation) => return self.started.take(notation, text),
            Field::Ended(notation) => return self.ended.take(notation, text),
            // HAProxy writes -1 where it has no timer, and no status.
            Field::Timer | Field::Took { .. } if text.starts_with(b"-1") => return Some(2),
            Field::Status if text.first() == Some(&b'-') => {
                self.status = Some(0);
                return Some(if text.starts_with(b"-1") { 2 } else { 1 });
            }
            _ if text.first() == Some(&b'-') => return Some(1),
            Field::Took { unit_ns } => return span(text, unit_ns, &mut self.took),
            Field::FirstByte { unit_ns } => return span(text, unit_ns, &mut self.first_byte),
            _ => {}
        }
        let n = digits(text);
        let value = numbers::int(&text[..n])?.unsigned_abs();
        match field {
            // Envoy writes 0, nginx 000 where no answer was sent.
            Field::Status if n == 3 || value == 0 => self.status = Some(value as u16),
            Field::Status => return None,
            Field::BytesOut => self.bytes_out = Some(value),
            Field::BodyBytesOut => self.body_bytes_out = Some(value),
            Field::BytesIn => self.bytes_in = Some(value),
            Field::Connection => self.connection = Some(value),
            Field::RequestsOnConnection => self.reused = value > 1,
            Field::RequestsBefore => self.reused = value > 0,
            Field::Timer => {}
            _ => return None,
        }
        Some(n)
    }
}

/// The finest of several spans stays.
fn span(text: &[u8], unit_ns: i64, into: &mut Option<(i64, i64)>) -> Option<usize> {
    let whole = digits(text);
    let point = whole > 0 && text.get(whole) == Some(&b'.');
    let behind = if point { digits(&text[whole + 1..]) } else { 0 };
    let n = if behind > 0 { whole + 1 + behind } else { whole };
    let places = unit_ns.ilog10();
    let ns = numbers::decimal(&text[..n], places)?;
    let digit = unit_ns / 10_i64.pow((behind as u32).min(places));
    if into.is_none_or(|(_, known)| digit < known) {
        *into = Some((ns, digit));
    }
    Some(n)
}
