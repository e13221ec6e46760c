//! The analysis of one run: batches in, a [`Summary`] out.
//!
//! Starts are merged over the sources by `started` and once more by `intended`, each up to the instant that all
//! sources have passed; everything else is sums and counts, which need no order. Memory: histograms per segment,
//! rows per second (both bounded), and what waits between the watermarks.
//!
//! Deliberately absent: clocks and threads. Whoever owns the analysis feeds it from one thread.

use crate::arrivals::ArrivalsKept;
use crate::arrivals_summary::{ArrivalsResult, arrivals_result};
use crate::cells::{Coarse, Fine};
use crate::findings::{Case, find_all};
use crate::intervals::SEGMENTS;
use crate::merge::Merge;
use crate::moments::Sums;
use crate::pattern::pattern;
use crate::phase::{Measured, Ranges};
use crate::responses::{Sample, Strata};
use crate::rules::{self, Evidence};
use crate::series::{Recent, Series};
use crate::setup::{Facts, Setup, Workload};
use crate::summary::{self, Curves, LabelSummary, PercentileCurves, RateSummary, Spread, Summary, Tail};
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
    started_all: u64,
    ended_of_started: u64,
}

/// What is kept of the requests that ended and were due in the measured phase.
#[derive(Debug)]
struct Requests {
    ok: Strata,
    answered: Strata,
    censored: Strata,
    service: Strata,
    service_censored: Strata,
    first_byte: Strata,
    bytes: Strata,
    blocked: Fine,
    outcomes: [u64; Outcome::ALL.len()],
    never: [u64; SEGMENTS],
    never_at: Ranges,
    failed_at: Ranges,
    labels: Vec<LabelKept>,
    warmup: u64,
    after: u64,
}

#[derive(Debug)]
struct LabelKept {
    observed: Coarse,
    censored: Coarse,
    sums: Sums,
    min: u64,
    outcomes: [u64; Outcome::ALL.len()],
}

impl Analysis {
    /// An analysis that expects batches of `setup.sources` sources.
    pub fn new(setup: Setup) -> Analysis {
        let measured = Measured::new(&setup.measured);
        let compares = setup.workload != Workload::Foreign || setup.plan.is_some();
        let labels = setup.labels.len();
        Analysis {
            measured,
            starts: Merge::new(setup.sources.max(1)),
            intended: Merge::new(setup.sources.max(1)),
            arrivals: ArrivalsKept::new(measured, setup.plan.as_ref(), labels, compares, &setup.tolerances),
            requests: Requests::new(labels),
            series: Series::new(),
            recent: Recent::new(),
            started_all: 0,
            ended_of_started: 0,
            setup,
        }
    }

    /// Takes a batch of any source; batches of one source come in their order, those of different sources in any.
    pub fn batch(&mut self, batch: &Batch) {
        self.take_starts(batch);
        for record in &batch.records {
            self.take_record(record);
        }
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
        self.ended_of_started += u64::from(record.started.is_some());
        let count = u64::from(record.count);
        match self.measured.segment(record.intended) {
            Some(segment) => self.requests.push(record, segment),
            None if record.intended < self.measured.start => self.requests.warmup += count,
            None => self.requests.after += count,
        }
    }

    /// How the run stands; cheap enough for once a second.
    pub fn snapshot(&mut self, now: Nanos) -> Snapshot {
        let reported = self.starts.watermark().clamp(i64::MIN / 2, i64::MAX / 2);
        self.recent.snapshot(now, Nanos(reported))
    }

    /// Sums the run up. Call it after the last batch; what still waits for other sources is taken as it is.
    pub fn finish(mut self, facts: Facts) -> Summary {
        let Analysis { setup, starts, intended, arrivals, .. } = &mut self;
        let plan = setup.plan.as_ref();
        starts.drain_all(|start| arrivals.started(&start, plan));
        intended.drain_all(|at| arrivals.intended(at, plan));

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
        summary.lag = tail(&self.arrivals.lag, "lag", missing);
        summary.blocked = tail(&r.blocked, "blocked", missing);
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
            offered: per_second(summary.measured.n),
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
        let (pattern, fixed_population) = pattern(arrivals, tolerances, facts.resolution, send_cost);
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

impl Requests {
    fn new(labels: usize) -> Requests {
        let strata = Strata::default;
        Requests {
            ok: strata(),
            answered: strata(),
            censored: strata(),
            service: strata(),
            service_censored: strata(),
            first_byte: strata(),
            bytes: strata(),
            blocked: Fine::new(),
            outcomes: [0; Outcome::ALL.len()],
            never: [0; SEGMENTS],
            never_at: Ranges::default(),
            failed_at: Ranges::default(),
            labels: (0..if labels > 1 { labels } else { 0 }).map(|_| LabelKept::new()).collect(),
            warmup: 0,
            after: 0,
        }
    }

    #[inline]
    fn push(&mut self, record: &Record, segment: usize) {
        let (outcome, count) = (record.outcome, record.count);
        self.outcomes[outcome as usize] += u64::from(count);
        let response = record.response().0;
        let strata = match outcome {
            Outcome::Ok => &mut self.ok,
            _ if outcome.answered() => &mut self.answered,
            _ => &mut self.censored,
        };
        strata.push(segment, response, count);
        self.blocked.push(record.blocked().0.max(0) as u64, u64::from(count));
        if outcome.answered() {
            self.bytes.push(segment, record.bytes_received.min(i64::MAX as u64) as i64, count);
        }
        if let (Some(sent), Some(first_byte)) = (record.sent.get(), record.first_byte.get()) {
            self.first_byte.push(segment, (first_byte - sent).0, count);
            let service = if outcome.answered() { &mut self.service } else { &mut self.service_censored };
            service.push(segment, (record.done - sent).0, count);
        }
        if !record.started.is_some() {
            self.never[segment] += u64::from(count);
            self.never_at.push(record.intended.0, record.intended.0);
        }
        if outcome != Outcome::Ok {
            self.failed_at.push(record.intended.0, record.done.0);
        }
        if let Some(label) = self.labels.get_mut(usize::from(record.step)) {
            label.push(outcome, response.max(0) as u64, count);
        }
    }
}

impl LabelKept {
    fn new() -> LabelKept {
        LabelKept {
            observed: Coarse::new(),
            censored: Coarse::new(),
            sums: Sums::default(),
            min: u64::MAX,
            outcomes: [0; Outcome::ALL.len()],
        }
    }

    #[inline]
    fn push(&mut self, outcome: Outcome, response: u64, count: u32) {
        self.outcomes[outcome as usize] += u64::from(count);
        let cells = if outcome.answered() { &mut self.observed } else { &mut self.censored };
        cells.push(response, count);
        self.sums.push(response, u64::from(count));
        self.min = self.min.min(response);
    }

    fn summary(&self) -> LabelSummary {
        const NS: f64 = 1e9;
        let n = self.sums.n;
        let mut all = self.observed.clone();
        all.merge(&self.censored);
        let mut response = Spread {
            n,
            censored: self.censored.n,
            mean: self.sums.mean().map(|m| m / NS),
            sd: self.sums.variance().map(|v| v.sqrt() / NS),
            cov: self.sums.cov2().map(f64::sqrt),
            min: (n > 0).then_some(self.min as f64 / NS),
            max: (n > 0).then_some(all.max as f64 / NS),
            ..Spread::default()
        };
        let mut bounds = Vec::new();
        let mut quantile = |name: &'static str, p: f64| {
            let low = all.quantile(p)?.max(self.min);
            let high = if self.censored.n == 0 { Some(low) } else { self.observed.quantile_of(p, n) };
            // Cells are 6 % wide here, so a later cell and not 1 % is what tells the two apart.
            if high.is_none_or(|high| high as f64 > 1.01 * low as f64) {
                bounds.push(name);
            }
            Some(low as f64 / NS)
        };
        response.p50 = quantile("p50", 0.5);
        response.p90 = quantile("p90", 0.9);
        response.p95 = quantile("p95", 0.95);
        response.p99 = quantile("p99", 0.99);
        response.p999 = quantile("p999", 0.999);
        if self.censored.n > 0 {
            bounds.push("mean");
            if self.censored.max >= self.observed.max {
                bounds.push("max");
            }
        }
        response.lower_bound = bounds.into_iter().map(|name| (name.to_string(), true)).collect();
        LabelSummary { n, response, outcomes: outcomes(&self.outcomes) }
    }
}

fn outcomes(counts: &[u64]) -> BTreeMap<String, u64> {
    let named = Outcome::ALL.iter().zip(counts).filter(|(_, n)| **n > 0);
    named.map(|(outcome, &n)| (outcome.name().to_string(), n)).collect()
}

fn tail(kept: &Fine, path: &str, missing: &mut BTreeMap<String, String>) -> Tail {
    let cells = kept.cells();
    let quantile = |p| cells.quantile(p).map(|x| x.min(kept.max) as f64 / 1e9);
    if cells.n() == 0 {
        missing.insert(path.into(), "no observations".into());
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
