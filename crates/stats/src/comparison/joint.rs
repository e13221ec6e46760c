//! Which confidence each interval needs, so that all which are looked at hold together: the largest error of all, by what the numbers
//! share.
//!
//! Numbers of one run hang together: a slow stretch raises its mean and all of its percentiles. How much is seen in what each piece of
//! the runs (a segment, a round) adds to each number. The correlations between them, drawn towards none by as much as chance makes of
//! them (Schäfer and Strimmer 2005, "A shrinkage approach to large-scale covariance matrix estimation", Stat. Appl. Genet. Mol. Biol. 4),
//! give the law of the largest absolute Student's t by simulation (Hothorn, Bretz and Westfall 2008, "Simultaneous inference in general
//! parametric models", Biom. J. 50). Numbers of which no pieces are known count as independent, which is Sidak's bound (1967).

use super::CONFIDENCE;
use crate::intervals::{each_of, two_sided_confidence};
use headway_base::random::Stream;
use headway_base::special::normal;

/// What the pieces of the runs add to the error of one number, up to a factor; none where they are not known. Those of all numbers have
/// the same length: a piece has the same place in all.
pub(super) type Pieces = Option<Vec<f64>>;

/// Draws of the largest t: the probability that it exceeds what is told here is off by 0.5 percentage points in one standard error.
const DRAWS: u64 = 2_000;

/// Of more numbers the largest t is not simulated, since its cost grows with the square of them: they count as independent.
const MOST_NUMBERS: usize = 500;

/// More degrees of freedom than these make no difference here.
const MOST_DEGREES: f64 = 40.0;

/// The confidence of each of these intervals, which have this number of degrees of freedom (at least 1).
pub(super) fn confidence_of_each(numbers: &[Pieces], degrees: f64) -> f64 {
    let sidak = each_of(numbers.len(), CONFIDENCE);
    if numbers.len() > MOST_NUMBERS {
        return sidak;
    }
    let correlations = correlations(numbers);
    let depend = |(i, row): (usize, &Vec<f64>)| row[..i].iter().any(|r| *r != 0.0);
    if !correlations.iter().enumerate().any(depend) {
        return sidak;
    }
    let root = cholesky(&correlations);
    let degrees = degrees.clamp(1.0, MOST_DEGREES) as usize;
    let mut largest: Vec<f64> = (0..DRAWS).map(|i| largest_t(&root, degrees, i)).collect();
    largest.sort_by(f64::total_cmp);
    let point = largest[(CONFIDENCE * (DRAWS + 1) as f64).ceil() as usize - 1];
    two_sided_confidence(point, degrees as f64).clamp(CONFIDENCE, sidak)
}

/// By number; each row has those with the numbers before it.
fn correlations(numbers: &[Pieces]) -> Vec<Vec<f64>> {
    let unit = |pieces: &Pieces| -> Pieces {
        let pieces = pieces.as_ref()?;
        let norm = pieces.iter().map(|x| x * x).sum::<f64>().sqrt();
        (norm > 0.0 && norm.is_finite()).then(|| pieces.iter().map(|x| x / norm).collect())
    };
    let units: Vec<Pieces> = numbers.iter().map(unit).collect();
    let pieces = units.iter().flatten().map(Vec::len).max().unwrap_or(0) as f64;
    let product = |i: usize, j: usize| match (&units[i], &units[j]) {
        (Some(a), Some(b)) => a.iter().zip(b).map(|(x, y)| x * y).sum(),
        _ => 0.0,
    };
    let mut all: Vec<Vec<f64>> = (0..units.len()).map(|i| (0..i).map(|j| product(i, j)).collect()).collect();
    let (mut chance, mut squares) = (0.0, 0.0);
    for r in all.iter().flatten().filter(|r: &&f64| **r != 0.0) {
        chance += (1.0 - r * r).powi(2) / (pieces - 1.0).max(1.0);
        squares += r * r;
    }
    let kept = if squares > 0.0 { (1.0 - chance / squares).max(0.0) } else { 0.0 };
    all.iter_mut().flatten().for_each(|r| *r *= kept);
    all
}

/// The lower triangle whose square has these correlations: each row with its diagonal.
fn cholesky(correlations: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut root: Vec<Vec<f64>> = Vec::with_capacity(correlations.len());
    for row in correlations {
        let mut own: Vec<f64> = Vec::with_capacity(row.len() + 1);
        for (j, r) in row.iter().enumerate() {
            let known: f64 = own.iter().zip(&root[j]).map(|(x, y)| x * y).sum();
            let pivot = root[j][j];
            // Numbers which say the same leave nothing of their own.
            own.push(if pivot > 1e-9 { (r - known) / pivot } else { 0.0 });
        }
        let rest = 1.0 - own.iter().map(|x| x * x).sum::<f64>();
        own.push(rest.max(0.0).sqrt());
        root.push(own);
    }
    root
}

/// The largest absolute t of all numbers in one draw: their errors over their own estimated standard errors.
fn largest_t(root: &[Vec<f64>], degrees: usize, draw: u64) -> f64 {
    let mut draws = Stream::new(0, "comparison-joint").item(draw);
    let mut sample = || {
        let own: Vec<f64> = root.iter().map(|_| normal(&mut draws)).collect();
        let number = |row: &Vec<f64>| row.iter().zip(&own).map(|(x, y)| x * y).sum::<f64>();
        root.iter().map(number).collect::<Vec<f64>>()
    };
    let errors = sample();
    let mut squares = vec![0.0; root.len()];
    for _ in 0..degrees {
        squares.iter_mut().zip(sample()).for_each(|(sum, x)| *sum += x * x);
    }
    let t = |(error, squares): (&f64, &f64)| error.abs() / (squares / degrees as f64).sqrt();
    errors.iter().zip(&squares).map(t).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_base::random::Draws;

    fn noise(draws: &mut Draws, n: usize) -> Vec<f64> {
        (0..n).map(|_| normal(draws)).collect()
    }

    /// Independent numbers need what Sidak says; numbers which say the same need no more than one of them.
    #[test]
    fn what_numbers_share_is_not_paid_for_twice() {
        let mut draws = Stream::new(1, "test").item(0);
        assert_eq!(confidence_of_each(&vec![None; 8], 19.0), each_of(8, CONFIDENCE));
        assert_eq!(confidence_of_each(&[], 19.0), CONFIDENCE);
        let one = noise(&mut draws, 20);
        let same: Vec<Pieces> =
            (1..=8).map(|k| Some(one.iter().map(|x| x * f64::from(k)).collect())).collect();
        // 2,000 draws at 5 %: four standard errors are 2 percentage points.
        assert!(confidence_of_each(&same, 19.0) < CONFIDENCE + 0.02);
        let apart: Vec<Pieces> = (0..8).map(|_| Some(noise(&mut draws, 20))).collect();
        let tail = (1.0 - confidence_of_each(&apart, 19.0)) / (1.0 - each_of(8, CONFIDENCE));
        assert!((1.0..1.6).contains(&tail), "{tail}");
        // A number without pieces, and one which is always the same, count as independent.
        let two = [Some(one.clone()), None, Some(vec![0.0; 20])];
        assert_eq!(confidence_of_each(&two, 19.0), each_of(3, CONFIDENCE));
    }

    /// Correlated numbers, of which each comparison estimates the correlations anew from 20 pieces: all t together stay below the point in
    /// 95 % of 400 comparisons, within four standard errors.
    #[test]
    fn all_hold_together_where_correlations_are_estimated() {
        let (numbers, pieces, n) = (8, 20, 400);
        for shared in [0.0, 0.5, 0.9f64] {
            let (mut held, mut each_at) = (0, 0.0);
            for i in 0..n {
                let mut draws = Stream::new(2, "test").item(i);
                let common = noise(&mut draws, pieces);
                let all: Vec<Vec<f64>> = (0..numbers)
                    .map(|_| {
                        let own = noise(&mut draws, pieces);
                        let mix = |(c, o): (&f64, &f64)| shared.sqrt() * c + (1.0 - shared).sqrt() * o;
                        common.iter().zip(&own).map(mix).collect()
                    })
                    .collect();
                let of = |x: &Vec<f64>| {
                    let mean = x.iter().sum::<f64>() / pieces as f64;
                    let off: Vec<f64> = x.iter().map(|x| x - mean).collect();
                    let squares: f64 = off.iter().map(|x| x * x).sum();
                    let error = (squares / (pieces * (pieces - 1)) as f64).sqrt();
                    (off, mean.abs() / error)
                };
                let (off, t): (Vec<Pieces>, Vec<f64>) =
                    all.iter().map(of).map(|(off, t)| (Some(off), t)).unzip();
                let each = confidence_of_each(&off, 19.0);
                each_at += each / n as f64;
                let point = crate::intervals::two_sided_t(19.0, each);
                held += u32::from(t.iter().all(|t| *t <= point));
            }
            let share = f64::from(held) / n as f64;
            let error = (0.05 * 0.95 / n as f64).sqrt();
            println!("shared {shared}: {share}, {each_at} each");
            // What they share is made use of: of independent numbers each would have 99.36 %.
            assert!(shared < 0.9 || each_at < 0.99, "shared {shared}: {each_at} each");
            assert!((share - 0.95).abs() < 4.0 * error + 0.005, "shared {shared}: {share}");
        }
    }
}
