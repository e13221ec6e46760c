//! Gatling's `simulation.log` as bytes, since 3.13: records one after the other, big-endian, the kind in their first byte.
//!
//! ```text
//! 0 run      version class i64:start description i32:n n*scenario i32:n n*(i32:length bytes)    (the last: assertions)
//! 1 request  i32:n n*Name(group) Name(name) i32:start i32:end u8:ok Name(message)
//! 2 user     i32:scenario u8:start(1) or end(0) i32:at
//! 3 group    i32:n n*Name(group) i32:start i32:end i32:cumulated u8:ok
//! 4 error    Name(message) i32:at
//! ```
//!
//! A string is an i32 of its length in bytes, the bytes, and a byte for how they are coded: 0 Latin-1, 1 UTF-16 in the
//! byte order of the machine that wrote it (little-endian on all that Gatling is run on); an empty one has no such byte.
//! A `Name` is a string with a number: a positive number and the string the first time, afterwards only the number,
//! negative. Instants are milliseconds since the run's start. What the assertions hold differs between versions; they are
//! passed over.

use super::gatling::{self, BETWEEN, ERRORS, GROUPS};
use crate::stamps::span;
use crate::{Error, Facts, Format, Options, Reader, Rows, Unreadable};
use std::path::{Path, PathBuf};

/// Gatling's binary log.
pub struct GatlingBinary;

/// Gatling's own buffer: no string is longer.
const LONGEST_STRING: usize = 64 << 10;
/// Groups within groups, scenarios, assertions: more are not believed.
const MOST: i32 = 100_000;

impl Format for GatlingBinary {
    fn name(&self) -> &'static str {
        "gatling-binary"
    }

    fn about(&self) -> &'static str {
        "simulation.log of Gatling 3.13 and later"
    }

    fn recognise(&self, head: &[u8]) -> bool {
        let [0, 0, 0, 0, length @ 3..=40, rest @ ..] = head else { return false };
        let length = usize::from(*length);
        rest.get(..length).is_some_and(|version| {
            version[0].is_ascii_digit()
                && version.contains(&b'.')
                && version.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'+'))
        }) && rest.get(length) == Some(&0)
    }

    fn reader(&self, path: &Path, _: &Options) -> Result<Box<dyn Reader>, Error> {
        Ok(Box::new(GatlingBinaryReader { path: path.to_path_buf(), ..GatlingBinaryReader::default() }))
    }
}

#[derive(Default)]
struct GatlingBinaryReader {
    path: PathBuf,
    /// Bytes of the file before the block.
    passed: u64,
    run: Option<Run>,
    /// Names by their number less one.
    names: Vec<Box<[u8]>>,
    label: Vec<u8>,
    sessions: bool,
}

struct Run {
    version: String,
    start_ms: i64,
    scenarios: Vec<Box<[u8]>>,
}

/// Why a record was not read.
enum Stop {
    /// It goes on behind the bytes at hand.
    More,
    /// It is none; this was expected at that offset.
    Broken(usize, String),
}

type Take<T> = Result<T, Stop>;

struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    #[inline]
    fn bytes(&mut self, n: usize) -> Take<&'a [u8]> {
        let taken = self.bytes.get(self.at..).and_then(|rest| rest.get(..n)).ok_or(Stop::More)?;
        self.at += n;
        Ok(taken)
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Take<[u8; N]> {
        let taken = self.bytes.get(self.at..).and_then(|rest| rest.first_chunk()).ok_or(Stop::More)?;
        self.at += N;
        Ok(*taken)
    }

    #[inline]
    fn int(&mut self) -> Take<i32> {
        self.array().map(i32::from_be_bytes)
    }

    #[inline]
    fn flag(&mut self) -> Take<bool> {
        match self.array()? {
            [0] => Ok(false),
            [1] => Ok(true),
            [_] => self.broken(1, "0 or 1"),
        }
    }

    fn count(&mut self) -> Take<i32> {
        match self.int()? {
            n @ 0..=MOST => Ok(n),
            _ => self.broken(4, format!("a count from 0 to {MOST}")),
        }
    }

    /// What was taken last, `back` bytes ago, should have been something else.
    fn broken<T>(&self, back: usize, expected: impl Into<String>) -> Take<T> {
        Err(Stop::Broken(self.at - back, expected.into()))
    }

    /// A string as UTF-8.
    fn string(&mut self) -> Take<Box<[u8]>> {
        let length = match usize::try_from(self.int()?) {
            Ok(0) => return Ok(Box::default()),
            Ok(n) if n <= LONGEST_STRING => n,
            _ => return self.broken(4, format!("a string's length from 0 to {LONGEST_STRING}")),
        };
        let bytes = self.bytes(length)?;
        let text: String = match self.array()? {
            [0] => bytes.iter().map(|&b| char::from(b)).collect(),
            [1] => {
                let units = bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
                char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
            }
            [_] => return self.broken(1, "0 (Latin-1) or 1 (UTF-16)"),
        };
        Ok(text.into_boxed_str().into_boxed_bytes())
    }

    /// The place of a name in `names`; new ones are added.
    #[inline]
    fn name(&mut self, names: &mut Vec<Box<[u8]>>) -> Take<usize> {
        let number = self.int()?;
        let place = number.unsigned_abs() as usize;
        if number > 0 && place == names.len() + 1 {
            let name = self.string()?;
            names.push(name);
        } else if number >= 0 || place > names.len() {
            return self.broken(
                4,
                format!("a name known before (-1 to -{0}) or number {1}", names.len(), names.len() + 1),
            );
        }
        Ok(place - 1)
    }
}

impl GatlingBinaryReader {
    /// Takes one record, if it is complete.
    #[inline]
    fn record(&mut self, cursor: &mut Cursor<'_>, rows: &mut Rows) -> Take<()> {
        let begin = cursor.at;
        let [kind] = cursor.array()?;
        let Some(run) = &self.run else {
            if kind != 0 {
                return cursor.broken(1, "0, the record of the run");
            }
            self.run = Some(read_run(cursor)?);
            return Ok(());
        };
        let at =
            |offset_ms: i32| gatling::millis(run.start_ms + i64::from(offset_ms)).filter(|_| offset_ms >= 0);
        match kind {
            1 => {
                self.label.clear();
                for _ in 0..cursor.count()? {
                    let group = cursor.name(&mut self.names)?;
                    self.label.extend_from_slice(&self.names[group]);
                    self.label.extend_from_slice(BETWEEN);
                }
                let name = cursor.name(&mut self.names)?;
                self.label.extend_from_slice(&self.names[name]);
                let (start, end, ok) = (cursor.int()?, cursor.int()?, cursor.flag()?);
                let message = cursor.name(&mut self.names)?;
                let stamps = at(start).zip(at(end)).filter(|&(start, end)| span((end - start).0).is_some());
                match stamps {
                    Some(stamps) => {
                        let record = gatling::request(stamps, &self.label, ok, &self.names[message], rows);
                        rows.records.push(record);
                    }
                    None => rows.bad(
                        self.passed + begin as u64,
                        format!("request from {start} to {end}").as_bytes(),
                        "a start after the run's and an end after that, by less than a day",
                    ),
                }
            }
            2 => {
                let scenario = cursor.count()? as usize;
                let Some(scenario) = run.scenarios.get(scenario) else {
                    return cursor.broken(
                        4,
                        format!("a scenario from 0 to {}", run.scenarios.len().saturating_sub(1)),
                    );
                };
                let (came, offset_ms) = (cursor.flag()?, cursor.int()?);
                match at(offset_ms) {
                    Some(started) if came => {
                        self.sessions = true;
                        let record = gatling::session((started, started), scenario, rows);
                        rows.records.push(record);
                    }
                    Some(_) => {}
                    None => rows.bad(
                        self.passed + begin as u64,
                        format!("user at {offset_ms}").as_bytes(),
                        "milliseconds since the run's start",
                    ),
                }
            }
            3 => {
                for _ in 0..cursor.count()? {
                    cursor.name(&mut self.names)?;
                }
                cursor.array::<12>()?;
                cursor.flag()?;
                rows.leave_out(GROUPS);
            }
            4 => {
                cursor.name(&mut self.names)?;
                cursor.int()?;
                rows.leave_out(ERRORS);
            }
            _ => return cursor.broken(1, "1 (request), 2 (user), 3 (group) or 4 (error)"),
        }
        Ok(())
    }
}

fn read_run(cursor: &mut Cursor<'_>) -> Take<Run> {
    let version = String::from_utf8_lossy(&cursor.string()?).into_owned();
    cursor.string()?;
    let start_ms = i64::from_be_bytes(cursor.array()?);
    if gatling::millis(start_ms).is_none() {
        return cursor.broken(8, "the run's start in Unix milliseconds");
    }
    cursor.string()?;
    let scenarios = (0..cursor.count()?).map(|_| cursor.string()).collect::<Take<_>>()?;
    for _ in 0..cursor.count()? {
        match usize::try_from(cursor.int()?) {
            Ok(length) if length <= LONGEST_STRING => cursor.bytes(length)?,
            _ => return cursor.broken(4, format!("an assertion's length from 0 to {LONGEST_STRING}")),
        };
    }
    Ok(Run { version, start_ms, scenarios })
}

impl Reader for GatlingBinaryReader {
    fn read(&mut self, bytes: &[u8], last: bool, rows: &mut Rows) -> Result<usize, Error> {
        let mut cursor = Cursor { bytes, at: 0 };
        while cursor.at < bytes.len() {
            let (begin, names) = (cursor.at, self.names.len());
            match self.record(&mut cursor, rows) {
                Ok(()) => {}
                Err(Stop::More) => {
                    // It comes again as a whole, with the names that are new in it.
                    self.names.truncate(names);
                    cursor.at = begin;
                    if last {
                        let rest = &bytes[begin..];
                        rows.bad(self.passed + begin as u64, rest, "the rest of a record");
                        cursor.at = bytes.len();
                    }
                    break;
                }
                Err(Stop::Broken(at, expected)) => {
                    let found = bytes[at..].iter().take(8).map(|b| format!("{b:02x} ")).collect::<String>();
                    let at = Unreadable {
                        line: self.passed + at as u64,
                        found: found.trim_end().to_owned(),
                        expected: format!("{expected} (the number is the byte's offset)"),
                    };
                    return Err(Error::Broken { path: self.path.clone(), at });
                }
            }
        }
        self.passed += cursor.at as u64;
        Ok(cursor.at)
    }

    fn facts(&self) -> Facts {
        let version = self.run.as_ref().map(|run| run.version.as_str());
        let mut facts = gatling::facts("Gatling binary log", version, self.sessions);
        facts.missing.push(gatling::NO_USER_IDS.to_owned());
        facts
    }
}

#[cfg(test)]
mod tests {
    use super::super::request;
    use super::*;
    use headway_base::{Kind, Nanos, Outcome, Record};

    const START_MS: i64 = 1_795_252_060_000;

    /// Writes as Gatling does.
    #[derive(Default)]
    struct Log(Vec<u8>, Vec<&'static str>);

    impl Log {
        fn raw(mut self, bytes: &[u8]) -> Log {
            self.0.extend_from_slice(bytes);
            self
        }
        fn int(self, n: i32) -> Log {
            self.raw(&n.to_be_bytes())
        }
        fn string(self, text: &str) -> Log {
            if text.is_empty() {
                self.int(0)
            } else if text.chars().all(|c| c <= '\u{ff}') {
                let bytes: Vec<u8> = text.chars().map(|c| c as u8).collect();
                self.int(bytes.len() as i32).raw(&bytes).raw(&[0])
            } else {
                let bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
                self.int(bytes.len() as i32).raw(&bytes).raw(&[1])
            }
        }
        fn name(mut self, text: &'static str) -> Log {
            match self.1.iter().position(|known| *known == text) {
                Some(place) => self.int(-(place as i32 + 1)),
                None => {
                    self.1.push(text);
                    let number = self.1.len() as i32;
                    self.int(number).string(text)
                }
            }
        }
        fn run(self) -> Log {
            let log = self.raw(&[0]).string("3.13.5").string("Basic").raw(&START_MS.to_be_bytes()).string("");
            log.int(2).string("browse").string("b\u{fc}y \u{20ac}").int(1).int(3).raw(b"abc")
        }
        fn user(self, scenario: i32, came: u8, at: i32) -> Log {
            self.raw(&[2]).int(scenario).raw(&[came]).int(at)
        }
        fn request(
            self,
            groups: &[&'static str],
            name: &'static str,
            stamps: [i32; 2],
            message: &'static str,
        ) -> Log {
            let log = self.raw(&[1]).int(groups.len() as i32);
            let log = groups.iter().fold(log, |log, group| log.name(group));
            log.name(name).int(stamps[0]).int(stamps[1]).raw(&[u8::from(message.is_empty())]).name(message)
        }
    }

    fn reader() -> Box<dyn Reader> {
        GatlingBinary.reader(Path::new("simulation.log"), &Options::default()).unwrap()
    }

    fn whole() -> Vec<u8> {
        let log = Log::default().run().user(0, 1, 1).request(&[], "home", [2, 30], "").user(1, 1, 5);
        let log =
            log.request(&["shop", "cart"], "add", [31, 40], "status.find.is(200), but actually found 503");
        let log = log.raw(&[3]).int(1).name("shop").int(31).int(40).int(9).raw(&[0]);
        let log = log.raw(&[4]).name("No attribute named 'x' is defined").int(41);
        log.request(&["shop"], "home", [50, 60], "").user(0, 0, 70).0
    }

    fn ms(ms: i64) -> Nanos {
        Nanos::from_millis(START_MS + ms)
    }

    fn expected() -> Vec<Record> {
        let session = |step, at| Record { kind: Kind::Session, step, ..request::between(0, ms(at), ms(at)) };
        let add = Record {
            step: 3,
            status: 503,
            outcome: Outcome::Status,
            repeat: 1,
            ..request::between(0, ms(31), ms(40))
        };
        vec![
            session(0, 1),
            Record { step: 1, ..request::between(0, ms(2), ms(30)) },
            session(2, 5),
            add,
            Record { step: 4, ..request::between(0, ms(50), ms(60)) },
        ]
    }

    #[test]
    fn records_are_read() {
        let (bytes, mut rows, mut reader) = (whole(), Rows::default(), reader());
        assert!(GatlingBinary.recognise(&bytes));
        assert_eq!(reader.read(&bytes, true, &mut rows).unwrap(), bytes.len());
        assert_eq!(rows.records, expected());
        assert_eq!(
            rows.tables.labels.as_slice(),
            ["browse", "home", "b\u{fc}y \u{20ac}", "shop / cart / add", "shop / home"]
        );
        assert_eq!((rows.unreadable, &rows.left_out[..]), (0, &[(GROUPS, 1), (ERRORS, 1)][..]));
        let facts = reader.facts();
        assert_eq!(facts.tool.as_deref(), Some("Gatling 3.13.5"));
        assert!(facts.sessions && !facts.users);
    }

    #[test]
    fn blocks_of_any_size_give_the_same() {
        let bytes = whole();
        for size in 1..40 {
            let (mut rows, mut reader) = (Rows::default(), reader());
            let (mut begin, mut end) = (0, 0);
            while end < bytes.len() {
                end = (end + size).min(bytes.len());
                begin += reader.read(&bytes[begin..end], end == bytes.len(), &mut rows).unwrap();
            }
            assert_eq!((rows.records, rows.unreadable, begin), (expected(), 0, bytes.len()), "{size}");
        }
    }

    #[test]
    fn a_file_that_breaks_off_has_one_unreadable_row() {
        let bytes = whole();
        let (mut rows, mut reader) = (Rows::default(), reader());
        assert_eq!(reader.read(&bytes[..bytes.len() - 3], true, &mut rows).unwrap(), bytes.len() - 3);
        assert_eq!((rows.records, rows.unreadable), (expected(), 1));
        assert_eq!(rows.examples[0].line, bytes.len() as u64 - 10);
    }

    #[test]
    fn what_is_no_record_ends_it() {
        let cases = [
            (Log::default().run().raw(&[9]), 0, "1 (request)"),
            (Log::default().run().user(2, 1, 0), 1, "a scenario from 0 to 1"),
            (Log::default().run().raw(&[1]).int(0).int(-1), 5, "a name known before"),
            (Log::default().run().raw(&[1]).int(-1), 1, "a count"),
            (Log::default().run().raw(&[4]).int(1).int(99_999_999), 5, "a string's length"),
        ];
        let begin = Log::default().run().0.len() as u64;
        for (log, offset, expected) in cases {
            let Err(Error::Broken { at, .. }) = reader().read(&log.0, true, &mut Rows::default()) else {
                panic!("{expected}");
            };
            assert_eq!(at.line, begin + offset, "{expected}");
            assert!(at.expected.starts_with(expected), "{at:?}");
        }
    }

    #[test]
    fn impossible_times_are_unreadable() {
        let log = Log::default().run().request(&[], "home", [30, 2], "").user(0, 1, -1);
        let mut rows = Rows::default();
        reader().read(&log.0, true, &mut rows).unwrap();
        assert_eq!((rows.records.len(), rows.unreadable), (0, 2));
    }
}
