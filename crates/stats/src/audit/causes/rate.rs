//! A rate that is not the same throughout: a steady stretch beside others, a slow drift, a ramp at an end.
//!
//! Deliberately absent: how the pattern takes it.

use super::{Case, EXPLAINS, found};
use crate::summary::evidence::Cause;
use crate::summary::{Evidence, Finding, Pattern, RuleId, RuleOutcome, ScaleEnd, Severity};

/// Neighbouring parts of a drift differ by less than this, as a share of what those of no order do (von Neumann 1941: of twenty
/// parts one in a thousand).
const SMOOTH: f64 = 0.35;
/// A straight line accounts for this share of what the parts vary by.
const STRAIGHT: f64 = 0.8;
/// The gaps of a ramp lie within this share of the time at an end,
const END: f64 = 0.1;
/// where up to them there are so few of the starts to be expected.
const THIN: f64 = 0.5;
/// and parts of the time that are next to it.
const AT_AN_END: usize = 2;
/// A part of the time in the midst has another rate if it differs by this share.
const MUCH: f64 = 0.2;
/// Mean headways by which the end of a ramp is found.
const BLOCK: f64 = 50.0;

/// How far from a mean count a part must be to have another rate.
fn far(mean: f64) -> f64 {
    (super::OTHER_RATE * mean).max(super::OTHER_RATE_ERRORS * mean.sqrt())
}

/// The longest stretch of neighbouring parts whose rates agree, as a range of parts; and its mean count.
fn steady(parts: &[u64]) -> Option<(std::ops::Range<usize>, f64)> {
    let mut best: Option<(std::ops::Range<usize>, f64)> = None;
    for from in 0..parts.len() {
        for to in from + super::STEADY_PARTS..=parts.len() {
            let within = &parts[from..to];
            let mean = within.iter().sum::<u64>() as f64 / within.len() as f64;
            let agree = within.iter().all(|&n| (n as f64 - mean).abs() <= far(mean));
            if agree && best.as_ref().is_none_or(|(range, _)| range.len() < to - from) {
                best = Some((from..to, mean));
            }
        }
    }
    best
}

/// A rate that is not the same throughout: a ramp, a part of another rate, generators that begin and end at different times.
pub(super) fn changing_rate(case: &Case) -> Option<Finding> {
    if case.pattern() == Pattern::Independent || !explained(case) {
        return None;
    }
    change(case).or_else(|| drift(case).filter(|_| is_smooth(&case.traces.parts)))
}

/// Why counts vary more over times longer than those up to which a load is independent. What users do says more.
pub(super) fn beyond_scale(case: &Case) -> Option<Finding> {
    let drifts = case.summary.verdict.pattern_scale_end == Some(ScaleEnd::Drift);
    let smooth = || drift(case).filter(|_| is_smooth(&case.traces.parts));
    drifts.then(|| smooth().or_else(|| change(case)).or_else(|| drift(case)))?
}

fn change(case: &Case) -> Option<Finding> {
    ramp(case)
        .filter(|_| rest_agrees(&case.traces.parts))
        .or_else(|| drift(case).filter(|drift| is_smooth(&case.traces.parts) && is_straight(drift)))
        .or_else(|| steady_part(case))
        .or_else(|| other_rate(case))
}

/// Whether a straight line fits: it has no steady stretch, though its middle may look like one.
fn is_straight(drift: &Finding) -> bool {
    matches!(drift.evidence[..], [Evidence::Cause(Cause::Drift { straight: true, .. })])
}

/// Whether all parts but those next to the ends have one rate.
fn rest_agrees(parts: &[u64]) -> bool {
    let mean = rate_within_parts(parts);
    parts[AT_AN_END..parts.len() - AT_AN_END].iter().all(|&n| (n as f64 - mean).abs() <= far(mean))
}

/// Neighbouring parts of one other rate, between parts that all have the same.
fn other_rate(case: &Case) -> Option<Finding> {
    let parts = &case.traces.parts;
    let mut sorted = *parts;
    sorted.sort_unstable();
    let median = sorted[parts.len() / 2] as f64;
    // As much as no drift of independent users' counts that has no other name.
    let is_other = |n: u64| (n as f64 - median).abs() > far(median).max(MUCH * median);
    let first = parts.iter().position(|&n| is_other(n))?;
    let last = parts.iter().rposition(|&n| is_other(n))?;
    let (within, outside) = (&parts[first..=last], [&parts[..first], &parts[last + 1..]].concat());
    let more = within[0] as f64 > median;
    let alike = within.iter().all(|&n| is_other(n) && (n as f64 > median) == more);
    if first == 0 || last + 1 == parts.len() || 2 * within.len() > parts.len() || !alike {
        return None;
    }
    let mean = outside.iter().sum::<u64>() as f64 / outside.len() as f64;
    let (from, to) = (case.traces.part(first)[0], case.traces.part(last)[1]);
    let length = (to - from) / within.len() as f64;
    // What stood still has gaps, and no low rate.
    let missing = mean * within.len() as f64 - within.iter().sum::<u64>() as f64;
    let gaps = case.traces.gaps();
    let inside = gaps.iter().filter(|gap| gap.from as f64 >= from * 1e9 && gap.to as f64 <= to * 1e9);
    let still: f64 = inside.map(|gap| gap.length() / 1e9 / length * mean).sum();
    if outside.iter().any(|&n| (n as f64 - mean).abs() > far(mean)) || still > 0.5 * missing.max(0.0) {
        return None;
    }
    let other = if more { within.iter().max() } else { within.iter().min() };
    let (rate, other) = (mean / length, *other? as f64 / length);
    let zero = case.traces.part(0)[0];
    let cause = Cause::OtherRate { rate, other, from_s: from - zero, to_s: to - zero };
    let severity = if case.pattern() == Pattern::Bunched { Severity::Warning } else { Severity::Info };
    Some(Finding { severity, at: vec![[from, to]], ..found(case, cause, other, super::OTHER_RATE) })
}

/// A steady stretch, with other rates before or after it.
fn steady_part(case: &Case) -> Option<Finding> {
    let parts = &case.traces.parts;
    if !is_not_even(case) {
        return None;
    }
    let (range, mean) = steady(parts)?;
    // What lies outside must all be of another rate: a stall here and there is no change.
    let outside: Vec<usize> = (0..parts.len()).filter(|i| !range.contains(i)).collect();
    if outside.is_empty() || !outside.iter().all(|&i| (parts[i] as f64 - mean).abs() > far(mean)) {
        return None;
    }
    let (from, to) = (case.traces.part(range.start)[0], case.traces.part(range.end - 1)[1]);
    let rate = mean / (to - from) * range.len() as f64;
    let other = |i: usize| {
        let [a, b] = case.traces.part(i);
        parts[i] as f64 / (b - a)
    };
    let (low, high) =
        outside.iter().map(|&i| other(i)).fold((f64::INFINITY, 0.0f64), |(l, h), r| (l.min(r), h.max(r)));
    let first = case.traces.part(0)[0];
    let cause = Cause::ChangingRate {
        rate,
        from_s: from - first,
        to_s: to - first,
        least: low,
        most: high,
        judge_from_s: (from - first).ceil(),
        judge_for_s: (to - from - 1.0).floor().max(1.0),
    };
    let severity = if case.pattern() == Pattern::Bunched { Severity::Warning } else { Severity::Info };
    let at = vec![[from, to]];
    Some(Finding { severity, at, ..found(case, cause, rate, super::OTHER_RATE) })
}

/// Whether independent users of the same rates by part would be about as bunched: by their CoV, or, where that is near 1,
/// by the counts over 100 mean headways.
fn explained(case: &Case) -> bool {
    let parts = &case.traces.parts;
    let (n, k) = (parts.iter().sum::<u64>() as f64, parts.len() as f64);
    let mean = n / k;
    let excess = case.cov().powi(2) - 1.0;
    if excess > 0.1 {
        // Of each part's headways the second moment is 2/rate^2.
        let second: f64 = parts.iter().filter(|&&c| c > 0).map(|&c| 2.0 * mean * mean / c as f64).sum();
        return second / n - 1.0 >= EXPLAINS * excess;
    }
    let long = 100.0 * case.traces.mean / 1e9;
    let rows = case.summary.arrivals.dispersion.iter();
    let Some(row) = rows.min_by(|a, b| (a.window / long).ln().abs().total_cmp(&(b.window / long).ln().abs()))
    else {
        return false;
    };
    let variance = parts.iter().map(|&c| (c as f64 - mean).powi(2)).sum::<f64>() / k;
    let per_window = row.window * 1e9 / case.traces.mean;
    per_window * variance / (mean * mean) >= EXPLAINS * (row.index - 1.0)
}

/// The rate by a straight line through its parts, or the least and the most of them; of a load that is not even.
fn drift(case: &Case) -> Option<Finding> {
    if !is_not_even(case) {
        return None;
    }
    let drifts = case.summary.verdict.pattern_scale_end == Some(ScaleEnd::Drift);
    if case.pattern() == Pattern::Independent && !drifts {
        return None;
    }
    let parts = &case.traces.parts;
    let k = parts.len() as f64;
    let [from, to] = case.traces.part(0);
    let rates: Vec<f64> = parts.iter().map(|&n| n as f64 / (to - from)).collect();
    let mean = rates.iter().sum::<f64>() / k;
    // Least squares on the middles of the parts, from -1 to 1.
    let x = |i: usize| (2.0 * i as f64 + 1.0) / k - 1.0;
    let xx: f64 = (0..rates.len()).map(|i| x(i).powi(2)).sum();
    let slope = rates.iter().enumerate().map(|(i, r)| x(i) * (r - mean)).sum::<f64>() / xx;
    let all: f64 = rates.iter().map(|r| (r - mean).powi(2)).sum();
    let by_chance = mean / (to - from) * (k - 1.0);
    let straight = slope * slope * xx >= STRAIGHT * (all - by_chance).max(0.0);
    let (from, to) = match straight {
        true => (mean - slope, mean + slope),
        false => rates.iter().fold((f64::INFINITY, 0.0f64), |(l, h), &r| (l.min(r), h.max(r))),
    };
    let rows = case.summary.verdict.pattern_rules.iter();
    let above = |row: &&crate::summary::RuleResult| {
        row.rule == RuleId::Dispersion && row.outcome == RuleOutcome::Fail && row.value > row.limits.high
    };
    let longest = rows.filter(above).filter_map(|row| Some((row.window?, row.value?))).next_back();
    let (window_s, index) = longest.unwrap_or_default();
    let cause = Cause::Drift { from, to, straight, window_s, index };
    let severity = if case.pattern() == Pattern::Bunched { Severity::Warning } else { Severity::Info };
    Some(Finding { severity, ..found(case, cause, to / from.max(f64::MIN_POSITIVE), 1.0) })
}

/// Whether parts are like those beside them, as they are not by chance, nor by bunches.
fn is_smooth(parts: &[u64]) -> bool {
    let mean = parts.iter().sum::<u64>() as f64 / parts.len() as f64;
    let squares: f64 = parts.iter().map(|&n| (n as f64 - mean).powi(2)).sum();
    let steps: f64 = parts.windows(2).map(|w| (w[1] as f64 - w[0] as f64).powi(2)).sum();
    // Of counts without an order the sum of squared steps is twice that of the squares.
    squares > 3.0 * mean * parts.len() as f64 && steps < 2.0 * SMOOTH * squares
}

/// Whether the long gaps lie together at the beginning, at the end, or at both, with hardly a start up to them.
pub(super) fn at_the_ends(case: &Case) -> Option<[bool; 2]> {
    let gaps = case.traces.gaps();
    let [start, end] = case.traces.span();
    let (length, mean) = ((end - start) as f64, case.traces.mean_outside());
    let thin = |n: u64, time: i64| (time as f64) < END * length && (n as f64) < THIN * time as f64 / mean;
    let all = case.traces.seen();
    let at_begin = gaps.iter().take_while(|gap| thin(gap.before + 1, gap.to - start)).count();
    let at_end = gaps.iter().rev().take_while(|gap| thin(all - gap.before, end - gap.from)).count();
    (!gaps.is_empty() && at_begin + at_end >= gaps.len()).then_some([at_begin > 0, at_end > 0])
}

/// At which one end they lie; true if at the end.
fn at_an_end(case: &Case) -> Option<bool> {
    at_the_ends(case).filter(|[begin, end]| begin != end).map(|[_, end]| end)
}

/// A ramp at an end; or ramps at both, beside a steady stretch.
pub(super) fn at_ends(case: &Case) -> Option<Finding> {
    let parts = &case.traces.parts;
    let both = || {
        let mean = rate_within_parts(parts);
        let low = |n: u64| mean - n as f64 > far(mean);
        let ([start, end], [from, to]) = (case.traces.span(), case.traces.part(0));
        let part = ((to - from) * 1e9) as i64;
        let gaps = case.traces.gaps();
        let there = gaps.iter().all(|gap| gap.to - start <= part || end - gap.from <= part);
        (there && low(parts[0]) && low(parts[parts.len() - 1])).then(|| steady_part(case))?
    };
    ramp(case).or_else(both)
}

/// Mean count of the parts that are not next to an end.
fn rate_within_parts(parts: &[u64]) -> f64 {
    let rest = &parts[AT_AN_END..parts.len() - AT_AN_END];
    rest.iter().sum::<u64>() as f64 / rest.len() as f64
}

/// Whether only the part next to one end is low, and nothing stood still; true if at the end.
fn low_end(case: &Case) -> Option<bool> {
    let parts = &case.traces.parts;
    if case.traces.long_gaps > 0 {
        return None;
    }
    let mean = rate_within_parts(parts);
    let low = |n: u64| mean - n as f64 > far(mean);
    match (low(parts[0]), low(parts[parts.len() - 1])) {
        (true, false) => Some(false),
        (false, true) => Some(true),
        _ => None,
    }
}

/// Mean headway of the parts that are not next to an end, in nanoseconds.
fn rate_within(case: &Case) -> f64 {
    let [from, to] = case.traces.part(0);
    (to - from) * 1e9 / rate_within_parts(&case.traces.parts).max(f64::MIN_POSITIVE)
}

/// Even and periodic loads have other causes.
fn is_not_even(case: &Case) -> bool {
    matches!(case.pattern(), Pattern::Bunched | Pattern::Undecided | Pattern::Independent)
}

/// Gaps at an end are its ramp, or low counts of the parts there: up to where starts come as often as later.
fn ramp(case: &Case) -> Option<Finding> {
    if !is_not_even(case) {
        return None;
    }
    let at_end = at_an_end(case).or_else(|| low_end(case))?;
    let (starts, mean) = (case.traces.next_to_end(at_end), rate_within(case));
    let until = |block: usize| block as f64 * BLOCK * mean;
    let count = |block: usize| {
        let within = |at: &&i64| (until(block)..until(block + 3)).contains(&(**at as f64));
        starts.iter().filter(within).count() as f64
    };
    let blocks = (*starts.last()? as f64 / (BLOCK * mean)) as usize;
    let full = 3.0 * BLOCK;
    let block = (0..blocks.saturating_sub(3)).find(|&b| count(b) >= full - 2.0 * full.sqrt())?;
    if block == 0 {
        return None;
    }
    // A rate that rises in a straight line reaches 4/5 of its end there; what is missing up to it tells how long it rises: half of it is.
    let seen_until = 1.5 * until(block + 3);
    let missing = seen_until - starts.iter().filter(|&&at| at as f64 <= seen_until).count() as f64 * mean;
    let ramp_s = until(block).max((2.0 * missing).min(seen_until)) / 1e9;
    let [start, end] = case.traces.span();
    let length = (end - start) as f64 / 1e9;
    let (judge_from_s, judge_for_s) = match at_end {
        false => (ramp_s.ceil(), (length - ramp_s.ceil()).floor().max(1.0)),
        true => (0.0, (length - ramp_s).floor().max(1.0)),
    };
    let cause = Cause::Ramp { at_end, ramp_s, rate: 1e9 / mean, judge_from_s, judge_for_s };
    let severity = if case.pattern() == Pattern::Bunched { Severity::Warning } else { Severity::Info };
    Some(Finding { severity, ..found(case, cause, ramp_s, END) })
}
