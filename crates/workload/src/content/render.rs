//! Puts a request together for one visit.
//!
//! A [`Draft`] is filled again and again, so that a worker allocates nothing per request once its drafts have grown.

use super::data::{AtEnd, Data};
use super::encode::{Encoding, Kind, Out, Unfit};
use super::memory::Memory;
use super::script::{Script, Visit};
use super::shown::{counted, shown, shown_header};
use super::step::Step;
use super::template::{Piece, Source};
use crate::client::Then;
use crate::request::Request;
use base::Outcome;
use jiff::{Timestamp, tz::Offset};
use std::ops::Range;

/// A request that is put together again and again.
#[derive(Clone, Default)]
pub struct Draft<'s> {
    method: &'s str,
    /// The path, then the values of the headers.
    text: String,
    path_end: usize,
    headers: Vec<(&'s str, Range<usize>)>,
    body: Vec<u8>,
}

impl<'s> Draft<'s> {
    /// An empty one.
    pub fn new() -> Draft<'s> {
        Draft::default()
    }

    /// The method.
    pub fn method(&self) -> &'s str {
        self.method
    }

    /// Path and query, percent-encoded.
    pub fn path(&self) -> &str {
        &self.text[..self.path_end]
    }

    /// Names and values of the headers, in order; those that belong to the connection are not among them.
    pub fn headers(&self) -> impl Iterator<Item = (&'s str, &str)> {
        self.headers.iter().map(|(name, value)| (*name, &self.text[value.clone()]))
    }

    /// The body; empty is none.
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// A request of its own.
    pub fn request(&self) -> Request {
        Request {
            method: self.method.to_owned(),
            path: self.path().to_owned(),
            headers: self.headers().map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
            body: self.body.clone(),
        }
    }

    fn clear(&mut self) {
        self.text.clear();
        self.headers.clear();
        self.body.clear();
    }

    fn header(&mut self, name: &'s str, value: &str) {
        let start = self.text.len();
        self.text.push_str(value);
        self.headers.push((name, start..self.text.len()));
    }
}

/// What is sent may be a secret.
impl std::fmt::Debug for Draft<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.request().fmt(f)
    }
}

/// Why a request could not be put together: nothing is to be sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// How the request ends.
    pub outcome: Outcome,
    /// How its session goes on.
    pub then: Then,
    /// Why, for people.
    pub reason: String,
}

/// Why a value could not be put in its place.
enum Why {
    /// The name of that number is not set in this session.
    Unset(u16),
    /// There is no row left in the set of that number.
    NoRow(u16),
    /// It cannot stand there; the value.
    Unfit(Unfit, String),
    /// It holds the boundary of a multipart body.
    Boundary,
}

/// The part of a request that a value was to go to.
#[derive(Clone, Copy)]
enum Part<'s> {
    Path,
    Header(&'s str),
    Body,
}

impl Script {
    /// The request of a visit to a session with that memory.
    ///
    /// # Errors
    /// A [`Refusal`] where a value is missing or cannot stand where it was to go.
    pub fn render(&self, visit: &Visit<'_>, memory: &Memory) -> Result<Request, Refusal> {
        let mut draft = Draft::new();
        self.render_into(visit, memory, &mut draft)?;
        Ok(draft.request())
    }

    /// As [`render`](Script::render), into a draft that held another request.
    ///
    /// # Errors
    /// As [`render`](Script::render); the draft then holds no whole request.
    #[inline]
    pub fn render_into<'s>(
        &'s self,
        visit: &Visit<'_>,
        memory: &Memory,
        draft: &mut Draft<'s>,
    ) -> Result<(), Refusal> {
        let step = &self.steps[usize::from(visit.sending.step)];
        let mut values = Values { script: self, visit, memory, uuids: 0 };
        draft.clear();
        draft.method = &step.method;
        let refuse = |why, part| self.refusal(step, visit, why, part);
        values.path(step, &mut draft.text).map_err(|why| refuse(why, Part::Path))?;
        draft.path_end = draft.text.len();
        for header in &step.headers {
            let start = draft.text.len();
            values
                .pieces(&header.value, &mut draft.text)
                .map_err(|why| refuse(why, Part::Header(&header.name)))?;
            draft.headers.push((&header.name, start..draft.text.len()));
        }
        if let Some(content_type) = &step.body.content_type
            && !step.gives_type
        {
            draft.header("Content-Type", content_type);
        }
        if let Some(jar) = memory.jar()
            && !step.gives_cookie
        {
            self.cookies(jar, visit, draft);
        }
        values.body(step, &mut draft.body).map_err(|why| refuse(why, Part::Body))
    }

    fn cookies(&self, jar: &super::cookies::Jar, visit: &Visit<'_>, draft: &mut Draft<'_>) {
        let (path, values) = (draft.path().split('?').next().unwrap_or_default(), &mut String::new());
        jar.each(&self.site, path, visit.unix_s(), |name, value| {
            if !values.is_empty() {
                values.push_str("; ");
            }
            values.push_str(name);
            values.push('=');
            values.push_str(value);
        });
        if !values.is_empty() {
            draft.header("Cookie", values);
        }
    }

    /// The path of a visit's request without its query: what its cookies go by.
    pub(super) fn path_of(&self, visit: &Visit<'_>, memory: &Memory) -> String {
        let step = &self.steps[usize::from(visit.sending.step)];
        let mut path = String::new();
        let mut values = Values { script: self, visit, memory, uuids: 0 };
        // What was rendered before can be rendered again; if not, there was no request to set a cookie.
        if values.path(step, &mut path).is_err() {
            path.clear();
        }
        path.truncate(path.find('?').unwrap_or(path.len()));
        path
    }

    #[cold]
    fn refusal(&self, step: &Step, visit: &Visit<'_>, why: Why, part: Part<'_>) -> Refusal {
        let place = match part {
            Part::Path => "the path".to_owned(),
            Part::Header(name) => format!("header {name}"),
            Part::Body => "the body".to_owned(),
        };
        let (outcome, then, what) = match why {
            Why::Unset(name) => {
                let name = self.names.extracted_name(name);
                let what =
                    format!("{place} needs {{{{{name}}}}}, which nothing has extracted in this session");
                (Outcome::Check, Then::GoOn, what)
            }
            Why::NoRow(set) => self.ran_out(&self.data[usize::from(set)], visit),
            Why::Unfit(Unfit::Control, value) => {
                let value = shown_header(header_name(part), value.as_bytes(), &self.secrets);
                let what =
                    format!("a value of {place} holds a line break or another control character: {value}");
                (Outcome::Check, Then::GoOn, what)
            }
            Why::Unfit(Unfit::NoPath, value) => {
                let what = format!(
                    "expected a link that begins with a slash, got {}",
                    shown(value.as_bytes(), &self.secrets)
                );
                (Outcome::Check, Then::GoOn, what)
            }
            Why::Boundary => {
                let what = "a value of the body holds the boundary between its parts".to_owned();
                (Outcome::Check, Then::GoOn, what)
            }
        };
        Refusal { outcome, then, reason: self.redact(&format!("{}: {what}", step.name)) }
    }

    fn ran_out(&self, data: &Data, visit: &Visit<'_>) -> (Outcome, Then, String) {
        let (name, rows, k) = (data.name(), counted(data.rows(), "row"), visit.sending.k);
        let what = format!("data {name} has {rows}, and session {k} would take one of its own");
        match data.at_end() {
            AtEnd::Stop => (Outcome::Unsent, Then::StopGroup, what),
            AtEnd::Skip => (Outcome::Unsent, Then::EndSession, what),
            AtEnd::Fail | AtEnd::Wrap => (Outcome::Check, Then::GoOn, what),
        }
    }
}

fn header_name(part: Part<'_>) -> &str {
    match part {
        Part::Header(name) => name,
        Part::Path | Part::Body => "",
    }
}

/// The values of one visit.
struct Values<'a> {
    script: &'a Script,
    visit: &'a Visit<'a>,
    memory: &'a Memory,
    /// UUIDs so far: every place has its own.
    uuids: u64,
}

impl Values<'_> {
    #[inline]
    fn path(&mut self, step: &Step, out: &mut String) -> Result<(), Why> {
        if !step.is_link {
            out.push_str(&self.script.base_path);
        }
        self.pieces(&step.target, out)
    }

    #[inline]
    fn pieces(&mut self, pieces: &[Piece<String>], out: &mut String) -> Result<(), Why> {
        for piece in pieces {
            match piece {
                Piece::Fixed(text) => out.push_str(text),
                Piece::Value(source, encoding) => self.value(*source, *encoding, None, out)?,
            }
        }
        Ok(())
    }

    #[inline]
    fn body(&mut self, step: &Step, out: &mut Vec<u8>) -> Result<(), Why> {
        let boundary = step.body.boundary.as_deref();
        for piece in &step.body.pieces {
            match piece {
                Piece::Fixed(bytes) => out.extend_from_slice(bytes),
                Piece::Value(source, encoding) => self.value(*source, *encoding, boundary, out)?,
            }
        }
        Ok(())
    }

    #[inline]
    fn value(
        &mut self,
        source: Source,
        encoding: Encoding,
        boundary: Option<&str>,
        out: &mut impl Out,
    ) -> Result<(), Why> {
        let sending = self.visit.sending;
        let mut scratch = [0; 40];
        let (text, kind) = match source {
            Source::Cell { set, column } => self.cell(set, column)?,
            Source::Extracted(name) => self.memory.value(name).ok_or(Why::Unset(name))?,
            Source::User => (digits(sending.user, &mut scratch), Kind::Json),
            Source::Iteration => (digits(u64::from(sending.iteration), &mut scratch), Kind::Json),
            Source::Session => (digits(sending.k, &mut scratch), Kind::Json),
            Source::Seq => (digits(self.seq(), &mut scratch), Kind::Json),
            Source::UnixSeconds => (digits(self.visit.unix_s().max(0) as u64, &mut scratch), Kind::Json),
            Source::UnixMillis => {
                let ms = u64::try_from(self.visit.now_unix_ns.div_euclid(1_000_000)).unwrap_or(0);
                (digits(ms, &mut scratch), Kind::Json)
            }
            Source::Uuid => (self.uuid(&mut scratch), Kind::Text),
            Source::Now => (now(self.visit.now_unix_ns, &mut scratch), Kind::Text),
        };
        if boundary.is_some_and(|boundary| text.contains(boundary)) {
            return Err(Why::Boundary);
        }
        encoding.value(text, kind, out).map_err(|unfit| Why::Unfit(unfit, text.to_owned()))
    }

    #[inline]
    fn cell(&self, set: u16, column: u32) -> Result<(&str, Kind), Why> {
        let (data, sending) = (&self.script.data[usize::from(set)], self.visit.sending);
        let draw = || self.script.rows.bits(sending.k, u64::from(sending.group) << 16 | u64::from(set));
        let row = data.row(sending.k, draw).ok_or(Why::NoRow(set))?;
        Ok(data.cell(row, column))
    }

    /// A number of its own for every request of the plan: sessions are spaced by the longest journey, groups lie
    /// between each other.
    #[inline]
    fn seq(&self) -> u64 {
        let (sending, longest) = (self.visit.sending, &self.script.longest);
        let own = longest.get(usize::from(sending.group)).copied().unwrap_or(1);
        let within = sending.k.wrapping_mul(own).wrapping_add(u64::from(sending.ordinal));
        within.wrapping_mul(longest.len().max(1) as u64).wrapping_add(u64::from(sending.group))
    }

    #[inline]
    fn uuid<'b>(&mut self, buffer: &'b mut [u8; 40]) -> &'b str {
        let sending = self.visit.sending;
        let place = u64::from(sending.group) << 49 | u64::from(sending.ordinal) << 17 | self.uuids << 1;
        self.uuids += 1;
        let bits = |half| self.script.uuids.bits(sending.k, place | half);
        uuid(bits(0), bits(1), buffer)
    }
}

/// A number in decimal.
#[inline]
fn digits(mut number: u64, buffer: &mut [u8; 40]) -> &str {
    let mut at = buffer.len();
    loop {
        at -= 1;
        buffer[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    ascii(&buffer[at..])
}

/// A version 4 UUID (RFC 9562, 5.4) of these random bits.
#[inline]
fn uuid(high: u64, low: u64, buffer: &mut [u8; 40]) -> &str {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let high = high & !0xf000 | 0x4000;
    let low = low & !(0b11 << 62) | 0b10 << 62;
    let mut at = 0;
    for nibble in 0..32 {
        if matches!(nibble, 8 | 12 | 16 | 20) {
            buffer[at] = b'-';
            at += 1;
        }
        let half = if nibble < 16 { high } else { low };
        buffer[at] = HEX[(half >> (60 - 4 * (nibble % 16)) & 15) as usize];
        at += 1;
    }
    ascii(&buffer[..at])
}

/// RFC 3339 in UTC to the millisecond; beyond the years 1 to 9999, about their nearest end.
#[inline]
fn now(unix_ns: i128, buffer: &mut [u8; 40]) -> &str {
    // 0001-01-01 to the last instant that has a date in every time zone.
    let (first, last) = (-62_135_596_800_000_i64, 1_000 * Timestamp::MAX.as_second());
    let unix_ms = unix_ns.div_euclid(1_000_000).clamp(first.into(), last.into()) as i64;
    let at = Timestamp::from_millisecond(unix_ms).unwrap_or_default();
    let civil = Offset::UTC.to_datetime(at);
    let mut put = |range: Range<usize>, number: u32| {
        let mut rest = number;
        for place in buffer[range].iter_mut().rev() {
            *place = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
    };
    put(0..4, civil.year().unsigned_abs().into());
    put(5..7, civil.month().unsigned_abs().into());
    put(8..10, civil.day().unsigned_abs().into());
    put(11..13, civil.hour().unsigned_abs().into());
    put(14..16, civil.minute().unsigned_abs().into());
    put(17..19, civil.second().unsigned_abs().into());
    put(20..23, civil.millisecond().unsigned_abs().into());
    for (at, mark) in [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':'), (19, b'.'), (23, b'Z')] {
        buffer[at] = mark;
    }
    ascii(&buffer[..24])
}

/// Text that was put together from ASCII.
#[inline]
fn ascii(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_default()
}

#[cfg(test)]
mod tests;
