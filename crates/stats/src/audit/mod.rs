//! The audit of a foreign load: two passes over its rows.
//!
//! The first pass, in the order of the file, is a [`Survey`]: how many rows, from when to when, on which grid their
//! stamps lie. The second, in the order of `started`, is the [`Auditor`], which knows all that and so needs no more than
//! running sums.
//!
//! Deliberately absent: files, sorting, and what a row was before it became a [`headway_base::Record`].

pub(crate) mod causes;
mod closed;
mod counts;
mod estimate;
mod extent;
mod fifo;
mod survey;
mod tables;
mod threads;

pub use survey::Survey;

use crate::analysis::Analysis;
use crate::findings::by_severity;
use crate::setup::{Facts, Foreign, Setup};
use crate::summary::evidence::Cause;
use crate::summary::{
    Audit, Finding, FindingId, P99Off, Pattern, RateSummary, Resolution, Severity, Spread, Stream, Summary,
    Why,
};
use causes::Traces;
use closed::InFlight;
use counts::Counts;
use estimate::Estimator;
use headway_base::{Kind, Nanos, Record, Start};
use headway_redact::Cleared;
use tables::{Rows, Tables};
use threads::Threads;

/// How quantiles in the tables are taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum QuantileRule {
    /// Smallest x with F(x) >= p.
    #[default]
    Smallest,
    /// As Brady's tool takes them: the value at place int(p (n - 0.5)) of the sorted sample, counted from 0, and the lower
    /// median (Brady 2012).
    Brady,
}

impl QuantileRule {
    /// In words, as the document tells it.
    pub fn name(self) -> &'static str {
        match self {
            QuantileRule::Smallest => "smallest x with F(x) >= p",
            QuantileRule::Brady => "brady",
        }
    }
}

/// What an audit must know before its second pass.
#[derive(Debug)]
pub struct AuditSetup {
    /// What the analysis must know: labels, the selected stretch, the expectation if there is one, resolution, rate.
    pub setup: Setup,
    /// Names of the users (threads) by number; empty where unknown.
    pub users: Vec<String>,
    /// Names of the generators by number.
    pub generators: Vec<Cleared>,
    /// Requests by label, from the survey.
    pub label_counts: Vec<u64>,
    /// Which stream is judged.
    pub stream: Stream,
    /// From the first of its starts within the selected stretch to just after the last: counts are taken there and no
    /// further, though requests may go on long after the last session began.
    pub judged: std::ops::Range<Nanos>,
    /// Whether the ends of requests are known.
    pub ends: bool,
    /// Whether bytes are known.
    pub bytes: bool,
    /// Whether the rows tell when their requests were due, and not only when they started.
    pub intended: bool,
    /// The longest time from when a row was due until it started, from the survey.
    pub behind: Nanos,
    /// Starts of the judged stream within the selected stretch, from the survey.
    pub starts: u64,
    /// What the last digit of a stamp is worth.
    pub digit: Nanos,
    /// Seed of the dither.
    pub dither_seed: u64,
    /// Sizes of the groups of users whose CoV is told; empty: 1, 2, 5, 10, 20, 50 ... and all.
    pub by_threads: Vec<u64>,
    /// Labels of the requests that are pages; empty where that was not said.
    pub pages: Vec<Cleared>,
    /// Percentiles of the tables, each from 0 to 100.
    pub percentiles: Vec<f64>,
    /// Their rule.
    pub quantiles: QuantileRule,
    /// Length of the intervals of the count curve; none: twice the mean headway, in whole multiples of the resolution.
    pub count_interval: Option<Nanos>,
}

/// The second pass.
#[derive(Debug)]
pub struct Auditor {
    measured: std::ops::Range<Nanos>,
    stream: Stream,
    ends: bool,
    rows: Rows,
    /// Whether several labels share a row.
    collapsed: bool,
    outside: u64,
    sessions: u64,
    analysis: Analysis,
    tables: Tables,
    threads: Option<Threads>,
    in_flight: InFlight,
    counts: Option<Counts>,
    traces: Traces,
    estimator: Estimator,
    /// The block so far: what the setup says.
    block: Audit,
    grid: Nanos,
}

impl Auditor {
    /// An audit, before its second pass.
    pub fn new(mut audit: AuditSetup) -> Auditor {
        let rows = Rows::new(&audit.setup.labels, &audit.label_counts);
        let labels = audit.setup.labels.clone();
        let collapsed = rows.names.len() != audit.setup.labels.len();
        if collapsed {
            audit.setup.labels.clone_from(&rows.names);
        }
        let measured = audit.setup.measured.clone();
        let judged = audit.judged.start.max(measured.start)..audit.judged.end.min(measured.end);
        let seconds = (judged.end - judged.start).as_secs_f64();
        let counted = (seconds > 0.0).then(|| audit.starts as f64 / seconds);
        audit.setup.rate = audit.setup.rate.or(counted);
        let grid = audit.setup.resolution.max(Nanos(1));
        let block = Audit {
            stream: audit.stream,
            dither_seed: audit.dither_seed,
            resolution: Resolution { digit_s: audit.digit.as_secs_f64(), ..Resolution::default() },
            quantile_rule: audit.quantiles.name().into(),
            percentiles: audit.percentiles.clone(),
            generators: audit.generators.clone(),
            ..Audit::default()
        };
        let foreign = Foreign {
            dither_seed: audit.dither_seed,
            intended: audit.intended,
            judged: Some(judged.clone()),
            behind: audit.behind,
        };
        Auditor {
            stream: audit.stream,
            ends: audit.ends,
            collapsed,
            outside: 0,
            sessions: 0,
            tables: Tables::new(&audit, rows.names.clone()),
            threads: Threads::new(&audit),
            in_flight: InFlight::with_pages(&labels, &audit.pages),
            estimator: Estimator::default(),
            traces: Traces::new(audit.starts, judged.clone(), grid, audit.generators.len()),
            counts: Counts::new(&judged, grid, audit.setup.rate, audit.count_interval),
            measured,
            rows,
            block,
            grid,
            analysis: Analysis::with(audit.setup, Some(foreign)),
        }
    }

    /// Takes a row, in the order of `started` (of `intended` where it never started), sessions and requests alike. Rows
    /// that fell due outside of the selected stretch are counted, and in no other number.
    #[inline]
    pub fn row(&mut self, record: &Record) {
        if !self.measured.contains(&record.intended) {
            self.outside += u64::from(record.count);
            return;
        }
        match record.kind {
            Kind::Request => self.request(record),
            Kind::Session => {
                self.sessions += 1;
                if let (Stream::Sessions, Some(started)) = (self.stream, record.started.get()) {
                    // Labels are of requests.
                    self.judged(started, record, u16::MAX);
                }
            }
            Kind::Attempt => {}
        }
    }

    fn request(&mut self, record: &Record) {
        let row = self.rows.of(record.step);
        self.tables.push(row, record);
        if self.collapsed {
            self.analysis.request(&Record { step: row, ..*record });
        } else {
            self.analysis.request(record);
        }
        let Some(started) = record.started.get() else { return };
        if self.stream == Stream::Requests {
            self.judged(started, record, row);
        }
        if let Some(threads) = &mut self.threads {
            threads.push(started, record);
        }
        if self.ends {
            self.in_flight.push(started, record);
            self.estimator.push(started, record);
            self.traces.request(started, record.done);
        }
    }

    /// A start of the stream whose pattern is judged.
    #[inline]
    fn judged(&mut self, started: Nanos, record: &Record, step: u16) {
        self.analysis.start(&Start { wait: record.wait, ..Start::arrival(record.intended, started, step) });
        self.traces.start(started, record.shard);
        if let Some(counts) = &mut self.counts {
            counts.push(started);
        }
    }

    /// Sums up. The caller fills what only it knows: the files, times of day, what was selected.
    pub fn finish(self, facts: Facts) -> Summary {
        let mut summary = self.analysis.finish(facts);
        let mut block = self.block;
        let (requests, seconds) = self.tables.requests();
        block.outside = self.outside;
        block.tables = self.tables.finish();
        block.counts = self.counts.and_then(Counts::finish);
        block.users = self.threads.as_ref().map(Threads::users);
        let rate_x_q = summary.arrivals.rate.map(|rate| rate * self.grid.as_secs_f64());
        block.resolution = Resolution {
            grid_s: self.grid.as_secs_f64(),
            rate_x_q,
            headways_decide: rate_x_q.is_some_and(|x| x <= 0.5),
            coarse_labels: self.tables.coarse_labels(),
            ..block.resolution
        };
        if let Some(threads) = &self.threads {
            let left_out;
            (summary.thread_groups, left_out) = threads.groups();
            if left_out > 0 {
                let users = block.users.unwrap_or(0);
                let reason = Why::Groups { left_out, too_large: Vec::new(), users };
                summary.not_computed.insert("thread_groups".into(), reason.into());
            }
        }
        if self.ends {
            let rate = seconds.map(|s| requests as f64 / s);
            let closed = self.in_flight.closed(self.threads.as_ref(), rate, &mut summary.not_computed);
            summary.closed = Some(closed);
        } else {
            without_ends(&mut summary);
        }
        if self.stream == Stream::Sessions {
            of_sessions(&mut summary, requests, self.sessions, seconds_of(&self.measured));
        }
        summary.audit = Some(block);
        let think = self.threads.as_ref().and_then(|threads| threads.think().ok());
        let turns = self.threads.as_ref().and_then(Threads::turns);
        let cause = causes::name(&causes::Case { traces: &self.traces, summary: &summary, think, turns });
        let estimated = estimated(&summary, cause.as_ref(), self.ends.then_some(self.estimator), self.grid);
        if let Some(Err(reason)) = &estimated {
            summary.not_computed.insert("audit.estimated".into(), reason.clone().into());
        }
        if let Some(audit) = &mut summary.audit {
            audit.cause = cause.as_ref().map(|finding| finding.id.clone());
            audit.estimated = estimated.and_then(Result::ok);
        }
        summary.verdict.findings.extend(cause);
        by_severity(&mut summary.verdict.findings);
        summary
    }
}

/// By how much the p99 is off, or why that is not known; nothing where the starts are not shown to be other than independent.
fn estimated(
    summary: &Summary,
    cause: Option<&Finding>,
    estimator: Option<Estimator>,
    grid: Nanos,
) -> Option<Result<P99Off, Why>> {
    let audit = summary.audit.as_ref()?;
    let is_off = matches!(summary.verdict.pattern, Pattern::Bunched | Pattern::Even);
    let changes = |cause: &Finding| matches!(cause.id, FindingId::ChangingRate | FindingId::Interruption);
    is_off.then(|| match estimator {
        _ if audit.stream == Stream::Sessions => Err(Why::OfSessions),
        _ if cause.is_some_and(changes) => Err(Why::RateChanges),
        Some(estimator) => estimator.finish(grid, audit.dither_seed),
        None => Err(Why::EndsNotTold),
    })
}

fn seconds_of(stretch: &std::ops::Range<Nanos>) -> f64 {
    (stretch.end - stretch.start).as_secs_f64()
}

/// Takes out what rests on the ends of requests.
fn without_ends(summary: &mut Summary) {
    summary.without_ends(&Why::EndsNotTold);
    summary.not_computed.retain(|path, _| path != "closed" && !path.starts_with("closed."));
    summary.not_computed.insert("closed".into(), Why::EndsNotTold.into());
    summary.curves.percentiles = Default::default();
    summary.curves.response_histogram.clear();
    summary.curves.response_grid = None;
    for label in summary.by_label.values_mut() {
        (label.response, label.buckets) = (Spread::default(), Vec::new());
        for row in &mut label.series {
            (row.n, row.p50, row.p99) = (0, None, None);
        }
    }
    for row in &mut summary.series {
        (row.n, row.p50, row.p90, row.p99, row.max) = (0, None, None, None, None);
        (row.in_flight, row.waiting) = (None, None);
    }
}

/// Where sessions are judged, rates are still those of requests, and headways by label stand in the tables alone.
fn of_sessions(summary: &mut Summary, requests: u64, sessions: u64, seconds: f64) {
    summary.arrivals.by_label.clear();
    let per_second = (seconds > 0.0).then(|| requests as f64 / seconds);
    summary.rate = RateSummary { n: requests, offered: None, started: per_second, ..summary.rate };
    summary.verdict.findings.push(Finding {
        id: FindingId::SessionsJudged,
        severity: Severity::Info,
        evidence: vec![Cause::SessionsJudged { sessions, requests }.into()],
        n: sessions,
        ..Finding::default()
    });
}
