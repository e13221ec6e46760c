//! How far an audit has come: a line on standard error, where a person sees it and it takes more than two seconds.

use crate::said::{self, say};
use headway_engine::audit::Watch;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt::Write;
use std::time::{Duration, Instant};

/// Nobody wants to see the bar of what is over at once.
const PATIENCE: Duration = Duration::from_secs(2);
/// How often the line may change.
const EVERY: Duration = Duration::from_millis(100);

const READING: &str = "reading  {bar:20} {percent:>3} %  {binary_bytes_per_sec}  {eta} left";
const READING_UNKNOWN: &str = "reading  {spinner} {binary_bytes}  {binary_bytes_per_sec}";
const JUDGING: &str = "judging  {bar:20} {percent:>3} %  {rows_per_sec} rows/s  {eta} left";

/// The line.
pub struct Bar {
    bar: ProgressBar,
    quiet: bool,
    shows: bool,
    began: Instant,
    last: Instant,
}

impl Bar {
    /// Of an audit that is about to begin.
    pub fn new(quiet: bool) -> Bar {
        Bar::with(quiet, None, READING_UNKNOWN)
    }

    fn with(quiet: bool, total: Option<u64>, template: &str) -> Bar {
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template(template) {
            let rate = |state: &ProgressState, out: &mut dyn Write| {
                // Where the line cannot be written there is nobody to tell.
                let _ = write!(out, "{:.0}", state.per_sec());
            };
            bar.set_style(style.with_key("rows_per_sec", rate));
        }
        let now = Instant::now();
        Bar { bar, quiet, shows: !quiet && said::is_seen(), began: now, last: now }
    }
}

impl Watch for Bar {
    fn reading(&mut self, bytes: Option<u64>) {
        *self = Bar::with(self.quiet, bytes, if bytes.is_some() { READING } else { READING_UNKNOWN });
    }

    fn judging(&mut self, rows: u64) {
        *self = Bar::with(self.quiet, Some(rows), JUDGING);
    }

    fn reached(&mut self, position: u64) {
        let now = Instant::now();
        if !self.shows || now - self.last < EVERY {
            return;
        }
        self.last = now;
        if now - self.began >= PATIENCE && self.bar.is_hidden() {
            self.bar.set_draw_target(said::drawn());
        }
        self.bar.set_position(position);
    }

    fn done(&mut self) {
        self.bar.finish_and_clear();
    }

    fn note(&mut self, text: &str) {
        if !self.quiet {
            say!("{text}");
        }
    }
}
