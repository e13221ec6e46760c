//! A shard's seat in a destination: the destination is of its run, or of its study, and no other process plays the shard.

use super::address::Address;
use super::layout::{self, Claim, Ready, RunDocument, SCHEMA, StartAt, StartDocument, Timing, Whole};
use super::offset::{Offset, REFUSED, WARNED};
use super::{OnWait, Put, Store, StoreError, Why};
use crate::experiment::part::{self, PartOf};
use crate::{Error, Manifest, NotPlayed};
use anyhow::anyhow;
use headway_base::Nanos;
use headway_live::Control;
use headway_records::RunFolder;
use headway_stats::summary::evidence::Run as Evidence;
use headway_stats::summary::{Finding, FindingId, Severity};
use headway_workload::Shard;
use headway_workload::redact::clear;
use serde::Deserialize;
use std::collections::HashSet;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// A shard's seat. While this process plays the shard, and ever after, no other does.
#[derive(Clone, Debug)]
pub struct Seat {
    pub(super) store: Arc<dyn Store>,
    pub(super) run: RunDocument,
    pub(super) shard: Shard,
    /// This machine's clock minus the store's.
    pub(super) offset: Option<Offset>,
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Error {
        match error.why {
            Why::Refused => Error::usage(error),
            Why::Failed => Error::failed(error),
        }
    }
}

/// What a shard says of itself, by which others tell what differs.
#[derive(Clone, Copy)]
enum Own<'a> {
    Run(&'a Manifest),
    Study(&'a PartOf),
}

impl Own<'_> {
    /// The file in the shard's folder that says it.
    fn file(self) -> &'static str {
        match self {
            Own::Run(_) => headway_records::folder::PLAN,
            Own::Study(_) => part::DOCUMENT,
        }
    }

    /// A file that is in the folder of the same without shards, and what that is.
    fn undivided(self) -> (&'static str, &'static str) {
        match self {
            Own::Run(_) => (headway_records::folder::PLAN, "single run"),
            Own::Study(_) => (headway_report::study::JSON_FILE, "whole study"),
        }
    }

    /// What of it is otherwise in that file of another shard, and its value there and here. None: nothing is, or it is no such file.
    fn otherwise(self, there: &[u8]) -> Option<(&'static str, String, String)> {
        match self {
            Own::Run(own) => {
                let other: Manifest = serde_json::from_slice(there).ok()?;
                let mut pairs = other.in_common().into_iter().zip(own.in_common());
                pairs.find(|(one, two)| one != two).map(|((what, there), (_, here))| (what, there, here))
            }
            Own::Study(own) => own.otherwise(&serde_json::from_slice(there).ok()?),
        }
    }
}

impl Seat {
    /// Takes the seat of the shard of that manifest, whose run begins at `start`; the destination is made if there is none.
    ///
    /// # Errors
    /// [`Error::Usage`] if the destination is of another run, or of one that has ended, or refuses to be used; [`NotPlayed::Superseded`] if another
    /// process has the seat; [`Error::Failed`] if the store fails.
    pub(crate) fn of_run(
        address: &Address,
        manifest: &Manifest,
        shard: Shard,
        start_at: Option<StartAt>,
        control: &Control,
        on_wait: OnWait,
    ) -> Result<Seat, Error> {
        let timing = Timing {
            start_at,
            plan_end_ns: manifest.plan.end_ns,
            timeout_s: manifest.asked.timeout_s.unwrap_or(0.0),
        };
        let store = address.open()?;
        store.heed(control, on_wait);
        let run = RunDocument {
            schema: SCHEMA.to_owned(),
            version: manifest.headway.clone(),
            shards: shard.count(),
            seed: manifest.plan.seed,
            fingerprint: manifest.fingerprint(),
            of: Whole::Run(timing),
        };
        Seat { store, run, shard, offset: None }.sit(Own::Run(manifest))
    }

    /// Takes the seat of that part of a study, of which `run.json` is to say `run`; the destination is made if there is none.
    ///
    /// # Errors
    /// As [`Seat::of_run`].
    pub(crate) fn of_study(
        store: Arc<dyn Store>,
        part: &PartOf,
        run: RunDocument,
        shard: Shard,
    ) -> Result<Seat, Error> {
        Seat { store, run, shard, offset: None }.sit(Own::Study(part))
    }

    /// Sits down where all is as it must be.
    fn sit(mut self, own: Own<'_>) -> Result<Seat, Error> {
        self.belongs(own)?;
        // Plays of a study are by no clock.
        if self.run.of.timing().is_some() {
            self.offset = self.look_at_the_clock()?;
        }
        self.claim()?;
        Ok(self)
    }

    /// This machine's clock minus the store's, by an object that is written there.
    fn look_at_the_clock(&self) -> Result<Option<Offset>, Error> {
        let name = layout::clock(self.shard.index());
        let before = headway_live::clock::unix_now();
        let looks = Ready { host: headway_live::host::name(), at_unix_ns: before, offset_ns: None };
        self.store.put(&name, &layout::json(&looks))?;
        let after = headway_live::clock::unix_now();
        let entry = self.store.entry(&name)?;
        let offset =
            entry.map(|entry| Offset::of(before, after, entry.modified_unix_ns, self.store.resolution()));
        match offset {
            Some(offset) if self.begins_together() => self.near(offset, &self.store.place()).map(Some),
            offset => Ok(offset),
        }
    }

    /// Whether the shards begin by their machines' clocks.
    fn begins_together(&self) -> bool {
        self.run.of.start_at().is_some()
    }

    /// That offset, from what is called so, where it lets shards begin together.
    fn near(&self, offset: Offset, from: &str) -> Result<Offset, Error> {
        if offset.surely() <= REFUSED {
            return Ok(offset);
        }
        let ahead = if offset.least > Nanos::ZERO { "ahead of" } else { "behind" };
        Err(Error::usage(anyhow!(
            "the clock of this machine is at least {} {ahead} that of {from}, and the shards of a run begin by their clocks, which may be \
             {REFUSED} apart: set it (NTP)",
            Nanos(offset.surely().0 / 1_000_000 * 1_000_000),
        )))
    }

    /// What is to be known of the clocks by which the shards begin: how far this one is off the store's, or another shard's that was met, where
    /// that is surely more than 100 ms; and that it is not synchronised.
    pub(crate) fn findings(&self, met: Option<&(String, Offset)>) -> Vec<Finding> {
        let mut findings = Vec::new();
        let store = self.offset.map(|offset| (self.store.place(), offset));
        let worst = store.as_ref().into_iter().chain(met).max_by_key(|(_, offset)| offset.surely());
        if let Some((from, offset)) = worst.filter(|(_, offset)| offset.surely() > WARNED) {
            let seconds = |time: Nanos| time.as_secs_f64();
            let evidence = Evidence::ClockOff {
                from: clear(from),
                least_s: seconds(offset.least),
                most_s: seconds(offset.most),
            };
            findings.push(Finding {
                id: FindingId::ClockOff,
                severity: Severity::Warning,
                evidence: vec![evidence.into()],
                value: Some(seconds(offset.surely())),
                limit: Some(seconds(WARNED)),
                n: 1,
                ..Finding::default()
            });
        }
        if self.begins_together() && headway_live::host::synchronised().0 == Some(false) {
            findings.push(Finding {
                id: FindingId::ClockFree,
                severity: Severity::Info,
                evidence: vec![Evidence::ClockFree.into()],
                n: 1,
                ..Finding::default()
            });
        }
        findings
    }

    /// The run folder of the shard: in the destination where that is a folder, else one of its own under `headway-runs`.
    pub(crate) fn run_folder(&self, name: &str) -> Result<RunFolder, Error> {
        match self.store.folder() {
            Some(path) => Ok(RunFolder::within(&path.join(self.shard.index().to_string()))?),
            None => crate::run_folder(None, name),
        }
    }

    /// Whether the files of the run are published piece by piece.
    pub(super) fn is_remote(&self) -> bool {
        self.store.folder().is_none()
    }

    /// The name of an object of this shard.
    pub(super) fn own(&self, name: &str) -> String {
        layout::of_shard(self.shard.index(), name)
    }

    pub(super) fn read<T: for<'a> Deserialize<'a>>(&self, name: &str) -> Result<Option<T>, Error> {
        let Some(bytes) = self.store.get(name)? else { return Ok(None) };
        let place = format!("{}/{name}", self.store.place());
        layout::parse(&place, &bytes).map(Some).map_err(Error::usage)
    }

    /// The destination is of this run, or of this study: it is made that, or it was.
    fn belongs(&self, shard: Own<'_>) -> Result<(), Error> {
        let place = self.store.place();
        let (file, what) = shard.undivided();
        if self.store.entry(file)?.is_some() {
            return Err(Error::usage(anyhow!(
                "--out {place} is the folder of a {what}; with --shard it is the place of all shards: name one that is new or theirs"
            )));
        }
        let own = layout::json(&self.run);
        if self.store.put_new(layout::RUN, &own)? == Put::Made {
            // A server that says yes to everything keeps nothing.
            return match self.store.get(layout::RUN)? {
                Some(there) if there == own => Ok(()),
                _ => Err(Error::usage(anyhow!(
                    "--out {place}: what is written there cannot be read again ({}): name a store, or a bucket in one",
                    layout::RUN
                ))),
            };
        }
        // What has been taken is there, unless it was removed since.
        let Some(there) = self.read::<RunDocument>(layout::RUN)? else { return self.belongs(shard) };
        let here = &self.run;
        let differs = |what: &str, there: &dyn ToString, here: &dyn ToString| {
            let (there, here) = (there.to_string(), here.to_string());
            (there != here).then(|| (what.to_owned(), there, here))
        };
        let noun = here.of.noun();
        if there.of.noun() != noun {
            return Err(Error::usage(anyhow!(
                "--out {place} is the place of the shards of a {}, and this is a shard of a {noun}: name another place",
                there.of.noun()
            )));
        }
        let began = |of: &Whole| of.start_at().map_or("none".to_owned(), shown);
        let found = differs("schema of the destination", &there.schema, &here.schema)
            .or_else(|| differs("version of headway", &there.version, &here.version))
            .or_else(|| differs("number of shards", &there.shards, &here.shards))
            .or_else(|| differs("seed", &there.seed, &here.seed))
            .or_else(|| differs("--start-at", &began(&there.of), &began(&here.of)))
            .or_else(|| match (&there.of, &here.of) {
                (Whole::Study { points: theirs, replications: r }, Whole::Study { points, replications }) => {
                    differs("number of points", theirs, points)
                        .or_else(|| differs("number of replications", r, replications))
                }
                _ => None,
            })
            .or_else(|| (there != *here).then(|| self.differing(shard, &there)));
        match found {
            None => Ok(()),
            Some((what, there, here)) => Err(Error::usage(anyhow!(
                "--out {place} is of another {noun}: {what} is {there} there and {here} here: name another place, or the same {noun}"
            ))),
        }
    }

    /// What differs, by the file of the first shard that has left one, and its value there and here; else the fingerprints.
    fn differing(&self, own: Own<'_>, there: &RunDocument) -> (String, String, String) {
        let left =
            (0..there.shards).find_map(|i| self.store.get(&layout::of_shard(i, own.file())).ok().flatten());
        let short = |text: String| match text.char_indices().nth(200) {
            Some((end, _)) => format!("{} ...", &text[..end]),
            None => text,
        };
        match left.and_then(|bytes| own.otherwise(&bytes)) {
            Some((what, there, here)) => {
                (what.trim_start_matches("the ").to_owned(), short(there), short(here))
            }
            None => {
                let what = if self.run.of.timing().is_some() { "plan" } else { "study" };
                let [there, here] = [there, &self.run].map(|run| run.fingerprint.clone());
                (format!("fingerprint of the {what}"), there, here)
            }
        }
    }

    /// No other process plays this shard, and from now on none will.
    fn claim(&self) -> Result<(), Error> {
        let own = Claim {
            host: headway_live::host::name(),
            pid: std::process::id(),
            at_unix_ns: headway_live::clock::unix_now(),
        };
        let name = self.own(layout::CLAIM);
        if self.store.put_new(&name, &layout::json(&own))? == Put::Made {
            return Ok(());
        }
        let Some(other) = self.read::<Claim>(&name)? else { return self.claim() };
        if other == own {
            // The store made it and its response was lost.
            return Ok(());
        }
        // Played again, a study would come to the same.
        if let Whole::Run(timing) = &self.run.of {
            self.goes_on(timing, &other, own.at_unix_ns)?;
        }
        Err(NotPlayed::Superseded {
            shard: self.shard.to_string(),
            host: other.host,
            pid: other.pid,
            at: instant(other.at_unix_ns),
            again: match self.run.of {
                Whole::Run(_) => None,
                Whole::Study { .. } => Some(format!("{}/{}", self.store.place(), self.shard.index())),
            },
        }
        .into())
    }

    /// The run of these shards, one of which `other` has claimed, has not ended by its plan.
    fn goes_on(&self, timing: &Timing, other: &Claim, now_unix_ns: i128) -> Result<(), Error> {
        let zero = match timing.start_at {
            Some(StartAt::Unix(zero)) => zero,
            Some(StartAt::Barrier) => match self.read::<StartDocument>(layout::START)? {
                Some(StartDocument::Never) => {
                    return Err(Error::usage(anyhow!(
                        "--out {} holds a run whose shards did not all come: name another place",
                        self.store.place()
                    )));
                }
                Some(StartDocument::ZeroUnixNs(zero)) => zero,
                None => other.at_unix_ns,
            },
            None => other.at_unix_ns,
        };
        let ended = timing.ends_unix_ns(zero);
        if ended < now_unix_ns {
            return Err(Error::usage(anyhow!(
                "--out {} holds a run that ended at {}: name another place",
                self.store.place(),
                instant(ended)
            )));
        }
        Ok(())
    }
}

/// A shard at the barrier looks so often who is there within the interval in which it says how it stands.
const LOOKS: i64 = 8;

/// How far ahead the start lies when all are there: that each has read of it, and is ready, by then.
const AHEAD: Nanos = Nanos::from_secs(5);

impl Seat {
    /// Waits for all shards of the run, at most so long; when it begins, nanoseconds since the Unix epoch.
    ///
    /// # Errors
    /// [`NotPlayed::NotMet`] if not all have come, [`NotPlayed::Interrupted`]; [`Error::Failed`] if the store fails.
    pub(crate) fn meet(&self, longest: Nanos, control: &Control) -> Result<i128, Error> {
        let began = Instant::now();
        let longest = Duration::from_nanos(longest.0.max(0) as u64);
        let ready = Ready {
            host: headway_live::host::name(),
            at_unix_ns: headway_live::clock::unix_now(),
            offset_ns: self.offset.map(|offset| [offset.least.0, offset.most.0]),
        };
        self.store.put(&layout::ready(self.shard.index()), &layout::json(&ready))?;
        let every = Duration::from_nanos((self.store.interval().0 / LOOKS) as u64);
        loop {
            match self.read::<StartDocument>(layout::START)? {
                Some(StartDocument::Never) => {
                    return Err(self.not_met("a shard has given up".to_owned(), &self.missing()?));
                }
                Some(StartDocument::ZeroUnixNs(zero)) => return Ok(zero),
                None => {}
            }
            let missing = self.missing()?;
            let over = began.elapsed() >= longest;
            let interrupted = control.asked() > 0;
            if missing.is_empty() || over || interrupted {
                // One of them is true for all: that the run begins, or that it does not.
                let start = match missing.is_empty() && !interrupted {
                    true => StartDocument::ZeroUnixNs(headway_live::clock::unix_now() + i128::from(AHEAD.0)),
                    false => StartDocument::Never,
                };
                self.store.put_new(layout::START, &layout::json(&start))?;
                if interrupted {
                    return Err(NotPlayed::Interrupted.into());
                }
                if self.read::<StartDocument>(layout::START)? == Some(StartDocument::Never)
                    && !missing.is_empty()
                {
                    let waited = Nanos(longest.as_nanos() as i64);
                    return Err(self.not_met(format!("not all shards came within {waited}"), &missing));
                }
                continue;
            }
            thread::sleep(every.min(longest.saturating_sub(began.elapsed())));
        }
    }

    /// Of the first shards that came to the barrier, up to 64 (in a bucket 8, for each is a request that takes its time), the machine whose clock is the farthest from this one's, and this one's minus that.
    ///
    /// # Errors
    /// The store fails, or a clock is surely too far off.
    pub(crate) fn farthest(&self) -> Result<Option<(String, Offset)>, Error> {
        let most = if self.is_remote() { 8 } else { 64 };
        let Some(own) = self.offset else { return Ok(None) };
        let mut farthest: Option<(String, Offset)> = None;
        for i in (0..self.shard.count().min(most)).filter(|i| *i != self.shard.index()) {
            let Some(ready) = self.read::<Ready>(&layout::ready(i))? else { continue };
            let Some([least, most]) = ready.offset_ns else { continue };
            let theirs = Offset { least: Nanos(least), most: Nanos(most) };
            let off =
                self.near(own.minus(theirs), &format!("{} (shard {i}/{})", ready.host, self.shard.count()))?;
            if farthest.as_ref().is_none_or(|(_, before)| before.surely() < off.surely()) {
                farthest = Some((ready.host, off));
            }
        }
        Ok(farthest)
    }

    /// The shards that have not come to the barrier.
    fn missing(&self) -> Result<Vec<u32>, Error> {
        let here: HashSet<String> =
            self.store.list(layout::READY)?.into_iter().map(|entry| entry.name).collect();
        Ok((0..self.shard.count()).filter(|i| !here.contains(&layout::ready(*i))).collect())
    }

    fn not_met(&self, why: String, missing: &[u32]) -> Error {
        let missing = missing.iter().map(|i| format!("{i}/{}", self.shard.count())).collect();
        NotPlayed::NotMet { why, missing }.into()
    }
}

/// A start as people read it.
fn shown(start: StartAt) -> String {
    match start {
        StartAt::Unix(at) => instant(at),
        StartAt::Barrier => start.to_string(),
    }
}

/// An instant as people read it: RFC 3339.
pub(crate) fn instant(unix_ns: i128) -> String {
    jiff::Timestamp::from_nanosecond(unix_ns).map_or_else(|_| format!("{unix_ns} ns"), |at| at.to_string())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::RunSpec;
    use crate::destination::Entry;
    use crate::destination::folder::Folder;
    use headway_base::Rate;
    use headway_workload::{Plan, Process};
    use std::path::Path;

    pub(in super::super) fn plan(seed: u64, rate: f64, shard: Shard) -> Plan {
        let none = Nanos::ZERO;
        let plan = Plan::ramp_and_hold(seed, Process::Poisson, Rate(rate), none, none, Nanos::from_secs(10));
        Plan { shard, ..plan }
    }

    fn manifest(plan: Plan) -> Manifest {
        Manifest::new(&RunSpec::new("test", plan, 4), Some(&"http://127.0.0.1:9/".into()), None, 0)
    }

    fn shard(i: u32) -> Shard {
        Shard::new(i, 3).unwrap()
    }

    fn take(place: &Path, plan: Plan, start: Option<StartAt>) -> Result<Seat, Error> {
        let shard = plan.shard;
        let address = Address::Folder(place.to_owned());
        Seat::of_run(&address, &manifest(plan), shard, start, &Control::default(), |_| {})
    }

    fn refused(taken: Result<Seat, Error>) -> String {
        match taken {
            Err(Error::Usage(error)) => format!("{error:#}"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn shards_of_one_run_share_a_place_and_others_are_refused_with_both_values() {
        let place = tempfile::tempdir().unwrap();
        let place = place.path().join("run");
        let noon = StartAt::Unix(4_102_488_000_000_000_000);
        for i in [1, 0] {
            take(&place, plan(7, 100.0, shard(i)), Some(noon)).unwrap();
        }
        let four = Plan { shard: Shard::new(2, 4).unwrap(), ..plan(7, 100.0, shard(2)) };
        let later = StartAt::Unix(4_102_488_060_000_000_000);
        for (other, start, told) in [
            (plan(8, 100.0, shard(2)), Some(noon), "seed is 7 there and 8 here"),
            (four, Some(noon), "number of shards is 3 there and 4 here"),
            (
                plan(7, 100.0, shard(2)),
                Some(later),
                "--start-at is 2100-01-01T12:00:00Z there and 2100-01-01T12:01:00Z here",
            ),
            (plan(7, 100.0, shard(2)), None, "--start-at is 2100-01-01T12:00:00Z there and none here"),
            (
                plan(7, 100.0, shard(2)),
                Some(StartAt::Barrier),
                "--start-at is 2100-01-01T12:00:00Z there and barrier here",
            ),
            (plan(7, 200.0, shard(2)), Some(noon), "fingerprint of the plan is "),
        ] {
            let why = refused(take(&place, other, start));
            assert!(why.contains(told) && why.contains("is of another run"), "{why}");
        }
        // Where a shard has left its plan, what differs is named.
        let folder = Folder::new(&place);
        folder.put("0/plan.json", &manifest(plan(7, 100.0, shard(0))).json().unwrap()).unwrap();
        let why = refused(take(&place, plan(7, 200.0, shard(2)), Some(noon)));
        assert!(why.contains("list of phases is ") && why.contains("200"), "{why}");
        let text = String::from_utf8(folder.get(layout::RUN).unwrap().unwrap()).unwrap();
        folder.put(layout::RUN, text.replace(env!("CARGO_PKG_VERSION"), "0.0.9").as_bytes()).unwrap();
        let why = refused(take(&place, plan(7, 100.0, shard(2)), Some(noon)));
        assert!(why.contains("version of headway is 0.0.9 there and "), "{why}");
        folder.put(layout::RUN, b"{}").unwrap();
        let why = refused(take(&place, plan(7, 100.0, shard(2)), Some(noon)));
        assert!(why.contains("run.json is not a document of a destination"), "{why}");
        assert_eq!(folder.entry("2/claim.json").unwrap(), None, "whoever is refused leaves no claim");
    }

    #[test]
    fn a_shard_is_played_once() {
        let place = tempfile::tempdir().unwrap();
        take(place.path(), plan(7, 100.0, shard(2)), None).unwrap();
        match take(place.path(), plan(7, 100.0, shard(2)), None) {
            Err(Error::NotPlayed(NotPlayed::Superseded { shard, host, pid, .. })) => {
                assert_eq!((&*shard, host), ("2/3", headway_live::host::name()));
                assert_eq!(pid, std::process::id());
            }
            other => panic!("{other:?}"),
        }
        // The plan of 10 s and the time-out of 30 s are over.
        let folder = Folder::new(place.path());
        let long_ago = Claim { host: "a".into(), pid: 1, at_unix_ns: 1_764_072_000_000_000_000 };
        folder.put("2/claim.json", &layout::json(&long_ago)).unwrap();
        let why = refused(take(place.path(), plan(7, 100.0, shard(2)), None));
        assert!(why.contains("holds a run that ended at 2025-11-25T12:00:40Z"), "{why}");
        // A shard that has not been played yet is.
        take(place.path(), plan(7, 100.0, shard(1)), None).unwrap();
    }

    /// Each shard in a thread of its own, with how long it waits; what each came to.
    fn meeting(place: &Path, shards: &[(u32, Nanos)], control: &Control) -> Vec<Result<i128, Error>> {
        thread::scope(|scope| {
            let meet = |&(i, longest): &(u32, Nanos)| {
                scope.spawn(move || {
                    take(place, plan(7, 100.0, shard(i)), Some(StartAt::Barrier))?.meet(longest, control)
                })
            };
            let all: Vec<_> = shards.iter().map(meet).collect();
            all.into_iter().map(|one| one.join().unwrap()).collect()
        })
    }

    #[test]
    fn shards_that_meet_begin_at_one_instant_ahead() {
        let place = tempfile::tempdir().unwrap();
        let minute = Nanos::from_secs(60);
        let before = headway_live::clock::unix_now();
        let met = meeting(place.path(), &[(2, minute), (0, minute), (1, minute)], &Control::default());
        let zeros: Vec<i128> = met.into_iter().map(Result::unwrap).collect();
        assert!(zeros.iter().all(|zero| *zero == zeros[0]), "{zeros:?}");
        let after = headway_live::clock::unix_now();
        let ahead = i128::from(AHEAD.0);
        assert!((before + ahead..=after + ahead).contains(&zeros[0]), "{zeros:?}");
    }

    #[test]
    fn who_does_not_come_is_named_and_none_begins() {
        let place = tempfile::tempdir().unwrap();
        let (short, long) = (Nanos::from_secs(2), Nanos::from_secs(60));
        let met = meeting(place.path(), &[(0, short), (2, long)], &Control::default());
        let why: Vec<String> = met.into_iter().map(|one| one.unwrap_err().to_string()).collect();
        assert!(why[0].contains("not all shards came within 2s; missing: 1/3: nothing was sent"), "{why:?}");
        // It waits no longer for what will not be.
        assert!(why[1].contains("a shard has given up; missing: 1/3"), "{why:?}");
        let late =
            meeting(place.path(), &[(1, long)], &Control::default()).remove(0).unwrap_err().to_string();
        assert!(late.contains("a shard has given up: nothing was sent"), "{late}");
        let why = refused(take(place.path(), plan(7, 100.0, shard(0)), Some(StartAt::Barrier)));
        assert!(why.contains("holds a run whose shards did not all come"), "{why}");
    }

    #[test]
    fn an_interrupt_ends_the_wait_of_all() {
        let place = tempfile::tempdir().unwrap();
        let control = Control::default();
        control.stop();
        let met = meeting(place.path(), &[(0, Nanos::from_secs(60))], &control).remove(0);
        assert!(matches!(met, Err(Error::NotPlayed(NotPlayed::Interrupted))), "{met:?}");
        let other = meeting(place.path(), &[(1, Nanos::from_secs(60))], &Control::default()).remove(0);
        assert!(other.unwrap_err().to_string().contains("a shard has given up; missing: 2/3"));
    }

    /// A folder whose clock is so far behind this machine's, and rounds to a second.
    #[derive(Debug)]
    struct Behind(Folder, Nanos);

    impl Store for Behind {
        fn place(&self) -> String {
            self.0.place()
        }
        fn put_new(&self, name: &str, bytes: &[u8]) -> Result<Put, StoreError> {
            self.0.put_new(name, bytes)
        }
        fn put(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
            self.0.put(name, bytes)
        }
        fn get(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
            self.0.get(name)
        }
        fn entry(&self, name: &str) -> Result<Option<Entry>, StoreError> {
            let shifted = |entry: Entry| {
                let modified = entry.modified_unix_ns - i128::from(self.1.0);
                Entry { modified_unix_ns: modified.div_euclid(1_000_000_000) * 1_000_000_000, ..entry }
            };
            Ok(self.0.entry(name)?.map(shifted))
        }
        fn list(&self, under: &str) -> Result<Vec<Entry>, StoreError> {
            self.0.list(under)
        }
        fn resolution(&self) -> Nanos {
            Nanos::from_secs(1)
        }
        fn interval(&self) -> Nanos {
            self.0.interval()
        }
    }

    /// Sits down where the store's clock is so far behind.
    fn sit(place: &Path, i: u32, behind: Nanos, start: Option<StartAt>) -> Result<Seat, Error> {
        let own = manifest(plan(7, 100.0, shard(i)));
        let plain = take(place, plan(7, 100.0, shard(i)), start)?;
        std::fs::remove_file(place.join(format!("{i}/claim.json"))).unwrap();
        let store = Arc::new(Behind(Folder::new(place), behind));
        Seat { store, offset: None, ..plain }.sit(Own::Run(&own))
    }

    #[test]
    fn a_clock_that_is_surely_off_is_told_of_and_one_that_is_far_off_is_refused() {
        let start = Some(StartAt::Unix(4_102_488_000_000_000_000));
        // The store rounds to a second: 50 ms are surely nothing, 3 s more than 1, and 9 s more than 5.
        for (behind, told) in [(0, false), (50, false), (3_000, true), (-3_000, true)] {
            let place = tempfile::tempdir().unwrap();
            let seat = sit(place.path(), 0, Nanos::from_millis(behind), start).unwrap();
            let findings = seat.findings(None);
            let found: Vec<&Finding> =
                findings.iter().filter(|finding| finding.id == FindingId::ClockOff).collect();
            assert_eq!(found.len(), usize::from(told), "{behind} ms: {findings:?}");
            for finding in found {
                let surely = finding.value.unwrap();
                assert!((1.0..=3.1).contains(&surely), "{behind} ms: {surely} s");
            }
        }
        for (behind, told) in [(9_000, "ahead of"), (-9_000, "behind")] {
            let place = tempfile::tempdir().unwrap();
            let why = refused(sit(place.path(), 0, Nanos::from_millis(behind), start));
            assert!(
                why.contains(&format!(" {told} that of ")) && why.contains("which may be 5s apart"),
                "{why}"
            );
            assert!(!place.path().join("0/claim.json").exists(), "another process may play the shard");
            // Each by itself, they do not begin together.
            let place = tempfile::tempdir().unwrap();
            sit(place.path(), 0, Nanos::from_millis(behind), None).unwrap();
        }
    }

    #[test]
    fn clocks_of_shards_that_meet_are_compared() {
        let met = |others: i64| {
            let place = tempfile::tempdir().unwrap();
            let start = Some(StartAt::Barrier);
            let seat = sit(place.path(), 0, Nanos::ZERO, start).unwrap();
            let ready = |i: u32, off: Nanos| {
                let offset_ns = Some([off.0 - 50_000_000, off.0 + 50_000_000]);
                let ready = Ready { host: format!("host-{i}"), at_unix_ns: 0, offset_ns };
                seat.store.put(&layout::ready(i), &layout::json(&ready)).unwrap();
            };
            ready(1, Nanos::ZERO);
            ready(2, Nanos::from_millis(others));
            seat.farthest().map(|farthest| (seat.findings(farthest.as_ref()), farthest.unwrap()))
        };
        let (findings, _) = met(20).unwrap();
        assert!(findings.iter().all(|finding| finding.id != FindingId::ClockOff), "{findings:?}");
        for others in [-3_000, 3_000] {
            let (findings, (host, off)) = met(others).unwrap();
            assert_eq!(host, "host-2");
            // A second of the store, 50 ms of the other, and what writing took are not sure.
            assert!(
                (Nanos::from_millis(1_000)..=Nanos::from_millis(3_100)).contains(&off.surely()),
                "{off:?}"
            );
            assert!(findings.iter().any(|finding| finding.id == FindingId::ClockOff), "{findings:?}");
        }
        let why = met(9_000).unwrap_err().to_string();
        assert!(why.contains("behind that of host-2 (shard 2/3)"), "{why}");
    }

    #[test]
    fn the_folder_of_a_single_run_is_no_place_for_shards() {
        let place = tempfile::tempdir().unwrap();
        Folder::new(place.path()).put("plan.json", b"{}").unwrap();
        let why = refused(take(place.path(), plan(7, 100.0, shard(0)), None));
        assert!(why.contains("is the folder of a single run"), "{why}");
    }
}
