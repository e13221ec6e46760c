//! The progress of an audit, for its observer.

use super::first_pass::size;
use headway_base::{Nanos, Record};
use headway_import::source::Progress;
use headway_report::Origin;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// What watches an audit. Called on the thread that audits, once a batch.
pub trait Watch {
    /// The one that hears of the progress, and of notes, in place of this one.
    fn beneath(&mut self) -> Option<&mut dyn Watch> {
        None
    }
    /// Files of that many bytes are read from now on; none if the size is unknown.
    fn reading(&mut self, bytes: Option<u64>) {
        if let Some(watch) = self.beneath() {
            watch.reading(bytes);
        }
    }
    /// That many rows are judged from now on.
    fn judging(&mut self, rows: u64) {
        if let Some(watch) = self.beneath() {
            watch.judging(rows);
        }
    }
    /// So many bytes are read, or rows judged.
    fn reached(&mut self, position: u64) {
        if let Some(watch) = self.beneath() {
            watch.reached(position);
        }
    }
    /// All are.
    fn done(&mut self) {
        if let Some(watch) = self.beneath() {
            watch.done();
        }
    }
    /// What is judged lies in that stretch, from the first start on.
    fn measured(&mut self, _stretch: &Range<Nanos>) {}
    /// The judged requests follow, of this origin; only where [`Exports::requests`](super::Exports) asks for them.
    fn requests(&mut self, _origin: Origin) {}
    /// A judged request, in the order of starts.
    fn request(&mut self, _record: &Record) {}
    /// Something was asked for that changes nothing.
    fn note(&mut self, text: &str) {
        if let Some(watch) = self.beneath() {
            watch.note(text);
        }
    }
}

/// No observer.
impl Watch for () {}

/// How many bytes of the files are read.
pub(super) struct Reading<'a> {
    watch: &'a mut dyn Watch,
    read: Progress,
    /// Bytes of files that are read past `read`: logs of runs.
    beside: u64,
    before_file: u64,
}

impl<'a> Reading<'a> {
    /// Of these files.
    pub(super) fn new(watch: &'a mut dyn Watch, files: &[PathBuf], read: Progress) -> Reading<'a> {
        watch.reading(files.iter().map(|path| size(path)).sum());
        Reading { watch, read, beside: 0, before_file: 0 }
    }

    /// Looks at how far reading has come.
    pub(super) fn tick(&mut self) {
        self.watch.reached(self.read.bytes() + self.beside);
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

    /// All files have been read.
    pub(super) fn finish(self) {
        self.watch.done();
    }
}
