//! What a shard tells while it runs, and in the end: how it stands, the bytes of its log, or of its plays, where they are not in the destination
//! already, and that it is done. On a thread of its own, which neither workers nor collector wait for.

use super::layout::{self, Done, PlaysProgress, Progress};
use super::seat::Seat;
use crate::collect::Observer;
use crate::experiment::part;
use crate::handover::{self, Handover};
use crate::{Error, Snapshot};
use anyhow::{Context as _, anyhow};
use headway_base::{Fnv1a, Nanos};
use headway_records::{RunFolder, folder};
use headway_stats::summary::evidence::Run as Evidence;
use headway_stats::summary::{Finding, FindingId, Severity};
use headway_workload::plan::SessionsOf;
use headway_workload::redact::clear;
use headway_workload::{Plan, Shard};
use std::fs::{self, File};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::iter::Peekable;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

/// Most bytes of one piece, and so of memory.
const PIECE: u64 = 32 << 20;

/// Tells how a shard stands, from when it is made.
#[derive(Debug)]
pub(crate) struct Publisher {
    seat: Seat,
    log: PathBuf,
    standing: Arc<Handover<headway_base::Snapshot>>,
    thread: Option<JoinHandle<Pieces>>,
}

impl Publisher {
    /// Begins to publish the shard of that plan. Its results are in `folder`.
    ///
    /// # Errors
    /// The store refuses or fails, or there is no thread to be had.
    pub(crate) fn of_run(seat: Seat, plan: &Plan, folder: &RunFolder) -> Result<Publisher, Error> {
        Publisher::begin(seat, Counted::Requests(Offered::new(plan)), folder, folder.records())
    }

    /// Begins to publish a shard of a study. Its plays are in `folder`.
    ///
    /// # Errors
    /// The store refuses or fails, or there is no thread to be had.
    pub(crate) fn of_study(seat: Seat, folder: &RunFolder) -> Result<Publisher, Error> {
        Publisher::begin(seat, Counted::Plays, folder, folder.path().join(part::PLAYS))
    }

    /// `log`: the file whose bytes are published.
    fn begin(seat: Seat, counted: Counted, folder: &RunFolder, log: PathBuf) -> Result<Publisher, Error> {
        let standing = Arc::new(Handover::new());
        let pieces = Pieces { path: log.clone(), ..Pieces::default() };
        let mut telling = Telling { counted, seat: seat.clone(), pieces };
        if seat.is_remote() {
            for name in [folder::PLAN, folder::ARRIVALS, folder::SCENARIO, part::DOCUMENT] {
                publish_file(&seat, folder, name)?;
            }
        }
        let mut now = headway_base::Snapshot::default();
        telling.tell(&now)?;
        let every = Duration::from_nanos(seat.store.interval().0 as u64);
        let of_thread = standing.clone();
        let work = move || {
            loop {
                let (standing, over) = of_thread.take_at_end(every);
                now = standing.unwrap_or(now);
                // A store that fails now may do better the next time; at the end it is said.
                let told = telling.tell(&now);
                if over {
                    return telling.pieces;
                }
                let _ = told.map_err(Error::from).and_then(|()| telling.publish_log());
            }
        };
        let thread = handover::thread("publisher", work)?;
        Ok(Publisher { seat, log, standing, thread: Some(thread) })
    }

    /// So many plays have ended.
    pub(crate) fn played(&self, ended: u64) {
        self.standing.hand(headway_base::Snapshot { ended, ..Default::default() });
    }

    /// That the store failed while the shard was played, if it did.
    pub(crate) fn finding(&self) -> Option<Finding> {
        let failures = self.seat.store.failures()?;
        let place = self.seat.store.place();
        let evidence =
            Evidence::StoreFailed { place: clear(&place), failures: failures.n, last: clear(&failures.last) };
        Some(Finding {
            id: FindingId::StoreFailed,
            severity: Severity::Info,
            evidence: vec![evidence.into()],
            value: Some(failures.n as f64),
            n: failures.n,
            ..Finding::default()
        })
    }

    /// The shard has ended, with so many rows or plays in `folder`.
    pub(crate) fn end(mut self, rows: u64, folder: &RunFolder) -> Ending {
        self.seat.store.close();
        // A panic there leaves the log to be published from its beginning.
        let pieces = self.stop().unwrap_or_else(|| Pieces { path: self.log.clone(), ..Pieces::default() });
        Ending { seat: self.seat.clone(), pieces, rows, folder: folder.clone() }
    }

    fn stop(&mut self) -> Option<Pieces> {
        self.standing.end();
        self.thread.take()?.join().ok()
    }
}

impl Drop for Publisher {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Observer for Publisher {
    fn snapshot(&mut self, snapshot: &Snapshot) {
        self.standing.hand(snapshot.now);
    }

    fn finished(&mut self, snapshot: &Snapshot) {
        self.snapshot(snapshot);
    }
}

/// What the thread does.
struct Telling {
    seat: Seat,
    counted: Counted,
    pieces: Pieces,
}

/// By what a shard tells how it stands.
enum Counted {
    Requests(Offered),
    Plays,
}

impl Telling {
    fn tell(&mut self, now: &headway_base::Snapshot) -> Result<(), super::StoreError> {
        let at_unix_ns = headway_live::clock::unix_now();
        let progress = match &mut self.counted {
            Counted::Requests(offered) => layout::json(&Progress {
                at_unix_ns,
                offered: offered.by(now.at).unwrap_or(now.started),
                sent: now.started,
                ended: now.ended,
                failed: now.failed,
            }),
            Counted::Plays => layout::json(&PlaysProgress { at_unix_ns, plays: now.ended }),
        };
        self.seat.store.put(&self.seat.own(layout::PROGRESS), &progress)
    }

    fn publish_log(&mut self) -> Result<(), Error> {
        match self.seat.is_remote() {
            true => self.pieces.publish(&self.seat),
            false => Ok(()),
        }
    }
}

/// Counts the arrivals of a shard that fell due, from the plan alone.
struct Offered {
    groups: Vec<Peekable<SessionsOf>>,
    so_far: u64,
}

impl Offered {
    fn new(plan: &Plan) -> Offered {
        let arriving = (0..plan.groups.len()).filter(|&group| plan.groups[group].arrives());
        let groups = arriving.map(|group| plan.sessions_of(group, plan.shard).peekable());
        Offered { groups: groups.collect(), so_far: 0 }
    }

    /// How many fell due by then, which is no earlier than before; none if none is to.
    fn by(&mut self, at: Nanos) -> Option<u64> {
        for group in &mut self.groups {
            while group.next_if(|arrival| arrival.intended <= at).is_some() {
                self.so_far += 1;
            }
        }
        (!self.groups.is_empty()).then_some(self.so_far)
    }
}

/// The pieces of a log, or of plays, which are published.
#[derive(Debug, Default)]
struct Pieces {
    path: PathBuf,
    /// Bytes published, and pieces that hold them.
    published: u64,
    n: u32,
    /// Of the bytes that were published.
    sum: Fnv1a,
}

impl Pieces {
    /// Publishes what the log has and the destination has not.
    fn publish(&mut self, seat: &Seat) -> Result<(), Error> {
        let mut file = match File::open(&self.path) {
            Ok(file) => file,
            Err(none) if none.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        file.seek(SeekFrom::Start(self.published))?;
        loop {
            let mut bytes = Vec::new();
            (&mut file).take(PIECE).read_to_end(&mut bytes)?;
            if bytes.is_empty() {
                return Ok(());
            }
            seat.store.put(&layout::part(seat.shard.index(), self.n + 1), &bytes)?;
            self.n += 1;
            self.published += bytes.len() as u64;
            self.sum = self.sum.with(&bytes);
        }
    }

    /// Whether the log still begins with what was published: where the disk was full, rows may have been taken back.
    fn hold(&self) -> Result<bool, Error> {
        let mut sum = Fnv1a::new();
        let mut file = File::open(&self.path)?.take(self.published);
        let mut buffer = vec![0; 1 << 20];
        loop {
            match file.read(&mut buffer)? {
                0 => return Ok(sum == self.sum && file.limit() == 0),
                n => sum = sum.with(&buffer[..n]),
            }
        }
    }
}

/// Publishes a file of the shard, if there is one of that name.
fn publish_file(seat: &Seat, folder: &RunFolder, name: &str) -> Result<(), Error> {
    match fs::read(folder.path().join(name)) {
        Ok(bytes) => Ok(seat.store.put(&seat.own(name), &bytes)?),
        Err(none) if none.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Publishes the events of responses of the shard in pieces of at most so many bytes, if there are any: of one that has ended.
fn publish_events(seat: &Seat, folder: &RunFolder, most: u64) -> Result<(), Error> {
    let mut file = match File::open(folder.events()) {
        Ok(file) => file,
        Err(none) if none.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    for number in 1.. {
        let mut piece = Vec::new();
        file.by_ref().take(most).read_to_end(&mut piece)?;
        if piece.is_empty() {
            break;
        }
        seat.store.put(&layout::event_part(seat.shard.index(), number), &piece)?;
    }
    Ok(())
}

/// A shard that has ended, and whose end is still to be told in its destination.
#[derive(Debug)]
pub struct Ending {
    seat: Seat,
    pieces: Pieces,
    rows: u64,
    folder: RunFolder,
}

impl Ending {
    /// The destination, secrets replaced.
    pub fn place(&self) -> String {
        self.seat.store.place()
    }

    /// Which shard has ended.
    pub fn shard(&self) -> Shard {
        self.seat.shard
    }

    /// Whether the results are published from a folder elsewhere: the destination is a bucket.
    pub fn is_remote(&self) -> bool {
        self.seat.is_remote()
    }

    /// The folder of the shard on this machine.
    pub fn folder(&self) -> &RunFolder {
        &self.folder
    }

    /// Publishes what is not yet, and says last of all that the shard is done, with the code that the process exits with.
    ///
    /// # Errors
    /// The store refuses or fails, or a file cannot be read: says what is not published, and where it is.
    pub fn finish(self, exit_code: u8) -> Result<(), Error> {
        let Ending { seat, mut pieces, rows, folder } = self;
        let lost = || {
            anyhow!(
                "the results of shard {} are not complete in {}; they are in {}",
                seat.shard,
                seat.store.place(),
                folder.path().display()
            )
        };
        let told = (|| {
            if seat.is_remote() {
                if !pieces.hold()? {
                    pieces = Pieces { path: std::mem::take(&mut pieces.path), ..Pieces::default() };
                }
                pieces.publish(&seat)?;
                publish_events(&seat, &folder, PIECE)?;
                for name in [folder::SUMMARY, folder::REPORT] {
                    publish_file(&seat, &folder, name)?;
                }
            }
            let bytes = fs::metadata(&pieces.path).context("the log")?.len();
            let parts = seat.is_remote().then_some(pieces.n);
            let done = Done { records: rows, bytes, parts, exit_code };
            Ok::<(), Error>(seat.store.put(&seat.own(layout::DONE), &layout::json(&done))?)
        })();
        told.map_err(|error| Error::failed(anyhow!(error).context(lost())))
    }
}

#[cfg(test)]
mod tests {
    use super::super::layout::{RunDocument, SCHEMA, Timing, Whole};
    use super::super::seat::tests::plan;
    use super::super::{Entry, Put, Store, StoreError, Why};
    use super::*;
    use std::collections::BTreeMap;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// Objects in memory; fails while it is told to.
    #[derive(Debug, Default)]
    struct Memory {
        objects: Mutex<BTreeMap<String, Vec<u8>>>,
        fails: AtomicBool,
    }

    impl Memory {
        fn names(&self) -> Vec<String> {
            self.objects.lock().unwrap().keys().cloned().collect()
        }

        /// The pieces of the log of shard 1, put together.
        fn log(&self) -> Vec<u8> {
            let objects = self.objects.lock().unwrap();
            objects
                .iter()
                .filter(|(name, _)| name.starts_with("1/parts/"))
                .flat_map(|(_, bytes)| bytes.clone())
                .collect()
        }
    }

    impl Store for Memory {
        fn place(&self) -> String {
            "memory".to_owned()
        }
        fn put_new(&self, _: &str, _: &[u8]) -> Result<Put, StoreError> {
            unreachable!("a publisher replaces")
        }
        fn put(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
            if self.fails.load(Ordering::SeqCst) {
                let place = format!("memory/{name}");
                return Err(StoreError {
                    place,
                    doing: "written",
                    why: Why::Failed,
                    what: "out of order".to_owned(),
                });
            }
            self.objects.lock().unwrap().insert(name.to_owned(), bytes.to_owned());
            Ok(())
        }
        fn get(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
            Ok(self.objects.lock().unwrap().get(name).cloned())
        }
        fn entry(&self, _: &str) -> Result<Option<Entry>, StoreError> {
            unreachable!("a publisher asks for nothing")
        }
        fn list(&self, _: &str) -> Result<Vec<Entry>, StoreError> {
            unreachable!("a publisher asks for nothing")
        }
        fn resolution(&self) -> Nanos {
            Nanos::ZERO
        }
        fn interval(&self) -> Nanos {
            Nanos::from_secs(10)
        }
    }

    /// A seat of shard 1 of 3.
    fn seat(store: Arc<dyn Store>) -> Seat {
        let run = RunDocument {
            schema: SCHEMA.to_owned(),
            version: String::new(),
            shards: 3,
            seed: 7,
            fingerprint: String::new(),
            of: Whole::Run(Timing { start_at: None, plan_end_ns: 0, timeout_s: 1.0 }),
        };
        Seat { store, run, shard: Shard::new(1, 3).unwrap(), offset: None }
    }

    fn snapshot(at: Nanos, started: u64, ended: u64, failed: u64) -> Snapshot {
        let now = headway_base::Snapshot { at, started, ended, failed, ..Default::default() };
        Snapshot { now, ..Snapshot::default() }
    }

    fn read<T: for<'a> serde::Deserialize<'a>>(store: &dyn Store, name: &str) -> T {
        layout::parse(name, &store.get(name).unwrap().unwrap()).unwrap()
    }

    #[test]
    fn in_a_folder_a_shard_tells_how_it_stands_and_that_it_is_done() {
        let place = tempfile::tempdir().unwrap();
        let store = Arc::new(crate::destination::folder::Folder::new(place.path()));
        let seat = seat(store.clone());
        let folder = seat.run_folder("test").unwrap();
        let plan = plan(7, 300.0, Shard::new(1, 3).unwrap());
        let mut publisher = Publisher::of_run(seat, &plan, &folder).unwrap();
        let first: Progress = read(&*store, "1/progress.json");
        assert_eq!((first.offered, first.sent, first.ended), (0, 0, 0), "it is alive before anything is due");
        fs::write(folder.records(), b"a log").unwrap();
        publisher.finished(&snapshot(Nanos::from_secs(4), 390, 380, 3));
        let ending = publisher.end(380, &folder);
        let last: Progress = read(&*store, "1/progress.json");
        let due = plan.arrivals().filter(|arrival| arrival.intended <= Nanos::from_secs(4)).count() as u64;
        assert!((300..500).contains(&due), "{due}");
        assert_eq!((last.offered, last.sent, last.ended, last.failed), (due, 390, 380, 3));
        assert!(last.at_unix_ns >= first.at_unix_ns);
        assert_eq!(store.get("1/done.json").unwrap(), None);
        ending.finish(98).unwrap();
        let done: Done = read(&*store, "1/done.json");
        assert_eq!(done, Done { records: 380, bytes: 5, parts: None, exit_code: 98 });
    }

    #[test]
    fn in_a_bucket_the_pieces_together_are_the_log_whatever_fails_meanwhile() {
        let at = tempfile::tempdir().unwrap();
        let store = Arc::new(Memory::default());
        let folder = RunFolder::within(at.path()).unwrap();
        folder.write_new("plan.json", b"the plan").unwrap();
        let plan = plan(7, 300.0, Shard::new(1, 3).unwrap());
        let seat = seat(store.clone());
        let publisher = Publisher::of_run(seat.clone(), &plan, &folder).unwrap();
        assert_eq!(
            store.names(),
            ["1/plan.json", "1/progress.json"],
            "what the shard had planned is known if it is lost"
        );

        let log: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
        let mut pieces = Pieces { path: folder.records(), ..Pieces::default() };
        pieces.publish(&seat).unwrap();
        assert_eq!(pieces.n, 0, "there is no log yet");
        for (until, fails) in
            [(1_000, false), (50_000, true), (70_000, false), (70_000, false), (300_000, true)]
        {
            fs::write(folder.records(), &log[..until]).unwrap();
            store.fails.store(fails, Ordering::SeqCst);
            assert_eq!(pieces.publish(&seat).is_err(), fails, "{until}");
        }
        assert_eq!((pieces.n, pieces.published), (2, 70_000));
        store.fails.store(false, Ordering::SeqCst);
        fs::write(folder.records(), &log).unwrap();
        folder.write_new("summary.json", b"the summary").unwrap();
        drop(publisher);
        let ending = Ending { seat, pieces, rows: 7, folder: folder.clone() };
        ending.finish(0).unwrap();
        assert!(store.log() == log);
        let done: Done = read(&*store, "1/done.json");
        assert_eq!(done, Done { records: 7, bytes: 400_000, parts: Some(3), exit_code: 0 });
        let all = store.names();
        assert!(
            all.contains(&"1/summary.json".to_owned()) && !all.contains(&"1/report.html".to_owned()),
            "{all:?}"
        );
    }

    #[test]
    fn in_a_bucket_the_pieces_of_events_together_are_their_table() {
        let at = tempfile::tempdir().unwrap();
        let store = Arc::new(Memory::default());
        let folder = RunFolder::within(at.path()).unwrap();
        let seat = seat(store.clone());
        publish_events(&seat, &folder, 1_000).unwrap();
        assert!(store.names().is_empty(), "a run without events");
        let table: Vec<u8> = (0..700_u32).flat_map(u32::to_le_bytes).collect();
        fs::write(folder.events(), &table).unwrap();
        publish_events(&seat, &folder, 1_000).unwrap();
        assert_eq!(store.names(), ["1/events/000001", "1/events/000002", "1/events/000003"]);
        let objects = store.objects.lock().unwrap();
        assert!(objects.values().flatten().copied().collect::<Vec<u8>>() == table);
    }

    #[test]
    fn a_log_that_lost_rows_after_they_were_published_is_published_again() {
        let at = tempfile::tempdir().unwrap();
        let store = Arc::new(Memory::default());
        let folder = RunFolder::within(at.path()).unwrap();
        let seat = seat(store.clone());
        let mut pieces = Pieces { path: folder.records(), ..Pieces::default() };
        fs::write(folder.records(), b"one two thr").unwrap();
        pieces.publish(&seat).unwrap();
        fs::write(folder.records(), b"one two four five").unwrap();
        Ending { seat, pieces, rows: 4, folder: folder.clone() }.finish(0).unwrap();
        assert_eq!(store.log(), b"one two four five");
    }

    #[test]
    fn what_could_not_be_published_is_said_with_where_it_is() {
        let at = tempfile::tempdir().unwrap();
        let store = Arc::new(Memory::default());
        let folder = RunFolder::within(at.path()).unwrap();
        fs::write(folder.records(), b"one").unwrap();
        store.fails.store(true, Ordering::SeqCst);
        let pieces = Pieces { path: folder.records(), ..Pieces::default() };
        let ending = Ending { seat: seat(store.clone()), pieces, rows: 1, folder: folder.clone() };
        let Err(Error::Failed(error)) = ending.finish(0) else { panic!("it cannot be published") };
        let told = format!("{error:#}");
        let where_it_is = format!(
            "the results of shard 1/3 are not complete in memory; they are in {}",
            at.path().display()
        );
        assert!(told.starts_with(&where_it_is) && told.contains("out of order"), "{told}");
        assert_eq!(store.names(), Vec::<String>::new());
    }
}
