//! The first pass: every file read once, its rows kept in the order of time and surveyed on the way.

use super::AuditSpec;
use super::Shift;
use super::export::Unreadable;
use super::input::{Input, by_response, is_session, one_clock};
use super::outliers::Hours;
use super::watch::{Reading, Watch};
use crate::Error;
use anyhow::anyhow;
use headway_base::{Nanos, Record};
use headway_import::{Clock, Facts, Names, Rows, Stamps, Tables};
use headway_records::spool::MEMORY;
use headway_records::{Spool, Spooled};
use headway_report::words::why::stamps_how;
use headway_stats::audit::Survey;
use headway_stats::summary::{AuditFile, StampsHow, Stream};
use headway_workload::redact::{Cleared, Redactor, clear};
use std::borrow::Cow;
use std::cell::Cell;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// Batches that may wait between the two threads.
const QUEUE: usize = 4;

/// All files, read.
pub(super) struct Read {
    pub files: Vec<FileRead>,
    pub labels: Names,
    /// What the tools say of failures.
    pub messages: Names,
    pub clock: Clock,
    /// Names of the generators whose load is judged.
    pub generators: Vec<Cleared>,
    /// Their numbers, by the numbers that the rows hold.
    pub renumbered: Vec<u16>,
}

/// One file, read.
pub(super) struct FileRead {
    pub file: AuditFile,
    pub facts: Facts,
    pub spooled: Spooled,
    pub requests: Seen,
    pub sessions: Seen,
    /// Names of its users by number; empty where it names none.
    pub users: Vec<String>,
    /// Generator of each user by its number, where their names begin with hosts.
    pub hosts: Vec<Option<u16>>,
    /// Rows by the number of their generator; of one found in the names of users, its users.
    pub by_generator: Vec<u64>,
    /// Whether the rows do not show what its stamps are.
    pub guessed: bool,
    /// Rows left out because their stamps are far from all others, and the first of those stamps.
    pub far: Option<(u64, Nanos)>,
    /// Whether it is the log of the target that the other files' requests went to: it relates their clocks, and judging
    /// its rows would count every request twice.
    pub witness: bool,
}

/// Formats that servers write.
const OF_SERVERS: [&str; 2] = ["access-log", "headway-arrivals"];

/// What was seen of one stream of one file.
#[derive(Default)]
pub(super) struct Seen {
    pub rows: u64,
    pub survey: Survey,
    /// Those that started.
    pub starts: Starts,
    /// First and last instant at which one was due: when it started, where the file knows no other.
    pub due: Option<(Nanos, Nanos)>,
}

/// How many started, and when.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Starts {
    pub n: u64,
    /// The first and the last.
    pub span: Option<(Nanos, Nanos)>,
}

impl Starts {
    #[inline]
    pub(super) fn push(&mut self, at: Nanos) {
        self.n += 1;
        self.span = Some(self.span.map_or((at, at), |(first, last)| (first.min(at), last.max(at))));
    }

    /// These and others.
    pub(super) fn and(self, other: Starts) -> Starts {
        let spans = [self.span, other.span].into_iter().flatten();
        let span = spans.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        Starts { n: self.n + other.n, span }
    }
}

impl Seen {
    fn push(&mut self, record: &Record) {
        self.rows += 1;
        self.survey.push(record);
        if let Some(at) = record.started.get() {
            self.starts.push(at);
        }
        let at = record.intended;
        self.due = Some(self.due.map_or((at, at), |(first, last)| (first.min(at), last.max(at))));
    }
}

impl FileRead {
    pub(super) fn of(&self, stream: Stream) -> &Seen {
        match stream {
            Stream::Requests => &self.requests,
            Stream::Sessions => &self.sessions,
        }
    }
}

impl Read {
    /// The files whose rows are judged.
    pub(super) fn load(&self) -> impl Iterator<Item = &FileRead> {
        self.files.iter().filter(|f| !f.witness)
    }

    /// When the first and the last of all rows were due.
    /// Labels as reports show them, by number.
    pub(super) fn shown_labels(&self) -> Vec<Cleared> {
        self.labels.as_slice().iter().map(|label| clear(label)).collect()
    }

    pub(super) fn span(&self) -> Option<(Nanos, Nanos)> {
        let due = || self.load().flat_map(|f| [f.requests.due, f.sessions.due]).flatten();
        Some((due().map(|d| d.0).min()?, due().map(|d| d.1).max()?))
    }
}

/// Where rows are read to: labels and messages come from files of anybody's, and are shown without secrets.
pub(super) fn rows() -> Rows {
    let tables = Tables {
        labels: Names::shown_by(|label| changed(label, Redactor::default().hide(label))),
        messages: Names::shown_by(|message| changed(message, Redactor::default().hide_foreign(message))),
        ..Tables::default()
    };
    Rows { tables, ..Rows::default() }
}

fn changed(text: &str, hidden: Cow<'_, str>) -> Option<String> {
    (hidden != text).then(|| hidden.into_owned())
}

/// Reads all files.
pub(super) fn read_all(settings: &AuditSpec, watch: &mut dyn Watch) -> Result<Read, Error> {
    let progress = headway_import::source::Progress::default();
    let mut reading = Reading::new(watch, &settings.files, progress.clone());
    let mut rows = rows();
    let mut files: Vec<FileRead> = Vec::new();
    let unreadable = Unreadable::create(settings.exports.unreadable.as_deref())?;
    let read = read_files(settings, &mut rows, &mut files, &mut reading, &progress, &unreadable);
    rows.all_bad = None;
    // The rows that cannot be read are of use above all where they are why nothing is audited.
    read.and(unreadable.finish().map_err(Error::from))?;
    reading.finish();
    let by_user = |f: &FileRead| {
        f.file.stamps_how.as_ref().is_some_and(|how| matches!(how.why, StampsHow::User { .. }))
    };
    if settings.stamps.is_some() && !files.iter().any(by_user) {
        return Err(Error::usage(anyhow!(
            "--stamps: the formats of these files leave no choice ({}: {})",
            files[0].file.format,
            files[0].file.stamps_how.as_ref().map(stamps_how).unwrap_or_default()
        )));
    }
    let of_server = |f: &FileRead| OF_SERVERS.contains(&f.file.format.as_str());
    if !files.iter().all(of_server) {
        for file in files.iter_mut().filter(|f| of_server(f)) {
            file.witness = true;
            file.file.missing.push(
                "Taken for the log of the target that the other files' requests went to: it relates the clocks, and its \
                 rows are not judged.".into(),
            );
        }
    }
    let load = || files.iter().filter(|f| !f.witness);
    let clocks: Vec<_> = load().map(|f| (f.file.path.to_string(), f.facts.clock)).collect();
    let clock = one_clock(&clocks)?;
    if clock == Clock::Relative && clocks.len() > 1 {
        for file in files.iter_mut().filter(|f| !f.witness) {
            file.file.missing.push(
                "Its time counts from the tool's own beginning: the files are laid over each other as if they had begun \
                 together.".into(),
            );
        }
    }
    let judged: Vec<&FileRead> = files.iter().filter(|f| !f.witness).collect();
    let (generators, renumbered) = with_rows(rows.tables.generators.as_slice(), &judged);
    Ok(Read {
        files,
        labels: rows.tables.labels,
        messages: rows.tables.messages,
        clock,
        generators,
        renumbered,
    })
}

/// Reads one file after the other.
fn read_files(
    settings: &AuditSpec,
    rows: &mut Rows,
    files: &mut Vec<FileRead>,
    reading: &mut Reading<'_>,
    progress: &headway_import::source::Progress,
    unreadable: &Unreadable,
) -> Result<(), Error> {
    for path in &settings.files {
        rows.all_bad = unreadable.of(path);
        let mut input = Input::open(path, &settings.options, progress.clone())?;
        let name = path.as_os_str().as_encoded_bytes();
        rows.generator = rows.tables.generators.index(name).min(u32::from(u16::MAX)) as u16;
        let used: usize = files.iter().map(|f| f.spooled.in_memory()).sum();
        let keeper = Keeper::new(MEMORY.saturating_sub(used), settings.shift);
        let kept = read_one(&mut input, rows, keeper, reading)?;
        let mut ended = input.finish(rows, settings.lenient)?;
        let kept = restamped(settings, kept, &mut ended)?;
        let (mut kept, far) = kept.without_far()?;
        ended.file.path = clear(&path.display().to_string());
        ended.file.rows = kept.requests.rows;
        ended.file.sessions = kept.sessions.rows;
        let users = std::mem::take(&mut rows.tables.users);
        let users = if ended.facts.users { users.as_slice().to_vec() } else { Vec::new() };
        let hosts = hosts(&users, &ended.file.format, &mut kept, rows);
        files.push(FileRead {
            users,
            hosts,
            guessed: ended.guessed && settings.stamps.is_none() && settings.shift.is_none(),
            far,
            file: ended.file,
            facts: ended.facts,
            spooled: kept.spool.finish()?,
            requests: kept.requests,
            sessions: kept.sessions,
            by_generator: kept.by_generator,
            witness: false,
        });
        reading.file_done(path);
    }
    Ok(())
}

/// The generators of users whose names begin with hosts, by the users' numbers; empty unless JMeter named them so, and no
/// row names its host elsewhere.
fn hosts(users: &[String], format: &str, kept: &mut Keeper, rows: &mut Rows) -> Vec<Option<u16>> {
    let own = usize::from(rows.generator);
    let elsewhere = kept.by_generator.iter().enumerate().any(|(number, &n)| n > 0 && number != own);
    if elsewhere || !format.starts_with("jmeter") {
        return Vec::new();
    }
    let Some(found) = headway_import::hosts::of_threads(users) else { return Vec::new() };
    let numbers: Vec<u16> = found.names.iter().map(|host| rows.shard(host.as_bytes())).collect();
    let of: Vec<_> = found.of.iter().map(|host| host.map(|host| numbers[usize::from(host)])).collect();
    kept.by_generator.clear();
    for number in of.iter().map(|host| usize::from(host.unwrap_or(rows.generator))) {
        if number >= kept.by_generator.len() {
            kept.by_generator.resize(number + 1, 0);
        }
        kept.by_generator[number] += 1;
    }
    of
}

/// The generators that a row belongs to, and their numbers by the numbers that the rows hold. A file is the generator of
/// those of its rows that name none.
fn with_rows(names: &[String], files: &[&FileRead]) -> (Vec<Cleared>, Vec<u16>) {
    let (mut generators, mut renumbered) = (Vec::new(), Vec::new());
    for (number, name) in names.iter().enumerate() {
        renumbered.push(generators.len() as u16);
        if files.iter().any(|f| f.by_generator.get(number).is_some_and(|&n| n > 0)) {
            generators.push(clear(name));
        }
    }
    (generators, renumbered)
}

/// Parses on this thread and keeps on another.
fn read_one(
    input: &mut Input,
    rows: &mut Rows,
    keeper: Keeper,
    reading: &mut Reading<'_>,
) -> Result<Keeper, Error> {
    thread::scope(|scope| {
        let (full, batches) = sync_channel::<Vec<Record>>(QUEUE);
        let (empty, spare) = sync_channel(QUEUE + 2);
        let keeping = scope.spawn(move || keeper.keep(&batches, &empty));
        let read = loop {
            match input.next(rows) {
                Ok(true) => {}
                Ok(false) => break Ok(()),
                Err(failure) => break Err(failure),
            }
            let fresh = spare.try_recv().unwrap_or_default();
            if full.send(std::mem::replace(&mut rows.records, fresh)).is_err() {
                // The other thread has ended early: its error is the one to tell.
                break Ok(());
            }
            reading.tick();
        };
        drop(full);
        let kept = keeping.join().map_err(|_| anyhow!("the thread that keeps the rows panicked"))??;
        read.map(|()| kept)
    })
}

/// Takes the user's word for what ambiguous stamps are.
fn restamped(settings: &AuditSpec, kept: Keeper, ended: &mut super::input::Ended) -> Result<Keeper, Error> {
    let Some(wanted) = settings.stamps.filter(|_| ended.ambiguous) else { return Ok(kept) };
    let (word, way) = match wanted {
        Stamps::End => ("end", Shift::Subtract),
        _ => ("start", Shift::Add),
    };
    ended.file.stamps_how = ended.file.stamps_how.take().map(|because| {
        let (ends, otherwise_ends) = (wanted == Stamps::End, ended.file.stamps == "end");
        StampsHow::User { ends, otherwise_ends, because: Box::new(because) }.into()
    });
    if ended.facts.stamps == wanted {
        return Ok(kept);
    }
    ended.facts.stamps = wanted;
    ended.file.stamps = word.to_owned();
    Ok(Keeper::of(&kept.spool.finish()?, |record| by_response(record, way), |_| true)?)
}

impl Read {
    /// The same with the stamps that nothing shows to be starts read as ends; false where there are none.
    pub(super) fn read_as_ends(&mut self) -> Result<bool, Error> {
        let mut any = false;
        for file in self.files.iter_mut().filter(|f| f.guessed) {
            let kept = Keeper::of(&file.spooled, |record| by_response(record, Shift::Subtract), |_| true)?;
            file.spooled = kept.spool.finish()?;
            (file.requests, file.sessions) = (kept.requests, kept.sessions);
            file.facts.stamps = Stamps::End;
            any = true;
        }
        Ok(any)
    }
}

/// Takes rows in any order.
struct Keeper {
    spool: Spool,
    requests: Seen,
    sessions: Seen,
    by_generator: Vec<u64>,
    shift: Option<Shift>,
    hours: Hours,
}

impl Keeper {
    fn new(memory: usize, shift: Option<Shift>) -> Keeper {
        let spool = Spool::new(&std::env::temp_dir(), memory);
        let by_generator = Vec::new();
        let (requests, sessions) = (Seen::default(), Seen::default());
        Keeper { spool, requests, sessions, by_generator, shift, hours: Hours::default() }
    }

    /// The rows of a spool that are to be kept, changed.
    fn of(
        spooled: &Spooled,
        change: impl Fn(&mut Record),
        keep: impl Fn(&Record) -> bool,
    ) -> Result<Keeper, headway_records::Error> {
        let mut keeper = Keeper::new(MEMORY.saturating_sub(spooled.in_memory()), None);
        let mut in_order = spooled.in_order()?;
        while let Some(mut record) = in_order.next()? {
            if keep(&record) {
                change(&mut record);
                keeper.push(&record)?;
            }
        }
        Ok(keeper)
    }

    /// Without the few rows whose stamps are far from all others; how many those are, and the first stamp.
    fn without_far(self) -> Result<(Keeper, Option<(u64, Nanos)>), headway_records::Error> {
        let Some(near) = self.hours.near() else { return Ok((self, None)) };
        let all = self.requests.rows + self.sessions.rows;
        let spooled = self.spool.finish()?;
        let first = Cell::new(None);
        let keep = |record: &Record| {
            let is_near = near.contains(&record.intended);
            if !is_near && first.get().is_none() {
                first.set(Some(record.intended));
            }
            is_near
        };
        let kept = Keeper::of(&spooled, |_| {}, keep)?;
        let far = all - kept.requests.rows - kept.sessions.rows;
        Ok((kept, first.get().map(|at| (far, at))))
    }

    fn keep(
        mut self,
        batches: &Receiver<Vec<Record>>,
        empty: &SyncSender<Vec<Record>>,
    ) -> Result<Keeper, headway_records::Error> {
        while let Ok(mut batch) = batches.recv() {
            for record in &mut batch {
                if let Some(way) = self.shift {
                    by_response(record, way);
                }
                self.push(record)?;
            }
            batch.clear();
            // Where the reader has gone there is nothing to be filled again.
            let _ = empty.try_send(batch);
        }
        Ok(self)
    }

    #[inline]
    fn push(&mut self, record: &Record) -> Result<(), headway_records::Error> {
        match is_session(record) {
            Some(false) => self.requests.push(record),
            Some(true) => self.sessions.push(record),
            None => return Ok(()),
        }
        self.hours.push(record.intended);
        let generator = usize::from(record.shard);
        if generator >= self.by_generator.len() {
            self.by_generator.resize(generator + 1, 0);
        }
        self.by_generator[generator] += 1;
        self.spool.push(record)
    }
}

/// Bytes of a file on disk; none of standard input and of what is no plain file.
pub(super) fn size(path: &Path) -> Option<u64> {
    let log = path.join(headway_records::folder::RECORDS);
    let path = if path.is_dir() { log.as_path() } else { path };
    std::fs::metadata(path).ok().filter(|found| found.is_file()).map(|found| found.len())
}
