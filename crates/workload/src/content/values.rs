//! The values of one visit: what each name stands for in this request of this session.
//!
//! Digits, dates and identifiers are written into a few bytes on the stack, not through formatting.

use super::encode::{Encoding, Kind, Out, Unfit};
use super::memory::Memory;
use super::redirect::lacks_scheme;
use super::script::{RenderContext, Script};
use super::step::Step;
use super::template::{Piece, Source};
use jiff::{Timestamp, tz::Offset};
use std::ops::Range;

/// Why a value could not be put in its place.
pub(super) enum Why {
    /// The name of that number is not set in this session.
    Unset(u16),
    /// There is no row left in the set of that number.
    NoRow(u16),
    /// It cannot stand there; the value.
    Unfit(Unfit, String),
    /// It holds the boundary of a multipart body.
    Boundary,
}

/// The values of one visit.
pub(super) struct Values<'a> {
    script: &'a Script,
    visit: &'a RenderContext<'a>,
    memory: &'a Memory,
    /// UUIDs so far: every place has its own.
    uuids: u64,
}

impl<'a> Values<'a> {
    pub(super) fn new(script: &'a Script, visit: &'a RenderContext<'a>, memory: &'a Memory) -> Values<'a> {
        Values { script, visit, memory, uuids: 0 }
    }

    /// Appends the path and query.
    #[inline]
    pub(super) fn path(&mut self, step: &Step, out: &mut String) -> Result<(), Why> {
        if step.is_link
            && let Some(name) = step.link()
        {
            if self.memory.has_placeholders() {
                self.memory.value(name).iter().for_each(|(link, _)| out.push_str(link));
                return Ok(());
            }
            if let Some((_, path)) = self.script.led(step, self.memory) {
                return Encoding::Link.value(&path, Kind::Text, out).map_err(|unfit| Why::Unfit(unfit, path));
            }
            if let Some((link, _)) = self.memory.value(name).filter(|(link, _)| lacks_scheme(link)) {
                return Err(Why::Unfit(Unfit::NoPath, link.to_owned()));
            }
        }
        if !step.is_link && !step.is_whole {
            out.push_str(&self.script.base_path);
        }
        self.pieces(&step.target, out)
    }

    /// Appends the pieces of a text.
    #[inline]
    pub(super) fn pieces(&mut self, pieces: &[Piece<String>], out: &mut String) -> Result<(), Why> {
        for piece in pieces {
            match piece {
                Piece::Fixed(text) => out.push_str(text),
                Piece::Value(source, encoding) => self.value(*source, *encoding, None, out)?,
            }
        }
        Ok(())
    }

    /// Appends the body.
    #[inline]
    pub(super) fn body(&mut self, step: &Step, out: &mut Vec<u8>) -> Result<(), Why> {
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
        let row = self.script.row(set, self.visit).ok_or(Why::NoRow(set))?;
        Ok(self.script.data[usize::from(set)].cell(row, column))
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
mod tests {
    use super::*;

    #[test]
    fn times_of_day() {
        let check = |ns: i128, expected: &str| assert_eq!(now(ns, &mut [0; 40]), expected);
        check(0, "1970-01-01T00:00:00.000Z");
        check(1_709_209_845_067_999_999, "2024-02-29T12:30:45.067Z");
        check(-1, "1969-12-31T23:59:59.999Z");
        check(253_402_000_000_123_000_000, "9999-12-28T12:26:40.123Z");
        check(i128::MAX, "9999-12-30T22:00:00.000Z");
        check(i128::MIN, "0001-01-01T00:00:00.000Z");
    }

    #[test]
    fn numbers_and_identifiers() {
        let digits = |number| super::digits(number, &mut [0; 40]).to_owned();
        assert_eq!([0, 7, 10, u64::MAX].map(digits), ["0", "7", "10", "18446744073709551615"]);
        assert_eq!(uuid(0, u64::MAX, &mut [0; 40]), "00000000-0000-4000-bfff-ffffffffffff");
    }
}
