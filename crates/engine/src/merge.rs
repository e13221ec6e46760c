//! The shards of one run become one run: their logs merged, the union held to the plan, one summary of all records.
//!
//! Runs are merged only if they are parts of one plan; two runs of a plan are compared, not merged. Deliberately absent:
//! what machines said of themselves beyond their summaries' blocks, and departures, which no log holds.

pub mod destination;
mod held;
mod pass;
#[cfg(test)]
mod tests;

use crate::destination::StoreError;
use crate::destination::layout::Done;
use crate::manifest::{Apart, Manifest};
use crate::recompute::{Told, cut_short};
use headway_base::record::Trigger;
use headway_base::{Kind, Nanos, Record};
use headway_records::{By, Limits, LogReader, Merge, RunFolder, metadata};
use headway_stats::summary::evidence::{LostShard, Run as RunEvidence, ShortShard};
use headway_stats::summary::{
    Finding, FindingId, Generator, LoadVerdict, Severity, ShardCoverage, ShardLog, Stall, Strays,
};
use headway_stats::{Summary, Threshold};
use headway_workload::arrivals::Arrival;
use headway_workload::{Plan, Shard};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Zeros of the shards' plans which differ by at most this are one zero: machines read a common start from clocks of their own.
pub const SAME_ZERO: Nanos = Nanos::from_millis(1);

/// Why runs are not merged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// It is a whole run.
    #[error("{}: a whole run, not a shard: `headway report` shows it. Runs of one plan are compared, not merged", .0.display())]
    NotAShard(PathBuf),
    /// Two folders hold one shard.
    #[error("{} and {}: both are shard {shard}", .one.display(), .other.display())]
    Twice {
        /// The first folder.
        one: PathBuf,
        /// The second.
        other: PathBuf,
        /// The shard, `i/N`.
        shard: String,
    },
    /// They are parts of different plans.
    #[error("{} and {}: {what} differs ({first} and {second}): these are shards of different runs", .one.display(), .other.display())]
    OtherPlan {
        /// The first folder.
        one: PathBuf,
        /// The second.
        other: PathBuf,
        /// What differs.
        what: &'static str,
        /// In the first.
        first: String,
        /// In the second.
        second: String,
    },
    /// A record that the plan does not have.
    #[error(
        "{}: arrival {k} was due at {intended}, and the plan of shard {shard} has {planned}: this log is not of this plan", .run.display()
    )]
    NotOfThePlan {
        /// The folder.
        run: PathBuf,
        /// The shard, `i/N`.
        shard: String,
        /// Number of the arrival.
        k: u64,
        /// When the record says it was due.
        intended: Nanos,
        /// What the plan has next.
        planned: String,
    },
    /// The zero of the plan is not the one that the log was written with.
    #[error(
        "{}: zero_unix_ns in plan.json is {plan}, and the log beside it says {log}: one of them was changed, or is of another shard", .run.display()
    )]
    OtherZero {
        /// The folder.
        run: PathBuf,
        /// In plan.json, nanoseconds since the Unix epoch.
        plan: i64,
        /// In the log.
        log: String,
    },
    /// No destination is there.
    #[error("{place}: {why}; name the destination that shards had as --out, or their folders")]
    NotADestination {
        /// What was named.
        place: String,
        /// What is there in its place.
        why: &'static str,
    },
    /// A document that says what shards are of, and means none that this version merges.
    #[error(
        "{place}: schema {schema}, {shards} shards; accepted: schema {} and 1 to 65,536 shards",
        crate::destination::layout::SCHEMA
    )]
    NotARun {
        /// The document.
        place: String,
        /// Its schema.
        schema: String,
        /// The number of shards.
        shards: u32,
    },
    /// The run, or the study, has another number of shards than is expected.
    #[error("--expect {expected}: the {whole} in {place} has {found} shards")]
    OtherCount {
        /// `run` or `study`.
        whole: &'static str,
        /// The destination, or the first folder of a shard.
        place: String,
        /// What was given.
        expected: u32,
        /// How many there are.
        found: u32,
    },
    /// A shard is there that the run, or the study, does not have.
    #[error("{place}/{index}: the {whole} in {place} has {count} shards, 0 to {}: this one is of another {whole}", count - 1)]
    Beyond {
        /// `run` or `study`.
        whole: &'static str,
        /// The destination.
        place: String,
        /// Number of the shard.
        index: u32,
        /// How many there are.
        count: u32,
    },
    /// A shard in a destination is of another run, or study, than that.
    #[error("{}: {what} is {of_shard}, and {there} in run.json beside it: a shard of another {whole} is in this destination", .shard.display())]
    OtherDestination {
        /// `run` or `study`.
        whole: &'static str,
        /// Its folder.
        shard: PathBuf,
        /// What differs.
        what: &'static str,
        /// In the destination.
        there: String,
        /// In the shard.
        of_shard: String,
    },
    /// A log, or a file of plays, is not what its shard left.
    #[error(
        "{}: it has {found} {what}, and done.json beside it says {said}: it was changed, or is not all here yet", .log.display()
    )]
    NotAsDone {
        /// The log.
        log: PathBuf,
        /// What differs: `rows` or `bytes`.
        what: &'static str,
        /// How many there are.
        found: u64,
        /// How many there should be.
        said: u64,
    },
    /// No shard has left anything to be merged.
    #[error("{place}: none of the {count} shards of the {whole} has left {what}")]
    NothingLeft {
        /// `run` or `study`.
        whole: &'static str,
        /// The destination.
        place: String,
        /// How many shards there are.
        count: u32,
        /// What there would be: `records` or `plays`.
        what: &'static str,
    },
    /// The store of the destination refuses or fails.
    #[error(transparent)]
    Store(StoreError),
    /// A folder, a manifest or a log cannot be read.
    #[error(transparent)]
    Unreadable(anyhow::Error),
    /// The merged run cannot be written.
    #[error(transparent)]
    Unwritable(anyhow::Error),
}

/// A shard which is not there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MissingShard {
    /// Which, `i/N`.
    pub shard: String,
    /// Sessions or requests that were to arrive at it; none where the plan has no arrivals.
    pub planned: Option<u64>,
}

/// What was merged.
#[derive(Debug)]
pub struct Merged {
    /// The summary of all records together; its `shards` say what there is of each, and what is missing.
    pub summary: Summary,
}

impl Merged {
    /// How many shards are missing, or lack records.
    pub fn incomplete(&self) -> usize {
        self.summary.shards.iter().filter(|shard| shard.is_incomplete()).count()
    }
}

/// The shards of one run, checked to belong together.
#[derive(Debug)]
pub struct Shards {
    runs: Vec<Run>,
    plan: Plan,
    /// Numbers of the shards of a destination that have left no log, with the machines that had taken them.
    absent: Vec<(u32, Option<String>)>,
    /// Where the folders are that were fetched; kept until they are merged.
    _fetched: Option<TempDir>,
}

#[derive(Debug)]
struct Run {
    folder: RunFolder,
    /// Where it is for people: the folder, or what it was fetched from.
    place: PathBuf,
    manifest: Manifest,
    shard: Shard,
    summary: Option<Summary>,
    /// When it was stopped before its plan had ended, by the end mark of its log or by its summary.
    stopped_at: Option<Nanos>,
    /// What a destination knows of it; none of a run folder that was named itself.
    played: Option<Played>,
}

/// What a destination knows of a shard.
#[derive(Debug)]
struct Played {
    /// The machine.
    host: Option<String>,
    /// What it said when it had ended.
    done: Option<Done>,
}

/// What the log of a shard holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Tally {
    /// Arrivals that its plan has.
    planned: u64,
    /// Those that left no record.
    without_record: u64,
    /// Rows.
    rows: u64,
    /// Requests that were sent.
    sent: u64,
    /// Requests in the measured phase of the shard,
    measured: u64,
    /// those of them that are not in the merged run's,
    outside: u64,
    /// and arrivals of the plan that the shard's has more than it has there.
    lacking: i64,
}

impl Tally {
    /// Takes a row that the shard places at `own` and the merged run at `merged`.
    fn count(&mut self, row: &Record, own: Nanos, merged: Nanos, measured: &Range<Nanos>) {
        self.rows += 1;
        if row.kind != Kind::Request {
            return;
        }
        self.sent += u64::from(row.sent.is_some());
        let (here, there, n) = (measured.contains(&own), measured.contains(&merged), row.count);
        self.measured += if here { u64::from(n) } else { 0 };
        self.outside += if here && !there { u64::from(n) } else { 0 };
        if row.due == Trigger::Arrival && row.attempt == 0 {
            self.lacking += (i64::from(here) - i64::from(there)) * i64::from(n);
        }
    }
}

/// The measured phase, as the statistics have it.
fn measured(plan: &Plan) -> Range<Nanos> {
    plan.measured_from..plan.end() + Nanos(1)
}

impl Shards {
    /// Reads what the run folders at `paths` say of themselves; their records are read by [`merge`](Shards::merge).
    ///
    /// # Errors
    /// A folder is no run, is a whole run, or does not belong to the others.
    pub fn open(paths: &[PathBuf]) -> Result<Shards, Error> {
        let mut runs = Vec::with_capacity(paths.len());
        for path in paths {
            runs.push(Run::open(path)?);
        }
        Shards::of(runs, Vec::new())
    }

    /// The shards of one run, whose folders have been read.
    fn of(mut runs: Vec<Run>, absent: Vec<(u32, Option<String>)>) -> Result<Shards, Error> {
        runs.sort_by_key(|run| run.shard.index());
        for pair in runs.windows(2) {
            pair[0].belongs_to(&pair[1])?;
        }
        let first =
            runs.first().ok_or_else(|| Error::Unreadable(anyhow::anyhow!("no run folder is named")))?;
        let at = first.folder.plan();
        let plan = first.manifest.plan_beside(&at).map_err(Error::Unreadable)?;
        if plan.lacks_instants() {
            let path = at.with_file_name(headway_records::folder::ARRIVALS);
            return Err(Error::Unreadable(anyhow::anyhow!(
                "{} is not there: it holds the instants of the plan, to which the records are held",
                path.display()
            )));
        }
        Ok(Shards { runs, plan, absent, _fetched: None })
    }

    /// How many shards the run has, those that are missing included.
    pub fn count(&self) -> u32 {
        self.runs[0].shard.count()
    }

    /// A short name of the run.
    pub fn name(&self) -> &str {
        &self.runs[0].manifest.name
    }

    fn logs(&self) -> Vec<PathBuf> {
        self.runs.iter().map(|run| run.folder.records()).collect()
    }

    /// Refuses a run of another number of shards than is expected.
    ///
    /// # Errors
    /// [`Error::OtherCount`].
    pub fn expect(&self, expected: Option<u32>) -> Result<(), Error> {
        counted(expected, self.count(), "run", || self.runs[0].place.display().to_string())
    }

    /// The thresholds that the run was given.
    ///
    /// # Errors
    /// One that this version does not read.
    pub fn thresholds(&self) -> anyhow::Result<Vec<Threshold>> {
        Ok(headway_stats::thresholds::of_plan(&self.runs[0].manifest.asked)?)
    }

    /// Merges them into `out`, an empty run folder: log, manifest and summary. Each record is held to the plan. After an error the
    /// folder is as it was.
    ///
    /// # Errors
    /// A log cannot be read or holds an arrival that its plan does not have; the folder cannot be written.
    pub fn merge(self, out: &RunFolder) -> Result<Merged, Error> {
        self.merge_within(out, Limits { same_zero: SAME_ZERO, ..Limits::default() })
    }

    fn merge_within(self, out: &RunFolder, limits: Limits) -> Result<Merged, Error> {
        let mut manifest = self.manifest();
        let thresholds = self.thresholds().map_err(Error::Unreadable)?;
        let pass::Passed { mut summary, truncated, tallies, apart } =
            pass::merge(&self, out, limits, &manifest, &thresholds)?;
        manifest.apart = apart;
        let document = manifest.json().map_err(Error::Unwritable)?;
        let written = out.write_new(headway_records::folder::PLAN, &document);
        written.map_err(unwritable)?;
        if let Some(bytes) = crate::manifest::arrivals(&self.plan) {
            out.write_new(headway_records::folder::ARRIVALS, &bytes).map_err(unwritable)?;
        }
        for run in self.runs.iter().filter(|run| truncated.contains(&run.folder.records())) {
            summary.verdict.findings.push(cut_short(&run.place));
        }
        summary.shards = self.coverage(&tallies, &truncated, &missing(&self.plan, &manifest.shards));
        let short: Vec<ShortShard> = summary.shards.iter().filter_map(short).collect();
        if !short.is_empty() {
            let n = short.iter().map(|shard| shard.n).sum();
            incomplete(&mut summary, n, RunEvidence::MissingRecords { n, shards: short });
        }
        Ok(Merged { summary })
    }

    /// What there is of each shard, by number.
    fn coverage(
        &self,
        tallies: &[Tally],
        truncated: &[PathBuf],
        missing: &[MissingShard],
    ) -> Vec<ShardCoverage> {
        let arrives = held::arriving(&self.plan).contains(&true);
        let here = self.runs.iter().zip(tallies).map(|(run, tally)| {
            let cut_short = truncated.contains(&run.folder.records());
            let coverage = ShardCoverage {
                shard: run.shard.to_string(),
                host: run.played.as_ref().and_then(|played| played.host.clone()),
                planned: arrives.then_some(tally.planned),
                sent: tally.sent,
                records: tally.rows,
                without_record: tally.without_record,
                log: if cut_short { ShardLog::CutShort } else { ShardLog::Complete },
                done: run.played.as_ref().map(|played| played.done.is_some()),
            };
            (run.shard.index(), coverage)
        });
        let lost = missing.iter().map(|lost| {
            let index = Shard::parse(&lost.shard).map_or(0, Shard::index);
            let taken = self.absent.iter().find(|(absent, _)| *absent == index);
            let coverage = ShardCoverage {
                shard: lost.shard.clone(),
                host: taken.and_then(|(_, host)| host.clone()),
                planned: lost.planned,
                without_record: lost.planned.unwrap_or(0),
                log: ShardLog::Missing,
                done: taken.map(|_| false),
                ..ShardCoverage::default()
            };
            (index, coverage)
        });
        let mut all: Vec<(u32, ShardCoverage)> = here.chain(lost).collect();
        all.sort_by_key(|(index, _)| *index);
        all.into_iter().map(|(_, coverage)| coverage).collect()
    }

    /// The manifest of the run that they are together.
    fn manifest(&self) -> Manifest {
        let first = &self.runs[0].manifest;
        let sum = |of: fn(&Manifest) -> Option<u64>| self.runs.iter().map(|run| of(&run.manifest)).sum();
        let mut asked = first.asked.clone();
        asked.shard = None;
        asked.connections = sum(|m| m.asked.connections);
        asked.threads = sum(|m| m.asked.threads.map(u64::from)).and_then(|n: u64| u32::try_from(n).ok());
        let here: Vec<String> = self.runs.iter().map(|run| run.shard.to_string()).collect();
        let whole = here.len() == self.runs[0].shard.count() as usize;
        Manifest {
            plan: headway_workload::plan::Document { shard: Shard::WHOLE.to_string(), ..first.plan.clone() },
            asked,
            shards: if whole { Vec::new() } else { here },
            apart: self.apart(),
            ..first.clone()
        }
    }

    pub(crate) fn told(&self) -> Told {
        let summaries = self.runs.iter().filter_map(|run| run.summary.as_ref());
        Told {
            generator: self.generator(),
            reasons: summaries.map(|s| s.failure_reasons.clone()).collect(),
            ..Told::default()
        }
    }

    /// How the machines fared, together; none if one of them left no summary.
    fn generator(&self) -> Option<Generator> {
        let blocks: Option<Vec<&Generator>> =
            self.runs.iter().map(|run| run.summary.as_ref().and_then(|s| s.generator.as_ref())).collect();
        let mut all = Generator::default();
        for block in blocks? {
            let before = all.workers.len() as u32;
            all.workers.extend_from_slice(&block.workers);
            all.stalls.extend(
                block.stalls.iter().map(|stall| Stall { worker: stall.worker + before, ..stall.clone() }),
            );
            add(&mut all.steal_s, block.steal_s);
            add(&mut all.cap_hits, block.cap_hits);
            add(&mut all.connections_opened, block.connections_opened);
            add(&mut all.surplus, block.surplus);
            // The slowest machine's, and a target on the machine of one is on the machine of a part.
            all.send_cost_s = [all.send_cost_s, block.send_cost_s].into_iter().flatten().reduce(f64::max);
            all.same_host_as_target = all.same_host_as_target.max(block.same_host_as_target);
            for (protocol, n) in &block.protocols {
                *all.protocols.entry(protocol.clone()).or_default() += n;
            }
            if let Some(names) = &block.names {
                all.names.get_or_insert_default().add(names);
            }
            if let Some(strays) = &block.datagrams {
                join(all.datagrams.get_or_insert_default(), strays);
            }
            for (what, n) in &block.lacked {
                *all.lacked.entry(what.clone()).or_default() += n;
            }
        }
        Some(all)
    }

    /// How the shards began, if not together; what lies outside is known after their records.
    fn apart(&self) -> Option<Apart> {
        let behind = self.runs.iter().map(|run| (run.shard.to_string(), self.behind(run).0));
        let behind_ns: BTreeMap<String, i64> = behind.collect();
        let apart = Apart { behind_ns, ..Apart::default() };
        (apart.spread()? > SAME_ZERO).then_some(apart)
    }

    /// When the merged run was stopped before its plan had ended: where all shards that are here were, and then when they were on
    /// average.
    fn stopped_at(&self, limits: Limits) -> Option<Nanos> {
        let stop = |run: &Run| Some(run.stopped_at? + self.moved(run, limits));
        headway_records::stop_of_all(&self.runs.iter().map(stop).collect::<Vec<_>>())
    }

    /// From when on nothing of that shard's plan is looked for: from its own stop, where the run was stopped.
    fn until(&self, run: &Run, limits: Limits) -> Nanos {
        self.stopped_at(limits).and(run.stopped_at).unwrap_or(Nanos::MAX)
    }

    /// How far the records of that shard are moved in the merged run.
    fn moved(&self, run: &Run, limits: Limits) -> Nanos {
        let behind = self.behind(run);
        if Nanos(behind.0.abs()) <= limits.same_zero { Nanos::ZERO } else { behind }
    }

    /// What the log of that shard holds, found in a pass of its own.
    fn held_alone(&self, run: &Run, limits: Limits) -> Result<Tally, Error> {
        run.held_to(&self.plan, self.moved(run, limits), self.until(run, limits))
    }

    /// How far the zero of that shard is behind that of the merged run, which is the first one's.
    fn behind(&self, run: &Run) -> Nanos {
        Nanos(run.manifest.zero_unix_ns - self.runs[0].manifest.zero_unix_ns)
    }
}

/// Refuses another number of shards than is expected.
pub(crate) fn counted(
    expected: Option<u32>,
    found: u32,
    whole: &'static str,
    place: impl FnOnce() -> String,
) -> Result<(), Error> {
    match expected.filter(|&expected| expected != found) {
        Some(expected) => Err(Error::OtherCount { whole, place: place(), expected, found }),
        None => Ok(()),
    }
}

fn add<T: Copy + std::ops::Add<Output = T>>(sum: &mut Option<T>, more: Option<T>) {
    *sum = match (*sum, more) {
        (Some(a), Some(b)) => Some(a + b),
        (a, b) => a.or(b),
    };
}

fn unwritable(error: headway_records::Error) -> Error {
    Error::Unwritable(error.into())
}

/// A shard that is there and lacks records of planned arrivals.
fn short(shard: &ShardCoverage) -> Option<ShortShard> {
    let is_short = shard.log != ShardLog::Missing && shard.without_record > 0;
    let (name, n, planned) = (shard.shard.clone(), shard.without_record, shard.planned.unwrap_or(0));
    is_short.then_some(ShortShard { shard: name, n, planned })
}

/// The shards of the plan that are not among those `here`; none if `here` is empty.
pub(crate) fn missing(plan: &Plan, here: &[String]) -> Vec<MissingShard> {
    let count = here.first().and_then(|shard| Shard::parse(shard).ok()).map_or(0, Shard::count);
    let all = (0..count).filter_map(|index| Shard::new(index, count).ok());
    let lost: Vec<Shard> = all.filter(|shard| !here.contains(&shard.to_string())).collect();
    let known = !plan.lacks_instants() && plan.groups.iter().any(|group| group.arrives());
    let planned = (known && !lost.is_empty()).then(|| plan.arrivals_of_each(count));
    let of = |shard: &Shard| MissingShard {
        shard: shard.to_string(),
        planned: planned.as_ref().map(|planned| planned[shard.index() as usize]),
    };
    lost.iter().map(of).collect()
}

/// Says in the summary of what these shards are missing.
pub(crate) fn say_missing(summary: &mut Summary, missing: &[MissingShard]) {
    if missing.is_empty() {
        return;
    }
    let lost = |lost: &MissingShard| LostShard { shard: lost.shard.clone(), planned: lost.planned };
    let planned = missing.iter().filter_map(|lost| lost.planned).sum();
    let shards = missing.iter().map(lost).collect();
    incomplete(summary, planned, RunEvidence::MissingShards { n: planned, shards });
}

/// What was not seen may have been sent or not: a load of which records are missing is not shown to be VALID.
fn incomplete(summary: &mut Summary, n: u64, evidence: RunEvidence) {
    if summary.verdict.load == Some(LoadVerdict::Valid) {
        summary.verdict.load = Some(LoadVerdict::Inconclusive);
    }
    let finding = Finding {
        id: FindingId::RecordsMissing,
        severity: Severity::Error,
        evidence: vec![evidence.into()],
        value: Some(n as f64),
        n: summary.measured.n,
        ..Finding::default()
    };
    summary.verdict.findings.insert(0, finding);
}

impl Run {
    fn open(path: &Path) -> Result<Run, Error> {
        let folder = RunFolder::open(path).map_err(|error| Error::Unreadable(error.into()))?;
        let manifest = Manifest::read(&folder.plan()).map_err(Error::Unreadable)?;
        let shard = Shard::parse(&manifest.plan.shard).map_err(|error| Error::Unreadable(error.into()))?;
        if shard.count() == 1 {
            return Err(Error::NotAShard(path.to_owned()));
        }
        // What there is of the log is read later, and what is wrong with it said then.
        let log = LogReader::open(&folder.records()).ok();
        let said = log.as_ref().and_then(|log| log.metadata().get(metadata::ZERO_UNIX_NS));
        if let Some(log) = said.filter(|said| **said != manifest.zero_unix_ns.to_string()) {
            let (run, plan, log) = (path.to_owned(), manifest.zero_unix_ns, log.clone());
            return Err(Error::OtherZero { run, plan, log });
        }
        let summary = std::fs::read(folder.summary()).ok().and_then(|text| headway_report::parse(&text).ok());
        let marked = log.as_ref().and_then(LogReader::stopped_at);
        let stopped_at = marked.or_else(|| summary.as_ref().and_then(Told::stopped));
        let place = path.to_owned();
        Ok(Run { folder, place, manifest, shard, summary, stopped_at, played: None })
    }

    fn belongs_to(&self, other: &Run) -> Result<(), Error> {
        let paths = || (self.place.clone(), other.place.clone());
        let count = |run: &Run| ("the number of shards", run.shard.count().to_string());
        let all = |run: &Run| std::iter::once(count(run)).chain(run.manifest.in_common());
        let differs = all(self).zip(all(other)).find(|(one, other)| one != other);
        if let Some(((what, first), (_, second))) = differs {
            let (one, other) = paths();
            return Err(Error::OtherPlan { one, other, what, first, second });
        }
        if self.shard == other.shard {
            let (one, other) = paths();
            return Err(Error::Twice { one, other, shard: self.shard.to_string() });
        }
        Ok(())
    }

    /// Holds each record of an arrival to the plan, bit for bit, in the order of the plan; what there is. An arrival that was due from `until` on and
    /// left no record was not planned any more.
    fn held_to(&self, plan: &Plan, behind: Nanos, until: Nanos) -> Result<Tally, Error> {
        let unreadable = |error: headway_records::Error| Error::Unreadable(error.into());
        let arrives = held::arriving(plan);
        let mut planned: Vec<_> =
            (0..plan.groups.len()).map(|group| plan.sessions_of(group, self.shard).peekable()).collect();
        let rows = Merge::of_log(&self.folder.records(), By::Intended).map_err(unreadable)?;
        let (mut tally, measured) = (Tally::default(), measured(plan));
        for row in rows {
            let row = row.map_err(unreadable)?;
            tally.count(&row, row.arrived, row.arrived + behind, &measured);
            if !held::is_planned(&row, &arrives) {
                continue;
            }
            let expected = &mut planned[usize::from(row.group)];
            while let Some(passed) = expected.next_if(|next| next.k < row.k && next.intended <= row.intended)
            {
                tally.without_record += u64::from(passed.intended < until);
            }
            for i in 0..row.count {
                match expected.next() {
                    Some(next) if i > 0 || (next.k, next.intended) == (row.k, row.intended) => {
                        tally.planned += 1;
                    }
                    next => return Err(self.stranger(&row, next)),
                }
            }
        }
        let rest = planned.into_iter().zip(arrives).filter(|(_, arrives)| *arrives);
        let rest = rest.map(|(rest, _)| rest.filter(|due| due.intended < until).count() as u64);
        tally.without_record += rest.sum::<u64>();
        tally.planned += tally.without_record;
        Ok(tally)
    }

    fn stranger(&self, row: &Record, next: Option<Arrival>) -> Error {
        Error::NotOfThePlan {
            run: self.place.clone(),
            shard: self.shard.to_string(),
            k: row.k,
            intended: row.intended,
            planned: match next {
                Some(next) => format!("arrival {} at {} there", next.k, next.intended),
                None => "no more arrivals".to_owned(),
            },
        }
    }
}

/// Counts of datagrams of two machines; their intervals begin at the same zero, and are as long.
fn join(all: &mut Strays, part: &Strays) {
    all.counts.add(part.counts);
    all.unreachable += part.unreachable;
    for (i, row) in part.intervals.iter().enumerate() {
        let Some(mine) = all.intervals.get_mut(i) else {
            all.intervals.push(row.clone());
            continue;
        };
        mine.to_s = mine.to_s.max(row.to_s);
        mine.sent += row.sent;
        add(&mut mine.received, row.received);
        add(&mut mine.lost, row.lost);
        mine.counts.add(row.counts);
    }
}
