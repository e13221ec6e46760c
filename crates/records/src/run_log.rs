//! What a run writes while it lasts: its records, and beside them the events of responses, from the first one on.
//!
//! A run without events has no file for them, and costs nothing for them.

use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};

use headway_base::{Nanos, Record, ResponseEvent};

use crate::error::Error;
use crate::folder::{RunFolder, events_beside};
use crate::metadata::Metadata;
use crate::writer::{BATCH_ROWS, EventWriter, LogWriter};

/// The tables of a run, being written.
#[derive(Debug)]
pub struct RunLog {
    records: LogWriter,
    /// None before the first event.
    events: Option<EventWriter>,
    events_at: PathBuf,
    /// What the table of events says about itself: as the log.
    metadata: Metadata,
    /// Events for which no file could be made.
    events_lost: u64,
}

impl RunLog {
    /// Creates the log of the run in `folder`, with that metadata.
    ///
    /// # Errors
    /// As [`LogWriter::create`].
    pub fn create(folder: &RunFolder, metadata: &Metadata) -> Result<RunLog, Error> {
        RunLog::at(&folder.records(), metadata)
    }

    /// The same with the records in that file.
    ///
    /// # Errors
    /// As [`LogWriter::create`].
    pub fn at(records: &Path, metadata: &Metadata) -> Result<RunLog, Error> {
        Ok(RunLog {
            records: LogWriter::create(records, metadata)?,
            events: None,
            events_at: events_beside(records),
            metadata: metadata.clone(),
            events_lost: 0,
        })
    }

    /// Appends what came together. Events are written before records, so that a request whose record can be read has its events.
    ///
    /// # Errors
    /// [`Error::Write`], as [`Writer::append`](crate::writer::Writer::append); what makes a first file impossible. All rows were taken nevertheless.
    pub fn append(&mut self, records: &[Record], events: &[ResponseEvent]) -> Result<(), Error> {
        let mut first = if events.is_empty() { Ok(()) } else { self.append_events(events) };
        if let Some(table) = &mut self.events
            && self.records.rows_pending() + records.len() >= BATCH_ROWS
        {
            first = first.and(table.flush());
        }
        first.and(self.records.append(records))
    }

    #[cold]
    fn append_events(&mut self, events: &[ResponseEvent]) -> Result<(), Error> {
        let table = match &mut self.events {
            Some(table) => table,
            None => match EventWriter::create(&self.events_at, &self.metadata) {
                Ok(table) => self.events.insert(table),
                Err(error) => {
                    self.events_lost += events.len() as u64;
                    return Err(error);
                }
            },
        };
        table.append(events)
    }

    /// Hands everything appended so far to the system.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn flush(&mut self) -> Result<(), Error> {
        let events = self.events.as_mut().map_or(Ok(()), EventWriter::flush);
        events.and(self.records.flush())
    }

    /// Notes that the run was stopped then, from the plan's zero: the end marks will say so.
    pub fn stopped(&mut self, at: Nanos) {
        self.records.stopped(at);
        self.events.iter_mut().for_each(|events| events.stopped(at));
    }

    /// Ends both tables, and waits until the device has them.
    ///
    /// # Errors
    /// As [`Writer::finish`](crate::writer::Writer::finish).
    pub fn finish(&mut self) -> Result<(), Error> {
        let events = self.events.as_mut().map_or(Ok(()), EventWriter::finish);
        let records = self.records.finish();
        records.and(events)
    }

    /// The open file of the records: see [`Writer::file`](crate::writer::Writer::file).
    pub fn file(&self) -> Option<BorrowedFd<'_>> {
        self.records.file()
    }

    /// Records handed to the system so far.
    pub fn rows_written(&self) -> u64 {
        self.records.rows_written()
    }

    /// Rows of either table that could not be written.
    pub fn rows_lost(&self) -> u64 {
        let events = self.events.as_ref().map_or(0, EventWriter::rows_lost);
        self.records.rows_lost() + events + self.events_lost
    }
}
