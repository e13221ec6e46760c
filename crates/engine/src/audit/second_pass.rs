//! The second pass: the rows of all files by time, those selected, to the auditor.

use super::AuditSpec;
use super::export::Export;
use super::failed::Failed;
use super::first_pass::{Read, Starts};
use super::histograms::Histograms;
use super::input::{is_session, later};
use super::setup::Stretch;
use super::watch::Watch;
use crate::Error;
use anyhow::anyhow;
use headway_base::{Kind, Nanos, Outcome, Record};
use headway_records::spool::InOrder;
use headway_report::Origin;
use headway_stats::audit::{AuditSetup, Auditor};
use headway_stats::summary::Stream;
use headway_stats::{Facts, Summary};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::PathBuf;
use std::sync::mpsc::sync_channel;
use std::thread;

/// Rows that are handed over at a time.
const ROWS: usize = 4_096;
/// Batches that may wait between the two threads.
const QUEUE: usize = 8;

/// What a selection leaves.
#[derive(Debug, Default)]
pub(super) struct Chosen {
    /// Starts of the judged stream, from the first of all rows on.
    pub starts: Starts,
    /// Requests by label.
    pub by_label: Vec<u64>,
    /// Rows that are left out.
    pub outside: u64,
}

/// Counts what is selected. Without a selection the surveys know.
pub(super) fn count(
    settings: &AuditSpec,
    read: &Read,
    stretch: &Stretch,
    stream: Stream,
) -> Result<Chosen, Error> {
    let mut chosen = Chosen { by_label: vec![0; read.labels.len()], ..Chosen::default() };
    if !settings.selects() {
        for file in read.load() {
            chosen.starts = chosen.starts.and(file.of(stream).starts);
            for (sum, n) in chosen.by_label.iter_mut().zip(&file.requests.survey.by_label) {
                *sum += n;
            }
        }
        let from_zero = |(first, last)| (first - stretch.zero, last - stretch.zero);
        chosen.starts.span = chosen.starts.span.map(from_zero);
        return Ok(chosen);
    }
    let mut rows = Merged::new(read, stretch.zero)?;
    while let Some(record) = rows.next()? {
        if !stretch.measured.contains(&record.intended) || (settings.success_only && is_failed(&record)) {
            chosen.outside += 1;
            continue;
        }
        let session = is_session(&record) == Some(true);
        if let Some(at) = record.started.get().filter(|_| session == (stream == Stream::Sessions)) {
            chosen.starts.push(at);
        }
        if let Some(n) = chosen.by_label.get_mut(usize::from(record.step)).filter(|_| !session) {
            *n += 1;
        }
    }
    Ok(chosen)
}

/// Judges what is selected.
pub(super) fn judge<'a>(
    settings: &'a AuditSpec,
    read: &'a Read,
    stretch: &Stretch,
    chosen: &Chosen,
    setup: AuditSetup,
    facts: Facts,
    watch: &mut dyn Watch,
) -> Result<Summary, Error> {
    let export = |flag, path: &'a Option<PathBuf>| {
        path.as_deref()
            .map(|path| {
                let zone = &settings.options.zone;
                Export::create((flag, path), read, zone, stretch.zero, setup.users.clone())
            })
            .transpose()
    };
    let mut failures = export("--failures", &settings.exports.failures)?;
    let mut exported = export("--rows", &settings.exports.rows)?;
    let mut failed = Failed::default();
    let folder = settings.exports.histograms.as_deref();
    let mut histograms = folder.map(|_| Histograms::new(&settings.cells, settings.most_cells, read, chosen));
    if settings.exports.requests {
        let unix = facts.started_at.is_some().then(|| i128::from(stretch.zero.0));
        watch.measured(&stretch.measured);
        let labels = read.shown_labels();
        watch.requests(Origin { name: facts.name.clone(), labels, zero_unix_ns: unix });
    }
    watch.judging(read.load().map(|f| f.spooled.len()).sum());
    let mut auditor = Auditor::new(setup);
    thread::scope(|scope| {
        let (full, batches) = sync_channel::<Vec<Record>>(QUEUE);
        let (empty, spare) = sync_channel::<Vec<Record>>(QUEUE + 2);
        let merging = scope.spawn(move || -> Result<(), headway_records::Error> {
            let mut rows = Merged::new(read, stretch.zero)?;
            loop {
                let mut batch = spare.try_recv().unwrap_or_default();
                batch.clear();
                while batch.len() < ROWS
                    && let Some(record) = rows.next()?
                {
                    batch.push(record);
                }
                if batch.is_empty() || full.send(batch).is_err() {
                    return Ok(());
                }
            }
        });
        let mut seen = 0;
        while let Ok(batch) = batches.recv() {
            for record in batch.iter().filter(|r| stretch.measured.contains(&r.intended)) {
                if is_failed(record) {
                    failed.push(record);
                    if let Some(failures) = &mut failures {
                        failures.row(record)?;
                    }
                    if settings.success_only {
                        continue;
                    }
                }
                auditor.row(record);
                if let Some(exported) = exported.as_mut().filter(|_| record.kind == Kind::Request) {
                    exported.row(record)?;
                }
                if settings.exports.requests {
                    watch.request(record);
                }
                if let Some(histograms) = &mut histograms {
                    histograms.row(record);
                }
            }
            seen += batch.len() as u64;
            watch.reached(seen);
            // Where the other thread is done there is nothing to be filled again.
            let _ = empty.try_send(batch);
        }
        merging.join().map_err(|_| anyhow!("the thread that merges the rows panicked"))??;
        Ok::<(), Error>(())
    })?;
    watch.done();
    failures.into_iter().chain(exported).try_for_each(Export::finish)?;
    if let (Some(histograms), Some(folder)) = (histograms, folder) {
        histograms.write(folder)?;
    }
    let mut summary = auditor.finish(facts);
    if let Some(audit) = &mut summary.audit {
        failed.into_audit(audit, read);
    }
    Ok(summary)
}

fn at(record: &Record) -> Nanos {
    record.started.get().unwrap_or(record.intended)
}

fn is_failed(record: &Record) -> bool {
    is_session(record) == Some(false) && record.outcome != Outcome::Ok
}

/// The rows of all files in the order of their starts, those of one instant in the order of the files. Instants count
/// from the first start, users and generators over all files that are judged.
struct Merged<'a> {
    read: &'a Read,
    files: Vec<Source<'a>>,
    heads: BinaryHeap<Reverse<(Nanos, usize)>>,
    zero: Nanos,
}

struct Source<'a> {
    rows: InOrder<'a>,
    head: Option<Record>,
    first_user: u32,
    hosts: &'a [Option<u16>],
}

impl<'a> Merged<'a> {
    fn new(read: &'a Read, zero: Nanos) -> Result<Merged<'a>, headway_records::Error> {
        let mut merged = Merged { read, files: Vec::new(), heads: BinaryHeap::new(), zero };
        let mut first_user = 0;
        for (i, file) in read.load().enumerate() {
            let mut rows = file.spooled.in_order()?;
            let head = rows.next()?;
            merged.heads.extend(head.as_ref().map(|head| Reverse((at(head), i))));
            merged.files.push(Source { rows, head, first_user, hosts: &file.hosts });
            first_user += file.users.len() as u32;
        }
        Ok(merged)
    }

    #[inline]
    fn next(&mut self) -> Result<Option<Record>, headway_records::Error> {
        let Some(mut top) = self.heads.peek_mut() else { return Ok(None) };
        let Reverse((_, i)) = *top;
        let source = &mut self.files[i];
        let Some(mut record) = source.head.take() else { return Ok(None) };
        source.head = source.rows.next()?;
        match &source.head {
            Some(head) => *top = Reverse((at(head), i)),
            None => {
                std::collections::binary_heap::PeekMut::pop(top);
            }
        }
        if let Some(&Some(host)) = source.hosts.get(record.user as usize) {
            record.shard = host;
        }
        later(&mut record, Nanos(-self.zero.0));
        record.user = record.user.saturating_add(source.first_user);
        record.shard = self.read.renumbered.get(usize::from(record.shard)).copied().unwrap_or(record.shard);
        Ok(Some(record))
    }
}
