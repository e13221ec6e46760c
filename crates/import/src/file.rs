//! One file from its first byte to its last: recognised, read block by block, its stamps turned into starts.

use crate::error::Error;
use crate::format::{Facts, Format, Reader, Stamps};
use crate::formats;
use crate::options::Options;
use crate::order::{Decision, StampsHow, decide, to_starts};
use crate::rows::{Rows, Unreadable};
use crate::source::{Progress, Source};
use crate::steps::Steps;
use headway_base::{Kind, Nanos, Record};
use std::path::{Path, PathBuf};

/// Bytes by which a format is recognised.
const HEAD: usize = 64 << 10;
/// Bytes handed to a reader at a time; grows where one row is longer.
const BLOCK: usize = 1 << 18;
/// No row is longer than this.
const LONGEST_ROW: usize = 64 << 20;
/// Rows which decide whether ambiguous stamps are starts or ends.
const ROWS_TO_DECIDE: usize = 100_000;
const SECOND: Nanos = Nanos::from_secs(1);
/// So many stamps are not all whole seconds by chance.
const ENOUGH_TO_RESOLVE: u64 = 30;
/// Share of unreadable rows from which on a file is refused.
const TOO_MANY: f64 = 0.01;

/// A file that is being read.
pub struct File {
    path: PathBuf,
    format: &'static dyn Format,
    reader: Box<dyn Reader>,
    source: Option<Source>,
    buffer: Vec<u8>,
    /// What of the buffer holds bytes not yet taken.
    filled: usize,
    ended: bool,
    /// Requests.
    rows_read: u64,
    sessions_read: u64,
    steps: Steps,
    /// Rows held back until it is decided what their stamps tell.
    held: Option<Vec<Record>>,
    /// What their stamps tell, once it is decided.
    decision: Option<Decision>,
    /// Whether every stamp so far is a whole second.
    whole_seconds: bool,
    compression: Option<&'static str>,
}

/// What a file came to.
#[derive(Clone, Debug, Default)]
pub struct Finished {
    /// Which file.
    pub path: PathBuf,
    /// Name of the format.
    pub format: &'static str,
    /// What is known of it; `stamps` is decided.
    pub facts: Facts,
    /// How it was decided whether stamps are starts or ends.
    pub stamps_how: StampsHow,
    /// Whether the rows do not show it: the stamps are then taken for what the tool writes by default.
    pub stamps_guessed: bool,
    /// How it was compressed.
    pub compression: Option<&'static str>,
    /// Requests read; sessions are not counted.
    pub rows: u64,
    /// Rows that could not be read.
    pub unreadable: u64,
    /// The first of them.
    pub examples: Vec<Unreadable>,
    /// Rows left out on purpose, and why.
    pub left_out: Vec<(&'static str, u64)>,
}

impl File {
    /// Opens a file and recognises its format; `-` is standard input.
    ///
    /// # Errors
    /// A file that cannot be read, is empty, unknown, or holds no single requests.
    pub fn open(path: &Path, options: &Options, progress: Progress) -> Result<File, Error> {
        let mut source = Source::open(path, progress)?;
        let mut buffer = vec![0; BLOCK];
        let mut filled = source.fill(&mut buffer)?;
        const BOM: &[u8] = b"\xef\xbb\xbf";
        if buffer[..filled].starts_with(BOM) {
            buffer.copy_within(BOM.len()..filled, 0);
            filled -= BOM.len();
        }
        if filled == 0 {
            return Err(Error::Empty { path: path.to_path_buf() });
        }
        let head = &buffer[..filled.min(HEAD)];
        let format = formats::find(head, options).ok_or_else(|| Error::Unknown {
            path: path.to_path_buf(),
            found: shown(head),
            known: formats::known(),
        })?;
        if format.opens_itself()
            && let Some(kind) = source.compression
        {
            let why = format!("a {} database, {kind}-compressed: decompress it first", format.name());
            return Err(Error::Database { path: path.to_path_buf(), why });
        }
        let reader = format.reader(path, options)?;
        let held = (reader.facts().stamps == Stamps::Ambiguous).then(Vec::new);
        Ok(File {
            path: path.to_path_buf(),
            format,
            reader,
            compression: source.compression,
            source: (!format.opens_itself()).then_some(source),
            buffer,
            filled,
            ended: false,
            rows_read: 0,
            sessions_read: 0,
            steps: Steps::default(),
            held,
            decision: None,
            whole_seconds: true,
        })
    }

    /// What is known so far.
    pub fn facts(&self) -> Facts {
        self.reader.facts()
    }

    /// Reads on and puts records into `rows.records`, which is emptied first; false at the end of the file.
    ///
    /// # Errors
    /// What leaves no way to go on.
    pub fn next(&mut self, rows: &mut Rows) -> Result<bool, Error> {
        rows.records.clear();
        while !self.ended {
            self.read_block(rows)?;
            let requests = count(&rows.records);
            self.rows_read += requests;
            self.sessions_read += rows.records.len() as u64 - requests;
            if self.whole_seconds {
                let stamps = self.reader.facts().stamps;
                self.whole_seconds = rows.records.iter().all(|r| in_whole_seconds(r, stamps));
            }
            if let Some(mut held) = self.held.take() {
                held.append(&mut rows.records);
                if held.len() < ROWS_TO_DECIDE && !self.ended {
                    self.held = Some(held);
                    continue;
                }
                let facts = self.reader.facts();
                self.decision = Some(decide(&held, facts.users, facts.resolution));
                rows.records = held;
            }
            if self.decision.as_ref().is_some_and(|d| d.ends) {
                rows.records.iter_mut().for_each(to_starts);
            }
            if !rows.records.is_empty() {
                self.steps.push(&rows.records);
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn read_block(&mut self, rows: &mut Rows) -> Result<(), Error> {
        let Some(source) = &mut self.source else {
            self.ended = self.reader.read(&[], false, rows)? == 0;
            return Ok(());
        };
        let mut last = false;
        if self.filled < self.buffer.len() {
            let came = source.fill(&mut self.buffer[self.filled..])?;
            last = self.filled + came < self.buffer.len();
            self.filled += came;
        }
        let taken = self.reader.read(&self.buffer[..self.filled], last, rows)?.min(self.filled);
        self.buffer.copy_within(taken..self.filled, 0);
        self.filled -= taken;
        self.ended = last;
        if taken == 0 && !last {
            if self.buffer.len() >= LONGEST_ROW {
                let at = Unreadable {
                    line: self.rows_read + rows.unreadable + 1,
                    found: shown(&self.buffer),
                    expected: format!("the end of a row within {} MiB", LONGEST_ROW >> 20),
                };
                return Err(Error::Broken { path: self.path.clone(), at });
            }
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
        Ok(())
    }

    /// Closes the file: what it came to. Takes the counts of this file out of `rows`.
    ///
    /// # Errors
    /// [`Error::NoneReadable`]; [`Error::TooManyUnreadable`] unless `lenient`.
    pub fn finish(self, rows: &mut Rows, lenient: bool) -> Result<Finished, Error> {
        let mut facts = self.reader.facts();
        facts.missing.extend(rows.lumped());
        facts.missing.extend(self.steps.words());
        let read = self.rows_read + self.sessions_read;
        if self.whole_seconds && read >= ENOUGH_TO_RESOLVE && facts.resolution < SECOND {
            facts.resolution = SECOND;
            facts.missing.push(
                "All stamps are whole seconds, though they are written finer: they resolve 1 s.".to_owned(),
            );
        }
        let unreadable = std::mem::take(&mut rows.unreadable);
        let examples = std::mem::take(&mut rows.examples);
        let left_out = std::mem::take(&mut rows.left_out);
        let share = unreadable as f64 / (read + unreadable).max(1) as f64;
        let path = self.path;
        if unreadable > 0 && read == 0 {
            return Err(Error::NoneReadable { path, format: self.format.name(), unreadable, examples });
        }
        if share > TOO_MANY && !lenient {
            return Err(Error::TooManyUnreadable { path, rows: read, unreadable, examples });
        }
        let decision = self.decision.unwrap_or_else(|| decide(&[], false, facts.resolution));
        let mut stamps_guessed = false;
        let stamps_how = match facts.stamps {
            Stamps::Start => StampsHow::Format,
            Stamps::End if facts.ends => StampsHow::Subtracted,
            Stamps::End => StampsHow::NoTimes,
            Stamps::Ambiguous => {
                facts.stamps = if decision.ends { Stamps::End } else { Stamps::Start };
                stamps_guessed = !decision.sure;
                decision.how
            }
        };
        Ok(Finished {
            path,
            format: self.format.name(),
            facts,
            stamps_how,
            stamps_guessed,
            compression: self.compression,
            rows: self.rows_read,
            unreadable,
            examples,
            left_out,
        })
    }
}

/// Whether what was stamped is a whole second: the end, where a reader has turned ends into starts.
fn in_whole_seconds(record: &Record, stamps: Stamps) -> bool {
    let stamp = match stamps {
        Stamps::End => Some(record.done),
        _ => record.started.get(),
    };
    stamp.is_none_or(|at| at.0 % SECOND.0 == 0)
}

fn count(records: &[Record]) -> u64 {
    records.iter().filter(|r| r.kind == Kind::Request).count() as u64
}

fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(60)]);
    text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_base::Outcome;
    use std::fs;
    use std::io::Write;

    const ROW: &str = "1331861403100,18,Home,200,OK,Group 1-6,text,true,18078,13\n";

    fn read(path: &Path, options: &Options, lenient: bool) -> Result<(Vec<Record>, Finished), Error> {
        let mut file = File::open(path, options, Progress::default())?;
        let mut rows = Rows::default();
        let mut records = Vec::new();
        while file.next(&mut rows)? {
            assert!(!rows.records.is_empty());
            records.append(&mut rows.records);
        }
        assert!(!file.next(&mut rows)?);
        let finished = file.finish(&mut rows, lenient)?;
        assert_eq!((rows.unreadable, rows.left_out.len(), rows.examples.len()), (0, 0, 0));
        Ok((records, finished))
    }

    fn written(bytes: &[u8], lenient: bool) -> Result<(Vec<Record>, Finished), String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), bytes).unwrap();
        let name = file.path().display().to_string();
        read(file.path(), &Options::default(), lenient).map_err(|e| e.to_string().replace(&name, "FILE"))
    }

    #[test]
    fn a_byte_order_mark_and_compression_do_not_matter() {
        let (plain, _) = written(ROW.repeat(3).as_bytes(), false).unwrap();
        assert_eq!(plain.len(), 3);
        let (marked, _) = written(format!("\u{feff}{}", ROW.repeat(3)).as_bytes(), false).unwrap();
        assert_eq!(marked, plain);
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gz.write_all(ROW.repeat(3).as_bytes()).unwrap();
        let (unpacked, finished) = written(&gz.finish().unwrap(), false).unwrap();
        assert_eq!((unpacked, finished.compression), (plain, Some("gz")));
        assert_eq!((finished.format, finished.rows, finished.unreadable), ("jmeter-csv", 3, 0));
    }

    #[test]
    fn files_that_cannot_be_audited() {
        for (bytes, expected) in [
            (&b""[..], "FILE is empty: there is nothing to audit; name a file with results"),
            (b"\xef\xbb\xbf", "FILE is empty"),
            (
                b"\x7fELF\x02\x01\0\n\xff",
                "FILE: not a results file that Headway knows; it begins with \"?ELF??",
            ),
            (b"a,b\n1,2\n", "it begins with \"a,b?1,2?\".\nKnown are: "),
        ] {
            let message = written(bytes, false).unwrap_err();
            assert!(message.contains(expected), "{message}");
        }
    }

    #[test]
    fn unreadable_rows_are_an_error_beyond_one_in_a_hundred() {
        let text = |good: usize| format!("{}oops\n", ROW.repeat(good)).into_bytes();
        let (records, finished) = written(&text(99), false).unwrap();
        assert_eq!((records.len(), finished.rows, finished.unreadable), (99, 99, 1));
        assert_eq!(finished.examples[0].line, 100);
        let message = written(&text(98), false).unwrap_err();
        assert!(
            message.starts_with("FILE: 1 of 99 rows cannot be read, more than 1 %; --lenient"),
            "{message}"
        );
        assert!(
            message.ends_with("\n  FILE:99: \"oops\": expected 10 columns as in the first row, not 1"),
            "{message}"
        );
        assert_eq!(written(&text(98), true).unwrap().1.unreadable, 1);
        // With a header only, or rows that are all unreadable.
        assert_eq!(written(b"timeStamp,elapsed\n", false).unwrap().0.len(), 0);
        let message = written(b"timeStamp,elapsed\nx,y\n", true).unwrap_err();
        assert!(
            message.starts_with(
                "FILE: none of its 1 rows can be read as jmeter-csv\n  FILE:2: \"x,y\": expected "
            ),
            "{message}"
        );
    }

    #[test]
    fn stamps_of_ends_become_starts_from_the_first_row_on() {
        // More rows than are held back, in the order of their ends; each of five threads starts one every 50 ms.
        let rows = ROWS_TO_DECIDE as i64 + 20_000;
        let taken = |i: i64| 10 + (i * 7919) % 37;
        let mut ends: Vec<(i64, i64)> =
            (0..rows).map(|i| (1_331_861_403_100 + i * 10 + taken(i), i)).collect();
        ends.sort_unstable();
        let row =
            |&(end, i): &(i64, i64)| format!("{end},{},Home,200,OK,T-{},text,true,1,1\n", taken(i), i % 5);
        let text: String = ends.iter().map(row).collect();
        let (records, finished) = written(text.as_bytes(), false).unwrap();
        assert_eq!((finished.facts.stamps, finished.rows), (Stamps::End, rows as u64));
        assert!(
            !finished.stamps_guessed
                && matches!(finished.stamps_how, StampsHow::Overlap { ends: true, overlapping: 0, .. }),
            "{finished:?}"
        );
        for (k, (r, &(end, i))) in (0_u64..).zip(records.iter().zip(&ends)) {
            let end = Nanos::from_millis(end);
            assert_eq!((r.k, r.done, r.outcome), (k, end, Outcome::Ok));
            assert_eq!(r.started.get(), Some(end - Nanos::from_millis(taken(i))));
        }
    }

    #[test]
    fn a_row_longer_than_a_block_is_read_and_one_without_an_end_is_not() {
        let long = ROW.replace("Home", &"x".repeat(3 * BLOCK));
        let (records, _) = written(format!("{ROW}{long}{ROW}").as_bytes(), false).unwrap();
        assert_eq!(records.len(), 3);
        let endless = format!("{ROW}{}", "x".repeat(LONGEST_ROW + 2 * BLOCK));
        let message = written(endless.as_bytes(), false).unwrap_err();
        assert!(
            message.starts_with("FILE:2: \"xxxx") && message.ends_with("a row within 64 MiB"),
            "{message}"
        );
    }

    #[test]
    fn columns_decide_the_format() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), ROW).unwrap();
        let options = Options { columns: Some("start=1,label=6".to_owned()), ..Options::default() };
        let (records, finished) = read(file.path(), &options, false).unwrap();
        assert_eq!((records.len(), finished.format, finished.facts.stamps), (1, "columns", Stamps::Start));
        assert_eq!(finished.stamps_how, StampsHow::Format);
    }
}
