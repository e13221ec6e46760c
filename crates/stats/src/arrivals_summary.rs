//! The document's block on arrivals, from what `arrivals` kept.
//!
//! Stamps cut off to a grid of step q add to the spread of headways. Counts of a Poisson process of rate r per step of the
//! grid are independent, so with a = r q and p = 1 - exp(-a) the mean square of the headways between stamps is
//! a (2 - p)/p = a coth(a/2) times their squared mean: 2 + a^2/6 - a^4/360 ... instead of 2 (for any law with a density
//! the first term is that of Sheppard 1898: each stamp adds q^2/12 to the variance). Where that matters the squared CoV
//! is told less a^2/6.
//!
//! Deliberately absent: any verdict on them.

use crate::arrivals::{ArrivalsKept, LabelGaps, RESCALED_UNIT};
use crate::cells::{Cells, Labelled};
use crate::headway_curve::curve;
use crate::ks;
use crate::moments::{Moments, Sums};
use crate::setup::PlanLaw;
use crate::streams::Streams;
use crate::summary::{Arrivals, HeadwayCurve, Intended, KsPair, LabelArrivals, NotComputed, Why};
use crate::windows::WindowsResult;
use headway_base::Nanos;
use headway_redact::Cleared;
use std::collections::BTreeMap;

/// Everything the verdict needs of the arrivals, beside the document's block.
pub(crate) struct ArrivalsResult {
    pub block: Arrivals,
    pub gaps: Moments,
    /// CoV on the scale of the plan's rate, corrected for the grid of the stamps, and its standard error.
    pub cov: Option<(f64, f64)>,
    /// Whether the mean headway is under two steps of the stamps' grid: headways then tell of the grid.
    pub coarse: bool,
    pub intended: Sums,
    /// The windows of fixed length, which the load rule looks at: 1 ms, 10 ms, 100 ms, 1 s (of foreign logs 10 s and 60 s
    /// too), as far as the grid of the stamps and the length of the run allow.
    pub rule_windows: Vec<WindowsResult>,
    /// Of arrivals as they started, less waits at the connection cap and lateness that is forgiven, those that are at least as
    /// long as it; none where nothing tells.
    pub forgiven_windows: Vec<WindowsResult>,
    /// Their headways.
    pub forgiven: Sums,
    /// Whether short headways are more frequent than of an exponential law, where the two differ most.
    pub more_short: bool,
    pub curve: Option<HeadwayCurve>,
}

const NS: f64 = 1e9;

/// From this mean headway down, in steps of the stamps' grid, headways tell of the grid.
const COARSE: f64 = 2.0;

/// The distance of stamps as they stand is told beside the dithered one from this value of rate x q x sqrt(n) on: the
/// ties alone then take up a good part of the 5 % point.
const TIES_MATTER: f64 = 0.3;

pub(crate) fn arrivals_result(
    kept: &ArrivalsKept,
    streams: &Streams,
    plan: Option<&PlanLaw>,
    labels: &[Cleared],
    until: Nanos,
    not_computed: &mut NotComputed,
) -> ArrivalsResult {
    let mut gaps = Moments::default();
    kept.segments.iter().for_each(|segment| gaps.merge(&segment.gaps.moments()));
    let [intended, forgiven] = [streams.intended(), streams.forgiven()].map(|of| {
        let mut sums = Sums::default();
        of.gaps.iter().for_each(|gaps| sums.merge(gaps));
        sums
    });
    let started = kept.segments.iter().map(|s| s.started).sum();
    let cells = kept.gaps.cells();
    let rescaled_cells = kept.rescaled.as_ref().map(|r| r.gaps.cells());
    let rescaled = kept.rescaled.as_ref().map(|r| r.moments.moments());
    let mut block = headways(kept, &gaps, &cells, started);
    if gaps.n == 0 {
        not_computed.insert("arrivals".into(), Why::NoHeadways { started }.into());
    }
    if kept.compares && kept.planned {
        block.intended = Some(Intended {
            n: intended.n,
            rate: intended.mean().filter(|&m| m > 0.0).map(|m| NS / m),
            cov: intended.cov2().map(f64::sqrt),
        });
    }
    let grid = kept.grid.0 as f64;
    let coarse = kept.grid > Nanos(1) && gaps.n > 0 && gaps.mean < COARSE * grid;
    let cov = correct(&mut block, &gaps, rescaled.as_ref(), if coarse { 0.0 } else { grid });
    // Without a plan the argument of a law is the headway in mean headways.
    let rate = plan.and_then(|p| kept.mean_rate(p));
    let unit = match (&rescaled_cells, rate) {
        (Some(_), _) => RESCALED_UNIT,
        (None, Some(rate)) => rate / NS,
        (None, None) => gaps.mean().filter(|&m| m > 0.0).map_or(1.0, |m| 1.0 / m),
    };
    let law_cells = rescaled_cells.as_ref().unwrap_or(&cells);
    let mean = rescaled.map_or(gaps.mean * unit, |m| m.mean);
    let more_short;
    block.ks = match (&kept.dither, &rescaled) {
        (Some(dither), None) if gaps.n > 0 => {
            let cells = dither.gaps.cells();
            more_short = ks::more_short(&cells, unit, dither.mean(gaps.n) * unit);
            let mut pair = distances(&cells, unit, dither.mean(gaps.n) * unit, plan, not_computed);
            let ties = grid / gaps.mean * (gaps.n as f64).sqrt();
            let as_stamped = || ks::against_fitted_exponential(law_cells, unit, mean);
            pair.exponential_as_stamped = (ties > TIES_MATTER).then(as_stamped).flatten();
            pair
        }
        _ => {
            more_short = ks::more_short(law_cells, unit, mean);
            distances(law_cells, unit, mean, plan, not_computed)
        }
    };

    let expected = kept.expected(plan);
    let due = &streams.intended().counters;
    let results: Vec<_> =
        kept.windows.iter().zip(due).map(|(w, due)| w.result(due, until, &expected)).collect();
    let poisson = plan.is_none_or(|p| p.poisson);
    block.dispersion = results.iter().flatten().map(|w| w.row).collect();
    for row in &mut block.dispersion {
        // Without recorded instants the plan's law in the limit of long windows.
        let law = plan.map_or(1.0, |p| p.dispersion);
        row.expected = if poisson { 1.0 } else { row.intended.unwrap_or(law) };
    }
    block.dispersion.sort_by(|a, b| a.window.total_cmp(&b.window));
    block.dispersion.dedup_by(|a, b| a.window == b.window);
    let rule_windows = results.into_iter().flatten().collect();
    let counters = streams.forgiven().counters.iter().zip(due);
    let long =
        streams.grids().iter().zip(counters).filter(|(grid, _)| grid.width() >= kept.lateness.length());
    let forgiven_windows =
        long.filter_map(|(grid, (sent, due))| grid.compare(sent, due, until, &expected)).collect();
    if block.dispersion.is_empty() {
        not_computed.insert("arrivals.dispersion".into(), Why::NoWindow.into());
    }
    block.by_label = by_label(kept, &block, labels);
    let on_grid = (kept.grid > Nanos(1) && rescaled.is_none()).then_some(kept.grid);
    let mut curve = curve(law_cells, unit, &gaps, plan, on_grid);
    if coarse {
        // Both would describe the clock, or the dither, and look like a law that they know nothing of.
        let q = grid / NS;
        let reason = Why::CoarseStamps { grid_s: q, headway_s: Some(gaps.mean / NS) };
        (block.ks, curve) = (KsPair::default(), None);
        for path in ["arrivals.ks.plan", "arrivals.ks.exponential", "curves.headway"] {
            not_computed.insert(path.into(), reason.clone().into());
        }
    }
    ArrivalsResult {
        block,
        gaps,
        cov,
        coarse,
        intended,
        rule_windows,
        forgiven_windows,
        forgiven,
        more_short,
        curve,
    }
}

/// Corrects the CoV of the block for stamps on a grid of this step where that matters, which is where its effect on the
/// CoV exceeds half the standard error. Returns the CoV on the scale of the plan's rate and its standard error, corrected
/// in the same way.
fn correct(
    block: &mut Arrivals,
    gaps: &Moments,
    rescaled: Option<&Moments>,
    grid: f64,
) -> Option<(f64, f64)> {
    let (raw, se) = (block.cov?, block.cov_se?);
    let a = grid / gaps.mean;
    let matters = grid > 1.0 && grid_matters(a, se);
    let corrected = |cov: f64| if matters { without_grid(cov, a) } else { cov };
    block.cov = Some(corrected(raw));
    block.cov_as_stamped = matters.then_some(raw);
    match rescaled {
        Some(rescaled) => Some((corrected(rescaled.cov()?), rescaled.cov_se()?)),
        None => Some((corrected(raw), se)),
    }
}

/// Whether stamps on a grid of `a` mean headways change the CoV by more than half its standard error.
fn grid_matters(a: f64, se: f64) -> bool {
    a * a / 12.0 > 0.5 * se
}

fn without_grid(cov: f64, a: f64) -> f64 {
    (cov * cov - a * a / 6.0).max(0.0).sqrt()
}

/// A CoV of headways between stamps on a grid of `a` mean headways, corrected where that matters.
pub(crate) fn grid_corrected(cov: f64, se: f64, a: f64) -> f64 {
    if grid_matters(a, se) { without_grid(cov, a) } else { cov }
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
    not_computed: &mut NotComputed,
) -> KsPair {
    let mut pair =
        KsPair { exponential: ks::against_fitted_exponential(cells, scale, mean), ..KsPair::default() };
    let reason = match plan {
        None => Why::NoPlan,
        // Every clock differs from a metronome: the distance from one point is near 1/2 or 1, and says nothing.
        Some(plan) if plan.gap_cov == 0.0 => Why::EqualHeadways,
        Some(PlanLaw { gap_cdf: None, .. }) => Why::NoCommonLaw,
        // No clock keeps headways of 0, so that here too the distance would be that of one point.
        Some(PlanLaw { gap_cdf: Some(cdf), .. }) if cdf(0.0) > 0.0 => {
            Why::SimultaneousArrivals { share: cdf(0.0) }
        }
        Some(PlanLaw { gap_cdf: Some(cdf), .. }) => {
            pair.plan = ks::against_known(cells, scale, &**cdf);
            Why::NoHeadways { started: 0 }
        }
    };
    if pair.plan.is_none() {
        not_computed.insert("arrivals.ks.plan".into(), reason.into());
    }
    if pair.exponential.is_none() {
        not_computed.insert("arrivals.ks.exponential".into(), Why::OneHeadway.into());
    }
    pair
}

fn by_label(kept: &ArrivalsKept, whole: &Arrivals, labels: &[Cleared]) -> BTreeMap<Cleared, LabelArrivals> {
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
    let gaps = &kept.moments.moments();
    let quantile = |p| Labelled::quantile_of(&[&kept.cells], p, kept.cells.n).map(|x| x as f64 / NS);
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
        min: (gaps.n > 0).then_some(kept.cells.min as f64 / NS),
        max: (gaps.n > 0).then_some(kept.cells.max as f64 / NS),
        lag1: kept.lag1.autocorrelation(gaps),
    }
}
