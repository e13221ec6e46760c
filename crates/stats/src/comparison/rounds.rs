//! Rounds: in each, all runs under one plan, one after the other. What a round's host and hour do to its runs alike drops out of
//! their difference, so that the spread of the differences over rounds is all the error there is.

use super::document::{Compared, Comparison, Difference, Incomparable, Method, NotTold, Number, Pair, Row};
use super::joint::{Pieces, confidence_of_each};
use super::numbers::{Numbers, most_of_none};
use super::observed::Observed;
use super::{Asked, Condition, asked, finished, of_numbers, on_whole_runs, recover, shown, verdict, widen};
use crate::intervals::{clopper_pearson_at, two_sided_t};
use crate::metric::NumberOf;
use crate::summary::Interval;
use headway_redact::Cleared;

/// Fewest rounds that carry an interval.
pub const FEWEST_ROUNDS: usize = crate::intervals::FEWEST_SEGMENTS;

/// Compares runs over rounds: each round has what was seen of every run, in the order of the runs.
pub fn compare_rounds(
    runs: Vec<Compared>,
    rounds: &[Vec<Observed>],
    obstacles: &dyn Fn(usize) -> Vec<Incomparable>,
    differs: &dyn Fn(usize) -> Vec<Difference>,
    conditions: &[Condition],
) -> Comparison {
    let conditions = &on_whole_runs(conditions, rounds.iter().flatten());
    let in_all = |label: &&Cleared| rounds.iter().flatten().all(|of| of.by_label.contains_key(*label));
    let labels: Vec<&Cleared> =
        rounds.first().map_or_else(Vec::new, |round| round[0].by_label.keys().filter(in_all).collect());
    let rows = asked(&labels, conditions);
    let differences: Vec<Vec<Result<Differences, Vec<NotTold>>>> = (1..runs.len())
        .map(|other| rows.iter().map(|row| Differences::of(rounds, other, row)).collect())
        .collect();
    let looked_at: Vec<&Differences> = differences.iter().flatten().flatten().collect();
    let pieces: Vec<Pieces> = looked_at.iter().map(|known| Some(known.pieces(rounds.len()))).collect();
    let fewest = looked_at.iter().map(|known| known.base.len()).min().unwrap_or(FEWEST_ROUNDS);
    let (looked_at, each) = (pieces.len(), confidence_of_each(&pieces, (fewest - 1) as f64));
    let pairs = differences.into_iter().enumerate().map(|(i, known)| {
        let other = i + 1;
        let row = |(asked, known): (&Asked, Result<Differences, Vec<NotTold>>)| match known {
            Ok(known) => known.row(asked, each),
            Err(why_not) => {
                Row { why_not, ..of_numbers(asked, mean(rounds, 0, asked), mean(rounds, other, asked)) }
            }
        };
        let rows: Vec<Row> = rows.iter().zip(known).map(row).collect();
        Pair {
            base: 0,
            other,
            verdict: verdict(&rows, obstacles(other)),
            same_arrivals: true,
            differs: differs(other),
            rows,
            ..Pair::default()
        }
    });
    let pairs = pairs.collect();
    finished(Method::Rounds, runs, pairs, conditions, (looked_at, each))
}

fn numbers<'a>(round: &'a [Observed], run: usize, asked: &Asked) -> Option<&'a Numbers> {
    round.get(run)?.of(asked.label.as_deref())
}

/// The mean over rounds: of times and rates on the logarithm.
fn mean(rounds: &[Vec<Observed>], run: usize, asked: &Asked) -> Number {
    let each: Vec<Number> = rounds
        .iter()
        .filter_map(|round| Some(numbers(round, run, asked)?.number(asked.number)))
        .filter(|number| number.value.is_some())
        .collect();
    let values: Vec<f64> = each.iter().filter_map(|number| number.value).collect();
    let value = (!values.is_empty()).then(|| Scale::of(asked.number).mean(&values));
    let lower_bound = each.iter().any(|number| number.lower_bound);
    Number { value, lower_bound, n: each.iter().map(|number| number.n).sum(), ci95: None }
}

/// On what a number is compared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scale {
    Logarithm,
    Plain,
}

impl Scale {
    fn of(number: NumberOf) -> Scale {
        if number.is_share() { Scale::Plain } else { Scale::Logarithm }
    }

    fn mean(self, values: &[f64]) -> f64 {
        let n = values.len() as f64;
        match self {
            Scale::Logarithm => (values.iter().map(|v| v.ln()).sum::<f64>() / n).exp(),
            Scale::Plain => values.iter().sum::<f64>() / n,
        }
    }
}

/// A number of two runs over rounds.
struct Differences {
    scale: Scale,
    /// Which rounds have both.
    rounds: Vec<usize>,
    base: Vec<f64>,
    other: Vec<f64>,
    n: [u64; 2],
    /// Failed and all, of either.
    failures: [(u64, u64); 2],
    /// Length of all rounds, where the number is a rate.
    seconds: f64,
    /// How far below and above either the number lies without the generator's delays, in the mean over rounds.
    off: [[f64; 2]; 2],
}

impl Differences {
    fn of(rounds: &[Vec<Observed>], other: usize, asked: &Asked) -> Result<Differences, Vec<NotTold>> {
        let mut all = Differences {
            scale: Scale::of(asked.number),
            rounds: Vec::new(),
            base: Vec::new(),
            other: Vec::new(),
            n: [0; 2],
            failures: [(0, 0); 2],
            seconds: 0.0,
            off: [[0.0; 2]; 2],
        };
        for (i, round) in rounds.iter().enumerate() {
            let both = [0, other].map(|run| {
                let number = numbers(round, run, asked).map(|of| of.number(asked.number)).unwrap_or_default();
                match () {
                    () if round[run].is_moved(asked.label.as_deref()) => Err(NotTold::Moved { run }),
                    () if number.lower_bound => Err(NotTold::LowerBound { run }),
                    () => Ok(number),
                }
            });
            let [a, b] = match both {
                [Ok(a), Ok(b)] => [a, b],
                both => return Err(both.into_iter().filter_map(Result::err).collect()),
            };
            let (Some(x), Some(y)) = (a.value, b.value) else { continue };
            match () {
                () if asked.number.is_share() => {}
                // A target that is down answers nothing in a round, and that is what there is to tell. Nothing has no logarithm.
                () if asked.number == NumberOf::RATE && x > 0.0 => {
                    if y <= 0.0 {
                        all.scale = Scale::Plain;
                    }
                    all.seconds += a.n as f64 / x;
                }
                () if asked.number == NumberOf::RATE => {
                    return Err(vec![NotTold::DownToNothing { run: 0 }]);
                }
                () if x <= 0.0 || y <= 0.0 => continue,
                () => {}
            }
            all.rounds.push(i);
            all.base.push(x);
            all.other.push(y);
            for (side, (n, value)) in [(a.n, x), (b.n, y)].into_iter().enumerate() {
                all.n[side] += n;
                let run = if side == 0 { 0 } else { other };
                let off = round[run].off(asked.number, asked.label.as_deref());
                (0..2).for_each(|end| all.off[side][end] += off[end]);
                if asked.number.is_share() {
                    all.failures[side].0 += (value * n as f64).round() as u64;
                    all.failures[side].1 += n;
                }
            }
        }
        let rounds = all.base.len();
        all.off = all.off.map(|off| off.map(|end| end / rounds.max(1) as f64));
        if rounds < FEWEST_ROUNDS { Err(vec![NotTold::FewRounds { rounds }]) } else { Ok(all) }
    }

    /// By round, on the scale on which the number is compared.
    fn differences(&self) -> Vec<f64> {
        let difference = |(a, b): (&f64, &f64)| match self.scale {
            Scale::Logarithm => (b / a).ln(),
            Scale::Plain => b - a,
        };
        self.base.iter().zip(&self.other).map(difference).collect()
    }

    /// What each of this number of rounds adds to the error.
    fn pieces(&self, rounds: usize) -> Vec<f64> {
        let differences = self.differences();
        let mean = differences.iter().sum::<f64>() / differences.len() as f64;
        let mut all = vec![0.0; rounds];
        self.rounds.iter().zip(differences).for_each(|(&round, difference)| all[round] = difference - mean);
        all
    }

    fn row(&self, asked: &Asked, confidence: f64) -> Row {
        let scale = self.scale;
        let most = if asked.number.is_share() { 1.0 } else { f64::INFINITY };
        let number = |values: &[f64], n: u64| Number {
            value: Some(scale.mean(values)),
            ci95: Some(match scale {
                Scale::Logarithm => {
                    let logs: Vec<f64> = values.iter().map(|v| v.ln()).collect();
                    around(&logs, 0.95).map(f64::exp)
                }
                Scale::Plain => around(values, 0.95).map(|end| end.clamp(0.0, most)),
            }),
            n,
            ..Number::default()
        };
        let mut row = of_numbers(asked, number(&self.base, self.n[0]), number(&self.other, self.n[1]));
        let plain: Vec<f64> = self.base.iter().zip(&self.other).map(|(a, b)| b - a).collect();
        match scale {
            Scale::Logarithm => {
                row.ratio_interval = Some(around(&self.differences(), confidence).map(f64::exp));
                row.difference = Some(plain.iter().sum::<f64>() / plain.len() as f64);
                row.difference_interval = Some(around(&plain, confidence));
            }
            Scale::Plain => {
                let ends = match asked.number.is_share() {
                    // Rounds without a failure have no spread, and prove little: never narrower than of independent requests.
                    true => self.failures.map(|(bad, n)| clopper_pearson_at(bad, n, confidence)),
                    false => {
                        let base = around(&self.base, confidence);
                        if base[0] <= 0.0 {
                            return Row { why_not: vec![NotTold::DownToNothing { run: 0 }], ..row };
                        }
                        // Nor do rounds without a response.
                        let none = most_of_none(confidence) / self.seconds;
                        [base, [0.0, around(&self.other, confidence)[1].max(none)]]
                    }
                };
                recover(&mut row, ends, 0.0);
                let [low, high] = around(&plain, confidence);
                let of_each = row.difference_interval.unwrap_or([low, high]);
                row.difference_interval = Some([low.min(of_each[0]), high.max(of_each[1])]);
            }
        }
        widen(&mut row, 0, self.off);
        row.shown = shown(asked, &row);
        row
    }
}

/// Student's interval of the mean of independent values.
fn around(values: &[f64], confidence: f64) -> Interval {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    let half = two_sided_t(n - 1.0, confidence) * (squares / (n * (n - 1.0))).sqrt();
    [mean - half, mean + half]
}
