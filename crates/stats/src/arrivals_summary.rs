//! The document's block on arrivals, and the headway histogram, from what `arrivals` kept.
//!
//! Deliberately absent: any verdict on them.

use crate::arrivals::{ArrivalsKept, LabelGaps, PATTERN_WINDOWS, RESCALED_UNIT, RULE_WINDOWS};
use crate::cells::Cells;
use crate::ks;
use crate::moments::{Moments, Sums};
use crate::setup::PlanLaw;
use crate::summary::{Arrivals, HeadwayBin, HeadwayCurve, Intended, KsPair, LabelArrivals};
use crate::windows::WindowsResult;
use base::Nanos;
use std::collections::BTreeMap;

/// Everything the verdict needs of the arrivals, beside the document's block.
pub(crate) struct ArrivalsResult {
    pub block: Arrivals,
    pub gaps: Moments,
    /// Moments on the scale of the plan's rate, in mean headways, where that differs by more than a factor.
    pub rescaled: Option<Moments>,
    pub intended: Sums,
    /// The windows of the load rule: 1 ms, 10 ms, 100 ms, 1 s.
    pub rule_windows: Vec<Option<WindowsResult>>,
    /// Windows of 10 and of 100 mean headways.
    pub pattern_windows: [Option<WindowsResult>; 2],
    pub curve: Option<HeadwayCurve>,
}

const NS: f64 = 1e9;

/// Bins of the headway histogram, over this many mean headways.
const BINS: usize = 64;
const BINS_SPAN: f64 = 8.0;

pub(crate) fn arrivals_result(
    kept: &ArrivalsKept,
    plan: Option<&PlanLaw>,
    labels: &[String],
    until: Nanos,
    not_computed: &mut BTreeMap<String, String>,
) -> ArrivalsResult {
    let (mut gaps, mut intended) = (Moments::default(), Sums::default());
    for segment in &kept.segments {
        gaps.merge(&segment.gaps);
        intended.merge(&segment.intended);
    }
    let started = kept.segments.iter().map(|s| s.started).sum();
    let cells = kept.gaps.cells();
    let rescaled_cells = kept.rescaled.as_ref().map(|r| r.gaps.cells());
    let rescaled = kept.rescaled.as_ref().map(|r| r.moments);
    let mut block = headways(kept, &gaps, &cells, started);
    if gaps.n == 0 {
        not_computed.insert("arrivals".into(), format!("no headways ({started} arrivals started)"));
    }
    if kept.compares {
        block.intended = Some(Intended {
            n: intended.n,
            rate: intended.mean().filter(|&m| m > 0.0).map(|m| NS / m),
            cov: intended.cov2().map(f64::sqrt),
        });
    }
    // Without a plan the argument of a law is the headway in mean headways.
    let rate = plan.and_then(|p| kept.mean_rate(p));
    let scale = match (&rescaled_cells, rate) {
        (Some(_), _) => RESCALED_UNIT,
        (None, Some(rate)) => rate / NS,
        (None, None) => gaps.mean().filter(|&m| m > 0.0).map_or(1.0, |m| 1.0 / m),
    };
    let law_cells = rescaled_cells.as_ref().unwrap_or(&cells);
    let mean = rescaled.map_or(gaps.mean * scale, |m| m.mean);
    block.ks = distances(law_cells, scale, mean, plan, not_computed);

    let expected = kept.expected(plan);
    let results: Vec<_> = kept.windows.iter().map(|w| w.result(until, &expected)).collect();
    let rule_windows = results[..RULE_WINDOWS.len()].to_vec();
    let pattern_windows = match &kept.ladder {
        Some(ladder) => PATTERN_WINDOWS.map(|gaps_long| ladder.nearest(gaps.mean()? * gaps_long)),
        None => std::array::from_fn(|i| results.get(RULE_WINDOWS.len() + i).cloned().flatten()),
    };
    let poisson = plan.is_none_or(|p| p.poisson);
    block.dispersion = rule_windows.iter().chain(&pattern_windows).flatten().map(|w| w.row).collect();
    for row in &mut block.dispersion {
        row.expected = if poisson { 1.0 } else { row.intended.unwrap_or(1.0) };
    }
    block.dispersion.sort_by(|a, b| a.window.total_cmp(&b.window));
    block.dispersion.dedup_by(|a, b| a.window == b.window);
    if block.dispersion.is_empty() {
        not_computed.insert("arrivals.dispersion".into(), "no window length fits 30 times".into());
    }
    block.by_label = by_label(kept, &block, labels);
    let curve = curve(law_cells, scale, &gaps, plan);
    ArrivalsResult { block, gaps, rescaled, intended, rule_windows, pattern_windows, curve }
}

fn headways(kept: &ArrivalsKept, gaps: &Moments, cells: &Cells, started: u64) -> Arrivals {
    let extreme = |x: u64| (gaps.n > 0).then_some(x as f64 / NS);
    let quantile = |p| cells.quantile(p).map(|x| x.clamp(kept.min, kept.max) as f64 / NS);
    Arrivals {
        n: gaps.n,
        started,
        rate: gaps.mean().filter(|&m| m > 0.0).map(|m| NS / m),
        headway_mean: gaps.mean().map(|m| m / NS),
        headway_sd: gaps.sd().map(|s| s / NS),
        cov: gaps.cov(),
        cov_se: gaps.cov_se(),
        cov_se_poisson: (gaps.n > 0).then(|| 1.0 / (gaps.n as f64).sqrt()),
        skewness: gaps.skewness(),
        kurtosis: gaps.kurtosis(),
        p50: quantile(0.5),
        p90: quantile(0.9),
        p95: quantile(0.95),
        p99: quantile(0.99),
        min: extreme(kept.min),
        max: extreme(kept.max),
        lag1: kept.lag1.autocorrelation(gaps),
        in_pause: kept.in_pause(),
        ..Arrivals::default()
    }
}

fn distances(
    cells: &Cells,
    scale: f64,
    mean: f64,
    plan: Option<&PlanLaw>,
    not_computed: &mut BTreeMap<String, String>,
) -> KsPair {
    let mut pair =
        KsPair { exponential: ks::against_fitted_exponential(cells, scale, mean), ..KsPair::default() };
    let reason = match plan {
        None => "there is no plan",
        // Every clock differs from a metronome: the distance from one point is near 1/2 or 1, and says nothing.
        Some(plan) if plan.gap_cov == 0.0 => "the plan's gaps are all equal",
        Some(PlanLaw { gap_cdf: None, .. }) => "the plan's gaps have no common law",
        Some(PlanLaw { gap_cdf: Some(cdf), .. }) => {
            pair.plan = ks::against_known(cells, scale, cdf);
            "no headways"
        }
    };
    if pair.plan.is_none() {
        not_computed.insert("arrivals.ks.plan".into(), reason.into());
    }
    if pair.exponential.is_none() {
        not_computed.insert("arrivals.ks.exponential".into(), "fewer than 2 headways".into());
    }
    pair
}

fn by_label(kept: &ArrivalsKept, whole: &Arrivals, labels: &[String]) -> BTreeMap<String, LabelArrivals> {
    // With one label there is nothing to tell apart: its headways are those of the whole.
    if let [only] = labels {
        let label = LabelArrivals {
            n: whole.n,
            rate: whole.rate,
            headway_mean: whole.headway_mean,
            headway_sd: whole.headway_sd,
            cov: whole.cov,
            cov_se: whole.cov_se,
            cov_se_poisson: whole.cov_se_poisson,
            p50: whole.p50,
            p90: whole.p90,
            p95: whole.p95,
            p99: whole.p99,
            min: whole.min,
            max: whole.max,
            lag1: whole.lag1,
        };
        return BTreeMap::from([(only.clone(), label)]);
    }
    labels.iter().cloned().zip(kept.labels.iter().map(of_label)).collect()
}

fn of_label(kept: &LabelGaps) -> LabelArrivals {
    let gaps = &kept.moments;
    let quantile = |p| kept.cells.quantile(p).map(|x| x.max(kept.min) as f64 / NS);
    LabelArrivals {
        n: gaps.n,
        rate: gaps.mean().filter(|&m| m > 0.0).map(|m| NS / m),
        headway_mean: gaps.mean().map(|m| m / NS),
        headway_sd: gaps.sd().map(|s| s / NS),
        cov: gaps.cov(),
        cov_se: gaps.cov_se(),
        cov_se_poisson: (gaps.n > 0).then(|| 1.0 / (gaps.n as f64).sqrt()),
        p50: quantile(0.5),
        p90: quantile(0.9),
        p95: quantile(0.95),
        p99: quantile(0.99),
        min: (gaps.n > 0).then_some(kept.min as f64 / NS),
        max: (gaps.n > 0).then_some(kept.cells.max as f64 / NS),
        lag1: kept.lag1.autocorrelation(gaps),
    }
}

/// Headways in bins of an eighth of a mean headway, and what the plan's law (else an exponential one) expects there.
fn curve(cells: &Cells, scale: f64, gaps: &Moments, plan: Option<&PlanLaw>) -> Option<HeadwayCurve> {
    let n = cells.n();
    if n == 0 {
        return None;
    }
    let cdf = plan.and_then(|p| p.gap_cdf.as_ref());
    let law = |x: f64| cdf.map_or_else(|| -(-x).exp_m1(), |f| f(x));
    let width = BINS_SPAN / BINS as f64;
    let expected = |from: f64, to: f64| (law(to) - law(from)) * n as f64;
    let mut bins: Vec<_> = (0..BINS)
        .map(|i| {
            let (from, to) = (i as f64 * width, (i + 1) as f64 * width);
            HeadwayBin { from, to: Some(to), observed: 0, expected: expected(from, to) }
        })
        .collect();
    let beyond = n as f64 * (1.0 - law(BINS_SPAN));
    let mut tail = HeadwayBin { from: BINS_SPAN, to: None, observed: 0, expected: beyond };
    for cell in cells.iter() {
        let middle = 0.5 * (cell.low as f64 + cell.high as f64 + 1.0) * scale;
        bins.get_mut((middle / width) as usize).unwrap_or(&mut tail).observed += cell.count;
    }
    let name = if cdf.is_some() { "plan" } else { "exponential" };
    Some(HeadwayCurve { n, law: name.into(), unit_s: gaps.mean / NS, bins, tail })
}
