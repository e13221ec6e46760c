//! The failed requests as CSV, one a line, by time.

use super::files::instant;
use super::read::Read;
use anyhow::{Context as _, Result};
use base::{Nanos, Record};
use import::Clock;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// The file, being written.
pub(super) struct Failures<'a> {
    out: BufWriter<File>,
    path: &'a Path,
    read: &'a Read,
    zero: Nanos,
    users: Vec<String>,
}

impl<'a> Failures<'a> {
    /// A new file.
    pub(super) fn create(
        path: &'a Path,
        read: &'a Read,
        zero: Nanos,
        users: Vec<String>,
    ) -> Result<Failures<'a>> {
        let file = File::create_new(path).with_context(|| format!("--failures {}", path.display()))?;
        let mut failures = Failures { out: BufWriter::new(file), path, read, zero, users };
        failures.line(&[
            "time",
            "start_s",
            "elapsed_s",
            "label",
            "status",
            "outcome",
            "thread",
            "generator",
        ])?;
        Ok(failures)
    }

    /// A failed request. `start_s` counts from the first start of the audit; `time` is empty without a time of day.
    pub(super) fn row(&mut self, record: &Record) -> Result<()> {
        let at = record.started.get().unwrap_or(record.intended);
        let name = |names: &[String], number: usize| names.get(number).cloned().unwrap_or_default();
        let time = match self.read.clock {
            Clock::Unix => instant(Clock::Unix, at + self.zero).unwrap_or_default(),
            Clock::Relative => String::new(),
        };
        let status = if record.status == 0 { String::new() } else { record.status.to_string() };
        let label = name(self.read.labels.as_slice(), usize::from(record.step));
        let thread = name(&self.users, record.user as usize);
        let generator = name(&self.read.generators, usize::from(record.shard));
        let (start, elapsed) = (seconds(at), seconds(record.done - at));
        self.line(&[&time, &start, &elapsed, &label, &status, record.outcome.name(), &thread, &generator])
    }

    /// Ends the file.
    pub(super) fn finish(mut self) -> Result<()> {
        let flushed = self.out.flush();
        flushed.with_context(|| format!("--failures {}", self.path.display()))
    }

    fn line(&mut self, cells: &[&str]) -> Result<()> {
        let mut line = cells.iter().map(|cell| quoted(cell)).collect::<Vec<_>>().join(",");
        line.push('\n');
        let written = self.out.write_all(line.as_bytes());
        written.with_context(|| format!("--failures {}", self.path.display()))
    }
}

/// Seconds with nine decimals.
pub(super) fn seconds(at: Nanos) -> String {
    let sign = if at.0 < 0 { "-" } else { "" };
    let ns = at.0.unsigned_abs();
    format!("{sign}{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
}

/// A cell as RFC 4180 wants it.
pub(super) fn quoted(cell: &str) -> String {
    match cell.contains(['"', ',', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells() {
        assert_eq!(quoted("a b"), "a b");
        assert_eq!(quoted("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(seconds(Nanos(1_500_000_001)), "1.500000001");
        assert_eq!(seconds(Nanos(-5)), "-0.000000005");
    }
}
