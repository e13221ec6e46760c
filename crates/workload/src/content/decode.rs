//! Undoes what Content-Encoding says was done to a body (RFC 9110, 8.4).
//!
//! What comes out of each encoding is bounded: a few bytes can stand for gigabytes.

use super::reason::Fault;
use flate2::bufread::MultiGzDecoder;
use flate2::{Decompress, FlushDecompress, Status};
use headway_base::not_built;
use std::io::{self, Read};

/// Encodings upon one another, at most: curl's limit.
const MOST_CODINGS: usize = 5;
/// Bytes that inflating makes at a time.
const STEP: usize = 32 << 10;

/// A way to make a body shorter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Coding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

impl Coding {
    /// By its name in Content-Encoding (RFC 9110, 18.6; 7932; 8878).
    fn parse(name: &str) -> Option<Coding> {
        let is = |known: &str| name.eq_ignore_ascii_case(known);
        match () {
            () if is("gzip") || is("x-gzip") => Some(Coding::Gzip),
            () if is("deflate") => Some(Coding::Deflate),
            () if is("br") => Some(Coding::Brotli),
            () if is("zstd") => Some(Coding::Zstd),
            () => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Coding::Gzip => "gzip",
            Coding::Deflate => "deflate",
            Coding::Brotli => "br",
            Coding::Zstd => "zstd",
        }
    }
}

/// The encodings of a body in the order in which they were applied. One that is unknown leaves none: the body stays as
/// it came, as browsers have it (Fetch, handle content codings).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Codings {
    known: Vec<Coding>,
    /// As the answer has them.
    given: usize,
    unknown: bool,
}

/// Why a body is not decoded.
#[derive(Debug)]
pub(super) enum Undecoded {
    /// It would be longer than is kept.
    TooLong(&'static str),
    /// It cannot be decoded.
    Fault(Fault),
}

impl Codings {
    pub(super) fn clear(&mut self) {
        *self = Codings::default();
    }

    /// Those of a header Content-Encoding.
    pub(super) fn add(&mut self, header: &[u8]) {
        let header = String::from_utf8_lossy(header);
        let names = header.split(',').map(str::trim);
        for name in names.filter(|name| !name.is_empty() && !name.eq_ignore_ascii_case("identity")) {
            self.given += 1;
            match Coding::parse(name) {
                Some(coding) if self.known.len() < MOST_CODINGS => self.known.push(coding),
                Some(_) => {}
                None => self.unknown = true,
            }
        }
    }

    /// Whether a body is to be decoded.
    pub(super) fn are_there(&self) -> bool {
        !self.unknown && self.given > 0
    }

    /// The body, up to that number of bytes: of a body in several encodings, what each one gives counts, so that they are
    /// together no more work than one.
    pub(super) fn decode(&self, mut body: Vec<u8>, most: u64) -> Result<Vec<u8>, Undecoded> {
        if self.given > MOST_CODINGS {
            let same = format!("expected a body in at most {MOST_CODINGS} encodings");
            return Err(Undecoded::Fault(Fault::got(same, self.given)));
        }
        let mut left = most;
        for coding in self.known.iter().rev() {
            body = decoded(*coding, &body, left)?;
            left = left.saturating_sub(body.len() as u64);
        }
        Ok(body)
    }
}

fn decoded(coding: Coding, body: &[u8], most: u64) -> Result<Vec<u8>, Undecoded> {
    let name = coding.name();
    let damaged = |error: io::Error| {
        let cut = error.kind() == io::ErrorKind::UnexpectedEof;
        let why = if cut { "it breaks off".to_owned() } else { error.to_string() };
        Undecoded::Fault(Fault {
            met: format!(": {why}"),
            ..Fault::plain(format!("expected a body in {name}, got one that cannot be decoded"))
        })
    };
    let bytes = match coding {
        Coding::Gzip => bounded(MultiGzDecoder::new(body), most).map_err(damaged)?,
        Coding::Deflate => inflated(body, most).map_err(damaged)?,
        Coding::Brotli => match brotli(body, most) {
            Some(bytes) => bytes.map_err(damaged)?,
            None => return Err(lacking(name, "Brotli", "brotli")),
        },
        Coding::Zstd => match zstd(body, most) {
            Some(bytes) => bytes.map_err(damaged)?,
            None => return Err(lacking(name, "zstd", "zstd")),
        },
    };
    if bytes.len() as u64 > most { Err(Undecoded::TooLong(name)) } else { Ok(bytes) }
}

/// Not in this build.
fn lacking(name: &str, what: &str, feature: &str) -> Undecoded {
    let why = format!("the body is in {name}: {}", not_built(what, feature));
    Undecoded::Fault(Fault::plain(why))
}

/// All of it, or one byte more than there may be.
fn bounded(source: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// As [`bounded`], of deflate: within zlib as it should be, or bare, which some servers mean by it. Ends are looked for here, for
/// flate2's reader takes a stream that breaks off for a whole one.
fn inflated(body: &[u8], most: u64) -> io::Result<Vec<u8>> {
    let zlib = matches!(body, [first, second, ..]
        if first & 15 == 8 && (u32::from(*first) << 8 | u32::from(*second)) % 31 == 0);
    let mut inflater = Decompress::new(zlib);
    let mut bytes = Vec::new();
    while bytes.len() as u64 <= most {
        bytes.reserve(STEP);
        let (read, made) = (inflater.total_in(), bytes.len());
        let rest = &body[read as usize..];
        match inflater.decompress_vec(rest, &mut bytes, FlushDecompress::None)? {
            Status::StreamEnd => return Ok(bytes),
            Status::Ok | Status::BufError if inflater.total_in() == read && bytes.len() == made => {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            Status::Ok | Status::BufError => {}
        }
    }
    Ok(bytes)
}

#[cfg(feature = "brotli")]
fn brotli(body: &[u8], most: u64) -> Option<io::Result<Vec<u8>>> {
    let bytes = bounded(brotli_decompressor::Decompressor::new(body, STEP), most);
    // It does not say which of both.
    Some(bytes.map_err(|_| io::Error::other("it is damaged or breaks off")))
}

#[cfg(not(feature = "brotli"))]
fn brotli(_: &[u8], _: u64) -> Option<io::Result<Vec<u8>>> {
    None
}

/// Window of zstd in HTTP, as a power of two (RFC 9659): what a decoder must have memory for.
#[cfg(feature = "zstd")]
const WINDOW: u32 = 23;

#[cfg(feature = "zstd")]
fn zstd(body: &[u8], most: u64) -> Option<io::Result<Vec<u8>>> {
    let decoder = zstd::Decoder::with_buffer(body).and_then(|mut decoder| {
        decoder.window_log_max(WINDOW)?;
        Ok(decoder)
    });
    Some(decoder.and_then(|decoder| bounded(decoder, most)))
}

#[cfg(not(feature = "zstd"))]
fn zstd(_: &[u8], _: u64) -> Option<io::Result<Vec<u8>>> {
    None
}

#[cfg(test)]
mod tests;
