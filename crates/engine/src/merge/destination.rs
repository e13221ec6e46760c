//! The destination of shards as a merge finds it: which shards came, what each has left, and how they stand while they run.
//!
//! Deliberately absent: what writes a destination ([`crate::destination`]), clocks and waiting: the caller says what time it is.

use super::{Error, Played, Run, Shards, counted};
use crate::destination::layout::{
    CLAIM, Claim, DONE, Done, PROGRESS, PlaysProgress, Progress, RUN, RunDocument, SCHEMA, START, StartAt,
    StartDocument, Whole, event_part, of_shard, parse, part,
};
use crate::destination::{Address, Entry, LONGEST_MEETING, Store};
use crate::experiment::part::{DOCUMENT, PLAYS, PartFolder, PartOf, Parts};
use headway_base::Nanos;
use headway_records::folder::{ARRIVALS, PLAN, RECORDS, SUMMARY};
use headway_workload::Shard;
use headway_workload::plan::LONGEST;
use serde::de::DeserializeOwned;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

/// A shard that has said nothing for so many of the intervals in which shards of that destination say how they stand is not alive.
pub const ALIVE: i64 = 5;

/// A shard that began so much earlier or later than the run is of another run.
const ANOTHER_START: Nanos = Nanos::from_secs(1);

/// What is read of a shard's folder.
struct Files {
    /// The file without which the shard has left nothing.
    first: &'static str,
    /// More documents, where they are there.
    more: &'static [&'static str],
    /// The file that is published in pieces.
    log: &'static str,
    /// Whether the shard has left nothing without that either.
    logs: bool,
}

const OF_A_RUN: Files = Files { first: PLAN, more: &[ARRIVALS, SUMMARY], log: RECORDS, logs: true };
const OF_A_STUDY: Files = Files { first: DOCUMENT, more: &[], log: PLAYS, logs: false };

/// What a shard has left.
struct Left {
    index: u32,
    /// Where it is for people.
    place: PathBuf,
    /// The folder of its files, if it has left any.
    folder: Option<PathBuf>,
    /// The machine that claimed it, if one did.
    host: Option<String>,
    /// What it said when it had ended.
    done: Option<Done>,
}

impl Left {
    /// Refuses a log that is not as long as its shard said when it had ended.
    fn is_as_long_as_said(&self, log: &str) -> Result<(), Error> {
        let (Some(done), Some(folder)) = (&self.done, &self.folder) else { return Ok(()) };
        let found = match fs::metadata(folder.join(log)) {
            Ok(found) => found.len(),
            Err(none) if none.kind() == std::io::ErrorKind::NotFound => 0,
            Err(error) => return Err(Error::Unreadable(error.into())),
        };
        as_said(self.place.join(log), "bytes", found, done.bytes)
    }
}

/// A destination, and what it is of.
#[derive(Debug)]
pub struct Destination {
    store: Arc<dyn Store>,
    run: RunDocument,
}

impl Destination {
    /// Whether that is a destination, or a bucket, which is nothing else.
    pub fn is_one(address: &Address) -> bool {
        match address {
            Address::Folder(path) => path.join(RUN).is_file(),
            Address::Bucket(_) => true,
        }
    }

    /// The destination in that store.
    ///
    /// # Errors
    /// It is none, or of another version.
    pub fn open(store: Arc<dyn Store>) -> Result<Destination, Error> {
        let place = store.place();
        let path = store.folder();
        let found = match path.is_none_or(Path::is_dir) {
            true => read::<RunDocument>(&*store, RUN)?,
            false => None,
        };
        let Some(run) = found else {
            let why = match path {
                Some(path) if !path.exists() => "there is nothing",
                Some(path) if !path.is_dir() => "a file, and no destination",
                _ if store.list("").map_err(Error::Store)?.is_empty() => "it is empty: no shard has come yet",
                _ => "no destination of shards: no run.json in it",
            };
            return Err(Error::NotADestination { place, why });
        };
        // Nothing is made room for by a number that no run has.
        if run.schema != SCHEMA || Shard::new(0, run.shards).is_err() {
            let (schema, shards) = (run.schema, run.shards);
            return Err(Error::NotARun { place: format!("{place}/{RUN}"), schema, shards });
        }
        Ok(Destination { store, run })
    }

    /// Its store.
    pub fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// How many shards there are.
    pub fn count(&self) -> u32 {
        self.run.shards
    }

    /// Whether the shards are parts of a study, and not of a run.
    pub fn is_of_a_study(&self) -> bool {
        self.run.of.timing().is_none()
    }

    /// Refuses another number of shards than is expected.
    ///
    /// # Errors
    /// [`Error::OtherCount`].
    pub fn expect(&self, expected: Option<u32>) -> Result<(), Error> {
        counted(expected, self.run.shards, self.run.of.noun(), || self.store.place())
    }

    /// The shards that have left a log, checked to be those of this run. What is not in a folder is fetched into a temporary one, which goes with
    /// them.
    ///
    /// # Errors
    /// Something in it is of another run, cannot be read, or no shard has left a log.
    pub fn shards(&self) -> Result<Shards, Error> {
        let (left, fetched) = self.left(&OF_A_RUN)?;
        let (mut runs, mut absent) = (Vec::new(), Vec::new());
        for shard in left {
            let Some(folder) = &shard.folder else {
                absent.push((shard.index, shard.host));
                continue;
            };
            let own = Run { place: shard.place.clone(), ..Run::open(folder)? };
            self.belongs(&own, shard.index)?;
            shard.is_as_long_as_said(RECORDS)?;
            runs.push(Run { played: Some(Played { host: shard.host, done: shard.done }), ..own });
        }
        if runs.is_empty() {
            return Err(self.nothing("records"));
        }
        Ok(Shards { _fetched: fetched, ..Shards::of(runs, absent)? })
    }

    /// The shards that have left plays, or could have, checked to be parts of this study. What is not in a folder is fetched into a temporary one,
    /// which goes with them.
    ///
    /// # Errors
    /// Something in it is of another study, cannot be read, or no shard has begun.
    pub fn parts(&self) -> Result<Parts, Error> {
        let (left, fetched) = self.left(&OF_A_STUDY)?;
        let (mut parts, mut hosts) = (Vec::new(), BTreeMap::new());
        for shard in left {
            let Some(folder) = &shard.folder else {
                hosts.extend(shard.host.map(|host| (shard.index, host)));
                continue;
            };
            let of = PartOf::read(folder, &shard.place).map_err(Error::Unreadable)?;
            if let Some((what, there, of_shard)) = of.differs(&self.run, shard.index) {
                return Err(self.stranger(shard.place, what, there, of_shard));
            }
            shard.is_as_long_as_said(PLAYS)?;
            parts.push((of, PartFolder { path: folder.clone(), place: shard.place }));
        }
        Parts::of(parts, hosts, fetched).ok_or_else(|| self.nothing("plays"))
    }

    fn nothing(&self, what: &'static str) -> Error {
        let (whole, place, count) = (self.run.of.noun(), self.store.place(), self.run.shards);
        Error::NothingLeft { whole, place, count, what }
    }

    fn stranger(&self, shard: PathBuf, what: &'static str, there: String, of_shard: String) -> Error {
        Error::OtherDestination { whole: self.run.of.noun(), shard, what, there, of_shard }
    }

    /// What each shard has left, and the folder into which it was fetched, if it was.
    fn left(&self, files: &Files) -> Result<(Vec<Left>, Option<TempDir>), Error> {
        let place = self.store.place();
        let listed = self.store.list("").map_err(Error::Store)?;
        let here = indices(&listed);
        if let Some(&index) = here.range(self.run.shards..).next() {
            return Err(Error::Beyond { whole: self.run.of.noun(), place, index, count: self.run.shards });
        }
        let fetched = match self.store.folder() {
            Some(_) => None,
            None => Some(tempfile::tempdir().map_err(|error| Error::Unwritable(error.into()))?),
        };
        let mut all = Vec::with_capacity(self.run.shards as usize);
        for index in 0..self.run.shards {
            let claim = read::<Claim>(&*self.store, &of_shard(index, CLAIM))?;
            let host = claim.map(|claim| claim.host);
            let done = read::<Done>(&*self.store, &of_shard(index, DONE))?;
            let folder = self.folder_of(index, files, done.as_ref(), &listed, fetched.as_ref())?;
            let place = PathBuf::from(format!("{place}/{index}"));
            all.push(Left { index, place, folder, host, done });
        }
        Ok((all, fetched))
    }

    /// The folder of a shard, if it has left these files.
    fn folder_of(
        &self,
        index: u32,
        files: &Files,
        done: Option<&Done>,
        listed: &[Entry],
        fetched: Option<&TempDir>,
    ) -> Result<Option<PathBuf>, Error> {
        let own = of_shard(index, "");
        let Some(fetched) = fetched else {
            let folder = self.store.folder().map(|path| path.join(own));
            let is_there = |folder: &PathBuf| {
                folder.join(files.first).is_file() && (!files.logs || folder.join(files.log).is_file())
            };
            return Ok(folder.filter(is_there));
        };
        let here: BTreeSet<&str> = listed.iter().filter_map(|entry| entry.name.strip_prefix(&own)).collect();
        // Those beyond what a shard says in the end are of a log that it published anew.
        let last = done.and_then(|done| done.parts).unwrap_or(u32::MAX);
        let mut parts = (1..=last)
            .map(|n| part(index, n))
            .take_while(|name| here.contains(&name[own.len()..]))
            .peekable();
        if !here.contains(files.first) || files.logs && parts.peek().is_none() {
            return Ok(None);
        }
        let folder = fetched.path().join(index.to_string());
        let unwritable = |error: std::io::Error| {
            let room = format!(
                "{}: what all shards have left is fetched into it (TMPDIR names another place)",
                folder.display()
            );
            Error::Unwritable(anyhow::Error::new(error).context(room))
        };
        fs::create_dir(&folder).map_err(unwritable)?;
        for name in std::iter::once(&files.first).chain(files.more) {
            if let Some(bytes) = self.store.get(&of_shard(index, name)).map_err(Error::Store)? {
                fs::write(folder.join(name), bytes).map_err(unwritable)?;
            }
        }
        let mut log = File::create(folder.join(files.log)).map_err(unwritable)?;
        for name in parts {
            let bytes = self.store.get(&name).map_err(Error::Store)?.unwrap_or_default();
            log.write_all(&bytes).map_err(unwritable)?;
        }
        let events = (1..).map(|n| event_part(index, n)).take_while(|name| here.contains(&name[own.len()..]));
        let mut table = None;
        for name in events {
            let table = match &mut table {
                Some(table) => table,
                None => {
                    let file = File::create(folder.join(headway_records::folder::EVENTS));
                    table.insert(file.map_err(unwritable)?)
                }
            };
            let bytes = self.store.get(&name).map_err(Error::Store)?.unwrap_or_default();
            table.write_all(&bytes).map_err(unwritable)?;
        }
        Ok(Some(folder))
    }

    /// Holds what a shard of a run says of itself to what the run is.
    fn belongs(&self, run: &Run, index: u32) -> Result<(), Error> {
        let (own, manifest) = (&self.run, &run.manifest);
        let shard = Shard::new(index, own.shards).map_err(|error| Error::Unreadable(error.into()))?;
        let start = match own.of.start_at() {
            Some(StartAt::Unix(at)) => Some(at),
            Some(StartAt::Barrier) => match self.start()? {
                Some(StartDocument::ZeroUnixNs(zero)) => Some(zero),
                Some(StartDocument::Never) | None => None,
            },
            None => None,
        };
        let zero = i128::from(manifest.zero_unix_ns);
        // Clocks that differ by less are a matter of the report.
        let start = start.filter(|start| start.abs_diff(zero) > u128::from(ANOTHER_START.0.unsigned_abs()));
        let differs = [
            ("the seed", own.seed.to_string(), manifest.plan.seed.to_string()),
            ("the version of headway", own.version.clone(), manifest.headway.clone()),
            ("the shard", shard.to_string(), run.shard.to_string()),
            ("the start, in ns since 1970,", start.unwrap_or(zero).to_string(), zero.to_string()),
            ("the fingerprint of the plan", own.fingerprint.clone(), manifest.fingerprint()),
        ];
        match differs.into_iter().find(|(_, there, of_shard)| there != of_shard) {
            Some((what, there, of_shard)) => Err(self.stranger(run.place.clone(), what, there, of_shard)),
            None => Ok(()),
        }
    }

    /// What a barrier came to.
    fn start(&self) -> Result<Option<StartDocument>, Error> {
        read(&*self.store, START)
    }
}

/// A document of the store, if it is there.
fn read<T: DeserializeOwned>(store: &dyn Store, name: &str) -> Result<Option<T>, Error> {
    let bytes = store.get(name).map_err(Error::Store)?;
    let place = || format!("{}/{name}", store.place());
    bytes.map(|bytes| parse(&place(), &bytes)).transpose().map_err(Error::Unreadable)
}

/// How often a destination is looked at while its shards run: twice as often as they say how they stand.
pub fn every(store: &dyn Store) -> Duration {
    Duration::from_nanos((store.interval().0 / 2) as u64)
}

/// Numbers of the shards that have left anything.
fn indices(listed: &[Entry]) -> BTreeSet<u32> {
    let of = |entry: &Entry| -> Option<u32> {
        let (index, _) = entry.name.split_once('/')?;
        // As shards write their numbers: without zeros in front.
        index.parse().ok().filter(|n: &u32| n.to_string() == index)
    };
    listed.iter().filter_map(of).collect()
}

/// How far shards have come together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SoFar {
    /// Those of a run.
    Requests {
        /// Arrivals that fell due.
        offered: u64,
        /// Requests that were sent.
        sent: u64,
        /// Requests that did not end as ok.
        failed: u64,
    },
    /// Those of a study.
    Plays {
        /// Plays that ended.
        ended: u64,
        /// Plays that the study has.
        of: u64,
    },
}

/// How the shards of a destination stand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Standing {
    /// How many shards there are.
    pub shards: u32,
    /// Shards that have ended.
    pub done: u32,
    /// Shards that have not ended, and have written progress within [`ALIVE`] intervals.
    pub alive: u32,
    /// How far they have come.
    pub so_far: SoFar,
    /// Until when those that have not ended are waited for, nanoseconds since the Unix epoch.
    pub until_unix_ns: i128,
}

impl Standing {
    /// Whether nothing is to be waited for any more at that time, nanoseconds since the Unix epoch.
    pub fn is_over(&self, now_unix_ns: i128) -> bool {
        self.done == self.shards || now_unix_ns >= self.until_unix_ns
    }
}

/// Looks at a destination again and again, as its shards run.
#[derive(Debug)]
pub struct Watch<'a> {
    destination: &'a Destination,
    grace: Nanos,
    shards: BTreeMap<u32, Seen>,
    /// What was there at the last look, by name: size and time of modification.
    listed: BTreeMap<String, (u64, i128)>,
    /// When something changed last, by our clock.
    changed: Option<i128>,
    /// When the last shard came that is there.
    came: Option<i128>,
    start: Option<StartDocument>,
}

/// What was seen of a shard.
#[derive(Debug, Default)]
struct Seen {
    done: bool,
    progress: Progress,
    /// Of a study: plays that ended.
    plays: u64,
    /// When its progress was new, by our clock.
    fresh: Option<i128>,
}

impl<'a> Watch<'a> {
    /// Of that destination; its shards get `grace` beyond the end of plan and timeout.
    pub fn new(destination: &'a Destination, grace: Nanos) -> Watch<'a> {
        let (shards, listed) = Default::default();
        Watch { destination, grace, shards, listed, changed: None, came: None, start: None }
    }

    /// How the shards stand at `now`, nanoseconds since the Unix epoch.
    ///
    /// # Errors
    /// The destination cannot be read.
    pub fn look(&mut self, now: i128) -> Result<Standing, Error> {
        let store = &*self.destination.store;
        let first = self.changed.is_none();
        for Entry { name, size, modified_unix_ns } in store.list("").map_err(Error::Store)? {
            let is = (size, modified_unix_ns);
            if self.listed.insert(name.clone(), is) == Some(is) {
                continue;
            }
            // What was there before the first look is as old as its store says.
            let at = if first { modified_unix_ns.min(now) } else { now };
            self.changed = Some(self.changed.map_or(at, |changed| changed.max(at)));
            self.take(&name, now)?;
        }
        Ok(self.standing(now))
    }

    /// Reads a document that is new.
    fn take(&mut self, name: &str, now: i128) -> Result<(), Error> {
        let store = &*self.destination.store;
        if name == START {
            self.start = self.destination.start()?;
        }
        let Some((index, document)) = name.split_once('/') else { return Ok(()) };
        let Some(index) = index.parse().ok().filter(|&i: &u32| i < self.destination.run.shards) else {
            return Ok(());
        };
        match document {
            DONE => self.shards.entry(index).or_default().done = true,
            CLAIM => {
                let at = read::<Claim>(store, name)?.map(|claim| claim.at_unix_ns);
                self.came = self.came.max(at);
                self.shards.entry(index).or_default();
            }
            PROGRESS => {
                let seen = self.shards.entry(index).or_default();
                let at = match &self.destination.run.of {
                    Whole::Run(_) => read::<Progress>(store, name)?.map(|progress| {
                        let at = progress.at_unix_ns;
                        seen.progress = progress;
                        at
                    }),
                    Whole::Study { .. } => read::<PlaysProgress>(store, name)?.map(|progress| {
                        seen.plays = progress.plays;
                        progress.at_unix_ns
                    }),
                };
                // Seen for the first time it may be old; its machine's clock says how old.
                let at = at.map(|at| if seen.fresh.is_none() { at.min(now) } else { now });
                seen.fresh = at.or(seen.fresh);
            }
            _ => {}
        }
        Ok(())
    }

    fn standing(&self, now: i128) -> Standing {
        let alive = self.alive();
        let is_alive = |seen: &&Seen| {
            let fresh = seen.fresh.is_some_and(|fresh| now - fresh < alive);
            fresh && !seen.done
        };
        let sum = |of: fn(&Seen) -> u64| self.shards.values().map(of).sum();
        let so_far = match self.destination.run.of {
            Whole::Run(_) => SoFar::Requests {
                offered: sum(|seen| seen.progress.offered),
                sent: sum(|seen| seen.progress.sent),
                failed: sum(|seen| seen.progress.failed),
            },
            Whole::Study { points, replications } => {
                SoFar::Plays { ended: sum(|seen| seen.plays), of: points.saturating_mul(replications) }
            }
        };
        Standing {
            shards: self.destination.run.shards,
            done: self.shards.values().filter(|seen| seen.done).count() as u32,
            alive: self.shards.values().filter(is_alive).count() as u32,
            so_far,
            until_unix_ns: self.until(now),
        }
    }

    fn until(&self, now: i128) -> i128 {
        let run = &self.destination.run;
        let silent = self.changed.unwrap_or(now);
        let grace = i128::from(self.grace.0);
        let Whole::Run(timing) = &run.of else {
            // Plays end when they end. A shard that lives writes its progress; one that has not come may.
            let all_came = self.shards.len() as u64 == u64::from(run.shards);
            let longest = if all_came { self.alive() } else { i128::from(LONGEST_MEETING.0) };
            return silent + longest + grace;
        };
        let zero = match timing.start_at {
            Some(StartAt::Unix(at)) => Some(at),
            Some(StartAt::Barrier) => match self.start {
                Some(StartDocument::Never) => return silent,
                Some(StartDocument::ZeroUnixNs(zero)) => Some(zero),
                None => None,
            },
            None => self.came,
        };
        let end = match zero {
            // Work ends when it is done, and so has the longest plan: a shard that lives writes its progress.
            Some(zero) if timing.plan_end_ns >= LONGEST.0 => {
                silent.max(zero) + i128::from(Nanos::from_secs_f64(timing.timeout_s).0)
            }
            Some(zero) => timing.ends_unix_ns(zero),
            None => silent + i128::from(LONGEST_MEETING.0),
        };
        end + grace
    }

    /// How long a shard that has said nothing counts as alive, nanoseconds.
    fn alive(&self) -> i128 {
        i128::from(self.destination.store.interval().0 * ALIVE)
    }
}

impl Run {
    /// Refuses a log of another number of rows than its shard said when it had ended.
    pub(super) fn has_as_many_rows_as_said(&self, found: u64, said: u64) -> Result<(), Error> {
        as_said(self.place.join(RECORDS), "rows", found, said)
    }
}

/// Refuses what has another number of rows or bytes than its shard said when it had ended.
fn as_said(log: PathBuf, what: &'static str, found: u64, said: u64) -> Result<(), Error> {
    if found == said { Ok(()) } else { Err(Error::NotAsDone { log, what, found, said }) }
}
