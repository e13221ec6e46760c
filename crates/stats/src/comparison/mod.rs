//! Two runs or more beside each other: differences and ratios with intervals that hold together, and what they show.
//!
//! ```text
//! records ──> Observing ──> Observed (by label: Numbers) ─┐
//! summary, point of a study ──> Numbers ──────────────────┴─> compare ──> Comparison (rows, verdict, conditions)
//! rounds of several runs, each Observed ────────────────────> compare_rounds ──┘
//! ```
//!
//! The interval of each run's number allows for dependence ([`crate::intervals`]). Ratios of recorded times and rates have Student's t on
//! the logarithm, with the standard errors of both runs and the degrees of freedom of one. Shares of failures, and numbers without records,
//! have the method of variance estimates recovery (Zou and Donner 2008, "Construction of confidence limits about effect measures", Stat.
//! Med. 27). Where both runs had the same arrivals, what they share is taken out by the correlation of their segments, which is the paired
//! t-interval. Over rounds it is Student's t on the
//! rounds' own differences. All intervals together hold with the stated confidence, by what the numbers share (`joint`).
//!
//! Deliberately absent: files, whether what was asked of two runs is the same (the engine looks), and sentences.

mod condition;
mod document;
mod joint;
mod numbers;
mod observed;
mod rounds;

pub use condition::{Condition, ConditionError};
pub use document::*;
pub use numbers::Numbers;
pub use observed::{Observed, Observing};
pub use rounds::{FEWEST_ROUNDS, compare_rounds};

use crate::intervals::{SEGMENTS, t975, two_sided_t};
use crate::metric::{Aggregate, NumberOf};
use crate::summary::{Interval, NotComputed};
use headway_redact::Cleared;
use joint::{Pieces, confidence_of_each};
use numbers::{CELL, Sure};

/// Confidence with which all intervals of a comparison hold together.
pub const CONFIDENCE: f64 = 0.95;

/// Numbers of all requests that are compared.
const OVERALL: [NumberOf; 8] = [
    NumberOf::RATE,
    NumberOf::response(Aggregate::Mean),
    NumberOf::response(Aggregate::Percentile(50.0)),
    NumberOf::response(Aggregate::Percentile(90.0)),
    NumberOf::response(Aggregate::Percentile(95.0)),
    NumberOf::response(Aggregate::Percentile(99.0)),
    NumberOf::response(Aggregate::Percentile(99.9)),
    NumberOf::FAILED,
];

/// Numbers of each label that are compared.
const BY_LABEL: [NumberOf; 3] = [
    NumberOf::response(Aggregate::Percentile(50.0)),
    NumberOf::response(Aggregate::Percentile(99.0)),
    NumberOf::FAILED,
];

/// Two runs that are to be compared.
#[derive(Debug)]
pub struct Two<'a> {
    /// Indices of the runs; the first is the base.
    pub runs: [usize; 2],
    /// What of studies is compared; empty of runs.
    pub point: Cleared,
    /// Their numbers.
    pub observed: [&'a Observed; 2],
    /// Why summaries of theirs withhold intervals.
    pub not_computed: [&'a NotComputed; 2],
    /// Whether both had the same arrivals.
    pub same_arrivals: bool,
    /// Whether both hold the same records, request by request.
    pub same_records: bool,
    /// Whether the other is what a model's replications come to: one of them scatters as the base does, where both are the same system.
    pub of_model: bool,
    /// What keeps them from being compared.
    pub obstacles: Vec<Incomparable>,
    /// In what else they differ.
    pub differs: Vec<Difference>,
}

/// A row in the making: which number, of which step.
#[derive(Clone, PartialEq, Debug)]
struct Asked {
    number: NumberOf,
    label: Option<Cleared>,
}

/// The rows to look at, given the labels of both and the conditions on them.
fn asked(labels: &[&Cleared], conditions: &[Condition]) -> Vec<Asked> {
    let all = OVERALL.into_iter().map(|number| Asked { number, label: None });
    let of = |label: &&Cleared| {
        let label = Some((*label).clone());
        BY_LABEL.map(|number| Asked { number, label: label.clone() })
    };
    let mut rows: Vec<Asked> = all.chain(labels.iter().flat_map(of)).collect();
    for Condition { number, step, .. } in conditions {
        let row = Asked { number: *number, label: step.clone() };
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    rows
}

/// The conditions with those on the only step of all runs as what they are: on the whole runs, which are looked at once.
fn on_whole_runs<'a>(
    conditions: &[Condition],
    observed: impl Iterator<Item = &'a Observed> + Clone,
) -> Vec<Condition> {
    let step = |condition: &Condition| {
        let step = condition.step.clone();
        step.filter(|step| !observed.clone().all(|of| of.is_only(step)))
    };
    conditions.iter().map(|condition| Condition { step: step(condition), ..condition.clone() }).collect()
}

/// Compares runs; `runs` are all that `pairs` speak of.
pub fn compare(runs: Vec<Compared>, pairs: Vec<Two<'_>>, conditions: &[Condition]) -> Comparison {
    let conditions = &on_whole_runs(conditions, pairs.iter().flat_map(|two| two.observed));
    let rows_of: Vec<Vec<Asked>> = pairs
        .iter()
        .map(|two| {
            let [base, other] = two.observed;
            let common: Vec<&Cleared> =
                base.by_label.keys().filter(|label| other.by_label.contains_key(*label)).collect();
            asked(&common, conditions)
        })
        .collect();
    let known: Vec<Vec<Result<Known, Vec<NotTold>>>> = pairs
        .iter()
        .zip(&rows_of)
        .map(|(two, rows)| rows.iter().map(|row| two.known(row)).collect())
        .collect();
    let looked_at: Vec<(&Two<'_>, &Known)> = pairs
        .iter()
        .zip(&known)
        .flat_map(|(two, known)| known.iter().flatten().map(move |known| (two, known)))
        .collect();
    let parts = looked_at.iter().filter_map(|(_, known)| known.parts.as_ref());
    let longest = parts.flatten().map(Vec::len).max().unwrap_or(SEGMENTS);
    let pieces: Vec<Pieces> =
        looked_at.iter().map(|(two, known)| two.placed(known, runs.len(), longest)).collect();
    let degrees = looked_at.iter().map(|(_, known)| known.degrees).fold(f64::INFINITY, f64::min);
    let (looked_at, each) = (pieces.len(), confidence_of_each(&pieces, degrees));
    let mut finished_pairs = Vec::with_capacity(pairs.len());
    for ((two, asked), known) in pairs.into_iter().zip(rows_of).zip(known) {
        let rows: Vec<Row> =
            asked.into_iter().zip(known).map(|(asked, known)| two.row(asked, known, each)).collect();
        finished_pairs.push(two.pair(rows));
    }
    let pairs = finished_pairs;
    finished(Method::Runs, runs, pairs, conditions, (looked_at, each))
}

/// The document, with what becomes of the conditions.
fn finished(
    method: Method,
    runs: Vec<Compared>,
    pairs: Vec<Pair>,
    conditions: &[Condition],
    (looked_at, confidence_of_each): (usize, f64),
) -> Comparison {
    let mut pairs = pairs;
    for pair in pairs.iter_mut().filter(|pair| matches!(pair.verdict, Verdict::NotComparable { .. })) {
        for row in &mut pair.rows {
            (row.shown, row.why_not) = (Shown::NotTold, vec![NotTold::NotComparable]);
        }
    }
    let judge = |(i, pair): (usize, &Pair)| -> Vec<ConditionResult> {
        let one = |condition: &Condition| {
            let row =
                pair.rows.iter().position(|row| row.of == condition.number && row.label == condition.step);
            let comparable = !matches!(pair.verdict, Verdict::NotComparable { .. });
            let judged = row.filter(|_| comparable).map(|row| condition.judge(&pair.rows[row]));
            ConditionResult {
                text: condition.text.clone(),
                condition: condition.clone(),
                pair: i,
                row,
                outcome: judged.unwrap_or_default(),
            }
        };
        conditions.iter().map(one).collect()
    };
    Comparison {
        schema: SCHEMA.into(),
        method,
        confidence: CONFIDENCE,
        looked_at,
        confidence_of_each,
        conditions: pairs.iter().enumerate().flat_map(judge).collect(),
        runs,
        pairs,
        ..Comparison::default()
    }
}

/// What is known of a row before it is known how many are looked at.
#[derive(Debug)]
struct Known {
    degrees: f64,
    /// Of what the segments of both runs add, where both had the same arrivals.
    correlation: Option<f64>,
    /// The standard errors of both logarithms, where records tell them.
    errors: Option<[f64; 2]>,
    /// What the segments of either run add to its error, on the scale on which the number is compared.
    parts: Option<[Vec<f64>; 2]>,
}

impl Two<'_> {
    fn number(&self, side: usize, asked: &Asked) -> Number {
        let numbers = self.observed[side].of(asked.label.as_deref());
        let mut number = numbers.map(|numbers| numbers.number(asked.number)).unwrap_or_default();
        number.ci95 = self.sure(side, asked, None).ok().map(|sure| sure.interval);
        number
    }

    /// The interval of one run's number, at so many standard errors and that confidence.
    fn sure(&self, side: usize, asked: &Asked, at: Option<(f64, f64)>) -> Result<Sure, NotTold> {
        let run = self.runs[side];
        let numbers = self.observed[side].of(asked.label.as_deref()).ok_or(NotTold::NoNumber { run })?;
        let number = numbers.number(asked.number);
        if number.value.is_none() {
            return Err(NotTold::NoNumber { run });
        }
        if self.observed[side].is_moved(asked.label.as_deref()) {
            return Err(NotTold::Moved { run });
        }
        if number.lower_bound {
            return Err(NotTold::LowerBound { run });
        }
        if let Some(reason) = numbers.withheld(asked.number, self.not_computed[side]) {
            return Err(NotTold::NoInterval { run, reason });
        }
        let sure =
            numbers.interval(asked.number, at).map_err(|reason| NotTold::NoInterval { run, reason })?;
        // Of the other run, a rate of nothing is compared all the same.
        let may_be_nothing = asked.number.is_share() || (asked.number == NumberOf::RATE && side == 1);
        if !may_be_nothing && sure.interval[0] <= 0.0 {
            return Err(NotTold::DownToNothing { run });
        }
        Ok(sure)
    }

    fn known(&self, asked: &Asked) -> Result<Known, Vec<NotTold>> {
        let sides = [0, 1].map(|side| self.sure(side, asked, None));
        let [base, other] = match sides {
            [Ok(base), Ok(other)] => [base, other],
            sides => return Err(sides.into_iter().filter_map(Result::err).collect()),
        };
        for side in [0, 1] {
            let numbers = self.observed[side].of(asked.label.as_deref());
            if let Some(why) = numbers.and_then(|numbers| numbers.few_bursts(asked.number)) {
                return Err(vec![NotTold::NoInterval { run: self.runs[side], reason: why.into() }]);
            }
        }
        // The standard errors of both on the scale on which they are compared.
        let of_records =
            [0, 1].map(|side| self.observed[side].of(asked.label.as_deref())?.log_error(asked.number));
        let of_records = match of_records {
            [Some(a), Some(b)] => Some([a, b]),
            _ => None,
        };
        let told = |Sure { interval: [low, high], degrees }: Sure| {
            let width = match () {
                () if asked.number.is_share() => high - low,
                // Nothing has no logarithm.
                () if low <= 0.0 => return None,
                () => (high / low).ln(),
            };
            Some(width / (2.0 * t975(degrees as usize)))
        };
        let errors = of_records.or_else(|| told(base).zip(told(other)).map(|(a, b)| [a, b]));
        let errors = errors.map(|[a, b]| [a.max(self.of_one(asked, b)), b]);
        let of_model = self.of_model && !asked.number.is_share();
        let of_records = if of_model { errors } else { of_records };
        let parts = errors.and_then(|[a, b]| Some([self.parts(0, asked, a)?, self.parts(1, asked, b)?]));
        let paired = parts.as_ref().filter(|_| self.same_arrivals);
        let correlation = paired.and_then(|[a, b]| correlation(a, b));
        // Those of one run even where both are independent: means of segments are skewed, and their variance is known less well than of
        // normal ones.
        let degrees = base.degrees.min(other.degrees);
        Ok(Known { degrees, correlation, errors: of_records, parts })
    }

    /// The error of a single replication, given that of their mean: of a base that is compared with a model nothing less is believed, whatever
    /// its own segments say. So a difference is shown only where the replications show it.
    fn of_one(&self, asked: &Asked, of_all: f64) -> f64 {
        let numbers = self.observed[1].of(asked.label.as_deref()).filter(|_| self.of_model);
        let replications = numbers.and_then(|numbers| numbers.by_segment(asked.number));
        replications.map_or(0.0, |each| of_all * (each.len() as f64).sqrt())
    }

    /// What the segments of one run add to its error, so scaled that their standard error is `error`.
    fn parts(&self, side: usize, asked: &Asked, error: f64) -> Option<Vec<f64>> {
        let numbers = self.observed[side].of(asked.label.as_deref())?;
        let parts = numbers.by_segment(asked.number)?;
        let n = parts.len() as f64;
        let mean = parts.iter().sum::<f64>() / n;
        let squares: f64 = parts.iter().map(|part| (part - mean).powi(2)).sum();
        let own = (squares / (n * (n - 1.0))).sqrt();
        let factor = if own > 0.0 { error / own } else { 0.0 };
        Some(parts.into_iter().map(|part| (part - mean) * factor).collect())
    }

    /// What each segment (or replication) of each run adds to the error of a row: runs with the same arrivals meet in the segments of the
    /// base. No run has more than `longest` of them.
    fn placed(&self, known: &Known, runs: usize, longest: usize) -> Pieces {
        let [a, b] = known.parts.as_ref()?;
        let mut all = vec![0.0; runs * longest];
        let [base, other] = self.runs.map(|run| run * longest);
        let other = if known.correlation.is_some() { base } else { other };
        a.iter().enumerate().for_each(|(i, part)| all[base + i] -= part);
        b.iter().enumerate().for_each(|(i, part)| all[other + i] += part);
        Some(all)
    }

    fn row(&self, asked: Asked, known: Result<Known, Vec<NotTold>>, confidence: f64) -> Row {
        let (base, other) = (self.number(0, &asked), self.number(1, &asked));
        let mut row = of_numbers(&asked, base, other);
        let known = match known {
            Ok(known) => known,
            Err(why_not) => return Row { why_not, ..row },
        };
        row.correlation = known.correlation;
        let at = Some((two_sided_t(known.degrees, confidence), confidence));
        match [0, 1].map(|side| self.sure(side, &asked, at)) {
            [Ok(base), Ok(other)] => {
                let correlation = known.correlation.unwrap_or(0.0);
                match known.errors {
                    Some(errors) => {
                        let t = two_sided_t(known.degrees, confidence);
                        of_errors(&mut row, &asked, errors, correlation, t);
                    }
                    None => recover(&mut row, [base.interval, other.interval], correlation),
                }
                let off = self.observed.map(|of| of.off(asked.number, asked.label.as_deref()));
                widen(&mut row, self.runs[0], off);
                row.shown = shown(&asked, &row);
            }
            sides => row.why_not = sides.into_iter().filter_map(Result::err).collect(),
        }
        row
    }

    fn pair(self, rows: Vec<Row>) -> Pair {
        let [base, other] = self.observed;
        let only = |a: &Observed, b: &Observed| -> Vec<Cleared> {
            a.by_label.keys().filter(|label| !b.by_label.contains_key(*label)).cloned().collect()
        };
        let mut labels_left_out = only(base, other);
        labels_left_out.extend(only(other, base));
        Pair {
            base: self.runs[0],
            other: self.runs[1],
            point: self.point,
            verdict: verdict(&rows, self.obstacles),
            same_arrivals: self.same_arrivals,
            same_records: self.same_records,
            differs: self.differs,
            rows,
            labels_left_out,
        }
    }
}

/// The correlation of what the segments of two runs with the same arrivals add to a number; both have the mean 0.
fn correlation(a: &[f64], b: &[f64]) -> Option<f64> {
    let product = |x: &[f64], y: &[f64]| -> f64 { x.iter().zip(y).map(|(x, y)| x * y).sum() };
    let correlation = product(a, b) / (product(a, a) * product(b, b)).sqrt();
    (a.len() == b.len() && correlation.is_finite()).then(|| correlation.clamp(-1.0, 1.0))
}

/// The row without intervals.
fn of_numbers(asked: &Asked, base: Number, other: Number) -> Row {
    let exact = |number: &Number| number.value.filter(|_| !number.lower_bound);
    let both = exact(&base).zip(exact(&other));
    let ratio = both.filter(|(base, _)| !asked.number.is_share() && *base > 0.0).map(|(a, b)| b / a);
    Row {
        of: asked.number,
        label: asked.label.clone(),
        difference: both.map(|(a, b)| b - a),
        ratio,
        base,
        other,
        ..Row::default()
    }
}

/// Intervals of difference and ratio from those of both numbers (Zou and Donner 2008): each end as far off as the distances which the
/// intervals of both allow in that direction. Of two correlated estimates, only the share 1 - correlation of their variance is their own.
/// The rest moves both the same way, and the difference by as much as one interval is wider than the other. (Zou and Donner's own formula
/// sets one's upper against the other's lower distance there too, so that skewed intervals never cancel.) The ratio to a number that may be
/// nothing, which has no logarithm, has what both intervals allow together.
fn recover(row: &mut Row, [a_ends, b_ends]: [Interval; 2], correlation: f64) {
    let (Some(a), Some(b)) = (row.base.value, row.other.value) else { return };
    let ends = |a: f64, [a_low, a_high]: Interval, b: f64, [b_low, b_high]: Interval| -> Interval {
        let shared = ((b_high - b_low) - (a_high - a_low)) / 2.0;
        let apart = |x: f64, y: f64| match correlation {
            r if r > 0.0 => ((1.0 - r) * (x * x + y * y) + r * shared * shared).sqrt(),
            r => (x * x + y * y - 2.0 * r * x * y).sqrt(),
        };
        [b - a - apart(b - b_low, a_high - a), b - a + apart(b_high - b, a - a_low)]
    };
    row.difference_interval = Some(ends(a, a_ends, b, b_ends));
    if row.ratio.is_some() {
        let of = |ends: Interval| ends.map(f64::ln);
        row.ratio_interval = Some(match b_ends {
            [b_low, b_high] if b_low <= 0.0 => [0.0, b_high / a_ends[0]],
            _ => ends(a.ln(), of(a_ends), b.ln(), of(b_ends)).map(f64::exp),
        });
    }
}

/// Student's interval of a ratio, and of the difference, from the standard errors of both logarithms.
fn of_errors(row: &mut Row, asked: &Asked, [a, b]: [f64; 2], correlation: f64, t: f64) {
    let (Some(base), Some(other)) = (row.base.value, row.other.value) else { return };
    // Two percentiles are each told as the middle of a cell of a histogram.
    let cell = if asked.number.aggregate.quantile().is_some() { CELL } else { 0.0 };
    let half = |a: f64, b: f64| t * (a * a + b * b - 2.0 * correlation * a * b).max(0.0).sqrt();
    let (ratio, by) = ((other / base).ln(), half(a, b) + cell);
    row.ratio_interval = Some([(ratio - by).exp(), (ratio + by).exp()]);
    let by = half(a * base, b * other) + cell * other;
    row.difference_interval = Some([other - base - by, other - base + by]);
}

/// Takes what the generators' delays did to both numbers into the intervals of a row: how far below and above them the undisturbed ones lie.
fn widen(row: &mut Row, base: usize, [a_off, b_off]: [[f64; 2]; 2]) {
    let (Some(a), Some(b)) = (row.base.value, row.other.value) else { return };
    if let Some([low, high]) = &mut row.difference_interval {
        (*low, *high) = (*low + b_off[0] - a_off[1], *high + b_off[1] - a_off[0]);
    }
    let parts = |x: f64, off: [f64; 2]| off.map(|off| if x > 0.0 { (1.0 + off / x).max(0.0) } else { 1.0 });
    let ([a_low, a_high], [b_low, b_high]) = (parts(a, a_off), parts(b, b_off));
    if let Some([low, high]) = row.ratio_interval.take() {
        match a_low > 0.0 {
            true => row.ratio_interval = Some([low * b_low / a_high, high * b_high / a_low]),
            // A base that may be nothing has no ratio.
            false => row.why_not.push(NotTold::DownToNothing { run: base }),
        }
    }
}

/// What the interval shows: of the ratio, or of the difference where there is no ratio.
fn shown(asked: &Asked, row: &Row) -> Shown {
    let off = match asked.number.is_share() {
        true => row.difference_interval,
        false => row.ratio_interval.map(|ends| ends.map(|end| end - 1.0)),
    };
    match off {
        Some([low, _]) if low > 0.0 => Shown::Higher,
        Some([_, high]) if high < 0.0 => Shown::Lower,
        Some(_) => Shown::No,
        None => Shown::NotTold,
    }
}

/// Numbers by how much they tell.
const TELLING: [NumberOf; 8] = [
    NumberOf::response(Aggregate::Percentile(99.0)),
    NumberOf::response(Aggregate::Percentile(95.0)),
    NumberOf::response(Aggregate::Percentile(90.0)),
    NumberOf::response(Aggregate::Percentile(50.0)),
    NumberOf::response(Aggregate::Mean),
    NumberOf::response(Aggregate::Percentile(99.9)),
    NumberOf::FAILED,
    NumberOf::RATE,
];

fn verdict(rows: &[Row], obstacles: Vec<Incomparable>) -> Verdict {
    if !obstacles.is_empty() {
        return Verdict::NotComparable { reasons: obstacles };
    }
    let rank = |row: &Row| TELLING.iter().position(|of| *of == row.of).unwrap_or(TELLING.len());
    let mut differ: Vec<usize> =
        (0..rows.len()).filter(|&i| matches!(rows[i].shown, Shown::Higher | Shown::Lower)).collect();
    differ.sort_by_key(|&i| (rows[i].label.is_some(), rank(&rows[i])));
    if !differ.is_empty() {
        return Verdict::Differs { rows: differ };
    }
    let overall = || (0..rows.len()).filter(|&i| rows[i].label.is_none());
    let detectable = |i: &usize| rows[*i].detectable().filter(|_| rows[*i].of != NumberOf::RATE);
    let told = overall().filter(|i| detectable(i).is_some()).min_by_key(|&i| rank(&rows[i]));
    match told.and_then(|row| Some((row, detectable(&row)?))) {
        Some((row, detectable)) => Verdict::NoDifference { row, detectable },
        None => Verdict::NotTold,
    }
}
