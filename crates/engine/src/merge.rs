//! The shards of one run become one run: their logs merged, the union held to the plan, one summary of all records.
//!
//! Runs are merged only if they are parts of one plan; two runs of a plan are compared, not merged. Deliberately absent:
//! what machines said of themselves beyond their summaries' blocks, and departures, which no log holds.

use crate::manifest::Manifest;
use crate::recompute::{Told, cut_short, recompute};
use headway_base::record::Trigger;
use headway_base::{Kind, Nanos, Record};
use headway_records::{By, Limits, Merge, RunFolder};
use headway_stats::summary::evidence::{LostShard, Run as RunEvidence};
use headway_stats::summary::{Finding, FindingId, Generator, LoadVerdict, Severity, Stall, Strays};
use headway_stats::{Summary, Threshold};
use headway_workload::arrivals::Arrival;
use headway_workload::{Plan, Shard};
use std::path::{Path, PathBuf};

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
    /// The summary of all records together.
    pub summary: Summary,
    /// Shards that are not among the runs.
    pub missing: Vec<MissingShard>,
    /// Planned arrivals of the shards that are there which left no record.
    pub arrivals_without_record: u64,
}

impl Merged {
    /// Whether records of the run are missing.
    pub fn is_incomplete(&self) -> bool {
        !self.missing.is_empty() || self.arrivals_without_record > 0
    }
}

/// The shards of one run, checked to belong together.
#[derive(Debug)]
pub struct Shards {
    runs: Vec<Run>,
    plan: Plan,
    /// Planned arrivals of these shards which left no record.
    without_record: u64,
}

#[derive(Debug)]
struct Run {
    folder: RunFolder,
    manifest: Manifest,
    shard: Shard,
    summary: Option<Summary>,
}

impl Shards {
    /// Reads the run folders at `paths`, and holds their records to the plan.
    ///
    /// # Errors
    /// A folder is no run, is a whole run, does not belong to the others, or holds an arrival that its plan does not have.
    pub fn open(paths: &[PathBuf]) -> Result<Shards, Error> {
        let mut runs = Vec::with_capacity(paths.len());
        for path in paths {
            runs.push(Run::open(path)?);
        }
        runs.sort_by_key(|run| run.shard.index());
        for pair in runs.windows(2) {
            pair[0].belongs_to(&pair[1])?;
        }
        let first =
            runs.first().ok_or_else(|| Error::Unreadable(anyhow::anyhow!("no run folder is named")))?;
        let plan = first.manifest.plan.plan().map_err(|why| Error::Unreadable(anyhow::anyhow!(why)))?;
        let mut without_record = 0;
        for run in &runs {
            without_record += run.held_to(&plan)?;
        }
        Ok(Shards { runs, plan, without_record })
    }

    /// A short name of the run.
    pub fn name(&self) -> &str {
        &self.runs[0].manifest.name
    }

    /// The thresholds that the run was given.
    ///
    /// # Errors
    /// One that this version does not read.
    pub fn thresholds(&self) -> anyhow::Result<Vec<Threshold>> {
        self.runs[0].manifest.asked.thresholds.iter().map(|text| Ok(text.parse()?)).collect()
    }

    /// Merges them into `out`, an empty run folder: log, manifest and summary.
    ///
    /// # Errors
    /// A log cannot be read, or the folder cannot be written.
    pub fn merge(self, out: &RunFolder) -> Result<Merged, Error> {
        let without_record = self.without_record;
        let manifest = self.manifest();
        let missing = missing(&self.plan, &manifest.shards);
        let thresholds = self.thresholds().map_err(Error::Unreadable)?;
        out.write_new(headway_records::folder::PLAN, &manifest.json().map_err(Error::Unwritable)?)
            .map_err(unwritable)?;
        let logs: Vec<PathBuf> = self.runs.iter().map(|run| run.folder.records()).collect();
        let limits = Limits { same_zero: SAME_ZERO, ..Limits::default() };
        let metadata = manifest.log_metadata().map_err(Error::Unwritable)?;
        let merged = headway_records::merge_as(&logs, &out.records(), By::Started, limits, Some(&metadata))
            .map_err(unwritable)?;
        let mut summary =
            recompute(&out.records(), manifest, thresholds, self.told()).map_err(Error::Unreadable)?;
        for (log, _) in &merged.truncated {
            summary.verdict.findings.push(cut_short(log));
        }
        if let Some(finding) = self.started_apart() {
            summary.verdict.findings.push(finding);
        }
        if without_record > 0 {
            let evidence = RunEvidence::MissingRecords { n: without_record };
            incomplete(&mut summary, without_record, evidence);
        }
        Ok(Merged { summary, missing, arrivals_without_record: without_record })
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
            ..first.clone()
        }
    }

    fn told(&self) -> Told {
        let summaries = self.runs.iter().filter_map(|run| run.summary.as_ref());
        Told { generator: self.generator(), reasons: summaries.map(|s| s.failure_reasons.clone()).collect() }
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

    fn started_apart(&self) -> Option<Finding> {
        let zeros = || self.runs.iter().map(|run| run.manifest.zero_unix_ns);
        let apart = Nanos(zeros().max()? - zeros().min()?);
        (apart > SAME_ZERO).then(|| Finding {
            id: FindingId::ShardsApart,
            severity: Severity::Warning,
            evidence: vec![RunEvidence::ShardsApart { apart_s: apart.as_secs_f64() }.into()],
            value: Some(apart.as_secs_f64()),
            limit: Some(SAME_ZERO.as_secs_f64()),
            n: self.runs.len() as u64,
            ..Finding::default()
        })
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

/// The shards of the plan that are not among those `here`; none if `here` is empty.
pub(crate) fn missing(plan: &Plan, here: &[String]) -> Vec<MissingShard> {
    let count = here.first().and_then(|shard| Shard::parse(shard).ok()).map_or(0, Shard::count);
    let all = (0..count).filter_map(|index| Shard::new(index, count).ok());
    let lost = all.filter(|shard| !here.contains(&shard.to_string()));
    let planned = |shard| {
        let groups = (0..plan.groups.len()).filter(|&g| plan.groups[g].arrives());
        let sessions: Vec<u64> = groups.map(|g| plan.sessions_of(g, shard).count() as u64).collect();
        (!sessions.is_empty()).then(|| sessions.iter().sum())
    };
    lost.map(|shard| MissingShard { shard: shard.to_string(), planned: planned(shard) }).collect()
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
        let summary = std::fs::read(folder.summary()).ok().and_then(|text| headway_report::parse(&text).ok());
        Ok(Run { folder, manifest, shard, summary })
    }

    fn belongs_to(&self, other: &Run) -> Result<(), Error> {
        let (one, two) = (&self.manifest, &other.manifest);
        let paths = || (self.folder.path().to_owned(), other.folder.path().to_owned());
        let json = |value: &Manifest| serde_json::to_string(&value.plan.groups).unwrap_or_default();
        let differs = [
            ("the version of the plan", one.plan.version.to_string(), two.plan.version.to_string()),
            ("the seed", one.plan.seed.to_string(), two.plan.seed.to_string()),
            ("the number of shards", self.shard.count().to_string(), other.shard.count().to_string()),
            ("the plan", json(one), json(two)),
            (
                "the end of the warm-up, in ns,",
                one.plan.measured_from_ns.to_string(),
                two.plan.measured_from_ns.to_string(),
            ),
            ("the end of the plan, in ns,", one.plan.end_ns.to_string(), two.plan.end_ns.to_string()),
            ("the list of steps", one.asked.steps.join(", "), two.asked.steps.join(", ")),
            ("the list of thresholds", one.asked.thresholds.join(", "), two.asked.thresholds.join(", ")),
            (
                "the time-out, in s,",
                format!("{:?}", one.asked.timeout_s),
                format!("{:?}", two.asked.timeout_s),
            ),
            (
                "--tolerance time-scale, in s,",
                format!("{:?}", one.asked.time_scale_s),
                format!("{:?}", two.asked.time_scale_s),
            ),
            (
                "live or simulated",
                one.asked.target.is_some().to_string(),
                two.asked.target.is_some().to_string(),
            ),
        ];
        if let Some((what, first, second)) = differs.into_iter().find(|(_, first, second)| first != second) {
            let (one, other) = paths();
            return Err(Error::OtherPlan { one, other, what, first, second });
        }
        if self.shard == other.shard {
            let (one, other) = paths();
            return Err(Error::Twice { one, other, shard: self.shard.to_string() });
        }
        Ok(())
    }

    /// Holds each record of an arrival to the plan, bit for bit; returns how many planned arrivals left none.
    fn held_to(&self, plan: &Plan) -> Result<u64, Error> {
        let unreadable = |error: headway_records::Error| Error::Unreadable(error.into());
        let groups = 0..plan.groups.len();
        let mut planned: Vec<_> =
            groups.map(|group| plan.sessions_of(group, self.shard).peekable()).collect();
        let arrives: Vec<bool> = plan.groups.iter().map(|group| group.arrives()).collect();
        let rows = Merge::of_log(&self.folder.records(), By::Intended).map_err(unreadable)?;
        let mut lost = 0;
        for row in rows {
            let row = row.map_err(unreadable)?;
            let group = usize::from(row.group);
            let is_arrival = row.kind == Kind::Request && row.due == Trigger::Arrival && row.attempt == 0;
            if !is_arrival || !arrives.get(group).is_some_and(|arrives| *arrives) {
                continue;
            }
            let expected = &mut planned[group];
            while expected.next_if(|next| next.k < row.k && next.intended <= row.intended).is_some() {
                lost += 1;
            }
            for i in 0..row.count {
                match expected.next() {
                    Some(next) if i > 0 || (next.k, next.intended) == (row.k, row.intended) => {}
                    next => return Err(self.stranger(&row, next)),
                }
            }
        }
        let rest: usize = planned
            .into_iter()
            .zip(arrives)
            .map(|(rest, arrives)| if arrives { rest.count() } else { 0 })
            .sum();
        Ok(lost + rest as u64)
    }

    fn stranger(&self, row: &Record, next: Option<Arrival>) -> Error {
        Error::NotOfThePlan {
            run: self.folder.path().to_owned(),
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
