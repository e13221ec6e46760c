//! What is kept of the requests that ended and were due in the measured phase: times by outcome and by segment, and
//! times and outcomes by label.
//!
//! Deliberately absent: anything that needs their order.

use crate::cells::{Cells, Fine, Labelled, Segment};
use crate::delays::Ended;
use crate::generator_share::Least;
use crate::intervals::SEGMENTS;
use crate::metric::{Kept, Metric, Taken};
use crate::moments::Sums;
use crate::phase::Ranges;
use crate::responses::{Sample, Strata};
use crate::summary::{Failure, LabelSummary, ResponseKind, Spread};
use crate::time_split::TimeSplitKept;
use headway_base::status::REDIRECTS;
use headway_base::{Nanos, Outcome, Record, Trigger};
use headway_redact::Cleared;
use std::collections::BTreeMap;

/// What is kept of the requests that ended and were due in the measured phase.
#[derive(Clone, Debug)]
pub(crate) struct Requests {
    /// Whether rows tell how long a request was held back.
    compares: bool,
    pub ok: Strata,
    pub answered: Strata,
    pub censored: Strata,
    /// Of every metric that is taken from each row.
    metrics: Vec<Kept>,
    /// By label: service times of those with an answer, less the time for which it lay unread. Where that is not known a request
    /// is left out.
    pub at_target: Vec<Labelled>,
    pub blocked: Fine,
    pub split_time: TimeSplitKept,
    pub outcomes: [u64; Outcome::ALL.len()],
    /// Of those that failed: by outcome, status (0: none), and step, as far as there is room for it.
    failed: BTreeMap<(u8, u16, Option<u16>), u64>,
    /// Never started.
    pub never: [u64; SEGMENTS],
    /// Not sent, for a reason of the generator's: those that were due by the plan, and the others.
    pub not_sent: [NotSent; SEGMENTS],
    pub others_not_sent: [NotSent; SEGMENTS],
    /// Of all these, the ones for which this machine had no descriptor, port or memory left.
    pub lacked: u64,
    /// Given up while they waited at the connection cap; and of those, the ones that are counted as unsent.
    pub given_up: u64,
    /// Those that were due by the plan, by segment.
    pub arrivals_given_up: [u64; SEGMENTS],
    /// The others, by segment.
    pub others_given_up: [u64; SEGMENTS],
    unsent_at_cap: [u64; SEGMENTS],
    /// Requests by how they came to be due.
    pub dues: [u64; Trigger::ALL.len()],
    /// Response times by that, where there may be several ways.
    split: Option<Box<Split>>,
    /// Response times without what the generator may have added: of successes, and of all others.
    least: [Option<Box<Segment>>; 2],
    failing: Failing,
    /// Bytes of requests that were handed to connections.
    pub bytes_sent: u64,
    /// Bytes of all that came in response to these, complete or not.
    pub bytes_received: u64,
    /// Requests of which it is not known how long their answers lay unread.
    pub unread_unknown: u64,
    pub never_at: Ranges,
    pub failed_at: Ranges,
    /// Requests that ended well with a redirect that is not followed, and that their steps do not look at.
    pub redirects: u64,
    /// Requests that the target gave back unread at least once, and how often these were sent again.
    pub given_back: (u64, u64),
    counts_redirects: bool,
    /// Steps that look at redirects themselves.
    redirects_expected: Vec<u16>,
    pub labels: Vec<LabelKept>,
    pub warmup: u64,
    pub after: u64,
}

/// Kinds of failure that are kept apart by step; there are as many again without it at most.
const MOST_FAILURES: usize = 4_096;

/// Failures by what the generator's delays can have to do with them.
#[derive(Clone, Debug, Default)]
struct Failing {
    /// Given up after a time, and the generator's delays are a small part of it; and the shortest of these times.
    slow: u64,
    shortest_wait: Option<u64>,
    /// Ended otherwise, without delays that would matter.
    other: u64,
    /// Times from the start of those that delays may have to do with.
    doubted: Option<Box<Segment>>,
}

/// The part of a response time which the generator's delays may have added without being doubted to have made it fail.
const DOUBT: f64 = 0.05;

impl Failing {
    fn push(&mut self, ended: &Ended, least: Nanos) {
        use Outcome::{Cancelled, ConnectTimeout, Shed, Timeout, Unfinished, Unsent};
        let response = ended.response();
        let given_up = matches!(ended.outcome, Timeout | ConnectTimeout | Shed | Unfinished | Cancelled);
        let is_small = least.0 as f64 >= (1.0 - DOUBT) * response.0 as f64;
        match (is_small, given_up) {
            // It waited at the connection cap, and has not failed.
            _ if ended.outcome == Unsent => {}
            (true, true) => {
                self.slow += u64::from(ended.count);
                let wait = response.0.max(0) as u64;
                self.shortest_wait = Some(self.shortest_wait.map_or(wait, |shortest| shortest.min(wait)));
            }
            (true, false) => self.other += u64::from(ended.count),
            // How long it had lasted tells nothing of the target.
            (false, true) => {}
            (false, false) => {
                let kept = self.doubted.get_or_insert_with(|| Box::new(Segment::new()));
                kept.push(ended.since_start().0.max(0) as u64, ended.count);
            }
        }
    }
}

/// Requests that were not sent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NotSent {
    pub n: u64,
    /// Those for which a connection was opened, so that they are among the starts.
    pub started: u64,
}

impl NotSent {
    /// Requests that were sent, and all: of those and so many that started.
    pub fn share_of(&self, started: u64) -> (u64, u64) {
        let sent = started.saturating_sub(self.started);
        (sent, sent + self.n)
    }
}

/// Response times of what was due by the plan, and of what was due after an answer: with an answer, and without.
#[derive(Clone, Debug, Default)]
struct Split {
    open: [Strata; 2],
    session: [Strata; 2],
}

#[derive(Clone, Debug)]
pub(crate) struct LabelKept {
    observed: Labelled,
    censored: Labelled,
    sums: Sums,
    outcomes: [u64; Outcome::ALL.len()],
}

impl Requests {
    pub fn new(labels: usize, compares: bool) -> Requests {
        let strata = Strata::default;
        Requests {
            compares,
            ok: strata(),
            answered: strata(),
            censored: strata(),
            metrics: Kept::all(),
            at_target: vec![Labelled::new(labels); labels.max(1)],
            blocked: Fine::new(),
            split_time: TimeSplitKept::new(),
            outcomes: [0; Outcome::ALL.len()],
            failed: BTreeMap::new(),
            never: [0; SEGMENTS],
            not_sent: [NotSent::default(); SEGMENTS],
            others_not_sent: [NotSent::default(); SEGMENTS],
            lacked: 0,
            given_up: 0,
            arrivals_given_up: [0; SEGMENTS],
            others_given_up: [0; SEGMENTS],
            unsent_at_cap: [0; SEGMENTS],
            dues: [0; Trigger::ALL.len()],
            split: None,
            least: [None, None],
            failing: Failing::default(),
            bytes_sent: 0,
            bytes_received: 0,
            unread_unknown: 0,
            never_at: Ranges::default(),
            failed_at: Ranges::default(),
            redirects: 0,
            given_back: (0, 0),
            counts_redirects: true,
            redirects_expected: Vec::new(),
            labels: (0..if labels > 1 { labels } else { 0 }).map(|_| LabelKept::new(labels)).collect(),
            warmup: 0,
            after: 0,
        }
    }

    /// Keeps response times apart by how requests came to be due, too.
    pub fn splitting(mut self) -> Requests {
        self.split = Some(Box::default());
        self
    }

    /// Redirects are followed: they are none of those that end there.
    pub fn following_redirects(mut self, followed: bool) -> Requests {
        self.counts_redirects = !followed;
        self
    }

    /// These steps look at redirects themselves.
    pub fn expecting_redirects(mut self, steps: Vec<u16>) -> Requests {
        self.redirects_expected = steps;
        self
    }

    #[inline]
    pub fn push(&mut self, record: &Record, segment: usize) {
        let (outcome, count) = (record.outcome, record.count);
        self.dues[record.due as usize] += u64::from(count);
        self.outcomes[outcome as usize] += u64::from(count);
        if outcome != Outcome::Ok {
            self.fail(record);
        }
        let label = self.labels.get_mut(usize::from(record.step));
        if !record.started.is_some() {
            self.never[segment] += u64::from(count);
            self.never_at.push(record.intended.0, record.intended.0);
        }
        if record.is_not_sent() {
            let kept =
                if record.due == Trigger::Arrival { &mut self.not_sent } else { &mut self.others_not_sent };
            kept[segment].n += u64::from(count);
            kept[segment].started += if record.started.is_some() { u64::from(count) } else { 0 };
            self.lacked += if outcome == Outcome::LocalLimit { u64::from(count) } else { 0 };
            if let Some(label) = label {
                label.outcomes[outcome as usize] += u64::from(count);
            }
            return;
        }
        self.bytes_sent = self.bytes_sent.saturating_add(record.bytes_sent);
        self.bytes_received = self.bytes_received.saturating_add(record.bytes_received);
        let response = record.response().0;
        let strata = match outcome {
            Outcome::Ok => &mut self.ok,
            _ if outcome.answered() => &mut self.answered,
            _ => &mut self.censored,
        };
        strata.push(segment, response, count);
        if let Some(split) = &mut self.split {
            let side = if record.due == Trigger::Arrival { &mut split.open } else { &mut split.session };
            side[usize::from(!outcome.answered())].push(segment, response, count);
        }
        if self.compares {
            self.blocked.push(record.blocked().0.max(0) as u64, u64::from(count));
            self.split_time.push(record);
        }
        self.metrics.iter_mut().for_each(|kept| kept.push(record, segment));
        if let (Some(sent), true) = (record.sent.get(), record.first_byte.is_some()) {
            let one = self.at_target.len() == 1;
            let kept = self.at_target.get_mut(if one { 0 } else { usize::from(record.step) });
            if let (true, Some(kept), Some(unread)) = (outcome.answered(), kept, record.unread.get()) {
                kept.push((record.done - sent - unread).0.max(0) as u64, count);
            }
        }
        if record.is_given_up_at_cap() {
            self.given_up += u64::from(count);
            let kept = match record.due {
                Trigger::Arrival => &mut self.arrivals_given_up,
                _ => &mut self.others_given_up,
            };
            kept[segment] += u64::from(count);
        }
        if outcome == Outcome::Unsent {
            self.unsent_at_cap[segment] += u64::from(count);
        } else if outcome != Outcome::Ok {
            self.failed_at.push(record.intended.0, record.done.0);
        }
        if outcome == Outcome::Ok
            && self.counts_redirects
            && REDIRECTS.contains(&record.status)
            && !self.redirects_expected.contains(&record.step)
        {
            self.redirects += u64::from(count);
        }
        if let Some(label) = label {
            label.push(outcome, response.max(0) as u64, count);
        }
    }

    fn fail(&mut self, record: &Record) {
        let mut kind =
            (record.outcome as u8, record.status, (!self.labels.is_empty()).then_some(record.step));
        if self.failed.len() >= MOST_FAILURES && !self.failed.contains_key(&kind) {
            kind.2 = None;
        }
        *self.failed.entry(kind).or_default() += u64::from(record.count);
    }

    /// How requests failed, the most frequent first; `labels` are those of the steps.
    pub fn failures_by_kind(&self, labels: &[Cleared]) -> Vec<Failure> {
        let failure = |(&(outcome, status, step), &n): (&(u8, u16, Option<u16>), &u64)| Failure {
            outcome: Outcome::ALL[usize::from(outcome)].name().to_owned(),
            status: (status > 0).then_some(status),
            step: step.and_then(|step| labels.get(usize::from(step)).cloned()),
            n,
        };
        let mut all: Vec<Failure> = self.failed.iter().map(failure).collect();
        all.sort_by_key(|failure| std::cmp::Reverse(failure.n));
        all
    }

    /// Requests of each label; of all where there is one.
    pub fn by_label(&self) -> Vec<u64> {
        if self.labels.is_empty() {
            return vec![self.outcomes.iter().sum()];
        }
        self.labels.iter().map(|label| label.outcomes.iter().sum()).collect()
    }

    /// Requests that were not sent, for a reason of the generator's.
    pub fn all_not_sent(&self) -> NotSent {
        let all = self.not_sent.iter().chain(&self.others_not_sent);
        all.fold(NotSent::default(), |sum, s| NotSent { n: sum.n + s.n, started: sum.started + s.started })
    }

    /// The values of a metric, laid out with so many complete segments; none of one that is not kept by segment.
    pub fn sample(&self, metric: Metric, filled: usize) -> Option<Sample> {
        match metric.taken {
            Taken::Response { successes: true } => Some(Sample::new(&[&self.ok], &[], filled)),
            Taken::Response { successes: false } => {
                Some(Sample::new(&[&self.ok, &self.answered], &[&self.censored], filled))
            }
            _ => self.kept(metric).map(|kept| kept.sample(filled)),
        }
    }

    fn kept(&self, metric: Metric) -> Option<&Kept> {
        self.metrics.iter().find(|kept| kept.metric() == metric)
    }

    /// Service times of a segment with a response: their number and their mean.
    pub fn service(&self, segment: usize) -> Option<(u64, f64)> {
        self.kept(Metric::SERVICE)?.mean(segment)
    }

    /// Requests of a segment that failed, and all that could have: what was not sent has not failed.
    pub fn failures(&self, segment: usize) -> (u64, u64) {
        let bad = self.answered.count(segment) + self.censored.count(segment) - self.unsent_at_cap[segment];
        (bad, bad + self.ok.count(segment))
    }

    /// Requests that were sent.
    pub fn sent(&self) -> u64 {
        let all: u64 = self.outcomes.iter().sum();
        let never: u64 = self.never.iter().sum();
        all - never - self.all_not_sent().started
    }

    /// The response time which a request that was pushed would have had at least, had the generator not been late.
    #[inline]
    pub fn push_least(&mut self, ended: &Ended, least: Nanos) {
        let side = usize::from(ended.outcome != Outcome::Ok);
        let kept = self.least[side].get_or_insert_with(|| Box::new(Segment::new()));
        kept.push(least.0.max(0) as u64, ended.count);
        if side == 1 {
            self.failing.push(ended, least);
        }
        self.unread_unknown += u64::from(ended.is_unread_unknown());
    }

    /// The least response times, of successes alone or of all; none where they are not kept.
    pub fn least(&self, successes: bool) -> Option<Least> {
        let kept = self.least.iter().take(if successes { 1 } else { 2 }).flatten().map(|s| &**s);
        Least::new(kept.collect())
    }

    /// Failures that so many late requests cannot have caused; `known` where the generator's delays are.
    ///
    /// A request that took as long without these delays failed for the target's sake; of those given up after a time as many are
    /// doubted as others came nearly as late. A target that rejects at once (faster than it serves) rejects one request more or less for each
    /// that comes at another time: one request more in a queue with a limit either is rejected itself, or leaves the queue one longer
    /// until it empties or rejects another. What else failed within reach of a delay is doubted.
    pub fn failures_of_target(&self, known: bool, late: u64) -> u64 {
        let all: u64 = (0..SEGMENTS).map(|segment| self.failures(segment).0).sum();
        if !known {
            return all.saturating_sub(late);
        }
        let well = Sample::new(&[&self.ok], &[], 0);
        let median = well.quantile(0.5).map_or(u64::MAX, |q| q.value as u64);
        let at_once = self.failing.doubted.as_ref().map_or(0, |s| Cells::of_segments([&**s]).up_to(median));
        let near = match self.failing.shortest_wait {
            Some(wait) => well.above((wait as f64 * (1.0 - 2.0 * DOUBT)) as u64),
            None => 0,
        };
        self.failing.slow.saturating_sub(near) + self.failing.other + at_once.saturating_sub(late)
    }

    /// Requests that ended well and may have failed had none of so many been late; `known` where the generator's delays are. Of a target
    /// that serves in order no response takes longer than it did, as counted from the intended time.
    pub fn failures_spared(&self, known: bool, late: u64, timeout: Option<Nanos>) -> u64 {
        let Some(timeout) = timeout.filter(|_| known) else { return late };
        let times = Sample::new(&[&self.ok], &[], 0);
        let as_late = times.above(timeout.0.max(0) as u64);
        let rejects = self.failing.doubted.is_some() || self.failing.other > 0;
        as_late + if rejects { late } else { 0 }
    }

    /// What the response times are of.
    pub fn kind(&self) -> ResponseKind {
        let [arrival, step, user] = self.dues;
        match (arrival, step + user) {
            (_, 0) => ResponseKind::Open,
            (0, _) => ResponseKind::Loop,
            _ => ResponseKind::Mixed,
        }
    }

    /// Response times that are open, and those that are conditional on the answers before; none where there are no others.
    pub fn split(&self, filled: usize) -> Option<[Sample; 2]> {
        let split = self.split.as_ref().filter(|_| self.kind() == ResponseKind::Mixed)?;
        Some([&split.open, &split.session].map(|[seen, given_up]| Sample::new(&[seen], &[given_up], filled)))
    }

    /// Mean response time of the requests of a segment, those without an answer until they were given up.
    pub fn response(&self, segment: usize) -> Option<f64> {
        let parts = [&self.ok, &self.answered, &self.censored].map(|strata| strata.mean(segment));
        let (n, sum) =
            parts.iter().flatten().fold((0, 0.0), |(n, sum), &(m, mean)| (n + m, sum + m as f64 * mean));
        (n > 0).then(|| sum / n as f64)
    }
}

impl LabelKept {
    fn new(labels: usize) -> LabelKept {
        LabelKept {
            observed: Labelled::new(labels),
            censored: Labelled::new(labels),
            sums: Sums::default(),
            outcomes: [0; Outcome::ALL.len()],
        }
    }

    #[inline]
    fn push(&mut self, outcome: Outcome, response: u64, count: u32) {
        self.outcomes[outcome as usize] += u64::from(count);
        let cells = if outcome.answered() { &mut self.observed } else { &mut self.censored };
        cells.push(response, count);
        self.sums.push(response, u64::from(count));
    }

    pub fn summary(&self) -> LabelSummary {
        const NS: f64 = 1e9;
        let n = self.sums.n;
        let requests = self.outcomes.iter().sum();
        let all = [&self.observed, &self.censored];
        let mut response = Spread {
            n,
            censored: self.censored.n,
            mean: self.sums.mean().map(|m| m / NS),
            sd: self.sums.variance().map(|v| v.sqrt() / NS),
            cov: self.sums.cov2().map(f64::sqrt),
            min: (n > 0).then_some(all[0].min.min(all[1].min) as f64 / NS),
            max: (n > 0).then_some(all[0].max.max(all[1].max) as f64 / NS),
            ..Spread::default()
        };
        let mut bounds = Vec::new();
        let mut quantile = |name: &'static str, p: f64| {
            let low = Labelled::quantile_of(&all, p, n)?;
            let high = match self.censored.n {
                0 => Some(low),
                _ => Labelled::quantile_of(&all[..1], p, n),
            };
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
        LabelSummary {
            n: requests,
            response,
            outcomes: outcomes(&self.outcomes),
            buckets: self.observed.buckets(),
            series: Vec::new(),
        }
    }
}

pub(crate) fn outcomes(counts: &[u64]) -> BTreeMap<String, u64> {
    let named = Outcome::ALL.iter().zip(counts).filter(|(_, n)| **n > 0);
    named.map(|(outcome, &n)| (outcome.name().to_string(), n)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_base::Nanos;

    #[test]
    fn redirects_count_unless_they_are_followed_or_expected() {
        let count = |requests: Requests| {
            let mut requests = requests;
            for (step, status) in [(0, 302), (1, 302), (1, 200), (1, 304), (0, 308)] {
                let ok = Record::never_started(0, Nanos(0), Nanos(5), Outcome::Ok);
                requests.push(&Record { step, status, started: Nanos(0).into(), ..ok }, 0);
            }
            requests.redirects
        };
        assert_eq!(count(Requests::new(2, false)), 3);
        assert_eq!(count(Requests::new(2, false).expecting_redirects(vec![0])), 1);
        assert_eq!(count(Requests::new(2, false).expecting_redirects(vec![1, 0])), 0);
        assert_eq!(count(Requests::new(2, false).following_redirects(true)), 0);
    }
}
