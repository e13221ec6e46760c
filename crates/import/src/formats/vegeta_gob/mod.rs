//! vegeta's own output, which `vegeta attack` writes: a stream of Go's gob, one struct `Result` per request.
//!
//! The fields are found by their names, so files of versions with fewer or more fields are read too.

mod gob;
mod hits;

use crate::{Error, Facts, Format, Options, Reader, Rows, Unreadable};
use gob::{Bytes, Type};
use headway_base::Nanos;
use hits::{BOUNDS, Hit, Hits};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// vegeta's gob.
pub struct VegetaGob;

/// No message is longer.
const LONGEST: u64 = 64 << 20;
/// Seconds from the first of January of the year 1, from which Go counts, to the Unix epoch.
const YEAR_1_TO_1970: u64 = 62_135_596_800;

impl Format for VegetaGob {
    fn name(&self) -> &'static str {
        "vegeta-gob"
    }

    fn about(&self) -> &'static str {
        "vegeta attack, without encoding it further"
    }

    fn recognise(&self, head: &[u8]) -> bool {
        let mut bytes = Bytes(head);
        let message = bytes.uint().and_then(|length| bytes.take(length));
        message.and_then(|message| describe(&mut Bytes(message))).is_some_and(|(_, described)| {
            let Type::Struct { fields, .. } = described else { return false };
            let has = |name: &[u8]| fields.iter().any(|(field, _)| field == name);
            has(b"Timestamp") && has(b"Latency") && has(b"Code")
        })
    }

    fn reader(&self, path: &Path, _: &Options) -> Result<Box<dyn Reader>, Error> {
        Ok(Box::new(VegetaGobReader {
            path: path.to_path_buf(),
            passed: 0,
            types: HashMap::new(),
            hits: Hits::default(),
        }))
    }
}

struct VegetaGobReader {
    path: PathBuf,
    /// Bytes of the file before the block.
    passed: u64,
    types: HashMap<i64, Type>,
    hits: Hits,
}

/// The description of a type, if the message is one, with the type's number.
fn describe(message: &mut Bytes<'_>) -> Option<(i64, Type)> {
    let number = message.int().filter(|&number| number < 0)?;
    Some((number.checked_neg()?, Type::read(message)?))
}

/// Nanoseconds since the Unix epoch out of what Go's `time.Time` encodes itself as: a version, seconds since the year 1,
/// nanoseconds, and the zone, which changes nothing.
fn timestamp(bytes: &[u8]) -> Option<i64> {
    let [1 | 2, rest @ ..] = bytes else { return None };
    let (seconds, rest) = rest.split_first_chunk()?;
    let (nanos, _) = rest.split_first_chunk()?;
    let seconds = i64::try_from(u64::from_be_bytes(*seconds).checked_sub(YEAR_1_TO_1970)?).ok()?;
    seconds.checked_mul(1_000_000_000)?.checked_add(i64::from(u32::from_be_bytes(*nanos)))
}

fn read_hit<'a>(message: &mut Bytes<'a>, types: &HashMap<i64, Type>) -> Option<Hit<'a>> {
    let Type::Struct { fields, .. } = types.get(&message.int()?)? else { return None };
    let mut hit = Hit::default();
    message.fields(|i, bytes| {
        let (name, number) = fields.get(usize::try_from(i).ok()?)?;
        match (&name[..], *number) {
            (b"Seq", gob::UINT) => hit.seq = bytes.uint()?,
            (b"Code", gob::UINT) => hit.code = u16::try_from(bytes.uint()?).ok()?,
            (b"BytesOut", gob::UINT) => hit.bytes_out = bytes.uint()?,
            (b"BytesIn", gob::UINT) => hit.bytes_in = bytes.uint()?,
            (b"Latency", gob::INT) => hit.latency = bytes.int()?,
            (b"Error", gob::STRING) => hit.error = bytes.string()?,
            (b"Method", gob::STRING) => hit.method = bytes.string()?,
            (b"URL", gob::STRING) => hit.url = bytes.string()?,
            (b"Timestamp", number) if types.get(&number) == Some(&Type::Opaque) => {
                hit.timestamp = timestamp(bytes.string()?)?;
            }
            (_, number) => gob::skip(bytes, number, types)?,
        }
        Some(())
    })?;
    Some(hit)
}

impl Reader for VegetaGobReader {
    fn read(&mut self, block: &[u8], last: bool, rows: &mut Rows) -> Result<usize, Error> {
        let mut rest = Bytes(block);
        while !rest.0.is_empty() {
            let at = self.passed + (block.len() - rest.0.len()) as u64;
            let mut after = rest;
            let length = after.uint();
            if length.is_some_and(|length| length == 0 || length > LONGEST)
                || (length.is_none() && rest.0.len() > 9)
            {
                let found = rest.0.iter().take(8).map(|b| format!("{b:02x} ")).collect::<String>();
                let expected =
                    format!("a message's length, 1 to {LONGEST} (the number is the byte's offset)");
                let at = Unreadable { line: at, found: found.trim_end().to_owned(), expected };
                return Err(Error::Broken { path: self.path.clone(), at });
            }
            let Some(message) = length.and_then(|length| after.take(length)) else {
                if last {
                    rows.bad(at, rest.0, "the rest of a result");
                    rest = Bytes(&[]);
                }
                break;
            };
            if let Some((number, described)) = describe(&mut Bytes(message)) {
                self.types.insert(number, described);
            } else {
                match read_hit(&mut Bytes(message), &self.types) {
                    None => rows.bad(at, message, "a result of vegeta in gob, or the description of a type"),
                    Some(hit) if self.hits.push(&hit, rows) => {}
                    Some(_) => rows.bad(at, message, BOUNDS),
                }
            }
            rest = after;
        }
        let taken = block.len() - rest.0.len();
        self.passed += taken as u64;
        Ok(taken)
    }

    fn facts(&self) -> Facts {
        Facts {
            format: "vegeta gob".to_owned(),
            resolution: Nanos(1),
            ends: true,
            bytes: true,
            ..Facts::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::request;
    use super::*;
    use headway_base::{Nanos, Outcome, Record};

    /// The descriptions that vegeta 12.13 writes first.
    const TYPES: &[u8] = b"\xff\x96\x7f\x03\x01\x01\x06Result\x01\xff\x80\x00\x01\x0c\x01\x06Attack\x01\x0c\x00\x01\
        \x03Seq\x01\x06\x00\x01\x04Code\x01\x06\x00\x01\x09Timestamp\x01\xff\x82\x00\x01\x07Latency\x01\x04\x00\x01\
        \x08BytesOut\x01\x06\x00\x01\x07BytesIn\x01\x06\x00\x01\x05Error\x01\x0c\x00\x01\x04Body\x01\x0a\x00\x01\
        \x06Method\x01\x0c\x00\x01\x03URL\x01\x0c\x00\x01\x07Headers\x01\xff\x86\x00\x00\x00\
        \x10\xff\x81\x05\x01\x01\x04Time\x01\xff\x82\x00\x00\x00\
        \x17\xff\x85\x04\x01\x01\x06Header\x01\xff\x86\x00\x01\x0c\x01\xff\x84\x00\x00\
        \x0c\xff\x83\x02\x01\x02\xff\x84\x00\x01\x0c\x00\x00";

    fn message(value: &[u8]) -> Vec<u8> {
        let mut bytes = vec![value.len() as u8 + 2, 0xff, 0x80];
        bytes.extend_from_slice(value);
        bytes
    }

    /// Attack, no sequence number, a code, a stamp, a latency, bytes in, method, URL, a header.
    fn good() -> Vec<u8> {
        message(
            b"\x01\x04demo\x02\xff\xc8\x01\x0f\x01\x00\x00\x00\x0e\xe2\x93\x56\x5c\x07\xb1\xdf\xef\x00\x00\x01\xfd\x19\xcb\xe2\
              \x02\x64\x03\x03GET\x01\x09http://h/\x01\x01\x06Server\x01\x04sink\x00",
        )
    }

    /// A sequence number, a stamp, a latency, an error.
    fn refused() -> Vec<u8> {
        message(
            b"\x02\x01\x02\x0f\x01\x00\x00\x00\x0e\xe2\x93\x56\x5d\x00\x00\x00\x00\x00\x00\x01\x0a\x03\x18dial: \
              connection refused\x00",
        )
    }

    fn expected() -> [Record; 2] {
        let at = Nanos(1_795_252_060_129_097_711);
        let good =
            Record { status: 200, bytes_received: 100, ..request::between(0, at, at + Nanos(845_297)) };
        let at = Nanos(1_795_252_061_000_000_000);
        let refused = Record {
            k: 1,
            step: 1,
            outcome: Outcome::Refused,
            repeat: 1,
            ..request::between(0, at, at + Nanos(5))
        };
        [good, refused]
    }

    fn reader() -> Box<dyn Reader> {
        VegetaGob.reader(Path::new("results.bin"), &Options::default()).unwrap()
    }

    #[test]
    fn results_become_records() {
        let bytes = [TYPES, &good(), &refused(), TYPES, &good()].concat();
        assert!(VegetaGob.recognise(&bytes));
        let mut rows = Rows::default();
        assert_eq!(reader().read(&bytes, true, &mut rows).unwrap(), bytes.len());
        let [good, refused] = expected();
        assert_eq!(rows.unreadable, 0, "{:?}", rows.examples);
        assert_eq!(rows.records, [good, refused, good]);
        assert_eq!(rows.tables.labels.as_slice(), ["GET http://h/", ""]);
    }

    #[test]
    fn blocks_of_any_size_give_the_same() {
        let bytes = [TYPES, &good(), &refused()].concat();
        for size in 1..60 {
            let (mut rows, mut reader) = (Rows::default(), reader());
            let (mut begin, mut end) = (0, 0);
            while end < bytes.len() {
                end = (end + size).min(bytes.len());
                begin += reader.read(&bytes[begin..end], end == bytes.len(), &mut rows).unwrap();
            }
            assert_eq!(
                (&rows.records[..], rows.unreadable, begin),
                (&expected()[..], 0, bytes.len()),
                "{size}"
            );
        }
    }

    #[test]
    fn what_cannot_be_read_is_counted_with_its_offset() {
        let mut absurd = good();
        let year = absurd.iter().position(|&b| b == 0xe2).unwrap();
        absurd[year] = 0;
        let bytes = [TYPES, &message(b"\x20\x00"), &absurd, &good(), &refused()[..9]].concat();
        let mut rows = Rows::default();
        reader().read(&bytes, true, &mut rows).unwrap();
        let at: Vec<_> = rows.examples.iter().map(|e| e.line - TYPES.len() as u64).collect();
        assert_eq!((rows.records.len(), at), (1, vec![0, 5, 5 + 2 * good().len() as u64]));
    }

    #[test]
    fn a_length_that_is_none_ends_it() {
        let bytes = [TYPES, &[0x80; 20]].concat();
        let Err(Error::Broken { at, .. }) = reader().read(&bytes, true, &mut Rows::default()) else {
            panic!()
        };
        assert_eq!(at.line, TYPES.len() as u64);
    }

    #[test]
    fn an_attack_reads_the_same_in_gob_and_in_csv() {
        let read = |name: &str| {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples").join(name);
            let mut file = crate::File::open(&path, &Options::default(), Default::default()).unwrap();
            let (mut rows, mut records) = (Rows::default(), Vec::new());
            while file.next(&mut rows).unwrap() {
                records.append(&mut rows.records);
            }
            assert_eq!(file.finish(&mut rows, false).unwrap().unreadable, 0);
            records
        };
        let gob = read("vegeta-gob/100ps-10s.gob.gz");
        assert_eq!(gob.len(), 1000);
        assert_eq!(gob, read("vegeta-csv/100ps-10s.csv.gz"));
        assert_eq!(gob[..40], read("vegeta-gob/head.gob"));
    }
}
