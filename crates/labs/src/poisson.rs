//! The ruler of Brady's appendix A (2012, figures 5 and 6): 200 points thrown at random on a ruler of 100 cm, each read to
//! the millimetre. The number of points per centimetre is nearly Poisson with mean 2. The gaps between neighbours are whole
//! millimetres: 0 where both lie on one, else nearly a geometric number; on a ruler that is read ever finer their law becomes
//! the exponential one. That is what independent users do to a server whose log is stamped in whole milliseconds.

use super::words::too_few;
use super::{Bar, Figure, Lab, Range, Report, Row};
use headway_base::random::Stream;

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
    number("gap in mm, sd", 4.76, gap_sd),
    number("gap, CoV", 4.76 / 4.98, || gap_sd() / mean_gap()),
    number("gaps of 0 mm", 26.0, zero_gaps),
];
const EMPTY: usize = 2;
const ZERO_GAPS: usize = 6;

/// Expected number of gaps of `mm` or more, of [`POINTS`] - 1.
///
/// Each belongs to a place that is taken, with the mm - 1 places after it empty and a taken one further on. k places in
/// particular are empty with probability e(k) = (1 - k/m)^n, so a place x has it with probability
/// e(mm - 1) - e(mm) - ((x + 1)/m)^n + (x/m)^n, and the sum over x from 0 to m - mm - 1 telescopes.
/// With a = n/m points to a place it tends to (n - 1) (1 - e^-a)/a e^(-a (mm - 1)): geometric, but for the zeros.
fn gaps_from(mm: usize) -> f64 {
    if mm == 0 {
        return (POINTS - 1) as f64;
    }
    let left = MILLIMETRES.saturating_sub(mm) as f64;
    let empty = |left: f64| libm::pow(left / MILLIMETRES as f64, POINTS as f64);
    left * (empty(left + 1.0) - empty(left)) - empty(left)
}

/// Mean of a gap's k-th power, as a sum over the lengths that it reaches.
fn gap_moment(k: i32) -> f64 {
    let power = |mm: usize| (mm as f64).powi(k);
    let sum: f64 = (1..MILLIMETRES).map(|mm| (power(mm) - power(mm - 1)) * gaps_from(mm)).sum();
    sum / (POINTS - 1) as f64
}

fn mean_gap() -> f64 {
    gap_moment(1)
}

fn gap_sd() -> f64 {
    (gap_moment(2) - gap_moment(1) * gap_moment(1)).sqrt()
}

/// n points on m places take m (1 - (1 - 1/m)^n) of them on average; each further one makes a gap of 0.
fn zero_gaps() -> f64 {
    gaps_from(0) - gaps_from(1)
}

impl Lab for Ruler {
    fn name(&self) -> &'static str {
        "poisson"
    }

    fn about(&self) -> &'static str {
        "200 points at random on a ruler: counts near Poisson, gaps near exponential (Brady 2012, figures 5 and 6)"
    }

    fn replications(&self) -> u64 {
        1_000
    }

    fn run(&self, seed: u64, replications: u64) -> anyhow::Result<Report> {
        let stream = Stream::new(seed, "lab-poisson");
        let shown = Throw::new(stream, 0);
        let all: Vec<Numbers> = (0..replications).map(|r| Throw::new(stream, r).numbers()).collect();
        let here = shown.numbers();
        let rows = NUMBERS.iter().enumerate().map(|(i, number)| Row {
            name: number.name.to_owned(),
            table: None,
            published: Some(number.published),
            live: None,
            theory: Some((number.theory)()),
            shown: Some(here[i]),
            replications: Range::of(all.iter().map(|numbers| numbers[i]).collect()),
            steady: None,
        });
        let rows: Vec<Row> = rows.collect();
        let notes = notes(&rows, &all);
        let figures = vec![shown.counts_figure(), shown.gaps_figure()];
        Ok(Report { rows, figures, notes, ..Report::of(self, seed) })
    }
}

fn notes(rows: &[Row], all: &[Numbers]) -> Vec<String> {
    let held = |row: &&Row| row.replications.zip(row.published).and_then(|(r, p)| r.holds(p)) == Some(true);
    let within = rows.iter().filter(held);
    let few = too_few(all.len() as u64, "draw");
    let share = |i: usize, is: fn(f64, f64) -> bool, words: &str| {
        let n = all.iter().filter(|numbers| is(numbers[i], NUMBERS[i].published)).count();
        match few {
            Some(_) => ".".to_owned(),
            None => format!("; {:.1} % of the draws have {words}.", 100.0 * n as f64 / all.len() as f64),
        }
    };
    let rank = match &few {
        Some(few) => format!("How its numbers rank among others is not known: {few}."),
        None => format!(
            "Of its {} numbers {} lie within 5-95 % of {}.",
            rows.len(),
            within.count(),
            headway_report::format::plural(all.len() as u64, "draw")
        ),
    };
    vec![
        format!("The published sample is one draw of an unknown seed and cannot be reproduced. {rank}"),
        format!(
            "It has {:.0} empty centimetres of {CENTIMETRES} (e^-2 = {:.1} %){}",
            NUMBERS[EMPTY].published * CENTIMETRES as f64,
            100.0 * libm::exp(-MEAN),
            share(EMPTY, |x, published| x <= published + 1e-9, "as many or fewer")
        ),
        format!(
            "It has {:.0} gaps of 0 mm where {:.1} are to be expected{}",
            NUMBERS[ZERO_GAPS].published,
            zero_gaps(),
            share(ZERO_GAPS, |x, published| x >= published - 1e-9, "as many or more")
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

    /// Figure 6: gaps by length, against the law of whole millimetres.
    fn gaps_figure(&self) -> Figure {
        let bars = (0..GAP_BARS).map(|i| {
            let (from, last) = (i * GAP_WIDTH, i + 1 == GAP_BARS);
            let beyond = if last { 0.0 } else { gaps_from(from + GAP_WIDTH) };
            let is = |gap: &&usize| **gap >= from && (last || **gap < from + GAP_WIDTH);
            Bar {
                label: if last {
                    format!("{from} or more")
                } else {
                    format!("{from}-{} mm", from + GAP_WIDTH - 1)
                },
                observed: self.gaps.iter().filter(is).count() as u64,
                expected: gaps_from(from) - beyond,
            }
        });
        let title = format!("Gaps between neighbours in whole mm, and the law of mean {:.2} mm", mean_gap());
        Figure { title, bars: bars.collect() }
    }
}

/// Mean and variance (n - 1).
pub(crate) fn mean_and_variance(values: &[f64]) -> (f64, f64) {
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
        assert_eq!(format!("{:.2}", mean_gap()), "4.97");
    }

    /// Every gap is told; those of 0 are counted by the places that n points take; the mean is that of continuous spacings,
    /// length/(n + 1) (Pyke 1965), less what whole places take at both ends, n/(6 m (n - 1)) (Euler and Maclaurin).
    #[test]
    fn the_law_of_the_gaps() {
        let (n, m) = (POINTS as f64, MILLIMETRES as f64);
        let sum: f64 = (0..MILLIMETRES).map(|mm| gaps_from(mm) - gaps_from(mm + 1)).sum();
        assert!((sum - (n - 1.0)).abs() < 1e-9, "{sum}");
        let taken = m * (1.0 - libm::pow(1.0 - 1.0 / m, n));
        assert!((zero_gaps() - (n - taken)).abs() < 1e-9);
        let mean = m / (n + 1.0) - n / (6.0 * m * (n - 1.0));
        assert!((mean_gap() - mean).abs() < 1e-6, "{} {mean}", mean_gap());
        let (a, mut furthest) = (n / m, 0.0_f64);
        for mm in 1..60 {
            let poisson = (n - 1.0) * -libm::expm1(-a) / a * libm::exp(-a * (mm - 1) as f64);
            furthest = furthest.max((gaps_from(mm) - poisson).abs());
        }
        assert!(furthest < 1.0, "{furthest} of 199 gaps");
    }

    /// Means of 4,000 draws within 4 standard errors of theory. The sd of so few gaps is a little below that of the law, for
    /// which their mean square is compared; counts of a fixed number of points are emptier by a hair: what theory says of
    /// those is known from the multinomial, (1 - 1/100)^200.
    #[test]
    fn draws_agree_with_theory() {
        let n = 4_000;
        let report = Ruler.run(7, n).unwrap();
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
        assert_eq!(report.rows[0].replications.unwrap().p05, Some(MEAN));
        let square = |r| {
            let gaps = Throw::new(stream, r).gaps;
            gaps.iter().map(|&gap| (gap * gap) as f64).sum::<f64>() / gaps.len() as f64
        };
        let squares: Vec<f64> = (0..n).map(square).collect();
        let (mean, variance) = mean_and_variance(&squares);
        let (expected, bound) = (gap_moment(2), 4.0 * (variance / n as f64).sqrt());
        assert!((mean - expected).abs() < bound, "{mean}, {expected} +- {bound}");
    }

    #[test]
    fn few_draws_have_no_ranks() {
        let few = Ruler.run(1, 19).unwrap();
        assert!(
            few.notes[0].ends_with("rank among others is not known: 19 draws are too few (at least 20).")
        );
        assert!(few.notes.iter().all(|note| !note.contains("of the draws")), "{:#?}", few.notes);
        assert!(few.rows.iter().all(|row| row.replications.is_some_and(|range| range.spread().is_none())));
        let enough = Ruler.run(1, 20).unwrap();
        assert!(enough.notes[0].contains("lie within 5-95 % of 20 draws"), "{:#?}", enough.notes);
        assert_eq!(enough.notes.iter().filter(|note| note.contains("of the draws have as many")).count(), 2);
    }

    #[test]
    fn figures_hold_every_point_and_every_expectation() {
        let report = Ruler.run(1, 10).unwrap();
        for (figure, n) in report.figures.iter().zip([CENTIMETRES, POINTS - 1]) {
            assert_eq!(figure.bars.iter().map(|b| b.observed).sum::<u64>(), n as u64, "{}", figure.title);
            let expected: f64 = figure.bars.iter().map(|b| b.expected).sum();
            assert!((expected - n as f64).abs() < 1e-9, "{}: {expected}", figure.title);
        }
        assert_eq!(report, Ruler.run(1, 10).unwrap());
        assert_ne!(report, Ruler.run(2, 10).unwrap());
    }
}
