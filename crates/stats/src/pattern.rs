//! The second question: are the starts like those of independent users, and up to what time scale was that shown?
//!
//! Each statistic is an effect with a 95 % interval and a bound: inside = shown, outside = not so, astride = open. A load is
//! independent if the CoV, the distance from an exponential law, the correlation of successive headways and the counts over
//! ten mean headways are all shown to lie within their bounds, and the spectrum of the counts has no line. The scale is the
//! longest window up to which the counts are within. The measurements stand in `pattern_stats`. Deliberately absent: whether
//! the pattern was asked for; an even load can be VALID.

use crate::arrivals::ArrivalsKept;
use crate::arrivals_summary::ArrivalsResult;
use crate::intervals::SEGMENTS;
use crate::ladder::Rung;
use crate::pattern_stats::{Estimate, Measures};
use crate::rules::judge;
use crate::setup::Tolerances;
use crate::spectrum::CHANCE;
use crate::summary::{Interval, Limits, Pattern, RuleId, RuleOutcome, RuleResult, ScaleEnd, Why};
use headway_base::Nanos;

/// Half the width of a 95 % interval in standard errors.
pub(crate) const Z95: f64 = 1.96;

/// Standard errors by which an index must fall short of 1: half a percent of independent loads do by chance.
pub(crate) const CLEARLY: f64 = 2.576;

/// With fewer arrivals the distance from an exponential law cannot be shown to be within its bound: of Poisson arrivals it
/// is 0.8/sqrt(n) in the median, and its interval reaches 1.36/sqrt(n) further.
const FEWEST: f64 = 6_000.0;

/// Of independent loads of so many arrivals nearly all are shown to be so: fewer are not foretold to do.
const ENOUGH: f64 = 10_000.0;

/// One in twenty normal values exceeds it.
const Z90: f64 = 1.645;

/// What fewer arrivals show is too uncertain for a number that would decide.
const FORETELLS: f64 = 2_000.0;

/// More arrivals than so many times those seen are not foretold.
const FORETOLD: f64 = 100.0;

/// What the starts look like, and what that rests on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Judged {
    pub pattern: Pattern,
    /// Longest window, in seconds, up to which the starts were shown to be independent.
    pub scale: Option<f64>,
    pub ends: Option<ScaleEnd>,
    pub rules: Vec<RuleResult>,
    /// Arrivals that would probably decide what is open.
    pub needs: Option<u64>,
    /// The shortest window in which counts vary clearly less than those of independent users.
    pub below: Option<(Rung, Interval)>,
    /// Where the longest headways change the pattern: the pattern without them, and when they were, in seconds.
    pub without: Option<(Pattern, Vec<[f64; 2]>)>,
    /// After how many seconds the load repeats itself.
    pub repeats: Option<f64>,
}

fn within(low: f64, high: f64) -> Limits {
    Limits { low: Some(low), high: Some(high) }
}

fn row(rule: RuleId, estimate: Option<Estimate>, limits: Limits, n: u64) -> RuleResult {
    let interval = estimate.map(|e| e.interval());
    let outcome = interval.map_or(RuleOutcome::Undecided, |i| judge(i, limits));
    let value = estimate.map(|e| e.value);
    let reason = match (interval, outcome) {
        (None, _) => Some(Why::FewHeadways { n, needed: None }),
        (_, RuleOutcome::Undecided) => Some(Why::AstrideLimit { n }),
        _ => None,
    };
    let reason = reason.map(Why::into);
    RuleResult { rule, value, interval, limits, outcome, n, reason, ..RuleResult::default() }
}

/// The index over one length of window.
fn counts(rung: &Rung, share: f64, t: &Tolerances) -> RuleResult {
    let half = |share| Z95 * rung.index * rung.se(share);
    let limits = within(t.low_dispersion, t.pattern_dispersion);
    let n = rung.windows as u64;
    // Of a load that repeats itself, more windows are not more evidence of bunches.
    let estimate = Estimate { value: rung.index, half: half(1.0) };
    let mut row = row(RuleId::Dispersion, Some(estimate), limits, n);
    row.window = Some(rung.window as f64 / 1e9);
    let low = row.outcome == RuleOutcome::Fail && rung.index < 1.0;
    let by_chance = (low && rung.index > 1.0 - CLEARLY * rung.se(1.0))
        || (!low && row.outcome == RuleOutcome::Fail && rung.index - half(share) < t.pattern_dispersion);
    if by_chance {
        row.outcome = RuleOutcome::Undecided;
    }
    row
}

/// The strongest line: one that chance explains is none.
fn line(measures: &Measures, t: &Tolerances) -> RuleResult {
    let limits = Limits { low: None, high: Some(t.pattern_line) };
    let Some(line) = measures.line else {
        // Too few arrivals for any line: the other measures cannot be decided either.
        return RuleResult {
            reason: Some(Why::FewArrivals { n: None }.into()),
            ..row(RuleId::Line, None, limits, measures.n)
        };
    };
    let mut row =
        row(RuleId::Line, Some(Estimate { value: line.amplitude, half: Z95 * line.se }), limits, measures.n);
    row.window = Some(line.period / 1e9);
    let may_be_chance = line.p >= CHANCE;
    if may_be_chance {
        row.outcome = RuleOutcome::Pass;
        row.reason = Some(Why::ByChance { p: line.p }.into());
    }
    row
}

/// Above or below its limits.
fn fails(row: &RuleResult) -> Option<Pattern> {
    let value = row.value.filter(|_| row.outcome == RuleOutcome::Fail)?;
    let above = row.limits.high.is_some_and(|high| value > high);
    Some(if above { Pattern::Bunched } else { Pattern::Even })
}

/// Arrivals with which 95 of 100 loads of independent users show that this holds. How far the value lies from its limit is not asked: of what
/// is undecided one half of a load says another distance than the other.
fn needed(row: &RuleResult, n: f64) -> f64 {
    let Some([low, high]) = row.interval else { return FEWEST };
    let margin = match (row.limits.low, row.limits.high) {
        (Some(low), Some(high)) => 0.5 * (high - low),
        // Of independent users it is 0.
        (None, Some(high)) => high,
        _ => return FEWEST,
    };
    // The interval must be within, wherever chance puts its middle.
    n * ((1.0 + Z90 / Z95) * 0.5 * (high - low) / margin).powi(2)
}

/// Rounded up to two digits.
pub(crate) fn rounded_up(n: f64) -> u64 {
    let unit = 10f64.powf((n.log10().floor() - 1.0).max(0.0));
    ((n / unit).ceil() * unit) as u64
}

/// A slow change of the rate accounts for this share of what counts over long windows vary by.
const DRIFT_EXPLAINS: f64 = 0.5;

/// Whether counts vary more over long windows because the rate changes slowly: independent users of the rates by twentieths would
/// have counts that vary about as much.
fn drifts(measures: &Measures, rows: &[RuleResult]) -> bool {
    let Some(cv2) = measures.drift() else { return false };
    let above = rows.iter().zip(&measures.rungs).filter(|(row, _)| fails(row) == Some(Pattern::Bunched));
    let explained =
        |rung: &Rung| rung.window as f64 / measures.mean * cv2 >= DRIFT_EXPLAINS * (rung.index - 1.0);
    above.into_iter().all(|(_, rung)| explained(rung))
}

fn judged(measures: &Measures, t: &Tolerances) -> Judged {
    let share = measures.distinct_share();
    let rows: Vec<RuleResult> = measures.rungs.iter().map(|rung| counts(rung, share, t)).collect();
    let ladder: Vec<RuleOutcome> = rows.iter().map(|row| row.outcome).collect();
    let below = rows.iter().position(|row| fails(row) == Some(Pattern::Even));
    let bunched = rows.iter().any(|row| fails(row) == Some(Pattern::Bunched));
    let line = line(measures, t);
    let repeats = measures.repeats();
    let mut rules = Vec::new();
    let mut lag = None;
    let mut law = None;
    let mut cov = None;
    if !measures.coarse {
        let c = row(
            RuleId::Cov,
            measures.cov,
            within(1.0 - t.pattern_cov, 1.0 + t.pattern_cov),
            measures.headways,
        );
        let k =
            row(RuleId::Ks, measures.ks, Limits { low: None, high: Some(t.pattern_ks) }, measures.headways);
        let l = row(RuleId::Lag1, measures.lag1, within(-t.pattern_lag1, t.pattern_lag1), measures.n);
        cov = fails(&c);
        // More short headways than of independent users: clustered; fewer: kept apart.
        law = fails(&k).map(|_| if measures.more_short { Pattern::Bunched } else { Pattern::Even });
        lag = fails(&l);
        rules.extend([c, k, l]);
    }
    rules.push(line.clone());
    let open = rules.iter().any(|row| row.outcome != RuleOutcome::Pass);
    let shown = ladder.iter().take_while(|&&outcome| outcome == RuleOutcome::Pass).count();
    let even = |is: bool| is.then_some(Pattern::Even);
    // A line alone does not tell whether queues look longer or shorter.
    let waves = fails(&line).map(|_| measures.direction().unwrap_or(Pattern::Periodic));
    let independent = (shown > 0 && !open).then_some(Pattern::Independent);
    let drifts = independent.is_some() && bunched && drifts(measures, &rows);
    let pattern = None
        .or((bunched && !drifts).then_some(Pattern::Bunched))
        .or(cov.filter(|&cov| cov == Pattern::Bunched))
        .or(even(below == Some(0)))
        .or(cov)
        .or(even(repeats.is_some()))
        .or(lag)
        .or(law)
        .or(waves)
        .or(independent)
        .unwrap_or(Pattern::Undecided);
    let n = measures.n as f64;
    let needs = (pattern == Pattern::Undecided)
        .then(|| {
            let open = rules.iter().chain(rows.first()).filter(|row| row.outcome == RuleOutcome::Undecided);
            let least = if measures.coarse { 0.0 } else { ENOUGH };
            let open = open.filter(|_| n >= FORETELLS || measures.coarse);
            open.map(|row| needed(row, n)).fold(least, f64::max)
        })
        .filter(|&needs| needs > n && needs < FORETOLD * n.max(FEWEST));
    let first_open = rows.get(shown).and_then(|row| row.interval);
    let ends = match (pattern, first_open) {
        (Pattern::Independent, _) if drifts => Some(ScaleEnd::Drift),
        (Pattern::Independent, _) if below.is_some() => Some(ScaleEnd::Fewer),
        (Pattern::Independent, Some([low, _])) if low > 1.0 => Some(ScaleEnd::More),
        (Pattern::Independent, _) => Some(ScaleEnd::Length),
        _ => None,
    };
    let below = below.and_then(|i| Some((measures.rungs[i], rows[i].interval?)));
    let scale = shown.checked_sub(1).and_then(|last| rows[last].window);
    rules.extend(rows);
    Judged {
        pattern,
        scale: scale.filter(|_| pattern == Pattern::Independent),
        ends,
        rules,
        needs: needs.map(rounded_up),
        below,
        without: None,
        repeats: repeats.map(|period| period / 1e9),
    }
}

/// A load with its pauses cut out of the time, and when they were, in nanoseconds.
pub(crate) struct Apart<'a> {
    pub kept: &'a ArrivalsKept,
    pub arrivals: ArrivalsResult,
    /// When it ended on its own time.
    pub until: Nanos,
    pub at: Vec<[i64; 2]>,
}

/// The pattern, with and without the longest headways where those are too long for chance. One pause must not hide that a load
/// is even, nor may it be overlooked. In another tool's rows pauses are cut out one by one; of a run the twentieths that
/// hold its longest headways are left out (independent users make one beyond (ln n + 3) means in one load of twenty).
pub(crate) fn pattern(
    kept: &ArrivalsKept,
    arrivals: &ArrivalsResult,
    tolerances: &Tolerances,
    send_cost: Option<Nanos>,
    (foreign, apart): (bool, Option<&Apart>),
) -> Judged {
    if arrivals.gaps.mean().is_none() {
        return Judged::default();
    }
    let measures = Measures::new(kept, arrivals, tolerances, send_cost, SEGMENTS, &[]);
    let with = judged(&measures, tolerances);
    let seconds = |at: &[i64; 2]| at.map(|ns| ns as f64 / 1e9);
    if let Some(apart) = apart {
        let filled = apart.kept.measured.filled(apart.until).max(1);
        let cut = Measures::new(apart.kept, &apart.arrivals, tolerances, send_cost, filled, &[]);
        let at = apart.at.iter().map(seconds).collect();
        return if 2 * cut.n < measures.n { with } else { between(with, judged(&cut, tolerances), at) };
    }
    let long = ((measures.n as f64).ln() + 3.0) * measures.mean;
    let gaps: Vec<_> = kept.longest.iter().filter(|gap| gap.length as f64 > long).copied().collect();
    if gaps.is_empty() || foreign {
        return with;
    }
    let apart = Measures::new(kept, arrivals, tolerances, send_cost, SEGMENTS, &gaps);
    if 2 * apart.n < measures.n {
        return with;
    }
    let without = judged(&apart, tolerances);
    let mut at: Vec<[f64; 2]> = gaps.iter().map(|g| seconds(&[g.from, g.to])).collect();
    at.sort_by(|a, b| a[0].total_cmp(&b[0]));
    match (with.pattern, without.pattern) {
        (with, without) if with == without => {}
        (_, Pattern::Even) | (Pattern::Undecided, Pattern::Bunched) => {
            return Judged { without: Some((with.pattern, at)), ..without };
        }
        (_, pattern @ (Pattern::Independent | Pattern::Bunched)) => {
            return Judged { without: Some((pattern, at)), ..with };
        }
        _ => {}
    }
    with
}

/// The pattern of another tool's load: it is told with its pauses, so that one that is independent between them may be called so.
/// Bunched by its pauses it is bunched.
fn between(with: Judged, without: Judged, at: Vec<[f64; 2]>) -> Judged {
    match (with.pattern, without.pattern) {
        (Pattern::Bunched, Pattern::Bunched) => with,
        (_, Pattern::Even)
        | (Pattern::Undecided, Pattern::Bunched | Pattern::Independent | Pattern::Periodic) => {
            Judged { without: Some((with.pattern, at)), ..without }
        }
        // Of what the pauses leave there may be too little to tell.
        (pattern, Pattern::Undecided) => Judged { without: Some((pattern, at)), ..with },
        (_, otherwise) => Judged { without: Some((otherwise, at)), ..with },
    }
}

/// Twentieths of the measured phase that hold none of these stretches.
pub(crate) fn apart_from(kept: &ArrivalsKept, gaps: &[[i64; 2]]) -> [bool; SEGMENTS] {
    let mut keep = [true; SEGMENTS];
    for [from, to] in gaps {
        let [first, last] = [*from, *to].map(|at| kept.segment(Nanos(at)));
        let first = first.unwrap_or(0);
        keep[first..=last.unwrap_or(SEGMENTS - 1).max(first)].fill(false);
    }
    keep
}
