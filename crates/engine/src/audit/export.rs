//! Rows as CSV, one a line, in the order of their starts: those that are judged (`--rows`), the failed ones (`--failures`),
//! and those that could not be read (`--unreadable`).

use super::files::instant_in;
use super::first_pass::Read;
use anyhow::{Context as _, Result, anyhow};
use headway_base::{Nanos, Outcome, Record};
use headway_import::BadRow;
use headway_report::csv::quoted;
use headway_workload::redact::Cleared;
use jiff::tz::TimeZone;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

/// Unreadable rows that may wait to be written.
const QUEUE: usize = 1_024;

/// A file of rows, being written.
pub(super) struct Export<'a> {
    out: BufWriter<File>,
    flag: &'static str,
    path: &'a Path,
    read: &'a Read,
    zone: &'a TimeZone,
    zero: Nanos,
    users: Vec<String>,
}

const COLUMNS: &str = "time,start_s,elapsed_s,label,status,outcome,thread,generator,message,first_byte_s,bytes_received,\
                       bytes_sent\n";

impl<'a> Export<'a> {
    /// A new file for the flag of that name. `zero` is the instant from which rows count their starts.
    pub(super) fn create(
        (flag, path): (&'static str, &'a Path),
        read: &'a Read,
        zone: &'a TimeZone,
        zero: Nanos,
        users: Vec<String>,
    ) -> Result<Export<'a>> {
        let file = File::create_new(path).with_context(|| format!("{flag} {}", path.display()))?;
        let mut export = Export { out: BufWriter::new(file), flag, path, read, zone, zero, users };
        export.write(COLUMNS)?;
        Ok(export)
    }

    /// A request. `start_s` counts from the first start of the audit; `time` is empty without a time of day.
    pub(super) fn row(&mut self, record: &Record) -> Result<()> {
        let at = record.started.get().unwrap_or(record.intended);
        let name = |names: &'a [String], number: usize| quoted(names.get(number).map_or("", String::as_str));
        let time = instant_in(self.read.clock, at + self.zero, self.zone).unwrap_or_default();
        let status = if record.status == 0 { String::new() } else { record.status.to_string() };
        let label = name(self.read.labels.as_slice(), usize::from(record.step));
        let generator = self.read.generators.get(usize::from(record.shard)).map_or("", Cleared::as_str);
        let generator = quoted(generator);
        let message = self.read.message(record).unwrap_or_default();
        let first_byte = record.first_byte.get().map(|first| seconds(first - at)).unwrap_or_default();
        let line = format!(
            "{time},{},{},{label},{status},{},{},{generator},{},{first_byte},{},{}\n",
            seconds(at),
            seconds(record.done - at),
            record.outcome.name(),
            quoted(self.users.get(record.user as usize).map_or("", String::as_str)),
            quoted(message),
            record.bytes_received,
            record.bytes_sent
        );
        self.write(&line)
    }

    /// Ends the file.
    pub(super) fn finish(mut self) -> Result<()> {
        let flushed = self.out.flush();
        flushed.with_context(|| format!("{} {}", self.flag, self.path.display()))
    }

    fn write(&mut self, line: &str) -> Result<()> {
        let written = self.out.write_all(line.as_bytes());
        written.with_context(|| format!("{} {}", self.flag, self.path.display()))
    }
}

impl Read {
    /// What the tool says of a failed request; none where it says nothing.
    fn message(&self, record: &Record) -> Option<&str> {
        if record.outcome == Outcome::Ok { None } else { self.message_of(record.repeat) }
    }

    /// The message of that number, from 1; 0 is none.
    pub(super) fn message_of(&self, number: u32) -> Option<&str> {
        self.messages.as_slice().get(number.checked_sub(1)? as usize).map(String::as_str)
    }
}

/// A file of the rows that could not be read, written on a thread of its own while the files are read.
pub(super) struct Unreadable {
    writing: Option<Writing>,
}

/// Where rows go, and the thread that writes them.
type Writing = (SyncSender<(PathBuf, BadRow)>, JoinHandle<Result<()>>);

impl Unreadable {
    /// A new file, if one is named.
    pub(super) fn create(path: Option<&Path>) -> Result<Unreadable> {
        let Some(path) = path.map(Path::to_path_buf) else { return Ok(Unreadable { writing: None }) };
        let option = format!("--unreadable {}", path.display());
        let mut out = BufWriter::new(File::create_new(&path).with_context(|| option.clone())?);
        out.write_all(b"file,line,found,expected\n").with_context(|| option.clone())?;
        let (send, rows) = sync_channel::<(PathBuf, BadRow)>(QUEUE);
        let writing = thread::spawn(move || {
            while let Ok((file, row)) = rows.recv() {
                let (file, found) = (file.display().to_string(), String::from_utf8_lossy(&row.found));
                let line =
                    format!("{},{},{},{}\n", quoted(&file), row.line, quoted(&found), quoted(&row.expected));
                out.write_all(line.as_bytes()).with_context(|| option.clone())?;
            }
            out.flush().context(option)
        });
        Ok(Unreadable { writing: Some((send, writing)) })
    }

    /// Where the unreadable rows of that file go.
    pub(super) fn of(&self, file: &Path) -> Option<headway_import::rows::BadRows> {
        let (send, _) = self.writing.as_ref()?;
        let (send, file) = (send.clone(), file.to_path_buf());
        // Where the writer has gone it has an error of its own to tell.
        Some(headway_import::rows::BadRows::new(move |row| drop(send.send((file.clone(), row)))))
    }

    /// Ends the file.
    pub(super) fn finish(self) -> Result<()> {
        let Some((send, writing)) = self.writing else { return Ok(()) };
        drop(send);
        writing.join().map_err(|_| anyhow!("the thread that writes unreadable rows panicked"))?
    }
}

/// Seconds with nine decimals.
pub(super) fn seconds(at: Nanos) -> String {
    let sign = if at.0 < 0 { "-" } else { "" };
    let ns = at.0.unsigned_abs();
    format!("{sign}{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
}

/// Writes a new file; one that exists stays as it is.
///
/// # Errors
/// It exists, or cannot be written.
pub fn write_new(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = File::create_new(path).with_context(|| format!("{} cannot be made", path.display()))?;
    file.write_all(bytes).with_context(|| format!("{} cannot be written", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_have_nine_decimals() {
        assert_eq!(seconds(Nanos(1_500_000_001)), "1.500000001");
        assert_eq!(seconds(Nanos(-5)), "-0.000000005");
    }
}
