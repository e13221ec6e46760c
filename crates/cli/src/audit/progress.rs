//! How far an audit has come: a line on standard error, where a person sees it and it takes more than two seconds.

use super::read::size;
use headway_import::source::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt::Write;
use std::io::{IsTerminal, stderr};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Nobody wants to see the bar of what is over at once.
const PATIENCE: Duration = Duration::from_secs(2);
/// How often the line may change.
const EVERY: Duration = Duration::from_millis(100);

const READING: &str = "reading  {bar:20} {percent:>3} %  {binary_bytes_per_sec}  {eta} left";
const READING_UNKNOWN: &str = "reading  {spinner} {binary_bytes}  {binary_bytes_per_sec}";
const JUDGING: &str = "judging  {bar:20} {percent:>3} %  {rows_per_sec} rows/s  {eta} left";

/// The line.
pub(super) struct Bar {
    bar: ProgressBar,
    shows: bool,
    began: Instant,
    last: Instant,
    read: Progress,
    /// Bytes of files that are read past `read`: logs of runs.
    beside: u64,
    before_file: u64,
}

impl Bar {
    /// Of reading these files.
    pub(super) fn new(quiet: bool, files: &[PathBuf], read: Progress) -> Bar {
        let total: Option<u64> = files.iter().map(|path| size(path)).sum();
        let template = if total.is_some() { READING } else { READING_UNKNOWN };
        Bar::with(quiet, total, template, read)
    }

    /// Of judging so many rows.
    pub(super) fn of_rows(quiet: bool, rows: u64) -> Bar {
        Bar::with(quiet, Some(rows), JUDGING, Progress::default())
    }

    fn with(quiet: bool, total: Option<u64>, template: &str, read: Progress) -> Bar {
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template(template) {
            let rate = |state: &ProgressState, out: &mut dyn Write| {
                // Where the line cannot be written there is nobody to tell.
                let _ = write!(out, "{:.0}", state.per_sec());
            };
            bar.set_style(style.with_key("rows_per_sec", rate));
        }
        let now = Instant::now();
        let shows = !quiet && stderr().is_terminal();
        Bar { bar, shows, began: now, last: now, read, beside: 0, before_file: 0 }
    }

    /// Looks at how far reading has come.
    pub(super) fn tick(&mut self) {
        self.set(self.read.bytes() + self.beside);
    }

    /// This far.
    pub(super) fn set(&mut self, position: u64) {
        let now = Instant::now();
        if !self.shows || now - self.last < EVERY {
            return;
        }
        self.last = now;
        if now - self.began >= PATIENCE && self.bar.is_hidden() {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.set_position(position);
    }

    /// The file has been read to its end.
    pub(super) fn file_done(&mut self, path: &Path) {
        let read = self.read.bytes();
        if read == self.before_file {
            self.beside += size(path).unwrap_or(0);
        }
        self.before_file = read;
        self.tick();
    }

    /// Clears the line.
    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
