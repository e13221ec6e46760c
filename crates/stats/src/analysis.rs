//! The analysis of one run: batches in, a [`Summary`] out.
//!
//! Starts are merged over the sources by `started` and once more by `intended`, each up to the instant that all
//! sources have passed; everything else is sums and counts, which need no order. Memory: histograms per segment,
//! rows per second (both bounded), and what waits between the watermarks.
//!
//! Deliberately absent: clocks and threads. Whoever owns the analysis feeds it from one thread.

use crate::arrivals::ArrivalsKept;
use crate::arrivals_summary::{ArrivalsResult, arrivals_result};
use crate::cells::Fine;
use crate::findings::{Case, find_all};
use crate::merge::Merge;
use crate::pattern::pattern;
use crate::phase::Measured;
use crate::requests::{LabelKept, Requests, outcomes};
use crate::responses::Sample;
use crate::rules::{self, Evidence};
use crate::series::{Recent, Series};
use crate::setup::{Facts, Foreign, Setup, Workload};
use crate::summary::{
    self, Curves, LabelSummary, PercentileCurves, RateSummary, Summary, Tail, ThresholdResult,
};
use crate::thresholds::Threshold;
use crate::thresholds::kept::{Sight, Thresholds};
use base::{Batch, Kind, Nanos, Outcome, Record, Snapshot, Start};
use std::collections::BTreeMap;

/// A source that has told nothing for this long may still hold an older `intended` than the others (a long wait for a
/// connection), but is no longer waited for. Bounds the memory of the merge by `intended`.
const INTENDED_PATIENCE: Nanos = Nanos::from_secs(60);

/// Takes the batches of one run and sums it up.
#[derive(Debug)]
pub struct Analysis {
    setup: Setup,
    measured: Measured,
    starts: Merge<Start>,
    intended: Merge<i64>,
    arrivals: ArrivalsKept,
    requests: Requests,
    series: Series,
    recent: Recent,
    thresholds: Thresholds,
    started_all: u64,
    ended_of_started: u64,
}

impl Analysis {
    /// An analysis that expects batches of `setup.sources` sources.
    pub fn new(setup: Setup) -> Analysis {
        let foreign = (setup.workload == Workload::Foreign).then(Foreign::default);
        Analysis::with(setup, foreign)
    }

    /// An analysis of another tool's rows if `foreign`.
    pub(crate) fn with(setup: Setup, foreign: Option<Foreign>) -> Analysis {
        let measured = Measured::new(&setup.measured);
        let arrivals = ArrivalsKept::new(measured, &setup, foreign);
        Analysis {
            measured,
            starts: Merge::new(setup.sources.max(1)),
            intended: Merge::new(setup.sources.max(1)),
            requests: Requests::new(setup.labels.len(), arrivals.compares),
            arrivals,
            series: Series::new(),
            recent: Recent::new(),
            thresholds: Thresholds::default(),
            started_all: 0,
            ended_of_started: 0,
            setup,
        }
    }

    /// Judges these thresholds too. Call it before the first batch: what a step's thresholds need is kept from then on.
    pub fn judging(mut self, thresholds: Vec<Threshold>) -> Analysis {
        self.thresholds = Thresholds::new(thresholds, &self.setup.labels, self.arrivals.compares);
        self
    }

    /// Takes a batch of any source; batches of one source come in their order, those of different sources in any.
    pub fn batch(&mut self, batch: &Batch) {
        self.take_starts(batch);
        for record in &batch.records {
            self.take_record(record);
        }
    }

    /// Takes a start of the only source, in the order of time. Batches are for many sources, and for those who watch.
    #[inline]
    pub(crate) fn start(&mut self, start: &Start) {
        let plan = self.setup.plan.as_ref();
        self.series.started(start.started);
        self.arrivals.started(start, plan);
        self.arrivals.intended(start.intended.0, plan);
        self.started_all += 1;
    }

    /// Takes a request of the only source.
    #[inline]
    pub(crate) fn request(&mut self, record: &Record) {
        self.series.record(record);
        self.count_request(record);
    }

    fn take_starts(&mut self, batch: &Batch) {
        let source = usize::from(batch.source);
        let Analysis { setup, starts, intended, arrivals, series, recent, .. } = self;
        let plan = setup.plan.as_ref();
        let direct = source == 0 && starts.is_trivial();
        for start in &batch.starts {
            let found = start.wait == Nanos::ZERO;
            recent.started(start.started, found.then_some((start.started - start.intended).0));
            series.started(start.started);
            if direct {
                arrivals.started(start, plan);
                arrivals.intended(start.intended.0, plan);
            } else {
                starts.push(source, *start);
                intended.push(source, start.intended.0);
            }
        }
        self.started_all += batch.starts.len() as u64;
        if batch.last {
            starts.advance(source, i64::MAX);
            intended.advance(source, i64::MAX);
        } else {
            starts.advance(source, batch.watermark.0);
            intended.advance(source, batch.watermark.0.saturating_sub(INTENDED_PATIENCE.0));
            if let Some(last) = batch.starts.last() {
                intended.advance(source, last.intended.0);
            }
        }
        starts.drain(|start| arrivals.started(&start, plan));
        intended.drain(|at| arrivals.intended(at, plan));
    }

    fn take_record(&mut self, record: &Record) {
        // Sessions and attempts are made of requests; counting both would count twice.
        if record.kind != Kind::Request {
            return;
        }
        self.recent.record(record);
        self.series.record(record);
        self.count_request(record);
    }

    #[inline]
    fn count_request(&mut self, record: &Record) {
        self.ended_of_started += u64::from(record.started.is_some());
        let count = u64::from(record.count);
        match self.measured.segment(record.intended) {
            Some(segment) => {
                self.requests.push(record, segment);
                self.thresholds.push(record, segment);
            }
            None if record.intended < self.measured.start => self.requests.warmup += count,
            None => self.requests.after += count,
        }
    }

    /// How the run stands; cheap enough for once a second.
    pub fn snapshot(&mut self, now: Nanos) -> Snapshot {
        let reported = self.starts.watermark().clamp(i64::MIN / 2, i64::MAX / 2);
        self.recent.snapshot(now, Nanos(reported))
    }

    /// The first threshold that may end the run and is crossed at `now` by the requests that have ended so far, judged
    /// as at the end. From then on it counts as what ended the run, if the run turns out to have been cut short. Lays
    /// out the histograms anew where there is such a threshold: meant for once a second.
    pub fn crossed(&mut self, now: Nanos) -> Option<ThresholdResult> {
        if now >= self.measured.end {
            return None;
        }
        // No interval decides here, and none is computed: they cost the most.
        let sight = Sight::new(&self.requests, &self.arrivals, 0, 0.0);
        self.thresholds.crossed(&sight, now, now - self.measured.start)
    }

    /// Sums the run up. Call it after the last batch; what still waits for other sources is taken as it is.
    pub fn finish(mut self, facts: Facts) -> Summary {
        let Analysis { setup, starts, intended, arrivals, .. } = &mut self;
        let plan = setup.plan.as_ref();
        starts.drain_all(|start| arrivals.started(&start, plan));
        intended.drain_all(|at| arrivals.intended(at, plan));
        arrivals.settle();

        let until = facts.interrupted_at.map_or(self.measured.end, |at| at.min(self.measured.end));
        let until = until.max(self.measured.start);
        let filled = self.measured.filled(until);
        let mut summary = self.head(&facts, until);
        let mut missing = BTreeMap::new();
        let arrivals = arrivals_result(
            &self.arrivals,
            self.setup.plan.as_ref(),
            &self.setup.labels,
            until,
            &mut missing,
        );
        summary.arrivals = arrivals.block.clone();
        summary.arrivals.resolution = facts.resolution.map(Nanos::as_secs_f64);
        summary.curves.headway = arrivals.curve.clone();
        self.requests_into(&mut summary, filled, &mut missing);
        self.rates_into(&mut summary, until);
        if !self.arrivals.compares {
            missing.insert("rate.offered".into(), rules::NOT_DUE.into());
        }
        summary.not_computed = missing;
        self.verdict_into(&mut summary, &facts, &arrivals, filled);
        summary
    }

    fn head(&self, facts: &Facts, until: Nanos) -> Summary {
        let requests = &self.requests;
        let started: u64 = self.arrivals.segments.iter().map(|s| s.started).sum();
        let mut generator = facts.generator.clone();
        if let Some(generator) = &mut generator {
            generator.send_cost_s = generator.send_cost_s.or(facts.send_cost.map(Nanos::as_secs_f64));
        }
        Summary {
            schema: summary::SCHEMA.into(),
            source: facts.source,
            name: facts.name.clone(),
            seed: facts.seed,
            command: facts.command.clone(),
            started_at: facts.started_at.clone(),
            plan: facts.plan.clone(),
            measured: summary::Measured {
                from_s: self.measured.start.as_secs_f64(),
                to_s: until.as_secs_f64(),
                n: started + requests.never.iter().sum::<u64>(),
                warmup: requests.warmup,
                after: requests.after,
                interrupted: facts.interrupted_at.is_some(),
                aborted: facts.interrupted_at.is_some() && self.thresholds.ended_run(),
            },
            series: self.series.rows(),
            generator,
            ..Summary::default()
        }
    }

    fn requests_into(&self, summary: &mut Summary, filled: usize, missing: &mut BTreeMap<String, String>) {
        const NS: f64 = 1e9;
        let r = &self.requests;
        let response = Sample::new(&[&r.ok, &r.answered], &[&r.censored], filled);
        let service = Sample::new(&[&r.service], &[&r.service_censored], filled);
        summary.response = response.spread(NS, "response", missing);
        summary.response_ok = Sample::new(&[&r.ok], &[], filled).spread(NS, "response_ok", missing);
        summary.service = service.spread(NS, "service", missing);
        summary.first_byte = Sample::new(&[&r.first_byte], &[], filled).spread(NS, "first_byte", missing);
        summary.bytes = Sample::new(&[&r.bytes], &[], filled).spread(1.0, "bytes", missing);
        let nothing = if self.arrivals.compares { "no observations" } else { rules::NOT_DUE };
        summary.lag = tail(&self.arrivals.lag, "lag", nothing, missing);
        summary.blocked = tail(&r.blocked, "blocked", nothing, missing);
        summary.outcomes = outcomes(&r.outcomes);
        let percentiles = PercentileCurves { response: response.curve(NS), service: service.curve(NS) };
        summary.curves = Curves { percentiles, headway: summary.curves.headway.take() };
        summary.by_label = match &self.setup.labels[..] {
            [only] => {
                let (n, response) = (summary.response.n, summary.response.clone());
                let label = LabelSummary { n, response, outcomes: summary.outcomes.clone() };
                BTreeMap::from([(only.clone(), label)])
            }
            labels => labels.iter().cloned().zip(r.labels.iter().map(LabelKept::summary)).collect(),
        };
    }

    fn rates_into(&self, summary: &mut Summary, until: Nanos) {
        let seconds = (until - self.measured.start).as_secs_f64();
        let per_second = |n: u64| (seconds > 0.0).then(|| n as f64 / seconds);
        let answered = Outcome::ALL.iter().zip(&self.requests.outcomes).filter(|(o, _)| o.answered());
        summary.rate = RateSummary {
            n: summary.measured.n,
            // Where instants of being due are copies of the starts, nothing is known of what was offered.
            offered: per_second(summary.measured.n).filter(|_| self.arrivals.compares),
            started: per_second(summary.arrivals.started),
            completed: per_second(answered.map(|(_, &n)| n).sum()),
        };
    }

    fn verdict_into(&self, summary: &mut Summary, facts: &Facts, arrivals: &ArrivalsResult, filled: usize) {
        let tolerances = &self.setup.tolerances;
        let send_cost =
            facts.send_cost.or_else(|| facts.generator.as_ref()?.send_cost_s.map(Nanos::from_secs_f64));
        let evidence = Evidence {
            workload: self.setup.workload,
            tolerances,
            plan: self.setup.plan.as_ref(),
            kept: &self.arrivals,
            arrivals,
            never: &self.requests.never,
            filled,
            send_cost,
        };
        summary.verdict.rules = rules::apply(&evidence);
        summary.verdict.load = rules::verdict(&summary.verdict.rules);
        if summary.verdict.load.is_none() {
            let reason = match self.setup.workload {
                Workload::Foreign => "there is no plan to compare with",
                _ => "no rule applies to this kind of workload",
            };
            summary.not_computed.insert("verdict.load".into(), reason.into());
        }
        let seconds = summary.measured.to_s - summary.measured.from_s;
        let sight = Sight::new(&self.requests, &self.arrivals, filled, seconds);
        let (load, cut_short) = (summary.verdict.load, summary.measured.interrupted);
        summary.thresholds = self.thresholds.results(&sight, load, cut_short, &mut summary.not_computed);
        let (pattern, fixed_population) = pattern(arrivals, tolerances, send_cost);
        summary.verdict.pattern = pattern;
        let case = Case {
            evidence: &evidence,
            facts,
            summary,
            fixed_population,
            unsent_at: &self.requests.never_at,
            failed_at: &self.requests.failed_at,
            service: std::array::from_fn(|s| self.requests.service.mean(s)),
            unaccounted: self.started_all.saturating_sub(self.ended_of_started),
        };
        let findings = find_all(&case);
        summary.verdict.findings = findings;
    }
}

fn tail(kept: &Fine, path: &str, nothing: &str, missing: &mut BTreeMap<String, String>) -> Tail {
    let cells = kept.cells();
    let quantile = |p| cells.quantile(p).map(|x| x.min(kept.max) as f64 / 1e9);
    if cells.n() == 0 {
        missing.insert(path.into(), nothing.into());
    }
    Tail {
        n: cells.n(),
        p50: quantile(0.5),
        p99: quantile(0.99),
        p999: quantile(0.999),
        max: (cells.n() > 0).then_some(kept.max as f64 / 1e9),
        ..Tail::default()
    }
}
