//! The ruler of Brady's appendix A (2012, figures 5 and 6): 200 points thrown at random on a ruler of 100 cm, each read to
//! the millimetre. The number of points per centimetre is nearly Poisson with mean 2, the gaps between neighbours are
//! nearly exponential: what independent users do to a server.

use super::{Bar, Figure, Lab, Range, Report, Row, SCHEMA};
use base::random::Stream;

/// The experiment.
pub struct Ruler;

const POINTS: usize = 200;
const CENTIMETRES: usize = 100;
const MILLIMETRES: usize = 10 * CENTIMETRES;
/// Points per centimetre.
const MEAN: f64 = POINTS as f64 / CENTIMETRES as f64;
/// Bars of a figure; the last holds all above.
const COUNT_BARS: usize = 8;
const GAP_BARS: usize = 12;
/// Millimetres to a bar.
const GAP_WIDTH: usize = 2;

/// What is measured of a throw, in the order of [`NUMBERS`].
type Numbers = [f64; 7];

struct Number {
    name: &'static str,
    published: f64,
    theory: fn() -> f64,
}

const fn number(name: &'static str, published: f64, theory: fn() -> f64) -> Number {
    Number { name, published, theory }
}

const NUMBERS: [Number; 7] = [
    number("points per cm, mean", 2.00, || MEAN),
    number("points per cm, variance", 2.00, || MEAN),
    number("share of empty cm", 0.13, || libm::exp(-MEAN)),
    number("gap in mm, mean", 4.98, mean_gap),
    number("gap in mm, sd", 4.76, mean_gap),
    number("gap, CoV", 4.76 / 4.98, || 1.0),
    number("gaps of 0 mm", 26.0, zero_gaps),
];
const EMPTY: usize = 2;
const ZERO_GAPS: usize = 6;

/// Mean of the spacings of n points on a length: length/(n + 1) (Pyke 1965).
fn mean_gap() -> f64 {
    MILLIMETRES as f64 / (POINTS + 1) as f64
}

/// n points on m places take m (1 - (1 - 1/m)^n) of them on average; each further one makes a gap of 0.
fn zero_gaps() -> f64 {
    let (n, m) = (POINTS as f64, MILLIMETRES as f64);
    n - m * (1.0 - libm::pow(1.0 - 1.0 / m, n))
}

impl Lab for Ruler {
    fn name(&self) -> &'static str {
        "poisson"
    }

    fn about(&self) -> &'static str {
        "200 points at random on a ruler: counts near Poisson, gaps near exponential (Brady 2012, figures 5 and 6)"
    }

    fn run(&self, seed: u64, replications: u64) -> Report {
        let stream = Stream::new(seed, "lab-poisson");
        let shown = Throw::new(stream, 0);
        let all: Vec<Numbers> = (0..replications).map(|r| Throw::new(stream, r).numbers()).collect();
        let here = shown.numbers();
        let rows = NUMBERS.iter().enumerate().map(|(i, number)| Row {
            name: number.name,
            published: Some(number.published),
            theory: Some((number.theory)()),
            shown: Some(here[i]),
            replications: Range::of(all.iter().map(|numbers| numbers[i]).collect()),
            steady: None,
        });
        let rows: Vec<Row> = rows.collect();
        let notes = notes(&rows, &all);
        let figures = vec![shown.counts_figure(), shown.gaps_figure()];
        Report { schema: SCHEMA, name: self.name(), about: self.about(), seed, rows, figures, notes }
    }
}

fn notes(rows: &[Row], all: &[Numbers]) -> Vec<String> {
    let within =
        rows.iter().filter(|row| row.replications.zip(row.published).is_some_and(|(r, p)| r.holds(p)));
    let share = |i: usize, is: fn(f64, f64) -> bool| {
        let n = all.iter().filter(|numbers| is(numbers[i], NUMBERS[i].published)).count();
        100.0 * n as f64 / all.len().max(1) as f64
    };
    vec![
        format!(
            "The published sample is one draw of an unknown seed and cannot be reproduced. Of its {} numbers {} lie \
             within 5-95 % of {} draws.",
            rows.len(),
            within.count(),
            all.len()
        ),
        format!(
            "It has {:.0} empty centimetres of {CENTIMETRES} (e^-2 = {:.1} %); {:.1} % of the draws have as many or fewer.",
            NUMBERS[EMPTY].published * CENTIMETRES as f64,
            100.0 * libm::exp(-MEAN),
            share(EMPTY, |x, published| x <= published + 1e-9)
        ),
        format!(
            "It has {:.0} gaps of 0 mm where {:.1} are to be expected; {:.1} % of the draws have as many or more.",
            NUMBERS[ZERO_GAPS].published,
            zero_gaps(),
            share(ZERO_GAPS, |x, published| x >= published - 1e-9)
        ),
    ]
}

/// Where the points fell.
struct Throw {
    counts: [u64; CENTIMETRES],
    gaps: Vec<usize>,
}

impl Throw {
    fn new(stream: Stream, replication: u64) -> Throw {
        let mut draws = stream.item(replication);
        let mut points: Vec<usize> =
            (0..POINTS).map(|_| ((u128::from(draws.bits()) * MILLIMETRES as u128) >> 64) as usize).collect();
        points.sort_unstable();
        let mut counts = [0; CENTIMETRES];
        points.iter().for_each(|&at| counts[at / 10] += 1);
        Throw { counts, gaps: points.windows(2).map(|pair| pair[1] - pair[0]).collect() }
    }

    fn numbers(&self) -> Numbers {
        let counts: Vec<f64> = self.counts.iter().map(|&n| n as f64).collect();
        let gaps: Vec<f64> = self.gaps.iter().map(|&gap| gap as f64).collect();
        let (count, count_variance) = mean_and_variance(&counts);
        let (gap, gap_variance) = mean_and_variance(&gaps);
        let sd = gap_variance.sqrt();
        let share = |n: usize, of: usize| n as f64 / of as f64;
        let empty = self.counts.iter().filter(|&&n| n == 0).count();
        let zero = self.gaps.iter().filter(|&&gap| gap == 0).count();
        [count, count_variance, share(empty, CENTIMETRES), gap, sd, sd / gap, zero as f64]
    }

    /// Figure 5: centimetres by their number of points, against Poisson.
    fn counts_figure(&self) -> Figure {
        let mut probability = libm::exp(-MEAN);
        let mut below = 0.0;
        let bars = (0..COUNT_BARS).map(|k| {
            let last = k + 1 == COUNT_BARS;
            let expected = if last { 1.0 - below } else { probability };
            below += probability;
            probability *= MEAN / (k + 1) as f64;
            let is = |&&n: &&u64| n == k as u64 || (last && n > k as u64);
            Bar {
                label: if last { format!("{k} or more") } else { k.to_string() },
                observed: self.counts.iter().filter(is).count() as u64,
                expected: expected * CENTIMETRES as f64,
            }
        });
        let title = format!("Centimetres by their number of points, and Poisson counts of mean {MEAN}");
        Figure { title, bars: bars.collect() }
    }

    /// Figure 6: gaps by length, against the exponential.
    fn gaps_figure(&self) -> Figure {
        let rate = 1.0 / mean_gap();
        let bars = (0..GAP_BARS).map(|i| {
            let (from, last) = (i * GAP_WIDTH, i + 1 == GAP_BARS);
            let beyond = |x: usize| libm::exp(-rate * x as f64);
            let up_to = if last { 0.0 } else { beyond(from + GAP_WIDTH) };
            let is = |gap: &&usize| **gap >= from && (last || **gap < from + GAP_WIDTH);
            Bar {
                label: if last {
                    format!("{from} or more")
                } else {
                    format!("{from}-{} mm", from + GAP_WIDTH)
                },
                observed: self.gaps.iter().filter(is).count() as u64,
                expected: (beyond(from) - up_to) * self.gaps.len() as f64,
            }
        });
        let title = format!("Gaps between neighbours, and exponential ones of mean {:.2} mm", mean_gap());
        Figure { title, bars: bars.collect() }
    }
}

/// Mean and variance (n - 1).
fn mean_and_variance(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (mean, values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formulas_are_the_published_ones() {
        assert_eq!(format!("{:.1}", zero_gaps()), "18.6");
        assert_eq!(format!("{:.1}", 100.0 * libm::exp(-MEAN)), "13.5");
        assert_eq!(format!("{:.3}", mean_gap()), "4.975");
    }

    /// Means of 4,000 draws within 4 standard errors of theory. Of an exponential the sd of so few gaps is a little
    /// below its mean, and counts of a fixed number of points are emptier by a hair: what theory says of those is known
    /// from the multinomial, (1 - 1/100)^200.
    #[test]
    fn draws_agree_with_theory() {
        let n = 4_000;
        let report = Ruler.run(7, n);
        let stream = Stream::new(7, "lab-poisson");
        let all: Vec<Numbers> = (0..n).map(|r| Throw::new(stream, r).numbers()).collect();
        let exact: [(usize, f64); 4] = [
            (1, MEAN),
            (EMPTY, libm::pow(1.0 - 1.0 / CENTIMETRES as f64, POINTS as f64)),
            (3, mean_gap()),
            (ZERO_GAPS, zero_gaps()),
        ];
        for (i, expected) in exact {
            let values: Vec<f64> = all.iter().map(|numbers| numbers[i]).collect();
            let (mean, variance) = mean_and_variance(&values);
            let bound = 4.0 * (variance / n as f64).sqrt();
            assert!(
                (mean - expected).abs() < bound,
                "{}: {mean}, {expected} +- {bound}",
                report.rows[i].name
            );
            assert_eq!(report.rows[i].replications.unwrap().n, n);
        }
        assert_eq!(report.rows[0].replications.unwrap().p05, MEAN);
    }

    #[test]
    fn figures_hold_every_point_and_every_expectation() {
        let report = Ruler.run(1, 10);
        for (figure, n) in report.figures.iter().zip([CENTIMETRES, POINTS - 1]) {
            assert_eq!(figure.bars.iter().map(|b| b.observed).sum::<u64>(), n as u64, "{}", figure.title);
            let expected: f64 = figure.bars.iter().map(|b| b.expected).sum();
            assert!((expected - n as f64).abs() < 1e-9, "{}: {expected}", figure.title);
        }
        assert_eq!(report, Ruler.run(1, 10));
        assert_ne!(report, Ruler.run(2, 10));
    }
}
