//! Times of requests, kept per segment of the measured phase, and the percentiles with intervals made of them.
//!
//! A request without an answer is censored: the user had waited that long and would have waited longer. A quantile
//! is told as Q_low, with censored values at the instant they were given up. If it would be more than 1 % larger
//! (Q_high) were they infinite, it is marked as a lower bound. The mean is that of the time until the answer or
//! giving up; it is marked as soon as anything is censored. Source: the two ends are those of the empirical law under
//! right censoring without further assumption (Kaplan and Meier 1958 would assume that giving up is independent of
//! slowness, which a timeout is not).
//!
//! The interval of a quantile is the set of all q for which p lies within the interval of F(q) by batch means of the
//! indicator (see `intervals`), taken on the scale of the logit (delta method), which is less skewed in the tail; from p95 on with the allowance for
//! crowds that were not seen which studies have (`steady::pooled`). F is known at
//! the ends of the histogram's cells, which are up to 0.1 % wide: the interval reaches to the outer ends of its outer cells. Where these
//! make more than a fifth of it, as from some millions of observations on, or where few values hold all, it is marked as stepped:
//! it holds the truth more often than in 95 %.

use crate::cells::{Cells, Segment};
use crate::intervals::{
    FEWEST_SEGMENTS, SEGMENTS, astride, linked, ratio_error, ratio_interval, share, t975,
};
use crate::moments::Sums;
use crate::pattern::rounded_up;
use crate::steady::{Bucket, FAR, Known, NEAREST, doubtful};
use crate::summary::{
    CurvePoint, HistogramBin, Interval, NotComputed, Percentile, PowerLaw, ResponseBucket, Spread, Why,
    mean_is_lower_bound, percentile_key,
};
use crate::tail::power_law;
use std::sync::OnceLock;

/// Observations of one quantity, by segment; nothing is allocated for segments without any.
#[derive(Clone, Debug, Default)]
pub(crate) struct Strata {
    segments: [Option<Box<Segment>>; SEGMENTS],
}

impl Strata {
    #[inline]
    pub fn push(&mut self, segment: usize, x: i64, count: u32) {
        let kept = self.segments[segment].get_or_insert_with(|| Box::new(Segment::new()));
        kept.push(x.max(0) as u64, count);
    }

    /// Number of observations within a segment.
    pub fn count(&self, segment: usize) -> u64 {
        self.segments[segment].as_ref().map_or(0, |s| s.sums.n)
    }

    /// Count and mean within a segment.
    pub fn mean(&self, segment: usize) -> Option<(u64, f64)> {
        let sums = self.segments[segment].as_ref()?.sums;
        sums.mean().map(|mean| (sums.n, mean))
    }

    fn iter(&self) -> impl Iterator<Item = &Segment> {
        self.segments.iter().flatten().map(|s| &**s)
    }
}

/// A quantity laid out for quantiles: what was observed, and what was given up.
pub(crate) struct Sample {
    /// With censored values at the instant they were given up.
    low: Cells,
    /// Without them; `low` is used where there are none.
    observed: Option<Cells>,
    by_segment: Vec<Cells>,
    sums: Vec<Sums>,
    censored: u64,
    min: Option<u64>,
    max: Option<u64>,
    max_censored: Option<u64>,
    /// Segments that were complete when the run ended.
    filled: usize,
    /// The power law that the largest follow, once somebody asked for it.
    tail: OnceLock<Option<PowerLaw>>,
    /// How many observations are worth one that is independent, once somebody asked for it.
    dependence: OnceLock<Option<f64>>,
}

/// Names of the percentiles of a block and their shares.
const PERCENTILES: [(&str, f64); 5] =
    [("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("p999", 0.999)];

/// So many observations lie beyond a quantile that has an interval, and on this side of it. With ten, the interval is 1.34 times as wide as
/// chance is.
pub(crate) const BEYOND: f64 = 20.0;

/// What lies beyond a far quantile is told from a level at which so many times as many do.
const NEARER: f64 = 5.0;

/// As many independent observations lie beyond a percentile that has an interval, or what lies there is worth as many. With fewer, the runs whose
/// interval ended within the sample were those with a short tail, and the interval lay below the truth (M/M/1 at 0.9, 10,000 requests: p99 held in 4 of 22).
const INDEPENDENT: f64 = 10.0;

/// Less dependence than this is not told from none in twenty segments: their variance exceeds its expectation by this factor in less than one
/// run in 10,000 (chi-squared of 19 degrees of freedom).
const DEPENDENT: f64 = 3.0;

/// An interval of which the outer cells make more than this part is stepped.
const STEP: f64 = 0.2;

/// A quantile as told.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Quantile {
    pub value: f64,
    pub lower_bound: bool,
}

impl Sample {
    pub fn new(observed: &[&Strata], censored: &[&Strata], filled: usize) -> Sample {
        let all = || observed.iter().chain(censored);
        let by_segment: Vec<Cells> = (0..SEGMENTS)
            .map(|i| Cells::of_segments(all().filter_map(|s| s.segments[i].as_deref())))
            .collect();
        let sums = (0..SEGMENTS).map(|i| {
            let mut sums = Sums::default();
            all().filter_map(|s| s.segments[i].as_deref()).for_each(|s| sums.merge(&s.sums));
            sums
        });
        let censored_n: u64 = censored.iter().flat_map(|s| s.iter()).map(|s| s.sums.n).sum();
        let of_observed = || Cells::of_segments(observed.iter().flat_map(|s| s.iter()));
        Sample {
            low: Cells::merged(&by_segment),
            observed: (censored_n > 0).then(of_observed),
            sums: sums.collect(),
            by_segment,
            censored: censored_n,
            min: all().flat_map(|s| s.iter()).map(|s| s.min).min(),
            max: all().flat_map(|s| s.iter()).map(|s| s.max).max(),
            max_censored: censored.iter().flat_map(|s| s.iter()).map(|s| s.max).max(),
            filled,
            tail: OnceLock::new(),
            dependence: OnceLock::new(),
        }
    }

    /// The power law of infinite variance that the largest follow, if they do.
    fn tail(&self) -> Option<PowerLaw> {
        let buckets = |cells: &Cells| -> Vec<Bucket> {
            cells.iter().map(|c| Bucket { low: c.low, high: c.high, count: c.count }).collect()
        };
        *self.tail.get_or_init(|| {
            let segments: Vec<_> = self.by_segment.iter().map(buckets).collect();
            power_law(&buckets(&self.low), &segments)
        })
    }

    pub fn n(&self) -> u64 {
        self.low.n()
    }

    /// Observations without an answer.
    pub fn censored(&self) -> u64 {
        self.censored
    }

    /// How many are up to each bound.
    pub fn buckets(&self) -> Vec<ResponseBucket> {
        self.low.buckets()
    }

    /// A histogram of it.
    pub fn bins(&self) -> Vec<HistogramBin> {
        self.low.bins()
    }

    pub fn min(&self) -> Option<f64> {
        self.min.map(|x| x as f64)
    }

    /// The largest, a lower bound if it belongs to a request without an answer.
    pub fn max(&self) -> Option<Quantile> {
        let lower_bound = self.max_censored.is_some() && self.max_censored == self.max;
        self.max.map(|x| Quantile { value: x as f64, lower_bound })
    }

    pub fn mean(&self) -> Option<f64> {
        let mut all = Sums::default();
        self.sums.iter().for_each(|s| all.merge(s));
        all.mean()
    }

    fn low(&self, p: f64) -> Option<f64> {
        let x = self.low.quantile(p)?;
        Some(x.clamp(self.min?, self.max?) as f64)
    }

    /// The quantile with every censored value at infinity.
    fn high(&self, p: f64) -> Option<f64> {
        let Some(observed) = &self.observed else { return self.low(p) };
        let x = observed.quantile_of(p, self.n())?;
        Some(x.clamp(self.min?, self.max?) as f64)
    }

    pub fn quantile(&self, p: f64) -> Option<Quantile> {
        let value = self.low(p)?;
        Some(Quantile { value, lower_bound: self.high(p).is_none_or(|high| high > 1.01 * value) })
    }

    /// How many observations are worth one that is independent: the variance of the share below the median over the segments, over that of
    /// independent ones. It is taken in the middle, since a run with few crowds beyond a far percentile would call itself long. None of too few segments.
    fn dependence(&self) -> Option<f64> {
        *self.dependence.get_or_init(|| {
            let parts = self.up_to(self.low(0.5)? as u64);
            let (error, _) = ratio_error(&parts, FEWEST_SEGMENTS)?;
            let share = parts.iter().map(|s| s.0).sum::<f64>() / parts.iter().map(|s| s.1).sum::<f64>();
            let variance = share * (1.0 - share) / self.n() as f64;
            (variance > 0.0).then(|| error * error / variance)
        })
    }

    /// Why too few of those beyond a percentile are independent.
    fn too_dependent(&self, beyond: f64) -> Result<(), Why> {
        match self.dependence() {
            Some(worth) if worth >= DEPENDENT && beyond < INDEPENDENT * worth => Err(Why::FewIndependent {
                independent: beyond / worth,
                needed: INDEPENDENT,
                requests: rounded_up(self.n() as f64 * INDEPENDENT * worth / beyond),
            }),
            _ => Ok(()),
        }
    }

    /// Whether a quantile is a number of its own: neither it nor an end of its interval is a lower bound for want of a response. Where a target
    /// refuses at once, p50 may lie between refusals and responses, and moves from the one to the other with a few requests.
    pub fn is_no_bound(&self, p: f64) -> bool {
        self.quantile(p).is_some_and(|q| !q.lower_bound) && !matches!(self.interval(p), Err(Why::EndGivenUp))
    }

    /// The quantile of these and so many more that lie beyond all of them; none where it lies among those.
    pub fn with_beyond(&self, p: f64, more: u64) -> Option<f64> {
        let x = self.low.quantile_of(p, self.n() + more)?;
        Some(x.clamp(self.min?, self.max?) as f64)
    }

    /// 95 % interval of the share of observations up to `x`, never narrower than that of independent ones; none of too few segments.
    pub fn share_interval(&self, x: u64) -> Option<Interval> {
        let segments = self.by_segment[..self.filled].iter().map(|s| (s.up_to(x), s.n()));
        self.too_few().ok()?;
        share(&segments.collect::<Vec<_>>()).map(|(_, interval)| interval)
    }

    /// Observations larger than `x`, of which the cell's width decides about those nearest to it.
    pub fn above(&self, x: u64) -> u64 {
        self.n() - self.low.up_to(x)
    }

    /// Observations up to `x`, and all, of each segment that was complete.
    pub fn up_to(&self, x: u64) -> Vec<(f64, f64)> {
        self.by_segment[..self.filled].iter().map(|s| (s.up_to(x) as f64, s.n() as f64)).collect()
    }

    /// Sum and number of observations of each segment that was complete.
    pub fn totals(&self) -> Vec<(f64, f64)> {
        self.sums[..self.filled].iter().map(|s| (s.total(), s.n as f64)).collect()
    }

    /// The standard error of a quantile's logarithm: that of the share up to it, over the density about it, which is seen as far as one
    /// standard error of the share reaches to either side.
    pub fn log_error(&self, p: f64) -> Option<f64> {
        let (error, _) = ratio_error(&self.up_to(self.quantile(p)?.value as u64), FEWEST_SEGMENTS)?;
        let [low, high] = [p - error, p + error].map(|p| self.low(p.clamp(0.0, 1.0)));
        low.zip(high).filter(|(low, _)| *low > 0.0).map(|(low, high)| (high / low).ln() / 2.0)
    }

    /// Share of observations up to `x`, and so many standard errors of it.
    fn share_up_to(&self, x: u64, errors: f64) -> Option<(f64, f64)> {
        let (error, _) = ratio_error(&self.up_to(x), FEWEST_SEGMENTS)?;
        Some((self.low.up_to(x) as f64 / self.n() as f64, error * errors))
    }

    /// How many standard errors of a share about a quantile 95 % takes. The median tells of dependence what a far quantile does not, of which
    /// few crowds were seen.
    fn errors(&self, p: f64) -> f64 {
        let factor = |p: f64| self.low(p).map_or(1.0, |x| linked(&self.up_to(x as u64)));
        let filled = self.by_segment[..self.filled].iter().filter(|s| s.n() > 0).count();
        t975(filled.saturating_sub(1)) * factor(p).max(factor(0.5))
    }

    /// The interval of a quantile in the unit of the histogram, and whether it is stepped; or why there is none.
    pub fn interval(&self, p: f64) -> Result<(Interval, bool), Why> {
        self.interval_of(p, None)
    }

    /// The same with that many standard errors of a share on either side, in place of those of 95 %.
    pub fn interval_of(&self, p: f64, errors: Option<f64>) -> Result<(Interval, bool), Why> {
        let n = self.n();
        let beyond = n as f64 * p.min(1.0 - p);
        if beyond < BEYOND - 1e-6 {
            return Err(Why::OneSide { needed: BEYOND, n });
        }
        self.too_few()?;
        if self.quantile(p).is_none_or(|q| q.lower_bound) {
            return Err(Why::GivenUp);
        }
        if errors.is_none() {
            self.too_dependent(beyond)?;
        }
        let cells: Vec<u64> = self.low.iter().map(|c| c.low).collect();
        // A comparison has an allowance of its own (`comparison::numbers`).
        let (errors, of_comparison) = match errors {
            Some(errors) => (errors, true),
            None => (self.errors(p), false),
        };
        let doubt = match of_comparison {
            false if 1.0 - p <= FAR + 1e-9 => Some(self.doubt(p, errors).ok_or(Why::EndBeyondLargest { n })?),
            _ => None,
        };
        let [low, high] = astride(p, &cells, doubt, |&cell| self.share_up_to(cell, errors));
        let [first, last] = [low, high].map(|i| self.low.iter().nth(i).copied());
        let (Some(first), Some(last)) = (first, last) else {
            return Err(Why::BeyondLargest { n });
        };
        // All of the sample lies up to the last cell, whatever p: reached only for want of a larger observation.
        let before_last = cells.len().checked_sub(2).map_or(0, |i| self.low.up_to(cells[i]));
        if high + 1 == cells.len() && before_last as f64 >= p * n as f64 {
            return Err(Why::EndBeyondLargest { n });
        }
        if self.censored > 0 {
            let share = (last.up_to as f64 / n as f64).min(1.0);
            if self.high(share).is_none_or(|q| q > 1.01 * last.high as f64) {
                return Err(Why::EndGivenUp);
            }
        }
        let (min, max) = (self.min.unwrap_or(0), self.max.unwrap_or(u64::MAX));
        let [low, high] = [first.low, last.high].map(|x| x.clamp(min, max) as f64);
        let cell = (last.high - last.low) as f64;
        Ok(([low, high], low == high || cell > STEP * (high - low)))
    }

    /// Shares beyond that may be those of chance where 1 - p is the true one: told from a level at which five times as many lie beyond, since what
    /// lies beyond comes in crowds of which few were seen ([`doubtful`]). None where no end could be told.
    fn doubt(&self, p: f64, errors: f64) -> Option<Interval> {
        let q = 1.0 - p;
        let place = ((1.0 - (NEARER * q).min(NEAREST)) * self.n() as f64).ceil() as u64;
        let level = self.low.nth(place.saturating_sub(1))?;
        let (share, half) = self.share_up_to(level, errors)?;
        let filled = self.by_segment[..self.filled].iter().filter(|s| s.n() > 0).count();
        let independent = |q: f64| t975(filled - 1) * ((1.0 - q) / (q * self.n() as f64)).sqrt();
        let beyond = 1.0 - share;
        if beyond <= q {
            // One value reaches from there beyond `p`: the segments alone tell.
            return Some([q; 2]);
        }
        let known = Known { beyond, half: half / beyond, independent: independent(beyond) };
        doubtful(q, independent(q), &known, filled)
    }

    /// Why there can be no interval from segments.
    fn too_few(&self) -> Result<(), Why> {
        let filled = self.by_segment[..self.filled].iter().filter(|s| s.n() > 0).count();
        if filled < FEWEST_SEGMENTS {
            return Err(Why::Segments { filled, of: SEGMENTS, needed: FEWEST_SEGMENTS });
        }
        if self.n() < 30 {
            return Err(Why::FewObservations { n: self.n() });
        }
        Ok(())
    }

    pub fn mean_interval(&self, mean: f64) -> Result<Interval, Why> {
        self.mean_interval_of(mean, None)
    }

    /// The same with that many standard errors on either side, in place of those of 95 %.
    pub fn mean_interval_of(&self, mean: f64, errors: Option<f64>) -> Result<Interval, Why> {
        self.too_few()?;
        if mean_is_lower_bound(self.censored, self.n()) {
            return Err(Why::MeanGivenUp { given_up: self.censored, of: self.n() });
        }
        if let Some(tail) = self.tail() {
            return Err(Why::power_law(&tail));
        }
        let totals = self.totals();
        let filled = totals.iter().filter(|s| s.1 > 0.0).count();
        let errors = errors.unwrap_or_else(|| t975(filled.saturating_sub(1)) * linked(&totals));
        let [low, high] = ratio_interval(&totals, FEWEST_SEGMENTS, Some(errors)).ok_or(Why::EmptySegments)?;
        // The mean is of all, the interval of the segments that are complete. No time and no size is negative.
        let complete = self.totals().iter().fold((0.0, 0.0), |a, s| (a.0 + s.0, a.1 + s.1));
        let moved = mean - complete.0 / complete.1;
        Ok([(low + moved).max(0.0), high + moved])
    }

    /// The block of the document. `unit` is how many of the histogram's whole numbers make one of the document's; what cannot
    /// be computed is noted under `path`.
    pub fn spread(&self, unit: f64, path: &str, not_computed: &mut NotComputed) -> Spread {
        let n = self.n();
        if n == 0 {
            not_computed.insert(path.into(), Why::NoObservations.into());
            return Spread::default();
        }
        let mut all = Sums::default();
        self.sums.iter().for_each(|s| all.merge(s));
        let mean = all.mean();
        let mut spread = Spread {
            n,
            censored: self.censored,
            mean: mean.map(|m| m / unit),
            sd: all.variance().map(|v| v.sqrt() / unit),
            cov: all.cov2().map(f64::sqrt),
            min: self.min.map(|x| x as f64 / unit),
            max: self.max.map(|x| x as f64 / unit),
            tail: self.tail().map(|tail| PowerLaw { from: tail.from / unit, ..tail }),
            ..Spread::default()
        };
        if n < 2 {
            not_computed.insert(format!("{path}.sd"), Why::OneObservation.into());
        }
        if self.censored > 0 {
            spread.lower_bound.insert("mean".into(), true);
        }
        if self.max_censored.is_some() && self.max_censored == self.max {
            spread.lower_bound.insert("max".into(), true);
        }
        let mut note = |name: &str, interval: Result<Interval, Why>| match interval {
            Ok([low, high]) => Some([low / unit, high / unit]),
            Err(reason) => {
                not_computed.insert(format!("{path}.ci95.{name}"), reason.into());
                None
            }
        };
        spread.ci95.mean = note("mean", self.mean_interval(mean.unwrap_or_default()));
        for (name, p) in PERCENTILES {
            let quantile = self.quantile(p);
            let value = quantile.map(|q| q.value / unit);
            if quantile.is_some_and(|q| q.lower_bound) {
                spread.lower_bound.insert(name.into(), true);
            }
            let interval = self.interval(p);
            if interval.as_ref().is_ok_and(|(_, stepped)| *stepped) {
                spread.stepped.insert(name.into(), true);
            }
            let interval = note(name, interval.map(|(interval, _)| interval));
            let (field, ci) = match name {
                "p50" => (&mut spread.p50, &mut spread.ci95.p50),
                "p90" => (&mut spread.p90, &mut spread.ci95.p90),
                "p95" => (&mut spread.p95, &mut spread.ci95.p95),
                "p99" => (&mut spread.p99, &mut spread.ci95.p99),
                _ => (&mut spread.p999, &mut spread.ci95.p999),
            };
            (*field, *ci) = (value, interval);
        }
        spread
    }

    /// The same with these percentiles in addition.
    pub fn spread_with(
        &self,
        percentiles: &[f64],
        unit: f64,
        path: &str,
        not_computed: &mut NotComputed,
    ) -> Spread {
        let mut spread = self.spread(unit, path, not_computed);
        for &percent in percentiles.iter().filter(|_| self.n() > 0) {
            if spread.percentile(percent).is_some() {
                continue;
            }
            let (p, key) = (percent / 100.0, percentile_key(percent));
            let quantile = self.quantile(p);
            if quantile.is_some_and(|q| q.lower_bound) {
                spread.lower_bound.insert(key.clone(), true);
            }
            let ci95 = match self.interval(p) {
                Ok(([low, high], stepped)) => {
                    spread.stepped.extend(stepped.then_some((key, true)));
                    Some([low / unit, high / unit])
                }
                Err(why) => {
                    not_computed.insert(format!("{path}.ci95.{key}"), why.into());
                    None
                }
            };
            spread.percentiles.push(Percentile { percent, value: quantile.map(|q| q.value / unit), ci95 });
        }
        spread
    }

    /// Points of the percentile curve, as far out as 10 observations lie beyond, and the maximum.
    pub fn curve(&self, unit: f64) -> Vec<CurvePoint> {
        let n = self.n();
        let mut points = Vec::new();
        let mut push = |percentile: f64, q: Option<Quantile>| {
            if let Some(q) = q {
                points.push(CurvePoint { percentile, value: q.value / unit, lower_bound: q.lower_bound });
            }
        };
        let fixed = [0.0, 5.0, 10.0, 20.0, 25.0, 30.0, 40.0, 50.0, 60.0, 70.0, 75.0, 80.0, 85.0];
        for percentile in fixed {
            push(percentile, self.quantile(percentile / 100.0));
        }
        // 90, 92.5, 95, 97.5, 99, 99.25 ... : four points for each tenfold rarer tail.
        let mut tail = 10.0f64;
        'out: loop {
            for part in [1.0, 0.75, 0.5, 0.25] {
                let beyond = tail * part / 100.0;
                if beyond * (n as f64) < 10.0 {
                    break 'out;
                }
                push(100.0 - tail * part, self.quantile(1.0 - beyond));
            }
            tail /= 10.0;
        }
        if let Some(max) = self.max {
            let lower_bound = self.max_censored == self.max;
            push(100.0, Some(Quantile { value: max as f64, lower_bound }));
        }
        points
    }
}
