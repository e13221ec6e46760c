//! Numbers over the replications of a point, and the curve of its response times.

use super::replication::Number;
use super::times::CensoredHistogram;
use headway_stats::intervals::{contributions, share_over_runs};
use headway_stats::steady::Replications;
use headway_stats::study::Estimate;

/// Fewer replications have no 5th and 95th percentile to tell of.
const FEWEST_FOR_RANGE: usize = 20;
/// So many requests lie beyond the last point of a curve.
const BEYOND: f64 = 10.0;
/// Points of a curve below 90 %, and for each tenth part of the rest from there on.
const POINTS: u32 = 45;
const POINTS_PER_TENTH: u32 = 20;

/// A mean over requests, of each replication, and over how many requests each is: that of all of them together, which is no mean of the
/// replications' own, since busy ones have more requests. Of a single one with its interval within the run. None of none. If one of them
/// is a lower bound, so is that of all, and it has no interval.
pub fn estimate(numbers: &[Number], requests: &[u64]) -> Option<Estimate> {
    let adds = adds(numbers, requests);
    let of_all = of_values(adds.iter().map(|number| number.value).collect())?;
    if adds.iter().any(|number| number.lower_bound) {
        return Some(Estimate { mean: of_all.mean, lower_bound: true, ..Estimate::default() });
    }
    if let [one] = numbers {
        return Some(Estimate { mean: one.value, ci95: one.interval, ..Estimate::default() });
    }
    // The range is that of the replications' own.
    let own = of_values(numbers.iter().map(|number| number.value).collect())?;
    Some(Estimate { p05: own.p05, p95: own.p95, ..of_all })
}

/// What each replication adds to the mean of all requests: the mean of what they add is that mean ([`contributions`]).
pub fn adds(numbers: &[Number], requests: &[u64]) -> Vec<Number> {
    let values: Vec<f64> = numbers.iter().map(|number| number.value).collect();
    let weights: Vec<f64> = requests.iter().map(|&n| n as f64).collect();
    let added = contributions(&values, &weights);
    numbers.iter().zip(added).map(|(number, value)| Number { value, ..*number }).collect()
}

/// A share of the requests of each replication, as (hits, all): that of all together.
pub fn of_shares(runs: &[(u64, u64)]) -> Option<Estimate> {
    let own = runs.iter().map(|&(hits, n)| if n == 0 { 0.0 } else { hits as f64 / n as f64 });
    let own = of_values(own.collect())?;
    let (hits, n) = runs.iter().fold((0, 0), |a, run| (a.0 + run.0, a.1 + run.1));
    let ci95 = share_over_runs(runs).map(|(_, interval)| interval);
    Some(Estimate { mean: hits as f64 / n.max(1) as f64, ci95, ..own })
}

/// A number of each replication. None of none.
pub fn of_values(values: Vec<f64>) -> Option<Estimate> {
    let all = Replications::of(values)?;
    let range = all.count() >= FEWEST_FOR_RANGE;
    Some(Estimate {
        mean: all.mean(),
        ci95: all.interval(),
        p05: range.then(|| all.quantile(0.05)),
        p95: range.then(|| all.quantile(0.95)),
        ..Estimate::default()
    })
}

/// The largest of all replications, with the range of their own; it has no interval, since longer runs have larger ones. None of none.
pub fn largest(numbers: &[Number]) -> Option<Estimate> {
    let most = numbers.iter().max_by(|a, b| a.value.total_cmp(&b.value))?;
    let range = of_values(numbers.iter().map(|number| number.value).collect())?;
    Some(Estimate { mean: most.value, lower_bound: most.lower_bound, ci95: None, ..range })
}

/// The response time, in seconds, that a share of the requests does not exceed: as far out as ten lie beyond, and as it is
/// known.
pub fn curve(times: &CensoredHistogram) -> Vec<(f64, f64)> {
    let furthest = 1.0 - BEYOND / times.n().max(1) as f64;
    let even = (0..POINTS).map(|i| 0.9 * f64::from(i) / f64::from(POINTS));
    let tail = (0..).map(|i| 1.0 - 0.1 * libm::exp10(-f64::from(i) / f64::from(POINTS_PER_TENTH)));
    let shares: Vec<f64> = even.chain(tail).take_while(|&p| p <= furthest).collect();
    let values = times.quantiles_of(&shares);
    let known =
        shares.into_iter().zip(values).filter_map(|(p, value)| Some((p, value.filter(|(_, lower)| !lower)?)));
    known.map(|(p, (value, _))| (p, value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::order::How;

    #[test]
    fn a_single_run_has_the_interval_within_it_and_several_that_over_them() {
        let number = |value: f64| Number { value, interval: Some([0.0, 9.0]), lower_bound: false };
        assert_eq!(estimate(&[number(2.0)], &[7]).unwrap().ci95, Some([0.0, 9.0]));
        // 1 and 3: standard error 1, t of one degree 12.706.
        let two = estimate(&[number(1.0), number(3.0)], &[5, 5]).unwrap();
        let [low, high] = two.ci95.unwrap();
        assert!((low - 2.0 + 12.706).abs() < 1e-3 && (high - 2.0 - 12.706).abs() < 1e-3);
        assert_eq!((two.mean, two.p05), (2.0, None));
        let twenty = of_values((1..=20).map(f64::from).collect()).unwrap();
        assert_eq!((twenty.p05, twenty.p95), (Some(1.0), Some(19.0)));
        assert_eq!(estimate(&[], &[]), None);
        let given_up = Number { lower_bound: true, ..number(30.0) };
        let bound = estimate(&[number(2.0), given_up], &[5, 5]).unwrap();
        assert_eq!((bound.mean, bound.lower_bound, bound.ci95), (16.0, true, None));
        assert_eq!(estimate(&[given_up], &[1]).unwrap().ci95, None);
        let most = largest(&[number(1.0), number(3.0), number(2.0)]).unwrap();
        assert_eq!(
            (most.mean, most.lower_bound, most.ci95),
            (3.0, false, None),
            "the largest, not the mean of three"
        );
        assert!(largest(&[number(2.0), given_up]).unwrap().lower_bound);
    }

    /// 1 s over ten requests and 3 s over thirty: 2.5 s over all forty. What they add are 2.5 - 1.5 x 0.5 and 2.5 + 0.5 x 1.5.
    #[test]
    fn a_mean_is_that_of_all_requests() {
        let number = |value: f64| Number { value, interval: None, lower_bound: false };
        let both = [number(1.0), number(3.0)];
        let of_all = estimate(&both, &[10, 30]).unwrap();
        assert_eq!(of_all.mean, 2.5);
        let added: Vec<f64> = adds(&both, &[10, 30]).iter().map(|number| number.value).collect();
        assert_eq!(added, [1.75, 3.25]);
        // Three of 10 and nothing of 30; where nothing fails the interval is that of independent requests.
        let share = of_shares(&[(3, 10), (0, 30)]).unwrap();
        let [low, high] = share.ci95.unwrap();
        assert!(share.mean == 0.075 && low >= 0.0 && high > 0.2 && high <= 1.0, "{share:?}");
        let none = of_shares(&[(0, 10), (0, 30)]).unwrap();
        assert!(none.mean == 0.0 && none.ci95.unwrap()[1] > 0.08, "{none:?}");
        assert_eq!(of_shares(&[(1, 10)]).unwrap().ci95, None);
        assert_eq!(of_shares(&[]), None);
    }

    #[test]
    fn a_curve_rises_and_ends_where_ten_lie_beyond() {
        let mut times = CensoredHistogram::default();
        (1..=100_000u64).for_each(|us| times.push(us * 1_000, How::Well));
        let points = curve(&times);
        assert!(points.is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1));
        let (p, last) = points[points.len() - 1];
        assert!(p <= 0.9999 && p > 0.9998 && (last / (p * 0.1) - 1.0).abs() < 0.005, "{p} {last}");
        for (p, x) in points.iter().filter(|(p, _)| *p > 0.01) {
            assert!((x / (p * 0.1) - 1.0).abs() < 0.005, "{p} {x}");
        }
        assert!(curve(&CensoredHistogram::default()).is_empty());
        (0..25_000).for_each(|_| times.push(30_000_000_000, How::Censored));
        let (p, last) = *curve(&times).last().unwrap();
        assert!((0.75..=0.8).contains(&p) && last < 0.1, "cut where no answers come: {p} {last}");
    }
}
